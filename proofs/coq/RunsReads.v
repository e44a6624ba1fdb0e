(* SPDX-License-Identifier: Apache-2.0 *)
(** * What contiguity costs (spec/runs.md: RUNS-9)

    When a descriptor serves a range of sequences, a chunk whose sequences are not contiguous needs
    several descriptors, and is read once for each. *)
From Coq Require Import List Permutation Arith Bool Lia.
From Chunkproof Require Tree TwoPhase.
Import ListNotations.
Open Scope nat_scope.

(** ** Ranges of a set

    The sequences stand in an order; l says of each whether it has the chunk. *)

Definition on (l : list bool) (p : nat) : bool := nth p l false.

(** Here a maximal range begins. `before`: whether the sequence before the first has it. *)
Definition is_start (before : bool) (l : list bool) (p : nat) : bool :=
  on l p && negb (match p with 0 => before | S p' => on l p' end).

Definition starts (l : list bool) : list nat := filter (is_start false l) (seq 0 (length l)).

(** How many maximal ranges there are, counted in one pass. *)
Fixpoint count_starts (before : bool) (l : list bool) : nat :=
  match l with
  | [] => 0
  | y :: rest => (if y && negb before then 1 else 0) + count_starts y rest
  end.

Definition n_ranges (l : list bool) : nat := count_starts false l.

Lemma count_is_length before l :
  length (filter (is_start before l) (seq 0 (length l))) = count_starts before l.
Proof.
  revert before; induction l as [|y l IH]; intros before; [reflexivity|].
  simpl length; simpl seq; rewrite <- seq_shift; simpl filter; rewrite TwoPhase.filter_map.
  rewrite (filter_ext (fun z => is_start before (y :: l) (S z)) (is_start y l)).
  - change (is_start before (y :: l) 0) with (y && negb before); simpl count_starts.
    rewrite <- IH; destruct (y && negb before); simpl; rewrite map_length; reflexivity.
  - intros [|p]; reflexivity.
Qed.

Theorem n_ranges_counts_starts l : n_ranges l = length (starts l).
Proof. symmetry; apply count_is_length. Qed.

Lemma on_inside l p : on l p = true -> p < length l.
Proof.
  unfold on; intros E; destruct (Nat.lt_ge_cases p (length l)) as [lt|ge]; [exact lt|].
  rewrite nth_overflow in E by exact ge; discriminate.
Qed.

Lemma starts_In l p :
  In p (starts l) <-> on l p = true /\ match p with 0 => True | S p' => on l p' = false end.
Proof.
  unfold starts; rewrite filter_In, in_seq; unfold is_start; rewrite andb_true_iff, negb_true_iff.
  split.
  - intros (_ & ? & ?); destruct p; auto.
  - intros [here before]; pose proof (on_inside l p here); destruct p; repeat split; auto; lia.
Qed.

Lemma starts_once l : NoDup (starts l).
Proof. apply NoDup_filter, seq_NoDup. Qed.

(** A set is the union of some ranges [i, j). *)
Definition covers (ranges : list (nat * nat)) (l : list bool) : Prop :=
  forall p, on l p = true <-> exists i j, In (i, j) ranges /\ i <= p < j.

(** RUNS-9: no fewer ranges than the maximal ones will do, *)
Theorem no_fewer_ranges ranges l : covers ranges l -> n_ranges l <= length ranges.
Proof.
  intros C; rewrite n_ranges_counts_starts, <- (map_length fst ranges).
  apply NoDup_incl_length; [apply starts_once|]; intros p inp; apply starts_In in inp.
  destruct inp as [here before]; destruct (proj1 (C p) here) as (i & j & inr & le & lt).
  apply in_map_iff; exists (i, j); split; [simpl|exact inr].
  destruct (Nat.eq_dec i p) as [E|Ne]; [exact E|exfalso]; destruct p as [|p]; [lia|].
  assert (on l p = true) as there by (apply C; exists i, j; split; [exact inr | lia]); congruence.
Qed.

(** and the maximal ones will do. *)
Fixpoint leading (l : list bool) : nat :=
  match l with true :: rest => S (leading rest) | _ => 0 end.

Definition maximal (l : list bool) : list (nat * nat) :=
  map (fun p => (p, p + leading (skipn p l))) (starts l).

