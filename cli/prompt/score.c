/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/prompt/score.h"

#include "cli/model/run.h"

struct prompt_score prompt_score_of(const double *logit, int n, int token, int position) {
    int best = run_best(logit, n);
    struct prompt_score score = {.position = position,
                                 .token = token,
                                 .rank = 1,
                                 .best = best,
                                 .log_p = run_log_p(logit, n, best, token)};
    for (int i = 0; i < n; i++) {
        double ahead = logit[i] - logit[token];
        score.rank += i < token ? ahead >= 0.0 : ahead > 0.0;
    }
    return score;
}

int prompt_score_write(FILE *out, const double *logit, int n) {
    for (int i = 0; i < n; i++) {
        float number = (float)logit[i];
        if (fwrite(&number, sizeof number, 1, out) != 1) {
            return -1;
        }
    }
    return 0;
}
