/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA kernels with their launcher, on the executor that checks each load and store
 * (kernels/simt), over the plan of a tree that operations have grown. Nothing is found, and every
 * number is within the certified tolerance (spec/tolerance.md); and again after lengths have
 * changed (PLAN-6). */
#include <string>

#include "fuzz/target.h"

extern "C" {
#include "fuzz/world.h"
}

#include "kernels/simt/device.h"
#include "tests/kernels/rig.h"

/* Small enough that a case takes milliseconds: (query row, head), and (task, K/V head). */
static const int MOST_PAIRS = 32;
static const int MOST_BLOCKS = 16;

/* Head dimensions that the kernels were compiled for. */
static shape shape_of(const format_problem &problem) {
    shape s = world_shape(&problem);
    s.head_dim =
        problem.head_dim % 2 == 0 && problem.version != 1 ? 64 : 32; /* version 1 is slow */
    s.q_type = s.kv_type = problem.q_type == CP_BF16 ? CP_BF16 : CP_FP16;
    s.out_type = problem.out_type % 2 == 0 ? s.q_type : CP_FP32;
    return s;
}

struct Launch {
    simt::Device device;
    Rig rig;

    Launch(const format_problem &problem, cp_plan *plan)
        : rig(shape_of(problem), problem.seed, problem.chunks_per_task, plan) {
        if (problem.kv_type == CP_FP64) { /* of these there are no kernels */
            rig.change_cache(problem.seed);
        }
    }

    bool is_small() const {
        const shape &s = rig.c.shape;
        return rig.c.n_rows * s.n_heads <= MOST_PAIRS &&
               Schedule(rig.c, rig.limits.chunks_per_task).of.n_tasks * s.n_kv_heads <= MOST_BLOCKS;
    }

    void run(int version) {
        rig.attention.version = version;
        rig.must(rig.update());
        rig.must(rig.attend());
        rig.settle();
        Judgement judgement = rig.judged(version == 0 ? N_VERSIONS : version);
        if (!judgement.wrong.empty()) {
            case_print(&rig.c);
            fuzz_fail("version %d: %s", version, judgement.wrong.c_str());
        }
    }
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    format_input input;
    world world;
    format_decode(&input, data, size);
    world_grow(&world, &input);
    try {
        Launch launch(input.problem, world_plan(&world));
        if (launch.is_small()) {
            launch.rig.must(launch.rig.make());
            launch.run(input.problem.version);
            launch.rig.change_lengths(-1);
            launch.run(input.problem.version);
        }
    } catch (const std::exception &error) {
        fuzz_fail("version %d: %s", input.problem.version, error.what());
    }
    world_free(&world);
    return 0;
}
