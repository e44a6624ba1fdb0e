#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Cases of kernels that merge results, from outside: `chunkproof gate --save`, `chunkproof replay`,
# `chunkproof explain`, and the reports of such a run.
#   tests/cli_replay_merging.sh [COMMAND]     COMMAND: the binary, default build/chunkproof; its
# kernels are in tests/ beside it
set -u
. "$(dirname "$0")/cli.bash" gate "${1:-}"
cd "$(dirname "$0")/.." || exit 2
kernels=$(dirname "$chunkproof")/tests
few=$kernels/gate/cheats/merge_few.so
kept=$kernels/gate/cheats/merge_kept.so
example=tests/example/merge_kernel.c
python=python3
# Debian's, which python3-jsonschema is for
"$python" -c 'import jsonschema' 2>/dev/null || python=/usr/bin/python3

# run COMMAND STATUS ARGUMENT...: another sub-command.
run() {
    local subcommand=$1
    shift
    status "$@"
}

saves() {
    status 1 --kernel "$few" --cases 120 --save "$work/few" --json "$work/few.json" &&
        has "again: chunkproof replay $work/few/wrong.json --kernel $few" &&
        has "more:  chunkproof explain $work/few/wrong.json --kernel $few" &&
        has "why:   only the first 64 parts count" &&
        "$python" tests/gate_merging_report.py "$work/few.json" wrong &&
        grep -q '"n_rows": 1,' "$work/few/wrong.json"
}

# What the report says to run again finds the same; a right kernel is right there.
replays() {
    run replay 1 "$work/few/wrong.json" --kernel "$few" &&
        has "wrong; breaks MERGING-6: count values" &&
        has "$(sed -n 's/^  "text": "\(.*\)",$/\1/p' "$work/few/wrong.json")" || return 1
    run replay 0 "$work/few/wrong.json" --kernel "$kernels/gate/merge_states.so" &&
        has "right: count values" || return 1
    run replay 2 "$work/few/wrong.json" --kernel "$example" &&
        says "the kernel does not take this case: count values" &&
        says "it has what cp_merge_kernel.most_parts excludes: so many parts"
}

# A file with a case on each line.
replays_lines() {
    for case in "$work"/few/*.json "$work/few/wrong.json"; do
        tr -d '\n' <"$case" && echo
    done >"$work/few.jsonl"
    local n
    n=$(wc -l <"$work/few.jsonl")
    [ "$n" -ge 2 ] || { echo "$n cases"; return 1; }
    run replay 1 "$work/few.jsonl" --kernel "$few" &&
        has "few.jsonl:1: " && has "0 of $n cases right, $n wrong, 0 not taken"
}

explains() {
    run explain 1 "$work/few/wrong.json" --kernel "$few" &&
        has "row 0, head 0: its parts, and element 0 of each" &&
        has "each has 65 parts or more; with 64 or fewer all" &&
        has "    only the first 64 parts count"
}

# finds SED TEXT...: explain on a case of the example, changed.
finds() {
    sed "$1" "$example" >"$work/broken.c"
    ! cmp -s "$example" "$work/broken.c" || { echo "nothing is changed"; return 1; }
    rm -rf "$work/broken"
    shift
    local text case
    status 1 --kernel "$work/broken.c" --cases 66 --save "$work/broken" || return 1
    case=$(printf '%s\n' "$work"/broken/*.json | tail -n 1)
    run explain 1 "$case" --kernel "$work/broken.c" || return 1
    for text in "$@"; do
        has "$text" || return 1
    done
}

# The case before it is kept, too.
remembers() {
    status 1 --kernel "$kept" --cases 40 --save "$work/kept" &&
        grep -q '"before": {' "$work/kept/wrong.json" &&
        run replay 1 "$work/kept/wrong.json" --kernel "$kept" &&
        has "after this case, in the same process: " || return 1
    run explain 1 "$work/kept/wrong.json" --kernel "$kept" &&
        grep -q "in a fresh process: \|right in a fresh process: " "$work/out" || return 1
    run explain 1 "$work/kept/remembers.json" --kernel "$kept" &&
        has "right in a fresh process: the kernel keeps something from call to call (GATE-4)"
}

# Half of all pairs of processes have other bits.
bits_of_a_process() {
    sed 's/^    if (call->lse != NULL) {/    if (p_scale + s_scale > 0.0F) {\
        *(uint32_t *)(void *)out ^= (uint32_t)((size_t)\&merge_row >> 12 \& 1);\
    }\n&/' tests/gate/merge_two.c >"$work/place.c"
    CFLAGS="-O2 -Itests/gate" status 1 --kernel "$work/place.c" --cases 240 --save "$work/place" ||
        return 1
    [ -e "$work/place/other-bits.json" ] || { echo "no case is kept"; return 1; }
    local i found=0
    for i in 1 2 3 4 5 6 7 8 9 10; do
        CFLAGS="-O2 -Itests/gate" "$chunkproof" replay "$work/place/other-bits.json" \
            --kernel "$work/place.c" >"$work/out" 2>"$work/err" || found=$?
        [ $found = 0 ] || break
    done
    [ $found = 1 ] && has "other bits when the call runs in another process"
}

# Cases of merges and of attention are for different kernels.
of_one_kind() {
    local attention
    attention=$(printf '%s\n' tests/gate/cases/*.jsonl | head -n 1)
    run replay 2 "$attention" --kernel "$example" &&
        says "merges results, and these are cases of attention" &&
        run replay 2 "$work/few/wrong.json" --kernel "$kernels/gate/cheats/zeros.so" &&
        says "computes attention, and these are cases of kernels that merge" &&
        run replay 2 "$work/few/wrong.json" "$attention" --kernel "$example" &&
        says '"format" must be "chunkproof merging case 1", as in the first case' &&
        run replay 2 "$attention" "$work/few/wrong.json" --kernel "$example" &&
        says '"format" must be "chunkproof case 1"'
}

malformed() {
    sed 's/"n_parts": [0-9]*/"n_parts": 0/' "$work/few/wrong.json" >"$work/bad.json"
    run replay 2 "$work/bad.json" --kernel "$few" &&
        says "bad.json: recipe.n_parts must be a whole number from 1 to 1000" &&
        run replay 2 "$work/none.json" --kernel "$few" && says "No such file"
}

