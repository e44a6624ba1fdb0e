#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof explain` from outside: kernels with one mistake each, and what is said of it.
#   tests/cli_explain.sh [COMMAND]     COMMAND: the binary, default build/chunkproof
set -u
. "$(dirname "$0")/cli.bash" explain "${1:-}"

# kernel SED...: the example with these replacements, each of which must replace something.
kernel() {
    cp tests/example/paged_kernel.c "$work/wrong.c"
    for replacement in "$@"; do
        cp "$work/wrong.c" "$work/before.c"
        sed -i "$replacement" "$work/wrong.c"
        ! cmp -s "$work/before.c" "$work/wrong.c" ||
            { echo "nothing was replaced by $replacement"; return 1; }
    done
}

# explain VERDICT: the case of this verdict that the gate keeps is explained; any: of whichever.
explain() {
    rm -rf "$work/cases"
    "$chunkproof" gate --kernel "$work/wrong.c" --first --save "$work/cases" >"$work/gate" 2>&1
    [ "$1" != any ] || mv "$work/cases"/*.json "$work/cases/any.json"
    [ -f "$work/cases/$1.json" ] || { echo "no such verdict:"; cat "$work/gate"; return 1; }
    status 1 "$work/cases/$1.json" --kernel "$work/wrong.c"
}

# shellcheck disable=SC2016 # names of fields in backquotes

# gives_all: what is said first gives all wrong numbers that are looked at, and they are several.
gives_all() {
    python3 - "$work/out" <<'END' || { cat "$work/out"; return 1; }
import re
import sys
first = re.search(r"gives (\d+) of (\d+) wrong numbers, (\d+) different ones",
                  open(sys.argv[1]).read())
assert first and first[1] == first[2] and int(first[3]) >= 3, first
END
}

# hasnt TEXT: the output of the last command does not have it.
hasnt() {
    ! grep -qF -- "$1" "$work/out" || { echo "'$1' in:"; cat "$work/out"; return 1; }
}

# mistake TEXT SED...: it is said, gives all wrong numbers, and nothing else is said before it.
mistake() {
    local text=$1
    shift
    kernel "$@" && explain any && has "$text" && gives_all &&
        grep -m1 "^  as if\|^  lse is as if" "$work/out" >"$work/first" &&
        { grep -qF -- "$text" "$work/first" ||
            { echo "said first:"; cat "$work/first"; return 1; }; }
}

# says_too TEXT SED...: it is said, also when another mistake gives the same numbers.
says_too() {
    local text=$1
    shift
    kernel "$@" && explain any && has "$text" && gives_all
}

# declares TEXT SED...: of a kernel that computes more coarsely than it declares.
declares() {
    local text=$1
    shift
    kernel "$@" && explain any && has "its results would be right if it declared" && has "$text" &&
        has "in this case and in "
}

# The log-sum-exp, which the example does not give: this expression of m and n.
gives_lse() {
    lse=('s/CP_NO_LSE/CP_FP32/'
        's|out\[i\] = to_half(n_keys > 0 .*|&\
        if (i == 0 \&\& call->lse != NULL) {\
            ((float *)call->lse)[row * call->lse_row + head * call->lse_head] =\
                n_keys > 0 ? '"$1"' : -INFINITY;\
        }|')
}

# What the gate would refuse to judge by is not said.
factors() {
    declares '`factors` as CP_FACTORS_FP16' \
        's/rescale = expf(m - largest)/rescale = from_half(to_half(expf(m - largest)))/' &&
        hasnt '`part_lse`' && hasnt '`score_promotes`'
}

in_some_elements() {
    mistake "the sum of weighted values had not been rescaled when the maximum grew" \
        's/o\[i\] = o\[i\] \* rescale/o[i] = o[i] * (i < 8 || i >= 24 ? rescale : 1.0F)/' &&
        has "of these rows are right, and would not be" &&
        grep -q "in elements 8 to 1[0-9]* alone\|in elements 8 to 2[0-9]* alone" "$work/out"
}

# A NaN that becomes 0 is no row that saw no key.
swallowed() {
    kernel 's/int n_keys = call->n_tokens\[s\] - .*;/int n_keys =\
        (call->n_tokens[s] + 3) \/ 4 * 4 - (call->query_begin[s + 1] - 1 - row);/' \
        's/to_half(n_keys > 0 . o\[i\] . n : 0.0F)/to_half(n_keys > 0 \&\& !isnan(o[i] \/ n) ?\
            o[i] \/ n : 0.0F)/' &&
        explain wrong && has "K is read where no key is: slots" &&
        has "V is read where no key is: slots" && has "behind the last key of sequence" &&
        has "as if it took the last chunk to its end, where no key is (GATE-3)" &&
        hasnt "it had seen no key"
}

# V of a slot behind the last key, times 0.
times_nothing() {
    kernel 's/j < n_keys; j++/j < n_keys + (n_keys % call->chunk_size != 0); j++/' \
        's/float weight = \(expf(score - largest)\)/float weight = j < n_keys ? \1 : 0.0F/' \
        's/score = \(dot \* (float)call->scale\)/score = j < n_keys ? \1 : -INFINITY/' &&
        explain not-a-number && has "V is read where no key is: slot" &&
        hasnt "K is read where no key is"
}

workspace() {
    kernel 's/o\[i\] = 0.0F;/if (i % 2 == 0) o[i] = 0.0F;/' && explain other-bits &&
        has "elements differ between two runs, 1" &&
        has "it depends on the bytes that were in the workspace before" && has "(GATE-4)"
}

out_before() {
    kernel 's/out\[i\] = to_half(n_keys > 0 . o\[i\] . n : 0.0F)/& ^ (out[i] \& 2)/' &&
        explain other-bits &&
        has "it depends on the bytes that were in out or lse before"
}

# Another convention is named, and no mistake is tried.
in_bits() {
    gives_lse '(m + logf(n)) * 1.44269504F'
    kernel "${lse[@]}" && explain any && has "right if it declared .lse_base = CP_LSE_BITS in" &&
        hasnt "mistakes are tried"
}

# The judge allows so much of a log-sum-exp, and explain no more.
as_the_judge() {
    gives_lse 'm + logf(n) + 2e-6F'
    kernel "${lse[@]}" && explain wrong && hasnt "wrong in 0 of" && has "lse is"
}

# What stands in the table behind the last chunk of a path is no chunk, but lies somewhere by the
# strides.
no_chunk() {
    kernel 's|table\[j / call->chunk_size\]|table[j / call->chunk_size +\
        (j == n_keys - 1 \&\& j / call->chunk_size + 1 < call->table_width)]|' &&
        explain out-of-bounds && has "by the strides of the call chunk -1, slot" &&
        has "-1 is no chunk: the table has it behind the last chunk of a row"
}

# Where the cause is known, it is not said that none is.
named() {
    times_nothing && hasnt "no mistake that is known here" && hasnt "it is no rounding" &&
        has "look at what is said above first" || return 1
    gives_lse 'm + logf(n)'
    kernel "${lse[@]}" 's/logf(n) : -INFINITY/logf(n) : 0.0F/' && explain any &&
        has "right if it declared .empty_lse = CP_EMPTY_VALUE, .empty_value = 0" &&
        hasnt "no mistake that is known here"
}

small_workspace() {
    kernel 's/return (size_t)call->head_dim \*/return (size_t)(call->head_dim - 1) */' &&
        explain out-of-bounds && has "as many bytes as workspace() asked for"
}

