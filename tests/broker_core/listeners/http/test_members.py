"""Members that poll by HTTP, without the HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from broker_core import Admin, BrokerHost, Producer
from broker_core.clients.membership import ConsumerConfig
from broker_core.listeners.awaiting import awaited
from broker_core.listeners.http.members import Members


def test_what_was_fetched_for_a_client_that_hung_up_does_not_outlast_a_seek(tmp_path: Path):
    async def run(host: BrokerHost) -> list[int]:
        async def wait(reply: Any, cancel: None, timeout_s: float) -> Any:
            return await asyncio.wait_for(awaited(host, reply, cancel), timeout_s)

        async def hung_up(*_asked: Any) -> Any:
            raise ConnectionError

        config = ConsumerConfig(auto_offset_reset="earliest")
        member = Members(host, 1).join("g", ["t"], "", config, "c", 60, lambda _name: True)
        producer.send("t", b"0")
        while not await member.poll(wait, 10, 1_000):
            pass
        with pytest.raises(ConnectionError):
            await member.poll(hung_up, 10, 30_000)
        polling = member._polling
        assert polling is not None
        producer.send("t", b"1")
        assert [each.offset for each in await wait(polling, None, 30)] == [1]
        member.seek("t", 0, 0)
        found: list[int] = []
        while len(found) < 2:
            found += [each.offset for each in await member.poll(wait, 10, 1_000)]
        return found

    with BrokerHost(tmp_path) as host, Producer(host) as producer:
        Admin(host).create_topic("t", partitions=1)
        assert asyncio.run(run(host)) == [0, 1]
