(* SPDX-License-Identifier: Apache-2.0 *)
(** * From a document to its record of modules (spec/modules.md: MOD-1 to MOD-3)

    ModulesLayout.v and ModulesPlace.v are about a tree of parts, Modules.v and ModulesShare.v about
    a record of modules. Here the record is made from the tree: modules have the numbers of their
    parts, and what a prompt may import is the same in both. *)
From Coq Require Import List Arith Bool Lia.
From Chunkproof Require Import Modules ModulesLayout ModulesNumbers.
Import ListNotations.
Open Scope nat_scope.

(** ** The record of modules *)

Definition is_module (p : part) (way : list nat) : bool :=
  match part_at p way with Some (Module _) => true | _ => false end.
Definition is_union (p : part) (way : list nat) : bool :=
  match part_at p way with Some (Union _) => true | _ => false end.
Definition is_text (p : part) (way : list nat) : bool :=
  match part_at p way with Some (Text _) => true | _ => false end.
Definition is_param (p : part) (way : list nat) : bool :=
  match part_at p way with Some (Param _) => true | _ => false end.

(** The innermost module at the first k beginnings of a way, and the one that a part stands in. *)
Fixpoint innermost (p : part) (way : list nat) (k : nat) : list nat :=
  match k with
  | 0 => []
  | S j => if is_module p (firstn j way) then firstn j way else innermost p way j
  end.

Definition around (p : part) (way : list nat) : list nat := innermost p way (length way).

Definition module_around (p : part) (m : nat) : nat := number p (around p (way_of p m)).

(** The union that a part is a member of. *)
Definition union_around (p : part) (m : nat) : option nat :=
  let u := removelast (way_of p m) in
  if is_union p u then Some (number p u) else None.

Lemma innermost_is p w k :
  exists j, innermost p w k = firstn j w /\ (j < k \/ j = 0) /\
    forall i, i < k -> is_module p (firstn i w) = true ->
      i <= j /\ is_module p (firstn j w) = true.
Proof.
  induction k as [|k IH]; simpl; [exists 0; repeat split; auto; lia|].
  destruct (is_module p (firstn k w)) eqn:M.
  - exists k; repeat split; auto; lia.
  - destruct IH as (j & E & lt & most); exists j; split; [exact E|]; split; [lia|].
    intros i le Mi; apply most; [|exact Mi].
    destruct (Nat.eq_dec i k) as [->|]; [congruence | lia].
Qed.

Lemma module_around_is_before p m : 0 < m -> module_around p m < m.
Proof.
  intros pos; unfold module_around, around.
  destruct (innermost_is p (way_of p m) (length (way_of p m))) as (j & -> & lt & _).
  destruct (Nat.lt_ge_cases m (length (ways p))) as [there|beyond].
  - assert (In (way_of p m) (ways p)) as inw by (apply nth_In, there).
    pose proof (number_of_way p m there) as E; rewrite <- E at 2.
    destruct (Nat.eq_dec (length (way_of p m)) 0) as [empty|some].
    + apply length_zero_iff_nil in empty; rewrite empty in E; simpl in E; lia.
    + rewrite <- (firstn_skipn j (way_of p m)) in inw.
      rewrite <- (firstn_skipn j (way_of p m)) at 2.
      destruct (skipn j (way_of p m)) as [|i y] eqn:rest; [|apply number_grows, inw].
      apply (f_equal (@length nat)) in rest; rewrite skipn_length in rest; simpl in rest; lia.
  - replace (way_of p m) with (@nil nat) by (symmetry; apply nth_overflow, beyond).
    rewrite firstn_nil; exact pos.
Qed.

(** Modules have the numbers of their parts. A scaffold is a list of such numbers. *)
Definition schema_of (p : part) (scaffolds : list (list nat)) : schema :=
  Schema (module_around p) (union_around p) scaffolds (module_around_is_before p).

Definition modules_of (p : part) : list nat :=
  filter (fun m => is_module p (way_of p m)) (seq 0 (count p)).

Lemma module_in_ways p w : is_module p w = true -> In w (ways p).
Proof. rewrite in_ways; unfold is_module; destruct (part_at p w); [|intros N]; discriminate. Qed.

Lemma in_modules p m : In m (modules_of p) <-> exists w, is_module p w = true /\ number p w = m.
Proof.
  unfold modules_of; rewrite filter_In; split.
  - intros [inm M]; apply in_seq in inm; exists (way_of p m); split; [exact M|].
    apply number_of_way; rewrite length_ways; lia.
  - intros (w & M & <-); pose proof (module_in_ways p w M) as inw.
    rewrite way_of_number, <- parts_are_numbered_in_order by exact inw; auto using in_map.
Qed.

Lemma one_number p v w : In v (ways p) -> In w (ways p) -> number p v = number p w -> v = w.
Proof.
  intros inv inw E; rewrite <- (way_of_number p v), E by exact inv; apply way_of_number, inw.
Qed.

