(* SPDX-License-Identifier: Apache-2.0 *)
(** * The error of a changed score (spec/tolerance.md: NUM-15)

    A cap, a bias by distance and a sink, computed by any kernel of a class: each operation yields
    any number within its error. *)
From Coq Require Import Reals Lra Lia Psatz.
From Chunkproof Require Import NumCore NumRound.
Open Scope R_scope.

(** ** tanh *)

Lemma cosh_pos x : 0 < cosh x.
Proof. unfold cosh; pose proof (exp_pos x); pose proof (exp_pos (- x)); lra. Qed.

Lemma cosh_sinh x : cosh x * cosh x - sinh x * sinh x = 1.
Proof.
  unfold cosh, sinh; assert (exp x * exp (- x) = 1) as E
    by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  nra.
Qed.

Definition slope (x : R) : R := / (cosh x * cosh x).

Lemma slope_pos x : 0 < slope x.
Proof. apply Rinv_0_lt_compat; pose proof (cosh_pos x); nra. Qed.

Lemma slope_le_1 x : slope x <= 1.
Proof.
  unfold slope; rewrite <- Rinv_1; apply Rinv_le_contravar; [lra|].
  pose proof (cosh_sinh x); nra.
Qed.

Lemma tanh_slope x : derivable_pt_lim tanh x (slope x).
Proof.
  pose proof (cosh_pos x) as c0.
  replace (slope x) with ((cosh x * cosh x - sinh x * sinh x) / Rsqr (cosh x)).
  - apply (derivable_pt_lim_div sinh cosh x (cosh x) (sinh x)).
    + apply derivable_pt_lim_sinh.
    + apply derivable_pt_lim_cosh.
    + lra.
  - rewrite cosh_sinh; unfold slope, Rsqr; field; lra.
Qed.

Lemma cosh_rises x y : 0 <= x -> x <= y -> cosh x <= cosh y.
Proof.
  intros x0 [less | ->]; [|lra].
  destruct (MVT_cor2 cosh sinh x y less) as [c [E [lo hi]]].
  { intros; apply derivable_pt_lim_cosh. }
  assert (0 <= sinh c) as s0.
  { unfold sinh; assert (exp (- c) < exp c) by (apply exp_increasing; lra); lra. }
  assert (0 <= sinh c * (y - x)) by (apply Rmult_le_pos; lra); lra.
Qed.

Lemma slope_falls x y : 0 <= x -> x <= y -> slope y <= slope x.
Proof.
  intros x0 le; pose proof (cosh_rises x y x0 le); pose proof (cosh_pos x).
  unfold slope; apply Rinv_le_contravar; nra.
Qed.

(** The difference quotient of tanh is its slope somewhere between. *)
Lemma tanh_between x y :
  x <= y -> exists c, tanh y - tanh x = slope c * (y - x) /\ x <= c <= y.
Proof.
  intros [less | ->].
  - destruct (MVT_cor2 tanh slope x y less) as [c [E range]].
    { intros; apply tanh_slope. }
    exists c; split; [exact E | lra].
  - exists y; split; [ring | lra].
Qed.

Lemma tanh_0 : tanh 0 = 0.
Proof. unfold tanh; rewrite sinh_0; unfold Rdiv; ring. Qed.

Lemma tanh_odd x : tanh (- x) = - tanh x.
Proof.
  unfold tanh, sinh, cosh; rewrite Ropp_involutive.
  pose proof (exp_pos x); pose proof (exp_pos (- x)); field; lra.
Qed.

Lemma tanh_rises x y : x <= y -> tanh x <= tanh y.
Proof.
  intros le; destruct (tanh_between x y le) as [c [E _]]; pose proof (slope_pos c).
  assert (0 <= slope c * (y - x)) by (apply Rmult_le_pos; lra); lra.
Qed.

(** It moves two numbers no further apart. *)
Theorem tanh_is_no_steeper x y : Rabs (tanh x - tanh y) <= Rabs (x - y).
Proof.
  assert (forall a b, a <= b -> 0 <= tanh b - tanh a <= b - a) as ordered.
  { intros a b le; destruct (tanh_between a b le) as [c [E _]]; rewrite E.
    pose proof (slope_pos c); pose proof (slope_le_1 c); nra. }
  destruct (Rle_dec x y) as [le | gt].
  - pose proof (ordered x y le); rewrite Rabs_minus_sym, (Rabs_minus_sym x).
    rewrite !Rabs_pos_eq; lra.
  - pose proof (ordered y x ltac:(lra)); rewrite !Rabs_pos_eq; lra.
