# SPDX-License-Identifier: Apache-2.0
"""How far the logits of a decoder may be off, to first order, by the roundings of a format (LM-5).

Each number that a decoder rounds has an error, at most so large, which the format and the numbers
say. It moves a logit by the error times the logit's derivative; one pass backwards through the
layers gives the derivatives by all numbers.

                        y = norm(x)      q, k, v = W y      turned      scores      ...   logit
    numbers, forwards   ------------------------------------------------------------------->
    derivatives         <-------------------------------------------------------------------
    at each place       worst += sum of |derivative| error, squares += sum of (derivative error)^2

- worst: as if each rounding were as bad as it may be, and all had the worst signs. Always holds.
- likely: if roundings are independent and their mean is 0, a sum of them is beyond
  lambda sqrt(squares) with a probability of at most 2 exp(-lambda^2 / 2) (Hoeffding; for sums of n
  products sqrt(n) stands for n: Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019). It is some
  thousand times smaller, and tells a wrong format from rounding.

Products of two errors are left out in both. Of binary32, whose unit is 6e-8, they are far below the
rest; activations of 8 bits are bounded as far as the decoder is linear.

Where one rounding makes many numbers wrong by the same factor, as the sum under a norm does, their
derivatives are added before the magnitude is taken."""
import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from decoder import Decoder, Prompt

Numbers = Any
BLOCK = 32            # activations that share a scale of 8 bits
HALF = 2.0 ** -11     # the unit of binary16, in which the scale is stored
EXPONENTIAL = 4.0     # units that exp may be off by, relatively (FAST-2)
CHANCE = 1e-9         # that independent roundings bring any logit beyond what is likely


@dataclasses.dataclass(frozen=True)
class Format:
    """unit: of each operation, u below. angle: the unit in which the angles of rotations are
    computed, a product for each pair. minimums: None, or activations are rounded to 8 bits before
    each product with a matrix; then what its blocks of 32 weights have as their minimum, by name,
    or None for a type without. A minimum meets the sum of the block's activations, in binary16."""
    unit: float
    angle: float = 2.0 ** -53
    minimums: Callable[[str], Numbers | None] | None = None


BINARY64 = Format(2.0 ** -53)
BINARY32 = Format(2.0 ** -24)


@dataclasses.dataclass
class Bounds:
    """Of each wanted logit."""
    worst: Numbers
    squares: Numbers
    shared: Numbers  # by roundings that are no independent ones, in both bounds

    def at_unit(self, times: float) -> "Bounds":
        """As if the unit of each operation were so many times as large; for a format that does not
        round activations to 8 bits."""
        return Bounds((self.worst - self.shared) * times + self.shared,
                      self.squares * times * times, self.shared)

    def likely(self, chance: float) -> Numbers:
        """One logit is beyond it with at most this probability."""
        return math.sqrt(2.0 * math.log(2.0 / chance)) * np.sqrt(self.squares) + self.shared


