(* SPDX-License-Identifier: Apache-2.0 *)
(** * Binary floating point keeps what NUM-4 promises (spec/tolerance.md: NUM-4)

    The numbers of a format are whole multiples, with p bits, of the smallest positive one times a
    power of 2. Their range is not bounded above: what lies beyond the largest number is an
    overflow. *)
From Coq Require Import Reals ZArith Lra Lia Psatz.
From Chunkproof Require Import NumRound.
Open Scope R_scope.

(** x is a number of p bits; step is the smallest positive one. *)
Definition representable (p : nat) (step x : R) : Prop :=
  exists (z : Z) (e : nat), Rabs (IZR z) <= 2 ^ p /\ x = IZR z * (2 ^ e * step).

(** y is x rounded: to a nearest number; or in some direction, with no number on the way, and x
    itself where it is one. *)
Definition nearest (p : nat) (step x y : R) : Prop :=
  representable p step y /\ forall z, representable p step z -> Rabs (y - x) <= Rabs (z - x).
Definition faithful (p : nat) (step x y : R) : Prop :=
  representable p step y /\ forall z, representable p step z -> ~ (y < z <= x \/ x <= z < y).

(** Some power of 2 suits x: its multiples with p bits reach x, and are no finer than needed. *)
Lemma power_for p step x :
  0 < step ->
  exists e, Rabs x <= 2 ^ p * (2 ^ e * step) /\ (e = O \/ 2 ^ p * (2 ^ e * step) <= 2 * Rabs x).
Proof.
  intros pos.
  assert (forall k, Rabs x <= 2 ^ p * (2 ^ k * step) ->
    exists e, Rabs x <= 2 ^ p * (2 ^ e * step) /\ (e = O \/ 2 ^ p * (2 ^ e * step) <= 2 * Rabs x))
    as from.
  { induction k as [|k IH]; intros le; [exists O; auto|].
    destruct (Rle_dec (Rabs x) (2 ^ p * (2 ^ k * step))) as [le' | gt]; [apply IH, le'|].
    exists (S k); split; [exact le|]; right; simpl.
    replace (2 ^ p * (2 * 2 ^ k * step)) with (2 * (2 ^ p * (2 ^ k * step))) by ring; lra. }
  destruct (Pow_x_infinity 2) with (b := Rabs x / (2 ^ p * step)) as [k large].
  { rewrite Rabs_pos_eq; lra. }
  specialize (large k (le_n k)); apply (from k).
  assert (0 < 2 ^ p) as pp by (apply pow_lt; lra).
  assert (0 < 2 ^ k) as pk by (apply pow_lt; lra).
  rewrite (Rabs_pos_eq (2 ^ k)) in large by lra.
  assert (0 < 2 ^ p * step) as ps by (apply Rmult_lt_0_compat; assumption).
  apply Rge_le in large; apply (Rmult_le_compat_r _ _ _ (Rlt_le _ _ ps)) in large.
  replace (Rabs x / (2 ^ p * step) * (2 ^ p * step)) with (Rabs x) in large by (field; lra).
  lra.
Qed.

(** The numbers of the format around x: at most a spacing apart. *)
Lemma neighbours p step x :
  0 < step ->
  exists a b spacing, representable p step a /\ representable p step b /\
    a <= x <= b /\ b - a <= spacing /\ spacing <= Rmax (2 * (/ 2 ^ p * Rabs x)) step.
