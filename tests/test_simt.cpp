/* SPDX-License-Identifier: Apache-2.0 */
/* The features of kernels/simt/: what right kernels compute, plain and checked, in ascending
 * order and in 20 others. */
#include "tests/simt/kernels_twice.h"

#include <cmath>
#include <cstring>
#include <ctime>
#include <thread>

#include "chunkproof/number.h"
#include "kernels/simt/as_cuda/cuda_bf16.h"
#include "kernels/simt/cuda_half.h"
#include "tests/random.h"

using simt::Config;
using simt::Report;

static const int seeds = 20;
static const int lanes = 32;

/* check(checked, config) for the kernel both ways and each seed. */
template <class Check> static void each_way(Config config, Check check) {
    for (int seed = 0; seed <= seeds; seed++) {
        config.seed = static_cast<std::uint64_t>(seed);
        check(false, config);
        check(true, config);
    }
}

static void indices(void **) {
    Config config;
    config.grid = dim3(3, 2, 1);
    config.block = dim3(4, 3, 2);
    each_way(config, [](bool check, const Config &with) {
        std::vector<unsigned> out(6 * 24, 0);
        assert_ok(simt::launch(with, check ? checked::indices : plain::indices, out.data()));
        for (unsigned block = 0; block < 6; block++) {
            for (unsigned t = 0; t < 24; t++) {
                unsigned place = block % 3 + 10 * (block / 3);
                unsigned thread = 100 * (t % 4) + 1000 * (t / 4 % 3) + 10000 * (t / 12);
                assert_int_equal(out[block * 24 + t], place + thread);
            }
        }
    });
}

/* As the CUDA programming guide says, lane by lane. */
static void shuffles(void **) {
    each_way(block_of(lanes), [](bool check, const Config &with) {
        std::vector<int> out(9 * lanes, -1);
        assert_ok(simt::launch(with, check ? checked::shuffles : plain::shuffles, out.data()));
        for (int t = 0; t < lanes; t++) {
            assert_int_equal(out[t], 3);
            assert_int_equal(out[32 + t], t / 8 * 8 + 3);
            assert_int_equal(out[64 + t], t < 5 ? t : t - 5);
            assert_int_equal(out[96 + t], t % 16 < 5 ? t : t - 5);
            assert_int_equal(out[128 + t], t + 5 > 31 ? t : t + 5);
            assert_int_equal(out[160 + t], t % 16 + 5 > 15 ? t : t + 5);
            assert_int_equal(out[192 + t], t ^ 9);
            int other = t ^ 9; /* in an earlier segment it is read, in a later one it is not */
            assert_int_equal(out[224 + t], other / 8 > t / 8 ? t : other);
            assert_int_equal(out[256 + t], 31 - t);
        }
    });
}

static void shuffles_of_types(void **) {
    each_way(block_of(lanes), [](bool check, const Config &with) {
        std::vector<float> f(lanes);
        std::vector<unsigned> u(lanes);
        std::vector<unsigned long long> w(lanes);
        std::vector<double> d(lanes);
        assert_ok(simt::launch(with, check ? checked::shuffles_of_types : plain::shuffles_of_types,
                               f.data(), u.data(), w.data(), d.data()));
        for (unsigned t = 0; t < lanes; t++) {
            assert_true(f[t] == 0.5f * static_cast<float>(t ^ 1));
            assert_true(u[t] == 0x80000000u + (t ^ 2));
            assert_true(w[t] == (1ull << 40) * (t == 31 ? 31 : t + 1));
            assert_true(d[t] == 0.1 * (t == 0 ? 0 : t - 1));
        }
    });
}

static void votes(void **) {
    each_way(block_of(lanes), [](bool check, const Config &with) {
        std::vector<unsigned> out(4 * lanes);
        assert_ok(simt::launch(with, check ? checked::votes : plain::votes, out.data()));
        for (int t = 0; t < lanes; t++) {
            assert_int_equal(out[t], 0x49249249);
            assert_int_equal(out[32 + t], 1);
            assert_int_equal(out[64 + t], 1);
            assert_int_equal(out[96 + t], 1);
        }
    });
}

static void counts(void **) {
    each_way(block_of(128), [](bool check, const Config &with) {
        std::vector<int> out(96);
        assert_ok(simt::launch(with, check ? checked::counts : plain::counts, out.data()));
        for (int t = 0; t < 96; t++) {
            assert_int_equal(out[t], 32 + 1000 + 10000);
        }
    });
}

