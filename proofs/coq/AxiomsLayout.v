(* SPDX-License-Identifier: Apache-2.0 *)
(** * What the main theorems about pages and layouts assume

    No axiom: they are about natural numbers. What is printed is checked as in AxiomsAttention.v. *)
From Chunkproof Require Layout LayoutPages.

Definition of_Layout := (
  @Layout.last_page_holds,
  @Layout.list_is_table,
  @Layout.list_has_no_more,
  @Layout.behind_the_last_page,
  @Layout.every_key_is_read,
  @Layout.places_differ,
  @Layout.packed_places_differ,
  @Layout.without_gaps_is_nested,
  @Layout.packed_by_one,
  @Layout.orders_without_gaps,
  @Layout.orders_agree,
  @Layout.one_tensor,
  @Layout.one_tensor_without_gaps,
  @Layout.ragged_places,
  @Layout.packed_by_two_and_by_one).
Print Assumptions of_Layout.

Definition of_LayoutPages := (
  @LayoutPages.written_in_any_order,
  @LayoutPages.pages_hold_each_key_once,
  @LayoutPages.all_keys_are_read,
  @LayoutPages.ragged_is_paged,
  @LayoutPages.sharing_is_same_keys,
  @LayoutPages.shared_pages_are_read,
  @LayoutPages.last_key_decides,
  @LayoutPages.a_chunk_of_five_shares_a_page_of_four,
  @LayoutPages.partial_sharing_fails,
  @LayoutPages.sharing_part_of_a_page_fails,
  @LayoutPages.lists_of_the_clause,
  @LayoutPages.a_full_last_page).
Print Assumptions of_LayoutPages.
