/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* mmap, open */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/text.h"
#include "cli/model/header.h"
#include "cli/model/weights.h"

#define AGAIN "; convert the model again"

/* What is being read, and where the next section begins (FILE-4). */
struct reader {
    struct weights *weights;
    const struct weights_name *name;
    struct header header;
    size_t at;
    int n_tensors;
    uint64_t n_weights;
};

/* The bytes of the next section, or NULL after a message: it must begin here, and what is behind it
 * up to the next multiple of 64 must be zeros. */
static const void *section(struct reader *r, const char *what, uint64_t offset, uint64_t length) {
    const struct weights *w = r->weights;
    if (offset != r->at || length > w->size - r->at) {
        (void)header_refuse(r->name, "%s: %llu bytes at %llu, where %zu of %zu are taken" AGAIN,
                            what, (unsigned long long)length, (unsigned long long)offset, r->at,
                            w->size);
        return NULL;
    }
    size_t end = (size_t)(offset + length);
    size_t next = (end + HEADER_ALIGN - 1) / HEADER_ALIGN * HEADER_ALIGN;
    if (next > w->size) {
        (void)header_refuse(r->name, "%s ends at %zu, too near to the end" AGAIN, what, end);
        return NULL;
    }
    for (size_t i = end; i < next; i++) {
        if (w->bytes[i] != 0) {
            (void)header_refuse(r->name, "there is something in the gap behind %s" AGAIN, what);
            return NULL;
        }
    }
    r->at = next;
    return w->bytes + offset;
}

/* ---- Tensors ---- */

static int check_finite(const struct reader *r, const char *what, const float *number, size_t n) {
    int finite = 1;
    for (size_t i = 0; i < n; i++) {
        finite &= isfinite(number[i]) != 0;
    }
    return finite ? 0 : header_refuse(r->name, "%s has a number that is not finite" AGAIN, what);
}

/* The next tensor, of this name and shape; rank 1 when rows is 1 (FILE-6). */
static int tensor(struct reader *r, const float **numbers, const char *name, uint64_t rows,
                  uint64_t columns, uint32_t rank) {
    struct header_tensor entry, wanted = {.type = 1, .rank = rank, .rows = rows};
    wanted.columns = columns;
    wanted.size = rows * columns * sizeof(float);
    (void)snprintf(wanted.name, sizeof wanted.name, "%s", name);
    memcpy(&entry, r->weights->bytes + r->header.directory + (size_t)r->n_tensors * sizeof entry,
           sizeof entry);
    wanted.offset = entry.offset;
    if (memcmp(&entry, &wanted, sizeof entry) != 0) {
        return header_refuse(r->name,
                             "tensor %d is not %s of %llu times %llu numbers of "
                             "float32" AGAIN,
                             r->n_tensors, name, (unsigned long long)rows,
                             (unsigned long long)columns);
    }
    r->n_tensors++;
    r->n_weights += rows * columns;
    *numbers = section(r, name, entry.offset, entry.size);
    return *numbers == NULL ? -1 : check_finite(r, name, *numbers, rows * columns);
}

static int read_layer(struct reader *r, int number) {
    struct cp_decoder_layer *l = &r->weights->layer[number];
    const struct header *h = &r->header;
    const uint64_t q = (uint64_t)h->n_heads * h->head_dim;
    const uint64_t kv = (uint64_t)h->n_kv_heads * h->head_dim;
    const struct {
        const char *name;
        const float **numbers;
        uint64_t rows, columns;
        uint32_t rank;
    } inner[] = {
        {"attention_norm", &l->attention_norm, 1, h->width, 1},
        {"query", &l->query, q, h->width, 2},
        {"key", &l->key, kv, h->width, 2},
        {"value", &l->value, kv, h->width, 2},
        {"mix", &l->mix, h->width, q, 2},
        {"network_norm", &l->network_norm, 1, h->width, 1},
        {"gate", &l->gate, h->hidden, h->width, 2},
        {"up", &l->up, h->hidden, h->width, 2},
        {"down", &l->down, h->width, h->hidden, 2},
    };
    memset(l, 0, sizeof *l);
    for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "layer.%d.%s", number, inner[i].name);
        if (tensor(r, inner[i].numbers, name, inner[i].rows, inner[i].columns, inner[i].rank) !=
            0) {
            return -1;
        }
    }
    return 0;
}

