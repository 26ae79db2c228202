"""Who wants the same: orders, rings, heirs, and who is gone or back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.protocols.contract import Contact
from ropewalk.protocols.kato.alike import Alike
from ropewalk.protocols.kato.messages import MOST_ALIKE, MOST_ORDER, Member

ONE, TWO, THREE = (Contact(number) for number in (1, 2, 3))


def group(me: Contact, *others: Member) -> Alike:
    alike = Alike(me)
    alike.merge(others)
    return alike


@pytest.mark.parametrize("older", [ONE, TWO])
def test_of_two_that_meet_both_take_the_older_one_for_the_first(older: Contact) -> None:
    one, two = Alike(ONE), Alike(TWO)
    one.welcome((TWO, 0), alone=True, older=older == TWO)
    two.welcome((ONE, 0), alone=True, older=older == ONE)
    assert one.primary == two.primary == older
    assert (one.digest, one.ranked) == (two.digest, two.ranked)


def test_two_that_take_each_other_for_the_younger_agree_once_they_have_told_each_other() -> None:
    one, two = Alike(ONE), Alike(TWO)
    one.welcome((TWO, 0), alone=True, older=False)
    two.welcome((ONE, 0), alone=True, older=False)
    one.merge(two.members())
    two.merge(one.members())
    assert (one.digest, one.ranked) == (two.digest, two.ranked)


def test_who_comes_to_a_group_comes_last_whatever_its_id() -> None:
    here = group(TWO, (THREE, 1))
    here.welcome((ONE, 0), alone=True, older=True)
    assert [here._at(place) for place in range(3)] == [TWO, THREE, ONE]
    comer = Alike(ONE)
    comer.welcome((TWO, 0), alone=False, older=False)
    comer.merge(here.members())
    assert comer.digest == here.digest


def test_when_the_first_goes_who_came_next_stands_for_all() -> None:
    here = group(THREE, (ONE, 5), (TWO, 7))  # which itself came first, with order 0
    assert here.is_primary
    other = group(TWO, (ONE, 0), (THREE, 4))
    other.merge([(TWO, 2)])
    assert other.strike(ONE.id) == ((ONE.id, 0),)
    assert other.primary == TWO


def test_the_ring_is_those_before_and_after_and_heirs_are_watched() -> None:
    members = [(Contact(number), number) for number in range(1, 7)]
    here = group(Contact(1), *members)
    assert here.ring().keys() == {6, 2}
    assert here.watched().keys() == {6, 2, 3}
    assert group(Contact(3), *members).watched().keys() == {2, 4, 1}
    assert group(ONE).ring() == {}
    assert group(ONE, (TWO, 1)).ring().keys() == {2}


def test_who_is_gone_is_not_believed_in_until_it_says_itself_that_it_is_there() -> None:
    here = group(ONE, (TWO, 1), (THREE, 2))
    here.strike(TWO.id)
    assert here.merge([(TWO, 1)]) == ()
    assert here.returned(TWO) == ((TWO, 3),)
    assert here.has(TWO.id)
    assert here.returned(THREE) == ()  # which never was
    assert here.strike(ONE.id) == ()  # nobody strikes itself
    assert here.come_last(9) == ((ONE, 10),)


def test_nobody_says_where_this_node_is_or_takes_a_place_that_leaves_no_room_behind_it() -> None:
    here = group(ONE, (TWO, 1))
    here.merge([(Contact(1, "elsewhere"), 3), (THREE, MOST_ORDER)])
    assert here.orders[1] == (ONE, 3)
    assert not here.has(THREE.id)


def test_a_group_has_a_bound() -> None:
    here = Alike(Contact(0))
    here.merge([(Contact(number), number) for number in range(1, 2 * MOST_ALIKE)])
    assert len(here.orders) == MOST_ALIKE


@given(st.permutations([(Contact(number), number % 3) for number in range(8)]), st.sets(st.integers(1, 7)))
def test_in_whatever_order_members_are_told_of_the_list_is_the_same(told: list[Member], gone: set[int]) -> None:
    here, there = Alike(Contact(0)), Alike(Contact(0))
    for member in told:
        here.merge([member])
    there.merge(sorted(told))
    for node in sorted(gone):
        here.strike(node)
    for node in sorted(gone, reverse=True):
        there.strike(node)
    assert (here.ranked, here.digest) == (there.ranked, there.digest)
    here.alone(5.0)
    assert (here.is_alone, here.digest) == (True, Alike(Contact(0)).digest)
