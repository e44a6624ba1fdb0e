/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* posix_memalign */
/* The reader of weights files and the tokenizer (cli/model/): no crash, no leak, no access out of
 * bounds. A file that is accepted is a decoder, and its tokenizer keeps the bytes of any text. The
 * input is a file, then a text from where the file says that it ends. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cli/model/header.h"
#include "cli/model/tokenizer.h"
#include "fuzz/parse.h"
#include "fuzz/target.h"

static const struct weights_name a_file = {"model", "a file"};

/* An input of at most this many bytes; more adds nothing. */
#define MOST_BYTES (1U << 16)

static void seal(unsigned char *bytes, size_t size) {
    if (size >= sizeof(struct header)) {
        uint32_t crc;
        memset(bytes + HEADER_CHECKSUM_AT, 0, sizeof crc);
        crc = (uint32_t)crc32(0L, bytes, (uInt)size);
        memcpy(bytes + HEADER_CHECKSUM_AT, &crc, sizeof crc);
    }
}

/* Where the text begins. */
static size_t size_of_file(const uint8_t *data, size_t size) {
    uint64_t said = size;
    if (size >= sizeof(struct header)) {
        memcpy(&said, data + offsetof(struct header, size), sizeof said);
    }
    return said < size ? (size_t)said : size;
}

/* The tokens' bytes are those of the text in their order, less the bytes that were left out. */
static void check_tokens(const struct weights_tokens *tokens, const struct token_list *list,
                         const char *text, size_t n) {
    size_t at = 0, skipped = 0;
    for (size_t i = 0; i < list->n; i++) {
        size_t length;
        if (list->token[i] < 0 || list->token[i] >= tokens->n) {
            fuzz_fail("%d is no token", list->token[i]);
        }
        const char *bytes = tokenizer_bytes(tokens, list->token[i], &length);
        for (size_t j = 0; j < length; j++, at++) {
            for (; at < n && text[at] != bytes[j]; at++) {
                skipped++;
            }
            if (at >= n) {
                fuzz_fail("token %zu has bytes that the text lacks", i);
            }
        }
    }
    skipped += n - at;
    if (skipped != list->lost) {
        fuzz_fail("%zu bytes are lost, and %zu are said to be", skipped, list->lost);
    }
}

static void check_text(const struct weights *weights, const char *text, size_t n) {
    struct tokenizer tokenizer;
    struct parse_said said;
    parse_listen(&said);
    int result = tokenizer_new(&tokenizer, &a_file, &weights->tokens);
    parse_heard(&said, result != 0);
    for (int special = 0; result == 0 && special < 2; special++) {
        struct token_list list = {0};
        tokenizer_encode(&tokenizer, text, n, special, &list);
        check_tokens(&weights->tokens, &list, text, n);
        token_list_free(&list);
    }
    if (result == 0) {
        tokenizer_free(&tokenizer);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct weights weights;
    struct parse_said said;
    void *room = NULL;
    int layer = -1;
    if (size > MOST_BYTES) {
        return 0;
    }
    size_t n = size_of_file(data, size);
    if (posix_memalign(&room, HEADER_ALIGN, n > 0 ? n : 1) != 0) {
        fuzz_fail("no memory");
    }
    memcpy(room, data, n);
    seal(room, n);
    parse_listen(&said);
    int result = weights_read(&weights, &a_file, room, n);
    parse_heard(&said, result != 0);
    if (result == 0) {
        const char *problem = cp_decoder_check(&weights.decoder, &layer);
        if (problem != NULL) {
            fuzz_fail("accepted, and no decoder: layer %d, %s", layer, problem);
        }
        check_text(&weights, (const char *)data + n, size - n);
        weights_forget(&weights);
    }
    free(room);
    return 0;
}
