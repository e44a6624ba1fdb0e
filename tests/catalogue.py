# SPDX-License-Identifier: Apache-2.0
"""Tests of the catalogue of seeded faults: its form, its check, its command. Run by
tests/catalogue.sh; each test is a method. What follows from the gate's reports: tests/kills.py.
"""

import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable
from typing import TypeAlias

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))

from faulting import by_wp, catalogue, loop, programs  # noqa: E402

Said: TypeAlias = tuple[int, str]  # an exit status, and what was printed

RECORD = """fault: {name}
clause: POOL-2
{fields}
---- right
{right}
---- wrong
{wrong}
----
"""
RIGHT = "    pool->n_free++;"


def record(name: str = "a-new-one", fields: str = "test: test_pool", right: str = RIGHT,
           wrong: str = "    pool->n_free += 2;") -> str:
    return RECORD.format(name=name, fields=fields, right=right, wrong=wrong)


class InCopy(unittest.TestCase):
    """A copy of what the catalogue is about."""

    PARTS = (
        "spec",
        "include",
        "ref",
        "opt",
        "cli",
        "gate",
        "kernels",
        "proofs",
        "python",
        "scripts",
        "tests",
    )

    copy: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.copy = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.copy)
        for part in cls.PARTS:
            shutil.copytree(
                ROOT / part, cls.copy / part, ignore=shutil.ignore_patterns("golden", "__pycache__")
            )

    def faults(self, *arguments: str, **environment: str) -> Said:
        run = subprocess.run(
            [sys.executable, self.copy / "scripts" / "faults", *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
        )
        return run.returncode, run.stdout + run.stderr

    def with_text(self, path: str, text: str, act: Callable[[], Said]) -> Said:
        """act(), with text in the place of a file, or at its end where it begins with a record."""
        file = self.copy / path
        before = file.read_text(encoding="utf-8") if file.exists() else None
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{before or ''}\n{text}", encoding="utf-8")
        try:
            return act()
        finally:
            if before is None:
                file.unlink()
            else:
                file.write_text(before, encoding="utf-8")


class Check(InCopy):
    """scripts/faults --check finds what is wrong with a record."""

    POOL = "tests/faults/ref/pool.c.faults"

    def check(self, text: str, path: str = POOL) -> Said:
        return self.with_text(path, text, lambda: self.faults("--check"))

    def finds(self, text: str, says: str, path: str = POOL) -> str:
        status, said = self.check(text, path)
        self.assertEqual(status, 1, says)
        self.assertIn(says, said)
        return said

    def test_the_tree_as_it_is_passes(self) -> None:
        status, said = self.faults("--check")
        self.assertEqual((status, said.splitlines()[-1].endswith("findings 0")), (0, True), said)

    def test_a_new_record_that_is_right_passes(self) -> None:
        status, said = self.check(record())
        self.assertEqual(status, 0, said)

    def test_a_text_that_is_not_in_the_source_is_found_with_its_line(self) -> None:
        lines = (self.copy / self.POOL).read_text(encoding="utf-8").count("\n")
        said = self.finds(
            record(right="    pool->n_free+++;"),
            "its text is not in ref/pool.c; quote what stands there now",
        )
        self.assertIn(f"{self.POOL}:{lines + 5}: fault a-new-one", said)
        self.assertIn(RIGHT, said)

    def test_a_text_that_stands_twice_is_found(self) -> None:
        self.finds(record(right="pool"), "times in ref/pool.c; quote more lines around it")

    def test_a_change_that_changes_nothing_is_found(self) -> None:
        self.finds(record(wrong=RIGHT), "the right text is the wrong one")

    def test_a_source_that_does_not_exist_is_found(self) -> None:
        self.finds(record(), "there is no ref/pond.c", "tests/faults/ref/pond.c.faults")

    def test_a_name_that_is_taken_is_found(self) -> None:
        self.finds(record(name="join-order"), "the name join-order is taken")

    def test_a_change_that_is_stated_twice_is_found(self) -> None:
        self.finds(
            record() + "\n" + record(name="another-one"),
            "fault another-one is the same change as a-new-one",
        )

    def test_the_same_change_of_another_quotation_is_found(self) -> None:
        self.finds(
            record() + "\n" + record(name="another-one", right="n_free++;", wrong="n_free += 2;"),
            "fault another-one is the same change as a-new-one",
        )

    def test_what_a_record_names_must_exist(self) -> None:
        wrong = (
            ("test: test_pond", "no such test"),
            ("test: cli_pond", "no such test"),
            ("test: install", "no such test"),
            ("wp: pond cp_pool_take", "no such unit and function"),
            ("wp: pool cp_pond_take", "no such unit and function"),
            ("control: pool cp_pool_take", "a control has no other field"),
            ("wp: pool cp_pool_take.pond", "has a clause `ensures pond:`"),
            ("cbmc: pond", "no such harness"),
            ("coq: pond", "is not in proofs/coq/"),
            ("gate: itself", "ref/pool.c is no kernel"),
            ("gate: version 1", "kernels/"),
            ("gate: tests/gate/pond.c", "no such kernel"),
            ("kernel: version 9", "launcher, lists, widths, masks, or the version"),
            ("extract: many", "a number of operations"),
            ("eacsl: pond cp_pool_take.ok", "no such driver"),
            ("eacsl: fuzz cp_pond_take.ok", "no function cp_pond_take"),
            ("eacsl: fuzz cp_pool_take.pond", "has a clause pond"),
            ("fuzz: pond 10", "a number of runs"),
            ("fuzz: tree many", "a number of runs"),
            ("needs: avx2", "nobody must notice it"),
            ("wp: pool cp_pool_take\nneeds: avx2", "`needs:` is for `test:`"),
            ("test: test_pool\nwider: no", "`wider:` is for `explain:`"),
            ("test: test_pool\npublic: vllm28840", "a public bug is PROJECT#NUMBER"),
            ("test: test_pool\npublic: vllm#936a", "a public bug is PROJECT#NUMBER"),
            ("test: test_pool\npublic: vllm#0936", "a public bug is PROJECT#NUMBER"),
            ("test: test_pool\npublic: pond#936", "pond is no project of REPOSITORIES"),
            ("test: test_pool\npublic: vllm#1 vllm#1", "it stands there 2 times"),
        )
        records = (record(name=f"new-{i}", fields=of) for i, (of, _) in enumerate(wrong))
        status, said = self.check("\n".join(records))
        self.assertEqual(status, 1)
        for i, (fields, says) in enumerate(wrong):
            named = [line for line in said.splitlines() if f" new-{i}:" in line]
            self.assertIn(says, "\n".join(named), fields)

    def test_a_shell_test_notices_faults_of_the_command(self) -> None:
        of_main = record(fields="test: cli_main", right='"--version") == 0', wrong='"--V") == 0')
        status, said = self.check(of_main.replace("clause: POOL-2\n", ""),
                                  "tests/faults/cli/main.c.faults")
        self.assertEqual(status, 0, said)
        self.finds(record(fields="test: cli_main"), "kernels/v1.h is no source of the command",
                   "tests/faults/kernels/v1.h.faults")

    def test_what_a_control_names_must_exist(self) -> None:
        for named, says in (
            ("pond cp_pool_take", "no such unit and function"),
            ("pool cp_pool_take.ok", "it says UNIT FUNCTION"),
        ):
            changed = f"---- right\n{RIGHT}\n---- wrong\n    ++pool->n_free;\n----\n"
            self.finds(f"fault: a-new-one\ncontrol: {named}\n{changed}", says)

    def test_a_unit_needs_a_fault_that_its_proofs_notice(self) -> None:
        said = self.finds("pond cp_pond 3 2 z3\n", "the unit pond has no fault",
                          "proofs/wp/expected.txt")
        self.assertTrue(said.splitlines()[-1].endswith("findings 1"), said)

    def test_a_unit_whose_proofs_notice_faults_needs_a_control(self) -> None:
        file = self.copy / "tests/faults/ref/status.c.faults"
        before = file.read_text(encoding="utf-8")
        file.write_text(before.replace("control: ", "wp: "), encoding="utf-8")
        try:
            status, said = self.faults("--check")
        finally:
            file.write_text(before, encoding="utf-8")
        self.assertEqual((status, "the unit status has no control" in said), (1, True), said)

    def test_a_theorem_must_exist(self) -> None:
        text = record(
            fields="coq: pond", right="  | _ => fun i => A J i / W J", wrong="  | _ => fun i => W J"
        )
        self.finds(text, "there is no such theorem", "tests/faults/proofs/coq/Softmax.v.faults")

    def test_the_page_of_public_bugs_is_what_records_say(self) -> None:
        text = record(fields="public: vllm#1 aiter#2\ntest: test_pool")
        self.finds(text, "PUBLIC.md: it is out of date: scripts/faults --public")
        status, page = self.with_text(self.POOL, text, lambda: self.faults("--public"))
        self.assertEqual(status, 0, page)
        self.assertRegex(page, r"(?s)\n- aiter#2: a-new-one\n.*\n- vllm#1: a-new-one\n")
        file = self.copy / "tests" / "faults" / "PUBLIC.md"
        before = file.read_text(encoding="utf-8")
        file.write_text(page, encoding="utf-8")
        try:
            self.assertEqual(self.check(text)[0], 0)
        finally:
            file.write_text(before, encoding="utf-8")

    def test_a_clause_must_exist(self) -> None:
        self.finds(record().replace("POOL-2", "POOL%s" % "-99"), "-99: spec/ has no such clause")
        self.finds(record().replace("clause: POOL-2\n", ""), "it has no `clause:`")


class Form(unittest.TestCase):
    """Records as text."""

    def read(self, text: str) -> tuple[list[catalogue.Fault], list[str]]:
        with tempfile.TemporaryDirectory() as place:
            root = pathlib.Path(place)
            (root / "tests" / "faults" / "ref").mkdir(parents=True)
            (root / "tests" / "faults" / "ref" / "pool.c.faults").write_text(text, encoding="utf-8")
            return catalogue.read(root)

    def test_what_is_written_is_read_again(self) -> None:
        faults = catalogue.load()
        self.assertGreater(len(faults), 800)
        for _, of_source in itertools.groupby(faults, lambda fault: fault.source):
            expected = list(of_source)
            found, problems = self.read(
                "# A comment.\n\n" + "\n# Another.\n\n".join(map(catalogue.written, expected))
            )
            self.assertEqual(problems, [])
            self.assertEqual(
                [[(change.right, change.wrong) for change in fault.changes] for fault in found],
                [[(change.right, change.wrong) for change in fault.changes] for fault in expected],
            )
            self.assertEqual(
                [(fault.name, fault.fields) for fault in found],
                [(fault.name, fault.fields) for fault in expected],
            )

    def test_a_malformed_record_is_found(self) -> None:
        for text, says in (
            (record().replace("fault: a-new-one\n", ""), "a record begins with `fault: NAME`"),
            (record(name="Of_Mine"), "a record begins with `fault: NAME`"),
            (record(fields="test: test_pool\ntest: test_tree"), "a second `test:`"),
            (record(fields="tests: test_pool"), "`tests: test_pool` is no field"),
            (record(fields="test:"), "`test:` is no field"),
            (record().replace("---- wrong\n", ""), "`---- right` without `---- wrong` after it"),
            (record().replace("---- right\n", ""), "`    pool->n_free++;` is no field"),
            (record().removesuffix("----\n"), "the record's last line, `----`, is missing"),
            ("fault: a-new-one\ntest: test_pool\n", "it changes nothing"),
            (record(right=""), "the right text is empty"),
        ):
            _, problems = self.read(text)
            self.assertIn(says, "\n".join(problems), text)

    def test_the_faults_of_the_papers_prototype_are_noticed(self) -> None:
        chapter = (ROOT / "spec" / "modules.md").read_text(encoding="utf-8")
        section = chapter.partition("## What the paper's prototype does otherwise")[2]
        faults = {fault.name: fault for fault in catalogue.load()}
        table = section.partition("\n## ")[0]
        rows = re.findall(r"^\| ([0-9]) \| (.*) \| (?:(.*) )?\|$", table, re.M)
        clauses = {number: clause for number, _, clause in rows[:9]}
        self.assertEqual([number for number, *_ in rows], [*clauses] * 2)
        self.assertEqual(len(clauses), 9)
        for number, first, proof in rows[9:]:
            named = re.findall(r"`([a-z0-9-]+)`", first + proof)
            self.assertEqual([name for name in named if name not in faults], [], first)
            self.assertIn("test", faults[named[0]].fields, first)
            broken = faults[named[0]].fields["clause"].split()
            self.assertTrue({*clauses[number].split(", ")} & {*broken}, first)

    def test_long_words_go_on_in_lines_that_begin_with_spaces(self) -> None:
        (fault,), problems = self.read(record(fields="explain: of two\n    lines\ntest: test_pool"))
        self.assertEqual((problems, fault.fields["explain"]), ([], "of two lines"))
        for line in catalogue.written(fault).splitlines():
            self.assertLessEqual(len(line), 100)
        for fields in ("    of none", "test: test_pool\n    test_tree", "explain: of two\n  lines"):
            _, problems = self.read(record(fields=fields))
            self.assertIn("is no field", problems[0])

    def test_texts_are_exact(self) -> None:
        (fault,), _ = self.read(record(right="  a\n\n  b\n", wrong="\n#x: y\n  ---- right\n"))
        self.assertEqual(
            (fault.changes[0].right, fault.changes[0].wrong),
            ("  a\n\n  b\n", "\n#x: y\n  ---- right\n"),
        )

    def test_several_places_are_changed_one_after_the_other(self) -> None:
        (fault,), problems = self.read(
            record(right="a", wrong="b").removesuffix("----\n")
            + "---- right\nc\n---- wrong\n----\n"
        )
        self.assertEqual(
            (problems, [(c.right, c.wrong) for c in fault.changes]), ([], [("a", "b"), ("c", "")])
        )


class Command(InCopy):
    """scripts/faults."""

    def test_bad_use_says_what_to_do(self) -> None:
        for arguments, says in (
            (("join-ordr",), "no fault is called join-ordr; like it are join-order"),
            (("--by", "nobody"), "--by takes test, python, kernel, gate"),
            (("--for", "ref/pol.c"), "no fault is in ref/pol.c; like it are ref/pool.c"),
            (("tree-join-copies-one-less",), "is not for test: try --by wp"),
            (("--for", "kernels/v1.h"), "no fault of kernels/v1.h is for test"),
            (("--by", "coq,fuzz", "tree-join-copies-one-less"), "is not for coq,fuzz: try --by wp"),
            (("--bogus",), "unrecognized arguments: --bogus"),
            (("--sample", "some"), "--sample takes N or N:K, as in --sample 8"),
            (("--sample", "8:8"), "--sample 8:8: the samples are 8:0 to 8:7"),
            (("--sample", "999999:999998"), "none of the sample is for test: try --by all"),
        ):
            status, said = self.faults(*arguments)
            self.assertEqual((status, says in said), (2, True), said)

    def test_the_list_can_be_of_a_source_and_of_one_who_notices(self) -> None:
        status, said = self.faults("--list", "--by", "wp", "--for", "ref/tree_join.c")
        rows = [line.split() for line in said.splitlines()]
        self.assertEqual((status, {row[1] for row in rows}), (0, {"ref/tree_join.c"}))
        self.assertTrue(all("wp" in row[2:] for row in rows))
        self.assertIn(["join-order", "ref/tree_join.c", "test", "wp", "cbmc", "fuzz"], rows)

    def test_public_bugs_and_their_faults_are_printed(self) -> None:
        status, said = self.faults("--public")
        page = (ROOT / "tests" / "faults" / "PUBLIC.md").read_text(encoding="utf-8")
        self.assertEqual((status, said), (0, page))
        act = lambda: self.faults("--public")  # noqa: E731
        text = record(fields="public: pond#1\ntest: test_pool")
        status, said = self.with_text(Check.POOL, text, act)
        self.assertEqual((status, "pond is no project" in said), (2, True), said)

    def listed(self, *arguments: str) -> list[str]:
        return [line.split()[0] for line in self.faults("--list", *arguments)[1].splitlines()
                if not line.startswith("scripts/faults: ")]

    def test_each_fault_is_in_one_sample(self) -> None:
        everything = self.listed("--by", "test")
        samples = [self.listed("--by", "test", "--sample", f"4:{k}") for k in range(4)]
        self.assertEqual(sorted(name for sample in samples for name in sample), everything)
        for sample in samples:
            self.assertGreater(len(sample), len(everything) // 5)

    def test_the_commit_chooses_the_sample_and_the_run_says_it(self) -> None:
        said = self.faults("--list", "--sample", "5")[1]
        found = re.search(r"^scripts/faults: --sample 5:(\d)$", said, re.MULTILINE)
        assert found is not None, said
        self.assertEqual(self.listed("--sample", f"5:{found[1]}"), self.listed("--sample", "5"))

    def test_help_names_all_who_notice(self) -> None:
        status, said = self.faults("--help")
        self.assertEqual(status, 0)
        for who in catalogue.WHO:
            self.assertIn(f"\n  {who} ", said)
        self.assertEqual(
            list(loop.CLASSES),
            ["test", "python", "kernel", "gate", "explain", "merge", "wp", "cbmc", "coq", "extract",
             "eacsl", "fuzz", "mpi"],
        )
        self.assertEqual(set(loop.CLASSES), set(catalogue.WHO))

    def test_a_malformed_catalogue_is_refused(self) -> None:
        act = lambda: self.faults("join-order")  # noqa: E731
        status, said = self.with_text("tests/faults/ref/tree.c.faults", "fault: x\n", act)
        self.assertEqual((status, "tests/faults/ref/tree.c.faults:" in said), (2, True), said)

    def noticed(self, answer: str, *arguments: str) -> Said:
        """The status and what is said when the faulted tree's programs are this."""
        place = self.copy / "fake"
        place.mkdir(exist_ok=True)
        for name, text in (("chunkproof", answer), ("libchunkproof.a", "")):
            (place / name).write_text(text, encoding="utf-8")
            (place / name).chmod(0o755)
        compiler = self.copy / "bin"
        compiler.mkdir(exist_ok=True)
        (compiler / "cc").write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
        (compiler / "cc").chmod(0o755)
        return self.faults(
            "--by",
            "explain",
            "--build",
            str(place),
            *arguments,
            PATH=f"{compiler}:{os.environ['PATH']}",
        )

    GATE = '#!/bin/sh\nif [ $1 = gate ]; then mkdir "$6" && echo {} >"$6/a.json"; exit 1; fi\n'

    def test_a_fault_that_is_not_noticed_fails(self) -> None:
        words = next(fault for fault in catalogue.load() if "explain" in fault.fields)
        for said, status, verdict in (
            (words.fields["explain"], 0, "noticed"),
            ("nothing", 1, "NOT NOTICED"),
            ("nothing\n  also: " + words.fields["explain"], 1, "NOT NOTICED"),
        ):
            answer = self.noticed(f"{self.GATE}cat <<'END'\n{said}\nEND\n", words.name)
            self.assertEqual(answer[0], status, answer[1])
            self.assertIn(f" {verdict} ", answer[1])
            self.assertIn(f"\nfaults {1 - status}/1\n", answer[1])

    def test_lines_of_tap(self) -> None:
        words = next(fault for fault in catalogue.load() if "explain" in fault.fields)
        status, said = self.noticed(f"{self.GATE}echo nothing\n", "--tap", words.name)
        self.assertEqual(status, 1)
        self.assertIn(f"not ok - {words.name}: {words.fields['explain']}", said)
        self.assertIn("#     nothing", said)


class Proofs(unittest.TestCase):
    """What a proof that fails says of the contract."""

    def test_a_clause_of_the_contract_is_told_from_a_step_of_the_proof(self) -> None:
        goals = {
            "cp_pool_take_ensures_pool_3_taken": (0, 1, 0),
            "cp_pool_take_ensures_ok_part2": (1, 2, 1),
            "cp_finish_keys_ensures_merge_7_log": (0, 1, 0),
            "cp_pool_take_assigns_normal_part1": (0, 1, 0),
            "cp_pool_take_loop_assigns_part1": (0, 1, 0),
            "cp_pool_take_assert_nothing": (0, 1, 0),
            "cp_pool_take_loop_invariant_range_preserved": (0, 1, 0),
            "cp_pool_take_call_other_requires_valid": (0, 1, 0),
            "cp_pool_take_ensures_result": (1, 1, 1),
        }
        self.assertEqual(by_wp.broken(goals), ["assigns", "merge_7_log", "ok", "pool_3_taken"])

    def test_steps_of_a_proof_and_ghost_code_are_no_contract(self) -> None:
        for function, goal, step in (
            ("cp_pool_check", "cp_pool_check_assert_rte_index_bound_6", False),
            ("cp_pool_check", "cp_pool_check_ensures_valid", False),
            ("cp_pool_check", "cp_pool_check_assigns_part1", False),
            ("cp_pool_check", "cp_pool_check_loop_invariant_pos", True),
            ("cp_tree_fork", "cp_tree_fork_assert_length", True),
            ("attend_head", "attend_head_call_finish_row_requires_room", False),
            ("cp_tree_leave", "cp_tree_leave_call_tree_is_ok_requires_private", True),
            ("tree_is_ok", "tree_is_ok_ensures_ok", True),
        ):
            self.assertEqual(by_wp.is_step(function, goal), step, goal)

    def test_a_record_names_a_clause_of_the_contract(self) -> None:
        fault = next(f for f in catalogue.load() if f.name == "pool-take-first")
        self.assertEqual(fault.proof, ("pool", "cp_pool_take", "pool_3_taken"))


class Programs(unittest.TestCase):
    """A program that may never end."""

    def run_it(self, text: str, most: float, idle: float) -> subprocess.CompletedProcess[str]:
        return programs.run([sys.executable, "-c", text], most, idle)

    def test_what_a_program_says_and_how_it_ends_is_known(self) -> None:
        text = "import os, sys; print(os.environ['OF']); sys.exit(3)"
        result = programs.run([sys.executable, "-c", text], 60, 60, OF="me")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (3, "me\n", ""))

    def test_a_program_that_goes_on_for_ever_is_ended_by_its_own_time(self) -> None:
        with self.assertRaisesRegex(programs.Endless, "after 1 s of processor time"):
            self.run_it("while True: pass", 1, 600)

    def test_a_program_that_waits_for_ever_is_ended(self) -> None:
        with self.assertRaisesRegex(programs.Endless, "after 3 s without work"):
            self.run_it("import time; time.sleep(600)", 60, 3)

    def test_a_program_that_is_only_stopped_by_others_is_not_ended(self) -> None:
        text = "import time\nfor _ in range(60):\n    time.sleep(0.1)\n    sum(range(100000))"
        self.assertEqual(self.run_it(text, 60, 5).returncode, 0)

    def test_the_time_of_what_a_program_starts_counts(self) -> None:
        text = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
        with self.assertRaisesRegex(programs.Endless, "after 1 s of processor time"):
            self.run_it(text, 1, 600)


if __name__ == "__main__":
    unittest.main()
