#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prompt programs (spec/programs.md): schemas and prompts of them, beside the programs as they run.

    CHUNKPROOF_COMMAND=build/chunkproof tests/programs.py [--verbose] [TEST...]

CHUNKPROOF_PACKAGE is the folder with the package and its examples, default python/.
CHUNKPROOF_SEED begins the random programs, CHUNKPROOF_CASES is how many. GOLDEN=write writes the
files of tests/golden/program/ anew. Exit status 0 right, 1 wrong.
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest
from collections import Counter
from collections.abc import Iterator

from program_check import PACKAGE, PROGRAMS, ROOT, TEMPLATES, InFolder

from chunkproof.calls import of_words
from chunkproof.compiler import read
from chunkproof.markup import prompt_of, schema_of
from program_examples import Examples  # noqa: F401
from program_files import Files  # noqa: F401
from program_random import HEAD, Maker

GOLDEN = ROOT / "tests" / "golden" / "program"
EXAMPLES: dict[str, dict[str, str | bool | int]] = {  # the program: one call of it
    "travel": {"city": "miami", "duration": "3 days", "question": "Where can one surf?",
               "overseas": True},
    "reader": {"age": "adult", "name": "Ada", "wish": "  A book\n\tabout <tea> & \"sea\"  ",
               "likes_history": True},
    "game": {"task": "Write the main program: a map, two players, and a game of theirs.",
             "unit": True, "board": True, "player": True, "rules": True, "database": True},
    "learner": {"grade": "middle school", "level": "beginner", "history": "studied a year before",
                "style": "auditory", "test": "essay", "motivation": "high intrinsic motivation",
                "task": "Say in two sentences who the learner is."},
    "holiday": {"for_": "a week", "city": "tokyo", "request": "Make a travel plan."},
    "support": {"tone": "formal", "question": "What bears 3 kN?", "technical": True},
}


