#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a report of `chunkproof gate --json` on a kernel that merges keep to its schema, and are its
numbers consistent?

    tests/gate_merging_report.py REPORT VERDICT     exit status 0 right, 1 a finding
"""

import json
import pathlib
import re
import sys
from typing import Any

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parent.parent


def load(path: pathlib.Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def kept(finding: Any) -> list[str]:
    """The file of a finding's case: by its own schema, and as the report has it."""
    schema = load(ROOT / "spec/gate-merging-case.schema.json")
    case = load(pathlib.Path(finding["file"]))
    jsonschema.Draft7Validator.check_schema(schema)
    said = [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(case)]
    recipe = {name: value for name, value in finding["recipe"].items() if name != "words"}
    if (case["recipe"], case["verdict"], case["text"]) != (
            recipe, finding["verdict"], finding["text"]):
        said.append(f"{finding['file']} has another case than the report")
    return said


def rules_of(report: Any) -> list[str]:
    """With --rules: each rule's counts are those of the cases, in their order."""
    said = []
    if [entry["case"] for entry in report["each"]] != list(range(report["cases"])):
        said.append("each: other cases than those that ran")
    for verdict, n in report["verdicts"].items():
        if sum(entry["verdict"] == verdict for entry in report["each"]) != n:
            said.append(f"each: {verdict} is there another number of times")
    for rule in report["rules"]:
        rejected = [entry for entry in report["each"] if rule["rule"] in entry["rejected"]]
        right = sum(entry["verdict"] == "right" for entry in rejected)
        for name, n in (
            ("cases", sum(entry["judged"] for entry in report["each"])),
            ("rejected", len(rejected)),
            ("rejected_right", right),
            ("accepted_wrong", report["wrong"] - (len(rejected) - right)),
            ("usual_cases", sum(entry["judged"] for entry in report["usual"])),
            ("usual_rejected", sum(rule["rule"] in entry["rejected"] for entry in report["usual"])),
        ):
            if rule[name] != n:
                said.append(f"{rule['rule']}: {name} is {rule[name]}, and {n} by the cases")
    return said


def findings(report: Any, schema: Any, verdict: str) -> list[str]:
    jsonschema.Draft7Validator.check_schema(schema)
    said = [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(report)]
    names = re.findall(r'^    \[GATE_\w+\] = "([a-z-]+)",$',
                       (ROOT / "gate/judge/finding.c").read_text(encoding="utf-8"), re.M)
    entry = schema["definitions"]["entries"]["items"]["properties"]
    for listed in (list(schema["properties"]["verdicts"]["properties"]), entry["verdict"]["enum"]):
        if listed != [*names, "depends-on-order", "depends-on-empty-parts"]:
            said.append("the schema has other verdicts than the gate")
    for what, part, whole in (
        ("cases", sum(tally["cases"] for tally in report["tallies"]), report["cases"]),
        ("wrong", sum(tally["wrong"] for tally in report["tallies"]), report["wrong"]),
        ("verdicts", sum(report["verdicts"].values()), report["cases"]),
        ("findings", sum(one["cases"] for one in report["findings"]), report["wrong"]),
    ):
        if part != whole:
            said.append(f"{what}: {part} together, and {whole} in all")
    if "rules" in report:
        said += rules_of(report)
    for one in report["findings"]:
        if one["file"] is not None:
            said += kept(one)
    if report["verdict"] != verdict:
        said.append(f"the verdict is {report['verdict']}")
    return said


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    schema = load(ROOT / "spec/gate-merging-report.schema.json")
    said = findings(load(pathlib.Path(sys.argv[1])), schema, sys.argv[2])
    print("\n".join(said))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
