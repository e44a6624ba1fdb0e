# SPDX-License-Identifier: Apache-2.0
"""The report of a run of scripts/verify.py: the data, the table, report.json and junit.xml."""

import json
import os
import re
import xml.etree.ElementTree as xml
from datetime import datetime, timezone
from typing import NotRequired, TypedDict

class Figure(TypedDict):
    name: str
    value: float
    of: NotRequired[float]
    unit: NotRequired[str]


class Entry(TypedDict):
    """What came of a stage."""

    name: str
    status: str
    reason: str
    seconds: float
    cpu: float
    summary: str
    figures: list[Figure]


class Report(TypedDict):
    """Of a run: scripts/report-schema.json."""

    schema: int
    project: str
    commit: str
    tier: str
    strict: bool
    started: str
    seconds: float
    cpu: float
    status: str
    passed: int
    failed: int
    skipped: int
    tools: dict[str, str]
    stages: list[Entry]


FIGURE = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z -]*?) (?P<value>\d+(\.\d+)?)(/(?P<of>\d+))?"
    r"( ?(?P<unit>%|s|ms|MiB))?$"
)
COUNT = re.compile(r"(?P<value>\d+) (?P<name>[A-Za-z][A-Za-z -]*)$")


def new(tier: str, strict: bool, commit: str, tools: dict[str, str]) -> Report:
    return {
        "schema": 1,
        "project": "chunkproof",
        "commit": commit,
        "tier": tier,
        "strict": strict,
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "seconds": 0.0,
        "cpu": 0.0,
        "status": "pass",
        "passed": 0,
        "failed": 0,
        "skipped": 0,
        "tools": tools,
        "stages": [],
    }


def figures_of(summary: str) -> list[Figure]:
    """`goals 75/75, lines 98.5 %` or `31 passed, 0 failed` as data; what is neither is left out,
    as is what stands behind a semicolon."""
    figures = []
    for part in summary.partition(";")[0].split(", "):
        found = FIGURE.match(part) or COUNT.match(part)
        if found:
            groups = found.groupdict()
            figure: Figure = {"name": groups["name"], "value": number(groups["value"])}
            if groups.get("of"):
                figure["of"] = number(groups["of"])
            if groups.get("unit"):
                figure["unit"] = groups["unit"]
            figures.append(figure)
    return figures


def number(text: str) -> float:
    return float(text) if "." in text else int(text)


def close(report: Report, seconds: float) -> None:
    """Adds up the stages. A status other than "pass" (interrupted) stays."""
    statuses = [entry["status"] for entry in report["stages"]]
    report["seconds"] = round(seconds, 2)
    report["cpu"] = round(sum(entry["cpu"] for entry in report["stages"]), 2)
    report["passed"] = statuses.count("pass")
    report["failed"] = statuses.count("fail")
    report["skipped"] = statuses.count("skip")
    if report["status"] == "pass" and report["failed"]:
        report["status"] = "fail"


def said(entry: Entry) -> str:
    """What one line has to say of a stage: its figures, or why it did not pass."""
    if entry["status"] == "pass":
        return entry["summary"]
    return f"{entry['reason']}; {entry['summary']}" if entry["figures"] else entry["reason"]


def table(report: Report) -> str:
    rows = [("stage", "result", "figures", "seconds", "CPU")]
    for entry in report["stages"]:
        rows.append(
            (
                entry["name"],
                entry["status"],
                said(entry),
                f"{entry['seconds']:.1f}",
                f"{entry['cpu']:.1f}",
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    lines = [
        f"{name:{widths[0]}}  {result:{widths[1]}}  {figures:{widths[2]}}  "
        f"{seconds:>{widths[3]}}  {cpu:>{widths[4]}}"
        for name, result, figures, seconds, cpu in rows
    ]
    lines.insert(1, "-" * len(lines[0]))
    return "\n".join(["", *lines, ""])


def slowest(report: Report, count: int = 5) -> str:
    """The stages that took the processors longest."""
    entries = sorted(report["stages"], key=lambda entry: -entry["cpu"])[:count]
    return "slowest: " + ", ".join(
        f"{entry['name']} {entry['seconds']:.0f} s (CPU {entry['cpu']:.0f} s)" for entry in entries
    )


def totals(report: Report) -> str:
    return (
        f"{report['passed']} passed, {report['failed']} failed, {report['skipped']} skipped "
        f"in {report['seconds']:.0f} s, CPU {report['cpu']:.0f} s (TIER={report['tier']})"
    )


def junit(report: Report) -> "xml.ElementTree[xml.Element]":
    suite = xml.Element(
        "testsuite",
        name="chunkproof verify",
        tests=str(len(report["stages"])),
        failures=str(report["failed"]),
        errors="0",
        skipped=str(report["skipped"]),
        time=str(report["seconds"]),
        timestamp=report["started"],
    )
    for entry in report["stages"]:
        case = xml.SubElement(
            suite, "testcase", classname="verify", name=entry["name"], time=str(entry["seconds"])
        )
        if entry["status"] == "fail":
            xml.SubElement(case, "failure", message=entry["reason"]).text = entry["summary"]
        elif entry["status"] == "skip":
            xml.SubElement(case, "skipped", message=entry["reason"])
        xml.SubElement(case, "system-out").text = entry["summary"]
    xml.indent(suite)
    return xml.ElementTree(suite)


def write(report: Report, directory: str) -> None:
    with open(os.path.join(directory, "report.json"), "w", encoding="utf-8") as file:
        json.dump(report, file, indent=2)
        file.write("\n")
    junit(report).write(os.path.join(directory, "junit.xml"), "utf-8", xml_declaration=True)
