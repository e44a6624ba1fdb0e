#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What can be said of the tree's text without understanding it.

    paths      a path or a file name in a comment or a document that does not exist
    built      a built file among the tracked ones (an object, a library, a program, a cache), or
               what an editor or patch left (.orig, .rej, .bak, ~)
    columns    a line of more than 100 columns
    lists      a bulleted list of more than four items in a document: it is a table

    scripts/text_lint.py [paths|built|columns|lists]...     all without a name

It looks at the files that git tracks, and at new ones that git does not ignore. Data is not text:
fuzz inputs, golden outputs, saved cases, expected counts of proofs, the licence. Exit status 0
right, 1 a finding, 2 bad use.
"""
import io
import os
import pathlib
import re
import subprocess
import sys
import tokenize
import unicodedata
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_COLUMNS = 100
MOST_ITEMS = 4
DATA = re.compile(r"^(LICENSE$|fuzz/corpus/|tests/golden/|tests/gate/cases/)"
                  r"|^kernels/resources[.]csv$|^tests/model/questions[.]json$|(^|/)expected\.txt$"
                  r"|\.(jsonl|svg|png)$")
BUILT_NAMES = re.compile(r"\.(o|a|so|d|gcda|gcno|vo|vok|vos|glob|pyc|goto|orig|rej|bak)$|~$|"
                         r"(^|/)__pycache__/")
BUILT_BYTES = (b"\x7fELF", b"!<arch>\n", b"\xcf\xfa\xed\xfe", b"MZ")
CODE = r"c|h|cu|cuh|cpp|py|sh|bash|v|md|mk|awk"
ENDINGS = CODE + r"|json|txt|faults|csv|dict|yml|toml|ini"
PATH = re.compile(r"(?<![\w./$<}>*{=-])(?:\.\./)*((?:[\w.-]+/)+[\w.-]*\w|\w[\w-]*\.(?:" +
                  ENDINGS + r"))(?![\w*{(=])")
IS_FILE = re.compile(r"\w\.(?:" + ENDINGS + r")$")

# Names of files that are not the tree's: a user's, the system's, and those that a command writes;
# and of a project that is called as a file.
FOREIGN = {"llama.cpp", "mine.c", "mine.cu", "kernel.c", "kernel.cu", "kernel.cpp", "wrong.c",
           "wrong.cu", "program.c", "dlfcn.h", "index.md", "tightness.md", "rules.md", "bench.txt",
           "bench.csv", "cost.json", "cases.json", "gate.json", "gate.txt", "mutants.csv",
           "mutants.json", "races.json", "report.json", "right.json", "rules.csv", "tightness.csv",
           "wrong.json"}
# First parts of paths that lead elsewhere: what is built, a user's files, and other projects.
ELSEWHERE = {"build", "src", "csrc", "ggml-org"}

# Documents whose lists may be long: each item is looked up by itself.
REGISTERS = {"CHANGELOG.md", "spec/ERRATA.md", "tests/faults/PUBLIC.md", "proofs/SOUNDNESS.md",
             "proofs/TRACEABILITY.md", "proofs/coq/README.md"}
ITEM = re.compile(r"( *)- (?!\[[ x]\] )(.)")
NOTE = re.compile(r" *- (Why|Note|Decision|Example|Rejected|Evidence|Proof)\b")  # of a clause


def tracked() -> list[str]:
    run = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         cwd=ROOT, capture_output=True, check=True)
    names = {name for name in run.stdout.decode().split("\0") if name}
    return sorted(name for name in names if (ROOT / name).is_file())


def text_of(name: str) -> str | None:
    """The file as text; None for data."""
    if DATA.search(name):
        return None
    try:
        return (ROOT / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


# ---- Built files ----

def built(names: list[str]) -> Iterator[str]:
    for name in names:
        with open(ROOT / name, "rb") as file:
            begin = file.read(8)
        if BUILT_NAMES.search(name) or begin.startswith(BUILT_BYTES):
            yield f"{name}: a built file; remove it from the tree (git rm --cached {name})"


# ---- Columns ----

def columns_of(line: str) -> int:
    """Columns of a terminal: a wide character takes two, a combining one none."""
    if line.isascii():
        return len(line)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF"
               else 1 for c in line)


def columns(names: list[str]) -> Iterator[str]:
    for name in names:
        for number, line in enumerate((text_of(name) or "").splitlines(), 1):
            width = columns_of(line.expandtabs(4))
            if width > MOST_COLUMNS:
                yield f"{name}:{number}: {width} columns; at most {MOST_COLUMNS}"


# ---- Lists ----

def lists_in(text: str) -> Iterator[tuple[int, int]]:
    """Of each bulleted list: its first line, and how many items it has. Lists in items count by
    themselves; shell and other code has none."""
    open_lists: list[tuple[int, int, int]] = []  # indentation, first line, items
    in_code = False
    for number, line in enumerate([*text.splitlines(), "end"], 1):
        if line.startswith("```"):
            in_code = not in_code
        item = None if in_code else ITEM.match(line)
        if in_code or not line.strip() or NOTE.match(line) or (not item and line[0] == " "):
            continue  # a list may go on
        indent = len(item[1]) if item else -1
        while open_lists and open_lists[-1][0] > indent:
            yield open_lists.pop()[1:]
        if item and open_lists and open_lists[-1][0] == indent:
            _, first, items = open_lists.pop()
            open_lists.append((indent, first, items + 1))
        elif item:
            open_lists.append((indent, number, 1))


def lists(names: list[str]) -> Iterator[str]:
    for name in names:
        if name.endswith(".md") and name not in REGISTERS:
            for number, items in sorted(lists_in(text_of(name) or "")):
                if items > MOST_ITEMS:
                    yield f"{name}:{number}: a list of {items} items; above {MOST_ITEMS} a table"


# ---- Paths ----

def blank(text: str) -> str:
    """Nothing, in as many lines and columns."""
    return re.sub(r"[^\n]", " ", text)


def prose_of(name: str, text: str) -> str:
    """What a person reads, each line where it stands: a document, or a source's comments."""
    if name.endswith(".md"):
        return text
    if name.endswith((".c", ".h", ".cu", ".cpp")):
        kept, end = "", 0
        for match in re.finditer(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', text, re.DOTALL):
            if not match[0].startswith(('"', "/*@", "//@")):  # a contract is code
                kept += blank(text[end:match.start()]) + match[0]
                end = match.end()
        return kept + blank(text[end:])
    if name.endswith(".v"):
        return text
    if name.endswith(".py") or re.match(r"#!.*python", text):
        return python_prose(text)
    if name.endswith((".yml", ".toml", ".ini")):  # behind values, too
        return "\n".join(line[m.end():] if (m := re.search(r"(?:^|\s)#", line)) else ""
                         for line in text.splitlines())
    if name.endswith((".sh", ".bash", ".mk")) or text.startswith("#!") or name == "Makefile":
        return "\n".join(line if re.match(r"\s*#(?!!)", line) else "" for line in text.splitlines())
    return ""


def python_prose(text: str) -> str:
    """Comments, and strings that stand alone: documentation."""
    lines = [""] * (text.count("\n") + 1)
    begins = True  # a statement
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and begins):
            for number, line in enumerate(token.string.splitlines(), token.start[0] - 1):
                lines[number] += " " + line
        begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT) or \
            (begins and token.type in (tokenize.COMMENT, tokenize.NL))
    return "\n".join(lines)


