# SPDX-License-Identifier: Apache-2.0
"""Random prompt programs of one file or several, with arguments for them (tests/programs.py)."""
import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

HEAD = ("from typing import Literal\n"
        "from chunkproof.program import assistant, module, prompt, system, user\n\n")
# Without the letters of a template's markers.
LETTERS = "abe é\u3000ß<>&\"'{}\\]]>..,  \n\t\r\U0001F600-"
CHOICES: tuple[tuple[Any, ...], ...] = (("a", "b c", "prompt"), ("x",), (1, 2, 3), ("", "xml", "3"))
LENGTH = 200  # bytes are tokens, too
FILES = ("program", "shared", "units")


@dataclass
class Variable:
    name: str
    kind: str  # text, flag, choice
    values: tuple[Any, ...] = ()

    @property
    def type(self) -> str:
        if self.kind == "choice":
            return f"Literal[{', '.join(map(repr, self.values))}]"
        return "str" if self.kind == "text" else "bool"


@dataclass
class Function:
    name: str
    variables: list[Variable]
    file: int


def quoted(text: str, is_formatted: bool = False) -> str:
    body = text.encode("unicode_escape").decode().replace('"', '\\"')
    return f'"{body.replace("{", "{{").replace("}", "}}") if is_formatted else body}"'


