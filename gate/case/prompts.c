/* SPDX-License-Identifier: Apache-2.0 */
/* GATE-13: modules at their positions, and prompts that have some of them. */
#include "gate/case/prompts.h"

#include <stdlib.h>
#include <string.h>

#include "chunkproof/kernel.h"
#include "chunkproof/tolerance.h"
#include "cli/base/random.h"

#define OF_THREE   2 /* of three cases of a kernel for modules, so many have some */
#define FAR_BEHIND 4 /* one recipe in so many has a wide gap, where values have no need of order */
#define WIDE_GAP   70000  /* more than 16 bits count */
#define SLOPED_GAP 130000 /* times a slope of 8 bits it has more than the 24 of binary32 */
#define TABLED_GAP 65536  /* in 16 bits such a distance is a near one, whose bias is another */

#define MOST_ARGUMENTS 2 /* new tokens in gaps */

/* ---- The prompts of a recipe ---- */

/* Where a text of so many tokens comes among the texts of a prompt; -1: it has no place. */
static int place_of(const struct gate_prompt *p, int position, int tokens) {
    int i = 0;
    while (i < p->n_texts && p->text[i].position + p->text[i].tokens <= position) {
        i++;
    }
    return i < p->n_texts && p->text[i].position < position + tokens ? -1 : i;
}

/* 1: it was put there. */
static int put(struct gate_prompt *p, struct gate_text text) {
    int i = text.tokens > 0 && p->n_texts < GATE_MOST_TEXTS
                ? place_of(p, text.position, text.tokens)
                : -1;
    if (i < 0) {
        return 0;
    }
    memmove(&p->text[i + 1], &p->text[i], (size_t)(p->n_texts - i) * sizeof p->text[0]);
    p->text[i] = text;
    p->n_texts++;
    p->n_tokens += text.tokens;
    return 1;
}

/* Up to `tokens` new tokens in the gaps before the last text, as arguments are. */
static void put_in_gaps(struct gate_prompt *p, int tokens) {
    for (int i = 0, from = 0; i < p->n_texts && tokens > 0; i++) {
        int begin = p->text[i].position, room = begin - from;
        int n = tokens < room ? tokens : room;
        if (n > 0 && put(p, (struct gate_text){-1, n, begin - n})) {
            tokens -= n;
            i++; /* the text that it stands before */
        }
        from = p->text[i].position + p->text[i].tokens;
    }
}

static int end_of(const struct gate_prompt *p) {
    int last = p->n_texts - 1;
    return last < 0 ? 0 : p->text[last].position + p->text[last].tokens;
}

int gate_is_alike(const struct gate_recipe *r, int m) {
    const struct gate_module *module = &r->module[m];
    return m > 0 && module->alike && module->tokens == module[-1].tokens;
}

int gate_prompt_has(const struct gate_prompt *p, int module) {
    int found = 0;
    for (int i = 0; i < p->n_texts; i++) {
        found |= p->text[i].module == module;
    }
    return found;
}

/* Prompt number `i`: its new text stands up to two positions behind the last module. */
static void make(struct gate_prompt *p, const struct gate_recipe *r, const struct gate_op *op,
                 int i) {
    memset(p, 0, sizeof *p);
    for (int m = 0; m < r->n_modules; m++) {
        const struct gate_module *module = &r->module[m];
        int twice =
            gate_is_alike(r, m) && gate_prompt_has(p, m - 1); /* one text is no two of a prompt's */
        if ((op->sequence >> m & 1) && !twice) {
            (void)put(p, (struct gate_text){m, module->tokens, module->position});
        }
    }
    put_in_gaps(p, op->tokens);
    int own = p->n_tokens == 0 && op->own == 0 && (r->never & CP_NEVER_EMPTY_SEQUENCES) != 0
                  ? 1
                  : op->own;
    (void)put(p, (struct gate_text){-1, own, end_of(p) + (int)((r->seed + (unsigned)i) % 3)});
}

static long long tokens_of_modules(const struct gate_recipe *r) {
    long long tokens = 0;
    for (int i = 0; i < r->n_modules; i++) {
        tokens += r->module[i].tokens;
    }
    return tokens;
}

/* A prompt that joins those of the operations. Its new text is short, and no longer than the
 * modules together, which a recipe of little work keeps short. */
static struct gate_op any_prompt(struct prng *random, const struct gate_recipe *r) {
    long long tokens = tokens_of_modules(r);
    int most = tokens < r->chunk_size ? (int)tokens : r->chunk_size;
    return (struct gate_op){GATE_PROMPT, prng_below(random, 1 << r->n_modules),
                            prng_below(random, MOST_ARGUMENTS + 1), prng_below(random, most + 2)};
}

