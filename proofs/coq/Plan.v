(* SPDX-License-Identifier: Apache-2.0 *)
(** * The plan as data, and which plans are valid (spec/plan.md: PLAN-1 to PLAN-4, PLAN-7) *)
From Coq Require Import Arith List Sorted Permutation Lia.
Import ListNotations.

(** shared[i] = (chunk, begin, end, n_tokens, position) *)
Record descriptor := Descriptor {
  chunk : nat;
  begin : nat;       (* the sequences begin .. end_ - 1 have the chunk on their path *)
  end_ : nat;
  n_keys : nat;      (* n_tokens: how many keys the chunk holds *)
  position : nat     (* of its first key, in each of these sequences *)
}.

(** sequence[s] = (n_tokens, n_chunks, n_shared, chunk[0 .. n_chunks)) *)
Record plan_sequence := Sequence {
  n_tokens : nat;
  n_chunks : nat;
  n_shared : nat;
  path : nat -> nat  (* chunk[k] *)
}.

Record plan := Plan {
  capacity : nat;    (* chunks in the pool *)
  chunk_size : nat;  (* c *)
  n_sequences : nat; (* b *)
  shared : list descriptor;
  sequence : nat -> plan_sequence
}.

(** Sequence s is in the range of D. *)
Definition serves (s : nat) (D : descriptor) : bool := (begin D <=? s) && (s <? end_ D).

(** D covers the pair (s, k): its range has s, its position is k c. *)
Definition covers (p : plan) (s k : nat) (D : descriptor) : bool :=
  serves s D && (position D =? k * chunk_size p).

(** PLAN-1, for a plan alone: the range has two sequences or more, the chunk is full, its position
    is a multiple of c. *)
Definition PLAN_1 (p : plan) : Prop :=
  1 <= chunk_size p /\
  forall D, In D (shared p) ->
    chunk D < capacity p /\
    begin D + 2 <= end_ D <= n_sequences p /\
    n_keys D = chunk_size p /\
    position D mod chunk_size p = 0.

(** PLAN-2: a sequence has its whole path, its shared chunks first. *)
Definition PLAN_2 (p : plan) : Prop :=
  forall s, s < n_sequences p ->
    n_shared (sequence p s) <= n_chunks (sequence p s) /\
    forall k, k < n_chunks (sequence p s) -> path (sequence p s) k < capacity p.

(** PLAN-3: each pair (s, k) once. Of the shared part of a path, each k is covered by exactly one
    descriptor, and that one has the chunk P(s, k); the ranges contain no other pair. *)
Definition PLAN_3 (p : plan) : Prop :=
  forall s, s < n_sequences p ->
    (forall k, k < n_shared (sequence p s) ->
       exists D, filter (covers p s k) (shared p) = [D] /\ chunk D = path (sequence p s) k) /\
    (forall D, In D (shared p) -> serves s D = true ->
       exists k, k < n_shared (sequence p s) /\ position D = k * chunk_size p).

(** PLAN-4: sorted by (begin, position). *)
Definition before (D E : descriptor) : Prop :=
  begin D < begin E \/ (begin D = begin E /\ position D < position E).

Definition PLAN_4 (p : plan) : Prop := StronglySorted before (shared p).

(** PLAN-7: all chunks but the last are full, and no shared chunk is the partial one. *)
Definition PLAN_7 (p : plan) : Prop :=
  forall s, s < n_sequences p ->
    let r := sequence p s in
    let c := chunk_size p in
    ((n_chunks r - 1) * c < n_tokens r <= n_chunks r * c \/ (n_chunks r = 0 /\ n_tokens r = 0)) /\
    n_shared r * c <= n_tokens r.

(** A plan in any order: what the theorem TPP-3 uses. *)
Definition complete (p : plan) : Prop := PLAN_1 p /\ PLAN_2 p /\ PLAN_3 p /\ PLAN_7 p.

