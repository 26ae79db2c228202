"""Before a live node leaves: what was published there just now, and nobody else has, is given a little time to be heard."""

import asyncio
import logging

from ropewalk.engines.live.driver import Driver
from ropewalk.protocols.contract import Lasting

HANDED_ON = 5.0  # ours, seconds after an event was published: as long as it takes to find somebody on its topic
log = logging.getLogger(__name__)


async def hand_on(driver: Driver) -> None:
    """Wait until somebody is there for every event of the last seconds, or they are over."""
    machine, loop = driver.machine, asyncio.get_running_loop()
    assert isinstance(machine, Lasting)
    while waiting := machine.unheard():
        left = max(waiting.values()) + HANDED_ON - loop.time()
        if left <= 0:
            log.warning("nobody was found to hear what was published here on %d topics", len(waiting))
            return
        driver.moved.clear()
        try:
            async with asyncio.timeout(left):
                await driver.moved.wait()
        except TimeoutError:
            continue
