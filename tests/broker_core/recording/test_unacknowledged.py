"""What a group was given and cannot get again, by the events of one partition."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.events import BROKER_CRASH, Event, EventKind
from broker_core.recording.audit import Lost, Unacknowledged


def events(*told: tuple[str, dict[str, Any]]) -> list[Event]:
    usual = {"topic": "orders", "partition": 0, "group": "billing", "client": "biller"}
    return [
        Event(seq=seq, time_ns=seq, kind=EventKind(kind), **{**usual, **more}) for seq, (kind, more) in enumerate(told)
    ]


GIVEN = ("delivered", {"offset": 0, "count": 10})
DONE = ("acknowledged", {"offset": 0, "count": 4})
DELETED = ("records_deleted", {"offset": 0, "count": 8, "group": "", "client": ""})
LEFT: tuple[str, dict[str, Any]] = ("member_left", {})
CRASH = ("fault", {"detail": {"fault": BROKER_CRASH}, "group": "", "client": ""})
LOST = [Lost("billing", "orders", 0, 4, 4, "biller")]


@pytest.mark.parametrize(
    ("told", "lost"),
    [
        ((GIVEN, DONE, LEFT, DELETED), LOST),
        ((GIVEN, DONE, DELETED, LEFT), LOST),
        ((GIVEN, DONE, DELETED, CRASH), LOST),
        ((GIVEN, DONE, DELETED), []),
        ((GIVEN, DONE, LEFT), []),
        ((GIVEN, DONE, DELETED, ("acknowledged", {"offset": 4, "count": 6}), LEFT), []),
        ((GIVEN, DONE, LEFT, ("delivered", {"offset": 4, "count": 6, "client": "other"}), DELETED), []),
        ((GIVEN, DONE, ("member_left", {"client": "other"}), DELETED), []),
        ((GIVEN, DONE, ("member_left", {"group": "other"}), DELETED), []),
        ((GIVEN, DONE, LEFT, ("records_deleted", {"offset": 0, "count": 8, "topic": "other"})), []),
        ((GIVEN, DONE, LEFT, ("offsets_reset", {"detail": {"changes": [("orders", 0, 4, 8)]}}), DELETED), []),
        ((GIVEN, LEFT, DELETED), []),
        ((GIVEN, DONE, ("delivered", {"offset": None}), ("acknowledged", {"offset": None}), LEFT, DELETED), LOST),
    ],
    ids=[
        *("left, then deleted", "deleted, then left", "the broker crashed", "it is still there", "nothing is deleted"),
        *("acknowledged after", "given to another", "another has left", "left another group", "of another topic"),
        *("reset by hand", "a group that never acknowledges", "without an offset"),
    ],
)
def test_what_is_lost(told: tuple[tuple[str, dict[str, Any]], ...], lost: list[Lost]) -> None:
    found = Unacknowledged()
    for event in events(*told):
        found(event)
    assert list(found.lost(())) == lost
    assert list(found.lost(["billing"])) == [], "the leases of queues come back by themselves"
