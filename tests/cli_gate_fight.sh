#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kernels and files that fight `chunkproof gate`: what they do is seen, and nothing outlives it.
#   tests/cli_gate_fight.sh [COMMAND]
set -u
. "$(dirname "$0")/cli.bash" gate "${1:-}"
kernels=$(dirname "$chunkproof")/tests
example=tests/example/paged_kernel.c
fights=$kernels/gate/fights.so
mkdir "$work/tmp"
export TMPDIR=$work/tmp

# fights WORD STATUS ARGUMENT...: tests/gate/fights.c does that.
fights() {
    local word=$1 wanted=$2
    shift 2
    FIGHT=$word status "$wanted" --kernel "$fights" --cases 12 "$@"
}

# Nothing is left in $TMPDIR.
clean() {
    [ -z "$(ls "$work/tmp")" ] || { ls -R "$work/tmp"; return 1; }
}

# ---- Replay ----

# The case is right, and every bound of it is infinite.
replay_claims_nothing() {
    sed 's/= CP_SUM_FP32/= CP_SUM_FP16/; s/exp_error = 0x1p-22/exp_error = 0x1p-6/' "$example" \
        >"$work/wide.c"
    head -n 3 tests/gate/cases/large.jsonl >"$work/large.jsonl"
    subcommand=replay status 2 "$work/large.jsonl" --kernel "$work/wide.c" &&
        has "no verdict: " && has "no bound holds for" && has ", 3 not judged" || return 1
    all=$(wc -l <tests/gate/cases/large.jsonl)
    head -n 1 tests/gate/cases/large.jsonl >"$work/one.jsonl"
    subcommand=replay status 2 "$work/one.jsonl" --kernel "$work/wide.c" && has "no verdict: " &&
        subcommand=replay status 0 tests/gate/cases/large.jsonl --kernel "$work/wide.c" &&
        has "1 of $all cases right, 0 wrong, 0 not taken, $((all - 1)) not judged"
}

# A case behind another one, from a pipe as from a file.
replay_from_a_pipe() {
    status 1 --kernel "$kernels/gate/cheats/zeros.so" --cases 12 --save "$work/zeros" || return 1
    local file=$work/zeros/wrong.json
    python3 - "$file" <<'END' || return 1
import json, sys
case = json.load(open(sys.argv[1]))
case["before"] = case["recipe"]
json.dump(case, open(sys.argv[1], "w"))
END
    subcommand=replay status 0 "$file" --kernel "$example" &&
        has "after this case, in the same process" || return 1
    "$chunkproof" replay /dev/stdin --kernel "$example" >"$work/piped" 2>&1 < <(cat "$file")
    cmp "$work/out" "$work/piped" || return 1
    "$chunkproof" replay <(cat "$file") --kernel "$example" >"$work/piped" 2>&1
    cmp "$work/out" "$work/piped"
}

# ---- Compilers ----

long_flags() {
    local flags
    flags=$(printf -- '-DNAME_%d ' $(seq 1 2000))
    CFLAGS="-O2 $flags -DLAST" status 2 --kernel "$example" --cases 1 &&
        says "the command line of" && says "is too long" || return 1
    flags=$(printf -- '-DNAME_%d ' $(seq 1 300)) # as many as fit: the last one arrives
    printf '#ifndef LAST\n#error it is lost\n#endif\n' | cat - "$example" >"$work/last.c"
    CFLAGS="-O2 $flags -DLAST" status 0 --kernel "$work/last.c" --cases 1
}

compiler_hangs() {
    printf '#!/bin/bash\ntrap "" TERM\n(exec -a fight-cc-%s sleep 1000) &\nsleep 1000\n' $$ \
        >"$work/cc"
    chmod +x "$work/cc"
    CC=$work/cc status 2 --kernel "$example" --compile 0.5 &&
        says "$work/cc did not end within 0.5 s, and was ended" && clean &&
        ! grep -qa "^fight-cc-$$" /proc/[0-9]*/cmdline 2>/dev/null
}

# One that is told to end removes the files that it has begun, as gcc and clang do.
compiler_tidies_up() {
    cat >"$work/cc" <<'END'
#!/bin/bash
trap 'sleep 0.3; rm "$TMPDIR/half.o"; exit 1' TERM
touch "$TMPDIR/half.o"
sleep 1000 &
wait
END
    chmod +x "$work/cc"
    CC=$work/cc status 2 --kernel "$example" --compile 1 &&
        says "$work/cc did not end within 1 s, and was ended" && clean
}