Qed.

Lemma tanh_concave t x : 0 <= t <= 1 -> 0 <= x -> t * tanh x <= tanh (t * x).
Proof.
  intros t0 x0.
  assert (0 <= t * x <= x) as tx by nra.
  destruct (tanh_between 0 (t * x) (proj1 tx)) as [a [A ra]].
  destruct (tanh_between (t * x) x (proj2 tx)) as [b [B rb]].
  rewrite tanh_0 in A.
  pose proof (slope_falls a b ltac:(lra) ltac:(lra)) as le; pose proof (slope_pos a).
  assert (tanh x = slope a * (t * x) + slope b * (x - t * x)) as E by lra.
  assert (slope b * (x - t * x) <= slope a * (x - t * x)) by (apply Rmult_le_compat_r; lra).
  assert (tanh (t * x) = t * (slope a * x)) as -> by lra.
  apply Rmult_le_compat_l; lra.
Qed.

(** A relative error of its argument is at most the same relative error of tanh. *)
Theorem tanh_keeps_relative_errors x y d :
  0 <= d <= 1 -> Rabs (y - x) <= d * Rabs x -> Rabs (tanh y - tanh x) <= d * Rabs (tanh x).
Proof.
  assert (forall x y, 0 <= x -> 0 <= d <= 1 -> Rabs (y - x) <= d * x ->
          Rabs (tanh y - tanh x) <= d * tanh x) as positive.
  { clear x y; intros x y x0 d0 near; apply Rabs_between in near.
    destruct (Req_dec x 0) as [-> | some].
    { replace y with 0 by lra; rewrite tanh_0, Rminus_0_r, Rabs_R0; lra. }
    assert (0 <= tanh x) as t0 by (rewrite <- tanh_0; apply tanh_rises; exact x0).
    destruct (Rle_dec x y) as [up | down].
    - pose proof (tanh_rises x y up); rewrite Rabs_pos_eq by lra.
      assert (0 < y) as y0 by lra.
      assert (0 <= x / y <= 1) as r.
      { split; [apply Rle_mult_inv_pos; lra|].
        apply (Rmult_le_reg_r y); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra. }
      pose proof (tanh_concave (x / y) y r ltac:(lra)) as C.
      replace (x / y * y) with x in C by (field; lra).
      apply (Rmult_le_compat_r (y / x)) in C; [|apply Rle_mult_inv_pos; lra].
      replace (x / y * tanh y * (y / x)) with (tanh y) in C by (field; lra).
      apply Rle_trans with (tanh x * (y / x) - tanh x); [lra|].
      replace (tanh x * (y / x) - tanh x) with (tanh x * ((y - x) / x)) by (field; lra).
      rewrite (Rmult_comm d); apply Rmult_le_compat_l; [exact t0|].
      apply (Rmult_le_reg_r x); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
    - pose proof (tanh_rises y x ltac:(lra)); rewrite Rabs_left1 by lra.
      pose proof (tanh_concave (1 - d) x ltac:(lra) x0) as C.
      pose proof (tanh_rises ((1 - d) * x) y ltac:(lra)); lra. }
  intros d0 near; destruct (Rle_dec 0 x) as [x0 | neg].
  - rewrite (Rabs_pos_eq x x0) in near.
    rewrite (Rabs_pos_eq (tanh x)); [apply positive; assumption|].
    rewrite <- tanh_0; apply tanh_rises; exact x0.
  - pose proof (positive (- x) (- y) ltac:(lra) d0) as P; rewrite !tanh_odd in P.
    replace (- y - - x) with (- (y - x)) in P by ring.
    replace (- tanh y - - tanh x) with (- (tanh y - tanh x)) in P by ring.
    rewrite !Rabs_Ropp in P; rewrite (Rabs_left1 x) in near by lra.
    rewrite (Rabs_left1 (tanh x)); [exact (P near)|].
    rewrite <- tanh_0; apply tanh_rises; lra.
Qed.

(** ** The class *)

(** y is x, off by a part g of x and by t. *)
Definition off_by (g t x y : R) : Prop := Rabs (y - x) <= g * Rabs x + t.

(** One rounding after another. *)
Theorem off_by_both g t h r x y z :
  0 <= h -> off_by g t x y -> off_by h r y z ->
  off_by ((1 + g) * (1 + h) - 1) (t * (1 + h) + r) x z.
