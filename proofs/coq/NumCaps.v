(* SPDX-License-Identifier: Apache-2.0 *)
(** * Weights that are made below the references (spec/tolerance.md: NUM-9, NUM-22)

    Log-sum-exps lie above the scores. But weights are made before their state is divided, at
    references that do not: the caps of NUM-7 are lower than the largest reference. A program that
    has one number for both may take the largest reference for the cap, and in its place so much a
    smaller tiny of P, if kappa is a little larger. *)
From Coq Require Import Reals List Lra Lia.
From Chunkproof Require Import NumCore NumRound NumExec NumInvariant NumTolerance.
Import ListNotations.
Open Scope R_scope.

Section Caps.
Variables (cl : class) (rg : range) (raised : R).
Hypothesis sane : sane_class cl.
Hypothesis sane' : sane_range rg.
Hypothesis raised0 : 0 <= raised.

Definition fine : class :=
  Class (u_arg cl) (u_ref cl) (u_move cl) (eps cl) (kappa cl * (1 + tiny (weights cl)))
        (Format (unit (weights cl)) (tiny (weights cl) * exp (- raised))
                (NumRound.top (weights cl)))
        (rounded_sum cl) (u_n cl) (eta_n cl) (u_o cl) (eta_o cl) (u_part cl).

Definition higher (j : input) : input := Input (s j) (value j) (sigma j) (cap j + raised).

Ltac sanity :=
  destruct sane as [arg0 [ref0 [mov0 [eps0 [kap0 [uw0 [tw0 [un0 [en0 [uo0 [eo0 up0]]]]]]]]]]].

Lemma kappa_grows : kappa cl <= kappa fine.
Proof. sanity; simpl; nra. Qed.

Lemma fine_is_sane : sane_class fine.
Proof.
  pose proof kappa_grows; sanity.
  unfold sane_class; simpl in *; repeat split; try assumption; try lra.
  apply Rmult_le_pos; [exact tw0 | left; apply exp_pos].
Qed.

Lemma stretch_finer : stretch cl rg <= stretch fine rg.
Proof. pose proof kappa_grows; unfold stretch; simpl in *; lra. Qed.

