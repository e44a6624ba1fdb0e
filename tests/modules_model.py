#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CACHE-2 to CACHE-5 once more: derives events and report of `chunkproof simulate --modules`.

usage: tests/modules_model.py REPORT.json EVENTS.jsonl [COMMAND SCHEMA.xml [PROMPTS]]

From EVENTS.jsonl it believes the items' sizes, which items each prompt took, and its arguments. It
derives where each was and is, what left, each count, both times of each prompt, and all figures of
REPORT.json. Counts must be equal; times may differ by one nanosecond, for the rounding of doubles.
With COMMAND and SCHEMA.xml it writes the first PROMPTS (20) prompts as PML and asks
`COMMAND prompt --json` how many tokens are cached and computed, and which modules see which.
exit status: 0 right, 1 wrong, 2 bad use
"""
import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

Json = dict[str, Any]


class Wrong(Exception):
    pass


def same(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise Wrong(f"{what}: {found}, not {wanted}")


def near(what: str, found: float, wanted: float) -> None:
    if abs(found - wanted) > 1e-9 * max(abs(found), abs(wanted)):
        raise Wrong(f"{what}: {found!r}, not {wanted!r}")


class Tier:
    """Sizes by item; the last item is the most recent (CACHE-2)."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.size: dict[int, int] = {}
        self.peak = 0
        self.left = 0

    def touch(self, item: int) -> None:
        if item in self.size:
            self.size[item] = self.size.pop(item)

    def has_room(self, size: int, used: set[int]) -> bool:
        return size <= self.capacity - sum(n for i, n in self.size.items() if i in used)

    def evict_for(self, size: int, used: set[int]) -> list[int]:
        gone = []
        while size > self.capacity - sum(self.size.values()):
            gone.append(next(i for i in self.size if i not in used))
            del self.size[gone[-1]]
        self.left += len(gone)
        return gone

    def add(self, item: int, size: int) -> None:
        self.size[item] = size
        self.peak = max(self.peak, sum(self.size.values()))


class Cache:
    def __init__(self, gpu: int, cpu: int) -> None:
        self.gpu, self.cpu = Tier(gpu), Tier(cpu)
        self.used: set[int] = set()

    def to_cpu(self, item: int, size: int, left: list[list[object]]) -> int:
        if item in self.cpu.size or not self.cpu.has_room(size, self.used):
            return 0
        left += [[i, "cpu"] for i in self.cpu.evict_for(size, self.used)]
        self.cpu.add(item, size)
        return size

    def take(self, item: int, size: int, sizes: list[int]) -> Json:
        """The event of CACHE-3."""
        left: list[list[object]] = []
        where = "gpu" if item in self.gpu.size else "cpu" if item in self.cpu.size else "nowhere"
        moved = 0
        self.used.add(item)
        self.gpu.touch(item)
        self.cpu.touch(item)
        if where != "gpu" and self.gpu.has_room(size, self.used):
            while size > self.gpu.capacity - sum(self.gpu.size.values()):
                out = next(i for i in self.gpu.size if i not in self.used)
                del self.gpu.size[out]
                self.gpu.left += 1
                left.append([out, "gpu"])
                moved += self.to_cpu(out, sizes[out], left)
            self.gpu.add(item, size)
        elif where != "gpu":
            moved = self.to_cpu(item, size, left)
        return {"item": item, "from": where, "gpu": item in self.gpu.size,
                "cpu": item in self.cpu.size, "to_cpu": moved, "left": left}


def seconds(report: Json, n: int, computed: int, pairs: int, copied: int, joined: int) -> Json:
    """CACHE-4."""
    machine, model = report["server"]["machine"], report["server"]["model"]
    token = (2 * model["layers"] * model["kv_heads"] * model["head_dim"] * model["bytes"])
    same("bytes of a token", model["token_bytes"], token)
    flops, join = machine["flops_per_second"], machine["join_bytes_per_second"]
    part = {
        "linear": 2 * model["parameters"] * computed / flops,
        "attention": 4 * model["layers"] * model["heads"] * model["head_dim"] * pairs / flops,
        "reading": (model["bytes"] * model["parameters"] + token * n) / machine["bytes_per_second"],
        "copying": token * copied / machine["copy_bytes_per_second"],
        "joining": token * joined / join if join > 0 else 0.0}
    part["all"] = max(part["linear"] + part["attention"], part["reading"]) + part["copying"] \
        + part["joining"] + machine["fixed_us"] / 1e6
    return part


