"""crashes -> measures: what share of the survivors an event still reaches."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.measures.exact import deviation_of, mean_of
from ropewalk.measures.named import measures_of, named


def resilience(crashes: DataFrame) -> DataFrame:
    """Over overlays with survivors, per stage and crash (group `final, random 10%`).

    `reach.one_way` and `reach.two_way`: the mean share reached, links walked forwards or both ways, with its standard
    deviation as spread; `reach.all_one_way` and `reach.all_two_way`: the share of overlays in which everybody is reached.
    """
    rows = F.array(
        *(named(f"reach.{way}", mean_of(F.col(way)), deviation_of(F.col(way))) for way in ("one_way", "two_way")),
        *(named(f"reach.all_{way}", mean_of((F.col(way) >= 1).cast("int"))) for way in ("one_way", "two_way")),
    )
    group = F.concat_ws(", ", "stage", "crash").alias("group")
    return measures_of(crashes.groupBy("run", group).agg(rows.alias("rows")), F.col("rows"))
