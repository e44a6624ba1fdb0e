# SPDX-License-Identifier: Apache-2.0
"""Is the catalogue right? Each record fits its source, names are unique, no change is stated twice,
and what a record names exists: clauses, tests, versions, kernels, units and functions, harnesses,
theorems, drivers and contracts, targets.
"""

import ast
import functools
import re
from collections.abc import Iterator

from . import shell_test
from .catalogue import ROOT, WHO, Fault, Misfit, read
from .public import of_public, out_of_date

# Records that only these must notice need no clause: a parser's fault, and words about a kernel,
# break none of their own.
WITHOUT_CLAUSE = {"explain", "fuzz"}
# What a command takes and says is in its --help, and in the schemas of its reports: tests of that
# need no clause.
WORDS = ("cli/", "gate/report/")


def text_of(path: str) -> str:
    file = ROOT / path
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def constant(path: str, name: str) -> ast.expr | None:
    """The value of an assignment in a script, without running it."""
    for node in ast.parse(text_of(path)).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(to, ast.Name) and to.id == name for to in node.targets
        ):
            return node.value
    return None


def keys(path: str, name: str) -> set[str]:
    """Of a dictionary."""
    value = constant(path, name)
    return (
        {str(ast.literal_eval(key)) for key in value.keys if key}
        if isinstance(value, ast.Dict)
        else set()
    )


def rows(path: str) -> list[list[str]]:
    return [
        line.split()
        for line in text_of(path).splitlines()
        if line.strip() and not line.startswith("#")
    ]


@functools.cache
def clauses() -> set[str]:
    headings = (
        re.findall(r"^### ([A-Z]+-\d+) ", path.read_text(encoding="utf-8"), re.M)
        for path in (ROOT / "spec").glob("*.md")
    )
    return {clause for found in headings for clause in found}


@functools.cache
def proved() -> set[tuple[str, str]]:
    """(unit, function)"""
    return {(row[0], row[1]) for row in rows("proofs/wp/expected.txt")}


# A contract, and the name of the function whose declaration or definition follows it.
CONTRACT = re.compile(
    r"/[*@]@?((?:(?!\*/|@/).)*)[*@]/\s*"
    r"(?:static |inline |const |unsigned |long |struct )*\w+ \**(\w+)\(",
    re.DOTALL,
)


@functools.cache
def all_ensured() -> dict[str, set[str]]:
    """The names of what the contracts of each function ensure."""
    found: dict[str, set[str]] = {}
    for folder in "include/chunkproof", "proofs/logic", "proofs/wp", "ref":
        for path in (ROOT / folder).glob("*.[ch]"):
            for contract, function in CONTRACT.findall(path.read_text(encoding="utf-8")):
                found.setdefault(function, set()).update(
                    re.findall(r"\bensures (\w+):", contract)
                )
    return found


def ensured(function: str) -> set[str]:
    return all_ensured().get(function, set())


@functools.cache
def harnesses() -> set[str]:
    return {row[1] for row in rows("proofs/cbmc/harnesses")}


@functools.cache
def theorems() -> set[str]:
    kinds = "Theorem|Lemma|Example|Corollary|Fact|Remark|Proposition"
    return {
        name
        for path in (ROOT / "proofs" / "coq").glob("*.v")
        for name in re.findall(
            rf"^\s*(?:{kinds})\s+([\w']+)", path.read_text(encoding="utf-8"), re.M
        )
    }


@functools.cache
def contracts() -> dict[str, set[str]]:
    """function: its clauses that are not checked when it runs."""
    return {row[0]: set(row[2:]) for row in rows("proofs/eacsl/expected.txt")}


@functools.cache
def drivers() -> set[str]:
    return keys("proofs/eacsl/run", "DRIVERS")


@functools.cache
def targets() -> set[str]:
    return keys("scripts/fuzzing.py", "SMOKE")


def versions(words: list[str]) -> bool:
    return len(words) == 2 and words[0] == "version" and (ROOT / f"kernels/v{words[1]}.h").is_file()


def of_test(fault: Fault, words: list[str]) -> str | None:
    if len(words) == 1 and shell_test.is_one(words[0]):
        of_command = fault.source.startswith(shell_test.SOURCES)
        return None if of_command else f"{fault.source} is no source of the command"
    return (
        None
        if len(words) == 1 and (ROOT / f"tests/{words[0]}.c").is_file()
        else "there is no such test in tests/"
    )


