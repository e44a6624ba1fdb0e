(* SPDX-License-Identifier: Apache-2.0 *)
(** * What is computed to nearest (spec/tolerance.md: NUM-9, NUM-10; the head of ref/tolerance.c)

    Weights and their sum are as near as `lack` says, `expected` as `spare` says. *)
From Coq Require Import Reals ZArith Bool List Lra Lia Psatz.
From Flocq Require Import Core.
From Chunkproof Require Import NumFloat NumFloatRow NumFloatUp NumFloatParts NumFloatTerms
  NumFloatScores NumFloatReferences NumFloatKeys NumFloatBound NumFloatPowers
  NumFloatSpare.
From Chunkproof Require NumCore NumExec NumInvariant NumTolerance.
Import ListNotations.
Open Scope R_scope.

Local Notation total := NumCore.total.

Lemma total_one {T} (f : T -> R) y k : (forall y, In y k -> 0 <= f y) -> In y k -> f y <= total f k.
Proof.
  induction k as [|z k IH]; simpl; [tauto|]; intros pos [<- | iny].
  - assert (0 <= total f k) by (apply NumCore.total_not_negative; auto); lra.
  - pose proof (pos z (or_introl eq_refl)); pose proof (IH ltac:(auto) iny); lra.
Qed.

Section Nearest.
Variable o : ops.
Variable B : binary64 o.
Local Notation fin := (finite B).
Local Notation val := (value B).

Variables (b : references o) (n : Z).
Hypothesis fh : fin (high o b).
Hypothesis fl : fin (low o b).
Hypothesis ft : fin (top o b).
Hypothesis order : val (low o b) <= val (top o b) <= val (high o b).
Hypothesis gz : good o B (largest_z o b).
Hypothesis z_small : val (largest_z o b) <= bpow radix2 (-30).
Hypothesis some : (1 <= n <= 2 ^ 20)%Z.

Let Z := val (largest_z o b).
Let D := val (high o b) - val (low o b).

Lemma z_bounds : 0 <= Z <= / 1073741824.
Proof. unfold Z; split; [apply gz | apply Rle_trans with (1 := z_small)]; simpl; lra. Qed.

Lemma n_bounds : 1 <= IZR n <= 1048576.
Proof. split; apply IZR_le; lia. Qed.

Lemma rounds_down x y : 0 <= x -> 0 <= y -> is_double x -> is_double y ->
  (1 - u) * (x + y) <= rnd (x + y).
Proof.
  intros x0 y0 dx dy; pose proof (rnd_plus_error x y dx dy) as e1.
  rewrite (Rabs_pos_eq (x + y)) in e1 by lra; apply NumCore.Rabs_between in e1; lra.
Qed.

Lemma rounds_up x y : 0 <= x -> 0 <= y -> is_double x -> is_double y ->
  rnd (x + y) <= (1 + u) * (x + y).
Proof.
  intros x0 y0 dx dy; pose proof (rnd_plus_error x y dx dy) as e1.
  rewrite (Rabs_pos_eq (x + y)) in e1 by lra; apply NumCore.Rabs_between in e1; lra.
Qed.

Lemma span_is : exists span,
  span = smaller o (larger o (sub o (high o b) (low o b)) (zero o)) (of_int o 708) /\
  fin span /\ (1 - u) * Rmin D 708 <= val span <= 708 /\ 0 <= val span.
Proof.
  eexists; split; [reflexivity|].
  destruct (whole o B 708 ltac:(lia)) as [f7 v7], (zero_is o B) as [f0 v0].
  assert (0 <= D) as D0 by (unfold D; lra); pose proof u_pos as u0.
  destruct (of_difference o B (high o b) (low o b) fh fl) as [f | [[_ E] | [neg _]]].
  - destruct (of_sub o B _ _ f) as [_ [_ V]].
    destruct (larger_is o B _ _ f f0) as [f1 v1]; destruct (smaller_is o B _ _ f1 f7) as [f2 v2].
    split; [exact f2|]; rewrite v2, v1, v7, v0, V.
    pose proof (rnd_plus_error _ _ (value_is_double o B (high o b))
      (double_opp _ (value_is_double o B (low o b)))) as e1.
    change (val (high o b) + - val (low o b)) with D in e1.
    change (val (high o b) - val (low o b)) with D.
    rewrite (Rabs_pos_eq D) in e1 by exact D0; apply NumCore.Rabs_between in e1.
    assert (u < 1) by (unfold u; lra).
    assert ((1 - u) * Rmin D 708 <= (1 - u) * D) by (apply Rmult_le_compat_l; [lra | apply Rmin_l]).
    assert ((1 - u) * Rmin D 708 <= 708).
    { pose proof (Rmin_r D 708); pose proof (Rmin_glb D 708 0 D0 ltac:(lra)); nra. }
    split; [split|].
    + apply Rmin_glb; [|lra]; apply Rle_trans with (2 := Rmax_l _ _); lra.
    + apply Rmin_r.
    + apply Rmin_glb; [apply Rmax_r | lra].
  - rewrite E, (infinite_larger o B), (smaller_first o B) by auto.
    rewrite v7; split; [exact f7 | split; [split; [|lra] | lra]].
    pose proof (Rmin_r D 708); pose proof (Rmin_glb D 708 0 D0 ltac:(lra)); unfold u in *; nra.
  - exfalso; pose proof (bpow_gt_0 radix2 1000); unfold D in D0; lra.
