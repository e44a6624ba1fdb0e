#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The papers' questions on a small decoder, and their statistics (tests/questions.py).
#   tests/questions.sh [COMMAND]    default build/chunkproof
set -u
CHUNKPROOF_COMMAND=$(realpath "${1:-build/chunkproof}")
export CHUNKPROOF_COMMAND
cd "$(dirname "$0")/.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
python3 tests/questions.py --verbose >"$log" 2>&1
status=$?
# A test's name, perhaps a line that says what it shows, and how it ended.
awk '/^test_[a-z_]* / { name = $1 } /\.\.\. .*ok$|^ok$/ && name { print "ok - " name; name = "" }
     /\.\.\. (FAIL|ERROR)$|^(FAIL|ERROR)$/ && name { print "not ok - " name; name = "" }' "$log"
[ $status = 0 ] || cat "$log"
exit $status
