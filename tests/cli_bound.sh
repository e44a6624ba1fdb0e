#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof bound` from outside: the report as text and JSON, cases in files, bounds of infinity,
# bad use.
#   tests/cli_bound.sh [COMMAND]     COMMAND: the binary, default build/chunkproof
set -u
. "$(dirname "$0")/cli.bash" bound "${1:-}"
. "$(dirname "$0")/bound.bash"

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

file placed.json '{"scale": 1, "q": [1], "k": [[0], [1]], "v": [[1], [5]], "position": 7,
    "positions": [4, 7]}'
file last.json '{"scale": 1, "q": [1], "k": [[0], [1]], "v": [[1], [5]], "positions": [4, 7]}'
file table.json '{"scale": 1, "q": [1], "k": [[0], [1]], "v": [[1], [5]], "biases": [-3, 0]}'
file one_key_less.json '{"scale": 1, "q": [1], "k": [[0], [1]], "v": [[1], [5]]}'
file between.json '{"q": [1], "k": [[0], [1]], "v": [[1], [5]], "positions": [1, 2.5]}'
file few.json '{"q": [1], "k": [[0], [1]], "v": [[1], [5]], "positions": [1]}'
file nowhere_at.json '{"q": [1], "k": [[0], [1]], "v": [[1], [5]], "position": 1e9}'
file far_at.json '{"q": [1], "k": [[0], [1]], "v": [[1], [5]], "position": 4194305}'
file few_biases.json '{"q": [1], "k": [[0], [1]], "v": [[1], [5]], "biases": [1]}'

file eights.json '{"scale": 1, "q": [1], "k": [[0.25], [0.5]], "v": [[1], [5]]}'
file five.json '{"scale": 1, "q": [1], "k": [[0]], "v": [[1, 5.5]]}'
file zero.json '{"scale": 1, "q": [1], "k": [[0], [0]], "v": [[1], [5]]}'

file misspelt.json '{"scal": 4, "q": [1, 2], "k": [[1, 2]], "v": [[1, 2]]}'
file escape.json '{"a\u001bb": 4, "q": [1], "k": [[1]], "v": [[1]]}'
file list.json '[1, 2]'
file plain.json '{"q": [1, 2, 1, 1], "k": [[1, 2, 0, 0]], "v": [[1, 2, 3, 4]]}'
file half.json '{"scale": 0.5, "q": [1, 2, 1, 1], "k": [[1, 2, 0, 0]], "v": [[1, 2, 3, 4]]}'
file query70.json '{"scale": 1, "q": [70000], "k": [[1]], "v": [[1]]}'
file key70.json '{"scale": 1, "q": [1, 1], "k": [[1, 1], [1, -70000]], "v": [[1, 1], [1, 1]]}'
file value70.json '{"scale": 1, "q": [1, 1], "k": [[1, 1], [1, 1]], "v": [[1, 1], [70000, 1]]}'
file beyond.json '{"scale": 1, "q": [1e300], "k": [[1e300]], "v": [[1]]}'
file opposite.json '{"scale": 1, "q": [1e300, 1e300], "k": [[1e300, -1e300]], "v": [[1, 1]]}'
file far.json '{"scale": 1, "q": [1e10], "k": [[1e10]], "v": [[1]]}'
file one.json '{"scale": 1, "q": [1], "k": [[1]], "v": [[1]]}'
file short.json '{"scale": 1, "q": [1, 2], "k": [[1]], "v": [[1, 2]]}'
file large1.json '{"scale": 1, "q": [1], "k": [[1e7]], "v": [[1]]}'
printf '' >"$work/empty.json"
printf ' \n\n' >"$work/blank.json"
python3 -c 'print({"scale": 1, "q": [30] * 128, "k": [[30, -30] * 64], "v": [[1] * 128]})' |
    tr "'" '"' >"$work/alternating.json"

ok "the report" says "P: 84 % of B."
ok "its row and class" says "row 1024 keys of 128 numbers, scores up to" --family normal
ok "values of their own width" says "of 192 numbers, values of 128, scores up to" --head-dim 192 \
    --value-dim 128
ok "as many bounds as a value has numbers" json "t['head_dim'] == 576 and t['value_dim'] == 512 and
    t['elements'] == 512 and t['claimed'] == 512" --head-dim 576 --value-dim 512
for family in normal massive one-hot ties shifted subnormal offset cancelling wide rising equal \
    underflow edges; do
    ok "family $family" json "t['family'] == '$family' and t['claimed'] == 32 and
        0 < t['rms']['largest'] < t['bound']['largest'] and
        0 < t['bound']['median'] <= t['bound']['largest']" \
        --family $family --keys 100 --head-dim 32 --output fp32
done
ok "shares add up" json "abs(sum(share.values()) - 1) < 1e-12 and
    all(s >= 0 for s in share.values()) and
    abs(1 - sum(lost.values()) - t['left']) < 1e-12 and
    sum(p['largest_in'] for p in t['parts']) == t['claimed'] == t['elements'] == 128"
