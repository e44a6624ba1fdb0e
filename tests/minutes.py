# SPDX-License-Identifier: Apache-2.0
"""Tests of what keeps the checks short: the cache of results (scripts/kept.py) and the keys that
the proofs look up, provers' limits, stages that run side by side, tests in order. Run by
tests/minutes.sh."""

import importlib.machinery
import importlib.util
import io
import math
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from typing import Any, TypeAlias
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import kept  # noqa: E402
import run_tests  # noqa: E402
import stages  # noqa: E402
import verify  # noqa: E402
from stages import Stage  # noqa: E402

Goals: TypeAlias = dict[str, dict[str, tuple[int, int, int]]]


def load(tool: str) -> types.ModuleType:
    """proofs/TOOL/run as a module."""
    loader = importlib.machinery.SourceFileLoader(
        f"run_{tool}", str(ROOT / "proofs" / tool / "run")
    )
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class InDirectory(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)
        settings = {
            "XDG_CACHE_HOME": str(self.directory),
            "CACHE": "",
            "TIER": "default",
            "CACHE_MIB": "",
        }
        patch = mock.patch.dict(os.environ, settings)
        patch.start()
        self.addCleanup(patch.stop)

    def file(self, name: str, text: str) -> pathlib.Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


class Kept(InDirectory):
    def test_another_checkout_finds_what_one_has_kept(self) -> None:
        kept.Cache("tool").put("ab12", {"goals": 7})
        other = kept.Cache("tool")
        self.assertEqual(
            (other.get("ab12"), other.get("ab13"), other.hits), ({"goals": 7}, None, 1)
        )
        self.assertIsNone(kept.Cache("another tool").get("ab12"))

    def test_a_changed_file_option_or_version_has_another_key(self) -> None:
        path = self.file("one.c", "int x;")
        keys = [
            kept.digest("tool 1.0", ["-O2"], path),
            kept.digest("tool 1.1", ["-O2"], path),
            kept.digest("tool 1.0", ["-O1"], path),
            kept.digest("tool 1.0", ["-O", "2"], path),
        ]
        path.write_text("int y;", encoding="utf-8")
        keys.append(kept.digest("tool 1.0", ["-O2"], path))
        self.assertEqual(len(set(keys)), 5)
        self.assertNotEqual(kept.digest("ab", "c"), kept.digest("a", "bc"))

    def test_a_truncated_or_foreign_entry_is_ignored_and_said(self) -> None:
        cache = kept.Cache("tool")
        for damage in (
            lambda text: "",
            lambda text: text[:-9],
            lambda text: "[]",
            lambda text: text.replace("right", "wrong"),
            lambda text: text.replace("ab12", "ab13"),
            lambda text: text.replace(kept.FORMAT, "other 1"),
        ):
            cache.put("ab12", "right")
            path = cache.path("ab12")
            path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")
            with mock.patch.object(sys, "stderr", io.StringIO()) as said:
                self.assertIsNone(cache.get("ab12"))
            self.assertIn("is ignored", said.getvalue())
        cache.put("ab12", "right")
        self.assertEqual(cache.get("ab12"), "right")

    def test_off_neither_reads_nor_writes_and_deep_takes_nothing(self) -> None:
        kept.Cache("tool").put("ab12", 1)
        with mock.patch.dict(os.environ, {"CACHE": "off"}):
            cache = kept.Cache("tool")
            cache.put("cd34", 2)
            self.assertEqual((cache.get("ab12"), cache.path("cd34").exists()), (None, False))
        with mock.patch.dict(os.environ, {"TIER": "deep"}):
            deep = kept.Cache("tool")
            deep.put("ef56", 3)
            self.assertEqual((deep.get("ab12"), deep.get("ef56")), (None, None))
        self.assertIsNone(kept.Cache("tool", fresh=True).get("ab12"))
        self.assertEqual((kept.Cache("tool").get("ab12"), kept.Cache("tool").get("ef56")), (1, 3))

    def test_the_size_is_bounded_and_the_oldest_go_first(self) -> None:
        cache = kept.Cache("tool")
        for number, key in enumerate(("aa1", "bb2", "cc3")):
            cache.put(key, "x" * 1000)
            os.utime(cache.path(key), (number, number))
        cache.get("aa1")  # used now
        kept.prune(2500)
        self.assertEqual(
            [cache.get(key) is None for key in ("aa1", "bb2", "cc3")], [False, True, False]
        )
        self.assertEqual(kept.main(["--clean"]), 0)
        self.assertEqual(kept.entries(), [])

    def test_two_checkouts_may_write_at_once(self) -> None:
        program = (
            "import sys, kept; cache = kept.Cache('tool')\n"
            "for i in range(300):\n"
            "    cache.put('ab12', 'x' * 9999); assert cache.get('ab12') == 'x' * 9999"
        )
        children = [
            subprocess.Popen(
                [sys.executable, "-c", program],
                cwd=ROOT / "scripts",
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        self.assertEqual(
            [(child.communicate()[1], child.returncode) for child in children], [("", 0), ("", 0)]
        )

    def test_one_that_is_alone_waits_for_the_others(self) -> None:
        lock, order = self.directory / "lock", []

        def alone() -> None:
            with kept.turn(lock, alone=True):
                order.append("alone")

        with kept.turn(lock), kept.turn(lock):
            thread = threading.Thread(target=alone)
            thread.start()
            time.sleep(0.3)
            order.append("others")
        thread.join()
        self.assertEqual(order, ["others", "alone"])


class Samples(InDirectory):
    def test_a_sample_runs_some_and_all_samples_run_all(self) -> None:
        os.mkdir(os.path.join(self.directory, "tests"))
        stems = ["tree", "plan", "pool", "exact", "softmax"]
        for stem in stems:
            program = os.path.join(self.directory, "tests", "test_" + stem)
            with open(program, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\necho ok 1\n")
            os.chmod(program, 0o755)

        def run(sample: str) -> tuple[int, list[str], str]:
            run = subprocess.run(["scripts/run_tests.py", "--build", self.directory,
                                  "--only", "unit", "--sample", sample, *stems],
                                 capture_output=True, text=True, cwd=ROOT, check=False)
            return (run.returncode, [line.split()[0] for line in run.stdout.splitlines()[:-1]],
                    run.stderr)

        samples = [run(f"2:{k}") for k in range(2)]
        self.assertEqual(sorted(samples[0][1] + samples[1][1]), sorted(stems))
        self.assertTrue(all(status == 0 and names for status, names, _ in samples))
        self.assertEqual(samples[1][2], "scripts/run_tests.py: --sample 2:1\n")
        status, _, said = run("2:2")
        self.assertEqual((status, "the samples are 2:0 to 2:1" in said), (2, True), said)


class Keys(InDirectory):
    """What changes the outcome changes the key."""

    def test_of_proofs(self) -> None:
        wp = load("wp")
        source = self.file("ref/pool.c", '#include "pool.h"\nint one(void) { return ONE; }\n')
        header = self.file("pool.h", "/*@ predicate p = \\true; */\n#define ONE 1\n")

        def key(
            options: tuple[str, ...] = ("-wp",),
            functions: tuple[str, ...] = (),
            tools: str = "frama-c 25, z3 4.8",
        ) -> str:
            frama_c = wp.FramaC.__new__(wp.FramaC)
            frama_c.tree, frama_c.preprocess, frama_c.tools = (
                self.directory,
                [f"-I{self.directory}"],
                tools,
            )
            return str(frama_c.key("pool", options, functions))

        keys = [
            key(),
            key(("-wp", "-wp-rte")),
            key(functions=("one",)),
            key(tools="frama-c 26, z3 4.8"),
        ]
        self.assertEqual(key(), keys[0])
        header.write_text(header.read_text().replace("true", "false"))  # a contract alone
        keys.append(key())
        source.write_text(source.read_text().replace("ONE;", "ONE + 0;"))
        self.assertEqual(len({*keys, key()}), 6)

    def test_of_model_checking(self) -> None:
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(ROOT)
        cbmc = load("cbmc")
        harness = next(harness for harness in cbmc.read_harnesses() if harness.name == "append")
        source = self.file("pool.c", "int x;")

        def key(version: str = "5.95", run: str = "properties") -> str:
            return str(cbmc.files_key({"version": version}, harness, run, [str(source)]))

        keys = [key(), key("6.0"), key(run="reach")]
        self.assertEqual(key(), keys[0])
        source.write_text("int y;")
        keys.append(key())
        harness.chunks += 1
        keys.append(key())
        with mock.patch.object(cbmc, "SAFETY", ["--bounds-check"]):
            keys.append(key())
        self.assertEqual(len(set(keys)), 6)

    def test_an_answer_of_the_cache_is_judged_like_a_new_one(self) -> None:
        cbmc = load("cbmc")
        harness = types.SimpleNamespace(name="append")
        cache = kept.Cache("cbmc")
        cache.put("ab1", [0, "[a.1] line 1 x: SUCCESS\n"])
        cache.put("ab2", [0, "[a.1] line 1 x: FAILURE\n"])
        self.assertEqual(cbmc.find(cache, harness, "safety", ["ab1"])[0], 0)
        self.assertIsNone(cbmc.find(cache, harness, "safety", ["ab2"]))

    def test_of_compiled_files(self) -> None:
        coq = load("coq")
        with mock.patch.object(coq, "BUILD", self.directory):
            module = coq.Module("Two", "From Chunkproof Require Import One.\nTheorem t : True.\n")
            keys = []
            for compiled, source_key in (("a", "k"), ("b", "k"), ("b", "l")):
                self.file("One.vo", compiled)
                keys.append(coq.cache_key(module, source_key))
            self.assertEqual(len(set(keys)), 3)
            cache = kept.Cache("coq")
            cache.keep_files(keys[2], {"vo": b"\0compiled", "log": b"Axioms:\n"})
            self.assertTrue(coq.from_cache(cache, keys[2], module))
            self.assertEqual((self.directory / "Two.vo").read_bytes(), b"\0compiled")
            cache.keep_files(keys[2], {"vo": b"compiled"})
            self.assertFalse(coq.from_cache(cache, keys[2], module))

    def test_of_contracts(self) -> None:
        eacsl = load("eacsl")
        versions = {"frama-c": "25.0", "gcc": "12"}
        self.file("ref/pool.c", "int x;")
        with mock.patch.object(eacsl, "ROOT", self.directory), mock.patch.object(
            eacsl, "output", lambda tool, *_: versions[tool]
        ):
            keys = [eacsl.key_of_run()]
            self.assertEqual(eacsl.key_of_run(), keys[0])
            for change in (
                lambda: self.file("ref/pool.c", "int y;"),
                lambda: self.file("ref/new.c", ""),
                lambda: versions.update(gcc="13"),
                lambda: os.environ.update(SEED="7"),
            ):
                change()
                keys.append(eacsl.key_of_run())
        os.environ.pop("SEED")
        self.assertEqual(len(set(keys)), 5)


class Limits(InDirectory):
    """Provers are ended by processor time, and what fails is tried again alone."""

    def prover(self, text: str) -> pathlib.Path:
        path = self.file("z3", "#!/bin/sh\n" + text)
        path.chmod(0o755)
        limited = self.directory / "limits" / "limited-z3"
        self.assertEqual(
            load("wp").with_limits(f'path = "{path}"\npath = "another"\n', limited.parent),
            f'path = "{limited}"\npath = "another"\n',
        )
        return limited

    def test_a_prover_that_computes_ends_and_one_that_waits_does_not(self) -> None:
        settings = {**os.environ, "PROVER_SECONDS": "1"}
        busy = subprocess.run([self.prover("while :; do :; done\n")], env=settings, timeout=300)
        self.assertIn(busy.returncode, (-signal.SIGXCPU, -signal.SIGKILL))
        run = subprocess.run(
            [self.prover('sleep 2; echo "$@"\n'), "unsat"],
            env=settings,
            capture_output=True,
            text=True,
        )
        self.assertEqual((run.returncode, run.stdout), (0, "unsat\n"))

    def test_one_that_matches_patterns_alone_has_the_limit_of_z3(self) -> None:
        wp = load("wp")
        config = '[partial_prover]\nname = "Z3"\npath = "z3"\nversion = "4.8.12"\n'
        added = wp.with_matching(config, self.directory).removeprefix(config)
        self.assertIn('name = "matching"\nversion = "4.8.12"\n', added)
        self.assertIn(f'"{self.directory}/limited-z3 auto_config=false smt.mbqi=false', added)

    def test_a_function_is_divided_among_provers_that_leave_nothing_open(self) -> None:
        wp = load("wp")
        left: dict[str, set[str | None]] = {
            "z3": {"a", "b", "c", "d"},
            "cvc4": {"a", "c"},
            "matching": {"b", "c"},
        }
        self.assertIsNone(wp.divided("z3", left))  # c is proved by none
        left["cvc4"].remove("c")
        self.assertEqual(wp.divided("z3", left), "z3/cvc4:b,c,d/matching:a")
        left["z3"].add(None)  # no name chooses it
        self.assertIsNone(wp.divided("z3", left))
        self.assertEqual(
            wp.selections("z3/cvc4:b,c/matching:a"),
            [
                ("z3", ["-wp-prop=-b,-c,-a"]),
                ("cvc4", ["-wp-prop=b,c"]),
                ("matching", ["-wp-prop=a"]),
            ],
        )
        self.assertEqual(wp.selections("cvc4"), [("cvc4", [])])

    def test_a_prover_leaves_what_another_proves_in_half_the_time(self) -> None:
        wp = load("wp")
        log = (
            "[wp] [Z3 4.8.12] Goal typed_ref_add_assert_sum : Valid (Qed:3ms) (5.5s) (815)\n"
            "[wp] [Z3 4.8.12] Goal typed_ref_add_loop_invariant_up_preserved : Valid (2.5s) (81)\n"
            "[wp] [Z3 4.8.12] Goal typed_ref_add_loop_invariant_up_established : Valid (10ms) (8)\n"
            "[wp] [Z3 4.8.12] Goal typed_ref_add_all_assert_sum : Valid (1'3s) (90)\n"
            "[wp] [Qed] Goal typed_ref_add_ensures_ok : Valid (1ms)\n"
        )
        spent = wp.seconds(log, "add", ["add", "add_all"])
        self.assertEqual(
            spent,
            {
                "add_assert_sum": 5.5,
                "add_loop_invariant_up_preserved": 2.5,
                "add_loop_invariant_up_established": 0.01,
            },
        )
        self.assertEqual(wp.times(log)[1:], (60.0, "add_all_assert_sum"))
        goals = {
            "add_assert_sum": (1, 1, 0),
            "add_loop_invariant_up": (2, 2, 0),
            "add_ensures_ok": (1, 1, 1),
            "add_ensures_open": (0, 1, 0),
        }
        z3 = wp.by_property(goals, spent)
        self.assertEqual(z3, {"sum": 5.5, "up": 2.51, "ok": 0.0, "open": math.inf})
        cvc4 = {"sum": 4.0, "up": 0.1, "ok": 0.0, "open": 9.0}
        self.assertEqual(wp.to_leave("z3", {"z3": z3, "cvc4": cvc4}), {"up", "open"})
        self.assertEqual(wp.to_leave("cvc4", {"z3": z3, "cvc4": cvc4}), set())
        self.assertEqual(wp.to_leave("z3", {"z3": z3}), {"open"})

    def test_what_fails_is_tried_again_alone_with_more_time(self) -> None:
        wp = load("wp")
        frama_c = wp.FramaC.__new__(wp.FramaC)
        frama_c.work, frama_c.times, frama_c.cache = self.directory, {}, kept.Cache("wp")
        calls = []

        def run(
            unit: str, options: list[str], provers: str, timeout: int, alone: bool = False
        ) -> tuple[Goals, str]:
            calls.append((provers, timeout, alone, options[-1]))
            return {
                "one": {"a": (1, 1, 0), "b": (int(alone), 1, 0)}
            }, "[wp] [Cache] found:3, updated:1\n"

        frama_c.run, frama_c.key = run, lambda *parts: "ab12"
        frama_c.groups = lambda *parts: [("z3", ["-wp-fct", "one"])]
        goals, _, found = frama_c.prove("pool", {"one": "z3"})
        limit = wp.TIMEOUT
        self.assertEqual(calls, [("z3", limit, False, "one"), ("any", 3 * limit, True, "one")])
        self.assertEqual((list(wp.unproved(goals)), found), ([], 3))
        self.assertEqual(frama_c.prove("pool", {"one": "z3"})[2], 2)  # from the cache: both goals
        self.assertEqual(len(calls), 2)

    def test_a_goal_of_another_name_is_not_one_more(self) -> None:
        wp = load("wp")
        frama_c = wp.FramaC.__new__(wp.FramaC)
        frama_c.work, frama_c.times, frama_c.cache = self.directory, {}, kept.Cache("wp")

        def run(
            unit: str, options: list[str], provers: str, timeout: int, alone: bool = False
        ) -> tuple[Goals, str]:
            if not alone:
                return {"one": {"one_assert_a": (0, 1, 0), "one_assert_b": (1, 1, 0)}}, ""
            if options[-1].startswith("-wp-prop="):
                return {"one": {"one_assert_a_2": (1, 1, 0)}}, ""
            return {"one": {"one_assert_a": (1, 1, 0), "one_assert_b": (1, 1, 0)}}, ""

        frama_c.run, frama_c.key = run, lambda *parts: "cd34"
        frama_c.groups = lambda *parts: [("z3", ["-wp-fct", "one"])]
        goals, _, _ = frama_c.prove("pool", {"one": "z3"})
        self.assertEqual(goals["one"], {"one_assert_a": (1, 1, 0), "one_assert_b": (1, 1, 0)})

    def test_what_is_not_proved_is_not_kept(self) -> None:
        wp = load("wp")
        frama_c = wp.FramaC.__new__(wp.FramaC)
        frama_c.goals = self.directory / "goals"
        for name, verdict in (("a", "valid"), ("b", "failed"), ("c", "timeout"), ("d", "unknown")):
            self.file(f"goals/{name}.json", f'{{ "prover": "Z3:4.8.12", "verdict": "{verdict}" }}')
        frama_c.forget_failures(time.time())
        self.assertEqual([path.name for path in frama_c.goals.iterdir()], ["a.json"])


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
        words = text.split("stages=(", 1)[1].split(")", 1)[0].split()
        with mock.patch.object(sys, "stderr", io.StringIO()) as said:
            chosen = verify.choose(stages.STAGES, words, "default")
        self.assertEqual(said.getvalue(), "")
        self.assertTrue(
            {"proofs-wp-all", "model-checking-wide", "contracts"}
            <= {stage.name for stage in chosen or ()}
        )


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
