# SPDX-License-Identifier: Apache-2.0
"""What a prompt program imports (spec/programs.md). It is plain Python, and runs as such:

    @prompt(duration=4)
    def travel(duration: str, overseas: bool) -> Iterator[str]:
        yield f"Plan a trip of {duration}."
        if overseas:
            yield "Take a passport along."

    text = "".join(travel("3 days", overseas=True))

`python3 -m chunkproof.schema` reads the same file and writes its schema; it does not run it. Texts
that several programs share stand in a file beside them, which they import.
"""
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import ParamSpec, overload

P = ParamSpec("P")
Program = Callable[P, Iterator[str]]

# Who says what is in the block: `with user:`. A model's template decides what that adds (PML-8).
system: AbstractContextManager[None] = nullcontext()
user: AbstractContextManager[None] = nullcontext()
assistant: AbstractContextManager[None] = nullcontext()


def module(name: str) -> AbstractContextManager[None]:
    """`with module("visa"):` is a module with this name (PROG-4)."""
    return nullcontext()


@overload
def prompt(program: Program[P], /) -> Program[P]: ...


@overload
def prompt(name: str = ..., /, **lengths: int) -> Callable[[Program[P]], Program[P]]: ...


def prompt(program: Program[P] | str = "", /,
           **lengths: int) -> Program[P] | Callable[[Program[P]], Program[P]]:
    """Makes a generator function a prompt program, and changes nothing of it.

    A text in front is its name in PML. `lengths` are the most tokens of each parameter that is a
    str.
    """
    if isinstance(program, str):
        return lambda decorated: decorated
    return program
