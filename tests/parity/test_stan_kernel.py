"""The kernel and the plain statement of StaN's rules hold equal views, not similar ones."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import stan_cases as cases
import stan_reference as reference
import stan_rounds
from ropewalk.protocols.stan import kernel
from ropewalk.protocols.stan.kernel import threads
from ropewalk.protocols.stan.settings import CHOICES, Settings, Weight
from stan_cases import IDS, Topics, universes

EVERYTHING = Settings(
    rounds=6,
    connectivity=0.4,
    schedule="sequential",
    weight="keyed",
    learn=True,
    snoop=True,
    adaptive=True,
    slowest=3,
    loss=0.1,
    churn=0.5,
)


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


def in_order(views: dict[int, reference.Views]) -> list[tuple[int, list[tuple[int, reference.View]]]]:
    """The same as lists, so that comparing them also compares the order of topics and members."""
    return [(topic, list(held.items())) for topic, held in views.items()]


def stages_of(topics: Topics, chosen: Settings, seed: int, *, count_ids: bool = True) -> list[stan_rounds.Stage]:
    """The kernel's stages as the reference writes them. Each is read before the next round runs."""
    members = batch(topics)
    overlays = kernel.initial(members, chosen, seed)
    return [
        stan_rounds.Stage(
            views=views_of(stage.members, stage.overlays),
            messages=dict(zip(topics, stage.messages.tolist(), strict=True)),
            ids=dict(zip(topics, stage.ids.tolist(), strict=True)) if count_ids else {},
        )
        for stage in kernel.rounds(members, overlays, chosen, seed, count_ids=count_ids)
    ]


def check_every_round(topics: Topics, chosen: Settings, seed: int) -> None:
    """Views, their digests, messages and ids."""
    rules, members = cases.rules(chosen, seed), batch(topics)
    overlays = kernel.initial(members, chosen, seed)
    views = views_of(members, overlays)
    made = reference.fixed_overlay if chosen.overlay == "fixed" else reference.random_overlay
    assert views == {t: made(rules, t, nodes) for t, nodes in topics.items()}
    stages = kernel.rounds(members, overlays, chosen, seed, count_ids=True)
    for found, expected in zip(stages, stan_rounds.rounds(rules, views), strict=True):
        assert in_order(views_of(found.members, found.overlays)) == in_order(expected.views)
        assert found.messages.tolist() == list(expected.messages.values())
        assert found.ids.tolist() == list(expected.ids.values())
        digests = [reference.digest(t, held) for t, held in expected.views.items()]
        assert [int(d) % 2**64 for d in kernel.digests(found.members, found.overlays)] == digests


@pytest.mark.thorough
@pytest.mark.parametrize("schedule", cases.CONDUCTED)
@pytest.mark.parametrize("family", cases.ALONE)
@given(topics=universes(), seed=IDS, data=st.data())
def test_each_setting_alone_is_equal_after_every_round(family: str, schedule: str, topics, seed: int, data) -> None:
    check_every_round(topics, data.draw(cases.settings(**cases.ALONE[family], schedule=schedule)), seed)


@given(universes(), cases.settings(**cases.ANY), IDS)
@settings(max_examples=400)
@example({5: [7]}, Settings(), 1)  # nobody to hold
@example({5: [7], 6: [7, 9]}, Settings(rounds=6, churn=0.5, learn=True, snoop=True), 1)
@example({5: [1, 2, 3]}, Settings(ttl=0), 0)  # everybody holds everybody
@example({5: [1, 2, 3], 6: [2, 3, 4, 5], 7: [4, 5]}, EVERYTHING, 3)
@example({5: [1, 2, 3]}, replace(EVERYTHING, churn=1.0), 2)  # all go in round 1, some return in round 2
@example({5: list(range(20)), 6: list(range(10, 30))}, Settings(rounds=6, churn=1.0), 4)
@example({5: list(range(20))}, replace(EVERYTHING, churn=1.0, loss=1.0), 5)
@example({5: [0, 2**63 - 1, 2**62]}, replace(EVERYTHING, weight="ring"), 2**63 - 1)
@example({2**63 - 1: list(range(20))}, replace(EVERYTHING, ttl=0, adaptive=False), 0)
def test_all_settings_together_are_equal_after_every_round(topics: Topics, chosen: Settings, seed: int) -> None:
    check_every_round(topics, chosen, seed)


@given(universes(), cases.settings(**cases.ANY, knowledge="everything"), IDS)
def test_who_knows_everything_holds_the_best(topics: Topics, chosen: Settings, seed: int) -> None:
    members = batch(topics)
    overlays = kernel.initial(members, chosen, seed)
    best = views_of(members, kernel.omniscient(members, overlays, chosen, seed))
    rules = cases.rules(chosen, seed)
    assert best == {t: reference.omniscient(rules, held) for t, held in views_of(members, overlays).items()}


@given(universes(), cases.settings(**cases.ANY), IDS)
@settings(max_examples=50)
def test_counting_ids_changes_nothing_else(topics: Topics, chosen: Settings, seed: int) -> None:
    counted = stages_of(topics, chosen, seed)
    assert stages_of(topics, chosen, seed, count_ids=False) == [replace(stage, ids={}) for stage in counted]


