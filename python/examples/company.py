# SPDX-License-Identifier: Apache-2.0
"""What the programs of a company share: how it speaks, and its units. support.py imports it."""
from collections.abc import Iterator
from typing import Literal

from chunkproof.program import prompt, system

Tone = Literal["plain", "formal"]
UNITS = """The units are:
mm  a millimetre
kg  a kilogram
N   a newton, kg m/s^2
"""


@prompt
def manners(tone: Tone) -> Iterator[str]:
    with system:
        yield "You answer for a maker of springs. "
        if tone == "formal":
            yield "Address the reader by title and family name. "
        yield "Say so when you do not know."
