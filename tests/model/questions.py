#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The papers' questions on a language model, with confidence intervals: `make questions`.

    tests/model/questions.py COMMAND WEIGHTS [OPTION]...

At each of N places of texts that come with the system (places.py), modules of some tokens and new
text behind them. How well the model predicts the new text is computed by `chunkproof prompt`:
    whole   in one pass over all of the text, without modules
    apart   with modules that are encoded apart
    order   with the same modules, imported in another order
    pairs   with scaffolds over the 1st and 2nd module, the 3rd and 4th ...
    all     with a scaffold over all modules
    none    of the new text alone, at the same positions
Tokens and positions are the same in all of them. The first new token is predicted in none of the
cached ones, so that the tokens behind it are judged. Then times to first token (first_token.py).

OUT gets the tables, the figures as JSON, and a picture. Each place and each time is kept in OUT at
once: a run that was interrupted goes on where it was, and one with more places adds to them. Exit
status 0 done; 1 texts of one place had other tokens in two of the ways; 2 bad use; 3 the limit of
seconds came first, and what is measured is reported; 77 the model or the texts are missing; 130
interrupted.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from array import array
from typing import Any
from xml.sax.saxutils import escape

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]
import first_token  # noqa: E402
import places  # noqa: E402
import questions_report  # noqa: E402

MISSING, LATE, INTERRUPTED = 77, 3, 130
WAYS = ("whole", "apart", "order", "pairs", "all", "none")
Found = dict[str, Any]


class OtherTokens(Exception):
    """Ways cannot be compared at a place."""


class OtherSettings(Exception):
    """What was measured before cannot go on."""


def module_names(n: int) -> list[str]:
    return [f"m{i}" for i in range(n)]


def schema_text(modules: list[str], scaffolds: list[list[str]]) -> str:
    names = module_names(len(modules))
    parts = [f'<module name="{name}">{escape(text)}</module>'
             for name, text in zip(names, modules, strict=True)]
    parts += [f'<scaffold modules="{" ".join(group)}"/>' for group in scaffolds]
    return '<schema name="s">' + "".join(parts) + "</schema>"


def prompt_text(imports: list[str], text: str) -> str:
    return '<prompt schema="s">' + "".join(f"<{name}/>" for name in imports) + escape(text) + \
        "</prompt>"


def joined(words: tuple[str, ...], begin: int, end: int) -> str:
    """The words behind the first one of the place have a blank before them."""
    return (" " if begin > 0 else "") + " ".join(words[begin:end])


class Model:
    """`chunkproof prompt` with a model, in a folder for its files."""

    def __init__(self, asked: argparse.Namespace, folder: pathlib.Path) -> None:
        self.folder = folder
        self.words = [asked.command, "prompt", "--model", asked.weights, "--json"]
        self.scoring = ["--score"] + ([] if asked.exact else
                                      ["--fast", "--threads", str(asked.threads)])

    def report(self, schema: str, prompts: dict[str, str], options: list[str]) -> Any:
        (self.folder / "schema.xml").write_text(schema, encoding="utf-8")
        names = []
        for name, text in prompts.items():
            names.append(str(self.folder / f"{name}.xml"))
            pathlib.Path(names[-1]).write_text(text, encoding="utf-8")
        run = subprocess.run([*self.words, *options, str(self.folder / "schema.xml"), *names],
                             check=True, capture_output=True, text=True)
        return json.loads(run.stdout)

    def counts(self, words: tuple[str, ...]) -> list[int]:
        """Tokens of each word, with the blank before it."""
        texts = [joined(words, i, i + 1) for i in range(len(words))]
        parts = self.report(schema_text(texts, []), {}, [])["schema"]["parts"]
        return [len(part["tokens"]) for part in parts if part["kind"] == "text"]

    def score(self, schema: str, prompts: dict[str, str], logits: str) -> Any:
        return self.report(schema, prompts,
                           [*self.scoring, "--logits", str(self.folder / logits)])


def cut(counts: list[int], asked: argparse.Namespace) -> list[int]:
    """The words at which the modules, and then the new text, end: each has its tokens, or a few
    more where its last word has several."""
    ends: list[int] = []
    n = 0
    wanted = [asked.tokens] * asked.modules + [asked.judged + 1]
    for i, count in enumerate(counts):
        n += count
        if n >= wanted[len(ends)]:
            ends.append(i + 1)
            n = 0
            if len(ends) == len(wanted):
                return ends
    raise OtherTokens("words without tokens")


def logits_apart(folder: pathlib.Path, first: tuple[str, int], second: tuple[str, int], n: int,
                 width: int) -> Found:
    """How n rows of logits of one file, from a row on, differ from those of another."""
    rows = []
    for name, row in (first, second):
        with open(folder / name, "rb") as file:
            file.seek(row * width * 4)
            rows.append(array("f", file.read(n * width * 4)))
    if len(rows[0]) != n * width or len(rows[1]) != n * width:
        raise OtherTokens("the logits are of fewer tokens than were scored")
    apart = [abs(a - b) for a, b in zip(*rows, strict=True)]
    return {"logits": len(apart), "other": sum(map(bool, apart)), "largest": max(apart),
            "size": max(map(abs, rows[0]))}


