/* SPDX-License-Identifier: Apache-2.0 */
/* The page tables of an engine whose pages are no chunks (CONV-11). */
#ifndef CHUNKPROOF_CLI_SHOW_PAGES_H
#define CHUNKPROOF_CLI_SHOW_PAGES_H

#include "cli/show/show.h"

/* Page i of sequence s is list[begin[s] + i]; pages have numbers in the order in which sequences
 * name them first. */
struct show_pages {
    const struct cp_plan *plan;
    int size;         /* P: keys of a page */
    int n;            /* pages in use, each once */
    int width;        /* pages of the longest sequence */
    int *begin;       /* [b + 1] */
    int *list;        /* [begin[b]] */
    int *last_tokens; /* [b] keys in the last page; 0: there is no page */
    int *n_owners;    /* [n] sequences that have the page */
};

/* The caller gives the pages to show_pages_free(); the plan stays the caller's. */
void show_pages_new(struct show_pages *pages, const struct cp_plan *plan, int size);
void show_pages_free(struct show_pages *pages);

/* The entry of the page table; -1 behind the last page of the sequence. */
int show_pages_table(const struct show_pages *pages, int s, int i);

/* Keys in all pages, those of a page of several sequences once. */
int show_pages_stored(const struct show_pages *pages);

/* The heading; the arrays as engines have them, and what is stored. */
#define SHOW_PAGES_HEADING                                                                         \
    "Pages of %d keys beside chunks of %d: key j of sequence s is in slot j mod %d of page "       \
    "block_table[s][j div %d]. Two sequences share a page, as (P0), where all its keys are in "    \
    "chunks that they share"
void show_pages_arrays(FILE *out, const struct show_view *view);

void show_pages_text(FILE *out, const struct show_view *view);
void show_svg_pages(struct show_svg *svg, const struct show_view *view);

#endif
