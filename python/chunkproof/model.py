# SPDX-License-Identifier: Apache-2.0
"""A model as the weights file has it: its shape, its tokenizer, the names of its tensors."""
from dataclasses import dataclass

NONE = 0xFFFFFFFF  # no such token

# Numbers of the header (FILE-3); the first three are those of decoder.h.
NORM_RMS = 0
NETWORK_SWIGLU = 0
POSITIONS_ROTARY = 0
SPLIT_GPT2 = 1
SPLIT_DIGITS = 2


@dataclass(frozen=True)
class Shape:
    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    vocabulary: int
    context: int
    pair_distance: int
    rotary_dim: int
    tied: bool
    base: float
    epsilon: float


@dataclass(frozen=True)
class Tokenizer:
    tokens: list[bytes]
    special: list[bool]
    merges: list[tuple[int, int, int]]  # left, right, what they become; the first has rank 0
    split: int
    add_begin: bool
    begin: int
    end: int
    unknown: int


def tensors_of(shape: Shape) -> list[tuple[str, tuple[int, ...]]]:
    """Name and shape of each tensor, in the order of the file (FILE-6)."""
    q, kv = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
    layer = [("attention_norm", (shape.width,)), ("query", (q, shape.width)),
             ("key", (kv, shape.width)), ("value", (kv, shape.width)), ("mix", (shape.width, q)),
             ("network_norm", (shape.width,)), ("gate", (shape.hidden, shape.width)),
             ("up", (shape.hidden, shape.width)), ("down", (shape.width, shape.hidden))]
    named: list[tuple[str, tuple[int, ...]]] = [("embedding", (shape.vocabulary, shape.width))]
    named += [(f"layer.{i}.{name}", size) for i in range(shape.layers) for name, size in layer]
    named.append(("norm", (shape.width,)))
    if not shape.tied:
        named.append(("output", (shape.vocabulary, shape.width)))
    return named
