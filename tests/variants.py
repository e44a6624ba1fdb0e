# SPDX-License-Identifier: Apache-2.0
"""spec/variants.md: its clauses and theorems exist, its declarations are members of the headers,
and there are as many faults as it says. spec/README.md has the number of each chapter's last
clause. Run by tests/variants.sh."""

import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from faulting import catalogue  # noqa: E402

PAGE = ROOT / "spec" / "variants.md"
CLAUSE = re.compile(r"[A-Z]+-[0-9]+")
HEADING = re.compile(r"^### ([A-Z]+-[0-9]+) ", re.MULTILINE)
MOST = 12  # variants


def rows(columns: int) -> dict[int, list[str]]:
    """The rows of the table with so many columns, by their numbers."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines
             if line.startswith("|")]
    return {int(row[0]): row[1:] for row in cells if len(row) == columns and row[0].isdigit()}


def clauses_of(cell: str) -> list[str]:
    """`X-1, 2` is X-1 and X-2; `X-1 to X-12` stands for all between."""
    clauses = [f"{family}-{number}"
               for family, numbers in re.findall(r"([A-Z]+)-([0-9]+(?:, [0-9]+)*)", cell)
               for number in numbers.split(", ")]
    for family, first, last in re.findall(r"([A-Z]+)-([0-9]+) to \1-([0-9]+)", cell):
        clauses += [f"{family}-{i}" for i in range(int(first) + 1, int(last))]
    return clauses


def headings(text: str) -> list[str]:
    return HEADING.findall(text)


class Variants(unittest.TestCase):
    def setUp(self) -> None:
        self.proved, self.computed = rows(4), rows(6)

    def test_each_variant_is_in_both_tables(self) -> None:
        self.assertEqual(sorted(self.proved), list(range(1, MOST + 1)))
        self.assertEqual(sorted(self.computed), list(range(1, MOST + 1)))

    def test_its_clauses_exist(self) -> None:
        there = {clause for path in (ROOT / "spec").glob("*.md")
                 for clause in headings(path.read_text(encoding="utf-8"))}
        for number, row in self.proved.items():
            clauses = clauses_of(row[1])
            self.assertTrue(clauses, number)
            self.assertLessEqual(set(clauses), there, number)

    def test_its_theorem_exists(self) -> None:
        for number, row in self.proved.items():
            named = re.fullmatch(r"(\w+\.v) `(\w+)`", row[2])
            if named is None:
                self.assertTrue(row[2].startswith("none: "), number)
                continue
            text = (ROOT / "proofs" / "coq" / named[1]).read_text(encoding="utf-8")
            self.assertRegex(text, rf"\b(Theorem|Corollary|Lemma) {named[2]}\b")

    def test_what_a_kernel_declares_is_in_a_header(self) -> None:
        text = "".join((ROOT / "include" / "chunkproof" / name).read_text(encoding="utf-8")
                       for name in ("kernel.h", "merge_kernel.h"))
        for number, row in self.computed.items():
            names = re.findall(r"`([\w.]+)`", row[3])
            self.assertTrue(names, number)
            for name in (part for whole in names for part in whole.split(".")):
                self.assertRegex(text, rf"\b{name}\b", number)

    def test_there_are_as_many_faults(self) -> None:
        faults = catalogue.load()
        for number, row in self.computed.items():
            clauses = set(clauses_of(self.proved[number][1]))
            about = [fault for fault in faults
                     if (fault.source.startswith("kernels/") if number == 9
                         else clauses & set(CLAUSE.findall(fault.fields.get("clause", ""))))]
            self.assertGreaterEqual(len(about), int(row[4]), number)
            self.assertLess(len(about), 2 * int(row[4]), f"{number}: the page says too few")


class Chapters(unittest.TestCase):
    def test_the_last_clause_of_each_chapter(self) -> None:
        text = (ROOT / "spec" / "README.md").read_text(encoding="utf-8")
        seen = 0
        for name, family, last in re.findall(
                r"^\| \[(\w+\.md)\]\(\w+\.md\) \| ([A-Z]+)-1 \.\. ([0-9]+) \|", text, re.MULTILINE):
            clauses = headings((ROOT / "spec" / name).read_text(encoding="utf-8"))
            numbers = [int(one.split("-")[1]) for one in clauses if one.startswith(f"{family}-")]
            self.assertEqual(max(numbers), int(last), name)
            seen += 1
        self.assertGreater(seen, 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
