#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof prompt --model` from outside, on the small model of tests/golden/model (PML-13,
# PML-14): what a prompt adds is computed, and nothing else; random schemas; bad use.
#   tests/cli_answer.sh [COMMAND]
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/cli.bash" prompt "${1:-}"
model=$root/tests/golden/model/tiny.weights
cd "$root/tests/golden/prompt" || exit 1

answers() {
    status 0 --model "$model" --compare --answer 4 "$@" &&
        ! grep -v "and the model was trained for" "$work/err" &&
        [ "$(grep -c "the same logits, bit for bit" "$work/out")" -eq 1 ]
}
sed 's/len="4"/len="9"/' travel.xml >"$work/travel.xml" # this model has more tokens than words
ok "the chapter's example is answered" answers "$work/travel.xml" miami.xml
ok "all elements, with a scaffold" answers tutor.xml ada.xml

# PML-14: the context of this model is 64. "b" and "c" are a token each, the answer has 4.
context() {
    printf '<schema name="s">b<param name="p" len="%s"/></schema>' "$1" >"$work/long.xml"
    printf '<prompt schema="s">c</prompt>' >"$work/c.xml"
    status 0 --model "$model" --answer 4 "$work/long.xml" "$work/c.xml"
}
within() { context 58 && [ ! -s "$work/err" ]; }
beyond() {
    context 59 && [ "$(wc -l <"$work/err")" = 1 ] &&
        says "c.xml: with 4 tokens more there are 65 positions, and the model was trained for 64: 3"
}
ok "64 positions have no warning" within
ok "65 positions have a warning with the numbers" beyond

# --each: all positions of the prompt, and which of them are computed.
each() {
    status 0 --model "$model" --each "$work/travel.xml" miami.xml || return 1
    python3 - "$work/out" <<'PYTHON'
import re, sys
out = open(sys.argv[1]).read()
total, cached, computed = map(int, re.search(
    r"(\d+) tokens, (\d+) from the cache, (\d+) computed", out).groups())
rows = re.findall(r"^ *(\d+)  +\d+  (cache|argument|new) ", out, re.M)
positions = [int(position) for position, _ in rows]
assert len(rows) == total and sorted(set(positions)) == positions, rows
assert sum(kind == "cache" for _, kind in rows) == cached, rows
PYTHON
}
ok "each token" each

# encoded NUMBER...: tokens of modules that each prompt of the last report had encoded.
encoded() {
    local numbers
    numbers=$(grep -o '^[0-9]* tokens of modules were encoded' "$work/out" | cut -d' ' -f1 |
        tr '\n' ' ')
    [ "$numbers" = "$* " ] || { echo "encoded: $numbers, wanted $*"; return 1; }
}

# Three requests: [B], [A, B], [A].
requests() {
    printf '<schema name="s"><module name="a">aa aa</module><module name="b">b</module></schema>' \
        >"$work/s.xml"
    printf '<prompt schema="s"><b/>go</prompt>' >"$work/b.xml"
    printf '<prompt schema="s"><b/><a/>go</prompt>' >"$work/ab.xml"
    printf '<prompt schema="s"><a/>go</prompt>' >"$work/a.xml"
    status 0 --model "$model" --compare "$work/s.xml" "$work/b.xml" "$work/ab.xml" "$work/a.xml" &&
        [ "$(grep -c "bit for bit" "$work/out")" -eq 3 ] && encoded 1 4 0
}
ok "three requests find the modules that they import" requests

random_prompts() { "$root/tests/prompt_random.py" "$chunkproof" "$model" "$work" 100; }
ok "random schemas and prompts" random_prompts

# PML-13: a template's tokens are special ones, a text's are not.
special() {
    printf '<schema name="s"><user>x</user>&lt;|end|></schema>' >"$work/s.xml"
    printf '<prompt schema="s">go</prompt>' >"$work/p.xml"
    status 0 --model "$model" --json "$work/s.xml" "$work/p.xml" || return 1
    python3 - "$work/out" <<'PYTHON'
import json, sys
parts = json.load(open(sys.argv[1]))["schema"]["parts"]
text = [part for part in parts if part.get("text") == "<|end|>"]
assert len(text) == 1 and len(text[0]["tokens"]) > 1, text
PYTHON
}
ok "a text has no special tokens" special

# Text of the schema behind the last new token is named: nobody has seen the question there.
behind() {
    printf '<schema name="s"><union>%s<module name="b">x</module></union> at the end</schema>' \
        '<module name="a">1 2 3 4 5 6</module>' >"$work/s.xml"
    printf '<prompt schema="s"><b/>go</prompt>' >"$work/p.xml"
    status 0 --model "$model" --compare "$work/s.xml" "$work/p.xml" &&
        has "Cached text stands behind it" && has "bit for bit"
}
ok "text behind the question is named" behind


# The report follows its schema, and says what the text does.
json() {
    status 0 --model "$model" --json --compare --answer 4 "$work/s.xml" "$work/p.xml" || return 1
    /usr/bin/python3 - "$work/out" "$root/spec/prompt-report.schema.json" <<'PYTHON'
import json, sys
import jsonschema
report, schema = (json.load(open(path)) for path in sys.argv[1:])
jsonschema.Draft7Validator(schema).validate(report)
answer = report["prompts"][0]["answer"]
assert answer["same"] and len(answer["tokens"]) == 4 and answer["seconds"]["whole"] > 0, answer
assert answer["encoded"] == report["prompts"][0]["cached"], answer
PYTHON
}
ok "JSON" json

