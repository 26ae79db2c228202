"""What strangers may use up, by the rules alone: no socket, no clock."""

from collections.abc import Callable
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.engines.live import limits as rules
from ropewalk.engines.live.limits import Bounds, Budget, Limits, Outcasts
from ropewalk.errors import UsageError
from ropewalk.protocols.rates import Bucket, Rate

HERE, THERE, ELSEWHERE = "", "192.0.2.1", "192.0.2.2"


@given(
    rate=st.floats(0.1, 1000),
    at_once=st.integers(1, 1000),
    takes=st.lists(st.tuples(st.floats(0, 5), st.integers(1, 50)), max_size=60),
)
def test_no_more_is_taken_from_a_bucket_than_it_had_and_got(rate: float, at_once: int, takes) -> None:
    bucket, now, taken = Bucket(Rate(rate, at_once), 0.0), 0.0, 0
    for gap, count in takes:
        now += gap
        taken += count if bucket.take(now, count) else 0
        assert taken <= at_once + rate * now + 1e-6


@given(rate=st.floats(1, 1000), at_once=st.integers(1, 100), seconds=st.integers(1, 50))
def test_who_keeps_to_a_rate_is_never_stopped(rate: float, at_once: int, seconds: int) -> None:
    bucket = Bucket(Rate(rate, at_once), 0.0)
    assert all(bucket.take((1 + each) * 1.000001 / rate) for each in range(min(2000, int(seconds * rate))))


def test_a_clock_that_stands_still_gives_nothing_and_one_that_goes_back_takes_nothing() -> None:
    bucket = Bucket(Rate(1.0, 2), 100.0)
    assert [bucket.take(100.0) for _ in range(3)] == [True, True, False]
    assert not bucket.take(50.0)
    assert bucket.take(101.0)


@given(offences=st.lists(st.floats(0, 5000), max_size=40))
def test_who_goes_on_is_kept_out_longer_each_time_and_never_longer_than_the_longest(offences: list[float]) -> None:
    outcasts, now, before, until = Outcasts(), 0.0, 0.0, -inf
    for gap in offences:
        now += gap
        lasts = outcasts.add(b"key", now)
        again = now < until + rules.FORGIVEN * before
        assert lasts == (min(rules.LONGEST, 2 * before) if again else rules.KEPT_OUT)
        before, until = lasts, now + lasts
        assert outcasts.has(b"key", now + lasts * 0.999)
        assert not outcasts.has(b"key", now + lasts)


def test_those_who_are_soonest_let_in_again_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MOST_OUTCASTS", 3)
    outcasts = Outcasts()
    outcasts.add(b"long", 0.0, least=600.0)
    for place in range(5):
        outcasts.add(f"short {place}", float(place))
    assert len(outcasts) == 3
    assert outcasts.has(b"long", 5.0)
    assert outcasts.has("short 4", 5.0)
    assert not outcasts.has("short 0", 5.0)


@given(offences=st.lists(st.tuples(st.integers(0, 9), st.floats(0, 40)), max_size=80))
def test_whoever_is_remembered_is_let_in_again_later_than_who_was_forgotten(offences: list[tuple[int, float]]) -> None:
    with pytest.MonkeyPatch.context() as fewer:
        fewer.setattr(rules, "MOST_OUTCASTS", 4)
        outcasts, until, now = Outcasts(), dict[str, float](), 0.0
        for who, gap in offences:
            now += gap
            until.pop(str(who), None)
            if len(until) == 4:
                del until[min(until, key=until.__getitem__)]
            until[str(who)] = now + outcasts.add(str(who), now)
            assert len(outcasts) == len(until)
            assert all(outcasts.has(str(each), now) == (until.get(str(each), 0.0) > now) for each in range(10))


class Looked(bytes):
    """A key that counts how often one like it is looked up."""

    times = 0

    def __hash__(self) -> int:
        Looked.times += 1
        return super().__hash__()


def test_to_keep_out_one_more_does_not_mean_to_look_at_all_who_are_out() -> None:
    outcasts = Outcasts()
    for number in range(rules.MOST_OUTCASTS):
        outcasts.add(Looked(b"%d" % number), 0.0)
    Looked.times = 0
    for number in range(100):
        outcasts.add(Looked(b"one more %d" % number), 1.0)
    assert len(outcasts) == rules.MOST_OUTCASTS
    assert Looked.times < 100 * 10


def test_who_offends_again_and_again_is_remembered_once() -> None:
    outcasts = Outcasts()
    for number in range(5 * rules.MOST_OUTCASTS):
        outcasts.add(b"key", float(number))
    assert len(outcasts) == 1
    assert len(outcasts._queue) <= 2 * rules.MOST_OUTCASTS


Come = Callable[[Limits], str]


