"""Whom a node knows: bounded, the closest really the closest, and nobody driven out by those who are only new."""

from hypothesis import given
from hypothesis import strategies as st

from ropewalk.protocols.contract import Contact
from ropewalk.protocols.discovery.routes import Routes

ME = 0b1010_1010
BUCKET = 3
IDS = st.integers(0, 255)
STEPS = st.lists(st.tuples(st.sampled_from(["heard", "failed", "doubt", "drop"]), IDS), max_size=200)


def played(steps: list[tuple[str, int]]) -> Routes:
    routes = Routes(ME, BUCKET)
    for now, (what, node) in enumerate(steps):
        match what:
            case "heard":
                routes.heard(Contact(node), now)
            case "failed":
                routes.failed(Contact(node), now, now)
            case "doubt":
                routes.doubt(Contact(node), now)
            case _:
                routes.drop(node)
    return routes


def known(routes: Routes) -> list[int]:
    return [route.contact.id for route in routes]


@given(STEPS)
def test_it_is_bounded_and_without_oneself_whatever_happens(steps: list[tuple[str, int]]) -> None:
    routes = played(steps)
    assert len(routes) == len(set(known(routes))) <= 8 * BUCKET
    assert ME not in known(routes)
    assert all(0 < len(bucket) <= BUCKET for bucket in routes.buckets.values())


@given(STEPS, IDS, st.integers(0, 10))
def test_the_closest_are_the_closest_of_all_that_are_known(
    steps: list[tuple[str, int]], target: int, count: int
) -> None:
    routes = played(steps)
    doubtful = {route.contact.id: route.doubtful for route in routes}
    ranked = sorted(known(routes), key=lambda node: (doubtful[node], node ^ target))
    assert [contact.id for contact in routes.closest(target, count)] == ranked[:count]
    sure = [node for node in ranked if not doubtful[node]]
    assert [contact.id for contact in routes.closest(target, count, sure=True)] == sure[:count]


@given(STEPS, st.lists(IDS))
def test_who_is_not_in_doubt_is_displaced_by_nobody(steps: list[tuple[str, int]], newcomers: list[int]) -> None:
    routes = played(steps)
    proven = [route.contact.id for route in routes if not route.doubtful]
    for node in newcomers:
        routes.heard(Contact(node), 1000.0)
    assert set(proven) <= set(known(routes))


@given(STEPS, st.integers(0, 2**62), st.integers(0, 100))
def test_somewhere_is_never_nearer_than_the_nearest_can_be(steps: list[tuple[str, int]], seed: int, turn: int) -> None:
    routes = played(steps)
    target = routes.somewhere(seed, turn)
    assert 0 <= target < 2**63
    assert (target ^ ME).bit_length() >= min(routes.buckets, default=63)


def full_bucket() -> Routes:
    """Three in one bucket: 0, 1 and 2, heard of in this order."""
    return played([("heard", 0), ("heard", 1), ("heard", 2)])


def test_the_least_recently_heard_of_that_is_in_doubt_makes_room() -> None:
    routes = full_bucket()
    routes.heard(Contact(0), 3.0)
    routes.doubt(Contact(0), 4.0)
    routes.doubt(Contact(1), 5.0)
    routes.heard(Contact(3), 6.0)
    assert known(routes) == [2, 0, 3]


def test_who_fails_is_in_doubt_and_who_fails_when_asked_because_of_that_is_gone() -> None:
    routes = full_bucket()
    routes.failed(Contact(1), asked_at=3.0, now=5.0)
    routes.failed(Contact(1), asked_at=4.0, now=6.0)  # asked before it was in doubt: the same silence
    assert routes.get(1) == Contact(1)
    assert routes.stalest() == Contact(1)
    routes.failed(Contact(1), asked_at=7.0, now=9.0)
    assert routes.get(1) is None
    assert routes.stalest() == Contact(0)


def test_an_answer_ends_the_doubt() -> None:
    routes = full_bucket()
    routes.failed(Contact(1), asked_at=3.0, now=5.0)
    routes.heard(Contact(1), 6.0)
    routes.failed(Contact(1), asked_at=7.0, now=9.0)
    assert routes.get(1) == Contact(1)


def test_what_fails_at_an_address_that_others_made_up_is_not_held_against_anybody() -> None:
    routes = Routes(ME, BUCKET)
    routes.heard(Contact(1, "here"), 0.0)
    for now in (1.0, 2.0, 3.0):
        routes.failed(Contact(1, "elsewhere"), now, now)
        routes.doubt(Contact(1, "elsewhere"), now)
    assert [route.doubtful for route in routes] == [False]
