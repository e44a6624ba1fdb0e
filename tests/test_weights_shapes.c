/* SPDX-License-Identifier: Apache-2.0 */
/* Weights files of many shapes: each is read as it was written, and one wrong field is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/weights.h"
#include "weights_made.h"

#define AT(field) offsetof(struct header, field)
/* Embedding, norms, query, key, value, mix, gate, up, down, norm. */
#define BASE_WEIGHTS (12 + 2 + 16 + 8 + 8 + 16 + 2 + 6 + 6 + 6 + 2)
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void assert_tensor(const float *numbers, size_t n, size_t *number) {
    assert_non_null(numbers);
    for (size_t i = 0; i < n; i++) {
        assert_true(numbers[i] == made_weight(*number + i));
    }
    *number += n;
}

static void assert_weights(const struct weights *w, const struct header *h) {
    size_t q = (size_t)h->n_heads * h->head_dim, kv = (size_t)h->n_kv_heads * h->head_dim;
    size_t vocabulary = (size_t)h->n_tokens * h->width, net = (size_t)h->hidden * h->width;
    size_t number = 0;
    assert_tensor(w->decoder.embedding, vocabulary, &number);
    for (uint32_t i = 0; i < h->n_layers; i++) {
        const struct cp_decoder_layer *l = &w->layer[i];
        assert_tensor(l->attention_norm, h->width, &number);
        assert_tensor(l->query, q * h->width, &number);
        assert_tensor(l->key, kv * h->width, &number);
        assert_tensor(l->value, kv * h->width, &number);
        assert_tensor(l->mix, q * h->width, &number);
        assert_tensor(l->network_norm, h->width, &number);
        assert_tensor(l->gate, net, &number);
        assert_tensor(l->up, net, &number);
        assert_tensor(l->down, net, &number);
    }
    assert_tensor(w->decoder.final_norm, h->width, &number);
    if (h->tied) {
        assert_null(w->decoder.output);
    } else {
        assert_tensor(w->decoder.output, vocabulary, &number);
    }
}

/* Field by field, and the frequencies of FILE-10 to a few units of the last place of double. */
static void assert_model(const struct weights *w, const struct header *h) {
    const struct cp_decoder_shape *s = &w->decoder.shape;
    assert_int_equal(s->n_layers, h->n_layers);
    assert_int_equal(s->n_vocab, h->n_tokens);
    assert_int_equal(s->d_model, h->width);
    assert_int_equal(s->n_heads, h->n_heads);
    assert_int_equal(s->n_kv_heads, h->n_kv_heads);
    assert_int_equal(s->d_head, h->head_dim);
    assert_int_equal(s->d_hidden, h->hidden);
    assert_int_equal(s->n_pairs, h->rotary_dim / 2);
    assert_int_equal(s->pair_distance, h->pair_distance);
    assert_true(s->norm_epsilon == h->epsilon);
    assert_true(fabs(s->scale * s->scale * h->head_dim - 1.0) < 1e-15);
    for (int i = 0; i < s->n_pairs; i++) {
        double wanted = exp(-log(h->base) * i / s->n_pairs);
        assert_true(fabs(w->frequency[i] / wanted - 1.0) < 1e-14);
    }
    assert_int_equal(w->context, h->context);
    assert_int_equal(w->rounded, h->rounded);
    assert_weights(w, h);
}

static void assert_read(const struct made *made) {
    struct weights_file file = made_write(made);
    struct weights w;
    int layer;
    assert_int_equal(weights_read(&w, NAMED("made"), file.bytes, file.size), 0);
    assert_null(cp_decoder_check(&w.decoder, &layer));
    assert_model(&w, &made->header);
    weights_forget(&w);
    weights_file_free(&file);
}

static void assert_file_refused(struct weights_file *file) {
    char said[512];
    assert_int_equal(weights_file_read(file, said, sizeof said), -1);
    assert_true(said[0] != '\0');
    weights_file_free(file);
}

static void assert_refused(const struct made *made) {
    struct weights_file file = made_write(made);
    assert_file_refused(&file);
}

