(* SPDX-License-Identifier: Apache-2.0 *)
(** * A key that is moved again and again (spec/decoder.md: DEC-12)

    One pair (1, 0) with frequency 1/512, kept in bfloat16 and moved by one position at a time. Each
    rotation is exact: storing alone rounds. The first number never leaves 1. *)
From Coq Require Import Reals ZArith List Arith Lra Lia Psatz.
From Flocq Require Import Core.
From Chunkproof Require Import Softmax DecoderMove NumRound DecoderNorm DecoderRound.
From Chunkproof Require Import DecoderExamples DecoderRoundFloat DecoderRoundExamples.
Open Scope R_scope.

Definition slow : nat -> R := fun _ => / 512.

Fixpoint drift (n : nat) : vector :=
  match n with
  | O => east
  | S n => fun i => tobf (rotate 1 slow 1 (drift n) i)
  end.

(** DEC-12: these are moves in a row, each near up to what bfloat16 loses. *)
Theorem drift_is_a_row n :
  moves_in_a_row 1 1 slow (unit bfloat16) (tiny bfloat16) n (INR n) east (drift n).
Proof.
  induction n as [|n IH]; [apply no_move | rewrite S_INR].
  apply next_move with (drift n); [exact IH|]; unfold near_turn.
  destruct formats_positive as (_ & _ & _ & _ & u0 & t0 & _); destruct formats_keep as (_ & K & _).
  pose proof (rotate_keeps_norm 1 (le_n 1) 1 slow 1 (drift n)) as keep.
  rewrite <- keep; apply norm_rounded; try assumption.
  intros i _; apply rounds_sum; try assumption; apply K.
Qed.

Lemma cos_slow : 1 - / 524288 <= cos (/ 512) <= 1.
Proof.
  split; [|apply COS_bound].
  destruct (pre_cos_bound (/ 512) 0 ltac:(lra) ltac:(lra)) as [lo _].
  apply Rle_trans with (2 := lo); unfold cos_approx, cos_term; simpl; lra.
Qed.

Lemma sin_slow : / 512 - / 134217728 <= sin (/ 512) < / 512.
Proof.
  split; [|apply sin_lt_x; lra].
  apply Rle_trans with (2 := sine_of_small (/ 512) ltac:(lra)); lra.
Qed.

Lemma bfloat16_is e n x :
  (-125 <= e)%Z ->
  bpow radix2 (e - 1) <= Rabs x < bpow radix2 e ->
  Rabs (x * bpow radix2 (8 - e) - IZR n) < / 2 ->
  tobf x = IZR n * bpow radix2 (e - 8).
Proof. intros low size near; apply nearest_is; [lia | lia | exact size | exact near]. Qed.

(** The first number stays 1. *)
Lemma first_stays y : 0 <= y <= 1 / 2 -> tobf (cos (/ 512) * 1 - sin (/ 512) * y) = 1.
Proof.
  intros [lo hi]; pose proof cos_slow; pose proof sin_slow.
  assert (0 <= sin (/ 512) * y <= / 512 * / 2)
    by (split; [apply Rmult_le_pos | apply Rmult_le_compat]; lra).
  set (x := cos (/ 512) * 1 - sin (/ 512) * y) in *.
  assert (1 - / 524288 - / 1024 <= x <= 1) as [low up] by (unfold x; lra).
  destruct (Rle_lt_or_eq_dec x 1 up) as [less | ->].
  - rewrite (bfloat16_is 0 256); [simpl; lra | lia | simpl | simpl].
    + rewrite Rabs_pos_eq by lra; lra.
    + by_cases.
  - apply one_is_a_number; [lia | lia | apply Rabs_R1].
Qed.

(** The second one gains 1/512, up to 1/2. *)
Lemma second_gains z :
  (0 <= z < 256)%Z ->
  tobf (cos (/ 512) * (IZR z / 512) + sin (/ 512) * 1) = IZR (z + 1) / 512.
