/* SPDX-License-Identifier: Apache-2.0 */
/* The tokenizer on vocabularies of a few tokens. Each input tells the rule from a rule that is
 * near it, and the tokens wanted are found from spec/tokens.md by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/tokenizer.h"
#include "weights_file.h"

#define LENGTH(a) (sizeof(a) / sizeof(a)[0])

/* ---- TOKEN-3: pieces ---- */

struct cut {
    const char *text, *pieces; /* a bar behind each piece */
};

static void assert_cuts(int pattern, const struct cut *cut, size_t n_cuts) {
    struct split split;
    assert_int_equal(split_new(&split, NAMED("none"), pattern), 0);
    for (size_t i = 0; i < n_cuts; i++) {
        char found[64] = "";
        size_t n_found = 0;
        for (size_t at = 0, n = strlen(cut[i].text); at < n;) {
            size_t length = split_next(&split, cut[i].text + at, n - at);
            memcpy(found + n_found, cut[i].text + at, length);
            n_found += length;
            found[n_found++] = '|';
            at += length;
        }
        assert_string_equal(found, cut[i].pieces);
    }
    split_free(&split);
}

/* TOKEN-3: where both patterns agree. */
static void classes_are_those_of_unicode(void **state) {
    static const struct cut cuts[] = {
        {"\xc3\xa9z", "\xc3\xa9z|"},         /* Ll */
        {"a\xc7\x85", "a\xc7\x85|"},         /* Lt */
        {"a\xca\xb0", "a\xca\xb0|"},         /* Lm */
        {"a\xe4\xb8\xad", "a\xe4\xb8\xad|"}, /* Lo */
        {"a\xcc\x81", "a|\xcc\x81|"},        /* a mark is no letter */
        {"a_", "a|_|"},
        {"\ta", "\t|a|"}, /* no blank but U+0020 goes with what follows */
        {"\xc2\xa0z", "\xc2\xa0|z|"},
        {"'\xc2\x85", "'|\xc2\x85|"}, /* white space */
        {"'\x0b", "'|\x0b|"},
        {"'\x0c", "'|\x0c|"},
        {"'\x1c", "'\x1c|"}, /* no white space */
        {"'\xe2\x80\x8b", "'\xe2\x80\x8b|"},
        {"'\xef\xbb\xbf", "'\xef\xbb\xbf|"},
    };
    (void)state;
    assert_cuts(WEIGHTS_SPLIT_GPT2, cuts, LENGTH(cuts));
    assert_cuts(WEIGHTS_SPLIT_DIGITS, cuts, LENGTH(cuts));
}

/* TOKEN-3: rules 2, 5, 6 and 7. */
static void rules_take_no_more_and_no_less(void **state) {
    static const struct cut cuts[] = {
        {"'s't're've'm'll'd", "'s|'t|'re|'ve|'m|'ll|'d|"},
        {"'sx", "'s|x|"},
        {" 's", " '|s|"},
        {"'r", "'|r|"},
        {"'v", "'|v|"},
        {"'l", "'|l|"},
        {"'n", "'|n|"},
        {"\xe2\x80\x99s", "\xe2\x80\x99|s|"},
        {" !", " !|"},
        {"!!'", "!!'|"},
        {"   a", "  | a|"},
        {"\t\ta", "\t|\t|a|"},
        {"a\t\t", "a|\t\t|"},
    };
    static const struct cut gpt2[] = {
        {" 12", " 12|"}, {"1\xc2\xb2\xe2\x85\xa0", "1\xc2\xb2\xe2\x85\xa0|"}, {"   1", "  | 1|"}};
    static const struct cut digits[] = {{" 12", " |1|2|"}, {"   1", "   |1|"}};
    (void)state;
    assert_cuts(WEIGHTS_SPLIT_GPT2, cuts, LENGTH(cuts));
    assert_cuts(WEIGHTS_SPLIT_DIGITS, cuts, LENGTH(cuts));
    assert_cuts(WEIGHTS_SPLIT_GPT2, gpt2, LENGTH(gpt2));
    assert_cuts(WEIGHTS_SPLIT_DIGITS, digits, LENGTH(digits));
}

/* ---- Vocabularies of a few tokens ---- */

struct small {
    struct weights_tokens tokens;
    uint32_t end[16], merge[8][3];
    unsigned char special[16];
    char text[128];
};

/* `tokens`: texts, a bar behind each, # before a special one. `merges`: left+right=token, ... A
 * prompt begins with token 0, which no text has to show. */