ok "help" right --help

# The help's examples run; each option stands in it, and so does what it does not go with.
examples() (
    "$chunkproof" bound --help | sed -n '/^examples:/,/^$/s/^  //p' >"$work/examples.sh"
    [ "$(wc -l <"$work/examples.sh")" -ge 5 ] || { echo "no examples"; return 1; }
    mkdir -p "$work/bin" && ln -sf "$chunkproof" "$work/bin/chunkproof" && cd "$work/bin" &&
        PATH=$work/bin:$PATH bash -eu ../examples.sh >said && [ "$(grep -c '^B  ' said)" = 4 ] &&
        grep -q '"bound"' row-bound.json
)
options() {
    "$chunkproof" bound --help >"$work/help"
    local name missing=0 n=0
    for name in $(sed -n 's/^    {"\([a-z-]*\)".*/\1/p' cli/bound/options.c); do
        n=$((n + 1))
        grep -qE -- "--$name([ ,]|$)" "$work/help" || { echo "not --$name"; missing=1; }
    done
    [ $missing = 0 ] && [ $n -ge 45 ]
}
ok "the examples of the help run" examples
ok "the help has all options" options

# follows ARGUMENT...: the report as JSON follows its schema, which also refuses another one.
schemas=python3
"$schemas" -c 'import jsonschema' 2>/dev/null || schemas=/usr/bin/python3
follows() {
    status 0 --json "$@" || return 1
    "$schemas" - "$work/out" spec/bound-report.schema.json <<'PYTHON'
import json, sys
import jsonschema
t, schema = (json.load(open(name)) for name in sys.argv[1:])
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
validator.validate(t)
for name in t:
    if validator.is_valid({key: t[key] for key in t if key != name}) != (
            name == "input" and "case" in t):
        sys.exit(f"{name} may be missing")
if validator.is_valid(t | {"more": 1}) or validator.is_valid(t | {"claimed": -1}):
    sys.exit("the schema takes anything")
PYTHON
}
if "$schemas" -c 'import jsonschema' 2>/dev/null; then
    ok "the schema of a report" follows
    ok "of a case" follows --case "$work/example.json"
    ok "of a case that is rounded" follows --case "$work/example.json" --input bf16
    ok "of no key" follows --case "$work/none.json"
    ok "of no bound" follows --sink -1e30
    ok "of scores beyond binary64" follows --case "$work/beyond.json" --cap 5
    ok "of all that changes scores" follows --cap 30 --cap-last --slope -1 --sink 2
    ok "of caches" follows --cache-k e4m3 --cache-v int8 --dequantised-v bf16
    ok "of a class" follows --merges any --parts 4 --factors bf16 --output bf16 --truncate --flush
fi

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
ok "the class is shown" json \
    "t['class'] == t['class'] | {'weights': 'bf16', 'rounded_sum': True, 'merges': 'running',
    'score': 'tensor-core', 'truncate': True, 'flush': True, 'divide': 'deferred', 'chunk': 32}" \
    --weights bf16 --rounded-sum --merges running --score tensor-core --truncate --flush --chunk 32
ok "a scaled query errs more" json "t['dominates'] == 'scores' and
    t['class']['scaled_query'] == 'bf16' and
    abs(t['declared']['arithmetic']['score']['term_unit'] / 2**-8 - 1) < 1e-3" --scaled-query bf16
ok "a scaled query is said" says "queries scaled, in fp16; chunks of 64 keys" \
    --scaled-query fp16
ok "a log-sum-exp in bits" says "the same in bits (CONV-1)"
ok "sums by a tensor core" json "t['class']['accumulate'] == 'tensor-core' and
    t['claimed'] == 128 and
    t['declared']['arithmetic']['u_o'] == 5 * 2**-23 and
    t['declared']['arithmetic']['eta_o'] == 2**-148 and
    t['declared']['arithmetic']['u_n'] == 2**-24 and
    t['declared']['counts']['depth_o'] == 4 + 2 * 15 and
    t['declared']['counts']['depth_n'] == 64 + 2 * 15" --accumulate tensor-core
ok "of numbers with more bits" json "t['declared']['arithmetic']['u_o'] == 17 * 2**-25 + 2**-23" \
    --accumulate tensor-core --weights fp32
ok "cut off as it is, whatever else is" json "t['declared']['arithmetic']['u_o'] == 5 * 2**-23 and
    t['declared']['arithmetic']['u_n'] == 2**-23" --accumulate tensor-core --truncate
ok "a running state adds blocks" json "t['declared']['counts']['depth_o'] == 4 + 15 * 5 and
    t['declared']['counts']['depth_n'] == 64 + 15 * 65" --accumulate tensor-core --merges running
ok "sums by a tensor core, as text" says "sums of P V by tensor-core" --accumulate tensor-core
ok "short sums of scores" json "t['class']['score_promotes'] == 16 and
    t['declared']['arithmetic']['score']['unit'] == 2**-24 and
    t['declared']['arithmetic']['score']['depth'] == 15 * 2**13 + 128 and
    t['declared']['arithmetic']['score']['as_one'] == 2**13" --score fp16 --score-promotes 16
