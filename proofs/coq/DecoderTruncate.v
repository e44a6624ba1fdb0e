(* SPDX-License-Identifier: Apache-2.0 *)
(** * What is left of a cache whose oldest tokens were dropped (spec/decoder.md: DEC-10, DEC-11) *)
From Coq Require Import Reals ZArith List Permutation Arith Lra Lia.
From Chunkproof Require Import Softmax Decoder DecoderMove.
Import ListNotations.
Open Scope R_scope.

(** Recomputation: the kept tokens see kept tokens alone, and stand t further. *)
Definition recomputed {D I} (P : prompt D I) (kept : I -> bool) (t : Z) : prompt D I :=
  Prompt (token_of P) (fun i => position_of P i + t)%Z (fun i => filter kept (sees P i)).

(** ** DEC-10: what stays right, and what does not *)

(** DEC-10: at the first layer the kept keys and values, moved, are those of recomputation. *)
Theorem first_layer_survives {D I} (P : prompt D I) shift kept t :
  moves D shift ->
  forall i, kv_at (recomputed P kept t) 0 i = shift t (kv_at P 0 i).
Proof.
  intros M i; unfold kv_at; simpl; rewrite (embed_moves _ _ M); apply (project_moves _ _ M).
Qed.

(** The decoder of the counterexample: tokens are numbers, a state is a number, key and value have
    it in each component. The query is zeros, so that attention is the mean of the values, and the
    mean is the next state. *)
Definition mean_transformer : transformer :=
  Transformer R R (fun w _ => w) 1 (le_n 1) 1 (fun _ => 1) 1 (fun a => a)
    (fun _ _ _ => zeros) (fun _ x _ _ => x) (fun _ x _ _ => x) (fun _ _ _ _ => 0)
    (fun _ _ out => out 0%nat 0%nat).

Lemma mean_transformer_is_relative : relative mean_transformer.
Proof. split; reflexivity. Qed.

Definition mean_decoder : decoder := decoder_of mean_transformer.

(** Two tokens: 0, which is dropped, and 1, which is kept and moves from position 1 to 0. *)
Definition two_tokens : prompt mean_decoder nat := causal (D := mean_decoder) 0 [0; 1].
Definition second_kept : prompt mean_decoder nat :=
  recomputed two_tokens (fun i => i =? 1)%nat (-1).

Lemma key_for_zeros l a x p e : key_for mean_transformer l a x p e = Key 0 (snd (snd e) a).
Proof.
  unfold key_for; simpl; f_equal; unfold score_of; simpl.
  unfold turn, rotate, zeros; simpl; ring.
Qed.

Lemma mean_of_one l x p e : advance mean_decoder l x p [e] = snd (snd e) 0%nat 0%nat.
Proof.
  change (attend mean_transformer l x p [e] 0%nat 0%nat = snd (snd e) 0%nat 0%nat).
  unfold attend; simpl map; rewrite key_for_zeros; unfold attention, A, W; simpl.
  rewrite exp_0; field.
Qed.

Lemma mean_of_two l x p e f :
  advance mean_decoder l x p [e; f] = (snd (snd e) 0%nat 0%nat + snd (snd f) 0%nat 0%nat) / 2.
Proof.
  change (attend mean_transformer l x p [e; f] 0%nat 0%nat =
    (snd (snd e) 0%nat 0%nat + snd (snd f) 0%nat 0%nat) / 2).
  unfold attend; simpl map; rewrite !key_for_zeros; unfold attention, A, W; simpl.
  rewrite exp_0; field.
Qed.

Lemma first_state l : state_at two_tokens l 0%nat = 0.
Proof.
  induction l as [|l IH]; [reflexivity|].
  rewrite state_at_next; simpl sees; simpl map; rewrite mean_of_one; exact IH.
Qed.

Lemma second_state l : state_at two_tokens l 1%nat = (/ 2) ^ l.
Proof.
  induction l as [|l IH]; [reflexivity|].
  rewrite state_at_next; simpl sees; simpl map; rewrite mean_of_two.
  change ((state_at two_tokens l 0%nat + state_at two_tokens l 1%nat) / 2 = (/ 2) ^ S l).
  rewrite first_state, IH; simpl; field.
Qed.

Lemma second_recomputed l : state_at second_kept l 1%nat = 1.
Proof.
  induction l as [|l IH]; [reflexivity|].
  rewrite state_at_next; simpl sees; simpl map; rewrite mean_of_one; exact IH.
Qed.

(** DEC-10: behind the first layer they are not, at any layer: the state of the kept token is 1/2,
    1/4, 1/8 and so on, and 1 when it is recomputed. Its key, moved, and its value differ too. *)
