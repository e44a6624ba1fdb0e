#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof bench` from outside: it all runs, small; the reports; peers that are there, absent or
# wrong; bad use; what
# is left of a run that is interrupted. No time is asserted.
#   tests/cli_bench.sh [COMMAND]     COMMAND: the binary, default build/chunkproof
set -u
. "$(dirname "$0")/cli.bash" bench "${1:-}"
root=$(realpath "$(dirname "$0")/..")
schemas=/usr/bin/python3 # Debian's, which python3-jsonschema is for
python3 -c 'import jsonschema' 2>/dev/null && schemas=python3
# Memory that a sanitizer watches is not what the system says is free.
smoke=(--smoke --memory 1)

# right ARGUMENT...: status 0, nothing on standard error.
right() {
    status 0 "$@" || return 1
    [ -s "$work/out" ] && [ ! -s "$work/err" ] || { echo "no output, or errors"; cat "$work/err";
        return 1; }
}

# holds EXPRESSION: the report, t, follows its schema and the Python expression holds of it.
holds() {
    "$schemas" - "$work/report" "$1" "$root" <<'PYTHON'
import json, sys
import jsonschema
t = json.load(open(sys.argv[1]))
schema = json.load(open(sys.argv[3] + "/spec/bench-report.schema.json"))
jsonschema.Draft7Validator.check_schema(schema)
for breach in jsonschema.Draft7Validator(schema).iter_errors(t):
    sys.exit(f"{list(breach.path)}: {breach.message[:500]}")
cells = t["attention"]
named = lambda cell, name: next(s for s in cell["series"] if s["name"] == name)
if not eval("(" + sys.argv[2] + ")"):
    sys.exit("false: " + sys.argv[2] + "\n" + json.dumps(t, indent=2))
PYTHON
}

# json EXPRESSION ARGUMENT...
json() {
    local expression=$1
    shift
    right --json "$work/report" "$@" && holds "$expression"
}

# ---- All of it ----

ok "it all runs, small" json "t['smoke'] and not t['interrupted'] and
    t['unit'] in ('plain C', 'AVX2', 'AVX-512', 'NEON', 'AVX-512 BF16') and
    {c['part'] for c in cells} == {'table3', 'figure3', 'figure4', 'levels', 'gqa', 'bf16',
    'windows', 'caches'} and {c['type'] for c in cells} == {'fp16', 'bf16', 'e4m3'} and
    all(c['end'] == 'measured' and c['rounds'] == 2 for c in cells) and
    all([s['name'] for s in c['series']] == ['tree', 'paged', 'paged*'] +
    ['whole'] * (c['window'] > 0) + ['wide'] * (c['type'] == 'e4m3') for c in cells) and
    {c['window'] for c in cells} == {0, 100} and
    all(s['seconds']['least'] > 0 and s['of_limit']['median'] > 0 for c in cells
    for s in c['series']) and
    all(named(c, 'tree')['of_tree'] == {'median': 1, 'least': 1, 'most': 1} for c in cells) and
    [s['live'] for s in t['tree']['sizes']] == [4, 16, 64] and
    all(s['rounds'] == 2 for s in t['tree']['sizes']) and
    set(t['tree']['laws']) == set(t['tree']['sizes'][0]['seconds']) and
    t['tree']['long_join']['rounds'] > 0 and
    t['trace']['source'] == 'generated' and t['trace']['joined'] == 50 and
    0 < t['trace']['shared_tokens'] < t['trace']['tokens'] and
    t['gate'] is None and t['attention_cost']['off'] >= 0 and len(t['goals']) == 7" \
    "${smoke[@]}" --csv "$work/csv" --cost "$work/cost"
ok "... what it says of the machine" has "machine    "
ok "... of the limits" has "limits     reading "
ok "... of peers" has "no peer; --peer adds one"
ok "... of a gate without a kernel" has "gate       skipped: --kernel names none"
ok "... of a goal that has no load" has "not measured"
# Table 3's second load, counted by hand: 4 sequences of 192 tokens, 128 in common, 4 heads, d =
# 128, 2 bytes.
ok "... bytes and operations" holds "(lambda c: c['n_s'] == 128 and
    c['distinct_tokens'] == 128 + 4 * 64 and
    c['bytes'] == 2 * (2 * c['distinct_tokens'] * 4 * 128 + 2 * 4 * 4 * 128) and
    c['flops'] == 4 * 4 * 4 * 192 * 128)(cells[1])"
csv_is_json() {
    python3 - "$work/csv" "$work/report" <<'PYTHON'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1])))
t = json.load(open(sys.argv[2]))
assert all(None not in row and None not in row.values() for row in rows)
series = [(c, s) for c in t["attention"] for s in c["series"]]
attention = [row for row in rows if row["h"]]
assert len(attention) == len(series) == 32
for row, (c, s) in zip(attention, series):
    assert row["part"] == c["part"] and int(row["live"]) == c["b"]
    assert int(row["n"]) == c["n"] and int(row["n_s"]) == c["n_s"]
    assert row["series"] == s["name"] and row["type"] == c["type"]
    assert abs(float(row["seconds"]) / s["seconds"]["median"] - 1) < 1e-8
    assert abs(float(row["of_tree"]) / s["of_tree"]["median"] - 1) < 1e-8
