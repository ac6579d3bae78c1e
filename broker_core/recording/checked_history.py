"""The events of a run so far, for who checks them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NoReturn

from broker_core.broker.deliveries import DeliveryState
from broker_core.events import Event
from broker_core.messages import TopicPartition
from broker_core.recording.account import Account
from broker_core.recording.violation import Violation, bearing_on


class CheckedHistory:
    """`account` tells where messages were before the event that is checked."""

    def __init__(self) -> None:
        self.account = Account()
        self.events: list[Event] = []
        self.ends: dict[TopicPartition, int] = defaultdict(int)  # the next offset of each partition

    def add(self, event: Event) -> None:
        """The event that is checked next. Raises `Violation` if it does not follow the last."""
        if self.events and event.seq != self.events[-1].seq + 1:
            raise Violation(f"event {event.seq} follows {self.events[-1].seq}: the stream has a gap", (event,))
        if self.events and event.time_ns < self.events[-1].time_ns:
            raise Violation("time goes backwards", (self.events[-1], event))
        self.events.append(event)

    def delivery_states(self, event: Event, reader: str = "") -> list[tuple[int, int, DeliveryState]]:
        """Where the messages of the event were before it, for its reader or another one."""
        return self.account.delivery_states(reader or event.group, event.place, event.offsets.start, event.offsets.stop)

    def append(self, event: Event, place: TopicPartition, offset: int | None) -> None:
        """The event stores its messages from `offset` on. Raises `Violation` if the partition does not end there."""
        topic, partition = place
        if offset is None or offset != self.ends[place]:
            self.fail(f"{topic}/{partition} continues at {offset}, not at {self.ends[place]}", event, topic=topic)
        self.ends[place] += max(1, event.count)

    def fail(
        self,
        promise: str,
        event: Event,
        offset: int | None = None,
        *,
        topic: str = "",
        history: Iterable[Event] | None = None,
        is_loss: bool = False,
    ) -> NoReturn:
        """Raises `Violation`: `event` breaks `promise`."""
        if history is None:
            history = bearing_on(event, self.events, topic or event.topic, offset)
        raise Violation(promise, history, is_loss=is_loss)
