(* SPDX-License-Identifier: Apache-2.0 *)
(** * The examples of spec/modules.md, computed (MOD-3, MOD-4)

    With the decoder of DEC-10: a state is a number, the next one the mean of what is seen. *)
From Coq Require Import Reals ZArith List Permutation Arith Bool Lra Lia.
From Chunkproof Require Import Softmax Decoder DecoderMove DecoderTruncate DecoderExamples Modules.
Import ListNotations.
Open Scope nat_scope.

(** ** The travel guide *)

(** Modules have the numbers of their parts: 0 the schema, 2 trip-plan, 6 tokyo and 8 miami, which
    are the members of union 5. Two scaffolds, of which no prompt can have both. *)
Definition guide_union (m : nat) : option nat := if has [6; 8] m then Some 5 else None.

Definition guide : schema :=
  Schema (fun _ => 0) guide_union [[2; 6]; [2; 8]] (fun m positive => positive).

(** The guide keeps the rule of MOD-3. *)
Example guide_is_orderly : orderly guide.
Proof.
  intros s t m [<-|[<-|[]]] [<-|[<-|[]]] _ _; auto using incl_refl.
  - right; right; intros imports possible; apply not_true_iff_false; intros both.
    apply andb_true_iff in both; rewrite !applies_all in both; destruct both as [A B].
    assert (6 = 8); [|discriminate].
    apply (imports_one_of_union _ _ possible 6 8 5); try reflexivity;
      [apply A | apply B]; simpl; auto.
  - right; right; intros imports possible; apply not_true_iff_false; intros both.
    apply andb_true_iff in both; rewrite !applies_all in both; destruct both as [A B].
    assert (8 = 6); [|discriminate].
    apply (imports_one_of_union _ _ possible 8 6 5); try reflexivity;
      [apply A | apply B]; simpl; auto.
Qed.

(** Two tokens for each text, and one for the argument `duration`. Positions:
      0 1 part 1    2 3 part 3    4 duration    5 6 tokyo, 5 miami    7 8 part 10    9 a question *)
Definition guide_text (m : nat) : placed mean_decoder :=
  match m with
  | 0 => [(1%R, 0%Z); (2%R, 1%Z); (3%R, 7%Z); (4%R, 8%Z)]
  | 2 => [(5%R, 2%Z); (6%R, 3%Z)]
  | 6 => [(7%R, 5%Z); (8%R, 6%Z)]
  | 8 => [(9%R, 5%Z)]
  | _ => []
  end.

(** The argument and the question. *)
Definition guide_added : placed mean_decoder := [(10%R, 4%Z); (11%R, 9%Z)].

Definition without_scaffolds : schema :=
  Schema (fun _ => 0) guide_union [] (fun m positive => positive).

Definition guide_sees (S : schema) (imports : list nat) : name -> list name :=
  mask S (D := mean_decoder) 0%R guide_text imports guide_added.

(** A prompt may import trip-plan and tokyo, and cannot import tokyo and miami. *)
Example guide_imports :
  importable guide [0; 2; 6] /\ forall imports, importable guide imports ->
    ~ (In 6 imports /\ In 8 imports).
Proof.
  split; [split|].
  - repeat constructor; simpl; intuition discriminate.
  - left; reflexivity.
  - intros m [<-|[<-|[<-|[]]]] a; simpl; intuition.
  - intros a b u [<-|[<-|[<-|[]]]] [<-|[<-|[<-|[]]]]; cbv; congruence.
  - intros imports possible [A B]; assert (6 = 8); [|discriminate].
    apply (imports_one_of_union _ _ possible 6 8 5); auto.
Qed.

(** The column `sees` of the chapter, where no scaffold counts: each part sees part 1 and itself, up
    to each token. *)
Example guide_mask :
  map (guide_sees without_scaffolds [0; 2; 6]) [Own 0 0; Own 0 1; Own 2 0; Own 2 1; Own 6 1] =
    [[Own 0 0];
     [Own 0 0; Own 0 1];
     [Own 0 0; Own 0 1; Own 2 0];
     [Own 0 0; Own 0 1; Own 2 0; Own 2 1];
     [Own 0 0; Own 0 1; Own 6 0; Own 6 1]] /\
  guide_sees without_scaffolds [0; 8] (Own 8 0) = [Own 0 0; Own 0 1; Own 8 0] /\
  guide_sees without_scaffolds [0; 2; 6] (Own 0 3) = [Own 0 0; Own 0 1; Own 0 2; Own 0 3].
Proof.
  unfold guide_sees, mask; simpl; repeat split; reflexivity.
Qed.

(** What a prompt adds sees all that stands before it: the argument the parts 1 and 3, the question
    all. *)
Example guide_mask_of_new_tokens :
  guide_sees without_scaffolds [0; 2; 6] (New 0) =
    [Own 0 0; Own 0 1; Own 2 0; Own 2 1; New 0] /\
  guide_sees without_scaffolds [0; 2; 6] (New 1) = all_tokens guide_text [0; 2; 6] guide_added.
