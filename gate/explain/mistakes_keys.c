/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes of stages 1 to 4: too many keys, somebody else's, from elsewhere in memory, some missing
 * or there twice. */
#include <stdio.h>

#include "gate/explain/mistakes.h"

/* Rows of tables are laid out by hand. */
/* clang-format off */

#define FEW         16 /* of anything that is tried one by one */
#define MOST_TILE   256
#define MOST_WINDOW 4096
#define N(table)    (table), sizeof(table) / sizeof(table)[0]

static const char *const arrays[] = {"K and V", "K", "V"};
static const char *const ways[] = {"-", "+"};
static const char *const counts[] = {"left out", "counted twice"};
static const int signs[] = {-1, 1}, times[] = {0, 2};

#define OF_ARRAY(field) {AT(field), EACH, 0, 2, .words = arrays}
#define OF_TIMES {AT(select.times), VALUES, 0, 2, .values = times, .words = counts}

/* ---- 1: how many ---- */

#define SEES_BY(from, to) {AT(sees.by), EACH, from, to, .cost = 1}

static const struct explain_mistake lengths[] = {
    {"as if each row saw all keys of the shared chunks: those behind its own position, too "
     "(PREFILL-2)", 10, {.sees = {SEES_SHARED}}},
    {"as if each row saw all keys of its sequence: those behind its own position, too (PREFILL-2)",
     10, {.sees = {SEES_ALL}}},
    {"as if each row but a sequence's last one saw {0 key} fewer: its own position and those "
     "before it count (PREFILL-2)", 10, {.sees = {SEES_FEWER}}, {SEES_BY(1, FEW)}},
    {"as if it saw {0 key} more, where the sequence has them: those behind its own position, too "
     "(PREFILL-2)", 12, {.sees = {SEES_MORE_THERE}}, {SEES_BY(1, FEW)}},
    {"as if it read {0 slot} behind the last key's, where no key is (GATE-3)", 13,
     {.sees = {SEES_MORE}}, {SEES_BY(1, FEW)}},
    {"as if it took the last chunk to its end, where no key is (GATE-3)", 11,
     {.sees = {SEES_WHOLE_CHUNK}}},
    {"as if the first row of a sequence saw one key, the next one two, ...: rows are counted from "
     "the first key, not from the last (PREFILL-2)", 11, {.sees = {SEES_FROM_FIRST}}},
    {"as if each row from row {0} of a sequence on saw all keys of its sequence: those behind its "
     "own position, too (PREFILL-2)", 14, {.sees = {SEES_ALL_BEHIND}}, {{AT(sees.by), EACH, 1,
     64}}},
};

EXPLAIN_NAMER(name_tile) {
    if (c->sees.pairs == A_SEQUENCE) {
        (void)snprintf(text, size, "its sequence");
    } else {
        (void)snprintf(text, size, "a tile of %d rows and heads (counted %s)", c->sees.pairs,
                       c->sees.by_heads ? "head by head" : "row by row");
    }
}

#define IN_TILES {AT(sees.pairs), POWERS, 2, 128, .name = name_tile}, {AT(sees.by_heads), EACH, 0, \
    1}

static const struct explain_mistake masks[] = {
    {"as if each row saw as many keys as the first row of its sequence (PREFILL-2)", 14,
     {.sees = {SEES_AS_FIRST, .pairs = A_SEQUENCE}}},
    {"as if each row saw as many keys as the last row of its sequence (PREFILL-2)", 13,
     {.sees = {SEES_AS_LAST, .pairs = A_SEQUENCE, .keys = 1}}},
    {"as if no key were masked in a block of {0} keys that the last row of its sequence sees to "
     "its end: rows before it do not (PREFILL-2)", 13, {.sees = {SEES_AS_LAST,
     .pairs = A_SEQUENCE}}, {{AT(sees.keys), POWERS, 2, MOST_TILE}}},
    {"as if each row saw as many keys as the first row of {0} (PREFILL-2)", 14,
     {.sees = {SEES_AS_FIRST}}, {IN_TILES}},
    {"as if each row saw as many keys as the last row of {0} (PREFILL-2)", 14,
     {.sees = {SEES_AS_LAST, .keys = 1}}, {IN_TILES}},
    {"as if no key were masked in a block of {2} keys that the last row of {0} sees to its end: "
     "rows before it do not (PREFILL-2)", 14, {.sees = {SEES_AS_LAST}}, {IN_TILES, {AT(sees.keys),
     POWERS, 2, MOST_TILE}}},
    {"as if in blocks of {0} query rows the keys that a row sees had been counted from the first "
     "row of its sequence, not of its block: each block as the first one (PREFILL-2)", 13,
     {.sees = {SEES_FIRST_BLOCK}}, {{AT(sees.by), POWERS, 2, 128}}},
};

