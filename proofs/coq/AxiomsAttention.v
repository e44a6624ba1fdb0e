(* SPDX-License-Identifier: Apache-2.0 *)
(** * What the main theorems about softmax, trees and two phases assume

    Axioms of the standard library, and nothing else. The theorems of a file are asked together, for
    Coq takes as long for one as for all. The runner compares what is printed with the axioms that
    it allows, and these lists with the main theorems of the files. *)
From Chunkproof Require Softmax Merge Plan Rows TwoPhase Heads Padding Prefill Tree PlanCheck
  Examples Execution Forest Join.

Definition of_Softmax := (
  Softmax.W_additive,
  Softmax.A_additive,
  Softmax.W_positive,
  Softmax.attention_of_no_key,
  Softmax.lse_of_no_key,
  Softmax.attention_permutation,
  Softmax.attention_is_weighted_mean,
  Softmax.common_shift).
Print Assumptions of_Softmax.

Definition of_Merge := (
  Merge.representation_unique,
  Merge.empty_represents_no_key,
  Merge.state_of_no_key,
  Merge.n_bounds,
  Merge.o_bound,
  Merge.partial_attn_represents,
  Merge.attn_reduce_represents,
  Merge.partial_attn_app,
  Merge.factors_of_merge,
  Merge.merge_well_formed,
  Merge.merge_identity_left,
  Merge.merge_identity_right,
  Merge.merge_commutative,
  Merge.merge_associative,
  Merge.any_partition_any_tree,
  Merge.any_partition_any_order,
  Merge.finish_is_attention,
  Merge.lse_of_is_lse,
  Merge.lse_of_merge,
  Merge.merging_is_attention,
  Merge.any_reference,
  Merge.any_reference_merges,
  Merge.any_reference_any_tree,
  Merge.shifted_state).
Print Assumptions of_Merge.

Definition of_Plan := (
  Plan.keys_of_full_chunk,
  Plan.keys_of_last_chunk,
  Plan.serving_depths,
  Plan.serving_chunk).
Print Assumptions of_Plan.

Definition of_Rows := (
  Rows.sees_exactly,
  Rows.last_row_sees_all).
Print Assumptions of_Rows.

Definition of_TwoPhase := (
  TwoPhase.parts_partition,
  TwoPhase.any_grouping_is_attention,
  TwoPhase.kept_state_found,
  TwoPhase.buffered_is_attention,
  TwoPhase.variants_agree,
  TwoPhase.at_once_is_attention,
  TwoPhase.two_phases_are_attention,
  TwoPhase.variants_are_equal,
  TwoPhase.decoding_is_attention,
  TwoPhase.paged_is_attention,
  TwoPhase.last_chunk_as_full).
Print Assumptions of_TwoPhase.

Definition of_Heads := (
  Heads.neighbours_share_a_head,
  Heads.kv_head_exists,
  Heads.multi_head,
  Heads.multi_query,
  Heads.seen_by_head,
  Heads.grouped_is_per_head).
Print Assumptions of_Heads.

Definition of_Padding := (
  Padding.padding_is_never_read).
Print Assumptions of_Padding.

Definition of_Prefill := (
  Prefill.prefill_is_causal,
  Prefill.last_row,
  Prefill.fully_masked_row,
  Prefill.row_of_empty_sequence,
  Prefill.same_position_same_output,
  Prefill.rounds_agree,
  Prefill.token_by_token).
Print Assumptions of_Prefill.

Definition of_Tree := (
  Tree.all_but_the_last_are_full,
  Tree.tree_plan_is_valid,
  Tree.build_is_plan_of,
  Tree.tree_decoding_is_attention,
  Tree.tree_prefill_is_attention).
Print Assumptions of_Tree.

Definition of_PlanCheck := (
  PlanCheck.plan_check_decides).
Print Assumptions of_PlanCheck.

Definition of_Examples := (
  Examples.states_of_parts,
  Examples.merge_of_parts,
  Examples.finish_of_parts,
  Examples.example_plan_is_valid,
  Examples.chunk_first_q0,
  Examples.chunk_first_q1,
  Examples.own_chunk_q0,
  Examples.sequence_first_q0,
  Examples.outputs_of_q0,
  Examples.outputs_of_q1,
  Examples.common_chunk_listed_twice,
  Examples.positions_of_rows,
  Examples.what_rows_see,
  Examples.prefill_plan_is_valid,
  Examples.masked_row,
  Examples.figure_2_is_valid,
  Examples.figure_2_plan,
  Examples.figure_2_pairs).
Print Assumptions of_Examples.

Definition of_Execution := (
  Execution.partial_steps_reals,
  Execution.steps_are_output,
  Execution.steps_are_attention).
Print Assumptions of_Execution.

Definition of_Forest := (
  Forest.tree_of_is_ok,
  Forest.leave_keeps_the_tree,
  Forest.append_keeps_the_tree,
  Forest.fork_keeps_the_tree).
Print Assumptions of_Forest.

Definition of_Join := (
  Join.lookup_finds,
  Join.join_keeps_the_tree,
  Join.reachable_is_ok).
Print Assumptions of_Join.
