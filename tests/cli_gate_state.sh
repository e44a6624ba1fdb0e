#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof gate --state FILE`: what a run goes on from, and what it does not.
#   tests/cli_gate_state.sh [COMMAND]
set -u
. "$(dirname "$0")/cli.bash" gate "${1:-}"
kernels=$(dirname "$chunkproof")/tests
right=tests/example/paged_kernel.c
state=$work/state

# gate STATUS ARGUMENT...: a short run with that state.
gate() {
    local wanted=$1
    shift
    status "$wanted" --cases 48 --state "$state" "$@"
}

# anew WHAT: the last run started anew, because that is not the same, and kept the old file.
anew() {
    says "(not the same $1), so this run starts anew; the old file is now $state.old: --state" &&
        [ -s "$state.old" ] && rm "$state.old"
}

# Nothing was started anew.
goes_on() {
    [ ! -s "$work/err" ] || { cat "$work/err"; return 1; }
}

# A kernel whose rescaling is in a header: right, then wrong, in the header alone.
header() {
    rm -f "$state"
    printf '#define RESCALE expf(m - largest)\n' >"$work/rescale.h"
    sed 's/expf(m - largest)/RESCALE/; s/^#include <math.h>/&\n#include "rescale.h"/' "$right" \
        >"$work/with_header.c"
    gate 0 --kernel "$work/with_header.c" && gate 0 --kernel "$work/with_header.c" && goes_on ||
        return 1
    printf '#define RESCALE 1.0F\n' >"$work/rescale.h"
    gate 1 --kernel "$work/with_header.c" && anew kernel
}

flags() {
    rm -f "$state"
    sed 's/expf(m - largest)/RESCALE/' "$right" >"$work/with_flags.c"
    CFLAGS="-O2 -DRESCALE=expf(m-largest)" gate 0 --kernel "$work/with_flags.c" || return 1
    CFLAGS="-O2 -DRESCALE=1.0F" gate 1 --kernel "$work/with_flags.c" && anew kernel
}

# library EXPRESSION: what the kernel below is linked with.
library() {
    printf '#include <math.h>\nfloat rescale_by(float x);\n' >"$work/rescale.c"
    printf 'float rescale_by(float x) { return %s; }\n' "$1" >>"$work/rescale.c"
    "${CC:-cc}" -shared -fPIC -o "$work/librescale.so.new" "$work/rescale.c" -lm &&
        mv "$work/librescale.so.new" "$work/librescale.so"
}

linked() {
    rm -f "$state"
    sed 's/expf(m - largest)/rescale_by(m - largest)/
        1i float rescale_by(float x);' "$right" >"$work/with_library.c"
    local flags="-O2 -L$work -Wl,--no-as-needed -lrescale -Wl,-rpath,$work"
    library "expf(x)" && CFLAGS=$flags gate 0 --kernel "$work/with_library.c" &&
        library "1.0F" && CFLAGS=$flags gate 1 --kernel "$work/with_library.c" && anew libraries
}

another_build() {
    rm -f "$state"
    mkdir -p "$work/other"
    cp "$chunkproof" "$work/other/chunkproof"
    echo >>"$work/other/chunkproof"
    gate 0 --kernel "$kernels/gate/reversed.so" || return 1
    chunkproof=$work/other/chunkproof gate 0 --kernel "$kernels/gate/reversed.so" &&
        anew chunkproof
}

# other_options KERNEL
other_options() {
    rm -f "$state"
    gate 0 --kernel "$kernels/$1.so" &&
        gate 0 --kernel "$kernels/$1.so" --seed 2 && anew options &&
        gate 0 --kernel "$kernels/$1.so" --seed 2 --memory 0.01 && anew options
}

# Another kernel that merges starts anew, and the file that was kept is as good as it was.
another_that_merges() {
    rm -f "$state"
    gate 0 --kernel "$kernels/gate/merge_two.so" && cp "$state" "$work/first" &&
        gate 0 --kernel "$kernels/gate/merge_states.so" &&
        says "(not the same kernel), so this run starts anew" && cmp "$state.old" "$work/first" &&
        status 0 --cases 48 --state "$state.old" --kernel "$kernels/gate/merge_two.so" && goes_on &&
        rm "$state.old"
}

# A file of a kernel that merges is of no use to one that computes attention, nor the other way; it
# stays as it is.
of_another_kind() {
    rm -f "$state"
    gate 0 --kernel "$kernels/gate/merge_two.so" && cp "$state" "$work/first" &&
        gate 2 --kernel "$kernels/gate/reversed.so" &&
        says "--state $state: its progress is that of another kind of kernel" &&
        says "and this one computes attention; give another file" &&
        cmp "$state" "$work/first" && [ ! -e "$state.old" ] || return 1
    rm "$state"
    gate 0 --kernel "$kernels/gate/reversed.so" && cp "$state" "$work/first" &&
        gate 2 --kernel "$kernels/gate/merge_two.so" &&
        says "another kind of kernel, and this one merges; give another file" &&
        cmp "$state" "$work/first" && [ ! -e "$state.old" ]
}

