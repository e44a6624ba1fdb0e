#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clause by clause: what is proved by what. Writes proofs/TRACEABILITY.md.

    scripts/traceability.py            checks that the file is up to date, and that each clause has its
                                       evidence: a proof, and a seeded fault that a proof notices; or
                                       a line in SOUNDNESS.md that says why it has not
    scripts/traceability.py --write    writes the file

What counts, and is found in the sources: a contract of a function that WP proves (expected.txt), whose
comment cites the clause or whose `ensures` has a label of it (num_10_bound) or a predicate that cites it,
whole or, where SOUNDNESS.md says so, in part; a theorem of Coq below a
comment that cites it; a CHECK of a harness of CBMC that cites it; a seeded fault of this clause.

Exit status: 0 all right, 1 a finding, 2 bad use.
"""
import collections
import pathlib
import re
import sys

from clauses import CLAUSE, EXPLAINS_ONLY, HEADING, ROOT

TABLE = ROOT / "proofs" / "TRACEABILITY.md"
SOUNDNESS = ROOT / "proofs" / "SOUNDNESS.md"
NOT_PROVED = "### Clauses that no proof has"
IN_PART = "### Clauses of which the contracts say a part"
INTRODUCTION = """# What is proved by what

Written by `scripts/traceability.py --write` from the sources; `make lint` fails when it is out of date.
What a proof is worth, and what it assumes: [SOUNDNESS.md](SOUNDNESS.md).

