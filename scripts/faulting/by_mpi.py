# SPDX-License-Identifier: Apache-2.0
"""The merge of states over ranks of a real MPI (tests/mpi/run): on a copy of its sources with the
fault, or with the file of ref/ that has it.
"""

import pathlib
import shutil
import subprocess
from collections.abc import Sequence

from . import programs
from .by_test import emptied
from .catalogue import ROOT, Fault
from .who import GCC, Broken, Missing, Outcome, Verdict, Who, make

SOURCES = ROOT / "tests" / "mpi"
MOST, IDLE = 300, 150  # seconds of processor time, and without any
FAILED, UNBUILT, SKIPPED = 1, 2, 77  # exit statuses of tests/mpi/run


def run(sources: pathlib.Path, step: str) -> subprocess.CompletedProcess[str]:
    return programs.run([SOURCES / "run", GCC, sources, step], MOST, IDLE)


class ByMpi(Who):
    """A step of tests/mpi/run."""

    name = "mpi"

    def prepare(self, faults: Sequence[Fault]) -> None:
        make([GCC.relative_to(ROOT) / "libchunkproof.a"], "the library")
        for step in sorted({fault.fields["mpi"] for fault in faults}):
            result = run(SOURCES, step)
            if result.returncode == SKIPPED:
                raise Missing(result.stdout.strip())
            if result.returncode != 0:
                raise Broken(f"tests/mpi/run {step} fails without a fault: {result.stdout}")

    def check(self, fault: Fault) -> Outcome:
        step = fault.fields["mpi"]
        place = emptied(GCC / "faults" / f"mpi-{fault.name}")
        for path in SOURCES.glob("*.[ch]"):
            shutil.copy2(path, place)
        faulty = place / pathlib.PurePath(fault.source).name
        faulty.write_text(fault.text(), encoding="utf-8")
        if fault.source.startswith("ref/"):
            words = ["gcc", "-std=c11", "-O1", f"-I{ROOT}/include", f"-I{ROOT}/ref", f"-I{ROOT}"]
            words += ["-c", str(faulty), "-o", str(faulty.with_suffix(".o"))]
            build = subprocess.run(words, capture_output=True, text=True, check=False)
            if build.returncode != 0:
                return Outcome(Verdict.NO_TEST, build.stderr)
        try:
            result = run(place, step)
        except programs.Endless as why:
            return Outcome(Verdict.NOTICED, f"{step}: {why}")
        said = result.stdout + result.stderr
        if result.returncode not in (0, FAILED):
            return Outcome(Verdict.NO_TEST, f"{step}: status {result.returncode}", said)
        shutil.rmtree(place, ignore_errors=True)
        if result.returncode == 0:
            return Outcome(Verdict.NOT_NOTICED, f"{step}: it passed", said)
        found = [line for line in said.splitlines() if line.startswith("rank ")]
        return Outcome(Verdict.NOTICED, found[0] if found else f"{step}: it failed", said)
