(* SPDX-License-Identifier: Apache-2.0 *)
(** * Operations that round upwards (ref/tolerance_internal.h)

    A result that is a finite number came from finite numbers, and is at least that of the operation
    over the reals. Infinities and NaN claim nothing; no argument needs to be free of them. *)
From Coq Require Import Reals ZArith Bool Lra Lia Psatz.
From Flocq Require Import Core Relative Plus_error.
From Chunkproof Require Import NumFloat.
Open Scope R_scope.

(** ** Rounding to nearest, in binary64 *)

Definition fexp : Z -> Z := FLT_exp (-1074) 53.
Definition rnd : R -> R := round radix2 fexp ZnearestE.
Definition is_double : R -> Prop := generic_format radix2 fexp.

Definition u : R := / 9007199254740992.
Definition smallest : R := bpow radix2 (-1074).
Definition normal : R := bpow radix2 (-1022).

Local Instance precision : Prec_gt_0 53.
Proof. reflexivity. Qed.

Lemma unit_is : bpow radix2 (-53) = u.
Proof. reflexivity. Qed.

Lemma half_unit : / 2 * bpow radix2 (- (53) + 1) = u.
Proof. unfold u; simpl; lra. Qed.

Lemma smallest_pos : 0 < smallest.
Proof. apply bpow_gt_0. Qed.

Lemma smallest_is : smallest = 2 * u * normal.
Proof.
  unfold smallest, normal; replace (2 * u) with (bpow radix2 (-52)) by (unfold u; simpl; lra).
  rewrite <- bpow_plus; reflexivity.
Qed.

Lemma normal_pos : 0 < normal.
Proof. apply bpow_gt_0. Qed.

Lemma rnd_le x y : x <= y -> rnd x <= rnd y.
Proof. apply round_le; [apply FLT_exp_valid; exact precision | apply valid_rnd_N]. Qed.

Lemma rnd_double x : is_double x -> rnd x = x.
Proof. apply round_generic, valid_rnd_N. Qed.

Lemma rnd_is_double x : is_double (rnd x).
Proof. apply generic_format_round; [apply FLT_exp_valid; exact precision | apply valid_rnd_N]. Qed.

Lemma double_0 : is_double 0.
Proof. apply generic_format_0. Qed.

Lemma rnd_0 : rnd 0 = 0.
Proof. apply rnd_double, double_0. Qed.

Lemma double_bpow e : (-1074 <= e)%Z -> is_double (bpow radix2 e).
Proof. intros le; apply generic_format_FLT_bpow; [exact precision | exact le]. Qed.

Lemma double_opp x : is_double x -> is_double (- x).
Proof. apply generic_format_opp. Qed.

Lemma double_abs x : is_double x -> is_double (Rabs x).
Proof. apply generic_format_abs. Qed.

(** A whole number of up to 53 bits, times a power of 2. *)
Lemma double_int z e : (Z.abs z <= 2 ^ 53)%Z -> (-1074 <= e)%Z -> is_double (IZR z * bpow radix2 e).
Proof.
  intros small le.
  destruct (Z.eq_dec (Z.abs z) (2 ^ 53)) as [E | NE].
  - assert (z = 2 ^ 53 \/ z = - (2 ^ 53))%Z as [-> | ->] by lia; [|rewrite opp_IZR];
      change (IZR (2 ^ 53)) with (bpow radix2 53);
      [|rewrite <- Ropp_mult_distr_l; apply double_opp];
      rewrite <- bpow_plus; apply double_bpow; lia.
  - apply generic_format_FLT; exists (Float radix2 z e); [reflexivity | simpl; lia | exact le].
Qed.

Lemma rnd_plus_error x y :
  is_double x -> is_double y -> Rabs (rnd (x + y) - (x + y)) <= u * Rabs (x + y).
Proof.
  intros dx dy.
  destruct (FLT_plus_error_N_ex radix2 (-1074) 53 (fun x => negb (Z.even x)) x y dx dy)
    as [eps [le E]].
  unfold rnd, fexp; rewrite E.
  replace ((x + y) * (1 + eps) - (x + y)) with (eps * (x + y)) by ring.
  rewrite Rabs_mult; apply Rmult_le_compat_r; [apply Rabs_pos|].
  apply Rle_trans with (1 := le).
  replace u with (u_ro radix2 53) by exact half_unit.
  apply u_rod1pu_ro_le_u_ro.
Qed.