static void make_small(struct small *small, const char *tokens, const char *merges) {
    size_t n_text = 0;
    *small = (struct small){.tokens = {.split = WEIGHTS_SPLIT_GPT2, .add_begin = 1}};
    struct weights_tokens *t = &small->tokens;
    for (const char *at = tokens; *at != '\0'; at++) {
        if (*at == '#') {
            small->special[t->n] = 1;
        } else if (*at == '|') {
            small->end[t->n++] = (uint32_t)n_text;
        } else {
            small->text[n_text++] = *at;
        }
    }
    for (const char *at = merges; *at != '\0'; t->n_merges++) {
        for (int i = 0; i < 3; i++) {
            char *end;
            small->merge[t->n_merges][i] = (uint32_t)strtoul(at, &end, 10);
            at = end + (*end != '\0');
        }
    }
    t->end = small->end;
    t->special = small->special;
    t->text = small->text;
    t->merge = (const uint32_t(*)[3])small->merge;
    t->stop = t->unknown = WEIGHTS_NO_TOKEN;
}

static void assert_tokens(const struct token_list *list, const char *wanted) {
    char found[128] = "";
    for (size_t i = 0; i < list->n; i++) {
        sprintf(found + strlen(found), "%d ", list->token[i]);
    }
    sprintf(found + strlen(found), "lost %zu", list->lost);
    assert_string_equal(found, wanted);
}

struct example {
    const char *tokens, *merges, *text, *wanted;
};

/* TOKEN-4, TOKEN-5: each text is one piece. */
static void pieces_become_the_tokens_of_the_rule(void **state) {
    static const struct example examples[] = {
        {"a|#a|", "", "a", "0 lost 0"}, /* a special token is no byte's */
        {"\xff|", "", "\xff", "0 lost 0"},
        {"ab|a|", "", "a", "1 lost 0"},
        {"a|", "", "aab", "0 0 lost 1"},
        {"a|#b|", "", "ab", "0 lost 1"},
        {"b|bb|bbb|", "0+0=1 0+1=2", "bbb", "1 0 lost 0"}, /* bb+b has no merge */
        {"a|b|aa|ba|", "1+0=3 0+0=2", "baab", "3 0 1 lost 0"},
        {"a|b|ab|aba|", "2+0=3 0+1=2", "bababb", "1 3 1 1 lost 0"},
        {"a|b|ba|", "1+0=2", "b?a", "2 lost 1"},
        {"a|b|c|bc|ab|", "1+2=3 0+1=4", "abc", "0 3 lost 0"}, /* a+b is gone */
        {"a|aa|aaa|", "0+1=2 1+0=2", "aa", "0 0 lost 0"},     /* two pairs, one token */
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(examples); i++) {
        struct small small;
        struct merge merge;
        int token[16];
        struct token_list list = {.token = token};
        make_small(&small, examples[i].tokens, examples[i].merges);
        assert_int_equal(merge_new(&merge, NAMED("small"), &small.tokens), 0);
        list.n = merge_piece(&merge, examples[i].text, strlen(examples[i].text), token, &list.lost);
        assert_tokens(&list, examples[i].wanted);
        merge_free(&merge);
    }
}

/* TOKEN-1: bytes of any kind and number: a zero, the end of one character and the begin of another,
 * 300 of them, and those behind the first 64 KiB of the text. What they are says nothing of whether
 * a token is special. */
static void tokens_have_the_bytes_of_the_file(void **state) {
    enum { LONG = 300, TEXT = 70000 };
    static const char few[] = "a\0b<s>\xB8\xE4x";
    static const uint32_t end[] = {3, 6, 8, 9, 9 + LONG, TEXT - 1, TEXT};
    static const unsigned char special[] = {0, 0, 0, 1, 1, 0, 0};
    static char text[TEXT];
    const struct weights_tokens tokens = {.n = LENGTH(end),
                                          .end = end,
                                          .special = special,
                                          .text = text,
                                          .split = WEIGHTS_SPLIT_GPT2,
                                          .stop = WEIGHTS_NO_TOKEN,
                                          .unknown = WEIGHTS_NO_TOKEN};
    struct tokenizer tokenizer;
    struct token_list list = {0};
    (void)state;
    memset(text, 'y', TEXT);
    memcpy(text, few, sizeof few - 1);
    text[TEXT - 1] = 'z';
    for (int token = 0, begin = 0; token < tokens.n; begin = (int)end[token++]) {
        size_t n;
        assert_ptr_equal(tokenizer_bytes(&tokens, token, &n), text + begin);
        assert_int_equal(n, end[token] - (uint32_t)begin);
    }
    assert_int_equal(tokenizer_new(&tokenizer, NAMED("small"), &tokens), 0);
    tokenizer_encode(&tokenizer, "<s>xz", 5, 1, &list);
    assert_tokens(&list, "3 6 lost 3"); /* x is special, <s> is not */
    token_list_free(&list);
    tokenizer_free(&tokenizer);
}