# A case without a prompt, whose sequence has one key: cases like it have more.
appended() {
    gives_lse 'm + logf(n)'
    kernel "${lse[@]}" \
        '/float dot = 0.0F/,/dot +=/s/i < call->head_dim/i < call->head_dim \/ 32 * 32/' &&
        explain any || return 1
    python3 - "$work/cases/any.json" >"$work/appended.json" <<'END'
import json
import sys
case = json.load(open(sys.argv[1]))
case["recipe"].update(values="normal", head_dim=80, chunk_size=1, n_heads=1, n_kv_heads=1,
                      queries="decode", without_lse=False,
                      operations=[["append", 0, 0, 0]])
json.dump(case, sys.stdout)
END
    status 1 "$work/appended.json" --kernel "$work/wrong.c" && has "and must be" && has "0 joins" &&
        has "the elements behind the last multiple of 32 of Q and K had been left out" && gives_all
}

# A mistake that is not known: nothing is claimed.
unknown() {
    kernel 's/float weight = expf(score - largest)/&\
        * (1.0F + 0.3F * sinf(3.0F * score + (float)j))/' && explain wrong &&
        has "no mistake that is known here" && hasnt "as if" && hasnt "would be right if"
}

# lists VERDICT SED...: the case with modules that the gate keeps of tests/gate/lists.c with these
# replacements is explained (RUNS-1).
lists() {
    local verdict=$1 at=$PWD
    shift
    cp tests/gate/lists.c "$work/lists.c"
    for replacement in "$@"; do
        cp "$work/lists.c" "$work/before.c"
        sed -i "$replacement" "$work/lists.c"
        ! cmp -s "$work/before.c" "$work/lists.c" ||
            { echo "nothing was replaced by $replacement"; return 1; }
    done
    cc -O2 -shared -fPIC -I"$at/include" -I"$at" -I"$at/tests/gate" -o "$work/lists.so" \
        "$work/lists.c" "$(dirname "$chunkproof")/libchunkproof.a" -lm || return 1
    rm -rf "$work/cases"
    "$chunkproof" gate --kernel "$work/lists.so" --first --save "$work/cases" >"$work/gate" 2>&1
    [ -f "$work/cases/$verdict.json" ] || { echo "no such verdict:"; cat "$work/gate"; return 1; }
    status 1 "$work/cases/$verdict.json" --kernel "$work/lists.so" &&
        has "the sequences, with their runs (RUNS-1)" && hasnt "of the path" && hasnt "(PLAN-2)"
}

