# SPDX-License-Identifier: Apache-2.0
"""Reads the catalogue of seeded faults. tests/faults/README.md says what a record is.

Faults of ref/tree.c stand in tests/faults/ref/tree.c.faults, one record after the other.
"""

import dataclasses
import difflib
import functools
import pathlib
import re
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "tests" / "faults"
ENDING = ".faults"

# Who can have to notice a fault, in the order of their fields, and what their field says.
WHO = {
    "test": "PROGRAM or cli_NAME",
    "python": "TEST",
    "kernel": "version N, launcher, lists, widths, or masks",
    "gate": "itself, KERNEL.c, or version N [KIND], each perhaps with deep",
    "explain": "WORDS",
    "merge": "itself, or WORDS",
    "wp": "UNIT FUNCTION or UNIT FUNCTION.CLAUSE",
    "cbmc": "HARNESS",
    "coq": "THEOREM",
    "extract": "OPERATIONS",
    "eacsl": "DRIVER FUNCTION.CLAUSE",
    "fuzz": "TARGET RUNS",
    "mpi": "RANKS or misuse",
}
FIELDS = ("fault", "clause", "public", "needs", *WHO, "wider", "control")
WORDS = ("public", "explain", "merge", "wider")  # these may be long
RIGHT, WRONG, END = "---- right", "---- wrong", "----"


class Misfit(Exception):
    """A record is malformed, or does not fit its source."""


@dataclasses.dataclass(frozen=True)
class Change:
    """The text as it stands, exactly once, in the source, and the text to put in its place."""

    right: str
    wrong: str
    line: int  # of `---- right`


@dataclasses.dataclass(frozen=True)
class Fault:
    """One record."""

    name: str
    source: str  # the path of the file that it changes
    fields: dict[str, str]
    changes: tuple[Change, ...]
    file: str  # the record's
    line: int

    @property
    def clauses(self) -> tuple[str, ...]:
        return tuple(self.fields.get("clause", "").split())

    @property
    def clause(self) -> str:
        return self.fields.get("clause", "-")

    @property
    def public(self) -> tuple[str, ...]:
        """The bugs of other projects that it imitates: vllm#28840."""
        return tuple(self.fields.get("public", "").split())

    @property
    def who(self) -> tuple[str, ...]:
        return tuple(who for who in WHO if who in self.fields)

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    def said_by(self, who: str) -> list[str]:
        """The words of the field of one who must notice it."""
        return self.fields[who].split()

    @property
    def proof(self) -> tuple[str, str, str]:
        """Of wp: the unit, the function, and the clause of its contract, or an empty one."""
        unit, proved = self.said_by("wp")
        function, _, clause = proved.partition(".")
        return unit, function, clause

    def text(self, root: pathlib.Path = ROOT) -> str:
        """The whole source with the fault in it."""
        text = source_text(root / self.source)
        for change in self.changes:
            found = text.count(change.right)
            if found != 1:
                why = misfit(text, change, found, self.source)
                raise Misfit(f"{self.file}:{change.line}: fault {self.name}: {why}")
            text = text.replace(change.right, change.wrong)
        return text


@functools.cache
def source_text(path: pathlib.Path) -> str:
    return path.read_text(encoding="utf-8")


def misfit(text: str, change: Change, found: int, source: str) -> str:
    """Why a change does not fit, and how to mend it."""
    first = next((line for line in change.right.splitlines() if line.strip()), "")
    quoted = "\n".join("    | " + line for line in change.right.splitlines())
    if found > 1:
        return (
            f"its text stands {found} times in {source}; "
            "quote more lines around it, so that it stands once:\n"
            f"{quoted}"
        )
    lines = text.splitlines()
    near = difflib.get_close_matches(first, lines, n=1, cutoff=0.5)
    like = (
        f"\n  like its first line is {source}:{lines.index(near[0]) + 1}:\n    | {near[0]}"
        if near
        else ""
    )
    return f"its text is not in {source}; quote what stands there now:\n{quoted}{like}"