ok "short sums of P V" json "t['class']['accumulate_promotes'] == 8 and
    t['declared']['arithmetic']['u_o'] == 2**-24 and
    t['declared']['arithmetic']['eta_o'] == 2**-134 and
    t['declared']['counts']['depth_o'] == 8 * 2**16 + 65 + 2 * 15" \
    --accumulate bf16 --accumulate-promotes 8
ok "no more products than keys" json "t['declared']['counts']['depth_o'] == 3 * 2**13 + 4" \
    --keys 3 --accumulate fp16 --accumulate-promotes 1024
ok "short sums are said" says "scores promoted every 16 products; P V promoted every 4 products;
    chunks of 64 keys" --score fp16 --score-promotes 16 --accumulate bf16 --accumulate-promotes 4
ok "references near the maximum" json "t['class']['above'] == 0.5 and t['class']['behind'] == 2 and
    0 < t['declared']['arithmetic']['eps'] - (2**-23 + 2.5 * 2**-24) < 2**-30 and
    t['declared']['arithmetic']['below'] == 0" --above 0.5 --behind 2
ok "the class of nearly all kernels" json "t['class']['above'] == t['class']['behind'] == 0 and
    t['declared']['arithmetic']['eps'] < 1.001 * 2**-23"
ok "references near the maximum are said" says "references up to 0.5 nats above the maximum,
    references up to 2 nats below the maximum, states in fp32" --above 0.5 --behind 2
ok "what is declared" declared --weights bf16
ok "what is declared for one chunk" json \
    "t['declared']['counts'] == {'depth_n': 8, 'depth_o': 9, 'stores': 0,
    'changes': 0, 'operations_n': 8, 'operations_o': 16} and
    t['declared']['arithmetic']['score']['depth'] == 4 and
    t['declared']['arithmetic']['weights'] ==
        {'unit': 2**-8, 'tiny': 2**-134, 'largest': 255 * 2**120}" \
    --keys 8 --head-dim 4 --weights bf16
ok "a long class in 100 columns" right --merges balanced --divide immediate --truncate --flush \
    --output fp32
ok "log-sum-exps that slip" json "t['class']['part_lse'] == 'bf16' and
    t['declared']['arithmetic']['score']['scale_tiny'] > 2 * (3.28 + 6.93) / (2**8 - 2)" \
    --divide immediate --part-lse bf16 --chunk 512
ok "they are said" says "division immediate by log-sum-exps in bf16" --divide immediate \
    --part-lse bf16
ok "and cost more than those that do not" json "share['scores'] > 0.3" --divide immediate \
    --part-lse bf16 --chunk 512
ok "states that lag may be divided" json "t['declared']['arithmetic']['above'] > 6 and
    t['claimed'] == 128" --divide immediate --behind 5.5452
ok "a cap" json "t['class']['cap'] == 5 and t['class']['tanh_error'] == 2**-22 and
    t['class']['tanh_absolute'] == 0 and t['class']['cap_last'] is False and
    t['class']['slope'] is None and t['class']['sink'] is None and
    t['class']['biases'] is False and t['largest_score'] > 3 and t['claimed'] == 128" --cap 5
ok "a cap is said" says "scores capped at 5 by a tanh within 2.4e-07 part" --cap 5
ok "a sum that is capped is said" says "sums of score and bias capped at 50 by a tanh within
    0.001, biases of slope -0.1, a sink of 3 part" --cap 50 --cap-last --tanh-absolute 0.001 \
    --slope -0.1 --sink 3
ok "a table is said" says "once changed, biases of a table part" --bias 2
ok "nothing is said of no change" silent "biases"
more "an error of tanh" --cap 5 --tanh-error 1e-3 -- --cap 5
more "an absolute error of tanh" --cap 5 --tanh-absolute 1e-3 -- --cap 5
more "a cap that is far away" --cap 1000 --weights fp32 -- --weights fp32
more "a slope" --slope -0.05 --weights fp32 -- --slope 0 --weights fp32
more "a steeper slope" --slope -0.05 --weights fp32 -- --slope -0.01 --weights fp32
more "a table" --bias 4 --weights fp32 -- --bias 0 --weights fp32
more "a bias of 0" --bias 0 --weights fp32 -- --weights fp32
more "a sink that is read in bfloat16" --sink 6 --score bf16 --keys 8 --head-dim 2 -- \
    --sink 6 --keys 8 --head-dim 2
ok "a sink takes weight" json "t['size']['largest'] < 0.01 and t['class']['sink'] == 20 and
    t['declared']['counts']['changes'] == 16 and t['largest_score'] == 20" --sink 20
