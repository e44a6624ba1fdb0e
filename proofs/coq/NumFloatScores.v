(* SPDX-License-Identifier: Apache-2.0 *)
(** * Scores, as a program computes them (spec/tolerance.md: NUM-6)

    Sums and scores that are computed to nearest are near the exact ones, and the magnitude of a
    score is at least that of the exact one. NumFloatReferences.v has what follows from it. *)
From Coq Require Import Reals ZArith Bool List Lra Lia Psatz.
From Flocq Require Import Core.
From Chunkproof Require Import NumFloat NumFloatRow NumFloatUp NumFloatParts NumFloatTerms.
From Chunkproof Require NumCore NumExec NumInvariant.
Import ListNotations.
Open Scope R_scope.

Local Notation total := NumCore.total.

Section Scores.
Variable o : ops.
Variable B : binary64 o.
Local Notation fin := (finite B).
Local Notation val := (value B).
Local Notation good := (good o B).

(** ** Sums to nearest *)

Section Sums.
Context {T : Type}.
Variable g : T -> F o.

Definition sum_of (l : list T) (first : F o) : F o := fold_left (fun s x => add o s (g x)) l first.

Lemma sum_finite l first :
  fin (sum_of l first) -> fin first /\ (forall x, In x l -> fin (g x)).
Proof.
  revert first; induction l as [|y l IH]; simpl; intros first f; [split; [exact f | tauto]|].
  destruct (IH _ f) as [fa all]; destruct (of_add o B _ _ fa) as [ff [fy _]].
  split; [exact ff|]; intros x [<- | inx]; auto.
Qed.

Lemma u_pos : 0 < u.
Proof. unfold u; lra. Qed.

Lemma power_1u n : 1 <= (1 + u) ^ n.
Proof. apply pow_R1_Rle; pose proof u_pos; lra. Qed.

Lemma power_less n : 0 < (1 - u) ^ n <= 1.
Proof.
  split; [apply pow_lt; unfold u; lra|].
  apply Rle_trans with (1 ^ n); [apply pow_incr; unfold u; lra | rewrite pow1; lra].
Qed.

Lemma sum_near l first :
  fin (sum_of l first) ->
  Rabs (val (sum_of l first) - (val first + total (fun x => val (g x)) l))
    <= ((1 + u) ^ length l - 1) * (Rabs (val first) + total (fun x => Rabs (val (g x))) l).
Proof.
  revert first; induction l as [|y l IH]; intros first f.
  { simpl; rewrite Rplus_0_r, Rminus_diag_eq, Rabs_R0 by reflexivity; lra. }
  destruct (sum_finite _ _ f) as [ff all]; specialize (IH _ f).
  change (sum_of (y :: l) first) with (sum_of l (add o first (g y))).
  cbn [NumCore.total length pow].
  pose proof (proj1 (sum_finite l (add o first (g y)) f)) as fa.
  destruct (of_add o B _ _ fa) as [_ [_ V]].
  pose proof (rnd_plus_error _ _ (value_is_double o B first) (value_is_double o B (g y))) as near.
  rewrite <- V in near; set (s := val (add o first (g y))) in *.
  set (A := total (fun x => val (g x)) l) in *.
  set (M := total (fun x => Rabs (val (g x))) l) in *.
  assert (0 <= M) as M0 by (apply NumCore.total_not_negative; intros; apply Rabs_pos).
  pose proof (Rabs_triang (val first) (val (g y))) as tri.
  pose proof u_pos as u0; set (b := Rabs (val first) + Rabs (val (g y))) in *.
  assert (u * Rabs (val first + val (g y)) <= u * b) as ub
    by (apply Rmult_le_compat_l; lra).
  assert (Rabs s <= b + u * b) as sb.
  { replace s with ((s - (val first + val (g y))) + (val first + val (g y))) by ring.
    pose proof (Rabs_triang (s - (val first + val (g y))) (val first + val (g y))); lra. }
  pose proof (power_1u (length l)) as p1; set (p := (1 + u) ^ length l) in *.
  replace (val (sum_of l (add o first (g y))) - (val first + (val (g y) + A)))
    with ((val (sum_of l (add o first (g y))) - (s + A)) + (s - (val first + val (g y)))) by ring.
  eapply Rle_trans; [apply Rabs_triang|].
  assert ((p - 1) * (Rabs s + M) <= (p - 1) * (b + u * b + M)) as q
    by (apply Rmult_le_compat_l; lra).
  assert (0 <= u * p * M) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | exact M0]).
  replace (((1 + u) * p - 1) * (Rabs (val first) + (Rabs (val (g y)) + M)))
    with ((p - 1) * (b + u * b + M) + u * b + u * p * M) by (unfold b; ring).
  lra.
