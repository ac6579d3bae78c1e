"""A session over a broker elsewhere: numbered, recorded, and true to what was seen, gaps included."""

from __future__ import annotations

import queue
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import pytest

from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind
from broker_core.observation.observed_session import ObservedSession
from broker_core.observation.peer import Look, PeerFacts
from broker_core.recording.reader import open_session
from broker_core.simulation.actions.alerts import RemoveAlert, SetAlert
from broker_core.simulation.actions.clients import AddConsumer
from broker_core.simulation.actions.groups import ResetOffsets
from broker_core.snapshots import GroupView, MemberView, NodeView, PartitionView, Snapshot, TopicView
from spark_reports.sessions.session import inspect


class MadeUpPeer:
    """Its looks are put into `looks`, errors among them; `looks.join()` waits until all were taken."""

    address = "made-up:1"
    epoch_ms = 1_700_000_000_000
    hosts = ("made-up", "orders")
    facts = PeerFacts("made up", 1.0, 0.0)
    left: Look | None = None

    def __init__(self) -> None:
        self.looks: queue.Queue[Look | BrokerError | None] = queue.Queue()
        self._looked = False

    def open(self) -> Snapshot:
        return state(0, 0)

    def look(self) -> Look | None:
        if self._looked:
            self.looks.task_done()
        found, self._looked = self.looks.get(timeout=60), True
        if isinstance(found, BrokerError):
            raise found
        return found

    def ask(self, request: Any) -> Any:
        raise BrokerError(ErrorCode.CLOSED, "nobody answers")

    def why_not(self, _request: type[Any]) -> str:
        return "It is made up."

    def knows(self, word: str) -> bool:
        return word != "deliveries"

    def close(self) -> None:
        self.looks.put(None)

    def rest(self) -> Look | None:
        return self.left


def state(time_ns: int, published: int, events: int = 0) -> Snapshot:
    topic = TopicView("orders", (PartitionView(0, 0, published, 10 * published),), published, 10 * published, None)
    return Snapshot(time_ns, events, (topic,))


def published(time_ns: int, offset: int, seq: int) -> Event:
    return Event(seq, time_ns, EventKind.PUBLISHED, "orders", 0, offset, 1, 10, published_ns=time_ns)


@pytest.fixture
def peer(monkeypatch: pytest.MonkeyPatch) -> MadeUpPeer:
    monkeypatch.setattr("broker_core.observation.observed_session.AGAIN_S", 0)
    return MadeUpPeer()


def observe(peer: MadeUpPeer, folder: Path | None, *looks: Look | BrokerError) -> tuple[list[Event], ObservedSession]:
    """The events of a session that has seen `looks`, and is closed."""
    events: list[Event] = []
    session = ObservedSession(peer, folder=folder, sinks=[events.append])
    for look in looks:
        peer.looks.put(look)
    peer.looks.join()
    session.close()
    return events, session


def test_what_is_seen_is_a_session_that_opens(peer: MadeUpPeer, tmp_path: Path) -> None:
    looks = [
        Look([published(10, 0, 900), published(20, 1, 901)], state(25, 2)),
        Look([published(2_000_000_000, 2, 902)], state(2_500_000_000, 3)),
    ]
    events, session = observe(peer, tmp_path / "s", *looks)
    assert [event.seq for event in events] == [0, 1, 2]
    assert session.latest == state(2_500_000_000, 3, events=3)
    recorded = open_session(tmp_path / "s")
    assert recorded.problems == []
    assert list(recorded.index.events()) == events
    assert (recorded.metadata.clock, recorded.metadata.scenario) == ("observed", "made-up:1")
    assert not recorded.metadata.knows("deliveries") and recorded.metadata.knows("leases")
    assert session.playback().after_event(1).topics[0].published == 2
    assert session.playback().at(2_500_000_000) == session.latest


def test_what_was_seen_and_not_told_when_it_is_closed_is_recorded(peer: MadeUpPeer, tmp_path: Path) -> None:
    peer.left = Look([published(30, 1, 901)], state(40, 2))
    events, session = observe(peer, tmp_path / "s", Look([published(10, 0, 900)], state(25, 1)))
    assert [event.offset for event in events] == [0, 1]
    assert session.latest.time_ns == 40
    assert list(open_session(tmp_path / "s").index.events()) == events


