(* SPDX-License-Identifier: Apache-2.0 *)
(** * Parts that are given by a maximum and a sum (spec/merging.md: MERGING-12)

    A part (m, n, s) has the sum n of the weights exp(score - m) of its keys, and the sum s of its
    weighted values. Finished, it is a log-sum-exp m + ln n and an output s / n. *)
From Coq Require Import Reals List Lra.
From Chunkproof Require Import Softmax Merge Merging.
Import ListNotations.
Open Scope R_scope.

Record given := Given { top : R; count : R; scaled : vector }.

(** MERGING-12: a part without keys has the sum 0. *)
Definition finished (g : given) : part :=
  Part (if Req_EM_T (count g) 0 then Minus_infinity else Finite (top g + ln (count g)))
       (fun i => scaled g i / count g).

(** What finished parts are: the weight of a log-sum-exp, for any reference r. *)
Lemma weight_of_finished g r :
  0 < count g -> exp (top g + ln (count g) - r) = count g * exp (top g - r).
Proof.
  intros pos; replace (top g + ln (count g) - r) with (ln (count g) + (top g - r)) by lra.
  rewrite exp_plus, exp_ln by exact pos; reflexivity.
Qed.

(** Parts of keys, finished, are the shards of these keys: attention and log-sum-exp. *)
Theorem sums_finish_to_attention r J :
  J <> [] ->
  let g := Given r (sum (fun k => exp (score k - r)) J)
                 (fun i => sum (fun k => exp (score k - r) * value k i) J) in
  log_sum (finished g) = lse J /\ forall i, output (finished g) i = attention J i.
Proof.
  intros some g.
  assert (forall i, output (finished g) i = attention J i /\ log_sum (finished g) = lse J) as H.
  { intros i.
    assert (keys_of (map (fun k => Part (Finite (score k)) (value k)) J) = J) as K.
    { clear some; induction J as [|[s v] J IH]; simpl; [reflexivity|]; rewrite IH; reflexivity. }
    destruct (merged_by_formula (map (fun k => Part (Finite (score k)) (value k)) J) r i) as [O L];
      [rewrite K; exact some|].
    unfold merged_part in O, L; simpl in O, L; rewrite K in O, L.
    split; [rewrite O; reflexivity|]; rewrite L; unfold finished; simpl.
    destruct (Req_EM_T (sum (fun k => exp (score k - r)) J) 0) as [Z|]; [|reflexivity].
    exfalso; destruct J as [|k J]; [contradiction|]; simpl in Z.
    pose proof (exp_pos (score k - r)).
    assert (0 <= sum (fun k => exp (score k - r)) J).
    { clear; induction J as [|k J IH]; simpl; [lra|]; pose proof (exp_pos (score k - r)); lra. }
    lra. }
  split; [exact (proj2 (H O))|intros i; exact (proj1 (H i))].
Qed.

Definition has_sums (gs : list given) : Prop := Forall (fun g => 0 <= count g) gs.

Fixpoint total (f : given -> R) (gs : list given) : R :=
  match gs with [] => 0 | g :: rest => f g + total f rest end.

(** A part without keys adds nothing: its sums are 0. *)
Definition none_is_zero (gs : list given) (i : nat) : Prop :=
  Forall (fun g => count g = 0 -> scaled g i = 0) gs.

Lemma sums_of_finished gs r i :
  has_sums gs -> none_is_zero gs i ->
  sum (fun k => exp (score k - r)) (keys_of (map finished gs))
    = total (fun g => exp (top g - r) * count g) gs /\
  sum (fun k => exp (score k - r) * value k i) (keys_of (map finished gs))
    = total (fun g => exp (top g - r) * scaled g i) gs.
Proof.
  intros all none; induction gs as [|g gs IH]; [split; reflexivity|].
  inversion all as [|? ? pos rest]; inversion none as [|? ? zero others]; subst.
  destruct (IH rest others) as [N S].
  assert (keys_of (map finished (g :: gs))
          = if Req_EM_T (count g) 0 then keys_of (map finished gs)
            else Key (top g + ln (count g)) (output (finished g)) :: keys_of (map finished gs)) as K
    by (simpl; destruct (Req_EM_T (count g) 0); reflexivity).
  rewrite K; destruct (Req_EM_T (count g) 0) as [Z|Z]; simpl.
  - rewrite N, S, (zero Z), Z; split; ring.
  - assert (0 < count g) as P by lra.
    rewrite N, S, (weight_of_finished g r P); split; [ring|field; exact Z].
Qed.

(** MERGING-12: the formula of kernels, for any reference r. *)
Theorem merged_by_sums gs r i :
  has_sums gs -> none_is_zero gs i -> keys_of (map finished gs) <> [] ->
  output (merged_part (map finished gs)) i
    = total (fun g => exp (top g - r) * scaled g i) gs
      / total (fun g => exp (top g - r) * count g) gs /\
  log_sum (merged_part (map finished gs))
    = Finite (r + ln (total (fun g => exp (top g - r) * count g) gs)).
Proof.
  intros all none some.
  destruct (merged_by_formula _ r i some) as [O L], (sums_of_finished gs r i all none) as [N S].
  rewrite O, L, N, S; split; reflexivity.
Qed.

(** ** The reference of NUM-8 *)

(** Weights of a kernel, divided by the largest sum, are those for the reference r + ln most. *)
Theorem weight_for_sums g r most :
  0 < count g -> 0 < most ->
  count g * exp (top g - r) / most = exp (top g + ln (count g) - (r + ln most)).
Proof.
  intros pos large; rewrite (weight_of_finished g (r + ln most) pos).
  replace (top g - (r + ln most)) with (top g - r + - ln most) by lra.
  rewrite exp_plus, exp_Ropp, exp_ln by exact large; field; lra.
Qed.

Lemma ln_at_most x y : 0 < x -> x <= y -> ln x <= ln y.
Proof.
  intros pos [lt|eq]; [left; apply ln_increasing; assumption|subst; lra].
Qed.

(** It is no less than each log-sum-exp, and the argument is no longer than that to it. *)
Theorem argument_of_sums g r most :
  0 < count g -> count g <= most -> top g <= r ->
  0 <= r - top g <= r + ln most - (top g + ln (count g)).
Proof. intros pos large below; pose proof (ln_at_most _ _ pos large); lra. Qed.

(** From the part whose maximum it has, it is above by no more than the sums are apart. *)
Theorem reference_of_sums g least most :
  0 < least -> least <= count g -> count g <= most ->
  top g + ln most - (top g + ln (count g)) <= ln (most / least).
Proof.
  intros pos low high; pose proof (ln_at_most _ _ pos low).
  unfold Rdiv; rewrite ln_mult, ln_Rinv; [lra|lra|lra|apply Rinv_0_lt_compat; lra].
Qed.
