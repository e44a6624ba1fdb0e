/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that all reports share. */
#include "gate/report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "cli/base/text.h"

#define FEW_CASES 100 /* one kind of values may be a larger part of few cases than of many */

const char *gate_plans_name(int plans) {
    return plans == CP_PLANS_TREES ? "trees" : plans == CP_PLANS_RANGES ? "ranges" : "lists";
}

const char *gate_keys_name(int keys) {
    return keys == CP_KEYS_PLACED ? "placed" : keys == CP_KEYS_RAW ? "raw" : "local";
}

const char *gate_pairs_name(int pairs) {
    return pairs == CP_PAIRS_HALVES ? "halves" : "neighbours";
}

const char *gate_type_name(int type) {
    static const char *const type_names[] = {"fp16", "fp32", "fp64", "bf16"};
    return type == CP_NO_LSE ? "none" : type_names[type];
}

const char *gate_sum_name(int sum) {
    static const char *const sum_names[] = {"fp32", "tensor-core", "fp16", "fp64", "bf16"};
    return sum_names[sum];
}

const char *gate_part_lse_name(int type) {
    return type == CP_PART_LSE_FP16 ? "fp16" : type == CP_PART_LSE_BF16 ? "bf16" : "none";
}

const char *gate_scales_name(int scales) {
    return scales == CP_SCALES_QUERY_FP16   ? "fp16"
           : scales == CP_SCALES_QUERY_BF16 ? "bf16"
                                            : "none";
}

const char *gate_empty_name(int empty) {
    static const char *const names[] = {"neutral", "nan", "value", "unspecified"};
    return names[empty];
}

const char *const gate_never_names[GATE_NEVERS] = {"empty-sequences", "empty-rows", "rowless",
                                                   "unequal-rows"};

const char *const gate_mask_names[GATE_MASKS] = {"window", "ahead", "kept", "bits"};
const char *const gate_change_names[GATE_CHANGES] = {"cap", "slopes", "sinks", "biases"};

char *gate_conventions_of(const struct cp_kernel *kernel) {
    static const char *const never[GATE_NEVERS] = {
        "a sequence without keys", "a row that sees no key", "a sequence without rows",
        "unequal numbers of rows"};
    const struct cp_kernel_conventions *c = &kernel->conventions;
    char *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    fputs(c->lse_base == CP_LSE_BITS ? "log-sum-exps of base 2; " : "", out);
    fprintf(out, "a row that sees no key gives %s",
            c->empty_out == CP_EMPTY_UNSPECIFIED ? "anything"
            : c->empty_out == CP_EMPTY_NAN       ? "NaNs"
                                                 : "zeros");
    if (kernel->lse_type != CP_NO_LSE && c->empty_lse == CP_EMPTY_VALUE) {
        fprintf(out, ", and a log-sum-exp of %.9g", c->empty_value);
    } else if (kernel->lse_type != CP_NO_LSE) {
        fprintf(out, ", and a log-sum-exp of %s",
                c->empty_lse == CP_EMPTY_UNSPECIFIED ? "anything"
                : c->empty_lse == CP_EMPTY_NAN       ? "NaN"
                                                     : "-infinity");
    }
    for (int i = 0, n = 0; i < GATE_NEVERS; i++) {
        if ((c->never >> i & 1) != 0) {
            fprintf(out, "%s%s", n++ == 0 ? "; no call has " : ", or ", never[i]);
        }
    }
    fputs(c->invariant == CP_INVARIANT_BATCH  ? "; a row has the same bits in any batch"
          : c->invariant == CP_INVARIANT_CUTS ? "; a row has the same bits in any batch and call"
                                              : "",
          out);
    fputs(c->window == CP_WINDOW_BEFORE ? "; a window counts the keys before the row's own position"
                                        : "",
          out);
    fputs(c->cap == CP_CAP_LAST ? "; the bias is capped, too" : "", out);
    fputs(c->bias == CP_BIAS_DISTANCE   ? "; a bias is of the distance to the row"
          : c->bias == CP_BIAS_POSITION ? "; a bias is of the key's position"
                                        : "",
          out);
    fputs(c->sink == CP_SINK_BESIDE_LSE ? "; log-sum-exps are without the sink" : "", out);
    text_close(out);
    return text;
}

const char *gate_cache_name(int cache) {
    return cache == CP_CACHE_E4M3   ? "e4m3"
           : cache == CP_CACHE_E5M2 ? "e5m2"
           : cache == CP_CACHE_INT8 ? "int8"
                                    : "plain";
}

const char *gate_cache_scales_name(int scales) {
    static const char *const names[] = {"tensor", "head", "token"};
    return names[scales];
}

