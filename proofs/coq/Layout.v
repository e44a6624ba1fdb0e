(* SPDX-License-Identifier: Apache-2.0 *)
(** * Where K and V lie: the pages of sequences, and the places of numbers (spec/conventions.md:
    CONV-11, CONV-12)

    Numbers of things are natural numbers; a place is counted in elements. *)
From Coq Require Import ZArith List Arith Bool Lia.
Import ListNotations.
Open Scope nat_scope.

(** ** CONV-11: how many pages, and what the last one holds *)

(** Pages of P keys that n keys need: rounded up. *)
Definition pages_for (P n : nat) : nat := (n + P - 1) / P.

(** last_page_tokens *)
Definition last_page (P n : nat) : nat := n - (pages_for P n - 1) * P.

Lemma index_of_product P i slot : slot < P -> (i * P + slot) / P = i /\ (i * P + slot) mod P = slot.
Proof.
  intros inp; split.
  - symmetry; apply Nat.div_unique with slot; lia.
  - symmetry; apply Nat.mod_unique with i; lia.
Qed.

(** Page i is there exactly if its first key is. *)
Lemma page_is_there P n i : 1 <= P -> (i < pages_for P n <-> i * P < n).
Proof.
  intros pos; unfold pages_for.
  pose proof (Nat.div_mod (n + P - 1) P ltac:(lia)) as E.
  pose proof (Nat.mod_upper_bound (n + P - 1) P ltac:(lia)).
  set (m := (n + P - 1) / P) in *; set (r := (n + P - 1) mod P) in *; nia.
Qed.

Lemma page_of_a_key P n j : 1 <= P -> j < n -> j / P < pages_for P n.
Proof.
  intros pos inn; apply page_is_there; [exact pos|].
  pose proof (Nat.mul_div_le j P ltac:(lia)); lia.
Qed.

(** The last page has 1 to P keys, and with the full ones before it all; 0 says that there is no
    key. *)
Theorem last_page_holds P n :
  1 <= P ->
  (0 < n -> 1 <= last_page P n <= P /\ (pages_for P n - 1) * P + last_page P n = n) /\
  (last_page P n = 0 <-> n = 0).
Proof.
  intros pos; unfold last_page.
  assert (0 < n -> 0 < pages_for P n) as some by (intros; apply page_is_there; lia).
  assert (0 < n -> (pages_for P n - 1) * P < n)
    by (intros; apply page_is_there; [exact pos | specialize (some ltac:(lia)); lia]).
  assert (n <= pages_for P n * P)
    by (apply Nat.nlt_ge; intros more; apply page_is_there in more; lia).
  split; [intros positive; specialize (some positive) | ]; nia.
Qed.

(** ** CONV-11: pages in a pool *)

Record paged {T : Type} := Paged {
  page_size : nat;             (* P *)
  n_sequences : nat;           (* b *)
  n_keys : nat -> nat;         (* keys of sequence s, *)
  key_of : nat -> nat -> T;    (* its key j, *)
  page_of : nat -> nat -> nat  (* and which page of the pool its page i is *)
}.
Arguments paged : clear implicits.
Arguments Paged {T}.

(** What lies in slot `slot` of a page. *)
Definition pool (T : Type) : Type := nat -> nat -> T.

Definition n_pages {T} (q : paged T) (s : nat) : nat := pages_for (page_size q) (n_keys q s).

Definition has_page {T} (q : paged T) (s i : nat) : Prop := s < n_sequences q /\ i < n_pages q s.

(** All P slots of page i of sequence s have keys. *)
Definition is_full {T} (q : paged T) (s i : nat) : Prop := (i + 1) * page_size q <= n_keys q s.

(** Pages that several sequences have, or one has twice: all P keys are the same. *)
Definition same_keys {T} (q : paged T) : Prop :=
  forall s i r k, has_page q s i -> has_page q r k -> page_of q s i = page_of q r k ->
    (s = r /\ i = k) \/
    (is_full q s i /\ is_full q r k /\
     forall slot, slot < page_size q ->
       key_of q s (i * page_size q + slot) = key_of q r (k * page_size q + slot)).

(** Page x of the pool has the keys of page i of sequence s; behind them it has anything. *)
Definition holds {T} (q : paged T) (memory : pool T) (x s i : nat) : Prop :=
  forall slot, slot < page_size q -> i * page_size q + slot < n_keys q s ->
    memory x slot = key_of q s (i * page_size q + slot).

