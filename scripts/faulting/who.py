# SPDX-License-Identifier: Apache-2.0
"""Who has to notice faults: what each by_*.py module provides, and what comes of a fault."""

import dataclasses
import enum
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import types
from collections.abc import Iterable, Sequence

from . import programs
from .catalogue import ROOT, Fault

GCC = ROOT / "build" / "gcc"


class Broken(Exception):
    """Something does not build, or gives no verdict."""


class Missing(Exception):
    """A tool is missing."""


class Verdict(enum.Enum):
    """What came of a fault. Only the first two are well."""

    NOTICED = "noticed"
    SKIPPED = "skipped"
    NOT_NOTICED = "NOT NOTICED"
    ELSEWHERE = "ELSEWHERE"
    NO_TEST = "no test"
    ERROR = "ERROR"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """how: what noticed it, or why nothing did, in the first line; more: for --show."""

    verdict: Verdict
    how: str
    more: str = ""

    @property
    def is_well(self) -> bool:
        return self.verdict in (Verdict.NOTICED, Verdict.SKIPPED)


@dataclasses.dataclass(frozen=True)
class Options:
    """Of scripts/faults."""

    named: bool = False  # faults were named, or their source: all count, whatever the tier
    matrix: bool = False  # gate: all cases, not those until the first that kills
    build: pathlib.Path | None = None  # programs that are built already

    @property
    def deep(self) -> bool:
        return os.environ.get("TIER") == "deep"


class Who:
    """One who has to notice faults. A subclass has a name of catalogue.WHO."""

    name = ""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.jobs = jobs(os.cpu_count() or 1)

    def chosen(self, faults: Sequence[Fault]) -> list[Fault]:
        """Those that it must notice in this tier."""
        return list(faults)

    def prepare(self, faults: Sequence[Fault]) -> None:
        """Builds what all of them need. Raises Broken or Missing."""

    def parts(self, faults: Sequence[Fault]) -> list[str]:
        """What must pass as it is, each before any fault is tried."""
        return []

    def failing(self, part: str) -> str | None:
        """What is wrong with a part as it is."""
        raise NotImplementedError

    def check(self, fault: Fault) -> Outcome:
        """Raises Misfit or Broken."""
        raise NotImplementedError

    def line(self, fault: Fault, outcome: Outcome) -> str:
        first = outcome.how.splitlines()[0] if outcome.how else ""
        return f"{fault.name:32} {fault.clause:10} {outcome.verdict.value:12} {first}"

    def header(self) -> list[str]:
        return []

    def finish(self, complete: bool) -> list[str]:
        """What is said at the end; complete: all faults of the tier were tried."""
        return []

    def end(self) -> None:
        """Ends what still runs."""
        programs.end_all()


def jobs(most: int) -> int:
    return int(os.environ.get("JOBS", "0")) or most


def make(targets: Iterable[object], what: str) -> None:
    """Builds with gcc in build/gcc."""
    names = [str(target) for target in targets]
    run = subprocess.run(
        [
            "make",
            "-s",
            "-C",
            str(ROOT),
            "-j2",
            "DEPS=skip",
            "CC=gcc",
            f"BUILD={GCC.relative_to(ROOT)}",
            *names,
        ],
        check=False,
    )
    if run.returncode != 0:
        raise Broken(f"{what} do not build")


def runner_of(tool: str) -> types.ModuleType:
    """proofs/TOOL/run, as a module: the faults go through the same commands as the proofs."""
    path = ROOT / "proofs" / tool / "run"
    loader = importlib.machinery.SourceFileLoader(f"{tool}_run", str(path))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