# What is said first gives all, and is of runs.
of_runs() {
    lists wrong 's/, n = seen_of(run, call->position.row.);/, n = run.n_tokens;/' && gives_all &&
        has "as if all keys of each run were seen: no mask by position (RUNS-4)"
}

# A slot of a run that no key is in: a NaN there shows.
padding_of_runs() {
    lists not-a-number 's/add_run(call, run_of(call, s, k), row, head)/add_run(call,\
        (struct cp_run){run_of(call, s, k).chunk, call->chunk_size, run_of(call, s, k).position},\
        row, head)/' && gives_all && has "K is read where no key is: slot" &&
        has "behind the keys of a run of sequence" && has "also where it has fewer keys (RUNS-1)"
}

# Who is served is said, descriptor by descriptor.
served() {
    lists depends-on-others 's/for (int k = 0; k < call->table_width/for (int k =\
        call->n_shared_chunks[s]; k < call->table_width/' && gives_all && has "(RUNS-2)" &&
        has "as if only its own runs had been read, none of a descriptor (RUNS-5)" &&
        grep -q "^    C[0-9]*:[0-9]*@[0-9]*  \[[0-9]*,[0-9]*)  S[0-9]* S[0-9]" "$work/out"
}

# None of the mistakes that are tried: the second key of a run is halved where it has five or more.
unknown_of_runs() {
    lists wrong 's/float weight = expf(score\[t\] - m);/&\
        weight *= t == 1 \&\& run.n_tokens > 2 ? 0.5F : 1.0F;/' &&
        has "no mistake that is known here" && hasnt "as if" && hasnt "would be right if"
}

# No chunk of the table: the advice is of runs.
no_chunk_of_runs() {
    lists out-of-bounds 's/run_of(call, s, k).n_tokens > 0; k++/(k == 0 ||\
        run_of(call, s, k - 1).n_tokens > 0); k++/' \
        's/, n = \(seen_of(run, call->position.row.)\);/, n = run.chunk >= 0 ? \1 : 1;/' &&
        has "-1 is no chunk: the table has it behind the last run of a row" && has "(RUNS-1)"
}

messages() {
    kernel 's/n \* rescale/n/' && explain wrong || return 1
    local case=$work/cases/wrong.json
    wrong "chunkproof explain: unable to open" "$work/none.json" --kernel "$work/wrong.c" &&
        wrong "chunkproof explain: $work/none.so: No such file" "$case" --kernel "$work/none.so" &&
        wrong "chunkproof explain: $work/none.c: No such file" "$case" --kernel "$work/none.c" ||
        return 1
    echo '{"format": "x"}' >"$work/bad.json"
    wrong "chunkproof explain: $work/bad.json: \"format\" must be" "$work/bad.json" \
        --kernel "$work/wrong.c" &&
        wrong "chunkproof explain: --on needs gpu or executor, not 'bad'" "$case" \
            --kernel "$work/wrong.c" --on bad &&
        wrong "chunkproof explain: --seconds needs a number" "$case" --kernel "$work/wrong.c" \
            --seconds bad &&
        wrong "chunkproof explain: unrecognized option '--bogus'" --bogus &&
        says "see \`chunkproof explain --help\`" &&
        status 2 "$case" --kernel "$work/none.so" &&
        [ "$(grep -o none.so "$work/err" | wc -l)" = 1 ]
}

