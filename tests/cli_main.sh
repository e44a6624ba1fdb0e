#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command's own face: help, version, and what it says to bad use.
#   tests/cli_main.sh build/chunkproof
set -u
chunkproof=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

report() { # report STATUS NAME
    if [ "$1" = 0 ]; then
        echo "ok - $2"
    else
        echo "not ok - $2"
        sed 's/^/# /' "$work/out" "$work/err"
        failed=1
    fi
}

# expect STATUS [ARGUMENT...]: runs the command; true when it ends with STATUS.
expect() {
    wanted=$1
    shift
    "$chunkproof" "$@" >"$work/out" 2>"$work/err" </dev/null
    [ $? = "$wanted" ]
}
nothing_on() { [ ! -s "$work/$1" ]; }
says() { grep -qi -e "$2" "$work/$1"; }

expect 0 --help && nothing_on err && says out '^usage: chunkproof' && says out '^exit status'
report $? "--help explains itself on standard output"

expect 0 --version && nothing_on err &&
    [ "$(cat "$work/out")" = "chunkproof $(awk '$2 == "CP_VERSION" { print $3 }' \
        "$(dirname "$0")/../include/chunkproof/version.h" | tr -d '"')" ]
report $? "--version is the headers' version"

expect 2 && nothing_on out && says err '^usage: chunkproof'
report $? "no command is bad use"

expect 2 no-such-command && nothing_on out && says err "unknown command 'no-such-command'"
report $? "an unknown command is named"

"$chunkproof" --help >"$work/help"
expect 0 help && nothing_on err && cmp -s "$work/out" "$work/help"
report $? "help is --help"

expect 2 help no-such-command && nothing_on out && says err "unknown command 'no-such-command'"
report $? "help for an unknown command names it"

expect 2 --no-such-option && nothing_on out && says err "unknown option '--no-such-option'"
report $? "an unknown option is named"

for command in gate replay explain trace simulate bench show tables prompt bound model; do
    "$chunkproof" --help | grep -q "^  $command " && expect 0 "$command" --help && nothing_on err &&
        says out "^\(usage:\)\? *chunkproof $command" && says out 'exit status'
    report $? "$command: listed, and --help explains it"

    expect 0 help "$command" && nothing_on err && says out "^\(usage:\)\? *chunkproof $command"
    report $? "$command: help describes it, too"

    expect 2 "$command" --no-such-option && nothing_on out && says err 'no-such-option'
    report $? "$command: an unknown option is named"
done

# twice COMMAND OPTION VALUE VALUE: the command takes one value.
twice() {
    expect 2 "$1" "--$2" "$3" "--$2" "$4" && nothing_on out &&
        says err "^chunkproof [a-z -]*: --$2 is given twice, as '$3' and as '$4'; give it once"
    report $? "$1: an option has one value"
}

# No disk has room: the reason is said.
full() {
    "$chunkproof" "$@" >/dev/full 2>"$work/err"
    [ $? = 2 ] && [ "$(cat "$work/err")" = \
        "chunkproof $1: standard output cannot be written: No space left on device" ]
}
if [ -w /dev/full ]; then
    for command in gate replay explain trace simulate bench show tables prompt bound model; do
        : >"$work/out"
        full "$command" --help
        report $? "$command: why standard output cannot be written"
    done
    "$chunkproof" --help >/dev/full 2>"$work/err"
    [ $? = 2 ] && says err 'standard output cannot be written: No space'
    report $? "--help: why standard output cannot be written"
fi

twice trace seed 1 2
twice simulate seed 1 1
twice bench seconds 1 2
twice show window 3 5
twice tables model llama2-7b llama2-13b
twice prompt tokens 1 2
twice bound output fp16 fp32
twice model limit 1 2
expect 2 simulate --modules --seed 1 --seed 2 && nothing_on out && says err "seed is given twice"
report $? "simulate --modules: an option has one value"

expect 0 bench --list --peer a --peer b && nothing_on err
report $? "bench: as many peers as are named"
exit $failed
