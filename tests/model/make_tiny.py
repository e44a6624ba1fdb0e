#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the small model that the tests of `chunkproof model` use, and what they expect of it.

    tests/model/make_tiny.py [FOLDER [INPUTS]]      FOLDER: default tests/golden/model

Its weights are random, and its vocabulary is learned from a text below, tiny.txt. tiny.weights is
what the converter makes of its GGUF file; tiny.tokens, what the package tokenizers makes of texts;
tiny.score, the perplexity of the text and a continuation by numpy (decoder.py). The files are kept,
so that the tests need no package. INPUTS is a folder, such as fuzz/corpus/weights, for the first
inputs of the fuzz target. Exit status 0 written, 77 a package is missing.
"""
import json
import os
import random
import sys
import tempfile
import unicodedata
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden", "model")
PACKAGE = os.environ.get("CHUNKPROOF_PACKAGE", os.path.join(HERE, "..", "..", "python"))
sys.path[:0] = [PACKAGE, HERE]
try:
    import numpy as np
    from gguf import GGMLQuantizationType, GGUFWriter, quants
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
except ImportError as error:
    print(f"make_tiny: {error.name} is missing; install gguf, numpy and tokenizers with pip")
    sys.exit(77)
import decoder  # noqa: E402
from tokens import expected, reference  # noqa: E402

from chunkproof.convert import convert  # noqa: E402
from chunkproof.model import NONE, Shape, Tokenizer as Tables, tensors_of  # noqa: E402
from chunkproof.source import Source, byte_of_letter  # noqa: E402
from chunkproof.weights import write as write_weights  # noqa: E402

SPECIAL = ["<|end|>", "<|begin|>", "<|begin|>!"]
LACKING = (0x04, 0xF5, 0xFF)  # bytes without a token
TEXT = """A language model keeps a key and a value for each token that it has read. To produce the
next token, attention compares a query with all keys of the sequence and averages the values; a key
that matches better weighs more. Keys and values of equal beginnings are equal, so a server can keep
them once. The order of merging does not matter: partial results form a commutative monoid. It's
we'll they've don't 12 345 6789 for (int i = 0; i < n; i++) { sum += a[i]; }
    if the lengths differ, the shorter one ends first.