- WP: functions of ref/ whose contract says the clause and is proved at full size; `.../` stands before
  consequences that are proved from contracts alone (proofs/wp/*_laws.c). `In part:` what of the clause the
  contracts do not say stands in SOUNDNESS.md.
- Coq: theorems about the mathematics. CBMC: harnesses (proofs/cbmc) that check the clause for every
  content of a small tree.
- Tests: the programs that notice a seeded fault of the clause, and the test files that cite it.
- Faults: how many seeded faults of the clause a proof (WP, Coq, CBMC) and a test must notice.

"""


def clauses_in(text):
    """The clauses that the text cites; `NUM-3 to NUM-5` are three."""
    found = {f"{m[1]}-{m[2]}" for m in CLAUSE.finditer(text)}
    for m in re.finditer(rf"{CLAUSE.pattern} to \1-(\d+)\b", text):
        found |= {f"{m[1]}-{number}" for number in range(int(m[2]), int(m[3]) + 1)}
    return found


def labels_in(contract):
    """The clauses that labels of the contract name: `ensures num_10_bound: ...`."""
    return {f"{m[1].upper()}-{m[2]}" for m in re.finditer(r"ensures ([a-z]+)_(\d+)(?:_\w+)?:", contract)}


def terms_in(text):
    """Names of predicates and functions: what has arguments and is no field."""
    return set(re.findall(r"(?<![\w.>])(\w+)(?:\{\w+(?:, *\w+)*\})?\(", text))


def headings():
    """[(clause, its name, chapter)], in the order of the chapters."""
    found = []
    for chapter in ("pool", "tree", "plan", "softmax", "two_phase", "prefill", "number", "tolerance"):
        text = (ROOT / "spec" / f"{chapter}.md").read_text()
        for m in re.finditer(r"^### ([A-Z]+-\d+) (.+)$", text, re.M):
            found.append((m[1], m[2], chapter))
    every = {m[1] for path in (ROOT / "spec").glob("*.md") for m in HEADING.finditer(path.read_text())
             if m[2] not in EXPLAINS_ONLY}
    assert every == {clause for clause, _, _ in found}, "a chapter of spec/ is missing above"
    return found


def sources():
    for pattern in ("include/chunkproof/*.h", "ref/*.[ch]", "proofs/wp/*_laws.c"):
        yield from sorted(ROOT.glob(pattern))


def predicates():
    """predicate -> the clauses that it and those in it cite."""
    own, text = {}, {}
    for path in sources():
        for comment in re.findall(r"/\*@(.*?)\*/", path.read_text(), re.S):
            for m in re.finditer(r"((?:^ *//[^\n]*\n)*) *(?:predicate|logic \w+) (\w+)(.*?);",
                                 comment, re.M | re.S):
                own[m[2]], text[m[2]] = clauses_in(m[1]), m[3]
    closure = {name: set(found) for name, found in own.items()}
    for _ in own:
        for name in own:
            for word in terms_in(text[name]):
                closure[name] |= closure.get(word, set())
    return closure


def proved_functions():
    """clause -> functions with a contract that says it and that WP proves."""
    proved = {}
    for line in (ROOT / "proofs/wp/expected.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            unit, function, *_ = line.split()
            proved[function] = unit
    known, served = predicates(), collections.defaultdict(set)
    pattern = re.compile(r"(/\*(?!@)(?:(?!\*/).)*\*/)?\s*/\*@((?:(?!\*/).)*)\*/\s*"
                         r"(?:static |inline |const |unsigned |long |struct )*\w+ \**(\w+)\(", re.S)
    for path in sources():
        for comment, contract, function in pattern.findall(path.read_text()):
            if function not in proved:
                continue
            ensures = " ".join(re.findall(r"ensures(.*?);", contract, re.S))
            found = clauses_in(comment) | clauses_in(contract) | labels_in(contract)
            for word in terms_in(ensures):
                found |= known.get(word, set())
            name = f".../{function}" if proved[function].endswith("_laws") else function
            for clause in found:
                served[clause].add(name)
    return served


def theorems():
    """clause -> theorems of Coq; a section's heading speaks for the theorems without a citation."""
    served = collections.defaultdict(set)
    item = re.compile(r"\(\*.*?\*\)|^(?:Theorem|Corollary) (\w+)|^(?:Lemma|Definition|Example|Record|"
                      r"Fixpoint|Inductive|Section) \w+", re.M | re.S)
    for path in sorted((ROOT / "proofs/coq").glob("*.v")):
        heading, comments = set(), set()
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


def harnesses():
    """clause -> harnesses of CBMC."""
    served, uses = collections.defaultdict(set), collections.defaultdict(set)
    for line in (ROOT / "proofs/cbmc/harnesses").read_text().splitlines():
        if line and not line.startswith("#"):
            _, name, runs, files = line.split()[:4]
            if "properties" in runs:
                for stem in files.split(":"):
                    uses[stem].add(name)
    uses["model"] = uses["one_step"]
    for path in sorted((ROOT / "proofs/cbmc").glob("*.c")):
        for text in re.findall(r'CHECK\("([^"]*)"', path.read_text()):
            for clause in clauses_in(text):
                served[clause] |= {min(uses[path.stem], key=lambda name: (len(name), name))} if uses[path.stem] else set()
    return served


def fields(path):
    head = path.read_text().partition("----")[0]
    return dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)


def faults():
    """Lists of (clause, who notices it): by proofs, by tests."""
    proof, test = [], []
    for tool in ("wp", "coq", "cbmc"):
        for path in sorted((ROOT / f"proofs/{tool}/faults").glob("*.fault")):
            proof.append((tool, fields(path)))
    listed = ROOT / "proofs/cbmc/faults/from-tests"
    for line in listed.read_text().splitlines():
        if line and not line.startswith("#"):
            name, harness = line.split()
            found = fields(ROOT / f"tests/faults/{name}.fault")
            proof.append(("cbmc", {**found, "harness": harness}))
    for path in sorted((ROOT / "tests/faults").glob("*.fault")):
        test.append(fields(path))
    return proof, test


def exceptions(heading):
    """clause -> what SOUNDNESS.md says of it below the heading."""
    _, _, section = SOUNDNESS.read_text().partition(heading)
    return dict(re.findall(r"^\| ([A-Z]+-\d+) \| (.+) \|$", section.split("\n#")[0], re.M))


def build():
    """(the text of the file, findings)."""
    wp, coq, cbmc = proved_functions(), theorems(), harnesses()
    proof_faults, test_faults = faults()
    excused, partly = exceptions(NOT_PROVED), exceptions(IN_PART)
    findings, lines, chapter_before = [], [], None
    for tool, fault in proof_faults:
        if tool == "wp":
            wp[fault["clause"]].add(fault["function"])
        elif tool == "cbmc":
            cbmc[fault["clause"]].add(fault["harness"])
        elif not coq[fault["clause"]]:
            coq[fault["clause"]].add(fault["theorem"])
    for clause, name, chapter in headings():
        if chapter != chapter_before:
            lines += ["", f"## [{chapter}.md](../spec/{chapter}.md)", "",
                      "| clause | WP | Coq | CBMC | tests | faults |", "|---|---|---|---|---|---|"]
            chapter_before = chapter
        tests = {fault["test"] for fault in test_faults if fault["clause"] == clause}
        tests |= {path.stem for path in (ROOT / "tests").glob("test_*.c")
                  if clause in clauses_in(path.read_text())}
        n_proof = sum(fault["clause"] == clause for _, fault in proof_faults)
        n_test = sum(fault["clause"] == clause for fault in test_faults)
        cells = [", ".join(sorted(served[clause])) for served in (wp, coq, cbmc)]
        if clause in excused:
            if any(cells):
                findings.append(f"{clause}: has a proof, but SOUNDNESS.md excuses it")
            cells[0] = f"none: {excused[clause]}"
        elif not any(cells):
            findings.append(f"{clause}: no proof, and no reason in SOUNDNESS.md ({NOT_PROVED[4:]})")
        elif clause in partly and not cells[0]:
            findings.append(f"{clause}: no contract says it, not even in part as SOUNDNESS.md has it")
        elif n_proof == 0:
            findings.append(f"{clause}: no seeded fault of it that a proof must notice")
        if clause in partly:
            cells[0] = f"in part: {cells[0]}"
        if not tests and not any(cells):
            findings.append(f"{clause}: no test")
        lines.append(f"| {clause} {name} | {' | '.join(cells)} | {', '.join(sorted(tests))} | "
                     f"{n_proof} + {n_test} |")
    total = f"\n{len(proof_faults)} seeded faults must be noticed by proofs, " \
            f"{len(test_faults)} by tests.\n"
    return INTRODUCTION.rstrip() + "\n" + "\n".join(lines) + "\n" + total, findings


def main():
    if sys.argv[1:] not in ([], ["--write"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    text, found = build()
    if sys.argv[1:]:
        TABLE.write_text(text)
    elif not TABLE.exists() or TABLE.read_text() != text:
        found.append("proofs/TRACEABILITY.md is out of date: scripts/traceability.py --write")
    print("\n".join(found + [f"clauses {len(headings())}, findings {len(found)}"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
