/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "chunkproof/number.h"
#include "chunkproof/version.h"
#include "gate/gate/case.h"

static const char *type_name(int type) {
    static const char *const type_names[] = {"fp16", "fp32", "fp64", "bf16"};
    return type == CP_NO_LSE ? "none" : type_names[type];
}

static const char *sum_name(int sum) {
    static const char *const sum_names[] = {"fp32", "tensor-core", "fp16", "fp64"};
    return sum_names[sum];
}

static long long wrong_cases(const struct gate_result *r) {
    return r->cases - r->verdicts[GATE_RIGHT];
}

long long gate_unclaimed(const struct gate_result *r) {
    long long unclaimed = 0;
    for (int i = 0; i < GATE_VALUES; i++) {
        unclaimed += r->tally[i].unclaimed;
    }
    return unclaimed;
}

int gate_claims_too_little(const struct gate_result *r) {
    long long compared = 0;
    for (int i = 0; i < GATE_VALUES; i++) {
        compared += r->tally[i].compared;
    }
    return 10 * gate_unclaimed(r) > compared;
}

static const char *verdict_of(const struct gate_result *r) {
    return wrong_cases(r) > 0                           ? "wrong"
           : r->cases == 0 || gate_claims_too_little(r) ? "none"
                                                        : "right";
}

/* ---- Text ---- */

static void print_kernel(FILE *file, const struct gate_options *o, const struct cp_kernel *kernel) {
    const struct cp_kernel_class *a = &kernel->arithmetic;
    fprintf(file, "kernel     %s (%s)\n", kernel->name, o->kernel);
    fprintf(file, "takes      Q %s, K and V %s; gives out %s, lse %s\n", type_name(kernel->q_type),
            type_name(kernel->kv_type), type_name(kernel->out_type), type_name(kernel->lse_type));
    fprintf(file, "declares   sums of scores %s, P %s, sums of values %s, exponential within %.2g",
            sum_name(a->score), type_name(a->weights), sum_name(a->values), a->exp_error);
    if (a->step > 0) {
        fprintf(file, ", steps of %d keys", a->step);
    } else {
        fputs(", a chunk at a time", file);
    }
    fputs(a->rounded_sum ? ", sums of rounded P" : "", file);
    fputs(a->divides ? ", partial results divided" : "", file);
    fputs(a->in_bits ? ", scores in bits" : "", file);
    fputs(a->truncates ? ", cut off" : "", file);
    fputs(a->flushes ? ", subnormals flushed" : "", file);
    fprintf(file, "\ncases      tier %s, seed %llu\n\n", gate_tier_names[o->tier], o->seed);
}

static void print_tallies(FILE *file, const struct gate_result *r) {
    fputs("values       cases   wrong      numbers   largest error / bound\n", file);
    for (int i = 0; i < GATE_VALUES; i++) {
        const struct gate_tally *t = &r->tally[i];
        if (t->cases > 0) {
            fprintf(file, "%-10s %7lld %7lld %12lld   %.3f\n", gate_values_names[i], t->cases,
                    t->wrong_cases, t->compared, t->largest);
        }
    }
}

static void print_again(FILE *file, const struct gate_options *o, const struct gate_found *found) {
    if (found->file[0] != '\0') {
        fprintf(file, "  again: chunkproof replay %s --kernel %s\n", found->file, o->kernel);
    } else {
        fprintf(file, "  again: chunkproof gate --kernel %s --tier %s --seed %llu %s %lld%s\n",
                o->kernel, gate_tier_names[o->tier], o->seed,
                o->save != NULL ? "--cases" : "--case", found->index + (o->save != NULL),
                o->save != NULL ? " (it needs the cases before it)" : "");
    }
}

static void print_found(FILE *file, const struct gate_options *o, const struct gate_result *r) {
    for (int i = GATE_RIGHT + 1; i < GATE_VERDICTS; i++) {
        const struct gate_found *found = &r->found[i];
        char line[GATE_LINE];
        if (r->verdicts[i] == 0) {
            continue;
        }
        gate_recipe_print(&found->recipe, line);
        fprintf(file, "\n%s, %lld %s", gate_verdict_names[i], r->verdicts[i],
                r->verdicts[i] == 1 ? "case" : "cases");
        fprintf(file, "%s%s\n", found->finding.clause[0] != '\0' ? "; breaks " : "",
                found->finding.clause);
        fprintf(file, "  %s\n", found->finding.text);
        fprintf(file, "  smallest case: %s\n", line);
        print_again(file, o, found);
    }
}

