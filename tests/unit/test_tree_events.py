"""Events on trees, at one node: what gets in, what is kept, and who is told."""

import pytest

from ropewalk.protocols.contract import Contact, Effect, Entered, Event, Join, Publish, Report, Send, Subscribe
from ropewalk.protocols.dht.places import Seat, key_of, place_of
from ropewalk.protocols.dht.ring import Ring
from ropewalk.protocols.dht.settings import Settings as RingSettings
from ropewalk.protocols.dissemination.settings import MOST_PAYLOAD, MOST_TOPICS
from ropewalk.protocols.links import MOST_COMING, OUTBOX, OUTBOX_BYTES, Links
from ropewalk.protocols.scribe.node import Node
from ropewalk.protocols.scribe.settings import Settings as ScribeSettings
from ropewalk.protocols.trees import messages, shelf
from ropewalk.protocols.trees import settings as bounds
from ropewalk.protocols.trees.branches import Branch
from ropewalk.protocols.trees.events import Events
from ropewalk.protocols.trees.messages import Accepted, Graft, Keep, Kept, Lack, Prune, Shed, Submit
from ropewalk.protocols.trees.settings import Settings
from ropewalk.protocols.trees.shelf import Held, Shelf

ME, NEXT, STRANGER = Contact(1 << 60), Contact(1 << 61), Contact(1 << 59)


def home_of(topic: int) -> tuple[Events, list[int]]:
    """A node that is the home of a topic, with a successor; and the topics of which it was told that something came."""
    links = Links()
    ring = Ring(0, ME, links, RingSettings())
    here = key_of(topic)
    ring.sit(here, [Seat(NEXT, place_of(NEXT.id))], 0.0)
    ring.predecessor = Seat(NEXT, place_of(NEXT.id))
    links.came_up(NEXT, 0.0)
    links.came_up(STRANGER, 0.0)
    node = Node(ME, ScribeSettings(), 1)
    events = Events(ME, links, Settings(), ring, lambda _: False, lambda: False)
    events.trees = node.trees
    came: list[int] = []
    events.came = came.append
    return events, came


def sent(effects: list[Effect]) -> list[tuple[int, object]]:
    return [(effect.to.id, effect.message) for effect in effects if isinstance(effect, Send)]


def test_an_event_is_safe_once_somebody_else_keeps_it_and_counts_once() -> None:
    events, came = home_of(7)
    event = Event(5, STRANGER.id, (7,), b"x")
    submit = Submit(7, event, STRANGER, 3)
    assert sent(events.submit(submit, 1.0)) == [(NEXT.id, Keep(7, event))]
    assert sent(events.submit(submit, 2.0)) == [(NEXT.id, Keep(7, event))]  # handed in again: nobody has answered yet
    assert sent(events.is_kept(Kept(7, 5), 3.0)) == [(STRANGER.id, Accepted(7, 5))]
    assert sent(events.is_kept(Kept(7, 5), 4.0)) == []
    assert sent(events.submit(submit, 5.0)) == [(STRANGER.id, Accepted(7, 5))]  # the answer was lost: at once
    assert came == [7]


def test_what_is_old_is_forgotten_everywhere() -> None:
    events, _ = home_of(7)
    events.submit(Submit(7, Event(5, STRANGER.id, (7,), b"x"), STRANGER, 0), 1.0)
    events.keep(NEXT, Keep(9, Event(6, STRANGER.id, (9,), b"x")), 1.0)
    events.beat(1.0 + Settings().keep)
    assert (len(events.kept.by_key), len(events.replicas.by_key), events.at_home, events.by_topic) == (0, 0, {}, {})
    assert events.kept.bytes == events.replicas.bytes == 0


@pytest.mark.parametrize(
    "event",
    [Event(5, ME.id, (7,), bytes(MOST_PAYLOAD + 1)), Event(5, ME.id, tuple(range(MOST_TOPICS + 1)), b"")],
    ids=["too large", "too many topics"],
)
def test_what_nobody_would_carry_is_reported_at_once(event: Event) -> None:
    events, _ = home_of(7)
    effects = events.publish(event, 1.0)
    assert {type(effect) for effect in effects} == {Report}
    assert events.submitted == {}


def test_what_is_on_its_way_has_a_bound_in_bytes() -> None:
    events, _ = home_of(7)
    away = Event(0, ME.id, (8,), bytes(1 << 20))
    reported: list[Effect] = []
    for number in range(70):
        effects = events.publish(Event(number, ME.id, (8,), away.payload), 1.0)
        reported += [effect for effect in effects if isinstance(effect, Report)]
    assert len(events.submitted) == bounds.MOST_KEPT_BYTES >> 20
    assert len(reported) == 70 - len(events.submitted)
    events.accepted(Accepted(8, 0))
    assert events.submitted_bytes == bounds.MOST_KEPT_BYTES - (1 << 20)


def test_who_publishes_knows_what_nobody_else_has_yet() -> None:
    events, _ = home_of(7)
    events.publish(Event(1, ME.id, (8,), b"x"), 4.0)
    events.publish(Event(2, ME.id, (8, 9), b"x"), 6.0)
    assert events.unheard() == {8: 6.0, 9: 6.0}
    assert events.accepted(Accepted(9, 2)) == [Entered(2, 9)]
    events.accepted(Accepted(8, 2))
    assert events.unheard() == {8: 4.0}


def test_an_event_that_is_not_its_senders_own_is_not_sound() -> None:
    event = Event(5, STRANGER.id, (7,), b"x")
    assert messages.is_sound(Submit(7, event, STRANGER, 0))
    assert not messages.is_sound(Submit(7, event, NEXT, 0))


