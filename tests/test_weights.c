/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* fmemopen */
/* Weights files: one that is right is read as it is, and whatever is wrong is refused, by name and
 * without a crash. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/base/random.h"
#include "cli/model/header.h"
#include "cli/model/weights.h"
#include "weights_file.h"

#define AT(field) offsetof(struct header, field)

/* After the change, and a right checksum, the file is refused with these words. */
#define assert_refused(file, words)                                                                \
    do {                                                                                           \
        char said_[512];                                                                           \
        weights_file_seal(file);                                                                   \
        assert_int_equal(weights_file_read(file, said_, sizeof said_), -1);                        \
        if (strstr(said_, words) == NULL) {                                                        \
            fail_msg("no '%s' in: %s", words, said_);                                              \
        }                                                                                          \
        weights_file_free(file);                                                                   \
    } while (0)

static struct weights_file with_u32(size_t at, uint32_t value) {
    struct weights_file file = weights_file_load();
    weights_file_put_u32(&file, at, value);
    return file;
}

/* FILE-3, FILE-6, FILE-10: numbers of make_tiny.py, by hand. */
static void the_small_model_is_read(void **unused) {
    struct weights weights;
    (void)unused;
    assert_int_equal(weights_open(&weights, NAMED(TINY_WEIGHTS)), 0);
    const struct cp_decoder_shape *s = &weights.decoder.shape;
    assert_int_equal(s->n_layers, 2);
    assert_int_equal(s->n_vocab, 316);
    assert_int_equal(s->d_model, 32);
    assert_int_equal(s->n_heads, 4);
    assert_int_equal(s->n_kv_heads, 2);
    assert_int_equal(s->d_head, 8);
    assert_int_equal(s->d_hidden, 32);
    assert_int_equal(s->n_pairs, 4);
    assert_int_equal(s->pair_distance, 1);
    assert_float_equal(s->scale, 0.35355339059327376, 1e-16);
    assert_float_equal(s->norm_epsilon, 1e-5, 1e-12);
    assert_float_equal(weights.frequency[0], 1.0, 0.0);
    assert_float_equal(weights.frequency[2], 0.04472135954999579, 1e-16); /* 500^(-1/2) */
    assert_int_equal(weights.context, 64);
    assert_null(weights.decoder.output);
    assert_ptr_equal(weights.decoder.layer, weights.layer);
    assert_int_equal(weights.tokens.n, 316);
    assert_int_equal(weights.tokens.n_merges, 60);
    assert_int_equal(weights.tokens.begin, 1);
    assert_int_equal(weights.tokens.stop, 0);
    weights_close(&weights);
}

/* FILE-4: tensors lie one behind the other, each at a multiple of 64. */
static void tensors_lie_in_their_order(void **unused) {
    struct weights weights;
    (void)unused;
    assert_int_equal(weights_open(&weights, NAMED(TINY_WEIGHTS)), 0);
    const struct cp_decoder_layer *l = weights.layer;
    const float *in_order[] = {weights.decoder.embedding,
                               l[0].attention_norm,
                               l[0].query,
                               l[0].key,
                               l[0].value,
                               l[0].mix,
                               l[0].network_norm,
                               l[0].gate,
                               l[0].up,
                               l[0].down,
                               l[1].attention_norm,
                               l[1].query,
                               l[1].key,
                               l[1].value,
                               l[1].mix,
                               l[1].network_norm,
                               l[1].gate,
                               l[1].up,
                               l[1].down,
                               weights.decoder.final_norm};
    const int size[] = {316 * 32, 32,   1024, 512, 512,  1024, 32,   1024, 1024, 1024,
                        32,       1024, 512,  512, 1024, 32,   1024, 1024, 1024, 32};
    for (int i = 0; i < 19; i++) {
        assert_ptr_equal(in_order[i + 1], in_order[i] + (size[i] + 15) / 16 * 16);
        assert_int_equal((uintptr_t)in_order[i] % 64, 0);
    }
    assert_ptr_equal((const unsigned char *)(in_order[19] + 32), weights.bytes + weights.size);
    weights_close(&weights);
}

/* FILE-1, FILE-2. */
static void what_is_no_weights_file_is_refused(void **unused) {
    struct weights_file file = with_u32(0, 0x46554747); /* GGUF */
    (void)unused;
    assert_refused(&file, "no weights file");
    file = with_u32(AT(version), 2);
    assert_refused(&file, "version 2");
    file = with_u32(AT(header_size), 256);
    assert_refused(&file, "header of 256 bytes");
    file = with_u32(AT(order), 0x04030201);
    assert_refused(&file, "byte order");
}

