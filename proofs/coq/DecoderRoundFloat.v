(* SPDX-License-Identifier: Apache-2.0 *)
(** * Rotation and MOVE in binary floating point, and with numbers (spec/decoder.md: DEC-12)

    Rounding is Flocq's, to nearest, ties to even. It has no largest number; a rotated number is at
    most as large as the bound says. *)
From Coq Require Import Reals ZArith List Arith Lra Lia Psatz.
From Flocq Require Import Core Relative.
From Chunkproof Require Import Softmax DecoderMove NumRound NumFormat DecoderNorm DecoderRound.
From Chunkproof Require Import DecoderExamples.
Open Scope R_scope.

(** x, rounded to numbers of `prec` bits; 2^emin is the smallest positive one. *)
Definition to_nearest (prec emin : Z) (x : R) : R :=
  round radix2 (FLT_exp emin prec) ZnearestE x.

Lemma bpow_is_inverse n : bpow radix2 (- Z.of_nat n) = / 2 ^ n.
Proof.
  rewrite bpow_opp; f_equal; induction n as [|n IH]; [reflexivity|].
  rewrite Nat2Z.inj_succ, <- Z.add_1_l, bpow_plus, IH; simpl; lra.
Qed.

Lemma pow_is_bpow n : 2 ^ n = bpow radix2 (Z.of_nat n).
Proof.
  induction n as [|n IH]; [reflexivity|].
  rewrite Nat2Z.inj_succ, <- Z.add_1_l, bpow_plus, <- IH; simpl; lra.
Qed.

Definition to16 := to_nearest 11 (-24).
Definition tobf := to_nearest 8 (-133).
Definition to32 := to_nearest 24 (-149).
Definition to64 := to_nearest 53 (-1074).

