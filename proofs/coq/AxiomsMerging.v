(* SPDX-License-Identifier: Apache-2.0 *)
(** * What the main theorems about merging assume

    Axioms of the standard library, and nothing else, as in AxiomsAttention.v and the others. *)
From Chunkproof Require Merging MergingBound MergingLag MergingSums.

Definition of_Merging := (
  Merging.merged_by_formula,
  Merging.merged_without_keys,
  Merging.merged_in_any_order,
  Merging.merged_first,
  Merging.merged_in_any_grouping,
  Merging.part_without_keys_is_neutral,
  Merging.one_part_is_the_result,
  Merging.bits_are_nats,
  Merging.shards_merge_to_attention,
  Merging.disjoint_shards_merge_to_attention,
  Merging.a_replicated_shard_counts_twice,
  Merging.share_of_a_replicated_shard).
Print Assumptions of_Merging.

Definition of_MergingBound := (
  MergingBound.exact_is_merged,
  MergingBound.merging_holds,
  MergingBound.merging_lse_holds,
  MergingBound.at_once_runs,
  MergingBound.divided_weights_at_once,
  MergingBound.states_hold,
  MergingBound.levels_below_parts,
  MergingBound.pairwise_runs,
  MergingBound.pairwise_holds,
  MergingBound.undivided_runs,
  MergingBound.undivided_is_near_quotient,
  MergingBound.undivided_holds,
  MergingBound.pairwise_unrounded,
  MergingBound.pairwise_lse_holds).
Print Assumptions of_MergingBound.

Definition of_MergingLag := (
  MergingLag.part_is_tracked,
  MergingLag.tracked_lags,
  MergingLag.tracked_hold,
  MergingLag.tracked_lse_hold).
Print Assumptions of_MergingLag.

Definition of_MergingSums := (
  MergingSums.sums_finish_to_attention,
  MergingSums.merged_by_sums,
  MergingSums.weight_for_sums,
  MergingSums.argument_of_sums,
  MergingSums.reference_of_sums).
Print Assumptions of_MergingSums.
