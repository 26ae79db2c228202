"""Links and events on arrays, beside the rules as they are printed, on universes small enough to try everybody with everybody."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ropewalk.engines.batch.content import Heard, Overlay, run_here
from ropewalk.engines.contents import Contents, contents_of_topics, drawn
from ropewalk.protocols.kato import ids
from ropewalk.protocols.kato.kernel.links import COVERED, COVERING, NEIGHBOUR
from ropewalk.protocols.kato.kernel.spread import COLUMNS
from ropewalk.protocols.kato.settings import Settings, Spread

BITS = 64  # few, so that ids cover each other


@st.composite
def universes(draw: st.DrawFn) -> Contents:
    """Up to 25 nodes that want up to 6 of 12 cells; some want the same."""
    wanted = draw(st.lists(st.sets(st.integers(1, 12), min_size=1, max_size=6), min_size=1, max_size=25))
    named = draw(st.lists(st.integers(0, 10**6), min_size=len(wanted), max_size=len(wanted), unique=True))
    pairs = [(node, 10**9 + cell) for node, cells in zip(named, wanted, strict=True) for cell in cells]
    nodes, cells = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    return contents_of_topics(nodes, cells)


SETTINGS = st.builds(
    Settings, bits=st.just(BITS), hashes=st.integers(1, 3), cover=st.sampled_from(["bits", "cells"]),
    common=st.sampled_from(["wanted", "ignored"]), covering=st.integers(1, 3),
)  # fmt: skip


def cells_of(contents: Contents, node: int) -> frozenset[int]:
    interests = contents.interests
    places = interests.topics[interests.by_node[node] : interests.by_node[node + 1]]
    return frozenset(interests.topic_ids[places].tolist())


def things_of(contents: Contents, node: int, chosen: Settings) -> frozenset[int]:
    """What a node's links must cover."""
    cells = cells_of(contents, node)
    if chosen.cover == "bits":
        whole = ids.node_id(cells, chosen.bits, chosen.hashes)
        things = {place for place in range(chosen.bits) if whole >> place & 1}
    else:
        things = set(cells) | {ids.COMMON}
    return frozenset(things if chosen.common == "wanted" else things - {ids.COMMON})


def printed(contents: Contents, overlay: Overlay, chosen: Settings, node: int) -> list[tuple[int, int]]:
    """Algorithms 1 and 2, word by word: everybody is looked at, in the order of random ids, from this node on."""
    count = contents.interests.node_ids.size
    things = [things_of(contents, each, chosen) for each in range(count)]
    leaders = overlay.profiles.leaders
    others = [each for each in range(count) if leaders[each] == each and each != node]
    bits = [ids.node_id(cells_of(contents, each), chosen.bits, chosen.hashes).bit_count() for each in range(count)]
    above = sorted((bits[each], each) for each in others if things[each] > things[node])
    found = [(each, COVERING) for _, each in above[: chosen.covering]]
    below = {each for each in others if things[each] < things[node]}
    beside = {
        each
        for each in others
        if not things[each] >= things[node] and each not in below and things[each] & things[node]
    }
    for kind, known in ((COVERED, below), (NEIGHBOUR, beside)):
        taken: set[int] = set()
        for way in (1, -1):
            missing = set(
                things[node] if chosen.neighbours == "text" or kind == COVERED else _all(chosen) - things[node]
            )
            for step in range(1, count):
                other = (node + way * step) % count
                if other in known and things[other] & missing:
                    missing -= things[other]
                    taken.add(other)
        found += [(each, kind) for each in taken]
    return found


def _all(chosen: Settings) -> frozenset[int]:
    return frozenset(range(chosen.bits))


def links_of(overlay: Overlay, node: int) -> list[tuple[int, int]]:
    begin, end = overlay.links.starts[node : node + 2]
    return list(zip(overlay.links.others[begin:end].tolist(), overlay.links.kinds[begin:end].tolist(), strict=True))


def check_links(contents: Contents, chosen: Settings) -> None:
    overlay, _ = run_here(contents, chosen, 0, 1)
    alike: dict[frozenset[int], list[int]] = {}
    for node in range(contents.interests.node_ids.size):
        alike.setdefault(things_of(contents, node, chosen), []).append(node)
    for members in alike.values():
        leaders = {int(overlay.profiles.leaders[node]) for node in members}
        assert len(leaders) == 1
        assert leaders <= set(members)
        assert sorted(overlay.profiles.behind[members].tolist()) == list(range(len(members)))
    for node in range(contents.interests.node_ids.size):
        primary = overlay.profiles.leaders[node] == node and bool(things_of(contents, node, chosen))
        wanted = printed(contents, overlay, chosen, node) if primary else []
        assert sorted(links_of(overlay, node)) == sorted(wanted)


@settings(max_examples=60)
@given(universes(), SETTINGS)
def test_links_are_those_of_the_printed_algorithms(contents: Contents, chosen: Settings) -> None:
    check_links(contents, chosen)


@settings(max_examples=25)
@given(universes(), st.integers(1, 3))
def test_so_are_those_of_the_proof_s_rule(contents: Contents, hashes: int) -> None:
    check_links(contents, Settings(bits=BITS, hashes=hashes, neighbours="proof"))


