(* SPDX-License-Identifier: Apache-2.0 *)
(** * Prefix trees as schemas (spec/modules.md: the example of MOD-4)

    Each chunk of a tree of prefixes is a module, nested in the chunk before it. A prompt that
    imports a path is then a text under the causal mask, and MOD-4 gives DEC-4 again. *)
From Coq Require Import ZArith List Permutation Arith Bool Lia.
From Chunkproof Require Import Decoder Modules ModulesShare.
Import ListNotations.
Open Scope nat_scope.

(** Tokens one after the other, from a position on. *)
Definition placed_from {D : decoder} (begin : nat) (words : list (token D)) : placed D :=
  combine words (map Z.of_nat (seq begin (length words))).

Lemma placed_from_length {D : decoder} b (words : list (token D)) :
  length (placed_from b words) = length words.
Proof. unfold placed_from; rewrite combine_length, map_length, seq_length; lia. Qed.

Lemma nth_placed_from {D : decoder} (x : token D) b words r :
  r < length words ->
  nth r (placed_from b words) (x, 0%Z) = (nth r words x, Z.of_nat (b + r)).
Proof.
  intros lt; unfold placed_from; rewrite combine_nth by (rewrite map_length, seq_length; lia).
  f_equal; change 0%Z with (Z.of_nat 0); rewrite map_nth, seq_nth by exact lt; reflexivity.
Qed.

Section Paths.
Context {D : decoder}.
Variables (x : token D) (parent : nat -> nat) (words : nat -> list (token D)).
Hypothesis before : forall m, 0 < m -> parent m < m.

(** A schema without unions and scaffolds; module m is the chunk with the tokens words m. *)
Definition tree : schema := Schema parent (fun _ => None) [] before.

(** The chunks of the path to m, from the last to the first, and its text. *)
Definition path (m : nat) : list nat := with_around tree m.
Definition text_of_path (m : nat) : list (token D) := flat_map words (rev (path m)).

Definition begin_of (m : nat) : nat := length (flat_map words (rev (tl (path m)))).
Definition chunk (m : nat) : placed D := placed_from (begin_of m) (words m).

Lemma tree_is_orderly : orderly tree.
Proof. intros s t m []. Qed.

Lemma path_next m : 0 < m -> path m = m :: path (parent m).
Proof. exact (with_around_next tree m). Qed.

Lemma text_next m : 0 < m -> text_of_path m = text_of_path (parent m) ++ words m.
Proof.
  intros pos; unfold text_of_path; rewrite path_next by exact pos; simpl.
  rewrite flat_map_app; simpl; rewrite app_nil_r; reflexivity.
Qed.

Lemma begin_next m : 0 < m -> begin_of m = length (text_of_path (parent m)).
Proof. intros pos; unfold begin_of; rewrite path_next by exact pos; reflexivity. Qed.

Lemma path_below m a : In a (path m) -> a <= m.
Proof.
  induction m as [m IH] using lt_wf_ind; intros ina.
  destruct (Nat.eq_dec m 0) as [->|pos]; [destruct ina as [<-|[]]; lia|].
  rewrite path_next in ina by lia; destruct ina as [<-|ina]; [lia|].
  assert (parent m < m) as less by (apply before; lia); specialize (IH _ less ina); lia.
Qed.

Lemma path_once m : NoDup (path m).
Proof.
  induction m as [m IH] using lt_wf_ind.
  destruct (Nat.eq_dec m 0) as [->|pos]; [repeat constructor; auto|].
  assert (parent m < m) as less by (apply before; lia).
  rewrite path_next by lia; constructor; [|apply IH, less].
  intros inm; apply path_below in inm; lia.
Qed.

Lemma path_is_importable m : importable tree (path m).
Proof.
  split.
  - apply path_once.
  - exact (with_around_schema tree m).
  - exact (fun a => with_around_incl tree a m).
  - discriminate.
Qed.

(** Of two chunks of a path one is on the path to the other. *)
Lemma path_is_total m a b : In a (path m) -> In b (path m) -> In a (path b) \/ In b (path a).
Proof.
  induction m as [m IH] using lt_wf_ind; intros ina inb.
  destruct (Nat.eq_dec m 0) as [->|pos].
  - destruct ina as [<-|[]], inb as [<-|[]]; left; left; reflexivity.
  - pose proof ina as ina'; pose proof inb as inb'.
    rewrite path_next in ina, inb by lia.
    destruct ina as [<-|ina]; [right; exact inb'|]; destruct inb as [<-|inb]; [left; exact ina'|].
    apply (IH (parent m)); auto; apply before; lia.
Qed.

Lemma ends_in_path m a : In a (path m) -> begin_of a + length (words a) <= length (text_of_path m).
Proof.
  induction m as [m IH] using lt_wf_ind; intros ina.
  destruct (Nat.eq_dec m 0) as [->|pos].
  - destruct ina as [<-|[]]; unfold begin_of, text_of_path; simpl; rewrite app_nil_r; lia.
  - rewrite text_next, app_length by lia; rewrite path_next in ina by lia.
    destruct ina as [<-|ina]; [rewrite begin_next by lia; lia|].
    assert (parent m < m) as less by (apply before; lia); specialize (IH _ less ina); lia.
