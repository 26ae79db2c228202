"""Before a live node leaves: what was published there just now, and nobody else has, is given a little time to be heard."""

import asyncio
import logging
from collections.abc import Callable, Iterable

from ropewalk.engines.live.driver import Driver
from ropewalk.protocols.contract import Lasting

HANDED_ON = 5.0  # ours, seconds after an event was published: as long as it takes to find somebody on its topic
AT_LEAST = (
    1.0  # ours, seconds: who follows a topic no longer hands on what it published there, and waits for a word of it
)
MOST_TOLD = 3  # ours: topics that are named
log = logging.getLogger(__name__)


async def hand_on(driver: Driver, called: Callable[[int], str]) -> None:
    """Wait until somebody is there for every event of the last seconds, or they are over; topics are called so."""
    machine, loop = driver.machine, asyncio.get_running_loop()
    assert isinstance(machine, Lasting)
    least = loop.time() + AT_LEAST
    while waiting := machine.unheard():
        left = max(least, max(waiting.values()) + HANDED_ON) - loop.time()
        if left <= 0:
            log.warning("nobody was found to hear what was published here on %s", _told(waiting, called))
            return
        driver.moved.clear()
        try:
            async with asyncio.timeout(left):
                await driver.moved.wait()
        except TimeoutError:
            continue


def _told(topics: Iterable[int], called: Callable[[int], str]) -> str:
    names = [called(topic) for topic in topics]
    more = [f"{len(names) - MOST_TOLD} others"] if len(names) > MOST_TOLD else []
    return ", ".join(names[:MOST_TOLD] + more)
