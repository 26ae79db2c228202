"""Means and deviations that do not depend on the order of rows: sums of doubles do, sums of decimals do not."""

from pyspark.sql import Column
from pyspark.sql import functions as F

SUMMAND = "decimal(19,9)"  # nine digits after the point: more than any measure here means
SQUARE = "decimal(38,18)"


def mean_of(column: Column) -> Column:
    """The mean, the same to the bit for any partitioning."""
    return F.sum(column.cast(SUMMAND)).cast("double") / F.count(column)


def deviation_of(column: Column) -> Column:
    """The standard deviation over the population, likewise."""
    value = column.cast(SUMMAND)
    mean_square = F.sum((value * value).cast(SQUARE)).cast("double") / F.count(column)
    return F.sqrt(F.greatest(mean_square - mean_of(column) * mean_of(column), F.lit(0.0)))
