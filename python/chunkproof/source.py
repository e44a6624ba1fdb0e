# SPDX-License-Identifier: Apache-2.0
"""A GGUF file as a model. What the weights file cannot say is refused by name (FILE-8)."""
import math
import os
from collections.abc import Iterator
from typing import Any

from gguf import GGUFReader
from gguf.gguf_reader import ReaderTensor

from .model import NONE, SPLIT_DIGITS, SPLIT_GPT2, Shape, Tokenizer, tensors_of
from .refusal import Refusal

# Our name of a tensor, and GGUF's.
OUTER = {"embedding": "token_embd.weight", "norm": "output_norm.weight", "output": "output.weight"}
INNER = {"attention_norm": "attn_norm", "query": "attn_q", "key": "attn_k", "value": "attn_v",
         "mix": "attn_output", "network_norm": "ffn_norm", "gate": "ffn_gate", "up": "ffn_up",
         "down": "ffn_down"}

# Keys of the architecture `llama` that are read, and those whose one harmless value is given.
READ = ("block_count", "context_length", "embedding_length", "feed_forward_length",
        "attention.head_count", "attention.head_count_kv", "attention.layer_norm_rms_epsilon",
        "attention.key_length", "attention.value_length", "rope.freq_base", "rope.dimension_count",
        "vocab_size")
HARMLESS: dict[str, tuple[object, ...]] = {
    "rope.scaling.type": ("none",), "rope.scale_linear": (1.0,), "rope.scaling.factor": (1.0,),
    "expert_count": (0,), "expert_used_count": (0,), "use_parallel_residual": (False,),
    "attention.causal": (True,), "attention.sliding_window": (0,), "logit_scale": (1.0,),
    "attention.scale": (), "embedding_scale": (1.0,), "residual_scale": (1.0,),
    "attention.clamp_kqv": (0.0,),
}
SPLITS = {"gpt-2": SPLIT_GPT2, "smollm": SPLIT_DIGITS}
TOKEN_NORMAL, TOKEN_CONTROL, TOKEN_USER = 1, 3, 4


