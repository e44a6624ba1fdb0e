/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes of stages 1 to 4: too many keys, somebody else's, from elsewhere in memory, some missing
 * or there twice. */
#include "gate/explain/mistakes.h"

/* Entries of tables are laid out by hand. */
/* clang-format off */

/* ---- 1: how many ---- */

#define BEHIND_ITS_OWN "those behind its own position, too (PREFILL-2)"

static const struct explain_mistake lengths[] = {
    {"as if each row saw all keys of the shared chunks: " BEHIND_ITS_OWN, 10,
     {.sees = {SEES_SHARED}}},
    {"as if each row saw all keys of its sequence: " BEHIND_ITS_OWN, 10, {.sees = {SEES_ALL}}},
    {"as if each row but a sequence's last one saw {a key} fewer: its own position and those "
     "before it count (PREFILL-2)", 10, {.sees = {SEES_FEWER}}, {VARIANTS(sees.by, 1, FEW)}},
    {"as if it saw {a key} more, where the sequence has them: " BEHIND_ITS_OWN, 12,
     {.sees = {SEES_MORE_THERE}}, {VARIANTS(sees.by, 1, FEW)}},
    {"as if it read {a slot} behind the last key's, where no key is (GATE-3)", 13,
     {.sees = {SEES_MORE}}, {VARIANTS(sees.by, 1, FEW)}},
    {"as if it took the last chunk to its end, where no key is (GATE-3)", 11,
     {.sees = {SEES_WHOLE_CHUNK}}},
    {"as if the first row of a sequence saw one key, the next one two, ...: rows are counted from "
     "the first key, not from the last (PREFILL-2)", 11, {.sees = {SEES_FROM_FIRST}}},
    {"as if each row from row {a} of a sequence on saw all keys of its sequence: " BEHIND_ITS_OWN,
     14, {.sees = {SEES_ALL_BEHIND}}, {EACH(sees.by, 1, 64)}},
};

#define AS_MANY_AS "as if each row saw as many keys as the "
#define A_TILE     "a tile of {a} rows and heads (counted {b|row by row|head by head})"
#define IN_TILES   POWERS(sees.pairs, 2, 128), EACH(sees.by_heads, 0, 1)
#define NOT_MASKED(keys) \
    "as if no key were masked in a block of {" keys "} keys that the last row of "

static const struct explain_mistake masks[] = {
    {AS_MANY_AS "first row of its sequence (PREFILL-2)", 14,
     {.sees = {SEES_AS_FIRST, .pairs = A_SEQUENCE}}},
    {AS_MANY_AS "last row of its sequence (PREFILL-2)", 13,
     {.sees = {SEES_AS_LAST, .pairs = A_SEQUENCE, .keys = 1}}},
    {NOT_MASKED("a") "its sequence sees to its end: rows before it do not (PREFILL-2)", 13,
     {.sees = {SEES_AS_LAST, .pairs = A_SEQUENCE}}, {POWERS(sees.keys, 2, MOST_TILE)}},
    {AS_MANY_AS "first row of " A_TILE " (PREFILL-2)", 14, {.sees = {SEES_AS_FIRST}}, {IN_TILES}},
    {AS_MANY_AS "last row of " A_TILE " (PREFILL-2)", 14, {.sees = {SEES_AS_LAST, .keys = 1}},
     {IN_TILES}},
    {NOT_MASKED("c") A_TILE " sees to its end: rows before it do not (PREFILL-2)", 14,
     {.sees = {SEES_AS_LAST}}, {IN_TILES, POWERS(sees.keys, 2, MOST_TILE)}},
    {"as if in blocks of {a} query rows the keys that a row sees had been counted from the first "
     "row of its sequence, not of its block: each block as the first one (PREFILL-2)", 13,
     {.sees = {SEES_FIRST_BLOCK}}, {POWERS(sees.by, 2, 128)}},
};

/* ---- 2: whose ---- */

