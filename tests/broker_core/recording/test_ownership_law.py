"""Gaps of any stream of events are those of FORMAT.md, as a recount with code of its own finds them."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.events import Event, EventKind, EventStream
from broker_core.recording.ownership import Ownership
from tests.figures.recount.gaps import gaps_of
from tests.long_form import examples

CLIENTS = ("a", "b", "c")
PARTITIONS = range(4)
_NUMBERS = st.integers(1, 31)
_KINDS = ("join", "leave", "crash", "pause", "pause is over", *["revoke"] * 3, *["assign"] * 6, *["deliver"] * 10)
STEPS = st.lists(st.tuples(st.sampled_from(_KINDS), st.sampled_from(CLIENTS), _NUMBERS), min_size=30, max_size=80)


class Group:
    """A group as a coordinator tells of it: an owner is a member, and a partition has one at most."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.ownership = Ownership(keeps_all=True)
        self.started: dict[int, None] = {}
        self._stream = EventStream()
        self._stream.attach(self.ownership)
        self._stream.attach(self.events.append)
        self.now_ns = 10
        self._joins = 0
        self._rebalancing = False
        self._members: dict[str, str] = {}  # ids by client
        self._ids: dict[str, str] = {}  # the same, of who has left, too
        self._owned: dict[str, set[int]] = {client: set() for client in CLIENTS}

    def step(self, kind: str, client: str, number: int) -> None:
        self.now_ns += 1 + number % 2
        match kind:
            case "join":
                self._join(client, number)
            case "leave":
                self._leave(client, number)
            case "revoke":
                self._revoke(client, {one for one in self._owned[client] if number >> one & 1})
            case "assign":
                self._assign(client, number)
            case "deliver":
                self._deliver(client, number)
            case _:
                told = {"ended": "pause"} if kind == "pause is over" else {"fault": kind}
                self._emit(EventKind.FAULT, client, **told)

    def _join(self, client: str, number: int) -> None:
        """A newcomer, or a static member that is back under another id."""
        self._joins += 1
        before = self._members.get(client, "")
        self._members[client] = self._ids[client] = f"{client}-{self._joins}"
        heard: dict[str, object] = {"heard_ns": self.now_ns - number} if before else {}
        ids = {"member_id": self._members[client], "replaces": before}
        self._emit(EventKind.MEMBER_JOINED, client, **ids, topics=["t"], **heard)

    def _leave(self, client: str, number: int) -> None:
        if client in self._members:
            heard: dict[str, object] = {"heard_ns": self.now_ns - number} if number % 2 else {}
            self._emit(EventKind.MEMBER_LEFT, client, member_id=self._members[client], **heard)
            self._revoke(client, set(self._owned[client]))
            del self._members[client]

    def _begin(self) -> None:
        if not self._rebalancing:
            self.now_ns += 1
            self.started[self.now_ns] = None
            self._emit(EventKind.REBALANCE_STARTED)
        self._rebalancing = True

    def _revoke(self, client: str, gone: set[int]) -> None:
        if gone:
            self._begin()
            self._owned[client] -= gone
            places = [["t", one] for one in sorted(gone)]
            self._emit(EventKind.PARTITIONS_REVOKED, client, member_id=self._members[client], partitions=places)

    def _assign(self, client: str, number: int) -> None:
        taken = set().union(*self._owned.values())
        new = {one for one in PARTITIONS if number >> one & 1} - taken
        if new and client in self._members:
            self._begin()
            self._rebalancing = False  # an assignment is the last step
            self._owned[client] |= new
            places = [["t", one] for one in sorted(new)]
            self._emit(EventKind.PARTITIONS_ASSIGNED, client, member_id=self._members[client], partitions=places)

    def _deliver(self, client: str, number: int) -> None:
        """To anybody: who has not been told yet is still given what it has lost."""
        published_ns = self.now_ns - number // 4
        place = {"topic": "t", "partition": number % 4, "offset": 0, "count": 1}
        who = {"client": client, "member": self._ids[client], "group": "g"}
        self._stream.emit(self.now_ns, EventKind.DELIVERED, published_ns=published_ns, **who, **place)

    def _emit(self, kind: EventKind, client: str = "", **detail: object) -> None:
        group = "" if kind is EventKind.FAULT else "g"
        self._stream.emit(self.now_ns, kind, client=client, group=group, detail=detail)

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "seq": event.seq,
                "kind": event.kind.value,
                "time_ns": event.time_ns,
                "client": event.client,
                "member": event.member,
                "topic": event.topic,
                "partition": event.partition,
                "published_ns": event.published_ns,
                "detail": event.detail or {},
            }
            for event in self.events
        ]


@settings(deadline=None, max_examples=examples(200))
@given(steps=STEPS)
def test_gaps_are_what_the_format_says(steps: list[tuple[str, str, int]]) -> None:
    group = Group()
    for client in CLIENTS:
        group.step("join", client, 0)
    for step in steps:
        group.step(*step)
    reduced = sorted(
        (gap.revoked_ns, gap.place[1:], gap.cause, gap.start_ns, gap.assigned_ns, gap.end_ns)
        for _rebalance, gap in group.ownership.all_gaps()
    )
    recounted = sorted(
        (gap.revoked_ns, gap.place, gap.cause, gap.start_ns, gap.assigned_ns, gap.read_ns)
        for gap in gaps_of(group.rows(), "g")
    )
    assert reduced == recounted
    for gap in gaps_of(group.rows(), "g"):
        told = group.ownership.spans(("g", *gap.place), group.now_ns)
        span = next(one for one in reversed(told) if one.end_ns == gap.revoked_ns)
        over = gap.assigned_ns is not None
        assert span.last_late_read_ns == (max(gap.read_on_ns, default=None) if over else None)
        assert span.reads_on == (bool(gap.read_on_ns) and not over)
