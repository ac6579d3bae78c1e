"""The state at any moment of a recorded session, while it runs, after its end, and when something is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

import resources
from broker_core.clock import NS_PER_S
from broker_core.events import Event
from broker_core.recording import schema
from broker_core.recording.keyframes import Keyframes, KeyframeWriter
from broker_core.recording.live_session import LiveSession
from broker_core.recording.playback import FolderPlayback, MemoryPlayback
from broker_core.simulation import load_scenario, parse_scenario
from broker_core.snapshots import Snapshot
from tests.broker_core.recording.test_fold import differences, told

pytestmark = pytest.mark.usefixtures("keyframe_each_second")

SECONDS = 40


def live(folder: Path | None, name: str = "first-session") -> LiveSession:
    scenario, text = load_scenario(resources.path("scenarios", f"{name}.yaml"))
    return LiveSession(scenario, text, folder=folder, find_file=lambda sample: resources.path("sample_data", sample))


def run(session: LiveSession, to_ns: int) -> None:
    """As a driver does: some steps, a look, some steps."""
    while session.simulation.loop.run_next(to_ns):
        session.take_due_keyframe()
    session.simulation.loop.advance_to(to_ns)


def looked_at(session: LiveSession) -> Snapshot:
    return session.simulation.snapshot(max_leases=500, max_dead_letters=200)


def test_any_moment_of_a_running_session_is_as_it_was(tmp_path: Path) -> None:
    session = live(tmp_path / "s")
    playback = session.playback()
    seen: dict[int, Snapshot] = {}
    for tenth in range(1, SECONDS * 2):
        run(session, tenth * NS_PER_S // 2 + 7)
        seen[session.simulation.loop.now_ns] = looked_at(session)
        if tenth % 10 == 3:
            # Back, on, and to the very present, while the session goes on.
            for time_ns in (*list(seen)[tenth // 2 :: 4], *list(seen)[::9], session.simulation.loop.now_ns):
                assert differences(told(playback.at(time_ns)), told(seen[time_ns])) == []
    session.close(finished=False)
    sealed = FolderPlayback(tmp_path / "s")
    # The last moment has the end of the session in it as well.
    for time_ns, snapshot in list(seen.items())[-2::-7]:
        assert differences(told(sealed.at(time_ns)), told(snapshot)) == []
        assert sealed.at(time_ns).time_ns == time_ns


def test_any_moment_of_transactions_is_as_it_was(tmp_path: Path) -> None:
    session = live(tmp_path / "s", "transactions")
    seen: dict[int, Snapshot] = {}
    for tenth in range(1, SECONDS * 2):
        run(session, tenth * NS_PER_S // 2 + 7)
        seen[session.simulation.loop.now_ns] = looked_at(session)
    session.close(finished=False)
    sealed = FolderPlayback(tmp_path / "s")
    for time_ns, snapshot in list(seen.items())[:-1]:
        assert differences(told(sealed.at(time_ns)), told(snapshot)) == []


def test_dead_letters_of_the_past_have_their_payloads_and_attempts(tmp_path: Path) -> None:
    session = live(tmp_path / "s")
    run(session, SECONDS * NS_PER_S)
    now = looked_at(session)
    run(session, (SECONDS + 2) * NS_PER_S)
    playback = session.playback()
    (letters,) = [queue.dead_letters for queue in playback.at(now.time_ns).queues if queue.name == "builds"]
    assert letters == next(queue.dead_letters for queue in now.queues if queue.name == "builds")
    assert letters and all(letter.value is not None and letter.attempts for letter in letters)
    session.close(finished=False)


def test_playback_steps_from_event_to_event_both_ways(tmp_path: Path) -> None:
    session = live(tmp_path / "s")
    events: list[Event] = []
    session.simulation.events.attach(events.append)
    run(session, 12 * NS_PER_S)
    playback = session.playback()
    for seq in (500, 501, 502, 501, 500, 20, 700):
        snapshot = playback.after_event(seq)
        assert snapshot.events == seq + 1
        (event,) = playback.events(seq, seq)
        assert event == events[seq - events[0].seq]
        assert snapshot.time_ns == event.time_ns
    session.close(finished=False)


def test_an_unrecorded_session_keeps_moments_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker_core.recording.playback.MOST_FRAMES", 20)
    session = live(None)
    run(session, SECONDS * NS_PER_S)
    playback = session.playback()
    assert isinstance(playback, MemoryPlayback) and not playback.exact
    assert len(playback._frames) <= 20
    for second in (3, 17, SECONDS):
        shown = playback.at(second * NS_PER_S)
        assert (second - 5) * NS_PER_S < shown.time_ns <= second * NS_PER_S
        assert shown.totals.published
    assert playback.at(0).totals.published == 0
    session.close(finished=False)


def test_a_torn_or_damaged_keyframe_costs_time_not_truth(tmp_path: Path) -> None:
    session = live(tmp_path / "s")
    run(session, 10 * NS_PER_S)
    expected = told(looked_at(session))
    run(session, 10 * NS_PER_S + 1)
    session.close(finished=False)
    path = tmp_path / "s" / schema.KEYFRAMES / schema.FRAMES_FILE
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    torn = Keyframes(tmp_path / "s")
    assert len(list(torn.spread(100))) >= 9 and not torn.problem
    assert differences(told(FolderPlayback(tmp_path / "s").at(10 * NS_PER_S)), expected) == []
    damaged = bytearray(whole)
    damaged[-60] ^= 0xFF
    path.write_bytes(damaged)
    playback = FolderPlayback(tmp_path / "s")
    assert differences(told(playback.at(10 * NS_PER_S)), expected) == []
    assert "cannot be read" in playback.keyframes.problem
    path.write_bytes(b"rubbish" * 100)
    assert "damaged from byte 0" in FolderPlayback(tmp_path / "s").keyframes.problem


def test_a_payload_is_written_once(tmp_path: Path) -> None:
    session = live(tmp_path / "s")
    run(session, SECONDS * NS_PER_S)
    snapshot = looked_at(session)
    session.close(finished=False)
    (tmp_path / "k").mkdir()
    writer = KeyframeWriter(tmp_path / "k")
    sizes = []
    for _ in range(3):
        writer.write(snapshot)
        sizes.append((tmp_path / "k" / schema.KEYFRAMES / schema.LETTERS_FILE).stat().st_size)
    writer.close()
    assert sizes[0] > 0 and sizes == [sizes[0]] * 3


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (1, [0]),
        (2, [0, 9]),
        (3, [0, 4, 9]),
        (9, [0, 1, 2, 3, 4, 5, 6, 7, 9]),
        (10, list(range(10))),
        (99, list(range(10))),
    ],
)
def test_keyframes_are_spread_from_the_first_to_the_last(tmp_path: Path, most: int, expected: list[int]) -> None:
    writer = KeyframeWriter(tmp_path)
    assert list(Keyframes(tmp_path).spread(most)) == []
    for second in range(10):
        writer.write(Snapshot(second * NS_PER_S, second))
    writer.close()
    assert [snapshot.events for snapshot in Keyframes(tmp_path).spread(most)] == expected


@pytest.mark.parametrize("policy", ["block", "reject", "priority_evict"])
def test_what_a_subscription_holds_up_is_the_same_in_the_past(tmp_path: Path, policy: str) -> None:
    text = f"""\
title: Full
about: A subscriber that producers wait for.
until_s: 30
topics: [{{name: orders, partitions: 2, flow: {{rate_per_s: 15}}}}]
producers:
  - {{name: shop, to: orders, arrivals: {{kind: rate, per_s: 20, keys: 9, priorities: [1, 1]}}}}
  - {{name: other, to: orders, arrivals: {{kind: rate, per_s: 3}}}}
subscribers:
  - {{name: mailer, topics: [orders], backlog: 5, policy: {policy}, config: {{priorities: 2}},
     processing: {{mean_ms: 150}}}}
"""
    session = LiveSession(parse_scenario(text), text, folder=tmp_path / "s", find_file=Path)
    playback = session.playback()
    seen: dict[int, Snapshot] = {}
    for half in range(1, 40):
        run(session, half * NS_PER_S // 2 + 7)
        seen[session.simulation.loop.now_ns] = looked_at(session)
    for time_ns, snapshot in list(seen.items())[::3]:
        assert differences(told(playback.at(time_ns)), told(snapshot)) == []
    gates = [queue.gate for queue in list(seen.values())[-1].queues if queue.gate is not None]
    assert any(gate.blocked_ns_total or gate.rejected or gate.evicted for gate in gates)
    session.close(finished=False)
