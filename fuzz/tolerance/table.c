/* SPDX-License-Identifier: Apache-2.0 */
/* Writes two tables to build/tolerance: how tight the bound is, by family and context length
 * (tightness.csv); and how often the bound, and other projects' acceptance rules, are wrong about
 * right and wrong kernels (rules.csv). plot.py makes the Markdown and the picture of them.
 *
 *     table        CHUNKPROOF_LONGEST keys at most (131072), CHUNKPROOF_SEED (1)
 *
 * Exit status: 0, or 1 where a right kernel exceeds its bound. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz/tolerance/kinds.h"
#include "fuzz/tolerance/rules.h"
#include "fuzz/tolerance/setting.h"

#define DIM        64
#define LONG       16384 /* from here on some kinds of kernels only, and one row each */
#define N_LENGTHS  7
#define N_MEASURED 3

static const int lengths[N_LENGTHS] = {128, 512, 2048, 8192, 16384, 32768, 131072};
static const int measured[N_MEASURED] = {128, 2048, 16384}; /* in the comparison of rules */
static const int some_kinds[] = {0, 1, 4, 7, 12, 13};
#define N_SOME (int)(sizeof some_kinds / sizeof some_kinds[0])

static struct judgement judgement;
static int exceeded;

static FILE *create(const char *path) {
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

/* ---- How tight ---- */

struct tightness {
    long long elements, unclaimed;
    double worst, worst_single; /* of all kernels; of those that write binary32 */
    int kind;                   /* that is worst */
};

static void measure(struct problem *p, enum family family, int kind, unsigned long long *random,
                    struct tightness *t) {
    struct options o = kind_options(kind);
    problem_fill(p, family, &o, random);
    judge(&o, &o, p, 0, &judgement);
    t->elements += judgement.claimed;
    t->unclaimed += p->d - judgement.claimed;
    exceeded += judgement.violated > 0;
    if (o.output == CP_FP32) {
        t->worst_single = fmax(t->worst_single, judgement.worst);
    }
    if (judgement.worst > t->worst) {
        t->worst = judgement.worst;
        t->kind = kind;
    }
}

static struct tightness tightness_of(struct problem *p, enum family family, int length,
                                     unsigned long long *random) {
    struct tightness t = {0, 0, 0.0, 0.0, 0};
    int n_kinds = length < LONG ? N_KINDS : N_SOME;
    int rows = length < 512 ? 8 : length < 2048 ? 4 : 1;
    p->n = length;
    p->d = DIM;
    for (int i = 0; i < n_kinds * rows; i++) {
        measure(p, family, length < LONG ? i % N_KINDS : some_kinds[i % N_SOME], random, &t);
    }
    return t;
}

static void write_tightness(struct problem *p, int longest, unsigned long long *random) {
    FILE *csv = create("build/tolerance/tightness.csv");
    double largest = 0.0;
    fprintf(csv, "family,length,elements,unclaimed,largest,largest_fp32_output,kernel\n");
    for (int i = 0; i < N_LENGTHS && lengths[i] <= longest; i++) {
        fprintf(stderr, "tightness, %d keys\n", lengths[i]);
        for (int family = 0; family < N_FAMILIES; family++) {
            struct tightness t = tightness_of(p, (enum family)family, lengths[i], random);
            fprintf(csv, "%s,%d,%lld,%lld,%.6f,%.6f,\"%s\"\n", family_name((enum family)family),
                    lengths[i], t.elements, t.unclaimed, t.worst, t.worst_single,
                    kind_name(t.kind));
            largest = fmax(largest, t.worst);
        }
    }
    (void)fclose(csv);
    printf("largest error / bound %.4f\n", largest);
}

/* ---- Rules compared ---- */

/* A rule tells a wrong kernel from the right one on an input when it rejects the wrong one and
 * accepts the right one. A rule that rejects both tells nothing. */
struct score {
    int right, alarms;  /* right kernels; rejected ones */
    int wrong, told;    /* wrong kernels on one input; told from the right one */
    int faults, caught; /* wrong kernels; told from the right one on some input of those tried */
};

static int same_result(const struct judgement *a, const struct judgement *b, int d) {
    int same = 1;
    for (int x = 0; x < d; x++) {
        same &= a->out[x] == b->out[x];
    }
    return same;
}

/* Runs one kernel on inputs of these families: right, then with each fault. */
static void compare(struct problem *p, int kind, int n_families, unsigned long long *random,
                    struct score scores[N_RULES]) {
    static struct judgement right;
    static char caught[N_WRONG][N_RULES], shown[N_WRONG], alarm[N_RULES];
    struct options o = kind_options(kind);
    for (int wrong = RIGHT; wrong < N_WRONG; wrong++) {
        shown[wrong] = 0;
        for (int rule = 0; rule < N_RULES; rule++) {
            caught[wrong][rule] = 0;
        }
    }
    for (int family = 0; family < n_families; family++) {
        double plain = 0.0;
        problem_fill(p, (enum family)family, &o, random);
        for (int wrong = RIGHT; wrong < N_WRONG; wrong++) {
            o.wrong = (enum wrong)wrong;
            struct options declared = o;
            declared.wrong = RIGHT;
            judge(&o, &declared, p, 0, &judgement);
            if (judgement.no_execution) { /* the right kernel is out of range here */
                break;
            }
            if (wrong == RIGHT) {
                right = judgement;
                exceeded += judgement.violated > 0;
            } else if (same_result(&judgement, &right, p->d)) { /* the fault does nothing here */
                continue;
            }
            if (wrong == RIGHT) {
                plain = rules_plain_error(p, o.input, judgement.expected);
            }
            shown[wrong] = 1;
            for (int rule = 0; rule < N_RULES; rule++) {
                int rejected = !rules_accept((enum rule)rule, &judgement, p->d, plain);
                if (wrong == RIGHT) {
                    scores[rule].right++;
                    scores[rule].alarms += rejected;
                    alarm[rule] = (char)rejected;
                    continue;
                }
                int told = rejected && !alarm[rule];
                scores[rule].wrong++;
                scores[rule].told += told;
                caught[wrong][rule] = (char)(caught[wrong][rule] || told);
            }
        }
        o.wrong = RIGHT;
    }
    for (int rule = 0; rule < N_RULES; rule++) {
        for (int wrong = RIGHT + 1; wrong < N_WRONG; wrong++) {
            scores[rule].faults += shown[wrong];
            scores[rule].caught += caught[wrong][rule];
        }
    }
}

static void add_scores(struct score *sums, const struct score *scores) {
    for (int rule = 0; rule < N_RULES; rule++) {
        sums[rule].right += scores[rule].right;
        sums[rule].alarms += scores[rule].alarms;
        sums[rule].wrong += scores[rule].wrong;
        sums[rule].told += scores[rule].told;
        sums[rule].faults += scores[rule].faults;
        sums[rule].caught += scores[rule].caught;
    }
}

static void write_scores(FILE *csv, int length, const char *inputs, const char *kernel,
                         const struct score *scores) {
    for (int rule = 0; rule < N_RULES; rule++) {
        const struct score *s = &scores[rule];
        fprintf(csv, "\"%s\",%d,%s,\"%s\",%d,%d,%d,%d,%d,%d\n", rule_name((enum rule)rule), length,
                inputs, kernel, s->right, s->alarms, s->wrong, s->told, s->faults, s->caught);
    }
}

static void write_rules(struct problem *p, int longest, unsigned long long *random) {
    FILE *csv = create("build/tolerance/rules.csv");
    fprintf(csv, "rule,length,inputs,kernel,right,false_alarms,wrong,told,faults,caught\n");
    for (int i = 0; i < N_MEASURED && measured[i] <= longest; i++) {
        struct score normal[N_RULES] = {{0}}, all[N_RULES] = {{0}};
        fprintf(stderr, "rules, %d keys\n", measured[i]);
        p->n = measured[i] - 17; /* the last chunk is short */
        p->d = DIM;
        for (int kind = 0; kind < N_KINDS; kind++) {
            if (measured[i] < LONG || kind == 12 || kind == 13) {
                struct score one[N_RULES] = {{0}};
                compare(p, kind, 1, random, normal);
                compare(p, kind, N_FAMILIES, random, one);
                write_scores(csv, measured[i], "all families", kind_name(kind), one);
                add_scores(all, one);
            }
        }
        write_scores(csv, measured[i], "normal", "all", normal);
        write_scores(csv, measured[i], "all families", "all", all);
    }
    (void)fclose(csv);
}

int main(void) {
    int longest = (int)setting("CHUNKPROOF_LONGEST", lengths[N_LENGTHS - 1]);
    unsigned long long random = (unsigned long long)setting("CHUNKPROOF_SEED", 1);
    struct problem p;
    (void)mkdir("build", 0777);
    (void)mkdir("build/tolerance", 0777);
    problem_new(&p, longest, DIM);
    write_tightness(&p, longest, &random);
    write_rules(&p, longest, &random);
    problem_free(&p);
    printf("rows beyond their bound %d\n", exceeded);
    return exceeded > 0;
}
