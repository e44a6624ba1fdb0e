/* SPDX-License-Identifier: Apache-2.0 */
/* DEC-12: keys that are rotated in binary32, stored in 16 bits and moved, against MPFR. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <mpfr.h>

#include "chunkproof/number.h"
#include "random.h"

#define PAIRS  8 /* of a head: i and i + PAIRS */
#define D      (2 * PAIRS)
#define U32    0x1p-24
#define TINY32 0x1p-150

/* A 16-bit format with its unit and tiny (NUM-4). */
struct format {
    int type;
    double unit, tiny;
};

static struct format fp16 = {CP_FP16, 0x1p-11, 0x1p-25};
static struct format bf16 = {CP_BF16, 0x1p-8, 0x1p-134};

/* How near a rotation is: up to loss times the length, and least for each number. */
struct nearness {
    double loss, least;
};

/* One step after the other. */
static struct nearness then(struct nearness a, struct nearness b) {
    return (struct nearness){(1.0 + a.loss) * (1.0 + b.loss) - 1.0,
                             (1.0 + b.loss) * a.least + b.least};
}

/* A rotation in binary32 by angles of at most `far`, with frequencies that are binary32 numbers
 * (phi = 0). A cosine comes from cos() of <math.h>, which is assumed to err by less than 8 units
 * of binary64, and is then rounded to binary32. */
static struct nearness rotation(double far) {
    double delta = U32 * far + TINY32;
    double eta = 0x1p-25 + 0x1p-50;
    double loss =
        delta + sqrt(2.0) * eta + (1.0 + sqrt(2.0) * eta) * (U32 + sqrt(2.0) * U32 * (1.0 + U32));
    return (struct nearness){loss, (3.0 + 2.0 * U32) * TINY32};
}

/* x, rotated by `position` in binary32. */
static void rotate(double *x, const float *frequency, int position) {
    for (int i = 0; i < PAIRS; i++) {
        float angle = (float)position * frequency[i];
        float c = (float)cos((double)angle), s = (float)sin((double)angle);
        float a = (float)x[i], b = (float)x[i + PAIRS];
        float ca = c * a, sb = s * b, sa = s * a, cb = c * b;
        x[i] = (double)(ca - sb);
        x[i + PAIRS] = (double)(sa + cb);
    }
}

/* x, stored and read. */
static void keep(double *x, const struct format *f) {
    uint16_t kept[D];
    for (int i = 0; i < D; i++) {
        cp_number_store(kept, f->type, (size_t)i, x[i]);
        x[i] = cp_number_load(kept, f->type, (size_t)i);
    }
}

/* y := R_position k. Cosine and sine are correct to a bit of binary64. */
static void rotate_exactly(double *y, const double *k, const float *frequency, int position) {
    mpfr_t angle, c, s;
    mpfr_inits2(53, c, s, (mpfr_ptr)0);
    mpfr_init2(angle, 64); /* 24 bits times 21 */
    for (int i = 0; i < PAIRS; i++) {
        mpfr_set_d(angle, (double)frequency[i], MPFR_RNDN);
        mpfr_mul_si(angle, angle, position, MPFR_RNDN);
        mpfr_sin_cos(s, c, angle, MPFR_RNDN);
        double cosine = mpfr_get_d(c, MPFR_RNDN), sine = mpfr_get_d(s, MPFR_RNDN);
        y[i] = cosine * k[i] - sine * k[i + PAIRS];
        y[i + PAIRS] = sine * k[i] + cosine * k[i + PAIRS];
    }
    mpfr_clears(angle, c, s, (mpfr_ptr)0);
}

