(* SPDX-License-Identifier: Apache-2.0 *)
(** * The parts of a schema in the order of the document (spec/modules.md: MOD-1)

    A part of ModulesLayout.v is named by its way, one of Modules.v by its number. *)
From Coq Require Import List Arith Bool Lia.
From Chunkproof Require Import ModulesLayout.
Import ListNotations.
Open Scope nat_scope.

(** ** The numbers of parts *)

Definition parts_of (p : part) : list part :=
  match p with Module parts | Union parts => parts | _ => [] end.

(** The part at a way, as locate has it. *)
Fixpoint part_at (p : part) (way : list nat) : option part :=
  match way with
  | [] => Some p
  | i :: rest => match nth_error (parts_of p) i with Some q => part_at q rest | None => None end
  end.

(** How many parts p has, itself among them. *)
Fixpoint count (p : part) : nat :=
  S match p with Module parts | Union parts => list_sum (map count parts) | _ => 0 end.

(** The ways in the order of the document. *)
Definition ways_in (ways : part -> list (list nat)) : nat -> list part -> list (list nat) :=
  fix each (i : nat) (parts : list part) :=
    match parts with [] => [] | q :: rest => map (cons i) (ways q) ++ each (S i) rest end.

Fixpoint ways (p : part) : list (list nat) :=
  [] :: match p with Module parts | Union parts => ways_in ways 0 parts | _ => [] end.

(** The number of the part at a way: behind the part that it stands in and the parts before it. *)
Fixpoint number (p : part) (way : list nat) : nat :=
  match way with
  | [] => 0
  | i :: rest =>
      match nth_error (parts_of p) i with
      | Some q => S (list_sum (map count (firstn i (parts_of p))) + number q rest)
      | None => 0
      end
  end.

Definition way_of (p : part) (m : nat) : list nat := nth m (ways p) [].

Lemma part_at_locate b p way : part_at p way = option_map snd (locate b p way).
Proof.
  revert b p; induction way as [|i way IH]; intros b p; [reflexivity|]; simpl.
  destruct p as [n|n|parts|parts]; simpl; try (destruct i; reflexivity);
    destruct (nth_error parts i); auto.
Qed.

Lemma located p way q : part_at p way = Some q <-> exists b, locate 0 p way = Some (b, q).
Proof.
  rewrite (part_at_locate 0); destruct (locate 0 p way) as [[b r]|]; simpl; split.
  - intros E; injection E as ->; exists b; reflexivity.
  - intros [c E]; injection E as _ ->; reflexivity.
  - discriminate.
  - intros [c E]; discriminate.
Qed.

Lemma part_at_app p x y :
  part_at p (x ++ y) = match part_at p x with Some q => part_at q y | None => None end.
Proof.
  revert p; induction x as [|i x IH]; intros p; [reflexivity|]; simpl.
  destruct (nth_error (parts_of p) i); auto.
Qed.

Lemma ways_of_parts p : ways p = [] :: ways_in ways 0 (parts_of p).
Proof. destruct p; reflexivity. Qed.

Lemma count_parts p : count p = S (list_sum (map count (parts_of p))).
Proof. destruct p; reflexivity. Qed.

Lemma in_ways_in f i parts w :
  In w (ways_in f i parts) <->
  exists j q rest, w = i + j :: rest /\ nth_error parts j = Some q /\ In rest (f q).
Proof.
  revert i; induction parts as [|q parts IH]; intros i; simpl.
  - split; [contradiction|]; intros ([|j] & q & rest & _ & E & _); discriminate.
  - rewrite in_app_iff, in_map_iff, IH; split.
    + intros [(rest & <- & inr)|(j & r & rest & -> & N & inr)].
      * exists 0, q, rest; rewrite Nat.add_0_r; auto.
      * exists (S j), r, rest; rewrite Nat.add_succ_r; auto.
    + intros ([|j] & r & rest & -> & N & inr); simpl in N.
      * injection N as ->; left; exists rest; rewrite Nat.add_0_r; auto.
      * right; exists j, r, rest; rewrite Nat.add_succ_r; auto.
Qed.