class Reader:
    """The records of one file, and what is wrong with them."""

    def __init__(self, path: pathlib.Path, root: pathlib.Path = ROOT) -> None:
        self.file = str(path.relative_to(root))
        self.source = str(path.relative_to(root / FOLDER.relative_to(ROOT))).removesuffix(ENDING)
        self.lines = path.read_text(encoding="utf-8").split("\n")
        self.at = 0  # the index of the next line
        self.faults: list[Fault] = []
        self.problems: list[str] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line == "" or line.startswith("#"):
                self.at += 1
            else:
                self.record()

    def problem(self, line: int, what: str) -> None:
        self.problems.append(f"{self.file}:{line}: {what}")

    def record(self) -> None:
        begin, fields = self.at + 1, self.fields()
        changes = self.changes()
        name = fields.get("fault", "")
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
            self.problem(
                begin, "a record begins with `fault: NAME`, in small letters, digits and hyphens"
            )
        elif not changes:
            self.problem(
                begin,
                f"fault {name}: it changes nothing: "
                f"after its fields stand `{RIGHT}`, the text as it is, "
                f"`{WRONG}`, the text in its place, and `{END}`",
            )
        else:
            for change in changes:
                if change.right == "" or change.right == change.wrong:
                    self.problem(
                        change.line,
                        f"fault {name}: the right text is "
                        + ("empty" if change.right == "" else "the wrong one"),
                    )
            self.faults.append(Fault(name, self.source, fields, changes, self.file, begin))

    def fields(self) -> dict[str, str]:
        """The fields. Below one of words, a line that begins with spaces goes on with it."""
        fields: dict[str, str] = {}
        name = ""
        while self.at < len(self.lines) and not self.lines[self.at].startswith(END):
            line = self.lines[self.at]
            if line.startswith("fault: ") and fields:
                break  # the next record
            self.at += 1
            if line == "" or line.startswith("#"):
                continue
            if line.startswith("    ") and name in WORDS and name in fields:
                fields[name] += " " + line.strip()
                continue
            name, colon, value = line.partition(": ")
            if not colon or name not in FIELDS or not value.strip():
                self.problem(
                    self.at,
                    f"`{line}` is no field: there are {', '.join(field + ':' for field in FIELDS)}",
                )
            elif name in fields:
                self.problem(self.at, f"a second `{name}:`: one fault has one")
            else:
                fields[name] = value.strip()
        return fields

    def changes(self) -> tuple[Change, ...]:
        """To the line `----`; where that is missing, what there is."""
        changes: list[Change] = []
        while self.at < len(self.lines) and self.lines[self.at].startswith(END):
            marker, line = self.lines[self.at], self.at + 1
            self.at += 1
            if marker == END:
                return tuple(changes)
            if marker != RIGHT:
                self.problem(line, f"`{marker}` where `{RIGHT}` or `{END}` must stand")
                self.block()
                continue
            right = self.block()
            if self.at < len(self.lines) and self.lines[self.at] == WRONG:
                self.at += 1
                changes.append(Change(right, self.block(), line))
            else:
                self.problem(line, f"`{RIGHT}` without `{WRONG}` after it")
        self.problem(
            min(self.at + 1, len(self.lines)), f"the record's last line, `{END}`, is missing"
        )
        return tuple(changes)

    def block(self) -> str:
        begin = self.at
        while self.at < len(self.lines) and self.lines[self.at] not in (RIGHT, WRONG, END):
            self.at += 1
        return "\n".join(self.lines[begin : self.at])


def files(root: pathlib.Path = ROOT) -> list[pathlib.Path]:
    return sorted((root / FOLDER.relative_to(ROOT)).rglob("*" + ENDING))


def read(root: pathlib.Path = ROOT) -> tuple[list[Fault], list[str]]:
    """All records, and what is wrong with the form of any."""
    readers = [Reader(path, root) for path in files(root)]
    return [fault for reader in readers for fault in reader.faults], [
        problem for reader in readers for problem in reader.problems
    ]


def load() -> list[Fault]:
    """All records; they must be well formed."""
    faults, problems = read()
    if problems:
        raise Misfit("\n".join(problems))
    return faults


def written(fault: Fault) -> str:
    """A record as text."""
    lines = [
        textwrap.fill(
            f"{name}: {fault.fields[name]}",
            100,
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for name in FIELDS
        if name in fault.fields
    ]
    for change in fault.changes:
        lines += [
            RIGHT,
            *([change.right] if change.right else []),
            WRONG,
            *([change.wrong] if change.wrong else []),
        ]
    return "\n".join([*lines, END]) + "\n"
