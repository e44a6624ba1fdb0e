(* SPDX-License-Identifier: Apache-2.0 *)
(* Random numbers from a seed, the same on every machine: splitmix on OCaml's 63 bits. *)

type t = { mutable state : int }

let make seed = { state = seed }

let bits d =
  d.state <- d.state + 0x1E3779B97F4A7C15;
  let z = (d.state lxor (d.state lsr 30)) * 0x3F58476D1CE4E5B9 in
  let z = (z lxor (z lsr 27)) * 0x14D049BB133111EB in
  (z lxor (z lsr 31)) land max_int

let below d n = bits d mod n
let between d low high = low + below d (high - low + 1)
let chance d percent = below d 100 < percent

(* In [-1, 1), with 53 bits. *)
let unit d = ldexp (float_of_int (bits d land ((1 lsl 53) - 1))) (-52) -. 1.0

let list d n make = List.init n (fun _ -> make d)
