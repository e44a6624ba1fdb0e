/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the tree and its pool, against the naive model (world.h): joins, appends, steps,
 * leaves, forks and lookups. Pools are so small and paths so short that each way to fail is near
 * (spec/tree.md, spec/pool.md). In the end all sequences leave, and every chunk is free
 * (TREE-11). */
#include "fuzz/target.h"
#include "fuzz/world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct format_operation leave = {.kind = FORMAT_LEAVE};
    struct format_input input;
    struct world world;
    format_decode(&input, data, size);
    world_grow(&world, &input);
    while (world.model->n_sequences > 0) {
        world_apply(&world, &leave);
    }
    if (world.tree->pool.n_free != input.problem.capacity) {
        fuzz_fail("nobody is left, but %d of %d chunks are free (TREE-11)", world.tree->pool.n_free,
                  input.problem.capacity);
    }
    world_free(&world);
    return 0;
}
