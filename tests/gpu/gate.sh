#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof gate` with kernels in CUDA on a GPU (GATE-9; make gpu): right ones, wrong ones, and
# what only a GPU can get wrong.
#   tests/gpu/gate.sh [COMMAND]
set -u
here=$(realpath "$(dirname "$0")/..")
. "$here/cli.bash" gate "${1:-}"
kernels=$(dirname "$chunkproof")/gpu
example=$here/example/paged_kernel.cu

# right CASES KERNEL...
right() {
    status 0 --kernel "${@:2}" --cases "$1" && has "right: 0 of "
}

# edited FROM TO: the example with that replaced is $work/wrong.cu.
edited() {
    sed "s|$1|$2|" "$example" >"$work/wrong.cu"
    ! cmp -s "$example" "$work/wrong.cu" || { echo "nothing is replaced by $1"; return 1; }
}

# fault FROM TO VERDICT: that example is found to be wrong.
fault() {
    edited "$1" "$2" || return 1
    status 1 --kernel "$work/wrong.cu" --on gpu --cases 40 --first && has "$3, 1 case"
}

# read_of ARRAY N SIZE: a line that reads the first element behind N pieces of that size, and behind
# what an array is aligned to.
read_of() {
    echo "(void)*((const volatile unsigned short *)call.$1 + $2 * $3 + ($2 > 0 ? 127 : 0));" \
        "float dot = 0.0f;"
}

replayed() {
    edited 'o\[i\] = o\[i\] \* rescale' 'o[i] = o[i]' || return 1
    status 1 --kernel "$work/wrong.cu" --on gpu --cases 12 --save "$work/cases" || return 1
    subcommand=replay status 1 "$work/cases/wrong.json" --kernel "$work/wrong.cu" --on gpu &&
        has "wrong; breaks NUM-10" &&
        subcommand=replay status 0 "$work/cases/wrong.json" --kernel "$example" --on gpu &&
            has "right: " &&
        subcommand=explain status 1 "$work/cases/wrong.json" --kernel "$work/wrong.cu" --on gpu &&
        has "had not been rescaled when the maximum grew"
}

# The gate goes on after an error; one of the three cases has no query rows.
far_away() {
    edited 'out\[i\] =' 'out[i + (1ll << 40)] =' || return 1
    status 1 --kernel "$work/wrong.cu" --on gpu --cases 3 && has "out-of-bounds, 2 cases" &&
        has "CUDA reports an error"
}

endless() {
    edited 'float m = -INFINITY' 'while (call.n_rows > 0) { __nanosleep(100); } float m = 0' ||
        return 1
    status 1 --kernel "$work/wrong.cu" --on gpu --cases 2 --seconds 2 && has "hangs, " &&
        right 2 "$example" --on gpu
}

in_sandbox() {
    status 0 --kernel "$example" --on gpu --cases 12 --sandbox &&
        has "right: 0 of 12 cases wrong"
}

ok "gate, GPU: the example is right" right 60 "$example" --on gpu
ok "gate, GPU: the example in a sandbox" in_sandbox
for name in key_warps two_warps split_keys; do
    ok "gate, GPU: $name is right" right 25 "$here/gate/$name.cu" --on gpu
done
for version in {1,2,3}{,_bf16} {2,3}_int8 {2,3}_mixed {1,3}_tokens 3_e4m3 \
    3_{widths,latent,bflatent}; do
    ok "gate, GPU: version $version of the kernels is right" right 60 "$kernels/cuda_v$version.so"
done
ok "gate, GPU: a case is kept, replayed and explained" replayed
ok "gate, GPU: a key too few" fault 'j < n_keys' 'j < n_keys - 1' wrong
ok "gate, GPU: a lane that is not added" fault 'int other = 16' 'int other = 8' wrong
ok "gate, GPU: the wrong K/V head" fault 'head / (call.n_heads / call.n_kv_heads)' \
    'head % call.n_kv_heads' wrong
ok "gate, GPU: an element too many" fault 'i < call.head_dim; i += 32) {$' \
    'i <= call.head_dim; i += 32) {' out-of-bounds
ok "gate, GPU: the default stream" fault '(cudaStream_t)call->stream' '0' wrote-late
ok "gate, GPU: a write to K" fault 'float dot = 0.0f;' \
    '((__half *)k)[0] = __float2half_rn(1.0f); float dot = 0.0f;' wrote-input
ok "gate, GPU: a write behind the output" fault 'out\[i\] =' \
    '((__half *)call.out)[2 * call.n_rows * call.out_row + i] = 0; out[i] =' \
    out-of-bounds
ok "gate, GPU: a read behind K" fault 'float dot = 0.0f;' \
    "$(read_of k call.capacity call.k_chunk)" out-of-bounds
ok "gate, GPU: a read before Q" fault 'float dot = 0.0f;' "$(read_of q -1 1)" out-of-bounds
ok "gate, GPU: too much shared memory" fault 'call->head_dim \* sizeof(float)' '1 << 20' failed
ok "gate, GPU: an access far away" far_away
ok "gate, GPU: endless" endless
exit $failed
