(* SPDX-License-Identifier: Apache-2.0 *)
(** * A module by itself (spec/decoder.md: DEC-5 for modules, from MOD-4)

    The mask of DEC-5 goes by the order of a text, that of MOD-3 by positions, and the positions of
    a text may be any. So the two masks are compared in a decoder whose tokens carry the positions
    that it computes with, and stand in the order of the text. *)
From Coq Require Import ZArith List Permutation Arith Bool Lia FinFun.
From Chunkproof Require PlanCheck.
From Chunkproof Require Import Decoder ModulesGroups.
Import ListNotations.
Open Scope nat_scope.

(** ** Tokens that carry their positions *)

(** As D, with the position that a token carries; the one where it stands is not used. *)
Program Definition carrying (D : decoder) : decoder :=
  Decoder (token D * Z) (Z * state D) (Z * kv D)
    (fun t _ => (snd t, embed D (fst t) (snd t)))
    (fun l s _ => (fst s, project D l (snd s) (fst s)))
    (fun l s _ J => (fst s, advance D l (snd s) (fst s) (map snd J))) _.
Next Obligation. f_equal; apply advance_permutation, Permutation_map; assumption. Qed.

(** A prompt whose tokens stand anywhere, and carry their positions. *)
Definition carried {D I} (P : prompt D I) (order : I -> Z) : prompt (carrying D) I :=
  Prompt (D := carrying D) (fun i => (token_of P i, position_of P i)) order (sees P).

(** It has the states of P: by DEC-2 no position is read but those that are carried. *)
Theorem carried_has_the_states {D I} (P : prompt D I) order l i :
  state_at (carried P order) l i = (position_of P i, state_at P l i) /\
  kv_at (carried P order) l i = (position_of P i, kv_at P l i).
Proof.
  assert (forall i, state_at (carried P order) l i = (position_of P i, state_at P l i)) as same.
  { induction l as [|l IH]; [reflexivity|]; clear i; intros i.
    rewrite state_at_next, IH, (state_at_next P); simpl; do 2 f_equal.
    rewrite map_map; apply map_ext; intros j; unfold entry_at, kv_at; rewrite IH; reflexivity. }
  split; [apply same|]; unfold kv_at; rewrite same; reflexivity.
Qed.

(** ** The block mask is a group mask *)

Section Blocks.
Context {D : decoder}.
Variables (x : token D) (n : nat) (modules : nat -> placed D).

(** The tokens of the modules, and those of the new text, which is modules n. *)
Definition block_tokens : list (nat * nat) := flat_map (tokens_of modules) (seq 0 (S n)).

Definition block_group (i : nat * nat) : option nat :=
  if fst i <? n then Some (fst i) else None.

(** In the order of the texts, the new one behind the longest. *)
Definition longest : nat := list_max (map (fun m => length (modules m)) (seq 0 n)).
Definition block_order (i : nat * nat) : Z :=
  Z.of_nat (if fst i <? n then snd i else longest + snd i).

Definition blocks : prompt (carrying D) (nat * nat) :=
  grouped (D := carrying D) block_tokens
    (fun i => (token_of (modular x n modules) i, position_of (modular x n modules) i))
    block_order block_group.

Lemma in_block_tokens m r : In (m, r) block_tokens <-> m <= n /\ r < length (modules m).
Proof.
  unfold block_tokens, tokens_of; rewrite in_flat_map; split.
  - intros (k & ink & I); apply in_map_iff in I; destruct I as (q & E & I); injection E as <- <-.
    apply in_seq in ink, I; lia.
  - intros [le lt]; exists m; rewrite in_seq, in_map_iff; split; [lia|].
    exists r; rewrite in_seq; split; [reflexivity | lia].
Qed.

