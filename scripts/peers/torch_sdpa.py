#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's scaled_dot_product_attention on the CPU, as a peer of `chunkproof bench`
(spec/bench.md): it answers lines on standard input and ends with them.

- sdpa: a batch, each sequence with keys and values of its own, as an engine without shared prefixes
  has them. Where all sequences are the same, also as a view of one copy; the faster one counts.
- sdpa folded: where all sequences are the same, all queries as rows of one:
  sharing by hand, which needs no tree.

Each in the fastest of binary16, bfloat16 and binary32, found on a few of the sequences. A result
that is farther from attention in binary64 than the type explains is not timed.
"""
import os
import sys
import time
from types import ModuleType
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Tensor: TypeAlias = Any  # of PyTorch, whose types are not known where it is missing
Run: TypeAlias = Callable[[], Tensor]
Sizes: TypeAlias = tuple[int, int, int, int, int]  # b, n, h, h_kv, d
Series: TypeAlias = tuple[str, str, Run | None]

# Threads that wait must not take the processors from what is measured beside them; and large pages,
# as the others have.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("KMP_BLOCKTIME", "0")
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

FEW = 4  # sequences that the types are tried on
BLOCK = 1 << 16  # random numbers, again and again


class Wrong(Exception):
    """A result is not attention."""


class Load:
    """The numbers of a load in one type: queries [b][h][1][d], keys and values [b][h_kv][n][d]."""

    def __init__(self, torch: ModuleType, sizes: Sizes, name: str, copies: int) -> None:
        b, n, h, h_kv, d = sizes
        self.torch, self.dtype, self.grouped = torch, getattr(torch, name), h != h_kv
        block = torch.randn(BLOCK, generator=torch.Generator().manual_seed(1)).to(self.dtype)
        self.q = self.fill(block, b * h * d, 0).view(b, h, 1, d)
        self.k = self.fill(block, copies * h_kv * n * d, 1).view(copies, h_kv, n, d)
        self.v = self.fill(block, copies * h_kv * n * d, 2).view(copies, h_kv, n, d)

    def fill(self, block: Tensor, n: int, shift: int) -> Tensor:
        block = block.roll(977 * shift)  # not the queries once more
        result = self.torch.empty(-(-n // BLOCK), BLOCK, dtype=self.dtype)
        result.copy_(block.expand_as(result))
        return result.view(-1)[:n]

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        more = {"enable_gqa": True} if self.grouped else {}
        return self.torch.nn.functional.scaled_dot_product_attention(q, k, v, **more)

    def batched(self) -> Tensor:
        b = len(self.q)
        return self.attend(self.q, self.k.expand(b, -1, -1, -1), self.v.expand(b, -1, -1, -1))

    def folded(self) -> Tensor:
        """Rows of a K/V head: its query heads, of all sequences. Moving queries
        and results is part of it."""
        b, h, _, d = self.q.shape
        h_kv = self.k.shape[1]
        rows = self.q.view(b, h_kv, h // h_kv, d).permute(1, 0, 2, 3).reshape(1, h_kv, -1, d)
        out = self.torch.nn.functional.scaled_dot_product_attention(rows, self.k, self.v)
        return out.view(h_kv, b, h // h_kv, d).permute(1, 0, 2, 3).reshape(b, h, 1, d)

    def check(self, result: Tensor) -> None:
        """Of the last sequence, two heads. P, its sum and the result are rounded:
        half an epsilon each."""
        b, h = self.q.shape[:2]
        s = -1
        for head in (0, h - 1):
            k, v = (x[s % len(x), head * x.shape[1] // h].double() for x in (self.k, self.v))
            scores = k @ self.q[s, head, 0].double() / k.shape[1] ** 0.5
            error = (scores.softmax(0) @ v - result[s, head, 0].double()).abs().max().item()
            bound = 2 * self.torch.finfo(self.dtype).eps * v.abs().max().item()
            if not error <= bound:
                raise Wrong(f"a result is off by {error:.3g}, and may be by {bound:.3g}")


def timed(run: Run) -> tuple[float, float, Tensor]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = run()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def fastest(torch: ModuleType, sizes: Sizes, copies: int, how: str) -> str:
    """The type that is fastest on a few of the sequences."""
    few = (min(FEW, sizes[0]), *sizes[1:])
    best = []
    for name in ("float16", "bfloat16", "float32"):
        load = Load(torch, few, name, min(copies, few[0]))
        run = getattr(load, how)
        run()
        best.append((min(timed(run)[0] for _ in range(3)), name))
    return min(best)[1]


def series_of(torch: ModuleType, sizes: Sizes, n_s: int, memory: float) -> list[Series]:
    """(name, how, run) of each way; a reason in place of run where there is none."""
    b, n, h, h_kv, d = sizes
    same = n_s == n
    ways = [("sdpa", "batched", "contiguous", b)]
    if same:
        ways += [("sdpa", "batched", "expanded", 1), ("sdpa folded", "folded", "one copy", 1)]
    found: dict[str, tuple[float, str, Run | None]] = {}
    for name, how, words, copies in ways:
        dtype = fastest(torch, sizes, copies, how)
        needed = 2 * copies * n * h_kv * d * torch.finfo(getattr(torch, dtype)).bits / 8
        if needed > memory:
            found.setdefault(name, (float("inf"), f"it takes {needed / 2**30:.2f} GiB", None))
            continue
        load = Load(torch, sizes, dtype, copies)
        run = getattr(load, how)
        load.check(run())
        seconds = min(timed(run)[0] for _ in range(2))
        if seconds < found.get(name, (float("inf"),))[0]:
            found[name] = (seconds, f"PyTorch {torch.__version__}, {dtype}, {words}", run)
    return [(name, how, run) for name, (_, how, run) in found.items()]


def answer_cell(torch: ModuleType, words: Sequence[str]) -> list[Run]:
    _, b, n, n_s, h, h_kv, d, threads, memory = words
    sizes = int(b), int(n), int(h), int(h_kv), int(d)
    torch.set_num_threads(int(threads))
    runs: list[Run] = []
    try:
        series = series_of(torch, sizes, int(n_s), float(memory))
    except (RuntimeError, TypeError,
            Wrong) as error:  # no memory, or a version without grouped heads
        series = [("sdpa", " ".join(str(error).split())[:200], None)]
    for name, how, run in series:
        print(f"{'series' if run else 'skip'} {name}: {how}")
        runs += [run] if run else []
    print("ready", flush=True)
    return runs


def main() -> int:
    if len(sys.argv) > 1:
        print(__doc__.strip())
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    try:
        import torch
        torch.inference_mode().__enter__()
    except ImportError as error:
        torch, missing = None, f"PyTorch is not there ({error}); TORCH=1 installs it"
    runs: list[Run] = []
    for line in sys.stdin:
        kind, *words = line.split()
        if kind == "cell" and torch is None:
            print(f"skip sdpa: {missing}\nready", flush=True)
        elif kind == "cell":
            runs.clear()  # frees what the load before had
            runs = answer_cell(torch, words)
        else:
            wall, cpu, _ = timed(runs[int(words[0])])
            print(f"time {wall:.9f} {cpu:.9f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
