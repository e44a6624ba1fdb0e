(* SPDX-License-Identifier: Apache-2.0 *)
(** * More of pages: who writes them, how a kernel walks them, ragged keys, and which pages may be
    shared (spec/conventions.md: CONV-11)

    Layout.v reads each key back if shared pages have the same keys. Here is why they have. *)
From Coq Require Import ZArith List Arith Bool Lia.
From Chunkproof Require Import Layout.
From Chunkproof Require Tree.
Import ListNotations.
Open Scope nat_scope.

(** ** CONV-11: whoever fills the pool

    Pages may be written in any order, also again and again: each by any sequence that has it, with
    anything behind its keys. *)
Definition write {T} (q : paged T) (padding : T) (memory : pool T) (owner : nat * nat) : pool T :=
  let '(s, i) := owner in
  fun x slot =>
    if x =? page_of q s i then
      let j := i * page_size q + slot in
      if j <? n_keys q s then key_of q s j else padding
    else memory x slot.

Lemma written_last {T} (q : paged T) padding memory owners x :
  (exists s i, In (s, i) owners /\ page_of q s i = x) ->
  exists s i, In (s, i) owners /\ page_of q s i = x /\
              holds q (fold_left (write q padding) owners memory) x s i.
Proof.
  induction owners as [|[r k] owners IH] using rev_ind; intros (s & i & there & number);
    [contradiction|].
  rewrite fold_left_app; simpl; destruct (Nat.eq_dec x (page_of q r k)) as [E|other].
  - exists r, k; split; [apply in_or_app; right; left; reflexivity|]; split; [symmetry; exact E|].
    intros slot _ inn; unfold write; rewrite <- E, Nat.eqb_refl.
    destruct (Nat.ltb_spec (k * page_size q + slot) (n_keys q r)); [reflexivity | lia].
  - apply in_app_or in there; destruct there as [there|[equal|[]]];
      [|injection equal as -> ->; congruence].
    destruct (IH (ex_intro _ s (ex_intro _ i (conj there number)))) as (t & l & int & num & held).
    exists t, l; split; [apply in_or_app; left; exact int|]; split; [exact num|].
    intros slot inp inn; unfold write.
    destruct (Nat.eqb_spec x (page_of q r k)); [contradiction | apply held; assumption].
Qed.

Theorem written_in_any_order {T} (q : paged T) padding memory owners :
  (forall s i, In (s, i) owners -> has_page q s i) ->
  (forall s i, has_page q s i ->
     exists r k, In (r, k) owners /\ page_of q r k = page_of q s i) ->
  filled q (fold_left (write q padding) owners memory).
Proof.
  intros pages all s i has.
  destruct (written_last q padding memory owners _ (all s i has))
    as (r & k & there & number & held).
  exists r, k; auto.
Qed.

(** ** CONV-11: a kernel that walks the pages

    Keys in page i of m, of which the last has `last`: what a kernel reads that knows no more. *)
Definition keys_in (P last m i : nat) : nat := if i + 1 =? m then last else P.

Lemma pages_that_are_full P m : flat_map (fun i => seq (i * P) P) (seq 0 m) = seq 0 (m * P).
Proof.
  induction m as [|m IH]; [reflexivity|].
  rewrite seq_S, flat_map_app, IH; cbn [flat_map]; rewrite app_nil_r.
  transitivity (seq 0 (m * P + P)); [symmetry; apply seq_app | f_equal; lia].
Qed.

(** The pages hold each key once, in order. *)
Theorem pages_hold_each_key_once P n :
  1 <= P ->
  flat_map (fun i => seq (i * P) (keys_in P (last_page P n) (pages_for P n) i))
           (seq 0 (pages_for P n)) = seq 0 n.
Proof.
  intros pos; destruct (last_page_holds P n pos) as [some none].
  destruct (Nat.eq_dec n 0) as [->|positive].
  { unfold pages_for; rewrite Nat.div_small by lia; reflexivity. }
  specialize (some ltac:(lia)); set (m := pages_for P n) in *; set (last := last_page P n) in *.
  assert (0 < m) as someone by (apply page_is_there; lia).
  assert (seq 0 m = seq 0 (m - 1) ++ [m - 1]) as ->
    by (replace m with (S (m - 1)) at 1 by lia; apply seq_S).
  rewrite flat_map_app.
  replace (flat_map _ (seq 0 (m - 1))) with (seq 0 ((m - 1) * P)).
  2: { rewrite <- pages_that_are_full, !flat_map_concat_map; f_equal; apply map_ext_in.
       intros i ini; apply in_seq in ini; unfold keys_in.
       destruct (Nat.eqb_spec (i + 1) m); [lia | reflexivity]. }
  unfold keys_in; cbn [flat_map]; destruct (Nat.eqb_spec (m - 1 + 1) m); [|lia].
  rewrite app_nil_r; transitivity (seq 0 ((m - 1) * P + last)); [|f_equal; lia].
  symmetry; apply seq_app.
