(* SPDX-License-Identifier: Apache-2.0 *)
(** * Plans of runs for kernels that know ranges alone (spec/runs.md: RUNS-9) *)
From Coq Require Import List Permutation Arith Bool Lia.
From Chunkproof Require Import Plan Runs RunsReads.
From Chunkproof Require Tree TwoPhase RunsTree.
Import ListNotations.
Open Scope nat_scope.

(** Which sequences a descriptor serves, in the order in which they stand. *)
Definition set_of (q : run_plan) (D : descriptor) : list bool :=
  map (fun s => has s (members q D)) (seq 0 (n_prompts q)).

Definition covering (s : nat) (r : nat * nat) : bool := (fst r <=? s) && (s <? snd r).
Definition is_wide (r : nat * nat) : bool := fst r + 2 <=? snd r.

(** A descriptor for each maximal range of two sequences or more, *)
Definition cut (q : run_plan) (D : descriptor) : list descriptor :=
  map (fun r => Descriptor (chunk D) (fst r) (snd r) (n_keys D) (position D))
      (filter is_wide (maximal (set_of q D))).

(** and for a range of one the sequence reads the run as its own. *)
Definition is_alone (q : run_plan) (s : nat) (D : descriptor) : bool :=
  existsb (fun r => covering s r && negb (is_wide r)) (maximal (set_of q D)).

Definition as_ranges (q : run_plan) : run_plan :=
  let cuts := flat_map (cut q) (descriptors q) in
  Run_plan (n_pool q) (width q) (n_prompts q) (seq 0 (n_prompts q)) cuts
    (fun s => map run_of (filter (Plan.serves s) cuts) ++
              map run_of (filter (is_alone q s) (descriptors q)) ++ own q s)
    (fun s => length (filter (Plan.serves s) cuts)).

(** ** Each sequence of a set is in one maximal range *)

Lemma same_start l p r s :
  In p (starts l) -> In r (starts l) ->
  p <= s < p + leading (skipn p l) -> r <= s < r + leading (skipn r l) -> p = r.
Proof.
  intros inp inr [lep ltp] [ler ltr]; apply starts_In in inp; apply starts_In in inr.
  assert (forall i, p <= i <= s -> on l i = true) as from_p.
  { intros i le; apply (proj1 (leading_on l p (s - p)) ltac:(lia)); lia. }
  assert (forall i, r <= i <= s -> on l i = true) as from_r.
  { intros i le; apply (proj1 (leading_on l r (s - r)) ltac:(lia)); lia. }
  destruct (Nat.lt_trichotomy p r) as [lt|[E|gt]]; [exfalso|exact E|exfalso].
  - destruct r as [|r]; [lia|]; destruct inr as [_ off].
    rewrite from_p in off by lia; discriminate.
  - destruct p as [|p]; [lia|]; destruct inp as [_ off].
    rewrite from_r in off by lia; discriminate.
Qed.

Lemma one_range_covers l s :
  if on l s then exists r, filter (covering s) (maximal l) = [r]
  else filter (covering s) (maximal l) = [].