(** The module that a part stands in is the last on its way. *)
Lemma around_is p x i y : is_module p x = true ->
  is_module p (around p (x ++ i :: y)) = true /\
  (exists z, around p (x ++ i :: y) = x ++ z) /\
  exists j t, x ++ i :: y = around p (x ++ i :: y) ++ j :: t.
Proof.
  intros M; unfold around; set (w := x ++ i :: y).
  assert (length x < length w) as lt by (unfold w; rewrite app_length; simpl; lia).
  destruct (innermost_is p w (length w)) as (j & -> & before & most).
  assert (firstn (length x) w = x) as Ex
    by (unfold w; rewrite firstn_app, Nat.sub_diag, firstn_all, app_nil_r; reflexivity).
  destruct (most (length x)) as [le Mj]; [exact lt | rewrite Ex; exact M|].
  split; [exact Mj|]; split.
  - exists (firstn (j - length x) (i :: y)); unfold w.
    rewrite firstn_app, firstn_all2 by exact le; reflexivity.
  - destruct (skipn j w) as [|a t] eqn:rest; [|exists a, t; rewrite <- rest, firstn_skipn; auto].
    apply (f_equal (@length nat)) in rest; rewrite skipn_length in rest; simpl in rest; lia.
Qed.

Section Document.
Variables (p : part) (scaffolds : list (list nat)).
Hypothesis root : is_module p [] = true.

(** MOD-3: the modules around a module, in the record, are those on its way. *)
Theorem modules_around_are_on_the_way w a :
  is_module p w = true ->
  In a (with_around (schema_of p scaffolds) (number p w)) <->
  exists x y, w = x ++ y /\ is_module p x = true /\ number p x = a.
Proof using root.
  remember (length w) as n eqn:En; revert w En.
  induction n as [n IH] using lt_wf_ind; intros w -> M; destruct w as [|i w].
  - simpl number; rewrite with_around_0; split.
    + intros [<-|[]]; exists [], []; auto.
    + intros ([|] & y & E & _ & <-); [left; reflexivity | discriminate].
  - pose proof (number_grows p [] i w (module_in_ways p _ M)) as pos; simpl app in pos.
    rewrite with_around_next by exact pos.
    change (parent (schema_of p scaffolds)) with (module_around p); unfold module_around.
    rewrite way_of_number by exact (module_in_ways p _ M).
    destruct (around_is p [] i w root) as (Ma & _ & j & t & E); simpl app in *.
    assert (length (around p (i :: w)) < length (i :: w)) as less
      by (rewrite E at 2; rewrite app_length; simpl; lia).
    specialize (IH _ less _ eq_refl Ma); split.
    + intros [<-|ina]; [exists (i :: w), []; rewrite app_nil_r; auto|].
      apply IH in ina; destruct ina as (x & y & Ex & Mx & <-); exists x, (y ++ j :: t).
      rewrite app_assoc, <- Ex; auto.
    + intros (x & y & Ex & Mx & <-); destruct y as [|k y].
      * rewrite app_nil_r in Ex; left; rewrite Ex; reflexivity.
      * right; apply IH; destruct (around_is p x k y Mx) as (_ & (z & Ez) & _).
        rewrite <- Ex in Ez; exists x, z; auto.
Qed.

(** ** What a prompt imports *)

(** As MOD-2 says it, of ways: part 0, with a module those around it, of a union one member at
    most. *)
Record prompt_imports (imports : list nat -> bool) : Prop := PromptImports {
  imports_modules : forall w, imports w = true -> is_module p w = true;
  imports_part_0 : imports [] = true;
  imports_modules_around : forall x y,
    imports (x ++ y) = true -> is_module p x = true -> imports x = true;
  imports_one_member : one_of_each_union p imports
}.

(** The ways of some numbers, and the numbers of some ways. *)
Definition imported (l : list nat) (way : list nat) : bool :=
  is_module p way && has l (number p way).
Definition numbers_of (imports : list nat -> bool) : list nat :=
  filter (fun m => imports (way_of p m)) (modules_of p).

Lemma imported_is l w : imported l w = true <-> is_module p w = true /\ In (number p w) l.
Proof using. unfold imported; rewrite andb_true_iff, has_in; reflexivity. Qed.

Lemma union_at w b parts : locate 0 p w = Some (b, Union parts) -> is_union p w = true.
Proof using.
  intros E; unfold is_union; replace (part_at p w) with (Some (Union parts)); [reflexivity|].
  symmetry; apply located; exists b; exact E.
Qed.

Lemma at_union w : is_union p w = true ->
  In w (ways p) /\ exists b parts, locate 0 p w = Some (b, Union parts).
Proof using.
  unfold is_union; rewrite in_ways; destruct (part_at p w) as [[n|n|q|q]|] eqn:E; try discriminate.
  intros _; split; [discriminate|]; apply located in E; destruct E as [b E]; exists b, q; exact E.
Qed.

(** MOD-2: the importable sets of the record are what a prompt imports. *)
Theorem importable_is_imports l :
  NoDup l -> incl l (modules_of p) ->
  importable (schema_of p scaffolds) l <-> prompt_imports (imported l).
