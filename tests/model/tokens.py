#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `chunkproof model --tokens` with the package tokenizers, token for token (TOKEN-2 to 6).

    tests/model/tokens.py COMMAND MODEL.gguf WEIGHTS [TOKENS]

Texts: licences, manuals and documents of the system, this project, random Unicode, and bytes that
are no UTF-8; TOKENS of them at least (1,000,000). Characters whose class differs between the
Unicode of the two libraries cannot be compared: random ones are assigned in Unicode 14. Exit status
0 all equal, 1 a difference, 2 bad use, 77 a package is missing.
"""
import glob
import gzip
import os
import random
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from typing import Any

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.environ.get("CHUNKPROOF_PACKAGE", os.path.join(ROOT, "python")))
try:
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

    from chunkproof.model import SPLIT_DIGITS
    from chunkproof.source import Source
except ImportError as error:
    print(f"tokens: {error.name} is missing; install gguf, numpy and tokenizers with pip")
    sys.exit(77)

BLOCK = 1 << 20
MOST_EXPLAINED = 5


def reference(source: Source, special: bool) -> Any:
    """The tokenizer as the package makes it from the GGUF file's vocabulary and merges."""
    fields = source.reader.fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(each.split(" ")) for each in fields["tokenizer.ggml.merges"].contents()]
    model = models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges)
    tokenizer = Tokenizer(model)
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    if source.tokenizer.split == SPLIT_DIGITS:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), byte_level])
    else:
        tokenizer.pre_tokenizer = byte_level
    if special:
        marked = zip(tokens, source.tokenizer.special, strict=True)
        tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False)
                                      for token, is_special in marked if is_special])
    return tokenizer


def expected(tokenizer: Any, of_byte: dict[int, int], data: bytes) -> list[int]:
    """The package takes text: runs of UTF-8 go there, and a byte between them is its token."""
    found: list[int] = []
    for run in re.split("([\udc80-\udcff])", data.decode("utf-8", errors="surrogateescape")):
        if len(run) == 1 and "\udc80" <= run <= "\udcff":
            found += [of_byte[ord(run) - 0xDC00]] if ord(run) - 0xDC00 in of_byte else []
        elif run:
            found += tokenizer.encode(run, add_special_tokens=False).ids
    return found


def system_texts() -> Iterator[tuple[str, bytes]]:
    names = sorted(glob.glob("/usr/share/common-licenses/*")) + \
        sorted(glob.glob("/usr/share/doc/*/*")) + sorted(glob.glob("/usr/share/man/man?/*.gz")) + \
        sorted(glob.glob("/usr/lib/python3*/*.py"))
    for name in names:
        if os.path.isfile(name):
            with gzip.open(name) if name.endswith(".gz") else open(name, "rb") as file:
                yield name, file.read(BLOCK)


def project_texts() -> Iterator[tuple[str, bytes]]:
    for pattern in ("*.md", "spec/*.md", "ref/*.c", "opt/*.c", "kernels/*", "scripts/*.py"):
        for name in sorted(glob.glob(os.path.join(ROOT, pattern))):
            if os.path.isfile(name):
                with open(name, "rb") as file:
                    yield name, file.read(BLOCK)


def random_texts() -> Iterator[tuple[str, bytes]]:
    draw = random.Random(1)
    assigned = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs")]
    edges = list("  \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u180e\u2000\u200a\u200b\u2028"
                 "\u2029\u202f\u205f\u3000\ufeff'''sstmdlrve09\u0663\u00b2\u2160\u0300")
    for i in range(40):
        yield f"random Unicode {i}", "".join(draw.choices(assigned, k=10000)).encode()
        yield f"edges {i}", "".join(draw.choices(edges, k=10000)).encode()
        mixed = draw.choices(assigned, k=500) + draw.choices(edges, k=5000)
        draw.shuffle(mixed)
        yield f"mixed {i}", "".join(mixed).encode()
        yield f"random bytes {i}", draw.randbytes(10000)
        broken = bytearray("".join(draw.choices(assigned, k=3000)).encode())
        for _ in range(300):
            broken[draw.randrange(len(broken))] = draw.randrange(256)
        yield f"broken UTF-8 {i}", bytes(broken)
        yield f"letters {i}", bytes(draw.choices(b"abet hin .'\n", k=10000))


