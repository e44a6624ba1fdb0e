/* SPDX-License-Identifier: Apache-2.0 */
/* What came of a case: its verdict and, where it is not right, the first place that is wrong. */
#ifndef CHUNKPROOF_GATE_JUDGE_FINDING_H
#define CHUNKPROOF_GATE_JUDGE_FINDING_H

enum gate_verdict {
    GATE_RIGHT,
    GATE_WRONG,         /* a number outside its certified tolerance */
    GATE_DEPENDS,       /* the same, but right when the sequence runs alone */
    GATE_NOT_A_NUMBER,  /* a NaN */
    GATE_UNWRITTEN,     /* an element of out or lse keeps its old value */
    GATE_WROTE_BETWEEN, /* the kernel wrote to gaps of out */
    GATE_OTHER_BITS,    /* the same call gave other bits */
    GATE_REMEMBERS,     /* ... after other calls in between */
    GATE_FAILED,        /* attend() returned a number other than 0 */
    GATE_OUT_OF_BOUNDS,
    GATE_WROTE_INPUT,
    GATE_WROTE_LATE,
    GATE_CRASHED,
    GATE_EXITED,
    GATE_HANGS,
    GATE_RACES,     /* on a device: threads that nothing orders */
    GATE_UNDEFINED, /* on a device: what CUDA does not define */
    GATE_VERDICTS
};

extern const char *const gate_verdict_names[GATE_VERDICTS];

struct gate_finding {
    enum gate_verdict verdict;
    char clause[16];        /* the clause that is broken; "": none */
    int row, head, element; /* the first wrong place; -1 where that has no meaning */
    double got, expected, bound;
    /* Numbers: those that are wrong, those that were compared, and those without a finite bound
     * (NUM-12). */
    long long wrong, compared, unclaimed;
    /* The largest error / bound of the numbers compared; infinite for a NaN. */
    double largest;
    int keys; /* how many keys the row of the first wrong place sees */
    char text[1280];
};

/* Notes which clause is broken. */
void gate_finding_breaks(struct gate_finding *finding, const char *clause);

/* GATE_RIGHT, with nothing compared. */
extern const struct gate_finding gate_no_finding;

/* Are so many numbers unclaimed that there is no verdict (GATE-1)? */
int gate_claims_few(long long compared, long long unclaimed);

#endif
