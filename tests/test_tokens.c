/* SPDX-License-Identifier: Apache-2.0 */
/* The tokenizer, with the vocabulary of the small model: tokens that another implementation found
 * (tests/golden/model/tiny.tokens), the rule of merging by the letter, texts that are long, and the
 * tokens of schemas and prompts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/base/clock.h"
#include "cli/base/random.h"
#include "cli/model/header.h"
#include "cli/model/tokenizer.h"
#include "cli/prompt/pml.h"
#include "weights_file.h"

struct tiny {
    struct weights weights;
    struct tokenizer tokenizer;
};

static int set_up(void **state) {
    struct tiny *tiny = calloc(1, sizeof *tiny);
    *state = tiny;
    return tiny == NULL || weights_open(&tiny->weights, NAMED(TINY_WEIGHTS)) != 0 ||
           tokenizer_new(&tiny->tokenizer, NAMED(TINY_WEIGHTS), &tiny->weights.tokens) != 0;
}

static int tear_down(void **state) {
    struct tiny *tiny = *state;
    tokenizer_free(&tiny->tokenizer);
    weights_close(&tiny->weights);
    free(tiny);
    return 0;
}

/* Two digits as a byte; -1 at the end. */
static int hex_byte(const char *text) {
    unsigned byte;
    return sscanf(text, "%2x", &byte) == 1 ? (int)byte : -1;
}

static size_t hex_text(const char *hex, char *text) {
    size_t n = 0;
    for (int byte; (byte = hex_byte(hex + 2 * n)) >= 0; n++) {
        text[n] = (char)byte;
    }
    return n;
}

/* TOKEN-2, TOKEN-3, TOKEN-4, TOKEN-5, TOKEN-6: a line has a text, and what tokenizers made of it:
 * running text, random Unicode, white space of every kind, bytes that are no UTF-8, special
 * tokens. */
static void texts_have_the_tokens_that_another_implementation_found(void **state) {
    struct tiny *tiny = *state;
    FILE *file = fopen("tests/golden/model/tiny.tokens", "r");
    static char hex[4096], text[4096];
    int special, n, n_lines = 0;
    assert_non_null(file);
    while (fscanf(file, "%d %4095s %d", &special, hex, &n) == 3) {
        struct token_list list = {0};
        tokenizer_encode(&tiny->tokenizer, text, hex_text(hex, text), special, &list);
        for (int i = 0; i < n; i++) {
            int token;
            assert_int_equal(fscanf(file, "%d", &token), 1);
            if ((size_t)i >= list.n || list.token[i] != token) {
                fail_msg("line %d, token %d is not %d", n_lines + 1, i, token);
            }
        }
        assert_int_equal(list.n, n);
        token_list_free(&list);
        n_lines++;
    }
    (void)fclose(file);
    assert_true(n_lines > 90);
}

/* TOKEN-7, TOKEN-5: the tokens' bytes are the text's, but for those that have no token. */
static void tokens_have_the_bytes_of_the_text(void **state) {
    struct tiny *tiny = *state;
    struct prng random = {11};
    char text[300], back[300];
    for (int round = 0; round < 2000; round++) {
        size_t n = (size_t)prng_below(&random, 300), kept = 0, at = 0, length;
        struct token_list list = {0};
        for (size_t i = 0; i < n; i++) {
            text[i] = (char)(round % 2 == 0 ? prng_below(&random, 256) : "the an"[i * 7 % 6]);
        }
        tokenizer_encode(&tiny->tokenizer, text, n, 0, &list);
        for (size_t i = 0; i < list.n; i++) {
            const char *bytes = tokenizer_bytes(&tiny->weights.tokens, list.token[i], &length);
            memcpy(back + at, bytes, length);
            at += length;
        }
        for (size_t i = 0; i < n; i++) {
            unsigned char byte = (unsigned char)text[i];
            if (byte != 0x04 && byte != 0xF5 && byte != 0xFF) { /* make_tiny.py leaves these out */
                text[kept++] = text[i];
            }
        }
        assert_int_equal(list.lost, n - kept);
        assert_int_equal(at, kept);
        assert_memory_equal(back, text, kept);
        token_list_free(&list);
    }
}

