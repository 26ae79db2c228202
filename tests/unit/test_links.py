from ropewalk.protocols.contract import Connect, Contact, Disconnect, Send
from ropewalk.protocols.links import OUTBOX, Links
from ropewalk.protocols.stan.messages import Announce

OTHER = Contact(2)


def test_what_waits_for_a_link_is_sent_when_it_is_up_and_no_more_than_a_bound() -> None:
    links = Links()
    assert links.post(OTHER, Announce(0), 0.0) == [Connect(OTHER)]
    for topic in range(1, 2 * OUTBOX):
        assert links.post(OTHER, Announce(topic), 0.0) == []
    assert links.came_up(OTHER, 1.0) == [Send(OTHER, Announce(topic)) for topic in range(OUTBOX)]
    assert links.post(OTHER, Announce(99), 2.0) == [Send(OTHER, Announce(99))]


def test_a_link_is_sought_once() -> None:
    links = Links()
    assert links.seek(OTHER, 0.0) == [Connect(OTHER)]
    assert links.seek(OTHER, 0.0) == []
    assert not links.is_up(OTHER.id)
    links.came_up(OTHER, 1.0)
    assert links.is_up(OTHER.id)


def test_a_link_is_closed_when_nobody_has_used_it_for_a_while() -> None:
    links = Links()
    links.came_up(OTHER, 0.0)
    links.use(OTHER.id)
    links.use(OTHER.id)
    links.release(OTHER.id, 5.0)
    assert links.close_idle(100.0) == []
    links.release(OTHER.id, 6.0)
    assert links.close_idle(5.9) == []
    assert links.close_idle(6.0) == [Disconnect(OTHER)]
    assert links.by_id == {}


def test_a_link_that_no_topic_ever_used_is_closed_before_others() -> None:
    links = Links()
    for contact in (Contact(2), Contact(3)):
        links.came_up(contact, 0.0)
    links.use(3)
    links.release(3, 0.0)
    assert links.has_passing()
    assert links.close_idle(1.0, passing=True) == [Disconnect(Contact(2))]
    assert not links.has_passing()
    assert links.is_up(3)
