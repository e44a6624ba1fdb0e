/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/search/identity.h"

#include <stdio.h>
#include <string.h>

int gate_identify(char identity[GATE_IDENTITY], const struct gate_kind *kind,
                  const struct gate_options *o, const struct runner *runner) {
    struct run_digests digests;
    char declared[GATE_DECLARED], error[RUN_TEXT];
    if (runner_digest(runner, &digests, error) != 0) {
        fprintf(stderr, "chunkproof gate: --state %s: %s\n", o->state, error);
        return -1;
    }
    kind->declare(declared, runner);
    memset(identity, 0, GATE_IDENTITY);
    (void)snprintf(
        identity, GATE_IDENTITY,
        "kind %s\nchunkproof %016llx, %zu\nkernel %016llx\ndeclaration %s\nlibraries %016llx\n"
        "options tier %s, seed %llu, cases %lld, h %d, h_kv %d, d %d, c %d, group %d, b %d, "
        "rows %d, keys %d, window %d, d_v %d, executor %d, seconds %a, memory %a\n",
        kind->does, digests.program, kind->size, digests.kernel, declared, digests.libraries,
        gate_tier_names[o->tier], o->seed, gate_cases(o), o->shape.n_heads, o->shape.n_kv_heads,
        o->shape.head_dim, o->shape.chunk_size, o->shape.group, o->shape.sequences, o->shape.rows,
        o->shape.keys, o->shape.window, o->shape.value_dim, runner_is_simulated(runner), o->seconds,
        o->memory);
    return 0;
}

void gate_identity_differs(const char *one, const char *other, char word[GATE_IDENTITY]) {
    while (*one != '\0') {
        size_t length = strcspn(one, "\n");
        if (strcspn(other, "\n") != length || strncmp(one, other, length) != 0) {
            break;
        }
        one += length + (one[length] == '\n');
        other += length + (other[length] == '\n');
    }
    const char *from = *one != '\0' ? one : "options"; /* the other says more */
    (void)snprintf(word, GATE_IDENTITY, "%.*s", (int)strcspn(from, " \n"), from);
}
