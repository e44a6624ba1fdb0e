(* SPDX-License-Identifier: Apache-2.0 *)
(** * From the parts of the keys to the bound of a column (spec/tolerance.md: NUM-9, NUM-10)

    If what is computed to nearest is as near as `lack` and `spare` say, a bound that is computed is
    at least that of the formula. *)
From Coq Require Import Reals ZArith Bool List Lra Lia Psatz.
From Flocq Require Import Core.
From Chunkproof Require Import NumFloat NumFloatRow NumFloatUp NumFloatParts NumFloatTerms
  NumFloatScores NumFloatReferences NumFloatKeys.
From Chunkproof Require NumCore NumRound NumExec NumInvariant NumTolerance.
Import ListNotations.
Open Scope R_scope.

Local Notation total := NumCore.total.

Section Bound.
Variable o : ops.
Variable B : binary64 o.
Local Notation fin := (finite B).
Local Notation val := (value B).
Local Notation good := (good o B).
Local Notation up_plus := (up_plus o).
Local Notation up_times := (up_times o).

Lemma fold_up_plus {T} (g : T -> F o) l first :
  fin (fold_left (fun x y => up_plus x (g y)) l first) ->
  fin first /\ (forall y, In y l -> fin (g y)) /\
  val first + total (fun y => val (g y)) l <= val (fold_left (fun x y => up_plus x (g y)) l first).
Proof.
  revert first; induction l as [|y l IH]; simpl; intros first f.
  { split; [exact f | split; [tauto | lra]]. }
  destruct (IH _ f) as [f1 [all le]]; destruct (up_plus_is_up o B _ _ f1) as [ff [fy le1]].
  split; [exact ff | split; [|lra]]; intros y' [<- | iny]; auto.
Qed.

Variables (a : arithmetic o) (k : counts o) (b : references o) (c : scales o).
Variables (rg : NumExec.range) (kr : NumExec.counts) (t : R).
(** A key: its score as computed, its value, and what they are. *)
Variable L : list (scored o * F o * NumExec.input).
Local Notation the_score := (fun x : scored o * F o * NumExec.input => fst (fst x)).
Local Notation the_value := (fun x : scored o * F o * NumExec.input => snd (fst x)).
Local Notation the_input := (fun x : scored o * F o * NumExec.input => snd x).

Let cl := real_class o B a.
Let J := map the_input L.
Let keys := map (fun x => weigh o a k b c (the_score x)) L.
Let m := sums_of o a k b c keys.
Let column := map (fun x => (weigh o a k b c (the_score x), the_value x)) L.
Let e (x : scored o * F o * NumExec.input) := exp (NumExec.s (the_input x) - t).
Let H (x : scored o * F o * NumExec.input) :=
  NumTolerance.common_error cl rg kr (the_input x) * exp (- t).
Let P (x : scored o * F o * NumExec.input) :=
  NumTolerance.own_error cl rg kr (the_input x) * exp (- t).
Let G_n := NumInvariant.growth_n cl kr - 1.
Let G_o := NumInvariant.growth_o cl kr - 1.
Let wt := val (all_weights o m).

Hypothesis ga : good_class o B a.
Hypothesis cov : covers o B b rg t.
Hypothesis sane : NumExec.sane_range rg.
(** The counts, whose operations are given as doubles. *)
Record counts_are : Prop := Counts_are {
  depth_n_ok : (0 <= n_depth_n o k <= 2 ^ 31)%Z; depth_o_ok : (0 <= n_depth_o o k <= 2 ^ 31)%Z;
  stores_ok : (0 <= n_stores o k <= 2 ^ 31)%Z; changes_ok : (0 <= n_changes o k <= 2 ^ 31)%Z;
  depth_n_is : NumExec.depth_n kr = Z.to_nat (n_depth_n o k);
  depth_o_is : NumExec.depth_o kr = Z.to_nat (n_depth_o o k);
  stores_is : NumExec.stores kr = Z.to_nat (n_stores o k);
  steps_is : NumExec.steps kr = Z.to_nat (n_changes o k);
  ops_n_is : INR (NumExec.ops_n kr) <= val (n_operations_n o k);
  ops_o_is : INR (NumExec.ops_o kr) <= val (n_operations_o o k) }.
Hypothesis counted : counts_are.
Hypothesis few : (Z.of_nat (length L) <= 2 ^ 20)%Z.

(** What is known of a key. *)
Record known (x : scored o * F o * NumExec.input) : Prop := Known {
  known_score : fin (score o (the_score x)); known_sigma : fin (sigma o (the_score x));
  known_near : Rabs (val (score o (the_score x)) - NumExec.s (the_input x)) <= val (largest_z o b);
  known_error : 0 <= NumExec.sigma (the_input x) <= val (sigma o (the_score x));
  known_below : NumExec.s (the_input x) <= NumExec.high rg;
  known_top : val (score o (the_score x)) <= val (high o b);
  known_cap : NumExec.cap (the_input x) = NumExec.high rg;
  known_value : val (the_value x) = NumExec.value (the_input x) }.
Hypothesis all_known : forall x, In x L -> known x.

(** What the scales are. *)
Hypothesis scales_are : c = scales_of o a k b (Z.of_nat (length L)).

