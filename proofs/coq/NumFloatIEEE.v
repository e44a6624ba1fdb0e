(* SPDX-License-Identifier: Apache-2.0 *)
(** * IEEE 754 binary64 has what the proofs use of its operations

    The operations are those of Flocq, which round to nearest, ties to even. What a library promises
    of its four functions is a hypothesis. *)
From Coq Require Import Reals ZArith Bool Lra Lia.
From Flocq Require Import Core BinarySingleNaN.
From Chunkproof Require Import NumFloat NumFloatUp.
Open Scope R_scope.

Definition b64 : Type := binary_float 53 1024.

Local Instance positive : Prec_gt_0 53.
Proof. reflexivity. Qed.
Local Instance fits : Prec_lt_emax 53 1024.
Proof. reflexivity. Qed.

Definition int64 (m e : Z) : b64 := binary_normalize 53 1024 positive fits mode_NE m e false.
Definition plus_infinity : b64 := B754_infinity false.

Definition ieee (exp_of expm1_of log_of log1p_of : b64 -> b64) : ops :=
  Ops b64 (Bplus mode_NE) (Bminus mode_NE) (Bmult mode_NE) (Bdiv mode_NE) Bopp Babs
      Bltb Bleb Beqb exp_of expm1_of log_of log1p_of
      (fun z => int64 z 0) (fun e => int64 1 e) plus_infinity.

Definition finite_b64 (x : b64) : Prop := is_finite x = true.
Definition not_below_0 (x : b64) : Prop := Bltb x (int64 0 0) = false.

(** What a library's functions keep: within 2^-50 of the real function, or one of the smallest
    numbers; 0 only where it is 0; a finite result only of a finite number, or of -infinity, with
    which it is not called. *)
Record library (exp_of expm1_of log_of log1p_of : b64 -> b64) : Prop := Library {
  exp_sign : forall x, not_below_0 (exp_of x);
  expm1_sign : forall x, not_below_0 x -> not_below_0 (expm1_of x);
  log1p_sign : forall x, not_below_0 x -> not_below_0 (log1p_of x);
  exp_ends : forall x, finite_b64 x -> B2R x <= 1 -> finite_b64 (exp_of x);
  expm1_ends : forall x, finite_b64 x -> 0 <= B2R x <= 1 -> finite_b64 (expm1_of x);
  log1p_ends : forall x, finite_b64 x -> 0 <= B2R x <= 1 -> finite_b64 (log1p_of x);
  exp_near : forall x, finite_b64 (exp_of x) -> not_below_0 x \/ finite_b64 x ->
    finite_b64 x /\ within (B2R (exp_of x)) (exp (B2R x));
  expm1_near : forall x, finite_b64 (expm1_of x) -> not_below_0 x ->
    finite_b64 x /\ within (B2R (expm1_of x)) (exp (B2R x) - 1) /\
    (B2R (expm1_of x) = 0 -> B2R x = 0);
  log_near : forall x, finite_b64 (log_of x) ->
    finite_b64 x /\ 0 < B2R x /\ within (B2R (log_of x)) (ln (B2R x));
  log1p_near : forall x, finite_b64 (log1p_of x) ->
    finite_b64 x /\ -1 < B2R x /\ within (B2R (log1p_of x)) (ln (1 + B2R x)) /\
    (B2R (log1p_of x) = 0 -> B2R x = 0) }.

Lemma format_is : SpecFloat.fexp 53 1024 = fexp.
Proof. reflexivity. Qed.

Lemma not_below_cases (x : b64) :
  not_below_0 x <-> match x with
                    | B754_zero _ | B754_infinity false | B754_nan | B754_finite false _ _ _ => True
                    | _ => False end.
Proof.
  unfold not_below_0, Bltb; destruct x as [s | s | | s m e E]; simpl; try (destruct s; simpl);
    split; intros; try exact I; try reflexivity; try contradiction; discriminate.
Qed.

Lemma overflow_is (x : b64) s : B2SF x = SpecFloat.S754_infinity s -> x = B754_infinity s.
Proof. destruct x; simpl; intros E; inversion E; reflexivity. Qed.

Lemma add_finite (x y : b64) :
  finite_b64 (Bplus mode_NE x y) -> finite_b64 x /\ finite_b64 y.
