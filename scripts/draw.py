# SPDX-License-Identifier: Apache-2.0
"""Tables as Markdown and pictures as SVG."""
from html import escape

COLOURS = ("#1f6fb4", "#c8501e", "#2d8a4e", "#8352a8", "#a07a10", "#b02a5b", "#4a5a6a")
GREY = "#667085"
STYLE = ("text { font: 13px system-ui, sans-serif; fill: #1c2430 } .small { font-size: 11px; "
         f"fill: {GREY} }} .title {{ font-size: 16px; font-weight: 600 }} "
         ".grid { stroke: #e4e7ec } .curve { fill: none; stroke-width: 1.8 }")


def svg(width, height, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                      f'width="{width}" height="{height}">', f"<style>{STYLE}</style>",
                      f'<rect width="{width}" height="{height}" fill="#fff"/>', *parts, "</svg>\n"])


def text(x, y, words, kind="", anchor="start", colour=""):
    style = f' style="fill: {colour}"' if colour else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}"{style}>'
            f"{escape(words)}</text>")


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" + " ---: |" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"
