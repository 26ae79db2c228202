"""How a live node gets into a network: it reaches one of the nodes that it was told of, however long that takes."""

import asyncio
import logging

from ropewalk.engines.live.addresses import in_words
from ropewalk.engines.live.calls import UNANSWERED, ItselfError
from ropewalk.engines.live.driver import Driver
from ropewalk.engines.live.transport import Transport
from ropewalk.protocols.contract import Contact, Join

RETRY = (0.5, 30.0)  # ours, seconds: between attempts to reach a bootstrap node, the first and the longest
log = logging.getLogger(__name__)


class Joining:
    """Goes on until all that it was told of were reached, and begins anew when it has lost everybody."""

    def __init__(
        self, transport: Transport, driver: Driver, bootstrap: tuple[str, ...], secret: bytes, joined: asyncio.Event
    ) -> None:
        self.transport, self.driver, self.secret, self.joined = transport, driver, secret, joined
        self.unreached = "none has answered yet"  # why the last bootstrap node was not
        self.bootstrap = list(dict.fromkeys(bootstrap))
        self._work = asyncio.create_task(self._reach())

    async def close(self) -> None:
        """Try no more."""
        self._work.cancel()
        await asyncio.gather(self._work, return_exceptions=True)

    async def _reach(self) -> None:
        """Reach all; and again whenever nobody is left, since who was there may have come back as somebody else."""
        missing, delay = list(self.bootstrap), RETRY[0]
        if not missing:
            self._join(())
        while self.bootstrap:
            await asyncio.gather(*(self._greet(address, missing) for address in list(missing)))
            if not self.bootstrap:
                self._join(())  # it was told of nobody but itself
            await asyncio.sleep(delay if missing else RETRY[1])
            delay = min(RETRY[1], 2 * delay)
            if not self.transport.links:  # one that never answers keeps nobody from the others
                delay = delay if missing else RETRY[0]
                missing = list(self.bootstrap)

    async def _greet(self, address: str, missing: list[str]) -> None:
        """All at a time, so that who answers does not wait for who does not."""
        try:
            contact = await self.transport.greet(address)
        except ItselfError:
            self.bootstrap.remove(address)
        except Exception as error:  # noqa: BLE001  whatever is at that address: it is tried again, and so are the others
            self.unreached = in_words(error, address, UNANSWERED)
            log.info("bootstrap node %s is not there yet: %s", address, self.unreached)
            return
        else:
            self._join((contact,))
        missing.remove(address)

    def _join(self, seeds: tuple[Contact, ...]) -> None:
        self.driver.tell(Join(seeds, self.secret))
        self.joined.set()
