/* SPDX-License-Identifier: Apache-2.0 */
/* The versions of the kernels (kernels/v1.h, ...) on the executor: within the certified tolerance
 * in numbers, exact in finite fields, silent under the checks, the same bits in every order of
 * threads. */
#include "tests/kernels/accept.h"

extern "C" {
#include "fuzz/tolerance/setting.h"
}

#include <cstring>
#include <memory>

#include "tests/kernels/cached.h"
#include "tests/kernels/exact.h"
#include "tests/kernels/memory.h"

#define KERNELS checked
#include "tests/kernels/versions.h"
#undef KERNELS
#define KERNELS plain
#include "tests/kernels/versions.h"
#undef KERNELS

using chunkproof::Field;
using chunkproof::Problem;

/* ---- In numbers ---- */

/* Runs a version on a case of numbers; A is the arithmetic of `checked` or `plain`. */
template <class A>
static Memory<A> run(const attend_case &c, int version, const Schedule &schedule, int seed) {
    Memory<A> memory(c, schedule.of);
    Problem<A> p = problem_of(c, schedule, memory);
    p.scale = A::scale_of(c.attention.scale);
    p.cap = A::cap_of(c.attention.scores.cap);
    p.slopes = c.attention.scores.slopes;
    p.sinks = c.attention.scores.sinks;
    p.biases = c.attention.scores.biases.bias;
    p.q = static_cast<const typename A::Key *>(c.attention.q);
    p.k = static_cast<const typename A::StoredKey *>(c.attention.k);
    p.v = static_cast<const typename A::StoredValue *>(c.attention.v);
    if constexpr (A::OF_8_BITS) {
        p.k_type = c.attention.k_type;
        p.v_type = c.attention.v_type;
        p.per = c.attention.scales.per;
        p.k_scales = c.attention.scales.k;
        p.v_scales = c.attention.scales.v;
    }
    simt::Report report = attend(version, config_of(c, schedule, p, memory, seed), p, schedule.of);
    if (!report.ok()) {
        fail_case(c, version, report.text.c_str());
    }
    return memory;
}

/* b, depth, c, h, h_kv, d; no widths; types; queries, values, poison */
static const shape shapes[] = {
    {1, 3, 16, 1, 1, 64, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP16, CASE_DECODE, CASE_NORMAL,
     CASE_POISON_NAN},
    {4, 4, 16, 4, 2, 64, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP16, CASE_DECODE, CASE_NORMAL,
     CASE_POISON_NAN},
    {5, 3, 5, 3, 1, 80, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP32, CASE_DECODE, CASE_MASSIVE,
     CASE_POISON_HUGE},
    {3, 5, 1, 2, 2, 96, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP16, CASE_SEVERAL, CASE_ONE_HOT,
     CASE_POISON_NAN},
    {6, 4, 48, 8, 1, 64, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP16, CASE_DECODE, CASE_LOW,
     CASE_POISON_NAN},
    {3, 2, 64, 2, 1, 128, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP16, CASE_MORE, CASE_NORMAL,
     CASE_POISON_NAN},
    {2, 2, 64, 1, 1, 256, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP32, CASE_ALL, CASE_TIES,
     CASE_POISON_HUGE},
    {4, 3, 32, 2, 2, 32, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP16, CASE_ALL, CASE_SUBNORMAL,
     CASE_POISON_NAN},
    {3, 2, 64, 4, 2, 32, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP32, CASE_MORE, CASE_NORMAL,
     CASE_POISON_NAN},
    {9, 3, 7, 2, 1, 64, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP32, CASE_SEVERAL, CASE_ONE_HOT,
     CASE_POISON_HUGE},
    {5, 3, 16, 2, 1, 64, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP32, CASE_OWN, CASE_NORMAL,
     CASE_POISON_NAN},
    {0, 3, 16, 2, 1, 64, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP16, CASE_DECODE, CASE_NORMAL,
     CASE_POISON_NAN},
    {4, 4, 16, 4, 2, 64, 0, 0, 0, 0, CP_BF16, CP_BF16, CP_BF16, CASE_DECODE, CASE_NORMAL,
     CASE_POISON_NAN},
    {4, 3, 7, 3, 1, 32, 0, 0, 0, 0, CP_BF16, CP_BF16, CP_FP32, CASE_SEVERAL, CASE_MASSIVE,
     CASE_POISON_HUGE},
    {3, 2, 64, 4, 2, 32, 0, 0, 0, 0, CP_BF16, CP_BF16, CP_BF16, CASE_MORE, CASE_ONE_HOT,
     CASE_POISON_NAN},
    {5, 3, 16, 2, 1, 64, 0, 0, 0, 0, CP_BF16, CP_BF16, CP_FP32, CASE_OWN, CASE_SUBNORMAL,
     CASE_POISON_NAN},
    {3, 2, 48, 2, 2, 128, 0, 0, 0, 0, CP_BF16, CP_BF16, CP_BF16, CASE_ALL, CASE_TIES,
     CASE_POISON_NAN},
};

