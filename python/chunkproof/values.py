# SPDX-License-Identifier: Apache-2.0
"""Conditions and arguments of a program: what they may be, and their values (PROG-3, PROG-5)."""
import ast
from collections.abc import Iterable, Mapping
from typing import TypeGuard

from .bindings import Bindings
from .parts import Value, Variable
from .place import Source, nearest, shown

EQUAL, IN = (ast.Eq, ast.NotEq), (ast.In, ast.NotIn)
NAMES = (ast.Name, ast.Attribute)  # NAME, and FILE.NAME of another file


def listed(values: Iterable[object]) -> str:
    return ", ".join(map(repr, values))


def is_value(value: object) -> TypeGuard[Value]:
    """Python does not write larger numbers in digits."""
    return isinstance(value, (str, bool)) or isinstance(value, int) and value < 2**63


def has(values: Iterable[Value], value: object) -> bool:
    """Unlike Python's, 1 is not True."""
    return any(type(one) is type(value) and one == value for one in values)


class Checker:
    """What an expression may be where variables have these meanings."""

    def __init__(self, source: Source, bindings: Bindings,
                 variables: Mapping[str, Variable]) -> None:
        self.source = source
        self.bindings = bindings
        self.variables = variables

    def variable(self, node: ast.expr) -> Variable | None:
        return self.variables.get(node.id) if isinstance(node, ast.Name) else None

    def hides(self, node: ast.expr) -> bool:
        """Whether `name` or `name.other` begins with a parameter."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return self.variable(node) is not None

    def constant(self, node: ast.expr) -> Value | None:
        """The value of a literal, or of a name at the top of a file; None: it is neither."""
        if self.hides(node):
            return None
        bindings = self.bindings
        for _ in range(64):  # NAME = OTHER, where OTHER = ...
            if not isinstance(node, NAMES):
                break
            value = bindings.value(node)
            if value is None:
                return None
            node, bindings = value
        return node.value if isinstance(node, ast.Constant) and is_value(node.value) else None

    def condition(self, node: ast.expr, depth: int = 0) -> ast.expr:
        """Itself with constants as literals, when it is one."""
        if depth > 64:
            raise self.source.refuse(node, "this condition nests too deep. Divide it.")
        if isinstance(node, ast.BoolOp):
            return ast.BoolOp(node.op, [self.condition(one, depth + 1) for one in node.values])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ast.UnaryOp(node.op, self.condition(node.operand, depth + 1))
        if isinstance(node, ast.Compare):
            return self.comparison(node)
        return self.operand(node)

    def comparison(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) > 1:
            raise self.source.refuse(node, f"{shown(node)} compares more than two. Join "
                                     "comparisons with `and`.")
        left, operator, right = self.operand(node.left), node.ops[0], node.comparators[0]
        if isinstance(operator, EQUAL):
            right = self.operand(right)
            self.compared(node, left, right)
            self.compared(node, right, left)
        elif isinstance(operator, IN) and isinstance(right, (ast.Tuple, ast.List, ast.Set)):
            right = ast.Tuple([self.operand(one) for one in right.elts], ast.Load())
            for one in right.elts:
                self.compared(node, left, one)
        else:
            raise self.source.refuse(node, f"{shown(node)} is no condition of a program. It may "
                                     "have `==`, `!=`, or `in` with values in brackets.")
        return ast.Compare(left, [operator], [right])

    def compared(self, node: ast.AST, one: ast.expr, other: ast.expr) -> None:
        """A value that the variable never has is a mistake."""
        variable = self.variable(one)
        if variable is None or not isinstance(other, ast.Constant):
            return
        if variable.is_text:
            known = isinstance(other.value, str)
        else:
            known = has(variable.values, other.value)
        if not known:
            values = "a text" if variable.is_text else f"one of {listed(variable.values)}"
            raise self.source.refuse(node, f"{variable.name} is never {other.value!r}: it is "
                                     f"{values}.{nearest(other.value, variable.values)} Correct "
                                     "the value, or its type.")

    def operand(self, node: ast.expr) -> ast.expr:
        if self.variable(node) is not None:
            return node
        value = self.constant(node)
        if value is None:
            raise self.source.refuse(node, f"{shown(node)} is no condition of a program. It is "
                                     "made of parameters, literals, `==`, `!=`, `in`, `and`, `or` "
                                     "and `not`. Give another one by a bool parameter.")
        return ast.copy_location(ast.Constant(value), node)

    def is_bool(self, node: ast.expr) -> bool:
        """Of what condition() gave."""
        if isinstance(node, ast.BoolOp):
            return all(map(self.is_bool, node.values))
        if isinstance(node, ast.Constant):
            return isinstance(node.value, bool)
        variable = self.variable(node)
        return variable is None or variable.is_flag


def value_of(node: ast.expr, arguments: Mapping[str, Value]) -> Value:
    """Of what a Checker gave, as Python computes it."""
    if isinstance(node, ast.Name):
        return arguments[node.id]
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, (str, bool, int))
        return node.value
    if isinstance(node, ast.UnaryOp):
        return not value_of(node.operand, arguments)
    if isinstance(node, ast.BoolOp):
        if isinstance(node.op, ast.And):
            return all(value_of(one, arguments) for one in node.values)
        return any(value_of(one, arguments) for one in node.values)
    assert isinstance(node, ast.Compare)
    left, right = value_of(node.left, arguments), node.comparators[0]
    if isinstance(right, ast.Tuple):
        found = any(left == value_of(one, arguments) for one in right.elts)
    else:
        found = left == value_of(right, arguments)
    return found != isinstance(node.ops[0], (ast.NotEq, ast.NotIn))
