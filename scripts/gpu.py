#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything that needs a GPU: the kernels' checks there, and the benchmark.

usage: scripts/gpu.py check PROGRAMS EXECUTOR [--small]   what `make gpu` does
       scripts/gpu.py bench PROGRAMS OUT [--small]        what `make bench-gpu` does

PROGRAMS has conform, grid and bench (tests/gpu/), compiled for the GPU; EXECUTOR has conform for
the CPU. --small is what a CPU can do: PROGRAMS may then be compiled for the CPU, too, and the
sanitizers do not run.

check: conform prints the same on both; every version runs over the whole grid, and under the four
tools of compute-sanitizer over a part of it; the gate has kernels on the device
(tests/gpu/gate.sh).
bench: writes OUT/bench.csv, and from it OUT/bench.md and OUT/bench.svg. In the same run,
scripts/gpu_peers.py measures the other implementations that python3 finds (PyTorch's
scaled_dot_product_attention and FlexAttention, FlashInfer).

exit status: 0 all passed, 1 something failed, 2 bad use
"""
import csv
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from draw import chart, markdown, svg, text

# A row of the table, and the columns that say which load it is of.
Row: TypeAlias = dict[str, str]
Load: TypeAlias = tuple[str, ...]

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")

# synccheck takes one barrier that half of a block meets at one line, and half at another, for
# threads that parted. PTX allows it (bar.sync), and the executor is to do what the device does.
LEFT_OUT = {("synccheck", "conform"): ("--kernel-regex-exclude", "kns=named_barriers")}


# ---- Checks ----

def passes(name: str, command: Sequence[str | pathlib.Path]) -> bool:
    """Runs it and says how it went; its output when it failed, else the last line."""
    if shutil.which(str(command[0])) is None:
        print(f"not ok - {name}: {command[0]} is not there", flush=True)
        return False
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                         errors="replace")
    printed = run.stdout.splitlines()
    lines = printed + run.stderr.splitlines()
    good = run.returncode == 0
    print(f"{'ok' if good else 'not ok'} - {name}: {(printed or lines or ['no output'])[-1]}",
          flush=True)
    if not good:
        print("\n".join("# " + line for line in lines[-40:]), flush=True)
    return good


def conform(place: pathlib.Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(place / "conform")], capture_output=True, text=True)


def conforms(outputs: Sequence[subprocess.CompletedProcess[str]]) -> bool:
    """Of the device and of the executor."""
    lines = [output.stdout.splitlines() for output in outputs]
    other = [(one, two) for one, two in zip(*lines) if one != two]
    good = all(output.returncode == 0
               for output in outputs) and lines[0] == lines[1] and len(lines[0]) > 0
    print(f"{'ok' if good else 'not ok'} - the executor does what the device does: "
          f"{len(lines[0])} kernels, {len(other)} differ", flush=True)
    for one, two in other:
        print(f"# device   {one}\n# executor {two}", flush=True)
    return good


def gate(programs: pathlib.Path) -> list[bool]:
    """The gate with kernels on the device: one result for each of its tests."""
    run = subprocess.Popen(["tests/gpu/gate.sh", str(programs.parent / "chunkproof")],
                           stdout=subprocess.PIPE, text=True, errors="replace", cwd=ROOT)
    results: list[bool] = []
    assert run.stdout is not None  # a pipe
    for line in run.stdout:
        print(line, end="", flush=True)
        results += [line.startswith("ok")] if line.startswith(("ok ", "not ok ")) else []
    return results if run.wait() in (0, 1) and results else [*results, False]


def check(programs: pathlib.Path, executor: pathlib.Path, small: bool) -> int:
    device = conform(programs)
    if device.returncode != 0:
        print(f"gpu: no kernel runs here: {(device.stdout + device.stderr).strip()}",
              file=sys.stderr)
        return 1
    grid = [programs / "grid"] + (["--small"] if small else [])
    results = [conforms((device, conform(executor))), passes("every version over the grid", grid)]
    if small:
        print("ok - compute-sanitizer # SKIP nothing for it runs on a CPU")
    else:
        sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
        for tool in TOOLS:
            for program in ("conform", "grid --small"):
                results.append(passes(f"{tool} of {program}", [
                    sanitizer, "--tool", tool, "--error-exitcode", "9",
                    *LEFT_OUT.get((tool, program), ()),
                    programs / program.split()[0],
                    *program.split()[1:]]))
        results += gate(programs)
    print(f"gpu: {results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


# ---- The benchmark ----

def read(path: pathlib.Path) -> list[Row]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def key_of(row: Row) -> Load:
    return tuple(row[column] for column in ("load", "b", "n_p", "n_s", "h", "h_kv"))


def fastest(rows: Iterable[Row]) -> dict[Load, dict[str, Row]]:
    """{load: {kernel: its fastest row}}, in the order of the file."""
    result: dict[Load, dict[str, Row]] = {}
    for row in rows:
        kernels = result.setdefault(key_of(row), {})
        best = kernels.get(row["kernel"])
        if best is None or float(row["median_us"]) < float(best["median_us"]):
            kernels[row["kernel"]] = row
    return result


def cell(row: Row | None) -> str:
    if row is None:
        return ""
    spread = (float(row["p90_us"]) - float(row["p10_us"])) / float(row["median_us"])
    return f"{float(row['median_us']):.1f} ({100 * spread:.0f} %)"


def report(rows: Sequence[Row], device: str) -> str:
    loads = fastest(rows)
    kernels = list(dict.fromkeys(row["kernel"] for row in rows))
    head = ["load", "b", "n_p", "n_s", "h/h_kv", "limit us", *kernels, "limit / best of ours"]
    table = []
    for key, by_kernel in loads.items():
        limit = min(float(row["limit_us"]) for row in by_kernel.values() if row["limit_us"])
        ours = min(float(row["median_us"]) for name, row in by_kernel.items()
                   if name.startswith("version"))
        table.append([*key[:4], f"{key[4]}/{key[5]}", f"{limit:.1f}",
                      *(cell(by_kernel.get(kernel)) for kernel in kernels),
                      f"{100 * limit / ours:.0f} %"])
    return ("Latency of attention in decoding, in microseconds: the median, and in brackets the\n"
            "spread from the 10th to the 90th percentile; of each kernel the fastest cutting of\n"
            "the paths. The second-level cache is overwritten before each run.\n\n"
            f"{device}\n\n" + markdown(head, table))


def picture(rows: Iterable[Row]) -> str:
    """Token rate over the tokens completed, and over the batch: the papers' figures 3 and 4."""
    loads = fastest(rows)
    parts: list[str] = []
    for place, (figure, column, title) in enumerate((("figure 3", 2, "context length n_p, b = 32"),
                                                     ("figure 4", 1, "batch size b"))):
        points: dict[str, list[tuple[float, float]]] = {}
        for key, by_kernel in loads.items():
            if key[0] == figure:
                for kernel, row in by_kernel.items():
                    rate = 1e6 * int(key[1]) / float(row["median_us"])
                    points.setdefault(kernel, []).append((int(key[column]), rate))
        parts += chart(60 + 470 * place, title, points)
    return svg(990, 420,
               [text(20, 26, "Attention: tokens per second and layer, kernel by kernel", "title"),
                *parts])


