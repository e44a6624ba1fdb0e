# SPDX-License-Identifier: Apache-2.0
"""The arguments of one program to another (PROG-5), and those that a prompt is made with."""
import ast
import re
from collections.abc import Mapping

from .parts import Program, Value, Variable
from .place import nearest, shown
from .refusal import Refusal
from .texts import NO_XML, Texts
from .values import Checker, has, listed

ESCAPED = re.compile("[\udc80-\udcff]")  # what Python makes of a byte that is not UTF-8


def bound_arguments(checker: Checker, call: ast.Call, program: Program) -> dict[str, ast.expr]:
    """Of each parameter of the program its value, as an expression of the caller's parameters."""
    source, arguments = checker.source, program.node.args
    given: dict[str, ast.expr] = {}
    places = [one.arg for one in [*arguments.posonlyargs, *arguments.args]]
    for i, value in enumerate(call.args):
        if isinstance(value, ast.Starred):
            raise source.refuse(value, "what * stands for cannot be seen. Write each argument.")
        if i >= len(places):
            raise source.refuse(value, f"{program.node.name} takes {len(places)} arguments by "
                                "place. Remove this one, or name it.")
        given[places[i]] = value
    by_place_alone = {one.arg for one in arguments.posonlyargs}
    for keyword in call.keywords:
        name = keyword.arg
        if name is None:
            raise source.refuse(keyword.value, "what ** stands for cannot be seen. Write each "
                                "argument.")
        if name in by_place_alone:
            raise source.refuse(keyword, f"{program.node.name} takes {name} by place alone. Write "
                                "the value without its name.")
        if name not in program.variables:
            raise source.refuse(keyword, f"{program.node.name} has no argument with the name "
                                f"{name}.{nearest(name, program.variables)}")
        if name in given:
            raise source.refuse(keyword, f"the argument {name} is given twice. Remove one.")
        given[name] = keyword.value
    found: dict[str, ast.expr] = {}
    for name, variable in program.variables.items():
        if name in given:
            found[name] = argument(checker, given[name], variable)
        elif variable.default is not None:
            found[name] = ast.Constant(variable.default)
        else:
            raise source.refuse(call, f"the argument {name} of {program.node.name} is missing. "
                                "Give it, or give it a default there.")
    return found


def argument(checker: Checker, node: ast.expr, to: Variable) -> ast.expr:
    source, variable = checker.source, checker.variable(node)
    if to.is_flag:
        condition = checker.condition(node)
        if not checker.is_bool(condition):
            raise source.refuse(node, f"{to.name} is a bool, and {shown(node)} is none. Compare "
                                "it with a value.")
        return condition
    if variable is None:
        value = checker.constant(node)
        if to.is_text and value is None:
            value = Texts(checker).constant(node)
            if value is None:
                raise source.refuse(node, f"{shown(node)} has a length that is nowhere declared. "
                                    "Pass one parameter or one literal.")
        if not (isinstance(value, str) if to.is_text else has(to.values, value)):
            wanted = "a text" if to.is_text else f"one of {listed(to.values)}"
            raise source.refuse(node, f"{to.name} is {wanted}, and {shown(node)} is none."
                                f"{nearest(value, to.values)}")
        return ast.Constant(value)
    if to.is_text and variable.is_text and variable.length > to.length:
        raise source.refuse(node, f"{variable.name} may have {variable.length} tokens, and "
                            f"{to.name} has room for {to.length}. Make the two lengths equal.")
    texts = all(isinstance(one, str) for one in variable.values)
    if not (texts if to.is_text else
            variable.values and all(has(to.values, one) for one in variable.values)):
        wanted = "a text" if to.is_text else f"one of {listed(to.values)}"
        raise source.refuse(node, f"{to.name} is {wanted}, and {variable.name} may be another "
                            "value. Give both the same type.")
    return node


# ---- Of a prompt ----

def checked(program: Program, given: Mapping[str, Value]) -> dict[str, Value]:
    """The arguments of a prompt, with defaults. Raises Refusal."""
    for name in given:
        if name not in program.variables:
            known = ", ".join(program.variables) or "none"
            raise Refusal(f"{program.node.name} has no argument {name}."
                          f"{nearest(name, program.variables)} It has: {known}.")
    return {name: value(program, variable, given) for name, variable in program.variables.items()}


def value(program: Program, variable: Variable, given: Mapping[str, Value]) -> Value:
    name = variable.name
    found = given.get(name, variable.default)
    if found is None:
        raise Refusal(f"the argument {name} of {program.node.name} is missing. Give {name}=VALUE.")
    if variable.values and not has(variable.values, found):
        raise Refusal(f"the argument {name} is one of {listed(variable.values)}, and not "
                      f"{found!r}.{nearest(found, variable.values)}")
    if variable.is_text:
        if not isinstance(found, str):
            raise Refusal(f"the argument {name} is a text, and not {found!r}.")
        wrong = NO_XML.search(found)
        if wrong is not None:
            raise Refusal(f"the argument {name} has the character U+{ord(wrong[0]):04X}, which "
                          "cannot stand in XML. Remove it.")
    return found


def of_words(program: Program, words: list[str]) -> dict[str, Value]:
    """NAME=VALUE each, as they stand on a command line; true and false, and numbers by digits."""
    given: dict[str, Value] = {}
    for word in words:
        name, equals, text = word.partition("=")
        byte = ESCAPED.search(word)
        if byte is not None:
            raise Refusal(f"the argument {name} is not UTF-8: it has the byte "
                          f"0x{ord(byte[0]) - 0xDC00:02x}. Give it in UTF-8.")
        if not equals:
            raise Refusal(f"{word!r} is no argument. Write NAME=VALUE.")
        if name in given:
            raise Refusal(f"the argument {name} is given twice. Remove one.")
        variable = program.variables.get(name)
        given[name] = text
        if variable is not None and not variable.is_text:
            names = {str(one).lower() if variable.is_flag else str(one): one
                     for one in variable.values}
            if text not in names:
                raise Refusal(f"the argument {name} is one of {', '.join(names)}, and not "
                              f"{text!r}.{nearest(text, names)}")
            given[name] = names[text]
    return given
