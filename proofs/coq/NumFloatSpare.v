(* SPDX-License-Identifier: Apache-2.0 *)
(** * `expected` is within `spare` of attention (spec/tolerance.md: NUM-10)

    Both are computed to nearest, from the same weights (the head of ref/tolerance.c). *)
From Coq Require Import Reals ZArith Bool List Lra Lia Psatz.
From Flocq Require Import Core.
From Chunkproof Require Import NumFloat NumFloatRow NumFloatUp NumFloatParts NumFloatTerms
  NumFloatScores NumFloatBound NumFloatPowers.
From Chunkproof Require NumCore.
Import ListNotations.
Open Scope R_scope.

Local Notation total := NumCore.total.

Section Spare.
Variable o : ops.
Variable B : binary64 o.
Local Notation fin := (finite B).
Local Notation val := (value B).

(** What up_sum() adds, beyond what sums of it lose. *)
Lemma up_sum_adds y k :
  fin (up_sum o y k) -> (0 <= k <= 2 ^ 22)%Z ->
  0 <= val y + IZR k * smallest ->
  fin y /\ (val y + IZR k * smallest) * (1 + 2 * IZR k * u) <= val (up_sum o y k).
Proof.
  intros f k0 pos; unfold up_sum in *.
  destruct (up_times_is_up o B _ _ f) as [fs [fg le]].
  destruct (up_plus_is_up o B _ _ fs) as [fx [ft les]]; split; [exact fx|].
  rewrite (whole_times_power o B) in les by (try exact ft; lia); fold smallest in les.
  apply Rle_trans with (2 := le).
  assert (val (add o (one o) (mul o (of_int o k) (pow2 o (-52)))) = 1 + 2 * IZR k * u) as ->.
  { destruct (of_add o B _ _ fg) as [_ [fm V]]; rewrite V, (proj2 (one_is o B)).
    rewrite (whole_times_power o B) by (try exact fm; lia).
    replace (1 + IZR k * bpow radix2 (-52)) with (IZR (2 ^ 52 + k) * bpow radix2 (-52)).
    - rewrite rnd_double by (apply double_int; lia).
      rewrite plus_IZR; change (IZR (2 ^ 52)) with 4503599627370496; unfold u; simpl; lra.
    - rewrite plus_IZR; change (IZR (2 ^ 52)) with 4503599627370496; simpl; lra. }
  assert (0 <= IZR k) as k1 by (apply IZR_le; lia).
  apply Rmult_le_compat_r; [unfold u; lra | exact les].
Qed.

(** ** The mean of values, computed *)

Section Mean.
Context {T : Type}.
Variables (w vv : T -> F o) (l : list T) (W : F o).
Hypothesis few : (1 <= Z.of_nat (length l) <= 2 ^ 20)%Z.
Hypothesis w_pos : forall y, In y l -> 0 < val (w y).
Hypothesis W_most : 0.99 <= val W.
Hypothesis fW : fin W.

Let n := INR (length l).
Let q := / val W.
Let M := total (fun y => val (w y) * Rabs (val (vv y))) l.
Let mean := div o (sum_of o (fun y => mul o (w y) (vv y)) l (zero o)) W.

Lemma n_few : 1 <= n <= 1048576.
Proof. unfold n; rewrite INR_IZR_INZ; split; apply IZR_le; lia. Qed.

Lemma q_bounds : 0 < q <= 1.02.
Proof.
  unfold q; split; [apply Rinv_0_lt_compat; lra|].
  apply Rle_trans with (/ 0.99); [apply Rinv_le_contravar; lra | lra].
Qed.

Lemma M_not_negative : 0 <= M.
Proof.
  apply NumCore.total_not_negative; intros y iny; apply Rmult_le_pos; [left; apply w_pos, iny|].
  apply Rabs_pos.
Qed.

Lemma mean_near :
  fin mean ->
  (forall y, In y l -> fin (vv y)) /\
  Rabs (val mean - q * total (fun y => val (w y) * val (vv y)) l)
    <= q * ((n + 3) * u * M) + (0.52 * n + 0.5) * smallest.
