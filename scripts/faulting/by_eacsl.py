# SPDX-License-Identifier: Apache-2.0
"""E-ACSL (proofs/eacsl/run): with the fault in ref/, a driver must end with the name of the clause
of a contract that is broken. Only the contracts in include/ are checked: they must be strong
enough.
"""

import os
import re
import shutil
import time
from collections.abc import Sequence

from .catalogue import ROOT, Fault
from .who import Broken, Missing, Options, Outcome, Verdict, Who, jobs, runner_of

PARTS = ("include", "ref", "proofs/logic")


class ByEacsl(Who):
    """The contracts, run."""

    name = "eacsl"

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.run = runner_of("eacsl")
        self.jobs = jobs(int(self.run.JOBS))

    def prepare(self, faults: Sequence[Fault]) -> None:
        os.chdir(ROOT)
        try:
            self.tools = self.run.Tools()
        except self.run.Missing as missing:
            raise Missing(str(missing)) from None
        except self.run.Finding as finding:
            raise Broken(str(finding)) from None

    def check(self, fault: Fault) -> Outcome:
        begin, (driver, breaks) = time.monotonic(), fault.said_by("eacsl")
        place = self.run.WORK / "faults" / fault.name
        shutil.rmtree(place, ignore_errors=True)
        for part in PARTS:
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, place / "sources" / part)
        (place / "sources" / fault.source).write_text(fault.text(), encoding="utf-8")
        try:
            build = self.run.Build(self.tools, place / "sources", place / "build", internal=False)
            program, _ = build.program(driver)
        except (self.run.Finding, self.run.Unknown) as problem:
            raise Broken(f"{fault.name}: {problem}") from None
        status, text = self.run.run(program, *self.run.arguments_of(driver))
        broken = re.search(r"^(\w+): (\w+ \S+) fails", text, re.M)
        how = f"{broken[1]}: {broken[2]}" if broken else text.strip()[-200:].replace("\n", " ")
        function, _, clause = breaks.partition(".")
        noticed = (
            status == -6
            and broken is not None
            and (broken[1], broken[2].split()[1].replace("/", ".")) == (function, clause)
        )
        return Outcome(
            Verdict.NOTICED if noticed else Verdict.NOT_NOTICED,
            f"{driver}: {how}"
            + ("" if noticed else f", not {breaks}")
            + f", {time.monotonic() - begin:.1f} s",
            text,
        )
