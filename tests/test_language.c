/* SPDX-License-Identifier: Apache-2.0 */
/* The small model on the reference decoder: the perplexity of a text, its logits and its
 * continuation are those that numpy computed (tests/model/make_tiny.py). */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/run.h"
#include "cli/model/tokenizer.h"
#include "tests/decoder_case.h"
#include "tests/decoder_oracle.h"
#include "weights_file.h"

struct tiny {
    struct weights weights;
    struct token_list text;
};

static int set_up(void **state) {
    struct tiny *tiny = calloc(1, sizeof *tiny);
    struct tokenizer tokenizer;
    static char text[4096];
    FILE *file = fopen("tests/golden/model/tiny.txt", "rb");
    *state = tiny;
    if (tiny == NULL || file == NULL || weights_open(&tiny->weights, NAMED(TINY_WEIGHTS)) != 0 ||
        tokenizer_new(&tokenizer, NAMED(TINY_WEIGHTS), &tiny->weights.tokens) != 0) {
        return -1;
    }
    size_t n = fread(text, 1, sizeof text, file);
    (void)fclose(file);
    tokenizer_encode(&tokenizer, text, n, 0, &tiny->text);
    tokenizer_free(&tokenizer);
    return 0;
}

static int tear_down(void **state) {
    struct tiny *tiny = *state;
    token_list_free(&tiny->text);
    weights_close(&tiny->weights);
    free(tiny);
    return 0;
}

static struct run_text text_of(const struct tiny *tiny, int window, int threads) {
    return (struct run_text){.weights = &tiny->weights,
                             .token = tiny->text.token,
                             .n_tokens = (int)tiny->text.n,
                             .window = window,
                             .threads = threads};
}

/* LM-1, LM-2: in windows of 16, 64 and 512 tokens. Both sums are in binary64, and the numbers are
 * kept with 12 digits: what is between is rounding. */
static void perplexity_is_that_of_numpy(void **state) {
    FILE *file = fopen("tests/golden/model/tiny.score", "r");
    int window, n_windows = 0;
    double wanted;
    assert_non_null(file);
    while (fscanf(file, "%d %lf", &window, &wanted) == 2) {
        struct run_text text = text_of(*state, window, 2);
        struct run_score score;
        assert_int_equal(run_score(&text, &score), 0);
        assert_int_equal(score.n, text.n_tokens - (text.n_tokens - 1) / window - 1);
        double found = exp(-score.log_sum / score.n);
        if (!(fabs(found / wanted - 1.0) < 1e-11)) {
            fail_msg("windows of %d: %.15g, not %.15g", window, found, wanted);
        }
        n_windows++;
    }
    assert_int_equal(n_windows, 3);
    (void)fclose(file);
}

/* LM-1: any number of threads, the same bits; windows that end with one token, too. */
static void threads_change_no_bit(void **state) {
    struct run_score one, many;
    for (int window = 2; window < 40; window += 5) {
        for (int threads = 2; threads < 20; threads += 7) {
            struct run_text text = text_of(*state, window, 1);
            assert_int_equal(run_score(&text, &one), 0);
            text.threads = threads;
            assert_int_equal(run_score(&text, &many), 0);
            assert_int_equal(one.n, many.n);
            assert_int_equal(one.n_best, many.n_best);
            assert_memory_equal(&one.log_sum, &many.log_sum, sizeof one.log_sum);
        }
    }
}

/* LM-1: a window does not depend on the text around it. */
static void a_window_is_a_prompt_of_its_own(void **state) {
    struct run_text text = text_of(*state, 20, 1), part = text;
    struct run_score all = {0}, score;
    for (int at = 0; at < text.n_tokens; at += 20) {
        part.token = text.token + at;
        part.n_tokens = text.n_tokens - at < 20 ? text.n_tokens - at : 20;
        assert_int_equal(run_score(&part, &score), 0);
        all.n += score.n;
        all.log_sum += score.log_sum;
    }
    assert_int_equal(run_score(&text, &score), 0);
    assert_int_equal(all.n, score.n);
    assert_memory_equal(&all.log_sum, &score.log_sum, sizeof all.log_sum);
}

struct taken {
    int token[16], n, most;
};

static int take(void *context, int token) {
    struct taken *taken = context;
    taken->token[taken->n++] = token;
    return taken->n == taken->most;
}

/* LM-3. */
static void the_continuation_is_that_of_numpy(void **state) {
    struct tiny *tiny = *state;
    struct taken taken = {.most = 16};
    FILE *file = fopen("tests/golden/model/tiny.score", "r");
    char line[256];
    int wanted, n = 0, used;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL && strncmp(line, "generate", 8) != 0) {
    }
    (void)fclose(file);
    assert_int_equal(run_generate(&tiny->weights, tiny->text.token, 12, 10, 0, take, &taken), 0);
    for (const char *at = line + 8; sscanf(at, "%d%n", &wanted, &used) == 1; at += used) {
        assert_int_equal(taken.token[n], wanted);
        n++;
    }
    assert_int_equal(taken.n, n);
    assert_int_equal(n, 10);
}

/* LM-3: the end token ends it and is not given; so does a caller that takes no more. */
static void a_continuation_ends(void **state) {
    struct tiny *tiny = *state;
    struct taken all = {.most = 16}, ended = {.most = 16}, few = {.most = 3};
    struct weights weights = tiny->weights;
    assert_int_equal(run_generate(&weights, tiny->text.token, 12, 6, 0, take, &all), 0);
    weights.tokens.stop = (uint32_t)all.token[4];
    assert_int_equal(run_generate(&weights, tiny->text.token, 12, 6, 0, take, &ended), 0);
    assert_int_equal(ended.n, 4);
    assert_int_equal(run_generate(&tiny->weights, tiny->text.token, 12, 6, 0, take, &few), 0);
    assert_int_equal(few.n, 3);
    assert_memory_equal(few.token, all.token, 3 * sizeof(int));
}

