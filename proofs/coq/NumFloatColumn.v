(* SPDX-License-Identifier: Apache-2.0 *)
(** * The bound of a column, with what is computed to nearest (spec/tolerance.md: NUM-10)

    NumFloatBound.v takes as hypotheses what NumFloatNearest.v proves. Here they meet. *)
From Coq Require Import Reals ZArith Bool List Lra Lia.
From Flocq Require Import Core.
From Chunkproof Require Import NumFloat NumFloatRow NumFloatUp NumFloatParts NumFloatTerms
  NumFloatScores NumFloatReferences NumFloatKeys NumFloatBound NumFloatNearest.
From Chunkproof Require NumCore NumExec NumInvariant NumTolerance.
Import ListNotations.
Open Scope R_scope.

Local Notation total := NumCore.total.

Lemma fold_map {S T U} (f : U -> T -> U) (h : S -> T) l first :
  fold_left f (map h l) first = fold_left (fun s x => f s (h x)) l first.
Proof. revert first; induction l as [|x l IH]; simpl; intros first; [reflexivity | apply IH]. Qed.

Section Column.
Variable o : ops.
Variable B : binary64 o.
Local Notation fin := (finite B).
Local Notation val := (value B).

(** What a finite bound is made of is finite. *)
Lemma bound_needs a error expected spare :
  fin (with_output o a error expected spare) -> fin error /\ fin expected /\ fin spare.
Proof.
  unfold with_output; cbv zeta; destruct (negb _); intros f; [exfalso; exact (of_infinite o B f)|].
  destruct (up_plus_is_up o B _ _ f) as [f1 [fs _]].
  destruct (up_plus_is_up o B _ _ f1) as [f2 _].
  destruct (up_plus_is_up o B _ _ f2) as [fe [f3 _]].
  destruct (up_plus_is_up o B _ _ f3) as [f4 _].
  destruct (up_times_is_up o B _ _ f4) as [_ [f5 _]].
  destruct (up_plus_is_up o B _ _ f5) as [f6 _].
  destruct (up_plus_is_up o B _ _ f6) as [f7 _].
  split; [exact fe | split; [exact (fin_abs o B _ f7) | exact fs]].
Qed.

Variables (a : arithmetic o) (k : counts o) (b : references o).
Variables (rg : NumExec.range) (kr : NumExec.counts).
Variable L : list (scored o * F o * NumExec.input).
Local Notation the_score := (fun x : scored o * F o * NumExec.input => fst (fst x)).
Local Notation the_value := (fun x : scored o * F o * NumExec.input => snd (fst x)).
Local Notation the_input := (fun x : scored o * F o * NumExec.input => snd x).

Let n := Z.of_nat (length L).
Let t := val (top o b).
Let c := scales_of o a k b n.
Let cl := real_class o B a.
Let J := map the_input L.
Let keys := map (fun x => weigh o a k b c (the_score x)) L.
Let m := sums_of o a k b c keys.
Let column := map (fun x => (weigh o a k b c (the_score x), the_value x)) L.
Let e (x : scored o * F o * NumExec.input) := exp (NumExec.s (the_input x) - t).

Hypothesis ga : good_class o B a.
Hypothesis cov : covers o B b rg t.
Hypothesis sane : NumExec.sane_range rg.
Hypothesis counted : counts_are o B k kr.
Hypothesis some : (1 <= n <= 2 ^ 20)%Z.
Hypothesis all_known : forall x, In x L -> known o B b rg x.
Hypothesis top_finite : fin (top o b).
Hypothesis top_most : val (top o b) <= val (high o b).
Hypothesis enclosed : forall x, In x L ->
  val (low o b) <= val (score o (the_score x)) <= val (top o b).
Hypothesis one_top : exists x, In x L /\ val (score o (the_score x)) = val (top o b).
Hypothesis z_small : val (largest_z o b) <= bpow radix2 (-30).

Let order : val (low o b) <= val (top o b) <= val (high o b).
Proof.
  destruct one_top as [x [inx _]]; pose proof (enclosed x inx); split; [lra | exact top_most].
Qed.

Let near_top : forall x, In x L ->
  fin (score o (the_score x)) /\
  Rabs (val (score o (the_score x)) - NumExec.s (the_input x)) <= val (largest_z o b) /\
  val (low o b) <= val (score o (the_score x)) <= val (top o b).
Proof.
  intros x inx; destruct (all_known x inx); split; [assumption | split; [assumption|]].
  apply enclosed, inx.
Qed.

Let weights_are :
  all_weights o m = sum_of o (fun x => weight_of o b (the_score x)) L (zero o).
Proof. unfold m, sums_of, keys; cbn [all_weights]; rewrite fold_map; reflexivity. Qed.

