# SPDX-License-Identifier: Apache-2.0
"""Frama-C WP (proofs/wp/run): the function that a record names must be proved as it is, and not
with the fault in it. Where the record names a clause of the function's contract, that clause must
fail, and not only a step of the proof.
"""

import re
import shutil
import threading
import time
from collections.abc import Sequence

from .catalogue import ROOT, Fault
from .who import Missing, Options, Outcome, Verdict, Who, jobs, runner_of

PARTS = ("include", "ref", "proofs/wp", "proofs/logic")  # what a proof reads
# Seconds for a prover and a goal: a fault must leave one open, so that more would only take longer.
TIMEOUT = 5


def broken(goals: dict[str, tuple[int, int, int]]) -> list[str]:
    """The clauses of a function's contract that are not proved, by their names."""
    names = set()
    for goal, (valid, total, _) in goals.items():
        found = re.search(r"_ensures_(\w+?)(?:_part\d+)?$|(?<!loop)_(assigns)(?:_\w+)?$", goal)
        if valid < total and found:
            names.add(found[1] or found[2])
    return sorted(names)


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
        begin, (unit, function, clause) = time.monotonic(), fault.proof
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
        clauses = broken((goals or {}).get(function, {}))
        fails = f"{total - valid} of {total} goals fail, of the contract "
        fails += ", ".join(clauses) or "none"
        why = (
            "Frama-C fails"
            if goals is None
            else (
                "still proved"
                if valid == total
                else (
                    f"{fails}: not {clause}"
                    if clause and clause not in clauses
                    else "" if self.is_sound(unit, function) else "unproved even without the fault"
                )
            )
        )
        noticed = why == ""
        why = why or fails
        return Outcome(
            Verdict.NOTICED if noticed else Verdict.NOT_NOTICED,
            f"{unit}, {function}: {why}, {time.monotonic() - begin:.1f} s",
            "" if goals else log,
        )
