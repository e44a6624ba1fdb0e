(* SPDX-License-Identifier: Apache-2.0 *)
(** * From the tree to its plan, and to attention (spec/tree.md: TREE-1 to TREE-7; PLAN-1 to
    PLAN-4) *)
From Coq Require Import Reals ZArith List Sorted Permutation Arith Bool Lia.
From Chunkproof Require Import Softmax Merge Plan Rows TwoPhase Prefill.
Import ListNotations.
Open Scope nat_scope.

(** The tree without its tokens: paths as tables, ranges of sequences. *)
Record tree := Tree {
  tree_capacity : nat;       (* chunks in the pool *)
  tree_c : nat;              (* chunk size *)
  tree_b : nat;              (* sequences *)
  used : nat -> Prop;
  range_begin : nat -> nat;  (* per used chunk: the sequences that it covers, *)
  range_end : nat -> nat;
  depth : nat -> nat;        (* its place on every path through it, *)
  fill : nat -> nat;         (* tokens in it *)
  N : nat -> nat;            (* chunks on the path of sequence s *)
  P : nat -> nat -> nat      (* the one at depth k *)
}.

(** ** What always holds: the predicates of include/chunkproof/tree.h *)

Definition tree_sizes (t : tree) : Prop :=
  1 <= tree_c t /\ forall x, used t x -> x < tree_capacity t.

(** TREE-1 *)
Definition tree_ranges (t : tree) : Prop :=
  forall x, used t x ->
    range_begin t x < range_end t x <= tree_b t /\ 1 <= fill t x <= tree_c t.

(** TREE-2 *)
Definition tree_private (t : tree) : Prop :=
  forall x, used t x -> fill t x < tree_c t ->
    range_end t x = range_begin t x + 1 /\ depth t x + 1 = N t (range_begin t x).

(** TREE-3 *)
Definition tree_paths (t : tree) : Prop :=
  forall s k, s < tree_b t -> k < N t s ->
    used t (P t s k) /\ depth t (P t s k) = k /\
    range_begin t (P t s k) <= s < range_end t (P t s k).

(** TREE-4 *)
Definition tree_cover (t : tree) : Prop :=
  forall x s, used t x -> range_begin t x <= s < range_end t x ->
    depth t x < N t s /\ P t s (depth t x) = x.

(** TREE-5 *)
Definition tree_nested (t : tree) : Prop :=
  forall s j k, s < tree_b t -> j <= k < N t s ->
    range_begin t (P t s j) <= range_begin t (P t s k) /\
    range_end t (P t s k) <= range_end t (P t s j).

Definition tree_ok (t : tree) : Prop :=
  tree_sizes t /\ tree_ranges t /\ tree_private t /\ tree_paths t /\ tree_cover t /\ tree_nested t.

(** TREE-6 *)
Definition tree_length (t : tree) (s : nat) : nat :=
  if N t s =? 0 then 0 else (N t s - 1) * tree_c t + fill t (P t s (N t s - 1)).

(** Chunk x covers two sequences or more. *)
Definition is_shared (t : tree) (x : nat) : Prop := 2 <= range_end t x - range_begin t x.

(** TREE-7: all but the last chunk of a path are full. *)
Theorem all_but_the_last_are_full t s k :
  tree_ok t -> s < tree_b t -> k + 1 < N t s -> fill t (P t s k) = tree_c t.
Proof.
  intros (_ & T1 & T2 & T3 & _) inb ink.
  destruct (T3 s k inb ltac:(lia)) as (us & dp & rg); destruct (T1 _ us) as [_ fl].
  destruct (Nat.eq_dec (fill t (P t s k)) (tree_c t)) as [E|Ne]; [exact E|].
  destruct (T2 _ us ltac:(lia)) as [one last].
  replace (range_begin t (P t s k)) with s in last by lia; lia.
Qed.

(** ** Which plan belongs to a tree *)

(** PLAN-1: the descriptor of chunk x. *)
Definition descriptor_of (t : tree) (x : nat) : descriptor :=
  Descriptor x (range_begin t x) (range_end t x) (tree_c t) (depth t x * tree_c t).