@settings(max_examples=60)
@given(universes(), SETTINGS, st.integers(1, 3))
def test_tables_are_within_the_bound_of_their_rule(contents: Contents, chosen: Settings, hashes: int) -> None:
    overlay, _ = run_here(contents, chosen, 0, 1)
    proof, _ = run_here(contents, Settings(bits=BITS, hashes=hashes, neighbours="proof"), 0, 1)
    for node in range(contents.interests.node_ids.size):
        things = len(things_of(contents, node, chosen))
        kinds = [kind for _, kind in links_of(overlay, node)]
        assert kinds.count(COVERING) <= chosen.covering
        assert kinds.count(COVERED) <= 2 * things
        assert kinds.count(NEIGHBOUR) <= 2 * things
        assert len(links_of(proof, node)) <= 2 * BITS + 1


def reached(contents: Contents, overlay: Overlay, chosen: Settings, publisher: int, cell: int) -> dict[int, int]:
    """Whom an event gets to over links to who matches, in both directions, and round groups; how deep."""
    event = ids.event_id(cell, chosen.bits, chosen.hashes)
    count = contents.interests.node_ids.size

    def matches(node: int) -> bool:
        cells = cells_of(contents, node)
        by_bits = ids.covers(ids.node_id(cells, chosen.bits, chosen.hashes), event)
        return by_bits and (chosen.cover == "bits" or cell in cells)

    leaders, behind = overlay.profiles.leaders, overlay.profiles.behind
    near: dict[int, set[int]] = {node: set() for node in range(count)}
    for node in range(count):
        for other, _ in links_of(overlay, node):
            near[node].add(other)
            near[other].add(node)
    for node in range(count):
        members = sorted(np.flatnonzero(leaders == leaders[node]).tolist(), key=lambda each: behind[each])
        at = members.index(node)
        near[node] |= {members[at - 1], members[(at + 1) % len(members)]} - {node}
    depths, queue = {publisher: 0}, deque([publisher])
    while queue:
        node = queue.popleft()
        for other in near[node]:
            if other not in depths and matches(other):
                depths[other] = depths[node] + 1
                queue.append(other)
    return depths


@settings(max_examples=60)
@given(universes(), SETTINGS)
def test_events_get_where_links_lead(contents: Contents, chosen: Settings) -> None:
    overlay, heard = run_here(contents, chosen, 5, 1)
    published = drawn(contents, chosen, 5, 1)
    for number in range(5):
        cell = int(contents.interests.topic_ids[published.cells[number]])
        publisher = int(published.publishers[number])
        depths = reached(contents, overlay, chosen, publisher, cell)
        wanting = [
            node
            for node in range(contents.interests.node_ids.size)
            if cell in cells_of(contents, node) and node != publisher
        ]
        got = [node for node in wanting if node in depths]
        found = dict(zip(COLUMNS, heard.events[number].tolist(), strict=True))
        assert (found["wanted"], found["delivered"]) == (len(wanting), len(got))
        assert found["by_bits"] == len(depths) - 1 - len(got)
        assert found["depth"] == sum(depths[node] for node in got)
        assert (found["by_cell"], found["lost"], found["routed"]) == (0, 0, 0)


@settings(max_examples=100)
@given(universes(), st.integers(1, 3))
def test_nothing_is_missed_with_links_for_every_cell_or_one_bit_a_cell(contents: Contents, hashes: int) -> None:
    repaired = Settings(bits=BITS, hashes=hashes, cover="cells")
    for chosen in (repaired, Settings(bits=BITS, hashes=1)):
        _, heard = run_here(contents, chosen, 10, 1)
        found = dict(zip(COLUMNS, heard.events.sum(axis=0).tolist(), strict=True))
        assert found["delivered"] == found["wanted"]
        assert chosen is not repaired or found["by_bits"] == 0


def test_an_event_of_a_stranger_goes_from_link_to_link_or_is_lost() -> None:
    nodes = np.arange(200).repeat(2)
    contents = contents_of_topics(nodes, 10**9 + (nodes * 7 + np.arange(400)) % 40)
    _, heard = run_here(contents, Settings(publishers="anybody"), 200, 1)
    _, own = run_here(contents, Settings(), 200, 1)
    found, wanting = _summed(heard), _summed(own)
    assert (wanting["routed"], wanting["lost"]) == (0, 0)
    assert found["routed"] > 0
    assert 0 < found["lost"] < 200
    assert (heard.events[heard.events[:, COLUMNS.index("lost")] == 1][:, COLUMNS.index("delivered")] == 0).all()


def _summed(heard: Heard) -> dict[str, int]:
    return dict(zip(COLUMNS, heard.events.sum(axis=0).tolist(), strict=True))


@pytest.mark.parametrize("spread", ["forward", "multicast"])
def test_messages_are_counted_where_they_come_in(spread: Spread) -> None:
    nodes = np.arange(120).repeat(3)
    contents = contents_of_topics(nodes, 10**9 + (nodes + np.arange(360)) % 25)
    _, heard = run_here(contents, Settings(spread=spread), 100, 1)
    reached_ = sum(_summed(heard)[name] for name in ("delivered", "by_cell", "by_bits"))
    assert heard.received.sum() >= reached_
    assert heard.unwanted.sum() == _summed(heard)["by_bits"]
