"""Single gossipsub nodes: what they answer to what, by the specification's rules. Nothing here is simulated."""

import pytest

from ropewalk.errors import UsageError
from ropewalk.protocols.baselines.gossipsub import settings as bounds
from ropewalk.protocols.baselines.gossipsub.messages import Control, Draft, Interests, Publication
from ropewalk.protocols.baselines.gossipsub.node import Heartbeat, Node
from ropewalk.protocols.baselines.gossipsub.settings import Settings
from ropewalk.protocols.contract import (
    Connect,
    Contact,
    Deliver,
    Disconnect,
    Effect,
    Event,
    LinkDown,
    LinkUp,
    Publish,
    Received,
    Send,
    SetTimer,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from ropewalk.protocols.dissemination.settings import MOST_PAYLOAD

ME = Contact(1)
OTHERS = [Contact(node) for node in range(2, 32)]
NEWS, SPORT = 5, 6
BEAT = TimerFired(Heartbeat())


def node_with(neighbours: int, *, topic: int = NEWS, following: bool = True, **chosen) -> Node:
    """A node with some neighbours that all follow a topic; it has not beaten yet."""
    node = Node(ME, Settings(**chosen), 7)
    if following:
        node.handle(Subscribe(topic, ()), 0.0)
    for contact in OTHERS[:neighbours]:
        node.handle(LinkUp(contact), 0.0)
        node.handle(Received(contact, Interests((topic,))), 0.0)
    return node


def said(effects: list[Effect], kind: type = Control) -> dict[int, list]:
    found: dict[int, list] = {}
    for effect in effects:
        if isinstance(effect, Send) and isinstance(effect.message, kind):
            found.setdefault(effect.to.id, []).append(effect.message)
    return found


def event(number: int, *topics: int, publisher: int = 99) -> Event:
    return Event(number, publisher, topics or (NEWS,), b"")


def mesh(node: Node, topic: int = NEWS) -> list[int]:
    return [contact.id for contact in node.held()[topic]]


def test_on_a_new_link_and_at_every_change_everything_that_is_followed_is_said() -> None:
    node = node_with(0)
    node.handle(Subscribe(SPORT, ()), 0.0)
    assert said(node.handle(LinkUp(OTHERS[0]), 1.0), Interests) == {2: [Interests((NEWS, SPORT))]}
    assert said(node.handle(Subscribe(8, ()), 1.0), Interests) == {2: [Interests((8,))]}
    assert said(node.handle(Unsubscribe(8), 1.0), Interests) == {2: [Interests((), (8,))]}


def test_contacts_of_a_subscription_are_connected_to_once() -> None:
    node = node_with(1)
    effects = node.handle(Subscribe(SPORT, (ME, OTHERS[0], OTHERS[1])), 1.0)
    assert [effect for effect in effects if isinstance(effect, Connect)] == [Connect(OTHERS[1])]


def test_a_heartbeat_grafts_up_to_d_and_lets_a_mesh_of_d_low_be() -> None:
    node = node_with(10)
    grafts = said(node.handle(BEAT, 1.0))
    assert sorted(grafts) == sorted(mesh(node))
    assert len(grafts) == 6
    assert all(messages == [Control(grafts=(NEWS,))] for messages in grafts.values())
    for gone in mesh(node)[:2]:
        node.handle(LinkDown(Contact(gone), "failed"), 1.5)
    assert not said(node.handle(BEAT, 2.0))
    node.handle(LinkDown(Contact(mesh(node)[0]), "failed"), 2.5)
    assert len(said(node.handle(BEAT, 3.0))) == 3


def test_a_heartbeat_prunes_down_to_d_above_d_high_only() -> None:
    node = node_with(13)
    for contact in OTHERS[:12]:
        node.handle(Received(contact, Control(grafts=(NEWS,))), 0.5)
    assert not said(node.handle(BEAT, 1.0))
    node.handle(Received(OTHERS[12], Control(grafts=(NEWS,))), 1.5)
    pruned = said(node.handle(BEAT, 2.0))
    assert len(pruned) == 7
    assert all(messages == [Control(prunes=((NEWS, 60),))] for messages in pruned.values())
    assert len(mesh(node)) == 6


def test_joining_grafts_at_once_whom_it_knows() -> None:
    node = node_with(10, following=False)
    assert len(said(node.handle(Subscribe(NEWS, ()), 1.0))) == 6


def test_joining_takes_the_fan_out_first() -> None:
    node = node_with(20, following=False)
    published = said(node.handle(Publish(event(1)), 1.0), Publication)
    assert len(published) == 6
    assert set(said(node.handle(Subscribe(NEWS, ()), 2.0))) == set(published) == set(mesh(node))
    assert not node.meshes.fanouts


def test_neither_end_grafts_again_for_a_minute() -> None:
    node = node_with(1)
    node.handle(BEAT, 1.0)
    assert mesh(node) == [2]
    node.handle(Received(OTHERS[0], Control(prunes=((NEWS, 60),))), 2.0)
    assert mesh(node) == []
    assert not said(node.handle(BEAT, 3.0))
    refused = node.handle(Received(OTHERS[0], Control(grafts=(NEWS,))), 32.5)
    assert said(refused) == {2: [Control(prunes=((NEWS, 30),))]}
    assert said(node.handle(BEAT, 62.0)) == {2: [Control(grafts=(NEWS,))]}


def test_unsubscribing_prunes_the_mesh_for_ten_seconds() -> None:
    node = node_with(4)
    node.handle(BEAT, 1.0)
    told = said(node.handle(Unsubscribe(NEWS), 2.0))
    assert told == {contact.id: [Control(prunes=((NEWS, 10),))] for contact in OTHERS[:4]}
    assert not said(node.handle(Subscribe(NEWS, ()), 5.0))
    assert len(said(node.handle(BEAT, 12.5))) == 4


def test_whoever_grafts_what_is_not_followed_is_pruned() -> None:
    node = node_with(1)
    assert said(node.handle(Received(OTHERS[0], Control(grafts=(SPORT,))), 1.0)) == {
        2: [Control(prunes=((SPORT, 10),))]
    }


def test_an_event_goes_on_to_the_mesh_but_not_to_where_it_is_from() -> None:
    node = node_with(12)
    node.handle(BEAT, 1.0)
    sender, publisher = (Contact(each) for each in mesh(node)[:2])
    first = Publication(event(1, publisher=publisher.id), NEWS, 3)
    effects = node.handle(Received(sender, first), 2.0)
    assert [effect for effect in effects if isinstance(effect, Deliver)] == [Deliver(first.event, 3)]
    assert said(effects, Publication) == {
        each: [Publication(first.event, NEWS, 4)] for each in mesh(node) if each not in (sender.id, publisher.id)
    }
    assert node.handle(Received(OTHERS[11], first), 3.0) == []


def test_an_event_on_two_topics_is_two_messages_and_one_delivery() -> None:
    node = node_with(2)
    node.handle(Subscribe(SPORT, ()), 0.0)
    node.handle(Received(OTHERS[1], Interests((SPORT,))), 0.0)
    node.handle(BEAT, 1.0)
    both = event(1, NEWS, SPORT)
    deliveries, frames = [], []
    for topic in both.topics:
        effects = node.handle(Received(OTHERS[0], Publication(both, topic, 1)), 2.0)
        deliveries += [effect for effect in effects if isinstance(effect, Deliver)]
        frames += said(effects, Publication)[3]
    assert deliveries == [Deliver(both, 1)]
    assert frames == [Publication(both, NEWS, 2), Publication(both, SPORT, 2)]


def test_ids_are_told_for_three_heartbeats_to_six_beside_the_mesh_and_events_kept_for_five() -> None:
    node = node_with(20)
    node.handle(BEAT, 1.0)
    node.handle(Publish(event(1, publisher=ME.id)), 1.5)
    told = []
    for beat in range(2, 8):
        messages = said(node.handle(BEAT, float(beat)))
        assert not set(messages) & set(mesh(node))
        told.append(len(messages))
        assert all(each == [Control(haves=((NEWS, (1,)),))] for each in messages.values())
    assert told == [6, 6, 6, 0, 0, 0]
    node.handle(Publish(event(2, publisher=ME.id)), 8.0)
    want = Control(wants=((NEWS, (2, 3)),))
    for beat in range(9, 13):
        node.handle(BEAT, float(beat))
    assert said(node.handle(Received(OTHERS[0], want), 12.5), Publication) == {
        2: [Publication(event(2, publisher=ME.id), NEWS, 1)]
    }
    node.handle(BEAT, 13.0)
    assert node.handle(Received(OTHERS[0], want), 13.5) == []


def test_what_is_told_and_lacking_is_asked_for_and_nothing_else() -> None:
    node = node_with(2)
    node.handle(Received(OTHERS[0], Publication(event(1), NEWS, 1)), 1.0)
    have = Control(haves=((NEWS, (1, 2, 2)), (SPORT, (3,))))
    assert said(node.handle(Received(OTHERS[1], have), 2.0)) == {3: [Control(wants=((NEWS, (2,)),))]}


def test_the_same_node_is_answered_three_times() -> None:
    node = node_with(2)
    node.handle(Publish(event(1, publisher=ME.id)), 1.0)
    want = Received(OTHERS[0], Control(wants=((NEWS, (1,)),)))
    assert [len(node.handle(want, 2.0)) for _ in range(4)] == [1, 1, 1, 0]


def test_control_of_several_topics_shares_a_frame() -> None:
    node = node_with(1)
    node.handle(Subscribe(SPORT, ()), 0.0)
    node.handle(Received(OTHERS[0], Interests((SPORT,))), 0.0)
    assert said(node.handle(BEAT, 1.0)) == {2: [Control(grafts=(NEWS, SPORT))]}


def test_a_frame_that_would_be_too_long_is_cut() -> None:
    haves = [(topic, tuple(range(bounds.MOST_IDS))) for topic in range(20)]
    draft = Draft(OTHERS[0], list(range(100)), [(topic, 60) for topic in range(100)], list(haves))
    frames = list(draft.frames())
    assert len(frames) == 3
    assert all(frame.contacts() <= bounds.MOST_SAID for frame in frames)
    assert [have for frame in frames for have in frame.haves] == haves


def test_strangers_and_what_nobody_sends_are_ignored() -> None:
    node = node_with(1)
    node.handle(BEAT, 1.0)
    long = Control(haves=((NEWS, tuple(range(bounds.MOST_SAID))),))
    off_topic = Publication(event(1, SPORT), NEWS, 1)
    fat = Publication(Event(1, 99, (NEWS,), bytes(MOST_PAYLOAD + 1)), NEWS, 1)
    for message in (long, off_topic, fat):
        assert node.handle(Received(OTHERS[0], message), 2.0) == []
    assert node.handle(Received(OTHERS[5], Publication(event(1), NEWS, 1)), 2.0) == []


def test_a_link_without_a_topic_in_common_is_closed_after_a_minute() -> None:
    node = node_with(2)
    node.handle(Received(OTHERS[0], Interests((), (NEWS,))), 0.0)
    closed = []
    for beat in range(1, 100):
        effects = node.handle(BEAT, float(beat))
        closed += [(beat, effect) for effect in effects if isinstance(effect, Disconnect)]
    assert closed == [(60, Disconnect(OTHERS[0]))]


def test_whoever_closes_a_link_that_is_needed_is_asked_again() -> None:
    node = node_with(2)
    assert node.handle(LinkDown(OTHERS[0], "closed"), 1.0) == [Connect(OTHERS[0])]
    assert node.handle(LinkDown(OTHERS[1], "left"), 1.0) == []


def test_the_heartbeat_ends_when_there_is_nothing_to_see_to() -> None:
    node = node_with(1)
    node.handle(Unsubscribe(NEWS), 0.5)
    assert not any(isinstance(effect, SetTimer) for effect in node.handle(BEAT, 1.0))
    assert any(isinstance(effect, SetTimer) for effect in node.handle(Subscribe(NEWS, ()), 2.0))
    assert not any(isinstance(effect, SetTimer) for effect in node.handle(Subscribe(SPORT, ()), 2.0))


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ({"fewest": 7}, "fewest, degree and most are 7, 6 and 12, but must be in this order."),
        ({"gossiped": 6}, "gossiped is 6, but must be from 0 to 5."),
        ({"heartbeat": 0.0}, "heartbeat is 0.0, but must be from 0.001 to 1000000.0."),
    ],
)
def test_settings_that_make_no_sense(chosen: dict[str, float], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        Settings(**chosen)  # type: ignore[arg-type]
