#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the logits of `chunkproof model` with two other implementations (LM-4).

    tests/model/compare.py COMMAND MODEL.gguf WEIGHTS [TOKENS] [WINDOW]

- numpy in binary64 (decoder.py): must agree within a bound, which is derived below. It is
  independent of the decoder in C, but reads the same weights file.
- llama-cpp, where llama-cpp-python is installed, from the GGUF file: on a copy with weights of
  float32, so that it computes in float32, and on the file itself, for which it also rounds
  activations to 8 bits. These differences are measured, and hold to no bound: see LM-4 for why.

The text is that of spec/, its first TOKENS tokens (512) in windows of WINDOW (256). Exit status 0
agreed, 1 a finding, 2 bad use, 77 a package is missing.
"""
import glob
import importlib.util
import os
import subprocess
import sys
import tempfile
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

Numbers = Any
FLOAT32 = 0  # ggml's number of the type, for the cache of keys and values


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


def of_llama(path: str, tokens: list[int], window: int, batch: int) -> Numbers:
    """Keys and values are float32, as the reference keeps all of them."""
    from llama_cpp import Llama
    model = Llama(path, n_ctx=window, n_batch=batch, n_ubatch=batch, logits_all=True, n_threads=1,
                  n_threads_batch=1, type_k=FLOAT32, type_v=FLOAT32, flash_attn=False,
                  verbose=False)
    found = []
    for begin in range(0, len(tokens), window):
        part = tokens[begin:begin + window]
        model.reset()
        model.eval(part)
        found.append(np.array(model.scores[:len(part)], dtype=np.float32))
    model.close()
    return np.concatenate(found)


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
    def __init__(self, ours: Numbers, tokens: list[int], window: int) -> None:
        self.ours, self.tokens, self.window = ours, tokens, window
        self.size = rms(ours)
        print(f"{'':34} {'max':>9} {'rms':>9} {'rms/size':>9} {'best same':>10} {'perplexity':>11}")
        print(f"{'chunkproof model':34} {'':>9} {'':>9} {'':>9} {'':>10} "
              f"{perplexity(ours, tokens, window):11.6f}")

    def line(self, name: str, other: Numbers) -> int:
        """Prints a line of the table; returns for how many tokens the best one is the same."""
        largest, squares = 0.0, 0.0
        for mine, theirs in zip(self.ours, other, strict=True):
            difference = theirs.astype(np.float64) - mine
            largest = max(largest, float(np.abs(difference).max()))
            squares += float((difference * difference).sum())
        root = (squares / self.ours.size) ** 0.5
        same = int((self.ours.argmax(axis=1) == other.argmax(axis=1)).sum())
        print(f"{name:34} {largest:9.2e} {root:9.2e} {root / self.size:9.2e} "
              f"{same:5}/{len(other):4} {perplexity(other, self.tokens, self.window):11.6f}",
              flush=True)
        return same


def rms(numbers: Numbers) -> float:
    return float(np.sqrt(np.mean([np.mean(row.astype(np.float64) ** 2) for row in numbers])))


def beyond(ours: Numbers, exact: Numbers) -> float:
    """The largest difference in units of the bound: below 1 they agree.

    Ours are rounded to binary32: half a unit in the last place of each logit, at most 2^-24 of it.
    Both sums are in binary64, whose roundings are 2^-53 each. The decoder makes them larger by a
    factor that nobody has bounded; the bound takes it to be at most 2^25, so that 2^-28 of the
    row's largest logit is allowed on top. A wrong convention changes the first digits."""
    worst = 0.0
    for mine, theirs in zip(ours, exact, strict=True):
        bound = np.abs(theirs) * 2.0 ** -24 + np.abs(theirs).max() * 2.0 ** -28
        worst = max(worst, float((np.abs(mine - theirs) / bound).max()))
    return worst


def compare_with_llama(comparison: Comparison, model: str, tokens: list[int], window: int,
                       place: str) -> bool:
    """Prints its lines; returns whether it has the same tokens."""
    from llama_cpp import Llama
    copy = os.path.join(place, "float32.gguf")
    write_float32(model, copy)
    theirs = Llama(model, vocab_only=True, verbose=False)
    data = b"".join(theirs.detokenize([token]) for token in tokens)
    has_same: bool = theirs.tokenize(data, add_bos=False, special=False) == tokens
    print(f"tokens {len(tokens)}, llama-cpp's are {'the same' if has_same else 'others'}")
    comparison.line("llama-cpp, the file itself", of_llama(model, tokens, window, window))
    comparison.line("llama-cpp, weights of float32", of_llama(copy, tokens, window, window))
    same = comparison.line("... a token at a time", of_llama(copy, tokens, window, 1))
    print(f"best tokens as llama-cpp {same}/{len(tokens)}")
    return has_same


def main() -> int:
    if not 4 <= len(sys.argv) <= 6:
        print(__doc__, file=sys.stderr)
        return 2
    command, model, weights = sys.argv[1:4]
    limit = int(sys.argv[4]) if len(sys.argv) > 4 else 512
    window = int(sys.argv[5]) if len(sys.argv) > 5 else 256
    with tempfile.TemporaryDirectory() as place:
        text, out = os.path.join(place, "text"), os.path.join(place, "logits")
        with open(text, "wb") as file:
            for name in sorted(glob.glob(os.path.join(ROOT, "spec", "*.md"))):
                with open(name, "rb") as chapter:
                    file.write(chapter.read())
        words = [command, "model", weights, "--text", text, "--limit", str(limit)]
        said = subprocess.run([*words, "--tokens"], check=True, capture_output=True).stdout
        tokens = [int(word) for word in said.split()]
        subprocess.run([*words, "--window", str(window), "--threads", "2", "--logits", out],
                       check=True)
        reference = decoder.Decoder(weights)
        ours = np.memmap(out, "<f4", "r", shape=(len(tokens), reference.vocabulary))
        comparison = Comparison(ours, tokens, window)
        worst = 0.0
        for begin in range(0, len(tokens), window):
            part = slice(begin, begin + window)
            worst = max(worst, beyond(ours[part], reference.logits(tokens[part])))
        print(f"numpy in binary64: {worst:.3f} of the bound")
        same = True
        if importlib.util.find_spec("llama_cpp") is None:
            print("llama-cpp is not compared with; scripts/deps-model --llama installs it")
        else:
            same = compare_with_llama(comparison, model, tokens, window, place)
    if worst >= 1.0:
        print("numpy and the reference decoder differ by more than rounding")
    print(f"of the bound {worst:.2f}")
    return 0 if worst < 1.0 and same else 1



if __name__ == "__main__":
    sys.exit(main())