Lemma plus_is_double x y :
  is_double x -> is_double y -> Rabs (x + y) <= 2 * normal -> is_double (x + y).
Proof.
  intros dx dy le; apply FLT_format_plus_small; [exact precision | exact dx | exact dy |].
  apply Rle_trans with (1 := le), Req_le; unfold normal.
  change 2 with (bpow radix2 1); rewrite <- bpow_plus; reflexivity.
Qed.

Lemma rnd_error_normal x : normal <= Rabs x -> Rabs (rnd x - x) <= u * Rabs x.
Proof.
  intros le; rewrite <- half_unit.
  apply (relative_error_N_FLT radix2 (-1074) 53); [exact precision | exact le].
Qed.

Lemma rnd_error x : Rabs (rnd x - x) <= u * Rabs x + smallest / 2.
Proof.
  destruct (error_N_FLT radix2 (-1074) 53 precision (fun x => negb (Z.even x)) x)
    as [eps [eta [l1 [l2 [_ E]]]]].
  unfold rnd, fexp; rewrite E; rewrite half_unit in l1; fold smallest in l2.
  replace (x * (1 + eps) + eta - x) with (eps * x + eta) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _); rewrite Rabs_mult.
  pose proof (Rmult_le_compat_r _ _ _ (Rabs_pos x) l1); lra.
Qed.

(** Below twice the smallest normal number the spacing is that of the smallest numbers. *)
Lemma rnd_error_small x : Rabs x < normal -> Rabs (rnd x - x) <= smallest / 2.
Proof.
  intros small; destruct (Req_dec x 0) as [-> | some].
  { rewrite rnd_0, Rminus_0_r, Rabs_R0; pose proof smallest_pos; lra. }
  apply Rle_trans with (/ 2 * ulp radix2 fexp x).
  - apply error_le_half_ulp; apply FLT_exp_valid; exact precision.
  - rewrite ulp_neq_0 by exact some; unfold cexp, fexp, FLT_exp.
    assert (mag radix2 x <= -1022)%Z as m by (apply mag_le_bpow; [exact some | exact small]).
    rewrite Z.max_r by lia; unfold smallest; lra.
Qed.

Lemma Rabs_two x y : Rabs x <= y -> - y <= x <= y.
Proof. unfold Rabs; destruct (Rcase_abs x); lra. Qed.

(** Adding a part of x that is clearly more than a rounding. *)
Lemma push x y k :
  is_double x -> is_double y -> 3 * k * u * Rabs x / 2 + u * Rabs x <= y * (1 - u) ->
  0 <= y -> 0 <= k ->
  x + 3 * k * u * Rabs x / 2 <= rnd (x + y).
Proof.
  intros dx dy big y0 k0; pose proof (rnd_plus_error x y dx dy) as near.
  apply Rabs_two in near; pose proof (Rabs_triang x y) as T.
  rewrite (Rabs_pos_eq y) in T by exact y0.
  assert (0 < u) as u0 by (unfold u; lra).
  pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ u0) T); lra.
Qed.

(** The part c u of |x|, computed. *)
Lemma part_is x c :
  0 <= c <= 16 -> normal <= Rabs x ->
  c * u * Rabs x - (c * u) * u * Rabs x - u * Rabs x <= rnd (c * u * Rabs x).
Proof.
  intros c0 big; pose proof (rnd_error (c * u * Rabs x)) as near; apply Rabs_two in near.
  assert (0 < u) as u0 by (unfold u; lra).
  assert (0 <= c * u * Rabs x) as pos
    by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | apply Rabs_pos]).
  rewrite (Rabs_pos_eq (c * u * Rabs x)) in near by exact pos.
  rewrite smallest_is in near.
  pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ u0) big); lra.
Qed.

(** ** The operations *)

(** y is t, computed by a library: within 2^-50, or one of the smallest numbers. *)
Definition within (y t : R) : Prop := Rabs (y - t) <= Rmax (8 * u * Rabs t) smallest.

Definition not_below (o : ops) (x : F o) : Prop := lt o x (of_int o 0) = false.

(** What of the operations the proofs use. IEEE 754 has all of it but for the four functions, of
    which a library promises it. *)
