#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof gate` and the conventions that kernels declare (spec/conventions.md).
#   tests/cli_gate_conventions.sh [COMMAND]
set -u
. "$(dirname "$0")/cli.bash" gate "${1:-}"
kernels=$(dirname "$chunkproof")/tests

# right KERNEL LINE: it is, and its conventions are said so.
right() {
    status 0 --kernel "$kernels/gate/$1.so" --cases 100 && has "right: 0 of 100 cases wrong" &&
        has "by         $2"
}

# A kernel without conventions of its own has no such line.
usual() {
    status 0 --kernel "$kernels/example/paged_kernel.so" --cases 48 || return 1
    ! grep -q "^by " "$work/out"
}

# changed KERNEL SED: its source, changed, in $work/changed.c.
changed() {
    sed "$2" "tests/gate/$1.c" >"$work/changed.c"
    ! cmp -s "tests/gate/$1.c" "$work/changed.c"
}

export CFLAGS="-O2 -I$PWD/tests/gate"

# The number that is wrong is named together with what would make it right.
told() {
    changed other_conventions "$1" && status 1 --kernel "$work/changed.c" --cases 100 &&
        has "$2"
}

# Log-sum-exps in 16 bits cost a verdict where there are many: what else may be declared is said.
coarse_parts() {
    changed parts_lse16 's/PART_LSE_FP16/PART_LSE_BF16/; s/\.n_parts = 4/.n_parts = 0/' &&
        status 2 --kernel "$work/changed.c" --cases 48 && has "NO VERDICT" &&
        has "A longer step allows more keys, and so do \`n_parts\` or \`part_keys\`, and \
\`part_lse\` as CP_PART_LSE_FP32"
}

bits_of_cuts() {
    VARIES=cuts status 1 --kernel "$kernels/gate/varies.so" --cases 48 || return 1
    grep -q "^other-bits, .*; breaks CONV-5$" "$work/out" &&
        has "has other bits when the sequence's rows come in two calls"
}

bits_of_batches() {
    VARIES=batch status 1 --kernel "$kernels/gate/varies.so" --cases 48 &&
        has "has other bits when the sequence is alone in a call"
}

cuts_not_declared() {
    changed varies 's/= CP_INVARIANT_CUTS/= CP_INVARIANT_BATCH/' &&
        VARIES=cuts status 0 --kernel "$work/changed.c" --cases 48 &&
        has "a row has the same bits in any batch"
}

json() {
    status 0 --kernel "$kernels/gate/other_conventions.so" --cases 48 --json "$work/json" &&
        python3 - "$work/json" <<'END'
import json
import sys
conventions = json.load(open(sys.argv[1]))["kernel"]["conventions"]
assert conventions == {"lse_base": "2", "empty_out": "nan", "empty_lse": "value",
                       "empty_value": -50000.0, "never": [], "invariant": "cuts",
                       "window": "of-keys", "cap": "first", "bias": "signed",
                       "sink": "in-lse"}, conventions
END
}

json_infinity() {
    changed other_conventions 's/^#define NOTHING .*/#define NOTHING INFINITY/;
        s/^#define SENTINEL .*/#define SENTINEL INFINITY/; s/.invariant = /.never = 8, &/' &&
        status 0 --kernel "$work/changed.c" --cases 48 --json "$work/json" &&
        python3 - "$work/json" <<'END'
import json
import sys
conventions = json.load(open(sys.argv[1]))["kernel"]["conventions"]
assert conventions["empty_value"] == "infinity", conventions
assert conventions["never"] == ["unequal-rows"], conventions
END
}

