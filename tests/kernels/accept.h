/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h for tests of cmocka. */
#ifndef CHUNKPROOF_TESTS_KERNELS_ACCEPT_H
#define CHUNKPROOF_TESTS_KERNELS_ACCEPT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include <cmocka.h>
}

#include "tests/kernels/judge.h"

static inline void fail_case(const attend_case &c, int version, const char *text) {
    case_print(&c);
    fail_msg("version %d: %s", version, text);
}

/* The largest error of a right result; a wrong one ends the test. */
static inline double accepted(const attend_case &c, int version, const Judgement &judgement) {
    if (!judgement.wrong.empty()) {
        fail_case(c, version, judgement.wrong.c_str());
    }
    return judgement.largest;
}

#endif
