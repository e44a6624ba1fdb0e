#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof trace` from outside: small traces with figures counted by hand, bad input, exit
# statuses.
#   tests/cli_trace.sh [COMMAND]     COMMAND: the binary, default build/chunkproof
set -u
. "$(dirname "$0")/cli.bash" trace "${1:-}"

# json STATUS EXPRESSION ARGUMENT...: the output is one JSON object, t, and the Python expression
# holds.
json() {
    local wanted=$1 expression=$2
    shift 2
    status "$wanted" --json "$@" && python3 - "$work/out" "$expression" <<'PYTHON'
import json, sys
t = json.load(open(sys.argv[1]))
if not eval("(" + sys.argv[2] + ")"):
    sys.exit("false: " + sys.argv[2] + "\n" + json.dumps(t, indent=2))
PYTHON
}

# wrong_line LINE:COLUMN TEXT: that is where a fault is found in $work/wrong, with that message.
wrong_line() {
    wrong "$work/wrong:$1: $2" --block 4 "$work/wrong"
}

# has LINE ARGUMENT...: the table has a line that is LINE, runs of spaces taken as one.
has() {
    local line=$1
    shift
    status 0 "$@" || return 1
    tr -s ' ' <"$work/out" | sed 's/^ //' | grep -qxF -- "$line" || { cat "$work/out"; return 1; }
}

# Blocks of 4 tokens, an iteration each 10 ms. Iteration 0: request 1 takes 3 chunks (blocks 10, 11
# and
# half of 12); request 2 shares 10 and 11 and takes 1. Their tokens fill the halves; request 2
# leaves.
# Iteration 1: request 3 shares 10 alone, takes 2; request 1 takes one for its 13th token; both
# leave.
# Iteration 50: request 4 takes 2 and its one token a third.
cat >"$work/small" <<'TRACE'
{"timestamp": 0, "input_length": 11, "output_length": 2, "hash_ids": [10, 11, 12]}
{"timestamp": 0, "input_length": 11, "output_length": 1, "hash_ids": [10, 11, 13]}
{"timestamp": 3, "input_length": 9, "output_length": 0, "hash_ids": [10, 14, 15], "more": null}
{"timestamp": 500, "input_length": 8, "output_length": 1, "hash_ids": [10, 11]}
TRACE
small=(--block 4 --ms-per-token 10 "$work/small")

decoded="t['requests'] == 4 and t['rejected'] == 0 and t['full_blocks'] == 8 and
    t['matched_blocks'] == 0 + 2 + 1 + 0 and t['allocated_chunks'] == 3 + 1 + 2 + 1 + 2 + 1 and
    t['peak_chunks'] == 6 and t['peak_chunks_without_sharing'] == 7 and t['live_peak'] == 2 and
    t['prompt_tokens'] == 39 and t['output_tokens'] == 4 and t['tokens'] == 43 and
    t['iterations'] == 3 and t['violations'] == 0 and t['violation'] is None and
    t['end'] == 'complete' and t['capacity'] == 6 and t['memory_saved'] == 1 - 6 / 7"
ok "decoding, figures by hand" json 0 "$decoded and t['invariant_checks'] == 4 + 4 + 1 and
    t['check'] == 'sampled'" "${small[@]}"
ok "every operation checked" json 0 "$decoded and t['invariant_checks'] == 4 + 3 + 4 + 1" \
    --check every "${small[@]}"
ok "the other tree" json 0 "$decoded and t['invariant_checks'] == 5 and t['tree'] == 'opt'" \
    --tree opt "${small[@]}"
ok "the other tree, every operation checked" json 0 \
    "$decoded and t['invariant_checks'] == 4 + 3 + 4 + 1" \
    --tree opt --check every "${small[@]}"
ok "the other tree, no check" json 0 "$decoded and t['invariant_checks'] == 0" --tree opt \
    --check none "${small[@]}"
ok "the other tree, hashes that always collide" json 0 "$decoded" --tree opt --hash-bits 0 \
    "${small[@]}"
same_figures() { # same_figures ARGUMENT...: of both trees
    for tree in ref opt; do
        status 0 --json --tree $tree "$@" || return 1
        sed -E 's/"(invariant_checks|seconds|tree)": [^,}]*//g' "$work/out" >"$work/$tree"
    done
    diff "$work/ref" "$work/opt"
}
ok "the other tree, the same figures" same_figures --requests 200
ok "... also when nobody leaves" same_figures --requests 100 --retain
ok "... and when not all have room" same_figures --requests 300 --capacity 200
ok "no check" json 0 "$decoded and t['invariant_checks'] == 0" --check none "${small[@]}"
# At the peak, iteration 1: 4 + 3 chunks on paths, 6 in use; 2 x 4 of 13 + 9 tokens are shared.
ok "sharing at the peak" json 0 "abs(t['sharing_at_peak']['r'] - 8 / 22) < 1e-12 and
    abs(t['sharing_at_peak']['estimated_gain'] - 22 / 14) < 1e-12 and
    abs(t['sharing_at_peak']['exact_gain'] - 7 / 6) < 1e-12" "${small[@]}"
