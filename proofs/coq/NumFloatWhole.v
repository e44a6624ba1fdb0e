(* SPDX-License-Identifier: Apache-2.0 *)
(** * cp_tolerance() as a whole (spec/tolerance.md: NUM-6 to NUM-12)

    The functions that the theorems speak of, joined as `tolerance` of NumFloatRow.v joins them. *)
From Coq Require Import Reals ZArith Bool List Lra Lia.
From Flocq Require Import Core.
From Chunkproof Require Import NumFloat NumFloatRow NumFloatUp NumFloatParts NumFloatTerms
  NumFloatScores NumFloatReferences NumFloatKeys NumFloatBound NumFloatNearest NumFloatColumn
  NumFloatFinite.
From Chunkproof Require NumCore NumExec NumInvariant NumTolerance NumFloatIEEE.
Import ListNotations.
Open Scope R_scope.

Lemma combine_maps {S T U} (f : S -> T) (g : S -> U) l :
  combine (map f l) (map g l) = map (fun x => (f x, g x)) l.
Proof. induction l as [|x l IH]; simpl; [reflexivity | rewrite IH; reflexivity]. Qed.

Section Whole.
Variable o : ops.
Variable B : binary64 o.
Local Notation fin := (finite B).
Local Notation val := (value B).

Lemma sigma_of_pos (a : score_class o) b d m :
  good_score_class o B a -> 0 <= b -> 0 <= d -> 0 <= m -> 0 <= sigma_of o B a b d m.
Proof.
  intros [[_ t0] [[_ tt0] [[_ u0] [[_ y0] [_ [n0 [[_ s0] [_ st0]]]]]]]] b0 d0 m0; unfold sigma_of.
  pose proof (pow_R1_Rle (1 + val (c_unit o a)) (Z.to_nat (c_depth o a)) ltac:(lra)) as p.
  assert (1 <= (1 + val (c_unit o a)) ^ Z.to_nat (c_depth o a) * (1 + val (c_scale_unit o a))) as g
    by (apply NumInvariant.product_at_least_1; lra).
  set (x := (1 + val (c_unit o a)) ^ Z.to_nat (c_depth o a) * (1 + val (c_scale_unit o a))) in *.
  assert (1 <= (1 + val (c_term_unit o a)) * x) as g1
    by (apply NumInvariant.product_at_least_1; lra).
  assert (0 <= IZR (c_additions o a)) as n1 by (apply IZR_le; lia).
  repeat apply Rplus_le_le_0_compat; try exact st0; repeat apply Rmult_le_pos; try lra.
  apply Rplus_le_le_0_compat; apply Rmult_le_pos; assumption.
Qed.

Lemma no_claim {T} (l : list T) i :
  nth i (map (fun _ => (zero o, infinite o)) l) (zero o, infinite o) = (zero o, infinite o).
Proof. revert i; induction l as [|x l IH]; intros [|i]; simpl; auto. Qed.

Variables (a : arithmetic o) (k : counts o) (r : row o) (lse_error : F o).
Variables (rg : NumExec.range) (kr : NumExec.counts) (i : nat).

Let d := head_dim o r.
Let all := scores o a r.
Let b := references_of o a k all.

(** What is added to the score of a key, and to its error in the class: nothing, or its shift. *)
Definition shift_of (key : key o) : R :=
  match k_shift o key with None => 0 | Some x => val (fst x) end.
Definition further_of (key : key o) : R :=
  match k_shift o key with None => 0 | Some x => val (snd x) end.

(** A key as the formula has it: its exact score, and the error of one in the class. *)
Definition key_input (key : key o) : NumExec.input :=
  NumExec.Input (val (r_scale o r) * real_dot o B (r_q o r) (k_key o key) + shift_of key)
    (val (nth i (k_value o key) (zero o)))
    (sigma_of o B (c_score o a)
      (if c_scaled_before o (c_score o a) then 1 else Rabs (val (r_scale o r))) (IZR d)
      (Rabs (val (r_scale o r)) * real_magnitude o B (r_q o r) (k_key o key)) + further_of key)
    (NumExec.high rg).

Definition inputs : list NumExec.input := map key_input (r_keys o r).

(** What is assumed of a row: a class and counts as declared, no error of a shift below 0, and
    references that a kernel of the class may have. Its numbers may be any, and overflow
    anywhere. *)
Record row_is : Prop := Row_is {
  row_class : good_class o B a;
  row_counts : counts_are o B k kr;
  row_shifts : forall key, In key (r_keys o r) -> 0 <= further_of key;
  row_fits : fits o B a (n_changes o k) rg inputs }.