(** What is computed to nearest is near. *)
Hypothesis weight_is_near : forall x, In x L ->
  fin (weight_of o b (the_score x)) -> fin (lack o c) ->
  e x <= val (weight_of o b (the_score x)) * (1 + val (lack o c)).
Hypothesis sum_is_near : fin (all_weights o m) -> fin (lack o c) ->
  wt * (1 - val (lack o c)) <= total e L <= wt * (1 + val (lack o c)).

Lemma growth_n_is_up : fin (growth_n o c) -> 0 <= G_n <= val (growth_n o c).
Proof.
  unfold G_n, NumInvariant.growth_n; rewrite scales_are; simpl; intros f.
  destruct counted as [dn _ st _ -> _ -> _ _ _].
  pose proof (growth_is_up o B _ _ _ _ f dn st (good_u_n o B a ga) (good_u_part o B a ga)).
  split; [|assumption].
  pose proof (pow_R1_Rle (1 + val (c_u_n o a)) (Z.to_nat (n_depth_n o k))) as p1.
  pose proof (pow_R1_Rle (1 + val (c_u_part o a)) (Z.to_nat (n_stores o k))) as p2.
  destruct (good_u_n o B a ga) as [_ u1], (good_u_part o B a ga) as [_ u2].
  pose proof (NumInvariant.product_at_least_1 _ _ (p1 ltac:(lra)) (p2 ltac:(lra))); lra.
Qed.

Lemma growth_o_is_up : fin (growth_o o c) -> 0 <= G_o <= val (growth_o o c).
Proof.
  unfold G_o, NumInvariant.growth_o; rewrite scales_are; simpl; intros f.
  destruct counted as [_ dn st _ _ -> -> _ _ _].
  pose proof (growth_is_up o B _ _ _ _ f dn st (good_u_o o B a ga) (good_u_part o B a ga)).
  split; [|assumption].
  pose proof (pow_R1_Rle (1 + val (c_u_o o a)) (Z.to_nat (n_depth_o o k))) as p1.
  pose proof (pow_R1_Rle (1 + val (c_u_part o a)) (Z.to_nat (n_stores o k))) as p2.
  destruct (good_u_o o B a ga) as [_ u1], (good_u_part o B a ga) as [_ u2].
  pose proof (NumInvariant.product_at_least_1 _ _ (p1 ltac:(lra)) (p2 ltac:(lra))); lra.
Qed.

Lemma stretch_is : fin (stretch o c) ->
  0 <= NumInvariant.stretch cl rg ^ NumExec.steps kr <= val (stretch o c).
Proof.
  rewrite scales_are; simpl; intros f; destruct counted as [_ _ _ ch _ _ _ -> _ _].
  split; [|apply (stretch_is_up o B a b _ rg t); assumption].
  apply pow_le; unfold NumInvariant.stretch; simpl; apply Rplus_le_le_0_compat;
    [left; apply exp_pos | exact (proj2 (good_kappa o B a ga))].
Qed.

Lemma keys_are_up x : In x L -> fin (weight_of o b (the_score x)) -> fin (lack o c) ->
  fin (key_h o (weigh o a k b c (the_score x))) ->
  0 <= H x <= val (key_h o (weigh o a k b c (the_score x))) /\ 0 <= P x /\
  (fin (key_t o (weigh o a k b c (the_score x))) ->
   P x + G_o * (e x + H x + P x) <= val (key_t o (weigh o a k b c (the_score x)))).
Proof.
  intros inx fw fl fh; destruct (all_known x inx).
  apply (key_is_up o B a k b c (the_score x) rg kr (the_input x) t); try assumption.
  - apply counted.
  - apply counted.
  - apply weight_is_near; assumption.
  - intros f; apply stretch_is, f.
  - exact growth_o_is_up.
Qed.

(** ** What is left of the denominator *)

Lemma sums_finite :
  fin (lost_n o m) -> fin (shared o m) ->
  fin (all_weights o m) /\ fin (lack o c) /\ fin (growth_n o c) /\ fin (stretch o c) /\
  (forall x, In x L -> fin (weight_of o b (the_score x)) /\
     fin (key_h o (weigh o a k b c (the_score x)))).
Proof.
  intros fl fs; unfold m, sums_of in *; cbn [lost_n shared all_weights] in *.
  destruct (up_plus_is_up o B _ _ fl) as [f1 [f2 _]].
  destruct (up_times_is_up o B _ _ f1) as [fg [f3 _]].
  destruct (up_plus_is_up o B _ _ f3) as [f4 _].
  destruct (up_times_is_up o B _ _ f4) as [fw [f5 _]].
  destruct (up_plus_is_up o B _ _ f5) as [_ [fla _]].
  unfold tiny_losses in f2; destruct (up_times_is_up o B _ _ f2) as [f6 _].
  destruct (up_times_is_up o B _ _ f6) as [_ [f7 _]].
  destruct (up_times_is_up o B _ _ f7) as [fst_ _].
  destruct (fold_up_plus (key_h o) keys (zero o) fs) as [_ [allh _]].
  destruct (sum_finite o B (key_w o) keys (zero o) fw) as [_ allw].
  repeat (split; [assumption|]); intros x inx.
  assert (In (weigh o a k b c (the_score x)) keys) as ink
    by (unfold keys; apply (in_map (fun x => weigh o a k b c (the_score x))); exact inx).
  split; [exact (allw _ ink) | exact (allh _ ink)].