const char *gate_pages_name(int pages) {
    static const char *const names[] = {"chunks", "own", "ragged"};
    return names[pages];
}

const char *gate_order_name(int order) {
    static const char *const names[] = {"any", "nhd", "hnd"};
    return names[order];
}

const char *gate_gaps_name(int gaps) {
    static const char *const names[] = {"any", "pages", "none"};
    return names[gaps];
}

const char *gate_tensors_name(int tensors) {
    static const char *const names[] = {"two", "pages", "halves", "keys"};
    return names[tensors];
}

/* "pages of 16 keys; K packed by 8; gaps anywhere" */
char *gate_layout_of(const struct cp_kernel *kernel) {
    static const char *const pages[] = {"chunks", "pages", "ragged keys"};
    static const char *const orders[] = {"", ", [slot][K/V head][d]", ", [K/V head][slot][d]"};
    static const char *const tensors[] = {"", "; K and V of a page one behind the other",
                                          "; V behind K in one tensor",
                                          "; values are in their keys"};
    static const char *const gaps[] = {"", "; gaps behind pages alone", "; no gaps"};
    const struct cp_kernel_layout *l = &kernel->layout;
    size_t size;
    char *text;
    FILE *out = text_open(&text, &size);
    fputs(pages[l->pages], out);
    if (l->pages == CP_PAGES_OWN && l->page_size > 0) {
        fprintf(out, " of %d key%s", l->page_size, l->page_size == 1 ? "" : "s");
    } else if (l->pages == CP_PAGES_OWN && l->page_unit > 0) {
        fprintf(out, " of %d keys, or times a power of two", l->page_unit);
    } else if (l->pages == CP_PAGES_OWN) {
        fputs(" of any size", out);
    }
    fputs(orders[l->order], out);
    if (l->k_pack > 0) {
        fprintf(out, "; K packed by %d", l->k_pack);
    }
    if (l->v_pack > 0) {
        fprintf(out, "; V packed by %d", l->v_pack);
    }
    fprintf(out, "%s%s%s", tensors[l->tensors], gaps[l->gaps],
            l->scale_order == CP_SCALES_BY_SLOT ? "; scales [slot][K/V head]" : "");
    text_close(out);
    return text;
}

int gate_is_by_strides(const struct cp_kernel *kernel) {
    const struct cp_kernel_layout *l = &kernel->layout;
    return l->pages == CP_PAGES_CHUNKS && l->order == CP_ORDER_ANY && l->gaps == CP_GAPS_ANY &&
           l->tensors == CP_TENSORS_TWO && l->k_pack == 0 && l->v_pack == 0 &&
           l->scale_order == CP_SCALES_BY_HEAD;
}

const char *gate_bias_name(int bias) {
    return bias == CP_BIAS_DISTANCE ? "distance" : bias == CP_BIAS_POSITION ? "position" : "signed";
}

const char *gate_invariant_name(int invariant) {
    return invariant == CP_INVARIANT_BATCH  ? "batch"
           : invariant == CP_INVARIANT_CUTS ? "cuts"
                                            : "not";
}

static void say_promotes(FILE *out, int promotes) {
    if (promotes > 0) {
        fprintf(out, " of %d products, promoted to fp32", promotes);
    }
}

