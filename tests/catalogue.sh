#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests of the catalogue of seeded faults (tests/catalogue.py, tests/kills.py,
# tests/explain_grades.py, tests/shell_faults.py), one line for each.
cd "$(dirname "$0")/.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
for tests in catalogue kills explain_grades shell_faults; do
    python3 tests/$tests.py --verbose >>"$log" 2>&1 || status=1
done
sed -n -e 's/^\(test_[a-z0-9_]*\) .* \.\.\. ok$/ok - \1/p' \
    -e 's/^\(test_[a-z0-9_]*\) .* \.\.\. \(FAIL\|ERROR\)$/not ok - \1/p' "$log"
[ $status = 0 ] || cat "$log"
exit $status