# PML-15: new text alone is a text as `chunkproof model` has it, and has its perplexity.
score() {
    local text="A language model keeps a key and a value"
    printf '<schema name="s"/>' >"$work/s.xml"
    printf '<prompt schema="s">%s</prompt>' "$text" >"$work/p.xml"
    printf '%s' "$text" >"$work/text"
    status 0 --model "$model" --score --logits "$work/logits" "$work/s.xml" "$work/p.xml" ||
        return 1
    "$chunkproof" model "$model" --text "$work/text" --logits "$work/wanted" >"$work/score" ||
        return 1
    cmp "$work/logits" "$work/wanted" || return 1
    python3 - "$work/out" "$work/score" <<'PYTHON'
import math, re, sys
out, score = (open(path).read() for path in sys.argv[1:])
n, perplexity = re.search(r"predicted (\d+)\nperplexity (\S+)\n", score).groups()
best = re.search(r"best token right (\d+)", score)[1]
lines = re.findall(r"^ *\d+  +\d+  +(-\S+)  +(\d+)  '", out, re.M)
assert len(lines) == int(n), lines
assert sum(rank == "1" for _, rank in lines) == int(best), lines
found = re.search(rf"^{n} tokens were predicted, {best} of them as the best one; "
                  r"their perplexity is (\S+)\.$", out, re.M)[1]
assert abs(float(found) / float(perplexity) - 1) <= 0.51e-5, (found, perplexity)
mean = -sum(float(log_p) for log_p, _ in lines) / len(lines)
assert abs(math.exp(mean) / float(perplexity) - 1) <= 0.51e-5, mean
PYTHON
}
ok "scores and logits of new text are the model's" score
score_json() {
    status 0 --model "$model" --fast --json --score "$work/travel.xml" miami.xml || return 1
    /usr/bin/python3 - "$work/out" "$root/spec/prompt-report.schema.json" <<'PYTHON'
import json, sys
import jsonschema
report, schema = (json.load(open(path)) for path in sys.argv[1:])
jsonschema.Draft7Validator(schema).validate(report)
prompt = report["prompts"][0]
new = {run["begin"] + i: token for run in prompt["runs"] if run["from"] != "cache"
       for i, token in enumerate(run["tokens"])}
scores = prompt["answer"]["score"]
assert [score["position"] for score in scores] == [at for at in sorted(new) if at - 1 in new]
assert all(score["token"] == new[score["position"]] for score in scores), scores
assert all((score["rank"] == 1) == (score["best"] == score["token"]) for score in scores), scores
PYTHON
}
ok "scores as JSON" score_json
no_logits() {
    status 2 --model "$model" --logits "$work/none/logits" "$work/travel.xml" miami.xml &&
        says "$work/none/logits: No such file" && [ ! -s "$work/out" ]
}
ok "logits that cannot be written" no_logits
ok "logits in place of the model" wrong "would overwrite" --model "$model" --logits "$model" \
    travel.xml miami.xml
cp miami.xml "$work/miami.xml"
ok "logits in place of a prompt" wrong "would overwrite" --model "$model" \
    --logits "$work/miami.xml" travel.xml "$work/miami.xml"
ok "no model for scores" wrong "--score and --logits need a --model" --score travel.xml miami.xml
printf '<prompt schema="travel"><miami/></prompt>' >"$work/none.xml"
ok "nothing is added" wrong "nothing can answer this prompt" --model "$model" travel.xml \
    "$work/none.xml"
ok "the same bits of the fast decoder" wrong "leave one of them out" --model "$model" --fast \
    --compare travel.xml miami.xml
ok "threads of the reference" wrong "give both" --model "$model" --threads 2 travel.xml miami.xml
ok "no model" wrong "--answer, --fast, --compare and --each need a --model" --compare travel.xml \
    miami.xml
ok "no model for an answer" wrong "need a --model" --answer 3 travel.xml miami.xml
ok "two kinds of tokens" wrong "leave --tokens out" --tokens words --model "$model" travel.xml
# PML-13: the small model again, but that its prompts begin with a token (FILE-2, FILE-5).
python3 - "$model" "$work/begins.weights" <<'PYTHON'
import struct, sys, zlib
data = bytearray(open(sys.argv[1], "rb").read())
struct.pack_into("<2I", data, 172, 1, 0)
struct.pack_into("<I", data, 24, 0)
struct.pack_into("<I", data, 24, zlib.crc32(data))
open(sys.argv[2], "wb").write(data)
PYTHON
ok "a model whose prompts begin with a token" wrong "begin with a token of their own" \
    --model "$work/begins.weights" travel.xml miami.xml
ok "no such model" wrong "chunkproof prompt: no-such.weights: No such file" \
    --model no-such.weights travel.xml miami.xml
ok "no weights file" wrong "chunkproof prompt: miami.xml: no weights file" \
    --model miami.xml travel.xml miami.xml
ok "an answer of no tokens" wrong "--answer" --answer 0 --model "$model" travel.xml
exit $failed
