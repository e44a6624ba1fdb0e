/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/prompt/answer.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/clean.h"
#include "cli/base/clock.h"
#include "cli/base/text.h"
#include "cli/model/run.h"
#include "cli/model/session.h"
#include "cli/model/tokenizer.h"
#include "cli/prompt/fast.h"
#include "cli/prompt/report.h"

static void add_run(struct prompt_tokens *tokens, const struct pml_prompt *p,
                    const struct pml_run *run) {
    const struct pml_schema *s = p->schema;
    int is_cached = run->kind == PML_CACHED, module = is_cached ? s->part[run->from].parent : -1;
    prompt_tokens_add(tokens, is_cached ? &s->texts : &p->texts, report_text_of(p, run), run->begin,
                      module, is_cached ? pml_mask_scaffold(p, module) : -1);
}

/* The tokens that the prompt adds, in order of position; or all tokens, and the last of these at
 * the end: a run may have its tokens in any order (LAYER-12). */
static struct prompt_tokens tokens_of(const struct pml_prompt *p, int with_cached) {
    struct prompt_tokens tokens = {0};
    int last = -1;
    for (int i = 0; i < p->n_runs; i++) {
        int is_new = p->run[i].kind != PML_CACHED;
        if (is_new || with_cached) {
            add_run(&tokens, p, &p->run[i]);
            last = is_new ? tokens.n - 1 : last;
        }
    }
    if (last >= 0) {
        struct prompt_token end = tokens.of[last];
        memmove(&tokens.of[last], &tokens.of[last + 1],
                (size_t)(tokens.n - 1 - last) * sizeof *tokens.of);
        tokens.of[tokens.n - 1] = end;
    }
    return tokens;
}

/* A module that a prompt imports, and its number among what was encoded. */
struct import {
    int node, module, encoded;
};

