# SPDX-License-Identifier: Apache-2.0
"""A librarian who suggests a book to one kind of reader, as a conversation with roles."""
from collections.abc import Iterator
from typing import Literal

from chunkproof.program import assistant, module, prompt, system, user

Age = Literal["child", "student", "adult"]


@prompt(name=6)
def profile(age: Age, name: str, likes_history: bool) -> Iterator[str]:
    yield f"The reader is called {name}."
    if age == "child":
        yield " A child reads short chapters, and wants pictures."
    elif age == "student":
        yield " A student has little time, and likes to be surprised."
    else:
        with module("grown-up"):
            yield " A grown-up has read much, and wants something new."
    if likes_history:
        yield " Old times are welcome."


@prompt("library", name=6, wish=40)
def suggest(age: Age, name: str, wish: str, likes_history: bool = False) -> Iterator[str]:
    with system:
        yield "You are a librarian. You suggest one book, and say in a sentence why."
    with user:
        yield from profile(age, name, likes_history=likes_history)
    with assistant:
        yield "I know what to look for."
    with user:
        yield wish
