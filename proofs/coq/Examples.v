(* SPDX-License-Identifier: Apache-2.0 *)
(** * The examples of the specification, computed

    They show that what the theorems suppose does occur: states with and without keys, valid trees,
    valid plans with shared and private chunks, rows before, in and at the end of a sequence. *)
From Coq Require Import Reals ZArith List Arith Lia Lra.
From Chunkproof Require Import Softmax Merge Plan Rows TwoPhase Prefill Tree PlanCheck.
Import ListNotations.
Open Scope R_scope.

(** Vectors of one and of two numbers. *)
Definition one (a : R) : vector := fun i => match i with O => a | _ => 0 end.
Definition two (a b : R) : vector := fun i => match i with O => a | S O => b | _ => 0 end.

Lemma ln_pos x : 1 < x -> 0 < ln x.
Proof. intros gt; rewrite <- ln_1; apply ln_increasing; lra. Qed.

Lemma exp_minus_ln x y : 0 < y -> exp (x - ln y) = exp x / y.
Proof.
  intros pos; unfold Rminus, Rdiv; rewrite exp_plus, exp_Ropp, exp_ln by exact pos; reflexivity.
Qed.

(** ** spec/softmax.md: scores 0 and ln 3, values (1, 0) and (0, 1), one key in each part *)

Definition part_1 : list key := [Key 0 (two 1 0)].
Definition part_2 : list key := [Key (ln 3) (two 0 1)].

Example states_of_parts :
  partial_attn part_1 = State 0 1 (two 1 0) /\ partial_attn part_2 = State (ln 3) 1 (two 0 1).
Proof.
  assert (forall s, exp (s - s) = 1) as E
    by (intros s; unfold Rminus; rewrite Rplus_opp_r; apply exp_0).
  split; unfold partial_attn, partial_attn_at; simpl; rewrite E; f_equal; try ring;
    apply vector_eq; intros i; destruct i as [|[|i]]; simpl; ring.
Qed.

Example merge_of_parts :
  attn_reduce (partial_attn part_1) (partial_attn part_2) = State (ln 3) (4 / 3) (two (1 / 3) 1).
Proof.
  destruct states_of_parts as [-> ->].
  destruct (attn_reduce_n (State 0 1 (two 1 0)) (State (ln 3) 1 (two 0 1))) as [-> _]; simpl;
    try lra.
  rewrite Rmax_right by (pose proof (ln_pos 3); lra).
  unfold reduce_at; simpl; rewrite !exp_minus_ln, exp_0, exp_ln by lra.
  f_equal; [field|]; apply vector_eq; intros i; destruct i as [|[|i]]; simpl; field.
Qed.

Example finish_of_parts :
  finish (State (ln 3) (4 / 3) (two (1 / 3) 1)) = two (1 / 4) (3 / 4) /\
  lse_of (State (ln 3) (4 / 3) (two (1 / 3) 1)) = Finite (ln 4).
Proof.
  unfold finish, lse_of; simpl; destruct (Req_EM_T (4 / 3) 0); [lra|]; split.
  - apply vector_eq; intros i; destruct i as [|[|i]]; simpl; field.
  - rewrite <- ln_mult by lra; do 2 f_equal; lra.
Qed.

