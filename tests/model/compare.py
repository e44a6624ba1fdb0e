#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the logits of `chunkproof model` to a bound, beside two other implementations (LM-4).

    tests/model/compare.py COMMAND MODEL.gguf WEIGHTS [TOKENS] [WINDOW]

- numpy in binary64 (decoder.py), independent of the decoder in C, from the same weights file;
- llama-cpp, where llama-cpp-python is installed, from the GGUF file: on a copy with weights of
  float32, so that it computes in float32, and on the file itself, for which it also rounds
  activations to 8 bits;
- `chunkproof model --fast`, in float32.

Each is held to two bounds, derived from its format, logit by logit, to first order: of the worst
roundings, and of independent ones (first_order.py). They are computed for the largest differences
of each window, and for random logits. llama-cpp with a cache of keys and values in binary16 must be
beyond what is likely of float32, or the bound says nothing.

The text is that of spec/, its first TOKENS tokens (512) in windows of WINDOW (256). Exit status 0
agreed, 1 a finding, 2 bad use, 77 a package is missing.
"""
import dataclasses
import glob
import importlib.util
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path[:0] = [os.path.join(ROOT, "python"), HERE]
try:
    import numpy as np
    from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter, quants
except ImportError as error:
    print(f"compare: {error.name} is missing; scripts/deps-model installs it")
    sys.exit(77)
import decoder  # noqa: E402
import first_order  # noqa: E402

Numbers = Any
FLOAT32, FLOAT16 = 0, 1  # ggml's numbers of the types, for the cache of keys and values


def write_float32(path: str, to: str) -> None:
    """The same model with all weights as float32."""
    reader = GGUFReader(path)
    writer = GGUFWriter(to, reader.fields["general.architecture"].contents())
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key == "general.architecture":
            continue
        if key == "general.file_type":
            writer.add_uint32(key, 0)
            continue
        sub_type = field.types[1] if field.types[0] == GGUFValueType.ARRAY else None
        writer.add_key_value(key, field.contents(), field.types[0], sub_type)
    for tensor in reader.tensors:
        numbers = quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        writer.add_tensor(tensor.name, numbers, raw_dtype=GGMLQuantizationType.F32)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def of_llama(path: str, tokens: list[int], window: int, batch: int,
             cache: int = FLOAT32) -> Numbers:
    """Keys and values are float32, as the reference keeps all of them."""
    from llama_cpp import Llama
    model = Llama(path, n_ctx=window, n_batch=batch, n_ubatch=batch, logits_all=True, n_threads=1,
                  n_threads_batch=1, type_k=cache, type_v=cache, flash_attn=False, verbose=False)
    found = []
    for begin in range(0, len(tokens), window):
        part = tokens[begin:begin + window]
        model.reset()
        model.eval(part)
        found.append(np.array(model.scores[:len(part)], dtype=np.float32))
    model.close()
    return np.concatenate(found)


def minimums_of(path: str) -> Callable[[str], Numbers | None]:
    """The minimum of each block of 32 weights of a matrix of Q4_1, by its name in a weights file;
    None for a type without."""
    tensors = {tensor.name: tensor for tensor in GGUFReader(path).tensors}
    names = {"query": "attn_q", "key": "attn_k", "value": "attn_v", "mix": "attn_output",
             "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down"}

    def minimums(name: str) -> Numbers | None:
        if not name.startswith("layer."):
            tensor = tensors["token_embd.weight" if name == "embedding" else "output.weight"]
        else:
            _, layer, matrix = name.split(".")
            tensor = tensors[f"blk.{layer}.{names[matrix]}.weight"]
        if tensor.tensor_type != GGMLQuantizationType.Q4_1:
            return None
        blocks = tensor.data.reshape(tensor.data.shape[0], -1, 20)  # d, m, 16 bytes of weights
        return np.ascontiguousarray(blocks[..., 2:4]).view("<f2")[..., 0].astype(np.float64)
    return minimums


def perplexity(logits: Numbers, tokens: list[int], window: int) -> float:
    total, n = 0.0, 0
    for i in range(len(tokens) - 1):
        if (i + 1) % window != 0:
            row = logits[i].astype(np.float64)
            most = row.max()
            total += row[tokens[i + 1]] - most - np.log(np.exp(row - most).sum())
            n += 1
    return float(np.exp(-total / n))


class Comparison:
    """Of the logits of `chunkproof model`, which are of binary64 and then written as float32."""

    def __init__(self, reference: decoder.Decoder, ours: Numbers, tokens: list[int],
                 window: int) -> None:
        self.reference, self.ours, self.tokens, self.window = reference, ours, tokens, window
        self.size = rms(ours)
        self.beyond: list[str] = []
        print(f"{'':34} {'max':>9} {'rms':>9} {'rms/size':>9} {'best same':>10} "
              f"{'perplexity':>11} {'of worst':>9} {'of likely':>9}")
        print(f"{'chunkproof model':34} {'':>9} {'':>9} {'':>9} {'':>10} "
              f"{perplexity(ours, tokens, window):11.6f}", flush=True)

    def line(self, name: str, other: Numbers, how: first_order.Format) -> tuple[float, float]:
        """Prints a line of the table; returns the largest difference in units of its bounds."""
        largest, squares, shares = 0.0, 0.0, (0.0, 0.0)
        for begin in range(0, len(other), self.window):
            part = slice(begin, begin + self.window)
            apart = np.abs(other[part].astype(np.float64) - self.ours[part])
            largest = max(largest, float(apart.max()))
            squares += float((apart * apart).sum())
            found = self.shares(begin, apart, how)
            shares = max(shares[0], found[0]), max(shares[1], found[1])
        root = (squares / self.ours.size) ** 0.5
        same = int((self.ours.argmax(axis=1) == other.argmax(axis=1)).sum())
        print(f"{name:34} {largest:9.2e} {root:9.2e} {root / self.size:9.2e} "
              f"{same:5}/{len(other):4} {perplexity(other, self.tokens, self.window):11.6f} "
              f"{shares[0]:9.2e} {shares[1]:9.2e}", flush=True)
        return shares

    def hold(self, name: str, other: Numbers, how: first_order.Format) -> None:
        if not max(self.line(name, other, how)) < 1.0:
            self.beyond.append(name)

    def shares(self, begin: int, apart: Numbers, how: first_order.Format) -> tuple[float, float]:
        """Of a window, whose differences are given, the largest one in units of each bound."""
        wanted = logits_of_interest(apart, begin)
        prompt = decoder.Prompt(self.tokens[begin:begin + self.window])
        both = dataclasses.replace(how, unit=how.unit + first_order.BINARY64.unit)
        found = first_order.bounds(self.reference, prompt, wanted, both)
        rows, words = np.array(wanted).T
        written = np.abs(self.ours[rows + begin, words]) * first_order.BINARY32.unit
        likely = found.likely(first_order.CHANCE / apart.size) + written
        apart = apart[rows, words]
        return float((apart / (found.worst + written)).max()), float((apart / likely).max())


def logits_of_interest(apart: Numbers, seed: int) -> list[tuple[int, int]]:
    """The largest difference of all, the largest one of a random row, and two random ones."""
    draw = random.Random(seed)
    row, token = np.unravel_index(apart.argmax(), apart.shape)
    other = draw.randrange(len(apart))
    return [(int(row), int(token)), (other, int(apart[other].argmax())),
            *((draw.randrange(len(apart)), draw.randrange(apart.shape[1])) for _ in range(2))]


def rms(numbers: Numbers) -> float:
    return float(np.sqrt(np.mean([np.mean(row.astype(np.float64) ** 2) for row in numbers])))


def compare_with_llama(comparison: Comparison, model: str, place: str) -> bool:
    """Prints its lines; returns whether it has the same tokens, and a wrong one is noticed."""
    from llama_cpp import Llama
    tokens, window = comparison.tokens, comparison.window
    copy = os.path.join(place, "float32.gguf")
    write_float32(model, copy)
    theirs = Llama(model, vocab_only=True, verbose=False)
    data = b"".join(theirs.detokenize([token]) for token in tokens)
    has_same: bool = theirs.tokenize(data, add_bos=False, special=False) == tokens
    print(f"tokens {len(tokens)}, llama-cpp's are {'the same' if has_same else 'others'}")
    # Its angles are products in binary32, too.
    float32 = first_order.Format(2.0 ** -24, angle=2.0 ** -24)
    eight_bits = dataclasses.replace(float32, minimums=minimums_of(model))
    comparison.hold("llama-cpp, the file itself", of_llama(model, tokens, window, window),
                    eight_bits)
    comparison.hold("llama-cpp, weights of float32", of_llama(copy, tokens, window, window),
                    float32)
    comparison.hold("... a token at a time", of_llama(copy, tokens, window, 1), float32)
    noticed = comparison.line("... with a cache of binary16",
                              of_llama(copy, tokens, window, window, FLOAT16), float32)[1] >= 1.0
    if not noticed:
        print("a cache of binary16 is within the likely bound of float32, so that it says nothing")
    return has_same and noticed


def main() -> int:
    if not 4 <= len(sys.argv) <= 6:
        print(__doc__, file=sys.stderr)
        return 2
    command, model, weights = sys.argv[1:4]
    limit = int(sys.argv[4]) if len(sys.argv) > 4 else 512
    window = int(sys.argv[5]) if len(sys.argv) > 5 else 256
    with tempfile.TemporaryDirectory() as place:
        text = os.path.join(place, "text")
        with open(text, "wb") as file:
            for name in sorted(glob.glob(os.path.join(ROOT, "spec", "*.md"))):
                with open(name, "rb") as chapter:
                    file.write(chapter.read())
        words = [command, "model", weights, "--text", text, "--limit", str(limit)]
        said = subprocess.run([*words, "--tokens"], check=True, capture_output=True).stdout
        tokens = [int(word) for word in said.split()]
        reference = decoder.Decoder(weights)

        def logits(*options: str) -> Numbers:
            out = os.path.join(place, "logits" + "".join(options))
            subprocess.run([*words, "--window", str(window), "--threads", "2", "--logits", out,
                            *options], check=True, stdout=subprocess.DEVNULL)
            return np.memmap(out, "<f4", "r", shape=(len(tokens), reference.vocabulary))
        comparison = Comparison(reference, logits(), tokens, window)
        exact = [reference.logits(tokens[begin:begin + window])
                 for begin in range(0, len(tokens), window)]
        comparison.hold("numpy in binary64", np.concatenate(exact), first_order.BINARY64)
        comparison.hold("chunkproof model --fast", logits("--fast"), first_order.BINARY32)
        same = True
        if importlib.util.find_spec("llama_cpp") is None:
            print("llama-cpp is not compared with; scripts/deps-model --llama installs it")
        else:
            same = compare_with_llama(comparison, model, place)
    for name in comparison.beyond:
        print(f"{name}: a logit is off by more than its bound")
    print(f"comparisons {len(comparison.beyond)} beyond their bounds")
    return 0 if not comparison.beyond and same else 1


if __name__ == "__main__":
    sys.exit(main())
