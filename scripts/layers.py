#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layering: what a file of the library may include.

Two checks. Of the text: a file of a stem (ref/STEM.c, ref/STEM_part.c, include/chunkproof/STEM.h,
proofs/logic/STEM.h) names only headers of its own stem and of those below it. Of the compiler's
dependency output (gcc -MM, so whatever way a header came in): ref/ sees the public headers and
itself, never gate/, tests/, opt/, kernels/ or proofs/; opt/ and kernels/ see the public headers and
their own directory.

    scripts/layers.py [ROOT]      exit status 0 right, 1 a finding
"""
import glob
import os
import re
import subprocess
import sys

# stem: the stems below it that it may name. The phases take the plan, never the tree; what they
# share with attend is the description of the problem, struct cp_attention.
BELOW = {
    "limits": "",
    "status": "version",
    "version": "",
    "memory": "limits status",
    "number": "limits status number8",
    "number8": "limits",
    "pool": "limits status memory",
    "kv": "limits status memory number",
    "tree": "limits status memory pool",
    "plan": "limits status memory tree",
    "batch": "limits status memory pool tree plan",
    "schema": "limits status",
    "softmax": "limits status number",
    "layers": "limits number softmax",
    "decoder": "limits status number softmax layers",
    "attention": "limits number plan",
    "two_phase": "limits status number softmax plan attention",
    "workspace": "limits plan attention two_phase",
    "row_chunk": "limits number softmax plan attention two_phase workspace",
    "row_state": "limits number softmax plan attention two_phase workspace row_chunk",
    "chunk_first": "limits number softmax plan attention two_phase workspace row_chunk",
    "sequence_first": "limits number softmax plan attention two_phase workspace row_state",
    "attend": "limits status number softmax plan attention two_phase",
    "tolerance": "limits number softmax",
    "score_shift": "limits number softmax tolerance",
    "merging": "limits status number softmax tolerance kernel_class",
    "opt_tree": "limits status memory pool tree",
    "opt_plan": "limits status memory tree plan opt_tree",
    "cuda": "limits status plan attention",
    "kernel": "number number8 plan",
    "kernel_class": "limits number number8 kernel softmax tolerance score_shift",
    "merge_kernel": "kernel merging",
    "opt": "limits status attention kernel",
    "opt_decoder": "limits status decoder opt",
}
MAY_SEE = {"ref": ("include", "ref"), "opt": ("include", "opt"), "kernels": ("include", "kernels")}
INCLUDE = re.compile(r'\s*#\s*include\s*["<]'
                     r'((?:chunkproof/|ref/|proofs/logic/|\.\./)?\w+\.h)[">]')


def stem_of(path: str) -> str | None:
    """The stem of a file's name: tree_check.c belongs to tree; None when it has no known stem."""
    name = os.path.basename(path).rsplit(".", 1)[0]
    owners = [stem for stem in BELOW if name == stem or name.startswith(stem + "_")]
    return max(owners, key=len, default=None)


def check_text(path: str) -> list[str]:
    """Findings of the #include lines that stand in the file."""
    own = stem_of(path)
    if own is None:
        return [f"{path}: not named after a stem; name it so, or enter it in scripts/layers.py"]
    allowed = {own, *BELOW[own].split()}
    findings = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            found = INCLUDE.match(line)
            if not found or not exists_in_project(found[1], path):
                continue
            other = stem_of(found[1])
            if other not in allowed:
                findings.append(f"{path}:{number}: {own} is not above {other}: {line.strip()}")
    return findings


def exists_in_project(name: str, includer: str) -> bool:
    places = ("include", ".", os.path.dirname(includer))
    return any(os.path.exists(os.path.join(place, name)) for place in places)


def check_compiled(path: str) -> list[str]:
    """Findings of the files that the compiler reads for this one."""
    compiler = ["g++", "-std=c++17"] if path.endswith(".cpp") else ["gcc", "-std=c11"]
    run = subprocess.run([*compiler, "-Iinclude", "-I.", "-MM", path],
                         capture_output=True, text=True)
    if run.returncode != 0:
        return [f"{path}: {run.stderr.strip()}"]
    read = run.stdout.replace("\\\n", " ").split(":", 1)[1].split()
    layer = path.split("/")[0]
    return [f"{path}: {layer}/ may not see {os.path.normpath(header)}" for header in read
            if os.path.normpath(header).split("/")[0] not in MAY_SEE[layer]]


def main() -> int:
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
    umbrella = "include/chunkproof/chunkproof.h"
    stems = [path for place in ("ref/*.[ch]", "include/chunkproof/*.h", "proofs/logic/*.h")
             for path in glob.glob(place) if path != umbrella]
    units = [path for layer in MAY_SEE for path in glob.glob(f"{layer}/*.c") +
             glob.glob(f"{layer}/*/*.cpp")]
    findings = [finding for path in sorted(stems) for finding in check_text(path)]
    findings += [finding for path in sorted(units) for finding in check_compiled(path)]
    print("\n".join(findings) if findings else f"{len(stems)} files named, {len(units)} compiled")
    return 1 if findings or not units else 0


if __name__ == "__main__":
    sys.exit(main())