static int read_tensors(struct reader *r) {
    struct cp_decoder *d = &r->weights->decoder;
    const struct header *h = &r->header;
    if (tensor(r, &d->embedding, "embedding", h->n_tokens, h->width, 2) != 0) {
        return -1;
    }
    for (int i = 0; i < d->shape.n_layers; i++) {
        if (read_layer(r, i) != 0) {
            return -1;
        }
    }
    if (tensor(r, &d->final_norm, "norm", 1, h->width, 1) != 0) {
        return -1;
    }
    return h->tied ? 0 : tensor(r, &d->output, "output", h->n_tokens, h->width, 2);
}

/* ---- The tokenizer's tables ---- */

static int check_tokens(const struct reader *r, const struct weights_tokens *t) {
    int of_byte[256] = {0};
    uint32_t begin = 0;
    for (int i = 0; i < t->n; i++) {
        if (t->end[i] <= begin || t->end[i] > r->header.text_size) {
            return header_refuse(r->name, "token %d is [%u, %u) of %llu bytes" AGAIN, i, begin,
                                 t->end[i], (unsigned long long)r->header.text_size);
        }
        if (t->special[i] > 1) {
            return header_refuse(r->name, "token %d is of kind %d" AGAIN, i, t->special[i]);
        }
        if (!t->special[i] && t->end[i] - begin == 1 &&
            of_byte[(unsigned char)t->text[begin]]++ != 0) {
            return header_refuse(r->name, "two tokens are the byte %02x" AGAIN,
                                 (unsigned char)t->text[begin]);
        }
        begin = t->end[i];
    }
    return begin == r->header.text_size
               ? 0
               : header_refuse(r->name, "the text of the tokens is too long" AGAIN);
}

static size_t token_begin(const struct weights_tokens *t, uint32_t token) {
    return token == 0 ? 0 : t->end[token - 1];
}

static size_t token_length(const struct weights_tokens *t, uint32_t token) {
    return t->end[token] - token_begin(t, token);
}

/* What two tokens become has their bytes (FILE-9). */
static int is_merge(const struct weights_tokens *t, const uint32_t merge[3]) {
    for (int i = 0; i < 3; i++) {
        if (merge[i] >= (uint32_t)t->n || t->special[merge[i]]) {
            return 0;
        }
    }
    size_t left = token_length(t, merge[0]), right = token_length(t, merge[1]);
    const char *both = t->text + token_begin(t, merge[2]);
    return token_length(t, merge[2]) == left + right &&
           memcmp(both, t->text + token_begin(t, merge[0]), left) == 0 &&
           memcmp(both + left, t->text + token_begin(t, merge[1]), right) == 0;
}

static int read_tables(struct reader *r) {
    const struct header *h = &r->header;
    struct weights_tokens *t = &r->weights->tokens;
    *t = (struct weights_tokens){.n = (int)h->n_tokens,
                                 .n_merges = (int)h->n_merges,
                                 .split = (int)h->split,
                                 .add_begin = (int)h->add_begin,
                                 .begin = h->begin,
                                 .stop = h->stop,
                                 .unknown = h->unknown};
    if ((t->end = section(r, "the ends of tokens", h->ends, 4ULL * h->n_tokens)) == NULL ||
        (t->special = section(r, "the kinds of tokens", h->kinds, h->n_tokens)) == NULL ||
        (t->text = section(r, "the text of tokens", h->text, h->text_size)) == NULL ||
        (t->merge = section(r, "the merges", h->merges, 12ULL * h->n_merges)) == NULL ||
        check_tokens(r, t) != 0) {
        return -1;
    }
    for (int i = 0; i < t->n_merges; i++) {
        if (!is_merge(t, t->merge[i])) {
            return header_refuse(r->name, "merge %d does not join two tokens to a third" AGAIN, i);
        }
    }
    return 0;
}