/* FILE-3, FILE-6, FILE-10. */
static void models_of_every_shape_are_read_as_written(void **unused) {
    static const struct {
        uint32_t layers, width, heads, kv, head, hidden, rotary, distance, tied;
        double base, epsilon;
    } shape[] = {
        {1, 2, 2, 1, 4, 3, 4, 1, 1, 500.0, 1e-5}, {1, 2, 2, 1, 4, 3, 4, 1, 0, 500.0, 1e-5},
        {1, 2, 2, 1, 4, 3, 4, 1, 1, 1.0, 1e-5},   {2, 8, 2, 2, 4, 3, 4, 2, 0, 1e4, 2.0},
        {1, 4, 4, 2, 8, 9, 6, 1, 1, 1e4, 1e-6},   {1, 4, 3, 1, 8, 2, 6, 3, 0, 500.0, 1e-5},
        {3, 5, 1, 1, 8, 7, 8, 4, 0, 1e6, 0.1},    {1, 3, 2, 1, 2, 1, 2, 1, 1, 2.0, 1e-300},
        {1, 2, 2, 1, 8, 3, 8, 2, 1, 500.0, 1e-5}, {1, 2, 1, 1, 12, 3, 12, 3, 0, 500.0, 1e-5},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(shape); i++) {
        struct made made = made_base();
        made.header.n_layers = shape[i].layers;
        made.header.width = shape[i].width;
        made.header.n_heads = shape[i].heads;
        made.header.n_kv_heads = shape[i].kv;
        made.header.head_dim = shape[i].head;
        made.header.hidden = shape[i].hidden;
        made.header.rotary_dim = shape[i].rotary;
        made.header.pair_distance = shape[i].distance;
        made.header.tied = shape[i].tied;
        made.header.base = shape[i].base;
        made.header.epsilon = shape[i].epsilon;
        assert_read(&made);
    }
}

/* FILE-7: all weights of the base may be rounded, and no more. */
static void as_many_weights_as_there_are_may_be_rounded(void **unused) {
    static const uint64_t refused[] = {BASE_WEIGHTS + 1, BASE_WEIGHTS + (UINT64_C(1) << 32)};
    struct made made = made_base();
    (void)unused;
    made.header.rounded = BASE_WEIGHTS;
    assert_read(&made);
    for (size_t i = 0; i < COUNT(refused); i++) {
        made.header.rounded = refused[i];
        assert_refused(&made);
    }
}

/* FILE-4: the largest numbers of layers and of a width, with everything else small. */
static void models_at_the_limits_are_read_as_written(void **unused) {
    static const struct { uint32_t layers, width; } limit[] = {{4096, 1}, {1, 1U << 20}};
    (void)unused;
    for (size_t i = 0; i < COUNT(limit); i++) {
        struct made made = made_base();
        made.header.n_layers = limit[i].layers;
        made.header.width = limit[i].width;
        made.header.n_heads = 1;
        made.header.head_dim = made.header.rotary_dim = 2;
        made.header.hidden = 1;
        made.header.n_tokens = 1;
        made.header.n_merges = 0;
        made.header.begin = WEIGHTS_NO_TOKEN;
        assert_read(&made);
    }
}

/* FILE-1, FILE-2, FILE-3, FILE-5: the checksum is right, but where it is the field. */
static void each_wrong_byte_of_the_first_fields_is_refused(void **unused) {
    static const struct {
        size_t at;
        uint32_t value;
    } wrong[] = {
        {AT(version), 0},        {AT(version), 65537},    {AT(order), 0x00000004},
        {AT(order), 0x01020300}, {AT(order), 0x01000304},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof HEADER_MAGIC - 1; i++) {
        struct made made = made_base();
        made.header.magic[i] ^= 1;
        assert_refused(&made);
    }
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct made made = made_base();
        struct weights_file file = made_write(&made);
        weights_file_put_u32(&file, wrong[i].at, wrong[i].value);
        weights_file_seal(&file);
        assert_file_refused(&file);
    }
    struct made made = made_base();
    struct weights_file file = made_write(&made);
    weights_file_put_u32(&file, AT(checksum), 0);
    assert_file_refused(&file);
}

/* FILE-2: `by` bytes more than there are. */
static void a_size_that_is_not_the_files_is_refused(void **unused) {
    static const int64_t by[] = {-64, -1, 1, 64, INT64_C(1) << 32};
    (void)unused;
    for (size_t i = 0; i < COUNT(by); i++) {
        struct made made = made_base();
        struct weights_file file = made_write(&made);
        weights_file_seal_as(&file, file.size + (uint64_t)by[i]);
        assert_file_refused(&file);
    }
}