Qed.

(** Of numbers that are not negative. *)
Lemma sum_not_less l first :
  fin (sum_of l first) -> 0 <= val first -> (forall x, In x l -> 0 <= val (g x)) ->
  (1 - u) ^ length l * (val first + total (fun x => val (g x)) l) <= val (sum_of l first).
Proof.
  revert first; induction l as [|y l IH]; intros first f f0 all; [simpl; lra|].
  change (sum_of (y :: l) first) with (sum_of l (add o first (g y))) in *.
  cbn [NumCore.total length pow].
  pose proof (proj1 (sum_finite l (add o first (g y)) f)) as fa.
  destruct (of_add o B _ _ fa) as [_ [_ V]].
  pose proof (all y (or_introl eq_refl)) as y0.
  pose proof (rnd_plus_error _ _ (value_is_double o B first) (value_is_double o B (g y))) as near.
  rewrite <- V, (Rabs_pos_eq (val first + _)) in near by lra; apply NumCore.Rabs_between in near.
  assert (0 <= val (add o first (g y))) as s0
    by (rewrite V, <- rnd_0; apply rnd_le; lra).
  specialize (IH _ f s0 (fun x inx => all x (or_intror inx))).
  set (A := total (fun x => val (g x)) l) in *.
  assert (0 <= A) by (apply NumCore.total_not_negative; intros; apply all; right; assumption).
  pose proof (power_less (length l)) as p; pose proof u_pos.
  set (s := val (add o first (g y))) in *.
  apply Rle_trans with (2 := IH).
  rewrite (Rmult_comm (1 - u)), Rmult_assoc; apply Rmult_le_compat_l; [lra|].
  assert (0 <= u * A) by (apply Rmult_le_pos; lra); lra.
Qed.
End Sums.

(** ** The score of a key *)

Definition term (x : F o * F o) : R := val (fst x) * val (snd x).
Definition real_dot (q k : list (F o)) : R := total term (combine q k).
Definition real_magnitude (q k : list (F o)) : R := total (fun x => Rabs (term x)) (combine q k).

Lemma magnitude_pos q k : 0 <= real_magnitude q k.
Proof. apply NumCore.total_not_negative; intros; apply Rabs_pos. Qed.

Lemma product_near x y :
  fin (mul o x y) ->
  Rabs (val (mul o x y) - val x * val y) <= u * Rabs (val x * val y) + smallest / 2.
Proof. intros f; destruct (of_mul o B _ _ f) as [_ [_ ->]]; apply rnd_error. Qed.

Lemma total_const {T} (c : R) (l : list T) : total (fun _ => c) l = INR (length l) * c.
Proof.
  induction l as [|x l IH]; cbn [NumCore.total length]; [simpl; ring|].
  rewrite IH, S_INR; ring.
Qed.

Lemma score_near scale q k :
  fin (mul o scale (dot o q k)) ->
  let n := length (combine q k) in
  Rabs (val (mul o scale (dot o q k)) - val scale * real_dot q k)
    <= Rabs (val scale) * (((1 + u) ^ (n + 2) - 1) * real_magnitude q k
                           + INR n * (smallest / 2) * (1 + u) ^ (n + 1)) + smallest / 2.
