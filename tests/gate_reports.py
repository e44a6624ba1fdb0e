# SPDX-License-Identifier: Apache-2.0
"""Tests the reports of `chunkproof gate` with independent programs: JSON Schema, a parser of XML.
Run by tests/gate_reports.sh; each test is a method."""
import copy
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml
from typing import Any, TypeAlias

import jsonschema

Data: TypeAlias = dict[str, Any]  # of JSON

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
COMMAND = os.environ["CHUNKPROOF"]
EXAMPLE = os.path.join(ROOT, "tests", "example", "paged_kernel.c")
REVERSED = os.path.join(os.path.dirname(COMMAND), "tests", "gate", "reversed.so")
VALUES = ("count", "select", "normal", "massive", "one-hot", "shifted", "rising", "falling",
          "offset", "subnormal", "zero", "large", "creeping", "extreme")
HTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"

# What is replaced in the example, and its name: a wrong one, one that refuses, ...
RESCALE = ("o[i] = o[i] * rescale", "o[i] = o[i]")
REFUSES = ("const struct cp_kernel cp_kernel = {",
           'static const char *no(const struct cp_kernel_call *call) {\n    (void)call;\n'
           '    return "sizes <like> \\"these\\" & \\x07 \\xff";\n}\n\n'
           "const struct cp_kernel cp_kernel = {\n    .refuses = no,")
WIDE = (("= CP_SUM_FP32", "= CP_SUM_FP16"), ("exp_error = 0x1p-22", "exp_error = 0x1p-6"))
FAILS = ("static int attend(const struct cp_kernel_call *call) {",
         "static int attend(const struct cp_kernel_call *call) {\n"
          "    if (call->n_heads > 0) {\n        return 5;\n    }")
SHARED = (FAILS[0], FAILS[1].replace("n_heads > 0", "n_shared > 2"))
TIRES = ((FAILS[0], FAILS[0] + "\n    calls++;"),
         ("dot * (float)call->scale", "dot * (float)(calls > 26 ? 2.0 : call->scale)"),
         ("#include <math.h>", "#include <math.h>\n\nstatic int calls;"))
STRANGE = ('.name = "paged"', '.name = "a<b> & \\"c\\" ]]> \\x1b[31m \\x07 \\xff \\xc3\\xa9"')
CLEAN = 'a<b> & "c" ]]> \\x1B[31m \\x07 \\xFF \u00e9'


def schema_of(name: str) -> Data:
    with open(os.path.join(ROOT, "spec", name + ".schema.json"), encoding="utf-8") as file:
        found: Data = json.load(file)
    return found


def below(above: xml.Element, path: str) -> xml.Element:
    """The first element there."""
    found = above.find(path)
    assert found is not None, path
    return found


def text_of(above: xml.Element, path: str) -> str:
    return below(above, path).text or ""


def columns(row: xml.Element) -> list[str]:
    return [cell.text or "" for cell in row.findall(HTML + "td")]


def breaches(name: str, value: Data) -> list[str]:
    return [error.message
            for error in jsonschema.Draft7Validator(schema_of(name)).iter_errors(value)]


