from hypothesis import given
from hypothesis import strategies as st

from ropewalk.protocols.contract import Contact
from ropewalk.protocols.view import View

IDS = st.integers(0, 30)


def weigh(node: int) -> int:
    return node * 7 % 11  # with ties


def best(ids: set[int], size: int) -> list[int]:
    return sorted(ids - {5}, key=lambda node: (weigh(node), node))[:size]


@given(st.lists(st.frozensets(IDS)), st.integers(0, 6))
def test_a_view_keeps_the_best_of_all_it_was_ever_offered(offers: list[frozenset[int]], size: int) -> None:
    view = View(5, weigh)
    seen: set[int] = set()
    view.size = size
    for offer in offers:
        before = [contact.id for contact in view.contacts]
        newcomers = view.newcomers(Contact(node) for node in offer)
        assert [contact.id for contact in newcomers] == [
            node for node in best({*before, *offer}, size) if node not in before
        ]
        for contact in newcomers:
            view.adopt(contact)
        seen |= offer
        assert [contact.id for contact in view.contacts] == best(seen, size)
        assert view.weights == [weigh(contact.id) for contact in view.contacts]


def test_who_is_dropped_leaves_a_place() -> None:
    view = View(5, weigh)
    view.size = 2
    for node in (1, 2):
        view.adopt(Contact(node))
    assert view.drop(2) == Contact(2)
    assert view.drop(2) is None
    assert view.newcomers([Contact(30)]) == [Contact(30)]
    assert view.worst() == Contact(1)
