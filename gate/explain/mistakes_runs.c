/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes of prompts with modules: runs that are taken for chunks of a path, keys that are not
 * masked by position, runs that are missing, read twice, or another sequence's. */
#include "gate/explain/mistakes.h"

/* Entries of tables are laid out by hand. */
/* clang-format off */

#define OF_RUNS(field)  VARIANTS(field, ALL_KEYS, OWN_KEYS)
#define WHICH(axis)     "{" axis "|run|run of a descriptor|run of its own}"

static const struct explain_mistake run_lengths[] = {
    {"as if each " WHICH("a") " were a full chunk, also where it has fewer keys (RUNS-1)", 10,
     {.runs = {RUNS_FULL}}, {OF_RUNS(runs.keys)}},
    {"as if each run but the last one of the list were a full chunk (RUNS-1)", 11,
     {.runs = {RUNS_FULL_BUT_LAST}}},
    {"as if run k had the keys k c to k c + c - 1 of n_tokens, as chunk k of a path (RUNS-1)", 12,
     {.runs = {RUNS_BY_LENGTH}}},
    {"as if the table were walked for (n_tokens + c - 1) / c runs alone: partial runs make it "
     "longer (RUNS-1)", 11, {.runs = {.counts = COUNTS_BY_LENGTH}}},
    {"as if the table were walked for n_tokens / c runs alone (RUNS-1)", 12,
     {.runs = {.counts = COUNTS_BY_LENGTH_DOWN}}},
    {"as if the runs were chunks of a path: key j in slot j % c of entry j / c, and n_tokens less "
     "the rows behind it are seen (RUNS-1)", 11, {.runs = {RUNS_AS_PATH}}},
    {"as if the runs were chunks of a path: key j in slot j % c of entry j / c, and as many are "
     "seen as the row's position says (RUNS-1)", 12, {.runs = {RUNS_AS_PATH_TO_POSITION}}},
};

static const struct explain_mistake run_masks[] = {
    {"as if all keys of each " WHICH("a") " were seen: no mask by position (RUNS-4)", 10,
     {.runs = {RUNS_WHOLE}}, {OF_RUNS(runs.keys)}},
    {"as if a " WHICH("a") " were seen to its end once the row stands at its first key or behind "
     "(RUNS-4)", 11, {.runs = {RUNS_WHOLE_IF_SEEN}}, {OF_RUNS(runs.keys)}},
    {"as if positions were counted without gaps, in the order of the list: a run began where the "
     "one before it ends (RUNS-1)", 11, {.runs = {RUNS_WITHOUT_GAPS}}},
    {"as if the row stood at its rank, n_tokens - 1 less the rows behind it, not at its position "
     "(RUNS-4)", 11, {.runs = {RUNS_AT_RANK}}},
    {"as if the row saw the first keys of the list, n_tokens less the rows behind it, wherever "
     "they stand (RUNS-4)", 11, {.runs = {RUNS_BY_RANK}}},
    {"as if run k of the list began at position k c (RUNS-1)", 11, {.runs = {RUNS_AS_CHUNKS}}},
    {"as if the row stood at the position of {a|row 0 of all|the first row of its sequence|the "
     "last row of its sequence|the row with the number of its sequence} (RUNS-4)", 12,
     {.runs = {RUNS_AT_ROW_0}},
     {VARIANTS(runs.way, RUNS_AT_ROW_0, RUNS_AT_ROW_OF_NUMBER)}},
    {"as if the row stood at its position {+a} (RUNS-4)", 12, {.runs = {RUNS_BY}},
     {UP_TO_3(runs.by)}},
    {"as if the walk over the list stopped at the first run that begins behind the row: later "
     "ones may begin before it (RUNS-4)", 11, {.runs = {.counts = COUNTS_TO_FIRST_BEHIND}}},
    {"as if the list ended {a|with|before} the first run that is no full chunk (RUNS-1)", 11,
     {.runs = {.counts = COUNTS_TO_FIRST_PARTIAL}},
     {VARIANTS(runs.counts, COUNTS_TO_FIRST_PARTIAL, COUNTS_BEFORE_FIRST_PARTIAL)}},
};

