# SPDX-License-Identifier: Apache-2.0
"""Tables as Markdown and pictures as SVG."""
import math
from collections.abc import Mapping, Sequence
from html import escape

COLOURS = ("#1f6fb4", "#c8501e", "#2d8a4e", "#8352a8", "#a07a10", "#b02a5b", "#4a5a6a")
GREY = "#667085"
STYLE = ("text { font: 13px system-ui, sans-serif; fill: #1c2430 } .small { font-size: 11px; "
         f"fill: {GREY} }} .title {{ font-size: 16px; font-weight: 600 }} "
         ".grid { stroke: #e4e7ec } .curve { fill: none; stroke-width: 1.8 }")


def svg(width: int, height: int, parts: list[str]) -> str:
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                      f'width="{width}" height="{height}">', f"<style>{STYLE}</style>",
                      f'<rect width="{width}" height="{height}" fill="#fff"/>', *parts, "</svg>\n"])


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start",
         colour: str = "") -> str:
    style = f' style="fill: {colour}"' if colour else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}"{style}>'
            f"{escape(words)}</text>")


def markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" + " ---: |" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def decades(values: Sequence[float]) -> list[float]:
    """The powers of ten from the one below the smallest to the one above the largest."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return [10.0 ** e for e in range(low, max(high, low + 1) + 1)]


def chart(left: float, title: str, points: Mapping[str, Sequence[tuple[float, float]]],
          logarithmic: bool = False) -> list[str]:
    """Curves: points = {name: [(x, y), ...]}. From 0 on, or both axes by decades."""
    if not points:
        return []
    width, top, height = 300, 60, 290
    xs = sorted({x for curve in points.values() for x, _ in curve})
    ys = [y for curve in points.values() for _, y in curve]
    x_ticks, y_ticks = (decades(xs), decades(ys)) if logarithmic else (xs,
            [max(ys) * i / 4 for i in range(5)])
    scale = math.log10 if logarithmic else float
    x_low, y_low = (scale(x_ticks[0]), scale(y_ticks[0])) if logarithmic else (xs[0], 0.0)
    x_span, y_span = scale(x_ticks[-1]) - x_low or 1, scale(y_ticks[-1]) - y_low or 1

    def place(x: float, y: float) -> tuple[float, float]:
        return left + width * (scale(x) - x_low) / x_span, top + height * (1 - (scale(y) - y_low) /
                y_span)

    parts = [text(left + width / 2, top + height + 36, title, "small", "middle")]
    for tick in y_ticks:
        y = place(x_ticks[0], tick)[1]
        parts += [f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>',
                  text(left - 6, y + 4, f"{tick:.3g}", "small", "end")]
    for tick in x_ticks:
        parts.append(text(place(tick, y_ticks[-1])[0], top + height + 18, f"{tick:g}", "small",
                          "middle"))
    ends = []
    for i, (name, curve) in enumerate(points.items()):
        places = [place(x, y) for x, y in sorted(curve)]
        colour = COLOURS[i % len(COLOURS)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{line}" class="curve" stroke="{colour}"/>')
        ends.append((places[-1][1], name, colour))
    lowest = -math.inf
    for y, name, colour in sorted(ends):  # names below each other, however near the curves end
        lowest = max(y + 4, lowest + 13)
        parts.append(text(left + width + 6, lowest, name, "small", "start", colour))
    return parts


def rows(left: float, title: str,
         points: Sequence[tuple[str, Mapping[str, tuple[float, float, float]]]],
         width: float = 420) -> list[str]:
    """A line for each row, points = [(row, {name: (least, median, most)})], by decades; 1 is
    marked."""
    if not points:
        return []
    top, step = 60, 22
    names = list(dict.fromkeys(name for _, series in points for name in series))
    ticks = decades([x for _, series in points for spread in series.values()
                     for x in spread] + [1.0])
    low, span = math.log10(ticks[0]), math.log10(ticks[-1]) - math.log10(ticks[0])

    def place(x: float) -> float:
        return left + width * (math.log10(x) - low) / span

    bottom = top + step * len(points)
    parts = [text(left + width / 2, bottom + 34, title, "small", "middle")]
    for tick in ticks:
        marked = f' style="stroke: {GREY}"' if tick == 1.0 else ""
        x = place(tick)
        parts += [f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 10}" y2="{bottom}" '
                  f'class="grid"{marked}/>',
                  text(x, bottom + 16, f"{tick:g}", "small", "middle")]
    for i, (row, series) in enumerate(points):
        y = top + step * (i + 0.5)
        parts.append(text(left - 10, y + 4, row, "small", "end"))
        for name, (least, median, most) in series.items():
            colour = COLOURS[names.index(name) % len(COLOURS)]
            parts += [f'<line x1="{place(least):.1f}" x2="{place(most):.1f}" '
                      f'y1="{y:.1f}" y2="{y:.1f}" '
                      f'class="curve" stroke="{colour}"/>',
                      f'<circle cx="{place(median):.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>']
    for i, name in enumerate(names):
        parts.append(text(left + width + 16, top + 8 + 18 * i, name, "small", "start",
                          COLOURS[i % len(COLOURS)]))
    return parts
