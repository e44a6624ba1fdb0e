(* SPDX-License-Identifier: Apache-2.0 *)
(** * The numbers of DEC-12, and a rotation in binary32 that is far off (spec/decoder.md: DEC-12) *)
From Coq Require Import Reals ZArith List Arith Lra Lia Psatz.
From Flocq Require Import Core.
From Chunkproof Require Import Softmax DecoderMove NumRound DecoderNorm DecoderRound.
From Chunkproof Require Import DecoderExamples DecoderRoundFloat.
Open Scope R_scope.

(** ** How far the angle is off, against what storage loses *)

(** DEC-12: with angles in binary32 and frequencies of at most 1, the bound of the angle passes what
    binary16 loses at 4096, and what bfloat16 loses at 32768. *)
Example angle_against_storage a :
  (Rabs a <= 4095 -> angle_error binary32 (/ 2 ^ 24) a < unit binary16) /\
  (4096 <= Rabs a -> unit binary16 < angle_error binary32 (/ 2 ^ 24) a) /\
  (Rabs a <= 32767 -> angle_error binary32 (/ 2 ^ 24) a < unit bfloat16) /\
  (32768 <= Rabs a -> unit bfloat16 < angle_error binary32 (/ 2 ^ 24) a).
Proof.
  assert (0 <= / 2 ^ 150 <= / 2 ^ 60) as t.
  { split; [apply Rlt_le, Rinv_0_lt_compat, pow_lt; lra | apply small_power; lia]. }
  unfold angle_error, binary32, binary16, bfloat16; simpl unit; simpl tiny.
  generalize dependent (/ 2 ^ 150); intros tiny32 t.
  repeat split; intros le; simpl in *; lra.
Qed.

(** DEC-12: with frequencies that are numbers of binary32, at twice these angles. *)
Example own_angle_against_storage a :
  (Rabs a <= 8191 -> angle_error binary32 0 a < unit binary16) /\
  (8192 <= Rabs a -> unit binary16 < angle_error binary32 0 a) /\
  (Rabs a <= 65535 -> angle_error binary32 0 a < unit bfloat16) /\
  (65536 <= Rabs a -> unit bfloat16 < angle_error binary32 0 a).
Proof.
  assert (0 < / 2 ^ 150 <= / 2 ^ 60) as t.
  { split; [apply Rinv_0_lt_compat, pow_lt; lra | apply small_power; lia]. }
  unfold angle_error, binary32, binary16, bfloat16; simpl unit; simpl tiny.
  generalize dependent (/ 2 ^ 150); intros tiny32 t.
  repeat split; intros le; simpl in *; lra.
Qed.

(** ** The table *)

Lemma sqrt2_between : 1.4142 <= sqrt 2 <= 1.4143.
Proof. destruct sqrt2 as [r0 r2]; split; nra. Qed.

(** The bound with r for sqrt 2. *)
Definition loss_at (r u delta eta : R) : R :=
  delta + r * eta + (1 + r * eta) * (u + r * u * (1 + u)).

Lemma turn_loss_between F delta eta :
  0 <= unit F -> 0 <= eta ->
  loss_at 1.4142 (unit F) delta eta <= turn_loss F delta eta <= loss_at 1.4143 (unit F) delta eta.
