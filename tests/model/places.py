# SPDX-License-Identifier: Apache-2.0
"""Places in the texts that come with the system: licences, documents and manuals.

The rule: files of each kind, shuffled from a seed. The kinds take turns,
and each gives the next file that has enough words, at a word that the seed draws. A place that has
eight words in a row in common with an earlier one is left out, for licences and manuals repeat each
other. Of a package's documents one is taken, and of manuals whose names begin with the same word
(git-log, git-show). So places are the same wherever the same texts are installed.

White space is a blank, and words with characters that no file of XML has are left out. Of manuals
the lines that are requests are left out, but for those that set a font.
"""
import glob
import gzip
import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

PATTERNS = {
    "licence": ["/usr/share/common-licenses/*"],
    "document": [f"/usr/share/doc/*/{name}" for name in
                 ("README*", "NEWS*", "FAQ*", "*.txt", "*.txt.gz", "*.md", "*.md.gz",
                  "copyright")],
    "manual": ["/usr/share/man/man?/*.gz"],
}
MOST_BYTES = 1 << 20
SHINGLE = 8
FONT = re.compile(r"\.(?:B|I|BR|RB|IR|RI|BI|IB|SM|SB)\s+")
ESCAPES = ((re.compile(r'\\".*'), ""), (re.compile(r"\\f(?:\[[^]]*\]|\(..|.)"), ""),
           (re.compile(r"\\s[-+]?\d+"), ""), (re.compile(r"\\\(aq"), "'"),
           (re.compile(r"\\-"), "-"), (re.compile(r"\\(?: |~|0)"), " "), (re.compile(r"\\e"), "/"),
           (re.compile(r"\\(?:\*?(?:\[[^]]*\]|\(..)|.)"), ""))


@dataclass(frozen=True)
class Place:
    kind: str
    path: str
    begin: int  # the first word
    words: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"{self.path}:{self.begin}"


def of_manual(text: str) -> str:
    lines = []
    for source in text.splitlines():
        words = FONT.sub("", source, count=1)
        if words[:1] not in (".", "'"):
            lines.append(words.replace('"', "") if words != source else words)
    text = "\n".join(lines)
    for pattern, instead in ESCAPES:
        text = pattern.sub(instead, text)
    return text


def words_of(path: str, kind: str) -> list[str]:
    """Of a file that is no text of UTF-8, none."""
    try:
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
            text = file.read(MOST_BYTES).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError):
        return []
    if kind == "manual":
        text = of_manual(text)
    return [word for word in text.split() if word.isprintable()]


def files_of(folder: str | None) -> dict[str, list[str]]:
    """By kinds; those of a folder are of one kind."""
    patterns = {"given": [os.path.join(folder, "*")]} if folder else PATTERNS
    return {kind: sorted({path for pattern in each for path in glob.glob(pattern)
                          if os.path.isfile(path) and not os.path.islink(path)})
            for kind, each in patterns.items()}


def family_of(path: str, kind: str) -> str:
    """Of files with the same one, one has a place."""
    folder, name = os.path.split(path)
    if kind == "manual":
        return re.split(r"[-_.:]", name)[0]
    return folder if kind == "document" else path


def choose(n_words: int, seed: int, folder: str | None = None) -> Iterator[Place]:
    """Places of n_words words."""
    draw = random.Random(seed)
    files = files_of(folder)
    for paths in files.values():
        draw.shuffle(paths)
    seen: set[tuple[str, ...]] = set()
    families: set[tuple[str, str]] = set()
    while any(files.values()):
        for kind, paths in files.items():
            found = None
            while paths and found is None:
                path = paths.pop()
                family = (kind, family_of(path, kind))
                words = words_of(path, kind) if family not in families else []
                if len(words) < n_words:
                    continue
                begin = draw.randrange(len(words) - n_words + 1)
                place = tuple(words[begin:begin + n_words])
                shingles = {place[i:i + SHINGLE] for i in range(max(1, n_words - SHINGLE + 1))}
                if not shingles & seen:
                    seen |= shingles
                    families.add(family)
                    found = Place(kind, path, begin, place)
            if found is not None:
                yield found
