/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that cases which run in parallel share. */
#ifndef CHUNKPROOF_GATE_SEARCH_BUDGET_H
#define CHUNKPROOF_GATE_SEARCH_BUDGET_H

#include <pthread.h>

struct gate_budget {
    pthread_mutex_t lock;
    pthread_cond_t given_back;
    double left; /* bytes */
};

void gate_budget_init(struct gate_budget *budget, double bytes);
void gate_budget_free(struct gate_budget *budget);

/* Waits until so many bytes are left, and takes them; a request for more than the whole takes the
 * whole. NULL: there is no budget. */
void gate_budget_take(struct gate_budget *budget, double bytes);
void gate_budget_give(struct gate_budget *budget, double bytes);

#endif
