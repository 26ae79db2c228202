"""What has come and was not read: parcels keep their order, whatever is left out of them and whenever somebody reads."""

from hypothesis import given
from hypothesis import strategies as st

from ropewalk.engines.live.arrived import EVENT_BYTES, TOPIC_BYTES, Arrived, size_of
from ropewalk.engines.live.envelope import name_of
from ropewalk.protocols.contract import Event, bytes_by_name

SAID = st.lists(st.none() | st.binary(max_size=8), max_size=6).map(tuple)
BY_NAME = (("price", 12.0), ("stock", "A" * 200))
STEPS = st.lists(SAID | st.binary(max_size=8) | st.sampled_from(["read", "drop"]), max_size=40)


@given(STEPS)
def test_everything_is_read_once_in_the_order_in_which_it_came(
    steps: list[tuple[bytes | None, ...] | bytes | str],
) -> None:
    arrived, expected = Arrived(), list[tuple[Event, int, bytes]]()
    for number, step in enumerate(steps):
        event = Event(number, 7, (1,), b"", BY_NAME if number % 2 else ())
        if isinstance(step, bytes):
            arrived.put_one(event, step, 1, ("news",), 3)
            expected.append((event, 3, step))
        elif isinstance(step, tuple):
            arrived.put(event, step, 1, ("news",), size_of(event, step))
            expected += [(event, place, each) for place, each in enumerate(step) if each is not None]
        elif expected and step == "drop":
            arrived.drop()
            del expected[0]
        elif expected:
            read = arrived.next()
            event, place, payload = expected.pop(0)
            assert (read.id, read.payload) == (name_of(event.id, place), payload)
        assert arrived.count == len(expected)
        taken = [len(payload) + EVENT_BYTES + TOPIC_BYTES + bytes_by_name(event) for event, _, payload in expected]
        assert arrived.bytes == sum(taken)
    assert [arrived.next().payload for _ in expected] == [payload for *_, payload in expected]