/* To look at a part: CHUNKPROOF_VERSION=3 CHUNKPROOF_MOST_DIM=64. */
static bool is_asked_for(int version, const shape &s) {
    return setting("CHUNKPROOF_VERSION", version) == version &&
           s.head_dim <= setting("CHUNKPROOF_MOST_DIM", s.head_dim);
}

/* Of one key; within a tile and over its border; at and beside borders of chunks; kept keys that
 * end in the chunk in which the window begins, and behind its first key; ahead, with a window and
 * without; as large as the context. */
static cp_window window_of(const shape &s, int seed) {
    const int c = s.chunk_size;
    const cp_window windows[] = {{1, 0, 0},         {c, 0, 1},         {c + 1, 0, c - 1},
                                 {3, 2, 0},         {33, 0, 2},        {2 * c - 1, 1, c + 1},
                                 {0, c, 0},         {65, 0, 40},       {2, 0, 2 * c},
                                 {c / 2 + 1, 0, c}, {1000000, 0, 500}, {5, 1 << 30, 3}};
    return windows[static_cast<std::size_t>(seed) % (sizeof windows / sizeof windows[0])];
}

/* Cases as they are; with a window, another one for each seed and shape; with changed scores and
 * sinks, every other one with a window, too. */
enum Kind { PLAIN, WINDOWS, SCORES, CACHES };

/* each(case, version, schedule) for every shape, version and length of tasks. */
template <class Each> static void each_case(int n_seeds, Kind kind, Each each) {
    int of_shape = 0;
    for (shape s : shapes) {
        of_shape++;
        s.kv_type = kind == CACHES ? CP_FP32 : s.kv_type; /* before they are rounded to 8 bits */
        for (int seed = 1; seed <= n_seeds; seed++) {
            attend_case c;
            score_case drawn;
            int number = of_shape + 5 * seed;
            case_make(&c, &s, static_cast<unsigned long long>(seed));
            std::unique_ptr<CacheOf> cache(kind == CACHES ? new CacheOf(c, number + seed / 3)
                                                          : nullptr);
            if (kind == WINDOWS || (kind >= SCORES && number / 2 % 2 == 1)) {
                c.attention.window = window_of(s, number);
            }
            if (kind == SCORES || (kind == CACHES && number % 3 == 0)) {
                score_case_draw(&c, &drawn, static_cast<unsigned long long>(number + number / 7));
            }
            for (int version = 1; version <= plain::n_versions; version++) {
                if (is_asked_for(version, s)) {
                    each(c, version, Schedule(c, 1 + seed % 3));
                }
            }
            cache.reset();
            case_free(&c);
        }
    }
}

/* Runs a version of `checked`, or of `plain`, in the arithmetic of the case's types. */
struct Result {
    std::vector<unsigned char> out;
    std::vector<double> lse;
    int out_type;

    bool operator!=(const Result &other) const {
        return out != other.out || lse != other.lse;
    }
};

template <class Nats, class Bits>
static Result result_in(const attend_case &c, int version, const Schedule &schedule, int seed) {
    auto of = [](const auto &memory) { return Result{memory.out, memory.lse, memory.out_type}; };
    return version < 3 ? of(run<Nats>(c, version, schedule, seed))
                       : of(run<Bits>(c, version, schedule, seed));
}

static Result checked_result(const attend_case &c, int version, const Schedule &schedule,
                             int seed) {
    using namespace checked;
    return is_cached(c)
               ? c.shape.q_type == CP_BF16
                     ? result_in<BfloatCachedNats, BfloatCachedBits>(c, version, schedule, seed)
                     : result_in<CachedNats, CachedBits>(c, version, schedule, seed)
           : c.shape.q_type == CP_BF16
               ? result_in<BfloatNats, BfloatBits>(c, version, schedule, seed)
               : result_in<Nats, Bits>(c, version, schedule, seed);
}

static Result plain_result(const attend_case &c, int version, const Schedule &schedule, int seed) {
    using namespace plain;
    return is_cached(c)
               ? c.shape.q_type == CP_BF16
                     ? result_in<BfloatCachedNats, BfloatCachedBits>(c, version, schedule, seed)
                     : result_in<CachedNats, CachedBits>(c, version, schedule, seed)
           : c.shape.q_type == CP_BF16
               ? result_in<BfloatNats, BfloatBits>(c, version, schedule, seed)
               : result_in<Nats, Bits>(c, version, schedule, seed);
}

