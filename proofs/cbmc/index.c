/* SPDX-License-Identifier: Apache-2.0 */
/* The index arithmetic of the kernels at the real sizes: pools of 2^20 chunks, 2^30 queries. For
 * each chunk size and head dimension in turn, and all else any. */
#include "kernels/index.h"

#include <limits.h>

#include "kernels/layout.h"
#include "model.h"

#define MOST_CHUNKS (1 << 20)
#define MOST_DEPTH  2048
#define MOST_HEADS  128

static int between(int low, int high) {
    int x = nondet_int();
    __CPROVER_assume(low <= x && x <= high);
    return x;
}

/* POOL-7: the slices of a pool lie one behind the other, chunk by chunk and head by head, and
 * within it. */
static void check_slices(int chunk_size, int head_dim, int n_kv_heads) {
    int chunk = between(0, MOST_CHUNKS - 1), kv_head = between(0, MOST_HEADS - 1);
    __CPROVER_assume(kv_head < n_kv_heads);
    struct cp_dims p = {n_kv_heads, n_kv_heads, head_dim, chunk_size};
    size_t of_slice = (size_t)chunk_size * (size_t)head_dim;
    size_t begin = cp_slice_begin(&p, chunk, kv_head);
    int last = kv_head == n_kv_heads - 1;
    size_t next = cp_slice_begin(&p, last ? chunk + 1 : chunk, last ? 0 : kv_head + 1);
    CHECK("POOL-7: the first slice begins the pool", chunk + kv_head > 0 || begin == 0);
    CHECK("POOL-7: the next one is behind it", next == begin + of_slice);
    REACH("elements beyond 2^31", begin > (size_t)INT_MAX);
    REACH("the next chunk", last && kv_head > 0);
}

/* WIDTH-2: the slots of an array with rows of any length lie one behind the other; of rows of d
 * numbers they are those of K. WIDTH-1: so do results of any width. */
static void check_widths(int chunk_size, int row, int n_kv_heads) {
    int chunk = between(0, MOST_CHUNKS - 1), kv_head = between(0, MOST_HEADS - 1);
    int slot = between(0, chunk_size - 1), head = between(0, MOST_HEADS - 1);
    __CPROVER_assume(kv_head < n_kv_heads && head < n_kv_heads);
    struct cp_dims p = {n_kv_heads, n_kv_heads, row, chunk_size};
    size_t begin = cp_slot_begin(&p, chunk, kv_head, slot, row);
    int ends = slot == chunk_size - 1, last = ends && kv_head == n_kv_heads - 1;
    size_t next = cp_slot_begin(&p, last ? chunk + 1 : chunk, last ? 0 : kv_head + ends,
                                ends ? 0 : slot + 1, row);
    CHECK("WIDTH-2: the next value is behind it", next == begin + (size_t)row);
    CHECK("WIDTH-2: in rows of d numbers values lie where keys do",
          begin == cp_slice_begin(&p, chunk, kv_head) + (size_t)slot * (size_t)row);
    CHECK("WIDTH-1: results of d numbers lie where queries do",
          cp_state_begin(&p, chunk, head, row) == cp_query_begin(&p, chunk, head));
    REACH("values beyond 2^31", begin > (size_t)INT_MAX);
    REACH("the first value of the next head", ends && !last);
}

/* NUM-18: scales of tokens lie one behind the other, where keys do, in [capacity][h_kv][c]; and a
 * K/V head, or the tensor, has one. */
static void check_scales(int chunk_size, int head_dim, int n_kv_heads) {
    int chunk = between(0, MOST_CHUNKS - 1), kv_head = between(0, MOST_HEADS - 1);
    int slot = between(0, chunk_size - 1), per = nondet_int();
    __CPROVER_assume(kv_head < n_kv_heads);
    struct cp_dims p = {n_kv_heads, n_kv_heads, head_dim, chunk_size};
    size_t at = cp_scale_at(&p, CP_CACHE_SCALE_TOKEN, chunk, kv_head, slot);
    CHECK("NUM-18: a token's scale is where its key is",
          at * (size_t)head_dim ==
              cp_slice_begin(&p, chunk, kv_head) + (size_t)slot * (size_t)head_dim);
    CHECK("NUM-18: a K/V head has one for all chunks",
          cp_scale_at(&p, CP_CACHE_SCALE_HEAD, chunk, kv_head, slot) == (size_t)kv_head);
    CHECK("NUM-18: a tensor has one", per == CP_CACHE_SCALE_HEAD || per == CP_CACHE_SCALE_TOKEN ||
                                          cp_scale_at(&p, per, chunk, kv_head, slot) == 0);
    REACH("scales beyond 2^31", at > (size_t)INT_MAX);
}

