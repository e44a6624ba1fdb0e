(* SPDX-License-Identifier: Apache-2.0 *)
(** * Decoders of any number of layers (spec/decoder.md: DEC-1 to DEC-7)

    A decoder is given by what it computes for one token from what this token sees. Layers count
    from 0: the state at layer 0 is the embedding, and layer l turns the states at l into those
    at l + 1. Every theorem holds for each layer, so for any number L of them. *)
From Coq Require Import ZArith List Permutation Arith Bool Lia.
Import ListNotations.
Open Scope nat_scope.

(** ** DEC-1: a decoder *)

Record decoder := Decoder {
  token : Type;
  state : Type;
  kv : Type;                                 (* a key and a value, of all heads *)
  embed : token -> Z -> state;               (* of a token, at a position *)
  project : nat -> state -> Z -> kv;         (* at a layer, of a state at a position *)
  (* The next state, from one's own state and position, and the (position, key, value) of the
     tokens that are seen. *)
  advance : nat -> state -> Z -> list (Z * kv) -> state;
  advance_permutation : forall l x p J K,
    Permutation J K -> advance l x p J = advance l x p K
}.

(** ** DEC-2: a prompt, and the states of its tokens

    I names the tokens of the prompt: numbers, or pairs of a module and a number. sees i lists the
    tokens that i sees, itself among them where the mask has it. *)

Record prompt (D : decoder) (I : Type) := Prompt {
  token_of : I -> token D;
  position_of : I -> Z;
  sees : I -> list I
}.
Arguments Prompt {D I} _ _ _.
Arguments token_of {D I} _ _.
Arguments position_of {D I} _ _.
Arguments sees {D I} _ _.

Fixpoint state_at {D I} (P : prompt D I) (l : nat) (i : I) : state D :=
  match l with
  | O => embed D (token_of P i) (position_of P i)
  | S k => advance D k (state_at P k i) (position_of P i)
      (map (fun j => (position_of P j, project D k (state_at P k j) (position_of P j))) (sees P i))
  end.

(** Key and value of token i at layer l. *)
Definition kv_at {D I} (P : prompt D I) (l : nat) (i : I) : kv D :=
  project D l (state_at P l i) (position_of P i).

(** An entry of a cache: what a token that sees i needs of it. *)
Definition entry_at {D I} (P : prompt D I) (l : nat) (i : I) : Z * kv D :=
  (position_of P i, kv_at P l i).

(** DEC-2: entries are all that a token needs of the others: position, key and value. *)
Theorem state_at_next {D I} (P : prompt D I) l i :
  state_at P (S l) i =
  advance D l (state_at P l i) (position_of P i) (map (entry_at P l) (sees P i)).
Proof. reflexivity. Qed.

(** ** DEC-3: closed sets of tokens *)

(** The tokens in X see tokens in X alone. *)
Definition closed {D I} (P : prompt D I) (X : I -> Prop) : Prop :=
  forall i j, X i -> In j (sees P i) -> X j.

(** Under f, the tokens in X of P are tokens of Q: the same tokens at the same positions, which see
    the same. The lists of what they see may be in any order. *)
