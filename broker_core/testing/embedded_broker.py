from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from broker_core.broker.conditions import FIELDS, asked_things
from broker_core.clients.admin import Admin
from broker_core.clients.membership import IsolationLevel
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.serializers import JsonSerializer
from broker_core.clock import s_from_ns
from broker_core.closable import Closable
from broker_core.engine.broker_host import BrokerHost
from broker_core.engine.host import HostConfig
from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import BreakableFiles, FileSystem
from broker_core.filters import parse
from broker_core.flow.config import FlowConfig
from broker_core.groups.config import GroupConfig
from broker_core.limits import MAX_PARTITIONS
from broker_core.listeners.awaiting import awaited
from broker_core.listeners.connections import Connections, RequestView
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.listeners.listener import Listener
from broker_core.log.config import Durability, LogConfig
from broker_core.messages import Headers, StoredMessage
from broker_core.operations.observe import ConditionAnswer, WaitUntil
from broker_core.queues.config import QueueConfig
from broker_core.settings import Port, TimeS, checked_class
from broker_core.snapshots import ConnectionView, Snapshot
from broker_core.testing.clock import BrokerClock
from broker_core.testing.faults import Faults, warn_of_unmet
from broker_core.testing.history import AuditedHistory, KeptEvents, stored_in
from broker_core.testing.program import Command, CommandProgram, FunctionProgram, Program
from broker_core.testing.timeline import timeline

if TYPE_CHECKING:
    from broker_core.listeners.http.listener import HttpListener
    from broker_core.recording.audit import Audit

SILENT_S = 3.0
MAX_REFUSED = 10
_KAFKA_PYTHON_3 = "kafka-python 3"
_KNOWN = (
    "; kafka-python 3 forgets a rebalance that outlasts the timeout of its poll: poll(timeout_ms=5_000), or iterate"
    " over the consumer"
)


def silent_clients(views: Iterable[ConnectionView], now_ns: int) -> list[str]:
    """A sentence for each client of a group that has sent no request for three seconds, over all its connections."""
    heard_ns: dict[str, int] = {}
    software: dict[str, str] = {}
    in_group: set[str] = set()
    for view in views:
        heard_ns[view.client] = max(heard_ns.get(view.client, 0), view.heard_ns)
        software[view.client] = view.software or software.get(view.client, "")
        if view.group:
            in_group.add(view.client)
    return [
        f"{client or 'A client'} is connected but has not requested anything for {s_from_ns(now_ns - at_ns):.1f} s"
        f"{_KNOWN if software[client].startswith(_KAFKA_PYTHON_3) else ''}."
        for client, at_ns in heard_ns.items()
        if client in in_group and s_from_ns(now_ns - at_ns) >= SILENT_S
    ]


def refused(requests: Iterable[RequestView]) -> list[tuple[int, str]]:
    """The last errors that clients were answered, each with the time (ns) at which it came first."""
    first_ns: dict[str, int] = {}
    for each in requests:
        if each.error:
            first_ns.setdefault(f"{each.client or 'A client'}: {each.api}: {each.error}", each.time_ns)
    return [(at_ns, told) for told, at_ns in first_ns.items()][-MAX_REFUSED:]


# A test waits for its members, not for more of them.
DEFAULT_GROUPS = GroupConfig(initial_rebalance_delay_ms=0)


class ConditionTimeoutError(TimeoutError):
    """A condition did not hold in time; the text says what the state is."""


