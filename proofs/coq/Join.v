(* SPDX-License-Identifier: Apache-2.0 *)
(** * Join keeps the tree valid, and makes what it is asked for (spec/tree.md: TREE-8, TREE-9) *)
From Coq Require Import List Arith Bool Lia.
From Chunkproof Require Import Plan Tree Operations Shape Forest.
Import ListNotations.

(** ** Parts of a prompt *)

Lemma chunks_for_spec n c :
  1 <= c ->
  n <= chunks_for n c * c /\ n / c <= chunks_for n c /\
  (forall j, j < chunks_for n c -> j * c < n) /\ (forall j, j < n / c -> (j + 1) * c <= n).
Proof.
  intros pos; unfold chunks_for; pose proof (Nat.div_mod n c ltac:(lia)) as E.
  pose proof (Nat.mod_upper_bound n c ltac:(lia)) as below.
  rewrite Nat.mul_comm in E; repeat split.
  - destruct (Nat.eqb_spec (n mod c) 0); lia.
  - destruct (n mod c =? 0); lia.
  - intros j lt; destruct (Nat.eqb_spec (n mod c) 0).
    + assert ((j + 1) * c <= n / c * c) by (apply Nat.mul_le_mono_r; lia); lia.
    + assert (j * c <= n / c * c) by (apply Nat.mul_le_mono_r; lia); lia.
  - intros j lt; assert ((j + 1) * c <= n / c * c) by (apply Nat.mul_le_mono_r; lia); lia.
Qed.

Lemma parts_length c n tokens : length (parts_of c n tokens) = n.
Proof. unfold parts_of; rewrite map_length; apply seq_length. Qed.

Lemma parts_nth c n tokens k :
  k < n -> nth_error (parts_of c n tokens) k = Some (firstn c (skipn (k * c) tokens)).
Proof.
  intros lt; unfold parts_of.
  rewrite (map_nth_error _ k (seq 0 n) (d := k)); [reflexivity|].
  rewrite (error_of_nth _ k 0) by (rewrite seq_length; exact lt); rewrite seq_nth by exact lt.
  reflexivity.
Qed.

(** ** TREE-8: the chunks that a lookup finds *)

Lemma agree_spec f l parts k :
  k < agree f l parts ->
  exists x, nth_error l k = Some x /\ nth_error parts k = Some (tokens_in f x).
Proof.
  revert parts k; induction l as [|x l IH]; intros [|t parts] k; simpl; try lia.
  unfold same_tokens; destruct (list_eq_dec Nat.eq_dec (tokens_in f x) t) as [E|_]; [|lia].
  destruct k as [|k]; intros lt; [exists x; simpl; subst; auto|].
  destruct (IH parts k ltac:(lia)) as (y & Ey & Et); exists y; auto.
Qed.

Lemma agree_at_most f l parts : agree f l parts <= length l /\ agree f l parts <= length parts.
Proof.
  revert parts; induction l as [|x l IH]; intros [|t parts]; simpl; try lia.
  destruct (same_tokens _ _); [specialize (IH parts)|]; lia.
Qed.

Lemma longest_from f parts z s ms best :
  (forall i, nth i ms nobody = member_at f (s + i)) ->
  (fst best <= agree f (path_of f (snd best)) parts) ->
  let found := longest f parts z s ms best in
  fst found <= agree f (path_of f (snd found)) parts.
Proof.
  revert s best; induction ms as [|m ms IH]; intros s best at_ low; [exact low|]; simpl.
  apply IH.
  - intros i; specialize (at_ (S i)); rewrite Nat.add_succ_r in at_; exact at_.
  - pose proof (at_ 0) as E; simpl in E; rewrite Nat.add_0_r in E.
    destruct (fst best <? match_of f parts z m); [|exact low]; simpl.
    unfold match_of, path_of; rewrite <- E; destruct (salt m =? z); lia.
Qed.

Theorem lookup_finds f tokens z k s :
  1 <= c f -> lookup f tokens z = (k, s) ->
  k <= length (path_of f s) /\ k <= length tokens / c f /\
  forall j, j < k -> exists x, nth_error (path_of f s) j = Some x /\
    tokens_in f x = firstn (c f) (skipn (j * c f) tokens) /\ filled f x = c f.
