from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from broker_core.clients.membership import ConsumerConfig, GroupProtocol, IsolationLevel
from broker_core.flow.config import FlowConfig
from broker_core.groups.assignors import AssignorName
from broker_core.groups.config import GroupSettings
from broker_core.log.config import LogConfig
from broker_core.log.partitioners import PartitionerKind
from broker_core.operations.fields import PartitionCount
from broker_core.operations.topics import LogSettings
from broker_core.queues.config import QueueConfig
from broker_core.queues.subscription import subscription_name
from broker_core.schemas.compatibility import Compatibility
from broker_core.schemas.languages import SchemaKind
from broker_core.schemas.rule import SchemaRule
from broker_core.settings import (
    AtLeastOne,
    LimitPolicy,
    NotNegative,
    NotNegativeNumber,
    Positive,
    PositiveNumber,
    Share,
)
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.clients import Ack, Commit
from broker_core.simulation.arrivals import Arrivals
from broker_core.simulation.durations import Duration
from broker_core.transactions.transaction import TransactionConfig

Comparison = Literal["equals", "differs", "above", "below", "contains"]
Scalar = str | int | float | bool
SomeTopics = Annotated[tuple[str, ...], Meta(min_length=1)]


def _compared(found: Any, op: Comparison, wanted: Scalar) -> bool:
    match op:
        case "equals":
            return bool(found == wanted)
        case "differs":
            return bool(found != wanted)
        case "contains":
            return isinstance(found, str) and str(wanted) in found
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (found, wanted))
    ordered = numbers or (isinstance(found, str) and isinstance(wanted, str))
    return ordered and bool(found > wanted if op == "above" else found < wanted)


class Condition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`field` of a JSON payload compared with `value`; "a.b" is field b of object a, "" the payload as text.

    A payload that is not JSON, or lacks the field, does not match.
    """

    field: str = ""
    op: Comparison = "equals"
    value: Scalar

    def met_by(self, payload: bytes | None) -> bool:
        if payload is None:
            return False
        if not self.field:
            return _compared(payload.decode(errors="replace"), self.op, str(self.value))
        try:
            found = json.loads(payload)
        except (ValueError, RecursionError):
            return False
        for name in self.field.split("."):
            if not isinstance(found, dict) or name not in found:
                return False
            found = found[name]
        return _compared(found, self.op, self.value)


class Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a scenario. A key that it does not know is an error."""


class SchemaSpec(Strict, frozen=True, kw_only=True):
    """The first version of a subject's schema, and what later ones must be compatible with."""

    subject: str
    text: str
    kind: SchemaKind = SchemaKind.JSON
    compatibility: Compatibility = Compatibility.BACKWARD


class TopicSpec(Strict, frozen=True, kw_only=True):
    """A topic with `partitions` partitions; its limits are in `flow`, its retention in `log`, its check in `schema`."""

    name: str
    partitions: PartitionCount = 1
    partitioner: PartitionerKind = "crc32"
    flow: FlowConfig | None = None
    log: LogSettings | None = None
    schema: SchemaRule | None = None

    def __post_init__(self) -> None:
        if self.log is not None:
            self.log.on(LogConfig())


class QueueSpec(Strict, frozen=True, kw_only=True):
    """A work queue; `config` has its leases, attempts and retries."""

    name: str
    config: QueueConfig = QueueConfig()
    flow: FlowConfig | None = None


class GroupSpec(Strict, frozen=True, kw_only=True):
    """A consumer group and what it reads; the settings are those of every member.

    With the `protocol` consumer (KIP-848) the broker assigns; session timeout and heartbeat interval are those of the
    scenario, `consumer_session_timeout_ms` and `consumer_heartbeat_interval_ms`.
    """

    name: str
    topics: tuple[str, ...]
    assignor: AssignorName = "range"
    session_timeout_ms: int = 6_000
    heartbeat_interval_ms: int = 1_000
    rebalance_timeout_ms: int = 20_000
    isolation_level: IsolationLevel = "read_uncommitted"
    protocol: GroupProtocol = "classic"

    def __post_init__(self) -> None:
        self.config()
        if self.protocol == "consumer" and self.assignor != "range":
            raise ValueError("assignor belongs to the classic protocol; in the consumer protocol the broker assigns")

    def config(self, instance_id: str = "") -> ConsumerConfig:
        """The configuration of a member of this group. Raises INVALID_CONFIG."""
        return ConsumerConfig(
            assignor=self.assignor,
            session_timeout_ms=self.session_timeout_ms,
            heartbeat_interval_ms=self.heartbeat_interval_ms,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            isolation_level=self.isolation_level,
            group_protocol=self.protocol,
            instance_id=instance_id,
        )


class Failure(Strict, frozen=True, kw_only=True):
    """A fraction `rate` of the messages fails with `cause`; with `when`, of those that meet the condition.

    `nack` tells the broker at once, `hang` says nothing and stands still until the lease has expired, `forget` says
    nothing and goes on.
    """

    cause: str
    rate: Share
    kind: Literal["nack", "hang", "forget"] = "nack"
    when: Condition | None = None


class Adaptive(Strict, frozen=True, kw_only=True):
    """A pace that gives way: `base_s` between messages, more after each refusal, less again after each success."""

    base_s: PositiveNumber
    on_refusal_times: AtLeastOne = 2.0
    on_success_divide: AtLeastOne = 1.5


