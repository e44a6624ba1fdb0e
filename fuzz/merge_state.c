/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/merge_state.h"

#include "gate/merge/report.h"
#include "tests/merge_plain.h"

int fuzz_merge_report(FILE *file, const void *result, int format) {
    const struct gate_options options = {
        .kernel = "kernel.so", .command = "gate", .only = -1, .jobs = 1, .memory = GATE_MEMORY};
    const struct merge_report report = {&options, &plain, result, 0};
    switch (format) {
    case GATE_JSON:
        return merge_print_json(file, &report);
    case GATE_JUNIT:
        return merge_print_junit(file, &report);
    case GATE_HTML:
        return merge_print_html(file, &report);
    default:
        merge_print_text(file, &report);
        return 0;
    }
}
