"""What members leave behind: for a while, within bounds, and not to be driven out by many new ids."""

from hypothesis import given
from hypothesis import strategies as st

from ropewalk.protocols.contract import Contact
from ropewalk.protocols.discovery.leases import Leases
from ropewalk.protocols.discovery.settings import MOST_NAMED, MOST_PER_CONTACT, MOST_SERVING, MOST_TAGS

ME, LEASE = 10**6, 100.0
TAG = 7


def leases() -> Leases:
    return Leases(ME, 1, LEASE)


def ids(contacts: tuple[Contact, ...]) -> set[int]:
    return {contact.id for contact in contacts}


def test_a_contact_is_named_for_a_lease_and_for_longer_if_it_is_renewed() -> None:
    kept = leases()
    assert kept.leave(TAG, Contact(1), 0.0)
    assert kept.leave(TAG, Contact(2), 0.0)
    assert kept.leave(TAG, Contact(2, "moved"), 50.0)
    assert kept.named(TAG, 3, 99.0) == (Contact(1), Contact(2, "moved"))
    assert kept.named(TAG, 3, 100.0) == (Contact(2, "moved"),)
    kept.expire(150.0)
    assert not kept.by_tag
    assert not kept.tags_of


def test_nobody_is_named_to_itself_or_under_another_tag() -> None:
    kept = leases()
    kept.leave(TAG, Contact(1), 0.0)
    assert kept.named(TAG, 1, 1.0) == ()
    assert kept.named(TAG + 1, 2, 1.0) == ()


def test_some_of_many_are_named_and_not_always_the_same() -> None:
    kept = leases()
    for node in range(MOST_SERVING):
        kept.leave(TAG, Contact(node), 0.0)
    named = [ids(kept.named(TAG, 999, 1.0)) for _ in range(40)]
    assert {len(each) for each in named} == {MOST_NAMED}
    assert set().union(*named) == set(range(MOST_SERVING))


def test_many_new_ids_cannot_drive_out_the_older_half_however_long_they_try() -> None:
    kept = leases()
    for node in range(MOST_SERVING):
        kept.leave(TAG, Contact(node), 0.0)
    taken = 0
    for attempt in range(5000):
        now = 1.0 + attempt / 50
        if attempt % 2000 == 0:
            for node in range(MOST_SERVING):
                if node in kept.by_tag[TAG]:
                    kept.leave(TAG, Contact(node), now)
        taken += kept.leave(TAG, Contact(1000 + attempt), now)
    assert set(range(MOST_SERVING // 2)) <= set(kept.by_tag[TAG])
    assert len(kept.by_tag[TAG]) == MOST_SERVING
    assert 5000 / 32 < taken < 5000 / 8


def test_trying_again_within_a_lease_draws_the_same_lot() -> None:
    kept = leases()
    for node in range(MOST_SERVING):
        kept.leave(TAG, Contact(node), 0.0)
    unlucky = next(node for node in range(1000, 2000) if not kept.leave(TAG, Contact(node), 1.0))
    assert not any(kept.leave(TAG, Contact(unlucky), 1.0 + attempt / 10) for attempt in range(500))


def test_no_node_is_kept_under_more_than_so_many_tags() -> None:
    kept = leases()
    taken = [kept.leave(tag, Contact(1), 0.0) for tag in range(2 * MOST_PER_CONTACT)]
    assert sum(taken) == MOST_PER_CONTACT == len(kept.tags_of[1])
    kept.forget(1)
    assert not kept.by_tag


def test_who_takes_up_most_makes_room_for_who_takes_up_little() -> None:
    kept = leases()
    greedy = MOST_TAGS // MOST_PER_CONTACT
    for node in range(greedy):
        for place in range(MOST_PER_CONTACT):
            kept.leave(node * MOST_PER_CONTACT + place, Contact(node), 0.0)
    assert len(kept.by_tag) == MOST_TAGS
    for place in range(100):
        assert kept.leave(10**9 + place, Contact(500), 1.0)
        assert len(kept.by_tag) == MOST_TAGS
    for node in range(1000, 1000 + MOST_TAGS):
        kept.leave(10**10 + node, Contact(node), 1.0)
        assert len(kept.by_tag) <= MOST_TAGS
    assert not kept.leave(10**11, Contact(1), 1.0) or len(kept.tags_of[1]) <= 2


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 60), st.booleans()), max_size=300))
def test_both_ways_of_looking_at_it_agree(steps: list[tuple[int, int, bool]]) -> None:
    kept = leases()
    for now, (tag, node, leaves) in enumerate(steps):
        if leaves:
            kept.leave(tag, Contact(node), now)
        else:
            kept.take_back(tag, node)
    by_tag = {(tag, node) for tag, nodes in kept.by_tag.items() for node in nodes}
    assert by_tag == {(tag, node) for node, tags in kept.tags_of.items() for tag in tags}
    assert all(0 < len(nodes) <= MOST_SERVING for nodes in kept.by_tag.values())
