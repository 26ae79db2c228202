"""Tables as Spark DataFrames: conform, write, read, check; and ids, weights and chance as Spark SQL columns."""

import re
from collections.abc import Sequence
from functools import partial, reduce
from operator import or_
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from ropewalk.errors import InputError, RunError
from ropewalk.tables.schema import TABLES, Reference, Table, Type
from ropewalk.tables.session import at_once
from ropewalk.tables.store import Draft, Store, Tally

SPARK_TYPES: dict[Type, DataType] = {
    "long": LongType(),
    "double": DoubleType(),
    "string": StringType(),
    "boolean": BooleanType(),
    "longs": ArrayType(LongType()),
}
# What Spark says of a file that this machine has and another has not.
NOT_THERE = ("FileNotFoundException", "FILE_NOT_EXIST", "PATH_NOT_FOUND")


def struct_of(table: Table) -> StructType:
    """The Spark type of a table's rows."""
    return StructType([StructField(name, SPARK_TYPES[type_]) for name, type_ in table.columns.items()])


def conform(table: Table, frame: DataFrame) -> DataFrame:
    """Exactly the table's columns, in its order and types. Every stage ends with this."""
    missing = [name for name in table.columns if name not in frame.columns]
    if missing:
        raise InputError(f"{table.name}: no column {missing}; the frame has {frame.columns}.")
    return frame.select(*(F.col(name).cast(SPARK_TYPES[type_]) for name, type_ in table.columns.items()))


def write_table(draft: Draft, table: Table, frame: DataFrame, *, unique: bool = False) -> DataFrame:
    """Write a table into a draft, read it back, check it, enter it in the manifest; return what is now on disk.

    Repeated keys are looked for unless the caller knows that there can be none (`unique`): that takes a shuffle.
    """
    folder = draft.path / table.name
    sent = Observation()
    rows = conform(table, frame).observe(sent, F.count(F.lit(1)).alias("rows"))
    rows.write.mode("error").parquet(_address(folder))
    written = frame.sparkSession.read.schema(struct_of(table)).parquet(pattern_of(folder))
    counted, problem = _examined(table, written, check_key=not (table.large or unique))
    if counted.rows != sent.get["rows"]:  # each machine has written to a disk of its own
        raise RunError(
            f"{table.name}: {sent.get['rows']} rows were written, but {counted.rows} can be read back from"
            f" {draft.path.parent}; on a cluster it must lie on a file system that all machines share."
        )
    if problem:
        raise RunError(f"{table.name}: {problem}; nothing was kept.")
    draft.manifest.tables[table.name] = counted
    return written


def write_tables(draft: Draft, frames: Sequence[tuple[Table, DataFrame]]) -> dict[str, DataFrame]:
    """Write several tables at once, whose keys cannot repeat: small ones are over in the time that one takes."""
    calls = [partial(write_table, draft, table, frame, unique=True) for table, frame in frames]
    written = at_once(frames[0][1].sparkSession, calls)
    return {table.name: frame for (table, _), frame in zip(frames, written, strict=True)}


def read_table(spark: SparkSession, store: Store, table: Table) -> DataFrame:
    """A table of a store, in its declared columns."""
    folder = store.folder_of(table)
    try:
        found = spark.read.parquet(pattern_of(folder))
    except (PySparkException, Py4JError) as error:
        if any(sign in str(error) for sign in NOT_THERE):
            raise InputError(
                f"{folder} is here, but not where Spark runs; on a cluster it must lie on a file system that all"
                " machines share."
            ) from error
        raise InputError(f"{folder} holds no readable Parquet files; make the store again.") from error
    missing = [name for name in table.columns if name not in found.columns]
    if missing:
        raise InputError(f"{folder}: no column {missing}; it has {found.columns}. Make the store again.")
    for field in struct_of(table):
        type_found = found.schema[field.name].dataType
        if type_found != field.dataType:
            raise InputError(
                f"{folder}: column {field.name!r} is {type_found.simpleString()}, but must be"
                f" {field.dataType.simpleString()}. Make the store again."
            )
    return found.select(*table.columns)


