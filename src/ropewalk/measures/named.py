"""Rows of the table `measures`, made out of aggregates: a frame with one row per run and group, and an array of named numbers."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ropewalk.tables.frames import conform
from ropewalk.tables.schema import MEASURES

PERCENTILES = tuple(range(101))  # p0 to p100: enough to draw the distribution from


def named(name: str | Column, value: Column, spread: Column | None = None) -> Column:
    """One number with its name."""
    return F.struct(
        (F.lit(name) if isinstance(name, str) else name).alias("measure"),
        value.cast("double").alias("value"),
        (F.lit(None) if spread is None else spread).cast("double").alias("spread"),
    )


def percentiles_of(column: str) -> Column:
    """The percentiles of a column, p0 to p100, exact."""
    shares = ", ".join(str(percentile / 100) for percentile in PERCENTILES)
    return F.expr(f"percentile({column}, array({shares}))")  # as text: a hundred columns take a while to make


def named_percentiles(prefix: Column, percentiles: Column) -> Column:
    """Those percentiles as named numbers: `PREFIX.p0` and so on."""
    return F.transform(percentiles, lambda value, at: named(F.concat(prefix, F.lit(".p"), at.cast("string")), value))


def measures_of(frame: DataFrame, rows: Column) -> DataFrame:
    """The table, from a frame with `run` and `group` and an array of named numbers."""
    return conform(MEASURES, frame.select("run", "group", F.inline(rows)))


def from_to(first: str, last: str) -> str:
    """The group of a measure that compares two stages."""
    return f"{first} to {last}"
