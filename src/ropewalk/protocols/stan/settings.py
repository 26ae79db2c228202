"""What can be chosen about a StaN run, where each default is from, and the view sizes that follow."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from ropewalk.errors import UsageError
from ropewalk.parameters import parameter, refuse_unless
from ropewalk.protocols.sampling.contract import ManagerName

NAME = "stan"

Overlay = Literal["fixed", "erdos-renyi"]
Schedule = Literal["sync", "sequential", "timed"]
FanOut = Literal["printed", "two-way"]
Weight = Literal["printed", "keyed", "pair", "target", "ring"]
Collect = Literal["views", "visited"]
Knowledge = Literal["walks", "everything"]
CHOICES = {
    "overlay": get_args(Overlay),
    "schedule": get_args(Schedule),
    "fanout": get_args(FanOut),
    "weight": get_args(Weight),
    "collect": get_args(Collect),
    "knowledge": get_args(Knowledge),
    "manager": get_args(ManagerName),
}

LONGEST_WALK = 255  # ours: far beyond any overlay's diameter, and it fits a byte on the wire
HIGHEST_POWER = 8  # ours: beyond 4 a few shared topics outweigh chance altogether
LONGEST_WAIT = 1 << 20  # ours: rounds; longer than any run
SHORTEST_PERIOD, LONGEST_PERIOD = 0.001, 1e6  # ours, seconds: as fast as a local network, as slow as a fortnight
PASSING = 5.0  # ours, seconds: longer than a walk takes, or an answer that is still of use; with 2 a crowd that starts opens twice as many
RETURN = 0.5  # ours: the probability that a node that is gone is back in the next round
# what plays no part where everything is known at once
WALKING = ("rounds", "ttl", "schedule", "collect", "learn", "snoop", "adaptive", "slowest", "shared", "loss", "churn")
# what the printed protocol does; what its section 2.4 suggests without a listing is not among what is refused
STRICT = {
    "fanout": "printed",
    "weight": "printed",
    "collect": "views",
    "knowledge": "walks",
    "learn": False,
    "shared": 0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Sources: StaN = the journal paper (its section), StAN = the workshop paper. The defaults are the printed protocol."""

    rounds: int = parameter("How often every node walks.", default=8)  # StaN 3.3
    # StAN 3; StaN 2.4 says only "on the order of the overlay diameter"
    ttl: int = parameter("A walk visits one node more than this.", default=5)
    overlay: Overlay = parameter("Initial overlays.", default="fixed")  # StaN 3.3; StAN 3 uses erdos-renyi
    connectivity: float = parameter("Probability that an overlay is connected.", default=0.99)  # StaN 3.3
    # StaN 3.4: "runs in lock step mode"; sequential is ours, nearer to what real nodes do
    schedule: Schedule = parameter(
        "Walks on views frozen for the round, one after the other on live ones, or each by a timer of its own.",
        default="sync",
    )
    # StaN 3.3; two-way is ours: links that carry events both ways need half of it
    fanout: FanOut = parameter(
        "View sizes: ln n + c, or half of it for links used both ways; with scamp, so many neighbours in either direction.",
        default="printed",
    )
    # StaN 2.3; keyed and pair are ours; target and ring are what StaN 2.3 and 2.4 warn of
    weight: Weight = parameter("By what a node ranks others.", default="printed")
    # ours: StaN 2.3 ranks by a hash alone
    shared: int = parameter(
        "Nodes rank others by weights divided by this power of the topics that they know to be shared; 0: by weights alone.",
        default=0,
    )
    collect: Collect = parameter(  # StaN 2.3, Algorithm 2 line 8
        "What a walk collects: visited nodes with their views, or without.", default="views"
    )
    learn: bool = parameter("Nodes on a walk's way also rank its source.", default=False)  # ours: it repairs
    # StaN 2.4: "nodes can also leverage other node's random walks", not evaluated there
    snoop: bool = parameter("Nodes on a walk's way also rank what it carries.", default=False)
    # StaN 2.4: "progressively reduce the frequency as improvements become marginal", not evaluated there
    adaptive: bool = parameter("Walk less often where walks no longer improve a view.", default=False)
    slowest: int = parameter("With adaptive, the most rounds between two walks.", default=8)  # ours
    loss: float = parameter("Probability that a message is lost.", default=0.0)  # StaN 3: in its supplement
    # StaN 3: in its supplement. Half of those who go crash, half leave; whoever is gone returns with probability 1/2.
    churn: float = parameter("Probability that a node goes between two rounds.", default=0.0)
    # StaN 2.2 takes "any" manager and 3 none; the two others are SCAMP, which it names, and Cyclon
    manager: ManagerName = parameter("Who keeps overlays connected and sizes views.", default="given")
    # StaN 2.2 assumes that a first contact is known
    discover: bool = parameter(
        "Nodes are told some node that is there, and find a topic's members by themselves.", default=False
    )
    period: float = parameter("Seconds from one walk to the next.", default=30.0)  # StaN 3.2
    # StaN 3: in its supplement, "a global-omniscient approach"
    knowledge: Knowledge = parameter("Walks, or everything at once: the best possible.", default="walks")

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise UsageError(f"{name} is {getattr(self, name)!r}, but must be one of: {', '.join(allowed)}.")
        if self.rounds < 0:
            raise UsageError(f"rounds is {self.rounds}, but must be 0 or more.")
        if not 0 <= self.ttl <= LONGEST_WALK:
            raise UsageError(f"ttl is {self.ttl}, but must be from 0 to {LONGEST_WALK}: a walk visits ttl + 1 nodes.")
        if not 0 < self.connectivity < 1:
            raise UsageError(f"connectivity is {self.connectivity}, but must be a probability between 0 and 1.")
        refuse_unless(0, 1, loss=self.loss, churn=self.churn)
        refuse_unless(1, LONGEST_WAIT, slowest=self.slowest)
        refuse_unless(0, HIGHEST_POWER, shared=self.shared)
        refuse_unless(SHORTEST_PERIOD, LONGEST_PERIOD, period=self.period)
        if self.discover and self.schedule != "timed":
            raise UsageError(
                f"--discover needs --schedule timed (usual with --engine sim): with {self.schedule} there is no time to ask."
            )
        if self.shared and self.schedule != "timed":
            raise UsageError(
                f"--shared needs --schedule timed (usual with --engine sim): with {self.schedule} weights never change."
            )
        if (
            self.overlay == "erdos-renyi" and self.fanout == "two-way" and self.manager != "scamp"
        ):  # which makes views itself
            raise UsageError(
                "fanout two-way goes with overlay fixed: half an Erdos-Renyi digraph is not connected; add --overlay fixed."
            )

    @property
    def margin(self) -> float:
        """The c of a mean out-degree ln n + c whose overlay is connected with the wanted probability exp(-exp(-c))."""
        return -math.log(-math.log(self.connectivity))

    @property
    def passing(self) -> float:
        """Seconds for which a link may idle that no topic has ever used."""
        return min(PASSING, self.period)

    def fan_out(self, members: int) -> int:
        """The fixed view size of a topic: ceil(ln n + c), or everybody else if that is fewer (Kermarrec et al. 2003)."""
        if members <= 1:
            return 0
        degree = math.log(members) + self.margin
        return max(0, min(members - 1, math.ceil(degree if self.fanout == "printed" else degree / 2)))

    def mean_degree(self, members: int) -> float:
        """The mean view size of an Erdos-Renyi overlay: ln n + c, within what n allows."""
        return max(0.0, min(members - 1.0, math.log(members) + self.margin))
