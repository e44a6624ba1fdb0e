(* SPDX-License-Identifier: Apache-2.0 *)
(** * Rounding, and sums that are computed in any order (spec/tolerance.md: NUM-4, NUM-5)

    A computed number is any number within the error that a format, or a class of arithmetic,
    allows. So what is proved of it holds for nearest, truncating and fused operations, and for
    every order. *)
From Coq Require Import Reals List Permutation Lra Lia Psatz.
From Chunkproof Require Import NumCore.
Import ListNotations.
Open Scope R_scope.

(** ** NUM-4: formats *)

(** unit: relative error of a rounding; tiny: its absolute error where numbers are small; top: the
    largest finite number. *)
Record format := Format { unit : R; tiny : R; top : R }.

(** y is x, rounded. *)
Definition rounds (f : format) (x y : R) : Prop := Rabs (y - x) <= Rmax (unit f * Rabs x) (tiny f).

(** To nearest: half a unit in the last place, half the smallest subnormal number. *)
Definition binary16 := Format (/ 2 ^ 11) (/ 2 ^ 25) 65504.
Definition bfloat16 := Format (/ 2 ^ 8) (/ 2 ^ 134) ((2 - / 2 ^ 7) * 2 ^ 127).
Definition binary32 := Format (/ 2 ^ 24) (/ 2 ^ 150) ((2 - / 2 ^ 23) * 2 ^ 127).
Definition binary64 := Format (/ 2 ^ 53) (/ 2 ^ 1075) ((2 - / 2 ^ 52) * 2 ^ 1023).

(** Towards zero, or in any direction: a whole unit. *)
Definition truncating (f : format) := Format (2 * unit f) (2 * tiny f) (top f).

(** Numbers below the smallest normal one become 0. *)
Definition flushing (normal : R) (f : format) := Format (unit f) (Rmax normal (tiny f)) (top f).

(** What a store yields: a number, or an infinity, which only happens beyond the largest number. *)
Inductive stored (f : format) (x : R) : option R -> Prop :=
  | number y : rounds f x y -> stored f x (Some y)
  | overflow : top f < Rabs x -> stored f x None.

Lemma Rmax_grows x y x' y' : x <= x' -> y <= y' -> Rmax x y <= Rmax x' y'.
Proof. intros; unfold Rmax; destruct (Rle_dec x y), (Rle_dec x' y'); lra. Qed.

Lemma rounds_sum f x y : 0 <= unit f -> 0 <= tiny f -> rounds f x y ->
  Rabs (y - x) <= unit f * Rabs x + tiny f.
Proof.
  unfold rounds; intros u0 t0 near; apply Rle_trans with (1 := near).
  pose proof (Rmult_le_pos _ _ u0 (Rabs_pos x)); apply Rmax_lub; lra.
Qed.

(** NUM-4: whoever rounds to nearest also keeps the weaker promises. *)
Theorem nearest_truncates f x y :
  0 <= unit f -> 0 <= tiny f -> rounds f x y -> rounds (truncating f) x y.
Proof.
  unfold rounds, truncating; simpl; intros u0 t0 near; apply Rle_trans with (1 := near).
  pose proof (Rmult_le_pos _ _ u0 (Rabs_pos x)).
  apply Rmax_grows; lra.
Qed.

Theorem nearest_flushes normal f x y : rounds f x y -> rounds (flushing normal f) x y.
Proof.
  unfold rounds, flushing; simpl; intros near; apply Rle_trans with (1 := near).
  apply Rmax_grows; [apply Rle_refl | apply Rmax_r].
Qed.

Theorem small_may_be_flushed normal f x : Rabs x <= normal -> rounds (flushing normal f) x 0.
Proof.
  unfold rounds, flushing; simpl; intros small; unfold Rminus; rewrite Rplus_0_l, Rabs_Ropp.
  apply Rle_trans with (1 := small), Rle_trans with (2 := Rmax_r _ _), Rmax_l.
Qed.

