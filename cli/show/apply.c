/* SPDX-License-Identifier: Apache-2.0 */
/* Applies operations to a tree and its plan and says what each of them changed. */
#include <stdlib.h>

#include "chunkproof/status.h"
#include "cli/base/command.h"
#include "cli/base/text.h"
#include "cli/show/show.h"

/* ---- What an operation changed ---- */

/* One operation on its way: what was so before it, and the sentence about its effect. */
struct change {
    struct show_world *world;
    const struct show_operation *operation;
    unsigned char *was_used; /* by chunk */
    struct cp_stamp before;
    FILE *effect;
};

#define LONG_RUN 5 /* from so many chunks in a row on, only the first and the last are named */

/* What was done, then the chunks: "; takes C3 C4", "; takes C0 .. C9". Nothing when there are none. */
static void put_chunks(FILE *out, const char *what, const int *chunk, int n) {
    fputs(n > 0 ? what : "", out);
    for (int i = 0; i < n;) {
        int end = i + 1;
        while (end < n && chunk[end] == chunk[end - 1] + 1) {
            end++;
        }
        fprintf(out, " C%d", chunk[i]);
        if (end - i >= LONG_RUN) {
            fprintf(out, " .. C%d", chunk[end - 1]);
            i = end;
        } else {
            i++;
        }
    }
}

/* The chunks that are in use now and were not, or the other way round. Returns how many. */
static int tell_chunks(const struct change *change, const char *what, int is_used) {
    const struct cp_pool *pool = &change->world->tree->pool;
    int *chunk = cli_allocate(NULL, (size_t)pool->capacity, sizeof *chunk);
    int n = 0;
    for (int x = 0; x < pool->capacity; x++) {
        if (cp_pool_is_used(pool, x) == is_used && change->was_used[x] != is_used) {
            chunk[n++] = x;
        }
    }
    put_chunks(change->effect, what, chunk, n);
    free(chunk);
    return n;
}

/* A new sequence: where it is, what it shares, who had to move. */
static void tell_new_sequence(const struct change *change, int s) {
    const struct cp_tree *tree = change->world->tree;
    const struct cp_sequence *row = &tree->sequence[s];
    int n = cp_tree_length(tree, s);
    int n_shared = 0;
    while (n_shared < row->n_chunks && change->was_used[row->chunk[n_shared]]) {
        n_shared++;
    }
    fprintf(change->effect, "becomes S%d, %d token%s", s, n, n == 1 ? "" : "s");
    put_chunks(change->effect, "; shares", row->chunk, n_shared);
    tell_chunks(change, "; takes", 1);
    if (s + 1 < tree->n_sequences) {
        fprintf(change->effect, "; the sequences from S%d on moved up by one", s);
    }
}

/* The tokens of the operation's words; the caller frees them. */
static int *tokens_of(struct show_world *world, const struct show_operation *operation) {
    int *token = cli_allocate(NULL, (size_t)operation->n_words, sizeof *token);
    for (int i = 0; i < operation->n_words; i++) {
        const char *word = world->script->word[operation->first_word + i];
        token[i] = show_words_token(&world->words, word);
    }
    return token;
}

static int apply_join(struct change *change) {
    struct show_world *world = change->world;
    const struct show_operation *operation = change->operation;
    struct cp_joined joined;
    int *token = tokens_of(world, operation);
    unsigned long long salt = show_salt(world, operation->other);
    int status =
        cp_tree_join(world->tree, token, operation->n_words, salt, world->n_names, NULL, &joined);
    free(token);
    if (status == CP_OK) {
        world->name[world->n_names++] = operation->name;
        tell_new_sequence(change, joined.sequence);
    }
    return status;
}

static int apply_fork(struct change *change) {
    struct show_world *world = change->world;
    struct cp_forked forked;
    int s = show_find_sequence(world, change->operation->name);
    int status = cp_tree_fork(world->tree, s, world->n_names, &forked);
    if (status == CP_OK) {
        world->name[world->n_names++] = change->operation->other;
        tell_new_sequence(change, forked.sequence);
        if (forked.copy_to >= 0) {
            fprintf(change->effect, "; K and V of C%d are copied to C%d", forked.copy_from,
                    forked.copy_to);
        }
    }
    return status;
}

