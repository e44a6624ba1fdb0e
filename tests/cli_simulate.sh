#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof simulate` from outside: figures counted by hand, the reports, bad input, exit
# statuses.
#   tests/cli_simulate.sh [COMMAND]     COMMAND: the binary, default build/chunkproof
set -u
. "$(dirname "$0")/cli.bash" simulate "${1:-}"
root=$(realpath "$(dirname "$0")/..")
schemas=/usr/bin/python3 # Debian's, which python3-jsonschema is for
python3 -c 'import jsonschema' 2>/dev/null && schemas=python3

# right ARGUMENT...: status 0, nothing on standard error, at most 100 columns, no spaces at line
# ends.
right() {
    status 0 "$@" || return 1
    [ -s "$work/out" ] && [ ! -s "$work/err" ] || { echo "no output, or errors"; cat "$work/err";
        return 1; }
    ! awk 'length > 100 { print "too long: " $0; n++ } END { exit n == 0 }' "$work/out" || return 1
    ! grep -n ' $' "$work/out"
}

# json EXPRESSION ARGUMENT...: the report, t, follows its schema and the Python expression holds; a
# and b are the runs
# of its first point, without and with sharing.
json() {
    local expression=$1
    shift
    right --json "$work/report" "$@" && "$schemas" - "$work/report" "$expression" "$root" <<'PYTHON'
import json, sys
import jsonschema
t = json.load(open(sys.argv[1]))
schema = json.load(open(sys.argv[3] + "/spec/simulate-report.schema.json"))
jsonschema.Draft7Validator.check_schema(schema)
jsonschema.Draft7Validator(schema).validate(t)
a, b = t["points"][0]["runs"]
near = lambda x, y: abs(x - y) < 1e-12
if not eval("(" + sys.argv[2] + ")"):
    sys.exit("false: " + sys.argv[2] + "\n" + json.dumps(t, indent=2))
PYTHON
}

# row TEXT ARGUMENT...: a line of the output, runs of spaces taken as one.
row() {
    local line=$1
    shift
    right "$@" || return 1
    tr -s ' ' <"$work/out" | sed 's/^ //' | grep -qxF -- "$line" || { cat "$work/out"; return 1; }
}

# The model has 2 bytes per token; 10 ms for an iteration, 1 ms for each prompt token computed.
cat >"$work/cost" <<'JSON'
{"format": "chunkproof cost 1", "note": "for tests", "fixed_us": 10000, "prefill_token_us": 1000}
JSON
tiny=(--cost "$work/cost" --layers 1 --heads 1 --head-dim 1 --bytes 1)
# The example of spec/simulate.md, in ms: r1 ends at 38, or with sharing at 36.
cat >"$work/small" <<'TRACE'
{"timestamp": 0, "input_length": 4, "output_length": 2, "hash_ids": [7, 8]}
{"timestamp": 5, "input_length": 4, "output_length": 2, "hash_ids": [7, 9]}
TRACE
small=("${tiny[@]}" --block 2 "$work/small")
by_hand="near(a['latency_ms_per_token']['mean'], (14 + 16.5) / 2) and
    near(b['latency_ms_per_token']['mean'], (13 + 15.5) / 2) and
    a['latency_ms_per_token']['p99'] == 16.5 and b['latency_ms_per_token']['p50'] == 13 and
    near(a['first_token_ms']['mean'], (14 + 23) / 2) and
    near(b['first_token_ms']['mean'], (14 + 21) / 2) and
    a['peak_bytes'] == 6 * 4 and b['peak_bytes'] == 5 * 4 and
    a['peak_batch'] == b['peak_batch'] == 2 and
    a['reused_tokens'] == 0 and b['reused_tokens'] == 2 and near(b['in_system'], (26 + 31) / 36) and
    near(a['tokens_per_second'], 4 / .038) and a['iterations'] == b['iterations'] == 3 and
    not a['sharing'] and b['sharing']"
