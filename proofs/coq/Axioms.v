(* SPDX-License-Identifier: Apache-2.0 *)
(** * What the main theorems assume: axioms of the standard library, and nothing else

    The theorems of a file together, for Coq takes as long for one as for all. The runner compares
    what is printed with the axioms that it allows, and these lists with the main theorems of the
    files. *)
From Chunkproof Require Softmax Merge Plan Rows TwoPhase Heads Padding Prefill Tree PlanCheck
  Examples.
From Chunkproof Require Execution Forest Join.
From Chunkproof Require Decoder DecoderMove DecoderTruncate DecoderExamples.
From Chunkproof Require DecoderNorm DecoderRound DecoderRoundFloat DecoderRoundExamples.
From Chunkproof Require DecoderRoundDrift.
From Chunkproof Require Modules ModulesLayout ModulesPlace ModulesShare ModulesTree.
From Chunkproof Require ModulesNumbers ModulesDocument ModulesPrompt ModulesGroups ModulesAlone.
From Chunkproof Require ModulesExamples.
From Chunkproof Require Runs RunsTree RunsModules RunsReads RunsCheck RunsGrow RunsMove.
From Chunkproof Require RunsRanges RunsExamples.
From Chunkproof Require NumCore NumRound NumFormat NumScore NumInvariant NumTolerance NumChunks.
From Chunkproof Require NumFloatUp NumFloatParts NumFloatIEEE NumFloatTerms
  NumFloatReferences NumFloatKeys NumFloatBound NumFloatNearest NumFloatColumn NumFloatFinite
  NumFloatWhole.

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

Definition of_NumCore := (
  NumCore.quotient_error,
  NumCore.logarithm_error).
Print Assumptions of_NumCore.

Definition of_NumRound := (
  NumRound.nearest_truncates,
  NumRound.nearest_flushes,
  NumRound.small_may_be_flushed,
  NumRound.no_overflow,
  NumRound.sum_error,
  NumRound.chain_adds).
Print Assumptions of_NumRound.

Definition of_NumScore := (
  NumScore.score_is_near).
Print Assumptions of_NumScore.

Definition of_NumInvariant := (
  NumInvariant.weight_is_near,
  NumInvariant.no_execution_strays_further).
Print Assumptions of_NumInvariant.

Definition of_NumTolerance := (
  NumTolerance.quotient_holds,
  NumTolerance.tolerance_holds,
  NumTolerance.tolerance_excludes_overflow,
  NumTolerance.lse_holds,
  NumTolerance.lse_in_bits_holds,
  NumTolerance.no_key_no_claim,
  NumTolerance.single_key,
  NumTolerance.exact_is_attention).
Print Assumptions of_NumTolerance.

Definition of_NumChunks := (
  NumChunks.chunked_runs,
  NumChunks.chunked_tolerance,
  NumChunks.exact_execution,
  NumChunks.no_error_no_tolerance,
  NumChunks.two_keys_written).
Print Assumptions of_NumChunks.

Definition of_NumFormat := (
  NumFormat.nearest_rounds,
  NumFormat.faithful_rounds,
  NumFormat.formats_round).
Print Assumptions of_NumFormat.

Definition of_NumFloatUp := (
  NumFloatUp.up_plus_is_up,
  NumFloatUp.up_is_up,
  NumFloatUp.up_times_is_up,
  NumFloatUp.up_quotient_is_up,
  NumFloatUp.up_function_is_up,
  NumFloatUp.up_sum_is_up).
Print Assumptions of_NumFloatUp.

Definition of_NumFloatParts := (
  NumFloatParts.up_exp_of_positive,
  NumFloatParts.up_expm1_is_up,
  NumFloatParts.up_log1p_is_up,
  NumFloatParts.compound_is_up,
  NumFloatParts.growth_is_up,
  NumFloatParts.score_error_is_up).
Print Assumptions of_NumFloatParts.

Definition of_NumFloatTerms := (
  NumFloatTerms.with_output_is_up,
  NumFloatTerms.strays_is_up,
  NumFloatTerms.stretch_is_up,
  NumFloatTerms.tiny_losses_is_up,
  NumFloatTerms.lse_is_up).
Print Assumptions of_NumFloatTerms.

Definition of_NumFloatReferences := (
  NumFloatReferences.sigma_is_up,
  NumFloatReferences.score_is_as_near_as_claimed,
  NumFloatReferences.references_are_enclosed).
