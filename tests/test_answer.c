/* SPDX-License-Identifier: Apache-2.0 */
/* Answers by cached inference (PML-14), on the small model of tests/golden/model, whose tokens are
 * bytes here, and on random decoders of three layers: with two, no entry depends on what the tokens
 * that it sees have seen. tests/cli_answer.sh has random schemas. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/run.h"
#include "cli/prompt/answer.h"
#include "cli/prompt/fast.h"
#include "tests/decoder_case.h"
#include "tests/pml_case.h"
#include "weights_file.h"

#define MOST_PROMPTS 4
#define MOST_TOKENS  8

static struct weights weights;

static int set_up(void **state) {
    *state = NULL;
    return weights_open(&weights, NAMED(TINY_WEIGHTS));
}

static int tear_down(void **state) {
    (void)state;
    weights_close(&weights);
    return 0;
}

/* Bytes become tokens of the model. */
static void fold(struct pml_texts *texts, const struct weights *model) {
    for (int i = 0; i < texts->n_tokens; i++) {
        texts->token[i] %= model->decoder.shape.n_vocab;
    }
}

static void read_schema(struct pml_case *c, const char *text, const struct weights *model) {
    if (pml_case_schema(c, "bytes", "none", text, strlen(text)) != 0) {
        fail_msg("refused: %s", c->said);
    }
    fold(&c->schema.texts, model);
}

static struct prompt_answer ask_more(struct pml_case *c, struct prompt_cache *cache,
                                     const struct prompt_question *question, const char *text) {
    const struct weights *model = question->weights;
    struct prompt_answer answer;
    if (pml_case_prompt(c, text, strlen(text)) != 0) {
        fail_msg("refused: %s", c->said);
    }
    fold(&c->prompt.texts, model);
    assert_int_equal(prompt_answer(&answer, question, cache, &c->prompt), 0);
    pml_case_free_prompt(c);
    return answer;
}

static struct prompt_answer ask(struct pml_case *c, struct prompt_cache *cache,
                                const struct weights *model, const char *text, int n) {
    const struct prompt_question question = {model, cache->fast, n, 1, 1, 0, NULL};
    struct prompt_answer answer = ask_more(c, cache, &question, text);
    assert_int_equal(answer.is_compared, 1);
    return answer;
}

struct example {
    const char *schema;
    struct {
        const char *text;
        int n_encoded;
    } prompt[MOST_PROMPTS];
};

/* Own text is before and behind nested modules, which see it; a scaffold counts for one prompt, and
 * not for the next; what is there is not encoded once more. */
static const struct example examples[] = {
    {"<schema name='s'>x<module name='a'>aa</module><module name='b'>bbb</module>y</schema>",
     {{"<prompt schema='s'><b/>go</prompt>", 5},
      {"<prompt schema='s'><b/><a/>go</prompt>", 2},
      {"<prompt schema='s'><a/>go</prompt>", 0}}},
    {"<schema name='s'>x<module name='a'>aa<module name='b'>bbb</module>a<param name='p' len='3'/>a"
     "</module>y</schema>",
     {{"<prompt schema='s'><a><b/></a>go</prompt>", 9},
      {"<prompt schema='s'><a p='q'/>go</prompt>", 0},
      {"<prompt schema='s'><a p='qr'><b/>new</a>go</prompt>", 0}}},
    {"<schema name='s'>x<module name='a'>aa<module name='b'>bbb</module>aaaa</module>y"
     "<module name='c'>ccccc<module name='d'>dddddd</module>c</module>z"
     "<scaffold modules='a/b c'/></schema>",
     {{"<prompt schema='s'><c/>go</prompt>", 9},
      {"<prompt schema='s'><c/><a><b/></a>go</prompt>", 15},
      {"<prompt schema='s'><a><b/></a><c><d/></c>go</prompt>", 6},
      {"<prompt schema='s'><a><b/></a>go</prompt>", 3}}},
    {"<schema name='s'><union><module name='a'>aaaaaaaaaa</module><module "
     "name='b'>b</module></union>"
     " at the end</schema>",
     {{"<prompt schema='s'><b/>go</prompt>", 12}, {"<prompt schema='s'>go<b/>go</prompt>", 0}}},
};