/* PREFILL-1: the same for query rows and heads, and for partial results. */
static void check_rows(int head_dim, int n_heads) {
    int row = between(0, CP_MOST_QUERIES - 1), head = between(0, MOST_HEADS - 1);
    __CPROVER_assume(head < n_heads);
    int last = head == n_heads - 1;
    struct cp_dims p = {n_heads, 1, head_dim, 1};
    int next_row = last ? row + 1 : row, next_head = last ? 0 : head + 1;
    CHECK("PREFILL-1: states one behind the other",
          cp_state_at(&p, next_row, next_head) == cp_state_at(&p, row, head) + 1);
    CHECK("PREFILL-1: rows one behind the other",
          cp_query_begin(&p, next_row, next_head) ==
              cp_query_begin(&p, row, head) + (size_t)head_dim);
}

/* TPP-1: the keys of a task, counted, are the slots of its chunks in turn: each once. */
static void check_keys(int chunk_size) {
    int n_chunks = between(1, MOST_DEPTH);
    int n_keys = n_chunks * chunk_size, j = between(0, MOST_DEPTH * 512 - 1);
    __CPROVER_assume(j < n_keys);
    int chunk = cp_chunk_of_key(j, chunk_size), slot = cp_slot_of_key(j, chunk_size);
    CHECK("TPP-1: a key is in a chunk of the task", 0 <= chunk && chunk < n_chunks);
    CHECK("TPP-1: in one of its slots", 0 <= slot && slot < chunk_size);
    CHECK("TPP-1: no other key is there", j == chunk * chunk_size + slot);
    REACH("the last key of the longest task", j == MOST_DEPTH * 512 - 1);
}

/* PREFILL-2, PREFILL-4: key `position + j` is seen exactly if it is not behind the query's own,
 * which may stand anywhere. */
static void check_visible(void) {
    int p = nondet_int(), position = between(0, 1 << 30);
    int n = between(0, 1 << 30), j = between(0, 1 << 30);
    int keys = cp_keys_from(p, position, n);
    CHECK("PREFILL-4: of so many keys", 0 <= keys && keys <= n);
    CHECK("PREFILL-2, PREFILL-4: exactly those that are not hidden",
          j >= n || (j < keys) == (position + j <= p));
    REACH("a row that sees no key", keys == 0 && n > 0 && p < 0);
    REACH("a row behind the last key", keys == n && p == INT_MAX);
    REACH("a chunk seen in part", 0 < keys && keys < n);
}

/* WINDOW-1, WINDOW-2: the same for any window: a key is in one of the two ranges exactly if it is
 * seen, and the ranges do not meet. */
static void check_window(void) {
    struct cp_window w = {between(0, CP_MAX_WINDOW), between(0, CP_MAX_WINDOW),
                          between(0, CP_MAX_WINDOW)};
    int p = nondet_int(), position = between(0, 1 << 30);
    int n = between(0, 1 << 30), j = between(0, 1 << 30);
    struct cp_keys_seen seen = cp_keys_seen_from(&w, p, position, n);
    long long t = (long long)position + j, own = p;
    int sees = t <= own + w.ahead && (w.keys == 0 || t > own - w.keys || t < w.kept);
    CHECK("WINDOW-2: ranges that do not meet, of so many keys",
          0 <= seen.kept && seen.kept <= seen.begin && seen.begin <= seen.end && seen.end <= n);
    CHECK("WINDOW-1, WINDOW-2: exactly the keys that are seen",
          j >= n || (cp_sees(&seen, j) != 0) == sees);
    CHECK("WINDOW-2: none at all", cp_sees_none(&seen) == 0 || j >= n || !sees);
    REACH("two ranges", 0 < seen.kept && seen.kept < seen.begin && seen.begin < seen.end);
    REACH("kept keys alone", 0 < seen.kept && seen.begin == seen.end);
    REACH("a row behind the last key", cp_sees_none(&seen) != 0 && n > 0 && p == INT_MAX);
    REACH("keys ahead of a row before the first", seen.begin < seen.end && p < 0);
}

/* MASK-1: a byte is its eight bits, the lowest one first, and holds no other. */
static void check_bits(void) {
    unsigned char bits[3] = {(unsigned char)between(0, 255), (unsigned char)between(0, 255),
                             (unsigned char)between(0, 255)};
    size_t byte = (size_t)between(0, 2);
    int value = 0;
    for (int k = 7; k >= 0; k--) {
        value = 2 * value + cp_bit(bits, 8 * byte + (size_t)k);
    }
    CHECK("MASK-1: a byte is its bits, the lowest one first", value == bits[byte]);
    REACH("a last byte of which no bit is 1", value == 0 && byte == 2);
}

