"""What can be chosen about a run of Scribe: nothing, so far."""

from dataclasses import dataclass

NAME = "scribe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Chord's links and Scribe's trees follow from ids alone."""