Let n := n_keys o r.
Let c := scales_of o a k b n.
Let keys := map (weigh o a k b c) all.
Let m := sums_of o a k b c keys.
Let cl := real_class o B a.

(** The keys with the values of one column, as NumFloatColumn.v has them. *)
Let of_here := score_bound_of o (here o d) (r_scale o r) d.
Let of_class := score_bound_of o (c_score o a) (r_scale o r) d.
Let sc (key : key o) := score_of o r of_here of_class key.
Let plain (key : key o) := plain_score o r of_here of_class (k_key o key).
Let L := map (fun key => (sc key, nth i (k_value o key) (zero o), key_input key)) (r_keys o r).

Lemma all_is : all = map sc (r_keys o r).
Proof. reflexivity. Qed.

Lemma length_is : Z.of_nat (length L) = n.
Proof. unfold L; rewrite map_length; reflexivity. Qed.

Lemma keys_are : keys = map (fun x => weigh o a k b c (fst (fst x))) L.
Proof. unfold keys, L; rewrite all_is, !map_map; reflexivity. Qed.

Lemma inputs_are : inputs = map (fun x => snd x) L.
Proof. unfold inputs, L; rewrite map_map; reflexivity. Qed.

(** What follows where something is claimed: nothing overflowed. *)
Record claims : Prop := Claims {
  left_is_finite : fin (left o m); left_is_positive : 0 < val (left o m);
  claims_covers : covers o B b rg (val (top o b));
  top_is_finite : fin (top o b); top_is_below : val (top o b) <= val (high o b);
  z_is_small : val (largest_z o b) <= bpow radix2 (-30);
  claims_known : forall x, In x L -> known o B b rg x;
  claims_enclosed : forall x, In x L ->
    val (low o b) <= val (score o (fst (fst x))) <= val (top o b);
  claims_top : exists x, In x L /\ val (score o (fst (fst x))) = val (top o b) }.

(** Each H_j is a number where the sum that is left is one. *)
Lemma sure_keys_are_finite : is_sure o b m = true -> forall s, In s all -> from_finite o B b s.
Proof.
  intros sure; unfold is_sure in sure; apply andb_prop in sure as [_ fl].
  unfold is_finite in fl; apply (below_infinite o B) in fl.
  unfold m, sums_of in fl; cbn [left] in fl.
  apply (fin_opp o B), (left_of_sum o B), (left_of_sum o B) in fl.
  destruct (fold_up_plus o B (key_h o) keys (zero o) fl) as [_ [fk _]]; intros s ins.
  apply (finite_key_has_finite_parts o B a k b c), fk; unfold keys; apply in_map, ins.
Qed.

(** NUM-14: then shifts and their errors are numbers. *)
Lemma sure_shifts_are_finite key x :
  is_sure o b m = true -> In key (r_keys o r) -> k_shift o key = Some x ->
  fin (fst x) /\ fin (snd x).
Proof.
  intros sure ink E; assert (In (sc key) all) as ins by (rewrite all_is; apply in_map, ink).
  destruct (sure_keys_are_finite sure _ ins) as [fsc fsi _ _ _ _ _].
  revert fsc fsi; unfold sc, score_of; fold (plain key); rewrite E; intros fsc fsi.
  destruct (shift_finite o B _ _ fsc fsi) as [_ [f1 [_ f2]]]; auto.
Qed.

(** It does follow: NUM-12. *)
Theorem sure_is_sound :
  row_is -> (1 <= n)%Z -> (d <= 2 ^ 20)%Z -> is_sure o b m = true -> claims.
