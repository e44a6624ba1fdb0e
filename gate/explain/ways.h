/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to do each stage, one line each: a name, and what the stage gives when it is done in
 * that way. Way 0 is the right one. A few ways whose stage needs more than an expression stand in
 * the enums of model.h.
 *
 *      WAY(SEES_MORE, n + by)
 *
 * is a name of enum explain_sees, and `case SEES_MORE: return n + by;` in model_keys.c: there
 * `by` is the field of struct explain_choice, and n how many keys the row must see. Above each list
 * stand its variables. Entries of the tables in mistakes_*.c name ways. */
#ifndef CHUNKPROOF_GATE_EXPLAIN_WAYS_H
#define CHUNKPROOF_GATE_EXPLAIN_WAYS_H

/* clang-format off */

#define EXPLAIN_NAME(name, ...)   name,
#define EXPLAIN_CASE(name, value) case name: return (value);
#define EXPLAIN_GET(name, ...)    case name: got = (__typeof__(got)){__VA_ARGS__}; break;

/* ---- 1: how many keys ---- */

/* A row sees n of `all` keys of its sequence, and `shared` keys are in shared chunks; it is row
 * `row` of that sequence, whose row r sees seen(r) keys. Its tile of query rows and heads is from
 * row `first` to row `last`. The sequence of its path has `there` keys, and the row would be
 * `behind` rows before the last row there. */
#define EXPLAIN_SEES(WAY) \
    WAY(SEES_OWN, n) \
    WAY(SEES_MORE, n + by)                  /* also where there is none */ \
    WAY(SEES_MORE_THERE, least(n + by, all)) \
    WAY(SEES_ALL, all) \
    WAY(SEES_ALL_BEHIND, row >= by ? all : n) \
    WAY(SEES_FEWER, n == all ? all : most(n - by, 0)) \
    WAY(SEES_FROM_FIRST, row + 1)           /* row 0 of a sequence sees one, row 1 two, ... */ \
    WAY(SEES_WHOLE_CHUNK, (n + c - 1) / c * c) \
    WAY(SEES_SHARED, most(shared, n)) \
    WAY(SEES_FIRST_BLOCK, seen(row % by))   /* each block of query rows is the first one */ \
    WAY(SEES_AS_FIRST, seen(first)) \
    WAY(SEES_AS_LAST, most(seen(last) / keys * keys, n))    /* in whole blocks of keys */ \
    WAY(SEES_AS_LONG, there) \
    WAY(SEES_AS_THERE, there - behind) \
    WAY(SEES_LENGTH_OF, most(least(there - (all - n), all), 0)) /* but its own keys */

/* ---- 2: whose path, and how a key's number leads to its chunk and slot ---- */

/* The row is of sequence s. */
#define EXPLAIN_WHOSE(WAY) \
    WAY(OWN_SEQUENCE, s) \
    WAY(SEQUENCE, number) \
    WAY(SEQUENCE_BY, s + number) \
    WAY(SEQUENCE_MODULO, s % number)

/* Key j is in slot `slot` of chunk i of the path, which is path(i) of the pool; it is in a tile of
 * `by` keys that begins with key `first`; key j + by is key `next`. The row sees keys of `chunks`
 * chunks. A way gives the chunk of the pool, and the slot. */
#define EXPLAIN_PATH(WAY) \
    WAY(PATH_OWN, path(i), slot) \
    WAY(PATH_POOL, i < capacity ? i : -1, slot) \
    WAY(PATH_SHIFTED, path(i + by), slot) \
    WAY(PATH_ROTATED, path((i + by + chunks) % chunks), slot) \
    WAY(PATH_TURNED, path(chunks - 1 - i), slot) \
    WAY(PATH_FIRST, path(0), slot) \
    WAY(PATH_CHUNK, path(i == by ? to : i), slot) \
    WAY(PATH_ANY, i == by ? to : path(i), slot) \
    WAY(PATH_MODULO, path(i) % by, slot) \
    WAY(PATH_NEXT_KEY, path(next / c), slot) \
    WAY(PATH_KEY, path(next / c), next % c) \
    WAY(PATH_KEY_MODULO, path(j % by / c), j % by % c) \
    WAY(PATH_SIZE, to == 2 ? path(i) : path(j / by), to == 1 ? slot : j % by) /* c is `by` */ \
    WAY(PATH_MASK, path(i), j & (c - 1)) \
    WAY(PATH_SLOT_MODULO, path(i), slot % by) \
    WAY(PATH_TILE, path(first / c), slot) \
    WAY(PATH_PIECE, path(first / c), first % c + j % by) \
    WAY(PATH_TABLE_WIDTH, path_by_width(x, s, i, by), slot)

/* ---- Runs, in place of 1 and 2: prompts with modules (RUNS-1 to RUNS-4) ---- */

/* Run k of a list of `runs` runs: it has `tokens` keys, of at most c, and begins at position
 * `begins`; `before` keys are in the runs before it. The row stands at position p, and `behind`
 * rows of its sequence are behind it, which has `all` keys and the rows
 * `first` to `last` of n_rows. A way gives how many keys the run has, its position, and where the
 * row stands. */
