from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ropewalk.errors import UsageError
from ropewalk.workloads.multi_modal import MultiModal

SMALL = MultiModal(nodes=500, topics=100, subscriptions_per_node=5.0)


def cut_of(model: MultiModal, seed: int) -> int:
    return model.cut(lambda low, shift: model.tally(np.arange(model.nodes), seed, low, shift))


def pairs_of(model: MultiModal, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    return model.pairs(np.arange(model.nodes), seed, cut_of(model, seed))


@st.composite
def models(draw: st.DrawFn) -> MultiModal:
    topics = draw(st.integers(1, 60))
    categories = draw(st.integers(1, topics))
    chosen = draw(st.integers(1, categories))
    return MultiModal(
        nodes=draw(st.integers(1, 40)), topics=topics, categories=categories, categories_per_node=chosen,
        subscriptions_per_node=draw(st.floats(1, chosen * (topics // categories))), exponent=draw(st.floats(0, 4)),
    )  # fmt: skip


@settings(max_examples=50)
@given(models(), st.integers(0, 2**63 - 1))
def test_the_mean_is_met_exactly_and_nobody_follows_nothing_or_twice(model: MultiModal, seed: int) -> None:
    nodes, topics = pairs_of(model, seed)
    assert nodes.size == round(model.nodes * model.subscriptions_per_node)
    assert set(nodes.tolist()) == set(range(model.nodes))
    assert len(set(zip(nodes.tolist(), topics.tolist(), strict=True))) == nodes.size
    starts = np.arange(model.categories + 1) * model.topics // model.categories
    category = np.searchsorted(starts, topics, side="right") - 1
    for node in range(model.nodes):
        assert len(set(category[nodes == node].tolist())) <= model.categories_per_node


def test_nodes_differ_in_how_much_they_follow() -> None:
    nodes, _ = pairs_of(SMALL)
    assert np.bincount(nodes).std() > 1


def test_categories_are_chosen_alike() -> None:
    model = replace(SMALL, nodes=5000, categories_per_node=3, subscriptions_per_node=20.0)
    nodes, topics = pairs_of(model)
    chosen = np.unique(np.stack((nodes, topics // 10)), axis=1)[1]
    assert np.bincount(chosen) == pytest.approx(5000 * 3 / 10, rel=0.06)


def test_drawing_one_after_the_other_would_give_the_same_popularity() -> None:
    """The race against the paper's words: take a node at random, let it draw a topic, until the average is met."""
    model = MultiModal(nodes=4000, topics=20, categories=2, subscriptions_per_node=4.0)
    raced = np.bincount(pairs_of(model)[1] % 10, minlength=10) / model.nodes
    rng = np.random.default_rng(1)
    popularity = np.arange(1, 11) ** -1.0
    drawn = np.zeros((model.nodes, 10), bool)
    drawn[np.arange(model.nodes), rng.choice(10, model.nodes, p=popularity / popularity.sum())] = True  # the first
    while drawn.sum() < 4 * model.nodes:
        count = 4 * model.nodes - drawn.sum()
        drawn[rng.integers(0, model.nodes, count), rng.choice(10, count, p=popularity / popularity.sum())] = True
    assert raced == pytest.approx(drawn.mean(0), abs=0.03)


def test_a_steeper_law_makes_the_first_of_a_category_more_popular() -> None:
    shares = [
        np.mean(pairs_of(replace(SMALL, exponent=exponent, subscriptions_per_node=2.0))[1] % 10 == 0)
        for exponent in (0.0, 1.0, 2.0)
    ]
    assert shares[0] == pytest.approx(0.1, abs=0.03)
    assert shares[0] < shares[1] < shares[2]


def test_a_node_does_not_depend_on_which_others_are_made_beside_it() -> None:
    nodes, topics = pairs_of(SMALL)
    some = (nodes >= 10) & (nodes < 30)
    again = SMALL.pairs(np.arange(10, 30), 1, cut_of(SMALL, 1))
    assert np.array_equal(again, (nodes[some], topics[some]))


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"subscriptions_per_node": 11}, "subscriptions-per-node is 11, but must be from 1 to 10"),
        ({"subscriptions_per_node": 0.5}, "subscriptions-per-node is 0.5"),
        ({"categories": 101}, "categories is 101"),
        ({"categories_per_node": 11}, "categories-per-node is 11"),
        ({"exponent": -1.0}, "exponent is -1"),
    ],
)
def test_what_cannot_be_is_said_so(told: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        replace(SMALL, **told)
