#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof gate` on kernels that merge results, from outside: verdicts, messages, reports.
#   tests/cli_gate_merging.sh [COMMAND]     COMMAND: the binary, default build/chunkproof; its
# kernels are in tests/ beside it
set -u
. "$(dirname "$0")/cli.bash" gate "${1:-}"
cd "$(dirname "$0")/.." || exit 2
kernels=$(dirname "$chunkproof")/tests
example=tests/example/merge_kernel.c
python=python3
# Debian's, which python3-jsonschema is for
"$python" -c 'import jsonschema' 2>/dev/null || python=/usr/bin/python3

right() {
    status 0 --kernel "$kernels/$1.so" --cases 66 && has "right: 0 of 66 cases wrong" &&
        has ", which merges ("
}

# broken SCRIPT: the example, changed by sed, in $work/broken.c.
broken() {
    sed "$1" "$example" >"$work/broken.c"
    ! cmp -s "$example" "$work/broken.c" || { echo "nothing is changed"; return 1; }
}

# finds SCRIPT TEXT...: status 1, and the report has these texts.
finds() {
    broken "$1" && shift && status 1 --kernel "$work/broken.c" --cases 66 --seconds 1 || return 1
    for text in "$@"; do
        has "$text" || return 1
    done
}

source_is_right() {
    status 0 --kernel "$example" --cases 22 && has "two-parts, which merges ($example)" &&
        has "takes      2 parts: o fp16" && has "declares   all parts at once"
}

# Parts that are given by sums, and a kernel that forgets them.
sums_are_declared() {
    status 0 --kernel "$kernels/gate/merge_segments.so" --cases 12 --json "$work/sums.json" &&
        has "takes      1 parts and more, by row: sums fp32" && has "; m and n fp32, " &&
        grep -q '"form": "undivided"' "$work/sums.json" &&
        "$python" tests/gate_merging_report.py "$work/sums.json" right || return 1
    sed "s/sum += n\\[at\\] .*/sum += n[at];/" tests/gate/merge_segments.c >"$work/broken.c"
    cp tests/gate/{merge,kernel}_util.h "$work"
    status 1 --kernel "$work/broken.c" --cases 60 && has "breaks MERGING-6" &&
        has "why:   sums n are added up" || return 1
    sed 's/n\[at\] \* exp2f/exp2f/' tests/gate/merge_segments.c >"$work/broken.c"
    status 1 --kernel "$work/broken.c" --cases 60 &&
        has "why:   the sum of weights has exp(m) of a part, without its n"
}

# A report for programs, of a right kernel and of a wrong one.
reports() {
    status 0 --kernel "$kernels/gate/merge_states.so" --cases 33 --json "$work/right.json" &&
        "$python" tests/gate_merging_report.py "$work/right.json" right || return 1
    broken 's/lse = m + logf(n)/lse = m/; s/m + logf(n)/m/' &&
        status 1 --kernel "$work/broken.c" --cases 33 --json "$work/wrong.json" &&
        "$python" tests/gate_merging_report.py "$work/wrong.json" wrong
}

# What a report says to run again finds the same; so do two processes, and another seed none.
again() {
    broken 's/p \/ n \*/p *\/**\/ 1.0F */' && status 1 --kernel "$work/broken.c" --cases 44 ||
        return 1
    grep "^wrong\|^  out\|^  smallest" "$work/out" >"$work/first"
    local case
    case=$(sed -n 's/^  again: .* --case \([0-9]*\)$/\1/p' "$work/out" | head -1)
    status 1 --kernel "$work/broken.c" --cases 44 --jobs 3 || return 1
    grep "^wrong\|^  out\|^  smallest" "$work/out" | cmp - "$work/first" || return 1
    status 1 --kernel "$work/broken.c" --case "$case" && has "WRONG: 1 of 1 cases wrong" &&
        grep -qF "$(sed -n 2p "$work/first")" "$work/out" || return 1
    status 1 --kernel "$work/broken.c" --cases 44 --first && has "WRONG: 1 of "
}

# The last bit of some numbers, which are within their bounds, depends on where the system put the
# kernel. Half of all pairs of processes differ there; 240 cases try 16.
bits_of_a_process() {
    sed 's/^    if (call->lse != NULL) {/    if (p_scale + s_scale > 0.0F) {\
        *(uint32_t *)(void *)out ^= (uint32_t)((size_t)\&merge_row >> 12 \& 1);\
    }\n&/' tests/gate/merge_two.c >"$work/place.c"
    CFLAGS="-O2 -Itests/gate" status 1 --kernel "$work/place.c" --cases 240 &&
        grep -q "^other-bits, .*; breaks GATE-4" "$work/out" &&
        has "the results have other bits when the call runs in another process"
}

# On the executor, right; and without a barrier, where the lines of a race are named.
cuda() {
    status 0 --kernel tests/gate/merge_warps.cu --on executor --cases 33 &&
        has "right: 0 of 33 cases wrong" && has "in device memory" || return 1
    CXXFLAGS="-O2 -DNO_BARRIER" status 1 --kernel tests/gate/merge_warps.cu --on executor --first &&
        has "races, 1 case; breaks GATE-1" && has "writes 4 bytes at weight+0" &&
        grep -q "in tests/gate/merge_warps.cu:.* read there in tests/gate/merge_warps.cu:" \
            "$work/out"
}

