# SPDX-License-Identifier: Apache-2.0
"""The stages of `make verify`, in order. scripts/verify.py runs them; scripts/README.md says how a
stage reports what it found. To add one, add a line here.

A need is the name of a command, or (what it is, a command line that shows whether it is there). A
stage sees TIER and may do less or more; one that has `quick` runs that with TIER=quick instead. One
that has `tiers` belongs to these only (to none: ()), and runs in another when it is named: .ci/run
and the nightly workflow name some. `cores` are the processors that it keeps busy, `quick_cores`
with TIER=quick; 0: all. Stages whose cores fit into two more than there are run side by side, but
of those that use all one at a time; what they build, they build in turn (make()).
"""
import os
from collections.abc import Iterable
from dataclasses import dataclass, field

JOBS = min(os.cpu_count() or 1, 8)
TIERS = ("quick", "default", "deep")
ABOVE_QUICK = ("default", "deep")


@dataclass(frozen=True)
class Stage:
    name: str
    command: str  # for sh, from the root of the tree
    needs: tuple[str | tuple[str, str], ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    quick: str = ""
    tiers: tuple[str, ...] = TIERS
    limit: int = 1800  # seconds
    cores: int = 0
    quick_cores: int = 0

    def asked(self) -> int:
        quick = self.quick_cores if os.environ.get("TIER") == "quick" else 0
        return quick or self.cores

    def weight(self) -> int:
        return min(self.asked(), JOBS) or JOBS


def make(build: str, target: str, options: str = "") -> str:
    """A configuration is built by one make at a time."""
    command = f"make -s -j{JOBS} DEPS=skip BUILD=build/{build} {options} {target}"
    return f"flock build/verify/{build}.lock {command}"


def built(compiler: str, tiers: tuple[str, ...] = TIERS) -> Stage:
    """All that is built with it, at once; quickly, what others need of it."""
    library, options = f"build/{compiler}/libchunkproof.so", f"CC={compiler}"
    count = f" && echo functions $(nm -D --defined-only {library} | wc -l)"
    return Stage(f"build-{compiler}", make(compiler, "build tests", options) + count, (compiler,),
                 quick=make(compiler, "build gate-kernels-quick", options) + count, tiers=tiers)


def tests(build: str, options: str = "", arguments: str = "",
          target: str = "command tests-c") -> str:
    return make(build, target, options) + \
        f" && scripts/run_tests.py --build build/{build} --jobs {JOBS} {arguments}"


def unit(compiler: str, tiers: tuple[str, ...] = TIERS) -> Stage:
    run = tests(compiler, f"CC={compiler}", "--only unit")
    few = without(WALKS + ("opt_amx",)) + rest_of(SOME_SECONDS, 8)
    return Stage(f"unit-{compiler}", run + some_unless_deep(SOME_SECONDS, 4), (compiler,),
                 quick=FEWER.format("6000", "100") + run + few, tiers=tiers)


def without(stems: Iterable[str]) -> str:
    return "".join(f" --except {name}" for name in stems)


def unless_deep(stems: Iterable[str], sample: int = 1) -> str:
    """Words for sh: without these tests, and of so many about one, but for TIER=deep."""
    return f' $([ "$TIER" = deep ] || echo --sample {sample}' + without(stems) + ")"


def rest_of(stems: Iterable[str], n: int) -> str:
    """Words for sh: without these tests, but for those in one of n samples. The commit says which
    sample."""
    return f" $(scripts/samples.py --rest {n} {' '.join(stems)} | sed 's/^/--except /')"


def some_unless_deep(stems: Iterable[str], n: int) -> str:
    """Words for sh: of these tests one of n, but for TIER=deep."""
    return f' $([ "$TIER" = deep ] || echo{rest_of(stems, n)})'


# Each takes seconds. TIER=quick runs one of eight of them, which the commit chooses, the default
# tier one of four; `make test` all.
SOME_SECONDS = (
    "explain_model", "explain_said", "explain_causes", "gate", "answer", "gate_merge_cases",
    "gate_rotation", "gate_cache", "gate_merge_mistakes", "opt_widths", "runs_library",
    "batch_decoder", "gate_scores", "gate_masks", "gate_state", "opt_scales", "opt_masks",
    "gate_modules", "opt_scores", "pml_random", "opt_windows", "opt_decoder", "opt", "runner",
    "gate_merge_rules", "invariance")
SOME_SECONDS_OF_COMMAND = (
    "cli_gate_merging", "cli_programs", "cli_bound", "cli_replay_merging", "questions", "door",
    "cli_simulate_modules", "cli_gate_sandbox", "cli_answer", "cli_gate_deceive")
# The command's tests that take longest: of the gate and of explain, which compile or run kernel
# after kernel, of the scripts, and of the benchmark.
OF_THE_GATE = ("cli_gate", "cli_explain", "gate_reports")
LONG = OF_THE_GATE + ("explain_faults", "cli_gate_cuda", "scripts", "cli_bench", "catalogue",
                      "cli_gate_fight", "cli_gate_state", "cli_gate_conventions", "cli_gate_older",
                      "try", "lint")
# Sanitized they take longest, or run programs that are not sanitized.
LONG_SANITIZED = ("cli_bench", "cli_gate_conventions", "lint", "try")
# Only `make test` and the deep tier run these: they try each fault, or run the executor.
LONGEST = ("explain_faults", "cli_gate_cuda")


def command() -> Stage:
    """The command's tests."""
    def run(kernels: str) -> str:
        return tests("gcc", "CC=gcc", "--only shell --except install", f"command {kernels}")
    long = sorted({*LONG, *SOME_SECONDS_OF_COMMAND} - {*LONGEST})
    some = unless_deep(LONGEST) + some_unless_deep(long, 4)
    return Stage("command", run("gate-kernels") + some, ("gcc",),
                 quick=run("gate-kernels-quick") + without(LONG) +
                 rest_of(SOME_SECONDS_OF_COMMAND, 8), cores=1)


def mpi(name: str, run: str) -> Stage:
    """Partial results merged over ranks of an MPI (tests/mpi/README.md)."""
    build = make("gcc", "build/gcc/libchunkproof.a", "CC=gcc")
    return Stage(name, f"{build} && {run}", ("gcc", "mpicc", "mpirun"), tiers=ABOVE_QUICK, cores=1)


def gate() -> Stage:
    """The gate, on the kernels that come with it or on the one that KERNEL names."""
    def run(kernels: str) -> str:
        return make("gcc", f"command {kernels}", "CC=gcc") + " && scripts/gate build/gcc"
    # It waits half of the time.
    return Stage("gate", run("gate-kernels"), ("gcc",), quick=run("gate-kernels-quick"),
                 limit=3600, cores=1)


# No recovery: the first finding ends the program, which is then a failed test.
SANITIZE = "-fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
MEMCHECK = ("valgrind --quiet --error-exitcode=99 --leak-check=full "
            "--show-leak-kinds=definite,possible")
# The walks through many small worlds: most of the time of every instrumented run.
WALKS = ("tiny", "opt_tiny", "trace_replay")

WP = ("frama-c", "why3", "z3", "cvc4")
EXTRACT = ("coqc", "ocamlopt", "gcc")
EACSL = ("frama-c", "gcc", ("libgmp-dev", "echo '#include <gmp.h>' | gcc -E - -o /dev/null"))


# Short tests that need the library alone, not the command.
OF_THE_LIBRARY = ("decoder_refusal", "exact", "format", "number", "opt_kernels", "opt_refusal",
                  "plan", "pool", "schema", "softmax", "tolerance", "tree", "tree_new",
                  "two_phase", "width")

# Most of the time under valgrind: the walks through many small worlds, the tests of the gate, of
# decoders, fast attention, tolerances and traces, and one of large files. Besides, those that need
# long double, which valgrind computes as double. By default valgrind runs a sample of the others.
NOT_IN_VALGRIND = WALKS + (
    "answer", "batch", "batch_decoder", "decoder", "decoder_modules", "layers", "opt_decoder",
    "pml_random", "gate", "gate_serving", "gate_state", "gate_ends", "gate_modules",
    "gate_rotation", "device", "elsewhere", "runner", "runner_load", "emulate",
    "opt", "opt_amx", "opt_bf16", "opt_exp", "amx_dot", "simulate", "simulate_laws", "trace",
    "trace_opt",
    "bound", "merging_bound", "tolerance", "tolerance_bound", "tolerance_parts", "exact",
    "score_shift_kernels", "kernel_class", "explain_model", "explain_said", "explain_causes",
    "gate_merging", "gate_merge_cases",
    "gate_merge_mistakes", "gate_merge_rules", "gate_merge_state", "merge_kernels")
# As many numbers and cases as an instrumented run has time for. Deep: the tests' own numbers.
FEWER = '[ "$TIER" = deep ] || export CHUNKPROOF_ELEMENTS={} CHUNKPROOF_CASES={}; '


def under_sanitizers(name: str, compiler: str, command: str, quick: str = "",
                     tiers: tuple[str, ...] = TIERS) -> Stage:
    probe = f"echo 'int main(void) {{ return 0; }}' | {compiler} {SANITIZE} -x c - -o /dev/null"
    return Stage(name, FEWER.format("6000", "100") + command,
                 (compiler, (f"the sanitizers of {compiler}", probe)),
                 {"UBSAN_OPTIONS": "print_stacktrace=1",
                  "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1"},
                 quick=quick and FEWER.format("600", "60") + quick, tiers=tiers, quick_cores=1)


def sanitized(compiler: str, tiers: tuple[str, ...] = TIERS) -> Stage:
    """Unit tests: half of them, and of those that take seconds one of twelve, unless deep.
    TIER=quick compiles and runs those of the library alone, and does not optimize: to compile is
    most of the time."""
    build, options = f"asan-{compiler}", f"CC={compiler} EXTRA_CFLAGS='{{}} {SANITIZE}'"
    few = f"{build}-quick"
    quick = tests(few, options.format("-O0"), " ".join(OF_THE_LIBRARY),
                  " ".join(f"build/{few}/tests/test_{stem}" for stem in OF_THE_LIBRARY))
    run = tests(build, options.format("-O1"), "--only unit")
    some = unless_deep((), 2) + some_unless_deep(SOME_SECONDS, 12)
    return under_sanitizers(build, compiler, run + some, quick, tiers)


def sanitized_command(compiler: str) -> Stage:
    """The command's tests. What is installed is not sanitized, and what compiles kernel after
    kernel takes too long."""
    build = f"asan-{compiler}"
    left_out = ("install", "scripts", "minutes", "scheduling", "catalogue", "cli_gate_cuda",
                "explain_faults")
    run = tests(build, f"CC={compiler} EXTRA_CFLAGS='-O1 {SANITIZE}'", "--only shell")
    return under_sanitizers(f"{build}-command", compiler, run + without(left_out) +
                            unless_deep(OF_THE_GATE + LONG_SANITIZED, 6), tiers=("deep",))


def valgrind() -> Stage:
    run = tests("gcc", "CC=gcc", f"--only unit --wrap '{MEMCHECK}'") + \
        unless_deep(NOT_IN_VALGRIND, 16)
    return Stage("valgrind", run, ("gcc", "valgrind"),
                 {"CHUNKPROOF_ELEMENTS": "600", "CHUNKPROOF_CASES": "60"},
                 tiers=("deep",))


def trace() -> Stage:
    run = make("gcc", "command", "CC=gcc") + " && scripts/trace_smoke.py build/gcc/chunkproof"
    return Stage("trace", run, ("gcc",), cores=1)


def bench() -> Stage:
    """That the benchmark compiles and runs; its figures mean nothing here."""
    return Stage("bench", make("gcc", "bench-smoke", "CC=gcc"), ("gcc",), cores=1)


def model() -> Stage:
    """A real language model on the reference decoder, beside other implementations."""
    needs = ("gcc", ("a model (scripts/deps-model)", "tests/model/run --probe"))
    return Stage("model", make("gcc", "command", "CC=gcc") + " && tests/model/run build/gcc",
                 needs, tiers=ABOVE_QUICK)


ARM = "build/tools/arm64"  # scripts/deps-arm64


def arm64() -> Stage:
    """opt/ on 64-bit ARM, emulated: its vectors (NEON) and its tree."""
    compiler = f"aarch64-linux-gnu-gcc --sysroot={ARM}"
    stems = ("opt", "opt_exp", "opt_kernels", "opt_refusal", "opt_scores", "opt_tanh",
             "opt_tree", "opt_widths", "opt_windows")
    options = f"CC='{compiler}' AR=aarch64-linux-gnu-ar " \
              "XML_CFLAGS=-I=/usr/include/libxml2 XML_LIBS=-lxml2"
    run = tests("arm64", options, f"--only unit --wrap 'qemu-aarch64 -L {ARM}' " + " ".join(stems),
                " ".join(f"build/arm64/tests/test_{stem}" for stem in stems)) + unless_deep((), 4)
    probe = f"echo 'int main(void) {{ return 0; }}' | " \
            f"{compiler} -x c - -o build/tools/arm64.probe && " \
            f"qemu-aarch64 -L {ARM} build/tools/arm64.probe"
    return Stage("arm64", f'[ "$TIER" = deep ] || export CHUNKPROOF_ELEMENTS=2e6; {run}',
                 ("aarch64-linux-gnu-gcc", "qemu-aarch64", ("libraries for ARM", probe)),
                 tiers=ABOVE_QUICK, cores=1)


def tolerance() -> Stage:
    """Emulated kernels against the certified tolerance; fuzz/README.md. Deep:
    half an hour of two cores."""
    run = make("gcc", "tolerance-check", f"CC=gcc JOBS={JOBS}")
    return Stage("tolerance", 'case $TIER in deep) n=1e9 ;; *) n=1e6 ;; esac; '
                 f"CHUNKPROOF_ELEMENTS=$n {run}", ("gcc",), tiers=ABOVE_QUICK, limit=4 * 3600)


def simt(build: str, compiler: str, options: str = "",
         tiers: tuple[str, ...] = ABOVE_QUICK) -> Stage:
    """The executor of CUDA kernels, and those of its tests."""
    run = tests(build, f"CC={compiler} {options}", "--only simt", "tests-simt")
    return Stage(f"simt-{build}", run, (compiler, "objcopy"), tiers=tiers)


def oracle() -> Stage:
    """The double-precision reference against the correctly rounded oracle, over
    millions of numbers."""
    run = "CHUNKPROOF_ELEMENTS=3e6 CHUNKPROOF_SEED=2 build/gcc/tests/test_exact"
    return Stage("oracle", make("gcc", "tests-c", "CC=gcc") +
                 f" && {{ {run}; }} >build/verify/oracle.txt 2>&1; status=$?; "
                 "cat build/verify/oracle.txt; "
                 "grep '^elements' build/verify/oracle.txt; exit $status",
                 ("gcc",), tiers=("deep",), cores=1)


def fuzz(name: str, arguments: str, tiers: tuple[str, ...], limit: int = 1800) -> Stage:
    """Fuzzing with clang's engine (fuzz/README.md)."""
    probe = "echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n)" \
            " { return !d && n; }' | " \
            "clang -fsanitize=fuzzer,address,undefined -x c - -o /dev/null"
    return Stage(name, arguments, ("clang", "objcopy", ("libFuzzer of clang", probe)), tiers=tiers,
                 limit=limit)


def faults_of(who: str, sample: int) -> str:
    """One in so many of the faults that these must notice; another sample in each commit."""
    return f"scripts/faults --by {who} --sample {sample}"


STAGES = (
    built("gcc"),
    built("clang", ("deep",)),  # by default asan-clang builds with it
    Stage("lint", "scripts/lint", cores=1),
    unit("gcc"),
    unit("clang", ("deep",)),  # by default with sanitizers: asan-clang
    command(),
    Stage("faults", "scripts/faults", ("gcc",), tiers=("deep",)),
    Stage("faults-some", faults_of("test", 160), ("gcc",), tiers=("default",)),
    Stage("python-faults", make("gcc", "command", "CC=gcc") + " && scripts/faults --by python" +
          unless_deep((), 3), ("gcc",), tiers=ABOVE_QUICK, cores=1),
    arm64(),
    tolerance(),
    oracle(),
    sanitized("gcc", tiers=("deep",)),
    sanitized_command("gcc"),
    sanitized("clang"),
    sanitized_command("clang"),
    simt("gcc", "gcc"),
    simt("clang", "clang", tiers=("deep",)),
    mpi("mpi", "tests/mpi/run build/gcc"),
    mpi("mpi-faults", "scripts/faults --by mpi" + unless_deep((), 4)),
    gate(),
    Stage("fuzz-corpus",
          make("gcc", "fuzz-targets", "CC=gcc") + " && scripts/fuzz --replay build/gcc",
          ("gcc", "objcopy"), tiers=ABOVE_QUICK, cores=1),
    fuzz("fuzz", "scripts/fuzz --smoke", ("deep",)),
    fuzz("fuzz-faults", "scripts/faults --by fuzz", ("deep",)),
    fuzz("fuzz-build", "bash fuzz/oss-fuzz/test.sh", ("deep",)),
    Stage("gate-faults", "scripts/faults --by gate", ("gcc", "objcopy"), tiers=("deep",), cores=1),
    Stage("merge-faults", "scripts/faults --by merge", ("gcc",), tiers=("deep",), cores=1),
    Stage("merge-faults-some", faults_of("merge", 32), ("gcc",), tiers=("default",), cores=1),
    Stage("gate-faults-some", faults_of("gate", 480), ("gcc", "objcopy"), tiers=("default",),
          cores=1),
    Stage("cuda", make("gcc", "cuda") + " && scripts/ptxas.py build/gcc/cuda/ptxas.log",
          (("nvcc", "nvcc --version || /usr/local/cuda/bin/nvcc --version"),), tiers=ABOVE_QUICK,
          cores=1),
    Stage("kernel-faults", "scripts/faults --by kernel", ("gcc", "objcopy"), tiers=("deep",)),
    simt("asan-clang", "clang", f"EXTRA_CFLAGS='-O1 {SANITIZE}'", tiers=("deep",)),
    valgrind(),
    Stage("proofs-wp", "proofs/wp/run", WP, quick_cores=1),
    # make prove. Where nothing is kept WP takes two cores half an hour, and so does the model
    # checking: .ci/run gives them a time (WITHIN). Smoke tests are as many again, and get less.
    Stage("proofs-wp-all", "proofs/wp/run --all", WP, tiers=(), limit=2 * 3600),
    Stage("proofs-wp-smoke", 'WITHIN=${WITHIN:+$(((WITHIN + 3) / 4))} proofs/wp/run --smoke', WP,
          tiers=("deep",), limit=2 * 3600),
    Stage("model-checking-wide", "TIER=wide proofs/cbmc/run", ("cbmc",), tiers=(), limit=2 * 3600),
    Stage("proofs-wp-faults", "scripts/faults --by wp", WP, tiers=("deep",), limit=2 * 3600),
    Stage("proofs-coq", "proofs/coq/run", ("coqc",), tiers=ABOVE_QUICK, cores=1),
    Stage("proofs-coq-faults", "scripts/faults --by coq", ("coqc",), tiers=("deep",)),
    Stage("proofs-coq-faults-some", faults_of("coq", 16), ("coqc",), tiers=()),
    Stage("extract", "proofs/extract/run", EXTRACT, cores=1),
    Stage("extract-faults", "scripts/faults --by extract", EXTRACT, tiers=("deep",)),
    Stage("model-checking", "proofs/cbmc/run", ("cbmc",), quick_cores=1),
    Stage("model-checking-faults", "scripts/faults --by cbmc", ("cbmc",), tiers=("deep",)),
    Stage("contracts", "proofs/eacsl/run", EACSL, tiers=("deep",)),
    Stage("contracts-faults", "scripts/faults --by eacsl", EACSL, tiers=("deep",)),
    Stage("coverage", FEWER.format("600", "60") + "scripts/coverage.py",
          ("gcc", "gcov", "lcov"), tiers=ABOVE_QUICK),
    trace(),
    bench(),
    model(),
    Stage("install", tests("gcc", "CC=gcc", "install", "command"), ("gcc", "pkg-config"),
          tiers=ABOVE_QUICK, cores=1),
    Stage("documents-some", "scripts/readme-commands --some 3", ("gcc",), tiers=(), cores=1),
)