class Reports(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)

    def path(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def kernel(self, *changes: tuple[str, str], name: str = "kernel.c") -> str:
        """The example's source, changed."""
        with open(EXAMPLE, encoding="utf-8") as file:
            source = file.read()
        for old, new in changes:
            self.assertIn(old, source)
            source = source.replace(old, new)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(source)
        return self.path(name)

    def run_gate(self, status: int, kernel: str,
                 *arguments: str) -> tuple[Data, xml.Element, xml.Element, str]:
        """Exit status `status` and all three reports: (JSON, JUnit XML, HTML, standard output)."""
        files = [self.path("gate." + kind) for kind in ("json", "xml", "html")]
        run = subprocess.run([COMMAND, "gate", "--kernel", kernel, "--json", files[0],
                              "--junit", files[1],
                              "--html", files[2], *arguments], capture_output=True, cwd=ROOT)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        with open(files[0], encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(breaches("gate-report", report), [])
        suite, page = (xml.parse(file).getroot() for file in files[1:])
        found = list(outcomes(suite).values())
        self.assertEqual(tuple(outcomes(suite)), VALUES)
        self.assertEqual([int(suite.get(name, ""))
                          for name in ("tests", "failures", "errors", "skipped")],
                         [len(found), found.count("failure"), found.count("error"),
                          found.count("skipped")])
        return report, suite, page, run.stdout.decode()

    def again(self, command: str, status: int = 1) -> str:
        """A command of a report, run as it stands."""
        words = shlex.split(command)
        self.assertEqual(words[0], "chunkproof")
        run = subprocess.run([COMMAND, *words[1:]], capture_output=True, text=True, cwd=ROOT)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run.stdout


def outcomes(suite: xml.Element) -> dict[str, str]:
    """Of each test case: what it is, beside its output."""
    return {case.get("name", ""): next((child.tag for child in case if child.tag != "system-out"),
                                   "passed")
            for case in suite.iter("testcase")}


class Json(Reports):
    def test_schemas_are_schemas(self) -> None:
        for name in ("gate-report", "gate-case"):
            jsonschema.Draft7Validator.check_schema(schema_of(name))
        self.assertEqual(schema_of("gate-report")["definitions"]["recipe"],
                         schema_of("gate-case")["definitions"]["recipe"])

    def test_every_verdict_is_in_the_schemas(self) -> None:
        with open(os.path.join(ROOT, "gate", "judge", "finding.c"), encoding="utf-8") as file:
            names = re.findall(r'^    \[GATE_\w+\] = "([a-z-]+)",$', file.read(), re.M)
        self.assertGreater(len(names), 10)
        wrong = [name for name in names if name != "right"]
        report, case = schema_of("gate-report")["properties"], schema_of("gate-case")["properties"]
        tally, finding = report["tallies"]["items"], report["findings"]["items"]
        self.assertEqual(list(report["verdicts"]["properties"]), names)
        self.assertEqual(list(tally["properties"]["verdicts"]["properties"]), names)
        self.assertEqual(finding["properties"]["verdict"]["enum"], wrong)
        self.assertEqual(case["verdict"]["enum"], names)  # right ones may be unusual
        entry = schema_of("gate-report")["definitions"]["entries"]["items"]["properties"]
        self.assertEqual(entry["verdict"]["enum"], names)

    def test_every_field_is_described(self) -> None:
        def undescribed(schema: dict[str, Any], at: str) -> list[str]:
            found = [] if "description" in schema or "$ref" in schema else [at]
            for name, below in schema.get("properties", {}).items():
                if not at.endswith("verdicts"):
                    found += undescribed(below, f"{at}.{name}")
            items = schema.get("items", {})
            return found + [part
                            for name, below in (items.get("properties", {})
                                                if isinstance(items, dict) else {}).items()
                            for part in undescribed(below, f"{at}[].{name}")]

        for name in ("gate-report", "gate-case"):
            schema = schema_of(name)
            self.assertEqual(undescribed({**schema, "description": ""}, ""), [])
            self.assertEqual(undescribed(schema["definitions"]["recipe"], "recipe"), [])

    def test_a_right_run(self) -> None:
        report, _, _, text = self.run_gate(0, EXAMPLE, "--cases", "60",
                                           "--seed", "18446744073709551615")
        self.assertEqual((report["verdict"], report["no_verdict"], report["findings"]),
                         ("right", None, []))
        self.assertEqual((report["cases"], report["wrong"], report["verdicts"]),
                         (60, 0, {"right": 60}))
        self.assertEqual(report["seed"], "18446744073709551615")
        self.assertEqual(report["kernel"]["file"], EXAMPLE)
        self.assertEqual(report["kernel"]["arithmetic"]["exp_error"], 2.0 ** -22)
        self.assertEqual([tally["values"] for tally in report["tallies"]], list(VALUES))
        self.assertEqual(sum(tally["cases"] for tally in report["tallies"]), 60)
        self.assertTrue(all(0 <= tally["largest"] <= 1 for tally in report["tallies"]))
        self.assertLessEqual(sum(tally["seconds"] for tally in report["tallies"]),
                             report["seconds"] + 0.01)
        self.assertIn(f"right: 0 of 60 cases wrong, {report['runs']} runs", text)
        self.assertIn("right: 0 of 60 cases wrong", self.again(report["again"], 0))

    def test_a_wrong_run(self) -> None:
        report, _, _, text = self.run_gate(1, self.kernel(RESCALE), "--cases", "60",
                                           "--save", self.path("it's a case"))
        self.assertEqual((report["verdict"], report["interrupted"]), ("wrong", False))
        self.assertEqual(report["wrong"], sum(found["cases"] for found in report["findings"]))
        for found in report["findings"]:
            self.assertEqual(found["cases"], report["verdicts"][found["verdict"]])
            self.assertEqual(found["cases"], sum(tally["verdicts"].get(found["verdict"], 0)
                                                 for tally in report["tallies"]))
        found = report["findings"][0]
        self.assertEqual((found["verdict"], found["clause"]), ("wrong", "NUM-10"))
        self.assertGreater(abs(found["got"] - found["expected"]), found["bound"])
        self.assertGreater(max(tally["largest"] for tally in report["tallies"]), 1)
        self.assertEqual(found["file"], os.path.join(self.path("it's a case"), "wrong.json"))
        self.assertIn(found["again"], text)
        self.assertIn("wrong; breaks NUM-10", self.again(found["again"]))
        self.assertIn("as if the sum of weighted values had not been rescaled",
                      self.again(found["why"]))
        with open(found["file"], encoding="utf-8") as file:
            case = json.load(file)
        self.assertEqual(breaches("gate-case", case), [])
        self.assertEqual(case["recipe"], found["recipe"])

    def test_a_case_of_its_own_again(self) -> None:
        report = self.run_gate(1, self.kernel(RESCALE), "--cases", "12")[0]
        self.assertEqual([(found["file"], found["why"]) for found in report["findings"]],
                         [(None, None)] * len(report["findings"]))
        self.assertIn("1 of 1 cases wrong", self.again(report["findings"][0]["again"]))

    # It is right at first: alone, a case shows nothing.
    def test_a_case_that_needs_others(self) -> None:
        kernel = self.kernel(*TIRES)
        for arguments in ((), ("--save", self.path("cases"))):
            report, suite, _, text = self.run_gate(1, kernel, "--cases", "30", *arguments)
            needs = [found for found in report["findings"] if found["needs_others"]]
            self.assertEqual("(it needs the cases before it)" in text, len(needs) > 0)
            for found in needs:
                self.assertEqual((found["file"], found["why"]), (None, None))
                self.assertIn(f"{found['verdict']}, ", self.again(found["again"]))
            self.assertGreater(len(needs), 0)
            self.assertEqual(needs, report["findings"])
            self.assertIn("to repeat it, with the cases before it: ", "".join(suite.itertext()))

    def test_refused_runs(self) -> None:
        report, suite, page, text = self.run_gate(2, self.kernel(REFUSES))
        self.assertEqual((report["verdict"], report["cases"], report["refused"]), ("none", 0, 3))
        self.assertEqual(report["refusal"], 'sizes <like> "these" & \\x07 \\xFF')
        self.assertIn(report["refusal"], report["no_verdict"])
        self.assertIn(report["refusal"], text)
        self.assertEqual(set(outcomes(suite).values()), {"error"})
        self.assertIn(report["refusal"], "".join(page.itertext()))

    def test_too_little_claimed(self) -> None:
        report, suite, page, text = self.run_gate(2, self.kernel(*WIDE), "--cases", "100")
        self.assertEqual(report["verdict"], "none")
        self.assertIn("too many for a verdict", report["no_verdict"])
        self.assertIn(report["no_verdict"], text)
        self.assertGreater(report["unclaimed"], 0)
        with_error = [name for name, outcome in outcomes(suite).items() if outcome == "error"]
        self.assertIn("error", outcomes(suite).values())
        self.assertEqual([tally["values"] for tally in report["tallies"]
                          if 10 * tally["unclaimed"] > tally["numbers"]],
                         with_error)
        self.assertIn("No verdict", text_of(page, f".//{HTML}h1"))

    def test_an_invented_field_is_noticed(self) -> None:
        report = self.run_gate(1, self.kernel(RESCALE), "--cases", "12")[0]
        for at in ((), ("kernel",), ("kernel", "arithmetic"), ("verdicts",), ("tallies", 3),
                   ("tallies", 3, "verdicts"),
                   ("covered", 0), ("findings", 0), ("findings", 0, "recipe")):
            changed = copy.deepcopy(report)
            inner: Any = changed
            for key in at:
                inner = inner[key]
            inner["invented"] = 1
            self.assertNotEqual(breaches("gate-report", changed), [], at)
            missing = copy.deepcopy(report)
            inner = missing
            for key in at:
                inner = inner[key]
            name = next(iter(inner))
            del inner[name]
            if at not in (("verdicts",), ("tallies", 3, "verdicts")):
                self.assertNotEqual(breaches("gate-report", missing), [], (at, name))

    def test_cases_that_cannot_be_read_break_the_schema(self) -> None:
        report = self.run_gate(1, self.kernel(RESCALE), "--cases", "12",
                               "--save", self.path("cases"))[0]
        with open(report["findings"][0]["file"], encoding="utf-8") as file:
            case = json.load(file)
        for name, value in (("values", "all"), ("n_heads", 0), ("n_kv_heads", 1025),
                            ("head_dim", 4097),
                            ("chunk_size", 513), ("scale_percent", 0), ("queries", "none"),
                            ("layout", 128),
                            ("padding", 0), ("seed", 7), ("operations", [["join", 0, 0, -1]]),
                            ("operations", [["cut", 0, 0, 1]]),
                            ("operations", [["join", 0, 0, 1]] * 65)):
            changed = {**case, "recipe": {**case["recipe"], name: value}}
            with open(self.path("case.json"), "w", encoding="utf-8") as file:
                json.dump(changed, file)
            self.assertNotEqual(breaches("gate-case", changed), [], name)
            self.again(f"chunkproof replay {self.path('case.json')} --kernel {EXAMPLE}", 2)

    def test_strange_names(self) -> None:
        kernel = self.kernel(RESCALE, STRANGE, name="it's <a> & \"b\" kernel.c")
        report, suite, page, text = self.run_gate(1, kernel, "--cases", "12",
                                                  "--save", self.path("cases"))
        self.assertEqual(report["kernel"]["name"], CLEAN)
        self.assertEqual(report["kernel"]["file"], kernel)
        self.assertEqual(suite.get("name"), "chunkproof gate: " + CLEAN)
        self.assertIn(CLEAN, text_of(page, f"{HTML}head/{HTML}title"))
        self.assertIn(CLEAN, text)
        self.assertGreater(len(report["findings"]), 0)
        self.again(report["findings"][0]["again"])
        self.assertIn(report["findings"][0]["again"], "".join(page.itertext()))

    def test_notes(self) -> None:
        report, _, page, text = self.run_gate(0,
                                              self.kernel(("exp_error = 0x1p-22",
                                                           "exp_error = 0x1p-10")),
                                                           "--cases", "100")
        self.assertTrue(any(".exp_error = 0x1p-22 would be enough" in note
                            for note in report["notes"]))
        for note in report["notes"]:
            self.assertIn(note, text)
            self.assertIn(note, "".join(page.itertext()))
        self.assertGreater(report["unjudged"], 0)
        self.assertEqual(sum(one["cases"] for one in report["covered"]) + report["unjudged"],
                         report["cases"])
        for one in report["covered"]:
            self.assertIn(f"{one['head_dim']}: {one['keys']}", text)

    def test_an_interrupted_run(self) -> None:
        run = subprocess.Popen([COMMAND, "gate", "--kernel", REVERSED, "--tier", "deep",
                                "--json", self.path("gate.json"),
                                "--junit", self.path("gate.xml")], stdout=subprocess.DEVNULL)
        time.sleep(1)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(60), 130)
        with open(self.path("gate.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(breaches("gate-report", report), [])
        self.assertEqual((report["interrupted"], report["verdict"]), (True, "right"))
        properties = {part.get("name"): part.get("value")
                      for part in xml.parse(self.path("gate.xml")).getroot().iter("property")}
        self.assertEqual(properties["interrupted"], "true")


class JUnit(Reports):
    def test_a_right_run_passes(self) -> None:
        suite = self.run_gate(0, EXAMPLE, "--cases", "3", "--seed", "7")[1]
        self.assertEqual(list(outcomes(suite).values()), ["passed"] * 3 + ["skipped"] * 11)
        said = {part.get("name"): part.get("value") for part in suite.iter("property")}
        self.assertEqual((said["seed"], said["tier"], said["verdict"]), ("7", "quick", "right"))

    def test_failures(self) -> None:
        report, suite, _, _ = self.run_gate(1, self.kernel(RESCALE), "--cases", "100",
                                            "--save", self.path("cases"))
        for tally in report["tallies"]:
            case, = (case for case in suite.iter("testcase") if case.get("name") == tally["values"])
            failure = case.find("failure")
            self.assertEqual(failure is not None, tally["wrong"] > 0, tally)
            if failure is not None:
                self.assertIn(failure.get("type"), tally["verdicts"])
                self.assertIn("must be", failure.get("message", ""))
                text = failure.text or ""
                self.assertRegex(text, r"breaks (NUM|GATE|PREFILL)-\d+; ")
                self.assertIn(f"wrong {tally['verdicts']['wrong']} of {tally['cases']} cases", text)
                self.assertIn(f"smallest case: {tally['values']} values", text)
                self.assertIn(report["findings"][0]["again"], text)
        self.assertIsNone(suite.find("testcase[@name='zero']/failure"))
        own = re.search(r"again: (.* --case \d+)\n",
                        text_of(suite, "testcase[@name='shifted']/failure"))
        assert own is not None
        self.assertIn("WRONG: 1 of 1 cases wrong", self.again(own[1]))

    def test_other_verdicts(self) -> None:
        _, suite, page, _ = self.run_gate(1, self.kernel(FAILS), "--cases", "32")
        self.assertEqual(set(outcomes(suite).values()), {"failure"})
        failure = below(suite, "testcase/failure")
        self.assertEqual((failure.get("type"), failure.get("message")), ("failed", "returned 5"))
        self.assertIn("breaks GATE-1; failed 2 of 2 cases",
                      text_of(suite, "testcase[@name='shifted']/failure"))
        self.assertEqual(len(page.findall(f".//{SVG}rect[@class='bar within']")), 0)

    def test_the_time_adds_up(self) -> None:
        report, suite, _, _ = self.run_gate(0, EXAMPLE, "--cases", "40")
        times = [float(case.get("time", "")) for case in suite.iter("testcase")]
        whole = float(suite.get("time", ""))
        self.assertAlmostEqual(sum(times), whole, delta=0.2)
        self.assertAlmostEqual(whole, report["seconds"], delta=0.001)


class Page(Reports):
    def test_nothing_is_from_elsewhere(self) -> None:
        _, _, page, _ = self.run_gate(1, self.kernel(RESCALE), "--cases", "30")
        tags = {part.tag.split("}")[1] for part in page.iter()}
        self.assertFalse(tags & {"script", "link", "img", "iframe", "object", "embed", "image",
                                 "use"})
        with open(self.path("gate.html"), encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.startswith("<!DOCTYPE html>\n<html "))
        self.assertEqual(set(re.findall(r"https?://[^\"' ]*", text)), {HTML[1:-1], SVG[1:-1]})
        self.assertEqual(set(re.findall(r"url\([^)]*\)", text)),
                         {"url(#hatch)", "url(#stripes)", "url(#head)"})
        self.assertNotIn("@import", text)
        self.assertIn("prefers-color-scheme: dark", text)
        for name in ("hatch", "stripes", "head"):
            self.assertEqual(len(page.findall(f".//*[@id='{name}']")), 1)

    # What the drawing of trees uses, too: the page has a style of its own for it.
    def test_every_class_has_a_style(self) -> None:
        used = set()
        for kernel in self.kernel(RESCALE), self.kernel(SHARED, name="shared.c"):
            page = self.run_gate(1, kernel, "--cases", "60", "--save", self.path("cases"))[2]
            used |= {name for part in page.iter()
                     if part.tag in (SVG + "rect", SVG + "line", SVG + "circle")
                     for name in part.get("class", "").split()}
        self.assertLessEqual({"bar", "within", "outside", "mark", "grid", "one", "own", "shared",
                              "slot", "row"}, used)
        for name in used - {"bar"}:
            self.assertIn(f".{name} {{", text_of(page, f".//{HTML}style"))

    def cells(self, page: xml.Element, table: str) -> dict[str, list[str]]:
        body = page.findall(f".//{HTML}table[@class='{table}']/{HTML}tr")
        return {text_of(row, HTML + "th"): columns(row) for row in body}

    def test_what_it_says(self) -> None:
        report, _, page, _ = self.run_gate(1, self.kernel(RESCALE), "--cases", "60",
                                           "--save", self.path("cases"))
        self.assertEqual(text_of(page, f".//{HTML}h1"), "\u2717 Wrong")
        evidence, matrix = self.cells(page, "evidence"), self.cells(page, "matrix")
        self.assertEqual((tuple(evidence), tuple(matrix)), (VALUES, VALUES))
        verdicts = [cell.text
                    for cell in
                    page.findall(f".//{HTML}table[@class='matrix']"
                                  f"/{HTML}thead/{HTML}tr/{HTML}th")][1:]
        for tally in report["tallies"]:
            self.assertEqual(evidence[tally["values"]][1:5],
                             [str(tally[name])
                              for name in ("cases", "wrong", "numbers", "unclaimed")])
            self.assertEqual([(name, int(n)) for name, n in zip(verdicts, matrix[tally["values"]])
                              if n != "\u00b7"],
                             list(tally["verdicts"].items()))
        articles = page.findall(f".//{HTML}article")
        self.assertEqual(len(articles), len(report["findings"]))
        for article, found in zip(articles, report["findings"]):
            text = "".join(article.itertext())
            for part in (found["clause"], found["text"], found["again"], found["why"] or ""):
                self.assertIn(part, text)
            self.assertEqual(len(article.findall(f".//{HTML}li")),
                             len(found["recipe"]["operations"]))
            self.assertEqual(len(article.findall(f".//{SVG}svg[@class='tree']")), 1)

    def test_each_case_is_in_the_plots_once(self) -> None:
        report, _, page, _ = self.run_gate(1, self.kernel(RESCALE), "--cases", "60")
        for shapes, of in ((("rect", "bar"), "by their largest error/bound"),
                           (("*", "mark"), "by their number of keys")):
            plot, = (svg for svg in page.iter(SVG + "svg") if of in svg.get("aria-label", ""))
            count = {"within": 0, "outside": 0}
            for shape in plot.iter():
                words = shape.get("class", "").split()
                if words[:1] == [shapes[1]]:
                    count[words[1]] += int(text_of(shape, SVG + "title").split()[0])
            self.assertEqual(count["outside"], report["wrong"])
            self.assertLessEqual(sum(count.values()), report["cases"])  # some have no query rows
            self.assertGreater(sum(count.values()), 0.9 * report["cases"])

    # Each shared chunk is a box of the drawing, and a row of the plan with the same range.
    def lists(self, *changes: tuple[str, str]) -> str:
        """A program of tests/gate/lists.c, changed: it takes prompts with modules (RUNS-1)."""
        with open(os.path.join(ROOT, "tests", "gate", "lists.c"), encoding="utf-8") as file:
            source = file.read()
        for old, new in changes:
            self.assertIn(old, source)
            source = source.replace(old, new)
        with open(self.path("lists.c"), "w", encoding="utf-8") as file:
            file.write(source)
        includes = ["-I" + os.path.join(ROOT, place) for place in ("include", ".", "tests/gate")]
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", *includes, "-o", self.path("lists.so"),
                        self.path("lists.c"),
                        os.path.join(os.path.dirname(COMMAND), "libchunkproof.a"), "-lm"],
                       check=True)
        return self.path("lists.so")

    def test_a_case_with_modules_is_its_prompts_and_runs(self) -> None:
        kernel = self.lists(("add_run(call, run_of(call, s, k), row, head);",
                             "int others = 0; /* descriptors that begin with another sequence */\n"
                             "for (int i = 0; i < call->n_shared; i++) {\n"
                             "int first = call->served[call->shared[i].begin];\n"
                             "others += first != call->served[0];\n}\n"
                             "if (others == 0 || k != 1) {\n"
                             "add_run(call, run_of(call, s, k), row, head);\n}"))
        run = subprocess.run([COMMAND, "gate", "--kernel", kernel, "--first",
                              "--html", self.path("gate.html"), "--save", self.path("cases")],
                             capture_output=True, text=True, cwd=ROOT)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        page = xml.parse(self.path("gate.html")).getroot()
        article, = page.findall(f".//{HTML}article")
        self.assertEqual(article.findall(f".//{SVG}svg[@class='tree']"), [])
        tables = {}
        for table in article.findall(f".//{HTML}table"):
            tables[text_of(table, HTML + "caption")] = [
                columns(row) for row in table.findall(HTML + "tr")[1:]]
        modules, prompts, served, runs = (next(table for name, table in tables.items()
                                               if name.startswith(begin))
                                          for begin in ("The modules", "The prompts", "The plan",
                                                        "The sequences"))
        case_file, = os.listdir(self.path("cases"))
        with open(os.path.join(self.path("cases"), case_file), encoding="utf-8") as file:
            recipe = json.load(file)["recipe"]
        self.assertEqual([row[1:3] for row in modules],
                         [[str(n), str(at) if n == 1 else f"{at} to {at + n - 1}"]
                          for n, at in recipe["modules"]])
        self.assertGreater(len({row[3] for row in served}), 1)
        # Who has a module is the same in both tables, and who is served has the run.
        self.assertEqual(
            {(s, row[0]) for row in modules for s in row[3].split(", ") if s},
            {(row[0], m) for row in prompts for m in row[1].split(", ") if m != "none"})
        position = [row[2].split(" to ")[0] for row in served]
        for i, row in enumerate(served):
            for sequence in row[3].split(", "):
                cells, = (cells for cells in runs if cells[0] == sequence)
                self.assertIn(f"{row[0]}: {row[1]} at {position[i]}", cells[1].split(", "))
        given = sum(len(row[3].split(", ")) for row in served)
        self.assertEqual(given, sum(len(row[1].split(", ")) for row in runs if row[1] != "none"))
        # The keys of a sequence are those of its runs.
        for prompt, row in zip(prompts, runs):
            keys = [int(n) for cell in row[1:3] for n in re.findall(r": (\d+) at", cell)]
            self.assertEqual([str(sum(keys)), row[0]], [row[3], prompt[0]])
            self.assertEqual(row[3], prompt[3])

    def test_the_plan_is_that_of_the_tree(self) -> None:
        page = self.run_gate(1, self.kernel(SHARED), "--cases", "60",
                             "--save", self.path("cases"))[2]
        article, = page.findall(f".//{HTML}article")
        rows = [columns(row)
                for row in below(article, f".//{HTML}table").findall(HTML + "tr")][1:]
        self.assertEqual(len(article.findall(f".//{SVG}rect[@class='shared']")), len(rows))
        self.assertGreaterEqual(len(rows), 3)
        drawn = re.findall(r"(C\d+) \[(\d+),(\d+)\)",
                           "".join(below(article, f".//{SVG}svg[@class='tree']").itertext()))
        self.assertEqual([(row[0], row[2]) for row in rows],
                         [(chunk, f"[{i}, {j})") for chunk, i, j in drawn if int(j) - int(i) > 1])
        self.assertEqual(len({row[1] for row in rows}), len(rows))


class Files(Reports):
    def test_what_cannot_be_written_is_said_at_once(self) -> None:
        for option in ("--json", "--junit", "--html"):
            started = time.monotonic()
            other = "--html" if option == "--json" else "--json"
            run = subprocess.run([COMMAND, "gate", "--kernel", REVERSED, "--tier", "deep",
                                  other, self.path("first"), option, self.path("none/report")],
                                 capture_output=True, text=True, timeout=30)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(f"{option} {self.path('none/report')}: "
                          "the report cannot be written: No such file", run.stderr)
            self.assertLess(time.monotonic() - started, 10)
        self.assertEqual(os.listdir(self.directory), [])

    def test_a_directory_that_cannot_be_made(self) -> None:
        with open(self.path("file"), "w", encoding="utf-8"):
            pass
        for name, why in (("file/cases", "Not a directory"), ("x" * 240, "too long")):
            run = subprocess.run([COMMAND, "gate", "--kernel", REVERSED, "--tier", "deep",
                                  "--save", self.path(name)],
                                 capture_output=True, text=True, timeout=30)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(why, run.stderr)

    def test_a_full_disk_is_noticed(self) -> None:
        for option in ("--json", "--junit", "--html"):
            run = subprocess.run([COMMAND, "gate", "--kernel", EXAMPLE, "--cases", "2", option,
                                  "/dev/full"],
                                 capture_output=True, text=True)
            self.assertEqual(run.returncode, 2, option)
            self.assertIn("the report cannot be written: No space left", run.stderr)
            self.assertTrue(os.path.exists("/dev/full"))

    def test_without_a_kernel_there_is_no_report(self) -> None:
        with open(self.path("gate.json"), "w", encoding="utf-8") as file:
            file.write("of an earlier run")
        run = subprocess.run([COMMAND, "gate", "--kernel", self.path("none.so"),
                              "--json", self.path("gate.json")],
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 2)
        self.assertFalse(os.path.exists(self.path("gate.json")))


if __name__ == "__main__":
    unittest.main()
