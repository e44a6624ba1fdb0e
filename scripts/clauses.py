#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which file serves which clause of spec/.

    scripts/clauses.py            checks: headings numbered without gaps, every clause that is cited
                                  anywhere exists, every clause but those of MODEL and ERRATA is
                                  cited in the code and in a test or proof; those of IN_COQ_ALONE,
                                  which no code has, in a file of proofs/coq; spec/README.md names
                                  each chapter with the clauses that it has
    scripts/clauses.py --table    clause -> code -> proof -> test

Exit status: 0 all right, 1 a finding, 2 bad use.
"""
import collections
import pathlib
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TypeAlias

# (family, number), and the files that cite it
Clause: TypeAlias = tuple[str, int]
Where: TypeAlias = dict[Clause, set[str]]

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE, PROOF, TEST = ("include", "ref"), ("proofs",), ("tests",)
OTHERS = ("spec", "cli", "gate", "opt", "kernels", "fuzz", "python")
# Families that are of the command, and where their code is.
OF_COMMAND = {"GATE": ("gate/",), "PML": ("cli/prompt/",), "FILE": ("cli/", "python/"),
              "TOKEN": ("cli/",), "LM": ("cli/",), "CACHE": ("cli/modules/",),
              "PROG": ("python/",), "FAST": ("opt/", "cli/"), "CONV": ("gate/",)}
FAMILIES = ("POOL|TREE|PLAN|SOFTMAX|MERGE|TPP|PREFILL|MODEL|ERRATA|NUM|GATE|DEC|MOD|LAYER|PML|FILE|"
            "TOKEN|LM|RUNS|BATCH|CACHE|PROG|FAST|CONV|MERGING|WINDOW|MASK|SCORE|WIDTH")
CLAUSE = re.compile(rf"\b({FAMILIES})-(\d+)\b")
HEADING = re.compile(rf"^### (({FAMILIES})-(\d+)) \S", re.M)
EXPLAINS_ONLY = {"MODEL", "ERRATA"}  # formulas and findings: nothing implements them one by one

# Families and clauses that the library does not have: theorems about whole decoders, their prompts,
# and plans for these. Code may cite them; a test can only try them.
IN_COQ_ALONE = {"DEC", "RUNS", "MOD-3", "MOD-4", "MOD-5", "WIDTH-3"}


def defined() -> list[Clause]:
    clauses: list[Clause] = []
    for chapter in sorted((ROOT / "spec").glob("*.md")):
        clauses += [(m[2], int(m[3])) for m in HEADING.finditer(chapter.read_text())]
    return clauses


def cited(folders: Iterable[str]) -> Where:
    """clause -> the files in these folders that cite it."""
    where: Where = collections.defaultdict(set)
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if not path.is_file() or "golden" in path.parts:
                continue
            for m in CLAUSE.finditer(path.read_text(errors="replace")):
                where[m[1], int(m[2])].add(str(path.relative_to(ROOT)))
    return where


def findings(clauses: list[Clause], code: Where, proof: Where, test: Where,
             others: Where) -> Iterator[str]:
    for family, group in ((f, [n for g, n in clauses if g == f]) for f in FAMILIES.split("|")):
        if sorted(group) != list(range(1, len(group) + 1)):
            yield f"spec: the headings of {family} are numbered {group}"
    for where in (code, proof, test, others):
        for clause in sorted(where.keys() - set(clauses)):
            yield f"{', '.join(sorted(where[clause]))}: no clause {clause[0]}-{clause[1]} in spec/"
    for family, number in clauses:
        if family in EXPLAINS_ONLY:
            continue
        clause = family, number
        if family in IN_COQ_ALONE or f"{family}-{number}" in IN_COQ_ALONE:
            if not any(path.endswith(".v") for path in proof[clause]):
                yield f"{family}-{number}: cited in no file of proofs/coq/"
            continue
        if not code[clause]:
            yield f"{family}-{number}: cited nowhere in {' or '.join(CODE)}/"
        if not test[clause] and not proof[clause]:
            yield f"{family}-{number}: cited in no test and no proof"


# One clause of a list such as `NUM-1, 2, 16 to 18`, or several; without a family, that before it.
LISTED = re.compile(r"(?:([A-Z]+)-)?(\d+)(?: (?:\.\.|to) (\d+))?")


def listed(cell: str) -> list[Clause]:
    found: list[Clause] = []
    family = ""
    for m in LISTED.finditer(cell):
        family = m[1] or family
        found += [(family, number) for number in range(int(m[2]), int(m[3] or m[2]) + 1)]
    return found


def wrong_chapters() -> Iterator[str]:
    """The table of spec/README.md, against the headings of the chapters."""
    text = (ROOT / "spec" / "README.md").read_text()
    rows = dict(re.findall(r"^\| \[(\w+\.md)\]\(\1\) \| ([^|]*) \|", text, re.M))
    for chapter in sorted((ROOT / "spec").glob("*.md")):
        if chapter.name == "README.md":
            continue
        has = {(m[2], int(m[3])) for m in HEADING.finditer(chapter.read_text())}
        if chapter.name not in rows:
            yield f"spec/README.md: its table has no row for {chapter.name}"
        elif differ := sorted(has ^ set(listed(rows[chapter.name]))):
            yield (f"spec/README.md: {chapter.name} is said to have {rows[chapter.name]}; wrong: "
                   + ", ".join(f"{family}-{number}" for family, number in differ))


def table(clauses: Iterable[Clause], code: Where, proof: Where, test: Where) -> None:
    print("| clause | code | proof | test |\n| --- | --- | --- | --- |")
    for family, number in clauses:
        if family not in EXPLAINS_ONLY:
            row = (", ".join(sorted(where[family, number])) for where in (code, proof, test))
            print(f"| {family}-{number} | {' | '.join(row)} |")


def main() -> int:
    if sys.argv[1:] not in ([], ["--table"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    clauses = defined()
    code, proof, test, others = map(cited, (CODE, PROOF, TEST, OTHERS))
    for clause in [clause for clause in others if clause[0] in OF_COMMAND]:
        places = OF_COMMAND[clause[0]]
        code[clause] |= {path for path in others[clause] if path.startswith(places)}
    if sys.argv[1:]:
        table(clauses, code, proof, test)
        return 0
    found = [*findings(clauses, code, proof, test, others), *wrong_chapters()]
    print("\n".join(found + [f"clauses {len(clauses)}, findings {len(found)}"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
