# SPDX-License-Identifier: Apache-2.0
"""An answer to a customer, with texts that company.py, beside it, keeps for several programs."""
from collections.abc import Iterator

from chunkproof.program import module, prompt, user
from company import UNITS, Tone, manners


@prompt(question=60)
def support(tone: Tone, question: str, technical: bool = False) -> Iterator[str]:
    yield from manners(tone)
    with user:
        if technical:
            with module("units"):
                yield UNITS
        yield question
