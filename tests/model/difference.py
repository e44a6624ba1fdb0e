#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Logits of the fast decoder beside the reference's, for a text: measured, and held to no bound.

    tests/model/difference.py COMMAND WEIGHTS TEXT [TOKENS [WINDOW]]

The first TOKENS tokens (256) of the text, in windows of WINDOW (128). Prints the largest difference
of two logits and at how many tokens the best one is the same. spec/fast.md says why no bound of a
whole model is claimed; the bound of small ones is a test. Exit status 0 measured, 2 bad use, 77 the
model or the text is missing.
"""
import array
import os
import subprocess
import sys
import tempfile


def logits(command: list[str], to: str, options: list[str]) -> "array.array[float]":
    subprocess.run([*command, "--logits", to, *options], check=True, stdout=subprocess.DEVNULL)
    with open(to, "rb") as file:
        return array.array("f", file.read())


def main() -> int:
    if len(sys.argv) not in (4, 5, 6):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    command, weights, text = sys.argv[1:4]
    tokens, window = [*sys.argv[4:], *("256", "128")[len(sys.argv) - 4:]]
    for path in (weights, text):
        if not os.path.exists(path):
            print(f"difference: {path} is missing")
            return 77
    ours = [command, "model", weights, "--text", text, "--limit", tokens, "--window", window]
    counted = subprocess.run([command, "model", weights, "--text", text, "--limit", tokens,
                              "--tokens"], check=True, capture_output=True, text=True)
    n = len(counted.stdout.split())
    with tempfile.TemporaryDirectory() as folder:
        exact = logits(ours, os.path.join(folder, "exact"), [])
        fast = logits(ours, os.path.join(folder, "fast"), ["--fast"])
    width, same, most, size = len(exact) // n, 0, 0.0, 0.0
    for i in range(n):
        row, other = (x[i * width:(i + 1) * width] for x in (exact, fast))
        most = max(most, max(abs(a - b) for a, b in zip(row, other)))
        size = max(size, max(map(abs, row)))
        same += row.index(max(row)) == other.index(max(other))
    print(f"{n} tokens: logits up to {size:.3g}, differences up to {most:.2g}; the best token is "
          f"the same at {same}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