/* ---- 2: whose ---- */

#define A_NUMBER {AT(path.number), SEQUENCES}
static const char *const sides[] = {"before", "behind"};
static const char *const edges[] = {"ends", "begins"};
static const char *const of_keys[] = {
    "",
    " in the shared chunks",
    " behind the shared chunks",
    " in the last chunk",
};
#define NEIGHBOUR {AT(path.number), VALUES, 0, 2, .values = signs, .words = sides}
#define OF_KEYS { AT(path.keys), EACH, ALL_KEYS, LAST_CHUNK_KEYS, .words = of_keys, .cost = 1 }

EXPLAIN_NAMER(name_edge) {
    (void)snprintf(text, size,
                   "the row had been taken for one of the sequence %s its own: by where "
                   "query_begin says that a sequence %s",
                   sides[c->path.number > 0], edges[c->path.number > 0]);
}

static const struct explain_mistake sequences[] = {
    {"as if it had seen the keys of sequence {0}{1} (TPP-2)", 13, {.path = {SEQUENCE}}, {A_NUMBER,
     OF_KEYS}},
    {"as if it had seen the keys of sequence {0}, and as many (TPP-2)", 14, {.sees = {SEES_AS_LONG},
     .path = {SEQUENCE}}, {A_NUMBER}},
    {"as if n_tokens had been that of sequence {0} (PLAN-2)", 15, {.sees = {SEES_LENGTH_OF},
     .path = {SEQUENCE}}, {A_NUMBER}},
    {"as if n_tokens had been that of the sequence {0} it (PLAN-2)", 10, {.sees = {SEES_LENGTH_OF},
     .path = {SEQUENCE_BY}}, {NEIGHBOUR}},
    {"as if it had seen the keys of the sequence {0} its own{1} (TPP-2)", 13,
     {.path = {SEQUENCE_BY}}, {NEIGHBOUR, OF_KEYS}},
    {"as if {0} (PREFILL-1)", 13, {.sees = {SEES_AS_THERE}, .path = {SEQUENCE_BY}},
     {{AT(path.number), VALUES, 0, 2, .values = signs, .name = name_edge}}},
    {"as if sequence s had been taken for sequence s % {0}: its number does not fit (TPP-2)", 18,
     {.path = {SEQUENCE_MODULO}}, {{AT(path.number), POWERS, 2, 128, .cost = -1}}},
};

/* ---- 2: which chunk and slot ---- */

EXPLAIN_NAMER(name_owner) {
    const struct gate_problem *p = &x->run->problem;
    int chunk = c->path.to;
    (void)snprintf(text, size, "chunk %d of the pool, which is nobody's", chunk);
    for (int s = p->b - 1; s >= 0; s--) {
        for (int i = 0; i * x->c < p->n_tokens[s]; i++) {
            if (p->table[s * p->table_width + i] == chunk) {
                (void)snprintf(text, size, "chunk %d of the pool, chunk %d of sequence %d", chunk,
                               i, s);
            }
        }
    }
}

static const char *const of_numbers[] = {"of both", "of a key's chunk", "of a key's slot"};
#define BY_ONE {AT(path.by), VALUES, 0, 2, .values = signs, .words = ways}
#define BY_TILE(least) {AT(path.by), POWERS, least, MOST_TILE}
#define MODULO(from, to) {AT(path.by), POWERS, from, to, .cost = -1}

