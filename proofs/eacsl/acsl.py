# SPDX-License-Identifier: Apache-2.0
"""Reads and prints the part of ACSL that the contracts use. What is not known is an error.

A term or a predicate is a tuple: its kind, then its parts:

    ("num", "1"), ("name", "x"), ("result",), ("null",), ("string", '"..."')
    ("field", e, name), ("index", e, i), ("deref", e), ("cast", type, e), ("range", a, b)
    ("unary", operator, e), ("binary", operator, a, b), ("if", c, a, b)
    ("and", a, b), ("or", a, b), ("implies", a, b), ("iff", a, b), ("not", a)
    ("chain", (e0, e1, ...), (operator, ...))        e0 <= e1 < ...
    ("call", name, (argument, ...)), ("builtin", name, (argument, ...))
    ("old", e)                                       \\old(e) and \\at(e, Pre)
    ("forall" or "exists" or "lambda", ((type, name), ...), body)
    ("let", name, e, body)
"""
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

# The kind of a term says what its parts are.
Term: TypeAlias = tuple[Any, ...]
Variables: TypeAlias = tuple[tuple[str, str], ...]

TOKEN = re.compile(r"""\s+|//[^\n]*|(?P<number>0[xX][0-9A-Fa-f]+|\d+\.\d+(?:[eE][+-]?\d+)?|\d+)
    |(?P<name>\\?[A-Za-z_]\w*)|(?P<string>"[^"]*")
    |(?P<mark><==>|==>|<<|>>|<=|>=|==|!=|&&|\|\||->|\.\.|[-+*/%<>=!&|^~?:;,.(){}\[\]])""", re.X)
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
BUILTINS = (r"\valid", r"\valid_read", r"\separated", r"\max", r"\min", r"\sum", r"\numof",
            r"\truncate")
BINDERS = (r"\forall", r"\exists", r"\lambda", r"\let")
TYPES = ("int", "integer", "real", "double", "void", "struct", "unsigned", "long", "size_t",
         "const",
         "char", "float", "uint16_t", "uintptr_t",
         "scoring", "scaling", "biasing")  # types of the contracts' own


class Unknown(Exception):
    """Something in a contract is not understood."""