class Maker:
    def __init__(self, seed: int, n_files: int = 1) -> None:
        self.random = random.Random(seed)
        self.n_files = n_files  # each may import those behind it
        self.imports: list[dict[str, None]] = [{} for _ in range(n_files)]  # lines, in order
        is_package = self.random.randrange(2)  # else only files on Python's path are modules
        self.styles = [[2 * self.random.randrange(2) + is_package for _ in FILES] for _ in FILES]
        self.had: Counter[str] = Counter()
        self.functions: list[Function] = []
        self.numbers = 0

    def text(self) -> str:
        if self.random.random() < 0.5:
            return " ".join(self.random.choice(("take", "a", "day", "off.", "it's"))
                            for _ in range(self.random.randint(1, 30)))
        return "".join(self.random.choice(LETTERS) for _ in range(self.random.randint(0, 12)))

    def variable(self, i: int) -> Variable:
        kind = self.random.choice(("text", "flag", "choice"))
        name = self.random.choice(("who", "a_b", "_c", "xml_d", "schema", "\u00e9")) + str(i)
        return Variable(name, kind, self.random.choice(CHOICES) if kind == "choice" else ())

    def program(self) -> dict[str, str]:
        """All files with all functions; the first function of the first one is the program. Names
        are the same in each file."""
        files = sorted([0, *(self.random.randrange(self.n_files)
                             for _ in range(self.random.randint(0, 3) + self.n_files - 1))])
        self.functions = [
            Function(f"f_{i - files.index(file)}",
                     [self.variable(k) for k in range(self.random.randint(1, 4))], file)
            for i, file in enumerate(files)]
        return {FILES[file]: self.text_of(file) for file in range(self.n_files)}

    def text_of(self, file: int) -> str:
        defined = [self.function(i) for i, one in enumerate(self.functions) if one.file == file]
        self.random.shuffle(defined)
        lines = [f"TEXT_{i} = {quoted(self.text())}\n" for i in range(2)]
        lines += [f"TYPE_{i} = {Variable('', 'choice', one).type}\n"
                  for i, one in enumerate(CHOICES)]
        lines.append("SUM = TEXT_0 + f'<{TEXT_1}>'" + (
            f" + {self.named(file, file + 1, 'SUM')}\n" if file + 1 < self.n_files else "\n"))
        return HEAD + "".join([*self.imports[file], *lines, *defined])

    def named(self, file: int, other: int, name: str) -> str:
        """What a name at the top of the other file is called in this one, which imports it."""
        if file == other:
            return name
        self.had["other file"] += 1
        module, style = FILES[other], self.styles[file][other]
        line, called = (
            (f"import {module}", f"{module}.{name}"),
            (f"from . import {module} as _{module}", f"_{module}.{name}"),
            (f"from {module} import {name} as {name}_{other}", f"{name}_{other}"),
            (f"from .{module} import {name} as {name}_{other}", f"{name}_{other}"))[style]
        self.imports[file][f"{line}\n"] = None
        return called

    def any_file(self, file: int) -> int:
        return self.random.randrange(file, self.n_files)

    def annotated(self, file: int, variable: Variable) -> str:
        kind = variable.type
        if variable.kind == "choice" and self.random.random() < 0.5:
            kind = self.named(file, self.any_file(file),
                              f"TYPE_{CHOICES.index(variable.values)}")
        return f"{variable.name}: {kind}"

    def function(self, i: int) -> str:
        one = self.functions[i]
        lengths = ", ".join(f"{v.name}={LENGTH}" for v in one.variables if v.kind == "text")
        name = self.random.choice(("", f"'own-{i}'"))
        decorator = f"({', '.join(filter(None, (name, lengths)))})" if name or lengths else ""
        heads = ", ".join(self.annotated(one.file, variable) for variable in one.variables)
        body = self.block(i, 1, i > 0)
        return f"@prompt{decorator}\ndef {one.name}({heads}):\n{body}    yield ''\n"

    def block(self, i: int, depth: int, has_role: bool) -> str:
        return "".join(self.statement(i, depth, has_role)
                       for _ in range(self.random.randint(1, 3)))

    def statement(self, i: int, depth: int, has_role: bool) -> str:
        indent = "    " * depth
        kinds = ["text", "text", "pass", "call"]
        kinds += ["if", "elif", "match", "named"] if depth < 3 else []
        kinds += ["role"] * 2 if not has_role else []
        kind = self.random.choice(kinds)
        choices = [v for v in self.functions[i].variables if v.kind != "text"]
        if (kind == "call" and i + 1 == len(self.functions)) or (kind == "match" and not choices):
            kind = "text"
        self.had[kind] += kind != "text"  # texts are counted where they are read
        if kind == "text":
            return f"{indent}yield {self.expression(i)}\n"
        if kind == "pass":
            return f"{indent}pass\n"
        if kind == "call":
            return f"{indent}yield from {self.call(i)}\n"
        if kind == "match":
            return self.match(i, self.random.choice(choices), depth, has_role)
        inner = self.block(i, depth + 1, has_role or kind == "role")
        if kind == "role":
            return f"{indent}with {self.random.choice(('system', 'user', 'assistant'))}:\n{inner}"
        if kind == "named":
            self.numbers += 1
            return f"{indent}with module('own.{self.numbers}'):\n{inner}"
        text = f"{indent}if {self.condition(i, 2)}:\n{inner}"
        if kind == "elif":
            for _ in range(self.random.randint(0, 2)):
                text += f"{indent}elif {self.condition(i, 1)}:\n" \
                        f"{self.block(i, depth + 1, has_role)}"
            text += f"{indent}else:\n{self.block(i, depth + 1, has_role)}"
        return text

    def match(self, i: int, on: Variable, depth: int, has_role: bool) -> str:
        indent = "    " * (depth + 1)
        values = list(on.values or (False, True))
        self.random.shuffle(values)
        n = self.random.randint(1, len(values))
        heads = [repr(value) for value in values[:n]]
        if len(heads) > 1 and self.random.random() < 0.4:
            heads[:2] = [f"{heads[0]} | {heads[1]}"]
        heads += ["_"] if self.random.random() < 0.5 else []
        return f"{'    ' * depth}match {on.name}:\n" + "".join(
            f"{indent}case {head}:\n{self.block(i, depth + 2, has_role)}" for head in heads)

    def expression(self, i: int) -> str:
        texts = [v.name for v in self.functions[i].variables if v.kind == "text"]
        kind = self.random.choice(("literal", "constant", "param", "f", "sum"))
        if kind == "sum":
            return f"{self.expression(i)} + {self.expression(i)}"
        if kind == "constant":
            self.had[kind] += 1
            file = self.functions[i].file
            return self.named(file, self.any_file(file),
                              self.random.choice(("TEXT_0", "TEXT_1", "SUM")))
        if kind == "literal" or not texts:
            return quoted(self.text())
        name = self.random.choice(texts)
        if kind == "param":
            return name
        return (f'f{quoted(self.text(), True)[:-1]}{{{name}}}'
                f'{quoted(self.text(), True)[1:]}')

    def condition(self, i: int, depth: int) -> str:
        if depth > 0 and self.random.random() < 0.5:
            word = self.random.choice(("and", "or", "not"))
            inner = f"({self.condition(i, depth - 1)})"
            return f"not {inner}" if word == "not" else \
                f"{inner} {word} ({self.condition(i, depth - 1)})"
        variable = self.random.choice(self.functions[i].variables)
        if variable.kind == "choice":
            value = repr(self.random.choice(variable.values))
            operator = self.random.choice(("==", "!=", "in", "not in"))
            return f"{variable.name} {operator} " + \
                (f"({value}, {value})" if operator.endswith("in") else value)
        if variable.kind == "text" and self.random.random() < 0.5:
            return f"{variable.name} == 'a'"
        return variable.name

    def call(self, i: int) -> str:
        to = self.functions[self.random.randint(i + 1, len(self.functions) - 1)]
        words = [f"{v.name}={self.value(i, v)}" for v in to.variables]
        self.random.shuffle(words)
        name = self.named(self.functions[i].file, to.file, to.name)
        return f"{name}({', '.join(words)})"

    def value(self, i: int, to: Variable) -> str:
        own = [v.name for v in self.functions[i].variables
               if (v.kind, v.values) == (to.kind, to.values)]
        if own and self.random.random() < 0.6:
            return self.random.choice(own)
        if to.kind == "text":
            return quoted(self.text())
        flags = [v for v in self.functions[i].variables if v.kind == "flag"]
        if to.kind == "flag" and flags and self.random.random() < 0.5:
            return f"not {flags[0].name}"
        return repr(self.random.choice(to.values or (False, True)))

    def arguments(self, function: Function) -> dict[str, Any]:
        return {v.name: self.text() if v.kind == "text" else
                self.random.choice(v.values or (False, True)) for v in function.variables}
