(* SPDX-License-Identifier: Apache-2.0 *)
(** * Attention over a plan in two phases (spec/two_phase.md: TPP-1 to TPP-6) *)
From Coq Require Import Reals ZArith List Permutation Arith Lia.
From Chunkproof Require Import Softmax Merge Plan Rows.
Import ListNotations.
Open Scope nat_scope.

(** What attention is given beside the plan. *)
Record inputs := Inputs {
  n_heads : nat;                   (* h *)
  n_kv_heads : nat;                (* h_kv *)
  head_dim : nat;                  (* d *)
  scale : R;
  (* the query rows of s are query_begin s .. query_begin (s+1) - 1 *)
  query_begin : nat -> nat;
  Q : nat -> nat -> vector;        (* query row, head *)
  K : nat -> nat -> nat -> vector; (* chunk, key/value head, slot *)
  V : nat -> nat -> nat -> vector  (* as K *)
}.

(** query_begin has none smaller than the one before (PREFILL-1). What stands behind its b + 1
    numbers has no meaning; it may be taken to repeat the last one. *)
Definition rows_ordered (x : inputs) : Prop := forall s, query_begin x s <= query_begin x (s + 1).

(** Decoding: each sequence has one row, number s. *)
Definition decoding (x : inputs) : Prop := forall s, query_begin x s = s.

Definition n_rows (x : inputs) (s : nat) : nat := query_begin x (s + 1) - query_begin x s.

(** The number of row t of sequence s, and where it sits (PREFILL-1). *)
Definition row_number (x : inputs) (s t : nat) : nat := query_begin x s + t.

Definition position_of (p : plan) (x : inputs) (s t : nat) : Z :=
  row_position (n_tokens (sequence p s)) (n_rows x s) t.

(** ** TPP-5: heads *)

Definition kv_head (x : inputs) (a : nat) : nat := a / (n_heads x / n_kv_heads x).

(** ** Keys *)

(** The key in slot i of chunk C, as query row r with head a sees it: its score (SOFTMAX-1), its
    value. *)
Definition slot_key (x : inputs) (r a C i : nat) : key :=
  Key (score_of (scale x) (head_dim x) (Q x r a) (K x C (kv_head x a) i)) (V x C (kv_head x a) i).

(** The first `count` keys of chunk C. *)
Definition chunk_keys (x : inputs) (r a C count : nat) : list key :=
  map (slot_key x r a C) (seq 0 count).

(** The key of token j of sequence s: slot j mod c of chunk j div c of its path (TREE-6). *)
Definition token_key (p : plan) (x : inputs) (r a s j : nat) : key :=
  slot_key x r a (path (sequence p s) (j / chunk_size p)) (j mod chunk_size p).

(** The keys of the path of s that its row t sees: those at positions 0 .. position(t)
    (PREFILL-2). *)
Definition seen (p : plan) (x : inputs) (s t a : nat) : list key :=
  map (token_key p x (row_number x s t) a s)
      (seq 0 (Nat.min (keys_up_to (position_of p x s t)) (n_tokens (sequence p s)))).

(** ** TPP-1: chunk first

    For a descriptor, a query row and a head: the keys of the chunk that the row sees (PREFILL-4),
    and their state. *)

Definition shared_keys (p : plan) (x : inputs) (s t a : nat) (D : descriptor) : list key :=
  chunk_keys x (row_number x s t) a (chunk D) (sees (position_of p x s t) (position D) (n_keys D)).

Definition shared_state (p : plan) (x : inputs) (s t a : nat) (D : descriptor) : state :=
  partial_attn (shared_keys p x s t a D).