Qed.

(** How far a logarithm may be off, and more than three times that. *)
Let far := Rmin D 708.
Let lambda := Z + u * (far + IZR n + 10).

Lemma lack_is_large : fin (lack_of o b n) -> 3 * lambda <= val (lack_of o b n) <= 1.
Proof.
  intros f; unfold lack_of in *; destruct span_is as [span [E [fs [[s1 s2] s0]]]].
  rewrite <- E in *; clear E.
  destruct (of_add o B _ _ f) as [f1 [f2 V]].
  destruct (scaled_is o B 4 2 _ ltac:(reflexivity) ltac:(lia) f1) as [_ V1].
  destruct (of_mul o B _ _ f2) as [f3 [f4 V2]].
  destruct (scaled_is o B 4 2 _ ltac:(reflexivity) ltac:(lia) f3) as [_ V3].
  rewrite (proj2 (of_pow2 o B (-53) ltac:(lia))), unit_is in V3.
  destruct (of_add o B _ _ f4) as [f5 [f6 V4]]; destruct (of_add o B _ _ f5) as [_ [f7 V5]].
  rewrite (proj2 (whole o B 8 ltac:(lia))) in V4; rewrite (proj2 (whole o B n ltac:(lia))) in V5.
  pose proof n_bounds as n0; pose proof z_bounds as z0; pose proof u_pos as u0; fold far in s1.
  assert (0 <= far <= 708) as far0.
  { split; [apply Rmin_glb; [unfold D; lra | lra] | apply Rmin_r]. }
  assert (is_double 8) as d8.
  { pose proof (double_int 8 0 ltac:(lia) ltac:(lia)) as d; simpl in d; rewrite Rmult_1_r in d.
    exact d. }
  assert (is_double (IZR n)) as dn.
  { pose proof (double_int n 0 ltac:(lia) ltac:(lia)) as d; simpl in d; rewrite Rmult_1_r in d.
    exact d. }
  pose proof (rounds_down (val span) (IZR n) s0 ltac:(lra) (value_is_double o B span) dn) as r1.
  pose proof (rounds_up (val span) (IZR n) s0 ltac:(lra) (value_is_double o B span) dn) as q1.
  rewrite <- V5 in r1, q1; set (x1 := val (add o span (of_int o n))) in *.
  pose proof (rounds_down x1 8 ltac:(unfold u in *; nra) ltac:(lra) (value_is_double o B _) d8)
    as r2.
  pose proof (rounds_up x1 8 ltac:(unfold u in *; nra) ltac:(lra) (value_is_double o B _) d8)
    as q2.
  rewrite <- V4 in r2, q2; set (x2 := val (add o (add o span (of_int o n)) (of_int o 8))) in *.
  assert (0 <= x2) as x20 by (unfold u in *; lra).
  pose proof (rnd_error (IZR 4 * u * x2)) as e3; rewrite V3 in V2; rewrite <- V2 in e3.
  rewrite (Rabs_pos_eq (IZR 4 * u * x2)) in e3
    by (apply Rmult_le_pos; [unfold u; lra | exact x20]).
  set (x3 := val (mul o (mul o (of_int o 4) (pow2 o (-53))) _)) in *.
  apply NumCore.Rabs_between in e3.
  assert (smallest <= u / 1048576) as sm.
  { unfold smallest; rewrite <- unit_is; apply Rle_trans with (bpow radix2 (-73)).
    - apply bpow_le; lia.
    - replace (bpow radix2 (-73)) with (bpow radix2 (-53) * bpow radix2 (-20))
        by (rewrite <- bpow_plus; reflexivity).
      apply Req_le; simpl; lra. }
  pose proof smallest_pos as e0.
  assert (3.9 * u * (far + IZR n + 8) <= x3) as r3.
  { assert (far + IZR n + 8 - / 1024 <= x2) as r4 by (unfold u in *; lra).
    assert (IZR 4 * u * (far + IZR n + 8 - / 1024) <= IZR 4 * u * x2) as r5
      by (apply Rmult_le_compat_l; [unfold u; lra | exact r4]).
    unfold u in *; lra. }
  pose proof (rounds_down (val (mul o (of_int o 4) (largest_z o b))) x3) as r6.
  pose proof (rounds_up (val (mul o (of_int o 4) (largest_z o b))) x3) as q6.
  rewrite <- V in r6, q6.
  specialize (r6 ltac:(rewrite V1; fold Z; lra) ltac:(unfold u in *; lra)
    (value_is_double o B _) (value_is_double o B _)).
  specialize (q6 ltac:(rewrite V1; fold Z; lra) ltac:(unfold u in *; lra)
    (value_is_double o B _) (value_is_double o B _)).
  rewrite V1 in r6, q6; fold Z in r6, q6; unfold lambda; unfold u in *; lra.
