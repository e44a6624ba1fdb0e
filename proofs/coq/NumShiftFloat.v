(* SPDX-License-Identifier: Apache-2.0 *)
(** * Errors of changed scores as a program computes them (spec/tolerance.md: NUM-15)

    The operations of ref/score_shift.c in their order, over any numbers with the operations of
    binary64 and a tanh that a library computes within 2^-50. What they give, if it is finite, is at
    least what the formula says of the exact score, together with the error of the shift. *)
From Coq Require Import Reals ZArith Bool Lra Lia Psatz.
From Flocq Require Import Core.
From Chunkproof Require Import NumFloat NumFloatUp NumFloatParts.
From Chunkproof Require NumCore NumShift.
Open Scope R_scope.

Section Shifts.
Variable o : ops.
Variable B : binary64 o.
Local Notation num := (F o).
Local Notation fin := (finite B).
Local Notation val := (value B).
Local Notation up_plus := (NumFloat.up_plus o).
Local Notation up_times := (NumFloat.up_times o).
Local Notation growth := (NumFloat.growth o).
Local Notation one := (NumFloat.one o).
Local Notation zero := (NumFloat.zero o).

(** The library's tanh. *)
Variable tanh_of : num -> num.
Hypothesis tanh_near : forall x, fin x -> within (val (tanh_of x)) (tanh (val x)).

(** ** The program *)

Record arithmetic := Arithmetic { a_unit : num; a_tiny : num; a_tanh : num; a_absolute : num }.
Record changed := Changed { now : num; off : num; error : num }.

Variable a : arithmetic.
Variable score_error sigma : num.

Definition largest (s : changed) : num :=
  up_plus (up_plus (up_plus (abs o (now s)) (off s)) score_error) (up_plus sigma (error s)).

Definition argument (s : changed) (c : num) : num := div o (now s) c.

Definition cap (s : changed) (c : num) : changed :=
  let relative := growth (a_unit a) 5 (a_tanh a) 1 in
  let product := up_plus one (growth (a_unit a) 2 zero 0) in
  let below := up_times (up_plus one (a_tanh a)) (a_tiny a) in
  let lost := up_times c (up_plus below (a_absolute a)) in
  let v := mul o c (tanh_of (argument s c)) in
  let far := up_plus (off s) (up_plus (up_times (pow2 o (-49)) (abs o v))
                                      (up_times (pow2 o (-1072)) (up_plus one c))) in
  let of_score := up_times relative (largest (Changed v far (error s))) in
  Changed v far (up_plus (up_plus (error s) of_score)
                         (up_plus (up_times lost product) (a_tiny a))).

Definition bias (s : changed) (x : num) : changed :=
  let relative := growth (a_unit a) 3 zero 0 in
  let here := up_plus (up_times (pow2 o (-53)) (abs o x)) (pow2 o (-1072)) in
  let size := up_plus (abs o x) here in
  let lost := up_times (up_plus one relative) (up_plus (up_times relative size) (a_tiny a)) in
  let v := add o (now s) x in
  let far := up_plus (up_plus (off s) here) (up_times (pow2 o (-52)) (abs o v)) in
  let of_sum := up_times relative (largest (Changed v far (error s))) in
  Changed v far (up_plus (up_plus (error s) lost) (up_plus of_sum (a_tiny a))).

(** The shift of a capped score, and its error. *)
Definition begin (score : num) : changed := Changed score zero zero.
Definition shift_of (s : changed) (score : num) : num * num :=
  let shift := sub o (now s) score in
  let far := up_plus (off s) (up_times (pow2 o (-52)) (abs o shift)) in
  (shift, up_plus (error s) (up_plus far score_error)).

(** The same of a bias alone. *)
Definition shift_of_bias (s : changed) (x : num) : num * num :=
  (x, up_plus (error s) (up_plus (up_plus (off s) (up_times (pow2 o (-52)) (abs o x))) zero)).

Definition sink (x : num) : num :=
  let twice := up_plus (of_int o 2) (growth (a_unit a) 2 zero 0) in
  up_plus (up_times (growth (a_unit a) 3 zero 0) (abs o x)) (up_times twice (a_tiny a)).

(** ** What it computes *)

Hypothesis unit_ok : good o B (a_unit a).
Hypothesis tiny_ok : good o B (a_tiny a).
Hypothesis tanh_ok : good o B (a_tanh a).
Hypothesis absolute_ok : good o B (a_absolute a).
Hypothesis score_error_ok : 0 <= val score_error.
Hypothesis sigma_ok : 0 <= val sigma.

Definition class : NumShift.shift_class :=
  NumShift.Shift_class (val (a_unit a)) (val (a_tiny a)) (val (a_tanh a)) (val (a_absolute a)).

Lemma class_ok : NumShift.shift_class_ok class.
Proof.
  repeat split; simpl; [apply unit_ok | apply tiny_ok | apply tanh_ok | apply absolute_ok].
Qed.

(** s is on its way: given is what the score given has become, exact the exact score; e is the
    formula. *)
Definition on_the_way (s : changed) (given exact e : R) : Prop :=
  Rabs (val (now s) - given) <= val (off s) /\ Rabs (given - exact) <= val score_error /\
  0 <= e <= val (error s).

Lemma up2 x y : fin (up_plus x y) -> fin x /\ fin y /\ val x + val y <= val (up_plus x y).
Proof. apply up_plus_is_up. Qed.
Lemma times2 x y : fin (up_times x y) -> fin x /\ fin y /\ val x * val y <= val (up_times x y).
Proof. apply up_times_is_up. Qed.

(** At least the size of the exact score, and of what a kernel's is off before. *)
Lemma largest_is_up s given exact e :
  fin (largest s) -> on_the_way s given exact e ->
  fin (now s) /\ fin (off s) /\ fin (error s) /\
  0 <= Rabs exact + (val sigma + e) <= val (largest s).
Proof.
  unfold largest; intros f [N [G E]].
  destruct (up2 _ _ f) as [f1 [f2 l]]; destruct (up2 _ _ f1) as [f3 [f4 l1]].
  destruct (up2 _ _ f3) as [f5 [f6 l3]]; destruct (up2 _ _ f2) as [f7 [f8 l2]].
  rewrite (val_abs o B) in l3.
  pose proof (Rabs_triang (exact - given) given) as T1.
  replace (exact - given + given) with exact in T1 by ring.
  rewrite <- (Rabs_Ropp (exact - given)) in T1.
  replace (- (exact - given)) with (given - exact) in T1 by ring.
  pose proof (Rabs_triang (given - val (now s)) (val (now s))) as T2.
  replace (given - val (now s) + val (now s)) with given in T2 by ring.
  rewrite <- (Rabs_Ropp (given - _)) in T2.
  replace (- (given - val (now s))) with (val (now s) - given) in T2 by ring.
  pose proof (Rabs_pos exact).
  split; [exact (fin_abs o B _ f5)|]; split; [exact f6|]; split; [exact f8|]; lra.
Qed.

Lemma good_zero : good o B zero.
Proof. apply good_whole; lia. Qed.

Lemma zero_val : val zero = 0.
Proof. apply (proj2 (zero_is o B)). Qed.

Lemma one_val : val one = 1.
Proof. apply (proj2 (one_is o B)). Qed.

Lemma roundings_are_up k : (0 <= Z.of_nat k <= 2 ^ 31)%Z ->
  fin (growth (a_unit a) (Z.of_nat k) zero 0) ->
  0 <= NumShift.roundings class k <= val (growth (a_unit a) (Z.of_nat k) zero 0).
Proof.
  intros small f; split; [apply NumShift.roundings_pos; apply unit_ok|].
  pose proof (growth_is_up o B _ _ _ _ f small ltac:(lia) unit_ok good_zero) as G.
  rewrite Nat2Z.id in G; simpl in G; unfold NumShift.roundings; simpl; lra.
Qed.

Lemma rises x y x' y' : 0 <= x <= x' -> 0 <= y <= y' -> 0 <= x * y <= x' * y'.
Proof. intros; nra. Qed.

(** NUM-15: the bias, which is off by one rounding of binary64 itself. *)
Theorem bias_is_up s given exact e x x0 :
  fin (error (bias s x)) -> on_the_way s given exact e ->
  Rabs (val x - x0) <= u * Rabs (val x) + smallest ->
  on_the_way (bias s x) (given + x0) (exact + x0)
             (e + NumShift.bias_error class x0 (exact + x0) (val sigma + e)).
Proof.
  unfold bias; cbn [error]; intros f W near.
  set (relative := growth _ 3 _ 0) in *.
  set (here := up_plus (up_times (pow2 o (-53)) _) _) in *.
  set (size := up_plus (abs o x) here) in *; set (v := add o (now s) x) in *.
  set (far := up_plus (up_plus (off s) here) _) in *.
  destruct (up2 _ _ f) as [f1 [f2 l]]; destruct (up2 _ _ f1) as [fe [fl l1]].
  destruct (up2 _ _ f2) as [fs [_ l2]]; destruct (times2 _ _ fs) as [fr [fg ls]].
  destruct (times2 _ _ fl) as [_ [fb ll]]; destruct (up2 _ _ fb) as [fp [_ lb]].
  destruct (times2 _ _ fp) as [_ [fz lp]]; destruct (up2 _ _ fz) as [_ [fh lz]].
  destruct (up2 _ _ fh) as [fh1 [_ lh]]; destruct (times2 _ _ fh1) as [_ [_ lh1]].
  assert (fin (up_plus one relative)) as fo by (apply (times2 _ _ fl)).
  destruct (up2 _ _ fo) as [_ [_ lo]]; rewrite one_val in lo.
  destruct (of_pow2 o B (-53) ltac:(lia)) as [_ p53]; rewrite unit_is in p53.
  destruct (of_pow2 o B (-1072) ltac:(lia)) as [_ p1072].
  assert (bpow radix2 (-1072) = 4 * smallest) as Es.
  { unfold smallest; change 4 with (bpow radix2 2); rewrite <- bpow_plus; reflexivity. }
  rewrite p1072, Es in lh; rewrite p53, (val_abs o B) in lh1; rewrite (val_abs o B) in lz.
  fold here in lh, lz; fold size in lz, lp, lb, ll, l1; fold relative in lo.
  pose proof smallest_pos as s0.
  assert (Rabs (val x - x0) <= val here) as nh by lra.
  assert (0 <= Rabs x0 <= val size) as sx.
  { pose proof (Rabs_triang (x0 - val x) (val x)) as T.
    replace (x0 - val x + val x) with x0 in T by ring.
    rewrite <- Rabs_Ropp in nh; replace (- (val x - x0)) with (x0 - val x) in nh by ring.
    pose proof (Rabs_pos x0); lra. }
  destruct W as [N [G E]].
  (* The sum that is computed here. *)
  assert (fin v /\ fin far) as [fv ff].
  { unfold largest in fg; cbn [now off error] in fg; destruct (up2 _ _ fg) as [g1 _].
    destruct (up2 _ _ g1) as [g2 _]; destruct (up2 _ _ g2) as [g3 [g4 _]].
    split; [exact (fin_abs o B _ g3) | exact g4]. }
  destruct (up2 _ _ ff) as [fa [ft lf]]; destruct (up2 _ _ fa) as [_ [_ la]].
  destruct (times2 _ _ ft) as [_ [_ lt]]; fold far in lf; fold v in lt, lf.
  destruct (of_pow2 o B (-52) ltac:(lia)) as [_ p52]; rewrite p52, (val_abs o B) in lt.
  replace (bpow radix2 (-52)) with (2 * u) in lt by (unfold u; simpl; lra).
  destruct (of_add o B _ _ fv) as [_ [_ V]]; fold v in V.
  pose proof (rnd_plus_error (val (now s)) (val x) (value_is_double o B _) (value_is_double o B _))
    as R; rewrite <- V in R.
  assert (Rabs (val v - (val (now s) + val x)) <= 2 * u * Rabs (val v)) as R'.
  { pose proof (Rabs_triang (val (now s) + val x - val v) (val v)) as T.
    replace (val (now s) + val x - val v + val v) with (val (now s) + val x) in T by ring.
    rewrite <- Rabs_Ropp in R.
    replace (- (val v - (val (now s) + val x))) with (val (now s) + val x - val v) in R by ring.
    rewrite Rabs_minus_sym; set (y := Rabs (val (now s) + val x)) in *.
    set (w := Rabs (val v)) in *; assert (0 <= w) by apply Rabs_pos; unfold u in *; lra. }
  assert (on_the_way (Changed v far (error s)) (given + x0) (exact + x0) e) as W.
  { unfold on_the_way; cbn [now off error]; split; [|split; [|exact E]].
    - pose proof (Rabs_triang (val v - (val (now s) + val x))
                              ((val (now s) - given) + (val x - x0))) as T1.
      pose proof (Rabs_triang (val (now s) - given) (val x - x0)) as T2.
      replace (val v - (val (now s) + val x) + (val (now s) - given + (val x - x0)))
        with (val v - (given + x0)) in T1 by ring; lra.
    - replace (given + x0 - (exact + x0)) with (given - exact) by ring; exact G. }
  destruct (largest_is_up _ _ _ _ fg W) as [_ [_ [_ L]]].
  pose proof (roundings_are_up 3 ltac:(lia) fr) as R3; change (Z.of_nat 3) with 3%Z in R3;
    fold relative in R3.
  pose proof (proj2 tiny_ok) as t0.
  set (g := NumShift.roundings class 3) in *.
  pose proof (rises _ _ _ _ R3 sx) as P1.
  assert (0 <= 1 + g <= val (up_plus one relative)) as A1 by lra.
  assert (0 <= g * Rabs x0 + val (a_tiny a) <= val (up_plus (up_times relative size) (a_tiny a)))
    as A2 by lra.
  pose proof (rises _ _ _ _ A1 A2) as P2; pose proof (rises _ _ _ _ R3 L) as P3.
  destruct W as [N' [G' _]]; split; [exact N' | split; [exact G'|]]; cbn [error].
  unfold NumShift.bias_error; fold g.
  replace ((1 + NumShift.s_unit class) ^ 3) with (1 + g) by (unfold g, NumShift.roundings; ring).
  change (NumShift.s_tiny class) with (val (a_tiny a)).
  assert (g * (Rabs (exact + x0) + (val sigma + e)) = g * (Rabs (exact + x0) + (val sigma + e)))
    by reflexivity.
  lra.
