/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/search/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "chunkproof gate state 2"

/* ---- What it is the state of ---- */

/* A hash of a file's bytes. 0, or -1: the file cannot be read. */
static int digest_of(const char *name, unsigned long long *digest) {
    FILE *file = fopen(name, "rb");
    unsigned char bytes[4096];
    size_t n;
    *digest = 0xCBF29CE484222325ULL;
    if (file == NULL) {
        return -1;
    }
    while ((n = fread(bytes, 1, sizeof bytes, file)) > 0) {
        for (size_t i = 0; i < n; i++) {
            *digest = (*digest ^ bytes[i]) * 0x100000001B3ULL;
        }
    }
    int failed = ferror(file);
    (void)fclose(file);
    return failed ? -1 : 0;
}

static int identify(struct gate_state *s, const struct gate_options *o, int simulated) {
    unsigned long long digest;
    if (digest_of(o->kernel, &digest) != 0) {
        fprintf(stderr, "chunkproof gate: %s: %s\n", o->kernel, strerror(errno));
        return -1;
    }
    (void)snprintf(
        s->identity, sizeof s->identity,
        FORMAT "\nkernel %016llx, abi %d, result %zu\n"
               "tier %s, seed %llu, cases %lld, h %d, h_kv %d, d %d, c %d, group %d, b %d, rows "
               "%d, keys %d, executor %d\n",
        digest, CP_KERNEL_ABI, sizeof s->result, gate_tier_names[o->tier], o->seed, gate_cases(o),
        o->shape.n_heads, o->shape.n_kv_heads, o->shape.head_dim, o->shape.chunk_size,
        o->shape.group, o->shape.sequences, o->shape.rows, o->shape.keys, simulated);
    return 0;
}

/* ---- The file ---- */

static int cannot(const struct gate_state *s, const char *why) {
    fprintf(stderr, "chunkproof gate: --state %s: %s\n", s->file, why);
    return -1;
}

static int read_all(struct gate_state *s, FILE *file) {
    char identity[sizeof s->identity];
    size_t blocks = (size_t)s->blocks;
    if (fread(identity, sizeof identity, 1, file) != 1 ||
        memcmp(identity, FORMAT, sizeof FORMAT - 1) != 0) {
        return cannot(s, "it is not a file of --state; give another file");
    }
    if (memcmp(identity, s->identity, sizeof identity) != 0) {
        return cannot(s, "it belongs to another kernel, other options or another version of "
                         "chunkproof; remove it, or give another file");
    }
    if (fread(&s->result, sizeof s->result, 1, file) != 1 ||
        fread(s->done, 1, blocks, file) != blocks) {
        return cannot(s, "it is incomplete; remove it");
    }
    memset(&s->result.each, 0, sizeof s->result.each);
    memset(&s->result.usual, 0, sizeof s->result.usual);
    return 0;
}

int gate_state_open(struct gate_state *s, const struct gate_options *o, int simulated,
                    long long blocks) {
    memset(s, 0, sizeof *s);
    s->file = o->state;
    s->blocks = blocks;
    s->done = calloc((size_t)blocks + 1, 1);
    if (s->done == NULL) {
        fputs("chunkproof gate: not enough memory for so many cases\n", stderr);
        return -1;
    }
    if (s->file == NULL) {
        return 0;
    }
    if (identify(s, o, simulated) != 0) {
        return -1;
    }
    FILE *file = fopen(s->file, "rb");
    if (file == NULL) {
        return errno == ENOENT ? gate_state_save(s) : cannot(s, strerror(errno));
    }
    int result = read_all(s, file);
    (void)fclose(file);
    return result;
}

int gate_state_save(const struct gate_state *s) {
    char name[4096];
    size_t blocks = (size_t)s->blocks;
    if (s->file == NULL) {
        return 0;
    }
    if (snprintf(name, sizeof name, "%s.new", s->file) >= (int)sizeof name) {
        return cannot(s, "the name is too long");
    }
    FILE *file = fopen(name, "wb");
    if (file == NULL) {
        return cannot(s, strerror(errno));
    }
    int good = fwrite(s->identity, sizeof s->identity, 1, file) == 1 &&
               fwrite(&s->result, sizeof s->result, 1, file) == 1 &&
               fwrite(s->done, 1, blocks, file) == blocks;
    good = fclose(file) == 0 && good;
    return good && rename(name, s->file) == 0 ? 0 : cannot(s, strerror(errno));
}

void gate_state_free(struct gate_state *s) {
    free(s->done);
    s->done = NULL;
}