static int apply_append(struct change *change) {
    struct show_world *world = change->world;
    int s = show_find_sequence(world, change->operation->name);
    const char *word = world->script->word[change->operation->first_word];
    int status = cp_tree_append(world->tree, s, show_words_token(&world->words, word));
    if (status == CP_OK) {
        int n = cp_tree_length(world->tree, s);
        fprintf(change->effect, "S%d now has %d token%s", s, n, n == 1 ? "" : "s");
        tell_chunks(change, "; its last chunk was full: takes", 1);
    }
    return status;
}

static int apply_append_all(struct change *change) {
    struct show_world *world = change->world;
    const struct show_operation *operation = change->operation;
    int b = world->tree->n_sequences;
    int *sequence = cli_allocate(NULL, (size_t)b, sizeof *sequence);
    int *token = cli_allocate(NULL, (size_t)b, sizeof *token);
    for (int s = 0; s < b; s++) {
        int word = operation->first_word + (operation->n_words == 1 ? 0 : s);
        sequence[s] = s;
        token[s] = show_words_token(&world->words, world->script->word[word]);
    }
    int status = cp_tree_append_each(world->tree, b, sequence, token);
    free(sequence);
    free(token);
    if (status == CP_OK) {
        fprintf(change->effect, "one more token for each of %d sequence%s", b, b == 1 ? "" : "s");
        tell_chunks(change, "; a last chunk was full: takes", 1);
    }
    return status;
}

static int apply_leave(struct change *change) {
    struct cp_tree *tree = change->world->tree;
    int s = show_find_sequence(change->world, change->operation->name);
    int status = cp_tree_leave(tree, s);
    if (status == CP_OK) {
        fprintf(change->effect, "S%d leaves", s);
        if (tell_chunks(change, "; releases", 0) == 0) {
            fputs("; it had no chunk of its own", change->effect);
        }
        if (s < tree->n_sequences) {
            fprintf(change->effect, "; the sequences after it moved down by one");
        }
    }
    return status;
}

static void tell_plan(const struct change *change, int rebuilt) {
    const struct cp_stamp *now = &change->world->tree->stamp;
    if (rebuilt) {
        fprintf(change->effect, "; plan rebuilt (epoch %llu -> %llu)", change->before.epoch,
                now->epoch);
    } else {
        fprintf(change->effect, "; plan kept, only lengths changed (epoch %llu, step %llu -> %llu)",
                now->epoch, change->before.step, now->step);
    }
}

/* ---- One operation ---- */

/* The names of the sequences, for a message. */
static char *list_names(const struct show_world *world) {
    char *names;
    size_t size;
    FILE *out = text_open(&names, &size);
    for (int s = 0; s < world->tree->n_sequences && s < 8; s++) {
        fprintf(out, "%s%s", s > 0 ? ", " : "", show_sequence_name(world, s));
    }
    fputs(world->tree->n_sequences == 0  ? "none"
          : world->tree->n_sequences > 8 ? ", ..."
                                         : "",
          out);
    text_close(out);
    return names;
}

/* Are the names that the operation uses there, and the new one free? */
static int check_names(const struct show_world *world, const struct show_operation *operation) {
    const char *new = operation->kind == SHOW_JOIN   ? operation->name
                      : operation->kind == SHOW_FORK ? operation->other
                                                     : NULL;
    const char *old = operation->kind == SHOW_JOIN ? NULL : operation->name;
    if (old != NULL && show_find_sequence(world, old) < 0) {
        char *names = list_names(world);
        show_error(operation->place, "no sequence is called '%s'; there are: %s", old, names);
        free(names);
        return EXIT_BAD_USE;
    }
    if (new != NULL && show_find_sequence(world, new) >= 0) {
        return show_error(
            operation->place,
            "a sequence is already called '%s'; choose another name, or let it leave first", new);
    }
    if (operation->kind == SHOW_APPEND_ALL && operation->n_words != 1 &&
        operation->n_words != world->tree->n_sequences) {
        return show_error(
            operation->place,
            "append-all has %d words for %d sequences; give one for each, or one for all",
            operation->n_words, world->tree->n_sequences);
    }
    return EXIT_RIGHT;
}

