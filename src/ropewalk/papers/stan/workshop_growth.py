"""StAN, section 3.1: views grow faster with the topics than with the nodes."""

import math

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.universes import CELLS, WORKSHOP, Cell, grid_universe, stage_of, workshop_run
from ropewalk.papers.stan.workshop_table_2 import PUBLISHED

MARGIN = 0.10
LARGER = 3  # from 1000 to 3000 nodes, from 100 to 300 topics


def measure(lab: Lab, scale: Scale) -> Measured:
    """The configurations of Table 2, set G."""
    cells = []
    for cell in CELLS[scale]:
        run, universe = workshop_run(lab, "G", cell, lab.seed), grid_universe(lab, "G", cell, lab.seed)
        cells.append(
            {
                "nodes": cell[0],
                "topics": cell[1],
                "members": universe.subscriptions / universe.topics,
                "total": run.mean("lvs", "initial"),
                "unique initial": run.mean("pvs", "initial"),
                "unique final": run.mean("pvs", stage_of("G")),
            }
        )
    total = {(of["nodes"], of["topics"]): of["total"] for of in cells}
    members = {(of["nodes"], of["topics"]): of["members"] for of in cells}
    with_topics = {nodes: total[nodes, 300] / total[nodes, 100] for nodes in sorted({cell[0] for cell in total})}
    with_nodes = {topics: total[3000, topics] / total[1000, topics] for topics in sorted({cell[1] for cell in total})}
    logarithmic = {topics: 1 + math.log(LARGER) / math.log(members[1000, topics]) for topics in with_nodes}
    growth = {"with_topics": with_topics, "with_nodes": with_nodes, "logarithmic": logarithmic}
    return Measured(
        {"cells": cells} | {name: {str(of): value for of, value in by.items()} for name, by in growth.items()}
    )


def checks(numbers: Numbers) -> list[Check]:
    """Linear in the one, logarithmic in the other, and so the one outgrows the other."""
    with_topics, with_nodes = numbers["with_topics"], numbers["with_nodes"]
    expected = numbers["logarithmic"]
    linear = all(abs(ratio / LARGER - 1) <= MARGIN for ratio in with_topics.values())
    logarithmic = all(abs(ratio / expected[topics] - 1) <= MARGIN for topics, ratio in with_nodes.items())
    slower, faster = max(with_nodes.values()), min(with_topics.values())
    return [
        Check(f"{LARGER} times the topics make total {_range(with_topics)} times as large", linear),
        Check(f"{LARGER} times the nodes {_range(with_nodes)} ({_range(expected)} if it is ln n)", logarithmic),
        Check(f"topics count for more than nodes ({faster:.2f} against {slower:.2f})", slower < faster),
    ]


def _range(ratios: dict[str, float]) -> str:
    low, high = min(ratios.values()), max(ratios.values())
    return f"{low:.2f} to {high:.2f}"


def draw(measured: Measured) -> list[Panel]:
    """Total against topics, for each number of nodes, beside the table."""
    cells = measured.numbers["cells"]
    curves = []
    for shade, nodes in enumerate(sorted({of["nodes"] for of in cells})):
        ours = [(float(of["topics"]), of["total"]) for of in cells if of["nodes"] == nodes]
        theirs = [(float(topics), float(PUBLISHED[_cell(nodes, topics)][0])) for topics in (100, 200, 300)]
        curves += [
            Curve(f"{nodes} nodes", ours, "line", shade),
            Curve(f"{nodes} nodes, published", theirs, "law", shade),
        ]
    return [
        Panel(
            title="Total view size",
            x="topics",
            y="mean per node",
            reading="Straight lines through the origin that lie close together: topics make views large, nodes hardly.",
            curves=curves,
        )
    ]


def _cell(nodes: int, topics: int) -> Cell:
    return nodes, topics


CLAIM = Claim(
    id="A-S1",
    sentence="View sizes grow much quicker with the number of topics (linearly) than with the number of nodes (logarithmically).",
    paper=WORKSHOP,
    place="section 3.1, Table 2 and Figure 2",
    published={"3 times the topics": [3.11, 3.03, 3.05], "3 times the nodes": [1.24, 1.22, 1.21]},
    tolerance=f"set G: {LARGER} times the topics make total {LARGER} times as large within {MARGIN:.0%}; {LARGER} times the nodes as"
    f" much larger as ln of a topic's mean subscribers, within {MARGIN:.0%}; the first is more than the second",
    measure=measure,
    checks=checks,
    draw=draw,
)
