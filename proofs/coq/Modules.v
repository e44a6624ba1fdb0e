(* SPDX-License-Identifier: Apache-2.0 *)
(** * Prompts of modules: what sees what (spec/modules.md: MOD-3, MOD-4)

    For any schema, texts at any positions, and any scaffolds that keep the rule of MOD-3. *)
From Coq Require Import ZArith List Arith Bool Lia.
From Chunkproof Require Import Decoder.
Import ListNotations.
Open Scope nat_scope.

(** ** Schemas *)

(** Modules are numbers, and 0 is the schema itself. A module that is part of a union stands in
    the module that the union stands in. *)
Record schema := Schema {
  parent : nat -> nat;                      (* the module that a module stands in *)
  union_of : nat -> option nat;             (* the union that a module is part of *)
  scaffolds : list (list nat);
  parent_is_before : forall m, 0 < m -> parent m < m
}.

Definition has (l : list nat) (m : nat) : bool := existsb (Nat.eqb m) l.

Lemma has_in l m : has l m = true <-> In m l.
Proof.
  unfold has; rewrite existsb_exists; split.
  - intros (y & inl & E); apply Nat.eqb_eq in E; subst; exact inl.
  - intros inl; exists m; split; [exact inl | apply Nat.eqb_refl].
Qed.

(** A module and the modules around it, from the inside outwards. *)
Fixpoint outwards (S : schema) (steps m : nat) : list nat :=
  m :: match steps, m with
       | Datatypes.S k, Datatypes.S _ => outwards S k (parent S m)
       | _, _ => []
       end.

Definition with_around (S : schema) (m : nat) : list nat := outwards S m m.

Lemma outwards_enough S k m : m <= k -> outwards S k m = with_around S m.
Proof.
  revert m; induction k as [k IH] using lt_wf_ind; intros m le.
  destruct k as [|k]; [replace m with 0 by lia; reflexivity|].
  destruct m as [|m]; [reflexivity|].
  pose proof (parent_is_before S (Datatypes.S m)) as before.
  unfold with_around; simpl; f_equal; rewrite (IH k) by lia.
  destruct (Nat.eq_dec k m) as [->|]; [|symmetry; apply IH; lia].
  symmetry; apply IH; lia.
Qed.

Lemma with_around_0 S : with_around S 0 = [0].
Proof. reflexivity. Qed.

Lemma with_around_next S m : 0 < m -> with_around S m = m :: with_around S (parent S m).
Proof.
  intros pos; pose proof (parent_is_before S m pos) as before.
  destruct m as [|m]; [lia|]; unfold with_around at 1; simpl; f_equal.
  apply outwards_enough; lia.
Qed.

Lemma with_around_self S m : In m (with_around S m).
Proof. destruct m; left; reflexivity. Qed.

Lemma with_around_schema S m : In 0 (with_around S m).
Proof.
  induction m as [m IH] using lt_wf_ind; destruct m as [|m]; [left; reflexivity|].
  rewrite with_around_next by lia; right; apply IH, parent_is_before; lia.
Qed.

(** What is around a module around m is around m. *)
Lemma with_around_incl S a m : In a (with_around S m) -> incl (with_around S a) (with_around S m).
Proof.
  induction m as [m IH] using lt_wf_ind; intros ina; destruct m as [|m].
  - destruct ina as [<-|[]]; apply incl_refl.
  - rewrite with_around_next in ina by lia; destruct ina as [<-|ina]; [apply incl_refl|].
    rewrite (with_around_next S (Datatypes.S m)) by lia; apply incl_tl, IH; auto.
    apply parent_is_before; lia.
Qed.

(** What a prompt imports: the schema, with a module the modules around it, and of a union at most
    one member (MOD-2). *)
Record importable (S : schema) (imports : list nat) : Prop := Importable {
  imports_once : NoDup imports;
  imports_schema : In 0 imports;
  imports_around : forall m, In m imports -> incl (with_around S m) imports;
  imports_one_of_union : forall a b u, In a imports -> In b imports ->
    union_of S a = Some u -> union_of S b = Some u -> a = b
}.

(** ** MOD-3: the mask *)

(** A scaffold applies to a prompt that imports all of its modules. *)
Definition applies (imports scaffold : list nat) : bool := forallb (has imports) scaffold.

(** It holds its modules and all modules inside of them. *)
Definition holds (S : schema) (scaffold : list nat) (m : nat) : bool :=
  existsb (has scaffold) (with_around S m).