Qed.

Lemma lambda_bounds : 0 <= far <= 708 /\ Z + 11 * u <= lambda <= / 500000000.
Proof.
  assert (0 <= far <= 708) as far0.
  { split; [apply Rmin_glb; [unfold D; lra | lra] | apply Rmin_r]. }
  pose proof n_bounds; pose proof z_bounds; split; [exact far0|]; unfold lambda, u; lra.
Qed.

(** ** A weight *)

(** How far the logarithm of one may be off: the score, the difference, and exp. *)
Let lambda_1 := Z + u * (far + 10).

Lemma weight_near s x :
  fin (score o s) -> fin (weight_of o b s) -> Rabs (val (score o s) - x) <= Z ->
  val (low o b) <= val (score o s) <= val (top o b) ->
  let w := val (weight_of o b s) in
  let e := exp (x - val (top o b)) in
  0 < w /\
  (w * (1 - 1.01 * lambda_1) <= e <= w * (1 + 1.01 * lambda_1) \/
   w = bpow radix2 (-1021) /\ e <= w) /\
  (val (score o s) = val (top o b) -> 0.999 <= w).
Proof.
  intros fs fw near bounds w e; unfold w, weight_of in *; clear w.
  apply NumCore.Rabs_between in near; pose proof z_bounds as z0; pose proof u_pos as u0.
  destruct (whole o B 708 ltac:(lia)) as [f7 v7].
  pose proof (proj2 (proj1 (of_opp o B (of_int o 708))) f7) as fm.
  pose proof (val_opp o B (of_int o 708)) as vm; rewrite v7 in vm.
  set (d := sub o (score o s) (top o b)) in *; set (y := val (score o s) - val (top o b)).
  assert (fin d -> val d = rnd y /\ Rabs (val d - y) <= u * Rabs y) as Vd.
  { intros f; destruct (of_sub o B _ _ f) as [_ [_ V]]; split; [exact V|]; unfold d; rewrite V.
    apply (rnd_plus_error _ _ (value_is_double o B (score o s))
      (double_opp _ (value_is_double o B (top o b)))). }
  assert (y <= 0) as y0 by (unfold y; lra).
  destruct (lt o d (opp o (of_int o 708))) eqn:E.
  - destruct (of_pow2 o B (-1021) ltac:(lia)) as [_ ->]; split; [apply bpow_gt_0|].
    assert (y < -708) as faint.
    { destruct (of_difference o B (score o s) (top o b) fs ft) as [f | [[big _] | [big _]]].
      - fold d in f; apply (of_less o B _ _ f fm) in E; rewrite vm, (proj1 (Vd f)) in E.
        apply Rnot_le_lt; intros le; apply rnd_le in le.
        rewrite (rnd_double (-708)) in le; [lra|].
        apply (double_opp 708); rewrite <- v7; apply value_is_double.
      - pose proof (bpow_gt_0 radix2 1000); unfold y in y0; lra.
      - assert (bpow radix2 10 <= bpow radix2 1000) as B1 by (apply bpow_le; lia).
        simpl (bpow radix2 10) in B1; unfold y; lra. }
    split; [right; split; [reflexivity|] | unfold y in faint; lra].
    apply Rle_trans with (2 := exp_707_is_faint), NumInvariant.exp_le; unfold y in faint; lra.
  - assert (fin d) as fd.
    { destruct (of_difference o B (score o s) (top o b) fs ft) as [f | [[big _] | [big inf]]].
      - exact f.
      - pose proof (bpow_gt_0 radix2 1000); unfold y in y0; lra.
      - fold d in inf; rewrite inf, (negated_less o B _ fm) in E; discriminate. }
    destruct (Vd fd) as [V near_d]; clear Vd; apply (less_not o B _ _ fd fm) in E; rewrite vm in E.
    rewrite (Rabs_left1 y) in near_d by exact y0; apply NumCore.Rabs_between in near_d.
    assert (val d <= 0) as d0 by (rewrite V, <- rnd_0; apply rnd_le, y0).
    assert (- y <= far + 1) as yfar.
    { assert (- y <= D) by (unfold D, y; lra).
      assert (- y <= 709) by (unfold u in *; lra).
      unfold far, Rmin; destruct (Rle_dec D 708); lra. }
    destruct lambda_bounds as [far0 _].
    destruct (of_exp o B d fw (or_intror fd)) as [_ W]; unfold within in W.
    set (w := val (exp_of o d)) in *; pose proof (exp_pos (val d)) as p0.
    assert (Rabs (w - exp (val d)) <= 8 * u * exp (val d)) as W1.
    { rewrite (Rabs_pos_eq (exp (val d))) in W by lra; rewrite Rmax_left in W; [exact W|].
      assert (normal <= exp (val d)) as big
        by (apply Rle_trans with (1 := exp_708_is_normal), NumInvariant.exp_le; lra).
      rewrite smallest_is; pose proof normal_pos.
      apply (Rmult_le_compat_l u) in big; [|lra]; pose proof (Rmult_lt_0_compat _ _ u0 p0); lra. }
    apply NumCore.Rabs_between in W1; clear W.
    assert (0 < w) as w0 by (unfold u in *; lra); split; [exact w0 | split].
    + left.
      set (delta := Z + u * (far + 1)).
      assert (0 <= delta <= / 500000000) as dl by (unfold delta, u in *; lra).
      assert (u * - y <= u * (far + 1)) as uy by (apply Rmult_le_compat_l; lra).
      set (r := x - val (top o b) - val d).
      assert (- delta <= r <= delta) as rd by (unfold r, delta; unfold y in *; lra).
      assert (e = exp (val d) * exp r) as Ee.
      { unfold e; rewrite <- exp_plus; f_equal; unfold r; ring. }
      assert (exp r <= 1 + 1.001 * delta) as up.
      { apply Rle_trans with (exp delta); [apply NumInvariant.exp_le; lra|].
        pose proof (exp_small delta ltac:(lra)); lra. }
      pose proof (exp_not_less r) as down.
      assert (lambda_1 = delta + 9 * u) as L1 by (unfold lambda_1, delta; ring).
      rewrite L1, Ee; set (p := exp (val d)) in *; split.
      * apply Rle_trans with (((1 + 8 * u) * p) * (1 - 1.01 * (delta + 9 * u))).
        { apply Rmult_le_compat_r; unfold u in *; lra. }
        rewrite (Rmult_comm _ p), Rmult_assoc.
        apply Rmult_le_compat_l; [lra|].
        apply Rle_trans with (2 := down); unfold u in *; lra.
      * apply Rle_trans with (((1 - 8 * u) * p) * (1 + 1.01 * (delta + 9 * u))).
        2:{ apply Rmult_le_compat_r; unfold u in *; lra. }
        rewrite (Rmult_comm _ p), Rmult_assoc.
        apply Rmult_le_compat_l; [lra|].
        apply Rle_trans with (1 := up); unfold u in *; lra.
    + intros same; assert (y = 0) as y00 by (unfold y; lra).
      rewrite y00, rnd_0 in V; rewrite V, exp_0 in W1; unfold u in *; lra.
