"""What a connection took is given back when it ends, at once: the collector of garbage goes by how many objects there are, not by their bytes.

The buffers of TLS are half a megabyte: some hundred strangers that had come and gone would take as much as a whole node may.
"""

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from alive import Node, alive, eventually, read
from attackers import KINDS
from besieged import attack

OF_ONE = ("Connection", "Lanes", "SSLProtocol", "_SSLProtocolTransport", "SSLObject")
QUICK = (
    "come_and_go",
    "rubbish",
    "oversized",
    "wrong_certificate",
    "wrong_key",
    "replayed",
    "garbage_inside",
    "many_topics",
)
EACH = 3


def there() -> Counter[str]:
    """What there is of connections, by what it is."""
    found = Counter(type(each).__name__ for each in gc.get_objects())
    return Counter({name: found[name] for name in OF_ONE})


@contextmanager
def uncollected() -> Iterator[None]:
    """Nothing is freed but what nobody refers to any more."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@alive
async def test_neighbours_that_leave_take_all_with_them() -> None:
    async with Node() as node:
        events = node.subscribe("news")
        with uncollected():
            before = there()
            for number in range(EACH):
                async with Node(None, [node.address]) as other:
                    await other.joined.wait()
                    await other.publish(b"%d" % number, ["news"])
                    await read(events, 1)
                    found = there() - before
                    assert found["Connection"] == 2
                    assert found.keys() == {*OF_ONE}, found  # else a name is not what it was
            await eventually(lambda: there() == before, f"{before}, {there()}")


@alive
@pytest.mark.parametrize("kind", QUICK)
async def test_nothing_is_left_of_strangers_that_mean_harm(kind: str) -> None:
    assert kind in KINDS
    async with Node() as node:
        node.subscribe("attacked", when_full="discard")
        with uncollected():
            before = there()
            found = await attack(node.address, EACH, kind)
            assert found[kind]["begun"] > 0
            await eventually(lambda: there() == before, f"{before}, {there()}")
