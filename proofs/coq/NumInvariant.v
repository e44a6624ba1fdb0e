(* SPDX-License-Identifier: Apache-2.0 *)
(** * How far a state strays from the exact one (spec/tolerance.md: NUM-7, NUM-9)

    A state is the sum of weights, and of weights times values. Each weight strays from exp(s - m)
    by a bounded part, the same for n and for o but for the rounding of P; and the two sums lose a
    bounded part of their magnitude. Every step of an execution keeps this, with bounds that grow as
    is said here. *)
From Coq Require Import Reals List Permutation Lra Lia Psatz.
From Chunkproof Require Import NumCore NumRound NumExec.
Import ListNotations.
Open Scope R_scope.

(** ** NUM-9: how far a state strays *)

(** Largest magnitude of a reference. *)
Definition reference (rg : range) : R := Rmax (Rabs (low rg)) (Rabs (high rg)).

(** Bound of the error of a key's weight, as a logarithm, when its state has the reference m. *)
Definition strays (cl : class) (rg : range) (steps : nat) (m : R) (j : input) : R :=
  sigma j + u_arg cl * (sigma j + (m - s j) + 2 * (slack rg + fall rg * INR steps))
  + u_ref cl * reference rg + eps cl + INR steps * (eps cl + 2 * u_move cl * reference rg).

(** By how much a change of the reference may enlarge an absolute error. *)
Definition stretch (cl : class) (rg : range) : R :=
  exp (fall rg + u_arg cl * (high rg - low rg) + 2 * u_move cl * reference rg + eps cl) + kappa cl.

(** Bound of a weight in the scale of its state. *)
Definition reach (cl : class) (rg : range) (steps : nat) (j : input) : R :=
  ((exp (slack rg + strays cl rg 0 (high rg) j) + kappa cl) * (1 + unit (weights cl))
   + tiny (weights cl)) * stretch cl rg ^ steps.

(** What the underflow of factors takes from a weight, in the scale of exp(s). *)
Definition lost (cl : class) (rg : range) (steps : nat) (j : input) : R :=
  kappa cl * INR steps * reach cl rg steps j * exp (high rg).

(** The rounding of P, in the scale of exp(s). *)
Definition rounding (cl : class) (j : input) : R :=
  Rmax (unit (weights cl) * (exp (s j) + kappa cl * exp (cap j))) (tiny (weights cl) * exp (cap j)).

(** Absolute errors of a weight: in both sums, and in the numerator alone. *)
Definition in_both (cl : class) (rg : range) (steps : nat) (j : input) : R :=
  kappa cl * exp (cap j) + lost cl rg steps j + (if rounded_sum cl then rounding cl j else 0).
Definition in_numerator (cl : class) (rg : range) (steps : nat) (j : input) : R :=
  if rounded_sum cl then 0 else rounding cl j + lost cl rg steps j.

(** Errors of the weights of a key, in the scale of exp(s): common to both sums; of the numerator
    alone. *)
Definition weight_error (cl : class) (rg : range) (steps : nat) (m : R) (j : input) : R :=
  (exp (s j) + in_both cl rg steps j) * exp (strays cl rg steps m j) - exp (s j).
Definition numerator_error (cl : class) (rg : range) (steps : nat) (m : R) (j : input) : R :=
  in_numerator cl rg steps j * exp (strays cl rg steps m j).

(** Growth of what sums and stores may lose, relative and absolute. *)
Definition growth_n (cl : class) (k : counts) :=
  (1 + u_n cl) ^ depth_n k * (1 + u_part cl) ^ stores k.
Definition growth_o (cl : class) (k : counts) :=
  (1 + u_o cl) ^ depth_o k * (1 + u_part cl) ^ stores k.
Definition tiny_n (cl : class) (rg : range) (k : counts) : R :=
  INR (ops_n k) * eta_n cl * stretch cl rg ^ steps k * growth_n cl k.
Definition tiny_o (cl : class) (rg : range) (k : counts) : R :=
  INR (ops_o k) * eta_o cl * stretch cl rg ^ steps k * growth_o cl k.

(** The weights that a state has really given to a key: in n and in o, in the scale of the state. *)
Record use := Use { key : input; in_n : R; in_o : R }.

Definition fair (cl : class) (rg : range) (steps : nat) (m : R) (x : use) : Prop :=
  0 <= strays cl rg steps m (key x) /\
  Rabs (in_n x * exp m - exp (s (key x))) <= weight_error cl rg steps m (key x) /\
  Rabs (in_o x - in_n x) * exp m <= numerator_error cl rg steps m (key x) /\
  Rabs (in_n x) <= reach cl rg steps (key x) /\
  Rabs (in_o x - in_n x) <= reach cl rg steps (key x).

(** NUM-9: n is the sum of the weights, o the sum of the weights times the values, up to the
    rounding of these sums; and each weight is close to the exact one. *)
Definition strays_no_further (cl : class) (rg : range) (J : list input) (k : counts) (m : R)
  (ns os : list R) : Prop :=
  admits rg m /\
  exists U, map key U = J /\ Forall (fair cl rg (steps k) m) U /\
    gathers (growth_n cl k) (tiny_n cl rg k)
            (total (fun x => Rabs (in_n x)) U) (total in_n U) ns /\
    gathers (growth_o cl k) (tiny_o cl rg k)
            (total (fun x => Rabs (in_o x * value (key x))) U)
            (total (fun x => in_o x * value (key x)) U) os.

(** ** Numbers *)

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [lt | ->]; [left; apply exp_increasing, lt | right; reflexivity]. Qed.

Lemma exp_at_least_1 x : 0 <= x -> 1 <= exp x.
Proof. intros le; rewrite <- exp_0; apply exp_le, le. Qed.

(** |exp(t) - 1| <= exp(x) - 1 when |t| <= x. *)
Lemma exp_near_1 t x : Rabs t <= x -> Rabs (exp t - 1) <= exp x - 1.
Proof.
  intros near; apply Rabs_between in near as [lo hi].
  pose proof (exp_le _ _ hi) as A; pose proof (exp_le _ _ lo) as B.
  assert (0 <= x) as x0 by lra; pose proof (exp_at_least_1 x x0) as one.
  assert (exp (- x) * exp x = 1) as inv
    by (rewrite <- exp_plus; replace (- x + x) with 0 by ring; apply exp_0).
  assert (0 < exp (- x)) as pos by apply exp_pos.
  assert (2 - exp x <= exp (- x)) by nra.
  apply Rabs_le; lra.
Qed.

Lemma reference_bounds rg m : admits rg m -> Rabs m <= reference rg.
Proof.
  unfold admits, reference; intros [lo hi].
  pose proof (Rmax_l (Rabs (low rg)) (Rabs (high rg))).
  pose proof (Rmax_r (Rabs (low rg)) (Rabs (high rg))).
  revert H H0; unfold Rabs; destruct (Rcase_abs m), (Rcase_abs (low rg)), (Rcase_abs (high rg));
    lra.
Qed.

Lemma product_at_least_1 x y : 1 <= x -> 1 <= y -> 1 <= x * y.
Proof. intros; nra. Qed.

Section Invariant.
Variables (cl : class) (rg : range).
Hypothesis sane : sane_class cl.
Hypothesis sane' : sane_range rg.

Ltac sanity :=
  destruct sane as [arg0 [ref0 [mov0 [eps0 [kap0 [uw0 [tw0 [un0 [en0 [uo0 [eo0 up0]]]]]]]]]]];
  destruct sane' as [lohi [slack0 fall0]].

Lemma reference_pos : 0 <= reference rg.
Proof.
  apply Rle_trans with (Rabs (low rg)); [apply Rabs_pos | apply Rmax_l].
Qed.

Lemma stretch_at_least_1 : 1 <= stretch cl rg.
Proof.
  sanity; unfold stretch.
  assert (1 <= exp (fall rg + u_arg cl * (high rg - low rg) + 2 * u_move cl * reference rg +
    eps cl)).
  { apply exp_at_least_1.
    assert (0 <= high rg - low rg) as span by lra.
    pose proof (Rmult_le_pos _ _ arg0 span).
    pose proof (Rmult_le_pos _ _ mov0 reference_pos); lra. }
  lra.
Qed.

Lemma stretch_power k : 1 <= stretch cl rg ^ k.
Proof. apply pow_R1_Rle, stretch_at_least_1. Qed.

Lemma stretch_grows k k' : (k <= k')%nat -> stretch cl rg ^ k <= stretch cl rg ^ k'.
Proof. intros le; apply Rle_pow; [apply stretch_at_least_1 | exact le]. Qed.

