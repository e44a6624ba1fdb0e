/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the loops of each version (opt/kernels.h) with those of plain C: exactly equal where
 * nothing is rounded or the rounding is prescribed, else within the roundings of one sum in any
 * order. Nothing is written past the ends. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "chunkproof/score_shift.h"
#include "opt/kernels.h"
#include "opt_case.h"
#include "random.h"

#define MOST 4096 /* numbers of an array here */

static const int types[] = {CP_FP16, CP_BF16, CP_FP32, CP_E4M3, CP_E5M2, CP_INT8};

static int same(float x, float y) {
    return memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y));
}

static void *allocate(size_t n, size_t size) {
    void *memory = calloc(n, size);
    assert_non_null(memory);
    return memory;
}

static void fill(float *to, int n, unsigned long long seed) {
    for (int i = 0; i < n; i++) {
        to[i] = (float)random_normal(&seed);
    }
}

/* All 65,536 numbers of each short type; at any place in a vector. */
static void every_number_is_widened_exactly(void **unused) {
    uint16_t *from = allocate(65536, sizeof *from);
    float *to = allocate(65536, sizeof *to);
    (void)unused;
    for (int i = 0; i < 65536; i++) {
        from[i] = (uint16_t)i;
    }
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt_kernels kernels = cp_opt_kernels_of(version);
        for (int type = 0; type < 2; type++) {
            kernels.widen(to, 256, from, 256, types[type], 256, 256);
            for (int x = 0; x < 65536; x++) {
                assert_true(same(to[x], (float)cp_number_load(from, types[type], (size_t)x)));
            }
        }
    }
    free(from);
    free(to);
}

/* All 256 numbers of 8 bits, with the sign of zeros; those behind a vector, too. */
static void every_number_of_8_bits_is_widened_exactly(void **unused) {
    uint8_t *from = allocate(256, sizeof *from);
    float to[256];
    (void)unused;
    for (int i = 0; i < 256; i++) {
        from[i] = (uint8_t)i;
    }
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt_kernels kernels = cp_opt_kernels_of(version);
        for (int type = CP_E4M3; type <= CP_INT8; type++) {
            for (int begin = 0; begin < 40; begin++) {
                kernels.widen(to, 256, from + begin, 256, type, 1, 256 - begin);
                for (int x = 0; x < 256 - begin; x++) {
                    float right = (float)cp_number8_to_double((uint8_t)(begin + x), type);
                    assert_true(same(to[x], right));
                }
            }
        }
    }
    free(from);
}

/* Every length of a row; zeros behind it, nothing behind these; not a byte behind the array is read
 * (sanitizers). */
static void rows_of_every_length(void **unused) {
    float to[3 * 48 + 1];
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt_kernels kernels = cp_opt_kernels_of(version);
        for (int d = 1; d <= 40; d++) {
            size_t stride = (size_t)(d + CP_OPT_PAD - 1) / CP_OPT_PAD * CP_OPT_PAD;
            for (int type = 0; type < 6; type++) {
                size_t size = cp_number_size(types[type]), n = 3 * (size_t)d;
                void *from = allocate(n, size);
                for (size_t x = 0; x < n; x++) {
                    cp_number_store(from, types[type], x, (double)(x + 1));
                }
                for (size_t x = 0; x <= 3 * stride; x++) {
                    to[x] = -5.0F;
                }
                kernels.widen(to, stride, from, (size_t)d, types[type], 3, d);
                for (size_t x = 0; x < 3 * stride; x++) {
                    size_t at = x / stride * (size_t)d + x % stride;
                    float right = x % stride < (size_t)d
                                      ? (float)cp_number_load(from, types[type], at)
                                      : 0.0F;
                    assert_true(to[x] == right);
                }
                assert_true(to[3 * stride] == -5.0F);
                free(from);
            }
        }
    }
}

