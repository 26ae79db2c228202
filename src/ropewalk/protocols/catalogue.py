"""Every protocol by name, with what it is, which engines can run it, and how its nodes are made."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, get_args

from ropewalk.errors import UsageError
from ropewalk.protocols.baselines.flood import Flood, Flooded
from ropewalk.protocols.baselines.gossipsub import messages as gossipsub_messages
from ropewalk.protocols.baselines.gossipsub.node import Node as GossipsubNode
from ropewalk.protocols.baselines.gossipsub.settings import Settings as GossipsubSettings
from ropewalk.protocols.contract import Contact, Node
from ropewalk.protocols.dht import messages as ring_messages
from ropewalk.protocols.discovery import messages as discovery_messages
from ropewalk.protocols.discovery.settings import Settings as DiscoverySettings
from ropewalk.protocols.dissemination import messages as event_messages
from ropewalk.protocols.dissemination.settings import Settings as EventSettings
from ropewalk.protocols.kato import messages as kato_messages
from ropewalk.protocols.kato import settings as kato
from ropewalk.protocols.kato.node import Node as KatoNode
from ropewalk.protocols.magnet import messages as magnet_messages
from ropewalk.protocols.magnet import settings as magnet
from ropewalk.protocols.magnet.node import Node as MagnetNode
from ropewalk.protocols.sampling import catalogue as sampling
from ropewalk.protocols.scribe import settings as scribe
from ropewalk.protocols.scribe.node import Node as ScribeNode
from ropewalk.protocols.stan import messages as stan_messages
from ropewalk.protocols.stan import settings as stan
from ropewalk.protocols.stan.messages import Announce, KeepAlive, Withdraw
from ropewalk.protocols.stan.node import Node as StanNode
from ropewalk.protocols.trees import messages as tree_messages
from ropewalk.seeds import chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A protocol as the outside knows it."""

    name: str
    sentence: str
    engines: tuple[str, ...]  # which engines can run it
    settings: type[Any] = stan.Settings  # what can be chosen about a run of it
    schedules: tuple[stan.Schedule, ...] = ()  # on which it can be run
    ignored: tuple[str, ...] = ()  # of those settings, what plays no part in it
    make: "Make" = lambda *_: _refused()
    # nodes with timers of their own, from who they are and a seed
    variants: dict[str, Callable[[Contact, int], Node]] = field(default_factory=dict)
    messages: tuple[type[Any], ...] = ()  # all that its nodes may tell each other


Make = Callable[[Contact, Any, int, Node | None], Node]
"""Who it is, the settings of the run, its seed, and what it was before it went, if it comes back."""


def _refused() -> Node:
    raise UsageError("nodes of this protocol are known as arrays only.")


def stan_with(of_events: EventSettings | None = None, of_discovery: DiscoverySettings | None = None) -> Make:
    """How StaN's nodes are made, with settings of their parts; None for the usual ones."""

    def make(me: Contact, settings: stan.Settings, seed: int, former: Node | None) -> Node:
        key = chance(seed, "key", me.id)
        node = StanNode(me, settings, seed, key, of_events=of_events, of_discovery=of_discovery)
        if isinstance(former, StanNode):
            node.come_back(former)
        return node

    return make


_stan = stan_with()


def _flood(me: Contact, settings: stan.Settings, seed: int, former: Node | None) -> Node:  # noqa: ARG001
    return StanNode(me, settings, seed, chance(seed, "key", me.id), events=Flood, walking=False)


def _gossipsub(me: Contact, settings: stan.Settings, seed: int, former: Node | None) -> Node:  # noqa: ARG001
    node = GossipsubNode(me, GossipsubSettings(), seed)
    if isinstance(former, GossipsubNode):
        node.come_back(former)
    return node


def _scribe(me: Contact, settings: scribe.Settings, seed: int, former: Node | None) -> Node:
    node = ScribeNode(me, settings, seed)
    if isinstance(former, ScribeNode):
        node.come_back(former)
    return node


def _magnet(me: Contact, settings: magnet.Settings, seed: int, former: Node | None) -> Node:
    node = MagnetNode(me, settings, seed)
    if isinstance(former, MagnetNode):
        node.come_back(former)
    return node


def kato_with(of_events: EventSettings | None = None, of_discovery: DiscoverySettings | None = None) -> Make:
    """How nodes that link by interests are made, likewise."""

    def make(me: Contact, settings: kato.Settings, seed: int, former: Node | None) -> Node:
        node = KatoNode(me, settings, seed, of_events=of_events, of_discovery=of_discovery)
        if isinstance(former, KatoNode):
            node.come_back(former)
        return node

    return make


def _told(kind: type[Any], settings: Any) -> Callable[[Contact, int], Node]:
    return lambda me, seed: kind(me, settings, seed)


