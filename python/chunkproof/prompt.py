# SPDX-License-Identifier: Apache-2.0
"""Writes the prompt that arguments of a prompt program make (spec/programs.md).

    python3 -m chunkproof.prompt PROGRAM.py [NAME=VALUE]... [--function NAME] [-o PROMPT.xml]

It imports those modules of the program's schema whose conditions hold. Exit status 0 written, 2 bad
use, a program or an argument that is not taken, or output that cannot be written.
"""
import argparse
import sys

from .calls import of_words
from .command import begin, refused, write
from .compiler import read
from .markup import prompt_of
from .refusal import Refusal


def main(arguments: list[str] | None = None) -> int:
    begin()
    parser = argparse.ArgumentParser(
        prog="python3 -m chunkproof.prompt", allow_abbrev=False,
        description="Writes the prompt that arguments of a prompt program make. Its schema is "
                    "that of `python3 -m chunkproof.schema`.",
        epilog="exit status: 0 written, 2 bad use, a program or an argument that is not taken, or "
               "output that cannot be written")
    parser.add_argument("program", metavar="PROGRAM.py")
    parser.add_argument("arguments", metavar="NAME=VALUE", nargs="*",
                        help="a text; of a bool true or false")
    parser.add_argument("--function", metavar="NAME",
                        help="the program; default: the one that no other one calls")
    parser.add_argument("-o", "--output", metavar="PROMPT.xml", help="default: standard output")
    given = parser.parse_intermixed_args(arguments)
    try:
        program = read(given.program, given.function)
        write(prompt_of(program, of_words(program, given.arguments)), given.output, program.files)
    except Refusal as refusal:
        return refused(refusal)
    return 0


if __name__ == "__main__":
    sys.exit(main())
