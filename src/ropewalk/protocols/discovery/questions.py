"""What a node has asked others and is yet to be answered. Every question has a turn of its own, which its answer carries."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ropewalk.protocols.contract import Contact
from ropewalk.protocols.discovery.lookups import Lookup
from ropewalk.protocols.discovery.messages import Found, Seek, Serve, Served

Purpose = Literal["join", "refresh", "seek", "serve"]
Job = tuple[Purpose, int]
"""What a lookup is for, and for which topic; 0 where it is for none."""


@dataclass(frozen=True, slots=True)
class Question:
    """Something that somebody was asked."""

    to: Contact
    message: Seek | Serve
    job: Job
    lookup: Lookup
    at: float


class Questions:
    """All that are open. Whoever opens one closes it in time, answered or not."""

    __slots__ = ("by_turn", "turn")

    def __init__(self) -> None:
        self.by_turn: dict[int, Question] = {}  # MOST_OPEN, and what lookups ask that began before there were as many
        self.turn = 0  # questions so far

    def __len__(self) -> int:
        """How many are open."""
        return len(self.by_turn)

    def __iter__(self) -> Iterator[Question]:
        """Those that are open."""
        return iter(self.by_turn.values())

    def put(self, to: Contact, job: Job, lookup: Lookup, now: float) -> Question:
        """What a lookup asks: for the closest while it goes on, to be kept by them when it is over."""
        self.turn += 1
        seek = Seek(lookup.target, self.turn, lookup.members)
        message = Serve(lookup.target, self.turn) if lookup.over else seek
        question = self.by_turn[self.turn] = Question(to, message, job, lookup, now)
        return question

    def close(self, turn: int) -> Question | None:
        """It is not answered in time, or cannot be; None if it was."""
        return self.by_turn.pop(turn, None)

    def close_all_to(self, node: int) -> list[Question]:
        """Nothing that it was asked will be answered."""
        turns = [turn for turn, question in self.by_turn.items() if question.to.id == node]
        return [self.by_turn.pop(turn) for turn in turns]

    def answered(self, sender: Contact, answer: Found | Served) -> Question | None:
        """The question that this is the first answer to, in time and from whom it was put to; None if there is none."""
        question = self.by_turn.get(answer.turn)
        if question is None or question.to.id != sender.id or question.message.tag != answer.tag:
            return None
        if isinstance(question.message, Seek) != isinstance(answer, Found):
            return None
        return self.by_turn.pop(answer.turn)
