# SPDX-License-Identifier: Apache-2.0
"""Public bugs: the field `public:` of a record names those of other projects that its fault
imitates. tests/faults/PUBLIC.md says which there are; it is made from the records.
"""

import re
import sys
import textwrap
from collections.abc import Iterator, Sequence

from .catalogue import FOLDER, ROOT, Fault, load

PAGE = FOLDER / "PUBLIC.md"
REPOSITORIES = {
    "aiter": "ROCm/aiter",
    "flash-attention": "Dao-AILab/flash-attention",
    "flashinfer": "flashinfer-ai/flashinfer",
    "llama.cpp": "ggml-org/llama.cpp",
    "pytorch": "pytorch/pytorch",
    "rocm-libraries": "ROCm/rocm-libraries",
    "sgl-flash-attn": "sgl-project/sgl-flash-attn",
    "sglang": "sgl-project/sglang",
    "TensorRT-LLM": "NVIDIA/TensorRT-LLM",
    "tokenspeed": "lightseekorg/tokenspeed",
    "vllm": "vllm-project/vllm",
}
INTRODUCTION = """# Public bugs that seeded faults imitate

`scripts/faults --public >tests/faults/PUBLIC.md` writes this page from the field `public:` of the
records; `scripts/faults --check` finds when it is out of date. A bug is named by its project and
the number of an issue or a pull request there. A fault imitates the mistake in a kernel of this
tree, and whoever the record names must notice it. Several faults may imitate one bug, and one fault
several bugs of the same kind.

"""


def order(bug: str) -> tuple[str, int]:
    """By project, whatever the case of its letters, then by number."""
    project, _, number = bug.partition("#")
    return project.lower(), int(number)


def of_public(fault: Fault) -> Iterator[str]:
    """What is wrong with the field of a record."""
    bugs = fault.public
    for bug in bugs:
        project, hash_sign, number = bug.partition("#")
        if not hash_sign or not re.fullmatch(r"[1-9][0-9]*", number):
            yield f"public: {bug}: a public bug is PROJECT#NUMBER, as vllm#28840"
        elif project not in REPOSITORIES:
            yield (
                f"public: {bug}: {project} is no project of REPOSITORIES in "
                "scripts/faulting/public.py; add its repository there"
            )
    yield from (
        f"public: {bug}: it stands there {bugs.count(bug)} times"
        for bug in sorted({bug for bug in bugs if bugs.count(bug) > 1})
    )


def page(faults: Sequence[Fault]) -> str:
    """The page: for each bug of each project the faults that imitate it."""
    found: dict[str, list[str]] = {}
    for fault in faults:
        for bug in fault.public:
            found.setdefault(bug, []).append(fault.name)
    of_faults = sum(bool(fault.public) for fault in faults)
    lines = [f"{len(found)} bugs, {of_faults} faults.\n"]
    project = ""
    for bug in sorted(found, key=order):
        if bug.partition("#")[0] != project:
            project = bug.partition("#")[0]
            lines += ["", f"## {project}", "", f"Of {REPOSITORIES[project]}.", ""]
        lines.append(
            textwrap.fill(
                f"- {bug}: {', '.join(sorted(found[bug]))}",
                100,
                subsequent_indent="  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
    return INTRODUCTION + "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def out_of_date(faults: Sequence[Fault]) -> Iterator[str]:
    """Whether the page is what the records say; they must be well formed."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    if text != page(faults):
        name = PAGE.relative_to(ROOT)
        yield f"{name}: it is out of date: scripts/faults --public >{name}"


def main() -> int:
    """Prints the page."""
    faults = load()
    wrong = [f"{fault.place}: {what}" for fault in faults for what in of_public(fault)]
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 2
    print(page(faults), end="")
    return 0