Record binary64 (o : ops) := Binary64 {
  finite : F o -> Prop;
  value : F o -> R;
  value_is_double : forall x, is_double (value x);
  of_add : forall x y, finite (add o x y) ->
    finite x /\ finite y /\ value (add o x y) = rnd (value x + value y);
  of_sub : forall x y, finite (sub o x y) ->
    finite x /\ finite y /\ value (sub o x y) = rnd (value x - value y);
  of_mul : forall x y, finite (mul o x y) ->
    finite x /\ finite y /\ value (mul o x y) = rnd (value x * value y);
  of_div : forall x y, finite (div o x y) -> finite y ->
    finite x /\ value y <> 0 /\ value (div o x y) = rnd (value x / value y);
  of_opp : forall x, (finite (opp o x) <-> finite x) /\ value (opp o x) = - value x;
  of_abs : forall x, (finite (abs o x) <-> finite x) /\ value (abs o x) = Rabs (value x);
  of_whole : forall z, (Z.abs z <= 2 ^ 53)%Z -> finite (of_int o z) /\ value (of_int o z) = IZR z;
  of_pow2 : forall e, (-1074 <= e <= 0)%Z ->
    finite (pow2 o e) /\ value (pow2 o e) = bpow radix2 e;
  of_infinite : ~ finite (infinite o);
  of_less : forall x y, finite x -> finite y -> (lt o x y = true <-> value x < value y);
  of_at_most : forall x y, finite x -> finite y -> (le o x y = true <-> value x <= value y);
  of_same : forall x y, finite y -> (eq o x y = true <-> finite x /\ value x = value y);
  (* Beyond the finite numbers. *)
  of_sum : forall x y, finite x -> finite y -> 0 <= value x + value y ->
    finite (add o x y) \/ add o x y = infinite o;
  of_product : forall x y, finite x -> finite y -> 0 <= value x * value y ->
    finite (mul o x y) \/ mul o x y = infinite o;
  infinite_sum : forall x, finite x \/ x = infinite o -> add o (infinite o) x = infinite o;
  sum_infinite : forall x, finite x -> add o x (infinite o) = infinite o;
  infinite_product : forall x, finite x -> 0 < value x -> mul o x (infinite o) = infinite o;
  infinite_same : eq o (infinite o) (infinite o) = true;
  infinite_size : abs o (infinite o) = infinite o;
  infinite_most : forall x, finite x \/ x = infinite o -> le o x (infinite o) = true;
  infinite_only : forall x, finite x -> le o (infinite o) x = false;
  infinite_more : forall x, finite x -> lt o x (infinite o) = true;
  infinite_less : forall x, finite x \/ x = infinite o -> lt o (infinite o) x = false;
  of_rise : forall x y, finite x -> finite y -> 0 <= value y ->
    finite (add o x y) \/ add o x y = infinite o;
  infinite_below : abs o (opp o (infinite o)) = infinite o;
  negated_same : eq o (opp o (infinite o)) (opp o (infinite o)) = true;
  negated_less : forall x, finite x -> lt o (opp o (infinite o)) x = true;
  small_sum : forall x y, finite x -> finite y -> Rabs (value x + value y) <= bpow radix2 1000 ->
    finite (add o x y);
  small_product : forall x y, finite x -> finite y ->
    Rabs (value x * value y) <= bpow radix2 1000 -> finite (mul o x y);
  of_difference : forall x y, finite x -> finite y ->
    finite (sub o x y) \/
    (bpow radix2 1000 <= value x - value y /\ sub o x y = infinite o) \/
    (value x - value y <= - bpow radix2 1000 /\ sub o x y = opp o (infinite o));
  below_infinite : forall x, lt o (abs o x) (infinite o) = true -> finite x;
  limited : forall x, Rabs (value x) < bpow radix2 1024;
  (* No result is below 0: it may be NaN. *)
  sign_add : forall x y, not_below o x -> not_below o y -> not_below o (add o x y);
  sign_mul : forall x y, not_below o x -> not_below o y -> not_below o (mul o x y);
  sign_abs : forall x, not_below o (abs o x);
  sign_exp : forall x, not_below o (exp_of o x);
  sign_expm1 : forall x, not_below o x -> not_below o (expm1_of o x);
  sign_log1p : forall x, not_below o x -> not_below o (log1p_of o x);
  sign_le : forall x, le o (of_int o 0) x = true -> not_below o x;
  kinds : forall x, finite x \/ not_below o x \/ x = opp o (infinite o);
  sign_opposite : not_below o (add o (opp o (infinite o)) (infinite o));
  (* The library. *)
  exp_finite : forall x, finite x -> value x <= 1 -> finite (exp_of o x);
  expm1_finite : forall x, finite x -> 0 <= value x <= 1 -> finite (expm1_of o x);
  log1p_finite : forall x, finite x -> 0 <= value x <= 1 -> finite (log1p_of o x);
  of_exp : forall x, finite (exp_of o x) -> not_below o x \/ finite x ->
    finite x /\ within (value (exp_of o x)) (exp (value x));
  of_expm1 : forall x, finite (expm1_of o x) -> not_below o x ->
    finite x /\ within (value (expm1_of o x)) (exp (value x) - 1) /\
    (value (expm1_of o x) = 0 -> value x = 0);
  of_log : forall x, finite (log_of o x) ->
    finite x /\ 0 < value x /\ within (value (log_of o x)) (ln (value x));
  of_log1p : forall x, finite (log1p_of o x) ->
    finite x /\ -1 < value x /\ within (value (log1p_of o x)) (ln (1 + value x)) /\
    (value (log1p_of o x) = 0 -> value x = 0) }.

