(* SPDX-License-Identifier: Apache-2.0 *)
(** * What a finite bound was computed from (spec/tolerance.md: NUM-9, NUM-12)

    An overflow on the way to H_j does not get lost: where the computed H_j of a key is a finite
    number, so are its score, the errors of the score, and what follows for the references. *)
From Coq Require Import Reals ZArith Bool List Lra Lia.
From Flocq Require Import Core.
From Chunkproof Require Import NumFloat NumFloatRow NumFloatUp NumFloatParts NumFloatTerms
  NumFloatReferences NumFloatPowers.
Import ListNotations.
Open Scope R_scope.

Section Finite.
Variable o : ops.
Variable B : binary64 o.
Local Notation fin := (finite B).
Local Notation val := (value B).
Local Notation good := (good o B).

Lemma left_of_sum x y : fin (up_plus o x y) -> fin x.
Proof. intros f; apply (up_plus_is_up o B x y f). Qed.

Lemma right_of_sum x y : fin (up_plus o x y) -> fin y.
Proof. intros f; apply (up_plus_is_up o B x y f). Qed.

Lemma left_of_product x y : fin (up_times o x y) -> fin x.
Proof. intros f; apply (up_times_is_up o B x y f). Qed.

Lemma right_of_product x y : fin (up_times o x y) -> fin y.
Proof. intros f; apply (up_times_is_up o B x y f). Qed.

(** A sum is never -infinity, of which expm1 is a finite number, too. *)
Lemma gain_of_sum x y : fin (up_function o (expm1_of o (up_plus o x y))) -> fin (up_plus o x y).
Proof.
  intros f; apply (fin_up_function o B) in f.
  destruct (up_plus_kinds o B x y) as [g | n]; [exact g | apply (of_expm1 o B _ f n)].
Qed.

(** All that is finite where H_j of one key is. *)
Record from_finite (b : references o) (s : scored o) : Prop := From_finite {
  from_score : fin (score o s); from_sigma : fin (sigma o s); from_z : fin (largest_z o b);
  from_high : fin (high o b); from_h : fin (h o b); from_slack : fin (slack o b);
  from_rise : fin (rise o b) }.

(** NUM-12: an overflow does not get lost. *)
Theorem finite_key_has_finite_parts a k b c s :
  fin (key_h o (weigh o a k b c s)) -> from_finite b s.
Proof.
  unfold weigh; cbn [key_h]; intros f.
  pose proof (right_of_product _ _ (left_of_sum _ _ f)) as fx.
  pose proof (left_of_product _ _ (right_of_sum _ _ f)) as fb; clear f.
  pose proof (right_of_product _ _ (left_of_sum _ _ (left_of_sum _ _ fb))) as fr; clear fb.
  unfold strays in fx; apply gain_of_sum in fx.
  pose proof (left_of_sum _ _ fx) as f1; clear fx.
  pose proof (left_of_sum _ _ f1) as f2; pose proof (right_of_sum _ _ f1) as f3; clear f1.
  pose proof (left_of_sum _ _ f2) as fs.
  pose proof (right_of_product _ _ (right_of_sum _ _ f2)) as fa; clear f2.
  pose proof (right_of_product _ _ (left_of_sum _ _ f3)) as fh; clear f3.
  pose proof (right_of_sum _ _ (left_of_sum _ _ fa)) as ft.
  pose proof (left_of_product _ _ (right_of_sum _ _ fa)) as fl; clear fa.
  pose proof (right_of_sum _ _ ft) as fz; apply left_of_sum in ft.
  constructor; try assumption.
  - apply (fin_opp o B), (right_of_sum _ _ ft).
  - exact (left_of_sum _ _ ft).
  - apply (of_mul o B _ _ fl).
Qed.

(** ** Small numbers stay finite *)

(** Not negative, and at most 2^e. *)
Definition up_to (e : Z) (x : F o) : Prop := good x /\ val x <= bpow radix2 e.

Lemma power_twice e : bpow radix2 (e + 1) = 2 * bpow radix2 e.
Proof. rewrite bpow_plus; change (bpow radix2 1) with 2; ring. Qed.

