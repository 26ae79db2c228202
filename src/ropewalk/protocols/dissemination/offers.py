"""What is offered to whom, and in which messages."""

from ropewalk.protocols.contract import Contact, Effect, Send
from ropewalk.protocols.dissemination.contract import Around
from ropewalk.protocols.dissemination.messages import Have, Offer
from ropewalk.protocols.dissemination.settings import MOST_IDS

Offers = dict[int, tuple[Contact, list[Offer]]]
"""By the id of who is told."""


def offer(offers: Offers, event: int, around: Around) -> None:
    """Add an event to what is offered to some."""
    for node, (contact, topics) in around.items():
        offers.setdefault(node, (contact, []))[1].append((event, tuple(topics)))


def told(offers: Offers, *, alone: bool = False, answer: bool = False) -> list[Effect]:
    """In as many messages as it takes, none of which names more than MOST_IDS events and topics, or one event more."""
    effects: list[Effect] = []
    for contact, offered in offers.values():
        part: list[Offer] = []
        size = 0
        for each in offered:
            part.append(each)
            size += 1 + len(each[1])
            if size >= MOST_IDS:
                effects.append(Send(contact, Have(tuple(part), alone, answer)))
                part, size = [], 0
        if part:
            effects.append(Send(contact, Have(tuple(part), alone, answer)))
    return effects
