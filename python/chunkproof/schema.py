# SPDX-License-Identifier: Apache-2.0
"""Writes the schema of a prompt program (spec/programs.md). It and the files beside it that it
imports are read, and never run.

    python3 -m chunkproof.schema PROGRAM.py [--function NAME] [-o SCHEMA.xml]

Exit status 0 written, 2 bad use, a program that is not taken, or output that cannot be written. The
message says FILE:LINE:COLUMN: what, and how to mend it.
"""
import argparse
import sys

from .command import begin, refused, write
from .compiler import read
from .markup import schema_of
from .refusal import Refusal


def main(arguments: list[str] | None = None) -> int:
    begin()
    parser = argparse.ArgumentParser(
        prog="python3 -m chunkproof.schema", allow_abbrev=False,
        description="Writes the schema of a prompt program: a file of Python with a function that "
                    "has @prompt of chunkproof.program. It and the files beside it that it imports "
                    "are read, and never run.",
        epilog="exit status: 0 written, 2 bad use, a program that is not taken, or output that "
               "cannot be written")
    parser.add_argument("program", metavar="PROGRAM.py")
    parser.add_argument("--function", metavar="NAME",
                        help="the program; default: the one that no other one calls")
    parser.add_argument("-o", "--output", metavar="SCHEMA.xml", help="default: standard output")
    given = parser.parse_args(arguments)
    try:
        program = read(given.program, given.function)
        write(schema_of(program), given.output, program.files)
    except Refusal as refusal:
        return refused(refusal)
    return 0


if __name__ == "__main__":
    sys.exit(main())
