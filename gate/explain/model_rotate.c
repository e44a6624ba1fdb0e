/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 6, where keys have not their positions (GATE-14): each key by a row of the call's table, in
 * the way of a choice. An example of ways.h: ROTATED_BY_SLOT has the key in slot 3 of any run
 * rotated by row 3. The functions declare the variables of ways.h. */
#include <string.h>

#include "gate/case/rotation.h"
#include "gate/explain/model.h"

/* What is otherwise. */
enum how {
    AS_IT_IS,
    TURN_BACK,   /* the sine has the wrong sign */
    OTHER_PAIRS, /* neighbours for halves, or halves for neighbours */
    OVER_D,      /* halves of d, not of rotary_dim */
    SINES_FIRST, /* cosines and sines change places */
    IN_TURN,     /* the table is read as pairs of a cosine and a sine */
    FIRST_ALONE, /* y stays as it is */
    IN_PLACE,    /* y is made of the x that is rotated already */
    ONE_PAIR,    /* all pairs by the first one's numbers */
    STRIDE_D     /* rows of the table are d apart */
};

/* By which row of the table a key is rotated, and how often. */
struct turning {
    int angle, times;
    enum how how;
};

/* ---- Which row ---- */

/* The position of the first descriptor, or else the first run of the table, that has the chunk. */
static int first_position(const struct gate_problem *p, int chunk) {
    const struct cp_shared_chunk *shared = explain_descriptor(p, chunk);
    int at = 0;
    while (at < p->b * p->table_width - 1 && p->table[at] != chunk) {
        at++;
    }
    return shared != NULL ? shared->position : p->table_position[at];
}

#define number (at.run < 0 ? 0 : explain_key_number(x, j))
#define first  (at.run < 0 ? begins : first_position(p, p->table[x->s * p->table_width + at.run]))

static struct turning turning_of(const struct explain_model *x, const struct explain_choice *choice,
                                 int j) {
    const struct gate_problem *p = &x->run->problem;
    const struct explain_spot at = explain_spot_of(x, j);
    int slot = at.slot, begins = at.begins, position = begins + slot, by = choice->rotate.by;
    int angle = p->rotation.keys == CP_KEYS_LOCAL ? begins : position;
    int stands = p->position[x->row], seen = x->n;
    struct turning got = {angle, 1, AS_IT_IS};
    if (explain_is_for(choice->rotate.keys, j < x->shared)) {
        switch ((enum explain_rotate)choice->rotate.way) { EXPLAIN_ROTATIONS(EXPLAIN_GET) }
    }
    return got;
}

/* ---- Which numbers ---- */

/* Number `at` of the table, counted from its row; 0 where the table has none. */
static double table_number(const struct gate_rotation *r, const struct turning *t, int d, int at) {
    long long width = t->how == STRIDE_D ? d : r->dim, i = t->angle * width + at;
    return t->angle >= 0 && i < (long long)r->n_angles * r->dim ? (double)r->table[i] : 0.0;
}

static struct gate_pair pair_of(const struct gate_rotation *r, const struct turning *t, int d,
                                int i) {
    int half = r->dim / 2, from = t->how == ONE_PAIR ? 0 : i;
    int beside = (r->pairs == CP_PAIRS_NEIGHBOURS) != (t->how == OTHER_PAIRS);
    int apart = t->how == OVER_D ? d / 2 : half, in_turn = t->how == IN_TURN;
    double c = table_number(r, t, d, in_turn ? 2 * from : from);
    double s = table_number(r, t, d, in_turn ? 2 * from + 1 : half + from);
    int sines_first = t->how == SINES_FIRST;
    struct gate_pair pair = {beside ? 2 * i : i, beside ? 2 * i + 1 : i + apart,
                             sines_first ? s : c, sines_first ? c : s};
    pair.s = t->how == TURN_BACK ? -pair.s : pair.s;
    if (t->times == 2) {
        pair = (struct gate_pair){pair.x, pair.y, pair.c * pair.c - pair.s * pair.s,
                                  2.0 * pair.c * pair.s};
    }
    return t->times == 0 ? (struct gate_pair){pair.x, pair.y, 1.0, 0.0} : pair;
}

/* ---- Keys ---- */

static void rotate_key(const struct explain_model *x, const struct explain_choice *choice, int j) {
    const struct gate_rotation *r = &x->run->problem.rotation;
    const struct turning t = turning_of(x, choice, j);
    double *k = x->rotated + (ptrdiff_t)j * x->d;
    memcpy(k, x->k[j], (size_t)x->d * sizeof *k);
    for (int i = 0; i < r->dim / 2; i++) {
        struct gate_pair at = pair_of(r, &t, x->d, i);
        double a = k[at.x], b = k[at.y];
        k[at.x] = at.c * a - at.s * b;
        k[at.y] = t.how == FIRST_ALONE ? b : at.s * (t.how == IN_PLACE ? k[at.x] : a) + at.c * b;
    }
}

void explain_rotate_keys(struct explain_model *x, const struct explain_choice *choice) {
    int is_placed = x->run->problem.rotation.keys == CP_KEYS_PLACED;
    for (int j = 0; j < x->m && !is_placed; j++) {
        rotate_key(x, choice, j);
    }
    x->work -= is_placed ? 0 : (long long)x->m * x->d;
}

/* The numbers that meet those of gate_query_terms(). Of ways that are no rotation, the rotated
 * numbers in place of their products: the sum is the same. */
void explain_terms(const struct explain_model *x, const struct explain_choice *choice, int j,
                   double *terms) {
    const struct gate_rotation *r = &x->run->problem.rotation;
    const double *k = x->k[j], *rotated = explain_key(x, j);
    const struct turning t = turning_of(x, choice, j);
    for (int i = 0; i < r->dim / 2; i++) {
        struct gate_pair at = pair_of(r, &t, x->d, i);
        int own = choice->rotate.way == ROTATED_OWN;
        struct gate_pair place = gate_numbers_of_pair(r, i);
        *terms++ = own ? at.c * k[at.x] : rotated[place.x];
        *terms++ = own ? -at.s * k[at.y] : 0.0;
        *terms++ = own ? at.c * k[at.y] : rotated[place.y];
        *terms++ = own ? at.s * k[at.x] : 0.0;
    }
    memcpy(terms, rotated + r->dim, (size_t)(x->d - r->dim) * sizeof *terms);
}
