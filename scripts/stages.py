# SPDX-License-Identifier: Apache-2.0
"""The stages of `make verify`, in order. scripts/verify.py runs them; scripts/README.md says how a
stage reports what it found. To add one, add a line here.

A need is the name of a command, or (what it is, a command line that shows whether it is there).
A stage sees TIER and may do less or more; one that has `quick` runs that with TIER=quick instead; one
that has `tiers` belongs to these only (to none: ()), and runs in another when it is named.
"""
import os
from dataclasses import dataclass, field

JOBS = min(os.cpu_count() or 1, 8)
TIERS = ("quick", "default", "deep")


@dataclass(frozen=True)
class Stage:
    name: str
    command: str  # for sh, from the root of the tree
    needs: tuple = ()
    environment: dict = field(default_factory=dict)
    quick: str = ""
    tiers: tuple = TIERS
    limit: int = 1800  # seconds


def make(build, target, options=""):
    return f"make -s -j{JOBS} DEPS=skip BUILD=build/{build} {options} {target}"


def built(compiler):
    return Stage(f"build-{compiler}", make(compiler, "build tests-c", f"CC={compiler}") +
                 f" && echo functions $(nm -D --defined-only build/{compiler}/libchunkproof.so | wc -l)",
                 (compiler,))


def tests(build, options="", arguments="", target="command tests-c"):
    return make(build, target, options) + \
        f" && scripts/run_tests.py --build build/{build} --jobs {JOBS} {arguments}"


def unit(compiler):
    return Stage(f"unit-{compiler}", tests(compiler, f"CC={compiler}", "--only unit"), (compiler,))


def command():
    """The command's tests; quickly, without those of the gate's own scripts, which take the longest."""
    run = tests("gcc", "CC=gcc", "--only shell --except install", "command gate-kernels")
    return Stage("command", run, ("gcc",), quick=run + " --except scripts")


def gate():
    """The gate, on the kernels that come with it or on the one that KERNEL names."""
    return Stage("gate", make("gcc", "command gate-kernels", "CC=gcc") + " && scripts/gate build/gcc", ("gcc",))


# No recovery: the first finding ends the program, which is then a failed test.
SANITIZE = "-O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
MEMCHECK = "valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,possible"
# The two walks through many small worlds: most of the time of every instrumented run.
LESS = " --except tiny --except trace_replay"

WP = ("frama-c", "why3", "z3", "cvc4")
EACSL = ("frama-c", "gcc", ("libgmp-dev", "echo '#include <gmp.h>' | gcc -E - -o /dev/null"))


# The gate's own tests of the command: some minutes with sanitizers. And the walk through many small worlds with two trees:
# some minutes under valgrind, which is slower than they are.
OF_THE_GATE = ("cli_gate", "cli_explain", "gate_reports")
LONGEST_WALK = ("opt_tiny",)


def unless_deep(stems):
    """Words for sh: without these tests, but for TIER=deep."""
    return ' $([ "$TIER" = deep ] || echo' + "".join(f" --except {name}" for name in stems) + ")"


def sanitized(compiler, tiers=TIERS):
    """Unit tests and, but for the quick tier, the command's: what is installed is not sanitized, and what compiles kernel
    after kernel takes too long.
    """
    probe = f"echo 'int main(void) {{ return 0; }}' | {compiler} {SANITIZE} -x c - -o /dev/null"
    run = tests(f"asan-{compiler}", f"CC={compiler} EXTRA_CFLAGS='{SANITIZE}'", "--only unit")
    left_out = ("install", "scripts", "catalogue", "cli_gate_cuda", "explain_faults")
    shell = " --only shell" + "".join(f" --except {name}" for name in left_out) + unless_deep(OF_THE_GATE)
    return Stage(f"asan-{compiler}", run + shell,
                 (compiler, (f"the sanitizers of {compiler}", probe)),
                 {"UBSAN_OPTIONS": "print_stacktrace=1",
                  "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1"},
                 quick=run + LESS, tiers=tiers)


def valgrind():
    run = tests("gcc", "CC=gcc", f"--only unit --wrap '{MEMCHECK}'") + unless_deep(LONGEST_WALK)
    return Stage("valgrind", run, ("gcc", "valgrind"), {"CHUNKPROOF_ELEMENTS": "600", "CHUNKPROOF_CASES": "60"},
                 tiers=("default", "deep"))


def trace():
    run = make("gcc", "command", "CC=gcc") + " && scripts/trace_smoke.py build/gcc/chunkproof"
    return Stage("trace", run, ("gcc",))


def bench():
    """That the benchmark compiles and runs; its figures mean nothing here."""
    return Stage("bench", make("gcc", "bench-smoke", "CC=gcc"), ("gcc",))


ARM = "build/tools/arm64"  # scripts/deps-arm64


