/* SPDX-License-Identifier: Apache-2.0 */
/* How far rotations in binary64 may be from exact ones (DEC-12, LAYER-14). */
#ifndef CHUNKPROOF_TESTS_ROTATION_BOUND_H
#define CHUNKPROOF_TESTS_ROTATION_BOUND_H

#include <math.h>

/* DEC-12: L of a rotation by `angle`, position times frequency. A frequency is what it is declared
 * to be (phi = 0); a library's cosine and sine are off by 2 u (eta). */
static inline double rotation_loss(double angle) {
    const double u = 0x1p-53, root = sqrt(2.0), eta = 2.0 * u, delta = u * fabs(angle);
    return delta + root * eta + (1.0 + root * eta) * (u + root * u * (1.0 + u));
}

/* LAYER-14: rotated to one angle and moved by another, against rotated to their sum; for a pair of
 * length 1. */
static inline double moved_loss(double angle, double by, double sum) {
    return (1.0 + rotation_loss(angle)) * (1.0 + rotation_loss(by)) - 1.0 + rotation_loss(sum);
}

#endif
