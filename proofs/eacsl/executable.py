# SPDX-License-Identifier: Apache-2.0
"""Makes contracts executable: a copy of include/, ref/ and proofs/logic/ in which each contract is
written so that E-ACSL translates it. proofs/eacsl/README.md lists the rules. What they do not cover
is an error; a clause that has no value at run time is left out, with the reason."""
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from acsl import Reader, Term, Unknown, Variables, names, parts, read, rebuild, show, substitute
from contract import Clause, Contract, Fields, NotExecutable

# (a, < or <=, b, the hypothesis that says so, if it is one alone)
Comparison: TypeAlias = tuple[Term, str, Term, Term | None]

ANNOTATION = re.compile(r"/\*@(.*?)\*/", re.S)
STRUCT = re.compile(r"^struct (\w+) \{\n(.*?)^\};", re.S | re.M)
FIELD = re.compile(r"((?:const |struct |unsigned |long )*\w+(?:\s+\*|\s))\s*(\w+)((?:\[\w+\])*)")
LINE = re.compile(r"//@[^\n]*")  # a step of a proof, in one line
MACRO = re.compile(r"^#define ([A-Z_]+)\(([\w, ]+)\)\s+((?:.*\\\n)*.*)$", re.M)
STEPS = ("loop", "assert", "ghost", "check")  # steps of proofs
CLAUSES = ("requires", "assigns", "ensures", "behavior", "assumes", "complete", "disjoint")
DEFINITIONS = ("predicate", "logic", "axiomatic", "lemma")

# E-ACSL 25 gives the counter of this one's quantifier two types, and then adds 1 to the address of
# a number in place of the number (run looks for it). It is written out where it is used.
WRITTEN_OUT = ("items_all_there",)

# E-ACSL 25 leaves out, without a word, what the behaviors of these assume, and so never tries them.
NEVER_TRIED = ("cp_decoder_run",)

# Clauses that hold for real numbers, and for doubles up to rounding.
REAL = {("cp_finish", "merge_6_mean"), ("rescale", "positive"), ("normalised", "layer_2"),
        ("rotate_pair", "dec_8"), ("cp_rotate", "dec_8")}


def first_word(annotation: str) -> str:
    word = re.match(r"\s*(?://[^\n]*\s*)*(\w+)", annotation)
    return word[1] if word else ""


def all_of(terms: Sequence[Term]) -> Term | None:
    return joined(terms) if terms else None


def joined(terms: Sequence[Term]) -> Term:
    """terms[0] && terms[1] && ...: of one at least."""
    result = terms[-1]
    for term in reversed(terms[:-1]):
        result = ("and", term, result)
    return result


def conjuncts(e: Term) -> list[Term]:
    """Its parts by &&, comparisons in pairs."""
    if e[0] == "and":
        return conjuncts(e[1]) + conjuncts(e[2])
    if e[0] == "chain" and len(e[2]) > 1:
        return [("chain", e[1][i:i + 2], (operator,)) for i, operator in enumerate(e[2])]
    return [e]


def calls(e: Term) -> Iterator[tuple[str, tuple[Term, ...]]]:
    if e[0] == "call":
        yield e[1], e[2]
    for part in parts(e):
        yield from calls(part)


def written_out(text: str, macros: Mapping[str, tuple[list[str], str]]) -> str:
    """An annotation with the definitions of proofs/logic/ in place of their names."""
    while found := re.search(r"\b(" + "|".join(macros) + r")\(", text):
        end, depth, given = found.end(), 1, [""]
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            if text[end] == "," and depth == 1:
                given.append("")
            elif depth > 0:
                given[-1] += text[end]
            end += 1
        parameters, body = macros[found[1]]
        values = dict(zip(parameters, map(str.strip, given), strict=True))
        body = re.sub(r"\w+", lambda m: values.get(m[0], m[0]), body)
        text = text[:found.start()] + body + text[end:]
    return text


def has_product(e: Term) -> bool:
    return e[:2] == ("binary", "*") or any(map(has_product, parts(e)))


def ranges_in(e: Term) -> Iterator[Term]:
    if e[0] == "range":
        yield e
    for part in parts(e):
        yield from ranges_in(part)