static double length(const double *x) {
    double sum = 0.0;
    for (int i = 0; i < D; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

static double distance(const double *x, const double *y) {
    double difference[D];
    for (int i = 0; i < D; i++) {
        difference[i] = x[i] - y[i];
    }
    return length(difference);
}

/* 2^-48 of the length is for what is computed in binary64 here: ten roundings or so. */
static void assert_near(const double *x, const double *exact, struct nearness n) {
    double size = length(exact);
    double bound = (n.loss + 0x1p-48) * size + n.least * sqrt((double)D);
    assert_true(distance(x, exact) <= bound);
}

/* A key in the format f, of any size that its numbers have. */
static void draw_key(double *k, float *frequency, const struct format *f,
                     unsigned long long *seed) {
    double size = ldexp(1.0, random_below(seed, 20) - 15);
    for (int i = 0; i < D; i++) {
        k[i] = size * random_normal(seed);
    }
    keep(k, f);
    for (int i = 0; i < PAIRS; i++) {
        frequency[i] = (float)pow(10000.0, -random_below(seed, 64) / 64.0);
    }
}

static double largest_angle(const float *frequency, int position) {
    double most = 0.0;
    for (int i = 0; i < PAIRS; i++) {
        most = fmax(most, fabs((double)frequency[i] * position));
    }
    return most;
}

/* DEC-12: rotated once; stored; moved; and what becomes of a score. */
static void keys_are_within_the_bound(void **state) {
    const struct format *f = *state;
    struct nearness stored = {f->unit, f->tiny};
    unsigned long long seed = 12;
    for (int n = 0; n < 8000; n++) {
        double k[D], x[D], once[D], exact[D], q[D];
        float frequency[PAIRS];
        draw_key(k, frequency, f, &seed);
        int at = random_below(&seed, 1 << 20), by = random_below(&seed, 1 << 20) - (1 << 19);
        struct nearness first = rotation(largest_angle(frequency, at));
        struct nearness second = rotation(largest_angle(frequency, by));
        struct nearness whole = rotation(largest_angle(frequency, at + by));

        for (int i = 0; i < D; i++) {
            x[i] = once[i] = k[i];
            q[i] = random_normal(&seed);
        }
        rotate(x, frequency, at);
        rotate_exactly(exact, k, frequency, at);
        assert_near(x, exact, first);
        keep(x, f);
        assert_near(x, exact, then(first, stored));

        rotate(x, frequency, by); /* MOVE */
        keep(x, f);
        struct nearness moved = then(then(first, stored), then(second, stored));
        rotate_exactly(exact, k, frequency, at + by);
        assert_near(x, exact, moved);

        rotate(once, frequency, at + by); /* k was kept without position */
        assert_near(once, exact, whole);

        double score = 0.0;
        for (int i = 0; i < D; i++) {
            score += q[i] * (x[i] - exact[i]);
        }
        double error = (moved.loss + 0x1p-48) * length(k) + moved.least * sqrt((double)D);
        assert_true(fabs(score) <= length(q) * error * (1.0 + 0x1p-48));
    }
}

/* DEC-12: at position 655363 the angle of frequency 1/10 is off by 3/640. */
static void an_angle_in_binary32_is_off(void **state) {
    (void)state;
    float frequency = 0.1F;
    float angle = 655363.0F * frequency;
    assert_true((double)angle == 65536.3046875);
    float early = 81921.0F * frequency;
    assert_true((double)early == 8192.1005859375);
}

/* DEC-12: the pair (1, 0), moved by one position at a time. The rotation is in binary64 here: its
 * errors are far smaller than the distances from the boundaries between two bfloat16. */
static void many_small_moves_leave_a_key_behind(void **state) {
    (void)state;
    uint16_t kept[2];
    cp_number_store(kept, CP_BF16, 0, 1.0);
    cp_number_store(kept, CP_BF16, 1, 0.0);
    double c = cos(1.0 / 512.0), s = sin(1.0 / 512.0);
    for (int n = 1; n <= 1024; n++) {
        double a = cp_number_load(kept, CP_BF16, 0), b = cp_number_load(kept, CP_BF16, 1);
        cp_number_store(kept, CP_BF16, 0, c * a - s * b);
        cp_number_store(kept, CP_BF16, 1, s * a + c * b);
        assert_true(cp_number_load(kept, CP_BF16, 0) == 1.0);
        assert_true(cp_number_load(kept, CP_BF16, 1) == (n < 256 ? n : 256) / 512.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(keys_are_within_the_bound, &fp16),
        cmocka_unit_test_prestate(keys_are_within_the_bound, &bf16),
        cmocka_unit_test(an_angle_in_binary32_is_off),
        cmocka_unit_test(many_small_moves_leave_a_key_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
