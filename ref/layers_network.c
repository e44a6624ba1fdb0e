/* SPDX-License-Identifier: Apache-2.0 */
/* LAYER-8 and LAYER-9: what the feed-forward network applies to each number. */
#include <math.h>

#include "chunkproof/layers.h"

#define ROOT_OF_HALF         0.70710678118654752440 /* sqrt(1 / 2) */
#define ROOT_OF_TWO_BY_PI    0.79788456080286535588 /* sqrt(2 / pi) */
#define CUBE_OF_GELU_BY_TANH 0.044715

/* x times 1 / (1 + exp(-u)), which is (1 + tanh(u / 2)) / 2. Nothing cancels where u is far below
 * 0, and exp(-u) may overflow: the quotient is then 0. */
/*@
  assigns \nothing;
  ensures gated: \result * (1.0 + e(-u)) == x;
*/
static double gated(double x, double u) {
    return x / (1.0 + exp(-u));
}

double cp_silu(double x) {
    return gated(x, x);
}

double cp_gelu_tanh(double x) {
    return gated(x, 2.0 * ROOT_OF_TWO_BY_PI * (x + CUBE_OF_GELU_BY_TANH * x * x * x));
}

/* erfc(-x) is 1 + erf(x), without its cancellation. */
double cp_gelu_erf(double x) {
    return 0.5 * x * erfc(-x * ROOT_OF_HALF);
}