def special_texts(source: Source) -> Iterator[tuple[str, bytes]]:
    """Special tokens, whole and in part, in plain text."""
    draw = random.Random(2)
    names = [token for token, is_special in
             zip(source.tokenizer.tokens, source.tokenizer.special, strict=True) if is_special]
    for i in range(20):
        parts = [draw.choice(names)[:draw.choice((99, 99, 99, 3))] if draw.random() < 0.5 else
                 draw.choice((b" ", b"user\n", b"a b", b"12 ", b"\n\n", b"<", b"|>"))
                 for _ in range(2000)]
        yield f"special tokens {i}", b"".join(parts)


class Comparison:
    def __init__(self, command: str, weights: str, source: Source) -> None:
        self.command, self.weights, self.source = command, weights, source
        self.of_byte = {token[0]: i for i, token in enumerate(source.tokenizer.tokens)
                        if len(token) == 1 and not source.tokenizer.special[i]}
        self.compared = self.texts = self.different = 0

    def run(self, texts: Iterator[tuple[str, bytes]], special: bool) -> None:
        """Texts are joined into one file for the command, in blocks with a mark between."""
        tokenizer = reference(self.source, special)
        group: list[tuple[str, bytes, list[int]]] = []
        size = 0
        for name, data in texts:
            group.append((name, data, expected(tokenizer, self.of_byte, data)))
            size += len(data)
            if size > 8 * BLOCK:
                self._check(group, special)
                group, size = [], 0
        self._check(group, special)

    def _check(self, group: list[tuple[str, bytes, list[int]]], special: bool) -> None:
        """A byte 0xFF, which is nobody's and has no token, ends a run and so a text."""
        wanted = [token for _, _, tokens in group for token in tokens]
        data = b"\xff".join(text for _, text, _ in group)
        found = self._tokens(data, special)
        self.compared += len(wanted)
        self.texts += len(group)
        if found != wanted:
            before = self.different
            for name, text, tokens in group:
                if self.different == MOST_EXPLAINED:
                    sys.exit(f"tokens: {MOST_EXPLAINED} texts differ; the others were not tried")
                again = self._tokens(text, special)
                if again != tokens:
                    self.different += 1
                    self._explain(name, tokens, again)
            if self.different == before:
                self.different += 1
                print("different: texts that are equal one by one, and not as one")

    def _explain(self, name: str, wanted: list[int], found: list[int]) -> None:
        at = next((i for i, (a, b) in enumerate(zip(wanted, found, strict=False)) if a != b),
                  min(len(wanted), len(found)))
        text = self.source.tokenizer.tokens

        def show(tokens: list[int]) -> list[bytes]:
            return [text[i] for i in tokens[max(0, at - 2):at + 4]]
        print(f"different: {name}, token {at}: {show(found)}, and the package has {show(wanted)}")

    def _tokens(self, data: bytes, special: bool) -> list[int]:
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            words = [self.command, "model", self.weights, "--text", file.name, "--tokens"]
            done = subprocess.run(words + ["--special"] * special, capture_output=True, check=True)
        return [int(word) for word in done.stdout.split()]


def main() -> int:
    if len(sys.argv) not in (4, 5):
        print(__doc__, file=sys.stderr)
        return 2
    source = Source(sys.argv[2])
    wanted = int(sys.argv[4]) if len(sys.argv) == 5 else 1000000
    comparison = Comparison(sys.argv[1], sys.argv[3], source)
    comparison.run(special_texts(source), True)
    comparison.run(random_texts(), False)
    comparison.run(project_texts(), False)
    texts = system_texts()
    while comparison.compared < wanted:
        before = comparison.texts
        comparison.run((text for _, text in zip(range(200), texts)), False)
        if comparison.texts == before:
            print(f"no more texts here; {wanted} tokens were asked for")
            return 1
    print(f"tokens {comparison.compared} of {comparison.texts} texts compared, "
          f"{comparison.different} texts different")
    return 1 if comparison.different or not comparison.compared else 0


if __name__ == "__main__":
    sys.exit(main())
