# SPDX-License-Identifier: Apache-2.0
"""Sensitivity, measured: `chunkproof gate` must kill each fault in a kernel, and find nothing in
the kernel as it is.

A line for each says which classes of evidence killed it, which acceptance rules of other projects
tell the same results from right ones, and when. Each runs until it is killed; with --matrix through
all cases of the quick tier, and through the usual test of an attention kernel, by the same rules.
CUDA kernels run on the executor, in few cases and without the usual test. All faults of a tier
leave build/mutants/: mutants.json, mutants.csv and index.html.
"""

import collections
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

from . import gate_build, kills
from .catalogue import ROOT, Fault
from .kills_page import page
from .who import GCC, Broken, Options, Outcome, Verdict, Who, jobs, make

WORK = ROOT / "build" / "mutants"
LIMIT = 1800  # seconds for all calls

Kernel = collections.namedtuple("Kernel", "name report")


class Children:
    """Processes that are ended when the run is."""

    def __init__(self) -> None:
        self.running: set[subprocess.Popen[str]] = set()
        self.ended = False

    def run(self, command: Sequence[object]) -> tuple[int, str]:
        """(exit status, what it said on standard error)"""
        child = subprocess.Popen(
            [str(part) for part in command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self.running.add(child)
        if self.ended:
            child.kill()
        try:
            said = child.communicate(timeout=LIMIT)[1]
        except subprocess.TimeoutExpired:
            child.kill()
            raise Broken(f"{command[0]} did not end within {LIMIT} s") from None
        finally:
            self.running.discard(child)
        return child.returncode, said

    def end(self) -> None:
        self.ended = True
        for child in list(self.running):
            child.kill()


class ByGate(Who):
    """The gate."""

    name = "gate"

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.jobs = jobs((os.cpu_count() or 1) + 1)  # some wait for kernels that hang
        self.children = Children()
        self.kernels: dict[str, Kernel] = {}
        self.rows: dict[str, kills.Row] = {}
        self.deep = options.deep or options.named  # versions get more cases

    def chosen(self, faults: Sequence[Fault]) -> list[Fault]:
        return [fault for fault in faults if self.deep or not gate_build.is_deep(fault)]

    def prepare(self, faults: Sequence[Fault]) -> None:
        make(
            ["build", *(file.relative_to(ROOT) for file in gate_build.OBJECTS)],
            "the gate and kernels/",
        )

    def parts(self, faults: Sequence[Fault]) -> list[str]:
        return list(dict.fromkeys(gate_build.kernel_of(fault) for fault in faults))

    def report_of(
        self, name: str, kernel: str, source: str, text: str, *arguments: str
    ) -> dict[str, Any]:
        """Compiles a kernel and gives it to the gate."""
        place = WORK / "work" / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        commands, file, options = gate_build.build(place, kernel, source, text, self.deep)
        for command in commands:
            status, said = self.children.run(command)
            if status != 0:
                raise Broken(f"{name} does not compile: {said}")
        status, said = self.children.run(
            [
                GCC / "chunkproof",
                "gate",
                "--kernel",
                file,
                "--rules",
                "--json",
                place / "report.json",
                *options,
                *arguments,
            ]
        )
        if status not in (0, 1):
            raise Broken(f"{name}: the gate gives no verdict: {said or status}")
        report = json.loads((place / "report.json").read_text(encoding="utf-8"))
        shutil.rmtree(place)
        return dict(report)

    def failing(self, part: str) -> str | None:
        """Runs a kernel as it is in all cases, and keeps its report."""
        name = gate_build.name_of(part)
        report = self.report_of("none-" + name, part, *gate_build.as_it_is(part))
        self.kernels[part] = Kernel(name, report)
        wrong = sum(entry["verdict"] != "right" for entry in report["each"])
        return f"{name} is wrong in {wrong} cases as it is" if wrong else None

    def check(self, fault: Fault) -> Outcome:
        part = gate_build.kernel_of(fault)
        kernel = self.kernels[part]
        report = self.report_of(
            fault.name,
            part,
            fault.source,
            fault.text(),
            *([] if self.options.matrix else ["--first"]),
        )
        row = kills.row_of(fault.name, fault.clause, kernel.name, report, kernel.report)
        self.rows[fault.name] = row
        return Outcome(Verdict.NOTICED if row.killed else Verdict.NOT_NOTICED, kills.line_of(row))

    def line(self, fault: Fault, outcome: Outcome) -> str:
        return outcome.how

    def header(self) -> list[str]:
        lines = [
            "kernel as it is                cases  wrong  rejected by other projects' rules: "
            + ", ".join(rule for _, rule in kills.RULES)
        ]
        for kernel in self.kernels.values():
            wrong = sum(entry["verdict"] != "right" for entry in kernel.report["each"])
            alarms = " ".join(f"{rule['rejected']:4}" for rule in kernel.report["rules"])
            lines.append(f"{kernel.name:30} {len(kernel.report['each']):5}  {wrong:5}  {alarms}")
        return [*lines, "", kills.HEADER]

    def finish(self, complete: bool) -> list[str]:
        rows = [self.rows[name] for name in sorted(self.rows)]
        if not rows:
            return []
        summary, lines = kills.summary_of(rows), []
        if complete:
            self.write(rows, summary)
            lines = [f"written to {WORK.relative_to(ROOT)}/: mutants.json, mutants.csv, index.html"]
        return [*lines, *kills.summary_lines(summary, self.options.matrix)]

    def write(self, rows: list[kills.Row], summary: dict[str, Any]) -> None:
        alarms = {
            kernel.name: {rule["rule"]: rule["rejected"] for rule in kernel.report["rules"]}
            for kernel in self.kernels.values()
        }
        WORK.mkdir(parents=True, exist_ok=True)
        report = kills.json_of(rows, summary, alarms, self.options.matrix)
        (WORK / "mutants.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
        with open(WORK / "mutants.csv", "w", encoding="utf-8", newline="") as file:
            kills.write_csv(file, rows)
        (WORK / "index.html").write_text(page(rows, summary, self.options.matrix), encoding="utf-8")

    def end(self) -> None:
        self.children.end()
        shutil.rmtree(WORK / "work", ignore_errors=True)