static void parts_of_a_warp(void **) {
    each_way(block_of(40), [](bool check, const Config &with) {
        std::vector<int> out(40);
        assert_ok(simt::launch(with, check ? checked::part_of_a_warp : plain::part_of_a_warp,
                               out.data()));
        for (int t = 0; t < 40; t++) {
            assert_int_equal(out[t], t < 32 ? 31 * 32 / 2 : 39);
        }
    });
}

static void barriers(void **) {
    each_way(block_of(160), [](bool check, const Config &with) {
        std::vector<int> out(160, -1);
        assert_ok(simt::launch(with, check ? checked::named_barriers : plain::named_barriers,
                               out.data()));
        for (int t = 0; t < 160; t++) {
            assert_int_equal(out[t], t >= 64 && t < 128 ? (t - 64) * (t - 64) : -1);
        }
    });
    each_way(block_of(64), [](bool check, const Config &with) {
        std::vector<int> out(64, -1);
        auto kernel = check ? checked::threads_end_early : plain::threads_end_early;
        assert_ok(simt::launch(with, kernel, out.data()));
        for (int t = 0; t < 64; t++) {
            assert_int_equal(out[t], t % 32 < 20 ? (t ^ 32) + t / 32 * 32 + 19 : -1);
        }
    });
}

/* A thread that watches another one has no turn for ever, atomics or not. */
static void waiting_threads_take_turns(void **) {
    each_way(block_of(64), [](bool check, const Config &with) {
        int out = 0;
        assert_ok(simt::launch(with, check ? checked::wait_for_flag : plain::wait_for_flag, &out));
        assert_int_equal(out, 2);
    });
}

static void atomics(void **) {
    Config config = block_of(64);
    config.grid = 3;
    each_way(config, [](bool check, const Config &with) {
        int sum = 0;
        int swapped = 100;
        unsigned greatest = 0;
        float real = 0.0f;
        assert_ok(simt::launch(with, check ? checked::atomics : plain::atomics, &sum, &greatest,
                               &swapped, &real));
        assert_int_equal(sum, 3 * 128);
        assert_int_equal(greatest, 65);
        assert_int_equal(swapped, 100);
        assert_true(real == 96.0f);
    });
}

/* 192 threads: 7 numbers round and round, all bits but the highest, and so on. */
static void bit_atomics(void **) {
    Config config = block_of(64);
    config.grid = 3;
    each_way(config, [](bool check, const Config &with) {
        unsigned u[] = {0, 0, 0, ~0u, 0, 1000};
        int i[] = {0, -1, 0, 0};
        unsigned long long w[] = {100, 3, 0};
        float f[] = {2.0f, 0.0f};
        assert_ok(simt::launch(with, check ? checked::bit_atomics : plain::bit_atomics,
                               static_cast<unsigned *>(u), static_cast<int *>(i),
                               static_cast<unsigned long long *>(w), static_cast<float *>(f)));
        const unsigned expected[] = {192 % 7, 7 - 192 % 7, ~0u, 1u << 31, 64, 1000 - 2 * 192};
        for (int x = 0; x < 6; x++) {
            assert_int_equal(u[x], expected[x]);
        }
        assert_int_equal(i[0], INT32_MAX);
        assert_int_equal(i[1], INT32_MIN);
        assert_int_equal(i[2], 64);
        assert_int_equal(i[3], -3 * 63 * 32);
        assert_true(w[0] == 5 && w[1] == 1ull << 40 && w[2] == 3);
        assert_true(f[0] == 0.5f && f[1] == 2.0f);
    });
}

/* Ascending without a seed; with one, blocks and the threads of the largest block in another
 * order. */