Qed.

Lemma map_seq {U} (f : nat -> U) k n : map f (seq k n) = map (fun i => f (k + i)) (seq 0 n).
Proof.
  revert f k; induction n as [|n IH]; intros f k; [reflexivity|]; simpl.
  rewrite Nat.add_0_r, (IH f (S k)), (IH (fun i => f (k + i)) 1); f_equal.
  apply map_ext; intros i; f_equal; lia.
Qed.

(** A kernel that knows page_begin, page_list and last_page_tokens alone reads all keys of a
    sequence, in order, and nothing else. *)
Definition read_all {T} (q : paged T) (memory : pool T) (s : nat) : list (option T) :=
  let m := page_begin q (S s) - page_begin q s in
  let last := last_page (page_size q) (n_keys q s) in
  flat_map (fun i => map (fun slot => option_map (fun page => memory page slot)
                                        (nth_error (page_list q) (page_begin q s + i)))
                         (seq 0 (keys_in (page_size q) last m i))) (seq 0 m).

Theorem all_keys_are_read {T} (q : paged T) (memory : pool T) s :
  1 <= page_size q -> same_keys q -> filled q memory -> s < n_sequences q ->
  read_all q memory s = map (fun j => Some (key_of q s j)) (seq 0 (n_keys q s)).
Proof.
  intros pos same full inb; unfold read_all.
  replace (page_begin q (S s) - page_begin q s) with (n_pages q s)
    by (unfold page_begin; simpl; lia).
  rewrite <- (pages_hold_each_key_once (page_size q) (n_keys q s) pos).
  fold (n_pages q s); rewrite !flat_map_concat_map, concat_map, map_map; f_equal.
  apply map_ext_in; intros i ini; apply in_seq in ini; rewrite (map_seq _ (i * page_size q)).
  apply map_ext_in; intros slot ins; apply in_seq in ins.
  rewrite in_page_list by (split; [exact inb | lia]); simpl; f_equal.
  unfold n_pages in *; set (P := page_size q) in *.
  assert (i * P + slot < n_keys q s /\ slot < P) as [inn inp].
  { destruct (last_page_holds P (n_keys q s) pos) as [some _].
    assert (i * P < n_keys q s) as there by (apply page_is_there; [exact pos | apply ini]).
    specialize (some ltac:(lia)); unfold keys_in in ins.
    set (m := pages_for P (n_keys q s)) in *.
    destruct (Nat.eqb_spec (i + 1) m) as [final|other].
    - replace (m - 1) with i in some by lia; lia.
    - assert ((i + 1) * P <= (m - 1) * P) by (apply Nat.mul_le_mono_r; lia); lia. }
  destruct (index_of_product P i slot inp) as [page place].
  rewrite <- (page_has_key q memory s (i * P + slot)) by assumption.
  fold P; rewrite page, place; reflexivity.
Qed.

(** ** CONV-11: ragged keys are pages of one key, numbered one after another *)

Definition ragged {T} (b : nat) (n : nat -> nat) (key : nat -> nat -> T) : paged T :=
  Paged 1 b n key (fun s j => before n s + j).

Lemma pages_of_one n : pages_for 1 n = n.
Proof. unfold pages_for; rewrite Nat.div_1_r; lia. Qed.

Lemma before_differs n s j r k :
  j < n s -> k < n r -> before n s + j = before n r + k -> s = r /\ j = k.
Proof.
  intros inj ink E; destruct (Nat.lt_trichotomy s r) as [less|[->|more]]; [| lia |].
  - pose proof (before_grows n (S s) r less); simpl in *; lia.
  - pose proof (before_grows n (S r) s more); simpl in *; lia.
Qed.

Theorem ragged_is_paged {T} b n (key : nat -> nat -> T) :
  let q := ragged b n key in
  same_keys q /\
  (forall s, page_begin q s = before n s) /\
  page_list q = seq 0 (before n b) /\
  forall memory, filled q memory <->
    forall s j, s < b -> j < n s -> memory (before n s + j) 0 = key s j.
