# SPDX-License-Identifier: Apache-2.0
"""A prompt program as parts: what its schema and its prompts are written from (PROG-2)."""
import ast
from dataclasses import dataclass, field

Value = str | bool | int


@dataclass(frozen=True)
class Variable:
    """A parameter of a program."""
    name: str
    node: ast.arg
    length: int  # tokens that it may have; 0: it is no text
    values: tuple[Value, ...]  # that it may have; none: any text
    default: Value | None

    @property
    def is_text(self) -> bool:
        return not self.values

    @property
    def is_flag(self) -> bool:
        return bool(self.values) and isinstance(self.values[0], bool)


@dataclass
class Text:
    text: str


@dataclass
class Param:
    """The place of an argument. `name`: in the module around it."""
    node: ast.AST
    variable: Variable
    name: str = ""


@dataclass
class Role:
    node: ast.AST
    role: str
    body: "list[Part]"


@dataclass
class Module:
    """`name` is derived from `wish`, unless it is there from the start."""
    node: ast.AST
    wish: str
    name: str
    body: "list[Part]"


@dataclass
class Branches:
    """Each module with its condition, of which the first one that holds counts; None: always."""
    node: ast.AST
    is_union: bool
    members: list[tuple[ast.expr | None, Module]]


@dataclass
class Call:
    """A module whose inside is another program."""
    node: ast.AST
    wish: str
    name: str
    program: "Program"
    arguments: dict[str, ast.expr]


Part = Text | Param | Role | Module | Branches | Call


@dataclass
class Program:
    """A decorated function. `place`: FILE:LINE:COLUMN. `height`: elements that stand in each other;
    `size`: bytes, at least; `role`: one that it has, itself or in a call. `files`: of the one that
    is asked for, the paths of all files that it is made of."""
    name: str
    node: ast.FunctionDef
    place: str
    variables: dict[str, Variable]
    body: list[Part] = field(default_factory=list)
    height: int = 0
    size: int = 0
    role: str = ""
    files: list[str] = field(default_factory=list)