#define EXPLAIN_OF_RUNS(WAY) \
    WAY(RUNS_OWN, tokens, begins, p) \
    WAY(RUNS_FULL, c, begins, p) \
    WAY(RUNS_FULL_BUT_LAST, k == runs - 1 ? tokens : c, begins, p) \
    WAY(RUNS_BY_LENGTH, least(most(all - k * c, 0), c), begins, p) \
    WAY(RUNS_WHOLE, tokens, 0, INT_MAX - 1) \
    WAY(RUNS_WHOLE_IF_SEEN, p < begins ? 0 : tokens, 0, INT_MAX - 1) \
    WAY(RUNS_WITHOUT_GAPS, tokens, before, p) \
    WAY(RUNS_AT_RANK, tokens, begins, all - behind - 1) \
    WAY(RUNS_BY_RANK, tokens, before, all - behind - 1)    /* both */ \
    WAY(RUNS_AS_CHUNKS, tokens, k * c, p) \
    WAY(RUNS_AS_PATH, least(most(all - k * c, 0), c), k * c, all - behind - 1) \
    WAY(RUNS_AS_PATH_TO_POSITION, least(most(all - k * c, 0), c), k * c, p) \
    WAY(RUNS_BY, tokens, begins, p + by) \
    WAY(RUNS_AT_ROW_0, tokens, begins, position[0]) \
    WAY(RUNS_AT_FIRST_ROW, tokens, begins, position[first]) \
    WAY(RUNS_AT_LAST_ROW, tokens, begins, position[last]) \
    WAY(RUNS_AT_ROW_OF_NUMBER, tokens, begins, position[least(x->s, n_rows - 1)])

/* Where a kernel takes windows (WINDOW-1), chunks of a path are runs, too. The row stands at p, the
 * last row of its sequence at `last`. A way gives the window, what is kept beside it, how far the
 * row sees ahead, and from where the window reaches back. NO_WINDOW reaches back to the first. */
#define EXPLAIN_MASKS(WAY) \
    WAY(MASK_OWN, window, kept, ahead, p) \
    WAY(MASK_WINDOW_BY, window < NO_WINDOW ? window + by : window, kept, ahead, p) \
    WAY(MASK_NO_WINDOW, NO_WINDOW, kept, ahead, p) \
    WAY(MASK_NOT_KEPT, window, 0, ahead, p) \
    WAY(MASK_KEPT_BY, window, kept + by, ahead, p) \
    WAY(MASK_KEPT_COUNTED, most(window - kept, 1), kept, ahead, p) \
    WAY(MASK_CAUSAL, window, kept, 0, p) \
    WAY(MASK_AHEAD_BY, window, kept, most(ahead + by, 0), p) \
    WAY(MASK_FROM_LAST, window, kept, ahead, last) \
    WAY(MASK_FROM_END, window, kept, ahead, p + ahead) /* of all keys that it sees */

/* Of a mask (MASK-1): where a row's bits begin, bit i of a key at position t in slot `slot`, and
 * whether 1 takes a key away. Rows are `row` of n_rows. */
#define EXPLAIN_BITS(WAY) \
    WAY(BITS_OWN, begin, first + (t - begin), 0) \
    WAY(BITS_NONE, INT_MAX, first, 0) \
    WAY(BITS_INVERTED, begin, first + (t - begin), 1) \
    WAY(BITS_FROM_HIGH, begin, (first + (t - begin)) ^ 7, 0) \
    WAY(BITS_BY, begin, first + (t - begin) + by, 0) \
    WAY(BITS_FROM_0, begin, first + t, 0) \
    WAY(BITS_ALL_ARE, INT_MIN, t < begin ? -1 : first + (t - begin), 0) /* none before begin */ \
    WAY(BITS_OF_ROW, begin, of(row + by) + (t - begin), 0) \
    WAY(BITS_OF_FIRST_ROW, begin, of(first_row) + (t - begin), 0) \
    WAY(BITS_OF_SLOT, begin, first + slot, 0) \
    WAY(BITS_BY_BYTES, begin, first / 8 * 8 + (t - begin), 0) \
    WAY(BITS_ENDS_OF_32, begin, t - begin >= by ? -2 : first + (t - begin), 0)

/* How often run k is counted: it is one of a descriptor if it is below `shared`. Run
 * first_behind is the first one that begins behind the row, and first_partial the first one that is
 * no full chunk; by position it is number `rank`. The sequence is
 * number first_served of those that its descriptor serves, and number last_served when they are
 * counted from the last one on. */
#define EXPLAIN_COUNTS(WAY) \
    WAY(COUNTS_EACH, 1) \
    WAY(COUNTS_OWN, k >= shared) \
    WAY(COUNTS_SHARED, k < shared) \
    WAY(COUNTS_AT, k == at ? times : 1) \
    WAY(COUNTS_FROM_LAST, runs - 1 - k == at ? times : 1) \
    WAY(COUNTS_FROM_SHARED, k - shared == at ? times : 1) \
    WAY(COUNTS_AT_RANK, rank == at ? times : 1) \
    WAY(COUNTS_AT_LAST_RANK, runs - 1 - rank == at ? times : 1) \
    WAY(COUNTS_TO_FIRST_BEHIND, k < first_behind) \
    WAY(COUNTS_TO_FIRST_PARTIAL, k <= first_partial) \
    WAY(COUNTS_BEFORE_FIRST_PARTIAL, k < first_partial) \
    WAY(COUNTS_BY_LENGTH, k < (all + c - 1) / c) \
    WAY(COUNTS_BY_LENGTH_DOWN, k < all / c) \
    WAY(COUNTS_NOT_FIRST_SERVED, k >= shared || first_served > 0) \
    WAY(COUNTS_NOT_LAST_SERVED, k >= shared || last_served > 0)

/* Of which run of the list it has the chunk. */
#define EXPLAIN_CHUNKS(WAY) \
    WAY(CHUNKS_OWN, k) \
    WAY(CHUNKS_TURNED, runs - 1 - k) \
    WAY(CHUNKS_NEXT, (k + 1) % runs) \
    WAY(CHUNKS_BEFORE, (k + runs - 1) % runs) \
    WAY(CHUNKS_BY_POSITION, at_rank(x, k)) \
    WAY(CHUNKS_FIRST, 0)

/* ---- 3: the K/V head, and the place of a key ---- */

