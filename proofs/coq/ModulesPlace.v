(* SPDX-License-Identifier: Apache-2.0 *)
(** * Where what a prompt adds stands (spec/modules.md: MOD-6) *)
From Coq Require Import List Permutation Arith Bool Lia.
From Chunkproof Require PlanCheck.
From Chunkproof Require Import ModulesLayout.
Import ListNotations.
Open Scope nat_scope.

(** ** Spans of positions *)

(** The first position, and how many there are. *)
Definition span : Type := nat * nat.
Definition ends (s : span) : nat := fst s + snd s.
Definition positions (s : span) : list nat := seq (fst s) (snd s).
Definition apart (s t : span) : bool :=
  (snd s =? 0) || (snd t =? 0) || (ends s <=? fst t) || (ends t <=? fst s).

Lemma apart_positions s t :
  apart s t = true <-> forall x, In x (positions s) -> ~ In x (positions t).
Proof.
  unfold apart, positions, ends; destruct s as [b n], t as [c m]; simpl.
  rewrite !orb_true_iff, !Nat.eqb_eq, !Nat.leb_le; split.
  - intros E x; rewrite !in_seq; lia.
  - intros E; destruct n as [|n]; [auto|]; destruct m as [|m]; [auto|].
    destruct (le_lt_dec c b) as [le|lt].
    + specialize (E b); rewrite !in_seq in E; lia.
    + specialize (E c); rewrite !in_seq in E; lia.
Qed.

Lemma apart_sym s t : apart s t = apart t s.
Proof.
  unfold apart; destruct (snd s =? 0), (snd t =? 0), (ends s <=? fst t), (ends t <=? fst s);
    reflexivity.
Qed.

(** ** MOD-6: the places of segments *)

Record segment := Segment {
  behind : option nat; (* where the import that it stands behind ends *)
  tokens : nat }.

(** Behind all others: `all` is the size of part 0, which takes the positions below. *)
Definition last_place (all : nat) (taken : list span) : nat := list_max (all :: map ends taken).

Definition place_one (all : nat) (taken : list span) (s : segment) : span :=
  match behind s with
  | Some e =>
      if forallb (apart (e, tokens s)) taken then (e, tokens s)
      else (last_place all taken, tokens s)
  | None => (last_place all taken, tokens s)
  end.

(** `taken`: what the prompt has of the schema, and segments that were placed before. *)
Fixpoint place (all : nat) (taken : list span) (segments : list segment) : list span :=
  match segments with
  | [] => []
  | s :: rest =>
      place_one all taken s :: place all (place_one all taken s :: taken) rest
  end.

Theorem segments_keep_their_tokens all taken segments :
  map snd (place all taken segments) = map tokens segments.
Proof.
  revert taken; induction segments as [|s rest IH]; intros taken; simpl; [reflexivity|].
  rewrite IH; f_equal; unfold place_one; destruct (behind s) as [e|]; [|reflexivity].
  destruct (forallb _ taken); reflexivity.
Qed.

Lemma last_place_is_behind all taken t : In t taken -> ends t <= last_place all taken.
Proof.
  intros I; unfold last_place.
  match goal with |- _ <= list_max ?l =>
    pose proof (proj1 (list_max_le l (list_max l)) (le_n _)) as all_le end.
  rewrite Forall_forall in all_le; apply all_le; simpl; auto using in_map.
Qed.

Lemma place_one_is_free all taken s t : In t taken -> apart (place_one all taken s) t = true.
Proof.
  intros I; assert (apart (last_place all taken, tokens s) t = true) as last.
  { pose proof (last_place_is_behind all taken t I) as le.
    unfold apart; rewrite !orb_true_iff, !Nat.leb_le; simpl; auto. }
  unfold place_one; destruct (behind s) as [e|]; [|exact last].
  destruct (forallb _ taken) eqn:free; [|exact last].
  rewrite forallb_forall in free; specialize (free t I); congruence.
Qed.

(** No two tokens get one position, if no two had one. *)
Theorem places_do_not_collide all taken segments :
  NoDup (flat_map positions taken) ->
  NoDup (flat_map positions (place all taken segments ++ taken)).
Proof.
  revert taken; induction segments as [|s rest IH]; intros taken once; simpl; [exact once|].
  set (p := place_one all taken s).
  assert (NoDup (flat_map positions (p :: taken))) as next.
  { simpl; apply PlanCheck.nodup_app; [apply seq_NoDup|exact once|].
    intros x here there; apply in_flat_map in there; destruct there as (t & I & there).
    exact (proj1 (apart_positions p t) (place_one_is_free all taken s t I) x here there). }
  specialize (IH (p :: taken) next); rewrite flat_map_app in IH |- *; simpl in IH |- *.
  apply (Permutation_NoDup (l := flat_map positions (place all (p :: taken) rest) ++
    positions p ++ flat_map positions taken)); [|exact IH].
  apply Permutation_app_swap_app.
Qed.

(** A segment stands in the gap behind its import when there is room. *)
Theorem a_free_gap_is_taken all taken e n :
  (forall t, In t taken -> forall x, In x (positions (e, n)) -> ~ In x (positions t)) ->
  place_one all taken (Segment (Some e) n) = (e, n).
Proof.
  intros free; unfold place_one; simpl.
  replace (forallb (apart (e, n)) taken) with true; [reflexivity|symmetry].
  apply forallb_forall; intros t I; apply apart_positions; exact (free t I).
Qed.

(** Otherwise it stands behind all that is placed, so that it sees it. *)
Theorem else_it_is_the_last all taken s :
  behind s <> Some (fst (place_one all taken s)) ->
  all <= fst (place_one all taken s) /\
  forall t, In t taken -> ends t <= fst (place_one all taken s).
