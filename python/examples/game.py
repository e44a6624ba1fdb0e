# SPDX-License-Identifier: Apache-2.0
"""Files of a game's source as modules: a prompt imports those that its task is about."""
from collections.abc import Iterator

from chunkproof.program import module, prompt, system, user

UNIT = """class Unit:
    def __init__(self, x: int, y: int) -> None:
        self.x, self.y = x, y

    def move(self, dx: int, dy: int) -> None:
        self.x, self.y = self.x + dx, self.y + dy
"""
BOARD = """class Map:
    def __init__(self, width: int, height: int) -> None:
        self.cells = [["."] * width for _ in range(height)]

    def is_free(self, x: int, y: int) -> bool:
        return self.cells[y][x] == "."
"""
PLAYER = """class Player:
    def __init__(self, name: str) -> None:
        self.name = name
        self.units: list[Unit] = []

    def take_turn(self, board: Map) -> None:
        for unit in self.units:
            if board.is_free(unit.x + 1, unit.y):
                unit.move(1, 0)
"""
RULES = """class Game:
    def __init__(self, board: Map, players: list[Player]) -> None:
        self.board, self.players, self.turn = board, players, 0

    def play(self) -> None:
        while all(player.units for player in self.players):
            self.players[self.turn % len(self.players)].take_turn(self.board)
            self.turn += 1
"""
DATABASE = """class Database:
    def __init__(self, path: str) -> None:
        self.rows = sqlite3.connect(path)

    def save(self, game: Game) -> None:
        with self.rows:
            self.rows.execute("insert into games values (?)", (pickle.dumps(game),))
"""


@prompt(task=80)
def game(task: str, unit: bool, board: bool, player: bool, rules: bool,
         database: bool) -> Iterator[str]:
    with system:
        yield "You write Python for a game. These files are there:"
    with user:
        if unit:
            with module("unit.py"):
                yield UNIT
        if board:
            with module("map.py"):
                yield BOARD
        if player:
            with module("player.py"):
                yield PLAYER
        if rules:
            with module("game.py"):
                yield RULES
        if database:
            with module("database.py"):
                yield DATABASE
        yield task
