(* SPDX-License-Identifier: Apache-2.0 *)
(** * Groups of tokens as modules (spec/decoder.md: DEC-5 for scaffolds, from MOD-4)

    DEC-5 has tokens in groups, MOD-3 has a schema. Each group becomes a module of a schema without
    unions and scaffolds, whose own text is empty. The masks are then the same, and what DEC-5 says
    of a group is what MOD-4 says of a module. *)
From Coq Require Import ZArith List Permutation Arith Bool Lia.
From Chunkproof Require PlanCheck.
From Chunkproof Require Import Decoder Modules ModulesShare.
Import ListNotations.
Open Scope nat_scope.

(** Modules side by side, each in part 0. *)
Definition flat : schema := Schema (fun _ => 0) (fun _ => None) [] (fun m positive => positive).

Lemma flat_is_orderly : orderly flat.
Proof. intros s t m []. Qed.

Lemma flat_imports imports : NoDup imports -> In 0 imports -> importable flat imports.
Proof.
  intros once zero; split; auto; [|discriminate].
  intros m inm a ina; destruct m as [|m]; destruct ina as [<-|ina]; auto; [destruct ina|].
  simpl in ina; destruct m; destruct ina as [<-|[]]; exact zero.
Qed.

Lemma flat_sees imports m a : In a (visible flat imports m) <-> a = m \/ a = 0.
Proof.
  unfold visible, sees_modules; simpl; rewrite app_nil_r; destruct m as [|m]; simpl.
  - intuition.
  - unfold with_around; destruct m; simpl; intuition.
Qed.

Lemma nth_of_map {A B} (f : A -> B) l r d e : r < length l -> nth r (map f l) e = f (nth r l d).
Proof.
  intros lt; rewrite (nth_indep _ e (f d)) by (rewrite map_length; exact lt); apply map_nth.
Qed.

(** ** Groups as modules *)

Section Groups.
Context {D : decoder} {I : Type}.
Variables (x : token D) (d : I).
Variables (all : list I) (tokens : I -> token D) (positions : I -> Z) (group : I -> option nat).
(* the tokens of each module, in an order of its own *)
Variables (imports : list nat) (listing : nat -> list I) (text : nat -> placed D).

Definition placed_as (i : I) : token D * Z := (tokens i, positions i).

