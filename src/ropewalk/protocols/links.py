"""The connections of one node, shared by everything that needs them, and counted so that none is closed too early.

A link is used by every topic that has its other end as a neighbour, and by every topic on which the other end has said
that it holds us. When the last use goes, it idles: a walk may still have to come back along it, and it is often wanted
again. It is closed when it has idled for a whole period. One that no topic has ever used was opened to ask somebody
something; it is closed soon after, since a node asks many more than it has neighbours.
"""

from collections.abc import Collection
from dataclasses import replace

from ropewalk.protocols.contract import Connect, Contact, Disconnect, Effect, Event, LinkDown, Message, Send, bytes_of
from ropewalk.protocols.rates import Bucket, Rate
from ropewalk.protocols.reached import Reached

OUTBOX = 1024  # ours: messages that wait for a link to come up: who comes new to a ring asks about all its topics through one
MOST_COMING = 64  # ours: links that are coming up, while nobody is called on the word of others
ON_THEIR_WORD = Rate(64.0, 512)  # ours: calls to nodes that others have named
PASSED_ON = Rate(
    1000.0, 10_000
)  # ours: of a kind over one link, that others have begun: half of what its other end takes
OF_STATES = Rate(25.0, 500)  # ours: likewise, of kinds that are long to read
HASTY = 1.0  # ours, seconds: who keeps the rules closes what has idled for longer
MOST_HASTY = 1024  # ours: nodes that have closed a link as soon as it was up
OUTBOX_BYTES = 4 * 1_048_576  # ours: of events among them


class Link:
    """One connection, or the attempt at one."""

    __slots__ = (
        "announced_at",
        "contact",
        "heard_at",
        "held_on",
        "idle_since",
        "last_beat",
        "outbox",
        "passed_on",
        "passing",
        "up",
        "up_since",
        "uses",
    )

    def __init__(self, contact: Contact, now: float) -> None:
        self.contact = contact
        self.up = False
        self.uses = 0  # grows when a topic begins to use it, in either direction; shrinks when one ends
        self.passing = True  # whether no topic has used it so far
        self.held_on = 0  # of these, the topics on which the other end has said that it holds us
        self.outbox: list[Message] | None = None  # what is sent as soon as it is up
        self.passed_on: dict[str, Bucket] = {}  # what may yet be sent that others have begun, by kind
        self.idle_since = self.heard_at = self.up_since = now
        self.announced_at = float("-inf")  # when its other end last said that it holds us on a topic, or no longer
        self.last_beat = 0  # the number of the last keep-alive from its other end


