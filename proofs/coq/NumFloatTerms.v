(* SPDX-License-Identifier: Apache-2.0 *)
(** * Terms of the bound, rounded upwards (spec/tolerance.md: NUM-9 to NUM-12)

    Each function of NumFloatRow.v by itself: what it computes, if it is finite, is at least the
    term of the formula, if what it starts from is. *)
From Coq Require Import Reals ZArith Bool List Lra Lia Psatz.
From Flocq Require Import Core.
From Chunkproof Require Import NumFloat NumFloatRow NumFloatUp NumFloatParts.
From Chunkproof Require NumRound NumExec NumInvariant NumTolerance.
Import ListNotations.
Open Scope R_scope.

(** A double times a power of 2 is one. *)
Lemma double_scaled x e : is_double x -> (0 <= e)%Z -> is_double (x * bpow radix2 e).
Proof.
  intros d le; apply FLT_format_generic in d; [|reflexivity].
  destruct d as [[m k] E M K]; simpl in M, K.
  apply generic_format_FLT; exists (Float radix2 m (k + e)); simpl; [|exact M | lia].
  rewrite E; unfold F2R; simpl; rewrite bpow_plus; ring.
Qed.

Lemma ln_not_less x y : 0 < x -> x <= y -> ln x <= ln y.
Proof. intros x0 [lt | ->]; [left; apply ln_increasing; assumption | right; reflexivity]. Qed.

Section Terms.
Variable o : ops.
Variable B : binary64 o.
Local Notation fin := (finite B).
Local Notation val := (value B).
Local Notation up_plus := (up_plus o).
Local Notation up_times := (up_times o).
Local Notation up_function := (up_function o).
Local Notation good := (good o B).
Local Notation larger := (larger o).
Local Notation smaller := (smaller o).
Local Notation is_nan := (is_nan o).

(** ** The larger and the smaller number: NaN counts as missing *)

Lemma fin_is_no_nan x : fin x -> is_nan x = false.
Proof.
  intros f; unfold NumFloatRow.is_nan; assert (eq o x x = true) as ->; [|reflexivity].
  apply (of_same o B x x f); auto.
Qed.

Lemma less_not x y : fin x -> fin y -> lt o x y = false -> val y <= val x.
Proof.
  intros fx fy E; apply Rnot_lt_le; intros less; apply (of_less o B x y fx fy) in less.
  rewrite less in E; discriminate.
Qed.

Lemma larger_is x y :
  fin x -> fin y -> fin (larger x y) /\ val (larger x y) = Rmax (val x) (val y).
Proof.
  intros fx fy; unfold NumFloatRow.larger; rewrite !fin_is_no_nan by assumption.
  destruct (lt o x y) eqn:E.
  - apply (of_less o B x y fx fy) in E; rewrite Rmax_right by lra; auto.
  - apply (less_not x y fx fy) in E; rewrite Rmax_left by lra; auto.
Qed.

Lemma smaller_is x y :
  fin x -> fin y -> fin (smaller x y) /\ val (smaller x y) = Rmin (val x) (val y).
Proof.
  intros fx fy; unfold NumFloatRow.smaller; rewrite !fin_is_no_nan by assumption.
  destruct (lt o y x) eqn:E.
  - apply (of_less o B y x fy fx) in E; rewrite Rmin_right by lra; auto.
  - apply (less_not y x fy fx) in E; rewrite Rmin_left by lra; auto.
Qed.

(** Whatever the other is. *)
Lemma larger_right x y : fin (larger x y) -> fin y -> val y <= val (larger x y).
Proof.
  unfold NumFloatRow.larger; intros f fy; destruct (is_nan x); [lra|].
  rewrite (fin_is_no_nan y fy) in *; destruct (lt o x y) eqn:E; [lra|].
  apply less_not; assumption.
Qed.

Lemma sign_larger x y : not_below o x -> not_below o y -> not_below o (larger x y).
Proof.
  intros sx sy; unfold NumFloatRow.larger; destruct (is_nan x), (is_nan y), (lt o x y); assumption.
Qed.

(** With 0, which is none of the smallest. *)
Lemma sign_larger_zero x : not_below o (larger x (zero o)).
Proof.
  unfold NumFloatRow.larger; destruct (is_nan x); [apply (sign_zero o B)|].
  rewrite (fin_is_no_nan (zero o)) by apply (zero_is o B).
  destruct (lt o x (zero o)) eqn:E; [apply (sign_zero o B) | exact E].
Qed.

(** ** Numbers that are not negative, or infinite *)

Definition most (x : F o) : Prop := good x \/ x = infinite o.

Lemma most_any x : most x -> fin x \/ x = infinite o.
Proof. intros [[f _] | E]; auto. Qed.

