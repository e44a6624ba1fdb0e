#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `chunkproof prompt` to what a reader of spec/pml.md predicted of schemas of his own:
tests/golden/prompt/reader/predicted.txt.

    tests/prompt_reader.py COMMAND [FOLDER]

Exit status 0 all is as predicted; 1 something is not, which is printed.
"""
import json
import pathlib
import subprocess
import sys
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parent / "golden" / "prompt" / "reader"
Report = dict[str, Any]


def between(begin: int, size: int) -> str:
    return f"{begin} .. {begin + size - 1}"


def path_of(parts: list[Report], part: int) -> str:
    """The names of the modules around a module, and its own."""
    names: list[str] = []
    while part != 0:
        if parts[part]["kind"] == "module":
            names.insert(0, parts[part]["name"])
        part = parts[part]["in"]
    return "/".join(names)


def of_prompt(parts: list[Report], prompt: Report) -> list[str]:
    """What predicted.txt says of a prompt."""
    new = [run for run in prompt["runs"] if run["from"] == "new"]
    given = [run for run in prompt["runs"] if run["from"] == "argument"]
    return [f"  cached {prompt['cached']} new {prompt['computed']}",
            *(f"  module {path_of(parts, x)} {between(parts[x]['begin'], parts[x]['size'])}"
              for x in (imported["module"] for imported in prompt["mask"]) if x != 0),
            *(f"  argument {parts[run['part']]['name']} {between(run['begin'], run['size'])}"
              for run in given),
            *(f"  text {between(run['begin'], run['size'])} behind "
              f"{'none' if run['behind'] is None else path_of(parts, run['behind'])}"
              for run in new)]


def reported(command: str, folder: pathlib.Path, name: str, template: str,
             prompts: list[str]) -> list[str]:
    files = [folder / f"{file}.xml" for file in (f"{name}.schema", *prompts)]
    run = subprocess.run([command, "prompt", "--json", "--template", template, *map(str, files)],
                         check=True, capture_output=True, text=True)
    report = json.loads(run.stdout)
    parts = report["schema"]["parts"]
    lines = [f"schema {name} {template} {report['schema']['positions']}"]
    for prompt, found in zip(prompts, report["prompts"], strict=True):
        lines += [f"prompt {prompt}", *of_prompt(parts, found)]
    return lines


def refused(command: str, folder: pathlib.Path, name: str) -> str:
    """Where the first error of a wrong prompt is."""
    file = folder / f"{name}.wrong.xml"
    run = subprocess.run([command, "prompt", str(folder / f"{name}.schema.xml"), str(file)],
                         check=False, capture_output=True, text=True)
    place = run.stderr.removeprefix(f"{file}:").split(": ")[0]
    return f"error {name} {place}" if run.returncode == 2 else f"error {name}: none"


def with_prompts(lines: list[str]) -> list[str]:
    """Each line with the prompt that it is about."""
    about, tagged = "", []
    for line in lines:
        about = f"{line}:" if line.startswith("prompt ") else about
        tagged.append(about + line)
    return tagged


def as_predicted(predicted: list[str], found: list[str]) -> bool:
    """In whatever order a prompt's modules, arguments and texts are listed."""
    predicted, found = with_prompts(predicted), with_prompts(found)
    for line in sorted(set(predicted) ^ set(found)):
        print(("predicted, and not so: " if line in predicted else "not predicted: ") + line)
    return sorted(predicted) == sorted(found)


def main(command: str, folder: pathlib.Path = FOLDER) -> int:
    lines = [line for line in (folder / "predicted.txt").read_text(encoding="utf-8").splitlines()
             if not line.startswith("#")]
    begins = [i for i, line in enumerate(lines) if not line.startswith(("  ", "prompt "))]
    right = len(begins) > 0
    for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
        words, predicted = lines[begin].split(), lines[begin:end]
        if words[0] == "error":
            found = [refused(command, folder, words[1])]
        else:
            prompts = [line.split()[1] for line in predicted if line.startswith("prompt ")]
            found = reported(command, folder, words[1], words[2], prompts)
        if not as_predicted(predicted, found):
            print(f"above: {lines[begin]}")
            right = False
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(pathlib.Path, sys.argv[2:])))
