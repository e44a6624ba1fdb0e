#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make install: a program finds the installed library through pkg-config, static and shared; only
# cp_ symbols are exported, and all that the headers promise; uninstall leaves nothing.
#   tests/install.sh [build/chunkproof]
set -u
build=$(cd "$(dirname "${1:-build/chunkproof}")" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
prefix=$work/usr
library=$prefix/lib/libchunkproof

report() { # report STATUS NAME
    if [ "$1" = 0 ]; then
        echo "ok - $2"
    else
        echo "not ok - $2"
        sed 's/^/# /' "$work/log"
        failed=1
    fi
}
# Everything that a step prints is its log.
step() { "$@" >"$work/log" 2>&1; }
make_() { env -u MAKEFLAGS -u MAKELEVEL make -s DEPS=skip BUILD="$build" "$@"; }

if ! command -v pkg-config >/dev/null; then
    echo "ok - install # SKIP pkg-config is missing"
    exit 0
fi

step make_ install PREFIX="$prefix"
report $? "install"
[ $failed = 0 ] || exit 1

same_headers() {
    diff -r -x limits.h -x kernels include/chunkproof "$prefix/include/chunkproof" &&
        diff -r -x '*.cpp' -x README.md kernels/simt "$prefix/include/chunkproof/kernels/simt"
}
step same_headers
report $? "the headers are there, all of them"

headers_stand_alone() {
    for header in "$prefix"/include/chunkproof/*.h; do
        gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$prefix/include" -fsyntax-only -x c \
            "$header" || return 1
    done
}
step headers_stand_alone
report $? "each header compiles alone, in plain C11"

# GNU C sets FLT_EVAL_METHOD to 16 where the processor computes in binary16, and to 2 with x87.
fp16=(-std=gnu11 -march=sapphirerapids -fsyntax-only -x c)
if gcc "${fp16[@]}" /dev/null 2>/dev/null; then
    echo '#include <chunkproof/kernel.h>' | gcc "${fp16[@]}" -I"$prefix/include" - &&
        ! echo '#include <chunkproof/kernel.h>' |
            gcc "${fp16[@]}" -mfpmath=387 -mno-avx512fp16 -I"$prefix/include" - 2>/dev/null
    report $? "headers compile where binary16 is arithmetic, and not where double is wider"
fi

# Every function that the headers name, but for those of the launcher: they are in a library of
# their own.
grep -ohE '\bcp_[a-z0-9_]+\(' include/chunkproof/*.h | tr -d '(' | grep -v '^cp_cuda_' |
    sort -u >"$work/promised"

# The address of each: a declaration that C++ takes for its own has another name in the library.
cxx_reads_them() {
    command -v g++ >/dev/null || return 0
    {
        for header in "$prefix"/include/chunkproof/*.h; do
            echo "#include <chunkproof/$(basename "$header")>"
        done
        echo 'typedef void (*function)();'
        echo 'function volatile all[] = {'
        sed 's/.*/reinterpret_cast<function>(&),/' "$work/promised"
        echo '}; int main() { return all[0] == 0; }'
    } >"$work/user.cc"
    g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -I"$prefix/include" -o "$work/cxx" \
        "$work/user.cc" "$library.a" -lm && "$work/cxx"
}
step cxx_reads_them
report $? "a C++ program includes them and links with all that they name"

# The bounds of the build are those of the installed header: 16 chunks on a path, and no others.
other_bounds() {
    make_ install BUILD="$work/other" CFLAGS=-O0 EXTRA_CFLAGS=-DCP_MAX_DEPTH=16 \
        PREFIX="$work/bounded" &&
        echo '#include <chunkproof/tree.h>
int bounds[CP_MAX_DEPTH == 16 && CP_MAX_SERVED == 16384 * 16 ? 1 : -1];' >"$work/bounds.c" &&
        gcc -std=c11 -I"$work/bounded/include" -fsyntax-only "$work/bounds.c" &&
        ! gcc -std=c11 -I"$work/bounded/include" -DCP_MAX_DEPTH=32 -fsyntax-only "$work/bounds.c"
}
step other_bounds
report $? "the installed header has the bounds of the build"

# Two equal prompts of five tokens, in chunks of two: two shared chunks and two private tails.
cat >"$work/user.c" <<'END'
#include <chunkproof/chunkproof.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    static const int token[] = {1, 2, 3, 4, 5};
    struct cp_tree *tree;
    struct cp_plan *plan;
    struct cp_joined joined;
    struct cp_state one = {2.0, 1.0}; /* a single key with score 2 and value 8 */
    double o = 8.0, out = 0.0;

    if (strcmp(cp_version(), CP_VERSION) != 0 || cp_tree_new(&tree, 8, 2, 0) != CP_OK ||
        cp_plan_new(&plan) != CP_OK || cp_tree_join(tree, token, 5, 0, 1, NULL, &joined) != CP_OK ||
        cp_tree_join(tree, token, 5, 0, 2, NULL, &joined) != CP_OK) {
        return 1;
    }
    if (cp_finish(&one, &o, &out, 1) != 2.0 || out != 8.0) {
        return 1;
    }
    cp_plan_build(plan, tree);
    printf("%s %d\n", cp_version(), plan->n_shared);
    cp_plan_free(plan);
    cp_tree_free(tree);
    return 0;
}
END
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
version=$(pkg-config --modversion chunkproof)

