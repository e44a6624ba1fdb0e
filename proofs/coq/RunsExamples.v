(* SPDX-License-Identifier: Apache-2.0 *)
(** * The examples of spec/runs.md, computed *)
From Coq Require Import Reals ZArith List Arith Bool Lra Lia.
From Chunkproof Require Import Softmax Merge Plan Rows TwoPhase Runs RunsCheck RunsReads RunsRanges.
From Chunkproof Require Import RunsGrow.
Import ListNotations.
Open Scope nat_scope.

(** Chunks of 4 tokens. Module A has 6 tokens at 0 .. 5, in C0 and C1; B has 4 at 6 .. 9, in C2.
    Three prompts: A B and 2 new tokens, A and 3, B and 1. New tokens stand from 10 on. *)
Definition a1 := Run 0 4 0.
Definition a2 := Run 1 2 4.
Definition b1 := Run 2 4 6.
Definition prompts (s : nat) : list run :=
  nth s [[a1; a2; b1; Run 3 2 10]; [a1; a2; Run 4 3 10]; [b1; Run 5 1 10]] [].

Definition with_lists : run_plan :=
  Run_plan 6 4 3 [0; 1; 0; 2]
    [Descriptor 0 0 2 4 0; Descriptor 1 0 2 2 4; Descriptor 2 2 4 4 6]
    prompts (fun s => nth s [3; 2; 1] 0).

Example lists_are_valid : run_check with_lists = true.
Proof. reflexivity. Qed.

(** The same with ranges: B's prompts 0 and 2 are not contiguous. C2 is each one's own. *)
Definition with_ranges : run_plan :=
  Run_plan 6 4 3 [0; 1; 2] [Descriptor 0 0 2 4 0; Descriptor 1 0 2 2 4]
    prompts (fun s => nth s [2; 2; 0] 0).

Example ranges_are_valid : run_check with_ranges = true.
Proof. reflexivity. Qed.

Example ranges_of_the_lists :
  descriptors (as_ranges with_lists) = descriptors with_ranges /\
  map (own (as_ranges with_lists)) [0; 1; 2] =
    [[b1; Run 3 2 10]; [Run 4 3 10]; [b1; Run 5 1 10]].
Proof. split; reflexivity. Qed.

(** Reads of a chunk: one for each descriptor, and one for each own run. *)
Definition chunk_reads (q : run_plan) : nat :=
  length (descriptors q) + list_sum (map (fun s => length (own q s)) (seq 0 (n_prompts q))).

Example lists_save_a_read : chunk_reads with_lists = 6 /\ chunk_reads with_ranges = 7.
Proof. split; reflexivity. Qed.

(** With the prompts in the order 1, 0, 2 ranges do as well. *)
Example another_order :
  map (fun uses : nat -> bool => n_ranges (map uses [0; 1; 2]))
      [fun s => s <? 2; fun s => negb (s =? 1)] = [1; 2] /\
  map (fun uses : nat -> bool => n_ranges (map uses [1; 0; 2]))
      [fun s => s <? 2; fun s => negb (s =? 1)] = [1; 1].
Proof. split; reflexivity. Qed.

(** What is not valid. *)
Definition with_descriptors (l : list descriptor) : run_plan :=
  Run_plan 6 4 3 [0; 1; 0; 2] l prompts (fun s => nth s [3; 2; 1] 0).

Example other_descriptors_are_not :
  map (fun l => run_check (with_descriptors l)) [
    (* C2 at 8, *)
    [Descriptor 0 0 2 4 0; Descriptor 1 0 2 2 4; Descriptor 2 2 4 4 8];
    (* C1 full, *)
    [Descriptor 0 0 2 4 0; Descriptor 1 0 2 4 4; Descriptor 2 2 4 4 6];
    (* C2 twice, missing, for the prompts 1 0, for one prompt *)
    [Descriptor 0 0 2 4 0; Descriptor 1 0 2 2 4; Descriptor 2 2 4 4 6; Descriptor 2 2 4 4 6];
    [Descriptor 0 0 2 4 0; Descriptor 1 0 2 2 4];
    [Descriptor 0 0 2 4 0; Descriptor 1 0 2 2 4; Descriptor 2 1 3 4 6];
    [Descriptor 0 0 2 4 0; Descriptor 1 0 2 2 4; Descriptor 2 3 4 4 6]
  ] = [false; false; false; false; false; false].
Proof. reflexivity. Qed.

(** A module that is imported twice has its positions twice. *)
Example not_twice :
  run_check (Run_plan 6 4 1 [] [] (fun _ => [b1; b1]) (fun _ => 0)) = false.
Proof. reflexivity. Qed.

(** ** What rows see: the rows stand at the last tokens, 11, 12 and 10 *)

Definition last_token (r : nat) : Z := nth r [11; 12; 10]%Z 0%Z.
Definition counts (stands_at : nat -> Z) (s : nat) : list nat :=
  map (fun R => sees (stands_at s) (first R) (held R)) (prompts s).

