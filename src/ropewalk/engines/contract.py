"""What every engine agrees on: the names of stages, and how it tells what it is busy with."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Literal, get_args

Phase = Callable[[str], AbstractContextManager[None]]
"""Called with what is about to happen; entered while it happens. Whoever runs an engine shows and times it."""

Engine = Literal["batch", "sim", "live"]
ENGINES: tuple[Engine, ...] = get_args(Engine)

Keep = Literal["rounds", "traffic", "crashes", "links", "connections"]
KEEPS: tuple[Keep, ...] = get_args(Keep)
"""What is done only on request: views and overlays by round, ids in messages, what
crashes leave of delivery, and the two large tables."""

Views = dict[int, dict[int, list[int]]]
"""Who holds whom: topic -> member -> its neighbours, best first."""

INITIAL, FINAL = "initial", "final"


def stage_after(turn: int, rounds: int) -> str:
    """The stage that `turn` of `rounds` rounds lead to: the last is called final."""
    if turn == rounds:
        return FINAL
    return f"round {turn}" if turn else INITIAL
