/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* fork, getopt_long, mmap */
/* Random kernels of every class, on inputs of every family: none may write a number beyond its
 * bound.
 *
 *     check [-j PROCESSES]       CHUNKPROOF_ELEMENTS numbers (1000000), CHUNKPROOF_SEED (1)
 *     check --replay SEED        one case, in words
 *     check --self-test          wrong kernels, and classes declared too strict, must be noticed
 *
 * A violation is printed with what replays it, and kept in build/tolerance/violations.txt. Exit
 * status: 0 no violation, 1 a violation (or the self-test missed something), 2 bad use, 130
 * interrupted (what was found is printed). */
#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz/tolerance/declared.h"
#include "fuzz/tolerance/self_test.h"
#include "fuzz/tolerance/setting.h"
#include "tests/random.h"

#define MOST_PROCESSES 64
#define VIOLATIONS     "build/tolerance/violations.txt"
#define MOST_PRINTED   10   /* of one process */
#define EXACTLY_EACH   1000 /* rows */

/* What one process has done so far; the parent reads it at any time. */
struct tally {
    long long elements, rows, unclaimed, no_execution, exact_rows, violations;
    long long declared_rows;  /* also judged as the gate would */
    double worst_declared;    /* largest error / bound of these */
    double worst[N_FAMILIES]; /* largest error / bound */
    /* The same of binary32 outputs, where the rounding of the output plays no part. */
    double worst_single[N_FAMILIES];
    unsigned long long worst_seed[N_FAMILIES];
    double worst_lse;
};

static volatile sig_atomic_t stop;
static const char *program;