Proof. split; reflexivity. Qed.

(** With the scaffolds: tokyo sees trip-plan where it is imported, and not its argument. The same
    scaffold counts for trip-plan. Without trip-plan none applies. *)
Example guide_mask_with_scaffolds :
  guide_sees guide [0; 2; 6] (Own 6 0) =
    [Own 0 0; Own 0 1; Own 2 0; Own 2 1; Own 6 0] /\
  guide_sees guide [0; 6] (Own 6 0) = [Own 0 0; Own 0 1; Own 6 0] /\
  map (counts guide [0; 2; 6]) [0; 2; 6] = [None; Some [2; 6]; Some [2; 6]] /\
  map (counts guide [0; 2; 8]) [0; 2; 8] = [None; Some [2; 8]; Some [2; 8]] /\
  map (counts guide [0; 6]) [0; 2; 6] = [None; None; None].
Proof. repeat split; reflexivity. Qed.

(** ** Scaffolds that overlap *)

(** Modules A, B and C (1, 2, 3), a token each: 0, 1, 1. Scaffolds A B and B C. *)
Definition overlapping : schema :=
  Schema (fun _ => 0) (fun _ => None) [[1; 2]; [2; 3]] (fun m positive => positive).

Definition abc (m : nat) : placed mean_decoder :=
  match m with
  | 1 => [(0%R, 0%Z)]
  | 2 => [(1%R, 1%Z)]
  | 3 => [(1%R, 2%Z)]
  | _ => []
  end.

Definition with_abc : prompt mean_decoder name :=
  modular_prompt (D := mean_decoder) overlapping 0%R abc [0; 1; 2; 3] [].
Definition with_bc : prompt mean_decoder name :=
  modular_prompt (D := mean_decoder) overlapping 0%R abc [0; 2; 3] [].

(** MOD-4 is false without the rule of MOD-3. In the prompts A B C and B C the same scaffold counts
    for C, which is B C, and C has the state 3/4 at layer 2 in one, 1 in the other: in the first one
    B has seen A, which C does not see. *)
Theorem overlapping_scaffolds_share_nothing :
  ~ orderly overlapping /\
  importable overlapping [0; 1; 2; 3] /\ importable overlapping [0; 2; 3] /\
  counts overlapping [0; 1; 2; 3] 3 = Some [2; 3] /\ counts overlapping [0; 2; 3] 3 = Some [2; 3] /\
  counts overlapping [0; 1; 2; 3] 2 = Some [1; 2] /\ counts overlapping [0; 2; 3] 2 = Some [2; 3] /\
  state_at with_abc 2 (Own 3 0) = (3 / 4)%R /\ state_at with_bc 2 (Own 3 0) = 1%R /\
  kv_at with_abc 2 (Own 3 0) <> kv_at with_bc 2 (Own 3 0).
Proof.
  assert (importable overlapping [0; 1; 2; 3]) as whole.
  { split.
    - repeat constructor; simpl; intuition discriminate.
    - left; reflexivity.
    - intros m [<-|[<-|[<-|[<-|[]]]]] a; simpl; intuition.
    - discriminate. }
  assert (importable overlapping [0; 2; 3]) as part.
  { split.
    - repeat constructor; simpl; intuition discriminate.
    - left; reflexivity.
    - intros m [<-|[<-|[<-|[]]]] a; simpl; intuition.
    - discriminate. }
  assert (state_at with_abc 2 (Own 3 0) = (3 / 4)%R) as E1.
  { rewrite (mean_sees_two _ 1 _ (Own 2 0) (Own 3 0)) by reflexivity.
    rewrite (mean_sees_two _ 0 (Own 2 0) (Own 1 0) (Own 2 0)) by reflexivity.
    rewrite (mean_sees_two _ 0 (Own 3 0) (Own 2 0) (Own 3 0)) by reflexivity; simpl; lra. }
  assert (state_at with_bc 2 (Own 3 0) = 1%R) as E2.
  { rewrite (mean_sees_two _ 1 _ (Own 2 0) (Own 3 0)) by reflexivity.
    rewrite (mean_sees_one _ 0 (Own 2 0) (Own 2 0)) by reflexivity.
    rewrite (mean_sees_two _ 0 (Own 3 0) (Own 2 0) (Own 3 0)) by reflexivity; simpl; lra. }
  split; [|repeat (split; [first [assumption | reflexivity]|])].
  - intros rule; destruct (rule [1; 2] [2; 3] 2) as [I|[I|never]]; simpl; auto.
    + specialize (I 1); simpl in I; intuition discriminate.
    + specialize (I 3); simpl in I; intuition discriminate.
    + specialize (never _ whole); discriminate.
  - intros E; apply (f_equal (fun e => snd e 0 0)) in E.
    change (state_at with_abc 2 (Own 3 0) = state_at with_bc 2 (Own 3 0)) in E.
    rewrite E1, E2 in E; lra.
Qed.