ok "a sink alone" json "t['claimed'] == 2 and t['size']['largest'] == 0 and
    t['declared']['counts'] == {'depth_n': 2, 'depth_o': 3, 'stores': 1, 'changes': 1,
    'operations_n': 6, 'operations_o': 7}" --sink 1 --case "$work/none.json"
ok "a sink in a balanced tree" json "t['declared']['counts']['changes'] == 5" --sink 1 \
    --merges balanced
ok "a sum that is capped" different --cap 2 --slope -1 -- --cap 2 --cap-last --slope -1
ok "references and changes" json "t['declared']['arithmetic']['weights']['tiny'] > 2**-25 and
    t['claimed'] == 128" --slope -1 --behind 5
ok "a table is saved" status 0 --keys 40 --head-dim 6 --seed 3 --bias 2 \
    --save "$work/biased.json"
ok "and read again" same --case "$work/biased.json" --input fp16 -- --keys 40 --head-dim 6 \
    --seed 3 --bias 2
ok "positions of keys" same --case "$work/placed.json" --slope 1 -- --case "$work/table.json"
ok "and not those that are usual" different --case "$work/placed.json" --slope 1 -- \
    --case "$work/one_key_less.json" --slope 1
ok "the query is at the last key" same --case "$work/last.json" --slope 1 -- \
    --case "$work/placed.json" --slope 1
ok "positions are saved" status 0 --case "$work/placed.json" --slope 1 --save "$work/again.json"
ok "and read again" same --case "$work/again.json" --slope 1 -- --case "$work/placed.json" --slope 1
for case in beyond opposite; do
    ok "changes, $case binary64" no_nan --cap 5 --slope 1 --sink 2 --above 1 \
        --case "$work/$case.json"
done
ok "scores of no number" no_nan --bias 1e30 --behind 1 --divide immediate --part-lse fp16
ok "any order" json "t['class']['merges'] == 'any' and t['claimed'] == 128 and
    t['declared']['counts'] == {'depth_n': 1024 + 64, 'depth_o': 1025 + 64, 'stores': 0,
    'changes': 32, 'operations_n': 1024 + 160, 'operations_o': 2048 + 160}" --merges any
ok "of a few parts" json "t['class']['parts'] == 4 and t['declared']['counts']['changes'] == 20" \
    --merges any --parts 4
ok "of few keys each" json "t['class']['part_keys'] == 512 and
    t['declared']['counts']['changes'] == 20" --merges any --part-keys 512
ok "and a sink" json "t['declared']['counts']['changes'] == 17 + 5" --merges any --part-keys 512 \
    --sink 1
ok "parts are said" says "merges any, states in fp32, division deferred, output in fp16 4 partial
    results at most, partial results of 128 keys at least part" --merges any --parts 4 \
    --part-keys 128
ok "words of a declaration" json "t['class'] == t['class'] | {'factors': 'bf16',
    'divide_error': 0.001, 'epsilon': 0.002, 'normalises': False, 'parts': 0, 'part_keys': 0} and
    t['declared']['arithmetic']['eps'] > 2**-8 and
    0.003 < t['declared']['arithmetic']['u_div'] < 0.004" --factors bf16 --divide-error 1e-3 \
    --epsilon 2e-3 --chunk 1024
ok "they are said" says "factors in bf16, divisions within 0.001, row sums plus 0.002 part" \
    --factors bf16 --divide-error 1e-3 --epsilon 2e-3
ok "weights that are divided" json "t['class']['normalises'] is True and
    t['declared']['arithmetic']['u_div'] == 0 and
    t['declared']['arithmetic']['weights']['tiny'] > 1024 * 2**-25" --normalises
ok "they are said, too" says "P divided by the row sum before P V part" --normalises
more "a factor in binary16" --factors fp16 -- --factors fp32
more "one in bfloat16" --factors bf16 --chunk 512 -- --factors fp16 --chunk 512
more "a division that errs" --divide-error 2.4e-4 -- --divide-error 2.4e-7
more "what is added to sums" --epsilon 1e-3 -- --epsilon 1e-6
more "each division of parts" --divide immediate --divide-error 1e-4 -- --divide immediate
more "each sum of parts" --divide immediate --epsilon 1e-4 -- --divide immediate
more "P that is divided first" --normalises --divide-error 1e-3 -- --normalises
more "any order" --merges any -- --merges chain
more "parts as many as steps" --merges any --factors fp16 -- --merges any --factors fp16 --parts 1
ok "divisions of parts count as stores" json "t['declared']['counts']['stores'] == 16 and
    0 <= t['declared']['arithmetic']['u_part'] - 0.0009765625 < 1e-15" --divide immediate \
    --divide-error 0.0009765625
ok "better factors" says "--factors fp32" --factors bf16
ok "a better division" says "with a smaller --divide-error" --divide-error 0.01
ok "less in sums" says "a smaller --epsilon" --epsilon 0.01
for cache in e4m3 e5m2 int8; do
    ok "a cache of $cache" json "t['class']['cache_k'] == t['class']['cache_v'] == '$cache' and
        0 < t['class']['scale_k'] < 1 and 0 < t['class']['scale_v'] < 1 and
        t['class']['dequantised_k'] == 'fp32' and t['claimed'] == 128" --cache $cache
