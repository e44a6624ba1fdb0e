(* SPDX-License-Identifier: Apache-2.0 *)
(** * Masks: bits that take keys away from a row (spec/masks.md: MASK-1 to MASK-4)

    And trees of tokens: a row whose bits are those of its path sees what it would see if its path
    had been decoded alone. *)
From Coq Require Import Reals ZArith List Permutation Arith Bool Lia.
From Chunkproof Require Import Softmax Merge Plan Rows TwoPhase Runs RunsTree Windows.
Import ListNotations.
Open Scope nat_scope.

(** ** MASK-1: which keys *)
Record mask := Mask {
  mask_bit : nat -> bool;     (* bit i *)
  first_bit : nat -> nat;     (* first, of a row *)
  mask_begin : nat -> Z       (* begin, of a row *)
}.

(** Bit i of bytes: the lowest bit of a byte comes first. *)
Definition bit_of_bytes (bytes : list nat) (i : nat) : bool :=
  Nat.testbit (nth (i / 8) bytes 0) (i mod 8).

(** The mask leaves the key at position t to row r. *)
Definition leaves (M : mask) (r t : nat) : bool :=
  ((Z.of_nat t <? mask_begin M r)%Z ||
   mask_bit M (first_bit M r + Z.to_nat (Z.of_nat t - mask_begin M r)))%bool.

Definition visible (w : window) (M : mask) (r : nat) (p : Z) (t : nat) : bool :=
  (in_window w p t && leaves M r t)%bool.

(** The same with the connectives of the clause. *)
Theorem visible_is w M r p t :
  visible w M r p t = true <->
  in_window w p t = true /\
  ((Z.of_nat t < mask_begin M r)%Z \/
   mask_bit M (first_bit M r + Z.to_nat (Z.of_nat t - mask_begin M r)) = true).
Proof.
  unfold visible, leaves; rewrite andb_true_iff, orb_true_iff, Z.ltb_lt; tauto.
Qed.

(** A mask takes keys away and adds none. *)
Theorem mask_adds_no_key w M r p t : visible w M r p t = true -> in_window w p t = true.
Proof. intros V; apply visible_is in V; tauto. Qed.

(** One whose bits are all 1 changes nothing. *)
Theorem all_bits_are_no_mask w M r p t :
  (forall i, mask_bit M i = true) -> visible w M r p t = in_window w p t.
Proof.
  intros all; unfold visible, leaves; rewrite all, orb_true_r, andb_true_r; reflexivity.
Qed.

(** Bits of keys that the row does not see by its window say nothing: another mask that has the same
    bits at the keys of the window is the same. *)
