#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof gate` with kernels in CUDA, on the executor (GATE-9): a right one, wrong ones, and
# what is no kernel.
#   tests/cli_gate_cuda.sh [COMMAND]
set -u
here=$(realpath "$(dirname "$0")")
. "$here/cli.bash" gate "${1:-}"
kernels=$(dirname "$chunkproof")/tests/gate
example=$here/example/paged_kernel.cu

# misbehaves HOW VERDICT TEXT: that verdict, with that text; and the gate goes on to the end.
misbehaves() {
    MISBEHAVE=$1 status 1 --kernel "$kernels/cuda_misbehaves.so" --cases 3 --seconds 20 &&
        grep -q "^$2, [1-3] case" "$work/out" && has "$3" && has " of 3 cases wrong"
}

endless() {
    MISBEHAVE=endless status 1 --kernel "$kernels/cuda_misbehaves.so" --cases 1 --seconds 1 &&
        has "hangs, 1 case" && has "had not returned after 1 s"
}

right() {
    status 0 --kernel "$example" --on executor --cases 25 && has "right: 0 of 25 cases wrong"
}

right_version() {
    status 0 --kernel "$kernels/cuda_v$1.so" --cases 12 && has "right: 0 of 12 cases wrong"
}

# fault FROM TO VERDICT: the example with that replaced, in one line, is found to be wrong, and the
# case is kept.
fault() {
    sed "s|$1|$2|" "$example" >"$work/wrong.cu"
    cmp -s "$example" "$work/wrong.cu" && { echo "nothing is replaced by $1"; return 1; }
    status 1 --kernel "$work/wrong.cu" --on executor --cases 40 --first && has "$3, 1 case"
}

# The second name is no kernel's, so that the message has the line of the user's file.
refused() {
    printf '%b' "$1" >"$work/bad.cu"
    status 2 --kernel "$work/bad.cu" --on executor && says "$2"
}

replayed() {
    sed 's|o\[i\] = o\[i\] \* rescale|o[i] = o[i]|' "$example" >"$work/wrong.cu"
    status 1 --kernel "$work/wrong.cu" --on executor --cases 12 --save "$work/cases" || return 1
    subcommand=replay status 1 "$work/cases/wrong.json" --kernel "$work/wrong.cu" --on executor &&
        has "wrong; breaks NUM-10" &&
        subcommand=replay status 0 "$work/cases/wrong.json" --kernel "$example" --on executor &&
            has "right: " &&
        subcommand=explain status 1 "$work/cases/wrong.json" --kernel "$work/wrong.cu" \
            --on executor &&
        has "had not been rescaled when the maximum grew"
}

# What explain says of a race: both accesses with their lines, and which barrier is missing.
raced() {
    sed 's|__syncthreads();||' "$here/gate/two_warps.cu" >"$work/raced.cu"
    status 1 --kernel "$work/raced.cu" --on executor --cases 16 --first --save "$work/races" ||
        return 1
    subcommand=explain status 1 "$work/races/races.json" --kernel "$work/raced.cu" --on executor &&
        has "two accesses to one place:" &&
        has "between the two lines there must be a __syncthreads()" &&
        [ "$(grep -c '^    block .* in .*raced.cu:[0-9]' "$work/out")" = 2 ]
}

# raced_in_a_warp WARPS TEXT: two lanes of one warp, in blocks of so many.
raced_in_a_warp() {
    sed -e "s|#define WARPS .*|#define WARPS $1|" -e 's|o\[i\] = 0.0f;|&\
        if (t == 1) o[0] = 0.0f;|' "$here/gate/two_warps.cu" >"$work/lanes.cu"
    rm -rf "$work/lanes"
    status 1 --kernel "$work/lanes.cu" --on executor --cases 16 --first --save "$work/lanes" ||
        return 1
    subcommand=explain status 1 "$work/lanes/races.json" --kernel "$work/lanes.cu" --on executor &&
        has "two accesses to one place:" || return 1
    tr -s '\n ' ' ' <"$work/out" >"$work/one_line" # it is broken between words
    grep -qF -- "$2" "$work/one_line" || { echo "no '$2' in:"; cat "$work/out"; return 1; }
}