# What it keeps from the first call is right there.
remembers() {
    broken 's/^static int merge(.*/static const void *kept;\n&/
        s/    for (int row = 0; row < call->n_rows; row++) {/    static float first[64];\
    static long long last;\
    long long size = (long long)call->n_rows * call->n_heads * call->head_dim;\
    for (int i = 0; i < 64 \&\& size != last; i++) {\
        first[i] = ((const float *)call->l)[0];\
    }\
    last = size;\
    kept = first;\
&/
        s/float a = l_of(call, row, 0, head),/float a = first_of(call, row, head),/
        s/^static void merge_row/static float first_of(const struct cp_merge_call *, int, int);\
&/' &&
        printf '%s\n' \
            'static float first_of(const struct cp_merge_call *call, int row, int head) {' \
            '    return row + head == 0 ? *(const float *)kept : l_of(call, row, 0, head);' '}' \
            >>"$work/broken.c" &&
        status 1 --kernel "$work/broken.c" --cases 120 &&
        has "right in a new process, but wrong after another call"
}

neither() {
    wrong "cp_kernel" --kernel "$kernels/gate/no_symbol.so" && says "cp_merge_kernel"
}

both() {
    cp "$example" "$work/both.c"
    printf '%s\n' 'static int attend(const struct cp_kernel_call *call) {' \
        '    return call->n_rows;' '}' \
        'const struct cp_kernel cp_kernel = {.abi = CP_KERNEL_ABI, .name = "two",' \
        '    .attend = attend};' >>"$work/both.c"
    wrong "it has the symbols cp_kernel and cp_merge_kernel" --kernel "$work/both.c"
}

declares_wrongly() {
    broken 's/\.base = CP_BASE_E/.base = 7/' &&
        wrong "cp_merge_kernel.base is 7; it may be" --kernel "$work/broken.c" &&
        broken 's/\.abi = CP_MERGE_ABI/.abi = 1/' &&
        wrong "another chunkproof/merge_kernel.h" --kernel "$work/broken.c" &&
        broken 's/\.abi = CP_MERGE_ABI/.abi = CP_MERGE_ABI - 1000000/' &&
        wrong "version 2; recompile it; new are \`form\` and, in calls, \`n\`" \
            --kernel "$work/broken.c" &&
        broken 's/\.abi = CP_MERGE_ABI/.abi = CP_MERGE_ABI + 1000000/' &&
        wrong "with version 3 of chunkproof/merge_kernel.h, and this program is older" \
            --kernel "$work/broken.c" &&
        broken 's/\.base = CP_BASE_E/.form = CP_FORM_SUMS, .in_place = 1, .base = CP_BASE_E/' &&
        wrong "cp_merge_kernel.in_place needs .form = CP_FORM_LSE" --kernel "$work/broken.c" &&
        broken 's/\.base = CP_BASE_E/.form = CP_FORM_UNDIVIDED, .base = CP_BASE_E/
            s/CP_MERGING_AT_ONCE/CP_MERGING_PAIRWISE/' &&
        wrong "needs .arithmetic.way = CP_MERGING_AT_ONCE or CP_MERGING_STATES" \
            --kernel "$work/broken.c" &&
        broken 's/\.base = CP_BASE_E/.form = 1, .empty_l = CP_EMPTY_L_EITHER, .base = CP_BASE_E/' &&
        wrong "empty_l may be CP_EMPTY_L_EITHER only of log-sum-exps" --kernel "$work/broken.c" &&
        broken 's/\.base = CP_BASE_E/.form = 3, .base = CP_BASE_E/' &&
        wrong "cp_merge_kernel.form is 3; it may be" --kernel "$work/broken.c"
}

# A source in C++.
in_cpp() {
    cp "$example" "$work/merges.cpp"
    wrong "sources in C and CUDA alone are compiled here" --kernel "$work/merges.cpp"
}

# What the rules of others say: of a right kernel, of one that is wrong by what they let pass, and
# of one whose log-sum-exp they do not see.
rules() {
    status 0 --kernel "$kernels/gate/merge_two.so" --cases 33 --rules --json "$work/right.json" &&
        has "acceptance rule" && has "rejects 0 of 4" &&
        "$python" tests/gate_merging_report.py "$work/right.json" right || return 1
    broken 's|p / n \*|0.9985F * p / n *|' &&
        status 1 --kernel "$work/broken.c" --cases 33 --jobs 2 --rules --json "$work/wrong.json" &&
        "$python" tests/gate_merging_report.py "$work/wrong.json" wrong &&
        broken 's/m + logf(n)/m/' &&
        status 1 --kernel "$work/broken.c" --cases 33 --first --rules --json "$work/lse.json" &&
        has "not run" && "$python" tests/gate_merging_report.py "$work/lse.json" wrong || return 1
    "$python" - "$work"/{right,wrong,lse}.json <<'END'
import json
import sys
right, wrong, lse = ({rule["rule"]: rule for rule in json.load(open(name))["rules"]}
                     for name in sys.argv[1:])
assert len(right) == 5 and right.keys() == wrong.keys() == lse.keys(), right
assert all(rule["accepted_wrong"] == rule["usual_rejected"] == 0 for rule in right.values()), right
assert right["allclose 1e-3"]["rejected"] == 0, right
assert wrong["cosine > 0.99"]["accepted_wrong"] > 20, wrong
assert wrong["allclose 1e-3"]["rejected"] > wrong["allclose 1e-2"]["rejected"] > 0, wrong
assert all(rule["accepted_wrong"] == 1 and rule["usual_cases"] == 0 for rule in lse.values()), lse
END
}

of_attention_alone() {
    wrong "--shape, but for d=N, is for kernels that compute attention" --kernel "$example" \
        --shape keys=3 || return 1
    status 0 --kernel "$example" --cases 11 --shape d=24 && has "d 24"
}

takes_some_sizes() {
    broken 's/^const struct cp_merge_kernel/static const char *refuses(\
    const struct cp_merge_call *call) {\
    return call->head_dim % 64 == 0 ? NULL : "d is no multiple of 64";\
}\n\n&/; s/    \.merge = merge,/    .refuses = refuses,\n&/' &&
        status 0 --kernel "$work/broken.c" --cases 33 && has "right: 0 of 33" || return 1
    sed -i 's/% 64 == 0/< 0/' "$work/broken.c"
    status 2 --kernel "$work/broken.c" --cases 33 && has "NO VERDICT" &&
        has "d is no multiple of 64"
}

for kernel in example/merge_kernel gate/merge_{two,pair_bits,states,splits,ring,reference} \
    gate/merge_{segments,partitions,running}; do
    ok "right: $kernel" right "$kernel"
done
ok "a source in C" source_is_right
ok "reports for programs" reports
ok "the same again, alone, and in several processes" again
ok "wrong: weights are not divided" finds 's/p \/ n/p/; s/s \/ n/s/' "wrong, " \
    "why:   sums are not divided by the sum of weights"
ok "wrong: a row without keys" finds 's/has_keys = m != -INFINITY/has_keys = m < INFINITY/
    s/p > 0.0F ?/p != 0.0F ?/; s/s > 0.0F ?/s != 0.0F ?/' "not-a-number, " "breaks MERGING-9" \
    "is nan and must be 0 exactly"
ok "wrong: a part without keys" finds 's/s > 0.0F ?/has_keys ?/' "depends-on-empty-parts, " \
    "breaks MERGING-2" "right with zeros in the parts that have no key, but wrong with what is" \
    "why:   the output of a part without keys is multiplied by the weight 0"
ok "sums: declared" sums_are_declared
ok "wrong: in base 2" finds 's/m + logf(n)/(m + logf(n)) * 1.442695F/' "breaks MERGING-7" \
    "why:   the log-sum-exp is written in the other base (CONV-1)"
ok "depends on others" finds 's/o_of(call, row, 1, head, i)/o_of(call, 0, 1, head, i)/' \
    "depends-on-others, " "right for this row and head alone, but wrong together with the others"
ok "unwritten" finds 's/i < call->head_dim; i++/i < call->head_dim - 1; i++/' "unwritten, "
ok "writes between" finds 's/i < call->head_dim; i++/i < call->head_dim + 1; i++/' \
    "wrote-between, "
ok "out of bounds" finds 's/part \* call->o_part/(part + 1) * call->o_part/' "out-of-bounds, " \
    "past the end of o, at byte"
ok "writes to an input" finds 's/    return cp_fp16_to_double(((const uint16_t \*)call->o)\[at\]);/\
    ((volatile uint16_t *)(size_t)call->o)[at] = 0;\n&/' \
    "wrote-input, " "to o, at byte"
ok "fails" finds 's/    return 0;/    return call->n_heads > 3;/' "failed, " "returned 1"
ok "crashes" finds 's/    return 0;/    if (call->n_heads > 3) {\
        __builtin_trap();\n    }\n&/' \
    "crashed, "
ok "hangs" finds 's/    return 0;/    for (volatile int on = call->n_heads > 3; on;) {\
    }\n&/' \
    "hangs, "
ok "other bits" finds 's/    return 0;/    extern long clock(void);\
    *(uint16_t *)call->out ^= (uint16_t)(clock() \& 1);\n&/' \
    "other-bits, " "breaks GATE-4"
ok "bits of a process" bits_of_a_process
# A sanitizer's runtime library for C++ is not in the command: CUDA does not link there.
grep -q __asan_init "$chunkproof" || ok "CUDA" cuda
ok "remembers" remembers
ok "neither symbol" neither
ok "both symbols" both
ok "a wrong declaration" declares_wrongly
ok "a source in C++" in_cpp
ok "options of attention" of_attention_alone
ok "rules of others" rules
ok "sizes that it takes" takes_some_sizes
exit "$failed"
