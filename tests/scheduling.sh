#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tests of the order in which checks run (tests/scheduling.py), one line for each.
cd "$(dirname "$0")/.." || exit 1
. tests/python.bash
python_tests tests/scheduling.py