Proof.
  unfold finite_b64; destruct x as [s | s | | s m e E], y as [s' | s' | | s' m' e' E']; simpl;
    try (intros f; discriminate f); auto; destruct s, s'; simpl; intros f; try discriminate f; auto.
Qed.

Lemma mul_finite (x y : b64) :
  finite_b64 (Bmult mode_NE x y) -> finite_b64 x /\ finite_b64 y.
Proof.
  unfold finite_b64; destruct x as [s | s | | s m e E], y as [s' | s' | | s' m' e' E'];
    try (intros f; discriminate f); auto.
Qed.

Lemma sub_finite (x y : b64) :
  finite_b64 (Bminus mode_NE x y) -> finite_b64 x /\ finite_b64 y.
Proof.
  unfold finite_b64; destruct x as [s | s | | s m e E], y as [s' | s' | | s' m' e' E']; simpl;
    try (intros f; discriminate f); auto; destruct s, s'; simpl; intros f; try discriminate f; auto.
Qed.

Lemma add_is (x y : b64) :
  finite_b64 x -> finite_b64 y ->
  (finite_b64 (Bplus mode_NE x y) /\ B2R (Bplus mode_NE x y) = rnd (B2R x + B2R y)) \/
  (Bplus mode_NE x y = B754_infinity (Bsign x) /\ Bsign x = Bsign y).
Proof.
  intros fx fy; pose proof (Bplus_correct 53 1024 positive fits mode_NE x y fx fy) as C.
  destruct (Rlt_bool _ _).
  - left; destruct C as [V [f _]]; split; [exact f | exact V].
  - right; destruct C as [V S]; split; [apply overflow_is; exact V | exact S].
Qed.

Lemma mul_is (x y : b64) :
  finite_b64 x -> finite_b64 y ->
  (finite_b64 (Bmult mode_NE x y) /\ B2R (Bmult mode_NE x y) = rnd (B2R x * B2R y)) \/
  Bmult mode_NE x y = B754_infinity (xorb (Bsign x) (Bsign y)).
Proof.
  intros fx fy; pose proof (Bmult_correct 53 1024 positive fits mode_NE x y) as C.
  unfold finite_b64 in *; destruct (Rlt_bool _ _).
  - left; destruct C as [V [f _]]; rewrite fx, fy in f; split; [exact f | exact V].
  - right; apply overflow_is; exact C.
Qed.

Lemma int64_is m e :
  (Z.abs m <= 2 ^ 53)%Z -> (-1074 <= e <= 0)%Z ->
  finite_b64 (int64 m e) /\ B2R (int64 m e) = IZR m * bpow radix2 e.