Lemma rnd_up_to e t : (-1074 <= e)%Z -> 0 <= t <= bpow radix2 e -> 0 <= rnd t <= bpow radix2 e.
Proof.
  intros le [t0 t1]; split; [rewrite <- rnd_0; apply rnd_le, t0|].
  rewrite <- (rnd_double (bpow radix2 e)) by (apply double_bpow, le); apply rnd_le, t1.
Qed.

Lemma add_up_to e x y : (-1074 <= e <= 999)%Z -> up_to e x -> up_to e y ->
  up_to (e + 1) (add o x y).
Proof.
  intros le [[fx x0] x1] [[fy y0] y1]; pose proof (power_twice e) as p.
  assert (fin (add o x y)) as f.
  { apply (small_sum o B); try assumption; rewrite Rabs_pos_eq by lra.
    apply Rle_trans with (bpow radix2 (e + 1)); [lra | apply bpow_le; lia]. }
  destruct (of_add o B _ _ f) as [_ [_ V]].
  destruct (rnd_up_to (e + 1) (val x + val y)) as [r0 r1]; [lia | lra|].
  split; [split; [exact f|]|]; rewrite V; assumption.
Qed.

Lemma mul_up_to d e x y : (-1074 <= d + e <= 999)%Z -> up_to d x -> up_to e y ->
  up_to (d + e) (mul o x y).
Proof.
  intros le [[fx x0] x1] [[fy y0] y1].
  assert (0 <= val x * val y <= bpow radix2 (d + e)) as p.
  { rewrite bpow_plus; split; [apply Rmult_le_pos | apply Rmult_le_compat]; assumption. }
  assert (fin (mul o x y)) as f.
  { apply (small_product o B); try assumption; rewrite Rabs_pos_eq by lra.
    apply Rle_trans with (bpow radix2 (d + e)); [lra | apply bpow_le; lia]. }
  destruct (of_mul o B _ _ f) as [_ [_ V]].
  destruct (rnd_up_to (d + e) (val x * val y)) as [r0 r1]; [lia | lra|].
  split; [split; [exact f|]|]; rewrite V; assumption.
Qed.

Lemma up_to_more d e x : (d <= e)%Z -> up_to d x -> up_to e x.
Proof.
  intros le [g x1]; split; [exact g|]; apply Rle_trans with (1 := x1), bpow_le, le.
Qed.

Lemma power_up_to e : (-1074 <= e <= 0)%Z -> up_to e (pow2 o e).
Proof.
  intros le; split; [apply good_pow2, le|].
  rewrite (proj2 (of_pow2 o B e le)); apply Rle_refl.
Qed.

Lemma zero_up_to e : up_to e (zero o).
Proof. split; [apply good_zero|]; rewrite (proj2 (zero_is o B)); apply bpow_ge_0. Qed.

Lemma size_up_to e x : fin x -> Rabs (val x) <= bpow radix2 e -> up_to e (abs o x).
Proof.
  intros f le; rewrite <- (val_abs o B) in le; split; [|exact le].
  split; [apply (of_abs o B x), f | rewrite (val_abs o B); apply Rabs_pos].
Qed.

(** What a rounding upwards adds, where the margin is 2^-c of the result. *)
Lemma margin_up_to c e x : (49 <= c <= 51)%Z -> (-1000 <= e <= 998)%Z -> up_to e x ->
  up_to e (add o (mul o (pow2 o (- c)) (abs o x)) (pow2 o (-1074))).
Proof.
  intros lc le [[f x0] x1]; replace e with (e - 1 + 1)%Z by lia; apply add_up_to; [lia | |].
  - apply (up_to_more (- c + e)); [lia|]; apply mul_up_to; [lia | apply power_up_to; lia|].
    apply size_up_to; [exact f | rewrite Rabs_pos_eq by exact x0; exact x1].
  - apply (up_to_more (-1074)); [lia | apply power_up_to; lia].
Qed.

Lemma up_plus_up_to e x y : (-1000 <= e <= 997)%Z -> up_to e x -> up_to e y ->
  up_to (e + 2) (up_plus o x y).
