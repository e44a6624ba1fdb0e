(* SPDX-License-Identifier: Apache-2.0 *)
(** * Parts of the bound, rounded upwards (spec/tolerance.md: NUM-5, NUM-6)

    What a program computes of these parts of the formula, if it is finite, is at least what the
    formula says of the same numbers. *)
From Coq Require Import Reals ZArith Bool Lra Lia Psatz.
From Flocq Require Import Core.
From Chunkproof Require Import NumFloat NumFloatUp.
From Chunkproof Require NumRound NumExec NumInvariant NumTolerance.
Open Scope R_scope.

Section Parts.
Variable o : ops.
Variable B : binary64 o.
Local Notation fin := (finite B).
Local Notation val := (value B).
Local Notation up_plus := (up_plus o).
Local Notation up_times := (up_times o).
Local Notation up_function := (up_function o).

(** A number of a class: finite, and not negative. *)
Definition good (x : F o) : Prop := fin x /\ 0 <= val x.

Lemma good_sign x : good x -> not_below o x.
Proof.
  intros [f le]; unfold not_below; destruct (zero_is o B) as [f0 v0].
  destruct (lt o x (of_int o 0)) eqn:E; [|reflexivity].
  apply (of_less o B x (zero o) f f0) in E; rewrite v0 in E; lra.
Qed.

Lemma sign_pos x : not_below o x -> fin x -> 0 <= val x.
Proof.
  intros s f; destruct (zero_is o B) as [f0 v0]; apply Rnot_lt_le; intros less.
  rewrite <- v0 in less; apply (of_less o B x (zero o) f f0) in less.
  unfold not_below in s; unfold zero in less; rewrite s in less; discriminate.
Qed.

Lemma whole k : (0 <= k <= 2 ^ 53)%Z -> fin (of_int o k) /\ val (of_int o k) = IZR k.
Proof. intros; apply (of_whole o B); lia. Qed.

Lemma good_whole k : (0 <= k <= 2 ^ 53)%Z -> good (of_int o k).
Proof.
  intros le; destruct (whole k le) as [f v]; split; [exact f|]; rewrite v; apply IZR_le; lia.
Qed.

Lemma good_pow2 e : (-1074 <= e <= 0)%Z -> good (pow2 o e).
Proof.
  intros le; destruct (of_pow2 o B e le) as [f v]; split; [exact f|]; rewrite v; apply bpow_ge_0.
Qed.

Lemma sign_up_plus x y : not_below o x -> not_below o y -> not_below o (up_plus x y).
Proof.
  intros sx sy; unfold NumFloat.up_plus; pose proof (sign_add o B _ _ sx sy).
  apply (sign_add o B); [assumption|]; apply (sign_mul o B);
    [apply good_sign, good_pow2; lia | apply (sign_abs o B)].
Qed.

Lemma sign_up x : not_below o x -> not_below o (up o x).
Proof.
  intros sx; unfold up; apply (sign_add o B); [exact sx|]; apply (sign_add o B);
    [|apply good_sign, good_pow2; lia]; apply (sign_mul o B);
    [apply good_sign, good_pow2; lia | apply (sign_abs o B)].
Qed.

Lemma sign_zero : not_below o (zero o).
Proof. apply good_sign, good_whole; lia. Qed.

Lemma sign_up_times x y : not_below o x -> not_below o y -> not_below o (up_times x y).
Proof.
  intros sx sy; unfold NumFloat.up_times; destruct (_ && _); [exact sign_zero|].
  apply sign_up, (sign_mul o B); assumption.
Qed.

Lemma sign_up_function x : not_below o x -> not_below o (up_function x).
Proof.
  intros sx; unfold NumFloat.up_function; destruct (eq o x (zero o)); [exact sign_zero|].
  apply (sign_add o B); [exact sx|]; apply (sign_add o B); [apply (sign_mul o B)|];
    try (apply good_sign, good_pow2; lia); apply (sign_abs o B).
Qed.