Lemma sum_most x y : most x -> most y -> most (add o x y).
Proof.
  intros [[fx x0] | ->] [[fy y0] | ->].
  - destruct (of_sum o B x y fx fy ltac:(lra)) as [f | E]; [left; split | right]; auto.
    destruct (of_add o B x y f) as [_ [_ ->]]; rewrite <- rnd_0; apply rnd_le; lra.
  - right; apply (sum_infinite o B); exact fx.
  - right; apply (infinite_sum o B); auto.
  - right; apply (infinite_sum o B); auto.
Qed.

Lemma product_most x y : good x -> fin y \/ 0 < val x -> most y -> most (mul o x y).
Proof.
  intros [fx x0] some [[fy y0] | ->].
  - destruct (of_product o B x y fx fy ltac:(nra)) as [f | E]; [left; split | right]; auto.
    destruct (of_mul o B x y f) as [_ [_ ->]]; rewrite <- rnd_0; apply rnd_le; nra.
  - destruct some as [f | pos]; [exfalso; exact (of_infinite o B f)|].
    right; apply (infinite_product o B); assumption.
Qed.

Lemma size_most x : most x -> most (abs o x).
Proof.
  intros [[fx x0] | ->].
  - left; split; [apply (of_abs o B x), fx | rewrite (val_abs o B); apply Rabs_pos].
  - right; apply (infinite_size o B).
Qed.

Lemma pow2_pos e : (-1074 <= e <= 0)%Z -> 0 < val (pow2 o e).
Proof. intros le; destruct (of_pow2 o B e le) as [_ ->]; apply bpow_gt_0. Qed.

Lemma part_most e x : (-1074 <= e <= 0)%Z -> most x -> most (mul o (pow2 o e) (abs o x)).
Proof.
  intros le m; apply product_most; [apply good_pow2, le | right; apply pow2_pos, le|].
  apply size_most, m.
Qed.

Lemma up_plus_most' x y : most (add o x y) -> most (up_plus x y).
Proof.
  intros m; unfold NumFloat.up_plus; apply sum_most; [exact m|]; apply part_most; [lia | exact m].
Qed.

Lemma up_plus_most x y : most x -> most y -> most (up_plus x y).
Proof. intros mx my; apply up_plus_most', sum_most; assumption. Qed.

Lemma add_most x y : fin x -> fin y -> 0 <= val x + val y -> most (add o x y).
Proof.
  intros fx fy s; destruct (of_sum o B x y fx fy s) as [f | E]; [left; split | right]; auto.
  destruct (of_add o B x y f) as [_ [_ ->]]; rewrite <- rnd_0; apply rnd_le, s.
Qed.

(** Downwards nothing overflows. *)
Lemma up_plus_rises x y : fin x -> most y -> fin (up_plus x y) \/ up_plus x y = infinite o.
Proof.
  intros fx my; unfold NumFloat.up_plus.
  assert (fin (add o x y) \/ add o x y = infinite o) as [f | ->].
  - destruct my as [[fy y0] | ->]; [apply (of_rise o B); assumption|].
    right; apply (sum_infinite o B), fx.
  - assert (most (mul o (pow2 o (-51)) (abs o (add o x y)))) as [[fm m0] | ->].
    + apply product_most; [apply good_pow2; lia | right; apply pow2_pos; lia|].
      left; split; [apply (of_abs o B _), f | rewrite (val_abs o B); apply Rabs_pos].
    + apply (of_rise o B); assumption.
    + right; apply (sum_infinite o B), f.
  - right; apply (infinite_sum o B).
    apply most_any, part_most; [lia | right; reflexivity].
Qed.

Lemma up_most x : most x -> most (up o x).
Proof.
  intros mx; unfold up; apply sum_most; [exact mx|].
  apply sum_most; [apply part_most; [lia | auto]|].
  left; apply good_pow2; lia.
Qed.

Lemma good_zero : good (zero o).
Proof. apply good_whole; lia. Qed.

Lemma up_times_most x y : good x -> fin y \/ 0 < val x -> most y -> most (up_times x y).
Proof.
  intros gx some my; unfold NumFloat.up_times; destruct (_ && _); [left; exact good_zero|].
  apply up_most, product_most; assumption.
Qed.

Lemma infinite_is_no_number x : x = infinite o -> ~ fin x.
Proof. intros -> f; exact (of_infinite o B f). Qed.

Lemma larger_infinite x : fin x \/ x = infinite o -> larger x (infinite o) = infinite o.
Proof.
  intros m; unfold NumFloatRow.larger, NumFloatRow.is_nan; rewrite (infinite_same o B); simpl.
  destruct m as [f | ->].
  - rewrite (proj2 (of_same o B x x f)) by auto.
    rewrite (infinite_more o B) by exact f; reflexivity.
  - rewrite (infinite_same o B), (infinite_less o B) by auto; reflexivity.
Qed.

Lemma infinite_larger x : fin x \/ x = infinite o -> larger (infinite o) x = infinite o.
Proof.
  intros m; unfold NumFloatRow.larger, NumFloatRow.is_nan; rewrite (infinite_same o B); simpl.
  rewrite (infinite_less o B) by exact m; destruct m as [f | ->].
  - rewrite (proj2 (of_same o B x x f)) by auto; reflexivity.
  - rewrite (infinite_same o B); reflexivity.
