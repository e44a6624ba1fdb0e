#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds cached inference with modules, on a real model, to a decoder that computes the whole prompt
under its mask at once (MOD-5, LAYER-12, FAST-2).

    tests/model/modules.py COMMAND WEIGHTS

Four modules and a question, in three ways: imported in the order of the schema, in another one, and
with a scaffold over two of them. numpy in binary64 (decoder.py) knows nothing of caches: it gets
tokens, positions, and which token sees which. The bounds are those of first_order.py:

- the reference decoder: binary64, and written as float32; in both orders the same bits (LAYER-12);
- the fast decoder: binary32, and so in each order. Two orders differ by twice that at most.

Exit status 0 agreed, 1 a finding, 2 bad use, 77 a package is missing.
"""
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]
try:
    import numpy as np
except ImportError as error:
    print(f"modules: {error.name} is missing; scripts/deps-model installs it")
    sys.exit(77)
import first_order  # noqa: E402
from decoder import Decoder, Prompt  # noqa: E402
from questions import prompt_text  # noqa: E402

Numbers = Any
MODULES = {
    "tides": "Tides are the rise and fall of the sea. They follow the moon and, less, the sun.",
    "moon": "The moon turns around the earth once a month. Its near side is always the same.",
    "ports": "Ships with a deep draught enter this port at high water only.",
    "rules": "Answer in one sentence, and name the source of what you say.",
}
QUESTION = "When may a large ship enter, and why does that time differ from day to day?"
SCAFFOLD = ("tides", "moon")


@dataclasses.dataclass(frozen=True)
class Way:
    name: str
    imports: tuple[str, ...]
    together: tuple[str, ...] = ()  # modules of a scaffold: they see each other

    def sees(self, module: str, other: str) -> bool:
        return module == other or {module, other} <= set(self.together)


IN_ORDER = tuple(MODULES)
WAYS = (Way("in order", IN_ORDER), Way("another order", ("rules", "moon", "ports", "tides")),
        Way("a scaffold", IN_ORDER, SCAFFOLD))


class Answers:
    """`chunkproof prompt` with a model, in a folder for its files."""

    def __init__(self, command: str, weights: str, folder: pathlib.Path) -> None:
        self.words, self.folder = [command, "prompt", "--json", "--model", weights], folder

    def schema(self, way: Way) -> str:
        modules = "".join(f'<module name="{name}">{text}</module>'
                          for name, text in MODULES.items())
        scaffold = f'<scaffold modules="{" ".join(way.together)}"/>' if way.together else ""
        return f'<schema name="s">{modules}{scaffold}</schema>'

    def ask(self, way: Way, *options: str) -> tuple[Prompt, Numbers]:
        """The whole prompt, as the report says it and the schema means it; and logits of the new
        tokens."""
        schema, prompt, out = (self.folder / name for name in ("s.xml", "p.xml", "logits"))
        schema.write_text(self.schema(way), encoding="utf-8")
        prompt.write_text(prompt_text(list(way.imports), QUESTION), encoding="utf-8")
        run = subprocess.run([*self.words, *options, "--logits", str(out), str(schema),
                              str(prompt)], check=True, capture_output=True, text=True)
        report = json.loads(run.stdout)
        said = report["prompts"][0]
        logits = np.fromfile(out, "<f4").reshape(said["computed"], -1)
        return prompt_of(report["schema"]["parts"], said["runs"], way), logits


def prompt_of(parts: list[dict[str, Any]], runs: list[dict[str, Any]], way: Way) -> Prompt:
    """A cached token sees the tokens of the modules that its own sees, up to its position. A new
    one sees all up to its own."""
    tokens: list[int] = []
    positions: list[int] = []
    owners: list[str | None] = []
    for run in runs:
        text = parts[run["part"]] if run["from"] == "cache" else run
        owner = parts[text["in"]]["name"] if run["from"] == "cache" else None
        tokens += text["tokens"]
        positions += range(run["begin"], run["begin"] + run["size"])
        owners += [owner] * run["size"]
    sees = np.array([[positions[j] <= positions[i] and
                      (owner is None or (other is not None and way.sees(owner, other)))
                      for j, other in enumerate(owners)] for i, owner in enumerate(owners)])
    return Prompt(tokens, positions, sees)


@dataclasses.dataclass(frozen=True)
class Line:
    """Logits of the new tokens, how far they are from others, and how many bounds, of which unit,
    that may be. Those that are written as float32 are rounded once more."""
    name: str
    apart: Numbers
    unit: float
    times: int

    def largest(self) -> list[tuple[int, int]]:
        """Of all rows, and of the last one."""
        row, token = np.unravel_index(self.apart.argmax(), self.apart.shape)
        return [(int(row), int(token)), (len(self.apart) - 1, int(self.apart[-1].argmax()))]


def beyond(decoder: Decoder, prompt: Prompt, exact: Numbers, lines: list[Line]) -> int:
    """Prints each line; returns how many are not within their bounds."""
    first, findings = len(prompt.tokens) - len(exact), 0
    wanted = [(first + row, token) for line in lines for row, token in line.largest()]
    found = first_order.bounds(decoder, prompt, wanted, first_order.BINARY32)
    for i, line in enumerate(lines):
        part = slice(2 * i, 2 * i + 2)
        at = tuple(np.array(line.largest()).T)
        bound = found.at_unit(line.unit / first_order.BINARY32.unit)
        written = np.abs(exact[at]) * first_order.BINARY32.unit
        likely = bound.likely(first_order.CHANCE / line.apart.size)[part] * line.times + written
        worst = bound.worst[part] * line.times + written
        shares = (line.apart[at] / worst).max(), (line.apart[at] / likely).max()
        print(f"{line.name:34} {line.apart.max():9.2e} {shares[0]:9.2e} {shares[1]:9.2e}",
              flush=True)
        if not max(shares) < 1.0:
            print(f"{line.name}: a logit is off by more than its bound")
            findings += 1
    return findings


def compare(decoder: Decoder, answers: Answers) -> int:
    """Returns the number of findings."""
    findings = 0
    kept: list[tuple[Numbers, Numbers]] = []
    print(f"{'':34} {'max':>9} {'of worst':>9} {'of likely':>9}")
    for way in WAYS:
        prompt, slow = answers.ask(way)
        fast = answers.ask(way, "--fast")[1].astype(np.float64)
        exact = decoder.logits(prompt)[-len(slow):]
        lines = [Line(f"{way.name}, the reference", np.abs(slow - exact),
                      first_order.BINARY64.unit, 2),
                 Line(f"{way.name}, fast", np.abs(fast - exact), first_order.BINARY32.unit, 1)]
        kept.append((slow, fast))
        if len(kept) == 2:
            lines.append(Line("both orders, fast", np.abs(fast - kept[0][1]),
                              first_order.BINARY32.unit, 2))
            if not np.array_equal(slow, kept[0][0]):
                print("both orders, the reference: the bits of logits differ")
                findings += 1
        findings += beyond(decoder, prompt, exact, lines)
    return findings


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: tests/model/modules.py COMMAND WEIGHTS", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        answers = Answers(arguments[0], arguments[1], pathlib.Path(folder))
        findings = compare(Decoder(arguments[1]), answers)
    print(f"comparisons {findings} beyond their bounds")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