Proof using root.
  intros once inside; split.
  - intros possible; split.
    + intros w I; apply imported_is in I; apply I.
    + apply imported_is; split; [exact root | apply (imports_schema _ _ possible)].
    + intros x y I Mx; apply imported_is in I; destruct I as [M inl]; apply imported_is.
      split; [exact Mx|]; apply (imports_around _ _ possible _ inl).
      apply modules_around_are_on_the_way; [exact M | exists x, y; auto].
    + intros w b parts i j E I J; apply imported_is in I, J; destruct I as [Mi I], J as [Mj J].
      pose proof (module_in_ways p _ Mi) as Wi; pose proof (module_in_ways p _ Mj) as Wj.
      assert (forall k, In (w ++ [k]) (ways p) ->
        union_of (schema_of p scaffolds) (number p (w ++ [k])) = Some (number p w)) as member.
      { intros k Wk; simpl; unfold union_around; rewrite way_of_number, removelast_last by exact Wk.
        rewrite (union_at w b parts E); reflexivity. }
      pose proof (imports_one_of_union _ _ possible _ _ _ I J (member i Wi) (member j Wj)) as same.
      apply one_number in same; auto; apply app_inj_tail in same; apply same.
  - intros ok; split.
    + exact once.
    + apply (imported_is l []), (imports_part_0 _ ok).
    + intros m inm a ina; pose proof (inside m inm) as M; apply in_modules in M.
      destruct M as (w & M & <-); apply modules_around_are_on_the_way in ina; [|exact M].
      destruct ina as (x & y & -> & Mx & <-).
      apply (imported_is l x), (imports_modules_around _ ok x y); [|exact Mx].
      apply imported_is; auto.
    + intros a b u ina inb Ua Ub; pose proof (inside a ina) as A; pose proof (inside b inb) as B.
      apply in_modules in A, B; destruct A as (v & Mv & <-), B as (w & Mw & <-).
      simpl in Ua, Ub; unfold union_around in Ua, Ub.
      rewrite way_of_number in Ua, Ub by auto using module_in_ways.
      destruct (is_union p (removelast v)) eqn:Uv; [|discriminate].
      destruct (is_union p (removelast w)) eqn:Uw; [|discriminate].
      injection Ua as Ua; injection Ub as Ub.
      assert (forall z, is_union p (removelast z) = true -> z = removelast z ++ [last z 0])
        as whole.
      { intros z U; apply app_removelast_last; intros ->; simpl in U; revert U root.
        unfold is_union, is_module; simpl; destruct p; discriminate. }
      destruct (at_union _ Uv) as (Wv & c & parts & E), (at_union _ Uw) as (Ww & _).
      assert (removelast v = removelast w) as same by (apply (one_number p); congruence).
      f_equal; rewrite (whole v Uv), (whole w Uw), <- same; do 2 f_equal.
      apply (imports_one_member _ ok _ c parts _ _ E).
      * rewrite <- whole by exact Uv; apply imported_is; auto.
      * rewrite same, <- whole by exact Uw; apply imported_is; auto.
Qed.

(** MOD-2: and whatever a prompt imports is such a set. *)
Theorem imports_are_importable imports :
  prompt_imports imports ->
  importable (schema_of p scaffolds) (numbers_of imports) /\
  forall w, imported (numbers_of imports) w = imports w.
Proof using root.
  intros ok; assert (forall w, imported (numbers_of imports) w = imports w) as same.
  { intros w; apply eq_true_iff_eq; rewrite imported_is; unfold numbers_of; rewrite filter_In.
    split.
    - intros (M & _ & I); rewrite way_of_number in I by exact (module_in_ways p w M); exact I.
    - intros I; pose proof (imports_modules _ ok w I) as M; split; [exact M|].
      rewrite way_of_number by exact (module_in_ways p w M); split; [|exact I].
      apply in_modules; exists w; auto. }
  split; [|exact same]; apply importable_is_imports.
  - unfold numbers_of, modules_of; auto using NoDup_filter, seq_NoDup.
  - intros m inm; apply filter_In in inm; apply inm.
  - destruct ok as [A B C E]; split.
    + intros w; rewrite same; auto.
    + rewrite same; exact B.
    + intros x y; rewrite !same; apply C.
    + intros w b parts i j; rewrite !same; apply E.
Qed.
End Document.

(** The travel guide: trip-plan, tokyo and miami are the parts 2, 6 and 8, and the last two are the
    members of union 5. So its record is the guide of ModulesExamples.v. *)
Example record_of_the_guide :
  modules_of travel_guide = [0; 2; 6; 8] /\
  map (way_of travel_guide) [0; 2; 5; 6; 8] = [[]; [1]; [2]; [2; 0]; [2; 1]] /\
  map (module_around travel_guide) [2; 6; 8] = [0; 0; 0] /\
  map (union_around travel_guide) [0; 2; 6; 8] = [None; None; Some 5; Some 5].
Proof. repeat split; reflexivity. Qed.