Qed.

(** A chunk begins behind those on the path to it. *)
Lemma begins_behind a b : In a (path b) -> a <> b -> begin_of a + length (words a) <= begin_of b.
Proof.
  intros ina other; destruct (Nat.eq_dec b 0) as [->|pos]; [destruct ina as [<-|[]]; lia|].
  rewrite path_next in ina by lia; destruct ina as [<-|ina]; [lia|].
  rewrite (begin_next b) by lia; apply ends_in_path, ina.
Qed.

Lemma nth_of_path m a r :
  In a (path m) -> r < length (words a) ->
  nth (begin_of a + r) (text_of_path m) x = nth r (words a) x.
Proof.
  induction m as [m IH] using lt_wf_ind; intros ina lt.
  destruct (Nat.eq_dec m 0) as [->|pos].
  - destruct ina as [<-|[]]; unfold begin_of, text_of_path; simpl; rewrite app_nil_r; reflexivity.
  - rewrite text_next by lia; pose proof ina as ina'; rewrite path_next in ina by lia.
    destruct ina as [<-|ina].
    + rewrite begin_next, app_nth2 by lia; f_equal; lia.
    + pose proof (ends_in_path (parent m) a ina); rewrite app_nth1 by lia.
      apply IH; auto; apply before; lia.
Qed.

Lemma path_has m y :
  y < length (text_of_path m) ->
  exists a r, In a (path m) /\ r < length (words a) /\ begin_of a + r = y.
Proof.
  induction m as [m IH] using lt_wf_ind; intros lt.
  destruct (Nat.eq_dec m 0) as [->|pos].
  - exists 0, y; unfold text_of_path in lt; simpl in lt; rewrite app_nil_r in lt.
    split; [left; reflexivity | auto].
  - rewrite text_next, app_length in lt by lia; rewrite path_next by lia.
    destruct (Nat.lt_ge_cases y (length (text_of_path (parent m)))) as [in_parent|behind].
    + destruct (IH (parent m)) as (a & r & ina & A); [apply before; lia | exact in_parent|].
      exists a, r; split; [right; exact ina | exact A].
    + exists m, (y - length (text_of_path (parent m))); rewrite begin_next by lia.
      split; [left; reflexivity | lia].
Qed.

(** A prompt that imports the path to m and adds new tokens behind it. *)
Variables (m : nat) (new : list (token D)).

Definition on_path : prompt D name :=
  modular_prompt tree x chunk (path m) (placed_from (length (text_of_path m)) new).

(** Where a token stands in the text. *)
Definition at_path (i : name) : nat :=
  match i with Own a r => begin_of a + r | New k => length (text_of_path m) + k end.

Definition is_token (i : name) : Prop :=
  match i with Own a r => In a (path m) /\ r < length (words a) | New k => k < length new end.

Lemma tokens_on_path i :
  In i (all_tokens chunk (path m) (placed_from (length (text_of_path m)) new)) <-> is_token i.
