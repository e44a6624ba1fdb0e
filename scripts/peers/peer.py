# SPDX-License-Identifier: Apache-2.0
"""What the peers of `chunkproof bench` that use PyTorch have in common (spec/bench.md): questions
and answers, random numbers, the processor time of a run, and attention in binary64, to which a
result is held before it is timed."""
import math
import operator
import os
import sys
import time
from types import ModuleType
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

Tensor: TypeAlias = Any  # of PyTorch, whose types are not known where it is missing
Run: TypeAlias = Callable[[], Tensor]
Series: TypeAlias = tuple[str, str, Run | None]  # name, how; without a run: name, why
Vector: TypeAlias = Sequence[float]

# Threads that wait must not take the processors from what is measured beside them; and large pages,
# as the others have. Before PyTorch is imported, which reads them.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("KMP_BLOCKTIME", "0")
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

FEW = 4  # sequences that are checked, or that ways are tried on
BLOCK = 65521  # random numbers, again and again; a prime, so that neither heads nor pages are alike
BINARY32 = 2.0 ** -24  # its unit roundoff
EXPONENTIAL = 2.0 ** -18  # relative error of one in binary32, which may be a short polynomial


class Missing(Exception):
    """The peer cannot run here at all; the words say what would mend it."""


class Wrong(Exception):
    """A result is not attention."""


class Cell(NamedTuple):
    """A load: the question of spec/bench.md."""
    part: str
    b: int
    n: int
    n_s: int
    h: int
    h_kv: int
    d: int
    threads: int
    memory: float  # bytes that K and V may take


SeriesOf: TypeAlias = Callable[[Cell], Iterable[Series]]


def cell_of(words: Sequence[str]) -> Cell:
    part, b, n, n_s, h, h_kv, d, threads, memory = words
    return Cell(part, int(b), int(n), int(n_s), int(h), int(h_kv), int(d), int(threads),
                float(memory))


# ---- Numbers ----

def numbers(torch: ModuleType, dtype: Any, n: int, shift: int) -> Tensor:
    """n of them, normally distributed; another shift gives others."""
    block = torch.randn(BLOCK, generator=torch.Generator().manual_seed(1)).to(dtype)
    block = block.roll(977 * shift)
    result = torch.empty(-(-n // BLOCK), BLOCK, dtype=dtype)
    result.copy_(block.expand_as(result))
    return result.view(-1)[:n]


# ---- Right before it is timed ----

def dot(a: Vector, b: Vector) -> float:
    return math.fsum(map(operator.mul, a, b))


def hold(q: Vector, k: Sequence[Vector], v: Sequence[Vector], got: Vector, epsilon: float) -> None:
    """Raises Wrong if `got` is not attention of q, in a type with this epsilon.

    Each weight, their sum and the result may be rounded to the type: half an epsilon each. Scores
    are sums of d products in binary32, and sums over the keys are too."""
    scale = 1.0 / math.sqrt(len(q))
    scores = [scale * dot(q, key) for key in k]
    most = max(scores)
    weights = [math.exp(score - most) for score in scores]
    total = math.fsum(weights)
    weights = [weight / total for weight in weights]
    magnitude = [abs(x) for x in q]
    of_score = (len(q) + 2) * BINARY32 * scale * max(dot(magnitude, list(map(abs, key)))
                                                     for key in k)
    relative = (1.5 * epsilon
                + 2.0 * (of_score + EXPONENTIAL + (len(k) + 2) * BINARY32)) * (1.0 + 2.0 * epsilon)
    for i, (x, values) in enumerate(zip(got, zip(*v), strict=True)):
        expected, bound = dot(weights, values), relative * dot(weights, list(map(abs, values)))
        if not abs(x - expected) <= bound:
            raise Wrong(f"a result is off by {abs(x - expected):.3g} at {i}, and may be by "
                        f"{bound:.3g}")


def few_pairs(b: int, h: int) -> list[tuple[int, int]]:
    """A few sequences, each with a head: from the first of both to the last."""
    return sorted({(i * (b - 1) // (FEW - 1), i * (h - 1) // (FEW - 1)) for i in range(FEW)})


# ---- Time ----

def timed(run: Run) -> tuple[float, float]:
    """Wall time, and that of all processors."""
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - cpu


# ---- Questions and answers ----

def words_of(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def answer_cell(name: str, series_of: SeriesOf, words: Sequence[str]) -> list[Run]:
    """Prints the series of a load; returns the runs of those that can be timed."""
    try:
        found = list(series_of(cell_of(words)))
    except (RuntimeError, TypeError, Wrong) as error:  # no memory, say, or an old version
        found = [(name, words_of(error), None)]
    for title, how, run in found:
        print(f"{'series' if run else 'skip'} {title}: {how}")
    print("ready", flush=True)
    return [run for _, _, run in found if run]


def serve(name: str, series_of: SeriesOf, missing: str) -> None:
    """Answers the lines of standard input, until there are no more. `missing`: why there is no
    series at all, or nothing."""
    runs: list[Run] = []
    for line in sys.stdin:
        kind, *words = line.split()
        if kind == "cell" and missing:
            print(f"skip {name}: {missing}\nready", flush=True)
        elif kind == "cell":
            runs.clear()  # frees what the load before had
            runs = answer_cell(name, series_of, words)
        else:
            wall, cpu = timed(runs[int(words[0])])
            print(f"time {wall:.9f} {cpu:.9f}", flush=True)


def main(explained: str | None, name: str, prepare: Callable[[], SeriesOf]) -> int:
    """A peer's program: help, or answers. `prepare` raises Missing where nothing can run."""
    if len(sys.argv) > 1:
        print((explained or "").strip())
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    try:
        serve(name, prepare(), "")
    except Missing as error:
        serve(name, lambda cell: (), words_of(error))
    return 0
