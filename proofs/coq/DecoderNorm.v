(* SPDX-License-Identifier: Apache-2.0 *)
(** * Lengths of vectors, and what a matrix of pairs does to them (spec/decoder.md: DEC-12) *)
From Coq Require Import Reals List Arith Lra Lia Psatz.
From Chunkproof Require Import Softmax DecoderMove.
Import ListNotations.
Open Scope R_scope.

(** |x|: the square root of the sum of the squares. *)
Definition norm (d : nat) (x : vector) : R := sqrt (dot d x x).

Definition plus (x y : vector) : vector := fun i => x i + y i.
Definition minus (x y : vector) : vector := fun i => x i - y i.

Lemma dot_self_pos d x : 0 <= dot d x x.
Proof.
  induction d as [|d IH]; simpl; [lra|].
  pose proof (Rle_0_sqr (x d)) as S; unfold Rsqr in S; lra.
Qed.

Lemma norm_pos d x : 0 <= norm d x.
Proof. apply sqrt_pos. Qed.

Lemma norm_square d x : norm d x * norm d x = dot d x x.
Proof. apply sqrt_sqrt, dot_self_pos. Qed.

Lemma dot_plus_right d x y z : dot d x (plus y z) = dot d x y + dot d x z.
Proof. induction d as [|d IH]; simpl; [ring | rewrite IH; unfold plus; ring]. Qed.

Lemma dot_minus_right d x y z : dot d x (minus y z) = dot d x y - dot d x z.
Proof. induction d as [|d IH]; simpl; [ring | rewrite IH; unfold minus; ring]. Qed.

Lemma dot_sym d x y : dot d x y = dot d y x.
Proof. induction d as [|d IH]; simpl; [reflexivity | rewrite IH; ring]. Qed.

Lemma dot_of_line d x y t :
  dot d (fun i => x i - t * y i) (fun i => x i - t * y i) =
  dot d x x - 2 * t * dot d x y + t * t * dot d y y.
