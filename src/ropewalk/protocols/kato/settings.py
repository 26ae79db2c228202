"""What can be chosen about a run of the overlay by interests, and where each default is from."""

from dataclasses import dataclass
from typing import Literal, get_args

from ropewalk.errors import UsageError
from ropewalk.parameters import parameter, refuse_unless
from ropewalk.protocols.dht.runs import OfRuns

NAME = "kato"

Cover = Literal["bits", "cells"]
Neighbours = Literal["text", "proof"]
Common = Literal["wanted", "ignored"]
Publishers = Literal["wanting", "anybody"]
Keeping = Literal["best", "all"]
Spread = Literal["forward", "multicast"]
CHOICES: dict[str, tuple[str, ...]] = {
    "cover": get_args(Cover),
    "neighbours": get_args(Neighbours),
    "common": get_args(Common),
    "publishers": get_args(Publishers),
    "keeping": get_args(Keeping),
    "spread": get_args(Spread),
}

LEAST_BITS, MOST_BITS = 64, 65_536
MOST_HASHES = 16
MOST_COVERING = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(OfRuns):
    """Sources: Kato (its section). What the paper does not say is ours; docs/papers/kato.md gives the reasons."""

    bits: int = parameter("Bits of an id, a multiple of 64.", default=1024)  # Kato IV
    hashes: int = parameter("Bits that stand for a cell.", default=2)  # ours: fits both numbers of Kato VI-B
    cover: Cover = parameter(  # bits: Kato III-A
        "What links must cover, each bit of a node's id, as printed, or each of its cells, so that nothing is missed.",
        default="bits",
    )
    neighbours: Neighbours = parameter(  # text: Kato III-A; proof: of its proposition 1
        "Which bits neighbours are picked for: a node's own, as the text says, or the others, as the proof counts.",
        default="text",
    )
    covering: int = parameter("Links to nodes that cover a node, c.", default=1)  # Kato III-A: the parent
    common: Common = parameter(  # wanted: Kato III-C
        "Whether the common subscription is one to find links for, as any other, or only part of every id.",
        default="wanted",
    )
    publishers: Publishers = parameter(  # ours: the paper does not say who publishes
        "Who publishes an event: somebody who wants it, or anybody.", default="wanting"
    )
    space: str = parameter(  # ours
        "How events are cut into cells: stock:64,price:0:100:16 (words into 64, numbers from 0 to 100 into 16).",
        default="",
    )
    keeping: Keeping = parameter(  # all: Kato III-C, where links are only ever added
        "Which links nodes keep as they hear of others, with engines sim and live: the best, so that tables become those of who knows all, or all.",
        default="best",
    )
    spread: Spread = parameter(  # ours: the paper does not say when one becomes the other
        "How events go on, with engine batch: to all links that match, or upwards only until they go down.",
        default="forward",
    )

    def __post_init__(self) -> None:
        OfRuns.__post_init__(self)
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise UsageError(f"{name} is {getattr(self, name)!r}, but must be one of: {', '.join(allowed)}.")
        refuse_unless(LEAST_BITS, MOST_BITS, bits=self.bits)
        refuse_unless(1, MOST_HASHES, hashes=self.hashes)
        refuse_unless(1, MOST_COVERING, covering=self.covering)
        if self.bits % 64:
            raise UsageError(f"bits is {self.bits}, but must be a multiple of 64.")
        if self.cover == "cells" and self.neighbours == "proof":
            raise UsageError("--neighbours proof is about bits that a node has not, and goes with --cover bits only.")
