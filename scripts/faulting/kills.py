# SPDX-License-Identifier: Apache-2.0
"""What killed a seeded fault: reports of `chunkproof gate --rules` as rows of a matrix, and what
follows from all of them. by_gate.py makes the reports, kills_page.py a page of the matrix.

A kind of evidence is the values of a case whose numbers were wrong, or else the verdict. A rule of
others tells a fault when it rejects a result in a case in which it accepts the right kernel's: one
that rejects both knows nothing.
"""

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TextIO

Json = dict[str, Any]

VALUES = (
    "count",
    "select",
    "normal",
    "massive",
    "one-hot",
    "offset",
    "shifted",
    "rising",
    "falling",
    "subnormal",
    "zero",
    "large",
    "creeping",
    "extreme",
)

# letter, class, its kinds of evidence
CLASSES = (
    ("c", "count", ("count",)),
    ("s", "select", ("select",)),
    ("r", "random", ("normal", "massive", "one-hot", "offset")),
    ("e", "extreme scores", ("shifted", "rising", "falling", "creeping", "extreme")),
    ("t", "tiny or large", ("subnormal", "zero", "large")),
    ("N", "no number", ("not-a-number",)),
    ("w", "writes", ("unwritten", "wrote-between")),
    ("b", "bits", ("other-bits", "remembers", "races")),
    ("m", "memory", ("out-of-bounds", "wrote-input", "wrote-late")),
    ("f", "failure", ("failed", "crashed", "exited", "hangs", "undefined")),
)
KINDS = tuple(kind for _, _, kinds in CLASSES for kind in kinds)

# letter, rule as the gate calls it
RULES = (
    ("2", "allclose 1e-2"),
    ("3", "allclose 1e-3"),
    ("b", "abs and rel both over 1e-2"),
    ("p", "twice the plain error"),
    ("c", "cosine > 0.99"),
)

FEW = 4  # cases that are few


@dataclass
class Row:
    fault: str
    clause: str
    kernel: str
    cases: int = 0  # that were run
    killed: int = 0  # of these
    seconds: float = 0.0  # until the first that killed it
    first: Json = field(default_factory=dict)  # that case: case, values, verdict, text
    evidence: Json = field(default_factory=dict)  # kind: {"cases", "first"}
    told: dict[str, int] = field(default_factory=dict)  # rule: cases in which it tells the fault
    usual: dict[str, int] = field(
        default_factory=dict
    )  # the same of the usual test; empty: it was not run


def kind_of(entry: Json) -> str:
    is_number = entry["verdict"] in ("wrong", "depends-on-others")
    return str(entry["values" if is_number else "verdict"])


def told_by(entries: Sequence[Json], right: Sequence[Json]) -> dict[str, int]:
    """How many of the cases each rule tells from the right kernel's."""
    alarms = {entry["case"]: set(entry["rejected"]) for entry in right}
    told = {rule: 0 for _, rule in RULES}
    for entry in entries:
        for rule in set(entry["rejected"]) - alarms.get(entry["case"], set()):
            told[rule] += 1
    return told


def row_of(fault: str, clause: str, kernel: str, report: Json, right: Json) -> Row:
    """Of a fault's report and that of the kernel as it is."""
    row = Row(fault, clause, kernel, cases=len(report["each"]))
    for entry in report["each"]:
        if not row.killed:
            row.seconds += entry["seconds"]
        if entry["verdict"] == "right":
            continue
        row.killed += 1
        seen = row.evidence.setdefault(kind_of(entry), {"cases": 0, "first": entry["case"]})
        seen["cases"] += 1
        if not row.first:
            texts = {
                found["verdict"]: found["text"]
                for found in report["findings"]
                if found["case"] == entry["case"]
            }
            row.first = {
                "case": entry["case"],
                "values": entry["values"],
                "verdict": entry["verdict"],
                "text": texts.get(entry["verdict"], ""),
            }
    row.told = told_by(report["each"], right["each"])
    row.usual = told_by(report["usual"], right["usual"]) if report["usual"] else {}
    return row


def classes_of(row: Row) -> str:
    """Letters of the classes that killed it, in their order."""
    return "".join(letter for letter, _, kinds in CLASSES if set(kinds) & row.evidence.keys())


def marks(row: Row) -> str:
    """A place for each class: its letter, or a point."""
    return "".join(letter if letter in classes_of(row) else "." for letter, _, _ in CLASSES)


