(* SPDX-License-Identifier: Apache-2.0 *)
(** * Rotary positions, real attention, and prompts that are moved (spec/decoder.md: DEC-6, DEC-8,
    DEC-9) *)
From Coq Require Import Reals ZArith List Permutation FunctionalExtensionality Arith FinFun Lra Lia.
From Chunkproof Require Import Softmax Decoder.
Import ListNotations.
Open Scope R_scope.

(** ** DEC-8: rotations of pairs of coordinates

    Coordinate i is rotated together with the one h further, or h before: with h = 1 neighbours are
    a pair, with h half of the head coordinate i and coordinate h + i. *)
Section Rotation.
Variables (h : nat) (frequency : nat -> R).

Definition is_first (i : nat) : bool := Nat.even (i / h).
Definition partner (i : nat) : nat := if is_first i then (i + h)%nat else (i - h)%nat.
Definition pair_of (i : nat) : nat := (i / h / 2 * h + i mod h)%nat.
Definition sign (i : nat) : R := if is_first i then -1 else 1.
Definition theta (i : nat) : R := frequency (pair_of i).

(** R_p: (x, y) becomes (cos x - sin y, sin x + cos y), of the angle p theta. *)
Definition rotate (p : R) (x : vector) : vector := fun i =>
  cos (p * theta i) * x i + sign i * sin (p * theta i) * x (partner i).

Hypothesis h_positive : (1 <= h)%nat.

Lemma partner_of_first i :
  is_first i = true -> is_first (i + h) = false /\ pair_of (i + h) = pair_of i.
Proof.
  unfold is_first, pair_of; intros E.
  replace ((i + h) / h)%nat with (S (i / h))
    by (replace (i + h)%nat with (i + 1 * h)%nat by lia; rewrite Nat.div_add; lia).
  replace ((i + h) mod h)%nat with (i mod h)
    by (replace (i + h)%nat with (i + 1 * h)%nat by lia; rewrite Nat.mod_add; lia).
  rewrite Nat.even_succ, <- Nat.negb_even, E; split; [reflexivity|].
  apply Nat.even_spec in E; destruct E as [q E]; rewrite E.
  replace (S (2 * q)) with (1 + q * 2)%nat by lia; rewrite Nat.div_add by lia.
  replace (2 * q)%nat with (0 + q * 2)%nat by lia; rewrite Nat.div_add by lia; reflexivity.
Qed.

Lemma second_from_first i : is_first i = false -> exists j, i = (j + h)%nat /\ is_first j = true.
Proof.
  unfold is_first; intros E; assert (h <= i)%nat as ge.
  { destruct (le_lt_dec h i) as [ge|lt]; [exact ge|].
    rewrite Nat.div_small in E by exact lt; discriminate. }
  exists (i - h)%nat; split; [lia|].
  replace i with (i - h + 1 * h)%nat in E by lia; rewrite Nat.div_add, Nat.add_1_r in E by lia.
  rewrite Nat.even_succ, <- Nat.negb_even in E; apply Bool.negb_false_iff, E.
Qed.

Lemma partner_is_partner i :
  partner (partner i) = i /\ theta (partner i) = theta i /\ sign (partner i) = - sign i.
Proof.
  unfold theta, sign, partner; destruct (is_first i) eqn:E.
  - destruct (partner_of_first i E) as [-> ->]; repeat split; [lia | lra].
  - destruct (second_from_first i E) as (j & -> & Ej).
    destruct (partner_of_first j Ej) as [_ ->].
    replace (j + h - h)%nat with j by lia; rewrite Ej; repeat split; lra.
Qed.

Lemma sign_square i : sign i * sign i = 1.
Proof. unfold sign; destruct (is_first i); lra. Qed.

(** A head of m such groups of 2 h coordinates. *)
Lemma partner_in_head m i : (i < m * (2 * h))%nat -> (partner i < m * (2 * h))%nat.
Proof.
  unfold partner; destruct (is_first i) eqn:E; [|lia].
  unfold is_first in E; apply Nat.even_spec in E; destruct E as [q E]; intros lt.
  pose proof (Nat.div_mod i h ltac:(lia)) as di; pose proof (Nat.mod_upper_bound i h ltac:(lia)).
  rewrite E in di; assert (q < m)%nat by nia; nia.
Qed.

(** ** Sums over the coordinates *)

