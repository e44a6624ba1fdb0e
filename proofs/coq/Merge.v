(* SPDX-License-Identifier: Apache-2.0 *)
(** * Partial results and how they merge (spec/softmax.md: MERGE-1 to MERGE-7) *)
From Coq Require Import Reals List Permutation Lra Lia.
From Chunkproof Require Import Softmax.
Import ListNotations.
Open Scope R_scope.

(** ** MERGE-1: state *)

(** m: the reference, as a rule the largest score; n: normaliser; o: unnormalised output. *)
Record state := State { m : R; n : R; o : vector }.

(** n exp(m) = W(J)        o exp(m) = A(J) *)
Definition sums_of (a : state) (J : list key) : Prop :=
  n a * exp (m a) = W J /\ forall i, o a i * exp (m a) = A J i.

(** x is the largest score of J. *)
Definition largest (x : R) (J : list key) : Prop :=
  (exists k, In k J /\ score k = x) /\ forall k, In k J -> score k <= x.

(** The state represents the keys J. That the m of no key is 0 is MERGE-2. *)
Definition represents (a : state) (J : list key) : Prop :=
  sums_of a J /\ (J <> [] -> largest (m a) J) /\ (J = [] -> m a = 0).

(** ** MERGE-2: empty state *)

Definition empty : state := State 0 0 zeros.

(** A state is the empty one, or has n >= 1. *)
Definition well_formed (a : state) : Prop := a = empty \/ 1 <= n a.