ok "figures by hand" json "$by_hand and t['points'][0]['requests'] == 2 and
    t['server']['chunk'] == 2 and
    t['server']['model'] == {'layers': 1, 'heads': 1, 'kv_heads': 1, 'head_dim': 1, 'bytes': 1}" \
    "${small[@]}"
ok "... as text, the latency" row "normalized latency, ms/token 15.25 14.25" "${small[@]}"
ok "... the tail" row "99th percentile 16.50 15.50" "${small[@]}"
ok "... the peaks" row "peak batch size 2 2" "${small[@]}"
ok "... what was shared" row "found in the tree 0 2" "${small[@]}"
# r1 at 10 ms, when the first iteration is on: the same but for its own 5 ms.
ok "half as fast" json "near(a['first_token_ms']['mean'], (14 + 18) / 2) and t['speed'] == 0.5" \
    --speed 0.5 "${small[@]}"
# One after the other: 0..14..24, then 24..38..48.
ok "one at a time" json "near(a['latency_ms_per_token']['mean'], (12 + 43 / 2) / 2) and
    a['peak_batch'] == 1 and
    a['peak_bytes'] == b['peak_bytes'] == 12 and b['reused_tokens'] == 0" --batch 1 "${small[@]}"
# Chunks of 4 bytes: 5 are enough with sharing alone.
ok "memory for five chunks" json "a['peak_batch'] == 1 and b['peak_batch'] == 2 and
    b['peak_chunks'] == 5 and
    a['rejected'] == b['rejected'] == 0" --memory 1.9e-8 "${small[@]}"
ok "memory of no chunk" wrong "is too small for one chunk" --memory 1e-9 "${small[@]}"
ok "other chunks than blocks" json "b['reused_tokens'] == 0 and t['server']['chunk'] == 3" \
    --chunk 3 "${small[@]}"
from_stdin() {
    "$chunkproof" simulate "${tiny[@]}" --block 2 - <"$work/small" >"$work/out" &&
        tr -s ' ' <"$work/out" | grep -qx 'normalized latency, ms/token 15.25 14.25' &&
            grep -q '<stdin>, 2 requests' "$work/out"
}
ok "standard input" from_stdin

# Poisson arrivals. With one token to make and nothing shared, each of a few requests takes
# 10 + 4 ms.
ok "requests that never meet" json "near(a['latency_ms_per_token']['mean'], 14) and
    a == {**b, 'sharing': False} and
    a['peak_batch'] == 1 and
    t['points'][0]['poisson'] ==
        {'rate': 0.01, 'prompt': 4, 'shared': 0, 'completion': 1, 'seed': 3}" \
    "${tiny[@]}" --poisson 0.01 --prompt 4 --shared 0 --completion 1 --requests 20 --seed 3
rates=("${tiny[@]}" --prompt 10 --shared 8 --completion 10 --chunk 4 --requests 300 --rates 1,5,20)
ok "a row for each rate" json "[p['poisson']['rate'] for p in t['points']] == [1, 5, 20] and all(
    x['runs'][i]['latency_ms_per_token']['mean'] < y['runs'][i]['latency_ms_per_token']['mean']
    for x, y in zip(t['points'], t['points'][1:]) for i in (0, 1)) and all(
    p['runs'][1]['peak_chunks'] <= p['runs'][0]['peak_chunks'] for p in t['points'])" "${rates[@]}"
same_again() {
    status 0 --json "$work/1.json" --csv "$work/1.csv" "${rates[@]}" &&
        cp "$work/out" "$work/1.txt" &&
        status 0 --json "$work/2.json" --csv "$work/2.csv" "${rates[@]}" &&
            cmp "$work/out" "$work/1.txt" &&
        cmp "$work/1.json" "$work/2.json" && cmp "$work/1.csv" "$work/2.csv"
}
ok "the same again is the same" same_again
another_seed() { status 0 --csv "$work/2.csv" --seed 2 "${rates[@]}" &&
    ! cmp -s "$work/1.csv" "$work/2.csv"; }