class Transactional(Strict, frozen=True, kw_only=True):
    """Transactions of `messages` messages each, of which every `abort_every`th is aborted; 0 aborts none.

    The broker aborts a transaction that is open for `timeout_ms`.
    """

    messages: Positive
    abort_every: NotNegative = 0
    timeout_ms: Annotated[int, Meta(ge=1, le=TransactionConfig().max_timeout_ms)] = 60_000


class ProducerSpec(Strict, frozen=True, kw_only=True):
    """Publishes what arrives to a topic or queue.

    It is held to `rate_per_s` messages a second (and a `burst`) if that is given. What is refused or dropped it
    gives up, or, with `retry_ms`, offers again after that long. With `linger_ms` it waits that long for more and
    publishes them in one batch for each partition, all or none of which is taken. `adaptive` sets its pace in place of
    the arrivals' times, one message at a time. With `transactional` it publishes to a topic in transactions.
    """

    name: str
    to: str
    arrivals: Arrivals
    rate_per_s: PositiveNumber | None = None
    burst: AtLeastOne = 1.0
    retry_ms: PositiveNumber | None = None
    linger_ms: NotNegativeNumber = 0.0
    adaptive: Adaptive | None = None
    transactional: Transactional | None = None

    def __post_init__(self) -> None:
        if self.linger_ms and self.adaptive is not None:
            raise ValueError("linger_ms and adaptive cannot be combined")


class ConsumerSpec(Strict, frozen=True, kw_only=True):
    """`count` consumers, named NAME-1, NAME-2, ...; without a group they wait on the bench.

    `commit` after processing is at-least-once, before it at-most-once, with_effect effectively-once. A `static`
    member keeps its place in the group when it comes back within the session timeout.
    """

    name: str
    count: NotNegative = 1
    first: NotNegative = 1
    group: str = ""
    processing: Duration = Duration(mean_ms=0)
    max_poll_messages: Positive = 20
    commit: Commit = "after"
    static: bool = False


class WorkerSpec(Strict, frozen=True, kw_only=True):
    """`count` workers of a queue, named NAME-1, NAME-2, ...; they acknowledge `ack` the work.

    Each takes up to `prefetch` messages ahead, the one at hand included. `weight` is its share if the queue's
    `balancing` goes by weight.
    """

    name: str
    count: NotNegative = 1
    queue: str
    processing: Duration = Duration(mean_ms=0)
    prefetch: Positive = 1
    weight: NotNegative = 1
    ack: Ack = "after"
    failures: tuple[Failure, ...] = ()


class SubscriberSpec(Strict, frozen=True, kw_only=True):
    """Gets every message of each of `topics`; of those that wait for it, the first topic's come first.

    With a `backlog`, no more than that many messages of a topic wait for it, and `policy` says what becomes of more:
    producers wait (block) or are refused (reject), or some messages give way. Of the `priorities` of its `config` the
    most urgent come first. It has `count` workers; of several, the names are NAME-1, NAME-2, ...
    """

    name: str
    count: Positive = 1
    topics: SomeTopics
    backlog: Positive | None = None
    policy: LimitPolicy = "drop_newest"
    config: QueueConfig = QueueConfig()
    processing: Duration = Duration(mean_ms=0)
    ack: Ack = "after"
    failures: tuple[Failure, ...] = ()

    @property
    def subscriptions(self) -> dict[str, str]:
        """The name of its subscription to each topic: its own, or, of several, that and the topic's."""
        if len(self.topics) == 1:
            return {self.topics[0]: self.name}
        return {topic: subscription_name(self.name, topic) for topic in self.topics}


class ShareGroupSpec(Strict, frozen=True, kw_only=True):
    """A share group (KIP-932) with `count` members, named NAME-1, NAME-2, ...; each message goes to one of them.

    A message is locked for the member that has it for `record_lock_duration_ms`, and is delivered at most
    `delivery_count_limit` times. A member says every `heartbeat_interval_ms` that it is there.
    """

    name: str
    topics: SomeTopics
    count: Positive = 1
    record_lock_duration_ms: int = 30_000
    delivery_count_limit: int = 5
    heartbeat_interval_ms: Positive = 5_000
    processing: Duration = Duration(mean_ms=0)
    ack: Ack = "after"
    failures: tuple[Failure, ...] = ()

    def __post_init__(self) -> None:
        self.config(GroupSettings())

    def config(self, usual: GroupSettings) -> GroupSettings:
        """The settings of this share group, with those of `usual` for the rest. Raises INVALID_CONFIG."""
        return msgspec.structs.replace(
            usual,
            record_lock_duration_ms=self.record_lock_duration_ms,
            delivery_count_limit=self.delivery_count_limit,
            auto_offset_reset="earliest",
        )

    @property
    def subscriptions(self) -> dict[str, str]:
        return {topic: subscription_name(self.name, topic) for topic in self.topics}


class Scheduled(Strict, frozen=True, kw_only=True):
    """Something that is done to the running session at `at_s`.

    Of what happens at the very same time, so much comes before it that there have been `after_events` events, those not
    counted that only note what a person did.
    """

    at_s: NotNegativeNumber
    do: UserAction
    after_events: NotNegative = 0


def names_of(spec: Any) -> list[str]:
    """NAME-1, NAME-2, ... of a part of a scenario with a `count`; that of any other, and of one subscriber, is NAME."""
    count, first = getattr(spec, "count", None), getattr(spec, "first", 1)
    if count is None or (count == 1 and isinstance(spec, SubscriberSpec)):
        return [spec.name]
    return [f"{spec.name}-{number}" for number in range(first, first + count)]
