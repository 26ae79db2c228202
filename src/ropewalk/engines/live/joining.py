"""How a live node gets into a network: it reaches one of the nodes that it was told of, however long that takes."""

import asyncio
import logging

from ropewalk.engines.live.driver import Driver
from ropewalk.engines.live.transport import Transport
from ropewalk.errors import RopewalkError
from ropewalk.protocols.contract import Contact, Join

RETRY = (0.5, 30.0)  # ours, seconds: between attempts to reach a bootstrap node, the first and the longest
log = logging.getLogger(__name__)


class Joining:
    """Goes on until all that it was told of were reached: each is a way in that the others may lose."""

    def __init__(
        self, transport: Transport, driver: Driver, bootstrap: tuple[str, ...], secret: bytes, joined: asyncio.Event
    ) -> None:
        self.transport, self.driver, self.secret, self.joined = transport, driver, secret, joined
        self.unreached = "none has answered yet"  # why the last bootstrap node was not
        self._work = asyncio.create_task(self._reach(list(bootstrap)))

    async def close(self) -> None:
        """Try no more."""
        self._work.cancel()
        await asyncio.gather(self._work, return_exceptions=True)

    async def _reach(self, missing: list[str]) -> None:
        if not missing:
            self._join(())
        delay = RETRY[0]
        while missing:
            reached = []
            for address in list(missing):
                try:
                    reached.append(await self.transport.greet(address))
                except (RopewalkError, OSError) as error:
                    self.unreached = str(error).rstrip(".") or type(error).__name__
                    log.info("bootstrap node %s is not there yet: %s", address, self.unreached)
                else:
                    missing.remove(address)
            if reached:
                self._join(tuple(reached))
            if missing:
                await asyncio.sleep(delay)
                delay = min(RETRY[1], 2 * delay)

    def _join(self, seeds: tuple[Contact, ...]) -> None:
        self.driver.tell(Join(seeds, self.secret))
        self.joined.set()
