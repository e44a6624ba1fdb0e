#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rooms of cli/ and gate/: which rooms a room may use, and that no files form a circle.

A room is a directory. A room uses another when one of its files includes a header of it, or calls
one of its functions. Files form a circle when each includes another of them, or each calls another
of them. The files of include/, ref/, opt/ and kernels/ form no circle either; what they may include
is in scripts/layers.py.

    scripts/rooms.py [ROOT]      exit status 0 right, 1 a finding
    scripts/rooms.py --draw      the rooms, each with the rooms that it uses
"""
import os
import pathlib
import re
import sys

# room: the rooms below it that it may use. A room that is not here may not exist.
BELOW: dict[str, str] = {
    "cli/base": "",
    "cli/tables": "cli/base",
    "cli/trace": "cli/base",
    "cli/show": "cli/base",
    "cli/bound": "cli/base",
    "cli/model": "cli/base",
    "cli/prompt": "cli/base cli/model",
    "cli/modules": "cli/base cli/tables cli/prompt",
    "cli/simulate": "cli/base cli/tables cli/trace cli/modules",
    "gate/runner": "cli/base",
    "gate/source": "cli/base",
    "gate/case": "cli/base gate/runner",
    "gate/judge": "cli/base cli/bound gate/runner gate/case",
    "gate/search": "cli/base gate/runner gate/source gate/case gate/judge",
    "gate/explain": "cli/base gate/runner gate/source gate/case gate/judge gate/search",
    "gate/report": "cli/base cli/show gate/runner gate/source gate/case gate/judge gate/search",
    "gate/merge": "cli/base gate/runner gate/source gate/case gate/judge gate/search gate/report",
    "gate": "cli/base gate/runner gate/source gate/case gate/judge gate/search gate/explain "
            "gate/report gate/merge",
    "cli/bench": "cli/base cli/tables cli/trace cli/simulate gate/case gate/judge gate/search",
    "cli": "cli/base cli/tables cli/trace cli/show cli/bound cli/model cli/prompt cli/modules "
           "cli/simulate cli/bench gate gate/runner",
}

Graph = dict[str, set[str]]

WITH_ROOMS = ("cli", "gate")
WITHOUT_ROOMS = ("include", "ref", "opt", "kernels")
SUFFIXES = (".c", ".cpp", ".cu", ".h")

# A definition at the left margin that other files see: the name before the first bracket, or a
# table's. INLINE is static, in opt/.
BEGIN = r"^(?![^\n(=]*\b(?:static|INLINE|extern|typedef|return)\b)[A-Za-z_][\w \*]*?\b"
FUNCTION = re.compile(BEGIN + r"(\w+)\([^;{}]*\)\s*\{", re.MULTILINE)
TABLE = re.compile(BEGIN + r"(\w+)(?:\[[^\]\n]*\])*\s*=[^=]", re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')


def source_files(root: pathlib.Path, tops: tuple[str, ...]) -> list[pathlib.Path]:
    return sorted(path for top in tops for path in (root / top).rglob("*")
                  if path.suffix in SUFFIXES)


def room_of(path: str) -> str:
    return os.path.dirname(path)


def names_defined(text: str) -> set[str]:
    return {m[1] for pattern in (FUNCTION, TABLE) for m in pattern.finditer(text)}


def includes_of(code: dict[str, str]) -> Graph:
    """Of headers of these files; as the compiler does, beside the file, then in the tree."""
    uses: Graph = {path: set() for path in code}
    for path, text in code.items():
        for header in re.findall(r'#\s*include\s*["<]([^">]+)[">]', text):
            places = (os.path.dirname(path), "", "include")
            found = (os.path.normpath(os.path.join(place, header)) for place in places)
            uses[path] |= {name for name in found if name in code}
    return uses


def calls_of(code: dict[str, str]) -> tuple[Graph, dict[tuple[str, str], str]]:
    """(file: the files whose functions or tables it uses, one of these for each)."""
    sources = {path: text for path, text in code.items() if not path.endswith(".h")}
    owner = {name: path for path, text in sources.items() for name in names_defined(text)}
    calls: Graph = {path: set() for path in sources}
    names: dict[tuple[str, str], str] = {}
    for path, text in sources.items():
        plain = re.sub(r"\b(struct|enum) \w+", "", STRING.sub('""', text))
        words = re.findall(r"\b[A-Za-z_]\w*\b", plain)
        for name in sorted(set(words) & owner.keys()):
            if owner[name] != path:
                calls[path].add(owner[name])
                names.setdefault((path, owner[name]), name)
    return calls, names


def circles(uses: Graph) -> list[list[str]]:
    """Tarjan: the files that reach each other, as lists of two and more."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(unit: str) -> None:
        index[unit] = low[unit] = len(index)
        stack.append(unit)
        for other in sorted(uses[unit]):
            if other not in index:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in stack:
                low[unit] = min(low[unit], index[other])
        if low[unit] == index[unit]:
            group = stack[stack.index(unit):]
            del stack[-len(group):]
            if len(group) > 1:
                found.append(sorted(group))

    for unit in uses:
        if unit not in index:
            visit(unit)
    return found


