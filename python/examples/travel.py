# SPDX-License-Identifier: Apache-2.0
"""A travel guide: a plan with an argument, one of two cities, and advice for some travellers.

    python3 -m chunkproof.schema travel.py -o travel.xml
    python3 -m chunkproof.prompt travel.py city=miami duration="3 days" question="Where to surf?"
"""
from collections.abc import Iterator
from typing import Literal

from chunkproof.program import prompt


@prompt(duration=4)
def trip_plan(duration: str) -> Iterator[str]:
    yield f"Plan a trip of {duration}. "


@prompt(duration=4, question=60)
def travel(city: Literal["tokyo", "miami"], duration: str, question: str,
           overseas: bool = False) -> Iterator[str]:
    yield "You are a travel guide. "
    yield from trip_plan(duration)
    if overseas:
        yield "The traveller comes from overseas. Say which papers and which plugs to take along. "
    match city:
        case "tokyo":
            yield ("Tokyo is the capital of Japan. Trains go everywhere, kitchens close late, and "
                   "in April the cherries bloom. ")
        case "miami":
            yield ("Miami lies by the sea. Winters are mild, beaches are long, and the coffee is "
                   "Cuban. ")
    yield "Answer in a few short words. "
    yield question
