#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples, for what takes too long to do all of it in each run: of faults, of tests, of kernels.

    scripts/samples.py N[:K] NAME...             prints the names that are in the sample
    scripts/samples.py --in-turn N[:K] NAME...   ... by their places in the list
    scripts/samples.py --rest ...                those that are not in it

Each name is in one of N samples, by its own characters: a name that is new changes no other one's.
In turn, each Nth of the list is in the same sample: for few names, so that samples can be made
equally long. The sample of a run is K, or the one that the commit says that is checked out: over N
commits or some more all are tried. What takes a sample says on standard error which one, as N:K, so
that it can be taken again.

exit status: 0, 2 bad use
"""

import hashlib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


class BadSample(Exception):
    """With what to do instead."""


def commit() -> int:
    """The number of the commit that is checked out; 0: there is none."""
    git = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(git, capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return int(done.stdout, 16) if done.returncode == 0 else 0


def read(text: str) -> tuple[int, int]:
    """N and K."""
    if not (match := re.fullmatch(r"([1-9]\d{0,5})(?::(\d{1,6}))?", text)):
        raise BadSample(f"--sample takes N or N:K, as in --sample 8 or --sample 8:3, not {text}")
    n = int(match[1])
    k = commit() % n if match[2] is None else int(match[2])
    if k >= n:
        raise BadSample(f"--sample {text}: the samples are {n}:0 to {n}:{n - 1}")
    return n, k


def place(name: str) -> int:
    """A number that the characters of a name say, below 2^64."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")


def has(name: str, n: int, k: int) -> bool:
    """Whether sample K of N has the name."""
    return place(name) % n == k


def main(arguments: list[str]) -> int:
    rest, in_turn = "--rest" in arguments[:2], "--in-turn" in arguments[:2]
    arguments = arguments[rest + in_turn :]
    if len(arguments) < 2 or arguments[0] in ("-h", "--help"):
        print((__doc__ or "").strip())
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    try:
        n, k = read(arguments[0])
    except BadSample as problem:
        print(f"scripts/samples.py: {problem}", file=sys.stderr)
        return 2
    print(f"scripts/samples.py: --sample {n}:{k}", file=sys.stderr)
    for turn, name in enumerate(arguments[1:]):
        if (turn % n == k if in_turn else has(name, n, k)) != rest:
            print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