Qed.

(** A capped score, as it is computed here. *)
Lemma capped_here v x c w :
  0 < c -> Rabs (x - v / c) <= u * Rabs (v / c) + smallest / 2 -> within w (tanh x) ->
  Rabs (rnd (c * w) - NumShift.capped c v)
    <= 16 * u * Rabs (rnd (c * w)) + 4 * smallest * (1 + c).
Proof.
  intros c0 one two; pose proof smallest_pos as s0.
  assert (NumShift.off_by (8 * u) smallest (tanh x) w) as two'.
  { unfold NumShift.off_by, within in *; apply Rle_trans with (1 := two).
    pose proof (Rabs_pos (tanh x)); assert (0 <= 8 * u * Rabs (tanh x)) by (unfold u; lra).
    apply Rmax_lub; lra. }
  assert (0 <= u <= 1) as u0 by (unfold u; lra).
  pose proof (NumShift.tanh_is_near u (smallest / 2) (8 * u) smallest (v / c) x w u0
                ltac:(lra) ltac:(unfold u; lra) one two') as T.
  unfold NumShift.off_by in T; apply (Rmult_le_compat_l c) in T; [|lra].
  rewrite <- (Rabs_pos_eq c) in T at 1 by lra; rewrite <- Rabs_mult, Rmult_minus_distr_l in T.
  pose proof (rnd_error (c * w)) as three.
  unfold NumShift.capped; set (P := c * tanh (v / c)) in *; set (r := rnd (c * w)) in *.
  assert (c * Rabs (tanh (v / c)) = Rabs P) as EP
    by (unfold P; rewrite Rabs_mult, (Rabs_pos_eq c) by lra; reflexivity).
  rewrite Rmult_plus_distr_l in T.
  replace (c * (((1 + u) * (1 + 8 * u) - 1) * Rabs (tanh (v / c))))
    with (((1 + u) * (1 + 8 * u) - 1) * Rabs P) in T by (rewrite <- EP; ring).
  assert (0 <= c * smallest) as cs by (apply Rmult_le_pos; lra).
  assert (Rabs (c * w - P) <= 10 * u * Rabs P + 2 * (c * smallest)) as T'.
  { pose proof (Rabs_pos P); unfold u in *; lra. }
  pose proof (Rabs_triang (r - c * w) (c * w - P)) as D.
  replace (r - c * w + (c * w - P)) with (r - P) in D by ring.
  pose proof (Rabs_triang (c * w - P) P) as S.
  replace (c * w - P + P) with (c * w) in S by ring.
  pose proof (Rabs_triang (P - r) r) as Q; replace (P - r + r) with P in Q by ring.
  rewrite (Rabs_minus_sym P r) in Q.
  pose proof (Rabs_pos P); pose proof (Rabs_pos r).
  unfold u in *; lra.
Qed.

(** NUM-15: the cap. *)
Theorem cap_is_up s given exact e c :
  fin (error (cap s c)) -> fin (argument s c) -> on_the_way s given exact e -> 0 < val c ->
  on_the_way (cap s c) (NumShift.capped (val c) given) (NumShift.capped (val c) exact)
    (e + NumShift.cap_error class (val c) (NumShift.capped (val c) exact) (val sigma + e)).
Proof.
  unfold cap; cbn [error]; intros f fx W c0.
  set (relative := growth _ 5 _ 1) in *; set (product := up_plus one (growth _ 2 _ 0)) in *.
  set (below := up_times (up_plus one (a_tanh a)) _) in *; set (lost := up_times c _) in *.
  set (v := mul o c _) in *; set (far := up_plus (off s) _) in *.
  destruct (up2 _ _ f) as [f1 [f2 l]]; destruct (up2 _ _ f1) as [fe [fs l1]].
  destruct (up2 _ _ f2) as [fp [_ l2]]; destruct (times2 _ _ fp) as [fl [fq lp]].
  destruct (times2 _ _ fs) as [fr [fg ls]]; destruct (times2 _ _ fl) as [fc [fb ll]].
  destruct (up2 _ _ fb) as [fw [_ lb]]; destruct (times2 _ _ fw) as [ft [_ lw]].
  destruct (up2 _ _ ft) as [_ [_ lt]]; destruct (up2 _ _ fq) as [_ [fq2 lq]].
  rewrite one_val in lt, lq; fold product in lq; fold below in lw, lb; fold lost in ll.
  assert (fin v /\ fin far) as [fv ff].
  { unfold largest in fg; cbn [now off error] in fg; destruct (up2 _ _ fg) as [g1 _].
    destruct (up2 _ _ g1) as [g2 _]; destruct (up2 _ _ g2) as [g3 [g4 _]].
    split; [exact (fin_abs o B _ g3) | exact g4]. }
  destruct (up2 _ _ ff) as [_ [fh lf]]; destruct (up2 _ _ fh) as [fh1 [fh2 lh]].
  destruct (times2 _ _ fh1) as [_ [_ lh1]]; destruct (times2 _ _ fh2) as [_ [fh3 lh2]].
  destruct (up2 _ _ fh3) as [_ [_ lh3]]; rewrite one_val in lh3.
  destruct (of_pow2 o B (-49) ltac:(lia)) as [_ p49]; rewrite p49, (val_abs o B) in lh1.
  destruct (of_pow2 o B (-1072) ltac:(lia)) as [_ p1072]; rewrite p1072 in lh2.
  replace (bpow radix2 (-49)) with (16 * u) in lh1 by (unfold u; simpl; lra).
  assert (bpow radix2 (-1072) = 4 * smallest) as Es.
  { unfold smallest; change 4 with (bpow radix2 2); rewrite <- bpow_plus; reflexivity. }
  fold far in lf; fold v in lh1; rewrite Es in lh2; pose proof smallest_pos as s0.
  assert (4 * smallest * (1 + val c) <= 4 * smallest * val (up_plus one c)) as lh4
    by (apply Rmult_le_compat_l; lra).
  destruct W as [N [G E]].
  destruct (of_mul o B _ _ fv) as [_ [_ V]]; fold v in V.
  destruct (of_div o B _ _ fx fc) as [_ [_ X]].
  pose proof (rnd_error (val (now s) / val c)) as R; rewrite <- X in R.
  pose proof (capped_here _ _ _ _ c0 R (tanh_near _ fx)) as H.
  fold (argument s c) in H; rewrite <- V in H.
  pose proof (NumShift.capped_is_no_steeper (val c) (val (now s)) given c0) as still.
  assert (on_the_way (Changed v far (error s)) (NumShift.capped (val c) given)
            (NumShift.capped (val c) exact) e) as W.
  { unfold on_the_way; cbn [now off error]; split; [|split; [|exact E]].
    - pose proof (Rabs_triang (val v - NumShift.capped (val c) (val (now s)))
        (NumShift.capped (val c) (val (now s)) - NumShift.capped (val c) given)) as T.
      replace (val v - NumShift.capped (val c) (val (now s)) +
        (NumShift.capped (val c) (val (now s)) - NumShift.capped (val c) given))
        with (val v - NumShift.capped (val c) given) in T by ring; lra.
    - apply Rle_trans with (2 := G), NumShift.capped_is_no_steeper, c0. }
  destruct (largest_is_up _ _ _ _ fg W) as [_ [_ [_ L]]].
  pose proof (growth_is_up o B _ _ _ _ fr ltac:(lia) ltac:(lia) unit_ok tanh_ok) as R5.
  fold relative in R5.
  pose proof (roundings_are_up 2 ltac:(lia) fq2) as R2; change (Z.of_nat 2) with 2%Z in R2.
  pose proof (NumShift.roundings_pos class 5 (proj2 unit_ok)) as g5.
  pose proof (proj2 tiny_ok) as t0; pose proof (proj2 tanh_ok) as h0.
  pose proof (proj2 absolute_ok) as a0.
  unfold NumShift.roundings in g5; simpl NumShift.s_unit in g5.
  change (Z.to_nat 5) with 5%nat in R5; change (Z.to_nat 1) with 1%nat in R5.
  set (U := (1 + val (a_unit a)) ^ 5) in *.
  assert (0 <= U * (1 + val (a_tanh a)) - 1 <= val relative) as R5'.
  { split; [|simpl in R5; lra].
    assert (0 <= (U - 1) * (1 + val (a_tanh a))) by (apply Rmult_le_pos; lra); lra. }
  pose proof (rises _ _ _ _ R5' L) as P1.
  assert (0 <= 1 + val (a_tanh a) <= val (up_plus one (a_tanh a))) as A1 by lra.
  assert (0 <= val (a_tiny a) <= val (a_tiny a)) as A2 by lra.
  pose proof (rises _ _ _ _ A1 A2) as P2.
  assert (0 <= (1 + val (a_tanh a)) * val (a_tiny a) + val (a_absolute a)
            <= val (up_plus below (a_absolute a))) as A3 by lra.
  assert (0 <= val c <= val c) as A4 by lra.
  pose proof (rises _ _ _ _ A4 A3) as P3.
  set (lose := val c * ((1 + val (a_tanh a)) * val (a_tiny a) + val (a_absolute a))) in *.
  assert (0 <= lose <= val lost) as A5 by lra.
  assert (0 <= 1 + NumShift.roundings class 2 <= val product) as A6 by lra.
  pose proof (rises _ _ _ _ A5 A6) as P4.
  destruct W as [N' [G' _]]; split; [exact N' | split; [exact G'|]]; cbn [error].
  unfold NumShift.cap_error; simpl NumShift.s_unit; simpl NumShift.s_tiny; simpl NumShift.tau;
    simpl NumShift.alpha; fold U; fold lose.
  replace ((1 + val (a_unit a)) ^ 2) with (1 + NumShift.roundings class 2)
    by (unfold NumShift.roundings; simpl NumShift.s_unit; ring).
  lra.
