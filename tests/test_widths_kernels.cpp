/* SPDX-License-Identifier: Apache-2.0 */
/* Values of another width than keys, and values in keys (spec/widths.md), through the launcher, on
 * the executor: within the certified tolerance, silent under its checks; and what is refused. */
#include "tests/kernels/accept.h"

extern "C" {
#include "fuzz/tolerance/setting.h"
}

#include <cstring>

#include "kernels/simt/device.h"
#include "tests/kernels/rig.h"

/* On the CPU's device, which is destroyed last. */
struct Executor {
    simt::Device device;
};

struct WidthsRig : Executor, Rig {
    explicit WidthsRig(const shape &s, int seed) : Rig(s, seed) {}

    void look_at(const cp_window &window) {
        attention.window = c.attention.window = window;
    }

    void expect_right() {
        must(attend());
        accepted(c, 3, judged(3));
    }
};

/* d_v, v_row, and at which number of a key its value begins; -1: it has a row of its own. */
struct value_place {
    int value_dim, v_row, begin;
};

static shape of(int b, int chunk_size, int n_heads, int n_kv_heads, int head_dim, int type,
                int out_type, int queries, int values) {
    return {b, 2, chunk_size, n_heads, n_kv_heads, head_dim, 0,      0,
            0, 0, type,       type,    out_type,   queries,  values, CASE_POISON_NAN};
}

static const struct {
    shape s;
    value_place w;
    cp_window window;
} cases[] = {
    {of(4, 16, 2, 2, 64, CP_FP16, CP_FP16, CASE_DECODE, CASE_NORMAL), {32, 32, -1}, {0, 0, 0}},
    {of(5, 5, 3, 1, 64, CP_FP16, CP_FP32, CASE_SEVERAL, CASE_MASSIVE), {32, 64, -1}, {0, 0, 0}},
    {of(3, 48, 10, 2, 64, CP_BF16, CP_BF16, CASE_MORE, CASE_ONE_HOT), {32, 40, -1}, {0, 0, 0}},
    {of(3, 64, 7, 1, 64, CP_FP16, CP_FP16, CASE_ALL, CASE_TIES), {32, 32, -1}, {33, 0, 2}},
    {of(3, 7, 4, 2, 64, CP_BF16, CP_FP32, CASE_OWN, CASE_SUBNORMAL), {32, 48, -1}, {9, 3, 5}},
    {of(4, 16, 16, 1, 96, CP_FP16, CP_FP16, CASE_DECODE, CASE_NORMAL), {64, 96, 0}, {0, 0, 0}},
    {of(3, 48, 5, 1, 96, CP_FP16, CP_FP32, CASE_SEVERAL, CASE_ONE_HOT), {64, 96, 32}, {0, 0, 0}},
    {of(4, 16, 40, 1, 96, CP_BF16, CP_BF16, CASE_DECODE, CASE_MASSIVE), {64, 96, 8}, {0, 0, 0}},
    {of(2, 33, 24, 2, 96, CP_FP16, CP_FP16, CASE_MORE, CASE_NORMAL), {64, 96, 0}, {40, 2, 3}},
    {of(2, 16, 3, 1, 192, CP_FP16, CP_FP16, CASE_SEVERAL, CASE_NORMAL), {128, 192, -1}, {0, 0, 0}},
    {of(2, 48, 2, 2, 192, CP_BF16, CP_FP32, CASE_DECODE, CASE_ONE_HOT), {128, 128, -1}, {0, 0, 0}},
    {of(2, 16, 2, 1, 192, CP_FP16, CP_FP16, CASE_ALL, CASE_NORMAL), {128, 192, 64}, {0, 0, 0}},
    {of(2, 16, 16, 1, 576, CP_BF16, CP_BF16, CASE_DECODE, CASE_NORMAL), {512, 576, 0}, {0, 0, 0}},
    {of(1, 24, 64, 1, 576, CP_FP16, CP_FP16, CASE_DECODE, CASE_NORMAL), {512, 576, 64}, {0, 0, 0}},
    {of(1, 40, 20, 1, 576, CP_FP16, CP_FP32, CASE_DECODE, CASE_ONE_HOT), {512, 576, 0}, {5, 0, 3}},
    {of(3, 16, 4, 2, 64, CP_FP16, CP_FP16, CASE_SEVERAL, CASE_NORMAL), {64, 64, 0}, {0, 0, 0}},
    {of(2, 16, 4, 1, 128, CP_BF16, CP_BF16, CASE_SEVERAL, CASE_NORMAL), {128, 128, 0}, {0, 0, 0}},
};

/* WIDTH-1, WIDTH-2: version 3, also as that which 0 chooses. Every other case has changed scores
 * and sinks. */
