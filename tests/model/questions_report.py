# SPDX-License-Identifier: Apache-2.0
"""What questions.py has measured: figures as JSON, tables, a picture."""
import argparse
import math
import os
import pathlib
import struct
import subprocess
import sys
from collections.abc import Sequence
from json import dumps
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "scripts")]
import draw  # noqa: E402
import intervals  # noqa: E402

Found = dict[str, Any]
WAYS = {
    "whole": "in one pass, without modules",
    "all": "a scaffold over all",
    "pairs": "scaffolds over pairs",
    "apart": "modules encoded apart",
    "order": "... in another order",
    "none": "the new text alone",
}


# ---- What the measurements say ----

def interval(middle: float, bounds: intervals.Interval, name: str = "mean") -> Found:
    """JSON has no infinity: of one place, null."""
    low, high = (None if math.isinf(bound) else bound for bound in bounds)
    return {name: middle, "low": low, "high": high}


def losses(line: Found, way: str) -> float:
    """Nats per judged token that this way loses at a place, beside one pass."""
    whole, other = line["ways"]["whole"]["log_p"], line["ways"][way]["log_p"]
    return intervals.mean([a - b for a, b in zip(whole, other, strict=True)])


def same(line: Found, way: str, beside: str = "whole") -> int:
    """Judged tokens of a place for which the best token is that of one pass, or of another way."""
    whole, other = line["ways"][beside]["best"], line["ways"][way]["best"]
    return sum(a == b for a, b in zip(whole, other, strict=True))


def right(line: Found, way: str) -> int:
    return sum(a == b for a, b in zip(line["judged"], line["ways"][way]["best"], strict=True))


def of_way(lines: list[Found], way: str) -> Found:
    lost = [losses(line, way) for line in lines]
    alone = [losses(line, "none") for line in lines]
    judged = [len(line["judged"]) for line in lines]
    loss = interval(intervals.mean(lost), intervals.of_mean(lost))
    agree = [same(line, way) for line in lines]
    log_p = [p for line in lines for p in line["ways"][way]["log_p"]]
    low, high = intervals.of_share(agree, judged)
    kept = intervals.of_ratio([a - b for a, b in zip(alone, lost, strict=True)], alone)
    return {
        "perplexity": math.exp(-intervals.mean(log_p)), "loss": loss,
        "ratio": {name: None if x is None else math.exp(x) for name, x in loss.items()},
        "best_right": sum(right(line, way) for line in lines),
        "best_same": {"n": sum(agree), "low": low, "high": high},
        "kept": interval((sum(alone) - sum(lost)) / sum(alone), kept) if sum(alone) else None,
    }


def of_difference(lines: list[Found], name: str, beside: str) -> Found:
    """Of the logits of two ways that differ by rounding alone."""
    each = [line["differ"][name] for line in lines]
    return {"logits": sum(x["logits"] for x in each), "other": sum(x["other"] for x in each),
            "places": sum(x["other"] > 0 for x in each),
            "largest": max(x["largest"] for x in each), "size": max(x["size"] for x in each),
            "best_same": sum(same(line, name, beside) for line in lines)}


def middle(numbers: Sequence[float]) -> Found:
    return interval(intervals.median(numbers), intervals.of_median(numbers), "median")


def of_times(lines: list[Found]) -> list[Found]:
    found = []
    for size in sorted({line["size"] for line in lines}):
        each = [line for line in lines if line["size"] == size]
        found.append({
            "tokens": round(intervals.median([line["tokens"] for line in each])),
            "places": len(each),
            "without": middle([line["without"] for line in each]),
            "cached": middle([line["cached"] for line in each]),
            "ratio": middle([line["without"] / line["cached"] for line in each])})
    return found


def of_limit(times: list[Found]) -> Found | None:
    """Lines through the medians: seconds without a cache are n (compute + attend n), with one
    question + load n."""
    if len(times) < 3:
        return None
    compute, attend = intervals.line([(t["tokens"], t["without"]["median"] / t["tokens"])
                                      for t in times])
    question, load = intervals.line([(t["tokens"], t["cached"]["median"]) for t in times])
    return {"compute": compute, "attend": attend, "question": question, "load": load}


def summary(asked: Found, lines: list[Found], times: list[Found]) -> Found:
    found: Found = {"asked": asked, "places": None, "times": of_times(times)}
    found["limit"] = of_limit(found["times"])
    if lines:
        kinds = [line["kind"] for line in lines]
        found["places"] = {
            "n": len(lines), "kinds": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
            "judged": sum(len(line["judged"]) for line in lines),
            "ways": {way: of_way(lines, way) for way in WAYS},
            "order": of_difference(lines, "order", "apart"),
            "all": of_difference(lines, "all", "whole"),
            "list": [{"place": line["place"], "text": line["text"],
                      "loss": {way: round(losses(line, way), 6) for way in WAYS if way != "whole"},
                      "same": {way: same(line, way) for way in WAYS if way != "whole"}}
                     for line in lines]}
    return found


