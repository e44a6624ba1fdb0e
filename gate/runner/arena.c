/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* sysconf */

#include "gate/runner/arena.h"

#include <string.h>
#include <unistd.h>

#define ALIGNMENT ((size_t)64)

const char *const run_buffer_names[RUN_BUFFERS] = {
    "n_tokens",
    "query_begin",
    "position",
    "table",
    "table_tokens",
    "table_position",
    "page_table",
    "page_begin",
    "page_list",
    "last_page_tokens",
    "served",
    "shared",
    "n_shared_chunks",
    "part_begin",
    "q",
    "k",
    "v",
    "rotation",
    "mask_bits",
    "mask_first",
    "mask_begin",
    "slopes",
    "biases",
    "sinks",
    "k_scales",
    "v_scales",
    "o",
    "l",
    "n",
    "out",
    "lse",
    "workspace",
};

size_t run_page(void) {
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : 4096;
}

int run_read_only(int buffer) {
    return buffer < RUN_OUT;
}

int run_is_list(int buffer) {
    return buffer < RUN_Q;
}

static size_t round_up(size_t n, size_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

/* ---- Where buffers are ---- */

/* For each buffer, less than a page and less than the alignment may be lost. */
size_t run_arena_size(size_t bytes) {
    size_t page = run_page();
    size_t beside = RUN_BUFFERS * (page + ALIGNMENT) + (RUN_BUFFERS + 1) * RUN_GUARD;
    return bytes > SIZE_MAX / 2 - beside ? 0 : round_up(bytes + beside, page);
}

/* A call that merges has few arrays. */
static void get_parts(const struct cp_merge_call *call, const void *pointer[RUN_BUFFERS]) {
    memset(pointer, 0, RUN_BUFFERS * sizeof *pointer);
    pointer[RUN_PART_BEGIN] = call->part_begin;
    pointer[RUN_O] = call->o;
    pointer[RUN_L] = call->l;
    pointer[RUN_N] = call->n;
    pointer[RUN_OUT] = call->out;
    pointer[RUN_LSE] = call->lse;
    pointer[RUN_WORKSPACE] = call->workspace;
}

/* The pointers of a call, in the order of the buffers. */
static void get_pointers(const struct run_call *of, const void *pointer[RUN_BUFFERS]) {
    const struct cp_kernel_call *call = &of->call;
    if (of->merge != NULL) {
        get_parts(of->merge, pointer);
        return;
    }
    pointer[RUN_PART_BEGIN] = pointer[RUN_O] = pointer[RUN_L] = pointer[RUN_N] = NULL;
    pointer[RUN_N_TOKENS] = call->n_tokens;
    pointer[RUN_QUERY_BEGIN] = call->query_begin;
    pointer[RUN_POSITION] = call->position;
    pointer[RUN_TABLE] = call->table;
    pointer[RUN_TABLE_TOKENS] = call->table_tokens;
    pointer[RUN_TABLE_POSITION] = call->table_position;
    pointer[RUN_PAGE_TABLE] = call->page_table;
    pointer[RUN_PAGE_BEGIN] = call->page_begin;
    pointer[RUN_PAGE_LIST] = call->page_list;
    pointer[RUN_LAST_PAGE_TOKENS] = call->last_page_tokens;
    pointer[RUN_SERVED] = call->served;
    pointer[RUN_SHARED] = call->shared;
    pointer[RUN_N_SHARED_CHUNKS] = call->n_shared_chunks;
    pointer[RUN_Q] = call->q;
    pointer[RUN_K] = call->k;
    pointer[RUN_V] = call->v;
    pointer[RUN_ROTATION] = call->rotation;
    pointer[RUN_MASK_BITS] = call->mask_bits;
    pointer[RUN_MASK_FIRST] = call->mask_first;
    pointer[RUN_MASK_BEGIN] = call->mask_begin;
    pointer[RUN_SLOPES] = call->slopes;
    pointer[RUN_BIASES] = call->biases;
    pointer[RUN_SINKS] = call->sinks;
    pointer[RUN_K_SCALES] = call->k_scales;
    pointer[RUN_V_SCALES] = call->v_scales;
    pointer[RUN_OUT] = call->out;
    pointer[RUN_LSE] = call->lse;
    pointer[RUN_WORKSPACE] = call->workspace;
}

static void set_place(struct run_place *place, size_t from, size_t bytes, int at_end) {
    size_t aligned = round_up(bytes, ALIGNMENT);
    place->bytes = bytes;
    place->pages_begin = from;
    place->pages_end = from + round_up(aligned, run_page());
    place->begin = at_end ? place->pages_end - aligned : from;
}

/* A log-sum-exp that is not requested, a table of rotations that the kernel does not need, lists of
 * pages, a mask, slopes, biases, sinks and scales; of a merge, all that belongs to attention, and
 * the other way round. */
static int may_be_absent(const struct run_call *call, int b) {
    if (call->merge != NULL) {
        return b != RUN_O && b != RUN_L && b != RUN_OUT && b != RUN_WORKSPACE;
    }
    return b == RUN_PART_BEGIN || b == RUN_O || b == RUN_L || b == RUN_N || b == RUN_LSE ||
           b == RUN_ROTATION || b == RUN_SLOPES || b == RUN_BIASES || b == RUN_SINKS ||
           b == RUN_K_SCALES || b == RUN_V_SCALES || (b >= RUN_MASK_BITS && b <= RUN_MASK_BEGIN) ||
           (b >= RUN_PAGE_TABLE && b <= RUN_LAST_PAGE_TOKENS);
}

/* A buffer of 0 bytes has no page: its pointer is in the guard, where any access is detected.
 * What a call does not have is NULL. */
size_t run_layout_make(struct run_layout *layout, const struct run_call *call, size_t limit) {
    size_t from = RUN_GUARD, sum = 0;
    size_t workspace =
        call->merge != NULL ? call->merge->workspace_size : call->call.workspace_size;
    const void *pointer[RUN_BUFFERS];
    get_pointers(call, pointer);
    layout->at_end = call->at_end;
    for (int b = 0; b < RUN_BUFFERS; b++) {
        size_t bytes = b == RUN_WORKSPACE ? workspace : call->bytes[b];
        if (bytes > limit - sum) {
            return SIZE_MAX;
        }
        sum += bytes;
        set_place(&layout->place[b], from, bytes, call->at_end);
        layout->place[b].absent = pointer[b] == NULL && may_be_absent(call, b);
        from = layout->place[b].pages_end + RUN_GUARD;
    }
    return sum;
}

static void find_addresses(const struct run_layout *layout, unsigned char *arena,
                           void *pointer[RUN_BUFFERS]) {
    for (int b = 0; b < RUN_BUFFERS; b++) {
        int none = arena == NULL || layout->place[b].absent;
        pointer[b] = none ? NULL : arena + layout->place[b].begin;
    }
}

void run_layout_point(const struct run_layout *layout, unsigned char *arena,
                      struct cp_kernel_call *call) {
    void *pointer[RUN_BUFFERS];
    find_addresses(layout, arena, pointer);
    run_layout_set(pointer, call);
}

void run_layout_point_merge(const struct run_layout *layout, unsigned char *arena,
                            struct cp_merge_call *call) {
    void *pointer[RUN_BUFFERS];
    find_addresses(layout, arena, pointer);
    run_layout_set_merge(pointer, call);
}

void run_layout_set_merge(void *const pointer[RUN_BUFFERS], struct cp_merge_call *call) {
    call->part_begin = pointer[RUN_PART_BEGIN];
    call->o = pointer[RUN_O];
    call->l = pointer[RUN_L];
    call->n = pointer[RUN_N];
    call->out = pointer[RUN_OUT];
    call->lse = pointer[RUN_LSE];
    call->workspace = pointer[RUN_WORKSPACE];
}

void run_layout_set(void *const pointer[RUN_BUFFERS], struct cp_kernel_call *call) {
    call->n_tokens = pointer[RUN_N_TOKENS];
    call->query_begin = pointer[RUN_QUERY_BEGIN];
    call->position = pointer[RUN_POSITION];
    call->table = pointer[RUN_TABLE];
    call->table_tokens = pointer[RUN_TABLE_TOKENS];
    call->table_position = pointer[RUN_TABLE_POSITION];
    call->page_table = pointer[RUN_PAGE_TABLE];
    call->page_begin = pointer[RUN_PAGE_BEGIN];
    call->page_list = pointer[RUN_PAGE_LIST];
    call->last_page_tokens = pointer[RUN_LAST_PAGE_TOKENS];
    call->served = pointer[RUN_SERVED];
    call->shared = pointer[RUN_SHARED];
    call->n_shared_chunks = pointer[RUN_N_SHARED_CHUNKS];
    call->q = pointer[RUN_Q];
    call->k = pointer[RUN_K];
    call->v = pointer[RUN_V];
    call->rotation = pointer[RUN_ROTATION];
    call->mask_bits = pointer[RUN_MASK_BITS];
    call->mask_first = pointer[RUN_MASK_FIRST];
    call->mask_begin = pointer[RUN_MASK_BEGIN];
    call->slopes = pointer[RUN_SLOPES];
    call->biases = pointer[RUN_BIASES];
    call->sinks = pointer[RUN_SINKS];
    call->k_scales = pointer[RUN_K_SCALES];
    call->v_scales = pointer[RUN_V_SCALES];
    call->out = pointer[RUN_OUT];
    call->lse = pointer[RUN_LSE];
    call->workspace = pointer[RUN_WORKSPACE];
}

void run_join(struct cp_kernel_call *call, int tensors, size_t element) {
    if (call->k != NULL && tensors == CP_TENSORS_KEYS) {
        call->v = call->k;
    } else if (call->v_offset > 0 && call->k != NULL) {
        call->v = (const unsigned char *)call->k + (size_t)call->v_offset * element;
    }
}

/* How far it is from the buffer: 0 inside. */
static size_t distance(const struct run_place *place, size_t at) {
    if (at < place->begin) {
        return place->begin - at;
    }
    return at < place->begin + place->bytes ? 0 : at - (place->begin + place->bytes) + 1;
}

struct run_spot run_layout_nearest(const struct run_layout *layout, size_t at) {
    struct run_spot spot = {-1, 0, 0};
    size_t nearest = RUN_GUARD + 1;
    for (int b = 0; b < RUN_BUFFERS; b++) {
        const struct run_place *place = &layout->place[b];
        size_t far = distance(place, at);
        if (!place->absent && far < nearest) {
            nearest = far;
            spot.buffer = b;
            spot.offset = (long long)at - (long long)place->begin;
            spot.bytes = place->bytes;
        }
    }
    return spot;
}

/* ---- What is in them ---- */

void *run_result(const struct run_call *call, int buffer) {
    const struct cp_merge_call *merge = call->merge;
    return buffer == RUN_OUT ? (merge != NULL ? merge->out : call->call.out)
                             : (merge != NULL ? merge->lse : call->call.lse);
}

/* memcpy() and memcmp() do not accept NULL, even for 0 bytes. What is absent has none. */
static void copy(void *to, const void *from, size_t bytes) {
    if (bytes > 0 && from != NULL) {
        memcpy(to, from, bytes);
    }
}

void run_layout_fill(const struct run_layout *layout, unsigned char *arena,
                     const struct run_call *call) {
    const void *pointer[RUN_BUFFERS];
    get_pointers(call, pointer);
    for (int b = 0; b < RUN_BUFFERS; b++) {
        const struct run_place *place = &layout->place[b];
        size_t end = place->begin + place->bytes;
        memset(arena + place->pages_begin, call->poison, place->begin - place->pages_begin);
        memset(arena + end, call->poison, place->pages_end - end);
        if (run_read_only(b) || (call->in_place && (b == RUN_OUT || b == RUN_LSE))) {
            copy(arena + place->begin, pointer[b], place->bytes);
        } else {
            memset(arena + place->begin, call->poison, place->bytes);
        }
        if (b == RUN_WORKSPACE && call->other_begin < call->other_end) {
            memset(arena + place->begin + call->other_begin, call->poison ^ call->other_workspace,
                   call->other_end - call->other_begin);
        }
    }
}

/* The first byte in [from, to) that is not poison; `to` when all are. */
static size_t first_not(const unsigned char *arena, size_t from, size_t to, unsigned char poison) {
    while (from < to && arena[from] == poison) {
        from++;
    }
    return from;
}

static int input_changed(const struct run_place *place, const unsigned char *arena, const void *was,
                         struct run_spot *spot) {
    const unsigned char *now = arena + place->begin, *before = was;
    size_t i = 0;
    if (place->bytes == 0 || before == NULL || memcmp(now, before, place->bytes) == 0) {
        return -1;
    }
    while (i + 1 < place->bytes && now[i] == before[i]) {
        i++;
    }
    spot->offset = (long long)i;
    return 0;
}

static int gap_changed(const struct run_place *place, const unsigned char *arena,
                       unsigned char poison, struct run_spot *spot) {
    size_t end = place->begin + place->bytes;
    size_t at = first_not(arena, place->pages_begin, place->begin, poison);
    if (at == place->begin) {
        at = first_not(arena, end, place->pages_end, poison);
        if (at == place->pages_end) {
            return -1;
        }
    }
    spot->offset = (long long)at - (long long)place->begin;
    return 0;
}

int run_layout_changed(const struct run_layout *layout, const unsigned char *arena,
                       const struct run_call *call, struct run_spot *spot) {
    const void *pointer[RUN_BUFFERS];
    get_pointers(call, pointer);
    for (int gaps = 0; gaps < 2; gaps++) {
        for (int b = 0; b < RUN_BUFFERS; b++) {
            const struct run_place *place = &layout->place[b];
            spot->buffer = b;
            spot->bytes = place->bytes;
            if (gaps ? gap_changed(place, arena, call->poison, spot) == 0
                     : run_read_only(b) && input_changed(place, arena, pointer[b], spot) == 0) {
                return 0;
            }
        }
    }
    return -1;
}

void run_layout_take(const struct run_layout *layout, const unsigned char *arena,
                     const struct run_call *call) {
    const struct run_place *out = &layout->place[RUN_OUT], *lse = &layout->place[RUN_LSE];
    copy(run_result(call, RUN_OUT), arena + out->begin, out->bytes);
    copy(run_result(call, RUN_LSE), arena + lse->begin, lse->bytes);
}

/* The new h is a one-to-one function of the old one: an odd factor, and an invertible shift. */
static uint64_t hash_next(uint64_t h, uint64_t word) {
    h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 32;
}

uint64_t run_place_hash(const struct run_place *place, const unsigned char *arena) {
    /* Where the arena has nothing it may be NULL. */
    const unsigned char *from = place->bytes > 0 ? arena + place->begin : NULL;
    size_t rest = place->bytes % sizeof(uint64_t), whole = place->bytes - rest;
    uint64_t h = place->bytes, word = 0;
    for (size_t i = 0; i < whole; i += sizeof word) {
        memcpy(&word, from + i, sizeof word);
        h = hash_next(h, word);
    }
    if (rest > 0) {
        word = 0;
        memcpy(&word, from + whole, rest);
        h = hash_next(h, word);
    }
    return h;
}
