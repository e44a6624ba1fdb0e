(* SPDX-License-Identifier: Apache-2.0 *)
(** * The certified tolerance (spec/tolerance.md: NUM-10 to NUM-12)

    Whatever a kernel of the class computes for a query row, a head and a column lies within
    [tolerance] of attention. The bound is a formula in the exact scores and values, the class, and
    how much was done. *)
From Coq Require Import Reals List Permutation Lra Lia.
From Chunkproof Require Softmax.
From Chunkproof Require Import NumCore NumRound NumExec NumInvariant.
Import ListNotations.
Open Scope R_scope.

(** ** NUM-10: the bound *)

(** Attention over the keys J, in one column. *)
Definition weight_sum (J : list input) : R := total (fun j => exp (s j)) J.
Definition exact (J : list input) : R := total (fun j => exp (s j) * value j) J / weight_sum J.

Section Bound.
Variables (cl : class) (rg : range) (J : list input) (k : counts).

(** Of a key, in the scale of exp(s): the error of its weight that both sums have in common, that of
    the numerator alone, and the largest weight that it can be given. *)
Definition common_error (j : input) : R := weight_error cl rg (steps k) (high rg) j.
Definition own_error (j : input) : R := numerator_error cl rg (steps k) (high rg) j.
Definition largest_n (j : input) : R := exp (s j) + common_error j.
Definition largest_o (j : input) : R := largest_n j + own_error j.

(** What the sums lose. *)
Definition sum_error_n : R :=
  (growth_n cl k - 1) * total largest_n J + tiny_n cl rg k * exp (high rg).
Definition sum_error_o : R :=
  (growth_o cl k - 1) * total (fun j => largest_o j * Rabs (value j)) J
  + tiny_o cl rg k * exp (high rg).

(** What is left of the denominator in the worst case. *)
Definition left_over : R := weight_sum J - total common_error J - sum_error_n.

(** The error of o / n. *)
Definition quotient_bound : R :=
  (total (fun j => common_error j * Rabs (value j - exact J)) J
   + total (fun j => own_error j * Rabs (value j)) J
   + sum_error_o + Rabs (exact J) * sum_error_n) / left_over.
End Bound.