def graphs(root: pathlib.Path,
           tops: tuple[str, ...]) -> tuple[Graph, Graph, dict[tuple[str, str], str]]:
    code = {str(path.relative_to(root)): COMMENT.sub(" ", path.read_text(encoding="utf-8"))
            for path in source_files(root, tops)}
    return includes_of(code), *calls_of(code)


def circles_said(includes: Graph, calls: Graph, names: dict[tuple[str, str], str]) -> list[str]:
    lines = []
    for verb, uses in (("includes", includes), ("calls", calls)):
        for group in circles(uses):
            lines.append(f"a circle of {verb}:")
            lines += [f"  {path} {verb} {other}" +
                      (f" ({names[path, other]})" if verb == "calls" else "")
                      for path in group for other in sorted(uses[path] & set(group))]
    return lines


def table_findings() -> list[str]:
    """BELOW itself: each room that it names is there, and no room is below itself."""
    uses = {room: set(below.split()) for room, below in BELOW.items()}
    absent = [f"BELOW: {room} uses {other}, which is no room"
              for room in uses for other in sorted(uses[room] - uses.keys())]
    itself = [f"BELOW: {room} is below itself" for room in uses if room in uses[room]]
    groups = [] if absent else circles(uses)
    return absent + itself + [f"BELOW: a circle of rooms: {' '.join(group)}" for group in groups]


def findings(root: pathlib.Path) -> list[str]:
    includes, calls, names = graphs(root, WITH_ROOMS)
    lines = table_findings()
    for path in sorted(includes):
        room = room_of(path)
        if room not in BELOW:
            lines.append(f"{path}: there is no room {room}; enter it in scripts/rooms.py")
            continue
        may = {room, *BELOW[room].split()}
        lines += [f"{path}: {room}/ may not use {room_of(other)}/, but includes {other}"
                  for other in sorted(includes[path]) if room_of(other) not in may]
        lines += [f"{path}: {room}/ may not use {room_of(other)}/, but uses {names[path, other]}"
                  for other in sorted(calls.get(path, set())) if room_of(other) not in may]
    lines += circles_said(includes, calls, names)
    return lines + circles_said(*graphs(root, WITHOUT_ROOMS))


def drawing(root: pathlib.Path) -> list[str]:
    includes, calls, _ = graphs(root, WITH_ROOMS)
    used: Graph = {room: set() for room in BELOW}
    for uses in (includes, calls):
        for path, others in uses.items():
            used.setdefault(room_of(path), set()).update(room_of(other) for other in others)
    return [f"{room + '/':14} {'  '.join(sorted(others - {room})) or '-'}"
            for room, others in used.items()]


def main(arguments: list[str]) -> int:
    here = pathlib.Path(__file__).resolve().parent.parent
    if arguments[:1] in (["-h"], ["--help"]):
        print((__doc__ or "").strip())
        return 0
    if arguments[:1] == ["--draw"]:
        print("\n".join(drawing(here)))
        return 0
    root = pathlib.Path(arguments[0]) if arguments else here
    wrong = findings(root)
    n_files, n_others = (len(source_files(root, tops)) for tops in (WITH_ROOMS, WITHOUT_ROOMS))
    print("\n".join(wrong) if wrong else
          f"{n_files} files in {len(BELOW)} rooms and {n_others} others, no circle")
    return 1 if wrong or n_files == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
