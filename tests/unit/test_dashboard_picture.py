"""The state of a network from rows, and what is told of it."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.dashboard import answers, ledger, travels
from ropewalk.dashboard import picture as pictures
from ropewalk.dashboard.judging import GRACE, SILENT
from ropewalk.dashboard.ledger import Ledger, Versions
from ropewalk.dashboard.picture import Picture
from ropewalk.dashboard.rows import row_of
from ropewalk.dashboard.series import MOST_POINTS
from ropewalk.dashboard.travels import MOST_EVENTS

NEWS = 77


def said(table: str, **about: Any) -> Any:
    row = row_of(json.dumps({"table": table, "life": 0} | about).encode())
    assert row is not None, about
    return row


def came(node: int, at: float = 1.0, **more: Any) -> Any:
    return said("nodes", node=node, at=at, up=True, **more)


def picture_of(*rows: Any, until: float = 0.0) -> Picture:
    picture = Picture()
    for row in rows:
        picture.take(row)
    picture.advance(until)
    return picture


def two_linked() -> list[Any]:
    return [
        came(1),
        came(2),
        said("subscriptions", node=1, topic=NEWS, at=1.1, follows=True, name="news"),
        said("subscriptions", node=2, topic=NEWS, at=1.1, follows=True),
        said("held", node=1, at=2, topic=NEWS, neighbours=[2]),
        said("linked", node=1, at=2, up=[2], down=[]),
        said("linked", node=2, at=2, up=[1], down=[]),
    ]


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


def test_an_event_is_told_hop_by_hop() -> None:
    rows = [
        *two_linked(),
        came(3),
        said("deliveries", event=5, node=3, hops=2, at=10.004, **{"from": 2}),  # files are read in any order
        said("publications", event=5, publisher=1, topics=[NEWS], size=3, at=10.0),
        said("deliveries", event=5, node=2, hops=1, at=10.002, **{"from": 1}),
    ]
    event = answers.event(picture_of(*rows), 5, 0)
    assert event is not None
    assert event["steps"] == [[f"{2:016x}", f"{1:016x}", 1, 2.0], [f"{3:016x}", f"{2:016x}", 2, 4.0]]
    assert (event["publisher"], event["expected"], event["delivered"]) == (f"{1:016x}", 1, 2)


def test_how_many_want_an_event_is_not_said_where_one_of_them_wants_only_some() -> None:
    def expected(*more: Any, topics: Sequence[int] = (NEWS,)) -> int:
        publication = said("publications", event=5, publisher=1, topics=topics, size=3, at=9.0)
        travel = picture_of(*two_linked(), came(3), *more, publication).travels.find(5)
        assert travel is not None
        return travel.expected

    follows: dict[str, Any] = {"table": "subscriptions", "topic": NEWS, "follows": True}
    some = said(**follows, node=3, at=3.0, filters=[{"conditions": [["price", ">", 3]]}])
    assert expected(said(**follows, node=3, at=3.0)) == 2
    assert expected(some) == 0
    assert expected(some, said(**follows, node=3, at=4.0)) == 2  # all of them, by now
    assert expected(some, said(**(follows | {"follows": False}), node=3, at=4.0)) == 1
    assert expected(said(**follows, node=1, at=3.0, filters=[{}])) == 1  # who publishes is not counted anyway
    other = said("subscriptions", topic=NEWS + 1, follows=True, node=3, at=3.0)
    assert expected(some, other, topics=(NEWS, NEWS + 1)) == expected(some, other, topics=(NEWS + 1, NEWS)) == 2
    lost = said("endings", node=1, neighbour=3, at=5.0, cause="failed", why="reset")
    assert expected(some, lost, said("linked", node=1, at=8.0, up=[], down=[])) == 1
    assert expected(some, lost, said("linked", node=1, at=8.0), said("linked", node=3, at=8.5)) == 0


def test_nobody_gets_an_event_before_who_sends_it_on_or_before_it_is_published_whatever_clocks_say() -> None:
    rows = [
        *two_linked(),
        came(3),
        came(9),
        said("publications", event=5, publisher=1, topics=[NEWS], size=3, at=10.0),
        said("deliveries", event=5, node=2, hops=1, at=10.5, **{"from": 1}),  # a clock that is ahead
        said("deliveries", event=5, node=3, hops=2, at=10.004, **{"from": 2}),
        said("deliveries", event=5, node=9, hops=3, at=8.0, **{"from": 3}),  # and one that is slow
    ]
    event = answers.event(picture_of(*rows), 5, 0)
    assert event is not None
    assert [(int(node, 16), hops, took) for node, _, hops, took in event["steps"]] == [
        (2, 1, 500.0),
        (3, 2, 4.0),
        (9, 3, 0.0),
    ]


def test_events_have_the_names_of_their_topics_also_if_these_become_known_later() -> None:
    picture, page = picture_of(*two_linked()), Told()
    picture.take(said("publications", event=5, publisher=1, topics=[NEWS, NEWS + 1], size=3, at=10.0))
    page.take(picture.since(0))
    assert page.parts["events"][f"{5:016x}",][2] == [[f"{NEWS:016x}", "news"], [f"{NEWS + 1:016x}", ""]]
    picture.take(said("names", topic=NEWS + 1, name="sport"))
    page.take(picture.since(page.version))
    assert page.parts["events"][f"{5:016x}",][2][1] == [f"{NEWS + 1:016x}", "sport"]


def test_who_asks_for_a_page_that_there_is_no_longer_gets_the_last_one() -> None:
    picture = picture_of(*(came(node) for node in range(1, answers.PAGE + 2)))
    for page, there, entries in ((0, 0, answers.PAGE), (1, 1, 1), (7, 1, 1)):
        told = answers.nodes(picture, "", page)
        assert (told["page"], told["pages"], len(told["entries"])) == (there, 2, entries)
    assert (told := answers.topics(picture, "", 3)) == {"entries": [], "of": 0, "page": 0, "pages": 1}, told
    for node in range(1, answers.MOST_SHOWN + 2):
        picture.take(said("deliveries", event=5, node=node, hops=1, at=10.0))
    for asked, there, steps in ((0, 0, answers.MOST_SHOWN), (9, 1, 1), (None, 0, answers.MOST_SHOWN + 1)):
        event = answers.event(picture, 5, asked)
        assert event is not None
        assert (event["page"], len(event["steps"])) == (there, steps)


deliveries = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9), st.floats(1, 99)), min_size=1, max_size=20)


@given(deliveries, st.integers(0, 20))
def test_what_is_said_of_an_event_in_short_is_of_all_its_steps(steps: list[tuple[int, int, float]], turn: int) -> None:
    rows = [said("deliveries", event=5, node=node, hops=hops, at=at) for node, hops, at in steps]
    if turn <= len(rows):
        rows.insert(turn, said("publications", event=5, publisher=1, topics=[NEWS], size=3, at=50.0))
    firsts: dict[int, tuple[int, float]] = {}
    for node, hops, at in steps:
        firsts.setdefault(node, (hops, at))
    begun = 50.0 if turn <= len(steps) else min(at for _, at in firsts.values())
    ((_, shown),) = picture_of(*rows).since(0)["events"]
    took = 1000 * max(0.0, max(at for _, at in firsts.values()) - begun)
    assert (shown[0], shown[3], shown[5]) == (begun, len(firsts), max(hops for hops, _ in firsts.values()))
    assert shown[6] == pytest.approx(took, abs=0.1)


def test_deliveries_that_there_is_no_room_for_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(travels, "MOST_STEPS", 2)
    rows = [said("deliveries", event=5, node=node, hops=1, at=10.0) for node in (1, 2, 3, 3, 2)]
    event = answers.event(picture_of(*rows), 5, None)
    assert event is not None
    assert (len(event["steps"]), event["delivered"], event["beyond"]) == (2, 4, 2)


def test_only_the_last_events_are_kept_and_late_deliveries_do_not_bring_others_back() -> None:
    picture = picture_of(came(1))
    for event in range(MOST_EVENTS + 50):
        picture.take(said("publications", event=event, publisher=1, topics=[NEWS], size=1, at=10.0 + event))
    picture.take(said("deliveries", event=3, node=1, hops=1, at=500.0))
    assert len(picture.travels.latest()) == MOST_EVENTS
    assert answers.event(picture, 3, 0) is None
    assert (picture.totals()["published"], picture.totals()["delivered"]) == (MOST_EVENTS + 50, 1)


def test_points_get_further_apart_and_never_many() -> None:
    picture = picture_of(came(1))
    for now in range(100, 10_000, 100):
        picture.advance(now)
    assert MOST_POINTS / 4 < len(picture.series.points) <= MOST_POINTS
    assert picture.series.step > 1


def test_no_event_is_lost_from_the_chart_when_points_get_further_apart() -> None:
    picture, bursts = picture_of(came(1)), (0, 0, 3, 7, 0, 0, 0, 1)
    for second in range(5 * MOST_POINTS):
        picture.advance(1.0 + second)
        for event in range(bursts[second % 8]):
            picture.take(said("publications", event=event, publisher=1, topics=[NEWS], size=1, at=1.5 + second))
    points = picture.since(0)["points"]
    assert picture.series.step == 8
    apart = [later - at for (at, _), (later, _) in pairwise(points)]
    shown = sum(values[-2] * width for (_, values), width in zip(points[1:], apart, strict=True))
    counted = sum(bursts[second % 8] for second in range(int(points[-1][0] - 1.0)))
    assert shown == counted


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


class Told:
    """What a page knows."""

    def __init__(self) -> None:
        self.version = 0
        self.parts: dict[str, dict[Any, Any]] = {}

    def take(self, told: dict[str, Any]) -> None:
        told = json.loads(json.dumps(told))
        if told["whole"]:
            self.parts = {}
        for name in ("nodes", "links", "events", "points", "news", "members", "overlay"):
            known = self.parts.setdefault(name, {})
            for key in told.get(f"{name}_gone", ()):
                known.pop(tuple(key), None)
            for *key, value in told.get(name, ()):
                known[tuple(key)] = value
        self.version = told["version"]


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