class Law(InFolder):
    """PROG-6."""

    def test_random_programs_say_what_their_prompts_say(self) -> None:
        seed = int(os.environ.get("CHUNKPROOF_SEED", "1"))
        cases = max(int(float(os.environ.get("CHUNKPROOF_CASES", "200"))) // 2, 20)
        had: Counter[str] = Counter()
        for i in range(cases):
            maker = Maker(1000 * seed + i, 1 + i // 3 % 3)
            files = maker.program()
            calls = [maker.arguments(maker.functions[0]) for _ in range(4)]
            template = ("none", "chatml", "llama2")[i % 3]
            with self.subTest(seed=seed, case=i):
                report = self.holds(files.pop("program"), "f_0", calls, template, files)
                had += Counter(part["kind"] for part in report["schema"]["parts"])
                had += maker.had
        print(f"\n# programs {cases}, seed {seed}: {dict(had)}")
        for kind in ("module", "union", "text", "param", "if", "elif", "match", "call", "role",
                     "named", "constant", "other file"):
            self.assertGreaterEqual(had[kind], cases // 4, kind)

    def test_examples_say_what_their_prompts_say(self) -> None:
        texts = {path.stem: re.sub("(@prompt.*)", lambda head: re.sub(r"=\d+", "=300", head[0]),
                                   path.read_text())
                 for path in sorted(PROGRAMS.glob("*.py"))}
        self.assertEqual(set(texts), {*EXAMPLES, "company"})
        for name, arguments in EXAMPLES.items():
            function = {"reader": "suggest"}.get(name, name)
            for template in TEMPLATES:
                if name != "travel" or template == "none":
                    self.holds(texts[name], function, [arguments], template, texts)

    def test_each_character_is_kept(self) -> None:
        """PROG-2: white space and what XML escapes, in texts and in arguments."""
        odd = "".join(map(chr, range(32, 128))) + "\t\n\r\r\n ]]> \u00A0\u0085\u2028\U0001F600"
        texts = [odd, " a", "a ", " ", "\n", "\t", "a  b", "a\nb", "\ra", "]]>", "&lt;", "\u3000",
                 "x" * 300 + " y" * 300]
        for first in texts:
            body = f"    yield {first!r}\n    yield who\n    yield {' ' + first!r}\n"
            body = "    with user:\n        yield who + ' ' + who\n" + body
            text = f"{HEAD}@prompt(who=999)\ndef f(who: str):\n{body}"
            self.holds(text, "f", [{"who": who} for who in ["", *texts]], "none")


class Schemas(InFolder):
    """PROG-2 to PROG-5."""

    def golden(self, name: str, text: str) -> None:
        if os.environ.get("GOLDEN") == "write":
            (GOLDEN / name).write_text(text)
        self.assertEqual(text, (GOLDEN / name).read_text())

    def test_examples_have_their_schemas_and_prompts(self) -> None:
        for name, arguments in EXAMPLES.items():
            program = read(str(PROGRAMS / f"{name}.py"))
            self.golden(f"{name}.xml", schema_of(program))
            self.golden(f"{name}-prompt.xml", prompt_of(program, arguments))

    def test_the_chapter_shows_what_is_written(self) -> None:
        chapter = (ROOT / "spec" / "programs.md").read_text()
        blocks = re.findall(r"^((?:    .*\n|\n)+)", chapter, re.M)
        shown = [re.sub("^    ", "", one.strip("\n") + "\n", flags=re.M) for one in blocks
                 if one.strip()]
        program = read(self.write("travel.py", shown[0]))
        self.assertEqual(schema_of(program), shown[1])
        given = of_words(program, ["city=miami", "duration=3 days", "overseas=false"])
        self.assertEqual(prompt_of(program, given), shown[2])

    def names(self, text: str, kind: str = "module") -> list[str]:
        return re.findall(f'<{kind} name="([^"]*)"', self.schema(text))

    def test_names_are_derived_from_conditions(self) -> None:
        """PROG-4."""
        head = ("@prompt(who=3)\ndef f(rich: bool, city: Literal['new york', 'rom', ''],\n"
                "      n: Literal[1, 2], who: str):\n")
        for condition, name in (
                ("rich", "rich"), ("not rich", "not-rich"), ("rich and who", "rich-and-who"),
                ("city == 'new york'", "new-york"), ("city in ('rom', 'new york')",
                                                     "rom-or-new-york"),
                ("city != 'rom'", "city-is-not-rom"), ("n == 2", "n-2"), ("city == ''", "city-is"),
                ("who == 'prompt'", "_prompt"), ("who == 'XmL'", "_XmL"), ("who == '3 a'", "_3-a"),
                ("who == '\u00e9_\u00df'", "\u00e9-\u00df"), ("who == '_a_b'", "_a-b"),
                ("who == '!'", "_")):
            text = f"{head}    if {condition}:\n        yield 'x'\n    yield who\n"
            expected = "who-is" if name == "_" else name
            self.assertEqual(self.names(text), [expected], condition)
        match = ("    match rich:\n        case True:\n            yield 'x'\n"
                 "        case False:\n            yield 'y'\n"
                 "    match city:\n        case 'rom' | '':\n            yield 'x'\n"
                 "        case _:\n            yield 'y'\n    yield who\n")
        self.assertEqual(self.names(head + match), ["rich", "not-rich", "city-in-rom", "else-city"])
        for condition, name in (("city not in ('rom',)", "city-not-in-rom"),
                                ("city not in ('rom', '')", "city-not-in-rom")):
            text = f"{head}    if {condition}:\n        yield 'x'\n    yield who\n"
            self.assertEqual(self.names(text), [name], condition)
        long = "    if who == 'a" + "b" * 99 + "':\n        yield 'x'\n    yield who\n"
        self.assertEqual(self.names(head + long), ["a" + "b" * 59])

    def test_names_of_a_scope_are_unique(self) -> None:
        """PROG-4."""
        text = ("@prompt\ndef a():\n    yield 'a'\n"
                "@prompt(who=3)\ndef f(x: bool, who: str):\n"
                "    yield from a()\n    if x:\n        yield f'{who}{who}'\n"
                "        if x:\n            yield 'inner'\n"
                "    with user:\n        yield from a()\n        if x:\n            yield 'u'\n"
                "    with module('a-2'):\n        yield f'{who}'\n"
                "    with module('b'):\n        yield from a()\n    yield who\n")
        self.assertEqual(self.names(text), ["a", "x", "x", "a-3", "x-2", "a-2", "b"])
        self.assertEqual(self.names(text, "param"), ["who", "who-2", "who", "who"])

    def test_derived_names_meet(self) -> None:
        """PROG-4: x-2 of a text, before x comes a second time."""
        text = ("@prompt(who=3)\ndef f(x: bool, who: str):\n    if who == 'x 2':\n"
                "        yield who\n" + "    if x:\n        yield 'x'\n" * 3)
        self.assertEqual(self.names(text), ["x-2", "x", "x-3", "x-4"])

    def test_given_names_count(self) -> None:
        """PROG-4: of a branch, of a call, of a program, of a module."""
        text = ("@prompt('say')\ndef a():\n    yield 'a'\n"
                "@prompt('whole')\ndef f(x: bool):\n"
                "    if x:\n        with module('one'):\n            yield '1'\n"
                "    else:\n        with module('two'):\n            yield '2'\n"
                "    yield from a()\n    with user, module('three'):\n        yield '3'\n"
                "        yield from a()\n")
        self.assertEqual(self.names(text), ["one", "two", "say", "three", "say"])
        self.assertEqual(self.names(text, "schema"), ["whole"])

    def test_prompts_choose_the_first_branch_that_holds(self) -> None:
        """PROG-2, PROG-6: and none where none holds."""
        text = (HEAD + "@prompt\ndef f(a: bool, b: bool):\n    if a:\n        yield 'x'\n"
                "    elif a or b:\n        yield 'y'\n    elif not b and False:\n"
                "        yield 'z'\n")
        program = read(self.write("program.py", text))
        self.assertIn("<union>", schema_of(program))
        for a, b, element in ((True, True, "  <a/>\n"), (False, True, "  <a-or-b/>\n")):
            self.assertEqual(prompt_of(program, {"a": a, "b": b}),
                             f'<prompt schema="f">\n{element}</prompt>\n')
        self.assertEqual(prompt_of(program, {"a": False, "b": False}), '<prompt schema="f"/>\n')

    def test_a_name_that_is_cut_ends_as_any_other(self) -> None:
        """PROG-4: what is cut off is cut at 60 characters, and no `-` or `.` is left at the end."""
        text = ("@prompt(who=3)\ndef f(who: str):\n    yield who\n"
                f"    if who == '{'b' * 58}-. c':\n        yield 'x'\n")
        self.assertEqual(self.names(text), ["b" * 58])

    def test_no_param_has_the_name_of_an_attribute(self) -> None:
        """PROG-4: of <prompt>, which names its schema."""
        text = "@prompt(schema=3)\ndef f(schema: str):\n    yield schema\n"
        self.assertEqual(self.names(text, "param"), ["_schema"])
        self.holds(HEAD + text, "f", [{"schema": "x"}], "none")

    def test_a_given_name_has_255_bytes_at_most(self) -> None:
        """PROG-4, PML-3."""
        text = "@prompt\ndef f():\n    with module('%s'):\n        yield 'x'\n"
        self.assertEqual(self.names(text % ("\u00e9" * 127 + "a")), ["\u00e9" * 127 + "a"])
        self.assertIn("is no name that PML lets a module have",
                      self.refused(HEAD + text % ("\u00e9" * 128)))

    def test_an_else_with_an_if_alone_is_an_elif(self) -> None:
        """PROG-2: as Python reads it, so that both are one union."""
        head = "@prompt\ndef f(a: bool, b: bool):\n    if a:\n        yield 'x'\n"
        written = self.schema(head + "    else:\n        if b:\n            yield 'y'\n")
        self.assertEqual(written, self.schema(head + "    elif b:\n        yield 'y'\n"))
        self.assertIn('\n    <module name="b">', written)
        more = "    else:\n        if b:\n            yield 'y'\n        yield 'z'\n"
        self.assertIn('\n    <module name="else-a">', self.schema(head + more))

    def test_a_parameter_hides_a_name_of_the_top(self) -> None:
        """PROG-1: also where a constant is asked for."""
        text = (HEAD + "city = 'x'\n@prompt\ndef f(city: Literal['a', 'b'] = 'a'):\n"
                "    with module(city):\n        yield 'y'\n")
        self.assertIn(":7:17: city is no name", self.refused(text))
        self.assertIn('<module name="x">', schema_of(read(self.write(
            "program.py", text.replace("f(city", "f(town")))))

    def test_calls_pass_values(self) -> None:
        """PROG-5: by place, by name, by default; literals, constants, conditions, parameters."""
        text = (HEAD + "NAME = 'Bo' 'b'\n"
                "@prompt(t=5)\ndef g(c: Literal['a', 'b'], x: bool, /, t: str = 'none', *,\n"
                "      y: bool = True):\n    yield t\n    if x:\n        yield 'x'\n"
                "    if y:\n        yield 'y'\n    if c == 'b':\n        yield 'b'\n"
                "@prompt(who=5)\ndef f(c: Literal['b', 'a'], who: str):\n"
                "    yield from g(c, c == 'a')\n    yield from g('b', False, who, y=False)\n"
                "    yield from g(c, not (c in ['b']), t=NAME + '!')\n"
                "    yield from g(c, True, t=c)\n")
        program = read(self.write("program.py", text))
        self.assertEqual(
            prompt_of(program, {"c": "a", "who": "Ada"}),
            '<prompt schema="f">\n'
            '  <g t="none">\n    <x/>\n    <y/>\n  </g>\n'
            '  <g-2 t="Ada">\n    <b/>\n  </g-2>\n'
            '  <g-3 t="Bob!">\n    <x/>\n    <y/>\n  </g-3>\n'
            '  <g-4 t="a">\n    <x/>\n    <y/>\n  </g-4>\n</prompt>\n')
        self.holds(text, "f", [{"c": c, "who": who} for c in "ab" for who in ("", "Ada")], "none")

    def test_a_default_of_the_called_counts(self) -> None:
        """PROG-5: of a bool, too; a constant may be one by many others (PROG-1)."""
        names = "A = 'x'\n" + "".join(f"{b} = {a}\n" for a, b in zip("ABCDEF", "BCDEFG"))
        text = (HEAD + names + "@prompt\ndef g(no: bool = False, yes: bool = True):\n"
                "    if no:\n        yield 'no'\n    if yes:\n        yield 'yes'\n"
                "@prompt\ndef f(c: Literal['x', 'y']):\n    yield from g()\n"
                "    if c == G:\n        yield G\n")
        self.holds(text, "f", [{"c": "x"}, {"c": "y"}], "none")

    def test_imports_may_have_other_names(self) -> None:
        """PROG-1."""
        bodies = (("from chunkproof.program import prompt as p, user as u", "p", "u"),
                  ("import chunkproof.program", "chunkproof.program.prompt",
                   "chunkproof.program.user"),
                  ("import chunkproof.program as cp", "cp.prompt", "cp.user"),
                  ("from chunkproof import program", "program.prompt", "program.user"))
        for line, decorator, role in bodies:
            for brackets in ("", "()", "('f')"):
                text = (f"{line}\n@{decorator}{brackets}\ndef f():\n    '''What it is.'''\n"
                        f"    with {role}:\n        yield 'x'\n")
                schema = schema_of(read(self.write("program.py", text)))
                self.assertIn("<user>\n    x\n  </user>", schema)

    def test_types_and_constants_may_have_names(self) -> None:
        """PROG-1, PROG-3: a parameter hides a constant, but not inside of another constant."""
        text = (HEAD + "City = Literal['a', 'b']\nwho = 'no'\nWHO: str = f'{who}?'\nWORDS: str\n"
                "WORDS = WHO + '!'\n@prompt(who=9)\ndef f(c: City, who: str = WORDS):\n"
                "    yield f'{who} {WORDS}'\n    if c == 'a':\n        yield WHO\n")
        text = text.replace("who: str = WORDS", "who: str = 'yes'")
        self.holds(text, "f", [{"c": "a", "who": "x"}, {"c": "b"}], "none")


class Limits(InFolder):
    """PROG-7."""

    def chain(self, n: int, calls: int) -> str:
        last = "@prompt\ndef f0():\n    yield 'x'\n"
        return HEAD + last + "".join(
            f"@prompt\ndef f{i}():\n" + f"    yield from f{i - 1}()\n" * calls
            for i in range(1, n))

    def test_elements_that_stand_in_each_other(self) -> None:
        for n, ends in ((63, "nothing"), (64, "(PML-1). Nest less."), (5000, "Nest less.")):
            said = self.refused(self.chain(n, 1))
            self.assertTrue(said.endswith(ends), said)
        schema = self.write("schema.xml", schema_of(read(self.write("p.py", self.chain(63, 1)))))
        self.report(schema)

    def test_a_schema_that_is_too_long_for_its_indentation(self) -> None:
        text = HEAD + "@prompt\ndef f0():\n"
        text += "    yield 'a b'\n    with user:\n        yield 'c'\n" * 20000
        text += "".join(f"@prompt\ndef f{i}():\n    yield from f{i - 1}()\n" for i in range(1, 61))
        said = self.refused(text)
        self.assertRegex(said, r"^program.py:\d+:1: the schema has \d+ bytes, and may have 10")

    def test_many_branches(self) -> None:
        names = [f"'c{i}'" for i in range(3000)]
        cases = "".join(f"        case {name}:\n            yield {name}\n" for name in names)
        text = f"{HEAD}@prompt\ndef f(c: Literal[{', '.join(names)}]):\n    match c:\n{cases}"
        self.holds(text, "f", [{"c": "c0"}, {"c": "c2999"}], "none")

    def test_many_elifs_are_a_union_or_refused(self) -> None:
        for n in (300, 20000):
            body = "".join(f"    {'el' if i else ''}if who == 'c{i}':\n        yield 'x'\n"
                           for i in range(n))
            text = f"{HEAD}@prompt(who=3)\ndef f(who: str):\n{body}"
            said = self.refused(text)
            if n == 300:
                self.holds(text, "f", [{"who": "c299"}, {"who": ""}], "none")
            self.assertTrue(said == "nothing" or "too deep for Python" in said, said)

    def test_many_params(self) -> None:
        text = HEAD + "@prompt(who=3)\ndef f(who: str):\n" + "    yield who\n" * 990
        self.holds(text, "f", [{"who": " a "}], "none")
        self.assertIn("at most 990", self.refused(text + "    yield who\n"))

    def test_branches_that_stand_in_each_other(self) -> None:
        for n, elements in ((62, 64), (63, 65)):  # modules; with the schema and a text
            ifs = "".join("    " * (i + 1) + "if x:\n" for i in range(n))
            text = f"{HEAD}@prompt\ndef f(x: bool):\n{ifs}{'    ' * n} yield ' a'\n"
            with self.subTest(elements=elements):
                if elements > 64:
                    self.assertIn("Nest less.", self.refused(text))
                else:
                    self.holds(text, "f", [{"x": True}, {"x": False}], "none")

    def test_programs_that_double(self) -> None:
        """That is measured before anything is written."""
        for n in (14, 50):  # without the check, the second one would never end
            said = self.refused(self.chain(n, 2).replace("'x'", f"'{'x' * 2000}'"))
            self.assertRegex(said, r"^program.py:\d+:16: the schema would have more than 10000000")

    def test_long_and_mixed_sums(self) -> None:
        text = HEAD + "@prompt(who=9)\ndef f(who: str):\n    yield 'a' + (who + f'b{who}') + 'c'\n"
        self.holds(text, "f", [{"who": "x y"}], "none")
        text = HEAD + "@prompt\ndef f():\n    yield " + " + ".join(["'a'"] * 500) + "\n"
        self.holds(text, "f", [{}], "none")
        deep = HEAD + "@prompt\ndef f():\n    yield " + " + ".join(["'a'"] * 50000) + "\n"
        self.assertRegex(self.refused(deep), "nests too deep|nothing")


class Refusals(InFolder):
    """PROG-7: each message with its place."""

    def records(self) -> Iterator[tuple[str, str, str]]:
        for record in re.split("^#### ", (GOLDEN / "refusals.txt").read_text(), flags=re.M)[1:]:
            title, _, rest = record.partition("\n")
            text, _, says = rest.partition("---- says\n")
            yield title, text, says

    def test_refusals(self) -> None:
        found = []
        for title, text, says in self.records():
            said = self.refused(HEAD.replace("\n", "; ", 2) + text) + "\n"
            # The words and the place of other mistakes are those of Python's version.
            said = re.sub(r"\d+:\d+: this is no Python: .*", "this is no Python", said)
            found.append(f"#### {title}\n{text}---- says\n{said}")
            if os.environ.get("GOLDEN") != "write":
                with self.subTest(title):
                    self.assertEqual(said, says)
        if os.environ.get("GOLDEN") == "write":
            (GOLDEN / "refusals.txt").write_text("".join(found))
        self.assertGreater(len(found), 50)

    def test_nothing_is_run(self) -> None:
        """PROG-1."""
        mark = self.folder / "mark"
        text = (f"open({str(mark)!r}, 'w').close()\n{HEAD}@prompt\n"
                f"def f(x: bool = True):\n    yield 'x'\n")
        read(self.write("program.py", text))
        self.assertFalse(mark.exists())

    def test_files_that_are_no_python(self) -> None:
        for text, says in (("def f(:", "program.py:1:7: this is no Python"),
                           ("\0", "program.py:1:"), ("# coding: none-such\n", "program.py:1:1:"),
                           ("(" * 5000, "program.py:1:"), ("x = '\udc80'", "program.py:1:1:")):
            self.assertTrue(self.refused(text).startswith(says), self.refused(text))

    def test_a_column_counts_characters(self) -> None:
        said = self.refused(HEAD + "@prompt\ndef f():\n    yield '\u00e9\U0001F600' + x\n")
        self.assertTrue(said.startswith("program.py:6:18: x is no text"), said)


class Commands(InFolder):
    """The commands from outside (PROG-7)."""

    def test_a_schema_and_a_prompt_are_written(self) -> None:
        example = str(PROGRAMS / "travel.py")
        run = self.run_module("schema", example, "-o", "travel.xml")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        run = self.run_module("prompt", example, "city=tokyo", "-o", "tokyo.xml", "duration=a=b",
                              "question=When?", "overseas=true")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        report = self.report(str(self.folder / "travel.xml"), str(self.folder / "tokyo.xml"))
        self.assertIn("a=b", self.texts(report, 0))
        self.assertEqual(sorted(os.listdir(self.folder)), ["tokyo.xml", "travel.xml"])
        run = self.run_module("schema", example)
        self.assertEqual((run.returncode, run.stdout),
                         (0, (self.folder / "travel.xml").read_text()))

    def test_bad_use(self) -> None:
        example = str(PROGRAMS / "travel.py")
        good = ("duration=x", "question=x")
        for words, says in (
                (("prompt", example, "city=tokio", *good),
                 "the argument city is one of tokyo, miami, and not 'tokio'. Did you mean "
                 "'tokyo'?"),
                (("prompt", example, "city=tokyo", "overseas=yes", *good), "one of false, true"),
                (("prompt", example, "city=tokyo"), "the argument duration of travel is missing"),
                (("prompt", example, "town=tokyo", *good), "travel has no argument town"),
                (("prompt", example, "city", *good), "'city' is no argument. Write NAME=VALUE."),
                (("prompt", example, "city=tokyo", "city=miami", *good), "is given twice"),
                (("prompt", example, "city=tokyo", "duration=\x01", "question="), "U+0001"),
                (("schema", example, "--function", "travels"), "Did you mean 'travel'?"),
                (("schema", "none.py"), "none.py: cannot be read: No such file"),
                (("schema", "."), "cannot be read: Is a directory"),
                (("schema",), "PROGRAM.py"), (("schema", example, "--bogus"), "--bogus"),
                (("schema", example, "-o", "none/x.xml"), "cannot write none/x.xml"),
                (("schema", example, "-o", "/dev/full"), "cannot write /dev/full")):
            run = self.run_module(*words)
            self.assertEqual((run.returncode, run.stdout), (2, ""), words)
            self.assertIn(says, run.stderr)
            self.assertNotIn("Traceback", run.stderr)
            self.assertEqual(os.listdir(self.folder), [])

    def test_bytes_that_are_not_utf_8(self) -> None:
        example = PROGRAMS / "travel.py"
        for word, byte in (("question=caf\\351?", "e9"), ("city=\\377", "ff"),
                           ("\\377city=miami", "ff")):
            run = self.run_in_shell(f"prompt '{example}' \"$(printf '{word}')\"",
                                    "export PYTHONUTF8=1; ")
            self.assertEqual((run.returncode, run.stdout), (2, ""), word)
            self.assertIn(f" is not UTF-8: it has the byte 0x{byte}. Give it", run.stderr)

    def test_the_program_is_not_lost(self) -> None:
        path = self.write("p.py", HEAD + "@prompt\ndef f():\n    yield 'x'\n")
        run = self.run_module("schema", "p.py", "-o", "p.py")
        self.assertEqual((run.returncode, "is a file of the program" in run.stderr), (2, True))
        self.assertIn("yield", pathlib.Path(path).read_text())

    def test_a_file_is_written_whole_or_not_at_all(self) -> None:
        self.write("p.py", HEAD + "@prompt\ndef f():\n    yield 'x'\n")
        self.write("old.xml", "old")
        run = self.run_in_shell("schema p.py -o old.xml", "ulimit -f 0; ")
        self.assertEqual((run.returncode, run.stderr),
                         (2, "cannot write old.xml: File too large\n"))
        self.assertEqual((self.folder / "old.xml").read_text(), "old")
        self.assertEqual(sorted(os.listdir(self.folder)), ["old.xml", "p.py"])

    def test_a_file_is_as_others_are(self) -> None:
        """It has the rights of a new file, and a link goes on to be one."""
        self.write("p.py", HEAD + "@prompt\ndef f():\n    yield 'x'\n")
        os.symlink("there.xml", self.folder / "link.xml")
        run = self.run_module("schema", "p.py", "-o", "link.xml", umask=0o027)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertTrue((self.folder / "link.xml").is_symlink())
        self.assertEqual((self.folder / "there.xml").stat().st_mode & 0o777, 0o640)

    def test_output_that_cannot_be_written(self) -> None:
        self.write("p.py", HEAD + "@prompt\ndef f():\n    yield 'x'\n")
        run = self.run_in_shell("schema p.py >/dev/full")
        self.assertEqual((run.returncode, "cannot write" in run.stderr), (2, True), run.stderr)
        for name in ("schema", "prompt"):  # Python has no sys.stdout then
            run = self.run_in_shell(f"{name} p.py >&-")
            self.assertEqual((run.returncode, run.stderr),
                             (2, "cannot write to standard output: Bad file descriptor\n"))

    def test_a_message_that_cannot_be_written(self) -> None:
        """The status is 2 all the same. Nothing goes to standard output in place of it."""
        for words in ("schema none.py", "prompt none.py", "schema", "prompt"):
            for to in ("2>&-", "2>/dev/full", "<&- 2>&-"):
                run = self.run_in_shell(f"{words} {to}")
                self.assertEqual((run.returncode, run.stdout), (2, ""), (words, to))

    def test_examples_run_as_python(self) -> None:
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import support, travel; "
                "print(''.join(travel.travel('miami', '3 days', 'Where?')), "
                "''.join(support.support('plain', 'How?', True)))")
        run = subprocess.run([sys.executable, "-c", code, str(PROGRAMS)],
                             capture_output=True, text=True, check=False,
                             env={**os.environ, "PYTHONPATH": PACKAGE,
                                  "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("Plan a trip of 3 days. Miami lies", run.stdout)
        self.assertIn("when you do not know.The units are:", run.stdout)


if __name__ == "__main__":
    unittest.main()
