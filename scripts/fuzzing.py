# SPDX-License-Identifier: Apache-2.0
"""What scripts/fuzz does with engines, corpora and findings."""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "fuzz" / "corpus"
DICTIONARIES = ROOT / "fuzz" / "dictionaries"
WORK = ROOT / "build" / "fuzz"
# Warnings are for other builds to make errors of: a seeded fault may leave a variable unused.
SANITIZE = ("-O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all "
            "-Wno-error")

OPERATIONS = ("tree", "plan", "opt_tree", "attention", "schedule", "kernels")
TARGETS = OPERATIONS + ("trace", "script", "gate_case", "gate_state", "bound_case", "pml",
                        "weights", "options")
# Runs of the smoke test: some seconds each.
SMOKE = {"tree": 6000, "plan": 5000, "opt_tree": 6000, "attention": 3000, "schedule": 6000,
         "kernels": 100, "trace": 15000, "script": 1500,
         "gate_case": 15000, "gate_state": 4000, "bound_case": 10000, "pml": 3000,
         "weights": 20000, "options": 100000}
PIECE, HEAD = 8, 16  # bytes of an operation and of the problem before them (fuzz/format.h)


class Unusable(Exception):
    """There is no engine, or the targets do not build."""


class LibFuzzer:
    """clang's own engine."""
    name, build = "libfuzzer", ROOT / "build" / "libfuzzer"
    needs = ("clang", "libclang-rt-dev")

    @staticmethod
    def is_there() -> bool:
        probe = "int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return !d && n; }"
        with tempfile.TemporaryDirectory() as directory:
            run = subprocess.run(["clang", "-fsanitize=fuzzer,address,undefined", "-x", "c", "-",
                                  "-o",
                                  directory + "/probe"], input=probe, capture_output=True,
                                  text=True) \
                if shutil.which("clang") else None
        return run is not None and run.returncode == 0

    @staticmethod
    def settings() -> dict[str, str]:
        return {"CC": "clang", "CXX": "clang++", "LIB_FUZZING_ENGINE": "-fsanitize=fuzzer",
                "EXTRA_CFLAGS": SANITIZE + " -fsanitize=fuzzer-no-link"}

    @classmethod
    def command(cls, target: str, corpora: Iterable[str | pathlib.Path], options: Iterable[str],
                program: pathlib.Path | None = None) -> list[str]:
        """Fuzzing that adds to the first corpus."""
        dictionary = DICTIONARIES / f"{target}.dict"
        return [str(program or cls.build / "fuzz" / target), "-timeout=60", "-rss_limit_mb=3000",
                "-max_len=4096",
                "-len_control=20", *([f"-dict={dictionary}"] if dictionary.exists() else []),
                *options,
                *map(str, corpora)]

    @classmethod
    def for_seconds(cls, target: str, seconds: int, found: pathlib.Path) -> list[str]:
        (WORK / "corpus" / target).mkdir(parents=True, exist_ok=True)
        return cls.command(target, (WORK / "corpus" / target, CORPUS / target),
                           (f"-max_total_time={seconds}", f"-artifact_prefix={found}/"))

    @staticmethod
    def environment(target: str) -> dict[str, str]:
        """A stack of a fiber would be emptied anew for each thread of a kernel:
        there it takes too long."""
        return {} if target == "kernels" else \
            {"ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1"}

    @staticmethod
    def state(line: str) -> str | None:
        """What a line says of the progress, or None."""
        match = re.match(r"#(\d+)\s.*\bcov: (\d+) ft: \d+ corp: (\d+)/\S+.* exec/s: (\d+)", line)
        return match and f"runs {match[1]}, edges {match[2]}, inputs {match[3]}, {match[4]}/s"

    @staticmethod
    def final(directory: pathlib.Path) -> str:
        """What the engine has written of its progress."""
        return ""

    @staticmethod
    def found(directory: pathlib.Path) -> list[pathlib.Path]:
        return sorted(p for p in directory.iterdir()
                      if re.match(r"(crash|leak|timeout|oom)-", p.name))