def spread(ns: list[int]) -> Json:
    ranked = sorted(ns)
    return {"mean": sum(ns) / len(ns) / 1e6,
            "p50": ranked[-(-len(ns) * 50 // 100) - 1] / 1e6,
            "p99": ranked[-(-len(ns) * 99 // 100) - 1] / 1e6}


class Model:
    def __init__(self, report: Json, events: list[Json]) -> None:
        self.report = report
        self.items = [e for e in events if e["event"] == "item"]
        self.prompts = [e for e in events if e["event"] == "prompt"]
        self.size = [e["tokens"] for e in self.items]
        tiers = report["tiers"]
        for tier in tiers.values():
            same("a capacity", tier["capacity_tokens"],
                 int(tier["memory_gib"] * 2**30 / report["server"]["model"]["token_bytes"]))
        self.cache = Cache(tiers["gpu"]["capacity_tokens"], tiers["cpu"]["capacity_tokens"])
        self.taken = {name: {"items": 0, "tokens": 0}
                      for name in ("gpu", "cpu", "nowhere", "kept_nowhere")}
        self.moved = 0
        self.ns: dict[str, list[int]] = {"cached": [], "full": []}
        self.sums: dict[str, dict[str, float]] = {"cached": {}, "full": {}}
        self.own: dict[int, int] = {}
        self.shared: dict[int, int] = {}

    def count(self, name: str, size: int) -> None:
        self.taken[name]["items"] += 1
        self.taken[name]["tokens"] += size

    def time(self, name: str, event: Json, part: Json) -> None:
        found = event[f"{name}_ns"]
        if abs(found - max(1.0, part["all"] * 1e9)) > 1.0:
            raise Wrong(f"prompt {event['prompt']}: {name} takes {found} ns, not {part['all']} s")
        self.ns[name].append(found)
        for key in part:
            self.sums[name][key] = self.sums[name].get(key, 0.0) + part[key]

    def prompt(self, event: Json, seen: set[int]) -> None:
        new = self.report["load"]["new"]
        encoded = pairs = copied = cached = 0
        for took in event["takes"]:
            item = took["item"]
            size = self.size[item]
            wanted = self.cache.take(item, size, self.size)
            same(f"prompt {event['prompt']}, item {item}", took, wanted)
            self.count(took["from"], size)
            if not took["gpu"] and not took["cpu"]:
                self.count("kept_nowhere", size)
            self.moved += took["to_cpu"]
            seen.add(item)
            if took["from"] == "nowhere":
                encoded += size
                pairs += self.items[item]["pairs"]
            else:
                cached += size
            copied += size if took["from"] == "cpu" else 0
        arguments = sum(event["given"].values())
        n = encoded + cached + arguments + new
        same("arguments", event["arguments"], arguments)
        same("tokens", event["tokens"], n)
        same("computed", event["computed"], encoded + arguments + new)
        same("copied", event["copied"], copied)
        if arguments == 0:  # the schema alone says where arguments stand
            same("pairs", event["pairs"], pairs + sum(range(n - new + 1, n + 1)))
        self.time("cached", event, seconds(self.report, n, event["computed"], event["pairs"],
                                           copied, cached))
        self.time("full", event, seconds(self.report, n, n, n * (n + 1) // 2, 0, 0))
        batch = event["batch"]
        self.own[batch] = self.own.get(batch, 0) + n
        self.shared[batch] = self.shared.get(batch, 0) + arguments + new

    def run(self) -> None:
        seen: set[int] = set()
        size = self.report["server"]["batch"]
        for i, event in enumerate(self.prompts):
            same("the number of a prompt", event["prompt"], i)
            same("its batch", event["batch"], i // size)
            if i % size == 0:
                seen, self.cache.used = set(), set()
            self.prompt(event, seen)
            if i % size == size - 1 or i == len(self.prompts) - 1:
                self.shared[i // size] += sum(self.size[item] for item in seen)

    def compare(self) -> None:
        report, cache = self.report, self.cache
        same("prompts", report["prompts"], len(self.prompts))
        same("interrupted", report["interrupted"], len(self.prompts) < report["load"]["prompts"])
        same("items", report["schema"]["items"], len(self.items))
        same("dropped", report["dropped"], sum(e["dropped"] for e in self.prompts))
        same("arguments", report["argument_tokens"], sum(e["arguments"] for e in self.prompts))
        self.taken["encoded"] = self.taken.pop("nowhere")
        same("taken", report["taken"], self.taken)
        for name, tier, copied in (("gpu", cache.gpu, self.taken["cpu"]["tokens"]),
                                   ("cpu", cache.cpu, self.moved)):
            found = report["tiers"][name]
            same(f"{name}: peak", found["peak_tokens"], tier.peak)
            same(f"{name}: left", found["left_items"], tier.left)
            same(f"{name}: copied", found["copied_tokens"], copied)
        memory, own, shared = report["batch_memory"], sum(self.own.values()), \
            sum(self.shared.values())
        same("batches", memory["batches"], len(self.own))
        same("own tokens", memory["own_tokens"], own)
        same("shared tokens", memory["shared_tokens"], shared)
        same("most own", memory["own_tokens_most"], max(self.own.values()))
        same("most shared", memory["shared_tokens_most"], max(self.shared.values()))
        near("reduction", memory["reduction"], 1 - shared / own)
        first = report["first_token"]
        for name in ("cached", "full"):
            for key, value in spread(self.ns[name]).items():
                near(f"{name} {key}", first[f"{name}_ms"][key], value)
            for key, value in first[f"{name}_seconds"].items():
                near(f"{name} {key}", value, self.sums[name][key])
        near("faster", first["faster"], sum(self.ns["full"]) / sum(self.ns["cached"]))


# ---- Prompts as PML ----

def as_pml(schema: Json, event: Json) -> str:
    """The prompt of an event: imports in each other, arguments as words. New text is behind no
    import, and so stands behind everything (MOD-6)."""
    parts = schema["parts"]
    imports = set(event["imports"])

    def module_around(x: int) -> int:
        x = int(parts[x]["in"])
        return x if parts[x]["kind"] == "module" else module_around(x)

    def attributes(module: int) -> str:
        return "".join(f' {parts[int(x)]["name"]}="{" ".join(["w"] * n)}"'
                       for x, n in event["given"].items() if module_around(int(x)) == module)

    def write(module: int) -> str:
        inside = "".join(write(x) for x in sorted(imports)
                         if x > 0 and module_around(x) == module)
        if module == 0:
            return inside
        name = parts[module]["name"]
        return f"<{name}{attributes(module)}>{inside}</{name}>"

    new = " ".join(["n"] * int(event["tokens"] - event["arguments"]))
    return f'<prompt schema="{schema["name"]}"{attributes(0)}>{new}{write(0)}</prompt>'


def positions(prompt: Json, schema: Json) -> list[tuple[int, int]]:
    """(position, module whose own text it is; -1: new) of each token."""
    tokens = []
    for run in prompt["runs"]:
        module = schema["parts"][run["part"]]["in"] if run["from"] == "cache" else -1
        tokens += [(run["begin"] + i, module) for i in range(run["size"])]
    return sorted(tokens)


def pairs_of(prompt: Json, schema: Json, modules: set[int]) -> int:
    """MOD-3 by the letter: of the own text of these modules (-1: what is new)."""
    sees = {row["module"]: set(row["sees"]) for row in prompt["mask"]}
    tokens = positions(prompt, schema)
    return sum(1 for i, (_, mine) in enumerate(tokens) if mine in modules
               for _, other in tokens[:i + 1] if mine == -1 or other in sees[mine])


def ask(command: str, schema: str, events: list[Json], new: int, items: list[Json]) -> int:
    """Compares these prompts with what `chunkproof prompt` says of them."""
    with tempfile.TemporaryDirectory() as folder:
        empty = subprocess.run([command, "prompt", "--json", schema], capture_output=True,
                               check=True)
        parts = json.loads(empty.stdout)["schema"]
        names = []
        for event in events:
            names.append(f"{folder}/{event['prompt']}.xml")
            text = as_pml(parts, event | {"tokens": new + event["arguments"]})
            pathlib.Path(names[-1]).write_text(text, encoding="utf-8")
        answer = subprocess.run([command, "prompt", "--json", schema, *names],
                                capture_output=True, check=True)
    for event, prompt in zip(events, json.loads(answer.stdout)["prompts"]):
        what = f"prompt {event['prompt']}"
        taken = [items[took["item"]] for took in event["takes"]]
        same(f"{what}: cached", sum(item["tokens"] for item in taken), prompt["cached"])
        same(f"{what}: computed", event["arguments"] + new, prompt["computed"])
        scaffold = {row["module"]: row["scaffold"] for row in prompt["mask"]}
        same(f"{what}: scaffolds", [(item["part"], item["scaffold"]) for item in taken],
             [(item["part"], scaffold[item["part"]]) for item in taken])
        encoded = {items[took["item"]]["part"] for took in event["takes"]
                   if took["from"] == "nowhere"}
        same(f"{what}: pairs", event["pairs"], pairs_of(prompt, parts, encoded | {-1}))
    return len(events)


def main(arguments: list[str]) -> int:
    if len(arguments) not in (2, 4, 5):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    report = json.loads(pathlib.Path(arguments[0]).read_text(encoding="utf-8"))
    lines = pathlib.Path(arguments[1]).read_text(encoding="utf-8").splitlines()
    model = Model(report, [json.loads(line) for line in lines])
    try:
        model.run()
        model.compare()
        asked = 0
        if len(arguments) > 2:
            n = int(arguments[4]) if len(arguments) == 5 else 20
            asked = ask(arguments[2], arguments[3], model.prompts[:n], report["load"]["new"],
                        model.items)
    except Wrong as wrong:
        print(wrong)
        return 1
    print(f"{len(model.prompts)} prompts, {sum(t['items'] for t in model.taken.values())} "
          f"items taken, {asked} prompts asked about")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
