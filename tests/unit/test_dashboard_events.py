"""Events from rows: hop by hop, in short, in lists and charts."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pictured import NEWS, Told, came, picture_of, said, two_linked
from ropewalk.dashboard import answers, travels
from ropewalk.dashboard.series import MOST_POINTS
from ropewalk.dashboard.travels import MOST_EVENTS


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