def rule_marks(told: dict[str, int]) -> str:
    return (
        "".join(letter if told[rule] else "." for letter, rule in RULES)
        if told
        else "-" * len(RULES)
    )


def line_of(row: Row) -> str:
    where = (
        f"case {row.first['case']}: {row.first['verdict']}, {row.first['values']}"
        if row.first
        else "SURVIVES"
    )
    return (
        f"{row.fault:48} {row.clause:10} {marks(row)}  "
        f"{rule_marks(row.told)}  {rule_marks(row.usual)}  "
        f"{row.seconds:6.2f} s  {row.killed:5}  {where}"
    )


HEADER = (
    f"{'fault':48} {'clause':10} {'evidence':10}  "
    f"{'rules':5}  {'usual':5}  {'killed in':>8}  cases  first evidence"
)


def summary_of(rows: Sequence[Row]) -> Json:
    """The figures: what mutants.json has beside the rows."""
    killed = [row for row in rows if row.killed]
    seconds = sorted(row.seconds for row in killed)
    return {
        "faults": len(rows),
        "killed": len(killed),
        "survivors": [row.fault for row in rows if not row.killed],
        "seconds": (
            {"median": seconds[len(seconds) // 2], "largest": seconds[-1]} if seconds else {}
        ),
        "only": {
            name: [row.fault for row in killed if classes_of(row) == letter]
            for letter, name, _ in CLASSES
        },
        "few": [row.fault for row in killed if row.killed <= FEW],
        "rules": {
            rule: {
                "lets_through": [row.fault for row in rows if not row.told[rule]],
                "usual_lets_through": [
                    row.fault for row in rows if row.usual and not row.usual[rule]
                ],
            }
            for _, rule in RULES
        },
        "usual": sum(bool(row.usual) for row in rows),
    }


def summary_lines(summary: Json, whole: bool) -> list[str]:
    """whole: each fault met all cases, not those until the first that killed it alone."""
    lines = [
        "",
        "evidence: " + ", ".join(f"{letter} {name}" for letter, name, _ in CLASSES),
        "other acceptance rules that detect the fault: "
        + ", ".join(f"{letter} {rule}" for letter, rule in RULES),
        "",
    ]
    if summary["seconds"]:
        lines.append(
            f"killed in {summary['seconds']['median']:.2f} s (the median), "
            f"{summary['seconds']['largest']:.2f} s "
            "at most"
        )
    if whole:
        only = [f"{name} {len(faults)}" for name, faults in summary["only"].items() if faults]
        lines.append("killed by one class alone: " + (", ".join(only) or "none"))
        lines.append(f"killed by {FEW} cases at most: " + (", ".join(summary["few"]) or "none"))
    cases = "in all cases" if whole else "until it is killed"
    for _, rule in RULES:
        through = summary["rules"][rule]
        lets = f"{len(through['lets_through']):3} of {summary['faults']}"
        line = f"{rule:28} lets {lets} through {cases}"
        if summary["usual"]:
            line += (
                f", {len(through['usual_lets_through']):3} of {summary['usual']} in the usual test"
            )
        lines.append(line)
    lines += [f"survives: {fault}" for fault in summary["survivors"]]
    return lines


def write_csv(file: TextIO, rows: Sequence[Row]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    rules = [rule for _, rule in RULES]
    writer.writerow(
        [
            "fault",
            "clause",
            "kernel",
            "cases",
            "killed",
            "seconds",
            "first case",
            "first evidence",
            *KINDS,
            *rules,
            *(f"usual: {rule}" for rule in rules),
        ]
    )
    for row in rows:
        first = [row.first["case"], row.first["verdict"]] if row.first else ["", ""]
        writer.writerow(
            [
                row.fault,
                row.clause,
                row.kernel,
                row.cases,
                row.killed,
                f"{row.seconds:.3f}",
                *first,
                *(row.evidence.get(kind, {"cases": 0})["cases"] for kind in KINDS),
                *(row.told[rule] for rule in rules),
                *(row.usual.get(rule, "") for rule in rules),
            ]
        )


def json_of(rows: Sequence[Row], summary: Json, alarms: Json, whole: bool) -> Json:
    """alarms: kernel: rule: cases in which the rule rejects the right kernel."""
    return {
        "matrix": whole,
        "summary": summary,
        "false_alarms": alarms,
        "rows": [asdict(row) for row in rows],
    }