/* Numbers halfway between two of the type, next to those, too large, too small, and none. */
static void storing_rounds_as_demanded(void **unused) {
    float *from = allocate(MOST, sizeof *from);
    double to[MOST + 2], right[MOST + 2];
    unsigned long long random = 1;
    (void)unused;
    for (int i = 0; i < MOST; i++) {
        uint32_t bits = (uint32_t)random_bits(&random);
        bits = i % 3 == 0 ? (bits & 0xFFFFE000U) | 0x1000U : i % 3 == 1 ? bits & 0xFFFF8000U : bits;
        bits = i % 2 ? (bits & 0x8FFFFFFFU) | 0x30000000U : bits; /* near 1, or anywhere */
        memcpy(&from[i], &bits, sizeof bits);
    }
    from[5] = NAN;
    from[6] = INFINITY;
    from[7] = -0.0F;
    from[8] = 65520.0F;
    from[9] = 0x1p-25F;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt_kernels kernels = cp_opt_kernels_of(version);
        for (int type = CP_FP16; type <= CP_BF16; type++) {
            for (int n = MOST - 20; n <= MOST; n++) {
                memset(to, 0x5A, sizeof to);
                memset(right, 0x5A, sizeof right);
                for (int x = 0; x < n; x++) {
                    cp_number_store(right, type, (size_t)x + 1, (double)from[x]);
                }
                kernels.store(to, type, 1, from, n);
                size_t size = cp_number_size(type);
                for (size_t x = 0; x < (size_t)n + 2; x++) {
                    int nan = x > 0 && x <= (size_t)n && isnan(from[x - 1]);
                    assert_true(
                        nan ? isnan(cp_number_load(to, type, x))
                            : memcmp((char *)to + x * size, (char *)right + x * size, size) == 0);
                }
            }
        }
    }
    free(from);
}

/* How far two sums of k terms may be apart, each in binary32 and in any order; magnitude: the sum
 * of the terms' own. */
static double sum_bound(int k, double magnitude) {
    return 2.0 * (k + 1) * 0x1.01p-24 * magnitude;
}

/* A copy without signs. */
static float *magnitudes_of(const float *from, int n) {
    float *to = allocate((size_t)n, sizeof *to);
    for (int i = 0; i < n; i++) {
        to[i] = fabsf(from[i]);
    }
    return to;
}

static void products_of_every_size(void **unused) {
    float *a = allocate(MOST, sizeof *a), *b = allocate(MOST, sizeof *b);
    float c[24 * 64], right[24 * 64], magnitude[24 * 64];
    (void)unused;
    fill(a, MOST, 2);
    fill(b, MOST, 3);
    float *a_size = magnitudes_of(a, MOST), *b_size = magnitudes_of(b, MOST);
    for (int i = 1, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt_kernels plain = cp_opt_portable(), kernels = cp_opt_kernels_of(version);
        for (int m = 1; m <= 23; m++) {
            for (int x = 0; x < 12; x++) {
                int n = 16 * (1 + x % 4), k = 1 + x * 5, add = x % 2;
                struct opt_matrix of =
                    x % 3 ? (struct opt_matrix){a, 60, 1} : (struct opt_matrix){a, 1, 25};
                struct opt_matrix sizes = {a_size, of.row, of.column};
                fill(c, 24 * 64, 4);
                memcpy(right, c, sizeof c);
                for (int at = 0; at < 24 * 64; at++) {
                    magnitude[at] = fabsf(c[at]);
                }
                plain.product(right, 64, of, b, 64, m, n, k, add, NULL);
                plain.product(magnitude, 64, sizes, b_size, 64, m, n, k, add, NULL);
                kernels.product(c, 64, of, b, 64, m, n, k, add, NULL);
                for (int at = 0; at < 24 * 64; at++) {
                    int inside = at / 64 < m && at % 64 < n;
                    double bound = inside ? sum_bound(k + 1, magnitude[at]) : 0.0;
                    assert_true(fabs((double)c[at] - (double)right[at]) <= bound);
                }
            }
        }
    }
    free(a);
    free(b);
    free(a_size);
    free(b_size);
}

/* As large as its numbers: not a byte behind is read (sanitizers). */
static void *typed(const float *from, int n, int type, int sizes) {
    void *to = allocate((size_t)n, cp_number_size(type));
    for (int i = 0; i < n; i++) {
        cp_number_store(to, type, (size_t)i, sizes ? fabs((double)from[i]) : (double)from[i]);
    }
    return to;
}

enum { FEW = 8, WIDEST = 48 };

/* Each array beside that of plain C and that of magnitudes, in which nothing cancels. */
static void compare(const float *one, const float *right, const float *magnitude, int terms,
                    int n) {
    for (int i = 0; i < n; i++) {
        double bound = sum_bound(terms, magnitude[i]);
        assert_true(fabs((double)one[i] - (double)right[i]) <= bound);
    }
}