Qed.

(** ** Their sum *)

Section Sum.
Context {T : Type}.
Variables (sc : T -> scored o) (x : T -> R) (l : list T).
Hypothesis length_is : n = Z.of_nat (length l).
Hypothesis each : forall y, In y l ->
  fin (score o (sc y)) /\ Rabs (val (score o (sc y)) - x y) <= Z /\
  val (low o b) <= val (score o (sc y)) <= val (top o b).
Hypothesis one_top : exists y, In y l /\ val (score o (sc y)) = val (top o b).

Let w y := weight_of o b (sc y).
Let e y := exp (x y - val (top o b)).
Let wt := val (sum_of o w l (zero o)).

Lemma faint_sum : IZR n * bpow radix2 (-1021) <= u / 1024 * / 4.
Proof.
  pose proof n_bounds as n0; apply Rle_trans with (bpow radix2 20 * bpow radix2 (-1021)).
  - apply Rmult_le_compat_r; [apply bpow_ge_0 | simpl; lra].
  - rewrite <- bpow_plus; apply Rle_trans with (bpow radix2 (-65)); [apply bpow_le; lia|].
    apply Req_le; unfold u; simpl; lra.
Qed.

(** W, the exact sum of the computed weights. *)
Lemma sum_near_weights :
  fin (sum_of o w l (zero o)) ->
  let W := total (fun y => val (w y)) l in
  0.999 <= W /\ Rabs (total e l - W) <= (1.01 * lambda_1 + u / 1024) * W /\
  Rabs (wt - W) <= 1.001 * (IZR n * u) * W.
