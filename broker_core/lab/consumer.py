"""A consumer of a scenario: works in a group, or waits on the bench until somebody puts it into one."""

from __future__ import annotations

from broker_core.broker import Broker
from broker_core.clients.consumer import Consumer, ConsumerConfig
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError
from broker_core.lab.actor import Actor
from broker_core.lab.durations import Duration


class ConsumerActor(Actor):
    """Polls, takes its time for each message, commits after each batch."""

    role = "consumer"

    def __init__(
        self, name: str, broker: Broker, loop: Loop, seed: int, processing: Duration, max_poll_messages: int
    ) -> None:
        super().__init__(name, broker, loop, seed)
        self._processing = processing
        self._max_poll_messages = max_poll_messages
        self._client: Consumer | None = None
        self.last_group = ""
        self.state = "idle"

    @property
    def target(self) -> str:
        return self._client.group if self._client else ""

    @property
    def topics(self) -> tuple[str, ...]:
        return self._client.topics if self._client else ()

    def join(self, group: str, topics: tuple[str, ...], config: ConsumerConfig) -> None:
        """Become a member of `group`, leaving the one before."""
        self.leave()
        self.last_group = group
        self._client = Consumer(self.broker, self.loop, self.name, group, topics, config)
        self.enter("joining")
        self.start()

    def leave(self) -> None:
        """Leave the group for the bench. The message at hand is dropped uncommitted, so another member gets it."""
        self.stop()
        if self._client is not None:
            self._client.close(f"{self.name} left")
            self._client = None
        self.enter("idle")

    async def run(self) -> None:
        client = self._client
        while client is not None:
            if not client.joined:
                self.enter("joining")
            messages = await client.poll(max_messages=self._max_poll_messages)
            for message in messages:
                self.enter("processing")
                await self.loop.wait_ns(self._processing.draw_ns(self.numbers))
                client.done(message)
                self.count()
            self.enter("waiting")
            try:
                client.commit()
            except BrokerError:
                # The group has moved on: the next poll rejoins, and who owns the partition now reads these messages again.
                self.failed += len(messages)
