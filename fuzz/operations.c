/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine does with inputs that are operations (format.h): print, change, cross. libFuzzer
 * calls the first pair of functions. AFL++ calls the second, which it loads from a shared object
 * (AFL_CUSTOM_MUTATOR_LIBRARY). */
#include <stdlib.h>
#include <string.h>

#include "fuzz/format.h"
#include "fuzz/target.h"
#include "tests/random.h"

void fuzz_print(FILE *out, const uint8_t *data, size_t size) {
    struct format_input input;
    format_decode(&input, data, size);
    format_print(out, &input);
}

/* The first `most` bytes of an input, cut between operations where there are any. */
static size_t put(const struct format_input *input, uint8_t *data, size_t most) {
    uint8_t bytes[FORMAT_MOST];
    size_t size = format_encode(input, bytes);
    while (size > most && size > FORMAT_PROBLEM) {
        size -= FORMAT_OPERATION;
    }
    size = size < most ? size : most;
    memcpy(data, bytes, size);
    return size;
}

/* ---- libFuzzer ---- */

/* libFuzzer's own changes of bytes; another engine has none. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) __attribute__((weak));

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *other,
                                 size_t other_size, uint8_t *out, size_t most, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    unsigned long long random = seed;
    struct format_input input;
    if (LLVMFuzzerMutate != NULL && random_below(&random, 16) == 0) {
        return LLVMFuzzerMutate(data, size, most);
    }
    format_decode(&input, data, size);
    do {
        format_mutate(&input, &random);
    } while (random_below(&random, 2) == 0);
    return put(&input, data, most);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *other,
                                 size_t other_size, uint8_t *out, size_t most, unsigned seed) {
    unsigned long long random = seed;
    struct format_input input, second;
    format_decode(&input, one, one_size);
    format_decode(&second, other, other_size);
    format_cross(&input, &second, &random);
    return put(&input, out, most);
}

/* ---- AFL++ ---- */

struct afl_mutator {
    unsigned long long random;
    uint8_t bytes[FORMAT_MOST];
};

void *afl_custom_init(void *afl, unsigned seed);
void afl_custom_deinit(void *data);
size_t afl_custom_fuzz(void *data, uint8_t *bytes, size_t size, uint8_t **out, uint8_t *other,
                       size_t other_size, size_t most);

void *afl_custom_init(void *afl, unsigned seed) {
    struct afl_mutator *mutator = calloc(1, sizeof *mutator);
    (void)afl;
    if (mutator != NULL) {
        mutator->random = seed;
    }
    return mutator;
}

void afl_custom_deinit(void *data) {
    free(data);
}

size_t afl_custom_fuzz(void *data, uint8_t *bytes, size_t size, uint8_t **out, uint8_t *other,
                       size_t other_size, size_t most) {
    struct afl_mutator *mutator = data;
    struct format_input input, second;
    format_decode(&input, bytes, size);
    if (other != NULL && random_below(&mutator->random, 4) == 0) {
        format_decode(&second, other, other_size);
        format_cross(&input, &second, &mutator->random);
    }
    do {
        format_mutate(&input, &mutator->random);
    } while (random_below(&mutator->random, 2) == 0);
    *out = mutator->bytes;
    return put(&input, mutator->bytes, most);
}