# What names the lines of a source is waited for once.
no_lines() {
    mkdir -p "$work/tools"
    printf '#!/bin/sh\nsleep 1000\n' >"$work/tools/addr2line"
    chmod +x "$work/tools/addr2line"
    sed 's/o\[i\] = 0.0f/o[i + 100000] = 0.0f/' tests/example/paged_kernel.cu >"$work/outside.cu"
    local began=$SECONDS
    PATH=$work/tools:$PATH status 1 --kernel "$work/outside.cu" --on executor --cases 12 &&
        has "in code+0x" && [ $((SECONDS - began)) -lt 60 ]
}

# ---- Asked for sizes ----

# interrupted ARGUMENT...: Ctrl-C after a second ends it.
interrupted() {
    "$chunkproof" gate "$@" >"$work/out" 2>&1 &
    local process=$! found=0
    sleep 1
    kill -INT $process
    wait $process || found=$?
    [ $found = 130 ] || { echo "status $found"; cat "$work/out"; return 1; }
}

# refuses() that takes its time is held to --time, and to Ctrl-C.
slow_to_refuse() {
    local began=$SECONDS
    fights slow-to-refuse 2 --time 1 && has "NO VERDICT" && [ $((SECONDS - began)) -lt 9 ] ||
        return 1
    fights slow-to-refuse 2 --seconds 0.5 --cases 3 &&
        has "took the time of a call before they took any" && [ $((SECONDS - began)) -lt 18 ] ||
        return 1
    FIGHT=slow-to-refuse interrupted --kernel "$fights"
}

# The same of a kernel that merges: 20 ms for each of 1,000 sizes of a case.
slow_to_refuse_a_merge() {
    local began=$SECONDS slow=$kernels/gate/merge_slow.so
    status 2 --kernel "$slow" --cases 12 --time 1 && has "NO VERDICT" &&
        has "left too few cases" && [ $((SECONDS - began)) -lt 9 ] || return 1
    status 2 --kernel "$slow" --cases 3 --jobs 1 --seconds 0.5 &&
        has "took the time of a call before they took any" && [ $((SECONDS - began)) -lt 18 ] ||
        return 1
    interrupted --kernel "$slow"
}

changes_its_answer() {
    fights changes-refuses 1 && grep -q "^remembers, .*; breaks GATE-4" "$work/out" &&
        has "when it was asked again" && fights changes-workspace 1 &&
        has "workspace() asked for" && has "when it was asked again with the same numbers"
}

never_answers() {
    fights becomes-another-program 1 --seconds 0.5 --first && has "hangs, 1 case"
}

# ---- What it does to its own process ----

# Whatever ends the run, what was found before stays found.
unmaps() {
    fights unmaps 1 && grep -q "^out-of-bounds, .*; breaks GATE-3" "$work/out" &&
        has "unmapped memory that is not its own" && has "of 12 cases wrong"
}

lowers_limits() {
    fights lowers-limits 0 && has "right: 0 of 12 cases wrong"
}

# It crashes, and then its file is another one, so that no more can be run.
findings_are_kept() {
    cp "$fights" "$work/place.so"
    # shellcheck disable=SC2016 # the loader's name of its directory: it is loaded from its place
    printf '$ORIGIN' >>"$work/place.so"
    FIGHT=crashes-late "$chunkproof" gate --kernel "$work/place.so" --json "$work/kept.json" \
        >"$work/out" 2>"$work/err" &
    local process=$! found=0
    sleep 0.6
    touch "$work/place.so"
    wait $process || found=$?
    [ $found = 1 ] && says "the file was replaced during the run" && has "crashed, " &&
        has "an error ended the run after" && [ -s "$work/kept.json" ]
}

# The file is replaced by a right one during the run: what was there first is judged.
replaced() {
    cp "$fights" "$work/mine.so"
    FIGHT=crashes-late "$chunkproof" gate --kernel "$work/mine.so" --cases 4 >"$work/out" 2>&1 &
    local process=$! found=0
    sleep 0.5
    cp "$kernels/gate/reversed.so" "$work/mine.new" && mv "$work/mine.new" "$work/mine.so"
    wait $process || found=$?
    [ $found = 1 ] && has "4 of 4 cases wrong" && clean
}