/* FILE-9: one pair with two results is refused. */
static void a_pair_has_one_result(void **state) {
    struct small small;
    struct merge merge;
    (void)state;
    make_small(&small, "a|b|ab|ab|", "0+1=2 0+1=3");
    assert_int_equal(merge_new(&merge, NAMED("small"), &small.tokens), -1);
}

/* TOKEN-2, TOKEN-6: special tokens count, unless there is none in the vocabulary. */
static void texts_become_the_tokens_of_the_rule(void **state) {
    static const struct example examples[] = {
        {"\xe2|\x82|\xe2\x82|", "0+1=2", "\xe2\x82", "0 1 lost 0"}, /* no UTF-8: two pieces */
        {"a|b|", "", "", "lost 0"},
        {"#ab|a|#b<a>|b|", "", "ab<a>", "0 1 lost 2"},
        {"#\xc3\xa9|\xc3|\xa9|", "", "\xc3\xa9", "0 lost 0"},
        {"#\xa9z|\xc3|\xa9|z|", "", "\xc3\xa9z", "1 0 lost 0"}, /* in a character */
        {"a|#ab|#ab|", "", "ab", "1 lost 0"},                   /* of one text: the lowest */
    };
    (void)state;
    for (size_t i = 0; i < 2 * LENGTH(examples); i++) {
        const struct example *e = &examples[i / 2];
        struct small small;
        struct tokenizer tokenizer;
        struct token_list list = {0};
        make_small(&small, e->tokens, e->merges);
        assert_int_equal(tokenizer_new(&tokenizer, NAMED("small"), &small.tokens), 0);
        tokenizer_encode(&tokenizer, e->text, strlen(e->text), 1 + (int)(i % 2), &list);
        assert_tokens(&list, e->wanted);
        token_list_free(&list);
        tokenizer_free(&tokenizer);
    }
}

/* TOKEN-5, TOKEN-6: what a list has stays, and the lost are counted on. */
static void a_second_text_is_appended(void **state) {
    struct small small;
    struct tokenizer tokenizer;
    struct token_list list = {0};
    (void)state;
    make_small(&small, "a|b|", "");
    assert_int_equal(tokenizer_new(&tokenizer, NAMED("small"), &small.tokens), 0);
    tokenizer_encode(&tokenizer, "ab?", 3, 0, &list);
    tokenizer_encode(&tokenizer, "?b", 2, 1, &list);
    assert_tokens(&list, "0 1 1 lost 2");
    token_list_free(&list);
    tokenizer_free(&tokenizer);
}

/* ---- Large ones ---- */

/* TOKEN-2, TOKEN-4: b, then n times a, where a+a is the only merge: pairs from the left, so that
 * what is left alone is the last. */
static void long_pieces_are_not_cut(void **state) {
    static const size_t lengths[] = {259, 5000, 5001, 65540, 65541, 69999};
    static char text[70000];
    static int token[70000];
    struct small small;
    struct merge merge;
    (void)state;
    memset(text, 'a', sizeof text);
    text[0] = 'b';
    assert_int_equal(split_valid(text, sizeof text), sizeof text);
    make_small(&small, "b|a|aa|", "1+1=2");
    assert_int_equal(merge_new(&merge, NAMED("small"), &small.tokens), 0);
    for (size_t i = 0; i < LENGTH(lengths); i++) {
        size_t n = lengths[i], lost = 0;
        assert_int_equal(merge_piece(&merge, text, n + 1, token, &lost), 1 + n / 2 + n % 2);
        assert_int_equal(token[0], 0);
        for (size_t j = 1; j <= n / 2; j++) {
            assert_int_equal(token[j], 2);
        }
        assert_int_equal(token[n / 2 + n % 2], n % 2 == 1 ? 1 : 2);
    }
    merge_free(&merge);
}

