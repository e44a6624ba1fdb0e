(* SPDX-License-Identifier: Apache-2.0 *)
(* The certified bound of random rows: cp_tolerance() and `tolerance` of NumFloatRow.v, bit for bit.
   exp, expm1, log and log1p are the C library's, in both.

   First each field of a class alone, at each extreme, then several at once: a term that a usual
   class hides is seen in a class that has no other error. *)

(* The numbers of Coq's definition are of any type: here they are floats. *)
let num : float -> Obj.t = Obj.repr
let float : Obj.t -> float = Obj.obj
let one_of_one f = fun x -> num (f (float x))
let one_of_two f = fun x y -> num (f (float x) (float y))
let test_of_two f = fun x y -> f (float x) (float y)

let binary64 : Model.ops =
  {
    add0 = one_of_two ( +. );
    sub0 = one_of_two ( -. );
    mul0 = one_of_two ( *. );
    div0 = one_of_two ( /. );
    opp0 = one_of_one ( ~-. );
    abs = one_of_one abs_float;
    lt = test_of_two (fun (x : float) y -> x < y);
    le = test_of_two (fun (x : float) y -> x <= y);
    eq = test_of_two (fun (x : float) y -> x = y);
    exp_of = one_of_one exp;
    expm1_of = one_of_one expm1;
    log_of = one_of_one log;
    log1p_of = one_of_one log1p;
    of_int = (fun n -> num (float_of_int n));
    pow2 = (fun e -> num (ldexp 1.0 e));
    infinite = num infinity;
  }

(* ---- The question ---- *)

(* Of a class and its counts, in the order of stubs.c. *)
let field_names =
  [| "score.term_unit"; "score.term_tiny"; "score.unit"; "score.tiny"; "score.scale_unit";
     "score.scale_tiny"; "u_arg"; "u_ref"; "u_move"; "eps"; "kappa"; "weights.unit";
     "weights.tiny"; "u_n"; "eta_n"; "u_o"; "eta_o"; "u_part"; "u_div"; "eta_div"; "output.unit";
     "output.tiny"; "above"; "below"; "operations_n"; "operations_o"; "lse_error";
     "output.largest" |]

let number_names =
  [| "depth_n"; "depth_o"; "stores"; "changes"; "score.depth"; "score.n_additions";
     "scaled_before"; "rounded_sum" |]

let n_fields = Array.length field_names
let largest_field = n_fields - 1

type question = {
  field : float array;  (* field_names *)
  number : int array;  (* number_names *)
  n : int;
  d : int;
  scale : float;
  q : float array;
  k : float array;
  v : float array;
  shift : float array;  (* of each key, or [||] *)
  shift_error : float array;
}

let shifted c = Array.length c.shift > 0

let model_of c : Model.arithmetic0 * Model.counts * Model.row =
  let f i = num c.field.(i) in
  let some array first = List.init c.d (fun i -> num array.(first + i)) in
  ( {
      c_score =
        {
          c_term_unit = f 0;
          c_term_tiny = f 1;
          c_unit = f 2;
          c_tiny = f 3;
          c_depth = c.number.(4);
          c_additions = c.number.(5);
          c_scale_unit = f 4;
          c_scale_tiny = f 5;
          c_scaled_before = c.number.(6) = 1;
        };
      c_u_arg = f 6;
      c_u_ref = f 7;
      c_u_move = f 8;
      c_eps = f 9;
      c_kappa = f 10;
      c_weights = { f_unit = f 11; f_tiny = f 12; f_largest = num infinity };
      c_rounded_sum = c.number.(7) = 1;
      c_u_n = f 13;
      c_eta_n = f 14;
      c_u_o = f 15;
      c_eta_o = f 16;
      c_u_part = f 17;
      c_u_div = f 18;
      c_eta_div = f 19;
      c_output = { f_unit = f 20; f_tiny = f 21; f_largest = f largest_field };
      c_above = f 22;
      c_below = f 23;
    },
    {
      n_depth_n = c.number.(0);
      n_depth_o = c.number.(1);
      n_stores = c.number.(2);
      n_changes = c.number.(3);
      n_operations_n = f 24;
      n_operations_o = f 25;
    },
    {
      r_scale = num c.scale;
      r_q = some c.q 0;
      r_keys =
        List.init c.n (fun j ->
            Model.
              {
                k_key = some c.k (j * c.d);
                k_value = some c.v (j * c.d);
                k_shift =
                  (if shifted c then Some (num c.shift.(j), num c.shift_error.(j)) else None);
              });
    } )

(* ---- Comparison ---- *)

let text_of c =
  let named name show array =
    String.concat " " (List.mapi (fun i x -> name i ^ "=" ^ show x) (Array.to_list array))
  in
  let hex = Printf.sprintf "%h" in
  let plain name = fun i -> Printf.sprintf "%s[%d]" name i in
  let few array = Array.sub array 0 (min 12 (Array.length array)) in
  Printf.sprintf "  n=%d d=%d scale=%h\n  %s\n  %s\n  %s\n  %s\n  %s\n  %s\n  %s" c.n c.d
    c.scale
    (named (fun i -> field_names.(i)) hex c.field)
    (named (fun i -> number_names.(i)) string_of_int c.number)
    (named (plain "q") hex (few c.q))
    (named (plain "k") hex (few c.k))
    (named (plain "v") hex (few c.v))
    (named (plain "shift") hex (few c.shift))
    (named (plain "shift_error") hex (few c.shift_error))

(* Any NaN is any other: its sign and payload are the machine's choice. *)
let same_bits c what of_reference of_model =
  if
    Int64.bits_of_float of_reference <> Int64.bits_of_float of_model
    && not (Float.is_nan of_reference && Float.is_nan of_model)
  then World.drift "%s: ref/ has %h, Coq has %h\n%s" what of_reference of_model (text_of c)

let check c =
  let out =
    Reference.tolerance c.field
      (Array.append [| c.n; c.d |] c.number)
      (c.scale, c.q, c.k, c.v, c.shift, c.shift_error)
  in
  let a, counts, row = model_of c in
  let columns, (lse, lse_bound) =
    Model.tolerance binary64 a counts row (num c.field.(26))
  in
  let finite = ref 0 in
  let both what place number =
    same_bits c ("bound, " ^ what) out.(place) (float number)
  in
  let claimed place = if out.(place) < infinity then incr finite in
  List.iteri
    (fun i (expected, bound) ->
      both (Printf.sprintf "expected of column %d" i) i expected;
      both (Printf.sprintf "bound of column %d" i) (c.d + i) bound;
      claimed (c.d + i))
    columns;
  both "lse" (2 * c.d) lse;
  both "bound of lse" ((2 * c.d) + 1) lse_bound;
  claimed ((2 * c.d) + 1);
  World.count_many "bounds, finite" !finite;
  World.count_many "bounds, infinite" (c.d + 1 - !finite);
  if c.n = 0 then World.count "rows without a key";
  if shifted c then
    World.count (if !finite > 0 then "rows with shifts" else "rows with shifts, no bound");
  if c.d > 128 then World.count "rows of many columns";
  if c.n > 100 then World.count "rows of many keys"

(* ---- Random questions ---- *)

let extremes =
  [| 0.0; 0x1p-1074; 0x1.8p-1070; 0x1p-1022; 0x1p-500; 0x1p-150; 0x1p-53; 0x1p-30; 0x1p-24;
     0x1p-11; 0x1p-8; 0.01; 0.1; 0.3; 1.0; 3.0; 700.0; 710.0; 0x1p60; 0x1p500; 0x1p1000 |]

let extreme_counts = [| 0; 1; 2; 3; 100; 4096; 1 lsl 20; 1 lsl 30; (1 lsl 31) - 1 |]
let one_of d array = array.(Draw.below d (Array.length array))

let no_errors () =
  let field = Array.make n_fields 0.0 in
  field.(largest_field) <- max_float;
  field

(* unit and tiny of NUM-4. *)
let formats =
  [| (0x1p-11, 0x1p-25, 65504.0); (0x1p-8, 0x1p-134, 0x1.FEp127);
     (0x1p-24, 0x1p-150, 0x1.FFFFFEp127); (0x1p-53, 0x1p-1074, max_float); (0.0, 0.0, infinity) |]

(* A class in binary32 or binary64, with weights and output in some format. *)
let usual d =
  let field = no_errors () in
  let u, tiny = if Draw.chance d 70 then (0x1p-24, 0x1p-149) else (0x1p-53, 0x1p-1074) in
  List.iter (fun i -> field.(i) <- u) [ 0; 2; 6; 13; 15; 18 ];
  List.iter (fun i -> field.(i) <- tiny) [ 1; 5; 10; 14; 16; 19 ];
  field.(4) <- 3.0 *. u;
  field.(9) <- 2.0 *. u /. (1.0 -. (2.0 *. u));
  let unit_, tiny, _ = one_of d formats in
  field.(11) <- unit_;
  field.(12) <- tiny;
  let unit_, tiny, largest = one_of d formats in
  field.(20) <- unit_;
  field.(21) <- tiny;
  field.(largest_field) <- largest;
  field

let counts_of_chunks d head_dim =
  let size = Draw.between d 1 64 and merges = Draw.below d 8 in
  let keys = float_of_int (size * (merges + 1)) and m = 5.0 *. float_of_int merges in
  ( [| size + (2 * merges); size + 1 + (2 * merges); merges; merges; head_dim; head_dim;
       Draw.below d 2; Draw.below d 2 |],
    keys +. m,
    (2.0 *. keys) +. m )

(* NUM-20: some sums are of short sums, with roundings that count as so many additions. *)
let promote d number =
  if Draw.chance d 10 then (
    let as_one = one_of d [| 1 lsl 13; 1 lsl 16 |] and products = 1 lsl Draw.between d 2 6 in
    number.(1) <- number.(1) + (as_one * products);
    number.(4) <- number.(4) + (as_one * (products - 1)))

let change d c changes =
  for _ = 1 to changes do
    c.field.(Draw.below d (n_fields - 1)) <- one_of d extremes
  done;
  for _ = 1 to changes / 2 do
    c.number.(Draw.below d 6) <- one_of d extreme_counts
  done;
  if Draw.chance d 15 then c.field.(22) <- one_of d [| 1e-3; 1.0; 20.0; 300.0; 650.0; 709.0 |]

let size_of d =
  match Draw.below d 1000 with
  | 0 -> (Draw.between d 100 300, Draw.between d 1 3)
  | 1 -> (Draw.between d 1 3, Draw.between d 129 131)
  | 2 -> (0, Draw.between d 1 3)
  | _ -> (Draw.between d 1 4, Draw.between d 1 3)

let numbers d n size =
  let whole = Draw.chance d 50 in
  Array.init n (fun _ ->
      let x = size *. Draw.unit d in
      if whole then floor x else x)

let question d field =
  let n, dim = size_of d in
  let size = one_of d [| 0.0; 1e-3; 1.0; 1.0; 10.0; 40.0; 400.0; 800.0; 1e5; 1e8 |] in
  let values = one_of d [| 0x1p-1074; 0x1p-1022; 1e-30; 1.0; 1.0; 6e4; 1e30; 0x1p1000 |] in
  let number, operations_n, operations_o = counts_of_chunks d dim in
  promote d number;
  field.(24) <- operations_n;
  field.(25) <- operations_o;
  {
    field;
    number;
    n;
    d = dim;
    scale = one_of d [| 1.0; 1.0; 0.125; -1.0; 1.0 /. 3.0 |];
    q = Array.init dim (fun i -> if i = 0 then 1.0 else 0.1 *. Draw.unit d);
    k = numbers d (n * dim) size;
    v = numbers d (n * dim) values;
    shift = [||];
    shift_error = [||];
  }

(* Scores that are shifted, mostly by as little as lets a bound be finite; now and then by what is
   no number. *)
let with_shifts d c =
  let size = one_of d [| 0.0; 1e-3; 1.0; 1.0; 10.0; 400.0; 1e5; 1e8; 0x1p1000 |] in
  let error = one_of d extremes in
  let shift = numbers d c.n size in
  let shift_error =
    Array.init c.n (fun _ -> if Draw.chance d 50 then 0.0 else min error (one_of d extremes))
  in
  if c.n > 0 && Draw.chance d 5 then
    (if Draw.chance d 50 then shift else shift_error).(Draw.below d c.n) <-
      one_of d [| infinity; nan |];
  if c.n > 0 && Draw.chance d 5 then shift.(Draw.below d c.n) <- neg_infinity;
  { c with shift; shift_error }

(* Each field at each extreme, so often. *)
let times_alone = 4
let alone = n_fields * Array.length extremes * times_alone

let draw d row =
  if row < alone then (
    let c = question d (no_errors ()) in
    let place = row / times_alone in
    c.field.(place mod n_fields) <- extremes.(place / n_fields);
    c)
  else
    let c = question d (if Draw.chance d 70 then usual d else no_errors ()) in
    change d c (Draw.below d 6);
    if Draw.chance d 25 then with_shifts d c else c

(* Rows until `late ()`. *)
let run rows seed late =
  let done_ = ref 0 in
  while !done_ < rows && not (late ()) do
    (* of the seed and the row alone *)
    let d = Draw.make ((seed * 0x3C6EF372FE94F82) lxor !done_) in
    (try check (draw d !done_)
     with World.Drift said -> World.drift "row %d, %s" !done_ said);
    incr done_
  done;
  !done_
