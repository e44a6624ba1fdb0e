/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule_check.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define CANARY 0x5A5A5A5A

const char *cut_make(struct cut *cut, const struct attend_case *c, int chunks_per_task) {
    memset(cut, 0, sizeof *cut);
    cut->c = c;
    if (cp_schedule_measure(&cut->s, c->plan, c->query_begin, chunks_per_task) != CP_OK) {
        return "it cannot be measured";
    }
    cut->numbers = malloc((cut->s.n_numbers + 1) * sizeof(int));
    if (cut->numbers == NULL) {
        return "no memory";
    }
    memset(cut->numbers, 0xFF, cut->s.n_numbers * sizeof(int));
    cut->numbers[cut->s.n_numbers] = CANARY;
    cp_schedule_write(&cut->s, c->plan, c->query_begin, c->position, cut->numbers);
    cut->task = (const struct cp_task *)(const void *)(cut->numbers + cut->s.task);
    return cut->numbers[cut->s.n_numbers] == CANARY ? NULL : "written behind its end";
}

void cut_free(struct cut *cut) {
    free(cut->numbers);
}

static int first_row(const struct attend_case *c, int s) {
    return c->query_begin == NULL ? s : c->query_begin[s];
}

/* How many tasks have chunk k of sequence s; -1 when one has another chunk in its place. */
static int times(const struct cut *cut, int s, int k) {
    const struct cp_plan *plan = cut->c->plan;
    const int *chunk = cut->numbers + cut->s.chunk;
    int n = 0;
    for (int i = 0; i < cut->s.n_tasks; i++) {
        const struct cp_task *task = &cut->task[i];
        int depth = task->position / plan->chunk_size;
        if (task->begin <= s && s < task->end && depth <= k && k < depth + task->n_chunks) {
            n++;
            if (chunk[task->first_chunk + k - depth] != plan->sequence[s].run[k].chunk) {
                return -1;
            }
        }
    }
    return n;
}

/* TPP-1, TPP-2: each chunk of each path is in one task, in its place. */
static const char *every_chunk_once(const struct cut *cut) {
    const struct cp_plan *plan = cut->c->plan;
    for (int s = 0; s < plan->n_sequences; s++) {
        for (int k = 0; k < plan->sequence[s].n_chunks; k++) {
            if (times(cut, s, k) != 1) {
                return "a chunk of a path is not in just one task, in its place";
            }
        }
    }
    return NULL;
}

/* PLAN-7: how many tokens of a sequence are in chunks depth .. depth + n_chunks - 1 of its path. */
static int tokens_in(const struct cp_plan *plan, int s, int depth, int n_chunks) {
    int n = 0;
    for (int j = 0; j < plan->sequence[s].n_tokens; j++) {
        int k = j / plan->chunk_size;
        n += depth <= k && k < depth + n_chunks;
    }
    return n;
}

/* A task is of chunks that its sequences have, all shared or all a sequence's own. */
static const char *check_task(const struct cut *cut, int i) {
    const struct cp_plan *plan = cut->c->plan;
    const struct cp_task *task = &cut->task[i];
    int depth = task->position / plan->chunk_size, shared = i < cut->s.n_shared_tasks;
    if (task->position % plan->chunk_size != 0 || task->begin < 0 || task->begin >= task->end ||
        task->end > plan->n_sequences) {
        return "the position or the range of a task";
    }
    if ((task->end - task->begin >= 2) != shared) {
        return "a task is not among those that it belongs to";
    }
    for (int s = task->begin; s < task->end; s++) {
        if (depth + task->n_chunks > plan->sequence[s].n_chunks ||
            (depth < plan->sequence[s].n_shared) != shared) {
            return "a task has chunks that a sequence has not";
        }
        if (cut->numbers[cut->s.n_keys + (size_t)i] != tokens_in(plan, s, depth, task->n_chunks)) {
            return "the number of keys of a task";
        }
    }
    return NULL;
}

/* And no task has anything else. */
static const char *nothing_else(const struct cut *cut, int chunks_per_task) {
    int chunks = 0, most_rows = 0;
    for (int i = 0; i < cut->s.n_tasks; i++) {
        const struct cp_task *task = &cut->task[i];
        int rows = first_row(cut->c, task->end) - first_row(cut->c, task->begin);
        const char *wrong = check_task(cut, i);
        if (wrong != NULL) {
            return wrong;
        }
        if (task->n_rows != rows) {
            return "the query rows of a task";
        }
        if (task->first_chunk != chunks || task->n_chunks < 1 || task->n_chunks > chunks_per_task) {
            return "the number or the place of a task's chunks";
        }
        chunks += task->n_chunks;
        most_rows = rows > most_rows ? rows : most_rows;
    }
    if (cut->s.most_rows != most_rows) {
        return "the rows of the largest task";
    }
    return (int)(cut->s.source_begin - cut->s.chunk) == chunks ? NULL : "the number of chunks";
}