(** ** The library's functions *)

Lemma up_exp_is_up x :
  fin (up_function (exp_of o x)) -> not_below o x \/ fin x ->
  fin x /\ exp (val x) <= val (up_function (exp_of o x)) \/ fin x /\ val (exp_of o x) = 0.
Proof.
  intros f s; pose proof (fin_up_function o B _ f) as fe.
  destruct (of_exp o B x fe s) as [fx near].
  destruct (Req_dec (val (exp_of o x)) 0) as [Z | NZ]; [right; auto|left].
  split; [exact fx|]; apply (up_function_is_up o B _ _ f near); intros; contradiction.
Qed.

(** Of an argument that is not negative. *)
Theorem up_exp_of_positive x :
  fin (up_function (exp_of o x)) -> not_below o x ->
  fin x /\ exp (val x) <= val (up_function (exp_of o x)).
Proof.
  intros f s; pose proof (fin_up_function o B _ f) as fe.
  destruct (of_exp o B x fe (or_introl s)) as [fx near]; split; [exact fx|].
  apply (up_function_is_up o B _ _ f near); intros Z; exfalso.
  pose proof (sign_pos x s fx) as x0; rewrite Z in near.
  assert (1 <= exp (val x)) as one by (rewrite <- exp_0; apply NumInvariant.exp_le, x0).
  unfold within in near; unfold Rminus in near.
  rewrite Rplus_0_l, Rabs_Ropp, Rabs_pos_eq in near by lra.
  pose proof (smallest_is); pose proof normal_pos.
  assert (smallest <= 1 / 2).
  { unfold smallest; apply Rle_trans with (bpow radix2 (-1)); [apply bpow_le; lia | simpl; lra]. }
  unfold Rmax in near; destruct (Rle_dec (8 * u * exp (val x)) smallest); unfold u in *; lra.
Qed.

Theorem up_expm1_is_up x :
  fin (up_function (expm1_of o x)) -> not_below o x ->
  fin x /\ exp (val x) - 1 <= val (up_function (expm1_of o x)).
Proof.
  intros f s; pose proof (fin_up_function o B _ f) as fe.
  destruct (of_expm1 o B x fe s) as [fx [near z]]; split; [exact fx|].
  apply (up_function_is_up o B _ _ f near); intros Z; rewrite (z Z), exp_0; lra.
Qed.

Theorem up_log1p_is_up x :
  fin (up_function (log1p_of o x)) ->
  fin x /\ -1 < val x /\ ln (1 + val x) <= val (up_function (log1p_of o x)).
Proof.
  intros f; pose proof (fin_up_function o B _ f) as fe.
  destruct (of_log1p o B x fe) as [fx [low [near z]]]; split; [exact fx | split; [exact low|]].
  apply (up_function_is_up o B _ _ f near); intros Z; rewrite (z Z), Rplus_0_r, ln_1; lra.
Qed.

(** ** NUM-5: growth *)

Lemma power_by_logarithm x n : 0 < x -> exp (INR n * ln x) = x ^ n.
Proof.
  intros pos; induction n as [|n IH]; [simpl; rewrite Rmult_0_l; apply exp_0|].
  rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus, IH, exp_ln by exact pos; simpl; ring.
Qed.

Lemma INR_of_Z k : (0 <= k)%Z -> INR (Z.to_nat k) = IZR k.
Proof. intros; rewrite INR_IZR_INZ, Z2Nat.id by assumption; reflexivity. Qed.

(** (1 + u)^k, by its logarithm. *)
Theorem compound_is_up x k :
  fin (compound o x k) -> (0 <= k <= 2 ^ 31)%Z -> 0 <= val x ->
  fin x /\ (1 + val x) ^ Z.to_nat k <= exp (val (compound o x k)).
Proof.
  intros f k0 x0; unfold compound in *.
  destruct (up_times_is_up o B _ _ f) as [_ [fl le]].
  destruct (up_log1p_is_up _ fl) as [fx [_ lel]]; split; [exact fx|].
  rewrite <- power_by_logarithm by lra; apply NumInvariant.exp_le.
  apply Rle_trans with (2 := le); rewrite (proj2 (whole k ltac:(lia))), INR_of_Z by lia.
  apply Rmult_le_compat_l; [apply IZR_le; lia | exact lel].
Qed.

Lemma compound_sign x k : (0 <= k <= 2 ^ 31)%Z -> not_below o x -> not_below o (compound o x k).
Proof.
  intros k0 s; apply sign_up_times; [apply good_sign, good_whole; lia|].
  apply sign_up_function, (sign_log1p o B), s.
Qed.

(** NUM-5: what sums and stores lose. *)
Theorem growth_is_up x k y l :
  fin (growth o x k y l) -> (0 <= k <= 2 ^ 31)%Z -> (0 <= l <= 2 ^ 31)%Z -> good x -> good y ->
  (1 + val x) ^ Z.to_nat k * (1 + val y) ^ Z.to_nat l - 1 <= val (growth o x k y l).
Proof.
  intros f k0 l0 gx gy; unfold growth in *.
  assert (not_below o (up_plus (compound o x k) (compound o y l))) as s
    by (apply sign_up_plus; apply compound_sign; auto using good_sign).
  destruct (up_expm1_is_up _ f s) as [fs le].
  destruct (up_plus_is_up o B _ _ fs) as [f1 [f2 les]].
  destruct (compound_is_up _ _ f1 k0 (proj2 gx)) as [_ le1].
  destruct (compound_is_up _ _ f2 l0 (proj2 gy)) as [_ le2].
  apply Rle_trans with (2 := le); apply Rplus_le_compat_r.
  apply Rle_trans with (exp (val (compound o x k)) * exp (val (compound o y l))).
  - apply Rmult_le_compat; try assumption; apply pow_le; destruct gx, gy; lra.
  - rewrite <- exp_plus; apply NumInvariant.exp_le, les.
Qed.

Lemma growth_sign x k y l :
  (0 <= k <= 2 ^ 31)%Z -> (0 <= l <= 2 ^ 31)%Z -> good x -> good y ->
  not_below o (growth o x k y l).
Proof.
  intros; apply sign_up_function, (sign_expm1 o B), sign_up_plus; apply compound_sign;
    auto using good_sign.
Qed.

(** ** NUM-6: the error of a score *)

Definition good_score_class (a : score_class o) : Prop :=
  good (c_term_unit o a) /\ good (c_term_tiny o a) /\ good (c_unit o a) /\ good (c_tiny o a) /\
  (0 <= c_depth o a <= 2 ^ 31)%Z /\ (0 <= c_additions o a <= 2 ^ 31)%Z /\
  good (c_scale_unit o a) /\ good (c_scale_tiny o a).

(** NUM-6 over the reals: m is |scale| sum |q k|, b the factor of the sum. *)
Definition sigma_of (a : score_class o) (b d m : R) : R :=
  let g := (1 + val (c_unit o a)) ^ Z.to_nat (c_depth o a) * (1 + val (c_scale_unit o a)) in
  ((1 + val (c_term_unit o a)) * g - 1) * m
  + b * (d * val (c_term_tiny o a) + IZR (c_additions o a) * val (c_tiny o a)) * g
  + val (c_scale_tiny o a).

Theorem score_error_is_up a scale d magnitude m :
  fin (score_error o a scale d magnitude) -> good_score_class a -> (0 <= d <= 2 ^ 31)%Z ->
  0 <= m <= val magnitude ->
  fin magnitude /\
  sigma_of a (if c_scaled_before o a then 1 else Rabs (val scale)) (IZR d) m
    <= val (score_error o a scale d magnitude).
Proof.
  intros f [gt [gtt [gu [gtu [k0 [n0 [gs gst]]]]]]] d0 m0;
  unfold score_error, error_of_score, score_bound_of in *;
    cbn [of_magnitude of_losses of_scale] in *.
  set (additions := compound o (c_unit o a) (c_depth o a)) in *.
  set (scaling := up_function (log1p_of o (c_scale_unit o a))) in *.
  set (sums := up_plus additions scaling) in *.
  set (terms := up_function (log1p_of o (c_term_unit o a))) in *.
  assert (not_below o additions) as sa by (apply compound_sign; auto using good_sign).
  assert (not_below o scaling) as ss by (apply sign_up_function, (sign_log1p o B), good_sign, gs).
  assert (not_below o sums) as ssum by (apply sign_up_plus; assumption).
  assert (not_below o terms) as st by (apply sign_up_function, (sign_log1p o B), good_sign, gt).
  destruct (up_plus_is_up o B _ _ f) as [f1 [_ le1]].
  destruct (up_plus_is_up o B _ _ f1) as [f2 [f3 le2]].
  destruct (up_times_is_up o B _ _ f2) as [fr [fm le3]]; split; [exact fm|].
  destruct (up_times_is_up o B _ _ f3) as [fl [fg le4]].
  destruct (up_expm1_is_up _ fr (sign_up_plus _ _ st ssum)) as [fts le5].
  destruct (up_plus_is_up o B _ _ fts) as [ft [fs le6]].
  destruct (up_exp_of_positive _ fg ssum) as [_ le7].
  destruct (up_plus_is_up o B _ _ fs) as [fa [fsc le8]].
  destruct (compound_is_up _ _ fa k0 (proj2 gu)) as [_ le9].
  destruct (up_log1p_is_up _ fsc) as [_ [_ le10]].
  destruct (up_log1p_is_up _ ft) as [_ [_ le11]].
  set (p := (1 + val (c_unit o a)) ^ Z.to_nat (c_depth o a)) in *.
  set (us := val (c_scale_unit o a)) in *; set (ut := val (c_term_unit o a)) in *.
  assert (0 <= us) as us0 by apply gs. assert (0 <= ut) as ut0 by apply gt.
  assert (1 <= p) as p1 by (apply pow_R1_Rle; destruct gu; lra).
  assert (p * (1 + us) <= exp (val sums)) as G.
  { apply Rle_trans with (exp (val additions) * exp (val scaling)).
    - apply Rmult_le_compat; [lra | lra | exact le9|].
      rewrite <- (exp_ln (1 + us)) by lra; apply NumInvariant.exp_le, le10.
    - rewrite <- exp_plus; apply NumInvariant.exp_le, le8. }
  assert (1 <= p * (1 + us)) as g1 by (apply NumInvariant.product_at_least_1; lra).
  assert ((1 + ut) * (p * (1 + us)) <= exp (val (up_plus terms sums))) as T.
  { apply Rle_trans with (exp (val terms) * exp (val sums)).
    - apply Rmult_le_compat; [lra | lra | | exact G].
      rewrite <- (exp_ln (1 + ut)) by lra; apply NumInvariant.exp_le, le11.
    - rewrite <- exp_plus; apply NumInvariant.exp_le, le6. }
  assert (1 <= (1 + ut) * (p * (1 + us))) as t1 by (apply NumInvariant.product_at_least_1; lra).
  unfold sigma_of; fold us ut p.
  set (b := if c_scaled_before o a then 1 else Rabs (val scale)).
  unfold lost_in_score in *.
  destruct (up_times_is_up o B _ _ fl) as [_ [ftiny le12]].
  destruct (up_plus_is_up o B _ _ ftiny) as [ft1 [ft2 le13]].
  destruct (up_times_is_up o B _ _ ft1) as [_ [_ le14]].
  destruct (up_times_is_up o B _ _ ft2) as [_ [_ le15]].
  rewrite (proj2 (whole d ltac:(lia))) in le14.
  rewrite (proj2 (whole (c_additions o a) ltac:(lia))) in le15.
  assert (val (if c_scaled_before o a then one o else abs o scale) = b) as Eb.
  { unfold b; destruct (c_scaled_before o a); [apply (one_is o B) | apply (val_abs o B)]. }
  rewrite Eb in le12.
  assert (0 <= b) as b0 by (unfold b; destruct (c_scaled_before o a); [lra | apply Rabs_pos]).
  set (t := IZR d * val (c_term_tiny o a) + IZR (c_additions o a) * val (c_tiny o a)) in *.
  assert (0 <= t) as t0.
  { unfold t; destruct gtt, gtu; apply Rplus_le_le_0_compat; apply Rmult_le_pos; try assumption;
      apply IZR_le; lia. }
  set (lost := val (up_times _ _)) in le12, le4.
  assert (b * t <= lost) as L.
  { apply Rle_trans with (2 := le12); apply Rmult_le_compat_l; [exact b0|].
    apply Rle_trans with (2 := le13); unfold t; apply Rplus_le_compat; assumption. }
  assert (0 <= b * t) as bt by (apply Rmult_le_pos; assumption).
  assert (b * t * (p * (1 + us)) <= lost * val (up_function (exp_of o sums))) as second
    by (apply Rmult_le_compat; lra).
  assert (((1 + ut) * (p * (1 + us)) - 1) * m
          <= val (up_function (expm1_of o (up_plus terms sums))) * val magnitude) as first
    by (apply Rmult_le_compat; lra).
  lra.
Qed.
End Parts.
