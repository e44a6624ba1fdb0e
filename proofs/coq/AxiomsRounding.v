(* SPDX-License-Identifier: Apache-2.0 *)
(** * What the main theorems about rounding and the tolerance assume

    Axioms of the standard library, and nothing else. The theorems of a file are asked together, for
    Coq takes as long for one as for all. The runner compares what is printed with the axioms that
    it allows, and these lists with the main theorems of the files. *)
From Chunkproof Require NumCore NumRound NumScore NumInvariant NumLag NumTolerance NumChunks
  NumFormat NumFloatUp NumFloatParts NumFloatIEEE NumFloatTerms NumFloatReferences NumFloatKeys
  NumFloatBound NumFloatNearest NumFloatColumn NumFloatFinite NumFloatWhole NumShift NumShiftFloat
  NumScale NumShort NumSlip NumParts NumCaps.

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

Definition of_NumLag := (
  NumLag.lags_rise,
  NumLag.lags_hold,
  NumLag.lags_lse_hold,
  NumLag.near_but_for_errors).
Print Assumptions of_NumLag.

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

Definition of_NumFloatIEEE := NumFloatIEEE.ieee_is_binary64.
Print Assumptions of_NumFloatIEEE.

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
  NumFloatReferences.shift_is_near,
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
  NumFloatWhole.claim_needs_finite_shifts,
  NumFloatWhole.lse_tolerance_is_up,
  NumFloatWhole.tolerance_is_up_in_binary64,
  NumFloatWhole.lse_tolerance_is_up_in_binary64).
Print Assumptions of_NumFloatWhole.

Definition of_NumShift := (
  NumShift.tanh_is_no_steeper,
  NumShift.tanh_keeps_relative_errors,
  NumShift.off_by_both,
  NumShift.cap_is_near,
  NumShift.bias_is_near,
  NumShift.cap_then_bias_is_near,
  NumShift.bias_then_cap_is_near,
  NumShift.sink_is_near,
  NumShift.shift_of_another_score).
Print Assumptions of_NumShift.

Definition of_NumShiftFloat := (
  NumShiftFloat.bias_is_up,
  NumShiftFloat.cap_is_up,
  NumShiftFloat.cap_then_bias_is_up,
  NumShiftFloat.bias_then_cap_is_up,
  NumShiftFloat.bias_alone_is_up,
  NumShiftFloat.sink_is_up).
Print Assumptions of_NumShiftFloat.

Definition of_NumScale := (
  NumScale.scale_of_a_key,
  NumScale.scale_of_a_value,
  NumScale.one_scale_of_values,
  NumScale.scaled_number_is_near,
  NumScale.scale_in_the_key,
  NumScale.scale_in_the_query,
  NumScale.scale_in_the_score,
  NumScale.key_scale_is_near,
  NumScale.value_beside_shared_weights,
  NumScale.value_scale_is_near).
Print Assumptions of_NumScale.

Definition of_NumShort := (
  NumShort.as_many_is_tight,
  NumShort.short_sums_add,
  NumShort.exact_short_sums_add,
  NumShort.short_sums_error,
  NumShort.score_of_short_sums,
  NumShort.values_of_short_sums,
  NumShort.fused_is_short_sum,
  NumShort.weights_of_formats,
  NumShort.sixteen_of_128).
Print Assumptions of_NumShort.

Definition of_NumSlip := (
  NumSlip.slips_are_errors,
  NumSlip.slips_hold,
  NumSlip.slips_lse_hold).
Print Assumptions of_NumSlip.

Definition of_NumParts := (
  NumParts.parts_are_slips,
  NumParts.parts_hold).
Print Assumptions of_NumParts.

Definition of_NumCaps := (
  NumCaps.caps_may_be_higher,
  NumCaps.caps_may_be_higher_lse).
Print Assumptions of_NumCaps.