static void on_signal(int signum) {
    (void)signum;
    stop = 1;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- A violation, in words ---- */

static void print_case(FILE *file, unsigned long long seed, const struct options *options,
                       enum family family, const struct problem *p, const struct judgement *j) {
    char text[1024];
    int x = j->worst_element;
    options_print(options, text, sizeof text);
    fprintf(file, "seed %llu: %s, %d keys, d %d: %d of %d numbers beyond the bound, lse %s\n", seed,
            family_name(family), p->n, p->d, j->violated, j->claimed,
            j->lse_violated ? "too" : "not");
    fprintf(file, "  kernel: %s\n", text);
    if (x >= 0) {
        fprintf(file, "  element %d: written %.17g, expected %.17g, error %.6g, bound %.6g: %.4f\n",
                x, j->out[x], j->expected[x], fabs(j->out[x] - j->expected[x]), j->bound[x],
                j->worst);
    }
    fprintf(file, "  lse: written %.17g, expected %.17g, bound %.6g: %.4f\n", j->lse,
            j->expected_lse, j->lse_bound, j->worst_lse);
    fprintf(file, "  replay: %s --replay %llu\n", program, seed);
}

/* The looser class that would allow the violation: then the declared class is too strict. */
static void print_excuses(FILE *file, const struct options *options, const struct problem *p) {
    static struct judgement j;
    for (int i = 0; i < N_EXCUSES; i++) {
        struct options looser = *options;
        excuses[i].loosen(&looser);
        options_settle(&looser);
        judge(options, &looser, p, 0, &j);
        if (j.violated == 0 && !j.lse_violated) {
            fprintf(file, "  declared too strict? within the bound if %s\n", excuses[i].name);
        }
    }
}

/* excuses: of a judgement by class_of(). */
static void report(unsigned long long seed, const struct options *options, enum family family,
                   const struct problem *p, const struct judgement *j, int with_excuses,
                   int print) {
    FILE *kept = fopen(VIOLATIONS, "a");
    FILE *files[] = {kept, print ? stderr : NULL};
    for (int i = 0; i < 2; i++) {
        if (files[i] != NULL) {
            print_case(files[i], seed, options, family, p, j);
            if (with_excuses) {
                print_excuses(files[i], options, p);
            } else {
                fprintf(files[i], "  as the gate takes its declaration (GATE-2)\n");
            }
        }
    }
    if (kept != NULL) {
        (void)fclose(kept);
    }
}

/* ---- The mass run ---- */

static unsigned long long case_seed(unsigned long long seed, long long number) {
    unsigned long long state = seed;
    state = random_bits(&state) + (unsigned long long)number;
    return random_bits(&state);
}

static void judge_declared(unsigned long long seed, const struct options *options,
                           enum family family, const struct problem *p,
                           const struct judgement *result, struct tally *tally) {
    static struct judgement j;
    if (!judge_as_the_gate(options, p, result, &j)) {
        return;
    }
    tally->declared_rows++;
    tally->worst_declared = fmax(tally->worst_declared, fmax(j.worst, j.worst_lse));
    if (j.violated > 0 || j.lse_violated) {
        tally->violations += j.violated + j.lse_violated;
        report(seed, options, family, p, &j, 0, tally->violations <= MOST_PRINTED);
    }
}

static void run_case(unsigned long long seed, struct problem *p, struct tally *tally) {
    static struct judgement j;
    struct options options;
    enum family family;
    mass_case(seed, &options, &family, p);
    int exactly = tally->rows % EXACTLY_EACH == 0;
    judge(&options, &options, p, exactly, &j);
    if (!exactly && j.worst > tally->worst[family]) { /* a record is also compared with the truth */
        exactly = 1;
        judge(&options, &options, p, exactly, &j);
    }
    tally->rows++;
    tally->exact_rows += exactly;
    tally->elements += j.claimed;
    tally->no_execution += j.no_execution ? p->d : 0;
    tally->unclaimed += j.no_execution ? 0 : p->d - j.claimed;
    tally->worst_lse = fmax(tally->worst_lse, j.worst_lse);
    if (j.worst > tally->worst[family]) {
        tally->worst[family] = j.worst;
        tally->worst_seed[family] = seed;
    }
    if (options.output == CP_FP32) {
        tally->worst_single[family] = fmax(tally->worst_single[family], j.worst);
    }
    if (j.violated > 0 || j.lse_violated) {
        tally->violations += j.violated + j.lse_violated;
        report(seed, &options, family, p, &j, 1, tally->violations <= MOST_PRINTED);
    }
    judge_declared(seed, &options, family, p, &j, tally);
}

static void work(unsigned long long seed, long long elements, int process, int processes,
                 struct tally *tally) {
    struct problem p;
    problem_new(&p, MASS_MOST_KEYS, MASS_MOST_DIM);
    for (long long i = process; tally->elements < elements / processes && !stop; i += processes) {
        run_case(case_seed(seed, i), &p, tally);
    }
    problem_free(&p);
}

static struct tally add_up(const struct tally *tallies, int n) {
    struct tally sum;
    memset(&sum, 0, sizeof sum);
    for (int i = 0; i < n; i++) {
        const struct tally *t = &tallies[i];
        sum.elements += t->elements;
        sum.rows += t->rows;
        sum.unclaimed += t->unclaimed;
        sum.no_execution += t->no_execution;
        sum.exact_rows += t->exact_rows;
        sum.violations += t->violations;
        sum.worst_lse = fmax(sum.worst_lse, t->worst_lse);
        sum.declared_rows += t->declared_rows;
        sum.worst_declared = fmax(sum.worst_declared, t->worst_declared);
        for (int family = 0; family < N_FAMILIES; family++) {
            sum.worst_single[family] = fmax(sum.worst_single[family], t->worst_single[family]);
            if (t->worst[family] > sum.worst[family]) {
                sum.worst[family] = t->worst[family];
                sum.worst_seed[family] = t->worst_seed[family];
            }
        }
    }
    return sum;
}

static double largest(const struct tally *t) {
    double worst = 0.0;
    for (int family = 0; family < N_FAMILIES; family++) {
        worst = fmax(worst, t->worst[family]);
    }
    return worst;
}

static void show_progress(const struct tally *sum, long long elements, double seconds) {
    static double last;
    if (!isatty(STDERR_FILENO) && seconds - last < 30.0) {
        return;
    }
    last = seconds;
    fprintf(
        stderr, "%s%lld of %lld elements, %.0f/s, largest error / bound %.4f, violations %lld%s",
        isatty(STDERR_FILENO) ? "\r" : "", sum->elements, elements, (double)sum->elements / seconds,
        largest(sum), sum->violations, isatty(STDERR_FILENO) ? "" : "\n");
}

static int summary(const struct tally *sum, double seconds) {
    printf("largest error / bound\n"
           "family           all  binary32 outputs  seed of the largest\n");
    for (int family = 0; family < N_FAMILIES; family++) {
        printf("%-12s %.5f           %.5f  %llu\n", family_name((enum family)family),
               sum->worst[family], sum->worst_single[family], sum->worst_seed[family]);
    }
    printf(
        "rows %lld, of which %lld also by MPFR; largest lse error / bound %.5f; %.0f elements/s\n",
        sum->rows, sum->exact_rows, sum->worst_lse, (double)sum->elements / seconds);
    printf("as the gate takes what kernel.h has words for: %lld rows, largest error / bound %.5f\n",
           sum->declared_rows, sum->worst_declared);
    printf("not counted: %lld numbers without a bound, %lld of kernels that overflowed binary16\n",
           sum->unclaimed, sum->no_execution);
    printf("elements %lld, largest %.5f, violations %lld\n", sum->elements, largest(sum),
           sum->violations);
    return stop ? 130 : sum->violations > 0 ? 1 : 0;
}

static void forget(pid_t *child, int n, pid_t ended) {
    for (int i = 0; i < n; i++) {
        child[i] = child[i] == ended ? 0 : child[i];
    }
}

static int mass_run(unsigned long long seed, long long elements, int processes) {
    pid_t child[MOST_PROCESSES];
    double began = now();
    int left = processes, broken = 0;
    struct tally *tallies = mmap(NULL, MOST_PROCESSES * sizeof *tallies, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tallies == MAP_FAILED) {
        perror("check: mmap");
        return 2;
    }
    for (int i = 0; i < processes; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            work(seed, elements, i, processes, &tallies[i]);
            _exit(0);
        }
        if (child[i] < 0) {
            perror("check: fork");
            return 2;
        }
    }
    while (left > 0) {
        int status;
        pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended > 0) {
            left--;
            forget(child, processes, ended);
            broken |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
            continue;
        }
        struct timespec pause = {0, 200000000};
        nanosleep(&pause, NULL);
        for (int i = 0; i < processes && stop; i++) {
            if (child[i] > 0) {
                kill(child[i], SIGINT);
            }
        }
        struct tally sum = add_up(tallies, processes);
        show_progress(&sum, elements, now() - began);
    }
    struct tally sum = add_up(tallies, processes);
    int status = summary(&sum, now() - began);
    if (broken) {
        fprintf(stderr, "check: a process died\n");
        return 1;
    }
    return status;
}

