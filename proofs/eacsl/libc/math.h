/* SPDX-License-Identifier: Apache-2.0 */
/* What ref/ and the tests use of <math.h>: Frama-C cannot read the system's. */
#ifndef CHUNKPROOF_PROOFS_EACSL_MATH_H
#define CHUNKPROOF_PROOFS_EACSL_MATH_H

double acos(double x);
double cos(double x);
double erfc(double x);
double exp(double x);
double exp2(double x);
double expm1(double x);
double fabs(double x);
double fmax(double x, double y);
double fmin(double x, double y);
double frexp(double x, int *exponent);
double hypot(double x, double y);
double ldexp(double x, int exponent);
double log(double x);
double log1p(double x);
double nearbyint(double x);
double pow(double x, double y);
double sin(double x);
double sqrt(double x);
double tanh(double x);

long double acosl(long double x);
long double cosl(long double x);
long double erfcl(long double x);
long double exp2l(long double x);
long double expl(long double x);
long double fabsl(long double x);
long double sinl(long double x);
long double sqrtl(long double x);

#define INFINITY    __builtin_inf()
#define NAN         __builtin_nan("")
#define isnan(x)    ((x) != (x))
#define isfinite(x) ((x) - (x) == 0.0)

#endif