def of_python(fault: Fault, words: list[str]) -> str | None:
    places = ("python/chunkproof/", "python/examples/", "tests/model/")
    if not fault.source.startswith(places):
        return f"{fault.source} is not in {', '.join(places)}"
    files = (
        "tests/programs.py",
        "tests/program_files.py",
        "tests/program_examples.py",
        "tests/model/test_convert.py",
        "tests/model/test_first_order.py",
    )
    tests = "".join(map(text_of, files))
    defined = len(words) == 1 and f"    def {words[0]}(self)" in tests
    return None if defined else f"{', '.join(files)} have no such test"


def of_kernel(fault: Fault, words: list[str]) -> str | None:
    return (
        None
        if words in (["launcher"], ["lists"], ["widths"], ["masks"]) or versions(words)
        else "it is launcher, lists, widths, masks, or the version of one in kernels/"
    )


def of_gate(fault: Fault, words: list[str]) -> str | None:
    words = words[:-1] if words[-1] == "deep" else words
    if words == ["itself"]:
        path = ROOT / fault.source
        defines = fault.source.endswith((".c", ".cu")) and "cp_kernel cp_kernel" in path.read_text()
        return None if defines else f"{fault.source} is no kernel: name one that includes it"
    kind = words[2] if len(words) == 3 else None
    if versions(words[:2]) and (kind is None or f"CUDA_{kind}" in text_of("tests/gate/cuda.cu")):
        return None if fault.source.startswith("kernels/") else f"{fault.source} is not in kernels/"
    return None if len(words) == 1 and (ROOT / words[0]).is_file() else "there is no such kernel"


def of_explain(fault: Fault, words: list[str]) -> str | None:
    return (
        None
        if fault.source.endswith(".c") or "gate" in fault.fields
        else f"{fault.source} is no kernel in C"
    )


def of_merge(fault: Fault, words: list[str]) -> str | None:
    path = ROOT / fault.source
    defines = "cp_merge_kernel cp_merge_kernel" in path.read_text(encoding="utf-8")
    return None if defines else f"{fault.source} is no kernel that merges"


def of_wp(fault: Fault, words: list[str]) -> str | None:
    function, _, clause = words[-1].partition(".")
    if len(words) != 2 or (words[0], function) not in proved():
        return "proofs/wp/expected.txt has no such unit and function"
    if clause not in ("", "assigns", "contradiction", *ensured(function)):
        return f"no contract of {function} has a clause `ensures {clause}:`"
    return None


def of_control(fault: Fault, words: list[str]) -> str | None:
    if len(fault.fields) > 2:
        return "a control has no other field: nobody must notice it"
    return "it says UNIT FUNCTION" if "." in words[-1] else of_wp(fault, words)


def of_cbmc(fault: Fault, words: list[str]) -> str | None:
    return (
        None
        if len(words) == 1 and words[0] in harnesses()
        else "proofs/cbmc/harnesses has no such harness"
    )


def of_coq(fault: Fault, words: list[str]) -> str | None:
    if not fault.source.startswith("proofs/coq/"):
        return f"{fault.source} is not in proofs/coq/"
    return None if len(words) == 1 and words[0] in theorems() else "there is no such theorem"


def of_extract(fault: Fault, words: list[str]) -> str | None:
    if not fault.source.startswith(("proofs/coq/", "ref/", "include/")):
        return f"{fault.source} is neither in proofs/coq/ nor of ref/"
    return None if len(words) == 1 and words[0].isdigit() else "it is a number of operations"


def of_eacsl(fault: Fault, words: list[str]) -> str | None:
    function, _, clause = words[-1].partition(".")
    if len(words) != 2 or words[0] not in drivers():
        return "proofs/eacsl/run has no such driver"
    if function not in contracts():
        return f"proofs/eacsl/expected.txt has no function {function}"
    label = re.escape(clause.rpartition(".")[2])  # assigns: the clause without a name of its own
    if (
        clause in contracts()[function]
        or clause != "assigns"
        and not re.search(rf"\b{label}:", "".join(map(text_of, headers())))
    ):
        return f"no contract of {function} that is run has a clause {clause}"
    return None


@functools.cache
def headers() -> tuple[str, ...]:
    folders = "include/chunkproof", "proofs/logic", "ref"
    return tuple(
        str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / folder).glob("*.h")
    )


def of_fuzz(fault: Fault, words: list[str]) -> str | None:
    return (
        None
        if len(words) == 2 and words[0] in targets() and words[1].isdigit() and int(words[1]) > 0
        else "it is a target of scripts/fuzzing.py and a number of runs"
    )