Definition plan_of (t : tree) (p : plan) : Prop :=
  capacity p = tree_capacity t /\ chunk_size p = tree_c t /\ n_sequences p = tree_b t /\
  (* PLAN-1: exactly one descriptor for each used chunk that is shared, and no other *)
  (forall D, In D (shared p) <-> exists x, used t x /\ is_shared t x /\ D = descriptor_of t x) /\
  NoDup (map chunk (shared p)) /\
  PLAN_4 p /\
  forall s, s < tree_b t ->
    (* PLAN-7 *)
    n_tokens (sequence p s) = tree_length t s /\
    (* PLAN-2: the whole path; its shared chunks are exactly the first n_shared ones *)
    n_chunks (sequence p s) = N t s /\
    (forall k, k < N t s -> path (sequence p s) k = P t s k) /\
    n_shared (sequence p s) <= N t s /\
    (forall k, k < N t s -> (k < n_shared (sequence p s) <-> is_shared t (P t s k))).

Lemma filter_single {T} (f : T -> bool) (g : T -> nat) l y :
  NoDup (map g l) -> In y l -> f y = true -> (forall z, In z l -> f z = true -> g z = g y) ->
  filter f l = [y].
Proof.
  induction l as [|z l IH]; simpl; intros D iny fy only; [contradiction|].
  apply NoDup_cons_iff in D; destruct D as [new D]; destruct iny as [E|iny].
  - subst z; rewrite fy; f_equal; apply filter_none; intros z inz.
    destruct (f z) eqn:fz; [|reflexivity].
    exfalso; apply new; rewrite <- (only z); auto; apply in_map, inz.
  - destruct (f z) eqn:fz; [|apply IH; auto].
    exfalso; apply new; rewrite (only z); auto; apply in_map, iny.
Qed.

Lemma tree_plan_1 t p : tree_ok t -> plan_of t p -> PLAN_1 p.
Proof.
  intros ((pos & T0) & T1 & _) (Ecap & Ec & Eb & L & _); split; [lia|].
  intros D inD; apply L in inD; destruct inD as (x & us & sh & E); subst; simpl.
  destruct (T1 x us) as [rg _]; unfold is_shared in sh; repeat split; try lia.
  - rewrite Ecap; apply T0, us.
  - rewrite Ec; apply Nat.mod_mul; lia.
Qed.

Lemma tree_plan_2 t p : tree_ok t -> plan_of t p -> PLAN_2 p.
Proof.
  intros ((_ & T0) & _ & _ & T3 & _) (Ecap & _ & Eb & _ & _ & _ & R) s inb.
  rewrite Eb in inb; destruct (R s inb) as (_ & En & Ep & few & _); rewrite En.
  split; [exact few|]; intros k ink; rewrite Ep, Ecap by assumption.
  apply T0, T3; assumption.
Qed.

(** PLAN-3, proof: a shared chunk has one descriptor, whose range is the set of sequences that have
    the chunk on their path (TREE-3, TREE-4), at its depth (TREE-3). *)