Lemma leading_on l p k : k < leading (skipn p l) <-> forall i, p <= i <= p + k -> on l i = true.
Proof.
  revert p k; induction l as [|y l IH]; intros p k.
  - rewrite skipn_nil; simpl; split; [lia|]; intros H.
    specialize (H p ltac:(lia)); unfold on in H; destruct p; discriminate.
  - destruct p as [|p].
    + simpl skipn; destruct y; simpl.
      * destruct k as [|k]; [split; [intros _ i le; replace i with 0 by lia; reflexivity | lia]|].
        transitivity (k < leading (skipn 0 l)); [simpl; lia|]; rewrite IH; split; intros H i le.
        -- destruct i as [|i]; [reflexivity|]; apply H; lia.
        -- apply (H (S i)); lia.
      * split; [lia|]; intros H; specialize (H 0 ltac:(lia)); discriminate.
    + simpl skipn; rewrite IH; split; intros H i le.
      * destruct i as [|i]; [lia|]; apply H; lia.
      * apply (H (S i)); lia.
Qed.

Lemma start_before l p :
  on l p = true -> exists i, In i (starts l) /\ i <= p /\ forall k, i <= k <= p -> on l k = true.
Proof.
  induction p as [|p IH]; intros here.
  - exists 0; rewrite starts_In; repeat split; auto.
    intros k le; replace k with 0 by lia; exact here.
  - destruct (on l p) eqn:E.
    + destruct (IH eq_refl) as (i & ini & le & all); exists i; repeat split; [exact ini | lia|].
      intros k lek; destruct (Nat.eq_dec k (S p)) as [->|]; [exact here | apply all; lia].
    + exists (S p); rewrite starts_In; repeat split; auto.
      intros k le; replace k with (S p) by lia; exact here.
Qed.

Theorem maximal_ranges_cover l : covers (maximal l) l /\ length (maximal l) = n_ranges l.
Proof.
  split; [|unfold maximal; rewrite map_length; symmetry; apply n_ranges_counts_starts].
  intros p; split.
  - intros here; destruct (start_before l p here) as (i & ini & le & all).
    exists i, (i + leading (skipn i l)); split; [apply in_map_iff; exists i; auto|].
    split; [exact le|]; assert (p - i < leading (skipn i l)); [|lia].
    apply leading_on; intros k lek; apply all; lia.
  - intros (i & j & inr & le & lt); apply in_map_iff in inr; destruct inr as (i' & E & _).
    injection E as <- <-; assert (p - i' < leading (skipn i' l)) as short by lia.
    rewrite leading_on in short; apply short; lia.
Qed.

(** ** One range is enough exactly for what is contiguous *)

Definition contiguous (l : list bool) : Prop :=
  forall i k j, i < k < j -> on l i = true -> on l j = true -> on l k = true.

Theorem one_range_is_contiguous l : n_ranges l <= 1 <-> contiguous l.
Proof.
  rewrite n_ranges_counts_starts; split.
  - intros one i k j between oi oj; destruct (on l k) eqn:ok; [reflexivity|exfalso].
    destruct (start_before l i oi) as (p & inp & lep & _).
    destruct (start_before l j oj) as (r & inr & ler & all).
    assert (k < r) as after.
    { destruct (Nat.lt_ge_cases k r) as [lt|ge]; [exact lt|].
      rewrite (all k ltac:(lia)) in ok; discriminate. }
    destruct (starts l) as [|y [|z rest]]; simpl in *; [destruct inp| |lia].
    destruct inp as [<-|[]], inr as [<-|[]]; lia.
  - intros C; pose proof (starts_once l) as once.
    assert (forall p r, In p (starts l) -> In r (starts l) -> p < r -> False) as no.
    { intros p r inp inr lt; apply starts_In in inp; apply starts_In in inr.
      destruct r as [|r]; [lia|]; destruct inr as [here before].
      assert (on l r = true); [|congruence].
      destruct (Nat.eq_dec p r) as [<-|Ne]; [apply inp|].
      apply (C p r (S r)); [lia | apply inp | exact here]. }
    destruct (starts l) as [|y [|z rest]]; simpl; [lia | lia|exfalso].
    apply NoDup_cons_iff in once; destruct once as [new _].
    destruct (Nat.lt_trichotomy y z) as [lt|[E|gt]].
    + apply (no y z); simpl; auto.
    + apply new; left; symmetry; exact E.
    + apply (no z y); simpl; auto.
Qed.

(** ** Bounds: no more ranges than sequences that have the chunk, nor than the others and 1 *)

