# SPDX-License-Identifier: Apache-2.0
"""Tests of what follows from the gate's reports on seeded faults: who is killed, by which evidence,
and the pages that say so. Run by tests/catalogue.sh; each test is a method.
"""

import csv
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest
from collections.abc import Sequence

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))

import keep_cases  # noqa: E402
from faulting import catalogue, gate_build, kills, loop  # noqa: E402
from faulting.kills_page import page  # noqa: E402
from faulting.who import Options  # noqa: E402


class Kills(unittest.TestCase):
    """What follows from the gate's reports on a kernel, right and with a fault."""

    @staticmethod
    def entry(case: int, verdict: str = "right", values: str = "count",
              rejected: Sequence[str] = ()) -> kills.Json:
        return {
            "case": case,
            "values": values,
            "verdict": verdict,
            "judged": True,
            "rejected": list(rejected),
            "seconds": 0.5,
        }

    def row(self, *each: kills.Json, right: Sequence[kills.Json] = (),
            usual: Sequence[kills.Json] | None = None, fault: str = "one") -> kills.Row:
        usual = [self.entry(0)] if usual is None else usual
        findings = [{"verdict": "wrong", "case": 1, "text": "element <0> is & must not be"}]
        return kills.row_of(
            fault,
            "MERGE-4",
            "kernel",
            {"each": list(each), "usual": list(usual), "findings": findings},
            {"each": list(right), "usual": [self.entry(0)]},
        )

    def test_evidence_is_the_values_of_wrong_numbers_or_the_verdict(self) -> None:
        row = self.row(
            self.entry(0),
            self.entry(1, "wrong", "select"),
            self.entry(2, "hangs", "normal"),
            self.entry(3, "wrong", "zero"),
            self.entry(4, "wrong", "select"),
        )
        self.assertEqual((row.cases, row.killed, row.seconds), (5, 4, 1.0))
        self.assertEqual(
            row.first,
            {
                "case": 1,
                "values": "select",
                "verdict": "wrong",
                "text": "element <0> is & must not be",
            },
        )
        self.assertEqual(
            row.evidence,
            {
                "select": {"cases": 2, "first": 1},
                "hangs": {"cases": 1, "first": 2},
                "zero": {"cases": 1, "first": 3},
            },
        )
        self.assertEqual((kills.classes_of(row), kills.marks(row)), ("stf", ".s..t....f"))

    def test_every_kind_of_evidence_has_one_class(self) -> None:
        names = (ROOT / "gate" / "case" / "recipe.c").read_text(encoding="utf-8")
        names = names.split("gate_values_names", 1)[1].split("{", 1)[1].split("}", 1)[0]
        verdicts = (ROOT / "gate" / "judge" / "finding.c").read_text(encoding="utf-8")
        verdicts = verdicts.split("gate_verdict_names", 1)[1].split("{", 1)[1].split("}", 1)[0]
        known = set(re.findall(r'"([a-z-]+)"', names + verdicts)) - {
            "right",
            "wrong",
            "depends-on-others",
        }
        self.assertEqual(sorted(kills.KINDS), sorted(known))

    def test_a_rule_that_rejects_the_right_kernel_too_tells_nothing(self) -> None:
        row = self.row(
            self.entry(0, "wrong", rejected=["allclose 1e-2", "cosine > 0.99"]),
            self.entry(1, "wrong", rejected=["allclose 1e-2"]),
            right=[self.entry(0, rejected=["cosine > 0.99"]), self.entry(1)],
            usual=[self.entry(0, "wrong", rejected=["allclose 1e-3"])],
        )
        self.assertEqual({rule: n for rule, n in row.told.items() if n}, {"allclose 1e-2": 2})
        self.assertEqual(
            (kills.rule_marks(row.told), kills.rule_marks(row.usual)), ("2....", ".3...")
        )

    def test_the_summary_counts_survivors_and_what_one_class_alone_kills(self) -> None:
        rows = [
            self.row(self.entry(0, "wrong"), fault="counted"),
            self.row(self.entry(0), fault="alive"),
            self.row(self.entry(0, "wrong"), self.entry(1, "unwritten"), fault="both"),
            self.row(
                *(self.entry(i, "hangs", rejected=["cosine > 0.99"]) for i in range(5)),
                fault="often",
            ),
        ]
        summary = kills.summary_of(rows)
        self.assertEqual(
            (summary["faults"], summary["killed"], summary["survivors"]), (4, 3, ["alive"])
        )
        self.assertEqual(
            {name: faults for name, faults in summary["only"].items() if faults},
            {"count": ["counted"], "failure": ["often"]},
        )
        self.assertEqual(summary["few"], ["counted", "both"])
        self.assertEqual(
            summary["rules"]["cosine > 0.99"]["lets_through"], ["counted", "alive", "both"]
        )
        self.assertEqual(len(summary["rules"]["allclose 1e-2"]["usual_lets_through"]), 4)
        lines = kills.summary_lines(summary, True)
        self.assertIn("survives: alive", lines)
        self.assertIn("SURVIVES", kills.line_of(rows[1]))

    def test_where_there_was_no_usual_test_nothing_is_said_of_it(self) -> None:
        rows = [
            self.row(self.entry(0, "wrong"), usual=[], fault="cuda"),
            self.row(self.entry(0, "wrong"), fault="host"),
        ]
        summary = kills.summary_of(rows)
        self.assertEqual(
            (kills.rule_marks(rows[0].usual), kills.rule_marks(rows[1].usual)), ("-----", ".....")
        )
        self.assertEqual(summary["rules"]["allclose 1e-2"]["usual_lets_through"], ["host"])
        self.assertTrue(
            any(
                line.endswith("  1 of 1 in the usual test")
                for line in kills.summary_lines(summary, True)
            )
        )
        self.assertIn("cuda", page(rows, summary, True))
        out = io.StringIO()
        kills.write_csv(out, rows)
        self.assertEqual(
            [line["usual: cosine > 0.99"] for line in csv.DictReader(io.StringIO(out.getvalue()))],
            ["", "0"],
        )

    def test_each_fault_has_a_kernel_that_is_to_be_right_without_it(self) -> None:
        faults = [fault for fault in catalogue.load() if "gate" in fault.fields]
        self.assertGreater(len(faults), 380)
        for fault in faults:
            kernel = gate_build.kernel_of(fault)
            source, text = gate_build.as_it_is(kernel)
            self.assertTrue((ROOT / source).is_file() and text, source)
            self.assertEqual(gate_build.is_version(kernel), fault.source.startswith("kernels/"))

    def test_faults_in_cuda_are_for_the_deep_tier_but_for_some(self) -> None:
        faults = [fault for fault in catalogue.load() if "gate" in fault.fields]
        all_of_them, some = (
            len(loop.CLASSES["gate"](Options(named=named)).chosen(faults))
            for named in (True, False)
        )
        self.assertEqual(all_of_them, len(faults))
        deep = [fault for fault in faults if gate_build.is_deep(fault)]
        self.assertEqual(some + len(deep), len(faults))
        for kernel in map(gate_build.kernel_of, deep):
            self.assertTrue(gate_build.is_version(kernel) or kernel.endswith(".cu"), kernel)
        self.assertGreater(
            sum(gate_build.is_version(gate_build.kernel_of(fault)) for fault in faults), len(deep)
        )

    def test_kernels_in_cuda_get_few_cases_and_more_in_the_deep_tier(self) -> None:
        def cases(kernel: str, source: str, deep: bool) -> str | None:
            with tempfile.TemporaryDirectory() as place:
                options = gate_build.build(pathlib.Path(place), kernel, source, "", deep)[2]
                return options[options.index("--cases") + 1] if "--cases" in options else None

        version, plain, in_c = (
            ("version 1", "kernels/v1.h"),
            "tests/example/paged_kernel.cu",
            "tests/example/paged_kernel.c",
        )
        self.assertEqual([cases(*version, False), cases(*version, True)], ["16", "40"])
        self.assertEqual([cases(plain, plain, False), cases(plain, plain, True)], ["16", "100"])
        self.assertIsNone(cases(in_c, in_c, True))

    def test_small_cases_are_most_of_the_corpus_and_no_large_one(self) -> None:
        cases = keep_cases.read()
        names = {file.name for file in keep_cases.CASES.iterdir()}
        self.assertEqual(names, {keep_cases.file_of(case) for case in cases})
        for file in keep_cases.CASES.iterdir():
            for line in file.read_text(encoding="utf-8").splitlines():
                self.assertEqual(keep_cases.file_of(json.loads(line)), file.name)
        large = sum(keep_cases.file_of(case) == "large.jsonl" for case in cases)
        self.assertGreater(len(cases) - large, 10 * large)
        self.assertGreater(large, 0)
        lines = [
            line
            for file in keep_cases.CASES.iterdir()
            for line in file.read_text(encoding="utf-8").splitlines()
        ]
        self.assertEqual(
            (len(lines), len({json.dumps(case["recipe"], sort_keys=True) for case in cases})),
            (len(cases), len(cases)),
        )

    def test_a_case_is_of_a_fault_of_the_catalogue(self) -> None:
        known = {fault.name for fault in catalogue.load() if "gate" in fault.fields}
        self.assertEqual(
            [case["fault"] for case in keep_cases.read() if case["fault"] not in known], []
        )

    def test_the_page_escapes_and_needs_nothing_else(self) -> None:
        rows = [self.row(self.entry(1, "wrong"), fault="<b>&")]
        text = page(rows, kills.summary_of(rows), True)
        self.assertIn("&lt;b&gt;&amp;", text)
        self.assertIn("element &lt;0&gt; is &amp; must not be", text)
        for outside in ("<b>", "http", "<script", "src=", "@import"):
            self.assertNotIn(outside, text)

    def test_the_csv_has_a_column_for_each_kind_and_rule(self) -> None:
        out = io.StringIO()
        kills.write_csv(
            out,
            [self.row(self.entry(0, "wrong"), self.entry(2, "crashed")), self.row(self.entry(0))],
        )
        killed, alive = csv.DictReader(io.StringIO(out.getvalue()))
        self.assertEqual(
            (killed["count"], killed["crashed"], killed["zero"], killed["first case"]),
            ("1", "1", "0", "0"),
        )
        self.assertEqual((alive["killed"], alive["first case"]), ("0", ""))
        self.assertEqual((killed["cosine > 0.99"], killed["usual: cosine > 0.99"]), ("0", "0"))


if __name__ == "__main__":
    unittest.main()
