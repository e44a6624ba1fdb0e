(* SPDX-License-Identifier: Apache-2.0 *)
(* Random operations on a tree in ref/ and in the definitions that Coq extracts, side by side; and
   before them the certified bounds of random rows.

     drift --operations N --rows N --seed S [--limit SECONDS]

   The trees are tiny, so that pools fill up and paths end. After a difference it prints the
   smallest prefix of operations that shows it, without the operations that are not needed.

   exit status: 0 no difference, 1 a difference, or something that was never reached, 2 bad use *)

open World

let alphabet = 3
let salts = 2

(* ---- One operation ---- *)

let perform w operation =
  let after =
    match operation with
    | Join { tokens; salt; id; hashed } -> join w tokens salt id hashed; ignore
    | Append each -> append w each; ignore
    | Leave s ->
        outcome w "leave" (Reference.leave s) (Model.leave w.forest s) ignore;
        ignore
    | Fork { sequence; id } -> fork w sequence id
    | Lookup { tokens; salt; hashed } -> lookup w tokens salt hashed; ignore
    | Damage _ | Attend _ -> ignore
  in
  let anew = match operation with Damage seed -> seed mod 4 = 0 | _ -> false in
  let plan = agree w anew in
  after ();
  match operation with
  | Damage seed ->
      Damage.check (Draw.make seed);
      Lists.check (Draw.make seed)
  | Attend seed -> Attend.check w plan (Draw.make seed)
  | _ -> ()

(* ---- Random operations ---- *)

(* Tokens that begin as some sequence does, or as none. *)
let prompt w d =
  let b = Model.n_members w.forest in
  let known = if b = 0 || Draw.chance d 25 then [] else Model.tokens_of w.forest (Draw.below d b) in
  let kept = Draw.below d (List.length known + 1) in
  let most = if Draw.chance d 4 then w.settings.chunk_size * 8 else 7 in
  List.filteri (fun i _ -> i < kept) known
  @ Draw.list d (Draw.below d (most + 1)) (fun d -> Draw.below d alphabet)

(* Some sequences in order; now and then one that is not there, or one out of order. *)
let some_sequences w d =
  let b = Model.n_members w.forest in
  let some = List.filter (fun _ -> Draw.chance d 50) (List.init b Fun.id) in
  if Draw.chance d 3 then some @ [ b ] else if Draw.chance d 3 then List.rev some else some

let draw w d =
  let sequence () = Draw.below d (Model.n_members w.forest + 1) in
  let id () = Draw.below d 1000 and salt () = Draw.below d salts in
  let percent = Draw.below d 100 in
  if percent < 26 then
    Join { tokens = prompt w d; salt = salt (); id = id (); hashed = Draw.chance d 50 }
  else if percent < 56 then
    Append (List.map (fun s -> (s, Draw.below d alphabet)) (some_sequences w d))
  else if percent < 69 then Leave (sequence ())
  else if percent < 79 then Fork { sequence = sequence (); id = id () }
  else if percent < 86 then
    Lookup { tokens = prompt w d; salt = salt (); hashed = Draw.chance d 50 }
  else if percent < 95 then Damage (Draw.bits d)
  else Attend (Draw.bits d)

let settings d =
  { capacity = Draw.between d 1 20; chunk_size = Draw.between d 1 4;
    hash_bits = List.nth [ 0; 1; 8; 64 ] (Draw.below d 4) }

(* ---- A difference ---- *)

let line = function
  | Join { tokens; salt; id; hashed } ->
      Printf.sprintf "join [%s] salt %d id %d%s" (text tokens) salt id
        (if hashed then " with hashes" else "")
  | Append each ->
      "append" ^ String.concat "" (List.map (fun (s, t) -> Printf.sprintf " %d:%d" s t) each)
  | Leave s -> Printf.sprintf "leave %d" s
  | Fork { sequence; id } -> Printf.sprintf "fork %d id %d" sequence id
  | Lookup { tokens; salt; hashed } ->
      Printf.sprintf "lookup [%s] salt %d%s" (text tokens) salt
        (if hashed then " with hashes" else "")
  | Damage seed -> Printf.sprintf "damage the plan (seed %d)" seed
  | Attend seed -> Printf.sprintf "attend (seed %d)" seed

let replay settings operations =
  let w = make settings in
  try
    List.iter (perform w) operations;
    None
  with Drift said -> Some said

