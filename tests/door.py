# SPDX-License-Identifier: Apache-2.0
"""Is the door true? What CONTRIBUTING.md, STYLE.md, SECURITY.md, CHANGELOG.md, action.yml and the
files of .github name must exist: paths, make targets and variables, stages, scripts and their
options, seeded faults. An excerpt must be in the file that its item names. Workflows are well
formed, pinned, and may only read.

    tests/door.py           prints what is wrong; exit status 0 nothing, 1 something
    tests/door.py --test    tests of these checks, for tests/door.sh
"""
import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from typing import Any

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

from faulting.catalogue import load, written  # noqa: E402
from stages import STAGES  # noqa: E402
from text_lint import is_placeholder  # noqa: E402

DOCUMENTS = ("CONTRIBUTING.md", "STYLE.md", "SECURITY.md", "CHANGELOG.md",
             ".github/pull_request_template.md")
YAML = ("action.yml", ".pre-commit-config.yaml")
# No paths of this tree: what is built, actions, the system's, an address, a user's.
FOREIGN = re.compile(r"^(build|actions|google|OWNER|usr|src)/|^\.git/|^/|://|[$<>]|^\w\.\w$")
USERS = {"kernel.c", "wrong.c", "gate.html", "gate.json", "gate.xml", "gate.txt", "expected.txt"}
ENDINGS = r"c|h|cu|cpp|py|sh|v|md|yml|yaml|json|faults|csv|dict"
PATH = re.compile(r"(?<![\w./@:$-])(\.?[\w-][\w.*-]*(?:/[\w.*-]+)+/?|[\w.-]+\.(?:" + ENDINGS + r"))"
                  r"(?![\w(=/])")


@functools.cache
def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@functools.cache
def sources(*patterns: str) -> str:
    """The text of many files."""
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for pattern in patterns
                     for path in sorted(ROOT.glob(pattern)) if path.is_file())


@functools.cache
def base_names() -> set[str]:
    tops = [path for path in ROOT.iterdir() if path.name not in ("build", ".git")]
    return {path.name for top in tops for path in (top, *top.rglob("*"))}


# ---- Paths ----

def paths_in(text: str) -> Iterator[str]:
    """What looks like a path, or like the name of a file."""
    text = re.sub(r"'s/[^']*'", "", text)  # what sed does
    for match in PATH.finditer(text):
        path = match[1].rstrip(".")
        if not FOREIGN.search(path) and not is_placeholder(path.rstrip("/")):
            yield path


def path_exists(path: str) -> bool:
    if "/" not in path:
        return path in USERS or path in base_names()
    return any(True for _ in ROOT.glob(path.rstrip("/")))


def missing_paths(text: str) -> Iterator[str]:
    yield from (f"there is no {path}" for path in paths_in(text) if not path_exists(path))


# ---- Names in C ----

def missing_names(document: str) -> Iterator[str]:
    """A function stands in the file that is named behind it, or in any."""
    for name, path in re.findall(r"`([a-z]\w+)(?:\(\))?`, `([\w/]+\.[chuv]+)`", document):
        if (ROOT / path).is_file() and not re.search(rf"\b{name}\b", text_of(path)):
            yield f"{path} has no {name}"
    tops = "include", "ref", "opt", "kernels", "gate", "cli", "fuzz", "tests", "proofs"
    c_files = sources(*(f"{top}/**/*.{end}" for top in tops for end in ("h", "c", "cu", "v")))
    for name in re.findall(r"`([a-z]\w+)\(\)`|`(cp_\w+)`", document):
        if not re.search(rf"\b{name[0] or name[1]}\b", c_files):
            yield f"nothing is called {name[0] or name[1]}"


# ---- Commands ----