static void pieces_are_in_order(const struct prompt_answer *answer) {
    assert_in_range(answer->n_pieces, 1, answer->begin);
    for (int i = 1; i < answer->n_pieces; i++) {
        assert_true(answer->piece[i - 1].position < answer->piece[i].position);
    }
    assert_int_equal(answer->piece[answer->n_pieces - 1].position, answer->begin - 1);
}

static void try_example(const struct example *e, const struct weights *model) {
    struct pml_case c;
    read_schema(&c, e->schema, model);
    struct prompt_cache cache = {.decoder = &model->decoder, .schema = &c.schema};
    for (int k = 0; k < MOST_PROMPTS && e->prompt[k].text != NULL; k++) {
        struct prompt_answer answer = ask(&c, &cache, model, e->prompt[k].text, 2);
        assert_int_equal(answer.is_same, 1);
        assert_int_equal(answer.n_encoded, e->prompt[k].n_encoded);
        pieces_are_in_order(&answer);
        prompt_answer_free(&answer);
    }
    prompt_cache_free(&cache);
    pml_case_free(&c);
}

/* MOD-4, MOD-5, PML-14 */
static void the_cache_has_the_logits_of_the_whole_prompt(void **state) {
    static struct decoder_case random;
    unsigned long long seed = 1;
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        try_example(&examples[i], &weights);
        for (int k = 0; k < 15; k++) {
            struct weights model = weights;
            decoder_case_make(&random, &seed, k % 3, CASE_LAYERS);
            model.decoder = random.decoder;
            try_example(&examples[i], &model);
        }
    }
}

/* What the fast decoder's cache answers: the reference's tokens. */
static void assert_alike(struct pml_case *c, struct prompt_cache *with, struct prompt_cache *cache,
                         const struct weights *model, const char *text) {
    struct prompt_answer wanted = ask(c, cache, model, text, 6);
    struct prompt_answer answer = ask(c, with, model, text, 6);
    assert_int_equal(answer.n_encoded, wanted.n_encoded);
    assert_int_equal(answer.n, wanted.n);
    assert_memory_equal(answer.token, wanted.token, (size_t)wanted.n * sizeof(int));
    prompt_answer_free(&answer);
    prompt_answer_free(&wanted);
}

/* FAST-1, FAST-4: modules with and without scaffolds, arguments inside of modules and answers of
 * some tokens, on the fast decoder. Its best tokens are the reference's: of these seeds no two
 * logits are so close that binary32 would exchange them. */
static void answer_fast(const struct example *e, const struct weights *model) {
    struct pml_case c;
    struct prompt_fast fast;
    read_schema(&c, e->schema, model);
    assert_int_equal(prompt_fast_new(&fast, &model->decoder, 2, 200), 0);
    struct prompt_cache cache = {.decoder = &model->decoder, .schema = &c.schema};
    struct prompt_cache with = {.decoder = &model->decoder, .fast = &fast, .schema = &c.schema};
    for (int k = 0; k < MOST_PROMPTS && e->prompt[k].text != NULL; k++) {
        assert_alike(&c, &with, &cache, model, e->prompt[k].text);
    }
    prompt_cache_free(&cache);
    prompt_cache_free(&with);
    prompt_fast_free(&fast);
    pml_case_free(&c);
}

static void the_fast_decoder_answers_alike(void **state) {
    static struct decoder_case random;
    unsigned long long seed = 3;
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        answer_fast(&examples[i], &weights);
        for (int k = 0; k < 30; k++) {
            struct weights model = weights;
            int positions = k % 2 == 0 ? CP_POSITIONS_ROTARY : CP_POSITIONS_LEARNED;
            decoder_case_make(&random, &seed, positions, CASE_LAYERS);
            model.decoder = random.decoder;
            answer_fast(&examples[i], &model);
        }
    }
}

