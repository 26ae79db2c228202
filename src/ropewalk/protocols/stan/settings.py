"""What can be chosen about a StaN run, where each default is from, and the view sizes that follow."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from ropewalk.errors import UsageError

NAME = "stan"

Overlay = Literal["fixed", "erdos-renyi"]
OVERLAYS: tuple[Overlay, ...] = get_args(Overlay)
LONGEST_WALK = 255  # ours: far beyond any overlay's diameter, and it fits a byte on the wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Sources: StaN = the journal paper (its section), StAN = the workshop paper."""

    rounds: int = 8  # StaN 3.3
    ttl: int = 5  # StAN 3; StaN 2.4 says only "on the order of the overlay diameter"
    overlay: Overlay = "fixed"  # StaN 3.3; StAN 3 uses erdos-renyi
    connectivity: float = 0.99  # StaN 3.3: the probability that an overlay is connected

    def __post_init__(self) -> None:
        if self.rounds < 0:
            raise UsageError(f"rounds is {self.rounds}, but must be 0 or more.")
        if not 0 <= self.ttl <= LONGEST_WALK:
            raise UsageError(f"ttl is {self.ttl}, but must be from 0 to {LONGEST_WALK}: a walk visits ttl + 1 nodes.")
        if self.overlay not in OVERLAYS:
            raise UsageError(f"overlay is {self.overlay!r}, but must be one of: {', '.join(OVERLAYS)}.")
        if not 0 < self.connectivity < 1:
            raise UsageError(f"connectivity is {self.connectivity}, but must be a probability between 0 and 1.")

    @property
    def margin(self) -> float:
        """The c of a mean out-degree ln n + c whose overlay is connected with the wanted probability exp(-exp(-c))."""
        return -math.log(-math.log(self.connectivity))


def fan_out(members: int, margin: float) -> int:
    """The fixed view size of a topic: ceil(ln n + c), or everybody else if that is fewer (Kermarrec et al. 2003)."""
    return max(0, min(members - 1, math.ceil(math.log(members) + margin)))


def mean_degree(members: int, margin: float) -> float:
    """The mean view size of an Erdos-Renyi overlay: ln n + c, within what n allows."""
    return max(0.0, min(members - 1.0, math.log(members) + margin))
