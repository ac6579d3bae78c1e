"""The audit finds what is wrong and nothing else."""

from __future__ import annotations

import json
from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_reports.bounds import bring, local
from spark_reports.frames import Frames
from spark_reports.passes import audit as passes
from spark_reports.scale import Scale
from spark_reports.tables import audit, audit_list
from tests.spark_reports.conftest import Events
from tests.spark_reports.tables.rows import S, committed, delivered, leased, published, told

pytestmark = pytest.mark.spark


def frames_of(events: Events, *rows: dict, control: tuple[dict, ...] = ()) -> Frames:
    return Frames(events(*rows), events(*control), Scale(0, 10 * S, S))


def listed(frames: Frames, **more: int) -> list[SimpleNamespace]:
    """The messages that broke a rule."""
    return told(audit_list.audit_list(audit.suspects(frames.audited), frames.happened, **more), audit_list.SCHEMA)


def broken(events: Events, *rows: dict, control: tuple[dict, ...] = ()) -> dict[str, tuple]:
    """The checks that `rows` break: (messages, explained, group, topic, partition, first offset)."""
    answer = told(audit.audit(frames_of(events, *rows, control=control).audited), audit.SCHEMA)
    assert [row.check for row in answer] == list(audit.CHECKS)
    return {
        row.check.split(" ")[0].rstrip(":"): (
            row.messages,
            row.explained,
            row.group,
            row.topic,
            row.partition,
            row.near_offset,
        )
        for row in answer
        if row.messages
    }


def test_an_audit_finds_nothing_where_nothing_is_wrong(events: Events) -> None:
    sound = (
        published(0, 0, 0, 5), published(0, 0, 5, 5), published(0, 1, 0), delivered(1, 0, 0, 7),
        delivered(2, 0, 4, 3, 2), delivered(3, 0, 7, 3), committed(4, 0, 0, 2), committed(5, 0, 2, 8),
        {**published(0, 0, 0, 3), "topic": "q"}, leased("delivered", 1, 0, 3), leased("acknowledged", 2, 1),
        leased("dead_lettered", 2, 0, to_topic="q.dlq", to_partition=0, to_offset=0), leased("purged", 3, 2),
        {"kind": "redriven", "topic": "q.dlq", "partition": 0, "offset": 0, "count": 1, "group": "q",
         "to_topic": "q", "to_partition": 0, "to_offset": 3},
        leased("delivered", 4, 3), leased("acknowledged", 5, 3), {"kind": "dropped", "topic": "q", "count": 9},
    )  # fmt: skip
    assert broken(events, *sound) == {}


def test_an_audit_names_what_is_lost_duplicated_or_finished_twice(events: Events) -> None:
    assert broken(events, published(0, 0, 0, 5), published(0, 0, 8, 2)) == {"lost": (3, 0, "", "t", 0, 0)}
    assert broken(events, published(0, 1, 0, 5), published(0, 1, 3, 4)) == {"published": (2, 0, "", "t", 1, 0)}
    assert broken(events, published(0, 0, 0, 9), delivered(1, 0, 0, 4), delivered(2, 0, 2, 5)) == {
        "delivered": (2, 0, "g", "t", 0, 0)
    }
    twice = (published(0, 0, 0, 9), delivered(1, 0, 0, 9), committed(2, 0, 0, 5), committed(3, 0, 1, 2))
    assert broken(events, *twice) == {"finished": (2, 0, "g", "t", 0, 0)}
    reset = {"kind": "offsets_reset", "group": "g"}
    assert broken(events, *twice, control=(reset,)) == {"finished": (2, 2, "g", "t", 0, 0)}
    assert broken(events, published(0, 0, 0, 9), delivered(1, 0, 0, 2), committed(2, 0, 0, 6)) == {
        "acknowledged": (4, 0, "g", "t", 0, 0)
    }


def test_an_audit_names_what_a_group_never_got_though_it_went_on(events: Events) -> None:
    rows = (published(0, 0, 0, 200), delivered(1, 0, 10, 50), delivered(2, 0, 130, 10))
    assert broken(events, *rows) == {"skipped": (70, 0, "g", "t", 0, 0)}
    evicted = {**committed(2, 0, 60, 70), "kind": "evicted"}
    assert broken(events, *rows, evicted) == {}
    trimmed = {"kind": "records_deleted", "topic": "t", "partition": 0}
    assert broken(events, *rows, control=(trimmed,)) == {"skipped": (70, 70, "g", "t", 0, 0)}
    compacted = {"kind": "topic_created", "topic": "t", "detail": '{"cleanup":"compact"}'}
    assert broken(events, *rows, control=(compacted,)) == {"skipped": (70, 70, "g", "t", 0, 0)}
    plain = {"kind": "topic_created", "topic": "t", "detail": '{"cleanup":"delete"}'}
    assert broken(events, *rows, control=(plain,)) == {"skipped": (70, 0, "g", "t", 0, 0)}


def test_broken_messages_are_named_one_by_one_with_what_happened(events: Events) -> None:
    rows = frames_of(
        events,
        published(0, 0, 0, 3, key=None),
        published(0, 0, 5, 1, key=b"=hot"),
        delivered(S, 0, 0, 2),
        delivered(2 * S, 0, 1, 1),
        delivered(2 * S, 0, 5, 1),
        published(3 * S, 1, 0),
        published(3 * S, 1, 300),
    )
    answer = listed(rows)
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
    few = listed(rows, limit=2)
    assert len(few) == 2


