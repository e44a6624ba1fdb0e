(* SPDX-License-Identifier: Apache-2.0 *)
(** * Exponentials between powers of 2 (the head of ref/tolerance.c)

    exp(-708) is a normal number of binary64, exp(-707.9) is less than the weight of a faint key,
    and exp of a small number is little more than 1. *)
From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core.
From Chunkproof Require Import NumFloatUp.
Open Scope R_scope.

Lemma exp_power x n : exp (INR n * x) = exp x ^ n.
Proof.
  induction n as [|n IH]; [simpl; rewrite Rmult_0_l; apply exp_0|].
  rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus, IH; simpl; ring.
Qed.

Lemma exp_not_less x : 1 + x <= exp x.
Proof.
  destruct (Req_dec x 0) as [-> | NZ]; [rewrite exp_0; lra|]; left; apply exp_ineq1, NZ.
Qed.

(** A number below exp(x), squared again and again, in units of 2^-50. *)
Fixpoint squares (n : nat) (c : Z) : Z :=
  match n with O => c | S n => squares n (c * c / 2 ^ 50) end.

Lemma squares_below n c x :
  (0 <= c)%Z -> IZR c <= exp x * IZR (2 ^ 50) ->
  IZR (squares n c) <= exp (IZR (2 ^ Z.of_nat n) * x) * IZR (2 ^ 50).
Proof.
  assert (0 < IZR (2 ^ 50)) as p0 by (apply IZR_lt; reflexivity).
  revert c x; induction n as [|n IH]; intros c x c0 le; cbn [squares].
  { rewrite Rmult_1_l; exact le. }
  rewrite Nat2Z.inj_succ, Z.pow_succ_r, mult_IZR by lia.
  replace (2 * IZR (2 ^ Z.of_nat n) * x) with (IZR (2 ^ Z.of_nat n) * (x + x)) by ring.
  apply IH; [apply Z.div_pos; [apply Z.mul_nonneg_nonneg; exact c0 | reflexivity]|].
  apply (Rmult_le_reg_r _ _ _ p0), Rle_trans with (IZR c * IZR c).
  - rewrite <- !mult_IZR; apply IZR_le; rewrite Z.mul_comm; apply Z.mul_div_le; reflexivity.
  - apply (IZR_le 0) in c0; rewrite exp_plus.
    replace (exp x * exp x * IZR (2 ^ 50) * IZR (2 ^ 50))
      with ((exp x * IZR (2 ^ 50)) * (exp x * IZR (2 ^ 50))) by ring.
    apply Rmult_le_compat; assumption.
Qed.

(** exp(x) from 1 + x / 4096, whose whole part in these units is c. *)
Lemma exp_above x c g :
  (0 <= c)%Z -> IZR c <= (1 + x / 4096) * IZR (2 ^ 50) -> (g <= squares 12 c)%Z ->
  IZR g <= exp x * IZR (2 ^ 50).
Proof.
  intros c0 le gle; apply IZR_le in gle; apply Rle_trans with (1 := gle).
  replace x with (IZR (2 ^ Z.of_nat 12) * (x / 4096))
    by (change (2 ^ Z.of_nat 12)%Z with 4096%Z; lra).
  apply squares_below; [exact c0|]; apply Rle_trans with (1 := le), Rmult_le_compat_r.
  - apply IZR_le; discriminate.
  - apply exp_not_less.
Qed.

Lemma half_below : (2 ^ 49 <= squares 12 1125709482617461)%Z.
Proof. apply Z.leb_le; vm_compute; reflexivity. Qed.

Lemma two_below : (2 ^ 51 <= squares 12 1126090490652933)%Z.
Proof. apply Z.leb_le; vm_compute; reflexivity. Qed.

Lemma power_of_2 n : (2 ^ n = bpow radix2 (Z.of_nat n))%R.
Proof.
  rewrite <- (IZR_Zpower radix2) by lia; rewrite pow_IZR; reflexivity.
Qed.

Lemma exp_708_is_normal : normal <= exp (-708).
Proof.
  assert (/ 2 <= exp (- (708 / 1022))) as half.
  { assert (IZR (2 ^ 49) <= exp (- (708 / 1022)) * IZR (2 ^ 50)) as le.
    { apply (exp_above _ 1125709482617461); [discriminate | | exact half_below].
      change (2 ^ 50)%Z with 1125899906842624%Z; lra. }
    change (2 ^ 49)%Z with 562949953421312%Z in le.
    change (2 ^ 50)%Z with 1125899906842624%Z in le; lra. }
  replace (-708) with (INR 1022 * (- (708 / 1022)))
    by (rewrite INR_IZR_INZ; simpl (Z.of_nat _); lra).
  rewrite exp_power; unfold normal.
  change (-1022)%Z with (- Z.of_nat 1022)%Z; rewrite bpow_opp, <- power_of_2, <- pow_inv.
  apply pow_incr; split; [lra | exact half].
