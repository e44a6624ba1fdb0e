#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof tables` from outside: sections, exit statuses, JSON, CSV, known lines, cases of one's
# own.
#   tests/cli_tables.sh [COMMAND]     COMMAND: the binary, default build/chunkproof
set -u
. "$(dirname "$0")/cli.bash" tables "${1:-}"

# right ARGUMENT...: status 0, nothing on standard error, at most 100 columns, no spaces at line
# ends.
right() {
    status 0 "$@" || return 1
    [ -s "$work/out" ] && [ ! -s "$work/err" ] || { echo "no output, or errors"; return 1; }
    ! awk 'length > 100 { print "too long: " $0; n++ } END { exit n == 0 }' "$work/out" || return 1
    ! grep -n ' $' "$work/out"
}

# has LINE ARGUMENT...: the output has a line that is LINE, runs of spaces taken as one.
has() {
    local line=$1
    shift
    right "$@" || return 1
    tr -s ' ' <"$work/out" | sed 's/^ //' | grep -qxF -- "$line" || { cat "$work/out"; return 1; }
}

# json EXPRESSION ARGUMENT...: the output is JSON, and a Python expression over it, `t`, is true.
json() {
    local expression=$1
    shift
    status 0 --json "$@" && python3 -m json.tool "$work/out" >/dev/null || return 1
    python3 - "$work/out" "$expression" <<'PYTHON'
import json, sys
t = json.load(open(sys.argv[1]))
section = {s["name"]: s for s in t["sections"]}
if not eval("(" + sys.argv[2] + ")"):
    sys.exit("false: " + sys.argv[2])
PYTHON
}

# The published numbers of a column end where its others do, behind a recomputed one too.
aligned() {
    right decode &&
        awk '/ bytes / {
            n++
            for (i = 43; i <= 77; i += 17) if (substr($0, i + 1, 1) !~ /[=~]/) bad++
        }
        END { exit n != 3 || bad > 0 }' "$work/out"
}

full_disk() {
    [ -w /dev/full ] || { echo "no /dev/full"; return 1; }
    local found=0
    "$chunkproof" tables "$@" >/dev/full 2>"$work/err" || found=$?
    [ "$found" = 2 ] && grep -q "written: No space" "$work/err"
}

csv() {
    status 0 --csv && python3 - "$work/out" <<'PYTHON'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) == 452, len(rows)
assert sum(row["status"] == "match" for row in rows) == 378
assert sum(row["difference"] != "" for row in rows) > 378
assert all(abs(float(row["difference"]) - (float(row["recomputed"]) / float(row["published"]) - 1))
           < 0.04 for row in rows if row["table"] == "Prompt Cache 5.5")
assert all(None not in row and None not in row.values() for row in rows)
PYTHON
}

for section in prefill decode kernel-mops capacity kv-bytes ratios prompt-cache errors; do
    ok "section $section" right "$section"
    ok "section $section, JSON" json "list(section) == ['$section'] and t['sections'][0]['cells']" \
        "$section"
done
ok "all sections" has \
    "all sections: 452 cells: 378 match, 3 rounding, 25 differs, 25 within, 21 measured"
ok "two sections" json "list(section) == ['decode', 'kv-bytes']" kv-bytes decode
ok "all sections, JSON" json "len(section) == 8 and t['counts']['match'] == 378"
ok "all sections, CSV" csv
ok "help" right --help

ok "prefill counts" has \
    "prefill: 192 cells: 192 match, 0 rounding, 0 differs, 0 within, 0 measured" prefill
ok "a line of ICLR Table 1" has \
    "batch 1, 1024 tokens, FLOPs 103.08= 17.18= 277.03= 268.44=" prefill
ok "a line of ICLR Table 3" has \
    "batch 128, 8192 tokens, intensity 122.88000= 0.99213= 122.73728= 123.64163=" decode
ok "the cell of ACL Table 1 that is one off" has \
    "batch 64, 2048 tokens, bytes 102.76= 2166.36~2166.37 276.33=" decode
ok "columns are aligned" aligned
ok "its reason" has "counting K and V of 2049 keys but scores of 2048 gives 2166.36" errors
ok "formula (3)" has "# 1792 2304 numbers (3) line 2, for line 1 (b 2, c 3, n 3, r 1, d 128)" \
    kernel-mops