static double compare_one(const attend_case &c, int version, const Schedule &schedule,
                          const Result &result) {
    return accepted(
        c, version,
        judge(c, version, schedule, result.out.data(), result.out_type, result.lse.data()));
}

static void compare_all(int n_seeds, Kind kind) {
    double largest[plain::n_versions + 1] = {};
    each_case(n_seeds, kind, [&](const attend_case &c, int version, const Schedule &schedule) {
        double x = compare_one(c, version, schedule, plain_result(c, version, schedule, 0));
        largest[version] = std::fmax(largest[version], x);
    });
    for (int version = 1; version <= plain::n_versions; version++) {
        print_message("version %d: largest error / bound %.3f\n", version, largest[version]);
    }
}

static void numbers_are_within_the_tolerance(void **) {
    compare_all(3, PLAIN);
}

/* WINDOW-1 to WINDOW-3 */
static void so_are_those_of_windows(void **) {
    compare_all(6, WINDOWS);
}

/* With which the kernels cap scores on the executor: every 509th number from 2^-30 on; below, and
 * from 9.25 on, it is x and 1. */
static void tanhf_is_as_exact_as_declared(void **) {
    double worst = 0.0;
    for (std::uint32_t bits = 0x30800000; bits < 0x41140000; bits += 509) {
        float x;
        std::memcpy(&x, &bits, sizeof x);
        double right = std::tanh(static_cast<double>(x));
        double error = std::fabs(static_cast<double>(tanhf(x)) - right) / right;
        worst = std::fmax(worst, error / shift_arithmetic().tanh_error);
    }
    assert_true(worst <= 1.0 && tanhf(0x1p-31f) == 0x1p-31f && tanhf(9.25f) == 1.0f);
}

/* SCORE-1 to SCORE-5 */
static void so_are_those_of_changed_scores(void **) {
    compare_all(8, SCORES);
}

/* Version 1 computes every score for every element anew: with few elements only where that is done
 * often. */
static bool takes_long(int version, const attend_case &c) {
    return version == 1 && c.shape.head_dim > 64;
}

static void check_all(int n_seeds, Kind kind) {
    each_case(n_seeds, kind, [&](const attend_case &c, int version, const Schedule &schedule) {
        if (takes_long(version, c)) {
            return;
        }
        compare_one(c, version, schedule, checked_result(c, version, schedule, version));
    });
}

static void checks_find_nothing(void **) {
    check_all(1, PLAIN);
}

static void checks_find_nothing_with_windows(void **) {
    check_all(1, WINDOWS);
}

static void checks_find_nothing_with_changed_scores(void **) {
    check_all(2, SCORES);
}

static void same_bits(const attend_case &c, int version, const Schedule &schedule) {
    const Result first = plain_result(c, version, schedule, 0);
    for (int seed = 1; seed < 3; seed++) {
        if (first != plain_result(c, version, schedule, seed)) {
            fail_case(c, version, "another order of threads, other results");
        }
    }
}

static void run_in_orders(Kind kind) {
    each_case(1, kind, [](const attend_case &c, int version, const Schedule &schedule) {
        if (!takes_long(version, c)) {
            same_bits(c, version, schedule);
        }
    });
}

static void checks_find_nothing_with_caches(void **) {
    check_all(3, CACHES);
}

/* NUM-16: all numbers of each format in binary32, and all pairs of neighbours in tiles. */
static void numbers_of_8_bits_are_exact(void **) {
    auto same = [](double x, double y) {
        return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
    };
    for (int type : {CP_E4M3, CP_E5M2, CP_INT8}) {
        for (unsigned i = 0; i < 256; i++) {
            double right = cp_number8_to_double(static_cast<std::uint8_t>(i), type);
            float x = plain::number_of_8_bits(type, static_cast<std::uint8_t>(i));
            assert_true(same(static_cast<double>(x), right));
            unsigned pairs[2][4], low = i * 0x01010101u + 0x03020100u, high = low ^ 0x5A3C7F81u;
            plain::pairs_of_8_bits(type, low, high, pairs);
            for (unsigned j = 0; j < 8; j++) {
                std::uint8_t byte = static_cast<std::uint8_t>((j < 4 ? low : high) >> (j % 4 * 8));
                std::uint16_t first = static_cast<std::uint16_t>(pairs[0][j / 2] >> (j % 2 * 16));
                std::uint16_t second = static_cast<std::uint16_t>(pairs[1][j / 2] >> (j % 2 * 16));
                double number = cp_number8_to_double(byte, type);
                assert_true(same(cp_fp16_to_double(first), number));
                assert_true(same(cp_bf16_to_double(second), number) || std::isnan(number));
            }
        }
    }
}