Arguments finite {o}. Arguments value {o}.

Section Upwards.
Variable o : ops.
Variable B : binary64 o.
Local Notation fin := (finite B).
Local Notation val := (value B).

Lemma zero_is : fin (zero o) /\ val (zero o) = 0.
Proof. apply (of_whole o B 0); lia. Qed.

Lemma one_is : fin (one o) /\ val (one o) = 1.
Proof. apply (of_whole o B 1); lia. Qed.

Lemma fin_abs x : fin (abs o x) -> fin x.
Proof. apply (of_abs o B x). Qed.

Lemma fin_opp x : fin (opp o x) -> fin x.
Proof. apply (of_opp o B x). Qed.

Lemma val_abs x : val (abs o x) = Rabs (val x).
Proof. apply (of_abs o B x). Qed.

Lemma val_opp x : val (opp o x) = - val x.
Proof. apply (of_opp o B x). Qed.

Lemma part_value e c x :
  (-1074 <= e <= 0)%Z -> bpow radix2 e = c * u ->
  fin (mul o (pow2 o e) (abs o x)) ->
  fin x /\ val (mul o (pow2 o e) (abs o x)) = rnd (c * u * Rabs (val x)).
Proof.
  intros le E f; destruct (of_mul o B _ _ f) as [_ [fx V]]; split; [exact (fin_abs _ fx)|].
  rewrite V, val_abs; destruct (of_pow2 o B e le) as [_ ->]; rewrite E; reflexivity.
Qed.

Lemma rnd_part_pos x c : 0 <= c -> 0 <= rnd (c * u * Rabs x).
Proof.
  intros c0; rewrite <- rnd_0; apply rnd_le, Rmult_le_pos; [|apply Rabs_pos].
  apply Rmult_le_pos; [exact c0 | unfold u; lra].
Qed.

Lemma u_bounds : 0 < u <= / 1048576.
Proof. unfold u; lra. Qed.

(** Sums: a rounding loses less than what is added. *)
Theorem up_plus_is_up x y :
  fin (up_plus o x y) -> fin x /\ fin y /\ val x + val y <= val (up_plus o x y).
Proof.
  unfold up_plus; intros f; destruct (of_add o B _ _ f) as [fs [fm V]].
  destruct (of_add o B _ _ fs) as [fx [fy Vs]]; split; [exact fx | split; [exact fy|]].
  destruct (part_value (-51) 4 _ ltac:(lia) ltac:(unfold u; simpl; lra) fm) as [_ Vm].
  rewrite V, Vm; set (s := val (add o x y)) in *.
  assert (is_double s) as ds by apply value_is_double.
  pose proof (value_is_double o B x) as dx; pose proof (value_is_double o B y) as dy.
  destruct (Rle_lt_dec normal (Rabs s)) as [big | small].
  - pose proof (rnd_plus_error _ _ dx dy) as near; rewrite <- Vs in near.
    pose proof (part_is s 4 ltac:(lra) big) as part.
    pose proof (push s (rnd (4 * u * Rabs s)) 1 ds (rnd_is_double _)) as P.
    pose proof (Rabs_pos s) as s0.
    assert (val x + val y <= s + 3 * u * Rabs s / 2) as A.
    { apply Rabs_two in near.
      assert (Rabs (val x + val y) <= Rabs s + u * Rabs (val x + val y)) as T.
      { replace (val x + val y) with (s - (s - (val x + val y))) at 1 by ring.
        apply Rle_trans with (1 := Rabs_triang _ _); rewrite Rabs_Ropp.
        apply Rplus_le_compat_l; apply Rabs_le; lra. }
      unfold u in *; lra. }
    apply Rle_trans with (1 := A), Rle_trans with (s + 3 * 1 * u * Rabs s / 2); [lra|].
    apply P; [unfold u in *; lra | apply rnd_part_pos; lra | lra].
  - assert (val x + val y = s) as E.
    { rewrite Vs; symmetry; apply rnd_double, plus_is_double; try assumption.
      apply Rnot_lt_le; intros far.
      assert (normal <= Rabs s); [|lra].
      pose proof (rnd_error_normal (val x + val y)) as near.
      pose proof normal_pos.
      specialize (near ltac:(lra)); rewrite <- Vs in near.
      assert (Rabs (val x + val y) <= Rabs s + u * Rabs (val x + val y)) as T.
      { replace (val x + val y) with (s - (s - (val x + val y))) at 1 by ring.
        apply Rle_trans with (1 := Rabs_triang _ _); rewrite Rabs_Ropp; lra. }
      unfold u in *; lra. }
    rewrite E; apply Rle_trans with (rnd s); [rewrite (rnd_double s ds); lra | apply rnd_le].
    pose proof (rnd_part_pos s 4 ltac:(lra)); lra.
