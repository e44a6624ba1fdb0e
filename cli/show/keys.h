/* SPDX-License-Identifier: Apache-2.0 */
/* Which keys each query row sees (PREFILL-2, WINDOW-1, MASK-1), as the reference says it. */
#ifndef CHUNKPROOF_CLI_SHOW_KEYS_H
#define CHUNKPROOF_CLI_SHOW_KEYS_H

#include "cli/show/show.h"

enum show_sight {
    SHOW_HIDDEN, /* behind the row, or before its window */
    SHOW_SEEN,
    SHOW_KEPT, /* seen, but only as one of the first tokens beside the window */
    SHOW_TAKEN /* the window has it, and the mask takes it away */
};

struct show_keys {
    const struct show_question *question;
    const struct cp_plan *plan;
    int *position;        /* [b][n_rows] where each row stands, below 0 too */
    size_t *first;        /* [b] where the sights of a sequence begin */
    unsigned char *sight; /* [b][n_rows][n_tokens] */
};

/* A range of slots. */
struct show_range {
    int begin;
    int end;
};

/* Asks the reference. Returns an exit status, after a message unless it is EXIT_RIGHT. In any case
 * the caller gives the keys to show_keys_free(). Plan and question stay the caller's. */
int show_keys_new(struct show_keys *keys, const struct cp_plan *plan,
                  const struct show_question *question);
void show_keys_free(struct show_keys *keys);

int show_keys_position(const struct show_keys *keys, int s, int row);

/* What row `row` of sequence s is to token j of it. */
enum show_sight show_keys_sight(const struct show_keys *keys, int s, int row, int j);
int show_keys_sees(const struct show_keys *keys, int s, int row, int j);

/* How many keys a row sees of run k of its sequence; of all of them. */
int show_keys_of_run(const struct show_keys *keys, int s, int row, int k);
int show_keys_of_row(const struct show_keys *keys, int s, int row);

/* Sets the next range of slots of run k that the row sees, from slot `from` on. 0: there is none */
int show_keys_range(const struct show_keys *keys, int s, int row, int k, int from,
                    struct show_range *range);

/* The run of this chunk in every sequence that it serves: it is at one depth of all paths. */
int show_keys_run_of(const struct cp_plan *plan, const struct cp_shared_chunk *shared);

/* Does no row see a key of the run in any sequence begin .. end - 1? (WINDOW-4, MASK-4) */
int show_keys_is_left_out(const struct show_keys *keys, int begin, int end, int k);

/* "q2", or "q2.1" where sequences have several rows. */
#define SHOW_ROW_NAME 32
void show_keys_name(char name[SHOW_ROW_NAME], const struct show_keys *keys, int s, int row);

/* "window of 3 keys, the row's own among them, ..." */
void show_keys_title(FILE *out, const struct show_keys *keys);

/* ---- Drawn (keys_text.c, keys_phases.c, svg_keys.c) ---- */

void show_keys_text(FILE *out, const struct show_view *view);
void show_keys_nodes(FILE *out, const struct show_view *view); /* of a tree of tokens */
void show_keys_phases(FILE *out, const struct show_view *view);
void show_svg_keys(struct show_svg *svg, const struct show_view *view);

#endif