(** NUM-4: what was rounded is as large as the number before, up to the error. *)
Theorem no_overflow f x z : stored f x z -> Rabs x <= top f -> exists y, z = Some y /\ rounds f x y.
Proof. intros [y near | far] small; [exists y; split; [reflexivity | exact near] | lra]. Qed.

(** ** NUM-5: sums *)

Definition plain (l : list R) : R := total (fun x => x) l.
Definition magnitude (l : list R) : R := total Rabs l.

(** The numbers [before] became the numbers [after] by adding groups of them in any order: depth is
    the largest number of additions above a term, ops their number in all. An addition takes any
    number of terms, and its error is measured by their magnitudes: so one tensor-core instruction,
    which aligns and truncates its terms, is an addition, and a single term is rounded alone. A
    coarser addition counts as 1 + w additions, and for its absolute error as e. *)
Inductive adds (u eta : R) : nat -> nat -> list R -> list R -> Prop :=
  | adds_none : adds u eta 0 0 [] []
  | adds_term t : adds u eta 0 0 [t] [t]
  | adds_beside d k before after d' k' before' after' :
      adds u eta d k before after -> adds u eta d' k' before' after' ->
      adds u eta (Nat.max d d') (k + k') (before ++ before') (after ++ after')
  | adds_coarse w e d k before after y :
      adds u eta d k before after ->
      Rabs (y - plain after) <= ((1 + u) ^ S w - 1) * magnitude after + INR e * eta ->
      adds u eta (S w + d) (e + k) before [y]
  | adds_order d k before before' after :
      Permutation before before' -> adds u eta d k before after -> adds u eta d k before' after.

(** What counts as one. *)
Lemma adds_sum u eta d k before after y :
  adds u eta d k before after ->
  Rabs (y - plain after) <= u * magnitude after + eta ->
  adds u eta (S d) (S k) before [y].
Proof.
  intros run near; apply (adds_coarse u eta 0 1 d k _ after y run).
  simpl; rewrite Rmult_1_r, Rmult_1_l; replace (1 + u - 1) with u by ring; exact near.
Qed.

(** The list l gathers the ideal number z, whose magnitude is at most a: up to the part G - 1 of a
    and t. *)
Definition gathers (G t a z : R) (l : list R) : Prop :=
  Rabs (plain l - z) <= (G - 1) * a + t /\ magnitude l <= G * a + t.

Lemma plain_app l k : plain (l ++ k) = plain l + plain k.
Proof. apply total_app. Qed.

Lemma magnitude_app l k : magnitude (l ++ k) = magnitude l + magnitude k.
Proof. apply total_app. Qed.

Lemma magnitude_pos l : 0 <= magnitude l.
Proof. apply total_not_negative; intros; apply Rabs_pos. Qed.

Lemma plain_magnitude l : Rabs (plain l) <= magnitude l.
Proof. apply (total_abs (fun x => x)). Qed.

Lemma gathers_none : gathers 1 0 0 0 [].
Proof.
  unfold gathers, plain, magnitude; simpl; rewrite Rminus_0_r, Rabs_R0; lra.
Qed.

Lemma gathers_exactly z : gathers 1 0 (Rabs z) z [z].
Proof.
  unfold gathers, plain, magnitude; simpl; rewrite !Rplus_0_r.
  replace (z - z) with 0 by ring; rewrite Rabs_R0; lra.
Qed.

Lemma gathers_weaken G t a z l G' t' :
  0 <= a -> G <= G' -> t <= t' -> gathers G t a z l -> gathers G' t' a z l.
Proof.
  unfold gathers; intros a0 GG tt [one two].
  pose proof (Rmult_le_compat_r a _ _ a0 GG); lra.
Qed.

Lemma gathers_app G t a z l t' a' z' l' :
  gathers G t a z l -> gathers G t' a' z' l' -> gathers G (t + t') (a + a') (z + z') (l ++ l').
