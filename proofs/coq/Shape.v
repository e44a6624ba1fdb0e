(* SPDX-License-Identifier: Apache-2.0 *)
(** * Paths that are those of a tree, and what may be done to them (spec/tree.md: TREE-2, TREE-4)

    Paths are a function of the sequence, and numbers of tokens a function of the chunk. Forest.v
    and Join.v have the operations. *)
From Coq Require Import List Arith Lia.
Import ListNotations.

Record shape (c cap : nat) (ps : nat -> list nat) (fl : nat -> nat) : Prop := {
  sized : forall s x, In x (ps s) -> x < cap /\ 1 <= fl x <= c;
  (* TREE-2 *)
  private : forall s s' x, In x (ps s) -> In x (ps s') -> fl x < c -> s = s';
  last_one : forall s k x, nth_error (ps s) k = Some x -> fl x < c -> length (ps s) = S k;
  (* a chunk has one place, and one path above it *)
  rooted : forall s s' k k' x,
    nth_error (ps s) k = Some x -> nth_error (ps s') k' = Some x ->
    k = k' /\ firstn k (ps s) = firstn k (ps s');
  (* TREE-4 *)
  together : forall i j l x, i <= j <= l -> In x (ps i) -> In x (ps l) -> In x (ps j)
}.

Lemma nth_error_firstn_below {T} (l : list T) k j :
  j < k -> nth_error (firstn k l) j = nth_error l j.
Proof.
  revert k j; induction l as [|y l IH]; intros [|k] [|j] lt; simpl; auto; try lia.
  apply IH; lia.
Qed.

Lemma firstn_of_firstn {T} (l : list T) k j : j <= k -> firstn j (firstn k l) = firstn j l.
Proof. intros le; rewrite firstn_firstn, Nat.min_l by exact le; reflexivity. Qed.

(** What stands above a chunk stands above it on every path. *)
Lemma above c cap ps fl s s' j k x y :
  shape c cap ps fl -> nth_error (ps s) k = Some y -> j <= k -> nth_error (ps s) j = Some x ->
  In y (ps s') -> nth_error (ps s') j = Some x.
