/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of merging share: a kernel's declaration as the numbers of NUM-7 and NUM-8. */
#ifndef CHUNKPROOF_REF_MERGING_INTERNAL_H
#define CHUNKPROOF_REF_MERGING_INTERNAL_H

#include "chunkproof/merging.h"
#include "tolerance_internal.h"

#define LN_2 0x1.62e42fefa39efp-1 /* ln 2, within 2^-54 of it */

/* What the numbers of a class depend on, beside the declaration. */
struct cp_merging_extent {
    int n_parts, base;
    double top;                 /* magnitude of the largest l_i, in nats */
    double size;                /* the largest magnitude of an l_i, in nats */
    double value;               /* the largest magnitude of an output */
    double least_sum, most_sum; /* of parts that are given by sums; else 0 */
};

/* The class as NUM-7 has it, its counts, and how far the written l may be from m + ln n, in
 * nats. */
struct cp_merging_numbers {
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    double lse_error;
};

/* The formats of a class. */
struct cp_merging_formats {
    struct cp_format n, values, weights, partials, lse;
    int is_narrow; /* products with o_i are rounded to less than n is, and so is o_i */
};

#ifdef __FRAMAC__
#include "proofs/logic/merging_class.h"
#endif

/* 1 if the class is in its range, else 0. */
/*@
  requires valid: \valid_read(declared);
  assigns \nothing;
  ensures merging_8: \result != 0 ==> declared_ok(*declared);
*/
int cp_merging_class_ok(const struct cp_merging_class *declared);

/* MERGING-5, MERGING-6. */
/*@
  requires valid: \valid_read(declared);
  requires ok: declared_ok(*declared) && extent_ok(extent);
  assigns \nothing;
  ensures num_7_ok: arithmetic_ok(\result.arithmetic);
  ensures num_8_ok: counts_ok(\result.counts);
  ensures merging_7: 0.0 <= \result.lse_error;
*/
struct cp_merging_numbers cp_merging_numbers(const struct cp_merging_class *declared,
                                             struct cp_merging_extent extent);

#endif
