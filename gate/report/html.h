/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the page that are drawn. */
#ifndef CHUNKPROOF_GATE_REPORT_HTML_H
#define CHUNKPROOF_GATE_REPORT_HTML_H

#include "cli/base/markup.h"
#include "gate/report/report.h"

/* Definitions that the other drawings refer to: hatching, an arrow head. */
void gate_html_definitions(struct markup *markup);

/* For each kind of values, how its cases spread over error / bound; below, how all cases spread
 * over it by their number of keys. */
void gate_html_spread(struct markup *markup, const struct gate_result *result);
void gate_html_keys(struct markup *markup, const struct gate_result *result);

/* A table with a caption; and a row of it with n cells, the elements "th" or "td". */
void gate_html_open_table(struct markup *markup, const char *caption);
void gate_html_row(struct markup *markup, const char *element, const char *const *cell, int n);
void gate_html_close_table(struct markup *markup);

/* A case with modules: these, its prompts, the descriptors and the runs of its plan. */
void gate_html_prompts(struct markup *markup, const struct gate_recipe *recipe,
                       const struct cp_kernel *kernel);

/* A case: its operations, the tree that they make, its plan; or its prompts. */
void gate_html_case(struct markup *markup, const struct gate_recipe *recipe,
                    const struct cp_kernel *kernel);

#endif