/* How many chunks a join takes: those of its prompt that are not there yet (TREE-8). */
static int chunks_of_join(struct show_world *world, const struct show_operation *operation) {
    const struct cp_tree *tree = world->tree;
    int *token = tokens_of(world, operation);
    struct cp_match match =
        cp_tree_lookup(tree, token, operation->n_words, show_salt(world, operation->other), NULL);
    free(token);
    return (operation->n_words + tree->chunk_size - 1) / tree->chunk_size - match.n_chunks;
}

/* How many chunks appending takes: one for each sequence whose last chunk is full (TREE-10). */
static int chunks_of_append_all(const struct cp_tree *tree) {
    int n = 0;
    for (int s = 0; s < tree->n_sequences; s++) {
        n += cp_tree_length(tree, s) % tree->chunk_size == 0;
    }
    return n;
}

static int tell_failure(struct show_world *world, const struct show_operation *operation,
                        int status) {
    const struct cp_pool *pool = &world->tree->pool;
    if (status == CP_ERROR_POOL_FULL) {
        int needed = operation->kind == SHOW_JOIN         ? chunks_of_join(world, operation)
                     : operation->kind == SHOW_APPEND_ALL ? chunks_of_append_all(world->tree)
                                                          : 1;
        return show_error(
            operation->place,
            "the pool is full: this needs %d chunk%s, and %d of %d are free; the tree is "
            "unchanged; give --capacity %d or more, or let a sequence leave first",
            needed, needed == 1 ? "" : "s", pool->n_free, pool->capacity,
            pool->capacity - pool->n_free + needed);
    }
    return show_error(operation->place, "%s", cp_status_text(status));
}

/* The library's own checks: a finding of theirs is one about the library. */
static int check_world(const struct show_world *world, const struct show_operation *operation) {
    const char *clause = cp_tree_check(world->tree);
    if (clause == NULL) {
        clause = cp_plan_check(world->plan);
    }
    if (clause != NULL) {
        show_error(operation->place, "after this operation, %s does not hold", clause);
        return EXIT_FINDING;
    }
    return EXIT_RIGHT;
}

static int apply(struct change *change) {
    static int (*const appliers[])(struct change * change) = {
        [SHOW_JOIN] = apply_join,
        [SHOW_APPEND] = apply_append,
        [SHOW_APPEND_ALL] = apply_append_all,
        [SHOW_LEAVE] = apply_leave,
        [SHOW_FORK] = apply_fork,
    };
    struct show_world *world = change->world;
    int status = appliers[change->operation->kind](change);
    if (status != CP_OK) {
        return tell_failure(world, change->operation, status);
    }
    tell_plan(change, cp_plan_update(world->plan, world->tree));
    return check_world(world, change->operation);
}

int show_world_apply(struct show_world *world, const struct show_operation *operation,
                     struct show_step *step) {
    size_t size;
    int capacity = world->tree->pool.capacity;
    struct change change = {world, operation, NULL, world->tree->stamp, NULL};
    step->title = show_operation_title(world->script, operation);
    step->effect = NULL;
    int status = check_names(world, operation);
    if (status != EXIT_RIGHT) {
        return status;
    }
    change.effect = text_open(&step->effect, &size);
    change.was_used = cli_allocate(NULL, (size_t)capacity, 1);
    for (int chunk = 0; chunk < capacity; chunk++) {
        change.was_used[chunk] = (unsigned char)cp_pool_is_used(&world->tree->pool, chunk);
    }
    status = apply(&change);
    free(change.was_used);
    text_close(change.effect);
    return status;
}