/* ---- TOKEN-4 by the letter ---- */

static int rank_of(const struct weights_tokens *t, int left, int right) {
    for (int i = 0; i < t->n_merges; i++) {
        if (t->merge[i][0] == (uint32_t)left && t->merge[i][1] == (uint32_t)right) {
            return i;
        }
    }
    return t->n_merges;
}

/* Looks at all pairs for each merge. */
static size_t merge_slowly(const struct weights_tokens *t, int *token, size_t n) {
    for (;;) {
        size_t best = n;
        int lowest = t->n_merges;
        for (size_t i = 0; i + 1 < n; i++) {
            int rank = rank_of(t, token[i], token[i + 1]);
            if (rank < lowest) {
                lowest = rank;
                best = i;
            }
        }
        if (best == n) {
            return n;
        }
        token[best] = (int)t->merge[lowest][2];
        memmove(token + best + 1, token + best + 2, (n - best - 2) * sizeof *token);
        n--;
    }
}

/* TOKEN-4: any bytes as one piece, most of them such that merges overlap. */
static void pieces_merge_lowest_rank_first(void **state) {
    struct tiny *tiny = *state;
    const struct weights_tokens *t = &tiny->weights.tokens;
    static const char letters[] = "  theraneinousd\n";
    struct prng random = {5};
    char text[64];
    int fast[64], slow[64];
    for (int round = 0; round < 20000; round++) {
        size_t n = 1 + (size_t)prng_below(&random, 64), lost = 0;
        for (size_t i = 0; i < n; i++) {
            text[i] = letters[prng_below(&random, (int)sizeof letters - 1)];
            slow[i] = tiny->tokenizer.merge.of_byte[(unsigned char)text[i]];
        }
        size_t n_fast = merge_piece(&tiny->tokenizer.merge, text, n, fast, &lost);
        size_t n_slow = merge_slowly(t, slow, n);
        assert_int_equal(n_fast, n_slow);
        assert_memory_equal(fast, slow, n_slow * sizeof *slow);
    }
}

/* TOKEN-4: the bytes of a learned token are that token, as it was learned from them. */
static void the_text_of_a_token_is_the_token(void **state) {
    struct tiny *tiny = *state;
    const struct weights_tokens *t = &tiny->weights.tokens;
    int n_whole = 0;
    for (int i = 0; i < t->n_merges; i++) {
        size_t n, lost = 0;
        int made[64];
        const char *text = tokenizer_bytes(t, (int)t->merge[i][2], &n);
        size_t n_made = merge_piece(&tiny->tokenizer.merge, text, n, made, &lost);
        n_whole += n_made == 1 && made[0] == (int)t->merge[i][2];
    }
    assert_int_equal(n_whole, t->n_merges);
}

/* ---- TOKEN-2 ---- */

/* The length by the definition: the number that the bits spell is in the range of its length. */
static size_t valid_slowly(const unsigned char *at, size_t n) {
    static const uint32_t from[] = {0, 0x80, 0x800, 0x10000};
    for (size_t length = 1; length <= 4 && length <= n; length++) {
        uint32_t mark = length == 1 ? 0 : 0xF00U >> length & 0xFF;
        uint32_t bits = length == 1 ? 7 : 7 - (uint32_t)length;
        uint32_t number = at[0] & ((1U << bits) - 1);
        int ok = (uint32_t)at[0] >> bits == mark >> bits;
        for (size_t i = 1; i < length; i++) {
            ok &= (at[i] & 0xC0) == 0x80;
            number = number << 6 | (at[i] & 0x3FU);
        }
        if (ok && number >= from[length - 1] && number <= 0x10FFFF && number >> 11 != 0x1B) {
            return length;
        }
    }
    return 0;
}

