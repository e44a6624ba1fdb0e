(* SPDX-License-Identifier: Apache-2.0 *)
(** * Merging results that are finished (spec/merging.md: MERGING-1 to MERGING-4)

    A part is an output with its log-sum-exp. For the merge a part is a key: its score is the
    log-sum-exp, its value the output. A part without keys is no key. *)
From Coq Require Import Reals List Permutation Lra Lia.
From Chunkproof Require Import Softmax Merge.
Import ListNotations.
Open Scope R_scope.

(** ** MERGING-1: merged results *)

Record part := Part { log_sum : extended; output : vector }.

Fixpoint keys_of (parts : list part) : list key :=
  match parts with
  | [] => []
  | p :: rest =>
      match log_sum p with
      | Minus_infinity => keys_of rest
      | Finite l => Key l (output p) :: keys_of rest
      end
  end.

(** Merged, parts are a part again. *)
Definition merged_part (parts : list part) : part :=
  Part (lse (keys_of parts)) (attention (keys_of parts)).

(** MERGING-1: the formula, with any number m that is subtracted from each l; the largest is one. *)
Theorem merged_by_formula parts r i :
  keys_of parts <> [] ->
  output (merged_part parts) i
  = sum (fun k => exp (score k - r) * value k i) (keys_of parts)
    / sum (fun k => exp (score k - r)) (keys_of parts) /\
  log_sum (merged_part parts) = Finite (r + ln (sum (fun k => exp (score k - r)) (keys_of parts))).
Proof.
  intros some; destruct (any_reference r (keys_of parts)) as [E L].
  assert (n (partial_attn_at r (keys_of parts)) <> 0) as N
    by (rewrite (n_zero _ _ (partial_attn_at_sums r (keys_of parts))); exact some).
  unfold merged_part; simpl; rewrite <- E, <- L; unfold finish, lse_of.
  destruct (Req_EM_T (n (partial_attn_at r (keys_of parts))) 0); [contradiction|].
  split; reflexivity.
Qed.

Theorem merged_without_keys parts :
  keys_of parts = [] -> merged_part parts = Part Minus_infinity zeros.
Proof. unfold merged_part; intros ->; reflexivity. Qed.

(** ** MERGING-2: laws *)

Lemma keys_of_app parts rest : keys_of (parts ++ rest) = keys_of parts ++ keys_of rest.
Proof.
  induction parts as [|p parts IH]; simpl; [reflexivity|].
  destruct (log_sum p); rewrite IH; reflexivity.
Qed.

Lemma keys_of_permutation parts parts' :
  Permutation parts parts' -> Permutation (keys_of parts) (keys_of parts').
Proof.
  induction 1; simpl; auto.
  - destruct (log_sum x); auto.
  - destruct (log_sum x), (log_sum y); auto; constructor.
  - eapply Permutation_trans; eassumption.
Qed.

(** MERGING-2: any order. *)
Theorem merged_in_any_order parts parts' :
  Permutation parts parts' -> merged_part parts = merged_part parts'.
Proof.
  intros P; unfold merged_part.
  destruct (attention_permutation _ _ (keys_of_permutation _ _ P)) as [-> ->]; reflexivity.
Qed.

(** What a merged part weighs, and its output times that. *)
Lemma weight_of_merged parts : W (keys_of [merged_part parts]) = W (keys_of parts).
Proof.
  destruct (keys_of parts) as [|k rest] eqn:E.
  - unfold keys_of, merged_part; simpl; rewrite E; reflexivity.
  - rewrite <- E; unfold keys_of at 1, merged_part; simpl.
    rewrite lse_of_keys by (rewrite E; discriminate).
    unfold W at 1; simpl; rewrite exp_ln by (apply W_positive; rewrite E; discriminate); ring.
Qed.

Lemma sum_of_merged parts i : A (keys_of [merged_part parts]) i = A (keys_of parts) i.
Proof.
  destruct (keys_of parts) as [|k rest] eqn:E.
  - unfold keys_of, merged_part; simpl; rewrite E; reflexivity.
  - assert (keys_of parts <> []) as some by (rewrite E; discriminate).
    pose proof (W_positive _ some) as pos.
    rewrite <- E; unfold keys_of at 1, merged_part; simpl.
    rewrite lse_of_keys by exact some.
    unfold A at 1; simpl; rewrite exp_ln, attention_of_keys by assumption; field; lra.
Qed.

(** Parts with equal sums merge alike. *)
Lemma merged_by_sums J K :
  W J = W K -> (forall i, A J i = A K i) -> attention J = attention K /\ lse J = lse K.
