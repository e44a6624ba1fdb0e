(* SPDX-License-Identifier: Apache-2.0 *)
(** * The bound of a row as a program computes it (spec/tolerance.md: NUM-9 to NUM-12)

    cp_tolerance() of ref/tolerance.c, each operation in its order, over any numbers with the
    operations of binary64. With OCaml's floats it runs beside the C code (proofs/extract); with
    Flocq's it is what the theorems speak of. Names are those of the C code. *)
From Coq Require Import ZArith Bool List.
From Chunkproof Require Import NumFloat.
Import ListNotations.

Section Row.
Variable o : ops.
Local Notation num := (F o).
Local Notation "x +. y" := (add o x y) (at level 50, left associativity).
Local Notation "x -. y" := (sub o x y) (at level 50, left associativity).
Local Notation "x *. y" := (mul o x y) (at level 40, left associativity).
Local Notation "x /. y" := (div o x y) (at level 40, left associativity).
Local Notation "-. x" := (opp o x) (at level 35, right associativity).
Local Notation int := (of_int o).
Local Notation up_plus := (up_plus o).
Local Notation up_times := (up_times o).
Local Notation up_function := (up_function o).
Local Notation zero := (zero o).
Local Notation one := (one o).

(** ** What the C library has besides *)

Definition is_nan (x : num) : bool := negb (eq o x x).
Definition larger (x y : num) : num :=
  if is_nan x then y else if is_nan y then x else if lt o x y then y else x.
Definition smaller (x y : num) : num :=
  if is_nan x then y else if is_nan y then x else if lt o y x then y else x.
Definition is_finite (x : num) : bool := lt o (abs o x) (infinite o).

(** ** The question *)

Record format := Format { f_unit : num; f_tiny : num; f_largest : num }.

Record arithmetic := Arithmetic {
  c_score : score_class o;
  c_u_arg : num; c_u_ref : num; c_u_move : num;
  c_eps : num; c_kappa : num;
  c_weights : format; c_rounded_sum : bool;
  c_u_n : num; c_eta_n : num; c_u_o : num; c_eta_o : num; c_u_part : num;
  c_u_div : num; c_eta_div : num;
  c_output : format;
  c_above : num; c_below : num }.

Record counts := Counts {
  n_depth_n : Z; n_depth_o : Z; n_stores : Z; n_changes : Z;
  n_operations_n : num; n_operations_o : num }.

(** A key, its value, and what changes its score: the shift, and its error. *)
Record key := Key {
  k_key : list num; k_value : list num; k_shift : option (num * num) }.

Record row := Row { r_scale : num; r_q : list num; r_keys : list key }.

Definition n_keys (r : row) : Z := Z.of_nat (length (r_keys r)).
Definition head_dim (r : row) : Z := Z.of_nat (length (r_q r)).

(** ** Step 1: scores *)

Definition dot (q k : list num) : num :=
  fold_left (fun sum x => sum +. fst x *. snd x) (combine q k) zero.
Definition magnitude_of (q k : list num) : num :=
  up_sum o (fold_left (fun sum x => sum +. abs o (fst x *. snd x)) (combine q k) zero)
         (Z.of_nat (length q) + 4).

(** The class of this evaluation itself: cp_arithmetic_fp64(). *)
Definition here (d : Z) : score_class o :=
  Score_class o (pow2 o (-53)) (pow2 o (-1074)) (pow2 o (-53)) zero d d
              (int 3 *. pow2 o (-53)) (pow2 o (-1074)) false.

(** The score of a key, its error in the class, its error here. *)
Record scored := Scored { score : num; sigma : num; z : num }.

Definition plain_score (r : row) (of_here of_class : score_bound o) (k : list num) : scored :=
  let magnitude := up_times (magnitude_of (r_q r) k) (abs o (r_scale r)) in
  Scored (r_scale r *. dot (r_q r) k) (error_of_score o of_class magnitude)
         (error_of_score o of_here magnitude).

Definition shift_score (s : scored) (shift : num * num) : scored :=
  let sum := score s +. fst shift in
  Scored sum (up_plus (sigma s) (snd shift)) (up_plus (z s) (up_times (pow2 o (-52)) (abs o sum))).

Definition score_of (r : row) (of_here of_class : score_bound o) (k : key) : scored :=
  let s := plain_score r of_here of_class (k_key k) in
  match k_shift k with None => s | Some shift => shift_score s shift end.

Definition scores (a : arithmetic) (r : row) : list scored :=
  let of_here := score_bound_of o (here (head_dim r)) (r_scale r) (head_dim r) in
  let of_class := score_bound_of o (c_score a) (r_scale r) (head_dim r) in
  map (score_of r of_here of_class) (r_keys r).

(** What follows for the references. *)
Record references := References {
  largest_z : num; top : num; high : num; low : num; slack : num; h : num; rise : num }.

Definition references_of (a : arithmetic) (k : counts) (all : list scored) : references :=
  let largest := fold_left (fun x s => larger x (score s)) all (-. infinite o) in
  let smallest := fold_left (fun x s => smaller x (score s)) all (infinite o) in
  let largest_z := fold_left (fun x s => larger x (z s)) all zero in
  let slack := fold_left (fun x s => larger x (sigma s)) all zero in
  let beyond := up_plus largest_z slack in
  let above := up_plus beyond (c_above a) in
  let below := up_plus beyond (up_times (int (n_changes k) +. one) (c_below a)) in
  let high := up_plus largest above in
  let low := -. up_plus (-. smallest) below in
  References largest_z largest high low (up_plus slack (c_below a))
             (larger (abs o low) (abs o high)) (up_function (exp_of o above)).

(** ** Step 2: stretch and growth *)

Definition stretch_of (a : arithmetic) (b : references) (changes : Z) : num :=
  let moved := up_plus (up_times (int 2 *. c_u_move a) (h b)) (c_eps a) in
  let argument := up_times (c_u_arg a) (larger (up_plus (high b) (-. low b)) zero) in
  let x := up_plus (up_plus (slack b) argument) moved in
  let shrunk := up_function (larger (exp_of o (-. x)) (pow2 o (-1074))) in
  let missing := up_function (log1p_of o (up_times (c_kappa a) shrunk)) in
  up_function (exp_of o (up_times (int changes) (up_plus x missing))).

Definition lack_of (b : references) (n : Z) : num :=
  let span := smaller (larger (high b -. low b) zero) (int 708) in
  int 4 *. largest_z b +. int 4 *. pow2 o (-53) *. (span +. int n +. int 8).

(** ** Step 3: weights *)

(** What is the same for all keys. *)
Record scales := Scales { lack : num; stretch : num; growth_n : num; growth_o : num }.

Definition scales_of (a : arithmetic) (k : counts) (b : references) (n : Z) : scales :=
  Scales (lack_of b n) (stretch_of a b (n_changes k))
         (growth o (c_u_n a) (n_depth_n k) (c_u_part a) (n_stores k))
         (growth o (c_u_o a) (n_depth_o k) (c_u_part a) (n_stores k)).

Definition strays (a : arithmetic) (b : references) (s : scored) (changes : Z) : num :=
  let to_high := up_plus (up_plus (high b) (-. score s)) (largest_z b) in
  let along := up_plus (up_plus (sigma s) to_high)
                       (up_times (int 2 *. slack b) (int changes +. one)) in
  let once := up_plus (up_plus (sigma s) (up_times (c_u_arg a) along))
                      (up_plus (up_times (c_u_ref a) (h b)) (c_eps a)) in
  let each := up_plus (c_eps a) (up_times (int 2 *. c_u_move a) (h b)) in
  up_plus once (up_times (int changes) each).

Record key_bounds := Key_bounds { key_w : num; key_h : num; key_t : num }.

(** exp(s_j - top), to nearest. *)
Definition weight_of (b : references) (s : scored) : num :=
  if lt o (score s -. top b) (-. int 708) then pow2 o (-1021)
  else exp_of o (score s -. top b).

Definition weigh (a : arithmetic) (k : counts) (b : references) (c : scales) (s : scored)
  : key_bounds :=
  let x := strays a b s (n_changes k) in
  let first := strays a b s 0 in
  let w := weight_of b s in
  let most := up_times w (up_plus one (lack c)) in
  let missing := up_times (c_kappa a) (rise b) in
  let made := up_plus (up_function (exp_of o (up_plus (slack b) first))) (c_kappa a) in
  let rounded := up_plus (up_times made (up_plus one (f_unit (c_weights a))))
                         (f_tiny (c_weights a)) in
  let largest := up_times rounded (stretch c) in
  let rounding := larger (up_times (f_unit (c_weights a)) (up_plus most missing))
                         (up_times (f_tiny (c_weights a)) (rise b)) in
  let moved := up_times missing (int (n_changes k)) in
  let lost := if eq o moved zero then zero else up_times moved largest in
  let both := up_plus (up_plus missing lost) (if c_rounded_sum a then rounding else zero) in
  let grown := up_function (exp_of o x) in
  let gained := up_function (expm1_of o x) in
  let h := up_plus (up_times most gained) (up_times both grown) in
  let p := if c_rounded_sum a then zero else up_times (up_plus rounding lost) grown in
  let in_o := up_times (growth_o c) (up_plus (up_plus most h) p) in
  Key_bounds w h (up_plus p in_o).

(** ** Step 4: what is left of the denominator *)

Definition tiny_losses (b : references) (c : scales) (operations eta growth : num) : num :=
  let grown := up_times (stretch c) (up_plus one growth) in
  let most := up_times operations (rise b) in
  let both := up_times most grown in
  up_times both eta.

Record sums := Sums {
  all_weights : num; shared : num; least : num; lost_n : num; tiny_o : num; left : num }.

Definition sums_of (a : arithmetic) (k : counts) (b : references) (c : scales)
  (keys : list key_bounds) : sums :=
  let weights := fold_left (fun x key => x +. key_w key) keys zero in
  let shared := fold_left (fun x key => up_plus x (key_h key)) keys zero in
  let most := up_times weights (up_plus one (lack c)) in
  let least := -. up_plus (-. weights) (up_times weights (lack c)) in
  let lost_n := up_plus (up_times (growth_n c) (up_plus most shared))
                        (tiny_losses b c (n_operations_n k) (c_eta_n a) (growth_n c)) in
  Sums weights shared least lost_n
       (tiny_losses b c (n_operations_o k) (c_eta_o a) (growth_o c))
       (-. up_plus (up_plus shared lost_n) (-. least)).

(** ** Steps 5 and 6: columns *)

Definition with_output (a : arithmetic) (error expected spare : num) : num :=
  let size := up_plus (abs o expected) spare in
  let quotient := up_plus (up_times (c_u_div a) (up_plus size error)) (c_eta_div a) in
  let before := up_plus error quotient in
  let written := up_plus size before in
  if negb (le o written (f_largest (c_output a))) then infinite o
  else up_plus (up_plus before (larger (up_times (f_unit (c_output a)) written)
                                       (f_tiny (c_output a)))) spare.

Definition expected_of (m : sums) (column : list (key_bounds * num)) : num :=
  fold_left (fun sum x => sum +. key_w (fst x) *. snd x) column zero /. all_weights m.

Definition spare_of (c : scales) (m : sums) (column : list (key_bounds * num)) : num :=
  let n := Z.of_nat (length column) in
  let magnitude := fold_left (fun sum x =>
    let lack := if le o (key_w (fst x)) (pow2 o (-1021)) then one else lack c in
    sum +. key_w (fst x) *. abs o (snd x) *. lack) column zero in
  up_plus (up_sum o (magnitude /. all_weights m) (n + 4)) (int n *. pow2 o (-1074)).

Definition error_of (m : sums) (column : list (key_bounds * num)) (expected spare : num) : num :=
  let error := fold_left (fun sum x =>
    let distance := abs o (snd x -. expected) +. spare in
    sum +. (key_h (fst x) *. distance +. key_t (fst x) *. abs o (snd x))) column zero in
  let of_sums := up_plus (tiny_o m) (up_times (up_plus (abs o expected) spare) (lost_n m)) in
  up_plus (up_sum o error (2 * Z.of_nat (length column) + 8)) of_sums.

Definition bound_column (a : arithmetic) (c : scales) (m : sums)
  (column : list (key_bounds * num)) : num * num :=
  let expected := expected_of m column in
  let spare := spare_of c m column in
  let all := error_of m column expected spare in
  (expected, with_output a (up o (all /. left m)) expected spare).

(** ** NUM-11 *)

Definition bound_lse (b : references) (c : scales) (m : sums) (sure : bool) (lse_error : num)
  : num * num :=
  let lse := top b +. log_of o (all_weights m) in
  let spare := up_plus (lack c) (up_times (pow2 o (-50)) (abs o lse)) in
  let part := up o (up_plus (shared m) (lost_n m) /. least m) in
  if negb sure || negb (lt o part one) then (lse, infinite o)
  else
    let of_weights := up_function (-. log1p_of o (-. part)) in
    (lse, up_plus (up_plus lse_error of_weights) spare).

(** ** All of it *)

Definition is_sure (b : references) (m : sums) : bool :=
  le o (largest_z b) (pow2 o (-30)) && lt o zero (left m) && is_finite (left m).

Definition most_numbers : Z := 1048576.

(** expected and bound of each column; log-sum-exp and its bound. *)
Definition tolerance (a : arithmetic) (k : counts) (r : row) (lse_error : num)
  : list (num * num) * (num * num) :=
  let n := n_keys r in
  if Z.ltb n 1 || Z.ltb most_numbers n || Z.ltb most_numbers (head_dim r) then
    (map (fun _ => (zero, infinite o)) (r_q r), (-. infinite o, infinite o))
  else
    let all := scores a r in
    let b := references_of a k all in
    let c := scales_of a k b n in
    let keys := map (weigh a k b c) all in
    let m := sums_of a k b c keys in
    let sure := is_sure b m in
    let column i := combine keys (map (fun key => nth i (k_value key) zero) (r_keys r)) in
    let claim x := (fst x, if sure && negb (is_nan (snd x)) then snd x else infinite o) in
    (map (fun i => claim (bound_column a c m (column i))) (seq 0 (length (r_q r))),
     bound_lse b c m sure lse_error).
End Row.
