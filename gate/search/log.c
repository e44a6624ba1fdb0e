/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules of others say of each case, and how often they and the gate differ. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/base/json.h"
#include "gate/judge/rules.h"
#include "gate/search/log.h"

int gate_log_add(struct gate_log *log, const struct gate_entry *entry) {
    if (log->n == log->room) {
        long long room = 2 * log->room + 64;
        struct gate_entry *more = realloc(log->entry, (size_t)room * sizeof *more);
        if (more == NULL) {
            return -1;
        }
        log->entry = more;
        log->room = room;
    }
    log->entry[log->n++] = *entry;
    return 0;
}

/* One rule over all cases. */
struct count {
    long long judged, rejected, accepted_wrong, rejected_right;
};

static struct count count(const struct gate_log *log, int rule) {
    struct count n = {0, 0, 0, 0};
    for (long long i = 0; i < log->n; i++) {
        const struct gate_entry *entry = &log->entry[i];
        int rejected = (int)(entry->rejected >> rule & 1);
        n.judged += entry->judged;
        n.rejected += rejected;
        n.accepted_wrong += !rejected && entry->verdict != GATE_RIGHT;
        n.rejected_right += rejected && entry->verdict == GATE_RIGHT;
    }
    return n;
}

void gate_log_print(FILE *file, const struct gate_result *r) {
    fprintf(file, "\n%-28s %8s %15s %14s   usual test\n", "acceptance rule", "rejects",
            "accepts wrong", "rejects right");
    for (int rule = 0; rule < GATE_RULES; rule++) {
        struct count n = count(&r->each, rule), usual = count(&r->usual, rule);
        fprintf(file, "%-28s %8lld %15lld %14lld   ", gate_rule_names[rule], n.rejected,
                n.accepted_wrong, n.rejected_right);
        fprintf(file, r->usual.n > 0 ? "rejects %lld of %lld\n" : "not run\n", usual.rejected,
                r->usual.n);
    }
}

static json_t *rejected_json(unsigned rejected) {
    json_t *rules = json_array();
    for (int rule = 0; rule < GATE_RULES; rule++) {
        if ((rejected >> rule & 1) != 0) {
            rules = json_with(rules, json_string(gate_rule_names[rule]));
        }
    }
    return rules;
}

static json_t *entries_json(const struct gate_log *log) {
    json_t *all = json_array();
    for (long long i = 0; i < log->n; i++) {
        const struct gate_entry *e = &log->entry[i];
        all = json_with(all,
                        json_pack("{s:I,s:s,s:s,s:b,s:o,s:f}", "case", (json_int_t)e->index,
                                  "values", gate_values_names[e->values], "verdict",
                                  gate_verdict_names[e->verdict], "judged", e->judged, "rejected",
                                  rejected_json(e->rejected), "seconds", e->seconds));
    }
    return all;
}

int gate_log_json(json_t *report, const struct gate_result *r) {
    json_t *rules = json_array();
    for (int rule = 0; rule < GATE_RULES; rule++) {
        struct count n = count(&r->each, rule), usual = count(&r->usual, rule);
        rules = json_with(
            rules, json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I}", "rule", gate_rule_names[rule],
                             "cases", (json_int_t)n.judged, "rejected", (json_int_t)n.rejected,
                             "accepted_wrong", (json_int_t)n.accepted_wrong, "rejected_right",
                             (json_int_t)n.rejected_right, "usual_cases", (json_int_t)usual.judged,
                             "usual_rejected", (json_int_t)usual.rejected));
    }
    return json_object_set_new(report, "rules", rules) == 0 &&
                   json_object_set_new(report, "each", entries_json(&r->each)) == 0 &&
                   json_object_set_new(report, "usual", entries_json(&r->usual)) == 0
               ? 0
               : -1;
}
