#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests of what documents and workflows name (tests/door.py), one line for each.
cd "$(dirname "$0")/.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
python3 tests/door.py --test --verbose >"$log" 2>&1
status=$?
sed -n -e 's/^\(test_[a-z_0-9]*\) .* \.\.\. ok$/ok - \1/p' \
    -e 's/^\(test_[a-z_0-9]*\) .* \.\.\. \(FAIL\|ERROR\)$/not ok - \1/p' "$log"
[ $status = 0 ] || cat "$log"
exit $status
