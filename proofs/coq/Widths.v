(* SPDX-License-Identifier: Apache-2.0 *)
(** * Widths of keys and values; one latent vector for all heads
    (spec/widths.md: WIDTH-1 to WIDTH-3)

    All of it follows from one fact: attention takes linear combinations of values. So whatever is
    linear may be done to the values, or to what comes out: to cut them, to take them out of keys,
    to multiply them by a matrix. *)
From Coq Require Import Reals List Arith Lra Lia FunctionalExtensionality.
From Chunkproof Require Import Softmax Merge Plan Rows TwoPhase Runs.
Import ListNotations.
Open Scope R_scope.

(** ** What is linear *)

Definition linear (L : vector -> vector) : Prop :=
  forall x u y v, L (fun i => x * u i + y * v i) = fun i => x * L u i + y * L v i.

Definition on_key (L : vector -> vector) (k : key) : key := Key (score k) (L (value k)).
Definition on_state (L : vector -> vector) (a : state) : state := State (m a) (n a) (L (o a)).

Lemma linear_zeros L : linear L -> L zeros = zeros.
Proof.
  intros lin; pose proof (lin 0 zeros 0 zeros) as E; unfold zeros in *.
  replace (fun _ : nat => 0 * 0 + 0 * 0) with (fun _ : nat => 0) in E
    by (apply vector_eq; intros i; ring).
  rewrite E; apply vector_eq; intros i; ring.
Qed.

Lemma linear_times L x u : linear L -> L (fun i => x * u i) = fun i => x * L u i.
Proof.
  intros lin; pose proof (lin x u 0 zeros) as E; unfold zeros in *.
  replace (fun i : nat => x * u i + 0 * 0) with (fun i : nat => x * u i) in E
    by (apply vector_eq; intros i; ring).
  rewrite E; apply vector_eq; intros i; ring.
Qed.

Lemma linear_sum L (f : key -> R) J : linear L ->
  L (fun i => sum (fun k => f k * value k i) J) = fun i => sum (fun k => f k * L (value k) i) J.
Proof.
  intros lin; induction J as [|k J IH]; simpl; [apply (linear_zeros L lin)|].
  replace (fun i => f k * value k i + sum (fun k => f k * value k i) J)
    with (fun i => f k * value k i + 1 * sum (fun k => f k * value k i) J)
    by (apply vector_eq; intros i; ring).
  rewrite (lin (f k) (value k) 1 (fun i => sum (fun k => f k * value k i) J)), IH.
  apply vector_eq; intros i; ring.
Qed.

