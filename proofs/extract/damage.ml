(* SPDX-License-Identifier: Apache-2.0 *)
(* Plans damaged in one to three random places: cp_plan_is_valid() and plan_check say the same of
   each. The sizes stay within what cp_plan has room for; the definition has no such bounds. *)

type numbers = {
  header : int array;
  mutable shared : int array array;
  mutable sequence : int array array;
}

let of_reference () =
  let header = Reference.plan () in
  {
    header;
    shared = Array.init header.(3) Reference.plan_shared;
    sequence = Array.init header.(2) Reference.plan_sequence;
  }

let model_of p : Model.plan =
  let number array i = if i < Array.length array then array.(i) else 0 in
  {
    capacity = p.header.(0);
    chunk_size = p.header.(1);
    n_sequences = p.header.(2);
    shared =
      List.map
        (fun d : Model.descriptor ->
          { chunk = d.(0); begin0 = d.(1); end_ = d.(2); n_keys = d.(3); position = d.(4) })
        (Array.to_list p.shared);
    sequence =
      (fun s ->
        let r = p.sequence.(s) in
        { n_tokens = r.(0); n_chunks = r.(1); n_shared = r.(2);
          path = (fun k -> number r (3 + k)) });
  }

(* Near what it was, or anything small. *)
let nudged d most x =
  let y = if Draw.chance d 70 then x + Draw.between d (-2) 2 else Draw.below d (most + 1) in
  max 0 (min most y)

let change d most array i = array.(i) <- nudged d most array.(i)

let words array = World.text (Array.to_list array)

let swap array i j =
  let kept = array.(i) in
  array.(i) <- array.(j);
  array.(j) <- kept

let without array i =
  Array.of_list (List.filteri (fun j _ -> j <> i) (Array.to_list array))

let damage d p =
  let limits = Reference.limits () in
  let chunks = limits.(0) and depth = limits.(2) and c = limits.(3) in
  let n = Array.length p.shared and b = Array.length p.sequence in
  match Draw.below d 12 with
  | 0 -> p.header.(0) <- max 1 (nudged d chunks p.header.(0))
  | 1 -> p.header.(1) <- nudged d c p.header.(1)
  | 2 | 3 | 4 when n > 0 ->
      let i = Draw.below d n in
      change d (depth * c) p.shared.(i) (Draw.below d 5)
  | 5 when n > 1 -> swap p.shared (Draw.below d n) (Draw.below d n)
  | 6 when n > 0 -> p.shared <- without p.shared (Draw.below d n)
  | 7 when n > 0 && n < chunks ->
      p.shared <- Array.append p.shared [| Array.copy p.shared.(Draw.below d n) |]
  | 8 when n > 0 ->
      (* One descriptor becomes two, each with some of its sequences. *)
      let i = Draw.below d n in
      let low, high = (Array.copy p.shared.(i), Array.copy p.shared.(i)) in
      let cut = Draw.between d (min low.(1) low.(2)) (max low.(1) low.(2)) in
      low.(2) <- cut;
      high.(1) <- cut;
      p.shared <- Array.concat [ Array.sub p.shared 0 i; [| low; high |];
                                 Array.sub p.shared (i + 1) (n - i - 1) ];
      if Draw.chance d 70 then
        Array.stable_sort (fun d e -> compare (d.(1), d.(4)) (e.(1), e.(4))) p.shared
  | 9 when b > 0 ->
      let r = p.sequence.(Draw.below d b) in
      change d (depth * c) r 0
  | 10 when b > 0 ->
      let r = p.sequence.(Draw.below d b) in
      change d depth r (Draw.between d 1 2)
  | _ when b > 0 ->
      let r = p.sequence.(Draw.below d b) in
      if Array.length r > 3 then change d chunks r (Draw.between d 3 (Array.length r - 1))
  | _ -> p.header.(1) <- nudged d c p.header.(1)

(* header.(3) and the lengths of paths follow from the arrays. *)
let check d =
  let p = of_reference () in
  for _ = 1 to Draw.between d 1 3 do
    damage d p
  done;
  p.header.(3) <- Array.length p.shared;
  let of_reference = Reference.plan_check p.header p.shared p.sequence in
  (* plan_sizes: at most as many descriptors as chunks; `valid` of Plan.v has no such bound. *)
  let fits = p.header.(3) <= p.header.(0) in
  let of_model = fits && Model.plan_check (model_of p) in
  let said verdict = if verdict then "valid" else "broken" in
  if of_reference <> of_model then
    World.drift "a damaged plan is %s for cp_plan_is_valid(), %s for plan_check: [%s] [%s] [%s]"
      (said of_reference) (said of_model)
      (words p.header)
      (String.concat "; " (List.map words (Array.to_list p.shared)))
      (String.concat "; " (List.map words (Array.to_list p.sequence)));
  World.count ("damaged plans, " ^ said of_model)
