"""Every protocol by name, with what it is and which engines can run it."""

from dataclasses import dataclass

from ropewalk.errors import UsageError
from ropewalk.protocols.stan import settings as stan


@dataclass(frozen=True, slots=True)
class Entry:
    """A protocol as the outside knows it."""

    name: str
    sentence: str
    engines: tuple[str, ...]  # which engines can run it


PROTOCOLS = {
    entry.name: entry
    for entry in (
        Entry(
            name=stan.NAME,
            sentence="one random overlay per topic, each node's views aligned on the same neighbours (Matos et al.)",
            engines=("batch",),
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
