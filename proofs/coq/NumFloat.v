(* SPDX-License-Identifier: Apache-2.0 *)
(** * Parts of the bound as a program computes them (spec/tolerance.md: NUM-5, NUM-6)

    Operations of ref/tolerance_internal.h and tolerance_class.c in their order, over any numbers
    with the operations of binary64; NumFloatRow.v has those of tolerance.c. NumFloatUp.v says what
    of these operations the proofs use. Fields of a class begin with c_. *)
From Coq Require Import ZArith Bool.

(** ** Operations *)

Record ops := Ops {
  F : Type;
  add : F -> F -> F; sub : F -> F -> F; mul : F -> F -> F; div : F -> F -> F;
  opp : F -> F; abs : F -> F;
  lt : F -> F -> bool; le : F -> F -> bool; eq : F -> F -> bool;
  exp_of : F -> F; expm1_of : F -> F; log_of : F -> F; log1p_of : F -> F;
  of_int : Z -> F;
  pow2 : Z -> F;
  infinite : F }.

Section Evaluation.
Variable o : ops.
Local Notation num := (F o).
Local Notation "x +. y" := (add o x y) (at level 50, left associativity).
Local Notation "x -. y" := (sub o x y) (at level 50, left associativity).
Local Notation "x *. y" := (mul o x y) (at level 40, left associativity).
Local Notation "x /. y" := (div o x y) (at level 40, left associativity).

Definition zero : num := of_int o 0.
Definition one : num := of_int o 1.

(** ** Rounding upwards *)

Definition up_plus (x y : num) : num :=
  let sum := x +. y in sum +. pow2 o (-51) *. abs o sum.
Definition up (x : num) : num := x +. (pow2 o (-51) *. abs o x +. pow2 o (-1074)).
Definition up_times (x y : num) : num :=
  let product := x *. y in
  if eq o product zero && (eq o x zero || eq o y zero) then zero else up product.
Definition up_function (x : num) : num :=
  if eq o x zero then zero else x +. (pow2 o (-49) *. abs o x +. pow2 o (-1074)).
Definition up_sum (x : num) (roundings : Z) : num :=
  up_times (up_plus x (of_int o roundings *. pow2 o (-1074)))
           (one +. of_int o roundings *. pow2 o (-52)).

(** ** NUM-5, NUM-6 *)

Definition compound (u : num) (k : Z) : num :=
  up_times (of_int o k) (up_function (log1p_of o u)).

Definition growth (u : num) (k : Z) (v : num) (l : Z) : num :=
  up_function (expm1_of o (up_plus (compound u k) (compound v l))).

Record score_class := Score_class {
  c_term_unit : num; c_term_tiny : num; c_unit : num; c_tiny : num;
  c_depth : Z; c_additions : Z;
  c_scale_unit : num; c_scale_tiny : num; c_scaled_before : bool }.

Definition lost_in_score (a : score_class) (scale : num) (d : Z) : num :=
  let b := if c_scaled_before a then one else abs o scale in
  let tiny := up_plus (up_times (of_int o d) (c_term_tiny a))
                      (up_times (of_int o (c_additions a)) (c_tiny a)) in
  up_times b tiny.

(** sigma_j (NUM-6) in two steps, as the C code has it: once for a row, once for a score. *)
Record score_bound := Score_bound { of_magnitude : num; of_losses : num; of_scale : num }.

Definition score_bound_of (a : score_class) (scale : num) (d : Z) : score_bound :=
  let additions := compound (c_unit a) (c_depth a) in
  let scaling := up_function (log1p_of o (c_scale_unit a)) in
  let sums := up_plus additions scaling in
  let terms := up_function (log1p_of o (c_term_unit a)) in
  let relative := up_function (expm1_of o (up_plus terms sums)) in
  let grown := up_function (exp_of o sums) in
  let lost := lost_in_score a scale d in
  Score_bound relative (up_times lost grown) (c_scale_tiny a).

Definition error_of_score (b : score_bound) (magnitude : num) : num :=
  up_plus (up_plus (up_times (of_magnitude b) magnitude) (of_losses b)) (of_scale b).

Definition score_error (a : score_class) (scale : num) (d : Z) (magnitude : num) : num :=
  error_of_score (score_bound_of a scale d) magnitude.
End Evaluation.
