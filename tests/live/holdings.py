"""What a live node holds, container by container: how much that is, and which nodes are named there."""

from collections import deque
from collections.abc import Iterator
from typing import Any

SHARED = (tuple, frozenset)  # may be in several places, and count in each
KEPT = (dict, list, set, deque)


def containers(root: object) -> Iterator[tuple[str, Any]]:
    """All that objects of the package lead to, and where each was found: `driver.machine.walks.neighbours.doubted`.

    What is in a container is found at its name with brackets.
    """
    known: set[int] = set()
    waiting: list[tuple[str, object]] = [("", root)]
    while waiting:
        where, found = waiting.pop()
        if not isinstance(found, SHARED):
            if id(found) in known:
                continue
            known.add(id(found))
        if isinstance(found, SHARED + KEPT):
            yield where, found
            waiting += ((f"{where}[]", each) for each in within(found) if _leads_on(each))
        else:
            waiting += ((f"{where}.{name}".lstrip("."), each) for name, each in _attributes(found) if _leads_on(each))


def within(container: Any) -> list[Any]:
    """Everything in it, keys and values."""
    return [*container.keys(), *container.values()] if isinstance(container, dict) else list(container)


def _leads_on(found: object) -> bool:
    return isinstance(found, SHARED + KEPT) or (
        type(found).__module__.startswith("ropewalk.") and not isinstance(found, type)
    )


def _attributes(found: object) -> Iterator[tuple[str, object]]:
    yield from getattr(found, "__dict__", {}).items()
    for kind in type(found).__mro__:
        slots = getattr(kind, "__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(found, name):
                yield name, getattr(found, name)