(** How a kernel ends: the division, with its error; the output's format. *)
Record ending := Ending { u_div : R; eta_div : R; output : format }.

Definition sane_ending (e : ending) : Prop :=
  0 <= u_div e /\ 0 <= eta_div e /\ 0 <= unit (output e) /\ 0 <= tiny (output e).

(** n and o become what is written: a number or an infinity. *)
Definition ends (e : ending) (n o : R) (out : option R) : Prop :=
  exists q, Rabs (q - o / n) <= u_div e * Rabs (o / n) + eta_div e /\ stored (output e) q out.

(** The error before the last rounding, and after it. *)
Definition before_output (e : ending) (x bound : R) : R :=
  bound + u_div e * (Rabs x + bound) + eta_div e.
Definition with_output (e : ending) (x bound : R) : R :=
  let y := before_output e x bound in y + Rmax (unit (output e) * (Rabs x + y)) (tiny (output e)).

(** NUM-10: B. *)
Definition tolerance (cl : class) (rg : range) (e : ending) (J : list input) (k : counts) : R :=
  with_output e (exact J) (quotient_bound cl rg J k).

(** ** It holds *)

Section Holds.
Variables (cl : class) (rg : range).
Hypothesis sane : sane_class cl.
Hypothesis sane' : sane_range rg.

(** What the core theorem is told of a key that was used. *)
Definition share_of (m : R) (x : use) : share :=
  Share (exp (s (key x))) (value (key x)) (in_n x * exp m) (in_o x * exp m).

Lemma mean_of_shares m U : mean (map (share_of m) U) = exact (map key U).
Proof. unfold mean, exact, weight_sum; rewrite !total_map; reflexivity. Qed.

(** Both sums of a state in the scale of exp(s), and the errors of its weights. *)
Lemma state_in_shares J k m n o :
  strays_no_further cl rg J k m [n] [o] ->
  exists U, map key U = J /\
    total (fun x => Rabs (in_n x * exp m - exp (s (key x)))) U <= total (common_error cl rg k) J /\
    total (fun x => Rabs (in_n x * exp m - exp (s (key x))) * Rabs (value (key x) - exact J)) U
      <= total (fun j => common_error cl rg k j * Rabs (value j - exact J)) J /\
    total (fun x => Rabs (in_o x * exp m - in_n x * exp m) * Rabs (value (key x))) U
      <= total (fun j => own_error cl rg k j * Rabs (value j)) J /\
    Rabs (n * exp m - total (fun x => in_n x * exp m) U) <= sum_error_n cl rg J k /\
    Rabs (o * exp m - total (fun x => in_o x * exp m * value (key x)) U) <= sum_error_o cl rg J k.
Proof.
  intros [ad [U [keys [good [[gn _] [go _]]]]]]; exists U; split; [exact keys|].
  pose proof (exp_pos m) as em; pose proof (exp_le _ _ (proj2 ad)) as mh.
  assert (forall x, In x U ->
    Rabs (in_n x * exp m - exp (s (key x))) <= common_error cl rg k (key x) /\
    Rabs (in_o x * exp m - in_n x * exp m) <= own_error cl rg k (key x)) as near.
  { rewrite Forall_forall in good; intros x inx; destruct (good x inx) as [_ [wt [nu _]]].
    pose proof (weight_error_grows cl rg sane sane' (steps k) (steps k) m (high rg) (key x) (le_n _)
                  (proj2 ad)).
    pose proof (numerator_error_grows cl rg sane sane' (steps k) (steps k) m (high rg)
      (key x) (le_n _)
                  (proj2 ad)).
    unfold common_error, own_error; split; [lra|].
    rewrite <- Rmult_minus_distr_r, Rabs_mult, (Rabs_pos_eq (exp m)) by lra; lra. }
  assert (forall x, In x U -> Rabs (in_n x * exp m) <= largest_n cl rg k (key x)) as up_n.
  { intros x inx; destruct (near x inx) as [wt _]; unfold largest_n.
    pose proof (exp_pos (s (key x))).
    replace (in_n x * exp m) with (in_n x * exp m - exp (s (key x)) + exp (s (key x))) by ring.
    pose proof (Rabs_triang (in_n x * exp m - exp (s (key x))) (exp (s (key x)))) as T.
    rewrite (Rabs_pos_eq (exp (s (key x)))) in T by lra; lra. }
  assert (forall x, In x U -> Rabs (in_o x * exp m) <= largest_o cl rg k (key x)) as up_o.
  { intros x inx; destruct (near x inx) as [_ nu]; pose proof (up_n x inx); unfold largest_o.
    replace (in_o x * exp m) with (in_o x * exp m - in_n x * exp m + in_n x * exp m) by ring.
    pose proof (Rabs_triang (in_o x * exp m - in_n x * exp m) (in_n x * exp m)); lra. }
  subst J; rewrite !total_map.
  split; [|split; [|split; [|split]]].
  - apply total_le; intros x inx; apply near, inx.
  - apply total_le; intros x inx; apply Rmult_le_compat_r; [apply Rabs_pos | apply near, inx].
  - apply total_le; intros x inx; apply Rmult_le_compat_r; [apply Rabs_pos | apply near, inx].
  - unfold plain in gn; simpl in gn; rewrite Rplus_0_r in gn.
    rewrite (total_ext (fun x => in_n x * exp m) (fun x => exp m * in_n x)) by (intros; ring).
    rewrite total_scale; replace (n * exp m - exp m * total in_n U)
      with (exp m * (n - total in_n U))
      by ring.
    rewrite Rabs_mult, (Rabs_pos_eq (exp m)) by lra.
    apply Rle_trans with (exp m * ((growth_n cl k - 1) * total (fun x => Rabs (in_n x)) U
                                   + tiny_n cl rg k)).
    { apply Rmult_le_compat_l; [lra | exact gn]. }
    assert (exp m * total (fun x => Rabs (in_n x)) U <=
            total (largest_n cl rg k) (map key U)) as le.
    { rewrite <- total_scale, total_map; apply total_le; intros x inx.
      pose proof (up_n x inx) as up; rewrite Rabs_mult, (Rabs_pos_eq (exp m)) in up by lra; lra. }
    assert (0 <= growth_n cl k - 1) as g0 by (pose proof (growth_n_power cl rg sane sane' k); lra).
    pose proof (Rmult_le_compat_l _ _ _ g0 le).
    pose proof (Rmult_le_compat_l _ _ _ (tiny_n_pos cl rg sane sane' k) mh).
    unfold sum_error_n; lra.
  - unfold plain in go; simpl in go; rewrite Rplus_0_r in go.
    rewrite (total_ext (fun x => in_o x * exp m * value (key x))
                       (fun x => exp m * (in_o x * value (key x)))) by (intros; ring).
    set (z := total (fun x => in_o x * value (key x)) U) in *.
    rewrite total_scale; fold z; replace (o * exp m - exp m * z) with (exp m * (o - z)) by ring.
    rewrite Rabs_mult, (Rabs_pos_eq (exp m)) by lra.
    apply Rle_trans with
      (exp m * ((growth_o cl k - 1) * total (fun x => Rabs (in_o x * value (key x))) U
                                   + tiny_o cl rg k)).
    { apply Rmult_le_compat_l; [lra | exact go]. }
    assert (exp m * total (fun x => Rabs (in_o x * value (key x))) U
            <= total (fun j => largest_o cl rg k j * Rabs (value j)) (map key U)) as le.
    { rewrite <- total_scale, total_map; apply total_le; intros x inx.
      pose proof (up_o x inx) as up; rewrite Rabs_mult, (Rabs_pos_eq (exp m)) in up by lra.
      rewrite Rabs_mult, <- Rmult_assoc; apply Rmult_le_compat_r; [apply Rabs_pos | lra]. }
    assert (0 <= growth_o cl k - 1) as g0 by (pose proof (growth_o_power cl rg sane sane' k); lra).
    pose proof (Rmult_le_compat_l _ _ _ g0 le).
    pose proof (Rmult_le_compat_l _ _ _ (tiny_o_pos cl rg sane sane' k) mh).
    unfold sum_error_o; lra.
Qed.

(** NUM-10: the quotient. k is what was declared, done what was done. *)
Theorem quotient_holds J k done m n o :
  runs cl rg J done m [n] [o] -> no_more done k -> 0 < left_over cl rg J k ->
  0 < n /\ Rabs (o / n - exact J) <= quotient_bound cl rg J k.
Proof.
  intros run le left.
  pose proof (no_further_grows cl rg sane sane' J done k m [n] [o] le
                (no_execution_strays_further cl rg sane sane' _ _ _ _ _ run)) as near.
  destruct (state_in_shares J k m n o near) as [U [keys [w1 [w2 [w3 [near_n near_o]]]]]].
  pose proof (mean_of_shares m U) as E; rewrite keys in E.
  set (Sh := map (share_of m) U) in *.
  pose proof (exp_pos m) as em.
  assert (total w Sh = weight_sum J) as EW
    by (unfold Sh, weight_sum; rewrite <- keys, !total_map; reflexivity).
  assert (left_over cl rg J k <= margin Sh (sum_error_n cl rg J k)) as low.
  { unfold margin, left_over; rewrite EW; unfold Sh; rewrite total_map; simpl; lra. }
  assert (J <> []) as some.
  { intros ->; unfold left_over, weight_sum in left; simpl in left.
    assert (0 <= sum_error_n cl rg [] k); [|lra].
    unfold sum_error_n; simpl; rewrite Rmult_0_r, Rplus_0_l.
    apply Rmult_le_pos; [apply tiny_n_pos; assumption | left; apply exp_pos]. }
  assert (0 < total w Sh) as pos.
  { rewrite EW; destruct J as [|j J']; [contradiction|].
    unfold weight_sum; simpl; pose proof (exp_pos (s j)).
    assert (0 <= total (fun j => exp (s j)) J')
      by (apply total_not_negative; intros; left; apply exp_pos); lra. }
  assert (Rabs (o * exp m - total (fun j => b j * v j) Sh) <= sum_error_o cl rg J k) as A
    by (unfold Sh; rewrite total_map; exact near_o).
  assert (Rabs (n * exp m - total c Sh) <= sum_error_n cl rg J k) as B
    by (unfold Sh; rewrite total_map; exact near_n).
  assert (0 < margin Sh (sum_error_n cl rg J k)) as left' by lra.
  destruct (quotient_error Sh (o * exp m) (n * exp m) _ _ pos A B left') as [pos_n bound].
  assert (0 < n) as n0 by (apply (Rmult_lt_reg_r (exp m)); lra).
  split; [exact n0|].
  replace (o / n) with (o * exp m / (n * exp m)) by (field; lra).
  rewrite E in bound; apply Rle_trans with (1 := bound).
  assert (common Sh <= total (fun j => common_error cl rg k j * Rabs (value j - exact J)) J) as C1
    by (unfold common; rewrite E; unfold Sh; rewrite total_map; exact w2).
  assert (apart Sh <= total (fun j => own_error cl rg k j * Rabs (value j)) J) as C2
    by (unfold apart, Sh; rewrite total_map; exact w3).
  unfold quotient_bound; apply quotient_le; split; try lra.
  assert (0 <= common Sh)
    by (apply total_not_negative; intros; apply Rmult_le_pos; apply Rabs_pos).
  assert (0 <= apart Sh)
    by (apply total_not_negative; intros; apply Rmult_le_pos; apply Rabs_pos).
  pose proof (Rabs_pos (o * exp m - total (fun j => b j * v j) Sh)).
  pose proof (Rabs_pos (n * exp m - total c Sh)) as D.
  pose proof (Rmult_le_pos _ _ (Rabs_pos (exact J)) (Rle_trans _ _ _ D B)); lra.
Qed.

Lemma division_holds e q y x bound :
  sane_ending e -> Rabs (y - x) <= bound -> Rabs (q - y) <= u_div e * Rabs y + eta_div e ->
  Rabs (q - x) <= before_output e x bound.
Proof.
  intros [u0 [e0 _]] near near_q; unfold before_output.
  assert (Rabs y <= Rabs x + bound) as big
    by (replace y with ((y - x) + x) by ring; pose proof (Rabs_triang (y - x) x); lra).
  pose proof (Rmult_le_compat_l _ _ _ u0 big).
  replace (q - x) with ((q - y) + (y - x)) by ring; pose proof (Rabs_triang (q - y) (y - x)); lra.
Qed.

(** NUM-10: what is written is within the tolerance. *)
Theorem tolerance_holds e J k done m n o out :
  sane_ending e -> runs cl rg J done m [n] [o] -> no_more done k -> 0 < left_over cl rg J k ->
  ends e n o (Some out) ->
  Rabs (out - exact J) <= tolerance cl rg e J k.
Proof.
  intros sane_e run le left [q [near_q st]].
  destruct (quotient_holds J k done m n o run le left) as [_ near].
  pose proof (division_holds e q (o / n) (exact J) _ sane_e near near_q) as near_x.
  inversion st as [y near_y E |]; subst y.
  unfold tolerance, with_output.
  set (Y := before_output e (exact J) (quotient_bound cl rg J k)) in *.
  assert (Rabs q <= Rabs (exact J) + Y) as big
    by (replace q with ((q - exact J) + exact J) by ring;
        pose proof (Rabs_triang (q - exact J) (exact J)); lra).
  assert (Rabs (out - q) <= Rmax (unit (output e) * (Rabs (exact J) + Y)) (tiny (output e))).
  { apply Rle_trans with (1 := near_y), Rmax_grows; [|apply Rle_refl].
    apply Rmult_le_compat_l; [apply sane_e | exact big]. }
  replace (out - exact J) with ((out - q) + (q - exact J)) by ring.
  pose proof (Rabs_triang (out - q) (q - exact J)); lra.
Qed.

(** NUM-12: no infinity is written where exact result and error are within the format. *)
Theorem tolerance_excludes_overflow e J k done m n o out :
  sane_ending e -> runs cl rg J done m [n] [o] -> no_more done k -> 0 < left_over cl rg J k ->
  ends e n o out ->
  Rabs (exact J) + before_output e (exact J) (quotient_bound cl rg J k) <= top (output e) ->
  exists x, out = Some x.
Proof.
  intros sane_e run le left [q [near_q st]] fits.
  destruct (quotient_holds J k done m n o run le left) as [_ near].
  pose proof (division_holds e q (o / n) (exact J) _ sane_e near near_q) as near_x.
  assert (Rabs q <= top (output e)) as small
    by (replace q with ((q - exact J) + exact J) by ring;
        pose proof (Rabs_triang (q - exact J) (exact J)); lra).
  destruct (no_overflow (output e) q out st small) as [x [E _]]; exists x; exact E.
Qed.

(** ** NUM-11: log-sum-exp *)

(** The part of the denominator that may be missing, or too much. *)
Definition denominator_error (J : list input) (k : counts) : R :=
  (total (common_error cl rg k) J + sum_error_n cl rg J k) / weight_sum J.

Lemma weight_sum_positive J : J <> [] -> 0 < weight_sum J.
Proof.
  destruct J as [|j J]; intros some; [contradiction|]; unfold weight_sum; simpl.
  pose proof (exp_pos (s j)).
  assert (0 <= total (fun j => exp (s j)) J)
    by (apply total_not_negative; intros; left; apply exp_pos); lra.
Qed.

(** NUM-11: l is m + ln n, up to x; in nats. *)
Theorem lse_holds J k done m n o l x :
  J <> [] ->
  runs cl rg J done m [n] [o] -> no_more done k -> 0 < left_over cl rg J k ->
  Rabs (l - (m + ln n)) <= x ->
  Rabs (l - ln (weight_sum J)) <= x - ln (1 - denominator_error J k).
Proof.
  intros some run le left near_l.
  pose proof (weight_sum_positive J some) as pos; pose proof (exp_pos m) as em.
  destruct (quotient_holds J k done m n o run le left) as [n0 _].
  pose proof (no_further_grows cl rg sane sane' J done k m [n] [o] le
                (no_execution_strays_further cl rg sane sane' _ _ _ _ _ run)) as near.
  destruct (state_in_shares J k m n o near) as [U [keys [w1 [_ [_ [near_n _]]]]]].
  assert (Rabs (n * exp m - weight_sum J) <= denominator_error J k * weight_sum J) as D.
  { replace (denominator_error J k * weight_sum J)
      with (total (common_error cl rg k) J + sum_error_n cl rg J k)
      by (unfold denominator_error; field; lra).
    replace (n * exp m - weight_sum J)
      with ((n * exp m - total (fun x => in_n x * exp m) U)
            + total (fun x => in_n x * exp m - exp (s (key x))) U)
      by (rewrite total_minus; unfold weight_sum; rewrite <- keys, total_map; ring).
    pose proof (total_abs (fun x => in_n x * exp m - exp (s (key x))) U).
    pose proof (Rabs_triang (n * exp m - total (fun x => in_n x * exp m) U)
                            (total (fun x => in_n x * exp m - exp (s (key x))) U)); lra. }
  assert (denominator_error J k < 1) as less.
  { unfold denominator_error; apply (Rmult_lt_reg_r (weight_sum J)); [exact pos|].
    unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra.
    unfold left_over in left; lra. }
  pose proof (logarithm_error _ _ _ pos less D) as near_ln.
  rewrite ln_mult, ln_exp in near_ln by assumption.
  replace (l - ln (weight_sum J)) with ((l - (m + ln n)) + (ln n + m - ln (weight_sum J))) by ring.
  pose proof (Rabs_triang (l - (m + ln n)) (ln n + m - ln (weight_sum J))); lra.
Qed.

(** The same in bits: x is what is written too much, [missing] the part of the denominator that may
    be. *)
Definition bound_in_bits (x missing : R) : R := x - ln (1 - missing) / ln 2.

(** NUM-11, CONV-1. *)
Theorem lse_in_bits_holds J k done m n o l x :
  J <> [] ->
  runs cl rg J done m [n] [o] -> no_more done k -> 0 < left_over cl rg J k ->
  Rabs (l - (m + ln n) / ln 2) <= x ->
  Rabs (l - ln (weight_sum J) / ln 2) <= bound_in_bits x (denominator_error J k).
Proof.
  intros some run le left near; unfold bound_in_bits.
  assert (0 < ln 2) as two by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (Rabs ((m + ln n) - (m + ln n)) <= 0) as none
    by (replace (m + ln n - (m + ln n)) with 0 by ring; rewrite Rabs_R0; lra).
  pose proof (lse_holds J k done m n o (m + ln n) 0 some run le left none) as near'.
  replace (l - ln (weight_sum J) / ln 2)
    with ((l - (m + ln n) / ln 2) + (m + ln n - ln (weight_sum J)) * / ln 2) by (field; lra).
  pose proof (Rabs_triang (l - (m + ln n) / ln 2) ((m + ln n - ln (weight_sum J)) * / ln 2)) as T.
  assert (0 < / ln 2) as inv by (apply Rinv_0_lt_compat, two).
  rewrite Rabs_mult, (Rabs_pos_eq (/ ln 2)) in T by lra.
  pose proof (Rmult_le_compat_r _ _ _ (Rlt_le _ _ inv) near'); unfold Rdiv in *; lra.
Qed.

(** ** NUM-12: the ends of the scale *)

(** Without a key nothing is claimed: the result is by convention (SOFTMAX-2). *)
Theorem no_key_no_claim k : ~ 0 < left_over cl rg [] k.
Proof.
  unfold left_over, weight_sum, sum_error_n; simpl.
  pose proof (Rmult_le_pos _ _ (tiny_n_pos cl rg sane sane' k) (Rlt_le _ _ (exp_pos (high rg))));
    lra.
Qed.

(** A single key: the error of its score and of its exponential does not matter. *)
Theorem single_key j k :
  quotient_bound cl rg [j] k
  = (own_error cl rg k j * Rabs (value j) + sum_error_o cl rg [j] k
     + Rabs (value j) * sum_error_n cl rg [j] k) / left_over cl rg [j] k.
Proof.
  assert (exact [j] = value j) as E.
  { unfold exact, weight_sum; simpl; pose proof (exp_pos (s j)); field; lra. }
  unfold quotient_bound; rewrite E; simpl; replace (value j - value j) with 0 by ring.
  rewrite Rabs_R0; f_equal; ring.
Qed.
End Holds.

(** ** What is meant by exact is attention *)

(** J are the keys K, seen in column i. *)
Definition column (K : list Softmax.key) (i : nat) (J : list input) : Prop :=
  map (fun j => (s j, value j)) J = map (fun x => (Softmax.score x, Softmax.value x i)) K.

Lemma total_sum (f : Softmax.key -> R) K : total f K = Softmax.sum f K.
Proof. induction K as [|x K IH]; simpl; [reflexivity | rewrite IH; reflexivity]. Qed.

Lemma column_total (f : R * R -> R) K i J :
  column K i J ->
  total (fun j => f (s j, value j)) J
  = Softmax.sum (fun x => f (Softmax.score x, Softmax.value x i)) K.
Proof.
  intros E; rewrite <- total_sum.
  rewrite <- (total_map f (fun j => (s j, value j))), E, total_map; reflexivity.
Qed.

(** NUM-10: the tolerance is about SOFTMAX-2, output and log-sum-exp. *)
Theorem exact_is_attention K i J :
  K <> [] -> column K i J ->
  exact J = Softmax.attention K i /\ Softmax.lse K = Softmax.Finite (ln (weight_sum J)).
Proof.
  intros some col.
  pose proof (column_total (fun p => exp (fst p)) K i J col) as EW; simpl in EW.
  pose proof (column_total (fun p => exp (fst p) * snd p) K i J col) as EA; simpl in EA.
  rewrite Softmax.attention_of_keys, Softmax.lse_of_keys by exact some.
  unfold exact, weight_sum; rewrite EW, EA; split; reflexivity.
Qed.
