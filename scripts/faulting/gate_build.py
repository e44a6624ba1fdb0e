# SPDX-License-Identifier: Apache-2.0
"""How a kernel is made of a source with a fault in it, and what is asked of the gate then. There
are kernels in C, in plain CUDA, which the gate compiles itself, and versions of kernels/ through
tests/gate/cuda.cu; CUDA runs on the executor of kernels/simt, in its first cases alone: it takes
its time.
"""

import pathlib
import shutil

from .catalogue import ROOT, Fault
from .who import GCC

OBJECTS = [
    GCC / "obj" / "kernels" / (file.stem + ".o") for file in sorted((ROOT / "kernels").glob("*.c"))
]
# For one call. Not optimized, and beside others, the longest call of a kernel in C takes two.
SECONDS = "10"
EXECUTOR_SECONDS = "20"  # of those in CUDA
EXECUTOR_CASES = 16  # which are small;
DEEP_CASES = 40  # of versions: later ones have more keys;
SERVING_CASES = 100  # of plain CUDA: with each size of a server (GATE-10)
DIMENSIONS = "ONE(32) ONE(64)"  # of the versions: fewer than they have, for the compiler's sake
WIDTHS = "ONE(96, 64, true) ONE(192, 128, false)"  # those that the gate asks for most cheaply
VERSION = "version "
INCLUDES = [f"-I{ROOT}/include", f"-I{ROOT}/tests/gate"]


def is_deep(fault: Fault) -> bool:
    """Only the deep tier has it, unless it is named."""
    return fault.said_by("gate")[-1] == "deep"


def kernel_of(fault: Fault) -> str:
    """What a fault is in, and what must be right without it: a source, or "version N", perhaps with
    a kind of tests/gate/cuda.cu."""
    said = fault.fields["gate"].removesuffix(" deep")
    return fault.source if said == "itself" else said


def name_of(kernel: str) -> str:
    return (
        "cuda_v" + kernel.removeprefix(VERSION).replace(" ", "_")
        if is_version(kernel)
        else pathlib.Path(kernel).name.removesuffix(".c")
    )


def is_version(kernel: str) -> bool:
    return kernel.startswith(VERSION)


def as_it_is(kernel: str) -> tuple[str, str]:
    """(source, text) of a kernel without a fault."""
    source = "kernels/merge.h" if is_version(kernel) else kernel
    return source, (ROOT / source).read_text(encoding="utf-8")


def build(
    place: pathlib.Path, kernel: str, source: str, text: str, deep: bool
) -> tuple[list[list[object]], pathlib.Path, list[str]]:
    """(commands, the kernel for the gate, its options). source: the file that the text is of."""
    cases = EXECUTOR_CASES if not deep else DEEP_CASES if is_version(kernel) else SERVING_CASES
    few = ["--cases", str(cases), "--seconds", EXECUTOR_SECONDS]
    if is_version(kernel):
        return (
            version_commands(place, kernel.removeprefix(VERSION), source, text),
            place / "kernel.so",
            few,
        )
    if kernel.endswith(".cu"):
        (place / "kernel.cu").write_text(text, encoding="utf-8")
        return [], place / "kernel.cu", ["--on", "executor", *few]
    return (
        [
            [
                "gcc",
                "-std=c11",
                "-O1",
                "-ffp-contract=off",
                "-shared",
                "-fPIC",
                *INCLUDES,
                write_c(place, kernel, source, text),
                GCC / "libchunkproof.a",
                "-o",
                place / "kernel.so",
                "-lm",
            ]
        ],
        place / "kernel.so",
        ["--seconds", SECONDS],
    )


def write_c(place: pathlib.Path, kernel: str, source: str, text: str) -> pathlib.Path:
    """A kernel in C, and its header where the fault is in that. It finds headers next to it, and
    these find the one with the fault: all are there."""
    file = place / "kernel.c"
    if source != kernel:
        for header in (ROOT / kernel).parent.glob("*.h"):
            shutil.copy(header, place)
        (place / pathlib.Path(source).name).write_text(text, encoding="utf-8")
        text = (ROOT / kernel).read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    return file


def version_commands(
    place: pathlib.Path, version: str, source: str, text: str
) -> list[list[object]]:
    """The header with the fault is found before the one without."""
    number, *kinds = version.split()
    header = place / source
    header.parent.mkdir(parents=True)
    header.write_text(text, encoding="utf-8")
    compile_cuda = [
        "g++",
        "-std=c++17",
        "-O1",
        "-ffp-contract=off",
        f"-I{place}",
        f"-I{ROOT}/include",
        f"-I{ROOT}",
        "-fPIC",
        f"-DCHUNKPROOF_HEAD_DIMS(ONE)={DIMENSIONS}",
        f"-DCHUNKPROOF_WIDTHS(ONE)={WIDTHS}",
    ]
    renamed = [f"--redefine-sym={name}=simt_{name}" for name in ("memcpy", "memmove", "memset")]
    commands: list[list[object]] = []
    objects: list[object] = []
    for file in sorted((ROOT / "kernels").glob("*.cu")):
        objects.append(place / f"{file.stem}.o")
        commands.append(
            [*compile_cuda, "-fsanitize=thread", "-x", "c++", "-c", file, "-o", objects[-1]]
        )
        commands.append(["objcopy", *renamed, objects[-1]])
    return [
        *commands,
        [
            *compile_cuda,
            f"-DCHUNKPROOF_VERSION={number}",
            *(f"-DCUDA_{kind}" for kind in kinds),
            "-shared",
            "-pthread",
            "-o",
            place / "kernel.so",
            "-x",
            "c++",
            ROOT / "tests" / "gate" / "cuda.cu",
            "-x",
            "none",
            *objects,
            *OBJECTS,
            "-Wl,--whole-archive",
            GCC / "libchunkproof_simt.a",
            "-Wl,--no-whole-archive",
            GCC / "libchunkproof.a",
            "-lm",
        ],
    ]