Qed.

(** A sum rounded upwards is never -infinity: what is added to it is then +infinity. *)
Lemma up_plus_kinds x y : fin (up_plus o x y) \/ not_below o (up_plus o x y).
Proof.
  unfold up_plus; set (s := add o x y); destruct (of_pow2 o B (-51) ltac:(lia)) as [fp vp].
  assert (not_below o (infinite o)) as si by (rewrite <- (infinite_size o B); apply (sign_abs o B)).
  assert (0 < val (pow2 o (-51))) as p0 by (rewrite vp; apply bpow_gt_0).
  assert (not_below o (mul o (pow2 o (-51)) (abs o s))) as sp.
  { apply (sign_mul o B); [|apply (sign_abs o B)].
    apply (sign_le o B), (of_at_most o B _ _ (proj1 zero_is) fp).
    change (of_int o 0) with (zero o); rewrite (proj2 zero_is); lra. }
  destruct (kinds o B s) as [f | [n | E]].
  - destruct (of_product o B _ _ fp (proj2 (proj1 (of_abs o B s)) f)) as [fm | ->].
    + rewrite val_abs; apply Rmult_le_pos; [lra | apply Rabs_pos].
    + destruct (of_mul o B _ _ fm) as [_ [_ V]].
      destruct (of_rise o B s _ f fm) as [fr | ->]; [|left; exact fr | right; exact si].
      rewrite V, val_abs, <- rnd_0; apply rnd_le, Rmult_le_pos; [lra | apply Rabs_pos].
    + right; rewrite (sum_infinite o B s f); exact si.
  - right; apply (sign_add o B); assumption.
  - right; rewrite E, (infinite_below o B), (infinite_product o B _ fp p0).
    apply (sign_opposite o B).
Qed.

(** A result t, rounded. *)
Theorem up_is_up x t :
  fin (up o x) -> val x = rnd t -> fin x /\ t <= val (up o x).
