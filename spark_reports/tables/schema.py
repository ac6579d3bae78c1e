from __future__ import annotations

import polars as pl
import pyarrow as pa

_TYPES = {
    "BIGINT": (pl.Int64(), pa.int64()),
    "INT": (pl.Int32(), pa.int32()),
    "STRING": (pl.String(), pa.string()),
    "DOUBLE": (pl.Float64(), pa.float64()),
    "BOOLEAN": (pl.Boolean(), pa.bool_()),
}


def columns(schema: str) -> list[tuple[str, str]]:
    """Name and type of each column of a schema such as "name STRING, value DOUBLE"."""
    parts = (part.split() for part in schema.replace("`", "").split(", "))
    return [(name, kind) for name, kind in parts]


def arrow(frame: pl.DataFrame, schema: str) -> pa.Table:
    """`frame` with exactly the columns of `schema`, in its order and of its types."""
    found = frame.select(pl.col(name).cast(_TYPES[kind][0]) for name, kind in columns(schema))
    return found.to_arrow().cast(pa.schema([(name, _TYPES[kind][1]) for name, kind in columns(schema)]))


def rows(schema: str, found: list[tuple[object, ...]]) -> pl.DataFrame:
    return pl.DataFrame(found, {name: _TYPES[kind][0] for name, kind in columns(schema)}, orient="row")
