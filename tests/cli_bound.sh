#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof bound` from outside: the report as text and JSON, cases in files, bounds of infinity, bad use.
#   tests/cli_bound.sh [COMMAND]     COMMAND: the binary, default build/chunkproof
set -u
chunkproof=${1:-build/chunkproof}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# ok NAME COMMAND...: one line of the result; what the command printed when it failed.
ok() {
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        sed 's/^/# /' "$work/log"
        failed=1
    fi
}

# status N ARGUMENT...: the command ends with that status; its output is in $work/out and $work/err.
status() {
    local wanted=$1 found=0
    shift
    "$chunkproof" bound "$@" >"$work/out" 2>"$work/err" </dev/null || found=$?
    [ "$found" = "$wanted" ] || { echo "status $found, not $wanted: bound $*"; cat "$work/err"; return 1; }
}

# right ARGUMENT...: status 0, nothing on standard error, at most 100 columns, no spaces at line ends.
right() {
    status 0 "$@" || return 1
    [ -s "$work/out" ] && [ ! -s "$work/err" ] || { echo "no output, or errors"; return 1; }
    ! awk 'length > 100 { print "too long: " $0; n++ } END { exit n == 0 }' "$work/out" || return 1
    ! grep -n ' $' "$work/out"
}

# wrong TEXT ARGUMENT...: bad use: status 2, nothing on standard output, TEXT in the message.
wrong() {
    local text=$1
    shift
    status 2 "$@" || return 1
    [ ! -s "$work/out" ] || { echo "output in spite of bad use"; return 1; }
    grep -qF -- "$text" "$work/err" || { echo "no '$text' in:"; cat "$work/err"; return 1; }
}

# says TEXT ARGUMENT...: the output, as one line, has TEXT.
says() {
    local text=$1
    shift
    right "$@" || return 1
    tr -s '\n ' ' ' <"$work/out" | grep -qF -- "$text" || { echo "no '$text' in:"; cat "$work/out"; return 1; }
}

# json EXPRESSION ARGUMENT...: the output is JSON, and a Python expression over it, `t`, is true.
json() {
    local expression=$1
    shift
    status 0 --json "$@" || return 1
    python3 - "$work/out" "$expression" <<'PYTHON'
import json, sys
t = json.load(open(sys.argv[1]))
share = {p["part"]: p["share"] for p in t["parts"]}
lost = {p["part"]: p["lost"] for p in t["parts"]}
if not eval("(" + sys.argv[2] + ")"):
    sys.exit("false: " + sys.argv[2] + "\n" + json.dumps(t, indent=1))
PYTHON
}

# same ARGUMENT... -- ARGUMENT...: both print the same figures as JSON.
same() {
    local first=()
    while [ "$1" != -- ]; do
        first+=("$1")
        shift
    done
    shift
    status 0 --json "${first[@]}" && cp "$work/out" "$work/first" && status 0 --json "$@" || return 1
    python3 - "$work/first" "$work/out" <<'PYTHON'
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
keys = ("bound", "size", "ulps", "rms", "parts", "left", "lse_bound", "claimed")
different = [key for key in keys if a[key] != b[key]]
if different:
    sys.exit(f"different: {different}")
PYTHON
}
different() { ! same "$@" || { echo "the figures are the same"; return 1; }; }

saved() { status 0 --keys 40 --head-dim 6 --seed 3 --save "$work/case.json" && [ -s "$work/case.json" ]; }
standard_input() { "$chunkproof" bound --case - <"$work/example.json" >"$work/out" 2>&1 && grep -q '^row  *2 keys' "$work/out"; }

full_disk() {
    [ -w /dev/full ] || { echo "no /dev/full"; return 1; }
    local found=0
    "$chunkproof" bound --keys 8 "$@" >/dev/full 2>"$work/err" || found=$?
    [ "$found" = 2 ] && grep -q written "$work/err"
}

# file NAME TEXT: a file of this content in the working directory.
file() { printf '%s\n' "$2" >"$work/$1"; }

file example.json '{"scale": 1, "q": [1], "k": [[0], [1.0986122886681098]], "v": [[1], [5]]}'
file none.json '{"scale": 1, "q": [1, 2], "k": [], "v": []}'
file long.json '{"scale": 1, "q": [1, 2], "k": [[1, 2], [1, 2, 3]], "v": [[1, 2], [1, 2]]}'
file text.json '{"scale": 1, "q": [1, 2], "k": [[1, 2]], "v": [[1, "x"]]}'
file uneven.json '{"q": [1], "k": [[1], [2]], "v": [[1]]}'
file query.json '{"q": 1, "k": [], "v": []}'
file scale.json '{"scale": "x", "q": [1], "k": [], "v": []}'
file row.json '{"q": [1], "k": [1], "v": [[1]]}'
file syntax.json '{"q": [1],
 "k": [[1]
 "v": [[1]]}'
file large.json '{"scale": 1, "q": [1], "k": [[1e7], [0]], "v": [[1], [2]]}'
file huge.json '{"scale": 1, "q": [1], "k": [[1765000]], "v": [[1]]}'
file wide.json '{"scale": 1, "q": [0, 0], "k": [[1, 1], [1, 1]], "v": [[1, 65500], [2, 65504]]}'

ok "the report" says "P: 84 % of B."
ok "its row and class" says "row 1024 keys of 128 numbers, scores up to" --family normal
for family in normal massive one-hot ties shifted subnormal offset cancelling wide rising equal underflow; do
    ok "family $family" json "t['family'] == '$family' and t['claimed'] == 32 and
        0 < t['rms']['largest'] < t['bound']['largest'] and 0 < t['bound']['median'] <= t['bound']['largest']" \
        --family $family --keys 100 --head-dim 32 --output fp32
