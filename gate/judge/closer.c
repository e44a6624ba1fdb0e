/* SPDX-License-Identifier: Apache-2.0 */
/* Finds declarations that are wider than the kernel needs: a wide declaration lets errors
 * through. */
#include "gate/judge/closer.h"

const char *const gate_closer_names[GATE_CLOSERS] = {
    ".score = CP_SUM_FP32",       ".weights = CP_FP32",   ".values = CP_SUM_FP32",
    ".partials = CP_FP32",        ".exp_error = 0x1p-22", ".rotated = CP_FP32",
    ".scales = CP_SCALES_SCORES", ".tanh_error = 0x1p-22"};

#define LITTLE_ERROR 0x1p-20 /* of an exponential or tanh, which is close enough */

int gate_closer(const struct cp_kernel *kernel, enum gate_closer which, struct cp_kernel *closer) {
    struct cp_kernel_class *a = &closer->arithmetic;
    const struct cp_kernel_class *is = &kernel->arithmetic;
    *closer = *kernel;
    if (is->score == CP_SUM_FP64) {
        return 0;
    }
    switch (which) {
    case GATE_CLOSER_SCORE:
        a->score = CP_SUM_FP32;
        a->score_promotes = 0;
        return is->score == CP_SUM_FP16 || is->score == CP_SUM_BF16;
    case GATE_CLOSER_WEIGHTS:
        a->weights = CP_FP32;
        return is->weights != CP_FP32;
    case GATE_CLOSER_VALUES:
        a->values = CP_SUM_FP32;
        a->values_promotes = 0;
        return is->values == CP_SUM_FP16 || is->values == CP_SUM_BF16;
    case GATE_CLOSER_PARTIALS:
        a->partials = CP_FP32;
        return is->partials != CP_FP32;
    case GATE_CLOSER_EXP:
        a->exp_error = 0x1p-22;
        return is->exp_error > LITTLE_ERROR;
    case GATE_CLOSER_ROTATED:
        a->rotated = CP_FP32;
        return kernel->keys != CP_KEYS_PLACED && is->rotated != CP_FP32;
    case GATE_CLOSER_SCALES:
        a->scales = CP_SCALES_SCORES;
        return is->scales != CP_SCALES_SCORES;
    case GATE_CLOSER_TANH:
        a->tanh_error = 0x1p-22;
        a->tanh_absolute = 0x1p-21;
        return (kernel->scores & CP_SCORES_CAP) != 0 &&
               (is->tanh_error > LITTLE_ERROR || is->tanh_absolute > LITTLE_ERROR);
    default:
        return 0;
    }
}