Qed.

Lemma weight_sum_is : NumTolerance.weight_sum J * exp (- t) = total e L.
Proof.
  unfold NumTolerance.weight_sum, J; rewrite NumCore.total_map.
  rewrite Rmult_comm, <- NumCore.total_scale; apply NumCore.total_ext; intros x _.
  unfold e; rewrite scaled; ring.
Qed.

Lemma lost_n_is_up :
  fin (lost_n o m) -> fin (shared o m) ->
  0 <= NumTolerance.sum_error_n cl rg J kr * exp (- t) <= val (lost_n o m) /\
  total H L <= val (shared o m).
Proof.
  intros fl fs; destruct (sums_finite fl fs) as [fw [fla [fg [fst_ each]]]].
  destruct (growth_n_is_up fg) as [g0 g1], (stretch_is fst_) as [s0 s1].
  destruct (sum_is_near fw fla) as [_ near]; pose proof counted as [_ _ _ _ _ _ _ _ on _].
  assert (forall x, In x L -> 0 <= H x <= val (key_h o (weigh o a k b c (the_score x)))) as hs.
  { intros x inx; destruct (each x inx); apply (keys_are_up x inx); auto. }
  assert (total H L <= val (shared o m)) as le_h.
  { unfold m, sums_of in fs |- *; cbn [shared] in *.
    destruct (fold_up_plus (key_h o) keys (zero o) fs) as [_ [_ le]].
    rewrite (proj2 (zero_is o B)), Rplus_0_l in le; apply Rle_trans with (2 := le).
    unfold keys; rewrite NumCore.total_map; apply NumCore.total_le; intros x inx; apply hs, inx. }
  split; [|exact le_h].
  assert (NumTolerance.sum_error_n cl rg J kr * exp (- t)
          = G_n * (total e L + total H L)
            + INR (NumExec.ops_n kr) * val (c_eta_n o a)
              * NumInvariant.stretch cl rg ^ NumExec.steps kr * (1 + G_n)
              * exp (NumExec.high rg - t)) as ->.
  { unfold NumTolerance.sum_error_n, NumInvariant.tiny_n.
    replace (NumInvariant.growth_n cl kr) with (1 + G_n) by (unfold G_n; ring).
    rewrite scaled, <- weight_sum_is; unfold NumTolerance.weight_sum.
    replace (total H L) with (total (NumTolerance.common_error cl rg kr) J * exp (- t)).
    2:{ unfold J; rewrite NumCore.total_map, Rmult_comm, <- NumCore.total_scale.
        apply NumCore.total_ext; intros x _; unfold H; ring. }
    unfold NumTolerance.largest_n; rewrite NumCore.total_plus.
    change (NumExec.eta_n cl) with (val (c_eta_n o a)); ring. }
  assert (0 <= total e L) as E0
    by (apply NumCore.total_not_negative; intros; left; apply exp_pos).
  assert (0 <= total H L) as H0 by (apply NumCore.total_not_negative; intros; apply hs; assumption).
  pose proof (good_eta_n o B a ga) as [fe e0]; pose proof (pos_INR (NumExec.ops_n kr)) as N0.
  pose proof (exp_pos (NumExec.high rg - t)) as ep.
  split.
  { apply Rplus_le_le_0_compat; [apply Rmult_le_pos; lra|].
    repeat apply Rmult_le_pos; try assumption; lra. }
  unfold m, sums_of in fl, fs, fw, near, le_h |- *; unfold wt, m, sums_of in near.
  cbn [lost_n shared all_weights] in *.
  destruct (up_plus_is_up o B _ _ fl) as [f1 [f2 le1]].
  destruct (up_times_is_up o B _ _ f1) as [_ [f3 le2]].
  destruct (up_plus_is_up o B _ _ f3) as [f4 [_ le3]].
  destruct (up_times_is_up o B _ _ f4) as [_ [f5 le4]].
  destruct (up_plus_is_up o B _ _ f5) as [_ [_ le5]]; rewrite (proj2 (one_is o B)) in le5.
  pose proof (tiny_losses_is_up o B b c rg t _ _ _ (INR (NumExec.ops_n kr)) _ _ cov f2
    (good_eta_n o B a ga) (conj N0 on) (conj s0 s1) (conj g0 g1)) as le6.
  apply Rle_trans with (2 := le1), Rplus_le_compat; [|exact le6].
  apply Rle_trans with (2 := le2), Rmult_le_compat; try lra.
  apply Rle_trans with (2 := le3), Rplus_le_compat; [|exact le_h].
  apply Rle_trans with (1 := near), Rle_trans with (2 := le4), Rmult_le_compat_l; [|exact le5].
  assert (forall x, In x keys -> 0 <= val (key_w o x)) as wpos.
  { intros y iny; unfold keys in iny; apply in_map_iff in iny as [x [<- inx]].
    cbn [key_w weigh]; destruct (each x inx) as [fwx _]; apply (sign_pos o B); [|exact fwx].
    unfold weight_of; destruct (lt o _ _); [apply (good_sign o B), good_pow2; lia|].
    apply (sign_exp o B). }
  pose proof (sum_not_less o B (key_w o) keys (zero o) fw) as low.
  rewrite (proj2 (zero_is o B)) in low; specialize (low (Rle_refl 0) wpos).
  apply Rle_trans with (2 := low); rewrite Rplus_0_l; apply Rmult_le_pos; [left; apply power_less|].
  apply NumCore.total_not_negative, wpos.