class Afl:
    """AFL++, by the same entry points."""
    name, build = "afl", ROOT / "build" / "afl"
    needs = ("afl-clang-fast", "afl++")

    @staticmethod
    def is_there() -> bool:
        return bool(shutil.which("afl-clang-fast") and shutil.which("afl-fuzz"))

    @staticmethod
    def settings() -> dict[str, str]:
        return {"CC": "afl-clang-fast", "CXX": "afl-clang-fast++",
                "LIB_FUZZING_ENGINE": "-fsanitize=fuzzer",
                "EXTRA_CFLAGS": SANITIZE}

    @classmethod
    def for_seconds(cls, target: str, seconds: int, found: pathlib.Path) -> list[str]:
        dictionary = DICTIONARIES / f"{target}.dict"
        return ["afl-fuzz", "-i", str(CORPUS / target), "-o", str(found), "-V", str(seconds), "-m",
                "none", "-t", "10000+",
                *(["-x", str(dictionary)] if dictionary.exists() else []),
                "--", str(cls.build / "fuzz" / target)]

    @classmethod
    def environment(cls, target: str) -> dict[str, str]:
        changes = {"AFL_CUSTOM_MUTATOR_LIBRARY": str(cls.build / "fuzz" /
                                                     "mutator.so")} if target in OPERATIONS else {}
        return {"AFL_SKIP_CPUFREQ": "1", "AFL_NO_UI": "1", "AFL_NO_AFFINITY": "1",
                "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1", **changes}

    @staticmethod
    def state(line: str) -> str | None:
        match = re.search(r"Fuzzing test case #(\d+)", line)
        return match and f"input {match[1]}"

    @staticmethod
    def final(directory: pathlib.Path) -> str:
        stats = directory / "default" / "fuzzer_stats"
        pairs = dict(re.findall(r"^(\w+) *: (\S+)", stats.read_text(),
                                re.M)) if stats.exists() else {}
        return f"runs {pairs['execs_done']}, edges {pairs['edges_found']}, " \
            f"inputs {pairs['corpus_count']}, {pairs['execs_per_sec']}/s" if pairs else ""

    @staticmethod
    def found(directory: pathlib.Path) -> list[pathlib.Path]:
        return sorted(p for p in directory.glob("default/*/id*")
                      if p.parent.name in ("crashes", "hangs"))


Engine: TypeAlias = type[LibFuzzer] | type[Afl]
Show: TypeAlias = Callable[[str, str], None]  # is told of a target's state
ENGINES: dict[str, Engine] = {engine.name: engine for engine in (LibFuzzer, Afl)}


def build(engine: Engine, targets: Iterable[str]) -> None:
    if not engine.is_there():
        raise Unusable(f"{engine.name} is missing: "
                       f"it needs {engine.needs[0]} (package {engine.needs[1]})")
    where = engine.build.relative_to(ROOT)
    goals = [f"{where}/fuzz/{target}" for target in targets] + [f"{where}/fuzz/mutator.so"]
    settings = {"BUILD": str(where), "DEPS": "skip", **engine.settings()}
    make(ROOT, settings, goals)


