#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The regression corpus of the gate: for each seeded fault the smallest case that shows it.

usage: scripts/keep_cases.py [NAME...]    of tests/gate/faults/*.fault, or of the named ones; of those in kernels in C
       scripts/keep_cases.py --small      print the files of those that are small enough for the executor

Writes tests/gate/cases/NAME.json with the program of `make BUILD=build/gcc CC=gcc`. A fault that needs the calls before it
leaves none, nor one whose case another fault has left already. `scripts/gate` replays them all; on CUDA kernels
the small ones.

exit status: 0 written, 2 bad use
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import mutant_build
from fault_file import read_fault

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD, CASES = ROOT / "build" / "gcc", ROOT / "tests" / "gate" / "cases"


def smallest(path):
    """(name, text of the case), or None."""
    fields, source = read_fault(path, ("clause", "file"))
    if not mutant_build.kernel_of(fields).endswith(".c"):
        return None
    with tempfile.TemporaryDirectory() as work:
        kernel, saved = mutant_build.write_c(pathlib.Path(work), fields, source), pathlib.Path(work, "cases")
        subprocess.run(["gcc", "-O2", "-ffp-contract=off", "-shared", "-fPIC", f"-I{ROOT}/include", f"-I{ROOT}/tests/gate",
                        kernel, BUILD / "libchunkproof.a", "-lm", "-o", kernel.with_suffix(".so")], check=True)
        subprocess.run([BUILD / "chunkproof", "gate", "--kernel", kernel.with_suffix(".so"), "--first", "--save", saved],
                       capture_output=True, check=False)
        found = sorted(saved.glob("*.json"))
        return (path.stem, found[0].read_text()) if found else None


MOST_WORK = 50000  # elements of keys, for all heads: more takes minutes on the executor


def work(recipe):
    """About what a case costs."""
    return sum(1 + tokens + own for _, _, tokens, own in recipe["operations"]) * recipe["head_dim"] * recipe["n_heads"]


def small():
    """Files, in the order of their names."""
    return [file for file in sorted(CASES.glob("*.json")) if work(json.loads(file.read_text())["recipe"]) <= MOST_WORK]


def main():
    if sys.argv[1:] == ["--small"]:
        print("\n".join(str(file.relative_to(ROOT)) for file in small()))
        return 0
    if any(name.startswith("-") for name in sys.argv[1:]):
        print(__doc__.strip())
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    place = ROOT / "tests" / "gate" / "faults"
    paths = [place / (name + ".fault") for name in sys.argv[1:]] or sorted(place.glob("*.fault"))
    if not sys.argv[1:]:
        shutil.rmtree(CASES, ignore_errors=True)
    CASES.mkdir(exist_ok=True)
    known = {json.dumps(json.loads(file.read_text())["recipe"], sort_keys=True) for file in CASES.glob("*.json")}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for found in pool.map(smallest, paths):
            recipe = json.dumps(json.loads(found[1])["recipe"], sort_keys=True) if found else None
            if found and recipe not in known:
                known.add(recipe)
                (CASES / (found[0] + ".json")).write_text(found[1])
    print(f"cases {len(list(CASES.glob('*.json')))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
