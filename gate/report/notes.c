/* SPDX-License-Identifier: Apache-2.0 */
/* Notes of a report, in addition to the verdict: what was not judged, and what could be asked
 * better. */
#include <stdlib.h>

#include "cli/base/text.h"
#include "gate/judge/closer.h"
#include "gate/judge/judge.h"
#include "gate/report/report.h"

#define FEW_KEYS 128 /* or two steps of the kernel, whichever is more */
#define ENOUGH   30  /* results needed to say that a closer declaration would be enough */

/* Nothing is known about what a kernel does only with that many keys. */
static void note_unjudged(FILE *out, const struct gate_report *report) {
    const struct gate_result *r = report->result;
    int most = 0;
    for (int i = 0; i < r->n_covered; i++) {
        most = r->covered[i].keys > most ? r->covered[i].keys : most;
    }
    if (r->unjudged_keys > most) {
        fprintf(out,
                "; NOT JUDGED: more than %d keys; for %lld cases of up to %d keys every bound was "
                "infinite. A longer step, or partial results that are not divided, allow more "
                "keys%s: declare them if this is what the kernel does",
                most, r->unjudged, r->unjudged_keys, gate_what_of_parts(report->kernel));
    }
}

static void note_unclaimed(FILE *out, const struct gate_report *report) {
    long long unclaimed = gate_unclaimed(report->result);
    if (unclaimed > 0 && !gate_claims_too_little(report->result)) {
        fprintf(out,
                "no bound holds for %lld more numbers: the bound of this arithmetic is infinite, "
                "or an infinity may be right (NUM-12)",
                unclaimed);
        note_unjudged(out, report);
    }
}

static void note_refused(FILE *out, const struct gate_report *report) {
    const struct gate_result *r = report->result;
    if (r->refused > 0 && r->cases > 0) {
        fprintf(out,
                "not taken: %lld cases, because the kernel refuses all their sizes; the last "
                "refusal: %s",
                r->refused, r->refusal);
    }
}

/* What it was asked for, and refused each time: of each size its values. */
static void note_sizes(FILE *out, const struct gate_report *report) {
    const struct gate_result *r = report->result;
    int n = 0;
    for (enum gate_asked which = 0; which < GATE_ASKED && r->cases > 0; which++) {
        const struct gate_asked_of *asked = &r->sizes.asked[which];
        int values = 0;
        for (int i = 0; i < asked->n; i++) {
            if (gate_size_is_refused(asked, i)) {
                fprintf(out, "%s%s %d",
                        n == 0        ? "sizes that the kernel refused each time, and that the run "
                                        "says nothing about: "
                        : values == 0 ? "; "
                                      : ",",
                        values == 0 ? gate_asked_names[which] : "", asked->value[i]);
                n++;
                values++;
            }
        }
        fputs(values > 0 && gate_asked_is_least(which) ? " and more" : "", out);
    }
}

/* No verdict: a right kernel may have such numbers, and a wrong one that the bound lets through may
 * show by them. */
static void note_unusual(FILE *out, const struct gate_report *report) {
    const struct gate_result *r = report->result;
    const struct gate_found *found = &r->most_unusual, *smallest = &r->found[GATE_RIGHT];
    const struct gate_finding *f = &found->finding;
    if (r->unusual > 0) {
        char *again = gate_case_again(report, found), *why = gate_case_why(report, smallest);
        char line[GATE_LINE];
        gate_recipe_print(&found->recipe, line);
        fprintf(
            out,
            "WARNING: %lld number%s of %lld case%s %s right, and more than %g times as far from "
            "attention as is usual for this arithmetic (NUM-13), most of all %.3g times: out, "
            "element %d of row %d, head %d, of case %lld: %s; again: %s",
            r->unusual, r->unusual == 1 ? "" : "s", r->unusual_cases,
            r->unusual_cases == 1 ? "" : "s", r->unusual == 1 ? "is" : "are", GATE_UNUSUAL,
            f->most_unusual, f->unusual_element, f->unusual_row, f->unusual_head, found->index,
            line, again);
        if (report->cause != NULL && report->cause->text[0] != '\0') {
            fprintf(out, "; in the smallest such case, %lld, what may cause it: %s",
                    smallest->index, report->cause->text);
            if (report->cause->key >= 0) {
                fprintf(out, "; there key %d has the most weight, %.2g", report->cause->key,
                        report->cause->weight);
            }
        }
        fprintf(out, "%s%s", why != NULL ? "; why: " : "", why != NULL ? why : "");
        free(why);
        free(again);
    }
}

