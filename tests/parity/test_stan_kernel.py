"""The kernel and the plain statement of StaN's rules hold equal views, not similar ones."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import stan_reference as reference
from ropewalk.protocols.stan import kernel
from ropewalk.protocols.stan.settings import Settings

IDS = st.integers(0, 2**63 - 1)
Topics = dict[int, list[int]]  # topic id -> member ids


@st.composite
def universes(draw: st.DrawFn, largest: int = 30) -> Topics:
    nodes = draw(st.lists(IDS, min_size=1, max_size=largest, unique=True))
    topics = draw(st.lists(IDS, min_size=1, max_size=4, unique=True))
    return {topic: sorted(draw(st.lists(st.sampled_from(nodes), min_size=1, unique=True))) for topic in topics}


def batch(topics: Topics) -> kernel.Members:
    return kernel.Members(
        topics=np.array(list(topics), np.int64),
        offsets=np.cumsum([0, *map(len, topics.values())]).astype(np.int64),
        ids=np.array([node for members in topics.values() for node in members], np.int64),
    )


def views_of(members: kernel.Members, overlays: kernel.Overlays) -> dict[int, reference.Views]:
    found: dict[int, reference.Views] = {}
    for place, topic in enumerate(members.topics):
        first, last = members.offsets[place], members.offsets[place + 1]
        found[int(topic)] = {
            int(members.ids[m]): [
                int(members.ids[first + link]) for link in overlays.links[overlays.starts[m] : overlays.starts[m + 1]]
            ]
            for m in range(first, last)
        }
    return found


def after_all(members: kernel.Members, chosen: Settings, seed: int) -> kernel.Overlays:
    overlays = kernel.initial(members, chosen, seed)
    for aligned in kernel.rounds(members, overlays, chosen, seed):
        overlays = aligned
    return overlays


@given(universes(), IDS, st.integers(0, 6), st.floats(0.1, 0.999))
@settings(max_examples=100)
@example({5: [1, 2, 3]}, 0, 0, 0.99)  # everybody holds everybody
@example({5: [7]}, 1, 5, 0.99)  # nobody to hold
def test_views_are_equal_after_every_round(topics: Topics, seed: int, ttl: int, connectivity: float) -> None:
    chosen = Settings(rounds=3, ttl=ttl, connectivity=connectivity)
    members = batch(topics)
    overlays = kernel.initial(members, chosen, seed)
    expected = {t: reference.fixed_overlay(seed, t, nodes, chosen.margin) for t, nodes in topics.items()}
    assert views_of(members, overlays) == expected
    for turn, aligned in enumerate(kernel.rounds(members, overlays, chosen, seed)):
        expected = {t: reference.lock_step_round(seed, t, turn, ttl, views) for t, views in expected.items()}
        assert views_of(members, aligned) == expected
        digests = [reference.digest(t, views) for t, views in expected.items()]
        assert [int(d) % 2**64 for d in kernel.digests(members, aligned)] == digests


@given(universes(), IDS, st.floats(0.05, 0.999))
@settings(max_examples=100)
def test_erdos_renyi_overlays_are_the_first_strong_draw_or_a_patched_last_one(
    topics: Topics, seed: int, connectivity: float
) -> None:
    chosen = Settings(overlay="erdos-renyi", connectivity=connectivity)
    members = batch(topics)
    found = views_of(members, kernel.initial(members, chosen, seed))
    for topic, nodes in topics.items():
        draws = [reference.drawn_digraph(seed, topic, nodes, chosen.margin, a) for a in range(kernel.ATTEMPTS)]
        strong = next((views for views in draws if reference.is_strong(views)), None)
        assert reference.is_strong(found[topic])
        if strong is not None:
            assert found[topic] == strong
        else:
            for node, view in found[topic].items():
                assert set(view) >= set(draws[-1][node])
                assert view == reference.ranked(node, set(view))


@given(universes(largest=60), IDS)
@settings(max_examples=50)
def test_a_view_keeps_its_size_and_never_names_its_holder(topics: Topics, seed: int) -> None:
    chosen = Settings(rounds=4, overlay="erdos-renyi", connectivity=math.exp(-1))
    members = batch(topics)
    before = views_of(members, kernel.initial(members, chosen, seed))
    after = views_of(members, after_all(members, chosen, seed))
    for topic, views in after.items():
        for node, view in views.items():
            assert len(view) == len(set(view)) == len(before[topic][node])
            assert node not in view
            assert set(view) <= set(topics[topic])


@given(universes(), IDS, st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_a_topic_does_not_feel_which_topics_share_its_batch(topics: Topics, seed: int, shuffler) -> None:
    together = batch(topics)
    views = views_of(together, after_all(together, Settings(rounds=3), seed))
    order = list(topics)
    shuffler.shuffle(order)
    for topic in order:
        alone = batch({topic: topics[topic]})
        assert views_of(alone, after_all(alone, Settings(rounds=3), seed))[topic] == views[topic]


def test_without_shared_topics_nothing_is_gained() -> None:
    """StaN 2.1: without correlation the result is one overlay per topic."""
    topics = {t: list(range(100 * t, 100 * t + 60)) for t in range(1, 6)}
    members = batch(topics)
    for overlays in (kernel.initial(members, Settings(), 1), after_all(members, Settings(), 1)):
        for views in views_of(members, overlays).values():
            assert all(len(set(view)) == 9 for view in views.values())  # ceil(ln 60 + 4.6)


def test_the_papers_example_with_five_nodes() -> None:
    """StaN Figure 2: n0 holds two nodes in each of two topics; once it knows all four it holds the same two in both."""
    n0, others = 1000, [2, 3, 4, 5]
    best = set(reference.ranked(n0, set(others))[:2])
    topics = {1: sorted([n0, *others]), 2: sorted([n0, *others])}
    members = batch(topics)
    starts = np.arange(0, 2 * members.ids.size + 1, 2)
    place = {node: at for at, node in enumerate(topics[1])}
    start_with = {1: [2, 3], 2: [4, 5]}
    links = []
    for topic, nodes in topics.items():
        for node in nodes:
            view = start_with[topic] if node == n0 else reference.ranked(node, set(nodes))[:2]
            links += [place[q] for q in reference.ranked(node, set(view))]
    overlays = kernel.Overlays(starts, np.array(links, np.int32))
    for aligned in kernel.rounds(members, overlays, Settings(rounds=8), 1):
        overlays = aligned
    after = views_of(members, overlays)
    assert [len(after[topic][n0]) for topic in topics] == [2, 2]
    assert set(after[1][n0]) == set(after[2][n0]) == best


@pytest.mark.parametrize(("members", "fan_out"), [(20, 8), (29, 8), (100, 10), (1000, 12), (10_000, 14)])
def test_fixed_fan_outs_are_those_of_the_099_rule(members: int, fan_out: int) -> None:
    topic = {1: list(range(members))}
    overlays = kernel.initial(batch(topic), Settings(), 1)
    assert set(np.diff(overlays.starts)) == {fan_out}


def test_erdos_renyi_degrees_have_the_wanted_mean_and_variance() -> None:
    members = batch({1: list(range(3000))})
    overlays = kernel.initial(members, Settings(overlay="erdos-renyi", connectivity=0.9999), 1)
    degrees = np.diff(overlays.starts)
    mean = math.log(3000) - math.log(-math.log(0.9999))
    assert degrees.mean() == pytest.approx(mean, abs=4 * math.sqrt(mean / 3000))
    assert degrees.var() == pytest.approx(mean, rel=0.12)