def commands_in(text: str) -> Iterator[list[str]]:
    """Lines of shell as words, one list for each simple command; comments left out."""
    text = re.sub(r"\\\n", " ", text)
    for line in re.sub(r"(^|\s)#.*", "", text, flags=re.M).splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|<>()")
        lexer.whitespace_split = True
        words: list[str] = []
        try:
            for word in [*lexer, ";"]:
                if re.fullmatch(r"[;&|()]+", word):
                    if words:
                        yield words
                    words = []
                else:
                    words.append(word)
        except ValueError:
            continue  # a piece of prose


@functools.cache
def targets() -> set[str]:
    makefiles = sources("Makefile", "mk/*.mk")
    return {name for names in re.findall(r"^([a-z][a-z -]*):(?!=)", makefiles, re.M)
            for name in names.split()}


@functools.cache
def is_built(target: str) -> bool:
    """Does make know how? Not with the variables of a make that runs this test, as BUILD=."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "MAKELEVEL", "BUILD")}
    return subprocess.run(["make", "-s", "-n", "DEPS=skip", target], cwd=ROOT, env=environment,
                          capture_output=True, check=False).returncode == 0


def wrong_variable(word: str) -> Iterator[str]:
    name, _, value = word.partition("=")
    if not re.search(rf"\b{name}\b", sources("Makefile", "mk/*.mk", "scripts/*", "proofs/*/run")):
        yield f"nothing looks at the variable {name}"
    if name == "STAGES" and "$" not in value:
        known = {stage.name for stage in STAGES}
        yield from (f"there is no stage {stage}" for stage in value.split()
                    if stage.lstrip("+-") not in known and stage != "...")
    if name == "t" and value != "STEM" and not (ROOT / "tests" / f"test_{value}.c").is_file():
        yield f"there is no stem {value}"


def wrong_make(words: list[str]) -> Iterator[str]:
    for word in words:
        if re.match(r"[A-Za-z_]+=", word):
            yield from wrong_variable(word)
        elif not word.startswith("-") and word not in targets() and \
                not (word.startswith("build/") and is_built(word)):
            yield f"make has no target {word}"


def options_of(command: str) -> str:
    """The text in which a command's options stand."""
    if command == "build/chunkproof":
        return sources("cli/**/*.c", "gate/**/*.c")
    return text_of(command)


def wrong_script(words: list[str]) -> Iterator[str]:
    command, *rest = words
    if command != "build/chunkproof":
        if not (ROOT / command).is_file():
            return  # missing_paths() says so
        if rest and not (ROOT / command).stat().st_mode & 0o111:
            yield f"{command} is not executable"
    for word in rest:
        name = word.split("=")[0].removeprefix("--")
        if word.startswith("--") and name and f"--{name}" not in options_of(command) and \
                f'"{name}"' not in options_of(command):
            yield f"{command} has no option --{name}"
    if command == "scripts/faults":
        yield from wrong_faults(rest)


def wrong_faults(words: list[str]) -> Iterator[str]:
    known = {fault.name for fault in load()}
    for before, word in zip(["", *words], words):
        if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", word) and before not in ("--by", "--for") and \
                word not in known:
            yield f"there is no seeded fault {word}"


def wrong_commands(text: str) -> Iterator[str]:
    for words in commands_in(text):
        while words and re.match(r"[A-Z_]+=", words[0]):
            yield from wrong_variable(words.pop(0))
        if words[:1] == ["make"]:
            yield from wrong_make(words[1:])
        elif words and re.match(r"(scripts|proofs|\.ci|tests)/|build/chunkproof$", words[0]):
            yield from wrong_script(words)


# ---- Documents ----

def shell_of(document: str) -> Iterator[str]:
    """Its blocks of shell, and what stands in `code`."""
    yield from re.findall(r"^```sh\n(.*?)^```$", document, re.M | re.S)
    prose = re.sub(r"^```.*?^```$", "", document, flags=re.M | re.S)
    yield from (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose))


def dense(text: str) -> str:
    return re.sub(r"\s+", "", text)


