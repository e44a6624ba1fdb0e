#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clause by clause: what is proved by what. Writes proofs/TRACEABILITY.md.

    scripts/traceability.py            checks that the file is up to date, and that each clause has
                                       its evidence: a proof that names it, a seeded fault that a
                                       proof notices and, where a contract names it, one that breaks
                                       this contract; or a line in SOUNDNESS.md that says why not
    scripts/traceability.py --write    writes the file, and the numbers of scripts/variant_faults.py

What names a clause, and is found in the sources: a contract of a function that WP proves
(expected.txt), in its text, in a label (num_10_bound) or by a predicate of an `ensures` that cites
the clause; weaker, the comment above such a contract; a theorem of Coq below a comment that cites
it; a CHECK of a harness of CBMC that cites it. A seeded fault that a proof notices names nothing:
what it breaks stands apart. So does what is about kernels/.

Exit status: 0 all right, 1 a finding, 2 bad use.
"""
import collections
import itertools
import pathlib
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import variant_faults
from clauses import CLAUSE, EXPLAINS_ONLY, HEADING, ROOT
from faulting import by_python, catalogue, shell_test
from faulting.catalogue import Fault

# clause -> what serves it; and what SOUNDNESS.md says of it
Served: TypeAlias = dict[str, set[str]]
Exceptions: TypeAlias = Mapping[str, str]

TABLE = ROOT / "proofs" / "TRACEABILITY.md"
SOUNDNESS = ROOT / "proofs" / "SOUNDNESS.md"
NOT_PROVED = "### Clauses that no proof has"
IN_PART = "### Clauses of which the contracts say a part"
NOT_NAMED = "### Clauses that no contract, theorem or check names"
NOT_BROKEN = "### Clauses whose contract no seeded fault breaks"
COLUMNS = ("| clause | contract | broken | comment | Coq | CBMC | fault alone | tests | faults "
           "| kernels |")
KINDS = ("Contract", "Broken by", "Comment", "Coq", "CBMC", "By a fault alone", "Tests", "Kernels")
INTRODUCTION = """# What is proved by what

`scripts/traceability.py --write` writes this page from the sources; `make lint` fails when it is
out of date. [SOUNDNESS.md](SOUNDNESS.md) says what a proof is worth, and what it assumes. The page
finds names. A reader has to see whether a contract says all of the clause whose number it carries.
The table of a chapter counts the names, and the lists below it have them:

| column | what it counts |
|---|---|
| contract | functions of ref/, proved at full size, whose contract carries the clause's number |
| broken | seeded faults of the clause with which a clause of such a contract is not proved |
| comment | functions of which only the words above the contract name the clause |
| Coq | theorems about the mathematics |
| CBMC | harnesses (proofs/cbmc) with a check of that number, for every content of a small tree |
| fault alone | what a seeded fault of the clause breaks, though nothing there has its number |
| tests | programs that notice a seeded fault of the clause, and test files that cite it |
| faults | how many seeded faults of the clause a proof, and a test, must notice |
| kernels | harnesses, tests and seeded faults about kernels/, which show nothing of the reference |

