/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels' edges, for libFuzzer. Its own counters would be stores of a kernel to the executor,
 * which finds them out of bounds; a call is none. So the kernels call this at each edge (the
 * Makefile puts it in the place of the compiler's), and it counts in a table that libFuzzer looks
 * at beside its own. */
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
