# SPDX-License-Identifier: Apache-2.0
"""A shell test of the command that must notice a fault: tests/cli_*.sh, tests/gate_reports.sh.

The command is linked anew: the one source with the fault, and all else as it was built. It stands
in a directory of its own below build/, beside links to what was built, because these tests look
there for kernels and libraries. scripts/run_tests.py runs the test there. What a test writes is in
a directory that it makes, so two runs share no file.

Noticed is a fault only where a case of the test says `not ok`. A command that does not build, and a
test that ends without such a line or never, show nothing.
"""

import pathlib
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence

from . import programs
from .catalogue import ROOT
from .who import GCC, Outcome, Verdict

TESTS = re.compile(r"cli_[a-z_]+|gate_reports")  # those that only read beside the command
SOURCES = ("cli/", "gate/", "ref/", "opt/")  # of the command
FOLDERS = ("cli", "gate")  # of its objects; the others are in the library
KERNELS = 'dirname "$chunkproof")/tests'  # what a test says that needs the gate's kernels
MOST, IDLE = 600, 120  # seconds of the processor for a test, and without any work
LIMIT = 24 * 3600  # of the clock: a busy machine ends no test


def script(test: str) -> pathlib.Path:
    return ROOT / "tests" / f"{test}.sh"


def is_one(test: str) -> bool:
    """Of the form `cli_bound`, and there."""
    return TESTS.fullmatch(test) is not None and script(test).is_file()


def targets(tests: Iterable[str]) -> list[str]:
    """What make builds for them."""
    texts = [script(test).read_text(encoding="utf-8") for test in tests]
    kernels = ["gate-kernels"] if any(KERNELS in text for text in texts) else []
    return ["command", *kernels] if texts else []


def objects(without: Iterable[pathlib.Path]) -> Iterator[pathlib.Path]:
    """Of the command, but not those of some sources."""
    left_out = set(without)
    for folder in FOLDERS:
        for source in sorted((ROOT / folder).rglob("*.c")):
            if source not in left_out:
                yield GCC / "obj" / source.relative_to(ROOT).with_suffix(".o")


def new_place() -> pathlib.Path:
    """As deep as build/gcc, whence the command finds headers; all in it but the command."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="faulted-", dir=GCC.parent))
    for built in ("tests", *(path.name for path in GCC.glob("libchunkproof*"))):
        (place / built).symlink_to(GCC / built)
    return place


def failed_cases(said: str) -> list[str]:
    found = re.findall(r"^not ok\b[ \d-]*(.*)$", said, re.M)
    return [case.strip() for case in found]


def run(place: pathlib.Path, test: str) -> Outcome:
    """What the test says of the command there."""
    command = [
        sys.executable,
        ROOT / "scripts" / "run_tests.py",
        *("--build", place, "--only", "shell", "--jobs", "1", "--limit", LIMIT, test),
    ]
    settings = {"GOLDEN": "", "STRICT": ""}  # no golden file is written; a skip is no failure
    try:
        result = programs.run_in(ROOT, command, MOST, IDLE, **settings)
    except programs.Endless as why:
        return Outcome(Verdict.NO_TEST, f"{test}: {why}")
    cases = failed_cases(result.stdout)
    said = result.stdout + result.stderr
    if result.returncode == 0:
        return Outcome(Verdict.NOT_NOTICED, f"{test}: it passed", said)
    if not cases:
        last = said.strip().splitlines()[-1:] or [f"status {result.returncode}"]
        return Outcome(Verdict.NO_TEST, f"{test}: no case failed: {last[0]}", said)
    more = f" and {len(cases) - 1} more" if len(cases) > 1 else ""
    return Outcome(Verdict.NOTICED, f"{test}: {cases[0]}{more}", said)


def tried(place: pathlib.Path, build: Iterable[Sequence[object]], test: str) -> Outcome:
    """The commands, which write place/chunkproof, and the test. Nothing of the place is left."""
    try:
        why_not = programs.failure(build)
        if why_not is not None:
            return Outcome(Verdict.NO_TEST, f"{test}: {why_not}")
        return run(place, test)
    finally:
        shutil.rmtree(place, ignore_errors=True)
