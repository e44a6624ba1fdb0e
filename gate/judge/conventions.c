/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/judge/conventions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chunkproof/number.h"

#define UP (1.0 + 0x1p-50) /* more than a product and a division lose */

/* ---- What they make of numbers ---- */

static double empty_out(const struct cp_kernel_conventions *c) {
    return c->empty_out == CP_EMPTY_NAN ? NAN : 0.0;
}

static double empty_lse(const struct cp_kernel *kernel) {
    const struct cp_kernel_conventions *c = &kernel->conventions;
    double value = kernel->lse_type == CP_FP32 ? (double)(float)c->empty_value : c->empty_value;
    return c->empty_lse == CP_EMPTY_NAN ? NAN : c->empty_lse == CP_EMPTY_VALUE ? value : -INFINITY;
}

/* CONV-1. The quotient of `expected` is rounded, too. */
static void to_bits(double *expected, double *bound) {
    *bound = (*bound / GATE_LN_2 + 0x1p-51 * fabs(*expected)) * UP;
    *expected /= GATE_LN_2;
}

void gate_conventions_apply(const struct cp_kernel *kernel, int n_keys, int sees_sink, int d,
                            double *expected, double *bound) {
    const struct cp_kernel_conventions *c = &kernel->conventions;
    int of_sink = sees_sink && c->sink == CP_SINK_IN_LSE && c->empty_lse == CP_EMPTY_NEUTRAL;
    for (int i = 0; i < d && n_keys == 0; i++) {
        expected[i] = empty_out(c);
    }
    if (n_keys == 0 && !of_sink) {
        expected[d] = empty_lse(kernel);
    } else if (c->lse_base == CP_LSE_BITS) {
        to_bits(&expected[d], &bound[d]);
    }
}

void gate_conventions_blank(const struct gate_problem *p, const struct cp_kernel *kernel,
                            const struct gate_arrays *arrays) {
    const struct cp_kernel_conventions *c = &kernel->conventions;
    const struct cp_kernel_call *call = &arrays->run.call;
    int of_out = c->empty_out == CP_EMPTY_UNSPECIFIED;
    int of_lse = c->empty_lse == CP_EMPTY_UNSPECIFIED && arrays->run.bytes[RUN_LSE] > 0;
    for (int row = 0; row < p->n_rows && (of_out || of_lse); row++) {
        if (gate_visible(p, row) > 0) {
            continue;
        }
        for (int head = 0; head < p->recipe.n_heads; head++) {
            for (int i = 0; i < p->value_dim && of_out; i++) {
                cp_number_store(arrays->memory[RUN_OUT], p->out_type,
                                (size_t)(row * call->out_row + head * call->out_head + i), 0.0);
            }
            if (of_lse) {
                cp_number_store(arrays->memory[RUN_LSE], p->lse_type,
                                (size_t)(row * call->lse_row + head * call->lse_head), -INFINITY);
            }
        }
    }
}

/* ---- What a kernel may have meant ---- */

/* A whole number or an infinity, as somebody writes into a source: other numbers come from keys. */
static int is_sentinel(double x) {
    return isinf(x) || x == rint(x);
}

int gate_conventions_guess(const struct cp_kernel *kernel, int n_keys, int is_lse, double got,
                           double expected, double bound, struct cp_kernel *other) {
    struct cp_kernel_conventions *c = &other->conventions;
    *other = *kernel;
    if (n_keys > 0) {
        int in_bits = kernel->conventions.lse_base == CP_LSE_BITS;
        double unit = in_bits ? GATE_LN_2 : 1.0 / GATE_LN_2;
        int is_right =
            is_lse && isfinite(bound) && fabs(got - expected * unit) <= bound * unit * UP;
        c->lse_base = !is_right ? c->lse_base : in_bits ? CP_LSE_NATURAL : CP_LSE_BITS;
        return is_right;
    }
    if (!is_lse) {
        c->empty_out = isnan(got) ? CP_EMPTY_NAN : CP_EMPTY_NEUTRAL;
        return isnan(got) || got == 0.0;
    }
    c->empty_lse = isnan(got) ? CP_EMPTY_NAN : got == -INFINITY ? CP_EMPTY_NEUTRAL : CP_EMPTY_VALUE;
    c->empty_value = c->empty_lse == CP_EMPTY_VALUE ? got : 0.0;
    return c->empty_lse != CP_EMPTY_VALUE || is_sentinel(got);
}

static void add(char text[GATE_CONVENTIONS_TEXT], const char *words) {
    size_t length = strlen(text);
    (void)snprintf(text + length, GATE_CONVENTIONS_TEXT - length, "%s%s", length > 0 ? ", " : "",
                   words);
}

void gate_conventions_words(const struct cp_kernel *kernel, const struct cp_kernel *other,
                            char text[GATE_CONVENTIONS_TEXT]) {
    static const char *const empty[] = {"CP_EMPTY_NEUTRAL", "CP_EMPTY_NAN", "CP_EMPTY_VALUE",
                                        "CP_EMPTY_UNSPECIFIED"};
    const struct cp_kernel_conventions *a = &kernel->conventions, *b = &other->conventions;
    char words[GATE_CONVENTIONS_TEXT];
    text[0] = '\0';
    if (a->lse_base != b->lse_base) {
        add(text,
            b->lse_base == CP_LSE_BITS ? ".lse_base = CP_LSE_BITS" : ".lse_base = CP_LSE_NATURAL");
    }
    if (a->empty_out != b->empty_out) {
        (void)snprintf(words, sizeof words, ".empty_out = %s", empty[b->empty_out]);
        add(text, words);
    }
    if (a->empty_lse != b->empty_lse) {
        (void)snprintf(words, sizeof words, ".empty_lse = %s", empty[b->empty_lse]);
        add(text, words);
    }
    if (b->empty_lse == CP_EMPTY_VALUE &&
        (a->empty_lse != b->empty_lse || a->empty_value != b->empty_value)) {
        int is_short = isinf(b->empty_value) || (double)(float)b->empty_value == b->empty_value;
        (void)snprintf(words, sizeof words,
                       is_short ? ".empty_value = %.9g" : ".empty_value = %.17g", b->empty_value);
        add(text, words);
    }
}
