/* SPDX-License-Identifier: Apache-2.0 */
/* What can be called from outside: versions, checks. */
#define _DEFAULT_SOURCE /* sysconf() */
#include "chunkproof/opt.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "opt/attend.h"
#include "opt/handle.h"

static int can_run(int version) {
    return version == CP_OPT_PORTABLE || (version == CP_OPT_AVX2 && cp_opt_has_avx2()) ||
           (version == CP_OPT_AVX512 && cp_opt_has_avx512()) ||
           (version == CP_OPT_NEON && cp_opt_has_neon()) ||
           (version == CP_OPT_AMX && cp_opt_has_amx()) ||
           (version == CP_OPT_AVX512_BF16 && cp_opt_has_avx512_bf16());
}

/* All but AMX: chunkproof/opt.h. */
static int best(void) {
    static const int versions[] = {CP_OPT_AVX512_BF16, CP_OPT_NEON, CP_OPT_AVX512, CP_OPT_AVX2};
    for (int i = 0; i < (int)(sizeof versions / sizeof *versions); i++) {
        if (can_run(versions[i])) {
            return versions[i];
        }
    }
    return CP_OPT_PORTABLE;
}

struct cp_opt_kernels cp_opt_kernels_of(int version) {
    return version == CP_OPT_AMX           ? cp_opt_amx()
           : version == CP_OPT_AVX512_BF16 ? cp_opt_avx512_bf16()
           : version == CP_OPT_NEON        ? cp_opt_neon()
           : version == CP_OPT_AVX512      ? cp_opt_avx512()
           : version == CP_OPT_AVX2        ? cp_opt_avx2()
                                           : cp_opt_portable();
}

static int processors(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > CP_OPT_MOST_THREADS ? CP_OPT_MOST_THREADS : (int)n;
}

int cp_opt_new(struct cp_opt **opt, int n_threads, int version) {
    if (opt == NULL) {
        return CP_ERROR_ARGUMENT;
    }
    *opt = NULL;
    if (n_threads < 0 || n_threads > CP_OPT_MOST_THREADS || version < CP_OPT_BEST ||
        version > CP_OPT_LAST) {
        return CP_ERROR_ARGUMENT;
    }
    version = version == CP_OPT_BEST ? best() : version;
    if (!can_run(version)) {
        return CP_ERROR_UNSUPPORTED;
    }
    struct cp_opt *made = malloc(sizeof *made);
    struct opt_team *team = cp_opt_team_new(n_threads == 0 ? processors() : n_threads);
    if (made == NULL || team == NULL) {
        cp_opt_team_free(team);
        free(made);
        return CP_ERROR_NO_MEMORY;
    }
    *made = (struct cp_opt){version, cp_opt_kernels_of(version), team};
    *opt = made;
    return CP_OK;
}

void cp_opt_free(struct cp_opt *opt) {
    if (opt != NULL) {
        cp_opt_team_free(opt->team);
        free(opt);
    }
}

int cp_opt_version(const struct cp_opt *opt) {
    return opt->version;
}

int cp_opt_threads(const struct cp_opt *opt) {
    return cp_opt_team_size(opt->team);
}

/* *bytes times n; 0: more than there are addresses. */
static int multiply(size_t *bytes, size_t n) {
    if (n != 0 && *bytes > PTRDIFF_MAX / n) {
        return 0;
    }
    *bytes *= n;
    return 1;
}

/* Can an array [rows][x][y][z] of numbers of `size` bytes exist? */
static int array_fits(int rows, int x, int y, int z, size_t size) {
    return multiply(&size, (size_t)rows) && multiply(&size, (size_t)x) &&
           multiply(&size, (size_t)y) && multiply(&size, (size_t)z);
}

/* PREFILL-1 */
static int query_ranges_are_valid(const struct cp_attention *a) {
    if (opt_first_row(a, 0) != 0) {
        return 0;
    }
    for (int s = 0; s < a->plan->n_sequences; s++) {
        if (opt_first_row(a, s + 1) < opt_first_row(a, s)) {
            return 0;
        }
    }
    return 1;
}

/* What cp_attend() calls CP_ERROR_SHAPE, but for the workspace. */
static int shape_is_valid(const struct cp_attention *a) {
    size_t q = cp_number_size(a->q_type), k = cp_number_size(a->k_type);
    size_t v = cp_number_size(a->v_type), out = cp_number_size(a->out_type);
    int h = a->n_heads, h_kv = a->n_kv_heads, d = a->head_dim, d_v = a->value_dim;
    if (h < 1 || h_kv < 1 || d < 1 || d_v < 1 || a->v_row < d_v || h % h_kv != 0 || q == 0 ||
        k == 0 || v == 0 || out == 0 || !query_ranges_are_valid(a)) {
        return 0;
    }
    int rows = opt_first_row(a, a->plan->n_sequences);
    return array_fits(a->plan->capacity, h_kv, a->plan->chunk_size, d, k) &&
           array_fits(a->plan->capacity, h_kv, a->plan->chunk_size, a->v_row, v) &&
           array_fits(rows, h, d, 1, q) && array_fits(rows, h, d_v, 1, out) &&
           array_fits(rows, h, 1, 1, sizeof(double));
}