ok "gate, CUDA: a race is explained" raced
ok "gate, CUDA: a race of two lanes, one warp" raced_in_a_warp 1 \
    "they are of one warp: between the two lines there must be a __syncwarp()"
ok "gate, CUDA: a race of two lanes, two warps" raced_in_a_warp 2 \
    "a __syncwarp() with both lanes in its mask; or a __syncthreads() that all come to, where \
another warp touches that"
ok "gate, CUDA: the example is right on the executor" right
for version in 1 2 3; do
    ok "gate, CUDA: version $version of the kernels is right" right_version $version
done
ok "gate, CUDA: a case is kept, replayed and explained" replayed

misbehaving() {
    ok "gate, CUDA: $1" misbehaves "$@"
}
misbehaving zeros wrong "and must be"
misbehaving reads-behind-k out-of-bounds "reads outside of the declared buffers: 2 bytes at k+"
misbehaving reads-before-q out-of-bounds "2 bytes at q-2"
misbehaving writes-behind-out out-of-bounds \
    "writes outside of the declared buffers: 2 bytes at out+"
misbehaving writes-workspace out-of-bounds "1 bytes at workspace+64 (64 bytes)"
misbehaving reads-freed out-of-bounds "reads outside of the declared buffers"
misbehaving writes-k wrote-input "writes to a buffer declared as read only: 2 bytes at k+0"
misbehaving races-shared races "race_shared: "
misbehaving races-blocks races "race_global: "
misbehaving diverges undefined "barrier_divergence: "
misbehaving uninitialized undefined "uninitialized_shared: "
misbehaving other-stream wrote-late "started work on another stream than call->stream"
misbehaving too-much-shared failed "returned 1"
misbehaving host-reads-k out-of-bounds "on the host, but it is in the device's memory"
ok "gate, CUDA: endless" endless

ok "gate, CUDA: a key too few" fault 'j < n_keys' 'j < n_keys - 1' not-a-number
ok "gate, CUDA: a lane that is not added" fault 'int other = 16' 'int other = 8' wrong
ok "gate, CUDA: a mask without the last lane" fault 'ALL_LANES 0xFFFFFFFFu' \
    'ALL_LANES 0x7FFFFFFFu' undefined
ok "gate, CUDA: an element too many" fault 'i < call.head_dim; i += 32) {$' \
    'i <= call.head_dim; i += 32) {' out-of-bounds
ok "gate, CUDA: the wrong K/V head" fault 'head / (call.n_heads / call.n_kv_heads)' \
    'head % call.n_kv_heads' wrong
ok "gate, CUDA: too little shared memory" fault 'call->head_dim \* sizeof(float)' '4' out-of-bounds
ok "gate, CUDA: the default stream" fault '(cudaStream_t)call->stream' '0' wrote-late
ok "gate, CUDA: the maximum of the last key alone" fault 'fmaxf(m, score)' 'score' not-a-number