def wrong_excerpts(document: str) -> Iterator[str]:
    """An indented block of an item is in a file that the item names; `...` stands for more."""
    for item in re.split(r"^(?=\d+\. |## |\S)", document, flags=re.M):
        block = "\n".join(line for line in item.splitlines() if line.startswith(" " * 8))
        files = [path for path in paths_in(item.replace(block, "")) if (ROOT / path).is_file()]
        if not block or not re.match(r"\d+\. ", item):
            continue
        if block.lstrip().startswith("fault: "):
            yield from wrong_record("\n".join(line[8:] for line in block.splitlines()))
            continue
        for piece in block.split("..."):
            if not any(dense(piece) in dense(text_of(path)) for path in files):
                yield f"in none of {', '.join(files)}: {' '.join(piece.split())}"


def wrong_record(block: str) -> Iterator[str]:
    if block.strip() not in {written(fault).strip() for fault in load()}:
        yield f"the catalogue has another record: {block.splitlines()[0]}"


def wrong_document(document: str) -> Iterator[str]:
    code = "\n".join(shell_of(document))
    links = "\n".join(re.findall(r"\]\(([^)]+)\)", document))
    yield from missing_paths(code + "\n" + links)
    yield from missing_names(document)
    for part in shell_of(document):
        yield from wrong_commands(part)
    yield from wrong_excerpts(document)


# ---- Workflows ----