class Backwards:
    """The derivatives of logits, from the last place to the first, and the sum of errors."""

    def __init__(self, decoder: Decoder, prompt: Prompt, wanted: list[tuple[int, int]],
                 how: Format) -> None:
        self.decoder, self.prompt, self.how, self.n = decoder, prompt, how, len(wanted)
        self.at: dict[str, Numbers] = {}
        self.derivatives: dict[str, Numbers] = {}  # by the numbers of each place
        decoder.logits(prompt, self.keep)
        self.bounds = Bounds(*(np.zeros(self.n) for _ in range(3)))
        self.angles = np.zeros((self.n, len(prompt.tokens), decoder.rotary // 2))
        self.rows = [row for row, _ in wanted]
        self.words = [token for _, token in wanted]

    def keep(self, place: str, x: Numbers) -> Numbers:
        self.at[place] = x
        return x

    def add(self, moved: Numbers, n: float) -> None:
        """moved: [logits][...], by which one rounding each moves them. n of them at each place."""
        moved = np.abs(moved).reshape(self.n, -1)
        self.bounds.worst += n * moved.sum(axis=1)
        self.bounds.squares += n * (moved * moved).sum(axis=1)

    def send(self, place: str, derivative: Numbers, rounding: Numbers, n: float) -> None:
        """Each number of the place may be off by n roundings, in any direction."""
        self.derivatives[place] = derivative
        self.add(derivative * rounding, n)

    def send_common(self, derivative: Numbers, x: Numbers, n: float) -> None:
        """All numbers of a last axis may be off by one factor, of n roundings."""
        self.add(self.how.unit * (derivative * x).sum(axis=-1), n)

    def product(self, name: str, place: str, derivative: Numbers, x: Numbers) -> Numbers:
        """y = W x, a sum of as many products as x has numbers; returns the derivative by x."""
        w = self.decoder.tensor(name)
        self.send(place, derivative, self.how.unit * (np.abs(x) @ np.abs(w).T), w.shape[1])
        back = derivative @ w
        if self.how.minimums is not None:
            self.activations(derivative, back, x, self.how.minimums(name))
        return back

    def activations(self, derivative: Numbers, back: Numbers, x: Numbers,
                    minimums: Numbers) -> None:
        """x is d q: d = the block's largest magnitude / 127, in binary16, and q an integer."""
        def in_blocks(numbers: Numbers) -> Numbers:
            return numbers.reshape(*numbers.shape[:-1], -1, BLOCK)
        blocks = in_blocks(x)
        half_step = np.abs(blocks).max(axis=-1, keepdims=True) / 254 * (1 + 2.0 ** -14)
        self.add(in_blocks(back) * half_step, 1)
        self.add(HALF * (in_blocks(back) * blocks).sum(axis=-1), 1)
        if minimums is not None:
            sums = np.abs(blocks.sum(axis=-1)) + BLOCK * half_step[..., 0]
            self.add(HALF * (derivative @ minimums) * sums, 2)

    def norm(self, name: str, derivative: Numbers, x: Numbers) -> Numbers:
        """y = x w / sqrt(mean of squares + epsilon): the sum is the same for all numbers of y."""
        y, weight, width = self.at[name], self.decoder.tensor(name)[0], x.shape[-1]
        self.send(name, derivative, self.how.unit * np.abs(y), 2)
        self.send_common(derivative, y, width / 2 + 4)
        inverse = self.decoder.inverse_norm(x)
        back = derivative * weight
        return back * inverse - x * inverse ** 3 * (back * x).mean(axis=-1, keepdims=True)

    def turn(self, place: str, derivative: Numbers, before: Numbers) -> Numbers:
        """A rotation, and its derivative by the angle, which all heads and layers share."""
        first, _ = self.decoder.pairs()
        second = first + self.decoder.distance
        unturned = self.decoder.rotate(derivative, -self.prompt.places())
        rounded = np.zeros(before.shape)
        rounded[..., first] = np.abs(before[..., first]) + np.abs(before[..., second])
        rounded[..., second] = rounded[..., first]
        self.send(place, derivative, self.how.unit * rounded, 4)
        self.angles += (unturned[..., second] * before[..., first] -
                        unturned[..., first] * before[..., second]).sum(axis=-2)
        return unturned

    def attention(self, layer: str, derivative: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """By q and k, turned, and v. A weight of n keys whose scores have the range R is off by
        u (R + 6 n) relatively, as LAYER-13 says, and by the error of its score."""
        model, u = self.decoder, self.how.unit
        q, weights = self.at[layer + "query turned"], self.at[layer + "weights"]
        k, n = model.over_group(self.at[layer + "key turned"]), len(self.prompt.tokens)
        v = model.over_group(self.at[layer + "value"].reshape(n, -1, model.dim))
        scores, scale = self.at[layer + "scores"], 1.0 / math.sqrt(model.dim)
        seen = ~self.prompt.hidden()
        n_keys = seen.sum(axis=-1)
        span = np.where(seen, scores, -np.inf).max(axis=-1) - \
            np.where(seen, scores, np.inf).min(axis=-1)
        of_score = scale * np.einsum("ihd,jhd->hij", np.abs(q), np.abs(k)) * seen
        summed = np.einsum("hij,jhd->ihd", weights, np.abs(v))
        self.send(layer + "out", derivative, u * summed, int(n_keys.max()) + 2)
        q, k, v, out = (x.swapaxes(-2, -3) for x in (q, k, v, derivative))  # [heads][tokens][dim]
        by_weight = (out @ v.swapaxes(-1, -2)) * weights
        by_score = by_weight - weights * by_weight.sum(axis=-1, keepdims=True)
        self.send(layer + "scores", by_score, u * of_score, model.dim + 3)
        self.add(u * by_score * (span + EXPONENTIAL)[..., None], 1)
        self.add(u * by_score, 6 * int(n_keys.max()))
        group = (self.n, n, model.kv, model.heads // model.kv, model.dim)
        turned = by_score.swapaxes(-1, -2)
        return (scale * (by_score @ k).swapaxes(-2, -3),
                scale * (turned @ q).swapaxes(-2, -3).reshape(group).sum(axis=3),
                (weights.swapaxes(-1, -2) @ out).swapaxes(-2, -3).reshape(group).sum(axis=3))

    def mix(self, layer: str, derivative: Numbers) -> Numbers:
        """The attention of a layer, from its norm on; returns the derivative by what it begins
        with."""
        n = len(self.prompt.tokens)
        out = self.at[layer + "out"]
        by_out = self.product(layer + "mix", layer + "mix", derivative, out.reshape(n, -1))
        q, k, v = self.attention(layer, by_out.reshape(self.n, *out.shape))
        heads = {"query": q, "key": k, "value": v}
        y, back = self.at[layer + "attention_norm"], 0.0
        for name, by in heads.items():
            before = self.at[layer + name].reshape(n, -1, self.decoder.dim)
            unturned = by if name == "value" else self.turn(f"{layer}{name} turned", by, before)
            back = back + self.product(layer + name, layer + name,
                                       unturned.reshape(self.n, n, -1), y)
        return self.norm(layer + "attention_norm", back, self.at[layer + "begin"])

    def network(self, layer: str, derivative: Numbers) -> Numbers:
        gate, up = self.at[layer + "gate"], self.at[layer + "up"]
        inner, y = self.at[layer + "inner"], self.at[layer + "network_norm"]
        by = self.product(layer + "down", layer + "down", derivative, inner)
        self.send(layer + "inner", by, self.how.unit * np.abs(inner), 5)
        self.add(EXPONENTIAL * self.how.unit * by * inner, 1)
        share = 1.0 / (1.0 + np.exp(-gate))
        back = self.product(layer + "gate", layer + "gate",
                            by * up * share * (1.0 + gate * (1.0 - share)), y) + \
            self.product(layer + "up", layer + "up", by * gate * share, y)
        return self.norm(layer + "network_norm", back, self.at[layer + "middle"])

    def run(self) -> Bounds:
        model, u = self.decoder, self.how.unit
        name = "embedding" if model.tied else "output"
        y = self.at["norm"][self.rows]
        derivative = np.zeros((self.n, *self.at["norm"].shape))
        derivative[np.arange(self.n), self.rows] = model.tensor(name)[self.words]
        rows = derivative[np.arange(self.n), self.rows]
        self.add(u * (np.abs(rows) * np.abs(y)).sum(axis=-1), model.width)
        if self.how.minimums is not None:
            minimums = self.how.minimums(name)
            for i, row in enumerate(self.rows):
                ones = np.zeros((self.n, 1, 1 if minimums is None else len(minimums)))
                ones[i, 0, self.words[i] if minimums is not None else 0] = 1.0
                back = np.zeros((self.n, 1, model.width))
                back[i, 0] = rows[i]
                self.activations(ones, back, self.at["norm"][row:row + 1], minimums)
        back = self.norm("norm", derivative, self.at[f"layer.{model.layers - 1}.end"])
        for i in reversed(range(model.layers)):
            layer = f"layer.{i}."
            self.send(layer + "end", back, u * np.abs(self.at[layer + "end"]), 1)
            back = back + self.network(layer, back)
            self.send(layer + "middle", back, u * np.abs(self.at[layer + "middle"]), 1)
            back = back + self.mix(layer, back)
        _, frequency = model.pairs()
        pairs = np.arange(len(frequency))
        units = 4 * pairs + 4 + math.log(model.base)
        angle = self.how.angle * units * frequency * self.prompt.places()[:, None]
        self.bounds.shared += np.abs(self.angles).reshape(self.n, -1) @ angle.reshape(-1)
        self.bounds.worst += self.bounds.shared
        return self.bounds


def bounds(decoder: Decoder, prompt: Prompt, wanted: list[tuple[int, int]],
           how: Format) -> Bounds:
    """For each wanted row and token, how far its logit may be off, to first order."""
    return Backwards(decoder, prompt, wanted, how).run()