static int replay(unsigned long long seed) {
    static struct judgement j, declared;
    struct problem p;
    struct options options;
    enum family family;
    problem_new(&p, MASS_MOST_KEYS, MASS_MOST_DIM);
    mass_case(seed, &options, &family, &p);
    judge(&options, &options, &p, 1, &j);
    print_case(stdout, seed, &options, family, &p, &j);
    int violated = j.violated > 0 || j.lse_violated;
    if (violated) {
        print_excuses(stdout, &options, &p);
    }
    if (judge_as_the_gate(&options, &p, &j, &declared)) {
        print_case(stdout, seed, &options, family, &p, &declared);
        fprintf(stdout, "  as the gate takes its declaration (GATE-2)\n");
        violated |= declared.violated > 0 || declared.lse_violated;
    }
    problem_free(&p);
    return violated;
}

static void help(FILE *out) {
    fputs(
        "Usage: check [-j PROCESSES]    emulated kernels against their bounds\n"
        "       check --replay SEED      one case, in words\n"
        "       check --self-test        wrong kernels, and classes declared too strict, are seen\n"
        "Environment: CHUNKPROOF_ELEMENTS numbers (1e6), CHUNKPROOF_SEED (1)\n"
        "Exit status: 0 no violation; 1 a violation, or something that the self-test did not see;\n"
        "2 bad use; 130 interrupted (what was found is printed)\n",
        out);
}

/* Is the argument of an option a number from `least` to `most`? If not, says what is wrong. */
static int read_number(const char *option, const char *text, unsigned long long least,
                       unsigned long long most, unsigned long long *value) {
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || *value < least ||
        *value > most) {
        fprintf(stderr, "check: %s takes a number from %llu to %llu, not '%s'\n", option, least,
                most, text);
        return 0;
    }
    return 1;
}

static int mass_run_of_environment(int processes) {
    struct sigaction action = {.sa_handler = on_signal};
    long long elements = setting("CHUNKPROOF_ELEMENTS", 1000000);
    unsigned long long seed = (unsigned long long)setting("CHUNKPROOF_SEED", 1);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    (void)mkdir("build", 0777);
    (void)mkdir("build/tolerance", 0777);
    return mass_run(seed, elements, processes);
}

int main(int argc, char **argv) {
    static const struct option long_options[] = {{"replay", required_argument, NULL, 'r'},
                                                 {"self-test", no_argument, NULL, 's'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    unsigned long long processes = 1, seed = 0;
    int option, is_self_test = 0, is_replay = 0, is_right = 1;
    program = argv[0];
    while ((option = getopt_long(argc, argv, "j:h", long_options, NULL)) != -1) {
        switch (option) {
        case 'j':
            is_right &= read_number("-j", optarg, 1, MOST_PROCESSES, &processes);
            break;
        case 'r':
            is_right &= read_number("--replay", optarg, 0, ULLONG_MAX, &seed);
            is_replay = 1;
            break;
        case 's':
            is_self_test = 1;
            break;
        case 'h':
            help(stdout);
            return 0;
        default:
            is_right = 0;
            break;
        }
    }
    if (!is_right || optind < argc) {
        help(stderr);
        return 2;
    }
    return is_self_test ? self_test()
           : is_replay  ? replay(seed)
                        : mass_run_of_environment((int)processes);
}
