# SPDX-License-Identifier: Apache-2.0
"""A seeded fault: a file NAME.fault with fields, the text as it stands, exactly once, in a source
file, and the text to put in its place.

    clause: TREE-11
    file: ref/tree.c
    ---- right
    ...
    ---- wrong
    ...
"""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Misfit(Exception):
    """The fault file is malformed, or does not fit the sources any more."""


def read_fault(path, needed):
    """Returns the fields and the whole source file with the fault in it."""
    head, _, rest = path.read_text().partition("---- right\n")
    right, separator, wrong = rest.partition("---- wrong\n")
    right, wrong = right.removesuffix("\n"), wrong.removesuffix("\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    if not separator or not set(needed) <= fields.keys():
        raise Misfit(f"{path}: needs {', '.join(n + ':' for n in needed)} ---- right and ---- wrong")
    source = (ROOT / fields["file"]).read_text()
    if source.count(right) != 1:
        raise Misfit(f"{path}: its text stands {source.count(right)} times in {fields['file']}, "
                     "not once: bring the fault up to date")
    return fields, source.replace(right, wrong)
