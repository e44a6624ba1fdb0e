#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof gate` from outside: verdicts, exit statuses, messages (reports: gate_reports.py).
#   tests/cli_gate.sh [COMMAND]     COMMAND: the binary, default build/chunkproof; its kernels are
# in tests/ beside it
set -u
. "$(dirname "$0")/cli.bash" gate "${1:-}"
kernels=$(dirname "$chunkproof")/tests

right() {
    status 0 --kernel "$kernels/$1.so" --cases 48 && has "right: 0 of 48 cases wrong"
}

# misbehaves HOW VERDICT CLAUSE: exit status 1, with that verdict by that clause, and the gate goes
# on to the end.
misbehaves() {
    MISBEHAVE_ALWAYS=1 MISBEHAVE=$1 status 1 --kernel "$kernels/gate/misbehaves.so" --cases 12 \
        --seconds 1 || return 1
    grep -q "^$2, .*; breaks $3$" "$work/out" && has "WRONG: "
}

# All sequences get the chunks of the first one: right for any that is alone.
among_others() {
    sed 's/(long long)s \* call->table_width/0/' tests/example/paged_kernel.c >"$work/others.c"
    status 1 --kernel "$work/others.c" --cases 60 --save "$work/others" &&
        grep -q "^depends-on-others, .*; breaks NUM-10" "$work/out" &&
            has "right for this sequence alone, but wrong together with the others" || return 1
    "$chunkproof" explain "$work/others/depends-on-others.json" --kernel "$work/others.c" \
        >"$work/out"
    has "it had seen the keys of sequence"
}

# A wrong head of 160 is compared again when its sequence runs alone, where not all are.
one_head_of_many() {
    sed 's|o\[i\] / n : 0|o[i] / n + (head == 92) : 0|' tests/example/paged_kernel.c >"$work/head.c"
    status 1 --kernel "$work/head.c" --shape h=160,d=8,b=2,rows=1 --cases 60 && has "wrong, 33 c"
}

