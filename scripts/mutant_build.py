# SPDX-License-Identifier: Apache-2.0
"""How scripts/mutants builds a kernel from a source with a fault, and how it runs the gate on it.
There are kernels in C, kernels in plain CUDA, which the gate compiles itself, and the versions of
kernels/, wrapped by tests/gate/cuda.cu. CUDA runs on the executor of kernels/simt, and only in the
first cases, because the executor is slow.
"""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "gcc"
OBJECTS = [BUILD / "obj" / "kernels" / (file.stem + ".o") for file in sorted((ROOT / "kernels").glob("*.c"))]
SECONDS = "2"             # for one call: the longest of the kernels in C take a tenth of it,
EXECUTOR_SECONDS = "20"   # and of those in CUDA
EXECUTOR_CASES = 16       # which are small;
DEEP_CASES = 40           # of versions: those behind have more keys
DIMENSIONS = "ONE(32) ONE(64)"  # of the versions: fewer than they have, for the compiler's sake

# Of the faults in versions of our own, one of each kind.
SAMPLE = ("v2-no-barrier-before-values", "v2-unseen-key-weighs", "v3-does-not-wait-for-keys", "v3-halves-of-keys-swapped",
          "v3-keys-of-the-other-buffer", "v3-one-warp-of-four-merged", "v3-row-sum-of-one-lane",
          "v3-waits-for-the-group-before")


def kernel_of(fields):
    """What a fault is in: one name for each kernel that is to be right without it. A fault in a
    header names it."""
    return f"cuda_v{fields['version']}" if "version" in fields else fields.get("kernel", fields["file"])


def is_cuda(fields):
    return "version" in fields or fields["file"].endswith(".cu")


def fields_of(kernel):
    """The other way round, of a kernel as it is."""
    version = kernel.removeprefix("cuda_v")
    return {"file": "kernels/merge.h", "version": version} if version != kernel else {"file": kernel}


def build(place, fields, source, deep):
    """(commands, the kernel for the gate, its options)"""
    cases = DEEP_CASES if deep and "version" in fields else EXECUTOR_CASES
    few = ["--cases", str(cases), "--seconds", EXECUTOR_SECONDS]
    if "version" in fields:
        return version_commands(place, fields, source), place / "kernel.so", few
    if is_cuda(fields):
        (place / "kernel.cu").write_text(source)
        return [], place / "kernel.cu", ["--on", "executor", *few]
    return [["gcc", "-std=c11", "-O1", "-ffp-contract=off", "-shared", "-fPIC", f"-I{ROOT}/include", f"-I{ROOT}/tests/gate",
             write_c(place, fields, source), BUILD / "libchunkproof.a", "-o", place / "kernel.so", "-lm"]], \
        place / "kernel.so", ["--seconds", SECONDS]


def write_c(place, fields, source):
    """A kernel in C, and its header where the fault is in that: a file finds those beside it
    first."""
    file = place / "kernel.c"
    if "kernel" in fields:
        (place / pathlib.Path(fields["file"]).name).write_text(source)
        source = (ROOT / fields["kernel"]).read_text()
    file.write_text(source)
    return file


def version_commands(place, fields, source):
    """The header with the fault is found before the one without."""
    header = place / fields["file"]
    header.parent.mkdir(parents=True)
    header.write_text(source)
    compile_cuda = ["g++", "-std=c++17", "-O1", "-ffp-contract=off", f"-I{place}", f"-I{ROOT}/include", f"-I{ROOT}", "-fPIC",
                    f"-DCHUNKPROOF_HEAD_DIMS(ONE)={DIMENSIONS}"]
    return [
        [*compile_cuda, "-fsanitize=thread", "-x", "c++", "-c", ROOT / "kernels" / "cuda.cu", "-o", place / "kernel.o"],
        ["objcopy", *(f"--redefine-sym={name}=simt_{name}" for name in ("memcpy", "memmove", "memset")), place / "kernel.o"],
        [*compile_cuda, f"-DCHUNKPROOF_VERSION={fields['version']}", "-shared", "-pthread", "-o", place / "kernel.so",
         "-x", "c++", ROOT / "tests" / "gate" / "cuda.cu", "-x", "none", place / "kernel.o", *OBJECTS,
         "-Wl,--whole-archive", BUILD / "libchunkproof_simt.a", "-Wl,--no-whole-archive", BUILD / "libchunkproof.a", "-lm"],
    ]