/* Query head `head` has K/V head g of n_kv. */
#define EXPLAIN_HEAD(WAY) \
    WAY(HEAD_OWN, g) \
    WAY(HEAD_MODULO, head % n_kv) \
    WAY(HEAD_FIRST, 0) \
    WAY(HEAD_LAST, n_kv - 1) \
    WAY(HEAD_BY_H_KV, head / n_kv) \
    WAY(HEAD_NEXT, (g + 1) % n_kv) \
    WAY(HEAD_QUERY, least(head, n_kv - 1)) \
    WAY(HEAD_NUMBER, number) \
    WAY(HEAD_WRAPS, g % number)

/* Whether the numbers come from V (is_v: they should), and the strides of chunk, head and slot:
 * those of the array, of the other one, of K and of V; then how far behind. d and other_d are the
 * widths of both: nowhere, if they are the same (CONV-13). */
#define EXPLAIN_PLACE(WAY) \
    WAY(PLACE_OWN, is_v, own.chunk, own.head, own.slot, 0) \
    WAY(PLACE_SWAPPED, is_v, own.chunk, own.slot, own.head, 0) \
    WAY(PLACE_OTHERS, is_v, other.chunk, other.head, other.slot, 0) \
    WAY(PLACE_OTHERS_CHUNK, is_v, other.chunk, own.head, own.slot, 0) \
    WAY(PLACE_OTHERS_HEAD, is_v, own.chunk, other.head, own.slot, 0) \
    WAY(PLACE_OTHERS_SLOT, is_v, own.chunk, own.head, other.slot, 0) \
    WAY(PLACE_HEADS, is_v, n_kv * c * d, c * d, d, 0) \
    WAY(PLACE_SLOTS, is_v, c * n_kv * d, d, n_kv * d, 0) \
    WAY(PLACE_SLOT_D, is_v, own.chunk, own.head, d, 0) \
    WAY(PLACE_CHUNK_D, is_v, n_kv * c * d, own.head, own.slot, 0) \
    WAY(PLACE_OTHER_WIDTH, is_v, n_kv * c * other_d, c * other_d, other_d, not_if_same) \
    WAY(PLACE_SLOT_OTHER_WIDTH, is_v, own.chunk, own.head, other_d, not_if_same) \
    WAY(PLACE_K_FOR_V, 0, of_k.chunk, of_k.head, of_k.slot, 0) \
    WAY(PLACE_K_FOR_V_THERE, 0, own.chunk, own.head, own.slot, 0) \
    WAY(PLACE_V_FOR_K, 1, of_v.chunk, of_v.head, of_v.slot, 0) \
    WAY(PLACE_EXCHANGED, !is_v, other.chunk, other.head, other.slot, 0) \
    WAY(PLACE_END_OF_KEY, is_v, own.chunk, own.head, own.slot, is_v ? x->d - x->d_v : 0)

/* ---- 6: keys that are rotated when they are read (GATE-14) ---- */

/* Key j, in slot `slot` of a run at `begins`, stands at `position` and must be rotated by row
 * `angle` of the table; `number` keys of the sequence stand before it, of which the query row, at
 * `stands`, sees `seen`. `first` is the position of the first descriptor or run that has the key's
 * chunk. A way gives the row, how often it is rotated, and what else is otherwise
 * (model_rotate.c). */
#define EXPLAIN_ROTATIONS(WAY) \
    WAY(ROTATED_OWN, angle, 1, AS_IT_IS) \
    WAY(ROTATED_NOT, angle, 0, AS_IT_IS) \
    WAY(ROTATED_TWICE, angle, 2, AS_IT_IS) \
    WAY(ROTATED_BACK, angle, 1, TURN_BACK) \
    WAY(ROTATED_BY_POSITION, position, 1, AS_IT_IS) \
    WAY(ROTATED_BY_RUN, begins, 1, AS_IT_IS) \
    WAY(ROTATED_BY_SLOT, slot, 1, AS_IT_IS) \
    WAY(ROTATED_BY_NUMBER, number, 1, AS_IT_IS) \
    WAY(ROTATED_BY_ROW, stands, 1, AS_IT_IS) \
    WAY(ROTATED_BY_DISTANCE, stands - position, 1, AS_IT_IS) \
    WAY(ROTATED_AS_FIRST, first + angle - begins, 1, AS_IT_IS) \
    WAY(ROTATED_BY, angle + by, 1, AS_IT_IS) \
    WAY(ROTATED_BY_TILE, angle - slot % by, 1, AS_IT_IS) \
    WAY(ROTATED_NOT_BY_0, angle, angle > 0, AS_IT_IS) \
    WAY(ROTATED_NOT_LAST, angle, number + 1 < seen, AS_IT_IS) \
    WAY(ROTATED_MODULO, angle % by, 1, AS_IT_IS) \
    WAY(ROTATED_AT_MOST, least(angle, by), 1, AS_IT_IS) \
    WAY(ROTATED_OTHER_PAIRS, angle, 1, OTHER_PAIRS) \
    WAY(ROTATED_OVER_D, angle, 1, OVER_D) \
    WAY(ROTATED_SWAPPED, angle, 1, SINES_FIRST) \
    WAY(ROTATED_INTERLEAVED, angle, 1, IN_TURN) \
    WAY(ROTATED_FIRST_NUMBER, angle, 1, FIRST_ALONE) \
    WAY(ROTATED_IN_PLACE, angle, 1, IN_PLACE) \
    WAY(ROTATED_BY_FIRST_PAIR, angle, 1, ONE_PAIR) \
    WAY(ROTATED_STRIDE_D, angle, 1, STRIDE_D)

/* ---- 4: keys that are counted so many times ---- */

/* Key j of n, in slot `slot` of chunk `chunk` of the path; `shared` keys are in shared chunks. Of
 * the n_in_range sequences that share the chunk this one is number first_in_range, and number
 * last_in_range when they are counted from the last one on. */
