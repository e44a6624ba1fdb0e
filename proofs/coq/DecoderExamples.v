(* SPDX-License-Identifier: Apache-2.0 *)
(** * The examples of spec/decoder.md, computed (DEC-3, DEC-8, DEC-11)

    With the decoder of DEC-10: a state is a number, the next one the mean of what is seen. *)
From Coq Require Import Reals ZArith List Arith Lra.
From Chunkproof Require Import Softmax Decoder DecoderMove DecoderTruncate.
Import ListNotations.
Open Scope R_scope.

Lemma mean_sees_one {I} (P : prompt mean_decoder I) l i a :
  sees P i = [a] -> state_at P (S l) i = state_at P l a.
Proof. intros E; rewrite state_at_next, E; simpl map; rewrite mean_of_one; reflexivity. Qed.

Lemma mean_sees_two {I} (P : prompt mean_decoder I) l i a b :
  sees P i = [a; b] -> state_at P (S l) i = (state_at P l a + state_at P l b) / 2.
Proof. intros E; rewrite state_at_next, E; simpl map; rewrite mean_of_two; reflexivity. Qed.

(** A text of two tokens that see each other: no token is closed by itself. *)
Definition both_ways (a b : R) : prompt mean_decoder nat :=
  Prompt (D := mean_decoder) (fun i => nth i [a; b] 0) Z.of_nat (fun _ => [0; 1]%nat).

(** DEC-3: the texts 0 0 and 0 1 have the same first token, and other states there at layer 1. *)
Example both_ways_shares_nothing :
  state_at (both_ways 0 0) 1 0%nat = 0 /\ state_at (both_ways 0 1) 1 0%nat = 1 / 2.
Proof. split; rewrite (mean_sees_two _ _ _ 0%nat 1%nat) by reflexivity; simpl; lra. Qed.

(** One pair of coordinates and a quarter of a turn for each position. *)
Definition quarter : R -> vector -> vector := rotate 1 (fun _ => PI / 2).
Definition east : vector := fun i => match i with 0%nat => 1 | _ => 0 end.

(** DEC-8: R_1 k = (0, 1), R_2 k = R_1 (R_1 k) = (-1, 0), and R_1 k . R_2 k = k . R_1 k = 0. *)
Example quarter_turns :
  quarter 1 east 0%nat = 0 /\ quarter 1 east 1%nat = 1 /\
  quarter 2 east 0%nat = -1 /\ quarter 2 east 1%nat = 0 /\
  quarter 1 (quarter 1 east) = quarter 2 east /\
  dot 2 (quarter 1 east) (quarter 2 east) = 0 /\ dot 2 east (quarter 1 east) = 0.
Proof.
  assert (quarter 1 east 0%nat = 0) as A.
  { unfold quarter, rotate, east, theta, partner, sign; simpl; rewrite Rmult_1_l, cos_PI2; ring. }
  assert (quarter 1 east 1%nat = 1) as B.
  { unfold quarter, rotate, east, theta, partner, sign; simpl; rewrite Rmult_1_l, sin_PI2; ring. }
  assert (2 * (PI / 2) = PI) as turn by field.
  assert (quarter 2 east 0%nat = -1) as C.
  { unfold quarter, rotate, east, theta, partner, sign; simpl; rewrite turn, cos_PI; ring. }
  assert (quarter 2 east 1%nat = 0) as E.
  { unfold quarter, rotate, east, theta, partner, sign; simpl; rewrite turn, sin_PI; ring. }
  repeat split; auto.
  - unfold quarter; rewrite rotations_add by exact (le_n 1); f_equal; lra.
  - simpl; rewrite A, B, C, E; ring.
  - simpl; rewrite A, B; simpl; ring.
Qed.

(** The text 0 1, of which the 0 is dropped, and a new token 0. *)
Definition keeps_second (i : nat) : bool := (i =? 1)%nat.
Definition with_new : prompt mean_decoder (nat + unit) :=
  @continued mean_decoder nat unit two_tokens keeps_second (fun _ => 0) (fun _ => 2%Z)
    (fun _ => [0; 1]%nat) (fun _ => [tt]).
Definition new_recomputed : prompt mean_decoder (nat + unit) :=
  recomputed with_new (fun x => match x with inl i => keeps_second i | inr _ => true end) (-1).

(** DEC-11: the new token has the state 1/2 at layer 2 from the truncated cache (under the mask),
    and 3/4 when everything is recomputed. *)
Example truncated_is_not_recomputed :
  state_at with_new 2 (inr tt) = 1 / 2 /\ state_at new_recomputed 2 (inr tt) = 3 / 4.
Proof.
  split.
  - rewrite (mean_sees_two _ 1 _ (inl 1%nat) (inr tt)) by reflexivity.
    rewrite (mean_sees_two _ 0 (inl 1%nat) (inl 0%nat) (inl 1%nat)) by reflexivity.
    rewrite (mean_sees_two _ 0 (inr tt) (inl 1%nat) (inr tt)) by reflexivity; simpl; lra.
  - rewrite (mean_sees_two _ 1 _ (inl 1%nat) (inr tt)) by reflexivity.
    rewrite (mean_sees_one _ 0 (inl 1%nat) (inl 1%nat)) by reflexivity.
    rewrite (mean_sees_two _ 0 (inr tt) (inl 1%nat) (inr tt)) by reflexivity; simpl; lra.
Qed.