Lemma tokens_of_once l : NoDup l -> NoDup (flat_map (tokens_of modules) l).
Proof.
  induction 1 as [|m l new once IH]; simpl; [constructor|].
  apply PlanCheck.nodup_app; [|exact IH|].
  - apply Injective_map_NoDup; [intros q q' E; injection E; auto | apply seq_NoDup].
  - intros y here there; apply in_map_iff in here; destruct here as (q & <- & _).
    apply in_flat_map in there; destruct there as (k & ink & there).
    apply in_map_iff in there; destruct there as (q' & E & _); injection E as -> _; auto.
Qed.

Lemma is_longest m : m < n -> length (modules m) <= longest.
Proof.
  intros lt; unfold longest.
  match goal with |- _ <= list_max ?l =>
    pose proof (proj1 (list_max_le l (list_max l)) (le_n _)) as all_le end.
  rewrite Forall_forall in all_le; apply all_le, in_map_iff; exists m; rewrite in_seq.
  split; [reflexivity | lia].
Qed.

(** DEC-5: the block mask is that of groups, where each module is a group. *)
Theorem block_mask_is_a_group_mask i : In i block_tokens ->
  Permutation (block_mask n modules i) (group_mask block_tokens block_order block_group i).
Proof.
  destruct i as [m r]; intros ini; pose proof ini as there; apply in_block_tokens in there.
  assert (NoDup block_tokens) as once by apply tokens_of_once, seq_NoDup.
  assert (forall k, NoDup (map (pair k) (seq 0 (S r)) : list (nat * nat))) as own.
  { intros k; apply Injective_map_NoDup; [intros q q' E; injection E; auto | apply seq_NoDup]. }
  apply NoDup_Permutation; [|apply NoDup_filter, once|].
  - unfold block_mask; apply PlanCheck.nodup_app; [|apply own|].
    + destruct (m <? n); [constructor | apply tokens_of_once, seq_NoDup].
    + intros y here there'; apply in_map_iff in there'; destruct there' as (q & <- & _).
      destruct (Nat.ltb_spec m n) as [lt|ge]; [destruct here|]; apply in_flat_map in here.
      destruct here as (k & ink & here); apply in_map_iff in here; destruct here as (q' & E & _).
      injection E as -> _; apply in_seq in ink; lia.
  - intros [k q]; unfold block_mask, group_mask, is_in_group, block_group, block_order.
    rewrite filter_In, andb_true_iff, Z.leb_le, in_app_iff, in_map_iff, in_block_tokens; simpl fst.
    simpl snd; destruct (Nat.ltb_spec m n) as [lt|ge].
    + split.
      * intros [[]|(q' & E & inq)]; injection E as -> ->; apply in_seq in inq.
        rewrite (proj2 (Nat.ltb_lt k n)) by exact lt; rewrite Nat.eqb_refl; lia.
      * intros (_ & G & le); right; exists q; destruct (Nat.ltb_spec k n); [|discriminate].
        apply Nat.eqb_eq in G; subst k; rewrite in_seq; split; [reflexivity | lia].
    + assert (m = n) as -> by lia; split.
      * intros [I|(q' & E & inq)].
        { apply in_flat_map in I; destruct I as (k' & ink & I); apply in_map_iff in I.
          destruct I as (q' & E & inq); injection E as -> ->; apply in_seq in ink, inq.
          pose proof (is_longest k) as le; rewrite (proj2 (Nat.ltb_lt k n)) by lia; lia. }
        injection E as -> ->; apply in_seq in inq; rewrite Nat.ltb_irrefl; lia.
      * intros ([le lt] & _ & order); destruct (Nat.ltb_spec k n) as [less|more].
        { left; apply in_flat_map; exists k; rewrite in_seq; split; [lia|].
          apply in_map_iff; exists q; rewrite in_seq; split; [reflexivity | lia]. }
        assert (k = n) as -> by lia; right; exists q; rewrite in_seq; split; [reflexivity | lia].
Qed.

(** DEC-5: so a prompt of modules has the states of one of groups. *)
Theorem blocks_have_the_states l i : In i block_tokens ->
  state_at blocks l i = (position_of (modular x n modules) i, state_at (modular x n modules) l i) /\
  kv_at blocks l i = (position_of (modular x n modules) i, kv_at (modular x n modules) l i).
Proof.
  intros ini.
  destruct (carried_has_the_states (modular x n modules) block_order l i) as [<- <-].
  destruct (closed_set_decides blocks (fun j => In j block_tokens)
    (carried (modular x n modules) block_order) (fun j => j)) with (l := l) (i := i)
    as [-> ->]; auto.
  - intros a b _ inb; apply filter_In in inb; apply inb.
  - intros a ina; simpl; rewrite map_id; split; [|split]; auto.
    apply Permutation_sym, block_mask_is_a_group_mask, ina.
Qed.
End Blocks.

(** ** DEC-5 for modules, from MOD-4 *)

Lemma members_of_blocks {D} n (modules : nat -> placed D) m i : m < n ->
  members (block_tokens n modules) (block_group n) m i <->
  exists r, i = (m, r) /\ r < length (modules m).
Proof.
  intros lt; unfold members, block_group; destruct i as [k q]; rewrite in_block_tokens; simpl.
  destruct (Nat.ltb_spec k n); split.
  - intros [[_ less] E]; injection E as ->; exists q; auto.
  - intros (r & E & less); injection E as -> ->; auto with arith.
  - intros [_ E]; discriminate.
  - intros (r & E & _); injection E as -> _; lia.
Qed.

Lemma tokens_again {D} (x : token D) n modules m n' modules' m' :
  m < n -> m' < n' -> modules m = modules' m' ->
  forall l r, r < length (modules m) ->
    state_at (modular x n modules) l (m, r) = state_at (modular x n' modules') l (m', r) /\
    kv_at (modular x n modules) l (m, r) = kv_at (modular x n' modules') l (m', r).
Proof.
  intros lt lt' E l r less.
  assert (forall i, members (block_tokens n modules) (block_group n) m i <->
    exists q, i = (m, q) /\ q < length (modules m)) as mine
    by (intros i; apply members_of_blocks, lt).
  pose proof (proj2 (mine (m, r)) (ex_intro _ r (conj eq_refl less))) as here.
  assert (In (m', r) (block_tokens n' modules')) as there
    by (apply in_block_tokens; rewrite <- E; auto with arith).
  pose proof (scaffold_again (D := carrying D) (block_tokens n modules) _ (block_order n modules)
    (block_group n) m (block_tokens n' modules') _ (block_order n' modules') (block_group n') m'
    (fun i => (m', snd i)) : let P := blocks x n modules in let Q := blocks x n' modules' in _)
    as again; cbv zeta in again.
  destruct (again (tokens_of_once modules _ (seq_NoDup (S n) 0))
    (tokens_of_once modules' _ (seq_NoDup (S n') 0))) with (l := l) (i := (m, r)) as [A B].
  - intros i j Mi Mj; apply mine in Mi, Mj; destruct Mi as (q & -> & _), Mj as (q' & -> & _).
    simpl; intros F; injection F as ->; reflexivity.
  - intros y; rewrite (members_of_blocks n' modules' m' y lt'), <- E; split.
    + intros (q & -> & lq); exists (m, q); split; [apply mine; exists q; auto | reflexivity].
    + intros (i & Mi & <-); apply mine in Mi; destruct Mi as (q & -> & lq); exists q; auto.
  - intros i Mi; apply mine in Mi; destruct Mi as (q & -> & lq); simpl; rewrite <- E.
    split; [reflexivity|]; unfold block_order; simpl.
    rewrite (proj2 (Nat.ltb_lt m n) lt), (proj2 (Nat.ltb_lt m' n') lt'); reflexivity.
  - exact here.
  - simpl snd in A, B.
    rewrite !(proj1 (blocks_have_the_states x n modules l (m, r) (proj1 here))) in A.
    rewrite !(proj1 (blocks_have_the_states x n' modules' l (m', r) there)) in A.
    rewrite !(proj2 (blocks_have_the_states x n modules l (m, r) (proj1 here))) in B.
    rewrite !(proj2 (blocks_have_the_states x n' modules' l (m', r) there)) in B.
    injection A as _ A; injection B as _ B; auto.
Qed.

(** The theorems of Decoder.v count on behind the last token of a module, with a default token. So
    do texts with enough of these. *)
Definition padded {D : decoder} (x : token D) (c : nat) (modules : nat -> placed D) (m : nat)
    : placed D := modules m ++ repeat (x, 0%Z) c.

Lemma nth_padded {T} (d : T) l c r : nth r (l ++ repeat d c) d = nth r l d.
Proof.
  destruct (Nat.lt_ge_cases r (length l)) as [lt|ge]; [apply app_nth1, lt|].
  rewrite app_nth2, nth_repeat by exact ge; symmetry; apply nth_overflow, ge.
Qed.

Lemma padded_has_the_states {D} (x : token D) n c modules m r l : m < n ->
  state_at (modular x n modules) l (m, r) = state_at (modular x n (padded x c modules)) l (m, r) /\
  kv_at (modular x n modules) l (m, r) = kv_at (modular x n (padded x c modules)) l (m, r).
Proof.
  intros lt.
  destruct (closed_set_decides (modular x n modules) (fun i => fst i < n)
    (modular x n (padded x c modules)) (fun i => i)) with (l := l) (i := (m, r)) as [-> ->]; auto.
  - intros [k q] j less inj; cbn [fst sees modular block_mask] in *.
    rewrite (proj2 (Nat.ltb_lt k n) less) in inj; apply in_map_iff in inj.
    destruct inj as (q' & <- & _); exact less.
  - intros [k q] less; simpl in *; unfold padded; rewrite nth_padded.
    rewrite (proj2 (Nat.ltb_lt k n) less), map_id; auto.
Qed.

(** DEC-5 from MOD-4: what module_under_block_mask says. *)
Theorem module_again {D} (x : token D) n modules m n' modules' m' :
  m < n -> m' < n' -> modules m = modules' m' ->
  forall l r,
    state_at (modular x n modules) l (m, r) = state_at (modular x n' modules') l (m', r) /\
    kv_at (modular x n modules) l (m, r) = kv_at (modular x n' modules') l (m', r).
Proof.
  intros lt lt' E l r.
  destruct (padded_has_the_states x n (S r) modules m r l lt) as [-> ->].
  destruct (padded_has_the_states x n' (S r) modules' m' r l lt') as [-> ->].
  apply tokens_again; auto; unfold padded; [rewrite E; reflexivity|].
  rewrite app_length, repeat_length; lia.
Qed.

(** DEC-5 from MOD-4: what module_is_as_alone says. A module by itself is the only one of a
    prompt. *)
Theorem alone_again {D} (x : token D) n modules m :
  m < n ->
  forall l r,
    state_at (modular x n modules) l (m, r) = state_at (alone x (modules m)) l r /\
    kv_at (modular x n modules) l (m, r) = kv_at (alone x (modules m)) l r.
Proof.
  intros lt l r.
  destruct (closed_set_decides (alone x (modules m)) (fun _ => True)
    (modular x 1 (fun _ => modules m)) (pair 0)) with (l := l) (i := r) as [-> ->]; auto.
  - intros i j; auto.
  - intros i _; simpl; auto.
  - apply module_again; auto.
Qed.