Theorem later_layers_do_not_survive l :
  (1 <= l)%nat ->
  let kept := shift_kv mean_transformer (-1) (kv_at two_tokens l 1%nat) in
  let anew := kv_at second_kept l 1%nat in
  snd kept 0%nat 0%nat = (/ 2) ^ l /\ snd anew 0%nat 0%nat = 1 /\
  fst kept 0%nat 0%nat = (/ 2) ^ l /\ fst anew 0%nat 0%nat = 1 /\
  (/ 2) ^ l <> 1.
Proof.
  intros some kept anew.
  assert ((/ 2) ^ l <> 1) as differ.
  { destruct l as [|l]; [lia|]; simpl; assert (0 < (/ 2) ^ l <= 1); [|lra].
    clear; induction l as [|l IH]; simpl; lra. }
  assert (forall x, turn mean_transformer 0 x = x) as still
    by (intros x; unfold turn; apply rotate_by_0).
  assert (snd kept 0%nat 0%nat = (/ 2) ^ l) as E1 by exact (second_state l).
  assert (snd anew 0%nat 0%nat = 1) as E2 by exact (second_recomputed l).
  assert (fst anew = fun _ => turn mean_transformer 0 (fun _ => state_at second_kept l 1%nat))
    as E4 by reflexivity.
  assert (fst kept = fun _ => turn mean_transformer (-1)
    (turn mean_transformer 1 (fun _ => state_at two_tokens l 1%nat))) as E3 by reflexivity.
  repeat split; auto.
  - rewrite E3, second_state; unfold turn; rewrite rotations_add by exact (le_n 1).
    replace (IZR 1 + IZR (-1)) with 0 by (simpl; lra); rewrite rotate_by_0; reflexivity.
  - rewrite E4, second_recomputed, still; reflexivity.
Qed.

(** The same numbers at layer 1, as DEC-10 has them: 1/2 is kept, 1 is recomputed. *)
Example kept_and_recomputed :
  state_at two_tokens 1 1%nat = 1 / 2 /\ state_at second_kept 1 1%nat = 1.
Proof. rewrite second_state, second_recomputed; simpl; lra. Qed.

(** ** DEC-11: what a truncated cache computes *)

(** Old tokens (inl), which saw each other, and new ones (inr). back y are the old tokens that the
    new token y would see, looks y the new ones. *)
Section Truncated.
Context {D : decoder} {I J : Type}.
Variables (old : prompt D I) (kept : I -> bool).
Variables (new_token : J -> token D) (new_position : J -> Z) (back : J -> list I)
  (looks : J -> list J).

(** The mask: old tokens see what they saw, dropped ones too; new tokens see no dropped token. *)
Definition truncated_mask (x : I + J) : list (I + J) :=
  match x with
  | inl i => map inl (sees old i)
  | inr y => map inl (filter kept (back y)) ++ map inr (looks y)
  end.

Definition continued : prompt D (I + J) :=
  Prompt (fun x => match x with inl i => token_of old i | inr y => new_token y end)
         (fun x => match x with inl i => position_of old i | inr y => new_position y end)
         truncated_mask.

Definition is_old (x : I + J) : bool := match x with inl _ => true | inr _ => false end.

(** The cache after truncation: the entries of the kept tokens, moved by t. It has nothing (here:
    anything, `lost`) of the dropped ones. *)
Definition truncated_cache (shift : Z -> kv D -> kv D) (t : Z) (lost : Z * kv D) (l : nat)
    (x : I + J) : Z * kv D :=
  match x with
  | inl i => if kept i then (position_of old i + t, shift t (kv_at old l i))%Z else lost
  | inr _ => lost
  end.

Lemma continued_keeps_old l i :
  kv_at continued l (inl i) = kv_at old l i.
Proof.
  destruct (closed_set_decides old (fun _ => True) continued inl) with (l := l) (i := i);
    auto; [intros a b; auto|].
  intros a _; simpl; auto.
Qed.

(** DEC-11: with a truncated cache new tokens get the states of the decoder over the whole prompt,
    in which the kept tokens have seen the dropped ones and the new ones do not see them. Kept keys
    and new tokens may be moved by t together. *)
Theorem truncated_cache_is_masked_decoder shift t lost :
  moves D shift ->
  forall l y,
    cached_state (moved t continued) is_old (truncated_cache shift t lost) l (inr y) =
    state_at continued l (inr y).
Proof.
  intros M l y; rewrite cached_is_whole; [apply (moved_prompt continued shift t M) | | reflexivity].
  intros [i|z] j new inj cj k; [discriminate|].
  destruct j as [i|z']; [|discriminate]; simpl in inj; apply in_app_iff in inj.
  destruct inj as [inj|inj]; apply in_map_iff in inj; destruct inj as (i' & E & inj);
    [|discriminate].
  injection E as E; subst i'; apply filter_In in inj; destruct inj as [_ ki].
  simpl; rewrite ki; unfold entry_at; simpl; f_equal.
  rewrite (proj2 (moved_prompt continued shift t M k (inl i))), continued_keeps_old; reflexivity.
Qed.
End Truncated.