#define EXPLAIN_SELECT(WAY) \
    WAY(SELECT_NONE, 0) \
    WAY(SELECT_AT, a <= j && j < b) \
    WAY(SELECT_FROM_END, n - a <= j && j < n - b) \
    WAY(SELECT_BETWEEN, a <= j && j < n - b) \
    WAY(SELECT_CHUNK, chunk == a) \
    WAY(SELECT_LAST_CHUNK, chunk == (n - 1) / c) \
    WAY(SELECT_OWN, j >= shared) \
    WAY(SELECT_SHARED, j < shared) \
    WAY(SELECT_FIRST_SHARED, j < shared && chunk == 0) \
    WAY(SELECT_LAST_SHARED, j < shared && j >= shared - c) \
    WAY(SELECT_SHARED_FROM, j < shared && chunk >= a) \
    WAY(SELECT_ENDS_OF_SHARED, j < shared && slot == c - 1) \
    WAY(SELECT_BEGIN_OF_RANGE, j < shared && first_in_range == 0) \
    WAY(SELECT_END_OF_RANGE, j < shared && last_in_range == 0) \
    WAY(SELECT_LEFT_OF_RANGE, j < shared && last_in_range < n_in_range % a) \
    WAY(SELECT_BEHIND, j >= n / a * a)          /* the last multiple of a; */ \
    WAY(SELECT_BEHIND_IF_MORE, n >= a && j >= n / a * a) \
    WAY(SELECT_BEHIND_IN_CHUNKS, slot >= least(n - chunk * c, c) / a * a) \
    WAY(SELECT_ALONE_IN_TILE, j == n - 1 && j > 0 && j % a == 0) \
    WAY(SELECT_FILLS_TILE, j == n - 1 && n % a == 0) \
    WAY(SELECT_FILLS_CHUNK, j == n - 1 && slot == c - 1) \
    WAY(SELECT_BEHIND_FILL, slot >= fill)       /* as many as the path's last chunk has */ \
    WAY(SELECT_FIRST_TILE, j < a) \
    WAY(SELECT_LAST_TILE, j >= (n - 1) / a * a) \
    WAY(SELECT_OF_EACH, b <= j % a && j % a < b + width) \
    WAY(SELECT_PART, is_of_part(x, &choice->parts, a, j) == 1)  /* part a, -1 the last; */ \
    WAY(SELECT_NOT_PART, is_of_part(x, &choice->parts, a, j) == 0) \
    WAY(SELECT_FIRST_OF_PARTS, j > 0 && is_border(x, &choice->parts, j - 1)) \
    WAY(SELECT_LAST_OF_PARTS, j < n - 1 && is_border(x, &choice->parts, j))

/* ---- 4, 7: parts of a row's keys that are weighed by themselves ---- */

/* The part of key j of m, in chunk `chunk` of the path, or run of the list, of which the first
 * n_shared are shared. They are `tiles` tiles of `tile` keys; at most n splits, or n warps that
 * take tiles in turn. And its words, t and n as in mistakes.h. */
#define EXPLAIN_PARTS(WAY) \
    WAY(PART_WHOLE, 0, "the keys") \
    WAY(PART_CHUNKS, chunk, "the chunks") \
    WAY(PART_SHARED, j >= shared && shared > 0, "the shared chunks and the sequence's own") \
    WAY(PART_SHARED_CHUNKS, least(chunk, n_shared), "each shared chunk and the sequence's own") \
    WAY(PART_HALVES, j >= (m + 1) / 2, "both halves of the keys") \
    WAY(PART_TILES, j / tile, "splits of {t} keys") \
    WAY(PART_HALVES_OF_TILES, m > tile && j >= tiles / 2 * tile, \
         "both halves of the keys (the first one of whole tiles of {t})") \
    WAY(PART_SPLITS, j / (((m + n - 1) / n + tile - 1) / tile * tile), \
         "up to {n} splits (each of a multiple of {t key})") \
    WAY(PART_WARPS, j / tile % n, "{n} warps, which take tiles of {t key} in turn")

/* ---- 5: the query ---- */

/* Row `row` and head `head` of h, of sequence s that has rows `begin` to `end`, and of K/V head g.
 * `across` is the pair's number in [head][row]. Its tile of rows and heads has it at row_in_tile,
 * head_in_tile. And the strides of both. */
#define EXPLAIN_QUERY(WAY) \
    WAY(QUERY_OWN, row, head, of_row, of_head) \
    WAY(QUERY_BY, row + choice->query.row, head + choice->query.head, of_row, of_head) \
    WAY(QUERY_OF_SEQUENCE, s, head, of_row, of_head) \
    WAY(QUERY_FIRST_ROW, begin, head, of_row, of_head) \
    WAY(QUERY_LAST_ROW, end - 1, head, of_row, of_head) \
    WAY(QUERY_IN_SEQUENCE, row - begin, head, of_row, of_head) \
    WAY(QUERY_OF_KV_HEAD, row, g, of_row, of_head) \
    WAY(QUERY_TRANSPOSED, across / h, across % h, of_row, of_head) \
    WAY(QUERY_HEAD_WRAPS, row, head % choice->query.head, of_row, of_head) \
    WAY(QUERY_FROM_TILE, begin + row_in_tile, g * group + head_in_tile, of_row, of_head) \
    WAY(QUERY_STRIDES, row, head, of_head, of_row)  /* row and head strides swapped */ \
    WAY(QUERY_PACKED, row, head, h * d, d)  /* in one piece, [row][head] */

/* Element i of the query, of d: whether it is counted 2 * times; which one is taken for it; by what
 * it is multiplied where it is rounded, 0 where it is not; and the group of elements that have
 * scores of their own products alone. */
