(* SPDX-License-Identifier: Apache-2.0 *)
(** * Append, leave and fork keep the tree valid (spec/tree.md: TREE-1 to TREE-5, TREE-10 to
    TREE-12) *)
From Coq Require Import List Arith Bool Lia.
From Chunkproof Require Import Plan Tree Operations Shape.
Import ListNotations.

(** ** The forest *)

Definition path_of (f : forest) (s : nat) : list nat := chunks (member_at f s).

Definition forest_ok (f : forest) : Prop :=
  1 <= c f /\ length (content f) = pool f /\ shape (c f) (pool f) (path_of f) (filled f).

Lemma has_In x m : has x m = true <-> In x (chunks m).
Proof.
  unfold has; rewrite existsb_exists; split.
  - intros (y & iny & E); apply Nat.eqb_eq in E; subst; exact iny.
  - intros inx; exists x; rewrite Nat.eqb_refl; auto.
Qed.

Lemma begins_first x ms s :
  In x (chunks (nth s ms nobody)) ->
  begins x ms <= s /\ In x (chunks (nth (begins x ms) ms nobody)).
Proof.
  revert s; induction ms as [|m ms IH]; intros [|s]; simpl; try contradiction; intros inx.
  - apply has_In in inx as E; rewrite E; auto.
  - destruct (has x m) eqn:E; [apply has_In in E; split; [lia | exact E]|].
    destruct (IH s inx); split; [lia | assumption].
Qed.

Lemma ends_above x ms s : In x (chunks (nth s ms nobody)) -> s < ends x ms.
Proof.
  revert s; induction ms as [|m ms IH]; intros [|s]; simpl; try contradiction; intros inx.
  - apply has_In in inx; rewrite inx; destruct (ends x ms); lia.
  - apply IH in inx; destruct (ends x ms); lia.
Qed.

Lemma ends_last x ms e :
  ends x ms = S e -> e < length ms /\ In x (chunks (nth e ms nobody)).