Proof.
  intros f W; destruct (sum_finite o B w l (zero o) f) as [_ allf].
  assert (forall y, In y l -> 0 < val (w y) /\
    (val (w y) * (1 - 1.01 * lambda_1) <= e y <= val (w y) * (1 + 1.01 * lambda_1) \/
     val (w y) = bpow radix2 (-1021) /\ e y <= val (w y)) /\
    (val (score o (sc y)) = val (top o b) -> 0.999 <= val (w y))) as near.
  { intros y iny; destruct (each y iny) as [f1 [f2 f3]].
    exact (weight_near (sc y) (x y) f1 (allf y iny) f2 f3). }
  assert (0.999 <= W) as W0.
  { destruct one_top as [y [iny E]]; destruct (near y iny) as [_ [_ half]].
    apply Rle_trans with (1 := half E), (total_one (fun y => val (w y))); [|exact iny].
    intros y' iny'; left; apply near, iny'. }
  pose proof z_bounds as z0; pose proof n_bounds as n0; pose proof u_pos as u0.
  destruct lambda_bounds as [far0 _].
  assert (0 <= lambda_1) as l0 by (unfold lambda_1, u; lra).
  split; [exact W0 | split].
  - unfold W; rewrite <- NumCore.total_minus; eapply Rle_trans; [apply NumCore.total_abs|].
    apply Rle_trans with (total (fun y => 1.01 * lambda_1 * val (w y) + bpow radix2 (-1021)) l).
    + apply NumCore.total_le; intros y iny; destruct (near y iny) as [w0 [[le | [E le]] _]].
      * pose proof (bpow_ge_0 radix2 (-1021)); apply Rabs_le; lra.
      * assert (0 < e y) by apply exp_pos; pose proof (Rmult_le_pos _ _ l0 (Rlt_le _ _ w0)).
        apply Rabs_le; lra.
    + rewrite NumCore.total_plus, NumCore.total_scale, total_const; fold W.
      rewrite INR_IZR_INZ, <- length_is; pose proof faint_sum.
      assert (u / 1024 * / 4 <= u / 1024 * W) by (apply Rmult_le_compat_l; lra); lra.
  - pose proof (sum_near o B w l (zero o) f) as s1; fold wt in s1.
    rewrite (proj2 (zero_is o B)), Rabs_R0, !Rplus_0_l in s1; fold W in s1.
    rewrite (NumCore.total_ext (fun y => Rabs (val (w y))) (fun y => val (w y))) in s1
      by (intros y iny; apply Rabs_pos_eq; left; apply near, iny); fold W in s1.
    apply Rle_trans with (1 := s1), Rmult_le_compat_r; [lra|].
    pose proof (power_small (length l) ltac:(lia)) as p.
    rewrite INR_IZR_INZ, <- length_is in p.
    assert (0 <= IZR n * u) by (apply Rmult_le_pos; lra); lra.
Qed.

Lemma sum_near_lambda :
  fin (sum_of o w l (zero o)) -> 0.99 <= wt /\ Rabs (wt - total e l) <= 1.02 * lambda * wt.
Proof.
  intros f; destruct (sum_near_weights f) as [W0 [A1 A2]].
  set (W := total (fun y => val (w y)) l) in *; set (E := total e l) in *.
  pose proof z_bounds as z0; pose proof n_bounds as n0; pose proof u_pos as u0.
  destruct lambda_bounds as [far0 _].
  assert (0 <= IZR n * u <= / 4000000000) as nu by (unfold u; lra).
  assert (lambda = lambda_1 + IZR n * u) as L by (unfold lambda, lambda_1; ring).
  assert (10 * u <= lambda_1) as l1 by (unfold lambda_1, u; lra).
  assert (1.001 * (IZR n * u) * W <= / 3000000000 * W) as A3
    by (apply Rmult_le_compat_r; lra).
  apply NumCore.Rabs_between in A1, A2.
  assert (W <= 1.001 * wt) as A4 by lra.
  split; [lra|].
  assert (Rabs (wt - E) <= 1.011 * lambda * W) as A5.
  { assert (1.001 * (IZR n * u) * W + (1.01 * lambda_1 + u / 1024) * W <= 1.011 * lambda * W) as A6.
    { rewrite <- Rmult_plus_distr_r; apply Rmult_le_compat_r; [lra|]; rewrite L; lra. }
    apply Rabs_le; lra. }
  apply Rle_trans with (1 := A5).
  apply Rle_trans with (1.011 * lambda * (1.001 * wt)).
  - apply Rmult_le_compat_l; [rewrite L; lra | exact A4].
  - assert (0 <= lambda * wt) by (apply Rmult_le_pos; [rewrite L | ]; lra); lra.
Qed.

(** A weight is as near as `lack` says: NUM-10. *)
Theorem weight_within_lack y :
  In y l -> fin (w y) -> fin (lack_of o b n) -> e y <= val (w y) * (1 + val (lack_of o b n)).
Proof.
  intros iny fw fl'; pose proof (lack_is_large fl') as le; destruct (each y iny) as [f1 [f2 f3]].
  destruct (weight_near (sc y) (x y) f1 fw f2 f3) as [w0 [near _]]; fold (w y) (e y) in *.
  pose proof z_bounds as z0; pose proof n_bounds as n0; pose proof u_pos as u0.
  destruct lambda_bounds as [far0 l0].
  assert (lambda_1 <= lambda /\ 0 <= lambda_1) as [l1 l2]
    by (unfold lambda_1, lambda, u; split; lra).
  apply Rle_trans with (val (w y) * (1 + 1.01 * lambda_1)).
  - destruct near as [[_ le1] | [_ le1]]; [exact le1|]; apply Rle_trans with (1 := le1).
    rewrite <- (Rmult_1_r (val (w y))) at 1; apply Rmult_le_compat_l; lra.
  - apply Rmult_le_compat_l; lra.