Proof.
  unfold off_by; intros h0 one two.
  pose proof (Rabs_triang (z - y) (y - x)) as T.
  replace (z - y + (y - x)) with (z - x) in T by ring.
  pose proof (Rabs_triang (y - x) x) as S; replace (y - x + x) with y in S by ring.
  assert (h * Rabs y <= h * (g * Rabs x + t + Rabs x)) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

(** Of each operation, a relative and an absolute error; of tanh, too. *)
Record shift_class := Shift_class { s_unit : R; s_tiny : R; tau : R; alpha : R }.
Definition shift_class_ok (a : shift_class) : Prop :=
  0 <= s_unit a /\ 0 <= s_tiny a /\ 0 <= tau a /\ 0 <= alpha a.

Definition roundings (a : shift_class) (k : nat) : R := (1 + s_unit a) ^ k - 1.

(** From a computed score s to one that is capped at c; to one with the bias x; a sink. *)
Definition caps (a : shift_class) (c s s' : R) : Prop :=
  exists argument y,
    off_by (roundings a 3) (s_tiny a) (s / c) argument /\
    off_by (tau a) (alpha a) (tanh argument) y /\
    off_by (roundings a 2) (s_tiny a) (c * y) s'.
Definition biases (a : shift_class) (x s s' : R) : Prop :=
  exists y,
    off_by (roundings a 3) (s_tiny a) x y /\ off_by (roundings a 3) (s_tiny a) (s + y) s'.
Definition sinks (a : shift_class) (s s' : R) : Prop :=
  exists y, off_by (s_unit a) (s_tiny a) s y /\ off_by (roundings a 2) (s_tiny a) y s'.

(** NUM-15: C, B and D. *)
Definition capped (c s : R) : R := c * tanh (s / c).
Definition cap_error (a : shift_class) (c s' sigma : R) : R :=
  ((1 + s_unit a) ^ 5 * (1 + tau a) - 1) * (Rabs s' + sigma)
  + c * ((1 + tau a) * s_tiny a + alpha a) * (1 + s_unit a) ^ 2 + s_tiny a.
Definition bias_error (a : shift_class) (x s' sigma : R) : R :=
  (1 + s_unit a) ^ 3 * (roundings a 3 * Rabs x + s_tiny a)
  + roundings a 3 * (Rabs s' + sigma) + s_tiny a.
Definition sink_error (a : shift_class) (s : R) : R :=
  roundings a 3 * Rabs s + ((1 + s_unit a) ^ 2 + 1) * s_tiny a.

Lemma roundings_pos a k : 0 <= s_unit a -> 0 <= roundings a k.
Proof.
  intros u0; unfold roundings; induction k as [|k IH]; simpl; [lra|].
  assert (0 <= s_unit a * (1 + s_unit a) ^ k) by (apply Rmult_le_pos; lra); lra.
Qed.

Lemma three_at_most_1 a : 0 <= s_unit a <= / 4 -> roundings a 3 <= 1.
Proof.
  intros u0; unfold roundings.
  assert ((1 + s_unit a) ^ 3 <= (1 + / 4) ^ 3) by (apply pow_incr; lra).
  apply Rle_trans with ((1 + / 4) ^ 3 - 1); [lra | simpl; lra].
Qed.

Lemma capped_is_no_steeper c x y : 0 < c -> Rabs (capped c x - capped c y) <= Rabs (x - y).
Proof.
  intros c0; unfold capped; rewrite <- Rmult_minus_distr_l, Rabs_mult, (Rabs_pos_eq c) by lra.
  apply Rle_trans with (c * Rabs (x / c - y / c)).
  - apply Rmult_le_compat_l; [lra | apply tanh_is_no_steeper].
  - rewrite <- (Rabs_pos_eq c) at 1 by lra; rewrite <- Rabs_mult.
    apply Req_le; f_equal; field; lra.
Qed.

(** The computed tanh of a computed argument is near the tanh of x. *)
Lemma tanh_is_near g t h r x argument y :
  0 <= g <= 1 -> 0 <= t -> 0 <= h -> off_by g t x argument -> off_by h r (tanh argument) y ->
  off_by ((1 + g) * (1 + h) - 1) (t * (1 + h) + r) (tanh x) y.
Proof.
  intros g0 t0 h0 one two; apply off_by_both with (tanh argument); [exact h0 | | exact two].
  unfold off_by in *.
  (* The relative part moves x to z, the absolute one z to the argument. *)
  assert (exists z, Rabs (z - x) <= g * Rabs x /\ Rabs (argument - z) <= t) as [z [rel abs]].
  { apply Rabs_between in one; pose proof (Rabs_pos x) as p.
    assert (0 <= g * Rabs x) as gp by (apply Rmult_le_pos; lra).
    destruct (Rle_dec (Rabs (argument - x)) (g * Rabs x)) as [le | gt].
    - exists argument; split; [exact le|]; rewrite Rminus_eq_0, Rabs_R0; exact t0.
    - destruct (Rle_dec x argument) as [u | d].
      + exists (x + g * Rabs x); rewrite Rabs_pos_eq in gt by lra.
        split; [replace (x + g * Rabs x - x) with (g * Rabs x) by ring; rewrite Rabs_pos_eq; lra|].
        rewrite Rabs_pos_eq; lra.
      + exists (x - g * Rabs x); rewrite Rabs_left1 in gt by lra.
        split; [replace (x - g * Rabs x - x) with (- (g * Rabs x)) by ring;
                rewrite Rabs_Ropp, Rabs_pos_eq; lra|].
        rewrite Rabs_left1; lra. }
  pose proof (tanh_keeps_relative_errors x z g g0 rel) as A.
  pose proof (tanh_is_no_steeper argument z) as C.
  pose proof (Rabs_triang (tanh argument - tanh z) (tanh z - tanh x)) as T.
  replace (tanh argument - tanh z + (tanh z - tanh x)) with (tanh argument - tanh x) in T by ring.
  lra.
Qed.

(** NUM-15, the cap. *)
Theorem cap_is_near a c s sigma s0 s' :
  shift_class_ok a -> s_unit a <= / 4 -> 0 < c -> Rabs (s0 - s) <= sigma -> caps a c s0 s' ->
  Rabs (s' - capped c s) <= sigma + cap_error a c (capped c s) sigma.
Proof.
  intros [u0 [t0 [tau0 alpha0]]] small c0 near [argument [y [one [two three]]]].
  pose proof (roundings_pos a 3 u0) as g3; pose proof (roundings_pos a 2 u0) as g2.
  pose proof (three_at_most_1 a (conj u0 small)) as g3'.
  pose proof (tanh_is_near _ _ _ _ _ _ _ (conj g3 g3') t0 tau0 one two) as T.
  assert (off_by ((1 + roundings a 3) * (1 + tau a) - 1)
                 (c * (s_tiny a * (1 + tau a) + alpha a)) (capped c s0) (c * y)) as M.
  { unfold off_by, capped in *; rewrite <- Rmult_minus_distr_l, !Rabs_mult, (Rabs_pos_eq c) by lra.
    apply (Rmult_le_compat_l c) in T; [lra | lra]. }
  pose proof (off_by_both _ _ _ _ _ _ _ g2 M three) as all; unfold off_by in all.
  pose proof (capped_is_no_steeper c s0 s c0) as still.
  pose proof (Rabs_triang (s' - capped c s0) (capped c s0 - capped c s)) as D.
  replace (s' - capped c s0 + (capped c s0 - capped c s)) with (s' - capped c s) in D by ring.
  pose proof (Rabs_triang (capped c s0 - capped c s) (capped c s)) as S.
  replace (capped c s0 - capped c s + capped c s) with (capped c s0) in S by ring.
  set (G := (1 + (1 + roundings a 3) * (1 + tau a) - 1) * (1 + roundings a 2) - 1) in *.
  replace ((1 + ((1 + roundings a 3) * (1 + tau a) - 1)) * (1 + roundings a 2) - 1) with G in all
    by (unfold G; ring).
  assert (G = (1 + s_unit a) ^ 5 * (1 + tau a) - 1) as EG by (unfold G, roundings; ring).
  assert (0 <= G) as G0.
  { unfold G.
    assert (0 <= roundings a 3 * (1 + tau a) + tau a) by nra; nra. }
  assert (G * Rabs (capped c s0) <= G * (Rabs (capped c s) + sigma))
    by (apply Rmult_le_compat_l; lra).
  unfold cap_error; rewrite <- EG.
  replace (1 + roundings a 2) with ((1 + s_unit a) ^ 2) in all by (unfold roundings; ring).
  lra.
Qed.

(** NUM-15, the bias. *)
Theorem bias_is_near a x s sigma s0 s' :
  shift_class_ok a -> Rabs (s0 - s) <= sigma -> biases a x s0 s' ->
  Rabs (s' - (s + x)) <= sigma + bias_error a x (s + x) sigma.
Proof.
  intros [u0 [t0 _]] near [y [one two]]; unfold off_by in *.
  pose proof (roundings_pos a 3 u0) as g3.
  pose proof (Rabs_triang (s0 - s) (y - x)) as T.
  pose proof (Rabs_triang ((s0 - s) + (y - x)) (s + x)) as S.
  replace (s0 - s + (y - x) + (s + x)) with (s0 + y) in S by ring.
  pose proof (Rabs_triang (s' - (s0 + y)) ((s0 - s) + (y - x))) as D.
  replace (s' - (s0 + y) + (s0 - s + (y - x))) with (s' - (s + x)) in D by ring.
  set (g := roundings a 3) in *.
  assert (g * Rabs (s0 + y) <= g * (sigma + (g * Rabs x + s_tiny a) + Rabs (s + x)))
    by (apply Rmult_le_compat_l; lra).
  unfold bias_error; fold g.
  replace ((1 + s_unit a) ^ 3) with (1 + g) by (unfold g, roundings; ring); lra.
Qed.

(** NUM-15: the one, then the other; what the first was off is part of the second's sigma. *)
Theorem cap_then_bias_is_near a c x s sigma s0 s1 s2 :
  shift_class_ok a -> s_unit a <= / 4 -> 0 < c -> Rabs (s0 - s) <= sigma ->
  caps a c s0 s1 -> biases a x s1 s2 ->
  let e := cap_error a c (capped c s) sigma in
  Rabs (s2 - (capped c s + x)) <=
    sigma + (e + bias_error a x (capped c s + x) (sigma + e)).
Proof.
  intros ok small c0 near one two e.
  pose proof (cap_is_near a c s sigma s0 s1 ok small c0 near one) as first; fold e in first.
  pose proof (bias_is_near a x _ _ _ _ ok first two); lra.
Qed.

Theorem bias_then_cap_is_near a c x s sigma s0 s1 s2 :
  shift_class_ok a -> s_unit a <= / 4 -> 0 < c -> Rabs (s0 - s) <= sigma ->
  biases a x s0 s1 -> caps a c s1 s2 ->
  let e := bias_error a x (s + x) sigma in
  Rabs (s2 - capped c (s + x)) <=
    sigma + (e + cap_error a c (capped c (s + x)) (sigma + e)).
Proof.
  intros ok small c0 near one two e.
  pose proof (bias_is_near a x s sigma s0 s1 ok near one) as first; fold e in first.
  pose proof (cap_is_near a c _ _ _ _ ok small c0 first two); lra.
Qed.

(** NUM-15, the sink. *)
Theorem sink_is_near a s s' :
  shift_class_ok a -> sinks a s s' -> Rabs (s' - s) <= sink_error a s.
Proof.
  intros [u0 [t0 _]] [y [one two]].
  pose proof (off_by_both _ _ _ _ _ _ _ (roundings_pos a 2 u0) one two) as all.
  unfold off_by in all; apply Rle_trans with (1 := all), Req_le.
  unfold sink_error, roundings; ring.
Qed.

(** NUM-14: the shift of a score that is off by z is off by as much. *)
Theorem shift_of_another_score c s s0 z :
  0 < c -> Rabs (s0 - s) <= z -> Rabs ((capped c s0 - s0) - (capped c s - s)) <= z.
Proof.
  intros c0 near.
  assert (forall x y, x <= y -> 0 <= capped c y - capped c x <= y - x) as rises.
  { intros x y le; pose proof (capped_is_no_steeper c y x c0) as no.
    rewrite (Rabs_pos_eq (y - x)) in no by lra; apply Rabs_between in no.
    assert (capped c x <= capped c y); [|lra].
    unfold capped; apply Rmult_le_compat_l; [lra|]; apply tanh_rises.
    apply Rmult_le_compat_r; [|exact le]; apply Rlt_le, Rinv_0_lt_compat, c0. }
  apply Rabs_between in near; apply Rabs_le.
  destruct (Rle_dec s0 s) as [le | gt].
  - pose proof (rises s0 s le); lra.
  - pose proof (rises s s0 ltac:(lra)); lra.
Qed.
