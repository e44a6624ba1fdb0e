# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of action.yml as a runner does, on right and wrong kernels.

    tests/action.py build/chunkproof

Expressions are filled in from the inputs, and each step is a file for bash. The two steps that
install and build are left out, because the command is there. tests/action.sh prints a line for each
test.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Any

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
KERNEL = "tests/example/paged_kernel.c"
BEFORE_THE_GATE = ["scripts/deps build", "make -j2 DEPS=skip command"]
command = ROOT / "build" / "chunkproof"


class Run:
    """One use of the action, and what it left behind."""

    def __init__(self, place: pathlib.Path, **inputs: str) -> None:
        self.place = place
        self.outputs: dict[str, str] = {}
        self.log = self.summary = ""
        self.status = 0
        self.inputs = {name: str(of.get("default", "")) for name, of in ACTION["inputs"].items()}
        self.inputs.update(inputs)
        for step in ACTION["runs"]["steps"]:
            if "run" in step and step["run"] not in BEFORE_THE_GATE:
                self.step(step)

    def filled(self, text: str) -> str:
        known = {"github.action_path": str(ROOT), "runner.temp": str(self.place / "temp"),
                 **{f"inputs.{name}": value for name, value in self.inputs.items()}}
        return re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda found: known[found[1]], text)

    def step(self, step: dict[str, Any]) -> None:
        names = "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"
        files = {name: self.place / name.lower() for name in names}
        script = self.place / "step.sh"
        script.write_text(self.filled(step["run"]), encoding="utf-8")
        environment = {**os.environ, "CHUNKPROOF": str(command),
                       **{name: str(path) for name, path in files.items()},
                       **{name: self.filled(str(value)) for name, value in step["env"].items()}}
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
                              cwd=self.place, env=environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.status, self.log = done.returncode, done.stdout
        outputs, self.summary = (files[name].read_text(encoding="utf-8") for name in names)
        self.outputs = dict(line.split("=", 1) for line in outputs.splitlines())

    def report(self, name: str) -> pathlib.Path:
        return self.place / "temp" / self.inputs["artifact"] / name


class Action(unittest.TestCase):
    def setUp(self) -> None:
        self.place = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.place)
        self.right = (ROOT / KERNEL).read_text(encoding="utf-8")
        (self.place / "right.c").write_text(self.right, encoding="utf-8")

    def wrong(self, old: str, new: str) -> None:
        self.assertEqual(self.right.count(old), 1)
        (self.place / "wrong.c").write_text(self.right.replace(old, new), encoding="utf-8")

    def test_the_steps_before_the_gate_are_these(self) -> None:
        runs = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
        self.assertEqual(runs[:2], BEFORE_THE_GATE)
        self.assertEqual(len(runs), 3)

    def test_a_right_kernel_passes_and_leaves_its_reports(self) -> None:
        run = Run(self.place, kernel="right.c", extra="--cases 10", seed="3", shape="d=32")
        self.assertEqual(run.status, 0, run.log)
        self.assertEqual(run.outputs, {"status": "0", "verdict": "right"})
        self.assertTrue(run.summary.startswith("### chunkproof: right\n"), run.summary)
        said = run.report("gate.txt").read_text(encoding="utf-8").splitlines()
        self.assertIn(f"    {said[-1]}\n", run.summary)
        report = json.loads(run.report("gate.json").read_text(encoding="utf-8"))
        self.assertEqual((report["verdict"], report["cases"], report["seed"]), ("right", 10, "3"))
        self.assertIn("<html", run.report("gate.html").read_text(encoding="utf-8"))
        self.assertIn("<testsuite ", run.report("gate.xml").read_text(encoding="utf-8"))
        self.assertIn("d=32", report["again"])

    def test_a_wrong_kernel_fails_with_1_and_keeps_its_smallest_case(self) -> None:
        self.wrong("o[i] = o[i] * rescale", "o[i] = o[i]")
        run = Run(self.place, kernel="wrong.c", extra="--first", artifact="mine")
        self.assertEqual(run.status, 1, run.log)
        self.assertEqual(run.outputs, {"status": "1", "verdict": "wrong"})
        self.assertTrue(run.summary.startswith("### chunkproof: wrong\n"), run.summary)
        self.assertIn("NUM-10", run.summary)
        self.assertTrue(list(run.report("cases").glob("*.json")), run.log)

    def test_bad_use_fails_with_2_and_says_why(self) -> None:
        cases = (({"kernel": "absent.c"}, "absent.c"),
                 ({"kernel": ""}, "kernel is empty"),
                 ({"kernel": "right.c", "tier": "huge"}, "huge"),
                 ({"kernel": "right.c", "extra": "--no-such-option"}, "--no-such-option"))
        for inputs, said in cases:
            for name in ("github_output", "github_step_summary"):
                (self.place / name).unlink(missing_ok=True)
            run = Run(self.place, **inputs)
            self.assertEqual((run.status, run.outputs["verdict"]), (2, "none"), run.log)
            self.assertIn(said, run.log)
            self.assertTrue(run.summary.startswith("### chunkproof: no verdict"), run.summary)

    def test_an_input_is_no_command(self) -> None:
        run = Run(self.place, kernel="right.c; touch broken", seed="$(touch broken)",
                  shape="`touch broken`", extra="; touch broken")
        self.assertEqual(run.status, 2)
        self.assertFalse((self.place / "broken").exists())

    def test_what_a_kernel_prints_is_no_command_of_the_runner(self) -> None:
        self.wrong("#include <math.h>", '#include <math.h>\n#include <stdio.h>\n'
                   '__attribute__((constructor)) static void speak(void) { puts("::error::mine"); '
                   'fflush(stdout); }')
        run = Run(self.place, kernel="wrong.c", extra="--cases 2")
        lines = run.log.splitlines()
        token = lines[0].removeprefix("::stop-commands::")
        self.assertRegex(token, "^[0-9a-f]{32}$")
        self.assertIn("kernel: ::error::mine", lines[1:lines.index(f"::{token}::")])


if __name__ == "__main__":
    command = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
