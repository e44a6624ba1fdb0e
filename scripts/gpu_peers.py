#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures other implementations on the loads of a bench.csv. Prints lines of the same CSV.

usage: scripts/gpu_peers.py BENCH_CSV

- sdpa: PyTorch's scaled_dot_product_attention; each sequence has a copy of its keys.
- flex: FlexAttention, compiled; one sequence over all distinct keys, with a block mask for what
  each query sees.
- flashinfer paged: BatchDecodeWithPagedKVCacheWrapper; shared pages are stored once.
- flashinfer cascade: MultiLevelCascadeAttentionWrapper, two levels.

flex and the cascade run only loads with one shared prefix. A peer that is missing or fails is
reported on standard error and left out. Timing is that of tests/gpu/bench.cu: events, with the
second-level cache overwritten; the median. A call is captured as a graph first, so that Python is
not timed. exit status: 0; 2 bad use
"""
import csv
import functools
import sys
from types import ModuleType
from collections.abc import Callable, Collection
from typing import Any, TypeAlias

Tensor: TypeAlias = Any  # of PyTorch, whose types are not known where it is missing
Call: TypeAlias = Callable[[], object]

HEAD_DIM, PAGE = 128, 64
COLUMNS = ("load", "b", "n_p", "n_s", "h", "h_kv", "kernel", "chunks_per_task", "median_us",
           "p10_us", "p90_us",
           "bytes", "operations", "limit_us")


def loads_of(path: str) -> Collection[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {tuple(row[column] for column in COLUMNS[:6]): row for row in rows}.values()


def captured(torch: ModuleType, run: Call) -> Call:
    """The same work without Python, which takes longer than some kernels."""
    for _ in range(3):
        run()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    replay: Call = graph.replay
    return replay


def times(torch: ModuleType, cache: Tensor, run: Call) -> tuple[float, float, float]:
    """Median, 10th and 90th percentile in microseconds."""
    def once() -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        cache.fill_(1)
        start.record()
        run()
        end.record()
        end.synchronize()
        return 1e3 * float(start.elapsed_time(end))
    for _ in range(3):
        once()
    all_times: list[float] = []
    while len(all_times) < 5 or (len(all_times) < 50 and sum(all_times) < 1e5):
        all_times.append(once())
    all_times.sort()
    n = len(all_times)
    return all_times[n // 2], all_times[n // 10], all_times[n - 1 - n // 10]


def random(torch: ModuleType, *shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float16, device="cuda")


def sdpa(torch: ModuleType, b: int, n: int, _: int, h: int, h_kv: int) -> Call:
    q, k, v = random(torch, b, h, 1, HEAD_DIM), random(torch, b, h_kv, n, HEAD_DIM), random(torch,
            b, h_kv, n, HEAD_DIM)
    return lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=h != h_kv)


def compiled_flex(torch: ModuleType) -> Callable[..., Tensor]:
    """Compiled for one load: PyTorch gives up compiling when one function has met many shapes."""
    from torch.nn.attention.flex_attention import flex_attention
    torch.compiler.reset()
    compiled: Callable[..., Tensor] = torch.compile(flex_attention, dynamic=False)
    return compiled


def flex(torch: ModuleType, b: int, n: int, n_s: int, h: int, h_kv: int) -> Call:
    from torch.nn.attention.flex_attention import create_block_mask
    own = n - n_s
    distinct = n_s + b * own

    def sees(_: Tensor, __: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (key < n_s) | ((key - n_s) // max(own, 1) == query)

    mask = create_block_mask(sees, None, None, b, distinct, device="cuda")
    q = random(torch, 1, h, b, HEAD_DIM)
    k, v = random(torch, 1, h_kv, distinct, HEAD_DIM), random(torch, 1, h_kv, distinct, HEAD_DIM)
    run = compiled_flex(torch)
    return lambda: run(q, k, v, block_mask=mask, enable_gqa=h != h_kv)


def pages_of(b: int, n: int, n_s: int) -> tuple[int, int, list[list[int]]]:
    """Pages of each sequence: those of the prefix are the same for all."""
    shared, own = n_s // PAGE, -(-n // PAGE) - n_s // PAGE
    return shared, own, [list(range(shared)) + [shared + s * own + i for i in range(own)]
                         for s in range(b)]


def paged(torch: ModuleType, b: int, n: int, n_s: int, h: int, h_kv: int) -> Call:
    import flashinfer
    shared, own, pages = pages_of(b, n, n_s)
    cache = random(torch, shared + b * own, 2, PAGE, h_kv, HEAD_DIM)
    tensor = functools.partial(torch.tensor, dtype=torch.int32, device="cuda")
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(
        torch.empty(256 << 20, dtype=torch.uint8, device="cuda"), "NHD", use_tensor_cores=h != h_kv)
    wrapper.plan(tensor([i * (shared + own) for i in range(b + 1)]), tensor(sum(pages, [])),
                 tensor([(n - 1) % PAGE + 1] * b), h, h_kv, HEAD_DIM, PAGE,
                 q_data_type=torch.float16)
    q = random(torch, b, h, HEAD_DIM)
    return lambda: wrapper.run(q, cache)


def cascade(torch: ModuleType, b: int, n: int, n_s: int, h: int, h_kv: int) -> Call:
    import flashinfer
    shared, own, pages = pages_of(b, n, n_s)
    if shared == 0 or own == 0:
        raise ValueError("a cascade of two levels needs keys in both")
    cache = random(torch, shared + b * own, 2, PAGE, h_kv, HEAD_DIM)
    tensor = functools.partial(torch.tensor, dtype=torch.int32, device="cuda")
    wrapper = flashinfer.MultiLevelCascadeAttentionWrapper(
        2, torch.empty(256 << 20, dtype=torch.uint8, device="cuda"), "NHD")
    wrapper.plan([tensor([0, b]), tensor(range(b + 1))],
                 [tensor([0, shared]), tensor([i * own for i in range(b + 1)])],
                 [tensor(range(shared)),
                  tensor([page for path in pages for page in path[shared:]])],
                 [tensor([PAGE]), tensor([(n - 1) % PAGE + 1] * b)],
                 h, h_kv, HEAD_DIM, PAGE, q_data_type=torch.float16)
    q = random(torch, b, h, HEAD_DIM)
    return lambda: wrapper.run(q, cache)


PEERS = (("sdpa", sdpa, False), ("flex", flex, True), ("flashinfer paged", paged, False),
         ("flashinfer cascade", cascade, True))


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if len(sys.argv) == 2 else 2
    try:
        import torch
        cache = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    except Exception as error:  # no PyTorch, or no GPU for it
        print(f"peers left out: {error}", file=sys.stderr)
        return 0
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    for row in loads_of(sys.argv[1]):
        b, n, n_s, h, h_kv = (int(row[column]) for column in COLUMNS[1:6])
        for name, peer, one_prefix in PEERS:
            if one_prefix and row["load"].endswith("levels"):
                continue
            try:
                run = captured(torch, peer(torch, b, n, n_s, h, h_kv))
                median, low, high = times(torch, cache, run)
            except Exception as error:  # whatever a peer does not like
                print(f"{name} left out of {row['load']} ({n}, {n_s}): {error}".splitlines()[0],
                      file=sys.stderr)
                continue
            out.writerow({**row, "kernel": name, "chunks_per_task": "",
                          "median_us": f"{median:.2f}",
                          "p10_us": f"{low:.2f}", "p90_us": f"{high:.2f}"})
            sys.stdout.flush()
            torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