#define EXPLAIN_ELEMENTS(WAY) \
    WAY(ELEMENTS_ALL, 0, i, 0.0, 0) \
    WAY(ELEMENTS_FROM_TO, a <= i && i < b, i, 0.0, 0) \
    WAY(ELEMENTS_EVERY, i % a == b, i, 0.0, 0) \
    WAY(ELEMENTS_LAST, i >= d - a, i, 0.0, 0) \
    WAY(ELEMENTS_BEHIND, (d >= a || b) && i >= d / a * a, i, 0.0, 0) \
    WAY(ELEMENTS_BEHIND_VALUE, i >= x->d_v, i, 0.0, 0)  /* as in CP_TENSORS_KEYS */ \
    WAY(ELEMENTS_SCALED, 0, i, scale, 0) \
    WAY(ELEMENTS_ROUNDED, 0, i, 1.0, 0) \
    WAY(ELEMENTS_SCALED_BITS, 0, i, scale * LOG2_E, 0) \
    WAY(ELEMENTS_PAIRS, 0, i ^ 1, 0.0, 0) \
    WAY(ELEMENTS_HALVES, 0, (i + d / 2) % d, 0.0, 0) \
    WAY(ELEMENTS_BACKWARDS, 0, d - 1 - i, 0.0, 0) \
    WAY(ELEMENTS_MAGNITUDES, 0, i, 0.0, 0)  /* of products with K */ \
    WAY(ELEMENTS_BLOCKS, 0, i, 0.0, i / a) \
    WAY(ELEMENTS_RESTS, 0, i, 0.0, i % a) \
    WAY(ELEMENTS_BITS, 0, i, 0.0, (i & a) != 0)

/* ---- 6: caches of 8 bits ---- */

/* By what number x of a key in a slot of a chunk, for K/V head g, is multiplied; `scale` is the
 * right one. of(chunk, head, slot) is that of another place, NaN where there is none; other() the
 * same of V for K, and of K for V. */
#define EXPLAIN_DEQUANTISES(WAY) \
    WAY(DEQUANTISE_OWN, scale) \
    WAY(DEQUANTISE_NOT, 1.0) \
    WAY(DEQUANTISE_TWICE, scale * scale) \
    WAY(DEQUANTISE_INVERSE, 1.0 / scale) \
    WAY(DEQUANTISE_OF_OTHER_ARRAY, other(chunk, g, slot)) \
    WAY(DEQUANTISE_OF_FIRST, of(0, 0, 0)) \
    WAY(DEQUANTISE_OF_FIRST_HEAD, of(chunk, 0, slot)) \
    WAY(DEQUANTISE_OF_QUERY_HEAD, of(chunk, x->head % heads, slot)) \
    WAY(DEQUANTISE_OF_FIRST_SLOT, of(chunk, g, 0)) \
    WAY(DEQUANTISE_OF_FIRST_CHUNK, of(0, g, slot)) \
    WAY(DEQUANTISE_OF_KEY_NUMBER, of(0, 0, j)) \
    WAY(DEQUANTISE_BY_SLOT, of(chunk, g, slot + by)) \
    WAY(DEQUANTISE_BY_HEAD, of(chunk, g + by, slot)) \
    WAY(DEQUANTISE_OF_POWER, exp2(floor(log2(scale)))) \
    WAY(DEQUANTISE_HALF, 0.5 * scale)       /* E4M3 as FNUZ has it */ \
    WAY(DEQUANTISE_DOUBLE, 2.0 * scale)

/* ---- 6: the score ---- */

/* By what it is multiplied, of heads with d elements, ... */
#define EXPLAIN_SCALES(WAY) \
    WAY(SCORE_UNSCALED, 1.0 / scale) \
    WAY(SCORE_TWICE, scale) \
    WAY(SCORE_LOG2_E, LOG2_E) \
    WAY(SCORE_LN_2, LN_2) \
    WAY(SCORE_ROOT_OF_D, 1.0 / (sqrt(d) * scale)) \
    WAY(SCORE_ROOT_OF_D_V, x->d_v == x->d ? 1.0 : 1.0 / (sqrt(x->d_v) * scale)) \
    WAY(SCORE_ROOT_OF_REST, x->d_v >= x->d ? 1.0 : 1.0 / (sqrt(x->d - x->d_v) * scale)) \
    WAY(SCORE_PART_OF_D, 1.0 / (d * scale)) \
    WAY(SCORE_ROOT_OF_SCALE, 1.0 / sqrt(scale)) \
    WAY(SCORE_TIMES, by) \
    WAY(SCORE_OVER, 1.0 / by) \
    WAY(SCORE_NEGATIVE, -1.0) \
    WAY(SCORE_OF_D, 1.0 / (sqrt(by) * scale)) \
    WAY(SCORE_OF_POWER, 1.0 / (sqrt(exp2(ceil(log2(d)))) * scale)) \
    WAY(SCORE_OF_MULTIPLE, 1.0 / (sqrt(by * ceil(d / by)) * scale)) \
    WAY(SCORE_OF_CHUNK, 1.0 / (sqrt(x->c) * scale)) \
    WAY(SCORE_OF_HEADS, 1.0 / (sqrt(d * h) * scale)) \
    WAY(SCORE_ROUNDED_SCALE, gate_round(type, scale) / scale) \
    WAY(SCORE_ROUNDED_SCALE_BITS, gate_round(type, scale * LOG2_E) / (scale * LOG2_E))

/* ... or what becomes of score s of key j, which is `distance` keys before the last one; slope is
 * that of the head, before the one before key j's score. */
