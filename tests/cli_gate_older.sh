#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `chunkproof gate` and a kernel that was written for an older chunkproof/kernel.h: the gate refuses
# it with what to change, and once that is done, and nothing else, it is right at its first gate.
#   tests/cli_gate_older.sh [COMMAND]
set -u
. "$(dirname "$0")/cli.bash" gate "${1:-}"
older=tests/gate/version_8
version=$(sed -n 's/^#define CP_KERNEL_VERSION //p' include/chunkproof/kernel.h)

# As its author builds it, with the header that came with it.
build() {
    cc -std=c11 -O2 -shared -fPIC "$@" -Iinclude -o "$work/older.so" "$older/adapter_e5m2.c" -lm
}

# The words, in the order in which a reader takes them.
refused() {
    build "-I$older" && wrong "older.so: it was compiled with version 8 of chunkproof/kernel.h, \
and this program takes version $version; recompile it; \`arithmetic.dequantised\` is \
\`k_dequantised\` and \`v_dequantised\`, and CP_CACHE_... have other numbers; new are \`widths\` \
and \`layout\`" \
        --kernel "$work/older.so"
}

# Recompiling alone does not do, and the compiler names what the words name.
not_only_recompiled() {
    ! build 2>"$work/said" && grep -q "no member named .dequantised\|field .*dequantised" \
        "$work/said" && wrong "dequantised" --kernel "$older/adapter_e5m2.c"
}

changed() {
    sed 's/\.dequantised = \(CP_FP32\),/.k_dequantised = \1, .v_dequantised = \1,/' \
        "$older/adapter_e5m2.c" >"$work/changed.c"
    ! cmp -s "$older/adapter_e5m2.c" "$work/changed.c"
}

right_at_once() {
    changed && status 0 --kernel "$work/changed.c" && has "right: 0 of 400 cases wrong"
}

# The numbers of CP_CACHE_... come with the header: written as numbers, they are others'.
numbers_are_others() {
    changed && sed -i 's/\.k = CP_CACHE_E5M2/.k = 2/' "$work/changed.c" &&
        wrong "cache.k" --kernel "$work/changed.c"
}

ok "an object of version 8 is refused with what to change" refused
ok "a source of version 8 is not compiled, and the member is named" not_only_recompiled
ok "with just that change the kernel is right at its first gate" right_at_once
ok "a number of CP_CACHE_... in place of its name is refused" numbers_are_others
exit $failed