# same A B: two reports say the same, but for times.
same() {
    python3 - "$1" "$2" <<'END'
import json
import sys
one, other = (json.load(open(name)) for name in sys.argv[1:])
for report in one, other:
    report.pop("seconds")
assert one == other, [key for key in one if one[key] != other[key]]
END
}

# A run that was killed goes on from its last state, in other processes; then nothing is left to do,
# and the report is still there: it takes no time.
merging_goes_on() {
    rm -f "$state"
    sed 's/m + logf(n)/m/' tests/example/merge_kernel.c >"$work/wrong.c"
    local one=(--kernel "$work/wrong.c" --cases 120)
    status 1 "${one[@]}" --json "$work/whole.json" || return 1
    for signal in KILL INT; do
        timeout -s $signal 1.5 "$chunkproof" gate "${one[@]}" --state "$state" >"$work/out" 2>&1
        [ -s "$state" ] || { echo "no state"; return 1; }
    done
    status 1 "${one[@]}" --jobs 2 --state "$state" --json "$work/rest.json" && goes_on &&
        same "$work/whole.json" "$work/rest.json" &&
        status 1 "${one[@]}" --time 0.001 --state "$state" --json "$work/again.json" &&
        same "$work/whole.json" "$work/again.json"
}

# Ctrl-C: the report says so, and the status is that of an interrupted run.
merging_interrupted() {
    rm -f "$state"
    local found=0
    # In the foreground: else the signal comes twice, and the second one ends the gate at once.
    timeout --foreground --preserve-status -s INT 2 "$chunkproof" gate \
        --kernel "$kernels/gate/merge_two.so" --tier full --state "$state" \
        >"$work/out" 2>"$work/err" || found=$?
    [ -s "$state" ] && has ", interrupted" && [ "$found" = 130 ]
}

# The same source in CUDA gives the same object, so that a run goes on.
cuda() {
    rm -f "$state"
    local one=(--kernel tests/example/paged_kernel.cu --on executor --shape d=16)
    status 0 "${one[@]}" --cases 3 --state "$state" &&
        status 0 "${one[@]}" --cases 3 --state "$state" && goes_on
}

# What is no file of --state stays what it is.
foreign() {
    echo something >"$work/text"
    status 2 --kernel "$kernels/gate/reversed.so" --state "$work/text" &&
        says "it is not a file of --state" && grep -q something "$work/text" &&
        status 2 --kernel "$kernels/gate/reversed.so" --state "$work" &&
        says "--state $work: Is a directory" || return 1
    mkfifo "$work/fifo"
    status 2 --kernel "$kernels/gate/reversed.so" --state "$work/fifo" &&
        says "it is not a regular file"
}

# damaged KERNEL: damage anywhere is seen, and the file is left for its owner: cut, longer, and some
# bytes changed.
damaged() {
    rm -f "$state" "$work"/damaged.*
    gate 0 --kernel "$kernels/$1.so" || return 1
    local size name
    size=$(stat -c %s "$state")
    cp "$state" "$work/whole"
    head -c 600 "$work/whole" >"$work/damaged.1"
    head -c $((size - 1)) "$work/whole" >"$work/damaged.2"
    cat "$work/whole" <(echo) >"$work/damaged.3"
    for at in 40 500 1100 $((size / 2)) $((size - 1)); do
        python3 - "$work/whole" "$work/damaged.$at" "$at" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[int(sys.argv[3])] ^= 0x80
open(sys.argv[2], "wb").write(data)
END
    done
    for name in "$work"/damaged.*; do
        cp "$name" "$state"
        gate 2 --kernel "$kernels/$1.so" && says "$state: it is damaged" &&
            says "remove it, and the same command starts anew" && cmp "$name" "$state" || return 1
    done
    rm "$state"
    gate 0 --kernel "$kernels/$1.so" && goes_on
}

# locked KERNEL: one gate has the file at a time.
locked() {
    rm -f "$state"
    "$chunkproof" gate --kernel "$kernels/$1.so" --tier deep --state "$state" >/dev/null 2>&1 &
    local process=$!
    sleep 1
    gate 2 --kernel "$kernels/$1.so" && says "$state: another gate is using it"
    local result=$?
    kill -INT $process
    wait $process
    [ $result = 0 ] && [ ! -e "$state.new" ]
}

ok "a header that changes is seen" header
ok "CFLAGS that change are seen" flags
ok "a library that changes is seen" linked
ok "another build of chunkproof starts anew" another_build
ok "other options start anew" other_options gate/reversed
ok "merges: other options start anew" other_options gate/merge_two
ok "merges: another kernel starts anew" another_that_merges
ok "merges: a run that was ended goes on" merging_goes_on
ok "merges: an interrupted run keeps what it has" merging_interrupted
ok "a file of another kind of kernel is refused" of_another_kind
# A sanitizer's runtime library for C++ is not in the command: CUDA does not link there.
grep -q __asan_init "$chunkproof" || ok "the same source in CUDA goes on" cuda
ok "what is no state stays" foreign
ok "damage is seen" damaged gate/reversed
ok "merges: damage is seen" damaged gate/merge_two
ok "one gate at a time" locked gate/reversed
ok "merges: one gate at a time" locked gate/merge_two
exit $failed