Example rows_see : map (counts last_token) [0; 1; 2] = [[4; 2; 4; 2]; [4; 2; 3]; [4; 1]].
Proof. reflexivity. Qed.

(** By PREFILL-1 the rows would stand at 11, 8 and 4. The second would see none of its own tokens,
    the third nothing. *)
Definition by_number_of_tokens (s : nat) : Z :=
  row_position (list_sum (map held (prompts s))) 1 0.

Example counting_tokens_is_wrong :
  map by_number_of_tokens [0; 1; 2] = [11; 8; 4]%Z /\
  map (counts by_number_of_tokens) [0; 1; 2] = [[4; 2; 4; 2]; [4; 2; 0]; [0; 0]].
Proof. split; reflexivity. Qed.

(** The last chunk of a path may be taken for a full one (TwoPhase.last_chunk_as_full). A run may
    not: the row at 12 would read the two slots behind A's tokens in C1. *)
Example a_run_is_not_a_full_chunk : sees 12 (first a2) (held a2) = 2 /\ sees 12 (first a2) 4 = 4.
Proof. split; reflexivity. Qed.

(** ** Numbers: all scores are 0, and the value of a token is its position. Slots that hold no token
    have the value 1000. *)

Open Scope R_scope.

Definition value_in (C i : nat) : R :=
  let stored := fun f t => if (i <? t)%nat then INR (f + i) else 1000 in
  match C with
  | 0%nat => stored 0%nat 4%nat
  | 1%nat => stored 4%nat 2%nat
  | 2%nat => stored 6%nat 4%nat
  | 3%nat => stored 10%nat 2%nat
  | 4%nat => stored 10%nat 3%nat
  | _ => stored 10%nat 1%nat
  end.

Definition numbers : inputs :=
  Inputs 1 1 1 1 (fun s => s) (fun _ _ => zeros) (fun _ _ _ => zeros) (fun C _ i _ => value_in C i).

(** Row 0 sees 0 .. 11: the mean is 66/12. Row 1 sees 0 .. 5 and 10 .. 12: 48/9. Row 2 sees 6 .. 10:
    40/5. *)
Lemma mean_of J total :
  J <> [] -> Forall (fun k => score k = 0) J ->
  fold_right (fun k y => value k 0%nat + y) 0 J = total ->
  attention J 0%nat = total / INR (length J).
Proof.
  intros some same <-; rewrite attention_of_keys by exact some.
  assert (A J 0%nat = fold_right (fun k y => value k 0%nat + y) 0 J /\ W J = INR (length J))
    as [-> ->]; [|reflexivity].
  clear some; unfold A, W; induction same as [|k J E same [IHa IHw]]; [split; reflexivity|].
  simpl sum; simpl fold_right; simpl length.
  rewrite E, exp_0, S_INR, IHa, IHw; split; ring.
Qed.

Example means v :
  map (fun s =>
         finish (row_result with_lists numbers (causal last_token) (stored_key numbers) v s 0 0)
                0%nat)
      [0; 1; 2]%nat = [66 / 12; 48 / 9; 40 / 5].
Proof.
  assert (complete with_lists) as C by (apply valid_is_complete, run_check_decides; reflexivity).
  assert (rows_ordered numbers) as O by (intros s; simpl; lia).
  assert (forall s, (s < 3)%nat ->
    finish (row_result with_lists numbers (causal last_token) (stored_key numbers) v s 0 0) 0%nat =
    attention (seen with_lists (causal last_token) (stored_key numbers) s (s + 0) 0) 0%nat) as E.
  { intros s lt; refine (f_equal (fun f : vector => f 0%nat)
      (proj1 (two_phases_over_runs with_lists numbers (causal last_token) (stored_key numbers) v
        s 0 0 C O lt _))); unfold n_rows; simpl; lia. }
  simpl map; rewrite !E by lia; repeat f_equal.
  - rewrite (mean_of _ 66); [simpl; lra | discriminate | | unfold seen; simpl; lra].
    repeat constructor; simpl; unfold score_of; simpl; unfold zeros; ring.
  - rewrite (mean_of _ 48); [simpl; lra | discriminate | | unfold seen; simpl; lra].
    repeat constructor; simpl; unfold score_of; simpl; unfold zeros; ring.
  - rewrite (mean_of _ 40); [simpl; lra | discriminate | | unfold seen; simpl; lra].
    repeat constructor; simpl; unfold score_of; simpl; unfold zeros; ring.
Qed.

(** A token more for prompt 0, and one for a prompt whose last chunk is full. *)
Example growing :
  run_check (with_runs with_lists 0 [a1; a2; b1; Run 3 3 10]) = true /\
  run_check (with_runs with_lists 1 [a1; a2; Run 4 3 10; Run 3 1 13]) = true /\
  run_check (with_runs with_lists 1 [a1; a2; Run 4 5 10]) = false.
Proof. repeat split. Qed.
