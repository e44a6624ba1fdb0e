# SPDX-License-Identifier: Apache-2.0
"""Prompt programs of several files (PROG-8); tests/programs.py runs these tests, too."""
import errno
import os
import pathlib
import re
from unittest import mock

from program_check import InFolder

from chunkproof.compiler import read
from chunkproof.markup import schema_of
from program_random import HEAD

SHARED = (HEAD + "from chunkproof.program import prompt as program\n"
          "UNITS = 'kg and mm. '\nCity = Literal['rom', 'bonn']\nROM = 'rom'\n"
          "@prompt(who=30)\ndef greeting(who: str = 'you', city: City = ROM):\n"
          "    yield f'Hello {who}. '\n    if city == ROM:\n        yield UNITS\n")
BODY = ("@prompt(who=30)\ndef f(city: S.City, who: str = S.ROM):\n    yield S.UNITS + 'x'\n"
        "    yield f'{S.UNITS}'\n    yield from S.greeting(who, city)\n    if city == S.ROM:\n"
        "        yield who\n    yield from S.greeting(S.UNITS)\n")
NAMES = ("City", "ROM", "UNITS", "greeting")
CALLS = [{"city": city, "who": who} for city in ("rom", "bonn") for who in ("", "Ada")]


class Files(InFolder):
    """PROG-8."""

    def program(self, text: str, files: dict[str, str]) -> str:
        """The schema of a program with its head."""
        self.write_all(files)
        return schema_of(read(self.write("program.py", HEAD + text)))

    def says(self, text: str, files: dict[str, str], message: str) -> None:
        said = self.refused(HEAD.replace("\n", "; ", 2) + text, files)
        self.assertEqual(said, message, f"{text}\n{files}")

    def test_each_form_of_an_import_says_the_same(self) -> None:
        one_by_one = BODY.replace("S.", "")
        renamed = BODY
        for name in NAMES:
            renamed = renamed.replace(f"S.{name}", f"other_{name}")
        words = ", ".join(f"{name} as other_{name}" for name in NAMES)
        written = set()
        for text in (f"from shared import {', '.join(NAMES)}\n{one_by_one}",
                     f"from .shared import {', '.join(NAMES)}\n{one_by_one}",
                     f"from shared import {words}\n{renamed}",
                     f"from .shared import {words}\n{renamed}",
                     f"import shared as S\n{BODY}", f"from . import shared as S\n{BODY}",
                     "import shared\n" + BODY.replace("S.", "shared."),
                     "from . import shared\n" + BODY.replace("S.", "shared."),
                     SHARED + one_by_one):
            with self.subTest(text):
                self.holds(HEAD + text, "f", CALLS, "none", {"shared": SHARED})
                written.add(self.schema(text, "f").replace("shared.", "").replace("S.", "")
                            .replace("other_", "").replace("city-is-other-", "city-is-"))
        self.assertEqual(len(written), 1, written)

    def test_a_file_imports_a_file(self) -> None:
        """Names of one program may come through another file, prompt and Literal, too."""
        shared = ("from units import KG, Literal, greeting as hello, prompt, user\nimport units\n"
                  "TEXT = f'{KG} {units.KG}'\nKG_2 = units.KG\n"
                  "@prompt\ndef both(x: Literal['a', 'b']):\n    yield from hello()\n"
                  "    yield from units.greeting()\n")
        units = HEAD + "KG = 'kg'\n@prompt\ndef greeting():\n    yield KG\n"
        text = ("from shared import KG, KG_2, Literal, TEXT, both, hello, prompt, user\n"
                "import shared\n@prompt\ndef f(x: Literal['a', 'b']):\n    yield TEXT + KG + KG_2\n"
                "    with user:\n        yield shared.units.KG\n    yield from both(x)\n"
                "    yield from hello()\n    yield from shared.units.greeting()\n")
        self.holds(text, "f", [{"x": "a"}], "chatml", {"shared": shared, "units": units})

    def test_a_module_has_the_name_of_the_program(self) -> None:
        """PROG-4: whatever file it is in, and whatever an import calls it."""
        def one(name: str, text: str, head: str = "") -> str:
            return f"{HEAD}@prompt{head}\ndef {name}():\n    yield '{text}'\n"

        text = ("from shared import greeting as hello, own as theirs\nimport units\n"
                "@prompt\ndef greeting():\n    yield 'mine'\n"
                "@prompt\ndef f():\n    yield from hello()\n    yield from greeting()\n"
                "    yield from units.greeting()\n    yield from theirs()\n"
                "    with module('units'):\n        yield from units.greeting()\n")
        files = {"shared": one("greeting", "shared") + one("own", "own", "('say')"),
                 "units": one("greeting", "units")}
        self.assertEqual(self.program(text, files), '<schema name="f">\n' + "".join(
            f'  <module name="{name}">\n    {said}\n  </module>\n' for name, said in (
                ("greeting", "shared"), ("greeting-2", "mine"), ("greeting-3", "units"),
                ("say", "own"), ("units", "units"))) + "</schema>\n")
        self.holds(HEAD + text, "f", [{}], "none", files)

    def test_constants_of_one_name_are_those_of_their_files(self) -> None:
        shared = HEAD + "WHO = 'them'\nSAY = WHO + '!'\n@prompt\ndef g():\n    yield WHO\n"
        text = ("from shared import SAY, g\nWHO = 'me'\n@prompt(SAY_2=9)\n"
                "def f(SAY_2: str, WHO_2: bool = True):\n    yield WHO + SAY\n"
                "    yield from g()\n    yield SAY_2\n")
        self.holds(HEAD + text, "f", [{"SAY_2": "x"}], "none", {"shared": shared})
        # A parameter of the program means nothing in the other file.
        text = text.replace("SAY_2", "WHO_3").replace("WHO + SAY", "SAY")
        self.holds(HEAD + text.replace("WHO_3", "WHO").replace("WHO = 'me'\n", ""), "f",
                   [{"WHO": "x"}], "none", {"shared": shared})

    def test_types_and_values_mean_what_they_do_in_their_file(self) -> None:
        """PROG-1: there Literal and bool are imported, or not, and a constant is another one."""
        shared = ("from typing import Literal as L\nCity = L['rom', 'bonn']\nFlag = bool\n"
                  "BASE = 'rom'\nROM = BASE\n")
        text = ("from chunkproof.program import prompt\nimport shared\nBASE = 'bonn'\n"
                "def bool(): ...\n@prompt\n"
                "def f(x: shared.Flag, city: shared.City = shared.ROM):\n"
                "    if city == shared.ROM:\n        yield 'x'\n    if x:\n        yield 'y'\n")
        self.holds(text, "f", [{"x": True}, {"x": True, "city": "bonn"}, {"x": False}], "none",
                   {"shared": shared})

    def test_a_parameter_hides_a_file(self) -> None:
        """PROG-1."""
        head = "import shared\n@prompt(shared=3)\ndef f(shared: str):\n    yield shared\n"
        files = {"shared": HEAD + "A = 'a'\n@prompt\ndef g():\n    yield 'x'\n"}
        self.says(head + "    yield shared.A\n", files,
                  "program.py:6:11: shared.A is no text of a program. Write literals, f-strings "
                  "with names in braces, and `+` between them.")
        self.says(head + "    yield from shared.g()\n", files,
                  "program.py:6:16: yield from takes the call of a function with @prompt, of this "
                  "file or of one that it imports, and shared.g() is none.")
        self.says(head + "    if shared.A == 'a':\n        yield ''\n", files,
                  "program.py:6:8: shared.A is no condition of a program. It is made of "
                  "parameters, literals, `==`, `!=`, `in`, `and`, `or` and `not`. Give another "
                  "one by a bool parameter.")

    def test_a_case_may_be_a_constant_of_a_file(self) -> None:
        """PROG-3: Python compares with a name that has a dot."""
        text = ("import shared\n@prompt\ndef f(city: shared.City, n: Literal[1, 2]):\n"
                "    match city:\n        case shared.ROM:\n            yield 'r'\n"
                "        case shared.BONN | 'x':\n            yield 'b'\n"
                "    match n:\n        case shared.ONE:\n            yield '1'\n")
        files = {"shared": HEAD + "City = Literal['rom', 'bonn', 'x']\nROM = 'rom'\nONE = 1\n"
                           "BONN = 'bonn'\n"}
        calls = [{"city": city, "n": n} for city in ("rom", "bonn", "x") for n in (1, 2)]
        self.holds(HEAD + text, "f", calls, "none", files)
        self.assertEqual(re.findall('name="([^"]*)"', self.program(text, files)),
                         ["f", "city-in-shared.ROM", "city-in-shared.BONN-x", "n-in-shared.ONE"])

    def test_nothing_of_a_file_is_run(self) -> None:
        """PROG-1."""
        mark = self.folder / "mark"
        shared = f"open({str(mark)!r}, 'w').close()\nA = 'a'\n"
        text = "from shared import A\n@prompt\ndef f():\n    yield A\n"
        self.assertIn("\n  a\n", self.program(text, {"shared": shared}))
        self.assertFalse(mark.exists())

    def test_a_file_that_no_text_is_from_is_not_read(self) -> None:
        text = ("import helpers, program_2\nfrom helpers import log\nfrom nowhere import more\n"
                "from ..above import all_else\nfrom . import missing\n"
                "@prompt\ndef f():\n    yield 'x'\ndef run():\n    log(more, all_else, missing)\n")
        self.assertIn("\n  x\n", self.program(text, {
            "helpers": "this is no Python", "program_2": "from program import *\n"}))

    def test_messages_say_where_the_mistake_is(self) -> None:
        """PROG-7: in the file where it stands."""
        call = "@prompt\ndef f():\n    yield from g()\n"
        text = "@prompt\ndef f():\n    yield A\n"
        literals = "Write literals, f-strings with names in braces, and `+` between them."
        for program, shared, message in (
                (f"from share import g\n{call}", "",
                 "program.py:2:19: a program uses g of share, which is no file beside this one. "
                 "Nothing else is read: write it here, or into such a file."),
                (f"import share\n{text.replace('A', 'share.A')}", "",
                 "program.py:2:8: a program uses share, which is no file beside this one. "
                 "Nothing else is read: write it here, or into such a file."),
                (f"from .share import A\n{text}", "",
                 "program.py:2:20: a program uses A of .share, which is no file beside this one. "
                 "Nothing else is read: write it here, or into such a file."),
                (f"from ..shared import A\n{text}", "A = 'a'",
                 "program.py:2:22: a program uses A of ..shared, which is no file beside this one. "
                 "Nothing else is read: write it here, or into such a file."),
                (f"from shared.units import A\n{text}", "A = 'a'",
                 "program.py:2:26: a program uses A of shared.units, which is no file beside this "
                 "one. Nothing else is read: write it here, or into such a file."),
                (f"import shared.units\n{text.replace('A', 'shared.A')}", "A = 'a'",
                 "program.py:2:8: a program uses shared.units, which is no file beside this one. "
                 "Nothing else is read: write it here, or into such a file."),
                (f"from shared import greting as g\n{call}", "def greeting(): ...\n",
                 "program.py:2:20: shared.py has no greting at its top. Did you mean 'greeting'? "
                 "Correct the name, or write it there."),
                (f"import shared\n{text.replace('A', 'shared.A')}", "B = 'a'\n",
                 "program.py:5:11: shared.py has no A at its top. Correct the name, or write it "
                 "there."),
                (f"from shared import A\n{text}", "A = 'a'\nB = A = 'b'\n",
                 "shared.py:2:5: A has another meaning elsewhere in the file. Give one of the two "
                 "another name."),
                (f"from shared import A\n{text}", "import A\nfrom B import C as A\n",
                 "shared.py:2:15: A has another meaning elsewhere in the file. Give one of the two "
                 "another name."),
                (f"from shared import A\n{text}", "\nA = 'a' + \\\n  len('b')\n",
                 f"shared.py:3:3: len('b') is no text of a program. {literals} "
                 "program.py:5:11 uses it."),
                (f"from shared import A\n{text}", "B = 3\nA = 'a' + B\n",
                 f"shared.py:2:11: 3 is no text of a program. {literals} program.py:5:11 uses it."),
                (f"from shared import A\n{text}", "A = 'a\\0'\n",
                 "shared.py:1:5: the character U+0000 cannot stand in XML. Remove it from the "
                 "text. program.py:5:11 uses it."),
                (f"from shared import g\n{call}", "def g():\n    yield 'x'\n",
                 "program.py:5:16: yield from takes the call of a function with @prompt, of this "
                 "file or of one that it imports, and g() is none."),
                (f"from shared import g\n{call}", HEAD + "@prompt\ndef g():\n    return 'x'\n",
                 "shared.py:5:1: g yields no text. Write yield before each text of it."),
                (f"from shared import g\n{call}",
                 HEAD + "@prompt\ndef g(x: bool):\n    yield 'x'\n    yield x\n",
                 "shared.py:7:11: x is a choice, and no text. Write `match` or `if` with a text "
                 "for each of its values."),
                (f"from shared import g\n{call}", HEAD + "@prompt\ndef g(x: bool):\n    yield ''\n",
                 "program.py:5:16: the argument x of g is missing. Give it, or give it a default "
                 "there."),
                (f"from shared import A\n{text}", "from os import *\nA = ''\n",
                 "shared.py:1:1: with `import *` nobody sees what names mean. Import names one by "
                 "one."),
                (f"import shared\n{text.replace('A', 'shared.A.b')}", "A = 'a'\n",
                 f"program.py:5:11: shared.A.b is no text of a program. {literals}"),
                (f"import shared\n{text.replace('A', 'shared')}", "A = 'a'\n",
                 f"program.py:5:11: shared is no text of a program. {literals}"),
                (f"from os import name as A\n{text}", "",
                 f"program.py:5:11: A is no text of a program. {literals}")):
            self.says(program, {"shared": shared}, message)
        said = self.refused(f"{HEAD}from shared import A\n{text}", {"shared": "B = ''\nA = (\n"})
        self.assertRegex(said, r"^shared\.py:2:5: this is no Python: .*_compile shared\.py` says")

    def test_files_that_import_each_other(self) -> None:
        text = "from shared import A\nB = 'b'\n@prompt\ndef f():\n    yield A\n"
        more = "have no first one. Move what both need into a file of its own."
        self.says(text, {"shared": "from program import B\nA = 'a'\n"},
                  "shared.py:1:21: files that import each other (shared.py -> program.py -> "
                  f"shared.py) {more}")
        self.says(text, {"shared": "from units import A\n", "units": "import os, shared\nA = ''"},
                  "units.py:1:12: files that import each other (units.py -> shared.py -> units.py) "
                  f"{more}")
        self.says(text, {"shared": "from .units import A\n", "units": "from . import program as A"},
                  "units.py:1:15: files that import each other (units.py -> program.py -> "
                  f"shared.py -> units.py) {more}")
        self.says(text, {"shared": "from shared import B\nA = 'a'\n"},
                  f"shared.py:1:20: files that import each other (shared.py -> shared.py) {more}")
        self.says("import program\n@prompt\ndef f():\n    yield program.A\nA = ''\n", {},
                  "program.py:2:8: files that import each other (program.py -> program.py) "
                  f"{more}")
        # Two that import the same are no circle.
        self.assertIn("\n  aa\n", self.program(
            "from shared import A\nfrom units import B\n@prompt\ndef f():\n    yield A + B\n",
            {"shared": "from units import B as A\n", "units": "B = 'a'\n"}))

    def test_files_are_at_most_64(self) -> None:
        for n, says in ((63, "nothing"), (64, "file_62.py:1:21: a program is made of at most 64 "
                                              "files. Put the texts of some into one.")):
            files = {f"file_{i}": f"from file_{i + 1} import A\n" for i in range(n - 1)}
            files[f"file_{n - 1}"] = "A = 'a'\n"
            self.says("from file_0 import A\n@prompt\ndef f():\n    yield A\n", files, says)

    def test_programs_of_many_files_stand_in_each_other(self) -> None:
        """PROG-7: the limit is that of all files together."""
        files = {f"file_{i}": f"{HEAD}from file_{i + 1} import f as g\n@prompt\ndef f():\n"
                              "    yield from g()\n" for i in range(61)}
        files["file_61"] = f"{HEAD}@prompt\ndef f():\n    yield 'x'\n"
        text = "from file_0 import f as g\n@prompt\ndef f():\n    yield from g()\n"
        self.says(text, files, "nothing")
        files["file_61"] += "    with user:\n        yield 'y'\n"
        self.says(text, files, "program.py:5:16: more than 64 elements would stand in each other "
                  "(PML-1). Nest less.")

    def test_a_file_with_a_name_of_pythons_own(self) -> None:
        for line, name in (("from calendar import A", "calendar"), ("import sys as s", "sys"),
                           ("from chunkproof import A", "chunkproof")):
            text = f"{line}\n@prompt\ndef f():\n    yield {'s.A' if 'as s' in line else 'A'}\n"
            column = line.index("import") + 8
            self.says(text, {name: "A = 'a'\n"}, f"program.py:2:{column}: {name} is a module of "
                      "Python's own or of chunkproof, and "
                      f"{name}.py is beside this file. Give that file another name.")
            os.unlink(self.folder / f"{name}.py")
        self.assertIn("\n  a\n", self.program(
            "from .calendar import A\n@prompt\ndef f():\n    yield A\n", {"calendar": "A = 'a'\n"}))

    def test_files_of_another_folder_are_not_read(self) -> None:
        text = "from shared import A\n@prompt\ndef f():\n    yield A\n"
        outside = pathlib.Path(self.folder, "outside")
        outside.mkdir()
        (outside / "shared.py").write_text("A = 'a'\n")
        os.symlink("outside/shared.py", self.folder / "shared.py")
        self.says(text, {}, "program.py:2:20: shared.py is a link to another folder, and a program "
                  "is made of files of one. Copy the file.")
        os.unlink(self.folder / "shared.py")
        os.symlink("more.py", self.folder / "shared.py")
        self.assertIn("\n  b\n", self.program(text, {"more": "A = 'b'\n"}))
        (self.folder / "shared").mkdir()
        self.assertIn("\n  b\n", self.program(text, {}))
        (self.folder / "shared" / "__init__.py").write_text("A = 'a'\n")
        self.says(text, {}, "program.py:2:20: shared.py is hidden by a package beside it, which "
                  "Python takes. Give one of the two another name.")

    def test_a_program_that_is_a_link_has_the_files_beside_what_it_leads_to(self) -> None:
        """As Python finds them."""
        self.program("from shared import A\n@prompt\ndef f():\n    yield A\n",
                     {"shared": "A = 'a'\n"})
        (self.folder / "inner").mkdir()
        os.symlink("../program.py", self.folder / "inner" / "link.py")
        (self.folder / "inner" / "shared.py").write_text("A = 'b'\n")
        self.assertIn("\n  a\n", schema_of(read(str(self.folder / "inner" / "link.py"))))

    def test_a_file_that_cannot_be_read(self) -> None:
        def contents(path: str) -> bytes:
            if path.endswith("shared.py"):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return pathlib.Path(path).read_bytes()

        with mock.patch("chunkproof.files.contents", contents):
            self.says("from shared import A\n@prompt\ndef f():\n    yield A\n",
                      {"shared": "A = 'a'\n"}, "program.py:2:20: shared.py cannot be read: "
                      "Permission denied. Make it readable.")

    def test_the_commands_read_the_files_beside_the_program(self) -> None:
        """From whatever folder they are run, and they overwrite none of these."""
        self.program("from shared import A\n@prompt\ndef f(x: bool):\n    yield A\n",
                     {"shared": "A = 'a'\n"})
        (self.folder / "shared.xml").write_text("")
        for name, words in (("schema", []), ("prompt", ["x=true"])):
            run = self.run_module(name, str(self.folder / "program.py"), *words, cwd="/")
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            run = self.run_module(name, "program.py", *words, "-o", "shared.py")
            self.assertEqual((run.returncode, run.stderr),
                             (2, "shared.py is a file of the program; name another file to "
                                 "write\n"))
        self.assertEqual((self.folder / "shared.py").read_text(), "A = 'a'\n")
