# SPDX-License-Identifier: Apache-2.0
"""Coq (proofs/coq/run): a fault changes a definition, and must break the theorem that its record
names.
"""

import re
import shutil
import time
from collections.abc import Sequence
from typing import Any

from .catalogue import Fault, Misfit
from .who import Broken, Missing, Options, Outcome, Verdict, Who, jobs, runner_of


class ByCoq(Who):
    """The theorems."""

    name = "coq"

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.run = runner_of("coq")
        self.jobs = jobs(int(self.run.JOBS))

    def prepare(self, faults: Sequence[Fault]) -> None:
        try:
            self.coqc, version = self.run.find_coqc()
        except SystemExit:
            raise Missing("coqc is missing") from None
        self.run.BUILD.mkdir(parents=True, exist_ok=True)
        self.modules = self.run.read_modules()
        keys = self.run.keys_of(self.modules, version)
        if self.run.compile_all(self.coqc, self.modules, keys, quiet=True):
            raise Broken("the theorems do not compile without a fault: proofs/coq/run")

    def changed(self, fault: Fault, faulty: dict[str, Any]) -> set[str]:
        """The modules that it changes: not in a theorem, where it would have to fail."""
        changed = {
            name for name, module in faulty.items() if module.source != self.modules[name].source
        }
        for name in changed:
            pairs = zip(self.modules[name].source.splitlines(), faulty[name].source.splitlines())
            line = next((i for i, (right, wrong) in enumerate(pairs, 1) if right != wrong), 1)
            theorem = self.modules[name].theorem_at(line)
            if theorem:
                raise Misfit(
                    f"{fault.place}: fault {fault.name} changes {theorem}; "
                    "it must change a definition"
                )
        return changed

    def check(self, fault: Fault) -> Outcome:
        place = self.run.BUILD / "faults" / fault.name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        faulty = self.run.read_modules((fault.source, fault.text()))
        changed, begin = self.changed(fault, faulty), time.monotonic()
        for name, module in faulty.items():
            changed |= {name} if changed & set(module.needs) else set()
            if name not in changed:
                shutil.copy(self.run.BUILD / f"{name}.vo", place)
            elif not name.startswith(self.run.PRINTS):
                _, status, output = self.run.compile_module(self.coqc, module, place)
                if status != 0:
                    return self.broken(fault, name, module, output, time.monotonic() - begin)
        return Outcome(
            Verdict.NOT_NOTICED, f"everything is still proved, {time.monotonic() - begin:.1f} s"
        )

    @staticmethod
    def broken(fault: Fault, name: str, module: Any, output: str, seconds: float) -> Outcome:
        """What of its module fails."""
        line = re.search(r'^File "[^"]*", line (\d+)', output, re.M)
        theorem = module.theorem_at(int(line[1])) if line else None
        wanted = fault.fields["coq"]
        return Outcome(
            Verdict.NOTICED if theorem == wanted else Verdict.ELSEWHERE,
            f"breaks {name}.{theorem}"
            + ("" if theorem == wanted else f", not {wanted}")
            + f", {seconds:.1f} s",
            output,
        )