def judged_of(prompt: Found, n: int) -> Found:
    scores = prompt["answer"]["score"][-n:]
    return {"log_p": [score["log_p"] for score in scores],
            "best": [score["best"] for score in scores],
            "tokens": [score["token"] for score in scores],
            "positions": [score["position"] for score in scores]}


def texts_of(report: Any, prompt: Found) -> list[int]:
    parts = [token for part in report["schema"]["parts"] if part["kind"] == "text"
             for token in part["tokens"]]
    return parts + [token for run in prompt["runs"] if run["from"] == "new"
                    for token in run["tokens"]]


def measure(model: Model, place: places.Place, asked: argparse.Namespace) -> Found:
    ends = cut(model.counts(place.words), asked)
    begins = [0, *ends]
    modules = [joined(place.words, begins[i], ends[i]) for i in range(asked.modules)]
    new = joined(place.words, ends[-2], ends[-1])
    names, n, other = module_names(asked.modules), asked.judged, module_names(asked.modules)
    while other == names and len(names) > 1:
        random.Random(place.key).shuffle(other)
        if other == names:
            other.reverse()
    pairs = [names[i:i + 2] for i in range(0, len(names) - 1, 2)]
    whole = model.score(schema_text([], []), {"whole": prompt_text([], "".join(modules) + new)},
                        "whole")
    cached = {"apart": prompt_text(names, new)}
    apart = model.score(schema_text(modules, []), {
        **cached, "order": prompt_text(other, new), "none": prompt_text([], new)}, "apart")
    with_pairs = model.score(schema_text(modules, pairs), cached, "pairs")
    with_all = model.score(schema_text(modules, [names]), cached, "all")
    reports = {"whole": (whole, 0), "apart": (apart, 0), "order": (apart, 1), "none": (apart, 2),
               "pairs": (with_pairs, 0), "all": (with_all, 0)}
    found: Found = {way: judged_of(reports[way][0]["prompts"][reports[way][1]], n) for way in WAYS}
    tokens = texts_of(whole, whole["prompts"][0])
    for way, (report, number) in reports.items():
        if texts_of(report, report["prompts"][number]) != tokens or \
                found[way]["positions"] != found["whole"]["positions"] or \
                len(found[way]["positions"]) != n:
            raise OtherTokens(f"{way} has other tokens or positions than one pass")
    new_tokens = apart["prompts"][0]["computed"]
    width = os.path.getsize(model.folder / "apart") // (4 * 3 * new_tokens)
    first = new_tokens - n - 1  # of the rows of the new text: the first judged token comes from it
    behind = len(tokens) - n - 1
    differ = {"order": logits_apart(model.folder, ("apart", first), ("apart", new_tokens + first),
                                    n, width),
              "all": logits_apart(model.folder, ("whole", behind), ("all", first), n, width)}
    for way in WAYS:
        del found[way]["positions"]
    judged = found["whole"]["tokens"]
    for way in WAYS:
        if found[way].pop("tokens") != judged:
            raise OtherTokens(f"{way} judges other tokens")
    return {"place": place.key, "kind": place.kind, "order": other, "judged": judged,
            "module_tokens": len(tokens) - new_tokens, "new_tokens": new_tokens,
            "text": hashlib.sha256(" ".join(place.words).encode()).hexdigest()[:16],
            "ways": found, "differ": differ}


class Kept:
    """A file of lines of JSON. The first says what was asked for; an incomplete last line, of a run
    that was killed, is dropped."""

    def __init__(self, path: pathlib.Path, settings: Found) -> None:
        self.path = path
        self.lines: list[Found] = []
        if path.exists():
            text = path.read_bytes()
            complete = text[:text.rfind(b"\n") + 1]
            self.lines = [json.loads(line) for line in complete.splitlines()]
            if complete != text:
                path.write_bytes(complete)
        if not self.lines:
            self.add(settings)
        elif self.lines[0] != settings:
            raise OtherSettings(f"{path} has measurements of other settings, {self.lines[0]}; "
                                "name another --out, or remove it")
        self.lines = self.lines[1:]

    def add(self, line: Found) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.lines.append(line)


