#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often `chunkproof explain` is right about mistakes that it was not written for.

usage: tests/explain_rate.py COMMAND [--keep DIRECTORY] [--jobs N] [--all] [NAME...]

Each fault that has words in tests/explain/grades is put into its kernel, the gate finds a case and
shrinks it, and explain says what the wrong numbers come from. Its first answer, with the
alternatives that give the same numbers, is graded by those words, which were written from the
change of each fault, not from what explain prints:

    NAMED       the answer says the mistake itself
    AREA        the answer names the right stage, array or phase, and not the mistake
    VAGUE       the answer says only that numbers are wrong, or nothing
    MISLEADING  the answer asserts another mistake, or a wider declaration, where that is not so

--keep DIRECTORY  kernels, cases and answers are left there; kernels and cases that are there
                  already are used again, so that two versions of explain answer for the same cases
--answers         grades the answers that --keep left, and runs nothing
--all             takes every fault that the gate must find of a kernel given as source; those
                  without words are counted by themselves

Faults of which the gate keeps no case leave nothing to explain: they are counted by themselves.
A run without --all and NAME is held to tests/explain/least: fewer NAMED or more MISLEADING than it
says is a finding. So is a NAME without words.
exit status: 0 measured, 1 a finding, 2 bad use
"""
import argparse
import concurrent.futures
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterable

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from faulting import gate_build  # noqa: E402
from faulting.catalogue import load  # noqa: E402

GRADES = ROOT / "tests" / "explain" / "grades"
LEAST = ROOT / "tests" / "explain" / "least"
LIMIT = 900  # seconds for a command
CUDA = ("--on", "executor")
FEW = ("--cases", "16", "--seconds", "20")  # on the executor of CUDA kernels
LONGER = ("--time", "600")  # so that a machine with other work does not change the answer
CLAIM = re.compile(r"as if |would be right if it declared|\bas of ")
# Lines that describe the case, and no cause.
DESCRIBES = re.compile(r"^    S\d|^  the sequences, with|^  shared, with|^    C\d|"
                       r"^  row \d+, head \d+ \(|"
                       r"^    \d+ of \d+ elements wrong|^    lse is .* and must be|^  wrong in |"
                       r"^  wrong are exactly|^  wrong, of these cases|^  or, which is the same|"
                       r"^  mistakes are tried|^  and V and where no key")


@dataclasses.dataclass
class Fault:
    """A single change of a kernel's source."""

    name: str
    file: str    # that is changed
    kernel: str  # that is compiled
    source: str  # of the file, changed


def catalogue() -> list[Fault]:
    """The faults of kernels given as source that the gate must find; those of
    versions are others'."""
    faults = []
    for record in load():
        if "gate" in record.who:
            kernel = gate_build.kernel_of(record)
            if not gate_build.is_version(kernel):
                faults.append(Fault(record.name, record.source, kernel, record.text()))
    return sorted(faults, key=lambda fault: fault.name)


def grades() -> dict[str, tuple[str, str]]:
    """Of each fault the words of NAMED and those of AREA."""
    words = {}
    for line in GRADES.read_text().replace("\n    ", " ").splitlines():
        if line and not line.startswith("#"):
            name, named, area = (part.strip() for part in line.split(" | "))
            words[name] = (named, area)
    return words


def least() -> dict[str, int]:
    """Of how many faults, NAMED at least, MISLEADING at most."""
    lines = [line.split() for line in LEAST.read_text().splitlines() if line[:1] not in ("", "#")]
    return {word: int(number) for word, number in lines}


def strays(words: Iterable[str], faults: Iterable[Fault]) -> list[str]:
    """Words of faults that are in no kernel."""
    known = {fault.name for fault in faults}
    return [f"tests/explain/grades: there is no fault {name}; take its words away, or rename them"
            for name in words if name not in known]


def chosen(faults: list[Fault], words: Container[str], names: list[str],
           every: bool) -> list[Fault]:
    """The faults with these names; without any, those with words, or every one."""
    return [fault for fault in faults
            if (fault.name in names if names else every or fault.name in words)]


def worse(counts: dict[str, int], limits: dict[str, int], n_words: int) -> list[str]:
    """Where a run of all faults with words falls behind tests/explain/least."""
    found = []
    if n_words != limits["FAULTS"]:
        found.append(f"{n_words} faults have words, and tests/explain/least is of "
                     f"{limits['FAULTS']}: measure, and write what you found there")
    if counts["NAMED"] < limits["NAMED"]:
        found.append(f"{counts['NAMED']} NAMED, and {limits['NAMED']} are the least: "
                     "see which fault explain named before")
    if counts["MISLEADING"] > limits["MISLEADING"]:
        found.append(f"{counts['MISLEADING']} MISLEADING, and {limits['MISLEADING']} are the most: "
                     "see which answer asserts what is not so")
    return found


