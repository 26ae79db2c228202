"""A node without asyncio."""

import threading

import pytest

import ropewalk
from ropewalk.engines.live.api import NotRunningError
from ropewalk.engines.live.gate import Verdict
from ropewalk.errors import RunError, UsageError
from waiting import wait_until


def test_scripts_publish_and_subscribe() -> None:
    with ropewalk.BlockingNode() as a, ropewalk.BlockingNode(bootstrap=[a.address]) as b:
        with b.subscribe("news") as events:
            name = a.publish(b"hello", ["news"])
            event = events.get(timeout=20)
            assert event is not None
            assert (event.payload, event.id, event.publisher) == (b"hello", name, a.id)
            with pytest.raises(TimeoutError):
                events.get(timeout=0.01)
            a.publish(b"again", ["news"])
            again = events.get(timeout=20)
            assert again is not None
            assert again.payload == b"again"
        assert events.get() is None


def test_a_loop_ends_when_the_node_leaves() -> None:
    node = ropewalk.BlockingNode().start()
    events = node.subscribe("news")
    got: list[bytes] = []
    reading = threading.Thread(target=lambda: got.extend(event.payload for event in events))
    reading.start()
    node.publish(b"1", ["news"])
    assert wait_until(lambda: got == [b"1"])
    node.leave()
    reading.join(20)
    assert not reading.is_alive()
    node.leave()
    with pytest.raises(NotRunningError):
        node.publish(b"2", ["news"])


def test_what_has_come_can_be_read_after_the_node_has_left() -> None:
    node = ropewalk.BlockingNode().start()
    events = node.subscribe("news")
    for number in range(3):
        node.publish(b"%d" % number, ["news"])
    node.leave()
    first = events.get()
    assert first is not None
    assert [first.payload, *(event.payload for event in events)] == [b"0", b"1", b"2"]
    assert events.get() is None
    events.close()


def test_a_validator_that_calls_its_own_node_is_told_so() -> None:
    with ropewalk.BlockingNode() as a, ropewalk.BlockingNode(bootstrap=[a.address]) as b, b.subscribe("news") as events:
        said: list[str] = []

        def validator(_: ropewalk.Event) -> Verdict:
            try:
                b.publish(b"from within", ["news"])
            except UsageError as error:
                said.append(str(error))
            return "accept"

        b.validate("news", validator)
        a.publish(b"hello", ["news"])
        event = events.get(timeout=20)
        assert event is not None
        assert event.payload == b"hello"
        assert said == ["a validator may not call the node that it judges for: it would wait for itself."]


def test_what_goes_wrong_is_raised_where_it_was_asked() -> None:
    with pytest.raises(ropewalk.UndeliverableError), ropewalk.BlockingNode() as node:
        node.publish(b"x", ["nobody"])
    taken = ropewalk.BlockingNode()
    with taken, pytest.raises(RunError, match="nobody can listen"):
        ropewalk.BlockingNode(listen=taken.address).start()
    assert not any(thread.name == "ropewalk node" for thread in threading.enumerate())


def test_names_that_are_not_there_are_said() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Knot'"):
        ropewalk.Knot  # noqa: B018
    assert {"Node", "BlockingNode", "Options", "__version__"} <= set(dir(ropewalk))
