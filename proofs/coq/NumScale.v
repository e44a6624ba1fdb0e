(* SPDX-License-Identifier: Apache-2.0 *)
(** * Caches whose numbers have scales (spec/number.md: NUM-18; spec/tolerance.md: NUM-19)

    A number x of K or V stands for x s. Where the scale is multiplied with, is the kernel's choice:
    over the real numbers it changes nothing, and it is rounded as is said here. *)
From Coq Require Import Reals List Lra Lia Psatz.
From Chunkproof Require Import Softmax NumCore NumRound NumScore.
Import ListNotations.
Open Scope R_scope.

(** ** NUM-18: scales over the real numbers *)

Definition times (s : R) (x : vector) : vector := fun i => s * x i.

Lemma dot_times d q s k : dot d q (times s k) = s * dot d q k.
Proof. induction d as [|d IH]; simpl; [ring | rewrite IH; unfold times; ring]. Qed.

Lemma dot_of_query d q s k : dot d (times s q) k = s * dot d q k.
Proof. induction d as [|d IH]; simpl; [ring | rewrite IH; unfold times; ring]. Qed.

(** The scale of a key may be in its numbers, in the query, in the score, or in `scale`. *)
Theorem scale_of_a_key scale d q s k :
  score_of scale d q (times s k) = score_of scale d (times s q) k /\
  score_of scale d q (times s k) = s * score_of scale d q k /\
  score_of scale d q (times s k) = score_of (scale * s) d q k.
Proof. unfold score_of; rewrite dot_times, dot_of_query; repeat split; ring. Qed.

(** Keys whose values have scales of their own, each by itself. *)
Record scaled_key := Scaled_key { number_of : key; value_scale : R }.
Definition dequantised (k : scaled_key) : key :=
  Key (score (number_of k)) (times (value_scale k) (value (number_of k))).

(** The scale of a value may be in the weight that it is multiplied by, but not in the sum of the
    weights. *)
Theorem scale_of_a_value J i :
  A (map dequantised J) i =
    fold_right (fun k a => exp (score (number_of k)) * value_scale k * value (number_of k) i + a)
      0 J /\
  W (map dequantised J) = W (map number_of J).
Proof.
  induction J as [|k J [IHA IHW]]; [split; reflexivity|].
  unfold A, W in *; cbn [map sum fold_right dequantised score value]; rewrite IHA, IHW.
  unfold times; split; ring.
Qed.

(** One scale of all values may be in the output. *)
Theorem one_scale_of_values J s i :
  (forall k, In k J -> value_scale k = s) ->
  attention (map dequantised J) i = s * attention (map number_of J) i /\
  lse (map dequantised J) = lse (map number_of J).
Proof.
  intros same; destruct J as [|k J]; [simpl; unfold zeros; split; [ring | reflexivity]|].
  destruct (scale_of_a_value (k :: J) i) as [E F].
  assert (map dequantised (k :: J) <> []) as some by discriminate.
  assert (map number_of (k :: J) <> []) as some' by discriminate.
  rewrite !attention_of_keys, !lse_of_keys, F by assumption; split; [|reflexivity].
  replace (A (map dequantised (k :: J)) i) with (s * A (map number_of (k :: J)) i);
    [unfold Rdiv; ring|].
  rewrite E; clear E F some some'; revert same; generalize (k :: J).
  intros L; induction L as [|j L IH]; intros same; [unfold A; simpl; ring|].
  assert (s * A (map number_of L) i =
    fold_right (fun k a => exp (score (number_of k)) * value_scale k * value (number_of k) i + a)
      0 L) as IH' by (apply IH; intros; apply same; right; assumption).
  unfold A in *; cbn [map sum fold_right]; rewrite <- IH', (same j) by (left; reflexivity); ring.
Qed.

(** ** NUM-19: a product with a scale, rounded *)

(** What a number loses that is multiplied by a scale in one format, and then rounded to another. *)
Definition growth (f g : format) : R := (1 + unit g) * (1 + unit f).
Definition leftover (f g : format) : R := tiny g + (1 + unit g) * tiny f.

Theorem scaled_number_is_near f g x s p y :
  0 <= unit f -> 0 <= tiny f -> 0 <= unit g -> 0 <= tiny g ->
  rounds f (x * s) p -> rounds g p y ->
  Rabs (y - x * s) <= (growth f g - 1) * Rabs (x * s) + leftover f g.
Proof.
  intros uf tf ug tg near last; unfold growth, leftover.
  apply rounds_sum in near; [|assumption|assumption].
  apply rounds_sum in last; [|assumption|assumption].
  set (z := x * s) in *.
  assert (Rabs p <= Rabs z + Rabs (p - z)) as size.
  { replace p with (z + (p - z)) at 1 by ring; apply Rabs_triang. }
  assert (Rabs (y - z) <= Rabs (y - p) + Rabs (p - z)) as both.
  { replace (y - z) with ((y - p) + (p - z)) by ring; apply Rabs_triang. }
  pose proof (Rabs_pos z).
  assert (unit g * Rabs p <= unit g * (Rabs z + (unit f * Rabs z + tiny f))) as much
    by (apply Rmult_le_compat_l; lra).
  nra.
Qed.