Proof.
  assert (all <= last_place all taken /\
    forall t, In t taken -> ends t <= last_place all taken) as last.
  { split; [|intros t; apply last_place_is_behind].
    unfold last_place; simpl; lia. }
  unfold place_one; destruct (behind s) as [e|]; intros other; [|exact last].
  destruct (forallb _ taken); [elim other; reflexivity|exact last].
Qed.

(** So it stands behind its import in either case, and sees all of it. *)
Theorem a_segment_is_behind_its_import all taken s e :
  behind s = Some e -> e <= all -> e <= fst (place_one all taken s).
Proof.
  intros B le; destruct (Nat.eq_dec e (fst (place_one all taken s))) as [->|other]; [lia|].
  destruct (else_it_is_the_last all taken s) as [last _]; [|lia].
  rewrite B; intros same; injection same; exact other.
Qed.

(** ** A whole prompt *)

Lemma two_ways (x y : list nat) :
  (exists z, y = x ++ z) \/ (exists z, x = y ++ z) \/
  exists way i a j b, x = way ++ i :: a /\ y = way ++ j :: b /\ i <> j.
Proof.
  revert y; induction x as [|i x IH]; intros [|j y].
  - left; exists []; reflexivity.
  - left; exists (j :: y); reflexivity.
  - right; left; exists (i :: x); reflexivity.
  - destruct (Nat.eq_dec i j) as [<-|other].
    + destruct (IH y) as [[z ->]|[[z ->]|(way & k & a & l & b & -> & -> & other)]].
      * left; exists z; reflexivity.
      * right; left; exists z; reflexivity.
      * right; right; exists (i :: way), k, a, l, b; auto.
    + right; right; exists [], i, x, j, y; auto.
Qed.

(** The positions of a text, or of a param, whatever its argument has of them. *)
Definition span_of (schema : part) (way : list nat) : span :=
  match locate 0 schema way with Some (b, p) => (b, size p) | None => (0, 0) end.

Lemma texts_are_apart schema imports x y :
  unions_have_modules schema -> one_of_each_union schema imports ->
  prompt_has schema imports x -> prompt_has schema imports y -> x <> y ->
  apart (span_of schema x) (span_of schema y) = true.
Proof.
  intros modules one X Y other.
  destruct (two_ways x y) as [[z E]|[[z E]|(way & i & a & j & b & -> & -> & lt)]].
  - exfalso; subst y; rewrite (texts_have_no_parts schema imports x z X Y) in other.
    rewrite app_nil_r in other; auto.
  - exfalso; subst x; rewrite (texts_have_no_parts schema imports y z Y X) in other.
    rewrite app_nil_r in other; auto.
  - pose proof (proj1 X) as (u & n & A); pose proof (proj1 Y) as (v & m & B).
    assert (exists p, locate 0 schema (way ++ i :: a) = Some (u, p)) as [p P]
      by (destruct A as [A|A]; eexists; exact A).
    assert (exists q, locate 0 schema (way ++ j :: b) = Some (v, q)) as [q Q]
      by (destruct B as [B|B]; eexists; exact B).
    unfold span_of; rewrite P, Q.
    unfold apart, ends; rewrite !orb_true_iff, !Nat.leb_le; simpl.
    assert (i < j \/ j < i) as [less|more] by lia.
    + left; right; eapply (parts_of_a_prompt_do_not_collide schema imports way i a j b); eauto.
    + right; eapply (parts_of_a_prompt_do_not_collide schema imports way j b i a); eauto.
Qed.

(** MOD-6: no two tokens of a prompt have one position: those of the texts that it has, of arguments
    and of segments. *)
Theorem tokens_have_positions_of_their_own schema imports texts segments :
  unions_have_modules schema -> one_of_each_union schema imports ->
  NoDup texts -> Forall (prompt_has schema imports) texts ->
  NoDup (flat_map positions
    (place (size schema) (map (span_of schema) texts) segments ++ map (span_of schema) texts)).
Proof.
  intros modules one once has; apply places_do_not_collide.
  induction texts as [|x texts IH]; simpl; [constructor|].
  inversion once as [|? ? new once']; subst; inversion has as [|? ? X has']; subst.
  apply PlanCheck.nodup_app; [apply seq_NoDup|apply IH; assumption|].
  intros n here there; apply in_flat_map in there; destruct there as (s & I & there).
  apply in_map_iff in I; destruct I as (y & <- & I).
  rewrite Forall_forall in has'.
  refine (proj1 (apart_positions _ _) _ n here there).
  apply (texts_are_apart schema imports x y modules one X (has' y I)).
  intros ->; exact (new I).
Qed.

(** ** Examples *)

(** The travel guide with trip-plan and miami. Behind miami there is room for ten tokens. *)
Definition guide_with_miami : list span :=
  map (span_of travel_guide) [[0]; [1; 0]; [1; 1]; [2; 1; 0]; [3]].

Example guide_takes : guide_with_miami = [(0, 5); (5, 4); (9, 4); (13, 30); (53, 6)].
Proof. reflexivity. Qed.

Example segments_of_the_guide :
  place 59 guide_with_miami
    [Segment (Some 43) 4; Segment (Some 43) 5; Segment None 2; Segment (Some 13) 1] =
  [(43, 4); (59, 5); (64, 2); (66, 1)] /\
  place 59 guide_with_miami [Segment (Some 43) 10] = [(43, 10)] /\
  place 59 guide_with_miami [Segment (Some 43) 11] = [(59, 11)].
Proof. repeat split. Qed.

(** ERRATA-54: three tokens behind A at 0 .. 49, with B from 50 on. *)
Example no_gap : place 110 [(0, 50); (50, 60)] [Segment (Some 50) 3] = [(110, 3)].
Proof. reflexivity. Qed.
