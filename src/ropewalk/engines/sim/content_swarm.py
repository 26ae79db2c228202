"""Histories of the overlay by interests, made up by chance: what `ring_swarm` is for rings, this is for nodes that want cells.

Half of them follow topics, as those do; in the other half nodes have filters over a small space, events say something, and some
change their minds. All faults end some periods before the history does; then those who want the same must be one group, all who
want a cell must be linked, and every event must have reached exactly those whose filters it matches.
"""

from dataclasses import replace

from ropewalk.engines.sim.histories import Scenario
from ropewalk.engines.sim.population import Act, Filters
from ropewalk.engines.sim.swarm import PERIOD, Draw, Members, events_of, followed_by, rules_of, troubles_of
from ropewalk.protocols.content.filters import Filter, Range
from ropewalk.protocols.content.spaces import Attribute, Space
from ropewalk.protocols.contract import Event
from ropewalk.protocols.kato.settings import NAME, Settings
from ropewalk.seeds import chance

QUIET = 16  # periods without faults at the end
WORDS = ("iron", "rope", "tar")
PRICES = 8.0
SPACE = Space((Attribute("goods", len(WORDS), words=WORDS), Attribute("price", 4, 0.0, PRICES)))


def scenario(seed: int) -> Scenario:
    """What a seed stands for."""
    draw = Draw(seed)
    rounds = draw.whole("rounds", 24, 32)
    settings = Settings(
        rounds=rounds,
        period=PERIOD,
        cover="cells",
        covering=draw.whole("covering", 1, 3),
        common=draw.one("common", ("wanted", "wanted", "ignored")),
        keeping=draw.one("keeping", ("best", "best", "all")),
    )
    followed, filters = _filtered(draw) if draw.happens("filters", 0.5) else (followed_by(draw), {})
    nodes = sorted({node for held in followed.values() for node in held})
    end, last = (rounds - QUIET) * PERIOD, (rounds - QUIET / 2) * PERIOD
    acts = [*troubles_of(draw, nodes, followed, settings, end), *events_of(draw, nodes, followed, settings, last)]
    return Scenario(
        seed=seed,
        protocol=NAME,
        settings=settings,
        followed=followed,
        rules=rules_of(draw, nodes, settings, end),
        acts=[_said(draw, act) for act in acts] if filters else acts,
        filters=filters,
    )


def _filtered(draw: Draw) -> tuple[Members, Filters]:
    """Cells with who wants them, and what of each."""
    followed: Members = {}
    filters: Filters = {}
    kinds = draw.whole("kinds of filters", 2, 12)  # few, so that some want the same
    for number in range(draw.whole("nodes", 4, 22)):
        node = chance(draw.seed, "id", number)
        own = {draw.whole("which filter", 0, kinds, node, turn) for turn in range(draw.whole("filters", 1, 2, node))}
        for each in sorted(own):
            wanted = _filter(draw, each)
            for cell in SPACE.cells_of(wanted):
                if node not in followed.setdefault(cell, []):
                    followed[cell].append(node)
                filters[node, cell] = (*filters.get((node, cell), ()), wanted)
    return {cell: sorted(nodes) for cell, nodes in followed.items()}, filters


def _filter(draw: Draw, number: int) -> Filter:
    ends = sorted(draw.between("end", 0.0, PRICES, number, which) for which in range(2))
    conditions: list[tuple[str, Range | str]] = [("price", Range(*ends))]
    if draw.happens("of goods", 0.7, number):
        conditions.insert(0, ("goods", draw.one("goods", WORDS, number)))
    return Filter(tuple(conditions))


def _said(draw: Draw, act: Act) -> Act:
    """An event says something, and lies in the cell of that: mostly one that its publisher does not want."""
    if act.event is None:
        return act
    number = act.event.id % 2**31
    content = (("goods", draw.one("said of", WORDS, number)), ("price", draw.between("said", 0.0, PRICES, number)))
    event = Event(act.event.id, act.event.publisher, (SPACE.cell_of(dict(content)),), act.event.payload, content)
    return replace(act, event=event)
