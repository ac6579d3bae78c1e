from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.engine.host import Host
from broker_core.errors import BrokerError
from broker_core.replies import Reply
from broker_core.testing.blocking_thread import BlockingThread
from broker_core.testing.disturbed_actor import DisturbedActor
from broker_core.testing.schedule import Disturbance

T = TypeVar("T")

RESTART_S = 1.0  # of a function that a broker's error has ended, as by a supervisor


class VirtualWorker(QueueConsumer):
    """The `QueueConsumer` passed to the function of a `FunctionWorker`. Every call takes some virtual time."""

    _host: _VirtualHost

    def sleep(self, seconds: float) -> None:
        """Let `seconds` of virtual time pass, as work on a message takes them; no call of the broker."""
        self._host.thread.ask(lambda: self._host.actor.pass_time(seconds))


class FunctionWorker(DisturbedActor):
    """A worker of `queue` whose work is `function(worker)`; it begins anew after a crash."""

    def __init__(
        self,
        name: str,
        function: Callable[[VirtualWorker], object],
        queue: str,
        disturbances: Sequence[Disturbance],
        disturb: Callable[[Disturbance], object],
    ) -> None:
        super().__init__(name, disturbances=disturbances, disturb=disturb)
        self.queue = queue
        self._function = function

    @property
    def target(self) -> str:
        return self.queue

    async def run(self) -> None:
        while True:
            host = _VirtualHost(self)
            self.enter("running")
            try:
                await host.thread.run()
            except BrokerError:
                self.failed += 1
                self.let_go("its function has failed")
                await self.sleep(RESTART_S)
            else:
                return

    def live(self, host: _VirtualHost) -> None:
        self._function(VirtualWorker(host, self.queue, client_id=self.name))

    def retire(self) -> None:
        super().retire()
        self.let_go(f"{self.name} left")

    def let_go(self, why: str) -> None:
        self.broker.queues.queue(self.queue).release_holder(self.loop.now_ns, self.name, why)


class _VirtualHost(Host):
    """The part of a host that a `QueueConsumer` uses, in the thread of a function."""

    def __init__(self, actor: FunctionWorker) -> None:
        self.actor = actor
        self._closing = False
        self._clients = {}  # a crash closes none of them
        self.broker, self.lock = actor.broker, threading.Lock()
        self.thread = BlockingThread(partial(actor.live, self), actor.name)

    def call(self, action: Callable[[int], T]) -> T:
        async def act() -> T:
            return action(self.actor.loop.now_ns)

        return self.thread.ask(lambda: self.actor.call(act))

    def wait(self, reply: Reply[T], timeout_s: float | None = None) -> T:
        async def settled() -> T:
            self.actor.enter("waiting")
            try:
                return await reply
            finally:
                if not reply.done:  # it is stopped: its connection is closed
                    with contextlib.suppress(BrokerError):
                        self.broker.queues.cancel_take(self.actor.queue, reply)  # type: ignore[arg-type]
                self.actor.enter("running")

        return self.thread.ask(settled)
