(* SPDX-License-Identifier: Apache-2.0 *)
(** * References that slip (spec/tolerance.md: NUM-22)

    A kernel may keep the log-sum-exp of a partial result in 16 bits. The reference of a state that
    was divided then moves, and n and o do not. All keys of the state are weighed as if their scores
    were off by that much. So the numbers are those of an execution of NUM-8 whose scores err by
    more and whose references do not slip. *)
From Coq Require Import Reals List Permutation Lra Lia.
From Chunkproof Require Import NumCore NumRound NumExec NumInvariant NumTolerance NumLag.
Import ListNotations.
Open Scope R_scope.

Section Slip.
Variables (cl : class) (rg : range) (slip : R) (most : nat).
Hypothesis sane : sane_class cl.
Hypothesis slip0 : 0 <= slip.

(** NUM-8, and a reference may slip. [n] is how often it has, on the way of a key. *)
Inductive slips : nat -> list input -> counts -> R -> list R -> list R -> Prop :=
  | slips_none m : admits rg m -> slips 0 [] nothing m [] []
  | slips_key j m p p' :
      weighs cl rg j m p p' ->
      slips 0 [j] nothing m [if rounded_sum cl then p' else p] [p' * value j]
  | slips_beside n J k m ns os n' J' k' ns' os' :
      slips n J k m ns os -> slips n' J' k' m ns' os' ->
      slips (Nat.max n n') (J ++ J') (beside k k') m (ns ++ ns') (os ++ os')
  | slips_order n J J' k m ns os :
      Permutation J J' -> slips n J k m ns os -> slips n J' k m ns os
  | slips_sum_n n J k m ns os d ops ns' :
      slips n J k m ns os -> adds (u_n cl) (eta_n cl) d ops ns ns' ->
      slips n J
        (Counts (depth_n k + d) (depth_o k) (stores k) (steps k) (ops_n k + ops) (ops_o k))
           m ns' os
  | slips_sum_o n J k m ns os d ops os' :
      slips n J k m ns os -> adds (u_o cl) (eta_o cl) d ops os os' ->
      slips n J
        (Counts (depth_n k) (depth_o k + d) (stores k) (steps k) (ops_n k) (ops_o k + ops))
           m ns os'
  | slips_step n J k m ns os m' f :
      slips n J k m ns os -> admits rg m' -> m - fall rg <= m' -> factor cl m ns m' f ->
      slips n J (Counts (depth_n k) (depth_o k) (stores k) (S (steps k)) (ops_n k) (ops_o k))
           m' (map (Rmult f) ns) (map (Rmult f) os)
  | slips_store n J k m x y x' y' :
      slips n J k m [x] [y] ->
      Rabs (x' - x) <= u_part cl * Rabs x + eta_n cl ->
      Rabs (y' - y) <= u_part cl * Rabs y + eta_o cl ->
      slips n J
        (Counts (depth_n k) (depth_o k) (S (stores k)) (steps k) (S (ops_n k)) (S (ops_o k)))
           m [x'] [y']
  | slips_slip n J k m ns os m' :
      slips n J k m ns os -> admits rg m' -> Rabs (m' - m) <= slip ->
      slips (S n) J k m' ns os.

(** ** The class and the keys without slips *)

(** All slips on the way of a key. *)
Definition slipped : R := INR most * slip.

(** What is off because a reference is larger by so much. *)
Definition shaken : R := (u_ref cl + 2 * u_move cl) * slipped.

Definition steady : class :=
  Class (u_arg cl) (u_ref cl) (u_move cl) (eps cl + shaken) (kappa cl) (weights cl)
        (rounded_sum cl) (u_n cl) (eta_n cl) (u_o cl) (eta_o cl) (u_part cl).

Definition roomy : range :=
  Range (low rg - slipped) (high rg + slipped) (slack rg + slipped) (fall rg).

Definition uncertain (j : input) : input :=
  Input (s j) (value j) (sigma j + slipped) (cap j + slipped).

Lemma slipped0 : 0 <= slipped.
Proof. unfold slipped; apply Rmult_le_pos; [apply pos_INR | exact slip0]. Qed.

Lemma shaken0 : 0 <= shaken.
Proof.
  destruct sane as [a0 [r0 [v0 _]]]; pose proof slipped0.
  unfold shaken; apply Rmult_le_pos; lra.
Qed.

Lemma steady_is_sane : sane_class steady.
Proof.
  destruct sane as [a0 [r0 [v0 [e0 [k0 [uw0 [tw0 [un0 [en0 [uo0 [eo0 up0]]]]]]]]]]].
  pose proof shaken0; unfold sane_class, steady; simpl; repeat split; try assumption; lra.
Qed.

(** ** One step *)

(** The size of a reference, and of one that has slipped. *)
Lemma size_of_slipped m t : Rabs t <= slipped -> Rabs m <= Rabs (m + t) + slipped.
Proof.
  intros le; replace m with ((m + t) + - t) at 1 by ring.
  pose proof (Rabs_triang (m + t) (- t)) as sum; rewrite Rabs_Ropp in sum; lra.
Qed.

(** An exponential whose argument is off by more is one of the class that errs by more. *)
Lemma argument_shaken r r' x z p :
  argument cl r x z -> 0 <= r' -> r <= r' + shaken -> exponential cl z p ->
  exists z', argument steady r' x z' /\ exponential steady z' p.
Proof.
  unfold argument; intros arg r0 le [p0 [y [k [le_y [le_k E]]]]]; destruct sane as [a0 _].
  pose proof (Rmult_le_pos _ _ a0 (Rabs_pos x)).
  destruct (two_shares (z - x) (u_arg cl * Rabs x + r') shaken) as [d [d' [Ed [le_d le_d']]]];
    [lra | apply shaken0 | lra |].
  exists (x + d); split; simpl.
  - replace (x + d - x) with d by ring; exact le_d.
  - split; [exact p0|]; exists (y + d'), k; simpl; split; [|split; [exact le_k|]].
    + pose proof (Rabs_triang y d'); lra.
    + rewrite E; replace (x + d + (y + d')) with (z + y) by lra; reflexivity.
Qed.

Lemma weighs_uncertain j m p p' t :
  weighs cl rg j m p p' -> Rabs t <= slipped ->
  weighs steady roomy (uncertain j) (m + t) p p'.
Proof.
  intros [ad [below [above [[s' [z [near_s [arg expo]]]] near_p]]]] le_t.
  pose proof (Rabs_between _ _ le_t) as between.
  destruct sane as [a0 [r0 [v0 _]]]; pose proof slipped0.
  split; [unfold admits, roomy in *; simpl in *; lra|].
  split; [simpl; lra|]; split; [simpl; lra|]; split; [|exact near_p].
  destruct (argument_shaken _ (u_ref cl * Rabs (m + t)) _ _ p arg) as [z' [arg' expo']].
  - apply Rmult_le_pos; [exact r0 | apply Rabs_pos].
  - pose proof (Rmult_le_compat_l _ _ _ r0 (size_of_slipped m t le_t)).
    assert (0 <= u_move cl * slipped) by (apply Rmult_le_pos; assumption).
    unfold shaken; lra.
  - exact expo.
  - exists (s' + t), z'; simpl; split; [|split; [|exact expo']].
    + replace (s' + t - s j) with ((s' - s j) + t) by ring.
      pose proof (Rabs_triang (s' - s j) t); lra.
    + replace (s' + t - (m + t)) with (s' - m) by ring; exact arg'.
Qed.

Lemma factor_shaken m ns m' f t :
  factor cl m ns m' f -> Rabs t <= slipped -> factor steady (m + t) ns (m' + t) f.
Proof.
  intros fac le_t; destruct sane as [a0 [r0 [v0 [e0 [k0 _]]]]]; pose proof slipped0.
  pose proof (size_of_slipped m t le_t); pose proof (size_of_slipped m' t le_t).
  assert (0 <= u_ref cl * slipped) by (apply Rmult_le_pos; assumption).
  assert (0 <= u_move cl * slipped) by (apply Rmult_le_pos; assumption).
  assert (forall x y, x <= y + slipped -> u_move cl * x <= u_move cl * y + u_move cl * slipped)
    as larger by (intros x y le; rewrite <- Rmult_plus_distr_l; apply Rmult_le_compat_l; lra).
  pose proof (larger _ _ (size_of_slipped m t le_t)) as of_m.
  pose proof (larger _ _ (size_of_slipped m' t le_t)) as of_m'.
  assert (m + t - (m' + t) = m - m') as same by ring.
  destruct fac as [z arg expo | le -> | n E n0 near_m ->].
  - destruct (argument_shaken _ (u_move cl * (Rabs (m + t) + Rabs (m' + t))) _ _ f arg)
      as [z' [arg' expo']].
    + apply Rmult_le_pos; [exact v0|]; pose proof (Rabs_pos (m + t));
        pose proof (Rabs_pos (m' + t)); lra.
    + rewrite !Rmult_plus_distr_l; unfold shaken; lra.
    + exact expo.
    + apply by_exponential with z'; [rewrite same; exact arg' | exact expo'].
  - assert (argument cl (u_move cl * (Rabs m + Rabs m')) (m - m') 0) as arg.
    { unfold argument; replace (0 - (m - m')) with (m' - m) by ring.
      pose proof (Rmult_le_pos _ _ a0 (Rabs_pos (m - m'))).
      pose proof (Rmult_le_pos _ _ v0 (Rabs_pos m')); lra. }
    assert (exponential cl 0 1) as expo.
    { split; [lra|]; exists 0, 0; rewrite Rabs_R0, !Rplus_0_r, exp_0; repeat split; assumption. }
    destruct (argument_shaken _ (u_move cl * (Rabs (m + t) + Rabs (m' + t))) _ _ 1 arg)
      as [z' [arg' expo']].
    + apply Rmult_le_pos; [exact v0|]; pose proof (Rabs_pos (m + t));
        pose proof (Rabs_pos (m' + t)); lra.
    + rewrite !Rmult_plus_distr_l; unfold shaken; lra.
    + exact expo.
    + apply by_exponential with z'; [rewrite same; exact arg' | exact expo'].
  - apply by_division with n; [exact E | exact n0 | | reflexivity]; simpl.
    replace (m' + t - (m + t + ln n)) with (m' - (m + ln n)) by ring; unfold shaken; lra.
Qed.

(** ** All steps *)

(** How far references may still slip, after n times. *)
Definition ahead_of (n : nat) : R := (INR most - INR n) * slip.

Lemma ahead_shrinks n n' : (n <= n')%nat -> ahead_of n' <= ahead_of n.
Proof.
  intros le; unfold ahead_of; apply Rmult_le_compat_r; [exact slip0|].
  apply le_INR in le; lra.
Qed.

Lemma ahead_is_slipped n : ahead_of n <= slipped.
Proof.
  unfold ahead_of, slipped; apply Rmult_le_compat_r; [exact slip0|].
  pose proof (pos_INR n); lra.
Qed.

(** In the scale of what a reference will have slipped by when the last key of the state has been
    merged for good: the same numbers, without a slip. *)
Theorem slips_are_errors n J k m ns os t :
  slips n J k m ns os -> Rabs t <= ahead_of n ->
  runs steady roomy (map uncertain J) k (m + t) ns os.
Proof.
  intros run; revert t; induction run as
    [m ad | j m p p' w | n J k m ns os n' J' k' ns' os' run IH run' IH'
    | n J J' k m ns os p run IH
    | n J k m ns os d ops ns' run IH sum | n J k m ns os d ops os' run IH sum
    | n J k m ns os m' f run IH ad le fac
    | n J k m x y x' y' run IH near_x near_y
    | n J k m ns os m' run IH ad le];
    intros t le_t; pose proof (Rle_trans _ _ _ le_t (ahead_is_slipped _)) as small;
    pose proof (Rabs_between _ _ small) as between.
  - apply runs_none; unfold admits, roomy in *; simpl in *; lra.
  - exact (runs_key steady roomy (uncertain j) (m + t) p p' (weighs_uncertain j m p p' t w small)).
  - rewrite map_app; apply runs_beside; [apply IH | apply IH'];
      apply Rle_trans with (1 := le_t), ahead_shrinks; [apply Nat.le_max_l | apply Nat.le_max_r].
  - apply (runs_order _ _ (map uncertain J)); [apply Permutation_map, p | apply IH, le_t].
  - apply (runs_sum_n steady roomy _ _ _ ns); [apply IH, le_t | exact sum].
  - apply (runs_sum_o steady roomy _ _ _ _ os); [apply IH, le_t | exact sum].
  - apply (runs_step steady roomy _ _ (m + t)).
    + apply IH, le_t.
    + unfold admits, roomy in *; simpl in *; lra.
    + pose proof slipped0; unfold roomy; simpl; lra.
    + apply factor_shaken; assumption.
  - apply (runs_store steady roomy _ _ _ x y); [apply IH, le_t | exact near_x | exact near_y].
  - replace (m' + t) with (m + ((m' - m) + t)) by ring; apply IH.
    apply Rle_trans with (1 := Rabs_triang (m' - m) t).
    unfold ahead_of in *; rewrite S_INR in le_t; lra.
Qed.

(** ** What is written *)

(** The keys are the same, but for their errors. *)
Lemma uncertain_weight J : weight_sum (map uncertain J) = weight_sum J.
Proof. unfold weight_sum; rewrite !total_map; reflexivity. Qed.

Lemma uncertain_exact J : exact (map uncertain J) = exact J.
Proof. unfold exact; rewrite uncertain_weight, !total_map; reflexivity. Qed.

(** NUM-10: it is within the tolerance of the class without slips. *)
Theorem slips_hold e n J done k m x y out :
  sane_ending e -> sane_range rg -> (n <= most)%nat ->
  slips n J done m [x] [y] -> no_more done k ->
  0 < left_over steady roomy (map uncertain J) k -> ends e x y (Some out) ->
  Rabs (out - exact J) <= tolerance steady roomy e (map uncertain J) k.
Proof.
  intros sane_e [lohi [sl0 fa0]] few run le left st; pose proof slipped0.
  assert (sane_range roomy) as sane' by (split; simpl; lra).
  assert (Rabs 0 <= ahead_of n) as zero.
  { rewrite Rabs_R0; unfold ahead_of; apply Rmult_le_pos; [|exact slip0].
    apply le_INR in few; lra. }
  rewrite <- (uncertain_exact J).
  apply (tolerance_holds steady roomy steady_is_sane sane' e _ k done (m + 0) x y); try assumption.
  apply slips_are_errors with n; assumption.
Qed.

(** NUM-11: the log-sum-exp, which is m + ln x before it is rounded for the last time. *)
Theorem slips_lse_hold n J done k m x y l e :
  J <> [] -> sane_range rg -> (n <= most)%nat ->
  slips n J done m [x] [y] -> no_more done k ->
  0 < left_over steady roomy (map uncertain J) k -> Rabs (l - (m + ln x)) <= e ->
  Rabs (l - ln (weight_sum J)) <=
    e - ln (1 - denominator_error steady roomy (map uncertain J) k).
Proof.
  intros some [lohi [sl0 fa0]] few run le left near_l; pose proof slipped0.
  assert (sane_range roomy) as sane' by (split; simpl; lra).
  assert (Rabs 0 <= ahead_of n) as zero.
  { rewrite Rabs_R0; unfold ahead_of; apply Rmult_le_pos; [|exact slip0].
    apply le_INR in few; lra. }
  rewrite <- (uncertain_weight J).
  apply (lse_holds steady roomy steady_is_sane sane' _ k done (m + 0) x y); try assumption.
  - destruct J; [contradiction | discriminate].
  - apply slips_are_errors with n; assumption.
  - rewrite Rplus_0_r; exact near_l.
Qed.

End Slip.