Proof.
  intros ms es; pose proof (binary_normalize_correct 53 1024 positive fits mode_NE m e false) as C.
  cbv zeta in C; fold (int64 m e) in C.
  assert (round radix2 (SpecFloat.fexp 53 1024) (round_mode mode_NE) (F2R (Float radix2 m e))
          = IZR m * bpow radix2 e) as V.
  { change (rnd (IZR m * bpow radix2 e) = IZR m * bpow radix2 e).
    apply rnd_double, double_int; lia. }
  rewrite V in C; rewrite Rlt_bool_true in C; [destruct C as [V' [f _]]; split; assumption|].
  rewrite Rabs_mult, <- abs_IZR, (Rabs_pos_eq (bpow radix2 e)) by apply bpow_ge_0.
  apply Rle_lt_trans with (bpow radix2 53 * bpow radix2 0).
  - apply Rmult_le_compat; [apply IZR_le; lia | apply bpow_ge_0 | | apply bpow_le; lia].
    rewrite <- (IZR_Zpower radix2) by lia; apply IZR_le; exact ms.
  - rewrite <- bpow_plus; apply bpow_lt; lia.
Qed.

Lemma sign_of_positive (x : b64) : 0 < B2R x -> Bsign x = false.
Proof.
  destruct x as [s | s | | s m e E]; simpl; try lra; destruct s; [|reflexivity].
  intros pos; exfalso; revert pos; apply Rle_not_lt, F2R_le_0; simpl; lia.
Qed.

Lemma sign_of_negative (x : b64) : B2R x < 0 -> Bsign x = true.
Proof.
  destruct x as [s | s | | s m e E]; simpl; try lra; destruct s; [reflexivity|].
  intros neg; exfalso; revert neg; apply Rle_not_lt, F2R_ge_0; simpl; lia.
Qed.

Lemma b64_sum_nonneg (x y : b64) :
  finite_b64 x -> finite_b64 y -> 0 <= B2R x + B2R y ->
  finite_b64 (Bplus mode_NE x y) \/ Bplus mode_NE x y = plus_infinity.
Proof.
  intros fx fy s; destruct (add_is x y fx fy) as [[f _] | [E S]]; [left; exact f|].
  destruct (Bsign x) eqn:Sx; [|right; exact E].
  assert (B2R x <= 0) as x0.
  { apply Rnot_lt_le; intros p; rewrite (sign_of_positive x p) in Sx; discriminate. }
  assert (B2R y <= 0) as y0.
  { apply Rnot_lt_le; intros p; rewrite (sign_of_positive y p) in S; discriminate. }
  left; destruct (add_is x y fx fy) as [[f _] | _]; [exact f|].
  pose proof (Bplus_correct 53 1024 positive fits mode_NE x y fx fy) as C.
  replace (B2R x + B2R y) with 0 in C by lra.
  rewrite round_0, Rabs_R0, Rlt_bool_true in C by (try apply bpow_gt_0; apply valid_rnd_N).
  apply C.
Qed.

(** Adding what is not below 0 does not overflow downwards. *)
Lemma b64_rise (x y : b64) :
  finite_b64 x -> finite_b64 y -> 0 <= B2R y ->
  finite_b64 (Bplus mode_NE x y) \/ Bplus mode_NE x y = plus_infinity.
Proof.
  intros fx fy y0; destruct (Rle_lt_dec 0 (B2R x + B2R y)) as [s | s].
  { apply b64_sum_nonneg; assumption. }
  left; pose proof (Bplus_correct 53 1024 positive fits mode_NE x y fx fy) as C.
  rewrite Rlt_bool_true in C; [apply C|].
  apply Rle_lt_trans with (Rabs (B2R x)); [|apply (abs_B2R_lt_emax 53 1024)].
  apply abs_round_le_generic; [apply FLT_exp_valid; exact positive | apply valid_rnd_N | |].
  - apply generic_format_abs, (generic_format_B2R 53 1024).
  - rewrite !Rabs_left1 by lra; lra.
Qed.

(** What is far from the largest number does not overflow. *)
Lemma small_is_below x :
  Rabs x <= bpow radix2 1000 ->
  Rlt_bool (Rabs (round radix2 (SpecFloat.fexp 53 1024) (round_mode mode_NE) x))
    (bpow radix2 1024) = true.
Proof.
  intros small; apply Rlt_bool_true, Rle_lt_trans with (bpow radix2 1000); [|apply bpow_lt; lia].
  apply abs_round_le_generic;
    [apply FLT_exp_valid; exact positive | apply valid_rnd_N | | exact small].
  apply double_bpow; lia.
Qed.

Lemma b64_small_sum (x y : b64) :
  finite_b64 x -> finite_b64 y -> Rabs (B2R x + B2R y) <= bpow radix2 1000 ->
  finite_b64 (Bplus mode_NE x y).
Proof.
  intros fx fy small; pose proof (Bplus_correct 53 1024 positive fits mode_NE x y fx fy) as C.
  rewrite (small_is_below _ small) in C; apply C.
Qed.

Lemma b64_small_product (x y : b64) :
  finite_b64 x -> finite_b64 y -> Rabs (B2R x * B2R y) <= bpow radix2 1000 ->
  finite_b64 (Bmult mode_NE x y).
Proof.
  intros fx fy small; pose proof (Bmult_correct 53 1024 positive fits mode_NE x y) as C.
  rewrite (small_is_below _ small) in C; destruct C as [_ [f _]].
  unfold finite_b64 in *; rewrite fx, fy in f; exact f.
Qed.

Lemma b64_difference (x y : b64) :
  finite_b64 x -> finite_b64 y ->
  finite_b64 (Bminus mode_NE x y) \/
  (bpow radix2 1000 <= B2R x - B2R y /\ Bminus mode_NE x y = plus_infinity) \/
  (B2R x - B2R y <= - bpow radix2 1000 /\ Bminus mode_NE x y = Bopp plus_infinity).
Proof.
  intros fx fy; pose proof (Bminus_correct 53 1024 positive fits mode_NE x y fx fy) as C.
  destruct (Rle_lt_dec (Rabs (B2R x - B2R y)) (bpow radix2 1000)) as [small | large].
  { left; rewrite (small_is_below _ small) in C; apply C. }
  destruct (Rlt_bool _ _); [left; apply C|]; right; destruct C as [V S].
  apply overflow_is in V; destruct (Bsign x) eqn:Sx; [right | left]; (split; [|exact V]).
  - assert (B2R x <= 0) as x0.
    { apply Rnot_lt_le; intros p; rewrite (sign_of_positive x p) in Sx; discriminate. }
    assert (0 <= B2R y) as y0.
    { apply Rnot_lt_le; intros p; rewrite (sign_of_negative y p) in S; discriminate. }
    rewrite Rabs_left1 in large by lra; lra.
  - assert (0 <= B2R x) as x0.
    { apply Rnot_lt_le; intros p; rewrite (sign_of_negative x p) in Sx; discriminate. }
    assert (B2R y <= 0) as y0.
    { apply Rnot_lt_le; intros p; rewrite (sign_of_positive y p) in S; discriminate. }
    rewrite Rabs_pos_eq in large by lra; lra.
Qed.

Lemma b64_product_nonneg (x y : b64) :
  finite_b64 x -> finite_b64 y -> 0 <= B2R x * B2R y ->
  finite_b64 (Bmult mode_NE x y) \/ Bmult mode_NE x y = plus_infinity.
Proof.
  intros fx fy p; destruct (mul_is x y fx fy) as [[f _] | E]; [left; exact f|].
  destruct (Req_dec (B2R x * B2R y) 0) as [Z | NZ].
  - left; pose proof (Bmult_correct 53 1024 positive fits mode_NE x y) as C.
    rewrite Z, round_0, Rabs_R0, Rlt_bool_true in C by (try apply bpow_gt_0; apply valid_rnd_N).
    destruct C as [_ [f _]]; unfold finite_b64 in *; rewrite fx, fy in f; exact f.
  - right; rewrite E; unfold plus_infinity; f_equal.
    destruct (Rtotal_order (B2R x) 0) as [n | [z | n]].
    + rewrite (sign_of_negative x n).
      assert (B2R y < 0) as m.
      { apply Rnot_le_lt; intros q; assert (B2R x * B2R y <= 0); [nra | lra]. }
      rewrite (sign_of_negative y m); reflexivity.
    + rewrite z in NZ; lra.
    + rewrite (sign_of_positive x n).
      assert (0 < B2R y) as m.
      { apply Rnot_le_lt; intros q; assert (B2R x * B2R y <= 0); [nra | lra]. }
      rewrite (sign_of_positive y m); reflexivity.
Qed.

Lemma not_below_value (x : b64) : finite_b64 x -> not_below_0 x -> 0 <= B2R x.
Proof.
  intros f n; apply not_below_cases in n; destruct x as [s | s | | s m e E]; simpl in *;
    try lra; destruct s; [contradiction | apply F2R_ge_0; simpl; lia].
Qed.

Lemma value_not_below (x : b64) : 0 <= B2R x -> Bsign x = false \/ B2R x = 0.
Proof.
  intros n; destruct (Rtotal_order (B2R x) 0) as [m | [z | p]]; [lra | right; exact z|].
  left; apply sign_of_positive, p.
Qed.

Lemma not_below_finite (x : b64) : finite_b64 x -> 0 <= B2R x -> not_below_0 x.
Proof.
  intros f n; apply not_below_cases; destruct x as [s | s | | s m e E]; try exact I;
    try discriminate f; destruct s; [|exact I].
  assert (B2R (B754_finite true m e E) < 0) by (apply F2R_lt_0; simpl; lia).
  apply (Rlt_not_le _ _ H n).
Qed.

Lemma b64_sign_add (x y : b64) :
  not_below_0 x -> not_below_0 y -> not_below_0 (Bplus mode_NE x y).
Proof.
  intros nx ny; destruct (is_finite x) eqn:fx, (is_finite y) eqn:fy.
  - pose proof (not_below_value x fx nx); pose proof (not_below_value y fy ny).
    destruct (add_is x y fx fy) as [[f V] | _].
    + apply not_below_finite; [exact f|]; rewrite V, <- rnd_0; apply rnd_le; lra.
    + destruct (b64_sum_nonneg x y fx fy ltac:(lra)) as [f | ->]; [|reflexivity].
      destruct (add_is x y fx fy) as [[_ V] | [E _]].
      * apply not_below_finite; [exact f|]; rewrite V, <- rnd_0; apply rnd_le; lra.
      * rewrite E in f; discriminate f.
  - apply not_below_cases in nx, ny; apply not_below_cases.
    destruct x as [s | s | | s m e E], y as [s' | s' | | s' m' e' E']; try discriminate;
      simpl in *; try destruct s'; try contradiction; exact I.
  - apply not_below_cases in nx, ny; apply not_below_cases.
    destruct x as [s | s | | s m e E], y as [s' | s' | | s' m' e' E']; try discriminate;
      simpl in *; try destruct s; try contradiction; exact I.
  - apply not_below_cases in nx, ny; apply not_below_cases.
    destruct x as [s | s | | s m e E], y as [s' | s' | | s' m' e' E']; try discriminate;
      simpl in *; try destruct s; try destruct s'; try contradiction; exact I.
Qed.

Lemma b64_sign_mul (x y : b64) :
  not_below_0 x -> not_below_0 y -> not_below_0 (Bmult mode_NE x y).
Proof.
  intros nx ny; destruct (is_finite x) eqn:fx, (is_finite y) eqn:fy.
  - pose proof (not_below_value x fx nx) as x0; pose proof (not_below_value y fy ny) as y0.
    pose proof (Rmult_le_pos _ _ x0 y0) as p.
    destruct (b64_product_nonneg x y fx fy p) as [f | ->]; [|reflexivity].
    destruct (mul_is x y fx fy) as [[_ V] | E]; [|rewrite E in f; discriminate f].
    apply not_below_finite; [exact f|]; rewrite V, <- rnd_0; apply rnd_le; exact p.
  - apply not_below_cases in nx, ny; apply not_below_cases.
    destruct x as [s | s | | s m e E], y as [s' | s' | | s' m' e' E']; try discriminate;
      simpl in *; try destruct s; try destruct s'; try contradiction; exact I.
  - apply not_below_cases in nx, ny; apply not_below_cases.
    destruct x as [s | s | | s m e E], y as [s' | s' | | s' m' e' E']; try discriminate;
      simpl in *; try destruct s; try destruct s'; try contradiction; exact I.
  - apply not_below_cases in nx, ny; apply not_below_cases.
    destruct x as [s | s | | s m e E], y as [s' | s' | | s' m' e' E']; try discriminate;
      simpl in *; try destruct s; try destruct s'; try contradiction; exact I.
Qed.

(** IEEE 754, with a library of such functions. *)
Definition ieee_is_binary64 exp_of expm1_of log_of log1p_of
  (L : library exp_of expm1_of log_of log1p_of) :
  binary64 (ieee exp_of expm1_of log_of log1p_of).
Proof.
  refine (Binary64 (ieee _ _ _ _) finite_b64 B2R _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
                   _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _); simpl.
  - intros x; apply (generic_format_B2R 53 1024).
  - intros x y f; destruct (add_finite x y f) as [fx fy]; split; [exact fx | split; [exact fy|]].
    destruct (add_is x y fx fy) as [[_ V] | [E _]]; [exact V | rewrite E in f; discriminate f].
  - intros x y f; destruct (sub_finite x y f) as [fx fy]; split; [exact fx | split; [exact fy|]].
    pose proof (Bminus_correct 53 1024 positive fits mode_NE x y fx fy) as C.
    destruct (Rlt_bool _ _); [apply C|].
    destruct C as [V _]; apply overflow_is in V; rewrite V in f; discriminate f.
  - intros x y f; destruct (mul_finite x y f) as [fx fy]; split; [exact fx | split; [exact fy|]].
    destruct (mul_is x y fx fy) as [[_ V] | E]; [exact V | rewrite E in f; discriminate f].
  - intros x y f fy.
    assert (B2R y <> 0) as some.
    { unfold finite_b64 in *; destruct y as [s' | s' | | s' m' e' E']; try discriminate fy.
      - destruct x as [s | s | | s m e E]; discriminate f.
      - simpl; apply F2R_neq_0; destruct s'; discriminate. }
    pose proof (Bdiv_correct 53 1024 positive fits mode_NE x y some) as C.
    destruct (Rlt_bool _ _).
    + destruct C as [V [fx _]]; unfold finite_b64 in *; rewrite fx in f; auto.
    + apply overflow_is in C; rewrite C in f; discriminate f.
  - intros x; split; [unfold finite_b64; rewrite is_finite_Bopp; tauto | apply B2R_Bopp].
  - intros x; split; [unfold finite_b64; rewrite is_finite_Babs; tauto | apply B2R_Babs].
  - intros z zs; destruct (int64_is z 0 zs ltac:(lia)) as [f V]; split; [exact f|].
    apply (eq_trans V); simpl; ring.
  - intros e es; destruct (int64_is 1 e ltac:(lia) es) as [f V]; split; [exact f|].
    apply (eq_trans V); ring.
  - discriminate.
  - intros x y fx fy; rewrite Bltb_correct by assumption.
    destruct (Rlt_bool_spec (B2R x) (B2R y)); split; intros; try reflexivity; try discriminate; lra.
  - intros x y fx fy; rewrite Bleb_correct by assumption.
    destruct (Rle_bool_spec (B2R x) (B2R y)); split; intros; try reflexivity; try discriminate; lra.
  - intros x y fy; destruct (is_finite x) eqn:fx.
    + rewrite Beqb_correct by assumption.
      destruct (Req_bool_spec (B2R x) (B2R y)); split; intros; try reflexivity; try discriminate;
        tauto.
    + split.
      * unfold finite_b64 in *; destruct x as [s | s | | s m e E], y as [s' | s' | | s' m' e' E'];
          try discriminate fx; try discriminate fy; unfold Beqb; simpl; try destruct s;
          intros; discriminate.
      * intros [f _]; unfold finite_b64 in f; rewrite fx in f; discriminate f.
  - exact b64_sum_nonneg.
  - exact b64_product_nonneg.
  - intros x [f | ->]; [|reflexivity]; unfold finite_b64 in f;
      destruct x as [s | s | | s m e E]; try discriminate f; reflexivity.
  - intros x f; unfold finite_b64 in f; destruct x as [s | s | | s m e E]; try discriminate f;
      reflexivity.
  - intros x f p; pose proof (sign_of_positive x p) as s; unfold finite_b64 in f;
      destruct x as [s' | s' | | s' m e E]; simpl in *; try discriminate f; try lra;
      subst s'; reflexivity.
  - reflexivity.
  - reflexivity.
  - intros x [f | ->]; [|reflexivity]; unfold finite_b64 in f;
      destruct x as [s | s | | s m e E]; try discriminate f; reflexivity.
  - intros x f; unfold finite_b64 in f; destruct x as [s | s | | s m e E]; try discriminate f;
      reflexivity.
  - intros x f; unfold finite_b64 in f; destruct x as [s | s | | s m e E]; try discriminate f;
      try destruct s; reflexivity.
  - intros x [f | ->]; [|reflexivity]; unfold finite_b64 in f;
      destruct x as [s | s | | s m e E]; try discriminate f; try destruct s; reflexivity.
  - exact b64_rise.
  - reflexivity.
  - reflexivity.
  - intros x f; unfold finite_b64 in f; destruct x as [s | s | | s m e E]; try discriminate f;
      try destruct s; reflexivity.
  - exact b64_small_sum.
  - exact b64_small_product.
  - exact b64_difference.
  - intros x less; destruct x as [s | s | | s m e E]; try reflexivity; discriminate less.
  - intros x; apply (abs_B2R_lt_emax 53 1024).
  - exact b64_sign_add.
  - exact b64_sign_mul.
  - intros x; apply not_below_cases; destruct x; exact I.
  - apply L.
  - apply L.
  - apply L.
  - intros x le; apply not_below_cases; unfold Bleb in le.
    destruct x as [s | s | | s m e E]; try exact I; destruct s; try exact I; discriminate le.
  - intros x; destruct x as [s | s | | s m e E]; [left; reflexivity | | | left; reflexivity].
    + destruct s; [right; right | right; left]; reflexivity.
    + right; left; reflexivity.
  - reflexivity.
  - apply L.
  - apply L.
  - apply L.
  - apply L.
  - apply L.
  - apply L.
  - apply L.
Defined.
