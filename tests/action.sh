#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests of action.yml (tests/action.py), one line for each.
#   tests/action.sh build/chunkproof
command=$(realpath "$1") || exit 1
cd "$(dirname "$0")/.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
python3 tests/action.py "$command" --verbose >"$log" 2>&1
status=$?
sed -n -e 's/^\(test_[a-z_0-9]*\) .* \.\.\. ok$/ok - \1/p' \
    -e 's/^\(test_[a-z_0-9]*\) .* \.\.\. \(FAIL\|ERROR\)$/not ok - \1/p' "$log"
[ $status = 0 ] || cat "$log"
exit $status
