"""Every protocol by name, with what it is, which engines can run it, and how its nodes are made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

from ropewalk.errors import UsageError
from ropewalk.protocols.contract import Contact, Node
from ropewalk.protocols.discovery import messages as discovery_messages
from ropewalk.protocols.dissemination import messages as dissemination_messages
from ropewalk.protocols.sampling import catalogue as sampling
from ropewalk.protocols.stan import messages as stan_messages
from ropewalk.protocols.stan import settings as stan
from ropewalk.protocols.stan.node import Node as StanNode
from ropewalk.seeds import chance


@dataclass(frozen=True, slots=True)
class Entry:
    """A protocol as the outside knows it."""

    name: str
    sentence: str
    engines: tuple[str, ...]  # which engines can run it
    ignored: tuple[str, ...]  # settings of a run that play no part in it
    make: "Make"
    variants: dict[str, Callable[[Contact, int], Node]]  # nodes with timers of their own, from who they are and a seed
    messages: tuple[type[Any], ...]  # all that its nodes may tell each other


Make = Callable[[Contact, stan.Settings, int, Node | None], Node]
"""Who it is, the settings of the run, its seed, and what it was before it went, if it comes back."""


def _stan(me: Contact, settings: stan.Settings, seed: int, former: Node | None) -> Node:
    node = StanNode(me, settings, seed, chance(seed, "key", me.id))
    if isinstance(former, StanNode):
        node.come_back(former)
    return node


def _variant(make: Make, **more: Any) -> Callable[[Contact, int], Node]:
    settings = stan.Settings(schedule="timed", **more)
    return lambda me, seed: make(me, settings, seed, None)


PROTOCOLS = {
    entry.name: entry
    for entry in (
        Entry(
            name=stan.NAME,
            sentence="one random overlay per topic, each node's views aligned on the same neighbours (Matos et al.)",
            engines=("batch", "sim"),
            ignored=(),
            make=_stan,
            variants={
                "given": _variant(_stan),
                "scamp": _variant(_stan, manager="scamp", learn=True),
                "cyclon": _variant(_stan, manager="cyclon", snoop=True, adaptive=True),
            },
            messages=(
                *get_args(stan_messages.Message),
                *get_args(sampling.Message),
                *get_args(dissemination_messages.Message),
                *get_args(discovery_messages.Message),
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
        raise UsageError(f"engine {engine!r} cannot run {name}; choose one of: {', '.join(entry.engines)}.")
    return entry
