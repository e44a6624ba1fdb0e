/* SPDX-License-Identifier: Apache-2.0 */
/* What other acceptance rules say of each case, and how often they and the gate differ. */
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

/* Every test notices a call that failed or did not return. */
static int is_loud(int verdict) {
    return verdict == GATE_FAILED || verdict == GATE_CRASHED || verdict == GATE_EXITED ||
           verdict == GATE_HANGS;
}

void gate_entry_judge(struct gate_entry *entry, int judged, unsigned rejected) {
    int loud = is_loud(entry->verdict);
    entry->judged = judged || loud;
    entry->rejected = loud ? GATE_ALL_RULES : rejected;
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

void gate_log_print(FILE *file, const struct gate_log *each, const struct gate_log *usual_log) {
    fprintf(file, "\n%-28s %8s %15s %14s   usual test\n", "acceptance rule", "rejects",
            "accepts wrong", "rejects right");
    for (int rule = 0; rule < GATE_RULES; rule++) {
        struct count n = count(each, rule), usual = count(usual_log, rule);
        fprintf(file, "%-28s %8lld %15lld %14lld   ", gate_rule_names[rule], n.rejected,
                n.accepted_wrong, n.rejected_right);
        fprintf(file, usual_log->n > 0 ? "rejects %lld of %lld\n" : "not run\n", usual.rejected,
                usual_log->n);
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

static json_t *entries_json(const struct gate_log *log, const struct gate_log_names *names) {
    json_t *all = json_array();
    for (long long i = 0; i < log->n; i++) {
        const struct gate_entry *e = &log->entry[i];
        all = json_with(all, json_pack("{s:I,s:s,s:s,s:b,s:o,s:f}", "case", (json_int_t)e->index,
                                       "values", names->values[e->values], "verdict",
                                       names->verdict(e->verdict), "judged", e->judged, "rejected",
                                       rejected_json(e->rejected), "seconds", e->seconds));
    }
    return all;
}

int gate_log_json(json_t *report, const struct gate_log *each, const struct gate_log *usual_log,
                  const struct gate_log_names *names) {
    json_t *rules = json_array();
    for (int rule = 0; rule < GATE_RULES; rule++) {
        struct count n = count(each, rule), usual = count(usual_log, rule);
        rules = json_with(
            rules, json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I}", "rule", gate_rule_names[rule],
                             "cases", (json_int_t)n.judged, "rejected", (json_int_t)n.rejected,
                             "accepted_wrong", (json_int_t)n.accepted_wrong, "rejected_right",
                             (json_int_t)n.rejected_right, "usual_cases", (json_int_t)usual.judged,
                             "usual_rejected", (json_int_t)usual.rejected));
    }
    return json_object_set_new(report, "rules", rules) == 0 &&
                   json_object_set_new(report, "each", entries_json(each, names)) == 0 &&
                   json_object_set_new(report, "usual", entries_json(usual_log, names)) == 0
               ? 0
               : -1;
}