Proof.
  intros le ux uy; pose proof (add_up_to e x y ltac:(lia) ux uy) as us; unfold up_plus.
  replace (e + 2)%Z with (e + 1 + 1)%Z by lia; apply add_up_to; [lia | exact us|].
  apply (up_to_more (-51 + (e + 1))); [lia|]; apply mul_up_to; [lia | apply power_up_to; lia|].
  destruct us as [[f s0] s1].
  apply size_up_to; [exact f | rewrite Rabs_pos_eq by exact s0; exact s1].
Qed.

Lemma up_times_up_to d e x y : (-1000 <= d + e <= 997)%Z -> up_to d x -> up_to e y ->
  up_to (d + e + 1) (up_times o x y).
Proof.
  intros le ux uy; unfold up_times; destruct (_ && _); [apply zero_up_to|].
  pose proof (mul_up_to d e x y ltac:(lia) ux uy) as um; unfold up.
  apply add_up_to; [lia | exact um | apply (margin_up_to 51); [lia | lia | exact um]].
Qed.

Lemma up_function_up_to e x : (-1000 <= e <= 997)%Z -> up_to e x ->
  up_to (e + 1) (up_function o x).
Proof.
  intros le ux; unfold up_function; destruct (eq o x (zero o)); [apply zero_up_to|].
  apply add_up_to; [lia | exact ux | apply (margin_up_to 49); [lia | lia | exact ux]].
Qed.

(** What a function gives for a value of at most 2^e is at most twice that. *)
Lemma within_up_to e x t : (-1000 <= e <= 997)%Z -> fin x -> not_below o x ->
  within (val x) t -> 0 <= t <= bpow radix2 e -> up_to (e + 1) x.
Proof.
  intros le f n near [t0 t1]; pose proof (sign_pos o B x n f) as x0; split; [split; assumption|].
  unfold within in near; rewrite (Rabs_pos_eq t) in near by exact t0.
  apply Rabs_two in near; rewrite power_twice.
  assert (smallest <= bpow radix2 e) as se by (apply bpow_le; lia).
  pose proof u_bounds; unfold Rmax in near; destruct (Rle_dec _ smallest); [lra|].
  assert (8 * u * t <= t) by nra; lra.
Qed.

Lemma log1p_up_to e x : (-1000 <= e <= 0)%Z -> up_to e x ->
  up_to (e + 2) (up_function o (log1p_of o x)).
Proof.
  intros le [g x1]; pose proof g as [f x0].
  assert (bpow radix2 e <= 1) as e1 by (apply (bpow_le radix2 e 0); lia).
  pose proof (log1p_finite o B x f ltac:(lra)) as fl.
  destruct (of_log1p o B x fl) as [_ [_ [near _]]].
  replace (e + 2)%Z with (e + 1 + 1)%Z by lia; apply up_function_up_to; [lia|].
  apply (within_up_to e _ (ln (1 + val x))); try assumption; [lia | |].
  - apply (sign_log1p o B), (good_sign o B), g.
  - split; [rewrite <- ln_1; apply ln_not_less; lra|].
    apply Rle_trans with (2 := x1), Rle_trans with (ln (exp (val x))).
    + apply ln_not_less; [lra | apply exp_ineq1_le].
    + rewrite ln_exp; apply Rle_refl.
Qed.

Lemma exp_up_to x : up_to (-20) x -> up_to 3 (up_function o (exp_of o x)).
Proof.
  intros [g x1]; pose proof g as [f x0]; change (bpow radix2 (-20)) with (/ 1048576) in x1.
  pose proof (exp_finite o B x f ltac:(lra)) as fe.
  destruct (of_exp o B x fe (or_intror f)) as [_ near].
  apply (up_function_up_to 2); [lia|].
  apply (within_up_to 1 _ (exp (val x))); try assumption; [lia | apply (sign_exp o B)|].
  pose proof (exp_pos (val x)); pose proof (exp_small (val x) ltac:(lra)).
  change (bpow radix2 1) with 2; lra.