/* PML-14: the answer has positions, too. */
static void an_answer_without_positions_is_refused(void **state) {
    (void)state;
    for (int more = 0; more < 2; more++) {
        char schema[80];
        struct pml_case c;
        struct prompt_answer answer;
        (void)snprintf(schema, sizeof schema,
                       "<schema name='s'>b<param name='p' len='%d'/></schema>",
                       CP_MAX_POSITIONS - 6 + more);
        read_schema(&c, schema, &weights);
        struct prompt_cache cache = {.decoder = &weights.decoder, .schema = &c.schema};
        const struct prompt_question question = {&weights, NULL, 4, 0, 0, 0, NULL};
        assert_int_equal(pml_case_prompt(&c, "<prompt schema='s'>c</prompt>", 29), 0);
        fold(&c.prompt.texts, &weights);
        assert_int_equal(prompt_answer(&answer, &question, &cache, &c.prompt), more ? -1 : 0);
        prompt_answer_free(&answer);
        pml_case_free_prompt(&c);
        prompt_cache_free(&cache);
        pml_case_free(&c);
    }
}

/* PML-14, LM-3: the schema and the prompt have 6 positions. */
static void an_answer_ends_with_the_context(void **state) {
    static const int context[] = {10, 9, 7, 6, 3}, wanted[] = {4, 3, 1, 1, 1};
    struct pml_case c;
    (void)state;
    read_schema(&c, "<schema name='s'>b<param name='p' len='4'/></schema>", &weights);
    assert_int_equal(pml_case_prompt(&c, "<prompt schema='s'>c</prompt>", 29), 0);
    fold(&c.prompt.texts, &weights);
    for (size_t i = 0; i < sizeof context / sizeof context[0]; i++) {
        struct weights model = weights;
        struct prompt_answer answer;
        model.context = context[i];
        model.tokens.stop = WEIGHTS_NO_TOKEN;
        struct prompt_cache cache = {.decoder = &model.decoder, .schema = &c.schema};
        const struct prompt_question question = {&model, NULL, 4, 0, 0, 0, NULL};
        assert_int_equal(prompt_answer(&answer, &question, &cache, &c.prompt), 0);
        assert_int_equal(answer.n, wanted[i]);
        prompt_answer_free(&answer);
        prompt_cache_free(&cache);
    }
    pml_case_free_prompt(&c);
    pml_case_free(&c);
}

/* FAST-1: a module, an argument and new text of more tokens than the fast decoder takes at once. */
static void long_texts_take_several_runs(void **state) {
    enum { LONG = 2 * FAST_AT_ONCE + 3 };
    static char schema[3 * LONG], prompt[4 * LONG], a[LONG + 1], b[LONG + 1];
    struct pml_case c;
    struct prompt_fast fast;
    (void)state;
    for (int i = 0; i < LONG; i++) {
        a[i] = (char)('a' + i * i % 23);
        b[i] = (char)('a' + i * 5 % 26);
    }
    (void)snprintf(schema, sizeof schema,
                   "<schema name='s'>x<module name='m'>%s<param name='p' len='%d'/>y</module>"
                   "</schema>",
                   a, LONG);
    (void)snprintf(prompt, sizeof prompt, "<prompt schema='s'><m p='%s'/>%s</prompt>", b, a);
    read_schema(&c, schema, &weights);
    assert_int_equal(prompt_fast_new(&fast, &weights.decoder, 2, 4 * LONG), 0);
    struct prompt_cache cache = {.decoder = &weights.decoder, .schema = &c.schema};
    struct prompt_cache with = {.decoder = &weights.decoder, .fast = &fast, .schema = &c.schema};
    assert_alike(&c, &with, &cache, &weights, prompt);
    assert_int_equal(with.n_tokens, LONG + 2);
    prompt_cache_free(&cache);
    prompt_cache_free(&with);
    prompt_fast_free(&fast);
    pml_case_free(&c);
}

struct taken {
    int n, token[MOST_TOKENS];
};

static int take(void *context, int token) {
    struct taken *taken = context;
    taken->token[taken->n++] = token;
    return 0;
}