#define OF_LIST       " had been {b|left out|read twice} (RUNS-3)"
#define COUNTS_OF_RUN VALUES(runs.times, 0, 2)

static const struct explain_mistake run_counts[] = {
    {"as if only its own runs had been read, none of a descriptor (RUNS-5)", 11,
     {.runs = {.counts = COUNTS_OWN}}},
    {"as if only runs of descriptors had been read, none of its own (RUNS-5)", 11,
     {.runs = {.counts = COUNTS_SHARED}}},
    {"as if the {a|last run of a descriptor|first run of its own}" OF_LIST, 12,
     {.runs = {.counts = COUNTS_FROM_SHARED}}, {EACH(runs.at, -1, 0), COUNTS_OF_RUN}},
    {"as if the last run of the list had been {a|left out|read twice} (RUNS-3)", 12,
     {.runs = {.counts = COUNTS_FROM_LAST}}, {COUNTS_OF_RUN}},
    {"as if the {a|first|second|third} run by position" OF_LIST, 13,
     {.runs = {.counts = COUNTS_AT_RANK}}, {EACH(runs.at, 0, 2), COUNTS_OF_RUN}},
    {"as if the {a|last|last but one} run by position" OF_LIST, 13,
     {.runs = {.counts = COUNTS_AT_LAST_RANK}}, {EACH(runs.at, 0, 1), COUNTS_OF_RUN}},
    {"as if run {a} of the list" OF_LIST, 14, {.runs = {.counts = COUNTS_AT}},
     {AS_MANY(runs.at, FIRST_RUNS), COUNTS_OF_RUN}},
    {"as if run {a} of the list, counted from the last one," OF_LIST, 15,
     {.runs = {.counts = COUNTS_FROM_LAST}}, {AS_MANY(runs.at, FIRST_RUNS), COUNTS_OF_RUN}},
};

static const struct explain_mistake run_lists[] = {
    {"as if a descriptor served the sequences begin to end - 1, not served[begin .. end) "
     "(RUNS-2)", 11, {.runs = {.by_range = 1}}},
    {"as if a descriptor did not serve the {a|first|last} sequence of its list (RUNS-2)", 12,
     {.runs = {.counts = COUNTS_NOT_FIRST_SERVED}},
     {VARIANTS(runs.counts, COUNTS_NOT_FIRST_SERVED, COUNTS_NOT_LAST_SERVED)}},
    {"as if it had the list of the sequence {a|before|behind} its own (RUNS-3)", 12,
     {.path = {SEQUENCE_BY}}, {ONE_BY(path.number)}},
    {"as if it had the list of sequence {a} (RUNS-3)", 13, {.path = {SEQUENCE}},
     {AS_MANY(path.number, SEQUENCES)}},
    {"as if " ARRAY_WORDS("b") " of a run were of the chunk of {a|the run at the other end of the "
     "list|the next run|the run before it|the run that is as far in the list by position|the first "
     "run} (RUNS-1)", 13, {.runs = {.chunk = CHUNKS_TURNED}},
     {VARIANTS(runs.chunk, CHUNKS_TURNED, CHUNKS_FIRST), OF_ARRAY(runs.array)}},
};

/* Of cases with a window, of paths, too. */
#define OF_MASKED(axis) "{" axis "|| in the shared chunks| in its own chunks}"
#define MASKED_RUNS       EACH(mask.keys, ALL_KEYS, OWN_KEYS)

