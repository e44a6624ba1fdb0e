(* SPDX-License-Identifier: Apache-2.0 *)
(** * The error of a computed score (spec/tolerance.md: NUM-6)

    The score of SOFTMAX-1, scaled before the sum, after it, or partly both, with products rounded
    or not, added in any order. *)
From Coq Require Import Reals List Lra Lia.
From Chunkproof Require Import Softmax NumCore NumRound.
Import ListNotations.
Open Scope R_scope.

(** The sum of |q k|. *)
Fixpoint dot_magnitude (d : nat) (q k : vector) : R :=
  match d with
  | O => 0
  | S d' => dot_magnitude d' q k + Rabs (q d' * k d')
  end.

(** s' is the score, computed: terms near a q_i k_i, up to the part G - 1 and t; added, with a depth
    of deep in adds operations of error u, eta; times b, up to u', eta'. The scale is a b. *)
Record score_steps := Score_steps {
  before : R; after : R; G : R; t : R; u : R; eta : R; deep : nat; ops : nat; u' : R; eta' : R }.

Definition computes_score (x : score_steps) (d : nat) (q k : vector) (s' : R) : Prop :=
  exists terms sum,
    (forall i, (i < d)%nat -> Rabs (terms i - before x * (q i * k i))
                              <= (G x - 1) * Rabs (before x * (q i * k i)) + t x) /\
    adds (u x) (eta x) (deep x) (ops x) (map terms (seq 0 d)) [sum] /\
    Rabs (s' - after x * sum) <= u' x * Rabs (after x * sum) + eta' x.

(** sigma of NUM-6. *)
Definition score_error (x : score_steps) (d : nat) (q k : vector) : R :=
  (G x * (1 + u x) ^ deep x * (1 + u' x) - 1) * (after x * Rabs (before x) * dot_magnitude d q k)
  + after x * (INR d * t x + INR (ops x) * eta x) * (1 + u x) ^ deep x * (1 + u' x) + eta' x.

Lemma gathers_products x q k terms d :
  1 <= G x -> 0 <= t x ->
  (forall i, (i < d)%nat -> Rabs (terms i - before x * (q i * k i))
                            <= (G x - 1) * Rabs (before x * (q i * k i)) + t x) ->
  gathers (G x) (INR d * t x) (Rabs (before x) * dot_magnitude d q k) (before x * dot d q k)
          (map terms (seq 0 d)).
Proof.
  intros G1 t0; induction d as [|d IH]; intros near.
  - simpl; rewrite Rmult_0_l, !Rmult_0_r.
    apply gathers_weaken with 1 0; [lra | exact G1 | lra | apply gathers_none].
  - rewrite seq_S, map_app, S_INR; cbn [map dot dot_magnitude plus].
    rewrite !Rmult_plus_distr_l, Rmult_plus_distr_r, Rmult_1_l.
    apply gathers_app; [apply IH; intros i less; apply near; lia|].
    pose proof (near d (le_n _)) as last; rewrite (Rabs_mult (before x)) in last.
    unfold gathers, plain, magnitude; simpl; rewrite !Rplus_0_r.
    set (z := Rabs (before x) * Rabs (q d * k d)) in *.
    split; [exact last|].
    replace (terms d) with ((terms d - before x * (q d * k d)) + before x * (q d * k d)) by ring.
    pose proof (Rabs_triang (terms d - before x * (q d * k d)) (before x * (q d * k d))) as T.
    rewrite (Rabs_mult (before x)) in T; fold z in T; lra.
Qed.

(** NUM-6. *)
Theorem score_is_near x d q k s' :
  0 <= after x -> 1 <= G x -> 0 <= t x -> 0 <= u x -> 0 <= eta x -> 0 <= u' x ->
  computes_score x d q k s' ->
  Rabs (s' - score_of (after x * before x) d q k) <= score_error x d q k.
Proof.
  intros b0 G1 t0 u0 e0 u0' [terms [sum [near [sums last]]]].
  pose proof (gathers_products x q k terms d G1 t0 near) as one.
  pose proof (gathers_adds _ _ _ _ _ _ _ _ _ _ u0 e0 sums one) as two.
  pose proof (gathers_scale (after x) _ _ _ _ _ b0 two) as three.
  assert (Rabs (s' - plain [after x * sum]) <= u' x * magnitude [after x * sum] + eta' x) as last'
    by (unfold plain, magnitude; simpl; rewrite !Rplus_0_r; exact last).
  change [after x * sum] with (map (Rmult (after x)) [sum]) in last'.
  destruct (gathers_rounded _ _ _ _ _ _ _ _ u0' three last') as [four _].
  unfold plain in four; simpl in four; rewrite Rplus_0_r in four.
  unfold score_of, score_error.
  rewrite (Rmult_assoc (after x) (before x)).
  apply Rle_trans with (1 := four), Req_le; ring.
Qed.
