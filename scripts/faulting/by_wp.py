# SPDX-License-Identifier: Apache-2.0
"""Frama-C WP (proofs/wp/run): the function that a record names must be proved as it is, and not
with the fault in it.
"""

import shutil
import threading
import time
from collections.abc import Sequence

from .catalogue import ROOT, Fault
from .who import Missing, Options, Outcome, Verdict, Who, jobs, runner_of

PARTS = ("include", "ref", "proofs/wp", "proofs/logic")  # what a proof reads
# Seconds for a prover and a goal: a fault must leave one open, so that more would only take longer.
TIMEOUT = 5


class ByWp(Who):
    """The proofs of the C code."""

    name = "wp"

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.run = runner_of("wp")
        self.jobs = jobs(int(self.run.JOBS))
        self.sound: dict[tuple[str, str], bool] = {}
        self.lock = threading.Lock()

    def prepare(self, faults: Sequence[Fault]) -> None:
        try:
            self.environment = self.run.prepare()
        except self.run.Missing as missing:
            raise Missing(str(missing)) from None
        self.expected = self.run.read_expected()
        self.frama_c = self.run.FramaC(ROOT, self.run.WORK / "sound", self.environment)

    def is_sound(self, unit: str, function: str) -> bool:
        with self.lock:
            if (unit, function) not in self.sound:
                goals, *_ = self.frama_c.prove(
                    unit, self.run.chosen_provers(self.expected, unit), functions=[function]
                )
                valid, total, _ = self.run.count(goals or {}).get(function, (0, 0, 0))
                self.sound[unit, function] = 0 < valid == total
            return self.sound[unit, function]

    def check(self, fault: Fault) -> Outcome:
        begin, (unit, function) = time.monotonic(), fault.said_by("wp")
        place = self.run.WORK / "faults" / fault.name
        shutil.rmtree(place, ignore_errors=True)
        for part in PARTS:
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, place / part)
        (place / fault.source).write_text(fault.text(), encoding="utf-8")
        goals, log, *_ = self.run.FramaC(place, place / "work", self.environment).prove(
            unit, {}, functions=[function], timeout=TIMEOUT, patient=False
        )
        valid, total, _ = self.run.count(goals or {}).get(function, (0, 0, 0))
        noticed = goals is not None and valid < total and self.is_sound(unit, function)
        why = (
            f"{total - valid} of {total} goals fail"
            if noticed
            else (
                "Frama-C fails"
                if goals is None
                else "still proved" if valid == total else "unproved even without the fault"
            )
        )
        return Outcome(
            Verdict.NOTICED if noticed else Verdict.NOT_NOTICED,
            f"{unit}, {function}: {why}, {time.monotonic() - begin:.1f} s",
            "" if goals else log,
        )
