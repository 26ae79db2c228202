"""A node that knows everybody links to whom the arrays say, in every reading; and it can be told a little at a time."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ropewalk.engines.batch.content import run_here
from ropewalk.engines.contents import Contents, contents_of_topics
from ropewalk.protocols.contract import Contact
from ropewalk.protocols.kato.kernel.links import COVERED, COVERING, NEIGHBOUR
from ropewalk.protocols.kato.profiles import Looker, Profile, Sight, is_alike
from ropewalk.protocols.kato.settings import Settings
from ropewalk.protocols.kato.tables import chosen

READINGS = st.one_of(
    st.builds(
        Settings, bits=st.just(64), hashes=st.integers(1, 3), cover=st.sampled_from(["bits", "cells"]),
        common=st.sampled_from(["wanted", "ignored"]), covering=st.integers(1, 2),
    ),
    st.builds(Settings, bits=st.just(64), hashes=st.integers(1, 3), neighbours=st.just("proof")),
)  # fmt: skip


@st.composite
def universes(draw: st.DrawFn) -> Contents:
    wanted = draw(st.lists(st.sets(st.integers(1, 12), min_size=1, max_size=6), min_size=1, max_size=20))
    named = draw(st.lists(st.integers(0, 2**63 - 1), min_size=len(wanted), max_size=len(wanted), unique=True))
    pairs = [(node, 10**9 + cell) for node, cells in zip(named, wanted, strict=True) for cell in cells]
    nodes, cells = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    return contents_of_topics(nodes, cells)


def profiles_of(contents: Contents) -> list[Profile]:
    interests = contents.interests
    starts = interests.by_node.tolist()
    return [
        Profile(Contact(node), tuple(interests.topic_ids[interests.topics[starts[at] : starts[at + 1]]].tolist()))
        for at, node in enumerate(interests.node_ids.tolist())
    ]


@settings(max_examples=150)
@given(universes(), READINGS)
def test_a_node_that_knows_everybody_links_as_the_arrays_do(contents: Contents, reading: Settings) -> None:
    overlay, _ = run_here(contents, reading, 0, 1)
    profiles = profiles_of(contents)
    firsts, links = overlay.profiles.primaries.tolist(), overlay.links
    primaries = [profiles[at] for at, first in enumerate(firsts) if first == at]
    for at, profile in enumerate(profiles):
        looker = Looker(profile, reading)
        alike = [other for other in profiles if is_alike(looker.sees(other))]
        assert {other.contact.id for other in alike} == {
            profiles[place].contact.id for place, first in enumerate(firsts) if first == firsts[at]
        }
        if firsts[at] != at:
            continue
        table = chosen(looker, [looker.sees(other) for other in primaries])
        begin, end = links.starts[at : at + 2]
        for kind, held in ((COVERING, table.covering), (COVERED, table.covered), (NEIGHBOUR, table.neighbours)):
            wanted = links.others[begin:end][links.kinds[begin:end] == kind]
            assert sorted(held) == sorted(contents.interests.node_ids[wanted].tolist())


@settings(max_examples=100)
@given(universes(), READINGS, st.randoms(use_true_random=False))
def test_who_keeps_what_it_links_to_need_not_remember_the_others(contents: Contents, reading: Settings, mixed) -> None:
    """Told of others one by one in any order, a node that keeps its links alone ends with those of who knew all at once."""
    profiles = profiles_of(contents)
    looker = Looker(profiles[0], reading)
    others = [looker.sees(other) for other in profiles[1:]]
    at_once = chosen(looker, others)
    mixed.shuffle(others)
    held: dict[int, Sight] = {}
    for sight in others:
        known = held | {sight.profile.contact.id: sight}
        held = {node: known[node] for node in chosen(looker, known.values()).all()}
    assert held.keys() == at_once.all().keys()