def arm64():
    """opt/ on 64-bit ARM, emulated: its vectors (NEON) and its tree."""
    compiler = f"aarch64-linux-gnu-gcc --sysroot={ARM}"
    stems = ("opt", "opt_exp", "opt_kernels", "opt_refusal", "opt_tree")
    options = f"CC='{compiler}' AR=aarch64-linux-gnu-ar XML_CFLAGS=-I=/usr/include/libxml2 XML_LIBS=-lxml2"
    run = tests("arm64", options, f"--only unit --wrap 'qemu-aarch64 -L {ARM}' " + " ".join(stems),
                " ".join(f"build/arm64/tests/test_{stem}" for stem in stems))
    probe = f"echo 'int main(void) {{ return 0; }}' | {compiler} -x c - -o build/tools/arm64.probe && " \
            f"qemu-aarch64 -L {ARM} build/tools/arm64.probe"
    return Stage("arm64", f'[ "$TIER" = deep ] || export CHUNKPROOF_ELEMENTS=2e7; {run}',
                 ("aarch64-linux-gnu-gcc", "qemu-aarch64", ("libraries for ARM", probe)),
                 tiers=("default", "deep"))


def tolerance():
    """Emulated kernels against the certified tolerance; fuzz/README.md. Deep: half an hour of two cores."""
    run = make("gcc", "tolerance-check", f"CC=gcc JOBS={JOBS}")
    return Stage("tolerance", 'case $TIER in deep) n=1e9 ;; *) n=1e7 ;; esac; '
                 f"CHUNKPROOF_ELEMENTS=$n {run}", ("gcc",), limit=4 * 3600)


def simt(build, compiler, options="", tiers=("default", "deep")):
    """The executor of CUDA kernels, and those of its tests."""
    run = tests(build, f"CC={compiler} {options}", "--only simt", "tests-simt")
    return Stage(f"simt-{build}", run, (compiler, "objcopy"), tiers=tiers)


def oracle():
    """The double-precision reference against the correctly rounded oracle, over millions of numbers."""
    run = "CHUNKPROOF_ELEMENTS=3e6 CHUNKPROOF_SEED=2 build/gcc/tests/test_exact"
    return Stage("oracle", make("gcc", "tests-c", "CC=gcc") +
                 f" && {{ {run}; }} >build/verify/oracle.txt 2>&1; status=$?; cat build/verify/oracle.txt; "
                 "grep '^elements' build/verify/oracle.txt; exit $status",
                 ("gcc",), tiers=("deep",))


def fuzz(name, arguments, tiers=("default", "deep"), limit=1800):
    """Fuzzing with clang's engine (fuzz/README.md)."""
    probe = "echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return !d && n; }' | " \
            "clang -fsanitize=fuzzer,address,undefined -x c - -o /dev/null"
    return Stage(name, arguments, ("clang", "objcopy", ("libFuzzer of clang", probe)), tiers=tiers, limit=limit)


STAGES = (
    built("gcc"),
    built("clang"),
    Stage("lint", "scripts/lint"),
    unit("gcc"),
    unit("clang"),
    command(),
    Stage("faults", "scripts/faults", ("gcc",)),
    arm64(),
    tolerance(),
    oracle(),
    sanitized("gcc", tiers=("default", "deep")),
    sanitized("clang"),
    simt("gcc", "gcc"),
    simt("clang", "clang"),
    gate(),
    Stage("fuzz-corpus", make("gcc", "fuzz-targets", "CC=gcc") + " && scripts/fuzz --replay build/gcc",
          ("gcc", "objcopy"), tiers=("default", "deep")),
    fuzz("fuzz", "scripts/fuzz --smoke"),
    fuzz("fuzz-faults", "scripts/faults --by fuzz", ("deep",)),
    fuzz("fuzz-build", "bash fuzz/oss-fuzz/test.sh", ("deep",)),
    Stage("gate-faults", "scripts/faults --by gate", ("gcc", "objcopy"), tiers=("default", "deep")),
    Stage("cuda", make("gcc", "cuda") + " && scripts/ptxas.py build/gcc/cuda/ptxas.log",
          (("nvcc", "nvcc --version || /usr/local/cuda/bin/nvcc --version"),), tiers=("default", "deep")),
    Stage("kernel-faults", "scripts/faults --by kernel", ("gcc", "objcopy"), tiers=("deep",)),
    simt("asan-clang", "clang", f"EXTRA_CFLAGS='{SANITIZE}'", tiers=("deep",)),
    valgrind(),
    Stage("proofs-wp", "proofs/wp/run", WP),
    Stage("proofs-wp-all", "proofs/wp/run --all", WP, tiers=()),  # make prove
    Stage("proofs-wp-faults", "scripts/faults --by wp", WP, tiers=("deep",), limit=2 * 3600),
    Stage("proofs-coq", "proofs/coq/run", ("coqc",), tiers=("default", "deep")),
    Stage("proofs-coq-faults", "scripts/faults --by coq", ("coqc",), tiers=("deep",)),
    Stage("model-checking", "proofs/cbmc/run", ("cbmc",)),
    Stage("model-checking-faults", "scripts/faults --by cbmc", ("cbmc",), tiers=("deep",)),
    Stage("contracts", "proofs/eacsl/run", EACSL, tiers=("deep",)),
    Stage("contracts-faults", "scripts/faults --by eacsl", EACSL, tiers=("deep",)),
    Stage("coverage", "scripts/coverage.py", ("gcc", "gcov", "lcov"), tiers=("default", "deep")),
    trace(),
    bench(),
    Stage("install", tests("gcc", "CC=gcc", "install", "command"), ("gcc", "pkg-config")),
)