/* TOKEN-2: each first three bytes, and fourth bytes at the edges. */
static void valid_characters_are_those_of_utf8(void **state) {
    static const unsigned char edge[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0xBF, 0xC0, 0xFF};
    (void)state;
    for (uint32_t three = 0; three < 1U << 24; three += three < 0x800000 ? 251 : 1) {
        unsigned char text[4] = {(unsigned char)(three >> 16), (unsigned char)(three >> 8),
                                 (unsigned char)three, edge[three % sizeof edge]};
        size_t n = 1 + three / 7 % 4, wanted = 0, length;
        while (wanted < n && (length = valid_slowly(text + wanted, n - wanted)) != 0) {
            wanted += length;
        }
        if (split_valid((const char *)text, n) != wanted) {
            fail_msg("%02x %02x %02x %02x, %zu of them", text[0], text[1], text[2], text[3], n);
        }
    }
}

/* ---- TOKEN-3 ---- */

static void assert_pieces(int pattern, const char *text, const char *wanted) {
    struct split split;
    char found[256] = "";
    assert_int_equal(split_new(&split, NAMED("none"), pattern), 0);
    for (size_t at = 0, n = strlen(text); at < n;) {
        size_t length = split_next(&split, text + at, n - at);
        strncat(found, text + at, length);
        strcat(found, "|");
        at += length;
    }
    assert_string_equal(found, wanted);
    split_free(&split);
}

/* TOKEN-3, the examples of the clause. */
static void digits_stand_alone_in_one_pattern(void **state) {
    (void)state;
    assert_pieces(WEIGHTS_SPLIT_DIGITS, "a 12 b", "a| |1|2| b|");
    assert_pieces(WEIGHTS_SPLIT_GPT2, "a 12 b", "a| 12| b|");
    assert_pieces(WEIGHTS_SPLIT_DIGITS, "a  12", "a|  |1|2|");
    assert_pieces(WEIGHTS_SPLIT_GPT2, "a  12", "a| | 12|");
    assert_pieces(WEIGHTS_SPLIT_DIGITS, "it's  so\n\n", "it|'s| | so|\n\n|");
    assert_pieces(WEIGHTS_SPLIT_GPT2, "IT'S x'", "IT|'|S| x|'|");
    assert_pieces(WEIGHTS_SPLIT_GPT2, " \xe3\x80\x80!", " |\xe3\x80\x80|!|");
    assert_pieces(WEIGHTS_SPLIT_GPT2, "\xe1\xa0\x8e\xc2\xa0 !", "\xe1\xa0\x8e|\xc2\xa0| !|");
    assert_pieces(WEIGHTS_SPLIT_DIGITS, "\xd9\xa3\xc2\xb2\xe2\x85\xa0",
                  "\xd9\xa3|\xc2\xb2|\xe2\x85\xa0|");
}

/* ---- Long texts ---- */

static double seconds_of(struct tiny *tiny, const char *text, size_t n) {
    struct token_list list = {0};
    double begin = seconds_worked();
    tokenizer_encode(&tiny->tokenizer, text, n, 1, &list);
    double seconds = seconds_worked() - begin;
    assert_true(list.n > 0 && list.n <= n);
    token_list_free(&list);
    return seconds;
}

/* TOKEN-4: a run of one letter is one piece. Sixteen times the text takes about sixteen times as
 * long, where looking at all pairs for each merge would take 256 times. Half of that is the limit:
 * caches and a logarithm lie below, and a quadratic rule above. */
static void long_pieces_take_no_quadratic_time(void **state) {
    static const char *const kind[] = {"t", "e", " ", "1", "'", "th", "\xff", "<|begin|>", "<|beg"};
    const size_t small = 1U << 16, large = 1U << 20;
    char *text = malloc(large);
    assert_non_null(text);
    for (size_t k = 0; k < sizeof kind / sizeof kind[0]; k++) {
        for (size_t i = 0; i < large; i++) {
            text[i] = kind[k][i % strlen(kind[k])];
        }
        struct token_list none = {0};
        if (k == 6) { /* it has no token: only that it ends */
            tokenizer_encode(&((struct tiny *)*state)->tokenizer, text, large, 0, &none);
            assert_int_equal(none.lost, large);
            token_list_free(&none);
            continue;
        }
        double least = 1e9;
        for (int i = 0; i < 5; i++) {
            double seconds = seconds_of(*state, text, small);
            least = seconds < least ? seconds : least;
        }
        double long_time = seconds_of(*state, text, large);
        if (long_time > 128.0 * (least > 1e-3 ? least : 1e-3)) {
            fail_msg("%s: %g s for 64 KiB, %g s for 1 MiB", kind[k], least, long_time);
        }
    }
    free(text);
}

