(* SPDX-License-Identifier: Apache-2.0 *)
(** * Plans of runs with keys that are moved when they are read (spec/runs.md: RUNS-10) *)
From Coq Require Import Reals ZArith List Arith Lra Lia.
From Chunkproof Require Import Softmax Merge Plan Rows TwoPhase DecoderMove Runs.
Import ListNotations.
Open Scope nat_scope.

(** The run of a descriptor is one run, at one position, of each sequence that it serves. *)
Theorem served_at_one_position q D s :
  valid q -> In D (descriptors q) -> In s (members q D) -> In (run_of D) (runs q s).
Proof.
  intros (_ & R2 & R3) inD ins; destruct (R2 D inD) as (_ & _ & inside).
  destruct (R3 s (inside s ins)) as [_ E].
  rewrite <- (firstn_skipn (n_common q s) (runs q s)), <- E; apply in_or_app; left.
  apply in_map, filter_In; split; [exact inD | apply has_in, ins].
Qed.

Section Moved.
Variables (h : nat) (frequency : nat -> R) (m : nat).
Hypothesis h_positive : 1 <= h.
Variables (x : inputs) (stands_at : nat -> Z).
Hypothesis whole_pairs : head_dim x = m * (2 * h).

Open Scope R_scope.

(** Keys are stored as if their run stood at position 0, queries without position. The key in slot i
    of a run at f is rotated by f, the query of a row at p by p. *)
Definition moved_key (r a : nat) (R : run) (i : nat) : key :=
  Key (scale x * dot (head_dim x) (rotate h frequency (IZR (stands_at r)) (Q x r a))
                     (rotate h frequency (INR (first R)) (K x (in_chunk R) (kv_head x a) i)))
      (V x (in_chunk R) (kv_head x a) i).

(** What a kernel does instead: it rotates the query by p - f, once for each run, and reads the keys
    as they are. *)
Definition turned_key (r a : nat) (R : run) (i : nat) : key :=
  Key (scale x * dot (head_dim x)
         (rotate h frequency (IZR (stands_at r) - INR (first R)) (Q x r a))
         (K x (in_chunk R) (kv_head x a) i))
      (V x (in_chunk R) (kv_head x a) i).

Theorem turning_the_query r a R i : turned_key r a R i = moved_key r a R i.
Proof using h_positive whole_pairs.
  unfold turned_key, moved_key; rewrite whole_pairs; do 2 f_equal.
  rewrite <- (rotate_by_0 h frequency (K x (in_chunk R) (kv_head x a) i)) at 1.
  rewrite !rotated_product by exact h_positive; do 2 f_equal; ring.
Qed.

(** RUNS-10: two phases that turn queries are attention over the moved keys. So two sequences may
    have one chunk at two positions, by two descriptors. *)
Theorem two_phases_with_turned_queries q v s t a :
  complete q -> rows_ordered x -> (s < n_prompts q)%nat -> (t < n_rows x s)%nat ->
  let all := seen q (causal stands_at) moved_key s (row_number x s t) a in
  let state := row_result q x (causal stands_at) turned_key v s t a in
  finish state = attention all /\ lse_of state = lse all.
Proof using h_positive whole_pairs.
  intros C O inb lt all state; unfold state, all; clear state all.
  replace (seen q (causal stands_at) moved_key s (row_number x s t) a)
    with (seen q (causal stands_at) turned_key s (row_number x s t) a).
  - apply two_phases_over_runs; assumption.
  - unfold seen; rewrite !flat_map_concat_map; f_equal; apply map_ext; intros R.
    unfold run_keys; apply map_ext; intros i; apply turning_the_query.
Qed.
End Moved.
