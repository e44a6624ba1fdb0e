(* SPDX-License-Identifier: Apache-2.0 *)
(** * What is extracted to OCaml, to run beside ref/ (proofs/extract/README.md)

    nat and Z become OCaml's int of 63 bits. The numbers of Execution.v and NumFloat.v stay a
    parameter: attend.ml and bound.ml give the operations of binary64. *)
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZInt.
From Chunkproof Require Import Plan PlanCheck Tree Operations Execution NumFloat NumFloatRow
  RunsCheck.

Extraction Language OCaml.
Extraction "model.ml"
  new_forest lookup join append_each leave fork tree_of tokens_of free
  build plan_check run_check output_steps output_lse_steps
  tolerance.
