from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.errors import UsageError
from ropewalk.workloads.power_law import power_law_sizes
from ropewalk.workloads.trace_like import SETS, USUAL, TraceLike

SMALL = replace(USUAL, nodes=2000, topics=200, mean_subscriptions=6.0, popularity_exponent=2.0)
EVEN = replace(SMALL, popularity_exponent=3.5, interest_exponent=3.0, min_subscriptions=4)  # no hubs to speak of


def pairs_of(model: TraceLike, seed: int = 1, nodes: Any = None) -> tuple[Any, Any]:
    return model.plan().pairs(seed)(np.arange(model.nodes) if nodes is None else np.array(nodes))


def overlap(model: TraceLike, seed: int = 1) -> float:
    """Mean Jaccard similarity of two nodes that share a random topic."""
    nodes, topics = pairs_of(model, seed)
    followed = np.zeros((model.nodes, model.topics), np.float32)
    followed[nodes, topics] = 1
    rng = np.random.default_rng(1)
    total, draws = 0.0, 6000
    members = [np.flatnonzero(followed[:, topic]) for topic in range(model.topics)]
    for pair in rng.integers(0, nodes.size, draws):
        others = members[topics[pair]]
        other = others[rng.integers(0, others.size)]
        while other == nodes[pair]:
            other = others[rng.integers(0, others.size)]
        both = float(followed[nodes[pair]] @ followed[other])
        total += both / (followed[nodes[pair]].sum() + followed[other].sum() - both)
    return total / draws


@st.composite
def models(draw: st.DrawFn) -> TraceLike:
    nodes, topics = draw(st.integers(1, 300)), draw(st.integers(1, 60))
    min_subscribers = draw(st.integers(1, min(nodes, 12)))
    min_subscriptions = draw(st.integers(1, min(topics, 4)))
    fewest = max(nodes * min_subscriptions, topics * min_subscribers) / nodes
    return TraceLike(
        nodes=nodes,
        topics=topics,
        mean_subscriptions=min(fewest + draw(st.floats(0.01, 1)) * (topics - fewest), topics),
        popularity_exponent=draw(st.floats(0, 4)),
        interest_exponent=draw(st.floats(0, 4)),
        min_subscribers=min_subscribers,
        min_subscriptions=min_subscriptions,
        correlation=draw(st.sampled_from([0.0, 0.3, 1.0])),
    )


@given(models(), st.integers(0, 2**40))
def test_sizes_are_exact_no_topic_falls_below_its_least_and_no_pair_comes_twice(model: TraceLike, seed: int) -> None:
    try:
        plan = model.plan()
    except UsageError as error:
        assert "just too low" in str(error)  # noqa: PT017 (either answer is right; nothing else is)
        return
    nodes, topics = plan.pairs(seed)(np.arange(model.nodes))
    assert nodes.size == model.pairs_asked == np.unique(nodes * model.topics + topics).size
    per_node, per_topic = np.bincount(nodes), np.bincount(topics)
    assert per_node.size == model.nodes
    assert per_topic.size == model.topics
    assert per_node.min() >= model.min_subscriptions
    assert per_topic.min() >= model.min_subscribers
    assert np.array_equal(np.sort(per_node)[::-1], plan.nodes.each())


@pytest.mark.parametrize("correlation", [0.0, 0.5, 1.0])
def test_a_node_does_not_depend_on_which_others_are_made_beside_it(correlation: float) -> None:
    model = replace(SMALL, correlation=correlation)
    nodes, topics = pairs_of(model)
    for some in (range(700, 1100), [0], [5, 6, 7, 1999], range(0)):
        chosen = np.isin(nodes, some)
        found_nodes, found_topics = pairs_of(model, nodes=np.array(some, np.int64))
        assert np.array_equal(found_nodes, nodes[chosen])
        assert np.array_equal(found_topics, topics[chosen])


def test_same_seed_same_universe_other_seed_another() -> None:
    assert np.array_equal(pairs_of(SMALL, 1), pairs_of(SMALL, 1))
    assert not np.array_equal(pairs_of(SMALL, 1), pairs_of(SMALL, 2))


@pytest.mark.parametrize("correlation", [0.0, 0.5, 1.0])
def test_popularity_is_what_was_asked_within_a_few_percent(correlation: float) -> None:
    model = replace(EVEN, correlation=correlation)
    _, topics = pairs_of(model)
    found = np.bincount(topics)
    law = (model.popularity_exponent, model.min_subscribers, model.nodes)
    asked = power_law_sizes(model.topics, model.pairs_asked, *law).each()
    for part in np.array_split(np.arange(model.topics), 5):
        assert found[part].sum() == pytest.approx(asked[part].sum(), rel=0.05)


@pytest.mark.parametrize("model", [SMALL, EVEN, SETS["W8"], SETS["L8"]], ids=["hubs", "even", "W8", "L8"])
def test_overlap_grows_with_correlation(model: TraceLike) -> None:
    found = [overlap(replace(model, correlation=correlation)) for correlation in (0.0, 0.3, 0.6, 1.0)]
    assert found == sorted(found)
    assert found[-1] > 1.2 * found[0]


def test_without_correlation_two_niche_topics_share_as_many_followers_as_chance_gives() -> None:
    model = replace(EVEN, correlation=0.0)
    nodes, topics = pairs_of(model)
    followed = np.zeros((model.nodes, model.topics))
    followed[nodes, topics] = 1
    sizes = followed.sum(axis=1)
    together = followed.T @ followed
    niche = np.triu(together[100:, 100:], 1).sum()
    popularity = followed.sum(axis=0)[100:]
    share = np.sum(sizes * (sizes - 1)) / sizes.sum() ** 2
    chance = share * (popularity.sum() ** 2 - np.sum(popularity**2)) / 2
    assert niche == pytest.approx(chance, rel=0.05)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"mean_subscriptions": 250.0}, "mean-subscriptions is 250, but 2000 nodes .* from 3 to 200"),
        ({"mean_subscriptions": 2.5}, "from 3 to 200"),
        ({"mean_subscriptions": float("nan")}, "mean-subscriptions is nan"),
        ({"min_subscribers": 2001}, "min-subscribers is 2001, but must be from 1 to 2000"),
        ({"min_subscriptions": 201}, "min-subscriptions is 201, but must be from 1 to 200"),
        ({"max_subscriptions": 5}, "from 3 to 5"),
        ({"correlation": 1.5}, "correlation is 1.5, but must be from 0 to 1"),
        ({"popularity_exponent": -1.0}, "popularity-exponent is -1.0"),
        ({"nodes": 0}, "nodes is 0"),
    ],
)
def test_impossible_parameters_are_refused_in_one_sentence(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        replace(SMALL, **wrong)


def test_the_sets_have_the_sizes_of_the_table() -> None:
    assert (SETS["L0"].nodes, SETS["L0"].topics, SETS["L0"].min_subscribers) == (301_315, 28_904, 1)
    assert (SETS["W1"].nodes, SETS["W1"].topics, SETS["W1"].min_subscribers) == (761_225, 328_145, 30)
    assert SETS["W1"].pairs_asked >= 20_000_000
    assert list(SETS) == [f"{trace}{number}" for trace in "LW" for number in range(9)]