static const struct explain_mistake windows[] = {
    {"as if the window had one key {a|less|more}; what its number counts is declared (CONV-6)", 7,
     {.mask = {MASK_WINDOW_BY}}, {ONE_BY(mask.by)}},
    {"as if there were no window" OF_MASKED("a") " (WINDOW-1)", 7, {.mask = {MASK_NO_WINDOW}},
     {MASKED_RUNS}},
    {"as if the window were {+a} keys long" OF_MASKED("b") " (WINDOW-1)", 12,
     {.mask = {MASK_WINDOW_BY}}, {UP_TO_3(mask.by), MASKED_RUNS}},
    {"as if no first tokens were kept beside the window" OF_MASKED("a") " (WINDOW-1)", 7,
     {.mask = {MASK_NOT_KEPT}}, {MASKED_RUNS}},
    {"as if {+a} of the first tokens were kept (WINDOW-1)", 12, {.mask = {MASK_KEPT_BY}},
     {UP_TO_3(mask.by)}},
    {"as if the window were shorter by the tokens that are kept (WINDOW-1)", 10,
     {.mask = {MASK_KEPT_COUNTED}}},
    {"as if no row saw keys after its own position" OF_MASKED("a") " (WINDOW-1)", 7,
     {.mask = {MASK_CAUSAL}}, {MASKED_RUNS}},
    {"as if it saw {+a} of the keys after its own position (WINDOW-1)", 9,
     {.mask = {MASK_AHEAD_BY}}, {UP_TO_3(mask.by)}},
    {"as if the window of each row were that of the last row of its sequence" OF_MASKED("a")
     " (WINDOW-1)", 10, {.mask = {MASK_FROM_LAST}}, {MASKED_RUNS}},
    {"as if the window were one of all keys that the row sees, those ahead among them (WINDOW-1)",
     11, {.mask = {MASK_FROM_END}}},
};

#define MASK_OF(axis) "{" axis "|| in the shared chunks| in its own chunks}"
#define BITS_OF_RUNS EACH(bits.keys, ALL_KEYS, OWN_KEYS)

static const struct explain_mistake bits[] = {
    {"as if there were no mask of bits" MASK_OF("a") " (MASK-1)", 7, {.bits = {BITS_NONE}},
     {BITS_OF_RUNS}},
    {"as if a bit of 1 took the key away" MASK_OF("a") " (MASK-1)", 7, {.bits = {BITS_INVERTED}},
     {BITS_OF_RUNS}},
    {"as if the highest bit of a byte came first (MASK-1)", 8, {.bits = {BITS_FROM_HIGH}}},
    {"as if bits of row r began at position 0, not at mask_begin[r] (MASK-1)", 8,
     {.bits = {BITS_FROM_0}}},
    {"as if keys before mask_begin were not seen (MASK-1)", 8, {.bits = {BITS_ALL_ARE}}},
    {"as if the bits were those of the row {a|before|behind} its own" MASK_OF("b") " (MASK-1)", 9,
     {.bits = {BITS_OF_ROW}}, {ONE_BY(bits.by), BITS_OF_RUNS}},
    {"as if the bits were those of the first row of its sequence" MASK_OF("a") " (MASK-1)", 9,
     {.bits = {BITS_OF_FIRST_ROW}}, {BITS_OF_RUNS}},
    {"as if a key's bit were that of its slot in the chunk (MASK-1)", 10,
     {.bits = {BITS_OF_SLOT}}},
    {"as if the bits of each row began with a byte (MASK-1)", 10, {.bits = {BITS_BY_BYTES}}},
    {"as if bits were counted from {+a} on (MASK-1)", 12, {.bits = {BITS_BY}},
     {UP_TO_3(bits.by)}},
    {"as if a mask had 32 bits at most, and keys behind them were seen (MASK-1)", 11,
     {.bits = {BITS_ENDS_OF_32, 32}}},
};

const struct explain_table explain_run_tables[] = {
    {"masks of bits", ALWAYS, N(bits), OF_LISTS},
    {"windows", ALWAYS, N(windows), OF_LISTS},
    {"how many keys a run has", ALWAYS, N(run_lengths), OF_LISTS},
    {"positions of runs and rows", ALWAYS, N(run_masks), OF_LISTS},
    {"lists of other sequences, and chunks of other runs", ALWAYS, N(run_lists), OF_LISTS},
    {"runs that are left out or read twice", WITH_KEYS, N(run_counts), OF_LISTS},
    {NULL, ALWAYS, NULL, 0},
};
