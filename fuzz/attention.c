/* SPDX-License-Identifier: Apache-2.0 */
/* The reference's attention over the plan of a tree that operations have grown: both variants
 * against the oracle, within the derived bound (tests/bound.h), for any heads, types, query ranges
 * and values; with fewer numbers of each value (spec/widths.md); and refused with a byte too little
 * of workspace (spec/two_phase.md, spec/prefill.md). */
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"
#include "fuzz/world.h"

static void run(struct attend_case *c, int variant) {
    int status = case_run(c, variant);
    if (status != CP_OK) {
        fuzz_fail("variant %d: %s", variant,
                  status < 0 ? "it writes behind its workspace" : cp_status_text(status));
    }
    struct verdict verdict = case_compare(c, CASE_RIGHT);
    if (verdict.wrong > 0) {
        case_print(c);
        fuzz_fail("variant %d: %d of %d rows are not the oracle's", variant, verdict.wrong,
                  verdict.rows);
    }
}

static int is_untouched(const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0x5A) {
            return 0;
        }
    }
    return 1;
}

/* With a byte less than it needs, attention refuses and writes nothing. */
static void refuse(struct attend_case *c) {
    struct cp_attention a = c->attention;
    a.workspace_size = cp_attend_workspace(&a);
    if (a.workspace_size == 0) {
        return;
    }
    a.workspace_size--;
    memset(a.out, 0x5A, case_out_bytes(c));
    int status = cp_attend(&a);
    if (status != CP_ERROR_WORKSPACE || !is_untouched(a.out, case_out_bytes(c))) {
        fuzz_fail("a workspace that is too small: %s", cp_status_text(status));
    }
}

/* WIDTH-1: fewer numbers of each value give the first numbers of each result, bit for bit, whatever
 * the rows of V are. */
static void narrow(struct attend_case *c, int variant, int value_dim) {
    int whole = c->attention.value_dim;
    size_t size = cp_number_size(c->attention.out_type);
    unsigned char *out = malloc(case_out_bytes(c) + 1), *lse = malloc(case_lse_bytes(c) + 1);
    if (out == NULL || lse == NULL) {
        abort();
    }
    memcpy(out, c->attention.out, case_out_bytes(c));
    memcpy(lse, c->attention.lse, case_lse_bytes(c));
    c->attention.value_dim = value_dim;
    int status = case_run(c, variant);
    int same = status == CP_OK && memcmp(lse, c->attention.lse, case_lse_bytes(c)) == 0;
    const unsigned char *fewer = c->attention.out;
    for (size_t i = 0; same && i < (size_t)c->n_rows * (size_t)c->attention.n_heads; i++) {
        same = memcmp(out + i * (size_t)whole * size, fewer + i * (size_t)value_dim * size,
                      (size_t)value_dim * size) == 0;
    }
    if (!same) {
        case_print(c);
        fuzz_fail("variant %d: values of %d numbers of %d give others (WIDTH-1)", variant,
                  value_dim, whole);
    }
    c->attention.value_dim = whole;
    free(out);
    free(lse);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct format_input input;
    struct world world;
    struct attend_case c;
    format_decode(&input, data, size);
    world_grow(&world, &input);
    struct shape shape = world_shape(&input.problem);
    case_make_of(&c, &shape, world_plan(&world), (unsigned)input.problem.seed);
    int fewer = 1 + (int)((unsigned)input.problem.seed % (unsigned)shape.head_dim);
    for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
        run(&c, variant);
        narrow(&c, variant, fewer);
    }
    refuse(&c);
    case_free(&c);
    world_free(&world);
    return 0;
}