def test_an_audit_names_what_came_behind_a_later_one(events: Events) -> None:
    log = published(0, 0, 0, 300)
    swapped = (log, delivered(1, 0, 0, 4), delivered(2, 0, 6, 4), delivered(3, 0, 4, 2), delivered(4, 0, 10, 290))
    assert broken(events, *swapped) == {"reordered": (2, 0, "g", "t", 0, 0)}
    across = (log, delivered(1, 0, 0, 60), delivered(2, 0, 200, 100), delivered(3, 0, 60, 140))
    assert broken(events, *across) == {"reordered": (140, 0, "g", "t", 0, 0)}
    reset = {"kind": "offsets_reset", "group": "g"}
    assert broken(events, *across, control=(reset,)) == {"reordered": (140, 140, "g", "t", 0, 0)}
    # Later attempts may come when they like, and every partition and group has an order of its own.
    again = (log, delivered(1, 0, 0, 9), delivered(2, 0, 9, 291), delivered(3, 0, 3, 2, attempt=2))
    other = (published(0, 1, 0, 9), delivered(1, 1, 0, 9), {**delivered(1, 0, 0, 300), "group": "h"})
    assert broken(events, *again, *other) == {}
    # What came twice is told as that, and not as out of order.
    assert set(broken(events, log, delivered(1, 0, 0, 9), delivered(2, 0, 3, 2), delivered(3, 0, 9, 291))) == {
        "delivered"
    }


def test_what_came_behind_a_later_one_is_named_one_by_one(events: Events) -> None:
    rows = frames_of(
        events,
        published(0, 0, 0, 100), delivered(S, 0, 0, 60), delivered(2 * S, 0, 62, 38), delivered(3 * S, 0, 61),
        delivered(4 * S, 0, 60),
    )  # fmt: skip
    answer = listed(rows)
    assert [(row.check.split(":")[0], row.offset, row.happened_ns, row.story) for row in answer] == [
        ("reordered", 60, 4 * S, "published by p at 0.000 s; delivered to c at 4.000 s"),
        ("reordered", 61, 3 * S, "published by p at 0.000 s; delivered to c at 3.000 s"),
    ]


def test_an_audit_counts_across_words_of_64_offsets(events: Events) -> None:
    whole = [published(0, 0, 0, 1000), delivered(1, 0, 0, 1000), committed(2, 0, 0, 64), committed(3, 0, 64, 936)]
    assert broken(events, *whole) == {}
    assert broken(events, *whole, committed(4, 0, 100, 200)) == {"finished": (200, 0, "g", "t", 0, 64)}
    assert broken(events, published(0, 0, 70, 58), published(0, 0, 128, 1), published(0, 0, 700)) == {
        "lost": (571, 0, "", "t", 0, 128)
    }
    assert broken(events, published(0, 0, 5, 300), published(0, 0, 127, 2)) == {"published": (2, 0, "", "t", 0, 64)}


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(1, 150)), min_size=1, max_size=12))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_audit_of_any_ranges_counts_as_a_set_does(events: Events, ranges: list[tuple[int, int]]) -> None:
    offsets = [offset for start, count in ranges for offset in range(start, start + count)]
    lost, twice = max(offsets) + 1 - min(offsets) - len(set(offsets)), len(offsets) - len(set(offsets))
    found = broken(events, *(published(0, 0, start, count) for start, count in ranges))
    assert {check: row[0] for check, row in found.items()} == {
        check: messages for check, messages in (("lost", lost), ("published", twice)) if messages
    }


def test_the_marker_of_a_transaction_is_no_message_that_is_lost(events: Events) -> None:
    ended = told_of_end([("t", 0, 5), ("t", 0, 8), ("t", 0, 70)])
    sound = (published(0, 0, 0, 5), published(0, 0, 6, 2), published(0, 0, 9, 61), published(0, 0, 71, 2),
             delivered(1, 0, 0, 5), delivered(1, 0, 6, 2), delivered(1, 0, 9, 61), delivered(1, 0, 71, 2))  # fmt: skip
    assert broken(events, *sound, control=(ended,)) == {}
    assert broken(events, *sound)["lost"][0] == 3


def told_of_end(markers: list[tuple[str, int, int]]) -> dict:
    return {"kind": "transaction_ended", "time_ns": S, "detail": json.dumps({"committed": True, "markers": markers})}


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


def test_sums_are_sound_only_where_no_word_is_broken(events: Events) -> None:
    numbers = Random(13)
    rows = [event for number in range(400) for event in world(f"t{number}", numbers)]
    frames = frames_of(events, *rows)
    sums = bring(passes.offsets(frames.messages))
    reach = local(frames.messages.sparkSession, audit.reach(sums))
    broken = set(bring(passes.broken(frames.messages, reach))["topic"])
    sound = {topic for (topic,), found in sums.group_by("topic") if audit.is_sound(found)}
    assert not sound & broken
    assert 100 < len(broken) < 300 and len(sound) > 100
    # What they do not see is little: something of a log that ends or begins elsewhere than its reader.
    assert len(sound | broken) > 380


def test_words_are_judged_only_where_sums_are_not_sound(events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "broken", lambda *_: pytest.fail("the words were judged"))
    assert not frames_of(events, published(0, 0, 0, 9), delivered(1, 0, 0, 9), committed(2, 0, 0, 9)).broken.height
    with pytest.raises(pytest.fail.Exception):
        _ = frames_of(events, published(0, 0, 0, 9), delivered(1, 0, 0, 9), delivered(2, 0, 0)).broken


def test_what_was_removed_beyond_the_last_delivery_makes_up_for_nothing_skipped(events: Events) -> None:
    removed = {**committed(3, 0, 9, 1), "kind": "purged"}
    rows = (published(0, 0, 0, 10), delivered(1, 0, 0, 5), delivered(2, 0, 6, 3), removed)
    assert broken(events, *rows) == {"skipped": (1, 0, "g", "t", 0, 0)}
