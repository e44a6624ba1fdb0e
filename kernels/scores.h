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

/* The bias of key j of a task, for a query row and head: slope (distance + j). */
template <class A> struct Bias {
    typename A::Score slope;
    long long distance; /* of the task's key 0, its position less the row's */
};

/* row: -1, there is no such query. */
template <class A>
__device__ Bias<A> bias_of(const Problem<A> &p, const cp_task &task, int row, int head) {
    if (row < 0 || p.slopes == nullptr) {
        return {A::no_product(), 0};
    }
    return {A::score_of(p.slopes[head]),
            static_cast<long long>(task.position) - p.lists.position[row]};
}

/* SCORE-4, of the score of key j, once it is scaled; but for a table. */
template <class A>
__device__ typename A::Score changed(const Problem<A> &p, typename A::Score s, const Bias<A> &bias,
                                     int j) {
    if (A::is_cap(p.cap)) {
        s = A::capped(s, p.cap);
    }
    return p.slopes == nullptr ? s : A::biased(s, bias.slope, bias.distance + j);
}

/* SCORE-5: a table of biases, for a query row and head. Where scores are in registers it is asked
 * for behind all other changes, so that nothing of it lies there meanwhile. */
template <class A> struct Table {
    const typename A::Given *bias; /* of the head; NULL: there is none */
    long long entry;               /* of the task's key 0; that of key j is j less */
};

template <class A>
__device__ Table<A> table_of(const Problem<A> &p, const cp_task &task, int row, int head) {
    if (row < 0 || p.biases == nullptr) {
        return {nullptr, 0};
    }
    return {p.biases + static_cast<std::size_t>(head) * p.n_biases,
            static_cast<long long>(p.own_bias) + p.lists.position[row] - task.position};
}

/* The score with the bias of key j. Of an entry that the table has not, it is its first one or its
 * last one. */
template <class A>
__device__ typename A::Score with_table(const Problem<A> &p, typename A::Score s,
                                        const Table<A> &table, int j) {
    if (table.bias == nullptr) {
        return s;
    }
    long long entry = table.entry - j, last = p.n_biases - 1;
    return A::sum(s, A::score_of(table.bias[entry < 0 ? 0 : entry < last ? entry : last]));
}

} // namespace chunkproof

#endif
