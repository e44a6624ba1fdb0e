/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel that merges declares, in words. */
#include <stdio.h>

#include "cli/base/text.h"
#include "gate/merge/report.h"
#include "gate/report/report.h"

char *merge_takes(const struct cp_merge_kernel *k) {
    static const char *const o[] = {"any order", "[part][row][head][d]", "[row][part][head][d]"};
    static const char *const l[] = {"any order", "[part][row][head]", "[part][head][row]",
                                    "[row][part][head]"};
    static const char *const lse[] = {"any order", "[row][head]", "[head][row]"};
    const struct cp_merging_class *a = &k->arithmetic;
    int least = merge_least_parts(k), most = k->most_parts;
    size_t size;
    char *text;
    FILE *out = text_open(&text, &size);
    if (least == most) {
        fprintf(out, "%d part%s", least, least == 1 ? "" : "s");
    } else if (most > 0) {
        fprintf(out, "%d to %d parts", least, most);
    } else {
        fprintf(out, "%d parts and more", least);
    }
    fprintf(out, "%s%s: %s %s, %s; %s %s, %s; writes out %s", k->in_place ? ", in place" : "",
            k->parts == CP_PARTS_BY_ROW ? ", by row" : "",
            k->form == CP_FORM_UNDIVIDED ? "sums" : "o", gate_type_name(k->o_type), o[k->layout.o],
            k->form == CP_FORM_LSE ? "l" : "m and n", gate_type_name(k->l_type), l[k->layout.l],
            gate_type_name(a->out_type));
    if (k->lse == CP_LSE_NEVER) {
        fputs(", no lse", out);
    } else {
        fprintf(out, "; lse %s, %s", gate_type_name(a->lse_type), lse[k->layout.lse]);
    }
    fputs(k->memory == CP_DEVICE_MEMORY ? "; in device memory" : "", out);
    fprintf(out, "%s; base %s", k->layout.gaps == CP_GAPS_NONE ? "; no gaps" : "",
            k->base == CP_BASE_2 ? "2" : "e");
    text_close(out);
    return text;
}

/* "": those of MERGING-9. */
char *merge_conventions(const struct cp_merge_kernel *k) {
    static const char *const of_out[] = {"zeros", "NaNs", "", "anything"};
    static const char *const of_lse[] = {"-infinity", "NaN", "", "anything"};
    const char *between = "";
    size_t size;
    char *text;
    FILE *out = text_open(&text, &size);
    if (k->empty_out != CP_EMPTY_NEUTRAL || k->empty_lse != CP_EMPTY_NEUTRAL) {
        fprintf(out, "a row without keys gives %s", of_out[k->empty_out]);
        if (k->lse != CP_LSE_NEVER && k->empty_lse == CP_EMPTY_VALUE) {
            fprintf(out, ", and a log-sum-exp of %.9g", k->empty_value);
        } else if (k->lse != CP_LSE_NEVER) {
            fprintf(out, ", and a log-sum-exp of %s", of_lse[k->empty_lse]);
        }
        between = "; ";
    }
    if (k->empty_l == CP_EMPTY_L_VALUE) {
        fprintf(out, "%sa part without keys has the log-sum-exp %.9g", between, k->empty_l_value);
        between = "; ";
    } else if (k->empty_l == CP_EMPTY_L_EITHER) {
        fprintf(out, "%sa part without keys has the log-sum-exp -infinity or +infinity", between);
        between = "; ";
    }
    if (k->empty_l == CP_EMPTY_L_ANY) {
        fprintf(out, "%sa part without keys may have any maximum", between);
        between = "; ";
    }
    if (k->empty_o == CP_EMPTY_O_NUMBERS) {
        fprintf(out, "%soutputs of parts without keys are finite", between);
        between = "; ";
    }
    if (k->never != 0) {
        fprintf(out, "%sno call has a %s without keys", between,
                (k->never & CP_NEVER_EMPTY_PARTS) != 0 ? "part" : "row");
    }
    text_close(out);
    return text;
}

char *merge_declares(const struct cp_merge_kernel *k) {
    static const char *const ways[] = {"all parts at once", "states, two at a time",
                                       "results, two at a time",
                                       "weights of the log-sum-exp, undivided"};
    static const char *const converts[] = {"", ", differences converted to the other base",
                                           ", each log-sum-exp converted to the other base"};
    const struct cp_merging_class *a = &k->arithmetic;
    size_t size;
    char *text;
    FILE *out = text_open(&text, &size);
    fprintf(out, "%s%s; weights %s, values %s", ways[a->way],
            a->tree == CP_MERGING_BALANCED ? ", in a balanced tree" : "",
            gate_type_name(a->weights), gate_type_name(a->values));
    if (a->way == CP_MERGING_STATES || a->way == CP_MERGING_PAIRWISE) {
        fprintf(out, ", partial results %s", gate_type_name(a->partials));
    }
    fprintf(out, "; exponential within %.2g, logarithm %.2g, division %.2g%s", a->exp_error,
            a->log_error, a->div_error, converts[a->converts]);
    if (a->above > 0.0) {
        fprintf(out, ", references up to %g above", a->above);
    }
    if (a->behind > 0.0) {
        fprintf(out, ", references up to %g below", a->behind);
    }
    fprintf(out, "%s%s", a->truncates ? ", truncates" : "", a->flushes ? ", flushes" : "");
    text_close(out);
    return text;
}

char *merge_run_again(const struct merge_report *report) {
    const struct gate_report of_command = {.options = report->options};
    return gate_run_again(&of_command);
}

char *merge_again(const struct merge_report *report, const struct merge_found *found) {
    size_t size;
    char *text;
    if (found->file[0] != '\0') {
        return gate_file_again(report->options, found->file, "replay");
    }
    FILE *out = text_open(&text, &size);
    gate_put_command(out, report->options);
    fprintf(out, " %s %lld", found->needs_others ? "--cases" : "--case",
            found->index + found->needs_others);
    text_close(out);
    return text;
}

int merge_needs_others(const struct merge_found *found) {
    return found->needs_others && found->file[0] == '\0';
}

char *merge_why(const struct merge_report *report, const struct merge_found *found) {
    return found->file[0] != '\0' && gate_is_of_numbers(found->finding.of.verdict)
               ? gate_file_again(report->options, found->file, "explain")
               : NULL;
}
