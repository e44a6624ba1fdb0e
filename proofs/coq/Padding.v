(* SPDX-License-Identifier: Apache-2.0 *)
(** * Padding is never read (spec/two_phase.md: TPP-6)

    Two memories for K and V that agree on the slots that hold keys give the same results, whatever
    stands in the others. *)
From Coq Require Import Reals List Permutation Arith Lia.
From Chunkproof Require Import Softmax Merge Plan Rows TwoPhase.
Import ListNotations.
Open Scope nat_scope.

(** Slot i of chunk C holds a key: it is below the chunk's number of tokens, which a descriptor or a
    sequence says. *)
Definition holds_key (p : plan) (C i : nat) : Prop :=
  (exists D, In D (shared p) /\ chunk D = C /\ i < n_keys D) \/
  (exists s k, s < n_sequences p /\ n_shared (sequence p s) <= k < n_chunks (sequence p s) /\
               path (sequence p s) k = C /\ i < keys_in p s k).

(** x with another memory. *)
Definition with_memory (x : inputs) (K' V' : nat -> nat -> nat -> vector) : inputs :=
  Inputs (n_heads x) (n_kv_heads x) (head_dim x) (scale x) (query_begin x) (Q x) K' V'.

Definition memories_agree (p : plan) (x : inputs) (K' V' : nat -> nat -> nat -> vector) : Prop :=
  forall C g i, holds_key p C i -> K' C g i = K x C g i /\ V' C g i = V x C g i.

Lemma sees_at_most pos f t : sees pos f t <= t.
Proof. unfold sees; lia. Qed.

Lemma chunk_keys_agree p x K' V' r a C count :
  memories_agree p x K' V' -> (forall i, i < count -> holds_key p C i) ->
  chunk_keys (with_memory x K' V') r a C count = chunk_keys x r a C count.
Proof.
  intros agree has; apply map_ext_in; intros i ini; apply in_seq in ini.
  unfold slot_key, kv_head; simpl.
  destruct (agree C (a / (n_heads x / n_kv_heads x)) i (has i ltac:(lia))) as [EK EV].
  rewrite EK, EV; reflexivity.
Qed.

Lemma shared_state_agrees p x K' V' s t a D :
  memories_agree p x K' V' -> In D (shared p) ->
  shared_state p (with_memory x K' V') s t a D = shared_state p x s t a D.
Proof.
  intros agree inD; unfold shared_state, shared_keys; f_equal; apply (chunk_keys_agree p);
    [exact agree|].
  intros i ini; left; exists D; repeat split; auto.
  apply (Nat.lt_le_trans _ _ _ ini), sees_at_most.
Qed.

Lemma row_state_agrees p x K' V' s t a k :
  memories_agree p x K' V' -> s < n_sequences p -> In k (own_chunks p s) ->
  row_state p (with_memory x K' V') s t a k = row_state p x s t a k.
Proof.
  intros agree inb ink; apply in_seq in ink.
  unfold row_state, row_keys; f_equal; apply (chunk_keys_agree p); [exact agree|].
  intros i ini; right; exists s, k; repeat split; auto; try lia.
  apply (Nat.lt_le_trans _ _ _ ini), sees_at_most.
Qed.

Lemma merged_at_once_agrees p x K' V' a visited :
  memories_agree p x K' V' -> (forall D st, In (D, st) visited -> In D (shared p)) ->
  merged_at_once p (with_memory x K' V') a visited = merged_at_once p x a visited.
Proof.
  intros agree; unfold merged_at_once; generalize (fun _ : nat => empty).
  induction visited as [|[D [s t]] visited IH]; intros states known; simpl; [reflexivity|].
  rewrite (shared_state_agrees p x K' V' s t a D agree) by (apply (known D (s, t)); simpl; auto).
  apply IH; intros E st inE; apply (known E st); simpl; auto.
Qed.

Theorem padding_is_never_read p x K' V' v s t a :
  memories_agree p x K' V' -> s < n_sequences p ->
  output p (with_memory x K' V') v s t a = output p x v s t a /\
  output_lse p (with_memory x K' V') v s t a = output_lse p x v s t a.
Proof.
  intros agree inb; unfold output, output_lse.
  assert (row_result p (with_memory x K' V') v s t a = row_result p x v s t a) as E;
    [|rewrite E; split; reflexivity].
  assert (map (row_state p (with_memory x K' V') s t a) (own_chunks p s) =
          map (row_state p x s t a) (own_chunks p s)) as own
    by (apply map_ext_in; intros k ink; apply row_state_agrees; assumption).
  destruct v; simpl.
  - unfold buffered; rewrite own; do 2 f_equal.
    apply map_ext_in; intros D inD; apply filter_In in inD; unfold kept.
    f_equal; apply map_ext; intros [s' t']; apply shared_state_agrees; tauto.
  - unfold at_once; rewrite own, merged_at_once_agrees; auto.
    intros D st inst; apply in_flat_map in inst; destruct inst as (E & inE & inst).
    apply in_map_iff in inst; destruct inst as (st' & EE & _); injection EE as EE _; subst;
      exact inE.
Qed.
