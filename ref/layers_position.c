/* SPDX-License-Identifier: Apache-2.0 */
/* LAYER-5 and LAYER-6: positions in rotations of queries and keys, and in a bias of scores. */
#include <math.h>

#include "chunkproof/layers.h"

#ifdef __FRAMAC__
#include "proofs/logic/layers_pairs.h"
#endif

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

/*@
  requires valid: \valid(x + p) && \valid(x + q) && p != q;
  assigns x[p], x[q];
  ensures dec_8: numbers_rotated{Old,Here}(x, p, q, cosine, sine);
*/
static void rotate_pair(double *x, int p, int q, double cosine, double sine) {
    double a = x[p], b = x[q];
    x[p] = cosine * a - sine * b;
    x[q] = sine * a + cosine * b;
}

/* Four pairs with distance 2:   x[0] x[1] x[2] x[3] | x[4] x[5] x[6] x[7]
 *                               pair 0    1    0    1      2    3    2    3 */
void cp_rotate(double *x, const double *cosine, const double *sine, int n, int distance) {
    /*@ loop invariant i: 0 <= i <= n;
        loop invariant angles: rotation_apart(x, cosine, sine, n) ==>
          numbers_same{Pre,Here}(cosine, n) && numbers_same{Pre,Here}(sine, n);
        loop invariant done: rotation_apart(x, cosine, sine, n) ==>
          \forall integer j; 0 <= j < i ==>
            pair_rotated{Pre,Here}(x, cosine, sine, j, distance);
        loop invariant rest: \forall integer j; i <= j < n ==>
          pair_same{Pre,Here}(x, j, distance);
        loop assigns i, x[0 .. 2 * n - 1]; loop variant n - i; */
    for (int i = 0; i < n; i++) {
        //@ ghost pair_is_apart(i, n, distance);
        int p = i + i / distance * distance;
        //@ assert before: pair_same{Pre,Here}(x, i, distance) && p == pair_begin(i, distance);
        rotate_pair(x, p, p + distance, cosine[i], sine[i]);
        /*@ assert still: \forall integer j; 0 <= j < i ==>
              pair_same{LoopCurrent,Here}(x, j, distance); */
        /*@ assert others: rotation_apart(x, cosine, sine, n) ==>
              \forall integer j; 0 <= j < i ==>
                pair_rotated{Pre,Here}(x, cosine, sine, j, distance); */
        /*@ assert rotated: rotation_apart(x, cosine, sine, n) ==>
              pair_rotated{Pre,Here}(x, cosine, sine, i, distance); */
    }
}

/* The slopes of 3 heads, m = 2: 2^-4 and 2^-8, then the first of 4 heads, 2^-2. */
double cp_alibi_slope(int head, int n_heads) {
    int m = 1; /* the largest power of two that is not above n_heads */
    /*@ loop invariant m: 1 <= m <= n_heads;
        loop invariant power: is_power_of_two(m);
        loop assigns m; loop variant n_heads - m; */
    while (m <= n_heads / 2) {
        m *= 2;
    }
    //@ assert largest: largest_power_of_two(m, n_heads);
    double exponent = head < m ? 8.0 * (head + 1) / m : 4.0 * (2.0 * (head - m) + 1.0) / m;
    return pow(2.0, -exponent);
}
