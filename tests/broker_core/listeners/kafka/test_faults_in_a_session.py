"""Faults that a scenario schedules: a real client meets them, and the session's events tell of it."""

from __future__ import annotations

import typing
from typing import Any

import pytest
from confluent_kafka import KafkaError, Producer

from broker_core.events import Event, EventKind
from broker_core.faults.client_faults import Effect
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.admin import Admin
from tests.broker_core.engine.test_engine_host import SCENARIO, served

PATIENCE_S = 30
# By effect: what else the fault says, and how often a producer that is not idempotent has stored its message.
FAULTS: dict[Effect, tuple[str, int]] = {
    "delay": ("delay_ms: 200", 1),
    "error": ("error: INVALID_RECORD", 0),
    "drop": ("", 1),
    "lose_reply": ("", 2),
    "cut_reply": ("", 2),
    "throttle": ("delay_ms: 200", 1),
    "bandwidth": ("bytes_per_s: 1000", 1),
    "slice": ("slice_bytes: 20, delay_ms: 10", 1),
    "hold": ("for_s: 0.5", 1),
    "leader_change": ("", 1),
    "coordinator_change": ("", 1),
}


def scheduled(effect: Effect, more: str) -> str:
    api = "InitProducerId" if effect == "coordinator_change" else "Produce"
    times = "" if effect == "hold" else "times: 1"
    settings = ", ".join(part for part in (f"effect: {effect}", f"api: {api}", times, more) if part)
    return f"{SCENARIO}schedule:\n  - {{at_s: 0, do: {{action: break_requests, fault: {{{settings}}}}}}}\n"


@pytest.mark.parametrize("effect", typing.get_args(Effect))
def test_a_fault_of_the_schedule_is_met_and_recorded(effect: Effect):
    more, copies = FAULTS[effect]
    seen: list[Event] = []
    with served(scenario=scheduled(effect, more), seen=seen) as host, KafkaListener(host, port=0) as listener:
        settings: dict[str, Any] = {"bootstrap.servers": listener.bootstrap_servers, "log_level": 0, "acks": "all"}
        producer = Producer(
            {**settings, "enable.idempotence": effect == "coordinator_change", "retry.backoff.ms": 10, "linger.ms": 0}
        )
        told: list[KafkaError | None] = []
        producer.produce("orders", b"one", partition=0, on_delivery=lambda error, _message: told.append(error))
        assert producer.flush(PATIENCE_S) == 0
        stored = list(Admin(host).messages("orders"))
        faults = [event for event in seen if event.kind is EventKind.FAULT]
    assert [error is None for error in told] == [effect != "error"]
    assert [message.value for message in stored] == [b"one"] * copies
    begun, ended = ((event.detail or {}) for event in faults)
    assert begun["client_fault"]["effect"] == effect
    assert ended["ended"] == begun["fault"]