Proof.
  intros [ga counted shifts fit] E1 E3 sure; pose proof (sure_keys_are_finite sure) as each.
  unfold is_sure in sure; apply andb_prop in sure as [sure fl]; apply andb_prop in sure as [zs l0].
  unfold is_finite in fl; apply (below_infinite o B) in fl.
  apply (of_less o B _ _ (proj1 (zero_is o B)) fl) in l0; rewrite (proj2 (zero_is o B)) in l0.
  assert (Z.of_nat (length (r_q o r)) <= 2 ^ 20)%Z as few by exact E3.
  assert (all <> []) as some.
  { rewrite all_is; intros N; apply map_eq_nil in N; unfold n, n_keys in E1; rewrite N in E1.
    simpl in E1; lia. }
  assert (exists s, In s all) as [s0 in0]
    by (destruct all as [|s l]; [contradiction | exists s; left; reflexivity]).
  destruct (each _ in0) as [_ _ fz fh fhh fs fr]; clear s0 in0.
  destruct (of_pow2 o B (-30) ltac:(lia)) as [f30 v30].
  apply (of_at_most o B _ _ fz f30) in zs; rewrite v30 in zs.
  assert (forall s, In s all -> fin (score o s) /\ fin (sigma o s) /\ most o B (z o s))
    as scores_finite.
  { intros s ins; destruct (each _ ins) as [fsc fsi _ _ _ _ _]; split; [exact fsc|].
    split; [exact fsi|]; rewrite all_is in ins; apply in_map_iff in ins as [key [<- ink]].
    assert (fin (sigma o (plain key)) -> most o B (z o (plain key))) as plainly.
    { intros fp; pose proof (error_needs_magnitude o B (r_scale o r) (r_q o r) (k_key o key) _ fp)
        as fm.
      destruct (magnitude_is o B (r_scale o r) (r_q o r) (k_key o key) few fm)
        as [[m0 m1] fscale].
      apply (error_here_is_most o B); [unfold d, head_dim in *; lia | exact fscale|].
      split; [exact fm | lra]. }
    revert fsc fsi; unfold sc, score_of; fold (plain key).
    destruct (k_shift o key) as [x|]; intros fsc fsi; [|apply plainly, fsi].
    apply (shift_most o B _ _ fsc), plainly, (shift_finite o B _ _ fsc fsi). }
  assert (forall s, In s all -> good o B (z o s)) as good_z.
  { apply (fold_most o B (z o) all (zero o)); [left; apply good_zero | | exact fz].
    intros s ins; apply scores_finite, ins. }
  assert (forall key, In key (r_keys o r) -> near_key o B (sc key) (key_input key)) as near_keys.
  { intros key ink; assert (In (sc key) all) as ins by (rewrite all_is; apply in_map, ink).
    destruct (scores_finite _ ins) as [fsc [fsi _]]; destruct (good_z _ ins) as [fzz _].
    set (sg := sigma_of o B (c_score o a)
      (if c_scaled_before o (c_score o a) then 1 else Rabs (val (r_scale o r))) (IZR d)
      (Rabs (val (r_scale o r)) * real_magnitude o B (r_q o r) (k_key o key))).
    set (sr := val (r_scale o r) * real_dot o B (r_q o r) (k_key o key)).
    set (v := val (nth i (k_value o key) (zero o))).
    assert (fin (score o (plain key)) -> fin (sigma o (plain key)) -> fin (z o (plain key)) ->
      near_key o B (plain key) (NumExec.Input sr v sg (NumExec.high rg))) as plainly.
    { intros fp fe fpz; split; cbn [NumExec.s NumExec.sigma].
      { exact (score_is_as_near_as_claimed o B (r_scale o r) (r_q o r) (k_key o key) few fp fpz). }
      split.
      - apply sigma_of_pos; [apply (good_score o B a ga) | | |].
        + destruct (c_scaled_before o (c_score o a)); [lra | apply Rabs_pos].
        + apply IZR_le; unfold d, head_dim; lia.
        + apply Rmult_le_pos; [apply Rabs_pos | apply magnitude_pos].
      - exact (sigma_is_up o B (r_scale o r) (r_q o r) (k_key o key) few (c_score o a)
          (good_score o B a ga) fe). }
    pose proof (shifts key ink) as x0.
    revert fsc fsi fzz x0; unfold sc, score_of, key_input, shift_of, further_of; fold (plain key).
    fold sg sr v; destruct (k_shift o key) as [x|]; intros fsc fsi fzz x0.
    - destruct (shift_finite o B _ _ fsc fsi) as [f1 [_ [f2 _]]].
      apply (shift_is_near o B _ (NumExec.Input sr v sg (NumExec.high rg)) x fsc fsi fzz x0).
      apply (plainly f1 f2), (left_of_sum o B _ _ fzz).
    - rewrite !Rplus_0_r; apply plainly; assumption. }
  assert (Forall2 (near_key o B) all inputs) as near.
  { rewrite all_is; unfold inputs; revert near_keys; generalize (r_keys o r) as l.
    induction l as [|key l IH]; simpl; intros nk; constructor; auto. }
  destruct (references_are_enclosed o B a k all rg inputs ga (changes_ok o B k kr counted) some
    scores_finite near fit fh fhh fs fz fr) as [cov [ft [inside [[st [inst Et]] top_high]]]].
  fold b in cov, ft, inside, Et, top_high.
  assert (forall x, In x L -> exists key, In key (r_keys o r) /\
    x = (sc key, nth i (k_value o key) (zero o), key_input key)) as from_key.
  { intros x inx; unfold L in inx; apply in_map_iff in inx as [key [<- ink]]; exists key; auto. }
  constructor; try assumption.
  - intros x inx; destruct (from_key x inx) as [key [ink ->]].
    assert (In (sc key) all) as ins by (rewrite all_is; apply in_map, ink).
    destruct (scores_finite _ ins) as [fsc [fsi _]]; destruct (inside _ ins) as [_ [i1 [i2 i3]]].
    destruct (near_keys _ ink) as [n1 n2].
    constructor; cbn [fst snd]; try assumption; try reflexivity.
    + lra.
    + apply (fits_top o B _ _ _ _ fit); unfold inputs; apply in_map, ink.
    + lra.
  - intros x inx; destruct (from_key x inx) as [key [ink ->]]; cbn [fst].
    assert (In (sc key) all) as ins by (rewrite all_is; apply in_map, ink).
    destruct (inside _ ins) as [_ [_ [i2 i3]]]; lra.
  - rewrite all_is in inst; apply in_map_iff in inst as [key [<- ink]].
    exists (sc key, nth i (k_value o key) (zero o), key_input key); split; [|cbn [fst]; rewrite Et;
      reflexivity].
    unfold L.
    apply (in_map (fun key => (sc key, nth i (k_value o key) (zero o), key_input key))), ink.
