"""Nodes that know each other, for tests of what they do then."""

from contextlib import AsyncExitStack
from dataclasses import replace

from alive import LIVE, Node, Options, settled
from ropewalk.engines.live.identity import topic_of

NEWS, SPORT = topic_of("news"), topic_of("sport")
QUICK = replace(LIVE, period=1.0)
FAST = Options(settings=QUICK)
HUNDRED = [b"%d" % number for number in range(100)]


async def network(stack: AsyncExitStack, count: int, options: Options = FAST) -> list[Node]:
    """Some nodes that know the first."""
    first = await stack.enter_async_context(Node(options=options))
    others = [
        await stack.enter_async_context(Node(bootstrap=[first.address], options=options)) for _ in range(1, count)
    ]
    await settled(first, *others)
    return [first, *others]
