# SPDX-License-Identifier: Apache-2.0
"""A decoder in numpy, in binary64, from a weights file: independent of the reference in C, of the
converter and of its reader. It computes a window at once, without a cache."""
import struct
from typing import Any

import numpy as np

Numbers = Any


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

    def norm(self, x: Numbers, name: str) -> Numbers:
        return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + self.epsilon) * \
            self.tensor(name)[0]

    def rotate(self, x: Numbers) -> Numbers:
        """x: [tokens][heads][dim]. Pairs of neighbours, or of numbers `distance` apart."""
        pairs = self.rotary // 2
        angle = np.arange(len(x))[:, None] * self.base ** (-2.0 * np.arange(pairs) / self.rotary)
        turn = np.exp(1j * angle)[:, None, :]
        first = 2 * np.arange(pairs) if self.distance == 1 else np.arange(pairs)
        turned = (x[..., first] + 1j * x[..., first + self.distance]) * turn
        out = x.copy()
        out[..., first], out[..., first + self.distance] = turned.real, turned.imag
        return out

    def attention(self, x: Numbers, layer: str) -> Numbers:
        n = len(x)
        q = self.rotate((x @ self.tensor(layer + "query").T).reshape(n, self.heads, self.dim))
        k = self.rotate((x @ self.tensor(layer + "key").T).reshape(n, self.kv, self.dim))
        v = (x @ self.tensor(layer + "value").T).reshape(n, self.kv, self.dim)
        group = self.heads // self.kv
        scores = np.einsum("ihd,jhd->hij", q, np.repeat(k, group, axis=1)) / np.sqrt(self.dim)
        scores[:, np.triu(np.ones((n, n), bool), 1)] = -np.inf
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        out = np.einsum("hij,jhd->ihd", weights, np.repeat(v, group, axis=1))
        return out.reshape(n, -1) @ self.tensor(layer + "mix").T

    def logits(self, tokens: list[int]) -> Numbers:
        x = self.tensor("embedding")[tokens]
        for i in range(self.layers):
            layer = f"layer.{i}."
            x = x + self.attention(self.norm(x, layer + "attention_norm"), layer)
            y = self.norm(x, layer + "network_norm")
            gate = y @ self.tensor(layer + "gate").T
            x = x + (gate / (1.0 + np.exp(-gate)) * (y @ self.tensor(layer + "up").T)) @ \
                self.tensor(layer + "down").T
        return self.norm(x, "norm") @ self.tensor("embedding" if self.tied else "output").T

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