Qed.

Let is_refused := Z.ltb n 1 || Z.ltb most_numbers n || Z.ltb most_numbers d.

Lemma not_refused : is_refused = false -> (1 <= n <= 2 ^ 20)%Z /\ (d <= 2 ^ 20)%Z.
Proof.
  intros E; apply orb_false_elim in E as [E E3]; apply orb_false_elim in E as [E1 E2].
  apply Z.ltb_ge in E1, E2, E3; unfold most_numbers in *; lia.
Qed.

(** ** A column *)

(** `expected` and the bound of column i. *)
Definition claim : F o * F o := nth i (fst (tolerance o a k r lse_error)) (zero o, infinite o).

(** The formula claims something; its bound and the distance of `expected` from attention are at
    most what is claimed; and no output overflows, where the format has a largest number. *)
Definition claim_holds : Prop :=
  let exact := NumTolerance.exact inputs in
  0 < NumTolerance.left_over cl rg inputs kr /\
  NumTolerance.tolerance cl rg (real_ending o B a) inputs kr + Rabs (val (fst claim) - exact)
    <= val (snd claim) /\
  (fin (f_largest o (c_output o a)) ->
   Rabs exact + NumTolerance.before_output (real_ending o B a) exact
     (NumTolerance.quotient_bound cl rg inputs kr) <= val (f_largest o (c_output o a))).

(** A claim that is a number holds: NUM-10. *)
Theorem tolerance_is_up :
  row_is -> (i < length (r_q o r))%nat -> fin (snd claim) -> claim_holds.
Proof.
  intros is column_exists; unfold claim_holds, claim, tolerance; fold d n; fold is_refused.
  destruct is_refused eqn:E.
  { cbn [fst snd]; rewrite no_claim; intros f; exfalso; exact (of_infinite o B f). }
  destruct (not_refused E) as [some few].
  cbv zeta; cbn [fst]; fold all b; fold c keys; fold m; set (f := fun i => _).
  rewrite (nth_indep _ _ (f 0%nat)) by (rewrite map_length, seq_length; exact column_exists).
  rewrite map_nth, seq_nth by exact column_exists; rewrite Nat.add_0_l; unfold f; clear f.
  set (column := combine keys _).
  assert (column = map (fun x => (weigh o a k b c (fst (fst x)), snd (fst x))) L) as column_is.
  { unfold column, keys, L; rewrite all_is, !map_map, combine_maps; reflexivity. }
  destruct (is_sure o b m) eqn:sure; cbn [andb];
    [|cbn [snd]; intros f; exfalso; exact (of_infinite o B f)].
  destruct (negb _); cbn [fst snd]; [|intros f; exfalso; exact (of_infinite o B f)].
  destruct (sure_is_sound is (proj1 some) few sure) as [fl l0 cov ft th zs known enclosed one_top].
  destruct is as [ga counted shifts fit]; pose proof length_is as Ln.
  rewrite column_is, inputs_are; unfold m in fl, l0 |- *; rewrite keys_are in fl, l0 |- *.
  unfold c in fl, l0 |- *; rewrite <- Ln in fl, l0, some |- *.
  intros f; apply (column_holds o B a k b rg kr L ga cov (fits_sane o B _ _ _ _ fit) counted
    some known ft th enclosed one_top zs f fl l0).
