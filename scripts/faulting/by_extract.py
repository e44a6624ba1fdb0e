# SPDX-License-Identifier: Apache-2.0
"""The definitions of proofs/coq beside ref/ (proofs/extract/run): with the fault in one of the two,
so many random operations must show a difference.
"""

import pathlib
import shutil
import time
from collections.abc import Sequence

from . import programs
from .catalogue import ROOT, Fault
from .who import Broken, Missing, Options, Outcome, Verdict, Who, jobs, runner_of

MOST, IDLE = 300, 60  # seconds of processor time, and without any
DEFINITIONS = "proofs/coq/"


class ByExtract(Who):
    """The extracted definitions."""

    name = "extract"

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.run = runner_of("extract")
        self.jobs = jobs(self.jobs)

    def prepare(self, faults: Sequence[Fault]) -> None:
        try:
            self.tools = self.run.Tools()
            self.run.build(self.tools)
        except self.run.Missing as missing:
            raise Missing(str(missing)) from None
        except self.run.Unbuilt as problem:
            raise Broken(str(problem)) from None

    def program(self, fault: Fault, place: pathlib.Path) -> pathlib.Path:
        model, objects = self.run.BUILD / "coq", self.run.BUILD / "c"
        if fault.source.startswith(DEFINITIONS):
            model = place / "coq"
            modules = self.tools.coq.read_modules((fault.source, fault.text()))
            self.run.extract(self.tools, modules, model)
        else:
            for part in ("include", "ref", "proofs/logic"):
                shutil.copytree(ROOT / part, place / "sources" / part)
            source = place / "sources" / fault.source
            source.write_text(fault.text(), encoding="utf-8")
            every = self.run.sources_of(place / "sources")
            shutil.copytree(objects, place / "c")
            objects = place / "c"
            self.run.compile_c(
                self.tools,
                place / "sources",
                [source] if fault.source.startswith("ref/") and source in every else every,
                objects,
            )
        compiled = sorted(objects.glob("*.o"))
        return pathlib.Path(self.run.link(self.tools, model, compiled, place / "ml"))

    def check(self, fault: Fault) -> Outcome:
        (operations,) = fault.said_by("extract")
        place = self.run.BUILD / "faults" / fault.name
        shutil.rmtree(place, ignore_errors=True)
        begin = time.monotonic()
        try:
            program = self.program(fault, place)
        except self.run.Unbuilt as problem:
            return Outcome(Verdict.NO_TEST, str(problem))
        try:
            result = programs.run([program, "--operations", operations], MOST, IDLE)
        except programs.Endless as why:
            return Outcome(Verdict.NOTICED, str(why))
        seconds = f"{time.monotonic() - begin:.1f} s"
        said = [line for line in result.stdout.splitlines() if line.startswith("DRIFT ")]
        how = said[0] if said else f"status {result.returncode}"
        noticed = bool(said) or result.returncode < 0
        shutil.rmtree(place, ignore_errors=True)
        return Outcome(
            Verdict.NOTICED if noticed else Verdict.NOT_NOTICED,
            f"{how if noticed else 'no difference'}, {seconds}",
            result.stdout + result.stderr,
        )
