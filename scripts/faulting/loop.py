# SPDX-License-Identifier: Apache-2.0
"""The loop over faults: what each who builds first, what must pass as it is, each fault, and what
comes of all.
"""

import concurrent.futures
import dataclasses
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from . import (
    by_cbmc,
    by_coq,
    by_eacsl,
    by_explain,
    by_extract,
    by_fuzz,
    by_gate,
    by_kernel,
    by_merge,
    by_mpi,
    by_python,
    by_test,
    by_wp,
)
from .catalogue import Fault, Misfit
from .who import Broken, Missing, Options, Outcome, Verdict, Who

CLASSES: dict[str, type[Who]] = {
    of.name: of
    for of in (
        by_test.ByTest,
        by_python.ByPython,
        by_kernel.ByKernel,
        by_gate.ByGate,
        by_explain.ByExplain,
        by_merge.ByMerge,
        by_wp.ByWp,
        by_cbmc.ByCbmc,
        by_coq.ByCoq,
        by_extract.ByExtract,
        by_eacsl.ByEacsl,
        by_fuzz.ByFuzz,
        by_mpi.ByMpi,
    )
}

SLOWEST = 5  # faults that a run of more of them names


@dataclasses.dataclass(frozen=True)
class Paper:
    """What is printed: lines of TAP, all that was said of each fault, who is asked."""

    tap: bool = False
    show: bool = False
    titles: bool = False

    def print(self, *lines: str) -> None:
        for line in lines:
            print(
                ("# " if self.tap and not line.startswith(("ok ", "not ok ")) else "") + line,
                flush=True,
            )

    def fault(self, who: Who, fault: Fault, outcome: Outcome) -> None:
        if self.tap:
            first = outcome.how.splitlines()[0] if outcome.how else ""
            self.print(f"{'ok' if outcome.is_well else 'not ok'} - {fault.name}: {first}")
        else:
            self.print(who.line(fault, outcome))
        if self.show or (not outcome.is_well and outcome.more):
            self.print(*("    " + line for line in outcome.more.splitlines()))


def run(
    name: str, faults: Sequence[Fault], options: Options, paper: Paper, everything: bool
) -> int:
    """Tries the faults; an exit status. everything: these are all that the who has."""
    who = CLASSES[name](options)
    faults = who.chosen(faults)
    if paper.titles:
        paper.print(f"== by {name}: {len(faults)} faults")
    pool, outcomes, status = concurrent.futures.ThreadPoolExecutor(who.jobs), [], 0
    unsound: list[str] = []
    took: dict[str, float] = {}
    try:
        print(
            f"scripts/faults: building for {name}; the first time takes minutes",
            file=sys.stderr,
            flush=True,
        )
        who.prepare(faults)
        unsound, once = failing(who, faults, pool)
        paper.print(*who.header(), *unsound, *once)
        status = 1 if unsound else 0
        for fault, (outcome, seconds) in zip(faults, pool.map(timed(who), faults)):
            outcomes.append(outcome)
            took[fault.name] = seconds
            paper.fault(who, fault, outcome)
    except KeyboardInterrupt:
        for number in (signal.SIGINT, signal.SIGTERM):  # once is enough
            signal.signal(number, signal.SIG_IGN)
        paper.print("", "interrupted")
        status = 130
    except Missing as missing:
        paper.print(str(missing))
        return 77
    except (Misfit, Broken) as why:
        print(f"scripts/faults: {why}", file=sys.stderr)
        status = 2
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        who.end()
        pool.shutdown()
    paper.print(*who.finish(everything))
    if len(took) > SLOWEST:
        paper.print(slowest(took))
    paper.print(*unsound, counted(outcomes) + (f", unsound {len(unsound)}" if unsound else ""))
    return status or (0 if outcomes and all(outcome.is_well for outcome in outcomes) else 1)


def failing(
    who: Who, faults: Sequence[Fault], pool: concurrent.futures.ThreadPoolExecutor
) -> tuple[list[str], list[str]]:
    """What fails as it is: each time, and only beside others. What fails is tried again alone, so
    that a busy machine makes nothing unsound."""
    parts = who.parts(faults)
    first = {part: said for part, said in zip(parts, pool.map(who.failing, parts)) if said}
    again = {part: who.failing(part) for part in first}
    return (
        [said for said in again.values() if said],
        [f"beside others {said}" for part, said in first.items() if not again[part]],
    )


def timed(who: Who) -> Callable[[Fault], tuple[Outcome, float]]:
    """Checks a fault, and says how many seconds of the clock that took."""

    def check(fault: Fault) -> tuple[Outcome, float]:
        began = time.monotonic()
        return who.check(fault), time.monotonic() - began

    return check


def slowest(took: Mapping[str, float]) -> str:
    names = sorted(took, key=lambda name: -took[name])[:SLOWEST]
    return "slowest: " + ", ".join(f"{name} {took[name]:.0f} s" for name in names)


def counted(outcomes: Sequence[Outcome]) -> str:
    skipped = sum(outcome.verdict is Verdict.SKIPPED for outcome in outcomes)
    noticed = sum(outcome.verdict is Verdict.NOTICED for outcome in outcomes)
    return f"faults {noticed}/{len(outcomes) - skipped}" + (
        f", {skipped} skipped" if skipped else ""
    )
