/* SPDX-License-Identifier: Apache-2.0 */
/* What ref/ and the tests use of <math.h>: Frama-C cannot read the system's. */
#ifndef CHUNKPROOF_PROOFS_EACSL_MATH_H
#define CHUNKPROOF_PROOFS_EACSL_MATH_H

double exp(double x);
double expm1(double x);
double log(double x);
double log1p(double x);
double fabs(double x);
double fmax(double x, double y);
double fmin(double x, double y);
double frexp(double x, int *exponent);
double ldexp(double x, int exponent);
double nearbyint(double x);
double sqrt(double x);

#define INFINITY    __builtin_inf()
#define NAN         __builtin_nan("")
#define isnan(x)    ((x) != (x))
#define isfinite(x) ((x) - (x) == 0.0)

#endif
