/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/memory.h"
#include "chunkproof/plan.h"
#include "chunkproof/status.h"

int cp_plan_new(struct cp_plan **plan) {
    *plan = cp_memory_new(sizeof(struct cp_plan), CP_ON_DEMAND);
    if (*plan == NULL) {
        return CP_ERROR_NO_MEMORY;
    }
    (*plan)->capacity = 1;
    (*plan)->chunk_size = 1;
    (*plan)->stamp.epoch = ~0ULL; /* a tree begins at 0 and will not come this far */
    return CP_OK;
}

void cp_plan_free(struct cp_plan *plan) {
    cp_memory_free(plan, sizeof(struct cp_plan));
}
