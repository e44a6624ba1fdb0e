# SPDX-License-Identifier: Apache-2.0
"""Runs programs that may never end. What counts is their own time, not that of a busy machine."""

import os
import pathlib
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence

TICKS = os.sysconf("SC_CLK_TCK")
running: set[subprocess.Popen[str]] = set()
LOOK = 2.0  # seconds between two looks at a program


class Endless(Exception):
    """A program took too long, or waits for what never comes."""


def family(pid: int) -> list[int]:
    """A process and all that it started, as far as they are there."""
    try:
        tasks = list(pathlib.Path(f"/proc/{pid}/task").glob("*/children"))
        words = [word for task in tasks for word in task.read_text(encoding="utf-8").split()]
    except OSError:
        return [pid]
    return [pid, *(one for word in words for one in family(int(word)))]


def processor_seconds(pid: int) -> float:
    """Of a process, and of those that it started and that have ended."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    return sum(map(int, text.rpartition(")")[2].split()[11:15])) / TICKS


def end(child: subprocess.Popen[str]) -> None:
    """With all that it started."""
    for pid in family(child.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def end_all() -> None:
    """Those that still run."""
    for child in list(running):
        end(child)


def failure(commands: Iterable[Sequence[object]]) -> str | None:
    """Runs each, as a compiler, until one fails: what that says."""
    for command in commands:
        done = subprocess.run(
            [str(part) for part in command],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode != 0:
            return done.stderr
    return None


def run(
    command: Sequence[object], most: float, idle: float, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Ends it after `most` seconds of processor time, or `idle` seconds in which it used none."""
    return run_in(None, command, most, idle, **environment)


def run_in(
    place: pathlib.Path | None,
    command: Sequence[object],
    most: float,
    idle: float,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """The same in a directory, or where this program runs."""
    words = [str(part) for part in command]
    child = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        cwd=place,
        env={**os.environ, **environment},
    )
    running.add(child)
    try:
        return watched(child, words, most, idle)
    finally:
        running.discard(child)


def watched(
    child: subprocess.Popen[str], words: list[str], most: float, idle: float
) -> subprocess.CompletedProcess[str]:
    """What it says, when it ends in time."""
    used, since = 0.0, time.monotonic()
    while True:
        try:
            out, err = child.communicate(timeout=LOOK)
            return subprocess.CompletedProcess(words, child.returncode, out, err)
        except subprocess.TimeoutExpired:
            now = sum(map(processor_seconds, family(child.pid)))
            if now != used:
                used, since = now, time.monotonic()
            if used > most or time.monotonic() - since > idle:
                end(child)
                child.communicate()
                why = f"ended after {most:.0f} s of processor time"
                if used <= most:
                    why = f"ended after {idle:.0f} s without work"
                raise Endless(why) from None
