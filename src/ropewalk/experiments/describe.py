"""Describe a stored universe: how its subscriptions are spread, how correlated they are, how much interests overlap."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropewalk.engines.contract import Phase
from ropewalk.errors import InputError
from ropewalk.tables.frames import read_table
from ropewalk.tables.schema import SUBSCRIPTIONS
from ropewalk.tables.session import Session
from ropewalk.tables.store import Store
from ropewalk.universes.correlation import node_correlation, topic_correlation
from ropewalk.universes.distributions import Distribution, subscribers_per_topic, subscriptions_per_node
from ropewalk.universes.interests import Interests, gather
from ropewalk.universes.overlap import DRAWS, measure_overlap
from ropewalk.universes.tails import power_law

SPREAD = {"subscribers_per_topic": "subscribers per topic", "subscriptions_per_node": "subscriptions per node"}


@dataclass(frozen=True, slots=True)
class Description:
    """What `describe --json` prints, and what only a page can show."""

    document: dict[str, Any]
    subscribers_per_topic: Distribution
    subscriptions_per_node: Distribution
    topic_matrix: NDArray[np.float64]


def settings_of(universe: Store, draws: int) -> dict[str, Any]:
    """What a description depends on, besides the seed."""
    return {"universe": universe.manifest.digest, "draws": draws}


def describe(
    universe: Store, seed: int, *, draws: int = DRAWS, session: AbstractContextManager[Session], phase: Phase
) -> Description:
    """Read a universe's subscriptions and say what they look like; nothing is written."""
    with session as spark:
        with phase("gather the interests"):
            interests = gather(read_table(spark, universe, SUBSCRIPTIONS))
        try:
            _refuse_other_rows(universe, interests)
            with phase("fit the distributions"):
                spread = {
                    "subscribers_per_topic": subscribers_per_topic(interests),
                    "subscriptions_per_node": subscriptions_per_node(interests),
                }
                fits = {name: power_law(distribution) for name, distribution in spread.items()}
            with phase("correlate the topics"):
                topics = topic_correlation(interests, seed)
            with phase("correlate the nodes"):
                nodes = node_correlation(interests, seed)
            with phase("compare with a rewired universe"):
                overlap = measure_overlap(interests, spread["subscribers_per_topic"], seed, draws)
        finally:
            interests.unpersist()
    document = {
        "universe": universe.manifest.name,
        "seed": seed,
        "nodes": interests.node_count,
        "topics": interests.topic_count,
        "subscriptions": interests.subscription_count,
        **{name: spread[name].summary() | {"power_law": fits[name]} for name in spread},
        "topic_correlation": topics.document,
        "node_correlation": nodes,
        "overlap": overlap,
    }
    return Description(document, spread["subscribers_per_topic"], spread["subscriptions_per_node"], topics.matrix)


def _refuse_other_rows(universe: Store, interests: Interests) -> None:
    tallied = universe.manifest.tables[SUBSCRIPTIONS.name].rows
    if interests.subscription_count != tallied:
        raise InputError(
            f"{universe.folder_of(SUBSCRIPTIONS)} has {interests.subscription_count} rows, but its manifest says"
            f" {tallied}; make the store again."
        )
