#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What spec/variants.md and spec/README.md say is there (tests/variants.py), one line for each test.
cd "$(dirname "$0")/.." || exit 1
. tests/python.bash
python_tests tests/variants.py
