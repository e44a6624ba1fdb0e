#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof simulate --modules` from outside: whole runs derived again by tests/modules_model.py,
# the reports, files of its own that it can read, bad input, exit statuses.
#   tests/cli_simulate_modules.sh [COMMAND]     COMMAND: the binary, default build/chunkproof
set -u
. "$(dirname "$0")/cli.bash" simulate "${1:-}"
root=$(realpath "$(dirname "$0")/..")
golden=$root/tests/golden/prompt
schemas=/usr/bin/python3 # Debian's, which python3-jsonschema is for
python3 -c 'import jsonschema' 2>/dev/null && schemas=python3
cd "$golden" || exit 1

# right ARGUMENT...: status 0, nothing on standard error, at most 100 columns, no spaces at line
# ends.
right() {
    status 0 --modules "$@" || return 1
    [ -s "$work/out" ] && [ ! -s "$work/err" ] || { echo "no output, or errors"; cat "$work/err";
        return 1; }
    ! awk 'length > 100 { print "too long: " $0; n++ } END { exit n == 0 }' "$work/out" || return 1
    ! grep -n ' $' "$work/out"
}

# derived SCHEMA|- ARGUMENT...: the report and the events are what the model in Python derives, and
# the report follows its schema. With a SCHEMA, `chunkproof prompt` agrees on the first 60 prompts.
derived() {
    local file=$1 ask=()
    shift
    [ "$file" = - ] || ask=("$chunkproof" "$file" 60)
    [ "$file" = - ] || set -- "$@" "$file"
    right --json "$work/report" --events "$work/events" "$@" &&
        python3 "$root/tests/modules_model.py" "$work/report" "$work/events" "${ask[@]}" &&
        "$schemas" - "$work/report" "$root" <<'PYTHON'
import json, sys
import jsonschema
schema = json.load(open(sys.argv[2] + "/spec/simulate-modules-report.schema.json"))
jsonschema.Draft7Validator.check_schema(schema)
jsonschema.Draft7Validator(schema).validate(json.load(open(sys.argv[1])))
PYTHON
}

