(* SPDX-License-Identifier: Apache-2.0 *)
(** * Prompts of modules over a plan of runs (spec/runs.md: RUNS-7)

    What the two phases read for a new token is what it sees in the whole prompt (MOD-3), each token
    once. So attention over the plan, layer by layer, is the decoder over the whole prompt
    (MOD-5). *)
From Coq Require Import ZArith List Permutation Arith Bool Lia.
From Chunkproof Require Import Decoder Modules ModulesShare.
From Chunkproof Require Plan Merge Rows TwoPhase PlanCheck ModulesPlace.
From Chunkproof Require Import Runs RunsTree.
Import ListNotations.
Open Scope nat_scope.

(** ** The slots that the phases read *)

(** For query row r, of a run: those that it sees (PREFILL-4). *)
Definition run_slots (stands_at : nat -> Z) (r : nat) (R : run) : list (run * nat) :=
  map (pair R) (seq 0 (Rows.sees (stands_at r) (first R) (held R))).

(** Of the descriptors that serve s, in whatever order, and of the runs that s has for itself. *)
Definition slots_read (q : run_plan) stands_at order (s r : nat) : list (run * nat) :=
  flat_map (run_slots stands_at r) (map run_of (serving q s order) ++ own q s).

(** They are the parts of RUNS-5. *)
Theorem parts_are_the_slots_read q stands_at key_of order s r a :
  concat (parts q (causal stands_at) key_of order s r a) =
  map (fun y => key_of r a (fst y) (snd y)) (slots_read q stands_at order s r).
Proof.
  unfold parts, slots_read; induction (map run_of (serving q s order) ++ own q s) as [|R l IH];
    [reflexivity|]; simpl; rewrite IH, map_app; f_equal.
  unfold run_keys, causal, run_slots; rewrite map_map; reflexivity.
Qed.

Lemma slots_read_exactly q stands_at order s r :
  complete q -> s < n_prompts q -> Permutation order (descriptors q) ->
  Permutation (slots_read q stands_at order s r)
    (filter (fun y => (Z.of_nat (token_position y) <=? stands_at r)%Z) (tokens q s)).
Proof.
  intros (_ & _ & once) inb P.
  apply Permutation_trans with (flat_map (run_slots stands_at r) (runs q s)).
  - apply Permutation_flat_map; apply Permutation_trans with (2 := once s inb).
    apply Permutation_app_tail, Permutation_map, serving_permutation, P.
  - unfold tokens; induction (runs q s) as [|R l IH]; simpl; [constructor|].
    rewrite filter_app, TwoPhase.filter_map; apply Permutation_app; [|exact IH].
    unfold run_slots; rewrite <- seen_slots; apply Permutation_refl.
Qed.

(** ** A prompt that lies in runs *)

Section Prompts.
Context {D : decoder}.
Variables (S : schema) (x : token D) (text : nat -> placed D).
Hypothesis rule : orderly S.

(** Which token slot i of chunk C holds for a sequence: of a module or new. *)
Variable content : nat -> nat -> name.
Definition token_in (y : run * nat) : name := content (in_chunk (fst y)) (snd y).

(** The runs of s have all tokens of the prompt, each once and at its position. *)
Definition lies_in_runs (q : run_plan) (s : nat) imports (added : placed D) : Prop :=
  Permutation (map token_in (tokens q s)) (all_tokens text imports added) /\
  forall y, In y (tokens q s) ->
    snd (place x text added (token_in y)) = Z.of_nat (token_position y).

(** A row reads the tokens of the prompt at its position or before, each once. *)
Lemma tokens_read q stands_at order s r imports added :
  complete q -> s < n_prompts q -> Permutation order (descriptors q) ->
  lies_in_runs q s imports added ->
  Permutation (map token_in (slots_read q stands_at order s r))
    (filter (fun j => (snd (place x text added j) <=? stands_at r)%Z)
            (all_tokens text imports added)).
Proof using.
  intros C inb P [all at_].
  apply Permutation_trans with (1 := Permutation_map token_in
    (slots_read_exactly q stands_at order s r C inb P)).
  apply Permutation_trans with (2 := Plan.filter_permutation _ _ _ all).
  rewrite TwoPhase.filter_map; apply Permutation_map.
  rewrite (filter_ext_in _ (fun y => (snd (place x text added (token_in y)) <=? stands_at r)%Z));
    [apply Permutation_refl|].
  intros y iny; rewrite at_ by exact iny; reflexivity.
Qed.

(** RUNS-7: the row of a new token reads what this token sees under the mask of MOD-3. *)
Theorem new_tokens_read_their_mask q stands_at order s r imports added k :
  complete q -> s < n_prompts q -> Permutation order (descriptors q) ->
  lies_in_runs q s imports added -> stands_at r = snd (place x text added (New k)) ->
  Permutation (map token_in (slots_read q stands_at order s r))
              (mask S x text imports added (New k)).
Proof using.
  intros C inb P lies at_.
  apply Permutation_trans with (1 := tokens_read q stands_at order s r imports added C inb P lies).
  unfold mask; rewrite at_; erewrite filter_ext; [apply Permutation_refl|].
  intros j; simpl; rewrite andb_true_r; reflexivity.
Qed.

(** RUNS-7: a token of a module that is encoded (MOD-4) sees all that stands before it in the prompt
    that encodes the module. So its row reads its mask as well. *)
