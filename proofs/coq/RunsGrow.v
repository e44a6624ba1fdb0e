(* SPDX-License-Identifier: Apache-2.0 *)
(** * Plans of runs while decoding (spec/runs.md: RUNS-8) *)
From Coq Require Import ZArith List Permutation Arith Bool Lia.
From Chunkproof Require Import Softmax Plan Rows TwoPhase Runs.
Import ListNotations.
Open Scope nat_scope.

(** The plan with another list of runs for sequence s. Descriptors and `served` are not touched. *)
Definition with_runs (q : run_plan) (s : nat) (l : list run) : run_plan :=
  Run_plan (n_pool q) (width q) (n_prompts q) (served q) (descriptors q)
           (fun s' => if s' =? s then l else runs q s') (n_common q).

Definition longer (R : run) : run := Run (in_chunk R) (held R + 1) (first R).

(** Where the next token of a run stands. *)
Definition next (R : run) : nat := first R + held R.

Lemma positions_of_longer R : positions (longer R) = positions R ++ [next R].
Proof. unfold positions, next; simpl; rewrite seq_app; reflexivity. Qed.

Lemma firstn_front {T} n (front rest : list T) :
  n <= length front -> firstn n (front ++ rest) = firstn n front.
Proof.
  intros le; rewrite firstn_app; replace (n - length front) with 0 by lia; apply app_nil_r.
Qed.

(** Another end of the list, behind the runs of descriptors, which breaks neither RUNS-1 nor RUNS-2.
    *)
Lemma another_end_is_valid q s front rest rest' :
  valid q -> s < n_prompts q -> runs q s = front ++ rest -> n_common q s <= length front ->
  (forall R, In R rest' -> in_chunk R < n_pool q /\ 1 <= held R <= width q) ->
  NoDup (flat_map positions (front ++ rest')) ->
  valid (with_runs q s (front ++ rest')).
Proof.
  intros (R1 & R2 & R3) inb E few ok once; split; [|split; [exact R2|]]; intros s' inb'; simpl in *;
    destruct (Nat.eqb_spec s' s) as [->|other]; try (apply R1; exact inb');
    try (apply R3; exact inb').
  - split; [|exact once]; intros R inR; apply in_app_iff in inR; destruct inR as [inR|inR]; auto.
    apply (R1 s inb); rewrite E; apply in_or_app; auto.
  - destruct (R3 s inb) as [_ E']; rewrite app_length; split; [lia|].
    rewrite E, firstn_front in E' by exact few; rewrite firstn_front by exact few; exact E'.
Qed.

(** RUNS-8: the last own run grows by a token, whose position is free. *)
Theorem growing_keeps_valid q s front R :
  valid q -> s < n_prompts q -> runs q s = front ++ [R] -> n_common q s <= length front ->
  held R < width q -> ~ In (next R) (flat_map positions (runs q s)) ->
  valid (with_runs q s (front ++ [longer R])).
Proof.
  intros V inb E few room free; apply (another_end_is_valid q s front [R]); auto.
  - intros R' [<-|[]]; destruct V as (R1 & _); destruct (R1 s inb) as [ok _].
    assert (In R (runs q s)) as inR by (rewrite E; apply in_or_app; right; left; reflexivity).
    specialize (ok R inR); simpl; lia.
  - destruct V as (R1 & _); destruct (R1 s inb) as [_ once].
    rewrite E in once, free; rewrite flat_map_app in *; simpl in *; rewrite app_nil_r in *.
    rewrite positions_of_longer, app_assoc.
    apply (Permutation_NoDup (l := next R :: flat_map positions front ++ positions R)).
    + apply Permutation_cons_append.
    + constructor; assumption.
Qed.

(** RUNS-8: or a run of one token is added, in a chunk of its own. *)
Theorem a_new_run_keeps_valid q s C p :
  valid q -> s < n_prompts q -> C < n_pool q -> 1 <= width q ->
  ~ In p (flat_map positions (runs q s)) ->
  valid (with_runs q s (runs q s ++ [Run C 1 p])).
Proof.
  intros V inb inC pos free.
  pose proof V as (R1 & _ & R3); destruct (R1 s inb) as [_ once]; destruct (R3 s inb) as [few _].
  apply (another_end_is_valid q s (runs q s) []); [exact V | exact inb | | exact few | |].
  - symmetry; apply app_nil_r.
  - intros R [<-|[]]; simpl; lia.
  - rewrite flat_map_app; simpl.
    apply (Permutation_NoDup (l := p :: flat_map positions (runs q s))).
    + apply Permutation_cons_append.
    + constructor; assumption.
Qed.

(** A position behind all tokens of a sequence is free. *)
Theorem behind_all_is_free q s p :
  (forall R, In R (runs q s) -> first R + held R <= p) ->
  ~ In p (flat_map positions (runs q s)).
Proof.
  intros behind inp; apply in_flat_map in inp; destruct inp as (R & inR & inp).
  apply in_seq in inp; specialize (behind R inR); lia.
Qed.

(** RUNS-8: a row at the new token sees this token and what it saw before, *)
Theorem growing_adds_one_key q x stands_at s front R r a :
  runs q s = front ++ [R] -> (Z.of_nat (next R) <= stands_at r)%Z ->
  seen (with_runs q s (front ++ [longer R])) (causal stands_at) (stored_key x) s r a =
  seen q (causal stands_at) (stored_key x) s r a ++ [stored_key x r a R (held R)].
Proof.
  intros E after; unfold seen; simpl; rewrite Nat.eqb_refl, E, !flat_map_app; simpl.
  rewrite !app_nil_r, <- app_assoc; f_equal; unfold run_keys, causal; simpl.
  replace (sees (stands_at r) (first R) (held R + 1)) with (held R + 1)
    by (unfold sees, next in *; lia).
  replace (sees (stands_at r) (first R) (held R)) with (held R) by (unfold sees, next in *; lia).
  rewrite seq_app, map_app; reflexivity.
Qed.

(** also when it is a run of its own; *)
Theorem a_new_run_adds_one_key q x stands_at s C p r a :
  seen (with_runs q s (runs q s ++ [Run C 1 p])) (causal stands_at) (stored_key x) s r a =
  seen q (causal stands_at) (stored_key x) s r a ++
  if (Z.of_nat p <=? stands_at r)%Z then [slot_key x r a C 0] else [].
Proof.
  unfold seen; simpl; rewrite Nat.eqb_refl, flat_map_app; simpl; rewrite app_nil_r; f_equal.
  unfold run_keys, causal; simpl; destruct (Z.leb_spec (Z.of_nat p) (stands_at r)) as [le|gt].
  - replace (sees (stands_at r) p 1) with 1 by (unfold sees; lia); reflexivity.
  - replace (sees (stands_at r) p 1) with 0 by (unfold sees; lia); reflexivity.
Qed.

(** a row before it sees what it saw, *)
Theorem earlier_rows_see_the_same q x stands_at s front R r a :
  runs q s = front ++ [R] -> (stands_at r < Z.of_nat (next R))%Z ->
  seen (with_runs q s (front ++ [longer R])) (causal stands_at) (stored_key x) s r a =
  seen q (causal stands_at) (stored_key x) s r a.
Proof.
  intros E before; unfold seen; simpl; rewrite Nat.eqb_refl, E, !flat_map_app; simpl.
  rewrite !app_nil_r; f_equal; unfold run_keys, causal; simpl; do 2 f_equal.
  unfold sees, next in *; lia.
Qed.

(** and nothing changes for another sequence. *)
Theorem others_see_the_same q slots key_of s l s' r a :
  s' <> s -> seen (with_runs q s l) slots key_of s' r a = seen q slots key_of s' r a.
Proof.
  intros other; unfold seen; simpl; apply Nat.eqb_neq in other; rewrite other; reflexivity.
Qed.