@pytest.mark.parametrize(
    ("bounds", "come", "why"),
    [
        ({"links": 4, "at_door": 1, "strangers": 1}, lambda it: it.comes(HERE, 0.0), rules.TOO_MANY),
        ({"from_one": 5}, lambda it: it.comes(THERE, 0.0), rules.TOO_MANY_THERE),
        ({"handshakes": Rate(1.0, 5)}, lambda it: it.comes(HERE, 0.0), rules.TOO_FAST),
        ({"handshakes_from_one": Rate(1.0, 5)}, lambda it: it.comes(THERE, 0.0), rules.TOO_FAST_THERE),
    ],
)
def test_five_may_come_and_the_sixth_is_told_why_not(bounds: dict, come: Come, why: str) -> None:
    limits = Limits(Bounds(**bounds))
    assert [come(limits) for _ in range(6)] == ["", "", "", "", "", why]
    assert limits.counts == {why: 1}
    assert limits.connections == 5


def test_who_goes_makes_room() -> None:
    limits = Limits(Bounds(from_one=1))
    assert limits.comes(THERE, 0.0) == ""
    assert limits.comes(THERE, 0.0) == rules.TOO_MANY_THERE
    assert limits.comes(ELSEWHERE, 0.0) == ""
    limits.goes(THERE)
    assert limits.comes(THERE, 0.0) == ""
    assert limits.connections == 2


def test_one_address_cannot_use_up_what_is_there_for_all() -> None:
    limits = Limits(Bounds())
    for _ in range(10_000):
        limits.comes(THERE, 0.0)
    assert limits.comes(ELSEWHERE, 0.0) == ""
    assert limits.connections <= rules.HANDSHAKES_FROM_ONE.at_once + 1


def test_an_address_from_which_much_goes_wrong_is_kept_out_and_this_machine_never() -> None:
    limits = Limits(Bounds())
    for place in range(50):
        limits.offended("garbled", THERE, b"key %d" % place, 0.0)
        limits.offended("garbled", HERE, None, 0.0)
    assert limits.comes(THERE, 1.0) == rules.OUT_THERE
    assert limits.comes(ELSEWHERE, 1.0) == ""
    assert limits.comes(HERE, 1.0) == ""
    assert limits.is_out(b"key 7", 7, 1.0)
    assert not limits.is_out(b"key 7", 7, rules.KEPT_OUT)
    assert limits.counts["garbled"] == 100


def test_what_happens_now_and_then_keeps_no_address_out() -> None:
    limits = Limits(Bounds())
    for place in range(100):
        limits.offended("garbled", THERE, None, 15.0 * place)
    assert limits.comes(THERE, 1500.0) == ""


def test_addresses_without_connections_are_forgotten_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MOST_SOURCES", 10)
    limits = Limits(Bounds())
    limits.comes("a", 0.0)
    for place in range(100):
        limits.offended("garbled", f"source {place}", None, 0.0)
    assert len(limits._sources) == 10
    assert dict(limits.sources())["a"] == 1


def test_a_flood_of_one_kind_is_noticed_and_events_are_not_counted() -> None:
    limits, budget = Limits(Bounds()), Budget()
    most = int(rules.MESSAGES.at_once)
    assert limits.excess(budget, {"walk": most, "reply": most, "push": 10 * most}, 0.0) is None
    assert limits.excess(budget, {"walk": 1}, 0.0) == "walk"
    assert limits.excess(budget, {"walk": int(rules.MESSAGES.a_second)}, 1.0) is None
    assert limits.excess(budget, {"linking": int(rules.STATES.at_once) + 1}, 1.0) == "linking"


@pytest.mark.parametrize(
    ("host", "source"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::9", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("127.0.0.1", ""),
        ("127.8.8.8", ""),
        ("::1", ""),
        ("::ffff:127.0.0.1", ""),
        ("nonsense", ""),
    ],
)
def test_what_of_an_address_is_counted_together(host: str, source: str) -> None:
    assert Limits(Bounds()).source_of(host) == source


def test_this_machine_can_be_bounded_as_others_are() -> None:
    assert Limits(Bounds(loopback=True)).source_of("127.0.0.9") == "127.0.0.9"


def test_bounds_fit_what_the_system_allows() -> None:
    assert Bounds().fitting(inf) == Bounds()
    small = Bounds().fitting(256)
    assert (small.links, small.at_door, small.strangers) == (128, 32, 32)
    assert small.handshakes == rules.HANDSHAKES


def test_a_bound_that_lets_nobody_in_is_refused() -> None:
    with pytest.raises(UsageError, match="links is 0, but must be 1 at least"):
        Bounds(links=0)


def test_what_was_sent_while_nothing_was_read_is_no_flood_and_beyond_that_it_is() -> None:
    limits, budget, rate = Limits(Bounds()), Budget(), rules.MESSAGES
    budget.unread = 30.0
    most = int(rate.at_once + 30 * rate.a_second)
    assert limits.excess(budget, {"walk": most}, 0.0) is None
    assert limits.excess(budget, {"walk": 1}, 0.0) == "walk"
    assert limits.excess(budget, {"reply": most}, 0.0) is None  # each kind by itself
    budget.unread += 1000 * rules.MOST_UNREAD  # no more is made up for than so much
    assert limits.excess(budget, {"walk": int((rules.MOST_UNREAD + 1) * rate.a_second)}, 0.0) == "walk"
    assert limits.excess(budget, {"walk": int(rules.MOST_UNREAD * rate.a_second)}, 0.0) is None