done
ok "a cache of two formats" json "t['class'] == t['class'] | {'cache_k': 'int8', 'cache_v': 'plain',
    'scale_k': 0.25, 'scale_v': None, 'dequantised_k': 'bf16', 'dequantised_v': None} and
    t['largest_score'] > 0" --cache-k int8 --scale-k 0.25 --dequantised-k bf16
ok "no cache" json "t['class']['cache_k'] == t['class']['cache_v'] == 'plain' and
    t['class']['scale_k'] is None"
ok "caches are said" says "output in fp16 K in e5m2 times 2, which is multiplied in fp16, V in int8
    times 0.5, which is multiplied in fp32 part" --cache-k e5m2 --cache-v int8 --scale-k 2 \
    --scale-v 0.5 --dequantised-k fp16
more "keys that are rounded once more" --cache-k e4m3 --dequantised-k bf16 -- --cache-k e4m3
more "values, likewise" --cache-v e4m3 --dequantised-v fp16 -- --cache-v e4m3
more "products with scales" --cache int8 --scale-k 0.25 --scale-v 0.25 --weights fp32 \
    --output fp32 --case "$work/eights.json" -- --weights fp32 --output fp32 \
    --case "$work/eights.json"
ok "a cache has its numbers" same --cache e4m3 --seed 4 --keys 30 --head-dim 8 -- --cache e4m3 \
    --seed 4 --keys 30 --head-dim 8 --save "$work/cached.json"
ok "and a file has them, too" same --cache e4m3 --case "$work/cached.json" -- --cache e4m3 \
    --seed 4 --keys 30 --head-dim 8
ok "zeros have any scale" json "t['class']['scale_k'] == 1 and t['claimed'] == 1" --cache-k int8 \
    --case "$work/zero.json"
file least.json '{"scale": 1, "q": [1], "k": [[-8]], "v": [[-8]]}'
ok "an integer of -128" json "t['class']['scale_v'] == 0.0625" --cache int8 --scale-k 0.0625 \
    --scale-v 0.0625 --case "$work/least.json"
ok "none of -129" wrong "does not fit in int8" --cache int8 --scale-k 0.0625 --scale-v 0.062 \
    --case "$work/least.json"
ok "what is near the end is rounded to it" right --cache-k int8 --scale-k 0.00787401574803 \
    --case "$work/one.json"
ok "divided at once" json "t['class']['divide'] == 'immediate' and t['claimed'] == 128" \
    --divide immediate

ok "the example of the specification" json "abs(t['bound']['largest'] - 0.00391) < 1e-5 and
    t['size']['median'] == 4 and
    abs(share['P'] - share['output']) < 0.001" --case "$work/example.json" --chunk 1
ok "a case from the standard input" standard_input
ok "a case is saved" saved
ok "and read again" same --case "$work/case.json" --input fp16 -- --keys 40 --head-dim 6 --seed 3
ok "a case in a shorter format" different --case "$work/case.json" -- --case "$work/case.json" \
    --input bf16

ok "a scale that is missing" same --case "$work/plain.json" -- --case "$work/half.json"
ok "which is in the help" says "Without scale: 1/sqrt(d)" --help
ok "one number that is not claimed" says "No bound for 1 of 1 number." --case "$work/large1.json"
ok "one number" says "largest of 1 number of the output" --case "$work/one.json"
ok "one key in a chunk" says "chunks of 1 key, merges" --keys 9 --head-dim 2 --chunk 1
ok "the order that is one state" says "or running (no merges:" --help
ok "the sums in the help" says "tensor-core (blocks of 16" --help
ok "why a family is missing" says "the fuzzer's adversarial values need a kernel" --help

ok "advice leaves out what was chosen" silent "--score tensor-core" --score tensor-core \
    --weights fp32
ok "and names the rest" says "The bound gets smaller with --score pairwise, a smaller --head-dim" \
    --score tensor-core --weights fp32
ok "the best choice is left with the data" says \
    "The scores contribute most. The bound gets smaller with a smaller --head-dim or" \
    --score pairwise --weights fp32 --output fp32
ok "no option that a case refuses" silent "--head-dim" --score fp16 --case "$work/example.json"
ok "fp16 is to be left" says \
    "the remedy is another --score than fp16. The bound gets smaller with --score sequential,
    --score pairwise" \
    --score fp16
ok "a better exponential" says \
    "The exponential contributes most (--exp-error, and the rounding of its argument).
    The bound gets smaller with a smaller --exp-error or" --exp-error 1e-2 --chunk 1024
ok "sums in binary32" says \
    "The sums over the keys contribute most. The bound gets smaller with --accumulate fp32,
    --accumulate tensor-core, --accumulate-promotes 16" \
    --accumulate fp16 --chunk 1024
