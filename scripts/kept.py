#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results of proofs, model checking and contracts, kept by content in a cache of the user's, which
all checkouts share: ${XDG_CACHE_HOME:-~/.cache}/chunkproof.

A key is the digest of everything that a result depends on: the texts, the options, the versions of
the tools. An entry is a file that carries its key and the digest of its value. The reader ignores
a truncated or foreign file, and says so. Files appear by renaming: two checkouts may write at the
same time.

CACHE=off neither reads nor writes. TIER=deep, and --fresh, read nothing and write what they find.
CACHE_MIB=1024 bounds the size: prune() removes what was used least recently. proofs/SOUNDNESS.md
says what trust the cache adds.

    scripts/kept.py --clean    removes it all (make clean-cache)
    scripts/kept.py --size     entries and MiB
    scripts/kept.py --place K  a directory of the cache for a tool that keeps results itself; empty
                               where nothing may be read
"""

import base64
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

FORMAT = "chunkproof 1"
ON, WRITE, OFF = "on", "write", "off"


def directory() -> pathlib.Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(base) / "chunkproof"


def mode(fresh: bool = False) -> str:
    if os.environ.get("CACHE") == "off":
        return OFF
    return WRITE if fresh or os.environ.get("TIER") == "deep" else ON


def digest(*parts: object) -> str:
    """Of strings, bytes, paths (their content), and of lists and dictionaries of these."""
    total = hashlib.sha256()

    def add(kind: str, content: bytes) -> None:
        total.update(f"{kind}{len(content)}:".encode() + content)

    def enter(part: object) -> None:
        if isinstance(part, (list, tuple)):
            add("list", str(len(part)).encode())
            for item in part:
                enter(item)
        elif isinstance(part, dict):
            enter(sorted(part.items()))
        elif isinstance(part, pathlib.Path):
            add("file", part.read_bytes())
        elif isinstance(part, bytes):
            add("bytes", part)
        else:
            add(type(part).__name__, str(part).encode())

    enter(parts)
    return total.hexdigest()


class Cache:
    """The entries of one kind; a value is what JSON can hold. hits counts those that were there."""

    def __init__(self, kind: str, fresh: bool = False) -> None:
        self.place, self.mode, self.hits = directory() / kind, mode(fresh), 0

    def path(self, key: str) -> pathlib.Path:
        return self.place / key[:2] / f"{key[2:]}.json"

    def get(self, key: str) -> Any:
        """The value, or None."""
        if self.mode != ON:
            return None
        path = self.path(key)
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
            if (entry["format"], entry["key"], entry["digest"]) != (
                FORMAT,
                key,
                value_digest(entry["value"]),
            ):
                raise ValueError("another key, format or digest")
            os.utime(path)  # used now
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as problem:
            print(f"cache: {path} is ignored: {type(problem).__name__}: {problem}", file=sys.stderr)
            return None
        self.hits += 1
        return entry["value"]

    def put(self, key: str, value: object) -> None:
        if self.mode == OFF:
            return
        text = json.dumps(
            {"format": FORMAT, "key": key, "digest": value_digest(value), "value": value}
        )
        write(self.path(key), text.encode())

    def files(self, key: str) -> dict[str, bytes] | None:
        """{name: content} that keep_files() put there, or None."""
        value = self.get(key)
        try:
            return (
                None
                if value is None
                else {name: base64.b64decode(text) for name, text in value.items()}
            )
        except (AttributeError, TypeError, ValueError):
            return None

    def keep_files(self, key: str, files: Mapping[str, bytes]) -> None:
        self.put(key, {name: base64.b64encode(content).decode() for name, content in files.items()})


def value_digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def write(path: pathlib.Path, content: bytes) -> None:
    """All of the content or none; where nothing can be written, nothing is kept."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError as problem:
        print(f"cache: nothing is kept: {problem}", file=sys.stderr)


@contextlib.contextmanager
def turn(path: pathlib.Path, alone: bool = False) -> Iterator[None]:
    """Beside others with this lock, or alone: of this program and of any other of the user's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield


def entries() -> list[tuple[float, int, pathlib.Path]]:
    """[(when it was used, bytes, path)]"""
    found = []
    for path in directory().rglob("*"):
        try:
            if path.is_file() and path.name != "lock":
                found.append((path.stat().st_mtime, path.stat().st_size, path))
        except OSError:
            pass  # another checkout removes it
    return found


def prune(most: int | None = None) -> None:
    """Removes what was used least recently until the rest has at most so many bytes."""
    if mode() == OFF:
        return
    most = int(float(os.environ.get("CACHE_MIB") or "1024") * 2**20) if most is None else most
    found = sorted(entries())
    size = sum(entry[1] for entry in found)
    for _, length, path in found:
        if size <= most:
            break
        path.unlink(missing_ok=True)
        size -= length


def main(arguments: list[str]) -> int:
    if arguments == ["--clean"]:
        shutil.rmtree(directory(), ignore_errors=True)
    elif arguments == ["--size"]:
        found = entries()
        print(f"entries {len(found)}, size {sum(entry[1] for entry in found) / 2 ** 20:.1f} MiB")
    elif len(arguments) == 2 and arguments[0] == "--place":
        place = directory() / arguments[1]
        if mode() == ON:
            place.mkdir(parents=True, exist_ok=True)
            print(place)
    else:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
