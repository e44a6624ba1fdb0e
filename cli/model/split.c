/* SPDX-License-Identifier: Apache-2.0 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "cli/model/header.h"
#include "cli/model/split.h"

/* White space is Unicode's property White_Space, without what PCRE adds to it. */
#define SPACE                                                                                      \
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}"                               \
    "\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
#define SHORTENED "'s|'t|'re|'ve|'m|'ll|'d"
#define OTHERS    " ?[^\\p{L}\\p{N}" SPACE "]+"

/* TOKEN-3. A run of white space leaves its last character to what follows, when that is no white
 * space; with digits split off, they count as the end of the text. */
static const char gpt2[] = SHORTENED "| ?\\p{L}+| ?\\p{N}+|" OTHERS "|[" SPACE "]+(?![^" SPACE "])"
                                     "|[" SPACE "]+";
static const char digits[] =
    "\\p{N}|" SHORTENED "| ?\\p{L}+|" OTHERS "|[" SPACE "]+(?![^" SPACE "\\p{N}])|[" SPACE "]+";

int split_new(struct split *split, const struct weights_name *name, int pattern) {
    int error = 0;
    PCRE2_SIZE at = 0;
    const char *text = pattern == WEIGHTS_SPLIT_GPT2 ? gpt2 : digits;
    split->match = NULL;
    split->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_ANCHORED,
                                &error, &at, NULL);
    if (split->code != NULL) {
        (void)pcre2_jit_compile(split->code, PCRE2_JIT_COMPLETE); /* without it: slower */
        split->match = pcre2_match_data_create_from_pattern(split->code, NULL);
    }
    if (split->match == NULL) {
        PCRE2_UCHAR why[120] = "out of memory";
        (void)pcre2_get_error_message(error, why, sizeof why / sizeof why[0]);
        split_free(split);
        return header_refuse(name, "libpcre2 cannot split its text: %s; it is needed with Unicode",
                             (const char *)why);
    }
    return 0;
}

void split_free(struct split *split) {
    pcre2_match_data_free(split->match);
    pcre2_code_free(split->code);
}

/* The length of the character that the bytes begin with, or 0: Unicode's table of well-formed
 * bytes, which has no overlong form, no surrogate and nothing above U+10FFFF. */
static size_t character(const unsigned char *at, size_t n) {
    static const struct {
        unsigned char first, last, least, most; /* of the first byte, of the second */
        size_t length;
    } forms[] = {
        {0x00, 0x7F, 0x00, 0x00, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    size_t form = 0, n_forms = sizeof forms / sizeof forms[0];
    while (form < n_forms && !(forms[form].first <= at[0] && at[0] <= forms[form].last)) {
        form++;
    }
    if (form == n_forms || forms[form].length > n) {
        return 0;
    }
    if (forms[form].length > 1 && !(forms[form].least <= at[1] && at[1] <= forms[form].most)) {
        return 0;
    }
    for (size_t i = 2; i < forms[form].length; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return forms[form].length;
}

size_t split_valid(const char *text, size_t n) {
    const unsigned char *bytes = (const unsigned char *)text;
    size_t at = 0, length;
    while (at < n && (length = character(bytes + at, n - at)) != 0) {
        at += length;
    }
    return at;
}

size_t split_next(const struct split *split, const char *text, size_t n) {
    int found =
        pcre2_match(split->code, (PCRE2_SPTR)text, n, 0, PCRE2_NO_UTF_CHECK, split->match, NULL);
    if (found <= 0) { /* the library met a limit of its own */
        size_t length = character((const unsigned char *)text, n);
        return length > 0 ? length : 1;
    }
    const PCRE2_SIZE *range = pcre2_get_ovector_pointer(split->match);
    return range[1] > 0 ? range[1] : 1;
}
