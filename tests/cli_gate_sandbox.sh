#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The sandbox of `chunkproof gate`: what a kernel cannot reach in it, and that what is not held from
# a kernel does reach it. Where the system has no sandbox, that it says so.
#   tests/cli_gate_sandbox.sh [COMMAND]
set -u
. "$(dirname "$0")/cli.bash" gate "${1:-}"
kernels=$(dirname "$chunkproof")/tests
fights=$kernels/gate/fights.so
key=0x66696768 # of the memory that fights.c makes

# fights WORD STATUS ARGUMENT...: tests/gate/fights.c does that.
fights() {
    local word=$1 wanted=$2
    shift 2
    FIGHT=$word status "$wanted" --kernel "$fights" --cases 3 --json "$work/held.json" "$@"
}

# Without any of it: neither the sandbox, nor Landlock.
free() {
    CHUNKPROOF_SANDBOX=off CHUNKPROOF_LANDLOCK=off "$@"
}

held() {
    python3 -c 'import json, sys
sys.exit(not json.load(open(sys.argv[1]))["held_from"][sys.argv[2]])' "$work/held.json" "$1"
}

# ---- Having it ----

it_is_there() {
    fights nothing 0 --sandbox && held no_network && held no_others && held no_ipc &&
        held no_orphans
}

off_is_said() {
    free fights nothing 0 && ! held no_network && ! held no_others && has "NOT HELD from" &&
        CHUNKPROOF_SANDBOX=off wrong "no sandbox while CHUNKPROOF_SANDBOX is \"off\"; unset it" \
            --kernel "$fights" --sandbox
}

# As where the system gives no more namespaces: here it gives one, for this test.
without_namespaces() {
    local inside='echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
    unshare --user --map-root-user bash -c "$inside" - "$chunkproof" gate --kernel "$fights" \
        --cases 3 "$@" >"$work/out" 2>"$work/err"
}

none_is_said() {
    unshare --user --map-root-user true 2>/dev/null || { echo "# no namespace here"; return 0; }
    local found=0
    without_namespaces --json "$work/held.json" || { cat "$work/err"; return 1; }
    ! held no_network && has "NOT HELD from" && has "any network" || return 1
    without_namespaces --sandbox || found=$?
    [ $found = 2 ] && [ ! -s "$work/out" ] && says "does not give the sandbox namespaces" &&
        says "raise user.max_user_namespaces"
}

# ---- What it holds ----

# listen: a datagram for the kernel's process to send; what came is in $work/heard.
listen() {
    python3 - "$work" <<'END' &
import pathlib, socket, sys
work = pathlib.Path(sys.argv[1])
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
    heard.bind(("127.0.0.1", 0))
    heard.settimeout(20)
    (work / "port.new").write_text(str(heard.getsockname()[1]))
    (work / "port.new").rename(work / "port")
    try:
        (work / "heard").write_bytes(heard.recv(100))
    except TimeoutError:
        pass
END
    listener=$!
    until [ -e "$work/port" ]; do sleep 0.05; done
}

network() {
    listen
    export FIGHT_PORT
    FIGHT_PORT=$(cat "$work/port")
    fights sends 0 --sandbox && sleep 0.2 && [ ! -e "$work/heard" ] &&
        free fights sends 0 && wait "$listener" &&
        [ "$(cat "$work/heard")" = heard ]
}

# What it makes ends with it.
memory_of_others() {
    ! ipcs -m | grep -q "$key" || { echo "somebody has this key"; return 1; }
    fights leaves-memory 0 --sandbox && ! ipcrm -M "$key" 2>/dev/null &&
        free fights leaves-memory 0 && ipcrm -M "$key"
}

# Memory that no limit counts, because no process has it mapped.
memory_of_nobody() {
    fights hides-memory 0 --sandbox && free fights hides-memory 1 --first && has "returned 7"
}

attributes() {
    local was
    echo mine >"$work/mine.txt"
    chmod 600 "$work/mine.txt"
    was=$(stat -c '%a %u %Y' "$work/mine.txt")
    FIGHT_FILE=$work/mine.txt fights changes-attributes 0 --sandbox || return 1
    held no_attributes || { echo "# not on this system"; return 0; }
    [ "$(stat -c '%a %u %Y' "$work/mine.txt")" = "$was" ] &&
        FIGHT_FILE=$work/mine.txt free fights changes-attributes 0 &&
        [ "$(stat -c '%a %u %Y' "$work/mine.txt")" != "$was" ]
}

# A kernel may name its threads, with the sandbox and with Landlock alone: drivers do.
names() {
    fights names-a-thread 0 --sandbox && CHUNKPROOF_SANDBOX=off fights names-a-thread 0
}

others() {
    fights looks-around 0 --sandbox && free fights looks-around 1 --first && has "returned 7"
}

# More processes than a kernel may have: whoever the user is. Where the system does not count them,
# the first process of the sandbox does, and ends it. Beside other work, thousands of forks of a
# sanitized command take more than the seconds of a call.
processes() {
    local long=(--seconds 200)
    fights forks 0 --sandbox "${long[@]}" >"$work/said" ||
        has "started more than 2048 processes" || return 1
    held few_processes || return 1
}

# Without the sandbox: the system limits a user, and the gate counts what root starts, its children
# as well as those that left it.
processes_of_all() {
    local word long=(--first --seconds 200)
    for word in forks forks-away; do
        if [ "$(id -u)" != 0 ]; then
            free fights $word 0 "${long[@]}"
        else
            free fights $word 1 "${long[@]}" && has "started more than 2048 processes"
        fi && held few_processes || return 1
    done
}

# ---- The gate is killed ----

left() {
    grep -la "^fight-of-$$" /proc/[0-9]*/cmdline 2>/dev/null
}

# killed WORD: a process of the kernel's that left its group, its session and its parent, while the
# kernel goes on, or waits and does not see that the gate is gone.
killed() {
    local process
    FIGHT=$1 FIGHT_NAME=fight-of-$$ "$chunkproof" gate --kernel "$fights" --tier deep \
        --jobs 1 --seconds 100 --sandbox >"$work/out" 2>"$work/err" &
    process=$!
    for _ in $(seq 100); do
        [ -z "$(left)" ] || break
        sleep 0.05
    done
    [ -n "$(left)" ] || { echo "it left nothing"; return 1; }
    kill -KILL "$process"
    wait "$process" 2>/dev/null
    for _ in $(seq 20); do
        [ -n "$(left)" ] || return 0
        sleep 0.1
    done
    echo "it is still there: $(left)"
    return 1
}

ok "no sandbox where it is off" off_is_said
ok "too many processes without it" processes_of_all
ok "no sandbox where the system has none" none_is_said
if ! "$chunkproof" gate --kernel "$fights" --cases 1 --sandbox >/dev/null 2>"$work/why"; then
    echo "# no sandbox here: $(cat "$work/why")"
    exit $failed
fi
ok "the sandbox is there" it_is_there
ok "no network" network
ok "no memory of others, and none is left" memory_of_others
ok "no memory that no limit counts" memory_of_nobody
ok "modes, owners and times" attributes
ok "names of threads" names
ok "no other process" others
ok "too many processes" processes
ok "the gate is killed" killed leaves-a-daemon
ok "the gate is killed in a call" killed waits-for-a-daemon
exit $failed
