#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many mistakes `chunkproof explain` identifies: each fault of tests/explain/ is put into a
kernel, the gate finds a case and makes it smaller, and what explain says first of that case must
have the words of the fault.

    tests/explain_faults.py COMMAND [--show] [NAME...]

--show prints all that is said, also of faults that are identified.

A fault is a file as those of tests/gate/faults, with `says:` in place of `clause:`, and as many
replacements as it takes. A wider declaration may be said only where a field `wider:` has it that
the fault is one of rounding. The last line counts those that are identified; a fault that is not
fails the test.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAULTS = ROOT / "tests" / "explain"
WIDER = "its results would be right if it declared"
LIMIT = 900  # seconds for a command
LONGER = ("--time", "600")  # so that a machine with other work does not change the answer


def with_fault(path: pathlib.Path) -> tuple[dict[str, str], str]:
    """The fields, and the source with the fault in it."""
    head, *places = path.read_text().split("---- right\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    source = (ROOT / fields["file"]).read_text()
    for place in places:
        right, wrong = (text.rstrip("\n") for text in place.split("---- wrong\n"))
        if source.count(right) != 1:
            raise SystemExit(f"{path}: its text stands {source.count(right)} times in "
                             f"{fields['file']}: {right}")
        source = source.replace(right, wrong)
    return fields, source


def run(*command: object) -> tuple[int, str]:
    """Exit status and output."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          errors="replace", timeout=LIMIT, check=False)
    return done.returncode, done.stdout + done.stderr


def explained(chunkproof: str, source: str) -> str:
    """What explain says of the case that the gate keeps of this kernel."""
    with tempfile.TemporaryDirectory() as place:
        kernel = pathlib.Path(place) / "kernel.so"
        library = pathlib.Path(chunkproof).parent / "libchunkproof.a"
        (pathlib.Path(place) / "kernel.c").write_text(source)
        status, said = run("cc", "-O2", "-shared", "-fPIC", f"-I{ROOT}/include",
                           f"-I{ROOT}/tests/gate", "-o", kernel, f"{place}/kernel.c", library,
                           "-lm")
        if status != 0:
            return said
        status, said = run(chunkproof, "gate", "--kernel", kernel, "--first", "--save",
                           f"{place}/cases")
        cases = sorted(pathlib.Path(place, "cases").glob("*.json"))
        if status != 1 or not cases:
            return f"the gate keeps no case:\n{said}"
        return run(chunkproof, "explain", cases[0], "--kernel", kernel, *LONGER)[1]


def first_answer(text: str) -> str:
    """Without what is said of the numbers that are left, and of other things beside."""
    return re.split(r"\n  besides, |\n  also: ", text)[0]


def try_one(chunkproof: str, path: pathlib.Path) -> tuple[bool, str, str]:
    """Whether it is identified, its words, and all that is said."""
    fields, source = with_fault(path)
    text = explained(chunkproof, source)
    answer = first_answer(text)
    is_identified = fields["says"] in answer and (WIDER not in answer or "wider" in fields)
    return is_identified, fields["says"], text


def main() -> int:
    """Prints a line for each fault; 1 where one is not identified."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--show"]
    chunkproof = os.path.abspath(arguments[0])
    paths = sorted(FAULTS.glob("*.fault"))
    if arguments[1:]:
        paths = [path for path in paths if path.stem in arguments[1:]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda path: try_one(chunkproof, path), paths)
        identified = 0
        for path, (is_identified, words, text) in zip(paths, results):
            identified += is_identified
            print(f"{'ok' if is_identified else 'not ok'} - {path.stem}: {words}", flush=True)
            if not is_identified or "--show" in sys.argv:
                print("\n".join("# " + line for line in text.splitlines()), flush=True)
    print(f"identified: {identified} of {len(paths)}")
    return 0 if paths and identified == len(paths) else 1


if __name__ == "__main__":
    sys.exit(main())
