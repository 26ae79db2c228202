"""A universe that was cut out of a trace, as tables: its subscriptions, what the trace knows of them, and all candidates."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.tables.frames import read_table, struct_of, write_table
from ropewalk.tables.schema import FILTERS, NAMES, PUBLICATIONS, SUBSCRIPTIONS, TOPICS, UNIVERSES
from ropewalk.tables.store import Draft, Store
from ropewalk.universes.sample import Candidate, Cut


def write_universe(
    draft: Draft, trace: Store, pairs: DataFrame, candidates: list[Candidate], chosen: Candidate, cut: Cut
) -> None:
    """Write the tables of a universe; the row of `universes` with the store's own name is the one that was chosen."""
    spark, manifest = pairs.sparkSession, draft.manifest
    written = write_table(draft, SUBSCRIPTIONS, pairs, unique=True)
    nodes, topics = written.select("node").distinct(), written.select("topic").distinct()
    ids = nodes.select(F.lit("node").alias("kind"), F.col("node").alias("id"))
    ids = ids.unionByName(topics.select(F.lit("topic").alias("kind"), F.col("topic").alias("id")))
    for table, inside in ((NAMES, ids), (TOPICS, topics), (FILTERS, nodes)):
        if table.name in trace.manifest.tables:
            known = read_table(spark, trace, table).join(inside, inside.columns, "leftsemi")
            write_table(draft, table, known, unique=True)
    if PUBLICATIONS.name in trace.manifest.tables:
        by_members = read_table(spark, trace, PUBLICATIONS).join(nodes.toDF("publisher"), "publisher", "leftsemi")
        write_table(draft, PUBLICATIONS, by_members, unique=True)
    rows = [
        {
            "universe": manifest.name if each is chosen else f"{manifest.name}/candidate-{each.number}",
            "source": trace.manifest.name,
            "rule": f"{cut.rule}, candidate {each.number} of {cut.candidates}",
            "seed": manifest.seed,
            "nodes": each.nodes,
            "topics": each.topics,
            "subscriptions": each.subscriptions,
        }
        for each in candidates
    ]
    frame = spark.createDataFrame(
        [tuple(row[name] for name in UNIVERSES.columns) for row in rows], struct_of(UNIVERSES)
    )
    write_table(draft, UNIVERSES, frame)