def test_a_look_that_ends_while_it_is_closed_is_recorded(peer: MadeUpPeer, tmp_path: Path) -> None:
    last = Look([published(30, 1, 901)], state(40, 2))
    peer.close = lambda: peer.looks.put(last)  # type: ignore[method-assign]
    events, _session = observe(peer, tmp_path / "s", Look([published(10, 0, 900)], state(25, 1)))
    assert [event.offset for event in events] == [0, 1]
    assert list(open_session(tmp_path / "s").index.events()) == events


def test_addresses_of_hosts_are_left_out_of_a_recording(peer: MadeUpPeer, tmp_path: Path) -> None:
    cause = "broker 2 at 10.0.0.7:9092 and made-up:1 closed the connection; there is no host named made-up"
    seen = Event(0, 20, EventKind.GAP, cause=cause, detail={"told": ["10.0.0.7:9092", 1]})
    group = GroupView("on 10.0.0.8", "stable", 1, "range", "", ("orders",), (), (), 0)
    events: list[Event] = []
    session = ObservedSession(peer, folder=tmp_path / "s", hides_hosts=True, sinks=[events.append])
    peer.looks.put(Look([seen], msgspec.structs.replace(state(25, 0), groups=(group,)), gap="made-up:1 was away"))
    peer.looks.join()
    session.close()
    assert [event.cause for event in events] == ["made-up:1 was away", cause], "the window shows them"
    recorded = open_session(tmp_path / "s")
    assert recorded.problems == [] and recorded.metadata.scenario == "host-1"
    away, told = recorded.index.events()
    assert away.cause == "host-1 was away"
    assert told.cause == "broker 2 at host-2 and host-1 closed the connection; there is no host named host-3"
    assert told.detail == {"told": ["host-2", 1]}
    there = session.playback().at(25)
    assert [each.name for each in there.topics] == ["orders"], "a topic may be called like a host"
    assert [each.name for each in there.groups] == ["on host-4"]
    left = [path for path in (tmp_path / "s").rglob("*") if path.is_file() and b"10.0.0" in path.read_bytes()]
    assert left == []


def test_after_a_gap_the_state_is_that_of_the_source(peer: MadeUpPeer, tmp_path: Path) -> None:
    looks: list[Look | BrokerError] = [
        Look([published(10, 0, 0)], state(20, 1)),
        BrokerError(ErrorCode.CONNECTION_LOST, "made-up:1"),
        Look([published(90, 7, 7)], state(100, 8), gap="6 events are missing"),
    ]
    events, session = observe(peer, tmp_path / "s", *looks)
    assert [(event.seq, event.kind) for event in events] == [(0, "published"), (1, "gap"), (2, "published")]
    assert events[1].cause == "6 events are missing" and events[1].detail == {"from_ns": 20}
    assert session.playback().at(100) == session.latest == state(100, 8, events=3)
    assert session.playback().at(50).topics[0].published == 1
    told = inspect(str(tmp_path / "s"))
    assert told.metadata.totals is None
    assert told.problems == ("Not everything was observed: gaps are marked among the events and on the time axes.",)


