# SPDX-License-Identifier: Apache-2.0
"""Tests of seeded faults that a shell test of the command must notice, those of
scripts/faulting/shell_test.py. Run by tests/catalogue.sh; each test is a method. The command is a
script, and so is its test.
"""

import contextlib
import io
import pathlib
import shutil
import sys
import tempfile
import unittest
from collections.abc import Iterator
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

from faulting import by_test, loop, shell_test  # noqa: E402
from faulting.catalogue import Change, Fault  # noqa: E402
from faulting.who import Options, Outcome, Verdict  # noqa: E402

TEST = """#!/bin/sh
case $("$1") in
right) echo "ok - it is right" ;;
skips) echo "ok - it is right # SKIP no tool" ;;
beside) [ -d "$(dirname "$1")/tests" ] && echo "ok - what was built is beside it" ;;
stops) exit 1 ;;
endless) echo "not ok - it is right" && while :; do :; done ;;
*) echo "not ok - it is right" && exit 1 ;;
esac
"""
FAULT = Fault(
    "a-new-one",
    "cli/pond.c",
    {"fault": "a-new-one", "test": "cli_pond"},
    (Change("right", "wrong", 3),),
    "tests/faults/cli/pond.c.faults",
    1,
)


class Shell(unittest.TestCase):
    def setUp(self) -> None:
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.gcc = self.root / "build" / "gcc"
        (self.gcc / "tests").mkdir(parents=True)
        (self.root / "tests").mkdir()
        (self.root / "scripts").symlink_to(ROOT / "scripts")
        (self.root / "tests" / "cli_pond.sh").write_text(TEST, encoding="utf-8")
        self.command(self.gcc / "chunkproof", "right")
        for module in (shell_test, by_test):
            for name, value in (("ROOT", self.root), ("GCC", self.gcc)):
                patch = mock.patch.object(module, name, value)
                patch.start()
                self.addCleanup(patch.stop)

    def command(self, path: pathlib.Path, says: str) -> pathlib.Path:
        path.write_text(f"#!/bin/sh\necho {says}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def tried(self, says: str) -> Outcome:
        source, place = self.command(self.root / "faulted", says), shell_test.new_place()
        outcome = shell_test.tried(place, [["cp", source, place / "chunkproof"]], "cli_pond")
        self.assertFalse(place.exists())
        return outcome

    def test_a_case_that_fails_notices_the_fault(self) -> None:
        outcome = self.tried("wrong")
        self.assertEqual((outcome.verdict, outcome.how), (Verdict.NOTICED, "cli_pond: it is right"))

    def test_a_test_that_passes_or_skips_notices_nothing(self) -> None:
        for says in ("right", "skips", "beside"):
            with mock.patch.dict("os.environ", {"STRICT": "1"}):
                outcome = self.tried(says)
            self.assertEqual(
                (outcome.verdict, outcome.how), (Verdict.NOT_NOTICED, "cli_pond: it passed"), says
            )

    def test_a_test_that_stops_without_a_case_notices_nothing(self) -> None:
        outcome = self.tried("stops")
        self.assertEqual(outcome.verdict, Verdict.NO_TEST)
        self.assertIn("cli_pond: no case failed", outcome.how)

    def test_a_test_that_never_ends_notices_nothing(self) -> None:
        with mock.patch.object(shell_test, "MOST", 1):
            outcome = self.tried("endless")
        self.assertEqual(outcome.verdict, Verdict.NO_TEST)
        self.assertIn("ended after 1 s of processor time", outcome.how)

    def test_a_command_that_does_not_build_notices_nothing(self) -> None:
        place = shell_test.new_place()
        build = [["cp", self.root / "nothing", place / "chunkproof"]]
        outcome = shell_test.tried(place, build, "cli_pond")
        self.assertEqual((outcome.verdict, place.exists()), (Verdict.NO_TEST, False))
        self.assertIn("nothing", outcome.how)

    def test_two_runs_have_two_places(self) -> None:
        places = [shell_test.new_place() for _ in range(2)]
        self.assertEqual(len({*places}), 2)
        self.assertTrue(all((place / "tests").samefile(self.gcc / "tests") for place in places))

    def test_only_tests_of_the_command_are_such_tests(self) -> None:
        self.assertTrue(shell_test.is_one("cli_pond"))
        for name in ("cli_lake", "pond", "test_pond", "install", "cli_pond.sh"):
            self.assertFalse(shell_test.is_one(name), name)

    def test_every_object_of_the_command_but_the_faulted_one_is_linked(self) -> None:
        (self.root / "cli").mkdir()
        for name in ("pond.c", "lake.c", "lake.h"):
            (self.root / "cli" / name).touch()
        left = list(shell_test.objects([self.root / "cli" / "pond.c"]))
        self.assertEqual(left, [self.gcc / "obj" / "cli" / "lake.o"])

    def faults(self, says: str) -> tuple[int, str]:
        """(status, what is printed) of scripts/faults, where the faulted command says this."""
        source, out = self.command(self.root / "faulted", says), io.StringIO()

        def made(fault: Fault, place: pathlib.Path) -> Iterator[list[object]]:
            yield ["cp", source, place / "chunkproof"]

        with (
            mock.patch.object(by_test, "commanded", made),
            mock.patch.object(by_test, "make", mock.Mock()),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            status = loop.run("test", [FAULT], Options(), loop.Paper(), False)
        return status, out.getvalue()

    def test_a_fault_that_is_not_noticed_is_reported(self) -> None:
        for says, status, verdict in (
            ("wrong", 0, "noticed"),
            ("right", 1, "NOT NOTICED"),
            ("stops", 1, "no test"),
        ):
            found, said = self.faults(says)
            self.assertEqual(found, status, said)
            self.assertIn(f" {verdict} ", said)
            self.assertIn(f"\nfaults {1 - status}/1\n", said)

    def test_a_test_that_fails_anyway_is_reported(self) -> None:
        self.command(self.gcc / "chunkproof", "wrong")
        status, said = self.faults("wrong")
        self.assertEqual(status, 1)
        last = "cli_pond: fails without a fault: cli_pond: it is right"
        self.assertIn(last, said)
        self.assertTrue(said.endswith(f"\n{last}\nfaults 1/1, unsound 1\n"), said)

    def test_a_test_that_fails_once_is_tried_again_alone(self) -> None:
        self.command(self.gcc / "chunkproof", "right")
        wrong = "cli_pond: fails without a fault: it was busy"
        with mock.patch.object(by_test.ByTest, "failing", side_effect=[wrong, None]) as failing:
            status, said = self.faults("wrong")
        self.assertEqual((status, failing.call_count), (0, 2))
        self.assertIn(f"beside others {wrong}\n", said)
        self.assertTrue(said.endswith("\nfaults 1/1\n"), said)


if __name__ == "__main__":
    unittest.main()
