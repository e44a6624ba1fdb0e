# SPDX-License-Identifier: Apache-2.0
"""The head of a program: its decorator, and its parameters with their types (PROG-3)."""
import ast
from collections.abc import Iterator

from .bindings import Bindings
from .names import OF_MODULES, is_name
from .parts import Value, Variable
from .place import Source, nearest, shown
from .values import NAMES, Checker, has, is_value, listed

LITERAL = ("typing.Literal", "typing_extensions.Literal")
MOST_TOKENS = 1048576  # CP_MAX_POSITIONS
TYPES = ("str (with a length), bool, or Literal[...] of texts or of whole numbers from 0 to "
         "2^63 - 1")


def decorator_of(bindings: Bindings,
                 node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.expr | None:
    """@prompt or @prompt(...); None: the function is no program."""
    for one in node.decorator_list:
        if bindings.ours(one.func if isinstance(one, ast.Call) else one) == "prompt":
            return one
    return None


def programs_of(bindings: Bindings) -> dict[str, tuple[ast.FunctionDef, ast.expr]]:
    """The functions with @prompt of a file, and their decorators."""
    source = bindings.source
    found: dict[str, tuple[ast.FunctionDef, ast.expr]] = {}
    top = set(map(id, source.tree.body))
    for node in ast.walk(source.tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        decorator = decorator_of(bindings, node)
        if decorator is None:
            continue
        if isinstance(node, ast.AsyncFunctionDef):
            raise source.refuse(node, f"{node.name} is async: nothing in a program waits. "
                                "Remove async.")
        if id(node) not in top:
            raise source.refuse(node, f"{node.name} is inside of something else, which may "
                                "never run. Move it to the top of the file.")
        if bindings.is_twice(node.name):
            raise source.refuse(node, f"{node.name} has another meaning elsewhere in the "
                                "file. Give one of the two another name.")
        found[node.name] = node, decorator
    return found


class Signature:
    """Of one function."""

    def __init__(self, source: Source, bindings: Bindings, node: ast.FunctionDef,
                 decorator: ast.expr) -> None:
        self.source, self.bindings, self.node = source, bindings, node
        self.checker = Checker(source, bindings, {})
        self.name = node.name
        for other in node.decorator_list:
            if other is not decorator:
                raise source.refuse(other, f"{node.name} has another decorator, which may change "
                                    "what it says. A program has @prompt alone.")
        self.lengths: dict[str, tuple[ast.keyword, int]] = {}
        if isinstance(decorator, ast.Call):
            self.read_decorator(decorator)
        self.variables = {one.name: one for one in self.read()}
        for name, (keyword, _) in self.lengths.items():
            if name not in self.variables:
                raise source.refuse(keyword, f"{name} is no parameter of {node.name}, and has no "
                                    f"length.{nearest(name, self.variables)} Remove it.")
            if not self.variables[name].is_text:
                raise source.refuse(keyword, f"{name} is no text, and has no length. Remove it.")

    def read_decorator(self, call: ast.Call) -> None:
        for argument in call.args:
            name = self.checker.constant(argument)
            if len(call.args) > 1 or not isinstance(name, str) or not is_name(name, OF_MODULES):
                raise self.source.refuse(argument, f"{shown(argument)} is no name that PML lets a "
                                         "module have (PML-3). Write it as one literal of "
                                         "letters, digits, `-`, `.` and `_`.")
            self.name = name
        for keyword in call.keywords:
            length = self.checker.constant(keyword.value)
            if keyword.arg is None:
                raise self.source.refuse(keyword, "lengths behind ** cannot be seen. Write "
                                         "NAME=TOKENS for each.")
            if type(length) is not int or not 1 <= length <= MOST_TOKENS:
                raise self.source.refuse(keyword, f"the length of {keyword.arg} is a number of "
                                         f"tokens from 1 to {MOST_TOKENS}, not "
                                         f"{shown(keyword.value)}. Write it as a literal.")
            self.lengths[keyword.arg] = keyword, length

    def read(self) -> Iterator[Variable]:
        arguments = self.node.args
        for star in (arguments.vararg, arguments.kwarg):
            if star is not None:
                raise self.source.refuse(star, f"any number of arguments ({star.arg}) makes no "
                                         "fixed number of modules. Name each parameter.")
        places = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(places) - len(arguments.defaults))
        pairs = [*zip(places, [*defaults, *arguments.defaults]),
                 *zip(arguments.kwonlyargs, arguments.kw_defaults)]
        for node, default in pairs:
            yield self.variable(node, default)

    def variable(self, node: ast.arg, default: ast.expr | None) -> Variable:
        values = self.values(node)
        length = 0
        if not values:
            if node.arg not in self.lengths:
                raise self.source.refuse(node, f"the text {node.arg} has no length. Write "
                                         f"@prompt({node.arg}=N) above the function, N the most "
                                         "tokens that it may have.")
            length = self.lengths[node.arg][1]
        return Variable(node.arg, node, length, values, self.default(node, default, values))

    def values(self, node: ast.arg) -> tuple[Value, ...]:
        kind, bindings = node.annotation, self.bindings
        if isinstance(kind, NAMES):  # Age = Literal["child", "adult"]
            kind, bindings = bindings.value(kind) or (kind, bindings)
        if isinstance(kind, ast.Name) and kind.id in ("str", "bool") and \
                not bindings.is_bound(kind.id):
            return () if kind.id == "str" else (False, True)
        if isinstance(kind, ast.Subscript) and \
                bindings.origin_of(kind.value) in LITERAL:
            inner = kind.slice
            literals = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            values = [one.value for one in literals if isinstance(one, ast.Constant)
                      and is_value(one.value) and not isinstance(one.value, bool)]
            if len(values) == len(literals) > 0 and len({type(one) for one in values}) == 1:
                return tuple(dict.fromkeys(values))
        said = "has no type" if kind is None else f"has the type {shown(kind)}"
        raise self.source.refuse(node, f"{node.arg} {said}. A parameter of a program is "
                                 f"{TYPES}.")

    def default(self, node: ast.arg, default: ast.expr | None,
                values: tuple[Value, ...]) -> Value | None:
        if default is None:
            return None
        value = self.checker.constant(default)
        if value is None or not (has(values, value) if values else isinstance(value, str)):
            wanted = f"one of {listed(values)}" if values else "a literal text"
            raise self.source.refuse(default, f"{node.arg} is {wanted}, and not "
                                     f"{shown(default)}. Correct the default.")
        return value