(** Each page has the keys of one of those that have it. *)
Definition filled {T} (q : paged T) (memory : pool T) : Prop :=
  forall s i, has_page q s i ->
    exists r k, has_page q r k /\ page_of q r k = page_of q s i /\
                holds q memory (page_of q s i) r k.

Lemma page_has_key {T} (q : paged T) memory s j :
  1 <= page_size q -> same_keys q -> filled q memory -> s < n_sequences q -> j < n_keys q s ->
  memory (page_of q s (j / page_size q)) (j mod page_size q) = key_of q s j.
Proof.
  intros pos same full inb inn; set (P := page_size q) in *.
  pose proof (Nat.div_mod j P ltac:(lia)) as E; rewrite Nat.mul_comm in E.
  pose proof (Nat.mod_upper_bound j P ltac:(lia)) as slots.
  set (i := j / P) in *; set (slot := j mod P) in *.
  assert (has_page q s i) as has by (split; [exact inb | apply page_of_a_key; assumption]).
  destruct (full s i has) as (r & k & has' & number & there).
  destruct (same r k s i has' has number) as [[-> ->]|(_ & all & equal)].
  - rewrite E; apply there; [exact slots | fold P; rewrite <- E; exact inn].
  - rewrite E; fold P in equal; rewrite <- equal by exact slots; apply there; [exact slots|].
    destruct (same s i r k has has' (eq_sym number)) as [[<- <-]|(_ & whole & _)].
    + fold P; rewrite <- E; exact inn.
    + unfold is_full in whole; fold P in whole |- *; nia.
Qed.

(** ** CONV-11: the lists of a call *)

(** Things of the sequences before s, where sequence s has n s of them. *)
Fixpoint before (n : nat -> nat) (s : nat) : nat :=
  match s with 0 => 0 | S r => before n r + n r end.

(** page_begin *)
Definition page_begin {T} (q : paged T) : nat -> nat := before (n_pages q).

Definition pages_of {T} (q : paged T) (s : nat) : list nat :=
  map (page_of q s) (seq 0 (n_pages q s)).

(** page_list *)
Definition page_list {T} (q : paged T) : list nat := flat_map (pages_of q) (seq 0 (n_sequences q)).

(** page_table: `width` numbers of each sequence, behind its last page -1. *)
Definition table_row {T} (q : paged T) (width s : nat) : list Z :=
  map Z.of_nat (pages_of q s) ++ repeat (-1)%Z (width - n_pages q s).

Definition page_table {T} (q : paged T) (width : nat) : list Z :=
  flat_map (table_row q width) (seq 0 (n_sequences q)).

Definition is_wide {T} (q : paged T) (width : nat) : Prop :=
  forall s, s < n_sequences q -> n_pages q s <= width.

Lemma before_same n s width : (forall r, r < s -> n r = width) -> before n s = s * width.
Proof.
  induction s as [|s IH]; intros all; [reflexivity|]; simpl.
  rewrite IH, all by (intros; try apply all; lia); lia.
Qed.

Lemma before_grows n s r : s <= r -> before n s <= before n r.
Proof. induction 1; simpl; lia. Qed.

Lemma before_ext n m s : (forall r, r < s -> n r = m r) -> before n s = before m s.
Proof.
  induction s as [|s IH]; intros all; [reflexivity|]; simpl.
  rewrite IH, all by (intros; try apply all; lia); reflexivity.
Qed.

(** Lists one after another: the length, and where element i of the list of s is. *)
Lemma length_of_lists {U} (l : nat -> list U) b :
  length (flat_map l (seq 0 b)) = before (fun s => length (l s)) b.
Proof.
  induction b as [|b IH]; [reflexivity|].
  rewrite seq_S, flat_map_app, app_length, IH; simpl; rewrite app_nil_r; reflexivity.
Qed.

Lemma element_of_lists {U} (l : nat -> list U) b s i :
  s < b -> i < length (l s) ->
  nth_error (flat_map l (seq 0 b)) (before (fun r => length (l r)) s + i) = nth_error (l s) i.
Proof.
  intros inb ini; induction b as [|b IH]; [lia|].
  rewrite seq_S, flat_map_app; simpl; rewrite app_nil_r.
  destruct (Nat.eq_dec s b) as [->|other].
  - rewrite <- length_of_lists, nth_error_app2 by lia; f_equal; lia.
  - rewrite nth_error_app1; [apply IH; lia|]; rewrite length_of_lists.
    pose proof (before_grows (fun r => length (l r)) (S s) b ltac:(lia)); simpl in *; lia.
Qed.

Lemma length_pages_of {T} (q : paged T) s : length (pages_of q s) = n_pages q s.
Proof. unfold pages_of; rewrite map_length, seq_length; reflexivity. Qed.

Lemma nth_pages_of {T} (q : paged T) s i :
  i < n_pages q s -> nth_error (pages_of q s) i = Some (page_of q s i).
Proof.
  intros ini; unfold pages_of; apply map_nth_error.
  rewrite (nth_error_nth' _ 0), seq_nth by (rewrite ?seq_length; exact ini); reflexivity.
Qed.

Lemma length_table_row {T} (q : paged T) width s :
  n_pages q s <= width -> length (table_row q width s) = width.
Proof.
  intros; unfold table_row; rewrite app_length, map_length, length_pages_of, repeat_length; lia.
Qed.

Lemma in_page_list {T} (q : paged T) s i :
  has_page q s i -> nth_error (page_list q) (page_begin q s + i) = Some (page_of q s i).
Proof.
  intros [inb ini]; unfold page_list, page_begin.
  rewrite (before_ext _ (fun r => length (pages_of q r)))
    by (intros; symmetry; apply length_pages_of).
  rewrite element_of_lists by (rewrite ?length_pages_of; assumption); apply nth_pages_of, ini.
Qed.

Lemma in_page_table {T} (q : paged T) width s i :
  is_wide q width -> s < n_sequences q -> i < width ->
  nth_error (page_table q width) (s * width + i) = nth_error (table_row q width s) i.
Proof.
  intros wide inb ini; unfold page_table.
  rewrite <- (before_same (fun r => length (table_row q width r)) s width)
    by (intros r lt; apply length_table_row, wide; lia).
  apply element_of_lists; [exact inb | rewrite length_table_row; [exact ini | apply wide, inb]].
Qed.

(** Both lists say the same, and the list has no more. *)
Theorem list_is_table {T} (q : paged T) width s i :
  is_wide q width -> has_page q s i ->
  nth_error (page_list q) (page_begin q s + i) = Some (page_of q s i) /\
  nth_error (page_table q width) (s * width + i) = Some (Z.of_nat (page_of q s i)).
Proof.
  intros wide has; pose proof has as [inb ini]; split; [apply in_page_list, has|].
  pose proof (wide s inb); rewrite in_page_table by (try assumption; lia).
  unfold table_row; rewrite nth_error_app1 by (rewrite map_length, length_pages_of; exact ini).
  apply map_nth_error, nth_pages_of, ini.
Qed.

Theorem list_has_no_more {T} (q : paged T) s :
  length (page_list q) = page_begin q (n_sequences q) /\
  page_begin q (S s) = page_begin q s + n_pages q s.
Proof.
  split; [|reflexivity]; unfold page_list; rewrite length_of_lists.
  apply before_ext; intros; apply length_pages_of.
Qed.

Theorem behind_the_last_page {T} (q : paged T) width s i :
  is_wide q width -> s < n_sequences q -> n_pages q s <= i < width ->
  nth_error (page_table q width) (s * width + i) = Some (-1)%Z.
Proof.
  intros wide inb behind; rewrite in_page_table by (try assumption; lia).
  unfold table_row; rewrite nth_error_app2 by (rewrite map_length, length_pages_of; lia).
  rewrite map_length, length_pages_of.
  rewrite (nth_error_nth' _ (-1)%Z) by (rewrite repeat_length; lia); f_equal; apply nth_repeat.
Qed.

(** Where a kernel reads key j of sequence s. *)
Definition read_by_table {T} (q : paged T) width (memory : pool T) (s j : nat) : option T :=
  option_map (fun page => memory (Z.to_nat page) (j mod page_size q))
             (nth_error (page_table q width) (s * width + j / page_size q)).

Definition read_by_list {T} (q : paged T) (memory : pool T) (s j : nat) : option T :=
  option_map (fun page => memory page (j mod page_size q))
             (nth_error (page_list q) (page_begin q s + j / page_size q)).

(** CONV-11: whoever fills the pool, each key of each sequence is read back. *)
Theorem every_key_is_read {T} (q : paged T) (memory : pool T) width s j :
  1 <= page_size q -> same_keys q -> filled q memory -> is_wide q width ->
  s < n_sequences q -> j < n_keys q s ->
  read_by_table q width memory s j = Some (key_of q s j) /\
  read_by_list q memory s j = Some (key_of q s j).
Proof.
  intros pos same full wide inb inn; unfold read_by_table, read_by_list.
  destruct (list_is_table q width s (j / page_size q) wide
    (conj inb (page_of_a_key _ _ j pos inn))) as [-> ->]; simpl.
  rewrite Nat2Z.id, page_has_key by assumption; split; reflexivity.
Qed.

(** ** CONV-12: places *)

Record shape := Shape {
  n_heads : nat;  (* K/V heads *)
  n_slots : nat;  (* P *)
  n_numbers : nat (* d *)
}.

(** k_chunk, k_head, k_slot and k_group, or those of V. *)
Record strides := Strides { of_page : nat; of_head : nat; of_slot : nat; of_group : nat }.

Inductive order := NHD | HND | Packed (x : nat).

(** Groups of x numbers: rounded up. *)
Definition groups (d x : nat) : nat := (d + x - 1) / x.

(** Where element i of a key is in its page. *)
Definition place_in_page (o : order) (t : strides) (head slot i : nat) : nat :=
  match o with
  | NHD | HND => head * of_head t + slot * of_slot t + i
  | Packed x => head * of_head t + (i / x) * of_group t + slot * x + i mod x
  end.

Definition place (o : order) (t : strides) (page head slot i : nat) : nat :=
  page * of_page t + place_in_page o t head slot i.

(** Elements of a page, up to its last one and the gaps in it. *)
Definition page_length (o : order) (z : shape) (t : strides) : nat :=
  match o with
  | NHD => n_slots z * of_slot t
  | HND | Packed _ => n_heads z * of_head t
  end.

(** Each stride is as large as what is inside of it, or larger: then there are gaps. *)
Definition nested (o : order) (z : shape) (t : strides) : Prop :=
  match o with
  | NHD => n_numbers z <= of_head t /\ n_heads z * of_head t <= of_slot t
  | HND => n_numbers z <= of_slot t /\ n_slots z * of_slot t <= of_head t
  | Packed x => 1 <= x /\ n_slots z * x <= of_group t /\
                groups (n_numbers z) x * of_group t <= of_head t
  end /\
  page_length o z t <= of_page t.

(** Numbers that are packed go on behind d, to the end of their group. *)
Definition end_of_numbers (o : order) (d : nat) : nat :=
  match o with NHD | HND => d | Packed x => groups d x * x end.

Definition is_element (o : order) (z : shape) (head slot i : nat) : Prop :=
  head < n_heads z /\ slot < n_slots z /\ i < end_of_numbers o (n_numbers z).

(** Two numbers from their sum, where the second is below the stride of the first. *)
Lemma nest_differs stride x y a c :
  a < stride -> c < stride -> x * stride + a = y * stride + c -> x = y /\ a = c.
Proof.
  intros ina inc E; destruct (index_of_product stride x a ina) as [X A].
  destruct (index_of_product stride y c inc) as [Y C]; rewrite E in X, A; split; congruence.
Qed.

Lemma nest_inside n stride x a : x < n -> a < stride -> x * stride + a < n * stride.
Proof. intros; nia. Qed.

Lemma groups_are_enough d x : 1 <= x -> d <= groups d x * x < d + x.
Proof.
  intros pos; unfold groups; pose proof (Nat.div_mod (d + x - 1) x ltac:(lia)) as E.
  pose proof (Nat.mod_upper_bound (d + x - 1) x ltac:(lia)); lia.
Qed.

(** All d numbers of a key are elements, and less than x more. *)
Lemma numbers_are_elements o z t head slot i :
  nested o z t -> head < n_heads z -> slot < n_slots z -> i < n_numbers z ->
  is_element o z head slot i.
Proof.
  intros [nest _] inh ins inn; split; [exact inh|]; split; [exact ins|].
  destruct o as [| |x]; simpl; [exact inn | exact inn |].
  destruct nest as [pos _]; pose proof (groups_are_enough (n_numbers z) x pos); lia.
Qed.

Lemma inside_of_page o z t head slot i :
  nested o z t -> is_element o z head slot i -> place_in_page o t head slot i < page_length o z t.
Proof.
  intros [nest _] (inh & ins & ini); destruct o as [| |x]; simpl in *.
  - destruct nest as [N H].
    pose proof (nest_inside (n_heads z) (of_head t) head i inh ltac:(lia)).
    pose proof (nest_inside (n_slots z) (of_slot t) slot (head * of_head t + i) ins ltac:(lia)).
    lia.
  - destruct nest as [N S].
    pose proof (nest_inside (n_slots z) (of_slot t) slot i ins ltac:(lia)).
    pose proof (nest_inside (n_heads z) (of_head t) head (slot * of_slot t + i) inh ltac:(lia)).
    lia.
  - destruct nest as (pos & S & G).
    pose proof (Nat.mod_upper_bound i x ltac:(lia)) as rest.
    assert (i / x < groups (n_numbers z) x) as ing
      by (apply Nat.div_lt_upper_bound; [lia | rewrite Nat.mul_comm; exact ini]).
    pose proof (nest_inside (n_slots z) x slot (i mod x) ins rest).
    pose proof (nest_inside _ (of_group t) (i / x) (slot * x + i mod x) ing ltac:(lia)).
    pose proof (nest_inside (n_heads z) (of_head t) head
      (i / x * of_group t + (slot * x + i mod x)) inh ltac:(lia)); lia.
Qed.

Lemma differ_in_page o z t head slot i head' slot' i' :
  nested o z t -> is_element o z head slot i -> is_element o z head' slot' i' ->
  place_in_page o t head slot i = place_in_page o t head' slot' i' ->
  head = head' /\ slot = slot' /\ i = i'.
Proof.
  intros [nest _] (inh & ins & ini) (inh' & ins' & ini') E; destruct o as [| |x]; simpl in *.
  - destruct nest as [N H].
    pose proof (nest_inside (n_heads z) (of_head t) head i inh ltac:(lia)).
    pose proof (nest_inside (n_heads z) (of_head t) head' i' inh' ltac:(lia)).
    destruct (nest_differs (of_slot t) slot slot' (head * of_head t + i) (head' * of_head t + i'))
      as [-> E']; try lia.
    destruct (nest_differs (of_head t) head head' i i') as [-> ->]; try lia; auto.
  - destruct nest as [N S].
    pose proof (nest_inside (n_slots z) (of_slot t) slot i ins ltac:(lia)).
    pose proof (nest_inside (n_slots z) (of_slot t) slot' i' ins' ltac:(lia)).
    destruct (nest_differs (of_head t) head head' (slot * of_slot t + i) (slot' * of_slot t + i'))
      as [-> E']; try lia.
    destruct (nest_differs (of_slot t) slot slot' i i') as [-> ->]; try lia; auto.
  - destruct nest as (pos & S & G).
    pose proof (Nat.mod_upper_bound i x ltac:(lia)) as rest.
    pose proof (Nat.mod_upper_bound i' x ltac:(lia)) as rest'.
    assert (i / x < groups (n_numbers z) x) as ing
      by (apply Nat.div_lt_upper_bound; [lia | rewrite Nat.mul_comm; exact ini]).
    assert (i' / x < groups (n_numbers z) x) as ing'
      by (apply Nat.div_lt_upper_bound; [lia | rewrite Nat.mul_comm; exact ini']).
    pose proof (nest_inside (n_slots z) x slot (i mod x) ins rest).
    pose proof (nest_inside (n_slots z) x slot' (i' mod x) ins' rest').
    pose proof (nest_inside _ (of_group t) (i / x) (slot * x + i mod x) ing ltac:(lia)).
    pose proof (nest_inside _ (of_group t) (i' / x) (slot' * x + i' mod x) ing' ltac:(lia)).
    destruct (nest_differs (of_head t) head head' (i / x * of_group t + (slot * x + i mod x))
      (i' / x * of_group t + (slot' * x + i' mod x))) as [-> E1]; try lia.
    destruct (nest_differs (of_group t) (i / x) (i' / x) (slot * x + i mod x)
      (slot' * x + i' mod x)) as [same_group E2]; try lia.
    destruct (nest_differs x slot slot' (i mod x) (i' mod x)) as [-> same_rest]; try lia.
    split; [reflexivity|]; split; [reflexivity|].
    rewrite (Nat.div_mod i x), (Nat.div_mod i' x), same_group, same_rest by lia; reflexivity.
Qed.

(** Different elements have different places, and all are below the end of the last page. *)
Definition have_places_of_their_own (o : order) (z : shape) (t : strides) : Prop :=
  (forall page head slot i page' head' slot' i',
     is_element o z head slot i -> is_element o z head' slot' i' ->
     place o t page head slot i = place o t page' head' slot' i' ->
     page = page' /\ head = head' /\ slot = slot' /\ i = i') /\
  (forall capacity page head slot i,
     page < capacity -> is_element o z head slot i ->
     place o t page head slot i < capacity * of_page t).

Lemma nested_places o z t : nested o z t -> have_places_of_their_own o z t.
Proof.
  intros nest; pose proof nest as [_ fits]; split.
  - intros page head slot i page' head' slot' i' el el' E; unfold place in E.
    pose proof (inside_of_page o z t head slot i nest el).
    pose proof (inside_of_page o z t head' slot' i' nest el').
    destruct (nest_differs (of_page t) page page' (place_in_page o t head slot i)
      (place_in_page o t head' slot' i')) as [-> E']; try lia.
    split; [reflexivity | exact (differ_in_page o z t _ _ _ _ _ _ nest el el' E')].
  - intros capacity page head slot i inc el; apply nest_inside; [exact inc|].
    pose proof (inside_of_page o z t head slot i nest el); lia.
Qed.

Theorem places_differ o z t :
  o = NHD \/ o = HND -> nested o z t -> have_places_of_their_own o z t.
Proof. intros _; apply nested_places. Qed.

(** Also the padding behind d has places of its own. *)
Theorem packed_places_differ x z t :
  nested (Packed x) z t -> have_places_of_their_own (Packed x) z t.
Proof. apply nested_places. Qed.

(** Without gaps, strides follow from the shape, *)
Definition without_gaps (o : order) (z : shape) : strides :=
  let '(Shape h P d) := z in
  match o with
  | NHD => Strides (P * (h * d)) d (h * d) 0
  | HND => Strides (h * (P * d)) (P * d) d 0
  | Packed x => Strides (h * (groups d x * (P * x))) (groups d x * (P * x)) 0 (P * x)
  end.

(** and are nested. *)
Theorem without_gaps_is_nested o z :
  (forall x, o = Packed x -> 1 <= x) -> nested o z (without_gaps o z).
Proof.
  intros pos; destruct z as [h P d], o as [| |x]; repeat split; simpl; try lia.
  apply pos; reflexivity.
Qed.

(** Packed by 1 is [page][head][d][slot]. *)
Theorem packed_by_one z t page head slot i :
  place (Packed 1) t page head slot i =
    page * of_page t + head * of_head t + i * of_group t + slot /\
  place (Packed 1) (without_gaps (Packed 1) z) page head slot i =
    ((page * n_heads z + head) * n_numbers z + i) * n_slots z + slot.
Proof.
  destruct z as [h P d]; unfold place; cbn [place_in_page without_gaps of_page of_head of_group
    n_heads n_slots n_numbers].
  unfold groups; rewrite Nat.div_1_r, Nat.mod_1_r, Nat.div_1_r.
  replace (d + 1 - 1) with d by lia; split; lia.
Qed.

(** [page][slot][head][d] and [page][head][slot][d] *)
Theorem orders_without_gaps z page head slot i :
  place NHD (without_gaps NHD z) page head slot i =
    ((page * n_slots z + slot) * n_heads z + head) * n_numbers z + i /\
  place HND (without_gaps HND z) page head slot i =
    ((page * n_heads z + head) * n_slots z + slot) * n_numbers z + i.
Proof. destruct z; unfold place; simpl; split; lia. Qed.

(** The orders are the same with one slot or one head, and otherwise not. *)
Theorem orders_agree z :
  1 <= n_numbers z ->
  (n_slots z <= 1 \/ n_heads z <= 1) <->
  forall page head slot i, is_element NHD z head slot i ->
    place NHD (without_gaps NHD z) page head slot i =
    place HND (without_gaps HND z) page head slot i.
Proof.
  intros some; split.
  - intros one page head slot i (inh & ins & _).
    destruct (orders_without_gaps z page head slot i) as [-> ->].
    destruct one as [one|one].
    + replace (n_slots z) with 1 by lia; replace slot with 0 by lia; lia.
    + replace (n_heads z) with 1 by lia; replace head with 0 by lia; lia.
  - intros same; destruct (le_lt_dec (n_slots z) 1), (le_lt_dec (n_heads z) 1); auto.
    specialize (same 0 1 0 0); destruct (orders_without_gaps z 0 1 0 0) as [EN EH].
    rewrite EN, EH in same; unfold is_element in same; simpl in same.
    specialize (same ltac:(lia)); nia.
Qed.

(** Of one tensor, V begins v_offset elements behind K: behind K of its page, [page][2][...], or
    behind K of all pages, [2][page][...]. *)
Definition in_one_page (o : order) (z : shape) (k v : strides) (v_offset : nat) : Prop :=
  of_page v = of_page k /\ page_length o z k <= v_offset /\
  v_offset + page_length o z v <= of_page k.

Definition in_halves (capacity : nat) (k : strides) (v_offset : nat) : Prop :=
  capacity * of_page k <= v_offset.

(** No number of K has the place of a number of V. *)
Theorem one_tensor o z k v v_offset capacity page head slot i page' head' slot' i' :
  nested o z k -> nested o z v ->
  in_one_page o z k v v_offset \/ in_halves capacity k v_offset ->
  page < capacity -> page' < capacity ->
  is_element o z head slot i -> is_element o z head' slot' i' ->
  place o k page head slot i <> v_offset + place o v page' head' slot' i'.
Proof.
  intros nk nv together inc inc' el el' E; unfold place in E.
  pose proof (inside_of_page o z k head slot i nk el) as ink.
  pose proof (inside_of_page o z v head' slot' i' nv el') as inv.
  destruct together as [(same & from & until)|far].
  - rewrite same in E.
    destruct (nest_differs (of_page k) page page' (place_in_page o k head slot i)
      (v_offset + place_in_page o v head' slot' i')); lia.
  - pose proof (nest_inside capacity (of_page k) page _ inc
      (Nat.lt_le_trans _ _ _ ink (proj2 nk))); unfold in_halves in far; lia.
Qed.

(** Without gaps V is as far behind K as K is large. *)
Definition with_v_behind (v_offset : nat) (t : strides) : strides :=
  Strides (of_page t + v_offset) (of_head t) (of_slot t) (of_group t).

Theorem one_tensor_without_gaps o z capacity :
  (forall x, o = Packed x -> 1 <= x) ->
  let t := without_gaps o z in
  let both := with_v_behind (of_page t) t in
  (nested o z both /\ in_one_page o z both both (of_page t)) /\
  (nested o z t /\ in_halves capacity t (capacity * of_page t)).
Proof.
  intros pos t both; pose proof (without_gaps_is_nested o z pos) as nest; fold t in nest.
  pose proof nest as [inner fits]; split; [|split; [exact nest | apply le_n]].
  assert (page_length o z both = page_length o z t) as same by (destruct o; reflexivity).
  split; [split|].
  - destruct o; exact inner.
  - rewrite same; simpl; lia.
  - unfold in_one_page; rewrite same; simpl; lia.
Qed.

(** Ragged keys, [key][head][d], are pages of one slot in the order NHD. *)
Theorem ragged_places h d key head i :
  place NHD (without_gaps NHD (Shape h 1 d)) key head 0 i = (key * h + head) * d + i.
Proof. destruct (orders_without_gaps (Shape h 1 d) key head 0 i) as [-> _]; simpl; lia. Qed.

(** The example of the clause: keys a and b of 4 numbers; where each number is. *)
Example packed_by_two_and_by_one :
  let places x slot := map (place (Packed x) (without_gaps (Packed x) (Shape 1 2 4)) 0 0 slot)
                           [0; 1; 2; 3] in
  places 2 0 = [0; 1; 4; 5] /\ places 2 1 = [2; 3; 6; 7] /\
  places 1 0 = [0; 2; 4; 6] /\ places 1 1 = [1; 3; 5; 7].
Proof. repeat split. Qed.
