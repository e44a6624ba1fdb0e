# SPDX-License-Identifier: Apache-2.0
"""A program's file, and places in it: FILE:LINE:COLUMN, both from 1, columns in characters
(PROG-7)."""
import ast
import difflib
import io
import os
import tokenize
import warnings
from collections.abc import Iterable

from .refusal import Refusal


class Source:
    """A file of Python as text and as a tree. Nothing of it is run."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.name = os.path.basename(path)
        self.text = self.decoded(data)
        self.lines = self.text.split("\n")
        self.tree = self.parsed()

    def decoded(self, data: bytes) -> str:
        """As Python reads it: by the encoding that it declares, else UTF-8."""
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            return io.TextIOWrapper(io.BytesIO(data), encoding).read()
        except (SyntaxError, UnicodeDecodeError, LookupError) as error:
            raise Refusal(f"{self.path}:1:1: this is no text in the encoding that the file "
                          f"declares ({error}). Save it as UTF-8.") from None

    def parsed(self) -> ast.Module:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # Some mistakes are found by no parser, such as a parameter that is there twice.
                compile(self.text, self.name, "exec", dont_inherit=True)
                return ast.parse(self.text, self.name)
        except SyntaxError as error:
            line, column = error.lineno or 1, max(error.offset or 1, 1)
            raise Refusal(f"{self.path}:{line}:{column}: this is no Python: {error.msg}. "
                          f"`python3 -m py_compile {self.path}` says more.") from None
        except ValueError as error:  # a NUL
            raise Refusal(f"{self.path}:1:1: this is no Python: {error}. "
                          "Save the file as text.") from None
        except (RecursionError, MemoryError):
            raise Refusal(f"{self.path}:1:1: the file nests too deep for Python. Write a long if "
                          "as match, and a long text as one literal.") from None

    def place(self, node: ast.AST) -> str:
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        before = self.lines[line - 1].encode("utf-8", "surrogatepass")[:offset]
        column = len(before.decode("utf-8", "surrogatepass")) + 1
        return f"{self.path}:{line}:{column}"

    def said(self, node: ast.AST, message: str) -> str:
        """What is wrong at the node, and how to mend it."""
        return f"{self.place(node)}: {message}"

    def refuse(self, node: ast.AST, message: str) -> Refusal:
        """To be raised."""
        return Refusal(self.said(node, message))


def shown(node: ast.AST) -> str:
    """An expression as it may be written, in a line of a message."""
    try:
        text = " ".join(ast.unparse(node).split())
    except (RecursionError, ValueError):
        text = "this"
    return text if len(text) <= 60 else text[:57] + "..."


def nearest(value: object, known: Iterable[object]) -> str:
    words = {str(one): one for one in known}
    near = difflib.get_close_matches(str(value), words, n=1)
    return f" Did you mean {words[near[0]]!r}?" if near else ""
