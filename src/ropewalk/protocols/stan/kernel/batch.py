"""The shapes kernels work on: a batch of topics, the views of their members, and what a round leaves behind.

A batch is flat: the members of topic t are `ids[offsets[t]:offsets[t + 1]]`, ascending. Member m (a row of `ids`) has
room for its view at `links[starts[m]:starts[m + 1]]`; a link is a position within the topic, and a view is ordered by
its holder's (weight, id).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Members:
    """A batch of topics with their subscribers."""

    topics: Longs
    offsets: Longs
    ids: Longs


@dataclass(frozen=True, slots=True)
class Overlays:
    """The views of all members of a batch, each as long as its room."""

    starts: Longs
    links: Ints


@dataclass(frozen=True, slots=True)
class Stage:
    """What a round leaves behind: who is there, with which views, and what it cost."""

    members: Members
    overlays: Overlays
    rows: Longs | None  # which rows of the batch are there; None: all
    messages: Longs  # per topic: messages sent in this round
    ids: Longs  # per topic: ids that they carried, where these are counted


class Topics(NamedTuple):
    """`Members` as compiled functions take them, with the room for each view."""

    topics: Longs
    offsets: Longs
    ids: Longs
    starts: Longs


class Views(NamedTuple):
    """The views of a batch while they change."""

    lengths: Ints  # how many each member holds
    wanted: Ints  # how many it holds at most
    links: Ints
