/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a file of --state (gate/search/state.h): what was written is read, and nothing that
 * was damaged. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gate/search/sane.h"
#include "gate/search/state.h"

#define BLOCKS   2
#define CASES    96
#define CHECKSUM 40 /* where it is in the file, and */
#define BODY     48 /* what it is of */

/* Changes are tried at each so many bytes. */
#define STEP 23

static struct gate_result *of(const struct gate_state *s) {
    return s->result;
}

/* 3 cases, of which one is wrong. */
static void make(struct gate_state *s) {
    struct gate_found wrong = {.index = 2, .work = 64, .finding = gate_no_finding};
    memset(s, 0, sizeof *s);
    s->kind = &gate_attention;
    s->locked = -1;
    s->blocks = BLOCKS;
    s->cases = CASES;
    s->done = calloc(BLOCKS, 1);
    s->result = calloc(1, s->kind->size);
    assert_true(s->done != NULL && s->result != NULL);
    s->done[1] = 1;
    (void)snprintf(s->identity, sizeof s->identity, "chunkproof 1\nkernel 2\noptions 3\n");
    gate_recipe_make(&wrong.recipe, 1, 2, 0, GATE_SMALL_WORK, NULL);
    wrong.finding.verdict = GATE_WRONG;
    (void)snprintf(wrong.finding.text, sizeof wrong.finding.text, "a number is wrong");
    struct gate_result *r = of(s);
    struct gate_tally *tally = &r->tally[GATE_SELECT];
    r->cases = tally->cases = 3;
    r->runs = 7;
    r->verdicts[GATE_RIGHT] = tally->verdicts[GATE_RIGHT] = 2;
    r->verdicts[GATE_WRONG] = tally->verdicts[GATE_WRONG] = 1;
    r->found[GATE_WRONG] = tally->smallest = wrong;
    tally->compared = 100;
    tally->largest = 7.5;
    tally->spread[3][GATE_RATIO_ONE] = 3;
    r->n_covered = 1;
    r->covered[0] = (struct gate_covered){64, 3, 100};
    r->seconds = 1.5;
}

static void make_empty(struct gate_state *s) {
    make(s);
    memset(s->result, 0, s->kind->size);
    s->done[1] = 0;
}

static void unmake(struct gate_state *s) {
    free(s->result);
    gate_state_free(s);
}

static void written_is_read(void **state) {
    struct gate_state s, back;
    char why[GATE_IDENTITY];
    size_t n;
    (void)state;
    make(&s);
    make_empty(&back);
    unsigned char *bytes = gate_state_write(&s, &n);
    assert_int_equal(gate_state_read(&back, bytes, n, why), GATE_STATE_READ);
    assert_memory_equal(back.result, s.result, s.kind->size);
    assert_memory_equal(back.done, s.done, BLOCKS);
    (void)snprintf(back.identity, sizeof back.identity, "chunkproof 1\nkernel 4\noptions 3\n");
    assert_int_equal(gate_state_read(&back, bytes, n, why), GATE_STATE_OTHER);
    assert_string_equal(why, "kernel");
    (void)snprintf(back.identity, sizeof back.identity, "chunkproof 1\nkernel 2\n");
    assert_int_equal(gate_state_read(&back, bytes, n, why), GATE_STATE_OTHER);
    assert_string_equal(why, "options");
    memcpy(bytes, "chunkproof gate state 1", 23);
    assert_int_equal(gate_state_read(&back, bytes, n, why), GATE_STATE_OTHER);
    assert_string_equal(why, "chunkproof");
    free(bytes);
    unmake(&s);
    unmake(&back);
}

/* GATE-7: what cases come to is another thing, whatever else is the same. */
static void another_kind_of_kernel_is_refused(void **state) {
    struct gate_state s, back;
    char why[GATE_IDENTITY];
    size_t n;
    (void)state;
    make(&s);
    make_empty(&back);
    (void)snprintf(s.identity, sizeof s.identity, "kind merges\nkernel 2\n");
    (void)snprintf(back.identity, sizeof back.identity, "kind computes attention\nkernel 3\n");
    unsigned char *bytes = gate_state_write(&s, &n);
    assert_int_equal(gate_state_read(&back, bytes, n, why), GATE_STATE_OF_KIND);
    assert_int_equal(of(&back)->cases, 0);
    free(bytes);
    unmake(&s);
    unmake(&back);
}

