/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/modules/machine.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "cli/base/number_file.h"

#define MOST_NS 1000000000000000000LL

/* Llama2 at 16 bits: FLOPs of a causal prefill of 3072 tokens of 7B, bytes of its weights, and of
 * the keys and values of 5000 tokens in one layer of 32; by how many bytes those of 3072 tokens of
 * 13B are more. */
#define PARAMETERS_7B 6738415616.0
#define PREFILL_3K    (2.0 * PARAMETERS_7B * 3072.0 + 4.0 * 32.0 * 4096.0 * (3072.0 * 3073.0 / 2.0))
#define LAYER_OF_5K   (5000.0 * 524288.0 / 32.0)
#define MORE_OF_13B   (3072.0 * (819200.0 - 524288.0))

/* a100: data sheets, as `chunkproof simulate --print-cost` (spec/simulate.md), and 80 % of PCIe
 * 4.0 x16. rtx4090: what section 5.4 of the Prompt Cache paper measured: 900 ms for 3K tokens, 32
 * ms for the next one, 30 ms to copy what 13B has more, 0.23 ms to copy a layer (ERRATA-47). */
static const struct preset {
    const char *name;
    struct modules_machine machine;
} presets[] = {
    {"a100", {0.0, 1.872e14, 1.632e12, 2.52e10, 0.0}},
    {"rtx4090",
     {0.0, PREFILL_3K / 0.900, 2.0 * PARAMETERS_7B / 0.032, MORE_OF_13B / 0.030,
      LAYER_OF_5K / 0.00023}},
};
enum { PRESETS = sizeof presets / sizeof presets[0] };

const char *modules_machine_name(int i) {
    return i >= 0 && i < PRESETS ? presets[i].name : NULL;
}

const struct modules_machine *modules_machine_find(const char *name) {
    for (int i = 0; i < PRESETS; i++) {
        if (strcmp(presets[i].name, name) == 0) {
            return &presets[i].machine;
        }
    }
    return NULL;
}

/* ---- The file ---- */

static const struct number_field fields[] = {
    {"fixed_us", offsetof(struct modules_machine, fixed_us), 0.0, 0},
    {"flops_per_second", offsetof(struct modules_machine, flops_per_second), 1.0, 1},
    {"bytes_per_second", offsetof(struct modules_machine, bytes_per_second), 1.0, 1},
    {"copy_bytes_per_second", offsetof(struct modules_machine, copy_bytes_per_second), 1.0, 1},
    {"join_bytes_per_second", offsetof(struct modules_machine, join_bytes_per_second), 1.0, 0},
};
static const struct number_file machine_file = {"chunkproof machine 1",
                                                "chunkproof simulate --modules --print-machine",
                                                fields, sizeof fields / sizeof fields[0]};

int modules_machine_load(struct modules_machine *machine, const char *file) {
    return number_file_load(&machine_file, file, machine, sizeof *machine);
}

void modules_machine_print(const struct modules_machine *machine, FILE *out) {
    number_file_print(&machine_file, machine, out);
}

/* ---- Time ---- */

struct modules_time modules_machine_time(const struct modules_machine *machine,
                                         const struct cp_dims *model,
                                         const struct modules_work *work) {
    double token = cp_kv_bytes(model);
    double weights = model->number_bytes * model->parameters;
    double width = (double)model->heads * model->head_dim;
    struct modules_time time = {
        .linear = 2.0 * model->parameters * (double)work->computed / machine->flops_per_second,
        .attention = 4.0 * model->layers * width * (double)work->pairs / machine->flops_per_second,
        .reading = (weights + token * (double)work->tokens) / machine->bytes_per_second,
        .copying = token * (double)work->copied / machine->copy_bytes_per_second,
    };
    if (machine->join_bytes_per_second > 0.0) {
        time.joining = token * (double)work->cached / machine->join_bytes_per_second;
    }
    double computing = time.linear + time.attention;
    double seconds = (computing > time.reading ? computing : time.reading) + time.copying +
                     time.joining + machine->fixed_us / 1e6;
    double ns = seconds * 1e9;
    time.ns = ns < 1.0 ? 1 : ns < (double)MOST_NS ? llround(ns) : MOST_NS;
    return time;
}