#define NUMBER_DOES_NOT_FIT ": its number does not fit "
#define OF_KEYS  VARIANTS(path.keys, ALL_KEYS, LAST_CHUNK_KEYS)
#define IN_KEYS  "{b|| in the shared chunks| behind the shared chunks| in the last chunk}"
#define A_NUMBER AS_MANY(path.number, SEQUENCES)

static const struct explain_mistake sequences[] = {
    {"as if it had seen the keys of sequence {a}" IN_KEYS " (TPP-2)", 13, {.path = {SEQUENCE}},
     {A_NUMBER, OF_KEYS}},
    {"as if it had seen the keys of sequence {a}, and as many (TPP-2)", 14,
     {.sees = {SEES_AS_LONG}, .path = {SEQUENCE}}, {A_NUMBER}},
    {"as if n_tokens had been that of sequence {a} (PLAN-2)", 15,
     {.sees = {SEES_LENGTH_OF}, .path = {SEQUENCE}}, {A_NUMBER}},
    {"as if n_tokens had been that of the sequence {a|before|behind} it (PLAN-2)", 10,
     {.sees = {SEES_LENGTH_OF}, .path = {SEQUENCE_BY}}, {ONE_BY(path.number)}},
    {"as if it had seen the keys of the sequence {a|before|behind} its own" IN_KEYS " (TPP-2)", 13,
     {.path = {SEQUENCE_BY}}, {ONE_BY(path.number), OF_KEYS}},
    {"as if the row had been taken for one of the sequence {a|before|behind} its own: by where "
     "query_begin says that a sequence {a|ends|begins} (PREFILL-1)", 13,
     {.sees = {SEES_AS_THERE}, .path = {SEQUENCE_BY}}, {ONE_BY(path.number)}},
    {"as if sequence s had been taken for sequence s % {a}" NUMBER_DOES_NOT_FIT "(TPP-2)", 18,
     {.path = {SEQUENCE_MODULO}}, {FALLING(path.number, 2, 128)}},
};

/* ---- 2: which chunk and slot ---- */

#define MATTERS ", which matters as the last one is not full (PLAN-2)"

static const struct explain_mistake chunks[] = {
    {"as if chunk i of a path were chunk i of the pool: the table were not read (PLAN-2)", 11,
     {.path = {.way = PATH_POOL}}},
    {"as if chunk i of a path were chunk i {+a} of it (PLAN-2)", 11,
     {.path = {.way = PATH_SHIFTED}}, {ONE_BY(path.by)}},
    {"as if the table were rotated: chunk i of n were chunk (i {+a}) mod n" MATTERS, 12,
     {.path = {.way = PATH_ROTATED}}, {ONE_BY(path.by)}},
    {"as if each chunk of a path had been chunk 0 of it (PLAN-2)", 11,
     {.path = {.way = PATH_FIRST}}},
    {"as if the table were read from the last chunk to the first" MATTERS, 12,
     {.path = {.way = PATH_TURNED}}},
    {"as if the rows of the table were table_width {+a} apart (PLAN-2)", 12,
     {.path = {.way = PATH_TABLE_WIDTH}}, {ONE_BY(path.by)}},
    {"as if each row of the table were as long as its own path, not table_width (PLAN-2)", 12,
     {.path = {.way = PATH_TABLE_WIDTH}}},
    {"as if key j were looked for in the chunk of key j {+a} (PLAN-2)", 12,
     {.path = {.way = PATH_NEXT_KEY}}, {ONE_BY(path.by)}},
    {"as if chunk {a} of the path had been chunk {b} of it (PLAN-2)", 14,
     {.path = {.way = PATH_CHUNK}},
     {AS_MANY(path.by, LAST_CHUNKS), AS_MANY(path.to, FIRST_CHUNKS)}},
    {"as if chunk {a} of the path had been {b} (PLAN-2)", 16, {.path = {.way = PATH_ANY}},
     {AS_MANY(path.by, LAST_CHUNKS), AS_MANY(path.to, POOL_CHUNKS)}},
    {"as if " ARRAY_WORDS("b") " of chunk i of the pool were that of chunk i % {a}"
     NUMBER_DOES_NOT_FIT "(PLAN-2)", 25, {.path = {.way = PATH_MODULO}},
     {FALLING(path.by, 16, 65536), OF_ARRAY(path.array)}},
};