def bench(programs: pathlib.Path, out: pathlib.Path, small: bool) -> int:
    out.mkdir(parents=True, exist_ok=True)
    run = subprocess.run([str(programs / "bench")] + (["--small"] if small else []),
                         stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        print(run.stderr.strip(), file=sys.stderr)
        return 1
    path = out / "bench.csv"
    path.write_text(run.stdout)
    if not small:
        peers = subprocess.run([sys.executable, str(ROOT / "scripts" / "gpu_peers.py"), str(path)],
                               stdout=subprocess.PIPE, text=True)
        path.write_text(run.stdout + peers.stdout)
    rows = read(path)
    for name, content in (("bench.md", report(rows, "Measured: " + run.stderr.strip() + ".")),
                          ("bench.svg", picture(rows))):
        (out / name).write_text(content)
    print((out / "bench.md").read_text())
    faster = [row for row in rows if float(row["median_us"]) < float(row["limit_us"])]
    for row in faster:
        print("# faster than the device can be:", ",".join(row.values()))
    print(f"{'ok' if rows and not faster else 'not ok'} - the benchmark: "
          f"{len(rows)} measurements of {len(fastest(rows))} loads, "
          f"{len(faster)} faster than the limit; {out}/bench.csv, bench.md, bench.svg")
    return 0 if rows and not faster else 1


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--small"]
    small = "--small" in sys.argv
    if len(arguments) != 3 or arguments[0] not in ("check", "bench"):
        print(__doc__.strip(), file=sys.stderr if sys.argv[1:] not in (["-h"], ["--help"])
              else sys.stdout)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    what, programs, other = arguments[0], pathlib.Path(arguments[1]), pathlib.Path(arguments[2])
    return (check if what == "check" else bench)(programs, other, small)


if __name__ == "__main__":
    sys.exit(main())