Definition valid (p : plan) : Prop := complete p /\ PLAN_4 p.

(** Chunk k of sequence s holds the keys at positions k c .. min((k+1) c, n_tokens) - 1: so many. *)
Definition keys_in (p : plan) (s k : nat) : nat :=
  Nat.min ((k + 1) * chunk_size p) (n_tokens (sequence p s)) - k * chunk_size p.

(** ** What the clauses give *)

Lemma serves_range s D : serves s D = true <-> begin D <= s < end_ D.
Proof.
  unfold serves; rewrite Bool.andb_true_iff, Nat.leb_le, Nat.ltb_lt; tauto.
Qed.

(** All chunks but the last have c keys; the last has n_tokens - (n_chunks - 1) c (PLAN-7,
    TPP-6). *)
Theorem keys_of_full_chunk p s k :
  complete p -> s < n_sequences p -> k + 1 < n_chunks (sequence p s) ->
  keys_in p s k = chunk_size p.
Proof.
  intros (_ & _ & _ & P7) inb ink; destruct (P7 s inb) as [len _].
  assert ((k + 1) * chunk_size p <= (n_chunks (sequence p s) - 1) * chunk_size p)
    by (apply Nat.mul_le_mono_r; lia).
  unfold keys_in; rewrite Nat.min_l by lia; lia.
Qed.

Theorem keys_of_last_chunk p s :
  complete p -> s < n_sequences p -> 0 < n_chunks (sequence p s) ->
  keys_in p s (n_chunks (sequence p s) - 1) =
    n_tokens (sequence p s) - (n_chunks (sequence p s) - 1) * chunk_size p /\
  1 <= keys_in p s (n_chunks (sequence p s) - 1) <= chunk_size p.
Proof.
  intros (_ & _ & _ & P7) inb some; destruct (P7 s inb) as [len _].
  unfold keys_in; replace (n_chunks (sequence p s) - 1 + 1) with (n_chunks (sequence p s)) by lia.
  assert (n_chunks (sequence p s) * chunk_size p =
          (n_chunks (sequence p s) - 1) * chunk_size p + chunk_size p).
  { replace (n_chunks (sequence p s)) with (n_chunks (sequence p s) - 1 + 1) at 1 by lia; lia. }
  rewrite Nat.min_r by lia; lia.
Qed.

(** No shared chunk is the partial one. *)
Lemma keys_of_shared_chunk p s k :
  PLAN_7 p -> s < n_sequences p -> k < n_shared (sequence p s) -> keys_in p s k = chunk_size p.
Proof.
  intros P7 inb ink; destruct (P7 s inb) as [_ len].
  assert ((k + 1) * chunk_size p <= n_shared (sequence p s) * chunk_size p)
    by (apply Nat.mul_le_mono_r; lia).
  unfold keys_in; rewrite Nat.min_l by lia; lia.
Qed.

(** The depth at which a descriptor stands. *)
Definition depth_of (p : plan) (D : descriptor) : nat := position D / chunk_size p.

(** A list that has each of 0 .. N-1 exactly once as f of an element, and no other number, lists
    them in some order. *)
Lemma each_once {T} (f : T -> nat) l N :
  (forall y, In y l -> f y < N) ->
  (forall k, k < N -> exists y, filter (fun z => f z =? k) l = [y]) ->
  Permutation (map f l) (seq 0 N).
