#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tests of what keeps the checks short (tests/minutes.py), one line for each.
cd "$(dirname "$0")/.." || exit 1
. tests/python.bash
python_tests tests/minutes.py
