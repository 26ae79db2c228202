"""How Magnet is run. Every default says where it is from."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from ropewalk.errors import UsageError

NAME = "magnet"

Placement = Literal["similar", "hashed"]
Similarity = Literal["rates", "plain"]
Grafting = Literal["plain", "strict"]
Choice = Literal["similar", "first"]

MOST_SAMPLES = 1 << 20
LEAST_DEGREE = 4.0  # a successor and a finger, at either end
MOST_DEGREE = 4096.0


@dataclass(frozen=True, slots=True)
class Settings:
    """One run of Magnet, or of what the paper compares it with: the same but for placement and choices."""

    degree: float = 19.0  # links of a node in either direction, in the mean (Magnet 4.2)
    samples: int = 10  # of each topic's followers, known to all of them (Magnet 4.2)
    placement: Placement = "similar"  # beside the most similar node that is known, or by a hash (Magnet 3.2)
    similarity: Similarity = "rates"  # by how much is published, where that is known, or by topics alone (Magnet 2.1)
    choice: Choice = "similar"  # which of two candidates becomes a finger (Magnet 2.2)
    grafting: Grafting = "plain"  # as printed, or always along the way from the topic's home (ours: the reference)

    def __post_init__(self) -> None:
        if not LEAST_DEGREE <= self.degree <= MOST_DEGREE:
            raise UsageError(f"degree is {self.degree}, but must be from {LEAST_DEGREE:.0f} to {MOST_DEGREE:.0f}.")
        if not 0 <= self.samples <= MOST_SAMPLES:
            raise UsageError(f"samples is {self.samples}, but must be from 0 to {MOST_SAMPLES}.")
        for name, kinds in CHOICES.items():
            if getattr(self, name) not in kinds:
                raise UsageError(f"{name} is {getattr(self, name)!r}, but must be one of: {', '.join(kinds)}.")


CHOICES: dict[str, tuple[str, ...]] = {
    "placement": get_args(Placement),
    "similarity": get_args(Similarity),
    "choice": get_args(Choice),
    "grafting": get_args(Grafting),
}


def strawman(settings: Settings) -> Settings:
    """What the paper compares a run with (Magnet 4): the same, but blind to what anybody follows."""
    return replace(settings, placement="hashed", choice="first")
