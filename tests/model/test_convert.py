#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The converter: its numbers, what it refuses, and that nothing is lost.

    tests/model/test_convert.py      exit status 0, 1; 77: a package is missing

CHUNKPROOF_PACKAGE is the folder with the package chunkproof, default python/.
"""
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable
from typing import Any

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import numpy as np
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants
    from make_tiny import PACKAGE, write_gguf  # which finds the package chunkproof, too
except ImportError as error:
    print(f"test_convert: {error.name} is missing; install gguf, numpy and tokenizers with pip")
    sys.exit(77)
from chunkproof import convert, weights  # noqa: E402
from chunkproof.stored import VALUES, as_float32  # noqa: E402
from chunkproof.refusal import Refusal  # noqa: E402
from chunkproof.source import Source  # noqa: E402

Change = Callable[[list[str], dict[str, Any], dict[str, Any], dict[str, Any]], None]


class Numbers(unittest.TestCase):
    """FILE-7."""

    def stored(self, kind: GGMLQuantizationType, n: int) -> Any:
        """Random bytes as blocks, with scales of binary16 that are finite."""
        _, size = GGML_QUANT_SIZES[kind]
        blocks = np.random.default_rng(int(kind)).integers(0, 256, (n, size), dtype=np.uint8)
        for at in {"Q4_0": (0,), "Q4_1": (0, 2), "Q8_0": (0,), "Q6_K": (208,)}[kind.name]:
            blocks[:, at + 1] &= 0xBB  # an exponent that is not the largest
        return blocks

    def test_blocks_have_the_values_that_gguf_gives_them(self) -> None:
        for kind in (GGMLQuantizationType.Q4_0, GGMLQuantizationType.Q4_1,
                     GGMLQuantizationType.Q8_0, GGMLQuantizationType.Q6_K):
            blocks = self.stored(kind, 500)
            ours, _ = as_float32(kind, "t", blocks)
            theirs = quants.dequantize(blocks, kind).astype(np.float32).reshape(-1)
            self.assertTrue((ours == theirs).all(), kind.name)

    def test_plain_numbers_stay(self) -> None:
        numbers = np.array([0.0, -1.5, 3e-8, 65504.0], np.float32)
        ours, rounded = as_float32(GGMLQuantizationType.F32, "t", numbers.view(np.uint8))
        self.assertTrue((ours == numbers).all() and rounded == 0)
        half = numbers.astype(np.float16)
        ours, rounded = as_float32(GGMLQuantizationType.F16, "t", half.view(np.uint8))
        self.assertTrue((ours == half.astype(np.float32)).all() and rounded == 0)
        bits = np.array([0x3FC0, 0xC2F7], np.uint16)
        ours, rounded = as_float32(GGMLQuantizationType.BF16, "t", bits.view(np.uint8))
        self.assertEqual((ours.tolist(), rounded), ([1.5, -123.5], 0))

    def test_q8_0_is_exact(self) -> None:
        """11 bits times 8 bits: all scales, and the largest numbers."""
        scales = np.arange(0x10000, dtype=np.uint16)
        scales = scales[(scales & 0x7C00) != 0x7C00]
        blocks = np.zeros((len(scales), 34), np.uint8)
        blocks[:, :2] = scales.view(np.uint8).reshape(-1, 2)
        blocks[:, 2:] = np.arange(96, 128, dtype=np.uint8)
        self.assertEqual(as_float32(GGMLQuantizationType.Q8_0, "t", blocks)[1], 0)

    def test_a_sum_that_binary32_lacks_is_rounded_and_counted(self) -> None:
        """d = 1, m = 2^-24: with q = 0 the sum is exact, with 1 to 15 it needs 25 bits or more."""
        block = np.zeros((1, 20), np.uint8)
        block[0, :4] = np.array([1.0, 2.0 ** -24], np.float16).view(np.uint8)
        block[0, 4:] = np.arange(16)
        ours, rounded = as_float32(GGMLQuantizationType.Q4_1, "t", block)
        self.assertEqual(rounded, 15)
        self.assertEqual(ours[0], 2.0 ** -24)
        self.assertEqual(ours[1], 1.0)  # a tie, to even

    def test_an_infinite_scale_is_refused(self) -> None:
        block = np.zeros((1, 34), np.uint8)
        block[0, :3] = (0x00, 0x7C, 1)
        with self.assertRaisesRegex(Refusal, "tensor t .* not finite"):
            as_float32(GGMLQuantizationType.Q8_0, "t", block)

    def test_other_types_are_refused_by_name(self) -> None:
        read = {"F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q6_K"}  # of FILE-7
        self.assertEqual({kind.name for kind in VALUES}, read)
        for kind in GGMLQuantizationType:
            if kind.name not in read:
                with self.assertRaisesRegex(Refusal, f"tensor t .* {kind.name}.*Q8_0"):
                    as_float32(kind, "t", np.zeros((1, 256), np.uint8))


class Models(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.model = os.path.join(self.folder.name, "model.gguf")
        self.out = os.path.join(self.folder.name, "out")

    def refused(self, words: str, change: Change) -> None:
        """FILE-8."""
        write_gguf(self.model, change)
        with self.assertRaisesRegex(Refusal, words):
            convert.convert(self.model, self.out)
        self.assertEqual(os.listdir(self.folder.name), ["model.gguf"])

    def test_the_kept_file_is_what_the_converter_writes(self) -> None:
        write_gguf(self.model)
        convert.convert(self.model, self.out)
        with open(self.out, "rb") as made, \
                open(os.path.join(ROOT, "tests", "golden", "model", "tiny.weights"), "rb") as kept:
            self.assertEqual(made.read(), kept.read())

    def test_the_file_has_its_checksum_and_its_size(self) -> None:
        write_gguf(self.model)
        convert.convert(self.model, self.out)
        with open(self.out, "rb") as file:
            data = file.read()
        self.assertEqual(struct.unpack_from("<Q", data, 16)[0], len(data))
        self.assertEqual(struct.unpack_from("<I", data, 24)[0], weights.checksum_of(self.out))

    def test_keys_that_change_the_model_are_refused(self) -> None:
        wrong: dict[str, Any] = {
            "llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": 8.0,
            "llama.rope.scale_linear": 4.0, "llama.expert_count": 8,
            "llama.expert_used_count": 2, "llama.attention.sliding_window": 4096,
            "llama.attention.causal": False, "llama.attention.scale": 0.125,
            "llama.attention.clamp_kqv": 8.0, "llama.use_parallel_residual": True,
            "llama.embedding_scale": 12.0, "llama.residual_scale": 0.25,
            "llama.attention.value_length": 16, "llama.rope.dimension_count": 7,
            "llama.attention.head_count_kv": 3, "llama.block_count": 0,
            "llama.vocab_size": 315, "llama.embedding_length": 33, "llama.logit_scale": 0.5,
            "llama.attention.layer_norm_rms_epsilon": 0.0, "llama.rope.freq_base": -1.0,
            "llama.something_new": 1, "tokenizer.ggml.model": "llama",
            "tokenizer.ggml.pre": "llama-bpe", "tokenizer.ggml.add_space_prefix": True,
            "tokenizer.ggml.bos_token_id": 316}
        for key, value in wrong.items():
            def change(_a: list[str], keys: dict[str, Any], _l: Any, _t: Any, key: str = key,
                       value: Any = value) -> None:
                keys[key] = value
            with self.subTest(key):
                self.refused(key, change)

    def test_harmless_keys_are_taken(self) -> None:
        def change(_a: list[str], keys: dict[str, Any], _l: Any, _t: Any) -> None:
            keys |= {"llama.rope.scaling.type": "none", "llama.expert_count": 0}
        write_gguf(self.model, change)
        self.assertIn("2 layers", convert.convert(self.model, self.out))

    def test_another_architecture_is_refused_by_name(self) -> None:
        for other in ("gpt2", "llama4", "mllama", "LLAMA", "qwen2"):
            def change(architecture: list[str], _k: Any, _l: Any, _t: Any,
                       other: str = other) -> None:
                architecture[0] = other
            with self.subTest(other):
                self.refused(f"general.architecture is '{other}'", change)

    def test_tensors_that_are_more_or_missing_or_of_another_shape_are_refused(self) -> None:
        for name in ("blk.1.attn_q.bias", "blk.0.ffn_gate_inp.weight", "blk.0.attn_q_norm.weight",
                     "blk.2.attn_q.weight", "rope_freqs.weight", "output.bias"):
            def more(_a: Any, _k: Any, _l: Any, tensors: dict[str, Any], name: str = name) -> None:
                tensors[name] = ((32,), None)
            with self.subTest(name):
                self.refused(name, more)

        def less(_a: Any, _k: Any, _l: Any, tensors: dict[str, Any]) -> None:
            del tensors["blk.1.ffn_up.weight"]
        self.refused("blk.1.ffn_up.weight is missing", less)

        def other(_a: Any, _k: Any, _l: Any, tensors: dict[str, Any]) -> None:
            tensors["blk.0.attn_k.weight"] = ((32, 32), None)
        self.refused(r"blk.0.attn_k.weight has the shape \(32, 32\)", other)

        def kind(_a: Any, _k: Any, _l: Any, tensors: dict[str, Any]) -> None:
            tensors["blk.0.ffn_gate.weight"] = ((32, 32), GGMLQuantizationType.Q5_1)
        self.refused("blk.0.ffn_gate.weight is of the type Q5_1", kind)

    def test_vocabularies_that_are_no_bytes_are_refused(self) -> None:
        def letter(_a: Any, _k: Any, lists: dict[str, Any], _t: Any) -> None:
            lists["tokenizer.ggml.tokens"][20] = "\u4e16"
        self.refused("token 20", letter)

        def empty(_a: Any, _k: Any, lists: dict[str, Any], _t: Any) -> None:
            lists["tokenizer.ggml.tokens"][20] = ""
        self.refused("token 20, ''", empty)

        for number in (0, 2, 5, 6, 7):  # undefined, unknown, unused, of a byte; and no type
            def unused(_a: Any, _k: Any, lists: dict[str, Any], _t: Any,
                       number: int = number) -> None:
                lists["tokenizer.ggml.token_type"][20] = number
            with self.subTest(number):
                self.refused(f"token 20, .* of type {number}", unused)

        def merge(_a: Any, _k: Any, lists: dict[str, Any], _t: Any) -> None:
            lists["tokenizer.ggml.merges"][4] = "q q"
        self.refused("merge 4, 'q q', needs a token 'qq'", merge)

        def twice(_a: Any, _k: Any, lists: dict[str, Any], _t: Any) -> None:
            lists["tokenizer.ggml.merges"][4] = lists["tokenizer.ggml.merges"][3]
        self.refused("two merges are of the same two tokens", twice)

        def same(_a: Any, _k: Any, lists: dict[str, Any], _t: Any) -> None:
            lists["tokenizer.ggml.tokens"][20] = lists["tokenizer.ggml.tokens"][21]
        self.refused("two tokens are the same text|needs a token", same)

        def kinds(_a: Any, _k: Any, lists: dict[str, Any], _t: Any) -> None:
            lists["tokenizer.ggml.token_type"].pop()
        self.refused("token_type", kinds)

    def test_tokens_of_users_are_special(self) -> None:
        """TOKEN-1. Their text is UTF-8, as that of control tokens is, and no letters for bytes."""
        def change(_a: Any, _k: Any, lists: dict[str, Any], _t: Any) -> None:
            lists["tokenizer.ggml.tokens"][2] = "<\u4e16>"
            lists["tokenizer.ggml.token_type"][2] = 4
        write_gguf(self.model, change)
        tokenizer = Source(self.model).tokenizer
        self.assertEqual(tokenizer.tokens[2], b"<\xe4\xb8\x96>")
        self.assertEqual(tokenizer.special, [True] * 3 + [False] * (len(tokenizer.tokens) - 3))

    def test_an_output_of_its_own_is_written(self) -> None:
        def change(_a: Any, _k: Any, _l: Any, tensors: dict[str, Any]) -> None:
            tensors["output.weight"] = ((316, 32), None)
        write_gguf(self.model, change)
        convert.convert(self.model, self.out)
        self.assertFalse(Source(self.model).shape.tied)
        with open(self.out, "rb") as file:
            self.assertEqual(struct.unpack_from("<I", file.read(192), 84)[0], 0)

    def test_files_that_are_cut_off_are_refused(self) -> None:
        write_gguf(self.model)
        with open(self.model, "rb") as file:
            data = file.read()
        for n in (0, 3, 4, 20, 100, 3000, len(data) // 2, len(data) - 1):
            with open(self.model, "wb") as cut:
                cut.write(data[:n])
            with self.subTest(n), self.assertRaises(Refusal):
                convert.convert(self.model, self.out)
        self.assertEqual(os.listdir(self.folder.name), ["model.gguf"])

    def test_the_old_file_stays_when_the_new_one_fails(self) -> None:
        with open(self.out, "wb") as old:
            old.write(b"old")

        def kind(_a: Any, _k: Any, _l: Any, tensors: dict[str, Any]) -> None:
            tensors["blk.1.ffn_gate.weight"] = ((32, 32), GGMLQuantizationType.Q5_0)
        write_gguf(self.model, kind)
        self.assertEqual(convert.main([self.model, self.out]), 2)
        with open(self.out, "rb") as file:
            self.assertEqual(file.read(), b"old")
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["model.gguf", "out"])

    def test_bad_use_has_status_2(self) -> None:
        write_gguf(self.model)
        self.assertEqual(convert.main([self.model, self.model]), 2)
        self.assertEqual(convert.main([self.out, self.out + "2"]), 2)
        self.assertEqual(convert.main([self.model, os.path.join(self.out, "no", "such")]), 2)
        with self.assertRaises(SystemExit) as stopped:
            convert.main([self.model])
        self.assertEqual(stopped.exception.code, 2)

    def test_what_cannot_be_said_has_status_2(self) -> None:
        write_gguf(self.model)
        for words, to in (([self.out + "2", self.out], "2>&-"), ([], "2>&-"),
                          ([self.out + "2", self.out], "2>/dev/full"),
                          ([self.model, self.out], ">&- 2>&-"),
                          ([self.model, self.out], ">/dev/full")):
            line = f'exec "$0" -m chunkproof.convert "$@" {to}'
            run = subprocess.run(["sh", "-c", line, sys.executable, *words], check=False,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env={**os.environ, "PYTHONPATH": PACKAGE})
            self.assertEqual((run.returncode, run.stdout), (2, b""), (words, to))


if __name__ == "__main__":
    unittest.main()