Qed.

(** ** Small exact results *)

Lemma scaled_is z e x : IZR z = bpow radix2 e -> (0 <= e <= 53)%Z ->
  fin (mul o (of_int o z) x) -> fin x /\ val (mul o (of_int o z) x) = IZR z * val x.
Proof.
  intros E le f; destruct (of_mul o B _ _ f) as [_ [fx V]]; split; [exact fx|]; rewrite V.
  assert (Z.abs z <= 2 ^ 53)%Z as small.
  { apply le_IZR; rewrite abs_IZR, E, Rabs_pos_eq by apply bpow_ge_0.
    change (IZR (2 ^ 53)) with (bpow radix2 53); apply bpow_le; lia. }
  destruct (of_whole o B z small) as [_ ->]; apply rnd_double.
  rewrite E, Rmult_comm; apply double_scaled; [apply (value_is_double o B) | lia].
Qed.

Lemma twice_is x :
  fin (mul o (of_int o 2) x) -> fin x /\ val (mul o (of_int o 2) x) = 2 * val x.
Proof. apply (scaled_is 2 1); [reflexivity | lia]. Qed.

Lemma next_finite c : (0 <= c <= 2 ^ 31)%Z -> fin (add o (of_int o c) (one o)).
Proof.
  intros le; destruct (whole o B c ltac:(lia)) as [f V].
  apply (small_sum o B); [exact f | apply (one_is o B)|]; rewrite V, (proj2 (one_is o B)).
  assert (0 <= IZR c <= IZR (2 ^ 31)) as c0 by (split; apply IZR_le; lia).
  rewrite Rabs_pos_eq by lra; apply Rle_trans with (bpow radix2 32); [|apply bpow_le; lia].
  simpl in *; lra.
Qed.

Lemma next_is c : (0 <= c <= 2 ^ 31)%Z ->
  fin (add o (of_int o c) (one o)) -> val (add o (of_int o c) (one o)) = IZR c + 1.
Proof.
  intros le f; destruct (of_add o B _ _ f) as [_ [_ ->]].
  rewrite (proj2 (whole o B c ltac:(lia))), (proj2 (one_is o B)), <- plus_IZR.
  replace (IZR (c + 1)) with (IZR (c + 1) * bpow radix2 0) by (simpl; ring).
  apply rnd_double, double_int; lia.
Qed.

Lemma up_function_not_less x : fin (up_function x) -> fin x /\ val x <= val (up_function x).
Proof.
  intros f; apply (up_function_is_up o B _ _ f); [|lra]; unfold within.
  rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; apply Rle_trans with (2 := Rmax_r _ _).
  left; apply smallest_pos.
Qed.

(** exp of a number that may be negative, and not below the smallest number. *)
Lemma up_exp_or_smallest x :
  fin x -> val x <= 0 -> fin (up_function (larger (exp_of o x) (pow2 o (-1074)))) ->
  exp (val x) <= val (up_function (larger (exp_of o x) (pow2 o (-1074)))).
Proof.
  intros fx x0 f; pose proof (exp_finite o B x fx ltac:(lra)) as fe.
  destruct (of_exp o B x fe (or_intror fx)) as [_ near].
  destruct (of_pow2 o B (-1074) ltac:(lia)) as [fp vp]; fold smallest in vp.
  destruct (larger_is _ _ fe fp) as [fl vl]; rewrite vp in vl; pose proof smallest_pos as s0.
  destruct (up_function_not_less _ f) as [_ le]; rewrite vl in le.
  destruct (Req_dec (val (exp_of o x)) 0) as [Z | NZ].
  - apply Rle_trans with (2 := le), Rle_trans with (2 := Rmax_r _ _).
    rewrite Z in near; unfold within, Rminus in near; pose proof (exp_pos (val x)).
    rewrite Rplus_0_l, Rabs_Ropp, Rabs_pos_eq in near by lra; revert near.
    unfold Rmax; destruct (Rle_dec _ smallest); unfold u; lra.
  - pose proof (sign_pos o B _ (sign_exp o B x) fe) as e0.
    assert (smallest <= val (exp_of o x)) as big.
    { assert (is_double (val (exp_of o x))) as d by apply value_is_double.
      apply FLT_format_generic in d; [|reflexivity]; destruct d as [[m k] E M K]; simpl in M, K.
      rewrite E in *; unfold F2R in *; simpl in *; pose proof (bpow_gt_0 radix2 k) as k0.
      assert (1 <= IZR m) as m1.
      { apply IZR_le; assert (0 < m)%Z; [|lia]; apply lt_IZR; apply Rnot_le_lt; intros neg.
        apply NZ; apply Rle_antisym; [|exact e0]; nra. }
      unfold smallest; apply Rle_trans with (bpow radix2 k); [apply bpow_le; exact K | nra]. }
    apply (up_function_is_up o B _ (exp (val x)) f); rewrite vl, Rmax_left by exact big;
      [exact near | intros Z; contradiction].