/* LM-3: behind 12 tokens. */
static void a_continuation_ends_with_the_context(void **state) {
    static const struct weights_name name = {"model", "text"};
    static const int context[] = {23, 22, 21, 14, 13, 12, 11, 1};
    static const int wanted[] = {10, 10, 9, 2, 1, 1, 1, 1};
    struct weights weights = ((struct tiny *)*state)->weights;
    for (size_t i = 0; i < sizeof context / sizeof context[0]; i++) {
        weights.context = context[i];
        assert_int_equal(run_most(&name, &weights, 12, 10), wanted[i]);
    }
    weights.context = INT_MAX;
    assert_int_equal(run_most(&name, &weights, INT_MAX - 3, 3), 3);
    assert_int_equal(run_most(&name, &weights, INT_MAX - 3, 1 << 20), 3);
}

/* LM-3: learned positions end, and the decoder refuses the token behind them. */
static void a_continuation_that_the_decoder_refuses_is_an_error(void **state) {
    static struct decoder_case random;
    static const int prompt[CASE_TOKENS - 6] = {0};
    struct weights weights = ((struct tiny *)*state)->weights;
    struct taken taken = {.most = 16};
    unsigned long long seed = 3;
    decoder_case_make(&random, &seed, CP_POSITIONS_LEARNED, 1);
    weights.decoder = random.decoder;
    weights.tokens.stop = WEIGHTS_NO_TOKEN;
    assert_int_equal(run_generate(&weights, prompt, CASE_TOKENS - 6, 7, 0, take, &taken), 0);
    assert_int_equal(taken.n, 7);
    taken.n = 0;
    assert_int_equal(run_generate(&weights, prompt, CASE_TOKENS - 6, 8, 0, take, &taken), -1);
    assert_int_equal(taken.n, 7);
}

/* LM-1: the logits that are written, from any number of threads: their softmax gives the score. A
 * logit is rounded to float32 by 2^-24 of itself at most, and none is 64 or more. */
static void written_logits_are_those_of_the_score(void **state) {
    struct run_text text = text_of(*state, 30, 3);
    struct run_score score;
    double sum = 0.0;
    float row[316];
    text.logits = tmpfile();
    assert_non_null(text.logits);
    assert_int_equal(run_score(&text, &score), 0);
    rewind(text.logits);
    for (int i = 0; i < text.n_tokens; i++) {
        double weight = 0.0;
        assert_int_equal(fread(row, sizeof row, 1, text.logits), 1);
        for (int t = 0; t < 316; t++) {
            assert_true(fabsf(row[t]) < 64.0F);
            weight += exp(row[t]);
        }
        if ((i + 1) % 30 != 0 && i + 1 < text.n_tokens) {
            sum += row[text.token[i + 1]] - log(weight);
        }
    }
    assert_int_equal(fgetc(text.logits), EOF);
    assert_true(fabs(sum - score.log_sum) <= score.n * 2.0 * 0x1p-18);
    (void)fclose(text.logits);
}

/* LM-4: of three windows, in any order of threads. The oracle shares no code with the decoder, as
 * numpy does not, and its numbers are those over the reals. */
static void written_logits_are_those_of_another_decoder(void **state) {
    enum { WINDOW = 8, TOKENS = 20, WORDS = 316 };
    static const int position[WINDOW] = {0, 1, 2, 3, 4, 5, 6, 7};
    static struct ball exact[WORDS];
    struct run_text text = text_of(*state, WINDOW, 2);
    struct run_score score;
    float row[WORDS];
    text.n_tokens = TOKENS;
    text.logits = tmpfile();
    assert_non_null(text.logits);
    assert_int_equal(run_score(&text, &score), 0);
    rewind(text.logits);
    for (int i = 0; i < TOKENS; i++) {
        int begin = i / WINDOW * WINDOW, n = i - begin + 1;
        unsigned char sees[WINDOW * WINDOW];
        for (int j = 0; j < n * n; j++) {
            sees[j] = j % n <= j / n;
        }
        struct oracle oracle = {&text.weights->decoder, n, text.token + begin, position, sees};
        oracle_logits(exact, &oracle, n - 1);
        long double most = 0.0L;
        for (int t = 0; t < WORDS; t++) {
            most = fmaxl(most, fabsl(exact[t].x));
        }
        assert_int_equal(fread(row, sizeof row, 1, text.logits), 1);
        for (int t = 0; t < WORDS; t++) {
            long double bound = fabsl(exact[t].x) * 0x1p-24L + most * 0x1p-28L;
            assert_true(fabsl(row[t] - exact[t].x) <= bound);
        }
    }
    assert_int_equal(fgetc(text.logits), EOF);
    (void)fclose(text.logits);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perplexity_is_that_of_numpy),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(a_window_is_a_prompt_of_its_own),
        cmocka_unit_test(the_continuation_is_that_of_numpy),
        cmocka_unit_test(a_continuation_ends),
        cmocka_unit_test(a_continuation_ends_with_the_context),
        cmocka_unit_test(a_continuation_that_the_decoder_refuses_is_an_error),
        cmocka_unit_test(written_logits_are_those_of_the_score),
        cmocka_unit_test(written_logits_are_those_of_another_decoder),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
