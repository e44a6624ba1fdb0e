(* SPDX-License-Identifier: Apache-2.0 *)
(** * Several query rows: causal prefill (spec/prefill.md: PREFILL-1 to PREFILL-3) *)
From Coq Require Import Reals ZArith List Permutation Arith Lia.
From Chunkproof Require Import Softmax Merge Plan Rows TwoPhase.
Import ListNotations.
Open Scope nat_scope.

(** The keys of sequence s at positions 0 .. pos, as its row t with head a sees them. *)
Definition keys_to (p : plan) (x : inputs) (s t a : nat) (pos : Z) : list key :=
  map (token_key p x (row_number x s t) a s) (seq 0 (keys_up_to pos)).

(** PREFILL-2, causal: row t of r sits at n - r + t (PREFILL-1), and its output is attention over
    the keys at positions 0 .. n - r + t of its own sequence, and no others. *)
Theorem prefill_is_causal p x v s t a :
  valid p -> rows_ordered x -> s < n_sequences p -> t < n_rows x s ->
  let pos := row_position (n_tokens (sequence p s)) (n_rows x s) t in
  output p x v s t a = attention (keys_to p x s t a pos) /\
  output_lse p x v s t a = lse (keys_to p x s t a pos).
Proof.
  intros Vp O inb lt pos.
  replace (keys_to p x s t a pos) with (seen p x s t a); [apply two_phases_are_attention; auto|].
  unfold seen, keys_to; rewrite Nat.min_l; [reflexivity|].
  unfold keys_up_to, position_of, row_position; lia.
Qed.

(** The last row sees all keys of the sequence. *)
Theorem last_row p x v s a :
  valid p -> rows_ordered x -> s < n_sequences p -> 0 < n_rows x s ->
  let all :=
    map (token_key p x (row_number x s (n_rows x s - 1)) a s) (seq 0 (n_tokens (sequence p s))) in
  output p x v s (n_rows x s - 1) a = attention all.
Proof.
  intros Vp O inb some all; unfold all.
  rewrite <- (last_row_sees_all (n_tokens (sequence p s)) (n_rows x s)) by assumption.
  apply prefill_is_causal; auto; lia.
Qed.

(** PREFILL-3: a row at a position below 0 sees no key: zeros, lse -infinity. *)
Theorem fully_masked_row p x v s t a :
  valid p -> rows_ordered x -> s < n_sequences p -> t < n_rows x s ->
  (row_position (n_tokens (sequence p s)) (n_rows x s) t < 0)%Z ->
  output p x v s t a = zeros /\ output_lse p x v s t a = Minus_infinity.
Proof.
  intros Vp O inb lt neg; destruct (prefill_is_causal p x v s t a Vp O inb lt) as [-> ->].
  unfold keys_to; replace (keys_up_to _) with 0 by (unfold keys_up_to; lia); split; reflexivity.
Qed.

(** ... and so does each row of a sequence without tokens. *)
Theorem row_of_empty_sequence p x v s t a :
  valid p -> rows_ordered x -> s < n_sequences p -> t < n_rows x s -> n_tokens (sequence p s) = 0 ->
  output p x v s t a = zeros /\ output_lse p x v s t a = Minus_infinity.
Proof.
  intros Vp O inb lt none; apply fully_masked_row; auto; rewrite none; unfold row_position; lia.
Qed.

(** ** Prefill in one round, in several, and token by token give the same (PREFILL-2, why)

    Two calls of attention, at two times or over two plans: row t of sequence s in one, row t' of
    sequence s' in the other, with the same query, and the same keys and values at the positions up
    to pos. *)
