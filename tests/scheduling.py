# SPDX-License-Identifier: Apache-2.0
"""Tests of the order in which checks run: stages side by side (scripts/verify.py) and tests
(scripts/run_tests.py). Run by tests/scheduling.sh."""

import io
import json
import os
import pathlib
import signal
import sys
import unittest
from typing import Any
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

import run_tests  # noqa: E402
import stages  # noqa: E402
import verify  # noqa: E402
from in_directory import InDirectory  # noqa: E402
from stages import Stage  # noqa: E402


class SideBySide(InDirectory):
    def verify(
        self, *chosen: Stage, cores: int = 2, arguments: tuple[str, ...] = ()
    ) -> tuple[int, dict[str, Any], str]:
        out = io.StringIO()
        place = self.directory / "verify"
        with mock.patch.object(stages, "JOBS", cores), mock.patch.dict(os.environ, {"STRICT": "0"}):
            status = verify.main(list(arguments), chosen, str(place), out)
        return status, json.loads((place / "report.json").read_text()), out.getvalue()

    def waits_for(self, mine: str, other: str) -> str:
        place = self.directory
        wait = f"for i in $(seq 50); do [ ! -e {place}/{other} ] || exit 0; sleep 0.1; done"
        return f"touch {place}/{mine}; {wait}; exit 1"

    def test_stages_of_one_processor_run_at_the_same_time(self) -> None:
        pair = [
            Stage("a", self.waits_for("a", "b"), cores=1),
            Stage("b", self.waits_for("b", "a"), cores=1),
        ]
        self.assertEqual(self.verify(*pair)[0], 0)
        for name in "ab":
            (self.directory / name).unlink()

    def test_a_stage_may_use_fewer_processors_in_the_quick_tier(self) -> None:
        stage = Stage("a", "true", quick_cores=1)
        for tier, weight, all_of_them in (("quick", 1, False), ("default", 2, True)):
            with mock.patch.object(stages, "JOBS", 2), mock.patch.dict(os.environ, {"TIER": tier}):
                self.assertEqual((stage.weight(), verify.uses_all(stage)), (weight, all_of_them))

    def test_of_stages_that_use_all_one_runs_at_a_time(self) -> None:
        alone = f"mkdir {self.directory}/lock && sleep 0.4 && rmdir {self.directory}/lock"
        chosen = [Stage(name, alone, cores=cores) for name, cores in (("b", 0), ("c", 0), ("d", 2))]
        status, report, _ = self.verify(*chosen)
        self.assertEqual(
            (status, [stage["name"] for stage in report["stages"]]), (0, ["b", "c", "d"])
        )

    def test_one_of_one_processor_runs_beside_one_that_uses_all(self) -> None:
        pair = [Stage("a", self.waits_for("a", "b")), Stage("b", self.waits_for("b", "a"), cores=1)]
        self.assertEqual(self.verify(*pair)[0], 0)

    def test_no_more_stages_run_than_there_is_room_for(self) -> None:
        place = self.directory
        wait = "for i in $(seq 100); do {}; sleep 0.1; done"
        four = wait.format(f"[ $(wc -l <{place}/begun) -lt 4 ] || break")
        of_a = wait.format(f"[ ! -e {place}/a ] || break")
        does = {
            "a": f"{four}; sleep 0.3; wc -l <{place}/begun >{place}/number; touch {place}/a",
            "b": of_a,
            "c": of_a,
            "d": of_a,
            "e": "true",
        }
        chosen = [
            Stage(name, f"echo x >>{place}/begun; {command}", cores=1)
            for name, command in does.items()
        ]
        self.assertEqual(self.verify(*chosen)[0], 0)
        self.assertEqual((place / "number").read_text().strip(), "4")

    def test_processor_time_is_measured_and_the_slowest_are_named(self) -> None:
        burn = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done"
        status, report, text = self.verify(
            *(Stage(f"idle-{i}", "sleep 0.1") for i in range(6)),
            Stage("busy", f"sh -c '{burn}'"),
            Stage("none", "true", ("no-such-tool",)),
        )
        times = {stage["name"]: stage["cpu"] for stage in report["stages"]}
        self.assertGreater(times["busy"], 3 * times["idle-0"] + 0.05)
        self.assertEqual((status, times["none"]), (0, 0))
        self.assertAlmostEqual(report["cpu"], sum(times.values()), places=1)
        slowest = next(line for line in text.splitlines() if line.startswith("slowest: "))
        self.assertRegex(
            slowest, r"^slowest: busy \d+ s \(CPU \d+ s\)(, idle-\d \d+ s \(CPU \d+ s\)){4}$"
        )

    def test_stages_of_another_tier_are_added_by_name(self) -> None:
        chosen = (
            Stage("good", "true"),
            Stage("rare", "true", tiers=("deep",)),
            Stage("never", "false", tiers=()),
        )
        names = [stage["name"] for stage in self.verify(*chosen, arguments=("+rare",))[1]["stages"]]
        self.assertEqual(names, ["good", "rare"])
        with mock.patch.object(sys, "stderr", io.StringIO()) as said:
            self.assertEqual(verify.main(["+nothing"], chosen, str(self.directory)), 2)
        self.assertIn("no such stage: nothing", said.getvalue())

    def test_what_a_stage_sets_reaches_make(self) -> None:
        for stage in stages.STAGES:
            for command in (stage.command, stage.quick):
                self.assertNotRegex(command, r"\w=\S+ (mkdir|cd|export)\b", stage.name)

    def test_the_stages_that_ci_names_are_there(self) -> None:
        text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
        words = self.listed("stages")
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        proofs = makefile.split("prove: deps", 1)[1].split("verify.py", 1)[1].split("\n", 1)[0]
        with mock.patch.object(sys, "stderr", io.StringIO()) as said:
            chosen = verify.choose(stages.STAGES, words, "default")
            chosen_of_proofs = verify.choose(stages.STAGES, proofs.split(), "default")
        self.assertEqual(said.getvalue(), "")
        names = [stage.name for stage in chosen or ()]
        self.assertTrue({"asan-clang-command", "valgrind", "documents-some"} <= set(names))
        self.assertEqual(
            [stage.name for stage in chosen_of_proofs or ()],
            [
                "proofs-wp-all",
                "proofs-wp-smoke",
                "model-checking-wide",
                "proofs-coq",
                "contracts",
            ],
        )
        self.assertIn("add make prove WITHIN=", text)

    @staticmethod
    def listed(name: str) -> list[str]:
        """The words of a list in .ci/run."""
        text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
        return text.split(f"\n{name}=(", 1)[1].split(")", 1)[0].split()

    def test_what_ci_takes_in_turn_is_there(self) -> None:
        built = {run_tests.stem(str(path)) for path in (ROOT / "tests").glob("test_*.c*")}
        shell = {path.stem for path in (ROOT / "tests").glob("*.sh")}
        self.assertEqual(set(self.listed("tests_in_turn")) - built - shell, set())
        words, in_turn = self.listed("stages"), self.listed("stages_in_turn")
        for turn in range(3):
            later = [f"-{name}" for at, name in enumerate(in_turn) if at % 3 != turn]
            with mock.patch.object(sys, "stderr", io.StringIO()) as said:
                chosen = verify.choose(stages.STAGES, words + later, "default")
            self.assertEqual(said.getvalue(), "")
            names = [stage.name for stage in chosen or ()]
            self.assertEqual([name for name in names if name in in_turn],
                             [name for name in names if name in in_turn[turn::3]])
            self.assertEqual(set(in_turn[turn::3]) - set(names), set())