Proof.
  intros u0 e0; pose proof sqrt2_between as [lo hi].
  assert (forall r r', 0 <= r <= r' ->
    loss_at r (unit F) delta eta <= loss_at r' (unit F) delta eta) as grows.
  { intros r r' [r0 le]; unfold loss_at.
    assert (r * eta <= r' * eta) as A by (apply Rmult_le_compat_r; assumption).
    assert (0 <= r * eta) as A0 by (apply Rmult_le_pos; assumption).
    assert (r * unit F <= r' * unit F) as B by (apply Rmult_le_compat_r; assumption).
    assert (0 <= r * unit F) as B0 by (apply Rmult_le_pos; assumption).
    assert (r * unit F * (1 + unit F) <= r' * unit F * (1 + unit F)) as C
      by (apply Rmult_le_compat_r; lra).
    assert (0 <= r * unit F * (1 + unit F)) as C0 by (apply Rmult_le_pos; lra).
    assert ((1 + r * eta) * (unit F + r * unit F * (1 + unit F)) <=
      (1 + r' * eta) * (unit F + r' * unit F * (1 + unit F))) by (apply Rmult_le_compat; lra).
    lra. }
  split; [apply (grows 1.4142 (sqrt 2)) | apply (grows (sqrt 2) 1.4143)]; lra.
Qed.

(** A library that errs by two and a half units: CUDA's cosf and sinf, as documented. *)
Definition usual_eta (F : format) : R := 5 / 2 * unit F.

(** What is lost at angles of at most `far`: A rounds angles, F products and sums. *)
Definition loss_of (A F : format) (far : R) : R :=
  turn_loss F (angle_error A (unit A) far) (usual_eta F).

(** Rotated by `far`, and stored in S. *)
Definition once_loss (A F S : format) (far : R) : R := kept_loss S (loss_of A F far).

(** Half of the way at first, stored, and half by MOVE, stored again. *)
Definition move_loss (A F S : format) (far : R) : R :=
  (1 + once_loss A F S (far / 2)) * (1 + once_loss A F S (far / 2)) - 1.

(** The angle's error without the tiny one. *)
Definition slope (A : format) : R := (1 + unit A) * (1 + unit A) - 1.

Definition least_loss (A F : format) (far : R) : R :=
  loss_at 1.4142 (unit F) (slope A * far) (usual_eta F).
Definition most_loss (A F : format) (far : R) : R :=
  loss_at 1.4143 (unit F) (slope A * far + / 2 ^ 60) (usual_eta F).

Lemma loss_between A F far :
  0 <= tiny A <= / 2 ^ 60 -> 0 <= unit F -> 0 <= far ->
  least_loss A F far <= loss_of A F far <= most_loss A F far.
Proof.
  intros t u0 far0.
  assert (0 <= usual_eta F) as e0 by (unfold usual_eta; lra).
  pose proof (turn_loss_between F (angle_error A (unit A) far) (usual_eta F) u0 e0) as B.
  fold (loss_of A F far) in B; unfold least_loss, most_loss, loss_at, slope in *.
  unfold angle_error in B; rewrite (Rabs_pos_eq far) in B by exact far0; lra.
Qed.

(** x is v when it is rounded up to a multiple of e. *)
Definition rounds_up (x v e : R) : Prop := v - e <= x <= v.

Lemma move_between A F S far lo hi :
  0 <= unit S -> 0 <= lo -> lo <= loss_of A F (far / 2) <= hi ->
  (1 + lo) * (1 + unit S) * ((1 + lo) * (1 + unit S)) - 1 <= move_loss A F S far <=
  (1 + hi) * (1 + unit S) * ((1 + hi) * (1 + unit S)) - 1.
Proof.
  intros w0 l0 B; unfold move_loss, once_loss, kept_loss; set (x := loss_of A F (far / 2)) in *.
  replace (1 + ((1 + x) * (1 + unit S) - 1)) with ((1 + x) * (1 + unit S)) by ring.
  assert (0 <= (1 + lo) * (1 + unit S)) by (apply Rmult_le_pos; lra).
  assert ((1 + lo) * (1 + unit S) <= (1 + x) * (1 + unit S)) by (apply Rmult_le_compat_r; lra).
  assert ((1 + x) * (1 + unit S) <= (1 + hi) * (1 + unit S)) by (apply Rmult_le_compat_r; lra).
  split; apply Rplus_le_compat_r, Rmult_le_compat; lra.
Qed.

Lemma tiny_32 : 0 <= tiny binary32 <= / 2 ^ 60.
Proof. split; [apply Rlt_le, Rinv_0_lt_compat, pow_lt; lra | apply small_power; lia]. Qed.

Lemma tiny_64 : 0 <= tiny binary64 <= / 2 ^ 60.
Proof. split; [apply Rlt_le, Rinv_0_lt_compat, pow_lt; lra | apply small_power; lia]. Qed.

Lemma nonnegative_units :
  0 <= unit binary16 /\ 0 <= unit bfloat16 /\ 0 <= unit binary32 /\ 0 <= unit binary64.
Proof. repeat split; apply Rlt_le, Rinv_0_lt_compat, pow_lt; lra. Qed.

Ltac plain_numbers :=
  unfold least_loss, most_loss, loss_at, slope, usual_eta, binary16, bfloat16, binary32, binary64;
  simpl unit; cbv zeta; simpl pow; repeat apply conj; lra.

(** A row of the table: what a rotation loses; with storing; with MOVE. *)
Definition row (A F : format) (far loss e once16 e16 move16 em16 oncebf ebf movebf embf : R) :=
  rounds_up (loss_of A F far) loss e /\
  rounds_up (once_loss A F binary16 far) once16 e16 /\
  rounds_up (move_loss A F binary16 far) move16 em16 /\
  rounds_up (once_loss A F bfloat16 far) oncebf ebf /\
  rounds_up (move_loss A F bfloat16 far) movebf embf.

(** It follows from bounds lo, hi of the loss, and lo2, hi2 of that at half of the angle. *)
Lemma row_is A F far lo hi lo2 hi2 loss e once16 e16 move16 em16 oncebf ebf movebf embf :
  0 <= tiny A <= / 2 ^ 60 -> 0 <= unit F -> 0 <= far -> 0 <= lo2 ->
  lo <= least_loss A F far -> most_loss A F far <= hi ->
  lo2 <= least_loss A F (far / 2) -> most_loss A F (far / 2) <= hi2 ->
  (let w := unit binary16 in let b := unit bfloat16 in
   (loss - e <= lo /\ hi <= loss) /\
   (once16 - e16 <= (1 + lo) * (1 + w) - 1 /\ (1 + hi) * (1 + w) - 1 <= once16) /\
   (move16 - em16 <= (1 + lo2) * (1 + w) * ((1 + lo2) * (1 + w)) - 1 /\
    (1 + hi2) * (1 + w) * ((1 + hi2) * (1 + w)) - 1 <= move16) /\
   (oncebf - ebf <= (1 + lo) * (1 + b) - 1 /\ (1 + hi) * (1 + b) - 1 <= oncebf) /\
   (movebf - embf <= (1 + lo2) * (1 + b) * ((1 + lo2) * (1 + b)) - 1 /\
    (1 + hi2) * (1 + b) * ((1 + hi2) * (1 + b)) - 1 <= movebf)) ->
  row A F far loss e once16 e16 move16 em16 oncebf ebf movebf embf.
Proof.
  intros t u0 far0 l0 L H L2 H2 N; cbv zeta in N; destruct nonnegative_units as (w0 & b0 & _).
  pose proof (loss_between A F far t u0 far0) as B.
  pose proof (loss_between A F (far / 2) t u0 ltac:(lra)) as B2.
  assert (lo <= loss_of A F far <= hi) as B' by lra; clear B L H.
  assert (lo2 <= loss_of A F (far / 2) <= hi2) as B2' by lra; clear B2 L2 H2.
  pose proof (move_between A F binary16 far lo2 hi2 w0 l0 B2').
  pose proof (move_between A F bfloat16 far lo2 hi2 b0 l0 B2').
  assert (forall S v d, 0 <= unit S ->
    v - d <= (1 + lo) * (1 + unit S) - 1 /\ (1 + hi) * (1 + unit S) - 1 <= v ->
    rounds_up (once_loss A F S far) v d) as once.
  { intros S v d s0 V; unfold rounds_up, once_loss, kept_loss.
    assert ((1 + lo) * (1 + unit S) <= (1 + loss_of A F far) * (1 + unit S))
      by (apply Rmult_le_compat_r; lra).
    assert ((1 + loss_of A F far) * (1 + unit S) <= (1 + hi) * (1 + unit S))
      by (apply Rmult_le_compat_r; lra); lra. }
  destruct N as (N1 & N2 & N3 & N4 & N5); unfold row; repeat apply conj.
  - unfold rounds_up in *; lra.
  - unfold rounds_up in *; lra.
  - apply (once binary16 _ _ w0 N2).
  - apply (once binary16 _ _ w0 N2).
  - unfold rounds_up in *; lra.
  - unfold rounds_up in *; lra.
  - apply (once bfloat16 _ _ b0 N4).
  - apply (once bfloat16 _ _ b0 N4).
  - unfold rounds_up in *; lra.
  - unfold rounds_up in *; lra.
Qed.

(** DEC-12: the table. Angles, products and sums in binary32. *)
Example table_in_binary32 :
  row binary32 binary32 1000
    0.0001196 1e-7 0.0006080 1e-7 0.001097 1e-6 0.004027 1e-6 0.007949 1e-6 /\
  row binary32 binary32 100000
    0.01193 1e-5 0.01242 1e-5 0.01295 1e-5 0.01588 1e-5 0.01988 1e-5 /\
  row binary32 binary32 1000000
    0.1193 1e-4 0.1198 1e-4 0.1239 1e-4 0.1236 1e-4 0.1316 1e-4.
Proof.
  destruct nonnegative_units as (w0 & b0 & u0 & u6).
  split; [|split].
  - apply (row_is _ _ _
      (119563 / 1000000000) (119564 / 1000000000)
      (599592 / 10000000000) (599593 / 10000000000));
      first [exact tiny_32 | exact u0 | plain_numbers].
  - apply (row_is _ _ _
      (119212 / 10000000) (119213 / 10000000)
      (596081 / 100000000) (596082 / 100000000));
      first [exact tiny_32 | exact u0 | plain_numbers].
  - apply (row_is _ _ _
      (119209 / 1000000) (119210 / 1000000)
      (596050 / 10000000) (596051 / 10000000));
      first [exact tiny_32 | exact u0 | plain_numbers].
Qed.

(** DEC-12: angles in binary64, products and sums in binary32. *)
Example table_with_binary64_angles :
  row binary64 binary32 1000
    3.547e-7 1e-10 0.0004887 1e-7 0.0009776 1e-7 0.003907 1e-6 0.007829 1e-6 /\
  row binary64 binary32 100000
    3.547e-7 1e-10 0.0004887 1e-7 0.0009776 1e-7 0.003907 1e-6 0.007829 1e-6 /\
  row binary64 binary32 1000000
    3.549e-7 1e-10 0.0004887 1e-7 0.0009776 1e-7 0.003907 1e-6 0.007829 1e-6.
Proof.
  destruct nonnegative_units as (w0 & b0 & u0 & u6).
  split; [|split].
  - apply (row_is _ _ _
      (354630 / 1000000000000) (354651 / 1000000000000)
      (354629 / 1000000000000) (354651 / 1000000000000));
      first [exact tiny_64 | exact u0 | plain_numbers].
  - apply (row_is _ _ _
      (354651 / 1000000000000) (354673 / 1000000000000)
      (354640 / 1000000000000) (354662 / 1000000000000));
      first [exact tiny_64 | exact u0 | plain_numbers].
  - apply (row_is _ _ _
      (354851 / 1000000000000) (354873 / 1000000000000)
      (354740 / 1000000000000) (354762 / 1000000000000));
      first [exact tiny_64 | exact u0 | plain_numbers].
Qed.

(** DEC-12: everything in binary64. *)
Example table_in_binary64 :
  row binary64 binary64 1000
    2.23e-13 1e-15 0.0004883 1e-7 0.0009769 1e-7 0.003907 1e-6 0.007828 1e-6 /\
  row binary64 binary64 100000
    2.23e-11 1e-13 0.0004883 1e-7 0.0009769 1e-7 0.003907 1e-6 0.007828 1e-6 /\
  row binary64 binary64 1000000
    2.23e-10 1e-12 0.0004883 1e-7 0.0009769 1e-7 0.003907 1e-6 0.007828 1e-6.
Proof.
  destruct nonnegative_units as (w0 & b0 & u0 & u6).
  split; [|split].
  - apply (row_is _ _ _
      (222705 / 1000000000000000000) (222707 / 1000000000000000000)
      (111682 / 1000000000000000000) (111684 / 1000000000000000000));
      first [exact tiny_64 | exact u6 | plain_numbers].
  - apply (row_is _ _ _
      (222051 / 10000000000000000) (222052 / 10000000000000000)
      (111028 / 10000000000000000) (111029 / 10000000000000000));
      first [exact tiny_64 | exact u6 | plain_numbers].
  - apply (row_is _ _ _
      (222045 / 1000000000000000) (222046 / 1000000000000000)
      (111022 / 1000000000000000) (111023 / 1000000000000000));
      first [exact tiny_64 | exact u6 | plain_numbers].
Qed.

(** DEC-12: ten moves with keys in bfloat16 may lose ten times as much as one. *)
Example ten_moves :
  rounds_up ((1 + once_loss binary64 binary32 bfloat16 1000000) ^ 10 - 1) 0.0398 1e-4.
Proof.
  destruct table_with_binary64_angles as (_ & _ & _ & _ & _ & once & _).
  unfold rounds_up in *; set (x := once_loss _ _ _ _) in *.
  pose proof (pow_incr 1.003906 (1 + x) 10 ltac:(lra)) as lo.
  pose proof (pow_incr (1 + x) 1.003907 10 ltac:(lra)) as hi; simpl pow in *; lra.
Qed.

(** ** An angle in binary32 that is off *)

Lemma nearest_is prec emin e n x :
  (0 < prec)%Z -> (emin <= e - prec)%Z ->
  bpow radix2 (e - 1) <= Rabs x < bpow radix2 e ->
  Rabs (x * bpow radix2 (prec - e) - IZR n) < / 2 ->
  to_nearest prec emin x = IZR n * bpow radix2 (e - prec).
Proof.
  intros pos low size near; unfold to_nearest, round, scaled_mantissa, cexp, FLT_exp, F2R.
  rewrite (mag_unique radix2 x e size), Z.max_l by lia; simpl Fnum; simpl Fexp.
  replace (- (e - prec))%Z with (prec - e)%Z by lia; rewrite (Znearest_imp _ _ n near); reflexivity.
Qed.

Ltac by_cases := unfold Rabs; repeat destruct (Rcase_abs _); lra.

(** The frequency 1/10 is the one of pair 16 in a head of 128 numbers with base 10000. *)
Lemma tenth_is : to32 (1 / 10) = 13421773 / 134217728.
Proof.
  unfold to32; rewrite (nearest_is _ _ (-3) 13421773); try lia; simpl; by_cases.
Qed.

(** DEC-12: at position 655363 the angle is off by 3/640, which is more than 2^-8; at 81921 by
    3/5120, more than 2^-11. *)
Example angle_is_off :
  to32 (655363 * to32 (1 / 10)) - 655363 * (1 / 10) = 3 / 640 /\
  Rabs (to32 (81921 * to32 (1 / 10)) - 81921 * (1 / 10)) = 3 / 5120.
Proof.
  rewrite tenth_is; split.
  - unfold to32; rewrite (nearest_is _ _ 17 8388647); try lia; simpl; by_cases.
  - unfold to32; rewrite (nearest_is _ _ 14 8388711); try lia; simpl; by_cases.
Qed.

(** DEC-12: the product alone, with a frequency that binary32 has, is off by almost 1/32 at position
    524289. *)
Example product_is_off :
  let f := 1 - / 2 ^ 24 in
  to32 f = f /\ 524289 * f - to32 (524289 * f) = 1 / 32 - / 2 ^ 24.
Proof.
  intros f; unfold f; clear f; split.
  - unfold to32; rewrite (nearest_is _ _ 0 16777215); try lia; simpl; by_cases.
  - unfold to32; rewrite (nearest_is _ _ 20 8388623); try lia; simpl; by_cases.
Qed.

(** ** What an angle that is off does to a pair *)

(** DEC-12: where the angles of all pairs are off by a, exact rotations are apart by 2 |sin (a / 2)|
    of the length. *)
Theorem angles_are_felt h m f p g q a k :
  (1 <= h)%nat ->
  (forall i, (i < m * (2 * h))%nat -> p * theta h f i - q * theta h g i = a) ->
  norm (m * (2 * h)) (minus (rotate h f p k) (rotate h g q k)) =
  2 * Rabs (sin (a / 2)) * norm (m * (2 * h)) k.
Proof.
  intros h1 off; set (d := (m * (2 * h))%nat) in *.
  rewrite (norm_ext d _ (turned h (fun j => cos (p * f j) - cos (q * g j))
    (fun j => sin (p * f j) - sin (q * g j)) k))
    by (intros i _; unfold minus, rotate, turned, theta; ring).
  replace (2 * Rabs (sin (a / 2))) with (Rabs (2 * sin (a / 2)))
    by (rewrite Rabs_mult, (Rabs_pos_eq 2) by lra; reflexivity).
  rewrite <- norm_scaled; unfold norm; f_equal; unfold d; rewrite turned_square by exact h1.
  fold d; rewrite dot_is_total.
  apply total_same; intros i ini; apply in_seq in ini.
  specialize (off i ltac:(lia)); unfold theta in *; rewrite angles_apart, off.
  ring.
Qed.

Lemma sine_of_small x : 0 <= x <= 1 -> x - x * x * x / 6 <= sin x.
Proof.
  intros [x0 x1]; destruct (pre_sin_bound x 0 x0 ltac:(lra)) as [lo _].
  apply Rle_trans with (2 := lo); apply Req_le; unfold sin_approx, sin_term; simpl; lra.
Qed.

Lemma norm_of_east : norm 2 east = 1.
Proof.
  transitivity (sqrt 1); [unfold norm; apply f_equal; simpl; ring | apply sqrt_1].
Qed.

(** What a rotation by the computed angle is from one by the right one. *)
Lemma east_is_off a :
  0 <= a - 655363 * (1 / 10) <= 1 ->
  let e := (a - 655363 * (1 / 10)) / 2 in
  2 * (e - e * e * e / 6) <=
  norm 2 (minus (rotate 1 (fun _ => a) 1 east) (rotate 1 (fun _ => 1 / 10) 655363 east)).
Proof.
  intros near e.
  pose proof (angles_are_felt 1 1 (fun _ => a) 1 (fun _ => 1 / 10) 655363 (2 * e) east (le_n 1)
    ltac:(intros; unfold theta, e; field)) as felt.
  change (1 * (2 * 1))%nat with 2%nat in felt; rewrite felt, norm_of_east.
  replace (2 * e / 2) with e by field.
  pose proof (sine_of_small e ltac:(unfold e; lra)); pose proof (Rle_abs (sin e)); lra.
Qed.

(** DEC-12: so a rotation in binary32 with a correctly rounded library is off by more than
    bfloat16 loses, in a head of one pair: k = (1, 0), position 655363, frequency 1/10. *)
Example turn32_is_off :
  let off := norm 2 (minus (turn32 1 (fun _ => 1 / 10) 655363 east)
    (rotate 1 (fun _ => 1 / 10) 655363 east)) in
  46 / 10000 <= off /\ unit bfloat16 < off.
Proof.
  intros off; assert (46 / 10000 <= off) as low.
  2:{ split; [exact low|]; apply Rlt_le_trans with (2 := low); simpl; lra. }
  set (a := to32 (655363 * to32 (1 / 10))).
  assert (a - 655363 * (1 / 10) = 3 / 640) as E by apply angle_is_off.
  destruct formats_positive as (u0 & t0 & _); destruct formats_keep as (_ & _ & K & _).
  assert (norm 2 (minus (turn32 1 (fun _ => 1 / 10) 655363 east) (rotate 1 (fun _ => a) 1 east)) <=
    turn_loss binary32 0 eta32 * norm 2 east + turn_least binary32 * sqrt (INR 2)) as near.
  { apply (turn_is_near 1 1 (le_n 1) binary32 0 eta32 (fun _ => a) 1 east); try assumption.
    - lra.
    - apply Rlt_le, Rinv_0_lt_compat, pow_lt; lra.
    - exists (fun _ => a), (fun _ => to32 (cos a)), (fun _ => to32 (sin a)),
        (fun i => to32 (to32 (cos a) * east i)),
        (fun i => to32 (to32 (sin a) * east (partner 1 i))).
      intros i _; unfold theta; repeat split; try apply K; try apply eta32_is.
      rewrite Rmult_1_l; unfold Rminus; rewrite Rplus_opp_r, Rabs_R0; lra. }
  pose proof (east_is_off a ltac:(lra)) as far; cbv zeta in far; rewrite E in far.
  pose proof (norm_over 2 (turn32 1 (fun _ => 1 / 10) 655363 east)
    (rotate 1 (fun _ => 1 / 10) 655363 east) (rotate 1 (fun _ => a) 1 east)) as over.
  rewrite (norm_sym 2 (rotate 1 (fun _ => a) 1 east)
    (turn32 1 (fun _ => 1 / 10) 655363 east)) in over.
  rewrite norm_of_east in near; fold off in over.
  pose proof (turn_loss_between binary32 0 eta32 u0
    ltac:(apply Rlt_le, Rinv_0_lt_compat, pow_lt; lra)) as [_ loss].
  assert (turn_least binary32 * sqrt (INR 2) <= 1 / 1000000) as least.
  { change (INR 2) with (1 + 1); replace (1 + 1) with 2 by ring.
    pose proof sqrt2_between as [_ hi]; pose proof tiny_32 as [t _].
    assert (tiny binary32 <= / 2 ^ 30) by (apply small_power; lia).
    unfold turn_least; simpl unit; simpl pow in *; destruct sqrt2 as [r0 _].
    generalize dependent (tiny binary32); intros x; intros.
    apply Rle_trans with ((3 + 2 * / 2 ^ 24) * x * 2); [|simpl; lra].
    apply Rmult_le_compat_l; [|lra]; simpl; lra. }
  assert (turn_loss binary32 0 eta32 <= 1 / 1000000).
  { apply Rle_trans with (1 := loss); unfold loss_at, eta32; simpl unit; simpl pow; lra. }
  lra.
Qed.