def _variant(make: Make, **more: Any) -> Callable[[Contact, int], Node]:
    settings = stan.Settings(schedule="timed", **more)
    return lambda me, seed: make(me, settings, seed, None)


# Whoever does not walk has no use for how walks go, what they bring, and how whom they bring is ranked.
OF_WALKS = ("ttl", "weight", "shared", "collect", "learn", "snoop", "adaptive", "slowest", "knowledge")

PROTOCOLS = {
    entry.name: entry
    for entry in (
        Entry(
            name=stan.NAME,
            sentence="one random overlay per topic, each node's views aligned on the same neighbours (Matos et al.)",
            engines=("batch", "sim", "live"),
            schedules=get_args(stan.Schedule),
            make=_stan,
            variants={
                "given": _variant(_stan),
                "scamp": _variant(_stan, manager="scamp", learn=True),
                "cyclon": _variant(_stan, manager="cyclon", snoop=True, adaptive=True),
            },
            messages=(
                *get_args(stan_messages.Message),
                *get_args(sampling.Message),
                *get_args(event_messages.Message),
                *get_args(discovery_messages.Message),
            ),
        ),
        Entry(
            name="flood",
            sentence="one random overlay per topic, nothing aligned: events are flooded on each of their topics apart",
            engines=("sim",),
            schedules=("timed",),
            ignored=(*OF_WALKS, "discover"),
            make=_flood,
            variants={
                "given": _variant(_flood),
                "scamp": _variant(_flood, manager="scamp"),
                "cyclon": _variant(_flood, manager="cyclon"),
            },
            messages=(Announce, Withdraw, KeepAlive, Flooded, *get_args(sampling.Message)),
        ),
        Entry(
            name="gossipsub",
            sentence="a mesh of about six links per topic, and gossip beside it (libp2p, v1.0)",
            engines=("sim",),
            schedules=("timed",),
            ignored=(*OF_WALKS, "manager", "discover"),  # whom to connect to comes with the subscription
            make=_gossipsub,
            variants={"given": _variant(_gossipsub)},
            messages=get_args(gossipsub_messages.Message),
        ),
        Entry(
            name=magnet.NAME,
            sentence="similar nodes close together on a ring, and trees that follow it (Girdzijauskas et al.)",
            engines=("batch", "sim", "live"),
            settings=magnet.Settings,
            schedules=("timed",),
            make=_magnet,
            variants={"printed": _told(MagnetNode, magnet.Settings())},
            messages=(
                *get_args(ring_messages.Message),
                *get_args(tree_messages.Message),
                *get_args(magnet_messages.Message),
            ),
        ),
        Entry(
            name=scribe.NAME,
            sentence="a tree for each topic over Chord, towards a node that the topic's hash names (Castro et al.)",
            engines=("batch", "sim", "live"),
            settings=scribe.Settings,
            schedules=("timed",),
            make=_scribe,
            variants={"given": _told(ScribeNode, scribe.Settings())},
            messages=(*get_args(ring_messages.Message), *get_args(tree_messages.Message)),
        ),
        Entry(
            name=kato.NAME,
            sentence="links by which interests cover which, told by Bloom filters of what is wanted (Kato et al.)",
            engines=("batch", "sim", "live"),
            settings=kato.Settings,
            schedules=("timed",),
            make=kato_with(),
            variants={
                "cells": _told(KatoNode, kato.Settings(cover="cells")),
                "printed": _told(KatoNode, kato.Settings(keeping="all")),
            },
            messages=(
                *get_args(kato_messages.Message),
                *get_args(event_messages.Message),
                *get_args(discovery_messages.OfLookups),
            ),
        ),
    )
}


def find(name: str, engine: str) -> Entry:
    """The protocol called `name`, if `engine` can run it."""
    entry = PROTOCOLS.get(name)
    if entry is None:
        raise UsageError(f"protocol {name!r} is not known; choose one of: {', '.join(PROTOCOLS)}.")
    if engine not in entry.engines:
        others = [each for each in entry.engines if each != "live"]  # which is another verb's
        raise UsageError(f"engine {engine!r} cannot run {name}; say --engine {' or '.join(others)}.")
    return entry


ON_SOCKETS = tuple(entry.name for entry in PROTOCOLS.values() if "live" in entry.engines)


def find_live(name: str) -> Entry:
    """The protocol called `name`, if its nodes run on sockets."""
    if name not in ON_SOCKETS:
        known = "has no nodes on sockets" if name in PROTOCOLS else "is not known"
        raise UsageError(f"protocol {name!r} {known}; choose one of: {', '.join(ON_SOCKETS)}.")
    return PROTOCOLS[name]