(** The number of its modules. *)
Definition size (scaffold : list nat) : nat := length (nodup Nat.eq_dec scaffold).

(** The first of the largest scaffolds in a list. *)
Fixpoint largest (list_of : list (list nat)) : option (list nat) :=
  match list_of with
  | [] => None
  | s :: rest =>
      match largest rest with
      | Some t => if size s <? size t then Some t else Some s
      | None => Some s
      end
  end.

(** Of the scaffolds that apply and hold m the largest counts, and no other. *)
Definition counts (S : schema) (imports : list nat) (m : nat) : option (list nat) :=
  largest (filter (fun s => applies imports s && holds S s m) (scaffolds S)).

(** The modules whose own text a token of m may see: m and those around it and, if a scaffold
    counts, its modules and those around them. *)
Definition sees_modules (S : schema) (scaffold : option (list nat)) (m : nat) : list nat :=
  with_around S m ++
  match scaffold with Some s => flat_map (with_around S) s | None => [] end.

Definition visible (S : schema) (imports : list nat) (m : nat) : list nat :=
  sees_modules S (counts S imports m) m.

(** Two scaffolds that hold a module in common: one has all modules of the other, or no prompt can
    import all of both. *)
Definition orderly (S : schema) : Prop :=
  forall s t m, In s (scaffolds S) -> In t (scaffolds S) ->
    holds S s m = true -> holds S t m = true ->
    incl s t \/ incl t s \/
    forall imports, importable S imports -> applies imports s && applies imports t = false.

(** Token number r of the own text of module m, and new token number k: arguments, and all else
    that a prompt adds. *)
Inductive name := Own (m r : nat) | New (k : nat).

Section Prompts.
Context {D : decoder}.
Variables (S : schema) (default : token D) (text : nat -> placed D).

(** The tokens of a prompt, which imports modules and adds a placed text. *)
Definition own_tokens (m : nat) : list name := map (Own m) (seq 0 (length (text m))).

Definition all_tokens (imports : list nat) (added : placed D) : list name :=
  flat_map own_tokens imports ++ map New (seq 0 (length added)).

Definition place (added : placed D) (i : name) : token D * Z :=
  match i with
  | Own m r => nth r (text m) (default, 0%Z)
  | New k => nth k added (default, 0%Z)
  end.

Definition may_see (imports : list nat) (i j : name) : bool :=
  match i, j with
  | New _, _ => true
  | Own m _, Own a _ => has (visible S imports m) a
  | Own _ _, New _ => false
  end.

(** MOD-3: token i sees token j when the position of j is not above that of i, and i may see j. *)
Definition mask (imports : list nat) (added : placed D) (i : name) : list name :=
  filter (fun j => (snd (place added j) <=? snd (place added i))%Z && may_see imports i j)
         (all_tokens imports added).

Definition modular_prompt (imports : list nat) (added : placed D) : prompt D name :=
  Prompt (fun i => fst (place added i)) (fun i => snd (place added i)) (mask imports added).
End Prompts.

(** ** MOD-4: which scaffold counts *)

Lemma applies_all imports s : applies imports s = true <-> incl s imports.
Proof.
  unfold applies; rewrite forallb_forall; split; intros H m inm.
  - apply has_in, H, inm.
  - apply has_in, H, inm.
Qed.

Lemma holds_some S s m : holds S s m = true <-> exists a, In a s /\ In a (with_around S m).
Proof.
  unfold holds; rewrite existsb_exists; split; intros (a & A & B); exists a.
  - apply has_in in B; auto.
  - apply has_in in A; auto.
Qed.

Lemma holds_own S s m : In m s -> holds S s m = true.
Proof. intros inm; apply holds_some; exists m; auto using with_around_self. Qed.

(** A scaffold that holds a module around m holds m. *)
Lemma holds_inside S s a m : In a (with_around S m) -> holds S s a = true -> holds S s m = true.
Proof.
  intros ina; rewrite !holds_some; intros (b & inb & arb); exists b; split; [exact inb|].
  apply (with_around_incl S a m ina), arb.
Qed.

Lemma holds_more S s t m : incl s t -> holds S s m = true -> holds S t m = true.
Proof.
  intros I; rewrite !holds_some; intros (b & inb & arb); exists b; auto.
Qed.

