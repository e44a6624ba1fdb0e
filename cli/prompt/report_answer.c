/* SPDX-License-Identifier: Apache-2.0 */
/* The report of an answer. */
#include <string.h>

#include "cli/base/text.h"
#include "cli/prompt/answer.h"
#include "cli/prompt/report.h"

#define WIDTH 100

void report_answer_text(FILE *out, const struct prompt_answer *answer) {
    const struct prompt_answer *a = answer;
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
