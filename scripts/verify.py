#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The correctness gate: runs the stages of scripts/stages.py, ends with a table and writes
build/verify/report.json (scripts/report-schema.json), junit.xml and logs/STAGE.log; with
KERNEL=FILE the gate adds gate.json, gate.xml and gate.html (scripts/gate).

    scripts/verify.py               all stages
    scripts/verify.py lint install  only these
    scripts/verify.py -install      all but these
    scripts/verify.py +contracts    all and these, which belong to another tier
    scripts/verify.py --list        their names and what they need

TIER=quick|default|deep says how much each stage does. STRICT=1 makes a skipped stage a failure.
Stages that use one processor run side by side. The table has a stage's time by the clock and, as
CPU, that of all processors; the last lines name the stages that took most.
Exit status: 0 nothing failed, 1 a stage failed, 2 bad use, or another run in this tree, 130
interrupted (what ran is reported).
"""

import contextlib
import fcntl
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

import report as paper
import stages as project
from stages import Stage

SKIPPED = 77  # exit status of a stage that found nothing wrong but lacked a tool
CLEAR = "\r\033[K"  # a terminal's line


class Child(subprocess.Popen[bytes]):
    """The processes of a stage, and what they used when they have ended."""

    usage: resource.struct_rusage | None = None


class Interrupted(Exception):
    def __init__(self, signum: int) -> None:
        super().__init__(signal.Signals(signum).name)
        self.signum = signum


def lacking(stage: Stage) -> str | None:
    """The first thing that the stage needs and that is not there, or None."""
    for need in stage.needs:
        if isinstance(need, str):
            if shutil.which(need) is None:
                return need
        elif (
            subprocess.run(
                ["sh", "-c", need[1]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ).returncode
            != 0
        ):
            return need[0]
    return None


def last_lines(path: str, count: int) -> list[str]:
    with open(path, encoding="utf-8", errors="replace") as log:
        return [line.rstrip() for line in log if line.strip()][-count:]


def end(child: Child) -> None:
    """Ends the child and everything that it started."""
    for signum in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, signum)
            deadline = time.monotonic() + 5
            while reap(child) is None and time.monotonic() < deadline:
                time.sleep(0.05)
        except ProcessLookupError:
            continue


def reap(child: Child) -> resource.struct_rusage | None:
    """What the child used (resource.getrusage) when it has ended, else None."""
    if child.returncode is None:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode, child.usage = os.waitstatus_to_exitcode(status), usage
    return None if child.returncode is None else child.usage


class Running:
    """A stage that has begun. Its entry of the report says what came of it."""

    def __init__(self, stage: Stage, head: str, logs: str) -> None:
        self.stage, self.head = stage, head
        self.child: Child | None = None
        self.log = os.path.join(logs, stage.name + ".log")
        self.entry: paper.Entry = {
            "name": stage.name,
            "status": "fail",
            "reason": "interrupted",
            "seconds": 0.0,
            "cpu": 0.0,
            "summary": "",
            "figures": [],
        }
        self.began = time.monotonic()

    def start(self) -> bool:
        """False where the stage lacks something, and is over."""
        missing = lacking(self.stage)
        if missing:
            self.entry.update({"status": "skip", "reason": f"{missing} is missing"})
            return False
        quick = self.stage.quick and os.environ["TIER"] == "quick"
        with open(self.log, "w", encoding="utf-8") as log:
            self.child = Child(
                ["sh", "-c", self.stage.quick if quick else self.stage.command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, **self.stage.environment},
            )
        return True

    def elapsed(self) -> float:
        return time.monotonic() - self.began

    def is_over(self) -> bool:
        """Ends the stage when it is past its limit."""
        assert self.child is not None
        if reap(self.child) is None and self.elapsed() <= self.stage.limit:
            return False
        late = self.child.returncode is None
        self.stop()
        lines = last_lines(self.log, 1)
        self.judge(None if late else self.child.returncode, lines[0] if lines else "")
        return True

    def stop(self) -> None:
        if self.child is None:
            return
        if reap(self.child) is None:
            end(self.child)
        usage = reap(self.child)
        self.entry["seconds"] = round(self.elapsed(), 2)
        self.entry["cpu"] = round(usage.ru_utime + usage.ru_stime, 2) if usage else 0.0

    def judge(self, status: int | None, summary: str) -> None:
        if status is None:
            reason = f"still running after {self.stage.limit} s"
            self.entry.update({"status": "fail", "reason": reason})
        elif status == SKIPPED:
            self.entry.update({"status": "skip", "reason": summary or "a tool is missing"})
        else:
            self.entry.update(
                {
                    "summary": summary[:160],
                    "figures": paper.figures_of(summary),
                    "status": "pass" if status == 0 else "fail",
                    "reason": "" if status == 0 else f"exit status {status}",
                }
            )

    def tell(self, strict: bool, live: bool, out: TextIO) -> None:
        if self.entry["status"] == "skip" and strict:
            reason = f"STRICT=1: {self.entry['reason']}"
            self.entry.update({"status": "fail", "reason": reason})
        print(
            f"{CLEAR if live else ''}{self.head} {self.entry['status']} "
            f"{self.entry['seconds']:7.1f} s, "
            f"CPU {self.entry['cpu']:6.1f} s  {paper.said(self.entry)}",
            flush=True,
            file=out,
        )
        if self.entry["status"] == "fail" and os.path.exists(self.log):
            print(
                "".join(f"    | {line}\n" for line in last_lines(self.log, 15)) + f"    {self.log}",
                flush=True,
                file=out,
            )


def next_to_begin(pending: Sequence[Stage], running: Sequence[Stage]) -> Stage | None:
    """The first stage for which there is room. One that needs all processors has others beside it,
    since it seldom keeps all of them busy, but none of its kind."""
    free = project.JOBS + 2 - sum(stage.weight() for stage in running)
    full = any(uses_all(stage) for stage in running)
    return next(
        (stage for stage in pending if stage.weight() <= free and not (full and uses_all(stage))),
        None,
    )


def uses_all(stage: Stage) -> bool:
    return stage.asked() != 1 and stage.weight() == project.JOBS


def run_all(stages: Sequence[Stage], report: paper.Report, logs: str, out: TextIO) -> None:
    """Runs the stages and appends an entry to the report for each one as it begins."""
    live = out.isatty()
    pending, running = list(stages), []

    def begin(stage: Stage) -> None:
        pending.remove(stage)
        head = f"[{len(stages) - len(pending):2}/{len(stages)}] {stage.name:16}"
        new = Running(stage, head, logs)
        report["stages"].append(new.entry)
        if not live:
            print(f"{head} begins", flush=True, file=out)
        running.append(new)  # before it starts: an interrupt ends what runs
        if not new.start():
            running.remove(new)
            new.tell(report["strict"], live, out)

    try:
        while pending or running:
            stage = next_to_begin(pending, [other.stage for other in running])
            if stage:
                begin(stage)
                continue
            time.sleep(0.1)
            for other in [other for other in running if other.is_over()]:
                running.remove(other)
                other.tell(report["strict"], live, out)
            if live and running:
                now = ", ".join(f"{other.stage.name} {other.elapsed():.0f} s" for other in running)
                print(f"{CLEAR}{now}", end="", flush=True, file=out)
    finally:
        for other in running:
            other.stop()


def output_of(*argv: str) -> str:
    """The first line that a command prints, "" when there is none."""
    try:
        run = subprocess.run(argv, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (
        next(iter((run.stdout + run.stderr).strip().splitlines()), "") if not run.returncode else ""
    )


def tools(stages: Iterable[Stage]) -> dict[str, str]:
    names = sorted({need for stage in stages for need in stage.needs if isinstance(need, str)})
    return {name: output_of(name, "--version") for name in names if shutil.which(name)}


def choose(stages: Sequence[Stage], arguments: Sequence[str], tier: str) -> list[Stage] | None:
    known = [stage.name for stage in stages]
    left_out = [name[1:] for name in arguments if name.startswith("-")]
    added = [name[1:] for name in arguments if name.startswith("+")]
    names = [name for name in arguments if name[0] not in "+-"]
    unknown = [name for name in names + added + left_out if name not in known]
    if unknown:
        print(
            f"verify: no such stage: {', '.join(unknown)}; there are: {', '.join(known)}",
            file=sys.stderr,
        )
        return None
    chosen = [
        stage
        for stage in stages
        if stage.name not in left_out
        and (stage.name in names + added or (not names and tier in stage.tiers))
    ]
    if not chosen:
        print(
            f"verify: no stage is left of {' '.join(arguments) or 'TIER=' + tier}", file=sys.stderr
        )
        return None
    return chosen


def written(directory: str) -> str:
    """The reports that are there: those of the run, and what the gate said of a kernel."""
    names = ("report.json", "junit.xml", "gate.json", "gate.xml", "gate.html")
    return ", ".join(name for name in names if os.path.exists(os.path.join(directory, name)))


@contextlib.contextmanager
def alone(directory: str) -> Iterator[bool]:
    """True for one run at a time: a second one would remove the reports of the first."""
    os.makedirs(directory, exist_ok=True)
    lock = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(lock)


def empty(directory: str) -> None:
    """Removes what is in it. The directory stays, for it is what alone() locks."""
    for entry in os.scandir(directory):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)


def gate(stages: Sequence[Stage], report: paper.Report, directory: str, out: TextIO) -> int:
    """Runs the stages, writes and prints the report, also when a signal ends the run early."""
    logs = os.path.join(directory, "logs")
    empty(directory)
    os.makedirs(logs)

    def interrupt(signum: int, _: object) -> None:
        raise Interrupted(signum)

    handlers = {
        signum: signal.signal(signum, interrupt) for signum in (signal.SIGINT, signal.SIGTERM)
    }
    began = time.monotonic()
    signum = None
    try:
        run_all(stages, report, logs, out)
    except Interrupted as interruption:
        signum = interruption.signum
        report["status"] = "interrupted"
        print(f"\nverify: {interruption}: this is what ran", file=out)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    paper.close(report, time.monotonic() - began)
    paper.write(report, directory)
    print(paper.table(report), file=out)
    print(paper.slowest(report), file=out)
    print(f"{paper.totals(report)}; {directory}/{written(directory)}", file=out)
    if signum is not None:
        return 128 + signum
    return 1 if report["failed"] else 0


def main(arguments: list[str], stages: Sequence[Stage] = project.STAGES,
         directory: str = "build/verify", out: TextIO = sys.stdout) -> int:
    if arguments in (["--help"], ["-h"]):
        print(__doc__, file=out)
        return 0
    if arguments == ["--list"]:
        for stage in stages:
            needs = [need if isinstance(need, str) else need[0] for need in stage.needs]
            print(f"{stage.name:16} {', '.join(needs)}", file=out)
        return 0
    tier = os.environ.get("TIER") or "default"
    if tier not in project.TIERS:
        print(f"verify: TIER={tier}: it is one of {', '.join(project.TIERS)}", file=sys.stderr)
        return 2
    chosen = choose(stages, arguments, tier)
    if chosen is None:
        return 2

    os.environ["TIER"] = tier
    os.environ["PATH"] = os.path.abspath("build/tools") + os.pathsep + os.environ["PATH"]
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):  # a stage's make is one of its own
        os.environ.pop(name, None)
    report = paper.new(
        tier, os.environ.get("STRICT") == "1", output_of("git", "rev-parse", "HEAD"), tools(chosen)
    )
    with alone(directory) as is_alone:
        if is_alone:
            return gate(chosen, report, directory, out)
    print(
        f"verify: another run writes {directory} now; wait for it, or use another clone",
        file=sys.stderr,
    )
    return 2


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    sys.exit(main(sys.argv[1:]))
