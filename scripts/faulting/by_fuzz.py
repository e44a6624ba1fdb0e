# SPDX-License-Identifier: Apache-2.0
"""Fuzzing (scripts/fuzzing.py): the target that a record names must find the fault from the
committed corpus, with a fixed seed, in so many runs at most.
"""

import pathlib
import shutil
from collections.abc import Sequence

import fuzzing

from .catalogue import ROOT, Fault
from .who import Broken, Missing, Outcome, Verdict, Who

PARTS = ("include", "ref", "opt", "cli", "gate", "kernels", "tests", "fuzz", "mk")


def copy_of(name: str) -> tuple[pathlib.Path, pathlib.Path]:
    """A copy of the tree and of what was built of it: only what the fault is in is built anew."""
    copy = fuzzing.WORK / "faults" / name
    shutil.rmtree(copy, ignore_errors=True)
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(
                ROOT / part,
                copy / part,
                ignore=shutil.ignore_patterns("corpus", "golden", "faults"),
            )
    shutil.copy2(ROOT / "Makefile", copy / "Makefile")
    built = fuzzing.LibFuzzer.build.relative_to(ROOT)
    shutil.copytree(
        fuzzing.LibFuzzer.build,
        copy / built,
        ignore=lambda where, names: names if where.endswith("/fuzz") and "obj" not in where else [],
    )
    return copy, copy / built


class ByFuzz(Who):
    """The fuzz targets."""

    name = "fuzz"

    def prepare(self, faults: Sequence[Fault]) -> None:
        if not fuzzing.LibFuzzer.is_there():
            raise Missing(f"libfuzzer is missing: it needs {' and '.join(fuzzing.LibFuzzer.needs)}")
        try:
            fuzzing.build(fuzzing.LibFuzzer, sorted({fault.said_by("fuzz")[0] for fault in faults}))
        except fuzzing.Unusable as problem:
            raise Broken(str(problem)) from None

    def check(self, fault: Fault) -> Outcome:
        target, runs = fault.said_by("fuzz")
        copy, built = copy_of(fault.name)
        (copy / fault.source).write_text(fault.text(), encoding="utf-8")
        settings = {
            "BUILD": str(built.relative_to(copy)),
            "DEPS": "skip",
            **fuzzing.LibFuzzer.settings(),
        }
        try:
            fuzzing.make(copy, settings, [f"{built.relative_to(copy)}/fuzz/{target}"])
        except fuzzing.Unusable as problem:
            return Outcome(Verdict.NO_TEST, f"{target}: {problem}")
        status, state, log = fuzzing.bounded(target, int(runs), built / "fuzz" / target)
        shutil.rmtree(copy)
        said = [
            line
            for line in log.splitlines()
            if line.startswith("fuzz: ") or "ERROR: " in line or "runtime error" in line
        ]
        after = state.split(",")[0] if state else "runs of the corpus"
        how = f"{said[0] if said else status} ({after})" if status else f"nothing in {state}"
        return Outcome(Verdict.NOTICED if status else Verdict.NOT_NOTICED, f"{target}: {how}", log)