# A case with a row that sees no key, kept for a kernel that takes it, is none of one that does not.
excluded() {
    changed other_conventions 's/^#define SENTINEL .*/#define SENTINEL 0.0/' &&
        status 1 --kernel "$work/changed.c" --cases 100 --save "$work/kept" || return 1
    sed 's/\.invariant = [A-Z_]*/.never = CP_NEVER_EMPTY_ROWS/' "$work/changed.c" >"$work/never.c"
    local found=0
    "$chunkproof" replay "$work"/kept/*.json --kernel "$work/never.c" >"$work/out" 2>&1 || found=$?
    [ $found = 2 ] && has "it has what cp_kernel.conventions.never excludes: CP_NEVER_"
}

# right_as KERNEL LINE: as right(), with this line.
right_as() {
    status 0 --kernel "$kernels/gate/$1.so" --cases 48 && has "right: 0 of 48 cases wrong" &&
        has "$2"
}

# Of each convention of scores: a kernel of another one is told so.
score_conventions() {
    explained score_paged "s/s + call->slopes\\[head\\] \\* (float)(t - p)/\
s + call->slopes[head] * (float)t/" \
        "right if it declared .bias = CP_BIAS_POSITION in cp_kernel.conventions (CONV-8)" &&
        explained score_splits "s/\\.cap = CP_CAP_LAST/.cap = CP_CAP_FIRST/" \
            "right if it declared .cap = CP_CAP_LAST in cp_kernel.conventions (CONV-7)" &&
        explained score_splits "s/\\.sink = CP_SINK_BESIDE_LSE/.sink = CP_SINK_IN_LSE/" \
            "right if it declared .sink = CP_SINK_BESIDE_LSE in cp_kernel.conventions (CONV-9)"
}

json_scores() {
    status 0 --kernel "$kernels/gate/score_splits.so" --cases 48 --json "$work/json" &&
        python3 - "$work/json" <<'END'
import json
import sys
kernel = json.load(open(sys.argv[1]))["kernel"]
assert kernel["scores"] == ["cap", "slopes", "sinks"], kernel
assert kernel["conventions"]["cap"] == "last", kernel
assert kernel["conventions"]["bias"] == "distance", kernel
assert kernel["conventions"]["sink"] == "beside-lse", kernel
assert kernel["arithmetic"]["tanh_absolute"] == 2.0**-20, kernel
END
}

json_cache() {
    status 0 --kernel "$kernels/gate/cache_tokens.so" --cases 48 --json "$work/json" &&
        python3 - "$work/json" <<'END'
import json
import sys
kernel = json.load(open(sys.argv[1]))["kernel"]
assert kernel["cache"] == {"k": "e4m3", "v": "int8", "scales": "token"}, kernel
assert kernel["arithmetic"]["k_dequantised"] == "fp32", kernel
END
}

# A scale of the other array is named, and a kernel that rounds more than it says is told so.
cache_named() {
    explained cache_tokens 's/call->v_scales\[at\]/call->k_scales[at]/' \
        "as if V had been multiplied by the scale of the other array"
}

# A case with a cap is none of a kernel that takes no cap.
no_cap() {
    changed score_paged 's/cap \* tanhf(s \/ cap)/cap * tanhf(s)/' &&
        status 1 --kernel "$work/changed.c" --cases 60 --save "$work/scores" || return 1
    local found=0
    sed 's/CP_SCORES_CAP | //' tests/gate/score_paged.c >"$work/uncapped.c"
    "$chunkproof" replay "$work"/scores/*.json --kernel "$work/uncapped.c" >"$work/out" 2>&1 ||
        found=$?
    rm -r "$work/scores"
    [ $found = 2 ] && has "it has what cp_kernel.scores does not take: CP_SCORES_CAP"
}

# shrunk SED PYTHON: the smallest case of a changed kernel with a table, which is `r` in Python.
shrunk() {
    changed score_relative "$1" &&
        status 1 --kernel "$work/changed.c" --cases 60 --first --save "$work/tables" || return 1
    python3 - "$work/tables/wrong.json" "$2" <<'END' && return
import json
import sys
r = json.load(open(sys.argv[1]))["recipe"]
assert eval(sys.argv[2]), r
END
    rm -r "$work/tables"
    return 1
}

# What a case needs of a table stays: none; an end; a row's own entry.
smaller_tables() {
    shrunk 's/\* tanhf(s \/ cap)/* tanhf(s)/' \
        '"cap" in r and not {"biases", "n_biases", "own_bias", "sinks"} & r.keys()' &&
        shrunk 's/n - 1 ? n - 1 : i/n - 1 ? 0 : i/' '"cap" not in r and r["n_biases"] <= 3' &&
        shrunk 's/i = call->own_bias + p - t/i = p - t/' \
            'r["n_biases"] == r["own_bias"] + 1 == 2'
}

# A case with a table is none of a kernel that takes none.
no_table() {
    local found=0
    sed 's/CP_SCORES_BIASES | //' tests/gate/score_relative.c >"$work/none.c"
    "$chunkproof" replay "$work"/tables/*.json --kernel "$work/none.c" >"$work/out" 2>&1 ||
        found=$?
    [ $found = 2 ] && has "it has what cp_kernel.scores does not take: CP_SCORES_BIASES"
}

# Behind the last entry of the last head nothing may be read.
beside_the_table() {
    changed score_relative 's/1 ? n - 1 : i/1 ? (call->n_heads - head) * n + 16 : i/' &&
        status 1 --kernel "$work/changed.c" --cases 60 --first &&
        has "read 64 bytes past the end of biases"
}

# explained KERNEL SED WORDS: of a changed kernel `explain` says so.
explained() {
    changed "$1" "$2" && status 1 --kernel "$work/changed.c" --cases 100 --save "$work/windows" ||
        return 1
    "$chunkproof" explain "$work"/windows/*.json --kernel "$work/changed.c" >"$work/out" 2>&1
    rm -r "$work/windows"
    has "$3"
}

window_named() {
    explained window_phases 's/= CP_WINDOW_BEFORE/= CP_WINDOW_OF_KEYS/' \
        "right if it declared .window = CP_WINDOW_BEFORE in cp_kernel.conventions (CONV-6)"
}

window_longer() {
    explained window_paged 's/p + 1 - call->window/p - call->window/' \
        "as if the window had one key more; what its number counts is declared (CONV-6)"
}

json_windows() {
    status 0 --kernel "$kernels/gate/window_phases.so" --cases 48 --json "$work/json" &&
        python3 - "$work/json" <<'END'
import json
import sys
kernel = json.load(open(sys.argv[1]))["kernel"]
assert kernel["masks"] == ["window"], kernel
assert kernel["conventions"]["window"] == "before", kernel
END
}

# One window alone: the kernel refuses all others.
one_window() {
    changed window_phases 's/^static size_t workspace(/static const char *refuses(const struct \
cp_kernel_call *call) { return call->window == 7 ? NULL : "another window"; }\n&/;
        s/\.attend = attend,/& .refuses = refuses,/' &&
        status 0 --kernel "$work/changed.c" --cases 100 --shape window=8 &&
        has "right: 0 of 100 cases wrong"
}

# A kernel without windows is asked for none, by a shape or by a case.
no_window() {
    status 2 --kernel "$kernels/gate/two_phase.so" --shape window=8 &&
        grep -q "=8: the kernel takes no window; if it does, it declares .masks" "$work/err" ||
        return 1
    changed window_paged 's/p + 1 - call->window/p - call->window/' &&
        status 1 --kernel "$work/changed.c" --cases 60 --save "$work/windows" || return 1
    local found=0
    "$chunkproof" replay "$work"/windows/*.json --kernel "$kernels/gate/two_phase.so" \
        >"$work/out" 2>&1 || found=$?
    rm -r "$work/windows"
    [ $found = 2 ] && has "it has what cp_kernel.masks does not take: CP_MASKS_WINDOW"
}

# No call with a sequence alone: nothing was tried, and that is said.
not_tried() {
    changed other_conventions 's/^static int attend(/static const char *refuses(const struct \
cp_kernel_call *call) { return call->n_sequences < 2 ? "one sequence" : NULL; }\n&/;
        s/\.attend = attend,/& .refuses = refuses,/' &&
        status 0 --kernel "$work/changed.c" --cases 60 &&
        has "NOT TRIED: that bits are the same in any batch (CONV-5)"
}

ok "the usual conventions are not said" usual
ok "other conventions" right other_conventions "log-sum-exps of base 2; a row that sees no key \
gives NaNs, and a log-sum-exp of -50000; a row has the same bits in any batch and call"
ok "rows that are skipped" right empty_skipped "a row that sees no key gives anything, and a \
log-sum-exp of anything; no call has a sequence without rows; a row has the same bits in any \
batch and call"
ok "a scaled query" right scaled_query "a row that sees no key gives zeros; no call has a row that \
sees no key, or a sequence without rows, or unequal numbers of rows; a row has the same bits in \
any batch and call"
ok "the base is named" told 's/= CP_LSE_BITS/= CP_LSE_NATURAL/' \
    "right if the kernel declared .lse_base = CP_LSE_BITS (CONV-1)"
ok "NaNs are named" told 's/= CP_EMPTY_NAN/= CP_EMPTY_NEUTRAL/' \
    "right if the kernel declared .empty_out = CP_EMPTY_NAN (CONV-2)"
ok "a value is named" told 's/^#define SENTINEL .*/#define SENTINEL 0.0/' \
    "right if the kernel declared .empty_value = -50000 (CONV-2)"
ok "bits that depend on how a prompt is cut" bits_of_cuts
ok "bits that depend on the batch" bits_of_batches
ok "cuts that are not declared" cuts_not_declared
ok "a case of another kernel" excluded
ok "bits that are never asked for" not_tried
ok "log-sum-exps in 16 bits, too many of them" coarse_parts
ok "windows" right_as window_paged "masks      causal, window, ahead, kept (WINDOW-1)"
ok "scores that are changed" right_as score_paged \
    "scores     scaled, cap, slopes, sinks (SCORE-1 to SCORE-5)"
ok "their other conventions" right score_splits "log-sum-exps of base 2; a row that sees no key \
gives zeros, and a log-sum-exp of -infinity; the bias is capped, too; a bias is of the distance to \
the row; log-sum-exps are without the sink"
ok "the other convention of scores is named" score_conventions
ok "scores as JSON" json_scores
ok "a cache of 8 bits" right_as cache_heads \
    "cache      K e5m2, V e5m2, with a scale for each head (CONV-10)"
ok "a cache as JSON" json_cache
ok "the scale of the other array is named" cache_named
ok "no cap where none is taken" no_cap
ok "a table of biases" right_as score_relative \
    "scores     scaled, cap, sinks, biases (SCORE-1 to SCORE-5)"
ok "a table that is as small as it can be" smaller_tables
ok "no table where none is taken" no_table
ok "nothing is read beside the table" beside_the_table
ok "the other order of cap and bias is named" explained score_relative \
    "s/\\.scores = CP_SCORES_CAP/.conventions = {.cap = CP_CAP_LAST}, &/" \
    "right if it declared .cap = CP_CAP_FIRST in cp_kernel.conventions (CONV-7)"
ok "windows of keys before" right window_phases "a row that sees no key gives zeros, and a \
log-sum-exp of -infinity; a window counts the keys before the row's own position"
ok "the other window is named" window_named
ok "a window that is a key longer" window_longer
ok "windows as JSON" json_windows
ok "a window of one size" one_window
ok "no window where none is taken" no_window
ok "the report as JSON" json
ok "the report as JSON, of an infinity" json_infinity
exit $failed
