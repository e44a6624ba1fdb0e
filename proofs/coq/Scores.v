(* SPDX-License-Identifier: Apache-2.0 *)
(** * Scores that are changed before they are weighed, and sinks
    (spec/scores.md: SCORE-1 to SCORE-5)

    A cap and biases are another score, a sink is one key more: what is proved of keys holds. *)
From Coq Require Import Reals ZArith List Permutation Lra Lia.
From Chunkproof Require Import Softmax Merge Plan Rows TwoPhase Runs RunsTree Windows Merging.
Import ListNotations.
Open Scope R_scope.

(** ** SCORE-1: cap *)

(** A cap is a number above 0, or there is none. *)
Definition capped (cap : option R) (s : R) : R :=
  match cap with
  | None => s
  | Some c => c * tanh (s / c)
  end.

Lemma cosh_positive x : 0 < cosh x.
Proof. unfold cosh; pose proof (exp_pos x); pose proof (exp_pos (- x)); lra. Qed.

Lemma sinh_and_cosh x : Rsqr (cosh x) - Rsqr (sinh x) = 1.
Proof.
  assert (exp x * exp (- x) = 1) as E by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  transitivity (exp x * exp (- x)); [|exact E].
  unfold cosh, sinh, Rsqr; field.
Qed.

Lemma tanh_0 : tanh 0 = 0.
Proof. unfold tanh, sinh; rewrite Ropp_0; unfold Rdiv; ring. Qed.

Lemma tanh_is_within x : -1 < tanh x < 1.
Proof.
  pose proof (cosh_positive x) as pos; unfold tanh.
  split; apply (Rmult_lt_reg_r (cosh x)); try exact pos; unfold Rdiv;
    rewrite Rmult_assoc, Rinv_l by lra; unfold cosh, sinh;
    pose proof (exp_pos x); pose proof (exp_pos (- x)); lra.
Qed.

Lemma slope_of_tanh x : derivable_pt_lim tanh x (/ Rsqr (cosh x)).
Proof.
  pose proof (cosh_positive x) as pos.
  replace (/ Rsqr (cosh x)) with ((cosh x * cosh x - sinh x * sinh x) / Rsqr (cosh x)).
  2: { replace (cosh x * cosh x - sinh x * sinh x) with 1; [unfold Rdiv; ring|].
       symmetry; apply sinh_and_cosh. }
  change tanh with (div_fct sinh cosh).
  apply derivable_pt_lim_div;
    [apply derivable_pt_lim_sinh | apply derivable_pt_lim_cosh | lra].
Qed.

Lemma cosh_at_least_1 x : 1 <= Rsqr (cosh x).
Proof. pose proof (sinh_and_cosh x); pose proof (Rle_0_sqr (sinh x)); lra. Qed.

(** tanh grows, and by no more than its argument. *)
Lemma tanh_grows x y : x < y -> 0 < tanh y - tanh x <= y - x.
Proof.
  intros lt; destruct (MVT_cor2 tanh (fun z => / Rsqr (cosh z)) x y lt) as (z & -> & _);
    [intros z _; apply slope_of_tanh|].
  pose proof (cosh_at_least_1 z) as one.
  assert (0 < / Rsqr (cosh z)) as above by (apply Rinv_0_lt_compat; lra).
  assert (/ Rsqr (cosh z) <= 1) as below
    by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  split; [apply Rmult_lt_0_compat; lra|].
  rewrite <- (Rmult_1_l (y - x)) at 2; apply Rmult_le_compat_r; lra.
Qed.

Definition above_0 (cap : option R) : Prop := forall c, cap = Some c -> 0 < c.

Lemma capped_grows cap s s' :
  above_0 cap -> s < s' -> 0 < capped cap s' - capped cap s <= s' - s.
Proof.
  intros pos lt; destruct cap as [c|]; [|simpl; lra].
  specialize (pos c eq_refl).
  assert (0 < / c) as inv by (apply Rinv_0_lt_compat, pos).
  destruct (tanh_grows (s / c) (s' / c)) as [low up];
    [apply Rmult_lt_compat_r; assumption|].
  replace (capped (Some c) s' - capped (Some c) s) with (c * (tanh (s' / c) - tanh (s / c)))
    by (simpl; ring).
  split; [apply Rmult_lt_0_compat; assumption|].
  replace (s' - s) with (c * (s' / c - s / c)) by (field; lra).
  apply Rmult_le_compat_l; lra.