def make(directory: pathlib.Path, settings: Mapping[str, str], goals: Iterable[str]) -> None:
    run = subprocess.run(["make", "-s", f"-j{os.cpu_count() or 1}", "-C", str(directory),
                          *(f"{name}={value}" for name, value in settings.items()), *goals],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode != 0:
        raise Unusable("the targets do not build:\n" + run.stdout)


# ---- Findings ----

def failure(engine: Engine, target: str, data: bytes) -> tuple[str, str] | None:
    """What the target says of these bytes when it fails, without its numbers;
    None when it does not."""
    program, environment = engine.build / "fuzz" / target, {**os.environ,
                                                            **LibFuzzer.environment(target)}
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        try:
            run = subprocess.run([str(program), file.name], capture_output=True, text=True,
                                 errors="replace", timeout=60,
                                 env=environment)
        except subprocess.TimeoutExpired:
            return "timeout", "it does not end within 60 s"
    if run.returncode == 0:
        return None
    said = re.findall(r"^(?:fuzz: .*|.*runtime error: .*|SUMMARY: .*|.*ERROR: .*)$", run.stderr,
                      re.M)
    first = said[0] if said else f"status {run.returncode}"
    return re.sub(r"0x[0-9a-f]+|[-+]?\d[\d.e+-]*|==|'.*'", "", first), first


def pieces(data: bytes, target: str) -> tuple[bytes, list[bytes]]:
    """What never goes, and the pieces that may: operations, or lines, or bytes."""
    if target in OPERATIONS:
        return data[:HEAD], [data[i:i + PIECE] for i in range(HEAD, len(data), PIECE)]
    lines = data.splitlines(keepends=True)
    return b"", lines if len(lines) > 3 else [data[i:i + 1] for i in range(len(data))]


def shrunk(engine: Engine, target: str, data: bytes, most: int = 400) -> bytes:
    """The input without every run of pieces that the finding does not need."""
    wanted = failure(engine, target, data)
    if wanted is None:
        return data
    head, kept = pieces(data, target)
    size, tries = max(1, len(kept) // 2), 0
    while size >= 1 and tries < most:
        at = 0
        while at < len(kept) and tries < most:
            less = kept[:at] + kept[at + size:]
            tries += 1
            again = failure(engine, target, head + b"".join(less))
            if again is not None and again[0] == wanted[0]:
                kept = less
            else:
                at += size
        size //= 2
    return head + b"".join(kept)


def keep(engine: Engine, target: str, path: pathlib.Path) -> str:
    """Minimises a finding and keeps it; what to print."""
    program = engine.build / "fuzz" / target
    data = path.read_bytes()
    first = failure(engine, target, data)
    if first is None:
        data, said = path.read_bytes(), "(not again: it depends on what ran before, or on time)"
    else:
        data, said = shrunk(engine, target, data), first[1]
    place = WORK / "findings" / target / hashlib.sha1(data).hexdigest()[:12]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    shown = subprocess.run([str(program), "--print", str(place)], capture_output=True, text=True,
                           errors="replace").stdout
    again = f"{program.relative_to(ROOT)} {place.relative_to(ROOT)}"
    return f"FOUND in {target}: {said}\n{shown.rstrip()}\n  again: {again}"


# ---- Running ----

def follow(engine: Engine, target: str, command: Sequence[str], show: Show,
           environment: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Runs an engine, showing its state; its exit status and last state."""
    state = ""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace",
                             env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL)
    log: list[str] = []
    assert child.stdout is not None  # a pipe
    try:
        for line in child.stdout:
            log = (log + [line])[-300:]
            state = engine.state(line) or state
            show(target, state)
    except KeyboardInterrupt:  # the engine has been interrupted, too, and ends by itself
        child.wait()
        raise
    return child.wait(), state, "".join(log)


def fuzz(engine: Engine, target: str, seconds: int, show: Show) -> tuple[str, list[str]]:
    """Fuzzes a target; (last state, findings in words)."""
    found = WORK / "new" / engine.name / target
    shutil.rmtree(found, ignore_errors=True)
    found.mkdir(parents=True)
    began = time.monotonic()
    status, state, log = follow(engine, target, engine.for_seconds(target, seconds, found), show,
                                engine.environment(target))
    new = engine.found(found)
    if status != 0 and not new and time.monotonic() - began < seconds:
        return state, [f"FOUND in {target}: the engine ended with status {status}\n{log}"]
    return engine.final(found) or state, [keep(engine, target, path) for path in new]


def replay(program: pathlib.Path, corpus: pathlib.Path) -> tuple[int, str | None]:
    """(inputs run, None), or (0, what was said) when one fails."""
    if not program.exists():
        raise Unusable(f"there is no {program}: make BUILD=... fuzz-targets")
    run = subprocess.run([str(program), str(corpus)], capture_output=True, text=True,
                         errors="replace")
    inputs = re.search(r"^inputs (\d+)$", run.stdout, re.M)
    if run.returncode == 0 and inputs:
        return int(inputs[1]), None
    last = run.stdout.strip().splitlines()[-1:] or ["no input"]
    return 0, f"{last[0]}: {run.stderr.strip() or f'status {run.returncode}'}"


def bounded(target: str, runs: int, program: pathlib.Path | None = None) -> tuple[int, str, str]:
    """Runs that do not depend on time, from the committed corpus: (status, last state, log)."""
    with tempfile.TemporaryDirectory() as directory:
        command = LibFuzzer.command(target, (directory, CORPUS / target),
                                    ("-seed=1", f"-runs={runs}", f"-artifact_prefix={directory}/"),
                                    program)
        return follow(LibFuzzer, target, command, lambda *_: None, LibFuzzer.environment(target))


def merge(target: str) -> tuple[int, int]:
    """The committed corpus becomes a small one that reaches all that it and the found one reach;
    what has a name in words stays."""
    committed, found = CORPUS / target, WORK / "corpus" / target
    committed.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        out = pathlib.Path(directory)
        named = [p for p in committed.iterdir() if not re.fullmatch(r"[0-9a-f]{40}", p.name)]
        subprocess.run(LibFuzzer.command(target, (out, committed, found),
                                         ("-set_cover_merge=1", "-use_counters=0")), check=True,
                       capture_output=True)
        for path in committed.iterdir():
            if path not in named:
                path.unlink()
        taken = {hashlib.sha1(p.read_bytes()).hexdigest() for p in named}
        for path in out.iterdir():
            if path.name not in taken:
                shutil.copy(path, committed / path.name)
    sizes = [p.stat().st_size for p in committed.iterdir()]
    return len(sizes), sum(sizes)