Proof.
  intros q; unfold q; clear q.
  assert (forall s, n_pages (ragged b n key) s = n s) as E by (intros; apply pages_of_one).
  split; [|split; [|split]].
  - intros s i r k [_ ini] [_ ink] number; rewrite E in ini, ink; simpl in number; left.
    exact (before_differs n s i r k ini ink number).
  - intros s; apply before_ext; intros; apply E.
  - assert (forall m, flat_map (pages_of (ragged b n key)) (seq 0 m) = seq 0 (before n m)) as all;
      [|apply all].
    intros m; induction m as [|m IH]; [reflexivity|].
    rewrite seq_S, flat_map_app, IH; cbn [flat_map]; rewrite app_nil_r; cbn [before].
    rewrite seq_app; f_equal; unfold pages_of; rewrite E; simpl.
    rewrite <- (map_seq (fun z => z)), map_id; reflexivity.
  - intros memory; split.
    + intros full s j inb inn; destruct (full s j) as (r & k & [_ ink] & number & held);
        [split; [exact inb | rewrite E; exact inn]|].
      rewrite E in ink; simpl in number.
      destruct (before_differs n r k s j ink inn number) as [-> ->].
      specialize (held 0 ltac:(simpl; lia)); simpl in held.
      rewrite Nat.mul_1_r, Nat.add_0_r in held.
      apply held, inn.
    + intros all s j [inb inn]; exists s, j; split; [split; assumption|]; split; [reflexivity|].
      rewrite E in inn; intros slot inp _; simpl in inp |- *.
      replace slot with 0 by lia; rewrite Nat.mul_1_r, Nat.add_0_r; apply all; assumption.
Qed.

(** ** CONV-11: shared chunks decide which pages are shared

    Key j of sequence s is in slot j mod c of chunk path s (j / c). *)
Definition lies_in_chunks {T} (q : paged T) (c : nat) (path : nat -> nat -> nat)
    (content : nat -> nat -> T) : Prop :=
  forall s j, s < n_sequences q -> j < n_keys q s ->
    key_of q s j = content (path s (j / c)) (j mod c).

(** Page i of two sequences has the same P slots of the same chunks. *)
Definition in_common_chunks {T} (q : paged T) (c : nat) (path : nat -> nat -> nat) (s r i : nat) :
    Prop :=
  forall slot, slot < page_size q ->
    path s ((i * page_size q + slot) / c) = path r ((i * page_size q + slot) / c).

(** Sequences share a page only where all P keys of it are in chunks that they share, and none has a
    page twice. *)
Definition shared_by_chunks {T} (q : paged T) (c : nat) (path : nat -> nat -> nat) : Prop :=
  forall s i r k, has_page q s i -> has_page q r k -> page_of q s i = page_of q r k ->
    (s = r /\ i = k) \/
    (i = k /\ is_full q s i /\ is_full q r k /\ in_common_chunks q c path s r i).

Theorem sharing_is_same_keys {T} (q : paged T) c path content :
  lies_in_chunks q c path content -> shared_by_chunks q c path -> same_keys q.
