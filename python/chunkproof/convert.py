# SPDX-License-Identifier: Apache-2.0
"""Writes a language model's GGUF file as the weights file that `chunkproof model` maps.

    python3 -m chunkproof.convert IN.gguf OUT

Exit status 0 written, 2 bad use, or a model that is not taken: the message says which, why, and
what would mend it. OUT gets its name once it is complete. Its format is spec/weights.md.
"""
import argparse
import os
import sys

from .command import begin, refused
from .command import write as write_text
from .refusal import Refusal
from .source import Source
from .stored import Single, as_float32
from .weights import write


def convert(source_path: str, path: str) -> str:
    """Writes the weights file, and says in a line what it has."""
    if os.path.exists(path) and os.path.samefile(source_path, path):
        raise Refusal(f"{path} is the model itself; name another file to write")
    source = Source(source_path)

    def numbers_of(name: str) -> tuple[Single, int]:
        tensor = source.tensor(name)
        return as_float32(tensor.tensor_type, tensor.name, tensor.data)

    shape = source.shape
    rounded = write(path, shape, source.tokenizer, numbers_of)
    numbers = sum(int(tensor.n_elements) for tensor in source.reader.tensors)
    return (f"{path}: {shape.layers} layers, {shape.width} wide, {shape.heads} query and "
            f"{shape.kv_heads} K/V heads of {shape.head_dim}, {shape.vocabulary} tokens; "
            f"{rounded} of {numbers} weights were rounded to binary32, by at most 2^-24 of "
            "themselves each")


def main(arguments: list[str] | None = None) -> int:
    begin()
    parser = argparse.ArgumentParser(
        prog="python3 -m chunkproof.convert",
        description="Writes a GGUF file as the weights file that `chunkproof model` maps.")
    parser.add_argument("source", metavar="IN.gguf", help="the model: architecture llama")
    parser.add_argument("path", metavar="OUT", help="the weights file to write")
    given = parser.parse_args(arguments)
    try:
        write_text(convert(given.source, given.path) + "\n", None, [given.source])
    except (Refusal, FileNotFoundError) as refusal:
        return refused(refusal, "convert: ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
