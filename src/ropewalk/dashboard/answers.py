"""What the page asks for apart from the stream: lists, a page at a time, and single things. JSON in the making, nothing else."""

from typing import Any

from ropewalk.dashboard.picture import Picture
from ropewalk.dashboard.seen import Seen
from ropewalk.dashboard.travels import Travel

PAGE = 50  # ours: entries of a list at a time
MOST_SHOWN = 500  # ours: of a node's topics and links, and of an event's deliveries at a time


def id_of(said: str) -> int | None:
    """An id as it is written in addresses: in hex."""
    try:
        found = int(said, 16)
    except ValueError:
        return None
    return found if 0 <= found < 2**63 else None


def topics(picture: Picture, find: str, page: int) -> dict[str, Any]:
    """Those that are followed, the largest first."""
    find = find.lower()
    found = [
        (topic, overlay)
        for topic, overlay in picture.overlays.items()
        if overlay.members and (not find or find in picture.names.get(topic, "").lower() or find in f"{topic:016x}")
    ]
    found.sort(key=lambda each: (-len(each[1].members), _natural(picture.names.get(each[0], "")), each[0]))
    entries = [
        {"id": f"{topic:016x}", "name": picture.names.get(topic, ""), "members": len(overlay.members), "links": len(overlay.links)}
        for topic, overlay in _of_page(found, page)
    ]  # fmt: skip
    return _paged(entries, found, page)


def nodes(picture: Picture, find: str, page: int) -> dict[str, Any]:
    """All nodes, those that are up first."""
    find, order = find.lower(), ("up", "down", "left", "elsewhere")
    found = [
        node
        for node in picture.nodes.values()
        if not find or find in node.name.lower() or find in f"{node.id:016x}" or find in node.address
    ]
    found.sort(key=lambda node: (order.index(node.state), _natural(node.name), node.id))
    return _paged([_about(node) for node in _of_page(found, page)], found, page)


def node(picture: Picture, id_: int) -> dict[str, Any] | None:
    """One of them, with what it follows, holds and is connected with."""
    seen = picture.nodes.get(id_)
    if seen is None:
        return None
    counts = seen.counts
    shared = {
        other: [topic for topic, held in counts.held.items() if other in held]
        for other in {**counts.links, **{other: None for held in counts.held.values() for other in held}}
    }
    links = sorted(shared, key=lambda other: (-len(shared[other]), other))
    return _about(seen) | {
        "address": seen.address,
        "protocol": seen.protocol,
        "topics": [
            {"id": f"{topic:016x}", "name": picture.names.get(topic, ""), "held": len(counts.held.get(topic, ()))}
            for topic in sorted(counts.follows, key=lambda topic: _natural(picture.names.get(topic, "")))[:MOST_SHOWN]
        ],
        "links": [
            {
                "id": f"{other:016x}",
                "name": picture.nodes[other].name if other in picture.nodes else "",
                "shared": len(shared[other]),
                "connected": other in counts.links,
            }
            for other in links[:MOST_SHOWN]
        ],
        "history": [list(point) for point in seen.history],
    }


def events(picture: Picture, page: int) -> dict[str, Any]:
    """The last events, the latest first."""
    found = picture.travels.latest()
    return _paged([_in_short(picture, travel) for travel in _of_page(found, page)], found, page)


def event(picture: Picture, id_: int, page: int | None) -> dict[str, Any] | None:
    """One of them, with who got it, from whom, after how long; hop by hop, since clocks of nodes differ. Without a page it is all of it."""
    travel = picture.travels.find(id_)
    if travel is None:
        return None
    steps = sorted(travel.steps.values(), key=lambda step: (step.hops, step.at, step.node))
    begun = travel.begun
    page, most = (0, len(steps)) if page is None else (min(page, _last(steps, MOST_SHOWN)), MOST_SHOWN)
    first = page * most
    return _in_short(picture, travel) | {
        "steps": [
            [_hex(step.node), _hex(step.source), step.hops, max(0.0, round(1000 * (step.at - begun), 2))]
            for step in steps[first : first + most]
        ],
        "of": len(steps),
        "page": page,
        "beyond": travel.beyond,
    }


def _in_short(picture: Picture, travel: Travel) -> dict[str, Any]:
    return {
        "id": f"{travel.event:016x}",
        "at": travel.begun,
        "publisher": _hex(travel.publisher),
        "topics": [{"id": f"{topic:016x}", "name": picture.names.get(topic, "")} for topic in travel.topics],
        "size": travel.size,
        "expected": travel.expected,
        "delivered": len(travel.steps) + travel.beyond,
    }


def _hex(id_: int | None) -> str | None:
    return None if id_ is None else f"{id_:016x}"


def _about(seen: Seen) -> dict[str, Any]:
    return {
        "id": f"{seen.id:016x}",
        "number": seen.number,
        "name": seen.name,
        "state": seen.state,
        "why": seen.why,
        "since": seen.since.at,
        "follows": len(seen.counts.follows),
        "lvs": seen.lvs,
        "pvs": seen.pvs,
        "connections": len(seen.counts.links),
    }


def _last(found: list[Any], at_a_time: int = PAGE) -> int:
    """The last page. Whoever asks for a later one gets that: the list has become shorter meanwhile."""
    return max(0, len(found) - 1) // at_a_time


def _of_page(found: list[Any], page: int) -> list[Any]:
    first = min(page, _last(found)) * PAGE
    return found[first : first + PAGE]


def _paged(entries: list[Any], found: list[Any], page: int) -> dict[str, Any]:
    last = _last(found)
    return {"entries": entries, "of": len(found), "page": min(page, last), "pages": last + 1}


def _natural(name: str) -> tuple[int, str, int]:
    """topic-9 before topic-10."""
    head = name.rstrip("0123456789")
    tail = name[len(head) :]
    return (not name, head, int(tail) if tail and len(tail) < 19 else -1)  # noqa: PLR2004  as numbers go
