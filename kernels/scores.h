/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a score before it is weighed: a cap and biases by distance (spec/scores.md). The
 * sink, which is a key of its own, is in merge.h.
 *
 *     s = scale q . k  ->  cap tanh(s / cap)  ->  + slope (t - p)  ->  + biases[own + p - t]
 */
#ifndef CHUNKPROOF_KERNELS_SCORES_H
#define CHUNKPROOF_KERNELS_SCORES_H

#include "kernels/problem.h"

namespace chunkproof {

/* Does the call change scores? */
template <class A> __host__ __device__ bool changes_scores(const Problem<A> &p) {
    return A::is_cap(p.cap) || p.slopes != nullptr || p.biases != nullptr;
}

/* The biases of key j of a task, for a query row and head: slope (distance + j), and an entry of
 * the head's table. */
template <class A> struct Bias {
    typename A::Score slope;
    long long distance;             /* of the task's key 0, its position less the row's */
    const typename A::Given *table; /* or NULL */
};

/* row: -1, there is no such query. */
template <class A>
__device__ Bias<A> bias_of(const Problem<A> &p, const cp_task &task, int row, int head) {
    if (row < 0 || (p.slopes == nullptr && p.biases == nullptr)) {
        return {A::no_product(), 0, nullptr};
    }
    return {p.slopes == nullptr ? A::no_product() : A::score_of(p.slopes[head]),
            static_cast<long long>(task.position) - p.lists.position[row],
            p.biases == nullptr ? nullptr : p.biases + static_cast<std::size_t>(head) * p.n_biases};
}

/* SCORE-5: the bias at a distance t - p, of which the table may have none: then its first one or
 * its last one. */
template <class A>
__device__ typename A::Score bias_at(const Problem<A> &p, const typename A::Given *table,
                                     long long distance) {
    long long entry = p.own_bias - distance, last = p.n_biases - 1;
    return A::score_of(table[entry < 0 ? 0 : entry < last ? entry : last]);
}

/* SCORE-4, of the score of key j, once it is scaled. */
template <class A>
__device__ typename A::Score changed(const Problem<A> &p, typename A::Score s, const Bias<A> &bias,
                                     int j) {
    if (A::is_cap(p.cap)) {
        s = A::capped(s, p.cap);
    }
    if (p.slopes != nullptr) {
        s = A::biased(s, bias.slope, bias.distance + j);
    }
    return bias.table == nullptr ? s : A::sum(s, bias_at(p, bias.table, bias.distance + j));
}

} // namespace chunkproof

#endif
