(* SPDX-License-Identifier: Apache-2.0 *)
(* Attention in two phases on binary64: cp_attend() and output_steps of Execution.v, bit for bit,
   both variants. exp and log are the C library's, in both. *)

let binary64 : float Model.arithmetic =
  {
    zero = 0.0;
    plus = ( +. );
    subtract = ( -. );
    multiply = ( *. );
    divide = ( /. );
    exponential = exp;
    logarithm = log;
    is_greater = (fun (x : float) y -> x > y);
    is_zero = (fun (x : float) -> x = 0.0);
  }

type case = {
  h : int;
  h_kv : int;
  d : int;
  d_v : int;
  v_row : int;
  q_type : int;
  kv_type : int;
  scale : float;
  query_begin : int array;  (* empty: a row for each sequence *)
  q : float array;
  k : float array;
  v : float array;
}

(* Near each other, equal or far apart; each fits binary16. *)
let numbers d n =
  let kind = Draw.below d 3 in
  Array.init n (fun _ ->
      match kind with
      | 0 -> Draw.unit d
      | 1 -> float_of_int (Draw.between d (-2) 2)
      | _ -> ldexp (Draw.unit d) (Draw.between d (-8) 6))

let rising d b =
  let begin_ = Array.make (b + 1) 0 in
  for s = 1 to b do
    begin_.(s) <- begin_.(s - 1) + Draw.below d 4
  done;
  begin_

(* Slots behind a chunk's keys hold NaN, and so does what stands behind a value in its row: whoever
   reads one is found out. *)
let poison w case =
  let c = w.World.settings.chunk_size in
  let row x g i = (((x * case.h_kv) + g) * c) + i in
  for x = 0 to w.settings.capacity - 1 do
    let y = w.to_model.(x) in
    let keys = if y = World.no_chunk then 0 else List.length (Model.tokens_in w.forest y) in
    for g = 0 to case.h_kv - 1 do
      for i = 0 to c - 1 do
        let spare = if i < keys then case.d_v else 0 in
        if i >= keys then Array.fill case.k (row x g i * case.d) case.d nan;
        Array.fill case.v ((row x g i * case.v_row) + spare) (case.v_row - spare) nan
      done
    done
  done

let draw w d =
  let b = Model.n_members w.World.forest in
  let h_kv = Draw.between d 1 2 and head_dim = Draw.between d 1 4 in
  let h = h_kv * Draw.between d 1 2 in
  let d_v = Draw.between d 1 9 in
  let v_row = d_v + Draw.below d 3 in
  let query_begin = if Draw.chance d 30 then [||] else rising d b in
  let rows = if query_begin = [||] then b else query_begin.(b) in
  let slots = w.settings.capacity * h_kv * w.settings.chunk_size in
  let case =
    {
      h;
      h_kv;
      d = head_dim;
      d_v;
      v_row;
      q_type = Draw.below d 4;
      kv_type = Draw.below d 4;
      scale = 2.0 *. Draw.unit d;
      query_begin;
      q = numbers d (rows * h * head_dim);
      k = numbers d (slots * head_dim);
      v = numbers d (slots * v_row);
    }
  in
  poison w case;
  case

(* The same to the model, whose chunks have other names. Its values are as wide as its keys: the
   numbers from `first` on, for each number of a result comes of that number of the values
   (WIDTH-1). 0 stands for what no value has. *)
let model_of w case first : float Model.problem =
  let c = w.World.settings.chunk_size in
  let row x g i = (((w.of_model.(x) * case.h_kv) + g) * c) + i in
  let number x g i e =
    if first + e < case.d_v then case.v.((row x g i * case.v_row) + first + e) else 0.0
  in
  {
    heads = case.h;
    kv_heads = case.h_kv;
    dimension = case.d;
    scaled_by = case.scale;
    first_row = (fun s -> if case.query_begin = [||] then s else case.query_begin.(s));
    query = (fun r a e -> case.q.((((r * case.h) + a) * case.d) + e));
    keys = (fun x g i e -> case.k.((row x g i * case.d) + e));
    values = number;
  }

let same_bits what of_reference of_model =
  if Int64.bits_of_float of_reference <> Int64.bits_of_float of_model then
    World.drift "%s: ref/ has %h, Coq has %h" what of_reference of_model

let same_row w plan case out first (problem : float Model.problem) s t a =
  let rows = Array.length case.q / case.d / case.h in
  let row = problem.first_row s + t in
  let pair = (row * case.h) + a in
  let what = Printf.sprintf "attention, sequence %d, row %d, head %d, " s t a in
  List.iteri
    (fun e number ->
      let i = first + e in
      if i < case.d_v then begin
        same_bits (what ^ "component " ^ string_of_int i) out.((pair * case.d_v) + i) number;
        World.count "numbers of attention"
      end)
    (Model.output_steps binary64 plan problem s t a);
  let lse =
    Option.value ~default:neg_infinity (Model.output_lse_steps binary64 plan problem s t a)
  in
  same_bits (what ^ "lse") out.((rows * case.h * case.d_v) + pair) lse;
  ignore (w : World.t);
  if first = 0 then World.count "numbers of attention";
  if first = 0 && lse = neg_infinity then World.count "rows that see no key"

let variants = [ (0, "buffered"); (1, "merged at once") ]

let check w plan d =
  let case = draw w d in
  List.iter
    (fun (variant, name) ->
      let header =
        [| case.h; case.h_kv; case.d; case.q_type; case.kv_type; variant; case.d_v; case.v_row |]
      in
      let out = Reference.attend header case.query_begin case.scale (case.q, case.k, case.v) in
      for block = 0 to (case.d_v - 1) / case.d do
        let first = block * case.d in
        let problem = model_of w case first in
        for s = 0 to Model.n_members w.World.forest - 1 do
          for t = 0 to problem.first_row (s + 1) - problem.first_row s - 1 do
            for a = 0 to case.h - 1 do
              same_row w plan case out first problem s t a
            done
          done
        done
      done;
      World.count ("attention, " ^ name))
    variants
