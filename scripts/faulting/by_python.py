# SPDX-License-Identifier: Apache-2.0
"""The tests of prompt programs (tests/programs.py) and those of the converter of models
(tests/model/test_convert.py), on a copy of python/ with the fault; and those of bounds of logits
(tests/model/test_first_order.py), on a copy of tests/model/ with the fault. The latter two need
packages: without these their faults are skipped.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence

from .by_test import emptied
from .catalogue import ROOT, Fault
from .who import GCC, Broken, Outcome, Verdict, Who, make

TESTS = ROOT / "tests" / "programs.py"
OF_MODEL = ROOT / "tests" / "model"
OF_CONVERTER = OF_MODEL / "test_convert.py"
OF_BOUNDS = OF_MODEL / "test_first_order.py"
LIMIT = 300  # seconds
MISSING = 77  # exit status of a test whose packages are missing


def file_of(test: str) -> pathlib.Path:
    defined = f"    def {test}(self)"
    for file in (OF_CONVERTER, OF_BOUNDS):
        if defined in file.read_text(encoding="utf-8"):
            return file
    return TESTS


def python_of(file: pathlib.Path) -> str:
    """As tests/model/run has it: the one with the packages."""
    ours = ROOT / "build" / "tools" / "model" / "bin" / "python"
    if file == TESTS:
        return sys.executable
    return os.environ.get("MODEL_PYTHON") or str(ours if ours.exists() else sys.executable)


def run(
    package: pathlib.Path, modules: pathlib.Path, test: str
) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "CHUNKPROOF_PACKAGE": str(package),
        "CHUNKPROOF_MODEL_TESTS": str(modules),
        "CHUNKPROOF_COMMAND": str(GCC / "chunkproof"),
        "CHUNKPROOF_CASES": "100",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    environment.pop("GOLDEN", None)
    file = file_of(test)
    return subprocess.run(
        [python_of(file), str(file), "-k", f"*.{test}"],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env=environment,
        timeout=LIMIT,
    )


class ByPython(Who):
    """One test of tests/programs.py, of the converter, or of bounds of logits."""

    name = "python"

    def prepare(self, faults: Sequence[Fault]) -> None:
        make([GCC.relative_to(ROOT) / "chunkproof"], "the command")
        for test in sorted({fault.fields["python"] for fault in faults}):
            if run(ROOT / "python", OF_MODEL, test).returncode not in (0, MISSING):
                name = file_of(test).relative_to(ROOT)
                raise Broken(f"{test} of {name} fails without a fault")

    def check(self, fault: Fault) -> Outcome:
        test = fault.fields["python"]
        place = emptied(GCC / "faults" / fault.name)
        for part in ("python/chunkproof", "python/examples", "tests/model"):
            shutil.copytree(ROOT / part, place / part)
        (place / fault.source).write_text(fault.text(), encoding="utf-8")
        try:
            result = run(place / "python", place / "tests" / "model", test)
        except subprocess.TimeoutExpired:
            return Outcome(Verdict.NOTICED, f"{test}: more than {LIMIT} s")
        shutil.rmtree(place, ignore_errors=True)
        if result.returncode == MISSING:
            return Outcome(Verdict.SKIPPED, result.stdout.strip())
        if result.returncode == 0:
            return Outcome(Verdict.NOT_NOTICED, f"{test}: it passed", result.stderr)
        why = re.search(r"^[\w.]*(Error|Refusal): .*", result.stderr, re.M)
        return Outcome(
            Verdict.NOTICED, f"{test}: {why[0][:80] if why else 'it failed'}", result.stderr
        )
