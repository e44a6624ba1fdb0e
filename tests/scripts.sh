#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tests of the scripts (tests/scripts.py, tests/clauses.py), one line for each.
cd "$(dirname "$0")/.." || exit 1
. tests/python.bash
python_tests tests/scripts.py
status=$?
python_tests tests/clauses.py || status=1
exit $status
