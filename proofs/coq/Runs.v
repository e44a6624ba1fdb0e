(* SPDX-License-Identifier: Apache-2.0 *)
(** * Plans of runs: a prompt is a list of runs, in any order (spec/runs.md: RUNS-1 to RUNS-5)

    Two phases over such a plan are attention over exactly the keys that a row sees, each once. *)
From Coq Require Import Reals ZArith List Permutation Arith Bool Lia.
From Chunkproof Require Import Softmax Merge Plan Rows TwoPhase.
Import ListNotations.
Open Scope nat_scope.

(** ** RUNS-1: runs

    (chunk, n_tokens, position): the first n_tokens slots of a chunk hold the keys of the tokens at
    the positions position .. position + n_tokens - 1. *)
Record run := Run {
  in_chunk : nat;
  held : nat;   (* n_tokens *)
  first : nat   (* position *)
}.

Definition positions (R : run) : list nat := seq (first R) (held R).

(** What a descriptor gives to each sequence that it serves. *)
Definition run_of (D : descriptor) : run := Run (chunk D) (n_keys D) (position D).

(** ** RUNS-2: the plan. Ranges of descriptors are ranges of `served`, which lists sequences. *)
Record run_plan := Run_plan {
  n_pool : nat;                   (* capacity *)
  width : nat;                    (* c *)
  n_prompts : nat;                (* b *)
  served : list nat;
  descriptors : list descriptor;
  runs : nat -> list run;         (* of sequence s, those of descriptors first *)
  n_common : nat -> nat           (* how many of them are those of descriptors *)
}.

(** The sequences that a descriptor serves. *)
Definition members (q : run_plan) (D : descriptor) : list nat :=
  firstn (end_ D - begin D) (skipn (begin D) (served q)).

Definition has (s : nat) (l : list nat) : bool := existsb (Nat.eqb s) l.

Definition serving (q : run_plan) (s : nat) (order : list descriptor) : list descriptor :=
  filter (fun D => has s (members q D)) order.

(** The runs that sequence s has for itself. *)
Definition own (q : run_plan) (s : nat) : list run := skipn (n_common q s) (runs q s).

(** RUNS-1: a run is in a chunk and not empty; no two tokens of a sequence have one position. *)
Definition RUNS_1 (q : run_plan) : Prop :=
  forall s, s < n_prompts q ->
    (forall R, In R (runs q s) -> in_chunk R < n_pool q /\ 1 <= held R <= width q) /\
    NoDup (flat_map positions (runs q s)).

(** RUNS-2: a descriptor serves two sequences or more, none of them twice. *)
Definition RUNS_2 (q : run_plan) : Prop :=
  forall D, In D (descriptors q) ->
    begin D + 2 <= end_ D <= length (served q) /\
    NoDup (members q D) /\
    forall s, In s (members q D) -> s < n_prompts q.

(** RUNS-3: each run once. The descriptors that serve s give the first runs of s, in their order. *)
Definition RUNS_3 (q : run_plan) : Prop :=
  forall s, s < n_prompts q ->
    n_common q s <= length (runs q s) /\
    map run_of (serving q s (descriptors q)) = firstn (n_common q s) (runs q s).

(** The same in any order: what the theorems use. *)
Definition each_run_once (q : run_plan) : Prop :=
  forall s, s < n_prompts q ->
    Permutation (map run_of (serving q s (descriptors q)) ++ own q s) (runs q s).

Definition complete (q : run_plan) : Prop := RUNS_1 q /\ RUNS_2 q /\ each_run_once q.
Definition valid (q : run_plan) : Prop := RUNS_1 q /\ RUNS_2 q /\ RUNS_3 q.

Lemma has_in s l : has s l = true <-> In s l.
Proof.
  unfold has; rewrite existsb_exists; split.
  - intros (y & iny & E); apply Nat.eqb_eq in E; subst; exact iny.
  - intros ins; exists s; split; [exact ins | apply Nat.eqb_refl].
Qed.