void gate_print_text(FILE *file, const struct gate_options *o, const struct cp_kernel *kernel,
                     const struct gate_result *r) {
    print_kernel(file, o, kernel);
    print_tallies(file, r);
    long long unclaimed = gate_unclaimed(r);
    if (unclaimed > 0) {
        fprintf(file,
                "\nof %lld numbers more nothing can be claimed for such an arithmetic (NUM-12)%s\n",
                unclaimed,
                gate_claims_too_little(r) ? ": too many for a verdict; declare what the kernel does"
                                          : "");
    }
    if (r->refused > 0) {
        fprintf(
            file,
            "\nnot taken: %lld cases, none of whose sizes the kernel takes; the last time: %s\n",
            r->refused, r->refusal);
    }
    print_found(file, o, r);
    if (o->rules) {
        gate_log_print(file, r);
    }
    const char *verdict = verdict_of(r);
    fprintf(file, "\n%s: %lld of %lld cases wrong, %lld runs, %.1f s%s\n",
            strcmp(verdict, "wrong") == 0  ? "WRONG"
            : strcmp(verdict, "none") == 0 ? "NO VERDICT"
                                           : verdict,
            wrong_cases(r), r->cases, r->runs, r->seconds, r->interrupted ? ", interrupted" : "");
}

/* ---- JSON ---- */

static json_t *number(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *tallies_json(const struct gate_result *r) {
    json_t *all = json_array();
    for (int i = 0; i < GATE_VALUES; i++) {
        const struct gate_tally *t = &r->tally[i];
        json_array_append_new(
            all, json_pack("{s:s,s:I,s:I,s:I,s:I,s:o}", "values", gate_values_names[i], "cases",
                           (json_int_t)t->cases, "wrong", (json_int_t)t->wrong_cases, "numbers",
                           (json_int_t)t->compared, "unclaimed", (json_int_t)t->unclaimed,
                           "largest", number(t->largest)));
    }
    return all;
}

static json_t *found_json(const struct gate_result *r) {
    json_t *all = json_array();
    for (int i = GATE_RIGHT + 1; i < GATE_VERDICTS; i++) {
        const struct gate_found *found = &r->found[i];
        const struct gate_finding *f = &found->finding;
        if (r->verdicts[i] > 0) {
            json_array_append_new(
                all, json_pack("{s:s,s:I,s:I,s:s,s:s,s:i,s:i,s:i,s:o,s:o,s:o,s:o}", "verdict",
                               gate_verdict_names[i], "cases", (json_int_t)r->verdicts[i], "case",
                               (json_int_t)found->index, "clause", f->clause, "text", f->text,
                               "row", f->row, "head", f->head, "element", f->element, "got",
                               number(f->got), "expected", number(f->expected), "bound",
                               number(f->bound), "recipe", gate_recipe_json(&found->recipe)));
        }
    }
    return all;
}

int gate_print_json(const char *file, const struct gate_options *o, const struct cp_kernel *kernel,
                    const struct gate_result *r) {
    char seed[32];
    (void)snprintf(seed, sizeof seed, "%llu", o->seed);
    json_t *report =
        json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:b,s:o,s:o}", "chunkproof", cp_version(),
                  "kernel", kernel->name, "file", o->kernel, "tier", gate_tier_names[o->tier],
                  "seed", seed, "verdict", verdict_of(r), "cases", (json_int_t)r->cases, "refused",
                  (json_int_t)r->refused, "runs", (json_int_t)r->runs, "interrupted",
                  r->interrupted, "tallies", tallies_json(r), "findings", found_json(r));
    if (report != NULL && o->rules) {
        gate_log_json(report, r);
    }
    int result = report == NULL ? -1 : json_dump_file(report, file, JSON_INDENT(2));
    json_decref(report);
    if (result != 0) {
        fprintf(stderr, "chunkproof gate: %s: the report could not be written\n", file);
    }
    return result;
}
