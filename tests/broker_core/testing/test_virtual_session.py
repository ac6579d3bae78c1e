"""A scenario in virtual time as a test: actions where they were recorded, and what came of them."""

import msgspec
import pytest

from broker_core.errors import BrokerError, ScenarioError
from broker_core.recording.reader import open_session
from broker_core.testing import VirtualSession

SCENARIO = """
title: Orders
about: Two readers.
until_s: 60
topics: [{name: orders, partitions: 2}]
groups: [{name: billing, topics: [orders], session_timeout_ms: 3000}]
producers: [{name: shop, to: orders, arrivals: {kind: rate, per_s: 10}}]
consumers: [{name: reader, count: 2, group: billing, processing: {mean_ms: 10}}]
"""


def crashed(*, for_s: float = 5.0, pieces: int = 1) -> tuple[str, int]:
    """The digest and the messages published of a run with a crash at 10 s; in several pieces it is the same."""
    with VirtualSession(SCENARIO, seed=3) as session:
        session.perform("crash", at_s=10, client="reader-1", for_s=for_s)
        session.perform("move_consumer", at_s=20, consumer="reader-2", group="")
        for piece in range(1, pieces + 1):
            session.run(until_s=30 * piece / pieces)
        assert session.now_s == 30
        assert session.totals().rebalances >= 3
        return session.digest, session.totals().published


def test_the_same_scenario_seed_and_actions_are_the_same_session():
    assert crashed() == crashed(pieces=6)
    assert crashed()[0] != crashed(for_s=6.0)[0]


def test_its_end_is_told_and_can_be_saved(tmp_path):
    with VirtualSession(SCENARIO) as session:
        session.run(until_s=5)
        assert "rebalance_completed group billing" in session.timeline()
        assert "At the end: group billing " in session.timeline()
        saved = open_session(session.save(tmp_path / "session"))
    assert saved.problems == []
    assert saved.event_count == session.event_count


def test_what_cannot_be_done_is_an_error():
    with pytest.raises(ScenarioError):
        VirtualSession("title: Nothing")
    with VirtualSession(SCENARIO) as session:
        with pytest.raises(msgspec.ValidationError):
            session.perform("explode", at_s=1)
        session.perform("crash", at_s=1, client="nobody", for_s=1)
        with pytest.raises(BrokerError, match="nobody"):
            session.run(until_s=2)


def test_a_file_that_is_not_there_is_named(tmp_path):
    reads = SCENARIO.replace("{kind: rate, per_s: 10}", "{kind: file, file: rows.jsonl}")
    with pytest.raises(ScenarioError, match=r"rows\.jsonl"):
        VirtualSession(reads, folder=tmp_path)
    (tmp_path / "rows.jsonl").write_text('{"time": 1}\n{"time": 2}\n')
    with VirtualSession(reads, folder=tmp_path) as session:
        session.run(until_s=10)
        assert session.totals().published == 2