ok "another seed is another" another_seed
csv_is_json() {
    python3 - "$work/1.csv" "$work/1.json" <<'PYTHON'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1])))
runs = [(p, r) for p in json.load(open(sys.argv[2]))["points"] for r in p["runs"]]
assert len(rows) == len(runs) == 6
for row, (point, run) in zip(rows, runs):
    assert None not in row and None not in row.values()
    assert row["sharing"] == ("yes" if run["sharing"] else "no")
    assert int(row["requests"]) == point["requests"]
    for name in ("rate", "prompt", "shared", "completion"):
        assert float(row[name]) == point["poisson"][name]
    for name in ("tokens_per_second", "peak_bytes", "peak_batch", "mean_batch", "in_system",
                 "rejected"):
        assert float(row[name]) == run[name], name
    assert float(row["reuse"]) == run["reused_tokens"] / run["prompt_tokens"]
    for column, name in (("latency", "latency_ms_per_token"), ("first_token", "first_token_ms")):
        for part in ("mean", "p50", "p99"):
            assert float(row[f"{column}_{part}"]) == run[name][part]
PYTHON
}
ok "CSV and JSON have the same figures" csv_is_json

ok "Table 4" json "t['source'] == 'ACL Table 4' and
    [(p['poisson']['prompt'], p['poisson']['shared'], p['poisson']['rate'])
    for p in t['points']] == [(n, s, r) for n, r in ((1024, 1.0), (2048, 0.6), (4096, 0.4))
    for s in (0, n)] and
    t['points'][3]['measured'][1] == {'system': 'ChunkLlama', 'latency_ms_per_token': 15.2,
        'peak_gib': '3.40', 'peak_batch': 12} and
    all(p['poisson']['completion'] == 512 for p in t['points'])" --table4 --requests 30

# The printed cost is one that can be read, and means the same.
printed_cost() {
    right --print-cost && cp "$work/out" "$work/printed" &&
        "$schemas" - "$work/printed" "$root" <<'PYTHON' || return 1
import json, sys
import jsonschema
schema = json.load(open(sys.argv[2] + "/spec/simulate-cost.schema.json"))
jsonschema.Draft7Validator.check_schema(schema)
jsonschema.Draft7Validator(schema).validate(json.load(open(sys.argv[1])))
PYTHON
    status 0 --requests 50 --csv "$work/1" && status 0 --requests 50 --csv "$work/2" \
        --cost "$work/printed" &&
        cmp "$work/1" "$work/2" && status 0 --print-cost --cost "$work/printed" &&
            cmp "$work/out" "$work/printed"
}
ok "the cost that is printed" printed_cost

# wrong_cost TEXT JSON
wrong_cost() {
    printf '%s' "$2" >"$work/bad"
    wrong "$work/bad$1" --cost "$work/bad"
}
cost='"format": "chunkproof cost 1", "fixed_us": 1'
ok "no cost" wrong "none" --cost "$work/none"
ok "no JSON" wrong_cost ":1:7: " "{\"a\": x}"
ok "no object" wrong_cost ": must be one JSON object" "[1]"
ok "a missing format" wrong_cost ': "format" is missing' '{"fixed_us": 1}'
ok "another format" wrong_cost ': "format" must be "chunkproof cost 1"' \
    '{"fixed_us": 1, "format": "chunkproof cost 2"}'
ok "another format, before what it lacks" wrong_cost ': "format" must be "chunkproof cost 1"' \
    '{"format": "chunkproof machine 1"}'
ok "a missing field" wrong_cost ': "fixed_us" is missing' '{"format": "chunkproof cost 1"}'
ok "an unknown field" wrong_cost ': "fixed_ms" is unknown' "{$cost, \"fixed_ms\": 1}"
ok "a negative number" wrong_cost ': "sequence_us" must be a number from 0' \
    "{$cost, \"sequence_us\": -1}"
