(* SPDX-License-Identifier: Apache-2.0 *)
(** * Windows: which keys a row sees where it does not see all up to its own position
    (spec/windows.md: WINDOW-1 to WINDOW-4) *)
From Coq Require Import Reals ZArith List Permutation Arith Bool Lia.
From Chunkproof Require Import Softmax Merge Plan Rows TwoPhase Runs RunsTree.
Import ListNotations.
Open Scope nat_scope.

(** ** WINDOW-1: which keys *)
Record window := Window {
  window_keys : nat;   (* keys; 0: no window *)
  window_ahead : nat;  (* ahead *)
  window_kept : nat    (* kept *)
}.

(** A row at position p sees the key at position t. *)
Definition in_window (w : window) (p : Z) (t : nat) : bool :=
  ((Z.of_nat t <=? p + Z.of_nat (window_ahead w))%Z &&
   ((window_keys w =? 0) || (p - Z.of_nat (window_keys w) <? Z.of_nat t)%Z ||
    (t <? window_kept w)))%bool.

(** The same with the connectives of the clause. *)
Lemma in_window_is w p t :
  in_window w p t = true <->
  (Z.of_nat t <= p + Z.of_nat (window_ahead w))%Z /\
  (window_keys w = 0 \/ (p - Z.of_nat (window_keys w) < Z.of_nat t)%Z \/ t < window_kept w).
Proof.
  unfold in_window; rewrite andb_true_iff, !orb_true_iff, Z.leb_le, Nat.eqb_eq, Z.ltb_lt.
  rewrite Nat.ltb_lt; tauto.
Qed.

(** ** WINDOW-2: of a run of t keys whose first is at position f *)

(** e, b and a. *)
Definition window_end (w : window) (p : Z) (f t : nat) : nat :=
  Z.to_nat (Z.min (Z.max (p + Z.of_nat (window_ahead w) + 1 - Z.of_nat f) 0) (Z.of_nat t)).

Definition window_begin (w : window) (p : Z) (f t : nat) : nat :=
  if window_keys w =? 0 then 0
  else Z.to_nat (Z.min (Z.max (p - Z.of_nat (window_keys w) + 1 - Z.of_nat f) 0)
                       (Z.of_nat (window_end w p f t))).

Definition kept_end (w : window) (p : Z) (f t : nat) : nat :=
  Nat.min (window_kept w - f) (window_begin w p f t).

(** The slots 0 .. a - 1 and b .. e - 1. *)
Definition window_slots (w : window) (p : Z) (f t : nat) : list nat :=
  seq 0 (kept_end w p f t) ++
  seq (window_begin w p f t) (window_end w p f t - window_begin w p f t).

(** A row sees no more of the run than it has, and no slot twice. *)
Lemma ranges_ordered w p f t :
  kept_end w p f t <= window_begin w p f t <= window_end w p f t /\ window_end w p f t <= t.
Proof.
  unfold kept_end, window_begin; destruct (window_keys w =? 0); unfold window_end; lia.
Qed.

Lemma filter_all {T} (f : T -> bool) l : (forall z, In z l -> f z = true) -> filter f l = l.
Proof.
  induction l as [|z l IH]; simpl; intros all; [reflexivity|].
  rewrite all, IH by auto; reflexivity.
Qed.

(** WINDOW-2: these are the slots at the positions of WINDOW-1, each once. *)
Theorem window_slots_exactly w p f t :
  window_slots w p f t = filter (fun i => in_window w p (f + i)) (seq 0 t).