static const struct explain_mistake slots[] = {
    {"as if a key's slot were key & (c - 1), not key % c: they differ where c is no power of 2 "
     "(PLAN-2)", 11, {.path = {.way = PATH_MASK}}},
    {"as if c were {a}, not the call's, in the number {b|of both|of a key's chunk|of a key's slot} "
     "(PLAN-2)", 12, {.path = {.way = PATH_SIZE}},
     {POWERS(path.by, 1, MOST_TILE), EACH(path.to, 0, 2)}},
    {"as if " ARRAY_WORDS("b") " of slot i were that of slot i % {a}" NUMBER_DOES_NOT_FIT
     "(PLAN-2)", 22, {.path = {.way = PATH_SLOT_MODULO}},
     {FALLING(path.by, 2, 512), OF_ARRAY(path.array)}},
    {"as if {b|K|V} of each key had been that of the key {a|before|after} (TPP-1)", 13,
     {.path = {.way = PATH_KEY}}, {ONE_BY(path.by), EACH(path.array, OF_K, OF_V)}},
    {"as if " ARRAY_WORDS("b") " of the first {a} keys had been taken for each {a} keys behind "
     "them, too (TPP-1)", 24, {.path = {.way = PATH_KEY_MODULO}},
     {{AT(path.by), WALK_POWERS, 1, 65536, BELOW_KEYS, .cost = -1}, OF_ARRAY(path.array)}},
    {"as if " ARRAY_WORDS("b") " of each tile of {a} keys had been read in one piece, from the "
     "place of its first key on: over the end of a chunk (TPP-1)", 13,
     {.path = {.way = PATH_PIECE}}, {POWERS(path.by, 2, MOST_TILE), OF_ARRAY(path.array)}},
    {"as if " ARRAY_WORDS("b") " of each tile of {a} keys had been read from the chunk of its "
     "first key (TPP-1)", 14, {.path = {.way = PATH_TILE}},
     {POWERS(path.by, 2, MOST_TILE), OF_ARRAY(path.array)}},
};

/* ---- 3: heads and strides ---- */

static const struct explain_mistake places[] = {
    {"as if it had taken " ARRAY_WORDS("b") " of K/V head {a|head % h_kv, not head / (h / h_kv)"
     "|0, always|h_kv - 1, always|head / h_kv, not head / (h / h_kv)|the one after its own"
     "|head, not head / (h / h_kv)}{c||, in the shared chunks alone"
     "|, in the sequence's own chunks alone} (TPP-5)", 11, {{0}},
     {EACH(place.head, HEAD_MODULO, HEAD_QUERY), OF_ARRAY(place.array),
      VARIANTS(place.keys, ALL_KEYS, OWN_KEYS)}},
    {"as if " ARRAY_WORDS("b") " of K/V head g had been those of K/V head g % {a}"
     NUMBER_DOES_NOT_FIT "(TPP-5)", 16, {.place = {HEAD_WRAPS}},
     {FALLING(place.number, 2, 64), OF_ARRAY(place.array)}},
    {"as if it had taken " ARRAY_WORDS("b") " of K/V head {a}, not its own (TPP-5)", 17,
     {.place = {HEAD_NUMBER}}, {AS_MANY(place.number, KV_HEADS), OF_ARRAY(place.array)}},
    {"as if " ARRAY_WORDS("b") " had been read {a|with the strides of head and slot swapped"
     "|with the strides of the other of K and V"
     "|with the stride of chunks taken from the other of K and V"
     "|with the stride of heads taken from the other of K and V"
     "|with the stride of slots taken from the other of K and V"
     "|as if it lay in one piece, [chunk][head][slot]"
     "|as if it lay in one piece, [chunk][slot][head]"
     "|as if slots lay d apart, of V d_v|as if chunks lay h_kv c d apart, of V "
     "h_kv c d_v} (GATE-3)", 12, {{0}},
     {EACH(place.way, PLACE_SWAPPED, PLACE_CHUNK_D), OF_ARRAY(place.array)}},
    {"as if " ARRAY_WORDS("b") " had been read {a|as if it lay in one piece, with rows as long as "
     "those of the other of K and V|as if slots lay as far apart as the other of K and V has "
     "numbers} (CONV-13)", 12, {{0}},
     {EACH(place.way, PLACE_OTHER_WIDTH, PLACE_SLOT_OTHER_WIDTH), OF_ARRAY(place.array)}},
    {"as if a value had been the last d_v numbers of its key, not the first (CONV-13)", 11,
     {.place = {.way = PLACE_END_OF_KEY, .array = OF_V}}},
    {"as if {a|K had been taken for V|K had been taken for V, at the place of V"
     "|V had been taken for K|K and V had been swapped} (SOFTMAX-2)", 12, {{0}},
     {EACH(place.way, PLACE_K_FOR_V, PLACE_EXCHANGED)}},
};

