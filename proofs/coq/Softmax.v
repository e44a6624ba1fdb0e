(* SPDX-License-Identifier: Apache-2.0 *)
(** * Attention of one query over some keys (spec/softmax.md: SOFTMAX-1, SOFTMAX-2)

    Over the real numbers, for one query row and one head. A vector is a function from the number of
    a component to a real; of a vector of d numbers the components 0 .. d-1 are meant. What is
    proved of every component is proved of those. *)
From Coq Require Import Reals List Permutation FunctionalExtensionality Lra Lia.
Import ListNotations.
Open Scope R_scope.

Definition vector := nat -> R.

Definition zeros : vector := fun _ => 0.

Lemma vector_eq (u v : vector) : (forall i, u i = v i) -> u = v.
Proof. exact (functional_extensionality u v). Qed.

(** ** SOFTMAX-1: scale * (q . k) *)

Fixpoint dot (d : nat) (q k : vector) : R :=
  match d with
  | O => 0
  | S d' => dot d' q k + q d' * k d'
  end.

Definition score_of (scale : R) (d : nat) (q k : vector) : R := scale * dot d q k.

(** ** Keys: a key is a pair of a score and a value *)

Record key := Key { score : R; value : vector }.

(** The sum over a list of keys; over the empty list it is 0. *)
Fixpoint sum (f : key -> R) (J : list key) : R :=
  match J with
  | [] => 0
  | k :: rest => f k + sum f rest
  end.

(** W(J) := sum over J of exp(s)          A(J) := sum over J of exp(s) v *)
Definition W (J : list key) : R := sum (fun k => exp (score k)) J.
Definition A (J : list key) : vector := fun i => sum (fun k => exp (score k) * value k i) J.

(** ** SOFTMAX-2: attention and log-sum-exp *)

(** A real number or -infinity. *)
Inductive extended := Minus_infinity | Finite (x : R).

Definition attention (J : list key) : vector :=
  match J with
  | [] => zeros
  | _ => fun i => A J i / W J
  end.

Definition lse (J : list key) : extended :=
  match J with
  | [] => Minus_infinity
  | _ => Finite (ln (W J))
  end.

(** ** Sums *)

