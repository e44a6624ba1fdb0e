#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tests/model/questions.py: its statistics on known numbers, its places, and all of it on
the small random decoder of tests/golden/model. CHUNKPROOF_COMMAND is the command.
"""
import contextlib
import io
import json
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import zlib
from collections.abc import Callable
from typing import Any
from unittest import mock

MODEL = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(MODEL)]
import first_token  # noqa: E402
import intervals  # noqa: E402
import places  # noqa: E402
import questions  # noqa: E402
import questions_report  # noqa: E402

COMMAND = os.environ.get("CHUNKPROOF_COMMAND", "build/chunkproof")
TINY = MODEL.parent / "golden" / "model" / "tiny.weights"
Interval = tuple[float, float]


def half_width(of_mean: Callable[[list[float]], Interval]) -> float:
    """In standard errors, on 400 numbers that are symmetric about their mean: 1.96, for so large a
    sample's mean is normal."""
    draw = random.Random(5)
    half = [abs(draw.gauss(0, 1)) for _ in range(200)]
    numbers = [3 + x for x in half] + [3 - x for x in half]
    low, high = of_mean(numbers)
    error = math.sqrt(sum(x * x for x in half) * 2) / 400
    return (high - low) / 2 / error


# A quantile of 10,000 resamples at 2.5 % is off by sqrt(0.025 0.975 / 10000) / density(1.96) =
# 0.027 standard errors; the mean of two independent ones by 0.019. Five times this is allowed.
ALLOWED = 5 * 0.019


class Statistics(unittest.TestCase):
    def test_a_mean_has_the_interval_of_a_normal_one(self) -> None:
        self.assertLessEqual(abs(half_width(intervals.of_mean) - intervals.NORMAL), ALLOWED)

    def test_an_interval_of_another_level_is_noticed(self) -> None:
        for level in (0.9, 0.99):
            with mock.patch.object(intervals, "LEVEL", level):
                self.assertGreater(abs(half_width(intervals.of_mean) - intervals.NORMAL), ALLOWED)

    def test_an_interval_of_tokens_for_places_is_noticed(self) -> None:
        """As if each place were four."""
        wrong = half_width(lambda numbers: intervals.of_mean(numbers * 4, resamples=2000))
        self.assertGreater(abs(wrong - intervals.NORMAL), ALLOWED)

    def test_the_same_seed_gives_the_same_interval(self) -> None:
        numbers = [1.0, 2.0, 4.0, 8.0]
        self.assertEqual(intervals.of_mean(numbers), intervals.of_mean(numbers))
        self.assertNotEqual(intervals.of_mean(numbers, 1, 99), intervals.of_mean(numbers, 2, 99))

    def test_both_numbers_of_a_place_are_drawn_together(self) -> None:
        below = [1.0, 5.0, 25.0, 2.0]
        low, high = intervals.of_ratio([3 * x for x in below], below, resamples=500)
        self.assertAlmostEqual(low, 3.0, places=12)
        self.assertAlmostEqual(high, 3.0, places=12)

    def test_of_one_place_nothing_is_known(self) -> None:
        self.assertEqual(intervals.of_mean([2.0]), (-math.inf, math.inf))

    def test_wilson_has_the_ends_that_are_just_not_refuted(self) -> None:
        for right, n in ((1, 10), (8, 10), (500, 1000), (7600, 7680)):
            for end in intervals.wilson(right, n):
                deviation = abs(right / n - end) / math.sqrt(end * (1 - end) / n)
                self.assertAlmostEqual(deviation, intervals.NORMAL, places=9)

    def test_wilson_of_none_and_of_all(self) -> None:
        """z^2 / (n + z^2), which is 0.2775 for n = 10."""
        self.assertAlmostEqual(intervals.wilson(0, 10)[1], 0.2775327998628899, places=12)
        self.assertEqual(intervals.wilson(0, 10)[0], 0.0)
        self.assertAlmostEqual(intervals.wilson(10, 10)[0], 1 - 0.2775327998628899, places=12)
        self.assertEqual(intervals.wilson(10, 10)[1], 1.0)

    def test_tokens_of_a_place_that_are_alike_widen_the_interval(self) -> None:
        alike = intervals.of_share([0, 64] * 8, [64] * 16)
        self.assertLess(alike[0], intervals.wilson(512, 1024)[0])
        self.assertGreater(alike[1], intervals.wilson(512, 1024)[1])
        self.assertEqual(intervals.of_share([64] * 16, [64] * 16), intervals.wilson(1024, 1024))

    def test_medians(self) -> None:
        self.assertEqual(intervals.median([9.0, 1.0, 2.0]), 2.0)
        self.assertEqual(intervals.median([9.0, 1.0, 2.0, 4.0]), 3.0)
        self.assertEqual(intervals.quantile([0.0, 10.0], 0.25), 2.5)

    def test_a_median_has_the_interval_of_tables_of_the_sign_test(self) -> None:
        """Ranks at 95 %, as tables have them: 1 of 6, 2 of 9, 6 of 20, 40 of 100."""
        for n, k in ((6, 1), (8, 1), (9, 2), (20, 6), (100, 40)):
            numbers = [float(i) for i in range(1, n + 1)]
            self.assertEqual(intervals.of_median(numbers[::-1]), (k, n + 1 - k), n)
        self.assertEqual(intervals.of_median([1.0] * 5), (-math.inf, math.inf))

    def test_an_interval_of_a_median_has_it_as_often_as_it_says(self) -> None:
        """Of 20 numbers it has it with 0.9586: of 4000 intervals 166 lack it, give or take 13 for
        a standard deviation."""
        draw, lack = random.Random(3), 0
        for _ in range(4000):
            low, high = intervals.of_median([draw.expovariate(1) for _ in range(20)])
            lack += not low <= math.log(2) <= high
        self.assertLess(abs(lack - 166), 5 * 13)

    def test_a_line_is_found_and_relative_errors_are_least(self) -> None:
        a, b = intervals.line([(x, 3 + 0.5 * x) for x in (1, 2, 4, 100)])
        self.assertAlmostEqual(a, 3.0, places=9)
        self.assertAlmostEqual(b, 0.5, places=9)
        points = [(1.0, 1.0), (2.0, 3.0), (3.0, 2.0)]
        a, b = intervals.line(points)

        def squares(a: float, b: float) -> float:
            return sum(((y - a - b * x) / y) ** 2 for x, y in points)
        for da, db in ((0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01)):
            self.assertLess(squares(a, b), squares(a + da, b + db))