# On average: iteration 0 has 24 tokens, 16 shared, 6 chunks on paths, 4 in use; iteration 50 has 9
# tokens, none shared, 3 chunks.
ok "sharing on average" json 0 "abs(t['sharing_mean']['r'] - (16 + 8) / (24 + 22 + 9)) < 1e-12 and
    abs(t['sharing_mean']['exact_gain'] - (6 + 7 + 3) / (4 + 6 + 3)) < 1e-12" "${small[@]}"
ok "arrivals only, figures by hand" json 0 "t['mode'] == 'retain' and t['full_blocks'] == 8 and
    t['matched_blocks'] == 0 + 2 + 1 + 2 and t['allocated_chunks'] == 3 + 1 + 2 + 0 and
    t['peak_chunks'] == 6 and t['peak_chunks_without_sharing'] == 11 and t['iterations'] == 0 and
    t['sharing_mean'] is None and t['live_peak'] == 4" --retain "${small[@]}"
ok "hashes that always collide" json 0 "$decoded" --hash-bits 1 "${small[@]}"
ok "no hashes" json 0 "$decoded" --hash-bits 0 "${small[@]}"
ok "the table" has "chunks in use, at most 6" "${small[@]}"
ok "the table's requests" has "requests 4 of 4" "${small[@]}"
ok "the table's memory" has "memory saved 14.3 %" "${small[@]}" # 1 - 6 / 7
ok "the table's violations" has "violations 0" "${small[@]}"

from_stdin() { "$chunkproof" trace --json --block 4 --ms-per-token 10 - <"$work/small" \
    >"$work/out" &&
    grep -q '"source": "<stdin>"' "$work/out" && grep -q '"peak_chunks": 6,' "$work/out"; }
ok "standard input" from_stdin

# Requests 1 and 2 fill a pool of 4; 3 needs 2 more; 4 finds all of its blocks there.
ok "requests that do not fit are rejected" json 0 "t['rejected'] == 1 and t['requests'] == 4 and
    t['allocated_chunks'] == 4 and t['matched_blocks'] == 0 + 2 + 2" --retain --capacity 4 \
    "${small[@]}"
# With 5 chunks iteration 1 has 3 + 2 in use and needs one more; what came before is reported.
ok "a pool too small to go on" json 2 "t['end'] == 'pool full' and t['requests'] == 3 and
    t['peak_chunks'] == 5 and t['allocated_chunks'] == 6 and t['violations'] == 0" \
    --capacity 5 "${small[@]}"
says_capacity() { grep \
    -q 'iteration 1 needs more chunks than the pool of 5 has.*--capacity 6 is enough' "$work/err"; }
ok "... says how large it must be" says_capacity

# The synthetic trace, byte for byte on every machine: sums of what another program, written from
# the
# description of the generator, printed.
generates() { # generates SUM ARGUMENT...
    local sum=$1
    shift
    status 0 --generate "$@" && [ "$(cksum <"$work/out")" = "$sum" ] || { cksum "$work/out";
        return 1; }
}
ok "the synthetic trace" generates "3266615125 97994"
ok "another seed" generates "549214286 102560" --seed 77
ok "other settings" generates "2313331804 549492" --seed 5 --requests 3000 --rate 7.5 --prompts 3 \
    --prompt-tokens 100 --question-tokens 20 --output-tokens 33 --continue 80 --block 16
same_figures() {
    status 0 --generate --requests 200 && cp "$work/out" "$work/generated" &&
        json 0 "open('$work/first', 'w').write(repr([v for k, v in sorted(t.items())
            if k not in ('source', 'seconds')]))" --requests 200 &&
        json 0 "open('$work/first').read() == repr([v for k, v in sorted(t.items())
            if k not in ('source', 'seconds')]) and t['matched_blocks'] > 0" "$work/generated"
}
ok "a generated trace, replayed at once and from a file" same_figures

