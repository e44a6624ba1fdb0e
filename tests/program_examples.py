# SPDX-License-Identifier: Apache-2.0
"""Examples that stand for figures of the Prompt Cache paper (python/README.md lists them): what
their schemas and prompts have is here by hand. tests/programs.py runs these tests, too."""
import pathlib
import subprocess
import xml.etree.ElementTree
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from program_check import COMMAND, PROGRAMS, InFolder

from chunkproof.calls import of_words
from chunkproof.compiler import read
from chunkproof.markup import prompt_of, schema_of

CATEGORIES: Mapping[str, str] = {  # of Figure 7: each is a union of five traits
    "grade": "primary-school middle-school high-school college evening-classes",
    "level": "newcomer beginner intermediate advanced expert",
    "history": "never-studied studied-a-month-before studied-a-year-before studied-long-ago "
               "studies-it-now",
    "style": "visual auditory reading by-hand in-company",
    "test": "essay quiz talk project portfolio",
    "motivation": "high-intrinsic-motivation low-intrinsic-motivation high-extrinsic-motivation "
                  "low-extrinsic-motivation mixed-motivation",
}


def of_category(traits: str) -> str:
    return "|\n" + "".join(f"  {trait}\n" for trait in traits.split())


@dataclass(frozen=True)
class Figure:
    """`|` is a union, a number the length of a param. What stands in something is indented."""
    number: int
    words: tuple[str, ...]  # of the command that writes the prompt
    schema: str
    prompt: str  # what it imports, with arguments
    begins: tuple[int, ...]  # positions at which its texts and arguments begin, counted by hand


FIGURES: Mapping[str, Figure] = {
    "travel": Figure(
        2, ("city=miami", "duration=3 days", "question=Where to surf?"),
        "trip-plan\n  duration 4\noverseas\n|\n  tokyo\n  miami\nquestion 60\n",
        "trip-plan duration=3 days\nmiami\n",
        (0, 5, 9, 13, 28, 46, 52)),  # 14 .. 27: overseas; 28 .. 45: tokyo, the longer one
    "game": Figure(
        6, ("unit=true", "board=true", "player=true", "rules=true", "database=true",
            "task=Write the main program."),
        "unit.py\nmap.py\nplayer.py\ngame.py\ndatabase.py\ntask 80\n",
        "unit.py\nmap.py\nplayer.py\ngame.py\ndatabase.py\n",
        (0, 10, 42, 73, 105, 138, 163)),
    "learner": Figure(
        7, ("grade=middle school", "level=beginner", "history=studied a year before",
            "style=auditory", "test=essay", "motivation=high intrinsic motivation",
            "task=Who is it?"),
        "".join(map(of_category, CATEGORIES.values())) + "task 60\n",
        "middle-school\nbeginner\nstudied-a-year-before\nauditory\nessay\n"
        "high-intrinsic-motivation\n",
        (0, 10, 26, 43, 56, 69, 84, 97)),  # the longest traits: 16, 17, 13, 13, 15, 13
    "holiday": Figure(
        8, ("for_=a week", "city=tokyo", "request=Make a travel plan."),
        "travel-plan\n  for 4\n  |\n"
        "    overseas\n      |\n        tokyo\n        lisbon\n"
        "    domestic\n      |\n        miami\n        denver\n"
        "request 60\n",
        "travel-plan for=a week\n  overseas\n    tokyo\n",
        (0, 3, 7, 11, 25, 37, 58)),  # 7 and 8: a week; 9 and 10: nothing
}


def outline(parts: list[dict[str, Any]]) -> str:
    """Of a report's schema, as Figure has it. Texts are left out."""
    depth, lines = {0: -1}, []
    for part in parts[1:]:
        depth[part["part"]] = depth[part["in"]] + 1
        if part["kind"] != "text":
            name = part.get("name", "|") + (f" {part['size']}" if part["kind"] == "param" else "")
            lines.append("  " * depth[part["part"]] + name + "\n")
    return "".join(lines)


def imports(element: xml.etree.ElementTree.Element, indent: str = "") -> str:
    """What stands in an element of a prompt, as Figure has it."""
    return "".join(
        indent + " ".join([inner.tag, *(f"{name}={text}" for name, text in inner.items())]) + "\n"
        + imports(inner, indent + "  ") for inner in element)