# figure EXPRESSION ARGUMENT...: a Python expression over the report, t, is true.
figure() {
    local expression=$1
    shift
    right --json "$work/report" "$@" && python3 - "$work/report" "$expression" <<'PYTHON'
import json, sys
t = json.load(open(sys.argv[1]))
taken, tiers, memory = t["taken"], t["tiers"], t["batch_memory"]
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

# Modules in each other, a module without text, unions in modules, scaffolds one in the other,
# params everywhere.
cat >"$work/deep.xml" <<'XML'
<schema name="deep">one two <param name="who" len="3"/>
  <module name="a">a1 a2
    <union>
      <module name="x">x1 x2 x3 <module name="in-x">i1</module></module>
      <module name="y">y1 <param name="why" len="2"/> y2</module>
    </union> a3</module>
  <module name="empty"><module name="e">e1 e2</module></module>
  <union><module name="b">b1 b2 b3 b4 b5</module><module name="c">c1</module></union>
  <module name="d">d1 d2 <param name="p" len="9"/></module> end
  <scaffold modules="a d"/><scaffold modules="a b d empty/e"/><scaffold modules="c d a"/>
</schema>
XML
# A token of llama-7b has 2^19 bytes: 0.01 GiB are 20 tokens.
tight=(--gpu-memory 0.01 --cpu-memory 0.02)
ok "a schema that is made up" derived -
ok "... little memory, small batches" derived - --gpu-memory 2 --cpu-memory 4 --batch 2 --zipf 0.5
ok "... no memory of the GPU" derived - --gpu-memory 0 --prompts 100 --machine rtx4090
ok "... no memory at all" derived - --gpu-memory 0 --cpu-memory 0 --prompts 100
ok "... unions, params, no system's text" derived - --union 4 --param 20 --system 0 --imports 9 \
    --gpu-memory 3 --cpu-memory 3 --seed 7
ok "... one batch, larger than the prompts" derived - --batch 100 --prompts 60 --gpu-memory 4
ok "... no imports" derived - --imports 0 --prompts 10
ok "... another model" derived - --model llama-70b --parameters 69e9 --gpu-memory 3 --zipf 2
ok "modules in each other" derived "$work/deep.xml" --imports 5 --new 3 --batch 3 --prompts 600
ok "... in little memory" derived "$work/deep.xml" --imports 3 --new 3 --batch 1 "${tight[@]}"
ok "... in use most of the time" derived "$work/deep.xml" --imports 6 --new 1 --batch 4 \
    --gpu-memory 0.004 --cpu-memory 0.006 --seed 3
ok "the example of modules.md" derived travel.xml --imports 2 --prompts 50
ok "the example of pml.md" derived tutor.xml --imports 4 --new 9 "${tight[@]}"
ok "... has seven items" figure "t['schema']['items'] == 7" tutor.xml
both_tiers() { figure "taken['gpu']['items'] and taken['cpu']['items'] and
    taken['kept_nowhere']['items'] and tiers['cpu']['left_items'] and t['dropped'] and
    tiers['gpu']['left_items']" --imports 6 --new 1 --batch 4 --gpu-memory 0.004 \
    --cpu-memory 0.006 --seed 3 "$work/deep.xml"; }
ok "... where everything happens" both_tiers

# The model is worth something: it notices each change.
notices() { # notices SCRIPT: a change of the report or of the events, in sed
    derived "$work/deep.xml" --imports 3 --new 3 --batch 1 "${tight[@]}" >/dev/null || return 1
    sed -E "$1" "$work/report" >"$work/report2"
    sed -E "$1" "$work/events" >"$work/events2"
    ! cmp -s "$work/report" "$work/report2" || ! cmp -s "$work/events" "$work/events2" || return 1
    ! python3 "$root/tests/modules_model.py" "$work/report2" "$work/events2" "$chunkproof" \
        "$work/deep.xml" 60
}
ok "the model notices: another place" notices '0,/"from": "cpu"/s//"from": "gpu"/'
ok "... another peak" notices 's/("peak_tokens": [0-9]*)/\11/'
ok "... another pair" notices '/"prompt": 7,/s/("pairs": [0-9]*)/\11/'
ok "... a batch's memory" notices 's/("shared_tokens": [0-9]*)/\11/'
ok "... an item that did not leave" notices '0,/\[\[[0-9]*, "gpu"\]/s//[[99, "gpu"]/'
ok "... a time" notices '/"prompt": 9,/s/("cached_ns": [0-9]*)/\11/'

# Figures by hand.
ok "half of a batch's memory" row "mean 100.000 50.500 49.50 %" --count 1 --system 0 \
    --least 1024 --most 1024 --imports 1 --new 1024 --prompts 100 --batch 100
ok "... as JSON" figure "memory == {'batches': 1, 'own_tokens': 204800, 'shared_tokens': 103424,
    'own_tokens_most': 204800, 'shared_tokens_most': 103424,
    'reduction': memory['reduction']} and abs(memory['reduction'] - 0.495) < 1e-12" --count 1 \
    --system 0 --least 1024 --most 1024 --imports 1 --new 1024 --prompts 100 --batch 100
# Items of 64, 1500 and 1500 tokens, of which both prompts take all. The GPU has room for 2048: m2
# cannot come while m1 is in use, and goes to the CPU; the second prompt copies it.
ok "what has no room is copied again" figure "taken['gpu']['items'] == 2 and
    taken['cpu']['items'] == 1 and taken['encoded']['items'] == 3 and
    tiers['gpu']['copied_tokens'] == tiers['cpu']['copied_tokens'] == 1500" --count 2 --least 1500 \
    --most 1500 --imports 40 --prompts 2 --batch 1 --gpu-memory 1 --cpu-memory 9
ok "hit rates as text" row "in the GPU's memory: hits 99 99.0 % 101376 99.0 %" --count 1 \
    --system 0 --least 1024 --most 1024 --imports 1 --new 1024 --prompts 100 --batch 100
ok "the default machine" row \
    "187.2 TFLOP/s, memory 1632 GB/s, copies from the CPU 25.2 GB/s" --prompts 2
ok "prompts" row "prompts 2, of 3 draws with weights 1/r^1 and 64 new tokens, seed 1" --prompts 2

# What it prints it can read.
same_again() {
    right --json "$work/1.json" --events "$work/1" --union 3 --prompts 200 &&
        cp "$work/out" "$work/1.txt" &&
        right --json "$work/2.json" --events "$work/2" --union 3 --prompts 200 &&
        cmp "$work/out" "$work/1.txt" && cmp "$work/1.json" "$work/2.json" &&
        cmp "$work/1" "$work/2"
}
ok "the same again is the same" same_again
another_seed() { right --events "$work/2" --seed 2 --union 3 --prompts 200 &&
    ! cmp -s "$work/1" "$work/2"; }
ok "another seed is another" another_seed
printed_schema() {
    right --print-schema --union 3 && cp "$work/out" "$work/made.xml" &&
        right --events "$work/2" --prompts 200 "$work/made.xml" && cmp "$work/1" "$work/2"
}
ok "the schema that is printed" printed_schema
printed_machine() {
    right --print-machine --machine rtx4090 && cp "$work/out" "$work/machine" &&
        "$schemas" - "$work/machine" "$root" <<'PYTHON' || return 1
import json, sys
import jsonschema
schema = json.load(open(sys.argv[2] + "/spec/simulate-machine.schema.json"))
jsonschema.Draft7Validator.check_schema(schema)
jsonschema.Draft7Validator(schema).validate(json.load(open(sys.argv[1])))
PYTHON
    right --events "$work/1" --prompts 50 --machine "$work/machine" &&
        right --events "$work/2" --prompts 50 --machine rtx4090 && cmp "$work/1" "$work/2" &&
        right --print-machine --machine "$work/machine" && cmp "$work/out" "$work/machine"
}
ok "the machine that is printed" printed_machine
ok "the help" row "usage: chunkproof simulate --modules [OPTION]... [SCHEMA.xml]" --help

# Ctrl-C: the events and the report cover whole batches. Bash starts what stands in the background
# with SIGINT ignored, so the run is started from Python.
interrupted() {
    mkdir "$work/stopped" || return 1
    python3 - "$chunkproof" "$work/stopped" <<'PYTHON' || return 1
import os, signal, subprocess, sys, time
command, work = sys.argv[1:]
run = subprocess.Popen(
    [command, "simulate", "--modules", "--prompts", "1000000", "--imports", "9", "--json",
     work + "/report", "--events", work + "/events"],
    stdout=open(work + "/out", "w"),
    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
while run.poll() is None: # events have another name until they are complete
    if any(name.startswith("events") and os.path.getsize(f"{work}/{name}")
           for name in os.listdir(work)):
        break
    time.sleep(0.01)
run.send_signal(signal.SIGINT)
assert run.wait() == 130, run.returncode
PYTHON
    grep -q '^interrupted after [0-9]* prompts$' "$work/stopped/out" &&
        python3 "$root/tests/modules_model.py" "$work/stopped/report" "$work/stopped/events" &&
        grep -q '"interrupted": true' "$work/stopped/report"
}
ok "interrupted" interrupted

# ---- Bad use ----

bad() { # bad TEXT ARGUMENT...
    local text=$1
    shift
    wrong "$text" --modules "$@"
}
ok "--modules behind another option" wrong "give it first" --batch 3 --modules
ok "no such option" bad "--modules --help" --nonsense
ok "no value" bad "--modules --help" --batch
ok "two schemas" bad "at most one SCHEMA.xml: 'y' is a second one" x y
ok "a schema that is not there" bad "$work/none" "$work/none"
printf '<schema name="s"><module/></schemas>' >"$work/bad.xml"
ok "a schema with an error" bad "$work/bad.xml:1:" "$work/bad.xml"
ok "a prompt in place of a schema" bad "miami.xml:1:1: " miami.xml
ok "a file, and how to make one up" bad "--count applies only to a schema that is made up" \
    --count 3 travel.xml
ok "a file, and printing one" bad "--print-schema applies only" --print-schema travel.xml
ok "a schema and a machine to print" bad "give only one of them" --print-schema --print-machine
ok "bytes without a file" bad "--tokens bytes needs a SCHEMA.xml" --tokens bytes
ok "no such tokens" bad "--tokens needs words or bytes, not 'x'" --tokens x
ok "least above most" bad "--least 9 is above --most 8" --least 9 --most 8
ok "too many positions" bad \
    "may have 819200000 positions, and 1048576 is the most; give a smaller" --count 4096 \
    --most 100000 --param 100000 --system 0 --least 1
ok "a model that is unknown" bad "the models are gpt3-175b" --model x
ok "a model without its weights" bad "give --parameters" --model falcon-40b
ok "K/V heads that divide nothing" bad "--kv-heads 3 must divide --heads 32" --kv-heads 3
ok "no batch" bad "--batch needs a whole number from 1 to 100000, not '0'" --batch 0
ok "no new text" bad "--new needs a whole number from 1" --new 0
ok "no number" bad "--zipf needs a number from 0 to 10, not 'nan'" --zipf nan
ok "negative memory" bad "--gpu-memory needs a number from 0" --gpu-memory -1
ok "too many prompts" bad "--prompts needs a whole number from 1 to 1000000" --prompts 1000001
ok "a seed that JSON has no integer for" bad "--seed needs a whole number from 0 to" \
    --seed 9223372036854775808
ok "two reports in one file" bad "--json and --events name the same file" \
    --json "$work/r" --events "$work/r"

# wrong_machine TEXT JSON
wrong_machine() {
    printf '%s' "$2" >"$work/machine"
    bad "$work/machine$1" --machine "$work/machine"
}
some='"format": "chunkproof machine 1", "flops_per_second": 1, "bytes_per_second": 1'
ok "no such machine" bad "--machine takes a file, or a100 rtx4090" --machine h100
ok "no JSON" wrong_machine ":1:7: " '{"a": x}'
ok "no object" wrong_machine ": must be one JSON object" '[1]'
ok "a missing format" wrong_machine ': "format" is missing' '{"flops_per_second": 1}'
ok "another format" wrong_machine ': "format" must be "chunkproof machine 1"' \
    "{${some/machine 1/machine 2}, \"copy_bytes_per_second\": 1}"
ok "a missing field" wrong_machine ': "copy_bytes_per_second" is missing' "{$some}"
ok "an unknown field" wrong_machine ': "watts" is unknown' \
    "{$some, \"copy_bytes_per_second\": 1, \"watts\": 1}"
ok "a rate of nothing" wrong_machine ': "copy_bytes_per_second" must be a number from 1 to 1e18' \
    "{$some, \"copy_bytes_per_second\": 0}"
ok "a negative time" wrong_machine ': "fixed_us" must be a number from 0 to 1e18' \
    "{$some, \"copy_bytes_per_second\": 1, \"fixed_us\": -1}"
ok "a field twice" wrong_machine ":1:" "{$some, \"flops_per_second\": 1}"

# ---- Output ----

full_disk() {
    local found=0
    [ -w /dev/full ] || { echo "no /dev/full"; return 1; }
    "$chunkproof" simulate --modules --prompts 3 >/dev/full 2>"$work/err" || found=$?
    [ "$found" = 2 ] && grep -q "written: No space" "$work/err"
}
ok "output that cannot be written" full_disk
cannot_write() { status 2 --modules --prompts 3 "$1" "$2" && says "$2 cannot be written"; }
ok "a report that cannot be written" cannot_write --json /dev/full
ok "events that cannot be written" cannot_write --events /dev/full
ok "a directory that is not there" cannot_write --events "$work/none/x"
exit $failed
