#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kernels that are wrong and hide it (tests/gate/deceives.c): none is called right, none hangs the
# gate, and no finding is lost.
#   tests/cli_gate_deceive.sh [COMMAND]
set -u
. "$(dirname "$0")/cli.bash" gate "${1:-}"
deceives=$(dirname "$chunkproof")/tests/gate/deceives.so

# as WORD VERDICT...: the kernel that does WORD has one of these verdicts.
as() {
    local word=$1 verdict
    shift
    DECEIVE=$word status 1 --kernel "$deceives" --cases "${cases-6}" --seconds 1 || return 1
    for verdict in "$@"; do
        if grep -q "^$verdict, [0-9]* case" "$work/out"; then
            return 0
        fi
    done
    echo "none of $*:"
    cat "$work/out"
    return 1
}

# by NAME: a signal that the kernel's process sends to itself is a finding, and ends nothing else.
by() {
    DECEIVE_SIGNAL=$(kill -l "$1") as ends-by-signal crashed hangs
}

# The results when the kernel's own process returns are the results.
own() {
    DECEIVE=is-right-in-the-end status 0 --kernel "$deceives" --cases 6 --seconds 1
}

# Where nothing keeps the gate's handlers, the same reads come to nothing.
unseen() {
    CHUNKPROOF_SANDBOX=off DECEIVE=catches-faults status 0 --kernel "$deceives" --cases 6 &&
        has "hiding its faults"
}

# Without any of it, it is right.
ok "nothing" env DECEIVE=nothing "$chunkproof" gate --kernel "$deceives" --cases 6
ok "V becomes zeros" as changes-v wrote-input
ok "the call has no rows" as changes-the-call wrong
ok "memory is searched for the results" as finds-results wrong
ok "memory becomes shorter" as shrinks-memory wrong
ok "a handler of its own, which stays" as keeps-its-handler out-of-bounds
ok "a handler of its own, for a while" as catches-faults out-of-bounds
ok "the same, where it may" unseen
ok "nothing protects memory any more" as filters-calls crashed out-of-bounds
cases=48 ok "numbers are rounded otherwise" as rounds-otherwise other-bits
ok "another process writes the results" as forks-and-writes wrong other-bits wrote-late
ok "a process with the same memory does" as clones-and-writes wrong other-bits
ok "a timer does" as writes-by-timer out-of-bounds wrote-late
ok "an alarm in the next call" as alarms-later wrong
ok "two processes return" as returns-twice wrong
ok "what another process says does not count" own
ok "the first thread ends" as leaves-main-thread hangs
ok "a child keeps the socket" as leaves-the-socket exited
ok "the end waits" as waits-at-exit wrong
ok "zeros for an answer" as answers-zeros exited
ok "what asks is answered by itself" as answers-by-echo exited
ok "descriptors for the gate" as sends-descriptors exited
ok "directory, locale, environment" as loses-the-way wrong other-bits
ok "memory of the thread" as loses-thread-storage crashed
ok "floating-point traps" as traps-on-numbers crashed wrong exited
ok "a reason that is nowhere" as refuses-nowhere out-of-bounds
for signal in HUP INT KILL PIPE ALRM TERM XCPU; do
    ok "it ends by $signal" by $signal
done
exit $failed