/* ---- 4: which are counted ---- */

static const struct explain_mistake selected[] = {
    {"as if the last key had been " COUNTED("a") " (TPP-1)", 11, {.select = {SELECT_FROM_END, 1}},
     {COUNTS}},
    {"as if the last {a} keys had been " COUNTED("b") " (TPP-1)", 12, {.select = {SELECT_FROM_END}},
     {EACH(select.a, 2, FEW), COUNTS}},
    {"as if the last key but one had been " COUNTED("a") " (TPP-1)", 12,
     {.select = {SELECT_FROM_END, 2, 1}}, {COUNTS}},
    {"as if key 0 (the first key) had been " COUNTED("a") " (TPP-1)", 12,
     {.select = {SELECT_FIRST_TILE, 1}}, {COUNTS}},
    {"as if {a|the last chunk of each path, as far as it is seen,|the sequence's own chunks"
     "|the shared chunks|the first of the shared chunks|the last of the shared chunks} had been "
     COUNTED("b") " (TPP-1)", 11, {{0}},
     {EACH(select.which, SELECT_LAST_CHUNK, SELECT_LAST_SHARED), COUNTS}},
    {"as if the {a|last key of each shared chunk|shared chunks of whose sequences this one is the "
     "first|shared chunks of whose sequences this one is the last} had been " COUNTED("b")
     " (TPP-1)", 12, {{0}},
     {EACH(select.which, SELECT_ENDS_OF_SHARED, SELECT_END_OF_RANGE), COUNTS}},
    {"as if the shared chunks of whose sequences, taken {a} at a time, this one is left over had "
     "been " COUNTED("b") " (TPP-1)", 12, {.select = {SELECT_LEFT_OF_RANGE}},
     {POWERS(select.a, 2, FEW), COUNTS}},
    {"as if shared chunks {a}, {a+1}, ... of the path had been " COUNTED("b") " (TPP-1)", 12,
     {.select = {SELECT_SHARED_FROM}}, {EACH(select.a, 1, FEW - 1), COUNTS}},
    {"as if chunk {a} of the path had been " COUNTED("b") " (TPP-1)", 13,
     {.select = {SELECT_CHUNK}}, {AS_MANY(select.a, FIRST_CHUNKS), COUNTS}},
};

#define A_TILE_OF(field)          POWERS(field, 2, MOST_TILE)
#define A_WINDOW_OF(field, keys)  POWERS_BELOW(BELOW_KEYS, field, 1, keys)
#define ANY_FEW(field)            EACH_BELOW(BELOW_KEYS, field, 1, 128)
#define FIRST_ALONE               "as if it saw the first {a key} alone (TPP-1)"
#define LAST_ALONE                "as if it saw the last {a key} alone (TPP-1)"

