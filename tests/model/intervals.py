# SPDX-License-Identifier: Apache-2.0
"""Confidence intervals for the questions that questions.py asks. test_questions.py has the tests.

Of a mean over places: the percentile bootstrap, from a fixed seed. Of a share of tokens: Wilson's
interval, or the bootstrap over places where that is wider, because tokens of one place are alike.
Of a median: the two of the numbers between which it lies, whatever their distribution.
"""
import math
import random
from collections.abc import Sequence

LEVEL = 0.95
NORMAL = 1.959963984540054  # of a normal number, 2.5 % lie above
RESAMPLES = 10000
SEED = 1
Interval = tuple[float, float]


def mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def quantile(ordered: Sequence[float], share: float) -> float:
    """Between the two nearest of numbers in order."""
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def median(numbers: Sequence[float]) -> float:
    return quantile(sorted(numbers), 0.5)


def of_ratio(above: Sequence[float], below: Sequence[float], seed: int = SEED,
             resamples: int = RESAMPLES) -> Interval:
    """Of the sum of one list by that of another: places are drawn, each with both its numbers."""
    draw, places = random.Random(seed), range(len(above))
    found = []
    for _ in range(resamples):
        drawn = draw.choices(places, k=len(above))
        divisor = math.fsum(below[i] for i in drawn)
        if divisor != 0:
            found.append(math.fsum(above[i] for i in drawn) / divisor)
    if not found:
        return -math.inf, math.inf
    found.sort()
    return quantile(found, (1 - LEVEL) / 2), quantile(found, (1 + LEVEL) / 2)


def of_mean(numbers: Sequence[float], seed: int = SEED, resamples: int = RESAMPLES) -> Interval:
    """Of one place nothing is known of how places differ."""
    if len(numbers) < 2:
        return -math.inf, math.inf
    return of_ratio(numbers, [1.0] * len(numbers), seed, resamples)


def wilson(right: int, n: int) -> Interval:
    """Of a share, where `right` of n were right, each independent of the others."""
    share, z2 = right / n, NORMAL * NORMAL
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = NORMAL * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return (middle - half if right > 0 else 0.0), (middle + half if right < n else 1.0)


def of_share(right: Sequence[int], n: Sequence[int]) -> Interval:
    """At each place, `right` of n tokens were right. The hull of both intervals."""
    tokens = wilson(sum(right), sum(n))
    if len(right) < 2:
        return tokens
    places = of_ratio(right, n)
    return min(tokens[0], places[0]), max(tokens[1], places[1])


def of_median(numbers: Sequence[float]) -> Interval:
    """Of independent numbers: the k-th from below and the k-th from above, with the largest k for
    which the median of their distribution lies between these with a probability of LEVEL. It does
    not where fewer than k of the numbers lie below it, or fewer than k above: each lies on either
    side with 1/2. Of five numbers or fewer nothing is that sure."""
    ordered, n = sorted(numbers), len(numbers)
    k, outside = 0, 2.0 ** (1 - n)  # for k + 1
    while k < n // 2 and outside <= 1 - LEVEL:
        k += 1
        outside += math.comb(n, k) * 2.0 ** (1 - n)
    return (ordered[k - 1], ordered[n - k]) if k > 0 else (-math.inf, math.inf)


def line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """(a, b) of y = a + b x with the least sum of squares of relative errors (y - a - b x) / y."""
    weights = [1 / (y * y) for _, y in points]
    w = math.fsum(weights)
    x0 = math.fsum(u * x for u, (x, _) in zip(weights, points, strict=True)) / w
    y0 = math.fsum(u * y for u, (_, y) in zip(weights, points, strict=True)) / w
    above = math.fsum(u * (x - x0) * (y - y0) for u, (x, y) in zip(weights, points, strict=True))
    below = math.fsum(u * (x - x0) ** 2 for u, (x, _) in zip(weights, points, strict=True))
    return y0 - above / below * x0, above / below
