"""Before a live node leaves: what was published there just now, and nobody else has, is given a little time to be heard."""

import asyncio
import logging

from ropewalk.engines.live.driver import Driver
from ropewalk.protocols.stan.node import Node as StanNode

HANDED_ON = 5.0  # ours, seconds after an event was published: as long as it takes to find somebody on its topic
log = logging.getLogger(__name__)


async def hand_on(driver: Driver) -> None:
    """Wait until somebody is there for every event of the last seconds, or they are over."""
    machine, loop = driver.machine, asyncio.get_running_loop()
    assert isinstance(machine, StanNode)
    while waiting := _waiting(machine):
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


def _waiting(machine: StanNode) -> dict[int, float]:
    """Topics on which events of this node wait for a first neighbour, or for somebody to let them in; when the last was published."""
    found: dict[int, float] = {}
    for topic in machine.topics:
        alone = not machine.neighbours.around(topic)
        for event, at in machine.events.unspread(topic) if alone else ():
            if event.publisher == machine.me.id:
                found[topic] = max(at, found.get(topic, at))
    for (_, topic), injected in machine.injections.open.items():
        if injected.event.publisher == machine.me.id:
            found[topic] = max(injected.at, found.get(topic, injected.at))
    return found
