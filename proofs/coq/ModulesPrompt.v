(* SPDX-License-Identifier: Apache-2.0 *)
(** * Prompts of a document (spec/modules.md: MOD-1 to MOD-6)

    A document is a tree of parts (ModulesLayout.v) with the words of its texts. A prompt of it is
    one of Modules.v, in which each token stands where MOD-1 and MOD-6 place it. *)
From Coq Require Import ZArith List Permutation Arith Bool Lia FinFun.
From Chunkproof Require PlanCheck.
From Chunkproof Require Import Decoder Modules ModulesShare ModulesTree ModulesLayout ModulesPlace.
From Chunkproof Require Import ModulesNumbers ModulesDocument.
Import ListNotations.
Open Scope nat_scope.

(** ** Lists without doubles *)

Lemma nodup_of_app {T} (l l' : list T) :
  NoDup (l ++ l') -> NoDup l /\ NoDup l' /\ forall y, In y l -> ~ In y l'.
Proof.
  induction l as [|a l IH]; simpl; intros once; [split; [constructor|auto]|].
  apply NoDup_cons_iff in once; destruct once as [new once].
  destruct (IH once) as (onl & onl' & apart); rewrite in_app_iff in new.
  repeat split; [constructor; auto | exact onl' |]; intros y [<-|iny]; auto.
Qed.

Lemma one_list {A C} (f : A -> list C) l a b y :
  NoDup (flat_map f l) -> In a l -> In b l -> In y (f a) -> In y (f b) -> a = b.
Proof.
  induction l as [|c l IH]; simpl; intros once ina inb ya yb; [contradiction|].
  apply nodup_of_app in once; destruct once as (_ & rest & apart).
  assert (forall d, In d l -> In y (f d) -> ~ In y (f c)) as far
    by (intros d ind yd yc; apply (apart y yc), in_flat_map; exists d; auto).
  destruct ina as [<-|ina], inb as [<-|inb]; auto; exfalso; eapply far; eauto.
Qed.

(** Lists g b inside of lists f (h b) that have nothing in common. *)
Lemma nodup_inside {A B C} (f : A -> list C) (h : B -> A) (g : B -> list C) l l' :
  NoDup (flat_map f l) -> NoDup (map h l') ->
  (forall b, In b l' -> In (h b) l /\ NoDup (g b) /\ incl (g b) (f (h b))) ->
  NoDup (flat_map g l').
Proof.
  intros once; induction l' as [|b l' IH]; simpl; intros others inside; [constructor|].
  apply NoDup_cons_iff in others; destruct others as [new others].
  destruct (inside b (or_introl eq_refl)) as (inb & onceb & partb).
  apply PlanCheck.nodup_app; auto; intros y yb yl; apply in_flat_map in yl.
  destruct yl as (c & inc & yc); destruct (inside c (or_intror inc)) as (inc' & _ & partc).
  apply new; rewrite (one_list f l (h b) (h c) y); auto; apply in_map, inc.
Qed.

Lemma nth_in_order {T} (d : T) l : map (fun r => nth r l d) (seq 0 (length l)) = l.
Proof.
  induction l as [|a l IH]; [reflexivity|]; simpl; f_equal.
  rewrite <- seq_shift, map_map; exact IH.
Qed.

Lemma positions_placed {D : decoder} b (words : list (token D)) :
  map snd (placed_from b words) = map Z.of_nat (seq b (length words)).
Proof.
  unfold placed_from; revert b; induction words as [|w words IH]; intros b; [reflexivity|]; simpl.
  rewrite IH; reflexivity.
Qed.

(** ** The tokens of a prompt *)

Section Prompts.
Context {D : decoder}.
Variables (x : token D) (p : part) (scaffolds : list (list nat)).
Variable words : list nat -> list (token D).  (* of the text at a way *)

(** MOD-3: the own text of a module has the texts in it that are in no module inside of it. *)
Definition own_ways (m : nat) : list (list nat) :=
  filter (fun w => is_text p w && (number p (around p w) =? m)) (ways p).

(** MOD-1: words from the begin of their part on. *)
Definition stands (a : list nat * list (token D)) : placed D :=
  placed_from (fst (span_of p (fst a))) (snd a).

Definition own_text (m : nat) : placed D := flat_map (fun w => stands (w, words w)) (own_ways m).

(** The texts and params that a prompt has, and their positions, which are not free. *)
Definition parts_had (imports : list nat) : list (list nat) :=
  filter (fun w => (is_text p w || is_param p w) && has imports (number p (around p w))) (ways p).
Definition taken (imports : list nat) : list span := map (span_of p) (parts_had imports).

(** What a prompt adds: words for params, at ways, and words in segments, each behind an import or
    behind none. *)
Definition segment_of (s : option nat * list (token D)) : segment :=
  Segment (option_map (fun m => ends (span_of p (way_of p m))) (fst s)) (length (snd s)).

Definition places (imports : list nat) (new : list (option nat * list (token D))) : list span :=
  place (size p) (taken imports) (map segment_of new).

Definition added imports arguments new : placed D :=
  flat_map stands arguments ++
  flat_map (fun e => placed_from (fst (fst e)) (snd e))
           (combine (places imports new) (map snd new)).

(** Arguments are for params that the prompt has, one each, and not too long. *)
Record arguments_fit (imports : list nat) (arguments : list (list nat * list (token D))) : Prop :=
  ArgumentsFit {
  arguments_once : NoDup (map fst arguments);
  arguments_stand : forall w t, In (w, t) arguments ->
    In (number p (around p w)) imports /\
    exists b len, locate 0 p w = Some (b, Param len) /\ length t <= len
}.

Hypothesis root : is_module p [] = true.
Hypothesis texts_have_words : forall w b n, locate 0 p w = Some (b, Text n) -> length (words w) = n.

Lemma at_text w : is_text p w = true <-> exists b n, locate 0 p w = Some (b, Text n).
Proof using.
  unfold is_text; split.
  - destruct (part_at p w) as [[n|n|q|q]|] eqn:E; try discriminate; intros _.
    apply located in E; destruct E as [b E]; exists b, n; exact E.
  - intros (b & n & E); rewrite (proj2 (located p w (Text n))); [reflexivity|exists b; exact E].
Qed.

Lemma at_param w : is_param p w = true <-> exists b n, locate 0 p w = Some (b, Param n).
Proof using.
  unfold is_param; split.
  - destruct (part_at p w) as [[n|n|q|q]|] eqn:E; try discriminate; intros _.
    apply located in E; destruct E as [b E]; exists b, n; exact E.
  - intros (b & n & E); rewrite (proj2 (located p w (Param n))); [reflexivity|exists b; exact E].
Qed.

Lemma in_stands w b q t z (s : list (token D)) : locate 0 p w = Some (b, q) ->
  In (t, z) (stands (w, s)) <->
  exists r, r < length s /\ t = nth r s x /\ z = Z.of_nat (b + r).
Proof using.
  intros E; unfold stands, span_of; simpl; rewrite E; simpl; split.
  - intros I; apply In_nth with (d := (x, 0%Z)) in I; destruct I as (r & lt & I).
    rewrite placed_from_length in lt; rewrite nth_placed_from in I by exact lt.
    injection I as <- <-; exists r; auto.
  - intros (r & lt & -> & ->); rewrite <- nth_placed_from by exact lt.
    apply nth_In; rewrite placed_from_length; exact lt.
Qed.

(** MOD-1: each token of a text stands where locate has it, in the own text of the innermost module
    around it, and nothing else is there. *)
Theorem own_texts_stand_where_located m t z :
  In (t, z) (own_text m) <->
  exists w b n r, locate 0 p w = Some (b, Text n) /\ number p (around p w) = m /\ r < n /\
    t = nth r (words w) x /\ z = Z.of_nat (b + r).
Proof using texts_have_words.
  unfold own_text; rewrite in_flat_map; split.
  - intros (w & inw & I); apply filter_In in inw; destruct inw as [_ inw].
    apply andb_true_iff in inw; rewrite Nat.eqb_eq, at_text in inw.
    destruct inw as [(b & n & E) around_is_m]; rewrite (in_stands w b (Text n)) in I by exact E.
    destruct I as (r & lt & I); rewrite (texts_have_words w b n E) in lt; exists w, b, n, r; auto.
  - intros (w & b & n & r & E & M & lt & I); exists w; split.
    + apply filter_In; rewrite in_ways, andb_true_iff, Nat.eqb_eq, at_text; repeat split; eauto.
      rewrite (proj2 (located p w (Text n))); [discriminate | exists b; exact E].
    + apply (in_stands w b (Text n) _ _ _ E); exists r; rewrite (texts_have_words w b n E); auto.
Qed.

(** MOD-6: an argument takes the first positions of its param. *)
Theorem arguments_stand_where_located imports arguments w s t z :
  arguments_fit imports arguments -> In (w, s) arguments ->
  exists b len, locate 0 p w = Some (b, Param len) /\
    (In (t, z) (stands (w, s)) <->
     exists r, r < length s /\ b + r < b + len /\ t = nth r s x /\ z = Z.of_nat (b + r)).
Proof using.
  intros fit I; destruct (arguments_stand _ _ fit w s I) as (_ & b & len & E & le).
  exists b, len; split; [exact E|]; rewrite (in_stands w b (Param len)) by exact E.
  split; intros (r & lt & rest); exists r; intuition lia.
Qed.

(** MOD-2: these are the texts and params that a prompt has. *)
Theorem parts_had_are_what_a_prompt_has imports w :
  importable (schema_of p scaffolds) imports -> incl imports (modules_of p) ->
  In w (parts_had imports) <-> prompt_has p (imported p imports) w.
Proof using root.
  intros possible inside; unfold parts_had.
  rewrite filter_In, andb_true_iff, orb_true_iff, at_text, at_param, has_in; split.
  - intros (_ & kind & inm); split.
    + destruct kind as [(b & n & E)|(b & n & E)]; exists b, n; auto.
    + intros v y b parts -> E.
      pose proof (proj1 (importable_is_imports p scaffolds root imports
        (imports_once _ _ possible) inside) possible) as ok.
      assert (is_module p v = true) as M by (unfold is_module;
        rewrite (proj2 (located p v (Module parts))); [reflexivity|exists b; exact E]).
      destruct y as [|i y].
      * rewrite app_nil_r in kind; rewrite E in kind.
        destruct kind as [(c & n & F)|(c & n & F)]; discriminate.
      * destruct (around_is p v i y M) as (Ma & (z & Ez) & _).
        apply (imports_modules_around _ _ ok v z); [|exact M]; rewrite <- Ez.
        apply imported_is; auto.
  - intros [(b & n & kind) every].
    assert (exists q, locate 0 p w = Some (b, q)) as [q E] by (destruct kind; eexists; eassumption).
    split; [rewrite in_ways, (part_at_locate 0), E; discriminate|].
    split; [destruct kind as [K|K]; [left|right]; exists b, n; exact K|].
    destruct w as [|i w].
    + revert root; unfold is_module; simpl in kind |- *; destruct kind as [K|K];
        injection K as _ K; rewrite K; discriminate.
    + destruct (around_is p [] i w root) as (Ma & _ & k & t & Ew); simpl app in Ma, Ew.
      unfold is_module in Ma.
      destruct (part_at p (around p (i :: w))) as [[m|m|parts|parts]|] eqn:A;
        try discriminate; apply located in A; destruct A as [c A].
      apply (imported_is p imports), (every _ (k :: t) c parts Ew A).
Qed.

(** ** MOD-6: no two tokens have one position *)

Lemma positions_of_tokens imports (new : placed D) text :
  map (fun i => snd (Modules.place x text new i)) (all_tokens text imports new) =
  flat_map (fun m => map snd (text m)) imports ++ map snd new.
Proof using.
  assert (forall l : placed D, map (fun r => snd (nth r l (x, 0%Z))) (seq 0 (length l)) = map snd l)
    as each.
  { intros l; transitivity (map snd (map (fun r => nth r l (x, 0%Z)) (seq 0 (length l)))).
    - rewrite map_map; reflexivity.
    - rewrite nth_in_order; reflexivity. }
  unfold all_tokens; rewrite map_app, map_map; f_equal; [|apply each].
  induction imports as [|m imports IH]; [reflexivity|]; simpl; rewrite map_app, IH; f_equal.
  unfold own_tokens; rewrite map_map; apply each.
Qed.

(** Words at ways: the texts of what is imported, and the arguments. *)
Definition filled imports arguments : list (list nat * list (token D)) :=
  map (fun w => (w, words w)) (flat_map own_ways imports) ++ arguments.

Definition filled_positions (a : list nat * list (token D)) : list nat :=
  seq (fst (span_of p (fst a))) (length (snd a)).

Lemma positions_of_stands l :
  map snd (flat_map stands l) = map Z.of_nat (flat_map filled_positions l).
Proof using.
  induction l as [|a l IH]; [reflexivity|]; simpl; rewrite !map_app, IH; f_equal.
  apply positions_placed.
Qed.

Lemma positions_of_segments spans (s : list (list (token D))) :
  map snd spans = map (@length _) s ->
  map snd (flat_map (fun e : span * list (token D) => placed_from (fst (fst e)) (snd e))
    (combine spans s)) = map Z.of_nat (flat_map positions spans).
Proof using.
  revert s; induction spans as [|[b n] spans IH]; intros [|t s] E; try discriminate; [reflexivity|].
  injection E as -> E; simpl; rewrite !map_app, (IH s E); f_equal; apply positions_placed.
Qed.

Lemma all_positions imports arguments new :
  map (fun i => snd (Modules.place x own_text (added imports arguments new) i))
      (all_tokens own_text imports (added imports arguments new)) =
  map Z.of_nat (flat_map filled_positions (filled imports arguments) ++
                flat_map positions (places imports new)).
Proof using.
  rewrite positions_of_tokens; unfold added, filled.
  rewrite map_app, positions_of_segments, positions_of_stands, flat_map_app, !map_app.
  - rewrite app_assoc; do 2 f_equal.
    induction imports as [|m imports IH]; [reflexivity|]; simpl.
    rewrite map_app, flat_map_app, map_app, <- IH; f_equal.
    unfold own_text; induction (own_ways m) as [|w l IHl]; [reflexivity|]; simpl.
    rewrite !map_app, IHl; f_equal; apply positions_placed.
  - unfold places; rewrite segments_keep_their_tokens, !map_map; reflexivity.
Qed.

Lemma ways_filled_once imports arguments :
  NoDup imports -> arguments_fit imports arguments ->
  NoDup (map fst (filled imports arguments)).
Proof using.
  intros once fit; unfold filled; rewrite map_app, map_map; simpl; rewrite map_id.
  apply PlanCheck.nodup_app; [|exact (arguments_once _ _ fit)|].
  - clear fit; induction imports as [|m imports IH]; simpl; [constructor|].
    apply NoDup_cons_iff in once; destruct once as [new once].
    apply PlanCheck.nodup_app; [apply NoDup_filter, ways_once | apply IH, once|].
    intros w here there; apply in_flat_map in there; destruct there as (m' & inm' & there).
    apply filter_In in here, there; destruct here as [_ here], there as [_ there].
    apply andb_true_iff in here, there; rewrite Nat.eqb_eq in here, there.
    apply new; rewrite <- (proj2 here), (proj2 there); exact inm'.
  - intros w inw ina; apply in_flat_map in inw; destruct inw as (m & _ & inw).
    apply filter_In in inw; destruct inw as [_ inw]; apply andb_true_iff in inw.
    rewrite at_text in inw; destruct inw as [(b & n & E) _].
    apply in_map_iff in ina; destruct ina as ([v t] & <- & ina).
    destruct (arguments_stand _ _ fit v t ina) as (_ & c & len & F & _); simpl in E; congruence.
Qed.

(** MOD-6 with MOD-2: the tokens of a prompt have positions of their own. *)
Theorem prompt_has_distinct_positions imports arguments new :
  unions_have_modules p ->
  importable (schema_of p scaffolds) imports -> incl imports (modules_of p) ->
  arguments_fit imports arguments ->
  NoDup (map (fun i => snd (Modules.place x own_text (added imports arguments new) i))
             (all_tokens own_text imports (added imports arguments new))).
Proof using root texts_have_words.
  intros modules possible inside fit; rewrite all_positions.
  apply Injective_map_NoDup; [intros a b; apply Nat2Z.inj|].
  assert (NoDup (flat_map positions (places imports new ++ taken imports))) as once.
  { apply (tokens_have_positions_of_their_own p (imported p imports)); auto.
    - apply (importable_is_imports p scaffolds root); auto using (imports_once _ _ possible).
    - apply NoDup_filter, ways_once.
    - apply Forall_forall; intros w; apply parts_had_are_what_a_prompt_has; assumption. }
  rewrite flat_map_app in once.
  assert (forall a, In a (filled imports arguments) ->
    In (fst a) (parts_had imports) /\ NoDup (filled_positions a) /\
    incl (filled_positions a) (positions (span_of p (fst a)))) as within.
  { intros [w t] ina; apply in_app_iff in ina.
    assert (exists b q, locate 0 p w = Some (b, q) /\ length t <= size q /\
      (is_text p w || is_param p w = true) /\ In (number p (around p w)) imports)
      as (b & q & E & le & kind & inm).
    { destruct ina as [ina|ina].
      - apply in_map_iff in ina; destruct ina as (v & F & ina); injection F as -> <-.
        apply in_flat_map in ina; destruct ina as (m & inm & ina); apply filter_In in ina.
        destruct ina as [_ ina]; apply andb_true_iff in ina; destruct ina as [kind ina].
        apply Nat.eqb_eq in ina; subst m; pose proof kind as (b & n & E)%at_text.
        exists b, (Text n); rewrite kind, (texts_have_words w b n E); simpl; auto.
      - destruct (arguments_stand _ _ fit w t ina) as (inm & b & len & E & le).
        exists b, (Param len); split; [exact E|]; split; [exact le|]; split; [|exact inm].
        apply orb_true_iff; right; apply at_param; exists b, len; exact E. }
    split; [|split].
    - apply filter_In; rewrite in_ways, (part_at_locate 0); simpl; rewrite E, kind; simpl.
      split; [discriminate | apply has_in, inm].
    - apply seq_NoDup.
    - intros y; unfold filled_positions, positions, span_of; simpl; rewrite E; simpl.
      rewrite !in_seq; lia. }
  apply nodup_of_app in once; destruct once as (segments & parts & apart).
  unfold taken in parts, apart.
  rewrite flat_map_concat_map, map_map, <- flat_map_concat_map in parts.
  apply PlanCheck.nodup_app.
  - apply (nodup_inside _ fst _ _ _ parts); [|exact within].
    apply ways_filled_once; [exact (imports_once _ _ possible) | exact fit].
  - exact segments.
  - intros y iny ins; apply (apart y ins); apply in_flat_map in iny; apply in_flat_map.
    destruct iny as (a & ina & iny); destruct (within a ina) as (inw & _ & part_).
    exists (span_of p (fst a)); auto using in_map.
Qed.

(** MOD-1 to MOD-6, from a document to the premises of the logits: in any tree of parts, for any
    scaffolds that keep the rule of MOD-3 and any prompt, tokens have positions of their own, and
    computing the new tokens from a cache of modules, each as it was encoded, gives their states in
    the decoder over the whole prompt. *)
Theorem prompt_of_a_document_is_exact imports arguments new :
  unions_have_modules p ->
  orderly (schema_of p scaffolds) ->
  importable (schema_of p scaffolds) imports -> incl imports (modules_of p) ->
  arguments_fit imports arguments ->
  let S := schema_of p scaffolds in
  let P := modular_prompt S x own_text imports (added imports arguments new) in
  NoDup (map (position_of P) (all_tokens own_text imports (added imports arguments new))) /\
  forall layout, (forall i, Permutation (sees P i) (layout i)) ->
    let laid_out := Prompt (token_of P) (position_of P) layout in
    let source := fun j => match j with
                           | Own m _ => encoding S x own_text (counts S imports m) m
                           | New _ => P
                           end in
    let is_cached := fun j => match j with Own _ _ => true | New _ => false end in
    let cache := fun l j => entry_at (source j) l j in
    forall l k, cached_state laid_out is_cached cache l (New k) = state_at P l (New k).
Proof using root texts_have_words.
  intros modules rule possible inside fit S P; split.
  - apply prompt_has_distinct_positions; assumption.
  - intros layout Pe; apply (cached_prompt_is_exact S x own_text rule imports); assumption.
Qed.
End Prompts.

(** ** The travel guide *)

(** A prompt with trip-plan and miami, two tokens for `duration`, four behind miami and a question
    of two: the theorem is about it, and these are its positions. *)
Example guide_has_a_prompt {D : decoder} (x : token D) :
  let words := fun w => repeat x (snd (span_of travel_guide w)) in
  let S := schema_of travel_guide [[2; 6]; [2; 8]] in
  let imports := [0; 2; 8] in
  let arguments := [([1; 1], [x; x])] in
  let new := [(Some 8, [x; x; x; x]); (None, [x; x])] in
  let added := added travel_guide imports arguments new in
  is_module travel_guide [] = true /\ unions_have_modules travel_guide /\
  (forall w b n, locate 0 travel_guide w = Some (b, Text n) -> length (words w) = n) /\
  orderly S /\ importable S imports /\ incl imports (modules_of travel_guide) /\
  arguments_fit travel_guide imports arguments /\
  map (counts S imports) [0; 2; 8] = [None; Some [2; 8]; Some [2; 8]] /\
  map (fun i => snd (Modules.place x (own_text travel_guide words) added i))
      (all_tokens (own_text travel_guide words) imports added) =
  map Z.of_nat (seq 0 5 ++ seq 53 6 ++ seq 5 4 ++ seq 13 30 ++ seq 9 2 ++ seq 43 4 ++ seq 59 2).
Proof.
  cbv zeta; split; [reflexivity|]; split; [exact (proj1 guide_has_prompts)|]; split; [|split].
  - intros w b n E; unfold span_of; rewrite E; apply repeat_length.
  - assert (forall imports, importable (schema_of travel_guide [[2; 6]; [2; 8]]) imports ->
      In 6 imports -> In 8 imports -> False) as one.
    { intros imports possible A B; assert (6 = 8); [|discriminate].
      apply (imports_one_of_union _ _ possible 6 8 5); auto. }
    intros s t m [<-|[<-|[]]] [<-|[<-|[]]] _ _; auto using incl_refl; right; right;
      intros imports possible; apply not_true_iff_false; intros both; apply andb_true_iff in both;
      rewrite !applies_all in both; destruct both as [A B]; apply (one imports possible);
      first [apply A; simpl; auto; fail | apply B; simpl; auto; fail].
  - split; [|split; [|split; [split|split; reflexivity]]].
    + split.
      * repeat constructor; simpl; intuition discriminate.
      * left; reflexivity.
      * intros m [<-|[<-|[<-|[]]]] a; cbv; intuition.
      * intros a b u [<-|[<-|[<-|[]]]] [<-|[<-|[<-|[]]]]; cbv; congruence.
    + intros m [<-|[<-|[<-|[]]]]; cbv; auto.
    + repeat constructor; auto.
    + intros w t [E|[]]; injection E as <- <-; split; [cbv; auto|].
      exists 9, 4; split; [reflexivity | simpl; auto].
Qed.
