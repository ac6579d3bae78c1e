"""Checks the folder of a session before any event is read; each problem is one sentence. Needs pyarrow, not Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from broker_core.recording import schema

_GONE = "its events are missing"


class RecordedPart(NamedTuple):
    """A sealed segment by its footer; with 0 and -1 if that does not say which numbers its events have."""

    path: Path
    events: int
    first_seq: int
    last_seq: int
    kinds: frozenset[str]

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"


class Judged(NamedTuple):
    """`parts` of a folder are to be read, `problems` are sentences about the others and about what is not there."""

    parts: tuple[RecordedPart, ...]
    problems: tuple[str, ...]


def judged(session: Path, folder: str) -> Judged:
    """The sealed segments of `folder` (messages or control), each read whole once for its checksum."""
    if not (session / folder).is_dir():
        return Judged((), (f"The folder {folder} is missing; {_GONE}.",))
    parts = schema.parts(session, folder)
    problems = [
        f"{folder}/{path.name} has a name that no recording uses; it is left out."
        for path in sorted((session / folder).glob("*.parquet"))
        if path not in parts
    ]
    kept: list[RecordedPart] = []
    expected = 0
    for path in parts:
        number = schema.part_number(path)
        problems += [f"{folder}/{schema.part_name(gap)} is missing; {_GONE}." for gap in range(expected, number)]
        expected = number + 1
        if problem := schema.part_problem(path):
            problems.append(problem)
            continue
        part = _part(path)
        if problem := _misplaced(part, folder) or _repeated(part, kept):
            problems.append(problem)
        else:
            kept.append(part)
    return Judged(tuple(kept), tuple(problems))


def _part(path: Path) -> RecordedPart:
    footer = pq.read_metadata(path)
    numbers, kinds = (_ends(footer, column) for column in ("seq", "kind"))
    return RecordedPart(path, footer.num_rows, min(numbers, default=0), max(numbers, default=-1), frozenset(kinds))


def _ends(footer: pq.FileMetaData, column: str) -> list[Any]:
    place = schema.EVENT_SCHEMA.get_field_index(column)
    groups = (footer.row_group(number).column(place).statistics for number in range(footer.num_row_groups))
    return [end for known in groups if known is not None and known.has_min_max for end in (known.min, known.max)]


def _misplaced(part: RecordedPart, folder: str) -> str:
    other = next(name for name in schema.FOLDERS if name != folder)
    sentence = f"{part.name} contains what belongs in the folder {other}; it is left out."
    return sentence if part.kinds & schema.KINDS[other] else ""


def _repeated(part: RecordedPart, before: list[RecordedPart]) -> str:
    overlapping = (one for one in before if one.first_seq <= part.last_seq and part.first_seq <= one.last_seq)
    twin = next(overlapping, None)
    return f"{part.name} repeats events of {twin.name}; it is left out." if twin else ""


def miscounted(events: int, expected: int) -> Iterator[str]:
    """What is wrong with the number of events. To be asked if no part has a problem of its own."""
    if events < expected:
        yield f"{expected - events:,} of {expected:,} events are missing: a part is gone or was cut."
    elif events > expected:
        surplus = f"{events - expected:,} events are there that are not part of the recording"
        yield f"{surplus}: a part belongs to another session."