Qed.

(** What is made of `left` being a number. *)
Lemma left_parts :
  fin (left o m) -> fin (lost_n o m) /\ fin (shared o m) /\ fin (least o m) /\
  val (shared o m) + val (lost_n o m) - val (least o m) <= - val (left o m) /\
  val (least o m) <= wt * (1 - val (lack o c)).
Proof.
  intros f; unfold wt, m, sums_of in *; cbn [left lost_n shared least all_weights] in *.
  apply (fin_opp o B) in f; rewrite !(val_opp o B).
  destruct (up_plus_is_up o B _ _ f) as [f1 [f2 le1]].
  rewrite (val_opp o B), (val_opp o B) in le1.
  destruct (up_plus_is_up o B _ _ f1) as [f3 [f4 le2]].
  apply (fin_opp o B) in f2; pose proof f2 as f2'; apply (fin_opp o B) in f2.
  destruct (up_plus_is_up o B _ _ f2) as [f5 [f6 le3]]; rewrite (val_opp o B) in le3.
  destruct (up_times_is_up o B _ _ f6) as [_ [_ le4]].
  split; [exact f4 | split; [exact f3 | split; [exact f2' | split; lra]]].
Qed.

Lemma shared_sum : NumCore.total (NumTolerance.common_error cl rg kr) J * exp (- t) = total H L.
Proof.
  unfold J; rewrite NumCore.total_map, Rmult_comm, <- NumCore.total_scale.
  apply NumCore.total_ext; intros x _; unfold H; ring.
Qed.

Lemma left_is_down :
  fin (left o m) -> fin (lost_n o m) /\ fin (shared o m) /\
  val (left o m) <= NumTolerance.left_over cl rg J kr * exp (- t).
Proof.
  intros f; destruct (left_parts f) as [fl [fs [_ [le1 le2]]]].
  split; [exact fl | split; [exact fs|]].
  destruct (sums_finite fl fs) as [fw [fla _]]; destruct (sum_is_near fw fla) as [near _].
  destruct (lost_n_is_up fl fs) as [[_ le3] le4].
  unfold NumTolerance.left_over; rewrite !Rmult_minus_distr_r, weight_sum_is, shared_sum; lra.
Qed.

(** The formula claims something where the evaluation does. *)
Lemma left_over_is_positive :
  fin (left o m) -> 0 < val (left o m) -> 0 < NumTolerance.left_over cl rg J kr.
Proof.
  intros fl l0; destruct (left_is_down fl) as [_ [_ le]].
  apply (Rmult_lt_reg_r (exp (- t))); [apply exp_pos | lra].
Qed.

(** NUM-11: the part of the denominator that may be missing, from `left` on. *)
Lemma denominator_is_up :
  L <> [] -> fin (left o m) -> 0 < val (left o m) ->
  let part := NumTolerance.denominator_error cl rg J kr in
  fin (least o m) /\ 0 < val (least o m) /\ 0 <= part /\
  part * val (least o m) <= val (shared o m) + val (lost_n o m).
Proof.
  intros some f l0 part; destruct (left_parts f) as [fl [fs [fle [le1 le2]]]].
  destruct (sums_finite fl fs) as [fw [fla [_ [_ each]]]].
  destruct (sum_is_near fw fla) as [near _]; destruct (lost_n_is_up fl fs) as [[le0 le3] le4].
  assert (0 <= total H L) as h0.
  { apply NumCore.total_not_negative; intros x inx; destruct (each x inx).
    apply (keys_are_up x inx); assumption. }
  assert (J <> []) as someJ by (unfold J; intros E; apply map_eq_nil in E; contradiction).
  pose proof (NumTolerance.weight_sum_positive J someJ) as W0; pose proof (exp_pos (- t)) as t0.
  assert (0 < total e L) as E0 by (rewrite <- weight_sum_is; apply Rmult_lt_0_compat; assumption).
  assert (part * total e L
          = total H L + NumTolerance.sum_error_n cl rg J kr * exp (- t)) as P1.
  { rewrite <- weight_sum_is, <- shared_sum; unfold part, NumTolerance.denominator_error.
    field; lra. }
  assert (0 <= part) as p0 by (apply (Rmult_le_reg_r (total e L)); [exact E0 | lra]).
  split; [exact fle | split; [lra | split; [exact p0|]]].
  apply Rle_trans with (part * total e L); [apply Rmult_le_compat_l; lra | lra].
Qed.

(** ** The error of a column *)

Hypothesis t_finite : forall x, In x L -> fin (key_t o (weigh o a k b c (the_score x))).

Variables (expected spare : F o).
Hypothesis near : Rabs (val expected - NumTolerance.exact J) <= val spare.

Let O := NumTolerance.exact J.
Let term_of (x : key_bounds o * F o) : F o :=
  add o (mul o (key_h o (fst x)) (add o (abs o (sub o (snd x) expected)) spare))
        (mul o (key_t o (fst x)) (abs o (snd x))).

Lemma spare_pos : 0 <= val spare.
Proof. apply Rle_trans with (2 := near), Rabs_pos. Qed.

Lemma u_small : 0 < u <= / 4.
Proof. unfold u; lra. Qed.

Lemma rounded_down x y : 0 <= x -> 0 <= y -> is_double x -> is_double y ->
  (1 - u) * (x + y) <= rnd (x + y).
Proof.
  intros x0 y0 dx dy; pose proof (rnd_plus_error x y dx dy) as e1.
  rewrite (Rabs_pos_eq (x + y)) in e1 by lra; apply NumCore.Rabs_between in e1; lra.
Qed.

Lemma product_down x y : 0 <= x -> 0 <= y -> (1 - u) * (x * y) - smallest / 2 <= rnd (x * y).
Proof.
  intros x0 y0; pose proof (rnd_error (x * y)) as e1; pose proof (Rmult_le_pos _ _ x0 y0).
  rewrite (Rabs_pos_eq (x * y)) in e1 by lra; apply NumCore.Rabs_between in e1; lra.
Qed.

(** One key: three roundings of a distance, products and their sum. *)
Lemma term_is_down x :
  fin (term_of x) -> 0 <= val (key_h o (fst x)) -> 0 <= val (key_t o (fst x)) ->
  0 <= val (term_of x) /\
  (1 - u) ^ 4 * (val (key_h o (fst x)) * Rabs (val (snd x) - O)
                 + val (key_t o (fst x)) * Rabs (val (snd x))) - smallest <= val (term_of x).
Proof.
  destruct x as [key v]; unfold term_of; cbn [fst snd]; intros f h0 t0.
  destruct (of_add o B _ _ f) as [f1 [f2 V]].
  destruct (of_mul o B _ _ f1) as [_ [f3 V1]]; destruct (of_mul o B _ _ f2) as [_ [_ V2]].
  destruct (of_add o B _ _ f3) as [f4 [_ V3]]; rewrite (val_abs o B) in V2, V3.
  apply (fin_abs o B) in f4; destruct (of_sub o B _ _ f4) as [_ [_ V4]].
  pose proof spare_pos as s0; pose proof smallest_pos as e0; pose proof u_small as us.
  set (h := val (key_h o key)) in *; set (tt := val (key_t o key)) in *.
  set (D := Rabs (val v - O)); set (A := Rabs (val v)) in *.
  assert (0 <= A) as A0 by apply Rabs_pos.
  assert (0 <= D) as D0 by apply Rabs_pos.
  assert ((1 - u) * (D - val spare) <= Rabs (val (sub o v expected))) as B1.
  { rewrite V4; pose proof (rnd_plus_error (val v) (- val expected) (value_is_double o B v)
      (double_opp _ (value_is_double o B expected))) as e1.
    change (val v + - val expected) with (val v - val expected) in e1.
    assert (D - val spare <= Rabs (val v - val expected)) as B2.
    { unfold D; replace (val v - O) with ((val v - val expected) + (val expected - O)) by ring.
      pose proof (Rabs_triang (val v - val expected) (val expected - O)).
      unfold O in *; lra. }
    pose proof (Rabs_pos (val v - val expected)).
    assert (Rabs (val v - val expected) - u * Rabs (val v - val expected)
            <= Rabs (rnd (val v - val expected))) as B3.
    { pose proof (Rabs_triang_inv (val v - val expected) (val v - val expected
        - rnd (val v - val expected))) as T.
      rewrite Rabs_minus_sym in e1.
      replace (val v - val expected - (val v - val expected - rnd (val v - val expected)))
        with (rnd (val v - val expected)) in T by ring; lra. }
    apply Rle_trans with (2 := B3).
    replace (Rabs (val v - val expected) - u * Rabs (val v - val expected))
      with ((1 - u) * Rabs (val v - val expected)) by ring.
    apply Rmult_le_compat_l; lra. }
  set (y := val (add o _ spare)) in *.
  assert (0 <= y) as y0 by (rewrite V3, <- rnd_0; apply rnd_le; pose proof (Rabs_pos
    (val (sub o v expected))); lra).
  assert ((1 - u) * ((1 - u) * D) <= y) as B4.
  { rewrite V3; apply Rle_trans with ((1 - u) * (Rabs (val (sub o v expected)) + val spare)).
    - apply Rmult_le_compat_l; [lra|].
      assert (u * val spare >= 0) by (apply Rle_ge, Rmult_le_pos; lra); lra.
    - apply rounded_down; [apply Rabs_pos | exact s0 | |]; [|apply value_is_double].
      apply double_abs, value_is_double. }
  pose proof (product_down h y h0 y0) as B5; rewrite <- V1 in B5.
  pose proof (product_down tt A t0 A0) as B6; rewrite <- V2 in B6.
  set (p := val (mul o (key_h o key) _)) in *; set (q := val (mul o (key_t o key) _)) in *.
  assert (0 <= p) as p0 by (rewrite V1, <- rnd_0; apply rnd_le, Rmult_le_pos; assumption).
  assert (0 <= q) as q0 by (rewrite V2, <- rnd_0; apply rnd_le, Rmult_le_pos; assumption).
  split; [rewrite V, <- rnd_0; apply rnd_le; lra|].
  assert ((1 - u) * (p + q) <= val (add o (mul o (key_h o key) (add o (abs o (sub o v expected))
    spare)) (mul o (key_t o key) (abs o v)))) as B7.
  { rewrite V; apply rounded_down; try assumption; apply value_is_double. }
  apply Rle_trans with (2 := B7).
  assert (h * ((1 - u) * ((1 - u) * D)) <= h * y) as B8 by (apply Rmult_le_compat_l; assumption).
  apply (Rmult_le_compat_l (1 - u)) in B8; [|lra].
  assert (0 <= h * D) as hD by (apply Rmult_le_pos; assumption).
  assert (0 <= tt * A) as tA by (apply Rmult_le_pos; assumption).
  assert ((1 - u) ^ 3 <= 1 - u) as pw.
  { replace ((1 - u) ^ 3) with ((1 - u) * ((1 - u) * (1 - u))) by ring.
    rewrite <- (Rmult_1_r (1 - u)) at 4; apply Rmult_le_compat_l; [lra|].
    apply Rle_trans with (1 * 1); [apply Rmult_le_compat|]; lra. }
  apply (Rmult_le_compat_r (tt * A)) in pw; [|exact tA].
  replace ((1 - u) ^ 4 * (h * D + tt * A))
    with ((1 - u) * ((1 - u) * (h * ((1 - u) * ((1 - u) * D))) + (1 - u) ^ 3 * (tt * A))) by ring.
  assert ((1 - u) * ((1 - u) * (h * ((1 - u) * ((1 - u) * D))) + (1 - u) ^ 3 * (tt * A))
          <= (1 - u) * (p + q + smallest)) as B9.
  { apply Rmult_le_compat_l; lra. }
  assert (0 <= u * smallest) by (apply Rmult_le_pos; lra); lra.
Qed.

Lemma error_is_up :
  fin (error_of o m column expected spare) -> fin (lost_n o m) -> fin (shared o m) ->
  0 <= NumTolerance.quotient_bound cl rg J kr * (NumTolerance.left_over cl rg J kr * exp (- t))
    <= val (error_of o m column expected spare) \/ NumTolerance.left_over cl rg J kr <= 0.
Proof.
  intros f fl fs; destruct (Rle_lt_dec (NumTolerance.left_over cl rg J kr) 0) as [neg | pos];
    [right; exact neg | left].
  destruct (sums_finite fl fs) as [fw [fla [fg [fst_ each]]]].
  destruct (lost_n_is_up fl fs) as [[n0 n1] _].
  unfold NumTolerance.quotient_bound.
  set (num := _ + _ + _ + _).
  replace (num / NumTolerance.left_over cl rg J kr
           * (NumTolerance.left_over cl rg J kr * exp (- t)))
    with (num * exp (- t)) by (field; lra).
  unfold error_of in *; destruct (up_plus_is_up o B _ _ f) as [f1 [f2 le1]].
  destruct (up_plus_is_up o B _ _ f2) as [fto [f3 le2]].
  destruct (up_times_is_up o B _ _ f3) as [f4 [_ le3]].
  destruct (up_plus_is_up o B _ _ f4) as [_ [_ le4]]; rewrite (val_abs o B) in le4.
  set (N := (2 * Z.of_nat (length column) + 8)%Z) in *.
  assert (length column = length L) as lc by (unfold column; apply map_length).
  set (sum := fold_left _ column (zero o)) in *.
  assert (sum = sum_of o term_of column (zero o)) as Es by reflexivity.
  assert (fin sum) as fsum.
  { unfold up_sum in f1; destruct (up_times_is_up o B _ _ f1) as [f5 _].
    apply (up_plus_is_up o B _ _ f5). }
  rewrite Es in fsum; destruct (sum_finite o B _ _ _ fsum) as [_ allf].
  assert (forall x, In x L ->
    0 <= H x <= val (key_h o (weigh o a k b c (the_score x))) /\ 0 <= P x /\
    0 <= G_o * (e x + H x + P x) /\
    P x + G_o * (e x + H x + P x) <= val (key_t o (weigh o a k b c (the_score x)))) as ks.
  { intros x inx; destruct (each x inx) as [w1 w2].
    destruct (keys_are_up x inx w1 fla w2) as [k1 [k2 k3]]; specialize (k3 (t_finite x inx)).
    split; [exact k1 | split; [exact k2 | split; [|exact k3]]].
    assert (0 < e x) by apply exp_pos.
    assert (0 <= G_o).
    { unfold G_o, NumInvariant.growth_o; simpl.
      pose proof (pow_R1_Rle (1 + val (c_u_o o a)) (NumExec.depth_o kr)) as p1.
      pose proof (pow_R1_Rle (1 + val (c_u_part o a)) (NumExec.stores kr)) as p2.
      destruct (good_u_o o B a ga) as [_ u1], (good_u_part o B a ga) as [_ u2].
      pose proof (NumInvariant.product_at_least_1 _ _ (p1 ltac:(lra)) (p2 ltac:(lra))); lra. }
    apply Rmult_le_pos; lra. }
  set (real_term := fun x => H x * Rabs (NumExec.value (the_input x) - O)
    + (P x + G_o * (e x + H x + P x)) * Rabs (NumExec.value (the_input x))).
  set (S := total real_term L).
  assert (0 <= S) as S0.
  { apply NumCore.total_not_negative; intros x inx; destruct (ks x inx) as [[k1 _] [k2 [k3 _]]].
    apply Rplus_le_le_0_compat; apply Rmult_le_pos; try apply Rabs_pos; lra. }
  assert (S <= val (up_sum o sum N)) as le5.
  { apply (up_sum_is_up o B sum N S f1); [unfold N; lia | exact S0|].
    assert (forall x, In x L ->
      let y := (weigh o a k b c (the_score x), the_value x) in
      0 <= val (term_of y) /\ (1 - u) ^ 4 * real_term x - smallest <= val (term_of y)) as terms.
    { intros x inx y; destruct (ks x inx) as [[k1 k2] [k3 [k4 k5]]].
      destruct (term_is_down y) as [y0 y1]; unfold y; cbn [fst snd]; [|lra | lra|].
      - apply allf; unfold column; apply (in_map (fun x => (weigh o a k b c (the_score x),
          the_value x))); exact inx.
      - split; [exact y0|]; apply Rle_trans with (2 := y1).
        apply Rplus_le_compat_r, Rmult_le_compat_l; [left; apply power_less|].
        unfold y; cbn [fst snd]; rewrite (known_value _ (all_known x inx)).
        apply Rplus_le_compat; apply Rmult_le_compat_r; try apply Rabs_pos; lra. }
    pose proof (sum_not_less o B term_of column (zero o) fsum) as low.
    rewrite (proj2 (zero_is o B)), Rplus_0_l in low; specialize (low (Rle_refl 0)).
    assert (forall y, In y column -> 0 <= val (term_of y)) as pos_terms.
    { intros y iny; unfold column in iny; apply in_map_iff in iny as [x [<- inx]].
      apply terms, inx. }
    specialize (low pos_terms); rewrite <- Es, lc in low.
    unfold column in low; rewrite NumCore.total_map in low.
    assert ((1 - u) ^ 4 * S - INR (length L) * smallest
            <= total (fun x => val (term_of (weigh o a k b c (the_score x), the_value x))) L)
      as low'.
    { unfold S; rewrite <- NumCore.total_scale, <- (total_const smallest L).
      rewrite <- NumCore.total_minus; apply NumCore.total_le; intros x inx; apply terms, inx. }
    pose proof (power_less (length L)) as pl; pose proof smallest_pos as e0.
    apply (Rmult_le_compat_l _ _ _ (Rlt_le _ _ (proj1 pl))) in low'.
    assert ((1 - u) ^ length L * (INR (length L) * smallest) <= IZR N * smallest) as und.
    { rewrite <- (Rmult_1_l (IZR N * smallest)); apply Rmult_le_compat; try lra.
      - apply Rmult_le_pos; [apply pos_INR | lra].
      - apply Rmult_le_compat_r; [lra|]; rewrite INR_IZR_INZ; apply IZR_le; unfold N; lia. }
    assert ((1 - u) ^ Z.to_nat N * S <= (1 - u) ^ length L * ((1 - u) ^ 4 * S)) as pw.
    { rewrite <- Rmult_assoc, <- pow_add; apply Rmult_le_compat_r; [exact S0|].
      replace (Z.to_nat N) with (length L + 4 + (length L + 4))%nat by (unfold N; lia).
      rewrite (pow_add _ (length L + 4) (length L + 4)).
      rewrite <- (Rmult_1_r ((1 - u) ^ (length L + 4))) at 3.
      apply Rmult_le_compat_l; [left|]; apply power_less. }
    rewrite (Rmult_comm S); lra. }
  assert (num * exp (- t) = S + (INR (NumExec.ops_o kr) * val (c_eta_o o a)
            * NumInvariant.stretch cl rg ^ NumExec.steps kr * (1 + G_o) * exp (NumExec.high rg - t)
            + Rabs O * (NumTolerance.sum_error_n cl rg J kr * exp (- t)))) as ->.
  { unfold num, S, real_term, NumTolerance.sum_error_o, NumInvariant.tiny_o.
    replace (NumInvariant.growth_o cl kr) with (1 + G_o) by (unfold G_o; ring).
    unfold J; rewrite !NumCore.total_map; fold J; fold O; rewrite scaled.
    change (NumExec.eta_o cl) with (val (c_eta_o o a)).
    rewrite (NumCore.total_ext
      (fun x => H x * Rabs (NumExec.value (the_input x) - O)
        + (P x + G_o * (e x + H x + P x)) * Rabs (NumExec.value (the_input x)))
      (fun x => exp (- t) * (NumTolerance.common_error cl rg kr (the_input x)
          * Rabs (NumExec.value (the_input x) - O))
        + (exp (- t) * (NumTolerance.own_error cl rg kr (the_input x)
          * Rabs (NumExec.value (the_input x)))
        + exp (- t) * G_o * (NumTolerance.largest_o cl rg kr (the_input x)
          * Rabs (NumExec.value (the_input x)))))).
    - rewrite !NumCore.total_plus, !NumCore.total_scale; ring.
    - intros x _; unfold H, P, e, NumTolerance.largest_o, NumTolerance.largest_n.
      rewrite scaled; ring. }
  assert (0 <= G_o <= val (growth_o o c)) as g_o.
  { apply growth_o_is_up; clear - fto B; unfold m, sums_of, tiny_losses in fto.
    cbn [tiny_o] in fto; destruct (up_times_is_up o B _ _ fto) as [g1 _].
    destruct (up_times_is_up o B _ _ g1) as [_ [g2 _]].
    destruct (up_times_is_up o B _ _ g2) as [_ [g3 _]]; apply (up_plus_is_up o B _ _ g3). }
  pose proof counted as [_ _ _ _ _ _ _ _ _ oo]; pose proof (pos_INR (NumExec.ops_o kr)) as N0.
  pose proof (tiny_losses_is_up o B b c rg t _ _ _ (INR (NumExec.ops_o kr)) _ _ cov fto
    (good_eta_o o B a ga) (conj N0 oo) (stretch_is fst_) g_o) as le6.
  change (tiny_losses o b c (n_operations_o o k) (c_eta_o o a) (growth_o o c))
    with (tiny_o o m) in le6.
  assert (Rabs O <= Rabs (val expected) + val spare) as le7.
  { replace O with (val expected + - (val expected - O)) by ring.
    pose proof (Rabs_triang (val expected) (- (val expected - O))) as T.
    rewrite Rabs_Ropp in T; unfold O in *; lra. }
  assert (Rabs O * (NumTolerance.sum_error_n cl rg J kr * exp (- t))
          <= val (up_plus (abs o expected) spare) * val (lost_n o m)) as le8.
  { apply Rmult_le_compat; [apply Rabs_pos | exact n0 | lra | exact n1]. }
  split; [|lra].
  apply Rplus_le_le_0_compat; [exact S0|]; apply Rplus_le_le_0_compat.
  - destruct (stretch_is fst_) as [s0 _]; pose proof (good_eta_o o B a ga) as [_ e0].
    repeat apply Rmult_le_pos; try assumption; try lra; left; apply exp_pos.
  - apply Rmult_le_pos; [apply Rabs_pos | exact n0].
Qed.

(** ** NUM-10 *)

(** A bound that is finite: the formula has one, which it is not below. *)
Theorem column_is_up :
  let bound := with_output o a (up o (div o (error_of o m column expected spare) (left o m)))
    expected spare in
  fin bound -> fin (left o m) -> 0 < val (left o m) ->
  0 < NumTolerance.left_over cl rg J kr /\
  NumTolerance.tolerance cl rg (real_ending o B a) J kr + val spare <= val bound /\
  (fin (f_largest o (c_output o a)) ->
   Rabs (NumTolerance.exact J) + NumTolerance.before_output (real_ending o B a)
     (NumTolerance.exact J) (NumTolerance.quotient_bound cl rg J kr)
     <= val (f_largest o (c_output o a))).
Proof.
  intros bound f fl l0; destruct (left_is_down fl) as [f1 [f2 le1]].
  pose proof (left_over_is_positive fl l0) as pos; split; [exact pos|].
  set (error := up o (div o (error_of o m column expected spare) (left o m))) in *.
  assert (fin error) as fe.
  { revert f; unfold bound, with_output; cbv zeta; destruct (negb _); intros f;
      [exfalso; exact (of_infinite o B f)|].
    destruct (up_plus_is_up o B _ _ f) as [f3 _].
    destruct (up_plus_is_up o B _ _ f3) as [f4 _]; apply (up_plus_is_up o B _ _ f4). }
  destruct (up_quotient_is_up o B _ _ fe fl) as [f3 [_ le2]]; fold error in le2.
  destruct (error_is_up f3 f1 f2) as [[q0 le3] | neg]; [|lra].
  assert (0 < NumTolerance.left_over cl rg J kr * exp (- t)) as lp
    by (apply Rmult_lt_0_compat; [exact pos | apply exp_pos]).
  assert (0 <= NumTolerance.quotient_bound cl rg J kr <= val error) as Q.
  { split; [apply (Rmult_le_reg_r _ _ _ lp); lra|].
    apply Rle_trans with (2 := le2).
    apply Rle_trans with (NumTolerance.quotient_bound cl rg J kr
      * (NumTolerance.left_over cl rg J kr * exp (- t))
      / (NumTolerance.left_over cl rg J kr * exp (- t))).
    - right; field; split; [apply Rgt_not_eq, exp_pos | lra].
    - apply NumCore.quotient_le; [split; assumption | split; assumption]. }
  apply (with_output_is_up o B a error expected spare _ (NumTolerance.exact J) f
    (good_end o B a ga) Q spare_pos).
  replace (NumTolerance.exact J)
    with (val expected + - (val expected - NumTolerance.exact J)) by ring.
  pose proof (Rabs_triang (val expected) (- (val expected - NumTolerance.exact J))) as T.
  rewrite Rabs_Ropp in T; lra.
Qed.
End Bound.
