#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The README shows what the command prints: each line of its picture is a line of figure2.
#   tests/cli_readme.sh build/chunkproof
set -u
readme=$(dirname "$0")/../README.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$1" show --example figure2 >"$work/out" || exit 1
awk '/^build\/chunkproof show --example figure2$/ { inside = 1 } /^## / { inside = 0 }
     inside && /^    ./ { print substr($0, 5) }' "$readme" >"$work/picture"
[ "$(wc -l <"$work/picture")" -gt 10 ] && ! grep -vxF -f "$work/out" "$work/picture"
status=$?
[ $status = 0 ] && echo "ok - the README's picture" || echo "not ok - the README's picture"
exit $status