Lemma growth_n_power k : 1 <= growth_n cl k.
Proof.
  sanity; unfold growth_n.
  pose proof (power_at_least_1 (u_n cl) (depth_n k) un0).
  pose proof (power_at_least_1 (u_part cl) (stores k) up0).
  apply product_at_least_1; assumption.
Qed.

Lemma growth_o_power k : 1 <= growth_o cl k.
Proof.
  sanity; unfold growth_o.
  pose proof (power_at_least_1 (u_o cl) (depth_o k) uo0).
  pose proof (power_at_least_1 (u_part cl) (stores k) up0).
  apply product_at_least_1; assumption.
Qed.

(** ** More work, larger bounds *)

Definition no_more (k k' : counts) : Prop :=
  (depth_n k <= depth_n k' /\ depth_o k <= depth_o k' /\ stores k <= stores k' /\
   steps k <= steps k' /\
   ops_n k <= ops_n k' /\ ops_o k <= ops_o k')%nat.

Lemma growth_n_grows k k' : no_more k k' -> growth_n cl k <= growth_n cl k'.
Proof.
  sanity; intros [dn [do [st _]]]; unfold growth_n; apply Rmult_le_compat.
  - pose proof (power_at_least_1 (u_n cl) (depth_n k) un0); lra.
  - pose proof (power_at_least_1 (u_part cl) (stores k) up0); lra.
  - apply power_grows; assumption.
  - apply power_grows; assumption.
Qed.

Lemma growth_o_grows k k' : no_more k k' -> growth_o cl k <= growth_o cl k'.
Proof.
  sanity; intros [dn [do [st _]]]; unfold growth_o; apply Rmult_le_compat.
  - pose proof (power_at_least_1 (u_o cl) (depth_o k) uo0); lra.
  - pose proof (power_at_least_1 (u_part cl) (stores k) up0); lra.
  - apply power_grows; assumption.
  - apply power_grows; assumption.
Qed.

(** The absolute errors, for n and o alike. *)
Lemma product_grows a b c d a' b' c' d' :
  0 <= a <= a' -> 0 <= b <= b' -> 0 <= c <= c' -> 0 <= d <= d' ->
  a * b * c * d <= a' * b' * c' * d'.
Proof.
  intros A B C D.
  assert (0 <= a * b <= a' * b') by (split; [nra | apply Rmult_le_compat; lra]).
  assert (0 <= a * b * c <= a' * b' * c') by (split; [nra | apply Rmult_le_compat; lra]).
  apply Rmult_le_compat; lra.
Qed.

Lemma tiny_n_grows k k' : no_more k k' -> tiny_n cl rg k <= tiny_n cl rg k'.
Proof.
  sanity; intros le; unfold tiny_n; pose proof (growth_n_grows _ _ le).
  pose proof (growth_n_power k); pose proof (stretch_power (steps k)).
  destruct le as [_ [_ [_ [st [on _]]]]]; pose proof (stretch_grows _ _ st).
  apply product_grows; try lra; split; [apply pos_INR | apply le_INR, on].
Qed.

Lemma tiny_o_grows k k' : no_more k k' -> tiny_o cl rg k <= tiny_o cl rg k'.
Proof.
  sanity; intros le; unfold tiny_o; pose proof (growth_o_grows _ _ le).
  pose proof (growth_o_power k); pose proof (stretch_power (steps k)).
  destruct le as [_ [_ [_ [st [_ oo]]]]]; pose proof (stretch_grows _ _ st).
  apply product_grows; try lra; split; [apply pos_INR | apply le_INR, oo].
Qed.

Lemma tiny_n_pos k : 0 <= tiny_n cl rg k.
Proof.
  sanity; unfold tiny_n; pose proof (growth_n_power k); pose proof (stretch_power (steps k)).
  apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rmult_le_pos; [apply pos_INR | exact en0]|]|];
    lra.
