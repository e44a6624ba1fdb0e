# SPDX-License-Identifier: Apache-2.0
"""A travel plan with a length of time, in it where to, and in that the city: unions in modules.

    python3 -m chunkproof.schema holiday.py -o holiday.xml
    python3 -m chunkproof.prompt holiday.py for_="a week" city=tokyo request="Make a travel plan."

The param is called `for`, which is no name of Python: a `_` at the end is left out (PROG-4).
"""
from collections.abc import Iterator
from typing import Literal

from chunkproof.program import module, prompt, system, user

City = Literal["tokyo", "lisbon", "miami", "denver"]


@prompt(for_=4)
def travel_plan(for_: str, city: City) -> Iterator[str]:
    yield f"The plan is for {for_}: one line for each day, and a last one on what it costs. "
    if city in ("tokyo", "lisbon"):
        with module("overseas"):
            yield "It leads overseas: begin with passports, money, plugs and the long flight. "
            match city:
                case "tokyo":
                    yield ("It goes to Tokyo. Two airports are an hour away, trains are on time, "
                           "and most museums are closed on Mondays. ")
                case "lisbon":
                    yield ("It goes to Lisbon. Streets are steep, trams are narrow, and dinner is "
                           "late. ")
    else:
        with module("domestic"):
            yield "It stays in the country: no papers are needed, and a car is best. "
            match city:
                case "miami":
                    yield "It goes to Miami. The beach is long, and summers are wet. "
                case "denver":
                    yield ("It goes to Denver. The town is a mile high, so leave the first day "
                           "free. ")


@prompt(for_=4, request=60)
def holiday(for_: str, city: City, request: str) -> Iterator[str]:
    with system:
        yield "You plan holidays."
    with user:
        yield from travel_plan(for_, city)
        yield request