Lemma nodup_app_parts {T} (l l' : list T) :
  NoDup (l ++ l') -> NoDup l' /\ forall y, In y l -> ~ In y l'.
Proof.
  induction l as [|z l IH]; simpl; intros once; [split; [exact once | intros y []]|].
  apply NoDup_cons_iff in once; destruct once as [new once]; destruct (IH once) as [N apart].
  split; [exact N|]; intros y [<-|iny] inl'; [apply new, in_or_app; auto | apply (apart y); auto].
Qed.

Theorem valid_is_complete q : valid q -> complete q.
Proof.
  intros (R1 & R2 & R3); split; [exact R1|]; split; [exact R2|]; intros s inb.
  destruct (R3 s inb) as [_ ->]; unfold own; rewrite firstn_skipn; apply Permutation_refl.
Qed.

(** ** RUNS-4: what a row sees

    Everything below is for any way to get the key of a slot: what query row r with head a takes for
    the key in slot i of a run. Stored keys do not depend on the run's position. *)

Definition stored_key (x : inputs) (r a : nat) (R : run) (i : nat) : key :=
  slot_key x r a (in_chunk R) i.

(** Which slots of a run query row r sees when rows stand at these positions: the first ones
    (PREFILL-4). Windows.v has others. *)
Definition causal (stands_at : nat -> Z) (r : nat) (R : run) : list nat :=
  seq 0 (sees (stands_at r) (first R) (held R)).

Section Phases.
Variables (q : run_plan) (x : inputs).    (* of the inputs: which rows a sequence has *)
Variable slots : nat -> run -> list nat.  (* those of a run that a query row sees *)
Variable key_of : nat -> nat -> run -> nat -> key.

(** The keys of a run that a row sees. *)
Definition run_keys (r a : nat) (R : run) : list key := map (key_of r a R) (slots r R).

(** Those of all runs of s. *)
Definition seen (s r a : nat) : list key := flat_map (run_keys r a) (runs q s).

(** The tokens of s: slot i of run R stands at position first R + i. *)
Definition tokens (s : nat) : list (run * nat) :=
  flat_map (fun R => map (pair R) (seq 0 (held R))) (runs q s).

Definition token_position (y : run * nat) : nat := first (fst y) + snd y.

(** A row that sees the slots at the positions with some property sees the tokens of its sequence
    at these positions, and no others. *)
Theorem seen_by_position s r a (visible : nat -> bool) :
  (forall R, slots r R = filter (fun i => visible (first R + i)) (seq 0 (held R))) ->
  seen s r a = map (fun y => key_of r a (fst y) (snd y))
                   (filter (fun y => visible (token_position y)) (tokens s)).
Proof using.
  intros those; unfold seen, tokens; induction (runs q s) as [|R l IH]; simpl; [reflexivity|].
  rewrite IH, filter_app, map_app; f_equal; rewrite filter_map, map_map; unfold run_keys.
  rewrite those; reflexivity.
Qed.

Lemma positions_of_tokens s : map token_position (tokens s) = flat_map positions (runs q s).
Proof using.
  unfold tokens; induction (runs q s) as [|R l IH]; simpl; [reflexivity|].
  rewrite map_app, IH; f_equal; rewrite map_map; unfold token_position, positions; simpl.
  rewrite (map_seq_from (fun i => i)), map_id, Nat.add_0_r; reflexivity.
Qed.

(** RUNS-1: and no token is there twice. *)
Theorem each_token_once s : RUNS_1 q -> s < n_prompts q -> NoDup (tokens s).
Proof using.
  intros R1 inb; destruct (R1 s inb) as [_ once].
  rewrite <- positions_of_tokens in once; apply NoDup_map_inv in once; exact once.
Qed.

(** ** RUNS-5: two phases *)

(** What the chunk-first phase keeps for a descriptor, a row and a head. *)
Definition common_state (r a : nat) (D : descriptor) : state :=
  partial_attn (run_keys r a (run_of D)).

Definition own_states (s r a : nat) : list state :=
  map (fun R => partial_attn (run_keys r a R)) (own q s).

(** The parts that the two phases use for a row of s. *)
Definition parts (order : list descriptor) (s r a : nat) : list (list key) :=
  map (run_keys r a) (map run_of (serving q s order) ++ own q s).

Lemma serving_permutation order s :
  Permutation order (descriptors q) ->
  Permutation (serving q s order) (serving q s (descriptors q)).
Proof. apply filter_permutation. Qed.

(** RUNS-3, RUNS-5: the parts are those of the runs of s, each once. *)
Theorem parts_are_what_is_seen order s r a :
  complete q -> s < n_prompts q -> Permutation order (descriptors q) ->
  Permutation (concat (parts order s r a)) (seen s r a).
Proof using.
  intros (_ & _ & once) inb P; unfold seen; rewrite flat_map_concat_map.
  apply Permutation_concat, Permutation_map.
  apply Permutation_trans with (2 := once s inb), Permutation_app_tail, Permutation_map.
  apply serving_permutation, P.
Qed.

(** In whatever order, and two at a time in whatever way the states of a row are merged. *)
Theorem any_grouping_over_runs s r a tree :
  complete q -> s < n_prompts q ->
  Permutation (leaves tree)
    (map (common_state r a) (serving q s (descriptors q)) ++ own_states s r a) ->
  finish (merged tree) = attention (seen s r a) /\ lse_of (merged tree) = lse (seen s r a).
Proof using.
  intros C inb P; apply merging_is_attention with (parts (descriptors q) s r a).
  - apply parts_are_what_is_seen; auto.
  - unfold parts; rewrite !map_app, !map_map; exact P.
Qed.

(** *** Buffered

    For a descriptor the states of all rows of its sequences are kept one after the other. *)

Definition rows_of (l : list nat) : list (nat * nat) :=
  flat_map (fun s => map (pair s) (seq 0 (n_rows x s))) l.

(** How many rows come before row t of s. *)
Fixpoint offset (l : list nat) (s t : nat) : nat :=
  match l with
  | [] => 0
  | s' :: rest => if s' =? s then t else n_rows x s' + offset rest s t
  end.

Lemma found_at_offset {T} (f : nat * nat -> T) l s t y :
  In s l -> t < n_rows x s -> nth (offset l s t) (map f (rows_of l)) y = f (s, t).
Proof using.
  intros ins lt; induction l as [|s' l IH]; [destruct ins|]; simpl.
  rewrite map_app, map_map; destruct (Nat.eqb_spec s' s) as [->|other].
  - rewrite app_nth1 by (rewrite map_length, seq_length; exact lt).
    rewrite (nth_indep _ y (f (s, 0))) by (rewrite map_length, seq_length; exact lt).
    rewrite (map_nth (fun t => f (s, t)) (seq 0 (n_rows x s)) 0), seq_nth by exact lt; reflexivity.
  - destruct ins as [E|ins]; [congruence|].
    rewrite app_nth2 by (rewrite map_length, seq_length; lia).
    rewrite map_length, seq_length, Nat.add_comm, Nat.add_sub; apply IH, ins.
Qed.

Definition kept (a : nat) (D : descriptor) : list state :=
  map (fun '(s, t) => common_state (row_number x s t) a D) (rows_of (members q D)).

Definition buffered (order : list descriptor) (s t a : nat) : state :=
  merge_all
    (map (fun D => nth (offset (members q D) s t) (kept a D) empty) (serving q s order)
     ++ own_states s (row_number x s t) a).

Lemma buffered_parts order s t a :
  t < n_rows x s ->
  buffered order s t a = merge_all (map partial_attn (parts order s (row_number x s t) a)).
Proof using.
  intros lt; unfold buffered, parts; rewrite !map_app, !map_map; do 2 f_equal.
  apply map_ext_in; intros D inD; apply filter_In in inD; unfold kept.
  rewrite (found_at_offset (fun '(s, t) => common_state (row_number x s t) a D));
    [reflexivity | apply has_in; tauto | exact lt].
Qed.

Theorem buffered_over_runs order s t a :
  complete q -> Permutation order (descriptors q) -> s < n_prompts q -> t < n_rows x s ->
  finish (buffered order s t a) = attention (seen s (row_number x s t) a) /\
  lse_of (buffered order s t a) = lse (seen s (row_number x s t) a).
Proof using.
  intros C P inb lt; rewrite buffered_parts by assumption.
  rewrite (any_partition_any_order (seen s (row_number x s t) a)
             (parts order s (row_number x s t) a)); auto using parts_are_what_is_seen.
  split; [apply finish_is_attention | apply lse_of_is_lse]; apply partial_attn_represents.
Qed.

(** *** Merge at once: the steps (descriptor, sequence, row) in any order at all *)

Definition steps (order : list descriptor) : list (descriptor * (nat * nat)) :=
  flat_map (fun D => map (pair D) (rows_of (members q D))) order.

Definition merged_at_once (a : nat) (visited : list (descriptor * (nat * nat))) : nat -> state :=
  fold_left (fun states '(D, (s, t)) =>
               merge_into states (row_number x s t) (common_state (row_number x s t) a D))
            visited (fun _ => empty).

Definition at_once (visited : list (descriptor * (nat * nat))) (s t a : nat) : state :=
  merge_all (merged_at_once a visited (row_number x s t) :: own_states s (row_number x s t) a).

Lemma merged_into_row a visited states r :
  fold_left (fun states '(D, (s, t)) =>
               merge_into states (row_number x s t) (common_state (row_number x s t) a D))
            visited states r =
  fold_left attn_reduce
    (map (fun '(D, (s, t)) => common_state (row_number x s t) a D)
         (filter (fun '(_, (s, t)) => r =? row_number x s t) visited))
    (states r).
Proof using.
  revert states; induction visited as [|[D [s t]] visited IH]; intros states; simpl; [reflexivity|].
  rewrite IH; unfold merge_into; destruct (r =? row_number x s t); reflexivity.
Qed.

Lemma rows_of_In l s t : In (s, t) (rows_of l) <-> In s l /\ t < n_rows x s.
Proof using.
  unfold rows_of; rewrite in_flat_map; split.
  - intros (s' & ins & inp); apply in_map_iff in inp; destruct inp as (t' & E & int).
    injection E as -> ->; apply in_seq in int; split; [exact ins | lia].
  - intros [ins lt]; exists s; split; [exact ins|]; apply in_map, in_seq; lia.
Qed.

(** Of the rows of some sequences, those with the number of row t of s: that row, or none. *)
Lemma rows_with_number l s t :
  rows_ordered x -> NoDup l -> t < n_rows x s ->
  filter (fun '(s', t') => row_number x s t =? row_number x s' t') (rows_of l) =
  if has s l then [(s, t)] else [].
Proof using.
  clear slots key_of; intros O once lt.
  induction once as [|s' l new once IH]; [reflexivity|]; simpl.
  rewrite filter_app, IH, filter_map; destruct (Nat.eqb_spec s s') as [<-|other]; simpl.
  - replace (has s l) with false
      by (symmetry; apply not_true_iff_false; rewrite has_in; exact new).
    rewrite app_nil_r; unfold row_number.
    rewrite (filter_ext _ (fun z => t =? z))
      by (intros z; apply eq_true_iff_eq; rewrite !Nat.eqb_eq; lia).
    rewrite (filter_only (fun z => z)); [reflexivity | rewrite map_id; apply seq_NoDup|].
    apply in_seq; lia.
  - rewrite (filter_none (fun z => row_number x s t =? row_number x s' z)); [reflexivity|].
    intros z inz; apply in_seq in inz; apply Nat.eqb_neq; intros E.
    apply row_number_unique in E; try tauto; lia.
Qed.

Lemma steps_of_one_row order s t :
  rows_ordered x -> (forall D, In D order -> NoDup (members q D)) -> t < n_rows x s ->
  filter (fun '(_, (s', t')) => row_number x s t =? row_number x s' t') (steps order) =
  map (fun D => (D, (s, t))) (serving q s order).
Proof using.
  clear slots key_of; intros O once lt; unfold steps, serving.
  induction order as [|D order IH]; [reflexivity|]; simpl.
  rewrite filter_app, IH, filter_map by (intros; apply once; right; assumption).
  rewrite rows_with_number by (auto; apply once; left; reflexivity).
  destruct (has s (members q D)); reflexivity.
Qed.

Theorem variants_over_runs_agree order visited s t a :
  RUNS_2 q -> rows_ordered x -> Permutation order (descriptors q) ->
  Permutation visited (steps (descriptors q)) -> t < n_rows x s ->
  at_once visited s t a = buffered order s t a.
Proof using.
  intros R2 O Po Pv lt; rewrite buffered_parts by assumption.
  set (r := row_number x s t).
  set (mine := filter (fun '(_, (s', t')) => r =? row_number x s' t') visited).
  assert (Permutation (map (fun '(D, (s, t)) => run_keys (row_number x s t) a (run_of D)) mine)
                      (map (run_keys r a) (map run_of (serving q s order)))) as P.
  { apply Permutation_trans with
      (map (fun '(D, (s, t)) => run_keys (row_number x s t) a (run_of D))
           (map (fun D => (D, (s, t))) (serving q s (descriptors q)))).
    - apply Permutation_map; rewrite <- steps_of_one_row;
        [apply filter_permutation, Pv | exact O | intros D inD; apply R2, inD | exact lt].
    - rewrite !map_map; apply Permutation_map, Permutation_sym, serving_permutation, Po. }
  transitivity (merge_all (map partial_attn
      (map (fun '(D, (s, t)) => run_keys (row_number x s t) a (run_of D)) mine ++
       map (run_keys r a) (own q s)))).
  - unfold at_once, merged_at_once; rewrite merged_into_row; fold r mine.
    unfold merge_all, own_states; rewrite map_app, fold_left_app, !map_map; simpl.
    rewrite merge_identity_left; do 2 f_equal.
    apply map_ext; intros [D [s' t']]; reflexivity.
  - apply merge_all_permutation; unfold parts; rewrite map_app; apply Permutation_app_tail, P.
Qed.

(** ** RUNS-5, whole *)

Definition row_result (v : variant) (s t a : nat) : state :=
  match v with
  | Buffered => buffered (descriptors q) s t a
  | Merge_at_once => at_once (steps (descriptors q)) s t a
  end.

(** RUNS-5: two phases over a plan of runs are attention over what the row sees. *)
Theorem two_phases_over_runs v s t a :
  complete q -> rows_ordered x -> s < n_prompts q -> t < n_rows x s ->
  let all := seen s (row_number x s t) a in
  finish (row_result v s t a) = attention all /\ lse_of (row_result v s t a) = lse all.
Proof using.
  intros C O inb lt all; destruct v; simpl; [apply buffered_over_runs; auto|].
  rewrite (variants_over_runs_agree (descriptors q)) by (auto; apply C).
  apply buffered_over_runs; auto.
Qed.

(** A kernel that walks the runs of a sequence, and no descriptors, computes the same. *)
Theorem walking_the_runs s r a :
  let walked := merge_all (map (fun R => partial_attn (run_keys r a R)) (runs q s)) in
  finish walked = attention (seen s r a) /\ lse_of walked = lse (seen s r a).
Proof using.
  intros walked; unfold walked, seen; rewrite <- map_map, merge_all_parts, flat_map_concat_map.
  split; [apply finish_is_attention | apply lse_of_is_lse]; apply partial_attn_represents.
Qed.
End Phases.

Lemma seen_slots pos f t :
  filter (fun i => (Z.of_nat (f + i) <=? pos)%Z) (seq 0 t) = seq 0 (sees pos f t).
Proof.
  induction t as [|t IH]; [unfold sees; replace (Z.to_nat _) with 0 by lia; reflexivity|].
  rewrite seq_S, filter_app, IH; simpl.
  destruct (Z.leb_spec (Z.of_nat (f + t)) pos) as [le|gt].
  - replace (sees pos f (S t)) with (S (sees pos f t)) by (unfold sees; lia).
    rewrite seq_S; do 2 f_equal; unfold sees; lia.
  - replace (sees pos f (S t)) with (sees pos f t) by (unfold sees; lia); apply app_nil_r.
Qed.

(** RUNS-4: a row sees the tokens of its sequence that stand at its position or before, and no
    others. *)
Theorem seen_exactly q stands_at key_of s r a :
  seen q (causal stands_at) key_of s r a =
  map (fun y => key_of r a (fst y) (snd y))
      (filter (fun y => (Z.of_nat (token_position y) <=? stands_at r)%Z) (tokens q s)).
Proof.
  apply (seen_by_position q (causal stands_at) key_of s r a
           (fun t => (Z.of_nat t <=? stands_at r)%Z)).
  intros R; symmetry; apply seen_slots.
Qed.

(** RUNS-4: slots behind the tokens of a run are never read, also in the middle of a sequence. *)
Theorem behind_a_run_is_padding q x stands_at key_of key_of' v s t a :
  complete q -> s < n_prompts q -> rows_ordered x -> t < n_rows x s ->
  (forall R i, In R (runs q s) -> i < held R ->
     key_of (row_number x s t) a R i = key_of' (row_number x s t) a R i) ->
  finish (row_result q x (causal stands_at) key_of v s t a) =
  finish (row_result q x (causal stands_at) key_of' v s t a).
Proof.
  intros C inb O lt same.
  destruct (two_phases_over_runs q x (causal stands_at) key_of v s t a C O inb lt) as [-> _].
  destruct (two_phases_over_runs q x (causal stands_at) key_of' v s t a C O inb lt) as [-> _].
  f_equal; unfold seen; rewrite !flat_map_concat_map; f_equal; apply map_ext_in; intros R inR.
  apply map_ext_in; intros i ini; apply in_seq in ini; apply same; [exact inR|].
  unfold sees in ini; lia.
Qed.