/* ---- Schemas and prompts ---- */

/* A letter for each token: S, a special one; t, another. */
static const char *kinds(const struct tiny *tiny, const struct pml_texts *texts,
                         const struct pml_text *text) {
    static char letters[64];
    assert_in_range(text->n_tokens, 0, sizeof letters - 1);
    for (int i = 0; i < text->n_tokens; i++) {
        int token = texts->token[text->first_token + i];
        letters[i] = tiny->weights.tokens.special[token] ? 'S' : 't';
    }
    letters[text->n_tokens] = '\0';
    return letters;
}

/* PML-13: the text of a template has special tokens; what an author or a stranger writes has none,
 * in a schema, in a role, in an argument. */
static void only_templates_have_special_tokens(void **state) {
    static const struct pml_template template = {
        "t", {{"", ""}, {"<|begin|>", "<|end|>"}, {"", ""}}, {NULL}};
    static const char s[] = "<schema name='s'><user>1&lt;|end|></user>&lt;|end|>"
                            "<param name='p' len='20'/></schema>";
    static const char p[] = "<prompt schema='s' p='&lt;|end|>'><user>&lt;|end|>1</user></prompt>";
    struct tiny *tiny = *state;
    struct pml_tokenizer tokens;
    struct pml_document document;
    struct pml_schema schema;
    struct pml_prompt prompt;
    assert_int_equal(pml_tokens_model(&tokens, NAMED(TINY_WEIGHTS), &tiny->weights.tokens), 0);
    assert_int_equal(pml_document_parse(&document, "s.xml", s, strlen(s)), 0);
    assert_int_equal(pml_schema_from(&schema, &document, &tokens, &template), 0);
    assert_int_equal(pml_document_parse(&document, "p.xml", p, strlen(p)), 0);
    assert_int_equal(pml_prompt_from(&prompt, &document, &schema), 0);
    assert_string_equal(kinds(tiny, &schema.texts, &schema.about[1].text), "S");
    assert_string_equal(kinds(tiny, &schema.texts, &schema.about[2].text), "ttttttt");
    assert_string_equal(kinds(tiny, &schema.texts, &schema.about[3].text), "S");
    assert_string_equal(kinds(tiny, &schema.texts, &schema.about[4].text), "tttttt");
    assert_string_equal(kinds(tiny, &prompt.texts, &prompt.argument[0].text), "tttttt");
    assert_string_equal(kinds(tiny, &prompt.texts, &prompt.segment[0].text), "StttttttS");
    pml_prompt_free(&prompt);
    pml_schema_free(&schema);
    pml_tokenizer_free(&tokens);
}

/* ---- What is refused ---- */

static void assert_no_tokenizer(struct weights_file *file) {
    struct weights weights;
    struct tokenizer tokenizer;
    weights_file_seal(file);
    assert_int_equal(weights_read(&weights, NAMED("tiny"), file->bytes, file->size), 0);
    assert_int_equal(tokenizer_new(&tokenizer, NAMED("tiny"), &weights.tokens), -1);
    weights_forget(&weights);
    weights_file_free(file);
}

/* FILE-9: two merges of the same pair. */
static void merges_of_one_pair_are_refused(void **state) {
    struct weights_file file = weights_file_load();
    size_t merges = weights_file_u64(&file, offsetof(struct header, merges));
    (void)state;
    memcpy(file.bytes + merges + 12 * 30, file.bytes + merges + 12 * 3, 12);
    assert_no_tokenizer(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_the_tokens_that_another_implementation_found),
        cmocka_unit_test(tokens_have_the_bytes_of_the_text),
        cmocka_unit_test(pieces_merge_lowest_rank_first),
        cmocka_unit_test(the_text_of_a_token_is_the_token),
        cmocka_unit_test(valid_characters_are_those_of_utf8),
        cmocka_unit_test(digits_stand_alone_in_one_pattern),
        cmocka_unit_test(long_pieces_take_no_quadratic_time),
        cmocka_unit_test(only_templates_have_special_tokens),
        cmocka_unit_test(merges_of_one_pair_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