Definition total (f : nat -> R) (l : list nat) : R := fold_right (fun i x => f i + x) 0 l.

Lemma total_app f l l' : total f (l ++ l') = total f l + total f l'.
Proof. induction l as [|i l IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma total_permutation f l l' : Permutation l l' -> total f l = total f l'.
Proof. induction 1; simpl; lra. Qed.

Lemma total_map f g l : total f (map g l) = total (fun i => f (g i)) l.
Proof. induction l as [|i l IH]; simpl; [reflexivity | rewrite IH; reflexivity]. Qed.

Lemma total_plus f g l : total (fun i => f i + g i) l = total f l + total g l.
Proof. induction l as [|i l IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma total_ext f g l : (forall i, f i = g i) -> total f l = total g l.
Proof. intros E; induction l as [|i l IH]; simpl; [reflexivity | rewrite E, IH; reflexivity]. Qed.

Lemma dot_is_total d q k : dot d q k = total (fun i => q i * k i) (seq 0 d).
Proof.
  induction d as [|d IH]; [reflexivity|].
  rewrite seq_S, total_app, <- IH; simpl; ring.
Qed.

Lemma partners_permute m :
  Permutation (map partner (seq 0 (m * (2 * h)))) (seq 0 (m * (2 * h))).
Proof.
  apply NoDup_Permutation; [|apply seq_NoDup|].
  - apply Injective_map_NoDup; [|apply seq_NoDup].
    intros i j E; rewrite <- (proj1 (partner_is_partner i)), E; apply partner_is_partner.
  - intros y; rewrite in_map_iff; split.
    + intros (i & <- & ini); apply in_seq in ini; apply in_seq; split; [lia|].
      apply partner_in_head; lia.
    + intros iny; apply in_seq in iny; exists (partner y); split; [apply partner_is_partner|].
      apply in_seq; split; [lia | apply partner_in_head; lia].
Qed.

(** DEC-8: a rotation by j and then by t is a rotation by j + t. A key that was rotated to position
    j is moved to j + t in place. *)
Theorem rotations_add t j k : rotate t (rotate j k) = rotate (j + t) k.
Proof.
  apply vector_eq; intros i; unfold rotate.
  destruct (partner_is_partner i) as (-> & -> & ->); pose proof (sign_square i) as one.
  rewrite Rmult_plus_distr_r, cos_plus, sin_plus.
  generalize dependent (sign i); intros s one.
  replace (cos (t * theta i) * (cos (j * theta i) * k i + s * sin (j * theta i) * k (partner i)) +
    s * sin (t * theta i) *
      (cos (j * theta i) * k (partner i) + - s * sin (j * theta i) * k i))
    with (cos (t * theta i) * (cos (j * theta i) * k i + s * sin (j * theta i) * k (partner i)) +
      s * sin (t * theta i) * cos (j * theta i) * k (partner i) -
      s * s * (sin (t * theta i) * sin (j * theta i) * k i)) by ring.
  rewrite one; ring.
Qed.

Lemma rotate_by_0 k : rotate 0 k = k.
Proof.
  apply vector_eq; intros i; unfold rotate; rewrite Rmult_0_l, cos_0, sin_0; ring.
Qed.

(** DEC-8: the product of a rotated query and a rotated key depends on the difference of their
    positions alone. *)
Theorem rotated_product m p j q k :
  let d := (m * (2 * h))%nat in
  dot d (rotate p q) (rotate j k) = dot d q (rotate (j - p) k).
Proof.
  intros d; unfold d; clear d; rewrite !dot_is_total.
  set (f := fun i => cos (p * theta i) * cos (j * theta i) * q i * k i +
    sign i * cos (p * theta i) * sin (j * theta i) * q i * k (partner i)).
  set (g := fun i => sin (p * theta i) * sin (j * theta i) * q (partner i) * k (partner i) +
    sign i * sin (p * theta i) * cos (j * theta i) * q (partner i) * k i).
  transitivity (total f (seq 0 (m * (2 * h))) + total g (seq 0 (m * (2 * h)))).
  - rewrite <- total_plus; apply total_ext; intros i; unfold f, g, rotate.
    pose proof (sign_square i) as one; generalize dependent (sign i); intros s one.
    transitivity (cos (p * theta i) * cos (j * theta i) * q i * k i +
      s * cos (p * theta i) * sin (j * theta i) * q i * k (partner i) +
      (s * s * (sin (p * theta i) * sin (j * theta i) * q (partner i) * k (partner i)) +
       s * sin (p * theta i) * cos (j * theta i) * q (partner i) * k i));
      [ring | rewrite one; ring].
  - rewrite <- (total_permutation g _ _ (partners_permute m)), total_map, <- total_plus.
    apply total_ext; intros i; unfold f, g, rotate.
    destruct (partner_is_partner i) as (-> & -> & ->).
    rewrite Rmult_minus_distr_r, cos_minus, sin_minus; ring.
Qed.

(** DEC-8: so it stays the same when both are moved by t. *)
Theorem rotated_product_moves m p j t q k :
  let d := (m * (2 * h))%nat in
  dot d (rotate (p + t) q) (rotate (j + t) k) = dot d (rotate p q) (rotate j k).
Proof.
  intros d; unfold d; rewrite !rotated_product.
  replace (j + t - (p + t)) with (j - p) by ring; reflexivity.
Qed.
End Rotation.

(** ** Real attention

    A layer with multi-head attention over rotated keys (spec/softmax.md), a bias that may depend on
    both positions, and whatever else: projections, norms, feed-forward networks and sums of the
    layer are in query_of, key_of, value_of and finish_layer. Without rotation the frequencies are
    0; without a bias it is 0. *)
Record transformer := Transformer {
  word : Type;
  stream : Type;                                  (* what passes from layer to layer *)
  start : word -> Z -> stream;
  span : nat; span_positive : (1 <= span)%nat;    (* h above *)
  groups : nat;                                   (* of 2 h coordinates in a head *)
  frequencies : nat -> R;
  attention_scale : R;
  kv_head_of : nat -> nat;                        (* of a query head *)
  query_of : nat -> stream -> nat -> vector;      (* layer, state, head *)
  key_of : nat -> stream -> nat -> vector;
  value_of : nat -> stream -> nat -> vector;
  bias : nat -> nat -> Z -> Z -> R;               (* layer, head, positions of query and key *)
  finish_layer : nat -> stream -> (nat -> vector) -> stream
}.

Definition head_size (T : transformer) : nat := (groups T * (2 * span T))%nat.
Definition turn (T : transformer) (p : Z) : vector -> vector :=
  rotate (span T) (frequencies T) (IZR p).

(** Keys and values of all heads at a position. *)
Definition keys_values : Type := (nat -> vector) * (nat -> vector).

(** What a query of head a at position p makes of an entry: a score and a value. *)
Definition key_for (T : transformer) (l a : nat) (x : stream T) (p : Z) (e : Z * keys_values) :=
  Key (score_of (attention_scale T) (head_size T) (turn T p (query_of T l x a))
         (fst (snd e) (kv_head_of T a)) + bias T l a p (fst e))
      (snd (snd e) (kv_head_of T a)).

Definition attend (T : transformer) (l : nat) (x : stream T) (p : Z) (J : list (Z * keys_values)) :=
  fun a => attention (map (key_for T l a x p) J).

(** DEC-1: attention does not depend on the order of the entries. *)
Theorem attend_permutation T l x p J K : Permutation J K -> attend T l x p J = attend T l x p K.
Proof.
  intros Pe; apply functional_extensionality; intros a; unfold attend.
  apply attention_permutation, Permutation_map, Pe.
Qed.

Definition decoder_of (T : transformer) : decoder :=
  Decoder (word T) (stream T) keys_values (start T)
    (fun l x p => (fun g => turn T p (key_of T l x g), value_of T l x))
    (fun l x p J => finish_layer T l x (attend T l x p J))
    (fun l x p J K Pe => f_equal (finish_layer T l x) (attend_permutation T l x p J K Pe)).

(** ** DEC-9: moving *)

(** A decoder moves, with `shift` on its keys and values, when they alone have the position. *)
Record moves (D : decoder) (shift : Z -> kv D -> kv D) : Prop := Moves {
  embed_moves : forall w p t, embed D w (p + t) = embed D w p;
  project_moves : forall l x p t, project D l x (p + t) = shift t (project D l x p);
  advance_moves : forall l x p t J,
    advance D l x (p + t) (map (fun e => (fst e + t, shift t (snd e)))%Z J) = advance D l x p J
}.

Definition moved {D I} (t : Z) (P : prompt D I) : prompt D I :=
  Prompt (token_of P) (fun i => position_of P i + t)%Z (sees P).

(** DEC-9: a prompt that is moved by t has the same states at every layer, and its keys and values
    are those of the prompt, shifted by t. *)
Theorem moved_prompt {D I} (P : prompt D I) shift t :
  moves D shift ->
  forall l i,
    state_at (moved t P) l i = state_at P l i /\
    kv_at (moved t P) l i = shift t (kv_at P l i).
Proof.
  intros M; assert (forall l i, state_at (moved t P) l i = state_at P l i) as same.
  { induction l as [|l IH]; intros i; [apply (embed_moves _ _ M)|].
    rewrite !state_at_next, IH.
    rewrite <- (advance_moves _ _ M _ _ _ t (map (entry_at P l) (sees P i))), map_map; simpl.
    f_equal; apply map_ext; intros j; unfold entry_at, kv_at; rewrite IH; simpl.
    rewrite (project_moves _ _ M); reflexivity. }
  intros l i; split; [apply same|].
  unfold kv_at; rewrite same; apply (project_moves _ _ M).
Qed.

(** Keys are rotated by t, values stay. *)
Definition shift_kv (T : transformer) (t : Z) (e : keys_values) : keys_values :=
  (fun g => turn T t (fst e g), snd e).

(** Positions are in the rotation, or in a bias by their difference, and nowhere else. *)
Definition relative (T : transformer) : Prop :=
  (forall w p t, start T w (p + t)%Z = start T w p) /\
  (forall l a p j t, bias T l a (p + t)%Z (j + t)%Z = bias T l a p j).

(** DEC-9: attention of a query at p over keys at any positions is that of the query at p + t over
    the keys that were moved by t. *)
Theorem attention_moves T l x p t J :
  relative T ->
  attend T l x (p + t) (map (fun e => (fst e + t, shift_kv T t (snd e)))%Z J) = attend T l x p J.
Proof.
  intros [_ B]; apply functional_extensionality; intros a; unfold attend; rewrite map_map; f_equal.
  apply map_ext; intros [j [k v]]; unfold key_for; simpl; rewrite B; do 2 f_equal.
  unfold score_of, turn, head_size; f_equal; rewrite plus_IZR.
  pose proof (rotated_product_moves (span T) (frequencies T) (span_positive T) (groups T)
    (IZR p) 0 (IZR t) (query_of T l x a) (k (kv_head_of T a))) as E; cbv zeta in E.
  rewrite Rplus_0_l, rotate_by_0 in E; exact E.
Qed.

Lemma relative_moves T : relative T -> moves (decoder_of T) (shift_kv T).
Proof.
  intros Rt; split; simpl.
  - apply Rt.
  - intros l x p t; unfold shift_kv; simpl; f_equal; apply functional_extensionality; intros g.
    unfold turn; rewrite rotations_add, plus_IZR; [reflexivity | apply span_positive].
  - intros l x p t J; f_equal; apply attention_moves, Rt.
Qed.

(** DEC-9: so a prompt of a decoder with rotary positions may be moved: all states stay, values
    stay, and keys are rotated by t. *)
Theorem rotary_prompt_moves T {I} (P : prompt (decoder_of T) I) t :
  relative T ->
  forall l i,
    state_at (moved t P) l i = state_at P l i /\
    kv_at (moved t P) l i = shift_kv T t (kv_at P l i).
Proof. intros Rt; apply moved_prompt, relative_moves, Rt. Qed.

(** A placed text with its positions moved by t. *)
Definition place {D} (t : Z) (text : placed D) : placed D :=
  map (fun e => (fst e, snd e + t)%Z) text.

Lemma nth_of_place {D} t (text : placed D) x i :
  (i < length text)%nat ->
  nth i (place t text) (x, 0%Z) = (fst (nth i text (x, 0%Z)), snd (nth i text (x, 0%Z)) + t)%Z.
Proof.
  intros lt; rewrite nth_indep with (d' := (fst (x, 0%Z), snd (x, 0%Z) + t)%Z)
    by (unfold place; rewrite map_length; exact lt).
  exact (map_nth (fun e => (fst e, snd e + t)%Z) text (x, 0%Z) i).
Qed.

(** DEC-9: so a module may be encoded at any positions, and be moved to its place in a prompt when
    it is loaded: states stay, and the keys and values are shifted. *)
Theorem module_encoded_elsewhere {D} (x : token D) shift n modules m t text :
  moves D shift -> (m < n)%nat -> modules m = place t text ->
  forall l r, (r < length text)%nat ->
    state_at (modular x n modules) l (m, r) = state_at (alone x text) l r /\
    kv_at (modular x n modules) l (m, r) = shift t (kv_at (alone x text) l r).
Proof.
  intros M lt E l r inr.
  destruct (moved_prompt (alone x text) shift t M l r) as [<- <-].
  destruct (module_is_as_alone x n modules m lt l r) as [-> ->]; rewrite E.
  apply (closed_set_decides (alone x (place t text)) (fun i => i < length text)%nat
    (moved t (alone x text)) (fun i => i)); [| | exact inr].
  - intros i j li inj; apply in_seq in inj; lia.
  - intros i li; simpl.
    rewrite nth_of_place, map_id by exact li; auto.
Qed.

(** DEC-9: modules that were encoded anywhere, moved to their places when they are loaded, and laid
    out in any order: computing the new text alone gives what the decoder computes over the whole
    prompt with the block mask (DEC-7). *)
Theorem moved_modules_are_exact {D} (x : token D) shift n modules t text layout :
  moves D shift ->
  (forall m, (m < n)%nat -> modules m = place (t m) (text m)) ->
  (forall i, Permutation (block_mask n modules i) (layout i)) ->
  let whole := modular x n modules in
  let laid_out := Prompt (token_of whole) (position_of whole) layout in
  let by_itself := fun j => alone x (text (fst j)) in
  let cache := fun l j => (position_of (by_itself j) (snd j) + t (fst j),
    shift (t (fst j)) (kv_at (by_itself j) l (snd j)))%Z in
  let is_module := fun j => (fst j <? n)%nat in
  forall l i, is_module i = false ->
    cached_state laid_out is_module cache l i = state_at whole l i.
Proof.
  intros M E Pe whole laid_out by_itself cache is_module l i new.
  rewrite cached_is_whole; auto; [symmetry; apply (order_of_layout whole layout Pe)|].
  clear l i new; intros [m' r'] [m r] new inj is l; unfold is_module in *; simpl fst in *.
  apply Nat.ltb_lt in is; apply Nat.ltb_ge in new.
  assert (r < length (text m))%nat as inr.
  { apply (Permutation_in _ (Permutation_sym (Pe (m', r')))) in inj; unfold block_mask in inj.
    replace (m' <? n)%nat with false in inj by (symmetry; apply Nat.ltb_ge, new).
    apply in_app_iff in inj; destruct inj as [inj|inj].
    - apply in_flat_map in inj; destruct inj as (a & _ & inj); apply in_map_iff in inj.
      destruct inj as (b & Eb & inb); injection Eb as -> ->; apply in_seq in inb.
      rewrite E in inb by exact is; unfold place in inb; rewrite map_length in inb; lia.
    - apply in_map_iff in inj; destruct inj as (b & Eb & _); injection Eb as Em _; lia. }
  unfold cache, by_itself, entry_at; simpl fst; simpl snd.
  destruct (order_of_layout whole layout Pe l (m, r)) as [_ same].
  fold laid_out in same; rewrite <- same; unfold whole.
  destruct (module_encoded_elsewhere x shift n modules m (t m) (text m) M is (E m is) l r inr)
    as [_ ->].
  f_equal; simpl; rewrite (E m is), nth_of_place by exact inr; reflexivity.
Qed.

(** ** DEC-6: where order does matter *)

(** A bias by the place in the list: slope for each key before it. *)
Definition counted (slope : R) (J : list key) : list key :=
  map (fun e => Key (score (snd e) + INR (fst e) * slope) (value (snd e)))
      (combine (seq 0 (length J)) J).

Definition value_0 : key := Key 0 (fun _ => 0).
Definition value_1 : key := Key 0 (fun _ => 1).

(** DEC-6: with a position that is counted from the layout, two keys suffice for another result:
    2/3 in one order, 1/3 in the other. *)
Theorem counted_positions_see_the_order :
  attention (counted (ln 2) [value_0; value_1]) 0%nat = 2 / 3 /\
  attention (counted (ln 2) [value_1; value_0]) 0%nat = 1 / 3.
Proof.
  unfold attention, counted, W, A; simpl.
  rewrite Rmult_0_l, Rmult_1_l, !Rplus_0_l, exp_0, exp_ln by lra; split; field.
Qed.
