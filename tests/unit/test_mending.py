"""A tree that loses a link: who makes another eager instead, and to whom."""

from ropewalk.protocols.contract import Contact, Effect, Event, Send
from ropewalk.protocols.dissemination.mending import LIVELY
from ropewalk.protocols.dissemination.messages import Have, Push, Spare, Want
from ropewalk.protocols.dissemination.node import Node
from ropewalk.protocols.dissemination.settings import MOST_LIVELY, MOST_TOPICS, Settings

A, B, C, D, E = (Contact(number) for number in range(1, 6))
TOPIC, OTHER, EVENT = 50, 60, 700
MEND = Want((), (TOPIC,))


class Place:
    """A node that follows TOPIC, to which A has brought one event and then EVENT by themselves; B is eager, C, D and E are not."""

    def __init__(self, *near: Contact) -> None:
        self.around = {TOPIC: {each.id: each for each in near or (A, B, C, D, E)}}
        self.node = Node(Settings(), self.around.get, 9)
        self.node.receive(A, self.push(1), 0.0)
        self.node.receive(B, Want((1,), (TOPIC,)), 0.0)
        self.node.receive(A, self.push(EVENT), 1.0)

    @staticmethod
    def push(number: int, *, asked: bool = False) -> Push:
        return Push(Event(number, A.id, (TOPIC,), b"x"), (TOPIC,), 1, asked)

    def has(self, contact: Contact) -> None:
        """Somebody shows that it has EVENT."""
        self.node.receive(contact, Have(((EVENT, (TOPIC,)),)), 1.1)

    def loses(self, contact: Contact, now: float = 1.5) -> dict[Contact, object]:
        del self.around[TOPIC][contact.id]
        return sent(self.node.unlinked([(TOPIC, contact.id)], now))


def sent(effects: list[Effect]) -> dict[Contact, object]:
    assert all(isinstance(each, Send) for each in effects)
    return {each.to: each.message for each in effects if isinstance(each, Send)}


def test_who_loses_the_link_that_brought_the_latest_event_makes_one_eager_to_who_had_it_first() -> None:
    place = Place()
    place.has(D)
    place.has(C)
    assert place.loses(A) == {D: MEND}
    assert place.node.trees.eager[TOPIC].keys() == {B.id, D.id}
    going = sent(place.node.publish(place.push(EVENT + 1).event, 2.0)[:2])
    assert set(going) == {B, D}


def test_who_lies_behind_is_not_asked_to_bring_what_it_gets_from_here() -> None:
    place = Place()
    place.has(B)  # to whom it went from here
    place.has(E)
    assert place.loses(A) == {E: MEND}


def test_where_nobody_has_shown_that_it_has_it_somebody_is_chosen_and_always_the_same() -> None:
    chosen = Place().loses(A)
    (other,) = chosen
    assert chosen == {other: MEND}
    assert other in (C, D, E)
    assert Place().loses(A) == chosen


def test_the_other_end_of_that_link_does_nothing() -> None:
    place = Place()
    place.has(D)
    assert place.loses(B) == {}
    assert place.node.trees.eager[TOPIC].keys() >= {A.id}


def test_a_link_that_brings_nothing_is_not_missed() -> None:
    assert Place().loses(C) == {}


def test_one_that_still_holds_this_node_is_still_a_neighbour() -> None:
    place = Place()
    assert place.node.unlinked([(TOPIC, A.id)], 1.5) == []


def test_a_tree_that_brings_little_is_left_to_the_next_event() -> None:
    place = Place()
    place.has(D)
    assert place.loses(A, 1.0 + LIVELY + 0.1) == {}


def test_who_has_all_links_eager_has_nobody_to_ask() -> None:
    place = Place(A, B)
    assert place.loses(A) == {}


def test_an_event_that_had_to_be_asked_for_says_nothing_about_the_tree() -> None:
    place = Place()
    place.node.receive(C, place.push(EVENT + 1, asked=True), 2.0)
    assert place.loses(C, 2.1) == {}


def test_whoever_is_made_eager_offers_what_was_missed_meanwhile_and_brings_what_comes_next() -> None:
    upstream = Node(Settings(), {TOPIC: {each.id: each for each in (A, E)}}.get, 9)
    for number in (1, EVENT, EVENT + 1):
        upstream.receive(A, Place.push(number), 1.0)
    upstream.receive(E, Spare((1, EVENT), ()), 1.2)  # what this one has
    assert sent(upstream.receive(E, MEND, 1.5)) == {E: Have(((EVENT + 1, (TOPIC,)),), alone=True)}
    assert E in sent(upstream.receive(A, Place.push(EVENT + 2), 1.6)[1:2])


def test_a_topic_on_which_the_link_brought_nothing_is_not_mended() -> None:
    """The event came over it on one of its topics only."""
    place = Place()
    place.around[OTHER] = {each.id: each for each in (A, C, D)}
    place.node.receive(A, Push(Event(EVENT + 1, A.id, (TOPIC, OTHER), b"x"), (TOPIC,), 1, False), 1.2)
    del place.around[OTHER][A.id]
    assert place.node.unlinked([(OTHER, A.id)], 1.3) == []


def test_who_comes_and_goes_makes_no_flood_of_a_tree() -> None:
    near = [Contact(number) for number in range(1, 22)]
    place = Place(*near)
    eager = []
    for turn in range(10):
        now = 1.5 + 0.05 * turn
        place.node.receive(A, place.push(EVENT + turn), now)
        place.loses(A, now)
        place.around[TOPIC][A.id] = A
        eager.append(len(place.node.trees.eager[TOPIC]))
    assert eager[-1] <= 3  # B, who was chosen, and A again
    assert len(place.loses(A, 3.0)) == 1  # a second later it is a loss like another


def test_what_was_mended_is_not_mended_again_before_another_event() -> None:
    place = Place()
    assert len(place.loses(A)) == 1
    place.around[TOPIC][A.id] = A
    assert place.loses(A, 4.0) == {}


def test_many_topics_that_are_mended_at_once_are_asked_for_in_messages_that_are_taken_whole() -> None:
    topics = range(100, 100 + 3 * MOST_TOPICS)
    around = {topic: {each.id: each for each in (A, B)} for topic in topics}
    node = Node(Settings(), around.get, 9)
    for topic in topics:
        node.receive(A, Push(Event(topic, A.id, (topic,), b"x"), (topic,), 1, False), 1.0)
        del around[topic][A.id]
    effects = node.unlinked([(topic, A.id) for topic in topics], 1.5)
    asked = [each.message.topics for each in effects if isinstance(each, Send)]
    assert [len(each) for each in asked] == 3 * [MOST_TOPICS]
    assert sorted(topic for each in asked for topic in each) == [*topics]


def test_what_is_remembered_for_it_is_bounded_and_goes_with_the_events() -> None:
    place = Place()
    assert place.node.mending.latest == {TOPIC: EVENT}
    place.node.tidy(1.0 + Settings().keep)
    assert place.node.mending.latest == {}
    for topic in range(MOST_LIVELY + 10):
        place.node.mending.came(EVENT, (topic,))
    assert len(place.node.mending.latest) == MOST_LIVELY
