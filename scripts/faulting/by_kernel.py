# SPDX-License-Identifier: Apache-2.0
"""The tests of kernels/ on the executor, with the kernels compiled anew: of the version with the
fault, and for small head dimensions. As it is a version must pass them (tests/test_kernels.cpp; the
launcher: tests/test_cuda.cpp; all of them on lists of sequences: tests/test_runs_kernels.cpp;
values of another width than keys: tests/test_widths_kernels.cpp; masks of bits:
tests/test_masks_kernels.cpp).
"""

import pathlib
from collections.abc import Iterator, Sequence

from .by_test import LIBRARIES, Command, build_and_run, emptied
from .catalogue import ROOT, Fault
from .who import GCC, Outcome, Verdict, Who, make


LISTS = "lists"
WIDTHS = "widths"
MASKS = "masks"
OTHERS = {
    "0": "test_cuda",
    LISTS: "test_runs_kernels",
    WIDTHS: "test_widths_kernels",
    MASKS: "test_masks_kernels",
}


class ByKernel(Who):
    """The tests of kernels/ on the executor. A version is "0" for the launcher, "lists" for all on
    lists of sequences, "widths" for values of another width than keys, and "masks" for masks of
    bits."""

    name = "kernel"

    def prepare(self, faults: Sequence[Fault]) -> None:
        make(["tests-simt"], "the tests of kernels")

    @staticmethod
    def version_of(fault: Fault) -> str:
        words = fault.said_by("kernel")
        return "0" if words == ["launcher"] else words[-1]

    def parts(self, faults: Sequence[Fault]) -> list[str]:
        return sorted({self.version_of(fault) for fault in faults})

    def failing(self, part: str) -> str | None:
        source = "kernels/cuda.cu" if part == "0" else "kernels/merge.h"
        outcome = self.tried(
            f"none-{part}", part, source, (ROOT / source).read_text(encoding="utf-8")
        )
        return (
            None
            if outcome.verdict is Verdict.NOT_NOTICED
            else f"version {part} fails without a fault: {outcome.how}"
        )

    def check(self, fault: Fault) -> Outcome:
        return self.tried(fault.name, self.version_of(fault), fault.source, fault.text())

    def tried(self, name: str, version: str, source: str, text: str) -> Outcome:
        program = OTHERS.get(version, "test_kernels")
        place = emptied(GCC / "faults" / f"kernel-{name}")
        (place / "kernels").mkdir()
        (place / "kernels" / pathlib.Path(source).name).write_text(text, encoding="utf-8")
        return build_and_run(
            place,
            self.commands(place, version, source, program),
            program,
            CHUNKPROOF_VERSION=version,
            CHUNKPROOF_MOST_DIM="96" if version == WIDTHS else "64",
        )

    @staticmethod
    def commands(place: pathlib.Path, version: str, source: str, program: str) -> Iterator[Command]:
        ways: dict[str, list[str]] = {"plain": [], "checked": ["-fsanitize=thread"]}
        versions = ROOT / "tests" / "kernels" / "versions.cu"
        made = [(way, versions) for way in ways]
        dimensions = "ONE(32) ONE(64)"
        objects: list[pathlib.Path] = []
        built: list[pathlib.Path] = []
        if version in OTHERS:
            compiled = sorted((ROOT / "kernels").glob("*.cu"))
            if version == MASKS:  # what is in other files stays as it is
                own = {"cuda_mask.cu", pathlib.Path(source).name}
                others = [one.stem for one in compiled if one.name not in own]
                built = [GCC / "obj" / "kernels" / f"{stem}.checked.o" for stem in others]
                compiled = [one for one in compiled if one.name in own]
            dimensions = {LISTS: "ONE(80)", WIDTHS: "ONE(64)", MASKS: "ONE(64)"}.get(
                version, "ONE(64) ONE(256)"
            )
            if source.endswith(".cu"):
                compiled = [place / source if ROOT / source == one else one for one in compiled]
            elif source.endswith(".c"):
                objects.append(place / "fault.o")
                yield [
                    "gcc",
                    "-std=c11",
                    "-O1",
                    "-g",
                    f"-I{ROOT}/include",
                    f"-I{ROOT}",
                    "-c",
                    place / source,
                    "-o",
                    objects[-1],
                ]
            of_launcher = [("checked", one) for one in compiled]
            made = [*of_launcher, *made] if version == MASKS else of_launcher
        one_version = {LISTS: "0", WIDTHS: "0", MASKS: "1"}.get(version, version)
        checked: list[pathlib.Path] = []
        for way, file in made:
            objects.append(place / f"{file.stem}.{way}.o")
            checked += [objects[-1]] if way == "checked" else []
            yield [
                "g++",
                "-std=c++17",
                "-O1",
                "-g",
                "-ffp-contract=off",
                f"-I{place}",
                f"-I{ROOT}/include",
                f"-I{ROOT}",
                f"-DCHUNKPROOF_HEAD_DIMS(ONE)={dimensions}",
                "-DCHUNKPROOF_WIDTHS(ONE)=ONE(64, 32, false) ONE(96, 64, true)",
                f"-DCHUNKPROOF_ONE_VERSION={one_version}",
                f"-DKERNELS={way}",
                *ways[way],
                "-x",
                "c++",
                "-c",
                file,
                "-o",
                objects[-1],
            ]
        renamed = [f"--redefine-sym={name}=simt_{name}" for name in ("memcpy", "memmove", "memset")]
        for one in checked:
            yield ["objcopy", *renamed, one]
        yield [
            "g++",
            "-pthread",
            GCC / "obj" / "tests" / f"{program}.o",
            *objects,  # before those that were built without the fault
            *built,
            *sorted((GCC / "obj" / "kernels" / "simt").glob("*.o")),
            *LIBRARIES,
            "-o",
            place / "test",
            "-lcmocka",
            "-lmpfi",
            "-lmpfr",
            "-lm",
        ]
