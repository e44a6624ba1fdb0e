# SPDX-License-Identifier: Apache-2.0
"""Frama-C WP (proofs/wp/run): the function that a record names must be proved as it is, and with
the fault in it one of its goals must stay open.

A goal that stays open is not yet a wrong one: it may only have become harder. So a fault counts as
noticed only when a goal stays open with the limits that the sound proof has, and controls are
tried as well: changes that mean nothing (`control:` of a record), after which each function must
still be proved with these limits.

Where the record names a clause of the function's contract, a goal of that clause must stay open.
A goal is part of the contract (what callers rely on, what callees need, and that no behaviour is
undefined), or it is a step of a proof (an assertion, an invariant of a loop, what ghost code
needs). A fault that only a step notices may break no promise; the last line counts both.

Where the clause is `contradiction`, the fault makes a contract say what cannot be. All would follow
from it, so that every goal is proved; a smoke test of the function must then fail.
"""

import functools
import re
import shutil
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any

from . import catalogue
from .catalogue import ROOT, Fault
from .who import Missing, Options, Outcome, Verdict, Who, jobs, runner_of

PARTS = ("include", "ref", "proofs/wp", "proofs/logic")  # what a proof reads
# Seconds of the processor for a goal at first. What is then open is tried again, goal by goal, with
# the limits of proofs/wp/run, until one stays open or so many are proved.
FIRST, TRIES = 5, 4
STEPS = r"_(assert(?!_rte_)|check|loop|lemma)_"  # how they go on after the function's name

CONTRADICTION = "contradiction"  # instead of a clause: smoke tests

Goals = dict[str, dict[str, tuple[int, int, int]]]


@functools.cache
def of_the_code() -> frozenset[str]:
    """Functions of ref/ that are no ghost code."""
    names: set[str] = set()
    for path in sorted(ROOT.glob("ref/*.[ch]")):
        source = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.S)
        names.update(re.findall(r"^[a-z][\w \*]*?(\w+)\([^;{}]*\)\s*\{", source, re.M))
    return frozenset(names)


def broken(goals: dict[str, tuple[int, int, int]]) -> list[str]:
    """The clauses of a function's contract that are not proved, by their names."""
    names = set()
    for goal, (valid, total, _) in goals.items():
        found = re.search(r"_ensures_(\w+?)(?:_part\d+)?$|(?<!loop)_(assigns)(?:_\w+)?$", goal)
        if valid < total and found:
            names.add(found[1] or found[2])
    return sorted(names)


def is_step(function: str, goal: str) -> bool:
    """Of a proof; else it is part of the contract. goal: as WP names it, with its function."""
    if function not in of_the_code():
        return True
    called = re.search(r"_call_(\w+?)(?:_\d+)?_requires_", goal)
    if called:
        return called[1] not in of_the_code()
    return bool(re.match(STEPS, goal.removeprefix(function)))


