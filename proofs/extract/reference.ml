(* SPDX-License-Identifier: Apache-2.0 *)
(* ref/, as stubs.c calls it. A status is a number of include/chunkproof/status.h. *)

(* CP_MAX_CHUNKS, CP_MAX_SEQUENCES, CP_MAX_DEPTH, CP_MAX_CHUNK_SIZE *)
external limits : unit -> int array = "x_limits"

(* Begins a new tree: capacity, chunk size, width of hashes. *)
external open_tree : int -> int -> int -> unit = "x_open"

(* Tokens, salt, with hashes? The match: chunks, tokens, sequence. *)
external lookup : int array -> int -> bool -> int array = "x_lookup"

(* Tokens, salt, id, with hashes? Status, sequence, shared tokens. *)
external join : int array -> int -> int -> bool -> int array = "x_join"

(* Sequences, and a token for each. *)
external append : int array -> int array -> int = "x_append"
external leave : int -> int = "x_leave"

(* Sequence, id. Status, the new sequence, copy_from, copy_to. *)
external fork : int -> int -> int array = "x_fork"
external tree_valid : unit -> bool = "x_tree_valid"

(* Sequences, free chunks, epoch, step. *)
external tree : unit -> int array = "x_tree"

(* Id, salt, chunks. *)
external sequence : int -> int array = "x_sequence"

(* Begin, end, depth, fill, tokens. *)
external chunk : int -> int array = "x_chunk"

(* Built anew? Was it rebuilt: 1 or 0. *)
external plan_update : bool -> int = "x_plan_update"

(* Capacity, chunk size, sequences, descriptors, is it valid: 1 or 0. *)
external plan : unit -> int array = "x_plan"

(* Chunk, begin, end, tokens, position. *)
external plan_shared : int -> int array = "x_plan_shared"

(* Tokens, chunks, shared chunks, the path. *)
external plan_sequence : int -> int array = "x_plan_sequence"

(* The verdict of cp_plan_is_valid() on these numbers. *)
external plan_check : int array -> int array array -> int array array -> bool = "x_plan_check"

(* Is it one of runs, for cp_plan_check_runs()? Capacity and chunk size; served; descriptors;
   sequences, as lists.ml has them. *)
external runs_check : int array -> int array -> int array array -> int array array -> bool
  = "x_runs_check"

(* h, h_kv, d, type of q, type of k and v, variant, d_v, v_row; query_begin or [||]; scale; q, k, v,
   which then have what ref/ loads. out, and lse behind it. *)
external attend :
  int array -> int array -> float -> float array * float array * float array -> float array
  = "x_attend"

(* The numbers of a class and of its counts, as bound.ml names them; n, d, and whole numbers; scale,
   q, k, v; shifts and their errors, or [||] twice. expected, the bounds, lse and its bound. *)
external tolerance :
  float array ->
  int array ->
  float * float array * float array * float array * float array * float array ->
  float array
  = "x_tolerance"