/* FILE-3: each field at its first wrong value on each side. */
static void fields_out_of_range_are_refused(void **unused) {
    static const struct {
        size_t at;
        uint32_t value;
        const char *words;
    } wrong[] = {
        {AT(n_layers), 0, "number of layers is 0"},
        {AT(n_layers), 4097, "number of layers is 4097"},
        {AT(n_layers), 3, "3 layers need 29"},
        {AT(width), 0, "width is 0"},
        {AT(width), (1U << 20) + 1, "width is 1048577"},
        {AT(n_heads), 0, "query heads is 0"},
        {AT(n_kv_heads), 0, "K/V heads is 0"},
        {AT(n_kv_heads), 3, "cannot share 3"},
        {AT(n_kv_heads), 5, "K/V heads is 5"},
        {AT(head_dim), 0, "head dimension is 0"},
        {AT(head_dim), 0x80000000U, "head dimension is 2147483648"},
        {AT(head_dim), (1U << 18) + 2, "4 heads of 262146"},
        {AT(hidden), 0, "network is 0"},
        {AT(hidden), 0xFFFFFFFFU, "network is 4294967295"},
        {AT(n_tokens), 0, "tokens is 0"},
        {AT(n_tokens), (1U << 24) + 1, "tokens is 16777217"},
        {AT(context), 0, "context is 0"},
        {AT(context), 0x80000000U, "context is 2147483648"},
        {AT(norm), 1, "the norm is 1"},
        {AT(network), 1, "the network is 1"},
        {AT(positions), 1, "positions is 1"},
        {AT(rotary_dim), 0, "rotary dimension is 0"},
        {AT(rotary_dim), 7, "in 7 dimensions"},
        {AT(rotary_dim), 10, "rotary dimension is 10"},
        {AT(pair_distance), 0, "distance 0"},
        {AT(pair_distance), 3, "distance 3"},
        {AT(pair_distance), 8, "distance 8"},
        {AT(tied), 2, "tied embedding is 2"},
        {AT(tied), 0, "layers need 21"},
        {AT(n_tensors), 21, "has 21 tensors"},
        {AT(n_merges), (1U << 24) + 1, "merges is 16777217"},
        {AT(split), 0, "pre-split is 0"},
        {AT(split), 3, "pre-split is 3"},
        {AT(add_begin), 2, "begin token is 2"},
        {AT(begin), 316, "none of the 316 tokens"},
        {AT(stop), 316, "none of the 316 tokens"},
        {AT(unknown), 0xFFFFFFFEU, "none of the 316 tokens"},
        {AT(reserved), 1, "reserved field is 1"},
        {AT(rounded), 0x7FFFFFFF, "more weights were rounded"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct weights_file file = with_u32(wrong[i].at, wrong[i].value);

        assert_refused(&file, wrong[i].words);
    }
}

/* FILE-3. */
static void numbers_of_the_model_are_positive(void **unused) {
    static const double wrong[] = {0.0, -1.0, NAN, INFINITY};
    struct weights_file file;
    (void)unused;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        file = weights_file_load();
        weights_file_put_double(&file, AT(base), wrong[i]);
        assert_refused(&file, "rotary base");
        file = weights_file_load();
        weights_file_put_double(&file, AT(epsilon), wrong[i]);
        assert_refused(&file, "epsilon");
    }
    file = with_u32(AT(begin), WEIGHTS_NO_TOKEN);
    weights_file_put_u32(&file, AT(add_begin), 1);
    assert_refused(&file, "begin, end or unknown");
}

/* FILE-4: sections at other places, past the end, or around the end of 64 bits. */
static void sections_are_where_they_must_be(void **unused) {
    static const size_t offset[] = {AT(directory), AT(ends), AT(kinds), AT(text), AT(merges)};
    static const int64_t by[] = {-64, -1, 1, 64, INT64_MIN, -4096};
    (void)unused;
    for (size_t i = 0; i < sizeof offset / sizeof offset[0]; i++) {
        for (size_t j = 0; j < sizeof by / sizeof by[0]; j++) {
            struct weights_file file = weights_file_load();
            uint64_t value = weights_file_u64(&file, offset[i]) + (uint64_t)by[j];
            weights_file_put_u64(&file, offset[i], value);
            assert_refused(&file, "are taken");
        }
    }
    struct weights_file file = weights_file_load();
    weights_file_put_u64(&file, AT(text_size), UINT64_MAX);
    assert_refused(&file, "the text of tokens");
    file = with_u32(AT(n_merges), 1U << 24);
    assert_refused(&file, "the merges");
    file = with_u32(AT(n_tokens), 1U << 24);
    weights_file_put_u32(&file, AT(begin), 0);
    assert_refused(&file, "the ends of tokens");
}