(** ** MERGE-3: partial attention (the papers' Eqn 1) *)

Fixpoint max_score (J : list key) : R :=
  match J with
  | [] => 0
  | [k] => score k
  | k :: rest => Rmax (score k) (max_score rest)
  end.

(** The state of the keys J relative to any reference r. *)
Definition partial_attn_at (r : R) (J : list key) : state :=
  State r
        (sum (fun k => exp (score k - r)) J)
        (fun i => sum (fun k => exp (score k - r) * value k i) J).

Definition partial_attn (J : list key) : state := partial_attn_at (max_score J) J.

(** ** MERGE-4: merge (the papers' Eqn 2) *)

(** Two states brought to the reference M: x = exp(m' - M), y = exp(m - M). *)
Definition reduce_at (M : R) (a b : state) : state :=
  let x := exp (m b - M) in
  let y := exp (m a - M) in
  State M (x * n b + y * n a) (fun i => x * o b i + y * o a i).

Definition attn_reduce (a b : state) : state :=
  if Req_EM_T (n a) 0 then b
  else if Req_EM_T (n b) 0 then a
  else reduce_at (Rmax (m a) (m b)) a b.

(** ** MERGE-6, MERGE-7: finish, log-sum-exp *)

Definition finish (a : state) : vector :=
  if Req_EM_T (n a) 0 then zeros else fun i => o a i / n a.

Definition lse_of (a : state) : extended :=
  if Req_EM_T (n a) 0 then Minus_infinity else Finite (m a + ln (n a)).

(** ** A state is determined by its maximum and its two sums *)

Lemma exp_not_zero x : exp x <> 0.
Proof. pose proof (exp_pos x); lra. Qed.

Lemma exp_to r x : exp (x - r) * exp r = exp x.
Proof. rewrite <- exp_plus; f_equal; ring. Qed.

(** The map (m, n, o) -> (m, n exp(m), o exp(m)) is one-to-one (MERGE-5, proof). *)
Lemma state_eq a b :
  m a = m b ->
  n a * exp (m a) = n b * exp (m b) ->
  (forall i, o a i * exp (m a) = o b i * exp (m b)) ->
  a = b.
Proof.
  destruct a as [ma na oa], b as [mb nb ob]; simpl; intros E En Eo; subst mb.
  apply Rmult_eq_reg_r in En; [|apply exp_not_zero].
  assert (oa = ob) by
    (apply vector_eq; intros i; apply (Rmult_eq_reg_r (exp ma)); [apply Eo | apply exp_not_zero]).
  subst; reflexivity.
Qed.

Lemma largest_unique x y J : largest x J -> largest y J -> x = y.
Proof.
  intros [[k [inx ex]] upx] [[l [iny ey]] upy].
  apply upy in inx; apply upx in iny; lra.
Qed.

(** Two states of the same keys, in whatever order, are the same state. *)
Theorem representation_unique a b J K :
  Permutation J K -> represents a J -> represents b K -> a = b.
Proof.
  intros P [[Wa Aa] [la za]] [[Wb Ab] [lb zb]].
  apply state_eq.
  - destruct J as [|j J].
    + apply Permutation_nil in P; subst; rewrite za, zb by reflexivity; reflexivity.
    + assert (K <> []) as some
        by (intros E; subst; apply Permutation_sym, Permutation_nil in P; discriminate).
      destruct (lb some) as [[k [ink ek]] up].
      apply (largest_unique _ _ (j :: J)); [apply la; discriminate|].
      split.
      * exists k; split; [apply (Permutation_in _ (Permutation_sym P)), ink | exact ek].
      * intros l inl; apply up, (Permutation_in _ P), inl.
  - rewrite Wa, Wb; apply W_permutation, P.
  - intros i; rewrite Aa, Ab, (A_permutation _ _ P); reflexivity.
Qed.

(** ** MERGE-2, proved of every state that represents some keys *)

Theorem empty_represents_no_key : represents empty [].
Proof.
  split; [split|split]; simpl.
  - unfold W; simpl; ring.
  - intros i; unfold zeros, A; simpl; ring.
  - contradiction.
  - reflexivity.
Qed.

(** n = 0 exactly for the state of no key. *)
Lemma n_zero a J : sums_of a J -> (n a = 0 <-> J = []).
Proof.
  intros [EW _]; split.
  - intros E; apply W_zero; rewrite <- EW, E; ring.
  - intros E; subst; apply (Rmult_eq_reg_r (exp (m a))); [|apply exp_not_zero].
    rewrite EW; unfold W; simpl; ring.
Qed.

Theorem state_of_no_key a : represents a [] -> a = empty.
Proof.
  intros r; apply (representation_unique _ _ [] []); auto using empty_represents_no_key.
Qed.

Lemma W_at_least J k : In k J -> exp (score k) <= W J.
Proof.
  induction J as [|j J IH]; [contradiction|].
  change (W (j :: J)) with (exp (score j) + W J).
  intros [E|ink].
  - subst j; pose proof (W_not_negative J); lra.
  - apply IH in ink; pose proof (exp_pos (score j)); lra.
Qed.

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [lt|E]; [left; apply exp_increasing, lt | subst; right; reflexivity]. Qed.

Lemma W_at_most J x : (forall k, In k J -> score k <= x) -> W J <= INR (length J) * exp x.
Proof.
  induction J as [|j J IH]; intros up; [unfold W; simpl; lra|].
  change (W (j :: J)) with (exp (score j) + W J).
  change (length (j :: J)) with (S (length J)); rewrite S_INR.
  assert (W J <= INR (length J) * exp x) by (apply IH; intros k ink; apply up; simpl; auto).
  assert (exp (score j) <= exp x) by (apply exp_le, up; simpl; auto).
  lra.
Qed.

(** A state with a key has 1 <= n <= the number of keys. *)
Theorem n_bounds a J : represents a J -> J <> [] -> 1 <= n a <= INR (length J).
Proof.
  intros [[EW _] [l _]] some; destruct (l some) as [[k [ink ek]] up].
  pose proof (exp_pos (m a)) as pos.
  pose proof (W_at_least J k ink) as low; rewrite ek in low.
  pose proof (W_at_most J (m a) up) as high.
  split; apply (Rmult_le_reg_r (exp (m a))); lra.
Qed.

(** ... and |o_i| is at most n times the largest |v_i|. *)
Theorem o_bound a J i b :
  represents a J -> (forall k, In k J -> Rabs (value k i) <= b) -> Rabs (o a i) <= n a * b.
Proof.
  intros [[EW EA] _] bound.
  apply (Rmult_le_reg_r (exp (m a))); [apply exp_pos|].
  replace (Rabs (o a i) * exp (m a)) with (Rabs (A J i)).
  2:{ rewrite <- EA, Rabs_mult, (Rabs_pos_eq (exp (m a))); [reflexivity | left; apply exp_pos]. }
  replace (n a * b * exp (m a)) with (b * W J) by (rewrite <- EW; ring).
  clear EW EA; induction J as [|k J IH].
  - unfold A, W; simpl; rewrite Rabs_R0; lra.
  - change (A (k :: J) i) with (exp (score k) * value k i + A J i).
    change (W (k :: J)) with (exp (score k) + W J).
    pose proof (Rabs_triang (exp (score k) * value k i) (A J i)) as T.
    rewrite Rabs_mult, (Rabs_pos_eq (exp (score k))) in T by (left; apply exp_pos).
    assert (Rabs (A J i) <= b * W J) by (apply IH; intros l inl; apply bound; simpl; auto).
    assert (exp (score k) * Rabs (value k i) <= exp (score k) * b)
      by (apply Rmult_le_compat_l; [left; apply exp_pos | apply bound; simpl; auto]).
    lra.
Qed.

Lemma represents_well_formed a J : represents a J -> well_formed a.
Proof.
  intros r; destruct J as [|k J].
  - left; apply state_of_no_key, r.
  - right; apply (n_bounds a (k :: J)); [exact r | discriminate].
Qed.

(** ** MERGE-3, proved *)

Lemma max_score_largest J : J <> [] -> largest (max_score J) J.
Proof.
  induction J as [|k J IH]; [contradiction|]; intros _.
  destruct J as [|j J].
  - split; [exists k; simpl; auto | intros l [E|[]]; subst; apply Rle_refl].
  - destruct IH as [[l [inl el]] up]; [discriminate|].
    change (max_score (k :: j :: J)) with (Rmax (score k) (max_score (j :: J))).
    split.
    + unfold Rmax; destruct (Rle_dec (score k) (max_score (j :: J))).
      * exists l; split; [right; exact inl | exact el].
      * exists k; split; [left; reflexivity | reflexivity].
    + intros x [E|inx]; [subst; apply Rmax_l|].
      apply Rle_trans with (max_score (j :: J)); [apply up, inx | apply Rmax_r].
Qed.

Lemma partial_attn_at_sums r J : sums_of (partial_attn_at r J) J.
Proof.
  split; [|intros i]; simpl; rewrite Rmult_comm, <- sum_scale; apply sum_ext; intros k _.
  - rewrite Rmult_comm; apply exp_to.
  - rewrite <- (exp_to r (score k)); ring.
Qed.

Theorem partial_attn_represents J : represents (partial_attn J) J.
Proof.
  split; [apply partial_attn_at_sums|]; split.
  - apply max_score_largest.
  - intros E; subst; reflexivity.
Qed.

Lemma partial_attn_of_no_key : partial_attn [] = empty.
Proof. reflexivity. Qed.

Lemma partial_attn_well_formed J : well_formed (partial_attn J).
Proof. apply (represents_well_formed _ J), partial_attn_represents. Qed.

(** What represents J is partial_attn(J). *)
Lemma represents_is a J : represents a J <-> a = partial_attn J.
Proof.
  split; [intros r | intros E; subst; apply partial_attn_represents].
  apply (representation_unique _ _ J J); auto using partial_attn_represents.
Qed.

(** ** MERGE-4, proved *)

Lemma reduce_at_sums M a b J K :
  sums_of a J -> sums_of b K -> sums_of (reduce_at M a b) (J ++ K).
Proof.
  intros [Wa Aa] [Wb Ab]; split; [|intros i]; simpl.
  - rewrite W_additive, <- Wa, <- Wb, <- (exp_to M (m a)), <- (exp_to M (m b)); ring.
  - rewrite A_additive, <- Aa, <- Ab, <- (exp_to M (m a)), <- (exp_to M (m b)); ring.
Qed.

Lemma attn_reduce_sums a b J K :
  sums_of a J -> sums_of b K -> sums_of (attn_reduce a b) (J ++ K).
Proof.
  intros Sa Sb; unfold attn_reduce.
  destruct (Req_EM_T (n a) 0) as [E|_].
  { apply (n_zero _ _ Sa) in E; subst; exact Sb. }
  destruct (Req_EM_T (n b) 0) as [E|_].
  { apply (n_zero _ _ Sb) in E; subst; rewrite app_nil_r; exact Sa. }
  apply reduce_at_sums; assumption.
Qed.

Lemma largest_app x y J K : largest x J -> largest y K -> largest (Rmax x y) (J ++ K).
Proof.
  intros [[j [inj ej]] upx] [[k [ink ek]] upy]; split.
  - unfold Rmax; destruct (Rle_dec x y); [exists k | exists j]; rewrite in_app_iff; auto.
  - intros l inl; apply in_app_iff in inl; destruct inl as [inl|inl].
    + apply Rle_trans with x; [apply upx, inl | apply Rmax_l].
    + apply Rle_trans with y; [apply upy, inl | apply Rmax_r].
Qed.

(** attn_reduce of two states represents the two lists together. *)
Theorem attn_reduce_represents a b J K :
  represents a J -> represents b K -> represents (attn_reduce a b) (J ++ K).
Proof.
  intros [Sa [la za]] [Sb [lb zb]].
  split; [apply attn_reduce_sums; assumption|].
  unfold attn_reduce.
  destruct (Req_EM_T (n a) 0) as [Ea|Na].
  { apply (n_zero _ _ Sa) in Ea; subst; split; assumption. }
  destruct (Req_EM_T (n b) 0) as [Eb|Nb].
  { apply (n_zero _ _ Sb) in Eb; subst; rewrite app_nil_r; split; assumption. }
  rewrite (n_zero _ _ Sa) in Na; rewrite (n_zero _ _ Sb) in Nb.
  split; [intros _; apply largest_app; auto|].
  intros E; apply app_eq_nil in E; tauto.
Qed.

Theorem partial_attn_app J K :
  attn_reduce (partial_attn J) (partial_attn K) = partial_attn (J ++ K).
Proof.
  apply represents_is, attn_reduce_represents; apply partial_attn_represents.
Qed.

(** 0 < x, y <= 1 and one of them is 1. *)
Theorem factors_of_merge a b :
  let M := Rmax (m a) (m b) in
  0 < exp (m b - M) <= 1 /\ 0 < exp (m a - M) <= 1 /\ (exp (m b - M) = 1 \/ exp (m a - M) = 1).
Proof.
  intros M; pose proof (Rmax_l (m a) (m b)) as la; pose proof (Rmax_r (m a) (m b)) as lb.
  fold M in la, lb; rewrite <- exp_0; repeat split; try apply exp_pos; try (apply exp_le; lra).
  unfold M, Rmax; destruct (Rle_dec (m a) (m b)); [left | right]; f_equal; ring.
Qed.

(** ** MERGE-5: laws *)

Lemma scaled_sum p q r : (p + q) * r = p * r + q * r.
Proof. ring. Qed.

Lemma scaled_term M x p : exp (x - M) * p * exp M = p * exp x.
Proof. rewrite <- (exp_to M x); ring. Qed.

Lemma attn_reduce_n a b :
  1 <= n a -> 1 <= n b ->
  attn_reduce a b = reduce_at (Rmax (m a) (m b)) a b /\ 1 <= n (attn_reduce a b).
Proof.
  intros na nb; unfold attn_reduce.
  destruct (Req_EM_T (n a) 0); [lra|]; destruct (Req_EM_T (n b) 0); [lra|].
  split; [reflexivity|]; simpl.
  destruct (factors_of_merge a b) as [[x0 x1] [[y0 y1] one]].
  set (x := exp (m b - Rmax (m a) (m b))) in *; set (y := exp (m a - Rmax (m a) (m b))) in *.
  assert (x * 1 <= x * n b) by (apply Rmult_le_compat_l; lra).
  assert (y * 1 <= y * n a) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

Theorem merge_well_formed a b : well_formed a -> well_formed b -> well_formed (attn_reduce a b).
Proof.
  unfold well_formed; intros [Ea|na] [Eb|nb]; subst.
  - left; unfold attn_reduce; simpl; destruct (Req_EM_T 0 0); [reflexivity | contradiction].
  - right; unfold attn_reduce; simpl; destruct (Req_EM_T 0 0); [assumption | contradiction].
  - right; unfold attn_reduce; simpl.
    destruct (Req_EM_T (n a) 0); [lra|]; destruct (Req_EM_T 0 0); [assumption | contradiction].
  - right; apply attn_reduce_n; assumption.
Qed.

(** empty (+) a = a = a (+) empty *)
Theorem merge_identity_left a : attn_reduce empty a = a.
Proof. unfold attn_reduce; simpl; destruct (Req_EM_T 0 0); [reflexivity | contradiction]. Qed.

Theorem merge_identity_right a : well_formed a -> attn_reduce a empty = a.
Proof.
  intros [E|na]; [subst; apply merge_identity_left|].
  unfold attn_reduce; simpl.
  destruct (Req_EM_T (n a) 0); [lra|]; destruct (Req_EM_T 0 0); [reflexivity | contradiction].
Qed.

(** a (+) b = b (+) a *)
Theorem merge_commutative a b :
  well_formed a -> well_formed b -> attn_reduce a b = attn_reduce b a.
Proof.
  intros wa wb.
  destruct wa as [E|na]; [subst; rewrite merge_identity_left, merge_identity_right; auto|].
  destruct wb as [E|nb];
    [subst; rewrite merge_identity_left, merge_identity_right by (right; auto); auto|].
  destruct (attn_reduce_n a b na nb) as [Eab _]; destruct (attn_reduce_n b a nb na) as [Eba _].
  rewrite Eab, Eba, (Rmax_comm (m b)).
  apply state_eq; simpl; [reflexivity | ring | intros i; ring].
Qed.

(** (a (+) b) (+) c = a (+) (b (+) c) *)
Theorem merge_associative a b c :
  well_formed a -> well_formed b -> well_formed c ->
  attn_reduce (attn_reduce a b) c = attn_reduce a (attn_reduce b c).
Proof.
  intros [E|na]; [subst; rewrite !merge_identity_left; reflexivity|].
  intros [E|nb];
    [subst; rewrite merge_identity_left, merge_identity_right by (right; auto); reflexivity|].
  intros [E|nc].
  { subst; rewrite !merge_identity_right; auto;
      [right; auto | apply merge_well_formed; right; auto]. }
  destruct (attn_reduce_n a b na nb) as [Eab nab]; destruct (attn_reduce_n b c nb nc) as [Ebc nbc].
  destruct (attn_reduce_n _ c nab nc) as [E1 _]; destruct (attn_reduce_n a _ na nbc) as [E2 _].
  rewrite E1, E2, Eab, Ebc; simpl.
  apply state_eq; simpl.
  - symmetry; apply Rmax_assoc.
  - rewrite !scaled_sum, !scaled_term, !scaled_sum, !scaled_term; ring.
  - intros i; rewrite !scaled_sum, !scaled_term, !scaled_sum, !scaled_term; ring.
Qed.

(** ** Any partition, any order (the theorem under MERGE-5) *)

(** A way to merge states two at a time until one is left. *)
Inductive merge_tree := Leaf (a : state) | Node (left right : merge_tree).

Fixpoint merged (t : merge_tree) : state :=
  match t with
  | Leaf a => a
  | Node l r => attn_reduce (merged l) (merged r)
  end.

Fixpoint leaves (t : merge_tree) : list state :=
  match t with
  | Leaf a => [a]
  | Node l r => leaves l ++ leaves r
  end.

Lemma merged_parts t parts :
  leaves t = map partial_attn parts -> merged t = partial_attn (concat parts).
Proof.
  revert parts; induction t as [a|l IHl r IHr]; simpl; intros parts E.
  - destruct parts as [|J [|K parts]]; try discriminate.
    injection E as E; subst; simpl; rewrite app_nil_r; reflexivity.
  - symmetry in E; apply map_eq_app in E; destruct E as (left & right & E & El & Er); subst.
    rewrite (IHl left), (IHr right), concat_app, partial_attn_app by auto; reflexivity.
Qed.

Lemma Permutation_concat (parts parts' : list (list key)) :
  Permutation parts parts' -> Permutation (concat parts) (concat parts').
Proof.
  induction 1; simpl; auto.
  - apply Permutation_app_head; assumption.
  - rewrite !app_assoc; apply Permutation_app_tail, Permutation_app_comm.
  - eapply Permutation_trans; eassumption.
Qed.

Lemma partial_attn_permutation J K : Permutation J K -> partial_attn J = partial_attn K.
Proof.
  intros P; apply (representation_unique _ _ J K); auto using partial_attn_represents.
Qed.

(** Cut the keys J into parts in any way, some of them possibly empty; take the state of each; merge
    them in any order and grouping. The result is the state of J. *)
Theorem any_partition_any_tree J parts t :
  Permutation (concat parts) J ->
  Permutation (leaves t) (map partial_attn parts) ->
  merged t = partial_attn J.
Proof.
  intros PJ P.
  apply Permutation_map_inv in P; destruct P as (parts' & E & P).
  rewrite (merged_parts t parts' E); apply partial_attn_permutation.
  apply Permutation_trans with (concat parts);
    [apply Permutation_concat, Permutation_sym, P | exact PJ].
Qed.

(** One after the other, from the empty state on; there may be no part at all. *)
Definition merge_all (states : list state) : state := fold_left attn_reduce states empty.

Lemma merge_all_from J parts :
  fold_left attn_reduce (map partial_attn parts) (partial_attn J) =
  partial_attn (J ++ concat parts).
Proof.
  revert J; induction parts as [|K parts IH]; simpl; intros J.
  - rewrite app_nil_r; reflexivity.
  - rewrite partial_attn_app, IH, app_assoc; reflexivity.
Qed.

Lemma merge_all_parts parts : merge_all (map partial_attn parts) = partial_attn (concat parts).
Proof. apply (merge_all_from []). Qed.

Theorem any_partition_any_order J parts order :
  Permutation (concat parts) J ->
  Permutation order (map partial_attn parts) ->
  merge_all order = partial_attn J.
Proof.
  intros PJ P.
  apply Permutation_map_inv in P; destruct P as (parts' & E & P); subst.
  rewrite merge_all_parts; apply partial_attn_permutation.
  apply Permutation_trans with (concat parts);
    [apply Permutation_concat, Permutation_sym, P | exact PJ].
Qed.

(** ** MERGE-6, proved: finish gives attention

    The two equations of MERGE-1 are enough, whatever the reference m. *)

Theorem finish_is_attention a J : sums_of a J -> finish a = attention J.
Proof.
  intros S; unfold finish; destruct (Req_EM_T (n a) 0) as [E|N].
  - apply (n_zero _ _ S) in E; subst; reflexivity.
  - assert (J <> []) as some by (rewrite <- (n_zero _ _ S); exact N).
    apply vector_eq; intros i; rewrite (attention_of_keys J i some).
    destruct S as [EW EA]; rewrite <- EW, <- EA.
    field; split; [apply exp_not_zero | exact N].
Qed.

(** ** MERGE-7, proved: log-sum-exp *)

Lemma n_positive a J : sums_of a J -> J <> [] -> 0 < n a.
Proof.
  intros [EW _] some; apply (Rmult_lt_reg_r (exp (m a))); [apply exp_pos|].
  rewrite EW, Rmult_0_l; apply W_positive, some.
Qed.

Theorem lse_of_is_lse a J : sums_of a J -> lse_of a = lse J.
Proof.
  intros S; unfold lse_of; destruct (Req_EM_T (n a) 0) as [E|N].
  - apply (n_zero _ _ S) in E; subst; reflexivity.
  - assert (J <> []) as some by (rewrite <- (n_zero _ _ S); exact N).
    pose proof (n_positive _ _ S some) as pos.
    rewrite (lse_of_keys J some); destruct S as [EW _]; rewrite <- EW.
    rewrite ln_mult, ln_exp by (try apply exp_pos; exact pos); f_equal; ring.
Qed.

(** exp and ln between the numbers with -infinity and the numbers >= 0: exp(-infinity) = 0. *)
Definition exp_of (x : extended) : R :=
  match x with
  | Minus_infinity => 0
  | Finite y => exp y
  end.

Definition ln_of (x : R) : extended :=
  if Req_EM_T x 0 then Minus_infinity else Finite (ln x).

Lemma exp_of_lse J : exp_of (lse J) = W J.
Proof.
  destruct J as [|k J]; [reflexivity|].
  simpl; apply exp_ln, W_positive; discriminate.
Qed.

Lemma lse_is_ln_of J : lse J = ln_of (W J).
Proof.
  unfold ln_of; destruct (Req_EM_T (W J) 0) as [E|N].
  - apply W_zero in E; subst; reflexivity.
  - apply lse_of_keys; intros E; subst; apply N; reflexivity.
Qed.

(** The lse of a merge is ln(exp(lse) + exp(lse')). *)
Theorem lse_of_merge a b J K :
  represents a J -> represents b K ->
  lse_of (attn_reduce a b) = ln_of (exp_of (lse_of a) + exp_of (lse_of b)).
Proof.
  intros [Sa _] [Sb _].
  rewrite (lse_of_is_lse _ (J ++ K)), (lse_of_is_lse a J), (lse_of_is_lse b K)
    by auto using attn_reduce_sums.
  rewrite !exp_of_lse, lse_is_ln_of, W_additive; reflexivity.
Qed.

(** ** The theorem for outputs: any partition, any merge order or tree, is softmax attention *)

Theorem merging_is_attention J parts t :
  Permutation (concat parts) J ->
  Permutation (leaves t) (map partial_attn parts) ->
  finish (merged t) = attention J /\ lse_of (merged t) = lse J.
Proof.
  intros PJ P; rewrite (any_partition_any_tree J parts t PJ P).
  split; [apply finish_is_attention | apply lse_of_is_lse]; apply partial_attn_represents.
Qed.

(** ** The reference m is free (MERGE-1, note)

    A kernel whose m is another number than the largest score computes the same. *)

Theorem any_reference r J :
  finish (partial_attn_at r J) = attention J /\ lse_of (partial_attn_at r J) = lse J.
Proof.
  split; [apply finish_is_attention | apply lse_of_is_lse]; apply partial_attn_at_sums.
Qed.

(** States of any references, brought to any common reference M. *)
Theorem any_reference_merges M a b J K :
  sums_of a J -> sums_of b K ->
  finish (reduce_at M a b) = attention (J ++ K) /\ lse_of (reduce_at M a b) = lse (J ++ K).
Proof.
  intros Sa Sb; pose proof (reduce_at_sums M _ _ _ _ Sa Sb) as S.
  split; [apply finish_is_attention | apply lse_of_is_lse]; exact S.
Qed.

(** Any tree of merges of states whose references are any numbers. *)
Theorem any_reference_any_tree t parts :
  Forall2 sums_of (leaves t) parts ->
  finish (merged t) = attention (concat parts) /\ lse_of (merged t) = lse (concat parts).
Proof.
  intros F; assert (sums_of (merged t) (concat parts)) as S;
    [|split; [apply finish_is_attention | apply lse_of_is_lse]; exact S].
  revert parts F; induction t as [a|l IHl r IHr]; simpl; intros parts F.
  - inversion F as [|a' J rest parts' S F']; subst; inversion F'; subst.
    simpl; rewrite app_nil_r; exact S.
  - apply Forall2_app_inv_l in F; destruct F as (left & right & Fl & Fr & E); subst.
    rewrite concat_app; apply attn_reduce_sums; auto.
Qed.

(** ** A common shift of all scores moves m alone *)

Definition shift_state (x : R) (a : state) : state :=
  if Req_EM_T (n a) 0 then a else State (m a + x) (n a) (o a).

Theorem shifted_state x J : partial_attn (shift x J) = shift_state x (partial_attn J).
Proof.
  symmetry; apply represents_is.
  destruct (partial_attn_represents J) as [S [l z]].
  unfold shift_state; destruct (Req_EM_T (n (partial_attn J)) 0) as [E|N].
  { apply (n_zero _ _ S) in E; subst J; apply empty_represents_no_key. }
  rewrite (n_zero _ _ S) in N; destruct S as [EW EA]; destruct (l N) as [[k [ink ek]] up].
  split; [split|split]; simpl.
  - rewrite W_shift, <- EW; simpl; rewrite exp_plus; ring.
  - intros i; rewrite A_shift, <- EA; simpl; rewrite exp_plus; ring.
  - intros _; split.
    + exists (Key (score k + x) (value k)); split; [|simpl; rewrite ek; reflexivity].
      apply (in_map (fun k => Key (score k + x) (value k))), ink.
    + intros j inj; apply in_map_iff in inj; destruct inj as [i [E ini]]; subst j; simpl.
      apply up in ini; simpl in ini; lra.
  - intros E; apply map_eq_nil in E; contradiction.
Qed.
