"""How trees hold together, and how events come down them. Every default says where it is from."""

from dataclasses import dataclass

from ropewalk.errors import UsageError


@dataclass(frozen=True, slots=True)
class Settings:
    """In seconds, but where it says otherwise."""

    stale: int = 6  # ours, periods: who has heard nothing new from the root for so long looks for another way to it
    patience: float = 3.0  # ours: how long an event may take to its home and back before it is handed in again
    tries: int = 20  # ours: how often it is handed in
    told: float = (
        240.0  # ours: for how long neighbours tell each other of an event; who comes late gets what is so young
    )
    keep: float = 300.0  # StaN's here: how long an event can be had
    seen: float = 900.0  # likewise: how long its id is remembered

    def __post_init__(self) -> None:
        if not self.told <= self.keep < self.seen:
            raise UsageError(
                f"events are told of for {self.told} s, kept for {self.keep} s and known for {self.seen} s,"
                " but must be kept as long as they are told of, and known for longer: else they come again."
            )


def settings_for(period: float) -> Settings:
    """The usual ones, where neighbours compare what they have once in so many seconds: several times before it is forgotten."""
    usual = Settings()
    return Settings(
        told=max(usual.told, 8 * period), keep=max(usual.keep, 10 * period), seen=max(usual.seen, 30 * period)
    )


MOST_BRANCHES = 8192  # ours: topics on whose trees a node is; no more are taken on for others
MOST_BEGUN_BY_ONE = 4096  # ours: of these, on which it is for the sake of one child; as many as a node may follow
MOST_CHILDREN = 1024  # ours: on one topic
MOST_KEPT = 4096  # ours: events that can be had; the oldest go first
MOST_KEPT_BYTES = 64 * 1_048_576  # likewise
MOST_SEEN = 65_536  # ours: ids remembered, likewise
MOST_IDS = 256  # ours: of one topic in one message
MOST_SAID = 1024  # ours: topics and ids in one message
MOST_BEAT = 1 << 53  # ours: periods that a root counts; nobody has been one for so long
MOST_AHEAD = 1 << 20  # ours: of that count, how far another may be ahead at a time
MOST_REFUSALS = 8  # ours: by parents in a period, after each of which another way is looked for at once
MOST_CROSSED = 4096  # ours: links that an event says it has crossed; no honest one has
MOST_SUBMITTED = 1024  # ours: events of a node's own that have yet to get to their homes