Proof.
  revert e; induction ms as [|m ms IH]; simpl; [discriminate|]; intros e.
  destruct (ends x ms) as [|e'] eqn:E.
  - destruct (has x m) eqn:H; [|discriminate]; intros [= <-]; apply has_In in H.
    split; [lia | exact H].
  - intros [= <-]; destruct (IH e' eq_refl); split; [lia | assumption].
Qed.

Lemma in_use_spec f x : in_use f x = true <-> exists s, In x (path_of f s).
Proof.
  unfold in_use, path_of, member_at; rewrite existsb_exists; split.
  - intros (m & inm & H); apply has_In in H; apply (In_nth _ _ nobody) in inm.
    destruct inm as (s & _ & <-); exists s; exact H.
  - intros (s & ins); exists (nth s (members f) nobody); split; [|apply has_In, ins].
    destruct (Nat.lt_ge_cases s (length (members f))) as [lt|ge]; [apply nth_In, lt|].
    rewrite nth_overflow in ins by exact ge; contradiction.
Qed.

Lemma place_in_spec x l : In x l -> nth_error l (place_in x l) = Some x.
Proof.
  induction l as [|y l IH]; simpl; [contradiction|]; intros inx.
  destruct (Nat.eqb_spec x y) as [->|ne]; [reflexivity|].
  apply IH; destruct inx as [->|inx]; [contradiction | exact inx].
Qed.

Lemma nth_of_error {T} (l : list T) k x d : nth_error l k = Some x -> nth k l d = x.
Proof. apply nth_error_nth. Qed.

Lemma error_of_nth {T} (l : list T) k d : k < length l -> nth_error l k = Some (nth k l d).
Proof. apply nth_error_nth'. Qed.

(** TREE-1 to TREE-5. *)
Theorem tree_of_is_ok f : forest_ok f -> tree_ok (tree_of f).
Proof.
  intros (pos & len & Sh).
  assert (used_ : forall x, in_use f x = true ->
            In x (path_of f (begins x (members f))) /\
            In x (path_of f (ends x (members f) - 1)) /\
            begins x (members f) < ends x (members f) <= n_members f).
  { intros x us; apply in_use_spec in us; destruct us as [s ins].
    pose proof (begins_first x (members f) s ins) as [le inb].
    pose proof (ends_above x (members f) s ins) as lt.
    destruct (ends x (members f)) as [|e] eqn:E; [lia|].
    pose proof (ends_last x (members f) e E) as [small ine].
    repeat split; auto; unfold n_members; try lia.
    rewrite Nat.sub_succ, Nat.sub_0_r; exact ine. }
  assert (inside : forall s x, In x (path_of f s) ->
            begins x (members f) <= s < ends x (members f)).
  { intros s x ins; split; [apply (begins_first x (members f) s ins) | apply ends_above, ins]. }
  assert (is_used : forall s x, In x (path_of f s) -> in_use f x = true)
    by (intros s x ins; apply in_use_spec; exists s; exact ins).
  assert (placed : forall s k x, nth_error (path_of f s) k = Some x ->
            place_in x (path_of f (begins x (members f))) = k).
  { intros s k x E; pose proof (is_used s x (nth_error_In _ _ E)) as us.
    destruct (used_ x us) as [inb _]; apply place_in_spec in inb.
    apply (rooted _ _ _ _ Sh _ _ _ _ x inb E). }
  repeat split; simpl in *.
  - exact pos.
  - intros x us; destruct (used_ x us) as [inb _]; apply (sized _ _ _ _ Sh _ _ inb).
  - apply (used_ x H).
  - apply (used_ x H).
  - destruct (used_ x H) as [inb _]; apply (sized _ _ _ _ Sh _ _ inb).
  - destruct (used_ x H) as [inb _]; apply (sized _ _ _ _ Sh _ _ inb).
  - destruct (used_ x H) as (inb & ine & rg).
    pose proof (private _ _ _ _ Sh _ _ x inb ine H0); lia.
  - destruct (used_ x H) as (inb & ine & rg); apply place_in_spec in inb as E.
    pose proof (last_one _ _ _ _ Sh _ _ x E H0) as L; unfold path_of in L, E; simpl in L.
    rewrite Nat.add_1_r; symmetry; exact L.
  - apply (is_used s), nth_In, H0.
  - apply (placed s), error_of_nth, H0.
  - apply inside, nth_In, H0.
  - apply inside, nth_In, H0.
  - destruct (used_ x H) as (inb & ine & rg); apply place_in_spec in inb as E.
    assert (In x (path_of f s)) as ins
      by (apply (together _ _ _ _ Sh (begins x (members f)) s (ends x (members f) - 1) x);
          auto; lia).
    apply (above _ _ _ _ _ s _ _ x x Sh E (le_n _) E) in ins.
    apply nth_error_Some; unfold path_of in *; congruence.
  - destruct (used_ x H) as (inb & ine & rg); apply place_in_spec in inb as E.
    assert (In x (path_of f s)) as ins
      by (apply (together _ _ _ _ Sh (begins x (members f)) s (ends x (members f) - 1) x);
          auto; lia).
    apply (above _ _ _ _ _ s _ _ x x Sh E (le_n _) E) in ins; apply (nth_of_error _ _ _ 0 ins).
  - set (x := nth j (chunks (member_at f s)) 0); set (y := nth k (chunks (member_at f s)) 0).
    assert (nth_error (path_of f s) j = Some x) as Ex by (apply error_of_nth; unfold path_of; lia).
    assert (nth_error (path_of f s) k = Some y) as Ey by (apply error_of_nth; unfold path_of; lia).
    destruct (used_ y (is_used s y (nth_error_In _ _ Ey))) as (inb & ine & rg).
    apply (above _ _ _ _ s _ j k x y Sh Ey ltac:(lia) Ex) in inb.
    apply (inside _ x (nth_error_In _ _ inb)).
  - set (x := nth j (chunks (member_at f s)) 0); set (y := nth k (chunks (member_at f s)) 0).
    assert (nth_error (path_of f s) j = Some x) as Ex by (apply error_of_nth; unfold path_of; lia).
    assert (nth_error (path_of f s) k = Some y) as Ey by (apply error_of_nth; unfold path_of; lia).
    destruct (used_ y (is_used s y (nth_error_In _ _ Ey))) as (inb & ine & rg).
    apply (above _ _ _ _ s _ j k x y Sh Ey ltac:(lia) Ex) in ine.
    pose proof (inside _ x (nth_error_In _ _ ine)); lia.
Qed.

(** ** Lists *)

Lemma nth_insert {T} (y d : T) e l s :
  e <= length l ->
  nth s (insert e y l) d =
  if s <? e then nth s l d else if s =? e then y else nth (s - 1) l d.
Proof.
  unfold insert; revert l s; induction e as [|e IH]; intros l s le; simpl.
  - destruct s as [|s]; simpl; [reflexivity | rewrite Nat.sub_0_r; reflexivity].
  - destruct l as [|z l]; simpl in le; [lia|]; destruct s as [|s]; [reflexivity|].
    simpl nth at 1; simpl skipn; rewrite (IH l s) by lia.
    change (S s <? S e) with (s <? e); simpl.
    destruct (Nat.ltb_spec s e); [reflexivity|].
    destruct (Nat.eqb_spec s e); [reflexivity|].
    destruct s as [|s]; [lia|]; simpl; rewrite Nat.sub_0_r; reflexivity.
Qed.

Lemma nth_remove {T} (d : T) k l s :
  nth s (remove_at k l) d = nth (if s <? k then s else S s) l d.
Proof.
  unfold remove_at; revert l s; induction k as [|k IH]; intros [|z l] s; simpl.
  - destruct s; reflexivity.
  - reflexivity.
  - destruct (s <? S k), s; reflexivity.
  - destruct s as [|s]; [reflexivity|]; simpl in IH; rewrite (IH l s).
    change (S s <? S k) with (s <? k); destruct (s <? k); reflexivity.
Qed.

Lemma put_length {T} i (y : T) l : length (put i y l) = length l.
Proof. revert i; induction l as [|z l IH]; intros [|i]; simpl; auto. Qed.

Lemma nth_put {T} (d : T) i y l j :
  nth j (put i y l) d = if (j =? i) && (i <? length l) then y else nth j l d.
Proof.
  revert i j; induction l as [|z l IH]; intros i j.
  - simpl; rewrite andb_false_r; destruct i; reflexivity.
  - destruct i as [|i], j as [|j]; simpl; auto.
    rewrite IH; reflexivity.
Qed.

Lemma shape_same c cap ps ps' fl fl' :
  (forall s, ps' s = ps s) -> (forall x, fl' x = fl x) -> shape c cap ps fl -> shape c cap ps' fl'.
Proof.
  intros Ep Ef Sh; constructor; intros *; rewrite ?Ep, ?Ef; apply Sh.
Qed.

(** ** What is used, and what is free *)

Lemma free_spec f x : In x (free f) <-> x < pool f /\ forall s, ~ In x (path_of f s).
Proof.
  unfold free; rewrite filter_In, in_seq; split.
  - intros [[_ small] un]; split; [exact small|]; intros s ins.
    assert (in_use f x = true) as us by (apply in_use_spec; exists s; exact ins).
    rewrite us in un; discriminate.
  - intros [small un]; split; [lia|]; destruct (in_use f x) eqn:us; [|reflexivity].
    apply in_use_spec in us; destruct us as [s ins]; destruct (un s ins).
Qed.

Lemma free_nodup f : NoDup (free f).
Proof. apply NoDup_filter, seq_NoDup. Qed.

Lemma tail_spec m :
  match tail m with
  | None => chunks m = []
  | Some x => chunks m = removelast (chunks m) ++ [x]
  end.
Proof.
  unfold tail; destruct (rev (chunks m)) as [|x l] eqn:E;
    apply (f_equal (@rev nat)) in E; rewrite rev_involutive in E; [exact E|].
  rewrite E; simpl; rewrite removelast_last; reflexivity.
Qed.

(** Without a chunk that has room, all chunks of a path are full. *)
Lemma not_roomy f s x :
  forest_ok f -> roomy f (member_at f s) = None -> In x (path_of f s) -> filled f x = c f.
Proof.
  intros (_ & _ & Sh) none ins; destruct (sized _ _ _ _ Sh s x ins) as [_ [_ most]].
  destruct (Nat.eq_dec (filled f x) (c f)) as [E|ne]; [exact E|exfalso].
  apply In_nth_error in ins; destruct ins as [k E].
  pose proof (last_one _ _ _ _ Sh s k x E ltac:(lia)) as L.
  pose proof (tail_spec (member_at f s)) as T; unfold roomy in none; unfold path_of in *.
  destruct (tail (member_at f s)) as [y|]; [|rewrite T in E; destruct k; discriminate].
  assert (x = y) as ->.
  { rewrite T, app_length in L; simpl in L.
    rewrite T, nth_error_app2 in E by lia.
    replace (k - length (removelast (chunks (member_at f s)))) with 0 in E by lia.
    simpl in E; congruence. }
  destruct (Nat.ltb_spec (filled f y) (c f)); [discriminate | lia].
Qed.

Lemma is_roomy f s x :
  roomy f (member_at f s) = Some x ->
  path_of f s = removelast (path_of f s) ++ [x] /\ filled f x < c f.
Proof.
  unfold roomy, path_of; pose proof (tail_spec (member_at f s)) as T.
  destruct (tail (member_at f s)) as [y|]; [|discriminate].
  destruct (Nat.ltb_spec (filled f y) (c f)); [|discriminate].
  intros [= <-]; auto.
Qed.

(** ** TREE-11 *)

Theorem leave_keeps_the_tree f s g said : forest_ok f -> leave f s = Made g said -> forest_ok g.
Proof.
  intros (pos & len & Sh); unfold leave; destruct (n_members f <=? s); [discriminate|].
  intros [= <-]; split; [exact pos|]; split; [exact len|]; simpl.
  apply (shape_same _ _ (fun r => path_of f (if r <? s then r else S r)) _ (filled f)).
  - intros r; unfold path_of, member_at; simpl; rewrite nth_remove; reflexivity.
  - reflexivity.
  - apply shape_renumbered; [|exact Sh].
    intros i j lt; destruct (Nat.ltb_spec i s), (Nat.ltb_spec j s); lia.
Qed.

(** ** TREE-10 *)

Lemma append_one_keeps_the_tree f s token g :
  forest_ok f -> s < n_members f -> append_one f s token = Some g ->
  forest_ok g /\ n_members g = n_members f.
Proof.
  intros ok small; pose proof ok as (pos & len & Sh); unfold append_one.
  destruct (roomy f (member_at f s)) as [x|] eqn:R.
  - intros [= <-]; split; [|reflexivity]; destruct (is_roomy f s x R) as [E part].
    assert (In x (path_of f s)) as ins by (rewrite E; apply in_or_app; right; left; reflexivity).
    split; [exact pos|]; split; [simpl; rewrite put_length; exact len|]; simpl.
    apply (shape_grown _ _ _ (filled f)); [|exact Sh].
    intros r y iny; unfold filled, tokens_in; simpl; rewrite nth_put.
    destruct (sized _ _ _ _ Sh r y iny) as [_ [_ most]]; unfold filled, tokens_in in most, part.
    destruct (Nat.eqb_spec y x) as [->|ne]; [|simpl; lia].
    destruct (x <? length (content f)); simpl; [|lia].
    rewrite app_length; simpl; lia.
  - destruct (free f) as [|x rest] eqn:F; [discriminate|].
    intros [= <-]; split; [|unfold n_members; simpl; apply put_length].
    assert (In x (free f)) as inf by (rewrite F; left; reflexivity).
    apply free_spec in inf; destruct inf as [inp new].
    split; [exact pos|]; split; [simpl; rewrite put_length; exact len|]; simpl.
    assert (forall y, filled (changed f
              (put s (Member (id (member_at f s)) (salt (member_at f s))
                             (chunks (member_at f s) ++ [x])) (members f))
              (put x [token] (content f)) 1 0) y =
            if y =? x then 1 else filled f y) as fills.
    { intros y; unfold filled, tokens_in; simpl; rewrite nth_put, len, (proj2 (Nat.ltb_lt _ _) inp).
      destruct (y =? x); reflexivity. }
    apply (shape_same _ _ (fun r => if r =? s then path_of f s ++ [x] else path_of f r) _
             (fun y => if y =? x then 1 else filled f y)); [|exact fills|].
    + intros r; unfold path_of, member_at; simpl; rewrite nth_put.
      fold (n_members f); rewrite (proj2 (Nat.ltb_lt _ _) small), andb_true_r.
      destruct (r =? s); reflexivity.
    + apply shape_longer with (filled f); auto.
      * rewrite Nat.eqb_refl; lia.
      * intros y ne; destruct (Nat.eqb_spec y x); [contradiction | reflexivity].
      * intros y iny; apply (not_roomy f s y ok R iny).
Qed.

Lemma may_append f least l :
  cannot_append f least l = None -> Forall (fun st => fst st < n_members f) l.
Proof.
  revert least; induction l as [|[s t] l IH]; simpl; intros least; [constructor|].
  destruct (Nat.leb_spec (n_members f) s); [rewrite orb_true_r; discriminate|].
  destruct (s <? least); simpl; [discriminate|].
  destruct (needs_chunk _ _ && _); [discriminate|].
  intros none; constructor; [exact H | apply (IH (S s) none)].
Qed.

Theorem append_keeps_the_tree f l g said :
  forest_ok f -> append_each f l = Made g said -> forest_ok g.
Proof.
  intros ok; unfold append_each.
  destruct (cannot_append f 0 l) eqn:N; [discriminate|]; apply may_append in N.
  destruct (append_all f l) as [h|] eqn:A; [|discriminate]; intros [= <-].
  assert (forest_ok h) as okh.
  { revert f ok N A; induction l as [|[s t] l IH]; simpl; intros f ok N A; [congruence|].
    inversion N as [|st l' small N']; subst; simpl in *.
    destruct (append_one f s t) as [f'|] eqn:O; [|discriminate].
    destruct (append_one_keeps_the_tree f s t f' ok small O) as [ok' E].
    apply (IH f' ok'); [rewrite E; exact N' | exact A]. }
  exact okh.
Qed.

(** ** TREE-12 *)

Lemma path_with_row e m ms s :
  e <= length ms ->
  chunks (nth s (insert e m ms) nobody) =
  with_row e (chunks m) (fun r => chunks (nth r ms nobody)) s.
Proof.
  intros le; rewrite nth_insert by exact le; unfold with_row.
  destruct (s <? e); [reflexivity|]; destruct (s =? e); reflexivity.
Qed.

Theorem fork_keeps_the_tree f s name g said :
  forest_ok f -> fork f s name = Made g said -> forest_ok g.
Proof.
  intros ok; pose proof ok as (pos & len & Sh); unfold fork.
  destruct (Nat.leb_spec (n_members f) s) as [|small]; [discriminate|].
  destruct (most_members f <=? n_members f); [discriminate|].
  assert (s + 1 <= length (members f)) as inside by (unfold n_members in small; lia).
  destruct (roomy f (member_at f s)) as [x|] eqn:R.
  - destruct (free f) as [|y rest] eqn:F; [discriminate|]; intros [= <- _].
    destruct (is_roomy f s x R) as [E part].
    assert (In y (free f)) as inf by (rewrite F; left; reflexivity).
    apply free_spec in inf; destruct inf as [iny new].
    assert (In x (path_of f s)) as inx by (rewrite E; apply in_or_app; right; left; reflexivity).
    assert (x <> y) as ne by (intros ->; apply (new s inx)).
    split; [exact pos|]; split; [simpl; rewrite put_length; exact len|]; simpl.
    rewrite removelast_firstn_len.
    set (k := pred (length (chunks (member_at f s)))).
    apply (shape_same _ _ (with_row (s + 1) (firstn k (path_of f s) ++ [y]) (path_of f)) _
             (fun z => if z =? y then filled f x else filled f z)).
    { intros r; unfold path_of at 1; unfold member_at at 1; simpl.
      rewrite path_with_row by exact inside; reflexivity. }
    { intros z; unfold filled, tokens_in; simpl; rewrite nth_put, len, (proj2 (Nat.ltb_lt _ _) iny).
      destruct (z =? y); reflexivity. }
    assert (length (path_of f s) = S k) as lk.
    { unfold k; fold (path_of f s); destruct (path_of f s); [contradiction | reflexivity]. }
    assert (firstn k (path_of f s) = removelast (path_of f s)) as Ek.
    { rewrite removelast_firstn_len, lk; reflexivity. }
    assert (full : forall z, In z (firstn k (path_of f s)) -> filled f z = c f).
    { intros z inz; apply In_nth_error in inz; destruct inz as [i Ei].
      assert (i < k) as lt.
      { apply Nat.lt_le_trans with (length (firstn k (path_of f s))).
        - apply nth_error_Some; congruence.
        - rewrite firstn_length; lia. }
      rewrite nth_error_firstn_below in Ei by exact lt.
      destruct (sized _ _ _ _ Sh s z (nth_error_In _ _ Ei)) as [_ [_ most]].
      destruct (Nat.eq_dec (filled f z) (c f)) as [|less]; [assumption|exfalso].
      pose proof (last_one _ _ _ _ Sh s i z Ei ltac:(lia)); lia. }
    apply shape_with_row with (fl := filled f); auto.
    + lia.
    + intros r z inz; destruct (Nat.eqb_spec z y) as [->|]; [destruct (new r inz) | reflexivity].
    + intros z [<-|[]]; rewrite Nat.eqb_refl; repeat split; auto;
        apply (sized _ _ _ _ Sh s x inx).
    + repeat constructor; intros [].
    + intros i z Ez _; destruct i as [|[|i]]; simpl in Ez; try discriminate; reflexivity.
    + intros z inz; split; [lia|]; rewrite Nat.add_sub.
      rewrite Ek in inz; rewrite E; apply in_or_app; left; exact inz.
    + intros i l z le ini inl; rewrite Ek.
      assert (In z (path_of f s)) as inz by (apply (together _ _ _ _ Sh i s l z); auto; lia).
      rewrite E in inz; apply in_app_iff in inz; destruct inz as [inz|[<-|[]]]; [exact inz|].
      pose proof (private _ _ _ _ Sh s l x inx inl part); lia.
  - assert (made : forall said', Made (changed f
              (insert (s + 1) (Member name (salt (member_at f s)) (chunks (member_at f s)))
                      (members f)) (content f) 1 0) said' = Made g said -> forest_ok g);
      [|destruct (free f); apply made].
    intros said' [= <- _]; split; [exact pos|]; split; [exact len|]; simpl.
    apply (shape_same _ _ (with_row (s + 1) (firstn (length (path_of f s)) (path_of f s) ++ [])
                                    (path_of f)) _ (filled f)).
    { intros r; unfold path_of at 1; unfold member_at at 1; simpl.
      rewrite path_with_row by exact inside; rewrite firstn_all, app_nil_r; reflexivity. }
    { reflexivity. }
    apply shape_with_row with (fl := filled f); auto.
    + intros z inz; rewrite firstn_all in inz; apply (not_roomy f s z ok R inz).
    + intros z [].
    + constructor.
    + intros [|i] z Ez; discriminate.
    + intros z inz; split; [lia|]; rewrite Nat.add_sub; rewrite firstn_all in inz; exact inz.
    + intros i l z le ini inl; rewrite firstn_all.
      apply (together _ _ _ _ Sh i s l z); auto; lia.
Qed.