Qed.

(** The shift of the score given, as a shift of the exact one. *)
Lemma shift_is_up s score given exact0 exact e :
  fin (fst (shift_of s score)) -> fin (snd (shift_of s score)) ->
  on_the_way s given exact e ->
  Rabs ((given - val score) - (exact - exact0)) <= val score_error ->
  e + Rabs (val (fst (shift_of s score)) - (exact - exact0)) <= val (snd (shift_of s score)).
Proof.
  unfold shift_of; cbn [fst snd]; intros fs f [N [G E]] still.
  destruct (up2 _ _ f) as [_ [f2 l]]; destruct (up2 _ _ f2) as [f3 [_ l2]].
  destruct (up2 _ _ f3) as [_ [ft l3]]; destruct (times2 _ _ ft) as [_ [_ lt]].
  destruct (of_pow2 o B (-52) ltac:(lia)) as [_ p52]; rewrite p52, (val_abs o B) in lt.
  replace (bpow radix2 (-52)) with (2 * u) in lt by (unfold u; simpl; lra).
  destruct (of_sub o B _ _ fs) as [_ [_ V]].
  pose proof (rnd_plus_error (val (now s)) (- val score) (value_is_double o B _)
                (double_opp _ (value_is_double o B _))) as R.
  change (val (now s) + - val score) with (val (now s) - val score) in R; rewrite <- V in R.
  set (d := sub o (now s) score) in *; set (y := val (now s) - val score) in *.
  assert (Rabs (val d - y) <= 2 * u * Rabs (val d)) as R'.
  { pose proof (Rabs_triang (y - val d) (val d)) as T.
    replace (y - val d + val d) with y in T by ring.
    rewrite (Rabs_minus_sym y) in T; pose proof (Rabs_pos (val d)); unfold u in *; lra. }
  pose proof (Rabs_triang (val d - y) ((val (now s) - given) +
                ((given - val score) - (exact - exact0)))) as T1.
  pose proof (Rabs_triang (val (now s) - given) ((given - val score) - (exact - exact0))) as T2.
  replace (val d - y + (val (now s) - given + (given - val score - (exact - exact0))))
    with (val d - (exact - exact0)) in T1 by (unfold y; ring).
  lra.
