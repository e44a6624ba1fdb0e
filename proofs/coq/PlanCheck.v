(* SPDX-License-Identifier: Apache-2.0 *)
(** * The executable check of a plan, as cp_plan_check() of ref/plan_check.c makes it, decides
    validity

    The check does not look for the descriptor of each pair (PLAN-3). It sees that ranges at one
    depth do not overlap, that each pair in a range is on a path, and that there are as many pairs
    in the ranges as on the paths. That this is the same thing is proved here. *)
From Coq Require Import Arith List Sorted Permutation Bool Lia.
From Chunkproof Require Import Plan.
Import ListNotations.

(** PLAN-2 and PLAN-7 for one sequence. *)
Definition sequence_ok (p : plan) (s : nat) : bool :=
  let r := sequence p s in
  let c := chunk_size p in
  (n_shared r <=? n_chunks r) && (n_tokens r <=? n_chunks r * c) &&
  (n_chunks r * c <? n_tokens r + c) && (n_shared r * c <=? n_tokens r) &&
  forallb (fun k => path r k <? capacity p) (seq 0 (n_chunks r)).

(** PLAN-1 for one descriptor. *)
Definition descriptor_ok (p : plan) (D : descriptor) : bool :=
  (chunk D <? capacity p) && (begin D + 2 <=? end_ D) && (end_ D <=? n_sequences p) &&
  (n_keys D =? chunk_size p) && (position D mod chunk_size p =? 0).

(** The sequences in a range. *)
Definition range (D : descriptor) : list nat := seq (begin D) (end_ D - begin D).

(** PLAN-3: the chunk is on the shared part of every path in its range, at its position. *)
Definition on_paths (p : plan) (D : descriptor) : bool :=
  forallb (fun s => (depth_of p D <? n_shared (sequence p s)) &&
                    (path (sequence p s) (depth_of p D) =? chunk D)) (range D).

(** PLAN-4 *)
Definition is_before (D E : descriptor) : bool :=
  (begin D <? begin E) || ((begin D =? begin E) && (position D <? position E)).

(** Walks the descriptors: the last one, and per depth, up to which sequence ranges reach. The
    number of pairs covered, or None when something is wrong. *)
Fixpoint scan (p : plan) (last : option descriptor) (covered_to : nat -> nat) (l : list descriptor)
    : option nat :=
  match l with
  | [] => Some 0
  | D :: rest =>
      if descriptor_ok p D &&
         match last with None => true | Some E => is_before E D end &&
         (covered_to (depth_of p D) <=? begin D) && on_paths p D
      then option_map (Nat.add (end_ D - begin D))
             (scan p (Some D) (fun k => if k =? depth_of p D then end_ D else covered_to k) rest)
      else None
  end.

(** Pairs (sequence, shared chunk) on the paths. *)
Definition listed (p : plan) : nat :=
  list_sum (map (fun s => n_shared (sequence p s)) (seq 0 (n_sequences p))).

Definition plan_check (p : plan) : bool :=
  (1 <=? chunk_size p) && forallb (sequence_ok p) (seq 0 (n_sequences p)) &&
  match scan p None (fun _ => 0) (shared p) with
  | Some covered => covered =? listed p
  | None => false
  end.

(** ** What the walk finds out *)

Definition apart (p : plan) (D E : descriptor) : Prop :=
  depth_of p D = depth_of p E -> end_ D <= begin E.

Definition sorted_behind (last : option descriptor) (l : list descriptor) : Prop :=
  match last with
  | None => StronglySorted before l
  | Some E => StronglySorted before (E :: l)
  end.

Lemma is_before_spec D E : is_before D E = true <-> before D E.
Proof.
  unfold is_before, before; rewrite orb_true_iff, andb_true_iff, !Nat.ltb_lt, Nat.eqb_eq; tauto.
Qed.

Lemma before_trans D E F : before D E -> before E F -> before D F.
Proof. unfold before; lia. Qed.

Lemma sorted_cons E D l :
  StronglySorted before (E :: D :: l) <-> before E D /\ StronglySorted before (D :: l).