(** ** spec/two_phase.md: S0 has three tokens, S1 the first two of them; C0 is shared, C1 is S0's *)

Definition example_plan : plan :=
  Plan 2 2 2 [Descriptor 0 0 2 2 0]
       (fun s => match s with
                 | O => Sequence 3 2 1 (fun k => k)       (* C0 | C1 *)
                 | _ => Sequence 2 1 1 (fun _ => 0%nat)   (* C0 *)
                 end).

Example example_plan_is_valid : valid example_plan.
Proof. apply plan_check_decides; reflexivity. Qed.

(** d = 1, scale 1; q0 = 1, q1 = 0. *)
Definition example_inputs : inputs :=
  Inputs 1 1 1 1 (fun s => s)
         (fun r _ => one (match r with O => 1 | _ => 0 end))
         (fun C _ i => one (match C, i with O, O => 0 | O, S O => ln 2 | _, _ => ln 5 end))
         (fun C _ i => one (match C, i with O, O => 8 | O, S O => 4 | _, _ => 0 end)).

Lemma example_decodes : decoding example_inputs.
Proof. intros s; reflexivity. Qed.

Lemma ln_2_5 : 0 < ln 2 < ln 5.
Proof. split; [apply ln_pos; lra | apply ln_increasing; lra]. Qed.

(** What the rows see: q0 the scores 0, ln 2, ln 5 with the values 8, 4, 0; q1 twice the score 0. *)
Lemma q0_shared_keys :
  shared_keys example_plan example_inputs 0 0 0 (Descriptor 0 0 2 2 0) =
  [Key 0 (one 8); Key (ln 2) (one 4)].
Proof.
  unfold shared_keys, chunk_keys; change (seq 0 _) with [0; 1]%nat.
  unfold slot_key, score_of; cbn -[Rmult Rplus ln].
  repeat f_equal; ring.
Qed.

Lemma q1_shared_keys :
  shared_keys example_plan example_inputs 1 0 0 (Descriptor 0 0 2 2 0) =
  [Key 0 (one 8); Key 0 (one 4)].
Proof.
  unfold shared_keys, chunk_keys; change (seq 0 _) with [0; 1]%nat.
  unfold slot_key, score_of; cbn -[Rmult Rplus ln].
  repeat f_equal; ring.
Qed.

Lemma q0_own_keys : row_keys example_plan example_inputs 0 0 0 1 = [Key (ln 5) (one 0)].
Proof.
  unfold row_keys, chunk_keys; change (seq 0 _) with [0]%nat.
  unfold slot_key, score_of; cbn -[Rmult Rplus ln].
  repeat f_equal; ring.
Qed.

(** Chunk first. *)
Example chunk_first_q0 :
  shared_state example_plan example_inputs 0 0 0 (Descriptor 0 0 2 2 0) =
  State (ln 2) (3 / 2) (one 8).
Proof.
  unfold shared_state; rewrite q0_shared_keys; unfold partial_attn, partial_attn_at; simpl.
  rewrite Rmax_right by (pose proof ln_2_5; lra).
  rewrite !exp_minus_ln, exp_0, exp_ln by lra.
  f_equal; [field|]; apply vector_eq; intros i; destruct i as [|i]; simpl; field.
Qed.

Example chunk_first_q1 :
  shared_state example_plan example_inputs 1 0 0 (Descriptor 0 0 2 2 0) = State 0 2 (one 12).
Proof.
  unfold shared_state; rewrite q1_shared_keys; unfold partial_attn, partial_attn_at; simpl.
  rewrite Rmax_left, Rminus_0_r, exp_0 by lra.
  f_equal; [ring|]; apply vector_eq; intros i; destruct i as [|i]; simpl; ring.
Qed.

(** Sequence first. *)
Example own_chunk_q0 : row_state example_plan example_inputs 0 0 0 1 = State (ln 5) 1 (one 0).
Proof.
  unfold row_state; rewrite q0_own_keys; unfold partial_attn, partial_attn_at; simpl.
  rewrite exp_minus_ln, exp_ln by lra.
  f_equal; [field|]; apply vector_eq; intros i; destruct i as [|i]; simpl; field.
Qed.

Example sequence_first_q0 v :
  row_result example_plan example_inputs v 0 0 0 = State (ln 5) (8 / 5) (one (16 / 5)).
Proof.
  assert (row_result example_plan example_inputs Buffered 0 0 0 =
    State (ln 5) (8 / 5) (one (16 / 5))) as E.
  { change (attn_reduce
              (attn_reduce empty
                 (shared_state example_plan example_inputs 0 0 0 (Descriptor 0 0 2 2 0)))
              (row_state example_plan example_inputs 0 0 0 1) =
              State (ln 5) (8 / 5) (one (16 / 5))).
    rewrite merge_identity_left, chunk_first_q0, own_chunk_q0.
    destruct (attn_reduce_n (State (ln 2) (3 / 2) (one 8)) (State (ln 5) 1 (one 0))) as [-> _];
      simpl; try lra.
    rewrite Rmax_right by (pose proof ln_2_5; lra).
    unfold reduce_at; simpl; rewrite !exp_minus_ln, !exp_ln by lra.
    f_equal; [field|]; apply vector_eq; intros i; destruct i as [|i]; simpl; field. }
  destruct v; [exact E|]; rewrite <- E.
  apply variants_agree; auto using decoding_ordered, example_decodes.
Qed.

Example outputs_of_q0 v :
  output example_plan example_inputs v 0 0 0 = one 2 /\
  output_lse example_plan example_inputs v 0 0 0 = Finite (ln 8).
Proof.
  unfold output, output_lse; rewrite sequence_first_q0; unfold finish, lse_of; simpl.
  destruct (Req_EM_T (8 / 5) 0); [lra|]; split.
  - apply vector_eq; intros i; destruct i as [|i]; simpl; field.
  - rewrite <- ln_mult by lra; do 2 f_equal; lra.
Qed.

(** Directly, by the theorem: q1 has the weights 1, 1 of 2. *)
Example outputs_of_q1 v :
  output example_plan example_inputs v 1 0 0 = one 6 /\
  output_lse example_plan example_inputs v 1 0 0 = Finite (ln 2).
Proof.
  destruct (two_phases_are_attention example_plan example_inputs v 1 0 0) as [-> ->];
    auto using example_plan_is_valid, decoding_ordered, example_decodes; try (simpl; lia).
  rewrite seen_by_chunks by (try apply example_plan_is_valid; simpl; lia).
  change (concat (map (row_keys example_plan example_inputs 1 0 0)
    (seq 0 (n_chunks (sequence example_plan 1)))))
    with (shared_keys example_plan example_inputs 1 0 0 (Descriptor 0 0 2 2 0) ++ []).
  rewrite q1_shared_keys; split.
  - apply vector_eq; intros i; unfold attention, A, W; simpl; rewrite exp_0.
    destruct i as [|i]; simpl; field.
  - unfold lse, W; simpl; rewrite exp_0; do 2 f_equal; ring.
Qed.

Open Scope nat_scope.

(** PLAN-3, note: a valid plan may list a common chunk in the private parts of two sequences. *)
Example common_chunk_listed_twice : valid (Plan 1 2 2 [] (fun _ => Sequence 2 1 0 (fun _ => 0))).
Proof. apply plan_check_decides; reflexivity. Qed.

(** ** spec/prefill.md: c = 2; S0 has 5 tokens and 3 rows, S1 has 4 tokens and 5 rows *)

Example positions_of_rows :
  map (row_position 5 3) (seq 0 3) = [2; 3; 4]%Z /\
  map (row_position 4 5) (seq 0 5) = [-1; 0; 1; 2; 3]%Z.
Proof. split; reflexivity. Qed.

Example what_rows_see :
  map (fun t => let pos := row_position 5 3 t in [sees pos 0 2; sees pos 2 2; sees pos 4 1])
      (seq 0 3) =
    [[2; 1; 0]; [2; 2; 0]; [2; 2; 1]] /\
  map (fun t => let pos := row_position 4 5 t in [sees pos 0 2; sees pos 2 2]) (seq 0 5) =
    [[0; 0]; [1; 0]; [2; 0]; [2; 1]; [2; 2]].
Proof. split; reflexivity. Qed.

(** S0 and S1 share C0 and C1; C2 is S0's. The first row of S1 stands before the sequence, whatever
    Q, K and V are (PREFILL-3). *)
Definition prefill_plan : plan :=
  Plan 3 2 2 [Descriptor 0 0 2 2 0; Descriptor 1 0 2 2 2]
       (fun s => match s with
                 | O => Sequence 5 3 2 (fun k => k)
                 | _ => Sequence 4 2 2 (fun k => k)
                 end).

Example prefill_plan_is_valid : valid prefill_plan.
Proof. apply plan_check_decides; reflexivity. Qed.

Example masked_row scale q k v variant :
  let x := Inputs 1 1 1 scale (fun s => nth s [0; 3] 8) q k v in
  output prefill_plan x variant 1 0 0 = zeros /\
  output_lse prefill_plan x variant 1 0 0 = Minus_infinity.
Proof.
  intros x; apply fully_masked_row; [exact prefill_plan_is_valid | | simpl; lia | | reflexivity].
  - intros s; do 2 (destruct s as [|s]; [simpl; lia|]); destruct s; simpl; lia.
  - unfold n_rows; simpl; lia.
Qed.

(** ** spec/plan.md: the papers' Figure 2, with c = 4 *)

Definition figure_2 : tree :=
  Tree 8 4 3 (fun x => x < 8)
       (fun x => nth x [0; 0; 0; 0; 1; 2; 1; 2] 0)
       (fun x => nth x [3; 3; 3; 1; 2; 3; 2; 3] 0)
       (fun x => nth x [0; 1; 2; 3; 3; 3; 4; 4] 0)
       (fun x => nth x [4; 4; 4; 4; 4; 4; 2; 2] 0)
       (fun s => nth s [4; 5; 5] 0)
       (fun s k => nth k (nth s [[0; 1; 2; 3]; [0; 1; 2; 4; 6]; [0; 1; 2; 5; 7]] []) 0).

Example figure_2_is_valid : tree_ok figure_2.
Proof.
  split; [split; [simpl; lia | intros x us; exact us]|].
  split; [intros x us; do 8 (destruct x as [|x]; [simpl; lia|]); simpl in us; lia|].
  split; [intros x us part; do 8 (destruct x as [|x]; [simpl in *; lia|]); simpl in us; lia|].
  split.
  { intros s k ins ink; do 3 (destruct s as [|s];
      [do 5 (destruct k as [|k]; [simpl in *; lia|]); simpl in ink; lia|]); simpl in ins; lia. }
  split.
  { intros x s us ins; do 8 (destruct x as [|x];
      [do 3 (destruct s as [|s]; [simpl in *; lia|]); simpl in ins; lia|]); simpl in us; lia. }
  intros s j k ins ink; do 3 (destruct s as [|s];
    [do 5 (destruct k as [|k]; [do 5 (destruct j as [|j]; [simpl in *; lia|]); lia|]);
     simpl in ink; lia|]); simpl in ins; lia.
Qed.

(** Its plan is the one of spec/plan.md. *)
Example figure_2_plan :
  shared (build figure_2) =
    [Descriptor 0 0 3 4 0; Descriptor 1 0 3 4 4; Descriptor 2 0 3 4 8] /\
  map (fun s => let r := sequence (build figure_2) s in
                (n_tokens r, n_chunks r, n_shared r, map (path r) (seq 0 (n_chunks r)))) [0; 1; 2] =
    [(16, 4, 3, [0; 1; 2; 3]); (18, 5, 3, [0; 1; 2; 4; 6]); (18, 5, 3, [0; 1; 2; 5; 7])].
Proof. split; reflexivity. Qed.

Example figure_2_pairs :
  list_sum (map (fun s => n_chunks (sequence (build figure_2) s)) [0; 1; 2]) = 14 /\
  length (covered_pairs (build figure_2) (shared (build figure_2))) = 9 /\
  listed (build figure_2) = 9.
Proof. repeat split. Qed.