static const struct explain_mistake left_out[] = {
    {"as if the keys behind the last multiple of {a} had been left out: a tile that is not full "
     "(TPP-1)", 11, {.select = {SELECT_BEHIND}}, {A_TILE_OF(select.a)}},
    {"as if the keys behind the last multiple of {a} had been left out, of {a} and more (TPP-1)",
     12, {.select = {SELECT_BEHIND_IF_MORE}}, {A_TILE_OF(select.a)}},
    {"as if of each chunk the keys behind the last multiple of {a} had been left out (TPP-1)", 12,
     {.select = {SELECT_BEHIND_IN_CHUNKS}}, {A_TILE_OF(select.a)}},
    {"as if the last key had been left out where it is alone in a tile of {a} behind full ones: "
     "tiles counted from one key less (TPP-1)", 10, {.select = {SELECT_ALONE_IN_TILE}},
     {A_TILE_OF(select.a)}},
    {"as if the last key had been left out where it fills its chunk (TPP-1)", 11,
     {.select = {SELECT_FILLS_CHUNK}}},
    {"as if the last key had been left out where it fills a tile of {a} (TPP-1)", 12,
     {.select = {SELECT_FILLS_TILE}}, {A_TILE_OF(select.a)}},
    {"as if each chunk had as many keys as the last one of its path: the others are left out "
     "(TPP-1)", 12, {.select = {SELECT_BEHIND_FILL}}},
    {FIRST_ALONE, 13, {.select = {SELECT_BETWEEN}}, {A_WINDOW_OF(select.a, 65536)}},
    {LAST_ALONE, 13, {.select = {SELECT_BETWEEN}}, {A_WINDOW_OF(select.b, 65536)}},
    {FIRST_ALONE, 15, {.select = {SELECT_BETWEEN}}, {ANY_FEW(select.a)}},
    {LAST_ALONE, 15, {.select = {SELECT_BETWEEN}}, {ANY_FEW(select.b)}},
    {"as if it saw the first {a key} and the last {b} alone (TPP-1)", 14,
     {.select = {SELECT_BETWEEN}},
     {A_WINDOW_OF(select.a, 128), A_WINDOW_OF(select.b, MOST_WINDOW)}},
};

static const struct explain_mistake ranges[] = {
    {"as if every key {b}, {b+a}, ... had been " COUNTED("c") " (TPP-1)", 30,
     {.select = {SELECT_OF_EACH, .width = 1}},
     {POWERS_BELOW(BELOW_KEYS, select.a, 2, 64), AS_MANY(select.b, PERIOD), COUNTS}},
    {"as if {c..c+b key} of each {a} had been " COUNTED("d") " (TPP-1)", 31,
     {.select = {SELECT_OF_EACH}},
     {POWERS(select.a, 4, MOST_TILE), {AT(select.width), WIDTHS, 2}, AS_MANY(select.b, PERIODS),
      COUNTS}},
    {"as if {b} had been " COUNTED("c") " (TPP-1)", 20, {.select = {SELECT_AT}},
     {AS_MANY(select.a, KEYS), AS_MANY(select.b, KEYS_UPTO), COUNTS}},
};

const struct explain_table explain_key_tables[] = {
    {"how many keys a row sees", ALWAYS, N(lengths), OF_PATHS},
    {"masks of whole tiles", WITH_KEYS, N(masks), OF_PATHS},
    {"other K/V heads, and other strides of K and V", WITH_KEYS, N(places)},
    {"keys of other sequences", ALWAYS, N(sequences), OF_PATHS},
    {"keys that are left out or counted twice", WITH_KEYS, N(selected), OF_PATHS},
    {"tiles and windows of keys", WITH_KEYS, N(left_out), OF_PATHS},
    {"slots of a chunk", WITH_KEYS, N(slots), OF_PATHS},
    {"chunks of a path", WITH_KEYS, N(chunks), OF_PATHS},
    {NULL, ALWAYS, NULL, 0},
};

const struct explain_table explain_range_tables[] = {
    {"any range of keys", WITH_KEYS, N(ranges), OF_PATHS},
    {NULL, ALWAYS, NULL, 0},
};
