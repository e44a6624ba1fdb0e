(* SPDX-License-Identifier: Apache-2.0 *)
(** * Prompts of modules: what a cache may keep (spec/modules.md: MOD-4, MOD-5)

    For any schema, texts at any positions, any scaffolds that keep the rule of MOD-3, and any
    decoder of any number of layers. *)
From Coq Require Import ZArith List Permutation Arith Bool Lia FinFun.
From Chunkproof Require Import Decoder Modules.
Import ListNotations.
Open Scope nat_scope.

(** ** MOD-4: states, keys and values of a module *)

(** The tokens of some modules. *)
Definition own_of (modules : list nat) (i : name) : Prop :=
  match i with Own m _ => In m modules | New _ => False end.

Lemma own_in_all {D} text imports (added : placed D) a r :
  In (Own a r) (all_tokens text imports added) <-> In a imports /\ r < length (text a).
Proof.
  unfold all_tokens; rewrite in_app_iff, in_flat_map, in_map_iff; split.
  - intros [(b & inb & inr)|(k & E & _)]; [|discriminate].
    apply in_map_iff in inr; destruct inr as (q & E & inq); injection E as <- <-.
    apply in_seq in inq; split; [exact inb | lia].
  - intros [ina lt]; left; exists a; split; [exact ina|].
    apply in_map_iff; exists r; split; [reflexivity|]; apply in_seq; lia.
Qed.

Lemma all_tokens_once {D} text imports (added : placed D) :
  NoDup imports -> NoDup (all_tokens text imports added).
Proof.
  intros once; unfold all_tokens; induction imports as [|a imports IH]; simpl.
  - apply Injective_map_NoDup; [|apply seq_NoDup]; intros k k' E; injection E; auto.
  - apply NoDup_cons_iff in once; destruct once as [new once].
    unfold own_tokens at 1; rewrite <- app_assoc.
    assert (forall r, In r (seq 0 (length (text a))) ->
      ~ In (Own a r) (flat_map (own_tokens text) imports ++ map New (seq 0 (length added))))
      as other.
    { intros r _ inr; apply new; exact (proj1 (proj1 (own_in_all text imports added a r) inr)). }
    specialize (IH once); pose proof (seq_NoDup (length (text a)) 0) as rows.
    revert other rows IH; generalize (seq 0 (length (text a))) as R.
    generalize (flat_map (own_tokens text) imports ++ map New (seq 0 (length added))) as L.
    clear; intros L R; induction R as [|r R IH]; simpl; intros other rows once; [exact once|].
    apply NoDup_cons_iff in rows; destruct rows as [new rows]; constructor; [|apply IH; auto].
    intros inr; apply in_app_iff in inr; destruct inr as [inr|inr]; [|apply (other r); auto].
    apply in_map_iff in inr; destruct inr as (q & E & inq); injection E as ->; auto.
Qed.

Section Sharing.
Context {D : decoder}.
Variables (S : schema) (x : token D) (text : nat -> placed D).
Hypothesis rule : orderly S.

(** What a token of a module sees. *)
Lemma in_own_mask imports added a r y :
  In y (mask S x text imports added (Own a r)) <->
  exists b q, y = Own b q /\ In b imports /\ q < length (text b) /\
    In b (visible S imports a) /\
    (snd (place x text added (Own b q)) <= snd (place x text added (Own a r)))%Z.
Proof using.
  unfold mask; rewrite filter_In, andb_true_iff, Z.leb_le; split.
  - intros (iny & le & see); destruct y as [b q|k]; [|discriminate].
    apply own_in_all in iny; apply has_in in see; exists b, q; tauto.
  - intros (b & q & -> & inb & lt & see & le); repeat split.
    + apply own_in_all; auto.
    + exact le.
    + apply has_in, see.
Qed.