Print Assumptions of_NumFloatReferences.

Definition of_NumFloatKeys := (NumFloatKeys.key_is_up).
Print Assumptions of_NumFloatKeys.

Definition of_NumFloatBound := (NumFloatBound.column_is_up).
Print Assumptions of_NumFloatBound.

Definition of_NumFloatNearest := (
  NumFloatNearest.weight_within_lack,
  NumFloatNearest.sum_within_lack,
  NumFloatNearest.mean_within_spare,
  NumFloatNearest.lse_within_lack).
Print Assumptions of_NumFloatNearest.

Definition of_NumFloatColumn := (NumFloatColumn.column_holds, NumFloatColumn.lse_holds).
Print Assumptions of_NumFloatColumn.

Definition of_NumFloatFinite := (
  NumFloatFinite.finite_key_has_finite_parts,
  NumFloatFinite.error_here_is_most).
Print Assumptions of_NumFloatFinite.

Definition of_NumFloatWhole := (
  NumFloatWhole.sure_is_sound,
  NumFloatWhole.tolerance_is_up,
  NumFloatWhole.lse_tolerance_is_up,
  NumFloatWhole.tolerance_is_up_in_binary64,
  NumFloatWhole.lse_tolerance_is_up_in_binary64).
Print Assumptions of_NumFloatWhole.

Definition of_NumFloatIEEE := NumFloatIEEE.ieee_is_binary64.
Print Assumptions of_NumFloatIEEE.

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

Definition of_Modules := (
  @Modules.never_together,
  @Modules.the_largest_counts,
  @Modules.seen_modules_are_closed).
Print Assumptions of_Modules.

Definition of_ModulesLayout := (
  @ModulesLayout.begin_of_parts,
  @ModulesLayout.inside_stands_inside,
  @ModulesLayout.parts_follow_each_other,
  @ModulesLayout.parts_of_a_prompt_do_not_collide,
  @ModulesLayout.texts_have_no_parts,
  @ModulesLayout.third_module_begins_at_110,
  @ModulesLayout.layout_of_the_guide,
  @ModulesLayout.guide_has_prompts).
Print Assumptions of_ModulesLayout.

Definition of_ModulesPlace := (
  @ModulesPlace.segments_keep_their_tokens,
  @ModulesPlace.places_do_not_collide,
  @ModulesPlace.a_free_gap_is_taken,
  @ModulesPlace.else_it_is_the_last,
  @ModulesPlace.a_segment_is_behind_its_import,
  @ModulesPlace.tokens_have_positions_of_their_own,
  @ModulesPlace.guide_takes,
  @ModulesPlace.segments_of_the_guide,
  @ModulesPlace.no_gap).
Print Assumptions of_ModulesPlace.

Definition of_ModulesShare := (
  @ModulesShare.texts_are_closed,
  @ModulesShare.module_has_states_of_its_own,
  @ModulesShare.module_is_as_encoded,
  @ModulesShare.cached_prompt_is_exact).
Print Assumptions of_ModulesShare.

Definition of_ModulesTree := (
  @ModulesTree.mask_on_path,
  @ModulesTree.path_is_causal,
  @ModulesTree.common_path_has_common_states,
  @ModulesTree.equal_prefixes_again).
Print Assumptions of_ModulesTree.

Definition of_ModulesNumbers := (
  @ModulesNumbers.parts_are_numbered_in_order).
Print Assumptions of_ModulesNumbers.

Definition of_ModulesDocument := (
  @ModulesDocument.modules_around_are_on_the_way,
  @ModulesDocument.importable_is_imports,
  @ModulesDocument.imports_are_importable,
  @ModulesDocument.record_of_the_guide).
Print Assumptions of_ModulesDocument.

Definition of_ModulesPrompt := (
  @ModulesPrompt.own_texts_stand_where_located,
  @ModulesPrompt.arguments_stand_where_located,
  @ModulesPrompt.parts_had_are_what_a_prompt_has,
  @ModulesPrompt.prompt_has_distinct_positions,
  @ModulesPrompt.prompt_of_a_document_is_exact,
  @ModulesPrompt.guide_has_a_prompt).
Print Assumptions of_ModulesPrompt.

Definition of_ModulesGroups := (
  @ModulesGroups.group_mask_is_the_mask,
  @ModulesGroups.groups_have_states_of_modules,
  @ModulesGroups.scaffold_again).
