# SPDX-License-Identifier: Apache-2.0
"""What the names at the top of a file mean, as far as that can be seen without running it: a name
that is bound once is a function, an import or a constant; one that is bound twice is nothing."""
import ast
from collections.abc import Iterator

from .place import Source

HOME = "chunkproof.program."
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
    """The names that a node gives a meaning."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or alias.name.split(".")[0]
    elif isinstance(node, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


class Bindings:
    """Of a file. Lookups give None for what is not there, or is bound more than once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.nodes: dict[str, list[ast.AST]] = {}
        self.constants: dict[str, ast.expr] = {}
        for node in outer(source.tree):
            for name in bound_by(node):
                self.nodes.setdefault(name, []).append(node)
            if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
                raise source.refuse(node, "with `import *` nobody sees what names mean. Import "
                                    "names one by one.")
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
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

    def once(self, name: str) -> ast.AST | None:
        nodes = self.nodes.get(name, [])
        return nodes[0] if len(nodes) == 1 else None

    def function(self, name: str) -> ast.FunctionDef | None:
        node = self.once(name)
        return node if isinstance(node, ast.FunctionDef) else None

    def value(self, name: str) -> ast.expr | None:
        """Of `NAME = ...`."""
        node = self.once(name)
        return self.constants.get(name) if isinstance(node, ast.Name) else None

    def imported(self, name: str) -> str | None:
        """Where an import has it from: `chunkproof.program.prompt`."""
        found = {self.origin(node, name) for node in self.nodes.get(name, ())}
        return found.pop() if len(found) == 1 else None

    @staticmethod
    def origin(node: ast.AST, name: str) -> str | None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname == name:
                    return alias.name
            return name
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return f"{node.module}.{alias.name}"
        return None

    def origin_of(self, expression: ast.expr) -> str | None:
        """Of `prompt`, or of `program.prompt`."""
        if isinstance(expression, ast.Attribute):
            inner = self.origin_of(expression.value)
            return None if inner is None else f"{inner}.{expression.attr}"
        return self.imported(expression.id) if isinstance(expression, ast.Name) else None

    def ours(self, expression: ast.expr) -> str | None:
        """prompt, module, system ...: a name of chunkproof.program."""
        origin = self.origin_of(expression) or ""
        return origin.removeprefix(HOME) if origin.startswith(HOME) else None
