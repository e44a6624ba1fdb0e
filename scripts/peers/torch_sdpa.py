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
import sys
from types import ModuleType
from collections.abc import Callable

import peer  # before PyTorch: how its threads wait
from peer import Cell, Missing, Run, Series, Tensor, timed


class Load:
    """The numbers of a load in one type: queries [b][h][1][d], keys and values [b][h_kv][n][d]."""

    def __init__(self, torch: ModuleType, cell: Cell, name: str, copies: int) -> None:
        _, b, n, _, h, h_kv, d, _, _ = cell
        self.torch, self.dtype, self.grouped = torch, getattr(torch, name), h != h_kv
        self.q = peer.numbers(torch, self.dtype, b * h * d, 0).view(b, h, 1, d)
        self.k, self.v = (peer.numbers(torch, self.dtype, copies * h_kv * n * d, shift)
                          .view(copies, h_kv, n, d) for shift in (1, 2))

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
        b, h = self.q.shape[:2]
        for s, head in peer.few_pairs(b, h):
            k, v = (x[s % len(x), head * x.shape[1] // h] for x in (self.k, self.v))
            peer.hold(self.q[s, head, 0].tolist(), k.tolist(), v.tolist(),
                      result[s, head, 0].tolist(), self.torch.finfo(self.dtype).eps)


def fastest(torch: ModuleType, cell: Cell, copies: int, how: str) -> str:
    """The type that is fastest on a few of the sequences."""
    few = cell._replace(b=min(peer.FEW, cell.b))
    best = []
    for name in ("float16", "bfloat16", "float32"):
        run = getattr(Load(torch, few, name, min(copies, few.b)), how)
        run()
        best.append((min(timed(run)[0] for _ in range(3)), name))
    return min(best)[1]


def series_of(torch: ModuleType, cell: Cell) -> list[Series]:
    """(name, how, run) of each way; a reason in place of run where there is none."""
    torch.set_num_threads(cell.threads)
    ways = [("sdpa", "batched", "contiguous", cell.b)]
    if cell.n_s == cell.n:
        ways += [("sdpa", "batched", "expanded", 1), ("sdpa folded", "folded", "one copy", 1)]
    found: dict[str, tuple[float, str, Run | None]] = {}
    for name, how, words, copies in ways:
        dtype = fastest(torch, cell, copies, how)
        numbers = 2 * copies * cell.n * cell.h_kv * cell.d
        needed = numbers * torch.finfo(getattr(torch, dtype)).bits / 8
        if needed > cell.memory:
            found.setdefault(name, (float("inf"), f"it takes {needed / 2**30:.2f} GiB", None))
            continue
        load = Load(torch, cell, dtype, copies)
        run = getattr(load, how)
        load.check(run())
        seconds = min(timed(run)[0] for _ in range(2))
        if seconds < found.get(name, (float("inf"),))[0]:
            found[name] = (seconds, f"PyTorch {torch.__version__}, {dtype}, {words}", run)
    return [(name, how, run) for name, (_, how, run) in found.items()]


def prepare() -> Callable[[Cell], list[Series]]:
    try:
        import torch
    except ImportError as error:
        raise Missing(f"PyTorch is not there ({error}); TORCH=1 installs it") from error
    torch.inference_mode().__enter__()
    return lambda cell: series_of(torch, cell)


if __name__ == "__main__":
    sys.exit(peer.main(__doc__, "sdpa", prepare))
