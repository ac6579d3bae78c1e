"""The audit finds what is wrong and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from types import SimpleNamespace
from typing import NamedTuple

import polars as pl
import pytest

from spark_reports.bounds import bring
from spark_reports.frames import Frames
from spark_reports.passes import audit as passes
from spark_reports.scale import Scale
from spark_reports.tables import audit
from spark_reports.tables.details import deletions
from spark_reports.tables.schema import arrow
from tests.spark_reports.conftest import Events
from tests.spark_reports.tables.rows import S, committed, delivered, leased, published, told

pytestmark = pytest.mark.spark

Rows = Sequence[dict]


class Case(NamedTuple):
    """Events, and the checks that they break: (messages, explained, group, topic, partition, first offset)."""

    rows: Rows
    broken: dict[str, tuple]
    control: Rows = ()


def told_of_end(markers: list[tuple[str, int, int]]) -> dict:
    return {"kind": "transaction_ended", "time_ns": S, "detail": json.dumps({"committed": True, "markers": markers})}


RESET = {"kind": "offsets_reset", "group": "g"}
COMPACTED = {"kind": "topic_created", "topic": "t", "detail": '{"cleanup":"compact"}'}
PLAIN = {"kind": "topic_created", "topic": "t", "detail": '{"cleanup":"delete"}'}


def nothing_wrong() -> Iterator[tuple[str, Case]]:
    sound = (
        published(0, 0, 0, 5), published(0, 0, 5, 5), published(0, 1, 0), delivered(1, 0, 0, 7),
        delivered(2, 0, 4, 3, 2), delivered(3, 0, 7, 3), committed(4, 0, 0, 2), committed(5, 0, 2, 8),
        {**published(0, 0, 0, 3), "topic": "q"}, leased("delivered", 1, 0, 3), leased("acknowledged", 2, 1),
        leased("dead_lettered", 2, 0, to_topic="q.dlq", to_partition=0, to_offset=0), leased("purged", 3, 2),
        {"kind": "redriven", "topic": "q.dlq", "partition": 0, "offset": 0, "count": 1, "group": "q",
         "to_topic": "q", "to_partition": 0, "to_offset": 3},
        leased("delivered", 4, 3), leased("acknowledged", 5, 3), {"kind": "dropped", "topic": "q", "count": 9},
    )  # fmt: skip
    yield "nothing is wrong", Case(sound, {})


def lost_or_twice() -> Iterator[tuple[str, Case]]:
    yield "lost", Case((published(0, 0, 0, 5), published(0, 0, 8, 2)), {"lost": (3, 0, "", "t", 0, 0)})
    yield "published twice", Case((published(0, 1, 0, 5), published(0, 1, 3, 4)), {"published": (2, 0, "", "t", 1, 0)})
    yield (
        "delivered twice",
        Case(
            (published(0, 0, 0, 9), delivered(1, 0, 0, 4), delivered(2, 0, 2, 5)),
            {"delivered": (2, 0, "g", "t", 0, 0)},
        ),
    )
    twice = (published(0, 0, 0, 9), delivered(1, 0, 0, 9), committed(2, 0, 0, 5), committed(3, 0, 1, 2))
    yield "finished twice", Case(twice, {"finished": (2, 0, "g", "t", 0, 0)})
    yield "finished twice for a reset", Case(twice, {"finished": (2, 2, "g", "t", 0, 0)}, (RESET,))
    never = (published(0, 0, 0, 9), delivered(1, 0, 0, 2), committed(2, 0, 0, 6))
    yield "never delivered", Case(never, {"acknowledged": (4, 0, "g", "t", 0, 0)})


def skipped() -> Iterator[tuple[str, Case]]:
    rows = (published(0, 0, 0, 200), delivered(1, 0, 10, 50), delivered(2, 0, 130, 10))
    yield "skipped", Case(rows, {"skipped": (70, 0, "g", "t", 0, 0)})
    yield "evicted", Case((*rows, {**committed(2, 0, 60, 70), "kind": "evicted"}), {})
    yield "skipped where it is compacted", Case(rows, {"skipped": (70, 70, "g", "t", 0, 0)}, (COMPACTED,))
    yield "skipped where it is not compacted", Case(rows, {"skipped": (70, 0, "g", "t", 0, 0)}, (PLAIN,))
    # What was removed beyond the last delivery makes up for nothing skipped.
    removed = {**committed(3, 0, 9, 1), "kind": "purged"}
    beyond = (published(0, 0, 0, 10), delivered(1, 0, 0, 5), delivered(2, 0, 6, 3), removed)
    yield "removed beyond the last", Case(beyond, {"skipped": (1, 0, "g", "t", 0, 0)})


def cut(at: int, first: int, count: int, cause: str = "retention") -> dict:
    place = {"topic": "t", "partition": 0, "offset": first, "count": count, "cause": cause}
    return {"kind": "records_deleted", "time_ns": at * S, **place}


def deleted_unread() -> Iterator[tuple[str, Case]]:
    rows = (published(0, 0, 0, 900), delivered(1, 0, 10, 50), delivered(5, 0, 130, 10))
    other = {**delivered(6, 0, 0, 900), "group": "all"}
    cuts = (cut(2, 0, 55), cut(3, 55, 45), cut(4, 100, 30))
    yield "deleted beside another group", Case((*rows, other), {}, cuts)
    # Half of the hole is deleted, and the group went on behind the rest: that is skipped.
    yield "half deleted", Case(rows, {"skipped": (30, 0, "g", "t", 0, 64)}, cuts[:2])
    # It never came back, and a user deletes to the end.
    yield "deleted to the end", Case(rows, {}, (*cuts, cut(7, 130, 700, "delete records")))
    # A reset has passed over 80 to 120, a transaction's marker is no message, and compaction takes some before.
    reset = {**RESET, "detail": json.dumps({"changes": [["t", 0, 80, 120]]})}
    marker = {"kind": "transaction_ended", "detail": json.dumps({"markers": [["t", 0, 70]]})}
    yield "deleted and passed over", Case(rows, {}, (*cuts, reset, marker, COMPACTED))
    yield "not deleted", Case(rows, {"skipped": (70, 0, "g", "t", 0, 0)})


def share_group() -> Iterator[tuple[str, Case]]:
    """Its message is published again, by an event of its own; that of a queue by the redrive alone."""
    log = published(0, 0, 0, 3)
    taken = {**delivered(1, 0, 0, 3), "group": "share.t"}
    done = {**committed(2, 0, 0, 2), "group": "share.t"}
    died = {
        **done,
        "kind": "dead_lettered",
        "offset": 2,
        "count": 1,
        "to_topic": "d",
        "to_partition": 0,
        "to_offset": 0,
    }
    back = {"kind": "redriven", "topic": "d", "partition": 0, "offset": 0, "count": 1, "group": "share.t",
            "to_topic": "t", "to_partition": 0, "to_offset": 3}  # fmt: skip
    again = ({**delivered(5, 0, 3), "group": "share.t"}, {**committed(6, 0, 3), "group": "share.t"})
    rows = (log, taken, done, died, published(4, 0, 3), back, *again)
    yield "the redrive of a share group", Case(rows, {})


def reordered() -> Iterator[tuple[str, Case]]:
    log = published(0, 0, 0, 300)
    swapped = (log, delivered(1, 0, 0, 4), delivered(2, 0, 6, 4), delivered(3, 0, 4, 2), delivered(4, 0, 10, 290))
    yield "swapped", Case(swapped, {"reordered": (2, 0, "g", "t", 0, 0)})
    across = (log, delivered(1, 0, 0, 60), delivered(2, 0, 200, 100), delivered(3, 0, 60, 140))
    yield "across words", Case(across, {"reordered": (140, 0, "g", "t", 0, 0)})
    yield "across words for a reset", Case(across, {"reordered": (140, 140, "g", "t", 0, 0)}, (RESET,))
    # Later attempts may come when they like, and every partition and group has an order of its own.
    again = (log, delivered(1, 0, 0, 9), delivered(2, 0, 9, 291), delivered(3, 0, 3, 2, attempt=2))
    other = (published(0, 1, 0, 9), delivered(1, 1, 0, 9), {**delivered(1, 0, 0, 300), "group": "h"})
    yield "later attempts", Case((*again, *other), {})
    # What came twice is told as that, and not as out of order.
    twice = (log, delivered(1, 0, 0, 9), delivered(2, 0, 3, 2), delivered(3, 0, 9, 291))
    yield "twice behind", Case(twice, {"delivered": (2, 0, "g", "t", 0, 0)})


def across_words() -> Iterator[tuple[str, Case]]:
    whole = (published(0, 0, 0, 1000), delivered(1, 0, 0, 1000), committed(2, 0, 0, 64), committed(3, 0, 64, 936))
    yield "sixteen words", Case(whole, {})
    yield "finished twice in many", Case((*whole, committed(4, 0, 100, 200)), {"finished": (200, 0, "g", "t", 0, 64)})
    apart = (published(0, 0, 70, 58), published(0, 0, 128, 1), published(0, 0, 700))
    yield "lost words", Case(apart, {"lost": (571, 0, "", "t", 0, 128)})
    overlap = (published(0, 0, 5, 300), published(0, 0, 127, 2))
    yield "published twice at a border", Case(overlap, {"published": (2, 0, "", "t", 0, 64)})


def any_ranges() -> Iterator[tuple[str, Case]]:
    """What a set counts."""
    numbers = Random(7)
    for number in range(40):
        ranges = [(numbers.randrange(401), numbers.randint(1, 150)) for _ in range(numbers.randint(1, 12))]
        offsets = [offset for start, count in ranges for offset in range(start, start + count)]
        there = set(offsets)
        lost = sorted(set(range(min(offsets), max(offsets))) - there)
        twice = sorted({offset for offset in there if offsets.count(offset) > 1})
        counted = (("lost", lost, len(lost)), ("published", twice, len(offsets) - len(there)))
        broken = {name: (count, 0, "", "t", 0, which[0] // 64 * 64) for name, which, count in counted if which}
        yield f"ranges {number}", Case([published(0, 0, start, count) for start, count in ranges], broken)


def markers() -> Iterator[tuple[str, Case]]:
    ended = told_of_end([("t", 0, 5), ("t", 0, 8), ("t", 0, 70)])
    sound = (published(0, 0, 0, 5), published(0, 0, 6, 2), published(0, 0, 9, 61), published(0, 0, 71, 2),
             delivered(1, 0, 0, 5), delivered(1, 0, 6, 2), delivered(1, 0, 9, 61), delivered(1, 0, 71, 2))  # fmt: skip
    yield "markers", Case(sound, {}, (ended,))
    yield "no markers", Case(sound, {"lost": (3, 0, "", "t", 0, 0)})


OF_ALL = (
    nothing_wrong, lost_or_twice, skipped, deleted_unread, share_group, reordered, across_words, any_ranges, markers,
)  # fmt: skip
CASES = {name: case for of_some in OF_ALL for name, case in of_some()}


def world(topic: str, numbers: Random) -> list[dict]:
    """Twelve messages that a group reads and finishes, in pieces; often with something wrong."""
    first = numbers.choice((0, 60, 100))
    pieces = [(first + start, 3) for start in range(0, 12, 3)]
    some = [published(0, 0, start, count) for start, count in pieces]
    some += [delivered(1, 0, start, count) for start, count in pieces]
    some += [committed(2, 0, start, count) for start, count in pieces]
    if numbers.random() < 0.3:
        some.append({**committed(3, 0, first + numbers.randrange(-3, 13), 2), "kind": "purged"})
    if numbers.random() < 0.6:
        at = numbers.randrange(len(some))
        match numbers.choice(("without", "twice", "shifted", "behind", "again")):
            case "without":
                del some[at]
            case "twice":
                some.append(some[at])
            case "shifted":
                some[at] = {**some[at], "offset": some[at]["offset"] + numbers.choice((-2, 1, 40))}
            case "behind":
                some.append(some.pop(at))
            case "again":
                some.append(delivered(3, 0, first + numbers.randrange(12), 1, attempt=2))
    return [{**event, "topic": topic} for event in some]


def frames_of(events: Events, *rows: dict, control: Rows = ()) -> Frames:
    return Frames(events(*rows), events(*control), Scale(0, 10 * S, S))


def apart(name: str, rows: Rows) -> list[dict]:
    """`rows` with topics and groups of their own."""
    told = []
    for row in rows:
        own = {key: f"{name}/{row[key]}" for key in ("topic", "to_topic", "group") if row.get(key)}
        if "detail" in row:
            detail = json.loads(row["detail"])
            for key in {"markers", "changes"} & detail.keys():
                detail[key] = [[f"{name}/{topic}", *place] for topic, *place in detail[key]]
            own["detail"] = json.dumps(detail, separators=(",", ":"))
        told.append({**row, **own})
    return told


def of_case(name: str, found: pl.DataFrame) -> pl.DataFrame:
    """The rows of a case, with its own names."""
    within = found.filter(pl.col("topic").str.starts_with(f"{name}/"))
    return within.with_columns(pl.col("group", "topic").str.strip_prefix(f"{name}/"))


@pytest.fixture(scope="module")
def worlds() -> list[dict]:
    numbers = Random(13)
    return [event for number in range(400) for event in world(f"t{number}", numbers)]


@pytest.fixture(scope="module")
def frames(events: Events, worlds: list[dict]) -> Frames:
    """All cases, and the worlds: a question of Spark costs as much for one as for all."""
    rows = [row for name, case in CASES.items() for row in apart(name, case.rows)]
    control = [row for name, case in CASES.items() for row in apart(name, case.control)]
    return frames_of(events, *rows, *worlds, control=control)


@pytest.mark.parametrize("name", CASES)
def test_the_audit_names_what_is_wrong_and_nothing_else(frames: Frames, name: str) -> None:
    answer = told(audit.audit(of_case(name, frames.audited)), audit.SCHEMA)
    assert [row.check for row in answer] == list(audit.CHECKS)
    broken = {
        row.check.split(" ")[0].rstrip(":"): (
            *(row.messages, row.explained, row.group, row.topic, row.partition, row.near_offset),
        )
        for row in answer
        if row.messages
    }
    assert broken == CASES[name].broken


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("deleted beside another group", [("g", "t", 0, 70, False, 60, 129, "retention", 3 * S, 4 * S)]),
        ("half deleted", [("g", "t", 0, 40, False, 60, 99, "retention", 3 * S, 3 * S)]),
        (
            "deleted to the end",
            [("g", "t", 0, 70 + 690, False, 60, 829, "delete records, retention", 3 * S, 7 * S)],
        ),
        ("deleted and passed over", [("g", "t", 0, 29, True, 60, 129, "retention", 3 * S, 4 * S)]),
        ("not deleted", []),
    ],
)
def test_what_was_deleted_before_a_group_got_it_is_lost_to_it(frames: Frames, name: str, expected: list[tuple]) -> None:
    """Between what it was given and behind it, up to where the partition begins; not what it has passed by itself."""
    found = audit.deleted(of_case(name, frames.audited), of_case(name, frames.control))
    assert [tuple(row.values()) for row in arrow(found, audit.DELETED_SCHEMA).to_pylist()] == expected


def test_sums_are_sound_only_where_no_word_is_broken(frames: Frames, worlds: list[dict]) -> None:
    topics = {event["topic"] for event in worlds}
    sums = audit.with_starts(bring(passes.offsets(frames.messages)), deletions(frames.control))
    broken = topics & set(frames.broken["topic"])
    sound = topics & {topic for (topic,), found in sums.group_by("topic") if audit.is_sound(found)}
    assert not sound & broken
    assert 100 < len(broken) < 300 and len(sound) > 100
    # What they do not see is little: something of a log that ends or begins elsewhere than its reader.
    assert len(sound | broken) > 380


def test_words_are_judged_only_where_sums_are_not_sound(events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "broken", lambda *_: pytest.fail("the words were judged"))
    assert not frames_of(events, published(0, 0, 0, 9), delivered(1, 0, 0, 9), committed(2, 0, 0, 9)).broken.height
    with pytest.raises(pytest.fail.Exception):
        _ = frames_of(events, published(0, 0, 0, 9), delivered(1, 0, 0, 9), delivered(2, 0, 0)).broken


@pytest.fixture(scope="module")
def suspected(events: Events) -> Frames:
    """Two topics with a few messages that broke a rule."""
    broken = (
        published(0, 0, 0, 3, key=None), published(0, 0, 5, 1, key=b"=hot"), delivered(S, 0, 0, 2),
        delivered(2 * S, 0, 1, 1), delivered(2 * S, 0, 5, 1), published(3 * S, 1, 0), published(3 * S, 1, 300),
    )  # fmt: skip
    late = (
        published(0, 0, 0, 100), delivered(S, 0, 0, 60), delivered(2 * S, 0, 62, 38), delivered(3 * S, 0, 61),
        delivered(4 * S, 0, 60),
    )  # fmt: skip
    return frames_of(events, *broken, *apart("late", late))


def listed(frames: Frames, topic: str, **more: int) -> list[SimpleNamespace]:
    """The messages that broke a rule."""
    found = audit.audit_list(audit.suspects(frames.audited), frames.happened, **more)
    return told(found.filter(pl.col("topic") == topic), audit.LIST_SCHEMA)


def test_broken_messages_are_named_one_by_one_with_what_happened(suspected: Frames) -> None:
    answer = listed(suspected, "t")
    found = [(row.check.split(" ")[0].rstrip(":"), row.partition, row.offset, row.messages) for row in answer]
    # 3 and 4 were never there; 2 was, and the group went past it; 1 came twice; of partition 1 a long run is gone.
    runs = [row for row in found if row[1] == 1]
    assert [row for row in found if row[1] == 0] == [
        ("lost", 0, 3, 1), ("lost", 0, 4, 1), ("delivered", 0, 1, 1), ("skipped", 0, 2, 1),
    ]  # fmt: skip
    assert sum(row[3] for row in runs) == 299 and {row[0] for row in runs} == {"lost"}
    twice = next(row for row in answer if row.check.startswith("delivered"))
    assert twice.story == "published by p at 0.000 s; delivered to c at 1.000 s; delivered to c at 2.000 s"
    assert (twice.published_ns, twice.happened_ns, twice.group, twice.explained) == (0, 2 * S, "g", False)
    few = listed(suspected, "t", limit=2)
    assert len(few) == 2


def test_what_came_behind_a_later_one_is_named_one_by_one(suspected: Frames) -> None:
    answer = listed(suspected, "late/t")
    assert [(row.check.split(":")[0], row.offset, row.happened_ns, row.story) for row in answer] == [
        ("reordered", 60, 4 * S, "published by p at 0.000 s; delivered to c at 4.000 s"),
        ("reordered", 61, 3 * S, "published by p at 0.000 s; delivered to c at 3.000 s"),
    ]
