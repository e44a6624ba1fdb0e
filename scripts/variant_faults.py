#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The seeded faults of each variant of attention: the columns `faults` of spec/variants.md and of
spec/README.md. scripts/traceability.py checks and writes them, too.

    scripts/variant_faults.py            checks that they are up to date
    scripts/variant_faults.py --write    writes them

A fault is about a variant when it breaks one of the variant's clauses. For bfloat16 in CUDA these
would be all that numbers have: there it is a fault of kernels/ that the gate must notice in
bfloat16, or whose name says so.

Exit status: 0 all right, 1 a finding, 2 bad use.
"""
import re
import sys

from clauses import ROOT
from faulting import catalogue
from faulting.catalogue import Fault

VARIANTS = ROOT / "spec" / "variants.md"
README = ROOT / "spec" / "README.md"
IN_CUDA = "bfloat16 in CUDA"
LIST = re.compile(r"([A-Z]+)-([0-9]+)((?:(?:, | \.\. | to )(?:\1-)?[0-9]+)*)")


def clauses_of(cell: str) -> list[str]:
    """`X-1, 2` is X-1 and X-2; `X-1 to X-12`, `X-1 to 12` and `X-1 .. 12` have all between."""
    found = []
    for family, first, more in LIST.findall(cell):
        numbers = [int(first)]
        for word, number in re.findall(r"(, | \.\. | to )(?:[A-Z]+-)?([0-9]+)", more):
            begin = int(number) if word == ", " else numbers[-1] + 1
            numbers += range(begin, int(number) + 1)
        found += [f"{family}-{number}" for number in numbers]
    return found


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if line[:1] == "|" else []


def is_bfloat_in_cuda(fault: Fault) -> bool:
    return fault.source.startswith("kernels/") and (
        "bfloat" in fault.name or "bf16" in fault.fields.get("gate", "").split())


def count(faults: list[Fault], variant: str, clauses: list[str]) -> int:
    if variant == IN_CUDA:
        return sum(is_bfloat_in_cuda(fault) for fault in faults)
    return sum(not set(clauses).isdisjoint(fault.clauses) for fault in faults)


def counted(text: str, faults: list[Fault]) -> str:
    """The page with these numbers in each table whose last column is `faults`. A row has its
    clauses itself, or the row of the same number in a table that comes before."""
    lines, said, inside = text.split("\n"), dict[str, tuple[str, str]](), False
    for at, line in enumerate(lines):
        cells = cells_of(line)
        if not cells or set(line) <= set("|- "):
            inside = inside and bool(cells)
            continue
        if cells[-1] == "faults":
            inside = True
        elif not inside and cells[0].isdigit():
            said[cells[0]] = cells[1], cells[2]
        elif inside:
            variant, clauses = said.get(cells[0], (cells[0], cells[1]))
            number = count(faults, variant, clauses_of(clauses))
            lines[at] = "| " + " | ".join([*cells[:-1], str(number)]) + " |"
    return "\n".join(lines)


def out_of_date(write: bool) -> list[str]:
    """What is said of each page that has other numbers; none, once they are written."""
    faults, found = catalogue.load(), []
    for page in (VARIANTS, README):
        text = page.read_text(encoding="utf-8")
        new = counted(text, faults)
        if new != text and write:
            page.write_text(new, encoding="utf-8")
        elif new != text:
            found.append(f"spec/{page.name}: other numbers of faults: "
                         "scripts/variant_faults.py --write")
    return found


def main() -> int:
    if sys.argv[1:] not in ([], ["--write"]):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    try:
        found = out_of_date(bool(sys.argv[1:]))
    except catalogue.Misfit as misfit:
        found = [str(misfit)]
    print("\n".join([*found, f"findings {len(found)}"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