ok "formula (5)" has "# fewer not fewer (5) 1/b + 1/c < 1: fewer than (4)? (same shape)" kernel-mops
ok "memory operations" has "4096 4096 1074.004 50.856 50.594 59.245 18.13" kernel-mops
ok "capacity gains" has "2048 0.8000 1.0000 3.0000 4.5000 4.8750 4.9688 5.0000" capacity
ok "Table 4" has "< 3.28 0.50 to 4.00 GiB ChunkLlama, n_p 1024, shared 1024, peak batch 14" capacity
ok "KV bytes" has "Llama 70B 80 64 8 128 2 327680 0.3277 0.3125 2.5000" kv-bytes
ok "GQA taken for MHA" has "# 1.87 0.12 MiB Falcon 40B" kv-bytes
ok "a ratio" has "# 4.8 6.8 times PagedAttn / ChunkAttn, n_s = 4096" ratios
ok "of other sections, with the difference" has "# 1.87 0.12 -93.7% MiB Falcon 40B" prompt-cache
ok "a time below its bound" has \
    "# 220 at least 257.8 +17.2% ms Llama 13B instead of 7B, 3K tokens, no cache" prompt-cache
ok "a time that nothing bounds" has ". 54 ms Figure 8, travel, GPU, cached" prompt-cache
ok "modules that fit" has "Llama 70B 320.0 76 153 256 409" prompt-cache
ok "where the gain comes from" has "5000 500 64.76 6.55 9.2 7.721 9.24 2.359" prompt-cache
ok "the difference in JSON" json "
    {(c['table'], c['row']): c['difference'] for c in section['prompt-cache']['elsewhere']}
    ['Prompt Cache Table 2', 'Llama 70B'] == -0.875 and
    all(c['difference'] is None for c in section['prompt-cache']['cells']
        if c['status'] in ('within', 'measured')) and
    len(section['prompt-cache']['elsewhere']) == 11" prompt-cache
ok "errors are those of the other sections" json "len(section['errors']['cells']) == sum(
    c['status'] in ('rounding', 'differs') for s in t['sections'] if s['name'] != 'errors'
    for c in s['cells']) == 28"

ok "a model of one's own" has "yours 7 12 3 64 4 10752 0.0108 0.0103 0.0410" \
    --layers 7 --heads 12 --kv-heads 3 --head-dim 64 --bytes 4 kv-bytes
ok "KV heads follow heads" json "section['kv-bytes']['models'][-1]['kv_heads'] == 64" --heads 64 \
    kv-bytes
ok "a load of one's own" json "section['capacity']['case'] == section['capacity']['case'] | {
    'model': 'falcon-40b', 'chunks_unshared': 189, 'chunks_shared': 65, 'fits': 127,
    'stored_again': 16, 'padding': 0, 'chunk_bytes': 1966080.0}" \
    --model falcon-40b --batch 3 --prompt 1000 --shared 1000 --completion 8 --chunk-size 16 capacity
ok "the same as text" has "chunks without, with sharing 189, 65 (0.346, 0.119 GiB)" \
    --model falcon-40b --batch 3 --prompt 1000 --shared 1000 --completion 8 --chunk-size 16 capacity
ok "everything shared" json "section['capacity']['case']['fits'] is None and
    section['capacity']['case']['gain'] is None" --prompt 64 --shared 64 --completion 0 capacity
ok "everything shared, as text" has "sequences in the former any number: everything is shared" \
    --prompt 64 --shared 64 --completion 0 capacity

ok "no such section" wrong "no section is called prefil; there are prefill, decode," prefil
ok "no such option" wrong "--help" --nonsense
ok "no such model" wrong "the models are gpt3-175b" --model llama-8b
ok "no number" wrong "--heads x: give a whole number from 1" --heads x
ok "a number too small" wrong "--batch 0" --batch 0
ok "a number too large" wrong "--prompt 99999999999999999999" --prompt 99999999999999999999
ok "an option without its number" wrong "--help" --layers
ok "KV heads that divide nothing" wrong "multiple of --kv-heads" --heads 5 --kv-heads 2
ok "more shared than there is" wrong "--shared must not exceed" --shared 10 --prompt 9
ok "a load where none is shown" wrong "capacity" --batch 3 kv-bytes
ok "JSON and CSV" wrong "exclude each other" --json --csv
ok "CSV of a case" wrong "--csv has only" --csv --batch 3
ok "output that cannot be written" full_disk
ok "JSON that cannot be written" full_disk --json
exit $failed
