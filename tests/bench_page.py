# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/bench, with a command that is none, and of the peers without what they need. Run
by tests/bench_page.sh; each test is a method."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SCRIPTS = os.path.join(ROOT, "scripts")


class Bench(unittest.TestCase):
    spread = {"median": 2.0, "least": 1.0, "most": 4.0}
    series = {"name": "tree", "note": "", "measured": True, "seconds": spread, "of_limit": spread,
              "of_tree": spread}
    cell = {"part": "figure3", "b": 2, "n": 5, "n_s": 3, "heads": 8, "kv_heads": 8,
            "end": "measured", "note": "",
            "rounds": 3, "share": 0.5,
            "series": [series, {"name": "<peer>", "note": "not there", "measured": False}]}
    goal = {"what": "speed", "unit": "x", "wanted": 4.0, "at_least": True, "measured": 1,
            "met": False, "worst": 3.0,
            "best": 5.0, "where": "here"}
    report = {"machine": {"processor": "abacus", "system": "s", "compiler": "c"}, "threads": 2,
              "unit": "AVX2",
              "attention": [cell, {**cell, "end": "no-room", "note": "it takes 9 GiB", "n": 7}],
              "tree": None,
              "goals": [goal, {**goal, "measured": 0}]}

    def setUp(self) -> None:
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)

    def bench(self, script: str, *more: str) -> tuple[int, str]:
        os.makedirs(os.path.join(self.directory, "build"), exist_ok=True)
        command = os.path.join(self.directory, "build", "chunkproof")
        with open(command, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho a table; echo \"$@\" >asked\n" + script)
        os.chmod(command, 0o755)
        run = subprocess.run([sys.executable, os.path.join(SCRIPTS, "bench"), "--build", "build",
                              "--out", "out", *more],
                             cwd=self.directory, capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    def read(self, name: str) -> str:
        with open(os.path.join(self.directory, name), encoding="utf-8") as file:
            return file.read()

    def test_a_page_and_pictures(self) -> None:
        with open(os.path.join(self.directory, "report"), "w", encoding="utf-8") as file:
            json.dump(self.report, file)
        for status in (0, 1, 130):  # what was measured is shown, whatever came of it
            found, said = self.bench(f"cp report out/report.json; exit {status}\n",
                                     "--seconds", "3", "--smoke")
            self.assertEqual(found, status, said)
            self.assertIn("bench loads 1/2, pictures 2:", said.splitlines()[-1])
        self.assertIn("a table", said)
        self.assertTrue(self.read("asked").strip().endswith("--seconds 3 --smoke"))
        self.assertIn("torch_sdpa.py", self.read("asked"))
        page = self.read("out/index.md")
        for words in ("abacus", "| speed | at least 4 x | 3 | 5 | missed: here |",
                      "| speed | at least 4 x | not measured |",
                      "| figure3 b=2 n=5 n_s=3 h=8/8 | 3 | 2000.00 | 2.00 (1.00-4.00) | 50 % |",
                      "- figure3 b=2 n=7 n_s=3 h=8/8: no-room it takes 9 GiB",
                      "- <peer>: not there", "![figure3.svg]"):
            self.assertIn(words, page)
        for name in ("limits.svg", "figure3.svg"):
            root = xml.fromstring(self.read(os.path.join("out", name)))
            self.assertIn("tree",
                          [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")])
        self.assertFalse(os.path.exists(os.path.join(self.directory, "out", "tree.svg")))

    def test_no_page_of_a_run_before(self) -> None:
        os.makedirs(os.path.join(self.directory, "out"))
        with open(os.path.join(self.directory, "out", "report.json"), "w",
                  encoding="utf-8") as file:
            json.dump(self.report, file)
        status, said = self.bench("exit 2\n")
        self.assertEqual(status, 2)
        self.assertFalse(os.path.exists(os.path.join(self.directory, "out", "index.md")), said)

    def test_torch_that_cannot_be_installed(self) -> None:
        os.makedirs(os.path.join(self.directory, "out", "venv", "bin"))
        python = os.path.join(self.directory, "out", "venv", "bin", "python")
        with open(python, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 1\n")
        os.chmod(python, 0o755)
        status, said = self.bench("exit 0\n", "--torch")
        self.assertEqual(status, 2)
        self.assertIn("PyTorch cannot be installed", said)
        self.assertFalse(os.path.exists(os.path.join(self.directory, "asked")))

    def test_the_peer_without_torch(self) -> None:
        with open(os.path.join(self.directory, "torch.py"), "w", encoding="utf-8") as file:
            file.write("raise ImportError('nowhere')\n")
        run = subprocess.run([sys.executable, os.path.join(SCRIPTS, "peers", "torch_sdpa.py")],
                             capture_output=True, text=True,
                             input="cell gqa 2 70 64 4 2 32 1 1000000000\n" * 2,
                             env={**os.environ, "PYTHONPATH": self.directory})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout,
                         "skip sdpa: PyTorch is not there (nowhere); TORCH=1 installs it\nready\n" *
                         2)


if __name__ == "__main__":
    unittest.main()