done
ok "shares add up" json "abs(sum(share.values()) - 1) < 1e-12 and all(s >= 0 for s in share.values()) and
    abs(1 - sum(lost.values()) - t['left']) < 1e-12 and
    sum(p['largest_in'] for p in t['parts']) == t['claimed'] == t['elements'] == 128"
ok "help" right --help

ok "the output's format dominates" json "t['dominates'] == 'output' and share['P'] == 0" \
    --weights fp32 --output bf16
ok "scores dominate" json "t['dominates'] == 'scores'" --score fp16
ok "the exponential dominates" json "t['dominates'] == 'exp'" --exp-error 1e-2 --chunk 1024
ok "merges dominate" json "t['dominates'] == 'merges'" --partials fp16 --weights fp32
ok "sums dominate" json "t['dominates'] == 'sums'" --accumulate fp16 --chunk 1024
ok "one chunk has no merges" json "share['merges'] == 0" --chunk 1024
ok "a balanced tree errs less" json "share['merges'] < 0.002" --merges balanced
ok "another seed, other figures" different --seed 1 -- --seed 2
ok "the same seed, the same figures" same --seed 2 -- --seed 2
ok "the class is shown" json "t['class'] == t['class'] | {'weights': 'bf16', 'rounded_sum': True, 'merges': 'running',
    'score': 'tensor-core', 'truncate': True, 'flush': True, 'divide': 'deferred', 'chunk': 32}" \
    --weights bf16 --rounded-sum --merges running --score tensor-core --truncate --flush --chunk 32
ok "divided at once" json "t['class']['divide'] == 'immediate' and t['claimed'] == 128" --divide immediate

ok "the example of the specification" json "abs(t['bound']['largest'] - 0.00391) < 1e-5 and t['size']['median'] == 4
    and abs(share['P'] - share['output']) < 0.001" --case "$work/example.json" --chunk 1
ok "a case from the standard input" standard_input
ok "a case is saved" saved
ok "and read again" same --case "$work/case.json" --input fp16 -- --keys 40 --head-dim 6 --seed 3
ok "a case in a shorter format" different --case "$work/case.json" -- --case "$work/case.json" --input bf16

ok "no key" says "nothing is claimed (NUM-12)" --case "$work/none.json"
ok "scores too uncertain" says "left = 1 - sum H_j - E_n =" --case "$work/large.json"
ok "merges too many" says "Most of it by merges" --partials fp16 --keys 16384 --head-dim 2 --chunk 8
ok "the same as JSON" json "t['claimed'] == 0 and t['bound']['largest'] is None and t['dominates'] is None and
    'NUM-10' in t['reason'] and t['left'] < 0 and t['lse_bound'] is None" --case "$work/large.json"
ok "overflow, of one number of two" says "No bound for 1 of 2 numbers." --case "$work/wide.json"
ok "overflow is explained" json "t['claimed'] == 1 and 'NUM-12' in t['reason']" --case "$work/wide.json"
ok "no overflow in bf16" json "t['claimed'] == 2 and t['reason'] is None" --case "$work/wide.json" --output bf16
ok "scores too large for binary64" says "cannot be computed in binary64" --case "$work/huge.json" --output fp32
ok "the time of both" says "attention tolerance ratio" --time --keys 256 --head-dim 16

ok "no such option" wrong "--help" --nonsense
ok "an argument" wrong "not 'case.json'" case.json
ok "no such family" wrong "give normal, massive" --family gauss
ok "no such format" wrong "--partials bf16: not known; give fp32, fp16" --partials bf16
ok "no such order" wrong "give chain, balanced, running" --merges tree
ok "no number" wrong "--keys needs a whole number from 1 to 1048576, not 'x'" --keys x
ok "no keys" wrong "--keys needs" --keys 0
ok "too many numbers" wrong "at most, not" --keys 1048576 --head-dim 65536
ok "a negative seed" wrong "--seed needs" --seed -1
ok "an error above 1" wrong "--exp-error needs a number from 0 to 0.5" --exp-error 2
ok "an error that is none" wrong "--exp-error needs" --exp-error nan
ok "a running state has no partials" wrong "without --partials" --merges running --partials fp16
ok "a running state is divided last" wrong "without --divide" --merges running --divide immediate
ok "P that is not rounded" wrong "--rounded-sum needs" --rounded-sum --weights fp32
ok "a case and a family" wrong "--case brings its own row" --case "$work/example.json" --family wide
ok "time of a case" wrong "--time measures rows of its own" --time --case "$work/example.json"
ok "no such file" wrong "cannot be opened" --case "$work/nowhere.json"
ok "a file that cannot be written" wrong "cannot be written" --save "$work/nowhere/case.json"
ok "a row too long" wrong "k[1] has 3 numbers, but q has 2" --case "$work/long.json"
ok "a text in a row" wrong "v[0][1] is no number" --case "$work/text.json"
ok "rows without values" wrong "equally many rows" --case "$work/uneven.json"
ok "a query that is a number" wrong "q is no array" --case "$work/query.json"
ok "a scale that is none" wrong "scale is no number" --case "$work/scale.json"
ok "a row that is a number" wrong "k[0] is no array" --case "$work/row.json"
ok "a file that is no JSON" wrong "syntax.json:3:" --case "$work/syntax.json"
ok "output that cannot be written" full_disk
ok "JSON that cannot be written" full_disk --json
exit $failed
