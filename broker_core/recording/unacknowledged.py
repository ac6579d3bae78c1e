"""Messages that a group was given, did not acknowledge, and cannot get again, because they were deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from broker_core.events import BROKER_CRASH, Event, EventKind

Reading = tuple[str, str, int]  # group, topic, partition


class Lost(NamedTuple):
    """So many `messages` from `offset` on, which were given to `client`."""

    group: str
    topic: str
    partition: int
    offset: int
    messages: int
    client: str


class _Given(NamedTuple):
    client: str
    member: str
    left: bool = False  # the client has left since
    deleted: bool = False

    @property
    def lost(self) -> bool:
        return self.left and self.deleted


class Unacknowledged:
    """Give it every event, in order. A member that is still there may acknowledge what was deleted meanwhile.

    Groups that have never acknowledged anything keep their offsets elsewhere, and are left out.
    """

    def __init__(self) -> None:
        self._given: dict[Reading, dict[int, _Given]] = {}
        self._commits: set[str] = set()  # groups

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event.kind:
            case EventKind.DELIVERED | EventKind.ACKNOWLEDGED if (
                event.partition is not None and event.offset is not None
            ):
                offsets = range(event.offset, event.offset + event.count)
                given = self._given.setdefault((event.group, event.topic, event.partition), {})
                if event.kind is EventKind.DELIVERED:
                    given.update(dict.fromkeys(offsets, _Given(event.client, event.member or event.client)))
                else:
                    self._commits.add(event.group)
                    for offset in offsets:
                        given.pop(offset, None)
            case EventKind.RECORDS_DELETED if event.offset is not None:
                for (_group, topic, partition), given in self._given.items():
                    if (topic, partition) == (event.topic, event.partition):
                        for offset in [each for each in given if each < event.offset + event.count]:
                            given[offset] = given[offset]._replace(deleted=True)
            case EventKind.OFFSETS_RESET:
                for topic, partition, _old, _new in (event.detail or {}).get("changes", ()):
                    self._given.pop((event.group, topic, partition), None)
            case EventKind.MEMBER_LEFT:
                self._left({event.group}, str((event.detail or {}).get("member_id", "")) or event.client)
            case EventKind.FAULT if (event.detail or {}).get("fault") == BROKER_CRASH:
                self._left({group for group, _, _ in self._given})

    def _left(self, groups: set[str], member: str = "") -> None:
        """A member of `groups` has left, or all have."""
        for (group, _, _), given in self._given.items():
            if group in groups:
                for offset, each in given.items():
                    if member in {"", each.member}:
                        given[offset] = each._replace(left=True)

    def lost(self, queues: Iterable[str]) -> Iterator[Lost]:
        """Runs of them, in the order of offsets; `queues` are no groups."""
        for (group, topic, partition), given in self._given.items():
            if group not in self._commits or group in {*queues}:
                continue
            run: Lost | None = None
            for offset in sorted(offset for offset, each in given.items() if each.lost):
                client = given[offset].client
                if run is not None and (run.offset + run.messages, run.client) == (offset, client):
                    run = run._replace(messages=run.messages + 1)
                    continue
                if run is not None:
                    yield run
                run = Lost(group, topic, partition, offset, 1, client)
            if run is not None:
                yield run