static void order_is_the_seeds(void **) {
    std::vector<int> orders[3];
    for (std::uint64_t seed = 0; seed < 3; seed++) {
        Config config = block_of(1024);
        config.grid = 4;
        config.seed = seed;
        int counter = 0;
        std::vector<int> &out = orders[seed];
        out.assign(4096, -1);
        assert_ok(simt::launch(config, checked::tickets, &counter, out.data()));
        std::vector<bool> seen(4096, false);
        for (int i = 0; i < 4096; i++) {
            assert_in_range(out[i], 0, 4095);
            assert_false(seen[out[i]]);
            seen[out[i]] = true;
            assert_true(seed != 0 || out[i] == i);
        }
    }
    assert_true(orders[1] != orders[0] && orders[2] != orders[0] && orders[1] != orders[2]);
    bool blocks_differ = false;
    for (std::uint64_t seed = 1; seed < 3; seed++) {
        for (int block = 0; block < 4; block++) {
            blocks_differ = blocks_differ || orders[seed][1024 * block] / 1024 != block;
        }
    }
    assert_true(blocks_differ);
}

static void arrays_of_instances(void **) {
    each_way(block_of(lanes), [](bool check, const Config &with) {
        std::vector<int> out(lanes);
        auto kernel = check ? checked::arrays_of_instances : plain::arrays_of_instances;
        assert_ok(simt::launch(with, kernel, out.data()));
        for (int t = 0; t < lanes; t++) {
            assert_int_equal(out[t], 201 * (31 - t));
        }
    });
}

/* The header's conversion is that of the project, for all values and bit for bit. */
static void halves(void **) {
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        float expected = static_cast<float>(cp_fp16_to_double(static_cast<std::uint16_t>(bits)));
        float converted = simt::half_to_float(static_cast<std::uint16_t>(bits));
        assert_memory_equal(&converted, &expected, sizeof expected);
    }
    std::vector<float> in(lanes);
    for (int t = 0; t < lanes; t++) {
        in[t] = std::ldexp(1.0f + 0x1p-11f * static_cast<float>(t), t - 16);
    }
    std::vector<float> out(5 * lanes);
    assert_ok(simt::launch(block_of(lanes), checked::halves, in.data(), out.data()));
    auto rounded = [](double x) { return cp_fp16_to_double(cp_fp16_from_double(x)); };
    for (int t = 0; t < lanes; t++) {
        double a = rounded(static_cast<double>(in[t]));
        double b = rounded(static_cast<double>(in[(t + 1) % lanes]));
        assert_true(static_cast<double>(out[t]) == a);
        assert_true(out[32 + t] == 0.0f);
        assert_true(static_cast<double>(out[64 + t]) == b);
        assert_true(static_cast<double>(out[96 + t]) == rounded(a + b));
        assert_true(static_cast<double>(out[128 + t]) == rounded(a * b));
    }
}

/* As the project's, for all values; and rounded as those, at and around each tie. */
static void bfloats(void **) {
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        __nv_bfloat16 number = __ushort_as_bfloat16(static_cast<unsigned short>(bits));
        float expected = static_cast<float>(cp_bf16_to_double(static_cast<std::uint16_t>(bits)));
        float converted = __bfloat162float(number);
        assert_true(converted == expected || (converted != converted && expected != expected));
        for (unsigned more : {0u, 1u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu}) {
            float between = __uint_as_float(bits << 16 | more);
            unsigned short rounded = __bfloat16_as_ushort(__float2bfloat16(between));
            assert_true(between != between
                            ? (rounded & 0x7FFF) > 0x7F80
                            : rounded == cp_bf16_from_double(static_cast<double>(between)));
        }
    }
}

/* In a kernel: each number by itself, and the two of a pair. */
static void bfloats_in_pairs(void **) {
    std::vector<float> in(lanes), out(3 * lanes);
    for (int t = 0; t < lanes; t++) {
        in[t] = std::ldexp(1.0f + 0x1p-8f * static_cast<float>(t), 7 * t - 110);
    }
    assert_ok(simt::launch(block_of(lanes), checked::bfloats, in.data(), out.data()));
    for (int t = 0; t < lanes; t++) { /* each alone is checked above */
        assert_true(out[t] == __bfloat162float(__float2bfloat16_rn(in[t])));
        assert_true(out[32 + t] == 0.0f && out[64 + t] == out[(t + 1) % lanes]);
    }
}

static void async_copies(void **) {
    alignas(16) static char in[1536];
    for (int i = 0; i < 1536; i++) {
        in[i] = static_cast<char>(i * 37 + i / 256);
    }
    Config config = block_of(lanes);
    config.dynamic_bytes = 1536;
    config.buffers = {{"in", in, sizeof in, false}};
    each_way(config, [](bool check, const Config &with) {
        std::vector<char> out(1536, 1);
        Config both = with;
        both.buffers.push_back(writable("out", out));
        assert_ok(simt::launch(both, check ? checked::async_copies : plain::async_copies, in,
                               out.data()));
        for (int i = 0; i < 1536; i++) {
            assert_int_equal(out[i], i >= 1024 && i % 16 >= 6 ? 0 : in[i]);
        }
    });
}