class Strict(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types here
    """A key that stands twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = {key for key in keys if keys.count(key) > 1}
        if twice:
            raise yaml.YAMLError(f"line {node.start_mark.line + 1}: {twice} stands twice")
        return dict(super().construct_mapping(node, deep))


def wrong_step(step: dict[str, Any]) -> Iterator[str]:
    uses, run = step.get("uses"), step.get("run")
    if (uses is None) == (run is None):
        yield f"the step {step.get('name')} has uses and run, or neither"
    if uses is not None and uses != "./" and not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", uses):
        yield f"{uses} is not pinned to a commit"
    if uses == "./":
        given, known = set(step.get("with", {})), Strict(text_of("action.yml")).get_data()["inputs"]
        needed = {name for name, of in known.items() if of.get("required")}
        yield from (f"action.yml has no input {name}" for name in given - set(known))
        yield from (f"the input {name} is not given" for name in needed - given)
    if run is not None:
        if "${{" in run:
            yield f"an expression in the text of a script: {run}"
        if subprocess.run(["bash", "-n"], input=run, text=True, capture_output=True,
                          check=False).returncode != 0:
            yield f"no shell: {run}"
        yield from missing_paths(run)
        yield from wrong_commands(run)


def wrong_workflow(workflow: dict[str, Any]) -> Iterator[str]:
    if workflow.get("permissions") != {"contents": "read"}:
        yield "permissions are not contents: read alone"
    if "on" not in workflow:
        yield 'there is no "on", in quotes'
    events = [of for of in workflow.get("on", {}).values() if isinstance(of, dict)]
    for paths in (of.get("paths", []) for of in events):
        yield from (f"nothing is in {path}" for path in paths if not list(ROOT.glob(path)))
    for name, job in workflow.get("jobs", {}).items():
        if "timeout-minutes" not in job:
            yield f"the job {name} has no timeout-minutes"
        if "permissions" in job:
            yield f"the job {name} asks for more permissions"
        for step in job.get("steps", []):
            yield from wrong_step(step)
        parts = job.get("strategy", {}).get("matrix", {}).get("include", [])
        yield from wrong_matrix([part["stages"].split() for part in parts if "stages" in part])


def wrong_matrix(parts: list[list[str]]) -> Iterator[str]:
    """Stages that some job names, and all others in one job."""
    for part in parts:
        yield from wrong_variable("STAGES=" + " ".join(part))
    named = sorted(stage for part in parts for stage in part if not stage.startswith("-"))
    left_out = sorted(stage[1:] for part in parts for stage in part if stage.startswith("-"))
    if named != left_out:
        yield f"stages {', '.join(named)} have jobs, and another leaves out {', '.join(left_out)}"


def wrong_action(action: dict[str, Any]) -> Iterator[str]:
    text, known = text_of("action.yml"), set(action["inputs"])
    used = set(re.findall(r"\$\{\{ inputs\.(\w+) \}\}", text))
    yield from (f"the input {name} is used and not declared" for name in used - known)
    yield from (f"the input {name} is declared and not used" for name in known - used)
    for step in action["runs"]["steps"]:
        if "run" in step and step.get("shell") != "bash":
            yield f"the step {step.get('name')} has no shell"
        yield from wrong_step(step)


def wrong_form(form: dict[str, Any]) -> Iterator[str]:
    needed = "name", "description", "body"
    yield from (f"a form without {key}" for key in needed if not form.get(key))
    ids = [field["id"] for field in form.get("body", []) if "id" in field]
    yield from (f"two fields are called {name}" for name in set(ids) if ids.count(name) > 1)
    for field in form.get("body", []):
        if field["type"] not in ("markdown", "textarea", "input", "dropdown", "checkboxes"):
            yield f"there is no field of type {field['type']}"
        elif field["type"] != "markdown" and not field.get("attributes", {}).get("label"):
            yield f"the field {field.get('id')} has no label"


def wrong_hooks(hooks: dict[str, Any]) -> Iterator[str]:
    """They exist, and what scripts/lint checks by Python alone is among them."""
    entries = " ".join(hook["entry"] for of in hooks["repos"] for hook in of["hooks"])
    for script in re.findall(r'^check ".*" python3 (scripts/\S+)', text_of("scripts/lint"), re.M):
        if script not in entries.split():
            yield f"scripts/lint has {script}, and no hook has"
    for repository in hooks["repos"]:
        if repository["repo"] != "local":
            yield f"{repository['repo']} needs the network"
        for hook in repository["hooks"]:
            yield from missing_paths(hook["entry"])
            yield from wrong_commands(hook["entry"])


def wrong_yaml(path: str, text: str) -> Iterator[str]:
    try:
        data = Strict(text).get_data()
    except yaml.YAMLError as error:
        yield f"no YAML: {error}"
        return
    if path == "action.yml":
        yield from wrong_action(data)
    elif path == ".pre-commit-config.yaml":
        yield from wrong_hooks(data)
    elif path.startswith(".github/workflows/"):
        yield from wrong_workflow(data)
    elif not path.endswith("config.yml"):
        yield from wrong_form(data)
    yield from missing_paths("\n".join(re.findall(r"^\s*#(.*)$", text, re.M)))


def findings() -> Iterator[str]:
    for path in DOCUMENTS:
        yield from (f"{path}: {wrong}" for wrong in dict.fromkeys(wrong_document(text_of(path))))
    github = [str(path.relative_to(ROOT)) for path in sorted((ROOT / ".github").rglob("*.yml"))]
    for path in (*YAML, *github):
        yield from (f"{path}: {wrong}" for wrong in dict.fromkeys(wrong_yaml(path, text_of(path))))


# ---- Tests ----

WORKFLOW = """
"on": {pull_request: {paths: ["ref/**"]}}
permissions: {contents: read}
jobs:
  one:
    timeout-minutes: 5
    steps:
      - uses: a/b@0123456789012345678901234567890123456789
      - run: TIER=quick make verify STAGES="lint -install"
      - uses: ./
        with: {kernel: ref/tree.c}
"""


BROKEN = {
    "`ref/treee.c`": "no ref/treee.c",
    "`treee.c`": "no treee.c",
    "`cp_attend`, `ref/tree.c`": "ref/tree.c has no cp_attend",
    "`cp_no_such()`": "nothing is called cp_no_such",
    "`script/faults`": "no script/faults",
    "[a](spec/treee.md)": "no spec/treee.md",
    "`tests/faults/**/nothing.faults`": "no tests/faults/**/nothing.faults",
    "`make tset`": "no target tset",
    "```sh\nmake tset\n```": "no target tset",
    "`make build/fuzz/nothing`": "no target build/fuzz/nothing",
    "`make verify STAGES=lnit`": "no stage lnit",
    "`make try t=tre`": "no stem tre",
    "`NOBODYS=1 make test`": "variable NOBODYS",
    "`scripts/faults --bye test`": "no option --bye",
    "`scripts/faults --by wp no-such-fault`": "no seeded fault no-such-fault",
    "`build/chunkproof gate --kernell x`": "no option --kernell",
    "`scripts/chunkproof.pc.in --x`": "not executable",
}


class Door(unittest.TestCase):
    def test_what_is_named_exists(self) -> None:
        self.assertEqual(list(findings()), [])

    def test_there_is_much_that_is_named(self) -> None:
        code = "\n".join(shell_of(text_of("CONTRIBUTING.md")))
        self.assertGreater(len(set(paths_in(code))), 50)
        self.assertGreater(len(list(commands_in(code))), 40)

    def test_a_name_that_does_not_exist_is_found(self) -> None:
        for code, said in BROKEN.items():
            self.assertIn(said, "\n".join(wrong_document(code)), code)

    def test_what_exists_is_not_found(self) -> None:
        for code in ("`ref/tree.c`", "`make test`", "`scripts/faults --by wp,coq`", "`ref/*.c`",
                     "`TIER=quick make verify`", "`make try t=STEM`", "`tests/test_NAME.c`",
                     "`build/x`", "```sh\nmake -j2 DEPS=skip # or make tset\n```"):
            self.assertEqual(list(wrong_document(code)), [], code)

    def test_an_excerpt_must_be_in_the_file(self) -> None:
        good = "1. `ref/pool.c`: it\n\n        int place = pool->pos[chunk];\n"
        self.assertEqual(list(wrong_document(good)), [])
        bad = good.replace("int", "long")
        self.assertIn("in none of ref/pool.c", "\n".join(wrong_document(bad)))
        record = text_of("CONTRIBUTING.md")
        self.assertEqual(record.count("y * state->n;"), 1)
        self.assertIn("another record", "\n".join(wrong_document(
            record.replace("x * part->n + y * state->n;", "x * part->n - y * state->n;"))))

    def test_a_workflow_that_is_wrong_is_found(self) -> None:
        where = ".github/workflows/x.yml"
        self.assertEqual(list(wrong_yaml(where, WORKFLOW)), [])
        for old, new, said in (("@0123456789012345678901234567890123456789", "@v1", "not pinned"),
                               ("contents: read", "contents: write", "permissions"),
                               ("ref/**", "reff/**", "nothing is in reff"),
                               ("make verify", "make verfy", "no target verfy"),
                               ("-install", "-instal", "no stage -instal"),
                               ("timeout-minutes: 5", "name: x", "no timeout-minutes"),
                               ("kernel: ref/tree.c", "kernle: ref/tree.c", "no input kernle"),
                               ("kernel: ref/tree.c", "tier: full", "kernel is not given"),
                               ('"on"', "on", 'no "on"'),
                               ("TIER=quick", 'TIER="quick', "no shell"),
                               ("TIER=quick", "TIER=${{ inputs.x }}", "an expression"),
                               ("    steps:", "    timeout-minutes: 6\n    steps:", "twice")):
            self.assertEqual(WORKFLOW.count(old), 1, old)
            self.assertIn(said, "\n".join(wrong_yaml(where, WORKFLOW.replace(old, new))), new)

    def test_jobs_share_all_stages(self) -> None:
        self.assertEqual(list(wrong_matrix([["lint"], ["-lint"]])), [])
        self.assertNotEqual(list(wrong_matrix([["lint"], ["-install"]])), [])

    def test_a_form_and_a_hook_that_are_wrong_are_found(self) -> None:
        form = text_of(".github/ISSUE_TEMPLATE/bug.yml")
        for old, new in (("id: commands", "id: system"), ("type: textarea", "type: text"),
                         ("label: System", "lable: System"), ("description: The", "x: The")):
            broken = Strict(form.replace(old, new)).get_data()
            self.assertNotEqual(list(wrong_form(broken)), [], new)
        hooks = text_of(".pre-commit-config.yaml")
        for old, new in (("repo: local", "repo: https://example.org/x"),
                         ("scripts/layers.py", "scripts/layer.py"), ("--check", "--chek"),
                         ("entry: scripts/text_lint.py", "entry: scripts/layers.py"),
                         ("entry: scripts/rooms.py", "entry: scripts/layers.py")):
            broken = Strict(hooks.replace(old, new)).get_data()
            self.assertNotEqual(list(wrong_hooks(broken)), [], new)


def block(commands: str) -> str:
    return f"<!-- run -->\n```sh\n{commands}\n```\n"


class Commands(unittest.TestCase):
    """Of scripts/readme-commands."""

    def run_documents(self, *texts: str) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as place:
            names = [f"{place}/{number}.md" for number in range(len(texts))]
            for name, text in zip(names, texts):
                pathlib.Path(name).write_text(text, encoding="utf-8")
            done = subprocess.run([ROOT / "scripts" / "readme-commands", *names], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            return done.returncode, done.stdout.replace(place + "/", "")

    def test_only_marked_blocks_run_in_one_shell_for_each_document(self) -> None:
        status, said = self.run_documents(
            "```sh\nfalse\n```\n" + block("x=1") + block("test $x = 1"), block('test -z "${x-}"'))
        self.assertEqual((status, said.splitlines()[-1]), (0, "2 passed, 0 failed"), said)

    def test_the_line_that_failed_is_named_and_nothing_after_it_runs(self) -> None:
        status, said = self.run_documents(
            block("true") + block("true\ntrue | false\necho ne''ver"), block("echo ne''xt"))
        self.assertEqual((status, said.splitlines()[-1]), (1, "1 passed, 1 failed"), said)
        self.assertIn("0.md:8 failed (status 1)\n", said)
        self.assertNotIn("\nnever\n", said)
        self.assertIn("\nnext\n", said)

    def test_a_document_without_a_command_fails(self) -> None:
        status, said = self.run_documents("```sh\ntrue\n```\n")
        self.assertEqual((status, said.splitlines()[-1]), (1, "0 passed, 1 failed"), said)

    def test_all_documents_are_those_with_a_block(self) -> None:
        begin = text_of("scripts/readme-commands").split("work=", maxsplit=1)[0]
        script = begin.replace("$0", "scripts/x") + 'printf "%s\\n" "$@"'
        found = subprocess.run(["bash", "-c", script], cwd=ROOT, text=True, check=True,
                               stdout=subprocess.PIPE).stdout.split()
        self.assertLessEqual({"README.md", "CONTRIBUTING.md", "spec/README.md"}, set(found))

    def test_some_are_the_first_two_and_of_the_others_those_whose_turn_it_is(self) -> None:
        begin = text_of("scripts/readme-commands").split("work=", maxsplit=1)[0]
        script = begin.replace("$0", "scripts/x") + 'printf "%s\n" "$@"'

        def found(*options: str) -> list[str]:
            return subprocess.run(["bash", "-c", script, "x", *options], cwd=ROOT, text=True,
                                  check=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL).stdout.split()

        always = {"README.md", "CONTRIBUTING.md"}
        parts = [set(found("--some", f"3:{k}")) for k in range(3)]
        self.assertTrue(all(always < part for part in parts), parts)
        self.assertEqual(sorted(name for part in parts for name in part - always),
                         sorted(set(found()) - always))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--test"]:
        unittest.main(argv=["door.py", *sys.argv[2:]])
    wrong = list(findings())
    print("\n".join([*wrong, f"the door: findings {len(wrong)}"]))
    sys.exit(1 if wrong else 0)
