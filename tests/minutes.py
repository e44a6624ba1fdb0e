# SPDX-License-Identifier: Apache-2.0
"""Tests of what keeps the checks short: the cache of results (scripts/kept.py) and the keys that
the proofs look up, samples, limits of the provers and of a run. Run by tests/minutes.sh."""

import contextlib
import importlib.machinery
import importlib.util
import io
import math
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import types
import unittest
from typing import Any, TypeAlias
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

import kept  # noqa: E402
import within  # noqa: E402
from in_directory import InDirectory  # noqa: E402

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

    def test_in_turn_each_nth_of_a_list_is_in_a_sample_and_the_rest_is_not(self) -> None:
        names = ["kernels", "plan", "pool", "exact", "softmax"]

        def run(*options: str) -> list[str]:
            return subprocess.run(["scripts/samples.py", *options, *names], capture_output=True,
                                  text=True, cwd=ROOT, check=True).stdout.split()

        for k in range(3):
            self.assertEqual(run("--in-turn", f"3:{k}"), names[k::3])
            left = [name for name in names if name not in names[k::3]]
            self.assertEqual(run("--rest", "--in-turn", f"3:{k}"), left)
            by_name = run(f"3:{k}")
            self.assertEqual(run("--rest", f"3:{k}"), [n for n in names if n not in by_name])


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
        keys.append(key())
        source.write_text("/* Of one thing: it's 1. */\n" + source.read_text() + "// the end\n")
        self.assertEqual(key(), keys[-1])  # a comment alone
        source.write_text(source.read_text().replace("int one", "//@ assigns \\nothing;\nint one"))
        self.assertEqual(len({*keys, key()}), 7)

    def test_what_is_no_comment_stays(self) -> None:
        without = load("wp").without_comments
        for text in (
            b"int a; /*@ requires it: x > '0'; */ int b;",
            b'const char *s = "/* no comment */", c = \'"\';',
            b"//@ ghost int g; // said of it\nint c;",
            b"/*@ ghost /@ requires p; @/ void f(void) {} */",
            b"char q = '\\'', *t = \"\\\"//\";",
        ):
            self.assertEqual(without(text), text)
        self.assertEqual(without(b"a /* b's \n /*@ c */ d // e /* \nf"), b"a   d\nf")

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


class Within(InDirectory):
    def begun(self, limit: str, changed: frozenset[str] = frozenset()) -> tuple[list[str], str]:
        """The harnesses of model checking that begin, each of which takes 0.2 s, and the totals."""
        cbmc, begun = load("cbmc"), []

        def check(_tools: object, harness: Any, _cache: object) -> tuple[bool, int, int]:
            begun.append(harness.name)
            time.sleep(0.2)
            return True, 1, 1

        with (
            mock.patch.dict(os.environ, {"WITHIN": limit, "JOBS": "1"}),
            mock.patch.object(within, "changed", lambda: changed),
            mock.patch.object(cbmc, "check_harness", check),
            contextlib.redirect_stdout(io.StringIO()) as said,
        ):
            self.assertEqual(cbmc.check_all({}, cbmc.read_harnesses()[:12], within.Within()), 0)
        return begun, said.getvalue()

    def test_what_is_not_begun_in_time_is_counted(self) -> None:
        begun, said = self.begun("1")
        self.assertIn(len(begun), range(1, 8))
        left = 12 - len(begun)
        self.assertRegex(said, rf"^harnesses {len(begun)}/{len(begun)}, .*; {left} of 12 harnesses")
        begun, said = self.begun("")
        self.assertEqual((len(set(begun)), "begun" in said), (12, False))

    def test_what_was_changed_lately_begins_first(self) -> None:
        last = self.begun("60")[0][-1]
        named = {one.name: one for one in load("cbmc").read_harnesses()}
        changed = frozenset(map(os.path.normpath, named[last].checked(str(ROOT))))
        with mock.patch.object(within, "changed", lambda: changed):
            with mock.patch.dict(os.environ, {"WITHIN": "60"}):
                files = {name: one.checked(str(ROOT)) for name, one in named.items()}
                order = within.Within().order(files, list(files))
        self.assertFalse(changed.isdisjoint(files[order[0]]))
        self.assertTrue(changed.isdisjoint(files[order[-1]]))

    def test_what_takes_minutes_comes_last_in_a_short_time(self) -> None:
        run = load("wp")
        files = {unit: [path] for unit, (path, *_) in run.UNITS.items()}
        self.assertLess(set(run.HEAVY), set(files))
        with mock.patch.object(within, "changed", lambda: frozenset(["ref/tree_join.c"])):
            for seconds, first in (("15", False), ("60", True)):
                with mock.patch.dict(os.environ, {"WITHIN": seconds}):
                    order = within.Within().order(files, list(files), run.HEAVY)
                self.assertEqual(sorted(order), sorted(files))
                heavy = [unit in run.HEAVY for unit in order]
                self.assertEqual(heavy[0], first)
                self.assertEqual(heavy == sorted(heavy), not first)

    def test_a_limit_is_whole_seconds(self) -> None:
        for tool in ("cbmc", "wp"):
            for wrong in ("0", "-1", "ten", "1.5"):
                run = subprocess.run([ROOT / "proofs" / tool / "run"], text=True, check=False,
                                     env={**os.environ, "WITHIN": wrong}, capture_output=True)
                self.assertEqual((run.returncode, run.stdout), (2, ""))
                self.assertIn(f"WITHIN={wrong}: it takes whole seconds", run.stderr)


class GateSeconds(InDirectory):
    def command(self, exit_status: int) -> str:
        path = self.file("command", "")
        path.write_text(f"#!/bin/sh\necho $* >>{self.directory}/calls\nexit {exit_status}\n")
        path.chmod(0o755)
        return str(path)

    def run_it(self, exit_status: int, *more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(ROOT / "scripts/gate_seconds.py"), self.command(exit_status)]
            + ["--kernel", "k.c", *more],
            capture_output=True,
            text=True,
        )

    def test_the_median_decides(self) -> None:
        done = self.run_it(0, "--times", "3", "--most", "100")
        self.assertEqual(done.returncode, 0)
        self.assertIn("tier quick of k.c: median", done.stdout)
        calls = (self.directory / "calls").read_text().splitlines()
        self.assertEqual(calls, 3 * ["gate --kernel k.c --tier quick"])
        self.assertEqual(self.run_it(0, "--times", "1", "--most", "0").returncode, 1)

    def test_a_kernel_that_is_not_right_is_not_timed(self) -> None:
        done = self.run_it(1, "--most", "100")
        self.assertEqual(done.returncode, 2)
        self.assertIn("exit status 1 for k.c", done.stderr)


if __name__ == "__main__":
    unittest.main()