/* Each position of each matrix is a number of its own. */
static void matrices_are_loaded(void **) {
    std::vector<__half> in(256);
    for (int i = 0; i < 256; i++) {
        in[i].bits = static_cast<std::uint16_t>(i + 1);
    }
    each_way(block_of(lanes), [&](bool check, const Config &with) {
        std::vector<unsigned> out(6 * lanes * 4);
        assert_ok(simt::launch(with, check ? checked::load_matrices : plain::load_matrices,
                               static_cast<const __half *>(in.data()), out.data()));
        for (int i = 0; i < 6 * lanes * 4; i++) {
            int matrix = i % 4;
            int lane = i / 4 % lanes;
            int kind = i / 4 / lanes;
            int row = kind < 3 ? lane / 4 : lane % 4 * 2;
            int column = kind < 3 ? lane % 4 * 2 : lane / 4;
            int low = matrix * 64 + row * 8 + column + 1;
            int high = low + (kind < 3 ? 1 : 8);
            bool loaded = matrix < 1 << kind % 3;
            assert_int_equal(out[i], loaded ? low | high << 16 : 0);
        }
    });
}

/* Matrices as the lanes hold them, by the formulas of the PTX ISA, "Matrix fragments for
 * mma.m16n8k16": of 8 values a0 .. a7 a lane has row and column of each. */
struct Product {
    float a[16][16], b[16][8], c[16][8], d[16][8];
};

static int row_of_a(int lane, int i) {
    return lane / 4 + (i < 2 || (i >= 4 && i < 6) ? 0 : 8);
}

static int column_of_a(int lane, int i) {
    return lane % 4 * 2 + (i & 1) + (i < 4 ? 0 : 8);
}

static int row_of_b(int lane, int i) {
    return lane % 4 * 2 + (i & 1) + (i < 2 ? 0 : 8);
}

/* What A and B are of, and the kernels that multiply them. */
struct Elements {
    std::uint16_t (*of)(double);
    double (*to)(std::uint16_t);
    void (*plain)(const unsigned *, const unsigned *, const float *, float *);
    void (*checked)(const unsigned *, const unsigned *, const float *, float *);

    unsigned pair_of(float low, float high) const {
        unsigned lower = of(static_cast<double>(low));
        return lower | static_cast<unsigned>(of(static_cast<double>(high))) << 16;
    }
};

static const Elements kinds_of_elements[] = {
    {cp_fp16_from_double, cp_fp16_to_double, plain::multiply, checked::multiply},
    {cp_bf16_from_double, cp_bf16_to_double, plain::multiply_bfloats, checked::multiply_bfloats}};

static void multiply_all(const Elements &kind, std::vector<Product> &products, bool check,
                         std::uint64_t seed) {
    std::size_t count = products.size();
    std::vector<unsigned> a(count * lanes * 4);
    std::vector<unsigned> b(count * lanes * 2);
    std::vector<float> c(count * lanes * 4);
    std::vector<float> d(count * lanes * 4);
    for (std::size_t l = 0; l < count * lanes; l++) {
        Product &p = products[l / lanes];
        int lane = static_cast<int>(l % lanes);
        for (int i = 0; i < 4; i++) {
            a[4 * l + i] =
                kind.pair_of(p.a[row_of_a(lane, 2 * i)][column_of_a(lane, 2 * i)],
                             p.a[row_of_a(lane, 2 * i + 1)][column_of_a(lane, 2 * i + 1)]);
            c[4 * l + i] = p.c[lane / 4 + (i < 2 ? 0 : 8)][lane % 4 * 2 + (i & 1)];
        }
        for (int i = 0; i < 2; i++) {
            b[2 * l + i] = kind.pair_of(p.b[row_of_b(lane, 2 * i)][lane / 4],
                                        p.b[row_of_b(lane, 2 * i + 1)][lane / 4]);
        }
    }
    Config config = block_of(lanes);
    config.grid = static_cast<unsigned>(count);
    config.seed = seed;
    config.buffers = {constant("a", a), constant("b", b), constant("c", c), writable("d", d)};
    assert_ok(simt::launch(config, check ? kind.checked : kind.plain, a.data(), b.data(), c.data(),
                           d.data()));
    for (std::size_t i = 0; i < d.size(); i++) {
        int lane = static_cast<int>(i / 4 % lanes);
        int one = static_cast<int>(i % 4);
        products[i / 4 / lanes].d[lane / 4 + (one < 2 ? 0 : 8)][lane % 4 * 2 + (one & 1)] = d[i];
    }
}

