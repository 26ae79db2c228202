"""What nodes that want cells are told, one by one: which cells, what of each, and what is published in them."""

from typing import NamedTuple

from ropewalk.engines import publishing
from ropewalk.engines.contents import Contents, drawn, filters_by_node, said_by
from ropewalk.engines.job import Order
from ropewalk.engines.publishing import Drawn, stretch
from ropewalk.errors import UsageError
from ropewalk.protocols.content.filters import Filter, content_of
from ropewalk.seeds import chance, unit


class Wanting(NamedTuple):
    """Who wants what."""

    members: dict[int, list[int]]  # by cell
    filters: dict[int, tuple[Filter, ...]]  # by node: what of these cells, if not all


def wanting_of(contents: Contents) -> Wanting:
    """What contents come to, node by node."""
    interests = contents.interests
    starts, nodes = interests.by_topic.tolist(), interests.node_ids[interests.nodes].tolist()
    members = {cell: nodes[starts[at] : starts[at + 1]] for at, cell in enumerate(interests.topic_ids.tolist())}
    return Wanting(members, {node: tuple(dict.fromkeys(own)) for node, own in filters_by_node(contents).items()})


def by_cell(wanting: Wanting) -> dict[tuple[int, int], tuple[Filter, ...]]:
    """The filters of a node, for each cell that it wants."""
    cells = wanting.members.items() if wanting.filters else ()
    return {(node, cell): wanting.filters[node] for cell, nodes in cells for node in nodes}


def drawn_for(contents: Contents, wanting: Wanting, job: Order) -> list[Drawn]:
    """Events by chance, spread evenly over the time in which they are published."""
    begin, end = stretch(job.settings.period, job.settings.rounds)
    if contents.space is None:
        return publishing.drawn(wanting.members, job.seed, job.events, job.topics_per_event, begin, end)
    if job.topics_per_event > 1:
        raise UsageError("--topics-per-event plays no part where there are filters: an event is in one cell; drop it.")
    events = drawn(contents, job.settings, job.events, job.seed)
    publishers = contents.interests.node_ids[events.publishers].tolist()
    found = []
    for number, (publisher, point) in enumerate(zip(publishers, events.points, strict=True)):
        said = said_by(contents, point)
        at = begin + (end - begin) * (number + unit(chance(job.seed, "published at", number))) / job.events
        found.append(Drawn(at, number, publisher, (contents.space.cell_of(said),), content_of(said)))
    return found
