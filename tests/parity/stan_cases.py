"""Small universes and settings of StaN, for properties that must hold in all of them."""

from dataclasses import fields
from random import Random
from typing import Any

from hypothesis import strategies as st

from ropewalk.protocols.stan.settings import CHOICES, Settings
from stan_reference import Rules

IDS = st.integers(0, 2**63 - 1)
Topics = dict[int, list[int]]  # topic id -> member ids, ascending

# Small views, in which a walk has something to find; in a full mesh of few nodes nothing can change.
CONNECTIVITIES = st.sampled_from([0.4, 0.1, 0.9, 0.01, 1e-6]) | st.floats(0.001, 0.999)
SOME = st.sampled_from([0.1, 0.5, 1.0])
NONE_OR_SOME = st.sampled_from([0.0, 0.1, 0.5, 1.0])
SHORT = {"rounds": 3, "ttl": st.integers(0, 6), "connectivity": CONNECTIVITIES}
LONG = {**SHORT, "rounds": 6}  # nodes need time to return, walks to become rare

CONDUCTED = ("sync", "sequential")  # schedules of which the rounds are played from outside

# Every setting that is not the printed protocol's, by itself.
ALONE: dict[str, dict[str, Any]] = {
    "printed": SHORT,
    "erdos-renyi": {**SHORT, "overlay": "erdos-renyi"},
    "two-way": {**SHORT, "fanout": "two-way"},
    "keyed": {**SHORT, "weight": "keyed"},
    "pair": {**SHORT, "weight": "pair"},
    "target": {**SHORT, "weight": "target"},
    "ring": {**SHORT, "weight": "ring"},
    "visited": {**SHORT, "collect": "visited"},
    "learn": {**SHORT, "learn": True},
    "snoop": {**SHORT, "snoop": True},
    "adaptive": {**LONG, "adaptive": True, "slowest": st.integers(1, 4)},
    "loss": {**SHORT, "loss": SOME},
    "churn": {**LONG, "churn": SOME},
}
ANY: dict[str, Any] = {
    **{name: st.sampled_from(allowed) for name, allowed in CHOICES.items() if name not in ("knowledge", "manager")},
    "schedule": st.sampled_from(CONDUCTED),
    **LONG,
    **{name: st.booleans() for name in ("learn", "snoop", "adaptive")},
    "slowest": st.integers(1, 4),
    "loss": NONE_OR_SOME,
    "churn": NONE_OR_SOME,
}


@st.composite
def universes(draw: st.DrawFn, largest: int = 24) -> Topics:
    """Up to `largest` nodes, whose ids are close together or anywhere, and up to four topics; half of them not tiny.

    Only sizes are drawn and the rest is shuffled: left to draw every id, hypothesis hardly leaves topics of one.
    """
    least_nodes, least_members, least_topics = draw(st.sampled_from([(1, 1, 1), (12, 6, 2)]))
    nodes = draw(st.integers(least_nodes, largest))
    sizes = draw(st.lists(st.integers(least_members, nodes), min_size=least_topics, max_size=4))
    span = draw(st.sampled_from([2 * largest, 2**63 - 1]))
    shuffler = Random(draw(st.integers(0, 2**32)))
    ids = shuffler.sample(range(span), nodes)
    topics = shuffler.sample(range(span), len(sizes))
    return {topic: sorted(shuffler.sample(ids, size)) for topic, size in zip(topics, sizes, strict=True)}


@st.composite
def settings(draw: st.DrawFn, /, **wanted: Any) -> Settings:
    """Settings of these values, or of values drawn from these strategies."""
    found = {name: draw(value) if isinstance(value, st.SearchStrategy) else value for name, value in wanted.items()}
    if found.get("overlay") == "erdos-renyi":
        found["fanout"] = "printed"  # the only one allowed
    return Settings(**found)


def rules(chosen: Settings, seed: int) -> Rules:
    """The same for the reference."""
    known = (field.name for field in fields(Rules) if field.name != "seed")
    return Rules(seed=seed, **{name: getattr(chosen, name) for name in known})
