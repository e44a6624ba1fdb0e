/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* fmemopen() */
/* The axes of a mistake: the values that each has on a row, and the text of what they are at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/explain/mistakes.h"

#define MOST_POOL 64  /* chunks */
#define ANY_RANGE 256 /* any range of so many keys is tried; of more, those of whole chunks */

/* ---- Values ---- */

/* The sizes of each kind of parts, powers of two; and how much less simple it is. */
static const struct {
    int tile, most_tile, n, most_n, cost;
} sizes[] = {
    [PART_WARPS] = {1, 128, 2, 32, 5},
    [PART_SPLITS] = {1, MOST_TILE, 2, 32, 5},
    [PART_HALVES_OF_TILES] = {1, MOST_TILE, 1, 1, 3},
    [PART_TILES] = {2, MOST_TILE, 1, 1, 1},
};

/* Partition i of these kinds. 0: there are no more. */
static int set_parts(struct explain_partition *parts, int from, int to, int i) {
    for (int kind = from; kind <= to; kind++) {
        for (int tile = sizes[kind].tile; tile <= sizes[kind].most_tile; tile += most(tile, 1)) {
            for (int n = sizes[kind].n; n <= sizes[kind].most_n; n += most(n, 1)) {
                *parts = (struct explain_partition){kind, tile, n};
                if (i-- == 0) {
                    return 1;
                }
            }
        }
    }
    return 0;
}

static int *field_of(struct explain_choice *c, const struct explain_axis *axis) {
    return (int *)(void *)((char *)c + axis->at);
}

static int value_of(const struct explain_choice *c, const struct explain_axis *axis) {
    return *(const int *)(const void *)((const char *)c + axis->at);
}

static int is_below(const struct explain_model *x, enum explain_below below, int value) {
    return below == BELOW_KEYS ? value < x->n
           : below == BELOW_D  ? value < most(x->d, x->d_v)
           : below == UP_TO_D  ? value <= x->d
                               : 1;
}

int explain_set_axis(const struct explain_model *x, const struct explain_mistake *m,
                     struct explain_choice *c, int at, int i) {
    const struct gate_problem *p = &x->run->problem;
    const struct explain_axis *axis = &m->axis[at];
    const int *values = axis->values;
    int n = x->n, d = x->d, chunks = (n + x->c - 1) / x->c, step = n <= ANY_RANGE ? 1 : x->c;
    int first = value_of(c, &m->axis[0]), before = at > 0 ? value_of(c, &m->axis[at - 1]) : 0;
    int from = axis->from, to = axis->to, value = 0, is_there = 0;
#define VALUE(walk, value_, is_there_)                                                             \
    case walk:                                                                                     \
        value = (value_);                                                                          \
        is_there = (is_there_);                                                                    \
        break;
    switch ((enum explain_walk)axis->walk) { EXPLAIN_WALKS(VALUE) }
    if (axis->walk != WALK_PARTS && axis->walk != MEASURED) {
        is_there = is_there && is_below(x, axis->below, value);
        *field_of(c, axis) = value;
    }
    return is_there;
}

int explain_cost(const struct explain_axis *axis, const struct explain_choice *c, int i) {
    return axis->walk == WALK_PARTS ? sizes[c->parts.kind].cost : axis->cost * i;
}

/* ---- Text ---- */

/* What is told: an entry of a table, and what its axes are at; and where to. */
struct told {
    const struct explain_model *x;
    const struct explain_mistake *m;
    const struct explain_choice *c;
    FILE *out;
};

static int letter(const struct told *told, char letter) {
    return letter == 't'   ? told->c->parts.tile
           : letter == 'n' ? told->c->parts.n
                           : value_of(told->c, &told->m->axis[letter - 'a']);
}

/* a, a+b or a+1, from *at on. */
static int sum_of(const struct told *told, const char **at) {
    int sum = 0;
    do {
        *at += **at == '+';
        sum += **at >= '0' && **at <= '9' ? **at - '0' : letter(told, **at);
        ++*at;
    } while (**at == '+');
    return sum;
}

/* Word `i` of those that begin at `at`, which is "|one|two}". */
static void say_word(const struct told *to, const char *at, int i) {
    for (; i > 0 && *at == '|'; i--) {
        at += 1 + strcspn(at + 1, "|}");
    }
    if (*at == '|') {
        fprintf(to->out, "%.*s", (int)strcspn(at + 1, "|}"), at + 1);
    }
}

