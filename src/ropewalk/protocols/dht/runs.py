"""What can be chosen about any run of nodes on rings that have timers; the batch engine knows none of it."""

from dataclasses import dataclass
from typing import ClassVar

from ropewalk.parameters import parameter, refuse_unless


@dataclass(frozen=True, slots=True, kw_only=True)
class OfRuns:
    """Sources: Magnet says nothing of times; these are StaN's here."""

    schedule: ClassVar[str] = "timed"
    manager: ClassVar[str] = "ring"  # who finds whom is the ring's business
    discover: ClassVar[bool] = True

    period: float = parameter("Seconds from one heartbeat to the next.", default=10.0)
    rounds: int = parameter("Periods to run for.", default=8)
    loss: float = parameter("Probability that a message is lost.", default=0.0)
    churn: float = parameter("Probability that a node goes in a period.", default=0.0)

    def __post_init__(self) -> None:
        refuse_unless(0.01, 1e6, period=self.period)
        refuse_unless(0, 1_000_000, rounds=self.rounds)
        refuse_unless(0, 1, loss=self.loss, churn=self.churn)
