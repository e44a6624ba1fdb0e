/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/pages.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"

static int pages_for(int n_tokens, int size) {
    return (n_tokens + size - 1) / size;
}

/* Numbers the pages. A page that is full is the one that ends in the same slot of the same chunk:
 * all its keys are in chunks on the way there. at[]: for each slot of each chunk, that page. */
static void number_pages(struct show_pages *pages, int *at) {
    const struct cp_plan *plan = pages->plan;
    for (int s = 0; s < plan->n_sequences; s++) {
        const struct cp_plan_sequence *path = &plan->sequence[s];
        for (int i = 0; i < pages->begin[s + 1] - pages->begin[s]; i++) {
            int last = (i + 1) * pages->size - 1, page = -1, *of_slot = NULL;
            if (last < path->n_tokens) {
                int chunk = path->run[last / plan->chunk_size].chunk;
                of_slot = &at[(ptrdiff_t)chunk * plan->chunk_size + last % plan->chunk_size];
                page = *of_slot;
            }
            if (page < 0) {
                page = pages->n++;
                pages->n_owners[page] = 0;
            }
            if (of_slot != NULL) {
                *of_slot = page;
            }
            pages->list[pages->begin[s] + i] = page;
            pages->n_owners[page]++;
        }
    }
}

void show_pages_new(struct show_pages *pages, const struct cp_plan *plan, int size) {
    size_t b = (size_t)plan->n_sequences;
    size_t n_slots = (size_t)plan->capacity * (size_t)plan->chunk_size;
    *pages = (struct show_pages){.plan = plan, .size = size};
    pages->begin = cli_allocate(NULL, b + 1, sizeof *pages->begin);
    pages->last_tokens = cli_allocate(NULL, b, sizeof *pages->last_tokens);
    pages->begin[0] = 0;
    for (int s = 0; s < plan->n_sequences; s++) {
        int n = pages_for(plan->sequence[s].n_tokens, size);
        pages->begin[s + 1] = pages->begin[s] + n;
        pages->last_tokens[s] = n > 0 ? plan->sequence[s].n_tokens - (n - 1) * size : 0;
        pages->width = n > pages->width ? n : pages->width;
    }
    pages->list = cli_allocate(NULL, (size_t)pages->begin[b], sizeof *pages->list);
    pages->n_owners = cli_allocate(NULL, (size_t)pages->begin[b], sizeof *pages->n_owners);
    int *at = cli_allocate(NULL, n_slots, sizeof *at);
    for (size_t i = 0; i < n_slots; i++) {
        at[i] = -1;
    }
    number_pages(pages, at);
    free(at);
}

void show_pages_free(struct show_pages *pages) {
    free(pages->begin);
    free(pages->list);
    free(pages->last_tokens);
    free(pages->n_owners);
}

int show_pages_table(const struct show_pages *pages, int s, int i) {
    int at = pages->begin[s] + i;
    return at < pages->begin[s + 1] ? pages->list[at] : -1;
}

int show_pages_stored(const struct show_pages *pages) {
    int n = pages->n * pages->size;
    for (int s = 0; s < pages->plan->n_sequences; s++) {
        /* A last page that is not full is of one sequence. */
        n -= pages->last_tokens[s] > 0 ? pages->size - pages->last_tokens[s] : 0;
    }
    return n;
}
