# SPDX-License-Identifier: Apache-2.0
"""Tests of tests/explain_rate.py: which faults it takes, how it grades an answer, and when a run
is a finding. Run by tests/catalogue.sh; each test is a method.
"""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import explain_rate  # noqa: E402

GRADES = """# fault | words of NAMED | words of AREA
scale-of-8 | scale of another d | scale
rescale-less | rescal | sum
"""
LEAST = "# measured by hand\nFAULTS 2\nNAMED 1\nMISLEADING 0\n"
NAMED = "case 1\n\n  as if the scale of another d had been taken\nstatus 1\n"
AREA = "case 1\n\n  the sum of weights is wrong\nstatus 1\n"
VAGUE = "case 1\n\n  numbers are wrong\nstatus 1\n"
MISLEADING = "case 1\n\n  as if the last key had been left out\nstatus 1\n"


class Rate(unittest.TestCase):
    """A small catalogue, words and answers that were kept."""

    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.faults = [explain_rate.Fault(name, "a.c", "a.c", "")
                       for name in ("newest", "rescale-less", "scale-of-8")]
        self.set("grades", GRADES)
        self.set("least", LEAST)
        for name, value in (("GRADES", self.place / "grades"), ("LEAST", self.place / "least"),
                            ("catalogue", lambda: self.faults)):
            patch = mock.patch.object(explain_rate, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def set(self, name: str, text: str) -> None:
        path = self.place / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def answers(self, **said: str) -> None:
        for name, text in said.items():
            self.set(f"{name.replace('_', '-')}/answer", text)

    def run_main(self, *arguments: str) -> tuple[int, str]:
        said = io.StringIO()
        with mock.patch.object(sys, "argv", ["explain_rate.py", "chunkproof", "--keep",
                                             str(self.place), "--answers", *arguments]), \
                contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                status = int(explain_rate.main())
            except SystemExit as end:
                status = int(end.code or 0)
        return status, said.getvalue()

    def finds(self, words: str, *arguments: str) -> None:
        status, said = self.run_main(*arguments)
        self.assertEqual(status, 1, said)
        self.assertIn(words, said)

    def test_explain_grades_are_one_of_four(self) -> None:
        for answer, expected in ((NAMED, "NAMED"), (AREA, "AREA"), (VAGUE, "VAGUE"),
                                 (MISLEADING, "MISLEADING")):
            words = ("scale of another d", "sum")
            got = explain_rate.grade(explain_rate.first_answer(answer), *words)
            self.assertEqual(got, expected)

    def test_explain_rate_takes_the_faults_with_words(self) -> None:
        self.answers(scale_of_8=NAMED, rescale_less=AREA, newest=MISLEADING)
        status, said = self.run_main()
        self.assertEqual(status, 0, said)
        self.assertIn("2 faults, 0 without a case to explain; of the other 2:", said)
        self.assertNotIn("newest", said)
        status, said = self.run_main("--all")
        self.assertEqual((status, "NO WORDS   newest" in said), (0, True), said)

    def test_explain_rate_that_names_fewer_is_a_finding(self) -> None:
        self.answers(scale_of_8=VAGUE, rescale_less=AREA)
        self.finds("0 NAMED, and 1 are the least")

    def test_explain_rate_that_misleads_more_is_a_finding(self) -> None:
        self.answers(scale_of_8=NAMED, rescale_less=MISLEADING)
        self.finds("1 MISLEADING, and 0 are the most")

    def test_explain_rate_without_cases_is_a_finding(self) -> None:
        self.finds("0 NAMED, and 1 are the least")

    def test_explain_rate_of_some_is_held_to_no_counts(self) -> None:
        self.answers(rescale_less=MISLEADING)
        self.assertEqual(self.run_main("rescale-less")[0], 0)

    def test_explain_rate_of_other_faults_than_were_measured_is_a_finding(self) -> None:
        self.answers(scale_of_8=NAMED, rescale_less=AREA, newest=NAMED)
        self.set("grades", GRADES + "newest | last key | -\n")
        self.finds("3 faults have words, and tests/explain/least is of 2")

    def test_explain_words_of_no_fault_are_a_finding(self) -> None:
        self.answers(scale_of_8=NAMED, rescale_less=AREA)
        self.set("grades", GRADES + "of-old | last key | -\n")
        self.finds("there is no fault of-old")

    def test_explain_rate_of_a_fault_without_words_is_a_finding(self) -> None:
        self.answers(newest=NAMED)
        self.finds("1 without words", "newest")

    def test_explain_rate_of_a_fault_that_there_is_not_is_bad_use(self) -> None:
        self.assertEqual(self.run_main("none")[0], 2)


class Committed(unittest.TestCase):
    """tests/explain/grades and tests/explain/least, as they stand."""

    def test_explain_words_are_of_faults_and_the_counts_of_these_words(self) -> None:
        words, least = explain_rate.grades(), explain_rate.least()
        self.assertEqual(explain_rate.strays(words, explain_rate.catalogue()), [])
        self.assertEqual(least["FAULTS"], len(words))
        self.assertLessEqual(least["NAMED"] + least["MISLEADING"], len(words))


if __name__ == "__main__":
    unittest.main()
