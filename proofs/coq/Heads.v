(* SPDX-License-Identifier: Apache-2.0 *)
(** * Heads (spec/two_phase.md: TPP-5): multi-head, grouped and multi-query attention

    All theorems of TwoPhase.v hold for each query head a, with the keys and values of its key/value
    head. What that is: *)
From Coq Require Import Reals List Arith Lia.
From Chunkproof Require Import Softmax Merge Plan Rows TwoPhase.
Import ListNotations.
Open Scope nat_scope.

(** h is a multiple of h_kv. *)
Definition grouped (x : inputs) (group : nat) : Prop :=
  n_heads x = n_kv_heads x * group /\ 0 < n_kv_heads x /\ 0 < group.

(** The query heads g group .. (g+1) group - 1 use key/value head g: neighbours share one. *)
Theorem neighbours_share_a_head x group g a :
  grouped x group -> g * group <= a < (g + 1) * group -> kv_head x a = g.
Proof.
  intros (E & kv & pos) ina; unfold kv_head.
  rewrite E, Nat.mul_comm, Nat.div_mul by lia.
  symmetry; apply (Nat.div_unique a group g (a - g * group)); lia.
Qed.

Theorem kv_head_exists x group a : grouped x group -> a < n_heads x -> kv_head x a < n_kv_heads x.
Proof.
  intros (E & kv & pos) ina; unfold kv_head.
  rewrite E, Nat.mul_comm, Nat.div_mul by lia.
  apply Nat.div_lt_upper_bound; lia.
Qed.

(** Group 1: each head has its own (MHA). *)
Theorem multi_head x a : grouped x 1 -> kv_head x a = a.
Proof. intros G; apply (neighbours_share_a_head x 1); [exact G | lia]. Qed.

(** h_kv = 1: all heads share one (MQA). *)
Theorem multi_query x group a :
  grouped x group -> n_kv_heads x = 1 -> a < n_heads x -> kv_head x a = 0.
Proof. intros G one ina; pose proof (kv_head_exists x group a G ina); lia. Qed.

(** What a row with head a sees, written out: the scores of the head's query with the keys of its
    key/value head, and the values of that head. *)
Theorem seen_by_head p x group s t a g :
  grouped x group -> g * group <= a < (g + 1) * group ->
  seen p x s t a =
  map (fun j => let C := path (sequence p s) (j / chunk_size p) in
                let i := j mod chunk_size p in
                Key (scale x * dot (head_dim x) (Q x (row_number x s t) a) (K x C g i)) (V x C g i))
      (seq 0 (Nat.min (keys_up_to (position_of p x s t)) (n_tokens (sequence p s)))).
Proof.
  intros G ina; apply map_ext; intros j; unfold token_key, slot_key.
  rewrite (neighbours_share_a_head x group g a G ina); reflexivity.
Qed.

(** The problem of one head alone. *)
Definition one_head (x : inputs) (a : nat) : inputs :=
  Inputs 1 1 (head_dim x) (scale x) (query_begin x)
         (fun r _ => Q x r a)
         (fun C _ i => K x C (kv_head x a) i)
         (fun C _ i => V x C (kv_head x a) i).

(** Grouped attention is single-head attention, head by head. *)
Theorem grouped_is_per_head p x v s t a :
  output p x v s t a = output p (one_head x a) v s t 0 /\
  output_lse p x v s t a = output_lse p (one_head x a) v s t 0.
Proof. destruct v; split; reflexivity. Qed.
