/* SPDX-License-Identifier: Apache-2.0 */
/* cp_opt_attend() on a random problem (attend_case.h), and the verdict on its results by the
 * certified tolerance. */
#ifndef CHUNKPROOF_TESTS_OPT_CASE_H
#define CHUNKPROOF_TESTS_OPT_CASE_H

#include "attend_case.h"
#include "chunkproof/opt.h"

/* The versions that this machine can run, from CP_OPT_PORTABLE on. Where it has AVX-512 and no AMX,
 * AMX is emulated (amx_emulator.h). */
int opt_case_version(int i); /* the i-th; 0: there are no more */

/* Results in memory of their own. */
struct opt_results {
    void *out;   /* case_out_bytes() */
    double *lse; /* case_lse_bytes() */
};

/* Fills all results with 0xFF, runs, and checks that nothing after the workspace was written.
 * Returns the status, or -1. Each call has a new workspace, `shift` doubles after a multiple of 64
 * bytes, and variant 0 or 1, as shift is even or odd. */
int opt_case_run(struct cp_opt *opt, struct attend_case *c, int shift);

/* How many numbers are not within the tolerance of CP_OPT_ARITHMETIC; prints the first. *largest
 * becomes the largest error / bound, if that is more than it was. Compares about `most` pairs of a
 * row and a head. */
int opt_case_wrong(const struct attend_case *c, int most, double *largest);

/* Copies of the results of the case. */
struct opt_results opt_results_of(const struct attend_case *c);
void opt_results_free(struct opt_results *results);

/* 1 when the results of the case are these, bit for bit. */
int opt_results_same(const struct attend_case *c, const struct opt_results *results);

#endif
