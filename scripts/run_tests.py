#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs built test programs and shell tests, and counts what they say.

    scripts/run_tests.py --build build                      all of them
    scripts/run_tests.py --build build/clang --only unit    tests/test_*.c
    scripts/run_tests.py --build build/clang --only simt    tests/test_*.cpp: the kernels' executor
    scripts/run_tests.py --build build --only shell         tests/*.sh, each with the command's path
    scripts/run_tests.py --build build pool install         these stems
    scripts/run_tests.py --build build --except "gate*"     all but those with such a stem
    scripts/run_tests.py --build build --wrap "valgrind -q" the programs under another one
    scripts/run_tests.py --build build --sample 4           of four tests about one: which, the
                                                            commit says (scripts/samples.py)

A program says `ok ...` or `not ok ...` on a line for each test (TAP; cmocka is asked for it). It
fails also when it says nothing, or less than its plan (`1..N`), ends with another status than 0,
dies, or runs past the time limit. `ok N # SKIP why` is a skip, with STRICT=1 a failure.
The longest test of the last run (BUILD/tests.seconds) begins first. A line shows a test's time by
the clock and, as CPU, that of all processors. The last line is the totals, N passed, N failed, and
what failed first in each program that did: it is what a table of stages shows of the run.
"""

import argparse
import fnmatch
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeAlias

sys.dont_write_bytecode = True
import samples  # noqa: E402

Test: TypeAlias = tuple[str, list[str]]  # its stem, and its command line

# Where no run has left its times: those that take longest, the longest first.
LONGEST = (
    "explain_faults.sh",
    "gate_reports.sh",
    "cli_gate.sh",
    "scripts.sh",
    "cli_explain.sh",
    "cli_gate_cuda.sh",
    "test_opt_tiny",
    "test_tiny",
    "test_kernels",
    "test_simt",
)


def stem(path: str) -> str:
    return re.sub(r"^test_", "", os.path.splitext(os.path.basename(path))[0])


def find(build: str, only: Sequence[str] | None, stems: Sequence[str],
         leave_out: Sequence[str]) -> list[Test]:
    """The tests to run, of all kinds or of some: (stem, argument list)."""
    command = os.path.abspath(os.path.join(build, "chunkproof"))
    unit, simt = (
        [
            (stem(path), [os.path.join(build, "tests", "test_" + stem(path))])
            for path in sorted(glob.glob(pattern))
        ]
        for pattern in ("tests/test_*.c", "tests/test_*.cpp")
    )
    programs = os.path.join(build, "tests", "gpu")
    simt.append(("gpu_check", ["scripts/gpu.py", "check", programs, programs, "--small"]))
    simt.append(
        (
            "gpu_bench",
            ["scripts/gpu.py", "bench", programs, os.path.join(build, "tests", "bench"), "--small"],
        )
    )
    shell = [(stem(path), ["bash", path, command]) for path in sorted(glob.glob("tests/*.sh"))]
    kinds = {"unit": unit, "simt": simt, "shell": shell}
    chosen = [test for kind in only or kinds for test in kinds[kind]]
    if stems:
        unknown = set(stems) - {name for name, _ in chosen}
        if unknown:
            sys.exit("run_tests: no such test: " + ", ".join(sorted(unknown)))
        chosen = [test for test in chosen if test[0] in stems]
    return [
        test for test in chosen
        if not any(fnmatch.fnmatchcase(test[0], pattern) for pattern in leave_out)
    ]


def run(argv: Sequence[str], limit: float) -> tuple[int | None, str, float]:
    """Runs one program; (exit status, None past the limit; output; seconds of all processors)."""
    environment = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP")
    try:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment,
        )
    except OSError as error:
        return 127, str(error), 0.0
    late = threading.Event()

    def stop() -> None:
        late.set()
        child.kill()

    timer = threading.Timer(limit, stop)
    timer.start()
    try:
        assert child.stdout is not None  # a pipe
        with child.stdout:
            output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)  # of the child and all that it waited for
    finally:
        timer.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    return None if late.is_set() else child.returncode, output, usage.ru_utime + usage.ru_stime


def seconds_file(build: str, wrap: Sequence[str]) -> str:
    return os.path.join(build, "tests.seconds" + ("." + os.path.basename(wrap[0]) if wrap else ""))


def read_seconds(path: str) -> dict[str, float]:
    """{stem: seconds of processors} of earlier runs; what is not that is as if there was none."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        return {str(name): float(value) for name, value in found.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def keep_seconds(path: str, seconds: Mapping[str, float]) -> None:
    try:
        with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as file:
            json.dump({**read_seconds(path), **seconds}, file, indent=0, sort_keys=True)
        os.replace(file.name, path)
    except OSError:
        pass  # the next run has another order


def file_of(test: Test) -> str:
    """Which tells a program and a shell test with the same stem apart."""
    return os.path.basename(test[1][1] if test[1][0] == "bash" else test[1][0])


def longest_first(tests: Iterable[Test], before: Mapping[str, float]) -> list[Test]:
    """By the times of earlier runs; without them by LONGEST."""
    known = {name: 1e6 - place for place, name in enumerate(LONGEST)}
    return sorted(tests, key=lambda test: -before.get(file_of(test), known.get(file_of(test), 0)))


def judge(status: int | None, output: str, limit: float) -> tuple[int, int, int, str | None]:
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


def first_failure(output: str, why: str | None) -> str:
    """What a program that failed says of it first."""
    found = re.search(r"^not ok\b[ \d-]*(.*)$", output, re.M)
    return why or (found.group(1).strip() if found else "not ok")


def line(counts: Mapping[str, int]) -> str:
    shown = ["passed", "failed"] + (["skipped"] if counts["skipped"] else [])
    return ", ".join(f"{counts[key]} {key}" for key in shown)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default="build")
    parser.add_argument("--only", action="append", choices=("unit", "simt", "shell"))
    parser.add_argument(
        "--except", dest="leave_out", action="append", default=[], metavar="PATTERN"
    )
    parser.add_argument("--sample", default="1", metavar="N", help="N or N:K (scripts/samples.py)")
    parser.add_argument("--wrap", default="", help="a command line that each program is given to")
    parser.add_argument("--limit", type=int, default=600, help="seconds for one program")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("stems", nargs="*")
    options = parser.parse_args()

    wrap = shlex.split(options.wrap)
    kept = seconds_file(options.build, wrap)
    try:
        n, k = samples.read(options.sample)
    except samples.BadSample as problem:
        print(f"scripts/run_tests.py: {problem}", file=sys.stderr)
        return 2
    if n > 1:
        print(f"scripts/run_tests.py: --sample {n}:{k}", file=sys.stderr)
    found = find(options.build, options.only, options.stems, options.leave_out)
    tests = longest_first(
        [test for test in found if samples.has(test[0], n, k)], read_seconds(kept)
    )

    def one(test: Test) -> tuple[Test, str, int, int, int, str | None, float, float]:
        started = time.monotonic()
        status, output, cpu = run(wrap + test[1], options.limit)
        return test, output, *judge(status, output, options.limit), time.monotonic() - started, cpu

    total = {"passed": 0, "failed": 0, "skipped": 0}
    times = {}
    failures = []
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        for done in as_completed([pool.submit(one, test) for test in tests]):
            test, output, passed, failed, skipped, why, seconds, cpu = done.result()
            name = test[0]
            if os.environ.get("STRICT") == "1" and skipped:
                failed, skipped, why = failed + skipped, 0, why or "STRICT=1: a test was skipped"
            counts = {"passed": passed, "failed": failed, "skipped": skipped}
            total = {key: total[key] + counts[key] for key in total}
            times[file_of(test)] = round(cpu, 2)
            print(f"{name:16} {line(counts):24} {seconds:7.1f} s, CPU {cpu:6.1f} s", flush=True)
            if failed:
                print(output.rstrip())
                print(f"{name}: {why or 'see above'}", flush=True)
                failures.append(f"{name}: {first_failure(output, why)}")
    keep_seconds(kept, times)
    if not tests:
        print("no test was found")
        total["failed"] += 1
    print("; ".join([line(total), *failures]))
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