@checked_class(fast=("publish",))  # the producer checks
class EmbeddedBroker(Closable):
    """A fresh broker with Kafka and HTTP listeners on loopback ports. Close it, or use it in a `with` block.

    It is in memory, unless it has a `path` or a `durability` other than "memory"; without a `path` that is kept in a
    temporary directory, which is removed at the end. Port 0 is any free port; the HTTP listener is opened by the first
    use of `http_url`, or at once if `http_port` names one. With `create_topics` above 0, Kafka clients create unknown
    topics with that many partitions. Raises as `BrokerHost`, and INVALID_CONFIG if a port is taken.

    `host` is the broker, another one after `restart` and `reset`; `admin` administers it, `clock` is its time, and
    `faults` are what can go wrong with it.
    """

    host: BrokerHost
    admin: Admin
    path: Path | None  # the data directory, None in memory

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        durability: Durability | None = None,
        groups: GroupConfig = DEFAULT_GROUPS,
        kafka_port: Port = 0,
        http_port: Port = 0,
        create_topics: Annotated[int, Meta(ge=0, le=MAX_PARTITIONS)] = 0,
    ) -> None:
        self._removed = ""  # a directory of its own
        self.disk: BreakableFiles | None = None  # None in memory
        if path is None and durability not in {None, "memory"}:
            path = self._removed = tempfile.mkdtemp(prefix="brokerscope-")
        self.path = None if path is None else Path(path)
        self._config = HostConfig(log=LogConfig(durability=durability or "file"), groups=groups)
        self._create_topics = create_topics
        self._ports = {"kafka": kafka_port, "http": http_port}
        self.clock = BrokerClock(lambda: self.host)
        self.faults = Faults(self)
        self._programs: list[Program] = []
        self._open()

    def _open(self, after: BrokerHost | None = None) -> None:
        self._producer: Producer | None = None
        self._http: HttpListener | None = None
        with contextlib.ExitStack() as opened:
            self.host = BrokerHost(self.path, self._config, after=after, wrap=self._breakable)
            opened.callback(self.host.close)
            self.host.broker.clock.movable = self.host.clock
            self.admin = Admin(self.host)
            self.connections = Connections(lambda: self.host.now_ns)
            if after is None:
                self._started_s = time.time()
                # What was in its directory is no event.
                fresh = self.path is None or self._removed
                self.events = KeptEvents(Snapshot(0, 0) if fresh else self.host.call(self.host.broker.snapshot))
                self.host.events.attach(self.events)
                self._history = AuditedHistory()
                self._waited_for: set[str] = set()  # in vain
                self._history.attach(self.host)
            else:
                self._history.answer_for(self.host)
            self._kafka = KafkaListener(
                self.host,
                port=self._ports["kafka"],
                connections=self.connections,
                create_topics=self._create_topics,
                min_session_timeout_ms=self._config.groups.min_session_timeout_ms,
                max_session_timeout_ms=self._config.groups.max_session_timeout_ms,
            ).start()
            self._ports["kafka"] = self._kafka.port
            if self._ports["http"]:
                self._open_http()
            opened.pop_all()

    def _breakable(self, disk: FileSystem) -> BreakableFiles:
        self.disk = BreakableFiles(disk)
        return self.disk

    # -- where clients find it

    @property
    def bootstrap_servers(self) -> str:
        """The address to configure Kafka clients with."""
        return self._kafka.bootstrap_servers

    @property
    def http_url(self) -> str:
        """The URL for HTTP clients; the first use opens the listener."""
        return (self._http or self._open_http()).url

    def _open_http(self) -> HttpListener:
        # The import and the application of HTTP cost more than all else of a broker.
        from broker_core.listeners.http.listener import HttpListener

        self._http = HttpListener(self.host, port=self._ports["http"], connections=self.connections).start()
        self._ports["http"] = self._http.port
        return self._http

    # -- arrange

    def create_topic(
        self, name: str, partitions: int = 1, *, flow: FlowConfig | None = None, log: LogConfig | None = None
    ) -> None:
        """Create a topic; `admin.create_topic` has more settings.

        Raises TOPIC_ALREADY_EXISTS, INVALID_TOPIC, INVALID_PARTITIONS.
        """
        self.admin.create_topic(name, partitions, flow=flow, log=log)

    def create_queue(self, name: str, config: QueueConfig | None = None, *, flow: FlowConfig | None = None) -> None:
        """Create a queue. Raises TOPIC_ALREADY_EXISTS, INVALID_TOPIC."""
        self.admin.create_queue(name, config, flow=flow)

    def publish(
        self,
        topic: str,
        *values: Any,
        key: str | bytes | None = None,
        headers: Headers = (),
        partition: int | None = None,
        ttl_ms: int | None = None,
        priority: int = 0,
    ) -> list[tuple[int, int]]:
        """Publish `values` to a topic or queue, in order; (partition, offset) of each.

        Bytes, text and None are stored as they are, any other value as JSON. Raises UNKNOWN_TOPIC_OR_PARTITION,
        UNSERIALIZABLE, and what refuses a message.
        """
        if self._producer is None:
            self._producer = Producer(self.host, ProducerConfig(idempotent=False, retries=0), client_id="test")
        return [
            self._producer.publish(
                topic, stored(value), key, headers=headers, partition=partition, ttl_ms=ttl_ms, priority=priority
            )
            for value in values
        ]

    # -- a program under test

    def run(
        self,
        program: Command | Callable[..., object],
        *arguments: Any,
        env: Mapping[str, str] | None = None,
        folder: Path | str | None = None,
        name: str = "",
    ) -> Program:
        """Start a program: a command as a process of its own, or `program(*arguments)` in a thread.

        A process has `KAFKA_BOOTSTRAP_SERVERS` in its environment, and `env`, in which "{bootstrap_servers}" and
        "{http_url}" stand for the addresses; it works in `folder`. A function may have an argument `stop`, an event.
        Raises INVALID_REQUEST for what cannot be started.
        """
        if callable(program):
            if env is not None or folder is not None:
                raise BrokerError(ErrorCode.INVALID_REQUEST, "a function has no environment and folder; give arguments")
            started: Program = FunctionProgram(lambda: self.host, program, arguments, name)
        else:
            command = [*([program] if isinstance(program, str) else program), *arguments] if arguments else program
            environment = {"KAFKA_BOOTSTRAP_SERVERS": self.bootstrap_servers}
            environment |= {name: self.addressed(value) for name, value in (env or {}).items()}
            started = CommandProgram(lambda: self.host, command, environment, folder, name)
        self._programs.append(started)
        started.start()
        return started

    def addressed(self, text: str) -> str:
        """`text` with the addresses in place of "{bootstrap_servers}" and "{http_url}"."""
        text = text.replace("{bootstrap_servers}", self.bootstrap_servers)
        return text.replace("{http_url}", self.http_url) if "{http_url}" in text else text

    # -- assert

    def messages(
        self, topic: str, partition: int | None = None, *, isolation: IsolationLevel = "read_uncommitted"
    ) -> list[StoredMessage]:
        """All that a topic or queue holds, of one partition or of all, in the order of publishing. With the isolation
        read_committed, without messages of transactions that are open or were aborted.

        Messages of one moment are in the order of partition and offset. Raises UNKNOWN_TOPIC_OR_PARTITION, DAMAGED.
        """

        def read(_now: int) -> list[StoredMessage]:
            logs = self.host.broker.logs
            chosen = range(logs.partition_count(topic)) if partition is None else (partition,)
            committed = isolation == "read_committed"
            found = [message for number in chosen for message in stored_in(logs.partition(topic, number), committed)]
            return sorted(found, key=lambda message: message.published_ns)

        return self.host.call(read)

    def wait_until(self, condition: str, timeout_s: TimeS = 5.0) -> str:
        """Wait until `condition` holds, as `group = "billing" and lag = 0`; what fits it, in words.

        See `broker_core.operations.observe.WaitUntil`. Raises ConditionTimeoutError, a TimeoutError that says what the
        state is, after `timeout_s` on the machine's clock, ProgramEndedError as soon as a program of `run` has died,
        and MALFORMED_REQUEST for what is no condition.
        """
        return self._found(self.host.ask(self._waiting(condition, timeout_s)), condition, timeout_s)

    async def wait_until_async(self, condition: str, timeout_s: TimeS = 5.0) -> str:
        """`wait_until` in an asyncio loop."""
        request = self._waiting(condition, timeout_s)
        reply = self.host.call(lambda now_ns: self.host.broker.handle(now_ns, request))
        return self._found(await awaited(self.host, reply), condition, timeout_s)

    def _waiting(self, condition: str, timeout_s: float) -> WaitUntil:
        died = any(program.error is not None for program in self._programs)
        return WaitUntil(condition=condition, timeout_ms=0 if died else round(timeout_s * 1_000))

    def _found(self, answer: ConditionAnswer, condition: str, timeout_s: float) -> str:
        if not answer.holds:
            for program in self._programs:
                program.check()
            self._waited_for.update(asked_things(parse(condition, FIELDS)))
            raise ConditionTimeoutError(f"{condition} was not met within {timeout_s:g} s: {answer.what}")
        return answer.what

    def audit(self) -> Audit:
        """Verdicts on all that has happened since the broker was opened or reset: `audit().nothing_lost()`.

        Raises INVALID_REQUEST for a broker whose `path` was not empty.
        """
        return self.host.call(lambda _now_ns: self._history.audit(self.host.broker))

    # -- the recording

    @property
    def now_s(self) -> float:
        """Session time in seconds."""
        return s_from_ns(self.host.now_ns)

    def timeline(self, *, whole: bool = False) -> str:
        """The last events in a few lines, the state, and the false verdicts of audits.

        What those name, and the groups of a wait that has timed out, comes first, then the last events; with `whole`, a
        line for each of the 20,000 last events.
        """

        def tell(now_ns: int | None) -> str:
            told = timeline(
                self.events.events,
                self.host.broker,
                now_ns,
                decisive=self._history.decisive,
                groups=self._waited_for,
                notes=[
                    *refused(self.connections.requests()),
                    *(note for program in self._programs for note in program.notes),
                ],
                whole=whole,
            )
            told += "".join(f"\n{sentence}" for sentence in self._silent(now_ns))
            return told + "".join(f"\n\n{verdict.explanation}" for verdict in self._history.denied)

        try:
            return self.host.call(tell)
        except BrokerError:  # it is closed
            return tell(None)

    def _silent(self, now_ns: int | None) -> list[str]:
        # Where the broker's time was moved, nobody was silent for as long as it says.
        if now_ns is None or abs(s_from_ns(now_ns) - (time.time() - self._started_s)) > 1:
            return []
        return silent_clients(self.connections.views(), now_ns)

    def save(self, folder: Path | str, *, title: str = "Test", about: str = "") -> Path:
        """Write a session to `folder`, which must be empty or not there, for `brokerscope open` and `report`.

        It holds the last events of this broker. Works after `close`, too. Raises FOLDER_NOT_EMPTY, STORAGE_ERROR.
        """
        return self.events.save(
            Path(folder),
            title=title,
            about=about,
            started_s=self._started_s,
            totals=self.host.broker.views.totals(),
            end_ns=self.host.now_ns,
        )

    # -- the end, and another beginning

    def crash(self) -> None:
        """End as by `kill -9`: connections are cut, and nothing more is written. Use `restart` afterwards.

        Raises INVALID_REQUEST for a broker in memory, of which nothing would be left.
        """
        if self.path is None:
            raise BrokerError(
                ErrorCode.INVALID_REQUEST,
                'a broker in memory does not survive a crash; create it with durability="file" so that it can be '
                "restarted",
            )
        self._close_listeners()
        self.host.crash()

    def restart(self) -> None:
        """Open it again on its ports, with what its durability has kept. One that runs is crashed first.

        Time and events go on, and so do members of groups that come back within their session timeout; faults and
        connections are gone. Raises as `crash`.
        """
        self.crash()
        self._open(after=self.host)

    def reset(self) -> None:
        """Begin anew on the same ports: no topics, groups, faults and connections, and time from 0.

        Raises INVALID_REQUEST for a broker with a `path`, whose directory is not its own.
        """
        if self.path is not None and not self._removed:
            raise BrokerError(
                ErrorCode.INVALID_REQUEST, f"{str(self.path)!r} was given; a reset does not delete its contents"
            )
        self._end()
        if self._removed:
            shutil.rmtree(self._removed)
        self._open()

    def close(self) -> None:
        """Close listeners, clients and files. The second call does nothing.

        Programs are stopped first. Raises ProgramEndedError for one that has died without a wait that told it, the
        error of a client that gave up messages, and INTERNAL_ERROR if a thread, a connection or a port is left.
        """
        try:
            self._end()
        finally:
            if self._removed:
                shutil.rmtree(self._removed, ignore_errors=True)

    def _close_listeners(self) -> None:
        for listener in self._listeners():
            listener.close()

    def _listeners(self) -> list[Listener]:
        return [listener for listener in (self._kafka, self._http) if listener is not None]

    def _end(self) -> None:
        programs, self._programs = self._programs, []
        with contextlib.ExitStack() as steps:
            steps.callback(self._end_broker)
            steps.callback(warn_of_unmet, self.faults.begun)
            for program in programs:
                steps.callback(program.check_told)
                steps.callback(program.stop)

    def _end_broker(self) -> None:
        self._close_listeners()
        self.host.close()
        left = [f"{thread} runs" for thread in self.host.threads_left()]
        left += [f"{view.client or view.peer} is connected" for view in self.connections.views()]
        left += [f"port {listener.port} is open" for listener in self._listeners() if listener.is_open]
        if left:
            raise BrokerError(ErrorCode.INTERNAL_ERROR, f"a closed broker has left something behind: {', '.join(left)}")


def stored(value: Any) -> bytes | str | None:
    return value if value is None or isinstance(value, bytes | str) else JsonSerializer().serialize(value)
