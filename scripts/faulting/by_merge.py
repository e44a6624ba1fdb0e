# SPDX-License-Identifier: Apache-2.0
"""`chunkproof gate` must find a wrong case of a kernel that merges, with the fault in it, and none
in the kernel as it is. Where the record has other words than `itself`, the finding has them: its
verdict, its text, or the mistake that it names.
"""

import json
import pathlib
import subprocess
import tempfile
from collections.abc import Sequence

from . import gate_build
from .catalogue import ROOT, Fault
from .who import GCC, Broken, Options, Outcome, Verdict, Who, jobs, make

LIMIT = 300  # seconds for all cases
CASES = "200"  # of tier quick, for the kernel as it is
NAMED = "120"  # for one whose mistake is named: in a single case others may give the same numbers


def findings(source: str, text: str, *arguments: str) -> list[str]:
    """What the gate says of the kernel with this text, one for each finding."""
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        commands, file, options = gate_build.build(place, source, source, text, False)
        report = place / "report.json"
        gate: list[object] = [GCC / "chunkproof", "gate", "--kernel", file, "--json", report]
        for command in [*commands, [*gate, *options, *arguments]]:
            done = subprocess.run(
                [str(part) for part in command],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT,
                check=False,
            )
            if done.returncode not in (0, 1) or (command in commands and done.returncode != 0):
                raise Broken(f"{source}: {done.stderr.strip() or done.returncode}")
        said = json.loads(report.read_text(encoding="utf-8"))
    return [f"{one['verdict']}: {one['text']}; {one['why'] or ''}" for one in said["findings"]]


class ByMerge(Who):
    """The gate, of kernels that merge."""

    name = "merge"

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.jobs = jobs(2)

    def prepare(self, faults: Sequence[Fault]) -> None:
        make(["build"], "the command and the library")

    def parts(self, faults: Sequence[Fault]) -> list[str]:
        return list(dict.fromkeys(fault.source for fault in faults))

    def failing(self, part: str) -> str | None:
        found = findings(part, (ROOT / part).read_text(encoding="utf-8"), "--cases", CASES)
        return f"{part} is wrong as it is: {found[0]}" if found else None

    def check(self, fault: Fault) -> Outcome:
        words = fault.fields["merge"]
        few = ["--first"] if words == "itself" else ["--cases", NAMED]
        found = findings(fault.source, fault.text(), *few)
        noticed = any(words == "itself" or words in one for one in found)
        return Outcome(
            Verdict.NOTICED if noticed else Verdict.NOT_NOTICED,
            found[0] if found else "no case is wrong",
        )
