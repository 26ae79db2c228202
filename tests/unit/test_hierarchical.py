from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ropewalk.errors import RunError, UsageError
from ropewalk.workloads.hierarchical import HierarchicalTopics
from ropewalk.workloads.topic_tree import _count_left, _drawn_below, _unfollowed

SMALL = HierarchicalTopics(nodes=256, topics=256, subscriptions_per_node=8.0)
REPEATS = pytest.mark.parametrize("repeats", ["redrawn", "avoided", "counted"])


@st.composite
def models(draw: st.DrawFn) -> HierarchicalTopics:
    nodes, topics = draw(st.integers(8, 80)), draw(st.integers(8, 80))
    least = max(1.0, topics / nodes)
    return HierarchicalTopics(
        nodes=nodes, topics=topics, subscriptions_per_node=draw(st.floats(least, max(least, topics / 4))),
        initial_share=draw(st.floats(0, 0.5)), exponent=draw(st.floats(1.5, 2.5)), homophily=draw(st.floats(0, 2)),
        law=draw(st.sampled_from(["rank", "density"])), repeats="avoided",
        leaves=draw(st.sampled_from(["shuffled", "ranked"])),
    )  # fmt: skip


@settings(max_examples=50)
@given(models(), st.integers(0, 2**63 - 1))
def test_everybody_has_a_topic_every_topic_somebody_and_the_mean_is_met(model: HierarchicalTopics, seed: int) -> None:
    nodes, topics = model.all_pairs(seed)
    assert nodes.size == round(model.nodes * model.subscriptions_per_node)
    assert len(set(zip(nodes.tolist(), topics.tolist(), strict=True))) == nodes.size
    assert set(nodes[: model.initial].tolist()) == set(range(model.nodes))
    assert set(topics[: model.initial].tolist()) == set(range(model.topics))


@REPEATS
def test_no_topic_is_followed_twice_however_repeats_are_treated(repeats: Any) -> None:
    nodes, topics = replace(SMALL, repeats=repeats).all_pairs(1)
    assert len(set(zip(nodes.tolist(), topics.tolist(), strict=True))) == nodes.size
    assert nodes.size == SMALL.wanted if repeats != "counted" else SMALL.initial < nodes.size < SMALL.wanted


def test_same_seed_same_universe_other_seed_another() -> None:
    assert np.array_equal(SMALL.all_pairs(1), SMALL.all_pairs(1))
    assert not np.array_equal(SMALL.all_pairs(1), SMALL.all_pairs(2))


def test_the_first_subscriptions_follow_the_law_by_rank() -> None:
    model = replace(SMALL, subscriptions_per_node=16.0, initial_share=0.5, exponent=1.0, leaves="ranked")
    popularity = np.bincount(model.all_pairs(1)[1][: model.initial])
    extra = popularity - 1  # beyond the home of each
    assert extra[8:16].sum() == pytest.approx(extra[16:32].sum(), rel=0.15)  # 1/x: as many in each octave
    assert extra[32:64].sum() == pytest.approx(extra[64:128].sum(), rel=0.15)


def test_a_density_of_exponent_two_is_a_rank_of_exponent_one() -> None:
    by_rank = replace(SMALL, exponent=1.0).all_pairs(1)
    assert np.array_equal(replace(SMALL, law="density", exponent=2.0).all_pairs(1), by_rank)


def test_with_homophily_nodes_stay_close_to_home() -> None:
    def mean_distance(homophily: float) -> float:
        model = replace(SMALL, homophily=homophily, repeats="avoided", initial_share=0.0)
        nodes, topics = model.all_pairs(1)
        home = topics[:256]  # that of node i is the i-th
        return float(np.mean([int(t ^ home[n]).bit_length() for n, t in zip(nodes[256:], topics[256:], strict=True)]))

    assert mean_distance(0.0) > mean_distance(1.0) > mean_distance(3.0)


def test_places_of_the_tree_beyond_the_last_topic_stay_empty() -> None:
    assert replace(SMALL, topics=200).all_pairs(1)[1].max() == 199


def test_a_universe_whose_first_topics_are_all_full_is_given_up() -> None:
    with pytest.raises(RunError, match="lower the exponent"):
        replace(SMALL, initial_share=1.0, exponent=8.0).all_pairs(1)


