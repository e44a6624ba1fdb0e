#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fuzz/oss-fuzz/build.sh as OSS-Fuzz and ClusterFuzzLite call it, with clang's engine: every target
# is in $OUT with its corpus and its dictionary, and runs its corpus. Docker is not needed.
#
#     bash fuzz/oss-fuzz/test.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 failed=0

ok() { # ok WHAT STATUS
    n=$((n + 1))
    if [ "$2" = 0 ]; then
        echo "ok $n $1"
    else
        failed=$((failed + 1))
        echo "not ok $n $1"
        cat "$work/log"
    fi
}

if ! command -v clang >/dev/null; then
    echo "clang is missing"
    exit 77
fi

mkdir "$work/out"
env CC=clang CXX=clang++ CFLAGS="-O1 -gline-tables-only -fsanitize=address,fuzzer-no-link" \
    CXXFLAGS="-O1 -gline-tables-only -fsanitize=address,fuzzer-no-link" \
    LIB_FUZZING_ENGINE=-fsanitize=fuzzer \
    OUT="$work/out" WORK="$work" bash .clusterfuzzlite/build.sh >"$work/log" 2>&1
ok "build.sh builds" $?
for corpus in fuzz/corpus/*; do
    target=$(basename "$corpus")
    mkdir "$work/$target"
    (cd "$work/$target" && python3 -m zipfile -e "$work/out/${target}_seed_corpus.zip" . &&
        "$work/out/$target" -runs=0 .) >"$work/log" 2>&1
    ok "$target runs its corpus" $?
done
for dictionary in fuzz/dictionaries/*; do
    cmp "$dictionary" "$work/out/$(basename "$dictionary")" >"$work/log" 2>&1
    ok "$(basename "$dictionary") is there" $?
done
echo "$((n - failed)) passed, $failed failed"
[ "$failed" = 0 ]