Lemma stretch_power_finer k : stretch cl rg ^ k <= stretch fine rg ^ k.
Proof.
  apply pow_incr; split; [|apply stretch_finer].
  pose proof (stretch_at_least_1 cl rg sane sane'); lra.
Qed.

(** Scores that are not above the largest reference. *)
Definition below (j : input) : Prop := 0 <= sigma j /\ s j <= high rg.

Lemma strays_pos k j : below j -> 0 <= strays cl rg k (high rg) j.
Proof.
  intros [sig le]; sanity; destruct sane' as [lohi [slack0 fall0]]; unfold strays.
  pose proof (pos_INR k); pose proof (Rmult_le_pos _ _ ref0 (reference_pos rg)).
  pose proof (Rmult_le_pos _ _ mov0 (reference_pos rg)).
  assert (0 <= fall rg * INR k) by (apply Rmult_le_pos; lra).
  assert (0 <= u_arg cl * (sigma j + (high rg - s j) + 2 * (slack rg + fall rg * INR k)))
    by (apply Rmult_le_pos; lra).
  assert (0 <= INR k * (eps cl + 2 * u_move cl * reference rg)) by (apply Rmult_le_pos; lra).
  lra.
Qed.

(** What underflow takes: kappa has grown by what the tiny of P was in the largest weight. *)
Lemma lost_finer k j : below j -> lost cl rg k j <= lost fine rg k (higher j).
Proof.
  intros le_high; pose proof (strays_pos 0 j le_high) as far.
  pose proof (stretch_power_finer k) as more; pose proof (stretch_power cl rg sane sane' k) as one.
  pose proof (pos_INR k) as k0; pose proof (exp_pos (high rg)) as e0; pose proof kappa_grows as kg.
  pose proof (exp_pos (- raised)) as r0; destruct sane' as [_ [slack0 fall0]]; sanity.
  unfold lost, reach.
  change (strays fine rg 0 (high rg) (higher j)) with (strays cl rg 0 (high rg) j).
  set (E := exp (slack rg + strays cl rg 0 (high rg) j)).
  assert (1 <= E) as big by (apply exp_at_least_1; lra).
  set (W := (E + kappa cl) * (1 + unit (weights cl))).
  set (W' := (E + kappa fine) * (1 + unit (weights fine)) + tiny (weights fine)).
  set (t := tiny (weights cl)) in *.
  assert (0 <= t) as t0 by exact tw0.
  assert (1 <= W) as W1 by (unfold W; nra).
  assert (W <= W') as WW.
  { unfold W, W'; simpl in *; fold t in kg |- *.
    assert (0 <= t * exp (- raised)) by (apply Rmult_le_pos; lra).
    assert ((E + kappa cl) * (1 + unit (weights cl)) <=
            (E + kappa cl * (1 + t)) * (1 + unit (weights cl)))
      by (apply Rmult_le_compat_r; lra).
    lra. }
  assert (kappa cl * (W + t) <= kappa fine * W') as core.
  { apply Rle_trans with (kappa fine * W).
    - simpl; fold t; rewrite Rmult_assoc; apply Rmult_le_compat_l; [exact kap0 | nra].
    - apply Rmult_le_compat_l; [lra | exact WW]. }
  assert (0 <= kappa cl * (W + t)) as core0 by (apply Rmult_le_pos; lra).
  replace (kappa cl * INR k * ((W + t) * stretch cl rg ^ k) * exp (high rg))
    with (kappa cl * (W + t) * stretch cl rg ^ k * (INR k * exp (high rg))) by ring.
  replace (kappa fine * INR k * (W' * stretch fine rg ^ k) * exp (high rg))
    with (kappa fine * W' * stretch fine rg ^ k * (INR k * exp (high rg))) by ring.
  apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|].
  apply Rmult_le_compat; lra.
Qed.

Lemma capped_finer j : kappa cl * exp (cap j) <= kappa fine * exp (cap j + raised).
Proof.
  pose proof kappa_grows; sanity; pose proof (exp_pos (cap j)).
  assert (exp (cap j) <= exp (cap j + raised)) by (apply exp_le; lra).
  apply Rmult_le_compat; lra.
Qed.

(** What P loses is the same. *)
Lemma rounding_finer j : rounding cl j <= rounding fine (higher j).
Proof.
  pose proof (capped_finer j); sanity; unfold rounding; simpl in *; apply Rmax_grows.
  - apply Rmult_le_compat_l; lra.
  - rewrite (Rplus_comm (cap j)), exp_plus, Rmult_assoc, <- (Rmult_assoc (exp (- raised))).
    rewrite <- exp_plus; replace (- raised + raised) with 0 by ring; rewrite exp_0; lra.
Qed.

Lemma in_both_finer k j : below j -> in_both cl rg k j <= in_both fine rg k (higher j).
Proof.
  intros le_high; pose proof (lost_finer k j le_high); pose proof (capped_finer j).
  pose proof (rounding_finer j); unfold in_both; simpl in *; destruct (rounded_sum cl); lra.
Qed.

Lemma in_numerator_finer k j :
  below j -> in_numerator cl rg k j <= in_numerator fine rg k (higher j).
Proof.
  intros le_high; pose proof (lost_finer k j le_high); pose proof (rounding_finer j).
  unfold in_numerator; simpl in *; destruct (rounded_sum cl); lra.
Qed.

Lemma common_finer k j : below j -> common_error cl rg k j <= common_error fine rg k (higher j).
Proof.
  intros le_high; pose proof (in_both_finer (steps k) j le_high) as more.
  unfold common_error, weight_error; simpl s.
  change (strays fine rg (steps k) (high rg) (higher j)) with (strays cl rg (steps k) (high rg) j).
  pose proof (exp_pos (strays cl rg (steps k) (high rg) j)).
  apply Rplus_le_compat_r, Rmult_le_compat_r; lra.
Qed.

Lemma own_finer k j : below j -> own_error cl rg k j <= own_error fine rg k (higher j).
Proof.
  intros le_high; pose proof (in_numerator_finer (steps k) j le_high).
  unfold own_error, numerator_error.
  change (strays fine rg (steps k) (high rg) (higher j)) with (strays cl rg (steps k) (high rg) j).
  pose proof (exp_pos (strays cl rg (steps k) (high rg) j)).
  apply Rmult_le_compat_r; lra.
Qed.

(** ** Sums *)

Lemma tiny_n_finer k : tiny_n cl rg k <= tiny_n fine rg k.
Proof.
  pose proof (stretch_power_finer (steps k)); pose proof (stretch_power cl rg sane sane' (steps k)).
  pose proof (growth_n_power cl rg sane sane' k) as g; pose proof (pos_INR (ops_n k)); sanity.
  unfold tiny_n; change (growth_n fine k) with (growth_n cl k); simpl.
  apply product_grows; lra.
Qed.

Lemma tiny_o_finer k : tiny_o cl rg k <= tiny_o fine rg k.
Proof.
  pose proof (stretch_power_finer (steps k)); pose proof (stretch_power cl rg sane sane' (steps k)).
  pose proof (growth_o_power cl rg sane sane' k) as g; pose proof (pos_INR (ops_o k)); sanity.
  unfold tiny_o; change (growth_o fine k) with (growth_o cl k); simpl.
  apply product_grows; lra.
Qed.

Variables (J : list input) (k : counts).
Hypothesis inside : forall j, In j J -> below j.

Let J' := map higher J.

Lemma weight_sum_higher : weight_sum J' = weight_sum J.
Proof. unfold weight_sum, J'; rewrite total_map; reflexivity. Qed.

Lemma exact_higher : exact J' = exact J.
Proof. unfold exact; rewrite weight_sum_higher; unfold J'; rewrite !total_map; reflexivity. Qed.

Lemma total_finer f g :
  (forall j, In j J -> f j <= g (higher j)) -> total f J <= total g J'.
Proof. intros le; unfold J'; rewrite total_map; apply total_le, le. Qed.

Lemma sum_n_finer : sum_error_n cl rg J k <= sum_error_n fine rg J' k.
Proof.
  pose proof (growth_n_power cl rg sane sane' k) as g; pose proof (exp_pos (high rg)).
  pose proof (tiny_n_finer k); unfold sum_error_n.
  change (growth_n fine k) with (growth_n cl k).
  apply Rplus_le_compat; [|apply Rmult_le_compat_r; lra].
  apply Rmult_le_compat_l; [lra|]; apply total_finer; intros j inj.
  pose proof (common_finer k j (inside j inj)); unfold largest_n; simpl s; lra.
Qed.

Lemma sum_o_finer : sum_error_o cl rg J k <= sum_error_o fine rg J' k.
Proof.
  pose proof (growth_o_power cl rg sane sane' k) as g; pose proof (exp_pos (high rg)).
  pose proof (tiny_o_finer k); unfold sum_error_o.
  change (growth_o fine k) with (growth_o cl k).
  apply Rplus_le_compat; [|apply Rmult_le_compat_r; lra].
  apply Rmult_le_compat_l; [lra|]; apply total_finer; intros j inj; simpl value.
  pose proof (common_finer k j (inside j inj)); pose proof (own_finer k j (inside j inj)).
  apply Rmult_le_compat_r; [apply Rabs_pos|]; unfold largest_o, largest_n; simpl s; lra.
Qed.

(** NUM-10, NUM-11: so the bound of the class with one number for both is not below the other. *)
Theorem caps_may_be_higher e :
  sane_ending e -> 0 < left_over fine rg J' k ->
  0 < left_over cl rg J k /\ tolerance cl rg e J k <= tolerance fine rg e J' k.
Proof.
  intros [ud0 [ed0 [uo0 to0]]] left.
  pose proof sum_n_finer as of_n; pose proof sum_o_finer as of_o.
  assert (total (common_error cl rg k) J <= total (common_error fine rg k) J') as common
    by (apply total_finer; intros; apply common_finer, inside; assumption).
  assert (left_over fine rg J' k <= left_over cl rg J k) as more
    by (unfold left_over; rewrite weight_sum_higher; lra).
  split; [lra|].
  assert (quotient_bound cl rg J k <= quotient_bound fine rg J' k) as of_quotient.
  { unfold quotient_bound at 1 2; rewrite exact_higher.
    assert (forall a b c d, a <= b -> 0 <= b -> 0 < d -> d <= c -> a / c <= b / d) as shares.
    { intros a b c d ab b0 d0 dc; unfold Rdiv.
      apply Rle_trans with (b * / c).
      - apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat|]; lra.
      - apply Rmult_le_compat_l; [exact b0 | apply Rinv_le_contravar; assumption]. }
    assert (forall j, In j J -> 0 <= own_error cl rg k j) as own0.
    { intros; unfold own_error, numerator_error; apply Rmult_le_pos; [|left; apply exp_pos].
      apply in_numerator_pos; assumption. }
    assert (forall j, In j J -> 0 <= common_error cl rg k j) as common0.
    { intros j inj; unfold common_error, weight_error.
      pose proof (in_both_pos cl rg sane sane' (steps k) j).
      pose proof (exp_at_least_1 _ (strays_pos (steps k) j (inside j inj))).
      pose proof (exp_pos (s j)); nra. }
    assert (0 <= sum_error_n cl rg J k) as n0.
    { pose proof (growth_n_power cl rg sane sane' k); pose proof (exp_pos (high rg)).
      unfold sum_error_n.
      apply Rplus_le_le_0_compat; apply Rmult_le_pos; try lra; [|apply tiny_n_pos; assumption].
      apply total_not_negative; intros j inj; pose proof (common0 j inj).
      pose proof (exp_pos (s j)); unfold largest_n; lra. }
    assert (0 <= sum_error_o cl rg J k) as o0.
    { pose proof (growth_o_power cl rg sane sane' k); pose proof (exp_pos (high rg)).
      unfold sum_error_o.
      apply Rplus_le_le_0_compat; apply Rmult_le_pos; try lra; [|apply tiny_o_pos; assumption].
      apply total_not_negative; intros j inj; pose proof (common0 j inj); pose proof (own0 j inj).
      pose proof (exp_pos (s j)); apply Rmult_le_pos; [|apply Rabs_pos].
      unfold largest_o, largest_n; lra. }
    assert (total (fun j => common_error cl rg k j * Rabs (value j - exact J)) J <=
            total (fun j => common_error fine rg k j * Rabs (value j - exact J)) J') as first.
    { apply total_finer; intros j inj; simpl value; apply Rmult_le_compat_r; [apply Rabs_pos|].
      apply common_finer, inside, inj. }
    assert (total (fun j => own_error cl rg k j * Rabs (value j)) J <=
            total (fun j => own_error fine rg k j * Rabs (value j)) J') as second.
    { apply total_finer; intros j inj; simpl value; apply Rmult_le_compat_r; [apply Rabs_pos|].
      apply own_finer, inside, inj. }
    assert (0 <= total (fun j => common_error cl rg k j * Rabs (value j - exact J)) J) as first0
      by (apply total_not_negative; intros; apply Rmult_le_pos; [auto | apply Rabs_pos]).
    assert (0 <= total (fun j => own_error cl rg k j * Rabs (value j)) J) as second0
      by (apply total_not_negative; intros; apply Rmult_le_pos; [auto | apply Rabs_pos]).
    assert (Rabs (exact J) * sum_error_n cl rg J k <= Rabs (exact J) * sum_error_n fine rg J' k)
      as last by (apply Rmult_le_compat_l; [apply Rabs_pos | exact of_n]).
    assert (0 <= Rabs (exact J) * sum_error_n cl rg J k) as last0
      by (apply Rmult_le_pos; [apply Rabs_pos | exact n0]).
    apply shares; lra. }
  unfold tolerance, with_output, before_output; rewrite exact_higher.
  set (Q := quotient_bound cl rg J k) in *; set (Q' := quotient_bound fine rg J' k) in *.
  pose proof (Rmult_le_compat_l _ _ _ ud0 (Rplus_le_compat_l (Rabs (exact J)) _ _ of_quotient)).
  assert (forall x x', x <= x' ->
            x + Rmax (unit (output e) * (Rabs (exact J) + x)) (tiny (output e))
            <= x' + Rmax (unit (output e) * (Rabs (exact J) + x')) (tiny (output e))) as larger.
  { intros x x' le; apply Rplus_le_compat; [exact le|]; apply Rmax_grows; [|lra].
    apply Rmult_le_compat_l; lra. }
  apply larger; lra.
Qed.

Theorem caps_may_be_higher_lse :
  J <> [] -> 0 < left_over fine rg J' k ->
  - ln (1 - denominator_error cl rg J k) <= - ln (1 - denominator_error fine rg J' k).
Proof.
  intros some left; pose proof (weight_sum_positive J some) as pos; pose proof sum_n_finer as of_n.
  assert (total (common_error cl rg k) J <= total (common_error fine rg k) J') as common
    by (apply total_finer; intros; apply common_finer, inside; assumption).
  unfold left_over in left; rewrite weight_sum_higher in left.
  assert (denominator_error cl rg J k <= denominator_error fine rg J' k) as le.
  { unfold denominator_error; rewrite weight_sum_higher; unfold Rdiv; apply Rmult_le_compat_r;
      [left; apply Rinv_0_lt_compat, pos | lra]. }
  assert (denominator_error fine rg J' k < 1) as lt.
  { unfold denominator_error; rewrite weight_sum_higher; apply Rmult_lt_reg_r with (weight_sum J);
      [exact pos|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra. }
  apply Ropp_le_contravar; destruct (Req_dec (denominator_error cl rg J k)
                                            (denominator_error fine rg J' k)) as [-> | ne]; [lra|].
  left; apply ln_increasing; lra.
Qed.

End Caps.
