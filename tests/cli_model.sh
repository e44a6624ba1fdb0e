#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof model` from outside, on the small model of tests/golden/model: its tokens, its
# perplexity and its continuation are those that numpy computed (tests/model/make_tiny.py); bad use;
# output that cannot be written.
#   tests/cli_model.sh [COMMAND]     COMMAND: the binary, default build/chunkproof
set -u
. "$(dirname "$0")/cli.bash" model "${1:-}"
here=$(cd "$(dirname "$0")" && pwd)/golden/model
weights=$here/tiny.weights text=$here/tiny.txt

described() {
    status 0 "$weights" && has "layers 2, width 32, network 32" && has "K/V heads 2" &&
        has "tokens 316, merges 60" && has "rounded weights 0" && [ ! -s "$work/err" ]
}

# LM-1, LM-2: to nine digits.
perplexities() {
    local window wanted threads
    while read -r window wanted; do
        [ "$window" != generate ] || continue
        for threads in 1 3; do
            status 0 "$weights" --text "$text" --window "$window" --threads $threads || return 1
            has "perplexity $(printf '%.9g' "$wanted")" || return 1
        done
    done <"$here/tiny.score"
}

# LM-3. The tokens of the bytes that are written are those that numpy chose.
continuation() {
    local tokens
    read -r _ tokens < <(grep generate "$here/tiny.score")
    "$chunkproof" model "$weights" --text "$text" --limit 12 --generate 10 >"$work/more" || return 1
    python3 - "$weights" "$work/more" "$tokens" <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
n, = struct.unpack_from("<I", data, 56)
ends_at, _, text_at = struct.unpack_from("<3Q", data, 128)
ends = (0, *struct.unpack_from(f"<{n}I", data, ends_at))
text = b"".join(data[text_at + ends[i]:text_at + ends[i + 1]]
                for i in map(int, sys.argv[3].split()))
if open(sys.argv[2], "rb").read() != text + b"\n":
    sys.exit(f"not {text!r}")
PYTHON
}

# FAST-3: with any number of threads the same bits. What it prints are scores of the same tokens.
fast() {
    status 0 "$weights" --text "$text" --window 40 --fast --logits "$work/a" || return 1
    has "windows of 40, predicted" && cp "$work/out" "$work/said" || return 1
    status 0 "$weights" --text "$text" --window 40 --fast --threads 3 --logits "$work/b" || return 1
    cmp "$work/a" "$work/b" && cmp "$work/out" "$work/said" || return 1
    status 0 "$weights" --text "$text" --limit 12 --generate 10 --fast --threads 2
}

# TOKEN-1, TOKEN-6: three special tokens, and two letters.
tokens() {
    printf '<|begin|>th<|end|>' >"$work/text"
    status 0 "$weights" --text "$work/text" --tokens --special || return 1
    [ "$(head -1 "$work/out")" = 1 ] && [ "$(tail -1 "$work/out")" = 0 ] || return 1
    [ "$(wc -l <"$work/out")" -le 4 ] || return 1
    status 0 "$weights" --text "$work/text" --tokens && [ "$(wc -l <"$work/out")" -gt 10 ]
}

# TOKEN-5.
lost() {
    printf 'a\004b\377' >"$work/text"
    status 0 "$weights" --text "$work/text" --tokens && says "2 bytes have no token"
}

from_input() {
    "$chunkproof" model "$weights" --text - --tokens <"$text" >"$work/from_input" &&
        status 0 "$weights" --text "$text" --tokens && cmp "$work/out" "$work/from_input"
}