Proof. induction d as [|d IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma dot_square d x y : dot d x y * dot d x y <= dot d x x * dot d y y.
Proof.
  pose proof (dot_self_pos d x) as X; pose proof (dot_self_pos d y) as Y.
  assert (forall t, 0 <= dot d x x - 2 * t * dot d x y + t * t * dot d y y) as above
    by (intros t; rewrite <- dot_of_line; apply dot_self_pos).
  set (a := dot d x y) in *; set (A := dot d x x) in *; set (B := dot d y y) in *.
  destruct (Rle_lt_or_eq_dec 0 B Y) as [pos | zero].
  - specialize (above (a / B)).
    replace (A - 2 * (a / B) * a + a / B * (a / B) * B) with ((A * B - a * a) / B) in above
      by (field; lra).
    apply (Rmult_le_compat_r B) in above; [|lra].
    replace ((A * B - a * a) / B * B) with (A * B - a * a) in above by (field; lra); lra.
  - rewrite <- zero in *; destruct (Req_dec a 0) as [-> | other]; [lra|].
    specialize (above ((A + 1) / (2 * a))).
    replace (A - 2 * ((A + 1) / (2 * a)) * a + (A + 1) / (2 * a) * ((A + 1) / (2 * a)) * 0)
      with (-1) in above by (field; exact other); lra.
Qed.

Lemma dot_within d x y : Rabs (dot d x y) <= norm d x * norm d y.
Proof.
  unfold norm; rewrite <- sqrt_mult by apply dot_self_pos; rewrite <- sqrt_Rsqr_abs.
  apply sqrt_le_1_alt, dot_square.
Qed.

Lemma norm_most d x b : 0 <= b -> dot d x x <= b * b -> norm d x <= b.
Proof.
  intros b0 le; unfold norm; rewrite <- (sqrt_square b b0); apply sqrt_le_1_alt, le.
Qed.

Lemma dot_ext d x y x' y' :
  (forall i, (i < d)%nat -> x i = x' i /\ y i = y' i) -> dot d x y = dot d x' y'.
Proof.
  induction d as [|d IH]; intros E; simpl; [reflexivity|].
  destruct (E d (le_n _)) as [-> ->]; rewrite IH; [reflexivity|].
  intros i lt; apply E; lia.
Qed.

Lemma norm_ext d x y : (forall i, (i < d)%nat -> x i = y i) -> norm d x = norm d y.
Proof.
  intros E; unfold norm; f_equal; apply dot_ext; intros i lt; split; apply E, lt.
Qed.

Lemma norm_plus d x y : norm d (plus x y) <= norm d x + norm d y.
Proof.
  pose proof (norm_pos d x); pose proof (norm_pos d y); apply norm_most; [lra|].
  rewrite dot_plus_right, !(dot_sym d (plus x y)), !dot_plus_right, (dot_sym d y x).
  pose proof (dot_within d x y) as W; pose proof (Rle_abs (dot d x y)).
  pose proof (norm_square d x); pose proof (norm_square d y); nra.
Qed.

Lemma norm_sym d x y : norm d (minus x y) = norm d (minus y x).
Proof.
  unfold norm; f_equal; induction d as [|d IH]; simpl; [reflexivity|].
  rewrite IH; unfold minus; ring.
Qed.

(** From z to x over y. *)
Lemma norm_over d y x z : norm d (minus z x) <= norm d (minus z y) + norm d (minus y x).
Proof.
  rewrite (norm_ext d (minus z x) (plus (minus z y) (minus y x)))
    by (intros; unfold plus, minus; ring); apply norm_plus.
Qed.

Lemma norm_from d x y : norm d y <= norm d x + norm d (minus y x).
Proof.
  rewrite (norm_ext d y (plus x (minus y x))) at 1 by (intros; unfold plus, minus; ring).
  apply norm_plus.
Qed.

Lemma norm_scaled d c x : norm d (fun i => c * x i) = Rabs c * norm d x.
Proof.
  unfold norm; rewrite <- (sqrt_Rsqr_abs c), <- sqrt_mult
    by (try apply dot_self_pos; apply Rle_0_sqr).
  f_equal; unfold Rsqr; induction d as [|d IH]; simpl; [ring | rewrite IH; ring].
Qed.

Lemma norm_constant d c : norm d (fun _ => c) = Rabs c * sqrt (INR d).
Proof.
  unfold norm; rewrite <- (sqrt_Rsqr_abs c), <- sqrt_mult
    by (try apply pos_INR; apply Rle_0_sqr).
  f_equal; unfold Rsqr; induction d as [|d IH]; [simpl; ring | rewrite S_INR; simpl].
  rewrite IH; ring.
Qed.

Lemma norm_grows d x y :
  (forall i, (i < d)%nat -> Rabs (x i) <= y i) -> norm d x <= norm d y.
Proof.
  intros le; unfold norm; apply sqrt_le_1_alt; induction d as [|d IH]; simpl; [lra|].
  pose proof (le d (le_n _)) as last; specialize (IH (fun i lt => le i (Nat.lt_lt_succ_r _ _ lt))).
  pose proof (Rabs_pos (x d)); pose proof (Rsqr_abs (x d)) as S; unfold Rsqr in S; rewrite S.
  nra.
Qed.

Lemma norm_of_abs d x : norm d (fun i => Rabs (x i)) = norm d x.
Proof.
  unfold norm; f_equal; induction d as [|d IH]; simpl; [reflexivity|].
  rewrite IH, <- Rabs_mult, Rabs_pos_eq; [reflexivity|].
  pose proof (Rle_0_sqr (x d)) as S; exact S.
Qed.

Lemma number_within d x i : (i < d)%nat -> Rabs (x i) <= norm d x.
Proof.
  intros lt; unfold norm; rewrite <- sqrt_Rsqr_abs; apply sqrt_le_1_alt; unfold Rsqr.
  induction d as [|d IH]; [lia|]; simpl; pose proof (dot_self_pos d x).
  pose proof (Rle_0_sqr (x d)) as S; unfold Rsqr in S.
  destruct (Nat.eq_dec i d) as [-> | other]; [lra|]; specialize (IH ltac:(lia)); lra.
Qed.

(** What a rounding of each number does: |x| times the unit, and the tiny one sqrt d times. *)
Lemma norm_rounded d u t x y :
  0 <= u -> 0 <= t -> (forall i, (i < d)%nat -> Rabs (y i - x i) <= u * Rabs (x i) + t) ->
  norm d (minus y x) <= u * norm d x + t * sqrt (INR d).
Proof.
  intros u0 t0 near.
  apply Rle_trans with (norm d (plus (fun i => u * Rabs (x i)) (fun _ => t))).
  - apply norm_grows; exact near.
  - apply Rle_trans with (1 := norm_plus _ _ _).
    rewrite norm_scaled, norm_constant, norm_of_abs, !Rabs_pos_eq by assumption; lra.
Qed.

(** ** A matrix for each pair: (x, y) becomes (c x - s y, s x + c y)

    R_p is the one with c = cos (p f) and s = sin (p f). *)
Section Pairs.
Variables (h : nat) (h_positive : (1 <= h)%nat).

Definition turned (c s : nat -> R) (x : vector) : vector := fun i =>
  theta h c i * x i + sign h i * theta h s i * x (partner h i).

Lemma rotate_is_turned f p x :
  rotate h f p x = turned (fun j => cos (p * f j)) (fun j => sin (p * f j)) x.
Proof. reflexivity. Qed.

(** Partners exchanged, a sum over a head is the same. *)
Lemma total_of_partners m g :
  total (fun i => g (partner h i)) (seq 0 (m * (2 * h))) = total g (seq 0 (m * (2 * h))).
Proof.
  rewrite <- (total_map g (partner h)).
  exact (total_permutation g _ _ (partners_permute h g h_positive m)).
Qed.

Lemma total_grows f g l :
  (forall i, In i l -> f i <= g i) -> total f l <= total g l.
Proof.
  induction l as [|i l IH]; simpl; intros le; [lra|].
  apply Rplus_le_compat; [apply le; left; reflexivity | apply IH; intros; apply le; right; easy].
Qed.

Lemma total_same f g l : (forall i, In i l -> f i = g i) -> total f l = total g l.
Proof. intros E; apply Rle_antisym; apply total_grows; intros i ini; rewrite E; auto; lra. Qed.

Lemma total_scaled b f l : total (fun i => b * f i) l = b * total f l.
Proof. induction l as [|i l IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma turned_square m c s x :
  dot (m * (2 * h)) (turned c s x) (turned c s x) =
  total (fun i => (theta h c i * theta h c i + theta h s i * theta h s i) * (x i * x i))
    (seq 0 (m * (2 * h))).
Proof.
  rewrite dot_is_total.
  set (l := seq 0 (m * (2 * h))).
  set (f := fun i => theta h c i * theta h c i * (x i * x i) +
    sign h i * theta h c i * theta h s i * x i * x (partner h i)).
  set (g := fun i => theta h s i * theta h s i * (x (partner h i) * x (partner h i)) +
    sign h i * theta h c i * theta h s i * x i * x (partner h i)).
  transitivity (total f l + total g l).
  - rewrite <- total_plus; apply total_ext; intros i; unfold f, g, turned.
    pose proof (sign_square h i) as one; generalize dependent (sign h i); intros e one.
    transitivity (theta h c i * theta h c i * (x i * x i) +
      e * theta h c i * theta h s i * x i * x (partner h i) +
      (e * e * (theta h s i * theta h s i * (x (partner h i) * x (partner h i))) +
       e * theta h c i * theta h s i * x i * x (partner h i))); [ring | rewrite one; ring].
  - unfold l; rewrite <- (total_of_partners m g), <- total_plus; apply total_ext; intros i.
    unfold f, g; destruct (partner_is_partner h c h_positive i) as (-> & _ & ->).
    assert (forall a, theta h a (partner h i) = theta h a i) as same
      by (intros a; apply (partner_is_partner h a h_positive i)).
    rewrite !same; ring.
Qed.

(** The matrix stretches by at most b when c^2 + s^2 <= b^2. *)
Lemma turned_norm m c s b x :
  0 <= b ->
  (forall i, (i < m * (2 * h))%nat ->
    theta h c i * theta h c i + theta h s i * theta h s i <= b * b) ->
  norm (m * (2 * h)) (turned c s x) <= b * norm (m * (2 * h)) x.
Proof.
  intros b0 le; apply norm_most; [apply Rmult_le_pos; [exact b0 | apply norm_pos]|].
  replace (b * norm (m * (2 * h)) x * (b * norm (m * (2 * h)) x))
    with (b * b * (norm (m * (2 * h)) x * norm (m * (2 * h)) x)) by ring.
  rewrite norm_square, turned_square, dot_is_total, <- total_scaled; apply total_grows.
  intros i ini; apply in_seq in ini; apply Rmult_le_compat_r; [apply Rle_0_sqr | apply le; lia].
Qed.

(** So do its two products, taken by magnitude, up to sqrt 2. *)
Lemma products_norm m c s b x :
  0 <= b ->
  (forall i, (i < m * (2 * h))%nat ->
    theta h c i * theta h c i + theta h s i * theta h s i <= b * b) ->
  norm (m * (2 * h))
    (fun i => Rabs (theta h c i * x i) + Rabs (theta h s i * x (partner h i)))
  <= sqrt 2 * b * norm (m * (2 * h)) x.
Proof.
  intros b0 le; pose proof (sqrt_pos 2) as r0; pose proof (sqrt_sqrt 2 ltac:(lra)) as r2.
  apply norm_most; [repeat apply Rmult_le_pos; try assumption; apply norm_pos|].
  replace (sqrt 2 * b * norm (m * (2 * h)) x * (sqrt 2 * b * norm (m * (2 * h)) x))
    with (sqrt 2 * sqrt 2 * (b * b * (norm (m * (2 * h)) x * norm (m * (2 * h)) x))) by ring.
  rewrite r2, norm_square, !dot_is_total, <- !total_scaled.
  set (l := seq 0 (m * (2 * h))).
  set (f := fun i => 2 * (theta h c i * theta h c i * (x i * x i))).
  set (g := fun i => 2 * (theta h s i * theta h s i * (x (partner h i) * x (partner h i)))).
  apply Rle_trans with (total f l + total g l).
  - rewrite <- total_plus; apply total_grows; intros i _; unfold f, g.
    set (a := theta h c i * x i); set (e := theta h s i * x (partner h i)).
    replace (2 * (theta h c i * theta h c i * (x i * x i)) +
      2 * (theta h s i * theta h s i * (x (partner h i) * x (partner h i))))
      with (2 * (a * a) + 2 * (e * e)) by (unfold a, e; ring).
    pose proof (Rsqr_abs a) as A; pose proof (Rsqr_abs e) as E; unfold Rsqr in A, E.
    rewrite A, E; pose proof (Rle_0_sqr (Rabs a - Rabs e)) as S; unfold Rsqr in S; lra.
  - unfold l; rewrite <- (total_of_partners m g), <- total_plus; apply total_grows.
    intros i ini; unfold f, g; destruct (partner_is_partner h c h_positive i) as (-> & _ & _).
    assert (forall a, theta h a (partner h i) = theta h a i) as same
      by (intros a; apply (partner_is_partner h a h_positive i)).
    rewrite same; apply in_seq in ini; specialize (le i ltac:(lia)).
    pose proof (Rmult_le_compat_r (x i * x i) _ _ (Rle_0_sqr (x i)) le); lra.
Qed.

(** DEC-8: a rotation keeps lengths. *)
Theorem rotate_keeps_norm m f p x :
  norm (m * (2 * h)) (rotate h f p x) = norm (m * (2 * h)) x.
Proof.
  unfold norm; f_equal; rewrite rotate_is_turned, turned_square, dot_is_total.
  apply total_ext; intros i; unfold theta.
  pose proof (sin2_cos2 (p * f (pair_of h i))) as one; unfold Rsqr in one.
  rewrite Rplus_comm, one; ring.
Qed.

(** Rotations of the same pair by angles a and b differ by 2 |sin ((a - b) / 2)| of the length. *)
Lemma angles_apart a b :
  (cos a - cos b) * (cos a - cos b) + (sin a - sin b) * (sin a - sin b) =
  2 * sin ((a - b) / 2) * (2 * sin ((a - b) / 2)).
Proof.
  pose proof (sin2_cos2 a) as A; pose proof (sin2_cos2 b) as B; unfold Rsqr in A, B.
  assert (cos (a - b) = 1 - 2 * sin ((a - b) / 2) * sin ((a - b) / 2)) as E.
  { rewrite <- cos_2a_sin; f_equal; field. }
  rewrite cos_minus in E; lra.
Qed.

Lemma sin_within x : Rabs (sin x) <= Rabs x.
Proof.
  assert (forall y, 0 <= y -> Rabs (sin y) <= y) as half.
  { intros y y0; destruct (Rle_lt_or_eq_dec 0 y y0) as [pos | <-];
      [|rewrite sin_0, Rabs_R0; lra].
    pose proof (sin_lt_x y pos); apply Rabs_le; split; [|lra].
    destruct (Rle_dec y PI) as [le | gt].
    - pose proof (sin_ge_0 y ltac:(lra) le); lra.
    - pose proof (SIN_bound y); pose proof PI2_1; lra. }
  unfold Rabs at 2; destruct (Rcase_abs x).
  - rewrite <- (Rabs_Ropp (sin x)), <- sin_neg; apply half; lra.
  - apply half; lra.
Qed.

Lemma angles_within a b t :
  Rabs (a - b) <= t ->
  (cos a - cos b) * (cos a - cos b) + (sin a - sin b) * (sin a - sin b) <= t * t.
Proof.
  intros le; rewrite angles_apart; pose proof (sin_within ((a - b) / 2)) as S.
  unfold Rdiv in S at 2; rewrite Rabs_mult, (Rabs_pos_eq (/ 2)) in S by lra.
  pose proof (Rabs_pos (sin ((a - b) / 2))); pose proof (Rsqr_abs (sin ((a - b) / 2))) as Q.
  unfold Rsqr in Q; nra.
Qed.
End Pairs.
