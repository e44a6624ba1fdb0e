(* SPDX-License-Identifier: Apache-2.0 *)
(** * H_j and P_j as a program computes them (spec/tolerance.md: NUM-9)

    All is in the scale of exp(t), t the largest computed score. *)
From Coq Require Import Reals ZArith Bool List Lra Lia Psatz.
From Flocq Require Import Core.
From Chunkproof Require Import NumFloat NumFloatRow NumFloatUp NumFloatParts NumFloatTerms
  NumFloatScores NumFloatReferences.
From Chunkproof Require NumCore NumRound NumExec NumInvariant NumTolerance.
Import ListNotations.
Open Scope R_scope.

Section Keys.
Variable o : ops.
Variable B : binary64 o.
Local Notation fin := (finite B).
Local Notation val := (value B).
Local Notation good := (good o B).
Local Notation most := (most o B).
Local Notation up_plus := (up_plus o).
Local Notation up_times := (up_times o).
Local Notation up_function := (up_function o).
Local Notation real_class := (real_class o B).

Lemma most_sign x : most x -> not_below o x.
Proof.
  intros [g | ->]; [exact (good_sign o B _ g)|]; apply (infinite_less o B); left.
  apply (zero_is o B).
Qed.

Lemma larger_right_most x z :
  fin (larger o x z) -> most z -> fin z /\ val z <= val (larger o x z).
Proof.
  intros f [[fz _] | E]; [split; [exact fz | apply (larger_right o B); assumption]|].
  exfalso; subst z; revert f; unfold larger, is_nan; rewrite (infinite_same o B); simpl.
  destruct (negb (eq o x x)); [apply (of_infinite o B)|].
  destruct (lt o x (infinite o)) eqn:L; [apply (of_infinite o B)|]; intros f.
  rewrite (infinite_more o B x f) in L; discriminate.
Qed.

(** The larger of u y and z, where y may be infinite and u may be 0. *)
Lemma larger_of_product u y z Y :
  fin (larger o (up_times u y) z) -> good u -> most y -> most z -> 0 <= Y ->
  (fin y -> Y <= val y) -> val u * Y <= val (larger o (up_times u y) z).
Proof.
  intros f [fu u0] my mz Y0 le; destruct (larger_right_most _ _ f mz) as [fz lz].
  assert (0 <= val z) as z0.
  { destruct mz as [[_ z0] | E]; [exact z0|]; exfalso; apply (infinite_is_no_number o B z E fz). }
  destruct (Rle_lt_or_eq_dec _ _ u0) as [pos | <-]; [|rewrite Rmult_0_l; lra].
  destruct (up_times_most o B u y (conj fu u0) (or_intror pos) my) as [[fp _] | E].
  - destruct (up_times_is_up o B _ _ fp) as [_ [fy l2]].
    rewrite (proj2 (larger_is o B _ _ fp fz)); apply Rle_trans with (2 := Rmax_l _ _).
    apply Rle_trans with (2 := l2), Rmult_le_compat_l; [exact u0 | exact (le fy)].
  - exfalso; rewrite E, (infinite_larger o B) in f by auto; exact (of_infinite o B f).
Qed.

Section Key.
Variables (a : arithmetic o) (k : counts o) (b : references o) (c : scales o) (s : scored o).
Variables (rg : NumExec.range) (kr : NumExec.counts) (j : NumExec.input) (t : R).
Hypothesis ga : good_class o B a.
Hypothesis cov : covers o B b rg t.
Hypothesis sane : NumExec.sane_range rg.
Hypothesis changes : (0 <= n_changes o k <= 2 ^ 31)%Z.
Hypothesis steps : NumExec.steps kr = Z.to_nat (n_changes o k).
Hypothesis fs : fin (score o s).
Hypothesis near : Rabs (val (score o s) - NumExec.s j) <= val (largest_z o b).
Hypothesis sigma_up : 0 <= NumExec.sigma j <= val (sigma o s).
Hypothesis below : NumExec.s j <= NumExec.high rg.
Hypothesis top_score : val (score o s) <= val (high o b).
Hypothesis cap_is : NumExec.cap j = NumExec.high rg.
Hypothesis fsig : fin (sigma o s).