Proof.
  intros pos E; unfold lookup in E.
  pose proof (longest_from f (parts_of (c f) (length tokens / c f) tokens) z 0 (members f) (0, 0)
                (fun i => eq_refl) (Nat.le_0_l _)) as low; simpl in low; rewrite E in low.
  simpl in low; pose proof (agree_at_most f (path_of f s)
                              (parts_of (c f) (length tokens / c f) tokens)) as [l1 l2].
  rewrite parts_length in l2; split; [lia|]; split; [lia|]; intros j lt.
  destruct (agree_spec f (path_of f s) _ j (Nat.lt_le_trans _ _ _ lt low)) as (x & Ex & Et).
  rewrite parts_nth in Et by lia; injection Et as Et; exists x; split; [exact Ex|].
  split; [symmetry; exact Et|]; unfold filled; rewrite <- Et, firstn_length, skipn_length.
  destruct (chunks_for_spec (length tokens) (c f) pos) as (_ & _ & _ & whole).
  specialize (whole j ltac:(lia)); lia.
Qed.

(** ** New chunks *)

Lemma put_all_length l ct : length (put_all l ct) = length ct.
Proof.
  unfold put_all; revert ct; induction l as [|[x t] l IH]; intros ct; simpl; [reflexivity|].
  rewrite IH; apply put_length.
Qed.

Lemma put_all_other l ct y :
  ~ In y (map fst l) -> nth y (put_all l ct) [] = nth y ct [].
Proof.
  unfold put_all; revert ct; induction l as [|[x t] l IH]; intros ct out; simpl in *;
    [reflexivity|].
  rewrite IH by tauto; rewrite nth_put; destruct (Nat.eqb_spec y x) as [->|]; [tauto | reflexivity].
Qed.

Lemma put_all_new new rest ct i x t :
  NoDup new -> nth_error new i = Some x -> nth_error rest i = Some t -> x < length ct ->
  nth x (put_all (combine new rest) ct) [] = t.
Proof.
  unfold put_all; revert rest ct i; induction new as [|y new IH]; intros rest ct i N Ex Et small.
  { destruct i; discriminate. }
  destruct rest as [|u rest]; [destruct i; discriminate|].
  apply NoDup_cons_iff in N; destruct N as [out N]; destruct i as [|i]; simpl in *.
  - injection Ex as ->; injection Et as ->; fold (put_all (combine new rest) (put x t ct)).
    rewrite put_all_other, nth_put, Nat.eqb_refl, (proj2 (Nat.ltb_lt _ _) small); [reflexivity|].
    intros inx; apply in_map_iff in inx; destruct inx as ([x' u'] & E & inx); simpl in E; subst.
    apply in_combine_l in inx; contradiction.
  - apply (IH rest (put y u ct) i); auto; rewrite put_length; exact small.
Qed.

Lemma in_firstn {T} (l : list T) k x : In x (firstn k l) -> In x l.
Proof. intros inx; rewrite <- (firstn_skipn k l); apply in_or_app; auto. Qed.

