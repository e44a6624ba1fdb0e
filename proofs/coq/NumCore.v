(* SPDX-License-Identifier: Apache-2.0 *)
(** * The error of a quotient of two perturbed sums (spec/tolerance.md: NUM-3)

    Attention is a quotient: sum of w v over sum of w. A kernel uses weights of its own instead of
    w: c in the denominator, b in the numerator, and computes both sums with an error. What both
    sums have in common, c - w, acts on the quotient only through v - o: a value that is the mean is
    not missed. *)
From Coq Require Import Reals List Permutation Lra Lia.
Import ListNotations.
Open Scope R_scope.

(** ** Sums over lists of anything *)

Fixpoint total {T : Type} (f : T -> R) (l : list T) : R :=
  match l with
  | [] => 0
  | x :: rest => f x + total f rest
  end.

Section Totals.
Context {T : Type}.
Implicit Types (f g : T -> R) (l : list T).

Lemma total_app f l k : total f (l ++ k) = total f l + total f k.
Proof. induction l as [|x l IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma total_permutation f l k : Permutation l k -> total f l = total f k.
Proof. induction 1; simpl; lra. Qed.

Lemma total_ext f g l : (forall x, In x l -> f x = g x) -> total f l = total g l.
Proof.
  induction l as [|x l IH]; simpl; intros E; [reflexivity|].
  rewrite (E x), IH by auto; reflexivity.
Qed.

Lemma total_le f g l : (forall x, In x l -> f x <= g x) -> total f l <= total g l.
Proof.
  induction l as [|x l IH]; simpl; intros le; [lra|].
  pose proof (le x (or_introl eq_refl)); assert (total f l <= total g l) by auto; lra.
Qed.

Lemma total_not_negative f l : (forall x, In x l -> 0 <= f x) -> 0 <= total f l.
Proof.
  induction l as [|x l IH]; simpl; intros le; [lra|].
  pose proof (le x (or_introl eq_refl)); assert (0 <= total f l) by auto; lra.
Qed.

Lemma total_plus f g l : total (fun x => f x + g x) l = total f l + total g l.
Proof. induction l as [|x l IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma total_minus f g l : total (fun x => f x - g x) l = total f l - total g l.
Proof. induction l as [|x l IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma total_scale a f l : total (fun x => a * f x) l = a * total f l.
Proof. induction l as [|x l IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma total_abs f l : Rabs (total f l) <= total (fun x => Rabs (f x)) l.
Proof.
  induction l as [|x l IH]; simpl; [rewrite Rabs_R0; lra|].
  pose proof (Rabs_triang (f x) (total f l)); lra.
Qed.
End Totals.

Lemma total_map {S T : Type} (f : T -> R) (h : S -> T) l :
  total f (map h l) = total (fun x => f (h x)) l.
Proof. induction l as [|x l IH]; simpl; [reflexivity | rewrite IH; reflexivity]. Qed.

(** ** Shares: what each key contributes, ideally and as used *)

(** w: exact weight, up to a common factor; v: value; c, b: the weights that the denominator and the
    numerator of a kernel really have. *)
Record share := Share { w : R; v : R; c : R; b : R }.

(** The weighted mean: attention, in one column. *)
Definition mean (U : list share) : R := total (fun j => w j * v j) U / total w U.

(** The error that both sums have in common, seen from the mean; and that of the numerator alone. *)
Definition common (U : list share) : R :=
  total (fun j => Rabs (c j - w j) * Rabs (v j - mean U)) U.
Definition apart (U : list share) : R := total (fun j => Rabs (b j - c j) * Rabs (v j)) U.

(** What is left of the denominator in the worst case. *)
Definition margin (U : list share) (En : R) : R :=
  total w U - total (fun j => Rabs (c j - w j)) U - En.

(** The sum of w (v - mean) is 0; hence: *)
Lemma numerator_minus_mean U N D :
  total w U <> 0 ->
  N - mean U * D
  = total (fun j => (c j - w j) * (v j - mean U)) U + total (fun j => (b j - c j) * v j) U
    + (N - total (fun j => b j * v j) U) - mean U * (D - total c U).
Proof.
  intros some.
  rewrite (total_ext (fun j => (c j - w j) * (v j - mean U))
                     (fun j => (c j * v j - w j * v j) - mean U * (c j - w j))) by (intros; ring).
  rewrite (total_ext (fun j => (b j - c j) * v j) (fun j => b j * v j - c j * v j))
    by (intros; ring).
  rewrite !total_minus, total_scale, total_minus.
  assert (mean U * total w U = total (fun j => w j * v j) U) as E
    by (unfold mean; field; exact some).
  lra.
Qed.

Lemma denominator_between U D En :
  Rabs (D - total c U) <= En ->
  Rabs (D - total w U) <= total (fun j => Rabs (c j - w j)) U + En.
Proof.
  intros near.
  replace (D - total w U) with ((D - total c U) + total (fun j => c j - w j) U)
    by (rewrite total_minus; ring).
  pose proof (Rabs_triang (D - total c U) (total (fun j => c j - w j) U)).
  pose proof (total_abs (fun j => c j - w j) U); lra.
Qed.

Lemma Rabs_between x y : Rabs x <= y -> - y <= x <= y.
Proof. unfold Rabs; destruct (Rcase_abs x); lra. Qed.

(** NUM-3: numerator N and denominator D, with errors Eo and En beside the weights as used. *)
Theorem quotient_error U N D Eo En :
  0 < total w U ->
  Rabs (N - total (fun j => b j * v j) U) <= Eo ->
  Rabs (D - total c U) <= En ->
  0 < margin U En ->
  margin U En <= D /\
  Rabs (N / D - mean U) <= (common U + apart U + Eo + Rabs (mean U) * En) / margin U En.
Proof.
  intros some nearN nearD left.
  pose proof (Rabs_between _ _ (denominator_between U D En nearD)) as near.
  assert (margin U En <= D) as low by (unfold margin in *; lra).
  split; [exact low|].
  assert (0 < D) as pos by lra.
  replace (N / D - mean U) with ((N - mean U * D) / D) by (field; lra).
  assert (Rabs (N - mean U * D) <= common U + apart U + Eo + Rabs (mean U) * En) as up.
  { rewrite numerator_minus_mean by lra.
    set (x := total (fun j => (c j - w j) * (v j - mean U)) U).
    set (y := total (fun j => (b j - c j) * v j) U).
    assert (Rabs x <= common U) as bx.
    { apply Rle_trans with (1 := total_abs _ U), Req_le, total_ext; intros; apply Rabs_mult. }
    assert (Rabs y <= apart U) as By.
    { apply Rle_trans with (1 := total_abs _ U), Req_le, total_ext; intros; apply Rabs_mult. }
    assert (Rabs (mean U * (D - total c U)) <= Rabs (mean U) * En) as bz.
    { rewrite Rabs_mult; apply Rmult_le_compat_l; [apply Rabs_pos | exact nearD]. }
    apply Rabs_between in bx, By, bz, nearN.
    apply Rabs_le; lra. }
  assert (0 <= common U + apart U + Eo + Rabs (mean U) * En) as not_negative.
  { apply Rle_trans with (2 := up), Rabs_pos. }
  unfold Rdiv; rewrite Rabs_mult, (Rabs_pos_eq (/ D)) by (left; apply Rinv_0_lt_compat, pos).
  apply Rmult_le_compat; [apply Rabs_pos | left; apply Rinv_0_lt_compat, pos | exact up|].
  apply Rinv_le_contravar; assumption.
Qed.

(** The bound grows with each of its parts. *)
Lemma quotient_le x y p q : 0 <= x <= y -> 0 < q <= p -> x / p <= y / q.
Proof.
  intros [x0 xy] [q0 qp]; unfold Rdiv; apply Rmult_le_compat; try assumption.
  - left; apply Rinv_0_lt_compat; lra.
  - apply Rinv_le_contravar; assumption.
Qed.

(** NUM-3: a denominator within the part delta of W, seen through the logarithm. *)
Theorem logarithm_error W D delta :
  0 < W -> delta < 1 -> Rabs (D - W) <= delta * W -> Rabs (ln D - ln W) <= - ln (1 - delta).
Proof.
  intros pos less near; pose proof (Rabs_between _ _ near) as [low high].
  assert (0 <= delta) as not_negative.
  { apply (Rmult_le_reg_r W); [exact pos|].
    pose proof (Rabs_pos (D - W)); lra. }
  assert (0 < (1 - delta) * W) as pos' by (apply Rmult_lt_0_compat; lra).
  assert ((1 - delta) * W <= D) as low' by lra.
  assert (ln ((1 - delta) * W) <= ln D) as A1.
  { destruct low' as [lt | <-]; [left; apply ln_increasing; assumption | right; reflexivity]. }
  rewrite ln_mult in A1 by lra.
  assert ((1 - delta) * D <= W) as high'.
  { apply Rle_trans with ((1 - delta) * ((1 + delta) * W)).
    - apply Rmult_le_compat_l; lra.
    - replace ((1 - delta) * ((1 + delta) * W)) with (W - delta * delta * W) by ring.
      pose proof (Rmult_le_pos _ _ (Rmult_le_pos _ _ not_negative not_negative) (Rlt_le _ _ pos)).
      lra. }
  assert (0 < (1 - delta) * D) as pos'' by (apply Rmult_lt_0_compat; lra).
  assert (ln ((1 - delta) * D) <= ln W) as A2.
  { destruct high' as [lt | <-]; [left; apply ln_increasing; assumption | right; reflexivity]. }
  rewrite ln_mult in A2 by lra.
  apply Rabs_le; lra.
Qed.
