"""The state of a network from rows, and what is told of it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pictured import NEWS, Told, came, picture_of, said, two_linked
from ropewalk.dashboard import answers, ledger
from ropewalk.dashboard import picture as pictures
from ropewalk.dashboard.judging import GRACE, SILENT
from ropewalk.dashboard.ledger import Ledger, Versions
from ropewalk.dashboard.picture import Picture
from ropewalk.dashboard.rows import row_of


def test_what_nodes_say_adds_up() -> None:
    picture = picture_of(*two_linked())
    totals = picture.totals()
    assert (totals["up"], totals["topics"], totals["subscriptions"], totals["links"]) == (2, 1, 2, 1)
    assert (totals["lvs"], totals["pvs"], totals["connections"]) == (0.5, 0.5, 1.0)
    (topic,) = answers.topics(picture, "new", 0)["entries"]
    assert (topic["name"], topic["members"], topic["links"]) == ("news", 2, 1)
    assert answers.topics(picture, "sport", 0)["of"] == 0


def test_who_is_killed_is_down_once_a_neighbour_lost_it_and_it_says_nothing() -> None:
    lost = said("endings", node=1, neighbour=2, at=5.0, cause="failed", why="reset")
    picture = picture_of(*two_linked(), lost, until=5.0 + GRACE["reset"] / 2)
    assert picture.nodes[2].state == "up"
    picture.advance(6.0 + GRACE["reset"])
    assert (picture.nodes[2].state, picture.nodes[2].why, picture.nodes[2].since.at) == ("down", "reset", 5.0)
    assert picture.totals()["links"] == 0
    assert answers.topics(picture, "", 0)["entries"][0]["members"] == 1


def test_who_speaks_after_a_link_with_it_was_lost_is_up() -> None:
    lost = said("endings", node=1, neighbour=2, at=5.0, cause="failed", why="frozen")
    speaks = said("linked", node=2, at=5.9, up=[], down=[1])
    assert picture_of(*two_linked(), lost, speaks, until=60.0 - SILENT).nodes[2].state == "up"


def test_who_is_linked_with_again_is_up() -> None:
    lost = said("endings", node=1, neighbour=2, at=5.0, cause="failed", why="reset")
    again = said("linked", node=1, at=6.0, up=[2], down=[])
    assert picture_of(*two_linked(), lost, again, until=9.0).nodes[2].state == "up"


def test_a_link_that_is_closed_or_refused_is_no_reason_to_doubt_anybody() -> None:
    closed = said("endings", node=1, neighbour=2, at=5.0, cause="closed", why="closed")
    refused = said("endings", node=1, neighbour=2, at=5.0, cause="failed", why="refused: no")
    assert picture_of(*two_linked(), closed, refused, until=20.0).nodes[2].state == "up"


def test_who_is_silent_for_long_is_down_and_back_when_it_speaks() -> None:
    picture = picture_of(*two_linked(), until=3.0 + SILENT)
    assert picture.nodes[1].state == "down"
    picture.take(said("linked", node=1, at=4.0 + SILENT, up=[], down=[]))
    assert (picture.nodes[1].state, picture.nodes[2].state) == ("up", "down")


def held_together(picture: Picture) -> tuple[Any, ...]:
    """Members and links of the topic, connections, and what the first two nodes hold."""
    totals, (topic,) = picture.totals(), answers.topics(picture, "", 0)["entries"]
    each = [(node.lvs, node.pvs, len(node.counts.links)) for node in (picture.nodes[1], picture.nodes[2])]
    return topic["members"], topic["links"], totals["subscriptions"], totals["links"], totals["lvs"], *each


def test_who_was_frozen_and_wakes_up_follows_holds_and_is_linked_as_before() -> None:
    lost = said("endings", node=1, neighbour=2, at=5.0, cause="failed", why="frozen")
    mutual = said("held", node=2, at=2, topic=NEWS, neighbours=[1])
    picture = picture_of(*two_linked(), mutual)
    before = held_together(picture)
    assert before == (2, 1, 2, 1, 1.0, (1, 1, 1), (1, 1, 1))
    picture.take(lost)
    picture.advance(8.0)
    assert (picture.nodes[2].state, *held_together(picture)[:4]) == ("down", 1, 1, 1, 0)
    shown = answers.node(picture, 2)
    assert shown is not None
    assert (shown["follows"], shown["topics"], shown["connections"], shown["lvs"]) == (0, [], 0, 0)
    picture.take(said("linked", node=2, at=50.0, up=[], down=[]))
    picture.take(said("linked", node=1, at=50.0, up=[2], down=[]))
    assert (picture.nodes[2].state, *held_together(picture)) == ("up", *before)
    shown = answers.node(picture, 2)
    assert shown is not None
    assert (shown["follows"], shown["connections"], shown["topics"][0]["name"]) == (1, 1, "news")


def test_after_all_stood_still_everything_is_as_it_was() -> None:
    picture = picture_of(*two_linked())
    before = held_together(picture)
    picture.advance(3600.0)
    assert (picture.totals()["down"], picture.totals()["links"]) == (2, 0)
    for node in (1, 2):
        picture.take(said("linked", node=node, at=3600.5, up=[], down=[]))
    assert held_together(picture) == before


def test_who_wakes_up_and_says_what_it_lost_has_lost_it() -> None:
    picture = picture_of(*two_linked(), until=4.0 + SILENT)
    picture.take(said("linked", node=2, at=5.0 + SILENT, up=[], down=[1]))
    picture.take(said("subscriptions", node=2, topic=NEWS, at=5.0 + SILENT, follows=False))
    picture.take(said("linked", node=1, at=5.0 + SILENT, up=[], down=[2]))
    assert held_together(picture)[:4] == (1, 1, 1, 0)


def test_what_is_read_late_of_who_is_down_counts_once_it_is_back() -> None:
    picture = picture_of(*two_linked(), until=4.0 + SILENT)
    picture.take(said("held", node=2, at=3.0, topic=NEWS, neighbours=[1]))
    assert (picture.nodes[2].state, picture.nodes[2].lvs, answers.topics(picture, "", 0)["of"]) == ("down", 0, 0)
    picture.take(said("linked", node=2, at=5.0 + SILENT, up=[], down=[]))
    assert (picture.nodes[2].lvs, answers.topics(picture, "", 0)["entries"][0]["links"]) == (1, 1)


def test_who_starts_anew_has_nothing_of_before() -> None:
    picture = picture_of(*two_linked(), until=4.0 + SILENT)
    picture.take(came(2, at=5.0 + SILENT))
    picture.take(said("linked", node=2, at=6.0 + SILENT, up=[], down=[]))
    assert (picture.nodes[2].state, picture.totals()["subscriptions"], picture.totals()["links"]) == ("up", 0, 0)


def test_who_is_killed_is_down_as_soon_after_a_day_as_after_a_minute() -> None:
    for ran in (60, 6 * 3600, 24 * 3600):
        picture, now = picture_of(came(1), came(2)), 1.0
        while now < ran:
            now += 10.0
            for node in (1, 2):
                picture.take(said("linked", node=node, at=now, up=[], down=[]))
        picture.take(said("endings", node=1, neighbour=2, at=now + 1.0, cause="failed", why="reset"))
        picture.advance(now + 0.9 + GRACE["reset"])
        assert picture.nodes[2].state == "up"
        picture.advance(now + 1.1 + GRACE["reset"])
        assert (picture.nodes[2].state, picture.nodes[2].since.at) == ("down", now + 1.0)
        picture.advance(now + 1.1 + SILENT)
        assert (picture.nodes[1].state, picture.nodes[1].since.at) == ("down", now + 1.0 + SILENT)


def test_who_leaves_holds_nothing_and_may_come_back() -> None:
    left = said("nodes", node=1, at=7.0, up=False)
    picture = picture_of(*two_linked(), left)
    assert (picture.nodes[1].state, picture.nodes[1].lvs, picture.totals()["up"]) == ("left", 0, 1)
    picture.take(came(1, at=8.0))
    assert picture.nodes[1].state == "up"


def test_nodes_that_are_only_heard_of_are_elsewhere() -> None:
    picture = picture_of(came(1), said("linked", node=1, at=2, up=[9], down=[]))
    assert (picture.nodes[9].state, picture.totals()["elsewhere"]) == ("elsewhere", 1)


def test_lines_that_are_no_rows_are_none() -> None:
    for line in (
        b"",
        b"{",
        b"[]",
        b'{"table": "nodes"}',
        b'{"table": "other", "at": 1}',
        b'{"table":"held","node":-1,"at":1}',
        b"\xff",
    ):
        assert row_of(line) is None


ids = st.integers(1, 5)
topics = st.integers(1, 3)
anything = st.one_of(
    st.builds(lambda node, up: {"table": "nodes", "node": node, "up": up}, ids, st.booleans()),
    st.builds(lambda node, topic, follows: {"table": "subscriptions", "node": node, "topic": topic, "follows": follows}, ids, topics, st.booleans()),
    st.builds(lambda node, topic, held: {"table": "held", "node": node, "topic": topic, "neighbours": held}, ids, topics, st.lists(ids, unique=True)),
    st.builds(lambda node, up, down: {"table": "linked", "node": node, "up": up, "down": down}, ids, st.lists(ids, unique=True), st.lists(ids, unique=True)),
    st.builds(lambda node, other: {"table": "endings", "node": node, "neighbour": other, "cause": "failed", "why": "reset"}, ids, ids),
    st.builds(lambda event, node: {"table": "publications", "event": event, "publisher": node, "topics": [1], "size": 1}, st.integers(1, 9), ids),
    st.builds(lambda event, node, source: {"table": "deliveries", "event": event, "node": node, "from": source, "hops": 1}, st.integers(1, 9), ids, ids),
)  # fmt: skip


@given(st.lists(st.tuples(anything, st.floats(0, 3), st.booleans()), max_size=60))
def test_everything_once_and_then_differences_are_everything_later(
    history: list[tuple[dict[str, Any], float, bool]],
) -> None:
    picture, page, at = Picture(), Told(), 1.0
    page.take(picture.since(0, 1))
    for row, later, looks in history:
        at += later
        picture.take(said(**({"at": at} | row)))
        if looks:
            page.take(picture.since(page.version, 1))
    page.take(picture.since(page.version, 1))
    whole = Told()
    whole.take(picture.since(0, 1))
    assert page.parts == whole.parts


@given(st.lists(st.tuples(anything, st.floats(0, 3)), max_size=60))
def test_a_link_is_told_exactly_as_long_as_one_end_says_so(history: list[tuple[dict[str, Any], float]]) -> None:
    picture, at = Picture(), 1.0
    for row, later in history:
        at += later
        picture.take(said(**({"at": at} | row)))
    numbers = {id_: node.number for id_, node in picture.nodes.items()}
    ends = {
        tuple(sorted((node.number, numbers[other]))) for node in picture.nodes.values() for other in node.counts.links
    }
    assert {key for key, _ in picture.links.since(0)[0].items()} == ends


@given(st.lists(st.tuples(anything, st.floats(0, 20), st.integers(0, 5)), max_size=40))
def test_how_often_somebody_looks_changes_nothing(history: list[tuple[dict[str, Any], float, int]]) -> None:
    often, seldom, at = Picture(), Picture(), 1.0
    for row, later, looks in history:
        for look in range(1, looks + 1):
            often.advance(at + later * look / (looks + 1))
        at += later
        for picture in (often, seldom):
            picture.take(said(**({"at": at} | row)))
    told = [picture.since(0, 1) for picture in (often, seldom)]
    for each in told:
        del each["version"]
    assert told[0] == told[1]


@given(st.lists(st.tuples(anything, st.floats(0, 20)), max_size=40))
def test_who_is_down_and_says_something_is_as_if_it_had_never_been_down(
    history: list[tuple[dict[str, Any], float]],
) -> None:
    """What nodes said adds up to the same, whether or not somebody was taken for down in between."""
    with pytest.MonkeyPatch.context() as patched:
        pictures, at = (Picture(), Picture()), 1.0
        patched.setattr(pictures[0], "_give_up", lambda _: None)
        for row, later in history:
            at += later
            for picture in pictures:
                picture.take(said(**({"at": at} | row)))
        for node in range(1, 6):
            for picture in pictures:
                picture.take(said("linked", node=node, at=at + 1.0, up=[], down=[]))
        adds_up = [
            [picture.links.since(0)[0], picture.totals()]
            + [
                [sorted(picture.since(0, topic).get(part) or ()) for part in ("members", "overlay")]
                for topic in (1, 2, 3)
            ]
            for picture in pictures
        ]
    assert adds_up[0] == adds_up[1]


def left(node: int, at: float) -> Any:
    return said("nodes", node=node, at=at, up=False)


def test_who_is_gone_for_longest_makes_room_and_numbers_are_not_given_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MOST_NODES", 4)
    monkeypatch.setattr(pictures, "AT_ONCE", 1)
    picture, page = picture_of(*two_linked(), came(3), left(3, 3.0), came(4), left(4, 4.0)), Told()
    page.take(picture.since(0))
    for node in range(5, 20):  # a new key at every start
        picture.take(came(node, at=float(node)))
        picture.take(left(node, at=node + 0.5))
        assert len(picture.nodes) == 4
        assert list(picture.nodes)[2:] == [node - 1, node]
    page.take(picture.since(page.version))
    assert set(page.parts["nodes"]) == {(node.number,) for node in picture.nodes.values()}
    assert (picture.totals()["up"], picture.totals()["left"], picture.beyond) == (2, 2, 0)
    assert len({row[0] for row in picture.since(0)["nodes"]}) == 4


def test_nobody_who_is_up_or_linked_is_forgotten_and_what_is_beyond_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MOST_NODES", 3)
    picture = picture_of(*two_linked(), said("linked", node=1, at=2.5, up=[9], down=[]), came(7, at=3.0))
    assert (list(picture.nodes), picture.totals()["beyond"]) == ([1, 2, 9], 1)
    picture.take(said("linked", node=1, at=3.5, up=[], down=[9]))
    picture.take(came(7, at=3.6))
    assert (list(picture.nodes), picture.totals()["beyond"]) == ([1, 2, 9], 2)  # it is not looked for room at every row
    picture.take(came(7, at=5.0))
    assert (list(picture.nodes), picture.totals()["beyond"]) == ([1, 2, 7], 2)


def test_topics_that_are_too_many_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MOST_TOPICS", 1)
    more = said("subscriptions", node=1, topic=NEWS + 1, at=3.0, follows=True)
    assert picture_of(*two_linked(), more).totals()["beyond"] == 1


@given(st.lists(st.tuples(anything, st.floats(0, 3), st.booleans()), max_size=60))
def test_who_is_forgotten_leaves_nothing_behind(history: list[tuple[dict[str, Any], float, bool]]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pictures, "MOST_NODES", 3)
        patched.setattr(pictures, "AT_ONCE", 2)
        picture, page, whole, at = Picture(), Told(), Told(), 1.0
        for row, later, looks in history:
            at += later
            picture.advance(at)
            up = {node.id for node in picture.nodes.values() if node.state == "up"}
            picture.take(said(**({"at": at} | row)))
            assert up <= picture.nodes.keys()
            if looks:
                page.take(picture.since(page.version, 1))
        page.take(picture.since(page.version, 1))
        whole.take(picture.since(0, 1))
        assert page.parts == whole.parts
        there = {node.number for node in picture.nodes.values()}
        assert {end for pair in picture.links.since(0)[0] for end in pair} <= there
        for overlay in picture.overlays.values():
            assert {end for pair in overlay.links.since(0)[0] for end in pair} | set(overlay.members) <= there


def test_who_has_missed_too_much_is_told_everything(monkeypatch: Any) -> None:
    monkeypatch.setattr(ledger, "MOST_GONE", 4)
    known: Ledger[int, int] = Ledger(Versions())
    for key in range(10):
        known.put(key, 1)
    for key in range(10):
        known.drop(key)
    assert not known.remembers(12)
    assert known.remembers(16)
    assert known.since(16) == ({}, [6, 7, 8, 9])
