# SPDX-License-Identifier: Apache-2.0
"""The numbers of a GGUF tensor, as float32 (FILE-7).

Each function below gives the value that the format defines, without rounding: in binary64, whose 53
bits hold every sum and product that occurs. `as_float32` rounds once, to nearest, and counts the
values that it changed.
"""
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

from .refusal import Refusal

Bytes: TypeAlias = npt.NDArray[np.uint8]
Exact: TypeAlias = npt.NDArray[np.float64]
Single: TypeAlias = npt.NDArray[np.float32]


def _half(blocks: Bytes, at: int) -> Exact:
    """The binary16 number at this byte of each block: [n, 1]."""
    return blocks[:, at:at + 2].copy().view("<f2").astype(np.float64)


def _nibbles(blocks: Bytes, at: int) -> Exact:
    """16 bytes as 32 numbers of 4 bits: the low halves first, as ggml has them."""
    packed = blocks[:, at:at + 16]
    return np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float64)


def _q4_0(blocks: Bytes) -> Exact:
    return _half(blocks, 0) * (_nibbles(blocks, 2) - 8.0)


def _q4_1(blocks: Bytes) -> Exact:
    return _half(blocks, 0) * _nibbles(blocks, 4) + _half(blocks, 2)


def _q8_0(blocks: Bytes) -> Exact:
    return _half(blocks, 0) * blocks[:, 2:].view(np.int8).astype(np.float64)


def _q6_k(blocks: Bytes) -> Exact:
    """256 numbers of 6 bits in two halves of 128, whose low 4 bits and high 2 bits lie apart; 16
    scales of 8 bits, each for 16 numbers; one scale of binary16 for all."""
    n = len(blocks)
    low, high = blocks[:, 0:128].reshape(n, 2, 64), blocks[:, 128:192].reshape(n, 2, 32)
    quarters = [(low[:, :, 0:32] & 15) | ((high & 3) << 4),
                (low[:, :, 32:64] & 15) | ((high >> 2 & 3) << 4),
                (low[:, :, 0:32] >> 4) | ((high >> 4 & 3) << 4),
                (low[:, :, 32:64] >> 4) | ((high >> 6) << 4)]
    q = np.stack(quarters, axis=2).reshape(n, 16, 16).astype(np.float64) - 32.0
    scales = blocks[:, 192:208].copy().view(np.int8).astype(np.float64).reshape(n, 16, 1)
    return (_half(blocks, 208).reshape(n, 1, 1) * scales * q).reshape(n, 256)


def _f32(blocks: Bytes) -> Exact:
    return blocks.view("<f4").astype(np.float64)


def _f16(blocks: Bytes) -> Exact:
    return blocks.view("<f2").astype(np.float64)


def _bf16(blocks: Bytes) -> Exact:
    return (blocks.view("<u2").astype(np.uint32) << 16).view(np.float32).astype(np.float64)


VALUES: dict[GGMLQuantizationType, Callable[[Bytes], Exact]] = {
    GGMLQuantizationType.F32: _f32,
    GGMLQuantizationType.F16: _f16,
    GGMLQuantizationType.BF16: _bf16,
    GGMLQuantizationType.Q4_0: _q4_0,
    GGMLQuantizationType.Q4_1: _q4_1,
    GGMLQuantizationType.Q8_0: _q8_0,
    GGMLQuantizationType.Q6_K: _q6_k,
}


def as_float32(kind: GGMLQuantizationType, name: str, stored: Bytes) -> tuple[Single, int]:
    """The numbers of a tensor in their order, and how many of them binary32 does not hold."""
    if kind not in VALUES:
        known = ", ".join(sorted(each.name for each in VALUES))
        raise Refusal(f"tensor {name} is of the type {kind.name}; the converter reads {known}: "
                      "take the model in one of these, such as Q8_0")
    _, size = GGML_QUANT_SIZES[kind]
    with np.errstate(over="ignore", invalid="ignore"):
        exact = VALUES[kind](np.ascontiguousarray(stored).reshape(-1, size))
        rounded = exact.astype(np.float32)
    if not np.isfinite(rounded).all():
        raise Refusal(f"tensor {name} has a number that is not finite in binary32: the file is "
                      "damaged, or the model was written wrongly; fetch it again")
    return rounded.reshape(-1), int(np.count_nonzero(rounded != exact))
