# SPDX-License-Identifier: Apache-2.0
"""A program of tests that ends with another status than 0 when it notices something.

Here the unit test as it was built, the one file with the fault, and all else from the libraries.
Where a record names a shell test of the command, it runs that instead: shell_test.py.
"""

import pathlib
import shutil
import subprocess
from collections.abc import Iterator, Sequence

from . import programs, shell_test
from .catalogue import ROOT, Fault
from .who import GCC, Outcome, Verdict, Who, make

LIBRARIES = [GCC / "tests" / "libsupport.a", GCC / "libchunkproof.a"]
MOST, IDLE = 600, 120  # seconds of processor time for a program, and without any
Command = Sequence[object]
FIRST = {"CMOCKA_TEST_ABORT": "1"}  # cmocka ends the program at the first test that fails


def failing(lines: Sequence[str]) -> list[str]:
    """Tests that began and did not end well, as cmocka says it."""
    begun, passed, skipped = (
        [line.removeprefix(mark) for line in lines if line.startswith(mark)]
        for mark in ("[ RUN      ] ", "[       OK ] ", "[  SKIPPED ] ")
    )
    return [test for test in begun if test not in passed + skipped]


def judged(result: subprocess.CompletedProcess[str], program: str) -> Outcome:
    lines = result.stdout.splitlines() + result.stderr.splitlines()
    failed = failing(lines)
    said = [line.split(": ", 2)[2] for line in lines if line.startswith("ERROR: version")]
    how = ", ".join(dict.fromkeys(failed)) or (
        f"it stopped with status {result.returncode}" if result.returncode else "it passed"
    )
    return Outcome(
        Verdict.NOTICED if result.returncode != 0 else Verdict.NOT_NOTICED,
        f"{program}: {how}" + (f": {said[0]}" if said else ""),
    )


def build_and_run(
    place: pathlib.Path, commands: Iterator[Command], program: str, **settings: str
) -> Outcome:
    """The commands, which write place/test, and that program."""
    why_not = programs.failure(commands)
    if why_not is not None:
        return Outcome(Verdict.NO_TEST, f"{program}: {why_not}")
    try:
        outcome = judged(programs.run([place / "test"], MOST, IDLE, **FIRST, **settings), program)
    except programs.Endless as why:
        return Outcome(Verdict.NOTICED, f"{program}: {why}")
    shutil.rmtree(place, ignore_errors=True)
    return outcome


def emptied(place: pathlib.Path) -> pathlib.Path:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    return place


def faulted(fault: Fault, place: pathlib.Path) -> list[pathlib.Path]:
    """What is compiled with the fault: the source. Of a header, the sources beside it that include
    it by its path, or a header beside it that does: they find the one in `place` first."""
    source = ROOT / fault.source
    if source.suffix != ".h":
        (place / "fault.c").write_text(fault.text(), encoding="utf-8")
        return [place / "fault.c"]
    (place / fault.source).parent.mkdir(parents=True)
    (place / fault.source).write_text(fault.text(), encoding="utf-8")
    beside = {path: path.read_text(encoding="utf-8") for path in source.parent.glob("*.[ch]")}
    found = {source}
    while True:
        lines = [f'#include "{path.relative_to(ROOT)}"' for path in found]
        more = {path for path, text in beside.items() if any(line in text for line in lines)}
        if more <= found:
            return sorted(path for path in found if path.suffix == ".c")
        found |= more


def program_with(fault: Fault, program: str) -> pathlib.Path:
    """The test's object; its source, where it includes the header with the fault itself."""
    source = ROOT / "tests" / f"{program}.c"
    if fault.source.endswith(".h") and f'#include "{fault.source}"' in source.read_text("utf-8"):
        return source
    return GCC / "obj" / "tests" / f"{program}.o"


def xml_words() -> list[str]:
    """What a compiler needs for libxml2, as mk/compilers.mk asks for it."""
    asked = ["pkg-config", "--cflags", "--libs", "libxml-2.0"]
    try:
        said = subprocess.run(asked, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return []
    return said.stdout.split()


def compiled(fault: Fault, place: pathlib.Path) -> Command:
    """gcc, and where it looks for headers: first where the fault may be."""
    beside = (ROOT / fault.source).parent
    return [
        "gcc",
        "-std=c11",
        "-O1",
        "-g",
        *(f"-I{at}" for at in (place, ROOT / "include", beside, ROOT)),
    ]


LINKED = ("-ljansson", "-lpcre2-8", "-lz", "-lm")  # with the command
OF_TESTS = ("-lcmocka", "-lmpfi", "-lmpfr")


class ByTest(Who):
    """The unit tests, and the shell tests of the command."""

    name = "test"

    def prepare(self, faults: Sequence[Fault]) -> None:
        tests = self.parts(faults)
        shell = [test for test in tests if shell_test.is_one(test)]
        of_units = [GCC.relative_to(ROOT) / "tests" / test for test in tests if test not in shell]
        make(["build", *of_units, *shell_test.targets(shell)], "the tests")

    def parts(self, faults: Sequence[Fault]) -> list[str]:
        """The programs: each must pass as it is, where those with faults run."""
        return sorted({fault.fields["test"] for fault in faults})

    def failing(self, part: str) -> str | None:
        if shell_test.is_one(part):
            place = shell_test.new_place()
            shutil.copy2(GCC / "chunkproof", place / "chunkproof")
            outcome = shell_test.tried(place, (), part)
            passed = outcome.verdict is Verdict.NOT_NOTICED
        else:
            place = emptied(GCC / "faults" / f"{part}-as-it-is")
            shutil.copy2(GCC / "tests" / part, place / "test")
            outcome = build_and_run(place, iter(()), part)
            passed = not outcome.is_well
        return None if passed else f"{part}: fails without a fault: {outcome.how}"

    def check(self, fault: Fault) -> Outcome:
        test = fault.fields["test"]
        needs = fault.fields.get("needs")
        if needs and needs not in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split():
            return Outcome(Verdict.SKIPPED, f"{test}: this machine has no {needs}")
        if shell_test.is_one(test):
            place = shell_test.new_place()
            return shell_test.tried(place, commanded(fault, place), test)
        place = emptied(GCC / "faults" / fault.name)
        sources = faulted(fault, place)
        link = [*sources, program_with(fault, test), *LIBRARIES, *OF_TESTS, *LINKED]
        command = [*compiled(fault, place), *link, *xml_words(), "-o", place / "test"]
        return build_and_run(place, iter([command]), test)


def commanded(fault: Fault, place: pathlib.Path) -> Iterator[Command]:
    """What makes place/chunkproof with the fault in it."""
    changed = faulted(fault, place)
    others = shell_test.objects(changed if fault.source.endswith(".h") else [ROOT / fault.source])
    options = ("-ffp-contract=off", "-pthread", *xml_words())
    yield [
        *compiled(fault, place),
        *options,
        *changed,
        *others,
        GCC / "libchunkproof.a",
        "-o",
        place / "chunkproof",
        *LINKED,
        *xml_words(),
    ]
