/* SPDX-License-Identifier: Apache-2.0 */
/* Masks of bits (spec/masks.md) in version 1 of the kernels, on the executor: exact over finite
 * fields; through the launcher within the certified tolerance, the chapter's tree by hand, the bits
 * of no mask where all bits are 1; and what is refused. */
#include "tests/kernels/accept.h"

extern "C" {
#include "tests/path_runs.h"
}

#include <cmath>
#include <cstring>

#include "kernels/simt/device.h"
#include "tests/kernels/exact.h"
#include "tests/kernels/rig.h"

#define KERNELS checked
#include "tests/kernels/versions.h"
#undef KERNELS
#define KERNELS plain
#include "tests/kernels/versions.h"
#undef KERNELS

static shape of(int b, int depth, int chunk_size, int n_heads, int n_kv_heads, int head_dim,
                int type, int out_type, int queries, int values) {
    return {b, depth, chunk_size, n_heads, n_kv_heads, head_dim, 0,      0,
            0, 0,     type,       type,    out_type,   queries,  values, CASE_POISON_NAN};
}

static const shape shapes[] = {
    of(4, 4, 16, 4, 2, 32, CP_FP16, CP_FP16, CASE_DECODE, CASE_NORMAL),
    of(5, 3, 5, 3, 1, 24, CP_FP16, CP_FP32, CASE_SEVERAL, CASE_MASSIVE),
    of(3, 5, 1, 2, 2, 8, CP_FP16, CP_FP16, CASE_MORE, CASE_ONE_HOT),
    of(6, 4, 48, 2, 1, 16, CP_BF16, CP_BF16, CASE_DECODE, CASE_LOW),
    of(4, 3, 7, 2, 1, 64, CP_FP16, CP_FP32, CASE_OWN, CASE_NORMAL),
    of(2, 2, 33, 3, 3, 16, CP_BF16, CP_FP32, CASE_ALL, CASE_ONE_HOT),
    of(3, 4, 16, 1, 1, 32, CP_BF16, CP_BF16, CASE_OWN, CASE_SUBNORMAL),
    of(1, 3, 4, 2, 1, 16, CP_FP16, CP_FP16, CASE_ALL, CASE_NORMAL),
};

/* None; of a few keys; ahead, so that the mask decides alone; with first keys kept. */
static cp_window window_of(const shape &s, int seed) {
    const cp_window windows[] = {{0, 0, 0},       {s.chunk_size + 2, 0, 0},
                                 {0, 1 << 30, 0}, {5, 1, s.chunk_size + 1},
                                 {0, 0, 0},       {33, 0, 2}};
    return windows[static_cast<std::size_t>(seed) % (sizeof windows / sizeof windows[0])];
}

/* ---- In finite fields ---- */

/* each(case, schedule) with every kind of mask; `cached`: K and V have 8 bits. */
template <class Each> static void each_case(int n_seeds, bool cached, Each each) {
    int number = 0;
    for (const shape &one : shapes) {
        for (int seed = 1; seed <= n_seeds * MASK_N_KIND; seed++) {
            shape s = one;
            attend_case c;
            mask_case mask;
            score_case drawn;
            number++;
            s.kv_type = cached ? CP_FP32 : s.kv_type; /* before they are rounded to 8 bits */
            case_make(&c, &s, static_cast<unsigned long long>(seed));
            std::unique_ptr<CacheOf> cache(cached ? new CacheOf(c, number) : nullptr);
            mask_case_take(&mask, &c, seed % MASK_N_KIND, static_cast<unsigned>(number));
            c.attention.window = window_of(s, number);
            if (number % 4 == 0) {
                score_case_draw(&c, &drawn, static_cast<unsigned long long>(number / 4));
            }
            each(c, Schedule(c, 1 + seed % 3), number);
            mask_case_free(&mask);
            cache.reset();
            case_free(&c);
        }
    }
}

/* MASK-1, and the order of threads does not matter. */
static void exact_over_finite_fields(void **) {
    const std::vector<unsigned long long> powers = powers_of_w();
    each_case(3, false, [&](const attend_case &c, const Schedule &schedule, int number) {
        compare_in<plain::ExactMasked>(c, 1, schedule, powers, number % 3);
    });
}

static void exact_with_caches_of_8_bits(void **) {
    const std::vector<unsigned long long> powers = powers_of_w();
    each_case(1, true, [&](const attend_case &c, const Schedule &schedule, int number) {
        compare_in<plain::ExactCachedMasked>(c, 1, schedule, powers, number % 3);
    });
}

