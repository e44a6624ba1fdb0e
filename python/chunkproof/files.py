# SPDX-License-Identifier: Apache-2.0
"""The files of a program: the first one, and those beside it that it is made of (PROG-8)."""
import ast
import os

from .bindings import OWN, Bindings, Imported
from .place import Source
from .refusal import Refusal

MOST_FILES = 64


class Files:
    """All are in the folder of the first one. Each is read once, when a name of it is used."""

    def __init__(self, path: str) -> None:
        # Python, too, looks beside the file that a link leads to.
        self.folder = os.path.dirname(os.path.realpath(path) if os.path.islink(path) else path)
        try:
            data = contents(path)
        except OSError as error:
            raise Refusal(f"{path}: cannot be read: {error.strerror}") from None
        self.first = Bindings(Source(path, data), self)
        module, end = os.path.splitext(os.path.basename(os.path.realpath(path)))
        self.read: dict[str, Bindings] = {module if end == ".py" else "": self.first}
        self.absent: set[str] = set()
        self.refuse_circle(self.first)

    def paths(self) -> list[str]:
        return [one.source.path for one in self.read.values()]

    def beside(self, one: Imported, by: Bindings) -> Bindings | None:
        """The file that is imported; None: there is none beside the one that imports it."""
        module, path = one.file, os.path.join(self.folder, f"{one.file}.py")
        if module not in self.read and module not in self.absent and not os.path.isfile(path):
            self.absent.add(module)
        if not module or module in self.absent:
            return None
        if one.module in OWN:
            raise by.source.refuse(one.alias, f"{module} is a module of Python's own or of "
                                   f"chunkproof, and {module}.py is beside this file. Give that "
                                   "file another name.")
        if module not in self.read:
            self.read[module] = self.opened(path, by.source, one.alias)
            self.refuse_circle(self.read[module])
        return self.read[module]

    def opened(self, path: str, source: Source, node: ast.AST) -> Bindings:
        name = os.path.basename(path)
        folder = os.path.realpath(self.folder or ".")
        if os.path.dirname(os.path.realpath(path)) != folder:
            raise source.refuse(node, f"{name} is a link to another folder, and a program is "
                                "made of files of one. Copy the file.")
        if os.path.isfile(os.path.join(path.removesuffix(".py"), "__init__.py")):
            raise source.refuse(node, f"{name} is hidden by a package beside it, which Python "
                                "takes. Give one of the two another name.")
        if len(self.read) >= MOST_FILES:
            raise source.refuse(node, f"a program is made of at most {MOST_FILES} files. Put the "
                                "texts of some into one.")
        try:
            data = contents(path)
        except OSError as error:
            raise source.refuse(node, f"{name} cannot be read: {error.strerror}. Make it "
                                "readable.") from None
        return Bindings(Source(path, data), self)

    def refuse_circle(self, begin: Bindings) -> None:
        """Of a file that was read last: nothing that it imports, and is read, leads back to it."""
        had: set[Bindings] = set()
        ways: list[tuple[Imported | None, list[Bindings]]] = [(None, [begin])]  # shortest first
        for first, way in ways:
            for one in way[-1].imports():
                file = self.read.get(one.file) if one.file else None
                if file is begin:
                    names = " -> ".join(each.source.name for each in [*way, begin])
                    raise begin.source.refuse(
                        (first or one).alias, f"files that import each other ({names}) have no "
                        "first one. Move what both need into a file of its own.")
                if file is not None and file not in had:
                    had.add(file)
                    ways.append((first or one, [*way, file]))


def contents(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