(** MOD-4: the texts that the clause names are closed: of a module and the modules around it and,
    if a scaffold counts for it, of the scaffold's modules and those around them. *)
Theorem texts_are_closed imports added m :
  importable S imports ->
  closed (modular_prompt S x text imports added) (own_of (visible S imports m)).
Proof using rule.
  intros possible [a r|k] j ina inj; [|destruct ina].
  apply in_own_mask in inj; destruct inj as (b & q & -> & _ & _ & see & _).
  exact (seen_modules_are_closed S imports rule possible m a ina b see).
Qed.

(** Two prompts agree on the texts that a module may see, if the same scaffold counts for it. *)
Lemma texts_agree imports added imports' added' m :
  importable S imports -> importable S imports' -> In m imports -> In m imports' ->
  same_scaffold (counts S imports m) (counts S imports' m) ->
  agree (modular_prompt S x text imports added) (own_of (visible S imports m))
        (modular_prompt S x text imports' added') (fun i => i).
Proof using rule.
  intros possible possible' inm inm' same.
  apply agree_by_injection; auto using texts_are_closed.
  - intros i; apply NoDup_filter, all_tokens_once, (imports_once _ _ possible).
  - intros i; apply NoDup_filter, all_tokens_once, (imports_once _ _ possible').
  - intros [a r|k] Xi; [split; reflexivity | destruct Xi].
  - intros [a r|k] y ina; [|destruct ina]; simpl in ina.
    assert (In a (visible S imports' m)) as ina'
      by (exact (sees_same_modules S _ _ m same a ina)).
    change (In y (mask S x text imports' added' (Own a r)) <->
      exists j, In j (mask S x text imports added (Own a r)) /\ j = y).
    rewrite in_own_mask; split.
    + intros (b & q & -> & inb & lt & see & le); exists (Own b q); split; [|reflexivity].
      assert (In b (visible S imports a)) as see'.
      { apply (seen_see_the_same S imports' imports m a); auto using same_scaffold_sym. }
      apply in_own_mask; exists b, q; repeat split; auto.
      apply (visible_is_imported S imports rule possible m inm).
      apply (seen_modules_are_closed S imports rule possible m a ina), see'.
    + intros (j & inj & ->); apply in_own_mask in inj.
      destruct inj as (b & q & -> & inb & lt & see & le); exists b, q.
      assert (In b (visible S imports' a)) as see'
        by (apply (seen_see_the_same S imports imports' m a); auto).
      repeat split; auto.
      apply (visible_is_imported S imports' rule possible' m inm').
      apply (seen_modules_are_closed S imports' rule possible' m a ina'), see'.
Qed.

(** MOD-4: states, keys and values of a module are the same in any two prompts in which the same
    scaffold counts for it, or none, whatever else they import and add, in whatever order. *)
Theorem module_has_states_of_its_own imports added imports' added' m :
  importable S imports -> importable S imports' -> In m imports -> In m imports' ->
  same_scaffold (counts S imports m) (counts S imports' m) ->
  let P := modular_prompt S x text imports added in
  let Q := modular_prompt S x text imports' added' in
  forall l r, state_at P l (Own m r) = state_at Q l (Own m r) /\
              kv_at P l (Own m r) = kv_at Q l (Own m r).
Proof using rule.
  intros possible possible' inm inm' same P Q l r.
  apply (closed_set_decides P (own_of (visible S imports m)) Q (fun i => i)).
  - apply texts_are_closed, possible.
  - apply texts_agree; assumption.
  - simpl; unfold visible, sees_modules; apply in_app_iff; left; apply with_around_self.
Qed.

(** What encodes a module: a prompt that has it and those around it and, for a scaffold, its modules
    and those around them, and nothing else. *)
Definition encoded_with (scaffold : option (list nat)) (m : nat) : list nat :=
  nodup Nat.eq_dec (sees_modules S scaffold m).

Definition encoding (scaffold : option (list nat)) (m : nat) : prompt D name :=
  modular_prompt S x text (encoded_with scaffold m) [].

(** Such a prompt exists, and the same scaffold counts in it. *)
Lemma encoding_is_possible imports m :
  importable S imports -> In m imports ->
  importable S (encoded_with (counts S imports m) m) /\
  In m (encoded_with (counts S imports m) m) /\
  same_scaffold (counts S imports m) (counts S (encoded_with (counts S imports m) m) m).
Proof using rule.
  intros possible inm; pose proof (visible_is_imported S imports rule possible m inm) as part.
  assert (importable S (encoded_with (counts S imports m) m)) as possible'.
  { unfold encoded_with; split.
    - apply NoDup_nodup.
    - apply nodup_In; unfold sees_modules; apply in_app_iff; left; apply with_around_schema.
    - intros a ina b inb; apply nodup_In; apply nodup_In in ina; unfold sees_modules in *.
      apply in_app_iff in ina; apply in_app_iff; destruct ina as [ina|ina].
      + left; apply (with_around_incl S a m ina), inb.
      + right; destruct (counts S imports m) as [s|]; [|destruct ina].
        apply in_flat_map in ina; destruct ina as (c & inc & ina); apply in_flat_map.
        exists c; split; [exact inc|]; apply (with_around_incl S a c ina), inb.
    - intros a b u ina inb; apply nodup_In, part in ina; apply nodup_In, part in inb.
      apply (imports_one_of_union _ _ possible); assumption. }
  split; [exact possible'|]; split.
  { apply nodup_In; unfold sees_modules; apply in_app_iff; left; apply with_around_self. }
  assert (incl (encoded_with (counts S imports m) m) imports) as fewer
    by (intros a ina; apply nodup_In in ina; apply part, ina).
  destruct (counts S imports m) as [s|] eqn:E.
  - destruct (counts_is S imports rule possible m s E) as (ins & _ & hs & most).
    apply same_scaffold_sym, the_largest_counts; auto.
    + apply applies_all; intros a ina; apply nodup_In; unfold sees_modules; apply in_app_iff; right.
      apply in_flat_map; exists a; split; [exact ina | apply with_around_self].
    + intros t int at' ht; apply most; auto.
      apply applies_all in at'; apply (incl_tran at' fewer).
  - destruct (counts S (encoded_with None m) m) as [t|] eqn:Et; [|exact I].
    destruct (counts_is S _ rule possible' m t Et) as (int & it & ht & _).
    exact (counts_none S imports m E t int (incl_tran it fewer) ht).
Qed.

(** MOD-4: so a module is encoded once, and once more for each scaffold that can hold it. *)
Theorem module_is_as_encoded imports added m :
  importable S imports -> In m imports ->
  let P := modular_prompt S x text imports added in
  let E := encoding (counts S imports m) m in
  forall l r, state_at P l (Own m r) = state_at E l (Own m r) /\
              kv_at P l (Own m r) = kv_at E l (Own m r).
Proof using rule.
  intros possible inm; destruct (encoding_is_possible imports m possible inm) as (A & B & C).
  apply module_has_states_of_its_own; assumption.
Qed.

(** ** MOD-5: cached inference *)

(** MOD-5: the cache has the entries of each imported module as it was encoded, in any order. Then
    computing the new tokens alone gives, at each layer, the states of the decoder over the whole
    prompt with the mask of MOD-3. *)
Theorem cached_prompt_is_exact imports added layout :
  importable S imports ->
  let P := modular_prompt S x text imports added in
  (forall i, Permutation (sees P i) (layout i)) ->
  let laid_out := Prompt (token_of P) (position_of P) layout in
  let source := fun j => match j with
                         | Own m _ => encoding (counts S imports m) m
                         | New _ => P
                         end in
  let is_cached := fun j => match j with Own _ _ => true | New _ => false end in
  let cache := fun l j => entry_at (source j) l j in
  forall l k, cached_state laid_out is_cached cache l (New k) = state_at P l (New k).
Proof using rule.
  intros possible P Pe laid_out source is_cached cache l k.
  apply (cached_inference_is_exact P is_cached source (fun j => j) layout Pe); [|reflexivity].
  intros i [m r|k'] _ inj cj; [|discriminate]; simpl.
  assert (In m imports) as inm.
  { apply filter_In in inj; destruct inj as [inj _].
    exact (proj1 (proj1 (own_in_all text imports added m r) inj)). }
  destruct (encoding_is_possible imports m possible inm) as (A & B & C).
  exists (own_of (visible S (encoded_with (counts S imports m) m) m)), (fun j => j).
  split; [apply texts_are_closed, A|]; split; [|split; [|reflexivity]].
  - apply texts_agree; auto using same_scaffold_sym.
  - simpl; unfold visible, sees_modules; apply in_app_iff; left; apply with_around_self.
Qed.
End Sharing.