Theorem encoded_tokens_read_their_mask q stands_at order s r imports m i :
  importable S imports -> In m imports ->
  complete q -> s < n_prompts q -> Permutation order (descriptors q) ->
  lies_in_runs q s (encoded_with S (counts S imports m) m) [] ->
  stands_at r = snd (nth i (text m) (x, 0%Z)) ->
  Permutation (map token_in (slots_read q stands_at order s r))
              (sees (encoding S x text (counts S imports m) m) (Own m i)).
Proof using rule.
  intros possible inm C inb P lies at_.
  destruct (encoding_is_possible S rule imports m possible inm) as (_ & _ & same).
  set (modules := encoded_with S (counts S imports m) m) in *.
  apply Permutation_trans with (1 := tokens_read q stands_at order s r modules [] C inb P lies).
  unfold encoding; simpl; fold modules; unfold mask.
  erewrite filter_ext_in; [apply Permutation_refl|].
  intros j inj; simpl; rewrite at_; destruct j as [b t|k].
  - apply own_in_all in inj; destruct inj as [inj _].
    replace (Modules.has (visible S modules m) b) with true;
      [rewrite andb_true_r; reflexivity | symmetry].
    apply Modules.has_in; unfold visible; apply (sees_same_modules S _ _ m same).
    apply nodup_In in inj; exact inj.
  - unfold all_tokens in inj; simpl in inj; rewrite app_nil_r in inj.
    apply in_flat_map in inj; destruct inj as (b & _ & inj).
    apply in_map_iff in inj; destruct inj as (t & E & _); discriminate.
Qed.

(** RUNS-7 with MOD-5: the modules' runs hold the entries with which each was encoded, and new
    tokens are computed from what the phases read for their rows. At each layer this gives the
    states of the decoder over the whole prompt. *)
Theorem runs_of_modules_are_exact q stands_at order s (row : nat -> nat) imports added :
  importable S imports ->
  complete q -> s < n_prompts q -> Permutation order (descriptors q) ->
  lies_in_runs q s imports added ->
  (forall k, k < length added -> stands_at (row k) = snd (place x text added (New k))) ->
  let P := modular_prompt S x text imports added in
  let read := fun i => match i with
                       | New k => if k <? length added
                                  then map token_in (slots_read q stands_at order s (row k))
                                  else sees P i
                       | Own _ _ => sees P i
                       end in
  let laid_out := Prompt (token_of P) (position_of P) read in
  let source := fun j => match j with
                         | Own m _ => encoding S x text (counts S imports m) m
                         | New _ => P
                         end in
  let is_cached := fun j => match j with Own _ _ => true | New _ => false end in
  let cache := fun l j => entry_at (source j) l j in
  forall l k, cached_state laid_out is_cached cache l (New k) = state_at P l (New k).
Proof using rule.
  intros possible C inb Pe lies at_ P read laid_out source is_cached cache l k.
  apply (cached_prompt_is_exact S x text rule imports added read possible).
  intros [m i|j]; [apply Permutation_refl|]; simpl.
  destruct (Nat.ltb_spec j (length added)) as [lt|ge]; [|apply Permutation_refl].
  apply Permutation_sym, new_tokens_read_their_mask; auto.
Qed.
End Prompts.

(** ** RUNS-1 for a prompt: texts, arguments and segments are cut into runs each by itself *)

(** n tokens from position f on, in the chunks chunk_at 0 .. N-1. *)
Record laid := Laid { from : nat; n_of : nat; chunk_at : nat -> nat; n_chunks_of : nat }.

Definition runs_of (c : nat) (t : laid) : list run :=
  text_runs c (chunk_at t) (from t) (n_of t) (n_chunks_of t).

(** t has some of the first positions of a span: of an argument's param, or all of a text's. *)
Definition stands_in (t : laid) (s : ModulesPlace.span) : Prop :=
  from t = fst s /\ n_of t <= snd s.

(** When spans do not collide (MOD-6), neither do the runs of what stands in them. *)
Theorem runs_of_a_prompt_do_not_collide c texts spans :
  Forall2 stands_in texts spans -> (forall t, In t texts -> n_of t <= n_chunks_of t * c) ->
  NoDup (flat_map ModulesPlace.positions spans) ->
  NoDup (flat_map positions (flat_map (runs_of c) texts)).
Proof.
  intros F long once.
  replace (flat_map positions (flat_map (runs_of c) texts))
    with (flat_map (fun t => seq (from t) (n_of t)) texts).
  - clear long; induction F as [|t s texts spans [Ef le] F IH]; simpl in *; [constructor|].
    destruct (nodup_app_parts _ _ once) as [rest apart].
    apply PlanCheck.nodup_app; [apply seq_NoDup | auto|]; intros y iny inr.
    assert (In y (ModulesPlace.positions s)) as here
      by (unfold ModulesPlace.positions; apply in_seq in iny; apply in_seq; lia).
    assert (In y (flat_map ModulesPlace.positions spans)) as there.
    { clear - F inr; induction F as [|t s texts spans [Ef le] F IH]; simpl in *; [destruct inr|].
      apply in_app_iff in inr; apply in_app_iff; destruct inr as [inr|inr]; [left|right; auto].
      unfold ModulesPlace.positions; apply in_seq in inr; apply in_seq; lia. }
    exact (apart y here there).
  - clear F once; induction texts as [|t texts IH]; simpl; [reflexivity|].
    rewrite flat_map_app, <- IH by (intros; apply long; right; assumption); f_equal.
    unfold runs_of; rewrite text_runs_have_its_positions; [reflexivity|].
    apply long; left; reflexivity.
Qed.
