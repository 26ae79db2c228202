"""How members of a topic are found. Every default says where it is from."""

from dataclasses import dataclass

from ropewalk.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Kademlia = Maymounkov and Mazieres, IPTPS 2002 (its section)."""

    # ours: Kademlia 2.2 suggests 20, so that not all of a bucket go within an hour; ours are asked again much sooner
    bucket: int = 8
    alpha: int = 3  # Kademlia 2.3: questions of one lookup at a time
    patience: float = 2.0  # ours, seconds until a question counts as unanswered: a link to open, there and back, twice
    enough: int = 3  # ours: members to find; an overlay needs one, and the first two may be gone
    replicas: int = 4  # ours: where a member leaves its contact; all four gone within a lease is rare, even under churn
    refresh: float = 120.0  # ours, seconds: Kademlia 2.5 says an hour, but whoever crashed must not be named so long
    lease: float = 420.0  # ours, seconds: three refreshes in a row may be lost, and a half for what takes longer
    retry: float = 5.0  # ours, seconds: before a node that reached nobody tries again; then twice that, up to refresh

    def __post_init__(self) -> None:
        for name in ("patience", "refresh", "lease", "retry"):
            if not getattr(self, name) > 0:
                raise UsageError(f"discovery's {name} is {getattr(self, name)}, but must be above 0 seconds.")
        for name, most in (("bucket", MOST_CLOSER), ("alpha", self.bucket), ("replicas", self.bucket)):
            if not 1 <= getattr(self, name) <= most:
                raise UsageError(f"discovery's {name} is {getattr(self, name)}, but must be from 1 to {most}.")
        if not 1 <= self.enough <= MOST_NAMED:
            raise UsageError(f"discovery's enough is {self.enough}, but must be from 1 to {MOST_NAMED}.")
        if self.lease < 2 * self.refresh:
            raise UsageError(
                f"discovery's lease is {self.lease}, but must be at least twice its refresh of {self.refresh}: "
                "one lost message would end it."
            )

    def backed_off(self, times: int) -> float:
        """Seconds to wait after having reached nobody so many times in a row."""
        return min(self.refresh, self.retry * 2.0 ** min(times - 1, 63))


# What others send, and what is remembered of it

MOST_CLOSER = 20  # ours: contacts in one answer; the largest bucket of any node, as Kademlia's
MOST_NAMED = 8  # ours: members in one answer
MOST_ADDRESS = 255  # ours: characters; the longest host name there is
MOST_TAGS = 4096  # ours: for which members can be found here
MOST_SERVING = 32  # ours: members kept for each; an overlay is entered by a few of them
MOST_PER_CONTACT = 256  # ours: tags under which one node is kept here; few, since tags spread over all nodes
MOST_FOUND = 32  # ours: members that a lookup finds; more than are tried at once, since the first may be none
MOST_TRIED = 8  # ours: of these, who must show at once that they know the topic
TRIES = 3  # ours: how often each is asked: once more for a lost message, and once for a link that did not come up
MOST_DOUBTED = 1024  # ours: who was asked in vain to show it, and comes after all others the next time
MOST_SEEDS = 64  # ours: kept for ever

# What a node does at a time

MOST_LOOKUPS = 16  # ours: at a time, the others wait for their turn; a node with a thousand topics floods nobody
MOST_OPEN = 256  # ours: questions open before another lookup begins
FIRST_OPEN = 6  # ours: likewise, until it is known how many are answered in time: two lookups' worth
FEWEST_OPEN = 3  # ours: likewise, when hardly any are: one lookup's worth
MOST_ASKED = 64  # ours: questions of one lookup; more than twice what it takes among a million nodes
MOST_KNOWN = 64  # ours: contacts that a lookup has yet to ask, the first in line

# Whom to believe

WITNESSES = 2  # ours: who must have named members before a lookup ends early; one liar ends none
MOST_TOPICS_MISLED = 1024  # ours: topics that are looked up more thoroughly, since only others than members were named
MISLED = 3  # ours: contacts of one answer that were not there before the others that it named are asked last

# How often

RELOCATED = 4  # ours: announcements from one lookup of the places to the next; until then the same are asked again
YOUNG = 3  # ours: announcements that are all preceded by one: in a young network the first places are rarely right
SLOWEST = 16  # ours: refreshes between the announcements of a member for whom there is no room
