# SPDX-License-Identifier: Apache-2.0
"""Tests of the scripts that compare clauses with code and proofs, clauses.py and traceability.py,
on a copy of the tree. Run by tests/scripts.sh; each test is a method.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from typing import TypeAlias

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")

Change: TypeAlias = Callable[[str], None]  # changes a copy of the tree

NEW_FAULT = """
fault: new
clause: {}
wp: pool cp_pool_take
---- right
one
---- wrong
other
----
"""


class Clauses(unittest.TestCase):
    PARTS = ("spec", "include", "ref", "cli", "gate", "python", "proofs", "tests", "scripts")
    copy: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.copy = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.copy)
        for part in cls.PARTS:
            shutil.copytree(os.path.join(ROOT, part), os.path.join(cls.copy, part),
                            ignore=shutil.ignore_patterns("golden", "__pycache__"))

    @classmethod
    def undo(cls, since: int) -> None:
        """What was written since then is as in the tree again: copies have the times of what they
        are copies of."""
        for path in pathlib.Path(cls.copy).rglob("*"):
            if path.is_file() and path.stat().st_mtime_ns >= since:
                shutil.copy2(os.path.join(ROOT, path.relative_to(cls.copy)), path)

    def run_in_copy(self, script: str, change: Change) -> tuple[int, str]:
        """Exit status and output of a script in a copy of the tree, after
        change(path of the copy)."""
        began = time.time_ns() - 1_000_000_000
        change(self.copy)
        run = subprocess.run([sys.executable, "-B", os.path.join(self.copy, "scripts", script)],
                             capture_output=True, text=True)
        self.undo(began)
        return run.returncode, run.stdout

    @staticmethod
    def appends(path: str, text: str) -> Change:
        def change(copy: str) -> None:
            with open(os.path.join(copy, path), "a", encoding="utf-8") as file:
                file.write(text)
        return change

    @staticmethod
    def without_faults_of(clause: str) -> Change:
        """Without those that a proof must notice: the words of who it is are gone."""
        def change(copy: str) -> None:
            for path in pathlib.Path(copy, "tests", "faults").rglob("*.faults"):
                records = path.read_text(encoding="utf-8").split("fault: ")
                path.write_text("fault: ".join(
                    re.sub(r"^(wp|coq|cbmc): .*\n", "", record, flags=re.M)
                    if re.search(rf"^clause:.* {clause}\b", record, re.M)
                    else record for record in records), encoding="utf-8")
        return change

    @staticmethod
    def excuses(clause: str, heading: str = "| clause | why |\n|---|---|\n") -> Change:
        def change(copy: str) -> None:
            path = os.path.join(copy, "proofs", "SOUNDNESS.md")
            with open(path, encoding="utf-8") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(heading, f"{heading}| {clause} | - |\n"))
        return change

    @staticmethod
    def replaces(path: str, old: str, new: str) -> Change:
        def change(copy: str) -> None:
            file = pathlib.Path(copy, path)
            text = file.read_text(encoding="utf-8")
            assert text.count(old) == 1, old
            file.write_text(text.replace(old, new), encoding="utf-8")
        return change

    @classmethod
    def new_clause(cls, *texts: tuple[str, str]) -> Change:
        """A clause that the chapters do not have yet, and texts at the ends of
        files, with its name for {}."""
        def change(copy: str) -> None:
            for path, text in (("spec/pool.md", "### {} New\n"), *texts):
                cls.appends(path, text.replace("{}", "POOL%s" % "-8"))(copy)
        return change

    def test_the_tree_as_it_is_passes(self) -> None:
        for script in ("clauses.py", "traceability.py"):
            status, said = self.run_in_copy(script, lambda copy: None)
            self.assertEqual(status, 0, said)

    def test_findings(self) -> None:
        for script, change, says in (
                ("clauses.py", self.appends("ref/tree.c", "/* TREE%s */\n" % "-99"),
                 "no clause TREE"),
                ("clauses.py", self.appends("spec/pool.md", "### POOL%s New\n" % "-8"),
                 "-8: cited nowhere"),
                ("clauses.py", self.appends("spec/pool.md", "### POOL%s New\n" % "-9"),
                 "are numbered"),
                ("clauses.py", self.replaces("spec/README.md", "; LM-1 .. 5 |", "; LM-1 .. 4 |"),
                 "tokens.md is said to have TOKEN-1 .. 7; LM-1 .. 4; wrong: LM-5\n"),
                ("clauses.py",
                 self.replaces("spec/README.md", "NUM-3 to 15, 19", "NUM-3 to 16, 19"),
                 "wrong: NUM-16\n"),
                ("clauses.py", self.replaces("spec/README.md", "| [fast.md]", "| [tokens.md]"),
                 "no row for fast.md\n"),
                ("traceability.py", self.new_clause(), "-8: no proof"),
                ("traceability.py",
                 self.new_clause(("proofs/cbmc/plan.c", 'CHECK("{}: right", 1);\n')),
                 "-8: no seeded fault of it that a proof must notice"),
                ("traceability.py",
                 self.new_clause(("proofs/cbmc/schedule.c", 'CHECK("{}: of kernels", 1);\n')),
                 "-8: no proof"),
                ("traceability.py",
                 self.new_clause(("tests/faults/ref/pool.c.faults", NEW_FAULT)),
                 "-8: only faults of it are noticed"),
                ("traceability.py", self.without_faults_of("POOL-4"),
                 "POOL-4: no seeded fault of it breaks a contract"),
                ("traceability.py", self.excuses("TREE-1"), "TREE-1: has a proof"),
                ("traceability.py",
                 self.excuses("SOFTMAX-2", "| what the contracts do not say |\n|---|---|\n"),
                 "SOFTMAX-2: no contract says it, not even in part"),
                ("traceability.py",
                 self.excuses("TREE%s" % "-99", "| what the contracts do not say |\n|---|---|\n"),
                 "no clause TREE%s" % "-99"),
                ("traceability.py", self.excuses("POOL-4", "| what stands for it |\n|---|---|\n"),
                 "POOL-4: is named, but SOUNDNESS.md says that it is not"),
                ("traceability.py", self.excuses("TREE-5, TREE-6", "| clause | why |\n|---|---|\n"),
                 "no clause TREE-5, TREE-6"),
                ("traceability.py", self.appends("proofs/TRACEABILITY.md", "more\n"),
                 "out of date")):
            status, said = self.run_in_copy(script, change)
            self.assertEqual(status, 1, says)
            self.assertIn(says, said)


if __name__ == "__main__":
    unittest.main()