char *gate_declares(const struct cp_kernel *kernel) {
    const struct cp_kernel_class *a = &kernel->arithmetic;
    char *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    fprintf(out, "sums of scores %s", gate_sum_name(a->score));
    say_promotes(out, a->score_promotes);
    fprintf(out, ", P %s, sums of values %s", gate_type_name(a->weights), gate_sum_name(a->values));
    say_promotes(out, a->values_promotes);
    fprintf(out, ", exponential within %.2g", a->exp_error);
    if (kernel->keys != CP_KEYS_PLACED) {
        fprintf(out, ", rotated numbers %s", gate_type_name(a->rotated));
    }
    if ((kernel->scores & CP_SCORES_CAP) != 0) {
        fprintf(out, ", tanh within %.2g and %.2g", a->tanh_error, a->tanh_absolute);
    }
    if (a->scales != CP_SCALES_SCORES) {
        fprintf(out, ", scaled queries %s", gate_scales_name(a->scales));
    }
    if (a->step > 1) {
        fprintf(out, ", %d keys at a time", a->step);
    } else {
        fputs(a->step == 1 ? ", key by key" : ", a chunk at a time", out);
    }
    fputs(a->partials == CP_FP16   ? ", partial results fp16"
          : a->partials == CP_BF16 ? ", partial results bf16"
                                   : "",
          out);
    fputs(a->normalises ? ", P divided by n" : "", out);
    fputs(a->factors == CP_FACTORS_FP16   ? ", factors fp16"
          : a->factors == CP_FACTORS_BF16 ? ", factors bf16"
                                          : "",
          out);
    if (a->divide_error > 0.0) {
        fprintf(out, ", division within %.2g", a->divide_error);
    }
    if (a->epsilon > 0.0) {
        fprintf(out, ", n + %.2g", a->epsilon);
    }
    if (a->above > 0.0) {
        fprintf(out, ", references up to %.4g nats above the maximum", a->above);
    }
    if (a->behind > 0.0) {
        fprintf(out, ", references up to %.4g nats below the maximum", a->behind);
    }
    fputs(a->rounded_sum ? ", sums of rounded P" : "", out);
    fputs(a->divides == 2   ? ", partial results divided, merges not"
          : a->divides == 1 ? ", partial results divided"
                            : "",
          out);
    fputs(a->part_lse == CP_PART_LSE_FP16   ? " by log-sum-exps in fp16"
          : a->part_lse == CP_PART_LSE_BF16 ? " by log-sum-exps in bf16"
                                            : "",
          out);
    if (a->n_parts > 0) {
        fprintf(out, ", up to %d partial results", a->n_parts);
    }
    if (a->part_keys > 0) {
        fprintf(out, ", partial results of %d keys or more", a->part_keys);
    }
    fputs(a->in_bits ? ", scores in bits" : "", out);
    fputs(a->truncates ? ", truncated" : "", out);
    fputs(a->flushes ? ", subnormals flushed" : "", out);
    text_close(out);
    return text;
}

const struct gate_hold gate_holds[GATE_HOLDS] = {
    {RUN_NO_WRITES, "no_writes", "changing files"},
    {RUN_NO_TCP, "no_tcp", "TCP"},
    {RUN_NO_SIGNALS, "no_signals", "signalling others"},
    {RUN_FEW_PROCESSES, "few_processes", "starting many processes"},
    {RUN_NO_ORPHANS, "no_orphans", "leaving processes behind"},
    {RUN_NO_NETWORK, "no_network", "any network"},
    {RUN_NO_OTHERS, "no_others", "seeing other processes"},
    {RUN_NO_IPC, "no_ipc", "System V memory of others"},
    {RUN_NO_ATTRIBUTES, "no_attributes", "changing modes and times"},
    {RUN_NO_HANDLERS, "no_handlers", "hiding its faults"}};

void gate_ratio(double ratio, char text[GATE_RATIO_TEXT]) {
    if (ratio < 100.0) {
        ratio = ratio <= 1.0 ? floor(1000.0 * ratio) / 1000.0 : ceil(1000.0 * ratio) / 1000.0;
        snprintf(text, GATE_RATIO_TEXT, "%.3f", ratio);
    } else {
        snprintf(text, GATE_RATIO_TEXT, "%.3g", ratio);
    }
}

char *gate_keys_at_most(const struct gate_result *r) {
    char *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    for (int i = 0; i < r->n_covered; i++) {
        fprintf(out, "%s%d: %d", i > 0 ? ", " : "", r->covered[i].head_dim, r->covered[i].keys);
    }
    text_close(out);
    return text;
}

char *gate_sizes_at_most(const struct gate_result *r) {
    char *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    for (int i = 0; i < (r->sizes.largest[GATE_D_V] > 0 ? GATE_SIZES : GATE_D_V); i++) {
        fprintf(out, "%s%lld %s", i > 0 ? ", " : "", r->sizes.largest[i], gate_size_words[i]);
    }
    text_close(out);
    return text;
}

/* ---- Verdicts ---- */

const char *gate_answer(const struct gate_result *r) {
    return gate_wrong_cases(r) > 0 ? "wrong" : gate_is_right(r) ? "right" : "none";
}

const char *gate_what_of_parts(const struct cp_kernel *kernel) {
    const struct cp_kernel_class *a = &kernel->arithmetic;
    return a->part_lse == CP_PART_LSE_FP32 ? ""
           : a->n_parts == 0 && a->part_keys == 0
               ? ", and so do `n_parts` or `part_keys`, and `part_lse` as CP_PART_LSE_FP32"
               : ", and so does `part_lse` as CP_PART_LSE_FP32";
}