# The example with its sums taken by a tile of cooperative groups.
grouped() {
    sed 's|#include <cuda_runtime.h>|&\
#include <cooperative_groups.h>\
#include <cooperative_groups/reduce.h>\
namespace cg = cooperative_groups;|
        s|for (int other = 16; other > 0; other /= 2) {|{|
        s|dot += __shfl_xor_sync(ALL_LANES, dot, other);|\
        auto warp = cg::tiled_partition<32>(cg::this_thread_block());\
        dot = cg::reduce(warp, dot, cg::plus<float>());|' \
        "$example" >"$work/groups.cu"
    grep -q "cg::reduce" "$work/groups.cu" && status 0 --kernel "$work/groups.cu" --on executor \
        --cases 12 || return 1
    # Half of the lanes are left out.
    sed -i 's|tiled_partition<32>|tiled_partition<16>|' "$work/groups.cu"
    status 1 --kernel "$work/groups.cu" --on executor --cases 12 --first && has "1 case"
}

# The block that is done last merges what others wrote: right with the fence before its number, a
# race without.
last_block() {
    status 0 --kernel "$here/gate/split_keys.cu" --on executor --cases 12 || return 1
    grep -v "__threadfence" "$here/gate/split_keys.cu" >"$work/no_fence.cu"
    status 1 --kernel "$work/no_fence.cu" --on executor --cases 12 --first \
        --save "$work/no_fence" && has "races, 1 case" || return 1
    subcommand=explain status 1 "$work/no_fence/races.json" --kernel "$work/no_fence.cu" \
        --on executor &&
        has "they are of two blocks" && has "hand it over: after the write"
}

# A launcher that asks the device first; it refuses to run on one with too little of what it needs.
asks_device() {
    sed 's|    dim3 grid(call->n_rows, call->n_heads);|    cudaDeviceProp p;\
    int n = 0, device = -1, threads = 0;\
    if (cudaGetDeviceCount(\&n) != cudaSuccess \|\| n < 1) return 1;\
    if (cudaGetDevice(\&device) != cudaSuccess) return 1;\
    if (cudaSetDevice(device) != cudaSuccess) return 1;\
    if (cudaGetDeviceProperties(\&p, device) != cudaSuccess) return 1;\
    if (p.warpSize != 32 \|\| p.sharedMemPerBlock < call->head_dim * sizeof(float)) return 1;\
    if (cudaDeviceGetAttribute(\&threads, cudaDevAttrMaxThreadsPerBlock, device) != cudaSuccess) {\
        return 1;\
    }\
    if (threads < LEAST) return 1;\
&|
        s|cudaGetLastError() != cudaSuccess|cudaPeekAtLastError() != cudaSuccess|
        s|ALL_LANES 0xFFFFFFFFu|&\
#define LEAST 1024|' "$example" >"$work/asks.cu"
    grep -q "p.warpSize" "$work/asks.cu" && status 0 --kernel "$work/asks.cu" --on executor \
        --cases 6 || return 1
    sed -i 's|LEAST 1024|LEAST 1025|' "$work/asks.cu"
    status 1 --kernel "$work/asks.cu" --on executor --cases 6 --first && has "failed, 1 case"
}

# A launcher that forgets to ask for device memory is told so; one that asks for it is not.
forgets_memory() {
    grep -v 'memory = CP_DEVICE_MEMORY' "$example" >"$work/forgets.cu"
    status 1 --kernel "$work/forgets.cu" --on executor --cases 6 --first && has "a null pointer" &&
        has "for device memory set cp_kernel.memory to CP_DEVICE_MEMORY" || return 1
    status 0 --kernel "$example" --on executor --cases 2 && ! grep -q "CP_DEVICE_MEMORY" "$work/out"
}

# two_warps MACRO VERDICT PATTERN: of one case, the text that has the pattern; on one line.
two_warps() {
    CXXFLAGS="-O2 -D$1" status 1 --kernel "$here/gate/two_warps.cu" --on executor --cases 1 &&
        grep -q "^$2, 1 case" "$work/out" && grep "$3" "$work/out" >"$work/found"
}

# lines_are FILE MARK...: a verdict in $work/found names these lines of tests/gate/FILE, by what
# their comments say, and
# no other ones but those of the collectives before.
lines_are() {
    grep -o "\(in\|places,\|and\) [^ ]*$1:[0-9]*" "$work/found" | sed 's/.*://' |
        sort >"$work/lines"
    for mark in "${@:2}"; do
        grep -n "/\* $mark \*/" "$here/gate/$1" | cut -d: -f1
    done | sort >"$work/expected"
    [ -s "$work/expected" ] && cmp "$work/lines" "$work/expected"
}

race_lines() {
    two_warps NO_BARRIER races "race_shared: " &&
        lines_are two_warps.cu "the scores are written" "the scores are read"
}

divergence_lines() {
    two_warps DIVERGE undefined "barrier_divergence: " &&
        lines_are two_warps.cu "the lower half waits" "the upper half waits"
}

# With loads of 16 bytes: whatever the flags are.
right_with_wide_loads() {
    status 0 --kernel "$here/gate/key_warps.cu" --on executor --cases 12 &&
        has "right: 0 of 12 cases wrong" &&
        CXXFLAGS=-O3 status 0 --kernel "$here/gate/key_warps.cu" --on executor --cases 12 &&
        has "right: 0 of 12 cases wrong"
}

# The same from addresses that are not aligned, as where a stride is no multiple of 8.
misaligned() {
    sed 's|uint4 \*>(from)|uint4 *>(from + 1)|' "$here/gate/key_warps.cu" >"$work/misaligned.cu"
    local line
    line=$(grep -nF 'uint4 *>(from + 1)' "$work/misaligned.cu" | cut -d: -f1)
    [ -n "$line" ] || return 1
    status 1 --kernel "$work/misaligned.cu" --on executor --cases 4 && has "undefined, " &&
        has "misaligned: block (" && has ": 16 bytes at " && has "misaligned.cu:$line"
}

right_with_barriers() {
    status 0 --kernel "$here/gate/two_warps.cu" --on executor --cases 12 &&
        has "right: 0 of 12 cases wrong"
}

no_lines() {
    two_warps "NO_BARRIER -g0" races \
        "race_shared: .* in code+0x[0-9a-f]*, .* in code+0x[0-9a-f]*, and"
}

# misbehaves_in HOW VERDICT MARK: that verdict, on the line with that comment.
misbehaves_in() {
    misbehaves "$1" "$2" "cuda_misbehaves.cu:" &&
        grep "cuda_misbehaves.cu:" "$work/out" >"$work/found" &&
        lines_are cuda_misbehaves.cu "$3"
}

# The example's first access to what it has too little of.
outside_line() {
    fault 'call->head_dim \* sizeof(float)' '4' out-of-bounds &&
        has "in $work/wrong.cu:$(grep -n 'o\[i\] = 0.0f' "$example" | cut -d: -f1), after its start"
}

# device_variable LINE STATUS TEXT: the example has __device__ variables, and its kernel that line.
device_variable() {
    sed "s|^    float m = -INFINITY, n = 0.0f;|&\n    $1|
        s|^__global__|__device__ int n_blocks;\n__device__ float last[32];\n&|" "$example" \
        >"$work/variable.cu"
    grep -q 'last\[32\]' "$work/variable.cu" || { echo "nothing was inserted"; return 1; }
    status "$2" --kernel "$work/variable.cu" --on executor --cases 8 && has "$3"
}

ok "gate, CUDA: a __device__ variable that is written to" device_variable \
    'if (lane == 0) { atomicAdd(\&n_blocks, 1); }' 0 "right: 0 of 8 cases wrong"
ok "gate, CUDA: a __device__ array that blocks race for" device_variable \
    'last[lane] = (float)row;' 1 "races, "
ok "gate, CUDA: a __device__ variable that spoils later calls" device_variable \
    'm = __shfl_sync(ALL_LANES, lane == 0 ? atomicAdd(\&n_blocks, 1) : 0, 0) % 3;' 1 "WRONG: "
ok "gate, CUDA: two warps with their barriers are right" right_with_barriers
ok "gate, CUDA: loads of 16 bytes by way of another type are right" right_with_wide_loads
ok "gate, CUDA: loads of 16 bytes that are not aligned" misaligned
ok "gate, CUDA: cooperative groups" grouped
ok "gate, CUDA: the last block merges" last_block
ok "gate, CUDA: a launcher that asks the device" asks_device
ok "gate, CUDA: device memory that is not asked for" forgets_memory
ok "gate, CUDA: a race names both lines" race_lines
ok "gate, CUDA: divergence names both lines" divergence_lines
ok "gate, CUDA: outside of shared memory, a line" outside_line
ok "gate, CUDA: shared memory that nobody wrote, a line" misbehaves_in uninitialized undefined \
    "nobody wrote it"
ok "gate, CUDA: outside of an array, a line" misbehaves_in reads-behind-k out-of-bounds "behind k"
ok "gate, CUDA: a write to an input, a line" misbehaves_in writes-k wrote-input "an input"
ok "gate, CUDA: places in the object where lines are not known" no_lines

ok "gate, CUDA: C++ that does not compile" refused 'int a;\nint b = c;\n' "bad.cu:2:"
ok "gate, CUDA: shared memory outside of a kernel" refused '\n__shared__ int a[3];\n' \
    "bad.cu:2: __shared__ outside"
ok "gate, CUDA: no such file" status 2 --kernel "$work/none.cu"
ok "gate, CUDA: no such place" status 2 --kernel "$example" --on gpus
exit $failed