static const struct explain_mistake chunks[] = {
    {"as if chunk i of a path were chunk i of the pool: the table were not read (PLAN-2)", 11,
     {.path = {.rule = PATH_POOL}}},
    {"as if chunk i of a path were chunk i {0} 1 of it (PLAN-2)", 11,
     {.path = {.rule = PATH_SHIFTED}}, {BY_ONE}},
    {"as if the table were rotated: chunk i of n were chunk (i {0} 1) mod n, which matters as the "
     "last one is not full (PLAN-2)", 12, {.path = {.rule = PATH_ROTATED}}, {BY_ONE}},
    {"as if each chunk of a path had been chunk 0 of it (PLAN-2)", 11,
     {.path = {.rule = PATH_FIRST}}},
    {"as if the table were read from the last chunk to the first, which matters as the last one is "
     "not full (PLAN-2)", 12, {.path = {.rule = PATH_TURNED}}},
    {"as if the rows of the table were table_width {0} 1 apart (PLAN-2)", 12,
     {.path = {.rule = PATH_TABLE_WIDTH}}, {BY_ONE}},
    {"as if each row of the table were as long as its own path, not table_width (PLAN-2)", 12,
     {.path = {.rule = PATH_TABLE_WIDTH}}},
    {"as if key j were looked for in the chunk of key j {0} 1 (PLAN-2)", 12,
     {.path = {.rule = PATH_NEXT_KEY}}, {BY_ONE}},
    {"as if chunk {0} of the path had been chunk {1} of it (PLAN-2)", 14,
     {.path = {.rule = PATH_CHUNK}}, {{AT(path.by), LAST_CHUNKS}, {AT(path.to), FIRST_CHUNKS}}},
    {"as if chunk {0} of the path had been {1} (PLAN-2)", 16, {.path = {.rule = PATH_ANY}},
     {{AT(path.by), LAST_CHUNKS}, {AT(path.to), POOL_CHUNKS, .name = name_owner}}},
    {"as if {1} of chunk i of the pool were that of chunk i % {0}: its number does not fit "
     "(PLAN-2)", 25, {.path = {.rule = PATH_MODULO}}, {MODULO(16, 65536), OF_ARRAY(path.array)}},
};

static const struct explain_mistake slots[] = {
    {"as if a key's slot were key & (c - 1), not key % c: they differ where c is no power of 2 "
     "(PLAN-2)", 11, {.path = {.rule = PATH_MASK}}},
    {"as if c were {0}, not the call's, in the number {1} (PLAN-2)", 12,
     {.path = {.rule = PATH_SIZE}}, {{AT(path.by), POWERS, 1, MOST_TILE}, {AT(path.to), EACH, 0, 2,
     .words = of_numbers}}},
    {"as if {1} of slot i were that of slot i % {0}: its number does not fit (PLAN-2)", 22,
     {.path = {.rule = PATH_SLOT_MODULO}}, {MODULO(2, 512), OF_ARRAY(path.array)}},
    {"as if {1} of each key had been that of the key {0} (TPP-1)", 13, {.path = {.rule = PATH_KEY}},
     {{AT(path.by), VALUES, 0, 2, .values = signs, .words = (const char *const[]){"before",
     "after"}}, {AT(path.array), EACH, OF_K, OF_V, .words = arrays + 1}}},
    {"as if {1} of the first {0} keys had been taken for each {0} keys behind them, too (TPP-1)",
     24, {.path = {.rule = PATH_KEY_MODULO}}, {{AT(path.by), POWERS, 1, 65536, BELOW_KEYS,
     .cost = -1}, OF_ARRAY(path.array)}},
    {"as if {1} of each tile of {0} keys had been read in one piece, from the place of its first "
     "key on: over the end of a chunk (TPP-1)", 13, {.path = {.rule = PATH_PIECE}}, {BY_TILE(2),
     OF_ARRAY(path.array)}},
    {"as if {1} of each tile of {0} keys had been read from the chunk of its first key (TPP-1)", 14,
     {.path = {.rule = PATH_TILE}}, {BY_TILE(2), OF_ARRAY(path.array)}},
};

/* ---- 3: heads and strides ---- */

static const char *const head_rules[] = {
    "head % h_kv, not head / (h / h_kv)",
    "0, always",
    "h_kv - 1, always",
    "head / h_kv, not head / (h / h_kv)",
    "the one after its own",
    "head, not head / (h / h_kv)",
};
static const char *const of_chunks[] = {
    "",
    ", in the shared chunks alone",
    ", in the sequence's own chunks alone",
};

static const struct explain_mistake heads[] = {
    {"as if it had taken {1} of K/V head {0}{2} (TPP-5)", 11, {{0}}, {{AT(place.head), EACH,
     HEAD_MODULO, HEAD_QUERY, .words = head_rules}, OF_ARRAY(place.array), {AT(place.keys), EACH,
     ALL_KEYS, OWN_KEYS, .words = of_chunks, .cost = 1}}},
    {"as if {1} of K/V head g had been those of K/V head g % {0}: its number does not fit (TPP-5)",
     16, {.place = {HEAD_WRAPS}}, {{AT(place.number), POWERS, 2, 64, .cost = -1},
     OF_ARRAY(place.array)}},
    {"as if it had taken {1} of K/V head {0}, not its own (TPP-5)", 17, {.place = {HEAD_NUMBER}},
     {{AT(place.number), KV_HEADS}, OF_ARRAY(place.array)}},
};