def of_mpi(fault: Fault, words: list[str]) -> str | None:
    if not fault.source.startswith(("tests/mpi/", "ref/")):
        return f"{fault.source} is neither in tests/mpi/ nor in ref/"
    ranks = len(words) == 1 and re.fullmatch(r"[1-9]", words[0])
    return None if ranks or words == ["misuse"] else "it is a number of ranks, or misuse"


CHECKS = {
    "test": of_test,
    "python": of_python,
    "kernel": of_kernel,
    "gate": of_gate,
    "explain": of_explain,
    "merge": of_merge,
    "wp": of_wp,
    "cbmc": of_cbmc,
    "coq": of_coq,
    "extract": of_extract,
    "eacsl": of_eacsl,
    "fuzz": of_fuzz,
    "mpi": of_mpi,
}


def of_record(fault: Fault) -> Iterator[str]:
    """What is wrong with a record by itself."""
    if "control" in fault.fields:
        wrong = of_control(fault, fault.said_by("control"))
        if wrong:
            yield f"control: {fault.fields['control']}: {wrong}"
        return
    if not fault.who:
        yield f"nobody must notice it: it needs one of {', '.join(who + ':' for who in WHO)}"
    words = {"test"} if fault.source.startswith(WORDS) else set()
    if not fault.clauses and not set(fault.who) <= WITHOUT_CLAUSE | words:
        yield "it has no `clause:`"
    yield from (
        f"clause: {clause}: spec/ has no such clause"
        for clause in fault.clauses
        if clause not in clauses()
    )
    yield from of_public(fault)
    for field, of in (("needs", "test"), ("wider", "explain")):
        if field in fault.fields and of not in fault.fields:
            yield f"`{field}:` is for `{of}:`, which it has not"
    for who in fault.who:
        wrong = CHECKS[who](fault, fault.said_by(who))
        if wrong:
            yield f"{who}: {fault.fields[who]}: {wrong} (a field `{who}:` says {WHO[who]})"


def without_control(faults: list[Fault]) -> Iterator[str]:
    """Units whose proofs must notice faults, and that have no change that means nothing."""
    controlled = {fault.said_by("control")[0] for fault in faults if "control" in fault.fields}
    first: dict[str, Fault] = {}
    for fault in faults:
        if "wp" in fault.fields:
            first.setdefault(fault.said_by("wp")[0], fault)
    for unit in sorted(first.keys() - controlled):
        fault = first[unit]
        yield f"{fault.place}: fault {fault.name}: the unit {unit} has no control (`control:`)"


def without_fault(faults: list[Fault]) -> Iterator[str]:
    """Units of which no proof must notice a fault."""
    units = {unit for unit, _ in proved()}
    for unit in sorted(units - {fault.proof[0] for fault in faults if "wp" in fault.fields}):
        yield f"proofs/wp/expected.txt: the unit {unit} has no fault that its proofs must notice"


def findings() -> tuple[list[Fault], list[str]]:
    """(the records, what is wrong with them)"""
    faults, found = read()
    names: dict[str, Fault] = {}
    texts: dict[tuple[str, str], Fault] = {}
    for fault in faults:
        if fault.name in names:
            found.append(
                f"{fault.place}: the name {fault.name} is taken: {names[fault.name].place} has it"
            )
        names.setdefault(fault.name, fault)
        found += [f"{fault.place}: fault {fault.name}: {wrong}" for wrong in of_record(fault)]
        if not (ROOT / fault.source).is_file():
            found.append(
                f"{fault.place}: fault {fault.name}: there is no {fault.source}; "
                "a file of the catalogue is called "
                "as the source that its faults change"
            )
            continue
        try:
            same = texts.setdefault((fault.source, fault.text()), fault)
        except Misfit as misfit:
            found.append(str(misfit))
            continue
        if same is not fault:
            found.append(
                f"{fault.place}: fault {fault.name} is the same change as {same.name}, "
                f"{same.place}: make one record "
                "of them, with the fields of both"
            )
    found += without_control(faults)
    found += without_fault(faults)
    return faults, found + ([] if found else list(out_of_date(faults)))


def main() -> int:
    records, found = findings()
    faults = [record for record in records if "control" not in record.fields]
    pairs = sum(len(fault.who) for fault in faults)
    sources = len({fault.source for fault in faults})
    print(
        "\n".join(
            [
                *found,
                f"faults {len(faults)} in {sources} sources, "
                "pairs of a fault and one who must notice it "
                f"{pairs}, controls {len(records) - len(faults)}, findings {len(found)}",
            ]
        )
    )
    return 1 if found else 0
