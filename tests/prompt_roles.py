#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `chunkproof prompt` to what somebody predicted of PML-8's rule on roles who had spec/pml.md
and spec/modules.md alone: tests/golden/prompt/roles.jsonl, a schema, a prompt, options and the
place of the error, or null. Case 60 was predicted otherwise, and the chapter says since what holds;
cases 61 and 62 are of roles without tokens, which have been errors, as he read it.

    tests/prompt_roles.py COMMAND [FILE]

Exit status 0 all is as predicted; 1 something is not, which is printed.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

FILE = pathlib.Path(__file__).resolve().parent / "golden" / "prompt" / "roles.jsonl"


def said(command: str, case: dict[str, Any], folder: str) -> str | None:
    """The place of the error, with what is wrong besides; None: there is none."""
    for name in ("schema", "prompt"):
        (pathlib.Path(folder) / f"{name}.xml").write_bytes(case[name].encode())
    run = subprocess.run([command, "prompt", *case["options"], "schema.xml", "prompt.xml"],
                         check=False, capture_output=True, text=True, cwd=folder)
    if run.returncode == 0:
        return None
    place = run.stderr.split(": ", maxsplit=1)[0]
    return place if (run.returncode, run.stdout) == (2, "") else f"{place}, and {run}"


def main(command: str, file: pathlib.Path = FILE) -> int:
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            found = said(command, case, folder)
            if found != case["expected"]:
                wrong += 1
                print(f"case {case['case']}: {found}, and predicted is {case['expected']}: "
                      f"{case['why']}")
    return 0 if cases and wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main(str(pathlib.Path(sys.argv[1]).resolve()), *map(pathlib.Path, sys.argv[2:])))
