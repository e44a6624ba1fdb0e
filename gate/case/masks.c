/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/case/masks.h"

#include "chunkproof/kernel.h"
#include "cli/base/random.h"

#define EDGES 3 /* a chunk less one key, a chunk, a chunk and one key */

static int larger(int a, int b) {
    return a > b ? a : b;
}

/* About how many positions the longest sequence has. */
static int positions_of(const struct gate_recipe *r) {
    int most = 1, modules = 0;
    for (int i = 0; i < r->n_modules; i++) {
        modules = larger(modules, r->module[i].position + r->module[i].tokens);
    }
    for (int i = 0; i < r->n_ops; i++) {
        most = larger(most, modules + r->op[i].tokens + r->op[i].own);
    }
    return most;
}

/* A number of positions: few; about some chunks; any up to `most`; about `most`. */
static int any_span(struct prng *random, int c, int most) {
    switch (prng_below(random, 4)) {
    case 0:
        return 1 + prng_below(random, 4);
    case 1:
        return larger(c * (1 + prng_below(random, 3)) - 1 + prng_below(random, EDGES), 1);
    case 2:
        return 1 + prng_below(random, most);
    default:
        return larger(most - 2 + prng_below(random, 4), 1);
    }
}

void gate_recipe_mask(struct gate_recipe *r, int masks, const struct gate_shape *shape) {
    struct prng random = {r->seed ^ 0x3A5C0DE5ULL};
    int c = r->chunk_size, most = positions_of(r);
    int window = prng_below(&random, 6) == 0 ? 0 : any_span(&random, c, most);
    window = window > 0 && shape != NULL && shape->window > 0 ? shape->window : window;
    int ahead = prng_below(&random, 3) == 0 ? 0 : any_span(&random, c, most);
    int kept = prng_below(&random, 3) == 0 ? 0 : any_span(&random, c, larger(most / 2, 1));
    r->window = (masks & CP_MASKS_WINDOW) != 0 ? window : 0;
    r->ahead = (masks & CP_MASKS_AHEAD) != 0 ? ahead : 0;
    int bits = prng_below(&random, GATE_BITS + 1) % GATE_BITS;
    r->bits = (masks & CP_MASKS_BITS) != 0 ? bits : GATE_NO_BITS;
    r->kept = (masks & CP_MASKS_KEPT) != 0 && window > 0 ? kept : 0;
}

int gate_recipe_masks(const struct gate_recipe *r) {
    return (r->window > 0 ? CP_MASKS_WINDOW : 0) | (r->ahead > 0 ? CP_MASKS_AHEAD : 0) |
           (r->kept > 0 ? CP_MASKS_KEPT : 0) | (r->bits != GATE_NO_BITS ? CP_MASKS_BITS : 0);
}