tree = [row for row in rows if row["part"] == "tree"]
assert len(tree) == sum(len(size["seconds"]) for size in t["tree"]["sizes"]) == 24
trace = {row["series"] for row in rows if row["part"] == "trace"}
assert trace == {"all joins", "serving", "replay"}
PYTHON
}
ok "CSV and JSON have the same figures" csv_is_json
cost_can_be_read() {
    "$schemas" - "$work/cost" "$root" <<'PYTHON' || return 1
import json, sys
import jsonschema
cost = json.load(open(sys.argv[1]))
schema = json.load(open(sys.argv[2] + "/spec/simulate-cost.schema.json"))
jsonschema.Draft7Validator(schema).validate(cost)
assert cost["fixed_us"] > 0 and cost["prefill_token_us"] > 0
PYTHON
    "$chunkproof" simulate --cost "$work/cost" --requests 5 >/dev/null
}
ok "the cost is one for simulate" cost_can_be_read

ok "only what is asked for" json \
    "{c['part'] for c in cells} == {'levels', 'gqa'} and t['tree'] is None and t['trace'] is None" \
    "${smoke[@]}" --only gqa,levels
ok "so many threads" json "t['threads'] == 1 and t['tree'] is not None and not cells" \
    "${smoke[@]}" --threads 1 --only tree
ok "plain C" json "t['unit'] == 'plain C' and cells[0]['end'] == 'measured'" "${smoke[@]}" \
    --unit portable --only gqa
ok "too little memory for a load" json "all(c['end'] == 'no-room' and 'GiB' in c['note'] and
    c['rounds'] == 0 for c in cells) and
    all(s['rounds'] == 0 for s in t['tree']['sizes']) and
    t['attention_cost'] is None" --smoke --memory 0.00001 --only levels,tree
ok "... said" has "no room: it takes 0.00 GiB"
printf '{"timestamp": 0, "input_length": 600, "output_length": 1, "hash_ids": [1, 2]}
{"timestamp": 1, "input_length": 700, "output_length": 1, "hash_ids": [1, 3]}\n' >"$work/trace"
ok "a trace of one's own" json "t['trace']['tokens'] == 1300 and
    t['trace']['shared_tokens'] == 512 and t['trace']['chunks'] == 3 and
    t['goals'][6]['measured'] == 1" "${smoke[@]}" --only trace --trace "$work/trace"
ok "the list" right --list
ok "... has Table 3, in full" has "table3 b=32 n=4096 n_s=4096 h=32/32        2.06 GiB"
ok "... of other heads" right --list --heads 8 --only table3
ok "... that take less" has "table3 b=32 n=4096 n_s=4096 h=8/8          0.52 GiB"
progress() {
    status 0 "${smoke[@]}" --only gqa --progress && says "[....................] 0 of 1, " &&
        says " s: gqa b=4 n=192 n_s=128 h=4/1"
}
ok "progress" progress

# ---- Peers ----

peer() { # peer NAME LINE...: a peer of one series, and what it answers when it is to run
    {
        printf '#!/bin/sh\nwhile read -r line; do\ncase $line in\n'
        printf 'cell*) %s ;;\nrun*) %s ;;\nesac\ndone\n' "$2" "$3"
    } >"$work/$1"
    chmod +x "$work/$1"
}
peer works "echo 'series works: slowly'; echo 'skip other: no such thing'; echo ready" \
    "echo time 1000 2000"
ok "a peer" json "named(cells[0], 'works')['seconds']['median'] == 1000 and
    named(cells[0], 'works')['cpu_seconds']['most'] == 2000 and
    named(cells[0], 'works')['note'] == 'slowly' and not named(cells[0], 'other')['measured'] and
    t['goals'][3]['measured'] == 1 and
    t['goals'][3]['met']" "${smoke[@]}" --only gqa --peer "$work/works"
ok "... that skips a series, by name" has "other        skipped: no such thing"
far_ahead() { ! grep -q "the goal is 2" "$work/out"; }
ok "... far ahead of whom nothing is said to limit" far_ahead
peer close "echo 'series close'; echo ready" "echo time 1e-9 1e-9"
ok "a peer that is faster" json "cells[0]['beside_peer']['peer'] == 'close' and
    0 < cells[0]['beside_peer']['ahead'] < 0.1 and not t['goals'][3]['met']" \
    "${smoke[@]}" --only gqa --peer "$work/close"
ok "... which names what limits" has "times as fast as close, and the goal is 2: limited by "
peer dies "echo 'series dies'; echo ready" "exit 1"
ok "a peer that dies, beside one that works" json "named(cells[0], 'works')['measured'] and
    not named(cells[0], 'dies')['measured'] and 'ended' in named(cells[0], 'dies')['note']" \
    "${smoke[@]}" --only gqa --peer "$work/dies" --peer "$work/works"