/* No bit beyond those of keys is read, and nothing is written but results. */
static void checks_find_nothing(void **) {
    const std::vector<unsigned long long> powers = powers_of_w();
    each_case(1, false, [&](const attend_case &c, const Schedule &schedule, int number) {
        compare_in<checked::ExactMasked>(c, 1, schedule, powers, number % 3);
    });
}

/* ---- Through the launcher ---- */

/* On the CPU's device, which is destroyed last, as is what the case has. */
struct Executor {
    simt::Device device;
};

struct MaskRig : Executor, Rig {
    mask_case mask = {};
    score_case scores;

    explicit MaskRig(const shape &s, int seed = 1, cp_plan *plan = nullptr)
        : Rig(s, seed, CHUNKS_PER_TASK, plan) {}

    ~MaskRig() {
        mask_case_free(&mask);
    }
    MaskRig(const MaskRig &) = delete;
    MaskRig &operator=(const MaskRig &) = delete;

    void look_at(const cp_window &window) {
        attention.window = c.attention.window = window;
    }

    void expect_right(int version = 1) {
        must(attend());
        accepted(c, version, judged(version));
    }

    /* Not the mask's: that is the call's, not the update's. */
    void without_mask() {
        attention.mask = c.attention.mask = {nullptr, nullptr, nullptr};
    }
};

/* Of every kind of mask, in all types; also by the version that 0 chooses. The same update serves a
 * call without a mask, which version 3 does. */
static void numbers_are_within_the_tolerance(void **) {
    int number = 0;
    for (const shape &one : shapes) {
        for (int seed = 1; seed <= 2 * MASK_N_KIND; seed++) {
            number++;
            MaskRig rig(one, seed);
            if (number % 3 == 0) {
                rig.change_cache(number / 3);
            }
            if (number % 4 == 0) {
                rig.change_scores(rig.scores, number);
            }
            rig.look_at(window_of(one, number));
            rig.change_mask(rig.mask, seed % MASK_N_KIND, number);
            rig.attention.version = number % 2;
            rig.start();
            rig.expect_right();
            rig.without_mask();
            rig.attention.version = 1;
            rig.expect_right();
        }
    }
}

/* MASK-3: to the bit. */
static void all_bits_are_no_mask(void **) {
    for (const shape &one : shapes) {
        for (int seed = 1; seed <= 4; seed++) {
            MaskRig rig(one, seed);
            rig.look_at(window_of(one, seed));
            rig.change_mask(rig.mask, MASK_ALL, seed);
            rig.attention.version = 1;
            rig.start();
            const std::vector<unsigned char> with = rig.attended();
            rig.without_mask();
            assert_true(with == rig.attended());
        }
    }
}

/* The chapter's tree, behind a prefix of three tokens in chunks of four. */
static const int TOKENS = 8;
static const int BRANCHES[][TOKENS] = {{0, -1},
                                       {0, 1, -1},
                                       {0, 1, 2, -1}, /* the prefix itself */
                                       {0, 1, 2, 3, -1},
                                       {0, 1, 2, 3, 4, -1},
                                       {0, 1, 2, 3, 5, -1},
                                       {0, 1, 2, 3, 4, 6, -1},
                                       {0, 1, 2, 3, 5, 7, -1}};

static cp_plan *plan_of_tree() {
    cp_plan *plan = nullptr;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    plan->chunk_size = 4;
    plan->capacity = 3;
    list_sequences(plan, 1);
    plan->sequence[0].n_tokens = TOKENS;
    plan->sequence[0].n_chunks = 2;
    plan->sequence[0].run[0].chunk = 2;
    plan->sequence[0].run[1].chunk = 0;
    path_runs(&plan->sequence[0], plan->chunk_size);
    return plan;
}

/* MASK-1's example. All scores are 0, so that each row gives the mean of the values of its path. Up
 * to six of them are added in binary32, and divided by how many they are: 7 roundings. */