Lemma sum_app f J K : sum f (J ++ K) = sum f J + sum f K.
Proof. induction J as [|k J IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma sum_permutation f J K : Permutation J K -> sum f J = sum f K.
Proof. induction 1; simpl; lra. Qed.

Lemma sum_ext f g J : (forall k, In k J -> f k = g k) -> sum f J = sum g J.
Proof.
  induction J as [|k J IH]; simpl; intros E; [reflexivity|].
  rewrite (E k), IH by auto; reflexivity.
Qed.

Lemma sum_scale f x J : sum (fun k => x * f k) J = x * sum f J.
Proof. induction J as [|k J IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma sum_map f (g : key -> key) J : sum f (map g J) = sum (fun k => f (g k)) J.
Proof. induction J as [|k J IH]; simpl; [reflexivity | rewrite IH; reflexivity]. Qed.

(** W and A are additive, and do not depend on the order. *)
Theorem W_additive J K : W (J ++ K) = W J + W K.
Proof. apply sum_app. Qed.

Theorem A_additive J K i : A (J ++ K) i = A J i + A K i.
Proof. apply sum_app. Qed.

Lemma W_permutation J K : Permutation J K -> W J = W K.
Proof. apply sum_permutation. Qed.

Lemma A_permutation J K : Permutation J K -> A J = A K.
Proof. intros P; apply vector_eq; intros i; apply sum_permutation, P. Qed.

Lemma W_not_negative J : 0 <= W J.
Proof.
  induction J as [|k J IH]; [apply Rle_refl|].
  change (0 <= exp (score k) + W J); pose proof (exp_pos (score k)); lra.
Qed.

(** W(J) > 0 as soon as there is a key. *)
Theorem W_positive J : J <> [] -> 0 < W J.
Proof.
  destruct J as [|k J]; intros some; [contradiction|].
  change (0 < exp (score k) + W J).
  pose proof (exp_pos (score k)); pose proof (W_not_negative J); lra.
Qed.

Lemma W_zero J : W J = 0 -> J = [].
Proof.
  intros zero; destruct J as [|k J]; [reflexivity|].
  assert (0 < W (k :: J)) by (apply W_positive; discriminate); lra.
Qed.

(** ** Attention *)

Lemma attention_of_keys J i : J <> [] -> attention J i = A J i / W J.
Proof. destruct J; [contradiction | reflexivity]. Qed.

Lemma lse_of_keys J : J <> [] -> lse J = Finite (ln (W J)).
Proof. destruct J; [contradiction | reflexivity]. Qed.

Theorem attention_of_no_key i : attention [] i = 0.
Proof. reflexivity. Qed.

Theorem lse_of_no_key : lse [] = Minus_infinity.
Proof. reflexivity. Qed.

(** Attention does not depend on the order of the keys. *)
Theorem attention_permutation J K : Permutation J K -> attention J = attention K /\ lse J = lse K.
Proof.
  intros P; destruct J as [|j J].
  - apply Permutation_nil in P; subst; split; reflexivity.
  - assert (K <> []) as someK
      by (intros E; subst; apply Permutation_sym, Permutation_nil in P; discriminate).
    assert (j :: J <> []) as someJ by discriminate.
    split; [apply vector_eq; intros i|].
    + rewrite !attention_of_keys, (A_permutation _ _ P), (W_permutation _ _ P) by assumption;
        reflexivity.
    + rewrite !lse_of_keys, (W_permutation _ _ P) by assumption; reflexivity.
Qed.

(** The weight of a key among the keys J: softmax of its score. *)
Definition weight (J : list key) (k : key) : R := exp (score k) / W J.

(** SOFTMAX-2, why: attention is the sum of softmax_j(s) v_j, and the weights sum to 1. *)
Theorem attention_is_weighted_mean J i :
  J <> [] ->
  attention J i = sum (fun k => weight J k * value k i) J /\ sum (weight J) J = 1.
Proof.
  intros some; rewrite attention_of_keys by assumption.
  pose proof (W_positive J some) as pos; split.
  - unfold A, Rdiv; rewrite Rmult_comm, <- sum_scale.
    apply sum_ext; intros k _; unfold weight, Rdiv; ring.
  - rewrite (sum_ext _ (fun k => / W J * exp (score k)))
      by (intros k _; unfold weight, Rdiv; ring).
    rewrite sum_scale; fold (W J); field; lra.
Qed.

(** ** A common shift of all scores *)

Definition shift (x : R) (J : list key) : list key :=
  map (fun k => Key (score k + x) (value k)) J.

Definition shift_lse (x : R) (y : extended) : extended :=
  match y with
  | Minus_infinity => Minus_infinity
  | Finite z => Finite (z + x)
  end.

Lemma W_shift x J : W (shift x J) = exp x * W J.
Proof.
  unfold W, shift; rewrite sum_map, <- sum_scale.
  apply sum_ext; intros k _; simpl; rewrite exp_plus; ring.
Qed.

Lemma A_shift x J i : A (shift x J) i = exp x * A J i.
Proof.
  unfold A, shift; rewrite sum_map, <- sum_scale.
  apply sum_ext; intros k _; simpl; rewrite exp_plus; ring.
Qed.

(** Adding x to all scores leaves attention as it is, and adds x to the log-sum-exp. *)
Theorem common_shift x J :
  attention (shift x J) = attention J /\ lse (shift x J) = shift_lse x (lse J).
Proof.
  destruct J as [|k J]; [split; reflexivity|].
  assert (k :: J <> []) as some by discriminate.
  assert (shift x (k :: J) <> []) as some' by discriminate.
  pose proof (W_positive _ some) as pos; pose proof (exp_pos x) as pos'.
  split; [apply vector_eq; intros i|].
  - rewrite !attention_of_keys, A_shift, W_shift by assumption; field; lra.
  - rewrite !lse_of_keys, W_shift, ln_mult, ln_exp by assumption.
    simpl; f_equal; ring.
Qed.
