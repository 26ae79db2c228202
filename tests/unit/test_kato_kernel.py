"""Links and events on arrays, beside the rules as they are printed, on universes small enough to try everybody with everybody."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kato_printed import Printed
from ropewalk.engines.batch.content import Heard, Overlay, run_here
from ropewalk.engines.contents import Contents, contents_of, contents_of_topics, drawn, said_by
from ropewalk.protocols.content.spaces import space_of
from ropewalk.protocols.kato.kernel.links import COVERED, COVERING, NEIGHBOUR
from ropewalk.protocols.kato.kernel.spread import COLUMNS
from ropewalk.protocols.kato.settings import Publishers, Settings, Spread

BITS = 64  # few, so that ids cover each other
SEED = 1
EVENTS = 8


@st.composite
def universes(draw: st.DrawFn) -> Contents:
    """Up to 25 nodes that want up to 6 of 12 cells; some want the same."""
    wanted = draw(st.lists(st.sets(st.integers(1, 12), min_size=1, max_size=6), min_size=1, max_size=25))
    named = draw(st.lists(st.integers(0, 10**6), min_size=len(wanted), max_size=len(wanted), unique=True))
    pairs = [(node, 10**9 + cell) for node, cells in zip(named, wanted, strict=True) for cell in cells]
    nodes, cells = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    return contents_of_topics(nodes, cells)


@st.composite
def nested(draw: st.DrawFn) -> Contents:
    """Up to 30 nodes with ranges of prices that contain each other; many want the same, or the same cells."""
    ends = st.tuples(st.integers(0, 16), st.integers(0, 16)).map(sorted)
    kinds = draw(st.lists(st.lists(ends, min_size=1, max_size=2), min_size=1, max_size=12))
    wanted = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=30))
    named = draw(st.lists(st.integers(0, 10**6), min_size=len(wanted), max_size=len(wanted), unique=True))
    rows = [(node, low / 2, high / 2) for node, ranges in zip(named, wanted, strict=True) for low, high in ranges]
    nodes, lows, highs = (np.array(column) for column in zip(*rows, strict=True))
    return contents_of(space_of("price:0:8:8"), {}, nodes.astype(np.int64), lows[:, None], highs[:, None])


SETTINGS = st.builds(
    Settings, bits=st.just(BITS), hashes=st.integers(1, 3), cover=st.sampled_from(["bits", "cells"]),
    common=st.sampled_from(["wanted", "ignored"]), covering=st.integers(1, 3),
)  # fmt: skip
OF_EVENTS = {"spread": st.sampled_from(["forward", "multicast"]), "publishers": st.sampled_from(["wanting", "anybody"])}
READINGS = st.one_of(
    st.builds(
        Settings, bits=st.just(BITS), hashes=st.integers(1, 3), cover=st.sampled_from(["bits", "cells"]),
        common=st.sampled_from(["wanted", "ignored"]), covering=st.integers(1, 3), **OF_EVENTS,
    ),
    st.builds(Settings, bits=st.just(BITS), hashes=st.integers(1, 3), neighbours=st.just("proof"), **OF_EVENTS),
)  # fmt: skip


def links_of(overlay: Overlay, node: int) -> list[tuple[int, int]]:
    begin, end = overlay.links.starts[node : node + 2]
    return list(zip(overlay.links.others[begin:end].tolist(), overlay.links.kinds[begin:end].tolist(), strict=True))


def check_links(contents: Contents, chosen: Settings) -> None:
    overlay, _ = run_here(contents, chosen, 0, SEED)
    printed = Printed(contents, chosen, SEED)
    for ring in printed.rings.values():
        assert overlay.profiles.primaries[ring].tolist() == [ring[0]] * len(ring)
        assert overlay.profiles.behind[ring].tolist() == list(range(len(ring)))
    for node in printed.nodes:
        assert sorted(links_of(overlay, node)) == sorted(printed.links[node].items())


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
    overlay, _ = run_here(contents, chosen, 0, SEED)
    proof, _ = run_here(contents, Settings(bits=BITS, hashes=hashes, neighbours="proof"), 0, SEED)
    printed = Printed(contents, chosen, SEED)
    for node in printed.nodes:
        things = len(printed.things[node])
        kinds = [kind for _, kind in links_of(overlay, node)]
        assert kinds.count(COVERING) <= chosen.covering
        assert kinds.count(COVERED) <= 2 * things
        assert kinds.count(NEIGHBOUR) <= 2 * things
        assert len(links_of(proof, node)) <= 2 * BITS + 1


def check_events(contents: Contents, chosen: Settings) -> None:
    _, heard = run_here(contents, chosen, EVENTS, SEED)
    published = drawn(contents, chosen, EVENTS, SEED)
    printed = Printed(contents, chosen, SEED)
    received: Counter[int] = Counter()
    unwanted: Counter[int] = Counter()
    for number in range(EVENTS):
        point = published.points[number]
        if contents.space is None:
            cell = int(contents.interests.topic_ids[published.cells[number]])
        else:
            cell = contents.space.cell_of(said_by(contents, point))
        became = printed.published(int(published.publishers[number]), cell, point.tolist())
        assert dict(zip(COLUMNS, heard.events[number].tolist(), strict=True)) == became.counts
        received.update(became.received)
        unwanted.update(became.unwanted)
    assert heard.received.tolist() == [received[node] for node in printed.nodes]
    assert heard.unwanted.tolist() == [unwanted[node] for node in printed.nodes]


@settings(max_examples=150)
@given(nested(), READINGS)
def test_events_go_as_single_messages_would_in_every_reading(contents: Contents, chosen: Settings) -> None:
    check_events(contents, chosen)


@settings(max_examples=100)
@given(universes(), READINGS)
def test_so_they_do_where_each_topic_is_a_cell(contents: Contents, chosen: Settings) -> None:
    check_events(contents, chosen)


@settings(max_examples=100)
@given(universes(), st.integers(1, 3))
def test_nothing_is_missed_with_links_for_every_cell_or_one_bit_a_cell(contents: Contents, hashes: int) -> None:
    repaired = Settings(bits=BITS, hashes=hashes, cover="cells")
    for chosen in (repaired, Settings(bits=BITS, hashes=1)):
        _, heard = run_here(contents, chosen, 10, SEED)
        found = _summed(heard)
        assert found["delivered"] == found["wanted"]
        assert chosen is not repaired or found["by_bits"] == 0


def test_an_event_of_a_stranger_goes_from_link_to_link_or_is_lost() -> None:
    nodes = np.arange(200).repeat(2)
    contents = contents_of_topics(nodes, 10**9 + (nodes * 7 + np.arange(400)) % 40)
    _, heard = run_here(contents, Settings(publishers="anybody"), 200, SEED)
    _, own = run_here(contents, Settings(), 200, SEED)
    found, wanting = _summed(heard), _summed(own)
    assert (wanting["routed"], wanting["lost"]) == (0, 0)
    assert found["routed"] > 0
    assert 0 < found["lost"] < 200
    assert (heard.events[heard.events[:, COLUMNS.index("lost")] == 1][:, COLUMNS.index("delivered")] == 0).all()


def _summed(heard: Heard) -> dict[str, int]:
    return dict(zip(COLUMNS, heard.events.sum(axis=0).tolist(), strict=True))


@pytest.mark.parametrize("publishers", ["wanting", "anybody"])
@pytest.mark.parametrize("spread", ["forward", "multicast"])
def test_messages_are_counted_where_they_come_in(spread: Spread, publishers: Publishers) -> None:
    nodes = np.arange(120).repeat(3)
    contents = contents_of_topics(nodes, 10**9 + (nodes % 40 + np.arange(360)) % 25)
    _, heard = run_here(contents, Settings(spread=spread, publishers=publishers), 100, SEED)
    found = _summed(heard)
    assert heard.received.sum() == found["messages"]
    assert found["messages"] >= found["delivered"] + found["by_cell"] + found["by_bits"]
    assert heard.unwanted.sum() == found["by_bits"]


@pytest.mark.parametrize(("size", "messages"), [(1, 0), (2, 1), (3, 4), (4, 5), (7, 8)])
def test_a_group_passes_an_event_round_both_ways_until_it_meets_itself(size: int, messages: int) -> None:
    contents = contents_of_topics(np.arange(size), np.full(size, 10**9))
    _, heard = run_here(contents, Settings(), 1, SEED)
    found = _summed(heard)
    assert (found["delivered"], found["messages"], found["deepest"]) == (size - 1, messages, size // 2)
    assert heard.received.sum() == messages