Proof.
  intros below once.
  assert (count : forall k, count_occ Nat.eq_dec (map f l) k =
                            length (filter (fun z => f z =? k) l)).
  { intros k; clear; induction l as [|y l IH]; simpl; [reflexivity|].
    destruct (Nat.eq_dec (f y) k) as [E|E].
    - rewrite (proj2 (Nat.eqb_eq _ _) E); simpl; rewrite IH; reflexivity.
    - rewrite (proj2 (Nat.eqb_neq _ _) E); exact IH. }
  apply (Permutation_count_occ Nat.eq_dec); intros k; rewrite count.
  destruct (lt_dec k N) as [lt|ge].
  - destruct (once k lt) as [y E]; rewrite E.
    symmetry; apply NoDup_count_occ'; [apply seq_NoDup | apply in_seq; lia].
  - replace (filter (fun z => f z =? k) l) with (@nil T).
    + symmetry; apply count_occ_not_In; rewrite in_seq; lia.
    + symmetry; destruct (filter (fun z => f z =? k) l) as [|y rest] eqn:E; [reflexivity|].
      assert (In y (filter (fun z => f z =? k) l)) as iny by (rewrite E; left; reflexivity).
      apply filter_In in iny; destruct iny as [iny ey]; apply Nat.eqb_eq in ey.
      apply below in iny; lia.
Qed.

Lemma filter_filter {T} (f g : T -> bool) l :
  filter f (filter g l) = filter (fun y => g y && f y)%bool l.
Proof.
  induction l as [|y l IH]; simpl; [reflexivity|].
  destruct (g y); simpl; [destruct (f y); rewrite IH; reflexivity | exact IH].
Qed.

Lemma filter_permutation {T} (f : T -> bool) l l' :
  Permutation l l' -> Permutation (filter f l) (filter f l').
Proof.
  induction 1; simpl; auto.
  - destruct (f x); auto.
  - destruct (f x), (f y); auto using perm_swap.
  - eapply Permutation_trans; eassumption.
Qed.

(** PLAN-3 in one line: the descriptors that serve s stand at the depths 0 .. n_shared(s) - 1, one
    at each. *)
Theorem serving_depths p s :
  complete p -> s < n_sequences p ->
  Permutation (map (depth_of p) (filter (serves s) (shared p))) (seq 0 (n_shared (sequence p s))).
Proof.
  intros ((pos & P1) & _ & P3 & _) inb; destruct (P3 s inb) as [once only].
  apply each_once.
  - intros D inD; apply filter_In in inD; destruct inD as [inD sD].
    destruct (only D inD sD) as (k & lt & E); unfold depth_of; rewrite E, Nat.div_mul; lia.
  - intros k lt; destruct (once k lt) as (D & E & _); exists D; rewrite <- E, filter_filter.
    apply filter_ext_in; intros F inF; unfold covers; f_equal; unfold depth_of.
    destruct (P1 F inF) as (_ & _ & _ & mod0).
    apply Nat.div_exact in mod0; [|lia].
    apply Bool.eq_true_iff_eq; rewrite !Nat.eqb_eq; split; intros EF;
      [|rewrite EF; apply Nat.div_mul; lia].
    rewrite EF in mod0; lia.
Qed.

(** And each of them has the chunk that the path of s has there, full. *)
Theorem serving_chunk p s D :
  complete p -> s < n_sequences p -> In D (shared p) -> serves s D = true ->
  let k := depth_of p D in
  k < n_shared (sequence p s) /\ chunk D = path (sequence p s) k /\ position D = k * chunk_size p /\
  n_keys D = keys_in p s k.
Proof.
  intros ((pos & P1) & _ & P3 & P7) inb inD sD k; destruct (P3 s inb) as [once only].
  destruct (only D inD sD) as (j & lt & E).
  assert (k = j) as Ej by (unfold k, depth_of; rewrite E; apply Nat.div_mul; lia).
  rewrite Ej; repeat split; auto.
  - destruct (once j lt) as (F & EF & <-); f_equal.
    assert (In D (filter (covers p s j) (shared p))) as inF.
    { apply filter_In; split; [exact inD|].
      unfold covers; rewrite sD, E, Nat.eqb_refl; reflexivity. }
    rewrite EF in inF; destruct inF as [inF|[]]; auto.
  - destruct (P1 D inD) as (_ & _ & full & _).
    rewrite full, keys_of_shared_chunk; auto.
Qed.