#define EXPLAIN_BENDS(WAY) \
    WAY(SCORE_ADDED_UP, s + before) \
    WAY(SCORE_ROUNDED, gate_round(type, s)) \
    WAY(SCORE_ROUNDED_BITS, gate_round(type, s * LOG2_E) / LOG2_E) \
    WAY(SCORE_CAPPED, by * tanh(s / by)) \
    WAY(SCORE_AT_MOST, fmin(s, by)) \
    WAY(SCORE_MAGNITUDE, fabs(s)) \
    WAY(SCORE_NOT_BELOW_0, fmax(s, 0.0)) \
    WAY(SCORE_LESS_BY_DISTANCE, s - slope * distance) \
    WAY(SCORE_MORE_BY_DISTANCE, s + slope * distance) \
    WAY(SCORE_MORE_BY_POSITION, s + slope * j)

/* ... and what becomes of it by SCORE-1 to SCORE-4, of key j at position t for a row at p:
 * change(b) is with the bias b, in the kernel's order. s is what is capped, and `rest` what is
 * added then: the bias comes before the cap, or behind it. It is slope * distance, or of a table
 * (ways_biases.h). slope_of() is the slope of another head, of `group` heads of a K/V head. The
 * last row of the sequence is at `last`, its last key at `end`. */
#define EXPLAIN_CHANGES(WAY) \
    WAY(CHANGE_OWN, change(bias)) \
    WAY(CHANGE_NO_CAP, s + rest) \
    WAY(CHANGE_CUT_OFF, fmax(-cap, fmin(s, cap)) + rest) \
    WAY(CHANGE_NOT_DIVIDED, cap * tanh(s) + rest) \
    WAY(CHANGE_NOT_MULTIPLIED, tanh(s / cap) + rest) \
    WAY(CHANGE_BEFORE_SCALE, scale * cap * tanh(s / scale / cap) + rest) \
    WAY(CHANGE_SCALED_TWICE, cap * tanh(scale * s / cap) + rest) \
    WAY(CHANGE_CAPPED_TWICE, cap * tanh(tanh(s / cap)) + rest) \
    WAY(CHANGE_BITS_CAPPED, cap * tanh(LOG2_E * s / cap) / LOG2_E + rest) \
    WAY(CHANGE_CAP_IN_BITS, cap * tanh(s / cap) / LOG2_E + rest) \
    WAY(CHANGE_OF_BITS, cap * tanh(LOG2_E * s / cap) + rest) \
    WAY(CHANGE_HALF, cap * tanh(0.5 * s / cap) + rest) \
    WAY(CHANGE_WHOLE_CAP, rest + (trunc(cap) > 0.0 ? trunc(cap) * tanh(s / trunc(cap)) : s)) \
    WAY(CHANGE_OTHER_ORDER, other_order) \
    WAY(CHANGE_MASKED_TO_CAP, is_masked(x, j) ? -cap : change(bias)) \
    WAY(CHANGE_NO_BIAS, change(0.0)) \
    WAY(CHANGE_BIAS_SIGN, change(-bias)) \
    WAY(CHANGE_BIAS_TWICE, change(2.0 * bias)) \
    WAY(CHANGE_BIAS_SCALED, change(scale * bias)) \
    WAY(CHANGE_BIAS_IN_BITS, change(bias / LOG2_E)) \
    WAY(CHANGE_BIAS_LOG2_E, change(bias * LOG2_E)) \
    WAY(CHANGE_SLOPE_OF_KV_HEAD, change(slope_of(x->g) * distance)) \
    WAY(CHANGE_SLOPE_IN_GROUP, change(slope_of(x->head % group) * distance)) \
    WAY(CHANGE_SLOPE_OF_ALIBI, change(exp2(-8.0 * (x->head + 1) / heads) * distance)) \
    WAY(CHANGE_SIGNED, change(slope * (t - p))) \
    WAY(CHANGE_DISTANCE, change(-slope * fabs(t - p))) \
    WAY(CHANGE_POSITION, change(slope * t)) \
    WAY(CHANGE_FROM_LAST_ROW, change(slope * (t - last))) \
    WAY(CHANGE_FROM_LAST_KEY, change(slope * (t - end))) \
    WAY(CHANGE_OF_SLOT, change(slope * slot)) \
    WAY(CHANGE_BY, change(slope * (distance + by))) \
    WAY(CHANGE_SLOPE_BY, change(slope_of(x->head + by) * distance))

/* The sink, as the logarithm of its weight; the row's largest score is m, and `top` the larger one
 * of both. The sequence has so many runs, and the row sees keys of so many chunks. */
#define EXPLAIN_SINKS(WAY) \
    WAY(SINK_OWN, sink) \
    WAY(SINK_NONE, -INFINITY) \
    WAY(SINK_EACH_RUN, sink + log(runs)) \
    WAY(SINK_EACH_CHUNK, sink + log(chunks)) \
    WAY(SINK_OF_KV_HEAD, sink_of(x->g)) \
    WAY(SINK_IN_GROUP, sink_of(x->head % group)) \
    WAY(SINK_SCALED, scale * sink) \
    WAY(SINK_CAPPED, cap > 0.0 ? cap * tanh(sink / cap) : sink) \
    WAY(SINK_IN_BITS, sink / LOG2_E) \
    WAY(SINK_LOG2_E, sink * LOG2_E) \
    WAY(SINK_NOT_LESS, sink + top) \
    WAY(SINK_LINEAR, log(fmax(sink, 0.0)) + top) \
    WAY(SINK_NOT_RESCALED, fmin(sink, m)) \
    WAY(SINK_WITH_KEYS, x->n > 0 ? sink : -INFINITY) \
    WAY(SINK_IN_OTHER_LSE, sink)            /* where the log-sum-exp has none; or has it not */ \
    WAY(SINK_TIMES, sink + log(by)) \
    WAY(SINK_BY, sink_of(x->head + by))

/* ---- 7: weights ---- */

/* The function that puts them into x->of_n and x->of_o. It returns 0 where the mistake is none of
 * this row. `group` is of elements that have weights of their own. */
