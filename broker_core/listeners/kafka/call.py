"""One request while it is served: its client, the rights of that client, and replies that are settled later."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, NamedTuple, TypeVar, cast
from uuid import UUID

import msgspec
from kio.schema.errors import ErrorCode as KafkaError

from broker_core.access import OPERATION_VERBS, ResourceKind
from broker_core.broker.broker import Broker
from broker_core.errors import BrokerError, ErrorCode
from broker_core.kafka_messages.writing import Body
from broker_core.listeners.access.access import Access, Principal
from broker_core.listeners.access.limits import Budget, GuardConfig
from broker_core.listeners.awaiting import ServedHost
from broker_core.listeners.connections import Connection, Connections
from broker_core.listeners.kafka.fetch_sessions import FetchSessions
from broker_core.listeners.kafka.members import PendingMembers
from broker_core.listeners.kafka.readers import Readers
from broker_core.listeners.kafka.share_sessions import ShareSessions
from broker_core.messages import TopicPartition, grouped
from broker_core.operations.entry import Operation
from broker_core.operations.request import Request
from broker_core.replies import Reply

T = TypeVar("T")
MOST_ELEMENTS = 12_000  # of a request: every partition of the largest topic, and some; served in less than a second
FEW_ELEMENTS = 1_000  # of a request about what there are few of
NODE_ID = 0  # the one broker of the cluster
LEADER_EPOCH = 0
READ_COMMITTED = 1  # of isolation levels; 0 is read_uncommitted
READ, WRITE, ADMIN = Operation.READ, Operation.WRITE, Operation.ADMIN
NO_TOPIC_ID = UUID(int=0)
_SLICE_S, _BETWEEN_SLICES_S = 0.01, 0.001

# Errors of ours that Kafka's clients have another name for; what is in neither list has the same number.
_NAMES_THERE: dict[ErrorCode, int] = {
    ErrorCode.UNAUTHORIZED: KafkaError.sasl_authentication_failed,
    ErrorCode.FORBIDDEN: KafkaError.topic_authorization_failed,
    ErrorCode.MALFORMED_REQUEST: KafkaError.invalid_request,
    ErrorCode.REQUEST_TOO_LARGE: KafkaError.message_too_large,
    ErrorCode.DAMAGED: KafkaError.corrupt_message,
    ErrorCode.CLOSED: KafkaError.coordinator_not_available,  # ask again
    ErrorCode.UNKNOWN_QUEUE: KafkaError.unknown_topic_or_partition,
    ErrorCode.INVALID_LEASE: KafkaError.invalid_record_state,
    ErrorCode.DUPLICATE_SEQUENCE_NUMBER: KafkaError.duplicate_sequence_number,
}
_FORBIDDEN: dict[ResourceKind, KafkaError] = {
    "topic": KafkaError.topic_authorization_failed,
    "queue": KafkaError.topic_authorization_failed,
    "group": KafkaError.group_authorization_failed,
    "broker": KafkaError.cluster_authorization_failed,
    "subject": KafkaError.cluster_authorization_failed,
    "transactional_id": KafkaError.transactional_id_authorization_failed,
}
# What each right includes, as the bits of Kafka's operations (KIP-430): 3 READ, 4 WRITE, 5 CREATE, 6 DELETE, 7 ALTER,
# 8 DESCRIBE, 9 CLUSTER_ACTION, 10 DESCRIBE_CONFIGS, 11 ALTER_CONFIGS, 12 IDEMPOTENT_WRITE.
_OPERATION_BITS: dict[ResourceKind, dict[Operation, tuple[int, ...]]] = {
    "topic": {READ: (3, 8, 10), WRITE: (4, 8), ADMIN: (5, 6, 7, 8, 10, 11)},
    "group": {READ: (3, 8, 10), ADMIN: (6, 8, 10, 11)},
    "broker": {READ: (8, 10), WRITE: (12,), ADMIN: (5, 7, 8, 9, 10, 11)},
}
DONE: dict[str, Any] = {"error_code": 0, "error_message": None}
_LARGEST_KAFKA_CODE = 200


class Waiting(msgspec.Struct, frozen=True):
    """The answer comes when `reply` is settled; `cancel` ends the wait where the connection is closed before."""

    reply: Reply[Any]
    answer: Callable[[Reply[Any], int], Any]  # an Answer
    cancel: Callable[[], object] | None = None


class Later(msgspec.Struct, frozen=True):
    """The answer takes a worker, without the host's lock: `work` may wait for the disk."""

    work: Callable[[], Body]