Qed.

(** ** NUM-10: the end *)

Definition good_format (f : format o) : Prop := good (f_unit o f) /\ good (f_tiny o f).

Definition real_format (f : format o) : NumRound.format :=
  NumRound.Format (val (f_unit o f)) (val (f_tiny o f)) (val (f_largest o f)).

Definition real_ending (a : arithmetic o) : NumTolerance.ending :=
  NumTolerance.Ending (val (c_u_div o a)) (val (c_eta_div o a)) (real_format (c_output o a)).

Definition good_ending (a : arithmetic o) : Prop :=
  good (c_u_div o a) /\ good (c_eta_div o a) /\ good_format (c_output o a).

(** From the error E of o / n and attention x, which `expected` is within `spare` of, to the bound;
    and no overflow, where the format has a largest number. *)
Theorem with_output_is_up a error expected spare E x :
  fin (with_output o a error expected spare) -> good_ending a ->
  0 <= E <= val error -> 0 <= val spare -> Rabs x <= Rabs (val expected) + val spare ->
  NumTolerance.with_output (real_ending a) x E + val spare
    <= val (with_output o a error expected spare) /\
  (fin (f_largest o (c_output o a)) ->
   Rabs x + NumTolerance.before_output (real_ending a) x E <= val (f_largest o (c_output o a))).