def hexadecimal(digest: int) -> str:
    """A signed 64-bit digest as sixteen hexadecimal digits."""
    return f"{digest & 0xFFFF_FFFF_FFFF_FFFF:016x}"


def problems_of(spark: SparkSession, path: Path) -> list[str]:
    """Everything that is wrong with a store: tallies, null or repeated keys, references that lead nowhere."""
    store = Store.open(path)
    found: list[str] = []
    known = [name for name in store.manifest.tables if name in TABLES]
    found += [f"{name}: not a table we know" for name in store.manifest.tables if name not in TABLES]
    frames = {name: read_table(spark, store, TABLES[name]) for name in known}
    for name, frame in frames.items():
        table = TABLES[name]
        counted, problem = _examined(table, frame, check_key=True)
        checks = [problem]
        if counted != store.manifest.tables[name]:
            checks.append("is not what its manifest tallied")
        checks += [
            _lost_references(frame, reference, frames[reference.table])
            for reference in table.references
            if reference.table in frames
        ]
        found += [f"{name}: {problem}" for problem in checks if problem]
    return found


def _examined(table: Table, frame: DataFrame, *, check_key: bool) -> tuple[Tally, str | None]:
    """Rows, their order-free digest, and what is wrong with the keys, in one pass over the frame."""
    # A null leaves the hash as it was, so that there is one must be hashed, too.
    nulls = (F.col(name).isNull() for name in frame.columns if name not in table.key)
    row_hash = F.xxhash64(*(F.col(name) for name in frame.columns), *nulls)
    is_null = reduce(or_, (F.col(name).isNull() for name in table.key)).cast("int")
    rows = (F.count("*").alias("rows"), F.bit_xor(row_hash).alias("digest"), F.max(is_null).alias("null"))
    if check_key:
        per_key = frame.groupBy(*table.key).agg(*rows)
        summed = per_key.agg(F.sum("rows"), F.bit_xor("digest"), F.max("null"), F.max("rows"))
    else:
        summed = frame.agg(*rows, F.lit(1))
    (found,) = summed.collect()
    count, digest, null, most = found
    key = f"({', '.join(table.key)})"
    problem = None
    if null:
        (example,) = frame.filter(is_null == 1).limit(1).collect()
        problem = f"a key of {key} is null, in {example.asDict()}"
    elif most is not None and most > 1:
        (example,) = frame.groupBy(*table.key).count().filter("count > 1").limit(1).collect()
        problem = f"a key of {key} is repeated, as {example.asDict()}"
    return Tally(count or 0, hexadecimal(digest or 0)), problem


def _lost_references(frame: DataFrame, reference: Reference, there: DataFrame) -> str | None:
    wanted = frame.select(*reference.columns).distinct()
    known = there.select(
        *(F.col(theirs).alias(ours) for ours, theirs in zip(reference.columns, reference.columns_there, strict=True))
    )
    lost = wanted.join(known, list(reference.columns), "left_anti").limit(1).collect()
    return f"{lost[0].asDict()} does not occur in {reference.table}" if lost else None


def _address(folder: Path) -> str:
    """Of a folder here, whatever the default file system of a cluster and the current folder of the JVM."""
    return f"file:{folder.absolute()}"


def pattern_of(folder: Path) -> str:
    """The pattern that matches just this folder: Spark reads by patterns."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", _address(folder))


def id_column(name: Column) -> Column:
    """`ids.identify` in Spark SQL."""
    return F.shiftrightunsigned(F.xxhash64(name), 1)


def weight_column(key: Column, other: Column) -> Column:
    """`ids.weight` in Spark SQL; both columns must be longs."""
    return F.shiftrightunsigned(F.xxhash64(key, other), 1)


def chance_column(seed: int, what: str, *labels: Column) -> Column:
    """`seeds.chance` in Spark SQL; labels must be longs or strings."""
    return F.shiftrightunsigned(F.xxhash64(F.lit(seed).cast("long"), F.lit(what), *labels), 1)
