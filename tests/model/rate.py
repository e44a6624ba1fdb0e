#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast the fast decoder reads a prompt, beside llama-cpp on the same machine and in one run.

    tests/model/rate.py COMMAND MODEL.gguf WEIGHTS [THREADS [ROUNDS]]

Prompts of 512 and 2048 tokens, weights and keys and values in float32, THREADS threads (1) for
both. Each of ROUNDS rounds (3) runs both, one after the other, and medians are printed. With one
thread the seconds are those of the processor, which do not count what other programs take; with
more they are those of the clock. The process of COMMAND also maps the model and reads the text:
what a prompt of 8 tokens takes is subtracted, on both sides.

Attention grows with the square of the tokens n, and all else with n. So 4/3 of what 2048 tokens
take beyond 4 times 512 is attention's part of 2048.

Nothing here is a check: a rate depends on the machine. Exit status 0 measured, 2 bad use, 77 a
package or the model is missing, 130 interrupted: the rounds that are done are printed.
"""
import glob
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
SIZES = (8, 512, 2048)
Seconds = dict[tuple[str, int], list[float]]


def used(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def run_ours(command: list[str], text: str, n: int, threads: int) -> float:
    clock, before = time.perf_counter(), used(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, "--text", text, "--limit", str(n), "--generate", "1", "--fast",
                    "--threads", str(threads)], check=True, stdout=subprocess.DEVNULL)
    seconds = used(resource.RUSAGE_CHILDREN) - before
    return seconds if threads == 1 else time.perf_counter() - clock


def print_rates(found: Seconds) -> None:
    rounds = min(map(len, found.values()))
    if rounds == 0:
        return
    middle = {key: statistics.median(times) for key, times in found.items()}
    print(f"medians of {rounds} rounds\n\n"
          "| tokens | this, tokens/s | llama-cpp, tokens/s | llama-cpp / this |\n"
          "| --- | --- | --- | --- |")
    part: dict[tuple[str, int], float] = {}
    for n in SIZES[1:]:
        for who in ("this", "llama"):
            part[who, n] = middle[who, n] - middle[who, SIZES[0]]
        rates = [(n - SIZES[0]) / part[who, n] for who in ("this", "llama")]
        print(f"| {n} | {rates[0]:.0f} | {rates[1]:.0f} | {rates[1] / rates[0]:.2f} |")
    beyond = [4 / 3 * (part[who, 2048] - 4 * part[who, 512]) for who in ("this", "llama")]
    print(f"\nattention's part of 2048 tokens: {beyond[0]:.2f} s here, {beyond[1]:.2f} s there; "
          "below 0 where rounds differ by more")


def main() -> int:
    if len(sys.argv) not in (4, 5, 6):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    command, gguf, weights = sys.argv[1:4]
    threads, rounds = [*map(int, sys.argv[4:]), *(1, 3)[len(sys.argv) - 4:]]
    sys.path[:0] = [HERE, os.path.join(ROOT, "python")]
    try:
        from compare import FLOAT32, write_float32
        from llama_cpp import Llama
    except ImportError as error:
        print(f"rate: {error.name} is missing; install gguf, numpy and llama-cpp-python with pip")
        return 77
    for path in (gguf, weights):
        if not os.path.exists(path):
            print(f"rate: {path} is missing; spec/weights.md says how to make one")
            return 77
    found: Seconds = {(who, n): [] for who in ("this", "llama") for n in SIZES}
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "text")
        with open(text, "w", encoding="utf-8") as out:
            for path in sorted(glob.glob(os.path.join(ROOT, "spec", "*.md"))):
                with open(path, encoding="utf-8") as chapter:
                    out.write(chapter.read())
        ours = [command, "model", weights]
        tokens = [*map(int, subprocess.run(
            [*ours, "--text", text, "--limit", "2048", "--tokens"], check=True,
            capture_output=True, text=True).stdout.split())]
        copy = os.path.join(folder, "float32.gguf")
        write_float32(gguf, copy)
        model = Llama(copy, n_ctx=2048, n_batch=512, n_ubatch=512, n_threads=threads,
                      n_threads_batch=threads, type_k=FLOAT32, type_v=FLOAT32, verbose=False)
        try:
            for number in range(rounds):
                for n in SIZES:
                    found["this", n].append(run_ours(ours, text, n, threads))
                    model.reset()
                    clock, before = time.perf_counter(), used(resource.RUSAGE_SELF)
                    model.eval(tokens[:n])
                    found["llama", n].append(used(resource.RUSAGE_SELF) - before if threads == 1
                                             else time.perf_counter() - clock)
                    print(f"round {number + 1}, {n} tokens: {found['this', n][-1]:.2f} s here, "
                          f"{found['llama', n][-1]:.2f} s there", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            print_rates(found)
            return 130
    print_rates(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
