"""What can be chosen about gossipsub. 1.0 and 1.1: its specifications; go: the parameters of go-libp2p-pubsub."""

from dataclasses import dataclass

from ropewalk.errors import UsageError
from ropewalk.parameters import refuse_unless


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The defaults are those of 1.0, and where it is silent those named. Times are in seconds."""

    degree: int = 6  # 1.0, D: how many the mesh of a topic should have
    fewest: int = 4  # 1.0, D_low: with fewer, others are grafted
    most: int = 12  # 1.0, D_high: with more, some are pruned
    lazy: int = 6  # 1.0, D_lazy, which is D: to how many beside the mesh ids go at every heartbeat
    heartbeat: float = 1.0  # 1.0, heartbeat_interval
    fanout_ttl: float = 60.0  # 1.0: how long it is remembered to whom events of a topic go that is not followed
    windows: int = 5  # 1.0, mcache_len: heartbeats for which an event can be asked for
    gossiped: int = 3  # 1.0, mcache_gossip: heartbeats for which its id is told
    seen: float = 120.0  # 1.0, seen_ttl: how long an id is remembered
    backoff: int = 60  # 1.1, prune backoff: how long neither end grafts the other again; 1.0 has none
    left: int = 10  # go, unsubscribe backoff: the same after a node has unsubscribed
    answers: int = 3  # go, gossip retransmission: how often one node may ask for the same event

    def __post_init__(self) -> None:
        if not 0 <= self.fewest <= self.degree <= self.most:
            raise UsageError(
                f"fewest, degree and most are {self.fewest}, {self.degree} and {self.most}, but must be in this order."
            )
        refuse_unless(0, MOST_IDS, lazy=self.lazy)
        refuse_unless(0.001, 1e6, heartbeat=self.heartbeat, fanout_ttl=self.fanout_ttl, seen=self.seen)
        refuse_unless(1, MOST_IDS, windows=self.windows)
        refuse_unless(0, self.windows, gossiped=self.gossiped)
        refuse_unless(0, LONGEST_BACKOFF, backoff=self.backoff, left=self.left)
        refuse_unless(0, MOST_IDS, answers=self.answers)


MOST_FOLLOWED = 4096  # ours: topics that one neighbour may say it follows
MOST_FANOUTS = 1024  # ours: topics published on without being followed; the oldest go first
MOST_KEPT = 4096  # ours: events that can be asked for, likewise
MOST_SEEN = 65_536  # ours: ids remembered, likewise
MOST_BACKOFFS = 16_384  # ours: (topic, node) pairs not to be grafted, likewise
MOST_IDS = 512  # ours: ids of one topic in one message, and events that one message may ask for; go has 5000
MOST_SAID = 4096  # ours: ids and topics in one message
LONGEST_BACKOFF = 3600  # ours, seconds: whoever asks for more is not believed
