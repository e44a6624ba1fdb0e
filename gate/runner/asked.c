/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/runner/asked.h"

int run_memory(const struct run_control *control) {
    return control->merges ? control->merging.memory : control->kernel.memory;
}

const char *run_refuses(const struct run_control *control) {
    const struct cp_merge_kernel *merging = &control->merging;
    if (control->merges) {
        return merging->refuses != NULL ? merging->refuses(&control->merge) : NULL;
    }
    return control->kernel.refuses != NULL ? control->kernel.refuses(&control->call) : NULL;
}

size_t run_workspace(const struct run_control *control) {
    const struct cp_merge_kernel *merging = &control->merging;
    if (control->merges) {
        return merging->workspace != NULL ? merging->workspace(&control->merge) : 0;
    }
    return control->kernel.workspace != NULL ? control->kernel.workspace(&control->call) : 0;
}

int run_call_kernel(const struct run_control *control) {
    return control->merges ? control->merging.merge(&control->merge)
                           : control->kernel.attend(&control->call);
}