char *gate_warning(const struct gate_report *report) {
    char *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    note_unusual(out, report);
    text_close(out);
    return text;
}

static void note_late(FILE *out, const struct gate_report *report) {
    if (report->result->is_late) {
        fprintf(out, "--time ended the run after %lld of %lld cases", report->result->cases,
                report->result->asked);
    }
}

/* Standard error has the reason. */
static void note_failed(FILE *out, const struct gate_report *report) {
    if (report->result->failed) {
        fprintf(out, "an error ended the run after %lld of %lld cases", report->result->cases,
                report->result->asked);
    }
}

static void note_too_large(FILE *out, const struct gate_report *report) {
    if (report->result->too_large > 0) {
        fprintf(out,
                "%lld cases were replaced by smaller ones, because they would need more memory "
                "than --memory allows",
                report->result->too_large);
    }
}

#define ODD 4 /* other head dimensions test the ends of vectors; few keys are enough for them */

/* A mistake in a kernel's second block of keys cannot show where no sequence has a second block.
 * This note is left out for runs that were meant to be short, and for kernels that are already
 * wrong. */
static void note_few_keys(FILE *out, const struct gate_report *report) {
    const struct gate_result *r = report->result;
    int step = report->kernel->arithmetic.step;
    int few = 2 * step > FEW_KEYS ? 2 * step : FEW_KEYS, last = 0, n = 0;
    const struct gate_options *o = report->options;
    int is_whole = o->only < 0 && o->cases == 0 && !o->first && !r->interrupted && !r->is_late &&
                   !r->failed && o->shape.head_dim == 0 && gate_wrong_cases(r) == 0;
    for (int i = 0; i < r->n_covered && is_whole; i++) {
        if (r->covered[i].keys <= few && r->covered[i].head_dim % ODD == 0) {
            fprintf(out, "%s %d (%d)",
                    n++ == 0 ? "few keys for some d, so the run says little about them: d" : ",",
                    r->covered[i].head_dim, r->covered[i].keys);
            last = r->covered[i].head_dim;
        }
    }
    if (n > 0) {
        fprintf(out, "; --shape d=%d runs only that one", last);
    }
}

/* Where the gate does not look. */
static void note_device(FILE *out, const struct gate_report *report) {
    if (report->kernel->memory == CP_DEVICE_MEMORY) {
        fputs("not tried in device memory: chunks so far apart, and pools so large, that an offset "
              "needs more than 32 bits (GATE-3, GATE-10), so check that yours have 64; and, on the "
              "executor, memory "
              "that a shuffle does not order (GATE-9): there a shuffle orders memory among its "
              "lanes, which CUDA promises only for __syncwarp()",
              out);
    }
}

/* A declaration that is wider than necessary lets wrong kernels pass. */
static void note_wide(FILE *out, const struct gate_report *report) {
    const struct gate_result *r = report->result;
    struct cp_kernel closer;
    int n = 0;
    for (enum gate_closer i = 0; i < GATE_CLOSERS && r->tried_closer >= ENOUGH; i++) {
        if ((r->needed >> i & 1) == 0 && gate_closer(report->kernel, i, &closer)) {
            fprintf(out, "%s%s", n++ > 0 ? " or " : "", gate_closer_names[i]);
        }
    }
    if (n > 0) {
        fprintf(out,
                " would be enough: %lld results are also right by that; a declaration that is "
                "wider than the kernel lets errors through",
                r->tried_closer);
    }
}

/* It was declared, and never asked. */
static void note_invariance(FILE *out, const struct gate_report *report) {
    const struct gate_result *r = report->result;
    if (report->kernel->conventions.invariant != CP_INVARIANT_NOT && r->parts == 0 &&
        r->verdicts[GATE_RIGHT] > 0) {
        fputs("NOT TRIED: that bits are the same in any batch (CONV-5); the kernel takes no "
              "sequence of a case alone",
              out);
    }
}

char *gate_note(const struct gate_report *report, int i) {
    static void (*const notes[GATE_NOTES])(FILE *, const struct gate_report *) = {
        note_unusual, note_late,     note_failed, note_too_large, note_unclaimed, note_refused,
        note_sizes,   note_few_keys, note_wide,   note_device,    note_invariance};
    char *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    notes[i](out, report);
    text_close(out);
    return text;
}