Qed.

(** A shift or an error of one that is no number: nothing is claimed (NUM-12). *)
Theorem claim_needs_finite_shifts key x :
  (i < length (r_q o r))%nat -> fin (snd claim) -> In key (r_keys o r) ->
  k_shift o key = Some x -> fin (fst x) /\ fin (snd x).
Proof.
  intros column_exists; unfold claim, tolerance; fold d n; fold is_refused.
  destruct is_refused.
  { cbn [fst snd]; rewrite no_claim; intros f; exfalso; exact (of_infinite o B f). }
  cbv zeta; cbn [fst]; fold all b; fold c keys; fold m; set (f := fun i => _).
  rewrite (nth_indep _ _ (f 0%nat)) by (rewrite map_length, seq_length; exact column_exists).
  rewrite map_nth, seq_nth by exact column_exists; rewrite Nat.add_0_l; unfold f; clear f.
  destruct (is_sure o b m) eqn:sure; cbn [andb];
    [|cbn [snd]; intros f; exfalso; exact (of_infinite o B f)].
  intros _; apply sure_shifts_are_finite, sure.
Qed.

(** ** The log-sum-exp *)

(** It and its bound, beside the lse_error of what a kernel makes of its state. *)
Definition lse_claim : F o * F o := snd (tolerance o a k r lse_error).

Definition lse_claim_holds : Prop :=
  let part := NumTolerance.denominator_error cl rg inputs kr in
  0 < NumTolerance.left_over cl rg inputs kr /\ part < 1 /\
  val lse_error - ln (1 - part)
    + Rabs (val (fst lse_claim) - ln (NumTolerance.weight_sum inputs)) <= val (snd lse_claim).

(** A claim that is a number holds: NUM-11. *)
Theorem lse_tolerance_is_up :
  row_is -> 0 <= val lse_error -> fin (snd lse_claim) -> lse_claim_holds.
Proof.
  intros is error_pos; unfold lse_claim_holds, lse_claim, tolerance; fold d n; fold is_refused.
  destruct is_refused eqn:E; [intros f; exfalso; exact (of_infinite o B f)|].
  destruct (not_refused E) as [some few].
  cbv zeta; cbn [snd]; fold all b; fold c keys; fold m; destruct (is_sure o b m) eqn:sure.
  2:{ unfold bound_lse; cbn [negb orb snd]; intros f; exfalso; exact (of_infinite o B f). }
  destruct (sure_is_sound is (proj1 some) few sure) as [fl l0 cov ft th zs known enclosed one_top].
  destruct is as [ga counted shifts fit]; pose proof length_is as Ln.
  rewrite inputs_are; unfold m in fl, l0 |- *; rewrite keys_are in fl, l0 |- *.
  unfold c in fl, l0 |- *; rewrite <- Ln in fl, l0, some |- *.
  intros f; apply (lse_holds o B a k b rg kr L ga cov (fits_sane o B _ _ _ _ fit) counted
    some known ft th enclosed one_top zs true lse_error f fl l0 error_pos).
Qed.
End Whole.

(** The same of IEEE 754 binary64, as Flocq defines it, with a library that keeps its promises. *)
Section Binary64.
Variables exp_of expm1_of log_of log1p_of : NumFloatIEEE.b64 -> NumFloatIEEE.b64.
Hypothesis kept : NumFloatIEEE.library exp_of expm1_of log_of log1p_of.
Let o := NumFloatIEEE.ieee exp_of expm1_of log_of log1p_of.
Let B := NumFloatIEEE.ieee_is_binary64 exp_of expm1_of log_of log1p_of kept.

(** NUM-10. *)
Theorem tolerance_is_up_in_binary64 a k r lse_error rg kr i :
  row_is o B a k r rg kr i -> (i < length (r_q o r))%nat ->
  finite B (snd (claim o a k r lse_error i)) -> claim_holds o B a k r lse_error rg kr i.
Proof. apply tolerance_is_up. Qed.

(** NUM-11. *)
Theorem lse_tolerance_is_up_in_binary64 a k r lse_error rg kr i :
  row_is o B a k r rg kr i -> 0 <= value B lse_error ->
  finite B (snd (lse_claim o a k r lse_error)) -> lse_claim_holds o B a k r lse_error rg kr i.
Proof. apply lse_tolerance_is_up. Qed.
End Binary64.