@given(universes(), cases.settings(**cases.ANY), IDS)
@settings(max_examples=50)
def test_rounds_leave_the_overlays_they_begin_with(topics: Topics, chosen: Settings, seed: int) -> None:
    members = batch(topics)
    overlays = kernel.initial(members, chosen, seed)
    before = views_of(members, overlays)
    assert sum(1 for _ in kernel.rounds(members, overlays, chosen, seed)) == chosen.rounds
    assert views_of(members, overlays) == before


@given(universes(), st.sampled_from(CHOICES["weight"]), IDS, st.floats(0.05, 0.999))
def test_erdos_renyi_overlays_are_strong_however_thin(
    topics: Topics, weight: Weight, seed: int, connectivity: float
) -> None:
    chosen = Settings(overlay="erdos-renyi", connectivity=connectivity, weight=weight)
    rules, members = cases.rules(chosen, seed), batch(topics)
    found = views_of(members, kernel.initial(members, chosen, seed))
    assert found == {topic: reference.random_overlay(rules, topic, nodes) for topic, nodes in topics.items()}
    assert all(reference.is_strong(views) for views in found.values())


@given(universes(largest=60), cases.settings(**{**cases.ANY, "churn": 0.0}), IDS)
@settings(max_examples=50)
def test_a_view_keeps_its_size_and_never_names_its_holder(topics: Topics, chosen: Settings, seed: int) -> None:
    members = batch(topics)
    before = views_of(members, kernel.initial(members, chosen, seed))
    for topic, views in stages_of(topics, chosen, seed)[-1].views.items():
        for node, view in views.items():
            assert len(view) == len(set(view)) == len(before[topic][node])
            assert node not in view
            assert set(view) <= set(topics[topic])


@given(universes(), cases.settings(**cases.ANY), IDS, st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_a_topic_does_not_feel_which_topics_share_its_batch(topics: Topics, chosen, seed: int, shuffler) -> None:
    together = stages_of(topics, chosen, seed)
    order = list(topics)
    shuffler.shuffle(order)
    for topic in order:
        for among, alone in zip(together, stages_of({topic: topics[topic]}, chosen, seed), strict=True):
            assert alone.views[topic] == among.views[topic]
            assert (alone.messages[topic], alone.ids[topic]) == (among.messages[topic], among.ids[topic])


def test_without_shared_topics_nothing_is_gained() -> None:
    """StaN 2.1: without correlation the result is one overlay per topic."""
    topics = {t: list(range(100 * t, 100 * t + 60)) for t in range(1, 6)}
    members = batch(topics)
    before = views_of(members, kernel.initial(members, Settings(), 1))
    for overlays in (before, stages_of(topics, Settings(), 1)[-1].views):
        for views in overlays.values():
            assert all(len(set(view)) == 9 for view in views.values())  # ceil(ln 60 + 4.6)


def test_the_papers_example_with_five_nodes() -> None:
    """StaN Figure 2: n0 holds two nodes in each of two topics; once it knows all four it holds the same two in both."""
    n0, others = 1000, [2, 3, 4, 5]
    rules = reference.Rules(seed=1)
    best = set(reference.ranked(rules, n0, others)[:2])
    topics = {1: sorted([n0, *others]), 2: sorted([n0, *others])}
    members = batch(topics)
    starts = np.arange(0, 2 * members.ids.size + 1, 2)
    place = {node: at for at, node in enumerate(topics[1])}
    start_with = {1: [2, 3], 2: [4, 5]}
    links = []
    for topic, nodes in topics.items():
        for node in nodes:
            view = start_with[topic] if node == n0 else reference.ranked(rules, node, nodes)[:2]
            links += [place[q] for q in reference.ranked(rules, node, view)]
    overlays = kernel.Overlays(starts, np.array(links, np.int32))
    *_, last = kernel.rounds(members, overlays, Settings(rounds=8), rules.seed)
    after = views_of(last.members, last.overlays)
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


@pytest.mark.parametrize("chosen", [Settings(rounds=3), EVERYTHING], ids=["printed", "everything"])
def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch, chosen: Settings) -> None:
    monkeypatch.setattr(threads, "SMALLEST_PART", 7)
    topics = {5: list(range(90)), 6: [4, 9], 7: list(range(40, 120)), 8: [3]}
    members, together = batch(topics), replace(chosen, schedule="sync")
    overlays = kernel.initial(members, together, 1)
    alone, shared = (list(kernel.rounds(members, overlays, together, 1, count_ids=True, threads=n)) for n in (1, 4))
    for one, other in zip(alone, shared, strict=True):
        assert views_of(one.members, one.overlays) == views_of(other.members, other.overlays)
        assert one.messages.tolist() == other.messages.tolist()
        assert one.ids.tolist() == other.ids.tolist()
    best = [kernel.omniscient(members, overlays, together, 1, threads=n).links.tolist() for n in (1, 4)]
    assert best[0] == best[1]