Lemma tree_plan_3 t p : tree_ok t -> plan_of t p -> PLAN_3 p.
Proof.
  intros ((pos & _) & T1 & _ & T3 & T4 & _) (_ & Ec & Eb & L & D & _ & R) s inb.
  rewrite Eb in inb; destruct (R s inb) as (_ & En & Ep & few & Sh); split.
  - intros k ink; assert (k < N t s) as ink' by lia; pose proof (proj1 (Sh k ink') ink) as sh.
    destruct (T3 s k inb ink') as (us & dp & rg).
    exists (descriptor_of t (P t s k)); split; [|simpl; symmetry; apply Ep, ink'].
    apply filter_single with (g := chunk); auto.
    + apply L; exists (P t s k); auto.
    + unfold covers; rewrite Ec; apply andb_true_iff; split; [apply serves_range; exact rg|].
      simpl; rewrite dp; apply Nat.eqb_refl.
    + intros F inF cF; apply L in inF; destruct inF as (y & uy & _ & E); subst F; simpl in *.
      unfold covers in cF; apply andb_true_iff in cF; destruct cF as [sF pF].
      apply serves_range in sF; simpl in *; apply Nat.eqb_eq in pF; rewrite Ec in pF.
      apply Nat.mul_cancel_r in pF; [|lia]; destruct (T4 y s uy sF) as [_ Ey].
      rewrite <- Ey, pF; reflexivity.
  - intros F inF sF; apply L in inF; destruct inF as (x & us & sh & E); subst F.
    apply serves_range in sF; simpl in *; destruct (T4 x s us sF) as [lt Ex].
    exists (depth t x); split;
      [apply Sh; [exact lt | rewrite Ex; exact sh] | rewrite Ec; reflexivity].
Qed.

Lemma tree_plan_7 t p : tree_ok t -> plan_of t p -> PLAN_7 p.
Proof.
  intros (_ & T1 & T2 & T3 & _) (_ & Ec & Eb & _ & _ & _ & R) s inb r c; unfold r, c; clear r c.
  rewrite Eb in inb; destruct (R s inb) as (El & En & _ & few & Sh).
  rewrite El, En, Ec; unfold tree_length; destruct (Nat.eqb_spec (N t s) 0) as [none|some].
  { split; [right; auto|]; replace (n_shared (sequence p s)) with 0 by lia; lia. }
  destruct (T3 s (N t s - 1) inb ltac:(lia)) as (us & _); destruct (T1 _ us) as [_ fl].
  assert (N t s * tree_c t = (N t s - 1) * tree_c t + tree_c t).
  { replace (N t s) with (N t s - 1 + 1) at 1 by lia; lia. }
  split; [left; lia|].
  destruct (Nat.eq_dec (n_shared (sequence p s)) (N t s)) as [all|not].
  - rewrite all; pose proof (proj1 (Sh (N t s - 1) ltac:(lia)) ltac:(lia)) as sh.
    destruct (Nat.eq_dec (fill t (P t s (N t s - 1))) (tree_c t)) as [full|part]; [lia|].
    destruct (T2 _ us ltac:(lia)) as [one _]; unfold is_shared in sh; lia.
  - assert (n_shared (sequence p s) * tree_c t <= (N t s - 1) * tree_c t)
      by (apply Nat.mul_le_mono_r; lia).
    lia.
Qed.

(** The plan of a valid tree is valid. *)
Theorem tree_plan_is_valid t p : tree_ok t -> plan_of t p -> valid p.
Proof.
  intros ok of; split; [|apply of].
  exact (conj (tree_plan_1 t p ok of) (conj (tree_plan_2 t p ok of)
        (conj (tree_plan_3 t p ok of) (tree_plan_7 t p ok of)))).
Qed.

(** ** The plan as it is built: cp_plan_build() of ref/plan.c *)

Definition is_shared_b (t : tree) (x : nat) : bool := 2 <=? range_end t x - range_begin t x.

(** n_shared: behind the last chunk of the path that is shared. *)
Definition shared_count (t : tree) (s : nat) : nat :=
  fold_left (fun n k => if is_shared_b t (P t s k) then k + 1 else n) (seq 0 (N t s)) 0.

(** The shared chunks that begin at sequence s, from the root down. *)
Definition shared_from (t : tree) (s : nat) : list descriptor :=
  map (fun k => Descriptor (P t s k) s (range_end t (P t s k)) (fill t (P t s k)) (k * tree_c t))
      (filter (fun k => range_begin t (P t s k) =? s) (seq 0 (shared_count t s))).

Definition build (t : tree) : plan :=
  Plan (tree_capacity t) (tree_c t) (tree_b t)
       (flat_map (shared_from t) (seq 0 (tree_b t)))
       (fun s => Sequence (tree_length t s) (N t s) (shared_count t s) (P t s)).

Lemma count_last (f : nat -> bool) M k :
  k < fold_left (fun n k => if f k then k + 1 else n) (seq 0 M) 0 <->
  exists j, k <= j < M /\ f j = true.
Proof.
  induction M as [|M IH]; [simpl; split; [lia | intros (j & ? & _); lia]|].
  rewrite seq_S, fold_left_app; simpl; destruct (f M) eqn:fM.
  - split; [intros lt; exists M; split; [lia | exact fM] | intros (j & ? & _); lia].
  - rewrite IH; split; intros (j & inj & fj); exists j; split; auto; [lia|].
    destruct (Nat.eq_dec j M); [subst; congruence | lia].
Qed.

Lemma shared_count_at_most t s : shared_count t s <= N t s.
Proof.
  destruct (Nat.le_gt_cases (shared_count t s) (N t s)) as [le|gt]; [exact le|].
  apply count_last in gt; destruct gt as (j & inj & _); lia.
Qed.

(** PLAN-2: ranges nest (TREE-5), so the shared chunks of a path are its first ones. *)
Lemma shared_come_first t s k :
  tree_ok t -> s < tree_b t -> k < N t s -> (k < shared_count t s <-> is_shared t (P t s k)).
Proof.
  intros (_ & _ & _ & _ & _ & T5) inb ink; unfold shared_count.
  rewrite (count_last (fun k => is_shared_b t (P t s k))); unfold is_shared_b; split.
  - intros (j & inj & sh); apply Nat.leb_le in sh; destruct (T5 s k j inb ltac:(lia)).
    unfold is_shared; lia.
  - intros sh; exists k; split; [lia | apply Nat.leb_le, sh].
Qed.

Lemma In_shared_from t s D :
  In D (shared_from t s) <->
  exists k, k < shared_count t s /\ range_begin t (P t s k) = s /\
    D = Descriptor (P t s k) s (range_end t (P t s k)) (fill t (P t s k)) (k * tree_c t).
Proof.
  unfold shared_from; rewrite in_map_iff; split.
  - intros (k & E & ink); apply filter_In in ink; destruct ink as [ink bg].
    apply in_seq in ink; apply Nat.eqb_eq in bg; exists k; repeat split; auto; lia.
  - intros (k & ink & bg & E); exists k; split; [auto|]; apply filter_In.
    split; [apply in_seq; lia | apply Nat.eqb_eq, bg].
Qed.

(** PLAN-1, of the list that is built. *)
Lemma In_build t D :
  tree_ok t ->
  In D (shared (build t)) <-> exists x, used t x /\ is_shared t x /\ D = descriptor_of t x.
Proof.
  intros ok; simpl; rewrite in_flat_map; split.
  - intros (s & ins & inD); apply in_seq in ins; apply In_shared_from in inD.
    destruct inD as (k & ink & bg & E); pose proof (shared_count_at_most t s).
    apply (shared_come_first t s k ok) in ink as sh; try lia.
    destruct ok as (_ & T1 & T2 & T3 & _); destruct (T3 s k ltac:(lia) ltac:(lia)) as (us & dp & _).
    exists (P t s k); repeat split; auto; rewrite E; unfold descriptor_of; rewrite bg, dp; f_equal.
    destruct (T1 _ us) as [_ fl]; destruct (Nat.eq_dec (fill t (P t s k)) (tree_c t)) as [F|F];
      auto.
    destruct (T2 _ us ltac:(lia)) as [one _]; unfold is_shared in sh; lia.
  - intros (x & us & sh & E); pose proof ok as (_ & T1 & T2 & T3 & T4 & _).
    destruct (T1 x us) as [rg fl]; destruct (T4 x (range_begin t x) us ltac:(lia)) as [lt Ex].
    exists (range_begin t x); split; [apply in_seq; lia|].
    apply In_shared_from; exists (depth t x); rewrite Ex; repeat split.
    + apply shared_come_first; [exact ok | lia | exact lt | rewrite Ex; exact sh].
    + rewrite E; unfold descriptor_of; f_equal.
      destruct (Nat.eq_dec (fill t x) (tree_c t)) as [F|F]; auto.
      destruct (T2 _ us ltac:(lia)) as [one _]; unfold is_shared in sh; lia.
Qed.

Lemma sorted_app {T} (R : T -> T -> Prop) l l' :
  StronglySorted R l -> StronglySorted R l' -> (forall y z, In y l -> In z l' -> R y z) ->
  StronglySorted R (l ++ l').
Proof.
  induction 1 as [|y l S IH F]; simpl; intros S' B; [exact S'|].
  constructor; [apply IH; auto|].
  apply Forall_app; split; [exact F | apply Forall_forall; auto].
Qed.

Lemma sorted_map {T} (R : T -> T -> Prop) (f : nat -> T) i len (g : nat -> bool) :
  (forall j k, j < k -> R (f j) (f k)) -> StronglySorted R (map f (filter g (seq i len))).
Proof.
  intros B; revert i; induction len as [|len IH]; simpl; intros i; [constructor|].
  destruct (g i); simpl; [|apply IH].
  constructor; [apply IH|]; apply Forall_forall; intros y iny; apply in_map_iff in iny.
  destruct iny as (k & E & ink); apply filter_In in ink; destruct ink as [ink _].
  apply in_seq in ink; subst; apply B; lia.
Qed.

(** PLAN-4: built sequence by sequence, from the root down, the list is sorted by (begin,
    position). *)
Lemma build_sorted t : tree_ok t -> PLAN_4 (build t).
Proof.
  intros ((pos & _) & _); unfold PLAN_4; simpl; generalize (tree_b t); intros len.
  induction len as [|len IH]; [constructor|].
  rewrite seq_S, flat_map_app; simpl flat_map; rewrite app_nil_r; apply sorted_app; [exact IH| |].
  - apply sorted_map; intros j k lt; right; simpl; split; [reflexivity|].
    apply Nat.mul_lt_mono_pos_r; lia.
  - intros D E inD inE; apply in_flat_map in inD; destruct inD as (s & ins & inD).
    apply in_seq in ins; apply In_shared_from in inD; apply In_shared_from in inE.
    destruct inD as (j & _ & _ & ED), inE as (k & _ & _ & EE); subst; left; simpl; lia.
Qed.

Lemma sorted_nodup {T} (R : T -> T -> Prop) (f : T -> nat) l :
  StronglySorted R l -> (forall y z, In y l -> In z l -> R y z -> f y <> f z) -> NoDup (map f l).
Proof.
  induction 1 as [|y l S IH F]; simpl; intros Ne; constructor; [|apply IH; auto].
  intros iny; apply in_map_iff in iny; destruct iny as (z & E & inz).
  rewrite Forall_forall in F; apply (Ne y z); auto.
Qed.

(** cp_plan_build() makes the plan that belongs to the tree. *)
Theorem build_is_plan_of t : tree_ok t -> plan_of t (build t).
Proof.
  intros ok; do 3 (split; [reflexivity|]).
  split; [intros D; apply In_build, ok|]; split; [|split; [apply build_sorted, ok|]].
  - apply (sorted_nodup before); [apply build_sorted, ok|].
    intros D E inD inE B EC; apply In_build in inD; [|exact ok]; apply In_build in inE; [|exact ok].
    destruct inD as (x & _ & _ & ED), inE as (y & _ & _ & EE); subst; simpl in EC; subst.
    unfold before in B; lia.
  - intros s inb; do 3 (split; [reflexivity|]); split; [apply shared_count_at_most|].
    intros k ink; apply shared_come_first; assumption.
Qed.

(** ** The chain closed: a valid tree's plan gives attention over the sequence *)

(** The key of token j of sequence s: slot j mod c of P(s, j div c) (TREE-6). *)
Definition tree_key (t : tree) (x : inputs) (r a s j : nat) : key :=
  slot_key x r a (P t s (j / tree_c t)) (j mod tree_c t).

(** In decoding, attention over all tokens of the sequence (TPP-3, corollary). *)
Theorem tree_decoding_is_attention t x v s a :
  tree_ok t -> decoding x -> s < tree_b t ->
  let all := map (tree_key t x s a s) (seq 0 (tree_length t s)) in
  output (build t) x v s 0 a = attention all /\ output_lse (build t) x v s 0 a = lse all.
Proof.
  intros ok dec inb; apply (decoding_is_attention (build t) x v s a); auto.
  apply (tree_plan_is_valid t), build_is_plan_of; auto.
Qed.

(** With several query rows, attention over the tokens at positions 0 .. length(s) - r + i for row i
    of r (PREFILL-2). *)
Theorem tree_prefill_is_attention t x v s i a :
  tree_ok t -> rows_ordered x -> s < tree_b t -> i < n_rows x s ->
  let pos := row_position (tree_length t s) (n_rows x s) i in
  let causal := map (tree_key t x (row_number x s i) a s) (seq 0 (keys_up_to pos)) in
  output (build t) x v s i a = attention causal /\ output_lse (build t) x v s i a = lse causal.
Proof.
  intros ok O inb lt; apply (prefill_is_causal (build t) x v s i a); auto.
  apply (tree_plan_is_valid t), build_is_plan_of; auto.
Qed.
