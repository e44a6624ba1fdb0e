(* SPDX-License-Identifier: Apache-2.0 *)
(** * What the main theorems about decoders assume

    Axioms of the standard library, and nothing else. The theorems of a file are asked together, for
    Coq takes as long for one as for all. The runner compares what is printed with the axioms that
    it allows, and these lists with the main theorems of the files. *)
From Chunkproof Require Decoder DecoderMove DecoderTruncate DecoderExamples DecoderNorm
  DecoderRound DecoderRoundFloat DecoderRoundExamples DecoderRoundDrift.

Definition of_Decoder := (
  @Decoder.state_at_next,
  @Decoder.closed_set_decides,
  @Decoder.closed_set_under_mask,
  @Decoder.equal_prefixes_have_equal_kv,
  @Decoder.shared_chunk_has_one_content,
  @Decoder.module_is_as_alone,
  @Decoder.module_under_block_mask,
  @Decoder.scaffold_under_group_mask,
  @Decoder.order_of_layout,
  @Decoder.cached_is_whole,
  @Decoder.cached_inference_is_exact,
  @Decoder.cached_modules_are_exact).
Print Assumptions of_Decoder.

Definition of_DecoderMove := (
  @DecoderMove.rotations_add,
  @DecoderMove.rotated_product,
  @DecoderMove.rotated_product_moves,
  @DecoderMove.attend_permutation,
  @DecoderMove.moved_prompt,
  @DecoderMove.attention_moves,
  @DecoderMove.rotary_prompt_moves,
  @DecoderMove.module_encoded_elsewhere,
  @DecoderMove.moved_modules_are_exact,
  @DecoderMove.counted_positions_see_the_order).
Print Assumptions of_DecoderMove.

Definition of_DecoderTruncate := (
  @DecoderTruncate.first_layer_survives,
  @DecoderTruncate.later_layers_do_not_survive,
  @DecoderTruncate.kept_and_recomputed,
  @DecoderTruncate.truncated_cache_is_masked_decoder).
Print Assumptions of_DecoderTruncate.

Definition of_DecoderExamples := (
  @DecoderExamples.both_ways_shares_nothing,
  @DecoderExamples.quarter_turns,
  @DecoderExamples.truncated_is_not_recomputed).
Print Assumptions of_DecoderExamples.

Definition of_DecoderNorm := (
  @DecoderNorm.rotate_keeps_norm).
Print Assumptions of_DecoderNorm.

Definition of_DecoderRound := (
  @DecoderRound.angle_is_near,
  @DecoderRound.exact_is_rounded,
  @DecoderRound.turn_is_near,
  @DecoderRound.program_is_near,
  @DecoderRound.numbers_of_turn,
  @DecoderRound.turns_add,
  @DecoderRound.kept_is_near,
  @DecoderRound.loaded_is_near,
  @DecoderRound.moved_is_near,
  @DecoderRound.ways_apart,
  @DecoderRound.row_is_near,
  @DecoderRound.score_of_moved_key,
  @DecoderRound.score_of_rotated,
  @DecoderRound.computed_score_of_rotated,
  @DecoderRound.growth_is_linear).
Print Assumptions of_DecoderRound.

Definition of_DecoderRoundFloat := (
  @DecoderRoundFloat.formats_keep,
  @DecoderRoundFloat.error_of_ulps,
  @DecoderRoundFloat.correctly_rounded_errs,
  @DecoderRoundFloat.turn32_is_near,
  @DecoderRoundFloat.turn32_of_its_own_frequencies,
  @DecoderRoundFloat.turn64_is_near,
  @DecoderRoundFloat.double_is_near,
  @DecoderRoundFloat.move32_is_near).
Print Assumptions of_DecoderRoundFloat.

Definition of_DecoderRoundExamples := (
  @DecoderRoundExamples.angle_against_storage,
  @DecoderRoundExamples.own_angle_against_storage,
  @DecoderRoundExamples.table_in_binary32,
  @DecoderRoundExamples.table_with_binary64_angles,
  @DecoderRoundExamples.table_in_binary64,
  @DecoderRoundExamples.ten_moves,
  @DecoderRoundExamples.angle_is_off,
  @DecoderRoundExamples.product_is_off,
  @DecoderRoundExamples.angles_are_felt,
  @DecoderRoundExamples.turn32_is_off).
Print Assumptions of_DecoderRoundExamples.

Definition of_DecoderRoundDrift := (
  @DecoderRoundDrift.drift_is_a_row,
  @DecoderRoundDrift.drift_is,
  @DecoderRoundDrift.drift_ends,
  @DecoderRoundDrift.drift_is_far).
Print Assumptions of_DecoderRoundDrift.
