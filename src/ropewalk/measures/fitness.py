"""overlays -> measures: whether overlays stay fit to carry events: connected, hardly clustered, short across."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.measures.exact import deviation_of, mean_of
from ropewalk.measures.named import measures_of, named


def fitness(overlays: DataFrame) -> DataFrame:
    """Per stage: the share of overlays in one weak and in one strong component, members nobody holds, and means.

    `overlay.clustering` and `overlay.diameter` are means over overlays, with their standard deviation as spread. Of the
    largest overlays only bounds of the diameter are known: their mean lies between `diameter` and `diameter_at_most`.
    """
    rows = F.array(
        named("overlay.weakly_connected", mean_of((F.col("weak") == 1).cast("int"))),
        named("overlay.strongly_connected", mean_of((F.col("strong") == 1).cast("int"))),
        named("overlay.held_by_nobody", F.sum("in_degree_0")),
        named("overlay.clustering", mean_of(F.col("clustering")), deviation_of(F.col("clustering"))),
        named("overlay.diameter", mean_of(F.col("diameter")), deviation_of(F.col("diameter"))),
        named("overlay.diameter_at_most", mean_of(F.col("diameter_at_most")), deviation_of(F.col("diameter_at_most"))),
    )
    by_stage = overlays.groupBy("run", F.col("stage").alias("group")).agg(rows.alias("rows"))
    return measures_of(by_stage, F.col("rows"))
