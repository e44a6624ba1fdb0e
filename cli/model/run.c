/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* pthread, pwrite */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chunkproof/status.h"
#include "cli/base/text.h"
#include "cli/model/run.h"
#include "cli/model/session.h"

/* What the threads share. `lock` guards next, why and error. */
struct team {
    const struct run_text *text;
    struct run_score *window; /* [n_windows] */
    int n_windows;
    pthread_mutex_t lock;
    int next;        /* the window that is scored next */
    const char *why; /* NULL: nothing went wrong */
    int error;       /* of the system, where it has one */
};

static int least(int a, int b) {
    return a < b ? a : b;
}

int run_best(const double *logit, int n) {
    int best = 0;
    for (int i = 1; i < n; i++) {
        best = logit[i] > logit[best] ? i : best;
    }
    return best;
}

double run_log_p(const double *logit, int n, int best, int token) {
    double most = logit[best], sum = 1.0; /* the largest adds exp(0) */
    for (int i = 0; i < n; i++) {
        sum += i != best ? exp(logit[i] - most) : 0.0;
    }
    return logit[token] - most - log(sum);
}

static void fail(struct team *team, const char *why, int error) {
    (void)pthread_mutex_lock(&team->lock);
    if (team->why == NULL) {
        team->why = why;
        team->error = error;
    }
    (void)pthread_mutex_unlock(&team->lock);
}

/* The next window, or -1. */
static int take_window(struct team *team) {
    (void)pthread_mutex_lock(&team->lock);
    int window = team->why == NULL && team->next < team->n_windows ? team->next++ : -1;
    (void)pthread_mutex_unlock(&team->lock);
    return window;
}

static int write_row(FILE *file, const double *logit, float *row, int n_vocab, int token) {
    size_t size = (size_t)n_vocab * sizeof *row, done = 0;
    for (int i = 0; i < n_vocab; i++) {
        row[i] = (float)logit[i];
    }
    while (done < size) {
        ssize_t n = pwrite(fileno(file), (const char *)row + done, size - done,
                           (off_t)((size_t)token * size + done));
        if (n <= 0 && errno != EINTR) {
            return -1;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Tokens first .. first + n - 1 were added; the text's next one is predicted by each, but for the
 * window's last. Nought, or -1 where logits could not be written. */
static int score_some(const struct run_text *text, const struct session *session, float *row,
                      int first, int n, int end, struct run_score *score) {
    int n_vocab = text->weights->decoder.shape.n_vocab;
    for (int i = first; i < first + n; i++) {
        const double *logit = session->logits + (ptrdiff_t)(i - first) * n_vocab;
        if (text->logits != NULL && write_row(text->logits, logit, row, n_vocab, i) != 0) {
            return -1;
        }
        if (i + 1 < end) {
            int best = run_best(logit, n_vocab);
            score->n++;
            score->log_sum += run_log_p(logit, n_vocab, best, text->token[i + 1]);
            score->n_best += best == text->token[i + 1];
        }
    }
    return 0;
}

static void score_window(struct team *team, struct session *session, float *row, int window) {
    const struct run_text *text = team->text;
    int begin = window * text->window, end = least(text->n_tokens, begin + text->window);
    session_clear(session);
    for (int at = begin; at < end; at += session->at_once) {
        int n = least(session->at_once, end - at);
        if (session_add(session, text->token + at, n, 0) != CP_OK) {
            fail(team, "the decoder refuses a token", 0);
            return;
        }
        if (score_some(text, session, row, at, n, end, &team->window[window]) != 0) {
            fail(team, "the logits cannot be written", errno);
            return;
        }
    }
}

static void *work(void *shared) {
    struct team *team = shared;
    const struct run_text *text = team->text;
    const struct cp_decoder *decoder = &text->weights->decoder;
    struct session session;
    float *row = malloc((size_t)decoder->shape.n_vocab * sizeof *row);
    const char *why = row == NULL ? "not enough memory for the logits"
                                  : session_new(&session, decoder, text->window,
                                                text->is_fast ? text->threads : 0);
    if (why != NULL) {
        free(row);
        fail(team, why, 0);
        return NULL;
    }
    for (int window; (window = take_window(team)) >= 0;) {
        score_window(team, &session, row, window);
    }
    session_free(&session);
    free(row);
    return NULL;
}

/* This thread works too, so that the work is done however few threads can be started. */
static void work_together(struct team *team, int n_threads) {
    pthread_t *thread = cli_allocate(NULL, (size_t)n_threads, sizeof *thread);
    int n = 0;
    while (n < n_threads - 1 && pthread_create(&thread[n], NULL, work, team) == 0) {
        n++;
    }
    (void)work(team);
    for (int i = 0; i < n; i++) {
        (void)pthread_join(thread[i], NULL);
    }
    free(thread);
}

int run_score(const struct run_text *text, struct run_score *score) {
    int n_windows = (text->n_tokens - 1) / text->window + 1;
    struct team team = {.text = text, .n_windows = n_windows, .lock = PTHREAD_MUTEX_INITIALIZER};
    team.window = cli_allocate(NULL, (size_t)n_windows, sizeof *team.window);
    memset(team.window, 0, (size_t)n_windows * sizeof *team.window);
    work_together(&team, text->is_fast ? 1 : least(text->threads, n_windows));
    *score = (struct run_score){0};
    for (int i = 0; i < n_windows; i++) { /* in this order, whoever scored which */
        score->n += team.window[i].n;
        score->log_sum += team.window[i].log_sum;
        score->n_best += team.window[i].n_best;
    }
    free(team.window);
    if (team.why != NULL) {
        fprintf(stderr, "chunkproof model: %s%s%s\n", team.why, team.error != 0 ? ": " : "",
                team.error != 0 ? strerror(team.error) : "");
        return -1;
    }
    return 0;
}

int run_most(const struct weights_name *name, const struct weights *weights, int n, int n_more) {
    int context = weights->context;
    if (n_more <= context - n) {
        return n_more;
    }
    fprintf(stderr,
            "chunkproof %s: %s: with %d tokens more there are %lld positions, and the model was "
            "trained for %d: ",
            name->command, name->file, n_more, (long long)n + n_more, context);
    if (context <= n) {
        fputs("one follows, and may make no sense. Shorten what is before it\n", stderr);
        return 1;
    }
    fprintf(stderr, "%d follow at the most. Shorten what is before them to have more\n",
            context - n);
    return context - n;
}

int run_generate(const struct weights *weights, const int *token, int n, int n_more,
                 int fast_threads, run_take *take, void *context) {
    struct session session;
    int n_vocab = weights->decoder.shape.n_vocab, last = n, next = 0;
    const char *why = session_new(&session, &weights->decoder, n + n_more, fast_threads);
    if (why != NULL) {
        fprintf(stderr, "chunkproof model: %s\n", why);
        return -1;
    }
    for (int at = 0; at < n; at += last) {
        last = least(session.at_once, n - at);
        if (session_add(&session, token + at, last, last - 1) != CP_OK) {
            fputs("chunkproof model: the decoder refuses a token of the prompt\n", stderr);
            session_free(&session);
            return -1;
        }
    }
    for (int i = 0; i < n_more; i++) {
        next = run_best(session.logits, n_vocab);
        if ((uint32_t)next == weights->tokens.stop || take(context, next) != 0) {
            break;
        }
        if (i + 1 < n_more && session_add(&session, &next, 1, 0) != CP_OK) {
            fputs("chunkproof model: the decoder refuses a token of the continuation\n", stderr);
            session_free(&session);
            return -1;
        }
    }
    session_free(&session);
    return 0;
}
