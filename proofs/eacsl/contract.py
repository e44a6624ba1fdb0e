# SPDX-License-Identifier: Apache-2.0
"""A function's contract, clause by clause, as it was read and as E-ACSL is to have it."""
import pathlib
import re
from collections.abc import Mapping
from typing import TypeAlias

from acsl import Term, Unknown

# What a structure has: (type, name, dimensions) of each field.
Fields: TypeAlias = list[tuple[str, str, list[str]]]


class NotExecutable(Exception):
    """A clause that has no value at run time; says why."""


class Clause:
    def __init__(self, function: str, behavior: str, kind: str, name: str, term: Term) -> None:
        self.function, self.behavior, self.kind, self.name = function, behavior, kind, name
        self.term = term
        self.text: str | None = None
        self.why, self.bounded = "", False

    def label(self) -> str:
        return f"{self.behavior}.{self.name}" if self.behavior else self.name


class Contract:
    def __init__(self, function: str, parameters: dict[str, str], returns: str) -> None:
        self.function, self.parameters, self.returns = function, parameters, returns
        self.clauses: list[Clause] = []
        self.closing: list[str] = []
        self.pointers: dict[str, str] = {}
        self.ghosts: set[str] = set()  # parameters of ghost code
        self.used: set[str] = set()
        self.place: tuple[pathlib.Path, int] | None = None

    def prepare(self, structs: Mapping[str, Fields | None]) -> None:
        for name, kind in self.parameters.items():
            m = re.fullmatch(r"(?:const )?(struct \w+) \*", kind)
            if m and structs.get(m[1]):
                self.pointers[name] = m[1]

    def add(self, clause: Clause) -> None:
        if not clause.name:
            number = sum(other.kind == clause.kind for other in self.clauses)
            clause.name = f"{clause.kind}_{number + 1}"
        if clause.kind != "assumes" and any(
                (o.kind, o.name, o.behavior) == (clause.kind, clause.name, clause.behavior)
                for o in self.clauses):
            raise Unknown(f"{self.function}: two clauses {clause.kind} {clause.label()}")
        self.clauses.append(clause)

    def lines(self) -> list[str]:
        """The executable contract. A behavior is written out: \\old(assumes) ==> ensures."""
        assumed: dict[str, list[str]] = {}
        for clause in self.clauses:
            if clause.kind == "assumes":
                if clause.text is None:
                    raise Unknown(f"{self.function}: assumes of {clause.behavior}: {clause.why}")
                assumed.setdefault(clause.behavior, []).append(clause.text)
        out = []
        for clause in self.clauses:
            if clause.kind != "assumes" and clause.text and not clause.behavior:
                kind = "requires" if clause.kind == "requires" else "ensures"
                out.append(f"{kind} {clause.name}: {clause.text};")
        for behavior in dict.fromkeys(c.behavior for c in self.clauses if c.behavior):
            out.append(f"behavior {behavior}:")
            out += [f"assumes {text};" for text in assumed.get(behavior, [])]
            out += [f"{'requires' if c.kind == 'requires' else 'ensures'} {c.name}: {c.text};"
                    for c in self.clauses if c.behavior == behavior and c.text
                    and c.kind != "assumes"]
        return out + [f"{word} behaviors;" for word in self.closing]