char *gate_no_answer(const struct gate_report *report) {
    const struct gate_result *r = report->result;
    char *text;
    size_t size;
    if (strcmp(gate_answer(r), "none") != 0) {
        return NULL;
    }
    FILE *out = text_open(&text, &size);
    if (gate_has_too_few(r)) {
        fprintf(out,
                "--time left time for %lld of %lld cases, too few for a verdict: it takes %d, or "
                "all that are asked for",
                r->cases, r->asked, GATE_LEAST_CASES);
    } else if (r->cases > 0) {
        fprintf(out,
                "no bound holds for %lld numbers in this arithmetic (NUM-12), too many for a "
                "verdict: it is too coarse for the larger scores of the cases, or declared wider "
                "than the kernel is. A longer step allows more keys%s%s",
                gate_unclaimed(r), gate_what_of_parts(report->kernel),
                r->cases < FEW_CASES ? "; or ask for more cases" : "");
    } else if (r->refused > 0) {
        fprintf(out, "the kernel took no case; its last refusal: %s", r->refusal);
    } else {
        fputs("no case was run", out);
    }
    text_close(out);
    return text;
}

/* ---- Commands ---- */

/* A word of a shell's command line. */
static void put_word(FILE *out, const char *word) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:+@%=-";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            fputs("'\\''", out);
        } else {
            fputc(*word, out);
        }
    }
    fputc('\'', out);
}

static void put_place(FILE *out, const struct gate_options *o) {
    if (o->place != GATE_ANYWHERE) {
        fprintf(out, " --on %s", o->place == GATE_ON_GPU ? "gpu" : "executor");
    }
}

void gate_put_command(FILE *out, const struct gate_options *o) {
    fputs("chunkproof gate --kernel ", out);
    put_word(out, o->kernel);
    fprintf(out, " --tier %s --seed %llu", gate_tier_names[o->tier], o->seed);
    put_place(out, o);
    static const char *const sizes[] = {"h", "h_kv", "d",    "c",      "group",
                                        "b", "rows", "keys", "window", "d_v"};
    const int shape[] = {o->shape.n_heads,    o->shape.n_kv_heads, o->shape.head_dim,
                         o->shape.chunk_size, o->shape.group,      o->shape.sequences,
                         o->shape.rows,       o->shape.keys,       o->shape.window,
                         o->shape.value_dim};
    for (int i = 0, n = 0; i < (int)(sizeof shape / sizeof shape[0]); i++) {
        if (shape[i] > 0) {
            fprintf(out, "%s%s=%d", n++ == 0 ? " --shape " : ",", sizes[i], shape[i]);
        }
    }
    if (o->seconds > 0.0) {
        fprintf(out, " --seconds %g", o->seconds);
    }
    if (o->memory != GATE_MEMORY) {
        fprintf(out, " --memory %g", o->memory * 0x1p-30);
    }
}

char *gate_run_again(const struct gate_report *report) {
    const struct gate_options *o = report->options;
    char *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    gate_put_command(out, o);
    if (o->only >= 0 || o->cases > 0) {
        fprintf(out, " %s %lld", o->only >= 0 ? "--case" : "--cases",
                o->only >= 0 ? o->only : o->cases);
    }
    fputs(o->first ? " --first" : "", out);
    text_close(out);
    return text;
}

int gate_found_order(const long long *cases, int verdicts, int *order) {
    int n = 0;
    for (int i = GATE_RIGHT + 1; i < verdicts; i++) {
        int at = n;
        if (cases[i] == 0) {
            continue;
        }
        for (; at > 0 && cases[order[at - 1]] < cases[i]; at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
        n++;
    }
    return n;
}

/* One of the same verdict tells for it. */
int gate_case_needs_others(const struct gate_report *report, const struct gate_found *found) {
    const struct gate_found *kept = &report->result->found[found->finding.verdict];
    return found->file[0] == '\0' && (found->needs_others || kept->needs_others);
}

char *gate_file_again(const struct gate_options *o, const char *file, const char *command) {
    char *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    fprintf(out, "chunkproof %s ", command);
    put_word(out, file);
    fputs(" --kernel ", out);
    put_word(out, o->kernel);
    put_place(out, o);
    text_close(out);
    return text;
}

char *gate_case_again(const struct gate_report *report, const struct gate_found *found) {
    int others = gate_case_needs_others(report, found);
    char *text;
    size_t size;
    if (found->file[0] != '\0') {
        return gate_file_again(report->options, found->file, "replay");
    }
    FILE *out = text_open(&text, &size);
    gate_put_command(out, report->options);
    fprintf(out, " %s %lld", others ? "--cases" : "--case", found->index + others);
    text_close(out);
    return text;
}

char *gate_case_why(const struct gate_report *report, const struct gate_found *found) {
    enum gate_verdict verdict = found->finding.verdict;
    int explained = verdict != GATE_FAILED && verdict != GATE_EXITED && verdict != GATE_CRASHED &&
                    verdict != GATE_HANGS;
    return found->file[0] != '\0' && explained
               ? gate_file_again(report->options, found->file, "explain")
               : NULL;
}