# Partial results that are merged by exp(l_i - l), and not divided by the sum of these: the rounding
# of l shows where values are alike. Right when it is declared, and a declaration that matters.
merges_undivided() {
    sed 's/out_type = CP_BF16/out_type = CP_FP32/
        s/store(call->out, CP_BF16/store(call->out, CP_FP32/
        s/\.divides = 1/.divides = 2/
        s/, n = x + y;/, l = m + logf(x + y);\
    x = expf(lse - l);\
    y = expf(other_lse - l);/
        s|(o\[i\] \* x + other\[i\] \* y) / n|o[i] * x + other[i] * y|
        s/return m + logf(n);$/return l;/' tests/gate/bfloat.c >"$work/undivided.c"
    CFLAGS="-O2 -Itests/gate" status 0 --kernel "$work/undivided.c" --cases 200 &&
        has "partial results divided, merges not" || return 1
    sed -i 's/\.divides = 2/.divides = 1/' "$work/undivided.c"
    CFLAGS="-O2 -Itests/gate" status 1 --kernel "$work/undivided.c" --cases 300 --first &&
        has "wrong, 1 case"
}

# What is not judged for want of a claim is said, and counts for no size.
not_judged() {
    sed 's/\.step = 1/.step = 1, .divides = 1/' tests/example/paged_kernel.c >"$work/divides.c"
    status 0 --kernel "$work/divides.c" --cases 60 &&
        has "NOT JUDGED: more than 2049 keys; for 7 cases of up to 32894" &&
        has "64: 2049," || return 1
    status 0 --kernel tests/example/paged_kernel.c --cases 60 && has "64: 32894," &&
        ! grep -q "NOT JUDGED" "$work/out"
}

# It looks at lengths again when there are more or fewer sequences, as if a plan were made anew then
# alone.
keeps_lengths() {
    sed 's/^\(static int attend(const struct cp_kernel_call \*\)call) {/\1now) {\
    static int kept[64], b;\
    struct cp_kernel_call copy = *now, *call = \&copy;\
    for (int s = 0; now->n_sequences != b \&\& s < now->n_sequences; s++) {\
        kept[s] = now->n_tokens[s];\
    }\
    b = now->n_sequences;\
    copy.n_tokens = kept;/' \
        tests/example/paged_kernel.c >"$work/keeps.c"
    status 1 --kernel "$work/keeps.c" --cases 100 &&
        grep -q "^remembers, .*; breaks GATE-4" "$work/out" &&
        has "right at first, but wrong when it runs again with more keys for each sequence"
}

# It takes no sizes that it has had before, once others came.
refuses_what_it_took() {
    sed 's/^static int attend(const struct cp_kernel_call \*call) {/static int had[4096][5], n_had;\
\
static const char *refuses(const struct cp_kernel_call *c) {\
    int now[5] = {c->n_rows, c->n_heads, c->head_dim, c->chunk_size, c->n_sequences};\
    for (int i = 0; i + 1 < n_had; i++) {\
        if (memcmp(had[i], now, sizeof now) == 0 \&\&\
            memcmp(had[n_had - 1], now, sizeof now) != 0) {\
            return "it has had these sizes";\
        }\
    }\
    return NULL;\
}\
\
&\
    int now[5] = {call->n_rows, call->n_heads, call->head_dim, call->chunk_size,\
                  call->n_sequences};\
    memcpy(had[n_had++ % 4096], now, sizeof now);/
        s/    .workspace = workspace,/    .refuses = refuses,\
&/' tests/example/paged_kernel.c >"$work/once.c"
    status 1 --kernel "$work/once.c" --cases 40 --first &&
        has "is refused when it comes again after others: it has had these sizes" &&
        grep -q "^remembers, .*; breaks GATE-4" "$work/out"
}

# It gives NaNs for a call that comes again after others.
spoils_what_it_did() {
    sed 's/^static int attend(const struct cp_kernel_call \*call) {/static char had[4096][64];\
static int n_had;\
\
static int comes_again(const char *now) {\
    int others = 0, again = 0;\
    for (int i = n_had - 1; i >= 0 \&\& !again; i--) {\
        int same = memcmp(had[i], now, sizeof had[i]) == 0;\
        again = same \&\& others;\
        others |= !same;\
    }\
    return again;\
}\
\
&\
    char now[64] = {0};\
    int n = call->n_rows > 0 ? call->head_dim : 0;\
    memcpy(now, call->q, n < 32 ? 2 * (size_t)n : sizeof now);\
    int again = comes_again(now);\
    memcpy(had[n_had++ % 4096], now, sizeof now);/
        s/    return 0;/    for (int i = 0; again \&\& i < n; i++) {\
        ((uint16_t *)call->out)[i] = 0x7E00;\
    }\
&/' tests/example/paged_kernel.c >"$work/spoils.c"
    status 1 --kernel "$work/spoils.c" --cases 40 &&
        has "an earlier case gives another result when it runs again after others" &&
        grep -q "^remembers, .*; breaks GATE-4" "$work/out"
}

# What the rules of others say, of a right kernel and of one that is wrong by what most of them let
# pass.
rules() {
    status 0 --kernel "$kernels/gate/reversed.so" --cases 40 --rules --json "$work/right.json" &&
        has "acceptance rule" || return 1
    sed 's/float rescale = expf(m - largest)/float rescale = expf(m - largest) * 0.9995F/' \
        tests/example/paged_kernel.c >"$work/wrong.c"
    status 1 --kernel "$work/wrong.c" --cases 40 --rules --json "$work/wrong.json" || return 1
    python3 - "$work/right.json" "$work/wrong.json" <<'END'
import json
import sys
right, wrong = (json.load(open(name)) for name in sys.argv[1:])
for report in right, wrong:
    assert [entry["case"] for entry in report["each"]] == list(range(40)), report["each"]
    assert [entry["values"] for entry in report["usual"]] == ["normal"] * 4, report["usual"]
    for rule in report["rules"]:
        rejected = [entry for entry in report["each"] if rule["rule"] in entry["rejected"]]
        assert rule["rejected"] == len(rejected), rule
        rejected_right = [entry for entry in rejected if entry["verdict"] == "right"]
        assert rule["rejected_right"] == len(rejected_right), rule
        assert rule["accepted_wrong"] == sum(entry["verdict"] != "right" and entry not in rejected
                                             for entry in report["each"]), rule
assert all(rule["accepted_wrong"] == 0 and rule["usual_rejected"] == 0
           for rule in right["rules"]), right["rules"]
assert any(rule["rejected"] > rule["rejected_right"] for rule in wrong["rules"]), wrong["rules"]
assert any(rule["accepted_wrong"] > 20 and rule["usual_rejected"] == 0
           for rule in wrong["rules"]), wrong["rules"]
END
}

# same A B: two reports say the same, but for times.
same() {
    python3 - "$1" "$2" <<'END'
import json
import sys
one, other = (json.load(open(name)) for name in sys.argv[1:])
for report in one, other:
    report.pop("seconds")
    for tally in report["tallies"]:
        tally.pop("seconds")
assert one == other, [key for key in one if one[key] != other[key]]
END
}

any_jobs() {
    sed 's/o\[i\] = o\[i\] \* rescale/o[i] = o[i]/' tests/example/paged_kernel.c >"$work/wrong.c"
    for jobs in 1 3; do
        status 1 --kernel "$work/wrong.c" --cases 100 --jobs $jobs --json "$work/$jobs.json" ||
            return 1
    done
    same "$work/1.json" "$work/3.json"
}

# Killed after a while, the same command ends what is left; then nothing is left, and the report is
# still there.
gone_on_with() {
    sed 's/j < n_keys/j < n_keys - (n_keys > 900)/' tests/example/paged_kernel.c >"$work/wrong.c"
    local one=(--kernel "$work/wrong.c" --cases 160 --seed 3) state=(--state "$work/state")
    status 1 "${one[@]}" --json "$work/whole.json" || return 1
    timeout --foreground -s INT 1.5 "$chunkproof" gate "${one[@]}" "${state[@]}" >"$work/out" 2>&1
    [ -s "$work/state" ] || { echo "no state"; return 1; }
    status 1 "${one[@]}" --jobs 2 --state "$work/state" --json "$work/rest.json" &&
        same "$work/whole.json" "$work/rest.json" &&
        status 1 "${one[@]}" --state "$work/state" --json "$work/again.json" &&
            same "$work/whole.json" "$work/again.json"
}

# What is refused otherwise is taken, and no other size is asked for.
shaped() {
    sed 's/^static size_t workspace/static const char *refuses(const struct cp_kernel_call *c) {\
    int is_it = c->n_heads == 32 \&\& c->n_kv_heads == 8 \&\& c->head_dim == 72;\
    return is_it \&\& c->chunk_size == 24 ? 0 : "no";\
}\
\
&/
        s/    .workspace = workspace,/    .refuses = refuses,\
&/' \
        tests/example/paged_kernel.c >"$work/one.c"
    status 2 --kernel "$work/one.c" --cases 3 &&
        status 0 --kernel "$work/one.c" --cases 20 --shape h=32,h_kv=8,d=72,c=24 &&
        has "right: 0 of 20 cases wrong" || return 1
    status 0 --kernel "$kernels/gate/reversed.so" --cases 4 --shape group=5,b=70,rows=9,keys=300 &&
        has "at most: 70 sequences, 9 query rows of a sequence, 630 query rows in all, 300 keys"
}

# The same seed has the same cases: but for the times, and the least of them for the number of runs.
repeatable() {
    status 0 --kernel "$kernels/gate/reversed.so" --cases 60 --seed 7 &&
        sed -E 's/, [0-9.]+ s(;|$)/\1/' "$work/out" >"$work/first" &&
        status 0 --kernel "$kernels/gate/reversed.so" --cases 60 --seed 7 &&
            sed -E 's/, [0-9.]+ s(;|$)/\1/' "$work/out" >"$work/second" &&
        diff "$work/first" "$work/second" || return 1
    status 0 --kernel "$kernels/gate/reversed.so" --cases 60 --seed 8 &&
        ! diff -q "$work/first" "$work/out" >/dev/null
}

# A case that was found is found again, alone.
again() {
    MISBEHAVE_ALWAYS=1 MISBEHAVE='write q begin 0' status 1 --kernel "$kernels/gate/misbehaves.so" \
        --cases 8 || return 1
    local line
    line=$(sed -n 's/^  again: chunkproof gate //p' "$work/out" | head -n 1)
    [ -n "$line" ] || { echo "no line to run it again"; return 1; }
    # shellcheck disable=SC2086 # words
    MISBEHAVE_ALWAYS=1 MISBEHAVE='write q begin 0' status 1 $line && has "1 of 1 cases wrong"
}

# What is kept is small, fails again, and is right with a right kernel; and back from its file it is
# the same.
replayed() {
    local file="$work/cases/wrong.json"
    status 1 --kernel "$kernels/gate/misbehaves.so" --cases 8 --save "$work/cases" || return 1
    has "chunkproof replay $file" || return 1
    "$chunkproof" replay "$file" --kernel "$kernels/gate/misbehaves.so" >"$work/out" 2>&1
    [ $? = 1 ] && has "wrong; breaks NUM-10: count values, h 1, h_kv 1, d 1" || return 1
    "$chunkproof" replay "$file" --kernel "$kernels/gate/tree_merged.so" >"$work/out" 2>&1
    [ $? = 0 ] && has "right: count values"
}

# Chunks lie further apart than 32 bits hold. Who says so is not asked for it.
far_chunks() {
    sed 's/chunk \* call->v_chunk/(int)(&)/' tests/example/paged_kernel.c >"$work/int.c"
    ! cmp -s tests/example/paged_kernel.c "$work/int.c" || { echo "nothing was replaced";
        return 1; }
    status 1 --kernel "$work/int.c" --first --cases 60 --save "$work/far" &&
        has "out-of-bounds, 1 case; breaks GATE-3" &&
        has "so 32 bits cannot hold v_chunk times a chunk number" && has ", chunks 2^32 apart" ||
            return 1
    subcommand=replay status 1 "$work/far/out-of-bounds.json" --kernel "$work/int.c" &&
        subcommand=replay status 0 "$work/far/out-of-bounds.json" \
            --kernel tests/example/paged_kernel.c || return 1
    sed 's/^static size_t workspace/static const char *refuses(const struct cp_kernel_call *c) {\
    return c->v_chunk * c->capacity > 0x7FFFFFFF ? "offsets of 32 bits" : 0;\
}\
\
&/
        s/    .workspace = workspace,/    .refuses = refuses,\
&/' \
        "$work/int.c" >"$work/refuses.c"
    status 0 --kernel "$work/refuses.c" --cases 60 && has "right: 0 of 60 cases wrong"
}

# What is wrong with some numbers of keys alone becomes one sequence with the least of them.
shrunk_by_tiles() {
    sed 's/^    float \*o = call->workspace, m/    n_keys -= n_keys > 100 \&\& n_keys % 32 == 5;\
&/' tests/example/paged_kernel.c >"$work/tiles.c"
    ! cmp -s tests/example/paged_kernel.c "$work/tiles.c" || { echo "nothing was replaced";
        return 1; }
    status 1 --kernel "$work/tiles.c" --first --shape h=1,h_kv=1,d=16 --memory 0.002 \
        --save "$work/tiles" || return 1
    tr -d ' \n' <"$work/tiles/wrong.json" | grep -q '"operations":\[\["join",0,0,10[01]\]\]' ||
        { cat "$work/tiles/wrong.json"; return 1; }
}

# explained FILE RIGHT WRONG TEXT: the example with RIGHT replaced by WRONG is found, and explained
# by that.
explained() {
    sed "s/$1/$2/" tests/example/paged_kernel.c >"$work/wrong.c"
    ! cmp -s tests/example/paged_kernel.c "$work/wrong.c" || { echo "nothing was replaced";
        return 1; }
    status 1 --kernel "$work/wrong.c" --first --save "$work/explain" || return 1
    "$chunkproof" explain "$work/explain/wrong.json" --kernel "$work/wrong.c" >"$work/out" 2>&1
    [ $? = 1 ] && has "$3"
}

# The last bit follows from the number of the process: right in each single one.
other_process() {
    sed 's/ out\[i\] = state\[1\] != 0.0F ?/ extern int getpid(void);\
        float bit = getpid() % 2 == 0 ? 1.0F : 1.0F + 0x1p-23F;\
        out[i] = state[1] != 0.0F ? bit */' \
        tests/gate/two_phase.c >"$work/process.c"
    ! cmp -s tests/gate/two_phase.c "$work/process.c" || { echo "nothing was replaced"; return 1; }
    CFLAGS="-O2 -Itests/gate" status 1 --kernel "$work/process.c" --first --save "$work/process" &&
        grep -q "^other-bits, 1 case; breaks GATE-4" "$work/out" &&
        has "the same in each run of one process, and otherwise in a new process: out, " || return 1
    CFLAGS="-O2 -Itests/gate" subcommand=explain status 1 "$work/process/other-bits.json" \
        --kernel "$work/process.c" && has "or by an address that the system chose (GATE-4)" &&
        subcommand=replay status 0 "$work/process/other-bits.json" \
            --kernel "$kernels/gate/two_phase.so"
}

# A sum of weights that is off by the worst that the bound allows is right, and a warning: in all
# reports.
unusual() {
    sed 's/    finish(call, row, head, state);/    state[1] *= 1.0F + 0x1p-24F * (float)seen;\
&/' tests/gate/two_phase.c >"$work/unusual.c"
    ! cmp -s tests/gate/two_phase.c "$work/unusual.c" || { echo "nothing was replaced"; return 1; }
    CFLAGS="-O2 -Itests/gate" status 0 --kernel "$work/unusual.c" --cases 40 \
        --shape keys=700,d=16,h=1,h_kv=1 \
        --json "$work/unusual.json" --junit "$work/unusual.xml" --html "$work/unusual.html" \
        --save "$work/unusual" &&
        has "WARNING: " && has "as far from attention as is usual" || return 1
    for report in json xml html; do
        grep -q "WARNING: .* of case [0-9]*: .*what may cause it: .*key [0-9]* has the most" \
            "$work/unusual.$report" || return 1
    done
    python3 -c 'import json, sys
found = json.load(open(sys.argv[1]))["unusual"]
sys.exit(not (found["key"] >= 0 and found["smallest"] >= 0 and found["cause"]))' \
        "$work/unusual.json" || return 1
    CFLAGS="-O2 -Itests/gate" subcommand=explain status 0 "$work/unusual/right.json" \
        --kernel "$work/unusual.c" --time 5 && has "here a number counts as wrong" &&
        grep -q "tried on [1-9][0-9]* wrong numbers* of this case" "$work/out" || return 1
    CFLAGS="-O2 -Itests/gate" status 0 --kernel tests/gate/two_phase.c --cases 60 || return 1
    ! grep WARNING "$work/out"
}

# What it declares must mean something: else there is no verdict.
wide() {
    sed 's/= CP_SUM_FP32/= CP_SUM_FP16/; s/exp_error = 0x1p-22/exp_error = 0x1p-6/' \
        tests/example/paged_kernel.c >"$work/wide.c"
    status 2 --kernel "$work/wide.c" --cases 100 && has "NO VERDICT" &&
        has "too many for a verdict" && ! grep -q "part_lse" "$work/out"
}

# A declaration that is wider than it need be is right, and said; the example's own is not said to
# be.
closer() {
    sed 's/exp_error = 0x1p-22/exp_error = 0x1p-10/' tests/example/paged_kernel.c >"$work/wide.c"
    status 0 --kernel "$work/wide.c" --cases 100 && has ".exp_error = 0x1p-22 would be enough" &&
        status 0 --kernel "$kernels/gate/short_weights.so" --cases 100 || return 1
    ! grep "would do" "$work/out"
}

# Wide heads have many keys, too: what is wrong with both together is found; and of what had few
# keys it is said.
wide_heads() {
    sed 's/j < n_keys/j < n_keys - (n_keys > 128 \&\& call->head_dim >= 256)/' \
        tests/example/paged_kernel.c >"$work/wrong.c"
    ! cmp -s tests/example/paged_kernel.c "$work/wrong.c" &&
        status 1 --kernel "$work/wrong.c" --cases 100 &&
        status 0 --kernel "$kernels/gate/reversed.so" --cases 3 && has "keys       at most, by d: "
}

# Too few cases in that time are no verdict; a wrong one is.
in_time() {
    status 2 --kernel "$kernels/gate/reversed.so" --tier deep --time 0.5 &&
        has "--time ended the run after" && has "of 1000000 cases" &&
        has "too few for a verdict: it takes 400, or all that are asked for" &&
        has "NO VERDICT: 0 of " &&
        status 0 --kernel "$kernels/gate/reversed.so" --cases 10 --time 1000 &&
        has "right: 0 of 10 cases wrong" &&
        status 1 --kernel "$kernels/gate/cheats/zeros.so" --tier deep --time 0.5
}

# Too large is not taken, and said with its size; by chunkproof replay, too.
memory() {
    status 0 --kernel "$kernels/gate/reversed.so" --cases 40 --memory 0.001 &&
        has "cases were replaced by smaller ones" || return 1
    status 2 --kernel "$kernels/gate/reversed.so" --cases 3 --memory 0.0000001 &&
        has "NO VERDICT" &&
        has "GiB of memory, more than --memory 1e-07" || return 1
    status 1 --kernel "$kernels/gate/misbehaves.so" --cases 8 --save "$work/one/after/another" ||
        return 1
    subcommand=replay status 2 "$work/one/after/another/wrong.json" \
        --kernel "$kernels/gate/reversed.so" --memory 0.0000001 &&
        says "chunkproof replay: the kernel does not take this case: count values" &&
            says "more than --memory 1e-07"
}

# Nothing is left in /tmp.
interrupt_early() {
    printf '#!/bin/sh\nsleep 1\nexit 1\n' >"$work/cc"
    chmod +x "$work/cc"
    mkdir "$work/tmp"
    CC="$work/cc" TMPDIR="$work/tmp" "$chunkproof" gate --kernel tests/example/paged_kernel.c \
        >"$work/out" 2>"$work/err" &
    local process=$! found=0
    sleep 0.4
    [ -n "$(ls "$work/tmp")" ] || { echo "it compiles elsewhere"; return 1; }
    kill -INT $process
    wait $process || found=$?
    [ "$found" = 130 ] && [ -z "$(ls "$work/tmp")" ] || { echo "status $found"; ls "$work/tmp";
        return 1; }
}

# unreadable TEXT CONTENT: such a file is no case, and the message says why.
unreadable() {
    local found=0
    echo "$2" >"$work/bad.json"
    "$chunkproof" replay "$work/bad.json" --kernel "$kernels/gate/reversed.so" >"$work/out" \
        2>"$work/err" || found=$?
    [ "$found" = 2 ] && grep -qF -- "$1" "$work/err" || { echo "status $found, no '$1' in:";
        cat "$work/err"; return 1; }
}

# A file with a case on each line. Each is named FILE:LINE, a wrong one as well as one that is none.
lines() {
    local file=$work/lines.jsonl kernel=$kernels/gate/reversed.so wrong
    wrong=$(printf '%s\n' "$kernels"/gate/cheats/*.so | head -n 1)
    head -n 3 tests/gate/cases/paged.jsonl >"$file"
    subcommand=replay status 0 "$file" --kernel "$kernel" &&
        has "3 of 3 cases right, 0 wrong, 0 not taken" || return 1
    subcommand=replay status 1 "$file" "$file" --kernel "$wrong" &&
        has "$file:2: wrong" && has "of 6 cases right" || return 1
    head -n 1 "$file" >"$work/one.jsonl"
    subcommand=replay status 0 "$work/one.jsonl" --kernel "$kernel" && has "right: " || return 1
    printf '\n\n' | cat - "$file" >"$work/later.jsonl" # empty lines are counted, and nothing else
    subcommand=replay status 1 "$work/later.jsonl" --kernel "$wrong" &&
        has "$work/later.jsonl:4: wrong" || return 1
    head -n 2 "$file" | tr -d '\n' >"$work/beside.jsonl" # two on one line: both are on line 1
    subcommand=replay status 1 "$work/beside.jsonl" --kernel "$wrong" &&
        has "of 2 cases right" && [ "$(grep -c "^$work/beside.jsonl:1: " "$work/out")" = 2 ]
}

# bad_line TEXT LINE: as the second of three lines, it refuses all of them.
bad_line() {
    local right
    right=$(head -n 1 tests/gate/cases/paged.jsonl)
    printf '%s\n' "$right" "$2" "$right" >"$work/bad.jsonl"
    subcommand=replay status 2 "$work/bad.jsonl" --kernel "$kernels/gate/reversed.so" &&
        says "chunkproof replay: $work/bad.jsonl:$1" &&
        [ ! -s "$work/out" ]
}

no_case() {
    printf '%s' "$1" >"$work/empty.jsonl"
    subcommand=replay status 2 "$work/empty.jsonl" --kernel "$kernels/gate/reversed.so" &&
        says "empty.jsonl: there is no case in it"
}

no_file() {
    subcommand=replay status 2 "$2" --kernel "$kernels/gate/reversed.so" &&
        says "chunkproof replay: $1"
}

echo "int attend(" >"$work/bad.c"

interrupt() {
    "$chunkproof" gate --kernel "$kernels/gate/reversed.so" --tier deep >"$work/out" 2>"$work/err" &
    local process=$! found=0
    sleep 1
    kill -INT $process
    wait $process || found=$?
    [ "$found" = 130 ] || { echo "status $found"; return 1; }
    has ", interrupted"
}

for kernel in example/paged_kernel gate/reference gate/reversed gate/two_phase gate/tree_merged \
    gate/short_weights \
    gate/bfloat; do
    ok "$kernel is right" right $kernel
done
for source in tests/gate/cheats/*.c; do
    name=$(basename "$source" .c)
    ok "a cheat: $name" status 1 --kernel "$kernels/gate/cheats/$name.so" --first
done
ok "a kernel that fails" misbehaves returns failed GATE-1
ok "a kernel that crashes" misbehaves divide crashed GATE-1
ok "a kernel that exits" misbehaves exit exited GATE-1
ok "a kernel that never ends: the gate stops asking" misbehaves hang hangs GATE-1
ok "a kernel that reads on" misbehaves 'read k end 0' out-of-bounds GATE-3
ok "a kernel that writes to its input" misbehaves 'write v end -4' wrote-input GATE-3
ok "the rules of others" rules
ok "a sequence that is wrong among others alone" among_others
ok "one head of many is wrong in any batch" one_head_of_many
ok "a kernel that keeps lengths" keeps_lengths
ok "a kernel that refuses what it took" refuses_what_it_took
ok "a kernel that gives NaNs for what it did right" spoils_what_it_did
ok "what is not judged" not_judged
ok "merges that are not divided" merges_undivided
ok "the same seed, the same cases" repeatable
ok "the same verdicts with any number of jobs" any_jobs
ok "interrupted, and gone on with" gone_on_with
ok "sizes that are asked for" shaped
ok "sizes that fit nothing" wrong "h must be a multiple of h_kv" \
    --kernel "$kernels/gate/reversed.so" --shape h=6,h_kv=4
ok "a size that is none" wrong "unknown size 'e=1'" --kernel "$kernels/gate/reversed.so" --shape e=1
ok "a group that does not fit" wrong "h must be group times h_kv" \
    --kernel "$kernels/gate/reversed.so" --shape h=8,group=3
ok "more keys than a path has" wrong "a path has at most 2048 chunks" \
    --kernel "$kernels/gate/reversed.so" --shape c=1,keys=3000
ok "more heads than there may be" wrong "h is at most 1024, not 2048" \
    --kernel "$kernels/gate/reversed.so" --shape h_kv=256,group=8
ok "a size without a number" wrong "d has no number" --kernel "$kernels/gate/reversed.so" --shape d
ok "a comma with no size behind it" wrong "a size is missing at the end of 'd=128,'" \
    --kernel "$kernels/gate/reversed.so" --shape d=128,
ok "no size" wrong "a size is missing" --kernel "$kernels/gate/reversed.so" --shape ""
ok "an option that is none" wrong "chunkproof gate: unrecognized option '--bogus'" --bogus
ok "a size of 0" wrong "--shape c needs a whole number from 1 to 512, not '0'" \
    --kernel "$kernels/gate/reversed.so" --shape c=0
ok "a size that is too large" wrong "--shape c needs a whole number from 1 to 512, not '513'" \
    --kernel "$kernels/gate/reversed.so" --shape c=513
ok "a case again" again
ok "the smallest case is kept, and replayed" replayed
ok "offsets of 32 bits" far_chunks
ok "a fault of some remainders becomes a case of one sequence" shrunk_by_tiles
ok "explained: a key too few" explained 'int j = 0; j < n_keys' 'int j = n_keys > 1; j < n_keys' \
    "had been left out (TPP-1)"
ok "explained: a key too many" explained 'int n_keys = call->n_tokens\[s\] - ' \
    'int n_keys = call->n_tokens[s] + 0 * ' \
    "those behind its own position, too (PREFILL-2)"
ok "explained: another head" explained 'kv_head = head . (call->n_heads . call->n_kv_heads)' \
    'kv_head = head % call->n_kv_heads' \
    "it had taken K and V of K/V head"
ok "explained: no scale" explained 'dot \* (float)call->scale' 'dot' \
    "the scores had not been scaled (SOFTMAX-1)"
ok "explained: no rescaling" explained 'n \* rescale' 'n' "the sum of weights had not been rescaled"
ok "explained: no division" explained 'o\[i\] . n :' 'o[i] :' \
    "had not been divided by the sum of weights"
ok "cases, one on each line" lines
ok "cases: a line that is not JSON" bad_line "2:1: " x
ok "cases: a line that is cut off" bad_line "3:1: " '{"format": "chunkproof case 1",'
ok "cases: a line that is no case" bad_line '2: "format" must be' '{"format": "something"}'
ok "cases: a line with a wrong number" bad_line "2: recipe.head_dim must be" \
    "$(sed -n '1s/"head_dim":[0-9]*/"head_dim":0/p' tests/gate/cases/paged.jsonl)"
ok "cases: a file without any" no_case ''
ok "cases: a file of empty lines" no_case $'\n \n'
ok "cases: a directory" no_file "unable to open $work: Is a directory" "$work"
ok "cases: no file" no_file "unable to open $work/none: No such file" "$work/none"
ok "a case that is not JSON" unreadable "bad.json:1:" 'x'
ok "a file that is no case" unreadable '"format" must be' '{"format": "something"}'
begun='{"format": "chunkproof case 1",
    "recipe": {"values": "count", "queries": "decode", "padding": "nan"'
ok "a case with a wrong number" unreadable \
    "recipe.n_kv_heads must be a whole number from 1 to 1024" \
    "$begun"', "n_kv_heads": 0}}'
ok "a case with a seed of letters" unreadable "recipe.seed must be a string of digits, below 2^64" \
    "$begun"', "n_kv_heads": 1, "n_heads": 1, "head_dim": 1, "chunk_size": 1,
    "scale_percent": 100, "layout": 0, "seed": "7x"}}'
ok "a case with bytes that steer a terminal" unreadable "near '?'" $'{"format": \x1b}'
ok "a case with a wrong name" unreadable "recipe.values must be one of count select" \
    '{"format": "chunkproof case 1", "recipe": {"values": "all"}}'
ok "Ctrl-C ends it with what was found" interrupt
ok "Ctrl-C while it compiles leaves nothing behind" interrupt_early
ok "wide heads with many keys" wide_heads
ok "a closer declaration would do" closer
ok "no more than so many seconds" in_time
ok "no more than so much memory" memory
ok "a place for what has only one" wrong \
    "--on applies only to a source in CUDA (*.cu); this one runs on the CPU" \
    --kernel tests/example/paged_kernel.c --on executor
ok "a place for a shared object" wrong "a shared object runs where it was built for" \
    --kernel "$kernels/gate/reversed.so" --on gpu
ok "help" status 0 --help
ok "a kernel as source" status 0 --kernel tests/example/paged_kernel.c --cases 20
ok "right numbers that are unusual" unusual
ok "other bits in another process" other_process
ok "an arithmetic so wide that no bound holds" wide
ok "a source that does not compile" wrong "it does not compile" --kernel "$work/bad.c"
ok "no kernel" wrong "--kernel FILE is missing"
ok "no such kernel" wrong "No such file" --kernel "$work/none.so"
ok "not a kernel" wrong "cp_kernel" --kernel "$kernels/gate/no_symbol.so"
cp tests/example/paged_kernel.c "$work/mine.c"
ln -s mine.c "$work/link.c"
ok "two reports in one file" wrong "--json and --html name the same file" \
    --kernel "$work/mine.c" --json "$work/r" --html "$work/r"
ok "a report in the place of the kernel" wrong "--kernel and --junit name the same file" \
    --kernel "$work/mine.c" --junit "$work/link.c"
ok "the kernel is still there" cmp tests/example/paged_kernel.c "$work/mine.c"
ok "a device twice" status 0 --kernel "$kernels/gate/reversed.so" --cases 2 --json /dev/null \
    --html /dev/null
ok "no such tier" wrong "--tier needs quick, full or deep, not 'slow'" --kernel x --tier slow
ok "no such option" wrong "chunkproof gate --help" --kernels x
ok "a kernel without its option" wrong "a kernel is given with --kernel" x.so
ok "not a number" wrong "--cases needs a whole number from 1 to 1000000000, not '1.5'" \
    --kernel x --cases 1.5
ok "seconds" wrong "--seconds needs a number from 0.001 to 86400, not '0'" --kernel x --seconds 0
ok "time" wrong "--time needs a number from 0.001" --kernel x --time -1
ok "memory" wrong "--memory needs a number from 1e-09 to 65536, not 'much'" --kernel x --memory much
exit $failed
