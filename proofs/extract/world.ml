(* SPDX-License-Identifier: Apache-2.0 *)
(* One tree in ref/ and the same in the extracted definitions. What must be equal is equal after
   each operation, or Drift says what is not. *)

exception Drift of string

let drift format = Printf.ksprintf (fun said -> raise (Drift said)) format

type settings = { capacity : int; chunk_size : int; hash_bits : int }

type operation =
  | Join of { tokens : int list; salt : int; id : int; hashed : bool }
  | Append of (int * int) list
  | Leave of int
  | Fork of { sequence : int; id : int }
  | Lookup of { tokens : int list; salt : int; hashed : bool }
  | Damage of int  (* a seed: plans that are wrong in random places *)
  | Attend of int  (* a seed: numbers *)

type t = {
  settings : settings;
  mutable forest : Model.forest;
  mutable planned : int;  (* the epoch of ref/'s plan; -1 before the first *)
  of_model : int array;  (* the model's chunks in ref/, or -1 *)
  to_model : int array;
}

let no_chunk = -1

let make settings =
  let limits = Reference.limits () in
  Reference.open_tree settings.capacity settings.chunk_size settings.hash_bits;
  {
    settings;
    forest = Model.new_forest settings.capacity settings.chunk_size limits.(2) limits.(1);
    planned = -1;
    of_model = Array.make settings.capacity no_chunk;
    to_model = Array.make settings.capacity no_chunk;
  }

(* ---- What is counted ---- *)

let counts : (string, int) Hashtbl.t = Hashtbl.create 64
let count_many what n =
  Hashtbl.replace counts what (n + Option.value ~default:0 (Hashtbl.find_opt counts what))

let count what = count_many what 1

(* ---- Equality ---- *)

let same what ref_has model_has =
  if ref_has <> model_has then drift "%s: ref/ has %d, Coq has %d" what ref_has model_has

let text l = String.concat " " (List.map string_of_int l)

let same_list what ref_has model_has =
  if ref_has <> model_has then
    drift "%s: ref/ has [%s], Coq has [%s]" what (text ref_has) (text model_has)

let tail_of array first = Array.to_list (Array.sub array first (Array.length array - first))

(* The chunks of a path are the model's under other names: one name for one. *)
let same_name w what x y =
  if w.of_model.(y) = no_chunk && w.to_model.(x) = no_chunk then (
    w.of_model.(y) <- x;
    w.to_model.(x) <- y)
  else if w.of_model.(y) <> x || w.to_model.(x) <> y then
    drift "%s: ref/ has chunk %d, Coq has chunk %d, and before chunk %d was chunk %d of Coq" what x
      y w.of_model.(y) w.to_model.(x)

let same_chunk w (tree : Model.tree) what x y =
  let chunk = Reference.chunk x in
  same (what ^ ", first sequence of its chunk") chunk.(0) (tree.range_begin y);
  same (what ^ ", end of its chunk's sequences") chunk.(1) (tree.range_end y);
  same (what ^ ", depth of its chunk") chunk.(2) (tree.depth y);
  same (what ^ ", tokens in its chunk") chunk.(3) (tree.fill y);
  same_list (what ^ ", its chunk") (tail_of chunk 4) (Model.tokens_in w.forest y)

let same_sequence w (tree : Model.tree) s (m : Model.member) =
  let what = Printf.sprintf "sequence %d" s in
  let sequence = Reference.sequence s in
  same (what ^ ", id") sequence.(0) m.id;
  same (what ^ ", salt") sequence.(1) m.salt;
  same (what ^ ", chunks") (Array.length sequence - 2) (tree.n s);
  List.iteri
    (fun k y ->
      let what = Printf.sprintf "sequence %d, depth %d" s k in
      same_name w what sequence.(2 + k) y;
      same_chunk w tree what sequence.(2 + k) y)
    m.chunks

let same_tree w tree =
  let f = w.forest and numbers = Reference.tree () in
  if not (Reference.tree_valid ()) then drift "cp_tree_is_valid() says no";
  same "sequences" numbers.(0) (Model.n_members f);
  same "free chunks" numbers.(1) (List.length (Model.free f));
  same "epoch" numbers.(2) f.epoch;
  same "step" numbers.(3) f.step;
  Array.fill w.of_model 0 w.settings.capacity no_chunk;
  Array.fill w.to_model 0 w.settings.capacity no_chunk;
  List.iteri (same_sequence w tree) f.members

let same_descriptor w i (of_model : Model.descriptor) =
  let what = Printf.sprintf "plan, descriptor %d" i in
  let shared = Reference.plan_shared i in
  same (what ^ ", chunk") shared.(0) w.of_model.(of_model.chunk);
  same (what ^ ", begin") shared.(1) of_model.begin0;
  same (what ^ ", end") shared.(2) of_model.end_;
  same (what ^ ", tokens") shared.(3) of_model.n_keys;
  same (what ^ ", position") shared.(4) of_model.position

let same_planned w s (of_model : Model.plan_sequence) =
  let what = Printf.sprintf "plan, sequence %d" s in
  let sequence = Reference.plan_sequence s in
  same (what ^ ", tokens") sequence.(0) of_model.n_tokens;
  same (what ^ ", chunks") sequence.(1) of_model.n_chunks;
  same (what ^ ", shared chunks") sequence.(2) of_model.n_shared;
  same_list (what ^ ", path") (tail_of sequence 3)
    (List.init of_model.n_chunks (fun k -> w.of_model.(of_model.path k)))

(* The plan of ref/, brought up to date or built anew, and the model's. *)
let same_plan w tree anew =
  let epoch = w.forest.epoch in
  same "plan, rebuilt" (Reference.plan_update anew)
    (if anew || epoch <> w.planned then 1 else 0);
  w.planned <- epoch;
  let plan = Model.build tree and numbers = Reference.plan () in
  same "plan, capacity" numbers.(0) plan.capacity;
  same "plan, chunk size" numbers.(1) plan.chunk_size;
  same "plan, sequences" numbers.(2) plan.n_sequences;
  same "plan, descriptors" numbers.(3) (List.length plan.shared);
  List.iteri (same_descriptor w) plan.shared;
  List.iteri (fun s m -> ignore (m : Model.member); same_planned w s (plan.sequence s))
    w.forest.members;
  same "plan_check of the tree's plan" numbers.(4) (Bool.to_int (Model.plan_check plan));
  count "plans";
  plan

let agree w anew =
  let tree = Model.tree_of w.forest in
  same_tree w tree;
  same_plan w tree anew

(* ---- Operations on the tree ---- *)

(* include/chunkproof/status.h *)
let number_of : Model.status -> int = function
  | Argument -> 1
  | Pool_full -> 2
  | Sequences_full -> 3
  | Too_long -> 4

let name_of : Model.status -> string = function
  | Argument -> "an argument"
  | Pool_full -> "a full pool"
  | Sequences_full -> "the most sequences"
  | Too_long -> "the longest path"

(* What the model says of a success, given its forest; the model's forest becomes that. *)
let outcome w what status (made : 'a Model.outcome) said =
  match made with
  | Refused why ->
      same (what ^ ", status") status (number_of why);
      count (Printf.sprintf "%s refused: %s" what (name_of why))
  | Made (f, is) ->
      same (what ^ ", status") status 0;
      count (what ^ " made");
      w.forest <- f;
      said is

(* A chunk that an operation names, once the paths have been compared. *)
let named w what x y = if x <> w.of_model.(y) then drift "%s: ref/ has %d, Coq has another" what x

let join w tokens salt id hashed =
  let is = Reference.join (Array.of_list tokens) salt id hashed in
  outcome w "join" is.(0) (Model.join w.forest tokens salt id) (fun (at, n_shared) ->
      same "join, its sequence" is.(1) at;
      same "join, shared tokens" is.(2) n_shared;
      if n_shared > 0 then count "join that shares";
      same_list "join, its tokens" tokens (Model.tokens_of w.forest at))

let append w each =
  let sequences, tokens = List.split each in
  let status = Reference.append (Array.of_list sequences) (Array.of_list tokens) in
  outcome w "append" status (Model.append_each w.forest each) ignore

let fork w sequence id =
  let is = Reference.fork sequence id in
  let after = ref ignore in
  outcome w "fork" is.(0) (Model.fork w.forest sequence id) (fun copied ->
      same "fork, its sequence" is.(1) (sequence + 1);
      match copied with
      | None ->
          same "fork, copy_from" is.(2) no_chunk;
          same "fork, copy_to" is.(3) no_chunk
      | Some (x, y) ->
          count "fork that copies";
          after :=
            fun () ->
              named w "fork, copy_from" is.(2) x;
              named w "fork, copy_to" is.(3) y);
  !after

let lookup w tokens salt hashed =
  let is = Reference.lookup (Array.of_list tokens) salt hashed in
  let k, s = Model.lookup w.forest tokens salt in
  same "lookup, chunks" is.(0) k;
  same "lookup, tokens" is.(1) (k * w.settings.chunk_size);
  same "lookup, sequence" is.(2) (if k = 0 then -1 else s);
  count (if k = 0 then "lookup that finds nothing" else "lookup that finds")
