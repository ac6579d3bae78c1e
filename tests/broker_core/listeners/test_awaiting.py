"""Replies of the broker, awaited by asyncio."""

import asyncio
import threading

import pytest

from broker_core.engine.broker_host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.awaiting import awaited
from broker_core.replies import Reply


@pytest.fixture
def host():
    with BrokerHost() as found:
        yield found


def test_a_reply_that_is_there_is_given_at_once(host):
    assert asyncio.run(awaited(host, Reply.of(7))) == 7


def test_a_reply_that_another_thread_settles_is_given_then(host):
    async def run():
        reply: Reply[int] = Reply()
        timer = threading.Timer(0.05, lambda: host.call(lambda _now: reply.resolve(7)))
        timer.start()
        try:
            return await asyncio.wait_for(awaited(host, reply), 30)
        finally:
            timer.join()

    assert asyncio.run(run()) == 7


def test_an_error_is_raised(host):
    async def run():
        reply: Reply[int] = Reply()
        timer = threading.Timer(
            0.05, lambda: host.call(lambda _now: reply.fail(BrokerError(ErrorCode.THROTTLED, "later")))
        )
        timer.start()
        try:
            await asyncio.wait_for(awaited(host, reply), 30)
        finally:
            timer.join()

    with pytest.raises(BrokerError, match="later"):
        asyncio.run(run())


def test_who_is_cancelled_tells_the_broker(host):
    cancelled: list = []

    async def run():
        reply: Reply[int] = Reply()
        task = asyncio.ensure_future(awaited(host, reply, cancelled.append))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        reply.resolve(1)  # to nobody
        return reply

    reply = asyncio.run(run())
    assert cancelled == [reply]


def test_a_reply_that_comes_when_the_loop_is_gone_harms_nobody(host):
    reply: Reply[int] = Reply()

    async def run():
        task = asyncio.ensure_future(awaited(host, reply))
        await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(run())
    host.call(lambda _now: reply.resolve(1))
    assert host.call(lambda now_ns: now_ns) > 0