/* Numbers of binary32, or NULL? */
static int are_floats(const double *numbers, size_t n) {
    int wrong = 0;
    for (size_t i = 0; i < n && numbers != NULL; i++) {
        wrong |= !(fabs(numbers[i]) <= (double)FLT_MAX);
    }
    return !wrong;
}

/* SCORE-1 to SCORE-3, SCORE-5: the cap has a reciprocal that is a normal number, too. */
static int scores_are_supported(const struct cp_attention *a) {
    double cap = a->scores.cap;
    size_t h = (size_t)a->n_heads, n = a->scores.biases.n > 0 ? (size_t)a->scores.biases.n : 0;
    return (cap == 0.0 || (cap >= CP_OPT_LEAST_CAP && cap <= 1.0 / CP_OPT_LEAST_CAP)) &&
           are_floats(a->scores.slopes, h) && are_floats(a->scores.sinks, h) &&
           are_floats(a->scores.biases.bias, h * n);
}

static int is_supported(const struct cp_attention *a) {
    return a->q_type != CP_FP64 && a->k_type != CP_FP64 && a->v_type != CP_FP64 &&
           fabs(a->scale) <= (double)FLT_MAX && scores_are_supported(a);
}

static int variant_is_known(const struct cp_attention *a) {
    return a->variant == CP_BUFFERED || a->variant == CP_MERGE_AT_ONCE;
}

/* WINDOW-1 */
static int window_is_valid(const struct cp_attention *a) {
    return a->window.keys >= 0 && a->window.keys <= CP_MAX_WINDOW && a->window.ahead >= 0 &&
           a->window.ahead <= CP_MAX_WINDOW && a->window.kept >= 0 &&
           a->window.kept <= CP_MAX_WINDOW;
}

/* MASK-1 */
static int mask_is_valid(const struct cp_attention *a) {
    return a->mask.bits == NULL || a->mask.first != NULL;
}

/* SCORE-1 */
static int cap_is_valid(const struct cp_attention *a) {
    return isfinite(a->scores.cap) && a->scores.cap >= 0.0;
}

/* SCORE-5 */
static int biases_are_valid(const struct cp_attention *a) {
    const struct cp_biases *biases = &a->scores.biases;
    return biases->bias == NULL || (0 <= biases->own && biases->own < biases->n);
}

/* NUM-18 */
static int scales_are_valid(const struct cp_attention *a) {
    return a->scales.per >= CP_CACHE_SCALE_TENSOR && a->scales.per <= CP_CACHE_SCALE_TOKEN;
}

static int arguments_are_valid(const struct cp_attention *a) {
    return a->q != NULL && a->k != NULL && a->v != NULL && a->out != NULL && a->workspace != NULL &&
           (uintptr_t)a->workspace % _Alignof(double) == 0 && isfinite(a->scale) &&
           cap_is_valid(a) && biases_are_valid(a) && variant_is_known(a) && window_is_valid(a) &&
           mask_is_valid(a) && scales_are_valid(a);
}

size_t cp_opt_workspace(const struct cp_opt *opt, const struct cp_attention *attention) {
    if (opt == NULL || attention == NULL || attention->plan == NULL ||
        !variant_is_known(attention) || !shape_is_valid(attention) || !is_supported(attention)) {
        return 0;
    }
    return cp_opt_measure(attention, cp_opt_threads(opt), &opt->kernels.multiplier).bytes;
}

/* The errors, in their order; *sizes when there is none. */
static int check(const struct cp_opt *opt, const struct cp_attention *attention,
                 struct opt_sizes *sizes) {
    if (opt == NULL || attention == NULL || attention->plan == NULL) {
        return CP_ERROR_ARGUMENT;
    }
    if (!cp_plan_is_current(attention->plan, attention->stamp)) {
        return CP_ERROR_STALE;
    }
    if (!arguments_are_valid(attention)) {
        return CP_ERROR_ARGUMENT;
    }
    if (!shape_is_valid(attention)) {
        return CP_ERROR_SHAPE;
    }
    *sizes = cp_opt_measure(attention, cp_opt_threads(opt), &opt->kernels.multiplier);
    if (sizes->bytes == 0) {
        return CP_ERROR_SHAPE;
    }
    if (!is_supported(attention)) {
        return CP_ERROR_UNSUPPORTED;
    }
    return attention->workspace_size < sizes->bytes ? CP_ERROR_WORKSPACE : CP_OK;
}

int cp_opt_attend(struct cp_opt *opt, const struct cp_attention *attention) {
    struct opt_call call = {.attention = attention};
    int status = check(opt, attention, &call.sizes);
    if (status != CP_OK) {
        return status;
    }
    call.kernels = &opt->kernels;
    call.team = opt->team;
    call.work = cp_opt_prepare(attention, &call.sizes);
    atomic_init(&call.next_slice, 0);
    atomic_init(&call.next_result, 0);
    cp_opt_team_run(opt->team, cp_opt_work, &call);
    return CP_OK;
}
