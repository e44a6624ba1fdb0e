(* SPDX-License-Identifier: Apache-2.0 *)
(** * The operations on the tree, as functions (spec/tree.md: TREE-8 to TREE-14, TREE-16; PLAN-5)

    A forest is its sequences in the order of their indices, each with its path, and the tokens of
    each chunk. What else a tree has follows from the paths: which chunks are used, and the range of
    each. *)
From Coq Require Import List Arith Bool Lia.
From Chunkproof Require Import Plan Tree.
Import ListNotations.

Record member := Member { id : nat; salt : nat; chunks : list nat }.

Record forest := Forest {
  pool : nat;                (* chunks in the pool *)
  c : nat;                   (* chunk size *)
  most_chunks : nat;         (* CP_MAX_DEPTH *)
  most_members : nat;        (* CP_MAX_SEQUENCES *)
  members : list member;
  content : list (list nat); (* per chunk, its tokens; what an unused one has says nothing *)
  epoch : nat;
  step : nat
}.

Inductive status := Argument | Pool_full | Sequences_full | Too_long.

(** TREE-13: an operation is refused, or it makes a forest and says something of it. *)
Inductive outcome (T : Type) := Refused (why : status) | Made (f : forest) (said : T).
Arguments Refused {T}.
Arguments Made {T}.

Definition new_forest (n c_ depth_ sequences_ : nat) : forest :=
  Forest n c_ depth_ sequences_ [] (repeat [] n) 0 0.

(** ** What follows from the paths *)

Definition nobody := Member 0 0 [].
Definition member_at (f : forest) (s : nat) : member := nth s (members f) nobody.
Definition n_members (f : forest) : nat := length (members f).
Definition tokens_in (f : forest) (x : nat) : list nat := nth x (content f) [].
Definition filled (f : forest) (x : nat) : nat := length (tokens_in f x).

Definition has (x : nat) (m : member) : bool := existsb (Nat.eqb x) (chunks m).

(** The first sequence that has chunk x, and one behind the last. *)
Fixpoint begins (x : nat) (ms : list member) : nat :=
  match ms with
  | [] => 0
  | m :: rest => if has x m then 0 else S (begins x rest)
  end.

Fixpoint ends (x : nat) (ms : list member) : nat :=
  match ms with
  | [] => 0
  | m :: rest =>
      match ends x rest with
      | 0 => if has x m then 1 else 0
      | S e => S (S e)
      end
  end.

Definition in_use (f : forest) (x : nat) : bool := existsb (has x) (members f).
Definition free (f : forest) : list nat :=
  filter (fun x => negb (in_use f x)) (seq 0 (pool f)).

Fixpoint place_in (x : nat) (l : list nat) : nat :=
  match l with
  | [] => 0
  | y :: rest => if x =? y then 0 else S (place_in x rest)
  end.

(** The tree that Tree.v speaks of. *)
Definition tree_of (f : forest) : tree :=
  Tree (pool f) (c f) (n_members f)
       (fun x => in_use f x = true)
       (fun x => begins x (members f))
       (fun x => ends x (members f))
       (fun x => place_in x (chunks (member_at f (begins x (members f)))))
       (filled f)
       (fun s => length (chunks (member_at f s)))
       (fun s k => nth k (chunks (member_at f s)) 0).

(** TREE-6: the tokens of a sequence. *)
Definition tokens_of (f : forest) (s : nat) : list nat :=
  flat_map (tokens_in f) (chunks (member_at f s)).

(** ** TREE-8: lookup *)

(** The first n parts of c tokens; the last one may be shorter. *)
Definition parts_of (c n : nat) (tokens : list nat) : list (list nat) :=
  map (fun k => firstn c (skipn (k * c) tokens)) (seq 0 n).

