# SPDX-License-Identifier: Apache-2.0
"""spec/variants.md: its clauses and theorems exist, its declarations are members of the headers,
and there are as many faults as it and spec/README.md say (scripts/variant_faults.py).
spec/README.md has the number of each chapter's last clause. Run by tests/variants.sh."""

import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import variant_faults  # noqa: E402
from faulting import catalogue  # noqa: E402
from variant_faults import clauses_of  # noqa: E402

PAGE = ROOT / "spec" / "variants.md"
HEADING = re.compile(r"^### ([A-Z]+-[0-9]+) ", re.MULTILINE)
MOST = 12  # variants


def rows(columns: int) -> dict[int, list[str]]:
    """The rows of the table with so many columns, by their numbers."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines
             if line.startswith("|")]
    return {int(row[0]): row[1:] for row in cells if len(row) == columns and row[0].isdigit()}


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
        self.assertEqual(variant_faults.out_of_date(write=False), [])

    def test_faults_are_counted_by_their_clauses(self) -> None:
        faults = catalogue.load()
        for number, row in self.computed.items():
            clauses = clauses_of(self.proved[number][1])
            about = [fault for fault in faults if set(fault.clauses) & set(clauses)]
            if number != 9:
                self.assertEqual(int(row[4]), len(about), number)
            self.assertGreaterEqual(len(about), 30, number)

    def test_bfloat16_in_cuda_is_not_all_of_kernels(self) -> None:
        named = [fault for fault in catalogue.load() if fault.source.startswith("kernels/")
                 and re.search(r"bfloat|bf16", f"{fault.name} {fault.fields} {fault.changes}")]
        self.assertEqual(int(self.computed[9][4]), len(named))
        self.assertEqual(self.proved[9][0], variant_faults.IN_CUDA)

    def test_lists_of_clauses(self) -> None:
        self.assertEqual(clauses_of("NUM-7, 20 .. 22, GATE-15"),
                         ["NUM-7", "NUM-20", "NUM-21", "NUM-22", "GATE-15"])
        self.assertEqual(clauses_of("CONV-1 to CONV-4"), [f"CONV-{i}" for i in range(1, 5)])
        self.assertEqual(clauses_of("CONV-2, CONV-3"), ["CONV-2", "CONV-3"])

    def test_another_number_is_noticed(self) -> None:
        faults = catalogue.load()
        for page in (variant_faults.VARIANTS, variant_faults.README):
            text = page.read_text(encoding="utf-8")
            rows = [line for line in text.split("\n") if re.search(r"\| [0-9]+ \|$", line)]
            self.assertGreaterEqual(len(rows), MOST, page)
            for row in rows:
                other = re.sub(r"([0-9]+) \|$", r"1\1 |", row)
                counted = variant_faults.counted(text.replace(row, other), faults)
                self.assertEqual(counted, text, row)


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