Proof.
  destruct (ranges_ordered w p f t) as [[ab be] et]; unfold window_slots.
  set (a := kept_end w p f t) in *; set (b := window_begin w p f t) in *;
    set (e := window_end w p f t) in *.
  replace (seq 0 t) with (seq 0 a ++ seq a (b - a) ++ seq b (e - b) ++ seq e (t - e)).
  2: { transitivity (seq 0 (a + ((b - a) + ((e - b) + (t - e))))); [|f_equal; lia].
       rewrite !seq_app; repeat f_equal; lia. }
  rewrite !filter_app.
  rewrite (filter_all _ (seq 0 a)), (filter_none _ (seq a (b - a))), (filter_all _ (seq b (e - b))),
    (filter_none _ (seq e (t - e))), app_nil_r; [reflexivity | ..];
    intros i ini; apply in_seq in ini; [apply not_true_iff_false | | apply not_true_iff_false |];
    rewrite in_window_is; revert ini ab be et; subst a b e;
    unfold kept_end, window_begin, window_end;
    destruct (Nat.eqb_spec (window_keys w) 0); lia.
Qed.

Theorem no_slot_twice w p f t : NoDup (window_slots w p f t).
Proof. rewrite window_slots_exactly; apply NoDup_filter, seq_NoDup. Qed.

(** A run of which a row sees no key. *)
Theorem sees_none w p f t :
  window_slots w p f t = [] <-> forall i, i < t -> in_window w p (f + i) = false.
Proof.
  rewrite window_slots_exactly; split; intros none.
  - intros i lt; apply not_true_iff_false; intros yes.
    assert (In i (filter (fun i => in_window w p (f + i)) (seq 0 t))) as ini
      by (apply filter_In; split; [apply in_seq; lia | exact yes]).
    rewrite none in ini; exact ini.
  - apply filter_none; intros i ini; apply none; apply in_seq in ini; lia.
Qed.

(** With zeros alone they are those of PREFILL-4. *)
Definition no_window : window := Window 0 0 0.

Theorem no_window_is_causal p f t : window_slots no_window p f t = seq 0 (sees p f t).
Proof.
  unfold window_slots, kept_end, window_begin; simpl; rewrite Nat.sub_0_r; f_equal.
  unfold window_end, sees; simpl; lia.
Qed.

(** ** WINDOW-3: both phases *)

(** Which slots of a run query row r sees. *)
Definition windowed (w : window) (stands_at : nat -> Z) (r : nat) (R : run) : list nat :=
  window_slots w (stands_at r) (first R) (held R).

(** The keys of the tokens of s at the positions of WINDOW-1. *)
Definition keys_in_window (q : run_plan) (w : window) (stands_at : nat -> Z)
    (key_of : nat -> nat -> run -> nat -> key) (s r a : nat) : list key :=
  map (fun y => key_of r a (fst y) (snd y))
      (filter (fun y => in_window w (stands_at r) (token_position y)) (tokens q s)).

Theorem seen_is_the_window q w stands_at key_of s r a :
  seen q (windowed w stands_at) key_of s r a = keys_in_window q w stands_at key_of s r a.
Proof.
  apply (seen_by_position q (windowed w stands_at) key_of s r a (in_window w (stands_at r))).
  intros R; apply window_slots_exactly.
Qed.

(** WINDOW-3: two phases over a complete plan of runs are attention over exactly these keys;
    each_token_once says that no token is there twice. *)
Theorem two_phases_over_windows q x w stands_at key_of v s t a :
  complete q -> rows_ordered x -> s < n_prompts q -> t < n_rows x s ->
  let all := keys_in_window q w stands_at key_of s (row_number x s t) a in
  let state := row_result q x (windowed w stands_at) key_of v s t a in
  finish state = attention all /\ lse_of state = lse all.
Proof.
  intros C O inb lt all state; unfold all, state; rewrite <- seen_is_the_window.
  apply two_phases_over_runs; assumption.
Qed.

(** Of a tree: its plan is one of runs. *)
Theorem two_phases_over_windows_of_a_tree p x w stands_at v s t a :
  Plan.valid p -> rows_ordered x -> s < n_sequences p -> t < n_rows x s ->
  let all := keys_in_window (as_runs p) w stands_at (stored_key x) s (row_number x s t) a in
  let state := row_result (as_runs p) x (windowed w stands_at) (stored_key x) v s t a in
  finish state = attention all /\ lse_of state = lse all.
Proof.
  intros Vp O inb lt; apply two_phases_over_windows; try assumption.
  apply valid_is_complete, plan_is_plan_of_runs, Vp.
