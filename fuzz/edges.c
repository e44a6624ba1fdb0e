/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels' edges, for libFuzzer. To the executor, libFuzzer's own counters would be stores of a
 * kernel that are out of bounds; a call is no store. So the kernels call this function at each edge
 * (the Makefile puts it in the place of the compiler's). It counts in a table that libFuzzer reads
 * together with its own. */
#include <stdint.h>

#define N_EDGES 16384

void fuzz_edge(void);

#ifdef __clang__
__attribute__((no_sanitize("coverage")))
#endif
void fuzz_edge(void) {
    static uint8_t counter[N_EDGES] __attribute__((section("__libfuzzer_extra_counters"), used));
    uintptr_t from = (uintptr_t)__builtin_return_address(0);
    counter[(from ^ from >> 14) % N_EDGES]++;
}
