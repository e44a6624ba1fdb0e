/* SPDX-License-Identifier: Apache-2.0 */
/* 6, the bias of a table (SCORE-5): the lines of ways.h that are of it alone. */
#ifndef CHUNKPROOF_GATE_EXPLAIN_WAYS_BIASES_H
#define CHUNKPROOF_GATE_EXPLAIN_WAYS_BIASES_H

/* What becomes of the score of key j, at position t in a slot of a run, for a row at p: change(b)
 * is with the bias b, in the kernel's order. The table has n entries for each head, of which `own`
 * is the row's. The right one is i, `held` between the ends. entry(i) is the bias of that, and
 * table(a, i) the one of head a; bias_at(x, k) is number k of the whole table. wrapped: i modulo n.
 * number: how many keys of the sequence stand before the key. query: how many of its rows before
 * the row. start, last: where its first row stands, and its last one; end: its last key. */
/* clang-format off */
#define EXPLAIN_BIASES(WAY) \
    WAY(BIAS_REVERSED, change(entry(own + t - p))) \
    WAY(BIAS_FROM_0, change(entry(p - t))) \
    WAY(BIAS_OF_POSITION, change(entry(own + t))) \
    WAY(BIAS_FROM_FIRST_ROW, change(entry(own + start - t))) \
    WAY(BIAS_FROM_LAST_ROW, change(entry(own + last - t))) \
    WAY(BIAS_FROM_LAST_KEY, change(entry(own + end - t))) \
    WAY(BIAS_FROM_ROW_NUMBER, change(entry(own + query - t))) \
    WAY(BIAS_OF_NUMBER, change(entry(own + p - number))) \
    WAY(BIAS_OF_SEEN, change(entry(own + p - j))) \
    WAY(BIAS_OF_SLOT, change(entry(own + p - slot))) \
    WAY(BIAS_OF_RUN, change(entry(own + p - (t - slot)))) \
    WAY(BIAS_OF_DISTANCE, change(entry(own + abs(p - t)))) \
    WAY(BIAS_OF_16_BITS, change(entry((int16_t)i))) \
    WAY(BIAS_MODULO, change(entry(wrapped))) \
    WAY(BIAS_WRAPS_ABOVE, change(entry(i >= n ? wrapped : i))) \
    WAY(BIAS_WRAPS_BELOW, change(entry(i < 0 ? wrapped : i))) \
    WAY(BIAS_FIRST_ABOVE, change(entry(i >= n ? 0 : i))) \
    WAY(BIAS_LAST_BELOW, change(entry(i < 0 ? n - 1 : i))) \
    WAY(BIAS_NONE_ABOVE, change(i >= n ? 0.0 : entry(i))) \
    WAY(BIAS_NONE_BELOW, change(i < 0 ? 0.0 : entry(i))) \
    WAY(BIAS_NONE_AHEAD, change(t > p ? 0.0 : entry(i))) \
    WAY(BIAS_OWN_AHEAD, change(entry(t > p ? own : i))) \
    WAY(BIAS_OF_KV_HEAD, change(table(x->g, i))) \
    WAY(BIAS_IN_GROUP, change(table(x->head % group, i))) \
    WAY(BIAS_OF_FIRST_OF_GROUP, change(table(x->head - x->head % group, i))) \
    WAY(BIAS_OF_HEAD_0, change(table(0, i))) \
    WAY(BIAS_TRANSPOSED, change(bias_at(x, held * heads + x->head))) \
    WAY(BIAS_BY, change(entry(i + by))) \
    WAY(BIAS_OF_TILE, change(entry(own + p - (t - slot % by)))) \
    WAY(BIAS_HEAD_BY, change(table(x->head + by, i)))
/* clang-format on */

#endif