# ---- As tables ----

def between(x: Found, form: str, name: str = "mean") -> str:
    if x["low"] is None:
        return format(x[name], form)
    return f"{x[name]:{form}} ({x['low']:{form}} to {x['high']:{form}})"


def percent(x: Found, n: int) -> str:
    return f"{100 * x['n'] / n:.1f} ({100 * x['low']:.1f} to {100 * x['high']:.1f})"


def of_quality(p: Found) -> str:
    rows = []
    for way, words in WAYS.items():
        found = p["ways"][way]
        rows.append([words, f"{found['perplexity']:.2f}",
                     "1" if way == "whole" else between(found["ratio"], ".3f"),
                     "" if way == "whole" else percent(found["best_same"], p["judged"]),
                     f"{100 * found['best_right'] / p['judged']:.1f}"])
    return draw.markdown(["new text is predicted from", "perplexity", "ratio to one pass",
                          "same best token, %", "right, %"], rows)


def of_bits(name: str, x: Found, p: Found) -> str:
    return (f"{name}: {100 * x['other'] / x['logits']:.1f} % of {x['logits']:,} logits\n"
            f"have other bits, at {x['places']} of {p['n']} places. The largest difference is "
            f"{x['largest']:.2g}, and logits are\nup to {x['size']:.3g}. The best token is the "
            f"same for {x['best_same']:,} of {p['judged']:,}.\n")


def of_seconds(times: list[Found]) -> str:
    n = sum(t["places"] for t in times)
    return f"Times to first token at {n} places: medians, and 95 % in brackets.\n\n" + \
        draw.markdown(
            ["tokens of the module", "not cached, s", "cached, s", "ratio", "places"],
            [[str(t["tokens"]), between(t["without"], ".2f", "median"),
              between(t["cached"], ".3f", "median"), between(t["ratio"], ".1f", "median"),
              str(t["places"])] for t in times])


def markdown(found: Found) -> str:
    parts = []
    p = found["places"]
    if p is not None:
        kinds = ", ".join(f"{n} of kind {kind}" for kind, n in p["kinds"].items())
        a = found["asked"]
        parts += [f"{p['n']} places ({kinds}), seed {a['seed']}:\n{a['modules']} modules of "
                  f"{a['tokens']} tokens, and {a['judged']} judged tokens behind them. "
                  "In brackets: 95 %.\n", of_quality(p),
                  of_bits("Another order of the modules", p["order"], p) + "\n" +
                  of_bits("A scaffold over all modules, beside one pass", p["all"], p)]
    if found["times"]:
        parts.append(of_seconds(found["times"]))
    limit = found["limit"]
    if limit is not None:
        parts.append(
            "Through the medians, with n tokens of modules:\n\n"
            f"    not cached   n ({1e3 * limit['compute']:.3g} + {1e6 * limit['attend']:.3g} n / "
            "1000) ms\n"
            f"    cached       {1e3 * limit['question']:.3g} + {1e3 * limit['load']:.3g} n ms\n")
    return "\n".join(parts)


# ---- As a picture ----

HEIGHT, TOP, WIDTH = 260, 60, 330
SHOWN = ("all", "pairs", "apart", "order")


def picture_of_losses(left: int, p: Found) -> list[str]:
    """A dot for each place, and the mean of all with its interval."""
    dots = {way: [place["loss"][way] for place in p["list"]] for way in SHOWN}
    ends: list[float] = [x for each in dots.values() for x in each] + [0.0]
    low, high = min(ends), max(ends)
    span = (high - low) or 1.0

    def place(x: float) -> float:
        return left + WIDTH * (x - low) / span
    title = "nats per token lost beside one pass, at each place"
    parts = [draw.text(left, TOP - 24, title, "small")]
    step = HEIGHT / len(SHOWN)
    parts.append(f'<line x1="{place(0):.1f}" x2="{place(0):.1f}" y1="{TOP - 10}" '
                 f'y2="{TOP + HEIGHT}" class="grid" style="stroke: {draw.GREY}"/>')
    for tick in (low, 0.0, high):
        parts.append(draw.text(place(tick), TOP + HEIGHT + 18, f"{tick:.2f}", "small", "middle"))
    for row, way in enumerate(SHOWN):
        y, colour = TOP + step * (row + 0.5), draw.COLOURS[row]
        parts.append(draw.text(left - 12, y + 4, WAYS[way].lstrip(". "), "small", "end"))
        for i, x in enumerate(dots[way]):
            parts.append(f'<circle cx="{place(x):.1f}" cy="{y + (i * 7 % 23) - 11:.1f}" r="2" '
                         f'fill="{colour}" fill-opacity="0.45"/>')
        loss = p["ways"][way]["loss"]
        for bound in (loss["low"], loss["mean"], loss["high"]):
            if bound is not None:
                parts.append(f'<line x1="{place(bound):.1f}" x2="{place(bound):.1f}" '
                             f'y1="{y - 17:.1f}" y2="{y + 17:.1f}" stroke="#1c2430" '
                             f'stroke-width="{2 if bound == loss["mean"] else 1}"/>')
    return parts


