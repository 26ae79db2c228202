"""Nodes that keep the protocol but for what they say about others and what they hold back, and how they choose their ids."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from heapq import nsmallest
from typing import ClassVar

from ropewalk.protocols.catalogue import PROTOCOLS, Make
from ropewalk.protocols.contract import Contact, Effect, Input, Node, Received, Send
from ropewalk.protocols.discovery.messages import Found, Prove, Proven, Serve, Served
from ropewalk.protocols.discovery.settings import MOST_NAMED
from ropewalk.protocols.dissemination.messages import Have, Push, Want
from ropewalk.protocols.dissemination.settings import MOST_IDS
from ropewalk.protocols.stan.messages import Reply, Step, Walk
from ropewalk.protocols.stan.node import Node as StanNode
from ropewalk.protocols.stan.settings import NAME, Settings, Weight
from ropewalk.protocols.stan.walks import MOST_PER_HOP
from ropewalk.protocols.stan.weights import weigher
from ropewalk.protocols.view import Weigh
from ropewalk.seeds import chance

Naming = Callable[[Step], frozenset[Contact]]
"""Whom liars name in one step of a walk."""
BABBLED = 8  # events that are made up beside those of one advertisement


class Liar:
    """An honest node, with what it sends rewritten. If it names liars, walks and replies carry them, whatever they have collected."""

    __slots__ = ("inner", "me", "naming")
    withheld: ClassVar[tuple[type, ...]] = ()  # messages that it does not send

    def __init__(self, inner: Node, naming: Naming | None) -> None:
        self.inner, self.naming, self.me = inner, naming, inner.me

    def handle(self, event: Input, now: float) -> list[Effect]:
        """See `contract.Node`."""
        effects = self.inner.handle(event, now)
        return [self._twisted(effect) for effect in effects if not self._is_withheld(effect)]

    def follows(self, topic: int) -> bool:
        """See `contract.Node`."""
        return self.inner.follows(topic)

    def held(self) -> dict[int, list[Contact]]:
        """See `contract.Node`."""
        return self.inner.held()

    def _is_withheld(self, effect: Effect) -> bool:
        return isinstance(effect, Send) and isinstance(effect.message, self.withheld)

    def _twisted(self, effect: Effect) -> Effect:
        if self.naming is None or not isinstance(effect, Send) or not isinstance(effect.message, Step):
            return effect
        named = self.naming(effect.message) if effect.message.seen else effect.message.seen
        return Send(effect.to, replace(effect.message, seen=named))


class Absorber(Liar):
    """One with which walks end: nobody behind it hears of who walks, and who walks hears of liars only."""

    __slots__ = ()

    def handle(self, event: Input, now: float) -> list[Effect]:
        """See `contract.Node`."""
        effects = super().handle(event, now)
        if not isinstance(event, Received) or not isinstance(event.message, Walk):
            return effects
        return [self._ended(effect, event.sender, event.message) for effect in effects]

    def _ended(self, effect: Effect, sender: Contact, walk: Walk) -> Effect:
        if self.naming is None or not isinstance(effect, Send) or not isinstance(effect.message, Walk):
            return effect
        return Send(sender, Reply(walk.topic, walk.source, walk.turn, walk.hop, self.naming(walk)))


class Silent(Liar):
    """One that takes places and does nothing for events: it sends none, offers none, and asks for none."""

    __slots__ = ()
    withheld: ClassVar[tuple[type, ...]] = (Push, Have, Want)


class Teaser(Liar):
    """One that asks for events and offers what it has, as all do, and never hands any over: others wait for it in vain."""

    __slots__ = ()
    withheld: ClassVar[tuple[type, ...]] = (Push,)


class Besieger(Absorber):
    """One that does both: walks and events end with it."""

    __slots__ = ()
    withheld: ClassVar[tuple[type, ...]] = Silent.withheld


class Pretender(Liar):
    """One that says that it serves every tag about which it is asked, to learn which topic it is, and what is said on it.

    Asked for a proof, it guesses or, every other one, keeps silent; and it asks others for theirs, to learn who follows what.
    """

    __slots__ = ()

    def handle(self, event: Input, now: float) -> list[Effect]:
        """See `contract.Node`."""
        effects = super().handle(event, now)
        assert isinstance(self.inner, StanNode)
        for effect in list(effects):
            if isinstance(effect, Send) and isinstance(effect.message, Found):
                tag, turn = effect.message.tag, effect.message.turn
                for contact in effect.message.closer:
                    effects += self.inner.neighbours.links.post(contact, Serve(tag, turn), now)
                    effects += self.inner.neighbours.links.post(contact, Prove(tag, turn, self._guess(tag)), now)
        return effects

    def _is_withheld(self, effect: Effect) -> bool:
        silent = self.me.id & 1
        return bool(silent and isinstance(effect, Send) and isinstance(effect.message, Proven))

    def _guess(self, tag: int) -> int:
        return chance(tag, "guess", self.me.id)

    def _twisted(self, effect: Effect) -> Effect:
        match effect:
            case Send(to, Found() as found):
                return Send(to, replace(found, serving=(self.me, *found.serving)[:MOST_NAMED]))
            case Send(to, Proven() as proven) if not proven.proof:
                return Send(to, replace(proven, proof=self._guess(proven.tag)))
            case _:
                return effect


class Babbler(Liar):
    """One that offers events that do not exist, and names nodes and members that are not there."""

    __slots__ = ()

    def _twisted(self, effect: Effect) -> Effect:
        match effect:
            case Send(to, Have() as have):
                topics = have.offers[0][1]
                made_up = tuple((chance(have.offers[0][0], "event", n), topics) for n in range(BABBLED))
                return Send(to, replace(have, offers=(*made_up, *have.offers)[:MOST_IDS]))
            case Send(to, Found() as found):
                nobody = tuple(Contact(chance(found.turn, "nobody", self.me.id, n)) for n in range(MOST_NAMED))
                return Send(to, replace(found, closer=nobody, serving=nobody))
            case Send(to, Served() as served):
                nobody = tuple(Contact(chance(served.turn, "nobody", self.me.id, n)) for n in range(MOST_NAMED))
                return Send(to, replace(served, serving=nobody))
            case _:
                return effect


def everywhere(liars: Iterable[int]) -> Naming:
    """All of them on every topic, followed or not."""
    named = frozenset(map(Contact, liars))
    return lambda _: named


def among_followers(followed: dict[int, list[int]], liars: Iterable[int], weight: Weight) -> Naming:
    """Those that follow the topic; of more than one node may name, those whom the walk's source likes best."""
    known = dict.fromkeys(liars)
    named = {topic: [Contact(node) for node in nodes if node in known] for topic, nodes in followed.items()}

    def naming(step: Step) -> frozenset[Contact]:
        found = named.get(step.topic, [])
        if len(found) > MOST_PER_HOP:
            weigh = guessed(weight, step.source.id)
            found = nsmallest(MOST_PER_HOP, found, key=lambda contact: weigh(contact.id))
        return frozenset(found)

    return naming


def lying(
    liars: Iterable[int], naming: Naming | None, kind: type[Liar] = Liar, honest: Make = PROTOCOLS[NAME].make
) -> Make:
    """How the nodes of a population are made some of which are liars."""
    known = dict.fromkeys(liars)

    def make(me: Contact, settings: Settings, seed: int, former: Node | None) -> Node:
        node = honest(me, settings, seed, former)
        return kind(node, naming) if me.id in known else node

    return make


# Ids are free: whoever knows by what a node ranks others tries until one ranks high


def guessed(weight: Weight, node: int) -> Weigh:
    """By what a node ranks others, as far as others can tell: of a key they know nothing, and try what they know."""
    return weigher("printed" if weight == "keyed" else weight, node, 0)


def ground(weight: Weight, victim: int, tries: int, seed: int, number: int) -> int:
    """The id for liar `number` that a victim would like best, of so many drawn."""
    return min((chance(seed, "try", number, attempt) for attempt in range(tries)), key=guessed(weight, victim))
