#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs built test programs and shell tests, and counts what they say.

    scripts/run_tests.py --build build                      all of them
    scripts/run_tests.py --build build/clang --only unit    tests/test_*.c
    scripts/run_tests.py --build build/clang --only simt    tests/test_*.cpp, those of the executor of kernels
    scripts/run_tests.py --build build --only shell         tests/*.sh, each with the command's path
    scripts/run_tests.py --build build pool install         these stems
    scripts/run_tests.py --build build --wrap "valgrind -q" the programs under another one

A program says `ok ...` or `not ok ...` on a line for each test (TAP; cmocka is asked for it). It fails
also when it says nothing, or less than its plan (`1..N`), ends with another status than 0, dies, or
runs past the time limit. `ok N # SKIP why` is a skip, with STRICT=1 a failure.
The last line is the totals: N passed, N failed.
"""
import argparse
import glob
import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor


def stem(path):
    return re.sub(r"^test_", "", os.path.splitext(os.path.basename(path))[0])


def find(build, only, stems, leave_out):
    """The tests to run, of all kinds or of some: (stem, argument list)."""
    command = os.path.abspath(os.path.join(build, "chunkproof"))
    unit, simt = ([(stem(path), [os.path.join(build, "tests", "test_" + stem(path))])
                   for path in sorted(glob.glob(pattern))]
                  for pattern in ("tests/test_*.c", "tests/test_*.cpp"))
    programs = os.path.join(build, "tests", "gpu")
    simt.append(("gpu_check", ["scripts/gpu.py", "check", programs, programs, "--small"]))
    simt.append(("gpu_bench", ["scripts/gpu.py", "bench", programs, os.path.join(build, "tests", "bench"),
                               "--small"]))
    shell = [(stem(path), ["bash", path, command]) for path in sorted(glob.glob("tests/*.sh"))]
    kinds = {"unit": unit, "simt": simt, "shell": shell}
    chosen = [test for kind in only or kinds for test in kinds[kind]]
    if stems:
        unknown = set(stems) - {name for name, _ in chosen}
        if unknown:
            sys.exit("run_tests: no such test: " + ", ".join(sorted(unknown)))
        chosen = [test for test in chosen if test[0] in stems]
    return [test for test in chosen if test[0] not in leave_out]


def run(argv, limit):
    """Runs one program; (exit status, or None when it ran past the limit; output)."""
    environment = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP")
    try:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, errors="replace",
                                 env=environment)
    except OSError as error:
        return 127, str(error)
    try:
        output = child.communicate(timeout=limit)[0]
        return child.returncode, output
    except subprocess.TimeoutExpired:
        child.kill()
        return None, child.communicate()[0]


def judge(status, output, limit):
    """(passed, failed, skipped, why the program as a whole failed or None)."""
    lines = re.findall(r"^(ok|not ok)\b(.*)$", output, re.M)
    skipped = sum("# SKIP" in rest for _, rest in lines)
    passed = sum(verdict == "ok" and "# SKIP" not in rest for verdict, rest in lines)
    failed = len(lines) - passed - skipped
    planned = sum(int(number) for number in re.findall(r"^1\.\.(\d+)$", output, re.M))
    why = None
    if status is None:
        why = f"still running after {limit} s"
    elif status < 0:
        why = f"died of signal {-status}"
    elif status != 0 and failed == 0:
        why = f"exit status {status}"
    elif not lines:
        why = "no test was run"
    elif planned > len(lines):
        why = f"{len(lines)} of {planned} tests were run"
    return passed, failed + (why is not None), skipped, why


def line(counts):
    shown = ["passed", "failed"] + (["skipped"] if counts["skipped"] else [])
    return ", ".join(f"{counts[key]} {key}" for key in shown)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--only", action="append", choices=("unit", "simt", "shell"))
    parser.add_argument("--except", dest="leave_out", action="append", default=[], metavar="STEM")
    parser.add_argument("--wrap", default="", help="a command line that each program is given to")
    parser.add_argument("--limit", type=int, default=600, help="seconds for one program")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("stems", nargs="*")
    options = parser.parse_args()

    tests = find(options.build, options.only, options.stems, options.leave_out)
    wrap = shlex.split(options.wrap)

    def one(test):
        started = time.monotonic()
        status, output = run(wrap + test[1], options.limit)
        return test[0], output, *judge(status, output, options.limit), time.monotonic() - started

    total = {"passed": 0, "failed": 0, "skipped": 0}
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        for name, output, passed, failed, skipped, why, seconds in pool.map(one, tests):
            if os.environ.get("STRICT") == "1" and skipped:
                failed, skipped, why = failed + skipped, 0, why or "STRICT=1: a test was skipped"
            counts = {"passed": passed, "failed": failed, "skipped": skipped}
            total = {key: total[key] + counts[key] for key in total}
            print(f"{name:16} {line(counts):24} {seconds:7.1f} s", flush=True)
            if failed:
                print(output.rstrip())
                print(f"{name}: {why or 'see above'}", flush=True)
    if not tests:
        print("no test was found")
        total["failed"] += 1
    print(line(total))
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