Qed.

Lemma tiny_o_pos k : 0 <= tiny_o cl rg k.
Proof.
  sanity; unfold tiny_o; pose proof (growth_o_power k); pose proof (stretch_power (steps k)).
  apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rmult_le_pos; [apply pos_INR | exact eo0]|]|];
    lra.
Qed.

Lemma strays_grows k k' m m' j :
  (k <= k')%nat -> m <= m' -> strays cl rg k m j <= strays cl rg k' m' j.
Proof.
  sanity; intros le lm; unfold strays; apply le_INR in le; pose proof (pos_INR k).
  assert (0 <= eps cl + 2 * u_move cl * reference rg)
    by (pose proof (Rmult_le_pos _ _ mov0 reference_pos); lra).
  assert (fall rg * INR k <= fall rg * INR k') by (apply Rmult_le_compat_l; lra).
  repeat apply Rplus_le_compat; try apply Rle_refl.
  - apply Rmult_le_compat_l; lra.
  - apply Rmult_le_compat_r; lra.
Qed.

Lemma reach_pos k j : 0 <= reach cl rg k j.
Proof.
  sanity; unfold reach; pose proof (stretch_power k).
  pose proof (exp_pos (slack rg + strays cl rg 0 (high rg) j)).
  apply Rmult_le_pos; [|lra]; apply Rplus_le_le_0_compat; [apply Rmult_le_pos; lra | exact tw0].
Qed.

Lemma reach_grows k k' j : (k <= k')%nat -> reach cl rg k j <= reach cl rg k' j.
Proof.
  sanity; intros le; pose proof (stretch_grows _ _ le); unfold reach.
  apply Rmult_le_compat_l; [|assumption].
  pose proof (exp_pos (slack rg + strays cl rg 0 (high rg) j)).
  apply Rplus_le_le_0_compat; [apply Rmult_le_pos; lra | exact tw0].
Qed.

Lemma lost_pos k j : 0 <= lost cl rg k j.
Proof.
  sanity; unfold lost; pose proof (exp_pos (high rg)).
  apply Rmult_le_pos; [|lra]; apply Rmult_le_pos; [|apply reach_pos].
  apply Rmult_le_pos; [exact kap0 | apply pos_INR].
Qed.

Lemma lost_grows k k' j : (k <= k')%nat -> lost cl rg k j <= lost cl rg k' j.
Proof.
  sanity; intros le; pose proof (reach_grows k k' j le); pose proof (reach_pos k j).
  pose proof (exp_pos (high rg)); pose proof (pos_INR k); apply le_INR in le.
  unfold lost; apply product_grows; lra.
Qed.

(** One more change of the reference: what underflow takes by it. *)
Lemma lost_next k j :
  lost cl rg k j + kappa cl * reach cl rg k j * exp (high rg) <= lost cl rg (S k) j.
Proof.
  sanity; pose proof (reach_grows k (S k) j ltac:(lia)); pose proof (reach_pos k j).
  pose proof (exp_pos (high rg)); pose proof (pos_INR k).
  unfold lost; rewrite S_INR.
  replace (kappa cl * INR k * reach cl rg k j * exp (high rg)
           + kappa cl * reach cl rg k j * exp (high rg))
    with (kappa cl * (INR k + 1) * reach cl rg k j * exp (high rg)) by ring.
  apply product_grows; lra.
Qed.

Lemma rounding_pos j : 0 <= rounding cl j.
Proof.
  sanity; unfold rounding; eapply Rle_trans; [|apply Rmax_r].
  apply Rmult_le_pos; [exact tw0 | left; apply exp_pos].
Qed.

Lemma in_both_pos k j : 0 <= in_both cl rg k j.
Proof.
  sanity; unfold in_both; pose proof (lost_pos k j); pose proof (rounding_pos j).
  pose proof (exp_pos (cap j)); pose proof (Rmult_le_pos _ _ kap0 (Rlt_le _ _ (exp_pos (cap j)))).
  destruct (rounded_sum cl); lra.
Qed.

Lemma in_numerator_pos k j : 0 <= in_numerator cl rg k j.
Proof.
  unfold in_numerator; pose proof (lost_pos k j); pose proof (rounding_pos j).
  destruct (rounded_sum cl); lra.
Qed.

Lemma in_both_grows k k' j : (k <= k')%nat -> in_both cl rg k j <= in_both cl rg k' j.
Proof. intros le; unfold in_both; pose proof (lost_grows k k' j le); lra. Qed.

Lemma in_numerator_grows k k' j :
  (k <= k')%nat -> in_numerator cl rg k j <= in_numerator cl rg k' j.
Proof.
  intros le; unfold in_numerator; pose proof (lost_grows k k' j le); destruct (rounded_sum cl); lra.
Qed.

Lemma weight_error_grows k k' m m' j :
  (k <= k')%nat -> m <= m' -> weight_error cl rg k m j <= weight_error cl rg k' m' j.
Proof.
  intros le lm; unfold weight_error.
  pose proof (in_both_grows k k' j le); pose proof (in_both_pos k j).
  pose proof (exp_pos (s j)); pose proof (exp_pos (strays cl rg k m j)).
  pose proof (exp_le _ _ (strays_grows k k' m m' j le lm)).
  assert ((exp (s j) + in_both cl rg k j) * exp (strays cl rg k m j)
          <= (exp (s j) + in_both cl rg k' j) * exp (strays cl rg k' m' j))
    by (apply Rmult_le_compat; lra).
  lra.
Qed.

Lemma numerator_error_grows k k' m m' j :
  (k <= k')%nat -> m <= m' -> numerator_error cl rg k m j <= numerator_error cl rg k' m' j.
Proof.
  intros le lm; unfold numerator_error.
  pose proof (in_numerator_grows k k' j le); pose proof (in_numerator_pos k j).
  pose proof (exp_pos (strays cl rg k m j)).
  pose proof (exp_le _ _ (strays_grows k k' m m' j le lm)).
  apply Rmult_le_compat; lra.
Qed.

Lemma fair_grows k k' m x : (k <= k')%nat -> fair cl rg k m x -> fair cl rg k' m x.
Proof.
  intros le [st [wt [nu [re re']]]].
  pose proof (strays_grows k k' m m (key x) le (Rle_refl m)).
  pose proof (weight_error_grows k k' m m (key x) le (Rle_refl m)).
  pose proof (numerator_error_grows k k' m m (key x) le (Rle_refl m)).
  pose proof (reach_grows k k' (key x) le).
  unfold fair; repeat split; lra.
Qed.

Lemma magnitudes_pos (f : use -> R) U : 0 <= total (fun x => Rabs (f x)) U.
Proof. apply total_not_negative; intros; apply Rabs_pos. Qed.

Lemma no_further_grows J k k' m ns os :
  no_more k k' -> strays_no_further cl rg J k m ns os -> strays_no_further cl rg J k' m ns os.
Proof.
  intros le [ad [U [keys [good [gn go]]]]]; split; [exact ad|]; exists U; split; [exact keys|].
  split; [|split].
  - revert good; apply Forall_impl; intros x; apply fair_grows, le.
  - revert gn; apply gathers_weaken; [apply magnitudes_pos | apply growth_n_grows, le |
      apply tiny_n_grows, le].
  - revert go; apply gathers_weaken; [apply magnitudes_pos | apply growth_o_grows, le |
      apply tiny_o_grows, le].
Qed.

(** ** A key *)

(** NUM-7: the weight of a key, as the class computes it. *)
Theorem weight_is_near j m p p' :
  weighs cl rg j m p p' ->
  fair cl rg 0 m (Use j (if rounded_sum cl then p' else p) p').
Proof.
  sanity;
    intros [ad [below [above [[s' [z [near_s [near_z [p0 [y [k [near_y [near_k E]]]]]]]]] near]]]].
  set (t := (s' - s j) + (z - (s' - m)) + y).
  set (X := strays cl rg 0 m j).
  assert (Rabs t <= X) as tX.
  { unfold argument in near_z; unfold t.
    pose proof (Rabs_triang ((s' - s j) + (z - (s' - m))) y).
    pose proof (Rabs_triang (s' - s j) (z - (s' - m))).
    assert (Rabs (s' - m) <= sigma j + (m - s j) + 2 * slack rg) as bound.
    { replace (s' - m) with ((s' - s j) + (s j - m)) by ring.
      pose proof (Rabs_triang (s' - s j) (s j - m)).
      assert (Rabs (s j - m) <= m - s j + 2 * slack rg) by (apply Rabs_le; lra).
      lra. }
    pose proof (Rmult_le_compat_l _ _ _ arg0 bound).
    pose proof (Rmult_le_compat_l _ _ _ ref0 (reference_bounds rg m ad)).
    pose proof (Rmult_le_pos _ _ ref0 reference_pos).
    unfold X, strays; simpl INR; lra. }
  assert (0 <= X) as X0 by (pose proof (Rabs_pos t); lra).
  assert (E' : p = exp (s j - m + t) + k)
    by (rewrite E; f_equal; f_equal; unfold t; ring).
  assert (Em : p * exp m = exp (s j) * exp t + k * exp m).
  { rewrite E', Rmult_plus_distr_r, <- !exp_plus; f_equal; f_equal; ring. }
  pose proof (exp_at_least_1 X X0) as X1; pose proof (exp_pos (s j)) as es.
  pose proof (exp_le _ _ below) as mc; pose proof (exp_pos m) as em.
  set (kc := kappa cl * exp (cap j)).
  assert (0 <= kc) as kc0 by (apply Rmult_le_pos; lra).
  assert (Rabs (k * exp m) <= kc) as kb.
  { rewrite Rabs_mult, (Rabs_pos_eq (exp m)) by lra.
    apply Rmult_le_compat; try lra; apply Rabs_pos. }
  assert (Rabs (p * exp m - exp (s j)) <= exp (s j) * (exp X - 1) + kc) as near_p.
  { rewrite Em.
    replace (exp (s j) * exp t + k * exp m - exp (s j))
      with (exp (s j) * (exp t - 1) + k * exp m) by ring.
    pose proof (Rabs_triang (exp (s j) * (exp t - 1)) (k * exp m)) as T.
    rewrite Rabs_mult, (Rabs_pos_eq (exp (s j))) in T by lra.
    pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ es) (exp_near_1 _ _ tX)); lra. }
  assert (kc <= kc * exp X) as kX by (pose proof (Rmult_le_compat_l _ _ _ kc0 X1); lra).
  assert (p * exp m <= (exp (s j) + kc) * exp X) as up_p.
  { apply Rabs_between in near_p; lra. }
  assert (Rabs (p' - p) * exp m <= rounding cl j * exp X) as near_p'.
  { apply Rle_trans with (Rmax (unit (weights cl) * Rabs p) (tiny (weights cl)) * exp m).
    { apply Rmult_le_compat_r; [lra | exact near]. }
    rewrite (Rabs_pos_eq p) by exact p0.
    unfold rounding; fold kc; rewrite !(Rmult_comm (Rmax _ _)).
    rewrite <- !RmaxRmult by lra; apply Rmax_grows.
    - replace (exp m * (unit (weights cl) * p)) with (unit (weights cl) * (p * exp m)) by ring.
      replace (exp X * (unit (weights cl) * (exp (s j) + kc)))
        with (unit (weights cl) * ((exp (s j) + kc) * exp X)) by ring.
      apply Rmult_le_compat_l; assumption.
    - replace (exp X * (tiny (weights cl) * exp (cap j)))
        with (tiny (weights cl) * (exp X * exp (cap j))) by ring.
      rewrite (Rmult_comm (exp m)); apply Rmult_le_compat_l; [exact tw0|].
      replace (exp m) with (1 * exp m) by ring; apply Rmult_le_compat; lra. }
  assert (p <= exp (slack rg + strays cl rg 0 (high rg) j) + kappa cl) as reach_p.
  { rewrite E'; apply Rplus_le_compat; [apply exp_le | apply Rabs_between in near_k; lra].
    pose proof (strays_grows 0 0 m (high rg) j (le_n 0) (proj2 ad)) as le; fold X in le.
    apply Rabs_between in tX; lra. }
  set (pm := exp (slack rg + strays cl rg 0 (high rg) j) + kappa cl) in *.
  assert (Rabs (p' - p) <= pm * unit (weights cl) + tiny (weights cl)) as reach_p'.
  { pose proof (rounds_sum _ _ _ uw0 tw0 near) as le; rewrite (Rabs_pos_eq p) in le by exact p0.
    pose proof (Rmult_le_compat_l _ _ _ uw0 reach_p); lra. }
  assert (E0 : reach cl rg 0 j = pm * (1 + unit (weights cl)) + tiny (weights cl))
    by (unfold reach; fold pm; simpl; ring).
  assert (0 <= pm) as pm0 by lra.
  pose proof (Rmult_le_pos _ _ pm0 uw0) as pu0.
  pose proof (rounding_pos j) as r0; pose proof (lost_pos 0 j) as l0.
  pose proof (Rmult_le_pos _ _ l0 (Rlt_le _ _ (exp_pos X))) as lX.
  assert (Rabs p = p) as pp by (apply Rabs_pos_eq, p0).
  unfold fair, weight_error, numerator_error, in_both, in_numerator; simpl key; simpl in_n;
    simpl in_o; fold X; fold kc; rewrite E0.
  destruct (rounded_sum cl).
  - replace (p' - p') with 0 by ring; rewrite Rabs_R0; repeat split; try lra.
    + replace (p' * exp m - exp (s j)) with ((p * exp m - exp (s j)) + (p' - p) * exp m) by ring.
      pose proof (Rabs_triang (p * exp m - exp (s j)) ((p' - p) * exp m)) as T.
      rewrite (Rabs_mult (p' - p)), (Rabs_pos_eq (exp m)) in T by lra; lra.
    + replace p' with ((p' - p) + p) by ring; pose proof (Rabs_triang (p' - p) p); lra.
  - repeat split; lra.
Qed.

(** ** A change of the reference *)

Lemma magnitude_below_stretch m m' y e f :
  admits rg m -> admits rg m' -> m - fall rg <= m' ->
  Rabs y <= u_arg cl * Rabs (m - m') + 2 * u_move cl * reference rg + eps cl ->
  Rabs e <= kappa cl -> f = exp (m - m' + y) + e -> Rabs f <= stretch cl rg.
Proof.
  sanity; intros ad ad' above near_y near_e E.
  rewrite E; pose proof (Rabs_triang (exp (m - m' + y)) e) as T.
  rewrite (Rabs_pos_eq (exp _)) in T by (left; apply exp_pos).
  unfold stretch; apply Rle_trans with (1 := T), Rplus_le_compat; [|exact near_e].
  apply exp_le.
  assert (Rabs (m - m') <= high rg - low rg) as span by (unfold admits in *; apply Rabs_le; lra).
  pose proof (Rmult_le_compat_l _ _ _ arg0 span); apply Rabs_between in near_y; lra.
Qed.

Lemma fair_step k m m' y e f x :
  admits rg m -> admits rg m' -> m - fall rg <= m' ->
  Rabs y <= u_arg cl * Rabs (m - m') + 2 * u_move cl * reference rg + eps cl ->
  Rabs e <= kappa cl -> f = exp (m - m' + y) + e ->
  fair cl rg k m x -> fair cl rg (S k) m' (Use (key x) (f * in_n x) (f * in_o x)).
Proof.
  sanity; intros ad0 ad above near_y near_e E [X0 [near_c [near_b [reach_c reach_b]]]].
  set (j := key x) in *; set (c := in_n x) in *; set (d := in_o x - c) in *.
  set (Y := u_arg cl * (m' - m + 2 * fall rg) + 2 * u_move cl * reference rg + eps cl).
  assert (Rabs y <= Y) as yY.
  { assert (Rabs (m - m') <= m' - m + 2 * fall rg) as le by (apply Rabs_le; lra).
    pose proof (Rmult_le_compat_l _ _ _ arg0 le); unfold Y; lra. }
  assert (0 <= Y) as Y0 by (pose proof (Rabs_pos y); lra).
  set (X := strays cl rg k m j) in *.
  assert (strays cl rg (S k) m' j = X + Y) as EX
    by (unfold X, Y, strays; rewrite S_INR; ring).
  assert (Ef : f * exp m' = exp m * exp y + e * exp m').
  { rewrite E, Rmult_plus_distr_r, <- !exp_plus; f_equal; f_equal; ring. }
  pose proof (exp_pos m) as em; pose proof (exp_pos m') as em'; pose proof (exp_pos y) as ey.
  pose proof (exp_pos (s j)) as es; pose proof (exp_pos X) as eX; pose proof (exp_pos Y) as eY.
  pose proof (exp_at_least_1 _ Y0) as Y1; pose proof (exp_at_least_1 _ X0) as X1.
  assert (exp y <= exp Y) as yY' by (apply exp_le; apply Rabs_between in yY; lra).
  assert (0 <= reach cl rg k j) as r0 by apply reach_pos.
  set (kr := kappa cl * reach cl rg k j * exp (high rg)).
  assert (0 <= kr) as kr0.
  { unfold kr; pose proof (exp_pos (high rg)); apply Rmult_le_pos; [apply Rmult_le_pos|]; lra. }
  assert (forall a, Rabs a <= reach cl rg k j -> Rabs (e * exp m' * a) <= kr) as small.
  { intros a le; unfold kr; rewrite !Rabs_mult, (Rabs_pos_eq (exp m')) by lra.
    replace (Rabs e * exp m' * Rabs a) with (Rabs e * Rabs a * exp m') by ring.
    pose proof (exp_le _ _ (proj2 ad)); pose proof (Rabs_pos e); pose proof (Rabs_pos a).
    apply Rmult_le_compat; try lra; [apply Rmult_le_pos; lra | apply Rmult_le_compat; lra]. }
  pose proof (lost_next k j) as next; fold kr in next.
  pose proof (product_at_least_1 _ _ X1 Y1) as XY1.
  assert (Rabs f <= stretch cl rg) as stretch_f
    by (apply (magnitude_below_stretch m m' y e f); assumption).
  assert (forall a, Rabs a <= reach cl rg k j -> Rabs (f * a) <= reach cl rg (S k) j) as reach_f.
  { intros a le; rewrite Rabs_mult; apply Rle_trans with (stretch cl rg * reach cl rg k j).
    - apply Rmult_le_compat; try assumption; apply Rabs_pos.
    - unfold reach; simpl; apply Req_le; ring. }
  unfold fair, weight_error, numerator_error; simpl key; simpl in_n; simpl in_o; fold j;
    rewrite EX, exp_plus.
  replace (f * in_o x - f * c) with (f * d) by (unfold d; ring).
  split; [|split; [|split; [|split]]]; [| | | apply reach_f, reach_c | apply reach_f, reach_b].
  - lra.
  - set (q := in_both cl rg k j) in *.
    assert (q + kr <= in_both cl rg (S k) j) as q_next by (unfold q, in_both; lra).
    assert (0 <= q) as q0 by apply in_both_pos.
    replace (f * c * exp m' - exp (s j))
      with (exp y * (c * exp m - exp (s j)) + exp (s j) * (exp y - 1) + e * exp m' * c)
      by (replace (f * c * exp m') with (c * (f * exp m')) by ring; rewrite Ef; ring).
    unfold weight_error in near_c; fold q X in near_c.
    pose proof (small c reach_c) as S1.
    pose proof (exp_near_1 _ _ yY) as S2.
    pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ es) S2) as S3.
    assert (exp y * Rabs (c * exp m - exp (s j)) <= exp Y * ((exp (s j) + q) * exp X - exp (s j)))
      as S4
      by (apply Rmult_le_compat; try lra; apply Rabs_pos).
    pose proof (Rabs_triang (exp y * (c * exp m - exp (s j)) + exp (s j) * (exp y - 1))
      (e * exp m' * c)).
    pose proof (Rabs_triang (exp y * (c * exp m - exp (s j))) (exp (s j) * (exp y - 1))).
    rewrite (Rabs_mult (exp y)), (Rabs_mult (exp (s j)) (exp y - 1)), (Rabs_pos_eq (exp y)),
      (Rabs_pos_eq (exp (s j))) in H0 by lra.
    pose proof (Rmult_le_compat_r (exp X * exp Y) _ _ ltac:(lra) q_next) as S5.
    pose proof (Rmult_le_compat_l _ _ _ kr0 XY1) as S6.
    lra.
  - set (q := in_numerator cl rg k j) in *.
    assert (0 <= q) as q0 by apply in_numerator_pos.
    assert (Rabs d * exp m <= q * exp X) as near_d by exact near_b.
    assert (Rabs (f * d) * exp m' <= exp Y * (q * exp X) + Rabs (e * exp m' * d)) as step.
    { rewrite <- (Rabs_pos_eq (exp m')) at 1 by lra; rewrite <- Rabs_mult.
      replace (f * d * exp m') with (exp y * (d * exp m) + e * exp m' * d)
        by (replace (f * d * exp m') with (d * (f * exp m')) by ring; rewrite Ef; ring).
      pose proof (Rabs_triang (exp y * (d * exp m)) (e * exp m' * d)) as T.
      rewrite (Rabs_mult (exp y)), (Rabs_mult d), (Rabs_pos_eq (exp y)), (Rabs_pos_eq (exp m)) in T
        by lra.
      assert (exp y * (Rabs d * exp m) <= exp Y * (q * exp X)).
      { apply Rmult_le_compat; try lra; apply Rmult_le_pos; [apply Rabs_pos | lra]. }
      lra. }
    apply Rle_trans with (1 := step).
    pose proof (small d reach_b) as S1.
    pose proof (Rmult_le_compat_l _ _ _ kr0 XY1) as S6.
    unfold q, in_numerator in *; destruct (rounded_sum cl).
    + assert (d = 0) as d0.
      { destruct (Req_dec d 0) as [zero | some]; [exact zero|].
        pose proof (Rabs_pos_lt _ some) as dp; pose proof (Rmult_lt_0_compat _ _ dp em); lra. }
      rewrite d0, Rmult_0_r, Rabs_R0; lra.
    + assert (rounding cl j + lost cl rg k j + kr <= rounding cl j + lost cl rg (S k) j) as q_next
        by lra.
      pose proof (Rmult_le_compat_r (exp X * exp Y) _ _ ltac:(lra) q_next); lra.
Qed.

Lemma factor_is_exponential m ns m' f :
  admits rg m -> admits rg m' -> factor cl m ns m' f ->
  0 <= f /\ exists y e,
    Rabs y <= u_arg cl * Rabs (m - m') + 2 * u_move cl * reference rg + eps cl /\
    Rabs e <= kappa cl /\ f = exp (m - m' + y) + e.
Proof.
  sanity; intros ad ad' fac.
  pose proof (Rmult_le_compat_l _ _ _ mov0 (reference_bounds rg m ad)) as r1.
  pose proof (Rmult_le_compat_l _ _ _ mov0 (reference_bounds rg m' ad')) as r2.
  pose proof (Rmult_le_pos _ _ mov0 reference_pos) as r0.
  pose proof (Rmult_le_pos _ _ arg0 (Rabs_pos (m - m'))) as a0.
  destruct fac as [z near_z [f0 [y [k [near_y [near_k E]]]]] | near E | n _ n0 near E].
  - split; [exact f0|]; exists (z - (m - m') + y), k; repeat split; [|exact near_k|].
    + unfold argument in near_z; pose proof (Rabs_triang (z - (m - m')) y); lra.
    + rewrite E; f_equal; f_equal; ring.
  - split; [lra|]; exists (m' - m), 0; repeat split; [lra | rewrite Rabs_R0; exact kap0 |].
    rewrite E; replace (m - m' + (m' - m)) with 0 by ring; rewrite exp_0; ring.
  - split; [rewrite E; left; apply Rinv_0_lt_compat, n0|].
    exists (m' - m - ln n), 0; repeat split; [| rewrite Rabs_R0; exact kap0 |].
    + replace (m' - m - ln n) with (m' - (m + ln n)) by ring; lra.
    + rewrite E; replace (m - m' + (m' - m - ln n)) with (- ln n) by ring.
      rewrite exp_Ropp, exp_ln by exact n0; ring.
Qed.

Lemma Forall_mapped (f : use -> use) (Q Q' : use -> Prop) U :
  (forall x, Q x -> Q' (f x)) -> Forall Q U -> Forall Q' (map f U).
Proof. intros step good; induction good; simpl; constructor; auto. Qed.

(** ** NUM-9: no execution strays further *)

Theorem no_execution_strays_further J k m ns os :
  runs cl rg J k m ns os -> strays_no_further cl rg J k m ns os.
Proof.
  intros run; pose proof sane as sane0; pose proof sane' as sane0'; sanity.
  induction run as
    [m ad | j m p p' near
    | J k m ns os J' k' ns' os' run1 IH1 run2 IH2
    | J J' k m ns os perm run IH
    | J k m ns os d ops ns' run IH sums | J k m ns os d ops os' run IH sums
    | J k m ns os m' f run IH ad' above fac | J k m n o n' o' run IH near_n near_o].
  - split; [exact ad|]; exists []; repeat split; simpl; try constructor;
      unfold growth_n, growth_o, tiny_n, tiny_o, gathers, plain, magnitude; simpl;
      rewrite ?Rminus_0_r, ?Rabs_R0; lra.
  - split; [apply near|].
    exists [Use j (if rounded_sum cl then p' else p) p'].
    split; [reflexivity|]; split; [constructor; [apply weight_is_near, near | constructor]|].
    unfold growth_n, growth_o, tiny_n, tiny_o; simpl.
    rewrite !Rplus_0_r, !Rmult_1_r, !Rmult_0_l; split; apply gathers_exactly.
  - assert (no_more k (beside k k')) as le by (unfold no_more, beside; simpl; lia).
    assert (no_more k' (beside k k')) as le' by (unfold no_more, beside; simpl; lia).
    pose proof (growth_n_grows _ _ le) as n1; pose proof (growth_n_grows _ _ le') as n2.
    pose proof (growth_o_grows _ _ le) as o1; pose proof (growth_o_grows _ _ le') as o2.
    destruct IH1 as [ad [U [keys [good [gn go]]]]];
      destruct IH2 as [_ [U' [keys' [good' [gn' go']]]]].
    split; [exact ad|]; exists (U ++ U'); split; [rewrite map_app, keys, keys'; reflexivity|].
    split; [|split].
    + apply Forall_app; split.
      * revert good; apply Forall_impl; intros x; apply fair_grows, le.
      * revert good'; apply Forall_impl; intros x; apply fair_grows, le'.
    + rewrite !total_app.
      set (t k0 := INR (ops_n k0) * eta_n cl * stretch cl rg ^ steps (beside k k')
                   * growth_n cl (beside k k')).
      apply gathers_weaken with (growth_n cl (beside k k')) (t k + t k').
      * apply Rplus_le_le_0_compat; apply magnitudes_pos.
      * apply Rle_refl.
      * unfold tiny_n, t, beside; simpl; rewrite plus_INR; apply Req_le; ring.
      * apply gathers_app; (eapply gathers_weaken; [apply magnitudes_pos | | | eassumption]);
          try assumption; unfold tiny_n, t; apply product_grows;
          try (split; [apply pos_INR || lra | lra]); try (split; [|try apply stretch_grows]);
          try (apply Rle_trans with 1; [lra | apply stretch_power || apply growth_n_power]);
          try assumption; unfold beside; simpl; lia.
    + rewrite !total_app.
      set (t k0 := INR (ops_o k0) * eta_o cl * stretch cl rg ^ steps (beside k k')
                   * growth_o cl (beside k k')).
      apply gathers_weaken with (growth_o cl (beside k k')) (t k + t k').
      * apply Rplus_le_le_0_compat; apply (magnitudes_pos (fun x => in_o x * value (key x))).
      * apply Rle_refl.
      * unfold tiny_o, t, beside; simpl; rewrite plus_INR; apply Req_le; ring.
      * apply gathers_app;
          (eapply gathers_weaken;
           [apply (magnitudes_pos (fun x => in_o x * value (key x))) | | | eassumption]);
          try assumption; unfold tiny_o, t; apply product_grows;
          try (split; [apply pos_INR || lra | lra]); try (split; [|try apply stretch_grows]);
          try (apply Rle_trans with 1; [lra | apply stretch_power || apply growth_o_power]);
          try assumption; unfold beside; simpl; lia.
  - destruct IH as [ad [U [keys [good [gn go]]]]]; split; [exact ad|].
    subst J; destruct (Permutation_map_inv _ _ (Permutation_sym perm)) as [U' [E permU]].
    exists U'; split; [symmetry; exact E|].
    pose proof (fun f : use -> R => total_permutation f U' U (Permutation_sym permU)) as same.
    rewrite !same; split; [|split]; try assumption.
    apply Forall_forall; intros x inx; rewrite Forall_forall in good; apply good.
    apply (Permutation_in x (Permutation_sym permU)), inx.
  - destruct IH as [ad [U [keys [good [gn go]]]]]; split; [exact ad|].
    exists U; split; [exact keys|]; split; [exact good|]; split; [|exact go].
    pose proof (gathers_adds _ _ _ _ _ _ _ _ _ _ un0 en0 sums gn) as G; revert G.
    pose proof (growth_n_power k) as g1; pose proof (stretch_power (steps k)) as s1.
    pose proof (product_at_least_1 _ _ s1 g1) as sg1.
    pose proof (power_at_least_1 (u_n cl) d un0) as p1.
    assert (growth_n cl k * (1 + u_n cl) ^ d
            = growth_n cl (Counts (depth_n k + d) (depth_o k) (stores k) (steps k) (ops_n k + ops)
                                  (ops_o k))) as E
      by (unfold growth_n; simpl; rewrite pow_add; ring).
    apply gathers_weaken; [apply magnitudes_pos | right; exact E|].
    unfold tiny_n; simpl steps; simpl ops_n; rewrite <- E, plus_INR.
    assert (0 <= INR ops * eta_n cl * (1 + u_n cl) ^ d) as e0
      by (apply Rmult_le_pos; [apply Rmult_le_pos; [apply pos_INR | exact en0] | lra]).
    pose proof (Rmult_le_compat_l _ _ _ e0 sg1); lra.
  - destruct IH as [ad [U [keys [good [gn go]]]]]; split; [exact ad|].
    exists U; split; [exact keys|]; split; [exact good|]; split; [exact gn|].
    pose proof (gathers_adds _ _ _ _ _ _ _ _ _ _ uo0 eo0 sums go) as G; revert G.
    pose proof (growth_o_power k) as g1; pose proof (stretch_power (steps k)) as s1.
    pose proof (product_at_least_1 _ _ s1 g1) as sg1.
    pose proof (power_at_least_1 (u_o cl) d uo0) as p1.
    assert (growth_o cl k * (1 + u_o cl) ^ d
            = growth_o cl (Counts (depth_n k) (depth_o k + d) (stores k) (steps k) (ops_n k)
                                  (ops_o k + ops))) as E
      by (unfold growth_o; simpl; rewrite pow_add; ring).
    apply gathers_weaken;
      [apply (magnitudes_pos (fun x => in_o x * value (key x))) | right; exact E|].
    unfold tiny_o; simpl steps; simpl ops_o; rewrite <- E, plus_INR.
    assert (0 <= INR ops * eta_o cl * (1 + u_o cl) ^ d) as e0
      by (apply Rmult_le_pos; [apply Rmult_le_pos; [apply pos_INR | exact eo0] | lra]).
    pose proof (Rmult_le_compat_l _ _ _ e0 sg1); lra.
  - destruct IH as [ad [U [keys [good [gn go]]]]]; split; [exact ad'|].
    destruct (factor_is_exponential m ns m' f ad ad' fac) as [f0 [y [e [near_y [near_e E]]]]].
    set (move := fun x => Use (key x) (f * in_n x) (f * in_o x)).
    exists (map move U); split; [rewrite map_map; exact keys|].
    split; [revert good; apply Forall_mapped; intros x good;
            apply (fair_step _ m m' y e f); assumption|].
    assert (f <= stretch cl rg) as fs.
    { apply Rle_trans with (1 := Rle_abs f), (magnitude_below_stretch m m' y e f); assumption. }
    rewrite !total_map; simpl.
    rewrite (total_ext (fun x => Rabs (f * in_n x)) (fun x => f * Rabs (in_n x)))
      by (intros; rewrite Rabs_mult, (Rabs_pos_eq f) by exact f0; reflexivity).
    rewrite (total_ext (fun x => Rabs (f * in_o x * value (key x)))
                       (fun x => f * Rabs (in_o x * value (key x))))
      by (intros; rewrite Rmult_assoc, Rabs_mult, (Rabs_pos_eq f) by exact f0; reflexivity).
    rewrite (total_ext (fun x => f * in_o x * value (key x))
                       (fun x => f * (in_o x * value (key x))))
      by (intros; ring).
    rewrite !total_scale.
    pose proof (gathers_scale f _ _ _ _ _ f0 gn) as G1;
      pose proof (gathers_scale f _ _ _ _ _ f0 go) as G2.
    split.
    + revert G1; apply gathers_weaken; [|apply Rle_refl|].
      * apply Rmult_le_pos; [exact f0 | apply magnitudes_pos].
      * apply Rle_trans with (stretch cl rg * tiny_n cl rg k);
          [apply Rmult_le_compat_r; [apply tiny_n_pos | exact fs]|].
        unfold tiny_n, growth_n; simpl; apply Req_le; ring.
    + revert G2; apply gathers_weaken; [|apply Rle_refl|].
      * apply Rmult_le_pos; [exact f0 | apply (magnitudes_pos (fun x => in_o x * value (key x)))].
      * apply Rle_trans with (stretch cl rg * tiny_o cl rg k);
          [apply Rmult_le_compat_r; [apply tiny_o_pos | exact fs]|].
        unfold tiny_o, growth_o; simpl; apply Req_le; ring.
  - destruct IH as [ad [U [keys [good [gn go]]]]]; split; [exact ad|].
    exists U; split; [exact keys|]; split; [exact good|].
    assert (Rabs (n' - plain [n]) <= u_part cl * magnitude [n] + eta_n cl) as near_n'
      by (unfold plain, magnitude; simpl; rewrite !Rplus_0_r; exact near_n).
    assert (Rabs (o' - plain [o]) <= u_part cl * magnitude [o] + eta_o cl) as near_o'
      by (unfold plain, magnitude; simpl; rewrite !Rplus_0_r; exact near_o).
    pose proof (gathers_rounded _ _ _ _ _ _ _ _ up0 gn near_n') as G1.
    pose proof (gathers_rounded _ _ _ _ _ _ _ _ up0 go near_o') as G2.
    pose proof (stretch_power (steps k)) as s1.
    split.
    + revert G1; apply gathers_weaken; [apply magnitudes_pos | |].
      * unfold growth_n; simpl; apply Req_le; ring.
      * pose proof (growth_n_power (Counts (depth_n k) (depth_o k) (S (stores k)) (steps k)
                                           (S (ops_n k)) (S (ops_o k)))) as g1.
        pose proof (Rmult_le_compat_l _ _ _ en0 (product_at_least_1 _ _ s1 g1)) as A.
        unfold tiny_n; simpl steps; simpl ops_n; rewrite S_INR.
        unfold growth_n in *; simpl in *; lra.
    + revert G2; apply gathers_weaken;
        [apply (magnitudes_pos (fun x => in_o x * value (key x))) | |].
      * unfold growth_o; simpl; apply Req_le; ring.
      * pose proof (growth_o_power (Counts (depth_n k) (depth_o k) (S (stores k)) (steps k)
                                           (S (ops_n k)) (S (ops_o k)))) as g1.
        pose proof (Rmult_le_compat_l _ _ _ eo0 (product_at_least_1 _ _ s1 g1)) as A.
        unfold tiny_o; simpl steps; simpl ops_o; rewrite S_INR.
        unfold growth_o in *; simpl in *; lra.
Qed.

End Invariant.