ok "no number" wrong_cost ': "sequence_us" must be a number from 0' \
    "{$cost, \"sequence_us\": \"1\"}"
ok "too large a number" wrong_cost ': "sequence_us" must be a number from 0' \
    "{$cost, \"sequence_us\": 1e19}"
ok "a rate of nothing" wrong_cost ': "kv_bytes_per_second" must be a number from 1' \
    "{$cost, \"kv_bytes_per_second\": 0}"
ok "a field twice" wrong_cost ":1:" "{$cost, \"fixed_us\": 2}"

ok "help" row "usage: chunkproof simulate [OPTION]... [FILE]" --help
ok "no such option" wrong "--nonsense" --nonsense
ok "a trace that is not there" wrong "$work/none: cannot be opened: No such file" "$work/none"
ok "a malformed trace" wrong "$work/cost:1:1: the field \"timestamp\" is missing" "$work/cost"
ok "two files" wrong "at most one FILE" "$work/small" "$work/small"
ok "a file and arrivals" wrong "--rates applies only to Poisson arrivals" --rates 1 "$work/small"
ok "a file and a seed" wrong "--seed applies only to Poisson arrivals" --seed 1 "$work/small"
ok "arrivals and a speed" wrong "--speed applies only to a trace" --speed 2
ok "two rates" wrong "was already given" --poisson 1 --rates 1,2
ok "Table 4 and a file" wrong "--table4 has its own loads and takes no FILE" --table4 "$work/small"
ok "Table 4 and a prompt" wrong "--table4 has its own loads: --prompt does not apply" --table4 \
    --prompt 5
ok "a seed that JSON has no integer for" wrong \
    "--seed needs a whole number from 0 to 9223372036854775807" --seed 9223372036854775808
ok "no rate" wrong "--rates needs a number from 0.001" --rates 1,,2
ok "a rate of zero" wrong "--poisson needs a number from 0.001" --poisson 0
ok "more shared than there is" wrong "--shared 5: the prompts have only 4 tokens" --prompt 4 \
    --shared 5
ok "no completion" wrong "--completion needs a whole number from 1" --completion 0
ok "too large a batch" wrong "--batch needs a whole number from 1 to" --batch 100000000
ok "no such model" wrong "is unknown; the models are gpt3-175b" --model nonsense
ok "heads that do not divide" wrong "--kv-heads 3 must divide --heads 32" --kv-heads 3
ok "two reports in one file" wrong "--json and --csv name the same file" \
    --json "$work/r" --csv "$work/r"
ok "too little memory for a chunk" wrong \
    "--memory 0.01 is too small for one chunk, which takes 0.03125 GiB" --memory 0.01
ok "longer than a path" wrong "give a larger --chunk" --prompt 1000000 --chunk 1 --requests 1
ok "more tokens than an int tells apart" wrong "ask for fewer or shorter requests" \
    --requests 100000 --prompt 100000 --shared 0
ok "no end" wrong "exceeds 30 years" --completion 100000 --chunk 512 --requests 1000 \
    --cost <(echo "{$cost, \"sequence_us\": 1e14}")
ok "grouped heads stay" json "t['server']['model']['kv_heads'] == 8" --model llama-70b --heads 128 \
    --requests 2

full_disk() { # full_disk ARGUMENT...
    local found=0
    [ -w /dev/full ] || { echo "no /dev/full"; return 1; }
    "$chunkproof" simulate --requests 3 "$@" >/dev/full 2>"$work/err" || found=$?
    [ "$found" = 2 ] && grep -q "written: No space" "$work/err"
}
ok "output that cannot be written" full_disk
cannot_write() { status 2 --requests 3 "$1" "$2" && says "$2 cannot be written"; }
ok "a report that cannot be written" cannot_write --json /dev/full
ok "CSV that cannot be written" cannot_write --csv /dev/full
ok "a directory that is not there" cannot_write --csv "$work/none/x"
exit $failed