ok "P in binary16" says "The bound gets smaller with --weights fp16 or --weights fp32." \
    --weights bf16 --rounded-sum
ok "rounding to nearest" says "no --truncate" --truncate
ok "no more than that" silent "--merges balanced" --partials fp16 --weights fp32 --merges balanced

ok "no key" says "there is no bound (NUM-12)" --case "$work/none.json"
ok "scores too uncertain" says "left = 1 - sum H_j - E_n =" --case "$work/large.json"
ok "merges too many" says "The largest part comes from merges" --partials fp16 --keys 16384 \
    --head-dim 2 --chunk 8
ok "the same as JSON" json "t['claimed'] == 0 and t['bound']['largest'] is None and
    t['dominates'] is None and
    'NUM-10' in t['reason'] and t['left'] < 0 and t['lse_bound'] is None" --case "$work/large.json"
ok "overflow, of one number of two" says "No bound for 1 of 2 numbers." --case "$work/wide.json"
ok "overflow is explained" json "t['claimed'] == 1 and 'NUM-12' in t['reason']" \
    --case "$work/wide.json"
ok "no overflow in bf16" json "t['claimed'] == 2 and t['reason'] is None" --case "$work/wide.json" \
    --output bf16
ok "scores too large for binary64" says "cannot be computed in binary64" --case "$work/huge.json" \
    --output fp32
ok "and which numbers are" says \
    "The products of a score, |scale| sum |q_i k_i|, are so large (1.15e+05)" \
    --score pairwise --case "$work/alternating.json"
ok "also as JSON" json \
    "t['largest_products'] == 115200 and t['largest_score'] == 0 and '1.15e+05' in t['reason']" \
    --score pairwise --case "$work/alternating.json"
for case in beyond opposite; do
    ok "a score $case binary64" says "The bound is infinite, because a score is too large" \
        --case "$work/$case.json"
    ok "no number that is none: $case" no_nan --case "$work/$case.json"
    ok "divided at once: $case" no_nan --divide immediate --case "$work/$case.json"
done
ok "a weight lost beyond binary64" says \
    "The largest part comes from scores. A score is too large: its error may be" \
    --case "$work/far.json"
ok "no number that is none: far" no_nan --case "$work/far.json"
ok "merges beyond binary64" says "The largest part comes from merges. The merges contribute most" \
    --keys 16384 --head-dim 2 --chunk 1 --exp-error 0.5
ok "no number that is none: merges" no_nan --keys 16384 --head-dim 2 --chunk 1 --exp-error 0.5
ok "the time of both" says "attention tolerance ratio" --time --keys 256 --head-dim 16

ok "no such option" wrong "--help" --nonsense
ok "an argument" wrong "unexpected argument 'case.json'" case.json
ok "no such family" wrong "--family needs normal, massive" --family gauss
ok "no such format" wrong "--partials needs fp32, fp16 or bf16, not 'fp64'" --partials fp64
ok "no such order" wrong "--merges needs chain, balanced, running or any, not 'tree'" --merges tree
ok "a seed that JSON has no integer for" wrong \
    "--seed needs a whole number from 0 to 9223372036854775807" --seed 9223372036854775808
ok "no number" wrong "--keys needs a whole number from 1 to 1048576, not 'x'" --keys x
ok "no keys" wrong "--keys needs" --keys 0
ok "too many numbers" wrong "at most, not" --keys 1048576 --head-dim 65536
ok "too many in values" wrong "keys times --value-dim must be" --keys 1048576 --head-dim 1 \
    --value-dim 65536
ok "a width of no value" wrong "value-dim" --value-dim 0
ok "a negative seed" wrong "--seed needs" --seed -1
ok "an error above 1" wrong "--exp-error needs a number from 0 to 0.5" --exp-error 2
ok "an error that is none" wrong "--exp-error needs" --exp-error nan
ok "a running state has no partials" wrong "leave out --partials" --merges running --partials fp16
ok "a log-sum-exp of no state" wrong "--part-lse is of states that are divided at once" \
    --part-lse fp16
ok "no such log-sum-exp" wrong "--part-lse needs fp32, fp16 or bf16, not 'fp8'" --part-lse fp8
ok "no cap" wrong "--cap needs a number from 1.17549e-38" --cap 0
ok "a cap that is none" wrong "--cap needs" --cap -3
ok "a sink that is none" wrong "--sink needs" --sink nan
ok "a slope that is none" wrong "--slope needs" --slope steep
ok "a table below 0" wrong "--bias needs a number from 0" --bias -1
ok "a tanh that is exact" wrong "no tanh is exact" --cap 5 --tanh-error 0
ok "a tanh far off" wrong "--tanh-error needs a number from 0 to 0.015625" --cap 5 --tanh-error 0.1
ok "far off near 0" wrong "--tanh-absolute needs" --cap 5 --tanh-absolute 0.1
ok "but not if it errs absolutely" right --cap 5 --tanh-error 0 --tanh-absolute 1e-6
ok "a tanh of no cap" wrong "--tanh-error is of scores that are capped: add --cap" \
    --tanh-error 1e-3