def test_a_shelf_keeps_the_youngest_within_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "MOST_KEPT", 3)
    monkeypatch.setattr(shelf, "MOST_KEPT_BYTES", 10)
    kept: Shelf[int] = Shelf()

    def put(key: int, size: int, at: float) -> list[int]:
        return [event.id for event in kept.put(key, Held(Event(key, 1, (7,), bytes(size)), 0, at))]

    assert [put(key, 1, key) for key in range(4)] == [[], [], [], [0]]
    assert put(4, 9, 4.0) == [1, 2]
    assert (list(kept), kept.bytes) == ([3, 4], 10)
    assert put(4, 2, 5.0) == [4]  # the same, smaller: what was there under its key goes
    assert (list(kept), kept.bytes) == ([3, 4], 3)
    assert [event.id for event in kept.forget(3.0)] == [3]
    assert (list(kept), kept.bytes, 3 in kept, kept[4].at) == ([4], 2, False, 5.0)


def test_an_id_that_comes_again_with_other_topics_is_listed_under_those_alone() -> None:
    events, _ = home_of(7)
    for topic in (7, 8):
        events.seen.clear()  # as if many others had come in between
        events._arrived(Event(5, STRANGER.id, (topic,), b"x"), 0, None, 1.0)
    assert (events.recent(7, 2.0), events.recent(8, 2.0)) == ((), (5,))


def test_a_home_that_finds_nobody_else_does_not_say_that_an_event_is_safe() -> None:
    events, _ = home_of(7)
    events.ring.successors = []
    assert sent(events.submit(Submit(7, Event(5, STRANGER.id, (7,), b"x"), STRANGER, 0), 1.0)) == []
    events.is_alone = lambda: True
    assert sent(events.submit(Submit(7, Event(5, STRANGER.id, (7,), b"x"), STRANGER, 0), 2.0)) == [
        (STRANGER.id, Accepted(7, 5))
    ]


def test_nobody_can_drive_a_count_out_of_bounds_or_an_event_s_hops() -> None:
    events, _ = home_of(7)
    home = Node(ME, ScribeSettings(), 1)
    home.handle(Join(()), 0.0)  # alone, it is the home of everything
    trees = home.trees
    for beat in (bounds.MOST_BEAT, 2**63 - 1, -1):
        assert not messages.is_sound(Graft(0, ((7, 0, beat, ()),)))
    for _ in range(3):
        trees.grafted(STRANGER, Graft(0, ((7, 0, bounds.MOST_BEAT - 1, ()),)), 1.0)
    assert trees.by_topic[7].beat <= 3 * bounds.MOST_AHEAD + 3
    assert not messages.is_sound(Shed(7, Event(5, 1, (7,), b""), bounds.MOST_CROSSED + 1))
    events.by_topic = {7: {5: None}}
    events.kept.put(5, Held(Event(5, 1, (7,), b""), bounds.MOST_CROSSED, 1.0))
    events.trees.by_topic[7] = Branch(0.0)
    events.trees.by_topic[7].parent = STRANGER
    (shed,) = [message for _, message in sent(events.lacked(STRANGER, Lack(7, (5,))))]
    assert messages.is_sound(shed)  # type: ignore[arg-type]


def test_who_is_refused_by_its_parent_asks_again_with_its_heartbeat_only() -> None:
    trees = Node(ME, ScribeSettings(), 1).trees

    class Always:
        """The way leads to the same node, whatever happens."""

        def __getattr__(self, name: str) -> object:
            return {"is_root": lambda _: False, "takes": lambda _: True, "seek": self.seek}.get(name, lambda _: None)

        def seek(self, topic: int, now: float) -> list[Effect]:
            return trees.adopt(topic, NEXT, now)

    trees.ways = Always()  # type: ignore[assignment]
    trees.follows = lambda _: True
    trees.links.came_up(NEXT, 0.0)
    trees.join(7, 0.0)
    trees.links.came_up(NEXT, 0.0)
    tried = [bool(sent(trees.pruned(NEXT, Prune(0, (7,)), 0.1))) for _ in range(20)]
    assert tried == [True] * bounds.MOST_REFUSALS + [False] * (20 - bounds.MOST_REFUSALS)
    assert [message.kind for _, message in sent(trees.beat(10.0))] == ["graft", "graft"]  # type: ignore[attr-defined]


def test_not_all_are_called_in_whose_name_somebody_asks() -> None:
    links = Links()
    for number in range(MOST_COMING + 10):
        links.answer(Contact(number), Kept(7, 1), 0.0)
    assert len(links.by_id) == MOST_COMING
    links.post(NEXT, Kept(7, 1), 0.0)  # one's own affairs go on
    assert NEXT.id in links.by_id


def test_what_waits_for_a_link_has_a_bound() -> None:
    links = Links()
    for number in range(OUTBOX + 5):
        links.post(NEXT, Kept(7, number), 0.0)
    assert len(links.came_up(NEXT, 1.0)) == OUTBOX
    for number in range(8):
        links.post(STRANGER, Keep(7, Event(number, 1, (7,), bytes(1 << 20))), 0.0)
    assert len(links.came_up(STRANGER, 1.0)) == OUTBOX_BYTES >> 20


def test_whatever_was_published_before_there_was_a_ring_is_handed_in_when_there_is() -> None:
    node = Node(ME, ScribeSettings(), 1)
    node.handle(Subscribe(7, ()), 0.0)
    node.handle(Publish(Event(5, ME.id, (7,), b"x")), 0.0)
    assert node.unheard() == {7: 0.0}
    node.handle(Join(()), 1.0)
    assert node.unheard() == {}
