"""Magnet, section 4.5: what it saves on edits of Wikipedia."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.chance import chances, stream
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.magnet.sweeps import MAGNET, Case, costs
from ropewalk.papers.traces import TRACES
from ropewalk.protocols.magnet.settings import Settings
from ropewalk.workloads.trace_like import TraceLike

Longs = NDArray[np.int64]

PUBLISHED, LEAST, MOST = 1.77, 1.5, 2.1
POPULARITY = 5.4  # mean editors of an article
SETTINGS = Settings(degree=12.0)
# 3000 articles, nearly 10,000 editors, from 1 to 348 of each article; how much they have in common is not printed
MATCHED = TraceLike(
    nodes=10_000,
    topics=3000,
    mean_subscriptions=3000 * POPULARITY / 10_000,
    popularity_exponent=1.86,
    interest_exponent=2.2,
    min_subscribers=1,
    correlation=0.5,
)
OTHERS = ("livejournal", "youtube", "github", "gowalla")
ARTICLES = 3000


@dataclass(frozen=True, slots=True, eq=False)
class Thinned:
    """A real trace of which some topics are taken by chance, and of these some subscriptions."""

    topic_key: ClassVar[str] = "topic"

    title: str
    topics_taken: int
    popularity: float | None  # mean subscribers of a topic that are left; None: all
    nodes: Longs = field(repr=False)
    topics: Longs = field(repr=False)  # both as index pairs

    def all_pairs(self, seed: int) -> tuple[Longs, Longs]:
        """What is left."""
        drawn = chances(stream(seed, "thinned topic"), np.unique(self.topics)[:, None])
        taken = np.unique(self.topics)[np.argsort(drawn)[: self.topics_taken]]
        kept = np.isin(self.topics, taken)
        nodes, topics = self.nodes[kept], self.topics[kept]
        if self.popularity is not None:
            share = self.popularity / (nodes.size / taken.size)
            by_chance = chances(stream(seed, "thinned"), np.stack((nodes, topics), axis=1))
            left = by_chance < share * 2.0**63
            nodes, topics = nodes[left], topics[left]
        return nodes, topics


def measure(lab: Lab, scale: Scale) -> Measured:
    """A universe with the published numbers; the real trace that there is, thinned to as few editors; other real ones beside."""
    cases = [Case("as published", MATCHED, settings=SETTINGS)]
    for trace, popularity in (("wikipedia", POPULARITY), *((other, None) for other in OTHERS if scale == "paper")):
        pairs = lab.pairs(trace)
        if pairs is not None:
            title = TRACES[trace].title
            cases.append(Case(title, Thinned(title, ARTICLES, popularity, *pairs), settings=SETTINGS))
    found = costs(lab, scale, "Wikipedia", cases)
    wanted = ("wikipedia", *(OTHERS if scale == "paper" else ()))
    numbers = {name: cost.numbers() | {"ratio": cost.strawman / cost.magnet} for name, cost in found.items()}
    return Measured(numbers, left_out=lab.lacking(*wanted))


def checks(numbers: Numbers) -> list[Check]:
    """On both that are Wikipedia's, or like it."""
    own = ("as published", TRACES["wikipedia"].title)
    return [
        Check(
            f"{name}: the strawman has {100 * (of['ratio'] - 1):.0f} % more uninterested relays",
            LEAST <= of["ratio"] <= MOST,
        )
        for name, of in numbers.items()
        if name in own
    ]


def draw(measured: Measured) -> list[Panel]:
    """The ratio for each universe."""
    names = list(measured.numbers)
    return [
        Panel(
            title="Real interests",
            x="universe",
            y="the strawman's relays, of Magnet's",
            reading=", ".join(f"{at}: {name}" for at, name in enumerate(names))
            + ". The dashed line is what was published for Wikipedia.",
            curves=[
                Curve("found", [(at, measured.numbers[name]["ratio"]) for at, name in enumerate(names)], "points", 0),
                Curve("published", [(0.0, PUBLISHED), (max(len(names) - 1.0, 1.0), PUBLISHED)], "law", 3),
            ],
        )
    ]


CLAIM = Claim(
    id="M-W",
    sentence="On edits of Wikipedia the strawman has 77 % more uninterested relays than Magnet.",
    paper=MAGNET,
    place="section 4.5",
    published={"ratio": PUBLISHED},
    tolerance=f"from {LEAST} to {MOST} times as many",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="The paper's trace cannot be had. As published: a made-up universe of its sizes (3000 articles, 10,000 editors, 1 to about 350"
    " of each article, 5.4 in the mean) whose correlation is ours. The real trace has busy pages only, so it is thinned to 5.4"
    " editors of a page, by chance.",
)
