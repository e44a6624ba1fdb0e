#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The correctness gate: runs the stages of scripts/stages.py, ends with a table and writes
build/verify/report.json (scripts/report-schema.json), junit.xml and logs/STAGE.log; with KERNEL=FILE
the gate adds gate.json, gate.xml and gate.html (scripts/gate).

    scripts/verify.py               all stages
    scripts/verify.py lint install  only these
    scripts/verify.py -install      all but these
    scripts/verify.py --list        their names and what they need

TIER=quick|default|deep says how much each stage does. STRICT=1 makes a skipped stage a failure.
Exit status: 0 nothing failed, 1 a stage failed, 2 bad use, 130 interrupted (what ran is reported).
"""
import os
import shutil
import signal
import subprocess
import sys
import time

import report as paper
import stages as project

SKIPPED = 77  # exit status of a stage that found nothing wrong but lacked a tool


class Interrupted(Exception):
    def __init__(self, signum):
        super().__init__(signal.Signals(signum).name)
        self.signum = signum


def lacking(stage):
    """The first thing that the stage needs and that is not there, or None."""
    for need in stage.needs:
        if isinstance(need, str):
            if shutil.which(need) is None:
                return need
        elif subprocess.run(["sh", "-c", need[1]], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL).returncode != 0:
            return need[0]
    return None


def last_lines(path, count):
    with open(path, encoding="utf-8", errors="replace") as log:
        return [line.rstrip() for line in log if line.strip()][-count:]


def wait(child, limit, show):
    """Waits for the child and shows the time; its exit status, or None when it ran past the limit."""
    started = time.monotonic()
    while True:
        try:
            return child.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            elapsed = time.monotonic() - started
            show(elapsed)
            if elapsed > limit:
                return None


def end(child):
    """Ends the child and everything that it started."""
    for signum in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, signum)
            child.wait(timeout=5)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def run_stage(stage, entry, log_path, show):
    """Fills in the entry: status, reason, seconds, summary, figures."""
    started = time.monotonic()
    missing = lacking(stage)
    if missing:
        entry.update(status="skip", reason=f"{missing} is missing")
        return
    command = stage.quick if stage.quick and os.environ["TIER"] == "quick" else stage.command
    with open(log_path, "w", encoding="utf-8") as log:
        child = subprocess.Popen(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=log,
                                 stderr=subprocess.STDOUT, start_new_session=True,
                                 env={**os.environ, **stage.environment})
        try:
            status = wait(child, stage.limit, show)
        finally:
            if child.poll() is None:
                end(child)
            entry["seconds"] = round(time.monotonic() - started, 2)
    lines = last_lines(log_path, 1)
    summary = lines[0] if lines else ""
    if status is None:
        entry.update(status="fail", reason=f"still running after {stage.limit} s")
    elif status == SKIPPED:
        entry.update(status="skip", reason=summary or "a tool is missing")
    else:
        entry.update(summary=summary[:100], figures=paper.figures_of(summary))
        entry.update(status="pass" if status == 0 else "fail",
                     reason="" if status == 0 else f"exit status {status}")


def run_all(stages, report, logs, out):
    """Runs the stages and appends an entry to the report for each one as it begins."""
    live = out.isatty()
    for place, stage in enumerate(stages, 1):
        entry = {"name": stage.name, "status": "fail", "reason": "interrupted", "seconds": 0.0,
                 "summary": "", "figures": []}
        report["stages"].append(entry)
        head = f"[{place:2}/{len(stages)}] {stage.name:16}"
        print(head, end="", flush=True, file=out)

        def show(elapsed, head=head):
            if live:
                print(f"\r{head} {elapsed:5.0f} s", end="", flush=True, file=out)

        log_path = os.path.join(logs, stage.name + ".log")
        run_stage(stage, entry, log_path, show)
        if entry["status"] == "skip" and report["strict"]:
            entry.update(status="fail", reason=f"STRICT=1: {entry['reason']}")
        print(f"{chr(13) + head if live else ''} {entry['status']} {entry['seconds']:7.1f} s  "
              f"{paper.said(entry)}", flush=True, file=out)
        if entry["status"] == "fail" and os.path.exists(log_path):
            print("".join(f"    | {line}\n" for line in last_lines(log_path, 15))
                  + f"    {log_path}", flush=True, file=out)


def output_of(*argv):
    """The first line that a command prints, "" when there is none."""
    try:
        run = subprocess.run(argv, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return next(iter((run.stdout + run.stderr).strip().splitlines()), "") if not run.returncode else ""


def tools(stages):
    names = sorted({need for stage in stages for need in stage.needs if isinstance(need, str)})
    return {name: output_of(name, "--version") for name in names if shutil.which(name)}


def choose(stages, arguments, tier):
    known = [stage.name for stage in stages]
    left_out = [name[1:] for name in arguments if name.startswith("-")]
    names = [name for name in arguments if not name.startswith("-")]
    unknown = [name for name in names + left_out if name not in known]
    if unknown:
        print(f"verify: no such stage: {', '.join(unknown)}; there are: {', '.join(known)}",
              file=sys.stderr)
        return None
    chosen = [stage for stage in stages if stage.name not in left_out
              and (stage.name in names or (not names and tier in stage.tiers))]
    if not chosen:
        print(f"verify: no stage is left of {' '.join(arguments) or 'TIER=' + tier}", file=sys.stderr)
        return None
    return chosen


def written(directory):
    """The reports that are there: those of the run, and what the gate said of a kernel."""
    names = ("report.json", "junit.xml", "gate.json", "gate.xml", "gate.html")
    return ", ".join(name for name in names if os.path.exists(os.path.join(directory, name)))


def gate(stages, report, directory, out):
    """Runs the stages, writes and prints the report, also when a signal ends the run early."""
    logs = os.path.join(directory, "logs")
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(logs)

    def interrupt(signum, _):
        raise Interrupted(signum)

    handlers = {signum: signal.signal(signum, interrupt)
                for signum in (signal.SIGINT, signal.SIGTERM)}
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
    print(f"{paper.totals(report)}; {directory}/{written(directory)}", file=out)
    if signum is not None:
        return 128 + signum
    return 1 if report["failed"] else 0


def main(arguments, stages=project.STAGES, directory="build/verify", out=sys.stdout):
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
    report = paper.new(tier, os.environ.get("STRICT") == "1", output_of("git", "rev-parse", "HEAD"),
                       tools(chosen))
    return gate(chosen, report, directory, out)


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    sys.exit(main(sys.argv[1:]))
