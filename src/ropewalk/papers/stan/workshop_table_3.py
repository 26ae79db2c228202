"""StAN, Table 3: clustering and diameter of the graph of physical links."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ropewalk.engines.contract import INITIAL
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.universes import FIRST_CELL, WORKSHOP, stage_of, workshop_run
from ropewalk.tables.frames import read_table
from ropewalk.tables.schema import CONNECTIONS

Matrix = NDArray[np.float32]

PUBLISHED = {"before": {"clustering": 0.50, "diameter": 3}, "after": {"clustering": 0.13, "diameter": 4}}
MARGIN = {"before": 0.08, "after": 0.03}
WHEN = {"before": INITIAL, "after": stage_of("G")}
SCHEMA = "stage string, nodes long, connections long, clustering double, diameter long"


def measure(lab: Lab, scale: Scale) -> Measured:  # noqa: ARG001 (one size, small)
    """Set G, 1000 nodes and 100 topics; physical links are used both ways."""
    run = workshop_run(lab, "G", FIRST_CELL, lab.seed)
    stages = " or ".join(f"stage = '{stage}'" for stage in WHEN.values())
    pairs = read_table(lab.spark, run.store, CONNECTIONS).filter(stages).select("stage", "a", "b")
    rows = {row["stage"]: row.asDict() for row in pairs.groupBy("stage").applyInArrow(_described, SCHEMA).collect()}
    return Measured({when: _without_stage(rows[stage]) for when, stage in WHEN.items()})


def _without_stage(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "stage"}


def _described(table: pa.Table) -> pa.Table:
    """One graph, in one task: as a matrix, since its nodes are those of one small universe."""
    a, b = table.column("a").to_numpy(), table.column("b").to_numpy()
    nodes, ends = np.unique(np.concatenate((a, b)), return_inverse=True)
    adjacent = np.zeros((nodes.size, nodes.size), np.float32)
    adjacent[ends[: a.size], ends[a.size :]] = adjacent[ends[a.size :], ends[: a.size]] = 1.0
    return pa.table(
        {
            "stage": table.column("stage")[:1],
            "nodes": [nodes.size],
            "connections": [a.size],
            "clustering": [clustering(adjacent)],
            "diameter": [diameter(adjacent)],
        }
    )


def clustering(adjacent: Matrix) -> float:
    """Mean over nodes of: links among a node's k neighbours / k(k - 1); 0 for a node with fewer than two."""
    degrees = adjacent.sum(axis=1).astype(np.float64)
    among = (adjacent @ adjacent * adjacent).sum(axis=1).astype(np.float64)  # whole numbers, so in any order
    return float(np.mean(among / np.maximum(degrees * (degrees - 1), 1)))


def diameter(adjacent: Matrix) -> int:
    """The longest shortest path, over the pairs that have one."""
    reached = np.eye(adjacent.shape[0], dtype=np.bool_)
    steps = 0
    while True:
        further = reached | (reached.astype(np.float32) @ adjacent > 0)
        if (further == reached).all():
            return steps
        reached, steps = further, steps + 1


def checks(numbers: Numbers) -> list[Check]:
    """Both numbers, at both moments."""
    found = []
    for when, margin in MARGIN.items():
        clustering, diameter = numbers[when]["clustering"], numbers[when]["diameter"]
        published = PUBLISHED[when]
        apart = abs(clustering - published["clustering"])
        found.append(
            Check(f"clustering {when} {clustering:.3f} ({published['clustering']} published)", apart <= margin)
        )
        said = f"diameter {when} {diameter} ({published['diameter']} published)"
        found.append(Check(said, diameter == published["diameter"]))
    return found


def draw(measured: Measured) -> list[Panel]:
    """Before and after, beside what was published."""
    panels = []
    for name in ("clustering", "diameter"):
        ours = [(float(at), float(measured.numbers[when][name])) for at, when in enumerate(WHEN)]
        theirs = [(float(at), float(PUBLISHED[when][name])) for at, when in enumerate(WHEN)]
        panels.append(
            Panel(
                title=name.capitalize(),
                x="0: before, 1: after",
                y=name,
                reading="Of the undirected graph whose edges are the physical links.",
                curves=[Curve("measured", ours), Curve("published", theirs, "law", 3)],
            )
        )
    return panels


CLAIM = Claim(
    id="A-T3",
    sentence="The clustering coefficient of the physical graph falls from 0.50 to 0.13, its diameter grows from 3 to 4.",
    paper=WORKSHOP,
    place="Table 3, section 3.1",
    published=PUBLISHED,
    tolerance=f"undirected, set G: clustering within {MARGIN['before']} before and {MARGIN['after']} after, diameters equal",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="The paper does not say whether links are walked one way or both; both is what its numbers fit.",
)