static const char *const strides[] = {
    "with the strides of head and slot swapped",
    "with the strides of the other of K and V",
    "with the stride of chunks taken from the other of K and V",
    "with the stride of heads taken from the other of K and V",
    "with the stride of slots taken from the other of K and V",
    "as if it lay in one piece, [chunk][head][slot]",
    "as if it lay in one piece, [chunk][slot][head]",
    "as if slots lay d apart",
    "as if chunks lay h_kv c d apart",
};
static const char *const exchanges[] = {
    "K had been taken for V",
    "K had been taken for V, at the place of V",
    "V had been taken for K",
    "K and V had been swapped",
};

static const struct explain_mistake places[] = {
    {"as if {1} had been read {0} (GATE-3)", 12, {{0}}, {{AT(place.rule), EACH, PLACE_SWAPPED,
     PLACE_CHUNK_D, .words = strides}, OF_ARRAY(place.array)}},
    {"as if {0} (SOFTMAX-2)", 12, {{0}}, {{AT(place.rule), EACH, PLACE_K_FOR_V, PLACE_EXCHANGED,
     .words = exchanges}}},
};

/* ---- 4: which are counted ---- */

static const char *const selections[] = {
    "the last chunk of each path, as far as it is seen,",
    "the shared chunks",
    "the first of the shared chunks",
    "the last of the shared chunks",
};

EXPLAIN_NAMER(name_shared) {
    (void)snprintf(text, size, "shared chunks %d, %d, ... of the path", c->select.a,
                   c->select.a + 1);
}

EXPLAIN_NAMER(name_every) {
    (void)snprintf(text, size, "%d, %d, ...", c->select.b, c->select.b + c->select.a);
}

EXPLAIN_NAMER(name_width) {
    (void)snprintf(text, size, "keys %d to %d of each %d", c->select.b,
                   c->select.b + c->select.width - 1, c->select.a);
}

#define OF_A(walk, from, to, ...) {AT(select.a), walk, from, to, __VA_ARGS__}
#define LEFT(which) {.select = { which, .times = 0 }}

static const struct explain_mistake selected[] = {
    {"as if the last key had been {0} (TPP-1)", 11, {.select = {SELECT_FROM_END, 1, 0}},
     {OF_TIMES}},
    {"as if the last {0} keys had been {1} (TPP-1)", 12, {.select = {SELECT_FROM_END}}, {OF_A(EACH,
     2, FEW, .cost = 0), OF_TIMES}},
    {"as if the last key but one had been {0} (TPP-1)", 12, {.select = {SELECT_FROM_END, 2, 1}},
     {OF_TIMES}},
    {"as if key 0 (the first key) had been {0} (TPP-1)", 12, {.select = {SELECT_FIRST_TILE, 1}},
     {OF_TIMES}},
    {"as if {0} had been {1} (TPP-1)", 11, {{0}}, {{AT(select.which), EACH, SELECT_LAST_CHUNK,
     SELECT_LAST_SHARED, .words = selections}, OF_TIMES}},
    {"as if the last key of each shared chunk had been {0} (TPP-1)", 12,
     {.select = {SELECT_ENDS_OF_SHARED}}, {OF_TIMES}},
    {"as if the shared chunks of whose sequences this one is the first had been {0} (TPP-1)", 12,
     {.select = {SELECT_BEGIN_OF_RANGE}}, {OF_TIMES}},
    {"as if the shared chunks of whose sequences this one is the last had been {0} (TPP-1)", 12,
     {.select = {SELECT_END_OF_RANGE, 1}}, {OF_TIMES}},
    {"as if the shared chunks of whose sequences, taken {0} at a time, this one is left over had "
     "been {1} (TPP-1)", 12, {.select = {SELECT_END_OF_RANGE}}, {OF_A(POWERS, 2, FEW, .cost = 0),
     OF_TIMES}},
    {"as if the sequence's own chunks had been {0} (TPP-1)", 11, {.select = {SELECT_OWN}},
     {OF_TIMES}},
    {"as if {0} had been {1} (TPP-1)", 12, {.select = {SELECT_SHARED_FROM}}, {OF_A(EACH, 1, FEW - 1,
     .name = name_shared), OF_TIMES}},
    {"as if chunk {0} of the path had been {1} (TPP-1)", 13, {.select = {SELECT_CHUNK}},
     {OF_A(FIRST_CHUNKS, 0, 0, .cost = 0), OF_TIMES}},
};