Proof.
  intros lies shared s i r k has has' number.
  destruct (shared s i r k has has' number) as [one|(<- & full & full' & common)]; [auto|right].
  split; [exact full|]; split; [exact full'|]; intros slot inp.
  unfold is_full in full, full'; destruct has as [inb _], has' as [inb' _].
  rewrite !lies, common by (try assumption; lia); reflexivity.
Qed.

(** So with every_key_is_read: however the pool was filled. *)
Theorem shared_pages_are_read {T} (q : paged T) c path content memory width s j :
  1 <= page_size q -> lies_in_chunks q c path content -> shared_by_chunks q c path ->
  filled q memory -> is_wide q width -> s < n_sequences q -> j < n_keys q s ->
  read_by_table q width memory s j = Some (content (path s (j / c)) (j mod c)) /\
  read_by_list q memory s j = Some (content (path s (j / c)) (j mod c)).
Proof.
  intros pos lies shared full wide inb inn; rewrite <- lies by assumption.
  apply every_key_is_read; try assumption.
  exact (sharing_is_same_keys q c path content lies shared).
Qed.

(** In a tree the last key of a page decides: two full pages are one if their last keys lie in one
    slot of one chunk. A chunk has one place on all paths through it, and the path up to there is
    the same (TREE-3 to TREE-5). *)
Definition last_key {T} (q : paged T) (i : nat) : nat := i * page_size q + (page_size q - 1).

Definition numbered_by_last_key {T} (q : paged T) (c : nat) (path : nat -> nat -> nat) : Prop :=
  forall s i r k, has_page q s i -> has_page q r k -> page_of q s i = page_of q r k ->
    (s = r /\ i = k) \/
    (is_full q s i /\ is_full q r k /\
     path s (last_key q i / c) = path r (last_key q k / c) /\
     last_key q i mod c = last_key q k mod c).

Lemma paths_agree_up_to_a_chunk t s r k l :
  Tree.tree_ok t -> s < Tree.tree_b t -> r < Tree.tree_b t ->
  k < Tree.N t s -> l < Tree.N t r -> Tree.P t s k = Tree.P t r l ->
  k = l /\ forall j, j <= k -> Tree.P t s j = Tree.P t r j.
Proof.
  intros (_ & _ & _ & T3 & T4 & T5) inb inb' ink inl E.
  destruct (T3 s k inb ink) as (_ & here & _); destruct (T3 r l inb' inl) as (_ & there & range).
  rewrite <- E in there, range; split; [lia|]; intros j le.
  destruct (T5 s j k inb ltac:(lia)) as [left right].
  destruct (T3 s j inb ltac:(lia)) as (us & place & _).
  destruct (T4 _ r us ltac:(lia)) as [_ E']; rewrite place in E'; symmetry; exact E'.
Qed.

(** The chunk of each key of a sequence is on its path. *)
Lemma chunk_is_on_path t s j :
  Tree.tree_ok t -> s < Tree.tree_b t -> j < Tree.tree_length t s ->
  j / Tree.tree_c t < Tree.N t s.
Proof.
  intros ((pos & _) & T1 & _ & T3 & _) inb inn; unfold Tree.tree_length in inn.
  apply Nat.div_lt_upper_bound; [lia|].
  destruct (Nat.eqb_spec (Tree.N t s) 0) as [none|some]; [lia|].
  destruct (T3 s (Tree.N t s - 1) inb ltac:(lia)) as (us & _).
  destruct (T1 _ us) as [_ fill]; nia.
Qed.

Theorem last_key_decides {T} (q : paged T) t :
  Tree.tree_ok t -> 1 <= page_size q -> n_sequences q = Tree.tree_b t ->
  (forall s, s < n_sequences q -> n_keys q s = Tree.tree_length t s) ->
  numbered_by_last_key q (Tree.tree_c t) (Tree.P t) ->
  shared_by_chunks q (Tree.tree_c t) (Tree.P t).
Proof.
  intros ok pos Eb lengths numbered s i r k has has' number.
  destruct (numbered s i r k has has' number) as [one|(full & full' & chunk & slot)]; [auto|right].
  destruct has as [inb _], has' as [inb' _]; pose proof ok as ((posc & _) & _).
  assert (last_key q i < Tree.tree_length t s) as inn
    by (rewrite <- lengths by exact inb; unfold is_full, last_key in *; lia).
  assert (last_key q k < Tree.tree_length t r) as inn'
    by (rewrite <- lengths by exact inb'; unfold is_full, last_key in *; lia).
  rewrite Eb in inb, inb'.
  destruct (paths_agree_up_to_a_chunk t s r _ _ ok inb inb' (chunk_is_on_path t s _ ok inb inn)
    (chunk_is_on_path t r _ ok inb' inn') chunk) as [same up].
  assert (last_key q i = last_key q k) as E
    by (rewrite (Nat.div_mod (last_key q i) (Tree.tree_c t)), same, slot by lia; symmetry;
        apply Nat.div_mod; lia).
  assert (i = k) as <- by (unfold last_key in E; nia).
  split; [reflexivity|]; split; [exact full|]; split; [exact full'|]; intros j inj; apply up.
  apply Nat.div_le_mono; [lia | unfold last_key; lia].
Qed.

(** ** CONV-11: what goes wrong with other pages

    Chunks of 5 keys, pages of 4, two sequences of 8 keys of which the first 5 are in one chunk. *)
Definition path_of_two (s k : nat) : nat := if k =? 0 then 0 else 1 + s.

Definition key_of_two (chunk slot : nat) : nat := 10 * chunk + slot.

(** number: of page 1 of each sequence. *)
Definition two_sequences (number : nat -> nat) : paged nat :=
  Paged 4 2 (fun _ => 8) (fun s j => key_of_two (path_of_two s (j / 5)) (j mod 5))
        (fun s i => if i =? 0 then 0 else number s).

(** Page 0 may be shared, and page 1 of each is its own. *)
Example a_chunk_of_five_shares_a_page_of_four :
  shared_by_chunks (two_sequences (fun s => 1 + s)) 5 path_of_two.
Proof.
  intros s i r k [inb ini] [inb' ink] number; unfold n_pages, pages_for in ini, ink; simpl in *.
  assert (i = 0 \/ i = 1) as [-> | ->] by lia; assert (k = 0 \/ k = 1) as [-> | ->] by lia;
    simpl in number; try discriminate; [right | left; lia].
  split; [reflexivity|]; split; [unfold is_full; simpl; lia|].
  split; [unfold is_full; simpl; lia|]; intros slot inp; simpl in inp.
  destruct slot as [|[|[|[|slot]]]]; [reflexivity .. | lia].
Qed.

(** Were page 1 shared, too, whose key 4 is common and whose key 5 is not, then a sequence would
    read a wrong key, whatever is in the pool. *)
Theorem partial_sharing_fails memory :
  exists s j, s < 2 /\ j < 8 /\
    read_by_list (two_sequences (fun _ => 1)) memory s j <>
    Some (key_of (two_sequences (fun _ => 1)) s j).
Proof.
  destruct (Nat.eq_dec (memory 1 1) 10) as [first|other].
  - exists 1, 5; split; [lia|]; split; [lia|]; cbv; rewrite first; discriminate.
  - exists 0, 5; split; [lia|]; split; [lia|]; cbv; congruence.
Qed.

(** A page with less than P keys is not shared, either, although all keys that both have are the
    same: sequences of 1 and 2 keys, where the shorter one fills the page. *)
Definition short_and_long : paged nat :=
  Paged 2 2 (fun s => 1 + s) (fun _ j => j) (fun _ _ => 0).

Theorem sharing_part_of_a_page_fails :
  let memory := fold_left (write short_and_long 99) [(0, 0)] (fun _ _ => 99) in
  filled short_and_long memory /\
  read_by_list short_and_long memory 1 1 = Some 99 /\ key_of short_and_long 1 1 = 1.
Proof.
  split; [|split; reflexivity]; apply written_in_any_order.
  - intros s i [E|[]]; injection E as <- <-; split; unfold n_pages, pages_for; simpl; lia.
  - intros s i _; exists 0, 0; split; [left; reflexivity | reflexivity].
Qed.

(** ** The examples of the clause *)

(** P = 4, sequences of 6 and 5 keys that share the first 4, a pool of 7 pages. *)
Definition of_the_clause : paged (nat * nat) :=
  Paged 4 2 (fun s => 6 - s) (fun s j => (if j <? 4 then 0 else s, j))
        (fun s i => match s, i with 0, 1 => 2 | _, 1 => 0 | _, _ => 5 end).

Example lists_of_the_clause :
  page_table of_the_clause 3 = [5; 2; -1; 5; 0; -1]%Z /\
  map (page_begin of_the_clause) [0; 1; 2] = [0; 2; 4] /\
  page_list of_the_clause = [5; 2; 5; 0] /\
  map (fun s => last_page 4 (n_keys of_the_clause s)) [0; 1] = [2; 1] /\
  same_keys of_the_clause.
Proof.
  repeat split; intros s i r k [inb ini] [inb' ink] number; simpl in inb, inb'.
  assert (s = 0 \/ s = 1) as [-> | ->] by lia; assert (r = 0 \/ r = 1) as [-> | ->] by lia;
    unfold n_pages, pages_for in ini, ink; simpl in ini, ink;
    assert (i = 0 \/ i = 1) as [-> | ->] by lia; assert (k = 0 \/ k = 1) as [-> | ->] by lia;
    simpl in number; try discriminate; auto; right; unfold is_full; simpl;
    (split; [lia|]; split; [lia|]; intros slot inp;
     destruct slot as [|[|[|[|slot]]]]; [reflexivity .. | lia]).
Qed.

(** 16 keys in pages of 16 are one page, and its 16 keys are not n mod P. *)
Example a_full_last_page : pages_for 16 16 = 1 /\ last_page 16 16 = 16 /\ 16 mod 16 = 0.
Proof. repeat split. Qed.