ok "nor an absolute error" wrong "--tanh-absolute is of scores that are capped" --tanh-absolute 1e-3
ok "nor an order" wrong "--cap-last is of scores that are capped: add --cap" --cap-last
ok "a slope and a table" wrong "a slope or a table; leave out one" --slope 1 --bias 1
ok "a slope and the table of a case" wrong "table.json has biases" --slope 1 \
    --case "$work/table.json"
ok "a slope below the normal numbers" wrong "--slope 1e-40 is below the normal numbers of fp32" \
    --slope 1e-40
ok "a sink far away" says "because the sink of -1e+30 is too far from the scores" --sink -1e30
ok "and how to mend it" says "attention is the same without it." --sink -1e30
ok "the sink that is named has a bound" json "t['claimed'] == 128" --sink -3.9e6
ok "scores before and after a cap" json "t['largest_plain_score'] > t['largest_changed_score'] > 1
    and t['largest_score'] == 9" --cap 2 --sink -9
ok "no change, no score after it" json "t['largest_changed_score'] is None and
    t['largest_plain_score'] == t['largest_score']"
ok "B of each number" json "len(t['numbers']['bound']) == 128 and
    max(t['numbers']['bound']) == t['bound']['largest'] and
    max(t['numbers']['rms']) == t['rms']['largest'] and
    max(abs(x) for x in t['numbers']['attention']) == t['size']['largest']"
ok "null where nothing is claimed" json "t['numbers']['bound'] == [None] * 128 ==
    t['numbers']['rms'] and t['numbers']['attention'][0] < 1" --sink -1e30
ok "a table for a case" wrong '"biases": [...], one for each key' --bias 1 \
    --case "$work/one.json"
ok "a position between" wrong "positions[1] is not a whole number from -4194304 to 4194304" \
    --case "$work/between.json"
ok "a key without a position" wrong "positions is not an array of 2 whole numbers" \
    --case "$work/few.json"
ok "a query nowhere" wrong "position is not a whole number" --case "$work/nowhere_at.json"
ok "a query too far away" wrong "position is not a whole number" --case "$work/far_at.json"
ok "a key without a bias" wrong "biases has 1 number, but k has 2" --case "$work/few_biases.json"
ok "parts in a chain" wrong "--parts counts partial results that are merged in any order: add \
--merges any" --parts 4
ok "nor of so many keys" wrong "--part-keys counts partial results" --part-keys 4 --merges chain
ok "too many parts" wrong "--parts needs a whole number from 0 to 1048576" --merges any \
    --parts 1048577
ok "no such factor" wrong "--factors needs fp32, fp16 or bf16, not 'fp8'" --factors fp8
ok "a division far off" wrong "--divide-error needs a number from 0 to 0.015625" --divide-error 0.1
ok "much in a sum" wrong "--epsilon needs a number from 0 to 0.015625" --epsilon 0.1
ok "less than nothing" wrong "--epsilon needs" --epsilon -1e-6
ok "weights and states that are divided" wrong "leave out --divide immediate" --normalises \
    --divide immediate
ok "weights that are rounded twice" wrong "leave out --rounded-sum" --normalises --rounded-sum
ok "weights of references elsewhere" wrong "leave out --above and --behind" --normalises --behind 1
ok "no such cache" wrong "--cache needs plain, e4m3, e5m2 or int8, not 'fp8'" --cache fp8
ok "a query of 8 bits" wrong "K and V may have 8: --cache e4m3" --input e4m3
ok "a scale of no cache" wrong "--scale-v is of a cache of 8 bits: add --cache-v" --cache-k int8 \
    --scale-v 2
ok "a type of no cache" wrong "--dequantised-k is of a cache of 8 bits: add --cache-k" \
    --dequantised-k fp16
ok "a scale of 0" wrong "--scale-k needs a number from 1e-30" --cache int8 --scale-k 0
ok "a key that does not fit in its cache" wrong \
    "key70.json: k[1][1] = -70000 does not fit in int8 with --scale-k 2 (largest 254); leave out \
--scale-k, or make it 551.1811 or more" --cache-k int8 --scale-k 2 --case "$work/key70.json"
ok "nor a value" wrong "v[0][1] = 5.5 does not fit in e4m3 with --scale-v 0.01 (largest 4.48)" \
    --cache-v e4m3 --scale-v 0.01 --case "$work/five.json"