class WhenDurable(msgspec.Struct, frozen=True):
    """The answer, to be sent when all commits and members so far are on the disk."""

    body: Body


Answer = Body | Waiting | Later | WhenDurable | None  # None if no response is sent, as for acks=0


class KafkaContext(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A listener's broker, access rules, limits, settings and sessions, as all its requests have them."""

    host: ServedHost
    access: Access
    limits: GuardConfig
    budget: Budget
    connections: Connections
    security_protocol: str
    create_topics: int
    min_session_timeout_ms: int
    max_session_timeout_ms: int
    pending: PendingMembers = msgspec.field(default_factory=PendingMembers)
    readers: Readers = msgspec.field(default_factory=Readers)
    fetch_sessions: FetchSessions = msgspec.field(default_factory=FetchSessions)
    share_sessions: ShareSessions = msgspec.field(default_factory=ShareSessions)


class Call(msgspec.Struct, frozen=True):
    """A request of one API and version. `host` and `port` are those that the client has connected to."""

    context: KafkaContext
    connection: Connection
    principal: Principal
    client: str
    version: int
    now_ns: int
    host: str
    port: int

    @property
    def broker(self) -> Broker:
        return self.context.host.broker

    def handle(self, now_ns: int, request: Request[T]) -> T:
        """The result of an operation of the catalogue, which the client asks for."""
        return self.broker.handle(now_ns, request, self.client).result()

    def ask(self, request: Request[T]) -> T:
        """`handle`, for a worker: what it changes is saved by then, or at the end of `later`."""
        return self.context.host.admin(lambda now_ns: self.handle(now_ns, request))

    def may(self, operation: Operation, kind: ResourceKind, name: str = "") -> bool:
        return self.context.access.allows(self.principal, operation, kind, name)

    def must(self, operation: Operation, kind: ResourceKind, name: str = "") -> None:
        """Raises FORBIDDEN, as Kafka's error for that kind of thing."""
        if not self.may(operation, kind, name):
            may_not = f"{self.principal.name} may not {OPERATION_VERBS[operation]}"
            raise ForbiddenError(kind, f"{may_not} {kind} {name[:249]}".rstrip())

    def operations(self, kind: ResourceKind, name: str = "") -> int:
        """The operations that the client may perform on a resource, as Kafka's bit field."""
        allowed = (bits for right, bits in _OPERATION_BITS[kind].items() if self.may(right, kind, name))
        return sum(1 << bit for bit in {each for bits in allowed for each in bits})

    def must_topic(self, operation: Operation, name: str) -> None:
        """Raises UNKNOWN_TOPIC_OR_PARTITION for what is not there, FORBIDDEN."""
        self.must(operation, "topic", name)
        if name not in self.broker.topics:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)

    def sees(self, topic: str) -> bool:
        """Whether the client may do anything with the topic, so that its name is known to it."""
        return any(self.may(operation, "topic", topic) for operation in (READ, WRITE, ADMIN))

    def must_see(self, topic: str) -> None:
        """Raises FORBIDDEN, as for who lacks READ, unless the client `sees` the topic."""
        if not self.sees(topic):
            self.must(READ, "topic", topic)

    def readable(self, topics: Iterable[str]) -> set[str]:
        """The `topics` that the client may read; the names of others must not be revealed to it."""
        return {name for name in topics if self.may(READ, "topic", name)}

    def must_read_all(self, topics: Iterable[str]) -> None:
        """Raises FORBIDDEN if a group that is described has topics that the client may not read, as Kafka does."""
        if not all(self.may(READ, "topic", name) for name in set(topics)):
            raise ForbiddenError("topic", f"the group reads topics that {self.principal.name} may not read")

    def topic_id(self, name: str) -> UUID:
        """The id of a topic or queue; zero if there is none."""
        topic = self.broker.logs.get(name)
        return NO_TOPIC_ID if topic is None else UUID(bytes=topic.id)

    def topic_names(self) -> Iterable[str]:
        return self.broker.topics.names()

    def in_session(self, request: Any) -> Iterable[TopicPartition]:
        """The partitions that its session (KIP-227) knew before a Fetch."""
        for place in self.context.fetch_sessions.places(request.session_id, self.principal.name):
            yield self.name_of(place.topic) or "", place.partition

    def topic_with(self, topic_id: UUID | None, *, queues: bool = False) -> str | None:
        """The name of the topic, or of the work queue where `queues` count; None if the client sees none."""
        topic = None if topic_id is None else self.broker.logs.with_id(topic_id.bytes)
        if topic is None or not self.sees(topic.name):
            return None
        return topic.name if topic.name in self.broker.topics or (queues and topic.queue is not None) else None

    def name_of(self, row: Any) -> str | None:
        """The topic that a row of a request means, by name or by id; None if it sees none of that id."""
        name: str | None = getattr(row, "topic", None) or getattr(row, "name", None)
        return self.topic_with(getattr(row, "topic_id", None)) if name is None else name

    def must_name(self, operation: Operation, row: Any) -> str:
        """The topic that a row of a request means. Raises UNKNOWN_TOPIC_ID, and what `must_topic` raises."""
        name = self.name_of(row)
        if name is None:
            raise KafkaOnlyError(KafkaError.unknown_topic_id, "the topic id is not known")
        self.must_topic(operation, name)
        return name

    @property
    def client_host(self) -> str:
        return f"/{self.connection.peer.rpartition(':')[0]}"

    @property
    def this_node(self) -> Mapping[str, Any]:
        return {"node_id": NODE_ID, "broker_id": NODE_ID, "host": self.host, "port": self.port}

    def later(self, field: str, row: Callable[[Any], Mapping[str, Any]], asked: Iterable[Any]) -> Later:
        """The body of one `row` for each that is `asked` for, made by a worker, without the host's lock.

        What the rows change is saved once, at the end; where the disk refuses that, each is answered with the error.
        """

        def work() -> Body:
            rows: list[Mapping[str, Any]] = []
            try:
                with self.context.host.saved_at_end():
                    rows += paced(map(row, asked))
            except BrokerError as error:
                rows = [{**row, **failed(error)} for row in rows]
            return {field: rows}

        return Later(work)

    def sliced(self, field: str, rows: Iterable[Any], **rest: Any) -> Answer:
        """The body {`field`: `rows`, **`rest`}; if making the rows takes long, a worker does it, in slices."""
        found: list[Any] = []
        left = iter(rows)
        if _slice(left, found):
            return {field: found, **rest}
        return Later(lambda: {field: found + self.gathered(left), **rest})

    def gathered(self, rows: Iterable[Any]) -> list[Any]:
        """`rows`, made under the host's lock, which is free between slices. For a worker."""
        found: list[Any] = []
        left = iter(rows)
        while not self.context.host.call(lambda _now: _slice(left, found)):
            time.sleep(_BETWEEN_SLICES_S)  # so that those who wait for the lock get it
        return found