(** A term of a score errs by no more than this beside what it erred before: whether the key's
    number or the query's is multiplied by the scale. c is the other number, with a. *)
Lemma term_of_a_factor G t c z y h e term :
  1 <= G -> 0 <= e ->
  Rabs (term - c * y) <= (G - 1) * Rabs (c * y) + t ->
  Rabs (y - z) <= (h - 1) * Rabs z + e ->
  Rabs (term - c * z) <= (G * h - 1) * Rabs (c * z) + (t + G * (Rabs c * e)).
Proof.
  intros G1 e0 near factor.
  assert (Rabs (c * y - c * z) <= (h - 1) * Rabs (c * z) + Rabs c * e) as moved.
  { replace (c * y - c * z) with (c * (y - z)) by ring; rewrite !Rabs_mult.
    pose proof (Rmult_le_compat_l _ _ _ (Rabs_pos c) factor); lra. }
  assert (Rabs (c * y) <= Rabs (c * z) + Rabs (c * y - c * z)) as size.
  { replace (c * y) with (c * z + (c * y - c * z)) at 1 by ring; apply Rabs_triang. }
  assert (Rabs (term - c * z) <= Rabs (term - c * y) + Rabs (c * y - c * z)) as both.
  { replace (term - c * z) with ((term - c * y) + (c * y - c * z)) by ring; apply Rabs_triang. }
  assert ((G - 1) * Rabs (c * y) <=
    (G - 1) * (Rabs (c * z) + ((h - 1) * Rabs (c * z) + Rabs c * e))) as much
    by (apply Rmult_le_compat_l; lra).
  nra.
Qed.

(** The class of NUM-6 with terms that err more. *)
Definition with_terms (x : score_steps) (g t' : R) : score_steps :=
  Score_steps (before x) (after x) g t' (u x) (eta x) (deep x) (ops x) (u' x) (eta' x).

(** Each number of the key is multiplied by the scale, and rounded. *)
Theorem scale_in_the_key x d q k s y s' f g most :
  1 <= G x -> 0 <= unit f -> 0 <= tiny f -> 0 <= unit g -> 0 <= tiny g ->
  (forall i, (i < d)%nat -> Rabs (before x * q i) <= most) ->
  (forall i, (i < d)%nat -> exists p, rounds f (k i * s) p /\ rounds g p (y i)) ->
  computes_score x d q y s' ->
  computes_score (with_terms x (G x * growth f g) (t x + G x * (most * leftover f g)))
    d q (times s k) s'.
Proof.
  intros G1 uf tf ug tg bound made (terms & sum & near & sums & last).
  exists terms, sum; cbn [with_terms before after NumScore.G t u eta deep ops u' eta'].
  repeat split; [|exact sums|exact last].
  intros i less; destruct (made i less) as (p & one & two).
  pose proof (scaled_number_is_near f g _ _ _ _ uf tf ug tg one two) as factor.
  assert (0 <= leftover f g) as e0
    by (unfold leftover; pose proof (Rmult_le_pos (1 + unit g) (tiny f)); lra).
  specialize (near i less).
  replace (before x * (q i * y i)) with (before x * q i * y i) in near by ring.
  pose proof (term_of_a_factor (G x) (t x) _ (k i * s) _ (growth f g) _ _ G1 e0 near factor) as T.
  unfold times; replace (before x * (q i * (s * k i))) with (before x * q i * (k i * s)) by ring.
  apply Rle_trans with (1 := T), Rplus_le_compat_l, Rplus_le_compat_l.
  apply Rmult_le_compat_l; [lra|]; apply Rmult_le_compat_r; [exact e0 | apply bound, less].
Qed.

(** The query is multiplied by the scale of a key, in one format. *)
Theorem scale_in_the_query x d q k s y s' f most :
  1 <= G x -> 0 <= unit f -> 0 <= tiny f ->
  (forall i, (i < d)%nat -> Rabs (before x * k i) <= most) ->
  (forall i, (i < d)%nat -> rounds f (q i * s) (y i)) ->
  computes_score x d y k s' ->
  computes_score (with_terms x (G x * (1 + unit f)) (t x + G x * (most * tiny f)))
    d q (times s k) s'.
Proof.
  intros G1 uf tf bound made (terms & sum & near & sums & last).
  exists terms, sum; cbn [with_terms before after NumScore.G t u eta deep ops u' eta'].
  repeat split; [|exact sums|exact last].
  intros i less; pose proof (rounds_sum _ _ _ uf tf (made i less)) as factor.
  specialize (near i less).
  replace (before x * (y i * k i)) with (before x * k i * y i) in near by ring.
  assert (Rabs (y i - q i * s) <= (1 + unit f - 1) * Rabs (q i * s) + tiny f) as factor' by lra.
  pose proof (term_of_a_factor (G x) (t x) _ (q i * s) _ (1 + unit f) _ _ G1 tf near factor') as T.
  unfold times; replace (before x * (q i * (s * k i))) with (before x * k i * (q i * s)) by ring.
  apply Rle_trans with (1 := T), Rplus_le_compat_l, Rplus_le_compat_l.
  apply Rmult_le_compat_l; [lra|]; apply Rmult_le_compat_r; [exact tf | apply bound, less].
Qed.

(** The sum is multiplied by the scale of the key, which is in b (NUM-6): b is near `after x` s. The
    error of b goes to the last product. *)
Theorem scale_in_the_score x d q k s b s' h :
  0 <= after x -> 0 <= s -> 0 <= u' x -> 1 <= h ->
  Rabs (b - after x * s) <= (h - 1) * (after x * s) ->
  computes_score (Score_steps (before x) b (G x) (t x) (u x) (eta x) (deep x) (ops x) (u' x)
    (eta' x)) d q k s' ->
  computes_score (Score_steps (before x) (after x * s) (G x) (t x) (u x) (eta x) (deep x) (ops x)
    (h * (1 + u' x) - 1) (eta' x)) d q k s'.
Proof.
  intros b0 s0 u0 h1 near (terms & sum & one & two & last).
  exists terms, sum; cbn [before after NumScore.G t u eta deep ops u' eta'] in *.
  repeat split; [exact one | exact two |].
  set (c := after x * s) in *; assert (0 <= c) as c0 by (apply Rmult_le_pos; assumption).
  assert (Rabs (b * sum - c * sum) <= (h - 1) * Rabs (c * sum)) as moved.
  { replace (b * sum - c * sum) with ((b - c) * sum) by ring.
    rewrite !Rabs_mult, (Rabs_pos_eq c) by assumption.
    rewrite <- Rmult_assoc; apply Rmult_le_compat_r; [apply Rabs_pos | exact near]. }
  assert (Rabs (b * sum) <= Rabs (c * sum) + Rabs (b * sum - c * sum)) as size.
  { replace (b * sum) with (c * sum + (b * sum - c * sum)) at 1 by ring; apply Rabs_triang. }
  assert (Rabs (s' - c * sum) <= Rabs (s' - b * sum) + Rabs (b * sum - c * sum)) as both.
  { replace (s' - c * sum) with ((s' - b * sum) + (b * sum - c * sum)) by ring; apply Rabs_triang. }
  assert (u' x * Rabs (b * sum) <=
    u' x * (Rabs (c * sum) + (h - 1) * Rabs (c * sum))) as much
    by (apply Rmult_le_compat_l; lra).
  nra.
Qed.

(** The error of NUM-6, where each term errs by the part G h - 1: what bounds all three ways. w is
    the larger of 1 and the scale: absolute errors of terms and sums are multiplied by the scale
    where it comes behind them. *)
Definition scaled_error (x : score_steps) (h e w : R) (d : nat) (q k : vector) : R :=
  score_error (Score_steps (before x) (after x) (G x * h) (w * (t x + G x * e)) (u x) (w * eta x)
    (deep x) (ops x) (u' x) (eta' x)) d q k.

Lemma dot_magnitude_pos d q k : 0 <= dot_magnitude d q k.
Proof.
  induction d as [|d IH]; simpl; [lra|]; pose proof (Rabs_pos (q d * k d)); lra.
Qed.

Lemma magnitude_times d q s k :
  0 <= s -> dot_magnitude d q (times s k) = s * dot_magnitude d q k.
Proof.
  intros s0; induction d as [|d IH]; simpl; [ring|].
  rewrite IH; unfold times; rewrite !Rabs_mult, (Rabs_pos_eq s) by assumption; ring.
Qed.

Definition sound (x : score_steps) : Prop :=
  0 <= after x /\ 1 <= G x /\ 0 <= t x /\ 0 <= u x /\ 0 <= eta x /\ 0 <= u' x.

(** The error grows with what terms err, and with the absolute errors. *)
Lemma score_error_grows a b c c' t1 t2 v e1 e2 n m w z d q k :
  0 <= b -> c <= c' -> t1 <= t2 -> 0 <= v -> e1 <= e2 -> 0 <= w ->
  score_error (Score_steps a b c t1 v e1 n m w z) d q k <=
  score_error (Score_steps a b c' t2 v e2 n m w z) d q k.
Proof.
  intros b0 cc tt v0 ee w0; unfold score_error; simpl.
  assert (0 < (1 + v) ^ n) as p by (apply pow_lt; lra).
  pose proof (dot_magnitude_pos d q k) as m0.
  assert (0 <= b * Rabs a * dot_magnitude d q k) as z0
    by (apply Rmult_le_pos; [apply Rmult_le_pos; [exact b0 | apply Rabs_pos] | exact m0]).
  assert (c * (1 + v) ^ n * (1 + w) <= c' * (1 + v) ^ n * (1 + w)) as g.
  { apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_r; lra. }
  assert (INR d * t1 + INR m * e1 <= INR d * t2 + INR m * e2) as s.
  { pose proof (pos_INR d); pose proof (pos_INR m).
    apply Rplus_le_compat; apply Rmult_le_compat_l; assumption. }
  apply Rplus_le_compat_r, Rplus_le_compat.
  - apply Rmult_le_compat_r; lra.
  - apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_r; [lra|].
    apply Rmult_le_compat_l; assumption.
Qed.

Lemma more_terms_are_near x d q k s' g t2 h e w :
  sound x -> 1 <= G x * g -> 0 <= t2 -> g <= h -> 1 <= w -> t2 <= w * (t x + G x * e) ->
  computes_score (with_terms x (G x * g) t2) d q k s' ->
  Rabs (s' - score_of (after x * before x) d q k) <= scaled_error x h e w d q k.
Proof.
  intros (b0 & G1 & t0 & u0 & e0 & u0') g1 t2' gh w1 tt way.
  pose proof (score_is_near (with_terms x (G x * g) t2) d q k s' b0 g1 t2' u0 e0 u0' way) as C.
  apply Rle_trans with (1 := C); unfold scaled_error, with_terms.
  apply score_error_grows; try assumption; nra.
Qed.

Lemma terms_are_more c g z y e w :
  1 <= c -> 1 <= g -> 0 <= z -> 0 <= y -> y <= e -> 1 <= w ->
  1 <= c * g /\ 0 <= z + c * y /\ z + c * y <= w * (z + c * e).
Proof.
  intros c1 g1 z0 y0 ye w1.
  assert (1 * 1 <= c * g) by (apply Rmult_le_compat; lra).
  assert (0 <= c * y) by (apply Rmult_le_pos; lra).
  assert (c * y <= c * e) by (apply Rmult_le_compat_l; lra).
  assert (1 * (z + c * e) <= w * (z + c * e)) by (apply Rmult_le_compat_r; lra).
  repeat split; lra.
Qed.

(** Where the scale of a key is: in its numbers, in the query, or in the factor of the sum. `most`
    bounds what a number of the key is multiplied by, m what one of the query is. *)
Inductive scales_key (f g : format) (x : score_steps) (d : nat) (q k : vector) (s h most e s' : R)
  : Prop :=
  | in_the_numbers y :
      0 <= most -> (forall i, (i < d)%nat -> Rabs (before x * q i) <= most) ->
      most * leftover f g <= e ->
      (forall i, (i < d)%nat -> exists p, rounds f (k i * s) p /\ rounds g p (y i)) ->
      computes_score x d q y s' -> scales_key f g x d q k s h most e s'
  | in_the_query y m :
      0 <= m -> (forall i, (i < d)%nat -> Rabs (before x * k i) <= m) -> m * tiny f <= e ->
      (forall i, (i < d)%nat -> rounds f (q i * s) (y i)) ->
      computes_score x d y k s' -> scales_key f g x d q k s h most e s'
  | in_the_factor b :
      Rabs (b - after x * s) <= (h - 1) * (after x * s) ->
      computes_score (Score_steps (before x) b (G x) (t x) (u x) (eta x) (deep x) (ops x) (u' x)
        (eta' x)) d q k s' -> scales_key f g x d q k s h most e s'.

(** NUM-19, for keys: wherever the scale s is, the score errs by scaled_error at most. *)
Theorem key_scale_is_near f g x d q k s h most e w s' :
  sound x -> 0 <= s -> 0 <= unit f -> 0 <= tiny f -> 0 <= unit g -> 0 <= tiny g ->
  growth f g <= h -> 0 <= e -> h <= w -> s * h <= w ->
  scales_key f g x d q k s h most e s' ->
  Rabs (s' - score_of (after x * before x) d q (times s k)) <= scaled_error x h e w d q (times s k).
Proof.
  intros ok s0 uf tf ug tg gh e0 hw sw ways; pose proof ok as (b0 & G1 & t0 & u0 & a0 & u0').
  assert (0 <= leftover f g) as l0
    by (unfold leftover; pose proof (Rmult_le_pos (1 + unit g) (tiny f)); lra).
  assert (1 <= 1 + unit f <= growth f g) as [f1 fg] by (unfold growth; nra).
  assert (1 <= w) as w1 by lra.
  destruct ways as [y m0 bound small made way | y m m0 bound small made way | b near way].
  - apply (scale_in_the_key x d q k s y s' f g most G1 uf tf ug tg bound made) in way.
    pose proof (Rmult_le_pos _ _ m0 l0).
    destruct (terms_are_more (G x) (growth f g) (t x) (most * leftover f g) e w) as (g1 & n0 & le);
      try (assumption || lra).
    exact (more_terms_are_near x d q _ s' (growth f g) _ h e w ok g1 n0 gh w1 le way).
  - apply (scale_in_the_query x d q k s y s' f m G1 uf tf bound made) in way.
    pose proof (Rmult_le_pos _ _ m0 tf).
    assert (1 + unit f <= h) as fh by lra.
    destruct (terms_are_more (G x) (1 + unit f) (t x) (m * tiny f) e w) as (g1 & n0 & le);
      try (assumption || lra).
    exact (more_terms_are_near x d q _ s' (1 + unit f) _ h e w ok g1 n0 fh w1 le way).
  - assert (1 <= h) as h1 by lra.
    apply (scale_in_the_score x d q k s b s' h b0 s0 u0' h1 near) in way.
    assert (0 <= after x * s) as c0 by (apply Rmult_le_pos; assumption).
    assert (0 <= h * (1 + u' x) - 1) as v0 by nra.
    match type of way with computes_score ?y _ _ _ _ =>
      pose proof (score_is_near y d q k s' c0 G1 t0 u0 a0 v0 way) as C end.
    cbn [before after] in C.
    replace (score_of (after x * before x) d q (times s k))
      with (score_of (after x * s * before x) d q k)
      by (unfold score_of; rewrite dot_times; ring).
    apply Rle_trans with (1 := C); unfold scaled_error, score_error.
    cbn [before after NumScore.G t u eta deep ops u' eta'].
    rewrite magnitude_times by assumption.
    set (p := (1 + u x) ^ deep x); assert (1 <= p) as p1 by (apply pow_R1_Rle; lra).
    replace (1 + (h * (1 + u' x) - 1)) with (h * (1 + u' x)) by ring.
    apply Rplus_le_compat_r, Rplus_le_compat.
    + apply Req_le; ring.
    + pose proof (pos_INR d); pose proof (pos_INR (ops x)).
      set (z := INR d * t x + INR (ops x) * eta x).
      assert (0 <= z) as z0
        by (unfold z; apply Rplus_le_le_0_compat; apply Rmult_le_pos; assumption).
      assert (w * z <= INR d * (w * (t x + G x * e)) + INR (ops x) * (w * eta x)) as more.
      { unfold z; assert (0 <= INR d * (w * (G x * e)))
          by (repeat apply Rmult_le_pos; lra); lra. }
      assert (0 <= after x * p * (1 + u' x)) as f0
        by (repeat apply Rmult_le_pos; lra).
      replace (after x * s * z * p * (h * (1 + u' x)))
        with (after x * p * (1 + u' x) * (s * h * z)) by ring.
      match goal with |- _ <= ?a * ?b * p * ?c => replace (a * b * p * c) with (a * p * c * b)
        by ring end.
      apply Rmult_le_compat_l; [exact f0|].
      apply Rle_trans with (2 := more); apply Rmult_le_compat_r; assumption.
Qed.

(** ** NUM-19: weights and values *)

(** What a weight loses in all is within a format of which the unit is u (1 + d) (1 + w), about, and
    the tiny what is left where weights are small. *)
Lemma small_weights p up eta d e u w z :
  0 <= p -> 0 < w -> w <= u -> up <= u -> 0 <= d -> 0 <= eta -> 0 <= e ->
  z <= (1 + d) * Rmax (up * p) eta + d * p + e ->
  z <= Rmax (((1 + u) * (1 + d) * (1 + w) - 1) * p) ((1 + d + d / u) * (eta + 2 * e * (u / w))).
Proof.
  intros p0 w0 wu upu d0 eta0 e0 le.
  assert (0 < u) as u0 by lra.
  assert (1 <= u / w) as r1 by (apply Rmult_le_reg_r with w; [exact w0|]; field_simplify; lra).
  set (p1 := Rmax (eta / u) (e / w)).
  pose proof (Rmax_l (eta / u) (e / w)) as l1; pose proof (Rmax_r (eta / u) (e / w)) as l2.
  assert (eta / u * u = eta) as c1 by (field; lra).
  assert (e / w * w = e) as c2 by (field; lra).
  destruct (Rle_or_lt p1 p) as [big | small].
  - apply Rle_trans with (2 := Rmax_l _ _), Rle_trans with (1 := le).
    assert (eta <= u * p).
    { rewrite <- c1, Rmult_comm; apply Rmult_le_compat_l; [lra|]; fold p1 in l1; lra. }
    assert (e <= w * p).
    { rewrite <- c2, Rmult_comm; apply Rmult_le_compat_l; [lra|]; fold p1 in l2; lra. }
    assert (Rmax (up * p) eta <= u * p) as m
      by (apply Rmax_lub; [apply Rmult_le_compat_r; assumption | assumption]).
    pose proof (Rmult_le_compat_l (1 + d) _ _ ltac:(lra) m).
    assert (0 <= u * p) by (apply Rmult_le_pos; lra).
    assert (0 <= d * p) by (apply Rmult_le_pos; lra).
    assert (0 <= u * p * d) by (apply Rmult_le_pos; lra).
    assert (0 <= u * p * w) by (apply Rmult_le_pos; lra).
    assert (0 <= d * p * w) by (apply Rmult_le_pos; lra).
    assert (0 <= u * p * d * w) by (apply Rmult_le_pos; lra).
    lra.
  - apply Rle_trans with (2 := Rmax_r _ _), Rle_trans with (1 := le).
    set (a := eta + e * (u / w)).
    assert (0 <= e * (u / w)) as s0 by (apply Rmult_le_pos; lra).
    assert (p1 <= a / u) as top.
    { apply Rmax_lub; unfold a; apply Rmult_le_reg_r with u; try exact u0.
      - rewrite c1; replace ((eta + e * (u / w)) / u * u) with (eta + e * (u / w))
          by (field; lra); lra.
      - replace (e / w * u) with (e * (u / w)) by (field; lra).
        replace ((eta + e * (u / w)) / u * u) with (eta + e * (u / w)) by (field; lra); lra. }
    assert (u * p <= a) as ua.
    { apply Rle_trans with (u * (a / u)); [apply Rmult_le_compat_l; lra|].
      apply Req_le; field; lra. }
    assert (Rmax (up * p) eta <= a) as m.
    { apply Rmax_lub; [apply Rle_trans with (u * p); [apply Rmult_le_compat_r|]; assumption|].
      unfold a; lra. }
    pose proof (Rmult_le_compat_l (1 + d) _ _ ltac:(lra) m).
    assert (d * p <= d / u * a).
    { replace (d / u * a) with (d * (a / u)) by (field; lra).
      apply Rmult_le_compat_l; lra. }
    assert (e * 1 <= e * (u / w)) by (apply Rmult_le_compat_l; lra).
    assert (0 <= d / u) by (apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat, u0]).
    assert (0 <= (d + d / u) * (e * (u / w))) by (apply Rmult_le_pos; lra).
    unfold a in *; lra.
Qed.

(** What P is to the sum, where values have a scale s, of which `least` is the smaller one of s
    and 1. *)
Definition scaled_weights (P f g : format) (least : R) : format :=
  let u := Rmax (unit P) (unit f) in
  Format ((1 + u) * growth f g * (1 + unit f) - 1)
         ((growth f g + (growth f g - 1) / u) * ((tiny P + 4 * tiny f * (u / unit f)) / least))
         (top P).

(** Where the scale of a value is, x s, of a key with the weight p; P is a weight that is rounded.
    The product of both is `term`. *)
Inductive scales_value (P f g : format) (p x s term : R) : Prop :=
  | in_the_number p' r y :
      rounds P p p' -> rounds f (x * s) r -> rounds g r y -> term = p' * y ->
      scales_value P f g p x s term
  | in_the_weight r p' :
      rounds f (p * s) r -> rounds P r p' -> term = p' * x -> scales_value P f g p x s term
  | in_the_output p' y :  (* y is the same for all keys of the row *)
      rounds P p p' -> Rabs y <= unit f -> term = p' * x * (s * (1 + y)) ->
      scales_value P f g p x s term.

Lemma near_by_parts y z h e :
  Rabs (y - z) <= h * Rabs z + e -> 0 <= h -> 0 <= e ->
  exists a b, y = z * (1 + a) + b /\ Rabs a <= h /\ Rabs b <= e.
Proof.
  intros near h0 e0; destruct (Req_dec z 0) as [-> | some].
  - exists 0, y; rewrite Rabs_R0 in *; rewrite Rmult_0_r, Rplus_0_l, Rminus_0_r in near.
    repeat split; [ring | exact h0 | exact near].
  - destruct (Rle_or_lt (Rabs (y - z)) (h * Rabs z)) as [small | large].
    + exists ((y - z) / z), 0; rewrite Rabs_R0; repeat split; [field; exact some | | exact e0].
      unfold Rdiv; rewrite Rabs_mult, Rabs_inv.
      apply Rmult_le_reg_r with (Rabs z); [apply Rabs_pos_lt, some|].
      rewrite Rmult_assoc, Rinv_l, Rmult_1_r by (apply Rabs_no_R0, some); exact small.
    + assert (0 <= h * Rabs z) as hz by (apply Rmult_le_pos; [exact h0 | apply Rabs_pos]).
      destruct (Rle_or_lt 0 (y - z)) as [up | down].
      * rewrite (Rabs_pos_eq (y - z)) in * by exact up.
        assert (Rabs z = z \/ Rabs z = - z) as [E | E]
          by (unfold Rabs; destruct (Rcase_abs z); [right | left]; reflexivity);
          [exists h, (y - z - h * Rabs z) | exists (- h), (y - z - h * Rabs z)];
          rewrite ?Rabs_Ropp, (Rabs_pos_eq h), (Rabs_pos_eq (y - z - h * Rabs z)) by lra;
          rewrite E in *; repeat split; lra.
      * rewrite (Rabs_left (y - z)) in * by exact down.
        assert (Rabs z = z \/ Rabs z = - z) as [E | E]
          by (unfold Rabs; destruct (Rcase_abs z); [right | left]; reflexivity);
          [exists (- h), (y - z + h * Rabs z) | exists h, (y - z + h * Rabs z)];
          rewrite ?Rabs_Ropp, (Rabs_pos_eq h), (Rabs_left1 (y - z + h * Rabs z)) by lra;
          rewrite E in *; repeat split; lra.
Qed.

(** A rounded weight that is multiplied by a number near 1. *)
Lemma moved_weight P p p' a d :
  0 <= p -> 0 <= d -> rounds P p p' -> Rabs a <= d ->
  Rabs (p' * (1 + a) - p) <= (1 + d) * Rmax (unit P * p) (tiny P) + d * p + 0.
Proof.
  unfold rounds; intros p0 d0 near small; rewrite (Rabs_pos_eq p p0) in near.
  replace (p' * (1 + a) - p) with ((p' - p) * (1 + a) + p * a) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _); rewrite !Rabs_mult, (Rabs_pos_eq p p0).
  assert (Rabs (1 + a) <= 1 + d)
    by (apply Rle_trans with (1 := Rabs_triang _ _); rewrite Rabs_R1; lra).
  pose proof (Rabs_pos (p' - p)); pose proof (Rabs_pos (1 + a)).
  assert (Rabs (p' - p) * Rabs (1 + a) <= Rmax (unit P * p) (tiny P) * (1 + d))
    by (apply Rmult_le_compat; assumption).
  pose proof (Rmult_le_compat_l p _ _ p0 small); lra.
Qed.

Lemma scaled_weights_grow P f g least d e p z :
  0 <= p -> 0 < unit f -> 0 <= unit P -> 0 <= tiny P -> 0 <= tiny f -> 0 < least -> least <= 1 ->
  0 <= d -> 1 + d <= growth f g -> 0 <= e -> e <= 2 * tiny f / least ->
  z <= (1 + d) * Rmax (unit P * p) (tiny P / least) + d * p + e ->
  z <= Rmax (unit (scaled_weights P f g least) * p) (tiny (scaled_weights P f g least)).
Proof.
  intros p0 uf uP tP tf l0 l1 d0 dg e0 ee le.
  pose proof (Rmax_l (unit P) (unit f)) as m1; pose proof (Rmax_r (unit P) (unit f)) as m2.
  assert (0 < / least) as i0 by (apply Rinv_0_lt_compat, l0).
  assert (0 <= tiny P / least) as t0 by (apply Rmult_le_pos; lra).
  pose proof (small_weights p (unit P) (tiny P / least) d e (Rmax (unit P) (unit f)) (unit f) z p0
    uf m2 m1 d0 t0 e0 le) as B.
  apply Rle_trans with (1 := B); unfold scaled_weights; cbn [unit tiny].
  set (u := Rmax (unit P) (unit f)) in *; assert (0 < u) as u0 by lra.
  assert (0 < / u) as iu by (apply Rinv_0_lt_compat, u0).
  assert (1 <= u / unit f) as r1
    by (apply Rmult_le_reg_r with (unit f); [exact uf|]; field_simplify; lra).
  apply Rmax_grows.
  - apply Rmult_le_compat_r; [exact p0|].
    assert ((1 + u) * (1 + d) * (1 + unit f) <= (1 + u) * growth f g * (1 + unit f)); [|lra].
    apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_l; lra.
  - assert (0 <= d / u) by (apply Rmult_le_pos; lra).
    assert (d / u <= (growth f g - 1) / u) by (apply Rmult_le_compat_r; lra).
    assert (2 * e * (u / unit f) <= 4 * tiny f / least * (u / unit f)).
    { apply Rmult_le_compat_r; [lra|]; unfold Rdiv in *; lra. }
    assert (0 <= 2 * e * (u / unit f)) by (apply Rmult_le_pos; lra).
    apply Rmult_le_compat; try lra; unfold Rdiv in *; lra.
Qed.

(** NUM-19, for values where n has the rounded weight p, too: what the value loses, or o where it is
    multiplied by one scale, is as if o were rounded by so many additions. *)
Theorem value_beside_shared_weights f g x s r y p u eta w e :
  0 <= unit f -> 0 <= tiny f -> 0 <= unit g -> 0 <= tiny g ->
  rounds f (x * s) r -> rounds g r y ->
  growth f g <= (1 + u) ^ S w -> Rabs p * leftover f g <= INR e * eta ->
  adds u eta (S w) e [p * (x * s)] [p * y].
Proof.
  intros uf tf ug tg one two large small.
  pose proof (scaled_number_is_near f g x s r y uf tf ug tg one two) as near.
  replace (S w) with (S w + 0)%nat by lia; replace e with (e + 0)%nat by lia.
  apply (adds_coarse u eta w e 0 0 _ [p * (x * s)]); [apply adds_term|].
  unfold plain, magnitude; simpl; rewrite !Rplus_0_r.
  replace (p * y - p * (x * s)) with (p * (y - x * s)) by ring.
  rewrite !Rabs_mult in *; pose proof (Rabs_pos p) as p0.
  pose proof (Rmult_le_compat_l _ _ _ p0 near) as A.
  pose proof (Rmult_le_pos _ _ (Rabs_pos x) (Rabs_pos s)) as xs.
  pose proof (Rmult_le_pos _ _ p0 xs) as pxs.
  assert (Rabs p * (Rabs x * Rabs s) * (growth f g - 1) <=
    Rabs p * (Rabs x * Rabs s) * ((1 + u) ^ S w - 1)) by (apply Rmult_le_compat_l; lra).
  simpl pow in *; lra.
Qed.

(** NUM-19, for values: wherever the scale is, the product is that of the value with a weight that
    was rounded by scaled_weights, and of what is left of the value where it is small. *)
Theorem value_scale_is_near P f g p x s term least :
  0 <= p -> 0 < s -> 0 < unit f -> 0 <= unit g -> 0 <= unit P -> unit P <= 1 ->
  0 <= tiny P -> 0 <= tiny f -> 0 <= tiny g -> 0 < least -> least <= s -> least <= 1 ->
  scales_value P f g p x s term ->
  exists b rest, rounds (scaled_weights P f g least) p b /\ term = b * (x * s) + rest /\
    Rabs rest <= (p + Rmax (unit P * p) (tiny P)) * leftover f g.
Proof.
  intros p0 s0 uf ug uP uP1 tP tf tg l0 ls l1 ways.
  assert (0 < / least) as i0 by (apply Rinv_0_lt_compat, l0).
  assert (1 <= / least) as i1
    by (rewrite <- Rinv_1; apply Rinv_le_contravar; assumption).
  assert (/ s <= / least) as is by (apply Rinv_le_contravar; assumption).
  assert (0 < / s) as is0 by (apply Rinv_0_lt_compat, s0).
  assert (tiny P <= tiny P / least) as tl
    by (unfold Rdiv; rewrite <- (Rmult_1_r (tiny P)) at 1; apply Rmult_le_compat_l; assumption).
  assert (0 <= 2 * tiny f / least) as e2 by (apply Rmult_le_pos; lra).
  assert (0 <= leftover f g) as l2
    by (unfold leftover; pose proof (Rmult_le_pos (1 + unit g) (tiny f)); lra).
  assert (1 + unit f <= growth f g) as fg
    by (unfold growth; pose proof (Rmult_le_pos (unit g) (1 + unit f)); lra).
  assert (0 <= (p + Rmax (unit P * p) (tiny P)) * leftover f g) as left0.
  { apply Rmult_le_pos; [|exact l2]; pose proof (Rmax_r (unit P * p) (tiny P)); lra. }
  assert (forall d b, 0 <= d -> 1 + d <= growth f g ->
    Rabs (b - p) <= (1 + d) * Rmax (unit P * p) (tiny P) + d * p + 0 ->
    rounds (scaled_weights P f g least) p b) as done.
  { intros d b d0 dg near; unfold rounds; rewrite (Rabs_pos_eq p p0).
    apply scaled_weights_grow with (d := d) (e := 0); try assumption; try lra.
    apply Rle_trans with (1 := near); apply Rplus_le_compat_r, Rplus_le_compat_r.
    apply Rmult_le_compat_l; [lra|]; apply Rmax_grows; lra. }
  destruct ways as [p' r y near one two -> | r p' one two -> | p' y near small ->].
  - pose proof (scaled_number_is_near f g x s r y (Rlt_le _ _ uf) tf ug tg one two) as both.
    assert (0 <= growth f g - 1) as h0 by lra.
    destruct (near_by_parts y (x * s) _ _ both h0 l2) as (a & b & -> & ha & hb).
    exists (p' * (1 + a)), (p' * b); split; [|split; [ring|]].
    + apply (done (growth f g - 1)); [exact h0 | lra |].
      exact (moved_weight P p p' a _ p0 h0 near ha).
    + rewrite Rabs_mult; apply Rmult_le_compat; try apply Rabs_pos; [|exact hb].
      unfold rounds in near; rewrite (Rabs_pos_eq p p0) in near.
      replace p' with (p + (p' - p)) by ring; apply Rle_trans with (1 := Rabs_triang _ _).
      rewrite (Rabs_pos_eq p p0); lra.
  - exists (p' / s), 0; split; [|split; [field; lra | rewrite Rabs_R0; exact left0]].
    apply rounds_sum in one; [|lra|exact tf].
    assert (0 <= p * s) as ps by (apply Rmult_le_pos; lra).
    rewrite (Rabs_pos_eq (p * s) ps) in one; unfold rounds in *.
    rewrite (Rabs_pos_eq p p0).
    assert (Rabs r <= (1 + unit f) * (p * s) + tiny f) as size.
    { replace r with (p * s + (r - p * s)) by ring; apply Rle_trans with (1 := Rabs_triang _ _).
      rewrite (Rabs_pos_eq (p * s) ps); lra. }
    assert (Rabs (p' - p * s) <=
      s * ((1 + unit f) * Rmax (unit P * p) (tiny P / s) + unit f * p) + (1 + unit P) * tiny f)
      as near.
    { replace (p' - p * s) with ((p' - r) + (r - p * s)) by ring.
      apply Rle_trans with (1 := Rabs_triang _ _).
      assert (Rmax (unit P * Rabs r) (tiny P) <=
        s * ((1 + unit f) * Rmax (unit P * p) (tiny P / s)) + unit P * tiny f) as m.
      { pose proof (Rmax_l (unit P * p) (tiny P / s)) as m1.
        pose proof (Rmax_r (unit P * p) (tiny P / s)) as m2.
        set (M := Rmax (unit P * p) (tiny P / s)) in *.
        assert (tiny P = s * (tiny P / s)) as E by (field; lra).
        assert (0 <= tiny P / s) as q0 by (apply Rmult_le_pos; lra).
        assert (0 <= unit P * tiny f) by (apply Rmult_le_pos; assumption).
        apply Rmax_lub.
        - apply Rle_trans with (unit P * ((1 + unit f) * (p * s) + tiny f));
            [apply Rmult_le_compat_l; assumption|].
          assert (s * (1 + unit f) * (unit P * p) <= s * (1 + unit f) * M)
            by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | exact m1]).
          lra.
        - rewrite E at 1.
          assert (s * (tiny P / s) <= s * M) by (apply Rmult_le_compat_l; lra).
          assert (0 <= s * M * unit f) by (repeat apply Rmult_le_pos; lra).
          lra. }
      lra. }
    apply scaled_weights_grow with (d := unit f) (e := (1 + unit P) * tiny f / s);
      try assumption; try lra.
    + apply Rmult_le_pos; [apply Rmult_le_pos|]; lra.
    + unfold Rdiv; apply Rmult_le_compat; try lra.
      * apply Rmult_le_pos; lra.
      * apply Rmult_le_compat_r; lra.
    + replace (p' / s - p) with ((p' - p * s) * / s) by (field; lra).
      rewrite Rabs_mult, (Rabs_pos_eq (/ s)) by lra.
      apply Rle_trans with
        ((s * ((1 + unit f) * Rmax (unit P * p) (tiny P / s) + unit f * p)
          + (1 + unit P) * tiny f) * / s); [apply Rmult_le_compat_r; lra|].
      replace ((s * ((1 + unit f) * Rmax (unit P * p) (tiny P / s) + unit f * p)
        + (1 + unit P) * tiny f) * / s)
        with ((1 + unit f) * Rmax (unit P * p) (tiny P / s) + unit f * p
              + (1 + unit P) * tiny f / s) by (field; lra).
      apply Rplus_le_compat_r, Rplus_le_compat_r, Rmult_le_compat_l; [lra|].
      apply Rmax_grows; [lra|]; apply Rmult_le_compat_l; assumption.
  - exists (p' * (1 + y)), 0; split; [|split; [ring | rewrite Rabs_R0; exact left0]].
    apply (done (unit f)); [lra | exact fg|].
    exact (moved_weight P p p' y _ p0 (Rlt_le _ _ uf) near small).
Qed.
