/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule of the kernels (kernels/schedule.h) over the plan of a tree that operations have
 * grown: its arrays have room, every chunk of every path is in one task, every query row finds its
 * partial results. */
#include "fuzz/target.h"
#include "fuzz/world.h"
#include "tests/schedule_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct format_input input;
    struct world world;
    struct attend_case c;
    format_decode(&input, data, size);
    world_grow(&world, &input);
    struct shape shape = world_shape(&input.problem);
    shape.n_heads = shape.n_kv_heads = shape.head_dim = 1; /* the target reads no numbers */
    case_make_of(&c, &shape, world_plan(&world), (unsigned)input.problem.seed);
    const char *wrong = schedule_check(&c, input.problem.chunks_per_task);
    if (wrong != NULL) {
        fuzz_fail("the schedule: %s", wrong);
    }
    case_free(&c);
    world_free(&world);
    return 0;
}