# user HOW LINKED...: compiles the program and runs it.
user() {
    how=$1
    shift
    gcc -std=c11 -Wall -Wextra -Werror -o "$work/$how" "$work/user.c" "$@" || return 1
    said=$(LD_LIBRARY_PATH="$prefix/lib" "$work/$how")
    echo "the program said: $said"
    [ "$said" = "$version 2" ]
}
needs_library() { readelf -d "$work/$1" | grep -q "NEEDED.*libchunkproof.so.${version%%.*}\]"; }

# shellcheck disable=SC2046  # flags are words
step user shared $(pkg-config --cflags --libs chunkproof) && needs_library shared
report $? "a program with the shared library, by its soname"
# shellcheck disable=SC2046
step user static -static $(pkg-config --static --cflags --libs chunkproof) && ! needs_library static
report $? "a program with the static library"

# example NAME LINES: it prints so many results, each beside the right one.
example() {
    # shellcheck disable=SC2046
    gcc -std=c11 -Wall -Wextra -Werror -o "$work/example" "tests/example/$1.c" -static \
        $(pkg-config --static --cflags --libs chunkproof) && "$work/example" >"$work/said" &&
        cat "$work/said" && [ "$(grep -c 'by the definition' "$work/said")" = "$2" ] &&
        awk '/by the definition/ && $5 != $9 "," { bad = 1 } END { exit bad }' "$work/said"
}
step example serving 4
report $? "the example computes attention"
step example serving_fast 6
report $? "so does the one with the fast tree and attention"
step example serving_modules 6
report $? "and the one with prompts of modules"

# Without CUDA's header, with one that declares what the example uses of it.
cuda=/usr/local/cuda/include
if [ ! -f "$cuda/cuda_runtime_api.h" ]; then
    cuda=$work/cuda
    mkdir "$cuda"
    cat >"$cuda/cuda_runtime_api.h" <<'END'
#include <stddef.h>
typedef enum { cudaSuccess } cudaError_t;
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
const char *cudaGetErrorString(cudaError_t error);
END
fi
cuda_example() {
    # shellcheck disable=SC2046
    gcc -std=c11 -Wall -Wextra -Werror -isystem "$cuda" $(pkg-config --cflags chunkproof) \
        -fsyntax-only tests/example/decode_cuda.c
}
step cuda_example
report $? "the example for a GPU compiles"

installed_command() { [ "$("$prefix/bin/chunkproof" --version)" = "chunkproof $version" ]; }
step installed_command
report $? "the installed command is of that version"

# With what is installed alone: its headers and its libraries.
installed_gate() {
    cp tests/example/paged_kernel.{c,cu} "$work" &&
        (cd "$work" && for kernel in paged_kernel.c paged_kernel.cu; do
            "$prefix/bin/chunkproof" gate --kernel $kernel \
                $([[ $kernel != *.cu ]] || echo --on executor) --cases 3 || exit 1
        done)
}
step installed_gate
report $? "the installed gate compiles kernels in C and in CUDA"

# Program, library and headers in one directory, as somebody may hand them on.
copied_gate() {
    mkdir "$work/copy" && cp -r "$prefix/include" "$prefix/bin/chunkproof" "$library.a" \
        "$work/copy" && cp tests/example/paged_kernel.c "$work" &&
        (cd "$work" && copy/chunkproof gate --kernel paged_kernel.c --cases 3)
}
step copied_gate
report $? "so does a copy of the program beside its headers and library"

nm -D --defined-only "$library.so" | awk '{ print $NF }' | sort -u >"$work/shared.names"
nm -g --defined-only "$library.a" | awk 'NF == 3 { print $3 }' | sort -u >"$work/static.names"

only_cp() { ! grep -v '^cp_' "$work/shared.names" "$work/static.names"; }
step only_cp
report $? "no symbol without the prefix cp_"

promises_kept() {
    [ -s "$work/promised" ] && ! comm -23 "$work/promised" "$work/shared.names" | grep . &&
        ! comm -23 "$work/promised" "$work/static.names" | grep .
}
step promises_kept
report $? "every function that the headers name is there"

# There is no global state: nothing that can be written, neither set (D, C) nor zero (B).
no_state() { ! nm "$library.so" | awk '$2 ~ /^[DdBbC]$/ && $3 !~ /^(__|_|completed)/' | grep .; }
step no_state
report $? "the library has no writable variable"

staged() {
    make_ install PREFIX=/usr DESTDIR="$work/stage" &&
        grep -qx 'prefix=/usr' "$work/stage/usr/lib/pkgconfig/chunkproof.pc" &&
        make_ uninstall PREFIX=/usr DESTDIR="$work/stage" &&
        make_ uninstall PREFIX="$prefix" && ! find "$work/stage" "$prefix" ! -type d | grep .
}
step staged
report $? "DESTDIR stages the files, uninstall leaves none"
exit $failed