#define EXPLAIN_WEIGHTS(WAY) \
    WAY(WEIGHT_OWN, 1) \
    WAY(ONLINE, explain_weigh_online(x, choice))   /* tile by tile, sums are rescaled */ \
    WAY(MERGED, explain_weigh_merged(x, choice, group))    /* part by part */ \
    WAY(REFERENCE, weigh_against(x, choice))       /* another number than the largest score */ \
    WAY(OTHER_QUERY, weigh_by_other(x, choice))    /* another query's maximum, of each part */ \
    WAY(FUNCTION, weigh_otherwise(x, choice))      /* another than exp */ \
    WAY(PADDED, weigh_padding(x, choice))          /* keys that are none, with values 0 */ \
    WAY(ROUNDED_SUM, choice->weight.lanes <= choice->parts.tile)   /* explain_rounded_sum() */ \
    WAY(SHUFFLED, weigh_shuffled(x, choice, group))    /* handed on within some lanes */ \
    WAY(OWN_MAXIMUM, weigh_to_own(x, choice, group))   /* threads scale to their warp's maximum */ \
    WAY(EMPTY_PART, weigh_empty_part(x, choice))       /* a part without a key is NaN */

/* ONLINE: what the weights of a tile are taken against, the maximum that is kept, and the logarithm
 * of what the sums before are to be multiplied by; from WEIGHS_BY_OLD on a weight may overflow. The
 * maximum was `old`, is `of_tile` in the tile, and `most` of both; `largest` is that as well, but
 * for a kernel whose references are near it (NUM-21). Of another query it was others_before, and is
 * `others`. `lazy` is `old` as long as it has not grown much. In the part, the tile before had
 * `last`, and all before had `before`; `behind` is declared. */
#define EXPLAIN_MAXIMA(WAY) \
    WAY(KEEPS_LARGEST, largest, largest, old - largest) \
    WAY(KEEPS_LAST, largest, of_tile, old - largest) \
    WAY(WEIGHS_BY_OLD, old > -INFINITY ? old : largest, largest, old - largest) \
    WAY(WEIGHS_BY_TILE, of_tile, largest, old - largest) \
    WAY(KEEPS_OF_TILE, of_tile, of_tile, old - of_tile) \
    WAY(KEEPS_LAZILY, most, lazy, old - lazy) \
    WAY(MOVES_FROM_LAST, MOVE_TO(of_tile - last > behind ? of_tile : old)) \
    WAY(MOVES_FROM_MOST, MOVE_TO(of_tile - before > behind ? of_tile : old)) \
    WAY(MOVES_DOWN, MOVE_TO(fabs(of_tile - old) > behind ? of_tile : old)) \
    WAY(MOVES_NOT_AT_END, MOVE_TO(is_short ? old : largest)) \
    WAY(RESCALES_FROM_OTHER, largest, largest, others_before - largest) \
    WAY(RESCALES_TO_OTHER, largest, largest, old - others)

#define MOVE_TO(m) (m), (m), old - (m)
/* ONLINE: the power of that by which n is multiplied, and o; tile 0 is a part's first one. */
#define EXPLAIN_RESCALES(WAY) \
    WAY(RESCALES, 1.0, 1.0) WAY(RESCALES_N_ALONE, 1.0, 0.0) \
    WAY(RESCALES_O_ALONE, 0.0, 1.0) WAY(RESCALES_NEITHER, 0.0, 0.0) \
    WAY(RESCALES_UPSIDE_DOWN, -1.0, -1.0) \
    WAY(RESCALES_BY_E, LOG2_E, LOG2_E) WAY(RESCALES_BY_2, LN_2, LN_2) \
    WAY(RESCALES_N_AT_FIRST, tile < tiles, 1.0) \
    WAY(RESCALES_O_AT_FIRST, 1.0, tile < tiles)

/* MERGED: the logarithms of what a part's sums n and o are multiplied by; the number that lse is
 * log(n) more than, NaN where nothing is said of it; and whether a part that is alone is one, too.
 * The part has maximum m, sum of weights exp(log_n), log-sum-exp m + log_n; `largest` is the
 * largest maximum, `top` the largest log-sum-exp. `later` is the logarithm of how many parts are
 * not before this one. From MERGE_OWN_FOR_ALL on each group of elements has the sum of weighted
 * values of its own part alone, by own(); `maxima` is the logarithm of the sum of exp(m - largest)
 * of all parts, `sums` that of exp(m - largest + log_n). */
#define EXPLAIN_MERGES(WAY) \
    WAY(MERGE_ADDED_DIVIDED, largest - top, largest - m - log_n, top, 0) \
    WAY(MERGE_ADDED_O, 0.0, largest - m, largest, 0) \
    WAY(MERGE_ADDED, largest - m, largest - m, NAN, 0) \
    WAY(MERGE_BY_MAXIMA, -log_n, -log_n, largest, 1) \
    WAY(MERGE_ADDED_N, largest - m, 0.0, largest, 0) \
    WAY(MERGE_BY_NUMBER, largest - m - log_n, largest - top, NAN, 0) \
    WAY(MERGE_AVERAGED, largest - m - log_n, largest - m - log_n, top, 0) \
    WAY(MERGE_NATS_AS_BITS, IN_BASE(LN_2), IN_BASE(LN_2), LN_2 * top, 1) \
    WAY(MERGE_BITS_AS_NATS, IN_BASE(LOG2_E), IN_BASE(LOG2_E), LOG2_E * top, 1) \
    WAY(MERGE_CARRIED, later, later, largest, 0) \
    WAY(MERGE_CARRIED_N, later, 0.0, largest, 0) \
    WAY(MERGE_CARRIED_O, 0.0, later, largest, 0) \
    WAY(MERGE_KEPT_SHORT, moved(x, choice, j, m), moved(x, choice, j, m), largest, 1) \
    WAY(MERGE_OWN_FOR_ALL, 0.0, own(maxima + largest - m), largest, 1) \
    WAY(MERGE_OWN_ALONE, 0.0, own(0.0), largest, 1) \
    WAY(MERGE_OWN_DIVIDED, 0.0, own(sums + largest - m - log_n), largest, 1)