Proof.
  split.
  - intros S; inversion S as [|E' l' S' F]; subst; split; [inversion F; assumption | exact S'].
  - intros [B S]; constructor; [exact S|].
    inversion S as [|D' l' S' F]; subst; constructor; [exact B|].
    rewrite Forall_forall in *; intros G inG; apply (before_trans E D G); auto.
Qed.

Lemma sorted_behind_cons last D l :
  sorted_behind last (D :: l) <->
  match last with None => true | Some E => is_before E D end = true /\ sorted_behind (Some D) l.
Proof.
  destruct last as [E|]; unfold sorted_behind; [rewrite is_before_spec; apply sorted_cons|].
  split; [intros S; split; [reflexivity | exact S] | tauto].
Qed.

Lemma scan_spec p last covered_to l n :
  scan p last covered_to l = Some n <->
  (forall D, In D l -> descriptor_ok p D = true /\ on_paths p D = true /\
                       covered_to (depth_of p D) <= begin D) /\
  match l with [] => True | _ => sorted_behind last l end /\
  ForallOrdPairs (apart p) l /\
  n = list_sum (map (fun D => end_ D - begin D) l).
Proof.
  revert last covered_to n; induction l as [|D l IH]; intros last covered_to n; simpl.
  { split; [intros E; injection E as E; subst; repeat split; try constructor; contradiction|].
    intros (_ & _ & _ & E); subst; reflexivity. }
  rewrite sorted_behind_cons; split.
  - destruct (_ && _) eqn:ok; [|discriminate].
    rewrite !andb_true_iff, Nat.leb_le in ok; destruct ok as [[[okD B] ct] on].
    destruct (scan p (Some D) _ l) as [n'|] eqn:S; [|discriminate].
    simpl; intros E; injection E as E; subst; apply IH in S; destruct S as (all & sorted & far & E);
      subst.
    assert (begin D < end_ D) as some
      by (unfold descriptor_ok in okD; rewrite !andb_true_iff, Nat.leb_le in okD; lia).
    repeat split; auto; try (destruct H as [H|H]; [subst; assumption | apply all in H; tauto]).
    + destruct H as [H|H]; [subst; assumption|].
      apply all in H; destruct H as (_ & _ & H).
      destruct (Nat.eqb_spec (depth_of p D0) (depth_of p D)) as [Ed|_]; [rewrite Ed|]; lia.
    + destruct l; [repeat constructor | exact sorted].
    + constructor; [|exact far]; apply Forall_forall; intros F inF Ed.
      apply all in inF; destruct inF as (_ & _ & H).
      rewrite Ed, Nat.eqb_refl in H; exact H.
  - intros (all & (B & sorted) & far & E).
    destruct (all D (or_introl eq_refl)) as (okD & on & ct).
    rewrite okD, B, on, (proj2 (Nat.leb_le _ _) ct); simpl.
    inversion far as [|D' l' farD far']; subst; rewrite Forall_forall in farD.
    rewrite (proj2 (IH (Some D) _ (list_sum (map (fun D => end_ D - begin D) l)))); [reflexivity|].
    repeat split; auto; try (apply all; right; assumption).
    + destruct (Nat.eqb_spec (depth_of p D0) (depth_of p D)) as [Ed|_];
        [apply (farD D0 H); symmetry; exact Ed | apply all; right; assumption].
    + destruct l; [exact I | exact sorted].
Qed.

(** ** Counting pairs *)

Definition covered_pairs (p : plan) (l : list descriptor) : list (nat * nat) :=
  flat_map (fun D => map (fun s => (s, depth_of p D)) (range D)) l.

Definition listed_pairs (p : plan) : list (nat * nat) :=
  flat_map (fun s => map (fun k => (s, k)) (seq 0 (n_shared (sequence p s))))
    (seq 0 (n_sequences p)).

Lemma covered_pairs_In p l s k :
  In (s, k) (covered_pairs p l) <-> exists D, In D l /\ serves s D = true /\ depth_of p D = k.
Proof.
  unfold covered_pairs; rewrite in_flat_map; split.
  - intros (D & inD & inp); apply in_map_iff in inp; destruct inp as (s' & E & ins).
    injection E as -> E; apply in_seq in ins; exists D; rewrite serves_range; repeat split; auto;
      lia.
  - intros (D & inD & sD & E); apply serves_range in sD; exists D; split; [exact inD|].
    apply in_map_iff; exists s; subst; split; [reflexivity | apply in_seq; lia].
Qed.

Lemma listed_pairs_In p s k : In (s, k) (listed_pairs p) <->
  s < n_sequences p /\ k < n_shared (sequence p s).
Proof.
  unfold listed_pairs; rewrite in_flat_map; split.
  - intros (s' & ins & inp); apply in_map_iff in inp; destruct inp as (k' & E & ink).
    injection E as -> ->; apply in_seq in ins; apply in_seq in ink; lia.
  - intros (ins & ink); exists s; split; [apply in_seq; lia|].
    apply (in_map (fun k => (s, k))), in_seq; lia.
Qed.

Lemma flat_map_length {T U} (f : T -> list U) l :
  length (flat_map f l) = list_sum (map (fun y => length (f y)) l).
Proof. induction l as [|y l IH]; simpl; [reflexivity|]; rewrite app_length, IH; reflexivity. Qed.

Lemma covered_pairs_length p l :
  length (covered_pairs p l) = list_sum (map (fun D => end_ D - begin D) l).
Proof.
  unfold covered_pairs; rewrite flat_map_length; f_equal; apply map_ext; intros D.
  unfold range; rewrite map_length, seq_length; reflexivity.
Qed.

Lemma listed_pairs_length p : length (listed_pairs p) = listed p.
Proof.
  unfold listed_pairs, listed; rewrite flat_map_length; f_equal; apply map_ext; intros s.
  rewrite map_length, seq_length; reflexivity.
Qed.

Lemma nodup_app {T} (l l' : list T) :
  NoDup l -> NoDup l' -> (forall y, In y l -> ~ In y l') -> NoDup (l ++ l').
Proof.
  induction 1 as [|y l new D IH]; simpl; intros D' apart_; [exact D'|].
  constructor; [|apply IH; auto]; rewrite in_app_iff; intros [iny|iny]; [auto|].
  apply (apart_ y); auto.
Qed.

Lemma nodup_map {T U} (f : T -> U) l :
  (forall y z, f y = f z -> y = z) -> NoDup l -> NoDup (map f l).
Proof.
  intros inj; induction 1 as [|y l new D IH]; simpl; constructor; [|exact IH].
  intros iny; apply in_map_iff in iny; destruct iny as (z & E & inz); apply inj in E; subst; auto.
Qed.

Lemma covered_pairs_nodup p l : ForallOrdPairs (apart p) l -> NoDup (covered_pairs p l).
Proof.
  induction 1 as [|D l far pairs IH]; [constructor|]; simpl; apply nodup_app; [|exact IH|].
  - apply nodup_map; [intros y z E; injection E; auto | apply seq_NoDup].
  - intros [s k] ins inl; apply in_map_iff in ins; destruct ins as (s' & E & ins);
      injection E as -> <-.
    apply covered_pairs_In in inl; destruct inl as (E & inE & sE & Ed).
    rewrite Forall_forall in far; pose proof (far E inE (eq_sym Ed)).
    apply serves_range in sE; apply in_seq in ins; lia.
Qed.

Lemma listed_pairs_nodup p : NoDup (listed_pairs p).
Proof.
  unfold listed_pairs; generalize (n_sequences p); intros b; induction b as [|b IH]; [constructor|].
  rewrite seq_S, flat_map_app; simpl flat_map; rewrite app_nil_r; apply nodup_app; [exact IH| |].
  - apply nodup_map; [intros y z E; injection E; auto | apply seq_NoDup].
  - intros [s k] ins inb; apply in_flat_map in ins; destruct ins as (s' & ins & inp).
    apply in_map_iff in inp; destruct inp as (k' & E & _); injection E as -> ->.
    apply in_map_iff in inb; destruct inb as (k'' & E & _); injection E as E _.
    apply in_seq in ins; lia.
Qed.

Lemma on_paths_spec p D :
  on_paths p D = true <->
  forall s, serves s D = true -> depth_of p D < n_shared (sequence p s) /\
                                 path (sequence p s) (depth_of p D) = chunk D.
Proof.
  unfold on_paths; rewrite forallb_forall; split; intros H s ins.
  - apply serves_range in ins; specialize (H s); rewrite andb_true_iff, Nat.ltb_lt, Nat.eqb_eq in H.
    apply H, in_seq; lia.
  - apply in_seq in ins; rewrite andb_true_iff, Nat.ltb_lt, Nat.eqb_eq; apply H, serves_range; lia.
Qed.

(** ** The check says yes exactly for the valid plans *)

Lemma sequences_ok_spec p :
  1 <= chunk_size p ->
  (forallb (sequence_ok p) (seq 0 (n_sequences p)) = true <-> PLAN_2 p /\ PLAN_7 p).
Proof.
  intros pos; rewrite forallb_forall.
  assert (one : forall s, sequence_ok p s = true <->
    (n_shared (sequence p s) <= n_chunks (sequence p s) /\
     forall k, k < n_chunks (sequence p s) -> path (sequence p s) k < capacity p) /\
    (((n_chunks (sequence p s) - 1) * chunk_size p < n_tokens (sequence p s)
        <= n_chunks (sequence p s) * chunk_size p \/
        (n_chunks (sequence p s) = 0 /\ n_tokens (sequence p s) = 0)) /\
     n_shared (sequence p s) * chunk_size p <= n_tokens (sequence p s))).
  { intros s; unfold sequence_ok; rewrite !andb_true_iff, !Nat.leb_le, Nat.ltb_lt, forallb_forall.
    assert ((forall k, In k (seq 0 (n_chunks (sequence p s))) ->
             (path (sequence p s) k <? capacity p) = true) <->
            (forall k, k < n_chunks (sequence p s) -> path (sequence p s) k < capacity p)) as ->.
    { split; intros H k ink; [apply Nat.ltb_lt, H, in_seq; lia|].
      apply in_seq in ink; apply Nat.ltb_lt, H; lia. }
    rewrite Nat.mul_sub_distr_r.
    destruct (n_chunks (sequence p s)) as [|m]; simpl; [|split; intros H]; intuition lia. }
  split.
  - intros H; split; intros s ins; apply one, H, in_seq; lia.
  - intros [P2 P7] s ins; apply in_seq in ins; apply one; split; [apply P2 | apply P7]; lia.
Qed.

Lemma descriptor_ok_spec p D :
  descriptor_ok p D = true <->
  chunk D < capacity p /\ begin D + 2 <= end_ D <= n_sequences p /\ n_keys D = chunk_size p /\
  position D mod chunk_size p = 0.
Proof.
  unfold descriptor_ok; rewrite !andb_true_iff, !Nat.leb_le, Nat.ltb_lt, !Nat.eqb_eq; tauto.
Qed.

Lemma position_of_depth p D :
  1 <= chunk_size p -> position D mod chunk_size p = 0 -> position D = depth_of p D * chunk_size p.
Proof.
  intros pos mod0; apply Nat.div_exact in mod0; [|lia]; unfold depth_of; lia.
Qed.

Lemma ordered_pairs {T} (R : T -> T -> Prop) l :
  (forall l1 l2 y z, l = l1 ++ y :: l2 -> In z l2 -> R y z) -> ForallOrdPairs R l.
Proof.
  induction l as [|y l IH]; intros H; constructor.
  - apply Forall_forall; intros z inz; apply (H [] l); auto.
  - apply IH; intros l1 l2 w z E inz; apply (H (y :: l1) l2); [rewrite E; reflexivity | exact inz].
Qed.

(** Equal counts: no pair is covered twice and all are listed, so all listed ones are covered. *)
Lemma counted_once p :
  1 <= chunk_size p ->
  (forall D, In D (shared p) -> descriptor_ok p D = true /\ on_paths p D = true) ->
  ForallOrdPairs (apart p) (shared p) ->
  list_sum (map (fun D => end_ D - begin D) (shared p)) = listed p ->
  PLAN_3 p.
Proof.
  intros pos ok far count s inb.
  assert (covered : forall k, k < n_shared (sequence p s) ->
            exists D, In D (shared p) /\ serves s D = true /\ depth_of p D = k).
  { intros k ink; apply covered_pairs_In.
    assert (incl (listed_pairs p) (covered_pairs p (shared p))) as all;
      [|apply all, listed_pairs_In; auto].
    apply NoDup_length_incl; [apply covered_pairs_nodup, far| |].
    - rewrite listed_pairs_length, covered_pairs_length; lia.
    - intros [s' k'] inp; apply covered_pairs_In in inp; destruct inp as (D & inD & sD & <-).
      destruct (ok D inD) as [okD on]; apply descriptor_ok_spec in okD.
      apply listed_pairs_In; rewrite on_paths_spec in on; apply on in sD as lt.
      apply serves_range in sD; lia. }
  split.
  - intros k ink; destruct (covered k ink) as (D & inD & sD & Ed); exists D.
    destruct (ok D inD) as [okD on]; rewrite on_paths_spec in on; destruct (on s sD) as [_ Ec].
    split; [|rewrite <- Ed, <- Ec; reflexivity].
    assert (cover : forall E, In E (shared p) ->
              (covers p s k E = true <-> serves s E = true /\ depth_of p E = k)).
    { intros E inE; destruct (ok E inE) as [okE _]; apply descriptor_ok_spec in okE.
      unfold covers; rewrite andb_true_iff, Nat.eqb_eq.
      rewrite (position_of_depth p E) by tauto; rewrite Nat.mul_cancel_r by lia; tauto. }
    clear count covered ok; induction far as [|E l farE far IH]; [contradiction|].
    rewrite Forall_forall in farE; simpl in *.
    destruct (covers p s k E) eqn:cE.
    + apply cover in cE; [|auto]; destruct cE as [sE dE].
      assert (forall F, In F l -> covers p s k F = false) as none.
      { intros F inF; apply not_true_is_false; intros cF; apply cover in cF; [|auto].
        destruct cF as [sF dF]; pose proof (farE F inF ltac:(congruence)).
        apply serves_range in sE; apply serves_range in sF; lia. }
      destruct inD as [->|inD].
      * f_equal; clear - none; induction l as [|F l IH]; simpl; [reflexivity|].
        rewrite none by (left; reflexivity); apply IH; intros G inG; apply none; right; exact inG.
      * exfalso; pose proof (none D inD) as cD.
        assert (covers p s k D = true) by (apply cover; auto); congruence.
    + destruct inD as [->|inD]; [|apply IH; auto].
      assert (covers p s k D = true) by (apply cover; auto); congruence.
  - intros D inD sD; exists (depth_of p D); destruct (ok D inD) as [okD on].
    rewrite on_paths_spec in on; apply descriptor_ok_spec in okD.
    split; [apply on, sD | apply position_of_depth; tauto].
Qed.

(** In a valid plan ranges at one depth do not overlap. *)
Lemma valid_apart p : valid p -> ForallOrdPairs (apart p) (shared p).
Proof.
  intros [C P4]; apply ordered_pairs; intros l1 l2 D E EL inE Ed.
  destruct (Nat.le_gt_cases (end_ D) (begin E)) as [far|near]; [exact far|exfalso].
  assert (In D (shared p)) as inD by (rewrite EL; apply in_elt).
  assert (In E (shared p)) as inE' by (rewrite EL; apply in_or_app; right; right; exact inE).
  assert (before D E) as B.
  { unfold PLAN_4 in P4; rewrite EL in P4; clear - P4 inE; induction l1 as [|F l1 IH]; simpl in P4.
    - inversion P4 as [|D' l' S F]; subst; rewrite Forall_forall in F; auto.
    - inversion P4; auto. }
  destruct C as ((pos & P1) & P2 & P3 & P7).
  destruct (P1 D inD) as (_ & rD & _ & mD), (P1 E inE') as (_ & rE & _ & mE).
  apply position_of_depth in mD; [|exact pos]; apply position_of_depth in mE; [|exact pos].
  assert (serves (begin E) D = true) as sD by (apply serves_range; unfold before in B; lia).
  assert (serves (begin E) E = true) as sE by (apply serves_range; lia).
  destruct (P3 (begin E) ltac:(lia)) as [once only].
  destruct (only D inD sD) as (k & ink & ED); destruct (once k ink) as (F & EF & _).
  rewrite EL, filter_app in EF; simpl in EF.
  assert (covers p (begin E) k D = true) as cD
    by (unfold covers; rewrite sD; apply Nat.eqb_eq, ED).
  assert (covers p (begin E) k E = true) as cE
    by (unfold covers; rewrite sE; apply Nat.eqb_eq; congruence).
  rewrite cD in EF; apply (f_equal (@length _)) in EF; rewrite app_length in EF; simpl in EF.
  assert (In E (filter (covers p (begin E) k) l2)) as inF by (apply filter_In; auto).
  destruct (filter (covers p (begin E) k) l2); simpl in *; [contradiction | lia].
Qed.

Lemma valid_count p :
  valid p -> list_sum (map (fun D => end_ D - begin D) (shared p)) = listed p.
Proof.
  intros Vp; pose proof (valid_apart p Vp) as far; destruct Vp as [C _].
  rewrite <- (covered_pairs_length p), <- listed_pairs_length; apply Nat.le_antisymm;
    apply NoDup_incl_length; auto using covered_pairs_nodup, listed_pairs_nodup; intros [s k] inp.
  - apply covered_pairs_In in inp; destruct inp as (D & inD & sD & <-); apply listed_pairs_In.
    assert (s < n_sequences p) as inb
      by (destruct C as ((_ & P1) & _); destruct (P1 D inD); apply serves_range in sD; lia).
    split; [exact inb | apply (serving_chunk p s D C inb inD sD)].
  - apply listed_pairs_In in inp; destruct inp as [inb ink]; apply covered_pairs_In.
    destruct C as ((pos & P1) & _ & P3 & _); destruct (P3 s inb) as [once _].
    destruct (once k ink) as (D & E & _); exists D.
    assert (In D (filter (covers p s k) (shared p))) as inD by (rewrite E; left; reflexivity).
    apply filter_In in inD; destruct inD as [inD cD]; unfold covers in cD.
    apply andb_true_iff in cD; destruct cD as [sD pD]; apply Nat.eqb_eq in pD.
    repeat split; auto; unfold depth_of; rewrite pD; apply Nat.div_mul; lia.
Qed.

Theorem plan_check_decides p : plan_check p = true <-> valid p.
Proof.
  unfold plan_check; rewrite !andb_true_iff, Nat.leb_le; split.
  - intros [[pos paths] walk]; apply sequences_ok_spec in paths; [|exact pos].
    destruct (scan p None (fun _ => 0) (shared p)) as [n|] eqn:S; [|discriminate].
    apply Nat.eqb_eq in walk; apply scan_spec in S; destruct S as (all & sorted & far & E).
    split; [|destruct (shared p) eqn:EL; [unfold PLAN_4; rewrite EL; constructor |
                                           unfold PLAN_4; rewrite EL; exact sorted]].
    split; [split; [exact pos|]; intros D inD; apply descriptor_ok_spec, all, inD|].
    split; [apply paths|]; split; [|apply paths].
    apply counted_once; auto; [|congruence].
    intros D inD; destruct (all D inD) as (okD & on & _); auto.
  - intros Vp; pose proof (valid_apart p Vp) as far; pose proof (valid_count p Vp) as count.
    destruct Vp as [C P4]; pose proof C as ((pos & P1) & P2 & _ & P7).
    split; [split; [exact pos | apply sequences_ok_spec; auto]|].
    rewrite (proj2 (scan_spec p None (fun _ => 0) (shared p) (listed p))); [apply Nat.eqb_refl|].
    repeat split; auto; try (apply descriptor_ok_spec, P1; assumption); try lia.
    + apply on_paths_spec; intros s sD.
      assert (s < n_sequences p) as inb by (destruct (P1 D H); apply serves_range in sD; lia).
      destruct (serving_chunk p s D C inb H sD) as (lt & Ec & _); auto.
    + destruct (shared p) eqn:EL; [exact I|]; unfold sorted_behind; rewrite <- EL; exact P4.
Qed.