Proof.
  intros range; pose proof cos_slow as C; pose proof sin_slow as S.
  assert (0 <= IZR z <= 255) as zr by (split; apply IZR_le; lia).
  assert ((1 - / 524288) * (IZR z / 512) <= cos (/ 512) * (IZR z / 512) <= 1 * (IZR z / 512)) as P
    by (split; apply Rmult_le_compat_r; lra).
  set (v := cos (/ 512) * (IZR z / 512) + sin (/ 512) * 1).
  assert (IZR (z + 1) / 512 - / 1000000 <= v < IZR (z + 1) / 512) as near
    by (rewrite plus_IZR; unfold v; lra).
  clearbody v; clear C S P zr.
  assert (exists k, (0 <= k <= 8)%nat /\ 2 ^ k <= 2 * IZR (z + 1) - 1 <= 2 ^ (S k) - 1)
    as (k & ks & size).
  { assert (forall a b, (a <= z + 1 <= b)%Z -> IZR a <= IZR (z + 1) <= IZR b) as real
      by (intros a b le; split; apply IZR_le; lia).
    assert (z + 1 = 1 \/ 2 <= z + 1 <= 2 \/ 3 <= z + 1 <= 4 \/ 5 <= z + 1 <= 8 \/
      9 <= z + 1 <= 16 \/ 17 <= z + 1 <= 32 \/ 33 <= z + 1 <= 64 \/ 65 <= z + 1 <= 128 \/
      129 <= z + 1 <= 256)%Z as [E | cases] by lia.
    - exists O; rewrite E; simpl; split; [lia | lra].
    - repeat destruct cases as [cases | cases]; apply real in cases;
        [exists 1%nat | exists 2%nat | exists 3%nat | exists 4%nat | exists 5%nat | exists 6%nat |
         exists 7%nat | exists 8%nat]; (split; [lia | simpl; lra]). }
  set (w := (z + 1)%Z) in *; clearbody w.
  do 9 (destruct k as [|k];
    [match goal with |- tobf v = _ =>
       let k := match type of size with 2 ^ ?k <= _ <= _ => constr:(Z.of_nat k) end in
       rewrite (bfloat16_is (k - 9) (w * 2 ^ (8 - k))) end;
     [rewrite mult_IZR; simpl in *; lra | simpl; lia |
      simpl in *; rewrite Rabs_pos_eq by lra; lra | rewrite mult_IZR; simpl in *; by_cases] |]).
  lia.
Qed.

Lemma drift_as_numbers n :
  drift (S n) 0%nat = tobf (cos (/ 512) * drift n 0%nat - sin (/ 512) * drift n 1%nat) /\
  drift (S n) 1%nat = tobf (cos (/ 512) * drift n 1%nat + sin (/ 512) * drift n 0%nat).
Proof.
  simpl; unfold rotate, slow, theta, partner, sign; simpl; rewrite !Rmult_1_l.
  split; f_equal; ring.
Qed.

(** DEC-12: after n moves, up to 256, the key is (1, n / 512). *)
Theorem drift_is n :
  (n <= 256)%nat -> drift n 0%nat = 1 /\ drift n 1%nat = IZR (Z.of_nat n) / 512.
Proof.
  induction n as [|n IH]; intros le; [simpl; unfold east; split; lra|].
  destruct (IH ltac:(lia)) as [A B]; destruct (drift_as_numbers n) as [-> ->]; rewrite A, B.
  assert (0 <= IZR (Z.of_nat n) <= 255) by (split; apply IZR_le; lia).
  split; [apply first_stays; lra|].
  rewrite second_gains by lia; f_equal; f_equal; lia.
Qed.

(** DEC-12: and it stays (1, 1/2), however often it is moved. *)
Theorem drift_ends n : (256 <= n)%nat -> drift n 0%nat = 1 /\ drift n 1%nat = 1 / 2.
Proof.
  induction 1 as [|n le [A B]].
  - destruct (drift_is 256 (le_n _)) as [A B]; rewrite A, B; split; simpl; lra.
  - destruct (drift_as_numbers n) as [-> ->]; rewrite A, B.
    split; [apply first_stays; lra|].
    pose proof cos_slow; pose proof sin_slow; rewrite (bfloat16_is 0 128).
    + simpl; lra.
    + lia.
    + simpl; rewrite Rabs_pos_eq by lra; lra.
    + simpl; by_cases.
Qed.

(** DEC-12: 256 moves lose at least 0.12 of the key, and 1024 moves as much as the key is long. One
    rotation that is stored loses at most 2^-8 of it, and a tiny. *)
Theorem drift_is_far :
  0.12 <= norm 2 (minus (drift 256) (rotate 1 slow 256 east)) /\
  1 <= norm 2 (minus (drift 1024) (rotate 1 slow 1024 east)).
Proof.
  assert (forall n b, drift n 0%nat = 1 -> b <= 1 - cos (INR n * / 512) ->
    b <= norm 2 (minus (drift n) (rotate 1 slow (INR n) east))) as far.
  { intros n b E le; apply Rle_trans with (2 := number_within 2 _ 0 ltac:(lia)).
    unfold minus; rewrite E; unfold rotate, slow, theta, partner, sign, east; simpl.
    apply Rle_trans with (2 := Rle_abs _); lra. }
  assert (INR 256 = 256 /\ INR 1024 = 1024) as [F G] by (rewrite !INR_IZR_INZ; split; reflexivity).
  split.
  1: pose proof (far 256%nat 0.12) as one; rewrite F in one; apply one; clear one.
  3: pose proof (far 1024%nat 1) as one; rewrite G in one; apply one; clear one.
  - apply (drift_is 256 (le_n _)).
  - replace (256 * / 512) with (1 / 2) by lra.
    destruct (pre_cos_bound (1 / 2) 0 ltac:(lra) ltac:(lra)) as [_ up].
    unfold cos_approx, cos_term in up; simpl in up; lra.
  - apply (drift_ends 1024); lia.
  - replace (1024 * / 512) with 2 by lra.
    pose proof PI2_1; pose proof PI_4; pose proof (cos_le_0 2 ltac:(lra) ltac:(lra)); lra.
Qed.
