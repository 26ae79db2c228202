"""Magnet on arrays against the same rules in plain Python, on small universes."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ropewalk.ids import identify
from ropewalk.protocols.dht.kernel import Interests, Ring, chord, homes, interests_of
from ropewalk.protocols.dht.kernel.oscar import partitions_of, wanted_fingers
from ropewalk.protocols.magnet.kernel import built, grown, joined
from ropewalk.protocols.magnet.settings import Choice, Settings, strawman
from ropewalk.protocols.scribe import kernel as scribe

SEED = 5


def universe(nodes: int, topics: int, each: int, seed: int = SEED) -> Interests:
    rng = np.random.default_rng(seed)
    names = [identify(f"node-{place}") for place in range(nodes)]
    subjects = [identify(f"topic-{place}") for place in range(topics)]
    pairs = [
        (name, subjects[at]) for name in names for at in rng.choice(topics, rng.integers(1, each + 1), replace=False)
    ]
    return of_pairs(pairs)


def of_pairs(pairs: list[tuple[int, int]]) -> Interests:
    nodes, topics = np.array(pairs, np.int64).T
    return interests_of(nodes, topics)


def followed(interests: Interests, node: int) -> set[int]:
    return set(interests.topics[interests.by_node[node] : interests.by_node[node + 1]].tolist())


def followers(interests: Interests, topic: int) -> list[int]:
    return list(interests.nodes[interests.by_topic[topic] : interests.by_topic[topic + 1]].tolist())


def likeness(interests: Interests, one: int, other: int) -> float:
    a, b = followed(interests, one), followed(interests, other)
    return len(a & b) / len(a | b)


def links_of(ring: Ring, place: int) -> list[int]:
    return list(ring.links[ring.starts[place] : ring.starts[place + 1]].tolist())


def way(ring: Ring, place: int, target: int) -> list[int]:
    """Greedy and clockwise, from one place to another, both included."""
    found = [place]
    while found[-1] != target:
        left = (target - found[-1]) % ring.order.size
        found.append((found[-1] + max(link for link in links_of(ring, found[-1]) if link <= left)) % ring.order.size)
    return found


@given(nodes=st.integers(1, 40), topics=st.integers(1, 12), seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=60)
def test_who_knows_everybody_sits_beside_the_most_similar_who_came_before(nodes: int, topics: int, seed: int) -> None:
    interests = universe(nodes, topics, min(topics, 5), seed)
    arrivals, order = joined(interests, Settings(samples=nodes), seed)
    assert sorted(order.tolist()) == sorted(arrivals.tolist()) == list(range(nodes))
    following = dict(zip(order.tolist(), np.roll(order, -1).tolist(), strict=True))
    for turn in range(nodes - 1, 0, -1):  # take them away again, the last first: who is before each is whom it chose
        node = arrivals[turn]
        before = next(other for other, after in following.items() if after == node)
        following[before] = following.pop(node)
        known = {other: likeness(interests, node, other) for other in arrivals[:turn].tolist()}
        if max(known.values()) > 0:
            assert known[before] == max(known.values())


def test_who_finds_nobody_sits_where_its_hash_says() -> None:
    alone = of_pairs([(identify(f"node-{place}"), identify(f"topic-{place}")) for place in range(30)])
    for of in (Settings(), Settings(samples=0), strawman(Settings())):
        _, order = joined(alone, of, SEED)
        rotated = np.roll(order, -int(np.argmin(order)))
        assert rotated.tolist() == list(range(30))


def test_hashed_places_and_places_in_between_go_together() -> None:
    """Two families, each with topics of its own: the second founder sits by hash, wherever the first family sits by then."""
    families = [(identify(f"node-{place}"), identify(f"topic-{place % 2}")) for place in range(60)]
    interests = of_pairs(families)
    _, order = joined(interests, Settings(), SEED)
    family = [followed(interests, node).pop() for node in order.tolist()]
    assert sum(one != other for one, other in pairwise([*family, family[0]])) == 2


@pytest.mark.parametrize("nodes", [1, 2, 3, 4, 7, 64, 333])
@pytest.mark.parametrize("choice", ["similar", "first"])
def test_links_are_the_successor_and_fingers_none_twice(nodes: int, choice: Choice) -> None:
    interests = universe(nodes, 10, 4)
    ring = built(interests, Settings(choice=choice), SEED).ring
    for place in range(nodes):
        links = links_of(ring, place)
        assert links == sorted(set(links))
        assert links[:1] == [1][: nodes - 1]
        assert all(0 < link < nodes for link in links)


def test_the_mean_degree_is_what_was_asked_for_and_fingers_are_at_most_as_many_as_partitions() -> None:
    ids = np.array([identify(f"node-{place}") for place in range(20_000)], np.int64)
    for degree in (6.0, 12.0, 19.0, 24.0):
        wanted = wanted_fingers(ids, degree, partitions_of(ids.size), SEED)
        assert wanted.mean() == pytest.approx(degree / 2 - 1, abs=0.05)
        assert wanted.min() >= 1
        assert wanted.max() <= partitions_of(ids.size)


def test_fingers_fall_into_every_partition_alike() -> None:
    interests = universe(1024, 4, 1)
    ring = built(interests, strawman(Settings(degree=19.0)), SEED).ring
    fingers = np.concatenate([links_of(ring, place)[1:] for place in range(1024)])
    counts = np.bincount(np.floor(np.log2((fingers - 1) / 1024 * 2048)).astype(int))  # far ones: none is drawn twice
    assert counts[6:].max() / counts[6:].min() < 1.15


@given(nodes=st.integers(1, 40), topics=st.integers(1, 10), seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=60)
def test_a_strict_tree_is_made_of_the_ways_from_the_home_to_all_who_follow(nodes: int, topics: int, seed: int) -> None:
    interests = universe(nodes, topics, min(topics, 5), seed)
    ring, arrivals = built(interests, Settings(), seed)
    trees = grown(interests, ring, arrivals, "strict", seed, np.arange(interests.topic_ids.size, dtype=np.int32))
    load = np.zeros(nodes)
    for topic, root in enumerate(homes(interests).tolist()):
        home = ring.places[root]
        ways = [way(ring, home, ring.places[node]) for node in followers(interests, topic)]
        inside = {home} | {place for each in ways for place in each}
        strangers = {ring.order[place] for place in inside} - set(followers(interests, topic))
        assert trees.nodes[topic] == len(inside)
        assert trees.relays[topic] == len(strangers)
        assert trees.strange_roots[topic] == (root in strangers)
        assert trees.depth[topic] <= max(len(each) - 1 for each in ways)
        assert (trees.grafts[topic], trees.strays[topic]) == (0, 0)
        load[list(strangers)] += 1
    assert (trees.load / 1_000_000).tolist() == load.tolist()
    assert trees.children.sum() == (trees.nodes - 1).sum()


@given(nodes=st.integers(2, 40), topics=st.integers(1, 10), seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=60)
def test_a_printed_tree_has_all_of_the_strict_one_that_it_must_and_says_what_is_more(
    nodes: int, topics: int, seed: int
) -> None:
    interests = universe(nodes, topics, min(topics, 5), seed)
    ring, arrivals = built(interests, Settings(), seed)
    wanted = np.arange(interests.topic_ids.size, dtype=np.int32)
    strict = grown(interests, ring, arrivals, "strict", seed, wanted)
    plain = grown(interests, ring, arrivals, "printed", seed, wanted)
    assert (plain.nodes - plain.strays <= strict.nodes).all()
    assert (plain.nodes - plain.relays == strict.nodes - strict.relays).all()  # everybody who follows is in it


def test_trees_of_some_topics_are_those_of_all() -> None:
    interests = universe(60, 12, 5)
    ring, arrivals = built(interests, Settings(), SEED)
    whole = grown(interests, ring, arrivals, "printed", SEED, np.arange(12, dtype=np.int32))
    some = np.array([7, 2], np.int32)
    part = grown(interests, ring, arrivals, "printed", SEED, some)
    assert part.relays.tolist() == whole.relays[some].tolist()
    assert part.depth.tolist() == whole.depth[some].tolist()


@given(nodes=st.integers(1, 40), topics=st.integers(1, 10), seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=60)
def test_fingers_of_chord_are_the_first_nodes_from_powers_of_two_on(nodes: int, topics: int, seed: int) -> None:
    interests = universe(nodes, topics, min(topics, 5), seed)
    ring = chord.linked(interests)
    ids = interests.node_ids.tolist()
    for place, own in enumerate(ids):
        wanted = [(own + (1 << bit)) % (1 << 63) for bit in range(63)]
        found = {next((at for at, other in enumerate(ids) if other >= key), 0) for key in wanted}
        assert links_of(ring, place) == sorted({(at - place) % nodes for at in found} - {0})


@given(nodes=st.integers(1, 40), topics=st.integers(1, 10), seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=60)
def test_a_tree_of_scribe_is_made_of_the_ways_of_all_who_follow_to_the_home(nodes: int, topics: int, seed: int) -> None:
    interests = universe(nodes, topics, min(topics, 5), seed)
    ring = chord.linked(interests)
    trees = scribe.grown(interests, ring, np.arange(interests.topic_ids.size, dtype=np.int32))
    for topic, root in enumerate(homes(interests).tolist()):
        before = (root - 1) % nodes
        ways = [[node] if node == root else [*way(ring, node, before), root] for node in followers(interests, topic)]
        inside = {root} | {place for each in ways for place in each}
        assert trees.nodes[topic] == len(inside)
        assert trees.relays[topic] == len(inside - set(followers(interests, topic)))
        assert trees.depth[topic] == max(len(each) - 1 for each in ways)
        assert trees.hops[topic] == sum(len(each) - 1 for each in ways)
