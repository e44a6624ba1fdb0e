/* SPDX-License-Identifier: Apache-2.0 */
/* What came of a case: a verdict, and of what is wrong where it is wrong first. */
#ifndef CHUNKPROOF_GATE_JUDGE_FINDING_H
#define CHUNKPROOF_GATE_JUDGE_FINDING_H

enum gate_verdict {
    GATE_RIGHT,
    GATE_WRONG,         /* outside of the certified tolerance */
    GATE_DEPENDS,       /* the same, and right for that sequence without the others */
    GATE_NOT_A_NUMBER,  /* a NaN */
    GATE_UNWRITTEN,     /* an element of out or lse was left as it was */
    GATE_WROTE_BETWEEN, /* elements of out that are no result's */
    GATE_OTHER_BITS,    /* not the same result for the same call */
    GATE_REMEMBERS,     /* ... when others came in between */
    GATE_FAILED,        /* attend() says so */
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
    char clause[16];        /* what it breaks, "" for none */
    int row, head, element; /* the first that is wrong; -1 where that has no meaning */
    double got, expected, bound;
    long long wrong, compared,
        unclaimed;  /* elements; of the last nothing can be claimed (NUM-12) */
    double largest; /* error / bound, of all that were compared; infinite for a NaN */
    int keys;       /* that its row sees */
    char text[1280];
};

/* Notes which clause is broken. */
void gate_finding_breaks(struct gate_finding *finding, const char *clause);

/* GATE_RIGHT, with nothing compared. */
extern const struct gate_finding gate_no_finding;

/* Too few for a verdict (GATE-1). */
int gate_claims_few(long long compared, long long unclaimed);

#endif
