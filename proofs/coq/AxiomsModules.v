(* SPDX-License-Identifier: Apache-2.0 *)
(** * What the main theorems about modules and runs assume

    Axioms of the standard library, and nothing else. The theorems of a file are asked together, for
    Coq takes as long for one as for all. The runner compares what is printed with the axioms that
    it allows, and these lists with the main theorems of the files. *)
From Chunkproof Require Modules ModulesLayout ModulesPlace ModulesShare ModulesTree
  ModulesNumbers ModulesDocument ModulesPrompt ModulesGroups ModulesAlone ModulesExamples Runs
  RunsTree RunsModules RunsDocument RunsReads RunsCheck RunsGrow RunsMove RunsRanges RunsExamples
  Windows Masks Scores Widths.

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
  @Runs.seen_by_position,
  @Runs.each_token_once,
  @Runs.parts_are_what_is_seen,
  @Runs.any_grouping_over_runs,
  @Runs.buffered_over_runs,
  @Runs.variants_over_runs_agree,
  @Runs.two_phases_over_runs,
  @Runs.walking_the_runs,
  @Runs.seen_exactly,
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

Definition of_RunsDocument := (
  @RunsDocument.runs_of_a_document_have_distinct_positions,
  @RunsDocument.runs_of_a_document_are_exact,
  @RunsDocument.guide_lies_in_runs).
Print Assumptions of_RunsDocument.

Definition of_Windows := (
  @Windows.window_slots_exactly,
  @Windows.no_slot_twice,
  @Windows.sees_none,
  @Windows.no_window_is_causal,
  @Windows.seen_is_the_window,
  @Windows.two_phases_over_windows,
  @Windows.two_phases_over_windows_of_a_tree,
  @Windows.left_out_is_valid,
  @Windows.left_out_changes_nothing,
  @Windows.of_the_chapter,
  @Windows.of_one_run).
Print Assumptions of_Windows.

Definition of_Masks := (
  @Masks.visible_is,
  @Masks.mask_adds_no_key,
  @Masks.all_bits_are_no_mask,
  @Masks.other_bits_are_not_read,
  @Masks.masked_slots_exactly,
  @Masks.no_masked_slot_twice,
  @Masks.range_ends,
  @Masks.ranges_are_what_is_left,
  @Masks.merged_ranges_are_what_is_left,
  @Masks.seen_is_what_is_left,
  @Masks.two_phases_over_masks,
  @Masks.two_phases_over_masks_of_a_tree,
  @Masks.sees_none_of_a_mask,
  @Masks.left_out_with_masks,
  @Masks.tree_row_sees_its_path,
  @Masks.path_decoded_alone,
  @Masks.tree_of_the_chapter,
  @Masks.ranges_of_the_chapter,
  @Masks.bits_behind_each_other).
Print Assumptions of_Masks.

Definition of_Scores := (
  @Scores.capped_is_increasing,
  @Scores.capped_is_within_the_cap,
  @Scores.capped_is_no_further,
  @Scores.capped_is_no_larger,
  @Scores.place_is_an_entry,
  @Scores.place_before_the_row,
  @Scores.place_beyond_the_ends,
  @Scores.place_is_by_distance,
  @Scores.a_table_of_four,
  @Scores.bias_is_not_capped,
  @Scores.table_of_a_slope,
  @Scores.common_change_leaves_attention,
  @Scores.bias_by_position_moves_lse,
  @Scores.bias_by_distance_is_signed,
  @Scores.without_cap_and_biases,
  @Scores.changed_is_no_further,
  @Scores.masked_before_the_cap,
  @Scores.far_scores_are_at_the_cap,
  @Scores.masked_key_is_seen_again,
  @Scores.attention_with_sink,
  @Scores.sink_alone,
  @Scores.sink_after_the_keys,
  @Scores.sink_state_is_its_key,
  @Scores.sink_merged_once,
  @Scores.sink_among_results,
  @Scores.sink_in_each_part,
  @Scores.of_a_sink,
  @Scores.of_a_sink_in_two_parts,
  @Scores.shift_of_keys_and_sink,
  @Scores.shift_beside_a_sink,
  @Scores.two_phases_with_scores,
  @Scores.any_grouping_with_sink,
  @Scores.two_phases_with_windows_and_scores,
  @Scores.two_phases_with_scores_of_a_tree,
  @Scores.of_two_slopes).
Print Assumptions of_Scores.

Definition of_Widths := (
  @Widths.partial_attn_on,
  @Widths.attn_reduce_on,
  @Widths.finish_on,
  @Widths.attention_on,
  @Widths.row_result_on,
  @Widths.cut_is,
  @Widths.number_of_result,
  @Widths.attention_to_cut_values,
  @Widths.states_of_cut_values,
  @Widths.output_on,
  @Widths.output_of_cut_values,
  @Widths.width_of_the_chapter,
  @Widths.rows_are_apart,
  @Widths.rows_are_inside,
  @Widths.values_in_keys,
  @Widths.values_in_keys_are_taken,
  @Widths.key_is_absorbed,
  @Widths.score_is_absorbed,
  @Widths.latent_attention,
  @Widths.latent_slot,
  @Widths.latent_two_phases).
Print Assumptions of_Widths.
