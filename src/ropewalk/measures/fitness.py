"""overlays -> measures: whether overlays stay fit to carry events: connected, hardly clustered, short across."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ropewalk.measures.exact import deviation_of, mean_of
from ropewalk.tables.frames import conform
from ropewalk.tables.schema import MEASURES


def fitness(overlays: DataFrame) -> DataFrame:
    """Per stage: the share of overlays in one weak and in one strong component, members nobody holds, and means.

    `overlay.clustering` and `overlay.diameter` are means over overlays, with their standard deviation as spread.
    """
    measured: dict[str, tuple[Column, Column]] = {
        "overlay.weakly_connected": (mean_of((F.col("weak") == 1).cast("int")), F.lit(None)),
        "overlay.strongly_connected": (mean_of((F.col("strong") == 1).cast("int")), F.lit(None)),
        "overlay.held_by_nobody": (F.sum("in_degree_0"), F.lit(None)),
        "overlay.clustering": (mean_of(F.col("clustering")), deviation_of(F.col("clustering"))),
        "overlay.diameter": (mean_of(F.col("diameter")), deviation_of(F.col("diameter"))),
    }
    row = F.array(
        *(
            F.struct(
                F.lit(name).alias("measure"),
                value.cast("double").alias("value"),
                spread.cast("double").alias("spread"),
            )
            for name, (value, spread) in measured.items()
        )
    )
    by_stage = overlays.groupBy("run", F.col("stage").alias("group")).agg(row.alias("rows"))
    return conform(MEASURES, by_stage.select("run", "group", F.inline("rows")))