# JUnit XML and a page are well formed, and say the same.
pages() {
    status 1 --kernel "$few" --cases 120 --junit "$work/few.xml" --html "$work/few.html" \
        --save "$work/few" && status 0 --kernel "$kernels/gate/merge_states.so" --cases 24 \
        --junit "$work/right.xml" --html "$work/right.html" || return 1
    "$python" - "$work" <<'END'
import pathlib, sys
import xml.etree.ElementTree as xml
work = pathlib.Path(sys.argv[1])
suite = xml.parse(work / "few.xml").getroot()
assert suite.get("tests") == "12" and int(suite.get("failures")) > 0, suite.attrib
failure = suite.find("testcase/failure")
assert "breaks MERGING-6" in failure.text and "again: chunkproof" in failure.text, failure.text
right = xml.parse(work / "right.xml").getroot()
assert (right.get("failures"), right.get("errors"), right.get("skipped")) == ("0", "0", "0")
page = "".join(xml.parse(work / "few.html").getroot().itertext())
for text in ("\u2717 Wrong", "the first 64 parts count", "chunkproof explain", "without a bound"):
    assert text in page, text
page = "".join(xml.parse(work / "right.html").getroot().itertext())
assert "\u2713 Right" in page and "What is wrong" not in page
END
}

no_directory() {
    : >"$work/file"
    wrong "--save $work/file" --kernel "$few" --save "$work/file"
}

ok "a case is kept, and small" saves
ok "replay" replays
ok "replay of lines" replays_lines
ok "explain" explains
ok "explain: a log-sum-exp" finds 's/lse = m + logf(n)/lse = m/; s/m + logf(n)/m/' \
    "all outputs are right, and log-sum-exps are wrong" \
    "the log-sum-exp is the largest of the parts', without the logarithm of the sum"
ok "explain: a head" finds \
    's/float a = l_of(call, row, 0, head),/float a = l_of(call, row, 0, 0),/' \
    "none of these is head 0: those are right in all cases"
ok "explain: a part without keys" finds 's/s > 0.0F ?/has_keys ?/' "have a part without keys" \
    "multiplied by the weight 0"
ok "explain: another declaration" finds 's/\.base = CP_BASE_E/.base = CP_BASE_2/' \
    "would be right if the kernel declared one of" ".base = CP_BASE_E"
ok "a case that needs another" remembers
ok "bits of a process" bits_of_a_process
ok "one kind of cases" of_one_kind
ok "a malformed case" malformed
ok "reports" pages
ok "no directory" no_directory
exit "$failed"
