#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what nvcc made of the kernels with what was committed: registers, spills and static
shared memory of each.

usage: scripts/ptxas.py LOG           compare with kernels/resources.csv
       scripts/ptxas.py LOG --update  rewrite that file

LOG is what nvcc --version and nvcc -Xptxas -v print. A kernel may use more registers as long as the
same number of its blocks fits on a multiprocessor as when the table was written (65536 registers,
allocated in eights). It may not have new spills, and its shared memory must be the same. Dynamic
shared memory belongs to the launch and is not known here. Figures of another release of nvcc than
the table's are printed and not compared.

exit status: 0 as committed, 1 a kernel needs more, is new or is gone, 2 the log has no kernel
"""
import csv
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import TypeAlias

# The kernel and the capability that it was compiled for; a row of the table.
Key: TypeAlias = tuple[str, str]
Row: TypeAlias = dict[str, str | int]

TABLE = pathlib.Path(__file__).resolve().parent.parent / "kernels" / "resources.csv"
COLUMNS = ("kernel", "capability", "registers", "limit", "spilled", "shared", "nvcc")
REGISTERS = 65536  # of a multiprocessor
MOST_REGISTERS = 255  # of a thread
THREADS = {"v2::attend_tasks": 128, "v3::attend_tasks": 128}  # __launch_bounds__; else 1024


def threads_of(kernel: str) -> int:
    """Of a block, at most."""
    widths = re.match(r"v3::widths::attend_widths<(?:\w+, )?\d+, (\d+), \w+, (\d)>", kernel)
    if widths:  # across() of kernels/v3_widths.h
        value_dim, along = int(widths[1]), int(widths[2])
        return 32 * along * (4 if along == 1 and value_dim >= 64 else 2)
    return THREADS.get(kernel.split("<")[0], 1024)


def limit_of(kernel: str, registers: int) -> int:
    """The most registers of a thread with which as many blocks fit."""
    threads = threads_of(kernel)
    blocks = REGISTERS // (threads * (-(-registers // 8) * 8))
    return min(REGISTERS // (threads * blocks) // 8 * 8, MOST_REGISTERS)


def read_log(path: pathlib.Path) -> dict[Key, Row]:
    """{(kernel, capability): its row}."""
    text = subprocess.run(["c++filt"], input=path.read_text(), capture_output=True, text=True,
                          check=True).stdout
    release = re.search(r"release ([\d.]+)", text)
    rows: dict[Key, Row] = {}
    at: Row | None = None
    for line in text.splitlines():
        found = re.search(r"Compiling entry function '(?:void )?chunkproof::([\w:]+<[^']*?>)\(.*'"
                          r" for 'sm_(\w+)'", line)
        if found:
            kernel = re.sub(r"chunkproof::|Real(InBits)?, ", "", found[1])
            at = {"kernel": kernel, "capability": found[2], "spilled": 0, "shared": 0,
                  "nvcc": release[1] if release else "?"}
            rows[kernel, found[2]] = at
        found = re.search(r"(\d+) bytes spill stores", line)
        if found and at:
            at["spilled"] = int(found[1])
        found = re.search(r"Used (\d+) registers", line)
        if found and at:
            shared = re.search(r"(\d+) bytes smem", line)
            at["registers"], at["shared"] = int(found[1]), int(shared[1]) if shared else 0
            at["limit"] = limit_of(str(at["kernel"]), int(at["registers"]))
    return rows


def read_table() -> dict[Key, Row]:
    with open(TABLE, encoding="utf-8", newline="") as file:
        return {(row["kernel"], row["capability"]): row for row in csv.DictReader(file)}


def write_table(rows: Mapping[Key, Row]) -> None:
    with open(TABLE, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows[key] for key in sorted(rows))


def findings_of(rows: Mapping[Key, Row], table: Mapping[Key, Row]) -> Iterator[str]:
    for kernel, capability in sorted(set(rows) ^ set(table)):
        what = "not in the table" if (kernel, capability) in rows else "gone"
        yield f"{kernel} for {capability}: {what}"
    for key in sorted(set(rows) & set(table)):
        row, then = rows[key], table[key]
        for column, most in (("registers", "limit"), ("spilled", "spilled"), ("shared", "shared")):
            if int(row[column]) > int(then[most]):
                yield f"{key[0]} for {key[1]}: {column} {row[column]}, the limit is {then[most]}"


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if len(sys.argv) == 2 else 2
    rows = read_log(pathlib.Path(sys.argv[1]))
    if not rows:
        print(f"scripts/ptxas.py: {sys.argv[1]} has no kernel: is it what nvcc -Xptxas -v printed?",
              file=sys.stderr)
        return 2
    if "--update" in sys.argv:
        write_table(rows)
    table = read_table()
    releases = {str(row["nvcc"]) for one in (rows, table) for row in one.values()}
    if len(releases) > 1:
        for row in rows.values():
            print(*(f"{column} {row[column]}" for column in COLUMNS), sep=", ")
        print(f"kernels {len(rows)}, compared 0: releases {', '.join(sorted(releases))} of nvcc")
        return 0
    findings = list(findings_of(rows, table))
    print("\n".join(findings + [f"kernels {len(rows)}, above their limits {len(findings)}"]))
    if findings:
        print("if that is meant: make cuda-table, and look at kernels/resources.csv")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