printf '' >"$work/wrong"
ok "an empty file" wrong "$work/wrong: no request: the file is empty" "$work/wrong"
ok "a file that is not there" wrong "$work/none: cannot be opened: No such file" "$work/none"
ok "a directory" wrong "$work: cannot be read: Is a directory" "$work"
head -n 1 "$work/small" >"$work/wrong"
echo '{"timestamp": 1, "input_length": 4, "output_length": 1, "hash_ids": [10]' >>"$work/wrong"
ok "JSON cut off" wrong_line 2:72 "not JSON: '}' expected near end of file"
echo '{"timestamp": 1, "output_length": 1, "hash_ids": [10]}' >"$work/wrong"
ok "a missing field" wrong_line 1:1 'the field "input_length" is missing'
echo '{"timestamp": 1, "input_length": "4", "output_length": 1, "hash_ids": [10]}' >"$work/wrong"
ok "a wrong type" wrong_line 1:34 '"input_length" must be an integer, not a string'
echo '{"timestamp": 1, "input_length": 4, "output_length": -1, "hash_ids": [10]}' >"$work/wrong"
ok "a negative length" wrong_line 1:54 '"output_length" is -1; it must not be negative'
echo '{"timestamp": 1, "input_length": 13, "output_length": 1, "hash_ids": [1, 2, 3]}' \
    >"$work/wrong"
ok "the wrong number of blocks" wrong_line 1:70 \
    '"hash_ids" has 3 ids, but 13 tokens are 4 blocks of 4 tokens (--block sets the size)'
sed 's/500/2/' "$work/small" >"$work/wrong"
ok "time going back" wrong_line 4:15 'time goes back: 2 after 3'
echo '{"timestamp": 1, "input_length": 4, "output_length": 99999999, "hash_ids": [1]}' \
    >"$work/wrong"
ok "longer than a path" wrong_line 1:54 '"output_length" is 99999999; at most'
{ cat "$work/small"; echo; } >"$work/wrong"
ok "a blank line" wrong_line 5:1 'a blank line; each line must be one JSON object'
{ cat "$work/small"; echo 'end'; } >"$work/wrong"
ok "trailing garbage" wrong_line 5:3 'not JSON'

ok "help" has "usage: chunkproof trace [OPTION]... [FILE]" --help
ok "no such option" wrong "--nonsense" --nonsense
ok "an option without its value" wrong "--block" --block
ok "a block larger than a chunk can be" wrong "--block needs a whole number from 1 to" \
    --block 1000000
ok "no number" wrong "--ms-per-token needs a whole number from 1 to 86400000, not '0'" \
    --ms-per-token 0
ok "half a number" wrong "--capacity needs a whole number" --capacity 12x
ok "a number too large" wrong "--seed needs a whole number" --seed 99999999999999999999
ok "a rate of nothing" wrong "--rate needs a number" --rate nan
ok "no such check" wrong "--check needs none, sampled or every, not 'all'" --check all
ok "two files" wrong "at most one FILE" "$work/small" "$work/small"
ok "a file and a generator" wrong "--generate makes its own trace" --generate "$work/small"
ok "a file and a seed" wrong "--seed applies only to the synthetic trace" --seed 3 "$work/small"
ok "no such tree" wrong "--tree needs ref or opt, not 'fast'" --tree fast
ok "generate and a check" wrong "--check applies only to a replay" --generate --check none
ok "more tokens than an int tells apart" wrong "ask for fewer or shorter requests" --generate \
    --requests 20000 --output-tokens 1000000
ok "more chunks than a pool can have" wrong "a pool has" --retain --block 1 --requests 4000

# Less address space than the tree reserves: no figures, but what is lacking. A sanitizer needs more
# itself.
little_memory() {
    (ulimit -v 1000000 && "$chunkproof" --version) >/dev/null 2>&1 || return 0
    (ulimit -v 1000000 && status 2 --requests 10) || return 1
    grep -q "address space" "$work/err" && [ ! -s "$work/out" ]
}
ok "too little address space" little_memory

full_disk() { # full_disk ARGUMENT...
    local found=0
    [ -w /dev/full ] || { echo "no /dev/full"; return 1; }
    "$chunkproof" trace "$@" "${small[@]}" >/dev/full 2>"$work/err" || found=$?
    [ "$found" = 2 ] && grep -q "written: No space" "$work/err"
}
ok "output that cannot be written" full_disk
ok "JSON that cannot be written" full_disk --json

# Ctrl-C as soon as it says how far it is: a report of that, and status 130.
interrupt() {
    local found=0 child
    rm -f "$work/err"
    "$chunkproof" trace --json --progress --check every --requests 200000 --capacity 4000 \
        >"$work/out" 2>"$work/err" &
    child=$!
    while [ ! -s "$work/err" ] && kill -0 $child; do sleep 0.05; done
    kill -INT $child
    wait $child || found=$?
    [ $found = 130 ] || { echo "status $found"; return 1; }
    grep -q 'of 200000 requests, [0-9]* alive' "$work/err" && python3 - "$work/out" <<'PYTHON'
import json, sys
t = json.load(open(sys.argv[1]))
assert t["end"] == "interrupted" and 0 < t["requests"] < 200000 and t["violations"] == 0, t
PYTHON
}
ok "Ctrl-C" interrupt
exit $failed