class Links:
    """All links of a node, by the id at the other end."""

    __slots__ = ("by_id", "hasty", "on_their_word", "reached")

    def __init__(self) -> None:
        self.reached = Reached()  # for all parts of the node, which share the links
        self.on_their_word = Bucket(ON_THEIR_WORD, 0.0)
        self.by_id: dict[int, Link] = {}  # grows by Connect and LinkUp, shrinks by LinkDown and Disconnect
        self.hasty: dict[int, None] = {}  # who closed the last link as soon as it was up; at most MOST_HASTY

    def is_up(self, node: int) -> bool:
        """Whether something can be sent there."""
        link = self.by_id.get(node)
        return link is not None and link.up

    def seek(self, contact: Contact, now: float) -> list[Effect]:
        """See to it that there is a link, or an attempt at one."""
        return self._sought(contact, now)[1]

    def post(self, contact: Contact, message: Message, now: float) -> list[Effect]:
        """Send to somebody who need not be linked yet."""
        link, effects = self._sought(contact, now)
        if link.up:
            link.idle_since = now
            return [Send(contact, message)]
        if link.outbox is None:
            link.outbox = []
        size = _bytes_in(message)
        if len(link.outbox) < OUTBOX and (not size or size + sum(map(_bytes_in, link.outbox)) <= OUTBOX_BYTES):
            link.outbox.append(message)
        else:
            self.reached.note("messages that wait for a link")
        return effects

    def answer(self, contact: Contact, message: Message, now: float, rate: Rate = PASSED_ON) -> list[Effect]:
        """Send to somebody whom others have named: who asks in the name of many has not all of them called at once."""
        return self.pass_on(contact, message, now, rate) if self.may_seek(contact.id, now) else []

    def pass_on(self, contact: Contact, message: Message, now: float, rate: Rate = PASSED_ON) -> list[Effect]:
        """Send what others have begun, as far as `may_pass_on` allows."""
        return self.post(contact, message, now) if self.may_pass_on(contact.id, message.kind, now, rate) else []

    def heard(self, node: int, now: float) -> None:
        """Something has come from there: a keep-alive may be behind much else."""
        link = self.by_id.get(node)
        if link is not None:
            link.heard_at = now

    def may_pass_on(self, node: int, kind: str, now: float, rate: Rate = PASSED_ON) -> bool:
        """Whether one message more may go there that others have begun: several that send as much as each may are more than its other end takes.

        It would cut this node off, which has done nothing but pass on.
        """
        link = self.by_id.get(node)
        if link is None:
            return True
        bucket = link.passed_on.get(kind)
        if bucket is None:
            bucket = link.passed_on[kind] = Bucket(rate, now)
        if bucket.take(now):
            return True
        self.reached.note(f"{kind} passed on")
        return False

    def may_seek(self, node: int, now: float) -> bool:
        """Whether somebody whom others have named may be called, or has been: to be asked once, it counts as a call."""
        if node in self.by_id:
            return True
        coming = sum(not link.up for link in self.by_id.values())
        if coming < MOST_COMING and self.on_their_word.take(now):
            return True
        self.reached.note("calls on the word of others")
        return False

    def came_up(self, contact: Contact, now: float) -> list[Effect]:
        """A link is there: what waited for it is sent."""
        link = self.by_id.get(contact.id)
        if link is None:
            link = self.by_id[contact.id] = Link(contact, now)
        link.up, link.idle_since, link.heard_at, link.up_since, link.last_beat = True, now, now, now, 0
        outbox, link.outbox = link.outbox or [], None
        return [Send(contact, message) for message in outbox]

    def went_down(self, node: int) -> None:
        """A link is gone, or there never was one; so is what waited for it."""
        self.by_id.pop(node, None)

    def judged(self, down: LinkDown, now: float, passing: float) -> LinkDown:
        """What it means that a link is down, before it is forgotten: who closes it as soon as it is up, twice in a row, has failed.

        Else it would be called again at once for ever. Links that were only `passing` are closed after so many seconds by who keeps
        the rules.
        """
        node, link = down.contact.id, self.by_id.get(down.contact.id)
        least = min(HASTY, passing / 2)
        if down.cause != "closed" or link is None or not link.up or now - link.up_since >= least:
            self.hasty.pop(node, None)
            return down
        if node in self.hasty:
            del self.hasty[node]
            return replace(down, cause="failed")
        self.hasty[node] = None
        if len(self.hasty) > MOST_HASTY:
            self.reached.note("nodes that close links in haste")
            del self.hasty[next(iter(self.hasty))]
        return down

    def use(self, node: int) -> None:
        """A topic begins to use a link that is up."""
        link = self.by_id[node]
        link.uses += 1
        link.passing = False

    def release(self, node: int, now: float) -> None:
        """A topic no longer uses a link, if it is still there."""
        link = self.by_id.get(node)
        if link is not None:
            link.uses -= 1
            link.idle_since = now

    def held(self, node: int) -> None:
        """The other end holds us on one topic more."""
        self.use(node)
        self.by_id[node].held_on += 1

    def let_go(self, node: int, now: float) -> None:
        """The other end holds us on one topic less, if the link is still there."""
        if node in self.by_id:
            self.release(node, now)
            self.by_id[node].held_on -= 1

    def has_passing(self) -> bool:
        """Whether there are links that no topic has used so far."""
        return any(link.passing for link in self.by_id.values())

    def close_idle(self, before: float, *, passing: bool = False) -> list[Effect]:
        """Take down what nobody has used since `before`: all of it, or only what no topic has ever used."""
        idle = [link for link in self.by_id.values() if link.up and not link.uses and link.idle_since <= before]
        idle = [link for link in idle if link.passing or not passing]
        for link in idle:
            del self.by_id[link.contact.id]
        return [Disconnect(link.contact) for link in idle]

    def close_others(self, needed: Collection[int], before: float) -> list[Effect]:
        """Take down what is not needed, and has not been used since `before`."""
        links = self.by_id.values()
        idle = [link for link in links if link.up and link.contact.id not in needed and link.idle_since <= before]
        for link in idle:
            del self.by_id[link.contact.id]
        return [Disconnect(link.contact) for link in idle]

    def close_all(self) -> list[Effect]:
        """Say good-bye to everybody."""
        effects: list[Effect] = [Disconnect(link.contact, "left") for link in self.by_id.values()]
        self.by_id.clear()
        return effects

    def _sought(self, contact: Contact, now: float) -> tuple[Link, list[Effect]]:
        link = self.by_id.get(contact.id)
        if link is not None:
            return link, []
        link = self.by_id[contact.id] = Link(contact, now)
        return link, [Connect(contact)]


def _bytes_in(message: Message) -> int:
    event = getattr(message, "event", None)
    return bytes_of(event) if isinstance(event, Event) else 0
