"""An event that can be had at a node: who is known to have it, and how it goes on."""

from collections.abc import Iterable
from dataclasses import dataclass

from ropewalk.ids import weight
from ropewalk.protocols.contract import Contact, Effect, Event, Recall
from ropewalk.protocols.dissemination.messages import Push
from ropewalk.protocols.dissemination.settings import MOST_CROSSED


@dataclass(slots=True)
class Kept:
    """An event that can be had here."""

    event: Event
    hops: int
    at: float  # when it was published, as far as is known
    pushed: bool  # it came by itself, over an eager link
    on_tree: bool  # it did, or was offered along a tree where another of its topics leads: others on it get it likewise
    via: int | None  # who brought it; None: nobody, it was published or let in here
    topics: tuple[int, ...]  # on which it came
    shown: dict[int, None]  # who has shown that it has it
    sent: dict[int, None]  # to whom it went at once
    answers: dict[int, int] | None = None  # how often it was sent to who asked
    wanted_at: float | None = (
        None  # since when it was advertised, if it had to be asked for and has not come by itself since
    )


def passed_on(kept: Kept, topics: Iterable[int], now: float, *, asked: bool) -> Push:
    """As it goes on to a neighbour on these topics."""
    return Push(kept.event, tuple(topics), min(kept.hops + 1, MOST_CROSSED), asked, max(0.0, now - kept.at))


def is_left_out(followed: dict[int, dict[int, Contact]], kept: Kept) -> bool:
    """Whether some neighbour is neither known to have an event nor sent it."""
    shown, sent = kept.shown, kept.sent
    for neighbours in followed.values():
        for node in neighbours:
            if node not in shown and node not in sent:
                return True
    return False


def showed(kept: Kept, node: Contact) -> list[Effect]:
    """A node has shown that it has an event: what is still on its way there need not go."""
    if node.id in kept.shown:
        return []
    under_way = node.id in kept.sent or node.id in (kept.answers or ())
    kept.shown[node.id] = None
    return [Recall(node, Push.kind, kept.event.id)] if under_way else []


def leading(event: Event) -> int:
    """The one of its topics on which an event goes by itself, the same for everybody; on the others it is offered.

    Trees of different topics cross where a node follows several, and neither neighbour knows of the other's topic.
    """
    if len(event.topics) == 1:
        return event.topics[0]
    return min(event.topics, key=lambda topic: (weight(event.id, topic), topic))
