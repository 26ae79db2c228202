"""Who gains how much: what each node holds before and after, over one or several runs of a universe, reduced by Spark.

Not `measures.improvement`, which is of one run and all its nodes: the paper means over runs, and looks at those that can gain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ropewalk.papers.lab import Lab, Run, Universe
from ropewalk.tables.frames import read_table
from ropewalk.tables.schema import SUBSCRIPTIONS, VIEWS

DRAWN = 400  # nodes of a scatter plot, chosen by a hash of their id
MUCH = 0.4  # StaN 3.4: "an improvement over 40 %"
PARTS = 10
SUMMED = ("before", "after", "gains", "gains_much", "loses")
SINGLE = 0  # instead of a decile: nodes that follow one topic, where no link can be shared or split


@dataclass(frozen=True, slots=True)
class Improvement:
    """Of a node: 1 - FPVS / IPVS, both means over the runs."""

    numbers: dict[str, Any]
    scatter: list[tuple[float, float]]


def improvement(lab: Lab, universe: Universe, runs: Sequence[Run]) -> Improvement:
    """Shares of nodes that gain, gain much and lose; by deciles of IPVS among those that follow two topics or more.

    Of equal IPVS, all are in the lower decile.
    """
    views = [read_table(lab.spark, run.store, VIEWS) for run in runs]
    together = reduce(lambda first, second: first.unionAll(second), views)
    sums = together.groupBy("node").pivot("stage", ["initial", "final"]).sum("pvs")
    followed = read_table(lab.spark, universe.store, SUBSCRIPTIONS).groupBy("node").count()
    nodes = sums.join(followed, "node").selectExpr("node", "initial as before", "final as after", "count as topics")
    nodes = nodes.persist()
    try:
        shares = ", ".join(str(part / PARTS) for part in range(1, PARTS))
        (bounds,) = nodes.filter("topics > 1").selectExpr(f"percentile(before, array({shares}))").collect()[0]
        decile = " + ".join(f"cast(before > {bound} as int)" for bound in bounds or ())
        judged = nodes.selectExpr(
            f"case when topics = 1 then {SINGLE} else 1 + {decile or 0} end as decile",
            "before",
            "after",
            "cast(after < before as int) as gains",
            f"cast(after * 10 < before * {round(10 * (1 - MUCH))} as int) as gains_much",
            "cast(after > before as int) as loses",
        )
        rows = judged.groupBy("decile").agg({"*": "count"} | dict.fromkeys(SUMMED, "sum")).collect()  # eleven at most
        drawn = nodes.selectExpr("before", "after", "node", "xxhash64(node) as hashed").orderBy("hashed", "node")
        scatter = drawn.limit(DRAWN).collect()
    finally:
        nodes.unpersist()
    return Improvement(
        _numbers(sorted((row.asDict() for row in rows), key=lambda row: int(row["decile"])), len(runs)),
        [(row["before"] / len(runs), row["after"] / len(runs)) for row in scatter],
    )


def _numbers(rows: list[dict[str, Any]], runs: int) -> dict[str, Any]:
    nodes = sum(row["count(1)"] for row in rows)
    several = [row for row in rows if row["decile"] != SINGLE]
    total = {name: sum(row[f"sum({name})"] for row in rows) for name in SUMMED}
    deciles = [
        {
            "decile": row["decile"],
            "nodes": row["count(1)"],
            "ipvs": row["sum(before)"] / row["count(1)"] / runs,
            "improvement": 1 - row["sum(after)"] / row["sum(before)"],
            "loses": row["sum(loses)"] / row["count(1)"],
        }
        for row in several
    ]
    return {
        "runs": runs,
        "nodes": nodes,
        "follow_one_topic": 1 - sum(row["count(1)"] for row in several) / nodes,
        "ipvs": total["before"] / nodes / runs,
        "fpvs": total["after"] / nodes / runs,
        "improvement": 1 - total["after"] / total["before"],
        "gains": total["gains"] / nodes,
        "gains_of_those_with_several": total["gains"] / max(1, sum(row["count(1)"] for row in several)),
        "gains_much": total["gains_much"] / nodes,
        "loses": total["loses"] / nodes,
        "loses_above_lowest_decile": sum(row["sum(loses)"] for row in several if row["decile"] > 1) / nodes,
        "deciles": deciles,
    }