(** ** TPP-2: sequence first

    The same for chunk k of sequence s; the chunks n_shared .. n_chunks-1 are the sequence's own. *)

Definition row_keys (p : plan) (x : inputs) (s t a k : nat) : list key :=
  chunk_keys x (row_number x s t) a (path (sequence p s) k)
             (sees (position_of p x s t) (k * chunk_size p) (keys_in p s k)).

Definition row_state (p : plan) (x : inputs) (s t a k : nat) : state :=
  partial_attn (row_keys p x s t a k).

Definition own_chunks (p : plan) (s : nat) : list nat :=
  seq (n_shared (sequence p s)) (n_chunks (sequence p s) - n_shared (sequence p s)).

(** ** TPP-4: two variants

    `order` is the order in which the descriptors are visited. The rows of the sequences i .. j-1,
    one after the other: *)

Definition rows_between (x : inputs) (i j : nat) : list (nat * nat) :=
  flat_map (fun s => map (fun t => (s, t)) (seq 0 (n_rows x s))) (seq i (j - i)).

(** Buffered. The chunk-first phase keeps for each descriptor the states of all rows in its range;
    they are counted from the descriptor's first row (TPP-1). *)
Definition kept (p : plan) (x : inputs) (a : nat) (D : descriptor) : list state :=
  map (fun '(s, t) => shared_state p x s t a D) (rows_between x (begin D) (end_ D)).

Definition buffered (p : plan) (x : inputs) (order : list descriptor) (s t a : nat) : state :=
  merge_all
    (map (fun D => nth (row_number x s t - query_begin x (begin D)) (kept p x a D) empty)
         (filter (serves s) order)
     ++ map (row_state p x s t a) (own_chunks p s)).

(** Merge at once. There is a state for each row, at first empty; each step (descriptor, sequence,
    row) of the chunk-first phase merges into the row's. *)
Definition steps (x : inputs) (order : list descriptor) : list (descriptor * (nat * nat)) :=
  flat_map (fun D => map (fun st => (D, st)) (rows_between x (begin D) (end_ D))) order.

Definition merge_into (states : nat -> state) (r : nat) (a : state) : nat -> state :=
  fun r' => if r' =? r then attn_reduce (states r') a else states r'.

Definition merged_at_once (p : plan) (x : inputs) (a : nat)
    (visited : list (descriptor * (nat * nat))) : nat -> state :=
  fold_left (fun states '(D, (s, t)) =>
               merge_into states (row_number x s t) (shared_state p x s t a D))
            visited (fun _ => empty).

Definition at_once (p : plan) (x : inputs) (visited : list (descriptor * (nat * nat))) (s t a : nat)
    : state :=
  merge_all (merged_at_once p x a visited (row_number x s t) ::
             map (row_state p x s t a) (own_chunks p s)).

(** ** The partial results of a row are those of a partition of what it sees *)

(** The parts that the two phases use for row t of sequence s. *)
Definition parts (p : plan) (x : inputs) (order : list descriptor) (s t a : nat) :
  list (list key) :=
  map (shared_keys p x s t a) (filter (serves s) order) ++
  map (row_keys p x s t a) (own_chunks p s).

(** What a row sees, chunk by chunk. *)
Lemma seen_by_chunks p x s t a :
  complete p -> s < n_sequences p ->
  seen p x s t a = concat (map (row_keys p x s t a) (seq 0 (n_chunks (sequence p s)))).
Proof.
  intros C inb; assert (0 < chunk_size p) as pos by (destruct C as ((pos & _) & _); exact pos).
  destruct C as (_ & _ & _ & P7); destruct (P7 s inb) as [len _].
  unfold seen; set (v := Nat.min (keys_up_to (position_of p x s t)) (n_tokens (sequence p s))).
  replace v with (Nat.min (n_chunks (sequence p s) * chunk_size p) v) by (unfold v; lia).
  rewrite <- chunk_by_chunk, flat_map_concat_map; f_equal; apply map_ext; intros k.
  unfold row_keys, chunk_keys.
  replace (sees (position_of p x s t) (k * chunk_size p) (keys_in p s k))
    with (Nat.min ((k + 1) * chunk_size p) v - k * chunk_size p)
    by (rewrite sees_min; unfold keys_in, v; lia).
  apply map_ext_in; intros i ini; apply in_seq in ini.
  assert (i < chunk_size p) as small by (rewrite Nat.mul_add_distr_r in ini; lia).
  unfold token_key; f_equal.
  - f_equal; rewrite Nat.add_comm, Nat.div_add, Nat.div_small by lia; reflexivity.
  - rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small by lia; reflexivity.
Qed.

(** A shared chunk gives a row the same keys by its descriptor as by the row's path. *)
Lemma shared_keys_on_path p x s t a D :
  complete p -> s < n_sequences p -> In D (shared p) -> serves s D = true ->
  shared_keys p x s t a D = row_keys p x s t a (depth_of p D).
Proof.
  intros C inb inD sD; destruct (serving_chunk p s D C inb inD sD) as (_ & Ec & Ep & Ek).
  unfold shared_keys, row_keys; rewrite Ec, Ek, Ep at 1; reflexivity.
Qed.

(** TPP-3, proof: the parts are those of the chunks of the path, each once. *)
Theorem parts_partition p x order s t a :
  complete p -> s < n_sequences p -> Permutation order (shared p) ->
  Permutation (concat (parts p x order s t a)) (seen p x s t a).
Proof.
  intros C inb P; rewrite seen_by_chunks by assumption; apply Permutation_concat.
  assert (n_shared (sequence p s) <= n_chunks (sequence p s)) as few
    by (destruct C as (_ & P2 & _); apply P2, inb).
  replace (n_chunks (sequence p s))
    with (n_shared (sequence p s) + (n_chunks (sequence p s) - n_shared (sequence p s))) by lia.
  rewrite seq_app, map_app; apply Permutation_app_tail.
  apply Permutation_trans with (map (shared_keys p x s t a) (filter (serves s) (shared p))).
  { apply Permutation_map, filter_permutation, P. }
  rewrite (map_ext_in _ (fun D => row_keys p x s t a (depth_of p D))).
  - rewrite <- (map_map (depth_of p)); apply Permutation_map, serving_depths; assumption.
  - intros D inD; apply filter_In in inD; apply shared_keys_on_path; tauto.
Qed.

(** ** TPP-3 for any grouping

    Whatever way the states of a row are merged, two at a time: its output is attention over the
    keys of the path that it sees, and so is its lse. *)

Theorem any_grouping_is_attention p x s t a tree :
  complete p -> s < n_sequences p ->
  Permutation (leaves tree)
    (map (shared_state p x s t a) (filter (serves s) (shared p)) ++
     map (row_state p x s t a) (own_chunks p s)) ->
  finish (merged tree) = attention (seen p x s t a) /\ lse_of (merged tree) = lse (seen p x s t a).
Proof.
  intros C inb P; apply merging_is_attention with (parts p x (shared p) s t a).
  - apply parts_partition; auto.
  - unfold parts; rewrite map_app, !map_map; exact P.
Qed.

(** ** Query rows are numbered without gaps *)

Lemma query_begin_le x i j : rows_ordered x -> i <= j -> query_begin x i <= query_begin x j.
Proof.
  intros O le; induction le as [|j le IH]; [auto|].
  rewrite <- Nat.add_1_r; pose proof (O j); lia.
Qed.

Lemma rows_between_In x i j s t : In (s, t) (rows_between x i j) <-> i <= s < j /\ t < n_rows x s.
Proof.
  unfold rows_between; rewrite in_flat_map; split.
  - intros (s' & ins & inp); apply in_map_iff in inp; destruct inp as (t' & E & int).
    injection E as Es Et; subst; apply in_seq in ins; apply in_seq in int; lia.
  - intros (ins & int); exists s; split; [apply in_seq; lia|].
    apply (in_map (fun t => (s, t))), in_seq; lia.
Qed.

Lemma rows_between_numbers x i j :
  rows_ordered x -> i <= j ->
  map (fun '(s, t) => row_number x s t) (rows_between x i j) =
  seq (query_begin x i) (query_begin x j - query_begin x i).
Proof.
  intros O le; unfold rows_between.
  replace j with (i + (j - i)) at 2 by lia; generalize (j - i) as len; clear le.
  induction len as [|len IH].
  - rewrite Nat.add_0_r, Nat.sub_diag; reflexivity.
  - rewrite seq_S, flat_map_app, map_app, IH; simpl flat_map; rewrite app_nil_r, map_map.
    unfold row_number; rewrite (map_seq_from (fun r => r)), map_id, Nat.add_0_r; unfold n_rows.
    pose proof (query_begin_le x i (i + len) O ltac:(lia)); pose proof (O (i + len)).
    replace (i + S len) with (i + len + 1) by lia.
    replace (query_begin x (i + len + 1) - query_begin x i)
      with (query_begin x (i + len) - query_begin x i +
            (query_begin x (i + len + 1) - query_begin x (i + len))) by lia.
    rewrite seq_app; do 3 f_equal; lia.
Qed.

(** Different rows have different numbers. *)
Lemma row_number_unique x s t s' t' :
  rows_ordered x -> t < n_rows x s -> t' < n_rows x s' ->
  row_number x s t = row_number x s' t' -> s = s' /\ t = t'.
Proof.
  unfold row_number, n_rows; intros O lt lt' E.
  destruct (Nat.lt_trichotomy s s') as [less|[E'|more]].
  - pose proof (query_begin_le x (s + 1) s' O ltac:(lia)); lia.
  - subst; lia.
  - pose proof (query_begin_le x (s' + 1) s O ltac:(lia)); lia.
Qed.

(** ** The buffer is read where it was written *)

Theorem kept_state_found p x a D s t :
  rows_ordered x -> serves s D = true -> t < n_rows x s ->
  nth (row_number x s t - query_begin x (begin D)) (kept p x a D) empty = shared_state p x s t a D.
Proof.
  intros O sD lt; apply serves_range in sD; unfold kept.
  set (rows := rows_between x (begin D) (end_ D));
    set (at_ := row_number x s t - query_begin x (begin D)).
  pose proof (rows_between_numbers x (begin D) (end_ D) O ltac:(lia)) as numbers;
    fold rows in numbers.
  assert (query_begin x (begin D) <= row_number x s t < query_begin x (end_ D)) as inside.
  { unfold row_number, n_rows in *.
    pose proof (query_begin_le x (begin D) s O ltac:(lia)).
    pose proof (query_begin_le x (s + 1) (end_ D) O ltac:(lia)); lia. }
  assert (at_ < length rows) as short.
  { rewrite <- (map_length (fun '(s, t) => row_number x s t)), numbers, seq_length;
    unfold at_; lia. }
  rewrite (nth_indep _ empty (shared_state p x s t a D)) by (rewrite map_length; exact short).
  change (shared_state p x s t a D) with ((fun '(s, t) => shared_state p x s t a D) (s, t)) at 1.
  rewrite map_nth; destruct (nth at_ rows (s, t)) as [s' t'] eqn:E.
  assert (In (s', t') rows) as inrows by (rewrite <- E; apply nth_In, short).
  apply rows_between_In in inrows; destruct inrows as [_ lt'].
  assert (row_number x s' t' = row_number x s t) as same.
  { change (row_number x s' t') with ((fun '(s, t) => row_number x s t) (s', t')).
    rewrite <- E, <- (map_nth (fun '(s, t) => row_number x s t)), numbers, seq_nth
      by (unfold at_; lia).
    unfold at_; lia. }
  apply row_number_unique in same; auto; destruct same; subst; reflexivity.
Qed.

Lemma buffered_parts p x order s t a :
  rows_ordered x -> t < n_rows x s ->
  buffered p x order s t a = merge_all (map partial_attn (parts p x order s t a)).
Proof.
  intros O lt; unfold buffered, parts; rewrite map_app, !map_map; do 2 f_equal.
  apply map_ext_in; intros D inD; apply filter_In in inD; apply kept_state_found; tauto.
Qed.

(** ** TPP-3, buffered *)

Theorem buffered_is_attention p x order s t a :
  complete p -> rows_ordered x -> Permutation order (shared p) ->
  s < n_sequences p -> t < n_rows x s ->
  finish (buffered p x order s t a) = attention (seen p x s t a) /\
  lse_of (buffered p x order s t a) = lse (seen p x s t a).
Proof.
  intros C O P inb lt; rewrite buffered_parts by assumption.
  rewrite (any_partition_any_order (seen p x s t a) (parts p x order s t a));
    auto using parts_partition.
  split; [apply finish_is_attention | apply lse_of_is_lse]; apply partial_attn_represents.
Qed.

(** ** Merge at once: what is merged into a row *)

Lemma merged_at_once_row p x a visited states r :
  fold_left (fun states '(D, (s, t)) =>
               merge_into states (row_number x s t) (shared_state p x s t a D))
            visited states r =
  fold_left attn_reduce
    (map (fun '(D, (s, t)) => shared_state p x s t a D)
         (filter (fun '(_, (s, t)) => r =? row_number x s t) visited))
    (states r).
Proof.
  revert states; induction visited as [|[D [s t]] visited IH]; intros states; simpl; [reflexivity|].
  rewrite IH; unfold merge_into; destruct (r =? row_number x s t); reflexivity.
Qed.

Lemma filter_only {T} (f : T -> nat) l y :
  NoDup (map f l) -> In y l -> filter (fun z => f y =? f z) l = [y].
Proof.
  induction l as [|z l IH]; simpl; intros N iny; [contradiction|].
  apply NoDup_cons_iff in N; destruct N as [new N]; destruct iny as [E|iny].
  - subst z; rewrite Nat.eqb_refl; f_equal.
    assert (forall z, In z l -> (f y =? f z) = false) as none.
    { intros z inz; apply Nat.eqb_neq; intros E; apply new; rewrite E; apply in_map, inz. }
    clear - none; induction l as [|z l IH]; simpl; [reflexivity|].
    rewrite none by (left; reflexivity); apply IH; intros w inw; apply none; right; exact inw.
  - replace (f y =? f z) with false; [apply IH; assumption|].
    symmetry; apply Nat.eqb_neq; intros E; apply new; rewrite <- E; apply in_map, iny.
Qed.

Lemma filter_none {T} (f : T -> bool) l : (forall z, In z l -> f z = false) -> filter f l = [].
Proof.
  induction l as [|z l IH]; simpl; intros none; [reflexivity|].
  rewrite none by auto; apply IH; auto.
Qed.

Lemma filter_map {T U} (f : U -> bool) (g : T -> U) l :
  filter f (map g l) = map g (filter (fun z => f (g z)) l).
Proof.
  induction l as [|z l IH]; simpl; [reflexivity|].
  destruct (f (g z)); simpl; rewrite IH; reflexivity.
Qed.

(** Of all steps, those of one row: one for each descriptor that serves its sequence. *)
Lemma steps_of_row x order s t :
  rows_ordered x -> t < n_rows x s ->
  filter (fun '(_, (s', t')) => row_number x s t =? row_number x s' t') (steps x order) =
  map (fun D => (D, (s, t))) (filter (serves s) order).
Proof.
  intros O lt; unfold steps; induction order as [|D order IH]; simpl; [reflexivity|].
  rewrite filter_app, IH, filter_map; simpl.
  destruct (serves s D) eqn:sD; simpl.
  - apply serves_range in sD.
    pose (number := fun '(s, t) => row_number x s t).
    rewrite (filter_ext _ (fun z => number (s, t) =? number z)) by (intros [s' t']; reflexivity).
    rewrite (filter_only number); [reflexivity| |apply rows_between_In; lia].
    unfold number; rewrite rows_between_numbers by (auto; lia); apply seq_NoDup.
  - rewrite filter_none; [reflexivity|]; intros [s' t'] inz; apply Nat.eqb_neq; intros E.
    apply rows_between_In in inz; apply row_number_unique in E; try tauto.
    destruct E; subst; assert (serves s' D = true) by (apply serves_range; tauto); congruence.
Qed.

Lemma merge_all_permutation parts parts' :
  Permutation parts parts' ->
  merge_all (map partial_attn parts) = merge_all (map partial_attn parts').
Proof.
  intros P; rewrite !merge_all_parts; apply partial_attn_permutation, Permutation_concat, P.
Qed.

(** ** TPP-4: both variants compute the same states, whatever the plan

    Here the steps are taken in any order at all, and the descriptors of the buffered variant
    too. *)

Theorem variants_agree p x order visited s t a :
  rows_ordered x -> Permutation order (shared p) -> Permutation visited (steps x (shared p)) ->
  t < n_rows x s ->
  at_once p x visited s t a = buffered p x order s t a.
Proof.
  intros O Po Pv lt; rewrite buffered_parts by assumption.
  set (mine := filter (fun '(_, (s', t')) => row_number x s t =? row_number x s' t') visited).
  assert (Permutation (map (fun '(D, (s, t)) => shared_keys p x s t a D) mine)
                      (map (shared_keys p x s t a) (filter (serves s) order))) as P.
  { apply Permutation_trans with
      (map (fun '(D, (s, t)) => shared_keys p x s t a D)
           (map (fun D => (D, (s, t))) (filter (serves s) (shared p)))).
    - apply Permutation_map; rewrite <- (steps_of_row x) by assumption;
        apply filter_permutation, Pv.
    - rewrite map_map; apply Permutation_map, filter_permutation, Permutation_sym, Po. }
  replace (at_once p x visited s t a) with
    (merge_all (map partial_attn
       (map (fun '(D, (s, t)) => shared_keys p x s t a D) mine ++
        map (row_keys p x s t a) (own_chunks p s)))).
  - apply merge_all_permutation, Permutation_app_tail, P.
  - unfold at_once, merged_at_once; rewrite merged_at_once_row; fold mine.
    unfold merge_all; rewrite map_app, fold_left_app, !map_map; simpl.
    rewrite merge_identity_left; do 2 f_equal.
    apply map_ext; intros [D [s' t']]; reflexivity.
Qed.

(** ** TPP-3, merging at once *)

Theorem at_once_is_attention p x visited s t a :
  complete p -> rows_ordered x -> Permutation visited (steps x (shared p)) ->
  s < n_sequences p -> t < n_rows x s ->
  finish (at_once p x visited s t a) = attention (seen p x s t a) /\
  lse_of (at_once p x visited s t a) = lse (seen p x s t a).
Proof.
  intros C O P inb lt; rewrite (variants_agree p x (shared p)) by auto.
  apply buffered_is_attention; auto.
Qed.

(** ** What comes out *)

Inductive variant := Buffered | Merge_at_once.

(** The state of a row before it is finished, in the order of the plan. *)
Definition row_result (p : plan) (x : inputs) (v : variant) (s t a : nat) : state :=
  match v with
  | Buffered => buffered p x (shared p) s t a
  | Merge_at_once => at_once p x (steps x (shared p)) s t a
  end.

(** Output and lse of row t of sequence s and head a. *)
Definition output (p : plan) (x : inputs) (v : variant) (s t a : nat) : vector :=
  finish (row_result p x v s t a).

Definition output_lse (p : plan) (x : inputs) (v : variant) (s t a : nat) : extended :=
  lse_of (row_result p x v s t a).

(** TPP-3: for a valid plan, each query row of sequence s and each head:
    output = attention(the keys of the path of s that the row sees), lse likewise. *)
Theorem two_phases_are_attention p x v s t a :
  valid p -> rows_ordered x -> s < n_sequences p -> t < n_rows x s ->
  output p x v s t a = attention (seen p x s t a) /\
  output_lse p x v s t a = lse (seen p x s t a).
Proof.
  intros [C _] O inb lt; destruct v.
  - apply buffered_is_attention; auto.
  - apply at_once_is_attention; auto.
Qed.

(** TPP-4: both variants compute the same function, of any plan, valid or not. *)
Theorem variants_are_equal p x s t a :
  rows_ordered x -> t < n_rows x s ->
  output p x Buffered s t a = output p x Merge_at_once s t a /\
  output_lse p x Buffered s t a = output_lse p x Merge_at_once s t a.
Proof.
  intros O lt; unfold output, output_lse; simpl.
  rewrite (variants_agree p x (shared p)) by auto; split; reflexivity.
Qed.

(** TPP-3, corollary: in decoding, attention over all tokens of the sequence. *)
Lemma decoding_rows x s : decoding x -> n_rows x s = 1.
Proof. unfold decoding, n_rows; intros dec; rewrite !dec; lia. Qed.

Lemma decoding_ordered x : decoding x -> rows_ordered x.
Proof. intros dec s; rewrite !dec; lia. Qed.

Theorem decoding_is_attention p x v s a :
  valid p -> decoding x -> s < n_sequences p ->
  let all := map (token_key p x s a s) (seq 0 (n_tokens (sequence p s))) in
  output p x v s 0 a = attention all /\ output_lse p x v s 0 a = lse all.
Proof.
  intros Vp dec inb all; replace all with (seen p x s 0 a).
  - apply two_phases_are_attention; auto using decoding_ordered; rewrite decoding_rows; auto.
  - unfold all, seen, position_of, row_number; rewrite decoding_rows, dec, Nat.add_0_r
      by assumption.
    pose proof (last_row_sees_all (n_tokens (sequence p s)) 1 ltac:(lia)) as E; simpl in E.
    rewrite E, Nat.min_id; reflexivity.
Qed.

(** TPP-3, corollary: a kernel that walks sequence[s].chunk[0 .. n_chunks) and no descriptors
    computes the same. *)
Theorem paged_is_attention p x s t a :
  complete p -> s < n_sequences p ->
  let walked := merge_all (map (row_state p x s t a) (seq 0 (n_chunks (sequence p s)))) in
  finish walked = attention (seen p x s t a) /\ lse_of walked = lse (seen p x s t a).
Proof.
  intros C inb walked; unfold walked, row_state.
  rewrite <- map_map, merge_all_parts, <- seen_by_chunks by assumption.
  split; [apply finish_is_attention | apply lse_of_is_lse]; apply partial_attn_represents.
Qed.

(** The last chunk of a path may as well be taken for a full one: a row at a position below the
    sequence's length sees no slot behind its keys. *)
Theorem last_chunk_as_full p x s t k :
  t < n_rows x s ->
  sees (position_of p x s t) (k * chunk_size p) (chunk_size p) =
  sees (position_of p x s t) (k * chunk_size p) (keys_in p s k).
Proof.
  intros lt; rewrite !sees_min; unfold keys_in, keys_up_to, position_of, row_position.
  rewrite Nat.mul_add_distr_r; lia.
Qed.