(** Each imported module but part 0 has the tokens of one group, and each group a module. *)
Record groups_are_modules : Prop := GroupsAreModules {
  tokens_once : NoDup all;
  modules_once : NoDup imports;
  part_0 : In 0 imports /\ listing 0 = [];
  texts_are : forall m, In m imports -> text m = map placed_as (listing m);
  listed_once : forall m, In m imports -> NoDup (listing m);
  modules_are_groups : forall m, In m imports -> m = 0 \/
    exists g, forall i, In i (listing m) <-> members all group g i;
  groups_have_modules : forall i g, members all group g i ->
    exists m, In m imports /\ In i (listing m);
  listed_in_one : forall m m' i, In m imports -> In m' imports ->
    In i (listing m) -> In i (listing m') -> m = m'
}.

(** Tokens without group are new. *)
Definition new_tokens : list I :=
  filter (fun i => match group i with Some _ => false | None => true end) all.

Definition token_named (j : name) : I :=
  match j with Own m r => nth r (listing m) d | New k => nth k new_tokens d end.

Definition as_modules : prompt D name :=
  modular_prompt flat x text imports (map placed_as new_tokens).

Definition is_there (j : name) : Prop :=
  match j with
  | Own m r => In m imports /\ r < length (listing m)
  | New k => k < length new_tokens
  end.

Hypothesis ok : groups_are_modules.

Lemma tokens_there j : In j (all_tokens text imports (map placed_as new_tokens)) <-> is_there j.
Proof using ok.
  destruct j as [m r|k]; simpl.
  - rewrite own_in_all; split; intros [inm lt]; split; auto;
      [|rewrite (texts_are ok m inm), map_length; exact lt].
    rewrite (texts_are ok m inm), map_length in lt; exact lt.
  - unfold all_tokens; rewrite in_app_iff, map_length; split.
    + intros [I1|I1]; [|apply in_map_iff in I1; destruct I1 as (q & E & I1)].
      * apply in_flat_map in I1; destruct I1 as (m & _ & I1); apply in_map_iff in I1.
        destruct I1 as (r & E & _); discriminate.
      * injection E as ->; apply in_seq in I1; lia.
    + intros lt; right; apply in_map_iff; exists k; rewrite in_seq; split; [reflexivity | lia].
Qed.

Lemma place_named j : is_there j ->
  Modules.place x text (map placed_as new_tokens) j = placed_as (token_named j).
Proof using ok.
  destruct j as [m r|k]; simpl; [intros [inm lt]|intros lt]; [rewrite (texts_are ok m inm)|];
    apply nth_of_map; exact lt.
Qed.

Lemma in_new i : In i new_tokens <-> In i all /\ group i = None.
Proof using.
  unfold new_tokens; rewrite filter_In; destruct (group i); intuition discriminate.
Qed.

Lemma group_of_module m r : is_there (Own m r) ->
  exists g, forall i, In i (listing m) <-> members all group g i.
Proof using ok.
  intros [inm lt]; destruct (modules_are_groups ok m inm) as [->|G]; [exfalso | exact G].
  rewrite (proj2 (part_0 ok)) in lt; simpl in lt; lia.
Qed.

Lemma named_own m r : is_there (Own m r) -> In (token_named (Own m r)) (listing m).
Proof using. intros [_ lt]; apply nth_In, lt. Qed.

Lemma named_once i j : is_there i -> is_there j -> token_named i = token_named j -> i = j.
Proof using ok.
  assert (forall m r k, is_there (Own m r) -> is_there (New k) ->
    token_named (Own m r) <> token_named (New k)) as other.
  { intros m r k Ti Tj E; destruct (group_of_module m r Ti) as [g G].
    pose proof (proj1 (G _) (named_own m r Ti)) as [_ Eg].
    assert (In (token_named (New k)) new_tokens) as I1 by (apply nth_In, Tj).
    apply in_new in I1; destruct I1 as [_ En]; rewrite E in Eg; congruence. }
  destruct i as [m r|k], j as [m' r'|k']; intros Ti Tj E.
  - pose proof (named_own m r Ti) as A; pose proof (named_own m' r' Tj) as B; rewrite <- E in B.
    destruct Ti as [inm lt], Tj as [inm' lt'].
    pose proof (listed_in_one ok m m' _ inm inm' A B); subst m'; f_equal.
    apply (proj1 (NoDup_nth (listing m) d) (listed_once ok m inm)); auto.
  - exfalso; exact (other m r k' Ti Tj E).
  - exfalso; exact (other m' r' k Tj Ti (eq_sym E)).
  - f_equal; apply (proj1 (NoDup_nth new_tokens d)); [|exact Ti | exact Tj | exact E].
    apply NoDup_filter, (tokens_once ok).
Qed.

Lemma named_all i : In i all -> exists j, is_there j /\ token_named j = i.
Proof using ok.
  intros ini; destruct (group i) as [g|] eqn:E.
  - destruct (groups_have_modules ok i g (conj ini E)) as (m & inm & inl).
    apply In_nth with (d := d) in inl; destruct inl as (r & lt & N).
    exists (Own m r); split; [split|]; assumption.
  - assert (In i new_tokens) as inn by (apply in_new; auto).
    apply In_nth with (d := d) in inn; destruct inn as (k & lt & N); exists (New k); auto.
Qed.

Lemma named_in_all j : is_there j -> In (token_named j) all.
Proof using ok.
  destruct j as [m r|k]; intros T.
  - destruct (group_of_module m r T) as [g G]; apply (proj1 (G _) (named_own m r T)).
  - assert (In (token_named (New k)) new_tokens) as I1 by (apply nth_In, T).
    apply in_new in I1; apply I1.
Qed.

(** DEC-5: the group mask is the mask of MOD-3, where groups are modules. *)
Theorem group_mask_is_the_mask j y : is_there j ->
  In y (group_mask all positions group (token_named j)) <->
  exists k, In k (sees as_modules j) /\ token_named k = y.
Proof using ok.
  intros Tj; simpl sees; unfold mask.
  assert (forall k, is_there k ->
    ((snd (Modules.place x text (map placed_as new_tokens) k) <=?
      snd (Modules.place x text (map placed_as new_tokens) j))%Z = true <->
     (positions (token_named k) <= positions (token_named j))%Z)) as order
    by (intros k Tk; rewrite !place_named, Z.leb_le by assumption; reflexivity).
  destruct j as [m r|n].
  - destruct (group_of_module m r Tj) as [g G].
    pose proof (proj1 (G _) (named_own m r Tj)) as [_ Eg].
    rewrite (in_group_mask all positions group g _ y Eg), <- G; split.
    + intros [iny le]; apply In_nth with (d := d) in iny; destruct iny as (q & lt & <-).
      exists (Own m q); split; [|reflexivity]; destruct Tj as [inm _].
      assert (is_there (Own m q)) as Tk by (split; assumption).
      rewrite filter_In, tokens_there, andb_true_iff, order by exact Tk; repeat split; auto.
      apply has_in, flat_sees; auto.
    + intros (k & ink & <-); rewrite filter_In, tokens_there, andb_true_iff in ink.
      destruct ink as (Tk & le & see); rewrite order in le by exact Tk; split; [|exact le].
      destruct k as [a q|k]; [|discriminate]; apply has_in, flat_sees in see.
      destruct see as [->| ->]; [apply named_own, Tk|].
      destruct Tk as [_ lt]; rewrite (proj2 (part_0 ok)) in lt; simpl in lt; lia.
  - assert (In (token_named (New n)) new_tokens) as I1 by (apply nth_In, Tj).
    apply in_new in I1; unfold group_mask, is_in_group; rewrite (proj2 I1).
    rewrite filter_In; simpl andb; rewrite Z.leb_le; split.
    + intros [iny le]; destruct (named_all y iny) as (k & Tk & <-); exists k.
      rewrite filter_In, tokens_there, andb_true_iff, order by exact Tk; auto.
    + intros (k & ink & <-); rewrite filter_In, tokens_there, andb_true_iff in ink.
      destruct ink as (Tk & le & _); rewrite order in le by exact Tk; auto using named_in_all.
Qed.

(** DEC-5: so the whole prompt has the same states, keys and values as one of modules. *)
Theorem groups_have_states_of_modules l j : is_there j ->
  state_at as_modules l j = state_at (grouped all tokens positions group) l (token_named j) /\
  kv_at as_modules l j = kv_at (grouped all tokens positions group) l (token_named j).
Proof using ok.
  revert l j; apply (closed_set_under_mask as_modules is_there).
  - intros i j _ inj; apply filter_In in inj; apply tokens_there, inj.
  - intros i; apply NoDup_filter, all_tokens_once, (modules_once ok).
  - intros i; apply NoDup_filter, (tokens_once ok).
  - exact named_once.
  - intros i Ti; simpl; rewrite place_named by exact Ti; split; reflexivity.
  - intros i y Ti; exact (group_mask_is_the_mask i y Ti).
Qed.
End Groups.

(** ** DEC-5 for groups, from MOD-4 *)

(** The tokens of a group, and the groups of some tokens but g. *)
Definition tokens_in {I} (all : list I) (group : I -> option nat) (g : nat) : list I :=
  filter (fun i => match group i with Some h => g =? h | None => false end) all.

Definition other_groups {I} (all : list I) (group : I -> option nat) (g : nat) : list nat :=
  filter (fun h => negb (h =? g)) (nodup Nat.eq_dec
    (flat_map (fun i => match group i with Some h => [h] | None => [] end) all)).

Lemma in_tokens_in {I} (all : list I) group g i :
  In i (tokens_in all group g) <-> members all group g i.
Proof.
  unfold tokens_in, members; rewrite filter_In; destruct (group i) as [h|].
  - rewrite Nat.eqb_eq; intuition congruence.
  - intuition discriminate.
Qed.

Lemma in_other_groups {I} (all : list I) group g h :
  In h (other_groups all group g) <-> (exists i, members all group h i) /\ h <> g.
Proof.
  unfold other_groups, members.
  rewrite filter_In, nodup_In, in_flat_map, negb_true_iff, Nat.eqb_neq.
  split; intros [(i & ini & E) other]; (split; [exists i; split; [exact ini|] | exact other]).
  - destruct (group i); [destruct E as [<-|[]]; reflexivity | destruct E].
  - rewrite E; left; reflexivity.
Qed.

(** Group g gets module 1, and each other group h module at h. *)
Lemma groups_numbered {D : decoder} {I} (all : list I) tokens positions group g (at_ : nat -> nat)
    listing (text : nat -> placed D) :
  let imports := 0 :: 1 :: map at_ (other_groups all group g) in
  NoDup all -> (forall h, 1 < at_ h) -> (forall h h', at_ h = at_ h' -> h = h') ->
  listing 0 = [] -> NoDup (listing 1) ->
  (forall i, In i (listing 1) <-> members all group g i) ->
  (forall h, listing (at_ h) = tokens_in all group h) ->
  (forall m, In m imports -> text m = map (placed_as tokens positions) (listing m)) ->
  groups_are_modules all tokens positions group imports listing text.
Proof.
  intros imports once above one_at zero once1 first others texts.
  assert (forall m i, In m imports -> In i (listing m) ->
    exists h, group i = Some h /\ m = if h =? g then 1 else at_ h) as number_of_group.
  { intros m i [<-|[<-|inm]] ini.
    - rewrite zero in ini; destruct ini.
    - apply first in ini; exists g; rewrite Nat.eqb_refl; split; [apply ini | reflexivity].
    - apply in_map_iff in inm; destruct inm as (h & <- & inh); apply in_other_groups in inh.
      rewrite others in ini; apply in_tokens_in in ini; exists h.
      split; [apply ini|]; rewrite (proj2 (Nat.eqb_neq h g)) by apply inh; reflexivity. }
  split; auto.
  - constructor; [|constructor].
    + intros [E|I0]; [discriminate|]; apply in_map_iff in I0; destruct I0 as (h & E & _).
      specialize (above h); lia.
    + intros I1; apply in_map_iff in I1; destruct I1 as (h & E & _); specialize (above h); lia.
    + apply FinFun.Injective_map_NoDup; [exact one_at|]; apply NoDup_filter, NoDup_nodup.
  - split; [left; reflexivity | exact zero].
  - intros m [<-|[<-|inm]]; [rewrite zero; constructor | exact once1|].
    apply in_map_iff in inm; destruct inm as (h & <- & _); rewrite others.
    apply NoDup_filter, once.
  - intros m [<-|[<-|inm]]; [auto | right; exists g; exact first | right].
    apply in_map_iff in inm; destruct inm as (h & <- & _); exists h; rewrite others.
    exact (in_tokens_in all group h).
  - intros i h Mi; destruct (Nat.eq_dec h g) as [->|other].
    + exists 1; split; [right; left; reflexivity | apply first, Mi].
    + exists (at_ h); rewrite others; split; [|apply in_tokens_in, Mi].
      right; right; apply in_map, in_other_groups; split; [exists i; exact Mi | exact other].
  - intros m m' i inm inm' ini ini'; destruct (number_of_group m i inm ini) as (h & E & ->).
    destruct (number_of_group m' i inm' ini') as (h' & E' & ->).
    rewrite E in E'; injection E' as <-; reflexivity.
Qed.

(** DEC-5 follows from MOD-4: what scaffold_under_group_mask says, by the theorem of modules. Both
    prompts import module 1, which has the text of the group. *)
Theorem scaffold_again {D I I'} all tokens positions group g
    all' tokens' positions' group' g' (f : I -> I') :
  let P := @grouped D I all tokens positions group in
  let Q := @grouped D I' all' tokens' positions' group' in
  NoDup all -> NoDup all' ->
  (forall i j, members all group g i -> members all group g j -> f i = f j -> i = j) ->
  (forall y, members all' group' g' y <-> exists i, members all group g i /\ f i = y) ->
  (forall i, members all group g i ->
    tokens i = tokens' (f i) /\ positions i = positions' (f i)) ->
  forall l i, members all group g i ->
    state_at P l i = state_at Q l (f i) /\ kv_at P l i = kv_at Q l (f i).
Proof.
  intros P Q once once' inj onto same l i Mi.
  set (shared := tokens_in all group g).
  set (listing := fun m => match m with
    | 0 => [] | 1 => shared
    | S (S k) => if Nat.even k then tokens_in all group (Nat.div2 k) else [] end).
  set (listing' := fun m => match m with
    | 0 => [] | 1 => map f shared
    | S (S k) => if Nat.even k then [] else tokens_in all' group' (Nat.div2 k) end).
  set (text := fun m => match m with
    | 0 => [] | 1 => map (placed_as tokens positions) shared
    | S (S k) => if Nat.even k then map (placed_as tokens positions) (listing m)
                 else map (placed_as tokens' positions') (listing' m) end).
  set (imports := 0 :: 1 :: map (fun h => S (S (2 * h))) (other_groups all group g)).
  set (imports' := 0 :: 1 :: map (fun h => S (S (S (2 * h)))) (other_groups all' group' g')).
  assert (forall h, Nat.even (2 * h) = true) as even by (intros h; apply Nat.even_mul).
  assert (forall h, Nat.even (S (2 * h)) = false) as odd
    by (intros h; rewrite Nat.even_succ, <- Nat.negb_even, even; reflexivity).
  assert (groups_are_modules all tokens positions group imports listing text) as ok.
  { apply groups_numbered; auto.
    - lia.
    - lia.
    - apply NoDup_filter, once.
    - intros j; apply in_tokens_in.
    - intros h; unfold listing; rewrite even, Nat.div2_double; reflexivity.
    - intros m [<-|[<-|inm]]; auto; apply in_map_iff in inm; destruct inm as (h & <- & _).
      unfold text; rewrite even; reflexivity. }
  assert (groups_are_modules all' tokens' positions' group' imports' listing' text) as ok'.
  { apply groups_numbered; auto.
    - lia.
    - lia.
    - assert (forall j, In j shared -> members all group g j) as in_g
        by (intros j; apply in_tokens_in).
      assert (NoDup shared) as distinct by (apply NoDup_filter, once).
      simpl; revert in_g distinct; clear - inj; induction shared as [|a s IH]; intros in_g distinct;
        [constructor|]; apply NoDup_cons_iff in distinct; destruct distinct as [new distinct].
      simpl; constructor; [|apply IH; auto using in_cons].
      intros ina; apply in_map_iff in ina; destruct ina as (b & E & inb); apply new.
      rewrite <- (inj b a); simpl in *; auto.
    - intros y; rewrite onto; simpl; rewrite in_map_iff.
      split; intros (j & A & B); exists j;
        [apply in_tokens_in in B | apply in_tokens_in in A]; auto.
    - intros h; unfold listing'; rewrite odd, Nat.div2_succ_double; reflexivity.
    - intros m [<-|[<-|inm]]; auto.
      + simpl; rewrite map_map; apply map_ext_in; intros j inj'; apply in_tokens_in in inj'.
        unfold placed_as; destruct (same j inj') as [-> ->]; reflexivity.
      + apply in_map_iff in inm; destruct inm as (h & <- & _).
        unfold text; rewrite odd; reflexivity. }
  pose proof (proj2 (in_tokens_in all group g i) Mi) as ini.
  apply In_nth with (d := i) in ini; destruct ini as (r & lt & E); fold shared in lt, E.
  assert (is_there all group imports listing (Own 1 r)) as there
    by (split; [right; left; reflexivity | exact lt]).
  assert (is_there all' group' imports' listing' (Own 1 r)) as there'
    by (split; [right; left; reflexivity | simpl; rewrite map_length; exact lt]).
  destruct (groups_have_states_of_modules (tokens i) i _ _ _ _ _ _ _ ok l _ there) as [A B].
  destruct (groups_have_states_of_modules (tokens i) (f i) _ _ _ _ _ _ _ ok' l _ there')
    as [A' B'].
  simpl token_named in *; rewrite map_nth in A', B'; rewrite E in *.
  unfold P, Q; rewrite <- A, <- B, <- A', <- B'.
  apply module_has_states_of_its_own; simpl; auto using flat_is_orderly; try exact Logic.I.
  - apply flat_imports; [apply (modules_once _ _ _ _ _ _ _ ok) | left; reflexivity].
  - apply flat_imports; [apply (modules_once _ _ _ _ _ _ _ ok') | left; reflexivity].
Qed.