/* Keys have d numbers; values have d_v of these, in rows of d, the last of which ends with them. */
static void dots_and_values_of_few_rows(void **unused) {
    float q[FEW * WIDEST], kv[CP_OPT_KEYS * WIDEST], weight[FEW * CP_OPT_KEYS], o[FEW * WIDEST];
    float score[3][FEW * CP_OPT_KEYS], sum[3][FEW * WIDEST];
    (void)unused;
    fill(q, FEW * WIDEST, 5);
    fill(kv, CP_OPT_KEYS * WIDEST, 6);
    fill(weight, FEW * CP_OPT_KEYS, 7);
    fill(o, FEW * WIDEST, 8);
    float *q_size = magnitudes_of(q, FEW * WIDEST), *o_size = magnitudes_of(o, FEW * WIDEST);
    float *w_size = magnitudes_of(weight, FEW * CP_OPT_KEYS);
    for (int i = 1, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt_kernels plain = cp_opt_portable(), kernels = cp_opt_kernels_of(version);
        for (int keys = 1; keys <= CP_OPT_KEYS; keys++) {
            int rows = 1 + keys % FEW, d = 1 + keys * 7 % WIDEST, type = types[keys % 6];
            size_t stride = (size_t)(d + CP_OPT_PAD - 1) / CP_OPT_PAD * CP_OPT_PAD;
            int d_v = keys % 2 ? d : 1 + keys * 5 % d, n = (keys - 1) * d + d_v;
            void *of = typed(kv, keys * d, type, 0), *sizes = typed(kv, keys * d, type, 1);
            void *v = typed(kv, n, type, 0), *v_sizes = typed(kv, n, type, 1);
            memset(score, 0, sizeof score);
            kernels.dots(score[0], q, stride, rows, of, type, keys, d);
            plain.dots(score[1], q, stride, rows, of, type, keys, d);
            plain.dots(score[2], q_size, stride, rows, sizes, type, keys, d);
            compare(score[0], score[1], score[2], d, FEW * CP_OPT_KEYS);
            memcpy(sum[0], o, sizeof o);
            memcpy(sum[1], o, sizeof o);
            memcpy(sum[2], o_size, sizeof o);
            kernels.values(sum[0], stride, weight, rows, v, (size_t)d, type, keys, d_v);
            plain.values(sum[1], stride, weight, rows, v, (size_t)d, type, keys, d_v);
            plain.values(sum[2], stride, w_size, rows, v_sizes, (size_t)d, type, keys, d_v);
            compare(sum[0], sum[1], sum[2], keys + 1, FEW * WIDEST);
            free(of);
            free(sizes);
            free(v);
            free(v_sizes);
        }
    }
    free(q_size);
    free(o_size);
    free(w_size);
}

/* Weights, sums and maxima by row and by column are those of plain C. */
static void weighing_by_row_and_by_column(void **unused) {
    float m[3][16], n[3][16], factor[3][16] = {{0}}, seen[16], begin[16], kept[16];
    float rows[2][16 * CP_OPT_KEYS], columns[CP_OPT_KEYS * 16];
    (void)unused;
    for (int i = 1, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt_kernels plain = cp_opt_portable(), kernels = cp_opt_kernels_of(version);
        for (int keys = 1; keys <= CP_OPT_KEYS; keys++) {
            fill(rows[0], 16 * CP_OPT_KEYS, 7 + (unsigned)keys);
            memcpy(rows[1], rows[0], sizeof rows[0]);
            for (int at = 0; at < 16 * CP_OPT_KEYS; at++) {
                columns[at % CP_OPT_KEYS * 16 + at / CP_OPT_KEYS] = rows[0][at];
            }
            for (int r = 0; r < 16; r++) {
                seen[r] = (float)(keys % 3 ? keys : (keys * r + 7) % (keys + 1));
                begin[r] = (float)(r * 5 % ((int)seen[r] + 1));
                kept[r] = (float)(r * 3 % ((int)begin[r] + 1));
                for (int way = 0; way < 3; way++) {
                    m[way][r] = r % 4 ? (float)r - 8.0F : CP_OPT_NO_SCORE;
                    n[way][r] = r % 4 ? 1.5F : 0.0F;
                }
            }
            const float *from = keys % 2 ? begin : NULL, *until = keys % 2 ? kept : NULL;
            struct opt_states states[3] = {{m[0], n[0], factor[0], seen, from, until},
                                           {m[1], n[1], factor[1], seen, from, until},
                                           {m[2], n[2], factor[2], seen, from, until}};
            plain.weigh_rows(rows[0], 16, 3.0F, &states[0]);
            kernels.weigh_rows(rows[1], 16, 3.0F, &states[1]);
            kernels.weigh_columns(columns, keys, 16, 3.0F, &states[2]);
            for (int r = 0; r < 16; r++) {
                for (int way = 1; way < 3; way++) {
                    assert_true(m[way][r] == m[0][r]);
                    assert_true(fabsf(n[way][r] - n[0][r]) <= 70.0F * 0x1p-23F * n[0][r]);
                    assert_true(fabsf(factor[way][r] - factor[0][r]) <= 0x1p-22F);
                }
                for (int j = 0; j < keys; j++) {
                    float right = rows[0][r * CP_OPT_KEYS + j];
                    assert_true(fabsf(rows[1][r * CP_OPT_KEYS + j] - right) <= right * 0x1p-22F);
                    assert_true(fabsf(columns[j * 16 + r] - right) <= right * 0x1p-22F);
                    int hidden = from != NULL && (float)j < begin[r] && (float)j >= kept[r];
                    assert_true(((float)j < seen[r] && !hidden) == (right != 0.0F) ||
                                right == 0.0F);
                }
            }
        }
    }
}

