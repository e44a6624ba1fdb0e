/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof model --fast` on the small model: sessions, scores and continuations are those of the
 * fast decoder, which tests/test_opt_decoder.c holds to its bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/status.h"
#include "cli/model/run.h"
#include "cli/model/session.h"
#include "weights_file.h"

#define TOKENS 300 /* more than a run takes at once */

struct tiny {
    struct weights weights;
    int token[TOKENS];
};

static int set_up(void **state) {
    struct tiny *tiny = calloc(1, sizeof *tiny);
    *state = tiny;
    if (tiny == NULL || weights_open(&tiny->weights, NAMED(TINY_WEIGHTS)) != 0) {
        return -1;
    }
    for (int i = 0; i < TOKENS; i++) {
        tiny->token[i] = (i * i + 7 * i) % tiny->weights.decoder.shape.n_vocab;
    }
    return 0;
}

static int tear_down(void **state) {
    struct tiny *tiny = *state;
    weights_close(&tiny->weights);
    free(tiny);
    return 0;
}

/* Does the session's row have the bits of the decoder's? */
static void assert_row(const double *found, const float *wanted, int n) {
    for (int i = 0; i < n; i++) {
        double exact = wanted[i];
        assert_memory_equal(&found[i], &exact, sizeof exact);
    }
}

/* FAST-1: 20 tokens and their logits, then 7 of which the last two are wanted; then anew. */
static void a_session_is_the_fast_decoder(void **state) {
    struct tiny *tiny = *state;
    const struct cp_decoder *decoder = &tiny->weights.decoder;
    int n_vocab = decoder->shape.n_vocab, position[27];
    static float logits[20 * 400];
    struct session session;
    struct fast fast;
    assert_null(session_new(&session, decoder, 27, 2));
    assert_null(fast_new(&fast, decoder, 1, 27));
    for (int i = 0; i < 27; i++) {
        position[i] = i;
    }
    const struct cp_opt_decoder_call first = {20, tiny->token, position, NULL, logits, 0};
    const struct cp_opt_decoder_call then = {7, tiny->token + 20, position + 20, NULL, logits, 5};
    for (int round = 0; round < 2; round++) {
        fast.cache.n = 0;
        assert_int_equal(session_add(&session, tiny->token, 20, 0), CP_OK);
        assert_int_equal(cp_opt_decoder_run(fast.decoder, &fast.cache, &first), CP_OK);
        assert_row(session.logits, logits, 20 * n_vocab);
        assert_int_equal(session_add(&session, tiny->token + 20, 7, 5), CP_OK);
        assert_int_equal(cp_opt_decoder_run(fast.decoder, &fast.cache, &then), CP_OK);
        assert_row(session.logits, logits, 2 * n_vocab);
        session_clear(&session);
    }
    session_free(&session);
    fast_free(&fast);
}

/* FAST-3, LM-1: threads change no bit, nor does a window depend on the one before. */
static void scores_have_the_same_bits_with_any_threads(void **state) {
    struct tiny *tiny = *state;
    struct run_text text = {.weights = &tiny->weights,
                            .token = tiny->token,
                            .n_tokens = TOKENS,
                            .window = 280,
                            .threads = 1,
                            .is_fast = 1};
    struct run_score one, many, part, last;
    assert_int_equal(run_score(&text, &one), 0);
    assert_int_equal(one.n, TOKENS - 2);
    text.threads = 3;
    assert_int_equal(run_score(&text, &many), 0);
    assert_memory_equal(&one.log_sum, &many.log_sum, sizeof one.log_sum);
    assert_int_equal(one.n_best, many.n_best);
    text.n_tokens = 280;
    assert_int_equal(run_score(&text, &part), 0);
    text.token += 280;
    text.n_tokens = TOKENS - 280;
    assert_int_equal(run_score(&text, &last), 0);
    double sum = part.log_sum + last.log_sum;
    assert_memory_equal(&one.log_sum, &sum, sizeof sum);
}

struct taken {
    int token[8], n;
};

static int take(void *context, int token) {
    struct taken *taken = context;
    taken->token[taken->n++] = token;
    return taken->n == 8;
}

/* LM-3, on the fast decoder: each token is the best one behind those before it. */
static void a_continuation_takes_the_best_token_each_time(void **state) {
    struct tiny *tiny = *state;
    struct weights weights = tiny->weights;
    struct taken taken = {0};
    struct session session;
    weights.tokens.stop = WEIGHTS_NO_TOKEN;
    assert_int_equal(run_generate(&weights, tiny->token, 270, 8, 2, take, &taken), 0);
    assert_int_equal(taken.n, 8);
    assert_null(session_new(&session, &weights.decoder, 278, 1));
    assert_int_equal(session_add(&session, tiny->token, 256, 255), CP_OK);
    assert_int_equal(session_add(&session, tiny->token + 256, 14, 13), CP_OK);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(run_best(session.logits, weights.decoder.shape.n_vocab), taken.token[i]);
        assert_int_equal(session_add(&session, &taken.token[i], 1, 0), CP_OK);
    }
    session_free(&session);
}

static void a_prompt_without_room_is_refused(void **state) {
    struct tiny *tiny = *state;
    const struct cp_decoder *decoder = &tiny->weights.decoder;
    struct session session;
    struct cp_opt_cache cache;
    assert_non_null(session_new(&session, decoder, CP_MAX_DEPTH * FAST_CHUNK + 1, 1));
    assert_non_null(session_new(&session, decoder, INT32_MAX, 1));
    assert_int_equal(fast_cache_new(&cache, &decoder->shape, 65), 0);
    assert_int_equal(cache.capacity, 128);
    fast_cache_free(&cache);
}

/* LM-3: of equal logits the lowest number, also where one is -0. */
static void of_equal_logits_the_first_is_the_best(void **state) {
    const double logits[] = {-1.0, 3.0, 3.0, -0.0, 0.0, 3.0};
    (void)state;
    assert_int_equal(run_best(logits, 6), 1);
    assert_int_equal(run_best(logits + 3, 2), 0);
    assert_int_equal(run_best(logits, 1), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_equal_logits_the_first_is_the_best),
        cmocka_unit_test(a_session_is_the_fast_decoder),
        cmocka_unit_test(scores_have_the_same_bits_with_any_threads),
        cmocka_unit_test(a_continuation_takes_the_best_token_each_time),
        cmocka_unit_test(a_prompt_without_room_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
