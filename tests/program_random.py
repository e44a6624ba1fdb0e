# SPDX-License-Identifier: Apache-2.0
"""Random prompt programs, with arguments for them (tests/programs.py)."""
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


@dataclass
class Variable:
    name: str
    kind: str  # text, flag, choice
    values: tuple[Any, ...] = ()

    def annotated(self) -> str:
        if self.kind == "choice":
            return f"{self.name}: Literal[{', '.join(map(repr, self.values))}]"
        return f"{self.name}: {'str' if self.kind == 'text' else 'bool'}"


@dataclass
class Function:
    name: str
    variables: list[Variable]


def quoted(text: str, is_formatted: bool = False) -> str:
    body = text.encode("unicode_escape").decode().replace('"', '\\"')
    return f'"{body.replace("{", "{{").replace("}", "}}") if is_formatted else body}"'


class Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
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

    def program(self) -> str:
        """All functions; the first one is the program."""
        self.functions = [
            Function(f"f_{i}", [self.variable(k) for k in range(self.random.randint(1, 4))])
            for i in range(self.random.randint(1, 4))]
        defined = [self.function(i) for i in range(len(self.functions))]
        self.random.shuffle(defined)
        constants = "".join(f"TEXT_{i} = {quoted(self.text())}\n" for i in range(2))
        return HEAD + constants + "SUM = TEXT_0 + f'<{TEXT_1}>'\n" + "".join(defined)

    def function(self, i: int) -> str:
        one = self.functions[i]
        lengths = ", ".join(f"{v.name}={LENGTH}" for v in one.variables if v.kind == "text")
        name = self.random.choice(("", f"'own-{i}'"))
        decorator = f"({', '.join(filter(None, (name, lengths)))})" if name or lengths else ""
        heads = ", ".join(variable.annotated() for variable in one.variables)
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
            return self.random.choice(("TEXT_0", "TEXT_1", "SUM"))
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
        return f"{to.name}({', '.join(words)})"

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
