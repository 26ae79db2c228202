"""How nodes on rings look after each other. Every default says where it is from."""

from dataclasses import dataclass

from ropewalk.parameters import refuse_unless


@dataclass(frozen=True, slots=True)
class Settings:
    """Periods are from one heartbeat of a node to its next."""

    period: float = 10.0  # ours, seconds: as StaN's
    missed: int = 3  # ours, periods: who is not heard for so long is given up
    idle: int = 4  # ours, periods: a link on which nothing was said for so long is closed
    successors: int = 8  # Chord: the length of a successor list; all of them must fail at once to break the ring
    patience: float = 3.0  # ours, seconds: how long a question may be on its way: some ten hops of a wide area
    tries: int = 4  # ours: how often a question is asked before it is dropped until the next heartbeat that asks it
    refreshed: int = 4  # ours, periods: from one look for fingers to the next
    resampled: int = 8  # Magnet 2.2 has a timer: periods from one set of fingers of the skewed ring to the next
    merged: int = (
        2  # ours, periods: how often a node looks for itself through somebody else, so that rings grow together
    )
    rejoined: int = 12  # ours, periods: who follows something else sits down anew, but not more often than this
    walks: int = 5  # Magnet 2.2, Figure 1: samples from which a median is taken

    def __post_init__(self) -> None:
        refuse_unless(0.01, 1e6, period=self.period, patience=self.patience)
        refuse_unless(1, 64, successors=self.successors, missed=self.missed, tries=self.tries, walks=self.walks)
        refuse_unless(1, 1024, refreshed=self.refreshed, resampled=self.resampled, merged=self.merged, idle=self.idle)
        refuse_unless(1, 1 << 20, rejoined=self.rejoined)


def is_due(beats: int, every: int) -> bool:
    """Once in so many heartbeats, and sooner while a node is new: after one, two, four."""
    return beats % every == 0 or (beats < every and beats & (beats - 1) == 0)


MOST_HOPS = 64  # ours: a message that has gone over more links is lost in a circle
MOST_FINGERS = 64  # ours: one a bit, at the most
MOST_HOLDERS = 512  # ours: who has said that a node is its finger, remembered to be walked to
MOST_REMEMBERED = 64  # ours: nodes that were met before, asked when nobody else is left
MOST_QUESTIONS = 256  # ours: questions of a node that are on their way
MOST_MEDIANS = 40  # ours: a population is halved no more often