Definition n_on (l : list bool) : nat := length (filter (fun y => y) l).
Definition n_off (l : list bool) : nat := length (filter negb l).

Theorem at_most_so_many_ranges l : n_ranges l <= Nat.min (n_on l) (n_off l + 1).
Proof.
  unfold n_ranges, n_on, n_off; apply Nat.min_glb.
  - generalize false; induction l as [|[|] l IH]; intros before; simpl; [lia| |].
    + specialize (IH true); destruct before; simpl; lia.
    + specialize (IH false); exact IH.
  - assert (forall before, count_starts before l <= length (filter negb l) +
              (if before then 0 else 1)) as H; [|exact (H false)].
    induction l as [|[|] l IH]; intros before; simpl; [destruct before; lia| |].
    + specialize (IH true); destruct before; simpl in *; lia.
    + specialize (IH false); destruct before; simpl in *; lia.
Qed.

(** ** A tree's sequences are contiguous (TREE-3, TREE-4) *)

Definition has_chunk (t : Tree.tree) (x s : nat) : bool :=
  existsb (fun k => Tree.P t s k =? x) (seq 0 (Tree.N t s)).

Theorem trees_cost_nothing t x :
  Tree.tree_ok t -> Tree.used t x ->
  n_ranges (map (has_chunk t x) (seq 0 (Tree.tree_b t))) = 1.
Proof.
  intros (_ & T1 & _ & T3 & T4 & _) ux.
  assert (on_path : forall s, s < Tree.tree_b t ->
            on (map (has_chunk t x) (seq 0 (Tree.tree_b t))) s = has_chunk t x s).
  { intros s lt; unfold on.
    rewrite (nth_indep _ false (has_chunk t x 0)) by (rewrite map_length, seq_length; exact lt).
    rewrite map_nth, seq_nth by exact lt; reflexivity. }
  assert (range : forall s, s < Tree.tree_b t ->
            (has_chunk t x s = true <-> Tree.range_begin t x <= s < Tree.range_end t x)).
  { intros s lt; unfold has_chunk; rewrite existsb_exists; split.
    - intros (k & ink & E); apply Nat.eqb_eq in E; apply in_seq in ink.
      destruct (T3 s k lt ltac:(lia)) as (_ & _ & r); rewrite E in r; exact r.
    - intros r; destruct (T4 x s ux r) as [lk E]; exists (Tree.depth t x).
      rewrite in_seq, E, Nat.eqb_refl; split; [lia | reflexivity]. }
  destruct (T1 x ux) as [r _].
  assert (n_ranges (map (has_chunk t x) (seq 0 (Tree.tree_b t))) <= 1) as few.
  { apply one_range_is_contiguous; intros i k j between oi oj.
    pose proof (on_inside _ _ oj) as lj; rewrite map_length, seq_length in lj.
    rewrite on_path in * by lia; apply range in oi; [|lia]; apply range in oj; [|lia].
    apply range; lia. }
  assert (In (Tree.range_begin t x) (map fst (maximal (map (has_chunk t x)
    (seq 0 (Tree.tree_b t)))))) as some.
  { unfold maximal; rewrite map_map, map_id; apply starts_In.
    rewrite on_path by lia; split; [apply range; lia|].
    destruct (Tree.range_begin t x) as [|p] eqn:E; [exact I|].
    rewrite on_path by lia; apply not_true_iff_false; intros H; apply range in H; lia. }
  rewrite n_ranges_counts_starts in *; unfold maximal in some; rewrite map_map, map_id in some.
  destruct (starts _) as [|y rest]; [destruct some | simpl in *; lia].
Qed.

(** ** Prompts of modules: not always *)

(** Reads of all modules, when the prompts stand in this order. *)
Definition reads (modules : list (nat -> bool)) (order : list nat) : nat :=
  list_sum (map (fun m => n_ranges (map m order)) modules).

(** Prompts 0, 1, 2 have A B, B C, and C A. *)
Definition module_a (s : nat) : bool := (s =? 0) || (s =? 2).
Definition module_b (s : nat) : bool := (s =? 0) || (s =? 1).
Definition module_c (s : nat) : bool := (s =? 1) || (s =? 2).

Lemma orders_of_three order :
  Permutation order [0; 1; 2] ->
  In order [[0; 1; 2]; [0; 2; 1]; [1; 0; 2]; [1; 2; 0]; [2; 0; 1]; [2; 1; 0]].
Proof.
  intros P; pose proof (Permutation_length P) as len.
  destruct order as [|i [|j [|k [|? ?]]]]; try discriminate.
  pose proof (Permutation_NoDup (Permutation_sym P)) as once.
  assert (NoDup [0; 1; 2]) as N by (repeat constructor; simpl; lia); specialize (once N).
  assert (forall y, In y [i; j; k] -> y = 0 \/ y = 1 \/ y = 2) as small.
  { intros y iny; apply (Permutation_in y P) in iny; simpl in iny; lia. }
  assert (i <> j /\ i <> k /\ j <> k) as other.
  { inversion once as [|? ? ni once']; subst; inversion once' as [|? ? nj _]; subst.
    simpl in *; lia. }
  destruct (small i), (small j), (small k); simpl; auto; simpl;
    repeat match goal with H : _ \/ _ |- _ => destruct H end; subst; auto 10; lia.
Qed.

(** RUNS-9: every order of these three costs an extra read. *)
Theorem every_order_costs_a_read order :
  Permutation order [0; 1; 2] -> reads [module_a; module_b; module_c] order = 4.
Proof.
  intros P; apply orders_of_three in P; simpl in P.
  repeat destruct P as [<-|P]; try reflexivity; destruct P.
Qed.

(** It is the smallest example. Two modules can always be ordered, *)
Lemma split_by {T} (f : T -> bool) l : Permutation l (filter f l ++ filter (fun y => negb (f y)) l).
Proof.
  induction l as [|y l IH]; simpl; [constructor|].
  destruct (f y); simpl; [constructor; exact IH|apply Permutation_cons_app, IH].
Qed.

Lemma map_constant {T} (f : T -> bool) y l :
  (forall z, In z l -> f z = y) -> map f l = repeat y (length l).
Proof.
  induction l as [|z l IH]; simpl; intros same; [reflexivity|].
  rewrite same, IH by auto; reflexivity.
Qed.

Lemma one_block i j k : n_ranges (repeat false i ++ repeat true j ++ repeat false k) <= 1.
Proof.
  unfold n_ranges.
  assert (forall before, count_starts before (repeat false k) = 0) as none
    by (induction k; simpl; auto).
  assert (count_starts true (repeat true j ++ repeat false k) = 0) as inside
    by (induction j; simpl; auto).
  induction i as [|i IH]; simpl; [|exact IH].
  destruct j as [|j]; simpl; [rewrite none; lia|].
  simpl in inside; rewrite inside; lia.
Qed.

Theorem two_modules_have_an_order (f g : nat -> bool) l :
  exists order, Permutation order l /\ n_ranges (map f order) <= 1 /\ n_ranges (map g order) <= 1.
Proof.
  set (F := filter f l); set (G := filter (fun y => negb (f y)) l).
  exists ((filter (fun y => negb (g y)) F ++ filter g F) ++
          (filter g G ++ filter (fun y => negb (g y)) G)).
  assert (inF : forall z, In z F -> f z = true) by (intros z inz; apply filter_In in inz; tauto).
  assert (inG : forall z, In z G -> f z = false)
    by (intros z inz; apply filter_In in inz; apply negb_true_iff; tauto).
  split; [|split].
  - apply Permutation_sym, Permutation_trans with (1 := split_by f l); fold F G.
    apply Permutation_app; [|apply split_by].
    apply Permutation_trans with (1 := split_by g F), Permutation_app_comm.
  - rewrite map_app, (map_constant f true), (map_constant f false).
    + apply (one_block 0).
    + intros z inz; apply inG; apply in_app_iff in inz; rewrite !filter_In in inz; tauto.
    + intros z inz; apply inF; apply in_app_iff in inz; rewrite !filter_In in inz; tauto.
  - rewrite <- app_assoc, (app_assoc (filter g F)), map_app, (map_app g (_ ++ _)).
    rewrite (map_constant g false), (map_constant g true), (map_constant g false).
    + apply one_block.
    + intros z inz; apply filter_In in inz; apply negb_true_iff; tauto.
    + intros z inz; apply in_app_iff in inz; rewrite !filter_In in inz; tauto.
    + intros z inz; apply filter_In in inz; apply negb_true_iff; tauto.
Qed.

(** and two prompts cost nothing in either order. *)
Theorem two_prompts_cost_nothing (f : nat -> bool) i j : n_ranges (map f [i; j]) <= 1.
Proof. unfold n_ranges; simpl; destruct (f i), (f j); simpl; lia. Qed.

(** ** A module for each pair of prompts: in any order nearly twice the reads *)

Fixpoint pairs (l : list nat) : list (nat * nat) :=
  match l with [] => [] | i :: rest => map (pair i) rest ++ pairs rest end.

(** The module that prompts i and j have. *)
Definition module_of (y : nat * nat) (s : nat) : bool := (s =? fst y) || (s =? snd y).

Lemma single_start before j l :
  NoDup l -> In j l ->
  count_starts before (map (Nat.eqb j) l) = if before && (hd 0 l =? j) then 0 else 1.
Proof.
  intros once; revert before; induction once as [|i l new once IH]; intros before inj;
    [destruct inj|].
  assert (forall before, ~ In j l -> count_starts before (map (Nat.eqb j) l) = 0) as none.
  { clear; induction l as [|z l IH]; intros before out; simpl; [reflexivity|].
    rewrite (proj2 (Nat.eqb_neq j z)) by (intros ->; apply out; left; reflexivity).
    apply IH; intros inl; apply out; right; exact inl. }
  simpl; rewrite (Nat.eqb_sym i j); destruct (Nat.eqb_spec j i) as [->|other]; simpl.
  - rewrite (none true new); destruct before; reflexivity.
  - destruct inj as [E|inj]; [congruence|]; rewrite (IH false inj); simpl.
    destruct before; reflexivity.
Qed.

Lemma sum_of_more (f g : nat -> nat) l :
  (forall j, In j l -> f j = 1 + g j) -> list_sum (map f l) = length l + list_sum (map g l).
Proof.
  induction l as [|j l IH]; simpl; intros more; [reflexivity|].
  rewrite (more j), IH by auto; lia.
Qed.

(** RUNS-9: b prompts, and a module for each two of them. Any order needs (b - 1)^2 reads, where
    b (b - 1) / 2 would do. *)
Theorem all_pairs order :
  NoDup order ->
  list_sum (map (fun y => n_ranges (map (module_of y) order)) (pairs order)) =
    (length order - 1) * (length order - 1) /\
  2 * length (pairs order) = length order * (length order - 1).
Proof.
  induction 1 as [|i l new once [IH count]]; [split; reflexivity|].
  split; [|simpl pairs; rewrite app_length, map_length; simpl length; destruct l; simpl in *; nia].
  simpl pairs; rewrite map_app, list_sum_app, map_map.
  assert (list_sum (map (fun y => n_ranges (map (module_of y) (i :: l))) (pairs l)) =
          (length l - 1) * (length l - 1)) as ->.
  { rewrite <- IH; f_equal; apply map_ext_in; intros [j k] iny.
    assert (In j l /\ In k l) as [inj ink].
    { clear - iny; induction l as [|z l IH]; simpl in *; [destruct iny|].
      apply in_app_iff in iny; destruct iny as [iny|iny]; [|destruct (IH iny); auto].
      apply in_map_iff in iny; destruct iny as (k' & E & ink); injection E as <- <-; auto. }
    unfold n_ranges, module_of; simpl.
    rewrite (proj2 (Nat.eqb_neq i j)), (proj2 (Nat.eqb_neq i k)) by (intros ->; auto).
    reflexivity. }
  rewrite (sum_of_more (fun j => n_ranges (map (module_of (i, j)) (i :: l)))
                       (fun j => if hd 0 l =? j then 0 else 1)).
  2: { intros j inj; unfold n_ranges, module_of; simpl; rewrite Nat.eqb_refl; simpl; f_equal.
       rewrite (map_ext_in _ (Nat.eqb j)); [rewrite single_start; [reflexivity | assumption..]|].
       intros s ins; rewrite (proj2 (Nat.eqb_neq s i)) by (intros ->; auto); apply Nat.eqb_sym. }
  destruct once as [|j l new' once]; [reflexivity|]; simpl hd; simpl map; rewrite Nat.eqb_refl.
  assert (list_sum (map (fun k => if j =? k then 0 else 1) l) = length l) as E.
  { clear - new'; induction l as [|k l IH]; simpl in *; [reflexivity|].
    rewrite (proj2 (Nat.eqb_neq j k)) by (intros ->; auto); rewrite IH; auto. }
  simpl list_sum; rewrite E; simpl length; nia.
Qed.
