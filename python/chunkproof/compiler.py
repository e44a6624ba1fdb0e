# SPDX-License-Identifier: Apache-2.0
"""Reads a program: a file of Python becomes parts (PROG-2). It is parsed and never run (PROG-1): a
run takes one way through the branches, a schema has all of them, and a program may be a stranger's.
"""
import ast

from .bindings import Bindings
from .calls import bound_arguments
from .files import Files
from .names import OF_MODULES, OF_PARAMS, Scope, derived, is_name
from .parts import Branches, Call, Module, Param, Part, Program, Role, Text
from .place import nearest, shown
from .refusal import Refusal
from .signature import Signature, programs_of
from .texts import Texts
from .values import Checker

Function = tuple[Bindings, str]  # a program: its file, and its name there
MOST_NESTED, MOST_PARAMS, MOST_BYTES = 64, 990, 10**7  # PML-1; two attributes are not params
ROLES = ("system", "user", "assistant")
ELEMENT = 7  # bytes of the shortest: <user/>
REASONS: tuple[tuple[tuple[type[ast.AST], ...], str], ...] = (
    ((ast.For, ast.AsyncFor, ast.While),
     "a loop makes no fixed number of modules. Write its texts one by one, or give them as one "
     "parameter"),
    ((ast.Return,), "return leaves out what follows, which no module says. Put that into an else"),
    ((ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete),
     "a program has no variables. Write the value where it is used, or as a constant at the top of "
     "the file"),
    ((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
     "a program has no functions in it. Move this to the top of the file"),
    ((ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal),
     "names come from the top of the file alone. Move this there"),
    ((ast.Raise, ast.Assert, ast.Try),
     "a program cannot fail. Check arguments where it is called, or let Literal[...] list the "
     "values that are allowed"),
)
OTHER = ("this is no statement of a program. It has yield, yield from, if, match, with and pass "
         "alone")


class Compiler:
    """The programs of a file and of those that it imports, each read once."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.source = files.first.source
        self.decorated: dict[Bindings, dict[str, tuple[ast.FunctionDef, ast.expr]]] = {}
        self.programs: dict[Function, Program] = {}
        self.chain: list[Function] = []  # the functions that are being read

    def main(self, wanted: str | None) -> Program:
        """The program of this name; without one, that which no other one of its file calls."""
        first = self.files.first
        decorated = self.programs_in(first)
        if not decorated:
            self.refuse_unclear()
            raise Refusal(f"{self.source.path}:1:1: no function has @prompt of chunkproof.program. "
                          "Write it above the one that yields the prompt's texts.")
        if wanted is not None and wanted not in decorated:
            raise Refusal(f"{self.source.path}:1:1: no function {wanted} has @prompt."
                          f"{nearest(wanted, decorated)} There are: {', '.join(decorated)}.")
        if wanted is None:
            called = {one.func.id for node, _ in decorated.values() for one in ast.walk(node)
                      if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)}
            left = [name for name in decorated if name not in called]
            if not left:  # each is called, so that one calls itself, unless a name is hidden
                for name in decorated:
                    self.program((first, name))
            if len(left) != 1:
                names = ", ".join(left or decorated)
                raise Refusal(f"{self.source.path}:1:1: which program is meant? Name one of "
                              f"{names} by --function.")
            wanted = left[0]
        program = self.program((first, wanted))
        program.files = self.files.paths()
        return program

    def refuse_unclear(self) -> None:
        """A decorator that would be @prompt, if its name had one meaning."""
        for node in ast.walk(self.source.tree):
            for one in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                name = one.func if isinstance(one, ast.Call) else one
                if isinstance(name, ast.Name) and self.files.first.is_twice(name.id):
                    raise self.source.refuse(one, f"{name.id} has more than one meaning in this "
                                             "file. Import it once, and give the other another "
                                             "name.")

    def programs_in(self, bindings: Bindings) -> dict[str, tuple[ast.FunctionDef, ast.expr]]:
        if bindings not in self.decorated:
            self.decorated[bindings] = programs_of(bindings)
        return self.decorated[bindings]

    def program(self, function: Function) -> Program:
        if function not in self.programs:
            bindings, name = function
            node, decorator = self.programs_in(bindings)[name]
            signature = Signature(bindings.source, bindings, node, decorator)
            program = Program(signature.name, node, bindings.source.place(node),
                              signature.variables)
            self.chain.append(function)
            Body(self, bindings, program).read()
            self.chain.pop()
            self.programs[function] = program
        return self.programs[function]


class Body:
    """The statements of one program."""

    def __init__(self, compiler: Compiler, bindings: Bindings, program: Program) -> None:
        self.compiler, self.source = compiler, bindings.source
        self.bindings, self.program = bindings, program
        self.checker = Checker(self.source, self.bindings, program.variables)
        self.texts = Texts(self.checker)

    def read(self) -> None:
        node, program = self.program.node, self.program
        if not any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in ast.walk(node)):
            raise self.source.refuse(node, f"{node.name} yields no text. Write yield before each "
                                     "text of it.")
        body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        program.body = self.block(body, 0)
        self.name(program.body)
        program.height, program.size = self.measure(program.body, node)

    def too_deep(self, node: ast.AST) -> Refusal:
        return self.source.refuse(node, f"more than {MOST_NESTED} elements would stand in each "
                                  "other (PML-1). Nest less.")

    # ---- Statements ----

    def block(self, statements: list[ast.stmt], depth: int) -> list[Part]:
        if depth >= MOST_NESTED:
            raise self.too_deep(statements[0])
        parts: list[Part] = []
        for statement in statements:
            for part in self.statement(statement, depth):
                if isinstance(part, Text) and parts and isinstance(parts[-1], Text):
                    parts[-1] = Text(parts[-1].text + part.text)
                else:
                    parts.append(part)
        return parts

    def statement(self, node: ast.stmt, depth: int) -> list[Part]:
        if isinstance(node, ast.Expr):
            return self.expression(node.value)
        if isinstance(node, ast.If):
            return [self.branches(node, depth)]
        if isinstance(node, ast.Match):
            return [self.match(node, depth)]
        if isinstance(node, ast.With):
            return [self.block_of(node, node.items, depth)]
        if isinstance(node, ast.Pass):
            return []
        why = next((why for kinds, why in REASONS if isinstance(node, kinds)), OTHER)
        raise self.source.refuse(node, f"{why}.")

    def expression(self, node: ast.expr) -> list[Part]:
        if isinstance(node, ast.Yield) and node.value is not None:
            return self.texts.parts(node.value)
        if isinstance(node, ast.YieldFrom):
            return [self.call(node.value)]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            raise self.source.refuse(node, "a text alone is in no prompt. Write yield before it.")
        if isinstance(node, ast.Call) and self.function(node.func) is not None:
            raise self.source.refuse(node, f"this call alone says nothing. Write yield from before "
                                     f"{shown(node.func)}(...).")
        raise self.source.refuse(node, f"{shown(node)} is nothing that a program says. Write "
                                 "yield TEXT, or yield from PROGRAM(...).")

    def function(self, node: ast.expr) -> Function | None:
        """The program that this names; None: it is none, or a parameter hides it."""
        found = None if self.checker.hides(node) else self.bindings.meaning(node)
        if found is None or found.bindings is None or \
                found.name not in self.compiler.programs_in(found.bindings):
            return None
        return found.bindings, found.name

    def call(self, node: ast.expr) -> Call:
        compiler = self.compiler
        function = self.function(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or function is None:
            if isinstance(node, ast.Call) and not self.checker.hides(node.func):
                self.bindings.needed(node.func)
            raise self.source.refuse(node, "yield from takes the call of a function with @prompt, "
                                     "of this file or of one that it imports, and "
                                     f"{shown(node)} is none.")
        if function in compiler.chain:
            names = [name for _, name in compiler.chain[compiler.chain.index(function):]]
            circle = " -> ".join([*names, function[1]])
            raise self.source.refuse(node, f"a program that calls itself ({circle}) makes no fixed "
                                     "number of modules. Write each level as a program of its own.")
        if len(compiler.chain) >= MOST_NESTED:
            raise self.too_deep(node)
        program = compiler.program(function)
        if self.program.role == "":
            self.program.role = program.role
        arguments = bound_arguments(self.checker, node, program)
        return Call(node, program.name, "", program, arguments)

    # ---- Modules ----

    def branches(self, node: ast.If, depth: int) -> Branches:
        members: list[tuple[ast.expr | None, Module]] = []
        rest: list[ast.stmt] = [node]
        while len(rest) == 1 and isinstance(rest[0], ast.If):  # elif: an if alone in an else
            branch = rest[0]
            condition = self.checker.condition(branch.test)
            members.append((condition, self.module(branch, wish_of(branch.test), branch.body,
                                                   depth)))
            rest = branch.orelse
        is_union = len(members) > 1 or bool(rest)
        if rest:
            wish = f"else-{members[0][1].wish}"
            members.append((None, self.module(rest[0], wish, rest, depth)))
        return Branches(node, is_union, members)

    def match(self, node: ast.Match, depth: int) -> Branches:
        subject = self.checker.variable(node.subject)
        if subject is None:
            raise self.source.refuse(node.subject, f"match takes a parameter of the program, and "
                                     f"{shown(node.subject)} is none.")
        members: list[tuple[ast.expr | None, Module]] = []
        for case in node.cases:
            if case.guard is not None:
                raise self.source.refuse(case.guard, "a case of a program has no condition of its "
                                         "own. Write if, elif and else.")
            patterns = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) \
                else [case.pattern]
            values = [self.pattern(one, len(patterns)) for one in patterns]
            condition, wish = None, f"else-{subject.name}"
            if values[0] is not None:
                test = ast.copy_location(ast.Compare(node.subject, [ast.In()], [
                    ast.Tuple([one for one in values if one is not None], ast.Load())]),
                    case.pattern)
                condition, wish = self.checker.condition(test), wish_of(test)
            members.append((condition, self.module(case.pattern, wish, case.body, depth)))
        return Branches(node, True, members)

    def pattern(self, node: ast.pattern, n: int) -> ast.expr | None:
        """The value that a pattern stands for; None: `_`."""
        if isinstance(node, ast.MatchValue) and self.checker.constant(node.value) is not None \
                and not isinstance(node.value, ast.Name):  # which would give it a meaning
            return node.value
        if isinstance(node, ast.MatchSingleton) and node.value is not None:
            return ast.copy_location(ast.Constant(node.value), node)
        if isinstance(node, ast.MatchAs) and node.name is None and n == 1:
            return None
        raise self.source.refuse(node, f"case {shown(node)} is none of a program. It may have "
                                 "literals with `|` between, or `_` alone.")

    def module(self, node: ast.AST, wish: str, body: list[ast.stmt], depth: int) -> Module:
        """Of a branch. `with module("visa"):` around all of it names it."""
        inner = self.block(body, depth + 1)
        if len(body) == 1 and len(inner) == 1 and isinstance(inner[0], Module) and inner[0].name:
            return Module(node, wish, inner[0].name, inner[0].body)
        return Module(node, wish, "", inner)

    def block_of(self, node: ast.With, items: list[ast.withitem], depth: int) -> Part:
        """A role, or a module with a name; around a call alone, the name is that of the call."""
        item = items[0]
        expression = item.context_expr
        function = expression.func if isinstance(expression, ast.Call) else expression
        name = self.bindings.ours(function)
        if item.optional_vars is not None:
            raise self.source.refuse(item.optional_vars, "a block of a program has no value. "
                                     "Remove `as`.")
        if self.checker.hides(function):
            name = None
        if depth >= MOST_NESTED:
            raise self.too_deep(node)
        body = [self.block_of(node, items[1:], depth + 1)] if len(items) > 1 \
            else self.block(node.body, depth + 1)
        if name in ROLES and function is expression:
            assert name is not None
            return self.role(expression, name, body)
        if name != "module" or not isinstance(expression, ast.Call):
            raise self.source.refuse(expression, f"with {shown(expression)} is no block of a "
                                     "program. There are system, user, assistant and "
                                     "module(NAME), from chunkproof.program.")
        given = expression.args[0] if len(expression.args) == 1 else expression
        explicit = self.checker.constant(given)
        if expression.keywords or not isinstance(explicit, str) or \
                not is_name(explicit, OF_MODULES):
            raise self.source.refuse(given, f"{shown(given)} is no name that PML lets a module "
                                     "have (PML-3). Write it as one literal of letters, digits, "
                                     "`-`, `.` and `_`.")
        if len(body) == 1 and isinstance(body[0], Call) and not body[0].name:
            body[0].name = explicit
            return body[0]
        return Module(expression, explicit, explicit, body)

    def role(self, node: ast.expr, name: str, body: list[Part]) -> Role:
        inner = role_in(body)
        if inner is not None:
            raise self.source.refuse(node, f"{inner} stands in {name}, and a role stands in no "
                                     "other one (PML-2). End the one before the other begins.")
        self.program.role = name
        return Role(node, name, body)

    # ---- Names ----

    def name(self, body: list[Part]) -> None:
        """Of all that is in one scope (PML-3)."""
        modules, params = in_scope(body)
        explicit: set[str] = set()
        for module in modules:
            if module.name in explicit:
                raise self.source.refuse(module.node, f"a module beside it is called "
                                         f"{module.name}, too. Give this one another name.")
            explicit |= {module.name} - {""}
        if len(params) > MOST_PARAMS:
            raise self.source.refuse(params[MOST_PARAMS].node, "a module has at most "
                                     f"{MOST_PARAMS} texts of arguments in it. Divide it.")
        free = Scope(explicit, OF_MODULES)
        for module in modules:
            module.name = module.name or free.name(module.wish)
            if isinstance(module, Module):
                self.name(module.body)
        free = Scope(set(), OF_PARAMS)
        for param in params:
            param.name = free.name(param.variable.name)

    # ---- Limits ----

    def measure(self, body: list[Part], around: ast.AST) -> tuple[int, int]:
        """Elements that stand in each other, and bytes at least."""
        height = size = 0
        for part in body:
            tall, large, node = 1, ELEMENT, around
            if isinstance(part, Text):
                large = len(part.text.encode())
            else:
                node = part.node
            if isinstance(part, (Role, Module)):
                tall, large = self.measure(part.body, node)
            elif isinstance(part, Branches):
                inner = [self.measure(module.body, module.node) for _, module in part.members]
                tall = part.is_union + max(one for one, _ in inner)
                large = sum(one + ELEMENT for _, one in inner)
            elif isinstance(part, Call):
                tall, large = part.program.height, part.program.size
            if not isinstance(part, (Text, Param)):
                tall, large = tall + 1, large + ELEMENT
            height, size = max(height, tall), size + large
            if height >= MOST_NESTED:
                raise self.too_deep(node)
            if size > MOST_BYTES:
                raise self.source.refuse(node, f"the schema would have more than {MOST_BYTES} "
                                         "bytes (PML-1). A program is written out at each call "
                                         "of it: call it less often, or shorten its texts.")
        return height, size


def in_scope(body: list[Part]) -> tuple[list[Module | Call], list[Param]]:
    modules: list[Module | Call] = []
    params: list[Param] = []
    for part in body:
        if isinstance(part, (Module, Call)):
            modules.append(part)
        elif isinstance(part, Branches):
            modules += [module for _, module in part.members]
        elif isinstance(part, Param):
            params.append(part)
        elif isinstance(part, Role):
            inner = in_scope(part.body)
            modules += inner[0]
            params += inner[1]
    return modules, params


def role_in(body: list[Part]) -> str | None:
    """A role inside, in whatever modules."""
    for part in body:
        bodies: list[list[Part]] = []
        if isinstance(part, Role):
            return part.role
        if isinstance(part, Module):
            bodies = [part.body]
        elif isinstance(part, Branches):
            bodies = [module.body for _, module in part.members]
        elif isinstance(part, Call) and part.program.role:
            return part.program.role
        for inner in bodies:
            found = role_in(inner)
            if found is not None:
                return found
    return None


def wish_of(test: ast.expr) -> str:
    """What a module is called after, with this condition: of `city == "tokyo"`, tokyo."""
    text = shown(test).replace("==", "is").replace("!=", "is not")
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Eq, ast.In)):
        right = test.comparators[0]
        values = right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else [right]
        words = [word_of(shown(test.left), one) for one in values]
        text = "-or-".join(words) if words and all(words) else text
    return text.replace("'", "").replace('"', "")


def word_of(name: str, value: ast.expr) -> str:
    """For `name == value`; empty: none is short."""
    if not isinstance(value, ast.Constant):
        return ""
    if isinstance(value.value, str):
        return value.value if derived(value.value, OF_MODULES) != "_" else ""
    if isinstance(value.value, bool):
        return name if value.value else f"not {name}"
    return f"{name} {value.value!r}"


def read(path: str, function: str | None = None) -> Program:
    """The program in a file: the function of this name, or the one that no other one calls."""
    chain: list[Function] = []
    try:
        compiler = Compiler(Files(path))
        chain = compiler.chain
        return compiler.main(function)
    except RecursionError:
        path = chain[-1][0].source.path if chain else path
        raise Refusal(f"{path}:1:1: an expression of the file nests too deep. Divide it.") from None