Qed.

Lemma expm1_up_to e x : (-1000 <= e <= -20)%Z -> up_to e x ->
  up_to (e + 3) (up_function o (expm1_of o x)).
Proof.
  intros le [g x1]; pose proof g as [f x0].
  assert (bpow radix2 e <= / 1048576) as e1 by (apply (bpow_le radix2 e (-20)); lia).
  pose proof (expm1_finite o B x f ltac:(lra)) as fe.
  destruct (of_expm1 o B x fe (good_sign o B x g)) as [_ [near _]].
  replace (e + 3)%Z with (e + 1 + 1 + 1)%Z by lia; apply up_function_up_to; [lia|].
  apply (within_up_to (e + 1) _ (exp (val x) - 1)); try assumption; [lia | |].
  - apply (sign_expm1 o B), (good_sign o B), g.
  - pose proof (exp_small (val x) ltac:(lra)); pose proof (exp_ineq1_le (val x)).
    rewrite power_twice; lra.
Qed.

(** NUM-12: the error of a score that is computed here is a number, or infinite, but never NaN. *)
Theorem error_here_is_most scale d magnitude :
  (0 <= d <= 2 ^ 20)%Z -> fin scale -> good magnitude ->
  most o B (error_of_score o (score_bound_of o (here o d) scale d) magnitude).
Proof.
  intros d0 fs gm.
  assert (up_to 20 (of_int o d)) as ud.
  { split; [apply good_whole; lia|]; rewrite (proj2 (of_whole o B d ltac:(lia))).
    change (bpow radix2 20) with (IZR (2 ^ 20)); apply IZR_le; lia. }
  assert (up_to (-51) (up_function o (log1p_of o (pow2 o (-53))))) as ut.
  { apply (log1p_up_to (-53)); [lia | apply power_up_to; lia]. }
  assert (up_to (-30) (compound o (pow2 o (-53)) d)) as ua.
  { apply (up_times_up_to 20 (-51)); [lia | exact ud | exact ut]. }
  assert (up_to (-49) (up_function o (log1p_of o (mul o (of_int o 3) (pow2 o (-53)))))) as us.
  { apply (log1p_up_to (-51)); [lia|]; apply (mul_up_to 2 (-53)); [lia | | apply power_up_to; lia].
    split; [apply good_whole; lia|]; rewrite (proj2 (of_whole o B 3 ltac:(lia))); simpl; lra. }
  assert (up_to (-28) (up_plus o (compound o (pow2 o (-53)) d)
    (up_function o (log1p_of o (mul o (of_int o 3) (pow2 o (-53))))))) as usum.
  { apply (up_plus_up_to (-30)); [lia | exact ua | apply (up_to_more (-49)); [lia | exact us]]. }
  unfold error_of_score, score_bound_of; cbn [of_magnitude of_losses of_scale NumFloatRow.here
    c_unit c_depth c_scale_unit c_term_unit c_scale_tiny]; cbv zeta.
  apply (up_plus_most o B); [apply (up_plus_most o B) | left; apply good_pow2; lia].
  - apply (up_times_most o B); [| left; apply gm | left; exact gm].
    apply (expm1_up_to (-26)); [lia|]; apply (up_plus_up_to (-28)); [lia | | exact usum].
    apply (up_to_more (-51)); [lia | exact ut].
  - left; apply (up_times_up_to 28 3);
      [lia | | apply exp_up_to, (up_to_more (-28)); [lia | exact usum]].
    unfold lost_in_score; cbn [c_scaled_before c_term_tiny c_tiny c_additions NumFloatRow.here].
    apply (up_times_up_to 1024 (-997)); [lia | |].
    + apply size_up_to; [exact fs | left; apply (limited o B)].
    + apply (up_plus_up_to (-999)); [lia | |].
      * apply (up_times_up_to 20 (-1020)); [lia | exact ud|].
        apply (up_to_more (-1074)); [lia | apply power_up_to; lia].
      * apply (up_times_up_to 20 (-1020)); [lia | exact ud | apply zero_up_to].
Qed.
End Finite.
