/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a score before it is weighed: a cap and a bias by distance (spec/scores.md). The
 * sink, which is a key of its own, is in merge.h.
 *
 *     s = scale q . k  ->  cap tanh(s / cap)  ->  + slope (t - p)
 */
#ifndef CHUNKPROOF_KERNELS_SCORES_H
#define CHUNKPROOF_KERNELS_SCORES_H

#include "kernels/problem.h"

namespace chunkproof {

/* Does the call change scores? */
template <class A> __host__ __device__ bool changes_scores(const Problem<A> &p) {
    return A::is_cap(p.cap) || p.slopes != nullptr;
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

/* SCORE-4, of the score of key j, once it is scaled. */
template <class A>
__device__ typename A::Score changed(const Problem<A> &p, typename A::Score s, const Bias<A> &bias,
                                     int j) {
    if (A::is_cap(p.cap)) {
        s = A::capped(s, p.cap);
    }
    return p.slopes == nullptr ? s : A::biased(s, bias.slope, bias.distance + j);
}

} // namespace chunkproof

#endif