Definition agree {D I I'} (P : prompt D I) (X : I -> Prop) (Q : prompt D I') (f : I -> I') :=
  forall i, X i ->
    token_of P i = token_of Q (f i) /\
    position_of P i = position_of Q (f i) /\
    Permutation (map f (sees P i)) (sees Q (f i)).

(** DEC-3: states, keys and values of a closed set depend on its tokens, their positions and what
    they see of each other alone: two prompts that agree on the set have the same there, at every
    layer. *)
Theorem closed_set_decides {D I I'} (P : prompt D I) X (Q : prompt D I') f :
  closed P X -> agree P X Q f ->
  forall l i, X i -> state_at P l i = state_at Q l (f i) /\ kv_at P l i = kv_at Q l (f i).
Proof.
  intros C G; assert (forall l i, X i -> state_at P l i = state_at Q l (f i)) as same.
  { induction l as [|l IH]; intros i Xi; destruct (G i Xi) as (Et & Ep & Pe).
    - simpl; rewrite Et, Ep; reflexivity.
    - rewrite !state_at_next, (IH i Xi), Ep.
      apply advance_permutation, Permutation_trans with (map (entry_at Q l) (map f (sees P i)));
        [|apply Permutation_map, Pe].
      rewrite map_map; erewrite map_ext_in; [reflexivity|].
      intros j inj; pose proof (C i j Xi inj) as Xj; destruct (G j Xj) as (_ & Ej & _).
      unfold entry_at, kv_at; rewrite (IH j Xj), Ej; reflexivity. }
  intros l i Xi; split; [exact (same l i Xi)|].
  unfold kv_at; destruct (G i Xi) as (_ & Ep & _); rewrite (same l i Xi), Ep; reflexivity.
Qed.

(** What a token sees as a mask says it: a set, in which each token stands once. *)
Definition sees_once {D I} (P : prompt D I) := forall i, NoDup (sees P i).

Lemma agree_by_injection {D I I'} (P : prompt D I) X (Q : prompt D I') f :
  closed P X -> sees_once P -> sees_once Q ->
  (forall i j, X i -> X j -> f i = f j -> i = j) ->
  (forall i, X i -> token_of P i = token_of Q (f i) /\ position_of P i = position_of Q (f i)) ->
  (forall i y, X i -> (In y (sees Q (f i)) <-> exists j, In j (sees P i) /\ f j = y)) ->
  agree P X Q f.
Proof.
  intros C OP OQ inj same mask i Xi; destruct (same i Xi) as [Et Ep]; split; [|split]; auto.
  apply NoDup_Permutation; [|apply OQ|].
  - assert (forall j, In j (sees P i) -> X j) as inside by (intros j; apply C, Xi).
    pose proof (OP i) as once; revert inside once; generalize (sees P i) as J.
    induction J as [|j J IH]; simpl; intros inside once; [constructor|].
    apply NoDup_cons_iff in once; destruct once as [new once]; constructor; [|apply IH; auto].
    intros inJ; apply in_map_iff in inJ; destruct inJ as (k & E & ink); apply new.
    rewrite <- (inj k j); auto.
  - intros y; rewrite in_map_iff, mask by exact Xi; split; intros (j & A & B); exists j; auto.
Qed.

(** DEC-3: the same for masks that are sets, and for an injection between the tokens: the tokens of
    a closed set have the same states, keys and values wherever the mask among them is the same. *)
Theorem closed_set_under_mask {D I I'} (P : prompt D I) X (Q : prompt D I') f :
  closed P X -> sees_once P -> sees_once Q ->
  (forall i j, X i -> X j -> f i = f j -> i = j) ->
  (forall i, X i -> token_of P i = token_of Q (f i) /\ position_of P i = position_of Q (f i)) ->
  (forall i y, X i -> (In y (sees Q (f i)) <-> exists j, In j (sees P i) /\ f j = y)) ->
  forall l i, X i -> state_at P l i = state_at Q l (f i) /\ kv_at P l i = kv_at Q l (f i).
Proof. intros C; intros; apply (closed_set_decides P X); auto using agree_by_injection. Qed.

(** ** DEC-4: prefixes under the causal mask *)

(** Token i of a text stands at position i and sees the tokens 0 .. i. *)
Definition causal {D} (default : token D) (text : list (token D)) : prompt D nat :=
  Prompt (fun i => nth i text default) Z.of_nat (fun i => seq 0 (S i)).

Lemma nth_of_prefix {T} n (s t : list T) x i :
  firstn n s = firstn n t -> i < n -> nth i s x = nth i t x.
Proof.
  revert n s t; induction i as [|i IH]; intros [|n] s t E lt; try lia;
    destruct s as [|a s], t as [|b t]; simpl in E; try discriminate; try reflexivity.
  - injection E as E _; exact E.
  - injection E as _ E; simpl; apply (IH n); [exact E | lia].
Qed.

(** DEC-4: two texts with the same first n tokens have the same states, keys and values at these
    tokens, at every layer. This is the premise of TREE-8 and TREE-9. *)
Theorem equal_prefixes_have_equal_kv {D} (x : token D) s t n :
  firstn n s = firstn n t ->
  forall l i, i < n ->
    state_at (causal x s) l i = state_at (causal x t) l i /\
    kv_at (causal x s) l i = kv_at (causal x t) l i.
Proof.
  intros E l i lt.
  apply (closed_set_decides (causal x s) (fun i => i < n) (causal x t) (fun i => i)); auto.
  - intros a b la inb; apply in_seq in inb; lia.
  - intros a la; simpl; split; [|split]; auto using (nth_of_prefix n).
    rewrite map_id; reflexivity.
Qed.

(** DEC-4: two texts that begin with the same k + 1 chunks of c tokens have the same keys and values
    in each slot of the chunk at depth k (TREE-6): it can be kept once. *)
Theorem shared_chunk_has_one_content {D} (x : token D) s t c k :
  firstn ((k + 1) * c) s = firstn ((k + 1) * c) t ->
  forall l slot, slot < c ->
    kv_at (causal x s) l (k * c + slot) = kv_at (causal x t) l (k * c + slot).
Proof. intros E l r lt; apply (equal_prefixes_have_equal_kv x s t _ E); lia. Qed.

(** ** DEC-5: modules and scaffolds *)

(** A text whose tokens have their positions with them. *)
Definition placed (D : decoder) := list (token D * Z).

(** A placed text by itself, each token seeing those up to itself. *)
Definition alone {D} (default : token D) (text : placed D) : prompt D nat :=
  Prompt (fun i => fst (nth i text (default, 0%Z))) (fun i => snd (nth i text (default, 0%Z)))
         (fun i => seq 0 (S i)).

(** A prompt of modules and new text. Token (m, r) is number r of module m; the new text is module
    number n, behind n modules. *)
Definition tokens_of {D} (modules : nat -> placed D) (m : nat) : list (nat * nat) :=
  map (pair m) (seq 0 (length (modules m))).

(** The block mask: a token of a module sees the module up to itself, and a token of the new text
    sees all modules, and the new text up to itself. *)
Definition block_mask {D} (n : nat) (modules : nat -> placed D) (i : nat * nat)
    : list (nat * nat) :=
  let (m, r) := i in
  (if m <? n then [] else flat_map (tokens_of modules) (seq 0 n)) ++ map (pair m) (seq 0 (S r)).

Definition modular {D} (default : token D) (n : nat) (modules : nat -> placed D)
    : prompt D (nat * nat) :=
  Prompt (fun i => fst (nth (snd i) (modules (fst i)) (default, 0%Z)))
         (fun i => snd (nth (snd i) (modules (fst i)) (default, 0%Z)))
         (block_mask n modules).

(** DEC-5: the states, keys and values of a module are those of the module by itself, whatever the
    other modules of the prompt, their number and their order. *)
Theorem module_is_as_alone {D} (x : token D) n modules m :
  m < n ->
  forall l r,
    state_at (modular x n modules) l (m, r) = state_at (alone x (modules m)) l r /\
    kv_at (modular x n modules) l (m, r) = kv_at (alone x (modules m)) l r.
Proof.
  intros lt l r.
  destruct (closed_set_decides (alone x (modules m)) (fun _ => True) (modular x n modules) (pair m))
    with (l := l) (i := r) as [-> ->]; auto.
  - intros i j; auto.
  - intros i _; simpl; split; [|split]; auto.
    apply Nat.ltb_lt in lt; rewrite lt; reflexivity.
Qed.

(** DEC-5: so a module that two prompts have, at whatever place, has the same in both. *)
Theorem module_under_block_mask {D} (x : token D) n modules m n' modules' m' :
  m < n -> m' < n' -> modules m = modules' m' ->
  forall l r,
    state_at (modular x n modules) l (m, r) = state_at (modular x n' modules') l (m', r) /\
    kv_at (modular x n modules) l (m, r) = kv_at (modular x n' modules') l (m', r).
Proof.
  intros lt lt' E l r.
  destruct (module_is_as_alone x n modules m lt l r) as [-> ->].
  destruct (module_is_as_alone x n' modules' m' lt' l r) as [-> ->]; rewrite E; auto.
Qed.

(** Tokens in groups: each token with a group sees the tokens of its group up to its own position,
    and a token without group (new text) sees all up to its position. A group of one module is a
    module, a group of several is a scaffold. *)
Section Groups.
Context {D : decoder} {I : Type}.
Variables (all : list I) (tokens : I -> token D) (positions : I -> Z) (group : I -> option nat).

Definition is_in_group (g : option nat) (j : I) : bool :=
  match g, group j with
  | None, _ => true
  | Some a, Some b => a =? b
  | Some _, None => false
  end.

Definition group_mask (i : I) : list I :=
  filter (fun j => is_in_group (group i) j && (positions j <=? positions i)%Z) all.

Definition grouped : prompt D I := Prompt tokens positions group_mask.

Definition members (g : nat) (i : I) : Prop := In i all /\ group i = Some g.

Lemma in_group_mask g i j :
  group i = Some g ->
  In j (group_mask i) <-> members g j /\ (positions j <= positions i)%Z.
Proof.
  intros E; clear tokens; unfold group_mask, members, is_in_group.
  rewrite filter_In, E, andb_true_iff, Z.leb_le.
  destruct (group j) as [h|].
  - rewrite Nat.eqb_eq; intuition congruence.
  - intuition discriminate.
Qed.
End Groups.

(** DEC-5: the tokens of a scaffold see the tokens of the scaffold alone. So wherever a prompt has
    all of these tokens at the same positions, in whatever order and between whatever others, they
    have the same states, keys and values. *)
Theorem scaffold_under_group_mask {D I I'} all tokens positions group g
    all' tokens' positions' group' g' (f : I -> I') :
  let P := @grouped D I all tokens positions group in
  let Q := @grouped D I' all' tokens' positions' group' in
  NoDup all -> NoDup all' ->
  (forall i j, members all group g i -> members all group g j -> f i = f j -> i = j) ->
  (forall y, members all' group' g' y <-> exists i, members all group g i /\ f i = y) ->
  (forall i, members all group g i ->
    tokens i = tokens' (f i) /\ positions i = positions' (f i)) ->
  forall l i, members all group g i ->
    state_at P l i = state_at Q l (f i) /\ kv_at P l i = kv_at Q l (f i).
Proof.
  intros P Q once once' inj onto same l i Mi.
  apply (closed_set_under_mask P (members all group g)); auto.
  - intros a b [_ Ga] inb; apply in_group_mask with (g := g) in inb; tauto.
  - intros a; apply NoDup_filter, once.
  - intros a; apply NoDup_filter, once'.
  - intros a y Ma.
    assert (group' (f a) = Some g') as Gf by (apply (onto (f a)); exists a; auto).
    assert (group a = Some g) as Ga by apply Ma.
    change (In y (group_mask all' positions' group' (f a)) <->
      exists j, In j (group_mask all positions group a) /\ f j = y).
    rewrite in_group_mask with (g := g') by exact Gf; rewrite onto.
    destruct (same a Ma) as [_ Ea]; split.
    + intros ((j & Mj & E) & le); exists j; split; [|exact E].
      rewrite in_group_mask with (g := g) by exact Ga; split; [exact Mj|].
      destruct (same j Mj) as [_ Ej]; rewrite Ej, Ea, E; exact le.
    + intros (j & inj' & E); rewrite in_group_mask with (g := g) in inj' by exact Ga.
      destruct inj' as [Mj le]; split; [exists j; auto|].
      destruct (same j Mj) as [_ Ej]; rewrite <- E, <- Ea, <- Ej; exact le.
Qed.

(** ** DEC-6: the order of what is seen *)

(** DEC-6: the order in which the keys and values of the seen tokens are laid out changes no state,
    at no layer: each entry has its position with it. *)
Theorem order_of_layout {D I} (P : prompt D I) layout :
  (forall i, Permutation (sees P i) (layout i)) ->
  forall l i,
    state_at P l i = state_at (Prompt (token_of P) (position_of P) layout) l i /\
    kv_at P l i = kv_at (Prompt (token_of P) (position_of P) layout) l i.
Proof.
  intros Pe l i.
  apply (closed_set_decides P (fun _ => True) _ (fun i => i)); auto.
  - intros a b; auto.
  - intros a _; simpl; rewrite map_id; auto.
Qed.

(** ** DEC-7: cached inference *)

(** The tokens in a cache have their entries there, one for each layer; the states of the others are
    computed. What a token reads of the cache may lie in any order (sees P). *)
Section Cached.
Context {D : decoder} {I : Type}.
Variables (P : prompt D I) (is_cached : I -> bool) (cache : nat -> I -> Z * kv D).

Fixpoint cached_state (l : nat) (i : I) : state D :=
  match l with
  | O => embed D (token_of P i) (position_of P i)
  | S k => advance D k (cached_state k i) (position_of P i)
      (map (fun j => if is_cached j then cache k j
                     else (position_of P j, project D k (cached_state k j) (position_of P j)))
           (sees P i))
  end.

(** DEC-7: if the cache holds the entries that the decoder has over the whole prompt, as far as they
    are read, the states of the other tokens are those of the decoder over the whole prompt. *)
Theorem cached_is_whole :
  (forall i j, is_cached i = false -> In j (sees P i) -> is_cached j = true ->
    forall l, cache l j = entry_at P l j) ->
  forall l i, is_cached i = false -> cached_state l i = state_at P l i.
Proof.
  intros right; induction l as [|l IH]; intros i new; [reflexivity|].
  rewrite state_at_next; simpl; rewrite IH by exact new; f_equal.
  apply map_ext_in; intros j inj; destruct (is_cached j) eqn:E; [apply (right i); assumption|].
  rewrite IH by exact E; reflexivity.
Qed.
End Cached.

(** DEC-7: the cache was filled by other prompts (modules, scaffolds, earlier turns), each of them
    computed apart: source j is the prompt that computed token j, at_source j its number there. If
    each of these tokens belongs to a closed set that the prompt has as it was there, computing the
    rest alone gives the states of the decoder over the whole prompt, for any order in which the
    cached entries are concatenated. *)
Theorem cached_inference_is_exact {D I I'} (P : prompt D I) is_cached
    (source : I -> prompt D I') (at_source : I -> I') layout :
  (forall i, Permutation (sees P i) (layout i)) ->
  (forall i j, is_cached i = false -> In j (sees P i) -> is_cached j = true -> exists X f,
    closed (source j) X /\ agree (source j) X P f /\ X (at_source j) /\ f (at_source j) = j) ->
  let laid_out := Prompt (token_of P) (position_of P) layout in
  let cache := fun l j => entry_at (source j) l (at_source j) in
  forall l i, is_cached i = false -> cached_state laid_out is_cached cache l i = state_at P l i.
Proof.
  intros Pe apart laid_out cache l i new.
  rewrite (cached_is_whole laid_out is_cached cache); auto;
    [symmetry; apply (order_of_layout P layout Pe)|].
  clear l i new; intros i j new inj cj l.
  destruct (apart i j new) as (X & f & C & G & Xj & E); auto.
  { apply Permutation_in with (layout i); [apply Permutation_sym, Pe | exact inj]. }
  destruct (closed_set_decides _ _ _ _ C G l _ Xj) as [_ Ek].
  destruct (G _ Xj) as (_ & Ep & _); unfold cache, entry_at; rewrite Ek, Ep, E; f_equal.
  apply (order_of_layout P layout Pe).
Qed.

(** DEC-7: modules that were encoded by themselves, and new text. For any order of the modules in
    the cache, computing the new text alone gives what the decoder computes over the whole prompt
    with the block mask. *)
Theorem cached_modules_are_exact {D} (x : token D) n modules layout :
  (forall i, Permutation (block_mask n modules i) (layout i)) ->
  let whole := modular x n modules in
  let laid_out := Prompt (token_of whole) (position_of whole) layout in
  let cache := fun l j => entry_at (alone x (modules (fst j))) l (snd j) in
  let is_module := fun j => fst j <? n in
  forall l i, is_module i = false ->
    cached_state laid_out is_module cache l i = state_at whole l i.
Proof.
  intros Pe whole laid_out cache is_module l i new.
  apply (cached_inference_is_exact whole _ (fun j => alone x (modules (fst j))) snd); auto.
  intros _ [m r] _ _ lt; unfold is_module in lt; simpl fst in *; simpl snd in *.
  exists (fun _ => True), (pair m); split; [|split; [|auto]].
  - intros a b; auto.
  - intros a _; simpl; split; [|split]; auto; rewrite lt; reflexivity.
Qed.
