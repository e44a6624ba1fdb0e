#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random schemas and prompts, answered by a model (PML-14): by the cache as by the whole prompt.

usage: tests/prompt_random.py COMMAND WEIGHTS FOLDER [SCHEMAS [SEED]]

Writes each schema and three prompts of it to FOLDER, and has COMMAND answer them together and one
by one with --compare. All logits must be the same bits, and each prompt has one answer, whatever
the prompts before it had encoded. The fast decoder must find as many tokens to encode, and the same
best tokens: of these seeds no two logits are so close that binary32 would exchange them.
Prints what the prompts had, of which there must be enough.
exit status: 0 right, 1 wrong, 2 bad use
"""
import json
import pathlib
import random
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

WORDS = "the a keys values merge order of 12 it's {x} and then sum".split()


@dataclass
class Module:
    name: str
    around: "Module | None"
    union: int | None  # which it is a member of
    params: list[str] = field(default_factory=list)
    modules: list["Module"] = field(default_factory=list)

    def path(self) -> str:
        outer = self.around
        return self.name if outer is None or outer.around is None else f"{outer.path()}/{self.name}"


class Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = 0
        self.all: list[Module] = []

    def words(self, most: int) -> str:
        return " ".join(self.random.choice(WORDS) for _ in range(self.random.randint(1, most)))

    def next_number(self) -> int:
        self.numbers += 1
        return self.numbers

    def module(self, around: Module, union: int | None, depth: int) -> str:
        inner = Module(f"m{self.next_number()}", around, union)
        around.modules.append(inner)
        self.all.append(inner)
        return f'<module name="{inner.name}">{self.content(inner, depth + 1)}</module>'

    def content(self, module: Module, depth: int) -> str:
        pieces = []
        for _ in range(self.random.randint(1, 4)):
            kind = self.random.choice(("text", "text", "param", "module", "union"))
            if kind == "text" or (depth == 3 and kind != "param"):
                pieces.append(self.words(4))
            elif kind == "param":
                module.params.append(f"p{self.next_number()}")
                pieces.append(f'<param name="{module.params[-1]}" len="40"/>')
            elif kind == "module":
                pieces.append(self.module(module, None, depth))
            else:
                union = self.next_number()
                n = self.random.randint(1, 3)
                members = "".join(self.module(module, union, depth) for _ in range(n))
                pieces.append(f"<union>{members}</union>")
        return "\n".join(pieces)

    def schema(self) -> tuple[Module, str]:
        root = Module("s", None, None)
        content = self.content(root, 0)
        scaffolds = ""
        if len(self.all) > 1 and self.random.random() < 0.7:
            some = self.random.sample(self.all, self.random.randint(1, 2))
            scaffolds = f'<scaffold modules="{" ".join(m.path() for m in some)}"/>'
        return root, f'<schema name="s">{content}{scaffolds}</schema>'

    def arguments(self, module: Module) -> str:
        given = [name for name in module.params if self.random.random() < 0.7]
        return "".join(f' {name}="{self.words(3)}"' for name in given)

    def imports(self, module: Module) -> str:
        pieces, used = [], set()
        order = list(module.modules)
        self.random.shuffle(order)
        for inner in order:
            if self.random.random() < 0.85 and inner.union not in used:
                used |= {inner.union} - {None}
                pieces.append(f"<{inner.name}{self.arguments(inner)}>{self.imports(inner)}"
                              f"</{inner.name}>")
                if self.random.random() < 0.4:
                    pieces.append(self.words(3))
        return "".join(pieces)

    def prompt(self, root: Module) -> str:
        return (f'<prompt schema="s"{self.arguments(root)}>{self.imports(root)}'
                f"{self.words(3)}</prompt>")


def answers(command: list[str], files: list[pathlib.Path]) -> list[dict[str, Any]] | None:
    """The prompts of a report; None: the schema's scaffold is refused."""
    run = subprocess.run([*command, *map(str, files)], capture_output=True, text=True)
    if run.returncode == 2 and "scaffold" in run.stderr:
        return None
    if run.returncode != 0:
        sys.exit(f"prompt_random: {files}: status {run.returncode}: {run.stderr}{run.stdout}")
    prompts: list[dict[str, Any]] = json.loads(run.stdout)["prompts"]
    return prompts


def compare_fast(command: list[str], files: list[pathlib.Path],
                 wanted: list[dict[str, Any]]) -> None:
    options = [word for word in command if word != "--compare"]
    found = answers([*options, "--fast", "--threads", "2"], files) or []
    for file, fast, exact in zip(files[1:], found, wanted, strict=True):
        for name in ("tokens", "encoded"):
            if fast["answer"][name] != exact["answer"][name]:
                sys.exit(f"prompt_random: {file}: the fast decoder has other {name}: "
                         f"{fast['answer']}, {exact['answer']}")


def compare(command: list[str], files: list[pathlib.Path], had: dict[str, int]) -> None:
    together = answers(command, files)
    if together is None:
        had["refused"] += 1
        return
    compare_fast(command, files, together)
    seen: set[tuple[int, int | None]] = set()
    for file, prompt in zip(files[1:], together):
        alone = answers(command, [files[0], file])
        answer = prompt["answer"]
        if alone is None or not answer["same"] or alone[0]["answer"]["tokens"] != answer["tokens"]:
            sys.exit(f"prompt_random: {file}: another answer by itself: {alone}, {answer}")
        needed = {(row["module"], row["scaffold"]) for row in prompt["mask"]}
        had["prompts"] += 1
        had["modules"] += len(needed)
        had["reused"] += len(needed & seen)
        had["scaffolded"] += sum(1 for _, scaffold in needed if scaffold is not None)
        had["cached"] += prompt["cached"]
        if needed <= seen and answer["encoded"] != 0:
            sys.exit(f"prompt_random: {file}: encodes what is there: {answer}")
        seen |= needed


def main() -> int:
    if len(sys.argv) not in (4, 5, 6):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    command = [sys.argv[1], "prompt", "--model", sys.argv[2], "--compare", "--answer", "3",
               "--json"]
    folder = pathlib.Path(sys.argv[3])
    schemas, seed = [*map(int, sys.argv[4:]), *(100, 1)[len(sys.argv) - 4:]]
    had = dict.fromkeys(("prompts", "modules", "reused", "scaffolded", "cached", "refused"), 0)
    for i in range(schemas):
        maker = Maker(1000 * seed + i)
        root, schema = maker.schema()
        files = [folder / "schema.xml", *(folder / f"prompt{k}.xml" for k in range(3))]
        files[0].write_text(schema)
        for file in files[1:]:
            file.write_text(maker.prompt(root))
        compare(command, files, had)
    print(", ".join(f"{number} {name}" for name, number in had.items()))
    least = {"prompts": 2 * schemas, "modules": 4 * schemas, "reused": schemas,
             "scaffolded": schemas // 3}
    few = [name for name, number in least.items() if had[name] < number]
    if few:
        print(f"prompt_random: too few: {', '.join(few)}", file=sys.stderr)
    return 1 if few else 0


if __name__ == "__main__":
    sys.exit(main())