/* TOKEN-4: all pairs of bytes have merges, but for x y; qr+x has rank 65535 and x+y 65536. */
static void ranks_may_be_above_16_bits(void **state) {
    enum { PAIRS = 65536, TOKENS = 256 + PAIRS + 1, TEXT = 256 + 2 * PAIRS + 3 };
    static uint32_t end[TOKENS], merge_of[PAIRS + 1][3];
    static unsigned char special[TOKENS];
    static char text[TEXT];
    static const uint32_t xy = 'x' * 256 + 'y';
    struct weights_tokens tokens = {.n = TOKENS, .end = end, .special = special, .text = text};
    struct merge merge;
    int token[4];
    size_t lost = 0;
    (void)state;
    for (uint32_t i = 0; i < 256; i++) {
        text[i] = (char)i;
        end[i] = i + 1;
    }
    for (uint32_t i = 0; i < PAIRS; i++) {
        text[256 + 2 * i] = (char)(i / 256);
        text[257 + 2 * i] = (char)(i % 256);
        end[256 + i] = 258 + 2 * i;
        if (i != xy) {
            uint32_t *merge_at = merge_of[tokens.n_merges++];
            merge_at[0] = i / 256;
            merge_at[1] = i % 256;
            merge_at[2] = 256 + i;
        }
    }
    text[TEXT - 3] = 'q';
    text[TEXT - 2] = 'r';
    text[TEXT - 1] = 'x';
    end[TOKENS - 1] = sizeof text;
    memcpy(merge_of[65535], (uint32_t[]){256 + 'q' * 256 + 'r', 'x', TOKENS - 1}, 12);
    memcpy(merge_of[65536], (uint32_t[]){'x', 'y', 256 + xy}, 12);
    tokens.n_merges = 65537;
    tokens.merge = (const uint32_t(*)[3])merge_of;
    assert_int_equal(merge_new(&merge, NAMED("all pairs"), &tokens), 0);
    assert_int_equal(merge_piece(&merge, "qrxy", 4, token, &lost), 2);
    assert_int_equal(token[0], TOKENS - 1);
    assert_int_equal(token[1], 'y');
    merge_free(&merge);
}

/* TOKEN-1, TOKEN-6: special tokens of 200, 300 and 512 letters. */
static void the_longest_special_token_may_be_long(void **state) {
    static const uint32_t end[] = {1, 201, 501, 1013};
    static const size_t lengths[] = {1, 200, 300, 512};
    static const unsigned char special[] = {0, 1, 1, 1};
    static char text[1013];
    struct weights_tokens tokens = {
        .n = 4, .end = end, .special = special, .text = text, .split = WEIGHTS_SPLIT_GPT2};
    struct tokenizer tokenizer;
    struct token_list list = {0};
    (void)state;
    memset(text, 'a', sizeof text);
    for (int i = 0; i < 4; i++) {
        size_t n;
        (void)tokenizer_bytes(&tokens, i, &n);
        assert_int_equal(n, lengths[i]);
    }
    assert_int_equal(tokenizer_new(&tokenizer, NAMED("long"), &tokens), 0);
    tokenizer_encode(&tokenizer, text, 813, 1, &list);
    assert_tokens(&list, "3 2 0 lost 0");
    token_list_free(&list);
    tokenizer_free(&tokenizer);
}

/* TOKEN-6: 4096 special tokens are the most. */
static void special_tokens_are_4096_at_most(void **state) {
    enum { MOST = 4096 };
    static uint32_t end[MOST + 1];
    static unsigned char special[MOST + 1];
    static char text[2 * (MOST + 1)];
    struct weights_tokens tokens = {
        .n = MOST, .end = end, .special = special, .text = text, .split = WEIGHTS_SPLIT_GPT2};
    struct tokenizer tokenizer;
    (void)state;
    for (size_t i = 0; i <= MOST; i++) {
        text[2 * i] = (char)(i / 128);
        text[2 * i + 1] = (char)(i % 128);
        end[i] = (uint32_t)(2 * i + 2);
        special[i] = 1;
    }
    assert_int_equal(tokenizer_new(&tokenizer, NAMED("many"), &tokens), 0);
    tokenizer_free(&tokenizer);
    tokens.n++;
    assert_int_equal(tokenizer_new(&tokenizer, NAMED("many"), &tokens), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_those_of_unicode),
        cmocka_unit_test(rules_take_no_more_and_no_less),
        cmocka_unit_test(tokens_have_the_bytes_of_the_file),
        cmocka_unit_test(pieces_become_the_tokens_of_the_rule),
        cmocka_unit_test(a_pair_has_one_result),
        cmocka_unit_test(texts_become_the_tokens_of_the_rule),
        cmocka_unit_test(a_second_text_is_appended),
        cmocka_unit_test(long_pieces_are_not_cut),
        cmocka_unit_test(ranks_may_be_above_16_bits),
        cmocka_unit_test(the_longest_special_token_may_be_long),
        cmocka_unit_test(special_tokens_are_4096_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