def run(*command: object) -> tuple[int, str]:
    """Exit status and output; 124 where it takes too long."""
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                              errors="replace", timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return 124, ""
    return done.returncode, done.stdout + done.stderr


def build(fault: Fault, place: pathlib.Path,
          library: pathlib.Path) -> tuple[pathlib.Path, tuple[str, ...]]:
    """The kernel for the gate, and where it runs."""
    if fault.file.endswith(".cu"):
        (place / "kernel.cu").write_text(fault.source)
        return place / "kernel.cu", CUDA
    text = fault.source
    if fault.kernel != fault.file:
        (place / pathlib.Path(fault.file).name).write_text(text)
        text = (ROOT / fault.kernel).read_text()
    kernel = place / "kernel.so"
    if not kernel.exists() or (place / "kernel.c").read_text() != text:
        (place / "kernel.c").write_text(text)
        status, said = run("cc", "-O2", "-ffp-contract=off", "-shared", "-fPIC",
                           f"-I{ROOT}/include", f"-I{ROOT}/tests/gate", place / "kernel.c",
                           library, "-lm", "-o", kernel)
        if status != 0:
            raise SystemExit(f"{fault.name}: {said}")
    return kernel, ()


def explained(command: pathlib.Path, fault: Fault, place: pathlib.Path) -> str | None:
    """What explain says of the case that the gate keeps; None: it keeps none."""
    place.mkdir(parents=True, exist_ok=True)
    kernel, on = build(fault, place, command.parent / "libchunkproof.a")
    if not (place / "gate").exists():
        few = FEW if on else ()
        _, said = run(command, "gate", "--kernel", kernel, *on, *few, "--first", "--save",
                      place / "cases")
        (place / "gate").write_text(said)
    cases = sorted((place / "cases").glob("*.json"))
    if not cases:
        return None
    status, said = run(command, "explain", cases[0], "--kernel", kernel, *on, *LONGER)
    said += f"\nstatus {status}\n"
    (place / "answer").write_text(said)
    return said


def first_answer(text: str) -> str:
    """The first statement of a cause with its alternatives, without what describes the case."""
    _, marker, behind = text.partition("\n  the sequences, with")
    text = behind if marker else text.partition("\n\n")[2]
    text = re.split(r"\n  besides, |\n  also: |\nstatus ", text)[0]
    return "\n".join(line for line in text.splitlines() if not DESCRIBES.match(line))


def grade(answer: str, named: str, area: str) -> str:
    """One of the four."""
    flat = re.sub(r"\s+", " ", answer)
    if named != "-" and re.search(named, flat):
        return "NAMED"
    if area != "-" and re.search(area, flat):
        return "AREA"
    return "MISLEADING" if CLAIM.search(flat) else "VAGUE"


def answer_of(options: argparse.Namespace, fault: Fault) -> str | None:
    """Run, or as it was kept."""
    if options.answers:
        answer = pathlib.Path(options.keep) / fault.name / "answer"
        return answer.read_text() if answer.exists() else None
    if options.keep:
        return explained(options.command, fault, pathlib.Path(options.keep) / fault.name)
    with tempfile.TemporaryDirectory() as place:
        return explained(options.command, fault, pathlib.Path(place))


def main() -> int:
    """Prints a line for each fault, and the rates."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", type=pathlib.Path)
    parser.add_argument("--keep")
    parser.add_argument("--answers", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    options.command = options.command.absolute()
    words, known = grades(), catalogue()
    faults = chosen(known, words, options.names, options.all)
    absent = set(options.names) - {fault.name for fault in faults}
    if absent:
        parser.error(f"no fault of a kernel given as source: {' '.join(sorted(absent))}")
    found = strays(words, known)
    counts = dict.fromkeys(("NAMED", "AREA", "VAGUE", "MISLEADING", "NO CASE", "NO WORDS"), 0)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for fault, text in zip(faults, pool.map(lambda one: answer_of(options, one), faults)):
            what = "NO CASE" if text is None else "NO WORDS"
            if text is not None and fault.name in words:
                what = grade(first_answer(text), *words[fault.name])
            counts[what] += 1
            print(f"{what:10} {fault.name}", flush=True)
    graded = sum(counts[what] for what in ("NAMED", "AREA", "VAGUE", "MISLEADING"))
    print(f"\n{len(faults)} faults, {counts['NO CASE']} without a case to explain; "
          f"of the other {graded}:")
    for what in ("NAMED", "AREA", "VAGUE", "MISLEADING"):
        print(f"  {what:10} {counts[what]:4}  {100 * counts[what] / max(graded, 1):5.1f} %")
    if not options.all and not options.names:
        found += worse(counts, least(), len(words))
    elif counts["NO WORDS"] > 0 and not options.all:
        found.append(f"{counts['NO WORDS']} without words in tests/explain/grades: write them")
    for line in found:
        print(line)
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