Print Assumptions of_ModulesGroups.

Definition of_ModulesAlone := (
  @ModulesAlone.carried_has_the_states,
  @ModulesAlone.block_mask_is_a_group_mask,
  @ModulesAlone.blocks_have_the_states,
  @ModulesAlone.module_again,
  @ModulesAlone.alone_again).
Print Assumptions of_ModulesAlone.

Definition of_ModulesExamples := (
  @ModulesExamples.guide_is_orderly,
  @ModulesExamples.guide_imports,
  @ModulesExamples.guide_mask,
  @ModulesExamples.guide_mask_of_new_tokens,
  @ModulesExamples.guide_mask_with_scaffolds,
  @ModulesExamples.overlapping_scaffolds_share_nothing).
Print Assumptions of_ModulesExamples.

Definition of_Runs := (
  @Runs.valid_is_complete,
  @Runs.seen_exactly,
  @Runs.each_token_once,
  @Runs.parts_are_what_is_seen,
  @Runs.any_grouping_over_runs,
  @Runs.buffered_over_runs,
  @Runs.variants_over_runs_agree,
  @Runs.two_phases_over_runs,
  @Runs.walking_the_runs,
  @Runs.behind_a_run_is_padding).
Print Assumptions of_Runs.

Definition of_RunsTree := (
  @RunsTree.text_runs_have_its_positions,
  @RunsTree.runs_are_those_of_the_path,
  @RunsTree.plan_is_plan_of_runs,
  @RunsTree.phases_agree,
  @RunsTree.outputs_agree,
  @RunsTree.runs_of_a_tree_are_paths,
  @RunsTree.runs_of_a_tree_are_seen).
Print Assumptions of_RunsTree.

Definition of_RunsModules := (
  @RunsModules.parts_are_the_slots_read,
  @RunsModules.new_tokens_read_their_mask,
  @RunsModules.encoded_tokens_read_their_mask,
  @RunsModules.runs_of_modules_are_exact,
  @RunsModules.runs_of_a_prompt_do_not_collide).
Print Assumptions of_RunsModules.

Definition of_RunsReads := (
  @RunsReads.n_ranges_counts_starts,
  @RunsReads.no_fewer_ranges,
  @RunsReads.maximal_ranges_cover,
  @RunsReads.one_range_is_contiguous,
  @RunsReads.at_most_so_many_ranges,
  @RunsReads.trees_cost_nothing,
  @RunsReads.every_order_costs_a_read,
  @RunsReads.two_modules_have_an_order,
  @RunsReads.two_prompts_cost_nothing,
  @RunsReads.all_pairs).
Print Assumptions of_RunsReads.

Definition of_RunsCheck := (
  @RunsCheck.run_check_decides).
Print Assumptions of_RunsCheck.

Definition of_RunsGrow := (
  @RunsGrow.growing_keeps_valid,
  @RunsGrow.a_new_run_keeps_valid,
  @RunsGrow.behind_all_is_free,
  @RunsGrow.growing_adds_one_key,
  @RunsGrow.a_new_run_adds_one_key,
  @RunsGrow.earlier_rows_see_the_same,
  @RunsGrow.others_see_the_same).
Print Assumptions of_RunsGrow.

Definition of_RunsMove := (
  @RunsMove.served_at_one_position,
  @RunsMove.turning_the_query,
  @RunsMove.two_phases_with_turned_queries).
Print Assumptions of_RunsMove.

Definition of_RunsRanges := (
  @RunsRanges.ranges_give_the_same_runs,
  @RunsRanges.ranges_are_valid,
  @RunsRanges.reads_of_a_chunk).
Print Assumptions of_RunsRanges.

Definition of_RunsExamples := (
  @RunsExamples.lists_are_valid,
  @RunsExamples.ranges_are_valid,
  @RunsExamples.ranges_of_the_lists,
  @RunsExamples.lists_save_a_read,
  @RunsExamples.another_order,
  @RunsExamples.other_descriptors_are_not,
  @RunsExamples.not_twice,
  @RunsExamples.rows_see,
  @RunsExamples.counting_tokens_is_wrong,
  @RunsExamples.a_run_is_not_a_full_chunk,
  @RunsExamples.means,
  @RunsExamples.growing).
Print Assumptions of_RunsExamples.
