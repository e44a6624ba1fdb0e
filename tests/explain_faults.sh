#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `chunkproof explain` identifies of the faults in tests/explain/: tests/explain_faults.py says how.
#   tests/explain_faults.sh [COMMAND]     COMMAND: the binary, default build/chunkproof
exec python3 "$(dirname "$0")/explain_faults.py" "${1:-build/chunkproof}"
