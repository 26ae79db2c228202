"""What the tasks of this engine have in common: functions from Arrow batches to Arrow batches of an agreed schema."""

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

Mapped = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_SQL_TYPES = {
    pa.string(): "string",
    pa.bool_(): "boolean",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float64(): "double",
    pa.large_binary(): "binary",
}


def sql_schema(schema: pa.Schema) -> str:
    """An Arrow schema as Spark wants to be told it."""
    return ", ".join(f"{field.name} {_SQL_TYPES[field.type]}" for field in schema)


def filled(schema: pa.Schema, rows: int, **columns: "pa.Array[pa.Scalar[pa.DataType]]") -> pa.RecordBatch:
    """A batch in the agreed schema; columns that are not given are null."""
    arrays = [columns[field.name] if field.name in columns else pa.nulls(rows, field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
