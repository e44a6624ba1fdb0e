/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* posix_memalign */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/weights.h"
#include "weights_made.h"

static const struct made_token base_token[] = {{"a", 1, 0},  {"b", 1, 0},   {"c", 1, 0},
                                               {"ba", 2, 0}, {"<s>", 3, 1}, {"d", 1, 0}};
static const uint32_t base_merge[][3] = {{1, 0, 3}};

struct made made_base(void) {
    struct made made = {.token = base_token, .merge = base_merge};
    made.header = (struct header){.magic = "CPWEIGH", /* its last letter below */
                                  .version = HEADER_VERSION,
                                  .order = HEADER_ORDER,
                                  .header_size = sizeof made.header,
                                  .n_layers = 1,
                                  .width = 2,
                                  .n_heads = 2,
                                  .n_kv_heads = 1,
                                  .head_dim = 4,
                                  .hidden = 3,
                                  .n_tokens = 6,
                                  .context = 5,
                                  .pair_distance = 1,
                                  .rotary_dim = 4,
                                  .tied = 1,
                                  .base = 500.0,
                                  .epsilon = 1e-5,
                                  .n_merges = 1,
                                  .split = WEIGHTS_SPLIT_GPT2,
                                  .begin = 4,
                                  .stop = WEIGHTS_NO_TOKEN,
                                  .unknown = WEIGHTS_NO_TOKEN};
    made.header.magic[7] = 'T';
    return made;
}

float made_weight(size_t number) {
    return (float)(number + 1) / 128.0F; /* exact: small files have less than 2^24 */
}

/* Where the next section begins. */
static uint64_t behind(uint64_t end) {
    return (end + 63) / 64 * 64;
}

struct place {
    unsigned char *bytes;
    uint64_t room, entry, at;
    size_t number;
};

static void write_tensor(struct place *p, const char *name, uint32_t rank, uint64_t rows,
                         uint64_t columns) {
    struct header_tensor t = {.type = 1, .rank = rank, .rows = rows, .columns = columns};
    (void)snprintf(t.name, sizeof t.name, "%s", name);
    t.offset = p->at;
    t.size = rows * columns * sizeof(float);
    assert_true(t.offset + t.size <= p->room);
    memcpy(p->bytes + p->entry, &t, sizeof t);
    p->entry += sizeof t;
    for (uint64_t i = 0; i < rows * columns; i++) {
        float weight = made_weight(p->number++);
        memcpy(p->bytes + p->at + 4 * i, &weight, sizeof weight);
    }
    p->at = behind(t.offset + t.size);
}

static void write_layer(struct place *p, const struct header *h, uint32_t layer) {
    const uint64_t q = (uint64_t)h->n_heads * h->head_dim,
                   kv = (uint64_t)h->n_kv_heads * h->head_dim;
    const struct {
        const char *name;
        uint32_t rank;
        uint64_t rows, columns;
    } inner[] = {{"attention_norm", 1, 1, h->width},
                 {"query", 2, q, h->width},
                 {"key", 2, kv, h->width},
                 {"value", 2, kv, h->width},
                 {"mix", 2, h->width, q},
                 {"network_norm", 1, 1, h->width},
                 {"gate", 2, h->hidden, h->width},
                 {"up", 2, h->hidden, h->width},
                 {"down", 2, h->width, h->hidden}};
    for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++) {
        char name[56];
        (void)snprintf(name, sizeof name, "layer.%u.%s", layer, inner[i].name);
        write_tensor(p, name, inner[i].rank, inner[i].rows, inner[i].columns);
    }
}

/* Places of the tables, and their bytes. Returns where the tensors begin. */
static uint64_t write_tables(unsigned char *bytes, struct header *h, const struct made *made) {
    h->directory = sizeof *h;
    h->ends = behind(h->directory + (uint64_t)h->n_tensors * sizeof(struct header_tensor));
    h->kinds = behind(h->ends + 4ULL * h->n_tokens);
    h->text = behind(h->kinds + h->n_tokens);
    for (uint32_t i = 0; i < h->n_tokens; i++) {
        const struct made_token *t = &made->token[i];
        memcpy(bytes + h->text + h->text_size, t->text, t->length);
        h->text_size += t->length;
        uint32_t end = (uint32_t)h->text_size;
        memcpy(bytes + h->ends + 4ULL * i, &end, sizeof end);
        bytes[h->kinds + i] = t->special;
    }
    h->merges = behind(h->text + h->text_size);
    if (h->n_merges > 0) {
        memcpy(bytes + h->merges, made->merge, 12ULL * h->n_merges);
    }
    return behind(h->merges + 12ULL * h->n_merges);
}

/* Bytes that are enough: tables of short tokens, then weights and gaps. */
static size_t room_for(const struct header *h) {
    size_t q = (size_t)h->n_heads * h->head_dim, kv = (size_t)h->n_kv_heads * h->head_dim;
    size_t layer = (2 + 2 * q + 2 * kv + 3 * (size_t)h->hidden) * h->width;
    size_t weights = (2 * (size_t)h->n_tokens + 1) * h->width + h->n_layers * layer;
    size_t tables = 4096 + 64 * (size_t)h->n_tokens + 12 * (size_t)h->n_merges;
    return tables + 4 * weights + (size_t)h->n_layers * 9 * (64 + sizeof(struct header_tensor));
}

struct weights_file made_write(const struct made *made) {
    struct header h = made->header;
    size_t size = room_for(&h);
    void *room = NULL;
    assert_int_equal(posix_memalign(&room, 64, size), 0);
    memset(room, 0, size);
    struct place p = {.bytes = room, .room = size, .entry = sizeof h};
    h.n_tensors = 9 * h.n_layers + (h.tied ? 2 : 3);
    p.at = write_tables(p.bytes, &h, made);
    write_tensor(&p, "embedding", 2, h.n_tokens, h.width);
    for (uint32_t i = 0; i < h.n_layers; i++) {
        write_layer(&p, &h, i);
    }
    write_tensor(&p, "norm", 1, 1, h.width);
    if (!h.tied) {
        write_tensor(&p, "output", 2, h.n_tokens, h.width);
    }
    memcpy(room, &h, sizeof h);
    struct weights_file file = {room, (size_t)p.at};
    weights_file_seal(&file);
    return file;
}