ok "a peer that is not there" json \
    "not cells[0]['series'][3]['measured'] and cells[0]['rounds'] == 2" \
    "${smoke[@]}" --only gqa --peer "$work/nowhere 2>/dev/null"
ok "... by name" has "nowhere 2>/dev/null skipped: it has ended"

# ---- A kernel for the gate ----

ok "the gate's tiers" json "t['gate']['tiers'][0]['tier'] == 'quick' and
    t['gate']['tiers'][0]['cases'] == 5 and
    t['gate']['tiers'][0]['all_cases'] == 400 and
    t['gate']['tiers'][0]['whole_seconds'] > t['gate']['tiers'][0]['seconds']" \
    "${smoke[@]}" --only gate --kernel "$root/tests/example/paged_kernel.c"
no_kernel() { status 2 "${smoke[@]}" --only gate --kernel "$work/none" &&
    says "--kernel $work/none: \`chunkproof gate\` gives no verdict"; }
ok "a kernel that is not there" no_kernel
wrong_kernel() {
    sed 's/o\[i\] = o\[i\] \* rescale/o[i] = o[i]/' "$root/tests/example/paged_kernel.c" \
        >"$work/wrong.c"
    status 1 "${smoke[@]}" --only gate --kernel "$work/wrong.c" && says "finds it wrong"
}
ok "a kernel that is wrong" wrong_kernel

# ---- Interrupted: what was measured is reported ----

interrupted() {
    local n found=0
    rm -f "$work/report"
    "$chunkproof" bench --smoke --memory 1 --only gqa,levels --progress --peer "$work/waits" \
        --json "$work/report" \
        >"$work/out" 2>"$work/err" &
    for n in $(seq 300); do
        [ -e "$work/second" ] && break
        sleep 0.1
    done
    kill -INT $!
    wait $! || found=$?
    [ "$found" = 130 ] || { echo "status $found after $n"; cat "$work/out" "$work/err"; return 1; }
    has "interrupted after" && holds \
        "t['interrupted'] and [c['end'] for c in cells] == ['measured', 'not-run']"
}
# Answers for the first load, and waits at the second one.
peer waits \
    "[ ! -e '$work/first' ] || { : >'$work/second'; sleep 60; }
    : >'$work/first'; echo 'series waits'; echo ready" \
    "echo time 1 1"
ok "interrupted: what was measured is there" interrupted

# ---- Bad use ----

ok "help" right --help
ok "... says what it is" has "usage: chunkproof bench [OPTION]..."
ok "no such option" wrong "--nonsense" --nonsense
ok "an argument" wrong "unexpected argument 'x'" x
ok "no such part" wrong "--only needs some of table3" --only table3,nonsense
ok "an empty part" wrong "--only needs some of table3" --only ,
ok "no threads" wrong "--threads needs a whole number from 1 to 1024, not '0'" --threads 0
ok "no number" wrong "--seconds needs a number from 0 to 3600, not 'x'" --seconds x
units_are_in_the_schema() {
    local words
    words=$(sed -n '/^const char .bench_unit_words/,/^}/s/.*\("[^"]*"\).*/\1/p' \
        "$root/cli/bench/report.c")
    [ "$(grep -c . <<<"$words")" = 6 ] || { echo "not 6 units: $words"; return 1; }
    while read -r word; do
        grep -q "\"enum\": \[.*$word" "$root/spec/bench-report.schema.json" ||
            { echo "$word is missing"; return 1; }
    done <<<"$words"
}
ok "each unit is in the schema" units_are_in_the_schema
ok "no such unit" wrong \
    "--unit needs best, portable, avx2, avx512, neon, amx or avx512-bf16, not 'sse'" --unit sse
ok "odd heads" wrong "--heads 12 is not a multiple of 8" --heads 12
ok "no memory" wrong "--memory needs a number from" --memory 0
ok "too many peers" wrong "--peer can be given at most 4 times" --peer a --peer b --peer c \
    --peer d --peer e
ok "a cost of nothing" wrong "--only leaves them all out" --cost "$work/cost" --only tree
ok "two reports in one file" wrong "--json and --csv name the same file" \
    --json "$work/r" --csv "$work/r"
no_trace() { status 2 "${smoke[@]}" --only trace --trace "$work/none" &&
    says "$work/none: cannot be opened"; }
ok "a trace that is not there" no_trace
bad_trace() { status 2 "${smoke[@]}" --only trace --trace "$work/csv" &&
    says "$work/csv:1:4: not JSON"; }
ok "a trace that is none" bad_trace
no_cost() { status 2 --smoke --memory 0.00001 --only gqa --cost "$work/none" &&
    says "not written" && [ ! -e "$work/none" ]; }
ok "a cost of loads that were not measured" no_cost
cannot_write() { status 2 "${smoke[@]}" --only gqa "$1" "$2" && says "$2 cannot be written"; }
ok "a report that cannot be written" cannot_write --json /dev/full
ok "CSV that cannot be written" cannot_write --csv /dev/full
ok "a directory that is not there" cannot_write --csv "$work/none/x"
exit $failed