def tokens(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        m = TOKEN.match(text, at)
        if not m:
            raise Unknown(f"what is `{text[at:at + 40]}`?")
        if m.lastgroup:
            found.append(m[0])
        at = m.end()
    return found


def pointed_at(e: Term) -> Term:
    """*e; of an address what is there."""
    return e[2] if e[:2] == ("unary", "&") else ("deref", e)


class Reader:
    def __init__(self, text: str) -> None:
        self.text, self.tokens, self.at = " ".join(text.split()), tokens(text), 0

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else ""

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def take(self, token: str) -> bool:
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.take(token):
            raise Unknown(f"`{self.peek()}` where `{token}` is due, in: {self.text[:300]}")

    def name(self) -> str:
        token = self.next()
        if not re.fullmatch(r"[A-Za-z_]\w*", token):
            raise Unknown(f"`{token}` where a name is due, in: {self.text[:300]}")
        return token

    def done(self) -> None:
        if self.peek():
            raise Unknown(f"`{self.peek()}` is left over, in: {self.text[:300]}")

    def base(self) -> str:
        """A type without its stars."""
        words: list[str] = []
        while self.peek() in TYPES or words[-1:] == ["struct"]:
            words.append(self.next())
        if not words:
            raise Unknown(f"`{self.peek()}` where a type is due, in: {self.text[:300]}")
        return " ".join(words)

    def stars(self) -> str:
        found = ""
        while self.take("*"):
            found += " *"
        return found

    def type(self) -> str:
        return self.base() + self.stars()

    def variables(self, end: str) -> Variables:
        """((type, name), ...) up to this token: int *a, n, integer k."""
        found, base = [], ""
        while not self.take(end):
            if not base or self.peek() in TYPES:
                base = self.base()
            found.append((base + self.stars(), self.name()))
            if self.peek() != end:
                self.expect(",")
        return tuple(found)

    def parameters(self) -> Variables:
        return self.variables(")") if self.take("(") else ()

    def labels(self) -> set[str]:
        found = set()
        if self.take("{"):
            while not self.take("}"):
                found.add(self.next())
        return found

    # From what binds least to what binds most.
    def predicate(self) -> Term:
        if self.peek() in BINDERS and self.peek() != r"\let":
            kind = self.next()[1:]
            return kind, self.variables(";"), self.predicate()
        if self.take(r"\let"):
            name = self.name()
            self.expect("=")
            value = self.predicate()
            self.expect(";")
            return "let", name, value, self.predicate()
        condition = self.iff()
        if self.take("?"):
            yes = self.predicate()
            self.expect(":")
            return "if", condition, yes, self.predicate()
        return condition

    def iff(self) -> Term:
        left = self.implies()
        while self.take("<==>"):
            left = "iff", left, self.implies()
        return left

    def implies(self) -> Term:
        left = self.disjunction()
        if self.take("==>"):
            return "implies", left, self.implies()
        return left

    def disjunction(self) -> Term:
        left = self.conjunction()
        while self.take("||"):
            left = "or", left, self.conjunction()
        return left

    def conjunction(self) -> Term:
        left = self.bits("|")
        while self.take("&&"):
            left = "and", left, self.bits("|")
        return left

    def bits(self, operator: str) -> Term:
        tighter = {"|": "^", "^": "&"}.get(operator)
        left = self.bits(tighter) if tighter else self.comparison()
        while self.take(operator):
            left = "binary", operator, left, self.bits(tighter) if tighter else self.comparison()
        return left

    def comparison(self) -> Term:
        terms, operators = [self.shift()], []
        while self.peek() in COMPARISONS:
            operators.append(self.next())
            terms.append(self.shift())
        return ("chain", tuple(terms), tuple(operators)) if operators else terms[0]

    def shift(self) -> Term:
        left = self.sum()
        while self.peek() in ("<<", ">>"):
            left = "binary", self.next(), left, self.sum()
        return left

    def sum(self) -> Term:
        left = self.product()
        while self.peek() in ("+", "-"):
            left = "binary", self.next(), left, self.product()
        return left

    def product(self) -> Term:
        left = self.unary()
        while self.peek() in ("*", "/", "%"):
            left = "binary", self.next(), left, self.unary()
        return left

    def unary(self) -> Term:
        if self.peek() in BINDERS:  # reaches to the end
            return self.predicate()
        if self.take("!"):
            return "not", self.unary()
        if self.peek() in ("-", "&", "~"):
            return "unary", self.next(), self.unary()
        if self.take("*"):
            return pointed_at(self.unary())
        if self.peek() == "(" and self.peek(1) in TYPES:
            self.next()
            kind = self.type()
            self.expect(")")
            return "cast", kind, self.unary()
        return self.postfix()

    def postfix(self) -> Term:
        term = self.primary()
        while True:
            if self.take("."):
                term = "field", term, self.name()
            elif self.take("->"):
                term = "field", pointed_at(term), self.name()
            elif self.take("["):
                index = self.sum()
                if self.take(".."):
                    index = "range", index, self.sum()
                self.expect("]")
                term = "index", term, index
            else:
                return term

    def arguments(self) -> tuple[Term, ...]:
        found = []
        self.expect("(")
        while not self.take(")"):
            found.append(self.predicate())
            if self.peek() != ")":
                self.expect(",")
        return tuple(found)

    def primary(self) -> Term:
        token = self.next()
        if token == "(":
            inside = self.predicate()
            if self.take(".."):
                inside = "range", inside, self.predicate()
            self.expect(")")
            return inside
        if token == r"\result":
            return ("result",)
        if token == r"\null":
            return ("null",)
        if token == "sizeof":
            self.expect("(")
            kind = self.type()
            self.expect(")")
            return "sizeof", kind
        if token == r"\old":
            return ("old",) + self.arguments()
        if token == r"\at":
            self.expect("(")
            inside = self.predicate()
            self.expect(",")
            label = self.name()
            self.expect(")")
            if label not in ("Pre", "Old"):
                return "builtin", token, (inside,)  # known, with no value of its own
            return "old", inside
        if token in BUILTINS:
            return "builtin", token, self.arguments()
        if token[:1].isdigit():
            return "num", token
        if token[:1] == '"':
            return "string", token
        if re.fullmatch(r"[A-Za-z_]\w*", token):
            labels = self.labels()
            if self.peek() != "(":
                return "name", token
            called = "call", token, self.arguments()
            return ("builtin", r"\at", (called,)) if labels & {"Pre", "Old"} else called
        raise Unknown(f"`{token}`, in: {self.text[:300]}")


def read(text: str) -> Term:
    reader = Reader(text)
    found = reader.predicate()
    reader.done()
    return found


def show(e: Term) -> str:
    """Text for a tuple, with parentheses around everything."""
    kind = e[0]
    if kind in ("num", "name", "string"):
        return str(e[1])
    if kind in ("result", "null"):
        return f"\\{kind}"
    if kind == "sizeof":
        return f"sizeof({e[1]})"
    if kind == "field":
        return f"{show(e[1])}.{e[2]}"
    if kind == "index":
        return f"{show(e[1])}[{show(e[2])}]"
    if kind == "deref":
        return f"(*{show(e[1])})"
    if kind == "cast":
        return f"(({e[1]}){show(e[2])})"
    if kind == "range":
        return f"({show(e[1])} .. {show(e[2])})"
    if kind == "unary":
        return f"({e[1]}{show(e[2])})"
    if kind == "not":
        return f"(!{show(e[1])})"
    if kind == "binary":
        return f"({show(e[2])} {e[1]} {show(e[3])})"
    if kind == "if":
        return f"({show(e[1])} ? {show(e[2])} : {show(e[3])})"
    if kind in ("and", "or", "implies", "iff"):
        mark = {"and": "&&", "or": "||", "implies": "==>", "iff": "<==>"}[kind]
        return f"({show(e[1])} {mark} {show(e[2])})"
    if kind == "chain":
        return "(" + show(e[1][0]) + "".join(
            f" {operator} {show(term)}" for operator, term in zip(e[2], e[1][1:])) + ")"
    if kind in ("call", "builtin"):
        return f"{e[1]}({', '.join(map(show, e[2]))})"
    if kind == "old":
        return f"\\old({show(e[1])})"
    if kind in ("forall", "exists", "lambda"):
        bound = ", ".join(f"{t} {name}" for t, name in e[1])
        return f"(\\{kind} {bound}; {show(e[2])})"
    if kind == "let":
        return f"(\\let {e[1]} = {show(e[2])}; {show(e[3])})"
    raise Unknown(f"cannot print {kind}")


def parts(e: Term) -> Iterator[Term]:
    """The tuples right below a tuple."""
    for part in e[1:]:
        if isinstance(part, tuple) and part:
            if isinstance(part[0], str) and not (e[0] == "chain" and part is e[2]):
                yield part
            elif isinstance(part[0], tuple) and e[0] not in ("forall", "exists", "lambda"):
                yield from part


def rebuild(e: Term, function: Callable[[Term], Term]) -> Term:
    """The tuple with function() applied to those right below it."""
    if e[0] == "chain":
        return "chain", tuple(map(function, e[1])), e[2]
    if e[0] in ("call", "builtin"):
        return e[0], e[1], tuple(map(function, e[2]))
    if e[0] in ("forall", "exists", "lambda"):
        return e[0], e[1], function(e[2])
    return tuple(function(part) if isinstance(part, tuple) else part for part in e)


def names(e: Term) -> set[str]:
    """The names of variables in it, but those that it binds."""
    if e[0] == "name":
        return {e[1]}
    found = set().union(*map(names, parts(e)))
    if e[0] in ("forall", "exists", "lambda"):
        found -= {name for _, name in e[1]}
    if e[0] == "let":
        found = names(e[2]) | (names(e[3]) - {e[1]})
    return found


FRESH = [0]


def substitute(e: Term, values: Mapping[str, Term]) -> Term:
    """Replaces variables by terms; bound variables get new names, so none is captured."""
    if e[0] == "name":
        return values.get(e[1], e)
    if e[0] in ("forall", "exists", "lambda"):
        new = {}
        for _, name in e[1]:
            FRESH[0] += 1
            new[name] = f"{name.rstrip('0123456789').rstrip('_')}_{FRESH[0]}"
        values = {**values, **{old: ("name", name) for old, name in new.items()}}
        return e[0], tuple((t, new[n]) for t, n in e[1]), substitute(e[2], values)
    if e[0] == "let":
        raise Unknown("\\let in a definition")
    return rebuild(e, lambda part: substitute(part, values))