struct gate_prompts *gate_prompts_new(const struct gate_recipe *r) {
    struct prng random = {r->seed ^ 0x5C4E3AULL};
    int n = r->sequences > 0 ? r->sequences : r->n_ops > 0 ? r->n_ops : 1, made = 0;
    struct gate_prompts *prompts = malloc(sizeof *prompts + (size_t)n * sizeof prompts->prompt[0]);
    for (int i = 0; prompts != NULL && i < r->n_ops && made < n; i++) {
        if (r->op[i].kind == GATE_PROMPT) {
            make(&prompts->prompt[made], r, &r->op[i], made);
            made++;
        }
    }
    while (prompts != NULL && made < (r->sequences > 0 ? n : 1)) {
        struct gate_op op = any_prompt(&random, r);
        make(&prompts->prompt[made], r, &op, made);
        made++;
    }
    if (prompts != NULL) {
        prompts->n = made;
    }
    return prompts;
}

int gate_prompts_fit(const struct gate_recipe *r) {
    long long most = r->chunk_size + MOST_ARGUMENTS; /* of any_prompt() */
    for (int i = 0; i < r->n_ops; i++) {
        long long tokens = (long long)r->op[i].tokens + r->op[i].own;
        most = tokens > most ? tokens : most;
    }
    return r->n_modules == 0 || tokens_of_modules(r) + most <= CP_TOLERANCE_MOST;
}

/* ---- A recipe with modules ---- */

int gate_has_modules(int plans, long long index) {
    return plans != CP_PLANS_TREES && index % 3 < OF_THREE;
}

int gate_values_have_order(enum gate_values values) {
    return values == GATE_COUNT || values == GATE_RISING || values == GATE_FALLING ||
           values == GATE_CREEPING;
}

static int longest_of(const struct gate_recipe *r) {
    int longest = 1;
    for (int i = 0; i < r->n_ops; i++) {
        const struct gate_op *op = &r->op[i];
        int tokens = op->kind == GATE_JOIN ? (op->tokens < longest ? op->tokens : longest) + op->own
                                           : op->tokens;
        longest = tokens > longest ? tokens : longest;
    }
    return longest;
}

/* One module after the other, with gaps of any size, also none; now and then a union, whose members
 * begin together. All have `tokens` tokens together at most. */
static void place_modules(struct gate_recipe *r, struct prng *random, int tokens, int unions) {
    int c = r->chunk_size, end = prng_below(random, 4) == 0 ? prng_below(random, 2 * c + 1) : 0;
    int begin = end, most = 1 + prng_below(random, GATE_MOST_MODULES);
    int far = r->slopes != GATE_NO_SLOPES   ? SLOPED_GAP
              : r->biases != GATE_NO_BIASES ? TABLED_GAP
                                            : WIDE_GAP;
    /* Of keys with an order a wide gap would leave nothing between. */
    int wide = !gate_values_have_order(r->values) && prng_below(random, FAR_BEHIND) == 0
                   ? prng_below(random, most)
                   : -1;
    for (int m = 0; m < most && tokens > 0; m++) {
        int left = most - m, n = left == 1 ? tokens : 1 + prng_below(random, 2 * tokens / left + 1);
        int in_union = unions && m > 0 && prng_below(random, 6) == 0;
        n = n < tokens ? n : tokens;
        if ((left > 1 || unions) && n > c && prng_below(random, 3) == 0) {
            n = n / c * c; /* whole chunks */
        }
        if (!in_union) {
            int gap = prng_below(random, 3) > 0 ? 0 : 1 + prng_below(random, c + 3);
            begin = end + gap + (m == wide ? far : 0);
        }
        r->module[r->n_modules++] = (struct gate_module){n, begin, 0};
        end = begin + n > end ? begin + n : end;
        tokens -= n;
    }
}

void gate_recipe_to_modules(struct gate_recipe *r, const struct gate_shape *shape) {
    struct prng random = {r->seed ^ 0x40D01E5ULL};
    int keys = shape != NULL && shape->keys > 0 ? shape->keys : 0;
    int longest = keys > 0 ? keys : longest_of(r), own = prng_below(&random, r->chunk_size + 3);
    own = own < longest ? own : longest - 1;
    place_modules(r, &random, longest - own, keys == 0);
    r->n_ops = r->n_ops > 1 || r->renewed ? r->n_ops : 1 + prng_below(&random, 4);
    for (int i = 0; i < r->n_ops; i++) {
        int all = (1 << r->n_modules) - 1, some = prng_below(&random, all + 1);
        r->op[i] = any_prompt(&random, r);
        r->op[i].sequence = i == 0 || prng_below(&random, 4) == 0 ? all : some;
        r->op[i].tokens = i == 0 && keys > 0 ? 0 : r->op[i].tokens;
        r->op[i].own = i == 0 ? own : r->op[i].own;
    }
}
