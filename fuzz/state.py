#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes an input of the fuzz target gate_state from a file of `chunkproof gate --state`.

    fuzz/state.py STATE INPUT

The input says what the file has besides zeros (fuzz/gate_state.c); the words that name its kernel
and its options are left out. Exit status: 0, or 2 for bad use."""
import pathlib
import re
import sys

HEAD, IDENTITY, MOST, MERGES = 48, 1024, 256, 128


def changes(file: bytes, begin: int) -> bytes:
    """Runs of bytes that are not all zeros."""
    made = b""
    for run in re.finditer(rb"[^\0](?:\0{0,3}[^\0])*", file[begin:]):
        for at in range(run.start(), run.end(), MOST):
            piece = run[0][at - run.start():][:MOST]
            made += (begin + at).to_bytes(3, "little") + bytes([len(piece) - 1]) + piece
    return made


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    file = pathlib.Path(sys.argv[1]).read_bytes()
    # A byte for each block of cases ends the file, and the size of the rest is a multiple of 8.
    blocks = len(file[HEAD + IDENTITY:]) % 8 or 8
    kind = MERGES if file[HEAD:].startswith(b"kind merges\n") else 0
    pathlib.Path(sys.argv[2]).write_bytes(bytes([blocks + kind]) + changes(file, HEAD + IDENTITY))
    return 0


if __name__ == "__main__":
    sys.exit(main())