/* PML-14: the schema's text and the prompt's are a text, which `chunkproof model` continues. */
static void a_prompt_goes_on_as_a_text_does(void **state) {
    static const char schema[] = "<schema name='s'>the next</schema>";
    const int text[] = {'t', 'h', 'e', ' ', 'n', 'e', 'x', 't', 'k', 'e', 'y', 's'};
    const int n = sizeof text / sizeof text[0];
    struct taken taken = {.n = 0};
    struct pml_case c;
    (void)state;
    read_schema(&c, schema, &weights);
    struct prompt_cache cache = {.decoder = &weights.decoder, .schema = &c.schema};
    struct prompt_answer answer =
        ask(&c, &cache, &weights, "<prompt schema='s'>keys</prompt>", MOST_TOKENS);
    assert_int_equal(run_generate(&weights, text, n, MOST_TOKENS, 0, take, &taken), 0);
    assert_in_range(answer.n, 2, MOST_TOKENS);
    assert_int_equal(answer.n, taken.n);
    assert_memory_equal(answer.token, taken.token, (size_t)taken.n * sizeof taken.token[0]);
    assert_int_equal(answer.behind, n - 1);
    assert_int_equal(answer.begin, n);
    prompt_answer_free(&answer);
    prompt_cache_free(&cache);
    pml_case_free(&c);
}

/* PML-14, LM-3: the end token ends the answer, and is not part of it. */
static void the_end_token_ends_the_answer(void **state) {
    struct pml_case c;
    struct weights model = weights;
    (void)state;
    read_schema(&c, "<schema name='s'>the next</schema>", &model);
    struct prompt_cache cache = {.decoder = &model.decoder, .schema = &c.schema};
    const char *prompt = "<prompt schema='s'>keys</prompt>";
    struct prompt_answer whole = ask(&c, &cache, &model, prompt, MOST_TOKENS);
    assert_int_equal(whole.n, MOST_TOKENS);
    for (int i = 0; i < MOST_TOKENS; i++) {
        int first = 0;
        while (whole.token[first] != whole.token[i]) {
            first++;
        }
        model.tokens.stop = (uint32_t)whole.token[i];
        struct prompt_answer answer = ask(&c, &cache, &model, prompt, MOST_TOKENS);
        assert_int_equal(answer.n, first);
        assert_memory_equal(answer.token, whole.token, (size_t)first * sizeof(int));
        prompt_answer_free(&answer);
    }
    prompt_answer_free(&whole);
    prompt_cache_free(&cache);
    pml_case_free(&c);
}

/* PML-14: the last new token is not the last token. */
static void the_answer_follows_the_last_new_token(void **state) {
    const struct example *e = &examples[3];
    struct pml_case c;
    (void)state;
    read_schema(&c, e->schema, &weights);
    struct prompt_cache cache = {.decoder = &weights.decoder, .schema = &c.schema};
    struct prompt_answer answer = ask(&c, &cache, &weights, e->prompt[0].text, 1);
    assert_int_equal(answer.behind, 2); /* "go" takes 1 and 2, behind b; the union has 0 .. 9 */
    assert_int_equal(answer.begin, 21);
    prompt_answer_free(&answer);
    answer = ask(&c, &cache, &weights, e->prompt[1].text, 1);
    assert_int_equal(answer.behind, 22); /* text before all imports stands behind everything */
    assert_int_equal(answer.begin, 23);
    prompt_answer_free(&answer);
    prompt_cache_free(&cache);
    pml_case_free(&c);
}

static void other_logits_are_noticed(void **state) {
    const double one[] = {1.0, -2.0, 3.0}, other[] = {1.0, -2.0, 3.5}, zero[] = {0.0, 0.0, -0.0};
    struct prompt_answer answer = {0};
    (void)state;
    prompt_answer_compare(&answer, one, one, 3);
    assert_true(answer.is_compared && answer.is_same && answer.difference == 0.0);
    prompt_answer_compare(&answer, one, other, 3);
    assert_true(answer.is_compared && !answer.is_same && answer.difference == 0.5);
    answer.difference = 0.0;
    prompt_answer_compare(&answer, zero, zero + 1, 2);
    assert_true(!answer.is_same && answer.difference == 0.0);
}

/* PML-15: p(i) = 1/10, 2/10, 5/10, 2/10. Of equal logits the first has the lower rank. */
static void a_score_is_a_logarithm_and_a_rank(void **state) {
    const double logit[] = {0.0, log(2.0), log(5.0), log(2.0)};
    const double p[] = {0.1, 0.2, 0.5, 0.2};
    const int rank[] = {4, 2, 1, 3};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct prompt_score score = prompt_score_of(logit, 4, i, 7);
        assert_int_equal(score.rank, rank[i]);
        assert_int_equal(score.best, 2);
        assert_int_equal(score.token, i);
        assert_int_equal(score.position, 7);
        /* a dozen roundings of numbers up to 4 */
        assert_true(fabs(score.log_p - log(p[i])) <= 12 * 4 * 0x1p-53);
    }
}

