# SPDX-License-Identifier: Apache-2.0
# What the tests of the command share: `. cli.bash gate "$1"` at their begin, `exit $failed` at
# their end. $1 is the binary, default build/chunkproof; a directory $work is removed at the end.
subcommand=$1
chunkproof=$(realpath "${2:-build/chunkproof}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# ok NAME COMMAND...: one line of the result; what the command printed when it failed.
ok() {
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        sed 's/^/# /' "$work/log"
        failed=1
    fi
}

# status N ARGUMENT...: the command ends with that status; its output is in $work/out and $work/err.
status() {
    local wanted=$1 found=0
    shift
    "$chunkproof" "$subcommand" "$@" >"$work/out" 2>"$work/err" </dev/null || found=$?
    [ "$found" = "$wanted" ] && return
    echo "status $found, not $wanted: $subcommand $*"
    cat "$work/out" "$work/err"
    return 1
}

# has TEXT: the output of the last command has it. says TEXT: its messages do.
has() {
    grep -qF -- "$1" "$work/out" || { echo "no '$1' in:"; cat "$work/out"; return 1; }
}
says() {
    grep -qF -- "$1" "$work/err" || { echo "no '$1' in:"; cat "$work/err"; return 1; }
}

# wrong TEXT ARGUMENT...: bad use: status 2, nothing on standard output, TEXT in the message.
wrong() {
    local text=$1
    shift
    status 2 "$@" || return 1
    [ ! -s "$work/out" ] || { echo "output in spite of bad use"; return 1; }
    grep -qF -- "$text" "$work/err" || { echo "no '$text' in:"; cat "$work/err"; return 1; }
}