# ---- Limits of the system ----

small_stack() {
    (ulimit -S -s 256 && status 0 --kernel "$kernels/gate/reversed.so" --cases 60 --jobs 2 \
        --json "$work/stack.json") || return 1
    (ulimit -s 256 && status 2 --kernel "$kernels/gate/reversed.so" --cases 60) &&
        says "the stack may have only 256 KiB here"
}

# More memory than there is ends with a message.
no_memory() {
    sed 's/^static size_t workspace(const struct cp_kernel_call \*call) {/&\
    if (call->n_heads > 0) {\
        return (size_t)1 << 42;\
    }/' "$example" >"$work/large.c"
    status 2 --kernel "$work/large.c" --cases 3 --memory 60000 &&
        says "GiB of memory, and the system has"
}

many_cases() {
    wrong "--cases needs a whole number from 1 to 1000000000" --kernel x \
        --cases 9223372036854775807 &&
        wrong "--case needs a whole number from 0 to 999999999" --kernel x \
            --case 9223372036854775807
}

# ---- Files ----

one_file() {
    cp "$example" "$work/mine.c"
    ln "$work/mine.c" "$work/hard"
    ln -s nothing "$work/soft"
    ln -s ./nothing "$work/soft2"
    wrong "--kernel and --json name the same file" --kernel "$work/mine.c" --json "$work/hard" &&
        wrong "--kernel and --json name the same file" --kernel "$work/mine.c" \
            --json "$work/../$(basename "$work")/mine.c" &&
        wrong "--json and --html name the same file" --kernel "$work/mine.c" \
            --json "$work/new" --html "$work/./new" &&
        wrong "--json and --html name the same file" --kernel "$work/mine.c" \
            --json "$work/soft" --html "$work/soft2" &&
        cmp "$example" "$work/mine.c"
}

# saves FILE OPTION: --save would write FILE, which OPTION names too.
saves() {
    wrong "$2 and --save name the same file" --kernel "$work/mine.c" --save "$work/cases" \
        "${@:2}" "$1"
}

# The cases have names of their own in the directory of --save, and the progress has two more.
one_file_of_many() {
    local cases=$work/cases
    mkdir "$cases"
    cp "$example" "$work/mine.c"
    ln -s "$work/./cases" "$work/cases-too"
    cp "$example" "$cases/wrong.json"
    ln "$cases/wrong.json" "$work/hard.json"
    ln -s cases/hangs.json "$work/soft.json"
    saves "$cases/wrong.json" --json && saves "$work/cases-too/crashed.json" --html &&
        saves "$work/hard.json" --junit && saves "$work/soft.json" --json &&
        saves "$cases/exited.json" --state &&
        wrong "--kernel and --save name the same file" --kernel "$work/hard.json" \
            --save "$cases" &&
        wrong "--json and --state name the same file" --kernel "$work/mine.c" \
            --json "$work/state.new" --state "$work/state" &&
        cmp "$example" "$cases/wrong.json" &&
        status 1 --kernel "$kernels/gate/cheats/zeros.so" --cases 12 --save "$cases" \
            --json "$cases/report.json" && [ -s "$cases/report.json" ]
}

# Nothing is half written, and what could not be written is said.
full_disks() {
    local option
    for option in --json --junit --html; do
        status 2 --kernel "$kernels/gate/reversed.so" --cases 3 $option /dev/full &&
            says "$option /dev/full: the report cannot be written: No space left" || return 1
    done
    on_a_mount size=16k 'dd if=/dev/zero of=full bs=1k count=12 2>/dev/null
        ! said=$("$chunkproof" gate --kernel "$kernels/gate/cheats/zeros.so" --cases 12 \
            --html report 2>&1)
        grep -q "report cannot be written: No space left" <<<"$said" && [ ! -e report ]
        ! said=$("$chunkproof" gate --kernel "$kernels/gate/cheats/zeros.so" --cases 12 \
            --state state 2>&1)
        grep -q "state: No space left" <<<"$said" && [ ! -s state ]'
}

# on_a_mount OPTIONS COMMANDS: runs them in a directory that is mounted so.
on_a_mount() {
    unshare --user --map-root-user --mount true 2>/dev/null || { echo "# no mount"; return 0; }
    mkdir -p "$work/mount"
    export chunkproof kernels example
    unshare --user --map-root-user --mount bash -euc \
        'mount -t tmpfs -o "$1" none "$2" && cd "$2" && eval "$3"' - "$1" "$work/mount" "$2"
}