Proof.
  intros EW EA; destruct J as [|j J].
  - assert (K = []) as -> by (apply W_zero; rewrite <- EW; reflexivity); split; reflexivity.
  - assert (j :: J <> []) as some by discriminate.
    assert (K <> []) as some'.
    { intros ->; pose proof (W_positive _ some) as pos; rewrite EW in pos; unfold W in pos;
        simpl in pos; lra. }
    split.
    + apply vector_eq; intros i; rewrite !attention_of_keys by assumption.
      rewrite EW, EA; reflexivity.
    + rewrite !lse_of_keys by assumption; rewrite EW; reflexivity.
Qed.

Lemma merged_alike parts parts' :
  W (keys_of parts) = W (keys_of parts') ->
  (forall i, A (keys_of parts) i = A (keys_of parts') i) ->
  merged_part parts = merged_part parts'.
Proof.
  intros EW EA; unfold merged_part; destruct (merged_by_sums _ _ EW EA) as [-> ->]; reflexivity.
Qed.

(** MERGING-2: any grouping. The first parts are merged first; their result takes their place. *)
Theorem merged_first parts rest :
  merged_part (merged_part parts :: rest) = merged_part (parts ++ rest).
Proof.
  change (merged_part parts :: rest) with ([merged_part parts] ++ rest).
  apply merged_alike; [|intros i]; rewrite !keys_of_app.
  - rewrite !W_additive, weight_of_merged; reflexivity.
  - rewrite !A_additive, sum_of_merged; reflexivity.
Qed.

(** Any tree of merges, of any number of parts at each node. *)
Inductive grouping := One (p : part) | Merged (parts : list grouping).

Fixpoint parts_in (g : grouping) : list part :=
  match g with
  | One p => [p]
  | Merged parts => flat_map parts_in parts
  end.

Fixpoint result_of (g : grouping) : part :=
  match g with
  | One p => p
  | Merged parts => merged_part (map result_of parts)
  end.

Lemma sums_of_grouping g :
  W (keys_of [result_of g]) = W (keys_of (parts_in g)) /\
  forall i, A (keys_of [result_of g]) i = A (keys_of (parts_in g)) i.
Proof.
  revert g; fix IH 1; intros [p | parts]; [split; reflexivity|].
  change (result_of (Merged parts)) with (merged_part (map result_of parts)).
  rewrite weight_of_merged; split; [|intros i; rewrite sum_of_merged].
  - induction parts as [|g parts IHp]; [reflexivity|].
    change (parts_in (Merged (g :: parts))) with (parts_in g ++ parts_in (Merged parts)).
    change (map result_of (g :: parts)) with ([result_of g] ++ map result_of parts).
    rewrite !keys_of_app, !W_additive; destruct (IH g) as [-> _]; f_equal; exact IHp.
  - induction parts as [|g parts IHp]; [reflexivity|].
    change (parts_in (Merged (g :: parts))) with (parts_in g ++ parts_in (Merged parts)).
    change (map result_of (g :: parts)) with ([result_of g] ++ map result_of parts).
    rewrite !keys_of_app, !A_additive; destruct (IH g) as [_ ->]; f_equal; exact IHp.
Qed.

Theorem merged_in_any_grouping parts :
  result_of (Merged parts) = merged_part (parts_in (Merged parts)).
Proof.
  change (result_of (Merged parts)) with (merged_part (map result_of parts)).
  destruct (sums_of_grouping (Merged parts)) as [EW EA].
  change (result_of (Merged parts)) with (merged_part (map result_of parts)) in EW, EA.
  apply merged_alike; [rewrite <- weight_of_merged; exact EW|].
  intros i; rewrite <- sum_of_merged; apply EA.
Qed.

(** MERGING-2: parts without keys are neutral, whatever their outputs are. *)
Theorem part_without_keys_is_neutral o parts :
  merged_part (Part Minus_infinity o :: parts) = merged_part parts.
Proof. reflexivity. Qed.

(** MERGING-2: one part with keys is the result. *)
Theorem one_part_is_the_result l o : merged_part [Part (Finite l) o] = Part (Finite l) o.
Proof.
  unfold merged_part; simpl; f_equal.
  - unfold lse, W; simpl; rewrite Rplus_0_r, ln_exp; reflexivity.
  - apply vector_eq; intros i; unfold attention, A, W; simpl; pose proof (exp_pos l); field; lra.
Qed.

(** MERGING-2, bits: 2^l instead of exp(l), and log2 instead of ln. *)
Definition in_nats (p : part) : part :=
  Part (match log_sum p with Minus_infinity => Minus_infinity | Finite l => Finite (l * ln 2) end)
       (output p).

Theorem bits_are_nats parts i :
  keys_of parts <> [] ->
  output (merged_part (map in_nats parts)) i
  = sum (fun k => Rpower 2 (score k) * value k i) (keys_of parts)
    / sum (fun k => Rpower 2 (score k)) (keys_of parts) /\
  log_sum (merged_part (map in_nats parts))
  = Finite (ln (sum (fun k => Rpower 2 (score k)) (keys_of parts)) / ln 2 * ln 2).
Proof.
  intros some.
  assert (keys_of (map in_nats parts)
          = map (fun k => Key (score k * ln 2) (value k)) (keys_of parts)) as E.
  { clear some; induction parts as [|p parts IH]; simpl; [reflexivity|].
    destruct (log_sum p); simpl; rewrite IH; reflexivity. }
  assert (keys_of (map in_nats parts) <> []) as some'
    by (rewrite E; intros none; apply map_eq_nil in none; contradiction).
  assert (0 < ln 2) as two by (rewrite <- ln_1; apply ln_increasing; lra).
  unfold merged_part; simpl; rewrite attention_of_keys, lse_of_keys by exact some'.
  rewrite E; unfold A, W; rewrite !sum_map; unfold Rpower; simpl.
  split; [|f_equal; field; lra].
  reflexivity.
Qed.

(** ** MERGING-3: shards *)

Definition shard (J : list key) : part := Part (lse J) (attention J).

Lemma sums_of_shard J : W (keys_of [shard J]) = W J /\ forall i, A (keys_of [shard J]) i = A J i.
Proof.
  destruct J as [|k J]; [split; reflexivity|].
  assert (k :: J <> []) as some by discriminate.
  pose proof (W_positive _ some) as pos.
  unfold shard; rewrite lse_of_keys by exact some; cbn [keys_of log_sum output].
  split; [|intros i].
  - unfold W at 1; cbn [sum score value]; rewrite exp_ln by exact pos; ring.
  - unfold A at 1; cbn [sum score value]; rewrite exp_ln, attention_of_keys by assumption.
    field; lra.
Qed.

(** MERGING-3: the merge of the shards is attention over their keys together. *)
Theorem shards_merge_to_attention shards :
  merged_part (map shard shards) = shard (concat shards).
Proof.
  assert (W (keys_of (map shard shards)) = W (concat shards) /\
          forall i, A (keys_of (map shard shards)) i = A (concat shards) i) as [EW EA].
  { induction shards as [|J shards [IW IA]]; [split; reflexivity|]; simpl map; simpl concat.
    change (shard J :: map shard shards) with ([shard J] ++ map shard shards).
    rewrite keys_of_app, !W_additive, IW; destruct (sums_of_shard J) as [EW EA].
    split; [rewrite EW; reflexivity|].
    intros i; rewrite !A_additive, IA, EA; reflexivity. }
  destruct (merged_by_sums _ _ EW EA) as [E L].
  unfold merged_part; rewrite E, L; reflexivity.
Qed.

(** MERGING-3: shards of a partition, in any order. *)
Theorem disjoint_shards_merge_to_attention J shards :
  Permutation (concat shards) J -> merged_part (map shard shards) = shard J.
Proof.
  intros P; rewrite shards_merge_to_attention; unfold shard.
  destruct (attention_permutation _ _ P) as [-> ->]; reflexivity.
Qed.

(** MERGING-3: two keys of equal scores, with the values 0 and 3. Their attention is 3/2. Where the
    shard of the second is there twice, the merge is 2. *)
Example a_replicated_shard_counts_twice :
  let a := Key 0 (fun _ => 0) in
  let b := Key 0 (fun _ => 3) in
  attention [a; b] 0%nat = 3 / 2 /\
  output (merged_part [shard [a]; shard [b]]) 0%nat = 3 / 2 /\
  output (merged_part [shard [a]; shard [b]; shard [b]]) 0%nat = 2.
Proof.
  intros a b.
  rewrite (shards_merge_to_attention [[a]; [b]] : merged_part [shard [a]; shard [b]] = _).
  rewrite (shards_merge_to_attention [[a]; [b]; [b]]
           : merged_part [shard [a]; shard [b]; shard [b]] = _).
  unfold shard, attention, A, W, a, b; simpl; rewrite exp_0; repeat split; field.
Qed.

(** In general: of a shard that has the share x of all weight, twice has 2 x / (1 + x). *)
Theorem share_of_a_replicated_shard J K :
  J ++ K <> [] ->
  let x := W K / W (J ++ K) in W (K ++ K) / W (J ++ K ++ K) = 2 * x / (1 + x).
Proof.
  intros some x; unfold x; pose proof (W_positive _ some) as pos.
  rewrite !W_additive in *; pose proof (W_not_negative K); pose proof (W_not_negative J).
  field; lra.
Qed.