(* Leaves out every operation without which there is still a difference. *)
let rec smaller settings operations said first =
  if first >= List.length operations then (operations, said)
  else
    let fewer = List.filteri (fun i _ -> i <> first) operations in
    match replay settings fewer with
    | Some said -> smaller settings fewer said first
    | None -> smaller settings operations said (first + 1)

let report seed settings operations said =
  let few, said = smaller settings operations said 0 in
  Printf.printf "DRIFT with seed %d: %s\n" seed said;
  Printf.printf "capacity %d, chunk size %d, hash bits %d; %d of %d operations show it:\n"
    settings.capacity settings.chunk_size settings.hash_bits (List.length few)
    (List.length operations);
  List.iter (fun operation -> print_endline ("  " ^ line operation)) few

(* ---- The run ---- *)

let longest_world = 60

(* What a run of some length must have seen; else it shows less than it seems to. *)
let must_see =
  [ "join made"; "join that shares"; "join refused: the longest path";
    "join refused: the most sequences"; "join refused: a full pool"; "append made";
    "append refused: an argument"; "append refused: the longest path";
    "append refused: a full pool"; "leave made"; "leave refused: an argument"; "fork made";
    "fork that copies"; "fork refused: an argument"; "fork refused: the most sequences";
    "fork refused: a full pool"; "lookup that finds"; "lookup that finds nothing";
    "damaged plans, valid"; "damaged plans, broken"; "plans of runs, valid";
    "plans of runs, broken"; "plans of lists"; "attention, buffered";
    "attention, merged at once"; "rows that see no key"; "bounds, finite"; "bounds, infinite";
    "rows without a key"; "rows of many columns"; "rows of many keys"; "rows with shifts" ]

let enough_to_see_all = 5000

let counted what = Option.value ~default:0 (Hashtbl.find_opt counts what)

let finish seed operations rows =
  let all = List.sort compare (Hashtbl.fold (fun what n l -> (what, n) :: l) counts []) in
  List.iter (fun (what, n) -> Printf.printf "  %9d %s\n" n what) all;
  let unseen = List.filter (fun what -> counted what = 0) must_see in
  let unseen = if operations >= enough_to_see_all then unseen else [] in
  List.iter (fun what -> Printf.printf "never reached: %s\n" what) unseen;
  Printf.printf "operations %d, rows %d, plans %d, damaged %d, numbers %d, differences 0, seed %d\n"
    operations rows
    (counted "plans")
    (counted "damaged plans, valid" + counted "damaged plans, broken")
    (counted "numbers of attention") seed;
  if unseen = [] then 0 else 1

exception Found

let run operations rows seed limit =
  Printf.printf "seed %d, %d operations, %d rows\n%!" seed operations rows;
  let d = Draw.make seed and began = Sys.time () and done_ = ref 0 in
  let next = ref (max 1 (operations / 10)) in
  let late () = limit > 0.0 && Sys.time () -. began > limit in
  let world () =
    let settings = settings d in
    let w = make settings and past = ref [] in
    for _ = 1 to min longest_world (operations - !done_) do
      let operation = draw w d in
      past := operation :: !past;
      (try perform w operation
       with Drift said ->
         report seed settings (List.rev !past) said;
         raise Found);
      incr done_
    done
  in
  try
    let rows =
      try Bound.run rows seed late
      with Drift said ->
        Printf.printf "DRIFT with seed %d: %s\n" seed said;
        raise Found
    in
    Printf.printf "%d rows, %.1f s\n%!" rows (Sys.time () -. began);
    while !done_ < operations && not (late ()) do
      world ();
      if !done_ >= !next then (
        Printf.printf "%d operations, %.1f s\n%!" !done_ (Sys.time () -. began);
        next := !next + max 1 (operations / 10))
    done;
    if !done_ < operations then
      Printf.printf "ended by the limit of %.0f s after %d operations\n" limit !done_;
    finish seed !done_ rows
  with Found -> 1

let () =
  let operations = ref 10_000 and rows = ref (-1) and seed = ref 1 and limit = ref 0.0 in
  let usage = "drift [--operations N] [--rows N] [--seed S] [--limit SECONDS]" in
  Arg.parse
    [ ("--operations", Arg.Set_int operations, "N how many");
      ("--rows", Arg.Set_int rows, "N how many rows; 10 for each operation, if not said");
      ("--seed", Arg.Set_int seed, "S of all that is random");
      ("--limit", Arg.Set_float limit, "SECONDS after which it ends") ]
    (fun word -> raise (Arg.Bad word))
    usage;
  let rows = if !rows < 0 then 10 * !operations else !rows in
  exit (run !operations rows !seed !limit)