Lemma nodup_firstn {T} (l : list T) k : NoDup l -> NoDup (firstn k l).
Proof.
  intros N; rewrite <- (firstn_skipn k l) in N.
  revert N; generalize (skipn k l).
  induction (firstn k l) as [|x l' IH]; intros r N; [constructor|].
  simpl in N; apply NoDup_cons_iff in N; destruct N as [out N]; constructor; [|apply (IH r N)].
  intros inx; apply out, in_or_app; auto.
Qed.

(** ** TREE-9 *)

Theorem join_keeps_the_tree f tokens z name g said :
  forest_ok f -> join f tokens z name = Made g said -> forest_ok g.
Proof.
  intros ok; pose proof ok as (pos & len & Sh); unfold join.
  destruct (lookup f tokens z) as [k from] eqn:L.
  destruct (lookup_finds f tokens z k from pos L) as (klen & kdiv & found).
  set (n := chunks_for (length tokens) (c f)); set (new := firstn (n - k) (free f)).
  set (q := firstn k (chunks (member_at f from))).
  set (e := match k with 0 => n_members f | S j => ends (nth j q 0) (members f) end).
  destruct (most_chunks f <? n); [discriminate|].
  destruct (most_members f <=? n_members f); [discriminate|].
  destruct (Nat.ltb_spec (length (free f)) (n - k)) as [|room]; [discriminate|].
  intros [= <- _].
  destruct (chunks_for_spec (length tokens) (c f) pos) as (all & few & before_ & whole);
    fold n in all, few, before_.
  assert (length new = n - k) as lnew by (unfold new; rewrite firstn_length; lia).
  assert (isnew : forall x, In x new -> x < pool f /\ forall s, ~ In x (path_of f s))
    by (intros x inx; apply free_spec, (in_firstn _ _ _ inx)).
  assert (NoDup new) as nodup by (apply nodup_firstn, free_nodup).
  set (rest := skipn k (parts_of (c f) n tokens)).
  assert (part : forall i x, nth_error new i = Some x ->
            nth x (put_all (combine new rest) (content f)) [] =
            firstn (c f) (skipn ((k + i) * c f) tokens)).
  { intros i x E; assert (i < n - k) by (rewrite <- lnew; apply nth_error_Some; congruence).
    apply put_all_new with i; auto.
    - unfold rest; rewrite <- (parts_nth (c f) n tokens (k + i)) by lia.
      rewrite <- (firstn_skipn k (parts_of (c f) n tokens)) at 2.
      rewrite nth_error_app2; rewrite firstn_length, parts_length, Nat.min_l by lia; [|lia].
      f_equal; lia.
    - rewrite len; apply isnew, (nth_error_In _ _ E). }
  (* where the deepest shared chunk ends *)
  assert (spot : forall j, k = S j -> exists y e',
            nth_error (path_of f from) j = Some y /\ ends y (members f) = S e' /\ e = S e' /\
            e' < n_members f /\ nth_error (path_of f e') j = Some y).
  { intros j Ek; destruct (found j ltac:(lia)) as (y & Ey & _).
    assert (nth j q 0 = y) as Eq.
    { apply nth_of_error; unfold q; rewrite nth_error_firstn_below by lia; exact Ey. }
    pose proof (ends_above y (members f) from (nth_error_In _ _ Ey)) as above_.
    destruct (ends y (members f)) as [|e'] eqn:Ee; [lia|].
    destruct (ends_last y (members f) e' Ee) as [small iny].
    exists y, e'; repeat split; auto.
    - unfold e; rewrite Ek, Eq; exact Ee.
    - apply (above _ _ _ _ from e' j j y y Sh Ey (le_n _) Ey iny). }
  assert (e <= length (members f)) as inside.
  { destruct k as [|j]; [unfold e, n_members; lia|].
    destruct (spot j eq_refl) as (y & e' & _ & _ & -> & lt & _); exact lt. }
  split; [exact pos|]; split; [simpl; rewrite put_all_length; exact len|]; simpl.
  apply (shape_same _ _ (with_row e (firstn k (path_of f from) ++ new) (path_of f)) _
           (fun x => length (nth x (put_all (combine new rest) (content f)) []))).
  { intros r; unfold path_of at 1; unfold member_at at 1; simpl.
    rewrite path_with_row by exact inside; reflexivity. }
  { reflexivity. }
  apply shape_with_row with (fl := filled f); auto.
  - intros s x ins; rewrite put_all_other; [reflexivity|].
    intros inx; apply in_map_iff in inx; destruct inx as ([x' u] & E & inx); simpl in E; subst.
    apply in_combine_l, isnew in inx; apply (proj2 inx s ins).
  - intros x inx; apply In_nth_error in inx; destruct inx as [j Ej].
    assert (j < k) as lt.
    { apply Nat.lt_le_trans with (length (firstn k (path_of f from))).
      - apply nth_error_Some; congruence.
      - rewrite firstn_length; lia. }
    rewrite nth_error_firstn_below in Ej by exact lt.
    destruct (found j lt) as (x' & Ex & _ & full); congruence.
  - intros x inx; destruct (isnew x inx) as [small un]; split; [exact small|]; split; [|exact un].
    apply In_nth_error in inx; destruct inx as [i E]; rewrite (part i x E).
    assert (i < n - k) by (rewrite <- lnew; apply nth_error_Some; congruence).
    rewrite firstn_length, skipn_length; specialize (before_ (k + i) ltac:(lia)); lia.
  - intros i x E; rewrite (part i x E), firstn_length, skipn_length; intros less.
    assert (i < n - k) by (rewrite <- lnew; apply nth_error_Some; congruence).
    destruct (Nat.eq_dec (n - k) (S i)) as [|ne]; [congruence|exfalso].
    specialize (before_ (k + i + 1) ltac:(lia)); lia.
  - intros x inx; destruct k as [|j]; [contradiction|].
    destruct (spot j eq_refl) as (y & e' & Ey & _ & -> & lt & Ey'); split; [lia|].
    rewrite Nat.sub_succ, Nat.sub_0_r; apply In_nth_error in inx; destruct inx as [i Ei].
    assert (i < S j) as lti.
    { apply Nat.lt_le_trans with (length (firstn (S j) (path_of f from))).
      - apply nth_error_Some; congruence.
      - rewrite firstn_length; lia. }
    rewrite nth_error_firstn_below in Ei by exact lti.
    apply (nth_error_In _ i), (above _ _ _ _ from e' i j x y Sh Ey ltac:(lia) Ei).
    apply (nth_error_In _ _ Ey').
  - intros i l x le ini inl; destruct k as [|j].
    + exfalso; unfold e in le; unfold path_of, member_at in inl.
      rewrite nth_overflow in inl by (unfold n_members in le; lia); contradiction.
    + destruct (spot j eq_refl) as (y & e' & Ey & Ee & Ee' & lt & Ey').
      assert (In x (path_of f e')) as ine'
        by (apply (together _ _ _ _ Sh i e' l x); auto; lia).
      assert (In x (path_of f e)) as ine by (apply (together _ _ _ _ Sh i e l x); auto; lia).
      apply In_nth_error in ine'; destruct ine' as [d Ed].
      destruct (Nat.le_gt_cases d j) as [shallow|deep].
      * apply (nth_error_In _ d); rewrite nth_error_firstn_below by lia.
        apply (above _ _ _ _ e' from d j x y Sh Ey' shallow Ed (nth_error_In _ _ Ey)).
      * exfalso; pose proof (above _ _ _ _ e' e j d y x Sh Ed ltac:(lia) Ey' ine) as Ey''.
        pose proof (ends_above y (members f) e (nth_error_In _ _ Ey'')); lia.
Qed.

(** ** Every forest that operations make *)

Inductive reachable : forest -> Prop :=
  | reachable_new n c_ depth_ sequences_ : 1 <= c_ -> reachable (new_forest n c_ depth_ sequences_)
  | reachable_join f tokens z name g said :
      reachable f -> join f tokens z name = Made g said -> reachable g
  | reachable_append f l g said : reachable f -> append_each f l = Made g said -> reachable g
  | reachable_leave f s g said : reachable f -> leave f s = Made g said -> reachable g
  | reachable_fork f s name g said : reachable f -> fork f s name = Made g said -> reachable g.

Theorem reachable_is_ok f : reachable f -> tree_ok (tree_of f) /\ valid (build (tree_of f)).
Proof.
  intros R; assert (forest_ok f) as ok.
  { induction R as [n c_ depth_ sequences_ pos| | | | ].
    - split; [exact pos|]; split; [apply repeat_length|].
      assert (none : forall s, path_of (new_forest n c_ depth_ sequences_) s = [])
        by (intros [|s]; reflexivity).
      constructor; intros *; rewrite ?none; simpl; try contradiction.
      + destruct k; discriminate.
      + destruct k; discriminate.
    - eapply join_keeps_the_tree; eassumption.
    - eapply append_keeps_the_tree; eassumption.
    - eapply leave_keeps_the_tree; eassumption.
    - eapply fork_keeps_the_tree; eassumption. }
  pose proof (tree_of_is_ok f ok) as T; split; [exact T|].
  apply (tree_plan_is_valid (tree_of f)); [exact T | apply build_is_plan_of, T].
Qed.