class ByWp(Who):
    """The proofs of the C code. Where a record names a clause, its goals alone are tried."""

    name = "wp"

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.run = runner_of("wp")
        self.jobs = jobs(int(self.run.JOBS))
        self.lock = threading.Lock()
        self.kinds = {"contract": 0, "step": 0}

    def prepare(self, faults: Sequence[Fault]) -> None:
        try:
            self.environment = self.run.prepare()
        except self.run.Missing as missing:
            raise Missing(str(missing)) from None
        self.expected = self.run.read_expected()
        self.controls = {
            control.name: control
            for control in catalogue.load()
            if "control" in control.fields
            and control.said_by("control")[0] in {fault.proof[0] for fault in faults}
        }

    def parts(self, faults: Sequence[Fault]) -> list[str]:
        """The functions as they are, and the controls of their units."""
        functions = {".".join(fault.proof[:2]) for fault in faults}
        return sorted(functions) + sorted(self.controls)

    def failing(self, part: str) -> str | None:
        control = self.controls.get(part)
        if control:
            unit, function = control.said_by("control")
            tree = self.faulted(control)
        else:
            unit, _, function = part.partition(".")
            tree = self.run.FramaC(ROOT, self.run.WORK / "sound" / part, self.environment)
        goals, log, *_ = tree.prove(
            unit, self.run.chosen_provers(self.expected, unit), functions=[function]
        )
        if goals is None:
            return f"{part}: Frama-C fails\n{log}"
        valid, total, _ = self.run.count(goals).get(function, (0, 0, 0))
        if 0 < valid == total:
            return None
        what = "a change that means nothing" if control else "no fault in it"
        left = ", ".join(open_goals(goals, function))
        return f"{part}: {unit}, {function}: not proved with {what}: {left}"

    def faulted(self, fault: Fault) -> Any:
        """Frama-C on a copy with the change in it: a FramaC of the program that is loaded here."""
        place = self.run.WORK / "faults" / fault.name
        shutil.rmtree(place, ignore_errors=True)
        for part in PARTS:
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, place / part)
        (place / fault.source).write_text(fault.text(), encoding="utf-8")
        return self.run.FramaC(place, place / "work", self.environment)

    def check(self, fault: Fault) -> Outcome:
        begin, (unit, function, clause) = time.monotonic(), fault.proof
        tree = self.faulted(fault)
        left: list[str] | None
        if clause == CONTRADICTION:
            return contradicts(tree, unit, function)
        if clause:
            left, log = tree.open_of_clause(unit, function, clause, FIRST)
        else:
            goals, log, *_ = tree.prove(
                unit, {}, functions=[function], timeout=FIRST, patient=False
            )
            left = None if goals is None else open_goals(goals, function)
        if left is None:
            return Outcome(Verdict.ERROR, f"{unit}, {function}: Frama-C fails", log)
        fitting = [goal for goal in left if clause in ("", *broken({goal: (0, 1, 0)}))]
        proved = []
        for goal in contracts_first(function, fitting)[:TRIES]:
            if tree.stays_open(unit, function, goal):
                kind = "step" if is_step(function, goal) else "contract"
                with self.lock:
                    self.kinds[kind] += 1
                why = f"{kind}: {short(function, goal)}" + (
                    f" and {len(left) - 1} more are open" if len(left) > 1 else ""
                )
                return Outcome(
                    Verdict.NOTICED,
                    f"{unit}, {function}: {why}, {time.monotonic() - begin:.1f} s",
                    "\n".join(left),
                )
            proved.append(goal)
        why = (
            f"only harder to prove: {', '.join(short(function, g) for g in proved)}"
            if proved
            else f"{'clause ' + clause + ' is ' if clause else ''}still proved"
        )
        return Outcome(
            Verdict.NOT_NOTICED,
            f"{unit}, {function}: {why}, {time.monotonic() - begin:.1f} s",
            "\n".join(left),
        )

    def finish(self, complete: bool) -> list[str]:
        return [
            f"noticed by a contract {self.kinds['contract']}, by a step of a proof alone "
            f"{self.kinds['step']}; controls {len(self.controls)}"
        ]


def contradicts(tree: Any, unit: str, function: str) -> Outcome:
    goals, log, _ = tree.smoke(unit, [function])
    if goals is None:
        return Outcome(Verdict.ERROR, f"{unit}, {function}: Frama-C fails", log)
    found = [name for group in goals for name in open_goals(goals, group)]
    return Outcome(
        Verdict.NOTICED if found else Verdict.NOT_NOTICED,
        f"{unit}, {function}: {found[0] if found else 'no contradiction is found'}",
        log,
    )


def open_goals(goals: Goals, function: str) -> list[str]:
    return [name for name, (valid, total, _) in goals.get(function, {}).items() if valid < total]


def short(function: str, goal: str) -> str:
    return goal.removeprefix(function + "_")


def contracts_first(function: str, goals: Iterable[str]) -> list[str]:
    return sorted(goals, key=lambda goal: is_step(function, goal))
