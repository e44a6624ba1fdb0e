# SPDX-License-Identifier: Apache-2.0
"""The kill matrix as one page of HTML, with nothing from elsewhere."""

from collections.abc import Iterator, Sequence
from html import escape

from .kills import CLASSES, FEW, RULES, Json, Row

STYLE = """
body { font: 14px/1.5 system-ui, sans-serif; margin: 2em; color: #1c2530; background: #fff; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { padding: 1px 6px; border-bottom: 1px solid #e4e8ec; }
th, td { text-align: left; white-space: nowrap; }
.matrix thead th { position: sticky; top: 0; background: #fff; vertical-align: bottom; }
.matrix thead th.up { writing-mode: vertical-rl; transform: rotate(180deg); font-weight: normal; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
td.hit { background: #cfe8d5; text-align: center; }
td.told { background: #dbe5f5; text-align: center; }
td.survives { background: #f6c8c3; }
td.first { white-space: normal; min-width: 24em; color: #4a5663; }
@media (prefers-color-scheme: dark) {
  body, .matrix thead th { background: #14181d; color: #dfe5ea; }
  th, td { border-color: #2b333b; }
  td.hit { background: #1f4a2d; } td.told { background: #233a5c; }
  td.survives { background: #6a2a24; }
  td.first { color: #9fabb6; }
}
"""


def cell(text: object, kind: str = "", title: str = "") -> str:
    attributes = (f' class="{kind}"' if kind else "") + (
        f' title="{escape(title, quote=True)}"' if title else ""
    )
    return f"<td{attributes}>{escape(str(text))}</td>"


def evidence_cells(row: Row) -> Iterator[str]:
    for _, _, kinds in CLASSES:
        for kind in kinds:
            seen = row.evidence.get(kind)
            yield (
                cell(seen["cases"], "hit", f"{kind}: first in case {seen['first']}")
                if seen
                else cell("")
            )


def matrix_row(row: Row) -> str:
    first = (
        f"case {row.first['case']}, {row.first['values']}: "
        f"{row.first['verdict']}: {row.first['text']}"
        if row.first
        else "survives"
    )
    rules = [
        cell(told[rule], "told") if told.get(rule) else cell("")
        for told in (row.told, row.usual)
        for _, rule in RULES
    ]
    return (
        "<tr>"
        + "".join(
            [
                cell(row.fault, "" if row.killed else "survives"),
                cell(row.clause),
                cell(f"{row.seconds:.2f}", "n"),
                cell(row.killed, "n"),
                *evidence_cells(row),
                *rules,
                cell(first, "first"),
            ]
        )
        + "</tr>"
    )


def matrix(rows: Sequence[Row]) -> str:
    groups = "".join(
        f'<th colspan="{len(kinds)}">{escape(name)}</th>' for _, name, kinds in CLASSES
    )
    kinds = "".join(
        f'<th class="up">{escape(kind)}</th>' for _, _, kinds in CLASSES for kind in kinds
    )
    rules = "".join(f'<th class="up">{escape(rule)}</th>' for _, rule in RULES)
    return (
        '<table class="matrix"><thead><tr><th colspan="4"></th>'
        + groups
        + f'<th colspan="{len(RULES)}">rules, same cases</th>'
        f'<th colspan="{len(RULES)}">usual test</th><th></th></tr>'
        "<tr><th>fault</th><th>clause</th><th>seconds</th><th>cases</th>"
        + kinds
        + rules
        + rules
        + "<th>first evidence</th></tr></thead><tbody>"
        + "\n".join(map(matrix_row, rows))
        + "</tbody></table>"
    )


def rules_table(summary: Json) -> str:
    lines = "".join(
        f"<tr><td>{escape(rule)}</td>"
        + cell(len(through["lets_through"]), "n")
        + cell(len(through["usual_lets_through"]), "n")
        + "</tr>"
        for rule, through in summary["rules"].items()
    )
    return (
        "<table><tr><th>rule of others</th><th>faults that it lets through in these cases</th>"
        f"<th>in the usual test, of {summary['usual']}</th></tr>" + lines + "</table>"
    )


def only_table(summary: Json) -> str:
    lines = "".join(
        "<tr>" + cell(name) + cell(len(faults), "n") + cell(", ".join(faults), "first") + "</tr>"
        for name, faults in summary["only"].items()
        if faults
    )
    return (
        "<table><tr><th>class</th><th>faults that it alone kills</th><th></th></tr>"
        + lines
        + "</table>"
    )


def page(rows: Sequence[Row], summary: Json, whole: bool) -> str:
    depth = "all cases" if whole else "cases until the first that kills"
    parts = [
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f"<title>Seeded faults and what kills them</title><style>{STYLE}</style></head>"
        "<body><h1>Seeded faults and what kills them</h1>",
        f"<p>{summary['killed']} of {summary['faults']} are killed; {escape(depth)}. A number is "
        "that of cases. A rule tells a fault when it rejects a result where it accepts the right "
        "kernel's; it sees numbers of the output alone. CUDA kernels run on the executor, in few "
        "cases and without the usual test; no fault meets the usual test unless each meets all "
        "cases. Of the faults in kernels/ there are some, unless TIER is deep.</p>",
        rules_table(summary),
    ]
    if whole:
        parts += [
            only_table(summary),
            f"<p>Killed by {FEW} cases at most: "
            + escape(", ".join(summary["few"]) or "none")
            + ".</p>",
        ]
    return "\n".join([*parts, matrix(rows), "</body></html>", ""])