Lemma in_ways p w : In w (ways p) <-> part_at p w <> None.
Proof.
  revert p; induction w as [|i w IH]; intros p; rewrite ways_of_parts; simpl.
  - split; [discriminate | auto].
  - rewrite in_ways_in; split.
    + intros [E|(j & q & rest & E & N & inr)]; [discriminate|]; injection E as -> ->.
      rewrite N; apply IH, inr.
    + intros there; right; destruct (nth_error (parts_of p) i) as [q|] eqn:N; [|contradiction].
      exists i, q, w; rewrite IH; auto.
Qed.

Lemma part_induction (P : part -> Prop) :
  (forall p, (forall q, In q (parts_of p) -> P q) -> P p) -> forall p, P p.
Proof.
  intros step; fix IH 1; intros [n|n|parts|parts]; apply step; simpl; try contradiction;
    (induction parts as [|q parts each]; simpl; [contradiction|]);
    intros r [<-|inr]; [apply IH | apply each, inr | apply IH | apply each, inr].
Qed.

Lemma seq_from a n : seq a n = map (Nat.add a) (seq 0 n).
Proof.
  induction n as [|n IH]; [reflexivity|].
  rewrite !seq_S, map_app, <- IH; reflexivity.
Qed.

Lemma numbers_in p before parts :
  (forall q, In q parts -> map (number q) (ways q) = seq 0 (count q)) ->
  parts_of p = before ++ parts ->
  map (number p) (ways_in ways (length before) parts) =
  seq (S (list_sum (map count before))) (list_sum (map count parts)).
Proof.
  revert before; induction parts as [|q parts IH]; intros before each E; [reflexivity|]; simpl.
  rewrite map_app, map_map, seq_app; f_equal.
  - rewrite (seq_from (S _)), <- each, map_map by (left; reflexivity).
    apply map_ext; intros w; simpl; rewrite E, nth_error_app2, Nat.sub_diag by lia; simpl.
    rewrite firstn_app, Nat.sub_diag, firstn_all, app_nil_r; reflexivity.
  - specialize (IH (before ++ [q])); rewrite app_length, Nat.add_1_r in IH; simpl in IH.
    rewrite IH; [|intros r inr; apply each; right; exact inr|rewrite <- app_assoc; exact E].
    rewrite map_app, list_sum_app; simpl; rewrite Nat.add_0_r; reflexivity.
Qed.

(** MOD-1: the parts have the numbers 0, 1, 2 .. in the order of the document. *)
Theorem parts_are_numbered_in_order p : map (number p) (ways p) = seq 0 (count p).
Proof.
  induction p as [p each] using part_induction.
  rewrite ways_of_parts, count_parts; simpl; f_equal.
  exact (numbers_in p [] (parts_of p) each eq_refl).
Qed.

Lemma ways_once p : NoDup (ways p).
Proof. apply (NoDup_map_inv (number p)); rewrite parts_are_numbered_in_order; apply seq_NoDup. Qed.

Lemma length_ways p : length (ways p) = count p.
Proof.
  rewrite <- (map_length (number p)), parts_are_numbered_in_order; apply seq_length.
Qed.

Lemma number_of_way p m : m < length (ways p) -> number p (way_of p m) = m.
Proof.
  rewrite length_ways; intros lt; unfold way_of.
  rewrite <- (map_nth (number p)), parts_are_numbered_in_order, seq_nth; auto.
Qed.

Lemma way_of_number p w : In w (ways p) -> way_of p (number p w) = w.
Proof.
  intros inw; apply In_nth with (d := []) in inw; destruct inw as (m & lt & <-).
  fold (way_of p m); rewrite (number_of_way p m lt); reflexivity.
Qed.

Lemma number_app p x y q :
  part_at p x = Some q -> number p (x ++ y) = number p x + number q y.
Proof.
  revert p; induction x as [|i x IH]; intros p E; simpl in *; [injection E as ->; reflexivity|].
  destruct (nth_error (parts_of p) i) as [r|]; [|discriminate]; rewrite (IH r E); lia.
Qed.

Lemma number_grows p x i y :
  In (x ++ i :: y) (ways p) -> number p x < number p (x ++ i :: y).
Proof.
  rewrite in_ways, part_at_app; destruct (part_at p x) as [q|] eqn:E; [|contradiction].
  rewrite (number_app p x _ q E); simpl; destruct (nth_error (parts_of q) i); [lia|contradiction].
Qed.
