# SPDX-License-Identifier: Apache-2.0
"""`chunkproof explain` must identify the fault: the gate finds a case of the kernel with the fault
and makes it smaller, and what explain says first of that case must have the words of the record. It
may say that a wider declaration would make the results right only where the record has `wider:`,
with the reason.
"""

import pathlib
import re
import subprocess
import tempfile
from collections.abc import Sequence

from . import gate_build
from .catalogue import Fault
from .who import GCC, Options, Outcome, Verdict, Who, jobs, make

WIDER = "its results would be right if it declared"
LIMIT = 300  # seconds for a command


def run(*command: object) -> tuple[int, str]:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LIMIT,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def built(build: pathlib.Path, place: pathlib.Path, fault: Fault) -> tuple[list[object], str]:
    """(the kernel as options of the command, what the compiler says where it fails)."""
    kernel = gate_build.kernel_of(fault) if "gate" in fault.fields else fault.source
    if kernel.endswith(".cu"):
        source = place / "kernel.cu"
        source.write_text(fault.text(), encoding="utf-8")
        return ["--kernel", source, "--on", "executor"], ""
    source, program = gate_build.write_c(place, kernel, fault.source, fault.text()), "kernel.so"
    status, said = run(
        "cc",
        "-O2",
        "-shared",
        "-fPIC",
        *gate_build.INCLUDES,
        "-o",
        place / program,
        source,
        build / "libchunkproof.a",
        "-lm",
    )
    return ["--kernel", place / program], said if status != 0 else ""


def explained(build: pathlib.Path, fault: Fault) -> str:
    """What explain says of the case that the gate keeps of this kernel. build: where the command
    and library are.
    """
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        kernel, said = built(build, place, fault)
        if said:
            return said
        status, said = run(
            build / "chunkproof", "gate", *kernel, "--first", "--save", place / "cases"
        )
        cases = sorted(place.glob("cases/*.json"))
        if status != 1 or not cases:
            return f"the gate keeps no case:\n{said}"
        explain = (build / "chunkproof", "explain", cases[0], *kernel)
        return run(*explain, "--time", LIMIT - 60)[1]  # a busy machine explains later, not less


def first_answer(text: str) -> str:
    """Without what is said of the numbers that are left, and of other things."""
    return re.split(r"\n  besides, |\n  also: ", text)[0]


class ByExplain(Who):
    """The words of explain."""

    name = "explain"

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.jobs = jobs(2)
        self.build = options.build or GCC

    def prepare(self, faults: Sequence[Fault]) -> None:
        if self.options.build is None:
            make(["build"], "the command and the library")

    def check(self, fault: Fault) -> Outcome:
        text, words = explained(self.build, fault), fault.fields["explain"]
        answer = first_answer(text)
        identified = words in answer and (WIDER not in answer or "wider" in fault.fields)
        return Outcome(Verdict.NOTICED if identified else Verdict.NOT_NOTICED, words, text)