Lemma max_score_on L J : max_score (map (on_key L) J) = max_score J.
Proof.
  induction J as [|k J IH]; [reflexivity|]; destruct J as [|k' J]; [reflexivity|].
  change (Rmax (score k) (max_score (map (on_key L) (k' :: J))) =
          Rmax (score k) (max_score (k' :: J))); rewrite IH; reflexivity.
Qed.

(** Partial attention, merging and finishing: a state whose o is changed is that of changed
    values. *)
Theorem partial_attn_on L J : linear L ->
  partial_attn (map (on_key L) J) = on_state L (partial_attn J).
Proof.
  intros lin; unfold partial_attn; rewrite max_score_on; unfold on_state, partial_attn_at; simpl.
  rewrite sum_map, (linear_sum L (fun k => exp (score k - max_score J))) by exact lin; simpl.
  f_equal; apply vector_eq; intros i; rewrite sum_map; reflexivity.
Qed.

Theorem attn_reduce_on L a b : linear L ->
  attn_reduce (on_state L a) (on_state L b) = on_state L (attn_reduce a b).
Proof.
  intros lin; unfold attn_reduce; simpl.
  destruct (Req_EM_T (n a) 0) as [za|sa]; [reflexivity|].
  destruct (Req_EM_T (n b) 0) as [zb|sb]; [reflexivity|].
  unfold reduce_at, on_state; simpl; rewrite lin; reflexivity.
Qed.

Theorem finish_on L a : linear L ->
  finish (on_state L a) = L (finish a) /\ lse_of (on_state L a) = lse_of a.
Proof.
  intros lin; split; [|reflexivity]; unfold finish; simpl.
  destruct (Req_EM_T (n a) 0) as [za|sa]; [symmetry; apply linear_zeros, lin|].
  replace (fun i => o a i / n a) with (fun i => / n a * o a i)
    by (apply vector_eq; intros i; unfold Rdiv; ring).
  rewrite linear_times by exact lin; apply vector_eq; intros i; unfold Rdiv; ring.
Qed.

Theorem attention_on L J : linear L ->
  attention (map (on_key L) J) = L (attention J) /\ lse (map (on_key L) J) = lse J.
Proof.
  intros lin.
  rewrite <- (finish_is_attention (partial_attn (map (on_key L) J))),
    <- (lse_of_is_lse (partial_attn (map (on_key L) J))) by apply partial_attn_represents.
  rewrite <- (finish_is_attention (partial_attn J)),
    <- (lse_of_is_lse (partial_attn J)) by apply partial_attn_represents.
  rewrite partial_attn_on by exact lin; apply finish_on, lin.
Qed.

Lemma empty_on L : linear L -> on_state L empty = empty.
Proof.
  intros lin; unfold on_state, empty; simpl; rewrite linear_zeros by exact lin; reflexivity.
Qed.

Lemma merge_from_on L states : linear L -> forall a,
  fold_left attn_reduce (map (on_state L) states) (on_state L a) =
  on_state L (fold_left attn_reduce states a).
Proof.
  intros lin; induction states as [|b states IH]; simpl; intros a; [reflexivity|].
  rewrite attn_reduce_on by exact lin; apply IH.
Qed.

Lemma merge_all_on L states : linear L ->
  merge_all (map (on_state L) states) = on_state L (merge_all states).
Proof.
  intros lin; unfold merge_all; rewrite <- merge_from_on by exact lin.
  rewrite empty_on by exact lin; reflexivity.
Qed.

(** ** Both phases, over any plan of runs, whatever a row sees

    Nothing is asked of the plan: it may be invalid. *)
Section Phases.
Variables (q : run_plan) (x : inputs) (slots : nat -> run -> list nat).
Variables key_of key_of' : nat -> nat -> run -> nat -> key.
Variables (L : vector -> vector) (a : nat).
Hypothesis lin : linear L.
Hypothesis same : forall r C i, key_of' r a C i = on_key L (key_of r a C i).

Lemma run_keys_on r C : run_keys slots key_of' r a C = map (on_key L) (run_keys slots key_of r a C).
Proof using same. unfold run_keys; rewrite map_map; apply map_ext; intros i; apply same. Qed.

Lemma run_state_on r C :
  partial_attn (run_keys slots key_of' r a C) =
  on_state L (partial_attn (run_keys slots key_of r a C)).
Proof using lin same. rewrite run_keys_on; apply partial_attn_on, lin. Qed.

Lemma own_states_on s r :
  own_states q slots key_of' s r a = map (on_state L) (own_states q slots key_of s r a).
Proof using lin same.
  unfold own_states; rewrite map_map; apply map_ext; intros C; apply run_state_on.
Qed.

Lemma kept_on D : kept q x slots key_of' a D = map (on_state L) (kept q x slots key_of a D).
Proof using lin same.
  unfold kept; rewrite map_map; apply map_ext; intros [s t]; apply run_state_on.
Qed.

Lemma merged_at_once_on visited : forall states states',
  (forall r, states' r = on_state L (states r)) ->
  forall r,
  fold_left (fun states '(D, (s, t)) =>
      merge_into states (row_number x s t) (common_state slots key_of' (row_number x s t) a D))
    visited states' r =
  on_state L (fold_left (fun states '(D, (s, t)) =>
      merge_into states (row_number x s t) (common_state slots key_of (row_number x s t) a D))
    visited states r).
Proof using lin same.
  induction visited as [|[D [s t]] visited IH]; simpl; intros states states' E r; [apply E|].
  apply IH; intros r'; unfold merge_into; destruct (r' =? row_number x s t)%nat; [|apply E].
  rewrite E; unfold common_state; rewrite run_state_on; apply attn_reduce_on, lin.
Qed.

Theorem row_result_on v s t :
  row_result q x slots key_of' v s t a = on_state L (row_result q x slots key_of v s t a).
Proof using lin same.
  destruct v; simpl.
  - unfold buffered; rewrite <- merge_all_on by exact lin; rewrite map_app, map_map, own_states_on.
    do 2 f_equal; apply map_ext; intros D; rewrite kept_on.
    rewrite <- (empty_on L lin) at 1; apply map_nth.
  - unfold at_once; rewrite <- merge_all_on by exact lin; simpl; rewrite own_states_on.
    do 2 f_equal; apply merged_at_once_on; intros r; symmetry; apply empty_on, lin.
Qed.
End Phases.

(** ** WIDTH-1: a width of values *)

(** The first d_v numbers. *)
Definition cut (d_v : nat) (u : vector) : vector := fun i => if i <? d_v then u i else 0.

Theorem cut_is d_v u i :
  ((i < d_v)%nat -> cut d_v u i = u i) /\ ((d_v <= i)%nat -> cut d_v u i = 0).
Proof. unfold cut; destruct (Nat.ltb_spec i d_v); split; intros; (reflexivity || lia). Qed.

Lemma cut_linear d_v : linear (cut d_v).
Proof. intros x u y v; apply vector_eq; intros i; unfold cut; destruct (i <? d_v); ring. Qed.

(** Number i of a result depends on number i of the values, and on no other. *)
Theorem number_of_result J J' i :
  Forall2 (fun k k' => score k = score k' /\ value k i = value k' i) J J' ->
  attention J i = attention J' i /\ lse J = lse J'.
Proof.
  intros E.
  assert (W J = W J' /\ A J i = A J' i) as [EW EA].
  { unfold W, A; induction E as [|k k' J J' [Es Ev] E [IHW IHA]]; simpl; [split; reflexivity|].
    rewrite Es, Ev, IHW, IHA; split; reflexivity. }
  destruct E; [split; reflexivity|]; simpl in *; rewrite EW, EA; split; reflexivity.
Qed.

(** What attends to values of d_v numbers is the first d_v numbers of what attends to longer ones;
    and so is a partial result, merged or not. *)
Theorem attention_to_cut_values d_v J :
  attention (map (on_key (cut d_v)) J) = cut d_v (attention J) /\
  lse (map (on_key (cut d_v)) J) = lse J.
Proof. apply attention_on, cut_linear. Qed.

Theorem states_of_cut_values d_v J K :
  partial_attn (map (on_key (cut d_v)) J) = on_state (cut d_v) (partial_attn J) /\
  attn_reduce (partial_attn (map (on_key (cut d_v)) J)) (partial_attn (map (on_key (cut d_v)) K)) =
  on_state (cut d_v) (attn_reduce (partial_attn J) (partial_attn K)).
Proof.
  rewrite !partial_attn_on by apply cut_linear; split; [reflexivity|].
  apply attn_reduce_on, cut_linear.
Qed.

(** Inputs whose values are changed. *)
Definition with_values (L : vector -> vector) (x : inputs) : inputs :=
  Inputs (n_heads x) (n_kv_heads x) (head_dim x) (scale x) (query_begin x) (Q x) (K x)
    (fun C g i => L (V x C g i)).

(** Both phases over a tree, and its plan need not be valid. *)
Theorem output_on L p x v s t a : linear L ->
  TwoPhase.output p (with_values L x) v s t a = L (TwoPhase.output p x v s t a) /\
  TwoPhase.output_lse p (with_values L x) v s t a = TwoPhase.output_lse p x v s t a.
Proof.
  intros lin; unfold TwoPhase.output, TwoPhase.output_lse.
  enough (TwoPhase.row_result p (with_values L x) v s t a =
          on_state L (TwoPhase.row_result p x v s t a)) as -> by (apply finish_on, lin).
  assert (forall r C c, partial_attn (chunk_keys (with_values L x) r a C c) =
                        on_state L (partial_attn (chunk_keys x r a C c))) as one.
  { intros r C c; rewrite <- partial_attn_on by exact lin; unfold chunk_keys; rewrite map_map;
    reflexivity. }
  assert (forall s t D, shared_state p (with_values L x) s t a D =
                        on_state L (shared_state p x s t a D)) as shared.
  { intros s' t' D; exact (one _ _ _). }
  assert (map (TwoPhase.row_state p (with_values L x) s t a) (own_chunks p s) =
          map (on_state L) (map (TwoPhase.row_state p x s t a) (own_chunks p s))) as alone.
  { rewrite map_map; apply map_ext; intros k; exact (one _ _ _). }
  destruct v; simpl.
  - unfold TwoPhase.buffered; rewrite <- merge_all_on by exact lin; rewrite map_app, alone.
    do 2 f_equal; rewrite map_map; apply map_ext; intros D.
    rewrite <- (map_nth (on_state L)), empty_on by exact lin.
    apply (f_equal (fun l => nth _ l empty)); unfold TwoPhase.kept; rewrite map_map.
    apply map_ext; intros [s' t']; apply shared.
  - unfold TwoPhase.at_once; rewrite <- merge_all_on by exact lin; simpl; rewrite alone.
    do 2 f_equal; unfold TwoPhase.merged_at_once.
    change (TwoPhase.steps (with_values L x) (Plan.shared p))
      with (TwoPhase.steps x (Plan.shared p)).
    generalize (TwoPhase.steps x (Plan.shared p)) as visited; intros visited.
    enough (forall states states', (forall r, states' r = on_state L (states r)) -> forall r,
      fold_left (fun states '(D, (s, t)) => merge_into states (row_number (with_values L x) s t)
          (shared_state p (with_values L x) s t a D)) visited states' r =
      on_state L (fold_left (fun states '(D, (s, t)) => merge_into states (row_number x s t)
          (shared_state p x s t a D)) visited states r)) as all
      by (apply all; intros r; symmetry; apply empty_on, lin).
    induction visited as [|[D [s' t']] visited IH]; simpl; intros states states' E r; [apply E|].
    apply IH; intros r'; unfold merge_into.
    change (row_number (with_values L x)) with (row_number x).
    destruct (r' =? row_number x s' t')%nat; [|apply E].
    rewrite E, shared; apply attn_reduce_on, lin.
Qed.

Theorem output_of_cut_values d_v p x v s t a :
  TwoPhase.output p (with_values (cut d_v) x) v s t a = cut d_v (TwoPhase.output p x v s t a) /\
  TwoPhase.output_lse p (with_values (cut d_v) x) v s t a = TwoPhase.output_lse p x v s t a.
Proof. apply output_on, cut_linear. Qed.

(** The example of WIDTH-1: keys 0 and ln 3, values (4, 0) and (8, 4). *)
Definition example_keys : list key :=
  [Key (score_of 1 1 (fun _ => 1) (fun _ => 0)) (fun i => if (i =? 0)%nat then 4 else 0);
   Key (score_of 1 1 (fun _ => 1) (fun _ => ln 3)) (fun i => if (i =? 0)%nat then 8 else 4)].

Example width_of_the_chapter : attention example_keys 0%nat = 7 /\ attention example_keys 1%nat = 3.
Proof.
  unfold attention, example_keys, A, W, score_of; simpl.
  replace (1 * (0 + 1 * 0)) with 0 by ring; replace (1 * (0 + 1 * ln 3)) with (ln 3) by ring.
  rewrite exp_0, exp_ln by lra; split; field.
Qed.

(** ** WIDTH-2: values in rows of their own length *)

Section Rows.
Variables (h_kv c : nat).  (* K/V heads; slots of a chunk *)

(** Slot j of K/V head g of chunk C; where its row of `row` numbers begins. *)
Definition row_place (C g j : nat) : nat := (C * h_kv + g) * c + j.
Definition row_start (row C g j : nat) : nat := row_place C g j * row.

(** The first `width` numbers of a row, in memory. *)
Definition stored (memory : nat -> R) (row width C g j : nat) : vector :=
  cut width (fun i => memory (row_start row C g j + i)%nat).

(** No number of a value is one of another row, however long the rows are, if they have room; and
    all are inside. *)
Theorem rows_are_apart row width C g j i C' g' j' i' :
  (width <= row -> g < h_kv -> g' < h_kv -> j < c -> j' < c -> i < width -> i' < width ->
   row_start row C g j + i = row_start row C' g' j' + i' ->
   C = C' /\ g = g' /\ j = j' /\ i = i')%nat.
Proof.
  unfold row_start, row_place; intros fit ing ing' inj inj' ini ini' E.
  assert (forall b x y x' y' : nat, y < b -> y' < b -> x * b + y = x' * b + y' ->
          x = x' /\ y = y')%nat as split_.
  { intros b x y x' y' iny iny' Exy.
    assert (x = x') by (destruct (Nat.lt_trichotomy x x') as [lt|[eq|lt]]; [|exact eq|]; nia).
    subst; lia. }
  destruct (split_ row _ i _ i' ltac:(lia) ltac:(lia) E) as [Er Ei].
  destruct (split_ c _ j _ j' inj inj' Er) as [Eg Ej].
  destruct (split_ h_kv _ g _ g' ing ing' Eg) as [EC Eg']; auto.
Qed.

Theorem rows_are_inside row width n C g j i :
  (width <= row -> C < n -> g < h_kv -> j < c -> i < width ->
   row_start row C g j + i < n * h_kv * c * row)%nat.
Proof.
  unfold row_start, row_place; intros fit inn ing inj ini.
  assert (C * h_kv + g + 1 <= n * h_kv)%nat as A1 by nia.
  assert ((C * h_kv + g) * c + j + 1 <= n * h_kv * c)%nat as A2 by nia.
  nia.
Qed.

(** With V at number x of K and rows as long as K's, a value is the numbers of its key from x on:
    with x = 0 the first ones. *)
Theorem values_in_keys memory d d_v x C g j i :
  (x + d_v <= d)%nat -> (i < d_v)%nat ->
  stored (fun at_ => memory (x + at_)%nat) d d_v C g j i = stored memory d d C g j (x + i)%nat.
Proof.
  intros fit ini; unfold stored.
  rewrite (proj1 (cut_is d_v _ i)), (proj1 (cut_is d _ (x + i))) by lia.
  f_equal; lia.
Qed.
End Rows.

(** Numbers x .. x + d_v - 1 of a vector. *)
Definition taken (x d_v : nat) (u : vector) : vector := cut d_v (fun i => u (x + i)%nat).

Lemma taken_linear x d_v : linear (taken x d_v).
Proof.
  intros r u y v; apply vector_eq; intros i; unfold taken, cut; destruct (i <? d_v); ring.
Qed.

(** Inputs whose keys and values are in memory; whose values are in their keys. *)
Definition in_memory (x : inputs) (c d_v v_row : nat) (k v : nat -> R) : inputs :=
  Inputs (n_heads x) (n_kv_heads x) (head_dim x) (scale x) (query_begin x) (Q x)
    (stored (n_kv_heads x) c k (head_dim x) (head_dim x))
    (stored (n_kv_heads x) c v v_row d_v).

Definition with_keys_as_values (x : inputs) (c : nat) (k : nat -> R) : inputs :=
  in_memory x c (head_dim x) (head_dim x) k k.

(** Both phases over such a cache: what they give when the whole key is the value, of which these
    numbers are taken. *)
Theorem values_in_keys_are_taken p x c k d_v from v s t a : (from + d_v <= head_dim x)%nat ->
  let cache := in_memory x c d_v (head_dim x) k (fun at_ => k (from + at_)%nat) in
  let whole := with_keys_as_values x c k in
  TwoPhase.output p cache v s t a = taken from d_v (TwoPhase.output p whole v s t a) /\
  TwoPhase.output_lse p cache v s t a = TwoPhase.output_lse p whole v s t a.
Proof.
  intros fit cache whole.
  enough (cache = with_values (taken from d_v) whole) as -> by (apply output_on, taken_linear).
  unfold cache, whole, with_values, with_keys_as_values, in_memory; simpl; f_equal.
  do 3 (apply functional_extensionality; intros ?); apply vector_eq; intros i.
  unfold taken at 1; destruct (Nat.lt_ge_cases i d_v) as [ini|out].
  - rewrite values_in_keys by assumption; unfold cut; rewrite (proj2 (Nat.ltb_lt i d_v) ini).
    reflexivity.
  - unfold stored, cut; rewrite (proj2 (Nat.ltb_ge i d_v) out); reflexivity.
Qed.

(** ** WIDTH-3: one latent vector instead of keys and values of many heads *)

(** Sums of n numbers; u beside v, u of n numbers. *)
Fixpoint total (n : nat) (f : nat -> R) : R :=
  match n with
  | O => 0
  | S n' => total n' f + f n'
  end.

Definition beside (n : nat) (u v : vector) : vector :=
  fun i => if i <? n then u i else v (i - n)%nat.

(** W x, x of l numbers; W^T q, q of n numbers. *)
Definition times (W : nat -> nat -> R) (l : nat) (x : vector) : vector :=
  fun i => total l (fun j => W i j * x j).
Definition transposed (W : nat -> nat -> R) (n : nat) (q : vector) : vector :=
  fun j => total n (fun i => W i j * q i).

Lemma total_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> total n f = total n g.
Proof.
  induction n as [|n IH]; simpl; intros E; [reflexivity | rewrite IH, E by auto; reflexivity].
Qed.

Lemma total_plus n f g : total n (fun i => f i + g i) = total n f + total n g.
Proof. induction n as [|n IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma total_times n x f : total n (fun i => x * f i) = x * total n f.
Proof. induction n as [|n IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma total_swap n l f :
  total n (fun i => total l (f i)) = total l (fun j => total n (fun i => f i j)).
Proof.
  induction n as [|n IH]; simpl.
  - induction l as [|l IHl]; simpl; [reflexivity | rewrite <- IHl; ring].
  - rewrite IH; symmetry; apply total_plus.
Qed.

Lemma dot_total d q k : dot d q k = total d (fun i => q i * k i).
Proof. induction d as [|d IH]; simpl; [reflexivity | rewrite IH; reflexivity]. Qed.

Lemma dot_beside n m q p k r :
  dot (n + m) (beside n q p) (beside n k r) = dot n q k + dot m p r.
Proof.
  induction m as [|m IH].
  - rewrite Nat.add_0_r; simpl; rewrite Rplus_0_r, !dot_total; apply total_ext; intros i lt.
    unfold beside; rewrite (proj2 (Nat.ltb_lt i n) lt); reflexivity.
  - rewrite Nat.add_succ_r; simpl; rewrite IH; unfold beside.
    rewrite (proj2 (Nat.ltb_ge (n + m) n)) by lia; replace (n + m - n)%nat with m by lia; ring.
Qed.

(** Why: q . (W x) = (W^T q) . x *)
Theorem key_is_absorbed W n l q x : dot n q (times W l x) = dot l (transposed W n q) x.
Proof.
  rewrite !dot_total; unfold times, transposed.
  rewrite (total_ext n _ (fun i => total l (fun j => q i * (W i j * x j))))
    by (intros i _; symmetry; apply total_times).
  rewrite total_swap; apply total_ext; intros j _.
  rewrite (total_ext n _ (fun i => x j * (W i j * q i))) by (intros i _; ring).
  rewrite total_times; ring.
Qed.

Lemma times_linear U l : linear (times U l).
Proof.
  intros x u y v; apply vector_eq; intros i; unfold times.
  rewrite (total_ext l _ (fun j => x * (U i j * u j) + y * (U i j * v j))) by (intros j _; ring).
  rewrite total_plus, !total_times; reflexivity.
Qed.

(** What a model with latent attention has: sizes, and two matrices for each head. *)
Record latent := Latent {
  latent_dim : nat;                    (* l: numbers of x *)
  own_dim : nat;                       (* of W_a x *)
  rotated_dim : nat;                   (* of r *)
  to_key : nat -> nat -> nat -> R;     (* W_a *)
  to_value : nat -> nat -> nat -> R    (* U_a *)
}.

Section Latent.
Variable M : latent.

(** Head a's query (q, p), the key and the value of a token (x, r); what is cached of the token, and
    the query for it. *)
Definition its_query (q p : vector) : vector := beside (own_dim M) q p.
Definition its_key (a : nat) (x r : vector) : vector :=
  beside (own_dim M) (times (to_key M a) (latent_dim M) x) r.
Definition its_value (a : nat) : vector -> vector := times (to_value M a) (latent_dim M).
Definition cached (x r : vector) : vector := beside (latent_dim M) x r.
Definition absorbed (a : nat) (q p : vector) : vector :=
  beside (latent_dim M) (transposed (to_key M a) (own_dim M) q) p.

Definition head_key (f : R) (a : nat) (q p : vector) (token : vector * vector) : key :=
  Key (score_of f (own_dim M + rotated_dim M) (its_query q p) (its_key a (fst token) (snd token)))
      (its_value a (fst token)).
Definition latent_key (f : R) (a : nat) (q p : vector) (token : vector * vector) : key :=
  Key (score_of f (latent_dim M + rotated_dim M) (absorbed a q p)
         (cached (fst token) (snd token)))
      (fst token).

(** Each score is the same. *)
Theorem score_is_absorbed f a q p x r :
  score_of f (own_dim M + rotated_dim M) (its_query q p) (its_key a x r) =
  score_of f (latent_dim M + rotated_dim M) (absorbed a q p) (cached x r).
Proof.
  unfold score_of, its_query, its_key, absorbed, cached; rewrite !dot_beside, key_is_absorbed.
  reflexivity.
Qed.

(** WIDTH-3, over any tokens. *)
Theorem latent_attention f a q p tokens :
  attention (map (head_key f a q p) tokens) =
    its_value a (attention (map (latent_key f a q p) tokens)) /\
  lse (map (head_key f a q p) tokens) = lse (map (latent_key f a q p) tokens).
Proof.
  replace (map (head_key f a q p) tokens)
    with (map (on_key (its_value a)) (map (latent_key f a q p) tokens));
    [apply attention_on, times_linear|].
  rewrite map_map; apply map_ext; intros [x r]; unfold on_key, head_key, latent_key; simpl.
  rewrite score_is_absorbed; reflexivity.
Qed.

(** Both phases: what all heads' own keys and values give, and what one K/V head gives whose values
    are the first numbers of its keys. q, p: of a query row and head. x, r: of a chunk and slot. *)
Variables (h : nat) (f : R) (begins : nat -> nat).
Variables (q p : nat -> nat -> vector) (x r : nat -> nat -> vector).

Definition many_heads : inputs :=
  Inputs h h (own_dim M + rotated_dim M) f begins
    (fun row a => its_query (q row a) (p row a))
    (fun C g i => its_key g (x C i) (r C i))
    (fun C g i => its_value g (x C i)).
Definition one_head : inputs :=
  Inputs h 1 (latent_dim M + rotated_dim M) f begins
    (fun row a => absorbed a (q row a) (p row a))
    (fun C _ i => cached (x C i) (r C i))
    (fun C _ i => cut (latent_dim M) (cached (x C i) (r C i))).

(** In one_head a value is its key's first numbers; U_a asks for no more of it. *)
Lemma value_of_cached a y z : its_value a (cut (latent_dim M) (cached y z)) = its_value a y.
Proof.
  apply vector_eq; intros i; unfold its_value, times, cached, cut, beside; apply total_ext.
  intros j lt; rewrite (proj2 (Nat.ltb_lt j (latent_dim M)) lt); reflexivity.
Qed.

(** Slot i of chunk C, for a query row and head. *)
Theorem latent_slot row a C i : (a < h)%nat ->
  slot_key many_heads row a C i = on_key (its_value a) (slot_key one_head row a C i).
Proof.
  intros inh; unfold slot_key, on_key, kv_head; simpl.
  rewrite Nat.div_same, Nat.div_1_r by lia; rewrite score_is_absorbed, value_of_cached; reflexivity.
Qed.

(** Over any plan of runs, with any slots of a run that a row sees: windows, masks. *)
Theorem latent_two_phases plan slots v s t a : (a < h)%nat ->
  let many := row_result plan many_heads slots (stored_key many_heads) v s t a in
  let one := row_result plan one_head slots (stored_key one_head) v s t a in
  finish many = its_value a (finish one) /\ lse_of many = lse_of one.
Proof.
  intros inh many one.
  assert (many = on_state (its_value a) one) as ->; [|apply finish_on, times_linear].
  unfold many, one.
  change (row_result plan many_heads slots (stored_key many_heads) v s t a)
    with (row_result plan one_head slots (stored_key many_heads) v s t a).
  apply row_result_on; [apply times_linear|].
  intros row C i; unfold stored_key; apply latent_slot, inh.
Qed.
End Latent.
