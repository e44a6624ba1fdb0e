(* SPDX-License-Identifier: Apache-2.0 *)
(** * The executable check of a plan of runs decides validity (spec/runs.md: RUNS-1 to RUNS-3)

    One walk over the descriptors, with a place in each sequence's list of runs: a descriptor must
    give each of its sequences the run that comes next there. *)
From Coq Require Import Arith List Permutation Bool Lia.
From Chunkproof Require Import Plan PlanCheck Runs.
Import ListNotations.

(** ** RUNS-1 for one sequence *)

Definition run_ok (q : run_plan) (R : run) : bool :=
  (in_chunk R <? n_pool q) && (1 <=? held R) && (held R <=? width q).

Definition ends (R : run) : nat := first R + held R.
Definition apart (R R' : run) : bool := (ends R <=? first R') || (ends R' <=? first R).

Fixpoint all_apart (l : list run) : bool :=
  match l with [] => true | R :: rest => forallb (apart R) rest && all_apart rest end.

Definition prompt_ok (q : run_plan) (s : nat) : bool :=
  (n_common q s <=? length (runs q s)) && forallb (run_ok q) (runs q s) && all_apart (runs q s).

(** ** RUNS-2 for one descriptor *)

Fixpoint once (l : list nat) : bool :=
  match l with [] => true | s :: rest => negb (has s rest) && once rest end.

Definition serves_ok (q : run_plan) (D : descriptor) : bool :=
  (begin D + 2 <=? end_ D) && (end_ D <=? length (served q)) && once (members q D) &&
  forallb (fun s => s <? n_prompts q) (members q D).

(** ** RUNS-3: the walk *)

Definition same_run (R R' : run) : bool :=
  (in_chunk R =? in_chunk R') && (held R =? held R') && (first R =? first R').

Definition comes_next (q : run_plan) (place : nat -> nat) (D : descriptor) (s : nat) : bool :=
  (place s <? n_common q s) && same_run (nth (place s) (runs q s) (run_of D)) (run_of D).

Fixpoint walk (q : run_plan) (place : nat -> nat) (l : list descriptor) : option (nat -> nat) :=
  match l with
  | [] => Some place
  | D :: rest =>
      if serves_ok q D && forallb (comes_next q place D) (members q D)
      then walk q (fun s => if has s (members q D) then S (place s) else place s) rest
      else None
  end.

Definition run_check (q : run_plan) : bool :=
  forallb (prompt_ok q) (seq 0 (n_prompts q)) &&
  match walk q (fun _ => 0) (descriptors q) with
  | Some place => forallb (fun s => place s =? n_common q s) (seq 0 (n_prompts q))
  | None => false
  end.

(** ** What it finds out *)

Lemma all_apart_positions l :
  (forall R, In R l -> 1 <= held R) ->
  (all_apart l = true <-> NoDup (flat_map positions l)).
Proof.
  induction l as [|R l IH]; simpl; intros some; [split; [constructor | reflexivity]|].
  specialize (IH (fun R' inR => some R' (or_intror inR))).
  rewrite andb_true_iff, forallb_forall, IH; split.
  - intros [far N]; apply nodup_app; [apply seq_NoDup | exact N|]; intros y iny inl.
    apply in_flat_map in inl; destruct inl as (R' & inR & inl); specialize (far R' inR).
    unfold apart, ends in far; unfold positions in *; apply in_seq in iny; apply in_seq in inl.
    apply orb_true_iff in far; rewrite !Nat.leb_le in far; lia.
  - intros N; destruct (nodup_app_parts _ _ N) as [rest far]; split; [|exact rest].
    intros R' inR; unfold apart, ends; apply orb_true_iff; rewrite !Nat.leb_le.
    pose proof (some R (or_introl eq_refl)); pose proof (some R' (or_intror inR)).
    assert (forall y, In y (positions R) -> In y (positions R') -> False) as no.
    { intros y iny iny'; apply (far y iny), in_flat_map; exists R'; auto. }
    unfold positions in no.
    destruct (Nat.le_gt_cases (first R) (first R')) as [le|gt].
    + destruct (Nat.le_gt_cases (first R + held R) (first R')) as [|near]; [auto|exfalso].
      apply (no (first R')); apply in_seq; lia.
    + destruct (Nat.le_gt_cases (first R' + held R') (first R)) as [|near]; [auto|exfalso].
      apply (no (first R)); apply in_seq; lia.
Qed.

Lemma prompts_ok_spec q :
  forallb (prompt_ok q) (seq 0 (n_prompts q)) = true <->
  RUNS_1 q /\ forall s, s < n_prompts q -> n_common q s <= length (runs q s).
Proof.
  rewrite forallb_forall.
  assert (one : forall s, prompt_ok q s = true <->
    n_common q s <= length (runs q s) /\
    (forall R, In R (runs q s) -> in_chunk R < n_pool q /\ 1 <= held R <= width q) /\
    NoDup (flat_map positions (runs q s))).
  { intros s; unfold prompt_ok; rewrite !andb_true_iff, Nat.leb_le, forallb_forall.
    assert ((forall R, In R (runs q s) -> run_ok q R = true) <->
            (forall R, In R (runs q s) -> in_chunk R < n_pool q /\ 1 <= held R <= width q)) as ->.
    { unfold run_ok; split; intros H R inR; specialize (H R inR);
        rewrite !andb_true_iff, Nat.ltb_lt, !Nat.leb_le in *; tauto. }
    split.
    - intros [[le ok] far]; split; [exact le|]; split; [exact ok|].
      apply all_apart_positions; [intros R inR; apply (ok R inR) | exact far].
    - intros (le & ok & N); split; [split; assumption|].
      apply all_apart_positions; [intros R inR; apply (ok R inR) | exact N]. }
  split.
  - intros H; split; intros s inb; specialize (H s); rewrite one in H; apply H, in_seq; lia.
  - intros [R1 few] s ins; apply in_seq in ins; apply one.
    split; [apply few; lia | apply R1; lia].
Qed.

Lemma once_spec l : once l = true <-> NoDup l.
Proof.
  induction l as [|s l IH]; simpl; [split; [constructor | reflexivity]|].
  rewrite andb_true_iff, IH, NoDup_cons_iff, negb_true_iff, <- not_true_iff_false, has_in; tauto.
Qed.

Lemma serves_ok_spec q D :
  serves_ok q D = true <->
  begin D + 2 <= end_ D <= length (served q) /\ NoDup (members q D) /\
  forall s, In s (members q D) -> s < n_prompts q.
Proof.
  unfold serves_ok; rewrite !andb_true_iff, !Nat.leb_le, once_spec, forallb_forall.
  assert ((forall s, In s (members q D) -> (s <? n_prompts q) = true) <->
          (forall s, In s (members q D) -> s < n_prompts q)) as ->; [|tauto].
  split; intros H s ins; apply Nat.ltb_lt, H, ins.
Qed.

Lemma same_run_spec R R' : same_run R R' = true <-> R = R'.
Proof.
  unfold same_run; rewrite !andb_true_iff, !Nat.eqb_eq; destruct R, R'; simpl; split.
  - intros [[-> ->] ->]; reflexivity.
  - intros E; injection E; auto.
Qed.

Lemma skipn_next {T} (l : list T) i y :
  i < length l -> skipn i l = nth i l y :: skipn (S i) l.
Proof.
  revert i; induction l as [|z l IH]; intros [|i] lt; simpl in *; try lia; [reflexivity|].
  apply IH; lia.
Qed.

(** What is left of a sequence's shared runs is what the descriptors that are left give to it. *)
Definition left_to_give (q : run_plan) (place : nat -> nat) (l : list descriptor) : Prop :=
  forall s, s < n_prompts q -> place s <= n_common q s /\
    map run_of (serving q s l) = firstn (n_common q s - place s) (skipn (place s) (runs q s)).

Lemma walk_spec q l place :
  (forall s, s < n_prompts q -> n_common q s <= length (runs q s)) ->
  ((exists last, walk q place l = Some last /\
                 forall s, s < n_prompts q -> last s = n_common q s) <->
   (forall D, In D l -> serves_ok q D = true) /\ left_to_give q place l).
Proof.
  intros few; revert place; induction l as [|D l IH]; intros place; simpl.
  - split.
    + intros (last & E & all); injection E as <-; split; [intros D []|].
      intros s inb; rewrite (all s inb), Nat.sub_diag; simpl; auto.
    + intros [_ given]; exists place; split; [reflexivity|]; intros s inb.
      destruct (given s inb) as [le E]; specialize (few s inb); apply (f_equal (@length _)) in E.
      simpl in E; rewrite firstn_length, skipn_length in E; lia.
  - set (next := fun s => if has s (members q D) then S (place s) else place s).
    assert (step : serves_ok q D = true ->
      (forallb (comes_next q place D) (members q D) = true /\ left_to_give q next l <->
       left_to_give q place (D :: l))).
    { intros ok; apply serves_ok_spec in ok; destruct ok as (_ & _ & inside).
      unfold left_to_give, serving; rewrite forallb_forall; simpl filter; split.
      - intros [nexts given] s inb; destruct (given s inb) as [le E]; unfold next in *.
        destruct (has s (members q D)) eqn:h; [|split; assumption].
        apply has_in in h; pose proof (nexts s h) as c; unfold comes_next in c.
        apply andb_true_iff in c; rewrite Nat.ltb_lt, same_run_spec in c; destruct c as [lt R].
        split; [lia|]; simpl; specialize (few s inb).
        rewrite (skipn_next (runs q s) (place s) (run_of D)), R by lia.
        replace (n_common q s - place s) with (S (n_common q s - S (place s))) by lia.
        simpl firstn; rewrite E; reflexivity.
      - intros given; split.
        + intros s ins; pose proof (inside s ins) as inb; destruct (given s inb) as [le E].
          rewrite (proj2 (has_in s _) ins) in E; simpl in E; specialize (few s inb).
          unfold comes_next; rewrite andb_true_iff, Nat.ltb_lt, same_run_spec.
          destruct (n_common q s - place s) as [|n] eqn:En; [discriminate|].
          rewrite (skipn_next (runs q s) (place s) (run_of D)) in E by lia; simpl in E.
          injection E as E _; split; [lia | symmetry; exact E].
        + intros s inb; destruct (given s inb) as [le E]; unfold next.
          destruct (has s (members q D)) eqn:h; [|split; assumption].
          simpl in E; specialize (few s inb).
          destruct (n_common q s - place s) as [|n] eqn:En; [discriminate|].
          rewrite (skipn_next (runs q s) (place s) (run_of D)) in E by lia; simpl in E.
          injection E as _ E; split; [lia|].
          replace (n_common q s - S (place s)) with n by lia; exact E. }
    specialize (IH next); split.
    + destruct (serves_ok q D && _) eqn:ok; [|intros (? & ? & _); discriminate].
      apply andb_true_iff in ok; destruct ok as [ok nexts]; intros found.
      apply IH in found; destruct found as [all given]; split.
      * intros E [<-|inE]; auto.
      * apply step; auto.
    + intros [all given]; pose proof (all D (or_introl eq_refl)) as ok.
      apply (step ok) in given; destruct given as [nexts given].
      rewrite ok, nexts; apply IH; split; [intros E inE; apply all; right; exact inE | exact given].
Qed.

(** The check says yes exactly for the valid plans of runs (RUNS-1 to RUNS-3). *)
Theorem run_check_decides q : run_check q = true <-> valid q.
Proof.
  unfold run_check; rewrite andb_true_iff, prompts_ok_spec.
  assert (found : (match walk q (fun _ => 0) (descriptors q) with
      | Some place => forallb (fun s => place s =? n_common q s) (seq 0 (n_prompts q))
      | None => false end = true) <->
    exists last, walk q (fun _ => 0) (descriptors q) = Some last /\
                 forall s, s < n_prompts q -> last s = n_common q s).
  { destruct (walk q _ _) as [place|]; [|split; [discriminate | intros (? & ? & _); discriminate]].
    rewrite forallb_forall; split.
    - intros H; exists place; split; [reflexivity|]; intros s inb.
      apply Nat.eqb_eq, H, in_seq; lia.
    - intros (last & E & H) s ins; injection E as <-; apply in_seq in ins.
      apply Nat.eqb_eq, H; lia. }
  rewrite found; split.
  - intros [[R1 few] walked]; apply walk_spec in walked; [|exact few].
    destruct walked as [ok given]; split; [exact R1|]; split.
    + intros D inD; apply serves_ok_spec, ok, inD.
    + intros s inb; split; [apply few, inb|]; destruct (given s inb) as [_ ->].
      rewrite Nat.sub_0_r; reflexivity.
  - intros (R1 & R2 & R3); split; [split; [exact R1 | intros s inb; apply R3, inb]|].
    apply walk_spec; [intros s inb; apply R3, inb|]; split.
    + intros D inD; apply serves_ok_spec, R2, inD.
    + intros s inb; split; [lia|]; destruct (R3 s inb) as [_ ->].
      rewrite Nat.sub_0_r; reflexivity.
Qed.
