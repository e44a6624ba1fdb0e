/* SPDX-License-Identifier: Apache-2.0 */
/* LAYER-5 and LAYER-6: positions in rotations of queries and keys, and in a bias of scores. */
#include <math.h>

#include "chunkproof/layers.h"

void cp_rotary_frequencies(double *frequency, int n, double base, double factor) {
    /*@ loop invariant i: 0 <= i <= n;
        loop invariant done: \forall integer j; 0 <= j < i ==>
          frequency[j] == power_of(base, -j / (real)n) / factor;
        loop assigns i, frequency[0 .. n - 1]; loop variant n - i; */
    for (int i = 0; i < n; i++) {
        frequency[i] = pow(base, -(double)i / n) / factor;
    }
}

void cp_rotation(double *cosine, double *sine, const double *frequency, int n, int position) {
    /*@ loop invariant i: 0 <= i <= n;
        loop invariant done: \separated(cosine + (0 .. n - 1), sine + (0 .. n - 1)) &&
          \separated(frequency + (0 .. n - 1), cosine + (0 .. n - 1)) &&
          \separated(frequency + (0 .. n - 1), sine + (0 .. n - 1)) ==>
            \forall integer j; 0 <= j < i ==> cosine[j] == cos_of(position * frequency[j]) &&
              sine[j] == sin_of(position * frequency[j]);
        loop assigns i, cosine[0 .. n - 1], sine[0 .. n - 1]; loop variant n - i; */
    for (int i = 0; i < n; i++) {
        double angle = position * frequency[i];
        cosine[i] = cos(angle);
        sine[i] = sin(angle);
    }
}

/* Four pairs with distance 2:   x[0] x[1] x[2] x[3] | x[4] x[5] x[6] x[7]
 *                               pair 0    1    0    1      2    3    2    3 */
void cp_rotate(double *x, const double *cosine, const double *sine, int n, int distance) {
    /*@ loop invariant i: 0 <= i <= n;
        loop assigns i, x[0 .. 2 * n - 1]; loop variant n - i; */
    for (int i = 0; i < n; i++) {
        //@ assert floor: 0 <= row_at(i / distance, distance) <= i;
        //@ assert all: row_at(n / distance, distance) == n;
        //@ assert below: i / distance + 1 <= n / distance;
        //@ assert group: row_at(i / distance, distance) + distance <= n;
        //@ assert begin: pair_begin(i, distance) == i + row_at(i / distance, distance);
        //@ assert pair: 0 <= pair_begin(i, distance) && pair_begin(i, distance) + distance < 2 * n;
        int p = i + i / distance * distance;
        double a = x[p], b = x[p + distance];
        x[p] = cosine[i] * a - sine[i] * b;
        x[p + distance] = sine[i] * a + cosine[i] * b;
    }
}

/* The slopes of 3 heads, m = 2: 2^-4 and 2^-8, then the first of 4 heads, 2^-2. */
double cp_alibi_slope(int head, int n_heads) {
    int m = 1; /* the largest power of two that is not above n_heads */
    /*@ loop invariant m: 1 <= m <= n_heads;
        loop assigns m; loop variant n_heads - m; */
    while (m <= n_heads / 2) {
        m *= 2;
    }
    double exponent = head < m ? 8.0 * (head + 1) / m : 4.0 * (2.0 * (head - m) + 1.0) / m;
    return pow(2.0, -exponent);
}