Handle = Callable[[Call, Any], Answer]


class Api(NamedTuple):
    """One API and its versions. `handle` is called under the host's lock.

    A request with more than `most_elements` in all its arrays is not read; nor is anything done for it.
    """

    name: str
    key: int
    oldest: int
    newest: int
    handle: Handle
    most_elements: int


TABLE: dict[int, Api] = {}  # what is served, by key


def api(
    name: str, key: int, oldest: int, newest: int, *, most_elements: int = MOST_ELEMENTS
) -> Callable[[Handle], Handle]:
    """Declare the handler below as that of an API, in these versions."""

    def declare(handle: Handle) -> Handle:
        TABLE[key] = Api(name, key, oldest, newest, handle, most_elements)
        return handle

    return declare


class KafkaOnlyError(BrokerError):
    """An error that Kafka's clients have a name for and that nothing else here needs."""

    def __init__(self, error: KafkaError, about: str, code: ErrorCode = ErrorCode.INVALID_REQUEST) -> None:
        super().__init__(code, about)
        self.kafka_code: int = error.value


class ForbiddenError(KafkaOnlyError):
    """The rules do not allow it; Kafka has an error for each kind of thing."""

    def __init__(self, kind: ResourceKind, about: str) -> None:
        super().__init__(_FORBIDDEN[kind], about, ErrorCode.FORBIDDEN)