# --time ends it: what was not tried is named, and nothing is claimed of it.
limited() {
    kernel 's/n \* rescale/n/' && explain wrong || return 1
    local case=$work/cases/wrong.json
    status 1 "$case" --kernel "$work/wrong.c" --time 0.001 && has "for want of time: " &&
        has "sums that are not rescaled" && has "no mistake that was tried" &&
        hasnt "it declared" &&
        wrong "chunkproof explain: --time needs a number" "$case" --kernel "$work/wrong.c" \
            --time bad &&
        subcommand=replay wrong "chunkproof replay: unrecognized option '--time'" "$case" --time 5
}

# So does Ctrl-C: a case of many keys takes longer than that.
interrupted() {
    kernel 's/n \* rescale/n/' && explain wrong || return 1
    python3 - "$work/cases/wrong.json" >"$work/long.json" <<'END'
import json
import sys
case = json.load(open(sys.argv[1]))
case["recipe"].update(values="normal", head_dim=128, chunk_size=16, n_heads=4, n_kv_heads=2,
                      operations=[["join", 0, 0, 4000]])
json.dump(case, sys.stdout)
END
    "$chunkproof" explain "$work/long.json" --kernel "$work/wrong.c" --time 600 >"$work/out" 2>&1 &
    local process=$! tries=0
    until pgrep -P $process >/dev/null || [ $((tries += 1)) -gt 600 ]; do sleep 0.1; done
    sleep 1
    kill -INT $process
    wait $process
    local found=$?
    [ $found = 130 ] && has "the sequences, with their chunks" && has "for want of time: " ||
        { echo "status $found"; cat "$work/out"; return 1; }
}

# A kernel that is right: nothing is explained; and the case of a wrong one is right with it.
right() {
    kernel 's/n \* rescale/n/' && explain wrong || return 1
    status 0 "$work/cases/wrong.json" --kernel tests/example/paged_kernel.c && has "right: " &&
        hasnt "as if" && hasnt "it declared"
}

# What it comes from is not an arithmetic that is wider: it is wrong where nothing is rounded.
no_rounding() {
    kernel 's/float score = dot \* (float)call->scale/& + 0.05F * (float)(j - n_keys)/' &&
        explain wrong &&
        has "it is no rounding, and no wider declaration makes it right" && hasnt "it declared"
}

# A table that is kept from call to call. The replay of what is saved shows it, each time, and a
# right kernel passes.
remembers() {
    kernel 's/out\[i\] = to_half(n_keys > 0 .*/static int calls;\
        &\
        out[i] ^= i == 0 \&\& ++calls % 64 == 63;/' || return 1
    rm -rf "$work/cases"
    "$chunkproof" gate --kernel "$work/wrong.c" --first --save "$work/cases" >"$work/gate"
    grep -q '"before": {' "$work/cases/other-bits.json" ||
        { echo "no case before it"; cat "$work/gate"; return 1; }
    status 1 "$work/cases/other-bits.json" --kernel "$work/wrong.c" &&
        has "right in a fresh process: GATE-4" &&
        has "after this case, in the same process" &&
        subcommand=replay status 1 "$work/cases/other-bits.json" --kernel "$work/wrong.c" &&
        subcommand=replay status 0 "$work/cases/other-bits.json" \
            --kernel tests/example/paged_kernel.c || return 1
    sed -i 's/"before": {/"before": {"seed": "x", /' "$work/cases/other-bits.json"
    subcommand=replay status 2 "$work/cases/other-bits.json" --kernel "$work/wrong.c" || return 1
}

values_fp16='s/o\[i\] = o\[i\] \* rescale + weight \* from_half(v\[i\])/o[i] = from_half(to_half(\
            from_half(to_half(o[i] * rescale)) + from_half(to_half(weight * from_half(v[i])))))/'
score_fp16='s/dot += \(from_half(q\[i\]) \* from_half(k\[i\])\)/dot = from_half(to_half(\
            dot + from_half(to_half(\1))))/'
weight_fp16='s/float weight = \(expf(score - largest)\);/float weight = from_half(to_half(\1));/'
weight_bf16='s/float weight = expf(score - largest);/&\
        uint32_t bits;\
        memcpy(\&bits, \&weight, 4);\
        bits = (bits + 0x8000) \& 0xFFFF0000;\
        memcpy(\&weight, \&bits, 4);/'
