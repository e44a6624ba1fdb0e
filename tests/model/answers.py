#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prompts of modules on a language model, from their XML to a first token (PML-14).

    tests/model/answers.py COMMAND WEIGHTS

- The Prompt Cache paper's Figure 2: a trip to Miami of 3 days (tests/golden/prompt/). Each token of
  its modules comes from the cache; the argument and the question are computed.
- Three requests, of B, of A and B, of A: the modules of each are encoded once.

The logits of each first token are, bit for bit, those of the whole prompt under its mask. Exit
status 0 right, 1 a finding, 2 bad use.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from typing import Any

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "prompt")
SCHEMA = """<schema name="s"><module name="a">The sea is blue.</module>
<module name="b">Snow is white.</module></schema>"""
REQUESTS = ("<b/>What is white?", "<b/><a/>What is blue?", "<a/>What is blue?")


def asked(command: str, weights: str, *arguments: str) -> str:
    run = subprocess.run([command, "prompt", "--model", weights, "--compare", *arguments],
                         capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"answers: status {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


def prompts_of(command: str, weights: str, *files: str) -> list[dict[str, Any]]:
    prompts: list[dict[str, Any]] = json.loads(asked(command, weights, "--json", *files))["prompts"]
    return prompts


def finding(of: str, right: bool, what: object) -> bool:
    if not right:
        print(f"{of}: wrong: {what}")
    return not right


def figure2(command: str, weights: str) -> bool:
    files = [os.path.join(GOLDEN, name) for name in ("travel.xml", "miami.xml")]
    (prompt,) = prompts_of(command, weights, *files)
    answer = prompt["answer"]
    rows = re.findall(r"^ *(\d+) +\d+  (cache|argument|new) ",
                      asked(command, weights, "--each", *files), re.M)
    of = {kind: [int(position) for position, by in rows if by == kind]
          for kind in ("cache", "argument", "new")}
    runs = {kind: [run["begin"] + i for run in prompt["runs"] if run["from"] == kind
                   for i in range(run["size"])] for kind in of}
    print(f"figure 2: {len(rows)} tokens, {len(of['cache'])} from the cache, "
          f"{len(of['argument'])} of an argument, {len(of['new'])} new; the first token of the "
          f"answer is {answer['text']!r}")
    return any((
        finding("figure 2", answer["same"] and len(answer["tokens"]) == 1, answer),
        finding("figure 2", all(of.values()) and of == runs, (of, runs)),
        finding("figure 2", len({position for position, _ in rows}) == len(rows), rows),
        finding("figure 2", len(of["cache"]) == prompt["cached"] == answer["encoded"], prompt)))


def requests(command: str, weights: str) -> bool:
    with tempfile.TemporaryDirectory() as place:
        files = [os.path.join(place, f"{number}.xml") for number in range(4)]
        for path, text in zip(files, (SCHEMA, *(f'<prompt schema="s">{imports}</prompt>'
                                                for imports in REQUESTS))):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        prompts = prompts_of(command, weights, *files)
    encoded = [prompt["answer"]["encoded"] for prompt in prompts]
    print(f"three requests: {encoded} tokens of modules were encoded")
    return any((
        finding("three requests", all(prompt["answer"]["same"] for prompt in prompts), prompts),
        finding("three requests", encoded == [prompts[0]["cached"],
                                              prompts[1]["cached"] - prompts[0]["cached"], 0],
                encoded)))


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: tests/model/answers.py COMMAND WEIGHTS", file=sys.stderr)
        return 2
    return int(any([figure2(*arguments), requests(*arguments)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
