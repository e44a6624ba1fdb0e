# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/try: which faults are a stem's, what is counted, and that a failure is one.

Run by tests/try.sh; each test is a method. Nothing is built: the programs are scripts for sh."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import shutil
import sys
import tempfile
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

from faulting import who  # noqa: E402
from faulting.catalogue import Change, Fault, load  # noqa: E402


def script(name: str) -> types.ModuleType:
    """A script without an ending, as a module."""
    loader = importlib.machinery.SourceFileLoader(name + "_script", str(ROOT / "scripts" / name))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


trying = script("try")


def a_fault(name: str, source: str, **fields: str) -> Fault:
    return Fault(name, source, {"fault": name, "clause": "TREE-1", **fields},
                 (Change("right", "wrong", 3),), f"tests/faults/{source}.faults", 1)

NOTICED = who.Outcome(who.Verdict.NOTICED, "test_plan: a")


class Stems(unittest.TestCase):
    def names(self, stem: str, faults: list[Fault]) -> list[str]:
        with mock.patch.object(trying, "load", lambda: faults):
            return [fault.name for fault in trying.faults_by_stem()[stem]]

    def test_each_unit_test_is_a_stem(self) -> None:
        self.assertLessEqual({"tree", "softmax", "opt_tree", "tolerance_parts"},
                             set(trying.stems()))
        for stem in trying.stems():
            self.assertTrue((ROOT / "tests" / f"test_{stem}.c").is_file(), stem)
        self.assertEqual(len(trying.stems()), len(list((ROOT / "tests").glob("test_*.c"))))

    def test_a_fault_is_of_the_test_that_must_notice_it(self) -> None:
        faults = [a_fault("b", "ref/plan.c", test="test_plan"),
                  a_fault("a", "ref/pool.c", test="test_plan"),
                  a_fault("c", "ref/tree.c", test="test_tree"),
                  a_fault("d", "ref/plan.c", wp="plan f")]
        self.assertEqual(self.names("plan", faults), ["a", "b"])

    def test_a_fault_is_of_the_longest_stem_that_its_file_begins_with(self) -> None:
        faults = [a_fault("join", "ref/tree_join.c", test="test_attend"),
                  a_fault("parts", "ref/tolerance_parts.c", test="test_attend"),
                  a_fault("opt", "opt/tree_order.c", test="test_attend")]
        self.assertEqual(self.names("tree", faults), ["join"])
        self.assertEqual(self.names("tolerance", faults), [])
        self.assertEqual(self.names("tolerance_parts", faults), ["parts"])
        self.assertEqual(self.names("opt_tree", faults), ["opt"])

    def test_every_fault_that_a_unit_test_must_notice_has_a_stem(self) -> None:
        tried = {fault.name for faults in trying.faults_by_stem().values() for fault in faults}
        for_tests = {fault.name for fault in load() if "test" in fault.fields}
        for_shell = {fault.name for fault in load() if fault.fields.get("test", "")[:4] != "test"}
        self.assertGreater(len(for_tests), 0)
        self.assertEqual(for_tests - tried, for_shell & for_tests)


class Runs(unittest.TestCase):
    def setUp(self) -> None:
        self.build = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.build)
        (self.build / "tests").mkdir()

    def program(self, name: str, text: str) -> None:
        path = self.build / "tests" / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def tried(self, stem: str, faults: list[Fault], outcome: who.Outcome | None = None,
              make: mock.Mock | None = None) -> tuple[int, str]:
        """(exit status, what was printed)"""
        out = io.StringIO()
        checked, built = mock.Mock(return_value=outcome), make or mock.Mock()
        with mock.patch.object(trying, "load", lambda: faults), \
                mock.patch.object(who, "GCC", self.build), \
                mock.patch.object(who, "make", built), \
                mock.patch.object(trying.ByTest, "check", checked), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = trying.main([stem])
        self.built, self.checked = built, checked
        return status, out.getvalue()

    def test_passes_and_counts(self) -> None:
        self.program("test_plan", "echo 1..2; echo ok 1 - a; echo ok 2 - b")
        self.program("test_attend", "echo 1..1; echo ok 1 - c")
        faults = [a_fault("x", "ref/plan.c", test="test_plan"),
                  a_fault("y", "ref/plan.c", test="test_attend")]
        status, text = self.tried("plan", faults, NOTICED)
        self.assertEqual(status, 0, text)
        self.assertIn("plan: 3 passed, 0 failed; faults 2/2 noticed; ", text)
        self.assertEqual([target.split("/")[-1] for target in self.built.call_args[0][0]],
                         ["test_attend", "test_plan"])

    def test_a_failing_test_fails_and_no_fault_is_tried(self) -> None:
        self.program("test_plan", "echo 1..1; echo not ok 1 - a; exit 1")
        status, text = self.tried("plan", [a_fault("x", "ref/plan.c", test="test_plan")], NOTICED)
        self.assertEqual(status, 1)
        self.assertIn("plan: 0 passed, 1 failed; faults not tried", text)
        self.checked.assert_not_called()

    def test_a_test_that_says_nothing_fails(self) -> None:
        self.program("test_plan", "exit 0")
        self.assertEqual(self.tried("plan", [])[0], 1)

    def test_a_fault_that_is_not_noticed_fails_and_is_named_in_full(self) -> None:
        self.program("test_plan", "echo 1..1; echo ok 1 - a")
        status, text = self.tried("plan", [a_fault("quiet", "ref/plan.c", test="test_plan")],
                                  who.Outcome(who.Verdict.NOT_NOTICED, "test_plan: " + 200 * "z"))
        self.assertEqual(status, 1)
        self.assertIn("faults 0/1 noticed", text)
        self.assertRegex(text, r"(?m)^quiet +TREE-1 +NOT NOTICED +test_plan: z{200}$")

    def test_a_skipped_fault_is_not_counted_as_noticed(self) -> None:
        self.program("test_plan", "echo 1..1; echo ok 1 - a")
        status, text = self.tried("plan", [a_fault("wide", "ref/plan.c", test="test_plan")],
                                  who.Outcome(who.Verdict.SKIPPED, "this machine has no avx512f"))
        self.assertEqual(status, 0)
        self.assertIn("faults 0/0 noticed, 1 skipped", text)

    def test_what_does_not_build_is_said(self) -> None:
        broken = mock.Mock(side_effect=who.Broken("the tests do not build"))
        status, text = self.tried("plan", [], make=broken)
        self.assertEqual(status, 2)
        self.assertIn("the tests do not build", text)

    def test_an_unknown_stem_lists_the_stems(self) -> None:
        for name, said in (("tre", "there is no stem tre"), ("", "which stem?")):
            status, text = self.tried(name, [])
            self.assertEqual(status, 2)
            self.assertIn(said, text)
            self.assertIn("\n    tree\n", text)


if __name__ == "__main__":
    os.chdir(ROOT)
    unittest.main()