def byte_of_letter() -> dict[str, int]:
    """GPT-2 writes each byte as a letter: itself where it is printable, else the next from U+0100
    on."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    letters = {chr(byte): byte for byte in plain}
    letters.update({chr(0x100 + i): byte for i, byte in enumerate(others)})
    return letters


class Source:
    """A GGUF file. `shape` and `tokenizer` are checked; `tensor` gives stored numbers."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            with open(path, "rb") as file:
                magic = file.read(4)
            if magic != b"GGUF":
                raise Refusal(f"{path} begins with {magic!r}, not with GGUF: it is no GGUF file; "
                              "name the model's .gguf file")
            self.reader = GGUFReader(path)
        except OSError as error:
            raise Refusal(f"{path} cannot be read: {os.strerror(error.errno or 0)}") from error
        except (ValueError, IndexError, KeyError, OverflowError, MemoryError) as error:
            raise Refusal(f"{path} is damaged or cut off ({error}); fetch it again") from error
        self.tensors = {tensor.name: tensor for tensor in self.reader.tensors}
        self._check_architecture()
        self.shape = self._shape()
        self._check_tensors()
        self.tokenizer = self._tokenizer()

    # ---- Metadata ----

    def _get(self, key: str, default: object = None) -> Any:
        field = self.reader.fields.get(key)
        if field is not None:
            return field.contents()
        if default is None:
            raise Refusal(f"{self.path} has no {key}: without it the model is not defined; take "
                          "a file that a current converter of llama.cpp wrote")
        return default

    def _refuse(self, key: str, value: object, known: str) -> Refusal:
        return Refusal(f"{self.path}: {key} is {value!r}, which the weights file cannot say; "
                       f"it knows {known}")

    def _check_architecture(self) -> None:
        architecture = self._get("general.architecture")
        if architecture != "llama":
            raise self._refuse("general.architecture", architecture, "llama")
        if self._get("split.count", 1) > 1:
            raise Refusal(f"{self.path} is one of {self._get('split.count')} files; join them with "
                          "llama.cpp's gguf-split --merge")
        for key in self.reader.fields:
            name = key.removeprefix("llama.")
            if name == key or name in READ:
                continue
            value = self._get(key)
            if name not in HARMLESS:
                raise self._refuse(key, value, "no such key, and it could change the model")
            if value not in HARMLESS[name]:
                raise self._refuse(key, value, " or ".join(map(repr, HARMLESS[name])) or "none")

    def _whole(self, key: str, default: int | None = None) -> int:
        value = self._get(key, default)
        if not isinstance(value, int) or not 1 <= value < 2**31:
            raise self._refuse(key, value, "whole numbers from 1 on, the same for all layers")
        return value

    def _number(self, key: str, default: float | None = None) -> float:
        value = float(self._get(key, default))
        if not (math.isfinite(value) and value > 0.0):
            raise self._refuse(key, value, "positive numbers")
        return value

    def _shape(self) -> Shape:
        width, heads = self._whole("llama.embedding_length"), self._whole(
            "llama.attention.head_count")
        if width % heads != 0 and "llama.attention.key_length" not in self.reader.fields:
            raise self._refuse("llama.embedding_length", width, f"multiples of the {heads} heads")
        head_dim = self._whole("llama.attention.key_length", width // heads)
        value_dim = self._whole("llama.attention.value_length", head_dim)
        if value_dim != head_dim:
            raise self._refuse("llama.attention.value_length", value_dim,
                               f"values as long as keys, {head_dim}")
        kv_heads = self._whole("llama.attention.head_count_kv", heads)
        if heads % kv_heads != 0:
            raise self._refuse("llama.attention.head_count_kv", kv_heads, f"divisors of {heads}")
        rotary = self._whole("llama.rope.dimension_count", head_dim)
        if rotary > head_dim or rotary % 2 != 0:
            raise self._refuse("llama.rope.dimension_count", rotary,
                               f"even numbers up to the head's {head_dim}")
        tokens = len(self._get("tokenizer.ggml.tokens"))
        if self._whole("llama.vocab_size", tokens) != tokens:
            raise self._refuse("llama.vocab_size", self._get("llama.vocab_size"),
                               f"as many as there are tokens, {tokens}")
        return Shape(layers=self._whole("llama.block_count"), width=width, heads=heads,
                     kv_heads=kv_heads, head_dim=head_dim,
                     hidden=self._whole("llama.feed_forward_length"), vocabulary=tokens,
                     context=self._whole("llama.context_length"), pair_distance=1,
                     rotary_dim=rotary, tied="output.weight" not in self.tensors,
                     base=self._number("llama.rope.freq_base", 10000.0),
                     epsilon=self._number("llama.attention.layer_norm_rms_epsilon"))

    # ---- Tensors ----

    @staticmethod
    def _stored_name(name: str) -> str:
        if name in OUTER:
            return OUTER[name]
        _, layer, inner = name.split(".")
        return f"blk.{layer}.{INNER[inner]}.weight"

    def tensor(self, name: str) -> ReaderTensor:
        """The tensor that has this name in the weights file."""
        return self.tensors[self._stored_name(name)]

    def _check_tensors(self) -> None:
        wanted = {self._stored_name(name): size for name, size in tensors_of(self.shape)}
        for name in self.tensors:
            if name not in wanted:
                raise Refusal(f"{self.path}: tensor {name} is of no use to a decoder as the "
                              "weights file describes it (such as a bias, an expert or factors of "
                              "the rotary encoding), so the model would be another one")
        for name, size in wanted.items():
            if name not in self.tensors:
                raise Refusal(f"{self.path}: tensor {name} is missing; fetch the file again")
            found = tuple(int(n) for n in reversed(self.tensors[name].shape))
            if found != size:
                raise Refusal(f"{self.path}: tensor {name} has the shape {found}, and its "
                              f"metadata ask for {size}")

    # ---- The tokenizer ----

    def _token_bytes(self, tokens: list[str], kinds: list[int]) -> Iterator[bytes]:
        letters = byte_of_letter()
        for i, (token, kind) in enumerate(zip(tokens, kinds, strict=True)):
            if kind in (TOKEN_CONTROL, TOKEN_USER):
                yield token.encode("utf-8")
            elif kind == TOKEN_NORMAL and token and all(letter in letters for letter in token):
                yield bytes(letters[letter] for letter in token)
            else:
                raise Refusal(f"{self.path}: token {i}, {token!r} of type {kind}, is no text of "
                              "GPT-2's letters for bytes; only byte-level vocabularies are read")

    def _merges(self, tokens: list[str]) -> list[tuple[int, int, int]]:
        number = {token: i for i, token in enumerate(tokens)}
        merges = []
        for rank, merge in enumerate(self._get("tokenizer.ggml.merges")):
            left, _, right = merge.partition(" ")
            try:
                merges.append((number[left], number[right], number[left + right]))
            except KeyError as error:
                raise Refusal(f"{self.path}: merge {rank}, {merge!r}, needs a token "
                              f"{error.args[0]!r}, which the vocabulary lacks") from error
        pairs = {merge[:2] for merge in merges}
        if len(pairs) != len(merges):
            raise Refusal(f"{self.path}: two merges are of the same two tokens, so that their rank "
                          "is not defined")
        return merges

    def _id(self, name: str) -> int:
        value = int(self._get(f"tokenizer.ggml.{name}_token_id", NONE))
        if value != NONE and not 0 <= value < self.shape.vocabulary:
            raise self._refuse(f"tokenizer.ggml.{name}_token_id", value, "numbers of tokens")
        return value

    def _tokenizer(self) -> Tokenizer:
        kind, split = self._get("tokenizer.ggml.model"), self._get("tokenizer.ggml.pre")
        if kind != "gpt2":
            raise self._refuse("tokenizer.ggml.model", kind, "'gpt2', byte-level BPE")
        if split not in SPLITS:
            raise self._refuse("tokenizer.ggml.pre", split, " and ".join(map(repr, SPLITS)))
        if self._get("tokenizer.ggml.add_space_prefix", False):
            raise self._refuse("tokenizer.ggml.add_space_prefix", True, "False")
        tokens = self._get("tokenizer.ggml.tokens")
        kinds = self._get("tokenizer.ggml.token_type")
        if len(kinds) != len(tokens):
            raise self._refuse("tokenizer.ggml.token_type", f"{len(kinds)} types",
                               f"one for each of the {len(tokens)} tokens")
        if len(set(tokens)) != len(tokens):
            raise Refusal(f"{self.path}: two tokens are the same text")
        return Tokenizer(
            tokens=list(self._token_bytes(tokens, kinds)),
            special=[each in (TOKEN_CONTROL, TOKEN_USER) for each in kinds],
            merges=self._merges(tokens), split=SPLITS[split],
            add_begin=bool(self._get("tokenizer.ggml.add_bos_token", False)),
            begin=self._id("bos"), end=self._id("eos"), unknown=self._id("unknown"))