/* The score of a row of logits that were rounded to float, by its definition, and how far that may
 * be off: each logit is off by 2^-24 of itself, and the log-sum-exp by no more than the largest. */
static long double log_p_of(const float *row, int n, int token, long double *error) {
    long double sum = expl((long double)row[0]), most = fabsl((long double)row[0]);
    for (int i = 1; i < n; i++) {
        sum += expl((long double)row[i]);
        most = fmaxl(most, fabsl((long double)row[i]));
    }
    *error = 2.0L * most * 0x1p-24L + 0x1p-40L;
    return (long double)row[token] - logl(sum);
}

#define MOST_VOCAB 512

/* PML-15: each new token but the first is predicted from the one before, by the logits that are
 * written; what was predicted behind a shorter text is its answer. */
static void new_tokens_are_scored(void **state) {
    static float row[5][MOST_VOCAB];
    struct pml_case c;
    FILE *out = tmpfile();
    int n = weights.decoder.shape.n_vocab;
    (void)state;
    assert_non_null(out);
    assert_in_range(n, 1, MOST_VOCAB);
    read_schema(&c, "<schema name='s'>x<module name='a'>aa</module></schema>", &weights);
    struct prompt_cache cache = {.decoder = &weights.decoder, .schema = &c.schema};
    const struct prompt_question question = {&weights, NULL, 1, 1, 0, 1, out};
    struct prompt_answer answer =
        ask_more(&c, &cache, &question, "<prompt schema='s'><a/>going</prompt>");
    rewind(out);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(fread(row[i], sizeof(float), (size_t)n, out), n);
    }
    assert_int_equal(fgetc(out), EOF);
    assert_int_equal(answer.is_same, 1);
    assert_int_equal(answer.n_scores, 4);
    for (int i = 0; i < 4; i++) {
        char text[64];
        const struct prompt_score *score = &answer.score[i];
        long double error, log_p = log_p_of(row[i], n, "oing"[i] % n, &error);
        (void)snprintf(text, sizeof text, "<prompt schema='s'><a/>%.*s</prompt>", i + 1, "going");
        struct prompt_answer before = ask(&c, &cache, &weights, text, 1);
        assert_int_equal(score->position, 4 + i);
        assert_int_equal(score->token, "oing"[i] % n);
        assert_true(fabsl((long double)score->log_p - log_p) <= error);
        assert_int_equal(score->best, before.token[0]);
        assert_int_equal(score->rank == 1, score->best == score->token);
        prompt_answer_free(&before);
    }
    prompt_answer_free(&answer);
    prompt_cache_free(&cache);
    pml_case_free(&c);
    assert_int_equal(fclose(out), 0);
}

/* PML-15: "go" is before all imports, so behind everything, and in the place of a module: two
 * segments, whose first tokens nobody predicts. */
static void the_first_token_of_a_segment_is_not_predicted(void **state) {
    struct pml_case c;
    (void)state;
    read_schema(&c, examples[3].schema, &weights);
    struct prompt_cache cache = {.decoder = &weights.decoder, .schema = &c.schema};
    const struct prompt_question question = {&weights, NULL, 1, 0, 0, 1, NULL};
    struct prompt_answer answer = ask_more(&c, &cache, &question, examples[3].prompt[1].text);
    assert_int_equal(answer.n_scores, 2);
    assert_int_equal(answer.score[0].position, 2);
    assert_int_equal(answer.score[1].position, 22);
    prompt_answer_free(&answer);
    prompt_cache_free(&cache);
    pml_case_free(&c);
}

/* The logits of a prompt's new tokens, on either decoder. */
static void logits_of(struct pml_case *c, struct prompt_cache *cache, const char *text,
                      float *logits, int n) {
    FILE *out = tmpfile();
    const struct prompt_question question = {&weights, cache->fast, 1, 0, 0, 0, out};
    assert_non_null(out);
    struct prompt_answer answer = ask_more(c, cache, &question, text);
    rewind(out);
    assert_int_equal(fread(logits, sizeof *logits, (size_t)n, out), n);
    assert_int_equal(fclose(out), 0);
    prompt_answer_free(&answer);
}

