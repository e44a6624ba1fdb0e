/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/generate.h"

#include <stdlib.h>

#include "chunkproof/limits.h"
#include "cli/base/random.h"

/* Conversations are picked among this many requests before, so that they are likely to be alive. */
#define RECENT 64

/* A system prompt: its full blocks, numbered in a row when it is first used. */
struct system_prompt {
    int n_tokens;
    int first_id; /* -1 before its first use */
};

struct generation {
    struct trace *trace;
    const struct trace_generator *generator;
    struct prng random;
    struct system_prompt *prompt;
    int *block; /* of the request at hand; CP_MAX_DEPTH of them */
};

static int draw_length(struct generation *g, int mean, int most) {
    long long length = prng_exponential(&g->random, mean);
    return length > most ? most : (int)length;
}

/* The first n blocks of a request are those of a prompt; gives them numbers at its first use. */
static int use_prompt(struct generation *g, struct system_prompt *prompt) {
    int n = prompt->n_tokens / g->trace->block_size;
    if (prompt->first_id < 0) {
        for (int k = 0; k < n; k++) {
            int id = trace_new_id(g->trace);
            if (id < 0) {
                return -1;
            }
            prompt->first_id = k == 0 ? id : prompt->first_id;
        }
    }
    for (int k = 0; k < n; k++) {
        g->block[k] = prompt->first_id + k;
    }
    return n;
}

/* The first n blocks of a request are the full ones of an earlier one's prompt. */
static int use_request(struct generation *g, int r) {
    int n = trace_full_blocks(g->trace, r);
    for (int k = 0; k < n; k++) {
        g->block[k] = trace_blocks(g->trace, r)[k];
    }
    return n;
}

static int add_request(struct generation *g, long long arrival) {
    const struct trace_generator *from = g->generator;
    int r = g->trace->n_requests;
    int most = trace_max_length(g->trace);
    int output = draw_length(g, from->output_tokens, most / 4);
    int question = draw_length(g, from->question_tokens, most / 4);
    int recent = r < RECENT ? r : RECENT;
    int goes_on = prng_below(&g->random, 100) < from->continue_percent && recent > 0;
    int pick = prng_below(&g->random, goes_on ? recent : from->prompts);
    int length;
    int n;

    const struct trace_request *before = goes_on ? &g->trace->request[r - 1 - pick] : NULL;
    if (goes_on && before->input_length <= most / 4 && before->output_length <= most / 4) {
        length = before->input_length + before->output_length + question;
        n = use_request(g, r - 1 - pick);
    } else {
        pick %= from->prompts;
        length = g->prompt[pick].n_tokens + question;
        n = use_prompt(g, &g->prompt[pick]);
    }
    for (; n >= 0 && (long long)n * g->trace->block_size < length; n++) {
        g->block[n] = trace_new_id(g->trace);
        if (g->block[n] < 0) {
            return TRACE_TOO_MANY_IDS;
        }
    }
    return n < 0 ? TRACE_TOO_MANY_IDS : trace_add(g->trace, arrival, length, output, g->block);
}

int trace_generate(struct trace *trace, const struct trace_generator *generator) {
    struct generation g = {.trace = trace, .generator = generator};
    int result = TRACE_NO_MEMORY;
    long long now = 0; /* microseconds */
    g.random.state = generator->seed;
    g.prompt = calloc((size_t)generator->prompts, sizeof *g.prompt);
    g.block = malloc(CP_MAX_DEPTH * sizeof *g.block);
    if (g.prompt != NULL && g.block != NULL) {
        result = TRACE_OK;
        for (int p = 0; p < generator->prompts; p++) {
            g.prompt[p].n_tokens =
                draw_length(&g, generator->prompt_tokens, trace_max_length(trace) / 4);
            g.prompt[p].first_id = -1;
        }
    }
    for (int r = 0; r < generator->requests && result == TRACE_OK; r++) {
        now += prng_exponential(&g.random, generator->gap);
        result = add_request(&g, now / 1000);
    }
    free(g.prompt);
    free(g.block);
    return result;
}

void trace_print(const struct trace *trace, FILE *out) {
    for (int r = 0; r < trace->n_requests; r++) {
        const struct trace_request *request = &trace->request[r];
        fprintf(out, "{\"timestamp\": %lld, \"input_length\": %d, \"output_length\": %d, ",
                request->arrival, request->input_length, request->output_length);
        fputs("\"hash_ids\": [", out);
        for (int k = 0; k < request->n_blocks; k++) {
            fprintf(out, "%s%d", k > 0 ? ", " : "", trace_blocks(trace, r)[k]);
        }
        fputs("]}\n", out);
    }
}