/* ---- All of it ---- */

static void set_shape(struct weights *w, const struct header *h) {
    int n_pairs = (int)h->rotary_dim / 2;
    w->decoder = (struct cp_decoder){.shape = {.n_layers = (int)h->n_layers,
                                               .n_vocab = (int)h->n_tokens,
                                               .d_model = (int)h->width,
                                               .n_heads = (int)h->n_heads,
                                               .n_kv_heads = (int)h->n_kv_heads,
                                               .d_head = (int)h->head_dim,
                                               .d_hidden = (int)h->hidden,
                                               .norm = (int)h->norm,
                                               .network = (int)h->network,
                                               .positions = (int)h->positions,
                                               .n_pairs = n_pairs,
                                               .pair_distance = (int)h->pair_distance,
                                               .norm_epsilon = h->epsilon,
                                               .scale = 1.0 / sqrt(h->head_dim)}};
    w->context = (int)h->context;
    w->rounded = h->rounded;
    w->layer = cli_allocate(NULL, h->n_layers, sizeof *w->layer);
    w->frequency = cli_allocate(NULL, (size_t)n_pairs, sizeof *w->frequency);
    for (int i = 0; i < n_pairs; i++) { /* FILE-10 */
        w->frequency[i] = pow(h->base, -2.0 * i / h->rotary_dim);
    }
    w->decoder.layer = w->layer;
    w->decoder.frequency = w->frequency;
}

static int read_sections(struct reader *r) {
    const struct header *h = &r->header;
    uint32_t n = 9 * h->n_layers + (h->tied ? 2 : 3);
    if (h->n_tensors != n) {
        return header_refuse(r->name, "it has %u tensors, and %u layers need %u" AGAIN,
                             h->n_tensors, h->n_layers, n);
    }
    if (section(r, "the directory", h->directory, n * sizeof(struct header_tensor)) == NULL ||
        read_tables(r) != 0 || read_tensors(r) != 0) {
        return -1;
    }
    if (h->rounded > r->n_weights) {
        return header_refuse(r->name, "more weights were rounded than it has" AGAIN);
    }
    return r->at == r->weights->size
               ? 0
               : header_refuse(r->name, "%zu bytes follow the last tensor" AGAIN,
                               r->weights->size - r->at);
}

int weights_read(struct weights *weights, const struct weights_name *name,
                 const unsigned char *bytes, size_t size) {
    struct reader r = {.weights = weights, .name = name};
    memset(weights, 0, sizeof *weights);
    weights->bytes = bytes;
    weights->size = size;
    if (header_read(&r.header, name, bytes, size) != 0) {
        return -1;
    }
    r.at = sizeof r.header;
    set_shape(weights, &r.header);
    if (read_sections(&r) != 0) {
        weights_forget(weights);
        return -1;
    }
    return 0;
}

void weights_forget(struct weights *weights) {
    free(weights->layer);
    free(weights->frequency);
    weights->layer = NULL;
    weights->frequency = NULL;
}

static int refuse_file(const struct weights_name *name, int fd) {
    int error = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    return header_refuse(name, "%s", strerror(error));
}

int weights_open(struct weights *weights, const struct weights_name *name) {
    struct stat status;
    int fd = open(name->file, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        return refuse_file(name, fd);
    }
    if (!S_ISREG(status.st_mode) || status.st_size <= 0) {
        (void)close(fd);
        return header_refuse(name, "no weights file: it is empty, or no regular file");
    }
    size_t size = (size_t)status.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        return refuse_file(name, fd);
    }
    (void)close(fd);
    if (weights_read(weights, name, bytes, size) != 0) {
        (void)munmap(bytes, size);
        return -1;
    }
    return 0;
}

void weights_close(struct weights *weights) {
    union {
        const unsigned char *read;
        void *map;
    } bytes = {weights->bytes}; /* mapped for reading; munmap() takes it without const */
    weights_forget(weights);
    (void)munmap(bytes.map, weights->size);
}