Lemma size_decides s t : incl s t -> size t <= size s -> incl t s.
Proof.
  intros I le a ina; apply (nodup_In Nat.eq_dec).
  apply (NoDup_length_incl (NoDup_nodup Nat.eq_dec s) (l' := nodup Nat.eq_dec t)).
  - exact le.
  - intros b inb; apply nodup_In, I, nodup_In with (1 := inb).
  - apply nodup_In, ina.
Qed.

Lemma largest_is l s : largest l = Some s -> In s l /\ forall t, In t l -> size t <= size s.
Proof.
  revert s; induction l as [|r l IH]; simpl; intros s E; [discriminate|].
  destruct (largest l) as [t|] eqn:Et.
  - destruct (IH t eq_refl) as [int most]; destruct (size r <? size t) eqn:lt;
      injection E as <-; [apply Nat.ltb_lt in lt | apply Nat.ltb_ge in lt].
    + split; [auto|]; intros u [<-|inu]; [lia | auto].
    + split; [auto|]; intros u [<-|inu]; [lia|]; specialize (most u inu); lia.
  - injection E as <-; split; [auto|]; intros u [<-|inu]; [lia|].
    destruct l as [|v l]; [destruct inu|]; simpl in Et.
    destruct (largest l); [destruct (size v <? size l0)|]; discriminate.
Qed.

Lemma largest_none l : largest l = None -> l = [].
Proof.
  destruct l as [|v l]; simpl; [auto|].
  destruct (largest l) as [t|]; [destruct (size v <? size t)|]; discriminate.
Qed.

(** The same modules, or no scaffold in both. *)
Definition same_scaffold (a b : option (list nat)) : Prop :=
  match a, b with
  | Some s, Some t => incl s t /\ incl t s
  | None, None => True
  | _, _ => False
  end.

(** All modules of two scaffolds and those around them, and the schema. *)
Definition both_with_around (S : schema) (s t : list nat) : list nat :=
  nodup Nat.eq_dec (0 :: flat_map (with_around S) (s ++ t)).

(** MOD-3: two scaffolds never apply together when their modules, with those around them, have two
    members of one union. Nothing else keeps a prompt from importing both. *)
Theorem never_together S s t :
  (forall imports, importable S imports -> applies imports s && applies imports t = false) <->
  exists a b u, In a (both_with_around S s t) /\ In b (both_with_around S s t) /\ a <> b /\
    union_of S a = Some u /\ union_of S b = Some u.
Proof.
  split.
  - intros never; set (all := both_with_around S s t).
    destruct (existsb (fun a => existsb (fun b => negb (a =? b) &&
      match union_of S a, union_of S b with Some u, Some v => u =? v | _, _ => false end) all) all)
      eqn:E.
    + apply existsb_exists in E; destruct E as (a & ina & E); apply existsb_exists in E.
      destruct E as (b & inb & E); apply andb_true_iff in E; destruct E as [other E].
      apply negb_true_iff, Nat.eqb_neq in other; exists a, b.
      destruct (union_of S a) as [u|], (union_of S b) as [v|]; try discriminate.
      apply Nat.eqb_eq in E; subst v; exists u; auto.
    + exfalso; assert (importable S all) as possible.
      { split.
        - apply NoDup_nodup.
        - apply nodup_In; left; reflexivity.
        - intros m inm a ina; apply nodup_In; apply nodup_In in inm.
          destruct inm as [<-|inm]; [destruct ina as [<-|[]]; left; reflexivity|right].
          apply in_flat_map in inm; destruct inm as (b & inb & inm); apply in_flat_map.
          exists b; split; [exact inb|]; apply (with_around_incl S m b inm), ina.
        - intros a b u ina inb Ua Ub; destruct (Nat.eq_dec a b) as [|other]; [assumption|exfalso].
          apply not_true_iff_false in E; apply E, existsb_exists; exists a; split; [exact ina|].
          apply existsb_exists; exists b; split; [exact inb|]; rewrite Ua, Ub, Nat.eqb_refl.
          apply Nat.eqb_neq in other; rewrite other; reflexivity. }
      specialize (never all possible); apply not_true_iff_false in never; apply never.
      apply andb_true_iff; rewrite !applies_all.
      split; intros a ina; apply nodup_In; right; apply in_flat_map; exists a;
        split; auto using with_around_self, in_or_app.
  - intros (a & b & u & ina & inb & other & Ua & Ub) imports possible; apply not_true_iff_false.
    intros both; apply andb_true_iff in both; rewrite !applies_all in both.
    assert (incl (both_with_around S s t) imports) as part.
    { intros c inc; apply nodup_In in inc; destruct inc as [<-|inc].
      - apply (imports_schema _ _ possible).
      - apply in_flat_map in inc; destruct inc as (e & ine & inc).
        apply (imports_around _ _ possible e); [|exact inc].
        apply in_app_iff in ine; destruct ine; [apply (proj1 both) | apply (proj2 both)]; auto. }
    apply other, (imports_one_of_union _ _ possible a b u); auto.
Qed.

Section Counting.
Variables (S : schema) (imports : list nat).
Hypotheses (rule : orderly S) (possible : importable S imports).

Lemma counts_is m s : counts S imports m = Some s ->
  In s (scaffolds S) /\ incl s imports /\ holds S s m = true /\
  forall t, In t (scaffolds S) -> incl t imports -> holds S t m = true -> incl t s.
Proof using rule possible.
  intros E; apply largest_is in E; destruct E as [ins most].
  apply filter_In in ins; destruct ins as [ins ok]; apply andb_true_iff in ok.
  destruct ok as [ap hs]; repeat split; auto; [apply applies_all, ap|].
  intros t int it ht; pose proof (proj2 (applies_all _ _) it) as at'.
  destruct (rule s t m ins int hs ht) as [I|[I|never]]; auto.
  - apply size_decides; [exact I|]; apply most, filter_In; rewrite at', ht; auto.
  - specialize (never imports possible); rewrite ap, at' in never; discriminate.
Qed.

Lemma counts_none m : counts S imports m = None ->
  forall t, In t (scaffolds S) -> incl t imports -> holds S t m = true -> False.
Proof using.
  intros E t int it ht; apply largest_none in E.
  assert (In t []) as []; rewrite <- E; apply filter_In; split; [exact int|].
  rewrite ht, (proj2 (applies_all _ _) it); reflexivity.
Qed.

(** MOD-3: the scaffold that applies, holds m and has the modules of all others that do so, counts.
    There is no other. *)
Theorem the_largest_counts m s :
  In s (scaffolds S) -> applies imports s = true -> holds S s m = true ->
  (forall t, In t (scaffolds S) -> applies imports t = true -> holds S t m = true -> incl t s) ->
  same_scaffold (counts S imports m) (Some s).
Proof using rule possible.
  intros ins ap hs most; apply applies_all in ap.
  destruct (counts S imports m) as [t|] eqn:E; [|exact (counts_none m E s ins ap hs)].
  destruct (counts_is m t E) as (int & it & ht & all); split; auto.
  apply most; auto; apply applies_all, it.
Qed.

(** What counts for a module that a token of m may see: the scaffold of m, or nothing. *)
Lemma counts_for_seen m a : In a (visible S imports m) ->
  match counts S imports m with
  | None => counts S imports a = None
  | Some s => if holds S s a then same_scaffold (counts S imports a) (Some s)
              else counts S imports a = None
  end.
Proof using rule possible.
  unfold visible, sees_modules; intros ina; apply in_app_iff in ina.
  destruct (counts S imports m) as [s|] eqn:E.
  - destruct (counts_is m s E) as (ins & is & hs & most).
    (* whatever counts for a holds m or a module of the scaffold, hence is in it *)
    assert (forall t, In t (scaffolds S) -> incl t imports -> holds S t a = true -> incl t s)
      as in_s.
    { intros t int it ht; destruct ina as [ina|ina].
      - apply most; auto; apply (holds_inside S t a m ina ht).
      - apply in_flat_map in ina; destruct ina as (b & inb & ina).
        pose proof (holds_inside S t a b ina ht) as hb.
        destruct (rule s t b ins int (holds_own S s b inb) hb) as [I|[I|never]]; auto.
        + apply most; auto; apply (holds_more S s t m I hs).
        + specialize (never imports possible).
          rewrite (proj2 (applies_all _ _) is), (proj2 (applies_all _ _) it) in never.
          discriminate. }
    destruct (holds S s a) eqn:ha.
    + apply the_largest_counts; auto; [apply applies_all, is|].
      intros t int it ht; apply in_s; auto; apply applies_all, it.
    + destruct (counts S imports a) as [t|] eqn:Ea; [exfalso | reflexivity].
      destruct (counts_is a t Ea) as (int & it & ht & _).
      rewrite (holds_more S t s a (in_s t int it ht) ht) in ha; discriminate.
  - destruct ina as [ina|[]].
    destruct (counts S imports a) as [t|] eqn:Ea; [exfalso | reflexivity].
    destruct (counts_is a t Ea) as (int & it & ht & _).
    exact (counts_none m E t int it (holds_inside S t a m ina ht)).
Qed.

Lemma sees_same_modules a b m : same_scaffold a b ->
  incl (sees_modules S a m) (sees_modules S b m).
Proof using.
  destruct a as [s|], b as [t|]; simpl; try contradiction; intros same; [|apply incl_refl].
  apply incl_app; [apply incl_appl, incl_refl | apply incl_appr].
  intros c inc; apply in_flat_map in inc; apply in_flat_map.
  destruct inc as (d & ind & inc); exists d; split; [apply (proj1 same), ind | exact inc].
Qed.

(** MOD-4: a module that a token of m may see, sees no more than m. *)
Theorem seen_modules_are_closed m a :
  In a (visible S imports m) -> incl (visible S imports a) (visible S imports m).
Proof using rule possible.
  intros ina; pose proof (counts_for_seen m a ina) as C.
  unfold visible in *; unfold sees_modules in ina; apply in_app_iff in ina.
  assert (incl (with_around S a) (sees_modules S (counts S imports m) m)) as around.
  { unfold sees_modules; destruct ina as [ina|ina].
    - apply incl_appl, with_around_incl, ina.
    - apply incl_appr; destruct (counts S imports m) as [s|]; [|destruct ina].
      apply in_flat_map in ina; destruct ina as (b & inb & ina).
      intros c inc; apply in_flat_map; exists b; split; [exact inb|].
      apply (with_around_incl S a b ina), inc. }
  destruct (counts S imports m) as [s|] eqn:E.
  - destruct (holds S s a).
    + eapply incl_tran; [apply sees_same_modules, C|]; apply incl_app; [exact around|].
      apply incl_appr, incl_refl.
    + rewrite C; unfold sees_modules at 1; rewrite app_nil_r; exact around.
  - rewrite C; unfold sees_modules at 1; rewrite app_nil_r; exact around.
Qed.

(** All that a token of an imported module may see is imported. *)
Lemma visible_is_imported m : In m imports -> incl (visible S imports m) imports.
Proof using rule possible.
  intros inm; unfold visible, sees_modules.
  apply incl_app; [apply (imports_around _ _ possible), inm|].
  destruct (counts S imports m) as [s|] eqn:E; [|intros a []].
  destruct (counts_is m s E) as (_ & is & _).
  intros a ina; apply in_flat_map in ina; destruct ina as (b & inb & ina).
  apply (imports_around _ _ possible b); auto.
Qed.
End Counting.

Lemma same_scaffold_sym a b : same_scaffold a b -> same_scaffold b a.
Proof. destruct a, b; simpl; tauto. Qed.

Lemma same_scaffold_refl a : same_scaffold a a.
Proof. destruct a; simpl; auto using incl_refl. Qed.

Lemma same_scaffold_trans a b c : same_scaffold a b -> same_scaffold b c -> same_scaffold a c.
Proof.
  destruct a, b, c; simpl; try tauto; intros [] []; split; eapply incl_tran; eassumption.
Qed.

Lemma holds_same S s t m : same_scaffold (Some s) (Some t) -> holds S s m = holds S t m.
Proof.
  intros [I J]; apply eq_true_iff_eq; split; apply holds_more; assumption.
Qed.

(** The modules that m may see see the same modules in two prompts in which the same scaffold counts
    for m. *)
Lemma seen_see_the_same S imports imports' m a :
  orderly S -> importable S imports -> importable S imports' ->
  same_scaffold (counts S imports m) (counts S imports' m) ->
  In a (visible S imports m) ->
  incl (visible S imports a) (visible S imports' a).
Proof.
  intros rule possible possible' same ina.
  assert (In a (visible S imports' m)) as ina'
    by (exact (sees_same_modules S _ _ m same a ina)).
  pose proof (counts_for_seen S imports rule possible m a ina) as A.
  pose proof (counts_for_seen S imports' rule possible' m a ina') as B.
  apply sees_same_modules.
  destruct (counts S imports m) as [s|], (counts S imports' m) as [t|]; simpl in same;
    try contradiction.
  - rewrite (holds_same S s t a same) in A; destruct (holds S t a).
    + apply same_scaffold_trans with (Some s); [exact A|].
      apply same_scaffold_trans with (Some t); [exact same|]; apply same_scaffold_sym, B.
    + rewrite A, B; exact I.
  - rewrite A, B; exact I.
Qed.
