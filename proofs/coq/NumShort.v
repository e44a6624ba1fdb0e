(* SPDX-License-Identifier: Apache-2.0 *)
(** * Short sums that are promoted (spec/tolerance.md: NUM-20)

    A kernel adds a few terms in 16 bits, and adds up these short sums in binary32. One rounding in
    16 bits counts as so many additions of binary32 as its unit has units of these. Then such a sum
    is one of NUM-5, and all that holds of scores and executions holds of it. *)
From Coq Require Import Reals List Permutation Lra Lia Psatz.
From Chunkproof Require Import NumCore NumRound NumFormat NumScore NumExec.
Import ListNotations.
Open Scope R_scope.

(** ** One rounding as many *)

Lemma as_many u w : 0 <= u -> INR w * u <= (1 + u) ^ w - 1.
Proof.
  intros u0; induction w as [|w IH]; [simpl; lra|].
  rewrite S_INR; simpl; pose proof (pos_INR w); nra.
Qed.

(** NUM-20: they allow for no more than the rounding, but for its own unit once more. *)
Theorem as_many_is_tight u w :
  0 <= u -> INR w * u < 1 -> (1 + u) ^ w - 1 <= INR w * u / (1 - INR w * u).
Proof.
  intros u0 small.
  assert ((1 + u) ^ w * (1 - INR w * u) <= 1) as le.
  { clear small; induction w as [|w IH]; [simpl; lra|].
    rewrite S_INR; simpl; pose proof (pos_INR w); pose proof (power_at_least_1 u w u0); nra. }
  apply (Rmult_le_reg_r (1 - INR w * u)); [lra|].
  unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra; lra.
Qed.

(** Additions of the unit v, w of which are as one, are additions of the unit u. *)
Lemma coarse_adds u v eta w d k before after :
  0 <= u -> 0 <= v <= INR w * u -> (1 <= w)%nat ->
  adds v eta d k before after -> adds u eta (w * d) k before after.
Proof.
  intros u0 [v0 le] some run; induction run.
  - rewrite Nat.mul_0_r; apply adds_none.
  - rewrite Nat.mul_0_r; apply adds_term.
  - rewrite <- Nat.mul_max_distr_l; apply adds_beside; assumption.
  - rewrite Nat.mul_add_distr_l; replace (w * S w0)%nat with (S (w * S w0 - 1)) by lia.
    apply (adds_coarse u eta (w * S w0 - 1) e _ _ _ after); [assumption|].
    replace (S (w * S w0 - 1)) with (w * S w0)%nat by lia.
    apply Rle_trans with (1 := H), Rplus_le_compat_r.
    apply Rmult_le_compat_r; [apply magnitude_pos|].
    pose proof (as_many u w u0) as one.
    assert ((1 + v) ^ S w0 <= ((1 + u) ^ w) ^ S w0) as power by (apply pow_incr; lra).
    rewrite <- pow_mult in power; lra.
  - apply (adds_order u eta _ k before); assumption.
Qed.

(** Additions without an absolute error count as none for it. *)
Lemma adds_without_tiny u eta d k before after :
  adds u 0 d k before after -> adds u eta d 0 before after.