Qed.

(** So is their sum: NUM-10. *)
Theorem sum_within_lack :
  fin (sum_of o w l (zero o)) -> fin (lack_of o b n) ->
  wt * (1 - val (lack_of o b n)) <= total e l <= wt * (1 + val (lack_of o b n)).
Proof.
  intros f fl'; pose proof (lack_is_large fl') as le; destruct (sum_near_lambda f) as [w0 near].
  apply NumCore.Rabs_between in near; destruct lambda_bounds as [far0 l0].
  pose proof z_bounds as z0; pose proof u_pos as u0.
  assert (1.02 * lambda * wt <= val (lack_of o b n) * wt)
    by (apply Rmult_le_compat_r; lra); lra.
Qed.

(** What `spare` has of a key: the part `lack` of its weight, or all of it where it is faint. *)
Let c y := if le o (w y) (pow2 o (-1021)) then one o else lack_of o b n.

Lemma key_margin y :
  In y l -> fin (w y) -> fin (lack_of o b n) ->
  0 < val (w y) /\ 0 <= val (c y) <= 1 /\
  Rabs (e y - val (w y)) + 1.03 * lambda * e y + (IZR n + 3) * u * val (w y)
    <= val (c y) * val (w y) * (1 + (IZR n + 3) * u).
Proof.
  intros iny fw fl'; pose proof (lack_is_large fl') as le; destruct (each y iny) as [f1 [f2 f3]].
  destruct (weight_near (sc y) (x y) f1 fw f2 f3) as [w0 [near _]]; fold (w y) (e y) in *.
  pose proof z_bounds as z0; pose proof n_bounds as n0; pose proof u_pos as u0.
  destruct lambda_bounds as [far0 l0].
  set (p := val (w y)) in *; set (r := (IZR n + 3) * u).
  assert (lambda = lambda_1 + IZR n * u) as L by (unfold lambda, lambda_1; ring).
  assert (10 * u <= lambda_1) as l1 by (unfold lambda_1, u; lra).
  assert (0 <= IZR n * u) as nu by (apply Rmult_le_pos; lra).
  assert (0 <= r /\ r <= lambda) as [r0 r1].
  { unfold r, lambda; split; [apply Rmult_le_pos; lra|]; unfold u; lra. }
  assert (0 <= val (c y) <= 1 /\ (3 * lambda <= val (c y)) /\
    (p = bpow radix2 (-1021) -> val (c y) = 1)) as [c0 [c1 c2]].
  { destruct (of_pow2 o B (-1021) ltac:(lia)) as [fp vp]; unfold c.
    pose proof (of_at_most o B (w y) (pow2 o (-1021)) fw fp) as at_most; rewrite vp in at_most.
    fold p in at_most; destruct (NumFloat.le o (w y) (pow2 o (-1021))).
    - rewrite (proj2 (one_is o B)); lra.
    - split; [lra | split; [lra|]]; intros E; exfalso; destruct at_most as [_ at_most].
      specialize (at_most (Req_le _ _ E)); discriminate. }
  split; [exact w0 | split; [exact c0|]].
  destruct near as [[n1 n2] | [E n1]].
  - assert (Rabs (e y - p) <= 1.01 * lambda_1 * p) as a1 by (apply Rabs_le; lra).
    assert (e y <= 1.001 * p) as a2.
    { apply Rle_trans with (1 := n2); rewrite (Rmult_comm 1.001); apply Rmult_le_compat_l; lra. }
    assert (1.03 * lambda * e y <= 1.03 * lambda * (1.001 * p)) as a3
      by (apply Rmult_le_compat_l; lra).
    apply Rle_trans with (3 * lambda * p).
    + apply Rle_trans with ((1.01 * lambda_1 + 1.03 * lambda * 1.001 + r) * p); [lra|].
      apply Rmult_le_compat_r; [lra|]; unfold r; lra.
    + apply Rle_trans with (val (c y) * p); [apply Rmult_le_compat_r; lra|].
      rewrite <- (Rmult_1_r (val (c y) * p)) at 1; apply Rmult_le_compat_l; [|lra].
      apply Rmult_le_pos; lra.
  - rewrite (c2 E), Rabs_left1 by lra; assert (0 < e y) as e0 by apply exp_pos.
    assert (1.03 * lambda * e y <= 1 * e y) by (apply Rmult_le_compat_r; lra); lra.
Qed.