/* A is 1 at one place (r, k): row r of D is row k of B, plus C. All 16 x 16 places; with the 8
 * columns each of the 16 x 8 x 16 products has its turn. */
static void product_of_each_place(void **) {
    std::vector<Product> products(256);
    for (int place = 0; place < 256; place++) {
        Product &p = products[place];
        p = {};
        p.a[place / 16][place % 16] = 1.0f;
        for (int i = 0; i < 128; i++) {
            p.b[i / 8][i % 8] = static_cast<float>(i + 1);
            p.c[i / 8][i % 8] = static_cast<float>(1000 * (i + 1));
        }
    }
    for (std::uint64_t seed = 0; seed < 6; seed++) {
        multiply_all(kinds_of_elements[seed % 2], products, seed > 1, seed / 2);
        for (int i = 0; i < 256 * 128; i++) {
            const Product &p = products[i / 128];
            int row = i / 8 % 16;
            int column = i % 8;
            float product = row == i / 128 / 16 ? p.b[i / 128 % 16][column] : 0.0f;
            assert_true(p.d[row][column] == p.c[row][column] + product);
        }
    }
}

/* Against the sum in binary64: 16 sums, each rounded once to 2^-24 of a partial sum, whatever the
 * order. */
static void product_of_random_numbers_of(const Elements &kind) {
    unsigned long long state = 1;
    std::vector<Product> products(50);
    auto number = [&](int exponent) {
        double x =
            std::ldexp(random_uniform(&state), random_below(&state, 2 * exponent) - exponent);
        return static_cast<float>(kind.to(kind.of(x)));
    };
    for (Product &p : products) {
        for (int i = 0; i < 256; i++) {
            p.a[i / 16][i % 16] = number(12);
            p.b[i / 2 / 8][i / 2 % 8] = number(12);
            p.c[i / 2 / 8][i / 2 % 8] = number(8);
        }
    }
    multiply_all(kind, products, true, 5);
    for (int i = 0; i < 50 * 128; i++) {
        const Product &p = products[i / 128];
        int row = i / 8 % 16;
        int column = i % 8;
        double exact = static_cast<double>(p.c[row][column]);
        double sizes = std::fabs(exact);
        for (int k = 0; k < 16; k++) {
            double one = static_cast<double>(p.a[row][k]) * static_cast<double>(p.b[k][column]);
            exact += one;
            sizes += std::fabs(one);
        }
        double error = std::fabs(static_cast<double>(p.d[row][column]) - exact);
        assert_true(error <= 16.1 * 0x1p-24 * sizes);
    }
}

static void product_of_random_numbers(void **) {
    for (const Elements &kind : kinds_of_elements) {
        product_of_random_numbers_of(kind);
    }
}

struct Attention {
    std::vector<__half> q, k, v;
    std::vector<double> out;
};

/* One query, 64 keys, 64 columns; softmax as it is written down. */
static Attention attention() {
    unsigned long long state = 7;
    Attention one = {std::vector<__half>(64), std::vector<__half>(4096), std::vector<__half>(4096),
                     std::vector<double>(64, 0.0)};
    for (std::vector<__half> *numbers : {&one.q, &one.k, &one.v}) {
        for (__half &number : *numbers) {
            number.bits = cp_fp16_from_double(random_normal(&state));
        }
    }
    double sum = 0.0;
    for (int key = 0; key < 64; key++) {
        double score = 0.0;
        for (int i = 0; i < 64; i++) {
            score += cp_fp16_to_double(one.q[i].bits) * cp_fp16_to_double(one.k[64 * key + i].bits);
        }
        double weight = std::exp(0.125 * score);
        sum += weight;
        for (int i = 0; i < 64; i++) {
            one.out[i] += weight * cp_fp16_to_double(one.v[64 * key + i].bits);
        }
    }
    for (double &number : one.out) {
        number /= sum;
    }
    return one;
}

