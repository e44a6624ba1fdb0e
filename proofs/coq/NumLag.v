(* SPDX-License-Identifier: Apache-2.0 *)
(** * References that lag behind the maximum, or run ahead of it (spec/tolerance.md: NUM-8)

    Some kernels change the reference only when the maximum has grown by much, and some keep it
    above. Each change may then move the reference down, by as much as it may be away from the
    maximum. In NUM-9 that much counts at each change, and what is lost below the normal numbers
    grows by its exponential each time. But where each state's reference is near the maximum of its
    own keys before it is changed, references cannot fall by more than that in all.

    So the numbers of such an execution are taken in the scale of the maximum: times exp(m - M).
    They are an execution again, whose references only rise, of a class with slightly larger
    errors. *)
From Coq Require Import Reals List Permutation Lra Lia.
From Chunkproof Require Import NumCore NumRound NumExec NumInvariant NumTolerance.
Import ListNotations.
Open Scope R_scope.

(** ** Ranges *)

(** References of one range are those of a wider one. *)
Definition wider (rg rg' : range) : Prop :=
  low rg' <= low rg /\ high rg <= high rg' /\ slack rg <= slack rg' /\
  fall rg <= fall rg'.

Lemma wider_self rg : wider rg rg.
Proof. unfold wider; lra. Qed.

Lemma runs_wider cl rg rg' :
  wider rg rg' ->
  forall J k m ns os, runs cl rg J k m ns os -> runs cl rg' J k m ns os.
Proof.
  intros [lo [hi [sl fa]]].
  assert (forall m, admits rg m -> admits rg' m) as more by (unfold admits; intros; lra).
  induction 1 as
    [m ad | j m p p' [ad [le [above rest]]] | | J J' k m ns os p run IH
    | J k m ns os d ops ns' run IH | J k m ns os d ops os' run IH
    | J k m ns os m' f run IH ad le fac
    | J k m n o n' o' run IH near_n near_o].
  - apply runs_none, more, ad.
  - apply runs_key; split; [apply more, ad|]; split; [exact le|]; split; [lra | exact rest].
  - apply runs_beside; assumption.
  - apply (runs_order _ _ _ _ _ _ _ _ p IH).
  - apply (runs_sum_n _ _ _ _ _ _ _ _ _ _ IH); assumption.
  - apply (runs_sum_o _ _ _ _ _ _ _ _ _ _ IH); assumption.
  - apply (runs_step _ _ _ _ _ _ _ _ _ IH); [apply more, ad | lra | exact fac].
  - apply (runs_store _ _ _ _ _ _ _ _ _ IH); assumption.
Qed.

(** ** Executions near the maximum *)

Section Lag.
Variables (cl : class) (low top ahead behind : R).
Hypothesis sane : sane_class cl.
Hypothesis ahead0 : 0 <= ahead.
Hypothesis behind0 : 0 <= behind.

(** m is at most [behind] below the scores of the keys; and [ahead] above the largest one. *)
Definition above_all (J : list input) (m : R) : Prop := forall j, In j J -> s j - behind <= m.
Definition near (J : list input) (m : R) : Prop :=
  above_all J m /\ exists j, In j J /\ m <= s j + ahead.

(** NUM-8: the executions in which a state is near the maximum of its own keys before its
    reference changes: to that of a state that it is merged with, perhaps, which may be far above.
    No state is divided. *)
Inductive lags : list input -> counts -> R -> list R -> list R -> Prop :=
  | lags_key rg j m p p' :
      weighs cl rg j m p p' -> above_all [j] m ->
      lags [j] nothing m [if rounded_sum cl then p' else p] [p' * value j]
  | lags_beside J k m ns os J' k' ns' os' :
      lags J k m ns os -> lags J' k' m ns' os' ->
      lags (J ++ J') (beside k k') m (ns ++ ns') (os ++ os')
  | lags_order J J' k m ns os : Permutation J J' -> lags J k m ns os -> lags J' k m ns os
  | lags_sum_n J k m ns os d ops ns' :
      lags J k m ns os -> adds (u_n cl) (eta_n cl) d ops ns ns' ->
      lags J (Counts (depth_n k + d) (depth_o k) (stores k) (steps k) (ops_n k + ops) (ops_o k))
           m ns' os
  | lags_sum_o J k m ns os d ops os' :
      lags J k m ns os -> adds (u_o cl) (eta_o cl) d ops os os' ->
      lags J (Counts (depth_n k) (depth_o k + d) (stores k) (steps k) (ops_n k) (ops_o k + ops))
           m ns os'
  | lags_step J k m ns os m' f :
      lags J k m ns os -> near J m -> above_all J m' -> factor cl m [] m' f ->
      lags J (Counts (depth_n k) (depth_o k) (stores k) (S (steps k)) (ops_n k) (ops_o k))
           m' (map (Rmult f) ns) (map (Rmult f) os)
  | lags_store J k m n o n' o' :
      lags J k m [n] [o] ->
      Rabs (n' - n) <= u_part cl * Rabs n + eta_n cl ->
      Rabs (o' - o) <= u_part cl * Rabs o + eta_o cl ->
      lags J (Counts (depth_n k) (depth_o k) (S (stores k)) (steps k) (S (ops_n k)) (S (ops_o k)))
           m [n'] [o'].

Lemma near_order J J' m : Permutation J J' -> near J m -> near J' m.
Proof.
  intros p [lo [j [inj hi]]]; split.
  - intros i ini; apply lo, (Permutation_in i (Permutation_sym p) ini).
  - exists j; split; [apply (Permutation_in j p inj) | exact hi].
Qed.

(** ** The class in the scale of the maximum *)

(** How far apart two references of one state may be. *)
Definition width : R := ahead + behind.

(** What is off because an argument is longer by this much, or a reference larger. *)
Definition moved : R := (u_arg cl + u_ref cl + 2 * u_move cl) * width.

Definition widened : class :=
  let grown x := x * exp width in
  Class (u_arg cl) (u_ref cl) (u_move cl) (eps cl + moved) (grown (kappa cl))
        (Format (unit (weights cl)) (grown (tiny (weights cl))) (NumRound.top (weights cl)))
        (rounded_sum cl) (u_n cl) (grown (eta_n cl)) (u_o cl) (grown (eta_o cl)) (u_part cl).

Definition rising : range := Range low top 0 0.

Lemma width0 : 0 <= width.
Proof. unfold width; lra. Qed.

Lemma moved0 : 0 <= moved.
Proof.
  destruct sane as [a0 [r0 [v0 _]]]; pose proof width0.
  unfold moved; apply Rmult_le_pos; lra.
Qed.

Lemma widened_is_sane : sane_class widened.
Proof.
  destruct sane as [a0 [r0 [v0 [e0 [k0 [uw0 [tw0 [un0 [en0 [uo0 [eo0 up0]]]]]]]]]]].
  pose proof moved0; pose proof (exp_pos width) as g0; apply Rlt_le in g0.
  unfold sane_class, widened; simpl; repeat split; try assumption; try lra;
    apply Rmult_le_pos; assumption.
Qed.

(** The exponent of a scale that is within the width. *)
Definition small (t : R) : Prop := - width <= t <= width.

Lemma scale_small t x : small t -> 0 <= x -> exp t * x <= x * exp width.
Proof.
  intros [_ hi] x0; rewrite Rmult_comm; apply Rmult_le_compat_l; [exact x0 | apply exp_le, hi].
Qed.

Lemma small_abs t : small t -> Rabs t <= width.
Proof. intros [lo hi]; apply Rabs_le; lra. Qed.

(** ** One step *)

Lemma two_shares d a b :
  0 <= a -> 0 <= b -> Rabs d <= a + b -> exists x y, d = x + y /\ Rabs x <= a /\ Rabs y <= b.
Proof.
  intros a0 b0 le; apply Rabs_between in le as [lo hi].
  destruct (Rle_dec d a) as [below | above]; [destruct (Rle_dec (- a) d) as [in_a | out]|].
  - exists d, 0; rewrite Rabs_R0; repeat split; try lra; apply Rabs_le; lra.
  - exists (- a), (d + a); repeat split; try lra; apply Rabs_le; lra.
  - exists a, (d - a); repeat split; try lra; apply Rabs_le; lra.
Qed.

(** The argument of an exponential, and the exponential, in another scale. *)
Lemma argument_moved r r' x z t :
  argument cl r x z -> 0 <= r' -> u_arg cl * Rabs t + (r - r') <= moved ->
  exists z', argument widened r' (x + t) z' /\ Rabs (z + t - z') <= moved.
Proof.
  unfold argument; intros arg r0 le; destruct sane as [a0 _].
  assert (Rabs x <= Rabs (x + t) + Rabs t) as longer
    by (replace x with ((x + t) + - t) at 1 by ring; rewrite <- (Rabs_Ropp t);
        apply Rabs_triang).
  pose proof (Rmult_le_compat_l _ _ _ a0 longer).
  pose proof (Rmult_le_pos _ _ a0 (Rabs_pos (x + t))).
  destruct (two_shares (z - x) (u_arg cl * Rabs (x + t) + r') moved) as [y [y' [E [le_y le_y']]]];
    [lra | apply moved0 | lra |].
  exists (x + t + y); split; simpl.
  - replace (x + t + y - (x + t)) with y by ring; exact le_y.
  - replace (z + t - (x + t + y)) with y' by lra; exact le_y'.
Qed.

Lemma exponential_moved z p t z' :
  exponential cl z p -> small t -> Rabs (z + t - z') <= moved ->
  exponential widened z' (exp t * p).
Proof.
  intros [p0 [y [k [le_y [le_k E]]]]] sm near_z; pose proof (exp_pos t) as t0.
  split; [apply Rmult_le_pos; lra|].
  exists (y + (z + t - z')), (exp t * k); simpl; split; [|split].
  - pose proof (Rabs_triang y (z + t - z')); lra.
  - rewrite Rabs_mult, (Rabs_pos_eq (exp t)) by lra.
    apply Rle_trans with (exp t * kappa cl); [apply Rmult_le_compat_l; lra|].
    apply scale_small; [exact sm|]; destruct sane as [_ [_ [_ [_ [k0 _]]]]]; exact k0.
  - rewrite E; replace (z' + (y + (z + t - z'))) with (t + (z + y)) by ring.
    rewrite (exp_plus t); ring.
Qed.

Lemma rounds_moved t p p' :
  small t -> rounds (weights cl) p p' -> rounds (weights widened) (exp t * p) (exp t * p').
Proof.
  unfold rounds; simpl; intros sm near_p; pose proof (exp_pos t) as t0; apply Rlt_le in t0.
  rewrite <- Rmult_minus_distr_l, !Rabs_mult, (Rabs_pos_eq (exp t)) by exact t0.
  apply Rle_trans with (1 := Rmult_le_compat_l _ _ _ t0 near_p).
  rewrite <- RmaxRmult by exact t0; apply Rmax_grows; [right; ring|].
  apply scale_small; [exact sm|]; destruct sane as [_ [_ [_ [_ [_ [_ [tw0 _]]]]]]]; exact tw0.
Qed.

Lemma larger_by x y : Rabs x - Rabs y <= Rabs (x - y).
Proof.
  pose proof (Rabs_triang (x - y) y); replace (x - y + y) with x in H by ring; lra.
Qed.

(** A weight at the reference m, in the scale of M. *)
Lemma weighs_moved rg j m p p' M :
  weighs cl rg j m p p' -> small (m - M) -> low <= s j -> s j <= M -> M <= top -> top <= cap j ->
  weighs widened rising j M (exp (m - M) * p) (exp (m - M) * p').
Proof.
  intros [_ [_ [_ [[s' [z [near_s [arg expo]]]] near_p]]]] sm above below le cap_le.
  pose proof (small_abs _ sm) as wide; pose proof width0.
  destruct sane as [a0 [r0 [v0 _]]]; pose proof (Rabs_pos M).
  split; [unfold admits, rising; simpl; lra|]; split; [lra|].
  split; [unfold rising; simpl; lra|]; split; [|apply rounds_moved; assumption].
  destruct (argument_moved _ (u_ref cl * Rabs M) _ _ (m - M) arg) as [z' [arg' near_z]].
  - apply Rmult_le_pos; assumption.
  - pose proof (Rmult_le_compat_l _ _ _ a0 wide).
    pose proof (Rmult_le_compat_l _ _ _ r0 (Rle_trans _ _ _ (larger_by m M) wide)).
    assert (0 <= u_move cl * width) by (apply Rmult_le_pos; assumption).
    unfold moved; lra.
  - exists s', z'; split; [exact near_s|]; split.
    + replace (s' - M) with (s' - m + (m - M)) by ring; exact arg'.
    + apply (exponential_moved z); assumption.
Qed.

(** A factor between m and m', in the scales of M and M'. *)
Lemma factor_moved ns m m' M M' f :
  factor cl m [] m' f -> small (m - M) -> small (m' - M') -> small (m' - M' - (m - M)) ->
  factor widened M ns M' (exp (m' - M' - (m - M)) * f).
Proof.
  intros fac sm sm' sm_t.
  pose proof (small_abs _ sm) as wide; pose proof (small_abs _ sm') as wide'.
  pose proof (small_abs _ sm_t) as wide_t; pose proof width0.
  destruct sane as [a0 [r0 [v0 [e0 [k0 _]]]]].
  assert (exists z, argument cl (u_move cl * (Rabs m + Rabs m')) (m - m') z /\
                    exponential cl z f) as [z [arg expo]].
  { destruct fac as [z arg expo | le -> | n E _ _ _];
      [exists z; split; assumption | | discriminate].
    exists 0; split; unfold argument, exponential.
    - replace (0 - (m - m')) with (m' - m) by ring.
      pose proof (Rmult_le_pos _ _ a0 (Rabs_pos (m - m'))).
      pose proof (Rmult_le_pos _ _ v0 (Rabs_pos m')); lra.
    - split; [lra|]; exists 0, 0; rewrite Rabs_R0, !Rplus_0_r, exp_0; repeat split; assumption. }
  destruct (argument_moved _ (u_move cl * (Rabs M + Rabs M')) _ _ (m' - M' - (m - M)) arg)
    as [z' [arg' near_z]].
  - apply Rmult_le_pos; [exact v0|]; pose proof (Rabs_pos M); pose proof (Rabs_pos M'); lra.
  - pose proof (Rmult_le_compat_l _ _ _ a0 wide_t).
    assert (Rabs m + Rabs m' - (Rabs M + Rabs M') <= 2 * width) as sizes
      by (pose proof (larger_by m M); pose proof (larger_by m' M'); lra).
    pose proof (Rmult_le_compat_l _ _ _ v0 sizes).
    assert (0 <= u_ref cl * width) by (apply Rmult_le_pos; assumption).
    unfold moved; lra.
  - apply by_exponential with z'; simpl.
    + replace (M - M') with (m - m' + (m' - M' - (m - M))) by ring; exact arg'.
    + apply (exponential_moved z); assumption.
Qed.

Lemma adds_moved u eta c d ops l l' eta' :
  0 <= c -> c * eta <= eta' -> adds u eta d ops l l' ->
  adds u eta' d ops (map (Rmult c) l) (map (Rmult c) l').
Proof.
  intros c0 le sum; induction sum as
    [|t|d k b a d' k' b' a' _ IH _ IH'|w e d k b a y _ IH near_y|d k b b' a p _ IH]; simpl.
  - apply adds_none.
  - apply adds_term.
  - rewrite !map_app; apply adds_beside; assumption.
  - apply (adds_coarse _ _ w e d k _ (map (Rmult c) a)); [exact IH|].
    set (g := (1 + u) ^ S w - 1) in *; clearbody g.
    unfold plain, magnitude in *; rewrite !total_map.
    rewrite (total_ext (fun x => Rabs (c * x)) (fun x => c * Rabs x))
      by (intros; rewrite Rabs_mult, (Rabs_pos_eq c) by exact c0; reflexivity).
    rewrite !total_scale, <- Rmult_minus_distr_l, Rabs_mult, (Rabs_pos_eq c) by exact c0.
    pose proof (Rmult_le_compat_l c _ _ c0 near_y).
    pose proof (Rmult_le_compat_l _ _ _ (pos_INR e) le); lra.
  - apply (adds_order _ _ d k (map (Rmult c) b)); [apply Permutation_map, p | exact IH].
Qed.

Lemma store_moved u eta c x x' eta' :
  0 <= c -> c * eta <= eta' -> Rabs (x' - x) <= u * Rabs x + eta ->
  Rabs (c * x' - c * x) <= u * Rabs (c * x) + eta'.
Proof.
  intros c0 le near_x; rewrite <- Rmult_minus_distr_l, !Rabs_mult, (Rabs_pos_eq c) by exact c0.
  pose proof (Rmult_le_compat_l c _ _ c0 near_x); lra.
Qed.

(** ** All steps *)

(** NUM-8: in the scale of any M that is no less than the scores, and as near, the same numbers are
    an execution whose references only rise, of the same counts. *)
Theorem lags_rise J k m ns os M :
  lags J k m ns os ->
  (forall j, In j J -> low <= s j /\ top <= cap j) -> (forall j, In j J -> s j <= M) ->
  M <= top -> m - ahead <= M <= m + behind ->
  runs widened rising J k M (map (Rmult (exp (m - M))) ns) (map (Rmult (exp (m - M))) os).
Proof.
  destruct sane as [a0 [r0 [v0 [e0 [k0 [uw0 [tw0 [un0 [en0 [uo0 [eo0 up0]]]]]]]]]]].
  assert (forall m M x, m - ahead <= M -> M <= m + behind -> 0 <= x ->
            exp (m - M) * x <= x * exp width) as grown
    by (intros; apply scale_small; [unfold small, width; lra | assumption]).
  intros run; revert M; induction run as
    [rg j m p p' w nr | J k m ns os J' k' ns' os' run IH run' IH'
    | J J' k m ns os p run IH
    | J k m ns os d ops ns' run IH sum | J k m ns os d ops os' run IH sum
    | J k m ns os m' f run IH [lower [i [ini upper]]] nr fac
    | J k m n o n' o' run IH near_n near_o];
    intros M inside below le [lo hi].
  - destruct (inside j (or_introl eq_refl)) as [above cap_le].
    assert (small (m - M)) as sm by (unfold small, width; lra).
    pose proof (runs_key widened rising j M _ _
                  (weighs_moved rg j m p p' M w sm above (below j (or_introl eq_refl)) le cap_le))
      as one.
    simpl in one |- *; rewrite Rmult_assoc in one; destruct (rounded_sum cl); exact one.
  - rewrite !map_app; apply runs_beside; [apply IH | apply IH']; try lra;
      intros j inj; first [apply inside | apply below]; apply in_or_app; auto.
  - apply (runs_order _ _ J); [exact p|]; apply IH; try lra;
      intros j inj; first [apply inside | apply below]; apply (Permutation_in j p inj).
  - apply (runs_sum_n widened rising _ _ _ (map (Rmult (exp (m - M))) ns));
      [apply IH; auto; lra|].
    apply (adds_moved (u_n cl) (eta_n cl));
      [left; apply exp_pos | apply grown; assumption | exact sum].
  - apply (runs_sum_o widened rising _ _ _ _ (map (Rmult (exp (m - M))) os));
      [apply IH; auto; lra|].
    apply (adds_moved (u_o cl) (eta_o cl));
      [left; apply exp_pos | apply grown; assumption | exact sum].
  - set (M0 := Rmin M (m + behind)).
    assert (M0 <= M) as rises by apply Rmin_l.
    assert (M0 <= m + behind) as M0_hi by apply Rmin_r.
    assert (m - ahead <= M0) as M0_lo.
    { pose proof (below i ini); unfold M0, Rmin; destruct (Rle_dec M (m + behind)); lra. }
    assert (forall j, In j J -> s j <= M0) as below0.
    { intros j inj; pose proof (below j inj); pose proof (lower j inj).
      unfold M0, Rmin; destruct (Rle_dec M (m + behind)); lra. }
    pose proof (IH M0 inside below0 ltac:(lra) (conj M0_lo M0_hi)) as before.
    assert (admits rising M) as ad.
    { pose proof (below i ini); pose proof (proj1 (inside i ini)).
      unfold admits, rising; simpl; lra. }
    assert (M0 - fall rising <= M) as no_fall by (unfold rising; simpl; lra).
    assert (small (m - M0) /\ small (m' - M) /\ small (m' - M - (m - M0))) as [sm [sm' sm_t]]
      by (unfold small, width; lra).
    pose proof (runs_step _ _ _ _ _ _ _ M _ before ad no_fall
                  (factor_moved (map (Rmult (exp (m - M0))) ns) m m' M0 M f fac sm sm' sm_t))
      as after.
    rewrite !map_map in after |- *.
    assert (forall x, exp (m' - M - (m - M0)) * f * (exp (m - M0) * x) = exp (m' - M) * (f * x))
      as same.
    { intros x; replace (m' - M) with ((m' - M - (m - M0)) + (m - M0)) at 2 by ring.
      rewrite exp_plus; ring. }
    rewrite (map_ext _ _ same), (map_ext _ _ same) in after; exact after.
  - pose proof (IH M inside below le (conj lo hi)) as before; simpl in before |- *.
    apply (runs_store widened rising _ _ _ _ _ _ _ before); simpl;
      apply store_moved with (eta := eta_n cl) + apply store_moved with (eta := eta_o cl);
      try (left; apply exp_pos); try (apply grown; assumption); assumption.
Qed.

(** ** What is written *)

Lemma largest_score (J : list input) :
  J <> [] -> exists j, In j J /\ forall i, In i J -> s i <= s j.
Proof.
  induction J as [|j J IH]; intros some; [contradiction|].
  destruct J as [|j' J'] eqn:E.
  - exists j; split; [left; reflexivity|]; intros i [<- | []]; lra.
  - destruct IH as [i [ini most]]; [discriminate|]; rewrite <- E in *.
    destruct (Rle_dec (s j) (s i)) as [le | gt].
    + exists i; split; [right; exact ini|]; intros x [<- | inx]; [exact le | apply most, inx].
    + exists j; split; [left; reflexivity|]; intros x [<- | inx]; [lra|].
      pose proof (most x inx); lra.
Qed.

(** In the scale of their largest score, in the order of J'. *)
Lemma lags_at_largest J J' done m n o :
  low <= top -> (forall j, In j J' -> low <= s j <= top /\ top <= cap j) ->
  lags J done m [n] [o] -> near J m -> Permutation J J' ->
  exists j, In j J' /\
    runs widened rising J' done (s j) [exp (m - s j) * n] [exp (m - s j) * o].
Proof.
  intros span inside run nr perm.
  pose proof (lags_order _ _ _ _ _ _ perm run) as run'.
  destruct (near_order _ _ _ perm nr) as [lower [i [ini upper]]].
  destruct (largest_score J') as [j [inj most]]; [intros ->; contradiction|].
  exists j; split; [exact inj|].
  apply (lags_rise J' done m [n] [o] (s j) run'); try assumption.
  - intros x inx; destruct (inside x inx); lra.
  - destruct (inside j inj); lra.
  - pose proof (lower j inj); pose proof (most i ini); lra.
Qed.

(** NUM-10: it is within the tolerance of the widened class, without slack; and with any, where
    references may lie further apart. *)
Theorem lags_hold rg e J J' k done m n o out :
  sane_ending e -> low <= top -> wider rising rg ->
  (forall j, In j J' -> low <= s j <= top /\ top <= cap j) ->
  lags J done m [n] [o] -> near J m -> Permutation J J' -> no_more done k ->
  0 < left_over widened rg J' k -> ends e n o (Some out) ->
  Rabs (out - exact J') <= tolerance widened rg e J' k.
Proof.
  intros sane_e span wide inside run nr perm le left [q [near_q st]].
  assert (sane_range rg) as sane' by (destruct wide as [? [? [? ?]]]; split; simpl in *; lra).
  destruct (lags_at_largest _ _ _ _ _ _ span inside run nr perm) as [j [_ moved_run]].
  set (M := s j) in moved_run.
  apply (runs_wider _ _ _ wide) in moved_run.
  destruct (quotient_holds widened rg widened_is_sane sane' J' k done _ _ _ moved_run le left)
    as [n0 _].
  pose proof (exp_pos (m - M)) as c0.
  assert (0 < n) as n_pos.
  { destruct (Rle_dec n 0) as [neg | pos]; [|lra].
    assert (exp (m - M) * n <= 0) by nra; lra. }
  apply (tolerance_holds widened rg widened_is_sane sane' e J' k done _ _ _ out sane_e
           moved_run le left).
  exists q; split; [|exact st].
  replace (exp (m - M) * o / (exp (m - M) * n)) with (o / n) by (field; lra); exact near_q.
Qed.

(** NUM-11: so is the log-sum-exp. *)
Theorem lags_lse_hold rg J J' k done m n o l x :
  low <= top -> wider rising rg ->
  (forall j, In j J' -> low <= s j <= top /\ top <= cap j) ->
  lags J done m [n] [o] -> near J m -> Permutation J J' -> no_more done k ->
  0 < left_over widened rg J' k -> Rabs (l - (m + ln n)) <= x ->
  Rabs (l - ln (weight_sum J')) <= x - ln (1 - denominator_error widened rg J' k).
Proof.
  intros span wide inside run nr perm le left near_l.
  assert (sane_range rg) as sane' by (destruct wide as [? [? [? ?]]]; split; simpl in *; lra).
  assert (J' <> []) as some.
  { intros ->; destruct nr as [_ [j [inj _]]].
    apply (Permutation_in j perm) in inj; contradiction. }
  destruct (lags_at_largest _ _ _ _ _ _ span inside run nr perm) as [j [_ moved_run]].
  set (M := s j) in moved_run.
  apply (runs_wider _ _ _ wide) in moved_run.
  destruct (quotient_holds widened rg widened_is_sane sane' J' k done _ _ _ moved_run le left)
    as [n0 _].
  pose proof (exp_pos (m - M)) as c0.
  assert (0 < n) as n_pos.
  { destruct (Rle_dec n 0) as [neg | pos]; [|lra].
    assert (exp (m - M) * n <= 0) by nra; lra. }
  apply (lse_holds widened rg widened_is_sane sane' J' k done _ _ _ l x some moved_run le left).
  rewrite ln_mult, ln_exp by assumption.
  replace (M + (m - M + ln n)) with (m + ln n) by ring; exact near_l.
Qed.

End Lag.

(** ** Near the computed scores *)

(** NUM-21: m is at most [behind] below the computed scores of the keys, and at most [ahead] above
    the largest. *)
Definition near_computed (ahead behind : R) (J : list (input * R)) (m : R) : Prop :=
  (forall x, In x J -> snd x - behind <= m) /\ exists x, In x J /\ m <= snd x + ahead.

(** Then it is near the exact ones, but for the largest error of a score. *)
Theorem near_but_for_errors ahead behind error J m :
  (forall x, In x J -> Rabs (snd x - s (fst x)) <= error) ->
  near_computed ahead behind J m ->
  near (ahead + error) (behind + error) (map fst J) m.
Proof.
  intros close [lower [x [inx upper]]]; split.
  - intros j inj; apply in_map_iff in inj as [y [<- iny]].
    pose proof (lower y iny); pose proof (close y iny) as near_y;
      apply Rabs_between in near_y; lra.
  - exists (fst x); split; [apply in_map, inx|].
    pose proof (close x inx) as near_x; apply Rabs_between in near_x; lra.
Qed.
