# SPDX-License-Identifier: Apache-2.0
"""Writes a program's schema, and prompts of it, in PML (PROG-2, PROG-6). Where white space of a
text could be lost (PML-4), it is preserved; all else is laid out for readers."""
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .calls import checked
from .compiler import MOST_BYTES
from .names import OF_MODULES, derived
from .parts import Branches, Call, Module, Param, Part, Program, Role, Text, Value
from .refusal import Refusal
from .values import value_of

COLUMNS, LEAST = 100, 40  # of a line, with its indentation; of a text that is far to the right
SPACES = re.compile("[ \t\r\n]+")
BREAK = "\n"  # a blank in a line, where the line may end; other line ends are in no such text
PRESERVE = ' xml:space="preserve"'
SPECIAL = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}
IN_VALUE = {**SPECIAL, '"': "&quot;", "\t": "&#9;", "\n": "&#10;"}


def escaped(text: str, special: Mapping[str, str] = SPECIAL) -> str:
    return re.sub(f"[{''.join(special)}]", lambda found: special[found[0]], text)


def is_kept(text: str) -> bool:
    """Whether white space inside of the text stays as it is without `preserve`."""
    return all(found[0] == " " for found in SPACES.finditer(text))


def root_name(program: Program) -> str:
    return derived(program.name, OF_MODULES)


# ---- Schemas ----

def schema_of(program: Program) -> str:
    """The schema; ends with a line end."""
    name = root_name(program)
    lines = [f'<schema name="{escaped(name, IN_VALUE)}">', *inside(program.body, "  "), "</schema>"]
    return bounded("\n".join(lines) + "\n", f"{program.place}: the schema")


def bounded(text: str, what: str) -> str:
    size = len(text.encode())
    if size > MOST_BYTES:
        raise Refusal(f"{what} has {size} bytes, and may have {MOST_BYTES} (PML-1). Shorten it.")
    return text


def inside(body: list[Part], indent: str) -> Iterator[str]:
    """Lines of what stands in an element."""
    line: list[Text | Param] = []  # what may stand in a line
    for part in body:
        if isinstance(part, (Text, Param)):
            line.append(part)
            continue
        yield from in_lines(line, indent)
        line = []
        if isinstance(part, Role):
            yield from element(part.role, inside(part.body, indent + "  "), indent)
        elif isinstance(part, Branches):
            yield from branches(part, indent)
        else:
            yield from module(part, indent)
    yield from in_lines(line, indent)


def element(name: str, lines: Iterator[str], indent: str, attributes: str = "") -> Iterator[str]:
    yield f"{indent}<{name}{attributes}>"
    yield from lines
    yield f"{indent}</{name}>"


def module(part: Module | Call, indent: str) -> Iterator[str]:
    body = part.program.body if isinstance(part, Call) else part.body
    return element("module", inside(body, indent + "  "), indent, f' name="{part.name}"')


def branches(part: Branches, indent: str) -> Iterator[str]:
    if not part.is_union:
        return module(part.members[0][1], indent)
    inner = (line for _, member in part.members for line in module(member, indent + "  "))
    return element("union", inner, indent)


def in_lines(parts: list[Text | Param], indent: str) -> Iterator[str]:
    """Texts and params as a paragraph, where white space is kept in one; else each by itself."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    is_alone = any(SPACES.fullmatch(text) for text in texts)
    first, last = (part.text if isinstance(part, Text) else "" for part in
                   (parts[0], parts[-1])) if parts else ("", "")
    if all(map(is_kept, texts)) and not is_alone and first[:1] != " " and last[-1:] != " ":
        yield from folded("".join(map(inline, parts)), indent)
        return
    for part in parts:
        if isinstance(part, Text) and (not is_kept(part.text) or part.text != part.text.strip(" ")):
            yield f"{indent}<module{PRESERVE}>{escaped(part.text)}</module>"
        else:
            yield from folded(inline(part), indent)


def inline(part: Text | Param) -> str:
    if isinstance(part, Param):
        return f'<param name="{part.name}" len="{part.variable.length}"/>'
    text = part.text.strip(" ")  # the blanks at its ends stand beside tags, where no line may end
    begin = len(part.text) - len(part.text.lstrip(" "))
    return " " * begin + escaped(text).replace(" ", BREAK) + " " * (len(part.text) - begin -
                                                                    len(text))


def folded(text: str, indent: str) -> Iterator[str]:
    """Lines that end at breaks; none for an empty text."""
    width, line = max(COLUMNS - len(indent), LEAST), ""
    for word in text.split(BREAK) if text else ():
        if line and len(line) + 1 + len(word) > width:
            yield indent + line
            line = word
        else:
            line = f"{line} {word}" if line else word
    if line:
        yield indent + line


# ---- Prompts ----

@dataclass
class Import:
    """An element of a prompt."""
    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    imports: "list[Import]" = field(default_factory=list)


def prompt_of(program: Program, given: Mapping[str, Value]) -> str:
    """The prompt that these arguments make. Raises Refusal for arguments that it does not take."""
    root = Import("prompt", {"schema": root_name(program)})
    resolve(root, program.body, checked(program, given))
    if all(" ".join(SPACES.split(text)).strip(" ") == text for text in arguments_of(root)):
        return bounded("\n".join(tags(root, "")) + "\n", "the prompt")
    root.attributes["xml:space"] = "preserve"  # white space between tags would be text, too
    return bounded("".join(line.lstrip(" ") for line in tags(root, "")) + "\n", "the prompt")


def resolve(into: Import, body: list[Part], arguments: Mapping[str, Value]) -> None:
    """What is imported in a module, and its arguments."""
    for part in body:
        if isinstance(part, Param):
            into.attributes[part.name] = str(arguments[part.variable.name])
        elif isinstance(part, Role):
            resolve(into, part.body, arguments)
        elif isinstance(part, Module):
            imported(into, part, arguments)
        elif isinstance(part, Branches):
            for condition, member in part.members:
                if condition is None or value_of(condition, arguments):
                    imported(into, member, arguments)
                    break
        elif isinstance(part, Call):
            inner = Import(part.name)
            into.imports.append(inner)
            values = {name: value_of(value, arguments) for name, value in part.arguments.items()}
            resolve(inner, part.program.body, values)


def imported(into: Import, part: Module, arguments: Mapping[str, Value]) -> None:
    inner = Import(part.name)
    into.imports.append(inner)
    resolve(inner, part.body, arguments)


def arguments_of(one: Import) -> Iterator[str]:
    yield from one.attributes.values()
    for inner in one.imports:
        yield from arguments_of(inner)


def tags(one: Import, indent: str) -> Iterator[str]:
    words = "".join(f' {name}="{escaped(text, IN_VALUE)}"' for name, text in one.attributes.items())
    if not one.imports:
        yield f"{indent}<{one.name}{words}/>"
        return
    yield f"{indent}<{one.name}{words}>"
    for inner in one.imports:
        yield from tags(inner, indent + "  ")
    yield f"{indent}</{one.name}>"
