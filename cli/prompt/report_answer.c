/* SPDX-License-Identifier: Apache-2.0 */
/* The report of an answer. */
#include <math.h>

#include "cli/base/json.h"
#include "cli/base/text.h"
#include "cli/prompt/answer.h"
#include "cli/prompt/report_numbers.h"

#define WIDTH 100

static void put_pieces(FILE *out, const struct prompt_answer *a) {
    static const char *const from[] = {
        [PML_CACHED] = "cache", [PML_ARGUMENT] = "argument", [PML_NEW] = "new"};
    if (a->n_pieces > 0) {
        fputs("\nposition   token  from      text\n", out);
    }
    for (int i = 0; i < a->n_pieces; i++) {
        const struct prompt_piece *piece = &a->piece[i];
        fprintf(out, "%8d  %6d  %-8s  '", piece->position, piece->token, from[piece->kind]);
        text_put_cut(out, piece->text, 60, "…");
        fputs("'\n", out);
    }
}

/* Tokens of the new text, and what they say together. */
static void put_scores(FILE *out, const struct prompt_answer *a) {
    double sum = 0.0;
    int n_best = 0;
    fputs("\nposition   token        ln p    rank  text\n", out);
    for (int i = 0; i < a->n_scores; i++) {
        const struct prompt_score *score = &a->score[i];
        fprintf(out, "%8d  %6d  %10.5f  %6d  '", score->position, score->token, score->log_p,
                score->rank);
        text_put_cut(out, score->text, 50, "…");
        fputs("'\n", out);
        sum += score->log_p;
        n_best += score->rank == 1;
    }
    fprintf(out, "%d tokens were predicted", a->n_scores);
    if (a->n_scores > 0) {
        fprintf(out, ", %d of them as the best one; their perplexity is %.6g", n_best,
                exp(-sum / a->n_scores));
    }
    fputs(".\n", out);
}

void report_answer_text(FILE *out, const struct prompt_answer *answer) {
    const struct prompt_answer *a = answer;
    put_pieces(out, a);
    if (a->is_scored) {
        put_scores(out, a);
    }
    fprintf(
        out,
        "\n%d tokens of modules were encoded now, in %.2f s. The first token came %.2f s later.\n",
        a->n_encoded, a->encoding, a->first);
    if (a->is_compared) {
        fprintf(out, "The whole prompt under its mask took %.2f s and has ", a->whole);
        if (a->is_same) {
            fputs("the same logits, bit for bit.\n", out);
        } else {
            fprintf(out, "other logits: they differ by up to %.3g.\n", a->difference);
        }
    }
    if (a->behind + 1 < a->begin) {
        fprintf(out,
                "The answer follows position %d, where the last new token is. Cached text stands "
                "behind it,\nwhich that token has not seen: a question is best the last text of a "
                "prompt and of its schema.\n",
                a->behind);
    }
    fprintf(out, "answer, from position %d: ", a->begin);
    text_put_wrapped(out, a->text, 25, 2, WIDTH);
}

/* Null where nothing was scored. */
static json_t *scores_json(const struct prompt_answer *a) {
    json_t *array = a->is_scored ? json_array() : json_null();
    for (int i = 0; i < a->n_scores; i++) {
        const struct prompt_score *score = &a->score[i];
        array = json_with(array, json_pack("{s:i,s:i,s:f,s:i,s:i}", "position", score->position,
                                           "token", score->token, "log_p", score->log_p, "rank",
                                           score->rank, "best", score->best));
    }
    return array;
}

json_t *report_answer_json(const struct prompt_answer *answer) {
    const struct prompt_answer *a = answer;
    json_t *seconds = json_pack("{s:f,s:f,s:o}", "encoding", a->encoding, "first", a->first,
                                "whole", a->is_compared ? json_real(a->whole) : json_null());
    return json_pack("{s:s,s:o,s:i,s:i,s:i,s:o,s:o,s:o}", "text", a->text, "tokens",
                     json_numbers(a->token, a->n), "begin", a->begin, "behind", a->behind,
                     "encoded", a->n_encoded, "seconds", seconds, "same",
                     a->is_compared ? json_boolean(a->is_same) : json_null(), "score",
                     scores_json(a));
}
