(* SPDX-License-Identifier: Apache-2.0 *)
(** * Executions over chunks, exact ones, and the examples (spec/tolerance.md: NUM-8, NUM-10)

    How much a kernel does that makes one state of each chunk and merges these in any order; and
    that the theorems are not about nothing: every list of keys has executions, and a class without
    errors has the tolerance 0. *)
From Coq Require Import Reals List Permutation Lra Lia.
From Chunkproof Require Softmax.
From Chunkproof Require Import NumCore NumRound NumExec NumInvariant NumTolerance.
Import ListNotations.
Open Scope R_scope.

(** ** NUM-8: chunks, merged two at a time *)

(** Keys at the reference m, each with its weight in n and its product in o, which may be
    rounded. *)
Inductive weighed (cl : class) (rg : range) (m : R) : list input -> list R -> list R -> Prop :=
  | weighed_none : admits rg m -> weighed cl rg m [] [] []
  | weighed_key j p p' t J ns os :
      weighs cl rg j m p p' -> Rabs (t - p' * value j) <= u_o cl * Rabs (p' * value j) + eta_o cl ->
      weighed cl rg m J ns os ->
      weighed cl rg m (j :: J) ((if rounded_sum cl then p' else p) :: ns) (t :: os).

(** x' is x as a state is stored: for n and o with their tiny errors. *)
Definition kept (cl : class) (eta x x' : R) : Prop := Rabs (x' - x) <= u_part cl * Rabs x + eta.

(** z is f x + f' x', computed. *)
Definition combined (u eta f x f' x' z : R) : Prop :=
  exists a b, Rabs (a - f * x) <= u * Rabs (f * x) + eta /\
    Rabs (b - f' * x') <= u * Rabs (f' * x') + eta /\
    Rabs (z - (a + b)) <= u * (Rabs a + Rabs b) + eta.

(** The state (m, n, o) of the keys J comes from [parts] chunks of at most c keys: each summed in at
    most c additions, in any order; merged in any order, with any references, and stored before each
    merge. *)
Inductive chunked (cl : class) (rg : range) (c : nat) : list input -> nat -> R -> R -> R -> Prop :=
  | one_chunk J m ns os d ops n d' ops' o :
      weighed cl rg m J ns os ->
      adds (u_n cl) (eta_n cl) d ops ns [n] -> (d <= c /\ ops <= c)%nat ->
      adds (u_o cl) (eta_o cl) d' ops' os [o] -> (d' <= c /\ ops' <= c)%nat ->
      (length J <= c)%nat ->
      chunked cl rg c J 1 m n o
  | two_parts J p m n o J' p' m' n' o' n1 o1 n2 o2 M f f' n3 o3 :
      chunked cl rg c J p m n o -> chunked cl rg c J' p' m' n' o' ->
      kept cl (eta_n cl) n n1 -> kept cl (eta_o cl) o o1 ->
      kept cl (eta_n cl) n' n2 -> kept cl (eta_o cl) o' o2 ->
      admits rg M -> m - fall rg <= M -> m' - fall rg <= M ->
      factor cl m [n1] M f -> factor cl m' [n2] M f' ->
      combined (u_n cl) (eta_n cl) f n1 f' n2 n3 -> combined (u_o cl) (eta_o cl) f o1 f' o2 o3 ->
      chunked cl rg c (J ++ J') (p + p') M n3 o3.

(** How much that is: two operations deep for each merge, beside the chunk itself. *)
Definition chunk_counts (c parts : nat) : counts :=
  let merges := (parts - 1)%nat in
  Counts (c + 2 * merges) (c + 1 + 2 * merges) merges merges
         (c * parts + 5 * merges) (2 * c * parts + 5 * merges).

Lemma weighed_runs cl rg m J ns os :
  weighed cl rg m J ns os ->
  exists k, runs cl rg J k m ns os /\ no_more k (Counts 0 1 0 0 0 (length J)).
Proof.
  induction 1 as [ad | j p p' t J ns os near near_t rest [k [run le]]].
  - exists nothing; split; [apply runs_none, ad | unfold no_more, nothing; simpl; lia].
  - exists (beside (Counts 0 1 0 0 0 1) k); split.
    + change (j :: J) with ([j] ++ J); change (?x :: ns) with ([x] ++ ns).
      change (t :: os) with ([t] ++ os); apply runs_beside; [|exact run].
      pose proof (runs_key cl rg j m p p' near) as one.
      apply (runs_sum_o cl rg _ _ _ _ _ 1 1 [t]) in one; [exact one|].
      apply (adds_sum _ _ 0 0 _ [p' * value j]); [apply adds_term|].
      unfold plain, magnitude; simpl; rewrite !Rplus_0_r; exact near_t.
    + unfold no_more, beside in *; cbn [depth_n depth_o stores steps ops_n ops_o length] in *; lia.
Qed.

Lemma one_adds u eta x y : Rabs (y - x) <= u * Rabs x + eta -> adds u eta 1 1 [x] [y].
Proof.
  intros near; apply (adds_sum _ _ 0 0 _ [x]); [apply adds_term|].
  unfold plain, magnitude; simpl; rewrite !Rplus_0_r; exact near.
Qed.

Lemma combined_adds u eta f x f' x' z :
  combined u eta f x f' x' z -> adds u eta 2 3 ([f * x] ++ [f' * x']) [z].
Proof.
  intros [a [b [near_a [near_b near]]]].
  apply (adds_sum u eta 1 2 _ [a; b]).
  - apply (adds_beside u eta 1 1 [_] [a] 1 1 [_] [b]); apply one_adds; assumption.
  - unfold plain, magnitude; simpl; rewrite !Rplus_0_r; exact near.
Qed.

(** NUM-8: any execution over chunks is one of the executions, and does no more than was said. *)
Theorem chunked_runs cl rg c J parts m n o :
  chunked cl rg c J parts m n o ->
  (1 <= parts)%nat /\ exists k, runs cl rg J k m [n] [o] /\ no_more k (chunk_counts c parts).
Proof.
  induction 1 as
    [J m ns os d ops n d' ops' o near sums [le_d le_ops] sums' [le_d' le_ops'] len
    | J p m n o J' p' m' n' o' n1 o1 n2 o2 M f f' n3 o3 _ [p1 [k [run le]]] _ [p1' [k' [run' le']]]
      kn1 ko1 kn2 ko2 ad above above' fac fac' sum_n sum_o].
  - split; [lia|]; destruct (weighed_runs _ _ _ _ _ _ near) as [k [run le]].
    eexists; split.
    + eapply runs_sum_o; [|exact sums']; eapply runs_sum_n; [exact run | exact sums].
    + unfold no_more, chunk_counts in *; cbn [depth_n depth_o stores steps ops_n ops_o] in *; nia.
  - split; [lia|].
    pose proof (runs_store _ _ _ _ _ _ _ _ _ run kn1 ko1) as A.
    pose proof (runs_store _ _ _ _ _ _ _ _ _ run' kn2 ko2) as A'.
    pose proof (runs_step _ _ _ _ _ _ _ _ _ A ad above fac) as B.
    pose proof (runs_step _ _ _ _ _ _ _ _ _ A' ad above' fac') as B'.
    pose proof (runs_beside _ _ _ _ _ _ _ _ _ _ _ B B') as C.
    pose proof (runs_sum_n _ _ _ _ _ _ _ _ _ _ C (combined_adds _ _ _ _ _ _ _ sum_n)) as D.
    pose proof (runs_sum_o _ _ _ _ _ _ _ _ _ _ D (combined_adds _ _ _ _ _ _ _ sum_o)) as E.
    eexists; split; [exact E|].
    assert (c * (p + p') = c * p + c * p')%nat as dist by ring.
    assert (2 * c * (p + p') = 2 * c * p + 2 * c * p')%nat as dist' by ring.
    unfold no_more, chunk_counts, beside in *; cbn [depth_n depth_o stores steps ops_n ops_o] in *.
    rewrite dist, dist'; lia.
Qed.

(** NUM-10: whatever a kernel over chunks writes for the keys K, in column i, is within the
    tolerance of attention (SOFTMAX-2). J are these keys, in any order. *)
Theorem chunked_tolerance cl rg e c K i J J' parts m n o out :
  sane_class cl -> sane_range rg -> sane_ending e ->
  K <> [] -> column K i J -> Permutation J' J ->
  chunked cl rg c J' parts m n o -> 0 < left_over cl rg J (chunk_counts c parts) ->
  ends e n o (Some out) ->
  Rabs (out - Softmax.attention K i) <= tolerance cl rg e J (chunk_counts c parts).
Proof.
  intros sane sane' sane_e some col perm run left written.
  destruct (chunked_runs cl rg c J' parts m n o run) as [_ [k [run' le]]].
  rewrite <- (proj1 (exact_is_attention K i J some col)).
  apply (tolerance_holds cl rg sane sane' e J (chunk_counts c parts) k m n o out); try assumption.
  apply (runs_order _ _ J'); assumption.
Qed.

(** ** Exact executions *)

Lemma adds_exactly u eta l :
  0 <= u -> 0 <= eta -> exists d ops, adds u eta d ops l [plain l].
Proof.
  intros u0 eta0.
  assert (exists d ops, adds u eta d ops l l) as [d [ops run]].
  { induction l as [|x l [d [ops IH]]]; [exists 0%nat, 0%nat; apply adds_none|].
    eexists; eexists; apply (adds_beside u eta 0 0 [x] [x] d ops l l);
      [apply adds_term | exact IH]. }
  exists (S d), (S ops); apply (adds_sum _ _ _ _ _ l _ run).
  replace (plain l - plain l) with 0 by ring; rewrite Rabs_R0.
  pose proof (Rmult_le_pos _ _ u0 (magnitude_pos l)); lra.
Qed.

(** NUM-8: the class may also be exact: the state of any keys at any reference m is an execution of
    every class, where the range admits the reference. *)
Theorem exact_execution cl rg J m :
  sane_class cl -> 0 <= slack rg -> admits rg m ->
  (forall j, In j J -> 0 <= sigma j /\ m <= cap j /\ s j - slack rg <= m) ->
  exists k, runs cl rg J k m [total (fun j => exp (s j - m)) J]
                 [total (fun j => exp (s j - m) * value j) J].
Proof.
  intros sane slack0 ad good.
  destruct sane as [a0 [r0 [v0 [e0 [k0 [uw0 [tw0 [un0 [en0 [uo0 [eo0 up0]]]]]]]]]]].
  assert (forall x, rounds (weights cl) x x) as same.
  { intros x; unfold rounds; replace (x - x) with 0 by ring; rewrite Rabs_R0.
    apply Rle_trans with (1 := tw0), Rmax_r. }
  assert (exists k, runs cl rg J k m (map (fun j => exp (s j - m)) J)
                         (map (fun j => exp (s j - m) * value j) J)) as [k run].
  { induction J as [|j J IH]; [exists nothing; apply runs_none, ad|].
    destruct IH as [k run]; [intros; apply good; right; assumption|].
    destruct (good j (or_introl eq_refl)) as [sg [below above]].
    exists (beside nothing k).
    apply (runs_beside _ _ [j] nothing m [_] [_] J k); [|exact run].
    assert (weighs cl rg j m (exp (s j - m)) (exp (s j - m))) as near.
    { repeat split; try assumption; try (apply ad); [|apply same].
      exists (s j), (s j - m); split; [|split; [|split]].
      - replace (s j - s j) with 0 by ring; rewrite Rabs_R0; exact sg.
      - unfold argument; replace (s j - m - (s j - m)) with 0 by ring; rewrite Rabs_R0.
        pose proof (Rmult_le_pos _ _ a0 (Rabs_pos (s j - m))).
        pose proof (Rmult_le_pos _ _ r0 (Rabs_pos m)); lra.
      - left; apply exp_pos.
      - exists 0, 0; rewrite Rabs_R0, !Rplus_0_r; repeat split; assumption. }
    pose proof (runs_key cl rg j m _ _ near) as one; destruct (rounded_sum cl); exact one. }
  destruct (adds_exactly _ _ (map (fun j => exp (s j - m)) J) un0 en0) as [d [ops sum_n]].
  destruct (adds_exactly _ _ (map (fun j => exp (s j - m) * value j) J) uo0 eo0)
    as [d' [ops' sum_o]].
  unfold plain in sum_n, sum_o; rewrite total_map in sum_n, sum_o.
  eexists; eapply runs_sum_o; [|exact sum_o]; eapply runs_sum_n; [exact run | exact sum_n].
Qed.

(** A class, and an end, without errors. *)
Definition exact_format (largest : R) := Format 0 0 largest.
Definition exact_class := Class 0 0 0 0 0 (exact_format 0) false 0 0 0 0 0.
Definition exact_ending := Ending 0 0 (exact_format 0).

Lemma exact_bound rg J k :
  (forall j, In j J -> sigma j = 0) -> 0 <= slack rg -> J <> [] ->
  quotient_bound exact_class rg J k = 0 /\ left_over exact_class rg J k = weight_sum J.
Proof.
  intros sure slack0 some.
  assert (growth_n exact_class k = 1) as gn
    by (unfold growth_n; simpl; rewrite Rplus_0_r, !pow1; ring).
  assert (growth_o exact_class k = 1) as go
    by (unfold growth_o; simpl; rewrite Rplus_0_r, !pow1; ring).
  assert (forall j, in_both exact_class rg (steps k) j = 0) as both
    by (intros j; unfold in_both, lost; simpl; ring).
  assert (forall j, in_numerator exact_class rg (steps k) j = 0) as alone.
  { intros j; unfold in_numerator, lost, rounding; simpl; rewrite !Rmult_0_l.
    unfold Rmax; destruct (Rle_dec 0 0); ring. }
  assert (forall j, In j J -> common_error exact_class rg k j = 0) as A.
  { intros j inj; unfold common_error, weight_error; rewrite both.
    unfold strays; simpl; rewrite (sure j inj), !Rmult_0_l, !Rmult_0_r, !Rplus_0_r.
    rewrite Rmult_0_l, !Rplus_0_r.
    rewrite ?Rmult_0_r, ?Rplus_0_r, exp_0; ring. }
  assert (forall j, own_error exact_class rg k j = 0) as B
    by (intros j; unfold own_error, numerator_error; rewrite alone; ring).
  assert (sum_error_n exact_class rg J k = 0) as C
    by (unfold sum_error_n, tiny_n; rewrite gn; simpl; ring).
  assert (sum_error_o exact_class rg J k = 0) as D
    by (unfold sum_error_o, tiny_o; rewrite go; simpl; ring).
  assert (forall f, total (fun j => common_error exact_class rg k j * f j) J = 0) as E.
  { intros f; rewrite (total_ext _ (fun _ => 0 * 0)) by (intros j inj; rewrite (A j inj); ring).
    rewrite total_scale; ring. }
  assert (total (common_error exact_class rg k) J = 0) as F.
  { rewrite (total_ext _ (fun j => common_error exact_class rg k j * 1)) by (intros; ring);
    apply E. }
  pose proof (weight_sum_positive J some) as pos.
  assert (left_over exact_class rg J k = weight_sum J) as G
    by (unfold left_over; rewrite F, C; ring).
  split; [|exact G]; unfold quotient_bound; rewrite E, C, D, G.
  rewrite (total_ext _ (fun _ => 0 * 0)) by (intros j _; rewrite (B j); ring).
  rewrite total_scale; field; lra.
Qed.

(** NUM-10: without errors the tolerance is 0, whatever the references and the order. *)
Theorem no_error_no_tolerance rg J k :
  (forall j, In j J -> sigma j = 0) -> 0 <= slack rg -> J <> [] ->
  tolerance exact_class rg exact_ending J k = 0 /\ 0 < left_over exact_class rg J k.
Proof.
  intros sure slack0 some; destruct (exact_bound rg J k sure slack0 some) as [E L]; rewrite L.
  split; [|apply weight_sum_positive, some].
  unfold tolerance, with_output, before_output; rewrite E; simpl.
  rewrite !Rmult_0_l, !Rplus_0_r; unfold Rmax; destruct (Rle_dec 0 0); ring.
Qed.

(** ** The example of spec/tolerance.md: two keys with equal scores, values 1 and 3 *)

Definition two_keys := [Input 0 1 0 0; Input 0 3 0 0].

Lemma exact_of_two_keys : exact two_keys = 2.
Proof. unfold exact, weight_sum, two_keys; simpl; rewrite exp_0; field. Qed.

(** Written as binary16, all else exact: half a unit in the last place of 2. *)
Example two_keys_written rg k :
  0 <= slack rg ->
  tolerance exact_class rg (Ending 0 0 binary16) two_keys k = / 2 ^ 10.
Proof.
  intros slack0.
  destruct (exact_bound rg two_keys k) as [E _];
    [simpl; intros j [<- | [<- | []]]; reflexivity | exact slack0 | discriminate |].
  unfold tolerance, with_output, before_output; rewrite E, exact_of_two_keys.
  unfold binary16; cbn [u_div eta_div output unit tiny].
  rewrite (Rabs_pos_eq 2) by lra.
  rewrite Rmax_left; [|replace (/ 2 ^ 25) with (/ 2 ^ 11 * / 2 ^ 14) by (field)]; [field|].
  assert (0 < / 2 ^ 11) by (apply Rinv_0_lt_compat; lra); nra.
Qed.