Proof.
  intros pos; destruct (power_for p step x pos) as [e [reach fine]].
  assert (0 < 2 ^ p) as pp by (apply pow_lt; lra).
  assert (0 < 2 ^ e) as pe by (apply pow_lt; lra).
  set (unit := 2 ^ e * step) in *.
  assert (0 < unit) as pu by (apply Rmult_lt_0_compat; assumption).
  assert (unit <= Rmax (2 * (/ 2 ^ p * Rabs x)) step) as spacing.
  { destruct fine as [-> | fine].
    - apply Rle_trans with step; [unfold unit; simpl; lra | apply Rmax_r].
    - apply Rle_trans with (2 := Rmax_l _ _).
      apply (Rmult_le_reg_l (2 ^ p)); [exact pp|].
      replace (2 ^ p * (2 * (/ 2 ^ p * Rabs x))) with (2 * Rabs x) by (field; lra); exact fine. }
  set (y := x / unit).
  assert (x = y * unit) as Ex by (unfold y; field; lra).
  assert (Rabs y <= 2 ^ p) as small.
  { apply (Rmult_le_reg_r unit); [exact pu|].
    rewrite <- (Rabs_pos_eq unit) at 1 by lra; rewrite <- Rabs_mult, <- Ex; exact reach. }
  apply NumCore.Rabs_between in small.
  destruct (archimed y) as [above below].
  pose proof (pow_IZR 2 p) as whole.
  assert (forall z, - 2 ^ p <= IZR z <= 2 ^ p -> representable p step (IZR z * unit)) as in_format
    by (intros z [lo hi]; exists z, e; split; [apply Rabs_le; lra | reflexivity]).
  set (u := up y) in *.
  assert (IZR (u - 1) <= y) as low by (rewrite minus_IZR; lra).
  assert (- 2 ^ p <= IZR (u - 1)) as low'.
  { rewrite whole, <- opp_IZR in *; apply IZR_le.
    assert (- 2 ^ Z.of_nat p < u)%Z; [apply lt_IZR; lra | lia]. }
  destruct (Rle_dec (IZR u) (2 ^ p)) as [fits | full].
  - exists (IZR (u - 1) * unit), (IZR u * unit), unit.
    assert (- 2 ^ p <= IZR u) by (rewrite minus_IZR in low'; lra).
    repeat split; try (apply in_format; lra); try exact spacing.
    + rewrite Ex; apply Rmult_le_compat_r; lra.
    + rewrite Ex; apply Rmult_le_compat_r; lra.
    + rewrite minus_IZR; lra.
  - assert (IZR (u - 1) = y) as E.
    { apply Rle_antisym; [exact low|]; apply Rle_trans with (2 ^ p); [lra|].
      apply Rnot_le_lt in full; rewrite whole in *; apply IZR_le.
      apply lt_IZR in full; lia. }
    exists x, x, unit.
    assert (representable p step x) as self by (rewrite Ex, <- E; apply in_format; lra).
    repeat split; try assumption; lra.
Qed.

(** NUM-4: rounding to nearest. *)
Theorem nearest_rounds p step x y largest :
  0 < step -> nearest p step x y -> rounds (Format (/ 2 ^ p) (step / 2) largest) x y.
Proof.
  intros pos [_ closest]; destruct (neighbours p step x pos)
    as [a [b [d [ra [rb [[ax xb] [ab le]]]]]]].
  pose proof (closest a ra) as A; pose proof (closest b rb) as B.
  rewrite (Rabs_left1 (a - x)) in A by lra; rewrite (Rabs_pos_eq (b - x)) in B by lra.
  unfold rounds; simpl.
  apply Rle_trans with (/ 2 * Rmax (2 * (/ 2 ^ p * Rabs x)) step); [lra|].
  rewrite <- RmaxRmult by lra; apply Rmax_grows; lra.
Qed.

(** NUM-4: rounding in any other way. *)
Theorem faithful_rounds p step x y largest :
  0 < step -> faithful p step x y -> rounds (truncating (Format (/ 2 ^ p) (step / 2) largest)) x y.
Proof.
  intros pos [_ none]; destruct (neighbours p step x pos)
    as [a [b [d [ra [rb [[ax xb] [ab le]]]]]]].
  assert (Rabs (y - x) <= d) as near.
  { pose proof (none a ra) as A; pose proof (none b rb) as B.
    apply Rabs_le; lra. }
  unfold rounds, truncating; simpl; apply Rle_trans with (1 := near), Rle_trans with (1 := le).
  apply Rmax_grows; lra.
Qed.

(** NUM-4: the formats of the table. *)
Theorem formats_round x y :
  (nearest 11 (/ 2 ^ 24) x y -> rounds binary16 x y) /\
  (nearest 8 (/ 2 ^ 133) x y -> rounds bfloat16 x y) /\
  (nearest 24 (/ 2 ^ 149) x y -> rounds binary32 x y) /\
  (nearest 53 (/ 2 ^ 1074) x y -> rounds binary64 x y).
Proof.
  assert (forall k, / 2 ^ k / 2 = / 2 ^ S k) as half.
  { intros k; assert (0 < 2 ^ k) by (apply pow_lt; lra); simpl; field; lra. }
  assert (forall k, 0 < / 2 ^ k) as pos by (intros k; apply Rinv_0_lt_compat, pow_lt; lra).
  unfold binary16, bfloat16, binary32, binary64; repeat split; intros near;
    (eapply nearest_rounds in near; [|apply pos]); rewrite half in near; exact near.
Qed.