Proof.
  intros f n; destruct (of_mul o B _ _ f) as [_ [fd _]].
  pose proof (product_near _ _ f) as last.
  change (dot o q k) with (sum_of (fun x => mul o (fst x) (snd x)) (combine q k) (zero o)) in *.
  destruct (sum_finite _ _ _ fd) as [_ all]; pose proof (sum_near _ _ _ fd) as near.
  rewrite (proj2 (zero_is o B)), Rabs_R0, !Rplus_0_l in near; fold n in near.
  set (S := val (sum_of _ _ _)) in *; set (M := real_magnitude q k).
  pose proof (magnitude_pos q k) as M0; fold M in M0; pose proof smallest_pos as e0.
  set (P := total (fun x => val (mul o (fst x) (snd x))) (combine q k)) in *.
  set (Q := total (fun x => Rabs (val (mul o (fst x) (snd x)))) (combine q k)) in *.
  set (T := real_dot q k); pose proof u_pos as u0.
  assert (total (fun x : F o * F o => u * Rabs (term x) + smallest / 2) (combine q k)
          = u * M + INR n * (smallest / 2)) as sum_is.
  { rewrite NumCore.total_plus, NumCore.total_scale, total_const; reflexivity. }
  assert (Rabs (P - T) <= u * M + INR n * (smallest / 2)) as PT.
  { unfold P, T, real_dot; rewrite <- NumCore.total_minus.
    eapply Rle_trans; [apply NumCore.total_abs|]; rewrite <- sum_is.
    apply NumCore.total_le; intros x inx; apply product_near, all, inx. }
  assert (Q <= (1 + u) * M + INR n * (smallest / 2)) as QM.
  { replace ((1 + u) * M + INR n * (smallest / 2))
      with (total (fun x => Rabs (term x)) (combine q k) + (u * M + INR n * (smallest / 2)))
      by (unfold M, real_magnitude; ring).
    rewrite <- sum_is, <- NumCore.total_plus; apply NumCore.total_le; intros x inx.
    pose proof (product_near _ _ (all x inx)) as p; fold (term x) in p.
    replace (val (mul o (fst x) (snd x)))
      with ((val (mul o (fst x) (snd x)) - term x) + term x) by ring.
    pose proof (Rabs_triang (val (mul o (fst x) (snd x)) - term x) (term x)); lra. }
  pose proof (power_1u n) as p1; rewrite !pow_add; simpl (_ ^ 2); simpl (_ ^ 1).
  set (p := (1 + u) ^ n) in *; set (h := INR n * (smallest / 2)) in *.
  assert (0 <= h) as h0 by (apply Rmult_le_pos; [apply pos_INR | lra]).
  assert (Rabs (S - T) <= (p * (1 + u) - 1) * M + h * p) as ST.
  { replace (S - T) with ((S - P) + (P - T)) by ring.
    pose proof (Rabs_triang (S - P) (P - T)).
    assert ((p - 1) * Q <= (p - 1) * ((1 + u) * M + h)) by (apply Rmult_le_compat_l; lra).
    replace ((p * (1 + u) - 1) * M + h * p)
      with ((p - 1) * ((1 + u) * M + h) + (u * M + h)) by ring.
    lra. }
  assert (Rabs T <= M) as TM by apply NumCore.total_abs.
  set (c := Rabs (val scale)) in *; assert (0 <= c) as c0 by apply Rabs_pos.
  assert (Rabs (val scale * S) <= c * (M + ((p * (1 + u) - 1) * M + h * p))) as VS.
  { rewrite Rabs_mult; apply Rmult_le_compat_l; [exact c0|].
    replace S with ((S - T) + T) by ring; pose proof (Rabs_triang (S - T) T); lra. }
  assert (Rabs (val scale * S - val scale * T) <= c * ((p * (1 + u) - 1) * M + h * p)) as VT.
  { rewrite <- Rmult_minus_distr_l, Rabs_mult; apply Rmult_le_compat_l; assumption. }
  set (m := val (mul o scale _)) in *.
  replace (m - val scale * T) with ((m - val scale * S) + (val scale * S - val scale * T)) by ring.
  eapply Rle_trans; [apply Rabs_triang|].
  apply (Rmult_le_compat_l u) in VS; [|lra].
  replace (c * ((p * ((1 + u) * ((1 + u) * 1)) - 1) * M + h * (p * ((1 + u) * 1))))
    with (u * (c * (M + ((p * (1 + u) - 1) * M + h * p)))
          + c * ((p * (1 + u) - 1) * M + h * p)) by ring.
  lra.
Qed.