- A contract carries a number in its text, in a label of an `ensures` or `requires`
  (`num_10_bound`), or in a predicate of an `ensures`. `.../` stands before consequences that are
  proved from contracts alone (proofs/wp/*_laws.c). Where it says `in part:`, SOUNDNESS.md has what
  the contracts do not say.
- What is broken by a fault alone shows that a proof notices this fault. It is no proof of the
  clause, and does not count as one.

"""


def clauses_in(text: str) -> set[str]:
    """The clauses that the text cites; `NUM-3 to NUM-5` are three."""
    found = {f"{m[1]}-{m[2]}" for m in CLAUSE.finditer(text)}
    for m in re.finditer(rf"{CLAUSE.pattern} to \1-(\d+)\b", text):
        found |= {f"{m[1]}-{number}" for number in range(int(m[2]), int(m[3]) + 1)}
    return found


def labels_in(contract: str) -> set[str]:
    """The clauses that labels of the contract name: `ensures num_10_bound: ...`."""
    return {f"{m[1].upper()}-{m[2]}"
            for m in re.finditer(r"(?:ensures|requires) ([a-z]+)_(\d+)(?:_\w+)?:", contract)}


def terms_in(text: str) -> set[str]:
    """Names of predicates and functions: what has arguments and is no field."""
    return set(re.findall(r"(?<![\w.>])(\w+)(?:\{\w+(?:, *\w+)*\})?\(", text))


def headings() -> list[tuple[str, str, str]]:
    """[(clause, its name, chapter)], in the order of the chapters."""
    found = []
    for chapter in ("pool", "tree", "plan", "softmax", "two_phase", "prefill", "windows", "masks",
                    "scores", "widths", "decoder", "layers", "modules", "pml", "programs", "runs",
                    "batch", "number", "tolerance", "merging", "gate", "conventions", "weights",
                    "tokens", "fast", "caches"):
        text = (ROOT / "spec" / f"{chapter}.md").read_text()
        for m in re.finditer(r"^### ([A-Z]+-\d+) (.+)$", text, re.M):
            found.append((m[1], m[2], chapter))
    every = {m[1] for path in (ROOT / "spec").glob("*.md")
             for m in HEADING.finditer(path.read_text())
             if m[2] not in EXPLAINS_ONLY}
    assert every == {clause for clause, _, _ in found}, "a chapter of spec/ is missing above"
    return found


def sources() -> Iterator[pathlib.Path]:
    for pattern in ("include/chunkproof/*.h", "ref/*.[ch]", "proofs/logic/*.h",
                    "proofs/wp/*_laws.c"):
        yield from sorted(ROOT.glob(pattern))


def predicates() -> dict[str, set[str]]:
    """predicate -> the clauses that it and those in it cite."""
    own: dict[str, set[str]] = {}
    text: dict[str, str] = {}
    for path in sources():
        for comment in re.findall(r"/\*@(.*?)\*/", path.read_text(), re.S):
            # A quantifier has a semicolon, too: the last one stands before another definition.
            for m in re.finditer(r"((?:^ *//[^\n]*\n)*) *(?:predicate|logic \w+) (\w+)(.*?);"
                                 r"(?=\s*(?://|predicate\b|logic\b|axiom|lemma\b|\}|\Z))",
                                 comment, re.M | re.S):
                own[m[2]], text[m[2]] = clauses_in(m[1]), m[3]
    closure = {name: set(found) for name, found in own.items()}
    uses = {name: terms_in(text[name]) & own.keys() for name in own}
    grew = True
    while grew:
        grew = False
        for name, words in uses.items():
            more = set().union(*(closure[word] for word in words)) - closure[name]
            closure[name] |= more
            grew = grew or bool(more)
    return closure


def wp_name(unit: str, function: str) -> str:
    return f".../{function}" if unit.endswith("_laws") else function


# Laws may be ghost functions, which ref/ can call; a contract then stands in another comment.
GHOST = re.compile(r"/\*@ ghost\s*/@((?:(?!@/).)*)@/", re.S)


def proved_functions() -> tuple[Served, Served, dict[tuple[str, str], set[str]]]:
    """clause -> functions that WP proves: those whose contract names it; those of which a comment
    alone does. And: (function, label of an `ensures`) -> the clauses that this names."""
    proved: dict[str, str] = {}
    for line in (ROOT / "proofs/wp/expected.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            unit, function, *_ = line.split()
            proved[function] = unit
    known = predicates()
    named: Served = collections.defaultdict(set)
    commented: Served = collections.defaultdict(set)
    labelled: dict[tuple[str, str], set[str]] = collections.defaultdict(set)
    pattern = re.compile(r"(/\*(?!@)(?:(?!\*/).)*\*/)?\s*/\*@((?:(?!\*/).)*)\*/\s*"
                         r"(?:static |inline |const |unsigned |long |struct )*\w+ \**(\w+)\(", re.S)
    for path in sources():
        text = path.read_text()
        if path.stem.endswith("_laws"):
            text = GHOST.sub(r"/*@\1*/", text)
        for comment, contract, function in pattern.findall(text):
            if function not in proved:
                continue
            name = wp_name(proved[function], function)
            found = clauses_in(contract) | labels_in(contract)
            for m in re.finditer(r"ensures (?:(\w+):)?.*?;", contract, re.S):
                says = clauses_in(m[0]) | labels_in(m[0])
                for word in terms_in(m[0]):
                    says |= known.get(word, set())
                labelled[name, m[1]] |= says
                found |= says
            for clause in found:
                named[clause].add(name)
            for clause in clauses_in(comment) - found:
                commented[clause].add(name)
    return named, commented, labelled


def theorems() -> Served:
    """clause -> theorems of Coq; a section's heading speaks for the theorems without a citation."""
    served: Served = collections.defaultdict(set)
    item = re.compile(r"\(\*.*?\*\)|^(?:Theorem|Corollary) (\w+)|"
                      r"^(?:Lemma|Definition|Example|Record|Fixpoint|Inductive|Section) \w+",
                      re.M | re.S)
    for path in sorted((ROOT / "proofs/coq").glob("*.v")):
        heading: set[str] = set()
        comments: set[str] = set()
        for m in item.finditer(path.read_text()):
            if m[0].startswith("(** *"):
                heading, comments = clauses_in(m[0]), set()
            elif m[0].startswith("(*"):
                comments |= clauses_in(m[0])
            else:
                for clause in (comments or heading) if m[1] else ():
                    served[clause].add(m[1])
                comments = set()
    return served


def is_about_kernels(path: pathlib.Path) -> bool:
    return '#include "kernels/' in path.read_text()


def checks_of(path: pathlib.Path, shared: Mapping[str, str]) -> set[str]:
    """The clauses of the CHECKs in a file of proofs/cbmc, and of the functions of
    model.c that it calls."""
    text = path.read_text()
    called = [body for name, body in shared.items() if re.search(rf"\b{name}\(", text)]
    return clauses_in(" ".join(check for part in [text, *called]
                               for check in re.findall(r'CHECK\("([^"]*)"', part)))


def harnesses() -> tuple[dict[str, set[str]], set[str], set[str]]:
    """harness of CBMC -> the clauses that it checks by name; those that stand for others with the
    same file; those that are about kernels/."""
    folder = ROOT / "proofs/cbmc"
    shared = dict(re.findall(r"^void (check_\w+)\(.*?\{$(.*?)^\}$",
                             (folder / "model.c").read_text(), re.M | re.S))
    clauses: dict[str, set[str]] = {}
    by_files: dict[str, list[str]] = collections.defaultdict(list)
    of_kernels: set[str] = set()
    for line in (folder / "harnesses").read_text().splitlines():
        if line and not line.startswith("#"):
            _, name, runs, files = line.split()[:4]
            paths = [folder / f"{stem}.c" for stem in files.split(":")]
            clauses[name] = set().union(*(checks_of(path, shared)
                                          for path in paths)) if "properties" in runs else set()
            if clauses[name]:
                by_files[files].append(name)
            if any(map(is_about_kernels, paths)):
                of_kernels.add(name)
    first = {min(names, key=lambda name: (len(name), name)) for names in by_files.values()}
    return clauses, first, of_kernels


def faults() -> tuple[list[tuple[str, Fault]], list[Fault], list[Fault]]:
    """Lists of faults: (tool, fault) that a proof must notice, those that a test
    must, those in kernels/."""
    every, problems = catalogue.read()
    if problems:
        raise catalogue.Misfit("\n".join(problems))
    tools = (("wp", "WP"), ("coq", "Coq"), ("cbmc", "CBMC"))
    proof = [(name, fault) for who, name in tools for fault in every if who in fault.fields]
    tested = {"test", "kernel", "cbmc"}
    return ([(name, fault) for name, fault in proof if not is_in_kernels(fault)],
            [fault for fault in every if {"test", "python", "mpi"} & fault.fields.keys()
             and not is_in_kernels(fault)],
            [fault for fault in every if tested & fault.fields.keys() and is_in_kernels(fault)])


def is_in_kernels(fault: Fault) -> bool:
    return fault.source.startswith("kernels/")


def exceptions(heading: str) -> dict[str, str]:
    """clause -> what SOUNDNESS.md says of it below the heading."""
    _, _, section = SOUNDNESS.read_text().partition(f"\n{heading}\n")
    rows = re.findall(r"^\|([^|]*)\|(.*)\|$", section.split("\n#")[0], re.M)
    return {clause.strip(): words.strip() for clause, words in rows[2:]}


class Evidence:
    """clause -> names, for each kind of evidence."""

    def __init__(self) -> None:
        self.contract, self.comment, self.labelled = proved_functions()
        self.coq = theorems()
        checked, first, of_kernels = harnesses()
        self.cbmc: Served = collections.defaultdict(set)
        self.kernels: Served = collections.defaultdict(set)
        for harness in first:
            for clause in checked[harness]:
                if harness in of_kernels:
                    self.kernels[clause].add(f"{harness} (CBMC)")
                else:
                    self.cbmc[clause].add(harness)
        self.proof_faults, self.test_faults, self.kernel_faults = faults()
        lists = [fault for _, fault in self.proof_faults], self.test_faults, self.kernel_faults
        self.counts = [collections.Counter(clause for fault in of for clause in set(fault.clauses))
                       for of in lists]
        self.by_fault: Served = collections.defaultdict(set)
        self.broken: Served = collections.defaultdict(set)
        for tool, fault in self.proof_faults:
            unit, function, broken = fault.proof if tool == "WP" else ("", "", "")
            name = wp_name(unit, function) if tool == "WP" else fault.fields[tool.lower()]
            for clause in fault.clauses:
                if clause in self.labelled.get((name, broken), ()):
                    self.broken[clause].add(fault.name)
                is_named = (name in self.contract[clause] | self.comment[clause] if tool == "WP"
                            else
                            name in self.coq[clause] if tool == "Coq" else
                            clause in checked.get(name, ()))
                if not is_named:
                    self.by_fault[clause].add(f"{name} ({tool})")
        self.tests: Served = collections.defaultdict(set)
        for path in sorted((ROOT / "tests").glob("test_*.c")):
            served = self.kernels if is_about_kernels(path) else self.tests
            for clause in clauses_in(path.read_text()):
                served[clause].add(path.stem)
        for path in sorted((ROOT / "tests").glob("program*.py")):  # the first one runs them all
            for clause in clauses_in(path.read_text()):
                self.tests[clause].add("programs.py")
        for path in sorted((ROOT / "tests" / "mpi").glob("*.[ch]")):
            for clause in clauses_in(path.read_text()):
                self.tests[clause].add("mpi/run")
        for path in (by_python.OF_CONVERTER, by_python.OF_BOUNDS):
            for clause in clauses_in(path.read_text()):
                self.tests[clause].add(f"model/{path.name}")
        for fault in self.test_faults:
            test = fault.fields.get("test", "")
            names = [f"{test}.sh" if shell_test.is_one(test) else test,
                     "mpi/run" if "mpi" in fault.who else None]
            if "python" in fault.who:
                file = by_python.file_of(fault.fields["python"])
                names.append(str(file.relative_to(ROOT / "tests")))
            for clause in fault.clauses:
                self.tests[clause].update(filter(None, names))

    def names(self, clause: str) -> list[list[str]]:
        """What names it, in the order of KINDS, and what a fault alone breaks."""
        kinds = (self.contract, self.broken, self.comment, self.coq, self.cbmc, self.by_fault)
        return [sorted(served[clause]) for served in kinds]

    def n_faults(self, clause: str) -> list[int]:
        """That a proof must notice, that a test must, and in kernels/."""
        return [count[clause] for count in self.counts]


def finding(clause: str, evidence: Evidence, excused: Exceptions, partly: Exceptions,
            unnamed: Exceptions, unbroken: Exceptions) -> str | None:
    """What is wrong with its evidence, or None."""
    if clause in unbroken and evidence.broken[clause]:
        return "a fault breaks its contract, and SOUNDNESS.md says that none does"
    if evidence.contract[clause] and not evidence.broken[clause] and clause not in unbroken:
        return "no seeded fault of it breaks a contract (wp: UNIT FUNCTION.CLAUSE)"
    *named, by_fault = evidence.names(clause)
    n_proof, *_ = evidence.n_faults(clause)
    if clause in excused:
        return "has a proof, but SOUNDNESS.md excuses it" if any(named) or by_fault else None
    if clause in unnamed:
        return ("is named, but SOUNDNESS.md says that it is not" if any(named) else
                None if by_fault else "nothing notices a fault of it: it is one that no proof has")
    if not any(named):
        return (f"only faults of it are noticed, and no reason in SOUNDNESS.md ({NOT_NAMED[4:]})"
                if by_fault else
                f"no proof, and no reason in SOUNDNESS.md ({NOT_PROVED[4:]})")
    if clause in partly and not (named[0] or named[2]):
        return "no contract says it, not even in part as SOUNDNESS.md has it"
    return None if n_proof else "no seeded fault of it that a proof must notice"


def row(clause: str, name: str, evidence: Evidence) -> str:
    """Of the table: how many names there are of each kind."""
    *counts, tests = map(len, [*evidence.names(clause), evidence.tests[clause]])
    n_proof, n_test, n_kernel = evidence.n_faults(clause)
    cells = [*counts, tests, f"{n_proof} + {n_test}", len(evidence.kernels[clause]) + n_kernel]
    return f"| {clause} {name} | {' | '.join(str(cell or '') for cell in cells)} |"


def entry(clause: str, evidence: Evidence, excused: Exceptions,
          partly: Exceptions) -> Iterator[str]:
    """Of the list: the names of each kind."""
    named = [", ".join(names) for names in evidence.names(clause)]
    if clause in partly:
        at = 0 if named[0] else 2
        named[at] = f"in part: {named[at]}"
    *_, n_kernel = evidence.n_faults(clause)
    about = sorted(evidence.kernels[clause])
    if n_kernel > 0:
        about.append(f"{n_kernel} fault{'s' if n_kernel > 1 else ''}")
    named += [", ".join(sorted(evidence.tests[clause])), ", ".join(about)]
    yield f"**{clause}**"
    for kind, names in (("No proof", excused.get(clause)), *zip(KINDS, named)):
        if names:
            yield textwrap.fill(f"- {kind}: {names}", 100, subsequent_indent="  ",
                                break_long_words=False, break_on_hyphens=False)


def build() -> tuple[str, list[str]]:
    """(the text of the file, findings)."""
    evidence = Evidence()
    findings: list[str] = []
    lines: list[str] = []
    known = {clause for clause, *_ in headings()}
    tables = [exceptions(heading) for heading in (NOT_PROVED, IN_PART, NOT_NAMED, NOT_BROKEN)]
    excused, partly, *_ = tables
    for clause in sorted({clause for table in tables for clause in table} - known):
        findings.append(f"SOUNDNESS.md: no clause {clause}")
    for chapter, clauses in itertools.groupby(headings(), key=lambda heading: heading[2]):
        entries = []
        lines += ["", f"## [{chapter}.md](../spec/{chapter}.md)", "", COLUMNS,
                  "|---" * COLUMNS.count(" |") + "|"]
        for clause, name, _ in clauses:
            wrong = finding(clause, evidence, *tables)
            if wrong:
                findings.append(f"{clause}: {wrong}")
            lines.append(row(clause, name, evidence))
            entries += ["", *entry(clause, evidence, excused, partly)]
        lines += entries
    total = f"\n{len(evidence.proof_faults)} seeded faults must be noticed by proofs, " \
            f"{len(evidence.test_faults)} by tests; " \
            f"{len(evidence.kernel_faults)} are in kernels/.\n"
    return INTRODUCTION.rstrip() + "\n" + "\n".join(lines) + "\n" + total, findings


def main() -> int:
    if sys.argv[1:] not in ([], ["--write"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        text, found = build()
    except catalogue.Misfit as misfit:
        print(misfit)
        return 1
    if sys.argv[1:]:
        TABLE.write_text(text)
    elif not TABLE.exists() or TABLE.read_text() != text:
        found.append("proofs/TRACEABILITY.md is out of date: scripts/traceability.py --write")
    found += variant_faults.out_of_date(bool(sys.argv[1:]))
    print("\n".join(found + [f"clauses {len(headings())}, findings {len(found)}"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
