#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `chunkproof explain` identifies of the faults that have words for it
# (tests/faults/README.md), a line for each: one fault in eight, and all with TIER=deep.
#   tests/explain_faults.sh [COMMAND]     COMMAND: the binary, default build/chunkproof
command=$(realpath "${1:-build/chunkproof}") || exit 2
set --
[ "${TIER-}" = deep ] || set -- --sample 8
exec "$(dirname "$0")/../scripts/faults" --by explain --tap --build "$(dirname "$command")" "$@"
