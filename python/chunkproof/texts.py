# SPDX-License-Identifier: Apache-2.0
"""What `yield` may say: literals, f-strings, parameters, constants, and sums of them (PROG-3)."""
import ast
import re
from collections.abc import Iterator

from .parts import Param, Part, Text
from .place import shown
from .values import Checker

MOST_NAMES = 10000  # constants that a text may be made of
NO_XML = re.compile("[^\t\n\r -\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
WRITE = "Write literals, f-strings with names in braces, and `+` between them."


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
        left: list[tuple[ast.expr, ast.expr | None, bool]] = [(node, None, False)]
        followed = 0
        while left:
            one, place, is_outer = left.pop()
            constant = self.named(one, is_outer)
            if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add):
                left += [(one.right, place, is_outer), (one.left, place, is_outer)]
            elif isinstance(one, ast.JoinedStr):
                left += [(value, place or one, is_outer) for value in reversed(one.values)]
            elif isinstance(one, ast.FormattedValue):
                left.append((self.inside(one, place or one), place, is_outer))
            elif constant is not None:
                followed += 1
                if followed > MOST_NAMES:
                    raise self.source.refuse(node, f"{shown(node)} is made of too many constants, "
                                             "or of itself. Write the text.")
                left.append((constant, place or one, True))
            else:
                yield self.piece(one, place or one, is_outer)

    def named(self, node: ast.expr, is_outer: bool) -> ast.expr | None:
        """The value of a constant at the top of the file, where no parameter hides it."""
        if not isinstance(node, ast.Name) or (not is_outer and node.id in self.checker.variables):
            return None
        return self.checker.bindings.value(node.id)

    def inside(self, node: ast.FormattedValue, place: ast.AST) -> ast.expr:
        if node.conversion != -1 or node.format_spec is not None:
            raise self.source.refuse(place, f"{shown(node.value)} has a conversion or a format, "
                                     "which would change an argument. Write the name alone in its "
                                     "braces.")
        return node.value

    def piece(self, node: ast.expr, place: ast.AST, is_outer: bool) -> Part:
        variable = None if is_outer else self.checker.variable(node)
        if variable is not None and variable.is_text:
            return Param(place, variable)
        if variable is not None:
            raise self.source.refuse(place, f"{variable.name} is a choice, and no text. Write "
                                     "`match` or `if` with a text for each of its values.")
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            wrong = NO_XML.search(node.value)
            if wrong is not None:
                raise self.source.refuse(place, f"the character U+{ord(wrong[0]):04X} cannot stand "
                                         "in XML. Remove it from the text.")
            return Text(node.value)
        if isinstance(node, ast.Name) and self.checker.bindings.is_twice(node.id):
            raise self.source.refuse(place, f"{node.id} is given more than one value in this file. "
                                     "Give it one, at the top of the file.")
        raise self.source.refuse(place, f"{shown(node)} is no text of a program. {WRITE}")
