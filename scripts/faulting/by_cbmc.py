# SPDX-License-Identifier: Apache-2.0
"""CBMC (proofs/cbmc/run): a fault must break the harness that its record names. The properties are
tried first, then the checks for undefined behaviour.
"""

import os
import pathlib
import re
import shutil
import time
from collections.abc import Sequence

from .catalogue import ROOT, Fault
from .who import Missing, Options, Outcome, Verdict, Who, jobs, runner_of

PARTS = ("ref", "kernels", "opt")  # where its sources are
FAULTS = "build/cbmc/faults"


class ByCbmc(Who):
    """The model checking."""

    name = "cbmc"

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.run = runner_of("cbmc")
        self.jobs = jobs(2)

    def prepare(self, faults: Sequence[Fault]) -> None:
        os.chdir(ROOT)
        try:
            self.tools = self.run.find_tools()
        except SystemExit:
            raise Missing("cbmc is missing: make deps installs it") from None
        self.harnesses = {harness.name: harness for harness in self.run.read_harnesses()}

    def check(self, fault: Fault) -> Outcome:
        begin, harness = time.monotonic(), self.harnesses[fault.fields["cbmc"]]
        place = f"{FAULTS}/{fault.name}"
        shutil.rmtree(place, ignore_errors=True)
        for part in PARTS:
            shutil.copytree(part, f"{place}/{part}")
        pathlib.Path(f"{place}/{fault.source}").write_text(fault.text(), encoding="utf-8")
        verdict, how = Verdict.NOT_NOTICED, "nothing fails"
        for run in [run for run in harness.runs if run != "reach"]:
            status, output = self.run.check(
                self.tools, harness, run, place, place, ["--stop-on-fail"]
            )[:2]
            violated = re.search(r"^Violated property:\n.*\n\s+(.*)$", output, re.M)
            if status == 10 and violated:
                verdict, how = Verdict.NOTICED, violated.group(1)
                break
            if status != 0:
                what = "not done within TIMEOUT seconds" if status is None else "CBMC fails"
                verdict, how = Verdict.ERROR, f"{what}: {place}/{run}.log"
                break
        return Outcome(verdict, f"{harness.name}: {how}, {time.monotonic() - begin:.1f} s")
