#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests of the gate's reports (tests/gate_reports.py), one line for each.
#   tests/gate_reports.sh [COMMAND]     COMMAND: the binary, default build/chunkproof
cd "$(dirname "$0")/.." || exit 1
CHUNKPROOF=$(realpath "${1:-build/chunkproof}")
export CHUNKPROOF
python=python3
# Debian's, which python3-jsonschema is for
"$python" -c 'import jsonschema' 2>/dev/null || python=/usr/bin/python3
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$python" -W ignore tests/gate_reports.py --verbose >"$log" 2>&1
status=$?
sed -n -e 's/^\(test_[a-z0-9_]*\) .* \.\.\. ok$/ok - \1/p' \
    -e 's/^\(test_[a-z0-9_]*\) .* \.\.\. \(FAIL\|ERROR\)$/not ok - \1/p' "$log"
[ $status = 0 ] || cat "$log"
exit $status