/* The partial results of sequence s, in the order of the tasks; counts those of each row. */
static const char *check_sources(const struct cut *cut, int s, int *owner) {
    const int *begin = cut->numbers + cut->s.source_begin, *source = cut->numbers + cut->s.source;
    int x = begin[s];
    for (int i = 0; i < cut->s.n_tasks; i++) {
        const struct cp_task *task = &cut->task[i];
        int before = first_row(cut->c, s) - first_row(cut->c, task->begin);
        if (task->begin <= s && s < task->end) {
            if (x >= begin[s + 1] || source[x] != task->first_part + before) {
                return "a sequence has not the partial results of its tasks";
            }
            int rows = first_row(cut->c, s + 1) - first_row(cut->c, s);
            if (source[x] < 0 || source[x] > cut->s.n_parts - rows) {
                return "a partial result that is not there";
            }
            for (int row = 0; row < rows; row++) {
                owner[source[x] + row]++;
                if (cut->numbers[cut->s.row + (size_t)(source[x] + row)] !=
                    first_row(cut->c, s) + row) {
                    return "the query row of a row of partial results";
                }
            }
            x++;
        }
    }
    return x == begin[s + 1] ? NULL : "a sequence has partial results of no task";
}

/* Each partial result is that of one task and query row, and the row's sequence has it in its list,
 * in the order of the tasks. */
static const char *every_part_once(const struct cut *cut) {
    const int *begin = cut->numbers + cut->s.source_begin;
    int *owner = calloc((size_t)cut->s.n_parts + 1, sizeof(int));
    const char *wrong = begin[0] == 0 ? NULL : "the first partial result";
    if (owner == NULL) {
        return "no memory";
    }
    for (int s = 0; s < cut->s.n_sequences && wrong == NULL; s++) {
        wrong = check_sources(cut, s, owner);
    }
    if (wrong == NULL && begin[cut->s.n_sequences] != (int)(cut->s.query_begin - cut->s.source)) {
        wrong = "the number of partial results in the lists";
    }
    for (int part = 0; part < cut->s.n_parts && wrong == NULL; part++) {
        wrong = owner[part] == 1 ? NULL : "a partial result is not that of one row";
    }
    free(owner);
    return wrong;
}

/* PREFILL-2: how many keys of its sequence a query row sees from where it stands. */
static int keys_seen(const struct cut *cut, int s, int row) {
    int n = 0;
    for (int j = 0; j < cut->c->plan->sequence[s].n_tokens; j++) {
        n += j <= cut->numbers[cut->s.position + (size_t)row];
    }
    return n;
}

static const char *rows_and_lengths(const struct cut *cut) {
    const int *query_begin = cut->numbers + cut->s.query_begin;
    const int *sequence = cut->numbers + cut->s.sequence;
    if (cut->s.n_rows != cut->c->n_rows || query_begin[cut->s.n_sequences] != cut->c->n_rows) {
        return "the number of query rows";
    }
    for (int s = 0; s < cut->s.n_sequences; s++) {
        if (query_begin[s] != first_row(cut->c, s)) {
            return "the first query row of a sequence";
        }
        for (int row = first_row(cut->c, s); row < first_row(cut->c, s + 1); row++) {
            if (sequence[row] != s) {
                return "the sequence of a query row";
            }
            if (keys_seen(cut, s, row) != case_visible(cut->c, row)) {
                return "the position of a query row";
            }
        }
    }
    return NULL;
}

const char *cut_check(const struct cut *cut, int chunks_per_task) {
    const char *wrong = every_chunk_once(cut);
    wrong = wrong != NULL ? wrong : nothing_else(cut, chunks_per_task);
    wrong = wrong != NULL ? wrong : every_part_once(cut);
    return wrong != NULL ? wrong : rows_and_lengths(cut);
}

const char *schedule_check(const struct attend_case *c, int chunks_per_task) {
    struct cut cut;
    const char *wrong = cut_make(&cut, c, chunks_per_task);
    wrong = wrong != NULL ? wrong : cut_check(&cut, chunks_per_task);
    cut_free(&cut);
    return wrong;
}
