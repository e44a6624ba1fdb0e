# SPDX-License-Identifier: Apache-2.0
"""What the names at the top of a file mean, as far as that can be seen without running it: a name
that is bound once is a function, an import or a constant; one that is bound twice is nothing.
An import of a file beside this one is followed (PROG-8)."""
import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from .place import Source, nearest
from .refusal import Refusal

HOME = "chunkproof.program."
OWN = frozenset((*sys.stdlib_module_names, "chunkproof"))  # modules that are never a file beside
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def outer(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes that run when the file is imported, but for insides of classes."""
    left: list[ast.AST] = list(reversed(tree.body))
    while left:
        node = left.pop()
        yield node
        is_type_alone = isinstance(node, ast.AnnAssign) and node.value is None
        if not isinstance(node, FUNCTIONS) and not is_type_alone:
            left.extend(reversed(list(ast.iter_child_nodes(node))))


def bound_by(node: ast.AST) -> Iterator[str]:
    """The names that a node gives a meaning, but for imports."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


@dataclass(frozen=True)
class Imported:
    """A name that an import binds. `module`: as it is written there, with its dots; `member`: what
    it takes of that; empty: the module itself."""
    alias: ast.alias
    module: str
    member: str

    @property
    def file(self) -> str:
        """The module that would be a file beside this one: shared of `shared` and of `.shared`;
        empty: none would."""
        name = self.module.removeprefix(".")
        return "" if "." in name else name


def imports_of(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Imported]]:
    """Each name, and what it is."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            name, module = alias.asname or alias.name, "." * node.level + (node.module or "")
            yield name, (Imported(alias, module, alias.name) if node.module or node.level != 1 else
                         Imported(alias, f".{alias.name}", ""))
        else:
            yield alias.asname or alias.name.split(".")[0], Imported(alias, alias.name, "")


@dataclass(frozen=True)
class Meaning:
    """Of a name. In a file that is read, `name` is bound there once, or is empty for the file
    itself; outside, it is a path with dots, and `why`, unless it is empty, refuses it."""
    bindings: "Bindings | None"
    name: str
    why: str = field(default="", compare=False)


class Finder(Protocol):
    """Files of a program: files.py."""

    def beside(self, one: Imported, by: "Bindings") -> "Bindings | None":
        """The file that is imported; None: there is none beside the one that imports it."""


class Bindings:
    """Of a file. Lookups give None for what is not there, or is bound more than once."""

    def __init__(self, source: Source, files: Finder) -> None:
        self.source = source
        self.files = files
        self.nodes: dict[str, list[ast.AST | Imported]] = {}
        self.constants: dict[str, ast.expr] = {}
        for node in outer(source.tree):
            for name in bound_by(node):
                self.nodes.setdefault(name, []).append(node)
            if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
                raise source.refuse(node, "with `import *` nobody sees what names mean. Import "
                                    "names one by one.")
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for name, one in imports_of(node):
                    self.nodes.setdefault(name, []).append(one)
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                self.constant(node.targets[0], node.value)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self.constant(node.target, node.value)
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Global):
                for name in node.names:
                    self.nodes.setdefault(name, []).append(node)

    def constant(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.constants[target.id] = value

    def is_bound(self, name: str) -> bool:
        return name in self.nodes

    def is_twice(self, name: str) -> bool:
        return len(self.nodes.get(name, ())) > 1

    def imports(self) -> Iterator[Imported]:
        return (one for nodes in self.nodes.values() for one in nodes if isinstance(one, Imported))

    # ---- Meanings ----

    def meaning(self, expression: ast.expr) -> Meaning | None:
        """Of `prompt`, or of `program.prompt`."""
        if isinstance(expression, ast.Name):
            return self.named(expression.id)
        inner = self.meaning(expression.value) if isinstance(expression, ast.Attribute) else None
        if inner is None or not isinstance(expression, ast.Attribute):
            return None
        if inner.bindings is None:
            return Meaning(None, f"{inner.name}.{expression.attr}", inner.why)
        return None if inner.name else inner.bindings.member(expression.attr, self, expression)

    def named(self, name: str) -> Meaning | None:
        nodes = self.nodes.get(name, [])
        imported = [one for one in nodes if isinstance(one, Imported)]
        if not imported:
            return Meaning(self, name) if len(nodes) == 1 else None
        # The same import may be there twice.
        found = {self.followed(one) for one in imported} if len(imported) == len(nodes) else set()
        return found.pop() if len(found) == 1 else None

    def followed(self, one: Imported) -> Meaning:
        """What an import takes from a file beside this one, or from elsewhere."""
        file = self.files.beside(one, self)
        if file is not None:
            return file.member(one.member, self, one.alias) if one.member else Meaning(file, "")
        name = f"{one.module}.{one.member}" if one.member else one.module
        if not one.member and one.alias.asname is None and not name.startswith("."):
            name = name.split(".")[0]
        used = f"{one.member} of {one.module}" if one.member else one.module
        return Meaning(None, name, "" if one.module.split(".")[0] in OWN else self.source.said(
            one.alias, f"a program uses {used}, which is no file beside this one. Nothing else is "
            "read: write it here, or into such a file."))

    def member(self, name: str, by: "Bindings", node: ast.AST) -> Meaning:
        """What a node of another file takes from this one."""
        if not self.is_bound(name):
            return Meaning(None, name, by.source.said(
                node, f"{self.source.name} has no {name} at its top.{nearest(name, self.nodes)} "
                "Correct the name, or write it there."))
        found = self.named(name)
        if found is not None:
            return found
        again = self.nodes[name][1]
        return Meaning(None, name, self.source.said(
            again.alias if isinstance(again, Imported) else again, f"{name} has another meaning "
            "elsewhere in the file. Give one of the two another name."))

    def needed(self, expression: ast.expr) -> Meaning | None:
        """The meaning of what a program is made of: a module that is not read is refused."""
        found = self.meaning(expression)
        if found is not None and found.why:
            raise Refusal(found.why)
        return found

    def value(self, expression: ast.expr) -> "tuple[ast.expr, Bindings] | None":
        """Of `NAME = ...`, with the file where that stands."""
        found = self.needed(expression)
        bindings = None if found is None else found.bindings
        if found is None or bindings is None or found.name not in bindings.constants:
            return None
        is_name = isinstance(bindings.nodes[found.name][0], ast.Name)
        return (bindings.constants[found.name], bindings) if is_name else None

    def origin_of(self, expression: ast.expr) -> str:
        """Where it comes from, if that is no file beside this one: `chunkproof.program.prompt`."""
        found = self.meaning(expression)
        return "" if found is None or found.bindings is not None else found.name

    def ours(self, expression: ast.expr) -> str | None:
        """prompt, module, system ...: a name of chunkproof.program."""
        origin = self.origin_of(expression)
        return origin.removeprefix(HOME) if origin.startswith(HOME) else None
