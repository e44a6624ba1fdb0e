/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/search/budget.h"

#include <stddef.h>

void gate_budget_init(struct gate_budget *budget, double bytes) {
    pthread_mutex_init(&budget->lock, NULL);
    pthread_cond_init(&budget->given_back, NULL);
    budget->left = bytes;
}

void gate_budget_free(struct gate_budget *budget) {
    pthread_cond_destroy(&budget->given_back);
    pthread_mutex_destroy(&budget->lock);
}

void gate_budget_take(struct gate_budget *budget, double bytes) {
    if (budget == NULL) {
        return;
    }
    pthread_mutex_lock(&budget->lock);
    while (budget->left < bytes) {
        pthread_cond_wait(&budget->given_back, &budget->lock);
    }
    budget->left -= bytes;
    pthread_mutex_unlock(&budget->lock);
}

void gate_budget_give(struct gate_budget *budget, double bytes) {
    if (budget == NULL) {
        return;
    }
    pthread_mutex_lock(&budget->lock);
    budget->left += bytes;
    pthread_cond_broadcast(&budget->given_back);
    pthread_mutex_unlock(&budget->lock);
}
