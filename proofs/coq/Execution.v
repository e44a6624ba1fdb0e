(* SPDX-License-Identifier: Apache-2.0 *)
(** * Attention in two phases as ref/ executes it (spec/two_phase.md: TPP-1 to TPP-6; NUM-8)

    Each operation stands where ref/ has it, in that order, over any numbers. Over the real numbers
    this is TwoPhase.output, which is proved here. Over binary64 it is what runs beside ref/
    (proofs/extract). *)
From Coq Require Import Reals ZArith List Arith Lra Lia.
From Chunkproof Require Import Softmax Merge Plan Rows TwoPhase.
Import ListNotations.
Open Scope nat_scope.

(** What is done with numbers. *)
Record arithmetic (T : Type) := Arithmetic {
  zero : T;
  plus : T -> T -> T;
  subtract : T -> T -> T;
  multiply : T -> T -> T;
  divide : T -> T -> T;
  exponential : T -> T;
  logarithm : T -> T;
  is_greater : T -> T -> bool;
  is_zero : T -> bool
}.

Arguments Arithmetic {T}.
Arguments zero {T}.
Arguments plus {T}.
Arguments subtract {T}.
Arguments multiply {T}.
Arguments divide {T}.
Arguments exponential {T}.
Arguments logarithm {T}.
Arguments is_greater {T}.
Arguments is_zero {T}.

(** TwoPhase.inputs and Merge.state, over numbers of any kind. *)
Record problem (T : Type) := Problem {
  heads : nat;
  kv_heads : nat;
  dimension : nat;
  scaled_by : T;
  first_row : nat -> nat;             (* query_begin *)
  query : nat -> nat -> nat -> T;     (* query row, head, component *)
  keys : nat -> nat -> nat -> nat -> T; (* chunk, key/value head, slot, component *)
  values : nat -> nat -> nat -> nat -> T
}.

Arguments Problem {T}.
Arguments heads {T}.
Arguments kv_heads {T}.
Arguments dimension {T}.
Arguments scaled_by {T}.
Arguments first_row {T}.
Arguments query {T}.
Arguments keys {T}.
Arguments values {T}.

Record partial (T : Type) := Partial { top : T; total : T; gathered : nat -> T }.

Arguments Partial {T}.
Arguments top {T}.
Arguments total {T}.
Arguments gathered {T}.

Section Execution.
Variable T : Type.
Variable op : arithmetic T.

(** SOFTMAX-1: cp_score(). *)
Fixpoint dot_steps (d : nat) (q k : nat -> T) : T :=
  match d with
  | O => zero op
  | S d' => plus op (dot_steps d' q k) (multiply op (q d') (k d'))
  end.

Definition score_steps (scale : T) (d : nat) (q k : nat -> T) : T :=
  multiply op scale (dot_steps d q k).

(** MERGE-3: cp_partial_attn(). A key is its score and its value. *)
Definition greatest (scores : list T) : T :=
  match scores with
  | [] => zero op
  | s :: rest => fold_left (fun m s => if is_greater op s m then s else m) rest s
  end.

Definition weigh (m : T) (k : T * (nat -> T)) : T * (nat -> T) :=
  (exponential op (subtract op (fst k) m), snd k).

Definition partial_steps (ks : list (T * (nat -> T))) : partial T :=
  let m := greatest (map fst ks) in
  let weighed := map (weigh m) ks in
  Partial m
          (fold_left (fun n k => plus op n (fst k)) weighed (zero op))
          (fun i => fold_left (fun o k => plus op o (multiply op (fst k) (snd k i)))
                              weighed (zero op)).

(** MERGE-2: cp_state_empty(). *)
Definition empty_steps : partial T := Partial (zero op) (zero op) (fun _ => zero op).

(** MERGE-4: cp_attn_reduce() merges `part` into `a`. *)
Definition reduce_steps (a part : partial T) : partial T :=
  if is_zero op (total part) then a
  else if is_zero op (total a) then part
  else
    let m := if is_greater op (top part) (top a) then top part else top a in
    let x := exponential op (subtract op (top part) m) in
    let y := exponential op (subtract op (top a) m) in
    Partial m
            (plus op (multiply op x (total part)) (multiply op y (total a)))
            (fun i => plus op (multiply op x (gathered part i)) (multiply op y (gathered a i))).

(** MERGE-6, MERGE-7: cp_finish(). No number stands for -infinity. *)
Definition finish_steps (a : partial T) (i : nat) : T :=
  if is_zero op (total a) then zero op else divide op (gathered a i) (total a).

Definition lse_steps (a : partial T) : option T :=
  if is_zero op (total a) then None else Some (plus op (top a) (logarithm op (total a))).

(** ** The two phases *)

Definition query_rows (x : problem T) (s : nat) : nat := first_row x (s + 1) - first_row x s.

Definition place (p : plan) (x : problem T) (s t : nat) : Z :=
  row_position (n_tokens (sequence p s)) (query_rows x s) t.

Definition key_head (x : problem T) (a : nat) : nat := a / (heads x / kv_heads x).