static Report run_decode(const Attention &one, std::vector<float> &out, bool check,
                         std::uint64_t seed) {
    Config config = block_of(128);
    config.dynamic_bytes = 2 * 64 * 64 * sizeof(__half);
    config.seed = seed;
    config.buffers = {constant("q", one.q), constant("k", one.k), constant("v", one.v),
                      writable("out", out)};
    return simt::launch(config, check ? checked::decode : plain::decode, one.q.data(), one.k.data(),
                        one.v.data(), out.data(), 0.125f);
}

/* Near the oracle, and bit for bit the same in every order. */
static void decode(void **) {
    Attention one = attention();
    std::vector<float> first(64);
    assert_ok(run_decode(one, first, false, 0));
    for (int i = 0; i < 64; i++) {
        assert_true(std::fabs(static_cast<double>(first[i]) - one.out[i]) <= 1e-5);
    }
    for (int seed = 0; seed <= seeds; seed++) {
        for (bool check : {false, true}) {
            std::vector<float> out(64);
            assert_ok(run_decode(one, out, check, static_cast<std::uint64_t>(seed)));
            assert_memory_equal(out.data(), first.data(), 64 * sizeof(float));
        }
    }
}

/* Launches of two threads of the operating system have nothing in common. */
static void side_by_side(void **) {
    Attention one = attention();
    std::vector<float> first(64);
    assert_ok(run_decode(one, first, true, 0));
    std::vector<float> out[2] = {std::vector<float>(64), std::vector<float>(64)};
    bool fine[2] = {true, true};
    auto many = [&](int which) {
        for (std::uint64_t seed = 0; seed < 5; seed++) {
            fine[which] = run_decode(one, out[which], true, seed).ok() && fine[which];
        }
    };
    std::thread other(many, 1);
    many(0);
    other.join();
    assert_true(fine[0] && fine[1]);
    assert_true(out[0] == first && out[1] == first);
}

/* At least 1e-6. */
template <class Run> static double seconds_of(Run run) {
    std::clock_t start = std::clock();
    run();
    return static_cast<double>(std::clock() - start + 1) / CLOCKS_PER_SEC;
}

/* How fast it is, in time of the processor: told, not judged. */
static void speed(void **) {
    Attention one = attention();
    std::vector<float> out(64);
    for (bool check : {false, true}) {
        double time = seconds_of([&] { assert_ok(run_decode(one, out, check, 0)); });
        print_message("    decode, %s: %.2f ms\n", check ? "checked" : "plain", 1e3 * time);
    }
    Report report;
    std::vector<int> passed(64);
    double time = seconds_of(
        [&] { report = simt::launch(block_of(64), plain::pass_often, passed.data(), 2000); });
    assert_ok(report);
    print_message("    threads resumed at a barrier: %.1f million/s\n",
                  1e-6 * static_cast<double>(report.switches) / time);
    const int times = 2000;
    time = seconds_of([&] {
        assert_ok(simt::launch(block_of(lanes), plain::multiply_often, out.data(), times));
    });
    print_message("    mma.m16n8k16: %.2f million/s\n", 1e-6 * times / time);
}

int main() {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices),
        cmocka_unit_test(shuffles),
        cmocka_unit_test(shuffles_of_types),
        cmocka_unit_test(votes),
        cmocka_unit_test(counts),
        cmocka_unit_test(parts_of_a_warp),
        cmocka_unit_test(barriers),
        cmocka_unit_test(waiting_threads_take_turns),
        cmocka_unit_test(atomics),
        cmocka_unit_test(bit_atomics),
        cmocka_unit_test(order_is_the_seeds),
        cmocka_unit_test(arrays_of_instances),
        cmocka_unit_test(halves),
        cmocka_unit_test(bfloats),
        cmocka_unit_test(bfloats_in_pairs),
        cmocka_unit_test(async_copies),
        cmocka_unit_test(matrices_are_loaded),
        cmocka_unit_test(product_of_each_place),
        cmocka_unit_test(product_of_random_numbers),
        cmocka_unit_test(decode),
        cmocka_unit_test(side_by_side),
        cmocka_unit_test(speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