def quantified(e: Term) -> bool:
    return e[0] in ("forall", "exists") or any(map(quantified, parts(e)))


class Contracts:
    """What the sources say: structures, definitions, contracts."""

    def __init__(self, root: pathlib.Path, definitions: pathlib.Path, covered: tuple[str, ...],
                 internal: bool) -> None:
        self.root, self.covered, self.internal = root, covered, internal
        self.structs: dict[str, Fields | None] = {}
        self.same_of: dict[str, str] = {}
        self.definitions: dict[str, tuple[str, Variables, Term | None]] = {}  # kind, ..., body
        self.axioms: dict[str, Term] = {}
        self.by_axiom: set[str] = set()
        self.ambiguous: set[str] = set()  # names with two definitions
        self.macros: dict[str, tuple[list[str], str]] = {}
        self.clauses: list[Contract] = []
        self.chunks: set[str] = set()
        self.bounded = False
        # predicate that stays a predicate: its text, or the reason why it has none
        self.kept: dict[str, str | NotExecutable] = {}
        self.files = [path
                      for part in ("include/chunkproof/*.h", "proofs/logic/*.h", "ref/*.h",
                                   "ref/*.c")
                      for path in sorted(root.glob(part))]
        for path in self.files:
            self.read_structs(path.read_text())
        for path in filter(self.is_covered, self.files):
            self.macros.update({name: (re.split(r",\s*", parameters), body.replace("\\\n", " "))
                                for name, parameters, body in MACRO.findall(path.read_text())})
        for path in filter(self.is_covered, self.files):
            for m in ANNOTATION.finditer(path.read_text()):
                self.read_annotation(path, m)
        ambiguous = set(self.ambiguous)  # what definitions.h says instead is meant
        for m in ANNOTATION.finditer(definitions.read_text()):
            before = set(self.definitions)
            self.read_definitions(Reader(m[1]))
            missing = set(self.definitions) - before
            if missing and internal:
                raise Unknown(f"{definitions.name} defines {missing.pop()}, which nothing uses")
        self.ambiguous = ambiguous

    def is_covered(self, path: pathlib.Path) -> bool:
        return path.stem.startswith(self.covered) and (self.internal or path.parent.name != "ref")

    # ---- Reading ----

    def read_structs(self, text: str) -> None:
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        for name, body in STRUCT.findall(text):
            found = [FIELD.fullmatch(declaration.strip())
                     for declaration in body.split(";") if declaration.strip()]
            fields = [(m[1].strip(), m[2], re.findall(r"\[(\w+)\]", m[3])) for m in found if m]
            self.structs[f"struct {name}"] = fields if None not in found else None

    def fields_of(self, kind: str) -> Fields:
        fields = self.structs.get(kind)
        if not fields:
            raise Unknown(f"{kind} is not understood")
        return fields

    def read_annotation(self, path: pathlib.Path, m: re.Match[str]) -> None:
        word = first_word(m[1])
        try:
            if word in STEPS:
                return
            if word in DEFINITIONS:
                self.read_definitions(Reader(m[1]))
            elif word in CLAUSES:
                self.read_contract(path, m)
            else:
                raise Unknown(f"an annotation that begins with `{word}`")
        except Unknown as problem:
            raise Unknown(f"{path.name}: {problem}") from None

    def read_definitions(self, reader: Reader) -> None:
        while reader.peek():
            word = reader.next()
            if word in ("axiomatic", "type"):
                reader.next()
                reader.expect("{" if word == "axiomatic" else ";")
            elif word == "}":
                continue
            elif word in ("axiom", "lemma"):
                name = reader.name()
                reader.labels()
                reader.expect(":")
                body = reader.predicate()
                if word == "axiom":
                    self.read_axiom(body)
                self.axioms[name] = body
                reader.expect(";")
            elif word in ("predicate", "logic"):
                kind = reader.type() if word == "logic" else "predicate"
                name = reader.name()
                reader.labels()
                parameters, body = reader.parameters(), None
                if reader.take("="):
                    body = reader.predicate()
                elif reader.take("reads"):
                    while reader.peek() != ";":
                        reader.next()
                reader.expect(";")
                before = self.definitions.get(name, (kind, parameters, None))
                if body and before[2] and before != (kind, parameters, body):
                    self.ambiguous.add(name)
                self.definitions[name] = kind, parameters, body
            else:
                raise Unknown(f"a definition that begins with `{word}`")

    def read_axiom(self, body: Term) -> None:
        """\\forall x; [condition ==>] f(x) == term (or <==>) is the definition of f, when it is the
        only axiom about f: one for each case defines nothing that is executed."""
        if body[0] != "forall":
            return
        bound, body = body[1], body[2]
        if body[0] == "implies":
            body = body[2]
        if body[0] == "chain" and body[2] == ("==",):
            left, right = body[1]
        elif body[0] == "iff":
            left, right = body[1:]
        else:
            return
        if left[0] != "call":
            return
        kind, parameters, old = self.definitions.get(left[1], ("", (), None))
        if left[1] in self.by_axiom:
            self.definitions[left[1]] = kind, parameters, None
            return
        if left[2] != tuple(("name", name) for _, name in bound):
            return
        if old is None and kind and left[1] not in {name for name, _ in calls(right)}:
            self.definitions[left[1]] = kind, bound, right
            self.by_axiom.add(left[1])

    def read_contract(self, path: pathlib.Path, m: re.Match[str]) -> None:
        text = path.read_text()
        head = re.match(r"\s*(?:static\s+)?(?P<type>[\w\s*]+?)(?P<name>\w+)"
                        r"\((?P<parameters>[^)]*)\)",
                        text[m.end():])
        if not head:
            raise Unknown("a contract with no function behind it")
        function, parameters = head["name"], {}
        ghost = re.match(r"\s*/\*@ ghost \(([^)]*)\)", text[m.end() + head.end():])
        for parameter in head["parameters"].split(","):
            kind = re.fullmatch(r"\s*(.*?)(\w+)\s*", parameter, re.S)
            if kind and parameter.strip() != "void":
                parameters[kind[2]] = " ".join(kind[1].replace("*", " * ").split())
        contract = Contract(function, parameters, " ".join(head["type"].split()))
        contract.ghosts = set(re.findall(r"(\w+)\s*(?:,|$)", ghost[1])) if ghost else set()
        reader, behavior = Reader(written_out(m[1], self.macros)), ""
        while reader.peek():
            word = reader.next()
            if word == "behavior":
                behavior = reader.name()
                reader.expect(":")
                continue
            if word in ("complete", "disjoint"):
                if reader.next() != "behaviors":
                    raise Unknown(f"{function}: {word} what?")
                contract.closing.append(word)
            elif word == "assigns":
                contract.add(Clause(function, behavior, "assigns", "assigns",
                                    tuple(self.read_places(reader))))
            elif word in ("requires", "ensures", "assumes"):
                name = ""
                if reader.peek(1) == ":":
                    name = reader.name()
                    reader.expect(":")
                contract.add(Clause(function, behavior, word, name, reader.predicate()))
            else:
                raise Unknown(f"{function}: a clause that begins with `{word}`")
            reader.expect(";")
        contract.place = path, m.start()
        self.clauses.append(contract)

    @staticmethod
    def read_places(reader: Reader) -> list[Term]:
        places = []
        while reader.peek() != ";":
            if reader.take(r"\nothing"):
                continue
            place = reader.sum()
            if reader.take(r"\from"):
                while reader.peek() not in (",", ";"):
                    reader.next()
            if place != ("result",):
                places.append(place)
            reader.take(",")
        return places

    # ---- Definitions in place of names ----

    def is_kept(self, name: str) -> bool:
        """Does this predicate stay one? It must have values for parameters, and
        not be a mere test."""
        kind, parameters, body = self.definitions[name]
        if kind != "predicate" or body is None or any("*" in t for t, _ in parameters) or \
                name in WRITTEN_OUT:
            return False
        return quantified(body) or any(self.is_kept(called) for called, _ in calls(body)
                                       if called in self.definitions)

    def keep(self, name: str) -> None:
        if name not in self.kept:
            _, parameters, body = self.definitions[name]
            assert body is not None  # is_kept()
            try:
                before, self.bounded = self.bounded, False
                types = {n: t for t, n in parameters}
                body = self.typed(self.ranges(self.expanded(body)), types)
                self.kept[name] = "predicate {}({}) =\n    {};".format(
                    name, ", ".join(f"{t} {n}" for t, n in parameters), show(body))
                self.bounded = self.bounded or before
            except NotExecutable as problem:
                self.kept[name] = problem
        kept = self.kept[name]
        if isinstance(kept, NotExecutable):
            raise kept

    def expanded(self, e: Term) -> Term:
        if e[0] in ("forall", "exists"):
            for called, arguments in calls(e[2]):
                if called == "pool_used" and arguments[1][0] == "name":
                    self.chunks.add(arguments[1][1])
        if e[0] == "call":
            if e[1] not in self.definitions:
                raise Unknown(f"{e[1]}() is defined nowhere")
            if e[1] in self.ambiguous:
                raise Unknown(f"{e[1]}() is defined twice: name one of them otherwise")
            if self.is_kept(e[1]):
                self.keep(e[1])
            else:
                _, parameters, body = self.definitions[e[1]]
                if body is None:
                    raise NotExecutable(f"{e[1]}() has axioms and no value")
                values = {n: a for (_, n), a in zip(parameters, e[2])}
                return self.expanded(substitute(body, values))
        if e[0] == "builtin" and e[1] == r"\at":
            raise NotExecutable("the content of memory at another time")
        if e[0] == "builtin" and e[1] in (r"\valid", r"\valid_read"):
            found: Term = rebuild(e, self.expanded)
            for _, low, high in ranges_in(found):  # to E-ACSL no memory is not valid
                if low[0] == "num" and high[0] != "num":
                    found = "or", ("chain", (high, low), ("<",)), found
            return found
        if e[0] == "range":
            low, high = map(self.expanded, e[1:])
            is_cast = low[0] == "num" and has_product(high)  # E-ACSL counts with addresses else
            return "range", low, ("cast", "long", high) if is_cast else high
        if e[0] == "builtin" and e[1] in (r"\max", r"\min"):
            a, b = map(self.expanded, e[2])
            return "if", ("chain", (a, b), (">=" if e[1] == r"\max" else "<=",)), a, b
        return rebuild(e, self.expanded)

    # ---- Values before and after ----

    def placed(self, e: Term, contract: Contract, old: bool = False,
               bound: frozenset[str] = frozenset()) -> Term:
        """*p is p_now, \\old(*p) is p_old, and \\old is nowhere else."""
        if e[0] == "old":
            return self.placed(e[1], contract, True, bound)
        if e[0] == "deref" and e[1][0] == "name" and e[1][1] in contract.pointers:
            name = f"{e[1][1]}_{'old' if old else 'now'}"
            contract.used.add(name)
            return "name", name
        if e[0] == "deref" and old:
            raise NotExecutable("the old content of memory")
        if e[0] == "index" and old and self.is_behind_a_pointer(e[1], contract):
            raise NotExecutable("the old content of memory")
        if e[0] == "index" and e[1][0] == "name" and old:
            kind = contract.parameters.get(e[1][1], "")
            if not kind.startswith("const"):
                if names(e[2]) & bound:
                    raise NotExecutable("the old content of an array")
                return "old", e
        if e[0] in ("forall", "exists", "lambda"):
            bound = bound | {name for _, name in e[1]}
        return rebuild(e, lambda part: self.placed(part, contract, old, bound))

    def is_behind_a_pointer(self, e: Term, contract: Contract) -> bool:
        """Is it an array that a field of a parameter leads to? No copy has it."""
        kinds = {f"{name}_now": kind for name, kind in contract.pointers.items()}
        return self.type_of(self.placed(e, contract), kinds).endswith("*")

    # ---- Quantifiers ----

    def ranges(self, e: Term) -> Term:
        """Each quantifier over one variable, its bounds first."""
        e = rebuild(e, self.ranges) if e[0] not in ("forall", "exists") else e
        if e[0] not in ("forall", "exists"):
            return e
        if any(t != "integer" for t, _ in e[1]):
            raise NotExecutable(f"a quantifier over all values of {e[1][0][0]}")
        given, goal = [], self.ranges(e[2])
        variables = [name for _, name in e[1]]
        if e[0] == "exists":
            return "not", self.ranged(variables, conjuncts(goal), ("name", "\\false"))
        while goal[0] == "implies":
            given += conjuncts(goal[1])
            goal = goal[2]
        return self.ranged(variables, given, goal)

    def ranged(self, variables: Sequence[str], given: Sequence[Term], goal: Term) -> Term:
        """\\forall variables; given ==> goal. Behind the bounds stands neither ==> nor &&: E-ACSL
        takes what it finds there for more bounds, and leaves out without a word what is none."""
        if not variables:
            for term in reversed(given):
                goal = "or", ("not", term), goal
            return goal
        ready = [term for term in given if not names(term) & set(variables)]
        given = [term for term in given if term not in ready]
        known = self.comparisons(given, variables)
        for name in variables:
            low = next(((a, operator, term) for a, operator, b, term in known
                        if b == ("name", name) and not names(a) & set(variables)), None)
            high = next(((b, operator, term) for a, operator, b, term in known
                         if a == ("name", name) and not names(b) & set(variables)), None)
            if low and high:
                break
        else:
            name = variables[0]
            if name not in self.chunks:
                raise Unknown(f"no bounds for {name}: "
                              f"{show(joined(given)) if given else 'nothing is given'}")
            self.bounded = True
            low = ("num", "0"), "<=", None
            high = ("name", "CP_MAX_CHUNKS"), "<", None
        rest = [term for term in given if term not in (low[2], high[2])]
        limits = "chain", (low[0], ("name", name), high[0]), (low[1], high[1])
        found: Term = "forall", (("integer", name),), ("implies", limits, self.ranged(
            [other for other in variables if other != name], rest, goal))
        for term in reversed(ready):
            found = "or", ("not", term), found
        return found

    @staticmethod
    def comparisons(given: Iterable[Term], variables: Sequence[str]) -> list[Comparison]:
        """(a, < or <=, b, the hypothesis that says so or None if it follows from several)."""
        found: list[Comparison] = []
        for term in given:
            if term[0] == "chain" and term[2][0] in ("<", "<=", ">", ">="):
                (a, b), operator = term[1], term[2][0]
                found.append((a, operator, b, term) if operator[0] == "<" else
                             (b, operator.replace(">", "<"), a, term))
        for a, first, b, _ in list(found):
            # v * c <= n where c >= 1: v <= n
            if a[:2] == ("binary", "*") and a[2][0] == "name" and a[2][1] in variables:
                found.append((a[2], first, b, None))
            found += [(a, max(first, second, key=lambda o: o == "<"), c, None)
                      for middle, second, c, _ in list(found)
                      if middle == b and b[0] == "name" and b[1] in variables]
        return found

    # ---- Types ----

    def type_of(self, e: Term, types: Mapping[str, str]) -> str:
        if e[0] == "name":
            return types.get(e[1], "")
        if e[0] == "result":
            return types.get("\\result", "")
        if e[0] == "field":
            for kind, name, dimensions in self.structs.get(self.type_of(e[1], types)) or ():
                if name == e[2]:
                    return kind + "".join(f"[{n}]" for n in dimensions)
        if e[0] == "binary":  # a place of an array
            return next(filter(None, (self.type_of(part, types) for part in e[2:])), "")
        if e[0] == "index":
            inside = self.type_of(e[1], types)
            return re.sub(r"\[\w+\]", "", inside, count=1) if "[" in inside else inside.rstrip(" *")
        return ""

    def typed(self, e: Term, types: Mapping[str, str]) -> Term:
        """== of structures is the predicate that compares their fields."""
        if e[0] == "chain" and e[2] in (("==",), ("!=",)):
            kind = self.type_of(e[1][0], types)
            if kind.startswith("struct") and not kind.endswith("*"):
                same = "call", self.same(kind), e[1]
                return same if e[2] == ("==",) else ("not", same)
        return rebuild(e, lambda part: self.typed(part, types))

    def same(self, kind: str) -> str:
        """The name of the predicate that compares two of these structures."""
        name = "same_" + kind.split()[1] + "_fields"
        if kind not in self.same_of:
            self.same_of[kind] = name
            for inner, _, _ in self.fields_of(kind):
                if inner.startswith("struct"):
                    self.same(inner)
        return name

    def same_text(self, kind: str) -> str:
        terms = []
        for inner, field, dimensions in self.fields_of(kind):
            a, b = (("field", ("name", side), field) for side in "ab")
            terms.append(self.equal(inner, dimensions, a, b))
        return f"predicate {self.same(kind)}({kind} a, {kind} b) =\n    {show(joined(terms))};"

    def equal(self, kind: str, dimensions: Sequence[str], a: Term, b: Term, depth: int = 0) -> Term:
        if not dimensions:
            return ("call", self.same(kind), (a, b)) if kind.startswith("struct") else \
                ("chain", (a, b), ("==",))
        index = "name", f"i_{depth}"
        limits = "chain", (("num", "0"), index, ("name", dimensions[0])), ("<=", "<")
        return "forall", (("integer", index[1]),), ("implies", limits, self.equal(
            kind, dimensions[1:], ("index", a, index), ("index", b, index), depth + 1))

    # ---- Frames ----

    def frame(self, contract: Contract, places: Iterable[Term]) -> Term | None:
        """What `assigns` does not name is as before; None if it names all."""
        terms = []
        for name in contract.pointers:
            paths = []
            for place in places:
                path = self.path(place, name)
                if path is not None:
                    paths.append(path)
            kind = contract.pointers[name]
            term = self.unchanged(contract, kind, [], ("name", f"{name}_now"),
                                  ("name", f"{name}_old"), paths)
            if term:
                contract.used |= {f"{name}_now", f"{name}_old"}
                terms.append(term)
        return all_of(terms)

    @staticmethod
    def path(place: Term, name: str) -> list[Any] | None:
        steps: list[Any] = []
        while place[0] in ("field", "index"):
            steps.insert(0, place[2])
            place = place[1]
        return steps if place == ("deref", ("name", name)) else None

    def unchanged(self, contract: Contract, kind: str, dimensions: Sequence[str], now: Term,
                  old: Term, paths: Sequence[Sequence[Any]], depth: int = 0) -> Term | None:
        if [] in paths:
            return None
        if not paths or (kind.endswith("*") and not dimensions):  # what is behind it is no part
            return self.equal(kind, dimensions, now, old)
        if dimensions:
            index = "name", f"place_{depth}"
            ranges = {show(path[0]): path[0] for path in paths}
            if len(ranges) > 1:
                raise Unknown(f"{contract.function}: assigns two parts of one array")
            rest = [path[1:] for path in paths]
            step = self.placed(next(iter(ranges.values())), contract, old=True)
            if step[0] == "range":
                low, high = step[1:]
            else:
                low = high = step
            every = "chain", (("num", "0"), index, ("name", dimensions[0])), ("<=", "<")
            a, b = ("index", now, index), ("index", old, index)
            inside = self.unchanged(contract, kind, dimensions[1:], a, b, rest, depth + 1)
            whole = (low, high) == (("num", "0"), read(f"{dimensions[0]} - 1"))
            outside = "or", ("chain", (index, low), ("<",)), ("chain", (index, high), (">",))
            terms: list[Term] = [] if whole else [
                ("implies", outside, self.equal(kind, dimensions[1:], a, b, depth + 1))]
            if inside:
                terms.append(("implies", ("chain", (low, index, high), ("<=", "<=")), inside))
            if not terms:
                return None
            return "forall", (("integer", index[1]),), ("implies", every, joined(terms))
        terms = []
        for inner, field, sizes in self.fields_of(kind):
            term = self.unchanged(contract, inner, sizes, ("field", now, field),
                                  ("field", old, field),
                                  [path[1:] for path in paths if path[0] == field], depth)
            if term:
                terms.append(term)
        return all_of(terms)

    # ---- Writing ----

    def translate(self) -> None:
        for contract in self.clauses:
            contract.prepare(self.structs)
            for clause in contract.clauses:
                try:
                    self.bounded = False
                    clause.text = self.translate_clause(contract, clause)
                    clause.bounded = self.bounded
                except NotExecutable as problem:
                    clause.why = str(problem)
                except Unknown as problem:
                    clause.why = f"not understood: {problem}"

    def translate_clause(self, contract: Contract, clause: Clause) -> str:
        if (clause.function, clause.name) in REAL:
            raise NotExecutable("true of real numbers, of doubles up to rounding")
        if clause.function in NEVER_TRIED and clause.behavior and clause.kind != "assumes":
            raise NotExecutable("E-ACSL leaves out what its behavior assumes")
        if clause.kind != "assigns" and names(clause.term) & contract.ghosts:
            raise NotExecutable("it is about a parameter of ghost code")
        contract.used = set()
        types = dict(contract.parameters)
        types["\\result"] = contract.returns
        for name, kind in contract.pointers.items():
            types[f"{name}_now"] = types[f"{name}_old"] = kind
        if clause.kind == "assigns":
            term = self.frame(contract, clause.term)
            if term is None:
                raise NotExecutable("it names all that the parameters lead to")
        else:
            term = self.expanded(clause.term)
            term = self.ranges(self.placed(term, contract))
        term = self.typed(term, types)
        lets = ""
        for name in sorted(contract.used):
            pointer, _, when = name.rpartition("_")
            value = f"*({contract.pointers[pointer]} *){pointer}"  # E-ACSL would copy to a const
            lets += f"\\let {name} = {value if when == 'now' else f'{chr(92)}old({value})'}; "
        return lets + show(term)

    def write(self, place: pathlib.Path) -> None:
        """The copy. Annotations are replaced one by one, in place, by as many lines."""
        written: set[str] = set()
        for path in sorted(self.files,
                           key=lambda path: path.parent.name != "logic"):  # included first
            target = place / path.relative_to(self.root)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = ANNOTATION.sub(lambda m: self.replacement(path, m, written), path.read_text())
            text = LINE.sub("", text)
            target.write_text(re.sub(r"\b_Alignof\b", "__alignof__",
                                     text))  # Frama-C knows only this

    def replacement(self, path: pathlib.Path, m: re.Match[str], written: set[str]) -> str:
        lines = m[0].count("\n")
        word = first_word(m[1])
        out: list[str] = []
        if not self.is_covered(path):
            return "\n" * lines
        comparing = []  # a predicate for each structure that is compared, once it is declared
        if word in DEFINITIONS or word in CLAUSES:
            before = path.read_text()[:m.start()]
            header = self.root / "include/chunkproof" / path.name  # that includes this file
            if path.parent.name == "logic" and header.exists():
                before = header.read_text().partition("#ifdef __FRAMAC__")[0]
            before = re.sub(r"/\*.*?\*/", " ", before, flags=re.S)
            for name, _ in STRUCT.findall(before):
                kind = f"struct {name}"
                if kind in self.same_of and kind not in written:
                    written.add(kind)
                    comparing.append(self.same_text(kind))
        if word in DEFINITIONS:
            defined = [self.kept.get(name) for name in re.findall(r"\bpredicate (\w+)", m[1])]
            out += comparing + [text for text in defined if isinstance(text, str)]
            comparing = []
        elif word in CLAUSES:
            contract = next(c for c in self.clauses if c.place == (path, m.start()))
            out += contract.lines()
        text = "".join("/*@ " + "\n".join(part) + " */" for part in (comparing, out) if part)
        return text + "\n" * max(0, lines - text.count("\n"))


def make(root: pathlib.Path, place: pathlib.Path, definitions: pathlib.Path,
         covered: tuple[str, ...], internal: bool = True) -> Contracts:
    """The copy below `place`, with the contracts of the files whose names begin so (internal: those
    in ref/ too); the others go."""
    contracts = Contracts(pathlib.Path(root), definitions, covered, internal)
    contracts.translate()
    contracts.write(pathlib.Path(place))
    return contracts