Proof.
  intros run; induction run.
  - apply adds_none.
  - apply adds_term.
  - apply (adds_beside u eta d 0 before after d' 0); assumption.
  - apply (adds_coarse u eta w 0 d 0 _ after); [assumption|].
    rewrite Rmult_0_r in H; simpl; rewrite Rmult_0_l; exact H.
  - apply (adds_order u eta d 0 before); assumption.
Qed.

(** ** Short sums, and their sum *)

(** From the terms short sums were made, in c additions of the unit v, of which at most r are above
    a term. *)
Inductive short_sums (v eta : R) (r : nat) : nat -> list R -> list R -> Prop :=
  | no_sum : short_sums v eta r 0 [] []
  | a_sum d k terms y c others sums :
      adds v eta d k terms [y] -> (d <= r)%nat -> short_sums v eta r c others sums ->
      short_sums v eta r (k + c) (terms ++ others) (y :: sums).

Lemma sums_part v eta r c terms one two :
  short_sums v eta r c terms (one ++ two) ->
  exists c1 c2 terms1 terms2, c = (c1 + c2)%nat /\ terms = terms1 ++ terms2 /\
    short_sums v eta r c1 terms1 one /\ short_sums v eta r c2 terms2 two.
Proof.
  revert c terms; induction one as [|y one IH]; simpl; intros c terms made.
  - exists 0%nat, c, [], terms; repeat split; [apply no_sum | exact made].
  - inversion made as [|d k t y' c' others sums run le rest]; subst.
    destruct (IH _ _ rest) as [c1 [c2 [t1 [t2 [-> [-> [first second]]]]]]].
    exists (k + c1)%nat, c2, (t ++ t1), t2.
    split; [lia|]; split; [apply app_assoc|]; split; [|exact second].
    apply a_sum with d; assumption.
Qed.

Lemma sums_order v eta r sums sums' :
  Permutation sums sums' -> forall c terms, short_sums v eta r c terms sums ->
  exists terms', Permutation terms' terms /\ short_sums v eta r c terms' sums'.
Proof.
  induction 1 as [|y l l' _ IH|x y l|l l' l'' _ IH _ IH']; intros c terms made.
  - exists terms; split; [reflexivity | exact made].
  - inversion made as [|d k t y' c' others sums0 run le rest]; subst.
    destruct (IH _ _ rest) as [others' [p made']].
    exists (t ++ others'); split; [apply Permutation_app_head, p | apply a_sum with d; assumption].
  - inversion made as [|d k t y' c' others sums0 run le rest]; subst.
    inversion rest as [|d' k' t' y' c'' others' sums1 run' le' rest']; subst.
    exists (t' ++ t ++ others'); split.
    + rewrite !app_assoc; apply Permutation_app_tail, Permutation_app_comm.
    + replace (k + (k' + c''))%nat with (k' + (k + c''))%nat by lia.
      apply a_sum with d'; [assumption | assumption | apply a_sum with d; assumption].
  - destruct (IH _ _ made) as [t' [p made']], (IH' _ _ made') as [t'' [p' made'']].
    exists t''; split; [apply Permutation_trans with t'; assumption | exact made''].
Qed.

Lemma sums_added u v eta w r d k sums after :
  0 <= u -> 0 <= v <= INR w * u -> (1 <= w)%nat -> adds u eta d k sums after ->
  forall c terms, short_sums v eta r c terms sums ->
  exists d', (d' <= w * r + d)%nat /\ adds u eta d' (c + k) terms after.
Proof.
  intros u0 unit some sum; induction sum; intros c terms made.
  - inversion made; subst; exists 0%nat; split; [lia | apply adds_none].
  - inversion made as [|d' k' t' y' c' others sums0 run le rest]; subst.
    inversion rest; subst; rewrite app_nil_r, !Nat.add_0_r.
    exists (w * d')%nat; split; [apply Nat.mul_le_mono_l, le|].
    apply coarse_adds with v; assumption.
  - destruct (sums_part _ _ _ _ _ _ _ made) as [c1 [c2 [t1 [t2 [-> [-> [one two]]]]]]].
    destruct (IHsum1 _ _ one) as [d1 [le1 run1]], (IHsum2 _ _ two) as [d2 [le2 run2]].
    exists (Nat.max d1 d2); split; [lia|].
    replace (c1 + c2 + (k + k'))%nat with (c1 + k + (c2 + k'))%nat by lia.
    apply adds_beside; assumption.
  - destruct (IHsum _ _ made) as [d' [le run]].
    exists (S w0 + d')%nat; split; [lia|].
    replace (c + (e + k))%nat with (e + (c + k))%nat by lia.
    apply adds_coarse with after; assumption.
  - destruct (sums_order _ _ _ _ _ (Permutation_sym H) _ _ made) as [terms' [p made']].
    destruct (IHsum _ _ made') as [d' [le run]].
    exists d'; split; [exact le | apply adds_order with terms'; assumption].
Qed.

Lemma adds_deeper u eta d k before y d' :
  0 <= u -> (d <= d')%nat -> adds u eta d k before [y] -> adds u eta d' k before [y].
Proof.
  intros u0 le run; destruct (Nat.eq_dec d d') as [-> | more]; [exact run|].
  replace d' with (S (d' - d - 1) + d)%nat by lia.
  apply (adds_coarse u eta (d' - d - 1) 0 d k _ [y]); [exact run|].
  replace (y - plain [y]) with 0 by (unfold plain; simpl; ring).
  rewrite Rabs_R0; cbn [INR]; rewrite Rmult_0_l, Rplus_0_r.
  pose proof (power_at_least_1 u (S (d' - d - 1)) u0); pose proof (magnitude_pos [y]).
  apply Rmult_le_pos; lra.
Qed.

(** NUM-20: short sums with at most r additions of the unit v on the way of a term, then d additions
    of the unit u, are w r + d of these. *)
Theorem short_sums_add u v eta w r c terms sums d k y :
  0 <= u -> 0 <= v <= INR w * u -> (1 <= w)%nat -> 0 <= eta ->
  short_sums v eta r c terms sums -> adds u eta d k sums [y] ->
  adds u eta (w * r + d) (c + k) terms [y].
Proof.
  intros u0 unit some eta0 made sum.
  destruct (sums_added _ _ _ w r _ _ _ _ u0 unit some sum _ _ made) as [d' [le run]].
  apply adds_deeper with d'; assumption.
Qed.

(** Where additions in binary32 have no absolute error, only those in 16 bits count for it. *)
Theorem exact_short_sums_add u v eta w r c terms sums d k y :
  0 <= u -> 0 <= v <= INR w * u -> (1 <= w)%nat -> 0 <= eta ->
  short_sums v eta r c terms sums -> adds u 0 d k sums [y] ->
  adds u eta (w * r + d) c terms [y].
Proof.
  intros u0 unit some eta0 made sum; rewrite <- (Nat.add_0_r c).
  apply short_sums_add with v sums; try assumption.
  apply adds_without_tiny with k, sum.
Qed.

(** NUM-20: what such a sum errs. *)
Theorem short_sums_error u v eta w r c terms sums d k y :
  0 <= u -> 0 <= v <= INR w * u -> (1 <= w)%nat -> 0 <= eta ->
  short_sums v eta r c terms sums -> adds u eta d k sums [y] ->
  Rabs (y - plain terms) <= ((1 + u) ^ (w * r + d) - 1) * magnitude terms
                            + INR (c + k) * eta * (1 + u) ^ (w * r + d).
Proof.
  intros u0 unit some eta0 made sum; apply sum_error; [exact u0 | exact eta0|].
  apply short_sums_add with v sums; assumption.
Qed.

(** ** Scores, and sums of weighted values *)

(** A score whose products are added so is one of NUM-6, and [score_is_near] holds of it. *)
Theorem score_of_short_sums x v w r c k d q key terms sums sum s' :
  0 <= u x -> 0 <= v <= INR w * u x -> (1 <= w)%nat -> 0 <= eta x ->
  (forall i, (i < d)%nat -> Rabs (terms i - before x * (q i * key i))
                            <= (G x - 1) * Rabs (before x * (q i * key i)) + t x) ->
  short_sums v (eta x) r c (map terms (seq 0 d)) sums ->
  adds (u x) (eta x) (deep x - w * r) k sums [sum] ->
  (w * r <= deep x)%nat -> (c + k = ops x)%nat ->
  Rabs (s' - after x * sum) <= u' x * Rabs (after x * sum) + eta' x ->
  computes_score x d q key s'.
Proof.
  intros u0 unit some eta0 near made add le all last.
  exists terms, sum; split; [exact near|]; split; [|exact last].
  rewrite <- all; replace (deep x) with (w * r + (deep x - w * r))%nat by lia.
  apply short_sums_add with v sums; assumption.
Qed.

(** Products of an execution that are added so are summed as NUM-8 says. *)
Theorem values_of_short_sums cl rg J (n : counts) m ns os v w r c sums d k o :
  0 <= u_o cl -> 0 <= v <= INR w * u_o cl -> (1 <= w)%nat -> 0 <= eta_o cl ->
  runs cl rg J n m ns os ->
  short_sums v (eta_o cl) r c os sums -> adds (u_o cl) (eta_o cl) d k sums [o] ->
  runs cl rg J
    (Counts (depth_n n) (depth_o n + (w * r + d)) (stores n) (steps n) (ops_n n)
            (ops_o n + (c + k)))
    m ns [o].
Proof.
  intros u0 unit some eta0 run short sum; apply runs_sum_o with os; [exact run|].
  apply short_sums_add with v sums; assumption.
Qed.

(** ** Short sums in binary16 and bfloat16 *)

(** Products are added one after the other, fused or not: each is rounded as it comes. *)
Inductive fused (f : format) : list R -> R -> Prop :=
  | fused_first t y : rounds f t y -> fused f [t] y
  | fused_next t terms y z : fused f terms y -> rounds f (t + y) z -> fused f (t :: terms) z.

(** A short sum of k products: k additions, each with an absolute error. *)
Theorem fused_is_short_sum f terms y :
  0 <= unit f -> 0 <= tiny f ->
  fused f terms y -> adds (unit f) (tiny f) (length terms) (length terms) terms [y].
Proof.
  intros u0 t0; induction 1 as [t y near | t terms y z run IH near]; simpl.
  - apply (adds_sum _ _ 0 0 _ [t]); [apply adds_term|].
    unfold plain, magnitude; simpl; rewrite !Rplus_0_r; apply rounds_sum; assumption.
  - apply (adds_sum _ _ _ _ _ [t; y]); [apply (adds_beside _ _ 0 0 [t] [t] _ _ terms [y]);
      [apply adds_term | exact IH]|].
    unfold plain, magnitude; simpl; rewrite !Rplus_0_r.
    apply Rle_trans with (1 := rounds_sum f _ _ u0 t0 near), Rplus_le_compat_r.
    apply Rmult_le_compat_l; [exact u0 | apply Rabs_triang].
Qed.

(** NUM-20: so many additions of binary32 are as one in 16 bits; and likewise where both are
    truncated. *)
Theorem weights_of_formats :
  unit binary16 = INR (2 ^ 13) * unit binary32 /\ unit bfloat16 = INR (2 ^ 16) * unit binary32 /\
  unit (truncating binary16) = INR (2 ^ 13) * unit (truncating binary32) /\
  unit (truncating bfloat16) = INR (2 ^ 16) * unit (truncating binary32).
Proof.
  rewrite !pow_INR; replace (INR 2) with 2 by (simpl; ring).
  unfold truncating, binary16, bfloat16, binary32; cbn [unit].
  repeat split; field; repeat split; apply pow_nonzero; lra.
Qed.

(** NUM-20: 128 products, 16 at a time in binary16. The bound is less than an eighth of that of a
    sum in binary16: products are rounded, too. *)
Example sixteen_of_128 :
  8 * ((1 + unit binary16) * (1 + unit binary32) ^ (2 ^ 13 * 15 + 128) - 1)
  <= (1 + unit binary16) * (1 + unit binary16) ^ 128 - 1.
Proof.
  set (u := unit binary32).
  assert (0 <= u) as u0
    by (unfold u, binary32; cbn [unit]; left; apply Rinv_0_lt_compat, pow_lt; lra).
  destruct weights_of_formats as [E _]; fold u in E.
  assert (unit binary16 = / 2048) as E16 by (unfold binary16; cbn [unit]; field).
  assert (u = / 16777216) as E32 by (unfold u, binary32; cbn [unit]; field); clearbody u.
  pose proof (as_many u (2 ^ 13) u0) as one; rewrite <- E in one.
  assert (INR (2 ^ 13 * 16 + 128) = 131200) as count.
  { rewrite plus_INR, mult_INR, pow_INR; simpl; ring. }
  assert ((1 + unit binary16) * (1 + u) ^ (2 ^ 13 * 15 + 128)
          <= (1 + u) ^ (2 ^ 13 * 16 + 128)) as up.
  { replace (2 ^ 13 * 16 + 128)%nat with (2 ^ 13 + (2 ^ 13 * 15 + 128))%nat by lia.
    rewrite (pow_add (1 + u) (2 ^ 13)); apply Rmult_le_compat_r; [apply pow_le; lra | lra]. }
  pose proof (as_many_is_tight u (2 ^ 13 * 16 + 128) u0) as tight.
  rewrite count in tight; assert (131200 * u < 1) as small by lra; specialize (tight small).
  pose proof (as_many (unit binary16) 64 ltac:(lra)) as half.
  assert (INR 64 = 64) as E64 by (simpl; ring); rewrite E64, E16 in half.
  assert ((1 + / 2048) ^ 128 = (1 + / 2048) ^ 64 * (1 + / 2048) ^ 64) as square
    by (rewrite <- pow_add; reflexivity).
  rewrite E16 in *; rewrite square.
  assert (131200 * u / (1 - 131200 * u) <= 7883 / 1000000) as left
    by (apply (Rmult_le_reg_r (1 - 131200 * u)); [lra|];
        unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra; lra).
  assert (1 + 1 / 32 <= (1 + / 2048) ^ 64) as low by lra.
  set (p := (1 + / 2048) ^ 64) in *.
  pose proof (Rmult_le_compat (1 + 1 / 32) p (1 + 1 / 32) p ltac:(lra) ltac:(lra) low low).
  set (short := (1 + / 2048) * (1 + u) ^ (2 ^ 13 * 15 + 128)) in *.
  set (all := (1 + u) ^ (2 ^ 13 * 16 + 128)) in *; lra.
Qed.
