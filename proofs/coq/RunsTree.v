(* SPDX-License-Identifier: Apache-2.0 *)
(** * A tree's plan is a plan of runs (spec/runs.md: RUNS-6) *)
From Coq Require Import Reals ZArith List Sorted Permutation Arith Bool Lia.
From Chunkproof Require Import Softmax Merge Rows Runs.
From Chunkproof Require Plan TwoPhase Tree.
Import Plan.
Import ListNotations.
Open Scope nat_scope.

(** ** A text in chunks: run k of n tokens that stand from position f on *)

Definition text_run (c : nat) (chunk_at : nat -> nat) (f n k : nat) : run :=
  Run (chunk_at k) (Nat.min ((k + 1) * c) n - k * c) (f + k * c).

Definition text_runs (c : nat) (chunk_at : nat -> nat) (f n N : nat) : list run :=
  map (text_run c chunk_at f n) (seq 0 N).

(** Its runs have its positions, each once and in order. *)
Theorem text_runs_have_its_positions c chunk_at f n N :
  n <= N * c -> flat_map positions (text_runs c chunk_at f n N) = seq f n.
Proof.
  intros long; pose proof (chunk_by_chunk (fun i => f + i) c n N) as E.
  rewrite Nat.min_r in E by exact long.
  rewrite (map_seq_from (fun i => i)), map_id, Nat.add_0_r in E; rewrite <- E.
  unfold text_runs; rewrite !flat_map_concat_map, map_map; f_equal; apply map_ext; intros k.
  unfold positions; simpl; rewrite (map_ext _ (fun i => f + k * c + i)) by (intros; lia).
  rewrite (map_seq_from (fun i => i)), map_id, Nat.add_0_r; reflexivity.
Qed.

(** ** The plan of runs of a plan *)

(** The whole path of a sequence, as runs. *)
Definition path_runs (p : plan) (s : nat) : list run :=
  text_runs (chunk_size p) (path (sequence p s)) 0 (n_tokens (sequence p s))
            (n_chunks (sequence p s)).

Definition as_runs (p : plan) : run_plan := {|
  n_pool := capacity p;
  width := chunk_size p;
  n_prompts := n_sequences p;
  served := seq 0 (n_sequences p);
  descriptors := shared p;
  runs := fun s => map run_of (filter (Plan.serves s) (shared p)) ++
                   map (text_run (chunk_size p) (path (sequence p s)) 0 (n_tokens (sequence p s)))
                       (TwoPhase.own_chunks p s);
  n_common := fun s => n_shared (sequence p s)
|}.

Lemma middle_of_seq b i n : i + n <= b -> firstn n (skipn i (seq 0 b)) = seq i n.
Proof.
  intros le; replace b with (i + (n + (b - i - n))) by lia; rewrite seq_app, skipn_app.
  rewrite skipn_all2 by (rewrite seq_length; lia).
  rewrite seq_length, Nat.sub_diag; simpl; rewrite seq_app, firstn_app, seq_length, Nat.sub_diag.
  rewrite firstn_all2 by (rewrite seq_length; lia); simpl; rewrite app_nil_r; reflexivity.
Qed.

Lemma members_are_the_range p D :
  PLAN_1 p -> In D (shared p) -> members (as_runs p) D = seq (begin D) (end_ D - begin D).
Proof. intros [_ P1] inD; destruct (P1 D inD); apply middle_of_seq; lia. Qed.

Lemma serving_is_serving p s order :
  PLAN_1 p -> (forall D, In D order -> In D (shared p)) ->
  serving (as_runs p) s order = filter (Plan.serves s) order.
Proof.
  intros P1 part; apply filter_ext_in; intros D inD.
  rewrite members_are_the_range by auto; apply eq_true_iff_eq.
  rewrite has_in, in_seq, Plan.serves_range; lia.
Qed.

(** The run that a descriptor gives to s is the one of its path at the descriptor's depth. *)
Lemma run_on_path p s D :
  Plan.complete p -> s < n_sequences p -> In D (shared p) -> Plan.serves s D = true ->
  run_of D = text_run (chunk_size p) (path (sequence p s)) 0 (n_tokens (sequence p s))
                      (depth_of p D).
Proof.
  intros C inb inD sD; destruct (serving_chunk p s D C inb inD sD) as (_ & Ec & Ep & Ek).
  unfold run_of, text_run; fold (keys_in p s (depth_of p D)); rewrite Ec, Ep, Ek; reflexivity.
Qed.

Lemma runs_by_depth p s :
  Plan.complete p -> s < n_sequences p ->
  runs (as_runs p) s =
  map (text_run (chunk_size p) (path (sequence p s)) 0 (n_tokens (sequence p s)))
      (map (depth_of p) (filter (Plan.serves s) (shared p)) ++ TwoPhase.own_chunks p s).
Proof.
  intros C inb; simpl; rewrite map_app, map_map; f_equal; apply map_ext_in; intros D inD.
  apply filter_In in inD; apply run_on_path; tauto.
Qed.

Lemma whole_path p s :
  Plan.complete p -> s < n_sequences p ->
  seq 0 (n_chunks (sequence p s)) =
  seq 0 (n_shared (sequence p s)) ++ TwoPhase.own_chunks p s.
Proof.
  intros (_ & P2 & _) inb; destruct (P2 s inb) as [few _].
  replace (n_chunks (sequence p s))
    with (n_shared (sequence p s) + (n_chunks (sequence p s) - n_shared (sequence p s))) by lia.
  rewrite seq_app; reflexivity.
Qed.

(** A sequence's runs are those of its path, each once. *)
Theorem runs_are_those_of_the_path p s :
  Plan.complete p -> s < n_sequences p -> Permutation (runs (as_runs p) s) (path_runs p s).
Proof.
  intros C inb; rewrite runs_by_depth by assumption; unfold path_runs, text_runs.
  rewrite (whole_path p s C inb); apply Permutation_map, Permutation_app_tail, serving_depths;
    assumption.
Qed.

(** RUNS-6: a valid plan is a valid plan of runs. *)
Theorem plan_is_plan_of_runs p : Plan.valid p -> Runs.valid (as_runs p).
Proof.
  intros [C P4]; pose proof C as (P1 & P2 & P3 & P7); pose proof P1 as [pos one]; split; [|split].
  - intros s inb; simpl in inb; pose proof (runs_are_those_of_the_path p s C inb) as P.
    destruct (P7 s inb) as [len _]; split.
    + intros R inR; apply (Permutation_in R P) in inR; apply in_map_iff in inR.
      destruct inR as (k & <- & ink); apply in_seq in ink; simpl; split.
      * apply (proj2 (P2 s inb)); lia.
      * fold (keys_in p s k); destruct (Nat.eq_dec (k + 1) (n_chunks (sequence p s))) as [E|Ne].
        -- destruct (keys_of_last_chunk p s C inb ltac:(lia)) as [_ bounds].
           replace k with (n_chunks (sequence p s) - 1) by lia; exact bounds.
        -- rewrite keys_of_full_chunk by (auto; lia); lia.
    + apply (Permutation_NoDup (Permutation_sym (Permutation_flat_map positions P))).
      unfold path_runs; rewrite text_runs_have_its_positions by lia; apply seq_NoDup.
  - intros D inD; pose proof (one D inD) as (_ & range & _).
    rewrite members_are_the_range by assumption.
    simpl; rewrite seq_length; split; [lia|]; split; [apply seq_NoDup|].
    intros s ins; apply in_seq in ins; lia.
  - intros s inb; simpl in inb; rewrite serving_is_serving by auto; simpl.
    pose proof (Permutation_length (serving_depths p s C inb)) as count.
    rewrite map_length, seq_length in count.
    rewrite firstn_app, map_length, count, Nat.sub_diag, app_nil_r, app_length, map_length, count.
    split; [lia|]; rewrite firstn_all2 by (rewrite map_length; lia); reflexivity.
Qed.

(** ** Both meanings of two phases agree *)

(** In a plan of a tree rows stand where PREFILL-1 says. *)
Definition at_the_end (p : plan) (x : TwoPhase.inputs) (stands_at : nat -> Z) : Prop :=
  forall s t, s < n_sequences p -> t < TwoPhase.n_rows x s ->
    stands_at (TwoPhase.row_number x s t) = TwoPhase.position_of p x s t.

Lemma parts_agree p x stands_at order s t a :
  PLAN_1 p -> at_the_end p x stands_at -> (forall D, In D order -> In D (shared p)) ->
  s < n_sequences p -> t < TwoPhase.n_rows x s -> Plan.complete p ->
  parts (as_runs p) (causal stands_at) (stored_key x) order s (TwoPhase.row_number x s t) a =
  TwoPhase.parts p x order s t a.
Proof.
  intros P1 at_ part inb lt C; unfold parts, TwoPhase.parts.
  rewrite serving_is_serving, map_app, map_map by assumption; f_equal.
  - apply map_ext; intros D; unfold run_keys, causal, TwoPhase.shared_keys.
    rewrite at_ by assumption; reflexivity.
  - unfold own; simpl; pose proof (Permutation_length (serving_depths p s C inb)) as count.
    rewrite map_length, seq_length in count.
    rewrite skipn_app, skipn_all2 by (rewrite map_length; lia).
    rewrite map_length, count, Nat.sub_diag; simpl; rewrite map_map; apply map_ext; intros k.
    unfold run_keys, causal, TwoPhase.row_keys; rewrite at_ by assumption; reflexivity.
Qed.

(** RUNS-6: the two phases of TPP-1 and TPP-2 over a plan, and those over its runs, reach the same
    state, in both variants and any order of the descriptors. *)
Theorem phases_agree p x stands_at order s t a :
  Plan.complete p -> TwoPhase.rows_ordered x -> at_the_end p x stands_at ->
  Permutation order (shared p) -> s < n_sequences p -> t < TwoPhase.n_rows x s ->
  buffered (as_runs p) x (causal stands_at) (stored_key x) order s t a =
  TwoPhase.buffered p x order s t a.
Proof.
  intros C O at_ P inb lt; rewrite buffered_parts, TwoPhase.buffered_parts by assumption.
  rewrite parts_agree; auto; [apply C|].
  intros D inD; apply (Permutation_in D P inD).
Qed.

Theorem outputs_agree p x stands_at v s t a :
  Plan.valid p -> TwoPhase.rows_ordered x -> at_the_end p x stands_at ->
  s < n_sequences p -> t < TwoPhase.n_rows x s ->
  let state := row_result (as_runs p) x (causal stands_at) (stored_key x) v s t a in
  finish state = TwoPhase.output p x v s t a /\ lse_of state = TwoPhase.output_lse p x v s t a.
Proof.
  intros Vp O at_ inb lt; pose proof (plan_is_plan_of_runs p Vp) as (_ & R2 & _).
  unfold TwoPhase.output, TwoPhase.output_lse.
  replace (row_result (as_runs p) x (causal stands_at) (stored_key x) v s t a)
    with (TwoPhase.row_result p x v s t a); [split; reflexivity|].
  destruct v; simpl.
  - symmetry; apply phases_agree; auto; apply Vp.
  - rewrite (TwoPhase.variants_agree p x (shared p)) by auto.
    rewrite (variants_over_runs_agree (as_runs p) x (causal stands_at) (stored_key x) (shared p))
      by auto.
    symmetry; apply phases_agree; auto; apply Vp.
Qed.

(** ** In a tree's plan the runs of a sequence are its path, first to last *)

Lemma sorted_numbers l i N : StronglySorted lt l -> Permutation l (seq i N) -> l = seq i N.
Proof.
  revert l i; induction N as [|N IH]; intros l i sorted P.
  - apply Permutation_sym, Permutation_nil in P; exact P.
  - destruct l as [|y l]; [apply Permutation_nil in P; discriminate|].
    inversion sorted as [|y' l' sorted' least]; subst; rewrite Forall_forall in least.
    assert (y = i) as ->.
    { assert (In i (y :: l)) as ini
        by (apply (Permutation_in i (Permutation_sym P)); left; reflexivity).
      assert (In y (seq i (S N))) as iny by (apply (Permutation_in y P); left; reflexivity).
      apply in_seq in iny; destruct ini as [E|ini]; [exact E|]; apply least in ini; lia. }
    simpl in P |- *; apply Permutation_cons_inv in P; rewrite (IH l (S i) sorted' P); reflexivity.
Qed.

Theorem runs_of_a_tree_are_paths t p s :
  Tree.tree_ok t -> Tree.plan_of t p -> s < n_sequences p ->
  runs (as_runs p) s = path_runs p s.
Proof.
  intros ok of inb; pose proof (Tree.tree_plan_is_valid t p ok of) as [C P4].
  rewrite runs_by_depth by assumption; unfold path_runs, text_runs.
  rewrite (whole_path p s C inb); do 2 f_equal.
  apply sorted_numbers; [|apply serving_depths; assumption].
  pose proof ok as (_ & _ & _ & T3 & T4 & T5); destruct of as (_ & Ec & Eb & L & _).
  assert (forall D, In D (filter (Plan.serves s) (shared p)) -> In D (shared p) /\
            Plan.serves s D = true) as them by (intros D inD; apply filter_In, inD).
  assert (StronglySorted before (filter (Plan.serves s) (shared p))) as S.
  { unfold PLAN_4 in P4; clear - P4; induction P4 as [|D l S IH F]; simpl; [constructor|].
    destruct (Plan.serves s D); [constructor; [exact IH|]|exact IH].
    rewrite Forall_forall in *; intros E inE; apply filter_In in inE; apply F; tauto. }
  induction S as [|D l S IH F]; simpl; [constructor|].
  constructor; [apply IH; intros E inE; apply them; right; exact inE|].
  rewrite Forall_forall in *; intros k ink; apply in_map_iff in ink; destruct ink as (E & <- & inE).
  pose proof (F E inE) as B; destruct (them D (or_introl eq_refl)) as [inD sD].
  destruct (them E (or_intror inE)) as [inE' sE].
  destruct (serving_chunk p s D C inb inD sD) as (_ & _ & pD & _).
  destruct (serving_chunk p s E C inb inE' sE) as (_ & _ & pE & _).
  apply L in inD; destruct inD as (x & ux & _ & ED); apply L in inE'.
  destruct inE' as (y & uy & _ & EE); apply Plan.serves_range in sD; apply Plan.serves_range in sE.
  pose proof C as ((pos & _) & _); unfold depth_of in *; subst D E; simpl in *.
  rewrite Ec in *; rewrite !Nat.div_mul in * by lia.
  destruct (T4 x s ux sD) as [lx Ex]; destruct (T4 y s uy sE) as [ly Ey].
  destruct (Nat.lt_ge_cases (Tree.depth t x) (Tree.depth t y)) as [lt|ge]; [exact lt|exfalso].
  pose proof (T5 s (Tree.depth t y) (Tree.depth t x) ltac:(lia) ltac:(lia)) as nested.
  rewrite Ex, Ey in nested; unfold before in B; simpl in B; nia.
Qed.

(** So a two-phase kernel for runs serves trees, and attention over a tree's plan is attention over
    its runs. *)
Theorem runs_of_a_tree_are_seen p x stands_at s t a :
  Plan.valid p -> TwoPhase.rows_ordered x -> at_the_end p x stands_at ->
  s < n_sequences p -> t < TwoPhase.n_rows x s ->
  let all := seen (as_runs p) (causal stands_at) (stored_key x) s (TwoPhase.row_number x s t) a in
  attention all = attention (TwoPhase.seen p x s t a) /\ lse all = lse (TwoPhase.seen p x s t a).
Proof.
  intros Vp O at_ inb lt all; unfold all; clear all.
  pose proof (valid_is_complete _ (plan_is_plan_of_runs p Vp)) as C.
  destruct (two_phases_over_runs (as_runs p) x (causal stands_at) (stored_key x) TwoPhase.Buffered
    s t a C O inb lt) as [<- <-].
  destruct (outputs_agree p x stands_at TwoPhase.Buffered s t a Vp O at_ inb lt) as [-> ->].
  apply TwoPhase.two_phases_are_attention; assumption.
Qed.