(** TPP-5, TPP-6: cp_attend_chunk(), for the first `count` keys of chunk C. *)
Definition chunk_steps (x : problem T) (r a C count : nat) : partial T :=
  let g := key_head x a in
  partial_steps
    (map (fun i => (score_steps (scaled_by x) (dimension x) (query x r a) (keys x C g i),
                    values x C g i))
         (seq 0 count)).

(** TPP-1, TPP-2: the partial results of a query row and head, in the order in which they are
    merged: the descriptors that serve the sequence, then the chunks that it has alone. *)
Definition row_parts (p : plan) (x : problem T) (s t a : nat) : list (partial T) :=
  let r := first_row x s + t in
  let pos := place p x s t in
  map (fun D => chunk_steps x r a (chunk D) (sees pos (position D) (n_keys D)))
      (filter (serves s) (shared p)) ++
  map (fun k => chunk_steps x r a (path (sequence p s) k)
                            (sees pos (k * chunk_size p) (keys_in p s k)))
      (own_chunks p s).

(** Both variants merge in this order (TPP-4). *)
Definition row_steps (p : plan) (x : problem T) (s t a : nat) : partial T :=
  fold_left reduce_steps (row_parts p x s t a) empty_steps.

(** What cp_attend() writes for row t of sequence s and head a. *)
Definition output_steps (p : plan) (x : problem T) (s t a : nat) : list T :=
  let result := row_steps p x s t a in
  map (finish_steps result) (seq 0 (dimension x)).

Definition output_lse_steps (p : plan) (x : problem T) (s t a : nat) : option T :=
  lse_steps (row_steps p x s t a).
End Execution.

Arguments dot_steps {T}.
Arguments score_steps {T}.
Arguments greatest {T}.
Arguments weigh {T}.
Arguments partial_steps {T}.
Arguments empty_steps {T}.
Arguments reduce_steps {T}.
Arguments finish_steps {T}.
Arguments lse_steps {T}.
Arguments query_rows {T}.
Arguments place {T}.
Arguments key_head {T}.
Arguments chunk_steps {T}.
Arguments row_parts {T}.
Arguments row_steps {T}.
Arguments output_steps {T}.
Arguments output_lse_steps {T}.

(** ** Over the real numbers *)

Open Scope R_scope.

Definition reals : arithmetic R := {|
  zero := 0; plus := Rplus; subtract := Rminus; multiply := Rmult; divide := Rdiv;
  exponential := exp; logarithm := ln;
  is_greater := fun x y => if Rlt_dec y x then true else false;
  is_zero := fun x => if Req_EM_T x 0 then true else false |}.

Definition real_problem (x : inputs) : problem R :=
  Problem (n_heads x) (n_kv_heads x) (head_dim x) (scale x) (query_begin x)
          (Q x) (K x) (V x).

Definition real_state (a : partial R) : state := State (top a) (total a) (gathered a).

Definition extended_of (y : option R) : extended :=
  match y with None => Minus_infinity | Some z => Finite z end.

Lemma fold_greatest rest s (v : vector) (vs : list key) :
  map score vs = rest ->
  fold_left (fun m s => if Rlt_dec m s then s else m) rest s = max_score (Key s v :: vs).
