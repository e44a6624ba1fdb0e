#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prompt programs, from Python to `chunkproof prompt` (tests/programs.py), one line for each test.
#   tests/cli_programs.sh [COMMAND]    default build/chunkproof
set -u
CHUNKPROOF_COMMAND=$(realpath "${1:-build/chunkproof}")
export CHUNKPROOF_COMMAND
cd "$(dirname "$0")/.." || exit 1
. tests/python.bash
python_tests tests/programs.py