def end_of(x: Found, end: str) -> float:
    """Of the interval of a median, where there is one."""
    bound = x["median"] if x[end] is None else x[end]
    return float(bound)


def picture_of_times(left: int, times: list[Found]) -> list[str]:
    """The ratio by the tokens of the module, both axes logarithmic."""
    ticks = [10, 20, 50, 100, 200, 500]
    most = next((tick for tick in ticks if tick >= max(end_of(t["ratio"], "high") for t in times)),
                1000)
    low, high = 0.0, math.log(most / 5)
    first, last = (math.log(times[i]["tokens"]) for i in (0, -1))

    def place(n: int, ratio: float) -> tuple[float, float]:
        return (left + WIDTH * (math.log(n) - first) / ((last - first) or 1),
                TOP + HEIGHT * (1 - (math.log(max(ratio, 5) / 5) - low) / (high - low)))
    parts = [draw.text(left, TOP - 24, "time to first token: not cached / cached", "small")]
    for tick in [tick for tick in [5, *ticks] if tick <= most]:
        y = place(times[0]["tokens"], tick)[1]
        parts += [f'<line x1="{left}" x2="{left + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>',
                  draw.text(left - 8, y + 4, str(tick), "small", "end")]
    points = []
    for t in times:
        x, y = place(t["tokens"], t["ratio"]["median"])
        points.append(f"{x:.1f},{y:.1f}")
        low_y, high_y = (place(t["tokens"], end_of(t["ratio"], end))[1] for end in ("low", "high"))
        parts += [f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low_y:.1f}" y2="{high_y:.1f}" '
                  f'stroke="{draw.COLOURS[0]}"/>',
                  f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{draw.COLOURS[0]}"/>',
                  draw.text(x, TOP + HEIGHT + 18, str(t["tokens"]), "small", "middle")]
    parts.append(f'<polyline points="{" ".join(points)}" class="curve" '
                 f'stroke="{draw.COLOURS[0]}"/>')
    return [*parts, draw.text(left + WIDTH / 2, TOP + HEIGHT + 36, "tokens of the module", "small",
                              "middle")]


def picture(found: Found) -> str:
    parts = [draw.text(20, 26, "Cached inference on a language model", "title")]
    left = 200
    if found["places"] is not None:
        parts += picture_of_losses(left, found["places"])
        left += WIDTH + 90
    if found["times"]:
        parts += picture_of_times(left, found["times"])
        left += WIDTH + 40
    return draw.svg(left, TOP + HEIGHT + 60, parts)


# ---- Files ----

def json_of(found: Found) -> str:
    """A line for each place."""
    if found["places"] is None:
        return dumps(found, indent=1) + "\n"
    lines = ",\n".join("   " + dumps(place) for place in found["places"]["list"])
    short = {**found, "places": {**found["places"], "list": "LIST"}}
    return dumps(short, indent=1).replace('"LIST"', f"[\n{lines}\n  ]") + "\n"


def write_new(path: pathlib.Path, text: str) -> None:
    """The old file stays until the new one is complete."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def checksum_of(weights: str) -> str:
    """The CRC-32 that the weights file has of itself (FILE-5): which model it was."""
    with open(weights, "rb") as file:
        return f"{struct.unpack_from('<I', file.read(28), 24)[0]:08x}"


def write(out: pathlib.Path, asked: argparse.Namespace, lines: list[Found],
          times: list[Found]) -> None:
    if not lines and not times:
        return
    settings = {name: getattr(asked, name) for name in
                ("places", "modules", "tokens", "judged", "seed", "rounds", "threads", "exact")}
    settings["model"] = os.path.basename(asked.weights)
    settings["checksum"] = checksum_of(asked.weights)
    settings["version"] = subprocess.run([asked.command, "--version"], check=True, text=True,
                                         capture_output=True).stdout.strip()
    found = summary(settings, lines, times)
    write_new(out / "questions.json", json_of(found))
    write_new(out / "questions.md", markdown(found))
    write_new(out / "questions.svg", picture(found))
    print(markdown(found), end="")