def check_leader_epoch(epoch: int) -> None:
    """Raises UNKNOWN_LEADER_EPOCH for one that the only leader never had, and that the client has from elsewhere."""
    if epoch > LEADER_EPOCH:
        raise KafkaOnlyError(KafkaError.unknown_leader_epoch, f"epoch {epoch}, and the leader is in {LEADER_EPOCH}")


def kafka_code(error: Exception | None) -> int:
    """The number that Kafka's clients know for an error; 0 for none."""
    if error is None:
        return 0
    if isinstance(error, KafkaOnlyError):
        return error.kafka_code
    if not isinstance(error, BrokerError):
        return KafkaError.unknown_server_error
    number = _NAMES_THERE.get(error.code, error.code.code)
    return number if number <= _LARGEST_KAFKA_CODE else KafkaError.unknown_server_error


def failed(error: BrokerError) -> dict[str, Any]:
    return {"error_code": kafka_code(error), "error_message": str(error)}


def outcome(action: Callable[..., object], *arguments: object, **named: object) -> dict[str, Any]:
    """The fields of a response: what it is about, and what `action(*arguments)` returns or what went wrong."""
    try:
        found = action(*arguments)
    except BrokerError as error:
        return {**named, **failed(error)}
    return {**named, **(found if isinstance(found, dict) else DONE)}


def paced(rows: Iterable[T]) -> Iterator[T]:
    """`rows`, with a pause after each slice of time, so that others get the host's lock. For a worker."""
    end_s = time.perf_counter() + _SLICE_S
    for row in rows:
        yield row
        if time.perf_counter() > end_s:
            time.sleep(_BETWEEN_SLICES_S)
            end_s = time.perf_counter() + _SLICE_S


def ms(span: timedelta) -> int:
    """A time span of a request: it is read as whole milliseconds, though `kio` calls it a timedelta."""
    return cast(int, span)


def named(topic: Any) -> Body:
    """The topic that a row of a request means, in each of the words that responses have for it."""
    name = getattr(topic, "name", None) or getattr(topic, "topic", None) or getattr(topic, "topic_name", None) or ""
    return {"name": name, "topic": name, "topic_name": name, "topic_id": getattr(topic, "topic_id", None)}


def by_topic(call: Call, places: tuple[TopicPartition, ...]) -> list[dict[str, Any]]:
    """`places` grouped by topic, as answers list the partitions that a member reads."""
    topics = grouped(places).items()
    return [{"topic_id": call.topic_id(name), "topic_name": name, "partitions": rows} for name, rows in topics]


def by_partition(
    topics: Iterable[Any], row: Callable[[str, Any], Body], of: str = "partitions", into: str = "partitions"
) -> Iterator[Body]:
    """For each of a request's topics, `row(name, partition)` of each of the partitions that it lists."""
    for topic in topics:
        said = named(topic)
        yield {**said, into: [row(said["name"], each) for each in getattr(topic, of)]}


def outcomes(
    topics: Iterable[Any],
    action: Callable[[str, Any], object],
    field: str = "partition_index",
    into: str = "partitions",
    **named: object,
) -> Iterator[Body]:
    """`by_partition` with the outcome of `action(topic name, partition)`; the partition's number stands in `field`."""

    def row(name: str, asked: Any) -> Body:
        return outcome(action, name, asked, **{field: getattr(asked, field, asked)}, **named)

    return by_partition(topics, row, into=into)


def _slice(left: Iterator[Any], found: list[Any]) -> bool:
    """Move rows to `found` for the time of a slice; whether those were all."""
    end_s = time.perf_counter() + _SLICE_S
    for row in left:
        found.append(row)
        if time.perf_counter() > end_s:
            return False
    return True
