"""Views of single nodes as the arrays that every engine's tables are made from, and the columns of those tables."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ropewalk.engines.contract import Views
from ropewalk.engines.stages import Left, Longs
from ropewalk.protocols.stan import kernel


def views_of(members: kernel.Members, overlays: kernel.Overlays) -> Views:
    """Arrays as who holds whom, by topic."""
    found: Views = {}
    ids = members.ids.tolist()
    for place, topic in enumerate(members.topics.tolist()):
        first, last = int(members.offsets[place]), int(members.offsets[place + 1])
        found[topic] = {
            ids[row]: [
                ids[first + link] for link in overlays.links[overlays.starts[row] : overlays.starts[row + 1]].tolist()
            ]
            for row in range(first, last)
        }
    return found


def left_by(stage: str, views: Views, node_ids: Longs, messages: dict[int, list[int]] | None = None) -> Left:
    """What a stage left behind. A neighbour that is not there any more, and not missed yet, counts as no link."""
    offsets, starts, ids, links = [0], [0], [], []
    for held in views.values():
        there = sorted(held)
        place = {node: at for at, node in enumerate(there)}
        for node in there:
            links += [place[other] for other in held[node] if other in place]
            starts.append(len(links))
        ids += there
        offsets.append(len(ids))
    counted = [(messages or {}).get(topic, (0, 0)) for topic in views]
    members = kernel.Members(_longs(list(views)), _longs(offsets), _longs(ids))
    return Left(
        stage,
        members,
        np.searchsorted(node_ids, members.ids).astype(np.int32),
        kernel.Overlays(_longs(starts), np.array(links, np.int32)),
        _longs([count[0] for count in counted]),
        _longs([count[1] for count in counted]),
    )


def view_columns(left: Left, node_ids: Longs, open_links: dict[int, int] | None) -> dict[str, NDArray[np.generic]]:
    """What every node that is there holds: one row per node. Connections are those of views, unless the open ones are given."""
    holders, held = _ends(left)
    count = node_ids.size
    there = np.unique(left.ranks)
    one_way = np.unique(holders * count + held)
    either = np.unique(np.minimum(holders, held) * count + np.maximum(holders, held))
    columns = {
        "node": node_ids,
        "lvs": np.bincount(holders, minlength=count),
        "pvs": np.bincount(one_way // count, minlength=count),
        "connections": np.bincount(either // count, minlength=count) + np.bincount(either % count, minlength=count),
        "in_links": np.bincount(one_way % count, minlength=count),
    }
    if open_links is not None:
        columns["connections"] = _longs([open_links.get(node, 0) for node in node_ids.tolist()])
    return {name: values[there] for name, values in columns.items()}


def connection_columns(left: Left, node_ids: Longs) -> dict[str, NDArray[np.generic]]:
    """Every pair of nodes that hold each other, in either direction, and how many logical links share it."""
    holders, held = _ends(left)
    pairs, links = np.unique(np.minimum(holders, held) * node_ids.size + np.maximum(holders, held), return_counts=True)
    return {"a": node_ids[pairs // node_ids.size], "b": node_ids[pairs % node_ids.size], "links": links}


def as_arrow(stage: str, columns: dict[str, NDArray[np.generic]]) -> pa.Table:
    """Columns of one stage."""
    rows = len(next(iter(columns.values())))
    return pa.table(
        {"stage": pa.array([stage] * rows, pa.string())} | {name: pa.array(v) for name, v in columns.items()}
    )


def _ends(left: Left) -> tuple[Longs, Longs]:
    """The ranks of both ends of every link."""
    members, overlays = left.members, left.overlays
    sizes = np.diff(overlays.starts)
    firsts = np.repeat(np.repeat(members.offsets[:-1], np.diff(members.offsets)), sizes)
    ranks = left.ranks.astype(np.int64)
    return np.repeat(ranks, sizes), ranks[firsts + overlays.links]


def _longs(values: list[int]) -> Longs:
    return np.array(values, np.int64)
