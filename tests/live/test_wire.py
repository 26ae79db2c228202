"""Messages as bytes. That every message of every protocol comes back as it went is in `contract/test_every_protocol`."""

from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.engines.live.wire import (
    KINDS,
    MOST_CONTROL,
    MOST_ID,
    MOST_NUMBERED,
    OPTIONAL,
    Codec,
    Numbers,
    Topics,
    WireError,
    codec_of,
    fresh_topics,
)
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.contract import Contact, Event
from ropewalk.protocols.dissemination.messages import Have, Push
from ropewalk.protocols.stan.messages import Announce, KeepAlive, Walk

STAN = Codec(PROTOCOLS["stan"].messages)
TOPIC = 1 << 60
pack = msgspec.msgpack.encode


def there_and_back(message, numbers: Numbers, topics: Topics):
    kind, body = STAN.encode(message, numbers)
    fresh = fresh_topics(numbers)
    if fresh is not None:
        topics.learn(fresh)
    return STAN.decode(kind, body, topics), len(body)


def test_a_topic_is_named_once_and_then_by_a_number() -> None:
    numbers, topics = Numbers(), Topics()
    sizes = []
    for topic in (TOPIC, TOPIC + 1, TOPIC):
        message, size = there_and_back(Announce(topic), numbers, topics)
        assert message == Announce(topic)
        sizes.append(size)
    assert sizes == [2, 2, 2]
    assert topics.by_number == [TOPIC, TOPIC + 1]


def test_topics_beyond_what_can_be_numbered_are_written_as_they_are() -> None:
    numbers, topics = Numbers(), Topics()
    for topic in range(MOST_NUMBERED + 10):
        message, _ = there_and_back(Announce(topic), numbers, topics)
        assert message == Announce(topic)
    assert len(numbers.by_topic) == len(topics.by_number) == MOST_NUMBERED


def test_numbers_that_were_never_given_are_refused() -> None:
    with pytest.raises(WireError, match="number 0 was never given"):
        STAN.decode(KINDS["announce"], pack([-1]), Topics())
    topics = Topics()
    topics.learn(pack(list(range(MOST_NUMBERED))))
    with pytest.raises(WireError, match="more than 4096"):
        topics.learn(pack([1]))


def test_fields_added_at_the_end_are_skipped_and_missing_ones_have_their_default() -> None:
    event = [7, 8, [TOPIC], b"said"]
    kind = KINDS["push"]
    says = [["price", 2.5], ["stock", "ACME"]]
    newer = STAN.decode(kind, pack([[*event, says, "more"], [TOPIC], 3, False, 1.5, "even more"]), Topics())
    content = (("price", 2.5), ("stock", "ACME"))
    assert newer == Push(Event(7, 8, (TOPIC,), b"said", content), (TOPIC,), 3, False, 1.5)
    older = STAN.decode(kind, pack([event, [TOPIC], 3, False]), Topics())
    assert older == Push(Event(7, 8, (TOPIC,), b"said"), (TOPIC,), 3, False, 0.0)


def test_an_unknown_kind_is_skipped_only_if_it_may_be() -> None:
    assert STAN.decode(OPTIONAL + 1, b"whatever", Topics()) is None
    with pytest.raises(WireError, match="no message of kind 99"):
        STAN.decode(99, b"", Topics())


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("announce", [-5000]),
        ("announce", [MOST_ID + 1]),
        ("announce", ["x"]),
        ("announce", []),
        ("keep-alive", [1, list(range(8193))]),
        ("walk", [1, [5, "a" * 256], 0, 0, []]),
        ("walk", [1, [-5, "a"], 0, 0, []]),
        ("push", [[1, 2, [3], "text"], [3], 1, False]),
        ("push", [[1, 2, [3], b""], [3], 1, False, float("nan")]),
        ("push", [[1, 2, [3], b""], [3], 1, False, -1.0]),
        ("push", [[1, 2, [3], b""], [3], 1, False, float("inf")]),
    ],
)
def test_what_breaks_a_bound_is_refused(kind: str, fields: list) -> None:
    with pytest.raises(WireError, match="cannot be read"):
        STAN.decode(KINDS[kind], pack(fields), Topics())


def test_messages_without_an_event_are_small() -> None:
    big = KeepAlive(1, tuple(range(TOPIC, TOPIC + 8000)))
    numbers = Numbers()
    numbers.by_topic = dict.fromkeys(range(MOST_NUMBERED), 0)  # none is left
    with pytest.raises(WireError, match=f"but may have {MOST_CONTROL}"):
        STAN.encode(big, numbers)
    with pytest.raises(WireError, match=f"but may have {MOST_CONTROL}"):
        STAN.decode(KINDS["have"], bytes(MOST_CONTROL + 1), Topics())


@given(kind=st.integers(0, 255), body=st.binary(max_size=200))
def test_bytes_of_any_kind_are_a_message_or_refused(kind: int, body: bytes) -> None:
    topics = Topics()
    topics.by_number = [TOPIC]
    with suppress(WireError):
        STAN.decode(kind, body, topics)


@given(
    kind=st.sampled_from(sorted(KINDS.values())),
    fields=st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-5, 1 << 62)
        | st.floats()
        | st.binary(max_size=5)
        | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=6),
        max_leaves=20,
    ),
)
def test_any_value_of_any_kind_is_a_message_or_refused(kind: int, fields) -> None:
    with suppress(WireError):
        STAN.decode(kind, pack(fields), Topics())


def test_what_is_equal_stays_equal() -> None:
    walk = Walk(TOPIC, Contact(5, "host:1"), 3, 2, frozenset({Contact(1), Contact(2, "b:2")}))
    have = Have(((1, (TOPIC, TOPIC + 1)), (2, ())), alone=True)
    numbers, topics = Numbers(), Topics()
    for message in (walk, have):
        back, _ = there_and_back(message, numbers, topics)
        assert back == message
        assert hash(back) == hash(message)


def test_nodes_of_one_protocol_share_a_codec() -> None:
    """What it makes of messages is never given back: a node that came and went left some kilobytes behind."""
    assert codec_of(PROTOCOLS["stan"].messages) is codec_of(PROTOCOLS["stan"].messages)
