(* SPDX-License-Identifier: Apache-2.0 *)
(** * Prompts of a document over a plan of runs (spec/runs.md: RUNS-7)

    The theorems of RunsModules.v are about the record of modules. Here they are about a document: a
    tree of parts with the words of its texts (ModulesPrompt.v). *)
From Coq Require Import ZArith List Permutation Arith Bool Lia FinFun.
From Chunkproof Require Plan ModulesPlace.
From Chunkproof Require Import Decoder Modules ModulesShare ModulesTree ModulesLayout.
From Chunkproof Require Import ModulesNumbers ModulesDocument ModulesPrompt.
From Chunkproof Require Import Runs RunsTree RunsCheck RunsModules.
Import ListNotations.
Open Scope nat_scope.

Section Prompts.
Context {D : decoder}.
Variables (x : token D) (p : part) (scaffolds : list (list nat)).
Variable words : list nat -> list (token D).  (* of the text at a way *)
Variable content : nat -> nat -> name.         (* which token slot i of chunk C holds *)

Hypothesis root : is_module p [] = true.
Hypothesis texts_have_words : forall w b n, locate 0 p w = Some (b, Text n) -> length (words w) = n.

(** RUNS-1 need not be asked of what lies in runs: the positions of a prompt differ (MOD-6). *)
Theorem runs_of_a_document_have_distinct_positions q s imports arguments new :
  unions_have_modules p ->
  importable (schema_of p scaffolds) imports -> incl imports (modules_of p) ->
  arguments_fit p imports arguments ->
  lies_in_runs x (own_text p words) content q s imports (added p imports arguments new) ->
  NoDup (flat_map Runs.positions (runs q s)).
Proof using root texts_have_words.
  intros modules possible inside fit [all at_].
  pose proof (prompt_has_distinct_positions x p scaffolds words root texts_have_words
    imports arguments new modules possible inside fit) as once.
  rewrite <- Runs.positions_of_tokens; apply (NoDup_map_inv Z.of_nat); rewrite map_map.
  rewrite (map_ext_in _ (fun y => snd (Modules.place x (own_text p words)
    (added p imports arguments new) (token_in content y)))).
  - rewrite <- (map_map (token_in content) (fun i => snd (Modules.place x (own_text p words)
      (added p imports arguments new) i))).
    apply (Permutation_NoDup (Permutation_sym (Permutation_map _ all))), once.
  - intros y iny; symmetry; apply at_, iny.
Qed.

(** RUNS-7, from a document to the states: a prompt of it lies in the runs of a sequence, whose
    modules hold the entries with which each was encoded. Then what the two phases read for the rows
    of new tokens gives, at each layer, the states of the decoder over the whole prompt. *)
Theorem runs_of_a_document_are_exact q stands_at order s (row : nat -> nat) imports arguments new :
  orderly (schema_of p scaffolds) ->
  importable (schema_of p scaffolds) imports ->
  complete q -> s < n_prompts q -> Permutation order (descriptors q) ->
  let S := schema_of p scaffolds in
  let text := own_text p words in
  let P := modular_prompt S x text imports (added p imports arguments new) in
  lies_in_runs x text content q s imports (added p imports arguments new) ->
  (forall k, k < length (added p imports arguments new) ->
     stands_at (row k) = position_of P (New k)) ->
  let read := fun i => match i with
                       | New k => if k <? length (added p imports arguments new)
                                  then map (token_in content)
                                           (slots_read q stands_at order s (row k))
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
Proof using.
  intros rule possible C inb Pe S text P lies at_.
  exact (runs_of_modules_are_exact S x text rule content q stands_at order s row imports
    (added p imports arguments new) possible C inb Pe lies at_).
Qed.
End Prompts.

(** ** The travel guide *)

(** Two prompts with trip-plan and miami, each with words of its own for `duration`, four tokens
    behind miami and a question of two (ModulesPrompt.v), over chunks of 16. The texts of the guide
    lie in the chunks 0 to 4, for both. *)
Definition guide_runs : run_plan :=
  let common := [Run 0 5 0; Run 1 6 53; Run 2 4 5; Run 3 16 13; Run 4 14 29] in
  Run_plan 11 16 2 [0; 1]
    (map (fun R => Plan.Descriptor (in_chunk R) 0 2 (held R) (first R)) common)
    (fun s => common ++ [Run (5 + 3 * s) 2 9; Run (6 + 3 * s) 4 43; Run (7 + 3 * s) 2 59])
    (fun _ => 5).

Definition guide_content (C i : nat) : name :=
  match C with
  | 0 => Own 0 i | 1 => Own 0 (5 + i) | 2 => Own 2 i | 3 => Own 8 i | 4 => Own 8 (16 + i)
  | _ => New (nth ((C - 5) mod 3) [0; 2; 6] 0 + i)
  end.

Example guide_lies_in_runs {D : decoder} (x : token D) s : s < 2 ->
  let words := fun w => repeat x (snd (ModulesPlace.span_of travel_guide w)) in
  complete guide_runs /\
  lies_in_runs x (own_text travel_guide words) guide_content guide_runs s [0; 2; 8]
    (added travel_guide [0; 2; 8] [([1; 1], [x; x])] [(Some 8, [x; x; x; x]); (None, [x; x])]).
Proof.
  intros inb words; split.
  - apply valid_is_complete, run_check_decides; vm_compute; reflexivity.
  - destruct s as [|[|s]]; [| |lia]; split; try (vm_compute; apply Permutation_refl);
      vm_compute; intros y iny;
      repeat (destruct iny as [<-|iny]; [reflexivity|]); destruct iny.
Qed.
