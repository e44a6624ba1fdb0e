#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The regression corpus of the gate: for each seeded fault in a kernel in C the smallest case that
shows it.

usage: scripts/keep_cases.py [NAME...]    of all faults that the gate must notice, or of the named
ones

Writes tests/gate/cases/KERNEL.jsonl, a case on each line, in the order of the faults' names, with
the program of `make BUILD=build/gcc CC=gcc`; without names all of them anew. A case that would take
minutes on the executor of CUDA kernels goes to large.jsonl. A fault that needs the calls before it
leaves no case, nor one whose case another fault has left already. `scripts/gate` replays them all;
on CUDA kernels all but the large ones.

exit status: 0 written, 2 bad use
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

from faulting import gate_build
from faulting.catalogue import ROOT, Fault, load
from faulting.who import GCC

CASES = ROOT / "tests" / "gate" / "cases"
MOST_WORK = 50000  # elements of keys, for all heads: more takes minutes on the executor
Case = dict[str, Any]


def smallest(fault: Fault) -> Case | None:
    """The case of a fault, with its name."""
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        kernel = gate_build.write_c(place, gate_build.kernel_of(fault), fault.source, fault.text())
        subprocess.run(
            [
                "gcc",
                "-O2",
                "-ffp-contract=off",
                "-shared",
                "-fPIC",
                *gate_build.INCLUDES,
                kernel,
                GCC / "libchunkproof.a",
                "-lm",
                "-o",
                kernel.with_suffix(".so"),
            ],
            check=True,
        )
        subprocess.run(
            [
                GCC / "chunkproof",
                "gate",
                "--kernel",
                kernel.with_suffix(".so"),
                "--first",
                "--save",
                place / "cases",
            ],
            capture_output=True,
            check=False,
        )
        found = sorted(place.glob("cases/*.json"))
        return (
            {"fault": fault.name, **json.loads(found[0].read_text(encoding="utf-8"))}
            if found
            else None
        )


def work(recipe: dict[str, Any]) -> int:
    """About what a case costs: sequences that join to make up the number are like the others."""
    operations = recipe["operations"]
    keys = sum(1 + tokens + own for _, _, tokens, own in operations)
    times = max(1, recipe.get("sequences", 0) / len(operations)) * max(1, recipe.get("rows", 0))
    return int(keys * times * recipe["head_dim"] * recipe["n_heads"])


def read() -> list[Case]:
    """All cases that are kept."""
    return [
        json.loads(line)
        for file in sorted(CASES.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def file_of(case: Case) -> str:
    return ("large" if work(case["recipe"]) > MOST_WORK else case["kernel"]) + ".jsonl"


def write(cases: list[Case]) -> None:
    files = collections.defaultdict(list)
    for case in sorted(cases, key=lambda case: str(case["fault"])):
        files[file_of(case)].append(json.dumps(case, separators=(",", ":")) + "\n")
    CASES.mkdir(exist_ok=True)
    for file in CASES.glob("*.jsonl"):
        file.unlink()
    for name, lines in files.items():
        (CASES / name).write_text("".join(lines), encoding="utf-8")


def main() -> int:
    if any(name.startswith("-") for name in sys.argv[1:]):
        print((__doc__ or "").strip())
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    faults = {
        fault.name: fault
        for fault in load()
        if "gate" in fault.fields and gate_build.kernel_of(fault).endswith(".c")
    }
    unknown = [name for name in sys.argv[1:] if name not in faults]
    if unknown:
        print(
            f"scripts/keep_cases.py: no fault in a kernel in C is called {unknown[0]}",
            file=sys.stderr,
        )
        return 2
    chosen = sys.argv[1:] or sorted(faults)
    cases = [case for case in read() if case["fault"] not in chosen] if sys.argv[1:] else []
    known = {json.dumps(case["recipe"], sort_keys=True) for case in cases}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for case in pool.map(lambda name: smallest(faults[name]), chosen):
            recipe = json.dumps(case["recipe"], sort_keys=True) if case else ""
            if case and recipe not in known:
                known.add(recipe)
                cases.append(case)
    write(cases)
    print(f"cases {len(cases)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