Definition same_tokens (l l' : list nat) : bool :=
  if list_eq_dec Nat.eq_dec l l' then true else false.

(** How many leading chunks of a path hold these parts. *)
Fixpoint agree (f : forest) (chunks : list nat) (parts : list (list nat)) : nat :=
  match chunks, parts with
  | x :: chunks, t :: parts => if same_tokens (tokens_in f x) t then S (agree f chunks parts) else 0
  | _, _ => 0
  end.

Definition match_of (f : forest) (parts : list (list nat)) (z : nat) (m : member) : nat :=
  if salt m =? z then agree f (chunks m) parts else 0.

(** (k, s): the longest match, and the first sequence that has it; s says nothing when k is 0. *)
Fixpoint longest (f : forest) (parts : list (list nat)) (z s : nat) (ms : list member)
    (best : nat * nat) : nat * nat :=
  match ms with
  | [] => best
  | m :: rest =>
      let k := match_of f parts z m in
      longest f parts z (S s) rest (if fst best <? k then (k, s) else best)
  end.

Definition lookup (f : forest) (tokens : list nat) (z : nat) : nat * nat :=
  longest f (parts_of (c f) (length tokens / c f) tokens) z 0 (members f) (0, 0).

(** ** Changes *)

Definition insert {T} (s : nat) (y : T) (l : list T) : list T := firstn s l ++ y :: skipn s l.
Definition remove_at {T} (s : nat) (l : list T) : list T := firstn s l ++ skipn (S s) l.

Fixpoint put {T} (i : nat) (y : T) (l : list T) : list T :=
  match l, i with
  | [], _ => []
  | _ :: rest, 0 => y :: rest
  | z :: rest, S j => z :: put j y rest
  end.

Definition put_all (l : list (nat * list nat)) (content : list (list nat)) : list (list nat) :=
  fold_left (fun content xt => put (fst xt) (snd xt) content) l content.

Definition changed (f : forest) (ms : list member) (ct : list (list nat)) (e s : nat) : forest :=
  Forest (pool f) (c f) (most_chunks f) (most_members f) ms ct (epoch f + e) (step f + s).

Definition chunks_for (n c : nat) : nat := n / c + (if n mod c =? 0 then 0 else 1).

(** TREE-9: (where the new sequence is, leading tokens that it shares). *)
Definition join (f : forest) (tokens : list nat) (z name : nat) : outcome (nat * nat) :=
  let n := chunks_for (length tokens) (c f) in
  let '(k, from) := lookup f tokens z in
  let new := firstn (n - k) (free f) in
  let shared := firstn k (chunks (member_at f from)) in
  let at_ := match k with 0 => n_members f | S j => ends (nth j shared 0) (members f) end in
  if most_chunks f <? n then Refused Too_long
  else if most_members f <=? n_members f then Refused Sequences_full
  else if length (free f) <? n - k then Refused Pool_full
  else Made (changed f (insert at_ (Member name z (shared ++ new)) (members f))
                       (put_all (combine new (skipn k (parts_of (c f) n tokens))) (content f)) 1 0)
            (at_, k * c f).

(** TREE-10 *)
Definition tail (m : member) : option nat :=
  match rev (chunks m) with [] => None | x :: _ => Some x end.

(** The chunk that has room for a token. *)
Definition roomy (f : forest) (m : member) : option nat :=
  match tail m with
  | Some x => if filled f x <? c f then Some x else None
  | None => None
  end.

Definition needs_chunk (f : forest) (m : member) : bool :=
  match roomy f m with Some _ => false | None => true end.

(** The sequences come in increasing order: none is below `least`. *)
Fixpoint cannot_append (f : forest) (least : nat) (l : list (nat * nat)) : option status :=
  match l with
  | [] => None
  | (s, _) :: rest =>
      if (s <? least) || (n_members f <=? s) then Some Argument
      else if needs_chunk f (member_at f s) && (most_chunks f <=? length (chunks (member_at f s)))
      then Some Too_long
      else cannot_append f (S s) rest
  end.

(** None: the pool is full. *)
Definition append_one (f : forest) (s token : nat) : option forest :=
  let m := member_at f s in
  match roomy f m, free f with
  | Some x, _ =>
      Some (changed f (members f) (put x (tokens_in f x ++ [token]) (content f)) 0 0)
  | None, x :: _ =>
      Some (changed f (put s (Member (id m) (salt m) (chunks m ++ [x])) (members f))
                      (put x [token] (content f)) 1 0)
  | None, [] => None
  end.

Fixpoint append_all (f : forest) (l : list (nat * nat)) : option forest :=
  match l with
  | [] => Some f
  | (s, token) :: rest =>
      match append_one f s token with
      | Some g => append_all g rest
      | None => None
      end
  end.

Definition append_each (f : forest) (l : list (nat * nat)) : outcome unit :=
  match cannot_append f 0 l, append_all f l with
  | Some why, _ => Refused why
  | None, None => Refused Pool_full
  | None, Some g => Made (changed g (members g) (content g) 0 1) tt
  end.

(** TREE-11 *)
Definition leave (f : forest) (s : nat) : outcome unit :=
  if n_members f <=? s then Refused Argument
  else Made (changed f (remove_at s (members f)) (content f) 1 0) tt.

(** TREE-12: the chunk that is copied, and the copy. *)
Definition fork (f : forest) (s name : nat) : outcome (option (nat * nat)) :=
  let m := member_at f s in
  if n_members f <=? s then Refused Argument
  else if most_members f <=? n_members f then Refused Sequences_full
  else
    let made chunks ct said :=
      Made (changed f (insert (s + 1) (Member name (salt m) chunks) (members f)) ct 1 0) said in
    match roomy f m, free f with
    | None, _ => made (chunks m) (content f) None
    | Some _, [] => Refused Pool_full
    | Some x, y :: _ =>
        made (removelast (chunks m) ++ [y]) (put y (tokens_in f x) (content f)) (Some (x, y))
    end.