static int index_of(const struct explain_axis *axis, int value) {
    int i = value - axis->from;
    if (axis->walk == WALK_VALUES) {
        for (i = 0; axis->values[i] != value; i++) {
        }
    }
    return i;
}

static void say_owner(const struct told *to, int chunk) {
    int k, s = explain_owner(&to->x->run->problem, chunk, &k);
    fprintf(to->out,
            s < 0 ? "chunk %d of the pool, which is nobody's"
                  : "chunk %d of the pool, chunk %d of sequence %d",
            chunk, k, s);
}

/* An axis by itself. */
static void say_axis(const struct told *to, const struct explain_axis *axis) {
    int value = value_of(to->c, axis);
    if (axis->walk == MEASURED) {
        fprintf(to->out, "%.6f", to->c->lse.factor);
    } else if (axis->walk == POOL_CHUNKS) {
        say_owner(to, value);
    } else if (axis->walk == KEYS_UPTO && value - letter(to, 'a') > 1) {
        fprintf(to->out, "keys %d to %d", letter(to, 'a'), value - 1);
    } else if (axis->walk == KEYS_UPTO) { /* of a path, as chunks of the pool */
        int j = value - 1, c = to->x->c;
        fprintf(to->out, "key %d (chunk %d of the path, slot %d)", j, j / c, j % c);
    } else {
        fprintf(to->out, "%d", value);
    }
}

/* What is between braces, from `at` on, but for an axis by itself. */
static void say_letters(const struct told *to, const char *at) {
    const struct explain_axis *axis =
        &to->m->axis[*at >= 'a' && *at < 'a' + EXPLAIN_AXES ? *at - 'a' : 0];
    int is_signed = *at == '+', value = sum_of(to, &at), noun = (int)strcspn(at, "}");
    if (*at == '|') {
        say_word(to, at, index_of(axis, value));
    } else if (*at == '.') {
        at += strlen("..");
        int last = sum_of(to, &at) - 1;
        noun = (int)strcspn(at, "}") - 1;
        fprintf(to->out, "%.*s%s %d", noun, at + 1, last > value ? "s" : "", value);
        if (last > value) {
            fprintf(to->out, " to %d", last);
        }
    } else if (*at == ' ') {
        fprintf(to->out, "%d%.*s%s", value, noun, at, value == 1 ? "" : "s");
    } else if (is_signed) {
        fprintf(to->out, "%c %d", value < 0 ? '-' : '+', abs(value));
    } else {
        fprintf(to->out, "%d", value);
    }
}

static const char *words_of(enum explain_kind kind) {
#define WORDS(kind, part, words)                                                                   \
    case kind:                                                                                     \
        return words;
    switch (kind) { EXPLAIN_PARTS(WORDS) }
    return "";
}

/* The axis of "{a}"; NULL: that is not what stands there. */
static const struct explain_axis *axis_at(const struct explain_mistake *m, const char *at) {
    int is_one = at[0] == '{' && at[1] >= 'a' && at[1] < 'a' + EXPLAIN_AXES && at[2] == '}';
    return is_one ? &m->axis[at[1] - 'a'] : NULL;
}

void explain_name(const struct explain_model *x, const struct explain_mistake *m,
                  const struct explain_choice *c, char *text, size_t size) {
    const struct told to = {x, m, c, fmemopen(text, size, "w")};
    const char *at = m->text, *behind_parts = "";
    text[0] = '\0';
    if (to.out == NULL) {
        return;
    }
    while (*at != '\0' || *behind_parts != '\0') {
        const struct explain_axis *axis = axis_at(m, at);
        int plain = (int)strcspn(at, "{");
        if (*at == '\0') {
            at = behind_parts;
            behind_parts = "";
        } else if (axis != NULL && axis->walk == WALK_PARTS) {
            behind_parts = at + strlen("{a}"); /* their words have letters, too */
            at = words_of(c->parts.kind);
        } else if (plain > 0) {
            fprintf(to.out, "%.*s", plain, at);
            at += plain;
        } else {
            if (axis != NULL) {
                say_axis(&to, axis);
            } else {
                say_letters(&to, at + 1);
            }
            at += strcspn(at, "}") + 1;
        }
    }
    (void)fclose(to.out);
    text[size - 1] = '\0';
}