def test_an_alert_is_watched_for_here_and_is_in_the_recording(peer: MadeUpPeer, tmp_path: Path) -> None:
    events: list[Event] = []
    session = ObservedSession(peer, folder=tmp_path / "s", sinks=[events.append])
    assert session.why_not(SetAlert) == "" != session.why_not(AddConsumer)
    with pytest.raises(BrokerError, match="billing"):
        session.perform(SetAlert("behind", 'members("billing") > 0', 1))
    group = GroupView("billing", "stable", 1, "range", "", (), (), (), 0)
    for second in range(6):
        reader = msgspec.structs.replace(group, members=(MemberView("c", "c-1", "", ("orders",), (), 0, 0),))
        there = [reader] if 1 < second < 5 else [group]
        peer.looks.put(Look([], msgspec.structs.replace(state(second * NS_PER_S, 0), groups=tuple(there))))
        peer.looks.join()
        if second == 0:
            done = session.perform(SetAlert("behind", 'members("billing") > 0', 1))
            assert done.inverse == RemoveAlert("behind")
    session.close()
    told = [(event.time_ns // NS_PER_S, event.kind) for event in events]
    assert told == [(0, "user_action"), (3, "alert_raised"), (5, "alert_over")]
    assert [event.seq for event in events] == [0, 1, 2]
    recorded = open_session(tmp_path / "s")
    assert list(recorded.index.events()) == events and recorded.problems == []
    assert session.playback().at(5 * NS_PER_S) == session.latest


OK = PartitionView(0, 0, 0, 0, leader=1, replicas=(1, 2), in_sync=(1, 2))


@pytest.mark.parametrize(
    ("condition", "part", "gone_ns"),
    [
        ("nodes_gone > 0", OK, 5),
        ("leaderless > 0", msgspec.structs.replace(OK, leader=-1), None),
        ("under_replicated > 0", msgspec.structs.replace(OK, in_sync=(1,)), None),
        ("below_min_insync > 0", msgspec.structs.replace(OK, in_sync=()), None),
    ],
)
def test_an_alert_watches_the_brokers_of_a_cluster(
    peer: MadeUpPeer, condition: str, part: PartitionView, gone_ns: int | None
) -> None:
    events: list[Event] = []
    session = ObservedSession(peer, folder=None, sinks=[events.append])
    for second in range(4):
        here, gone = (part, gone_ns) if second == 2 else (OK, None)
        topic = TopicView("orders", (here,), 0, 0, None, min_in_sync=1)
        nodes = (NodeView(1, "a:1"), NodeView(2, "b:1", gone_ns=gone))
        peer.looks.put(Look([], Snapshot(second * NS_PER_S, 0, (topic,), nodes=nodes)))
        peer.looks.join()
        if second == 0:
            session.perform(SetAlert("broken", condition, 0))
    session.close()
    told = [(event.time_ns // NS_PER_S, event.kind) for event in events]
    assert told == [(0, "user_action"), (2, "alert_raised"), (3, "alert_over")]


@pytest.mark.parametrize("fails", [False, True])
def test_consumers_stop_for_a_reset_and_start_again_whether_it_is_done_or_not(
    peer: MadeUpPeer, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    asked: list[str] = []

    def ask(request: Any) -> None:
        asked.append(" ".join((type(request).__name__, getattr(request, "client", ""))).strip())
        if fails and asked[-1] == "ResetOffsets":
            raise BrokerError(ErrorCode.NON_EMPTY_GROUP, "billing")

    monkeypatch.setattr(peer, "ask", ask)
    session = ObservedSession(peer, folder=None)
    members = tuple(MemberView(name, f"{name}-id", "", ("orders",), (), 0, 0) for name in ("a", "b"))
    groups = tuple(GroupView(name, "stable", 1, "range", "", (), members, (), 0) for name in ("billing", "other"))
    peer.looks.put(Look([], msgspec.structs.replace(state(10, 0), groups=groups)))
    peer.looks.join()
    with pytest.raises(BrokerError) if fails else nullcontext():
        session.perform(ResetOffsets(group="billing", form="earliest", restart_members=True))
    assert asked == ["HoldMember a", "HoldMember b", "ResetOffsets", "ReleaseMember b", "ReleaseMember a"]
    asked.clear()
    with pytest.raises(BrokerError) if fails else nullcontext():
        session.perform(ResetOffsets(group="billing", form="earliest"))
    assert asked == ["ResetOffsets"]
    session.close()


def test_a_source_that_is_away_is_asked_again_and_its_age_is_told(peer: MadeUpPeer) -> None:
    session = ObservedSession(peer, folder=None)
    peer.looks.put(BrokerError(ErrorCode.CONNECTION_LOST, "made-up:1"))
    peer.looks.join()
    assert "made-up:1" in session.problem and session.age_s > 0
    peer.looks.put(Look([], state(3_000_000_000, 0)))
    peer.looks.join()
    assert not session.problem
    session.close()
    session.close()
    assert session.latest == session.playback().at(3_000_000_000) == state(3_000_000_000, 0)