static void values_of_their_own_width_are_within_the_tolerance(void **) {
    int seed = 0;
    for (const auto &one : cases) {
        seed++;
        if (one.s.head_dim > setting("CHUNKPROOF_MOST_DIM", one.s.head_dim)) {
            continue;
        }
        WidthsRig rig(one.s, seed);
        score_case drawn;
        if (seed % 2 == 0) {
            rig.change_scores(drawn, seed / 2 * 9);
        }
        rig.look_at(one.window);
        rig.change_widths(one.w.value_dim, one.w.v_row, one.w.begin);
        rig.attention.version = seed % 3 == 0 ? 0 : 3;
        rig.start();
        rig.expect_right();
    }
}

/* Of which the width of values is the keys', all versions take V at K. */
static void every_version_takes_keys_as_values(void **) {
    for (int version = 1; version <= N_VERSIONS; version++) {
        WidthsRig rig(cases[15].s, version);
        rig.change_widths(64, 64, 0);
        rig.attention.version = version;
        rig.start();
        rig.must(rig.attend());
        accepted(rig.c, version, rig.judged(version));
    }
}

/* The same case, with other numbers in the call. */
static void what_there_are_no_kernels_for_is_refused_by_name(void **) {
    typedef cp_cuda_attention A;
    const struct {
        const char *said;
        int status;
        void (*change)(A &);
    } refusals[] = {
        {"take version 3", CP_ERROR_UNSUPPORTED, [](A &a) { a.version = 1; }},
        {"take version 3", CP_ERROR_UNSUPPORTED, [](A &a) { a.version = 2; }},
        {"for other widths", CP_ERROR_UNSUPPORTED, [](A &a) { a.value_dim = 24; }},
        {"for other widths", CP_ERROR_UNSUPPORTED,
         [](A &a) {
             a.version = 0;
             a.value_dim = 24;
         }},
        {"for other widths", CP_ERROR_UNSUPPORTED,
         [](A &a) { /* which versions 1 and 2 would take for rows of 64 */
                    a.version = 0;
                    a.value_dim = 64;
                    a.v_row = 72;
         }},
        {"value_dim 24, v_row 64", CP_ERROR_UNSUPPORTED, [](A &a) { a.value_dim = 24; }},
        {"multiple of 8", CP_ERROR_UNSUPPORTED, [](A &a) { a.v_row = 36; }},
        {"in their keys alone", CP_ERROR_UNSUPPORTED,
         [](A &a) {
             a.head_dim = a.v_row = 96;
             a.value_dim = 64;
         }},
        {"8 bits", CP_ERROR_UNSUPPORTED, [](A &a) { a.k_type = a.v_type = CP_INT8; }},
        {"value_dim 0", CP_ERROR_SHAPE, [](A &a) { a.value_dim = 0; }},
        {"v_row 31", CP_ERROR_SHAPE, [](A &a) { a.v_row = 31; }},
        {"value_dim 104", CP_ERROR_WORKSPACE, [](A &a) { a.value_dim = a.v_row = 104; }},
    };
    for (const auto &one : refusals) {
        WidthsRig rig(cases[0].s, 1);
        rig.limits.head_dim = 96;
        rig.workspace = rig.poisoned(cp_cuda_workspace(&rig.limits));
        rig.change_widths(32, 64, -1);
        rig.attention.version = 3;
        rig.start();
        rig.expect_right();
        one.change(rig.attention);
        assert_int_equal(rig.attend(), one.status);
        if (std::strstr(cp_cuda_text(rig.cuda), one.said) == nullptr) {
            fail_msg("%s: %s", one.said, cp_cuda_text(rig.cuda));
        }
    }
}

/* The shared memory of a block: of 64 queries it is too much for a device that has that of 16. */
static void too_little_shared_memory_is_refused_by_name(void **) {
    for (int heads : {16, 64}) {
        WidthsRig rig(of(1, 16, heads, 1, 96, CP_FP16, CP_FP16, CASE_DECODE, CASE_NORMAL), 1);
        rig.device.most_shared = 20 * 1024;
        rig.change_widths(64, 96, 0);
        rig.attention.version = 3;
        rig.start();
        assert_int_equal(rig.attend(), heads == 16 ? CP_OK : CP_ERROR_UNSUPPORTED);
        assert_true(heads == 16 || std::strstr(cp_cuda_text(rig.cuda), "shared memory") != nullptr);
    }
}

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(values_of_their_own_width_are_within_the_tolerance),
        cmocka_unit_test(every_version_takes_keys_as_values),
        cmocka_unit_test(what_there_are_no_kernels_for_is_refused_by_name),
        cmocka_unit_test(too_little_shared_memory_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
