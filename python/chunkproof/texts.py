# SPDX-License-Identifier: Apache-2.0
"""What `yield` may say: literals, f-strings, parameters, constants, and sums of them (PROG-3)."""
import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .bindings import Bindings
from .parts import Param, Part, Text
from .place import shown
from .refusal import Refusal
from .values import NAMES, Checker

MOST_NAMES = 10000  # constants that a text may be made of
NO_XML = re.compile("[^\t\n\r -\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
WRITE = "Write literals, f-strings with names in braces, and `+` between them."


@dataclass(frozen=True)
class Piece:
    """A part of a text. `place`: what its messages point at, if that is not the node itself. Of a
    constant, `outer` is the file with its value, where parameters mean nothing, and `use` what in
    the program's own file stands for it, if that is another file."""
    node: ast.expr
    place: ast.expr | None = None
    outer: Bindings | None = None
    use: ast.expr | None = None

    @property
    def at(self) -> ast.expr:
        return self.place or self.node


class Texts:
    """Where variables have the meanings of a checker."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        self.source = checker.source

    def parts(self, node: ast.expr) -> list[Part]:
        """Texts side by side are one; none is empty."""
        parts: list[Part] = []
        for part in self.pieces(node):
            if isinstance(part, Text) and parts and isinstance(parts[-1], Text):
                parts[-1] = Text(parts[-1].text + part.text)
            elif not isinstance(part, Text) or part.text:
                parts.append(part)
        return parts

    def constant(self, node: ast.expr) -> str | None:
        """A text without parameters; None: it has some."""
        parts = self.parts(node)
        if not parts:
            return ""
        return parts[0].text if len(parts) == 1 and isinstance(parts[0], Text) else None

    def pieces(self, node: ast.expr) -> Iterator[Part]:
        """Each with its place: an operand of `+` is its own, what is in an f-string has none."""
        left = [Piece(node)]
        followed = 0
        while left:
            one = left.pop()
            inner, constant = one.node, self.named(one)
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add):
                left += [replace(one, node=inner.right), replace(one, node=inner.left)]
            elif isinstance(inner, ast.JoinedStr):
                left += [replace(one, node=value, place=one.at)
                         for value in reversed(inner.values)]
            elif isinstance(inner, ast.FormattedValue):
                left.append(replace(one, node=self.inside(one, inner)))
            elif constant is not None:
                followed += 1
                if followed > MOST_NAMES:
                    raise self.source.refuse(node, f"{shown(node)} is made of too many constants, "
                                             "or of itself. Write the text.")
                left.append(self.followed(one, *constant))
            else:
                yield self.piece(one)

    def named(self, one: Piece) -> tuple[ast.expr, Bindings] | None:
        """The value of a constant at the top of a file, where no parameter hides it."""
        if not isinstance(one.node, NAMES) or (not one.outer and self.checker.hides(one.node)):
            return None
        return (one.outer or self.checker.bindings).value(one.node)

    def followed(self, one: Piece, value: ast.expr, file: Bindings) -> Piece:
        """The value of a constant. In another file, messages point at a place of that one."""
        if file is (one.outer or self.checker.bindings):
            return Piece(value, one.at, file, one.use)
        return Piece(value, None, file, one.use or one.at)

    def refuse(self, one: Piece, message: str) -> Refusal:
        """In the file where it stands."""
        use = "" if one.use is None else f" {self.source.place(one.use)} uses it."
        return (one.outer or self.checker.bindings).source.refuse(one.at, f"{message}{use}")

    def inside(self, one: Piece, node: ast.FormattedValue) -> ast.expr:
        if node.conversion != -1 or node.format_spec is not None:
            raise self.refuse(one, f"{shown(node.value)} has a conversion or a format, which would "
                              "change an argument. Write the name alone in its braces.")
        return node.value

    def piece(self, one: Piece) -> Part:
        node, variable = one.node, None if one.outer else self.checker.variable(one.node)
        if variable is not None and variable.is_text:
            return Param(one.at, variable)
        if variable is not None:
            raise self.refuse(one, f"{variable.name} is a choice, and no text. Write `match` or "
                              "`if` with a text for each of its values.")
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            wrong = NO_XML.search(node.value)
            if wrong is not None:
                raise self.refuse(one, f"the character U+{ord(wrong[0]):04X} cannot stand in XML. "
                                  "Remove it from the text.")
            return Text(node.value)
        bindings = one.outer or self.checker.bindings
        if isinstance(node, ast.Name) and bindings.is_twice(node.id):
            raise self.refuse(one, f"{node.id} is given more than one value in this file. Give it "
                              "one, at the top of the file.")
        raise self.refuse(one, f"{shown(node)} is no text of a program. {WRITE}")