Proof.
  destruct i as [a r|k].
  - rewrite own_in_all; unfold chunk; rewrite placed_from_length; reflexivity.
  - unfold all_tokens; rewrite placed_from_length, in_app_iff, in_map_iff; simpl; split.
    + intros [ink|(k' & E & ink)]; [|injection E as ->; apply in_seq in ink; lia].
      apply in_flat_map in ink; destruct ink as (a & _ & ink); apply in_map_iff in ink.
      destruct ink as (r & E & _); discriminate.
    + intros lt; right; exists k; split; [reflexivity|]; apply in_seq; lia.
Qed.

Lemma place_on_path i :
  is_token i ->
  place x chunk (placed_from (length (text_of_path m)) new) i =
  (nth (at_path i) (text_of_path m ++ new) x, Z.of_nat (at_path i)).
Proof.
  destruct i as [a r|k]; simpl.
  - intros [ina lt]; unfold chunk; rewrite nth_placed_from by exact lt; f_equal.
    pose proof (ends_in_path m a ina); rewrite app_nth1 by lia.
    symmetry; apply nth_of_path; assumption.
  - intros lt; rewrite nth_placed_from by exact lt; f_equal; rewrite app_nth2 by lia; f_equal; lia.
Qed.

(** MOD-4, prefix trees: the mask along a path is the causal one. *)
Theorem mask_on_path i j :
  is_token i -> In j (sees on_path i) <-> is_token j /\ at_path j <= at_path i.
Proof.
  intros Ti; simpl; unfold mask; rewrite filter_In, tokens_on_path, andb_true_iff, Z.leb_le.
  split.
  - intros (Tj & le & _); split; [exact Tj|].
    rewrite !place_on_path in le by assumption; simpl in le; lia.
  - intros [Tj le]; split; [exact Tj|]; rewrite !place_on_path by assumption; simpl.
    split; [lia|]; destruct i as [a r|k]; [|reflexivity]; simpl in Ti; destruct Ti as [ina ltr].
    destruct j as [b q|k]; simpl in le.
    + simpl in Tj; destruct Tj as [inb ltq]; apply has_in; unfold visible, sees_modules; simpl.
      rewrite app_nil_r; destruct (path_is_total m a b ina inb) as [A|B]; [|exact B].
      destruct (Nat.eq_dec a b) as [->|other]; [apply with_around_self|].
      pose proof (begins_behind a b A other); lia.
    + pose proof (ends_in_path m a ina); lia.
Qed.

Lemma at_path_is_injective i j : is_token i -> is_token j -> at_path i = at_path j -> i = j.
Proof.
  destruct i as [a r|k], j as [b q|k']; simpl.
  - intros [ina ltr] [inb ltq] E; destruct (Nat.eq_dec a b) as [->|other]; [f_equal; lia|].
    destruct (path_is_total m a b ina inb) as [A|B].
    + pose proof (begins_behind a b A other); lia.
    + pose proof (begins_behind b a B (not_eq_sym other)); lia.
  - intros [ina ltr] _ E; pose proof (ends_in_path m a ina); lia.
  - intros _ [inb ltq] E; pose proof (ends_in_path m b inb); lia.
  - intros _ _ E; f_equal; lia.
Qed.

(** So a prompt that imports a path has the states of its text in a causal decoder. *)
Theorem path_is_causal l i :
  is_token i ->
  state_at on_path l i = state_at (causal x (text_of_path m ++ new)) l (at_path i) /\
  kv_at on_path l i = kv_at (causal x (text_of_path m ++ new)) l (at_path i).
Proof.
  revert l i; apply (closed_set_under_mask on_path is_token).
  - intros i j Ti inj; apply mask_on_path in inj; tauto.
  - intros i; apply NoDup_filter, all_tokens_once, path_once.
  - intros i; apply seq_NoDup.
  - exact at_path_is_injective.
  - intros i Ti; simpl; rewrite place_on_path by exact Ti; split; reflexivity.
  - intros i y Ti; change (In y (seq 0 (S (at_path i))) <->
      exists j, In j (sees on_path i) /\ at_path j = y).
    rewrite in_seq; split.
    + intros [_ lt]; assert (y < length (text_of_path m) \/ length (text_of_path m) <= y) as [A|A]
        by lia.
      * destruct (path_has m y A) as (a & r & ina & ltr & E); exists (Own a r).
        split; [apply mask_on_path; simpl; auto; split; [auto | lia] | exact E].
      * destruct i as [a r|k]; simpl in Ti, lt.
        { destruct Ti as [ina ltr]; pose proof (ends_in_path m a ina); lia. }
        exists (New (y - length (text_of_path m))).
        split; [apply mask_on_path; simpl; [exact Ti | lia] | simpl; lia].
    + intros (j & inj & <-); apply mask_on_path in inj; [lia | exact Ti].
Qed.
End Paths.

(** MOD-4 says of a chunk what DEC-4 says of a prefix: two texts that have the path to a in common
    have the same states, keys and values there. *)
Theorem common_path_has_common_states {D} (x : token D) parent words before m new m' new' a :
  In a (path parent before m) -> In a (path parent before m') ->
  forall l r, r < length (words a) ->
    let i := begin_of parent words before a + r in
    let P := causal x (text_of_path parent words before m ++ new) in
    let Q := causal x (text_of_path parent words before m' ++ new') in
    state_at P l i = state_at Q l i /\ kv_at P l i = kv_at Q l i.
Proof.
  intros ina ina' l r lt; cbv zeta.
  destruct (path_is_causal x parent words before m new l (Own a r) (conj ina lt)) as [A B].
  destruct (path_is_causal x parent words before m' new' l (Own a r) (conj ina' lt)) as [A' B'].
  simpl at_path in *; rewrite <- A, <- B, <- A', <- B'.
  apply module_has_states_of_its_own; auto using tree_is_orderly, path_is_importable.
  exact I.
Qed.

(** DEC-4, from MOD-4: a tree of three chunks, what two texts have in common and their rests. *)
Theorem equal_prefixes_again {D} (x : token D) s t n :
  firstn n s = firstn n t -> n <= length s ->
  forall l i, i < n ->
    state_at (causal x s) l i = state_at (causal x t) l i /\
    kv_at (causal x s) l i = kv_at (causal x t) l i.
Proof.
  intros E le l i lt.
  set (words := fun m => match m with 0 => firstn n s | 1 => skipn n s | _ => skipn n t end).
  assert (forall m, 0 < m -> (fun _ : nat => 0) m < m) as before by auto.
  assert (i < length (words 0)) as in_common by (simpl; rewrite firstn_length; lia).
  pose proof (common_path_has_common_states x (fun _ => 0) words before 1 [] 2 [] 0) as C.
  specialize (C (or_intror (or_introl eq_refl)) (or_intror (or_introl eq_refl)) l i in_common).
  unfold text_of_path, begin_of in C; simpl in C; rewrite !app_nil_r, firstn_skipn in C.
  rewrite E, firstn_skipn in C; exact C.
Qed.
