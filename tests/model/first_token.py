#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time to the first token with a module that is cached, and with one that is not, by its tokens.

    tests/model/first_token.py COMMAND WEIGHTS [THREADS [LARGEST [SECONDS]]]

For 512, 1024, ... LARGEST (8192) tokens of the licences in /usr/share/common-licenses, a schema has
one module, and two prompts ask the same question behind it, on the fast decoder with THREADS
threads (1). The first prompt encodes the module and computes the question; the second one finds the
module. So both times come from one process, and their ratio is what a cache gives. Positions beyond
the model's context are timed all the same: what it answers there makes no sense.

Prints a line when it is known. Begins nothing after SECONDS (600). Nothing here is a check. Exit
status 0 measured, 2 bad use, 77 the model or the texts are missing, 130 interrupted: the lines that
are printed stand.
"""
import glob
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from xml.sax.saxutils import escape

BYTES_PER_TOKEN = 6  # enough text for a token of English


def text_of_tokens(command: list[str], text: str, n: int, folder: pathlib.Path) -> str:
    """The shortest beginning of the text, in words, that has n tokens or more."""
    words = text[:n * BYTES_PER_TOKEN].split(" ")
    low, high = 1, len(words)
    while low < high:
        middle = (low + high) // 2
        (folder / "text").write_text(" ".join(words[:middle]), encoding="utf-8")
        run = subprocess.run([*command, "--text", str(folder / "text"), "--tokens"], check=True,
                             capture_output=True, text=True)
        if len(run.stdout.split()) < n:
            low = middle + 1
        else:
            high = middle
    return " ".join(words[:low])


def measure(command: str, weights: str, module: str, threads: int, folder: pathlib.Path,
            again: int = 1) -> tuple[int, float, float]:
    """Tokens of the module, seconds without a cache and with it: the median of `again` prompts."""
    files = [folder / name for name in ("schema.xml", *(f"{i}.xml" for i in range(again + 1)))]
    files[0].write_text(f'<schema name="s"><module name="m">{escape(module)}</module></schema>',
                        encoding="utf-8")
    for file in files[1:]:
        file.write_text('<prompt schema="s"><m/> In short, this licence says that</prompt>')
    run = subprocess.run([command, "prompt", "--model", weights, "--fast", "--threads",
                          str(threads), "--json", *map(str, files)], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    first, *others = (prompt["answer"] for prompt in json.loads(run.stdout)["prompts"])
    if any(other["tokens"] != first["tokens"] or other["encoded"] != 0 for other in others):
        sys.exit("first_token: a prompt behind the first one has not found the module")
    return (first["encoded"], first["seconds"]["encoding"] + first["seconds"]["first"],
            statistics.median(other["seconds"]["first"] for other in others))


def licences() -> str:
    paths = sorted(glob.glob("/usr/share/common-licenses/*"))
    return "\n".join(" ".join(pathlib.Path(path).read_text(errors="replace").split())
                     for path in paths if not os.path.islink(path))


def main() -> int:
    if len(sys.argv) not in (3, 4, 5, 6):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    command, weights = sys.argv[1:3]
    threads, largest, seconds = [*map(int, sys.argv[3:]), *(1, 8192, 600)[len(sys.argv) - 3:]]
    text = licences()
    if not os.path.exists(weights) or len(text) < largest * BYTES_PER_TOKEN:
        print("first_token: the model's weights or the texts of Debian's licences are missing")
        return 77
    print("| tokens of the module | not cached, s | cached, s | ratio |\n| --- | --- | --- | --- |")
    end, n = time.monotonic() + seconds, 512
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            while n <= largest and time.monotonic() < end:
                module = text_of_tokens([command, "model", weights], text, n, folder)
                found, without, cached = measure(command, weights, module, threads, folder)
                print(f"| {found} | {without:.2f} | {cached:.3f} | {without / cached:.0f} |",
                      flush=True)
                n *= 2
        except KeyboardInterrupt:
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
