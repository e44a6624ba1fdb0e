(* SPDX-License-Identifier: Apache-2.0 *)
(** * Query rows: where they sit and what they see (spec/prefill.md: PREFILL-1, PREFILL-4) *)
From Coq Require Import ZArith List Lia.
Import ListNotations.

(** PREFILL-1: of r query rows of a sequence of n tokens, row t sits at n - r + t: an integer, below
    0 for a row that stands before the sequence. *)
Definition row_position (n r t : nat) : Z := (Z.of_nat n - Z.of_nat r + Z.of_nat t)%Z.

(** The keys at positions 0 .. pos: so many. *)
Definition keys_up_to (pos : Z) : nat := Z.to_nat (pos + 1).

(** PREFILL-4: of a chunk whose first key has position f and which holds t keys, a row at position
    pos sees the first min(max(pos + 1 - f, 0), t). *)
Definition sees (pos : Z) (f t : nat) : nat :=
  Z.to_nat (Z.min (Z.max (pos + 1 - Z.of_nat f) 0) (Z.of_nat t)).

Lemma sees_min pos f t : sees pos f t = Nat.min (keys_up_to pos - f) t.
Proof. unfold sees, keys_up_to; lia. Qed.

(** Key i of such a chunk is seen exactly if it stands at a position that the row sees. *)
Theorem sees_exactly pos f t i :
  i < sees pos f t <-> i < t /\ (Z.of_nat (f + i) <= pos)%Z.
Proof. unfold sees; lia. Qed.

Theorem last_row_sees_all n r : 0 < r -> keys_up_to (row_position n r (r - 1)) = n.
Proof. unfold keys_up_to, row_position; lia. Qed.

Lemma map_seq_from {T} (f : nat -> T) base i len :
  map (fun j => f (base + j)) (seq i len) = map f (seq (base + i) len).
Proof.
  revert i; induction len as [|len IH]; intros i; simpl; [reflexivity|].
  rewrite IH, Nat.add_succ_r; reflexivity.
Qed.

(** Positions 0 .. min(v, N c) - 1, chunk by chunk: chunk k has min((k+1) c, v) - k c of them. *)
Lemma chunk_by_chunk {T} (f : nat -> T) c v N :
  flat_map (fun k => map (fun i => f (k * c + i)) (seq 0 (Nat.min ((k + 1) * c) v - k * c)))
           (seq 0 N)
  = map f (seq 0 (Nat.min (N * c) v)).
Proof.
  induction N as [|N IH]; [reflexivity|].
  rewrite seq_S, flat_map_app, IH; simpl flat_map; rewrite app_nil_r.
  replace (Nat.min (S N * c) v)
    with (Nat.min (N * c) v + (Nat.min ((N + 1) * c) v - N * c)) by (simpl; lia).
  rewrite seq_app, map_app; f_equal.
  destruct (Nat.le_gt_cases v (N * c)) as [short|long].
  - replace (Nat.min ((N + 1) * c) v - N * c) with 0 by lia; reflexivity.
  - rewrite (Nat.min_l (N * c) v) by lia; rewrite Nat.add_0_l.
    rewrite map_seq_from, Nat.add_0_r; reflexivity.
Qed.