Proof.
  unfold up; intros f E; destruct (of_add o B _ _ f) as [fx [fz V]]; split; [exact fx|].
  destruct (of_add o B _ _ fz) as [fm [_ Vz]].
  destruct (part_value (-51) 4 _ ltac:(lia) ltac:(unfold u; simpl; lra) fm) as [_ Vm].
  destruct (of_pow2 o B (-1074) ltac:(lia)) as [_ Vt]; fold smallest in Vt.
  rewrite V, Vz, Vm, Vt.
  assert (is_double (val x)) as dx by apply value_is_double.
  pose proof smallest_pos as t0; pose proof (rnd_part_pos (val x) 4 ltac:(lra)) as m0.
  assert (is_double smallest) as dt by (apply double_bpow; lia).
  set (m := rnd (4 * u * Rabs (val x))) in *.
  assert (m <= rnd (m + smallest)) as mz
    by (rewrite <- (rnd_double m (rnd_is_double _)) at 1; apply rnd_le; lra).
  assert (smallest <= rnd (m + smallest)) as tz
    by (rewrite <- (rnd_double smallest dt) at 1; apply rnd_le; lra).
  destruct (Rle_lt_dec normal (Rabs t)) as [big | small].
  - pose proof (rnd_error_normal t big) as near; rewrite <- E in near.
    assert (normal <= Rabs (val x)) as big'.
    { rewrite E; unfold rnd; apply abs_round_ge_generic;
        [apply FLT_exp_valid; exact precision | apply valid_rnd_N | | exact big].
      apply double_bpow; lia. }
    pose proof (part_is (val x) 4 ltac:(lra) big') as part; fold m in part.
    apply Rle_trans with (rnd (val x + m)); [|apply rnd_le; lra].
    pose proof (Rabs_pos (val x)) as x0.
    assert (t <= val x + 3 * u * Rabs (val x) / 2) as A.
    { apply Rabs_two in near.
      assert (Rabs t <= Rabs (val x) + u * Rabs t) as T.
      { replace t with (val x - (val x - t)) at 1 by ring.
        apply Rle_trans with (1 := Rabs_triang _ _); rewrite Rabs_Ropp.
        apply Rplus_le_compat_l; apply Rabs_le; lra. }
      unfold u in *; lra. }
    apply Rle_trans with (1 := A), Rle_trans with (val x + 3 * 1 * u * Rabs (val x) / 2); [lra|].
    apply push; try assumption; [apply rnd_is_double | unfold u in *; lra | lra].
  - pose proof (rnd_error_small t small) as near; rewrite <- E in near; apply Rabs_two in near.
    apply Rle_trans with (val x + smallest); [lra|].
    assert (is_double (val x + smallest)) as d.
    { apply plus_is_double; [exact dx | exact dt |].
      assert (Rabs (val x) <= normal) as small'.
      { rewrite E; unfold rnd; apply abs_round_le_generic;
          [apply FLT_exp_valid; exact precision | apply valid_rnd_N | | lra].
        apply double_bpow; lia. }
      apply Rle_trans with (1 := Rabs_triang _ _); rewrite (Rabs_pos_eq smallest) by lra.
      rewrite smallest_is; pose proof normal_pos; unfold u in *; lra. }
    rewrite <- (rnd_double _ d) at 1; apply rnd_le; lra.
Qed.

(** Products; 0 stays 0. *)
Theorem up_times_is_up x y :
  fin (up_times o x y) -> fin x /\ fin y /\ val x * val y <= val (up_times o x y).
Proof.
  unfold up_times; destruct zero_is as [f0 v0].
  destruct (eq o (mul o x y) (zero o) && (eq o x (zero o) || eq o y (zero o))) eqn:E; intros f.
  - apply andb_prop in E as [Ep Exy]; apply (of_same o B _ _ f0) in Ep as [fp _].
    destruct (of_mul o B _ _ fp) as [fx [fy _]]; split; [exact fx | split; [exact fy|]].
    rewrite v0; apply orb_prop in Exy as [Z | Z]; apply (of_same o B _ _ f0) in Z as [_ ->];
      rewrite v0; lra.
  - destruct (up_is_up _ (val x * val y) f) as [fp le].
    + assert (fin (mul o x y)) as fp by (unfold up in f; apply (of_add o B _ _ f)).
      apply (of_mul o B _ _ fp).
    + destruct (of_mul o B _ _ fp) as [fx [fy _]]; auto.
Qed.

(** A quotient. *)
Theorem up_quotient_is_up x y :
  fin (up o (div o x y)) -> fin y ->
  fin x /\ val y <> 0 /\ val x / val y <= val (up o (div o x y)).
Proof.
  intros f fy.
  assert (fin (div o x y)) as fq by (unfold up in f; apply (of_add o B _ _ f)).
  destruct (of_div o B _ _ fq fy) as [fx [some V]]; split; [exact fx | split; [exact some|]].
  apply (up_is_up _ _ f V).
Qed.

(** x is the value t of a function, computed; 0 only where t is. *)
Theorem up_function_is_up x t :
  fin (up_function o x) -> within (val x) t -> (val x = 0 -> t <= 0) ->
  fin x /\ t <= val (up_function o x).
Proof.
  unfold up_function; destruct zero_is as [f0 v0].
  destruct (eq o x (zero o)) eqn:Ez; intros f near z.
  { apply (of_same o B _ _ f0) in Ez as [fx E]; rewrite v0 in *; auto. }
  destruct (of_add o B _ _ f) as [fx [fz V]]; split; [exact fx|].
  destruct (of_add o B _ _ fz) as [fm [_ Vz]].
  destruct (part_value (-49) 16 _ ltac:(lia) ltac:(unfold u; simpl; lra) fm) as [_ Vm].
  destruct (of_pow2 o B (-1074) ltac:(lia)) as [_ Vt]; fold smallest in Vt.
  rewrite V, Vz, Vm, Vt.
  assert (is_double (val x)) as dx by apply value_is_double.
  pose proof smallest_pos as t0; pose proof (rnd_part_pos (val x) 16 ltac:(lra)) as m0.
  assert (is_double smallest) as dt by (apply double_bpow; lia).
  set (m := rnd (16 * u * Rabs (val x))) in *.
  assert (m <= rnd (m + smallest)) as mz
    by (rewrite <- (rnd_double m (rnd_is_double _)) at 1; apply rnd_le; lra).
  assert (smallest <= rnd (m + smallest)) as tz
    by (rewrite <- (rnd_double smallest dt) at 1; apply rnd_le; lra).
  pose proof (Rabs_pos (val x)) as x0; pose proof (Rabs_pos t) as t0'.
  destruct (Rle_lt_dec normal (Rabs (val x))) as [big | small].
  - pose proof (part_is (val x) 16 ltac:(lra) big) as part; fold m in part.
    apply Rle_trans with (rnd (val x + m)); [|apply rnd_le; lra].
    assert (t <= val x + 3 * 6 * u * Rabs (val x) / 2) as A.
    { assert (smallest <= 2 * u * Rabs (val x)) as sm
        by (rewrite smallest_is; apply Rmult_le_compat_l; [unfold u; lra | exact big]).
      unfold within in near.
      assert (Rabs (val x - t) <= 8 * u * Rabs t + 0 \/ Rabs (val x - t) <= 2 * u * Rabs (val x))
        as [N | N].
      { destruct (Rle_dec (8 * u * Rabs t) smallest).
        - right; rewrite Rmax_right in near by assumption; lra.
        - left; rewrite Rmax_left in near by lra; lra. }
      - apply Rabs_two in N.
        assert (Rabs t <= Rabs (val x) + (8 * u * Rabs t + 0)) as T.
        { replace t with (val x - (val x - t)) at 1 by ring.
          apply Rle_trans with (1 := Rabs_triang _ _); rewrite Rabs_Ropp.
          apply Rplus_le_compat_l; apply Rabs_le; lra. }
        unfold u in *; lra.
      - apply Rabs_two in N; unfold u in *; lra. }
    apply Rle_trans with (1 := A); apply push; try assumption;
      [apply rnd_is_double | unfold u in *; lra | lra].
  - assert (16 * u * Rabs (val x) - smallest / 2 <= m <= 16 * u * normal + smallest / 2) as part.
    { pose proof (rnd_error_small (16 * u * Rabs (val x))) as e; fold m in e.
      assert (0 <= 16 * u * Rabs (val x)) as p0 by (apply Rmult_le_pos; [unfold u; lra | exact x0]).
      rewrite (Rabs_pos_eq (16 * u * Rabs (val x))) in e by exact p0.
      specialize (e ltac:(unfold u in *; lra)); apply Rabs_two in e; unfold u in *; lra. }
    assert (t <= val x + (m + smallest)) as A.
    { unfold within in near.
      assert (Rabs (val x - t) <= 8 * u * Rabs t + 0 \/ Rabs (val x - t) <= smallest) as [N | N].
      { destruct (Rle_dec (8 * u * Rabs t) smallest).
        - right; rewrite Rmax_right in near by assumption; lra.
        - left; rewrite Rmax_left in near by lra; lra. }
      - apply Rabs_two in N.
        assert (Rabs t <= Rabs (val x) + (8 * u * Rabs t + 0)) as T.
        { replace t with (val x - (val x - t)) at 1 by ring.
          apply Rle_trans with (1 := Rabs_triang _ _); rewrite Rabs_Ropp.
          apply Rplus_le_compat_l; apply Rabs_le; lra. }
        unfold u in *; lra.
      - apply Rabs_two in N; lra. }
    pose proof smallest_is as si; pose proof normal_pos as n0.
    assert (is_double (m + smallest)) as d1.
    { apply plus_is_double; [apply rnd_is_double | exact dt |].
      rewrite Rabs_pos_eq by lra; unfold u in *; lra. }
    assert (is_double (val x + (m + smallest))) as d2.
    { apply plus_is_double; [exact dx | exact d1 |].
      apply Rle_trans with (1 := Rabs_triang _ _); rewrite (Rabs_pos_eq (m + smallest)) by lra.
      unfold u in *; lra. }
    rewrite (rnd_double _ d1), (rnd_double _ d2); exact A.
Qed.

Lemma fin_up_function x : fin (up_function o x) -> fin x.
Proof.
  unfold up_function; destruct zero_is as [f0 _]; destruct (eq o x (zero o)) eqn:E; intros f.
  - apply (of_same o B _ _ f0) in E as [fx _]; exact fx.
  - apply (of_add o B _ _ f).
Qed.

(** (1 - r)^n >= 1 - n r *)
Lemma bernoulli r n : 0 <= r <= 1 -> 1 - INR n * r <= (1 - r) ^ n.
Proof.
  intros r01; induction n as [|n IH]; [simpl; lra|].
  rewrite S_INR; cbn [pow].
  pose proof (Rmult_le_compat_l (1 - r) _ _ ltac:(lra) IH).
  pose proof (pos_INR n).
  pose proof (Rmult_le_pos _ _ (pos_INR n) (Rmult_le_pos r r ltac:(lra) ltac:(lra))).
  nra.
Qed.

Lemma whole_times_power z e :
  (0 <= z <= 2 ^ 53)%Z -> (-1074 <= e <= 0)%Z ->
  fin (mul o (of_int o z) (pow2 o e)) ->
  val (mul o (of_int o z) (pow2 o e)) = IZR z * bpow radix2 e.
Proof.
  intros zs es f; destruct (of_mul o B _ _ f) as [_ [_ V]]; rewrite V.
  destruct (of_whole o B z ltac:(lia)) as [_ ->]; destruct (of_pow2 o B e es) as [_ ->].
  apply rnd_double, double_int; lia.
Qed.

(** A sum s of products, none of them negative, that have passed through n roundings, at most: x is
    what has come out. *)
Theorem up_sum_is_up x n s :
  fin (up_sum o x n) -> (0 <= n <= 2 ^ 22)%Z ->
  0 <= s -> s * (1 - u) ^ Z.to_nat n <= val x + IZR n * smallest ->
  fin x /\ s <= val (up_sum o x n).
Proof.
  intros f n0 s0 near; unfold up_sum in *.
  destruct (up_times_is_up _ _ f) as [fs [fg le]].
  destruct (up_plus_is_up _ _ fs) as [fx [ft les]]; split; [exact fx|].
  apply Rle_trans with (2 := le).
  rewrite whole_times_power in les by (try exact ft; lia); fold smallest in les.
  assert (val (add o (one o) (mul o (of_int o n) (pow2 o (-52)))) = 1 + 2 * IZR n * u) as ->.
  { destruct (of_add o B _ _ fg) as [_ [fm V]]; rewrite V, (proj2 one_is).
    rewrite whole_times_power by (try exact fm; lia).
    replace (1 + IZR n * bpow radix2 (-52)) with (IZR (2 ^ 52 + n) * bpow radix2 (-52)).
    - rewrite rnd_double by (apply double_int; lia).
      rewrite plus_IZR; change (IZR (2 ^ 52)) with 4503599627370496; unfold u; simpl; lra.
    - rewrite plus_IZR; change (IZR (2 ^ 52)) with 4503599627370496; simpl; lra. }
  assert (0 <= IZR n) as zn by (apply IZR_le; lia).
  assert (IZR n <= 4194304) as zm by (apply IZR_le; lia).
  pose proof (bernoulli u (Z.to_nat n) ltac:(unfold u; lra)) as b.
  rewrite INR_IZR_INZ, Z2Nat.id in b by lia.
  set (y := val (up_plus o x _)) in *.
  assert (s * (1 - IZR n * u) <= y) as A.
  { apply Rle_trans with (2 := les), Rle_trans with (2 := near); apply Rmult_le_compat_l; lra. }
  assert (0 <= IZR n * u <= / 4) as t by (unfold u; lra); set (t' := IZR n * u) in *.
  replace (1 + 2 * IZR n * u) with (1 + 2 * t') by (unfold t'; ring).
  apply Rle_trans with (s * (1 - t') * (1 + 2 * t')); [|apply Rmult_le_compat_r; lra].
  rewrite Rmult_assoc; rewrite <- (Rmult_1_r s) at 1; apply Rmult_le_compat_l; [exact s0|]; nra.
Qed.
End Upwards.
