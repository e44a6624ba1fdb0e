/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "chunkproof/decoder.h"
#include "cli/base/clean.h"
#include "cli/base/text.h"
#include "cli/model/header.h"

_Static_assert(sizeof(struct header) == 192, "the header has no gaps");
_Static_assert(offsetof(struct header, checksum) == HEADER_CHECKSUM_AT, "FILE-3");
_Static_assert(offsetof(struct header, base) == 88, "FILE-3");
_Static_assert(offsetof(struct header, split) == 168, "FILE-3");
_Static_assert(sizeof(struct header_tensor) == 96, "an entry has no gaps");

int header_refuse(const struct weights_name *name, const char *format, ...) {
    va_list arguments;
    char *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
    text_close(out);
    text_say("chunkproof %s: %s: %s", name->command, name->file, text);
    free(text);
    return -1;
}

/* A field of whole numbers, its least and its largest value. */
struct range {
    const char *field;
    uint32_t value, least, most;
};

/* So small that sizes of tensors fit into 64 bits (FILE-4). */
#define MOST_LAYERS 4096
#define MOST_DIM    (1U << 20)
#define MOST_TOKENS (1U << 24)

static int check_ranges(const struct header *h, const struct weights_name *name) {
    const struct range range[] = {
        {"the number of layers", h->n_layers, 1, MOST_LAYERS},
        {"the width", h->width, 1, MOST_DIM},
        {"the number of query heads", h->n_heads, 1, MOST_DIM},
        {"the number of K/V heads", h->n_kv_heads, 1, h->n_heads},
        {"the head dimension", h->head_dim, 1, MOST_DIM},
        {"the width of the network", h->hidden, 1, MOST_DIM},
        {"the number of tokens", h->n_tokens, 1, MOST_TOKENS},
        {"the context", h->context, 1, INT_MAX},
        {"the norm", h->norm, CP_NORM_RMS, CP_NORM_RMS},
        {"the network", h->network, CP_NETWORK_SWIGLU, CP_NETWORK_SWIGLU},
        {"the kind of positions", h->positions, CP_POSITIONS_ROTARY, CP_POSITIONS_ROTARY},
        {"the rotary dimension", h->rotary_dim, 2, h->head_dim},
        {"the mark of a tied embedding", h->tied, 0, 1},
        {"the number of merges", h->n_merges, 0, MOST_TOKENS},
        {"the pre-split", h->split, WEIGHTS_SPLIT_GPT2, WEIGHTS_SPLIT_DIGITS},
        {"the mark of a begin token", h->add_begin, 0, 1},
        {"the reserved field", h->reserved, 0, 0},
    };
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++) {
        const struct range *r = &range[i];
        if (r->value < r->least || r->value > r->most) {
            return header_refuse(name,
                                 "%s is %u, not from %u to %u: this version cannot compute such a "
                                 "model; convert another one",
                                 r->field, r->value, r->least, r->most);
        }
    }
    return 0;
}

static int is_token(uint32_t token, const struct header *h) {
    return token == WEIGHTS_NO_TOKEN || token < h->n_tokens;
}

static int check_relations(const struct header *h, const struct weights_name *name) {
    if (h->n_heads % h->n_kv_heads != 0) {
        return header_refuse(name, "%u query heads cannot share %u K/V heads evenly", h->n_heads,
                             h->n_kv_heads);
    }
    if ((uint64_t)h->n_heads * h->head_dim > MOST_DIM) {
        return header_refuse(name, "%u heads of %u numbers are more than %u in all", h->n_heads,
                             h->head_dim, MOST_DIM);
    }
    if (h->rotary_dim % 2 != 0 || h->pair_distance == 0 ||
        h->rotary_dim / 2 % h->pair_distance != 0) {
        return header_refuse(name,
                             "rotary pairs of distance %u in %u dimensions: the distance divides "
                             "half of the dimensions",
                             h->pair_distance, h->rotary_dim);
    }
    if (!(h->base >= 1.0 && isfinite(h->base) && h->epsilon > 0.0 && isfinite(h->epsilon))) {
        return header_refuse(name,
                             "the rotary base %g must be 1 or more, and the norm's epsilon %g "
                             "above 0",
                             h->base, h->epsilon);
    }
    if (!is_token(h->begin, h) || !is_token(h->stop, h) || !is_token(h->unknown, h) ||
        (h->add_begin && h->begin == WEIGHTS_NO_TOKEN)) {
        return header_refuse(name, "a begin, end or unknown token is none of the %u tokens",
                             h->n_tokens);
    }
    return 0;
}

/* FILE-5. Blocks, as zlib takes so many bytes at once. */
static uint32_t checksum_of(const unsigned char *bytes, size_t size) {
    static const unsigned char zeros[4];
    uLong crc = crc32(0L, bytes, HEADER_CHECKSUM_AT);
    crc = crc32(crc, zeros, sizeof zeros);
    for (size_t at = HEADER_CHECKSUM_AT + sizeof zeros; at < size;) {
        size_t block = size - at < 1U << 30 ? size - at : 1U << 30;
        crc = crc32(crc, bytes + at, (uInt)block);
        at += block;
    }
    return (uint32_t)crc;
}

int header_read(struct header *header, const struct weights_name *name, const unsigned char *bytes,
                size_t size) {
    /* FILE-1, FILE-2. */
    if (size < sizeof *header || memcmp(bytes, HEADER_MAGIC, sizeof header->magic) != 0) {
        return header_refuse(name, "no weights file: write one with `python3 -m chunkproof.convert "
                                   "IN.gguf OUT`");
    }
    memcpy(header, bytes, sizeof *header);
    if (header->order != HEADER_ORDER) {
        return header_refuse(name,
                             "its byte order is not this machine's (little-endian is needed)");
    }
    if (header->version != HEADER_VERSION || header->header_size != sizeof *header) {
        return header_refuse(name,
                             "it is of version %u with a header of %u bytes; convert the "
                             "model again with this version's converter (%d, %zu)",
                             header->version, header->header_size, HEADER_VERSION, sizeof *header);
    }
    if (header->size != size) {
        return header_refuse(name,
                             "it has %zu bytes and says %llu: it is cut off or damaged; copy "
                             "or convert it again",
                             size, (unsigned long long)header->size);
    }
    uint32_t checksum = checksum_of(bytes, size);
    if (header->checksum != checksum) {
        return header_refuse(name,
                             "its checksum is %08x, not %08x as it says: it is damaged; copy "
                             "or convert it again",
                             checksum, header->checksum);
    }
    return check_ranges(header, name) != 0 ? -1 : check_relations(header, name);
}