Qed.

Lemma exp_707_is_faint : exp (- (7079 / 10)) <= bpow radix2 (-1021).
Proof.
  assert (2 <= exp (7079 / 10210)) as two.
  { assert (IZR (2 ^ 51) <= exp (7079 / 10210) * IZR (2 ^ 50)) as le.
    { apply (exp_above _ 1126090490652933); [discriminate | | exact two_below].
      change (2 ^ 50)%Z with 1125899906842624%Z; lra. }
    change (2 ^ 51)%Z with 2251799813685248%Z in le.
    change (2 ^ 50)%Z with 1125899906842624%Z in le; lra. }
  replace (- (7079 / 10)) with (- (INR 1021 * (7079 / 10210)))
    by (rewrite INR_IZR_INZ; simpl (Z.of_nat _); lra).
  rewrite exp_Ropp, exp_power; change (-1021)%Z with (- Z.of_nat 1021)%Z.
  rewrite bpow_opp, <- power_of_2.
  apply Rinv_le_contravar; [apply pow_lt; lra|]; apply pow_incr; split; [lra | exact two].
Qed.

Lemma exp_small x : 0 <= x <= / 1048576 -> exp x <= 1 + x + x / 1024.
Proof.
  intros [x0 x1]; pose proof (exp_pos x); pose proof (exp_not_less (- x)) as low.
  rewrite exp_Ropp in low.
  assert ((1 + - x) * exp x <= 1) as A.
  { apply Rle_trans with (/ exp x * exp x); [apply Rmult_le_compat_r; lra | rewrite Rinv_l; lra]. }
  nra.
Qed.

Lemma power_small n :
  (Z.of_nat n <= 2 ^ 21)%Z -> (1 + u) ^ n <= 1 + INR n * u + INR n * u / 1024.
Proof.
  intros few; assert (0 < u <= / 4503599627370496) as u0 by (unfold u; lra).
  apply Rle_trans with (exp (INR n * u)).
  - rewrite exp_power; apply pow_incr; split; [lra | apply exp_not_less].
  - apply exp_small; assert (0 <= INR n <= 2097152) as n0.
    { rewrite INR_IZR_INZ; split; apply IZR_le; lia. }
    split; [apply Rmult_le_pos; lra|].
    apply Rle_trans with (2097152 * / 4503599627370496); [apply Rmult_le_compat|]; lra.
Qed.

(** The same, without any loss of the first order. *)
Lemma power_close n : (Z.of_nat n <= 2 ^ 21)%Z -> (1 + u) ^ n <= 1 + (INR n + 1) * u.
Proof.
  intros few; assert (0 < u <= / 9007199254740992) as u0 by (unfold u; lra).
  assert (0 <= INR n <= 2097152) as n0.
  { rewrite INR_IZR_INZ; split; apply IZR_le; lia. }
  apply Rle_trans with (exp (INR n * u)).
  { rewrite exp_power; apply pow_incr; split; [lra | apply exp_not_less]. }
  set (x := INR n * u); assert (0 <= x <= 2097152 * u) as x0.
  { split; [apply Rmult_le_pos; lra | apply Rmult_le_compat_r; lra]. }
  assert (x <= / 4294967296) as x1 by (unfold u in *; lra).
  pose proof (exp_pos x) as p0; pose proof (exp_not_less (- x)) as low; rewrite exp_Ropp in low.
  assert ((1 + - x) * exp x <= 1) as A.
  { apply Rle_trans with (/ exp x * exp x); [apply Rmult_le_compat_r; lra | rewrite Rinv_l; lra]. }
  assert (2 * (x * x) <= u) as B.
  { apply Rle_trans with (2 * (2097152 * u * / 4294967296)); [|unfold u; lra].
    apply Rmult_le_compat_l; [lra | apply Rmult_le_compat; lra]. }
  assert (exp x <= 1 + x + 2 * (x * x)); [|unfold x in *; lra].
  apply (Rmult_le_reg_l (1 + - x)); [lra|]; apply Rle_trans with (1 := A).
  assert (0 <= x * x * (1 - 2 * x)) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
  replace ((1 + - x) * (1 + x + 2 * (x * x))) with (1 + x * x * (1 - 2 * x)) by ring; lra.
Qed.