Let weight_is_near x :
  In x L -> fin (weight_of o b (the_score x)) -> fin (lack o c) ->
  e x <= val (weight_of o b (the_score x)) * (1 + val (lack o c)).
Proof.
  intros inx fw fl; unfold e, t.
  apply (weight_within_lack o B b n (fin_high o B _ _ _ cov) (fin_low o B _ _ _ cov) top_finite
    order (good_z o B _ _ _ cov) z_small some the_score (fun x => NumExec.s (the_input x)) L
    near_top x inx fw fl).
Qed.

Let sum_is_near :
  fin (all_weights o m) -> fin (lack o c) ->
  val (all_weights o m) * (1 - val (lack o c)) <= total e L
    <= val (all_weights o m) * (1 + val (lack o c)).
Proof.
  rewrite weights_are; intros fw fl; unfold e, t.
  apply (sum_within_lack o B b n (fin_high o B _ _ _ cov) (fin_low o B _ _ _ cov) top_finite
    order (good_z o B _ _ _ cov) z_small some the_score (fun x => NumExec.s (the_input x)) L
    eq_refl near_top one_top fw fl).
Qed.

Lemma exact_is :
  NumTolerance.exact J = total (fun x => e x * NumExec.value (the_input x)) L / total e L.
Proof.
  assert (NumTolerance.weight_sum J * exp (- t) = total e L) as ws by exact (weight_sum_is o t L).
  unfold NumTolerance.exact; rewrite <- ws.
  replace (total (fun x => e x * NumExec.value (the_input x)) L)
    with (total (fun j => exp (NumExec.s j) * NumExec.value j) J * exp (- t)).
  2:{ unfold J; rewrite NumCore.total_map, Rmult_comm, <- NumCore.total_scale.
      apply NumCore.total_ext; intros x _; unfold e; rewrite scaled; ring. }
  assert (0 < NumTolerance.weight_sum J) as W0.
  { unfold NumTolerance.weight_sum, J; rewrite NumCore.total_map.
    destruct one_top as [x [inx _]]; apply Rlt_le_trans with (exp (NumExec.s (the_input x)));
      [apply exp_pos|].
    apply (total_one (fun x => exp (NumExec.s (the_input x)))); [|exact inx].
    intros; left; apply exp_pos. }
  pose proof (exp_pos (- t)); field; lra.
Qed.

(** A bound that is finite, of a row that claims something, holds for what is computed as
    `expected`, and the formula has one. *)
Theorem column_holds :
  let expected := fst (bound_column o a c m column) in
  let bound := snd (bound_column o a c m column) in
  fin bound -> fin (left o m) -> 0 < val (left o m) ->
  0 < NumTolerance.left_over cl rg J kr /\
  NumTolerance.tolerance cl rg (real_ending o B a) J kr
    + Rabs (val expected - NumTolerance.exact J) <= val bound /\
  (fin (f_largest o (c_output o a)) ->
   Rabs (NumTolerance.exact J) + NumTolerance.before_output (real_ending o B a)
     (NumTolerance.exact J) (NumTolerance.quotient_bound cl rg J kr)
     <= val (f_largest o (c_output o a))).