Proof.
  intros f; unfold mean in *.
  set (S := sum_of o (fun y => mul o (w y) (vv y)) l (zero o)) in *.
  destruct (of_div o B _ _ f fW) as [fS [_ V]]; unfold S in fS.
  destruct (sum_finite o B _ _ _ fS) as [_ all].
  assert (forall y, In y l -> fin (vv y)) as fv.
  { intros y iny; destruct (of_mul o B _ _ (all y iny)) as [_ [fv _]]; exact fv. }
  split; [exact fv|].
  pose proof (sum_near o B _ _ _ fS) as near; fold S in near.
  rewrite (proj2 (zero_is o B)), Rabs_R0, !Rplus_0_l in near.
  pose proof smallest_pos as e0; pose proof u_pos as u0; pose proof n_few as n0.
  pose proof q_bounds as q0; pose proof M_not_negative as M0.
  set (P := total (fun y => val (mul o (w y) (vv y))) l) in *.
  set (Q := total (fun y => Rabs (val (mul o (w y) (vv y)))) l) in *.
  set (T0 := total (fun y => val (w y) * val (vv y)) l).
  assert (forall y, In y l -> Rabs (val (w y) * val (vv y)) = val (w y) * Rabs (val (vv y))) as Ab.
  { intros y iny; rewrite Rabs_mult, (Rabs_pos_eq (val (w y))) by (left; apply w_pos, iny);
      reflexivity. }
  assert (total (fun y => u * (val (w y) * Rabs (val (vv y))) + smallest / 2) l
          = u * M + n * (smallest / 2)) as sum_is.
  { rewrite NumCore.total_plus, NumCore.total_scale, total_const; reflexivity. }
  assert (Rabs (P - T0) <= u * M + n * (smallest / 2)) as PT.
  { unfold P, T0; rewrite <- NumCore.total_minus.
    eapply Rle_trans; [apply NumCore.total_abs|]; rewrite <- sum_is.
    apply NumCore.total_le; intros y iny; rewrite <- (Ab y iny).
    apply (product_near o B), all, iny. }
  assert (Q <= (1 + u) * M + n * (smallest / 2)) as QM.
  { replace ((1 + u) * M + n * (smallest / 2)) with (M + (u * M + n * (smallest / 2))) by ring.
    rewrite <- sum_is; unfold M; rewrite <- NumCore.total_plus; apply NumCore.total_le.
    intros y iny; rewrite <- (Ab y iny); pose proof (product_near o B _ _ (all y iny)) as p.
    replace (val (mul o (w y) (vv y)))
      with ((val (mul o (w y) (vv y)) - val (w y) * val (vv y)) + val (w y) * val (vv y)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]; lra. }
  pose proof (power_1u (length l)) as p1; pose proof (power_close (length l + 2) ltac:(lia)) as p2.
  rewrite plus_INR, pow_add in p2; fold n in p2; simpl (INR 2) in p2; simpl (_ ^ 2) in p2.
  set (p := (1 + u) ^ length l) in *; set (h := n * (smallest / 2)) in *.
  assert (0 <= h) as h0 by (apply Rmult_le_pos; lra).
  assert (Rabs (val S - T0) <= (p * (1 + u) - 1) * M + h * p) as ST.
  { replace (val S - T0) with ((val S - P) + (P - T0)) by ring.
    pose proof (Rabs_triang (val S - P) (P - T0)).
    assert ((p - 1) * Q <= (p - 1) * ((1 + u) * M + h)) by (apply Rmult_le_compat_l; lra).
    replace ((p * (1 + u) - 1) * M + h * p)
      with ((p - 1) * ((1 + u) * M + h) + (u * M + h)) by ring.
    lra. }
  assert (Rabs T0 <= M) as TM.
  { eapply Rle_trans; [apply NumCore.total_abs|]; apply NumCore.total_le; intros y iny.
    rewrite (Ab y iny); lra. }
  set (A := (p * (1 + u) - 1) * M + h * p) in *.
  assert (Rabs (val S) <= M + A) as SM.
  { replace (val S) with ((val S - T0) + T0) by ring.
    pose proof (Rabs_triang (val S - T0) T0); lra. }
  pose proof (rnd_error (val S / val W)) as last; rewrite <- V in last.
  unfold Rdiv in last at 1 2; fold q in last.
  replace (val (div o S W) - q * T0)
    with ((val (div o S W) - val S * q) + q * (val S - T0)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_mult in last |- *.
  rewrite (Rabs_pos_eq q) in last |- * by lra.
  assert (u * (Rabs (val S) * q) + q * Rabs (val S - T0) <= q * (u * (M + A) + A)) as E1.
  { replace (u * (Rabs (val S) * q) + q * Rabs (val S - T0))
      with (q * (u * Rabs (val S) + Rabs (val S - T0))) by ring.
    apply Rmult_le_compat_l; [lra|]; pose proof (Rmult_le_compat_l u _ _ ltac:(lra) SM); lra. }
  assert (u * (M + A) + A = (p * ((1 + u) * ((1 + u) * 1)) - 1) * M + h * (p * (1 + u))) as E2
    by (unfold A; ring).
  assert ((p * ((1 + u) * ((1 + u) * 1)) - 1) * M <= (n + 3) * u * M) as E3
    by (apply Rmult_le_compat_r; lra).
  assert (p * (1 + u) <= 1.001) as E4.
  { assert (p * (1 + u) <= p * ((1 + u) * ((1 + u) * 1))) as E5
      by (apply Rmult_le_compat_l; unfold u; lra).
    apply Rle_trans with (1 := E5), Rle_trans with (1 := p2); unfold u; lra. }
  assert (q * (h * (p * (1 + u))) <= 1.02 * (h * 1.001)) as E6.
  { apply Rmult_le_compat; [lra | | lra | apply Rmult_le_compat_l; lra].
    apply Rmult_le_pos; [exact h0 | apply Rmult_le_pos; lra]. }
  assert (1.02 * (h * 1.001) <= 0.52 * n * smallest) as E7.
  { unfold h; assert (0 <= n * smallest) by (apply Rmult_le_pos; lra); lra. }
  rewrite E2 in E1; apply (Rmult_le_compat_l q) in E3; [|lra].
  rewrite Rmult_plus_distr_l in E1; lra.
Qed.

(** The magnitude, each with a factor c of at most 1. *)
Variable c : T -> F o.
Hypothesis c_pos : forall y, In y l -> 0 <= val (c y) <= 1.

Let C := total (fun y => val (c y) * (val (w y) * Rabs (val (vv y)))) l.
Let size := div o (sum_of o (fun y => mul o (mul o (w y) (abs o (vv y))) (c y)) l (zero o)) W.

Lemma size_down :
  fin size -> (1 - u) ^ (length l + 3) * (q * C) - (1.03 * n + 0.5) * smallest <= val size.
Proof.
  intros f; unfold size in *.
  set (g := fun y => mul o (mul o (w y) (abs o (vv y))) (c y)) in *.
  set (S := sum_of o g l (zero o)) in *.
  destruct (of_div o B _ _ f fW) as [fS [_ V]]; unfold S in fS.
  destruct (sum_finite o B _ _ _ fS) as [_ all].
  pose proof smallest_pos as e0; pose proof u_pos as u0; pose proof n_few as n0.
  pose proof q_bounds as q0.
  assert (forall y, In y l -> 0 <= val (g y) /\
    (1 - u) ^ 2 * (val (c y) * (val (w y) * Rabs (val (vv y)))) - smallest <= val (g y)) as gs.
  { intros y iny; pose proof (all y iny) as fg; unfold g in *.
    destruct (of_mul o B _ _ fg) as [f1 [_ V1]]; destruct (of_mul o B _ _ f1) as [_ [_ V2]].
    rewrite (val_abs o B) in V2; pose proof (w_pos y iny) as w0; pose proof (c_pos y iny) as c0.
    set (a := val (w y)) in *; set (v := Rabs (val (vv y))) in *.
    assert (0 <= v) as v0 by apply Rabs_pos; assert (0 <= a * v) as av by (apply Rmult_le_pos; lra).
    pose proof (product_down a v ltac:(lra) v0) as d1; rewrite <- V2 in d1.
    set (b := val (mul o (w y) (abs o (vv y)))) in *.
    assert (0 <= b) as b0 by (rewrite V2, <- rnd_0; apply rnd_le, av).
    pose proof (product_down b (val (c y)) b0 ltac:(lra)) as d2; rewrite <- V1 in d2.
    split; [rewrite V1, <- rnd_0; apply rnd_le, Rmult_le_pos; lra|].
    apply Rle_trans with (2 := d2).
    assert (((1 - u) * (a * v) - smallest / 2) * val (c y) <= b * val (c y)) as d3
      by (apply Rmult_le_compat_r; lra).
    assert (smallest / 2 * val (c y) <= smallest / 2) as d4.
    { rewrite <- (Rmult_1_r (smallest / 2)) at 2; apply Rmult_le_compat_l; lra. }
    assert ((1 - u) * ((1 - u) * (a * v) * val (c y) - smallest / 2) <= (1 - u) * (b * val (c y)))
      as d5 by (apply Rmult_le_compat_l; [unfold u; lra | lra]).
    assert (0 <= u * smallest) by (apply Rmult_le_pos; lra); simpl; lra. }
  pose proof (sum_not_less o B g l (zero o) fS) as low; fold S in low.
  rewrite (proj2 (zero_is o B)) in low.
  specialize (low (Rle_refl 0) (fun y iny => proj1 (gs y iny))); rewrite Rplus_0_l in low.
  assert ((1 - u) ^ 2 * C - n * smallest <= total (fun y => val (g y)) l) as low'.
  { unfold C, n; rewrite <- NumCore.total_scale, <- (total_const smallest l).
    rewrite <- NumCore.total_minus; apply NumCore.total_le; intros y iny; apply gs, iny. }
  pose proof (power_less (length l)) as pl.
  assert (0 <= n * smallest) as ns by (apply Rmult_le_pos; lra).
  apply (Rmult_le_compat_l _ _ _ (Rlt_le _ _ (proj1 pl))) in low'.
  assert ((1 - u) ^ length l * (n * smallest) <= 1 * (n * smallest)) as und
    by (apply Rmult_le_compat_r; lra).
  assert ((1 - u) ^ (length l + 2) * C - n * smallest <= val S) as SC
    by (rewrite pow_add, Rmult_assoc; lra).
  assert (0 <= val S) as S0.
  { apply Rle_trans with (2 := low), Rmult_le_pos; [lra|].
    apply NumCore.total_not_negative; intros y iny; apply gs, iny. }
  pose proof (rnd_error (val S / val W)) as last; rewrite <- V in last.
  unfold Rdiv in last at 1 2; fold q in last; assert (0 <= val S * q) as sq
    by (apply Rmult_le_pos; lra).
  rewrite (Rabs_pos_eq (val S * q)) in last by exact sq; apply NumCore.Rabs_between in last.
  apply (Rmult_le_compat_r q) in SC; [|lra].
  apply (Rmult_le_compat_l (1 - u)) in SC; [|unfold u; lra].
  assert (n * smallest * q <= n * smallest * 1.02) as nq by (apply Rmult_le_compat_l; lra).
  replace ((1 - u) ^ (length l + 3)) with ((1 - u) * (1 - u) ^ (length l + 2))
    by (rewrite !pow_add; ring).
  assert (0 <= u * (n * smallest * q)) by (repeat apply Rmult_le_pos; lra).
  lra.
Qed.

(** ** All of it, from what is known of each key *)
Variable e : T -> R.
Variable lambda : R.
Hypothesis lambda_small : 0 <= lambda <= / 1000000.
Hypothesis e_pos : forall y, In y l -> 0 < e y.
Hypothesis W_near : Rabs (val W - total e l) <= 1.02 * lambda * val W.
Hypothesis each : forall y, In y l ->
  Rabs (e y - val (w y)) + 1.03 * lambda * e y + (n + 3) * u * val (w y)
    <= val (c y) * val (w y) * (1 + (n + 3) * u).

Lemma mean_within :
  let k := Z.of_nat (length l) in
  let spare := up_plus o (up_sum o size (k + 4)) (mul o (of_int o k) (pow2 o (-1074))) in
  fin mean -> fin spare ->
  Rabs (val mean - total (fun y => e y * val (vv y)) l / total e l) <= val spare.
Proof.
  intros k spare fm fsp; destruct (mean_near fm) as [fv near].
  pose proof smallest_pos as e0; pose proof u_pos as u0; pose proof n_few as n0.
  pose proof q_bounds as q0; pose proof M_not_negative as M0.
  set (T0 := total (fun y => val (w y) * val (vv y)) l) in *.
  set (N := total (fun y => e y * val (vv y)) l); set (E := total e l) in *.
  set (A := total (fun y => e y * Rabs (val (vv y))) l).
  set (D := total (fun y => Rabs (e y - val (w y)) * Rabs (val (vv y))) l).
  assert (0.98 <= E /\ Rabs (E - val W) <= 1.03 * lambda * E) as [E0 EW].
  { rewrite Rabs_minus_sym in W_near; pose proof (NumCore.Rabs_between _ _ W_near) as wn.
    assert (1.02 * lambda * val W <= 1.02 * / 1000000 * val W) as l1
      by (apply Rmult_le_compat_r; lra).
    split; [lra|]; apply Rle_trans with (1 := W_near).
    assert (val W <= 1.005 * E) as l2 by lra.
    apply Rle_trans with (1.02 * lambda * (1.005 * E)); [apply Rmult_le_compat_l; lra|].
    assert (0 <= lambda * E) by (apply Rmult_le_pos; lra); lra. }
  assert (Rabs N <= A) as NA.
  { eapply Rle_trans; [apply NumCore.total_abs|]; apply NumCore.total_le; intros y iny.
    rewrite Rabs_mult, (Rabs_pos_eq (e y)) by (left; apply e_pos, iny); lra. }
  assert (Rabs (T0 - N) <= D) as TN.
  { unfold T0, N, D; rewrite <- NumCore.total_minus; eapply Rle_trans; [apply NumCore.total_abs|].
    apply NumCore.total_le; intros y iny; rewrite <- Rmult_minus_distr_r, Rabs_mult.
    rewrite (Rabs_minus_sym (val (w y))); lra. }
  assert (Rabs (q * T0 - N / E) <= q * (D + 1.03 * lambda * A)) as QN.
  { replace (q * T0 - N / E) with (q * (T0 - N) + q * (N * ((E - val W) / E)))
      by (unfold q; field; lra).
    eapply Rle_trans; [apply Rabs_triang|].
    rewrite (Rabs_mult q (T0 - N)), (Rabs_mult q (N * _)), (Rabs_pos_eq q) by lra.
    rewrite <- Rmult_plus_distr_l; apply Rmult_le_compat_l; [lra|].
    apply Rplus_le_compat; [exact TN|]; rewrite Rabs_mult, Rmult_comm.
    apply Rmult_le_compat; try apply Rabs_pos; [|exact NA].
    unfold Rdiv; rewrite Rabs_mult, (Rabs_pos_eq (/ E)) by (left; apply Rinv_0_lt_compat; lra).
    apply (Rmult_le_reg_r E); [lra|]; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra; exact EW. }
  assert (D + 1.03 * lambda * A + (n + 3) * u * M <= (1 + (n + 3) * u) * C) as key.
  { unfold D, A, M, C; rewrite <- !NumCore.total_scale, <- !NumCore.total_plus.
    apply NumCore.total_le; intros y iny; pose proof (each y iny) as ey.
    apply (Rmult_le_compat_r (Rabs (val (vv y)))) in ey; [|apply Rabs_pos]; lra. }
  assert (0 <= C) as C0.
  { apply NumCore.total_not_negative; intros y iny; apply Rmult_le_pos; [apply c_pos, iny|].
    apply Rmult_le_pos; [left; apply w_pos, iny | apply Rabs_pos]. }
  unfold spare in *; destruct (up_plus_is_up o B _ _ fsp) as [f1 [f2 le1]].
  assert (0 <= k <= 2 ^ 20)%Z as k0 by (unfold k; lia).
  rewrite (whole_times_power o B) in le1 by (try exact f2; lia); fold smallest in le1.
  assert (IZR k = n) as kn by (unfold k, n; rewrite INR_IZR_INZ; reflexivity).
  assert (fin size) as fz.
  { unfold up_sum in f1; destruct (up_times_is_up o B _ _ f1) as [f3 _].
    apply (up_plus_is_up o B _ _ f3). }
  assert (0 <= val size) as z0.
  { pose proof fz as fz'; unfold size in fz' |- *.
    destruct (of_div o B _ _ fz' fW) as [fS [_ ->]]; rewrite <- rnd_0; apply rnd_le.
    unfold Rdiv; apply Rmult_le_pos; [|fold q; lra].
    destruct (sum_finite o B _ _ _ fS) as [_ all].
    set (g := fun y => mul o (mul o (w y) (abs o (vv y))) (c y)) in *.
    assert (forall y, In y l -> 0 <= val (g y)) as gs.
    { intros y iny; pose proof (all y iny) as fg; unfold g in *.
      destruct (of_mul o B _ _ fg) as [f3 [_ ->]]; destruct (of_mul o B _ _ f3) as [_ [_ ->]].
      rewrite <- rnd_0; apply rnd_le, Rmult_le_pos; [|apply c_pos, iny].
      rewrite <- rnd_0; apply rnd_le, Rmult_le_pos; [left; apply w_pos, iny|].
      rewrite (val_abs o B); apply Rabs_pos. }
    pose proof (sum_not_less o B g l (zero o) fS) as low.
    rewrite (proj2 (zero_is o B)) in low; specialize (low (Rle_refl 0) gs).
    apply Rle_trans with (2 := low), Rmult_le_pos; [left; apply power_less|].
    rewrite Rplus_0_l; apply NumCore.total_not_negative, gs. }
  assert (0 <= (n + 4) * smallest) as s0 by (apply Rmult_le_pos; lra).
  destruct (up_sum_adds size (k + 4) f1 ltac:(lia)) as [_ le2];
    [rewrite plus_IZR, kn; lra|]; rewrite plus_IZR, kn in le2; rewrite kn in le1.
  pose proof (size_down fz) as down.
  set (t := (n + 4) * u); assert (0 <= t <= / 8000000000) as t0 by (unfold t, u; lra).
  replace (1 + 2 * (n + 4) * u) with (1 + 2 * t) in le2 by (unfold t; ring).
  assert (1 - t <= (1 - u) ^ (length l + 3)) as bern.
  { pose proof (bernoulli u (length l + 3) ltac:(unfold u; lra)) as b.
    rewrite plus_INR in b; fold n in b; simpl (INR 3) in b; unfold t; lra. }
  assert (0 <= q * C) as qC by (apply Rmult_le_pos; lra).
  apply (Rmult_le_compat_r (q * C)) in bern; [|exact qC].
  assert ((1 + (n + 3) * u) * (q * C) <= (1 - t) * (q * C) * (1 + 2 * t)) as first_order.
  { replace ((1 - t) * (q * C) * (1 + 2 * t)) with ((1 - t) * (1 + 2 * t) * (q * C)) by ring.
    apply Rmult_le_compat_r; [exact qC|].
    assert (t * t <= t * / 8000000000) as tt by (apply Rmult_le_compat_l; lra).
    assert (t * / 8000000000 <= u / 4) by (unfold t, u; lra).
    assert ((n + 3) * u = t - u) as -> by (unfold t; ring).
    replace ((1 - t) * (1 + 2 * t)) with (1 + t - 2 * (t * t)) by ring; lra. }
  assert (((1 - t) * (q * C) + (3.5 - 0.03 * n) * smallest) * (1 + 2 * t)
          <= (val size + (n + 4) * smallest) * (1 + 2 * t)) as le3
    by (apply Rmult_le_compat_r; lra).
  assert ((3.4 - 0.04 * n) * smallest <= (3.5 - 0.03 * n) * smallest * (1 + 2 * t)) as le4.
  { rewrite Rmult_assoc, (Rmult_comm smallest), <- Rmult_assoc; apply Rmult_le_compat_r; [lra|].
    assert (0 <= n * t <= n * / 8000000000) as nt
      by (split; [apply Rmult_le_pos | apply Rmult_le_compat_l]; lra).
    lra. }
  apply (Rmult_le_compat_l q) in key; [|lra].
  replace (val mean - N / E) with ((val mean - q * T0) + (q * T0 - N / E)) by ring.
  eapply Rle_trans; [apply Rabs_triang|].
  assert (0 <= n * smallest) by (apply Rmult_le_pos; lra).
  lra.
Qed.
End Mean.
End Spare.