(** `expected` is as near to attention as `spare` says: NUM-10. *)
Theorem mean_within_spare (vv : T -> F o) (W : F o) :
  let mean := div o (sum_of o (fun y => mul o (w y) (vv y)) l (zero o)) W in
  let size := div o (sum_of o (fun y => mul o (mul o (w y) (abs o (vv y))) (c y)) l (zero o)) W in
  let spare := up_plus o (up_sum o size (n + 4)) (mul o (of_int o n) (pow2 o (-1074))) in
  W = sum_of o w l (zero o) -> fin W -> fin (lack_of o b n) -> fin mean -> fin spare ->
  Rabs (val mean - total (fun y => e y * val (vv y)) l / total e l) <= val spare.
Proof.
  intros mean size spare EW fW fl' fm fsp; unfold mean, spare, size in *.
  pose proof fW as fW'; rewrite EW in fW'.
  destruct (sum_near_lambda fW') as [W0 near].
  destruct (sum_finite o B w l (zero o) fW') as [_ allf].
  unfold wt in *; rewrite <- EW in W0, near.
  destruct lambda_bounds as [_ l0]; pose proof z_bounds as z0; pose proof u_pos as u0.
  assert (INR (length l) = IZR n) as nn by (rewrite INR_IZR_INZ, length_is; reflexivity).
  rewrite length_is in fsp |- * at 1 2.
  apply (mean_within o B w vv l W ltac:(lia)) with (c := c) (lambda := lambda); try assumption.
  - intros y iny; apply (key_margin y iny (allf y iny) fl').
  - intros y iny; apply (key_margin y iny (allf y iny) fl').
  - lra.
  - intros; apply exp_pos.
  - intros y iny; rewrite nn; apply (key_margin y iny (allf y iny) fl').
Qed.
(** ** The logarithm of the sum *)

Lemma ln_at_most y : 0 < y -> ln y <= y / 8 + 1.3.
Proof.
  intros y0; assert (ln 8 <= 2.3) as l8.
  { rewrite <- (ln_exp 2.3); apply ln_not_less; [lra|].
    replace 2.3 with (INR 23 * 0.1) by (simpl; lra).
    assert (forall k, 1.1 ^ k <= exp (INR k * 0.1)) as step.
    { induction k as [|k IH]; [rewrite Rmult_0_l, exp_0; simpl; lra|].
      rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus, Rmult_comm; simpl.
      pose proof (exp_ineq1_le 0.1); pose proof (pow_lt 1.1 k ltac:(lra)).
      apply Rmult_le_compat; lra. }
    apply Rle_trans with (2 := step 23%nat); simpl; lra. }
  replace y with (8 * (y / 8)) at 1 by field.
  rewrite ln_mult by lra; pose proof (exp_ineq1_le (ln (y / 8))) as le.
  rewrite exp_ln in le by lra; lra.
Qed.

Lemma sum_at_most : total e l <= 1.001 * IZR n.
Proof.
  assert (INR (length l) = IZR n) as nn by (rewrite INR_IZR_INZ, length_is; reflexivity).
  rewrite <- nn; clear nn; pose proof z_bounds as z0.
  assert (forall y, In y l -> e y <= 1.001) as all.
  { intros y iny; destruct (each y iny) as [_ [near [_ le]]]; apply NumCore.Rabs_between in near.
    apply Rle_trans with (exp Z); [apply NumInvariant.exp_le; lra|].
    pose proof (exp_small Z ltac:(lra)); lra. }
  revert all; generalize l as k; induction k as [|y k IH]; intros all; [simpl; lra|].
  change (total e (y :: k)) with (e y + total e k); cbn [length]; rewrite S_INR.
  pose proof (all y (or_introl eq_refl)); pose proof (IH (fun z inz => all z (or_intror inz))); lra.
Qed.

Lemma logarithms_near p q d : 0 < p -> 0 <= d <= / 1000 -> Rabs (p - q) <= d * p ->
  Rabs (ln p - ln q) <= 1.01 * d.
Proof.
  intros p0 d0 near; apply NumCore.Rabs_between in near.
  assert (d * p <= p / 1000) by (unfold Rdiv; rewrite Rmult_comm; apply Rmult_le_compat_l; lra).
  assert (0 < q) as q0 by lra; apply Rabs_le; split.
  - assert (ln (q / p) <= q / p - 1) as le.
    { pose proof (exp_ineq1_le (ln (q / p))) as le.
      rewrite exp_ln in le by (apply Rdiv_lt_0_compat; assumption); lra. }
    unfold Rdiv in le at 1; rewrite ln_mult, ln_Rinv in le
      by (try apply Rinv_0_lt_compat; assumption).
    assert (q / p <= 1 + d) by (apply (Rmult_le_reg_r p); [exact p0|]; unfold Rdiv;
      rewrite Rmult_assoc, Rinv_l by lra; lra); lra.
  - assert (ln (p / q) <= p / q - 1) as le.
    { pose proof (exp_ineq1_le (ln (p / q))) as le.
      rewrite exp_ln in le by (apply Rdiv_lt_0_compat; assumption); lra. }
    unfold Rdiv in le at 1; rewrite ln_mult, ln_Rinv in le
      by (try apply Rinv_0_lt_compat; assumption).
    assert (p / q <= 1 + 1.01 * d); [|lra].
    apply (Rmult_le_reg_r q); [exact q0|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra.
    assert (d * p <= d * (1.002 * q)) by (apply Rmult_le_compat_l; lra); lra.
Qed.

(** What is computed of NUM-11 is as near to the log-sum-exp as `lack` says, and 2^-50 of it. *)
Theorem lse_within_lack (W : F o) :
  let lse := add o (top o b) (log_of o W) in
  W = sum_of o w l (zero o) -> fin (lack_of o b n) -> fin lse ->
  Rabs (val lse - (val (top o b) + ln (total e l)))
    <= val (lack_of o b n) + bpow radix2 (-50) * Rabs (val lse).
Proof.
  intros lse EW fl' f; destruct (of_add o B _ _ f) as [_ [flog V]]; fold lse in V.
  destruct (of_log o B _ flog) as [fW [W0 near_log]]; pose proof fW as fW'; rewrite EW in fW'.
  destruct (sum_near_lambda fW') as [W1 near]; unfold wt in *; rewrite <- EW in W1, near.
  pose proof (lack_is_large fl') as [large _]; destruct lambda_bounds as [far0 [_ l1]].
  pose proof z_bounds as z0; pose proof n_bounds as n0; pose proof u_pos as u0.
  assert (u * (IZR n + 10) <= lambda) as l2.
  { unfold lambda; assert (0 <= u * far) by (apply Rmult_le_pos; lra); lra. }
  assert (0 <= lambda) as l3 by (apply Rle_trans with (2 := l2), Rmult_le_pos; lra).
  pose proof (logarithms_near (val W) (total e l) (1.02 * lambda) W0 ltac:(lra) near) as A1.
  assert (Rabs (ln (val W)) <= 0.126 * IZR n + 1.32) as A2.
  { apply NumCore.Rabs_between in near; pose proof sum_at_most as most_sum.
    assert (1.02 * lambda * val W <= / 1000 * val W) by (apply Rmult_le_compat_r; lra).
    apply Rabs_le; split.
    - pose proof (exp_ineq1_le (- ln (val W))) as low; rewrite exp_Ropp, exp_ln in low by exact W0.
      assert (/ val W <= / 0.99) by (apply Rinv_le; lra); lra.
    - pose proof (ln_at_most (val W) W0); lra. }
  assert (8 * u * Rabs (ln (val W)) <= u * (1.008 * IZR n + 10.56)) as A3.
  { apply Rle_trans with (8 * u * (0.126 * IZR n + 1.32)); [apply Rmult_le_compat_l; lra | lra]. }
  assert (smallest <= u) as A4 by (rewrite <- unit_is; apply bpow_le; lia).
  assert (Rabs (val (log_of o W) - ln (val W)) <= u * (1.008 * IZR n + 10.56)) as A5.
  { apply Rle_trans with (1 := near_log), Rmax_lub; [exact A3|].
    apply Rle_trans with (1 := A4); apply Rle_trans with (u * 1); [lra|].
    apply Rmult_le_compat_l; lra. }
  pose proof (rnd_plus_error _ _ (value_is_double o B (top o b)) (value_is_double o B (log_of o W)))
    as A6; rewrite <- V in A6.
  set (joined := val (top o b) + val (log_of o W)) in *.
  assert (Rabs joined <= 2 * Rabs (val lse)) as A7.
  { assert (Rabs joined <= Rabs (val lse) + u * Rabs joined) as tri.
    { replace joined with (val lse - (val lse - joined)) at 1 by ring.
      apply Rle_trans with (1 := Rabs_triang _ _); rewrite Rabs_Ropp; lra. }
    pose proof (Rabs_pos joined); unfold u in *; lra. }
  assert (bpow radix2 (-50) = 8 * u) as E50 by (unfold u; simpl; lra).
  rewrite E50.
  replace (val lse - (val (top o b) + ln (total e l)))
    with ((val lse - joined) + (val (log_of o W) - ln (val W)) + (ln (val W) - ln (total e l)))
    by (unfold joined; ring).
  pose proof (Rabs_triang (val lse - joined + (val (log_of o W) - ln (val W)))
    (ln (val W) - ln (total e l))).
  pose proof (Rabs_triang (val lse - joined) (val (log_of o W) - ln (val W))).
  assert (u * Rabs joined <= u * (2 * Rabs (val lse))) by (apply Rmult_le_compat_l; lra).
  assert (u * (1.008 * IZR n + 10.56) <= 1.06 * lambda); [|pose proof (Rabs_pos (val lse)); nra].
  apply Rle_trans with (1.06 * (u * (IZR n + 10))); [|lra].
  replace (1.06 * (u * (IZR n + 10))) with (u * (1.06 * (IZR n + 10))) by ring.
  apply Rmult_le_compat_l; lra.
Qed.
End Sum.
End Nearest.