static const struct explain_mistake left_out[] = {
    {"as if the keys behind the last multiple of {0} had been left out: a tile that is not full "
     "(TPP-1)", 11, LEFT(SELECT_BEHIND), {OF_A(POWERS, 2, MOST_TILE, .cost = 0)}},
    {"as if the keys behind the last multiple of {0} had been left out, of {0} and more (TPP-1)",
     12, LEFT(SELECT_BEHIND_IF_MORE), {OF_A(POWERS, 2, MOST_TILE, .cost = 0)}},
    {"as if of each chunk the keys behind the last multiple of {0} had been left out (TPP-1)", 12,
     LEFT(SELECT_BEHIND_IN_CHUNKS), {OF_A(POWERS, 2, MOST_TILE, .cost = 0)}},
    {"as if the last key had been left out where it is alone in a tile of {0} behind full ones: "
     "tiles counted from one key less (TPP-1)", 10, LEFT(SELECT_ALONE_IN_TILE), {OF_A(POWERS, 2,
     MOST_TILE, .cost = 0)}},
    {"as if each chunk had as many keys as the last one of its path: the others are left out "
     "(TPP-1)", 12, LEFT(SELECT_BEHIND_FILL)},
    {"as if it saw the first {0 key} alone (TPP-1)", 13, LEFT(SELECT_BUT_FIRST), {OF_A(POWERS, 1,
     65536, BELOW_KEYS)}},
    {"as if it saw the last {0 key} alone (TPP-1)", 13, LEFT(SELECT_BUT_LAST), {OF_A(POWERS, 1,
     65536, BELOW_KEYS)}},
    {"as if it saw the first {0 key} alone (TPP-1)", 15, LEFT(SELECT_BUT_FIRST), {OF_A(EACH, 1, 128,
     BELOW_KEYS)}},
    {"as if it saw the last {0 key} alone (TPP-1)", 15, LEFT(SELECT_BUT_LAST), {OF_A(EACH, 1, 128,
     BELOW_KEYS)}},
    {"as if it saw the first {0 key} and the last {1} alone (TPP-1)", 14, LEFT(SELECT_BETWEEN),
     {OF_A(POWERS, 1, 128, BELOW_KEYS), {AT(select.b), POWERS, 1, MOST_WINDOW, BELOW_KEYS}}},
};

EXPLAIN_NAMER(name_range) {
    int a = c->select.a, b = c->select.b;
    if (b - a == 1) {
        (void)snprintf(text, size, "key %d (chunk %d of the path, slot %d)", a, a / x->c, a % x->c);
    } else {
        (void)snprintf(text, size, "keys %d to %d", a, b - 1);
    }
}

static const struct explain_mistake ranges[] = {
    {"as if every key {1} had been {2} (TPP-1)", 30, {.select = {SELECT_EVERY}}, {OF_A(POWERS, 2,
     64, BELOW_KEYS), {AT(select.b), PERIOD, .name = name_every}, OF_TIMES}},
    {"as if {2} had been {3} (TPP-1)", 31, {.select = {SELECT_OF_EACH}}, {OF_A(POWERS, 4, MOST_TILE,
     .cost = 0), {AT(select.width), WIDTHS, 2, 0}, {AT(select.b), PERIODS, .name = name_width},
     OF_TIMES}},
    {"as if {1} had been {2} (TPP-1)", 20, {.select = {SELECT_AT}}, {{AT(select.a), KEYS},
     {AT(select.b), KEYS_UPTO, .name = name_range}, OF_TIMES}},
};

const struct explain_table explain_key_tables[] = {
    {"how many keys a row sees", ALWAYS, N(lengths)},
    {"masks of whole tiles", WITH_KEYS, N(masks)},
    {"other K/V heads", WITH_KEYS, N(heads)},
    {"other strides of K and V", WITH_KEYS, N(places)},
    {"keys of other sequences", ALWAYS, N(sequences)},
    {"keys that are left out or counted twice", WITH_KEYS, N(selected)},
    {"tiles and windows of keys", WITH_KEYS, N(left_out)},
    {"slots of a chunk", WITH_KEYS, N(slots)},
    {"chunks of a path", WITH_KEYS, N(chunks)},
    {NULL, ALWAYS, NULL, 0},
};

const struct explain_table explain_range_tables[] = {
    {"any range of keys", WITH_KEYS, N(ranges)},
    {NULL, ALWAYS, NULL, 0},
};
