#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The papers' questions on a small decoder, and their statistics (tests/model/test_questions.py).
#   tests/questions.sh [COMMAND]    default build/chunkproof
set -u
CHUNKPROOF_COMMAND=$(realpath "${1:-build/chunkproof}")
export CHUNKPROOF_COMMAND
cd "$(dirname "$0")/.." || exit 1
. tests/python.bash
python_tests tests/model/test_questions.py