/* NUM-16 to NUM-19 */
static void so_are_those_of_caches_of_8_bits(void **) {
    compare_all(9, CACHES);
}

static void every_order_gives_the_same_bits(void **) {
    run_in_orders(PLAIN);
    run_in_orders(CACHES);
    run_in_orders(WINDOWS);
    run_in_orders(SCORES);
}

static void same_bits_of(attend_case c, int version, const Schedule &schedule, cp_window window) {
    const Result first = plain_result(c, version, schedule, 0);
    c.attention.window = window;
    if (first != plain_result(c, version, schedule, 0)) {
        fail_case(c, version, "a window that hides nothing, other results");
    }
}

/* WINDOW-1: without a window kept says nothing, and a window that is large enough hides nothing. */
static void a_large_window_and_none_are_the_same(void **) {
    each_case(1, PLAIN, [](const attend_case &c, int version, const Schedule &schedule) {
        if (takes_long(version, c) || c.shape.query_mode == CASE_OWN) {
            return; /* rows may stand further behind the last key than a window is wide */
        }
        for (const cp_window &window : {cp_window{0, 0, 1}, cp_window{CP_MAX_WINDOW, 0, 3}}) {
            same_bits_of(c, version, schedule, window);
        }
    });
}

/* ---- In finite fields ---- */

static void compare_exactly(const attend_case &c, int version, const Schedule &schedule,
                            const std::vector<unsigned long long> &powers) {
    if (is_cached(c)) {
        compare_in<plain::ExactCached>(c, version, schedule, powers, 0);
    } else if (c.shape.q_type == CP_FP16) { /* other types are no other numbers here */
        compare_in<plain::Exact>(c, version, schedule, powers, 0);
    }
}

/* What the arithmetic rests on: 4 has the order q in Z_p, and q and p are prime. */
static void the_fields_are_fields(void **) {
    for (unsigned n : {Field::q + 0, Field::p + 0}) {
        for (unsigned divisor = 2; divisor * divisor <= n; divisor++) {
            assert_true(n % divisor != 0);
        }
    }
    assert_int_equal(Field::p, 2 * Field::q + 1);
    assert_int_equal(to_the(4, Field::q, Field::p), 1);
    assert_true(to_the(4, 1, Field::p) != 1);
}

static void exact_over_finite_fields(void **) {
    std::vector<unsigned long long> powers = powers_of_w();
    each_case(3, PLAIN, [&](const attend_case &c, int version, const Schedule &schedule) {
        compare_exactly(c, version, schedule, powers);
    });
}

static void exact_with_windows(void **) {
    std::vector<unsigned long long> powers = powers_of_w();
    each_case(4, WINDOWS, [&](const attend_case &c, int version, const Schedule &schedule) {
        compare_exactly(c, version, schedule, powers);
    });
}

static void exact_with_changed_scores(void **) {
    std::vector<unsigned long long> powers = powers_of_w();
    each_case(6, SCORES, [&](const attend_case &c, int version, const Schedule &schedule) {
        compare_exactly(c, version, schedule, powers);
    });
}

static void exact_with_caches_of_8_bits(void **) {
    std::vector<unsigned long long> powers = powers_of_w();
    each_case(6, CACHES, [&](const attend_case &c, int version, const Schedule &schedule) {
        compare_exactly(c, version, schedule, powers);
    });
}

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(the_fields_are_fields),
        cmocka_unit_test(exact_over_finite_fields),
        cmocka_unit_test(exact_with_windows),
        cmocka_unit_test(exact_with_changed_scores),
        cmocka_unit_test(exact_with_caches_of_8_bits),
        cmocka_unit_test(numbers_are_within_the_tolerance),
        cmocka_unit_test(so_are_those_of_windows),
        cmocka_unit_test(tanhf_is_as_exact_as_declared),
        cmocka_unit_test(so_are_those_of_changed_scores),
        cmocka_unit_test(numbers_of_8_bits_are_exact),
        cmocka_unit_test(so_are_those_of_caches_of_8_bits),
        cmocka_unit_test(checks_find_nothing),
        cmocka_unit_test(checks_find_nothing_with_windows),
        cmocka_unit_test(checks_find_nothing_with_changed_scores),
        cmocka_unit_test(checks_find_nothing_with_caches),
        cmocka_unit_test(every_order_gives_the_same_bits),
        cmocka_unit_test(a_large_window_and_none_are_the_same),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