/* A read that does not succeed changes nothing. */
static void expect_none(struct gate_state *s, const struct gate_state *empty,
                        const unsigned char *bytes, size_t n) {
    char why[GATE_IDENTITY];
    if (gate_state_read(s, bytes, n, why) == GATE_STATE_READ) {
        fail_msg("a damaged file is read");
    }
    assert_memory_equal(s->result, empty->result, s->kind->size);
    assert_memory_equal(s->done, empty->done, BLOCKS);
}

static void a_changed_bit_is_seen(void **state) {
    struct gate_state s, back, empty;
    size_t n;
    (void)state;
    make(&s);
    make_empty(&back);
    make_empty(&empty);
    unsigned char *bytes = gate_state_write(&s, &n);
    for (size_t at = 0; at < n; at += at < BODY + sizeof s.identity ? 1 : STEP) {
        if (at >= sizeof "chunkproof gate state 2" && at < 32) { /* nothing is there */
            continue;
        }
        bytes[at] ^= (unsigned char)(1 << at % 8);
        expect_none(&back, &empty, bytes, n);
        bytes[at] ^= (unsigned char)(1 << at % 8);
    }
    free(bytes);
    unmake(&s);
    unmake(&back);
    unmake(&empty);
}

static void a_cut_file_is_seen(void **state) {
    struct gate_state s, back, empty;
    size_t n;
    (void)state;
    make(&s);
    make_empty(&back);
    make_empty(&empty);
    unsigned char *bytes = gate_state_write(&s, &n);
    for (size_t size = 0; size < n; size += size < 2000 ? 1 : 997) {
        unsigned char *part =
            malloc(size > 0 ? size : 1); /* of its own, so that reading on is seen */
        assert_non_null(part);
        memcpy(part, bytes, size);
        expect_none(&back, &empty, part, size);
        free(part);
    }
    free(bytes);
    unmake(&s);
    unmake(&back);
    unmake(&empty);
}

/* The sum as the file has it, worked out here once more. */
static void repair(unsigned char *bytes, size_t n) {
    uint64_t sum = n - BODY;
    for (size_t i = BODY; i < n; i += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, n - i < sizeof word ? n - i : sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 32;
    }
    memcpy(bytes + CHECKSUM, &sum, sizeof sum);
}

/* What a report prints of it. */
static void check_read(const struct gate_state *s) {
    const struct gate_result *r = of(s);
    long long wrong = r->cases - r->verdicts[GATE_RIGHT];
    assert_true(r->cases >= 0 && r->cases <= 2 * CASES && wrong >= 0 && wrong <= r->cases);
    assert_true(r->n_covered >= 0 && r->n_covered <= GATE_HEAD_DIMS);
    for (int i = GATE_RIGHT + 1; i < GATE_VERDICTS; i++) {
        const struct gate_found *found = &r->found[i];
        if (r->verdicts[i] > 0) {
            char line[GATE_LINE];
            assert_int_equal(found->finding.verdict, i);
            assert_in_range(found->recipe.values, 0, GATE_VALUES - 1);
            assert_true(0 <= found->recipe.biases && found->recipe.biases < GATE_BIASES);
            assert_true(0 <= found->recipe.slopes && found->recipe.slopes < GATE_SLOPES);
            assert_true(strlen(found->finding.text) < sizeof found->finding.text);
            gate_recipe_print(&found->recipe, line);
        }
    }
}

/* Numbers that are out of their ranges, under a right sum: what is read is still possible. */
static void no_impossible_number_is_read(void **state) {
    static const int extremes[] = {INT_MIN, -1, INT_MAX, -240};
    struct gate_state s, back;
    char why[GATE_IDENTITY];
    size_t n, from = BODY + sizeof s.identity;
    int refused = 0;
    (void)state;
    make(&s);
    make_empty(&back);
    unsigned char *bytes = gate_state_write(&s, &n);
    for (size_t at = from; at + sizeof(int) <= n; at += 7 * sizeof(int)) {
        int was;
        memcpy(&was, bytes + at, sizeof was);
        memcpy(bytes + at, &extremes[at / 28 % 4], sizeof was);
        repair(bytes, n);
        if (gate_state_read(&back, bytes, n, why) == GATE_STATE_READ) {
            check_read(&back);
        } else {
            refused++;
        }
        memcpy(bytes + at, &was, sizeof was);
    }
    assert_true(refused > 100);
    long long cases = -240;
    memcpy(bytes + from + offsetof(struct gate_result, cases), &cases, sizeof cases);
    repair(bytes, n);
    assert_int_equal(gate_state_read(&back, bytes, n, why), GATE_STATE_DAMAGED);
    free(bytes);
    unmake(&s);
    unmake(&back);
}