/* FILE-4: something in a gap, or behind the last tensor. */
static void gaps_are_zeros(void **unused) {
    struct weights_file file = weights_file_load();
    (void)unused;
    size_t end = weights_file_u64(&file, AT(kinds)) + 316; /* the next section is at 320 */
    file.bytes[end] = 1;
    assert_refused(&file, "in the gap behind the kinds");
    file = weights_file_load();
    struct weights_file longer = weights_file_part(&file, file.size);
    longer.bytes = realloc(longer.bytes, file.size + 64);
    memset(longer.bytes + file.size, 0, 64);
    longer.size += 64;
    assert_refused(&longer, "64 bytes follow");
    weights_file_free(&file);
}

/* FILE-6: the directory has exactly the tensors that the shape asks for. */
static void the_directory_has_the_tensors_of_the_shape(void **unused) {
    const size_t field[] = {
        offsetof(struct header_tensor, name) + 3, offsetof(struct header_tensor, name) + 55,
        offsetof(struct header_tensor, type),     offsetof(struct header_tensor, rank),
        offsetof(struct header_tensor, rows),     offsetof(struct header_tensor, columns) + 7,
        offsetof(struct header_tensor, size),     offsetof(struct header_tensor, offset) + 1};
    (void)unused;
    for (int i = 0; i < 20; i++) {
        for (size_t j = 0; j < sizeof field / sizeof field[0]; j++) {
            struct weights_file file = weights_file_load();
            size_t entry = weights_file_u64(&file, AT(directory)) + 96 * (size_t)i;
            file.bytes[entry + field[j]] ^= 1;
            assert_refused(&file, j < 7 ? "is not" : "are taken");
        }
    }
}

/* FILE-7: a weight that is not finite, the first and the last one. */
static void weights_are_finite(void **unused) {
    static const uint32_t wrong[] = {0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001};
    struct weights weights;
    (void)unused;
    assert_int_equal(weights_open(&weights, NAMED(TINY_WEIGHTS)), 0);
    const unsigned char *first = (const unsigned char *)weights.decoder.embedding;
    size_t begin = (size_t)(first - weights.bytes), end = weights.size - 4;
    weights_close(&weights);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct weights_file file = with_u32(begin, wrong[i]);
        assert_refused(&file, "embedding has a number that is not finite");
        file = with_u32(end, wrong[i]);
        assert_refused(&file, "norm has a number that is not finite");
    }
}

/* FILE-9. */
static void tokens_and_merges_fit_together(void **unused) {
    struct weights_file file = weights_file_load();
    (void)unused;
    size_t ends = weights_file_u64(&file, AT(ends)), merges = weights_file_u64(&file, AT(merges));
    size_t kinds = weights_file_u64(&file, AT(kinds)), text = weights_file_u64(&file, AT(text));
    uint32_t byte_token = weights_file_u32(&file, ends + 4 * 2); /* of the first byte's token */
    weights_file_put_u32(&file, ends, 0);
    assert_refused(&file, "token 0 is [0, 0)");
    file = with_u32(ends + 4 * 5, 1);
    assert_refused(&file, "token 5 is");
    file = with_u32(ends + 4 * 315, 0xFFFFFFFFU);
    assert_refused(&file, "token 315 is");
    file = weights_file_load();
    weights_file_put_u32(&file, ends + 4 * 315, weights_file_u32(&file, ends + 4 * 315) - 1);
    assert_refused(&file, "text of the tokens is too long");
    file = weights_file_load();
    file.bytes[kinds + 7] = 2;
    assert_refused(&file, "token 7 is of kind 2");
    file = weights_file_load();
    file.bytes[text + byte_token] = file.bytes[text + byte_token + 1];
    assert_refused(&file, "two tokens are the byte");
    for (size_t i = 0; i < 3; i++) {
        file = with_u32(merges + 12 * 7 + 4 * i, 316);
        assert_refused(&file, "merge 7 does not join");
        file = with_u32(merges + 12 * 7 + 4 * i, 0xFFFFFFFFU);
        assert_refused(&file, "merge 7 does not join");
        file = with_u32(merges + 12 * 7 + 4 * i, 0); /* a special token */
        assert_refused(&file, "merge 7 does not join");
        file = with_u32(merges + 12 * 7 + 4 * i, 200);
        assert_refused(&file, "merge 7 does not join");
    }
}

