(* SPDX-License-Identifier: Apache-2.0 *)
(** * Errors of scores, and references, as a program computes them (spec/tolerance.md: NUM-6, 7)

    A score is as near to the exact one as its own error says, its error in the class is at least
    the formula's, and the references that are computed enclose those of the formula. *)
From Coq Require Import Reals ZArith Bool List Lra Lia Psatz.
From Flocq Require Import Core.
From Chunkproof Require Import NumFloat NumFloatRow NumFloatUp NumFloatParts NumFloatTerms
  NumFloatScores.
From Chunkproof Require NumCore NumExec NumInvariant.
Import ListNotations.
Open Scope R_scope.

Section References.
Variable o : ops.
Variable B : binary64 o.
Local Notation fin := (finite B).
Local Notation val := (value B).
Local Notation good := (good o B).
Local Notation most := (most o B).
Local Notation larger := (larger o).
Local Notation smaller := (smaller o).
Local Notation real_dot := (real_dot o B).
Local Notation real_magnitude := (real_magnitude o B).

(** ** The error of a score *)

Section Error.
Variables (scale : F o) (q k : list (F o)).
Let d := Z.of_nat (length q).
Hypothesis few : (d <= 2 ^ 20)%Z.
Local Notation here := (here o d).
Local Notation magnitude := (up_times o (magnitude_of o q k) (abs o scale)).

Lemma magnitude_is :
  fin magnitude -> 0 <= Rabs (val scale) * real_magnitude q k <= val magnitude /\ fin scale.
Proof.
  intros f; destruct (up_times_is_up o B _ _ f) as [fm [fs le]].
  pose proof (magnitude_is_up o B q k fm ltac:(unfold d in few; lia)) as up.
  pose proof (magnitude_pos o B q k); rewrite (val_abs o B) in le.
  split; [|exact (fin_abs o B _ fs)]; split; [apply Rmult_le_pos; [apply Rabs_pos | assumption]|].
  rewrite Rmult_comm; apply Rle_trans with (2 := le), Rmult_le_compat_r;
    [apply Rabs_pos | exact up].
Qed.

Lemma error_needs_magnitude a :
  fin (error_of_score o (score_bound_of o a scale d) magnitude) -> fin magnitude.
Proof.
  unfold error_of_score; intros f; destruct (up_plus_is_up o B _ _ f) as [f1 _].
  destruct (up_plus_is_up o B _ _ f1) as [f2 _]; apply (up_times_is_up o B _ _ f2).
Qed.

(** NUM-6, of the class. *)
Theorem sigma_is_up a :
  good_score_class o B a -> fin (error_of_score o (score_bound_of o a scale d) magnitude) ->
  sigma_of o B a (if c_scaled_before o a then 1 else Rabs (val scale)) (IZR d)
    (Rabs (val scale) * real_magnitude q k)
    <= val (error_of_score o (score_bound_of o a scale d) magnitude).
Proof.
  intros ga f; pose proof (error_needs_magnitude a f) as fm.
  apply (score_error_is_up o B a scale d magnitude); try assumption; [unfold d in *; lia|].
  apply magnitude_is, fm.
Qed.

Lemma scale_unit_sign : not_below o (c_scale_unit o here).
Proof.
  apply (sign_mul o B); apply (good_sign o B); [apply good_whole; lia | apply good_pow2; lia].
Qed.

Lemma here_is_good :
  fin (error_of_score o (score_bound_of o here scale d) magnitude) ->
  good_score_class o B here /\ val (c_scale_unit o here) = 3 * u.
Proof.
  unfold error_of_score; intros f; destruct (up_plus_is_up o B _ _ f) as [f1 _].
  destruct (up_plus_is_up o B _ _ f1) as [f2 _].
  destruct (up_times_is_up o B _ _ f2) as [f3 _].
  assert (not_below o (compound o (c_unit o here) (c_depth o here))) as s1.
  { apply (compound_sign o B); [simpl; unfold d in *; lia|].
    apply (good_sign o B), good_pow2; lia. }
  assert (not_below o (NumFloat.up_function o (log1p_of o (c_scale_unit o here)))) as s2.
  { apply (sign_up_function o B), (sign_log1p o B), scale_unit_sign. }
  assert (not_below o (NumFloat.up_function o (log1p_of o (c_term_unit o here)))) as s3.
  { apply (sign_up_function o B), (sign_log1p o B), (good_sign o B), good_pow2; lia. }
  destruct (up_expm1_is_up o B _ f3) as [f4 _].
  { apply (sign_up_plus o B); [exact s3 | apply (sign_up_plus o B); assumption]. }
  destruct (up_plus_is_up o B _ _ f4) as [_ [f5 _]].
  destruct (up_plus_is_up o B _ _ f5) as [_ [f6 _]].
  destruct (up_log1p_is_up o B _ f6) as [f7 _].
  assert (val (c_scale_unit o here) = 3 * u) as V.
  { simpl in *; rewrite (whole_times_power o B 3 (-53)) by (try exact f7; lia); reflexivity. }
  split; [|exact V].
  assert (good (c_scale_unit o here)) as g7 by (split; [exact f7 | rewrite V; unfold u; lra]).
  assert (0 <= d <= 2 ^ 31)%Z as d0 by (unfold d in *; lia).
  repeat match goal with
    | |- good_score_class _ _ _ => unfold good_score_class
    | |- _ /\ _ => split
    | |- NumFloatParts.good _ _ (c_scale_unit _ _) => exact g7
    | |- NumFloatParts.good _ _ (c_tiny _ _) => exact (good_zero o B)
    | |- NumFloatParts.good _ _ _ => apply good_pow2; lia
    | |- (_ <= _)%Z => cbn [c_depth c_additions NumFloatRow.here]; apply d0 end.
Qed.

(** NUM-6, of a score that is computed here. *)
Theorem score_is_as_near_as_claimed :
  fin (mul o scale (dot o q k)) ->
  fin (error_of_score o (score_bound_of o here scale d) magnitude) ->
  Rabs (val (mul o scale (dot o q k)) - val scale * real_dot q k)
    <= val (error_of_score o (score_bound_of o here scale d) magnitude).
Proof.
  intros fs fz; destruct (here_is_good fz) as [gh V].
  apply Rle_trans with (2 := sigma_is_up here gh fz).
  eapply Rle_trans; [apply (score_near o B scale q k fs)|].
  set (c := Rabs (val scale)); set (M := real_magnitude q k); set (n := length (combine q k)).
  assert (0 <= c) as c0 by apply Rabs_pos.
  assert (0 <= M) as M0 by apply magnitude_pos.
  unfold sigma_of; rewrite V; cbn [c_unit c_depth c_term_unit c_term_tiny c_tiny c_additions
    c_scale_tiny c_scaled_before NumFloatRow.here].
  rewrite (proj2 (zero_is o B)), Rmult_0_r, Rplus_0_r.
  rewrite (proj2 (of_pow2 o B (-53) ltac:(lia))), (proj2 (of_pow2 o B (-1074) ltac:(lia))).
  rewrite unit_is; fold smallest.
  assert (Z.to_nat d = length q) as Ed by (unfold d; lia).
  rewrite Ed; unfold d; rewrite <- INR_IZR_INZ; clear Ed.
  assert (n <= length q)%nat as nd by (unfold n; rewrite combine_length; lia).
  pose proof smallest_pos as e0; pose proof u_pos as u0.
  assert ((1 + u) ^ n <= (1 + u) ^ length q) as pq by (apply Rle_pow; [lra | exact nd]).
  rewrite !pow_add; simpl (_ ^ 2); simpl (_ ^ 1); rewrite !Rmult_1_r.
  pose proof (power_1u n) as p1.
  set (p := (1 + u) ^ n) in *; set (P := (1 + u) ^ length q) in *.
  assert (p * ((1 + u) * (1 + u)) <= (1 + u) * (P * (1 + 3 * u))) as A1.
  { replace ((1 + u) * (P * (1 + 3 * u))) with (P * ((1 + u) * (1 + 3 * u))) by ring.
    apply Rmult_le_compat; try lra; [|apply Rmult_le_compat_l; lra].
    apply Rmult_le_pos; lra. }
  assert (INR n * (smallest / 2) * (p * (1 + u)) <= INR (length q) * smallest * (P * (1 + 3 * u)))
    as A2.
  { apply le_INR in nd; pose proof (pos_INR n).
    apply Rmult_le_compat.
    - apply Rmult_le_pos; lra.
    - apply Rmult_le_pos; lra.
    - apply Rmult_le_compat; lra.
    - apply Rmult_le_compat; lra. }
  apply (Rmult_le_compat_l c) in A2; [|exact c0].
  assert ((p * ((1 + u) * (1 + u)) - 1) * (c * M)
          <= ((1 + u) * (P * (1 + 3 * u)) - 1) * (c * M)) as A3
    by (apply Rmult_le_compat_r; [apply Rmult_le_pos; assumption | lra]).
  rewrite Rmult_plus_distr_l, <- (Rmult_assoc c (p * _ - 1)), (Rmult_comm c (p * _ - 1)).
  rewrite (Rmult_assoc (p * _ - 1) c M).
  rewrite (Rmult_assoc c (INR (length q) * smallest)); lra.
Qed.

(** It is a number or infinite, if the magnitude is a number, and the numbers that the magnitude
    does not change are. *)
Lemma own_error_most :
  fin magnitude -> fin (of_magnitude o (score_bound_of o here scale d)) ->
  fin (of_losses o (score_bound_of o here scale d)) \/
  of_losses o (score_bound_of o here scale d) = infinite o ->
  most (error_of_score o (score_bound_of o here scale d) magnitude).
Proof.
  intros fm fr fl; destruct (magnitude_is fm) as [[m0 m1] fs].
  assert (not_below o (compound o (c_unit o here) (c_depth o here))) as s1.
  { apply (compound_sign o B); [simpl; unfold d in *; lia|].
    apply (good_sign o B), good_pow2; lia. }
  assert (not_below o (NumFloat.up_function o (log1p_of o (c_scale_unit o here)))) as s2.
  { apply (sign_up_function o B), (sign_log1p o B), scale_unit_sign. }
  assert (not_below o (NumFloat.up_function o (log1p_of o (c_term_unit o here)))) as s3.
  { apply (sign_up_function o B), (sign_log1p o B), (good_sign o B), good_pow2; lia. }
  unfold error_of_score; repeat apply up_plus_most.
  - apply up_times_most; [|left; exact fm|].
    + split; [exact fr|]; apply (sign_pos o B); [|exact fr].
      apply (sign_up_function o B), (sign_expm1 o B), (sign_up_plus o B); [exact s3|].
      apply (sign_up_plus o B); assumption.
    + left; split; [exact fm | lra].
  - destruct fl as [f | E]; [left; split; [exact f|] | right; exact E].
    apply (sign_pos o B); [|exact f]; apply (sign_up_times o B).
    + apply (sign_up_times o B); [apply (sign_abs o B)|].
      apply (sign_up_plus o B); apply (sign_up_times o B); apply (good_sign o B);
        try (apply good_whole; unfold d in *; simpl; lia); apply good_pow2; lia.
    + apply (sign_up_function o B), (sign_exp o B).
  - left; apply good_pow2; lia.
Qed.
End Error.

(** ** The largest and the smallest *)

Section Folds.
Context {T : Type}.
Variable g : T -> F o.

Lemma fold_larger l first :
  fin first -> (forall x, In x l -> fin (g x)) ->
  let r := fold_left (fun x s => larger x (g s)) l first in
  fin r /\ val first <= val r /\ (forall x, In x l -> val (g x) <= val r) /\
  (r = first \/ exists x, In x l /\ r = g x).
Proof.
  revert first; induction l as [|y l IH]; simpl; intros first f all.
  { split; [exact f | split; [lra | split; [tauto | auto]]]. }
  assert (fin (g y)) as fy by auto.
  destruct (larger_is o B first (g y) f fy) as [fl vl].
  destruct (IH (larger first (g y)) fl ltac:(auto)) as [fr [le [each one]]].
  split; [exact fr|]; pose proof (Rmax_l (val first) (val (g y))) as m1.
  pose proof (Rmax_r (val first) (val (g y))) as m2; rewrite vl in le.
  split; [lra | split].
  - intros x [<- | inx]; [lra | auto].
  - destruct one as [-> | [x [inx E]]]; [|right; exists x; auto].
    unfold NumFloatRow.larger; rewrite (fin_is_no_nan o B first f), (fin_is_no_nan o B _ fy).
    destruct (lt o first (g y)); [right; exists y; auto | auto].
Qed.

Lemma fold_smaller l first :
  fin first -> (forall x, In x l -> fin (g x)) ->
  let r := fold_left (fun x s => smaller x (g s)) l first in
  fin r /\ val r <= val first /\ (forall x, In x l -> val r <= val (g x)) /\
  (r = first \/ exists x, In x l /\ r = g x).
Proof.
  revert first; induction l as [|y l IH]; simpl; intros first f all.
  { split; [exact f | split; [lra | split; [tauto | auto]]]. }
  assert (fin (g y)) as fy by auto.
  destruct (smaller_is o B first (g y) f fy) as [fl vl].
  destruct (IH (smaller first (g y)) fl ltac:(auto)) as [fr [le [each one]]].
  split; [exact fr|]; pose proof (Rmin_l (val first) (val (g y))) as m1.
  pose proof (Rmin_r (val first) (val (g y))) as m2; rewrite vl in le.
  split; [lra | split].
  - intros x [<- | inx]; [lra | auto].
  - destruct one as [-> | [x [inx E]]]; [|right; exists x; auto].
    unfold NumFloatRow.smaller; rewrite (fin_is_no_nan o B first f), (fin_is_no_nan o B _ fy).
    destruct (lt o (g y) first); [right; exists y; auto | auto].
Qed.

(** From beyond all numbers on. *)
Lemma larger_first x : fin x -> larger (opp o (infinite o)) x = x.
Proof.
  intros f; unfold NumFloatRow.larger; rewrite (fin_is_no_nan o B x f).
  unfold NumFloatRow.is_nan; rewrite (negated_same o B), (negated_less o B) by exact f; reflexivity.
Qed.

Lemma smaller_first x : fin x -> smaller (infinite o) x = x.
Proof.
  intros f; unfold NumFloatRow.smaller; rewrite (fin_is_no_nan o B x f).
  unfold NumFloatRow.is_nan; rewrite (infinite_same o B), (infinite_more o B) by exact f.
  reflexivity.
Qed.

Lemma fold_largest l :
  l <> [] -> (forall x, In x l -> fin (g x)) ->
  let r := fold_left (fun x s => larger x (g s)) l (opp o (infinite o)) in
  fin r /\ (forall x, In x l -> val (g x) <= val r) /\ (exists x, In x l /\ r = g x).
Proof.
  destruct l as [|y l]; intros some all; [contradiction|]; simpl.
  rewrite larger_first by (apply all; left; reflexivity).
  destruct (fold_larger l (g y)) as [f [le [each one]]]; [apply all; left; reflexivity | |].
  { intros x inx; apply all; right; exact inx. }
  split; [exact f | split].
  - intros x [<- | inx]; auto.
  - destruct one as [E | [x [inx E]]]; [exists y; auto | exists x; auto].
Qed.

Lemma fold_smallest l :
  l <> [] -> (forall x, In x l -> fin (g x)) ->
  let r := fold_left (fun x s => smaller x (g s)) l (infinite o) in
  fin r /\ (forall x, In x l -> val r <= val (g x)).
Proof.
  destruct l as [|y l]; intros some all; [contradiction|]; simpl.
  rewrite smaller_first by (apply all; left; reflexivity).
  destruct (fold_smaller l (g y)) as [f [le [each _]]]; [apply all; left; reflexivity | |].
  { intros x inx; apply all; right; exact inx. }
  split; [exact f|]; intros x [<- | inx]; auto.
Qed.

Lemma fold_infinite l :
  (forall x, In x l -> most (g x)) ->
  fold_left (fun x s => larger x (g s)) l (infinite o) = infinite o.
Proof.
  induction l as [|y l IH]; simpl; intros all; [reflexivity|].
  rewrite (infinite_larger o B) by (apply (most_any o B), all; auto); auto.
Qed.

(** A finite maximum: none was infinite. *)
Lemma fold_most l first :
  most first -> (forall x, In x l -> most (g x)) ->
  fin (fold_left (fun x s => larger x (g s)) l first) ->
  good first /\ forall x, In x l -> good (g x).
Proof.
  revert first; induction l as [|y l IH]; simpl; intros first mf all f.
  { split; [|tauto]; destruct mf as [g0 | ->]; [exact g0 | exfalso; exact (of_infinite o B f)]. }
  destruct mf as [[ff f0] | ->].
  2:{ rewrite (infinite_larger o B), fold_infinite in f by
        (auto; apply (most_any o B), all; auto); exfalso; exact (of_infinite o B f). }
  destruct (all y (or_introl eq_refl)) as [[fy y0] | E].
  - destruct (larger_is o B first (g y) ff fy) as [fl vl].
    destruct (IH (larger first (g y))) as [_ rest]; [left; split; [exact fl|] | auto | exact f |].
    { rewrite vl; apply Rle_trans with (2 := Rmax_l _ _), f0. }
    split; [split; assumption|]; intros x [<- | inx]; [split; assumption | auto].
  - rewrite E, (larger_infinite o B), fold_infinite in f by auto.
    exfalso; exact (of_infinite o B f).
Qed.
End Folds.

(** ** The references *)

(** What a kernel of the class may have as references, from the exact scores and their errors. *)
Record fits (a : arithmetic o) (changes : Z) (rg : NumExec.range) (J : list NumExec.input) : Prop :=
  Fits {
  fits_sane : NumExec.sane_range rg;
  fits_top : forall j, In j J -> NumExec.s j <= NumExec.high rg;
  fits_high : exists j i, In j J /\ In i J /\
    NumExec.high rg <= NumExec.s j + NumExec.sigma i + val (c_above o a);
  fits_low : exists j i, In j J /\ In i J /\
    NumExec.s j - NumExec.sigma i - (IZR changes + 1) * val (c_below o a) <= NumExec.low rg;
  fits_slack : exists i, In i J /\ NumExec.slack rg <= NumExec.sigma i + val (c_below o a);
  fits_fall : NumExec.fall rg <= NumExec.slack rg }.

(** What is computed of a key is near to what it is. *)
Definition near_key (s : scored o) (j : NumExec.input) : Prop :=
  Rabs (val (score o s) - NumExec.s j) <= val (z o s) /\
  0 <= NumExec.sigma j <= val (sigma o s).

(** What the sum with a shift makes of a key's score, and of its errors (NUM-14). *)
Lemma shift_finite s x :
  fin (score o (shift_score o s x)) -> fin (sigma o (shift_score o s x)) ->
  fin (score o s) /\ fin (fst x) /\ fin (sigma o s) /\ fin (snd x).
Proof.
  unfold shift_score; cbn [score sigma]; intros fs fe.
  destruct (of_add o B _ _ fs) as [f1 [f2 _]]; destruct (up_plus_is_up o B _ _ fe) as [f3 [f4 _]].
  auto.
Qed.

Lemma two_units : bpow radix2 (-52) = 2 * u.
Proof.
  change (-52)%Z with (1 + -53)%Z; rewrite bpow_plus, unit_is.
  change (bpow radix2 1) with 2; reflexivity.
Qed.

(** The rounding of a sum is below a share of the rounded sum. *)
Lemma rounding_of_sum x y :
  Rabs (rnd (val x + val y) - (val x + val y)) <= 2 * u * Rabs (rnd (val x + val y)).
Proof.
  pose proof (rnd_plus_error _ _ (value_is_double o B x) (value_is_double o B y)) as near.
  set (t := val x + val y) in *; set (r := rnd t) in *.
  assert (Rabs t <= Rabs r + u * Rabs t) as T.
  { replace t with (r - (r - t)) at 1 by ring.
    eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_Ropp; lra. }
  pose proof (u_bounds) as ub; pose proof (Rabs_pos t); pose proof (Rabs_pos r).
  assert (Rabs t <= 2 * Rabs r) as T2 by nra.
  apply (Rmult_le_compat_l u) in T2; lra.
Qed.

Lemma of_shifted x :
  fin x -> good (up_times o (pow2 o (-52)) (abs o x)) \/
    up_times o (pow2 o (-52)) (abs o x) = infinite o.
Proof.
  intros f; assert (fin (abs o x)) as fa by (apply (of_abs o B _), f).
  apply (up_times_most o B); [apply good_pow2; lia | left; exact fa | left; split; [exact fa|]].
  rewrite (val_abs o B); apply Rabs_pos.
Qed.

Lemma shift_most s x :
  fin (score o (shift_score o s x)) -> most (z o s) -> most (z o (shift_score o s x)).
Proof.
  unfold shift_score; cbn [score z]; intros f m; apply (up_plus_most o B); [exact m|].
  destruct (of_shifted _ f) as [g | E]; [left; exact g | right; exact E].
Qed.

Theorem shift_is_near s j x :
  fin (score o (shift_score o s x)) -> fin (sigma o (shift_score o s x)) ->
  fin (z o (shift_score o s x)) -> 0 <= val (snd x) ->
  near_key s j ->
  near_key (shift_score o s x)
    (NumExec.Input (NumExec.s j + val (fst x)) (NumExec.value j) (NumExec.sigma j + val (snd x))
                   (NumExec.cap j)).
Proof.
  intros fs fe fz x0 [n1 [n2 n3]].
  unfold near_key, shift_score in *; cbn [score sigma z NumExec.s NumExec.sigma] in *.
  destruct (of_add o B _ _ fs) as [_ [_ V]]; destruct (up_plus_is_up o B _ _ fe) as [_ [_ E]].
  destruct (up_plus_is_up o B _ _ fz) as [_ [ft Z]].
  destruct (up_times_is_up o B _ _ ft) as [_ [_ T]].
  rewrite (val_abs o B), (proj2 (of_pow2 o B (-52) ltac:(lia))) in T.
  rewrite two_units in T.
  split; [|lra].
  pose proof (rounding_of_sum (score o s) (fst x)) as R; rewrite <- V in R.
  set (sum := val (add o (score o s) (fst x))) in *.
  replace (sum - (NumExec.s j + val (fst x)))
    with ((sum - (val (score o s) + val (fst x))) + (val (score o s) - NumExec.s j)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]; lra.
Qed.

Lemma partner {S T} (P : S -> T -> Prop) l k y :
  Forall2 P l k -> In y k -> exists x, In x l /\ P x y.
Proof.
  induction 1 as [|x y' l k p all IH]; simpl; [tauto|]; intros [<- | iny]; [exists x; auto|].
  destruct (IH iny) as [x' [inx q]]; exists x'; auto.
Qed.

Lemma enclosed low high low' high' : low' <= low -> low <= high -> high <= high' ->
  Rmax (Rabs low) (Rabs high) <= Rmax (Rabs low') (Rabs high').
Proof.
  intros; unfold Rmax, Rabs.
  destruct (Rcase_abs low), (Rcase_abs high), (Rcase_abs low'), (Rcase_abs high');
    repeat match goal with |- context [Rle_dec ?x ?y] => destruct (Rle_dec x y) end; lra.
Qed.

Theorem references_are_enclosed a k all rg J :
  let b := references_of o a k all in
  good_class o B a -> (0 <= n_changes o k <= 2 ^ 31)%Z -> all <> [] ->
  (forall s, In s all -> fin (score o s) /\ fin (sigma o s) /\ most (z o s)) ->
  Forall2 near_key all J -> fits a (n_changes o k) rg J ->
  fin (high o b) -> fin (h o b) -> fin (slack o b) -> fin (largest_z o b) -> fin (rise o b) ->
  covers o B b rg (val (top o b)) /\ fin (top o b) /\
  (forall s, In s all -> fin (z o s) /\ val (z o s) <= val (largest_z o b) /\
     val (score o s) <= val (top o b) /\ val (low o b) <= val (score o s)) /\
  (exists s, In s all /\ score o s = top o b) /\ val (top o b) <= val (high o b).
Proof.
  intros b ga c0 some each near fit fh fhh fs fz fr; unfold b in *; clear b.
  unfold references_of in *; cbn [largest_z top high low slack h rise] in *.
  pose proof (next_finite o B _ c0) as fn.
  set (largest := fold_left (fun x s => larger x (score o s)) all (opp o (infinite o))) in *.
  set (smallest := fold_left (fun x s => smaller x (score o s)) all (infinite o)) in *.
  set (Z := fold_left (fun x s => larger x (z o s)) all (zero o)) in *.
  set (S := fold_left (fun x s => larger x (sigma o s)) all (zero o)) in *.
  set (beyond := up_plus o Z S) in *; set (above := up_plus o beyond (c_above o a)) in *.
  set (below := up_plus o beyond (up_times o (add o (of_int o (n_changes o k)) (one o))
    (c_below o a))) in *.
  destruct (fold_largest (score o) all some) as [fl [up_l one_l]];
    [intros s ins; apply each, ins|]; fold largest in fl, up_l, one_l.
  destruct (fold_smallest (score o) all some) as [fsm low_s];
    [intros s ins; apply each, ins|]; fold smallest in fsm, low_s.
  destruct (fold_larger (sigma o) all (zero o)) as [fS [S0 [up_S _]]];
    [apply (zero_is o B) | intros s ins; apply each, ins|]; fold S in fS, S0, up_S.
  rewrite (proj2 (zero_is o B)) in S0.
  assert (most (zero o)) as mz by (left; apply (good_zero o B)).
  destruct (fold_most (z o) all (zero o) mz) as [_ good_z];
    [intros s ins; apply each, ins | exact fz|].
  destruct (fold_larger (z o) all (zero o)) as [_ [Z0 [up_Z _]]];
    [apply (zero_is o B) | intros s ins; apply good_z, ins|]; fold Z in Z0, up_Z.
  rewrite (proj2 (zero_is o B)) in Z0.
  destruct (up_plus_is_up o B _ _ fh) as [_ [fab le1]]; fold largest in le1.
  destruct (up_plus_is_up o B _ _ fab) as [fbe [_ le2]]; fold above in le2.
  destruct (up_plus_is_up o B _ _ fbe) as [_ [_ le3]]; fold beyond in le3.
  destruct (up_plus_is_up o B _ _ fs) as [_ [_ le4]].
  destruct ga as [_ _ _ _ _ _ _ _ _ _ _ _ [fca ca0] [fcb cb0] _].
  assert (not_below o above) as sab.
  { apply (sign_up_plus o B); [|apply (good_sign o B); split; assumption].
    apply (good_sign o B); split; [exact fbe | lra]. }
  destruct (up_exp_of_positive o B _ fr sab) as [_ le5].
  destruct fit as [[lohi [sl0 fa0]] ftop [jh [ih [injh [inih hi]]]] [jl [il [injl [inil lo]]]]
    [is [inis sl]] fa].
  assert (forall j, In j J -> exists s, In s all /\ Rabs (val (score o s) - NumExec.s j) <= val Z /\
    0 <= NumExec.sigma j <= val S) as known.
  { intros j inj; destruct (partner _ _ _ _ near inj) as [s [ins [n1 n2]]].
    exists s; pose proof (up_Z s ins); pose proof (up_S s ins); split; [exact ins | split; lra]. }
  assert (NumExec.high rg <= val largest + val above) as H1.
  { destruct (known _ injh) as [s [ins [n1 _]]], (known _ inih) as [_ [_ [_ n2]]].
    apply NumCore.Rabs_between in n1; pose proof (up_l s ins); lra. }
  assert (most below) as mb.
  { apply (up_plus_most o B); [left; split; [exact fbe | lra]|].
    apply (up_times_most o B); [|left; exact fcb | left; split; assumption].
    split; [exact fn | rewrite (next_is o B _ c0 fn)].
    assert (0 <= IZR (n_changes o k)) by (apply IZR_le; lia); lra. }
  assert (fin (opp o smallest)) as fos by (apply (of_opp o B _), fsm).
  assert (fin (up_plus o (opp o smallest) below)) as flow.
  { destruct (up_plus_rises o B _ _ fos mb) as [f | E]; [exact f|].
    exfalso; apply (infinite_is_no_number o B _ eq_refl); revert fhh; rewrite E.
    rewrite (infinite_below o B), (infinite_larger o B); [tauto|].
    left; apply (of_abs o B _), fh. }
  destruct (up_plus_is_up o B _ _ flow) as [_ [fbl le6]]; rewrite (val_opp o B) in le6.
  destruct (up_plus_is_up o B _ _ fbl) as [_ [ft le7]]; fold below in le7.
  destruct (up_times_is_up o B _ _ ft) as [_ [_ le8]]; rewrite (next_is o B _ c0 fn) in le8.
  assert (- val (up_plus o (opp o smallest) below) <= NumExec.low rg) as H2.
  { destruct (known _ injl) as [s [ins [n1 _]]], (known _ inil) as [_ [_ [_ n2]]].
    apply NumCore.Rabs_between in n1; pose proof (low_s s ins); lra. }
  assert (NumExec.slack rg <= val S + val (c_below o a)) as H3.
  { destruct (known _ inis) as [_ [_ [_ n2]]]; lra. }
  assert (0 <= IZR (n_changes o k)) as k0 by (apply IZR_le; lia).
  assert (0 <= (IZR (n_changes o k) + 1) * val (c_below o a)) as kb
    by (apply Rmult_le_pos; lra).
  assert (fin (abs o (opp o (up_plus o (opp o smallest) below)))) as fa1.
  { apply (of_abs o B _), (of_opp o B _), flow. }
  assert (fin (abs o (up_plus o largest above))) as fa2 by (apply (of_abs o B _), fh).
  assert (0 <= val above) as ab0 by lra.
  split; [|split; [exact fl | split; [|split; [|lra]]]].
  - constructor; cbn [largest_z top high low slack h rise].
    + exact fh.
    + apply (of_opp o B _), flow.
    + split; [exact fz | exact Z0].
    + split; [exact fs | lra].
    + split; [exact fhh|]; rewrite (proj2 (larger_is o B _ _ fa1 fa2)), !(val_abs o B).
      apply Rle_trans with (2 := Rmax_l _ _), Rabs_pos.
    + split; [exact fr|]; pose proof (exp_pos (val above)); lra.
    + lra.
    + rewrite (val_opp o B); exact H2.
    + lra.
    + lra.
    + rewrite (proj2 (larger_is o B _ _ fa1 fa2)), !(val_abs o B), (val_opp o B).
      apply (enclosed _ _ _ _ H2 lohi); lra.
    + apply Rle_trans with (2 := le5), NumInvariant.exp_le; lra.
  - intros s ins; rewrite (val_opp o B); pose proof (low_s s ins); pose proof (up_l s ins).
    pose proof (up_Z s ins); split; [apply good_z, ins | repeat split; try assumption; lra].
  - destruct one_l as [s [ins E]]; exists s; auto.
Qed.
End References.
