"""connections -> measures: the graph of physical links as a whole, whatever topics share them."""

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.arrays.chance import stream
from ropewalk.arrays.physical import both_ways, physical
from ropewalk.measures.named import measures_of, named

EXACT = 10_000  # nodes; above that, clustering from a sample and bounds for the diameter
SOURCES = 256
MOST = 20_000_000  # connections; of a larger graph nothing is said, since one task holds all of it
SAMPLED = 20_000  # nodes: clustering is then within 0.01, with 95 % certainty
SEED = 1  # the sample is the same for every run
MEASURED = {
    "components": "components",
    "largest": "largest_component",
    "clustering": "clustering",
    "clustering_bound": "clustering_bound",
    "longest": "diameter",
    "longest_at_most": "diameter_at_most",
}


def physical_graph(connections: DataFrame) -> DataFrame:
    """Per stage: `physical.components`, `.largest_component`, `.clustering`, `.clustering_bound`, `.diameter`, `.diameter_at_most`.

    The graph has no direction. One task holds the whole graph of a stage: some 100 bytes a connection.
    """
    key = ["run", "stage"]
    small = connections.groupBy(key).count().filter(F.col("count") <= MOST)
    connections = connections.join(F.broadcast(small), key, "left_semi")
    schema = "run string, stage string, " + ", ".join(f"{name} double" for name in MEASURED.values())
    per_stage = connections.select("run", "stage", "a", "b").groupBy("run", "stage").applyInArrow(_measured, schema)
    rows = F.array(*(named(f"physical.{name}", F.col(name)) for name in MEASURED.values()))
    return measures_of(per_stage.withColumnRenamed("stage", "group"), rows)


def _measured(table: pa.Table) -> pa.Table:
    ends = [table.column(name).to_numpy() for name in ("a", "b")]
    nodes, numbers = np.unique(np.concatenate(ends), return_inverse=True)
    a, b = np.split(numbers.astype(np.int32), 2)
    order = np.lexsort((b, a))  # whatever order the rows came in
    starts, links = both_ways(nodes.size, a[order], b[order])
    found = physical(starts, links, EXACT, SOURCES, SAMPLED, stream(SEED, "physical"))
    named_columns = {name: [float(getattr(found, field))] for field, name in MEASURED.items()}
    return pa.table({"run": table.column("run")[:1], "stage": table.column("stage")[:1], **named_columns})