def made_line(place: int, whole: list[float], apart: list[float]) -> dict[str, Any]:
    """Two judged tokens; apart, the second best token is another one."""
    ways = {way: {"log_p": whole, "best": [5, 6]} for way in questions.WAYS}
    ways["apart"] = {"log_p": apart, "best": [5, 7]}
    ways["none"] = {"log_p": [-4.0, -4.0], "best": [1, 1]}
    differ = {"logits": 10, "other": place, "largest": 0.25 * place, "size": 8.0}
    return {"place": f"p{place}", "kind": "given", "text": "", "judged": [5, 7], "ways": ways,
            "differ": {"order": differ, "all": differ}}


class Report(unittest.TestCase):
    LINES = [made_line(0, [-1.0, -2.0], [-1.0, -3.0]), made_line(1, [-1.0, -1.0], [-1.5, -1.5])]
    TIMES = [{"size": n, "tokens": n, "round": i, "without": n / 100 * (1 + i), "cached": 1.0}
             for n in (512, 1024, 2048) for i in range(3)]

    def summary(self) -> dict[str, Any]:
        asked = {"seed": 1, "modules": 2, "tokens": 8, "judged": 2}
        return questions_report.summary(asked, self.LINES, self.TIMES)

    def test_figures_are_those_by_hand(self) -> None:
        """Nats lost per token: 1/2 at both places. Perplexity: of 5/4 and of 7/4 nats."""
        ways = self.summary()["places"]["ways"]
        self.assertAlmostEqual(ways["whole"]["perplexity"], math.exp(5 / 4), places=12)
        self.assertAlmostEqual(ways["apart"]["perplexity"], math.exp(7 / 4), places=12)
        self.assertEqual(ways["apart"]["loss"], {"mean": 0.5, "low": 0.5, "high": 0.5})
        self.assertAlmostEqual(ways["apart"]["ratio"]["mean"], math.exp(0.5), places=12)
        self.assertEqual(ways["apart"]["best_same"]["n"], 2)
        self.assertEqual(ways["apart"]["best_right"], 4)
        self.assertEqual(ways["whole"]["best_right"], 2)
        self.assertAlmostEqual(ways["apart"]["kept"]["mean"], 1 - 1 / 5.5, places=12)

    def test_differences_are_summed_over_places(self) -> None:
        self.assertEqual(self.summary()["places"]["order"], {
            "logits": 20, "other": 1, "places": 1, "largest": 0.25, "size": 8.0, "best_same": 2})
        self.assertEqual(self.summary()["places"]["all"]["best_same"], 4)

    def test_times_have_medians_and_a_limit(self) -> None:
        found = self.summary()
        self.assertEqual(found["times"][0]["ratio"],
                         {"median": 10.24, "low": None, "high": None})
        self.assertEqual([t["places"] for t in found["times"]], [3, 3, 3])
        self.assertAlmostEqual(found["limit"]["compute"], 0.02, places=9)
        self.assertAlmostEqual(found["limit"]["attend"], 0.0, places=9)
        self.assertAlmostEqual(found["limit"]["question"], 1.0, places=9)

    def test_times_at_six_places_have_an_interval(self) -> None:
        times = [{**line, "round": i, "without": line["without"] + i}
                 for i in (0, 3) for line in self.TIMES]
        found = questions_report.summary({"seed": 1}, [], times)
        self.assertEqual(found["times"][0]["without"],
                         {"median": 11.74, "low": 5.12, "high": 18.36})
        self.assertIn("Times to first token at 18 places", questions_report.markdown(found))
        self.assertIn("| 512 | 11.74 (5.12 to 18.36) | 1.000 (1.000 to 1.000) | "
                      "11.7 (5.1 to 18.4) | 6 |", questions_report.markdown(found))
        self.assertNotIn("None", questions_report.picture(found))

    def test_table_and_picture_are_of_the_figures(self) -> None:
        found = self.summary()
        self.assertIn("| modules encoded apart | 5.75 | 1.649 (1.649 to 1.649) |",
                      questions_report.markdown(found))
        picture = questions_report.picture(found)
        self.assertEqual(picture.count("<circle"), 2 * len(questions_report.SHOWN) + 3)
        self.assertNotIn("nan", picture)

    def test_the_committed_table_is_of_the_committed_figures(self) -> None:
        found = json.loads((MODEL / "questions.json").read_text())
        self.assertGreaterEqual(found["places"]["n"], 100)
        self.assertGreaterEqual(sum(t["places"] for t in found["times"]), 100)
        self.assertIn(questions_report.markdown(found), (MODEL / "README.md").read_text())
        self.assertEqual(questions_report.picture(found), (MODEL / "questions.svg").read_text())


