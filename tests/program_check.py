# SPDX-License-Identifier: Apache-2.0
"""What the tests of prompt programs share (tests/programs.py): programs in a folder, as Python runs
them and as `chunkproof prompt` reads what is written of them."""
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
PACKAGE = os.environ.get("CHUNKPROOF_PACKAGE", str(ROOT / "python"))
sys.path[:0] = [PACKAGE, str(ROOT / "tests")]
from chunkproof.compiler import read  # noqa: E402
from chunkproof.markup import prompt_of, schema_of  # noqa: E402
from chunkproof.refusal import Refusal  # noqa: E402
from program_random import HEAD  # noqa: E402

PROGRAMS = pathlib.Path(PACKAGE) / "examples"
COMMAND = os.environ.get("CHUNKPROOF_COMMAND", str(ROOT / "build" / "chunkproof"))
TEMPLATES: dict[str, Callable[[str], tuple[str, str]]] = {  # of PML-8: before and behind a role
    "none": lambda role: ("", ""),
    "chatml": lambda role: (f"<|im_start|>{role}\n", "<|im_end|>\n"),
    "llama2": lambda role: {"system": ("<s>[INST] <<SYS>>\n", "\n<</SYS>>\n\n"),
                            "user": ("", " [/INST]"),
                            "assistant": (" ", " </s><s>[INST] ")}[role],
}


class Said:
    """A context that says a text when it begins, and one when it ends."""

    def __init__(self, said: list[str], before: str, behind: str) -> None:
        self.said, self.before, self.behind = said, before, behind

    def __enter__(self) -> None:
        self.said.append(self.before)

    def __exit__(self, *error: object) -> None:
        self.said.append(self.behind)


@contextmanager
def modules(folder: pathlib.Path, shim: types.ModuleType) -> Iterator[None]:
    """In it, files of the folder are modules, and those of the package `of_a_test`, too."""
    package = types.ModuleType("of_a_test")
    package.__path__ = [str(folder)]
    kept = dict(sys.modules)
    sys.modules |= {"chunkproof.program": shim, "of_a_test": package}
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in sys.modules.keys() - kept.keys():
            del sys.modules[name]
        sys.modules |= kept


def executed(text: str, function: str, arguments: dict[str, Any], folder: pathlib.Path,
             template: str = "none") -> str:
    """What the program says when Python runs it, with a chunkproof.program of the test's own."""
    said: list[str] = []
    shim = types.ModuleType("chunkproof.program")
    setattr(shim, "prompt", lambda *names, **lengths: (
        names[0] if names and callable(names[0]) else lambda decorated: decorated))
    setattr(shim, "module", lambda name: Said(said, "", ""))
    for role in ("system", "user", "assistant"):
        setattr(shim, role, Said(said, *TEMPLATES[template](role)))
    with modules(folder, shim):
        meanings: dict[str, Any] = {"__name__": "of_a_test.program", "__package__": "of_a_test"}
        exec(compile(text, "program.py", "exec"), meanings)
    for piece in meanings[function](**arguments):
        said.append(piece)
    return "".join(said)


class InFolder(unittest.TestCase):
    """With a folder, and programs in it."""
    maxDiff = None

    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(lambda: subprocess.run(["rm", "-rf", str(self.folder)], check=True))

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return str(path)

    def schema(self, text: str, function: str | None = None) -> str:
        """Of a program without its head."""
        return schema_of(read(self.write("program.py", HEAD + text), function))

    def write_all(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            self.write(f"{name}.py", text)

    def refused(self, text: str, files: Mapping[str, str] = types.MappingProxyType({})) -> str:
        """What is said of the program, with these files beside it."""
        self.write_all(files)
        try:
            schema_of(read(self.write("program.py", text)))
        except Refusal as refusal:
            return str(refusal).replace(f"{self.folder}/", "")
        return "nothing"

    def report(self, *words: str) -> dict[str, Any]:
        run = subprocess.run([COMMAND, "prompt", "--json", *words], capture_output=True, text=True,
                             check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""), words)
        report: dict[str, Any] = json.loads(run.stdout)
        return report

    def texts(self, report: dict[str, Any], i: int) -> list[str]:
        """Of a prompt, in the order of positions; each text is there as a whole."""
        parts, found = report["schema"]["parts"], []
        for run in report["prompts"][i]["runs"]:
            self.assertIn(run["from"], ("cache", "argument"))
            text = run["text"] if run["from"] == "argument" else parts[run["part"]]["text"]
            if report["schema"]["tokens"] == "bytes":
                self.assertEqual(len(text.encode()), run["size"])
            found.append(text)
        return found

    def holds(self, text: str, function: str, calls: list[dict[str, Any]], template: str,
              others: Mapping[str, str] = types.MappingProxyType({})) -> dict[str, Any]:
        """PROG-6, the law, for these calls, with these files beside the program."""
        self.write_all(others)
        program = read(self.write("program.py", text), function)
        files = [self.write("schema.xml", schema_of(program))]
        files += [self.write(f"prompt{i}.xml", prompt_of(program, arguments))
                  for i, arguments in enumerate(calls)]
        said = [executed(text, function, arguments, self.folder, template)
                for arguments in calls]
        report = self.report("--tokens", "bytes", "--template", template, *files)
        words = self.report("--template", template, *files)
        for i, arguments in enumerate(calls):
            about = f"{arguments}\n{text}\n{others}"
            self.assertEqual("".join(self.texts(report, i)), said[i], about)
            # Words are cut at white space, and texts without any word are in no run.
            self.assertEqual(re.sub("[ \t\r\n]", "", "".join(self.texts(words, i))),
                             re.sub("[ \t\r\n]", "", said[i]), about)
        return report

    def run_module(self, name: str, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", f"chunkproof.{name}", *words], check=False,
                              capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": PACKAGE,
                                   "PYTHONDONTWRITEBYTECODE": "1"},
                              **{"cwd": self.folder, **more})

    def run_in_shell(self, words: str, before: str = "") -> subprocess.CompletedProcess[str]:
        words = f"{before}exec {sys.executable} -m chunkproof.{words}"
        return subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False,
                              cwd=self.folder, env={**os.environ, "PYTHONPATH": PACKAGE,
                                                    "PYTHONDONTWRITEBYTECODE": "1"})