#define IN_BASE(unit) (largest - m - log_n + (unit) * (m + log_n - top))

/* OTHER_QUERY, RESCALES_..._OTHER, and the divisor: whose. Rows and heads of the K/V head's group
 * are numbered, from the first row that shares the chunk on; this one is `query`. */
#define EXPLAIN_OTHERS(WAY) \
    WAY(FIRST_OF_GROUP, query / group * group) \
    WAY(ONE_BEFORE, query - 1) WAY(ONE_BEHIND, query + 1) \
    WAY(FIRST_OF_BLOCK, query / block * block) \
    WAY(FIRST_OF_CHUNK, query % group)

/* REFERENCE: against what; the largest score is `largest`. */
#define EXPLAIN_REFERENCES(WAY) \
    WAY(NO_REFERENCE, 0.0) WAY(FIRST_SCORE, x->score[0]) \
    WAY(NOT_BELOW, fmax(largest, limit))

/* FUNCTION: of a score that is s below the maximum: s <= 0. */
#define EXPLAIN_FUNCTIONS(WAY) \
    WAY(DROPPED, s < -limit ? 0.0 : exp(s)) \
    WAY(SQUARE, exp(2.0 * s)) WAY(FIRST_ORDER, fmax(1.0 + s, 0.0)) \
    WAY(SECOND_ORDER, 1.0 + s + 0.5 * s * s) \
    WAY(POWER_OF_2, exp2(s)) \
    WAY(ROUNDED, gate_round(choice->weight.type, exp(s)))

/* ---- 8: what o is divided by, and the log-sum-exp ---- */

/* Where the sum of weights is n. round_bits() leaves so many bits. */
#define EXPLAIN_DIVISORS(WAY) \
    WAY(DIVIDES, n) \
    WAY(DIVIDES_NOT, 1.0) \
    WAY(DIVIDES_BY_COUNT, x->m) \
    WAY(DIVIDES_TWICE, n * n) \
    WAY(DIVIDES_BY_OTHER, explain_other_sum(x, choice->divide.whose)) \
    WAY(DIVIDES_ROUNDED, round_bits(n, choice->divide.bits, rint)) \
    WAY(DIVIDES_CUT, round_bits(n, choice->divide.bits, trunc)) \
    WAY(MULTIPLIES_ROUNDED, 1.0 / round_bits(1.0 / n, choice->divide.bits, rint)) \
    WAY(MULTIPLIES_CUT, 1.0 / round_bits(1.0 / n, choice->divide.bits, trunc))

/* Right is lse = largest + log_n, the largest score and the logarithm of the sum of weights, in
 * nats; the kernel's is this, divided by `unit`. In
 * parts `top` is the largest log-sum-exp, NaN where there is one part. From LSE_FACTOR on a
 * constant is measured. */
#define EXPLAIN_LSE(WAY) \
    WAY(LSE_OWN, NAN) \
    WAY(LSE_IN_BITS, lse / LN_2) \
    WAY(LSE_TIMES_LN_2, lse * LN_2) \
    WAY(LSE_LARGEST, largest) \
    WAY(LSE_NOT_ADDED, log_n) \
    WAY(LSE_SUM, exp(log_n)) \
    WAY(LSE_SIGN, -lse) \
    WAY(LSE_NOT_SCALED, lse / scale) \
    WAY(LSE_COUNT, largest + log(x->n)) \
    WAY(LSE_LARGEST_NOT_SCALED, largest / scale + log_n) \
    WAY(LSE_OF_SELECTED, largest + log_n)   /* keys alone */ \
    WAY(LSE_LOG_IN_BITS, unit * (top + (lse - top) / LN_2)) \
    WAY(LSE_LARGEST_IN_BITS, unit * (top / LN_2 + (lse - top))) \
    WAY(LSE_OF_FIRST_WARP, largest_of_first_warp(x, choice) + log_n) \
    WAY(LSE_ROUNDED, gate_round(choice->lse.type, lse)) \
    WAY(LSE_FACTOR, factor * lse) \
    WAY(LSE_FACTOR_OF_LOG, largest + factor * log_n) \
    WAY(LSE_FACTOR_OF_LARGEST, factor * largest + log_n)

/* ---- 9: where it is written ---- */

/* The element that is written as element i of d. */
#define EXPLAIN_WRITES(WAY) \
    WAY(WRITE_OWN, i) \
    WAY(WRITE_SHIFTED, i + by) \
    WAY(WRITE_MODULO, i % by) \
    WAY(WRITE_PAIRS, i ^ 1) \
    WAY(WRITE_HALVES, (i + d / 2) % d) \
    WAY(WRITE_BY, i)        /* that of another row and head, */ \
    WAY(WRITE_TRANSPOSED, i)    /* in [head][row]; */ \
    WAY(WRITE_ROUNDED, i)   /* to a type */ \
    WAY(WRITE_ZERO, i) WAY(WRITE_NO_NUMBER, i) \
    WAY(WRITE_FIRST, i < by ? i : NOT_ADDED)      /* zeros behind */ \
    WAY(WRITE_FIRST_D, i < x->d ? i : NOT_ADDED) \
    WAY(WRITE_FIRST_MULTIPLE, i < d / by * by ? i : NOT_ADDED) \
    WAY(WRITE_SCALED, i)    /* by any factor of the row and head */

/* clang-format on */

#endif