Theorem other_bits_are_not_read w M M' r p t :
  (in_window w p t = true -> leaves M r t = leaves M' r t) ->
  visible w M r p t = visible w M' r p t.
Proof. unfold visible; destruct (in_window w p t); simpl; auto. Qed.

(** ** MASK-2: of a chunk *)

(** Those slots of the window that the mask leaves. *)
Definition masked_slots (w : window) (M : mask) (r : nat) (p : Z) (f t : nat) : list nat :=
  filter (fun i => leaves M r (f + i)) (window_slots w p f t).

Lemma filter_both {T} (f g : T -> bool) l :
  filter f (filter g l) = filter (fun y => (g y && f y)%bool) l.
Proof.
  induction l as [|y l IH]; simpl; [reflexivity|].
  destruct (g y); simpl; [destruct (f y)|]; rewrite IH; reflexivity.
Qed.

(** MASK-2: these are the slots at the positions of MASK-1, each once. *)
Theorem masked_slots_exactly w M r p f t :
  masked_slots w M r p f t = filter (fun i => visible w M r p (f + i)) (seq 0 t).
Proof. unfold masked_slots, visible; rewrite window_slots_exactly; apply filter_both. Qed.

Theorem no_masked_slot_twice w M r p f t : NoDup (masked_slots w M r p f t).
Proof. rewrite masked_slots_exactly; apply NoDup_filter, seq_NoDup. Qed.

(** The first of n slots from x on that is wanted; none: x + n. *)
Fixpoint edge (left : nat -> bool) (wanted : bool) (x n : nat) : nat :=
  match n with
  | 0 => x
  | S n' => if Bool.eqb (left x) wanted then x else edge left wanted (S x) n'
  end.

(** The slots x .. e - 1 that are left, as ranges (b, n): slots b .. n - 1, each as long as it can
    be. *)
Fixpoint ranges (fuel : nat) (left : nat -> bool) (x e : nat) : list (nat * nat) :=
  match fuel with
  | 0 => []
  | S fuel' =>
      if x <? e then
        let b := edge left true x (e - x) in
        let n := edge left false b (e - b) in
        (b, n) :: ranges fuel' left n e
      else []
  end.

Definition in_range (range : nat * nat) : list nat :=
  seq (fst range) (snd range - fst range).

Lemma seq_cut x b e : x <= b <= e -> seq x (e - x) = seq x (b - x) ++ seq b (e - b).
Proof.
  intros order; replace (e - x) with ((b - x) + (e - b)) by lia.
  rewrite seq_app; do 2 f_equal; lia.
Qed.

Lemma edge_bounds left wanted n : forall x, x <= edge left wanted x n <= x + n.
Proof.
  induction n as [|n IH]; simpl; intros x; [lia|].
  destruct (Bool.eqb (left x) wanted); [lia | specialize (IH (S x)); lia].
Qed.

Lemma edge_skips left wanted n : forall x i,
  x <= i < edge left wanted x n -> left i = negb wanted.
Proof.
  induction n as [|n IH]; simpl; intros x i ini; [lia|].
  destruct (Bool.eqb (left x) wanted) eqn:E; [lia|].
  destruct (Nat.eq_dec i x) as [->|ne]; [|apply (IH (S x)); lia].
  apply eqb_false_iff in E; destruct (left x), wanted; simpl; congruence.
Qed.

Lemma edge_found left wanted n : forall x,
  edge left wanted x n < x + n -> left (edge left wanted x n) = wanted.
Proof.
  induction n as [|n IH]; simpl; intros x lt; [lia|].
  destruct (Bool.eqb (left x) wanted) eqn:E; [apply eqb_prop, E | apply IH; lia].
Qed.

(** A range is of slots that are left, inside, and ends where it must. *)
Theorem range_ends left fuel : forall x e range, In range (ranges fuel left x e) ->
  x <= fst range <= snd range /\ snd range <= e /\
  (forall i, fst range <= i < snd range -> left i = true) /\
  (snd range = e \/ left (snd range) = false).
Proof.
  induction fuel as [|fuel IH]; simpl; intros x e range inr; [contradiction|].
  destruct (Nat.ltb_spec x e) as [lt|ge]; [|contradiction].
  set (b := edge left true x (e - x)) in *; set (n := edge left false b (e - b)) in *.
  pose proof (edge_bounds left true (e - x) x) as B; fold b in B.
  pose proof (edge_bounds left false (e - b) b) as N; fold n in N.
  destruct inr as [<-|inr]; simpl.
  - repeat split; try lia.
    + intros i ini; apply (edge_skips left false (e - b) b); exact ini.
    + destruct (Nat.eq_dec n e) as [eq|ne]; [left; exact eq | right].
      apply (edge_found left false (e - b) b); fold n; lia.
  - destruct (IH n e range inr) as (F & L & all & ends); repeat split; try lia; assumption.
Qed.

(** MASK-2: the ranges have the slots that are left, each once, in their order. *)
Theorem ranges_are_what_is_left left fuel : forall x e, e - x <= fuel ->
  flat_map in_range (ranges fuel left x e) = filter left (seq x (e - x)).
Proof.
  induction fuel as [|fuel IH]; simpl; intros x e enough.
  { replace (e - x) with 0 by lia; reflexivity. }
  destruct (Nat.ltb_spec x e) as [lt|ge]; [|replace (e - x) with 0 by lia; reflexivity].
  set (b := edge left true x (e - x)); set (n := edge left false b (e - b)).
  pose proof (edge_bounds left true (e - x) x) as B; fold b in B.
  pose proof (edge_bounds left false (e - b) b) as N; fold n in N.
  assert (n = e \/ b < n) as [ends|more].
  { destruct (Nat.eq_dec b e) as [eb|ne]; [left; lia|].
    pose proof (edge_found left true (e - x) x) as at_b; fold b in at_b.
    unfold n; destruct (e - b) as [|k] eqn:E; [lia|]; simpl.
    rewrite at_b by lia; simpl; right.
    pose proof (edge_bounds left false k (S b)); lia. }
  - rewrite (seq_cut x b e), filter_app by lia.
    rewrite (filter_none left (seq x (b - x))), (filter_all left (seq b (e - b))).
    + simpl; rewrite IH by lia; unfold in_range; simpl; rewrite ends, Nat.sub_diag; apply app_nil_r.
    + intros i ini; apply in_seq in ini; apply (edge_skips left false (e - b) b); fold n; lia.
    + intros i ini; apply in_seq in ini.
      apply (edge_skips left true (e - x) x); fold b; lia.
  - rewrite (seq_cut x b e), (seq_cut b n e) by lia.
    rewrite !filter_app, (filter_none left (seq x (b - x))), (filter_all left (seq b (n - b))).
    + simpl; unfold in_range at 1; simpl; rewrite IH by lia; reflexivity.
    + intros i ini; apply in_seq in ini; apply (edge_skips left false (e - b) b); fold n; lia.
    + intros i ini; apply in_seq in ini.
      apply (edge_skips left true (e - x) x); fold b; lia.
Qed.

(** MASK-3: the states of the ranges, merged into that of no key, are the state of what is left. *)
Theorem merged_ranges_are_what_is_left left (key_at : nat -> key) x e :
  merge_all (map (fun range => partial_attn (map key_at (in_range range)))
                 (ranges (e - x) left x e)) =
  partial_attn (map key_at (filter left (seq x (e - x)))).
Proof.
  rewrite <- (ranges_are_what_is_left left (e - x) x e (le_n _)).
  rewrite flat_map_concat_map, concat_map, map_map, <- merge_all_parts, map_map; reflexivity.
Qed.

(** ** MASK-3: both phases *)

(** Which slots of a run query row r sees. *)
Definition masked (w : window) (M : mask) (stands_at : nat -> Z) (r : nat) (R : run) : list nat :=
  masked_slots w M r (stands_at r) (first R) (held R).

(** The keys of the tokens of s at the positions of MASK-1. *)
Definition keys_left (q : run_plan) (w : window) (M : mask) (stands_at : nat -> Z)
    (key_of : nat -> nat -> run -> nat -> key) (s r a : nat) : list key :=
  map (fun y => key_of r a (fst y) (snd y))
      (filter (fun y => visible w M r (stands_at r) (token_position y)) (tokens q s)).

Theorem seen_is_what_is_left q w M stands_at key_of s r a :
  seen q (masked w M stands_at) key_of s r a = keys_left q w M stands_at key_of s r a.
Proof.
  apply (seen_by_position q (masked w M stands_at) key_of s r a (visible w M r (stands_at r))).
  intros R; apply masked_slots_exactly.
Qed.

(** MASK-3: two phases over a complete plan of runs are attention over exactly these keys. *)
Theorem two_phases_over_masks q x w M stands_at key_of v s t a :
  complete q -> rows_ordered x -> s < n_prompts q -> t < n_rows x s ->
  let all := keys_left q w M stands_at key_of s (row_number x s t) a in
  let state := row_result q x (masked w M stands_at) key_of v s t a in
  finish state = attention all /\ lse_of state = lse all.
Proof.
  intros C O inb lt all state; unfold all, state; rewrite <- seen_is_what_is_left.
  apply two_phases_over_runs; assumption.
Qed.

(** Of a tree: its plan is one of runs. *)
Theorem two_phases_over_masks_of_a_tree p x w M stands_at v s t a :
  Plan.valid p -> rows_ordered x -> s < n_sequences p -> t < n_rows x s ->
  let all := keys_left (as_runs p) w M stands_at (stored_key x) s (row_number x s t) a in
  let state := row_result (as_runs p) x (masked w M stands_at) (stored_key x) v s t a in
  finish state = attention all /\ lse_of state = lse all.
Proof.
  intros Vp O inb lt; apply two_phases_over_masks; try assumption.
  apply valid_is_complete, plan_is_plan_of_runs, Vp.
Qed.

(** MASK-4: a run of which a row sees no key; what may be left out of a plan is that of WINDOW-4
    (left_out_changes_nothing), with these slots. *)
Theorem sees_none_of_a_mask w M r p f t :
  masked_slots w M r p f t = [] <-> forall i, i < t -> visible w M r p (f + i) = false.
Proof.
  rewrite masked_slots_exactly; split; intros none.
  - intros i lt; apply not_true_iff_false; intros yes.
    assert (In i (filter (fun i => visible w M r p (f + i)) (seq 0 t))) as ini
      by (apply filter_In; split; [apply in_seq; lia | exact yes]).
    rewrite none in ini; exact ini.
  - apply filter_none; intros i ini; apply none; apply in_seq in ini; lia.
Qed.

Theorem left_out_with_masks q x w M stands_at key_of dropped own_dropped v s t a :
  valid q -> rows_ordered x -> s < n_prompts q -> t < n_rows x s ->
  let r := row_number x s t in
  (forall D, In D (descriptors q) -> In s (members q D) -> dropped D = true ->
     forall i, i < n_keys D -> visible w M r (stands_at r) (position D + i) = false) ->
  (forall R, In R (own q s) -> own_dropped s R = true ->
     forall i, i < held R -> visible w M r (stands_at r) (first R + i) = false) ->
  let less := row_result (left_out q dropped own_dropped) x (masked w M stands_at) key_of v s t a in
  let whole := row_result q x (masked w M stands_at) key_of v s t a in
  finish less = finish whole /\ lse_of less = lse_of whole.
Proof.
  intros V O inb lt r unseen own_unseen; apply left_out_changes_nothing; try assumption.
  - intros D inD ins out; apply sees_none_of_a_mask, (unseen D inD ins out).
  - intros R inR out; apply sees_none_of_a_mask, (own_unseen R inR out).
Qed.

(** ** Trees of tokens

    Tokens P .. P + m - 1 of a sequence are the nodes 0 .. m - 1 of a tree, whose parents come
    before their children. *)

(** The path to node i, from its root on. *)
Fixpoint path_of (fuel : nat) (parent : nat -> option nat) (i : nat) : list nat :=
  match fuel with
  | 0 => []
  | S fuel' => match parent i with
               | None => [i]
               | Some j => path_of fuel' parent j ++ [i]
               end
  end.

Definition path (parent : nat -> option nat) (i : nat) : list nat := path_of (S i) parent i.

Definition parents_first (parent : nat -> option nat) : Prop :=
  forall i j, parent i = Some j -> j < i.

Lemma path_below fuel parent : parents_first parent -> forall i, i < fuel ->
  forall j, In j (path_of fuel parent i) -> j <= i.
Proof.
  intros first; induction fuel as [|fuel IH]; simpl; intros i lt j inj; [contradiction|].
  destruct (parent i) as [k|] eqn:E; [|destruct inj as [->|[]]; lia].
  apply first in E; apply in_app_iff in inj; destruct inj as [inj|[->|[]]]; [|lia].
  apply (IH k) in inj; lia.
Qed.

Lemma NoDup_app_snoc {T} (l : list T) y : NoDup l -> ~ In y l -> NoDup (l ++ [y]).
Proof.
  intros N new; apply (Permutation_NoDup (l := y :: l)); [|constructor; assumption].
  apply Permutation_cons_append.
Qed.

Lemma sorted_path fuel parent : parents_first parent -> forall i, i < fuel ->
  NoDup (path_of fuel parent i).
Proof.
  intros first; induction fuel as [|fuel IH]; simpl; intros i lt; [constructor|].
  destruct (parent i) as [k|] eqn:E; [|constructor; [intros []|constructor]].
  pose proof (first i k E) as below.
  apply NoDup_app_snoc; [apply IH; lia|].
  intros ini; apply (path_below fuel parent first k ltac:(lia)) in ini; lia.
Qed.

(** The bits of the rows of a tree: those of the nodes of its path. *)
Definition tree_bits (P : nat) (parent : nat -> option nat) (M : mask) (r i : nat) : Prop :=
  mask_begin M r = Z.of_nat P /\
  forall j, j <= i -> mask_bit M (first_bit M r + j) = has j (path parent i).

(** The row of node i, which stands at P + i, sees the prefix and its path, and nothing else: of the
    tokens that it sees without a mask, these. *)
Theorem tree_row_sees_its_path P parent M r i t :
  parents_first parent -> tree_bits P parent M r i ->
  visible no_window M r (Z.of_nat (P + i)) t = true <->
  t < P \/ exists j, In j (path parent i) /\ t = P + j.
Proof.
  intros first [B bits]; rewrite visible_is, in_window_is, B; simpl.
  assert (forall j, In j (path parent i) -> j <= i) as below
    by (intros j; apply (path_below (S i) parent first i); lia).
  split.
  - intros [[le _] [lt|yes]]; [left; lia|].
    destruct (Nat.lt_ge_cases t P) as [lt|ge]; [left; exact lt | right; exists (t - P)].
    rewrite bits in yes by lia; apply has_in in yes; split; [|lia].
    replace (t - P) with (Z.to_nat (Z.of_nat t - Z.of_nat P)) by lia; exact yes.
  - intros [lt|(j & inj & ->)]; [split; [split; [lia | left; reflexivity] | left; lia]|].
    pose proof (below j inj); split; [split; [lia | left; reflexivity] | right].
    replace (Z.to_nat (Z.of_nat (P + j) - Z.of_nat P)) with j by lia.
    rewrite bits by lia; apply has_in, inj.
Qed.

Lemma filter_map_swap {T U} (f : U -> bool) (g : T -> U) l :
  filter f (map g l) = map g (filter (fun y => f (g y)) l).
Proof. induction l as [|y l IH]; simpl; [|rewrite IH; destruct (f (g y))]; reflexivity. Qed.

Lemma map_nth_seq {T} (l : list T) y : map (fun u => nth u l y) (seq 0 (length l)) = l.
Proof.
  induction l as [|z l IH]; simpl; [reflexivity|]; f_equal.
  rewrite <- seq_shift, map_map; exact IH.
Qed.

Lemma NoDup_prefix_path P l : NoDup l -> NoDup (seq 0 P ++ map (Nat.add P) l).
Proof.
  intros N; induction P as [|P IH]; simpl; [rewrite map_id; exact N|].
  constructor.
  - rewrite in_app_iff, in_seq, in_map_iff; intros [[ge _]|(j & E & _)]; lia.
  - rewrite <- seq_shift, <- (map_map (Nat.add P) S), <- map_app.
    apply FinFun.Injective_map_NoDup; [intros y z; lia | exact IH].
Qed.

(** A sequence whose keys are those of positions. *)
Definition keys_at (q : run_plan) (key_of : nat -> nat -> run -> nat -> key) (s r a n : nat)
    (key_at : nat -> key) : Prop :=
  Permutation (map token_position (tokens q s)) (seq 0 n) /\
  forall y, In y (tokens q s) -> key_of r a (fst y) (snd y) = key_at (token_position y).

Lemma keys_left_at q w M stands_at key_of s r a n key_at :
  keys_at q key_of s r a n key_at ->
  Permutation (keys_left q w M stands_at key_of s r a)
              (map key_at (filter (visible w M r (stands_at r)) (seq 0 n))).
Proof.
  intros [all those]; unfold keys_left.
  rewrite (map_ext_in _ (fun y => key_at (token_position y)))
    by (intros y iny; apply filter_In in iny; apply those, iny).
  rewrite <- (map_map token_position key_at).
  rewrite <- (filter_map_swap (visible w M r (stands_at r)) token_position).
  apply Permutation_map.
  apply filter_permutation, all.
Qed.

(** So its result is what it would be if its path had been decoded alone: as the last row of a
    sequence of the prefix and the path, whose keys and queries are the same. *)
Theorem path_decoded_alone
    q x M stands_at key_of v s t q' x' M' stands_at' key_of' v' s' t' a P m parent i
    (key_at key_at' : nat -> key) :
  complete q -> rows_ordered x -> s < n_prompts q -> t < n_rows x s ->
  complete q' -> rows_ordered x' -> s' < n_prompts q' -> t' < n_rows x' s' ->
  let r := row_number x s t in
  let r' := row_number x' s' t' in
  let alone := seq 0 P ++ map (Nat.add P) (path parent i) in
  parents_first parent -> i < m -> tree_bits P parent M r i ->
  stands_at r = Z.of_nat (P + i) ->
  stands_at' r' = Z.of_nat (length alone - 1) -> (forall u, mask_bit M' u = true) ->
  keys_at q key_of s r a (P + m) key_at ->
  keys_at q' key_of' s' r' a (length alone) key_at' ->
  (forall u, u < length alone -> key_at' u = key_at (nth u alone 0)) ->
  let in_tree := row_result q x (masked no_window M stands_at) key_of v s t a in
  let by_itself := row_result q' x' (masked no_window M' stands_at') key_of' v' s' t' a in
  finish in_tree = finish by_itself /\ lse_of in_tree = lse_of by_itself.
Proof.
  intros C O inb lt C' O' inb' lt' r r' alone first im bits at_ at_' ones keys keys' same
    in_tree by_itself; unfold in_tree, by_itself; clear in_tree by_itself.
  destruct (two_phases_over_masks q x no_window M stands_at key_of v s t a C O inb lt) as [-> ->].
  destruct (two_phases_over_masks q' x' no_window M' stands_at' key_of' v' s' t' a C' O' inb' lt')
    as [-> ->].
  fold r r'; apply attention_permutation.
  apply (Permutation_trans (keys_left_at q no_window M stands_at key_of s r a _ key_at keys)).
  apply Permutation_sym.
  apply (Permutation_trans
    (keys_left_at q' no_window M' stands_at' key_of' s' r' a _ key_at' keys')).
  rewrite at_, at_'.
  assert (forall j, In j (path parent i) -> j <= i) as below
    by (intros j; apply (path_below (S i) parent first i); lia).
  rewrite (filter_all _ (seq 0 (length alone))).
  2: { intros u inu; apply in_seq in inu; rewrite all_bits_are_no_mask by exact ones.
       apply in_window_is; simpl; split; [lia | left; reflexivity]. }
  rewrite (map_ext_in _ (fun u => key_at (nth u alone 0)))
    by (intros u inu; apply in_seq in inu; apply same; lia).
  rewrite <- (map_map (fun u => nth u alone 0) key_at), map_nth_seq.
  apply Permutation_map, NoDup_Permutation.
  - unfold alone; apply NoDup_prefix_path; apply sorted_path; [exact first | lia].
  - apply NoDup_filter, seq_NoDup.
  - intros u; rewrite filter_In, (tree_row_sees_its_path P parent M r i u first bits), in_seq.
    unfold alone; rewrite in_app_iff, in_map_iff, in_seq; split.
    + intros [inu|(j & <- & inj)]; [split; [lia | left; lia]|].
      pose proof (below j inj); split; [lia | right; exists j; auto].
    + intros [_ [ltu|(j & inj & ->)]]; [left; lia | right; exists j; auto].
Qed.

(** ** The example of the chapter

    A prefix of 3 tokens, then a tree of 5: node 0 with the children 1 and 2, node 3 below 1, node 4
    below 2. Each node has a row, whose bits are the lowest of a byte. *)
Definition example_parent (i : nat) : option nat :=
  match i with 1 => Some 0 | 2 => Some 0 | 3 => Some 1 | 4 => Some 2 | _ => None end.

Definition example_mask : mask :=
  Mask (bit_of_bytes [1; 3; 5; 11; 21]) (fun r => 8 * r) (fun _ => 3%Z).

Example tree_of_the_chapter :
  map (path example_parent) (seq 0 5) = [[0]; [0; 1]; [0; 2]; [0; 1; 3]; [0; 2; 4]] /\
  map (fun r => filter (visible no_window example_mask r (Z.of_nat (3 + r))) (seq 0 8)) (seq 0 5) =
  [[0; 1; 2; 3]; [0; 1; 2; 3; 4]; [0; 1; 2; 3; 5]; [0; 1; 2; 3; 4; 6]; [0; 1; 2; 3; 5; 7]].
Proof. split; reflexivity. Qed.

(** In chunks of 4, the row of node 4 sees two ranges of the second chunk. *)
Example ranges_of_the_chapter :
  map (fun '(f, t) => masked_slots no_window example_mask 4 7 f t) [(0, 4); (4, 4)] =
    [[0; 1; 2; 3]; [1; 3]] /\
  ranges 4 (fun i => leaves example_mask 4 (4 + i)) 0 4 = [(1, 2); (3, 4)].
Proof. split; reflexivity. Qed.

(** The bits of rows that are not whole bytes, one behind the other: 3 keys for each of 3 rows. *)
Example bits_behind_each_other :
  let M := Mask (bit_of_bytes [89; 1]) (fun r => 3 * r) (fun _ => 0%Z) in
  map (fun r => filter (visible (Window 0 9 0) M r 0) (seq 0 3)) [0; 1; 2] =
    [[0]; [0; 1]; [0; 2]].
Proof. reflexivity. Qed.