Qed.

Lemma begins score exact :
  Rabs (val score - exact) <= val score_error -> on_the_way (begin score) (val score) exact 0.
Proof.
  intros near; unfold begin, on_the_way; cbn [now off error].
  rewrite zero_val, Rminus_eq_0, Rabs_R0.
  repeat split; try lra; exact near.
Qed.

(** NUM-15, a cap and then a bias: the shift and its error, of the exact score s and bias x0. *)
Theorem cap_then_bias_is_up score s c x x0 :
  let capped := cap (begin score) c in
  let both := bias capped x in
  fin (argument (begin score) c) -> fin (fst (shift_of both score)) ->
  fin (snd (shift_of both score)) -> 0 < val c -> Rabs (val score - s) <= val score_error ->
  Rabs (val x - x0) <= u * Rabs (val x) + smallest ->
  let s' := NumShift.capped (val c) s in
  let e := NumShift.cap_error class (val c) s' (val sigma) in
  e + NumShift.bias_error class x0 (s' + x0) (val sigma + e)
    + Rabs (val (fst (shift_of both score)) - (s' + x0 - s)) <= val (snd (shift_of both score)).
Proof.
  intros capped both fa fs f c0 near nx s' e.
  assert (fin (error both)) as fb by (unfold shift_of in f; apply (up2 _ _ f)).
  assert (fin (error capped)) as fc.
  { unfold both, bias in fb; cbn [error] in fb; destruct (up2 _ _ fb) as [g _].
    apply (up2 _ _ g). }
  pose proof (cap_is_up _ _ _ _ _ fc fa (begins _ _ near) c0) as W; fold s' in W.
  rewrite Rplus_0_l, Rplus_0_r in W; fold e in W.
  pose proof (bias_is_up _ _ _ _ _ _ fb W nx) as W2.
  apply shift_is_up with (3 := W2); try assumption.
  pose proof (NumShift.shift_of_another_score (val c) s (val score) _ c0 near) as Q; fold s' in Q.
  replace (NumShift.capped (val c) (val score) + x0 - val score - (s' + x0 - s))
    with (NumShift.capped (val c) (val score) - val score - (s' - s)) by ring; exact Q.
Qed.

(** NUM-15, a bias and then a cap. *)
Theorem bias_then_cap_is_up score s c x x0 :
  let sum := bias (begin score) x in
  let both := cap sum c in
  fin (argument sum c) -> fin (fst (shift_of both score)) ->
  fin (snd (shift_of both score)) -> 0 < val c -> Rabs (val score - s) <= val score_error ->
  Rabs (val x - x0) <= u * Rabs (val x) + smallest ->
  let e := NumShift.bias_error class x0 (s + x0) (val sigma) in
  let s' := NumShift.capped (val c) (s + x0) in
  e + NumShift.cap_error class (val c) s' (val sigma + e)
    + Rabs (val (fst (shift_of both score)) - (s' - s)) <= val (snd (shift_of both score)).
Proof.
  intros sum both fa fs f c0 near nx e s'.
  assert (fin (error both)) as fb by (unfold shift_of in f; apply (up2 _ _ f)).
  assert (fin (error sum)) as fc.
  { unfold both, cap in fb; cbn [error] in fb; destruct (up2 _ _ fb) as [g _].
    apply (up2 _ _ g). }
  pose proof (bias_is_up _ _ _ _ _ _ fc (begins _ _ near) nx) as W.
  rewrite Rplus_0_l, Rplus_0_r in W; fold e in W.
  pose proof (cap_is_up _ _ _ _ _ fb fa W c0) as W2; fold s' in W2.
  apply shift_is_up with (3 := W2); try assumption.
  pose proof (NumShift.shift_of_another_score (val c) (s + x0) (val score + x0)
                (val score_error) c0) as Q.
  replace (val score + x0 - (s + x0)) with (val score - s) in Q by ring.
  specialize (Q near); fold s' in Q.
  replace (NumShift.capped (val c) (val score + x0) - val score - (s' - s))
    with (NumShift.capped (val c) (val score + x0) - (val score + x0) - (s' - (s + x0))) by ring.
  exact Q.
Qed.

(** NUM-15, a bias alone. *)
Theorem bias_alone_is_up score s x x0 :
  let sum := bias (begin score) x in
  fin (snd (shift_of_bias sum x)) -> Rabs (val score - s) <= val score_error ->
  Rabs (val x - x0) <= u * Rabs (val x) + smallest ->
  NumShift.bias_error class x0 (s + x0) (val sigma) + Rabs (val (fst (shift_of_bias sum x)) - x0)
    <= val (snd (shift_of_bias sum x)).
Proof.
  unfold shift_of_bias; cbn [fst snd]; intros f near nx.
  destruct (up2 _ _ f) as [fe [f1 l]]; destruct (up2 _ _ f1) as [f2 [_ l1]].
  destruct (up2 _ _ f2) as [f3 [f4 l2]]; destruct (times2 _ _ f4) as [_ [_ l4]].
  pose proof (bias_is_up _ _ _ _ _ _ fe (begins _ _ near) nx) as [_ [_ E]].
  rewrite Rplus_0_l, Rplus_0_r in E.
  set (e := NumShift.bias_error class x0 (s + x0) (val sigma)) in *.
  rewrite zero_val in l1; destruct (of_pow2 o B (-52) ltac:(lia)) as [_ p52].
  rewrite p52, (val_abs o B) in l4; pose proof (bpow_gt_0 radix2 (-52)) as b0.
  pose proof (Rmult_le_pos _ _ (Rlt_le _ _ b0) (Rabs_pos (val x))) as b1.
  assert (u * Rabs (val x) + smallest <= val (off (bias (begin score) x))) as K; [|lra].
  clear - f3 b0 score; unfold bias, begin in *; cbn [off now] in *.
  destruct (up2 _ _ f3) as [f5 [f6 l5]]; destruct (up2 _ _ f5) as [_ [f7 l7]].
  destruct (up2 _ _ f7) as [f8 [_ l8]]; destruct (times2 _ _ f8) as [_ [_ l9]].
  destruct (times2 _ _ f6) as [_ [_ l6]]; rewrite zero_val in l7.
  destruct (of_pow2 o B (-53) ltac:(lia)) as [_ p53]; rewrite unit_is in p53.
  destruct (of_pow2 o B (-1072) ltac:(lia)) as [_ p1072].
  destruct (of_pow2 o B (-52) ltac:(lia)) as [_ p52].
  assert (bpow radix2 (-1072) = 4 * smallest) as Es.
  { unfold smallest; change 4 with (bpow radix2 2); rewrite <- bpow_plus; reflexivity. }
  rewrite p1072, Es in l8; rewrite p53, (val_abs o B) in l9; rewrite p52, (val_abs o B) in l6.
  pose proof smallest_pos.
  pose proof (Rmult_le_pos _ _ (Rlt_le _ _ b0) (Rabs_pos (val (add o score x)))) as b2.
  lra.
Qed.

(** NUM-15: the sink. *)
Theorem sink_is_up x : fin (sink x) -> NumShift.sink_error class (val x) <= val (sink x).
Proof.
  unfold sink; intros f; destruct (up2 _ _ f) as [f1 [f2 l]].
  destruct (times2 _ _ f1) as [fr [_ l1]]; destruct (times2 _ _ f2) as [ft [_ l2]].
  destruct (up2 _ _ ft) as [_ [fg lt]]; rewrite (val_abs o B) in l1.
  destruct (of_whole o B 2 ltac:(lia)) as [_ two]; rewrite two in lt.
  pose proof (roundings_are_up 3 ltac:(lia) fr) as R3; change (Z.of_nat 3) with 3%Z in R3.
  pose proof (roundings_are_up 2 ltac:(lia) fg) as R2; change (Z.of_nat 2) with 2%Z in R2.
  pose proof (proj2 tiny_ok) as t0.
  assert (0 <= Rabs (val x) <= Rabs (val x)) as A1 by (pose proof (Rabs_pos (val x)); lra).
  pose proof (rises _ _ _ _ R3 A1) as P1.
  assert (0 <= 2 + NumShift.roundings class 2
            <= val (up_plus (of_int o 2) (growth (a_unit a) 2 zero 0))) as A2 by lra.
  assert (0 <= val (a_tiny a) <= val (a_tiny a)) as A3 by lra.
  pose proof (rises _ _ _ _ A2 A3) as P2.
  unfold NumShift.sink_error; simpl NumShift.s_tiny.
  replace ((1 + NumShift.s_unit class) ^ 2 + 1) with (2 + NumShift.roundings class 2)
    by (unfold NumShift.roundings; ring).
  lra.
Qed.
End Shifts.
