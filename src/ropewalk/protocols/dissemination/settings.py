"""How events travel. Every default says where it is from."""

from dataclasses import dataclass

from ropewalk.errors import UsageError


@dataclass(frozen=True, slots=True)
class Settings:
    """All in seconds but where it says otherwise."""

    gather: float = 0.1  # ours: how long ids wait for company before they are advertised
    patience: float = 1.0  # ours: how long an advertised event may take to come by itself at the most, see `patience`
    doubt: float = 0.1  # ours: likewise at the least, and where a link over which it might have come has gone
    retry: float = 1.0  # ours: how long an answer may take before the next is asked; above a wide-area round trip
    tries: int = 12  # ours: how often an event is asked for
    lazy: int = 6  # gossipsub's D_lazy: to how many neighbours an event is advertised at once, if it came by itself
    reminders: int = 3  # ours: how often whoever was told once per period, and does not answer, is told again
    misses: int = 2  # ours: events in a row that had to be asked for, before a link is made to bring the next by itself
    large: int = 65_536  # ours, bytes: from here on who is sent an event hears of it before, and can say that it has it; a parcel has less
    entrances: int = 3  # ours: members to whom an event is handed, on a topic that its publisher does not follow
    entry: float = 5.0  # ours: how long they may take to let it in: a link to open, there and back
    entries: int = 5  # ours: how often members are tried before its publisher is told that it did not get in
    remembered: float = 60.0  # gossipsub's fanout_ttl: how long members that were found are tried without seeking anew
    keep: float = 300.0  # ours: how long an event can be had after it came; late joiners get what is so young
    seen: float = 900.0  # ours: how long an id is remembered: no event is delivered twice within it

    def __post_init__(self) -> None:
        if not 0 < self.doubt <= self.patience:
            raise UsageError(
                f"an event is waited for {self.doubt} s at the least and {self.patience} s at the most, but must be the other way round."
            )
        if not self.keep < self.seen:
            raise UsageError(
                f"events are kept for {self.keep} s and known for {self.seen} s, but must be known for longer: else they come again."
            )


MOST_KEPT = 4096  # ours: events that can be had; the oldest go first
MOST_SEEN = 65_536  # ours: ids remembered, likewise
MOST_WANTED = 4096  # ours: events that are advertised, and not here yet
MOST_FROM_ONE = 512  # ours: of these, advertised first by one neighbour: a liar alone stops nobody from asking
MOST_IDS = 512  # ours: ids in one message
MOST_CAUGHT_UP = 256  # ours: events offered at once to who has lost its way into a tree; half of what it asks of one
MOST_ADVERTISERS = 8  # ours: of whom an event can be had, remembered for each
MOST_INJECTED = 1024  # ours: events of a node's own that have yet to get into a topic
MOST_LIVELY = 4096  # ours: topics of which it is remembered which event came last
MOST_ENTRANCES = 256  # ours: topics whose members are remembered to publish on
MOST_PAYLOAD = 1_048_576 + 256  # ours, bytes: a mebibyte, and who says so; larger things belong elsewhere
MOST_KEPT_BYTES = 64 * 1_048_576  # ours: of all events that can be had, and likewise of those yet to get into a topic
MOST_TOPICS = 64  # ours: of one event
MOST_CROSSED = 4096  # ours: links that an event says it has crossed; no honest one has
