#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
# Builds all fuzz targets into $OUT with their corpora and dictionaries, as OSS-Fuzz and
# ClusterFuzzLite ask for it: CC, CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE, OUT and perhaps WORK
# are theirs. JSON_LIBRARY, MODEL_LIBRARIES: the archives, as the machine that runs the targets has
# no libraries. It is run as a copy, in the root of the tree; by hand, where it lies.
[ -e fuzz/target.h ] || cd "$(dirname "$0")/../.."
build=${WORK:-$PWD/build}/oss-fuzz
json=${JSON_LIBRARY:--l:libjansson.a}
model=${MODEL_LIBRARIES:--l:libpcre2-8.a -l:libz.a}

# Another compiler may warn of other things: that is not what is asked here.
make -s -j"$(nproc)" DEPS=skip BUILD="$build" CC="$CC $CFLAGS" CXX="$CXX $CXXFLAGS" CFLAGS= \
    EXTRA_CFLAGS=-Wno-error LIB_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" FUZZ_LIBS="$json $model -lm" \
    fuzz-targets

for target in "$build"/fuzz/*; do
    name=$(basename "$target")
    cp "$target" "$OUT/"
    python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" "fuzz/corpus/$name"/*
    if [ -e "fuzz/dictionaries/$name.dict" ]; then
        cp "fuzz/dictionaries/$name.dict" "$OUT/"
    fi
done