Proof.
  unfold gathers; intros [one two] [one' two']; rewrite plain_app, magnitude_app; split; [|lra].
  replace (plain l + plain l' - (z + z')) with ((plain l - z) + (plain l' - z')) by ring.
  pose proof (Rabs_triang (plain l - z) (plain l' - z')); lra.
Qed.

Lemma gathers_scale f G t a z l :
  0 <= f -> gathers G t a z l -> gathers G (f * t) (f * a) (f * z) (map (Rmult f) l).
Proof.
  unfold gathers, plain, magnitude; rewrite !total_map; intros f0 [one two].
  rewrite (total_ext (fun x => Rabs (f * x)) (fun x => f * Rabs x))
    by (intros; rewrite Rabs_mult, (Rabs_pos_eq f) by exact f0; reflexivity).
  rewrite !total_scale; set (p := total (fun x => x) l) in *; set (q := total Rabs l) in *.
  replace (f * p - f * z) with (f * (p - z)) by ring.
  rewrite Rabs_mult, (Rabs_pos_eq f) by exact f0.
  pose proof (Rmult_le_compat_l f _ _ f0 one); pose proof (Rmult_le_compat_l f _ _ f0 two); lra.
Qed.

Lemma gathers_rounded u eta G t a z l y :
  0 <= u -> gathers G t a z l -> Rabs (y - plain l) <= u * magnitude l + eta ->
  gathers (G * (1 + u)) (t * (1 + u) + eta) a z [y].
Proof.
  unfold gathers; intros u0 [one two] near; unfold plain at 1, magnitude at 1; simpl.
  rewrite !Rplus_0_r.
  pose proof (Rmult_le_compat_l u _ _ u0 two) as three.
  replace (u * (G * a + t)) with (u * G * a + u * t) in three by ring.
  split.
  - replace (y - z) with ((y - plain l) + (plain l - z)) by ring.
    pose proof (Rabs_triang (y - plain l) (plain l - z)); lra.
  - replace y with ((y - plain l) + plain l) by ring.
    pose proof (Rabs_triang (y - plain l) (plain l)); pose proof (plain_magnitude l); lra.
Qed.

Lemma plain_permutation l k : Permutation l k -> plain l = plain k.
Proof. apply total_permutation. Qed.

Lemma magnitude_permutation l k : Permutation l k -> magnitude l = magnitude k.
Proof. apply total_permutation. Qed.

Lemma power_at_least_1 x d : 0 <= x -> 1 <= (1 + x) ^ d.
Proof. intros x0; apply pow_R1_Rle; lra. Qed.

Lemma power_grows x d d' : 0 <= x -> (d <= d')%nat -> (1 + x) ^ d <= (1 + x) ^ d'.
Proof. intros x0 le; apply Rle_pow; [lra | exact le]. Qed.

(** What the sums have lost, beside the sum of the terms. *)
Lemma adds_error u eta d k before after :
  0 <= u -> 0 <= eta -> adds u eta d k before after ->
  gathers ((1 + u) ^ d) (INR k * eta * (1 + u) ^ d) (magnitude before) (plain before) after.
