"""How long leases, delays and lives may be: what no restart could keep is refused by every listener in one sentence."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable

import pytest

from broker_core.clients.admin import Admin
from broker_core.clients.producer import Producer
from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.engine.broker_host import BrokerHost
from broker_core.errors import BrokerError, ConfigError, ErrorCode, ScenarioError
from broker_core.flow.config import FlowConfig
from broker_core.limits import MAX_TTL_MS, MAX_WAIT_MS
from broker_core.log.config import LogConfig
from broker_core.queues.config import QueueConfig, RetryPolicy
from broker_core.simulation.actions.queues import ExtendLease
from broker_core.simulation.actions.topics import Produce
from broker_core.simulation.scenario import Scenario, parse_scenario
from broker_core.simulation.simulation import Simulation

SETTINGS: dict[str, tuple[Callable[[float], object], int]] = {
    "lease_ms": (lambda ms: QueueConfig(lease_ms=ms), MAX_WAIT_MS),
    "ageing_ms": (lambda ms: QueueConfig(ageing_ms=ms), MAX_WAIT_MS),
    "base_ms": (lambda ms: RetryPolicy("fixed", base_ms=ms), MAX_WAIT_MS),
    "max_ms": (lambda ms: RetryPolicy("fixed", max_ms=ms), MAX_WAIT_MS),
    "block_timeout_ms": (lambda ms: FlowConfig(max_messages=1, block_timeout_ms=ms), MAX_WAIT_MS),
    "message_ttl_ms": (lambda ms: LogConfig(message_ttl_ms=int(ms)), MAX_TTL_MS),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_has_a_most(name: str):
    made, most = SETTINGS[name]
    made(most)
    for too_long in (most + 1, 1e18):
        with pytest.raises(ConfigError, match=rf"{name} .*{most}") as refused:
            made(too_long)
        assert refused.value.code is ErrorCode.INVALID_CONFIG


def test_neither_a_lease_nor_a_life_is_made_longer_by_a_client():
    with BrokerHost() as host:
        Admin(host).create_queue("jobs")
        with Producer(host) as producer, QueueConsumer(host, "jobs") as worker:
            producer.publish("jobs", b"v", ttl_ms=MAX_TTL_MS)
            for ttl_ms in (-1, MAX_TTL_MS + 1, 10**30):
                with pytest.raises(BrokerError, match="a century") as refused:
                    producer.publish("jobs", b"v", ttl_ms=ttl_ms)
                assert refused.value.code is ErrorCode.INVALID_RECORD
            delivery = worker.take()
            assert delivery is not None
            delivery.extend(MAX_WAIT_MS / 1_000)
            for lease_s in (0, -1, MAX_WAIT_MS / 1_000 + 1, 1e15, math.inf, math.nan):
                with pytest.raises(BrokerError, match="a week") as refused:
                    delivery.extend(lease_s)
                assert refused.value.code is ErrorCode.INVALID_REQUEST
            delivery.ack()


@pytest.mark.parametrize(
    ("part", "about"),
    [
        ("queues: [{name: jobs, config: {lease_ms: 1.0e+18}}]", "a week"),
        ("queues: [{name: jobs, config: {retry: {kind: fixed, max_ms: 1.0e+18}}}]", "a week"),
        ("topics: [{name: t, log: {message_ttl_ms: 9000000000000}}]", "message_ttl_ms"),
        (
            "topics: [{name: t}]\n"
            "producers: [{name: p, to: t, arrivals: {kind: rate, per_s: 1, ttl_ms: 9000000000000}}]",
            "a century",
        ),
    ],
)
def test_a_scenario_is_told_its_line(part: str, about: str):
    with pytest.raises(ScenarioError, match=about):
        parse_scenario(f"title: T\nabout: x\nuntil_s: 9\n{part}\n")


def test_an_action_has_the_same_most():
    simulation = Simulation(Scenario(title="", about="", until_s=1))
    with contextlib.closing(simulation):
        with pytest.raises(BrokerError, match="a week"):
            simulation.perform(ExtendLease(queue="jobs", partition=0, offset=0, holder="w", attempt=1, for_s=1e9))
        with pytest.raises(BrokerError, match="a century"):
            simulation.perform(Produce(to="t", value="v", ttl_ms=MAX_TTL_MS + 1))