static void rows_of_a_tree_see_their_paths(void **) {
    static const unsigned char bits[] = {1, 3, 5, 11, 21};
    static const std::size_t first[] = {0, 0, 0, 0, 8, 16, 24, 32};
    static const int begin[] = {3, 3, 3, 3, 3, 3, 3, 3};
    const int d = 16;
    MaskRig rig(of(1, 2, 4, 1, 1, d, CP_FP16, CP_FP32, CASE_ALL, CASE_NORMAL), 1, plan_of_tree());
    rig.attention.scale = rig.c.attention.scale = 0.0;
    rig.set_mask({bits, first, begin});
    rig.attention.version = 1;
    rig.start();
    rig.expect_right();
    const std::vector<unsigned char> out = rig.fetch(rig.attention.out, rig.out_bytes);
    const std::vector<unsigned char> lse = rig.fetch(rig.attention.lse, rig.lse_bytes);
    assert_int_equal(rig.c.n_rows, TOKENS);
    for (int row = 0; row < TOKENS; row++) {
        double got;
        int n = 0;
        while (BRANCHES[row][n] >= 0) {
            n++;
        }
        std::memcpy(&got, &lse[static_cast<std::size_t>(row) * sizeof got], sizeof got);
        assert_true(got == std::log(static_cast<double>(n)));
        for (int i = 0; i < d; i++) {
            double sum = 0.0, most = 0.0;
            for (int x = 0; x < n; x++) {
                double v =
                    rig.c.v[case_key(&rig.c, 0, BRANCHES[row][x], 0) + static_cast<std::size_t>(i)];
                sum += v;
                most += std::fabs(v);
            }
            float mean;
            std::memcpy(&mean, &out[static_cast<std::size_t>(row * d + i) * sizeof mean],
                        sizeof mean);
            assert_true(std::fabs(static_cast<double>(mean) - sum / n) <= 8 * 0x1p-24 * most / n);
        }
    }
}

/* ---- Calls that are refused ---- */

/* The same call, with something else in it. */
static void what_there_are_no_kernels_for_is_refused_by_name(void **) {
    typedef cp_cuda_attention A;
    const struct {
        const char *said;
        int status;
        void (*change)(A &);
    } refusals[] = {
        {"version 2", CP_ERROR_UNSUPPORTED, [](A &a) { a.version = 2; }},
        {"masks of bits take version 1", CP_ERROR_UNSUPPORTED, [](A &a) { a.version = 2; }},
        {"masks of bits take version 1", CP_ERROR_UNSUPPORTED, [](A &a) { a.version = 3; }},
        {"masks of bits take values", CP_ERROR_UNSUPPORTED,
         [](A &a) {
             a.version = 0;
             a.value_dim = 32;
         }},
        {"masks of bits take values", CP_ERROR_UNSUPPORTED, [](A &a) { a.value_dim = 32; }},
        {"mask.first is NULL", CP_ERROR_ARGUMENT, [](A &a) { a.mask.first = nullptr; }},
        {"mask.first is not aligned", CP_ERROR_ARGUMENT,
         [](A &a) { a.mask.first = reinterpret_cast<const std::size_t *>(std::uintptr_t{12}); }},
        {"mask.begin is not aligned", CP_ERROR_ARGUMENT,
         [](A &a) { a.mask.begin = reinterpret_cast<const int *>(std::uintptr_t{6}); }},
    };
    for (const auto &one : refusals) {
        MaskRig rig(shapes[4]);
        rig.change_mask(rig.mask, MASK_RANDOM, 3);
        rig.attention.version = 1;
        rig.start();
        rig.expect_right();
        const int launches = rig.device.launches;
        one.change(rig.attention);
        assert_int_equal(rig.attend(), one.status);
        assert_int_equal(rig.device.launches, launches);
        if (std::strstr(cp_cuda_text(rig.cuda), one.said) == nullptr) {
            fail_msg("%s: %s", one.said, cp_cuda_text(rig.cuda));
        }
    }
}

/* Without bits there is no mask, whatever the other arrays are. */
static void without_bits_every_version_is_taken(void **) {
    for (int version = 1; version <= N_VERSIONS; version++) {
        MaskRig rig(shapes[4]);
        rig.attention.mask.begin = reinterpret_cast<const int *>(std::uintptr_t{6});
        rig.attention.version = version;
        rig.start();
        rig.expect_right(version);
    }
}

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(exact_over_finite_fields),
        cmocka_unit_test(exact_with_caches_of_8_bits),
        cmocka_unit_test(checks_find_nothing),
        cmocka_unit_test(numbers_are_within_the_tolerance),
        cmocka_unit_test(all_bits_are_no_mask),
        cmocka_unit_test(rows_of_a_tree_see_their_paths),
        cmocka_unit_test(what_there_are_no_kernels_for_is_refused_by_name),
        cmocka_unit_test(without_bits_every_version_is_taken),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
