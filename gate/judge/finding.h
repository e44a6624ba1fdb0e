/* SPDX-License-Identifier: Apache-2.0 */
/* What came of a case: its verdict and, where it is not right, the first place that is wrong. */
#ifndef CHUNKPROOF_GATE_JUDGE_FINDING_H
#define CHUNKPROOF_GATE_JUDGE_FINDING_H

enum gate_verdict {
    GATE_RIGHT,         /* nothing is wrong */
    GATE_WRONG,         /* a number is outside its certified tolerance */
    GATE_DEPENDS,       /* the same, but the sequence is right when it runs alone */
    GATE_NOT_A_NUMBER,  /* a number is a NaN */
    GATE_UNWRITTEN,     /* an element of out or lse keeps its old value */
    GATE_WROTE_BETWEEN, /* the kernel wrote to a gap between rows of out or lse */
    GATE_OTHER_BITS,    /* two runs of a call, one after the other, gave different bits */
    GATE_REMEMBERS,     /* the kernel is right at first, and wrong after other calls */
    GATE_FAILED,        /* attend() returned a number other than 0 */
    GATE_OUT_OF_BOUNDS, /* the kernel read or wrote outside its arrays */
    GATE_WROTE_INPUT,   /* the kernel wrote to an input */
    GATE_WROTE_LATE,    /* a result or the workspace changed after attend() had returned */
    GATE_CRASHED,       /* a signal ended the kernel's process */
    GATE_EXITED,        /* the kernel ended its process */
    GATE_HANGS,         /* the call ran past its time limit */
    GATE_RACES,         /* on a device: threads that nothing orders touched the same bytes */
    GATE_UNDEFINED,     /* on a device: the kernel did what CUDA leaves undefined */
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
    /* Right numbers that are more than GATE_UNUSUAL times their usual error (NUM-13) away, the
     * largest error / usual error, and where that is. */
    long long unusual;
    double most_unusual;
    int unusual_row, unusual_head, unusual_element;
    int keys; /* how many keys the row of the first wrong place sees */
    char text[1280];
};

/* Does the verdict say that numbers are wrong, and nothing else? GATE_OTHER_BITS does not: its
 * numbers may all be within their tolerances. */
int gate_is_of_numbers(enum gate_verdict verdict);

/* Notes which clause is broken. */
void gate_finding_breaks(struct gate_finding *finding, const char *clause);

/* GATE_RIGHT, with nothing compared. */
extern const struct gate_finding gate_no_finding;

/* Are so many numbers unclaimed that there is no verdict (GATE-1)? */
int gate_claims_few(long long compared, long long unclaimed);

#endif