Let cl := real_class a.

Lemma good_sigma : good (sigma o s).
Proof. split; [exact fsig | lra]. Qed.

Lemma way_most : most (up_plus (up_plus (high o b) (opp o (score o s))) (largest_z o b)).
Proof.
  destruct cov as [fh _ gz _ _ _ _ _ _ _ _].
  apply (up_plus_most o B); [|left; exact gz]; apply (up_plus_most' o B), (add_most o B).
  - exact fh.
  - apply (of_opp o B _), fs.
  - rewrite (val_opp o B); lra.
Qed.

(** No X_j is below 0, whether it is a number or not. *)
Lemma strays_sign n : (0 <= n <= 2 ^ 31)%Z -> not_below o (strays o a b s n).
Proof.
  intros n0; unfold strays; pose proof (most_sign _ way_most) as way.
  destruct ga as [_ ua ur um ep _ _ _ _ _ _ _ _ _ _], cov as [_ _ _ gs gh _ _ _ _ _ _].
  assert (not_below o (of_int o 2)) as two by (apply (good_sign o B), good_whole; lia).
  assert (not_below o (of_int o n)) as sn by (apply (good_sign o B), good_whole; lia).
  assert (not_below o (add o (of_int o n) (one o))) as sn1.
  { apply (sign_add o B); [exact sn | apply (good_sign o B), good_whole; lia]. }
  apply (good_sign o B) in ua, ur, um, ep, gs, gh; pose proof (good_sign o B _ good_sigma) as gg.
  repeat first [assumption | apply (sign_up_plus o B) | apply (sign_up_times o B)
               | apply (sign_mul o B)].
Qed.

Lemma strays_pos n : 0 <= NumInvariant.strays cl rg n (NumExec.high rg) j.
Proof.
  unfold NumInvariant.strays; simpl; destruct sane as [lohi [sl0 fa0]].
  destruct ga as [_ [_ ua] [_ ur] [_ um] [_ ep] _ _ _ _ _ _ _ _ _ _].
  pose proof (NumInvariant.reference_pos rg) as r0; pose proof (pos_INR n) as n0.
  assert (0 <= NumExec.fall rg * INR n) by (apply Rmult_le_pos; lra).
  assert (0 <= val (c_u_arg o a) * (NumExec.sigma j + (NumExec.high rg - NumExec.s j)
    + 2 * (NumExec.slack rg + NumExec.fall rg * INR n))) by (apply Rmult_le_pos; lra).
  assert (0 <= val (c_u_ref o a) * NumInvariant.reference rg) by (apply Rmult_le_pos; lra).
  assert (0 <= val (c_u_move o a) * NumInvariant.reference rg) by (apply Rmult_le_pos; lra).
  assert (0 <= INR n * (val (c_eps o a) + 2 * val (c_u_move o a) * NumInvariant.reference rg))
    by (apply Rmult_le_pos; lra).
  lra.
Qed.

(** ** What is lost, and what is rounded *)

Let w := weight_of o b s.
Let e := exp (NumExec.s j - t).
Let largest_w := up_times w (up_plus (one o) (lack o c)).
Let missing := up_times (c_kappa o a) (rise o b).
Let M := val (c_kappa o a) * exp (NumExec.high rg - t).
Let rounding := larger o (up_times (f_unit o (c_weights o a)) (up_plus largest_w missing))
                         (up_times (f_tiny o (c_weights o a)) (rise o b)).
Let round_to := Rmax (val (f_unit o (c_weights o a)) * (e + M))
                     (val (f_tiny o (c_weights o a)) * exp (NumExec.high rg - t)).

Hypothesis fw : fin w.
Hypothesis weight_up : e <= val w * (1 + val (lack o c)).

Lemma w_pos : 0 <= val w.
Proof.
  apply (sign_pos o B); [|exact fw]; unfold w, weight_of; destruct (lt o _ _).
  - apply (good_sign o B), good_pow2; lia.
  - apply (sign_exp o B).
Qed.

Lemma e_pos : 0 < e.
Proof. apply exp_pos. Qed.

Lemma M_pos : 0 <= M.
Proof. apply Rmult_le_pos; [exact (proj2 (good_kappa o B a ga)) | left; apply exp_pos]. Qed.

Lemma largest_w_is : fin largest_w -> e <= val largest_w.
Proof.
  intros f; destruct (up_times_is_up o B _ _ f) as [_ [f1 le]].
  destruct (up_plus_is_up o B _ _ f1) as [_ [_ le1]]; rewrite (proj2 (one_is o B)) in le1.
  apply Rle_trans with (1 := weight_up), Rle_trans with (2 := le), Rmult_le_compat_l; [|exact le1].
  exact w_pos.
Qed.

Lemma missing_is : fin missing -> M <= val missing.
Proof.
  intros f; destruct (up_times_is_up o B _ _ f) as [_ [_ le]].
  apply Rle_trans with (2 := le), Rmult_le_compat_l; [exact (proj2 (good_kappa o B a ga))|].
  exact (above_rise o B b rg t cov).
Qed.

Lemma rounding_is : fin rounding -> fin largest_w -> fin missing -> round_to <= val rounding.
Proof.
  intros f fl fm; destruct (good_weights o B a ga) as [gu gt].
  pose proof (largest_w_is fl) as le1; pose proof (missing_is fm) as le2.
  pose proof e_pos; pose proof M_pos; pose proof (good_rise o B b rg t cov) as gr.
  assert (most (up_times (f_tiny o (c_weights o a)) (rise o b))) as mt.
  { apply (up_times_most o B); [exact gt | left; apply gr | left; exact gr]. }
  unfold round_to; apply Rmax_lub.
  - apply larger_of_product; try assumption; [|lra|].
    + apply (up_plus_most o B); left; split; try assumption; lra.
    + intros fp; destruct (up_plus_is_up o B _ _ fp) as [_ [_ le3]]; lra.
  - destruct (larger_right_most _ _ f mt) as [ft le3]; fold rounding in le3.
    destruct (up_times_is_up o B _ _ ft) as [_ [_ le4]].
    apply Rle_trans with (2 := le3), Rle_trans with (2 := le4).
    apply Rmult_le_compat_l; [exact (proj2 gt) | exact (above_rise o B b rg t cov)].
Qed.

Let first := strays o a b s 0.
Let made := up_plus (up_function (exp_of o (up_plus (slack o b) first))) (c_kappa o a).
Let rounded := up_plus (up_times made (up_plus (one o) (f_unit o (c_weights o a))))
                       (f_tiny o (c_weights o a)).
Let largest := up_times rounded (stretch o c).
Let moved := up_times missing (of_int o (n_changes o k)).
Let lost := if eq o moved (zero o) then zero o else up_times moved largest.

Hypothesis stretch_up : fin (stretch o c) ->
  NumInvariant.stretch cl rg ^ NumExec.steps kr <= val (stretch o c).

Lemma largest_is :
  fin largest -> 0 <= NumInvariant.reach cl rg (NumExec.steps kr) j <= val largest.
Proof.
  intros f; destruct (up_times_is_up o B _ _ f) as [f1 [f2 le1]].
  destruct (up_plus_is_up o B _ _ f1) as [f3 [_ le2]].
  destruct (up_times_is_up o B _ _ f3) as [f4 [f5 le3]].
  destruct (up_plus_is_up o B _ _ f5) as [_ [_ le4]]; rewrite (proj2 (one_is o B)) in le4.
  destruct (up_plus_is_up o B _ _ f4) as [f6 [_ le5]].
  destruct (good_weights o B a ga) as [[_ u0] [_ t0]]; destruct (good_kappa o B a ga) as [_ k0].
  destruct (up_exp_of_positive o B _ f6) as [f7 le6].
  { apply (sign_up_plus o B); [|apply strays_sign; lia].
    exact (good_sign o B _ (good_slack o B b rg t cov)). }
  destruct (up_plus_is_up o B _ _ f7) as [_ [f8 le7]].
  destruct (strays_is_up o B a b s 0 rg t j ga cov sane ltac:(lia) f8 sigma_up near below)
    as [_ [_ le8]].
  fold rounded in le2; fold made in le5; fold first in le8.
  pose proof (above_slack o B b rg t cov) as sl; pose proof (stretch_up f2) as st.
  change (Z.to_nat 0) with 0%nat in le8.
  fold cl in le8; unfold NumInvariant.reach.
  change (NumExec.kappa cl) with (val (c_kappa o a)).
  change (NumRound.unit (NumExec.weights cl)) with (val (f_unit o (c_weights o a))).
  change (NumRound.tiny (NumExec.weights cl)) with (val (f_tiny o (c_weights o a))).
  set (E := exp (NumExec.slack rg + NumInvariant.strays cl rg 0 (NumExec.high rg) j)).
  assert (E <= exp (val (up_plus (slack o b) first))) as A1 by (apply NumInvariant.exp_le; lra).
  assert (0 < E) as E0 by apply exp_pos.
  assert ((E + val (c_kappa o a)) * (1 + val (f_unit o (c_weights o a)))
          <= val made * val (up_plus (one o) (f_unit o (c_weights o a)))) as A2
    by (apply Rmult_le_compat; lra).
  assert (0 <= (E + val (c_kappa o a)) * (1 + val (f_unit o (c_weights o a)))) as A3
    by (apply Rmult_le_pos; lra).
  assert (0 <= NumInvariant.stretch cl rg ^ NumExec.steps kr) as A4.
  { apply pow_le; unfold NumInvariant.stretch; simpl; apply Rplus_le_le_0_compat; [|exact k0].
    left; apply exp_pos. }
  split; [apply Rmult_le_pos; lra|].
  apply Rle_trans with (2 := le1), Rmult_le_compat; lra.
Qed.

Let lost_to := M * INR (NumExec.steps kr) * NumInvariant.reach cl rg (NumExec.steps kr) j.

Lemma lost_is : fin lost -> fin missing -> lost_to <= val lost.
Proof.
  intros f fm; unfold lost in *; pose proof (missing_is fm) as le1; pose proof M_pos as m0.
  assert (INR (NumExec.steps kr) = IZR (n_changes o k)) as E
    by (rewrite steps; apply INR_of_Z; lia).
  assert (0 <= IZR (n_changes o k)) as k0 by (apply IZR_le; lia).
  assert (fin moved -> M * INR (NumExec.steps kr) <= val moved) as le2.
  { intros f1; destruct (up_times_is_up o B _ _ f1) as [_ [_ le3]].
    rewrite (proj2 (whole o B (n_changes o k) ltac:(lia))) in le3; rewrite E.
    apply Rle_trans with (2 := le3), Rmult_le_compat_r; assumption. }
  assert (0 <= M * INR (NumExec.steps kr)) as p0 by (apply Rmult_le_pos; [exact m0 | lra]).
  unfold lost_to; destruct (eq o moved (zero o)) eqn:Z.
  - apply (of_same o B _ _ (proj1 (zero_is o B))) in Z as [f1 V].
    specialize (le2 f1); rewrite V, (proj2 (zero_is o B)) in *.
    replace (M * INR (NumExec.steps kr)) with 0 by lra; lra.
  - destruct (up_times_is_up o B _ _ f) as [f1 [f2 le3]].
    apply Rle_trans with (2 := le3); destruct (largest_is f2) as [r0 le4].
    apply Rmult_le_compat; try assumption; apply le2, f1.
Qed.

(** ** H_j, and the factor of |v_j| *)

Let X := NumInvariant.strays cl rg (NumExec.steps kr) (NumExec.high rg) j.
Let shared_to := M + lost_to + (if c_rounded_sum o a then round_to else 0).
Let alone_to := if c_rounded_sum o a then 0 else round_to + lost_to.

Lemma lost_pos : 0 <= lost_to.
Proof.
  apply Rmult_le_pos; [apply Rmult_le_pos; [exact M_pos | apply pos_INR]|].
  unfold NumInvariant.reach; simpl; destruct (good_weights o B a ga) as [[_ u0] [_ t0]].
  destruct (good_kappa o B a ga) as [_ k0]; apply Rmult_le_pos.
  - apply Rplus_le_le_0_compat; [|exact t0]; apply Rmult_le_pos; [|lra].
    apply Rplus_le_le_0_compat; [left; apply exp_pos | exact k0].
  - apply pow_le; unfold NumInvariant.stretch; simpl; apply Rplus_le_le_0_compat; [|exact k0].
    left; apply exp_pos.
Qed.

Lemma round_pos : 0 <= round_to.
Proof.
  apply Rle_trans with (2 := Rmax_l _ _); apply Rmult_le_pos.
  - exact (proj2 (proj1 (good_weights o B a ga))).
  - pose proof e_pos; pose proof M_pos; lra.
Qed.

Lemma scaled x y : exp (x - y) = exp x * exp (- y).
Proof. rewrite <- exp_plus; reflexivity. Qed.

Lemma rounding_scaled : NumInvariant.rounding cl j * exp (- t) = round_to.
Proof.
  unfold NumInvariant.rounding, round_to, e, M; simpl; rewrite cap_is, !scaled.
  rewrite (Rmult_comm (Rmax _ _)), <- RmaxRmult by (left; apply exp_pos).
  f_equal; ring.
Qed.

Lemma lost_scaled : NumInvariant.lost cl rg (NumExec.steps kr) j * exp (- t) = lost_to.
Proof. unfold NumInvariant.lost, lost_to, M; rewrite scaled; simpl; ring. Qed.

Lemma common_is :
  NumTolerance.common_error cl rg kr j * exp (- t) = e * (exp X - 1) + shared_to * exp X.
Proof.
  unfold NumTolerance.common_error, NumInvariant.weight_error, NumInvariant.in_both, shared_to.
  fold X; rewrite <- rounding_scaled, <- lost_scaled; unfold e, M; rewrite cap_is, !scaled; simpl.
  destruct (c_rounded_sum o a); ring.
Qed.

Lemma own_is : NumTolerance.own_error cl rg kr j * exp (- t) = alone_to * exp X.
Proof.
  unfold NumTolerance.own_error, NumInvariant.numerator_error, NumInvariant.in_numerator, alone_to.
  fold X; rewrite <- rounding_scaled, <- lost_scaled; simpl; destruct (c_rounded_sum o a); ring.
Qed.

Variable gr : R.
Hypothesis growth_up : fin (growth_o o c) -> 0 <= gr <= val (growth_o o c).

(** NUM-9: of a key. *)
Theorem key_is_up :
  fin (key_h o (weigh o a k b c s)) ->
  let H := NumTolerance.common_error cl rg kr j * exp (- t) in
  let P := NumTolerance.own_error cl rg kr j * exp (- t) in
  0 <= H <= val (key_h o (weigh o a k b c s)) /\ 0 <= P /\
  (fin (key_t o (weigh o a k b c s)) ->
   P + gr * (e + H + P) <= val (key_t o (weigh o a k b c s))).
Proof.
  rewrite common_is, own_is; unfold weigh; cbn [key_h key_t]; fold w first.
  fold largest_w missing rounding made; fold rounded; fold largest moved; fold lost.
  set (x := strays o a b s (n_changes o k)).
  set (grown := up_function (exp_of o x)); set (gained := up_function (expm1_of o x)).
  set (both := up_plus (up_plus missing lost) (if c_rounded_sum o a then rounding else zero o)).
  set (h := up_plus (up_times largest_w gained) (up_times both grown)).
  set (p := if c_rounded_sum o a then zero o else up_times (up_plus rounding lost) grown).
  intros fh.
  pose proof (strays_sign (n_changes o k) changes) as sx; fold x in sx.
  destruct (up_plus_is_up o B _ _ fh) as [f1 [f2 le1]]; fold h in le1.
  destruct (up_times_is_up o B _ _ f1) as [fl [fg le2]].
  destruct (up_times_is_up o B _ _ f2) as [fb [fgr le3]].
  destruct (up_expm1_is_up o B _ fg sx) as [fx le4]; fold gained in le4.
  destruct (up_exp_of_positive o B _ fgr sx) as [_ le5]; fold grown in le5.
  destruct (strays_is_up o B a b s (n_changes o k) rg t j ga cov sane changes fx sigma_up near
    below)
    as [_ [_ le6]].
  rewrite <- steps in le6; fold cl in le6; fold X in le6; fold x in le6.
  pose proof (strays_pos (NumExec.steps kr)) as X0; fold X in X0.
  pose proof (NumInvariant.exp_le _ _ le6) as le7.
  pose proof (NumInvariant.exp_at_least_1 X X0) as e1.
  destruct (up_plus_is_up o B _ _ fb) as [f3 [f4 le8]]; fold both in le8.
  destruct (up_plus_is_up o B _ _ f3) as [fm [flo le9]].
  pose proof (largest_w_is fl) as le10; pose proof (missing_is fm) as le11.
  pose proof (lost_is flo fm) as le12; pose proof e_pos as e0; pose proof M_pos as M0.
  pose proof lost_pos as l0; pose proof round_pos as r0.
  assert (0 <= shared_to) as s0 by (unfold shared_to; destruct (c_rounded_sum o a); lra).
  assert (shared_to <= val both) as le13.
  { unfold shared_to; destruct (c_rounded_sum o a).
    - pose proof (rounding_is f4 fl fm); lra.
    - rewrite (proj2 (zero_is o B)) in le8; lra. }
  assert (e * (exp X - 1) <= val largest_w * val gained) as A1 by (apply Rmult_le_compat; lra).
  assert (shared_to * exp X <= val both * val grown) as A2 by (apply Rmult_le_compat; lra).
  assert (0 <= e * (exp X - 1)) as A3 by (apply Rmult_le_pos; lra).
  assert (0 <= shared_to * exp X) as A4 by (apply Rmult_le_pos; lra).
  assert (0 <= alone_to * exp X) as A5.
  { apply Rmult_le_pos; [|lra]; unfold alone_to; destruct (c_rounded_sum o a); lra. }
  split; [lra | split; [exact A5|]]; intros ft.
  destruct (up_plus_is_up o B _ _ ft) as [fp [fin_o le14]].
  destruct (up_times_is_up o B _ _ fin_o) as [fgo [fall le15]].
  destruct (up_plus_is_up o B _ _ fall) as [f5 [_ le16]].
  destruct (up_plus_is_up o B _ _ f5) as [_ [_ le17]].
  assert (alone_to * exp X <= val p) as le18.
  { unfold p, alone_to in *; destruct (c_rounded_sum o a).
    - rewrite (proj2 (zero_is o B)); lra.
    - destruct (up_times_is_up o B _ _ fp) as [f6 [_ le19]].
      destruct (up_plus_is_up o B _ _ f6) as [f7 [_ le20]].
      pose proof (rounding_is f7 fl fm).
      apply Rle_trans with (2 := le19), Rmult_le_compat; lra. }
  destruct (growth_up fgo) as [g0 g1].
  assert (gr * (e + (e * (exp X - 1) + shared_to * exp X) + alone_to * exp X)
          <= val (growth_o o c) * val (up_plus (up_plus largest_w h) p)) as A6.
  { apply Rmult_le_compat; lra. }
  lra.
Qed.
End Key.
End Keys.