partials='s/m = largest;/&\
        n = from_half(to_half(n));\
        for (int i = 0; i < call->head_dim; i++) {\
            o[i] = from_half(to_half(o[i]));\
        }/'

ok "a sum of values in binary16" declares '`values` as CP_SUM_FP16' "$values_fp16"
ok "short sums that are not promoted" declares '`values_promotes` as' "$values_fp16" \
    's/values = CP_SUM_FP32/values = CP_SUM_FP16, .values_promotes = 1/'
ok "a sum of scores in binary16" declares '`score` as CP_SUM_FP16' "$score_fp16"
ok "weights in binary16" declares '`weights` as CP_FP16' "$weight_fp16"
ok "weights in bfloat16" declares '`weights` as CP_BF16' "$weight_bf16"
ok "partial results in binary16" declares '`partials` as CP_FP16' "$partials"
ok "a coarse exponential" declares '`exp_error` as 0x1p-1' \
    's/float weight = expf(score - largest)/& * (1.0F + 0x1p-13F * (float)(j % 3))/'
ok "a divisor that something is added to" declares '`epsilon` as 0x1p-10' \
    's|o\[i\] / n :|o[i] / (n + 5e-4F) :|'
ok "factors that are rounded" factors
ok "an output that is cut off" declares '`truncates` as 1' 's/rintf(ldexpf/truncf(ldexpf/'
ok "a sum of weights in binary16" declares '`partials` as CP_FP16' \
    's/n = n \* rescale + weight/n = from_half(to_half(n * rescale + weight))/'
ok "subnormal numbers that become 0" declares '`flushes` as 1' \
    's/if (size >= 0x1p-14F) {/if (size < 0x1p-14F) {\n        return (uint16_t)sign;\n    }\n&/'
ok "in some elements alone" in_some_elements
ok "a NaN that was swallowed" swallowed
ok "a number behind the last key, times 0" times_nothing
ok "bytes that were in the workspace" workspace
ok "bytes that were in out" out_before
ok "what the judge allows" as_the_judge
ok "a case without a prompt" appended
ok "a chunk that is none" no_chunk
ok "a cause that is named" named
ok "a mistake that is not known" unknown
ok "runs" of_runs
ok "empty slots of runs" padding_of_runs
ok "descriptors" served
ok "a mistake of runs that is not known" unknown_of_runs
ok "a run that is none" no_chunk_of_runs
ok "messages" messages
ok "a workspace that is too small" small_workspace
ok "a kernel that is right" right
ok "no rounding" no_rounding
ok "a limit of time" limited
ok "Ctrl-C" interrupted
ok "what is kept from call to call" remembers
ok "a log-sum-exp in bits" in_bits
for base in 'm)@it were the largest score alone' \
    '-(m + logf(n)))@its sign were wrong' 'logf(n))@the largest score had not been added'; do
    gives_lse "(${base%@*}"
    ok "a log-sum-exp: ${base#*@}" mistake "lse is as if ${base#*@}" "${lse[@]}"
done
ok "the last key" mistake "the last key had been left out" \
    's/j < n_keys; j++/j < n_keys - (n_keys > 1); j++/'
ok "rows counted from the first key" mistake \
    "rows are counted from the first key, not from the last" \
    's/int n_keys = call->n_tokens\[s\] - .*;/int n_keys = row - call->query_begin[s] + 1;/'
ok "a table that is not read" mistake "the table were not read" \
    's/int chunk = table\[j . call->chunk_size\]/int chunk = j \/ call->chunk_size/'
ok "the shared chunks" mistake "the shared chunks had been left out" \
    's/int j = 0; j < n_keys/int j = call->n_shared_chunks[s] * call->chunk_size; j < n_keys/'
ok "V with the strides of K" mistake "V had been read with the strides of the other of K and V" \
    's/chunk \* call->v_chunk/chunk * call->k_chunk/
    s/kv_head \* call->v_head + slot \* call->v_slot/kv_head * call->k_head + slot * call->k_slot/'
ok "the sign of the scores" mistake "the scores had the wrong sign" \
    's/float score = dot/float score = -dot/'
ok "a scale of its own" says_too "the scale were 1 / sqrt(d), not the call's" \
    's/(float)call->scale/(1.0F \/ sqrtf((float)call->head_dim))/'
exit $failed
