from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from broker_core.limits import MAX_WAIT_MS
from broker_core.operations import queues
from broker_core.simulation.actions.action import Action


class CreateQueue(queues.CreateQueue, Action, frozen=True, kw_only=True, tag="create_queue"):
    says = "created queue {name}"

    name: str


class CreateSubscription(queues.CreateSubscription, Action, frozen=True, kw_only=True, tag="create_subscription"):
    says = "created subscription {name} to {topic}"

    name: str


class DeleteQueue(queues.DeleteQueue, Action, frozen=True, kw_only=True, tag="delete_queue"):
    """The queue or subscription, its messages and its dead letters; it can be brought back for a while."""

    says = "deleted queue {queue}"


class PurgeQueue(queues.PurgeQueue, Action, frozen=True, kw_only=True, tag="purge_queue"):
    says = "purged {queue}"


class UndoPurgeQueue(queues.UndoPurgeQueue, Action, frozen=True, kw_only=True, tag="undo_purge_queue"):
    says = "undid the purge of {queue}"


class _OnLease(Action, frozen=True):
    """A message in flight: `offset` of `partition` of the queue's log, held by `holder` for its `attempt`-th time."""

    queue: str
    partition: int
    offset: int
    holder: str
    attempt: int

    @property
    def place(self) -> str:
        return f"{self.queue}/{self.partition} @{self.offset}, held by {self.holder}"

    @property
    def request(self) -> queues.SettleLease:
        """The operation that does it."""
        lease = {name: getattr(self, name) for name in _OnLease.__struct_fields__}
        return queues.SettleLease(**lease, **self.settlement)

    @property
    def settlement(self) -> dict[str, Any]:
        return {"act": "ack"}


class AckLease(_OnLease, frozen=True, tag="ack_lease"):
    says = "acknowledged {place}"


class NackLease(_OnLease, frozen=True, tag="nack_lease"):
    """Give the message back as failed; without `requeue` it goes to the dead letters at once."""

    cause: str = "nacked by hand"
    requeue: bool = True

    @property
    def sentence(self) -> str:
        return f"nacked {self.place}" if self.requeue else f"dead-lettered {self.place}"

    @property
    def settlement(self) -> dict[str, Any]:
        return {"act": "nack" if self.requeue else "dead-letter", "cause": self.cause}


class ExtendLease(_OnLease, frozen=True, tag="extend_lease"):
    """The lease ends `for_s` from now, or as late as a new one."""

    for_s: Annotated[float, Meta(gt=0, le=MAX_WAIT_MS // 1_000)] | None = None

    @property
    def sentence(self) -> str:
        until = "by a whole lease" if self.for_s is None else f"to {self.for_s:g} s from now"
        return f"extended the lease of {self.place} {until}"

    @property
    def settlement(self) -> dict[str, Any]:
        return {"act": "extend", "lease_ms": None if self.for_s is None else self.for_s * 1_000}


class ReleaseLease(_OnLease, frozen=True, tag="release_lease"):
    """Put the message back as if it had never been handed out: the attempt does not count."""

    says = "released {place}"

    @property
    def settlement(self) -> dict[str, Any]:
        return {"act": "release"}