class Places(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        draw = random.Random(1)
        for name in "abcd":
            words = [f"{name}{draw.randrange(100)}" for _ in range(40)]
            (pathlib.Path(self.folder.name) / name).write_text(" ".join(words))

    def choose(self, n: int, seed: int = 1) -> list[places.Place]:
        return list(places.choose(n, seed, self.folder.name))

    def test_places_follow_from_the_seed(self) -> None:
        self.assertEqual(self.choose(20), self.choose(20))
        self.assertNotEqual(self.choose(20), self.choose(20, 2))
        self.assertEqual(len(self.choose(20)), 4)
        self.assertEqual(self.choose(41), [])

    def test_a_place_is_in_its_text(self) -> None:
        for place in self.choose(20):
            words = pathlib.Path(place.path).read_text().split()
            self.assertEqual(list(place.words), words[place.begin:place.begin + 20])

    def test_a_text_that_was_there_is_left_out(self) -> None:
        folder = pathlib.Path(self.folder.name)
        (folder / "e").write_text((folder / "a").read_text())
        self.assertEqual(len(self.choose(40)), 4)

    def test_manuals_lose_their_requests(self) -> None:
        text = '.TH LS 1 "2022"\n.\\" nothing\n\\fBls\\fR \\- list\n.B files\n\'nh\n\\(aqa\\(aq\n'
        self.assertEqual(places.of_manual(text).split(), ["ls", "-", "list", "files", "'a'"])

    def test_families(self) -> None:
        self.assertEqual(places.family_of("/m/git-log.1.gz", "manual"),
                         places.family_of("/m/git.1.gz", "manual"))
        self.assertNotEqual(places.family_of("/m/git.1.gz", "manual"),
                            places.family_of("/m/gitk.1.gz", "manual"))


class Small(unittest.TestCase):
    """All of it, on the small decoder."""

    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.texts = pathlib.Path(self.folder.name) / "texts"
        self.out = pathlib.Path(self.folder.name) / "out"
        self.texts.mkdir()
        words = (TINY.parent / "tiny.txt").read_text().split()
        draw = random.Random(2)
        for name in "abcdef":
            (self.texts / name).write_text(" ".join(draw.choices(words, k=60)) + " <&>")

    def command(self, *more: str) -> list[str]:
        return [sys.executable, str(MODEL / "questions.py"), COMMAND, str(TINY), "--out",
                str(self.out), "--texts", str(self.texts), "--modules", "3", "--tokens", "8",
                "--judged", "6", "--rounds", "0", *more]

    def run_it(self, *more: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(self.command(*more), capture_output=True, text=True)

    def lines(self) -> list[dict[str, Any]]:
        text = (self.out / "places.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()][1:]

    def test_on_the_reference_order_and_a_scaffold_over_all_change_no_bit(self) -> None:
        """LAYER-12, DEC-5, DEC-6, PML-14, PML-15: bounds of nought."""
        done = self.run_it("--places", "4", "--exact")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = self.lines()
        self.assertEqual(len(lines), 4)
        for line in lines:
            self.assertNotEqual(line["order"], ["m0", "m1", "m2"])
            for name in ("order", "all"):
                self.assertEqual(line["differ"][name]["other"], 0)
                self.assertEqual(line["differ"][name]["largest"], 0)
            self.assertEqual(line["ways"]["order"], line["ways"]["apart"])
            self.assertEqual(line["ways"]["all"], line["ways"]["whole"])
            for way in ("apart", "pairs", "none"):
                self.assertNotEqual(line["ways"][way]["log_p"], line["ways"]["whole"]["log_p"])
            self.assertNotEqual(line["ways"]["pairs"]["log_p"], line["ways"]["apart"]["log_p"])
        again = questions_report.json_of(json.loads((self.out / "questions.json").read_text()))
        (self.out / "places.jsonl").unlink()
        self.assertEqual(self.run_it("--places", "4", "--exact").returncode, 0)
        self.assertEqual((self.out / "questions.json").read_text(), again)
        found = json.loads((self.out / "questions.json").read_text())
        self.assertEqual(found["places"]["n"], 4)
        data = bytearray(TINY.read_bytes())  # which model, and which version, found it
        kept, data[24:28] = data[24:28], bytes(4)
        self.assertEqual(found["asked"]["checksum"], f"{zlib.crc32(data):08x}")
        self.assertEqual(kept, zlib.crc32(data).to_bytes(4, "little"))
        self.assertRegex(found["asked"]["version"], r"^chunkproof \d+\.\d+\.\d+$")
        self.assertEqual(found["places"]["ways"]["all"]["loss"]["mean"], 0)
        self.assertEqual((self.out / "questions.md").read_text(), done.stdout)
        self.assertIn("</svg>", (self.out / "questions.svg").read_text())

    def test_on_the_fast_decoder_order_rounds_differently(self) -> None:
        """FAST-4: as tests/test_opt_decoder.c, which has the bound."""
        done = self.run_it("--places", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        order = json.loads((self.out / "questions.json").read_text())["places"]["order"]
        self.assertGreater(order["other"], 0)
        self.assertGreater(order["largest"], 0)

    def test_more_places_are_added_to_those_that_are_kept(self) -> None:
        self.assertEqual(self.run_it("--places", "2").returncode, 0)
        before = (self.out / "places.jsonl").read_text()
        with open(self.out / "places.jsonl", "a") as file:
            file.write('{"place": "half a li')  # as if killed in the midst
        done = self.run_it("--places", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("place "), 1)
        after = (self.out / "places.jsonl").read_text()
        self.assertTrue(after.startswith(before))
        self.assertEqual(len(self.lines()), 3)

    def test_other_settings_are_refused(self) -> None:
        self.assertEqual(self.run_it("--places", "1").returncode, 0)
        done = self.run_it("--places", "1", "--seed", "2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("measurements of other settings", done.stderr)
        self.assertEqual(len(self.lines()), 1)

    def test_the_limit_ends_with_a_report(self) -> None:
        self.assertEqual(self.run_it("--places", "1").returncode, 0)
        done = self.run_it("--places", "6", "--seconds", "0")
        self.assertEqual(done.returncode, questions.LATE)
        self.assertIn("1 places", done.stdout)

    def test_an_interrupt_keeps_what_is_measured(self) -> None:
        with subprocess.Popen(self.command("--places", "6"), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None and process.stdout is not None
            said = process.stderr.readline()
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate()
        self.assertTrue(said.startswith("place 1 of 6"), said)
        found = re.match(r"(\d+) places", out)
        assert found is not None, out
        n = int(found[1])
        self.assertEqual(len(self.lines()), n)
        if n < 6:
            self.assertEqual(process.returncode, questions.INTERRUPTED)

    def test_what_is_missing_is_named(self) -> None:
        words = [sys.executable, str(MODEL / "questions.py"), COMMAND, "none.weights"]
        done = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual(done.returncode, questions.MISSING)
        self.assertIn("none.weights is missing", done.stdout)
        self.assertEqual(self.run_it("--judged", "0").returncode, 2)

    def test_times_are_of_places_that_the_seed_draws(self) -> None:
        if len(first_token.licences()) < 512 * first_token.BYTES_PER_TOKEN:
            self.skipTest("Debian's licences are missing")
        kept = []
        for rounds in ("1", "2"):  # the second goes on
            done = self.run_it("--places", "0", "--largest", "512", "--rounds", rounds)
            self.assertEqual(done.returncode, 0, done.stderr)
            kept.append((self.out / "times.jsonl").read_text())
        self.assertTrue(kept[1].startswith(kept[0]))
        lines = [json.loads(line) for line in kept[1].splitlines()][1:]
        self.assertEqual([line["round"] for line in lines], [0, 1])
        self.assertNotEqual(lines[0]["begin"], lines[1]["begin"])
        for line in lines:
            self.assertGreaterEqual(line["tokens"], 512)
            self.assertGreater(line["without"], 0)
        self.assertIn("Times to first token at 2 places", done.stdout)

    def test_other_tokens_are_noticed(self) -> None:
        """A comparison of two texts is none."""
        asked = mock.Mock(modules=2, tokens=2, judged=2, command=COMMAND, weights=str(TINY),
                          exact=True, threads=1)
        model = questions.Model(asked, pathlib.Path(self.folder.name))
        place = places.Place("given", "x", 0, ("the", "keys", "the", "values", "the", "next"))
        self.assertEqual(len(questions.measure(model, place, asked)["judged"]), 2)
        real = model.score

        def other(schema: str, prompts: dict[str, str], logits: str) -> Any:
            return real(schema.replace(" keys", " kegs"), prompts, logits)
        with mock.patch.object(model, "score", other), \
                contextlib.redirect_stderr(io.StringIO()), \
                self.assertRaises(questions.OtherTokens):
            questions.measure(model, place, asked)


if __name__ == "__main__":
    unittest.main()