Qed.

(** ** WINDOW-4: what a plan may leave out

    Parts of lists, in their order. *)
Inductive within {T} : list T -> list T -> Prop :=
  | within_nil : within [] []
  | within_skip y l l' : within l l' -> within l (y :: l')
  | within_take y l l' : within l l' -> within (y :: l) (y :: l').

Lemma within_refl {T} (l : list T) : within l l.
Proof. induction l; constructor; assumption. Qed.

Lemma within_filter {T} (f : T -> bool) l : within (filter f l) l.
Proof. induction l as [|y l IH]; simpl; [|destruct (f y)]; constructor; assumption. Qed.

Lemma within_app {T} (k k' l l' : list T) :
  within k k' -> within l l' -> within (k ++ l) (k' ++ l').
Proof. intros K L; induction K; simpl; [exact L | constructor; assumption ..]. Qed.

Lemma within_map {T U} (f : T -> U) l l' : within l l' -> within (map f l) (map f l').
Proof. intros L; induction L; simpl; constructor; assumption. Qed.

Lemma within_flat_map {T U} (f : T -> list U) l l' :
  within l l' -> within (flat_map f l) (flat_map f l').
Proof.
  intros L; induction L as [|y l l' L IH|y l l' L IH]; simpl; [constructor | |].
  - induction (f y) as [|z k IHk]; simpl; [exact IH | constructor; exact IHk].
  - apply within_app; [apply within_refl | exact IH].
Qed.

Lemma within_In {T} (l l' : list T) y : within l l' -> In y l -> In y l'.
Proof. intros L; induction L; simpl; intuition. Qed.

Lemma within_NoDup {T} (l l' : list T) : within l l' -> NoDup l' -> NoDup l.
Proof.
  intros L; induction L as [|y l l' L IH|y l l' L IH]; intros N; [constructor | |];
    apply NoDup_cons_iff in N; destruct N as [new N]; [auto|].
  constructor; [intros iny; apply new, (within_In l l' y L iny) | auto].
Qed.

(** A plan without the descriptors and the runs of a sequence's own that are said to be dropped. *)
Definition left_out (q : run_plan) (dropped : descriptor -> bool)
    (own_dropped : nat -> run -> bool) : run_plan :=
  let kept_descriptors := filter (fun D => negb (dropped D)) (descriptors q) in
  let common := fun s => map run_of (filter (fun D => has s (members q D)) kept_descriptors) in
  Run_plan (n_pool q) (width q) (n_prompts q) (served q) kept_descriptors
    (fun s => common s ++ filter (fun R => negb (own_dropped s R)) (own q s))
    (fun s => length (common s)).

Lemma filters_swap {T} (f g : T -> bool) l : filter f (filter g l) = filter g (filter f l).
Proof.
  induction l as [|y l IH]; simpl; [reflexivity|].
  destruct (f y) eqn:F, (g y) eqn:G; simpl; rewrite ?F, ?G, IH; reflexivity.
Qed.

Lemma runs_are_common_and_own q s :
  valid q -> s < n_prompts q -> runs q s = map run_of (serving q s (descriptors q)) ++ own q s.
Proof.
  intros (_ & _ & R3) inb; destruct (R3 s inb) as [_ ->]; unfold own.
  rewrite firstn_skipn; reflexivity.
Qed.

Lemma left_out_within q dropped own_dropped s :
  valid q -> s < n_prompts q -> within (runs (left_out q dropped own_dropped) s) (runs q s).
Proof.
  intros V inb; rewrite (runs_are_common_and_own q s V inb); simpl.
  apply within_app; [|apply within_filter]; apply within_map.
  rewrite filters_swap; apply within_filter.
Qed.

(** WINDOW-4: it is a valid plan, too, *)
Theorem left_out_is_valid q dropped own_dropped :
  valid q -> valid (left_out q dropped own_dropped).
Proof.
  intros V; pose proof V as (R1 & R2 & R3); split; [|split].
  - intros s inb; simpl in inb; destruct (R1 s inb) as [some once].
    pose proof (left_out_within q dropped own_dropped s V inb) as L; split.
    + intros R inR; apply some, (within_In _ _ R L inR).
    + exact (within_NoDup _ _ (within_flat_map positions _ _ L) once).
  - intros D inD; simpl in inD; apply filter_In in inD; apply R2, inD.
  - intros s inb; split; simpl; [rewrite app_length; lia|].
    rewrite firstn_app, Nat.sub_diag, firstn_O, app_nil_r, firstn_all; reflexivity.
Qed.

(** and a row to which nothing of what is left out belongs, or only what it does not see, has the
    same results. *)
Theorem left_out_changes_nothing q x slots key_of dropped own_dropped v s t a :
  valid q -> rows_ordered x -> s < n_prompts q -> t < n_rows x s ->
  (forall D, In D (descriptors q) -> In s (members q D) -> dropped D = true ->
     slots (row_number x s t) (run_of D) = []) ->
  (forall R, In R (own q s) -> own_dropped s R = true -> slots (row_number x s t) R = []) ->
  let less := row_result (left_out q dropped own_dropped) x slots key_of v s t a in
  let whole := row_result q x slots key_of v s t a in
  finish less = finish whole /\ lse_of less = lse_of whole.
Proof.
  intros V O inb lt unseen own_unseen less whole; unfold less, whole; clear less whole.
  destruct (two_phases_over_runs q x slots key_of v s t a
    (valid_is_complete q V) O inb lt) as [-> ->].
  destruct (two_phases_over_runs (left_out q dropped own_dropped) x slots key_of v s t a
    (valid_is_complete _ (left_out_is_valid q dropped own_dropped V)) O inb lt) as [-> ->].
  assert (forall T (f : T -> bool) (g : T -> list key) l,
            (forall y, In y l -> f y = true -> g y = []) ->
            flat_map g (filter (fun y => negb (f y)) l) = flat_map g l) as skip.
  { intros T f g l none; induction l as [|y l IH]; simpl; [reflexivity|].
    destruct (f y) eqn:F; simpl; rewrite IH by (intros; apply none; simpl; auto); [|reflexivity].
    rewrite none; simpl; auto. }
  assert (seen (left_out q dropped own_dropped) slots key_of s (row_number x s t) a =
          seen q slots key_of s (row_number x s t) a) as ->; [|split; reflexivity].
  unfold seen; rewrite (runs_are_common_and_own q s V inb); simpl; rewrite !flat_map_app; f_equal.
  - rewrite filters_swap; unfold serving; rewrite !flat_map_concat_map, !map_map.
    rewrite <- !flat_map_concat_map; apply skip; intros D inD out; apply filter_In in inD.
    unfold run_keys; rewrite unseen; [reflexivity | apply inD | apply has_in, inD | exact out].
  - apply skip; intros R inR out; unfold run_keys; rewrite own_unseen; auto.
Qed.

(** ** The example of the chapter: chunks of 4, 4 and 2 tokens, a window of 3 keys, the first one
    kept; what the rows at 6 and at 8 see of each chunk. *)
Example of_the_chapter :
  map (fun p => map (fun '(f, t) => window_slots (Window 3 0 1) p f t) [(0, 4); (4, 4); (8, 2)])
      [6; 8]%Z =
  [[[0]; [0; 1; 2]; []]; [[0]; [2; 3]; [0]]].
Proof. reflexivity. Qed.

(** A key that is kept and in the window counts once; a row sees keys behind its own position; the
    first row sees the kept keys up to itself alone. *)
Example of_one_run :
  window_slots (Window 3 0 2) 3 0 6 = [0; 1; 2; 3] /\
  window_slots (Window 2 1 1) 3 0 6 = [0; 2; 3; 4] /\
  window_slots (Window 3 0 4) 1 0 6 = [0; 1] /\
  window_slots (Window 3 0 4) (-1) 0 6 = [].
Proof. repeat split. Qed.