Proof.
  revert s rest v; induction vs as [|k vs IH]; intros s rest v E; simpl in E; subst rest.
  - reflexivity.
  - simpl fold_left; destruct vs as [|k' vs].
    + simpl; unfold Rmax; destruct (Rlt_dec s (score k)), (Rle_dec s (score k)); lra.
    + rewrite (IH _ _ v eq_refl).
      change (max_score (Key s v :: k :: k' :: vs))
        with (Rmax s (Rmax (score k) (max_score (k' :: vs)))).
      change (max_score (Key (if Rlt_dec s (score k) then score k else s) v :: k' :: vs))
        with (Rmax (if Rlt_dec s (score k) then score k else s) (max_score (k' :: vs))).
      rewrite Rmax_assoc; f_equal; unfold Rmax.
      destruct (Rlt_dec s (score k)), (Rle_dec s (score k)); lra.
Qed.

Lemma same_test (x y : R) :
  (if (if Rlt_dec y x then true else false) then x else y) = if Rlt_dec y x then x else y.
Proof. destruct (Rlt_dec y x); reflexivity. Qed.

Lemma greatest_reals J : greatest reals (map score J) = max_score J.
Proof.
  destruct J as [|[s v] J]; [reflexivity|].
  rewrite <- (fold_greatest (map score J) s v J eq_refl); simpl.
  generalize s as z; induction (map score J) as [|y l IH]; intros z; simpl; [reflexivity|].
  rewrite same_test; apply IH.
Qed.

Definition pair_of (k : key) : R * (nat -> R) := (score k, value k).

Theorem partial_steps_reals J :
  real_state (partial_steps reals (map pair_of J)) = partial_attn J.
Proof.
  unfold partial_steps, partial_attn, partial_attn_at, real_state; cbn [top total gathered].
  rewrite (map_map pair_of fst); cbn [pair_of fst]; rewrite greatest_reals.
  generalize (max_score J) as m; intros m; f_equal.
  - induction J as [|k J IH] using rev_ind; [reflexivity|].
    rewrite !map_app, fold_left_app, IH, sum_app; simpl; ring.
  - apply vector_eq; intros i.
    induction J as [|k J IH] using rev_ind; [reflexivity|].
    rewrite !map_app, fold_left_app, IH, sum_app; simpl; ring.
Qed.

Lemma reduce_steps_reals a b :
  well_formed (real_state a) -> well_formed (real_state b) ->
  real_state (reduce_steps reals a b) = attn_reduce (real_state a) (real_state b).
Proof.
  assert (forall a, well_formed (real_state a) -> total a = 0 -> real_state a = empty) as none.
  { intros y [E|one] zero_; [exact E|]; simpl in one; lra. }
  intros wa wb; unfold reduce_steps, attn_reduce; simpl.
  destruct (Req_EM_T (total b) 0) as [zb|nb], (Req_EM_T (total a) 0) as [za|na]; try reflexivity.
  - rewrite (none a wa za), (none b wb zb); reflexivity.
  - unfold reduce_at, real_state; cbn [m n o top total gathered].
    rewrite same_test.
    replace (if Rlt_dec (top a) (top b) then top b else top a) with (Rmax (top a) (top b)).
    + reflexivity.
    + unfold Rmax; destruct (Rle_dec (top a) (top b)), (Rlt_dec (top a) (top b)); lra.
Qed.

Lemma chunk_steps_reals x r a C count :
  real_state (chunk_steps reals (real_problem x) r a C count) =
  partial_attn (chunk_keys x r a C count).
Proof.
  unfold chunk_steps, chunk_keys; rewrite <- partial_steps_reals, map_map; reflexivity.
Qed.

Lemma row_parts_reals p x s t a :
  map real_state (row_parts reals p (real_problem x) s t a) =
  map partial_attn (parts p x (shared p) s t a).
Proof.
  unfold row_parts, parts; rewrite !map_app, !map_map; f_equal; apply map_ext; intros y;
    apply chunk_steps_reals.
Qed.

Lemma fold_reduce_reals l acc :
  well_formed (real_state acc) -> Forall (fun a => well_formed (real_state a)) l ->
  real_state (fold_left (reduce_steps reals) l acc) =
  fold_left attn_reduce (map real_state l) (real_state acc).
Proof.
  revert acc; induction l as [|a l IH]; intros acc wf all; simpl; [reflexivity|].
  inversion all; subst; rewrite IH; auto; rewrite reduce_steps_reals; auto.
  apply merge_well_formed; assumption.
Qed.

Lemma row_steps_reals p x s t a :
  real_state (row_steps reals p (real_problem x) s t a) =
  merge_all (map partial_attn (parts p x (shared p) s t a)).
Proof.
  unfold row_steps, merge_all; rewrite <- row_parts_reals, fold_reduce_reals; [reflexivity| |].
  - left; reflexivity.
  - apply Forall_forall; intros b inb; apply (in_map real_state) in inb.
    rewrite row_parts_reals in inb; apply in_map_iff in inb; destruct inb as (J & E & _).
    rewrite <- E; apply partial_attn_well_formed.
Qed.

(** TPP-3, TPP-4: what is executed is, over the real numbers, the output of both variants. *)
Theorem steps_are_output p x v s t a :
  rows_ordered x -> (t < n_rows x s)%nat ->
  output_steps reals p (real_problem x) s t a = map (output p x v s t a) (seq 0 (head_dim x)) /\
  extended_of (output_lse_steps reals p (real_problem x) s t a) = output_lse p x v s t a.
Proof.
  intros O lt; assert (real_state (row_steps reals p (real_problem x) s t a) =
                       row_result p x v s t a) as E.
  { rewrite row_steps_reals; destruct v; simpl.
    - symmetry; apply buffered_parts; assumption.
    - rewrite (variants_agree p x (shared p)) by auto; symmetry; apply buffered_parts; assumption. }
  unfold output, output_lse; rewrite <- E.
  unfold output_steps, output_lse_steps, finish_steps, lse_steps, finish, lse_of; simpl.
  set (b := row_steps reals p (real_problem x) s t a); split.
  - apply map_ext; intros i; destruct (Req_EM_T (total b) 0); reflexivity.
  - destruct (Req_EM_T (total b) 0); reflexivity.
Qed.

(** TPP-3: hence attention over the keys that the row sees. *)
Theorem steps_are_attention p x s t a :
  valid p -> rows_ordered x -> (s < n_sequences p)%nat -> (t < n_rows x s)%nat ->
  output_steps reals p (real_problem x) s t a =
    map (attention (seen p x s t a)) (seq 0 (head_dim x)) /\
  extended_of (output_lse_steps reals p (real_problem x) s t a) = lse (seen p x s t a).
Proof.
  intros Vp O inb lt; destruct (steps_are_output p x Buffered s t a O lt) as [-> ->].
  destruct (two_phases_are_attention p x Buffered s t a Vp O inb lt) as [-> ->].
  split; reflexivity.
Qed.
