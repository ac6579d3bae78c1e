"""Who listens to a host's events may fail; that is its own trouble."""

from __future__ import annotations

import pytest

from broker_core import Admin, BrokerHost, Event, Producer


def test_a_listener_that_fails_costs_nobody_anything(caplog: pytest.LogCaptureFixture):
    with BrokerHost() as host:
        seen: list[Event] = []

        def fails(_event: Event) -> None:
            raise ValueError("a fault of the listener")

        host.events.attach(fails)
        host.events.attach(seen.append)
        Admin(host).create_topic("commits")
        with Producer(host) as producer:
            assert producer.publish("commits", b"a") == (0, 0)
        assert Admin(host).describe_topic("commits").published == 1
        assert len(seen) >= 2
    assert "a fault of the listener" in caplog.text
