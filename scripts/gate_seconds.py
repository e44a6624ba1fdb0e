#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `make bench-gate` does: how long tier quick of the gate takes for a kernel of the size of
the example, on a machine that does nothing else.

usage: scripts/gate_seconds.py COMMAND [--kernel FILE] [--times N] [--most SECONDS]

COMMAND is the command `chunkproof`. FILE is the example (tests/example/paged_kernel.c), whose
compiler counts, too. It is gated N times (3), and the median must be at most SECONDS (20).

exit status: 0 it is; 1 it is not; 2 the gate found something, or the kernel cannot be gated
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def seconds_of(command: str, kernel: str) -> float:
    begin = time.monotonic()
    done = subprocess.run([command, "gate", "--kernel", kernel, "--tier", "quick"],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(done.stdout, end="")
        print(f"gate_seconds: exit status {done.returncode} for {kernel}; a right kernel is timed",
              file=sys.stderr)
        raise SystemExit(2)
    return time.monotonic() - begin


def main() -> int:
    parser = argparse.ArgumentParser(usage=(__doc__ or "").split("\n\n")[1][7:])
    parser.add_argument("command")
    parser.add_argument("--kernel", default=str(ROOT / "tests/example/paged_kernel.c"))
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--most", type=float, default=20.0)
    options = parser.parse_args()
    if options.times < 1:
        parser.error("--times is 1 or more")
    taken = []
    for _ in range(options.times):
        taken.append(seconds_of(options.command, options.kernel))
        print(f"gate_seconds: {taken[-1]:.1f} s", file=sys.stderr, flush=True)
    median = statistics.median(taken)
    print(f"tier quick of {pathlib.Path(options.kernel).name}: median {median:.1f} s of "
          f"{options.times}, at most {options.most:g} s")
    return 0 if median <= options.most else 1


if __name__ == "__main__":
    sys.exit(main())
