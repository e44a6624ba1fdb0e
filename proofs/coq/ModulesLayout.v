(* SPDX-License-Identifier: Apache-2.0 *)
(** * Where the parts of a schema stand (spec/modules.md: MOD-1, MOD-2)

    A part is named by its way from the schema: [2; 0] is the first part of the third. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
Open Scope nat_scope.

(** ** MOD-1: the layout *)

Inductive part :=
| Text (n : nat)                (* a text of n tokens *)
| Param (len : nat)             (* an argument of up to len tokens *)
| Module (parts : list part)    (* a module, or the schema *)
| Union (parts : list part).    (* modules, of which a prompt imports one at most *)

Fixpoint size (p : part) : nat :=
  match p with
  | Text n => n
  | Param len => len
  | Module parts => list_sum (map size parts)
  | Union parts => list_max (map size parts)
  end.

(** Where a part of p stands, and which it is, when p begins at b. *)
Fixpoint locate (b : nat) (p : part) (way : list nat) : option (nat * part) :=
  match way with
  | [] => Some (b, p)
  | i :: rest =>
      match p with
      | Module parts =>
          match nth_error parts i with
          | Some q => locate (b + list_sum (map size (firstn i parts))) q rest
          | None => None
          end
      | Union parts =>
          match nth_error parts i with Some q => locate b q rest | None => None end
      | _ => None
      end
  end.

Lemma locate_app b p x y :
  locate b p (x ++ y) =
  match locate b p x with Some (b', q) => locate b' q y | None => None end.
Proof.
  revert b p; induction x as [|i x IH]; intros b p; [reflexivity|]; simpl.
  destruct p as [n|n|parts|parts]; auto; destruct (nth_error parts i); auto.
Qed.

(** MOD-1: the schema begins at 0, a member of a union where the union begins, and a part of a
    module behind the parts before it. *)
Theorem begin_of_parts schema :
  locate 0 schema [] = Some (0, schema) /\
  (forall way b parts i q, locate 0 schema way = Some (b, Union parts) ->
    nth_error parts i = Some q -> locate 0 schema (way ++ [i]) = Some (b, q)) /\
  (forall way b parts i q, locate 0 schema way = Some (b, Module parts) ->
    nth_error parts i = Some q ->
    locate 0 schema (way ++ [i]) = Some (b + list_sum (map size (firstn i parts)), q)).
Proof.
  split; [reflexivity|]; split; intros way b parts i q E N; rewrite locate_app, E; simpl;
    rewrite N; reflexivity.
Qed.

(** ** MOD-2: parts of a prompt do not collide *)

Lemma sum_before parts i j q :
  nth_error parts i = Some q -> i < j ->
  list_sum (map size (firstn i parts)) + size q <= list_sum (map size (firstn j parts)).
Proof.
  revert i j; induction parts as [|p parts IH]; intros [|i] [|j] E lt; try lia;
    simpl in E; try discriminate; simpl.
  - injection E as ->; lia.
  - specialize (IH i j E); lia.
Qed.

Lemma sum_of_all parts i q :
  nth_error parts i = Some q ->
  list_sum (map size (firstn i parts)) + size q <= list_sum (map size parts).
Proof.
  intros E; pose proof (nth_error_Some parts i) as lt; rewrite E in lt.
  assert (i < length parts) as less by (apply lt; discriminate).
  pose proof (sum_before parts i (length parts) q E less) as le.
  rewrite firstn_all in le; exact le.
Qed.

Lemma max_of_all parts i q :
  nth_error parts i = Some q -> size q <= list_max (map size parts).
Proof.
  revert i; induction parts as [|p parts IH]; intros [|i] E; simpl in E; try discriminate; simpl.
  - injection E as ->; lia.
  - specialize (IH i E); lia.
Qed.

(** MOD-2: what is inside of a part has its positions among those of the part. *)
Theorem inside_stands_inside b p way b' q :
  locate b p way = Some (b', q) -> b <= b' /\ b' + size q <= b + size p.
Proof.
  revert b p; induction way as [|i way IH]; intros b p E.
  - injection E as <- <-; lia.
  - simpl in E; destruct p as [n|n|parts|parts]; try discriminate;
      destruct (nth_error parts i) as [r|] eqn:N; try discriminate; specialize (IH _ _ E).
    + pose proof (sum_of_all parts i r N); simpl; lia.
    + pose proof (max_of_all parts i r N); simpl; lia.
Qed.

(** MOD-2: of two parts, neither of which is inside of the other, the first ends where the second
    begins, or before, or they are in different members of one union. *)
Theorem parts_follow_each_other schema way i x j y b p b' p' :
  locate 0 schema (way ++ i :: x) = Some (b, p) ->
  locate 0 schema (way ++ j :: y) = Some (b', p') -> i < j ->
  b + size p <= b' \/ exists u parts, locate 0 schema way = Some (u, Union parts).
Proof.
  rewrite !locate_app; destruct (locate 0 schema way) as [[u around]|] eqn:E; [|discriminate].
  intros X Y lt; simpl in X, Y; destruct around as [n|n|parts|parts]; try discriminate.
  - left; destruct (nth_error parts i) as [q|] eqn:Ni; [|discriminate].
    destruct (nth_error parts j) as [r|] eqn:Nj; [|discriminate].
    apply inside_stands_inside in X; apply inside_stands_inside in Y.
    pose proof (sum_before parts i j q Ni lt); lia.
  - right; exists u, parts; reflexivity.
Qed.

(** A schema as MOD-1 has it: unions have modules as parts. *)
Definition unions_have_modules (schema : part) : Prop :=
  forall way b parts i q, locate 0 schema way = Some (b, Union parts) ->
    nth_error parts i = Some q -> exists r, q = Module r.

(** What a prompt imports: of a union at most one member. *)
Definition one_of_each_union (schema : part) (imports : list nat -> bool) : Prop :=
  forall way b parts i j, locate 0 schema way = Some (b, Union parts) ->
    imports (way ++ [i]) = true -> imports (way ++ [j]) = true -> i = j.

(** A prompt has a text or param when it imports each module that this stands in. *)
Definition prompt_has (schema : part) (imports : list nat -> bool) (way : list nat) : Prop :=
  (exists b n, locate 0 schema way = Some (b, Text n) \/ locate 0 schema way = Some (b, Param n)) /\
  forall x y b parts, way = x ++ y -> locate 0 schema x = Some (b, Module parts) ->
    imports x = true.

(** MOD-2: of two texts or params that a prompt has, the first in the document ends where the second
    begins, or before. *)
Theorem parts_of_a_prompt_do_not_collide schema imports way i x j y b p b' p' :
  unions_have_modules schema -> one_of_each_union schema imports ->
  prompt_has schema imports (way ++ i :: x) -> prompt_has schema imports (way ++ j :: y) ->
  locate 0 schema (way ++ i :: x) = Some (b, p) ->
  locate 0 schema (way ++ j :: y) = Some (b', p') -> i < j ->
  b + size p <= b'.
Proof.
  intros modules one [_ hx] [_ hy] X Y lt.
  destruct (parts_follow_each_other schema way i x j y b p b' p' X Y lt) as [le|(u & parts & E)];
    [exact le|exfalso].
  assert (forall k z e, (forall u v c q, way ++ k :: z = u ++ v ->
      locate 0 schema u = Some (c, Module q) -> imports u = true) ->
    locate 0 schema (way ++ k :: z) = Some e -> imports (way ++ [k]) = true) as imported.
  { intros k z e has K; rewrite locate_app, E in K; simpl in K.
    destruct (nth_error parts k) as [q|] eqn:N; [|discriminate].
    destruct (modules way u parts k q E N) as [r ->].
    apply (has (way ++ [k]) z u r); [rewrite <- app_assoc; reflexivity|].
    rewrite locate_app, E; simpl; rewrite N; reflexivity. }
  pose proof (one way u parts i j E (imported i x _ hx X) (imported j y _ hy Y)); lia.
Qed.

(** Two texts or params: the second is not inside of the first. So the theorem above is about any
    two. *)
Theorem texts_have_no_parts schema imports x y :
  prompt_has schema imports x -> prompt_has schema imports (x ++ y) -> y = [].
Proof.
  intros [(b & n & [E|E]) _] [(b' & n' & E') _]; destruct y as [|i y]; auto;
    rewrite locate_app, E in E'; simpl in E'; destruct E'; discriminate.
Qed.

(** MOD-1: modules of 50 and 60 tokens, and then a third one. *)
Example third_module_begins_at_110 :
  locate 0 (Module [Module [Text 50]; Module [Text 60]; Module [Text 1]]) [2] =
  Some (110, Module [Text 1]).
Proof. reflexivity. Qed.

(** The travel guide of the chapter. *)
Definition travel_guide : part :=
  Module [Text 5; Module [Text 4; Param 4]; Union [Module [Text 40]; Module [Text 30]]; Text 6].

Example layout_of_the_guide :
  map (fun way => option_map (fun e => (fst e, fst e + size (snd e))) (locate 0 travel_guide way))
      [[]; [0]; [1]; [1; 0]; [1; 1]; [2]; [2; 0]; [2; 0; 0]; [2; 1]; [2; 1; 0]; [3]] =
  map Some [(0, 59); (0, 5); (5, 13); (5, 9); (9, 13); (13, 53); (13, 53); (13, 53); (13, 43);
            (13, 43); (53, 59)].
Proof. reflexivity. Qed.

(** The guide is such a schema, and a prompt with trip-plan and tokyo imports one of each union. *)
Definition guide_imports (way : list nat) : bool :=
  match way with [] | [1] | [2; 0] => true | _ => false end.

Ltac each_part :=
  repeat match goal with
  | H : locate _ _ ?way = Some (_, Union _) |- _ =>
      destruct way as [|[|[|[|[|?]]]] ?]; simpl in H; try discriminate
  | H : context [match nth_error [] ?i with _ => _ end] |- _ => destruct i; discriminate
  | H : context [locate _ _ ?way] |- _ =>
      destruct way as [|[|[|?]] ?]; simpl in H; try discriminate
  end.

Example guide_has_prompts :
  unions_have_modules travel_guide /\ one_of_each_union travel_guide guide_imports /\
  prompt_has travel_guide guide_imports [1; 1] /\ prompt_has travel_guide guide_imports [2; 0; 0].
Proof.
  repeat split.
  - intros way b parts i q E N; unfold travel_guide in E; each_part.
    injection E as _ <-; destruct i as [|[|[|i]]]; simpl in N; try discriminate;
      injection N as <-; eexists; reflexivity.
  - intros way b parts i j E I J; unfold travel_guide in E; each_part.
    destruct i as [|i], j as [|j]; simpl in I, J; try discriminate; reflexivity.
  - exists 9, 4; right; reflexivity.
  - intros [|a [|c [|e x]]] y b parts W E; simpl in W; try discriminate.
    + reflexivity.
    + injection W as <- _; reflexivity.
    + injection W as <- <- _; discriminate.
  - exists 13, 40; left; reflexivity.
  - intros [|a [|c [|e [|f x]]]] y b parts W E; simpl in W; try discriminate.
    + reflexivity.
    + injection W as <- _; discriminate.
    + injection W as <- <- _; reflexivity.
    + injection W as <- <- <- _; discriminate.
Qed.
