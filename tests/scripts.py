# SPDX-License-Identifier: Apache-2.0
"""Tests of the scripts themselves: what the gate reports, and that its checks can fail. Run by
tests/scripts.sh; each test is a method."""
import csv
import importlib.machinery
import importlib.util
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias
from unittest import mock

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SCRIPTS = os.path.join(ROOT, "scripts")
sys.path.insert(0, SCRIPTS)

import coverage  # noqa: E402
import report as paper  # noqa: E402
import run_tests  # noqa: E402
import verify  # noqa: E402
from stages import STAGES, Stage  # noqa: E402

Json: TypeAlias = dict[str, Any]
Row: TypeAlias = dict[str, Any]  # of kernels/resources.csv
TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
    "number": (int, float)}


def breaches(schema: Json, value: Any, at: str = "report") -> list[str]:
    """Where a value breaks a schema: the part of JSON Schema that report-schema.json uses."""
    kind = schema["type"]
    if not issubclass(type(value), TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return [f"{at}: not of type {kind}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at}: {value!r} is not one of {schema['enum']}")
    if "minimum" in schema and not value >= schema["minimum"]:
        found.append(f"{at}: {value} is below {schema['minimum']}")
    if kind == "array":
        for place, item in enumerate(value):
            found += breaches(schema["items"], item, f"{at}[{place}]")
    if kind == "object":
        known = schema.get("properties", {})
        found += [f"{at}: {name} is missing" for name in schema.get("required", ())
                  if name not in value]
        for name, item in value.items():
            below = known.get(name, schema.get("additionalProperties"))
            found += breaches(below, item, f"{at}.{name}") if below else \
                [f"{at}: {name} is not in the schema"]
    return found


class InDirectory(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)


class Verify(InDirectory):
    def run_stages(self, *stages: Stage, arguments: Sequence[str] = (),
                   **environment: str) -> tuple[int, Json, str]:
        """(exit status, report, what was printed); checks the report against its schema."""
        out = io.StringIO()
        environment = {"STRICT": "0", "TIER": "default", **environment}
        with mock.patch.dict(os.environ, environment):
            status = verify.main(list(arguments), stages, self.directory, out)
        with open(os.path.join(self.directory, "report.json"), encoding="utf-8") as file:
            report = json.load(file)
        with open(os.path.join(SCRIPTS, "report-schema.json"), encoding="utf-8") as file:
            self.assertEqual(breaches(json.load(file), report), [])
        return status, report, out.getvalue()

    def test_all_stages_pass(self) -> None:
        status, report, text = self.run_stages(Stage("first", "echo goals 75/75, lines 98.5 %"),
                                               Stage("second", "echo 31 passed, 0 failed"))
        self.assertEqual(status, 0)
        self.assertEqual((report["status"], report["passed"], report["failed"]), ("pass", 2, 0))
        self.assertEqual(report["stages"][0]["figures"],
                         [{"name": "goals", "value": 75, "of": 75},
                          {"name": "lines", "value": 98.5, "unit": "%"}])
        self.assertEqual(report["stages"][1]["figures"], [{"name": "passed", "value": 31},
                                                          {"name": "failed", "value": 0}])
        self.assertIn("2 passed, 0 failed, 0 skipped", text)

    def test_a_failing_stage_fails_the_run_and_the_next_still_runs(self) -> None:
        status, report, text = self.run_stages(Stage("bad", "echo it broke here; exit 3"),
                                               Stage("good", "true"))
        self.assertEqual(status, 1)
        self.assertEqual([stage["status"] for stage in report["stages"]], ["fail", "pass"])
        self.assertEqual(report["stages"][0]["reason"], "exit status 3")
        self.assertEqual(report["status"], "fail")
        self.assertIn("it broke here", text)

    def test_a_stage_whose_script_is_not_there_fails(self) -> None:
        status, report, _ = self.run_stages(Stage("lost", "proofs/no-such-thing/run"))
        self.assertEqual((status, report["stages"][0]["status"]), (1, "fail"))

    def test_a_missing_tool_is_a_skip_that_names_it(self) -> None:
        status, report, _ = self.run_stages(Stage("tool", "false", ("no-such-tool",)),
                                            Stage("probe", "false", (("the probe", "false"),)))
        self.assertEqual(status, 0)
        self.assertEqual([stage["reason"] for stage in report["stages"]],
                         ["no-such-tool is missing", "the probe is missing"])
        self.assertEqual((report["passed"], report["skipped"]), (0, 2))

    def test_a_stage_can_say_itself_that_it_was_skipped(self) -> None:
        status, report, _ = self.run_stages(Stage("own", "echo missing: cvc4; exit 77"))
        self.assertEqual((status, report["stages"][0]["status"]), (0, "skip"))
        self.assertEqual(report["stages"][0]["reason"], "missing: cvc4")

    def test_strict_makes_a_skip_a_failure(self) -> None:
        status, report, _ = self.run_stages(Stage("tool", "true", ("no-such-tool",)), STRICT="1")
        self.assertEqual((status, report["stages"][0]["status"]), (1, "fail"))
        self.assertEqual(report["stages"][0]["reason"], "STRICT=1: no-such-tool is missing")
        self.assertTrue(report["strict"])

    def test_a_stage_past_its_limit_fails_and_leaves_nothing_running(self) -> None:
        mark = os.path.join(self.directory, "..", os.path.basename(self.directory) + ".mark")
        status, report, _ = self.run_stages(Stage("slow", f"(sleep 4; touch {mark}) & wait",
                                                  limit=1))
        self.assertEqual((status, report["stages"][0]["reason"]), (1, "still running after 1 s"))
        time.sleep(4)
        self.assertFalse(os.path.exists(mark))

    def test_stages_are_chosen_by_name(self) -> None:
        status, report, _ = self.run_stages(Stage("good", "true"), Stage("bad", "false"),
                                            arguments=["good"])
        self.assertEqual((status, len(report["stages"])), (0, 1))
        with mock.patch.object(sys, "stderr", io.StringIO()) as said:
            self.assertEqual(verify.main(["nothing"], (Stage("good", "true"),), self.directory), 2)
        self.assertIn("no such stage: nothing", said.getvalue())

    def test_stages_are_left_out_by_name(self) -> None:
        stages = Stage("good", "true"), Stage("bad", "false"), Stage("rare", "false",
                tiers=("deep",))
        status, report, _ = self.run_stages(*stages, arguments=["-bad"])
        self.assertEqual((status, [stage["name"] for stage in report["stages"]]), (0, ["good"]))
        for arguments, what in ((["-nothing"], "no such stage: nothing"),
                                (["-good", "-bad"], "no stage is left of -good -bad")):
            with mock.patch.object(sys, "stderr", io.StringIO()) as said:
                self.assertEqual(verify.main(arguments, stages, self.directory), 2)
            self.assertIn(what, said.getvalue())

    def test_a_wrong_tier_is_bad_use(self) -> None:
        with mock.patch.dict(os.environ, {"TIER": "slow"}), mock.patch.object(sys, "stderr"):
            self.assertEqual(verify.main([], (Stage("good", "true"),), self.directory), 2)

    def test_a_second_run_at_once_is_refused_and_removes_nothing(self) -> None:
        self.run_stages(Stage("good", "true"))
        with verify.alone(self.directory) as is_alone, \
                mock.patch.object(sys, "stderr", io.StringIO()) as said:
            self.assertTrue(is_alone)
            self.assertEqual(verify.main([], (Stage("bad", "false"),), self.directory), 2)
        self.assertIn("another run writes " + self.directory, said.getvalue())
        with open(os.path.join(self.directory, "report.json"), encoding="utf-8") as file:
            self.assertEqual([one["name"] for one in json.load(file)["stages"]], ["good"])
        self.run_stages(Stage("good", "true"))  # the lock ends with its run

    def test_make_takes_the_tier_before_and_after_its_name(self) -> None:
        make = ["make", "-s", "--no-print-directory", "DEPS=skip", "STAGES=nothing", "verify"]
        without = {name: value for name, value in os.environ.items()
                   if name not in ("TIER", "MAKEFLAGS", "MAKEOVERRIDES")}
        for command, environment in ((make + ["TIER=slow"], {}), (make, {"TIER": "slow"})):
            run = subprocess.run(command, cwd=ROOT, env={**without, **environment},
                                 capture_output=True, text=True)
            self.assertEqual(run.returncode, 2)
            self.assertIn("TIER=slow: it is one of", run.stderr)

    def test_stages_see_the_tier(self) -> None:
        _, report, _ = self.run_stages(Stage("tier", "echo $TIER"), TIER="quick")
        self.assertEqual((report["tier"], report["stages"][0]["summary"]), ("quick", "quick"))

    def test_a_quick_stage_may_do_less(self) -> None:
        stage = Stage("both", "echo all", quick="echo less")
        for tier, said in (("quick", "less"), ("default", "all"), ("deep", "all")):
            self.assertEqual(self.run_stages(stage, TIER=tier)[1]["stages"][0]["summary"], said)

    def test_a_stage_may_belong_to_a_tier(self) -> None:
        stages = Stage("always", "true"), Stage("rare", "true", tiers=("deep",))
        for tier, chosen in (("default", 1), ("deep", 2)):
            self.assertEqual(len(self.run_stages(*stages, TIER=tier)[1]["stages"]), chosen)
        self.assertEqual(len(self.run_stages(*stages, arguments=["rare"])[1]["stages"]), 1)

    def test_junit_says_the_same(self) -> None:
        self.run_stages(Stage("good", "true"), Stage("bad", "false"),
                        Stage("tool", "true", ("no-such-tool",)))
        suite = xml.parse(os.path.join(self.directory, "junit.xml")).getroot()
        self.assertEqual([suite.get(key) for key in ("tests", "failures", "skipped")],
                         ["3", "1", "1"])
        self.assertEqual([[child.tag for child in case][0] for case in suite],
                         ["system-out", "failure", "skipped"])

    def test_what_the_gate_wrote_is_said(self) -> None:
        for names, said in ((("gate.json", "gate.html"),
                             "report.json, junit.xml, gate.json, gate.html\n"),
                            ((), "report.json, junit.xml\n")):
            write = " && ".join(["true",
                                 *(f"touch {os.path.join(self.directory, name)}"
                                   for name in names)])
            self.assertIn(f"{self.directory}/{said}", self.run_stages(Stage("gate", write))[2])

    def test_a_kernel_of_yours_is_reported(self) -> None:
        copy = os.path.join(self.directory, "copy")
        shutil.copytree(SCRIPTS, os.path.join(copy, "scripts"))
        for name, status, last in (("right", 0, "kernels 1/1"), ("wrong", 1, "kernels 0/1")):
            binary = os.path.join(copy, "build", "chunkproof")
            os.makedirs(os.path.dirname(binary), exist_ok=True)
            with open(binary, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n[ $1 = replay ] || echo \"$@\" >build/arguments\n"
                           f"exit {status}\n")
            os.chmod(binary, 0o755)
            run = subprocess.run([os.path.join(copy, "scripts", "gate")], capture_output=True,
                                 text=True,
                                 env={**os.environ, "KERNEL": "it's mine.so", "TIER": "default"})
            self.assertEqual((run.returncode, run.stdout.splitlines()[-1]), (status, last), name)
            with open(os.path.join(copy, "build", "arguments"), encoding="utf-8") as file:
                self.assertEqual(file.read(),
                                 "gate --kernel it's mine.so --tier quick "
                                 f"--jobs {len(os.sched_getaffinity(0))} "
                                 "--json build/verify/gate.json --junit build/verify/gate.xml "
                                 "--html build/verify/gate.html --save build/verify/cases\n")

    def test_an_interrupt_still_reports(self) -> None:
        program = ("import sys, verify; from stages import Stage; "
                   "sys.exit(verify.main([], (Stage('good', 'true'), Stage('slow', 'sleep 60'), "
                   "Stage('never', 'true')), sys.argv[1]))")
        for signum in (signal.SIGINT, signal.SIGTERM):
            child = subprocess.Popen([sys.executable, "-c", program, self.directory], cwd=ROOT,
                                     env={**os.environ, "PYTHONPATH": SCRIPTS},
                                     stdout=subprocess.PIPE, text=True)
            assert child.stdout is not None  # a pipe
            while "slow" not in child.stdout.readline():
                self.assertIsNone(child.poll())
            child.send_signal(signum)
            child.communicate(timeout=20)
            self.assertEqual(child.returncode, 128 + signum)
            with open(os.path.join(self.directory, "report.json"), encoding="utf-8") as file:
                report = json.load(file)
            self.assertEqual(report["status"], "interrupted")
            self.assertEqual([(stage["name"], stage["reason"]) for stage in report["stages"]],
                             [("good", ""), ("slow", "interrupted")])

    def test_the_schema_is_not_satisfied_by_anything(self) -> None:
        with open(os.path.join(SCRIPTS, "report-schema.json"), encoding="utf-8") as file:
            schema = json.load(file)
        report = paper.new("default", False, "", {})
        self.assertEqual(breaches(schema, report), [])
        for wrong in ({"tier": "fast"}, {"strict": 1}, {"seconds": -1}, {"extra": 0},
                      {"stages": [{"name": "x"}]}):
            self.assertNotEqual(breaches(schema, {**report, **wrong}), [], wrong)

    def test_stage_names_are_unique(self) -> None:
        self.assertEqual(len({stage.name for stage in STAGES}), len(STAGES))


class RunTests(InDirectory):
    def test_the_last_line_says_what_failed_first(self) -> None:
        os.mkdir(os.path.join(self.directory, "tests"))
        program = os.path.join(self.directory, "tests", "test_tree")
        for text, last in (("ok 1 - a\nnot ok 2 - of b\nnot ok 3 - c",
                            "1 passed, 2 failed; tree: of b"),
                           ("ok 1 - a", "1 passed, 0 failed"),
                           ("1..2\nok 1 - a", "1 passed, 1 failed; tree: 1 of 2 tests were run")):
            with open(program, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\ncat <<E\n{text}\nE\n")
            os.chmod(program, 0o755)
            run = subprocess.run([os.path.join(SCRIPTS, "run_tests.py"), "--build", self.directory,
                                  "--only", "unit", "tree"], capture_output=True, text=True,
                                 cwd=ROOT, check=False)
            self.assertEqual(run.stdout.splitlines()[-1], last)
        self.assertEqual(paper.figures_of("1 passed, 2 failed; tree: 3 rows, 4 of keys"),
                         [{"name": "passed", "value": 1}, {"name": "failed", "value": 2}])

    def judged(self, status: int | None, output: str) -> tuple[int, int, int, str | None]:
        return run_tests.judge(status, output, 600)

    def test_verdicts(self) -> None:
        good, bad = "1..2\nok 1 - a\nok 2 - b\n", "1..2\nok 1 - a\nnot ok 2 - b\n"
        self.assertEqual(self.judged(0, good), (2, 0, 0, None))
        self.assertEqual(self.judged(1, bad), (1, 1, 0, None))
        self.assertEqual(self.judged(0, "ok 1 # SKIP no tool\nok 2\n"), (1, 0, 1, None))

    def test_what_else_is_a_failure(self) -> None:
        for status, output in ((0, ""), (0, "1..2\nok 1\n"), (-11, "ok 1\n"), (99, "ok 1\n"),
                               (None, "ok 1\n"), (0, "not ok 1 - a\n")):
            self.assertGreater(self.judged(status, output)[1], 0, (status, output))


class Coverage(InDirectory):
    THREADS, ROUNDS = 4, 20000000
    SOURCE = """#include <pthread.h>
static int kind(int i) {
    switch (i % 2) {
    case 0:
        return 1;
    default:
        return 2;
    }
}
static void *work(void *none) {
    for (int i = 0; i < ROUNDS; i++) {
        (void)kind(i);
    }
    return none;
}
int main(void) {
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&thread[i], 0, work, 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], 0);
    }
    return 0;
}
"""

    def counts(self, flags: str) -> dict[int, int]:
        """{line: how often it ran}."""
        with open(os.path.join(self.directory, "one.c"), "w", encoding="utf-8") as file:
            file.write(self.SOURCE)
        numbers = [f"-DTHREADS={self.THREADS}", f"-DROUNDS={self.ROUNDS}"]
        for command in (["gcc", *flags.split(), *numbers, "-c", "one.c"],
                        ["gcc", "--coverage", "-pthread", "one.o", "-o", "one"], ["./one"]):
            subprocess.run(command, check=True, cwd=self.directory)
        done = subprocess.run(["gcov", "--json-format", "--stdout", "one.gcda"], check=True,
                              capture_output=True, text=True, cwd=self.directory)
        lines = json.loads(done.stdout)["files"][0]["lines"]
        return {line["line_number"]: line["count"] for line in lines}

    def test_threads_lose_no_counts(self) -> None:
        lines, calls = self.counts(coverage.COUNTS), self.THREADS * self.ROUNDS
        self.assertEqual([lines[line] for line in (3, 5, 7)], [calls, calls // 2, calls // 2])

    def test_a_negative_count_is_refused(self) -> None:
        info = os.path.join(self.directory, "coverage.info")
        for row, right in (("DA:3,7", True), ("DA:3,-7", False), ("BRDA:3,0,1,2", True),
                           ("BRDA:3,0,1,-", True), ("BRDA:3,0,1,-16", False)):
            with open(info, "w", encoding="utf-8") as file:
                file.write(f"SF:{os.path.abspath('ref/number.c')}\n{row}\nend_of_record\n")
            if right:
                self.assertEqual(list(coverage.read(info)), ["ref/number.c"])
            else:
                with self.assertRaises(SystemExit, msg=row):
                    coverage.read(info)


class Layers(InDirectory):
    FILES = {"include/chunkproof/pool.h": "", "include/chunkproof/tree.h":
             '#include "chunkproof/pool.h"\n', "ref/pool.c": '#include "chunkproof/pool.h"\n',
             "ref/tree_check.c": '#include "chunkproof/tree.h"\n', "cli/base/command.h": "",
             "opt/own.h": "", "opt/softmax.c": '#include "opt/own.h"\n'}

    def layers(self, **changed: str) -> subprocess.CompletedProcess[str]:
        for path, text in {**self.FILES, **changed}.items():
            path = os.path.join(self.directory, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return subprocess.run([os.path.join(SCRIPTS, "layers.py"), self.directory],
                              capture_output=True, text=True)

    def test_right_includes_pass(self) -> None:
        run = self.layers()
        self.assertEqual((run.returncode, run.stdout), (0, "4 files named, 3 compiled\n"))

    def test_wrong_includes_are_found(self) -> None:
        wrong = {"ref/pool.c": '#include "chunkproof/tree.h"\n',
                 "include/chunkproof/pool.h": '#include "chunkproof/tree.h"\n',
                 "ref/workspace.c": '#include "chunkproof/tree.h"\n',
                 "ref/tree.c": "#include <cli/base/command.h>\n",
                 "ref/plan.c": '#include "opt/own.h"\n',
                 "opt/softmax.c": '#include "ref/tree_check.c"\n',
                 "ref/surprise.c": ""}
        for path, text in wrong.items():
            shutil.rmtree(self.directory)
            run = self.layers(**{path: text})
            self.assertEqual(run.returncode, 1, path)
            self.assertIn(path, run.stdout)


# What E-ACSL 25 made of a quantifier whose bound has two types, but for its check.
ADDRESS_COUNTED = """
int __gen_e_acsl_items_all_there_4(struct cp_batch b, unsigned long n)
      __gmpz_init_set_ui(__gen_e_acsl_i_3,__gen_e_acsl_i);
      __gen_e_acsl_i = __gen_e_acsl_i_3 + 1UL;
"""


class GeneratedChecks(unittest.TestCase):
    def test_a_counter_that_is_an_address_is_found(self) -> None:
        path = os.path.join(ROOT, "proofs", "eacsl", "run")
        loader = importlib.machinery.SourceFileLoader("eacsl_run", path)
        spec = importlib.util.spec_from_loader("eacsl_run", loader)
        assert spec is not None
        run = importlib.util.module_from_spec(spec)
        sys.modules["eacsl_run"] = run
        loader.exec_module(run)
        self.assertEqual(run.addresses_counted(ADDRESS_COUNTED), ["items_all_there_4"])
        self.assertFalse(run.addresses_counted(ADDRESS_COUNTED.replace("_i_3 + 1", "_i + 1")))


class Gpu(InDirectory):
    """gpu.py with programs that are not right, and ptxas.py with other figures than the table's."""
    csv = ("load,b,n_p,n_s,h,h_kv,kernel,chunks_per_task,median_us,p10_us,p90_us,bytes,operations,"
           "limit_us\n"
           "table 3,32,1024,0,32,32,version 1,1,%s,40,60,1000,1000,45\n")

    def program(self, place: str, name: str, text: str) -> None:
        os.makedirs(os.path.join(self.directory, place), exist_ok=True)
        path = os.path.join(self.directory, place, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)

    def gpu(self, what: str, other: str) -> tuple[int, str]:
        run = subprocess.run([sys.executable, os.path.join(SCRIPTS, "gpu.py"), what, "gpu", other,
                              "--small"],
                             cwd=self.directory, capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    def test_a_device_that_differs_is_found(self) -> None:
        self.program("cpu", "conform", "echo shuffles 1; echo votes 2\n")
        self.program("gpu", "grid", "echo grid: 1 passed, 0 failed\n")
        for said, status, words in (("echo shuffles 1; echo votes 2", 0, "2 kernels, 0 differ"),
                                    ("echo shuffles 1; echo votes 3", 1, "# device   votes 3"),
                                    ("echo shuffles 1", 1, "not ok"),
                                    ("echo failed: no device; exit 1", 1,
                                     "no kernel runs here: failed: no device")):
            self.program("gpu", "conform", said + "\n")
            self.assertEqual(self.gpu("check", "cpu")[0], status, said)
            self.assertIn(words, self.gpu("check", "cpu")[1])

    def test_a_wrong_result_is_found(self) -> None:
        for place in ("gpu", "cpu"):
            self.program(place, "conform", "echo votes 2\n")
        self.program("gpu", "grid", "echo WRONG: version 3; exit 1\n")
        status, said = self.gpu("check", "cpu")
        self.assertEqual(status, 1)
        self.assertIn("# WRONG: version 3", said)

    def test_what_is_faster_than_the_device_is_not_believed(self) -> None:
        for median, status in (("50", 0), ("44", 1)):
            self.program("gpu", "bench", f"cat <<END\n{self.csv % median}END\n")
            self.assertEqual(self.gpu("bench", "out")[0], status)
            with open(os.path.join(self.directory, "out", "bench.md"), encoding="utf-8") as file:
                self.assertIn(f"| {median}.0 (", file.read())

    def ptxas(self, change: Callable[[list[Row]], object]) -> tuple[int, str]:
        with open(os.path.join(ROOT, "kernels", "resources.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        change(rows)
        log = os.path.join(self.directory, "ptxas.log")
        with open(log, "w", encoding="utf-8") as file:
            for row in rows:
                file.write(f"release {row['nvcc']}, ptxas info : Compiling entry function "
                           f"'void chunkproof::{row['kernel']}(chunkproof::Problem<A>)'"
                           f" for 'sm_{row['capability']}'\n"
                           f" 0 bytes stack frame, {row['spilled']} bytes spill stores\n"
                           f"Used {row['registers']} registers, {row['shared']} bytes smem\n")
        run = subprocess.run([sys.executable, os.path.join(SCRIPTS, "ptxas.py"), log],
                             capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    def test_kernels_that_need_more_are_found(self) -> None:
        self.assertEqual(self.ptxas(lambda rows: None)[0], 0)
        for column, says in (("registers", "registers"), ("spilled", "spilled"),
                             ("shared", "shared")):
            status, said = self.ptxas(lambda rows: rows[5].update({column: 10 ** 6}))
            self.assertEqual((status, says in said), (1, True), said)
        self.assertEqual(self.ptxas(lambda rows: rows.pop())[0], 1)
        self.assertEqual(self.ptxas(lambda rows: rows.clear())[0], 2)
        status, said = self.ptxas(lambda rows: [row.update({"nvcc": "1.0", "shared": 10 ** 6})
                                                for row in rows])
        self.assertEqual((status, "compared 0" in said), (0, True), said)


if __name__ == "__main__":
    unittest.main()