Proof.
  intros Sh Ey le Ex iny; apply In_nth_error in iny; destruct iny as [k' Ey'].
  destruct (rooted _ _ _ _ Sh s s' k k' y Ey Ey') as [<- E].
  destruct (Nat.eq_dec j k) as [->|ne]; [congruence|].
  rewrite <- (nth_error_firstn_below (ps s) k) in Ex by lia.
  rewrite <- (nth_error_firstn_below (ps s') k) by lia; congruence.
Qed.

(** ** Leave: other numbers, the same paths *)

Lemma shape_renumbered c cap ps fl r :
  (forall i j, i < j -> r i < r j) -> shape c cap ps fl -> shape c cap (fun s => ps (r s)) fl.
Proof.
  intros up Sh; assert (forall i j, i <= j -> r i <= r j) as up'.
  { intros i j le; destruct (Nat.eq_dec i j) as [->|ne]; [auto|].
    pose proof (up i j ltac:(lia)); lia. }
  constructor.
  - intros s x; apply (sized _ _ _ _ Sh).
  - intros s s' x ins ins' part; pose proof (private _ _ _ _ Sh _ _ _ ins ins' part) as E.
    destruct (Nat.lt_trichotomy s s') as [lt|[E'|lt]]; auto; apply up in lt; lia.
  - intros s k x; apply (last_one _ _ _ _ Sh).
  - intros s s' k k' x; apply (rooted _ _ _ _ Sh).
  - intros i j l x [le le']; apply (together _ _ _ _ Sh); split; apply up'; assumption.
Qed.

(** ** Append: more tokens in a chunk *)

Lemma shape_grown c cap ps fl fl' :
  (forall s x, In x (ps s) -> fl x <= fl' x <= c) -> shape c cap ps fl -> shape c cap ps fl'.
Proof.
  intros grown Sh; constructor.
  - intros s x ins; destruct (sized _ _ _ _ Sh s x ins); specialize (grown s x ins); lia.
  - intros s s' x ins ins' part; specialize (grown s x ins).
    apply (private _ _ _ _ Sh s s' x ins ins'); lia.
  - intros s k x E part; specialize (grown s x (nth_error_In _ _ E)).
    apply (last_one _ _ _ _ Sh s k x E); lia.
  - apply (rooted _ _ _ _ Sh).
  - apply (together _ _ _ _ Sh).
Qed.

(** ... or a new chunk at the end of a path whose chunks are full. *)
Lemma shape_longer c cap ps fl fl' s x :
  shape c cap ps fl -> x < cap -> (forall r, ~ In x (ps r)) -> 1 <= fl' x <= c ->
  (forall y, y <> x -> fl' y = fl y) -> (forall y, In y (ps s) -> fl y = c) ->
  shape c cap (fun r => if r =? s then ps s ++ [x] else ps r) fl'.
Proof.
  intros Sh small new room same full.
  set (ps' := fun r => if r =? s then ps s ++ [x] else ps r).
  assert (cases : forall r y, In y (ps' r) -> (y = x /\ r = s) \/ (y <> x /\ In y (ps r))).
  { intros r y; unfold ps'; destruct (Nat.eqb_spec r s) as [->|ne]; rewrite ?in_app_iff; simpl.
    - intros [iny|[->|[]]]; [right | left; auto].
      split; [intros ->; apply (new s iny) | exact iny].
    - intros iny; right; split; [intros ->; apply (new r iny) | exact iny]. }
  assert (still : forall r y, In y (ps r) -> In y (ps' r)).
  { intros r y iny; unfold ps'; destruct (Nat.eqb_spec r s) as [->|ne]; [|exact iny].
    apply in_or_app; auto. }
  assert (at_ : forall r k y, nth_error (ps' r) k = Some y ->
            (y = x /\ r = s /\ k = length (ps s)) \/ (y <> x /\ nth_error (ps r) k = Some y)).
  { intros r k y; unfold ps'; destruct (Nat.eqb_spec r s) as [->|ne]; intros E.
    - destruct (Nat.lt_ge_cases k (length (ps s))) as [lt|ge].
      + rewrite nth_error_app1 in E by exact lt; right; split; [|exact E].
        intros ->; apply (new s), (nth_error_In _ _ E).
      + rewrite nth_error_app2 in E by exact ge.
        destruct (k - length (ps s)) as [|d] eqn:Ed; simpl in E; [|destruct d; discriminate].
        left; repeat split; [congruence | lia].
    - right; split; [|exact E]; intros ->; apply (new r), (nth_error_In _ _ E). }
  assert (prefix : forall r k y, nth_error (ps r) k = Some y ->
            firstn k (ps' r) = firstn k (ps r)).
  { intros r k y E; unfold ps'; destruct (Nat.eqb_spec r s) as [->|ne]; [|reflexivity].
    assert (k < length (ps s)) by (apply nth_error_Some; congruence).
    rewrite firstn_app, (proj2 (Nat.sub_0_le k (length (ps s)))) by lia.
    apply app_nil_r. }
  constructor.
  - intros r y iny; destruct (cases r y iny) as [[-> _]|[ne old]]; [auto|].
    rewrite (same y ne); apply (sized _ _ _ _ Sh r y old).
  - intros r r' y iny iny' part.
    destruct (cases r y iny) as [[E Er]|[ne old]], (cases r' y iny') as [[E' Er']|[ne' old']];
      try congruence.
    rewrite (same y ne) in part; apply (private _ _ _ _ Sh r r' y old old' part).
  - intros r k y E part; destruct (at_ r k y E) as [(-> & -> & ->)|[ne old]].
    + unfold ps'; rewrite Nat.eqb_refl, app_length; simpl; lia.
    + rewrite (same y ne) in part; unfold ps'; destruct (Nat.eqb_spec r s) as [->|other].
      * rewrite (full y (nth_error_In _ _ old)) in part; lia.
      * apply (last_one _ _ _ _ Sh r k y old part).
  - intros r r' k k' y E E'.
    destruct (at_ r k y E) as [(Ey & -> & ->)|[ne old]],
             (at_ r' k' y E') as [(Ey' & -> & ->)|[ne' old']]; try congruence.
    + split; reflexivity.
    + destruct (rooted _ _ _ _ Sh r r' k k' y old old') as [<- P]; split; [reflexivity|].
      rewrite (prefix r k y old), (prefix r' k y old'); exact P.
  - intros i j l y le ini inl.
    destruct (cases i y ini) as [[E Ei]|[ne oldi]], (cases l y inl) as [[E' El]|[ne' oldl]];
      try congruence.
    + replace j with i by lia; exact ini.
    + apply still, (together _ _ _ _ Sh i j l y le oldi oldl).
Qed.

(** ** Join and fork: a new path *)

Definition with_row (e : nat) (p : list nat) (ps : nat -> list nat) (s : nat) : list nat :=
  if s <? e then ps s else if s =? e then p else ps (s - 1).

(** The new path begins with k chunks of the path of a, which are full, and goes on with new ones,
    of which all but the last are full. It stands at e, behind a sequence that has those k chunks,
    and where no other chunk reaches across. *)
Lemma shape_with_row c cap ps fl fl' e a k new :
  shape c cap ps fl -> k <= length (ps a) ->
  (forall s x, In x (ps s) -> fl' x = fl x) ->
  (forall x, In x (firstn k (ps a)) -> fl x = c) ->
  (forall x, In x new -> x < cap /\ 1 <= fl' x <= c /\ forall s, ~ In x (ps s)) -> NoDup new ->
  (forall i x, nth_error new i = Some x -> fl' x < c -> length new = S i) ->
  (forall x, In x (firstn k (ps a)) -> 0 < e /\ In x (ps (e - 1))) ->
  (forall i l x, i < e <= l -> In x (ps i) -> In x (ps l) -> In x (firstn k (ps a))) ->
  shape c cap (with_row e (firstn k (ps a) ++ new) ps) fl'.
Proof.
  intros Sh lek same full fresh nodup last_ touch cut.
  set (q := firstn k (ps a)) in *; set (ps' := with_row e (q ++ new) ps).
  assert (length q = k) as lq by (unfold q; apply firstn_length_le, lek).
  assert (qa : forall i x, nth_error q i = Some x -> i < k /\ nth_error (ps a) i = Some x).
  { intros i x E; assert (i < k) by (rewrite <- lq; apply nth_error_Some; congruence).
    split; [assumption|]; rewrite <- E; unfold q; symmetry; apply nth_error_firstn_below; lia. }
  assert (ina : forall x, In x q -> In x (ps a)).
  { intros x inq; apply In_nth_error in inq; destruct inq as [i E]; apply qa in E.
    apply (nth_error_In _ i), E. }
  (* a row is the new one, or an old one *)
  assert (rows : forall s, (s = e /\ ps' s = q ++ new) \/
                           (exists r, s <> e /\ ps' s = ps r /\
                              ((s < e /\ r = s) \/ (e < s /\ s = S r)))).
  { intros s; unfold ps', with_row; destruct (Nat.ltb_spec s e) as [lt|ge].
    - right; exists s; repeat split; [lia | auto].
    - destruct (Nat.eqb_spec s e) as [->|ne]; [left; auto | right; exists (s - 1)].
      repeat split; [exact ne | right; lia]. }
  assert (old_not_new : forall s x, In x (ps s) -> ~ In x new)
    by (intros s x ins inn; apply (proj2 (proj2 (fresh x inn)) s ins)).
  assert (at_ : forall i x, nth_error (q ++ new) i = Some x ->
            (i < k /\ nth_error (ps a) i = Some x) \/
            (k <= i /\ nth_error new (i - k) = Some x)).
  { intros i x E; destruct (Nat.lt_ge_cases i k) as [lt|ge].
    - left; apply qa; rewrite nth_error_app1 in E by lia; exact E.
    - right; split; [exact ge|]; rewrite nth_error_app2, lq in E by lia; exact E. }
  constructor.
  - intros s x ins; destruct (rows s) as [[_ E]|(r & _ & E & _)]; rewrite E in ins.
    + apply in_app_iff in ins; destruct ins as [inq|inn].
      * rewrite (same a x (ina x inq)); apply (sized _ _ _ _ Sh a x (ina x inq)).
      * destruct (fresh x inn); tauto.
    + rewrite (same r x ins); apply (sized _ _ _ _ Sh r x ins).
  - assert (mixed : forall r x, In x (q ++ new) -> In x (ps r) -> fl' x < c -> False).
    { intros r x inp inr part; apply in_app_iff in inp; destruct inp as [inq|inn].
      - rewrite (same r x inr), (full x inq) in part; lia.
      - apply (old_not_new r x inr inn). }
    intros s s' x ins ins' part.
    destruct (rows s) as [[Es E]|(r & ne & E & R)], (rows s') as [[Es' E']|(r' & ne' & E' & R')];
      rewrite E in ins; rewrite E' in ins'.
    + congruence.
    + destruct (mixed r' x ins ins' part).
    + destruct (mixed r x ins' ins part).
    + rewrite (same r x ins) in part; pose proof (private _ _ _ _ Sh r r' x ins ins' part); lia.
  - intros s i x ins part; destruct (rows s) as [[_ E]|(r & _ & E & _)]; rewrite E in ins |- *.
    + destruct (at_ i x ins) as [[lt E']|[ge E']].
      * exfalso; assert (In x q) as inq.
        { apply (nth_error_In _ i); unfold q; rewrite nth_error_firstn_below by lia; exact E'. }
        rewrite (same a x (ina x inq)), (full x inq) in part; lia.
      * rewrite app_length, lq, (last_ (i - k) x E' part); lia.
    + rewrite (same r x (nth_error_In _ _ ins)) in part; apply (last_one _ _ _ _ Sh r i x ins part).
  - assert (prefix : forall i, i <= k -> firstn i (q ++ new) = firstn i (ps a)).
    { intros i le; rewrite firstn_app, lq, (proj2 (Nat.sub_0_le i k)) by lia; simpl.
      rewrite app_nil_r; unfold q; apply firstn_of_firstn, le. }
    assert (mixed : forall r i j x,
              nth_error (q ++ new) i = Some x -> nth_error (ps r) j = Some x ->
              i = j /\ firstn i (q ++ new) = firstn i (ps r)).
    { intros r i j x E E'; destruct (at_ i x E) as [[lt Ea]|[ge En]].
      - rewrite prefix by lia; apply (rooted _ _ _ _ Sh a r i j x Ea E').
      - destruct (old_not_new r x (nth_error_In _ _ E') (nth_error_In _ _ En)). }
    intros s s' i j x ins ins'.
    destruct (rows s) as [[Es E]|(r & ne & E & R)], (rows s') as [[Es' E']|(r' & ne' & E' & R')];
      rewrite E in ins |- *; rewrite E' in ins' |- *.
    + assert (i = j) as <-; [|split; reflexivity].
      destruct (at_ i x ins) as [[lt Ea]|[ge En]], (at_ j x ins') as [[lt' Ea']|[ge' En']].
      * apply (rooted _ _ _ _ Sh a a i j x Ea Ea').
      * destruct (old_not_new a x (nth_error_In _ _ Ea) (nth_error_In _ _ En')).
      * destruct (old_not_new a x (nth_error_In _ _ Ea') (nth_error_In _ _ En)).
      * assert (i - k < length new) as lt by (apply nth_error_Some; congruence).
        pose proof (proj1 (NoDup_nth_error new) nodup (i - k) (j - k) lt); rewrite En, En' in *.
        assert (i - k = j - k) by auto; lia.
    + apply (mixed r' i j x ins ins').
    + destruct (mixed r j i x ins' ins) as [<- P]; split; [reflexivity | symmetry; exact P].
    + apply (rooted _ _ _ _ Sh r r' i j x ins ins').
  - intros i j l x le ini inl.
    destruct (rows j) as [[Ej Pj]|(rj & nej & Pj & Rj)]; rewrite Pj.
    + destruct (rows i) as [[Ei Pi]|(ri & nei & Pi & Ri)],
               (rows l) as [[El Pl]|(rl & nel & Pl & Rl)];
        rewrite ?Pi in ini; rewrite ?Pl in inl; auto.
      apply in_or_app; left; apply (cut ri rl x); auto; lia.
    + destruct (rows i) as [[Ei Pi]|(ri & nei & Pi & Ri)],
               (rows l) as [[El Pl]|(rl & nel & Pl & Rl)];
        rewrite ?Pi in ini; rewrite ?Pl in inl; try lia.
      * apply in_app_iff in ini; destruct ini as [inq|inn]; [|destruct (old_not_new rl x inl inn)].
        destruct (touch x inq) as [pos near].
        apply (together _ _ _ _ Sh (e - 1) rj rl x); auto; lia.
      * apply in_app_iff in inl; destruct inl as [inq|inn]; [|destruct (old_not_new ri x ini inn)].
        destruct (touch x inq) as [pos near].
        apply (together _ _ _ _ Sh ri rj (e - 1) x); auto; lia.
      * apply (together _ _ _ _ Sh ri rj rl x); auto; lia.
Qed.