def is_placeholder(path: str) -> bool:
    """TARGET.c, ref/STEM.c, test_NAME.c: a word in capitals stands for any."""
    return any(re.search(r"(^|_)[A-Z]{2,}(_|$)", part.split(".")[0]) and not part.endswith(".md")
               for part in path.split("/"))


def exists(path: str, by: str, names: set[str], folders: set[str], bases: set[str]) -> bool:
    if "/" not in path:
        return path in bases
    beside = os.path.normpath(os.path.join(os.path.dirname(by), path))
    places = [path, beside, f"include/{path}", f"tests/{path}"]
    if by.startswith("proofs/"):  # whose rooms name each other
        places.append(f"proofs/{path}")
    return any(place in names or place.rstrip("/") in folders for place in places)


def paths(names: list[str]) -> Iterator[str]:
    known = set(names)
    folders = {str(parent) for name in names for parent in pathlib.PurePath(name).parents}
    bases = {os.path.basename(name) for name in names} | FOREIGN
    tops = {name.split("/")[0] for name in names if "/" in name}
    for name in names:
        text = text_of(name)
        prose = prose_of(name, text) if text is not None else ""
        for number, line in enumerate(prose.splitlines(), 1):
            for match in PATH.finditer(line):
                path = match[1].rstrip(".")
                first = path.split("/")[0]
                if "/" in path and first not in tops and (first in ELSEWHERE or
                                                          not IS_FILE.search(path)):
                    continue  # no path of this tree: K/V, 1/2, tokens/s
                if not is_placeholder(path) and not exists(path, name, known, folders, bases):
                    yield f"{name}:{number}: {path} does not exist"


CHECKS = {"paths": paths, "built": built, "columns": columns, "lists": lists}


def main(arguments: list[str]) -> int:
    if arguments[:1] in (["-h"], ["--help"]):
        print((__doc__ or "").strip())
        return 0
    unknown = [name for name in arguments if name not in CHECKS]
    if unknown:
        print(f"text_lint: no check {unknown[0]}; there are: {', '.join(CHECKS)}", file=sys.stderr)
        return 2
    names = tracked()
    wrong = [finding for name in arguments or CHECKS for finding in CHECKS[name](names)]
    print("\n".join(wrong) if wrong else f"{len(names)} files")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