/* PML-14: modules are loaded in the order of the imports. The reference has the same bits in any
 * order (LAYER-12), and the fast decoder rounds differently (FAST-4). */
static void imports_are_the_order_of_the_entries(void **state) {
    static const char *const prompt[] = {"<prompt schema='s'><a/><b/><c/>going</prompt>",
                                         "<prompt schema='s'><c/><a/><b/>going</prompt>"};
    static float logits[2][5 * MOST_VOCAB];
    struct pml_case c;
    struct prompt_fast fast;
    int n = 5 * weights.decoder.shape.n_vocab;
    (void)state;
    read_schema(&c,
                "<schema name='s'><module name='a'>A language model keeps a key</module>"
                "<module name='b'> and a value for</module><module name='c'> each token</module>"
                "</schema>",
                &weights);
    assert_int_equal(prompt_fast_new(&fast, &weights.decoder, 1, 64), 0);
    for (int is_fast = 0; is_fast <= 1; is_fast++) {
        struct prompt_cache cache = {
            .decoder = &weights.decoder, .fast = is_fast ? &fast : NULL, .schema = &c.schema};
        for (int k = 0; k < 2; k++) {
            logits_of(&c, &cache, prompt[k], logits[k], n);
        }
        assert_int_equal(memcmp(logits[0], logits[1], (size_t)n * sizeof(float)) == 0, !is_fast);
        prompt_cache_free(&cache);
    }
    prompt_fast_free(&fast);
    pml_case_free(&c);
}

/* PML-14, MOD-4: modules of a scaffold that see each other are encoded in one run, whichever is
 * asked for first; the modules around them, and those inside, have their own. */
static void a_scaffold_is_encoded_once(void **state) {
    static const int ask[] = {2, 4, 7}, size[] = {2, 3, 1};
    struct pml_case c;
    struct prompt_fast fast;
    (void)state;
    read_schema(&c,
                "<schema name='s'>x<module name='a'>aa</module><module name='b'>bbb</module>"
                "<union><module name='c'>c</module></union><scaffold modules='c a b'/></schema>",
                &weights);
    assert_int_equal(prompt_fast_new(&fast, &weights.decoder, 1, 64), 0);
    for (int i = 0; i < 3; i++) {
        struct prompt_cache cache = {
            .decoder = &weights.decoder, .fast = &fast, .schema = &c.schema};
        assert_true(prompt_cache_module(&cache, ask[i], 0) >= 0);
        assert_int_equal(cache.n, 4); /* part 0, and the three */
        assert_int_equal(cache.n_tokens, 1 + 2 + 3 + 1);
        for (int k = 0; k < 3; k++) {
            int at = prompt_cache_module(&cache, ask[k], 0);
            const struct cp_decoder_cache *module = &cache.encoded[at].entries;
            assert_int_equal(module->n, size[k]);
            assert_int_equal(module->position[0], c.schema.begin[ask[k]]);
        }
        assert_int_equal(cache.n, 4);
        prompt_cache_free(&cache);
    }
    prompt_fast_free(&fast);
    pml_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cache_has_the_logits_of_the_whole_prompt),
        cmocka_unit_test(the_fast_decoder_answers_alike),
        cmocka_unit_test(long_texts_take_several_runs),
        cmocka_unit_test(an_answer_without_positions_is_refused),
        cmocka_unit_test(an_answer_ends_with_the_context),
        cmocka_unit_test(a_prompt_goes_on_as_a_text_does),
        cmocka_unit_test(the_end_token_ends_the_answer),
        cmocka_unit_test(the_answer_follows_the_last_new_token),
        cmocka_unit_test(other_logits_are_noticed),
        cmocka_unit_test(a_score_is_a_logarithm_and_a_rank),
        cmocka_unit_test(new_tokens_are_scored),
        cmocka_unit_test(the_first_token_of_a_segment_is_not_predicted),
        cmocka_unit_test(imports_are_the_order_of_the_entries),
        cmocka_unit_test(a_scaffold_is_encoded_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