(** Flocq's numbers are those of NUM-4, and its rounding is one of those to nearest. *)
Lemma representable_is_generic p e x :
  representable (S p) (/ 2 ^ e) x <->
  generic_format radix2 (FLT_exp (- Z.of_nat e) (Z.of_nat (S p))) x.
Proof.
  assert (0 < Z.of_nat (S p))%Z as pos by lia.
  assert (forall k, bpow radix2 (Z.of_nat k - Z.of_nat e) = 2 ^ k * / 2 ^ e) as split
    by (intros k; unfold Zminus; rewrite bpow_plus, bpow_is_inverse, (pow_is_bpow k); reflexivity).
  split.
  - intros (z & k & small & ->); rewrite <- split.
    rewrite pow_is_bpow, <- abs_IZR, <- IZR_Zpower in small by lia; apply le_IZR in small.
    destruct (Z.eq_dec (Z.abs z) (radix2 ^ Z.of_nat (S p))) as [full | fits].
    + apply generic_format_abs_inv; rewrite Rabs_mult, (Rabs_pos_eq (bpow _ _)) by apply bpow_ge_0.
      rewrite <- abs_IZR, full, IZR_Zpower, <- bpow_plus by lia.
      apply generic_format_FLT_bpow; [exact pos | lia].
    + apply generic_format_FLT; exists (Float radix2 z (Z.of_nat k - Z.of_nat e));
        [reflexivity | cbn [Fnum]; lia | cbn [Fexp]; lia].
  - intros of; apply FLT_format_generic in of; [|exact pos]; destruct of as [[z q] -> fits low].
    simpl in *; exists z, (Z.to_nat (q + Z.of_nat e)); split.
    + rewrite pow_is_bpow, <- abs_IZR, <- IZR_Zpower by lia; apply IZR_le; simpl in *; lia.
    + rewrite <- split, Z2Nat.id by lia; unfold F2R; simpl; do 2 f_equal; lia.
Qed.

Lemma to_nearest_is_nearest p e x :
  nearest (S p) (/ 2 ^ e) x (to_nearest (Z.of_nat (S p)) (- Z.of_nat e) x).
Proof.
  assert (Prec_gt_0 (Z.of_nat (S p))) by (unfold Prec_gt_0; lia).
  destruct (round_N_pt radix2 (FLT_exp (- Z.of_nat e) (Z.of_nat (S p)))
              (fun z => negb (Z.even z)) x) as [of closest].
  split; [apply representable_is_generic, of|].
  intros z rz; apply closest, representable_is_generic, rz.
Qed.

(** DEC-12: rounding to nearest keeps what the bounds assume of a format. *)
Theorem formats_keep :
  keeps binary16 to16 /\ keeps bfloat16 tobf /\ keeps binary32 to32 /\ keeps binary64 to64.
Proof.
  repeat split; intros x; apply (formats_round x);
    [apply (to_nearest_is_nearest 10 24) | apply (to_nearest_is_nearest 7 133) |
     apply (to_nearest_is_nearest 23 149) | apply (to_nearest_is_nearest 52 1074)].
Qed.

(** ** Cosine and sine of a library *)

Definition ulp_in (prec emin : Z) (x : R) : R := ulp radix2 (FLT_exp emin prec) x.

(** DEC-12: a function whose values are in [-1, 1], with an error of k units in the last place.
    Where the value is 1 or -1, the result has to be exact: the unit there is twice as large. *)
Theorem error_of_ulps prec emin k v y :
  (0 < prec)%Z -> (emin <= - prec)%Z -> 0 <= k -> Rabs v <= 1 ->
  (Rabs v < 1 -> Rabs (y - v) <= k * ulp_in prec emin v) -> (Rabs v = 1 -> y = v) ->
  Rabs (y - v) <= k * bpow radix2 (- prec).
Proof.
  intros pos low k0 le inside ends; pose proof (bpow_ge_0 radix2 (- prec)) as b0.
  destruct (Rle_lt_or_eq_dec _ _ le) as [lt | one].
  2:{ rewrite (ends one); unfold Rminus; rewrite Rplus_opp_r, Rabs_R0; apply Rmult_le_pos; lra. }
  apply Rle_trans with (1 := inside lt), Rmult_le_compat_l; [exact k0|].
  unfold ulp_in.
  assert (Prec_gt_0 prec) as P by exact pos.
  destruct (Req_dec v 0) as [-> | other].
  - rewrite ulp_FLT_small by (try exact P; rewrite Rabs_R0; apply bpow_gt_0).
    apply bpow_le; lia.
  - rewrite ulp_neq_0 by exact other; apply bpow_le; unfold cexp, FLT_exp.
    assert (mag radix2 v <= 0)%Z by (apply mag_le_bpow; [exact other | exact lt]); lia.
Qed.

Lemma one_is_a_number prec emin v :
  (0 < prec)%Z -> (emin <= 0)%Z -> Rabs v = 1 -> to_nearest prec emin v = v.
Proof.
  intros pos low one; assert (Prec_gt_0 prec) as P by exact pos.
  unfold to_nearest; apply round_generic; [apply valid_rnd_N|].
  assert (generic_format radix2 (FLT_exp emin prec) 1) as G.
  { apply (generic_format_bpow radix2 (FLT_exp emin prec) 0); unfold FLT_exp; lia. }
  unfold Rabs in one; destruct (Rcase_abs v).
  - replace v with (- (1)) by lra; apply generic_format_opp, G.
  - rewrite one; exact G.
Qed.

(** DEC-12: a correctly rounded one errs by half a unit. *)
Theorem correctly_rounded_errs prec emin v :
  (0 < prec)%Z -> (emin <= - prec)%Z -> Rabs v <= 1 ->
  Rabs (to_nearest prec emin v - v) <= / 2 * bpow radix2 (- prec).
Proof.
  intros pos low le; assert (Prec_gt_0 prec) as P by exact pos.
  apply error_of_ulps with emin; try assumption; [lra| |].
  - intros _; apply error_le_half_ulp; exact (FLT_exp_valid emin prec).
  - apply one_is_a_number; lia.
Qed.

Lemma trigonometric_values a : Rabs (cos a) <= 1 /\ Rabs (sin a) <= 1.
Proof. split; apply Rabs_le; [apply COS_bound | apply SIN_bound]. Qed.

(** ** Programs *)

(** All of it in binary32, with a correctly rounded library. *)
Definition turn32 : nat -> (nat -> R) -> R -> vector -> vector :=
  turn_by to32 to32 (fun a => to32 (cos a)) (fun a => to32 (sin a)) to32.

(** Frequencies and angles in binary64, the rest in binary32. *)
Definition turn64 : nat -> (nat -> R) -> R -> vector -> vector :=
  turn_by to64 to64 (fun a => to32 (cos a)) (fun a => to32 (sin a)) to32.

Definition eta32 : R := / 2 ^ 25.

Lemma eta32_is a : Rabs (to32 (cos a) - cos a) <= eta32 /\ Rabs (to32 (sin a) - sin a) <= eta32.
Proof.
  replace eta32 with (/ 2 * bpow radix2 (- 24)) by (unfold eta32; simpl; lra).
  destruct (trigonometric_values a).
  split; apply correctly_rounded_errs; try assumption; lia.
Qed.

(** Frequencies that are normal numbers, or 0, err by the unit. *)
Lemma frequency_errs F r f :
  keeps F r -> f = 0 /\ r 0 = 0 \/ tiny F <= unit F * Rabs f -> Rabs (r f - f) <= unit F * Rabs f.
Proof.
  intros K [[-> E] | large].
  - rewrite E, Rminus_0_r, Rabs_R0; lra.
  - specialize (K f); unfold rounds in K; rewrite Rmax_left in K by exact large; exact K.
Qed.

Lemma to_nearest_0 prec emin : to_nearest prec emin 0 = 0.
Proof. apply round_0, valid_rnd_N. Qed.

Section Programs.
Variables (h m : nat) (h_positive : (1 <= h)%nat).
Let d := (m * (2 * h))%nat.

(** Frequencies of at most 1 that are 0 or at least 2^-126, positions of at most `far`. *)
Definition usual (f : nat -> R) (far p : R) : Prop :=
  Rabs p <= far /\
  forall i, (i < d)%nat -> theta h f i = 0 \/ / 2 ^ 126 <= Rabs (theta h f i) <= 1.

Lemma usual_product f far p i :
  usual f far p -> (i < d)%nat -> Rabs (p * theta h f i) <= far.
Proof.
  intros [le fs] lt; rewrite Rabs_mult; pose proof (Rabs_pos p).
  destruct (fs i lt) as [-> | [_ top]]; [rewrite Rabs_R0; lra|].
  pose proof (Rmult_le_compat_l _ _ _ H top); lra.
Qed.

Lemma formats_positive :
  0 <= unit binary32 /\ 0 <= tiny binary32 /\ 0 <= unit binary64 /\ 0 <= tiny binary64 /\
  0 <= unit bfloat16 /\ 0 <= tiny bfloat16 /\ 0 <= unit binary16 /\ 0 <= tiny binary16.
Proof. repeat split; apply Rlt_le, Rinv_0_lt_compat, pow_lt; lra. Qed.

Lemma small_power a b : (a <= b)%nat -> / 2 ^ b <= / 2 ^ a.
Proof.
  intros le; apply Rinv_le_contravar; [apply pow_lt; lra | apply Rle_pow; [lra | exact le]].
Qed.

Lemma usual_frequency F r p t b f x :
  unit F = / 2 ^ p -> tiny F = / 2 ^ t -> (p + 126 <= t)%nat -> b = F ->
  keeps F r -> r 0 = 0 -> f = 0 \/ / 2 ^ 126 <= Rabs f <= x -> Rabs (r f - f) <= unit b * Rabs f.
Proof.
  intros U T le -> K E [-> | [low _]]; apply frequency_errs; try exact K; [left; auto | right].
  rewrite U, T; apply Rle_trans with (/ 2 ^ (p + 126)); [apply small_power, le|].
  rewrite pow_add, Rinv_mult.
  apply Rmult_le_compat_l; [apply Rlt_le, Rinv_0_lt_compat, pow_lt; lra | exact low].
Qed.

(** DEC-12: the bound holds for binary32. *)
Theorem turn32_is_near f far p x :
  usual f far p ->
  near_turn d h f p
    (turn_loss binary32 (angle_error binary32 (/ 2 ^ 24) far) eta32) (turn_least binary32)
    x (turn32 h f p x).
Proof.
  intros us; destruct formats_positive as (u0 & t0 & _); destruct formats_keep as (_ & _ & K & _).
  apply program_is_near; try assumption; try (apply Rlt_le, Rinv_0_lt_compat, pow_lt; lra).
  intros i lt; split; [|split; [apply usual_product; assumption | apply eta32_is]].
  change (/ 2 ^ 24) with (unit binary32); apply (usual_frequency binary32 to32 24 150 _ _ 1);
    try reflexivity; [exact K | apply to_nearest_0 | apply us, lt].
Qed.

(** DEC-12: a model whose frequencies are binary32 numbers has its own: none of them is off. *)
Theorem turn32_of_its_own_frequencies f far p x :
  Rabs p <= far ->
  (forall i, (i < d)%nat -> to32 (theta h f i) = theta h f i /\ Rabs (theta h f i) <= 1) ->
  near_turn d h f p
    (turn_loss binary32 (angle_error binary32 0 far) eta32) (turn_least binary32)
    x (turn32 h f p x).
Proof.
  intros le own; destruct formats_positive as (u0 & t0 & _).
  destruct formats_keep as (_ & _ & K & _).
  apply program_is_near; try assumption; try lra;
    try (apply Rlt_le, Rinv_0_lt_compat, pow_lt; lra).
  intros i lt; destruct (own i lt) as [E top]; rewrite E; split; [|split; [|apply eta32_is]].
  - unfold Rminus; rewrite Rplus_opp_r, Rabs_R0; lra.
  - rewrite Rabs_mult; pose proof (Rabs_pos p) as p0.
    pose proof (Rmult_le_compat_l _ _ _ p0 top); lra.
Qed.

(** DEC-12: and where angles are computed in binary64. *)
Theorem turn64_is_near f far p x :
  usual f far p ->
  near_turn d h f p
    (turn_loss binary32 (angle_error binary64 (/ 2 ^ 53) far) eta32) (turn_least binary32)
    x (turn64 h f p x).
Proof.
  intros us; destruct formats_positive as (u0 & t0 & u6 & t6 & _).
  destruct formats_keep as (_ & _ & K & K6).
  apply program_is_near; try assumption; try (apply Rlt_le, Rinv_0_lt_compat, pow_lt; lra).
  intros i lt; split; [|split; [apply usual_product; assumption | apply eta32_is]].
  change (/ 2 ^ 53) with (unit binary64); apply (usual_frequency binary64 to64 53 1075 _ _ 1);
    try reflexivity; [lia | exact K6 | apply to_nearest_0 | apply us, lt].
Qed.

(** DEC-12: everything in binary64, with frequencies that are given and a library whose cosine and
    sine err by at most eta. *)
Theorem double_is_near f most eta cos_of sin_of p x :
  0 <= eta ->
  (forall a, Rabs (cos_of a - cos a) <= eta /\ Rabs (sin_of a - sin a) <= eta) ->
  (forall i, (i < d)%nat -> Rabs (p * theta h f i) <= most) ->
  near_turn d h f p
    (turn_loss binary64 (angle_error binary64 0 most) eta) (turn_least binary64)
    x (turn_by (fun f => f) to64 cos_of sin_of to64 h f p x).
Proof.
  intros e0 library le; destruct formats_positive as (_ & _ & u0 & t0 & _).
  destruct formats_keep as (_ & _ & _ & K); apply program_is_near; try assumption; [lra|].
  intros i lt; split; [|split; [apply le, lt | apply library]].
  unfold Rminus; rewrite Rplus_opp_r, Rabs_R0; lra.
Qed.

(** DEC-12: MOVE in binary32 with keys that are kept in bfloat16. *)
Theorem move32_is_near f far far' j t k :
  usual f far j -> usual f far' t -> 0 <= far' ->
  let loss x := kept_loss bfloat16
    (turn_loss binary32 (angle_error binary32 (/ 2 ^ 24) x) eta32) in
  let least := kept_least bfloat16 (turn_least binary32) in
  let kept : vector := fun i => tobf (turn32 h f j k i) in
  near_turn d h f (j + t) ((1 + loss far) * (1 + loss far') - 1)
    ((1 + loss far') * least + least) k (fun i => tobf (turn32 h f t kept i)).
Proof.
  intros one two far0 loss least kept; destruct formats_positive as (u0 & t0 & _ & _ & uS & tS & _).
  destruct formats_keep as (_ & S & _).
  apply (moved_is_near h m h_positive bfloat16 f j t _ _ _ _ k (turn32 h f j k) kept
    (turn32 h f t kept)); try assumption.
  - unfold turn_loss, angle_error; destruct sqrt2 as [r0 _]; pose proof (Rabs_pos far').
    assert (0 <= eta32) as e0 by (apply Rlt_le, Rinv_0_lt_compat, pow_lt; lra).
    assert (0 <= / 2 ^ 24) as p0 by exact u0.
    pose proof (Rmult_le_pos _ _ r0 e0); pose proof (Rmult_le_pos _ _ r0 u0) as ru.
    pose proof (Rmult_le_pos _ _ ru u0); pose proof (Rmult_le_pos _ _ p0 u0).
    repeat apply Rplus_le_le_0_compat; try assumption; apply Rmult_le_pos; lra.
  - apply turn32_is_near, one.
  - intros i _; apply S.
  - apply turn32_is_near, two.
  - intros i _; apply S.
Qed.
End Programs.
