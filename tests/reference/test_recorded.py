"""What Kafka's clients asked a broker of Apache Kafka is asked of ours, and what that answered is compared.

Without Java: `make reference-record` wrote it down. Differences that are meant are in recorded/meant.yaml.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from tests.reference.conversations import FOLDER, Conversation, stored
from tests.reference.replaying import judge, replayed

MOST_BYTES = 2_000_000
RECORDED_NS = int(datetime(2026, 11, 28, 9, 10, tzinfo=UTC).timestamp()) * 1_000_000_000


@pytest.mark.promise("43")
@pytest.mark.parametrize("conversation", stored(), ids=lambda each: each.name)
def test_promise_43_what_kafka_answers_we_answer(conversation: Conversation, monkeypatch: pytest.MonkeyPatch):
    # Timestamps were too far in the future, or too old, when they were recorded.
    behind_ns = time.time_ns() - RECORDED_NS
    time_ns, time_s = time.time_ns, time.time
    monkeypatch.setattr(time, "time_ns", lambda: time_ns() - behind_ns)
    monkeypatch.setattr(time, "time", lambda: time_s() - behind_ns / 1e9)
    left = judge().unmeant(replayed(conversation))
    assert left == [], "\n" + "\n".join(map(str, left))


def test_recordings_are_small_and_of_both_clients():
    assert sum(path.stat().st_size for path in FOLDER.glob("*.xz")) < MOST_BYTES
    assert {each.client.split()[0] for each in stored()} == {"Java", "librdkafka"}
