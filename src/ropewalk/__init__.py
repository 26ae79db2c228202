"""Ropewalk: interest-aware peer-to-peer publish/subscribe. `Node` is a participant, `BlockingNode` one without asyncio."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ropewalk.engines.live.api import Node as Node
    from ropewalk.engines.live.api import NotRunningError as NotRunningError
    from ropewalk.engines.live.arrived import Event as Event
    from ropewalk.engines.live.blocking import BlockingNode as BlockingNode
    from ropewalk.engines.live.options import Options as Options
    from ropewalk.engines.live.outgoing import UndeliverableError as UndeliverableError
    from ropewalk.engines.live.subscriptions import SlowConsumerError as SlowConsumerError
    from ropewalk.engines.live.subscriptions import Subscription as Subscription
    from ropewalk.errors import InputError as InputError
    from ropewalk.errors import RopewalkError as RopewalkError
    from ropewalk.errors import RunError as RunError
    from ropewalk.errors import UsageError as UsageError

__version__ = "0.1.0"

_LATER = {  # loaded when they are asked for: whoever only counts links needs no TLS
    "BlockingNode": "ropewalk.engines.live.blocking",
    "Event": "ropewalk.engines.live.arrived",
    "InputError": "ropewalk.errors",
    "Node": "ropewalk.engines.live.api",
    "NotRunningError": "ropewalk.engines.live.api",
    "Options": "ropewalk.engines.live.options",
    "RopewalkError": "ropewalk.errors",
    "RunError": "ropewalk.errors",
    "SlowConsumerError": "ropewalk.engines.live.subscriptions",
    "Subscription": "ropewalk.engines.live.subscriptions",
    "UndeliverableError": "ropewalk.engines.live.outgoing",
    "UsageError": "ropewalk.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'ropewalk' has no attribute {name!r}")
    return getattr(importlib.import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])
