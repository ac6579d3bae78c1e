"""The events of a session folder as plain rows, straight from its Parquet parts and Arrow streams (see FORMAT.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

Row = dict[str, Any]


def rows_of(folder: Path) -> list[Row]:
    """Every event of the session, in order; `detail` as the object that its JSON says."""
    found: list[Row] = []
    for kind in ("messages", "control"):
        sealed = {path.stem.rpartition("-")[2]: path for path in (folder / kind).glob("part-*.parquet")}
        for path in sealed.values():
            found += pq.ParquetFile(path).read().to_pylist()
        for path in (folder / "tail").glob(f"{kind}-*.arrow"):
            if path.stem.rpartition("-")[2] not in sealed:
                with pa.OSFile(str(path)) as file:
                    found += pa.ipc.open_stream(file).read_all().to_pylist()
    found.sort(key=lambda row: row["seq"])
    assert [row["seq"] for row in found] == list(range(len(found))), "the numbering of events has gaps"
    for row in found:
        row["detail"] = json.loads(row["detail"]) if row["detail"] else {}
    return found


def scenario_of(folder: Path) -> dict[str, Any]:
    """The scenario as it was given: settings are in no event."""
    found: dict[str, Any] = yaml.load((folder / "scenario.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader)
    return found