"""
SIZES = {"layers": 2, "width": 32, "heads": 4, "kv": 2, "hidden": 32, "context": 64}
MERGES = 60


def vocabulary() -> tuple[list[str], list[str]]:
    """Tokens, and merges as GGUF has them."""
    letters = {byte: letter for letter, byte in byte_of_letter().items()}
    alphabet = [letters[byte] for byte in range(256) if byte not in LACKING]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=256 + MERGES, initial_alphabet=alphabet,
                                  show_progress=False)
    tokenizer.train_from_iterator([TEXT], trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    pairs = [each if isinstance(each, str) else " ".join(each) for each in merges][:MERGES]
    return SPECIAL + alphabet + [pair.replace(" ", "") for pair in pairs], pairs


def write_gguf(path: str, change: Any = None) -> None:
    """The small model. `change`, called with the writer's keys and tensors, may alter them."""
    q4, q8 = GGMLQuantizationType.Q4_1, GGMLQuantizationType.Q8_0
    draw = np.random.default_rng(1)
    tokens, merges = vocabulary()
    s = SIZES
    keys: dict[str, Any] = {
        "llama.block_count": s["layers"], "llama.context_length": s["context"],
        "llama.embedding_length": s["width"], "llama.feed_forward_length": s["hidden"],
        "llama.attention.head_count": s["heads"], "llama.attention.head_count_kv": s["kv"],
        "llama.rope.dimension_count": s["width"] // s["heads"], "llama.rope.freq_base": 500.0,
        "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.vocab_size": len(tokens),
        "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.add_bos_token": False, "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 0, "tokenizer.ggml.unknown_token_id": 0,
    }
    w, kv = s["width"], s["width"] // s["heads"] * s["kv"]
    tensors: dict[str, tuple[tuple[int, ...], Any]] = {
        "token_embd.weight": ((len(tokens), w), q8), "output_norm.weight": ((w,), None)}
    layer: dict[str, tuple[tuple[int, ...], Any]] = {
        "attn_norm": ((w,), None), "ffn_norm": ((w,), None), "attn_q": ((w, w), q4),
        "attn_k": ((kv, w), q8), "attn_v": ((kv, w), GGMLQuantizationType.F16),
        "attn_output": ((w, w), GGMLQuantizationType.BF16), "ffn_gate": ((s["hidden"], w), q4),
        "ffn_up": ((s["hidden"], w), GGMLQuantizationType.Q4_0),
        "ffn_down": ((w, s["hidden"]), None)}
    for i in range(s["layers"]):
        tensors |= {f"blk.{i}.{name}.weight": each for name, each in layer.items()}
    lists: dict[str, Any] = {"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.merges": merges,
                             "tokenizer.ggml.token_type": [3] * len(SPECIAL) +
                             [1] * (len(tokens) - len(SPECIAL))}
    architecture = ["llama"]
    if change is not None:
        change(architecture, keys, lists, tensors)
    writer = GGUFWriter(path, architecture[0])
    for key, value in keys.items():
        add = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32,
               str: writer.add_string}[type(value)]
        add(key, value)
    for key, value in lists.items():
        writer.add_array(key, value)
    for name, (size, kind) in tensors.items():
        norm = len(size) == 1
        numbers = (draw.normal(1.0 if norm else 0.0, 0.1 if norm else 0.3, size)
                   .astype(np.float32))
        if kind is None:
            writer.add_tensor(name, numbers)
        else:
            writer.add_tensor(name, quants.quantize(numbers, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def texts() -> list[tuple[bool, bytes]]:
    """Texts of which the tokens are kept; with True special tokens are looked for."""
    draw = random.Random(3)
    assigned = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs")]
    edges = "  \t\n\x0b\x1c\x85\xa0\u180e\u2003\u200b\u2028\u3000''sstmdlrve09\u0663\u00b2\u2160"
    plain = [TEXT, "", " ", "  ", "a", "  a", "a  ", "\n\n a", " 1", "  12 34x", "it's It'S 'llama",
             "the the\x04the", "(\x04)", "e\u0301 \u00fc\u4e16\u754c \U0001f600", "\x00 a\x00b"]
    found = [(False, text.encode()) for text in plain]
    for _ in range(12):
        found += [(False, "".join(draw.choices(assigned, k=40)).encode()),
                  (False, "".join(draw.choices(edges, k=60)).encode()),
                  (False, draw.randbytes(60)),
                  (False, "".join(draw.choices(edges + "thean", k=60)).encode()[1:-1]),
                  (False, bytes(draw.choices(b"theanr s'", k=80)))]
    found += [(False, bytes.fromhex(each)) for each in
              ("c0af", "eda080", "f4908080", "f09f98", "e282", "61e28262", "80", "f5ff04",
               "ffc3a9")]
    marked = ["<|begin|>the end<|end|>", "a <|begin|>! b", "<|begin|> !", "<|begin<|begin|>|>",
              "<|end|><|end|> 12<|", "<|begin|>  \n<|end|>'s"]
    found += [(special, text.encode()) for text in marked for special in (False, True)]
    return found


def write_inputs(folder: str) -> None:
    """Inputs of the fuzz target `weights`: the smallest model in two shapes, with a text behind."""
    text = [b"<s>", b"a", b"b", b" ", b"1", b"ab", b"abab", b" a"]
    for i, tied in enumerate((True, False)):
        shape = Shape(layers=1, width=2, heads=2 - i, kv_heads=1, head_dim=2, hidden=1,
                      vocabulary=len(text), context=8, pair_distance=1, rotary_dim=2, tied=tied,
                      base=10.0, epsilon=1e-5)
        tables = Tables(tokens=text, special=[token == b"<s>" for token in text],
                              merges=[(1, 2, 5), (5, 5, 6), (3, 1, 7)], split=2 - i,
                              add_begin=tied, begin=0, end=0, unknown=NONE)
        sizes = dict(tensors_of(shape))

        def numbers(name: str, sizes: dict[str, tuple[int, ...]] = sizes) -> tuple[Any, int]:
            size = sizes[name]
            return np.arange(np.prod(size), dtype=np.float32) / 8 - 0.5, 0
        path = os.path.join(folder, ("tied", "untied")[i])
        write_weights(path, shape, tables, numbers)
        with open(path, "ab") as file:
            file.write(b"<s>abab 12  a\n<s" + bytes([0xC3, 0xA9, 0x80, 0xFF]))


def main() -> int:
    folder = sys.argv[1] if len(sys.argv) > 1 else GOLDEN
    path = os.path.join(folder, "tiny.weights")
    with tempfile.TemporaryDirectory() as place:
        source_path = os.path.join(place, "tiny.gguf")
        write_gguf(source_path)
        print(convert(source_path, path))
        source = Source(source_path)
    of_byte = {token[0]: i for i, token in enumerate(source.tokenizer.tokens) if len(token) == 1}
    makers = {special: reference(source, special) for special in (False, True)}
    with open(os.path.join(folder, "tiny.tokens"), "w", encoding="ascii") as file:
        for special, data in texts():
            tokens = expected(makers[special], of_byte, data)
            file.write(" ".join([str(int(special)), data.hex() or "-", str(len(tokens)),
                                 *map(str, tokens)]) + "\n")
    tokens = expected(makers[False], of_byte, TEXT.encode())
    with open(os.path.join(folder, "tiny.score"), "w", encoding="ascii") as file:
        model = decoder.Decoder(path)
        for window in (16, 64, 512):
            file.write(f"{window} {model.perplexity(tokens, window):.12g}\n")
        file.write("generate " + " ".join(map(str, model.greedy(tokens[:12], 10))) + "\n")
    with open(os.path.join(folder, "tiny.txt"), "w", encoding="utf-8") as file:
        file.write(TEXT)
    if len(sys.argv) > 2:
        write_inputs(sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