def say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def ask_places(asked: argparse.Namespace, kept: Kept, folder: pathlib.Path, end: float) -> int:
    """Measures places until there are enough."""
    model = Model(asked, folder)
    n_words = asked.modules * asked.tokens + asked.judged + 1
    known = {line["place"] for line in kept.lines}
    n, status = 0, 0
    for place in places.choose(n_words, asked.seed, asked.texts):
        if n == asked.places:
            return status
        if place.key not in known:
            if time.monotonic() >= end:
                return LATE
            start = time.monotonic()
            try:
                kept.add(measure(model, place, asked))
            except OtherTokens as why:
                say(f"left out: {place.key}: {why}")
                status = 1
                continue
            ways = kept.lines[-1]["ways"]
            loss = sum(ways["whole"]["log_p"]) - sum(ways["apart"]["log_p"])
            say(f"place {n + 1} of {asked.places}: {place.key}, {time.monotonic() - start:.1f} s; "
                f"{loss / asked.judged:+.3f} nats a token apart")
        n += 1
    if n < asked.places:
        say(f"questions: the texts here have {n} places, and {asked.places} were asked for")
    return status if n > 0 else MISSING


def ask_times(asked: argparse.Namespace, kept: Kept, folder: pathlib.Path, end: float) -> int:
    """Rounds over all sizes, each at a place of its own in the licences, which the seed draws: an
    interrupted run has complete rounds, but for the last."""
    text = first_token.licences()
    if len(text) < asked.largest * first_token.BYTES_PER_TOKEN:
        say("questions: the texts of Debian's licences are missing")
        return MISSING
    words = text.split(" ")
    sizes = [512 << i for i in range(16) if 512 << i <= asked.largest]
    draw = random.Random(asked.seed)
    known = {(line["round"], line["size"]) for line in kept.lines}
    for number in range(asked.rounds):
        for n in sizes:
            begin = draw.randrange(len(words))
            if (number, n) in known:
                continue
            if time.monotonic() >= end:
                return LATE
            module = first_token.text_of_tokens(
                [asked.command, "model", asked.weights],
                " ".join(words[begin:] + words[:begin]), n, folder)
            found, without, cached = first_token.measure(
                asked.command, asked.weights, module, asked.threads, folder, 3)
            kept.add({"round": number, "size": n, "tokens": found, "begin": begin,
                      "without": without, "cached": cached})
            say(f"round {number + 1} of {asked.rounds}: {found} tokens, {without:.2f} s without a "
                f"cache, {cached:.3f} s with one")
    return 0


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="questions.py", description=(__doc__ or "").split("\n\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("command", metavar="COMMAND", help="build/chunkproof")
    parser.add_argument("weights", metavar="WEIGHTS", help="the model (spec/weights.md)")

    def number(name: str, default: int, least: int, words: str) -> None:
        def checked(text: str) -> int:
            if not text.isdigit() or not least <= int(text) <= 1000000:
                raise argparse.ArgumentTypeError(f"'{text}' is no number from {least} to 1000000")
            return int(text)
        parser.add_argument(f"--{name}", metavar="N", type=checked, default=default, help=words)
    parser.add_argument("--out", metavar="FOLDER", default="build/questions", help="for all files")
    number("places", 120, 0, "places in the texts")
    number("modules", 4, 2, "modules of a place")
    number("tokens", 64, 1, "tokens of a module, or a few more")
    number("judged", 64, 1, "tokens that are judged at a place")
    number("seed", 1, 0, "from which places are drawn")
    number("rounds", 20, 0, "of times to first token, each with a place for every size")
    number("largest", 8192, 512, "tokens of the largest module of these")
    number("threads", 1, 1, "of the fast decoder")
    number("seconds", 14400, 0, "the limit: nothing begins after so many")
    parser.add_argument("--texts", metavar="FOLDER", help="take places in its files instead")
    parser.add_argument("--exact", action="store_true",
                        help="places on the reference decoder, whose order changes no bit")
    return parser.parse_args()


def main() -> int:
    asked = read_arguments()
    for path in (asked.command, asked.weights):
        if not os.path.exists(path):
            print(f"questions: {path} is missing; python/README.md says how a model is made")
            return MISSING
    out, end = pathlib.Path(asked.out), time.monotonic() + asked.seconds
    out.mkdir(parents=True, exist_ok=True)
    model = {"model": os.path.basename(asked.weights), "bytes": os.path.getsize(asked.weights)}
    try:
        kept_places = Kept(out / "places.jsonl", {
            **model, "modules": asked.modules, "tokens": asked.tokens, "judged": asked.judged,
            "seed": asked.seed, "texts": asked.texts, "exact": asked.exact})
        kept_times = Kept(out / "times.jsonl", {
            **model, "threads": asked.threads, "seed": asked.seed})
    except OtherSettings as why:
        print(f"questions: {why}", file=sys.stderr)
        return 2
    status = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            if asked.places > 0:
                status = ask_places(asked, kept_places, folder, end)
            if asked.rounds > 0 and status != MISSING:
                status = status or ask_times(asked, kept_times, folder, end)
        except KeyboardInterrupt:
            status = INTERRUPTED
        except subprocess.CalledProcessError as error:
            print(f"questions: {' '.join(map(str, error.cmd[:2]))} ended with {error.returncode}:\n"
                  f"{error.stderr}", file=sys.stderr)
            return 2
    questions_report.write(out, asked, kept_places.lines, kept_times.lines)
    return status


if __name__ == "__main__":
    sys.exit(main())