# The logits, read back, give the perplexity; threads do not change a bit.
logits() {
    status 0 "$weights" --text "$text" --window 40 --logits "$work/a" || return 1
    cp "$work/out" "$work/said"
    status 0 "$weights" --text "$text" --window 40 --threads 4 --logits "$work/b" || return 1
    cmp "$work/a" "$work/b" && cmp "$work/out" "$work/said" || return 1
    "$chunkproof" model "$weights" --text "$text" --tokens >"$work/tokens" || return 1
    python3 - "$work" <<'PYTHON'
import array, math, sys
work = sys.argv[1]
tokens = [int(line) for line in open(work + "/tokens")]
numbers = array.array("f", open(work + "/a", "rb").read())
assert len(numbers) == 316 * len(tokens), len(numbers)
total = n = 0
for i in range(len(tokens) - 1):
    if (i + 1) % 40:
        row = numbers[316 * i:316 * (i + 1)]
        total += row[tokens[i + 1]] - math.log(sum(map(math.exp, row)))
        n += 1
said = dict(line.rsplit(" ", 1) for line in open(work + "/said") if line.startswith("perp"))
wanted = math.exp(-total / n)
# A logit is rounded by 2^-24 of itself, below 2^5: the exponent by 2^-18 at most.
if abs(float(said["perplexity"]) / wanted - 1) > 2 ** -18:
    sys.exit(f"{said} is not {wanted}")
PYTHON
}

kept() {
    echo old >"$work/logits"
    cp "$weights" "$work/damaged"
    printf x | dd of="$work/damaged" bs=1 seek=50000 conv=notrunc status=none
    wrong "checksum" "$work/damaged" --text "$text" --logits "$work/logits" || return 1
    [ "$(cat "$work/logits")" = old ]
}

# LM-3: the context is 64, and 60 tokens of the text leave room for 4.
beyond() {
    status 0 "$weights" --text "$text" --limit 60 --generate 4 || return 1
    [ ! -s "$work/err" ] && cp "$work/out" "$work/four" || return 1
    status 0 "$weights" --text "$text" --limit 60 --generate 9 &&
        says "tiny.txt: with 9 tokens more there are 69 positions, and the model was trained for" &&
        says "64: 4 follow at the most" && cmp "$work/four" "$work/out" &&
        status 0 "$weights" --text "$text" --limit 64 --generate 2 && says "one follows" &&
        [ -s "$work/out" ]
}

short() {
    printf a >"$work/text"
    wrong "too short" "$weights" --text "$work/text" || return 1
    : >"$work/text"
    wrong "too short" "$weights" --text "$work/text" --generate 1 &&
        status 0 "$weights" --text "$work/text" --tokens && [ ! -s "$work/out" ]
}

full() {
    [ -e /dev/full ] || return 0
    local found=0
    "$chunkproof" model "$weights" >/dev/full 2>"$work/err" || found=$?
    [ $found = 2 ] && says "standard output cannot be written: No space" || return 1
    wrong "cannot be written" "$weights" --text "$text" --logits /dev/full
}

bad_use() {
    wrong "name a weights file" && wrong "one weights file" "$weights" "$weights" &&
        wrong "there is no text" "$weights" --tokens &&
        wrong "there is no text" "$weights" --window 8 &&
        wrong "exclude each other" "$weights" --text "$text" --tokens --generate 2 &&
        wrong "leave out --tokens" "$weights" --text "$text" --tokens --window 8 &&
        wrong "leave out --tokens" "$weights" --text "$text" --generate 8 --logits "$work/x" &&
        wrong "leave out --fast" "$weights" --text "$text" --tokens --fast &&
        wrong "there is no text" "$weights" --fast &&
        wrong "--window" "$weights" --text "$text" --window 1 &&
        wrong "--generate" "$weights" --text "$text" --generate 0 &&
        wrong "--threads" "$weights" --text "$text" --threads 0 &&
        wrong "No such file" "$work/none" && wrong "No such file" "$weights" --text "$work/none" &&
        wrong "no weights file" "$text" && wrong "same file" "$weights" --text "$text" \
        --logits "$weights" && cmp -n 8 "$weights" <(printf CPWEIGHT)
}

ok "the file is described" described
ok "the perplexity is numpy's, in windows of any size, with any number of threads" perplexities
ok "the continuation is numpy's" continuation
ok "the fast decoder has the same bits with any number of threads" fast
ok "a continuation ends with the model's context, and says so" beyond
ok "special tokens are looked for only when asked" tokens
ok "bytes without a token are counted" lost
ok "a text comes from the standard input" from_input
ok "logits are written, and give the perplexity" logits
ok "an old file stays when there are no logits" kept
ok "a text that is too short is refused" short
ok "output that cannot be written is an error" full
ok "bad use is refused" bad_use
exit $failed