class InOrder(InDirectory):
    def test_the_longest_test_begins_first(self) -> None:
        tests = [(name, [f"build/tests/test_{name}"]) for name in ("pool", "tree", "tiny")]
        tests.append(("tree", ["bash", "tests/tree.sh", "chunkproof"]))
        before = self.file("seconds", '{"test_tree": 1.5, "test_pool": 3, "tree.sh": 9}')
        order = run_tests.longest_first(tests, run_tests.read_seconds(str(before)))
        self.assertEqual(
            [run_tests.file_of(test) for test in order],
            ["test_tiny", "tree.sh", "test_pool", "test_tree"],
        )
        before.write_text("[1, 2")
        self.assertEqual(run_tests.read_seconds(str(before)), {})
        run_tests.keep_seconds(str(before), {"test_tree": 2.0})
        self.assertEqual(run_tests.read_seconds(str(before)), {"test_tree": 2.0})

    def test_a_test_has_its_processor_time_and_a_late_one_no_status(self) -> None:
        burn = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; echo ok 1"
        status, output, cpu = run_tests.run(["sh", "-c", burn], 60)
        self.assertEqual((status, output), (0, "ok 1\n"))
        self.assertGreater(cpu, 0.02)
        self.assertEqual(
            run_tests.run(["sh", "-c", "echo ok 1; exec sleep 60"], 0.5)[:2], (None, "ok 1\n")
        )
        self.assertEqual(run_tests.run(["sh", "-c", "kill -SEGV $$"], 60)[0], -signal.SIGSEGV)



if __name__ == "__main__":
    unittest.main()