/* TPP-5: the queries of a task and K/V head are its rows' heads of that group, each once. */
static void check_queries(int group) {
    int n_kv_heads = between(1, MOST_HEADS), kv_head = between(0, MOST_HEADS - 1);
    int rows = between(0, CP_MOST_QUERIES), x = between(0, CP_MOST_QUERIES - 1);
    __CPROVER_assume(kv_head < n_kv_heads && (long long)rows * group <= CP_MOST_QUERIES);
    __CPROVER_assume(x < rows * group);
    struct cp_dims p = {n_kv_heads * group, n_kv_heads, 1, 1};
    int row = cp_row_of_query(x, group), head = cp_head_of_query(x, group, kv_head);
    CHECK("TPP-5: a row of the task", 0 <= row && row < rows);
    CHECK("TPP-5: a head of the group",
          0 <= head && head < n_kv_heads * group && cp_kv_head_of(&p, head) == kv_head);
    CHECK("TPP-5: no other query is this", x == row * group + (head - kv_head * group));
}

/* TPP-1: the tiles of a grid's blocks are all tiles, each one block's: block i takes tile i, i +
 * blocks, ... */
static void check_tiles(int of_tile) {
    int things = between(0, CP_MOST_QUERIES), first = between(0, CP_MOST_QUERIES);
    int blocks = cp_blocks_for(things, of_tile);
    CHECK("TPP-1: a grid that a device takes", 0 <= blocks && blocks <= CP_MOST_GRID);
    CHECK("TPP-1: a block for the first tile", things == 0 || blocks > 0);
    CHECK("TPP-1: a tile of each block or blocks enough",
          blocks == CP_MOST_GRID || things <= blocks * of_tile);
    __CPROVER_assume(first < things && first % of_tile == 0);
    int next = cp_next_tile(first, of_tile, blocks);
    CHECK("TPP-1: the same block's next tile", next - first == of_tile * blocks && next > first);
    REACH("more tiles than blocks", next < things);
}

/* TPP-4: the layout of any limits with these heads and this cutting: nothing overflows, and there
 * is room. */
static void check_layout(int n_heads, int head_dim, int chunks_per_task) {
    struct cp_cuda_limits l = {nondet_int(), nondet_int(), nondet_int(), nondet_int(),
                               nondet_int(), n_heads,      head_dim,     chunks_per_task};
    struct cp_layout layout;
    if (cp_limit_out_of_range(&l) == NULL && cp_layout_measure(&layout, &l) == CP_OK) {
        size_t states = (size_t)layout.most_parts * (size_t)n_heads;
        CHECK("TPP-4: room for the schedule", layout.numbers >= layout.most_numbers * sizeof(int));
        CHECK("TPP-4: and for the states, m and n of each",
              layout.part_m >= states * sizeof(float) && layout.part_n >= states * sizeof(float));
        CHECK("TPP-4: and for their sums",
              layout.part_o >= states * (size_t)head_dim * sizeof(float));
        CHECK("TPP-4: aligned", layout.numbers % CP_WORKSPACE_ALIGNMENT == 0 &&
                                    layout.part_m % CP_WORKSPACE_ALIGNMENT == 0 &&
                                    layout.part_n % CP_WORKSPACE_ALIGNMENT == 0);
        CHECK("TPP-4: and no more",
              layout.total == layout.numbers + layout.part_m + layout.part_n + layout.part_o);
        REACH("a workspace beyond 2^40 bytes", layout.total > (size_t)1 << 40);
    }
}

int main(void) {
    static const int chunk_sizes[] = {5, 16, 64, 512};
    static const int head_dims[] = {64, 80, 128};
    static const int heads[] = {1, 5, 8, 32};
    for (int c = 0; c < 4; c++) {
        check_keys(chunk_sizes[c]);
        for (int d = 0; d < 3; d++) {
            check_slices(chunk_sizes[c], head_dims[d], heads[(c + d) % 4]);
        }
    }
    for (int h = 0; h < 4; h++) {
        check_queries(heads[h]);
        check_slices(64, 128, heads[h]);
        check_scales(h % 2 == 0 ? 64 : 512, 80, heads[h]);
        check_rows(128, heads[h]);
        check_rows(80, heads[h]);
    }
    check_widths(16, 576, 5);
    check_widths(64, 192, 8);
    check_visible();
    check_window();
    check_bits();
    check_tiles(1);
    check_tiles(16);
    check_tiles(32);
    check_tiles(64);
    check_layout(32, 128, 8);
    check_layout(128, 1024, 1);
    return 0;
}