/* FILE-4, FILE-6, FILE-9: bytes that must be zero, shapes and places of the directory. */
static void each_wrong_byte_behind_the_header_is_refused(void **unused) {
    const struct made made = made_base();
    struct weights_file file = made_write(&made);
    const size_t entry = sizeof(struct header);
    const struct {
        size_t at;
        uint32_t value;
    } wrong[] = {
        {file.size - 4, 1}, /* behind the last tensor */
        {entry + 12, 1},    /* behind "embedding" and its 0 */
        {entry + 52, 1},
        {entry + offsetof(struct header_tensor, rows), 2},
        {entry + offsetof(struct header_tensor, offset) + 4, 1},
        {AT(text_size), 16},
        {AT(text_size), 10},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct weights_file changed = weights_file_part(&file, file.size);
        weights_file_put_u32(&changed, wrong[i].at, wrong[i].value);
        if (wrong[i].value == 2) {
            weights_file_put_u32(&changed, entry + offsetof(struct header_tensor, columns), 6);
        }
        weights_file_seal(&changed);
        assert_file_refused(&changed);
    }
    weights_file_free(&file);
}

/* FILE-9: tokens and merges, refused or not. */
static void tokens_and_merges_are_read_or_refused_by_the_table(void **unused) {
    static const struct {
        struct made_token token[6];
        uint32_t n_merges, merge[2][3];
        int refused;
    } tables[] = {
        {{{"a", 1, 0}, {"b", 1, 0}, {"c", 1, 0}, {"ba", 2, 0}, {"<", 1, 1}, {"d", 1, 0}},
         0,
         {{0}},
         0},
        {{{"a", 1, 0}, {"b", 1, 0}, {"c", 1, 0}, {"ba", 2, 0}, {"a", 1, 1}, {"d", 1, 0}},
         0,
         {{0}},
         0},
        {{{"a", 1, 1}, {"b", 1, 0}, {"c", 1, 0}, {"ba", 2, 0}, {"a", 1, 0}, {"ba", 2, 1}},
         0,
         {{0}},
         0},
        {{{"ba", 2, 0}, {"b", 1, 0}, {"a", 1, 0}, {"ab", 2, 0}, {"<", 1, 1}, {"d", 1, 0}},
         2,
         {{2, 1, 3}, {1, 2, 0}},
         0},
        {{{"a", 1, 0}, {"b", 1, 1}, {"c", 1, 0}, {"ba", 2, 0}, {"<", 1, 1}, {"d", 1, 0}},
         1,
         {{1, 0, 3}},
         1},
        {{{"a", 1, 1}, {"b", 1, 0}, {"c", 1, 0}, {"ba", 2, 0}, {"<", 1, 1}, {"d", 1, 0}},
         1,
         {{1, 0, 3}},
         1},
        {{{"a", 1, 0}, {"b", 1, 0}, {"c", 1, 0}, {"ba", 2, 1}, {"<", 1, 1}, {"d", 1, 0}},
         1,
         {{1, 0, 3}},
         1},
        {{{"a", 1, 0}, {"b", 1, 0}, {"c", 1, 0}, {"ba", 2, 0}, {"<", 1, 1}, {"d", 1, 0}},
         2,
         {{1, 0, 3}, {0, 0, 3}},
         1},
        {{{"\xFF", 1, 0}, {"b", 1, 0}, {"\xFF", 1, 0}, {"ba", 2, 0}, {"<", 1, 1}, {"d", 1, 0}},
         0,
         {{0}},
         1},
        {{{"\0", 1, 0}, {"b", 1, 0}, {"\0", 1, 0}, {"ba", 2, 0}, {"<", 1, 1}, {"d", 1, 0}},
         0,
         {{0}},
         1},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(tables); i++) {
        struct made made = made_base();
        made.token = tables[i].token;
        made.merge = tables[i].merge;
        made.header.n_merges = tables[i].n_merges;
        if (tables[i].refused) {
            assert_refused(&made);
        } else {
            assert_read(&made);
        }
    }
}

/* FILE-7: the smallest float32 is a weight. */
static void a_denormal_weight_is_read(void **unused) {
    const struct made made = made_base();
    struct weights_file file = made_write(&made);
    char said[512];
    (void)unused;
    uint64_t at =
        weights_file_u64(&file, sizeof(struct header) + offsetof(struct header_tensor, offset));
    weights_file_put_u32(&file, at, 1);
    weights_file_seal(&file);
    assert_int_equal(weights_file_read(&file, said, sizeof said), 0);
    weights_file_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_of_every_shape_are_read_as_written),
        cmocka_unit_test(as_many_weights_as_there_are_may_be_rounded),
        cmocka_unit_test(models_at_the_limits_are_read_as_written),
        cmocka_unit_test(each_wrong_byte_of_the_first_fields_is_refused),
        cmocka_unit_test(a_size_that_is_not_the_files_is_refused),
        cmocka_unit_test(each_wrong_byte_behind_the_header_is_refused),
        cmocka_unit_test(tokens_and_merges_are_read_or_refused_by_the_table),
        cmocka_unit_test(a_denormal_weight_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
