"""A consumer of a scenario: works in a group, or waits on the bench until somebody puts it into one."""

from __future__ import annotations

from broker_core.clients.consumer import Consumer, ConsumerConfig
from broker_core.errors import BrokerError
from broker_core.lab.actor import Actor
from broker_core.lab.specs import ConsumerSpec, GroupSpec


class ConsumerActor(Actor):
    """Polls, takes its time for each message, and commits after each batch, or before it where its scenario says so."""

    role = "consumer"

    def __init__(self, name: str, spec: ConsumerSpec) -> None:
        super().__init__(name)
        self._spec = spec
        self._group: GroupSpec | None = None
        self._client: Consumer | None = None
        self._muted = False
        self.last_group = ""
        self.state = "idle"

    @property
    def target(self) -> str:
        return self._group.name if self._group else ""

    @property
    def topics(self) -> tuple[str, ...]:
        return self._group.topics if self._group else ()

    def join(self, group: GroupSpec) -> None:
        """Become a member of `group`, leaving the one before."""
        self.leave()
        self.last_group = group.name
        self._group = group
        config = ConsumerConfig(
            assignor=group.assignor,
            session_timeout_ms=group.session_timeout_ms,
            heartbeat_interval_ms=group.heartbeat_interval_ms,
            rebalance_timeout_ms=group.rebalance_timeout_ms,
            instance_id=self.name if self._spec.static else "",
        )
        self._client = Consumer(self.broker, self.loop, self.name, group.name, group.topics, config)
        self._client.muted = self._muted
        self.enter("joining")
        self.start()

    def leave(self) -> None:
        """Leave the group for the bench. The message at hand is dropped uncommitted, so another member gets it."""
        self.stop()
        if self._client is not None:
            self._client.close(f"{self.name} left")
            self._client = None
        self._group = None
        self.enter("idle")

    def crash(self) -> None:
        super().crash()
        if self._client is not None:
            self._client.abandon()
            self._client = None

    def restart(self) -> None:
        if self._group is None:
            self.enter("idle")
        else:
            self.join(self._group)

    def mute(self, muted: bool) -> None:
        """From now on its heartbeats get lost, or arrive again; a pause takes them along."""
        self._muted = muted
        if self._client is not None:
            self._client.muted = muted or self.paused

    def pause(self) -> None:
        super().pause()
        self.mute(self._muted)

    def resume(self) -> None:
        super().resume()
        self.mute(self._muted)

    async def run(self) -> None:
        client = self._client
        while client is not None:
            if not client.joined:
                self.enter("joining")
            messages = await client.poll(max_messages=self._spec.max_poll_messages)
            if messages and self._spec.commit == "before":
                for message in messages:
                    client.done(message)
                if not self._commit(client):
                    continue
            for message in messages:
                await self.work(self._spec.processing)
                client.done(message)
                self.count()
            self.enter("waiting")
            if messages and not self._commit(client):
                self.failed += len(messages)

    def _commit(self, client: Consumer) -> bool:
        try:
            client.commit()
        except BrokerError:
            # The group has moved on: the next poll rejoins, and who owns the partition now reads these messages again.
            return False
        return True
