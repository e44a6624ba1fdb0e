(* SPDX-License-Identifier: Apache-2.0 *)
(** * Merges of states whose references are near the maximum (spec/merging.md: MERGING-5, MERGING-6)

    A state (m, n, o) has a reference that is at most [ahead] above the largest log-sum-exp of its
    parts, and at most [behind] below it: a kernel that rescales only when the maximum has grown by
    much. Whatever the number of merges, the references have no slack in the scale of the maximum
    (NumLag.v). *)
From Coq Require Import Reals List Permutation Lra Lia.
From Chunkproof Require Softmax Merging.
From Chunkproof Require Import NumCore NumRound NumExec NumInvariant NumTolerance NumChunks NumLag
  MergingBound.
Import ListNotations.
Open Scope R_scope.

Section States.
Variables (cl : class) (low top ahead behind : R).
Hypothesis sane : sane_class cl.
Hypothesis ahead0 : 0 <= ahead.
Hypothesis behind0 : 0 <= behind.

(** MERGING-5: the state of p parts. Each part by itself is a chunk of one key, as in
    MergingBound.v; two states are stored, brought to a reference that is near their maximum, and
    added up. *)
Inductive tracked : list input -> nat -> R -> R -> R -> Prop :=
  | one_state rg j m p p' t d ops n d' ops' o :
      weighs cl rg j m p p' -> near ahead behind [j] m ->
      Rabs (t - p' * value j) <= u_o cl * Rabs (p' * value j) + eta_o cl ->
      adds (u_n cl) (eta_n cl) d ops [if rounded_sum cl then p' else p] [n] ->
      (d <= 1 /\ ops <= 1)%nat ->
      adds (u_o cl) (eta_o cl) d' ops' [t] [o] -> (d' <= 1 /\ ops' <= 1)%nat ->
      tracked [j] 1 m n o
  | two_states J p m n o J' p' m' n' o' n1 o1 n2 o2 M f f' n3 o3 :
      tracked J p m n o -> tracked J' p' m' n' o' ->
      kept cl (eta_n cl) n n1 -> kept cl (eta_o cl) o o1 ->
      kept cl (eta_n cl) n' n2 -> kept cl (eta_o cl) o' o2 ->
      near ahead behind (J ++ J') M -> factor cl m [] M f -> factor cl m' [] M f' ->
      combined (u_n cl) (eta_n cl) f n1 f' n2 n3 -> combined (u_o cl) (eta_o cl) f o1 f' o2 o3 ->
      tracked (J ++ J') (p + p') M n3 o3.

(** They are about something: a part as it was given is the first state. *)
Theorem part_is_tracked j :
  low <= s j <= top -> top <= cap j -> 0 <= sigma j -> tracked [j] 1 (s j) 1 (value j).
Proof.
  intros [above below] cap_le sure.
  pose proof sane as [_ [_ [_ [_ [_ [_ [_ [_ [_ [uo0 [eo0 _]]]]]]]]]]].
  assert (sane_range (Range low top 0 0)) as sane' by (split; simpl; lra).
  apply (one_state (Range low top 0 0) j (s j) 1 1 (value j) 0 0 1 0 0 (value j)).
  - apply part_as_given; try assumption; [split; simpl; lra | lra].
  - split; [intros i [<- | []]; lra | exists j; split; [left; reflexivity | lra]].
  - replace (value j - 1 * value j) with 0 by ring; rewrite Rabs_R0.
    pose proof (Rmult_le_pos _ _ uo0 (Rabs_pos (1 * value j))); lra.
  - destruct (rounded_sum cl); apply adds_term.
  - lia.
  - apply adds_term.
  - lia.
Qed.

(** Such merges are executions near the maximum, and do no more than other states. *)
Theorem tracked_lags J p m n o :
  tracked J p m n o ->
  near ahead behind J m /\ (1 <= p)%nat /\
  exists k, lags cl ahead behind J k m [n] [o] /\ no_more k (chunk_counts 1 p).
Proof.
  induction 1 as
    [rg j m p p' t d ops n d' ops' o w nr near_t sums [le_d le_ops] sums' [le_d' le_ops']
    | J p m n o J' p' m' n' o' n1 o1 n2 o2 M f f' n3 o3 _ [nr [p1 [k [run le]]]]
      _ [nr' [p1' [k' [run' le']]]] kn1 ko1 kn2 ko2 nr_M fac fac' sum_n sum_o].
  - split; [exact nr|]; split; [lia|].
    pose proof (lags_key cl ahead behind rg j m p p' w (proj1 nr)) as A.
    pose proof (lags_sum_o cl ahead behind _ _ _ _ _ _ _ _ A (one_adds _ _ _ _ near_t)) as B.
    pose proof (lags_sum_n cl ahead behind _ _ _ _ _ _ _ _ B sums) as C.
    pose proof (lags_sum_o cl ahead behind _ _ _ _ _ _ _ _ C sums') as D.
    eexists; split; [exact D|].
    unfold no_more, chunk_counts, nothing; cbn [depth_n depth_o stores steps ops_n ops_o]; lia.
  - split; [exact nr_M|]; split; [lia|].
    assert (above_all behind J M /\ above_all behind J' M) as [up up'].
    { destruct nr_M as [lower _]; split; intros j inj; apply lower, in_or_app; auto. }
    pose proof (lags_store cl ahead behind _ _ _ _ _ _ _ run kn1 ko1) as A.
    pose proof (lags_store cl ahead behind _ _ _ _ _ _ _ run' kn2 ko2) as A'.
    pose proof (lags_step cl ahead behind _ _ _ _ _ _ _ A nr up fac) as B.
    pose proof (lags_step cl ahead behind _ _ _ _ _ _ _ A' nr' up' fac') as B'.
    pose proof (lags_beside cl ahead behind _ _ _ _ _ _ _ _ _ B B') as C.
    pose proof (lags_sum_n cl ahead behind _ _ _ _ _ _ _ _ C (combined_adds _ _ _ _ _ _ _ sum_n))
      as D.
    pose proof (lags_sum_o cl ahead behind _ _ _ _ _ _ _ _ D (combined_adds _ _ _ _ _ _ _ sum_o))
      as E.
    eexists; split; [exact E|].
    unfold no_more, chunk_counts, beside in *; cbn [depth_n depth_o stores steps ops_n ops_o] in *.
    lia.
Qed.

(** MERGING-6: what such a kernel writes is within the tolerance of the widened class, without
    slack. *)
Theorem tracked_hold e parts i J J' p m n o out :
  sane_ending e -> low <= top -> parts_in_column parts i J ->
  (forall j, In j J -> low <= s j <= top /\ top <= cap j) -> Permutation J' J ->
  tracked J' p m n o ->
  0 < left_over (widened cl ahead behind) (rising low top) J (chunk_counts 1 p) ->
  ends e n o (Some out) ->
  Rabs (out - Merging.output (Merging.merged_part parts) i)
    <= tolerance (widened cl ahead behind) (rising low top) e J (chunk_counts 1 p).
Proof.
  intros sane_e span col inside perm run left written.
  destruct (tracked_lags J' p m n o run) as [nr [_ [k [run' le]]]].
  assert (J <> []) as some.
  { intros ->; destruct nr as [_ [j [inj _]]].
    apply (Permutation_in j perm) in inj; contradiction. }
  rewrite <- (proj1 (exact_is_merged parts i J some col)).
  apply (lags_hold cl low top ahead behind sane ahead0 behind0 (rising low top) e J' J
           (chunk_counts 1 p) k m n o); try assumption; apply wider_self.
Qed.

(** MERGING-7: and the log-sum-exp. *)
Theorem tracked_lse_hold parts i J J' p m n o l x :
  low <= top -> parts_in_column parts i J ->
  (forall j, In j J -> low <= s j <= top /\ top <= cap j) -> Permutation J' J ->
  tracked J' p m n o ->
  0 < left_over (widened cl ahead behind) (rising low top) J (chunk_counts 1 p) ->
  Rabs (l - (m + ln n)) <= x ->
  exists y, Merging.log_sum (Merging.merged_part parts) = Softmax.Finite y /\
    Rabs (l - y) <= x - ln (1 - denominator_error (widened cl ahead behind) (rising low top) J
                                  (chunk_counts 1 p)).
Proof.
  intros span col inside perm run left near_l.
  destruct (tracked_lags J' p m n o run) as [nr [_ [k [run' le]]]].
  assert (J <> []) as some.
  { intros ->; destruct nr as [_ [j [inj _]]].
    apply (Permutation_in j perm) in inj; contradiction. }
  exists (ln (weight_sum J)); split; [apply (exact_is_merged parts i J some col)|].
  apply (lags_lse_hold cl low top ahead behind sane ahead0 behind0 (rising low top) J' J
           (chunk_counts 1 p) k m n o); try assumption; apply wider_self.
Qed.

End States.
