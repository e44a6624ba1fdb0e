# SPDX-License-Identifier: Apache-2.0
"""Proofs and model checks that are begun in a limited time: WITHIN=seconds, for a machine whose
cache is empty. What is not begun by then is left, and the totals say how much that is; what was
found is kept (scripts/kept.py), so that the next run gets further. Without WITHIN all is done.
"""
import os
import pathlib
import subprocess
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TypeVar

import samples

ROOT = pathlib.Path(__file__).resolve().parent.parent
LATELY = 20  # commits
SHORT = 60  # seconds: in less, what takes minutes comes last
Result = TypeVar("Result")


class BadLimit(Exception):
    """With what to do instead."""


def changed() -> frozenset[str]:
    """The files that the last commits changed; none where that cannot be said."""
    git = ["git", "-C", str(ROOT), "diff", "--name-only", f"HEAD~{LATELY}", "HEAD"]
    try:
        done = subprocess.run(git, capture_output=True, text=True, check=False)
    except OSError:
        return frozenset()
    return frozenset(done.stdout.splitlines()) if done.returncode == 0 else frozenset()


class Within:
    """The time that a run has, from now on."""

    def __init__(self) -> None:
        text = os.environ.get("WITHIN", "")
        if text and not (text.isascii() and text.isdigit() and 1 <= int(text) <= 86400):
            raise BadLimit(f"WITHIN={text}: it takes whole seconds, from 1 to 86400")
        self.seconds = int(text) if text else None
        self.began = time.monotonic()
        self.left: list[str] = []

    def order(self, files: Mapping[str, Iterable[str]], otherwise: Sequence[str],
              long: Container[str] = ()) -> list[str]:
        """The names in the order to begin with them. In a limited time: first those of whose files
        one was changed lately, then another part of the others in each commit; in a short one those
        that take long come last. files: of a name."""
        if self.seconds is None:
            return list(otherwise)
        fresh, commit = changed(), samples.commit()
        turn = sorted(files, key=lambda name: samples.place(f"{commit} {name}"))
        is_short = self.seconds < SHORT
        return sorted(turn, key=lambda name: (is_short and name in long,
                                              fresh.isdisjoint(files[name])))

    def begin(self, name: str, function: Callable[[], Result]) -> Result | None:
        """What the function gives; None, and the name is left, when the time is over."""
        if self.seconds is not None and time.monotonic() - self.began > self.seconds:
            self.left.append(name)
            return None
        return function()

    def says(self, of: int, kind: str) -> str:
        """What was left, for the totals."""
        return f"; {len(self.left)} of {of} {kind} not begun WITHIN {self.seconds} s" \
            if self.left else ""
