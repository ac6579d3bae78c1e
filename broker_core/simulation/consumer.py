from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from broker_core.clients.consumer import Consumer
from broker_core.clients.effects import SqliteEffects
from broker_core.errors import BrokerError
from broker_core.messages import StoredMessage, TopicPartition
from broker_core.simulation.actor import Actor
from broker_core.simulation.specs import ConsumerSpec, GroupSpec

# Longer than a session lasts: its group goes on without it.
HANG_S = 10.0


class ConsumerActor(Actor):
    """Polls, processes each message for some time, and commits as its scenario demands.

    With `with_effect`, what it has done and the offset behind it go into the database of its group in one transaction,
    and it goes on from there after any accident: `processed` counts effects, none of them made twice.
    """

    role = "consumer"

    def __init__(self, name: str, spec: ConsumerSpec, effects_of: Callable[[str], SqliteEffects]) -> None:
        """`effects_of(group)` is where that group keeps its effects; it survives all its members."""
        super().__init__(name)
        self.spec = spec
        self.usual_processing = spec.processing
        self._effects_of = effects_of
        self._effects: SqliteEffects | None = None
        self._group: GroupSpec | None = None
        self._client: Consumer | None = None
        self._muted = False
        self._left = ""
        self.last_group = ""
        self.state = "idle"

    @property
    def target(self) -> str:
        return self._group.name if self._group else ""

    @property
    def topics(self) -> tuple[str, ...]:
        return self._group.topics if self._group else ()

    def join(self, group: GroupSpec) -> None:
        self.leave()
        self.last_group = group.name
        self._group = group
        self._connect(group)
        self.enter("joining")
        self.start()

    def _connect(self, group: GroupSpec) -> None:
        config = group.config(self.name if self.spec.static else "")
        self._effects = self._effects_of(group.name) if self.spec.commit == "with_effect" else None
        self._client = Consumer(
            self.broker, self.loop, self.name, group.name, group.topics, config, on_assigned=self._resume
        )
        self._client.member.muted = self._muted

    def forget_deleted(self) -> None:
        if self._group is not None:
            if self._client is not None:
                self._client.close(f"{self.name} begins anew")
            self._connect(self._group)

    def reread(self, group: GroupSpec) -> None:
        """Subscribe to the changed topics of the group: the consumer rejoins at its next poll."""
        self._group = group
        if self._client is not None:
            self._client.subscribe(group.topics)

    def retire(self) -> None:
        self._left = self.target
        self.leave()
        self.enter("stopped")

    def come_back(self, groups: Mapping[str, GroupSpec]) -> None:
        group = groups.get(self._left)
        if group is None:
            self.enter("idle")
        else:
            self.join(group)

    def position(self, topic: str, partition: int) -> int | None:
        """Where it reads next; None if it does not own the partition."""
        return None if self._client is None else self._client.positions.get((topic, partition))

    def seek(self, topic: str, partition: int, offset: int) -> None:
        """Read on from there. Raises INVALID_REQUEST for what it does not own."""
        if self._client is not None:
            self._client.seek(topic, partition, offset)

    def leave(self) -> None:
        """Leave the group for the bench. The message at hand is dropped uncommitted, so another member gets it."""
        self.cancel_task()
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
        """Suppress the consumer's heartbeats, or let them through again. A pause suppresses them, too."""
        self._muted = muted
        if self._client is not None:
            self._client.member.muted = muted or self.paused

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
            messages = await client.poll(max_messages=self.spec.max_poll_messages)
            if messages and self.spec.commit == "before":
                for message in messages:
                    client.done(message)
                if not self._commit(client):
                    continue
            for message in messages:
                await self._handle(message)
                client.done(message)
            self.enter("waiting")
            if (messages or client.passed_over) and not self._commit(client):
                self.failed += len(messages)

    async def _handle(self, message: StoredMessage) -> None:
        if self._effects is not None and message.offset < (self._effects.offset(message.topic, message.partition) or 0):
            return
        await self.work(self.spec.processing)
        rule = await self.fails_by_rule(message)
        if rule is not None:
            self.failed += 1
            if rule.outcome == "hang":
                await self._hang()
            return
        if self._effects is None:
            self.count()
            return
        with self._effects.applying(message) as fresh:
            if fresh:
                self.count()

    async def _hang(self) -> None:
        self.enter("paused")
        if self._client is not None:
            self._client.member.muted = True
        await self.sleep(HANG_S)
        self.mute(self._muted)

    def _resume(self, partitions: Sequence[TopicPartition]) -> None:
        if self._effects is None or self._client is None:
            return
        for place in partitions:
            if (offset := self._effects.offset(*place)) is not None:
                self._client.seek(*place, offset)

    def _commit(self, client: Consumer) -> bool:
        try:
            client.commit()
        except BrokerError:
            # The group has moved on: the next poll rejoins, and the new owner reads these messages again.
            return False
        return True
