(* SPDX-License-Identifier: Apache-2.0 *)
(** * The certified tolerance of kernels that merge (spec/merging.md: MERGING-4 to MERGING-7)

    A part with keys is a key with the score l_i and the value o_i, so that the theorems of
    NumTolerance.v are about kernels that merge, too. Here are the ways of MERGING-5, each as
    executions of NUM-8 with its counts. *)
From Coq Require Import Reals List Permutation Lra Lia.
From Chunkproof Require Softmax Merging.
From Chunkproof Require Import NumCore NumRound NumExec NumInvariant NumTolerance NumChunks.
Import ListNotations.
Open Scope R_scope.

(** ** MERGING-4: a part is a key *)

(** J are the parts with keys, in column i: score l_i, value o_i. *)
Definition parts_in_column (parts : list Merging.part) (i : nat) (J : list input) : Prop :=
  column (Merging.keys_of parts) i J.

(** MERGING-4: what an execution is compared with is the merge of the parts. *)
Theorem exact_is_merged parts i J :
  J <> [] -> parts_in_column parts i J ->
  exact J = Merging.output (Merging.merged_part parts) i /\
  Merging.log_sum (Merging.merged_part parts) = Softmax.Finite (ln (weight_sum J)).
Proof.
  intros some col.
  assert (Merging.keys_of parts <> []) as some'.
  { unfold parts_in_column, column in col; intros E; rewrite E in col; simpl in col.
    apply map_eq_nil in col; contradiction. }
  exact (exact_is_attention _ i J some' col).
Qed.

Section Ways.
Variables (cl : class) (rg : range).
Hypothesis sane : sane_class cl.
Hypothesis sane' : sane_range rg.

(** MERGING-6: whatever an execution over the parts writes is within the tolerance of the merged
    output: in any order, in any grouping, with any references. *)
Theorem merging_holds e parts i J k done m n o out :
  sane_ending e -> J <> [] -> parts_in_column parts i J ->
  runs cl rg J done m [n] [o] -> no_more done k -> 0 < left_over cl rg J k ->
  ends e n o (Some out) ->
  Rabs (out - Merging.output (Merging.merged_part parts) i) <= tolerance cl rg e J k.
Proof.
  intros sane_e some col run le left written.
  rewrite <- (proj1 (exact_is_merged parts i J some col)).
  apply (tolerance_holds cl rg sane sane' e J k done m n o out); assumption.
Qed.

(** MERGING-7: and the log-sum-exp. *)
Theorem merging_lse_holds parts i J k done m n o l x :
  J <> [] -> parts_in_column parts i J ->
  runs cl rg J done m [n] [o] -> no_more done k -> 0 < left_over cl rg J k ->
  Rabs (l - (m + ln n)) <= x ->
  exists y, Merging.log_sum (Merging.merged_part parts) = Softmax.Finite y /\
    Rabs (l - y) <= x - ln (1 - denominator_error cl rg J k).
Proof.
  intros some col run le left near.
  exists (ln (weight_sum J)); split; [apply (exact_is_merged parts i J some col)|].
  apply (lse_holds cl rg sane sane' J k done m n o l x); assumption.
Qed.

(** ** At once *)

Definition once_counts (parts : nat) : counts :=
  Counts (parts - 1) parts 0 0 (parts - 1) (2 * parts).

(** All weights for the reference m; n and o are their sums. *)
Definition at_once (parts : nat) (J : list input) (m n o : R) : Prop :=
  exists ns os d ops d' ops',
    (length J <= parts)%nat /\ weighed cl rg m J ns os /\
    adds (u_n cl) (eta_n cl) d ops ns [n] /\ (d <= parts - 1 /\ ops <= parts - 1)%nat /\
    adds (u_o cl) (eta_o cl) d' ops' os [o] /\ (d' <= parts - 1 /\ ops' <= parts - 1)%nat.

(** MERGING-5: such a merge is an execution that does no more than MERGING-6 counts. *)
Theorem at_once_runs parts J m n o :
  at_once parts J m n o -> exists k, runs cl rg J k m [n] [o] /\ no_more k (once_counts parts).
Proof.
  intros (ns & os & d & ops & d' & ops' & len & near & sum_n & [le_d le_ops] & sum_o & le').
  destruct (weighed_runs _ _ _ _ _ _ near) as [k [run le]].
  assert (J = [] \/ (1 <= length J)%nat) as some by (destruct J; [left | right; simpl]; auto; lia).
  eexists; split.
  - eapply runs_sum_o; [|exact sum_o]; eapply runs_sum_n; [exact run | exact sum_n].
  - unfold no_more, once_counts in *; cbn [depth_n depth_o stores steps ops_n ops_o] in *.
    destruct some as [-> | some]; [|lia].
    inversion near; subst; destruct parts; [|lia].
    exfalso; assert (d = 0)%nat by lia; subst d.
    assert (forall u eta d ops (l l' : list R), adds u eta d ops l l' -> d = 0%nat ->
              length l = length l') as same.
    { clear; induction 1 as [|t|d k b a d' k' b' a' _ IH _ IH'|w e d k b a y|d k b b' a p _ IH];
        intros E; try reflexivity.
      - rewrite !app_length, IH, IH' by lia; reflexivity.
      - discriminate.
      - rewrite <- (Permutation_length p); apply IH, E. }
    pose proof (same _ _ _ _ _ _ sum_n eq_refl) as bad; discriminate.
Qed.

(** MERGING-5: where weights are divided by n, and then multiplied. y is such a product, z the sum
    of them. The sum of the n y is n z, which is divided by n without an error. *)
Theorem divided_weights_at_once parts J m n ns ys d ops d' ops' eta z :
  (length J <= parts)%nat -> 0 < n -> n * eta <= eta_o cl ->
  weighed cl rg m J ns (map (Rmult n) ys) ->
  adds (u_n cl) (eta_n cl) d ops ns [n] -> (d <= parts - 1 /\ ops <= parts - 1)%nat ->
  adds (u_o cl) eta d' ops' ys [z] -> (d' <= parts - 1 /\ ops' <= parts - 1)%nat ->
  at_once parts J m n (n * z).
Proof.
  intros len n0 small near sum_n le sum_o le'.
  exists ns, (map (Rmult n) ys), d, ops, d', ops'.
  split; [exact len|]; split; [exact near|]; split; [exact sum_n|]; split; [exact le|].
  split; [|exact le'].
  change [n * z] with (map (Rmult n) [z]).
  clear - n0 small sum_o; induction sum_o as
    [|t|d k b a d' k' b' a' _ IH _ IH'|w e d k b a y _ IH near|d k b b' a p _ IH]; simpl.
  - apply adds_none.
  - apply adds_term.
  - rewrite !map_app; apply adds_beside; assumption.
  - apply (adds_coarse _ _ w e d k _ (map (Rmult n) a)); [exact IH|].
    unfold plain, magnitude in *; rewrite !total_map.
    rewrite (total_ext (fun x => Rabs (n * x)) (fun x => n * Rabs x))
      by (intros; rewrite Rabs_mult, (Rabs_pos_eq n) by lra; reflexivity).
    rewrite !total_scale, <- Rmult_minus_distr_l, Rabs_mult, (Rabs_pos_eq n) by lra.
    pose proof (Rmult_le_compat_l n _ _ (Rlt_le _ _ n0) near).
    pose proof (Rmult_le_compat_l (INR e) _ _ (pos_INR e) small); lra.
  - apply (adds_order _ _ d k (map (Rmult n) b)); [apply Permutation_map, p | exact IH].
Qed.

(** What the computed quotient q of a weight p and n, with the error D or t, and its product y with
    a value become in the scale of n: a rounded weight of the class, and its product. *)
Lemma divided_weight j p n q y D t eta :
  0 < n -> 0 <= p -> 0 <= t ->
  Rabs (q - p / n) <= Rmax (D * (p / n)) t ->
  Rabs (y - q * value j) <= u_o cl * Rabs (q * value j) + eta ->
  D <= unit (weights cl) -> n * (eta + (1 + u_o cl) * t * Rabs (value j)) <= eta_o cl ->
  exists p', rounds (weights cl) p p' /\
    Rabs (n * y - p' * value j) <= u_o cl * Rabs (p' * value j) + eta_o cl.
Proof.
  intros n0 p0 t0 near near_y D_le small.
  destruct sane as [_ [_ [_ [_ [_ [uw0 [tw0 [_ [_ [uo0 _]]]]]]]]]].
  pose proof (Rabs_pos (value j)) as v0.
  assert (0 <= (1 + u_o cl) * t * Rabs (value j)) as big
    by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | exact v0]).
  assert (Rabs (n * y - n * (q * value j)) <= n * (u_o cl * Rabs (q * value j) + eta)) as scaled.
  { rewrite <- Rmult_minus_distr_l, Rabs_mult, (Rabs_pos_eq n) by lra.
    apply Rmult_le_compat_l; lra. }
  assert (n * Rabs (q * value j) = Rabs (n * q * value j)) as size
    by (rewrite (Rmult_assoc n), (Rabs_mult n), (Rabs_pos_eq n) by lra; reflexivity).
  assert (n * ((1 + u_o cl) * t * Rabs (value j)) >= 0) as big'
    by (apply Rle_ge, Rmult_le_pos; lra).
  destruct (Rle_dec (Rabs (q - p / n)) (D * (p / n))) as [relative | absolute].
  - exists (n * q); split.
    + unfold rounds; apply Rle_trans with (unit (weights cl) * Rabs p); [|apply Rmax_l].
      replace (n * q - p) with (n * (q - p / n)) by (field; lra).
      rewrite Rabs_mult, (Rabs_pos_eq n), (Rabs_pos_eq p) by lra.
      apply Rle_trans with (n * (D * (p / n))); [apply Rmult_le_compat_l; lra|].
      replace (n * (D * (p / n))) with (D * p) by (field; lra).
      apply Rmult_le_compat_r; assumption.
    + replace (n * y - n * q * value j) with (n * y - n * (q * value j)) by ring.
      apply Rle_trans with (1 := scaled); rewrite <- size; lra.
  - assert (Rabs (q - p / n) <= t) as near_t
      by (unfold Rmax in near; destruct (Rle_dec (D * (p / n)) t); lra).
    exists p; split.
    + unfold rounds; replace (p - p) with 0 by ring; rewrite Rabs_R0.
      apply Rle_trans with (1 := tw0), Rmax_r.
    + assert (Rabs (n * (q * value j) - p * value j) <= n * t * Rabs (value j)) as off.
      { replace (n * (q * value j) - p * value j) with (n * (q - p / n) * value j)
          by (field; lra).
        rewrite !Rabs_mult, (Rabs_pos_eq n) by lra.
        apply Rmult_le_compat_r; [exact v0 | apply Rmult_le_compat_l; lra]. }
      assert (n * Rabs (q * value j) <= Rabs (p * value j) + n * t * Rabs (value j)) as up.
      { rewrite size.
        replace (n * q * value j) with ((n * (q * value j) - p * value j) + p * value j) by ring.
        pose proof (Rabs_triang (n * (q * value j) - p * value j) (p * value j)); lra. }
      pose proof (Rmult_le_compat_l _ _ _ uo0 up).
      replace (n * y - p * value j)
        with ((n * y - n * (q * value j)) + (n * (q * value j) - p * value j)) by ring.
      pose proof (Rabs_triang (n * y - n * (q * value j)) (n * (q * value j) - p * value j)).
      lra.
Qed.

(** ** States

    Each part by itself is a chunk of one key. *)

(** MERGING-5, MERGING-6. *)
Theorem states_hold e parts i J J' p m n o out :
  sane_ending e -> J <> [] -> parts_in_column parts i J -> Permutation J' J ->
  chunked cl rg 1 J' p m n o -> 0 < left_over cl rg J (chunk_counts 1 p) ->
  ends e n o (Some out) ->
  Rabs (out - Merging.output (Merging.merged_part parts) i)
    <= tolerance cl rg e J (chunk_counts 1 p).
Proof.
  intros sane_e some col perm run left written.
  destruct (chunked_runs cl rg 1 J' p m n o run) as [_ [k [run' le]]].
  apply (merging_holds e parts i J _ k m n o out); try assumption.
  apply (runs_order _ _ J'); assumption.
Qed.

(** ** Pairwise *)

(** Results l and o of p parts. A merge brings both to a reference M. Either it divides the factors
    f and f' by n and multiplies, so that r and r' are n times what comes of f o and f' o'; or it
    adds, and divides the sum. Then l is M + ln n. q is the levels of the tree: the most merges
    between a part and the result. *)
Inductive pairwise : list input -> nat -> nat -> R -> R -> Prop :=
  | one_part j m : weighs cl rg j m 1 1 -> pairwise [j] 1 0 m (value j)
  | two_weights J p q m o J' p' q' m' o' M f f' n r r' a b z l :
      pairwise J p q m o -> pairwise J' p' q' m' o' ->
      admits rg M -> m - fall rg <= M -> m' - fall rg <= M ->
      factor cl m [1] M f -> factor cl m' [1] M f' ->
      Rabs (n - (f + f')) <= u_n cl * (Rabs f + Rabs f') + eta_n cl -> 0 < n ->
      kept cl (eta_o cl) (f * o) r -> kept cl (eta_o cl) (f' * o') r' ->
      Rabs (a - r / n) <= u_o cl * Rabs (r / n) + eta_o cl ->
      Rabs (b - r' / n) <= u_o cl * Rabs (r' / n) + eta_o cl ->
      Rabs (z - (a + b)) <= u_o cl * (Rabs a + Rabs b) + eta_o cl ->
      admits rg l -> M - fall rg <= l ->
      Rabs (l - (M + ln n)) <= eps cl + u_move cl * Rabs l ->
      pairwise (J ++ J') (p + p') (S (Nat.max q q')) l z
  | two_sums J p q m o J' p' q' m' o' M f f' n y z l :
      pairwise J p q m o -> pairwise J' p' q' m' o' ->
      admits rg M -> m - fall rg <= M -> m' - fall rg <= M ->
      factor cl m [1] M f -> factor cl m' [1] M f' ->
      Rabs (n - (f + f')) <= u_n cl * (Rabs f + Rabs f') + eta_n cl -> 0 < n ->
      combined (u_o cl) (eta_o cl) f o f' o' y -> kept cl (eta_o cl) (y / n) z ->
      admits rg l -> M - fall rg <= l ->
      Rabs (l - (M + ln n)) <= eps cl + u_move cl * Rabs l ->
      pairwise (J ++ J') (p + p') (S (Nat.max q q')) l z.

(** What was done on the longest way counts with the levels, and what was done in all with the
    merges. *)
Definition pair_counts (parts levels : nat) : counts :=
  Counts levels (2 * levels) levels (2 * levels) (3 * (parts - 1)) (5 * (parts - 1)).

(** MERGING-6: a chain has the most levels, so that nobody has to declare them. *)
Theorem levels_below_parts J p q l o : pairwise J p q l o -> (1 <= p /\ q <= p - 1)%nat.
Proof. induction 1; lia. Qed.

(** A part as it was given is the first case. *)
Lemma part_as_given j :
  admits rg (s j) -> s j <= cap j -> 0 <= sigma j -> weighs cl rg j (s j) 1 1.
Proof.
  destruct sane as [a0 [r0 [_ [e0 [k0 [_ [tw0 _]]]]]]]; destruct sane' as [_ s0].
  intros ad below sg; split; [exact ad|]; split; [exact below|]; split; [lra|]; split.
  - exists (s j), 0; replace (s j - s j) with 0 by ring.
    split; [rewrite Rabs_R0; exact sg|]; split.
    + unfold argument; rewrite Rminus_0_r, Rabs_R0, Rmult_0_r, Rplus_0_l.
      apply Rmult_le_pos; [exact r0 | apply Rabs_pos].
    + split; [lra|]; exists 0, 0; rewrite Rabs_R0, !Rplus_0_r, exp_0; repeat split; lra.
  - unfold rounds; replace (1 - 1) with 0 by ring; rewrite Rabs_R0.
    apply Rle_trans with (1 := tw0), Rmax_r.
Qed.

Lemma kept_itself eta x : 0 <= u_part cl -> 0 <= eta -> kept cl eta x x.
Proof.
  unfold kept; intros u0 eta0; replace (x - x) with 0 by ring; rewrite Rabs_R0.
  pose proof (Rmult_le_pos _ _ u0 (Rabs_pos x)); lra.
Qed.

Lemma two_add u eta x y z :
  Rabs (z - (x + y)) <= u * (Rabs x + Rabs y) + eta -> adds u eta 1 1 ([x] ++ [y]) [z].
Proof.
  intros near; apply (adds_sum u eta 0 0 _ [x; y]).
  - apply (adds_beside u eta 0 0 [x] [x] 0 0 [y] [y]); apply adds_term.
  - unfold plain, magnitude; simpl; rewrite !Rplus_0_r; exact near.
Qed.

(** MERGING-5, MERGING-6: merges of any pairs are executions, with these counts. *)
Theorem pairwise_runs J p q l o :
  pairwise J p q l o ->
  (1 <= p)%nat /\ exists k, runs cl rg J k l [1] [o] /\ no_more k (pair_counts p q).
Proof.
  destruct sane as [_ [_ [_ [_ [_ [_ [_ [un0 [en0 [uo0 [eo0 up0]]]]]]]]]]].
  induction 1 as
    [j m near
    | J p q m o J' p' q' m' o' M f f' n r r' a b z l _ [p1 [k [run le]]] _ [p1' [k' [run' le']]]
      ad above above' fac fac' near_n n0 near_r near_r' near_a near_b near_z ad_l below_l near_l
    | J p q m o J' p' q' m' o' M f f' n y z l _ [p1 [k [run le]]] _ [p1' [k' [run' le']]]
      ad above above' fac fac' near_n n0 sum_o near_z ad_l below_l near_l].
  - split; [lia|]; exists nothing; split; [|unfold no_more, nothing; simpl; lia].
    pose proof (runs_key cl rg j m 1 1 near) as one; rewrite Rmult_1_l in one.
    destruct (rounded_sum cl); exact one.
  - split; [lia|].
    pose proof (runs_step _ _ _ _ _ _ _ _ _ run ad above fac) as A.
    pose proof (runs_step _ _ _ _ _ _ _ _ _ run' ad above' fac') as A'.
    cbn [map] in A, A'; rewrite Rmult_1_r in A, A'.
    pose proof (runs_store _ _ _ _ _ _ _ _ _ A (kept_itself _ f up0 en0) near_r) as B.
    pose proof (runs_store _ _ _ _ _ _ _ _ _ A' (kept_itself _ f' up0 en0) near_r') as B'.
    pose proof (runs_beside _ _ _ _ _ _ _ _ _ _ _ B B') as C.
    pose proof (runs_sum_n _ _ _ _ _ _ _ _ _ _ C (two_add _ _ _ _ _ near_n)) as D.
    pose proof (runs_step _ _ _ _ _ _ _ l (/ n) D ad_l below_l
                  (by_division cl M [n] l (/ n) n eq_refl n0 near_l eq_refl)) as E.
    cbn [map app] in E; rewrite Rinv_l in E by lra.
    assert (adds (u_o cl) (eta_o cl) 2 3 [/ n * r; / n * r'] [z]) as sums.
    { apply (adds_sum _ _ 1 2 _ [a; b]).
      - apply (adds_beside _ _ 1 1 [_] [a] 1 1 [_] [b]); apply one_adds;
          rewrite (Rmult_comm (/ n)); assumption.
      - unfold plain, magnitude; simpl; rewrite !Rplus_0_r; exact near_z. }
    pose proof (runs_sum_o _ _ _ _ _ _ _ _ _ _ E sums) as F.
    eexists; split; [exact F|].
    unfold no_more, pair_counts, beside in *; cbn [depth_n depth_o stores steps ops_n ops_o] in *.
    lia.
  - split; [lia|].
    pose proof (runs_step _ _ _ _ _ _ _ _ _ run ad above fac) as A.
    pose proof (runs_step _ _ _ _ _ _ _ _ _ run' ad above' fac') as A'.
    cbn [map] in A, A'; rewrite Rmult_1_r in A, A'.
    pose proof (runs_beside _ _ _ _ _ _ _ _ _ _ _ A A') as C.
    pose proof (runs_sum_n _ _ _ _ _ _ _ _ _ _ C (two_add _ _ _ _ _ near_n)) as D.
    pose proof (runs_sum_o _ _ _ _ _ _ _ _ _ _ D (combined_adds _ _ _ _ _ _ _ sum_o)) as E.
    pose proof (runs_step _ _ _ _ _ _ _ l (/ n) E ad_l below_l
                  (by_division cl M [n] l (/ n) n eq_refl n0 near_l eq_refl)) as F.
    cbn [map] in F; rewrite Rinv_l in F by lra.
    rewrite (Rmult_comm (/ n) y) in F.
    pose proof (runs_store _ _ _ _ _ _ _ _ _ F (kept_itself _ 1 up0 en0) near_z) as G.
    eexists; split; [exact G|].
    unfold no_more, pair_counts, beside in *; cbn [depth_n depth_o stores steps ops_n ops_o] in *.
    lia.
Qed.

(** More levels than a tree has claim less. *)
Lemma pairwise_runs_within J p q l o levels :
  pairwise J p q l o -> (q <= levels)%nat ->
  exists k, runs cl rg J k l [1] [o] /\ no_more k (pair_counts p levels).
Proof.
  intros run within; destruct (pairwise_runs J p q l o run) as [_ [k [run' le]]].
  exists k; split; [exact run'|].
  unfold no_more, pair_counts in *; cbn [depth_n depth_o stores steps ops_n ops_o] in *; lia.
Qed.

Lemma pairwise_lse parts i J J' p q l o levels :
  J <> [] -> parts_in_column parts i J -> Permutation J' J ->
  pairwise J' p q l o -> (q <= levels)%nat -> 0 < left_over cl rg J (pair_counts p levels) ->
  exists y, Merging.log_sum (Merging.merged_part parts) = Softmax.Finite y /\
    Rabs (l - y) <= - ln (1 - denominator_error cl rg J (pair_counts p levels)).
Proof.
  intros some col perm run within left.
  destruct (pairwise_runs_within J' p q l o levels run within) as [k [run' le]].
  apply (runs_order _ _ J' J) in run'; [|exact perm].
  destruct (merging_lse_holds parts i J (pair_counts p levels) k l 1 o l 0 some col run' le left)
    as [y [E near]].
  - rewrite ln_1, Rplus_0_r; replace (l - l) with 0 by ring; rewrite Rabs_R0; lra.
  - exists y; split; [exact E | lra].
Qed.

(** MERGING-6, MERGING-7: merges of any pairs, in any order and in any grouping that has no more
    levels than were declared. *)
Theorem pairwise_holds e parts i J J' p q l o levels out :
  sane_ending e -> J <> [] -> parts_in_column parts i J -> Permutation J' J ->
  pairwise J' p q l o -> (q <= levels)%nat -> 0 < left_over cl rg J (pair_counts p levels) ->
  ends e 1 o (Some out) ->
  Rabs (out - Merging.output (Merging.merged_part parts) i)
    <= tolerance cl rg e J (pair_counts p levels) /\
  exists y, Merging.log_sum (Merging.merged_part parts) = Softmax.Finite y /\
    Rabs (l - y) <= - ln (1 - denominator_error cl rg J (pair_counts p levels)).
Proof.
  intros sane_e some col perm run within left written; split.
  - destruct (pairwise_runs_within J' p q l o levels run within) as [k [run' le]].
    apply (runs_order _ _ J' J) in run'; [|exact perm].
    apply (merging_holds e parts i J _ k l 1 o out); assumption.
  - apply (pairwise_lse parts i J J' p q l o levels); assumption.
Qed.

(** ** Undivided *)

(** Weights for the reference l, and their products, are summed; n is the sum of the weights, which
    nobody computes. *)
Theorem undivided_runs parts J l ns os d ops o :
  J <> [] -> (length J <= parts)%nat -> weighed cl rg l J ns os ->
  adds (u_o cl) (eta_o cl) d ops os [o] -> (d <= parts - 1 /\ ops <= parts - 1)%nat ->
  exists k, runs cl rg J k l [plain ns] [o] /\ no_more k (once_counts parts).
Proof.
  intros some len near sum_o le.
  destruct sane as [_ [_ [_ [_ [_ [_ [_ [un0 [en0 _]]]]]]]]].
  assert (length ns = length J) as same by (clear - near; induction near; simpl; auto).
  assert (exists d' ops', adds (u_n cl) (eta_n cl) d' ops' ns [plain ns] /\
            (d' <= parts - 1 /\ ops' <= parts - 1)%nat) as [d' [ops' [sum_n le']]].
  { destruct ns as [|x [|y ns]].
    - destruct J; [contradiction | discriminate].
    - exists 0%nat, 0%nat; unfold plain; simpl; rewrite Rplus_0_r; split; [apply adds_term | lia].
    - exists 1%nat, 1%nat; split; [|simpl in same; lia].
      apply (adds_sum _ _ 0 0 _ (x :: y :: ns)).
      + generalize (x :: y :: ns); clear; intros l; induction l as [|x l IH];
          [apply adds_none|].
        apply (adds_beside _ _ 0 0 [x] [x] 0 0 l l); [apply adds_term | exact IH].
      + replace (plain (x :: y :: ns) - plain (x :: y :: ns)) with 0 by ring; rewrite Rabs_R0.
        pose proof (Rmult_le_pos _ _ un0 (magnitude_pos (x :: y :: ns))); lra. }
  apply (at_once_runs parts J l (plain ns) o).
  exists ns, os, d', ops', d, ops; repeat split; tauto.
Qed.

(** n, the exact sum of weights exp(l_i - l), is near 1 if l is near the log-sum-exp: by b, and the
    weights by their part of W. The output o is o / n up to that. *)
Definition undivided_error (J : list input) (k : counts) (b : R) : R :=
  exp (b - ln (1 - denominator_error cl rg J k)) - 1.

Theorem undivided_is_near_quotient J k done l n o b :
  J <> [] -> runs cl rg J done l [n] [o] -> no_more done k -> 0 < left_over cl rg J k ->
  Rabs (l - ln (weight_sum J)) <= b ->
  Rabs (o - o / n) <= undivided_error J k b * Rabs (o / n).
Proof.
  intros some run le left near.
  destruct (quotient_holds cl rg sane sane' J k done l n o run le left) as [n0 _].
  assert (Rabs (l + ln n - (l + ln n)) <= 0) as none
    by (replace (l + ln n - (l + ln n)) with 0 by ring; rewrite Rabs_R0; lra).
  pose proof (lse_holds cl rg sane sane' J k done l n o (l + ln n) 0 some run le left none)
    as near'.
  assert (Rabs (ln n) <= b - ln (1 - denominator_error cl rg J k)) as small.
  { replace (ln n) with ((l + ln n - ln (weight_sum J)) - (l - ln (weight_sum J))) by ring.
    pose proof (Rabs_triang (l + ln n - ln (weight_sum J)) (- (l - ln (weight_sum J)))) as T.
    rewrite Rabs_Ropp in T; unfold Rminus in *; lra. }
  pose proof (exp_near_1 _ _ small) as near_1; rewrite exp_ln in near_1 by exact n0.
  replace (o - o / n) with ((n - 1) * (o / n)) by (field; lra).
  rewrite Rabs_mult; apply Rmult_le_compat_r; [apply Rabs_pos | exact near_1].
Qed.

(** MERGING-6: what is written is near the merged output, with the error of l as that of a
    division. *)
Theorem undivided_holds parts i J k done l n o b out_format out :
  0 <= unit out_format -> 0 <= tiny out_format -> 0 <= b ->
  J <> [] -> parts_in_column parts i J ->
  runs cl rg J done l [n] [o] -> no_more done k -> 0 < left_over cl rg J k ->
  Rabs (l - ln (weight_sum J)) <= b -> stored out_format o (Some out) ->
  Rabs (out - Merging.output (Merging.merged_part parts) i)
    <= tolerance cl rg (Ending (undivided_error J k b) 0 out_format) J k.
Proof.
  intros u0 t0 b0 some col run le left near written.
  pose proof (undivided_is_near_quotient J k done l n o b some run le left near) as near_o.
  assert (0 <= undivided_error J k b) as D0.
  { unfold undivided_error.
    pose proof (exp_at_least_1 (b - ln (1 - denominator_error cl rg J k))) as one.
    destruct (quotient_holds cl rg sane sane' J k done l n o run le left) as [n0 _].
    assert (Rabs (l + ln n - (l + ln n)) <= 0) as none
      by (replace (l + ln n - (l + ln n)) with 0 by ring; rewrite Rabs_R0; lra).
    pose proof (lse_holds cl rg sane sane' J k done l n o (l + ln n) 0 some run le left none) as y.
    pose proof (Rabs_pos (l + ln n - ln (weight_sum J))); lra. }
  apply (merging_holds _ parts i J k done l n o out); try assumption.
  - repeat split; simpl; lra.
  - exists o; split; [simpl; lra | exact written].
Qed.
End Ways.

(** ** Pairwise: the log-sum-exp alone

    A log-sum-exp is computed from log-sum-exps, and never from an output. So it does not matter to
    it what outputs lose between merges. *)

(** The class of a kernel that stores its outputs without an error. *)
Definition unrounded (cl : class) : class :=
  Class (u_arg cl) (u_ref cl) (u_move cl) (eps cl) (kappa cl) (weights cl) (rounded_sum cl)
    (u_n cl) (eta_n cl) (u_o cl) (eta_o cl) 0.

Lemma unrounded_sane cl : sane_class cl -> sane_class (unrounded cl).
Proof. unfold sane_class; simpl; intros; repeat split; (apply Rle_refl || tauto). Qed.

Lemma unrounded_factor cl m ns m' f : factor cl m ns m' f -> factor (unrounded cl) m ns m' f.
Proof.
  destruct 1 as [z arg near | near one | n one n0 near inverse].
  - apply (by_exponential _ _ _ _ _ z); assumption.
  - apply by_renaming; assumption.
  - apply (by_division _ _ _ _ _ n); assumption.
Qed.

Lemma exactly u eta x y : 0 <= u -> 0 <= eta -> 0 <= y -> Rabs (x - x) <= u * y + eta.
Proof.
  intros u0 eta0 y0; replace (x - x) with 0 by ring; rewrite Rabs_R0.
  pose proof (Rmult_le_pos _ _ u0 y0); lra.
Qed.

(** MERGING-7: the same log-sum-exp comes of merges that store each output without an error. *)
Theorem pairwise_unrounded cl rg J p q l o :
  sane_class cl -> pairwise cl rg J p q l o -> exists o', pairwise (unrounded cl) rg J p q l o'.
Proof.
  intros (_ & _ & _ & _ & _ & _ & _ & _ & _ & u0 & eta0 & _).
  induction 1 as
    [j m near
    | J p q m o J' p' q' m' o' M f f' n r r' a b z l _ [x run] _ [x' run']
      ad above above' fac fac' near_n n0 near_r near_r' near_a near_b near_z ad_l below_l near_l
    | J p q m o J' p' q' m' o' M f f' n y z l _ [x run] _ [x' run']
      ad above above' fac fac' near_n n0 sum_o near_z ad_l below_l near_l].
  - exists (value j); apply one_part; exact near.
  - exists (f * x / n + f' * x' / n).
    apply (two_weights (unrounded cl) rg J p q m x J' p' q' m' x' M f f' n (f * x) (f' * x')
             (f * x / n) (f' * x' / n));
      try (apply unrounded_factor); try assumption;
      unfold kept; apply exactly; simpl; try assumption; try lra; try apply Rabs_pos.
    apply Rplus_le_le_0_compat; apply Rabs_pos.
  - exists ((f * x + f' * x') / n).
    apply (two_sums (unrounded cl) rg J p q m x J' p' q' m' x' M f f' n (f * x + f' * x'));
      try (apply unrounded_factor); try assumption.
    + exists (f * x), (f' * x'); repeat split;
        apply exactly; simpl; try assumption; try apply Rabs_pos.
      apply Rplus_le_le_0_compat; apply Rabs_pos.
    + unfold kept; apply exactly; simpl; try lra; apply Rabs_pos.
Qed.

(** MERGING-7: so the log-sum-exp has the bound of such a kernel. *)
Theorem pairwise_lse_holds cl rg parts i J J' p q l o levels :
  sane_class cl -> sane_range rg -> J <> [] -> parts_in_column parts i J -> Permutation J' J ->
  pairwise cl rg J' p q l o -> (q <= levels)%nat ->
  0 < left_over (unrounded cl) rg J (pair_counts p levels) ->
  exists y, Merging.log_sum (Merging.merged_part parts) = Softmax.Finite y /\
    Rabs (l - y) <= - ln (1 - denominator_error (unrounded cl) rg J (pair_counts p levels)).
Proof.
  intros sane sane' some col perm run within left.
  destruct (pairwise_unrounded cl rg J' p q l o sane run) as [o' run'].
  apply (pairwise_lse (unrounded cl) rg (unrounded_sane cl sane) sane' parts i J J' p q l o');
    assumption.
Qed.