Proof.
  intros f [gu [ge [gt gy]]] [E0 Ele] s0 near; unfold with_output in *.
  set (size := up_plus (abs o expected) spare) in *.
  set (quotient := up_plus (up_times (c_u_div o a) (up_plus size error)) (c_eta_div o a)) in *.
  set (before := up_plus error quotient) in *.
  set (written := up_plus size before) in *.
  destruct (le o written (f_largest o (c_output o a))) eqn:fits; simpl in f;
    [|exfalso; exact (of_infinite o B f)].
  set (product := up_times (f_unit o (c_output o a)) written) in *.
  set (rounding := larger product (f_tiny o (c_output o a))) in *.
  destruct (up_plus_is_up o B _ _ f) as [f1 [_ le1]].
  destruct (up_plus_is_up o B _ _ f1) as [fb [fr le2]].
  destruct (up_plus_is_up o B _ _ fb) as [_ [fq le3]].
  destruct (up_plus_is_up o B _ _ fq) as [ft [_ le4]].
  destruct (up_times_is_up o B _ _ ft) as [_ [fse le5]].
  destruct (up_plus_is_up o B _ _ fse) as [fs [fe le6]].
  destruct (up_plus_is_up o B _ _ fs) as [_ [_ le7]].
  fold size in le7; fold quotient in le4; fold before in le3; fold rounding in le2.
  rewrite (val_abs o B) in le7; pose proof (Rabs_pos x) as x0.
  unfold NumTolerance.with_output, NumTolerance.before_output; simpl.
  set (Y := E + val (c_u_div o a) * (Rabs x + E) + val (c_eta_div o a)).
  assert (Rabs x + E <= val (up_plus size error)) as big by lra.
  pose proof (Rmult_le_compat_l _ _ _ (proj2 gu) big) as le8.
  assert (0 <= val (c_u_div o a) * (Rabs x + E)) as p0
    by (apply Rmult_le_pos; [exact (proj2 gu) | lra]).
  assert (Y <= val before) as near_b by (unfold Y; lra).
  assert (0 <= Y) as Y0 by (unfold Y; destruct ge; lra).
  assert (most written) as mw.
  { apply up_plus_most; left; split; try assumption; lra. }
  assert (fin written -> Rabs x + Y <= val written) as near_w.
  { intros fw; destruct (up_plus_is_up o B _ _ fw) as [_ [_ le9]]; fold written in le9; lra. }
  split.
  - assert (Rmax (val (f_unit o (c_output o a)) * (Rabs x + Y)) (val (f_tiny o (c_output o a)))
            <= val rounding) as R; [|lra].
    pose proof (larger_right _ _ fr (proj1 gy)) as tiny; apply Rmax_lub; [|exact tiny].
    destruct gt as [fu u0], (Rle_lt_or_eq_dec _ _ u0) as [pos | <-];
      [|rewrite Rmult_0_l; apply Rle_trans with (2 := tiny), (proj2 gy)].
    destruct (up_times_most (f_unit o (c_output o a)) written (conj fu u0) (or_intror pos) mw)
      as [[fp _] | E'].
    + destruct (up_times_is_up o B _ _ fp) as [_ [fw le9]]; fold product in le9.
      unfold rounding; fold product in fp; rewrite (proj2 (larger_is _ _ fp (proj1 gy))).
      apply Rle_trans with (2 := Rmax_l _ _), Rle_trans with (2 := le9).
      apply Rmult_le_compat_l; [exact u0 | exact (near_w fw)].
    + exfalso; apply (infinite_is_no_number rounding); [|exact fr].
      unfold rounding, product; rewrite E'; apply infinite_larger; left; apply (proj1 gy).
  - intros fl; destruct mw as [[fw _] | E'].
    + apply (of_at_most o B _ _ fw fl) in fits; pose proof (near_w fw); lra.
    + rewrite E', (infinite_only o B) in fits by exact fl; discriminate.
Qed.

(** ** The class, the references *)

Definition real_class (a : arithmetic o) : NumExec.class :=
  NumExec.Class (val (c_u_arg o a)) (val (c_u_ref o a)) (val (c_u_move o a)) (val (c_eps o a))
    (val (c_kappa o a)) (real_format (c_weights o a)) (c_rounded_sum o a) (val (c_u_n o a))
    (val (c_eta_n o a)) (val (c_u_o o a)) (val (c_eta_o o a)) (val (c_u_part o a)).

Record good_class (a : arithmetic o) : Prop := Good_class {
  good_score : good_score_class o B (c_score o a);
  good_u_arg : good (c_u_arg o a); good_u_ref : good (c_u_ref o a);
  good_u_move : good (c_u_move o a); good_eps : good (c_eps o a); good_kappa : good (c_kappa o a);
  good_weights : good_format (c_weights o a);
  good_u_n : good (c_u_n o a); good_eta_n : good (c_eta_n o a);
  good_u_o : good (c_u_o o a); good_eta_o : good (c_eta_o o a); good_u_part : good (c_u_part o a);
  good_above : good (c_above o a); good_below : good (c_below o a);
  good_end : good_ending a }.

(** What is computed of the references encloses them; t is the scale. *)
Record covers (b : references o) (rg : NumExec.range) (t : R) : Prop := Covers {
  fin_high : fin (high o b); fin_low : fin (low o b);
  good_z : good (largest_z o b); good_slack : good (slack o b); good_h : good (h o b);
  good_rise : good (rise o b);
  above_high : NumExec.high rg <= val (high o b);
  below_low : val (low o b) <= NumExec.low rg;
  above_slack : NumExec.slack rg <= val (slack o b);
  above_fall : NumExec.fall rg <= val (slack o b);
  above_reference : NumInvariant.reference rg <= val (h o b);
  above_rise : exp (NumExec.high rg - t) <= val (rise o b) }.

(** ** NUM-9: X_j *)

Theorem strays_is_up a b s c rg t j :
  good_class a -> covers b rg t -> NumExec.sane_range rg -> (0 <= c <= 2 ^ 31)%Z ->
  fin (strays o a b s c) -> 0 <= NumExec.sigma j <= val (sigma o s) ->
  Rabs (val (score o s) - NumExec.s j) <= val (largest_z o b) -> NumExec.s j <= NumExec.high rg ->
  fin (score o s) /\ fin (sigma o s) /\
  NumInvariant.strays (real_class a) rg (Z.to_nat c) (NumExec.high rg) j
    <= val (strays o a b s c).
Proof.
  intros ga cov [_ [sl0 fa0]] c0 f [g0 g] near below; unfold strays in *.
  set (to_high := up_plus (up_plus (high o b) (opp o (score o s))) (largest_z o b)) in *.
  set (far := up_times (mul o (of_int o 2) (slack o b)) (add o (of_int o c) (one o))) in *.
  set (along := up_plus (up_plus (sigma o s) to_high) far) in *.
  set (each := up_plus (c_eps o a) (up_times (mul o (of_int o 2) (c_u_move o a)) (h o b))) in *.
  destruct (up_plus_is_up o B _ _ f) as [f1 [f2 le0]].
  destruct (up_plus_is_up o B _ _ f1) as [f3 [f4 le1]].
  destruct (up_plus_is_up o B _ _ f3) as [fsig [f5 le2]].
  destruct (up_times_is_up o B _ _ f5) as [_ [f6 le3]].
  destruct (up_plus_is_up o B _ _ f6) as [f7 [f8 le4]].
  destruct (up_plus_is_up o B _ _ f7) as [_ [f9 le5]].
  destruct (up_plus_is_up o B _ _ f9) as [f10 [_ le6]].
  destruct (up_plus_is_up o B _ _ f10) as [_ [fs le7]].
  rewrite (val_opp o B) in le7; apply (fin_opp o B) in fs.
  destruct (up_times_is_up o B _ _ f8) as [f11 [f12 le8]].
  destruct (twice_is _ f11) as [_ V11]; rewrite V11, (next_is c c0 f12) in le8.
  destruct (up_plus_is_up o B _ _ f4) as [f13 [_ le9]].
  destruct (up_times_is_up o B _ _ f13) as [_ [_ le10]].
  destruct (up_times_is_up o B _ _ f2) as [_ [f14 le11]].
  destruct (up_plus_is_up o B _ _ f14) as [_ [f15 le12]].
  destruct (up_times_is_up o B _ _ f15) as [f16 [_ le13]].
  destruct (twice_is _ f16) as [_ V16]; rewrite V16 in le13.
  rewrite (proj2 (whole o B c ltac:(lia))) in le11.
  fold along in le4; fold to_high in le6; fold far in le8; fold each in le12.
  split; [exact fs | split; [exact fsig|]].
  unfold NumInvariant.strays; simpl; rewrite INR_of_Z by lia.
  assert (0 <= IZR c) as c1 by (apply IZR_le; lia).
  apply NumCore.Rabs_between in near.
  destruct ga as [_ [_ ua0] [_ ur0] [_ um0] [_ ep0] _ _ _ _ _ _ _ _ _ _].
  destruct cov as [_ _ [_ z0] [_ s0] [_ h0] _ ch _ cs cf cr _].
  assert (NumExec.sigma j + (NumExec.high rg - NumExec.s j)
          + 2 * (NumExec.slack rg + NumExec.fall rg * IZR c) <= val along) as A.
  { pose proof (Rmult_le_compat_r (IZR c) (NumExec.fall rg) (val (slack o b))); lra. }
  pose proof (Rmult_le_compat_l _ _ _ ua0 A) as A1.
  pose proof (Rmult_le_compat_l _ _ _ ur0 cr) as A2.
  assert (2 * val (c_u_move o a) * NumInvariant.reference rg
          <= 2 * val (c_u_move o a) * val (h o b)) as A3 by (apply Rmult_le_compat_l; lra).
  assert (IZR c * (val (c_eps o a) + 2 * val (c_u_move o a) * NumInvariant.reference rg)
          <= IZR c * val each) as A4 by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

(** ** NUM-9: S^C *)

Theorem stretch_is_up a b c rg t :
  good_class a -> covers b rg t -> NumExec.sane_range rg -> (0 <= c <= 2 ^ 31)%Z ->
  fin (stretch_of o a b c) ->
  NumInvariant.stretch (real_class a) rg ^ Z.to_nat c <= val (stretch_of o a b c).
Proof.
  intros ga cov [lohi [sl0 fa0]] c0 f; unfold stretch_of in *.
  set (moved := up_plus (up_times (mul o (of_int o 2) (c_u_move o a)) (h o b)) (c_eps o a)) in *.
  set (span := larger (up_plus (high o b) (opp o (low o b))) (zero o)) in *.
  set (argument := up_times (c_u_arg o a) span) in *.
  set (x := up_plus (up_plus (slack o b) argument) moved) in *.
  set (shrunk := up_function (larger (exp_of o (opp o x)) (pow2 o (-1074)))) in *.
  set (missing := up_function (log1p_of o (up_times (c_kappa o a) shrunk))) in *.
  destruct ga as [_ ga _ gm ge gk _ _ _ _ _ _ _ _ _].
  destruct cov as [fh fl _ gs gh _ ch cl _ cs cr _].
  assert (not_below o shrunk) as ss by (apply (sign_up_function o B), sign_larger;
    [apply (sign_exp o B) | apply (good_sign o B), good_pow2; lia]).
  assert (not_below o missing) as sm.
  { apply (sign_up_function o B), (sign_log1p o B), (sign_up_times o B); [|exact ss].
    exact (good_sign o B _ gk). }
  assert (not_below o x) as sx.
  { apply (sign_up_plus o B); [apply (sign_up_plus o B) | apply (sign_up_plus o B)].
    - exact (good_sign o B _ gs).
    - apply (sign_up_times o B); [exact (good_sign o B _ ga) | apply sign_larger_zero].
    - apply (sign_up_times o B); [apply (sign_mul o B) | exact (good_sign o B _ gh)].
      + apply (good_sign o B), good_whole; lia.
      + exact (good_sign o B _ gm).
    - exact (good_sign o B _ ge). }
  destruct (up_exp_of_positive o B _ f) as [f1 le1].
  { apply (sign_up_times o B); [apply (good_sign o B), good_whole; lia|].
    apply (sign_up_plus o B); assumption. }
  apply Rle_trans with (2 := le1).
  destruct (up_times_is_up o B _ _ f1) as [_ [f2 le2]].
  destruct (up_plus_is_up o B _ _ f2) as [fx [fm le3]].
  destruct (up_log1p_is_up o B _ fm) as [f3 [_ le4]].
  destruct (up_times_is_up o B _ _ f3) as [_ [f4 le5]].
  destruct (up_plus_is_up o B _ _ fx) as [f5 [f6 le6]].
  destruct (up_plus_is_up o B _ _ f5) as [_ [f7 le7]].
  destruct (up_times_is_up o B _ _ f7) as [_ [f8 le8]].
  destruct (up_plus_is_up o B _ _ f6) as [f9 [_ le9]].
  destruct (up_times_is_up o B _ _ f9) as [f10 [_ le10]].
  destruct (twice_is _ f10) as [_ V10]; rewrite V10 in le10.
  fold missing in le4; fold x in le6; fold argument in le8; fold moved in le9.
  pose proof (sign_pos o B x sx fx) as x0.
  rewrite (proj2 (whole o B c ltac:(lia))) in le2.
  assert (NumExec.high rg - NumExec.low rg <= val span) as near_span.
  { assert (fin (up_plus (high o b) (opp o (low o b)))) as fhl.
    { assert (most (add o (high o b) (opp o (low o b)))) as m.
      { apply add_most; [exact fh | apply (of_opp o B _), fl | rewrite (val_opp o B); lra]. }
      apply up_plus_most' in m; destruct m as [[f' _] | E]; [exact f'|].
      exfalso; apply (infinite_is_no_number span); [|exact f8].
      unfold span; rewrite E; apply infinite_larger; left; apply (zero_is o B). }
    unfold span; rewrite (proj2 (larger_is _ _ fhl (proj1 (zero_is o B)))).
    apply Rle_trans with (2 := Rmax_l _ _).
    destruct (up_plus_is_up o B _ _ fhl) as [_ [_ le]]; rewrite (val_opp o B) in le; lra. }
  set (y := NumExec.fall rg + val (c_u_arg o a) * (NumExec.high rg - NumExec.low rg)
            + 2 * val (c_u_move o a) * NumInvariant.reference rg + val (c_eps o a)).
  assert (y <= val x) as yx.
  { pose proof (Rmult_le_compat_l _ _ _ (proj2 ga) near_span).
    assert (2 * val (c_u_move o a) * NumInvariant.reference rg
            <= 2 * val (c_u_move o a) * val (h o b))
      by (apply Rmult_le_compat_l; [destruct gm; lra | exact cr]).
    unfold y; lra. }
  assert (exp (- val x) <= val shrunk) as le11.
  { unfold shrunk in *; rewrite <- (val_opp o B); apply up_exp_or_smallest; [| | exact f4].
    - apply (of_opp o B _), fx.
    - rewrite (val_opp o B); lra. }
  assert (NumInvariant.stretch (real_class a) rg <= exp (val x + val missing)) as S1.
  { unfold NumInvariant.stretch; simpl; fold y; rewrite exp_plus.
    pose proof (NumInvariant.exp_le _ _ yx); pose proof (exp_pos (val x)) as ex.
    assert (1 + val (c_kappa o a) * exp (- val x) <= exp (val missing)) as M.
    { pose proof (Rmult_le_compat_l _ _ _ (proj2 gk) le11).
      pose proof (exp_pos (- val x)).
      assert (0 <= val (c_kappa o a) * exp (- val x))
        by (apply Rmult_le_pos; [exact (proj2 gk) | lra]).
      rewrite <- (exp_ln (1 + val (c_kappa o a) * exp (- val x))) by lra.
      apply NumInvariant.exp_le, Rle_trans with (2 := le4), ln_not_less; lra. }
    apply (Rmult_le_compat_l _ _ _ (Rlt_le _ _ ex)) in M.
    rewrite Rmult_plus_distr_l, Rmult_1_r, (Rmult_comm (val (c_kappa o a))), <- Rmult_assoc in M.
    rewrite <- exp_plus, Rplus_opp_r, exp_0 in M; lra. }
  assert (1 <= NumInvariant.stretch (real_class a) rg) as S0.
  { unfold NumInvariant.stretch; simpl; fold y.
    assert (0 <= NumInvariant.reference rg) by (apply NumInvariant.reference_pos).
    assert (0 <= y).
    { unfold y; destruct ga as [_ ga], gm as [_ gm], ge as [_ ge].
      assert (0 <= val (c_u_arg o a) * (NumExec.high rg - NumExec.low rg))
        by (apply Rmult_le_pos; lra).
      assert (0 <= 2 * val (c_u_move o a) * NumInvariant.reference rg)
        by (apply Rmult_le_pos; lra); lra. }
    pose proof (NumInvariant.exp_at_least_1 y); destruct gk; lra. }
  apply Rle_trans with (exp (val x + val missing) ^ Z.to_nat c).
  { apply pow_incr; lra. }
  rewrite <- (exp_ln (exp (val x + val missing) ^ Z.to_nat c)) by (apply pow_lt, exp_pos).
  rewrite <- (power_by_logarithm (exp (val x + val missing))) by apply exp_pos.
  rewrite !ln_exp, INR_of_Z by lia; apply NumInvariant.exp_le.
  apply Rle_trans with (2 := le2), Rmult_le_compat_l; [apply IZR_le; lia | lra].
Qed.

(** ** N eta S^C G exp(high), of n or o *)

Theorem tiny_losses_is_up b c rg t operations eta growth (N s g : R) :
  covers b rg t -> fin (tiny_losses o b c operations eta growth) -> good eta ->
  0 <= N <= val operations -> 0 <= s <= val (stretch o c) -> 0 <= g <= val growth ->
  N * val eta * s * (1 + g) * exp (NumExec.high rg - t)
    <= val (tiny_losses o b c operations eta growth).
Proof.
  intros cov f [_ e0] [N0 Nle] [s0 sle] [g0 gle]; unfold tiny_losses in *.
  destruct (up_times_is_up o B _ _ f) as [f1 [_ le1]].
  destruct (up_times_is_up o B _ _ f1) as [f2 [f3 le2]].
  destruct (up_times_is_up o B _ _ f2) as [_ [_ le3]].
  destruct (up_times_is_up o B _ _ f3) as [_ [f4 le4]].
  destruct (up_plus_is_up o B _ _ f4) as [_ [_ le5]]; rewrite (proj2 (one_is o B)) in le5.
  destruct cov as [_ _ _ _ _ _ _ _ _ _ cr]; pose proof (exp_pos (NumExec.high rg - t)).
  assert (N * exp (NumExec.high rg - t) <= val operations * val (rise o b))
    by (apply Rmult_le_compat; lra).
  assert (s * (1 + g) <= val (stretch o c) * val (up_plus (one o) growth))
    by (apply Rmult_le_compat; lra).
  assert (0 <= N * exp (NumExec.high rg - t)) by (apply Rmult_le_pos; lra).
  assert (0 <= s * (1 + g)) by (apply Rmult_le_pos; lra).
  replace (N * val eta * s * (1 + g) * exp (NumExec.high rg - t))
    with ((N * exp (NumExec.high rg - t)) * (s * (1 + g)) * val eta) by ring.
  apply Rle_trans with (2 := le1), Rmult_le_compat_r; [exact e0|].
  apply Rle_trans with (2 := le2), Rmult_le_compat; lra.
Qed.

(** ** NUM-11 *)

(** From the part of the denominator that may be missing, to the bound. The true sum of weights is
    within `lack` of the computed one, and so is the logarithm. *)
Theorem lse_is_up b c m sure lse_error part x y :
  fin (snd (bound_lse o b c m sure lse_error)) -> fin (least o m) -> 0 < val (least o m) ->
  0 <= part -> part * val (least o m) <= val (shared o m) + val (lost_n o m) ->
  0 <= x <= val lse_error -> y <= val (lack o c) + bpow radix2 (-50) * Rabs (val (fst
    (bound_lse o b c m sure lse_error))) ->
  part < 1 /\
  x - ln (1 - part) + y <= val (snd (bound_lse o b c m sure lse_error)).
Proof.
  intros f fl l0 p0 pl [x0 xl] yl; unfold bound_lse in *.
  set (lse := add o (top o b) (log_of o (all_weights o m))) in *.
  set (quotient := up o (div o (up_plus (shared o m) (lost_n o m)) (least o m))) in *.
  destruct (negb sure || negb (lt o quotient (one o))) eqn:E; cbn [fst snd] in *;
    [exfalso; exact (of_infinite o B f)|].
  apply orb_false_elim in E as [_ E]; apply negb_false_iff in E.
  destruct (up_plus_is_up o B _ _ f) as [f1 [f2 le1]].
  destruct (up_plus_is_up o B _ _ f1) as [_ [f3 le2]].
  destruct (up_plus_is_up o B _ _ f2) as [_ [f4 le3]].
  destruct (up_times_is_up o B _ _ f4) as [_ [_ le4]].
  rewrite (val_abs o B), (proj2 (of_pow2 o B (-50) ltac:(lia))) in le4.
  pose proof (fin_up_function o B _ f3) as f5; apply (fin_opp o B) in f5.
  destruct (of_log1p o B _ f5) as [f6 [low [near z]]].
  apply (fin_opp o B) in f6; rewrite (val_opp o B) in *.
  apply (of_less o B _ _ f6 (proj1 (one_is o B))) in E; rewrite (proj2 (one_is o B)) in E.
  destruct (up_quotient_is_up o B _ _ f6 fl) as [f7 [_ le5]]; fold quotient in le5.
  destruct (up_plus_is_up o B _ _ f7) as [_ [_ le6]].
  assert (part <= val quotient) as pq.
  { apply Rle_trans with (2 := le5); apply (Rmult_le_reg_r (val (least o m))); [exact l0|].
    unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra; lra. }
  split; [lra|].
  destruct (up_function_is_up o B _ (- ln (1 + - val quotient)) f3) as [_ le7].
  { rewrite (val_opp o B); unfold within in *.
    replace (- val (log1p_of o (opp o quotient)) - - ln (1 + - val quotient))
      with (- (val (log1p_of o (opp o quotient)) - ln (1 + - val quotient))) by ring.
    rewrite !Rabs_Ropp; exact near. }
  { rewrite (val_opp o B); intros Z.
    assert (- val quotient = 0) as Q by (apply z; lra).
    rewrite Q, Rplus_0_r, ln_1; lra. }
  assert (ln (1 + - val quotient) <= ln (1 - part)) by (apply ln_not_less; lra).
  lra.
Qed.
End Terms.
