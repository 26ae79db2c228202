"""What can be chosen about a run of Scribe, and where each default is from."""

from dataclasses import dataclass

from ropewalk.protocols.dht.runs import OfRuns

NAME = "scribe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(OfRuns):
    """Chord's links and Scribe's trees follow from ids alone."""
