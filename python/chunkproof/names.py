# SPDX-License-Identifier: Apache-2.0
"""Names of modules and params: what PML-3 lets them be, and which ones a program gives (PROG-4)."""
import re

START = ("A-Z_a-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C-\u200D"
         "\u2070-\u218F\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD"
         "\U00010000-\U000EFFFF")
REST = START + "\u00B7\u0300-\u036F\u203F-\u2040.0-9-"
NAME = re.compile(f"[{START}][{REST}]*")
OTHER = re.compile(f"[^{REST}]+")
# Elements of PML (PML-2): no module may be called so. An attribute of <prompt>: no param may.
OF_MODULES = frozenset(("schema", "module", "union", "param", "system", "user", "assistant",
                        "scaffold", "prompt"))
OF_PARAMS = frozenset(("schema",))
MOST_BYTES, MOST_DERIVED = 255, 60  # of a name; characters of one that is derived


def is_name(text: str, taken: frozenset[str]) -> bool:
    """Whether PML lets a module or param be called so; `taken` are words of PML itself."""
    return bool(NAME.fullmatch(text)) and not text.lower().startswith("xml") \
        and text not in taken and len(text.encode()) <= MOST_BYTES


def derived(text: str, taken: frozenset[str]) -> str:
    """The name that comes of a text: `trip_plan` gives trip-plan."""
    inner = text.lstrip("_")
    name = text[:len(text) - len(inner)] + inner.replace("_", "-")
    name = OTHER.sub("-", name).strip("-.")[:MOST_DERIVED].rstrip("-.")
    return name if is_name(name, taken) else f"_{name}"


class Scope:
    """Names of a module's inside: no two modules have one name, and no two params."""

    def __init__(self, explicit: set[str], taken: frozenset[str]) -> None:
        self.names = set(explicit)
        self.taken = taken
        self.last: dict[str, int] = {}

    def name(self, text: str) -> str:
        """The next free one: plan, plan-2, plan-3 ..."""
        first = name = derived(text, self.taken)
        number = self.last.get(first, 1)
        while name in self.names:
            number += 1
            name = f"{first}-{number}"
        self.last[first] = number
        self.names.add(name)
        return name
