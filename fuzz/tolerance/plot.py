#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tightness.csv and rules.csv of build/tolerance as Markdown and as pictures.

    fuzz/tolerance/plot.py [DIRECTORY]    writes tightness.md and .svg, rules.md and .svg there
"""
import csv
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "scripts"))
from draw import COLOURS, markdown, svg, text  # noqa: E402

Row: TypeAlias = dict[str, str]


def read(directory: str, name: str) -> list[Row]:
    with open(os.path.join(directory, name), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(directory: str, name: str, text: str) -> None:
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    print(path)


def in_order(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def thousands(length: str | int) -> str:
    return f"{int(length):,}"


# ---- Tightness ----

def tightness_markdown(rows: Sequence[Row]) -> str:
    lengths = in_order(row["length"] for row in rows)
    at = {(row["family"], row["length"]): row for row in rows}
    families = in_order(row["family"] for row in rows)
    table = [[family] + [f"{float(at[family, length]['largest']):.3f}" for length in lengths]
             for family in families]
    elements = sum(int(row["elements"]) for row in rows)
    unclaimed = sum(int(row["unclaimed"]) for row in rows)
    return ("Largest error / bound by family of inputs and context length, of all kinds of\n"
            f"kernels ({elements:,} numbers; {unclaimed:,} more have no bound).\n\n"
            + markdown(["keys"] + [thousands(length) for length in lengths], table))


def spread(places: Mapping[str, float], gap: float) -> dict[str, float]:
    """Places of labels, moved apart: each at least gap below the one before."""
    result, last = {}, -math.inf
    for name, y in sorted(places.items(), key=lambda item: item[1]):
        last = max(y, last + gap)
        result[name] = last
    return result


def tightness_svg(rows: Sequence[Row]) -> str:
    width, height, left, right, top, bottom = 900, 560, 70, 130, 60, 50
    lengths = sorted({int(row["length"]) for row in rows})
    low, high = -4.0, 0.0
    span = math.log2(lengths[-1] / lengths[0]) or 1.0

    def x_of(length: int) -> float:
        return left + (width - left - right) * math.log2(length / lengths[0]) / span

    def y_of(ratio: float) -> float:
        exponent = max(low, math.log10(ratio)) if ratio > 0 else low
        return top + (height - top - bottom) * (high - exponent) / (high - low)

    parts = [text(left, 28, "Largest error / bound, by family of inputs", "title"),
             text(left, 46, "1 would be a violation; what is below 0.0001 is drawn there", "small")]
    for exponent in range(int(low), int(high) + 1):
        y = y_of(10.0 ** exponent)
        parts += [f'<line x1="{left}" x2="{width - right}" y1="{y:.1f}" y2="{y:.1f}" '
                  'class="grid"/>',
                  text(left - 8, y + 4, f"{10.0 ** exponent:g}", "small", "end")]
    for length in lengths:
        parts.append(text(x_of(length), height - bottom + 18, thousands(length), "small", "middle"))
    parts.append(text((left + width - right) / 2, height - 6, "keys", "small", "middle"))
    ends = {}
    families = in_order(row["family"] for row in rows)
    for i, family in enumerate(families):
        points = [(int(row["length"]), float(row["largest"])) for row in rows
                  if row["family"] == family]
        dash = ' stroke-dasharray="5 3"' if i >= len(COLOURS) else ""
        curve = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in points)
        parts.append(f'<polyline points="{curve}" class="curve" '
                     f'stroke="{COLOURS[i % len(COLOURS)]}"{dash}/>')
        ends[family] = y_of(points[-1][1])
    parts += [text(width - right + 8, y + 4, family,
                   colour=COLOURS[families.index(family) % len(COLOURS)])
              for family, y in spread(ends, 15).items()]
    return svg(width, height, parts)


# ---- Rules ----

def percent(part: str, whole: str) -> float:
    return 100.0 * int(part) / int(whole) if int(whole) else 0.0


def rules_markdown(rows: Sequence[Row]) -> str:
    head = ["rule", "keys", "inputs", "right kernels", "false alarms", "wrong results",
            "told from right", "faults", "caught on some input"]
    table = [[row["rule"], thousands(row["length"]), row["inputs"], row["right"],
              row["false_alarms"], row["wrong"],
              f"{row['told']} ({percent(row['told'], row['wrong']):.1f} %)", row["faults"],
              f"{row['caught']} ({percent(row['caught'], row['faults']):.1f} %)"]
             for row in rows if row["kernel"] == "all"]
    ours = [[row["kernel"], thousands(row["length"]), row["right"], row["false_alarms"],
             f"{percent(row['told'], row['wrong']):.0f} %", f"{row['caught']}/{row['faults']}"]
            for row in rows if row["kernel"] != "all" and row["rule"] == "certified tolerance"]
    return ("Acceptance rules on right kernels and on kernels with a seeded fault. A result of\n"
            "one row and head is told from right when the rule rejects it and takes what the\n"
            "right kernel writes on the same input. A fault is one of the wrong kernels in one\n"
            "kind of kernel; with 16,384 keys these are the last two kinds.\n\n"
            + markdown(head, table)
            + "\nThe certified tolerance by kind of kernel, all families of inputs:\n\n"
            + markdown(["kernel", "keys", "right", "false alarms", "told from right", "caught"],
                       ours))


def rules_svg(rows: Sequence[Row]) -> str:
    rows = [row for row in rows if row["kernel"] == "all" and row["inputs"] == "all families"]
    lengths = in_order(row["length"] for row in rows)
    rules = in_order(row["rule"] for row in rows)
    at = {(row["rule"], row["length"]): row for row in rows}
    bar, gap, top, left, span = 13, 22, 84, 200, 280
    height = top + len(rules) * (len(lengths) * bar + gap) + 16
    second = left + span + 70
    parts = [text(16, 28, "Acceptance rules, on inputs of all families", "title"),
             text(left, 52, "false alarms: right kernels rejected"),
             text(second, 52, "wrong results told from right ones")]
    for i, length in enumerate(lengths):
        parts += [f'<rect x="{left + 130 * i}" y="62" width="11" height="11" fill="{COLOURS[i]}"/>',
                  text(left + 16 + 130 * i, 72, f"{thousands(length)} keys", "small")]
    for r, rule in enumerate(rules):
        y = top + r * (len(lengths) * bar + gap)
        parts.append(text(left - 12, y + len(lengths) * bar / 2 + 4, rule, "", "end"))
        for i, length in enumerate(lengths):
            row = at[rule, length]
            for x, part in ((left, percent(row["false_alarms"], row["right"])),
                            (second, percent(row["told"], row["wrong"]))):
                end = x + span * part / 100
                parts += [f'<rect x="{x}" y="{y + i * bar}" width="{end - x:.1f}" '
                          f'height="{bar - 2}" fill="{COLOURS[i]}"/>',
                          text(end + 5, y + i * bar + 10, f"{part:.0f} %", "small")]
    return svg(second + span + 60, height, parts)


def main() -> None:
    directory = sys.argv[1] if len(sys.argv) > 1 else "build/tolerance"
    try:
        tightness, rules = read(directory, "tightness.csv"), read(directory, "rules.csv")
    except OSError as error:
        sys.exit(f"plot: {error}; make tolerance-table writes it")
    write(directory, "tightness.md", tightness_markdown(tightness))
    write(directory, "tightness.svg", tightness_svg(tightness))
    write(directory, "rules.md", rules_markdown(rules))
    write(directory, "rules.svg", rules_svg(rules))


if __name__ == "__main__":
    main()