class Examples(InFolder):
    """PROG-2, PROG-4, PROG-6."""

    def written(self, name: str, number: int, *words: str) -> list[str]:
        """Files with the schema of an example, and with the prompt of these words."""
        program = read(str(PROGRAMS / f"{name}.py"))
        prompt = prompt_of(program, of_words(program, list(words)))
        return [self.write(f"{name}.xml", schema_of(program)),
                self.write(f"{name}-{number}.xml", prompt)]

    def test_schemas_have_the_modules_of_the_figures(self) -> None:
        """Which are in unions, how deep they stand, and how long each param is."""
        for name, figure in FIGURES.items():
            with self.subTest(figure=figure.number):
                files = self.written(name, figure.number, *figure.words)
                self.assertEqual(outline(self.report(*files)["schema"]["parts"]), figure.schema)

    def test_prompts_import_what_the_figures_import(self) -> None:
        """And the commands write the same."""
        for name, figure in FIGURES.items():
            with self.subTest(figure=figure.number):
                files = self.written(name, figure.number, *figure.words)
                texts = [pathlib.Path(file).read_text() for file in files]
                root = xml.etree.ElementTree.fromstring(texts[1])
                self.assertEqual(imports(root), figure.prompt)
                for run, text in zip((self.run_module("schema", str(PROGRAMS / f"{name}.py")),
                                      self.run_module("prompt", str(PROGRAMS / f"{name}.py"),
                                                      *figure.words)), texts):
                    self.assertEqual((run.returncode, run.stdout, run.stderr), (0, text, ""))

    def test_each_value_imports_its_own_module(self) -> None:
        """Of the traits of Figure 7, and of the cities of Figure 8."""
        learner, holiday = (read(str(PROGRAMS / f"{name}.py")) for name in ("learner", "holiday"))
        for i in range(5):
            traits = {name: traits.split()[i] for name, traits in CATEGORIES.items()}
            words = [f"{name}={trait.replace('-', ' ')}" for name, trait in traits.items()]
            prompt = prompt_of(learner, of_words(learner, [*words, "task=x"]))
            self.assertEqual(imports(xml.etree.ElementTree.fromstring(prompt)),
                             "".join(f"{trait}\n" for trait in traits.values()))
        for where, cities in (("overseas", ("tokyo", "lisbon")), ("domestic", ("miami", "denver"))):
            for city in cities:
                prompt = prompt_of(holiday, of_words(holiday, [f"city={city}", "for_=a day",
                                                               "request=x"]))
                self.assertEqual(imports(xml.etree.ElementTree.fromstring(prompt)),
                                 f"travel-plan for=a day\n  {where}\n    {city}\n")

    def test_positions_are_those_of_the_words(self) -> None:
        """A module has as many as there are in it, a union as many as its largest member, and a
        param its length. What a prompt imports stands where the schema has it."""
        for name, figure in FIGURES.items():
            report = self.report(*self.written(name, figure.number, *figure.words))
            parts = report["schema"]["parts"]

            def place(part: dict[str, Any], begin: int,
                      parts: list[dict[str, Any]] = parts) -> int:
                """Where the part ends that begins there."""
                end = begin
                if part["kind"] == "text":
                    end += len(part["text"].split())
                elif part["kind"] == "param":
                    end += part["size"]  # the test above knows it
                for inner in parts:
                    if inner["in"] == part["part"]:
                        if part["kind"] == "union":
                            end = max(end, place(inner, begin))
                        else:
                            end = place(inner, end)
                self.assertEqual((part["begin"], part["size"]), (begin, end - begin), part)
                return end

            with self.subTest(figure=figure.number):
                self.assertEqual(place(parts[0], 0), report["schema"]["positions"])
                runs = report["prompts"][0]["runs"]
                self.assertEqual(tuple(run["begin"] for run in runs), figure.begins)
                for run in runs:
                    part = parts[run["part"]]
                    size = len(run.get("text", part.get("text")).split())
                    self.assertEqual((run["begin"], run["size"]), (part["begin"], size), run)

    def test_a_file_that_is_left_out_leaves_a_gap(self) -> None:
        """Figure 6: a module has its positions, whatever else a prompt imports."""
        few = tuple(word.replace("true", "false") if word[:5] in ("board", "rules") else word
                    for word in FIGURES["game"].words)
        all_files = self.written("game", 0, *FIGURES["game"].words)
        report = self.report(*all_files, self.written("game", 1, *few)[1])
        whole, less = ({run["part"]: run["begin"] for run in prompt["runs"]}
                       for prompt in report["prompts"])
        self.assertEqual((len(whole), len(less)), (7, 5))
        self.assertLess(less.items(), whole.items())

    def test_a_prompt_has_one_member_of_a_union(self) -> None:
        for name, two in (("learner", "<beginner/><expert/>"),
                          ("holiday", "<travel-plan><overseas/><domestic/></travel-plan>"),
                          ("holiday", "<travel-plan><overseas><tokyo/><lisbon/></overseas>"
                                      "</travel-plan>")):
            schema = self.written(name, 0, *FIGURES[name].words)[0]
            prompt = self.write("two.xml", f'<prompt schema="{name}">{two}</prompt>')
            run = subprocess.run([COMMAND, "prompt", schema, prompt], capture_output=True,
                                 text=True, check=False)
            self.assertEqual((run.returncode, run.stdout, "union" in run.stderr), (2, "", True),
                             run.stderr)