@REPEATS
def test_strong_homophily_does_not_stall(repeats: Any) -> None:
    nodes, topics = replace(SMALL, homophily=8.0, repeats=repeats).all_pairs(1)
    assert nodes.size == SMALL.wanted or repeats == "counted"
    assert len(set(zip(nodes.tolist(), topics.tolist(), strict=True))) == nodes.size


@pytest.mark.parametrize("repeats", ["redrawn", "avoided"])
def test_everybody_can_follow_everything(repeats: Any) -> None:
    model = HierarchicalTopics(nodes=5, topics=6, subscriptions_per_node=6, repeats=repeats)
    assert len(set(zip(*(column.tolist() for column in model.all_pairs(1)), strict=True))) == 30


def test_weights_are_drawn_in_proportion() -> None:
    weights = np.array([0.2, 0.0, 0.5, 0.3])
    drawn = [_drawn_below(weights, share) for share in (np.arange(10_000) + 0.5) / 10_000]
    assert np.bincount(drawn, minlength=4) / 10_000 == pytest.approx(weights, abs=1e-3)


def stepwise(model: HierarchicalTopics, rng: np.random.Generator, pairs: list[tuple[int, int]]) -> list[int]:
    """The paper's words: take a subscription, a distance, a topic there; if it is not new, take another."""
    height = (model.topics - 1).bit_length()
    likely = np.exp(-model.homophily * np.arange(1, height + 1))
    known = set(pairs)
    while len(pairs) < model.wanted:
        node, topic = pairs[rng.integers(len(pairs))]
        below = rng.choice(height, p=likely / likely.sum())
        target = (((topic >> below) ^ 1) << int(below)) + int(rng.integers(1 << below))
        if target < model.topics and (node, target) not in known:
            known.add((node, target))
            pairs.append((node, target))
    return [topic for _, topic in pairs]


def test_leaving_out_steps_in_vain_changes_no_odds() -> None:
    model = HierarchicalTopics(
        nodes=6, topics=7, subscriptions_per_node=3.0, initial_share=0.0, homophily=1.0, leaves="ranked"
    )
    rng, runs = np.random.default_rng(1), 1500
    first = list(zip(*(column[: model.initial].tolist() for column in model.all_pairs(1)), strict=True))[:6]
    # The seventh topic draws its node: let the reference draw it, too.
    literal = [stepwise(model, rng, [*first, (int(rng.integers(6)), 6)]) for _ in range(runs)]
    ours = [model.all_pairs(seed)[1] for seed in range(runs)]
    mean_literal, mean_ours = (
        np.mean([np.bincount(run, minlength=7) for run in some], axis=0) for some in (literal, ours)
    )
    assert mean_ours == pytest.approx(mean_literal, abs=0.12)  # about four standard errors
    squares_literal, squares_ours = (
        np.mean([np.sum(np.bincount(run, minlength=7) ** 2) for run in some]) for some in (literal, ours)
    )
    assert squares_ours == pytest.approx(squares_literal, rel=0.02)


@given(st.integers(2, 40), st.data())
def test_what_a_node_does_not_follow_is_counted_and_found(count: int, data: st.DataObject) -> None:
    followed = data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=count, unique=True))
    topics, earlier, latest = np.array(followed), np.arange(len(followed)) - 1, len(followed) - 1
    topic = followed[0]
    left = np.zeros((count - 1).bit_length(), np.int64)
    _count_left(left, topic, topics, earlier, latest, count)
    for below in range(left.size):
        free = [t for t in range(count) if (t ^ topic).bit_length() == below + 1 and t not in followed]
        assert left[below] == len(free)
        found = [_unfollowed(index, (topic >> below) ^ 1, below, topics, earlier, latest) for index in range(len(free))]
        assert found == free


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"topics": 4096}, "nodes times subscriptions-per-node is 2048, but must be from 4096"),
        ({"subscriptions_per_node": 300}, "subscriptions-per-node is 300"),
        ({"law": "density", "exponent": 1.0}, "exponent is 1.0"),
        ({"law": "zipf"}, "law is 'zipf', but must be one of: rank, density"),
        ({"initial_share": 1.5}, "initial-share is 1.5"),
    ],
)
def test_what_cannot_be_is_said_so(told: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        replace(SMALL, **told)
