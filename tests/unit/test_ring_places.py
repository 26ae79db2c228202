"""Places on a ring: there is always one in between, and order is what it seems."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from ropewalk.protocols.dht.places import MOST_BYTES, is_between, is_place, is_within, midway, place_of, turn

places = st.binary(max_size=12).map(lambda written: written.rstrip(b"\0"))


def fraction(place: bytes) -> Fraction:
    return Fraction(int.from_bytes(place, "big"), 1 << (8 * len(place)))


@given(places, places)
def test_order_is_that_of_the_fractions(one: bytes, other: bytes) -> None:
    assert (one < other) == (fraction(one) < fraction(other))


@given(places, places)
def test_midway_is_in_the_middle(low: bytes, high: bytes) -> None:
    found = midway(low, high)
    assert found is not None
    assert is_place(found)
    arc = (fraction(high) - fraction(low)) % 1 or Fraction(1)
    assert fraction(found) == (fraction(low) + arc / 2) % 1
    assert found != low
    assert is_between(low, found, high)
    assert not is_between(found, low, high) or low == high


@given(places, places, places)
def test_turns_compare_as_ways_clockwise_do(low: bytes, one: bytes, other: bytes) -> None:
    ways = [(fraction(place) - fraction(low)) % 1 or Fraction(1) for place in (one, other)]
    assert (turn(low, one) < turn(low, other)) == (ways[0] < ways[1])
    assert is_within(low, one, other) == (ways[0] < ways[1])


@given(places, places, places)
def test_clockwise_one_comes_to_one_of_two_first(low: bytes, place: bytes, high: bytes) -> None:
    if len({low, place, high}) == 3:
        assert is_between(low, place, high) != is_between(low, high, place)


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1))
def test_hashes_lie_in_their_own_order(one: int, other: int) -> None:
    assert (place_of(one) < place_of(other)) == (one < other)
    assert is_place(place_of(one))


def test_at_one_spot_there_is_room_for_hundreds_and_then_it_is_said() -> None:
    low, high = place_of(1 << 40), place_of(1 << 41)
    joined = 0
    while (found := midway(low, high)) is not None:
        assert low < found < high
        high, joined = found, joined + 1
    assert joined > 8 * (MOST_BYTES - 8) - 16