# A kernel in such a directory is copied; a compiled one cannot be run there.
no_programs() {
    example=$(realpath "$example") on_a_mount noexec 'cp "$kernels/gate/reversed.so" .
        "$chunkproof" gate --kernel reversed.so --cases 3
        ! TMPDIR=$PWD "$chunkproof" gate --kernel "$example" --cases 3 2>out
        grep -q "noexec: set TMPDIR to another directory" out'
}

# ended_by SIGNAL, which whoever runs the tests may ignore: nothing is left in $TMPDIR.
ended_by() {
    env --default-signal "$chunkproof" gate --kernel "$example" --tier deep \
        >"$work/out" 2>"$work/err" &
    local process=$! found=0
    sleep 1
    [ -n "$(ls "$work/tmp")" ] || { echo "it compiles elsewhere"; return 1; }
    kill "-$1" $process
    wait $process || found=$?
    [ $found = 130 ] && clean
}

# ---- Containment ----

held() {
    python3 - "$work/held.json" "$1" <<'END'
import json, sys
sys.exit(not json.load(open(sys.argv[1]))["held_from"][sys.argv[2]])
END
}

# Each of these is tried by the kernel, and comes to nothing where the report says so.
contained() {
    echo mine >"$work/mine.txt"
    FIGHT_FILE=$work/mine.txt FIGHT_NEW=$work/new.txt fights writes 0 --json "$work/held.json" ||
        return 1
    if held no_writes; then
        [ "$(cat "$work/mine.txt")" = mine ] && [ ! -e "$work/new.txt" ] || return 1
    else
        echo "# no Landlock here"
    fi
    fights signals 0 --json "$work/held.json" && held no_signals || return 1
    # What is not held from them does them, so that the above says something.
    CHUNKPROOF_LANDLOCK=off FIGHT_FILE=$work/mine.txt FIGHT_NEW=$work/new.txt fights writes 0 \
        --json "$work/held.json" && ! held no_writes && has "NOT HELD from changing files" &&
        [ -e "$work/new.txt" ] && CHUNKPROOF_LANDLOCK=off fights signals 1 --first &&
        has "returned 7"
}

# A process that left the group, the session and its parent.
no_orphans() {
    FIGHT_NAME=fight-of-$$ fights leaves-a-daemon 0 --json "$work/held.json" && held no_orphans ||
        return 1
    sleep 0.3
    ! grep -qa "^fight-of-$$" /proc/[0-9]*/cmdline 2>/dev/null
}

# What a kernel prints: quoted, and not without end.
prints() {
    fights prints 0 || return 1
    [ "$(stat -c %s "$work/err")" -lt 100000 ] && says "more of what it prints is left out" &&
        says 'kernel: \x1B[31mred' && ! grep -q $'\x1b' "$work/err"
}

ok "replay: no bound holds" replay_claims_nothing
ok "replay: the earlier case, from a pipe" replay_from_a_pipe
ok "CFLAGS that are too long" long_flags
ok "a compiler that hangs" compiler_hangs
ok "a compiler with files of its own" compiler_tidies_up
# A sanitizer's runtime library for C++ is not in the command: CUDA does not link there.
grep -q __asan_init "$chunkproof" || ok "a tool that hangs" no_lines
ok "refuses() that takes its time" slow_to_refuse
ok "refuses() of a merge that takes its time" slow_to_refuse_a_merge
ok "refuses() and workspace() that change their answer" changes_its_answer
ok "a process that never answers" never_answers
ok "a kernel that unmaps memory" unmaps
ok "a kernel that lowers its limits" lowers_limits
ok "a kernel that is replaced" replaced
ok "what was found is kept" findings_are_kept
ok "a small stack" small_stack
ok "more memory than there is" no_memory
ok "more cases than there are" many_cases
ok "two names of one file" one_file
ok "two names of a file that is made" one_file_of_many
ok "disks that are full" full_disks
ok "mounts that run nothing" no_programs
ok "the terminal goes away" ended_by HUP
ok "it is to end" ended_by TERM
ok "files and signals" contained
ok "nothing outlives the gate" no_orphans
ok "what a kernel prints" prints
exit $failed
