(* SPDX-License-Identifier: Apache-2.0 *)
(** * What kernels of an arithmetic class may compute (spec/tolerance.md: NUM-7, NUM-8)

    One query row, one head, one column of the values. An execution is a tree of steps over states
    (m, n, o); every step may err as far as the class allows. Keys come in any order, in any groups,
    with any references that the range admits. *)
From Coq Require Import Reals List Permutation.
From Chunkproof Require Import NumCore NumRound.
Import ListNotations.
Open Scope R_scope.

(** ** NUM-7: the class *)

(** The exponential: u_arg, relative error of the difference that is its argument; u_ref and u_move,
    error of a reference in it, relative to the reference, in weights and in factors; eps, error of
    the result as a logarithm; kappa, its absolute error where it underflows. weights: format of P;
    rounded_sum: whether the row sum takes P after rounding. u_n, eta_n and u_o, eta_o: an addition
    or product for n and for o. u_part: storing a state. *)
Record class := Class {
  u_arg : R; u_ref : R; u_move : R; eps : R; kappa : R;
  weights : format; rounded_sum : bool;
  u_n : R; eta_n : R; u_o : R; eta_o : R; u_part : R }.

(** Where the references lie; by how much one may be below a score that it is used for; and by how
    much it may be below the reference before it. *)
Record range := Range { low : R; high : R; slack : R; fall : R }.

(** A key: its exact score, its value, the error of the computed score, an upper bound of the
    reference that its weight is computed with. *)
Record input := Input { s : R; value : R; sigma : R; cap : R }.

(** z is the argument x, computed; r is what the rounding of references may add. *)
Definition argument (cl : class) (r x z : R) : Prop := Rabs (z - x) <= u_arg cl * Rabs x + r.

(** p is the exponential of z, computed. *)
Definition exponential (cl : class) (z p : R) : Prop :=
  0 <= p /\ exists y k, Rabs y <= eps cl /\ Rabs k <= kappa cl /\ p = exp (z + y) + k.

Definition admits (rg : range) (m : R) : Prop := low rg <= m <= high rg.

(** p is the weight of a key at the reference m, and p' is p rounded. *)
Definition weighs (cl : class) (rg : range) (j : input) (m p p' : R) : Prop :=
  admits rg m /\ m <= cap j /\ s j - slack rg <= m /\
  (exists s' z, Rabs (s' - s j) <= sigma j /\
     argument cl (u_ref cl * Rabs m) (s' - m) z /\ exponential cl z p) /\
  rounds (weights cl) p p'.

(** f takes sums ns, and those of the values, from the reference m to m': it is the computed
    exponential of m - m'; or 1, when m is merely rounded; or 1 / n, when a state is divided by its
    n, and ln n goes to the reference. *)
Inductive factor (cl : class) (m : R) (ns : list R) (m' f : R) : Prop :=
  | by_exponential z :
      argument cl (u_move cl * (Rabs m + Rabs m')) (m - m') z -> exponential cl z f ->
      factor cl m ns m' f
  | by_renaming : Rabs (m' - m) <= u_move cl * Rabs m -> f = 1 -> factor cl m ns m' f
  | by_division n :
      ns = [n] -> 0 < n -> Rabs (m' - (m + ln n)) <= eps cl + u_move cl * Rabs m' -> f = / n ->
      factor cl m ns m' f.

(** ** NUM-8: executions *)

(** How much was done: additions and products on the longest way from a key to n and to o, stores
    and changes of the reference on the longest way; operations on n and on o in all. *)
Record counts := Counts {
  depth_n : nat; depth_o : nat; stores : nat; steps : nat; ops_n : nat; ops_o : nat }.

Definition nothing := Counts 0 0 0 0 0 0.

Definition beside (k k' : counts) := Counts
  (Nat.max (depth_n k) (depth_n k')) (Nat.max (depth_o k) (depth_o k'))
  (Nat.max (stores k) (stores k')) (Nat.max (steps k) (steps k'))
  (ops_n k + ops_n k') (ops_o k + ops_o k').

(** From the keys J, numbers ns and os at the reference m have been computed, which await being
    summed. A state (m, n, o) is the case of one number each. *)
Inductive runs (cl : class) (rg : range) : list input -> counts -> R -> list R -> list R -> Prop :=
  | runs_none m : admits rg m -> runs cl rg [] nothing m [] []
  | runs_key j m p p' :
      weighs cl rg j m p p' ->
      runs cl rg [j] nothing m [if rounded_sum cl then p' else p] [p' * value j]
  | runs_beside J k m ns os J' k' ns' os' :
      runs cl rg J k m ns os -> runs cl rg J' k' m ns' os' ->
      runs cl rg (J ++ J') (beside k k') m (ns ++ ns') (os ++ os')
  | runs_order J J' k m ns os :
      Permutation J J' -> runs cl rg J k m ns os -> runs cl rg J' k m ns os
  | runs_sum_n J k m ns os d ops ns' :
      runs cl rg J k m ns os -> adds (u_n cl) (eta_n cl) d ops ns ns' ->
      runs cl rg J
        (Counts (depth_n k + d) (depth_o k) (stores k) (steps k) (ops_n k + ops) (ops_o k))
           m ns' os
  | runs_sum_o J k m ns os d ops os' :
      runs cl rg J k m ns os -> adds (u_o cl) (eta_o cl) d ops os os' ->
      runs cl rg J
        (Counts (depth_n k) (depth_o k + d) (stores k) (steps k) (ops_n k) (ops_o k + ops))
           m ns os'
  | runs_step J k m ns os m' f :
      runs cl rg J k m ns os -> admits rg m' -> m - fall rg <= m' -> factor cl m ns m' f ->
      runs cl rg J (Counts (depth_n k) (depth_o k) (stores k) (S (steps k)) (ops_n k) (ops_o k))
           m' (map (Rmult f) ns) (map (Rmult f) os)
  | runs_store J k m n o n' o' :
      runs cl rg J k m [n] [o] ->
      Rabs (n' - n) <= u_part cl * Rabs n + eta_n cl ->
      Rabs (o' - o) <= u_part cl * Rabs o + eta_o cl ->
      runs cl rg J
        (Counts (depth_n k) (depth_o k) (S (stores k)) (steps k) (S (ops_n k)) (S (ops_o k)))
           m [n'] [o'].

(** ** Numbers that make sense *)

Definition sane_class (cl : class) : Prop :=
  0 <= u_arg cl /\ 0 <= u_ref cl /\ 0 <= u_move cl /\ 0 <= eps cl /\ 0 <= kappa cl /\
  0 <= unit (weights cl) /\ 0 <= tiny (weights cl) /\
  0 <= u_n cl /\ 0 <= eta_n cl /\ 0 <= u_o cl /\ 0 <= eta_o cl /\ 0 <= u_part cl.

Definition sane_range (rg : range) : Prop :=
  low rg <= high rg /\ 0 <= slack rg /\ 0 <= fall rg.