/* NUM-15: what one score becomes, and how far it may be off. The cap's 1 / 3 is not exact. */
static double changed(const struct opt_change *change, float sum, int i, int j, double *error) {
    const struct cp_shift_arithmetic binary32 = {0x1p-24, 0x1p-149, CP_OPT_TANH_ERROR, 0.0};
    double score = (double)change->scale * (double)sum;
    struct cp_score_change of = {.cap = (double)change->cap, .without_bias = change->slope == NULL};
    if (change->slope != NULL) {
        of.bias = (double)change->slope[i] * ((double)change->distance[i] + j);
    }
    struct cp_shift shift =
        cp_shift_of(&binary32, &of, score, 0x1p-53 * fabs(score), 0x1p-24 * fabs(score));
    *error = shift.error + 0x1p-24 * fabs(score);
    return score + shift.shift;
}

/* SCORE-4: a cap, a bias, both and neither, by row and by column; nothing behind the keys of
 * columns, and behind the padded keys of rows. */
static void changing_by_row_and_by_column(void **unused) {
    float sums[16 * CP_OPT_KEYS], rows[16 * CP_OPT_KEYS], columns[CP_OPT_KEYS * 16];
    float slope[16], distance[16];
    double error;
    (void)unused;
    fill(sums, 16 * CP_OPT_KEYS, 11);
    for (int i = 0; i < 16; i++) {
        slope[i] = i == 5 ? 0.0F : (float)(i - 8) / 3.0F;
        distance[i] = i % 3 ? (float)(-10 * i) : -16000000.0F + (float)i;
    }
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt_kernels kernels = cp_opt_kernels_of(version);
        for (int x = 0; x < 4 * CP_OPT_KEYS; x++) {
            int keys = 1 + x / 4, padded = (keys + CP_OPT_PAD - 1) / CP_OPT_PAD * CP_OPT_PAD;
            float cap = x % 4 < 2 ? 0.0F : 3.0F, inverse = cap == 0.0F ? 0.0F : 1.0F / 3.0F;
            struct opt_change change = {1.7F, cap, inverse, x % 2 ? slope : NULL,
                                        x % 2 ? distance : NULL};
            memcpy(rows, sums, sizeof rows);
            kernels.change_rows(rows, 16, keys, &change);
            for (int at = 0; at < 16 * CP_OPT_KEYS; at++) {
                columns[at % CP_OPT_KEYS * 16 + at / CP_OPT_KEYS] = sums[at];
            }
            if (kernels.change_columns != NULL) {
                kernels.change_columns(columns, keys, 16, &change);
            }
            for (int at = 0; at < 16 * CP_OPT_KEYS; at++) {
                int row = at / CP_OPT_KEYS, j = at % CP_OPT_KEYS;
                double right = changed(&change, sums[at], row, j, &error);
                float column = columns[j * 16 + row];
                assert_true(j >= keys || fabs((double)rows[at] - right) <= error);
                assert_true(j < padded || rows[at] == sums[at]);
                assert_true(kernels.change_columns == NULL ||
                            column == (j < keys ? rows[at] : sums[at]));
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_widened_exactly),
        cmocka_unit_test(every_number_of_8_bits_is_widened_exactly),
        cmocka_unit_test(rows_of_every_length),
        cmocka_unit_test(storing_rounds_as_demanded),
        cmocka_unit_test(products_of_every_size),
        cmocka_unit_test(dots_and_values_of_few_rows),
        cmocka_unit_test(weighing_by_row_and_by_column),
        cmocka_unit_test(changing_by_row_and_by_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
