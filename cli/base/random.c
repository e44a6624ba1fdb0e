/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/base/random.h"

/* The binary logarithm digit by digit: squaring doubles the logarithm, and whether the square
 * passes 2 is its next digit. With y = 1.f in 31 bits, each squaring loses less than 2^-31, so that
 * 24 digits are off by less than one unit; cutting them off and the product with ln 2 cost one
 * each. */
unsigned long long prng_minus_log(unsigned long long x) {
    unsigned long long halvings = 1; /* x / 2^64 = 2^-halvings * y, 1 <= y < 2 */
    while (!(x >> 63)) {
        x <<= 1;
        halvings++;
    }
    unsigned long long y = x >> 32;
    unsigned long long log2_y = 0;
    for (int digit = 0; digit < 24; digit++) {
        y = (y * y) >> 31;
        log2_y <<= 1;
        if (y >> 32) {
            log2_y |= 1;
            y >>= 1;
        }
    }
    return (((halvings << 24) - log2_y) * 744261118ULL) >> 30; /* ln 2 = 744261118 / 2^30 */
}

long long prng_exponential(struct prng *random, long long mean) {
    unsigned long long x = prng_next(random);
    unsigned long long scaled = prng_minus_log(x == 0 ? 1 : x); /* at most 45 * 2^24 */
    return (long long)((scaled * (unsigned long long)mean) >> 24);
}