ok "nor a number that is made" wrong "chunkproof bound: k[0][" --cache-k e4m3 --scale-k 0.001
ok "references too far away" wrong "--above" --above 11.5
ok "a running state is divided last" wrong "leave out --divide" --merges running --divide immediate
ok "P that is not rounded" wrong "--rounded-sum needs" --rounded-sum --weights fp32
ok "a case and a family" wrong "--case brings its own row" --case "$work/example.json" --family wide
ok "time of a case" wrong "--time measures its own rows" --time --case "$work/example.json"
for option in "weights fp32" "output bf16" "score fp16" "family ties" "seed 9" "merges balanced" \
    "accumulate fp16" \
    "partials fp16" "divide deferred" "exp-error 0.1" "scaled-query fp16" \
    "cap 5" "slope 1" "bias 1" "sink 1" "merges any" "parts 2" "part-keys 2" "factors fp16" \
    "cache e4m3" "cache-k e4m3" "cache-v e4m3" "scale-k 1" "scale-v 1" "dequantised-k fp16" \
    "dequantised-v fp16" "divide-error 1e-3" "epsilon 1e-3" normalises \
    cap-last "tanh-error 1e-3" "tanh-absolute 1e-3" \
    "input bf16" truncate flush rounded-sum json \
        "save $work/x"; do
    # shellcheck disable=SC2086 # an option and its value
    ok "time and ${option%% *}" wrong "not --${option%% *}" --time --keys 50 --$option
done
ok "a report in the place of a case" not_saved
ok "a key that is misspelt" wrong \
    '"scal" is unknown; the keys are scale, q, k, v, position, positions and biases' \
    --case "$work/misspelt.json"
ok "a key that steers a terminal" wrong '"a?b" is unknown' --case "$work/escape.json"
ok "no object" wrong "it is not a JSON object" --case "$work/list.json"
ok "a query that does not fit" wrong \
    "query70.json: q[0] = 70000 does not fit in fp16 (largest 65504);" \
    --case "$work/query70.json" --input fp16
ok "nor a key" wrong "k[1][1] = -70000 does not fit in fp16" --case "$work/key70.json" --input fp16
ok "nor a value" wrong "v[1][0] = 70000 does not fit in fp16" --case "$work/value70.json" \
    --input fp16
ok "nor in bf16" wrong "q[0] = 1e+300 does not fit in bf16 (largest 3.3895314e+38)" \
    --case "$work/beyond.json" --input bf16
ok "nor in fp32" wrong "q[0] = 1e+300 does not fit in fp32" --case "$work/beyond.json" --input fp32
ok "but in a format of more range" right --case "$work/value70.json" --input bf16
ok "a directory" wrong "$work: cannot be read: Is a directory" --case "$work"
ok "an empty file" wrong "empty.json: the file is empty" --case "$work/empty.json"
ok "a blank file" wrong "blank.json: the file is empty" --case "$work/blank.json"
ok "one number of two" wrong "k[0] has 1 number, but q has 2" --case "$work/short.json"
ok "short sums of fp32" wrong "--score-promotes needs --score fp16 or bf16" --score-promotes 16
ok "short sums of P V in fp32" wrong "--accumulate-promotes needs --accumulate fp16 or bf16" \
    --accumulate tensor-core --accumulate-promotes 16
ok "short sums that are long" wrong "--score-promotes" --score fp16 --score-promotes 1025
ok "no such sum" wrong "--accumulate needs fp32, fp16, tensor-core or bf16, not 'fp64'" \
    --accumulate fp64
ok "no such file" wrong "cannot be opened" --case "$work/nowhere.json"
ok "a file that cannot be written" wrong "cannot be written: No such file or directory" \
    --save "$work/nowhere/case.json"
ok "a file that cannot be written to its end" kept
ok "a row too long" wrong "k[1] has 3 numbers, but q has 2" --case "$work/long.json"
printf '{"q": [1], "k": [[1], [2]], "v": [[1, 2, 3], [4, 5, 6]]}' >"$work/wide_values.json"
ok "values that are wider than keys" json "t['value_dim'] == 3 and t['elements'] == 3" \
    --case "$work/wide_values.json"
printf '{"q": [1], "k": [[1], [2]], "v": [[1, 2, 3], [4, 5]]}' >"$work/two_widths.json"
ok "values of two widths" wrong "v[1] has 2 numbers, but v[0] has 3" --case "$work/two_widths.json"
printf '{"q": [1], "k": [[1]], "v": [[]]}' >"$work/no_value.json"
ok "a value without a number" wrong "v[0] is not an array of 1 to" --case "$work/no_value.json"
printf '{"q": [1], "k": [[1]], "v": [[1, 1e300]]}' >"$work/large_value.json"
ok "the second number of a value" wrong "v[0][1] = 1e+300 does not fit" --input fp16 \
    --case "$work/large_value.json"
ok "a text in a row" wrong "v[0][1] is not a number" --case "$work/text.json"
ok "rows without values" wrong "the same number of rows" --case "$work/uneven.json"
ok "a query that is a number" wrong "q is not an array" --case "$work/query.json"
ok "a scale that is none" wrong "scale is not a number" --case "$work/scale.json"
ok "a row that is a number" wrong "k[0] is not an array" --case "$work/row.json"
ok "a file that is no JSON" wrong "syntax.json:3:" --case "$work/syntax.json"
ok "output that cannot be written" full_disk
ok "JSON that cannot be written" full_disk --json
exit $failed
