(* SPDX-License-Identifier: Apache-2.0 *)
(* Plans of runs, made at random and then changed in one to three random places:
   cp_plan_check_runs() and run_check say the same of each. Numbers stay within what cp_plan has
   room for; the definition has no such bounds. *)

(* A descriptor is chunk, begin, end, tokens, position. A sequence is how many of its runs are
   shared, and then chunk, tokens and position of each. *)
type numbers = {
  mutable capacity : int;
  mutable chunk_size : int;
  mutable served : int array;
  mutable shared : int array array;
  sequence : int array array;
}

let rec triples n array =
  if n + 2 < Array.length array then
    (array.(n), array.(n + 1), array.(n + 2)) :: triples (n + 3) array
  else []

let model_of p : Model.run_plan =
  {
    n_pool = p.capacity;
    width = p.chunk_size;
    n_prompts = Array.length p.sequence;
    served = Array.to_list p.served;
    descriptors =
      List.map
        (fun d : Model.descriptor ->
          { chunk = d.(0); begin0 = d.(1); end_ = d.(2); n_keys = d.(3); position = d.(4) })
        (Array.to_list p.shared);
    runs =
      (fun s ->
        List.map
          (fun (in_chunk, held, first) : Model.run -> { in_chunk; held; first })
          (triples 1 p.sequence.(s)));
    n_common = (fun s -> p.sequence.(s).(0));
  }

(* ---- A valid plan: modules that some sequences have, and a text of each sequence's own ---- *)

type making = {
  c : int;
  mutable next : int; (* chunk *)
  mutable at : int; (* position behind all that is there *)
  mutable lists : int array;
  mutable given : int array list; (* descriptors, the last one first *)
  common : int list array; (* shared runs of each sequence, as numbers *)
  alone : int list array;
}

(* A text of n tokens, behind a gap: its runs. *)
let text d m n =
  m.at <- m.at + Draw.below d 3;
  let runs =
    List.init ((n + m.c - 1) / m.c) (fun k ->
        (m.next + k, min m.c (n - (k * m.c)), m.at + (k * m.c)))
  in
  m.next <- m.next + List.length runs;
  m.at <- m.at + n;
  runs

let numbers_of (chunk, n_tokens, position) = [ chunk; n_tokens; position ]

(* Two sequences or more have it in descriptors, mostly. *)
let add_module d m depth =
  let runs = text d m (1 + Draw.below d (2 * m.c)) in
  let fits s = List.length m.common.(s) + List.length m.alone.(s) + 3 * List.length runs <= depth in
  let has s = Draw.chance d 60 && fits s in
  let users = List.filter has (List.init (Array.length m.common) Fun.id) in
  let users = if Draw.chance d 40 then List.rev users else users in
  let give lists run s = lists.(s) <- lists.(s) @ numbers_of run in
  if List.length users >= 2 && Draw.chance d 85 then (
    let first = Array.length m.lists in
    m.lists <- Array.append m.lists (Array.of_list users);
    List.iter
      (fun (chunk, n_tokens, position) ->
        m.given <- [| chunk; first; Array.length m.lists; n_tokens; position |] :: m.given;
        List.iter (give m.common (chunk, n_tokens, position)) users)
      runs)
  else List.iter (fun run -> List.iter (give m.alone run) users) runs

let make d =
  let limits = Reference.limits () in
  let b = Draw.between d 1 (min 5 limits.(1)) and depth = 3 * limits.(2) in
  let m =
    { c = Draw.between d 1 (min 4 limits.(3)); next = 0; at = 0; lists = [||]; given = [];
      common = Array.make b []; alone = Array.make b [] }
  in
  for _ = 1 to Draw.below d 5 do
    if m.next + 2 <= limits.(0) then add_module d m depth
  done;
  {
    capacity = max 1 m.next;
    chunk_size = m.c;
    served = m.lists;
    shared = Array.of_list (List.rev m.given);
    sequence =
      Array.init b (fun s ->
          Array.of_list
            ((List.length m.common.(s) / 3) :: (m.common.(s) @ m.alone.(s))));
  }

(* ---- Changes ---- *)

let change_shared d p limits =
  let n = Array.length p.shared in
  let i = Draw.below d n in
  match Draw.below d 6 with
  | 0 -> Damage.swap p.shared i (Draw.below d n)
  | 1 -> p.shared <- Damage.without p.shared i
  | 2 when n < limits.(0) ->
      p.shared <- Array.append p.shared [| Array.copy p.shared.(i) |]
  | _ -> Damage.change d 40 p.shared.(i) (Draw.below d 5)

let damage d p =
  let limits = Reference.limits () in
  let b = Array.length p.sequence in
  match Draw.below d 8 with
  | 0 -> p.capacity <- max 1 (Damage.nudged d limits.(0) p.capacity)
  | 1 -> p.chunk_size <- max 1 (Damage.nudged d limits.(3) p.chunk_size)
  | 2 | 3 when Array.length p.shared > 0 -> change_shared d p limits
  | 4 when Array.length p.served > 0 ->
      Damage.change d b p.served (Draw.below d (Array.length p.served))
  | 5 when Array.length p.served > 1 ->
      let n = Array.length p.served in
      Damage.swap p.served (Draw.below d n) (Draw.below d n)
  | _ ->
      let r = p.sequence.(Draw.below d b) in
      Damage.change d 40 r (Draw.below d (Array.length r))

let compare_both p =
  let of_reference =
    Reference.runs_check [| p.capacity; p.chunk_size |] p.served p.shared p.sequence
  in
  let of_model = Model.run_check (model_of p) in
  let said verdict = if verdict then "valid" else "broken" in
  let all arrays = String.concat "; " (List.map Damage.words (Array.to_list arrays)) in
  if of_reference <> of_model then
    World.drift "a plan of runs is %s for cp_plan_check_runs(), %s for run_check: [%s] [%s] [%s]"
      (said of_reference) (said of_model) (Damage.words p.served) (all p.shared) (all p.sequence);
  World.count ("plans of runs, " ^ said of_model);
  of_model

let check d =
  let p = make d in
  if not (compare_both p) then World.drift "%s" "a plan of runs that was made is none";
  if Array.exists (fun d -> d.(2) - d.(1) >= 2) p.shared then World.count "plans of lists";
  for _ = 1 to Draw.between d 1 3 do
    damage d p
  done;
  ignore (compare_both p)
