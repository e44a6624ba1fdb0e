#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of first_order.py on the small random decoder of tests/golden/model.

A derivative is right where a small error in its direction moves the logit by as much as it says. So
all numbers of a place are made wrong at once, each in the direction that its derivative gives, and
the logit must move by the sum."""
import math
import os
import pathlib
import sys
import unittest
from typing import Any

MODEL = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [os.environ.get("CHUNKPROOF_MODEL_TESTS", str(MODEL))]
try:
    import numpy as np
except ImportError as error:
    print(f"test_first_order: {error.name} is missing; scripts/deps-model installs it")
    sys.exit(77)
from decoder import Decoder, Prompt  # noqa: E402
from first_order import BINARY32, BLOCK, Backwards, Format, bounds  # noqa: E402

TINY = str(MODEL.parent / "golden" / "model" / "tiny.weights")
Numbers = Any
CHANCE = 1e-12


def modular() -> Prompt:
    """Two modules that do not see each other, with a gap between them, in the other order, and two
    tokens that see both."""
    owner = np.array([1] * 5 + [0] * 4 + [2] * 2)
    positions = [*range(9, 14), *range(4), 20, 21]
    before = np.subtract.outer(positions, positions) >= 0
    sees = before & ((owner[:, None] == owner) | (owner[:, None] == 2))
    return Prompt(list(range(3, 14)), positions, sees)


class InBinary32(Decoder):
    """Each number is of binary32, and each operation rounds to it; but angles are of binary64."""

    def tensor(self, name: str) -> Numbers:
        return super().tensor(name).astype(np.float32)


def with_blocks(place: str, x: Numbers) -> Numbers:
    """Activations of 8 bits before each product: blocks of 32 with a scale in binary16."""
    if not place.endswith(("norm", "out", "inner")):
        return x
    blocks = x.reshape(-1, BLOCK)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / 127
    rounded = np.round(blocks / np.where(scale == 0.0, 1.0, scale))
    return (scale.astype(np.float16).astype(np.float64) * rounded).reshape(x.shape)


class FirstOrder(unittest.TestCase):
    def setUp(self) -> None:
        self.decoder = Decoder(TINY)
        self.prompts = {"text": Prompt(list(range(40, 52))), "modules": modular()}

    def test_each_place_moves_a_logit_as_its_derivative_says(self) -> None:
        for name, prompt in self.prompts.items():
            wanted = [(len(prompt.tokens) - 1, 7), (len(prompt.tokens) - 3, 0)]
            exact = self.decoder.logits(prompt)
            backwards = Backwards(self.decoder, prompt, wanted, BINARY32)
            backwards.run()
            self.assertEqual(len(backwards.derivatives), 1 + 16 * self.decoder.layers)
            for place, derivative in backwards.derivatives.items():
                for i, (row, token) in enumerate(wanted):
                    self.check(prompt, exact, place, derivative[i], row, token, f"{name} {place}")

    def check(self, prompt: Prompt, exact: Numbers, place: str, derivative: Numbers, row: int,
              token: int, name: str) -> None:
        """Twice the step moves it by twice as much, so what is not linear is at most `curved`."""
        size = np.abs(derivative).sum()
        if size == 0.0:
            return
        moved = []
        for step in (1e-6, 2e-6):
            def wrong(at: str, x: Numbers, by: float = step) -> Numbers:
                return x + by * np.sign(derivative).reshape(x.shape) if at == place else x
            moved.append((self.decoder.logits(prompt, wrong) - exact)[row, token] / (step * size))
        curved = 2 * abs(moved[1] - moved[0]) + 1e-6
        self.assertLess(abs(moved[0] - 1.0), curved, name)
        self.assertLess(curved, 0.1, name)

    def test_roundings_add_up_in_both_ways(self) -> None:
        """Two places of 4 roundings each move one logit by 3 and -4 each, and another one by 0."""
        backwards = Backwards(self.decoder, self.prompts["text"], [(0, 0), (1, 0)], BINARY32)
        backwards.add(np.array([[3.0, -4.0], [0.0, 0.0]]), 4)
        found = backwards.bounds
        self.assertEqual(found.worst.tolist(), [28.0, 0.0])
        chance = 2.0 * math.exp(-2.0)  # lambda = 2
        self.assertAlmostEqual(found.likely(chance)[0], 2.0 * math.sqrt(4.0 * 25.0), places=12)
        backwards.add(np.array([[3.0, 4.0], [1.0, 1.0]]), 1)
        self.assertEqual(found.squares.tolist(), [125.0, 2.0])

    def share(self, prompt: Prompt, other: Numbers, how: Format) -> tuple[float, float]:
        """The largest difference from the exact logits, in units of each bound, over some rows."""
        exact = self.decoder.logits(prompt)
        wanted = [(row, token) for row in (1, len(exact) // 2, len(exact) - 1)
                  for token in range(0, exact.shape[1], 7)]
        found, at = bounds(self.decoder, prompt, wanted, how), tuple(np.array(wanted).T)
        apart = np.abs(other - exact)[at]
        return (apart / found.worst).max(), (apart / found.likely(CHANCE)).max()

    def test_binary32_is_within_both_bounds(self) -> None:
        for prompt in self.prompts.values():
            worst, likely = self.share(prompt, InBinary32(TINY).logits(prompt), BINARY32)
            self.assertLess(likely, 1.0)
            self.assertLess(worst, likely)
            self.assertGreater(likely, 0.002)  # or it would say nothing

    def test_keys_and_values_of_binary16_are_not(self) -> None:
        def halved(place: str, x: Numbers) -> Numbers:
            to_half = place.endswith(("key turned", "value"))
            return x.astype(np.float16).astype(np.float64) if to_half else x
        for prompt in self.prompts.values():
            self.assertGreater(self.share(prompt, self.decoder.logits(prompt, halved),
                                          BINARY32)[1], 1.0)

    def test_activations_of_8_bits_are_within_theirs(self) -> None:
        how = Format(2.0 ** -53, minimums=lambda name: None)
        for prompt in self.prompts.values():
            other = self.decoder.logits(prompt, with_blocks)
            worst, likely = self.share(prompt, other, how)
            self.assertLess(likely, 1.0)
            self.assertLess(worst, likely)
            self.assertGreater(self.share(prompt, other, BINARY32)[0], 1.0)


if __name__ == "__main__":
    unittest.main()
