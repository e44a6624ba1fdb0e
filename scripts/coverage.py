#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures which lines and branches of ref/ the unit tests reach, and compares with
coverage/threshold.

    scripts/coverage.py          prints what is not reached; exit status 1 below the threshold
    scripts/coverage.py --html   also writes build/coverage/html/index.html

A line may be taken out with LCOV_EXCL_LINE, LCOV_EXCL_BR_LINE or an LCOV_EXCL_START ..
LCOV_EXCL_STOP block; coverage/exclusions.md has to list each, file by file, with its reason.
"""
import glob
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from typing import Literal, TypeAlias, TypedDict

import stages


class Reached(TypedDict):
    """Of a file: whether a line, and a branch of a line, was reached."""
    line: dict[int, bool]
    branch: dict[tuple[int, str, str], bool]


Files: TypeAlias = dict[str, Reached]

OUT = "build/coverage"
INFO = f"{OUT}/coverage.info"
COUNTED = "build/gcc/counted"  # the programs of mk/coverage.mk
# Threads of a test may run the same line at once: increments that are not atomic lose counts. What
# gcov computes from other counts, such as that of a last branch, is then too small, or negative.
COUNTS = "-O0 --coverage -fprofile-update=atomic"
# Tests of other parts, which reach no line of ref/ that the others do not. Those of the gate run
# kernels in processes that they kill, maybe while a process writes what it counted.
OTHERS = ("gate", "gate_*", "device", "elsewhere", "runner", "runner_load", "explain_model",
          "invariance", "merge_kernels", "opt_amx", "opt_bf16", "opt_exp", "opt_scales",
          "opt_scores", "opt_widths", "opt_windows")
MARKER = re.compile(r"LCOV_EXCL_(LINE|BR_LINE|START)")


def run(*argv: str) -> str:
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\ncoverage: {' '.join(argv)}: exit status {done.returncode}")
    return done.stdout


def branch_option() -> str:
    """lcov 2 renamed the option."""
    return "branch_coverage=1" if re.search(r"version 2", run("lcov", "--version")) else \
        "lcov_branch_coverage=1"


def measure() -> None:
    for place in (OUT, "build/verify"):
        os.makedirs(place, exist_ok=True)
    # ref/ alone is measured: all else is what the tests of build/gcc are made of.
    run("sh", "-c", stages.make("gcc", "tests-counted", f"CC=gcc COUNTS='{COUNTS}'"))
    for old in glob.glob(f"{COUNTED}/obj/**/*.gcda", recursive=True):
        os.remove(old)
    run("scripts/run_tests.py", "--build", COUNTED, "--only", "unit", "--jobs", str(stages.JOBS),
        *(word for name in OTHERS for word in ("--except", name)))
    run("lcov", "--quiet", "--rc", branch_option(), "--capture", "--directory",
        f"{COUNTED}/obj/ref", "--base-directory", ".", "--output-file", INFO)


def was_reached(count: str, row: str) -> bool:
    if count.startswith("-") and count != "-":  # "-" is a branch whose line was not reached
        sys.exit(f"coverage: {row.strip()}: a negative count; counters have lost some (COUNTS)")
    return count not in ("-", "0")


def read(path: str) -> Files:
    """{file: {"line": {line: reached}, "branch": {(line, branch): reached}}} of an lcov trace
    file."""
    files: Files = defaultdict(lambda: {"line": {}, "branch": {}})
    with open(path, encoding="utf-8") as info:
        for row in info:
            kind, _, rest = row.strip().partition(":")
            if kind == "SF":
                current = files[os.path.relpath(rest)]
            elif kind == "DA":
                line, count = rest.split(",")[:2]
                current["line"][int(line)] = was_reached(count, row)
            elif kind == "BRDA":
                line, block, branch, count = rest.split(",")
                current["branch"][int(line), block, branch] = was_reached(count, row)
    return {name: data for name, data in files.items() if name.startswith("ref/")}


def percent(files: Files, kind: Literal["line", "branch"]) -> float:
    reached = [hit for data in files.values() for hit in data[kind].values()]
    if not reached:
        sys.exit(f"coverage: no {kind} of ref/ was measured")
    return 100.0 * sum(reached) / len(reached)


def print_missed(files: Files) -> None:
    for name, data in sorted(files.items()):
        lines = [line for line, hit in sorted(data["line"].items()) if not hit]
        branches = sorted({key[0] for key, hit in data["branch"].items() if not hit})
        if lines or branches:
            print(f"{name}: lines not reached {lines}; lines with a branch not taken {branches}")


def check_exclusions() -> list[str]:
    """Findings: markers in ref/ against `- ref/FILE:` items in coverage/exclusions.md."""
    marked: Counter[str] = Counter()
    for path in glob.glob("ref/*.[ch]"):
        with open(path, encoding="utf-8") as source:
            marked[path] = sum(1 for line in source if MARKER.search(line))
    with open("coverage/exclusions.md", encoding="utf-8") as text:
        listed = Counter(re.findall(r"^- (ref/\w+\.[ch]):", text.read(), re.M))
    return [f"{path}: {marked[path]} exclusions marked, "
            f"{listed[path]} listed in coverage/exclusions.md"
            for path in sorted({*marked, *listed}) if marked[path] != listed[path]]


def main() -> int:
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    measure()
    files = read(INFO)
    print_missed(files)
    findings = check_exclusions()
    if sys.argv[1:] == ["--html"]:
        run("genhtml", "--quiet", "--rc", branch_option(),
            "--branch-coverage", "--output-directory",
            f"{OUT}/html", INFO)
        print(f"{OUT}/html/index.html")
    with open("coverage/threshold", encoding="utf-8") as text:
        least = dict(line.split() for line in text if not line.startswith("#"))
    lines, branches = percent(files, "line"), percent(files, "branch")
    for name, got in (("lines", lines), ("branches", branches)):
        if not got >= float(least[name]):
            findings.append(f"{name}: {got:.2f} %, and coverage/threshold asks for {least[name]} %")
    print("\n".join(findings))
    print(f"lines {lines:.2f} %, branches {branches:.2f} %")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
