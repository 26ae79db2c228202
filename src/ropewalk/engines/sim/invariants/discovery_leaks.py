"""Discovery tells strangers tags and contacts, never a topic, and names as members only those who have said so themselves.

Whoever has taken that back, or has said good-bye, is named no longer; whoever has done neither, not after a lease. What
discovery does tell, and to whom, is listed in `docs/discovery.md`.
"""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.engines.sim.liars import Babbler, Pretender
from ropewalk.protocols.contract import Contact, Effect, LinkDown, LinkUp, Received, Send, Subscribe
from ropewalk.protocols.discovery.messages import Found, OfTag, Prove, Proven, Serve, Served, Shown, Unserve
from ropewalk.protocols.discovery.tags import proof
from ropewalk.protocols.stan.node import Node

LATE = 5.0  # seconds for which an answer may wait for a link that has to be opened anew


class DiscoveryLeaks(Invariant):
    """Checked for everything that is sent by nodes which keep the rules of discovery."""

    name: ClassVar[str] = "discovery leaks"

    def __init__(self) -> None:
        self._topics: dict[int, None] = {}  # all that anybody has followed
        self._shown: dict[tuple[Node, int, int], None] = {}  # (where, tag, who): it has shown that it knows the topic
        self._said: dict[tuple[Node, int, int], float] = {}  # (where, tag, who) -> when it said last that it serves it
        self._taken_back: dict[tuple[Node, int, int], float] = {}  # likewise -> when it took that back

    def before(self, moment: Moment) -> None:
        """See `Invariant`."""
        match moment.event:
            case Subscribe():
                self._topics[moment.event.topic] = None
            case Received(sender, Serve(tag)):
                self._said[moment.stan, tag, sender.id] = moment.now
            case Received(sender, Prove(tag, _, shown)) if moment.stan.finding is not None:
                proofs = moment.stan.finding.proofs
                topic = proofs.served.get(tag)
                if topic is not None and shown == proof(topic, sender.id, moment.node.me.id, proofs.secret):
                    self._shown[moment.stan, tag, sender.id] = None
            case Received(sender, Unserve(tag)):
                self._take_back((moment.stan, tag, sender.id), moment.now)
            case LinkDown(contact, "left"):
                gone = [key for key in self._said if key[0] is moment.stan and key[2] == contact.id]
                for key in gone:
                    self._take_back(key, moment.now)
            case _:
                pass

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        for effect in moment.effects if not isinstance(moment.node, Pretender | Babbler) else ():
            wrong = self._wrong_with(effect, moment)
            if wrong is not None:
                return wrong
        return None

    def _wrong_with(self, effect: Effect, moment: Moment) -> str | None:
        if not isinstance(effect, Send) or not isinstance(effect.message, OfTag):
            return None
        message = effect.message
        shown = message.proof if isinstance(message, Shown) else None
        if message.tag in self._topics or shown in self._topics or message.topics:
            return f"names a topic by a {type(message).__name__}"
        if (
            isinstance(message, Proven)
            and message.proof
            and (moment.stan, message.tag, effect.to.id) not in self._shown
        ):
            return f"shows to {effect.to.id}, which has not shown that it knows the topic, who follows it"
        serving = message.serving if isinstance(message, Found | Served) else ()
        for contact in serving:
            if not self._has_said_so(moment, message.tag, contact):
                return f"names {contact.id} as a member, which has not said so here"
        return None

    def _has_said_so(self, moment: Moment, tag: int, contact: Contact) -> bool:
        if contact.id == moment.node.me.id:
            return True
        key = (moment.stan, tag, contact.id)
        late = LATE if isinstance(moment.event, LinkUp) else 0.0  # only then does anything go that had to wait
        if late and moment.now <= self._taken_back.get(key, -late) + late:
            return True
        said = self._said.get(key)
        return said is not None and moment.now <= said + moment.stan.of_discovery.lease + late

    def _take_back(self, key: tuple[Node, int, int], now: float) -> None:
        if self._said.pop(key, None) is not None:
            self._taken_back[key] = now