(** sum |q k|, rounded upwards. *)
Lemma magnitude_is_up q k :
  fin (magnitude_of o q k) -> (Z.of_nat (length q) + 4 <= 2 ^ 22)%Z ->
  real_magnitude q k <= val (magnitude_of o q k).
Proof.
  intros f small; unfold magnitude_of in *.
  set (n := (Z.of_nat (length q) + 4)%Z) in *.
  set (l := combine q k) in *.
  set (g := fun x : F o * F o => abs o (mul o (fst x) (snd x))).
  set (sum := fold_left _ l (zero o)) in *.
  assert (sum = sum_of g l (zero o)) as E by reflexivity.
  assert (length l <= length q)%nat as ln by (unfold l; rewrite combine_length; lia).
  apply (up_sum_is_up o B sum n); [exact f | lia | apply magnitude_pos|].
  assert (fin sum) as fs.
  { unfold up_sum in f; destruct (up_times_is_up o B _ _ f) as [f1 _].
    apply (up_plus_is_up o B _ _ f1). }
  rewrite E in *; destruct (sum_finite _ _ _ fs) as [_ all].
  pose proof (sum_not_less g l (zero o) fs) as low; rewrite (proj2 (zero_is o B)) in low.
  assert (forall x, val (g x) = Rabs (val (mul o (fst x) (snd x)))) as vg
    by (intros; apply (val_abs o B)).
  specialize (low (Rle_refl 0) ltac:(intros; rewrite vg; apply Rabs_pos)).
  rewrite Rplus_0_l in low.
  apply Rle_trans with (val (sum_of g l (zero o)) + INR (length l) * smallest).
  2:{ apply Rplus_le_compat_l, Rmult_le_compat_r; [left; apply smallest_pos|].
      rewrite INR_IZR_INZ; apply IZR_le; lia. }
  pose proof smallest_pos as e0; pose proof u_pos as u0.
  set (M := real_magnitude q k); pose proof (magnitude_pos q k) as M0; fold M in M0.
  assert ((1 - u) * M - INR (length l) * (smallest / 2) <= total (fun x => val (g x)) l) as low'.
  { rewrite <- (total_const (smallest / 2) l); unfold M, real_magnitude; fold l.
    rewrite <- NumCore.total_scale, <- NumCore.total_minus; apply NumCore.total_le; intros x inx.
    rewrite vg; pose proof (product_near (fst x) (snd x)) as p.
    specialize (p (fin_abs o B _ (all x inx))); fold (term x) in p.
    assert (Rabs (term x)
            <= Rabs (val (mul o (fst x) (snd x))) + (u * Rabs (term x) + smallest / 2)).
    { replace (term x) with (val (mul o (fst x) (snd x)) - (val (mul o (fst x) (snd x)) - term x))
        at 1 by ring.
      eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_Ropp; lra. }
    lra. }
  pose proof (power_less (length l)) as p.
  apply (Rmult_le_compat_l _ _ _ (Rlt_le _ _ (proj1 p))) in low'.
  assert ((1 - u) ^ Z.to_nat n * M <= (1 - u) ^ length l * ((1 - u) * M)) as pw.
  { rewrite <- Rmult_assoc; apply Rmult_le_compat_r; [exact M0|].
    replace ((1 - u) ^ length l * (1 - u)) with ((1 - u) ^ (length l + 1))
      by (rewrite pow_add; ring).
    replace (Z.to_nat n) with (length l + 1 + (Z.to_nat n - (length l + 1)))%nat by lia.
    rewrite (pow_add _ (length l + 1)); pose proof (power_less (Z.to_nat n - (length l + 1))).
    pose proof (power_less (length l + 1)); nra. }
  assert ((1 - u) ^ length l * (INR (length l) * (smallest / 2))
          <= INR (length l) * (smallest / 2)).
  { rewrite <- (Rmult_1_l (INR (length l) * (smallest / 2))) at 2.
    apply Rmult_le_compat_r; [apply Rmult_le_pos; [apply pos_INR | lra] | lra]. }
  assert (0 <= INR (length l) * smallest) by (apply Rmult_le_pos; [apply pos_INR | lra]).
  rewrite (Rmult_comm M); lra.
Qed.
End Scores.