Proof.
  intros u0 eta0 run; induction run.
  - simpl; replace (0 * eta * 1) with 0 by ring; exact gathers_none.
  - simpl; replace (0 * eta * 1) with 0 by ring; unfold magnitude, plain at 1; simpl.
    rewrite !Rplus_0_r; apply gathers_exactly.
  - rewrite plain_app, magnitude_app.
    set (G := (1 + u) ^ Nat.max d d').
    assert ((1 + u) ^ d <= G) as le by (apply power_grows; [exact u0 | lia]).
    assert ((1 + u) ^ d' <= G) as le' by (apply power_grows; [exact u0 | lia]).
    rewrite plus_INR; replace ((INR k + INR k') * eta * G) with (INR k * eta * G + INR k' * eta * G)
      by ring.
    pose proof (Rmult_le_pos _ _ (pos_INR k) eta0); pose proof (Rmult_le_pos _ _ (pos_INR k') eta0).
    apply gathers_app; (eapply gathers_weaken; [apply magnitude_pos | | | eassumption]);
      try assumption; apply Rmult_le_compat_l; assumption.
  - pose proof (power_at_least_1 u (S w) u0) as one.
    assert (0 <= (1 + u) ^ S w - 1) as some by lra.
    pose proof (gathers_rounded _ _ _ _ _ _ _ y some IHrun H) as G.
    replace (1 + ((1 + u) ^ S w - 1)) with ((1 + u) ^ S w) in G by ring.
    rewrite plus_INR, pow_add.
    pose proof (power_at_least_1 u d u0) as one'.
    pose proof (Rmult_le_pos _ _ (pos_INR e) eta0) as small.
    assert (1 <= (1 + u) ^ S w * (1 + u) ^ d) as both by
      (pose proof (Rmult_le_compat 1 _ 1 _ ltac:(lra) ltac:(lra) one one'); lra).
    pose proof (Rmult_le_compat_l _ _ _ small both).
    revert G; apply gathers_weaken; [apply magnitude_pos | lra | lra].
  - rewrite <- (plain_permutation _ _ H), <- (magnitude_permutation _ _ H); exact IHrun.
Qed.

(** Sums of numbers that gather something themselves. *)
Lemma gathers_adds u eta d k before after G t a z :
  0 <= u -> 0 <= eta -> adds u eta d k before after -> gathers G t a z before ->
  gathers (G * (1 + u) ^ d) (t * (1 + u) ^ d + INR k * eta * (1 + u) ^ d) a z after.
Proof.
  intros u0 eta0 run [one two]; destruct (adds_error u eta d k before after u0 eta0 run)
    as [near big].
  pose proof (power_at_least_1 u d u0) as p1; set (p := (1 + u) ^ d) in *.
  assert (0 <= p - 1) as p0 by lra.
  pose proof (Rmult_le_compat_l _ _ _ p0 two) as A.
  assert (0 <= p) as p0' by lra.
  pose proof (Rmult_le_compat_l _ _ _ p0' two) as B.
  unfold gathers; split.
  - replace (plain after - z) with ((plain after - plain before) + (plain before - z)) by ring.
    pose proof (Rabs_triang (plain after - plain before) (plain before - z)); lra.
  - lra.
Qed.

(** NUM-5: any sum of depth d. *)
Theorem sum_error u eta d k terms y :
  0 <= u -> 0 <= eta -> adds u eta d k terms [y] ->
  Rabs (y - plain terms) <= ((1 + u) ^ d - 1) * magnitude terms + INR k * eta * (1 + u) ^ d.
Proof.
  intros u0 eta0 run; destruct (adds_error u eta d k terms [y] u0 eta0 run) as [near _].
  unfold plain at 1 in near; simpl in near; rewrite Rplus_0_r in near; exact near.
Qed.

(** Terms added one after the other. *)
Inductive chain (u eta : R) : list R -> R -> Prop :=
  | chain_first t : chain u eta [t] t
  | chain_next t terms y z :
      chain u eta terms y -> Rabs (z - (t + y)) <= u * (Rabs t + Rabs y) + eta ->
      chain u eta (t :: terms) z.

(** NUM-5: one after the other, n terms are n - 1 additions deep. *)
Theorem chain_adds u eta terms y :
  chain u eta terms y -> adds u eta (length terms - 1) (length terms - 1) terms [y].
Proof.
  induction 1 as [t | t terms y z run IH near]; [apply adds_term|].
  assert (length (t :: terms) - 1 = S (length terms - 1))%nat as E.
  { inversion run; subst; simpl; lia. }
  rewrite E.
  apply (adds_sum u eta (length terms - 1) (length terms - 1) _ [t; y]).
  - apply (adds_beside u eta 0 0 [t] [t] _ _ terms [y]); [apply adds_term | exact IH].
  - unfold plain, magnitude; simpl; rewrite !Rplus_0_r; exact near.
Qed.
