(* SPDX-License-Identifier: Apache-2.0 *)
(** * Partial results whose references were near the maximum (spec/tolerance.md: NUM-21, NUM-22)

    A kernel that splits the keys may let the reference of each split lag behind, or run ahead, and
    divide each split by its n before the splits are merged. To divide makes the reference of a
    state its log-sum-exp, wherever the reference was. So a split that was divided is a state of an
    execution in the scale of its largest score, and what follows are steps of one whose references
    may slip. *)
From Coq Require Import Reals List Permutation Lra Lia.
From Chunkproof Require Import NumCore NumRound NumExec NumInvariant NumTolerance NumLag NumSlip.
Import ListNotations.
Open Scope R_scope.

Section Parts.
Variables (cl : class) (low top ahead behind : R) (rg : range) (slip : R).
Hypothesis sane : sane_class cl.
Hypothesis ahead0 : 0 <= ahead.
Hypothesis behind0 : 0 <= behind.
Hypothesis slip0 : 0 <= slip.
Hypothesis span : low <= top.
Hypothesis wide : wider (rising low top) rg.

Let cl' := widened cl ahead behind.

(** The keys of a split, its log-sum-exp l, and what merging makes of splits; NUM-8. [n] is how
    often a reference has slipped. *)
Inductive parts : nat -> list input -> counts -> R -> list R -> list R -> Prop :=
  | parts_divided J k m x y l :
      (forall j, In j J -> low <= s j <= top /\ top <= cap j) ->
      lags cl ahead behind J k m [x] [y] -> near ahead behind J m -> 0 < x ->
      Rabs (l - (m + ln x)) <= eps cl + u_move cl * Rabs l ->
      admits rg l -> (forall j, In j J -> s j - fall rg <= l) ->
      parts 0 J (Counts (depth_n k) (depth_o k) (stores k) (S (steps k)) (ops_n k) (ops_o k))
            l [1] [y / x]
  | parts_beside n J k m ns os n' J' k' ns' os' :
      parts n J k m ns os -> parts n' J' k' m ns' os' ->
      parts (Nat.max n n') (J ++ J') (beside k k') m (ns ++ ns') (os ++ os')
  | parts_order n J J' k m ns os :
      Permutation J J' -> parts n J k m ns os -> parts n J' k m ns os
  | parts_sum_n n J k m ns os d ops ns' :
      parts n J k m ns os -> adds (u_n cl) (eta_n cl) d ops ns ns' ->
      parts n J
        (Counts (depth_n k + d) (depth_o k) (stores k) (steps k) (ops_n k + ops) (ops_o k))
           m ns' os
  | parts_sum_o n J k m ns os d ops os' :
      parts n J k m ns os -> adds (u_o cl) (eta_o cl) d ops os os' ->
      parts n J
        (Counts (depth_n k) (depth_o k + d) (stores k) (steps k) (ops_n k) (ops_o k + ops))
           m ns os'
  | parts_step n J k m ns os m' f :
      parts n J k m ns os -> admits rg m' -> m - fall rg <= m' -> factor cl m ns m' f ->
      parts n J (Counts (depth_n k) (depth_o k) (stores k) (S (steps k)) (ops_n k) (ops_o k))
           m' (map (Rmult f) ns) (map (Rmult f) os)
  | parts_store n J k m x y x' y' :
      parts n J k m [x] [y] ->
      Rabs (x' - x) <= u_part cl * Rabs x + eta_n cl ->
      Rabs (y' - y) <= u_part cl * Rabs y + eta_o cl ->
      parts n J
        (Counts (depth_n k) (depth_o k) (S (stores k)) (steps k) (S (ops_n k)) (S (ops_o k)))
           m [x'] [y']
  | parts_slip n J k m ns os m' :
      parts n J k m ns os -> admits rg m' -> Rabs (m' - m) <= slip ->
      parts (S n) J k m' ns os.

(** ** A step of the class is one of the wider class *)

Lemma grown_is_more x : 0 <= x -> x <= x * exp (width ahead behind).
Proof.
  intros x0; rewrite <- (Rmult_1_r x) at 1; apply Rmult_le_compat_l; [exact x0|].
  rewrite <- exp_0; apply exp_le; unfold width; lra.
Qed.

Lemma factor_wider m ns m' f : factor cl m ns m' f -> factor cl' m ns m' f.
Proof.
  pose proof (moved0 cl ahead behind sane ahead0 behind0) as more.
  destruct sane as [_ [_ [_ [_ [k0 _]]]]]; pose proof (grown_is_more _ k0).
  intros [z arg [p0 [y [k [le_y [le_k E]]]]] | le -> | n E n0 near_m ->].
  - apply by_exponential with z; [exact arg|]; split; [exact p0|].
    exists y, k; simpl; repeat split; [lra | lra | exact E].
  - apply by_renaming; [exact le | reflexivity].
  - apply by_division with n; [exact E | exact n0 | simpl; lra | reflexivity].
Qed.

Lemma adds_wider u eta d ops l l' :
  0 <= eta -> adds u eta d ops l l' -> adds u (eta * exp (width ahead behind)) d ops l l'.
Proof.
  intros eta0 sum.
  assert (forall x, map (Rmult 1) x = x) as same
    by (intros x; rewrite (map_ext _ (fun y => y)) by (intros; ring); apply map_id).
  rewrite <- (same l), <- (same l'); apply (adds_moved u eta); [lra | | exact sum].
  pose proof (grown_is_more _ eta0); lra.
Qed.

(** A split in the scale of its largest score, divided. *)
Lemma divided_runs J k m x y l :
  (forall j, In j J -> low <= s j <= top /\ top <= cap j) ->
  lags cl ahead behind J k m [x] [y] -> near ahead behind J m -> 0 < x ->
  Rabs (l - (m + ln x)) <= eps cl + u_move cl * Rabs l ->
  admits rg l -> (forall j, In j J -> s j - fall rg <= l) ->
  runs cl' rg J (Counts (depth_n k) (depth_o k) (stores k) (S (steps k)) (ops_n k) (ops_o k))
       l [1] [y / x].
Proof.
  intros inside run nr x0 near_l ad above.
  destruct (lags_at_largest cl low top ahead behind sane ahead0 behind0 J J k m x y span inside
              run nr (Permutation_refl J)) as [j [inj moved_run]].
  set (M := s j) in *.
  apply (runs_wider _ _ _ wide) in moved_run.
  pose proof (exp_pos (m - M)) as c0.
  assert (0 < exp (m - M) * x) as n0 by (apply Rmult_lt_0_compat; assumption).
  pose proof (moved0 cl ahead behind sane ahead0 behind0) as more.
  assert (factor cl' M [exp (m - M) * x] l (/ (exp (m - M) * x))) as fac.
  { apply by_division with (exp (m - M) * x); [reflexivity | exact n0 | | reflexivity].
    rewrite ln_mult, ln_exp by assumption.
    replace (M + (m - M + ln x)) with (m + ln x) by ring; simpl; lra. }
  pose proof (runs_step cl' rg _ _ _ _ _ l _ moved_run ad (above j inj) fac) as after.
  simpl in after.
  replace (/ (exp (m - M) * x) * (exp (m - M) * x)) with 1 in after by (field; lra).
  replace (/ (exp (m - M) * x) * (exp (m - M) * y)) with (y / x) in after by (field; lra).
  exact after.
Qed.

Lemma runs_slip_never J k m ns os : runs cl' rg J k m ns os -> slips cl' rg slip 0 J k m ns os.
Proof.
  induction 1 as
    [m ad | j m p p' w | J k m ns os J' k' ns' os' run IH run' IH'
    | J J' k m ns os p run IH | J k m ns os d ops ns' run IH sum
    | J k m ns os d ops os' run IH sum | J k m ns os m' f run IH ad le fac
    | J k m n o n' o' run IH near_n near_o].
  - apply slips_none, ad.
  - apply slips_key, w.
  - exact (slips_beside cl' rg slip 0 _ _ _ _ _ 0 _ _ _ _ IH IH').
  - apply (slips_order _ _ _ _ J); assumption.
  - apply (slips_sum_n _ _ _ _ _ _ _ ns); assumption.
  - apply (slips_sum_o _ _ _ _ _ _ _ _ os); assumption.
  - apply (slips_step _ _ _ _ _ _ m); assumption.
  - apply (slips_store _ _ _ _ _ _ _ n o); assumption.
Qed.

(** ** All steps *)

(** NUM-21, NUM-22: an execution of the class in the scale of the maximum, whose references may
    slip. *)
Theorem parts_are_slips n J k m ns os :
  parts n J k m ns os -> slips cl' rg slip n J k m ns os.
Proof.
  destruct sane as [_ [_ [_ [_ [_ [_ [_ [_ [en0 [_ [eo0 _]]]]]]]]]]].
  pose proof (grown_is_more _ en0) as more_n; pose proof (grown_is_more _ eo0) as more_o.
  induction 1 as
    [J k m x y l inside run nr x0 near_l ad above
    | n J k m ns os n' J' k' ns' os' run IH run' IH'
    | n J J' k m ns os p run IH
    | n J k m ns os d ops ns' run IH sum | n J k m ns os d ops os' run IH sum
    | n J k m ns os m' f run IH ad le fac
    | n J k m x y x' y' run IH near_x near_y
    | n J k m ns os m' run IH ad le].
  - apply runs_slip_never, divided_runs with m; assumption.
  - apply slips_beside; assumption.
  - apply (slips_order _ _ _ _ J); assumption.
  - apply (slips_sum_n _ _ _ _ _ _ _ ns); [exact IH | apply adds_wider; assumption].
  - apply (slips_sum_o _ _ _ _ _ _ _ _ os); [exact IH | apply adds_wider; assumption].
  - apply (slips_step _ _ _ _ _ _ m); [exact IH | exact ad | exact le | apply factor_wider, fac].
  - apply (slips_store _ _ _ _ _ _ _ x y); [exact IH | simpl; lra | simpl; lra].
  - apply (slips_slip _ _ _ _ _ _ m); assumption.
Qed.

(** NUM-10: so what is written is within the tolerance of that class. *)
Theorem parts_hold most n e J done k m x y out :
  sane_ending e -> (n <= most)%nat ->
  parts n J done m [x] [y] -> no_more done k ->
  0 < left_over (steady cl' slip most) (roomy rg slip most) (map (uncertain slip most) J) k ->
  ends e x y (Some out) ->
  Rabs (out - exact J) <=
    tolerance (steady cl' slip most) (roomy rg slip most) e (map (uncertain slip most) J) k.
Proof.
  intros sane_e few run le left st.
  assert (sane_range rg) as sane' by (destruct wide as [? [? [? ?]]]; split; simpl in *; lra).
  apply (slips_hold cl' rg slip most (widened_is_sane cl ahead behind sane ahead0 behind0) slip0
           e n J done k m x y); try assumption.
  apply parts_are_slips, run.
Qed.

End Parts.
