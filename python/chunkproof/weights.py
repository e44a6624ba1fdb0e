# SPDX-License-Identifier: Apache-2.0
"""The weights file, spec/weights.md: written here, read by cli/model/."""
import os
import struct
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from .model import (NETWORK_SWIGLU, NORM_RMS, POSITIONS_ROTARY, Shape, Tokenizer, tensors_of)
from .refusal import Refusal
from .stored import Single

MAGIC = b"CPWEIGHT"
VERSION = 1
BYTE_ORDER = 0x01020304
ALIGN = 64
# FILE-3: the fields in their order, little-endian, without gaps.
HEADER = struct.Struct("<8sIIQII" "8I" "6I" "ddQ" "II" "6Q" "5I4x")
CHECKSUM_AT = 24
ENTRY = struct.Struct("<56sII2QQQ")  # FILE-6
TYPE_FLOAT32 = 1


def aligned(offset: int) -> int:
    return -(-offset // ALIGN) * ALIGN


@dataclass(frozen=True)
class Layout:
    """Where the sections begin, in the order of the file (FILE-4)."""
    directory: int
    ends: int
    kinds: int
    text: int
    merges: int
    tensors: list[int]
    size: int


def layout_of(shape: Shape, tokenizer: Tokenizer) -> Layout:
    named = tensors_of(shape)
    text_size = sum(map(len, tokenizer.tokens))
    at = aligned(HEADER.size)
    starts = []
    for size in (ENTRY.size * len(named), 4 * shape.vocabulary, shape.vocabulary, text_size,
                 12 * len(tokenizer.merges)):
        starts.append(at)
        at = aligned(at + size)
    tensors = []
    for _, dims in named:
        tensors.append(at)
        at = aligned(at + 4 * int(np.prod(dims)))
    directory, ends, kinds, text, merges = starts
    return Layout(directory, ends, kinds, text, merges, tensors, at)


def header_of(shape: Shape, tokenizer: Tokenizer, layout: Layout, rounded: int,
              checksum: int) -> bytes:
    text_size = sum(map(len, tokenizer.tokens))
    return HEADER.pack(
        MAGIC, VERSION, BYTE_ORDER, layout.size, checksum, HEADER.size,
        shape.layers, shape.width, shape.heads, shape.kv_heads, shape.head_dim, shape.hidden,
        shape.vocabulary, shape.context,
        NORM_RMS, NETWORK_SWIGLU, POSITIONS_ROTARY, shape.pair_distance, shape.rotary_dim,
        int(shape.tied), shape.base, shape.epsilon, rounded,
        len(layout.tensors), len(tokenizer.merges),
        layout.directory, layout.ends, layout.kinds, layout.text, text_size, layout.merges,
        tokenizer.split, int(tokenizer.add_begin),
        tokenizer.begin, tokenizer.end, tokenizer.unknown)


def _put(file: BinaryIO, at: int, data: bytes) -> None:
    """Writes at this place; what is skipped is zeros."""
    file.seek(at)
    file.write(data)


def _put_tables(file: BinaryIO, shape: Shape, tokenizer: Tokenizer, layout: Layout) -> None:
    for i, (name, dims) in enumerate(tensors_of(shape)):
        rows, columns = dims if len(dims) == 2 else (1, *dims)
        entry = ENTRY.pack(name.encode(), TYPE_FLOAT32, len(dims), rows, columns,
                           layout.tensors[i], 4 * rows * columns)
        _put(file, layout.directory + i * ENTRY.size, entry)
    ends = np.cumsum([len(token) for token in tokenizer.tokens]).astype("<u4")
    _put(file, layout.ends, ends.tobytes())
    _put(file, layout.kinds, bytes(tokenizer.special))
    _put(file, layout.text, b"".join(tokenizer.tokens))
    _put(file, layout.merges, np.array(tokenizer.merges, dtype="<u4").tobytes())


def checksum_of(path: str) -> int:
    """CRC-32 of the whole file, with zeros where the checksum stands (FILE-5)."""
    with open(path, "rb") as file:
        crc = zlib.crc32(file.read(CHECKSUM_AT))
        file.seek(CHECKSUM_AT + 4)
        crc = zlib.crc32(bytes(4), crc)
        while block := file.read(1 << 22):
            crc = zlib.crc32(block, crc)
    return crc


def _fill(path: str, shape: Shape, tokenizer: Tokenizer,
          numbers_of: Callable[[str], tuple[Single, int]]) -> int:
    layout = layout_of(shape, tokenizer)
    rounded = 0
    with open(path, "wb") as file:
        file.truncate(layout.size)
        _put_tables(file, shape, tokenizer, layout)
        for (name, _), at in zip(tensors_of(shape), layout.tensors, strict=True):
            numbers, changed = numbers_of(name)
            _put(file, at, numbers.astype("<f4").tobytes())
            rounded += changed
        _put(file, 0, header_of(shape, tokenizer, layout, rounded, 0))
    checksum = checksum_of(path)
    with open(path, "r+b") as file:
        _put(file, 0, header_of(shape, tokenizer, layout, rounded, checksum))
        file.flush()
        os.fsync(file.fileno())
    return rounded


def write(path: str, shape: Shape, tokenizer: Tokenizer,
          numbers_of: Callable[[str], tuple[Single, int]]) -> int:
    """Writes the file; it gets its name once it is complete. Returns how many weights were
    rounded. `numbers_of` gives a tensor's numbers, and how many of them are not exact."""
    folder = os.path.dirname(os.path.abspath(path))
    part = ""
    try:
        handle, part = tempfile.mkstemp(prefix=os.path.basename(path) + ".", dir=folder)
        os.close(handle)
        rounded = _fill(part, shape, tokenizer, numbers_of)
        os.chmod(part, 0o644)
        os.replace(part, path)
        part = ""
    except OSError as error:
        raise Refusal(f"{path} cannot be written: {os.strerror(error.errno or 0)}") from error
    finally:
        if part:
            os.unlink(part)
    return rounded