Qed.

(** SCORE-1, why: the capped score grows with s. *)
Theorem capped_is_increasing cap s s' :
  above_0 cap -> s < s' -> capped cap s < capped cap s'.
Proof. intros pos lt; pose proof (capped_grows cap s s' pos lt); lra. Qed.

(** SCORE-1, why: it is never beyond -cap .. cap. *)
Theorem capped_is_within_the_cap c s : 0 < c -> - c < capped (Some c) s < c.
Proof.
  intros pos; simpl; destruct (tanh_is_within (s / c)) as [low up]; split.
  - replace (- c) with (c * -1) by ring; apply Rmult_lt_compat_l; assumption.
  - rewrite <- (Rmult_1_r c) at 3; apply Rmult_lt_compat_l; assumption.
Qed.

(** SCORE-1, note: it is no further from another capped score than the scores are. *)
Theorem capped_is_no_further cap s s' :
  above_0 cap -> Rabs (capped cap s' - capped cap s) <= Rabs (s' - s).
Proof.
  intros pos; destruct (Rtotal_order s s') as [lt|[->|gt]].
  - pose proof (capped_grows cap s s' pos lt); rewrite !Rabs_pos_eq by lra; lra.
  - rewrite !Rminus_diag_eq by reflexivity; apply Rle_refl.
  - pose proof (capped_grows cap s' s pos gt); rewrite !Rabs_left by lra; lra.
Qed.

(** SCORE-1: it is no larger than s in absolute value, and 0 where s is. *)
Theorem capped_is_no_larger cap s :
  above_0 cap -> capped cap 0 = 0 /\ Rabs (capped cap s) <= Rabs s.
Proof.
  intros pos; assert (capped cap 0 = 0) as zero.
  { destruct cap as [c|]; simpl; [|reflexivity].
    unfold Rdiv; rewrite Rmult_0_l, tanh_0; ring. }
  split; [exact zero|].
  pose proof (capped_is_no_further cap 0 s pos) as near; rewrite zero, !Rminus_0_r in near.
  exact near.
Qed.

(** ** SCORE-2: bias by distance *)

(** What a bias is proportional to (CONV-8), for a row at p and a key at t. *)
Inductive bias_convention := Signed | Distance | By_position.

Definition bias_of (convention : bias_convention) (p : Z) (t : nat) : R :=
  match convention with
  | Signed => IZR (Z.of_nat t - p)
  | Distance => - Rabs (IZR (Z.of_nat t - p))
  | By_position => IZR (Z.of_nat t)
  end.

(** ** SCORE-5: table of biases *)

(** Entries 0 to [last], of which [own] is the row's own. *)
Record table := Table { last : nat; own : nat; entry : nat -> R }.

(** The entry of a key at t, for a row at p. *)
Definition place (b : table) (p : Z) (t : nat) : nat :=
  Z.to_nat (Z.min (Z.max (Z.of_nat (own b) + p - Z.of_nat t) 0) (Z.of_nat (last b))).

(** No table: no bias. *)
Definition biased (b : option table) (p : Z) (t : nat) : R :=
  match b with
  | None => 0
  | Some b => entry b (place b p t)
  end.

(** SCORE-5: it is one of the entries, wherever row and key stand. *)
Theorem place_is_an_entry b p t : (place b p t <= last b)%nat.
Proof. unfold place; lia. Qed.

(** SCORE-5: the row's own key has the row's own entry, and the key x before it the x-th behind. *)
Theorem place_before_the_row b p t x :
  (p = Z.of_nat t + Z.of_nat x)%Z -> (own b + x <= last b)%nat -> place b p t = (own b + x)%nat.
Proof. unfold place; lia. Qed.

(** SCORE-5: keys behind the last entry, and ahead of the first. *)
Theorem place_beyond_the_ends b p t :
  ((Z.of_nat (own b) + p - Z.of_nat t >= Z.of_nat (last b))%Z -> place b p t = last b) /\
  ((Z.of_nat (own b) + p - Z.of_nat t <= 0)%Z -> place b p t = 0%nat).
Proof. unfold place; lia. Qed.

(** SCORE-5: what a row and a key have is that of any two as far from one another. *)
Theorem place_is_by_distance b p p' t t' :
  (p - Z.of_nat t = p' - Z.of_nat t')%Z -> place b p t = place b p' t'.
Proof. unfold place; lia. Qed.

(** SCORE-5: the example. A row at 3, keys at 0 to 4. *)
Example a_table_of_four :
  let b := Table 3 1 (fun _ => 0) in
  map (place b 3) [0; 1; 2; 3; 4]%nat = [3; 3; 2; 1; 0]%nat.
Proof. reflexivity. Qed.

(** What a call has for each query head. Slopes of 0 are none. *)
Record scoring := Scoring {
  cap_of : option R;
  slope : nat -> R;
  biases : nat -> option table;
  sink : nat -> option R
}.

(** ** SCORE-4: scale, cap, biases *)

(** What becomes of the scaled score s of a key at t, for a row at p with head a. *)
Definition changed_by (convention : bias_convention) (w : scoring) (a : nat) (p : Z) (t : nat)
    (s : R) : R :=
  capped (cap_of w) s + slope w a * bias_of convention p t + biased (biases w a) p t.

Definition changed : scoring -> nat -> Z -> nat -> R -> R := changed_by Signed.

(** SCORE-2, SCORE-4, SCORE-5: biases are beside the cap. Two keys of one score differ by the slope
    times the positions between them, and by their entries, whatever the cap is. *)
Theorem bias_is_not_capped w a p t t' s :
  changed w a p t' s - changed w a p t s =
  slope w a * IZR (Z.of_nat t' - Z.of_nat t) + (biased (biases w a) p t' - biased (biases w a) p t).
Proof. unfold changed, changed_by; simpl; rewrite !minus_IZR; ring. Qed.

(** SCORE-5: a table can say what a slope does, where its ends are beyond the keys. *)
Theorem table_of_a_slope x b p t :
  (0 <= Z.of_nat (own b) + p - Z.of_nat t <= Z.of_nat (last b))%Z ->
  (forall i, entry b i = x * (INR (own b) - INR i)) ->
  biased (Some b) p t = x * IZR (Z.of_nat t - p).
Proof.
  intros inside E; cbn [biased]; rewrite E; f_equal; rewrite !INR_IZR_INZ, <- minus_IZR; f_equal.
  unfold place; lia.
Qed.

(** Keys with their positions; each score is changed in some way that knows the position. *)
Definition rescored (change : nat -> R -> R) (keys : list (nat * key)) : list key :=
  map (fun '(t, k) => Key (change t (score k)) (value k)) keys.

(** Changes that differ by a number that the row's keys have in common. *)
Lemma common_change change change' x keys :
  (forall t k, In (t, k) keys -> change' t (score k) = change t (score k) + x) ->
  rescored change' keys = shift x (rescored change keys).
Proof.
  intros E; unfold rescored, shift; rewrite map_map; apply map_ext_in; intros [t k] ink; simpl.
  rewrite E by exact ink; reflexivity.
Qed.

(** SCORE-2: a number that all changed scores of a row have in common leaves the output as it is,
    and is added to the log-sum-exp. *)
Theorem common_change_leaves_attention change change' x keys :
  (forall t k, In (t, k) keys -> change' t (score k) = change t (score k) + x) ->
  attention (rescored change' keys) = attention (rescored change keys) /\
  lse (rescored change' keys) = shift_lse x (lse (rescored change keys)).
Proof. intros E; rewrite (common_change change change' x keys E); apply common_shift. Qed.

(** SCORE-2, CONV-8: a bias that counts from the first token; each score is larger by slope p. *)
Theorem bias_by_position_moves_lse w a p keys :
  attention (rescored (changed_by By_position w a p) keys) =
  attention (rescored (changed w a p) keys) /\
  lse (rescored (changed_by By_position w a p) keys) =
  shift_lse (slope w a * IZR p) (lse (rescored (changed w a p) keys)).
Proof.
  apply common_change_leaves_attention; intros t k _; unfold changed, changed_by; simpl.
  rewrite minus_IZR; ring.
Qed.

(** SCORE-2, CONV-8: a bias by distance is the same where a row sees no key ahead. *)
Theorem bias_by_distance_is_signed w a p keys :
  (forall t k, In (t, k) keys -> (Z.of_nat t <= p)%Z) ->
  rescored (changed_by Distance w a p) keys = rescored (changed w a p) keys.
Proof.
  intros before; unfold rescored; apply map_ext_in; intros [t k] ink; apply before in ink.
  f_equal; unfold changed, changed_by; simpl; f_equal; f_equal; f_equal.
  apply IZR_le in ink; rewrite minus_IZR in *; rewrite Rabs_left1 by lra; ring.
Qed.

(** SCORE-1, SCORE-2, SCORE-5: without a cap and biases the score is what it was. *)
Theorem without_cap_and_biases w a p t s :
  cap_of w = None -> slope w a = 0 -> biases w a = None -> changed w a p t s = s.
Proof. unfold changed, changed_by; intros -> -> ->; simpl; ring. Qed.

(** SCORE-1, SCORE-4: an error of a scaled score is no larger in the changed one. *)
Theorem changed_is_no_further w a p t s s' :
  above_0 (cap_of w) ->
  Rabs (changed w a p t s' - changed w a p t s) <= Rabs (s' - s).
Proof.
  intros pos; unfold changed, changed_by.
  replace (capped (cap_of w) s' + slope w a * bias_of Signed p t + biased (biases w a) p t -
           (capped (cap_of w) s + slope w a * bias_of Signed p t + biased (biases w a) p t))
    with (capped (cap_of w) s' - capped (cap_of w) s) by ring.
  apply capped_is_no_further, pos.
Qed.

(** SCORE-4, why: a key that is masked by its score, before the cap. However low that score is, the
    key weighs more than exp(-cap) again. *)
Theorem masked_before_the_cap c s v J :
  0 < c -> W J + exp (- c) < W (Key (capped (Some c) s) v :: J).
Proof.
  intros pos; destruct (capped_is_within_the_cap c s pos) as [low _].
  apply exp_increasing in low; unfold W in *; cbn [sum Softmax.score]; lra.
Qed.

(** SCORE-4, why: scores that go to -infinity go to -cap. *)
Theorem far_scores_are_at_the_cap c e :
  0 < c -> 0 < e -> exists s, forall s', s' <= s -> Rabs (capped (Some c) s' - - c) <= e.
Proof.
  intros pos some; exists (c / 2 * ln (e / (2 * c))); intros s' le; simpl.
  assert (0 < e / (2 * c)) as ratio by (apply Rdiv_lt_0_compat; lra).
  destruct (tanh_is_within (s' / c)) as [low _].
  assert (0 < c * (tanh (s' / c) + 1)) as near by (apply Rmult_lt_0_compat; lra).
  replace (c * tanh (s' / c) - - c) with (c * (tanh (s' / c) + 1)) by ring.
  rewrite Rabs_pos_eq by lra.
  assert (tanh (s' / c) + 1 <= 2 * (e / (2 * c))) as small.
  { pose proof (exp_pos (s' / c)) as u; pose proof (exp_pos (- (s' / c))) as u'.
    replace (tanh (s' / c) + 1)
      with (2 * (exp (s' / c) / (exp (s' / c) + exp (- (s' / c)))))
      by (unfold tanh, sinh, cosh; field; lra).
    apply Rmult_le_compat_l; [lra|].
    apply Rle_trans with (exp (s' / c + s' / c)).
    - rewrite exp_plus; apply (Rmult_le_reg_r (exp (s' / c) + exp (- (s' / c)))); [lra|].
      unfold Rdiv at 1; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
      assert (exp (s' / c) * exp (- (s' / c)) = 1) as E
        by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
      replace (exp (s' / c) * exp (s' / c) * (exp (s' / c) + exp (- (s' / c))))
        with (exp (s' / c) * (exp (s' / c) * exp (- (s' / c))) +
              exp (s' / c) * exp (s' / c) * exp (s' / c)) by ring.
      rewrite E, Rmult_1_r.
      assert (0 < exp (s' / c) * exp (s' / c) * exp (s' / c))
        by (repeat apply Rmult_lt_0_compat; exact u).
      lra.
    - rewrite <- (exp_ln (e / (2 * c))) by exact ratio; apply exp_le.
      apply (Rmult_le_reg_r (c / 2)); [lra|].
      replace ((s' / c + s' / c) * (c / 2)) with s' by (field; lra); lra. }
  apply Rle_trans with (c * (2 * (e / (2 * c)))); [apply Rmult_le_compat_l; lra|].
  right; field; lra.
Qed.

(** SCORE-4, why: the cap is ln 4. A key of score 0 has the value 1, and one that is masked so has
    the value 5. *)
Example masked_key_is_seen_again :
  let seen_key := Key 0 (fun _ => 1) in
  let masked_key := Key (- ln 4) (fun _ => 5) in
  attention [seen_key] 0%nat = 1 /\ attention [masked_key; seen_key] 0%nat = 9 / 5.
Proof.
  intros seen_key masked_key; unfold attention, A, W, seen_key, masked_key; simpl.
  rewrite exp_Ropp, exp_ln, exp_0 by lra; split; field.
Qed.

(** ** SCORE-3: sink *)

(** One key more, whose value is zeros; its state. *)
Definition sink_key (x : R) : key := Key x zeros.
Definition sink_state (x : R) : state := State x 1 zeros.

Definition with_sink (sink : option R) (J : list key) : list key :=
  match sink with
  | None => J
  | Some x => sink_key x :: J
  end.

Definition merge_sink (sink : option R) (a : state) : state :=
  match sink with
  | None => a
  | Some x => attn_reduce a (sink_state x)
  end.

Lemma sums_with_sink x J :
  W (sink_key x :: J) = W J + exp x /\ forall i, A (sink_key x :: J) i = A J i.
Proof.
  split; [|intros i]; unfold W, A; cbn [sum sink_key Softmax.score value]; [ring|].
  unfold zeros; ring.
Qed.

(** SCORE-3: W = sum exp(s_j) + exp(sink), o = sum exp(s_j) v_j / W, lse = ln W. *)
Theorem attention_with_sink x J i :
  attention (sink_key x :: J) i = A J i / (W J + exp x) /\
  lse (sink_key x :: J) = Finite (ln (W J + exp x)).
Proof.
  assert (sink_key x :: J <> []) as some by discriminate.
  rewrite attention_of_keys, lse_of_keys by exact some.
  destruct (sums_with_sink x J) as [-> ->]; split; reflexivity.
Qed.

(** SCORE-3: a row that sees no key. *)
Theorem sink_alone x : attention [sink_key x] = zeros /\ lse [sink_key x] = Finite x.
Proof.
  split; [apply vector_eq; intros i|].
  - destruct (attention_with_sink x [] i) as [-> _]; unfold A, zeros, Rdiv; simpl; ring.
  - destruct (attention_with_sink x [] 0%nat) as [_ ->]; unfold W; simpl.
    rewrite Rplus_0_l, ln_exp; reflexivity.
Qed.

(** A result without the sink, and what it is with it (CONV-9). *)
Definition sink_after (x : R) (p : part) : part :=
  let weight := exp_of (log_sum p) in
  Part (Finite (ln (weight + exp x))) (fun i => output p i * (weight / (weight + exp x))).

(** SCORE-3, CONV-9: the sink may be left to whoever has the result of the keys alone. *)
Theorem sink_after_the_keys x J : sink_after x (shard J) = shard (sink_key x :: J).
Proof.
  pose proof (exp_pos x) as pos; pose proof (W_not_negative J) as pos'.
  unfold sink_after, shard; cbn [log_sum output]; rewrite exp_of_lse.
  destruct (attention_with_sink x J 0%nat) as [_ ->]; f_equal; apply vector_eq; intros i.
  destruct (attention_with_sink x J i) as [-> _]; destruct J as [|k J].
  - rewrite attention_of_no_key; unfold A, Rdiv; simpl; ring.
  - assert (k :: J <> []) as some by discriminate.
    rewrite attention_of_keys by exact some; pose proof (W_positive _ some); field; lra.
Qed.

(** SCORE-3: the state that is merged is that of the key. *)
Theorem sink_state_is_its_key x : sink_state x = partial_attn [sink_key x].
Proof.
  apply represents_is; split; [split|split]; simpl; unfold W, A; simpl.
  - ring.
  - intros i; unfold zeros; ring.
  - intros _; split; [exists (sink_key x); split; [left|]; reflexivity|].
    intros k [<-|[]]; apply Rle_refl.
  - discriminate.
Qed.

(** SCORE-3: it is merged once with partial results, in any order and any grouping. *)
Theorem sink_merged_once x J parts tree :
  Permutation (concat parts) J ->
  Permutation (leaves tree) (sink_state x :: map partial_attn parts) ->
  finish (merged tree) = attention (sink_key x :: J) /\
  lse_of (merged tree) = Finite (ln (W J + exp x)).
Proof.
  intros PJ P; destruct (attention_with_sink x J 0%nat) as [_ <-].
  apply merging_is_attention with ([sink_key x] :: parts).
  - simpl; constructor; exact PJ.
  - simpl map; rewrite <- sink_state_is_its_key; exact P.
Qed.

(** SCORE-3, MERGING-1: the same of results that are finished: the sink is the result that has it
    for its log-sum-exp and zeros for its output. *)
Theorem sink_among_results x J shards :
  Permutation (concat shards) J ->
  merged_part (Part (Finite x) zeros :: map shard shards) = shard (sink_key x :: J).
Proof.
  intros P; destruct (sink_alone x) as [E L].
  replace (Part (Finite x) zeros) with (shard [sink_key x])
    by (unfold shard; rewrite E, L; reflexivity).
  apply (disjoint_shards_merge_to_attention (sink_key x :: J) ([sink_key x] :: shards)).
  simpl; constructor; exact P.
Qed.

Lemma sums_with_sinks x parts :
  W (concat (map (cons (sink_key x)) parts)) = W (concat parts) + INR (length parts) * exp x /\
  forall i, A (concat (map (cons (sink_key x)) parts)) i = A (concat parts) i.
Proof.
  induction parts as [|J parts [IW IA]]; [split; [unfold W; simpl; ring | reflexivity]|].
  change (concat (map (cons (sink_key x)) (J :: parts)))
    with ((sink_key x :: J) ++ concat (map (cons (sink_key x)) parts)).
  change (concat (J :: parts)) with (J ++ concat parts).
  change (length (J :: parts)) with (S (length parts)).
  destruct (sums_with_sink x J) as [EW EA]; split; [|intros i].
  - rewrite !W_additive, IW, EW, S_INR; ring.
  - rewrite !A_additive, IA, EA; reflexivity.
Qed.

(** SCORE-3, rejected: a sink in each part counts as often as there are parts. *)
Theorem sink_in_each_part x parts i :
  parts <> [] ->
  let all := partial_attn (concat (map (cons (sink_key x)) parts)) in
  merge_all (map (fun J => partial_attn (sink_key x :: J)) parts) = all /\
  finish all i = A (concat parts) i / (W (concat parts) + INR (length parts) * exp x) /\
  lse_of all = Finite (ln (W (concat parts) + INR (length parts) * exp x)).
Proof.
  intros some all; unfold all; split; [rewrite <- map_map; apply merge_all_parts|].
  pose proof (proj1 (partial_attn_represents (concat (map (cons (sink_key x)) parts)))) as S.
  rewrite (finish_is_attention _ _ S), (lse_of_is_lse _ _ S).
  assert (concat (map (cons (sink_key x)) parts) <> []) as some'
    by (destruct parts; [contradiction | discriminate]).
  rewrite attention_of_keys, lse_of_keys by exact some'.
  destruct (sums_with_sinks x parts) as [-> ->]; split; reflexivity.
Qed.

(** SCORE-3, the example: two keys of score 0 with the values 1 and 5, and the sink ln 2. *)
Example of_a_sink :
  let one := Key 0 (fun _ => 1) in
  let five := Key 0 (fun _ => 5) in
  attention [sink_key (ln 2); one; five] 0%nat = 3 / 2 /\
  lse [sink_key (ln 2); one; five] = Finite (ln 4).
Proof.
  intros one five; destruct (attention_with_sink (ln 2) [one; five] 0%nat) as [-> ->].
  unfold A, W, one, five; simpl; rewrite exp_0, exp_ln by lra.
  split; [field | do 2 f_equal; ring].
Qed.

(** The same keys in two parts. In one of them the sink is as in the example; in both it is not. *)
Example of_a_sink_in_two_parts :
  let one := Key 0 (fun _ => 1) in
  let five := Key 0 (fun _ => 5) in
  let once := attn_reduce (partial_attn [sink_key (ln 2); one]) (partial_attn [five]) in
  let twice := merge_all (map (fun J => partial_attn (sink_key (ln 2) :: J)) [[one]; [five]]) in
  finish once 0%nat = 3 / 2 /\ finish twice 0%nat = 1 /\
  lse_of once = Finite (ln 4) /\ lse_of twice = Finite (ln 6).
Proof.
  intros one five once twice; unfold once, twice; rewrite partial_attn_app; simpl app.
  destruct (sink_in_each_part (ln 2) [[one]; [five]] 0%nat ltac:(discriminate)) as (-> & -> & ->).
  pose proof (proj1 (partial_attn_represents [sink_key (ln 2); one; five])) as S.
  rewrite (finish_is_attention _ _ S), (lse_of_is_lse _ _ S).
  destruct of_a_sink as [E L]; fold one five in E, L; rewrite E, L.
  unfold A, W, one, five; simpl; rewrite exp_0, exp_ln by lra.
  repeat split; [field | do 2 f_equal; ring].
Qed.

(** SCORE-3, CONV-8: what all scores of a row have in common weighs against a sink. It changes
    nothing only where the sink has it, too. *)
Theorem shift_of_keys_and_sink c x J :
  attention (sink_key (x + c) :: shift c J) = attention (sink_key x :: J).
Proof. apply (common_shift c (sink_key x :: J)). Qed.

Example shift_beside_a_sink :
  let one := Key 0 (fun _ => 1) in
  attention [sink_key 0; one] 0%nat = 1 / 2 /\
  attention (sink_key 0 :: shift (ln 3) [one]) 0%nat = 3 / 4.
Proof.
  intros one; unfold sink_key, attention, A, W, one, zeros; simpl.
  rewrite Rplus_0_l, exp_0, exp_ln by lra; split; field.
Qed.

(** ** Two phases with changed scores (SCORE-1 to SCORE-4) *)

Section Phases.
Variables (q : run_plan) (x : inputs) (stands_at : nat -> Z).
Variable key_of : nat -> nat -> run -> nat -> key.

(** What is done to a score: it may depend on the query head, where the row stands, and where the
    key does. *)
Variable change : nat -> Z -> nat -> R -> R.

(** The key in slot i of a run, as query row r with head a takes it. *)
Definition changed_key (r a : nat) (R : run) (i : nat) : key :=
  let k := key_of r a R i in
  Key (change a (stands_at r) (first R + i) (score k)) (value k).

(** The keys of the tokens of s at the positions that the row sees, each with its position. *)
Definition placed_keys (visible : nat -> bool) (s r a : nat) : list (nat * key) :=
  map (fun y => (token_position y, key_of r a (fst y) (snd y)))
      (filter (fun y => visible (token_position y)) (tokens q s)).

Lemma seen_is_rescored slots visible s r a :
  (forall R, slots r R = filter (fun i => visible (first R + i)%nat) (seq 0 (held R))) ->
  seen q slots changed_key s r a =
  rescored (change a (stands_at r)) (placed_keys visible s r a).
Proof using.
  intros those; rewrite (seen_by_position q slots changed_key s r a visible those).
  unfold rescored, placed_keys; rewrite map_map; reflexivity.
Qed.

Lemma row_result_is_state slots v s t a :
  complete q -> rows_ordered x -> (s < n_prompts q)%nat -> (t < n_rows x s)%nat ->
  row_result q x slots changed_key v s t a =
  partial_attn (seen q slots changed_key s (row_number x s t) a).
Proof using.
  intros C O inb lt; transitivity (buffered q x slots changed_key (descriptors q) s t a).
  - destruct v; [reflexivity|]; apply variants_over_runs_agree; auto; apply C.
  - rewrite buffered_parts by exact lt.
    eapply any_partition_any_order; [apply parts_are_what_is_seen; auto | auto].
Qed.

(** SCORE-1 to SCORE-4: for any change of scores and any mask, with or without a sink, two phases
    are attention with these scores over exactly the keys that the row sees. *)
Theorem two_phases_with_scores slots visible sink v s t a :
  complete q -> rows_ordered x -> (s < n_prompts q)%nat -> (t < n_rows x s)%nat ->
  let r := row_number x s t in
  (forall R, slots r R = filter (fun i => visible (first R + i)%nat) (seq 0 (held R))) ->
  let all := with_sink sink (rescored (change a (stands_at r)) (placed_keys visible s r a)) in
  let state := merge_sink sink (row_result q x slots changed_key v s t a) in
  finish state = attention all /\ lse_of state = lse all.
Proof using.
  intros C O inb lt r those all state; unfold all, state; clear all state.
  rewrite <- (seen_is_rescored slots visible s r a those), row_result_is_state by assumption.
  fold r; set (J := seen q slots changed_key s r a).
  destruct sink as [z|]; cbn [with_sink merge_sink].
  - rewrite sink_state_is_its_key, partial_attn_app.
    destruct (attention_permutation (sink_key z :: J) (J ++ [sink_key z])) as [-> ->];
      [apply Permutation_cons_append|].
    split; [apply finish_is_attention | apply lse_of_is_lse]; apply partial_attn_represents.
  - split; [apply finish_is_attention | apply lse_of_is_lse]; apply partial_attn_represents.
Qed.

(** SCORE-3: and so they are when the sink is merged at any other place, once: however the states of
    the descriptors, of the sequence's own runs and of the sink are grouped. *)
Theorem any_grouping_with_sink slots visible z s r a tree :
  complete q -> (s < n_prompts q)%nat ->
  (forall R, slots r R = filter (fun i => visible (first R + i)%nat) (seq 0 (held R))) ->
  Permutation (leaves tree)
    (sink_state z ::
     map (common_state slots changed_key r a) (serving q s (descriptors q)) ++
     own_states q slots changed_key s r a) ->
  let keys := rescored (change a (stands_at r)) (placed_keys visible s r a) in
  finish (merged tree) = attention (sink_key z :: keys) /\
  lse_of (merged tree) = Finite (ln (W keys + exp z)).
Proof using.
  intros C inb those P keys; unfold keys; clear keys.
  rewrite <- (seen_is_rescored slots visible s r a those).
  apply sink_merged_once with (parts q slots changed_key (descriptors q) s r a).
  - apply parts_are_what_is_seen; auto.
  - unfold parts; rewrite !map_app, !map_map; exact P.
Qed.
End Phases.

(** SCORE-1 to SCORE-4: with a cap, slopes, sinks and a window, over a plan of runs. *)
Theorem two_phases_with_windows_and_scores q x m w stands_at key_of v s t a :
  complete q -> rows_ordered x -> (s < n_prompts q)%nat -> (t < n_rows x s)%nat ->
  let r := row_number x s t in
  let p := stands_at r in
  let all := with_sink (sink w a)
    (rescored (changed w a p) (placed_keys q key_of (in_window m p) s r a)) in
  let state := merge_sink (sink w a)
    (row_result q x (windowed m stands_at) (changed_key stands_at key_of (changed w)) v s t a) in
  finish state = attention all /\ lse_of state = lse all.
Proof.
  intros C O inb lt r p; apply two_phases_with_scores; try assumption.
  intros R; apply window_slots_exactly.
Qed.

(** SCORE-1 to SCORE-4: over the plan of a tree. What is changed are the scores of stored keys. *)
Theorem two_phases_with_scores_of_a_tree p x m w stands_at v s t a :
  Plan.valid p -> rows_ordered x -> (s < n_sequences p)%nat -> (t < n_rows x s)%nat ->
  let r := row_number x s t in
  let at_ := stands_at r in
  let all := with_sink (sink w a)
    (rescored (changed w a at_)
       (placed_keys (as_runs p) (stored_key x) (in_window m at_) s r a)) in
  let state := merge_sink (sink w a)
    (row_result (as_runs p) x (windowed m stands_at)
       (changed_key stands_at (stored_key x) (changed w)) v s t a) in
  finish state = attention all /\ lse_of state = lse all.
Proof.
  intros Vp O inb lt; apply two_phases_with_windows_and_scores; try assumption.
  apply valid_is_complete, plan_is_plan_of_runs, Vp.
Qed.

(** ** The example of SCORE-2: slopes 1/2 and 1/4, scores 0, a row at 2 that sees 0, 1 and 2 *)
Example of_two_slopes :
  let w := Scoring None (fun a => match a with O => 1 / 2 | _ => 1 / 4 end) (fun _ => None)
             (fun _ => None) in
  map (fun t => changed w 0 2 t 0) [0; 1; 2]%nat = [-1; - (1 / 2); 0] /\
  map (fun t => changed w 1 2 t 0) [0; 1; 2]%nat = [- (1 / 2); - (1 / 4); 0].
Proof.
  intros w; unfold changed, changed_by, w; simpl; split; repeat f_equal; field.
Qed.
