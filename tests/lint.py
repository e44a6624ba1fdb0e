#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/text_lint.py, scripts/rooms.py and scripts/tidy: right trees pass, each finding
is found.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import ClassVar
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent


class InTree(unittest.TestCase):
    """A tree of its own with the script under test in it."""
    script = ""

    def setUp(self) -> None:
        self.tree = pathlib.Path(tempfile.mkdtemp())
        (self.tree / "scripts").mkdir()
        shutil.copy(ROOT / "scripts" / self.script, self.tree / "scripts")
        subprocess.run(["git", "init", "-q", str(self.tree)], check=True)

    def tearDown(self) -> None:
        shutil.rmtree(self.tree)

    def write(self, files: dict[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def run_script(self, *arguments: str) -> tuple[int, str]:
        run = subprocess.run([sys.executable, str(self.tree / "scripts" / self.script), *arguments],
                             check=False, capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    def finds(self, files: dict[str, str | bytes], expected: str, *arguments: str) -> None:
        self.write(files)
        status, said = self.run_script(*arguments)
        self.assertEqual(status, 1, said)
        self.assertIn(expected, said)


class Text(InTree):
    script = "text_lint.py"

    def passes(self, files: dict[str, str | bytes], *arguments: str) -> None:
        self.write(files)
        self.assertEqual(self.run_script(*arguments)[0], 0, self.run_script(*arguments)[1])

    def test_lint_right_paths_pass(self) -> None:
        self.passes({"ref/tree.c": "/* spec/tree.md says why; so does tree.c, and ref/STEM.c. */\n",
                     "spec/tree.md": "See [the code](../ref/tree.c) and ref/, and `FILE.c`.\n",
                     "tests/run.py": '"""Of ref/tree.c."""\nx = "ref/none.c"  # as ref/tree.c\n'},
                    "paths")

    def test_lint_a_path_in_a_comment_that_is_nowhere(self) -> None:
        self.finds({"ref/tree.c": "int x; /* see spec/none.md\n */\n", "spec/tree.md": ""},
                   "ref/tree.c:1: spec/none.md does not exist", "paths")

    def test_lint_a_path_in_a_document_that_is_nowhere(self) -> None:
        self.finds({"spec/tree.md": "Text.\nSee ref/none.c.\n", "ref/tree.c": ""},
                   "spec/tree.md:2: ref/none.c does not exist", "paths")

    def test_lint_a_name_that_no_file_has(self) -> None:
        self.finds({"ref/tree.c": "/* as in tree_none.c */\n"}, "tree_none.c does not exist",
                   "paths")

    def test_lint_a_path_in_a_comment_of_a_script(self) -> None:
        self.finds({"tests/x.sh": "#!/bin/sh\n# as tests/none.sh\n"},
                   "tests/x.sh:2: tests/none.sh does not exist", "paths")

    def test_lint_a_path_that_begins_in_the_middle(self) -> None:
        files: dict[str, str | bytes] = {"cli/show/show.h": "/* Scripts: show/script.c. */\n",
                                         "cli/show/script.c": ""}
        self.finds(files, "cli/show/show.h:1: show/script.c does not exist", "paths")
        self.passes({"cli/show/show.h": "/* Scripts: script.c, cli/show/script.c. */\n"}, "paths")

    def test_lint_a_room_of_the_proofs_may_name_another(self) -> None:
        self.passes({"proofs/wp/run": "#!/bin/sh\n# logic/pool.h\n", "proofs/logic/pool.h": ""},
                    "paths")
        self.finds({"ref/pool.c": "/* logic/pool.h */\n"}, "logic/pool.h does not exist", "paths")

    def test_lint_fractions_and_what_is_elsewhere_are_no_paths(self) -> None:
        self.passes({"spec/a.md": "K/V, 1/2, tokens/s, build/a.json, src/kernel.c, STEM/a.c\n"},
                    "paths")

    def test_lint_names_of_data_that_no_file_has(self) -> None:
        for end in ("json", "txt", "faults", "csv", "dict", "yml", "toml", "ini"):
            self.finds({"spec/a.md": f"See none.{end}.\n"}, f"none.{end} does not exist", "paths")

    def test_lint_a_path_in_a_comment_of_settings(self) -> None:
        for name in (".github/workflows/a.yml", "action.yml", "ruff.toml", "mypy.ini"):
            self.finds({name: "a = 1\nb = 2  # as ref/none.c\n"},
                       f"{name}:2: ref/none.c does not exist", "paths")
            self.passes({name: "a: ref/none.c\nb: x#ref/none.c\n", "ref/tree.c": ""}, "paths")

    def test_lint_strings_and_contracts_are_no_prose(self) -> None:
        self.passes({"ref/tree.c": 'const char *a = "ref/none.c /* ref/none.c */";\n'
                                   "/*@ assigns a.v; */\n"}, "paths")

    def test_lint_an_object_in_the_tree(self) -> None:
        self.finds({"ref/tree.o": b"x"}, "ref/tree.o: a built file", "built")

    def test_lint_what_patch_left(self) -> None:
        self.finds({"ref/tree.h.orig": b"x"}, "ref/tree.h.orig: a built file", "built")
        self.finds({"ref/tree.h~": b"x"}, "ref/tree.h~: a built file", "built")

    def test_lint_a_program_in_the_tree(self) -> None:
        self.finds({"tests/program": b"\x7fELF\x02\x01"}, "tests/program: a built file", "built")

    def test_lint_what_git_ignores_is_not_of_the_tree(self) -> None:
        self.passes({".gitignore": "/build/\n", "build/tree.o": b"\x7fELF"}, "built")

    def test_lint_a_line_of_101_columns(self) -> None:
        self.passes({"ref/tree.c": "x" * 100 + "\n"}, "columns")
        self.finds({"ref/tree.c": "x" * 101 + "\n"}, "ref/tree.c:1: 101 columns", "columns")

    def test_lint_wide_characters_take_two_columns(self) -> None:
        self.passes({"spec/a.md": "\u00e9" * 100 + "\n"}, "columns")
        self.finds({"spec/a.md": "\u4f60" * 51 + "\n"}, "102 columns", "columns")

    def test_lint_data_may_be_wide(self) -> None:
        self.passes({name: "x" * 200 + "\n" for name in (
            "LICENSE", "fuzz/corpus/tree/a", "tests/golden/a.txt", "tests/gate/cases/a.jsonl",
            "proofs/wp/expected.txt", "kernels/resources.csv")}, "columns")

    def test_lint_what_people_write_is_no_data(self) -> None:
        for name in ("spec/a.schema.json", "tests/faults/ref/tree.c.faults", "mk/build.mk",
                     "Makefile", "scripts/gate", "proofs/coq/Plan.v", ".github/workflows/a.yml",
                     "fuzz/dictionaries/a.dict"):
            self.finds({name: "x" * 101 + "\n"}, f"{name}:1: 101 columns", "columns")

    def test_lint_a_list_of_five_items(self) -> None:
        self.passes({"spec/a.md": "Text.\n\n" + "- item\n  goes on\n" * 4}, "lists")
        self.finds({"spec/a.md": "Text.\n\n" + "- item\n  goes on\n" * 5},
                   "spec/a.md:3: a list of 5 items", "lists")
        self.finds({"spec/a.md": "- item\n\n" * 5 + "Text.\n"}, "spec/a.md:1: a list of 5", "lists")

    def test_lint_a_list_in_a_list(self) -> None:
        inner = "- item\n" + "  - item\n" * 4
        self.passes({"spec/a.md": inner * 4 + "\nText.\n\n- item\n"}, "lists")
        self.finds({"spec/a.md": inner + "  - item\n- item\n"}, "spec/a.md:2: a list of 5", "lists")

    def test_lint_notes_steps_tasks_and_code_are_no_lists(self) -> None:
        notes = "".join(f"- {word} it is so: text\n" for word in (
            "Why", "Note", "Decision", "Example", "Rejected", "Evidence", "Proof"))
        for text in (notes, "- item\n" * 4 + "\n" + notes, "- [ ] task\n" * 5,
                     "1. step\n2. step\n3. step\n4. step\n5. step\n",
                     "```sh\n" + "- item\n" * 5 + "```\n"):
            self.passes({"spec/a.md": text}, "lists")

    def test_lint_registers_may_have_long_lists(self) -> None:
        self.passes({"CHANGELOG.md": "- item\n" * 5, "spec/ERRATA.md": "- item\n" * 5}, "lists")

    def test_lint_a_check_that_there_is_not(self) -> None:
        self.assertEqual(self.run_script("colums")[0], 2)


class Python(InTree):
    """What ruff and mypy find with the settings of this tree. scripts/deps-python has them."""
    script = "lint"
    RIGHT = '#!/usr/bin/env python3\n"""It says nothing."""\n\n\ndef f(n: int) -> int:\n' \
            "    return n\n"

    def setUp(self) -> None:
        super().setUp()
        for name in ("mypy.ini", "ruff.toml"):
            shutil.copy(ROOT / name, self.tree)
        self.tools = ROOT / "build" / "tools" / "python-lint"
        (self.tree / "build" / "tools").mkdir(parents=True)
        (self.tree / "build" / "tools" / "python-lint").symlink_to(self.tools)
        self.settings: list[str] = []

    def run_script(self, *arguments: str) -> tuple[int, str]:
        run = subprocess.run(["env", *self.settings, "bash",
                              str(self.tree / "scripts" / "lint"), *arguments],
                             check=False, capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    def needs(self, tool: str) -> None:
        if shutil.which(tool) is None and not (self.tools / "bin" / tool).exists():
            self.skipTest(f"{tool} is missing: make deps")

    def passes(self, files: dict[str, str | bytes], tool: str) -> None:
        self.write(files)
        for path in self.tree.glob("tests/*"):
            path.chmod(0o755)
        self.assertEqual(self.run_script(tool), (0, f"ok    {tool}\nchecks 1/1\n"))

    def test_lint_an_unused_import(self) -> None:
        self.needs("ruff")
        files: dict[str, str | bytes] = {"tests/a.py": self.RIGHT, "tests/run": self.RIGHT}
        self.passes(files, "ruff")
        for name in files:
            self.finds({**files, name: self.RIGHT.replace("\n\n\n", "\nimport os\n\n\n")},
                       f"`os` imported but unused\n --> {name}:3:8", "ruff")

    def test_lint_a_function_without_types(self) -> None:
        self.needs("mypy")
        files: dict[str, str | bytes] = {"tests/a.py": self.RIGHT, "tests/run": self.RIGHT,
                                         "scripts/run": self.RIGHT}  # of one name
        self.passes(files, "mypy")
        for name in files:
            self.finds({**files, name: self.RIGHT.replace(": int", "")},
                       f"{name}:5: error: Function is missing a type annotation", "mypy")

    def test_lint_a_value_of_another_type(self) -> None:
        self.needs("mypy")
        self.finds({"scripts/a.py": self.RIGHT,
                    "tests/b.py": 'import a\nimport numpy as np\na.f("1")\na.f(np.ones(1))\n'},
                   "tests/b.py:3: error: Argument 1", "mypy")

    def test_lint_a_tool_that_is_missing_is_a_skip(self) -> None:
        self.write({"tests/a.py": self.RIGHT})
        tools = self.tree / "tools"
        tools.mkdir()
        for name in ("awk", "bash", "dirname", "git"):
            (tools / name).symlink_to(str(shutil.which(name)))
        (self.tree / "build" / "tools" / "python-lint").unlink()
        self.settings = [f"PATH={tools}"]
        status, said = self.run_script("ruff", "mypy")
        self.assertEqual((status, said.splitlines()[-1]), (77, "missing: ruff mypy"), said)
        self.assertIn("skip  mypy: mypy is missing", said)

    def test_lint_a_check_of_a_tool_that_there_is_not(self) -> None:
        self.assertEqual(self.run_script("ruf")[0], 2)


class Length(InTree):
    """scripts/lint, by awk alone."""
    script = "lint"

    def run_script(self, *arguments: str) -> tuple[int, str]:
        run = subprocess.run(["bash", str(self.tree / "scripts" / "lint"), "awk"],
                             check=False, capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    def test_lint_a_file_of_601_lines(self) -> None:
        for name in ("ref/tree.c", "kernels/v3.cu", "tests/x.sh", "gate/case/recipe.h"):
            self.write({name: "\n" * 600})
            self.assertEqual(self.run_script()[0], 0, name)
            self.finds({name: "\n" * 601}, f"{name}: 601 lines; at most 600")
            self.write({name: ""})

    def test_lint_the_map_of_the_gate_has_201_lines(self) -> None:
        self.write({"gate/gate.h": "\n" * 200})
        self.assertEqual(self.run_script()[0], 0)
        self.finds({"gate/gate.h": "\n" * 201}, "gate/gate.h: 201 lines; at most 200")


class Rooms(InTree):
    script = "rooms.py"
    FILES: ClassVar[dict[str, str | bytes]] = {
        "cli/main.c": '#include "gate/gate.h"\nint main(void) {\n    return gate_check();\n}\n',
        "cli/base/clock.h": "int now(void);\n",
        "cli/base/clock.c": '#include "cli/base/clock.h"\nint now(void) {\n    return 0;\n}\n',
        "gate/gate.h": "int gate_check(void);\n",
        "gate/command.c": '#include "gate/judge/judge.h"\n'
                          "int gate_check(void) {\n    return judge();\n}\n",
        "gate/judge/judge.h": "int judge(void);\nextern const int judge_table[2];\n",
        "gate/judge/judge.c": '#include "gate/judge/judge.h"\nconst int judge_table[2] = {1, 2};\n'
                              'int judge(void) {\n    return now();\n}\n',
        "gate/judge/class.c": "int judge_class(void) {\n    return 1;\n}\n",
        "include/chunkproof/opt.h": "int cp_opt_all(void);\n",
        "opt/slice.h": '#include "chunkproof/opt.h"\nint cp_opt_slice(void);\n',
        "opt/all.c": '#include "slice.h"\nint cp_opt_all(void) {\n    return cp_opt_slice();\n}\n',
        "opt/slice.c": "int cp_opt_slice(void) {\n    return 0;\n}\n",
        "kernels/index.h": "static inline int sum(void) {\n    return 1;\n}\n",
        "ref/sum.c": "static inline int slice(void) {\n    return 1;\n}\n",
    }

    def test_rooms_right_ones_pass(self) -> None:
        self.write(self.FILES)
        status, said = self.run_script()
        self.assertEqual((status, said), (0, f"8 files in {said.split()[3]} rooms and 6 others, "
                                           "no circle\n"))

    def test_rooms_an_include_from_above(self) -> None:
        self.finds({**self.FILES, "gate/judge/class.c": '#include "gate/gate.h"\n'},
                   "gate/judge/class.c: gate/judge/ may not use gate/, but includes gate/gate.h")

    def test_rooms_a_call_from_above_without_an_include(self) -> None:
        self.finds({**self.FILES,
                    "gate/judge/class.c": "int f(void) {\n    return gate_check();\n}\n"},
                   "gate/judge/class.c: gate/judge/ may not use gate/, but uses gate_check")

    def test_rooms_a_circle_of_calls(self) -> None:
        self.finds({**self.FILES,
                    "gate/judge/class.c": "int judge_class(void) {\n"
                                          "    return judge_table[0];\n}\n",
                    "gate/judge/judge.c": "const int judge_table[2] = {1, 2};\n"
                                          "int judge(void) {\n    return judge_class();\n}\n"},
                   "a circle of calls:\n"
                   "  gate/judge/class.c calls gate/judge/judge.c (judge_table)")

    def test_rooms_a_circle_of_includes(self) -> None:
        self.finds({**self.FILES, "gate/judge/judge.h": '#include "gate/judge/class.h"\n',
                    "gate/judge/class.h": '#include "gate/judge/judge.h"\n'},
                   "a circle of includes:")

    def test_rooms_a_circle_of_calls_where_there_are_no_rooms(self) -> None:
        self.finds({**self.FILES, "opt/slice.c": "int cp_opt_slice(void) {\n"
                                                 "    return cp_opt_all();\n}\n"},
                   "a circle of calls:\n  opt/all.c calls opt/slice.c (cp_opt_slice)\n"
                   "  opt/slice.c calls opt/all.c (cp_opt_all)\n")
        for name in ("ref/sum.c", "kernels/sum.cu", "opt/simt/sum.cpp"):
            self.finds({**self.FILES, "opt/slice.c": "int cp_opt_slice(void) {\n"
                                                     "    return cp_sum();\n}\n",
                        name: "int cp_sum(void) {\n    return cp_opt_slice();\n}\n"},
                       f"  {name} calls opt/slice.c (cp_opt_slice)\n")
            (self.tree / name).unlink()

    def test_rooms_a_circle_of_includes_where_there_are_no_rooms(self) -> None:
        self.finds({**self.FILES, "include/chunkproof/opt.h": '#include "opt/slice.h"\n'},
                   "a circle of includes:\n  include/chunkproof/opt.h includes opt/slice.h\n"
                   "  opt/slice.h includes include/chunkproof/opt.h\n")
        self.finds({**self.FILES, "opt/slice.h": '#include "tile.h"\n',
                    "opt/tile.h": '#include "slice.h"\n'},
                   "  opt/tile.h includes opt/slice.h\n")

    def test_rooms_what_is_static_is_nobody_elses(self) -> None:
        self.write({**self.FILES, "ref/sum.c": "INLINE int slice(void) {\n    return 1;\n}\n"
                                               "int cp_sum(void) {\n    return cp_sums();\n}\n",
                    "ref/sums.c": "int cp_sums(void) {\n    int slice = 0;\n"
                                  "    return slice;\n}\n"})
        self.assertEqual(self.run_script()[0], 0, self.run_script()[1])

    def test_rooms_a_table_in_which_rooms_form_a_circle(self) -> None:
        script = self.tree / "scripts" / "rooms.py"
        right = script.read_text()
        for was, wrong, says in (
                ('"cli/base": ""', '"cli/base": "gate/report"',
                 "BELOW: a circle of rooms: cli/base"),
                ('"cli/base": ""', '"cli/base": "cli/base"', "BELOW: cli/base is below itself"),
                ('"cli/base": ""', '"cli/base": "cli/attic"',
                 "BELOW: cli/base uses cli/attic, which is no room")):
            self.assertIn(was, right)
            script.write_text(right.replace(was, wrong))
            self.finds(self.FILES, says)

    def test_rooms_a_room_that_is_not_known(self) -> None:
        self.finds({**self.FILES, "gate/attic/old.c": ""}, "there is no room gate/attic")

    def test_rooms_a_name_in_a_comment_is_no_call(self) -> None:
        self.write({**self.FILES, "gate/judge/class.c": "/* gate_check() */\n"
                                                        'const char *s = "gate_check";\n'})
        self.assertEqual(self.run_script()[0], 0, self.run_script()[1])

    def test_rooms_nothing_is_a_finding(self) -> None:
        self.assertEqual(self.run_script()[0], 1)


@unittest.skipUnless(shutil.which("clang") and shutil.which("clang-tidy"), "no clang-tidy")
class Tidy(InTree):
    """A file without a finding is read once, and one with a finding each time."""
    script = "tidy"
    CLEAN = '#include "two.h"\nint one(void);\nint one(void) {\n    return TWO - 1;\n}\n'
    DIVIDES = 'int one(int n);\nint one(int n) {\n    int none = 0;\n    return n / none;\n}\n'

    def setUp(self) -> None:
        super().setUp()
        for name in ("scripts/kept.py", ".clang-tidy"):
            shutil.copy(ROOT / name, self.tree / name)
        patch = mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(self.tree / "cache"),
                                             "CACHE": "", "TIER": "default"})
        patch.start()
        self.addCleanup(patch.stop)

    def tidied(self, *files: str) -> tuple[int, str]:
        status, said = self.run_script(*files, "--", "-std=c11")
        return status, said.splitlines()[-1]

    def test_lint_a_clean_file_is_kept_until_it_changes(self) -> None:
        self.write({"ref/one.c": self.CLEAN, "ref/two.h": "#define TWO 2\n"})
        for kept in (0, 1):
            self.assertEqual(self.tidied("ref/one.c"), (0, f"files 1, {kept} from the cache"))
        for name, text in (("ref/two.h", "#define TWO (1 + 1)\n"), (".clang-tidy", "\n")):
            self.write({name: (self.tree / name).read_text() + text if name == ".clang-tidy"
                        else text})
            self.assertEqual(self.tidied("ref/one.c"), (0, "files 1, 0 from the cache"))
        with mock.patch.dict(os.environ, {"TIER": "deep"}):
            self.assertEqual(self.tidied("ref/one.c"), (0, "files 1, 0 from the cache"))

    def test_lint_a_finding_is_found_each_time(self) -> None:
        self.write({"ref/one.c": self.CLEAN, "ref/two.h": "#define TWO 2\n",
                    "ref/three.c": self.DIVIDES, "ref/four.c": '#include "none.h"\n'})
        for kept in (0, 1):
            for name, says in (("ref/three.c", "Division by zero"),
                               ("ref/four.c", "clang cannot read it")):
                status, said = self.run_script("ref/one.c", name, "--", "-std=c11")
                self.assertEqual((status, says in said), (1, True), said)
            self.assertEqual(self.tidied("ref/one.c", "ref/three.c"),
                             (1, "files 2, 1 from the cache"), kept)

    def test_lint_tidy_says_how_it_is_used(self) -> None:
        for arguments in ((), ("--",), ("ref/one.c",)):
            status, said = self.run_script(*arguments)
            self.assertEqual((status, "usage: scripts/tidy FILE..." in said), (2, True))


@unittest.skipUnless(shutil.which("cppcheck"), "no cppcheck")
class Cppcheck(InTree):
    """What scripts/lint relies on: what cppcheck keeps, it says again."""
    script = "kept.py"

    def test_lint_cppcheck_finds_again_what_it_has_kept(self) -> None:
        self.write({"ref/one.c": "int one(void) {\n    return 1;\n}\n",
                    "ref/two.c": "int two(void) {\n    int none;\n    return none;\n}\n"})
        with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(self.tree), "CACHE": "",
                                          "TIER": "default"}):
            place = self.run_script("--place", "cppcheck")[1].strip()
            self.assertEqual(place, str(self.tree / "chunkproof" / "cppcheck"))
            for setting in ({"CACHE": "off"}, {"TIER": "deep"}):
                with mock.patch.dict(os.environ, setting):
                    self.assertEqual(self.run_script("--place", "cppcheck"), (0, ""))
        command = ["cppcheck", "--quiet", "--enable=warning", "--error-exitcode=1",
                   f"--cppcheck-build-dir={place}", "ref/one.c", "ref/two.c"]
        runs = [subprocess.run(command, cwd=self.tree, capture_output=True, text=True, check=False)
                for _ in range(2)]
        for run in runs:
            self.assertEqual((run.returncode, "[uninitvar]" in run.stderr), (1, True), run.stderr)
        self.write({"ref/two.c": "int two(void) {\n    int none = 0;\n    return none;\n}\n"})
        run = subprocess.run(command, cwd=self.tree, capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