Proof.
  assert (covers_it : forall i j, In (i, j) (maximal l) -> covering s (i, j) = true ->
            In i (starts l) /\ i <= s < i + leading (skipn i l)).
  { intros i j inr c; unfold maximal in inr; apply in_map_iff in inr.
    destruct inr as (p & E & inp); injection E as <- <-; split; [exact inp|].
    unfold covering in c; simpl in c; apply andb_true_iff in c.
    rewrite Nat.leb_le, Nat.ltb_lt in c; exact c. }
  destruct (maximal_ranges_cover l) as [C _]; specialize (C s); destruct (on l s).
  - destruct (proj1 C eq_refl) as (i & j & inr & le & lt); exists (i, j).
    assert (covering s (i, j) = true) as c
      by (unfold covering; apply andb_true_iff; rewrite Nat.leb_le, Nat.ltb_lt; auto).
    apply (Tree.filter_single (covering s) fst); [|exact inr | exact c|].
    + unfold maximal; rewrite map_map, map_id; apply starts_once.
    + intros [i' j'] inr' c'; simpl.
      destruct (covers_it i j inr c), (covers_it i' j' inr' c'); apply (same_start l i' i s); auto.
  - apply TwoPhase.filter_none; intros [i j] inr; apply not_true_iff_false; intros c.
    unfold covering in c; simpl in c; apply andb_true_iff in c.
    rewrite Nat.leb_le, Nat.ltb_lt in c; assert (false = true) as F; [|discriminate F].
    apply C; exists i, j; auto.
Qed.

Lemma existsb_filter {T} (f g : T -> bool) l :
  existsb (fun y => f y && g y) l = existsb g (filter f l).
Proof.
  induction l as [|y l IH]; simpl; [reflexivity|]; rewrite IH.
  destruct (f y); simpl; reflexivity.
Qed.

Lemma on_set q D s : s < n_prompts q -> on (set_of q D) s = has s (members q D).
Proof.
  intros inb; unfold on, set_of.
  rewrite (nth_indep _ false (has 0 (members q D))) by (rewrite map_length, seq_length; exact inb).
  rewrite (map_nth (fun s => has s (members q D)) (seq 0 (n_prompts q)) 0), seq_nth by exact inb.
  reflexivity.
Qed.

(** So of a descriptor's cuts, and what is alone, s has its run once. *)
Lemma cut_gives_the_run q D s :
  s < n_prompts q ->
  map run_of (filter (Plan.serves s) (cut q D)) ++ (if is_alone q s D then [run_of D] else []) =
  if has s (members q D) then [run_of D] else [].
Proof.
  intros inb; unfold cut, is_alone; rewrite TwoPhase.filter_map, existsb_filter.
  pose proof (one_range_covers (set_of q D) s) as one; rewrite on_set in one by exact inb.
  rewrite (filter_ext (fun r => Plan.serves s
    (Descriptor (chunk D) (fst r) (snd r) (n_keys D) (position D))) (covering s))
    by (intros r; reflexivity).
  rewrite Plan.filter_filter, (filter_ext _ (fun r => covering s r && is_wide r))
    by (intros r; apply andb_comm).
  rewrite <- Plan.filter_filter; destruct (has s (members q D)).
  - destruct one as [r ->]; simpl; destruct (is_wide r); reflexivity.
  - rewrite one; reflexivity.
Qed.

Theorem ranges_give_the_same_runs q s :
  valid q -> s < n_prompts q -> Permutation (runs (as_ranges q) s) (runs q s).
Proof.
  intros V inb; destruct (valid_is_complete q V) as (_ & _ & once).
  apply Permutation_trans with (2 := once s inb); simpl; rewrite app_assoc.
  apply Permutation_app_tail; unfold serving.
  induction (descriptors q) as [|D l IH]; [constructor|].
  simpl; rewrite filter_app, map_app, <- app_assoc.
  pose proof (cut_gives_the_run q D s inb) as E.
  replace (map run_of (if has s (members q D) then D :: filter (fun D => has s (members q D)) l
                       else filter (fun D => has s (members q D)) l))
    with ((map run_of (filter (Plan.serves s) (cut q D)) ++
           (if is_alone q s D then [run_of D] else [])) ++
          map run_of (filter (fun D => has s (members q D)) l))
    by (rewrite E; destruct (has s (members q D)); reflexivity).
  rewrite <- app_assoc; apply Permutation_app_head.
  apply Permutation_trans with ((if is_alone q s D then [run_of D] else []) ++
    (map run_of (filter (Plan.serves s) (flat_map (cut q) l)) ++
     map run_of (filter (is_alone q s) l))); [|apply Permutation_app_head, IH].
  destruct (is_alone q s D); simpl; [|apply Permutation_refl].
  apply Permutation_sym, Permutation_middle.
Qed.

(** RUNS-9: the plan with ranges is valid, and gives each sequence the runs that it has. *)
Theorem ranges_are_valid q : valid q -> valid (as_ranges q).
Proof.
  intros V; pose proof V as (R1 & _ & _).
  assert (inside : forall D, In D (descriptors (as_ranges q)) ->
            begin D + 2 <= end_ D <= n_prompts q).
  { intros D inD; simpl in inD; apply in_flat_map in inD; destruct inD as (E & _ & inD).
    apply in_map_iff in inD; destruct inD as ([i j] & <- & inr); apply filter_In in inr; simpl.
    destruct inr as [inr wide]; unfold is_wide in wide; simpl in wide; apply Nat.leb_le in wide.
    split; [exact wide|]; destruct (maximal_ranges_cover (set_of q E)) as [C _].
    assert (on (set_of q E) (j - 1) = true) as last
      by (apply C; exists i, j; split; [exact inr | lia]).
    apply on_inside in last; unfold set_of in last; rewrite map_length, seq_length in last; lia. }
  assert (range : forall D, In D (descriptors (as_ranges q)) ->
            members (as_ranges q) D = seq (begin D) (end_ D - begin D)).
  { intros D inD; specialize (inside D inD); apply RunsTree.middle_of_seq; lia. }
  split; [|split].
  - intros s inb; simpl in inb; pose proof (ranges_give_the_same_runs q s V inb) as P.
    destruct (R1 s inb) as [ok once]; split.
    + intros R inR; apply ok, (Permutation_in R P), inR.
    + apply (Permutation_NoDup (Permutation_sym (Permutation_flat_map positions P))), once.
  - intros D inD; specialize (inside D inD); rewrite (range D inD); simpl; rewrite seq_length.
    split; [lia|]; split; [apply seq_NoDup|]; intros s ins; apply in_seq in ins; lia.
  - intros s inb; simpl in inb.
    replace (serving (as_ranges q) s (descriptors (as_ranges q)))
      with (filter (Plan.serves s) (descriptors (as_ranges q))).
    + simpl; rewrite app_length, map_length; split; [lia|].
      rewrite firstn_app, map_length, Nat.sub_diag; simpl; rewrite app_nil_r.
      rewrite firstn_all2 by (rewrite map_length; lia); reflexivity.
    + apply filter_ext_in; intros D inD; rewrite (range D inD); apply eq_true_iff_eq.
      rewrite has_in, in_seq, Plan.serves_range; lia.
Qed.

(** RUNS-9: a chunk is read once for each maximal range: by a descriptor, or by a sequence alone. *)
Theorem reads_of_a_chunk q D :
  length (cut q D) +
  length (filter (fun r => negb (is_wide r)) (maximal (set_of q D))) = n_ranges (set_of q D).
Proof.
  destruct (maximal_ranges_cover (set_of q D)) as [_ <-]; unfold cut; rewrite map_length.
  rewrite <- app_length; symmetry; apply Permutation_length, split_by.
Qed.