Definition same_up_to (pos : Z) (p : plan) (x : inputs) (s t : nat) (p' : plan) (x' : inputs)
    (s' t' a : nat) : Prop :=
  scale x = scale x' /\ head_dim x = head_dim x' /\
  Q x (row_number x s t) a = Q x' (row_number x' s' t') a /\
  forall j, (Z.of_nat j <= pos)%Z ->
    let C := path (sequence p s) (j / chunk_size p) in
    let C' := path (sequence p' s') (j / chunk_size p') in
    K x C (kv_head x a) (j mod chunk_size p) = K x' C' (kv_head x' a) (j mod chunk_size p') /\
    V x C (kv_head x a) (j mod chunk_size p) = V x' C' (kv_head x' a) (j mod chunk_size p').

Theorem same_position_same_output pos p x v s t p' x' v' s' t' a :
  valid p -> rows_ordered x -> s < n_sequences p -> t < n_rows x s ->
  valid p' -> rows_ordered x' -> s' < n_sequences p' -> t' < n_rows x' s' ->
  position_of p x s t = pos -> position_of p' x' s' t' = pos ->
  same_up_to pos p x s t p' x' s' t' a ->
  output p x v s t a = output p' x' v' s' t' a /\
  output_lse p x v s t a = output_lse p' x' v' s' t' a.
Proof.
  intros Vp O inb lt Vp' O' inb' lt' at_ at_' (Es & Ed & EQ & EKV).
  destruct (prefill_is_causal p x v s t a Vp O inb lt) as [-> ->].
  destruct (prefill_is_causal p' x' v' s' t' a Vp' O' inb' lt') as [-> ->].
  unfold position_of in *; rewrite at_, at_'.
  replace (keys_to p' x' s' t' a pos) with (keys_to p x s t a pos); [split; reflexivity|].
  apply map_ext_in; intros j inj; apply in_seq in inj.
  unfold keys_up_to in inj; destruct (EKV j ltac:(lia)) as [EK EV].
  unfold token_key, slot_key; rewrite EQ, Es, Ed, EK, EV; reflexivity.
Qed.

(** A round that begins with `before` tokens and ends with n, one row for each new token: its row t
    sits at before + t. *)
Lemma position_in_round n before t :
  before <= n -> row_position n (n - before) t = Z.of_nat (before + t).
Proof. unfold row_position; lia. Qed.

(** In several rounds as in one: x has a row for each token of s; x' is one round of several, with a
    row for each token from `first` on, when s' had n' tokens. Position j is in both. *)
Theorem rounds_agree p x v s p' x' v' s' a first j :
  valid p -> rows_ordered x -> s < n_sequences p -> n_rows x s = n_tokens (sequence p s) ->
  valid p' -> rows_ordered x' -> s' < n_sequences p' ->
  first <= n_tokens (sequence p' s') -> n_rows x' s' = n_tokens (sequence p' s') - first ->
  j < n_tokens (sequence p s) -> first <= j < n_tokens (sequence p' s') ->
  same_up_to (Z.of_nat j) p x s j p' x' s' (j - first) a ->
  output p x v s j a = output p' x' v' s' (j - first) a /\
  output_lse p x v s j a = output_lse p' x' v' s' (j - first) a.
Proof.
  intros; apply same_position_same_output with (Z.of_nat j); auto;
    unfold position_of, row_position in *; lia.
Qed.

(** Token by token: x' decodes when the sequence had j + 1 tokens, the row's token the last one. *)
Theorem token_by_token p x v s p' x' v' s' a j :
  valid p -> rows_ordered x -> s < n_sequences p -> n_rows x s = n_tokens (sequence p s) ->
  valid p' -> decoding x' -> s' < n_sequences p' -> n_tokens (sequence p' s') = j + 1 ->
  j < n_tokens (sequence p s) ->
  same_up_to (Z.of_nat j) p x s j p' x' s' 0 a ->
  output p x v s j a = output p' x' v' s' 0 a /\
  output_lse p x v s j a = output_lse p' x' v' s' 0 a.
Proof.
  intros; pose proof (decoding_rows x' s').
  apply same_position_same_output with (Z.of_nat j); auto using decoding_ordered;
    unfold position_of, row_position in *; intuition lia.
Qed.
