(* SPDX-License-Identifier: Apache-2.0 *)
(** * Rotation and MOVE, rounded (spec/decoder.md: DEC-12)

    A computed number is any number within the error that a format allows (NUM-4), so what is
    proved holds for products that are rounded and for those of a fused multiply-add. Lengths of
    vectors are in the 2-norm. *)
From Coq Require Import Reals List Arith Lra Lia Psatz.
From Chunkproof Require Import Softmax DecoderMove NumRound NumScore DecoderNorm.
Import ListNotations.
Open Scope R_scope.

(** ** The angle *)

(** delta. *)
Definition angle_error (F : format) (phi angle : R) : R :=
  ((1 + phi) * (1 + unit F) - 1) * Rabs angle + tiny F.

(** DEC-12: the angle p f, from a frequency that is off by the part phi, and with a product that is
    rounded. *)
Theorem angle_is_near F phi p f f' a :
  0 <= unit F -> 0 <= tiny F -> 0 <= phi ->
  Rabs (f' - f) <= phi * Rabs f -> rounds F (p * f') a ->
  Rabs (a - p * f) <= angle_error F phi (p * f).
Proof.
  intros u0 t0 phi0 off near; apply rounds_sum in near; try assumption; unfold angle_error.
  assert (Rabs (p * f' - p * f) <= phi * Rabs (p * f)) as moved.
  { replace (p * f' - p * f) with (p * (f' - f)) by ring; rewrite !Rabs_mult.
    pose proof (Rmult_le_compat_l _ _ _ (Rabs_pos p) off); lra. }
  pose proof (Rabs_triang (p * f' - p * f) (p * f)) as T.
  replace (p * f' - p * f + p * f) with (p * f') in T by ring.
  pose proof (Rabs_triang (a - p * f') (p * f' - p * f)) as T'.
  replace (a - p * f' + (p * f' - p * f)) with (a - p * f) in T' by ring.
  assert (unit F * Rabs (p * f') <= unit F * ((1 + phi) * Rabs (p * f)))
    by (apply Rmult_le_compat_l; lra); lra.
Qed.

Lemma angle_error_grows F phi a b :
  0 <= unit F -> 0 <= phi -> Rabs a <= Rabs b -> angle_error F phi a <= angle_error F phi b.
Proof.
  unfold angle_error; intros u0 phi0 le; apply Rplus_le_compat_r, Rmult_le_compat_l; [|exact le].
  pose proof (Rmult_le_pos _ _ phi0 u0); lra.
Qed.

(** ** One rotation *)

(** y is R_p x, computed: a pair's angle is off by at most delta, its cosine and sine by at most
    eta, and products and sums are rounded to F. *)
Definition computes_turn (F : format) (delta eta : R) (d h : nat) (f : nat -> R) (p : R)
    (x y : vector) : Prop :=
  exists (a c s : nat -> R) (P Q : vector), forall i, (i < d)%nat ->
    Rabs (theta h a i - p * theta h f i) <= delta /\
    Rabs (theta h c i - cos (theta h a i)) <= eta /\
    Rabs (theta h s i - sin (theta h a i)) <= eta /\
    rounds F (theta h c i * x i) (P i) /\
    rounds F (theta h s i * x (partner h i)) (Q i) /\
    rounds F (P i + sign h i * Q i) (y i).

(** DEC-12: an exact product, as in a fused multiply-add, counts as a rounded one. *)
Theorem exact_is_rounded F x : 0 <= tiny F -> rounds F x x.
Proof.
  intros t0; unfold rounds, Rminus; rewrite Rplus_opp_r, Rabs_R0.
  apply Rle_trans with (1 := t0), Rmax_r.
Qed.

(** y is near R_p x: up to the part `loss` of the length of x, and `least` for each number. *)
Definition near_turn (d h : nat) (f : nat -> R) (p loss least : R) (x y : vector) : Prop :=
  norm d (minus y (rotate h f p x)) <= loss * norm d x + least * sqrt (INR d).

(** DEC-12: the bound. *)
Definition turn_loss (F : format) (delta eta : R) : R :=
  delta + sqrt 2 * eta
  + (1 + sqrt 2 * eta) * (unit F + sqrt 2 * unit F * (1 + unit F)).
Definition turn_least (F : format) : R := (3 + 2 * unit F) * tiny F.

Lemma sqrt2 : 0 <= sqrt 2 /\ sqrt 2 * sqrt 2 = 2.
Proof. split; [apply sqrt_pos | apply sqrt_sqrt; lra]. Qed.

Lemma square_within x b : Rabs x <= b -> x * x <= b * b.
Proof.
  intros le; pose proof (Rsqr_abs x) as S; unfold Rsqr in S; rewrite S.
  pose proof (Rabs_pos x); nra.
Qed.

(** Cosine and sine that are off by eta stretch by at most 1 + sqrt 2 eta. *)
Lemma computed_pair a c s eta :
  Rabs (c - cos a) <= eta -> Rabs (s - sin a) <= eta ->
  c * c + s * s <= (1 + sqrt 2 * eta) * (1 + sqrt 2 * eta).
Proof.
  intros C S; destruct sqrt2 as [r0 r2].
  pose proof (Rabs_pos (c - cos a)) as eta0.
  set (x := c - cos a) in *; set (y := s - sin a) in *.
  pose proof (square_within x eta C) as X; pose proof (square_within y eta S) as Y.
  pose proof (sin2_cos2 a) as one; unfold Rsqr in one.
  set (v := cos a * x + sin a * y); set (w := sqrt 2 * eta).
  assert (v * v <= w * w) as V.
  { assert (v * v + (cos a * y - sin a * x) * (cos a * y - sin a * x) = x * x + y * y) as E.
    { replace (x * x + y * y) with ((sin a * sin a + cos a * cos a) * (x * x + y * y))
        by (rewrite one; ring).
      unfold v; ring. }
    pose proof (Rle_0_sqr (cos a * y - sin a * x)) as Z; unfold Rsqr in Z.
    unfold w; replace (sqrt 2 * eta * (sqrt 2 * eta)) with (sqrt 2 * sqrt 2 * (eta * eta)) by ring.
    rewrite r2; lra. }
  assert (0 <= w) as w0 by (apply Rmult_le_pos; lra).
  assert (v <= w) as le by (apply Rsqr_incr_0_var; [exact V | exact w0]).
  replace (c * c + s * s)
    with ((sin a * sin a + cos a * cos a) + 2 * v + (x * x + y * y)) by (unfold v, x, y; ring).
  rewrite one; assert (x * x + y * y <= w * w); [|lra].
  unfold w; replace (sqrt 2 * eta * (sqrt 2 * eta)) with (sqrt 2 * sqrt 2 * (eta * eta)) by ring.
  rewrite r2; lra.
Qed.

(** DEC-12: what a program does. It takes frequency_of f for a frequency f. angle_of rounds angles,
    cos_of and sin_of are a library's functions, and number_of rounds products and sums. *)
Definition turn_by (frequency_of angle_of cos_of sin_of number_of : R -> R) (h : nat)
    (f : nat -> R) (p : R) (x : vector) : vector := fun i =>
  let a := angle_of (p * frequency_of (theta h f i)) in
  number_of (number_of (cos_of a * x i) +
    sign h i * number_of (sin_of a * x (partner h i))).

Definition keeps (F : format) (r : R -> R) : Prop := forall x, rounds F x (r x).

Section Head.
Variables (h m : nat) (h_positive : (1 <= h)%nat).
Let d := (m * (2 * h))%nat.

(** Products and sums, rounded. *)
Lemma rounded_turn F b c s x P Q y :
  0 <= unit F -> 0 <= tiny F -> 0 <= b ->
  (forall i, (i < d)%nat -> theta h c i * theta h c i + theta h s i * theta h s i <= b * b) ->
  (forall i, (i < d)%nat -> rounds F (theta h c i * x i) (P i) /\
    rounds F (theta h s i * x (partner h i)) (Q i) /\ rounds F (P i + sign h i * Q i) (y i)) ->
  norm d (minus y (turned h c s x)) <=
    b * (unit F + sqrt 2 * unit F * (1 + unit F)) * norm d x + turn_least F * sqrt (INR d).
Proof.
  intros u0 t0 b0 le near; unfold turn_least; destruct sqrt2 as [r0 r2].
  set (w := turned h c s x); set (v := fun i => P i + sign h i * Q i).
  set (g := fun i => Rabs (theta h c i * x i) + Rabs (theta h s i * x (partner h i))).
  assert (norm d w <= b * norm d x) as W by (apply turned_norm; assumption).
  assert (norm d g <= sqrt 2 * b * norm d x) as G by (apply products_norm; assumption).
  assert (norm d (minus v w) <= unit F * norm d g + 2 * tiny F * sqrt (INR d)) as V.
  { apply Rle_trans with (norm d (plus (fun i => unit F * g i) (fun _ => 2 * tiny F))).
    - apply norm_grows; intros i lt; destruct (near i lt) as (nP & nQ & _).
      apply rounds_sum in nP; try assumption; apply rounds_sum in nQ; try assumption.
      unfold minus, plus, v, w, turned, g.
      replace (P i + sign h i * Q i -
        (theta h c i * x i + sign h i * theta h s i * x (partner h i)))
        with ((P i - theta h c i * x i) + sign h i * (Q i - theta h s i * x (partner h i))) by ring.
      assert (Rabs (sign h i) = 1) as one
        by (unfold sign; destruct (is_first h i); unfold Rabs; destruct (Rcase_abs _); lra).
      pose proof (Rabs_triang (P i - theta h c i * x i)
        (sign h i * (Q i - theta h s i * x (partner h i)))) as T.
      rewrite (Rabs_mult (sign h i)), one in T; lra.
    - apply Rle_trans with (1 := norm_plus _ _ _).
      rewrite norm_scaled, norm_constant, !Rabs_pos_eq by lra; lra. }
  assert (norm d (minus y v) <= unit F * norm d v + tiny F * sqrt (INR d)) as Y.
  { apply norm_rounded; try assumption; intros i lt; destruct (near i lt) as (_ & _ & nY).
    apply rounds_sum; assumption. }
  pose proof (norm_over d v w y) as over; pose proof (norm_from d w v) as from.
  assert (unit F * norm d v <= unit F * (b * norm d x + norm d (minus v w))) as A
    by (apply Rmult_le_compat_l; lra).
  assert (norm d (minus v w) <=
    unit F * (sqrt 2 * b * norm d x) + 2 * tiny F * sqrt (INR d)) as V'.
  { apply Rle_trans with (1 := V), Rplus_le_compat_r, Rmult_le_compat_l; assumption. }
  assert ((1 + unit F) * norm d (minus v w) <=
    (1 + unit F) * (unit F * (sqrt 2 * b * norm d x) + 2 * tiny F * sqrt (INR d))) as B
    by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

(** DEC-12: a computed rotation. *)
Theorem turn_is_near F delta eta f p x y :
  0 <= unit F -> 0 <= tiny F -> 0 <= delta -> 0 <= eta ->
  computes_turn F delta eta d h f p x y ->
  near_turn d h f p (turn_loss F delta eta) (turn_least F) x y.
Proof.
  intros u0 t0 delta0 eta0 (a & c & s & P & Q & steps); unfold near_turn, turn_loss.
  destruct sqrt2 as [r0 r2].
  set (exact_at := turned h (fun j => cos (a j)) (fun j => sin (a j)) x).
  assert (norm d (minus y (turned h c s x)) <=
    (1 + sqrt 2 * eta) * (unit F + sqrt 2 * unit F * (1 + unit F)) * norm d x
    + turn_least F * sqrt (INR d)) as rounded.
  { apply rounded_turn with P Q; try assumption.
    - pose proof (Rmult_le_pos _ _ r0 eta0); lra.
    - intros i lt; destruct (steps i lt) as (_ & C & S & _).
      apply computed_pair with (theta h a i); assumption.
    - intros i lt; apply (steps i lt). }
  assert (norm d (minus (turned h c s x) exact_at) <= sqrt 2 * eta * norm d x) as library.
  { rewrite (norm_ext d _ (turned h (fun j => c j - cos (a j)) (fun j => s j - sin (a j)) x))
      by (intros i _; unfold minus, exact_at, turned, theta; ring).
    apply turned_norm; [exact h_positive | apply Rmult_le_pos; assumption|].
    intros i lt; destruct (steps i lt) as (_ & C & S & _); unfold theta in *.
    apply square_within in C; apply square_within in S.
    replace (sqrt 2 * eta * (sqrt 2 * eta)) with (sqrt 2 * sqrt 2 * (eta * eta)) by ring.
    rewrite r2; lra. }
  assert (norm d (minus exact_at (rotate h f p x)) <= delta * norm d x) as angle.
  { rewrite (norm_ext d _ (turned h (fun j => cos (a j) - cos (p * f j))
      (fun j => sin (a j) - sin (p * f j)) x))
      by (intros i _; unfold minus, exact_at, rotate, turned, theta; ring).
    apply turned_norm; [exact h_positive | exact delta0|].
    intros i lt; destruct (steps i lt) as (A & _); unfold theta in *.
    apply angles_within, A. }
  pose proof (norm_over d (turned h c s x) (rotate h f p x) y).
  pose proof (norm_over d exact_at (rotate h f p x) (turned h c s x)); lra.
Qed.

(** DEC-12: what a program computes, for any positions and frequencies whose product is at most
    `most`, any formats and any library. *)
Theorem program_is_near A F phi eta most f p frequency_of angle_of cos_of sin_of number_of x :
  0 <= unit A -> 0 <= tiny A -> 0 <= unit F -> 0 <= tiny F -> 0 <= phi -> 0 <= eta ->
  keeps A angle_of -> keeps F number_of ->
  (forall i, (i < d)%nat ->
    Rabs (frequency_of (theta h f i) - theta h f i) <= phi * Rabs (theta h f i) /\
    Rabs (p * theta h f i) <= most /\
    let a := angle_of (p * frequency_of (theta h f i)) in
    Rabs (cos_of a - cos a) <= eta /\ Rabs (sin_of a - sin a) <= eta) ->
  near_turn d h f p (turn_loss F (angle_error A phi most) eta) (turn_least F) x
    (turn_by frequency_of angle_of cos_of sin_of number_of h f p x).
Proof.
  intros uA tA u0 t0 phi0 eta0 kA kF near.
  destruct (Nat.eq_dec d 0) as [none | some].
  { unfold near_turn; rewrite none; unfold norm; simpl; rewrite sqrt_0; lra. }
  assert (0 <= most) as most0.
  { destruct (near O ltac:(lia)) as (_ & le & _); apply Rle_trans with (2 := le), Rabs_pos. }
  apply turn_is_near; try assumption.
  { unfold angle_error; pose proof (Rmult_le_pos _ _ phi0 uA).
    apply Rplus_le_le_0_compat; [apply Rmult_le_pos; [lra | apply Rabs_pos] | exact tA]. }
  exists (fun j => angle_of (p * frequency_of (f j))),
    (fun j => cos_of (angle_of (p * frequency_of (f j)))),
    (fun j => sin_of (angle_of (p * frequency_of (f j)))),
    (fun i => number_of (cos_of (angle_of (p * frequency_of (theta h f i))) * x i)),
    (fun i => number_of (sin_of (angle_of (p * frequency_of (theta h f i))) * x (partner h i))).
  intros i lt; destruct (near i lt) as (off & le & C & S); unfold theta in *.
  repeat split; try apply kF.
  - apply Rle_trans with (angle_error A phi (p * f (pair_of h i))).
    + apply angle_is_near with (frequency_of (f (pair_of h i))); try assumption; apply kA.
    + apply angle_error_grows; try assumption; rewrite (Rabs_pos_eq most) by exact most0; exact le.
  - apply C.
  - apply S.
Qed.

(** DEC-12: how large the numbers of the result may be. *)
Theorem numbers_of_turn f p loss least x y i :
  near_turn d h f p loss least x y -> (i < d)%nat ->
  Rabs (y i) <= (1 + loss) * norm d x + least * sqrt (INR d).
Proof.
  unfold near_turn; intros near lt; apply Rle_trans with (1 := number_within d y i lt).
  pose proof (norm_from d (rotate h f p x) y) as from.
  pose proof (rotate_keeps_norm h h_positive m f p x) as keep; fold d in keep; lra.
Qed.

(** ** One after the other *)

(** DEC-12: rotations that are near add up, and so do their losses, up to a product. *)
Theorem turns_add f p loss least t loss' least' x y z :
  0 <= loss' ->
  near_turn d h f p loss least x y -> near_turn d h f t loss' least' y z ->
  near_turn d h f (p + t) ((1 + loss) * (1 + loss') - 1) ((1 + loss') * least + least') x z.
Proof.
  unfold near_turn; intros l0 one two.
  pose proof (norm_over d (rotate h f t y) (rotate h f (p + t) x) z) as over.
  assert (norm d (minus (rotate h f t y) (rotate h f (p + t) x)) =
    norm d (minus y (rotate h f p x))) as E.
  { rewrite <- (rotations_add h f h_positive t p).
    pose proof (rotate_keeps_norm h h_positive m f t (minus y (rotate h f p x))) as keep.
    fold d in keep; rewrite <- keep.
    apply norm_ext; intros i _; unfold minus, rotate; ring. }
  assert (norm d y <= (1 + loss) * norm d x + least * sqrt (INR d)) as long.
  { pose proof (norm_from d (rotate h f p x) y) as from.
    pose proof (rotate_keeps_norm h h_positive m f p x) as keep; fold d in keep; lra. }
  apply (Rmult_le_compat_l loss') in long; [|exact l0]; lra.
Qed.

(** y, stored: each number is rounded to S. It is a rotation by 0. *)
Definition stores (S : format) (y z : vector) : Prop :=
  forall i, (i < d)%nat -> rounds S (y i) (z i).

Lemma stored_is_near S f y z :
  0 <= unit S -> 0 <= tiny S -> stores S y z -> near_turn d h f 0 (unit S) (tiny S) y z.
Proof.
  intros u0 t0 near; unfold near_turn; rewrite rotate_by_0.
  apply norm_rounded; try assumption; intros i lt; apply rounds_sum; try assumption; apply near, lt.
Qed.

(** What a stored number has lost, beside what was lost before. *)
Definition kept_loss (S : format) (loss : R) : R := (1 + loss) * (1 + unit S) - 1.
Definition kept_least (S : format) (least : R) : R := (1 + unit S) * least + tiny S.

(** DEC-12: a rotation whose result is stored. *)
Theorem kept_is_near S f p loss least x y z :
  0 <= unit S -> 0 <= tiny S ->
  near_turn d h f p loss least x y -> stores S y z ->
  near_turn d h f p (kept_loss S loss) (kept_least S least) x z.
Proof.
  intros u0 t0 one near; rewrite <- (Rplus_0_r p).
  apply turns_add with y; [exact u0 | exact one | apply stored_is_near; assumption].
Qed.

(** DEC-12: a key that is kept without position, and rotated when it is loaded. *)
Theorem loaded_is_near S f p loss least x y z :
  0 <= unit S -> 0 <= tiny S -> 0 <= loss ->
  stores S x y -> near_turn d h f p loss least y z ->
  near_turn d h f p ((1 + unit S) * (1 + loss) - 1) ((1 + loss) * tiny S + least) x z.
Proof.
  intros u0 t0 l0 near two; rewrite <- (Rplus_0_l p).
  apply turns_add with y; [exact l0 | apply stored_is_near; assumption | exact two].
Qed.

(** DEC-12: MOVE. A key is rotated to j and stored; then it is rotated by t and stored again. *)
Theorem moved_is_near S f j t loss least loss' least' k at_j kept at_jt kept' :
  0 <= unit S -> 0 <= tiny S -> 0 <= loss' ->
  near_turn d h f j loss least k at_j -> stores S at_j kept ->
  near_turn d h f t loss' least' kept at_jt -> stores S at_jt kept' ->
  near_turn d h f (j + t)
    ((1 + kept_loss S loss) * (1 + kept_loss S loss') - 1)
    ((1 + kept_loss S loss') * kept_least S least + kept_least S least') k kept'.
Proof.
  intros u0 t0 l0 one near two near'; apply turns_add with kept.
  - unfold kept_loss; pose proof (Rmult_le_pos _ _ l0 u0); lra.
  - apply kept_is_near with at_j; assumption.
  - apply kept_is_near with at_jt; assumption.
Qed.

(** DEC-12: two ways to the same position, such as MOVE and a single rotation. *)
Theorem ways_apart f p loss least loss' least' k z z' :
  near_turn d h f p loss least k z -> near_turn d h f p loss' least' k z' ->
  norm d (minus z z') <= (loss + loss') * norm d k + (least + least') * sqrt (INR d).
Proof.
  unfold near_turn; intros one two.
  pose proof (norm_over d (rotate h f p k) z' z) as over.
  rewrite (norm_sym d (rotate h f p k) z') in over; lra.
Qed.

(** n moves in a row, by p in all, each near up to `loss` and `least`. *)
Inductive moves_in_a_row (f : nat -> R) (loss least : R) : nat -> R -> vector -> vector -> Prop :=
  | no_move x : moves_in_a_row f loss least 0 0 x x
  | next_move n p t x y z :
      moves_in_a_row f loss least n p x y -> near_turn d h f t loss least y z ->
      moves_in_a_row f loss least (S n) (p + t) x z.

(** DEC-12: what is lost grows with the number of moves. *)
Theorem row_is_near f loss least n p x y :
  0 <= loss -> 0 <= least -> moves_in_a_row f loss least n p x y ->
  near_turn d h f p ((1 + loss) ^ n - 1) (INR n * least * (1 + loss) ^ n) x y.
Proof.
  intros l0 e0 row; induction row as [x | n p t x y z row IH next].
  - unfold near_turn; rewrite rotate_by_0; simpl.
    assert (norm d (minus x x) = 0) as ->; [|lra].
    rewrite (norm_ext d _ (fun _ => 0)) by (intros; unfold minus; ring).
    rewrite norm_constant, Rabs_R0; ring.
  - pose proof (turns_add f p _ _ t loss least x y z l0 IH next) as sum; unfold near_turn in *.
    apply Rle_trans with (1 := sum); rewrite S_INR; simpl pow.
    assert (1 <= (1 + loss) * (1 + loss) ^ n) as one
      by (apply (pow_R1_Rle (1 + loss) (S n)); lra).
    apply (Rmult_le_compat_l least) in one; [|exact e0].
    apply Rplus_le_compat; [apply Req_le; ring|].
    apply Rmult_le_compat_r; [apply sqrt_pos | lra].
Qed.

(** ** Scores *)

(** DEC-12: what an error of the key does to a score. *)
Theorem score_of_moved_key f p loss least scale q k z :
  near_turn d h f p loss least k z ->
  Rabs (score_of scale d q z - score_of scale d q (rotate h f p k)) <=
  Rabs scale * norm d q * (loss * norm d k + least * sqrt (INR d)).
Proof.
  unfold near_turn, score_of; intros near.
  rewrite <- Rmult_minus_distr_l, <- dot_minus_right, Rabs_mult, Rmult_assoc.
  apply Rmult_le_compat_l; [apply Rabs_pos|].
  apply Rle_trans with (1 := dot_within _ _ _).
  apply Rmult_le_compat_l; [apply norm_pos | exact near].
Qed.

(** DEC-12: query and key, both rotated by a computation, against the score at their distance. *)
Theorem score_of_rotated f p j lossq leastq lossk leastk scale q k q' k' :
  near_turn d h f p lossq leastq q q' -> near_turn d h f j lossk leastk k k' ->
  let eq := lossq * norm d q + leastq * sqrt (INR d) in
  let ek := lossk * norm d k + leastk * sqrt (INR d) in
  Rabs (score_of scale d q' k' - score_of scale d q (rotate h f (j - p) k)) <=
  Rabs scale * (norm d q * ek + eq * norm d k + eq * ek).
Proof.
  intros nq nk eq ek; unfold near_turn in *; fold eq in nq; fold ek in nk; unfold score_of.
  pose proof (rotated_product h f h_positive m p j q k) as E; cbv zeta in E; fold d in E.
  rewrite <- E, <- Rmult_minus_distr_l, Rabs_mult; clear E.
  apply Rmult_le_compat_l; [apply Rabs_pos|].
  pose proof (rotate_keeps_norm h h_positive m f p q) as kq; fold d in kq.
  pose proof (rotate_keeps_norm h h_positive m f j k) as kk; fold d in kk.
  set (rq := rotate h f p q) in *; set (rk := rotate h f j k) in *.
  replace (dot d q' k' - dot d rq rk)
    with (dot d rq (minus k' rk) + dot d (minus q' rq) rk + dot d (minus q' rq) (minus k' rk)).
  2:{ rewrite !dot_minus_right, !(dot_sym d (minus q' rq)), !dot_minus_right.
      rewrite (dot_sym d k' q'), (dot_sym d k' rq), (dot_sym d rk q'), (dot_sym d rk rq); ring. }
  pose proof (dot_within d rq (minus k' rk)) as A.
  pose proof (dot_within d (minus q' rq) rk) as B.
  pose proof (dot_within d (minus q' rq) (minus k' rk)) as C.
  pose proof (Rabs_triang (dot d rq (minus k' rk) + dot d (minus q' rq) rk)
    (dot d (minus q' rq) (minus k' rk))).
  pose proof (Rabs_triang (dot d rq (minus k' rk)) (dot d (minus q' rq) rk)).
  rewrite kq in A; rewrite kk in B.
  pose proof (norm_pos d q); pose proof (norm_pos d k).
  pose proof (norm_pos d (minus q' rq)); pose proof (norm_pos d (minus k' rk)).
  assert (norm d q * norm d (minus k' rk) <= norm d q * ek)
    by (apply Rmult_le_compat_l; assumption).
  assert (norm d (minus q' rq) * norm d k <= eq * norm d k)
    by (apply Rmult_le_compat_r; assumption).
  assert (norm d (minus q' rq) * norm d (minus k' rk) <= eq * ek)
    by (apply Rmult_le_compat; assumption).
  lra.
Qed.

(** DEC-12: with the score computed of them, too (NUM-6). *)
Theorem computed_score_of_rotated f p j lossq leastq lossk leastk steps q k q' k' s :
  0 <= after steps -> 1 <= G steps -> 0 <= t steps -> 0 <= u steps -> 0 <= NumScore.eta steps ->
  0 <= u' steps ->
  near_turn d h f p lossq leastq q q' -> near_turn d h f j lossk leastk k k' ->
  computes_score steps d q' k' s ->
  let scale := after steps * before steps in
  let eq := lossq * norm d q + leastq * sqrt (INR d) in
  let ek := lossk * norm d k + leastk * sqrt (INR d) in
  Rabs (s - score_of scale d q (rotate h f (j - p) k)) <=
  score_error steps d q' k' + Rabs scale * (norm d q * ek + eq * norm d k + eq * ek).
Proof.
  intros b0 G1 t0 u0 e0 u0' nq nk run scale eq ek.
  pose proof (score_is_near steps d q' k' s b0 G1 t0 u0 e0 u0' run) as near; fold scale in near.
  pose proof (score_of_rotated f p j _ _ _ _ scale q k q' k' nq nk) as moved; cbv zeta in moved.
  fold eq ek in moved.
  pose proof (Rabs_triang (s - score_of scale d q' k')
    (score_of scale d q' k' - score_of scale d q (rotate h f (j - p) k))) as T.
  replace (s - score_of scale d q' k' +
    (score_of scale d q' k' - score_of scale d q (rotate h f (j - p) k)))
    with (s - score_of scale d q (rotate h f (j - p) k)) in T by ring; lra.
Qed.
End Head.

(** DEC-12: for few moves the growth is linear. *)
Theorem growth_is_linear loss n :
  0 <= loss -> INR n * loss < 1 ->
  INR n * loss <= (1 + loss) ^ n - 1 <= INR n * loss / (1 - INR n * loss).
Proof.
  intros l0 less; split.
  - clear less; induction n as [|n IH]; [simpl; lra|].
    rewrite S_INR; simpl; pose proof (pos_INR n).
    assert (0 <= loss * ((1 + loss) ^ n - 1)); [apply Rmult_le_pos; [exact l0|]|lra].
    pose proof (Rmult_le_pos _ _ (pos_INR n) l0); lra.
  - assert ((1 + loss) ^ n * (1 - INR n * loss) <= 1) as le.
    { clear less; induction n as [|n IH]; [simpl; lra|].
      rewrite S_INR; simpl; pose proof (pos_INR n).
      assert (0 <= (1 + loss) ^ n) by (apply pow_le; lra).
      assert ((1 + loss) * (1 - (INR n + 1) * loss) <= 1 - INR n * loss) as step by nra.
      apply Rle_trans with (2 := IH).
      replace ((1 + loss) * (1 + loss) ^ n * (1 - (INR n + 1) * loss))
        with ((1 + loss) ^ n * ((1 + loss) * (1 - (INR n + 1) * loss))) by ring.
      apply Rmult_le_compat_l; assumption. }
    apply (Rmult_le_reg_r (1 - INR n * loss)); [lra|].
    replace (INR n * loss / (1 - INR n * loss) * (1 - INR n * loss)) with (INR n * loss)
      by (field; lra); lra.
Qed.
