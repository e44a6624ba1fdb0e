/* SPDX-License-Identifier: Apache-2.0 */
/* The constants of e^x, x <= 0: x = n ln 2 + r with |r| <= ln 2 / 2 and a whole n, e^x = 2^n (1 + r
 * + r^2 P(r)).
 *
 * P has degree 4 and goes through (e^r - 1 - r) / r^2 at Chebyshev's nodes; its coefficients are
 * rounded to binary32. Its error is below 2^-27 of e^x, less than the roundings. ln 2 is two
 * numbers. The first has 16 bits, so that its product with n is exact. tests/test_opt_exp.c
 * computes every binary32 number from -104 to 0. */
#ifndef CHUNKPROOF_OPT_EXPONENTIAL_H
#define CHUNKPROOF_OPT_EXPONENTIAL_H

#define EXP_LOWEST  (-104.0F) /* there it is 0, rounded to nearest: below 2^-150 */
#define EXP_LOG2_E  0x1.715476p0F
#define EXP_ROUNDER 0x1.8p23F /* added to a number below 2^22, it leaves a whole number */
#define EXP_LN_2    0x1.62e4p-1F
#define EXP_LN_2_LO 0x1.7f7d1cp-20F
#define EXP_C2      0.5F
#define EXP_C3      0x1.5554dcp-3F
#define EXP_C4      0x1.55551ap-5F
#define EXP_C5      0x1.120b6cp-7F
#define EXP_C6      0x1.6d1106p-10F

#endif
