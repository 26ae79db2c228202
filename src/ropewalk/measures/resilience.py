"""crashes -> measures: what share of the survivors an event still reaches."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ropewalk.measures.exact import deviation_of, mean_of
from ropewalk.tables.frames import conform
from ropewalk.tables.schema import MEASURES


def resilience(crashes: DataFrame) -> DataFrame:
    """Per stage and crash (group `final, random 10%`), over overlays with survivors:

    `reach.one_way` and `reach.two_way`: the mean share reached, links walked forwards or both ways, with its standard
    deviation as spread; `reach.all_one_way` and `reach.all_two_way`: the share of overlays in which everybody is reached.
    """
    none = F.lit(None)
    measured: dict[str, tuple[Column, Column]] = {}
    for way in ("one_way", "two_way"):
        measured[f"reach.{way}"] = (mean_of(F.col(way)), deviation_of(F.col(way)))
        measured[f"reach.all_{way}"] = (mean_of((F.col(way) >= 1).cast("int")), none)
    rows = F.array(
        *(
            F.struct(F.lit(name).alias("measure"), value.cast("double").alias("value"), spread.cast("double").alias("spread"))
            for name, (value, spread) in measured.items()
        )
    )
    group = F.concat_ws(", ", "stage", "crash").alias("group")
    return conform(MEASURES, crashes.groupBy("run", group).agg(rows.alias("rows")).select("run", "group", F.inline("rows")))