/* What each check of sane.c is for. */
static void each_count_adds_up(void **state) {
    struct gate_state s;
    (void)state;
#define INSANE(CHANGE)                                                                             \
    make(&s);                                                                                      \
    assert_true(gate_result_is_sane(of(&s), CASES));                                               \
    (CHANGE);                                                                                      \
    assert_false(gate_result_is_sane(of(&s), CASES));                                              \
    unmake(&s)
    INSANE(of(&s)->cases = 4);
    INSANE(of(&s)->refused = -1);
    INSANE(of(&s)->verdicts[GATE_WRONG] = 0);
    INSANE(of(&s)->tally[GATE_SELECT].verdicts[GATE_RIGHT] = 3);
    INSANE(of(&s)->tally[GATE_COUNT].cases = 1);
    INSANE(of(&s)->tally[GATE_SELECT].spread[0][0] = 1);
    INSANE(of(&s)->tally[GATE_SELECT].largest = -1.0);
    INSANE(of(&s)->tally[GATE_SELECT].compared = LLONG_MAX / 2);
    INSANE(of(&s)->tally[GATE_SELECT].unclaimed = LLONG_MAX / 10);
    INSANE(of(&s)->found[GATE_WRONG].finding.verdict = GATE_RIGHT);
    INSANE(of(&s)->found[GATE_WRONG].finding.verdict = GATE_VERDICTS);
    INSANE(of(&s)->found[GATE_WRONG].finding.verdict = GATE_HANGS);
    INSANE((of(&s)->verdicts[GATE_RIGHT] = of(&s)->tally[GATE_SELECT].verdicts[GATE_RIGHT] = -1,
            of(&s)->verdicts[GATE_WRONG] = of(&s)->tally[GATE_SELECT].verdicts[GATE_WRONG] = 4));
    INSANE(of(&s)->tally[GATE_SELECT].smallest.finding.verdict = GATE_HANGS);
    INSANE((of(&s)->unusual = of(&s)->unusual_cases = 1,
            of(&s)->most_unusual = of(&s)->found[GATE_RIGHT] = of(&s)->found[GATE_WRONG],
            of(&s)->most_unusual.finding.verdict = GATE_VERDICTS));
    INSANE((of(&s)->unusual = of(&s)->unusual_cases = 1,
            of(&s)->most_unusual = of(&s)->found[GATE_RIGHT] = of(&s)->found[GATE_WRONG],
            of(&s)->found[GATE_RIGHT].finding.verdict = GATE_RIGHT,
            of(&s)->found[GATE_RIGHT].finding.unusual = 1, of(&s)->found[GATE_RIGHT].index = -1));
    INSANE(of(&s)->found[GATE_WRONG].finding.clause[0] = '\033');
    INSANE(memset(of(&s)->found[GATE_WRONG].finding.clause, 'x', 16));
    INSANE(of(&s)->found[GATE_WRONG].recipe.n_ops = GATE_MOST_OPS + 1);
    INSANE(of(&s)->found[GATE_WRONG].recipe.op[0].kind = GATE_OPS);
    INSANE(of(&s)->found[GATE_WRONG].index = CASES);
    INSANE(of(&s)->found[GATE_WRONG].file[0] = 'x');
    INSANE(of(&s)->n_covered = GATE_HEAD_DIMS + 1);
    INSANE(of(&s)->covered[0].cases = 4);
    INSANE(of(&s)->needed = 1U << 31);
    INSANE(of(&s)->unjudged = 4);
    INSANE(memset(of(&s)->refusal, 'x', sizeof of(&s)->refusal));
#undef INSANE
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_kind_of_kernel_is_refused),
        cmocka_unit_test(written_is_read),
        cmocka_unit_test(a_changed_bit_is_seen),
        cmocka_unit_test(a_cut_file_is_seen),
        cmocka_unit_test(no_impossible_number_is_read),
        cmocka_unit_test(each_count_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
