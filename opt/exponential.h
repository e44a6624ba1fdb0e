/* SPDX-License-Identifier: Apache-2.0 */
/* The constants of e^x, x <= 0: x = n ln 2 + r with |r| <= ln 2 / 2 and a whole n, e^x = 2^n (1 + r
 * + r^2 P(r)). tanh is made of them, too.
 *
 * P has degree 4 and goes through (e^r - 1 - r) / r^2 at Chebyshev's nodes; its coefficients are
 * rounded to binary32. Its error is below 2^-27 of e^x, less than the roundings. ln 2 is two
 * numbers. The first has 16 bits, so that its product with n is exact. tests/test_opt_exp.c
 * computes every binary32 number from -104 to 0.
 *
 * tanh x, of |x| first:
 *
 *     p = e^r - 1 = r + r^2 P(r)    -2 |x| = n ln 2 + r
 *     m = e^(-2 |x|) - 1 = 2^n p + (2^n - 1)
 *     tanh |x| = -m / (2 + m)
 *
 * Nothing cancels near 0, where n = 0, m = p and 2 + m is near 2: one way for all numbers. Relative
 * errors, with u = 2^-24 and |r| <= 0.347:
 *
 *     P    2.1 u of its error, 1.3 u of its sum; with r^2 and their product 5.4 u. r^2 P is at most
 *          0.19 of p
 *     r    u, but exact for n = 0; 1.2 u of p
 *     p    1.0 u of r^2 P, 1.2 u of r, u of the sum: 3.2 u, or 2 u for n = 0
 *     m    for n = 0 that of p, 2 u. For n = -1 |m| >= 0.293, and |p / 2| <= 0.207 has the error
 *          3.2 u: 2.3 u, and u of the sum, 3.3 u. For n <= -2 no more than 1.5 u
 *     -m / (2 + m)    2 / (2 + m) of m's, u of 2 + m, u of the quotient. 2 / (2 + m) is 1.17 for
 *          m = -0.293, and 2 at most
 *
 * So tanh is within 1.17 * 3.3 u + 2 u = 5.9 u, for 2 |x| just above ln 2 / 2, where it is worst.
 * tests/test_opt_tanh.c finds 3.22 u among all numbers, for 2 |x| = 0.29, and CP_OPT_TANH_ERROR is
 * 3.375 u. Below 2^-26 tanh x is x, from 9.25 on it is 1. */
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