/* FILE-5: a byte changed, anywhere, and nothing else. */
static void each_changed_byte_is_noticed(void **unused) {
    struct weights_file file = weights_file_load();
    char said[512];
    (void)unused;
    for (size_t i = 0; i < file.size; i += i < 1024 ? 1 : 331) {
        file.bytes[i] ^= 0x10;
        assert_int_equal(weights_file_read(&file, said, sizeof said), -1);
        file.bytes[i] ^= 0x10;
    }
    assert_int_equal(weights_file_read(&file, said, sizeof said), 0);
    assert_string_equal(said, "");
    weights_file_free(&file);
}

/* FILE-2, FILE-4: cut off at each byte; then with a right size and checksum. */
static void each_truncation_is_refused(void **unused) {
    struct weights_file file = weights_file_load();
    char said[512];
    (void)unused;
    for (size_t n = 0; n < file.size; n++) {
        struct weights_file whole = {file.bytes, n};
        assert_int_equal(weights_file_read(&whole, said, sizeof said), -1);
    }
    for (size_t n = 192; n < file.size; n += n < 4096 ? 16 : 448) {
        struct weights_file part = weights_file_part(&file, n);
        weights_file_seal(&part);
        assert_int_equal(weights_file_read(&part, said, sizeof said), -1);
        assert_true(strstr(said, "checksum") == NULL);
        weights_file_free(&part);
    }
    weights_file_free(&file);
}

/* Bytes and fields changed at random, with a right checksum: taken or refused, no crash, and a
 * refusal says why. Nearly all that is taken has other weights or texts alone. */
static void random_changes_do_no_harm(void **unused) {
    struct weights_file file = weights_file_load();
    struct prng random = {7};
    char said[512];
    int refused = 0;
    (void)unused;
    size_t tables = weights_file_u64(&file, AT(merges)) + 12 * 60;
    for (int i = 0; i < 2000; i++) {
        struct weights_file changed = weights_file_part(&file, file.size);
        for (int n = 1 + prng_below(&random, 3); n > 0; n--) {
            size_t at = (size_t)prng_below(&random, i % 2 == 0 ? 192 : (int)tables);
            static const uint32_t edge[] = {0, 1, 0x7FFFFFFF, 0x80000000U, 0xFFFFFFFFU, 64};
            if (prng_below(&random, 2) == 0) {
                weights_file_put_u32(&changed, at / 4 * 4, edge[prng_below(&random, 6)]);
            } else {
                changed.bytes[at] = (unsigned char)prng_below(&random, 256);
            }
        }
        weights_file_seal(&changed);
        if (weights_file_read(&changed, said, sizeof said) != 0) {
            refused++;
            assert_non_null(strstr(said, "chunkproof model: tiny: "));
        }
        weights_file_free(&changed);
    }
    assert_true(refused > 1000);
    weights_file_free(&file);
}

static void files_that_cannot_be_mapped_are_refused(void **unused) {
    struct weights weights;
    (void)unused;
    assert_int_equal(weights_open(&weights, NAMED("tests/golden/model/no such file")), -1);
    assert_int_equal(weights_open(&weights, NAMED("tests/golden/model")), -1);
    assert_int_equal(weights_open(&weights, NAMED("/dev/null")), -1);
    assert_int_equal(weights_open(&weights, NAMED("tests/golden/model/tiny.txt")), -1);
}

static void a_message_names_the_command_that_reads_the_file(void **unused) {
    static const struct weights_name name = {"prompt", "/dev/null"};
    struct weights weights;
    char said[200] = "";
    FILE *before = stderr, *said_to = fmemopen(said, sizeof said, "w");
    (void)unused;
    assert_non_null(said_to);
    stderr = said_to;
    int result = weights_open(&weights, &name);
    stderr = before;
    (void)fclose(said_to);
    assert_int_equal(result, -1);
    assert_ptr_equal(strstr(said, "chunkproof prompt: /dev/null: no weights file"), said);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_small_model_is_read),
        cmocka_unit_test(tensors_lie_in_their_order),
        cmocka_unit_test(what_is_no_weights_file_is_refused),
        cmocka_unit_test(fields_out_of_range_are_refused),
        cmocka_unit_test(numbers_of_the_model_are_positive),
        cmocka_unit_test(sections_are_where_they_must_be),
        cmocka_unit_test(gaps_are_zeros),
        cmocka_unit_test(the_directory_has_the_tensors_of_the_shape),
        cmocka_unit_test(weights_are_finite),
        cmocka_unit_test(tokens_and_merges_fit_together),
        cmocka_unit_test(each_changed_byte_is_noticed),
        cmocka_unit_test(each_truncation_is_refused),
        cmocka_unit_test(random_changes_do_no_harm),
        cmocka_unit_test(files_that_cannot_be_mapped_are_refused),
        cmocka_unit_test(a_message_names_the_command_that_reads_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