Proof.
  unfold bound_column; cbn [fst snd].
  set (expected := expected_of o m column); set (spare := spare_of o c m column).
  intros f fl l0; destruct (bound_needs _ _ _ _ f) as [fq [fe fs]].
  destruct (up_quotient_is_up o B _ _ fq fl) as [ferr _].
  assert (forall x, In x L -> fin (key_t o (weigh o a k b c (the_score x)))) as t_finite.
  { intros x inx; unfold error_of in ferr; destruct (up_plus_is_up o B _ _ ferr) as [f1 _].
    unfold up_sum in f1; destruct (up_times_is_up o B _ _ f1) as [f2 _].
    destruct (up_plus_is_up o B _ _ f2) as [f3 _].
    unfold column in f3; rewrite fold_map in f3; cbn [fst snd] in f3.
    destruct (sum_finite o B _ _ _ f3) as [_ all]; specialize (all x inx); cbn beta in all.
    destruct (of_add o B _ _ all) as [_ [f4 _]]; apply (of_mul o B _ _ f4). }
  assert (Z.of_nat (length L) <= 2 ^ 20)%Z as few by (unfold n in some; lia).
  destruct (left_is_down o B a k b c rg kr t L ga cov sane counted all_known eq_refl weight_is_near
    sum_is_near fl) as [fln [fsh _]].
  destruct (sums_finite o B a k b c L fln fsh) as [fW [flack _]].
  assert (Rabs (val expected - NumTolerance.exact J) <= val spare) as near.
  { rewrite exact_is.
    pose proof (mean_within_spare o B b n (fin_high o B _ _ _ cov) (fin_low o B _ _ _ cov)
      top_finite order (good_z o B _ _ _ cov) z_small some the_score
      (fun x => NumExec.s (the_input x)) L eq_refl near_top one_top the_value (all_weights o m)
      weights_are fW flack) as within_spare.
    assert (expected = div o (sum_of o (fun x => mul o (weight_of o b (the_score x)) (the_value x))
      L (zero o)) (all_weights o m)) as E1.
    { unfold expected, expected_of, column; rewrite fold_map; reflexivity. }
    assert (length column = length L) as lc by (unfold column; apply map_length).
    assert (spare = NumFloat.up_plus o (up_sum o (div o (sum_of o (fun x =>
        mul o (mul o (weight_of o b (the_score x)) (abs o (the_value x)))
          (if NumFloat.le o (weight_of o b (the_score x)) (pow2 o (-1021)) then one o
           else lack_of o b n)) L (zero o)) (all_weights o m)) (n + 4))
      (mul o (of_int o n) (pow2 o (-1074)))) as E2.
    { unfold spare, spare_of; rewrite lc; unfold column; rewrite fold_map; reflexivity. }
    clearbody expected spare; subst expected spare; specialize (within_spare fe fs).
    rewrite (NumCore.total_ext (fun x => e x * NumExec.value (the_input x))
      (fun x => e x * val (the_value x))); [exact within_spare|].
    intros x inx; rewrite (known_value o B _ _ _ (all_known x inx)); reflexivity. }
  destruct (column_is_up o B a k b c rg kr t L ga cov sane counted few all_known eq_refl
    weight_is_near sum_is_near t_finite expected spare near f fl l0) as [A1 [A2 A3]].
  split; [exact A1 | split; [|exact A3]]; fold J cl in A2.
  apply Rle_trans with (2 := A2), Rplus_le_compat_l, near.
Qed.
(** The same of the log-sum-exp: NUM-11. *)
Theorem lse_holds sure lse_error :
  let claim := bound_lse o b c m sure lse_error in
  fin (snd claim) -> fin (left o m) -> 0 < val (left o m) -> 0 <= val lse_error ->
  let part := NumTolerance.denominator_error cl rg J kr in
  0 < NumTolerance.left_over cl rg J kr /\ part < 1 /\
  val lse_error - ln (1 - part)
    + Rabs (val (fst claim) - ln (NumTolerance.weight_sum J)) <= val (snd claim).
Proof.
  intros claim f fl l0 x0 part.
  split; [exact (left_over_is_positive o B a k b c rg kr t L ga cov sane counted all_known eq_refl
    weight_is_near sum_is_near fl l0)|].
  assert (L <> []) as someL.
  { destruct one_top as [x [inx _]]; intros E; rewrite E in inx; contradiction. }
  destruct (denominator_is_up o B a k b c rg kr t L ga cov sane counted all_known eq_refl
    weight_is_near sum_is_near someL fl l0) as [fle [le0 [p0 near]]].
  assert (fin (lack o c) /\ fin (fst claim)) as [flack flse].
  { revert f; unfold claim, bound_lse; destruct (_ || _); cbn [fst snd]; intros f;
      [exfalso; exact (of_infinite o B f)|].
    destruct (up_plus_is_up o B _ _ f) as [_ [f1 _]].
    destruct (up_plus_is_up o B _ _ f1) as [f2 [f3 _]].
    destruct (up_times_is_up o B _ _ f3) as [_ [f4 _]].
    split; [exact f2 | apply (fin_abs o B), f4]. }
  assert (fst claim = add o (top o b) (log_of o (all_weights o m))) as E
    by (unfold claim, bound_lse; destruct (_ || _); reflexivity).
  pose proof (exp_pos (- t)) as t0.
  assert (0 < NumTolerance.weight_sum J) as W0.
  { apply NumTolerance.weight_sum_positive; unfold J; intros N; apply map_eq_nil in N; auto. }
  assert (ln (NumTolerance.weight_sum J) = t + ln (total e L)) as lse_is.
  { assert (NumTolerance.weight_sum J * exp (- t) = total e L) as <- by exact (weight_sum_is o t L).
    rewrite ln_mult, ln_exp by assumption; ring. }
  apply (lse_is_up o B b c m sure lse_error part (val lse_error)); try assumption; [lra|].
  fold claim; rewrite lse_is; unfold t; rewrite E in *.
  apply (lse_within_lack o B b n (fin_high o B _ _ _ cov) (fin_low o B _ _ _ cov) top_finite
    order (good_z o B _ _ _ cov) z_small some the_score (fun x => NumExec.s (the_input x)) L
    eq_refl near_top one_top (all_weights o m) weights_are flack flse).
Qed.
End Column.
