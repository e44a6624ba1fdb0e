# SPDX-License-Identifier: Apache-2.0
"""A decoder in numpy, in binary64, from a weights file: independent of the reference in C, of the
converter and of its reader. It computes all tokens at once, without a cache."""
import dataclasses
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

Numbers = Any
At = Callable[[str, Numbers], Numbers]  # what is at a place: returned as it is, or changed


@dataclasses.dataclass(frozen=True)
class Prompt:
    """Tokens, where each stands, and which others it sees: sees[i][j]. None: one text, from
    position 0 on, in which a token sees itself and those before it."""
    tokens: list[int]
    positions: list[int] | None = None
    sees: Numbers = None

    def places(self) -> Numbers:
        return np.array(range(len(self.tokens)) if self.positions is None else self.positions)

    def hidden(self) -> Numbers:
        n = len(self.tokens)
        return np.triu(np.ones((n, n), bool), 1) if self.sees is None else ~self.sees


class Decoder:
    """The offsets are those of spec/weights.md, written down once more."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            head = file.read(192)
            (self.layers, self.width, self.heads, self.kv, self.dim, self.hidden, self.vocabulary,
             _) = struct.unpack_from("<8I", head, 32)
            self.distance, self.rotary, self.tied = struct.unpack_from("<3I", head, 76)
            self.base, self.epsilon = struct.unpack_from("<2d", head, 88)
            n_tensors, directory = struct.unpack_from("<I4xQ", head, 112)
            file.seek(directory)
            entries = file.read(96 * n_tensors)
        self.path = path
        self.place = {}
        for i in range(n_tensors):
            name, rows, columns, offset = struct.unpack_from("<56s8x3Q", entries, 96 * i)
            self.place[name.rstrip(b"\0").decode()] = (rows, columns, offset)

    def tensor(self, name: str) -> Numbers:
        rows, columns, offset = self.place[name]
        return np.fromfile(self.path, "<f4", rows * columns, offset=offset) \
            .reshape(rows, columns).astype(np.float64)

    def inverse_norm(self, x: Numbers) -> Numbers:
        return 1.0 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + self.epsilon)

    def pairs(self) -> tuple[Numbers, Numbers]:
        """The two numbers of each pair: neighbours, or `distance` apart. And its frequency."""
        pairs = np.arange(self.rotary // 2)
        first = 2 * pairs if self.distance == 1 else pairs
        return first, self.base ** (-2.0 * pairs / self.rotary)

    def rotate(self, x: Numbers, places: Numbers) -> Numbers:
        """x: [...][tokens][heads][dim]."""
        first, frequency = self.pairs()
        turn = np.exp(1j * places[:, None] * frequency)[:, None, :]
        turned = (x[..., first] + 1j * x[..., first + self.distance]) * turn
        out = x.copy()
        out[..., first], out[..., first + self.distance] = turned.real, turned.imag
        return out

    def over_group(self, x: Numbers) -> Numbers:
        """A K/V head for each of the query heads that it serves."""
        return np.repeat(x, self.heads // self.kv, axis=1)

    def attention(self, x: Numbers, layer: str, prompt: Prompt, at: At) -> Numbers:
        n, places = len(x), prompt.places()
        q = at(layer + "query", x @ self.tensor(layer + "query").T).reshape(n, -1, self.dim)
        k = at(layer + "key", x @ self.tensor(layer + "key").T).reshape(n, -1, self.dim)
        v = at(layer + "value", x @ self.tensor(layer + "value").T).reshape(n, -1, self.dim)
        q = at(layer + "query turned", self.rotate(q, places))
        k = self.over_group(at(layer + "key turned", self.rotate(k, places)))
        scores = at(layer + "scores", np.einsum("ihd,jhd->hij", q, k) / np.sqrt(self.dim))
        scores[:, prompt.hidden()] = -np.inf
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = at(layer + "weights", weights / weights.sum(axis=-1, keepdims=True))
        out = at(layer + "out", np.einsum("hij,jhd->ihd", weights, self.over_group(v)))
        return at(layer + "mix", out.reshape(n, -1) @ self.tensor(layer + "mix").T)

    def network(self, x: Numbers, layer: str, at: At) -> Numbers:
        gate = at(layer + "gate", x @ self.tensor(layer + "gate").T)
        up = at(layer + "up", x @ self.tensor(layer + "up").T)
        inner = at(layer + "inner", gate / (1.0 + np.exp(-gate)) * up)
        return at(layer + "down", inner @ self.tensor(layer + "down").T)

    def logits(self, tokens: list[int] | Prompt, at: At = lambda place, x: x) -> Numbers:
        """[tokens][vocabulary]. at sees, and may change, what is computed at each place."""
        prompt = tokens if isinstance(tokens, Prompt) else Prompt(tokens)

        def norm(name: str) -> Numbers:
            return at(name, x * self.inverse_norm(x) * self.tensor(name)[0])
        x = self.tensor("embedding")[prompt.tokens]
        for i in range(self.layers):
            layer = f"layer.{i}."
            at(layer + "begin", x)
            x = x + self.attention(norm(layer + "attention_norm"), layer, prompt, at)
            x = at(layer + "middle", x)
            x = at(layer + "end", x + self.network(norm(layer + "network_norm"), layer, at))
        return norm("norm") @ self.tensor("embedding" if self.tied else "output").T

    def perplexity(self, tokens: list[int], window: int) -> float:
        found: list[float] = []
        for begin in range(0, len(tokens), window):
            part = tokens[begin:begin + window]
            logits = self.logits(part)
            most = logits.max(axis=1, keepdims=True)
            log_p = logits - most - np.log(np.exp(logits - most).sum(axis=1, keepdims=True))
            found += [float(log_p[i, part[i + 1]]) for i in range(len(part) - 1)]
        return float(np.exp(-np.mean(found)))

    def greedy(self, tokens: list[int], n: int) -> list[int]:
        made = list(tokens)
        for _ in range(n):
            made.append(int(self.logits(made)[-1].argmax()))
        return made[len(tokens):]