static int by_node(const void *a, const void *b) {
    const struct import *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Encodes the modules that the prompt imports, where they are not there yet, and lists them in the
 * order of the imports. Returns how many; -1 after a message. */
static int encode(struct prompt_answer *a, struct prompt_cache *cache, const struct pml_prompt *p,
                  struct import *import) {
    const struct pml_schema *s = p->schema;
    int before = cache->n_tokens, n = 0;
    double start = seconds_now();
    for (int x = 0; x < s->n_parts; x++) {
        if (s->part[x].kind == CP_PART_MODULE && p->imported[x] != 0) {
            int encoded = prompt_cache_module(cache, x, pml_mask_scaffold(p, x));
            if (encoded < 0) {
                return -1;
            }
            import[n++] = (struct import){p->imported[x], x, encoded};
        }
    }
    a->n_encoded = cache->n_tokens - before;
    a->encoding = seconds_now() - start;
    qsort(import, (size_t)n, sizeof *import, by_node);
    return n;
}

/* Positions go with the entries. */
static void load(struct cp_decoder_cache *entries, const struct prompt_cache *cache,
                 const struct import *import, int n) {
    for (int i = 0; i < n; i++) {
        const struct cp_decoder_cache *module = &cache->encoded[import[i].encoded].entries;
        (void)cp_decoder_cache_append(&cache->decoder->shape, entries, module, 0, module->n);
    }
}

/* Computes tokens of the prompt, or of its answer, which go on where the last call ended. */
static int compute(const struct prompt_question *q, struct cp_decoder_cache *entries,
                   const struct prompt_tokens *tokens, int goes_on, struct prompt_logits logits) {
    return q->fast != NULL ? prompt_fast_compute(q->fast, entries, tokens, goes_on, logits)
                           : prompt_compute(&q->weights->decoder, entries, tokens, NULL, logits);
}

/* What row[] says, the logits of a piece of the tokens, from `at` on: of each the next one's score,
 * if that is the next position. */
static int take(struct prompt_answer *a, const struct prompt_question *q,
                const struct prompt_tokens *tokens, int at, int n, const double *row) {
    int n_vocab = q->weights->decoder.shape.n_vocab;
    for (int i = at; i < at + n; i++, row += n_vocab) {
        const struct prompt_token *token = &tokens->of[i];
        if (q->logits != NULL && prompt_score_write(q->logits, row, n_vocab) != 0) {
            fprintf(stderr, "chunkproof prompt: the logits cannot be written: %s\n",
                    strerror(errno));
            return -1;
        }
        if (q->is_scored && i + 1 < tokens->n && token[1].position == token->position + 1) {
            a->score[a->n_scores++] =
                prompt_score_of(row, n_vocab, token[1].token, token[1].position);
        }
    }
    return 0;
}

/* Computes the new tokens, in the same runs as without scores. `logits` are those of the last. */
static int compute_and_score(struct prompt_answer *a, const struct prompt_question *q,
                             struct cp_decoder_cache *entries, const struct prompt_tokens *tokens,
                             double *logits) {
    size_t n_vocab = (size_t)q->weights->decoder.shape.n_vocab;
    int at_once = tokens->n < FAST_AT_ONCE ? tokens->n : FAST_AT_ONCE, n = 0, status = 0;
    double *row = cli_allocate(NULL, (size_t)at_once * n_vocab, sizeof *row);
    a->is_scored = q->is_scored;
    a->score = cli_allocate(NULL, (size_t)tokens->n, sizeof *a->score);
    for (int at = 0; at < tokens->n && status == 0; at += n) {
        n = tokens->n - at < at_once ? tokens->n - at : at_once;
        const struct prompt_tokens piece = {.n = n, .of = tokens->of + at};
        const struct prompt_logits all = {row, 0};
        status = compute(q, entries, &piece, at > 0, all);
        status = status == 0 ? take(a, q, tokens, at, n, row) : -1;
    }
    memcpy(logits, row + (size_t)(n - 1) * n_vocab, n_vocab * sizeof *logits);
    free(row);
    return status;
}

/* The tokens behind the first one, each computed with all that stands before it. `logits` are those
 * of the first, and then of the last. */
static int go_on(struct prompt_answer *a, const struct prompt_question *q,
                 struct cp_decoder_cache *entries, double *logits) {
    int n_vocab = q->weights->decoder.shape.n_vocab;
    while (a->n < q->n_most) {
        int best = run_best(logits, n_vocab);
        struct prompt_token next = {best, a->begin + a->n, -1, -1};
        const struct prompt_tokens tokens = {.n = 1, .of = &next};
        if ((uint32_t)best == q->weights->tokens.stop) {
            break;
        }
        a->token[a->n++] = best;
        const struct prompt_logits to = {logits, 0};
        if (a->n < q->n_most && compute(q, entries, &tokens, 1, to) != 0) {
            return -1;
        }
    }
    return 0;
}

void prompt_answer_compare(struct prompt_answer *answer, const double *logits, const double *whole,
                           int n) {
    answer->is_compared = 1;
    answer->is_same = memcmp(logits, whole, (size_t)n * sizeof *logits) == 0;
    for (int i = 0; i < n; i++) {
        answer->difference = fmax(answer->difference, fabs(logits[i] - whole[i]));
    }
}

static int compare(struct prompt_answer *a, const struct prompt_question *q,
                   const struct pml_prompt *p, const double *logits, double *whole_logits) {
    const struct cp_decoder *decoder = &q->weights->decoder;
    struct prompt_tokens tokens = tokens_of(p, 1);
    struct cp_decoder_cache entries = {0};
    const struct prompt_logits last = {whole_logits, tokens.n - 1};
    double start = seconds_now();
    unsigned char *sees = prompt_mask(p->schema, &tokens);
    int status = sees != NULL && prompt_entries_new(&entries, decoder, tokens.n) == 0
                     ? prompt_compute(decoder, &entries, &tokens, sees, last)
                     : -1;
    a->whole = seconds_now() - start;
    if (status == 0) {
        prompt_answer_compare(a, logits, whole_logits, decoder->shape.n_vocab);
    }
    free(sees);
    session_entries_free(&entries);
    prompt_tokens_free(&tokens);
    return status;
}

/* The position behind all tokens of the prompt. */
static int end_of(const struct pml_prompt *p) {
    int end = 0;
    for (int i = 0; i < p->n_runs; i++) {
        int to = p->run[i].begin + p->run[i].size;
        end = to > end ? to : end;
    }
    return end;
}

/* Loads and computes; logits[] has room for those of two tokens, import[] for all parts. */
static int work(struct prompt_answer *a, const struct prompt_question *q,
                struct prompt_cache *cache, const struct pml_prompt *p,
                const struct prompt_tokens *added, struct import *import, double *logits) {
    const struct cp_decoder *decoder = &q->weights->decoder;
    struct cp_decoder_cache entries;
    int n = encode(a, cache, p, import);
    if (n < 0) {
        return -1;
    }
    double start = seconds_now();
    if (prompt_entries_new(&entries, decoder, p->n_cached + p->n_new + q->n_most) != 0) {
        return -1;
    }
    load(&entries, cache, import, n);
    const struct prompt_logits last = {logits, added->n - 1};
    int status = q->is_scored || q->logits != NULL
                     ? compute_and_score(a, q, &entries, added, logits)
                     : compute(q, &entries, added, 0, last);
    a->first = seconds_now() - start;
    if (status == 0 && q->is_compared) {
        status = compare(a, q, p, logits, logits + decoder->shape.n_vocab);
    }
    if (status == 0) {
        status = go_on(a, q, &entries, logits);
    }
    session_entries_free(&entries);
    return status;
}

/* Of tokens that make no text, the bytes are marked as such. */
static char *text_of(const int *token, int n_tokens, const struct weights *weights) {
    char *text, *line;
    size_t size;
    FILE *out = text_open(&text, &size);
    for (int i = 0; i < n_tokens; i++) {
        size_t n;
        const char *bytes = tokenizer_bytes(&weights->tokens, token[i], &n);
        (void)fwrite(bytes, 1, n, out);
    }
    text_close(out);
    line = report_line(text);
    free(text);
    return line;
}

static void add_texts(struct prompt_answer *a, const struct weights *weights) {
    for (int i = 0; i < a->n_scores; i++) {
        a->score[i].text = text_of(&a->score[i].token, 1, weights);
    }
}

static void add_pieces(struct prompt_answer *a, const struct weights *weights,
                       const struct pml_prompt *p) {
    a->piece = cli_allocate(NULL, (size_t)p->n_cached + (size_t)p->n_new, sizeof *a->piece);
    for (int i = 0; i < p->n_runs; i++) {
        struct prompt_tokens tokens = {0};
        add_run(&tokens, p, &p->run[i]);
        for (int k = 0; k < tokens.n; k++) {
            const struct prompt_token *token = &tokens.of[k];
            a->piece[a->n_pieces++] = (struct prompt_piece){
                token->position, token->token, p->run[i].kind, text_of(&token->token, 1, weights)};
        }
        prompt_tokens_free(&tokens);
    }
}

int prompt_answer(struct prompt_answer *answer, const struct prompt_question *question,
                  struct prompt_cache *cache, const struct pml_prompt *prompt) {
    int end = end_of(prompt), status = -1;
    *answer = (struct prompt_answer){.begin = end};
    struct prompt_tokens added = tokens_of(prompt, 0);
    if (added.n == 0) {
        text_say("chunkproof prompt: %s: nothing can answer this prompt, for it adds no text: a "
                 "module does not know what it is asked. Add a question behind the imports",
                 prompt->document.path);
    } else if (end > CP_MAX_POSITIONS - question->n_most) {
        text_say("chunkproof prompt: %s: no position is left behind %d for an answer of %d tokens: "
                 "shorten the prompt, or ask for less",
                 prompt->document.path, end, question->n_most);
    } else {
        size_t n_vocab = (size_t)question->weights->decoder.shape.n_vocab;
        const struct weights_name name = {"prompt", prompt->document.path};
        struct prompt_question within = *question; /* the model's context */
        within.n_most = run_most(&name, question->weights, end, question->n_most);
        double *logits = cli_allocate(NULL, 2 * n_vocab, sizeof *logits);
        struct import *import = cli_allocate(NULL, (size_t)prompt->schema->n_parts, sizeof *import);
        answer->token = cli_allocate(NULL, (size_t)within.n_most, sizeof *answer->token);
        answer->behind = added.of[added.n - 1].position;
        status = work(answer, &within, cache, prompt, &added, import, logits);
        answer->text = text_of(answer->token, answer->n, question->weights);
        add_texts(answer, question->weights);
        if (question->is_each) {
            add_pieces(answer, question->weights, prompt);
        }
        free(import);
        free(logits);
    }
    prompt_tokens_free(&added);
    return status;
}

void prompt_answer_free(struct prompt_answer *answer) {
    free(answer->token);
    free(answer->text);
    for (int i = 0; i < answer->n_pieces; i++) {
        free(answer->piece[i].text);
    }
    for (int i = 0; i < answer->n_scores; i++) {
        free(answer->score[i].text);
    }
    free(answer->piece);
    free(answer->score);
    *answer = (struct prompt_answer){0};
}
