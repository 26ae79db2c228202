"""What can be chosen about a run of Magnet, and where each default is from."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from ropewalk.errors import UsageError
from ropewalk.parameters import parameter, refuse_unless
from ropewalk.protocols.dht.runs import OfRuns

NAME = "magnet"

Placement = Literal["similar", "hashed"]
Similarity = Literal["rates", "topics"]
Choice = Literal["similar", "first"]
Grafting = Literal["printed", "strict"]
CHOICES: dict[str, tuple[str, ...]] = {
    "placement": get_args(Placement),
    "similarity": get_args(Similarity),
    "choice": get_args(Choice),
    "grafting": get_args(Grafting),
}

MOST_SAMPLES = 1 << 20
LEAST_DEGREE = 4.0  # a successor and a finger, at either end
MOST_DEGREE = 4096.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(OfRuns):
    """Sources: Magnet (its section). The defaults are the printed protocol."""

    degree: float = parameter("Links of a node in either direction, in the mean.", default=19.0)  # Magnet 4.2
    samples: int = parameter("Followers of a topic that all of them know of.", default=10)  # Magnet 4.2
    placement: Placement = parameter(  # Magnet 3.2; hashed is its strawman
        "Where a node sits: beside the most similar that it knows, or where a hash says.", default="similar"
    )
    similarity: Similarity = parameter(  # Magnet 2.1
        "What topics count for: what is published on them, where that is known, or all the same.", default="rates"
    )
    choice: Choice = parameter(  # Magnet 2.2; first is its strawman
        "Which of two candidates becomes a finger: the more similar, or the first.", default="similar"
    )
    grafting: Grafting = parameter(  # Magnet 3.3; strict is ours, as a reference
        "How trees grow: from another follower, as printed, or always along the way from the topic's home.",
        default="printed",
    )
    gather: float = 0.05  # ours, seconds: how long a newcomer waits to be told what to follow, before it sits down

    def __post_init__(self) -> None:
        OfRuns.__post_init__(self)
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise UsageError(f"{name} is {getattr(self, name)!r}, but must be one of: {', '.join(allowed)}.")
        refuse_unless(LEAST_DEGREE, MOST_DEGREE, degree=self.degree)
        refuse_unless(0, MOST_SAMPLES, samples=self.samples)


def strawman(settings: Settings) -> Settings:
    """What the paper compares a run with (Magnet 4): the same, but blind to what anybody follows."""
    return replace(settings, placement="hashed", choice="first")
