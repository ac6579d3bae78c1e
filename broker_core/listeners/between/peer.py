"""A Kafka cluster, seen from between: what passes, and every few seconds a look at the rest."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar, cast

from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError, ConfigError
from broker_core.events import Event
from broker_core.listeners.access.access import Access
from broker_core.listeners.between.eye import Eye
from broker_core.listeners.between.ports import Ports
from broker_core.listeners.between.seen_logs import WAIT_NS
from broker_core.listeners.connections import Connections
from broker_core.listeners.listener import TlsConfig
from broker_core.messages import TopicPartition
from broker_core.observation.deed_journal import DeedJournal
from broker_core.observation.kafka.config import ConnectionConfig
from broker_core.observation.kafka.connection import tls_context
from broker_core.observation.kafka.pace import MOST_SHARE
from broker_core.observation.kafka.peer import KafkaPeer
from broker_core.observation.kafka.sweep import Sweep
from broker_core.observation.peer import Facts, Look
from broker_core.operations.faults import BeginFault, EndFault, ListFaults
from broker_core.operations.observe import CutConnection
from broker_core.operations.request import Request
from broker_core.snapshots import Snapshot

T = TypeVar("T")
EVERY_S: Final = 5.0
DEFAULT_PORT: Final = 9_192
_SOON_S: Final = 0.5  # where a look is cheap, and needed
_OFTEN_S: Final = 0.1
_CATCH_UP_S: Final = 10.0
_LAST_S: Final = 2.0  # of closing, for the last look at the cluster
_NOT_ANSWERED: Final = "passed on and not answered when the ports closed: {}; what came of it later is not told"
_QUIET_S: Final = 1.0  # after which a look without news tells the time
#: The path of the bytes waits for the interpreter no longer than this.
_SWITCH_S: Final = 0.0001
_KNOWN: Final = frozenset({"messages", "deliveries", "requests", "connections"})
_FAULTS: Final = frozenset({BeginFault, EndFault, ListFaults})


class BetweenPeer(KafkaPeer):
    """Opens ports at `address` for clients of the cluster of `config`: see `Ports`.

    `places(cluster id)` has the nodes of earlier runs in the order of their ports, and `keep(cluster id, nodes)` keeps
    them. `told(sentence)` is called, in any thread, for what a user should know.

    With `logs_in` clients have the rights of the user of `config`, as they have by its certificate. Then they need the
    `token`, unless the rights are `shared`.

    Raises INVALID_CONFIG for what would give these rights away.
    """

    SHARE_GROUPS_ARE_GROUPS = False  # but queues, whose messages are seen

    def __init__(
        self,
        config: ConnectionConfig,
        *,
        address: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        token: str = "",
        logs_in: bool = False,
        shared: bool = False,
        tls: TlsConfig | None = None,
        every_s: float = EVERY_S,
        places: Callable[[str], Iterable[int]] = lambda _cluster: (),
        keep: Callable[[str, list[int]], object] = lambda _cluster, _nodes: None,
        told: Callable[[str], object] = lambda _sentence: None,
        journal: DeedJournal | None = None,
    ) -> None:
        super().__init__(config, every_s=every_s, journal=journal)
        self._config = config
        self._rights = config.user if logs_in else "" if config.mechanism else config.cert_file
        self._gate: dict[str, Any] = {
            "access": Access.of_token(token) if token else Access(),
            "logs_in": logs_in,
            "address": address,
        }
        self._gate |= {"port": port, "tls": None if tls is None else tls.context()}
        _check(config, self._rights, self._gate, shared=shared)
        self._places, self._keep, self._told = places, keep, told
        self._ports: Ports | None = None
        self._sweeper = ThreadPoolExecutor(1, thread_name_prefix="between-sweep")
        self._sweep: Future[tuple[Sweep, int]] | None = None
        self._ends: dict[TopicPartition, int] = {}  # when that sweep began
        self._begun = self._taken = self._told_of = 0  # sweeps
        self._last: tuple[Sweep, int] | None = None
        self._looked_s = 0.0
        self._kept: list[int] = []

    @property
    def ports(self) -> Ports:
        assert self._ports is not None, "it is not open"
        return self._ports

    @property
    def clients(self) -> Connections:
        """The connections of the clients that come through here, with their requests."""
        return self.ports.connections

    # -- in the observer's thread

    def open(self) -> Snapshot:
        """Raises as a cluster that is looked at, and INVALID_CONFIG if the port is taken."""
        first = super().open()
        ports = self._ports = Ports(
            self._config,
            cast(Any, self),
            self._put,
            cluster_tls=tls_context(self._config) if self._config.tls else None,
            **self._gate,
            places=self._places(self._cluster.name),
            now_ns=self._now_ns,
            told=self._told,
        )
        self._eye = Eye(self._changes, self._arrivals, ports.names)
        ports.eye = self._eye
        for name, topic in self._changes.topics.items():
            ports.names.know(name, topic.topic_id)
        sys.setswitchinterval(min(sys.getswitchinterval(), _SWITCH_S))
        try:
            ports.open(self._cluster.nodes)
        except BrokerError:
            self.close()
            raise
        self._remember()
        return first

    def _put(self, event: Event) -> None:
        """Faults begin and end in the thread of the path."""
        self._eye.put(event)

    def look(self) -> Look | None:
        if self._eye.is_settled:
            self._told_of = self._taken
        self._eye.something_waits.wait(_OFTEN_S)
        self._eye.much_waits.wait(_OFTEN_S)  # frames come in crowds
        if self._closing.is_set():
            return None
        now_ns = self._now_ns()
        events, gap = self._eye.look(now_ns)
        gap = gap or self._looked(now_ns)
        events += self._eye.look(now_ns)[0]
        return self._told_now(events, gap, now_ns)

    def _told_now(self, events: list[Event], gap: str, now_ns: int) -> Look | None:
        events += self.deeds(now_ns)
        if not events and not gap and time.monotonic() - self._looked_s < _QUIET_S:
            return None
        for event in events:
            self._fold.add(event)
        back, self._eye.groups.back = self._eye.groups.back, []
        for group, member_id in back:
            self._fold.heard(group, member_id)
        self._looked_s = time.monotonic()
        self._shown = self._fold.snapshot(now_ns)
        return Look(events, self._shown, gap, self.clients.views())

    def _looked(self, now_ns: int) -> str:
        """Begin a sweep where one is due, and take the one that has ended; why something was missed."""
        if self._sweep is None:
            if self._eye.closes:  # the last sweep is `rest`'s; an error of one from here would lose what was read
                return ""
            hurries = self._eye.hurries and not self._changes.misses and self._look_s < _SOON_S * MOST_SHARE
            if time.monotonic() >= self._pace.due_s - (self._every_s - _SOON_S if hurries else 0):
                self._eye.hurries = False
                self._ends = dict(self._changes.ends)
                self._begun += 1
                self._sweep = self._sweeper.submit(self._sweep_now, now_ns)
            return ""
        if not self._sweep.done():
            return ""
        swept, self._sweep = self._sweep, None
        began_s = time.monotonic()
        try:
            sweep, since_ns = swept.result()
        except BrokerError as error:
            self._pace.due_s = began_s + self._every_s
            first, self._away_since_s = self._away_since_s is None, self._away_since_s or began_s
            return f"no broker of {self.address} answers: {error}" if first else ""
        self._away_since_s = None
        self._eye.take_sweep(sweep, since_ns, now_ns, self._ends)
        self._took(sweep, began_s)
        self._remember()
        self._taken = self._begun
        return ""

    def _sweep_now(self, since_ns: int) -> tuple[Sweep, int]:
        return self._swept(), since_ns

    def _remember(self) -> None:
        if self.ports.places != self._kept:
            self._kept = list(self.ports.places)
            self._keep(self._cluster.name, self._kept)

    # -- in any thread

    def catch_up(self) -> None:
        """Wait until all is told that the cluster holds by now; while none of its nodes answers, not for long.

        Once it is closed, all is told.
        """
        wanted, until_s = self._begun + 1, time.monotonic() + _CATCH_UP_S
        while self._told_of < wanted and time.monotonic() < until_s and not self._closing.is_set():
            if self._taken < wanted:
                self._pace.due_s = 0.0
            time.sleep(_OFTEN_S)

    def ask(self, request: Request[T]) -> T:
        if isinstance(request, CutConnection):
            return cast(T, self.clients.cut(request.connection, "cut in the window"))
        return self.ports.ask(request) if _faults(type(request)) else super().ask(request)

    def why_not(self, request: type[Request[Any]]) -> str:
        return "" if _faults(request) or request is CutConnection else super().why_not(request)

    def knows(self, word: str) -> bool:
        return word in _KNOWN

    @property
    def facts(self) -> Facts:
        away_s = 0.0 if self._away_since_s is None else time.monotonic() - self._away_since_s
        return super().facts._replace(listens=self.bootstrap_servers, rights=self._rights, away_s=away_s)

    @property
    def bootstrap_servers(self) -> str:
        return f"{self.ports.address}:{self.ports.port}"

    @property
    def not_seen(self) -> int:
        """Requests and answers that passed unread."""
        return self._eye.dropped

    @property
    def published_before(self) -> int:
        """Messages that clients have sent again, and that the cluster had taken before this began."""
        return self._eye.published_before

    @property
    def not_answered(self) -> dict[str, list[list[Any]]]:
        """What may have happened without being told, as it was not answered when the ports closed: how many messages of
        a topic and partition were published, and up to which offset a group has acknowledged them.
        """
        eye = self._eye
        return {
            "published": [[*place, count] for place, count in sorted(eye.not_published.items())],
            "acknowledged": [[group, *place, to] for (group, place), to in sorted(eye.not_committed.items())],
        }

    @property
    def added_ms(self) -> Sequence[float]:
        """What passing has added to a request and its answer, in milliseconds: median, and of 1 in 100 more."""
        found = sorted(self.ports.added_ns.copy())
        return [round(found[int(len(found) * part)] / (NS_PER_S / 1_000), 3) for part in (0.5, 0.99)] if found else []

    def rest(self) -> Look | None:
        now_ns = self._now_ns()
        events, gap = self._eye.look(now_ns)
        if self._last is not None:
            self._eye.take_sweep(*self._last, now_ns, dict(self._changes.ends))
        events += self._eye.look(now_ns + WAIT_NS)[0]
        if asked := +self._eye.not_answered:
            gap = gap or _NOT_ANSWERED.format(", ".join(f"{count} {api}" for api, count in sorted(asked.items())))
        return self._told_now(events, gap, now_ns)

    def close(self) -> None:
        """The cluster is looked at once more, for what it has taken and not answered."""
        if self._ports is not None and not self._closing.is_set():
            self._eye.closes = True
            self._ports.close()
            with contextlib.suppress(BrokerError, TimeoutError, RuntimeError):
                self._last = self._sweeper.submit(self._sweep_now, self._now_ns()).result(_LAST_S)
        self._sweeper.shutdown(wait=False)
        super().close()


def _check(config: ConnectionConfig, rights: str, gate: Mapping[str, Any], *, shared: bool) -> None:
    access: Access = gate["access"]
    access.check_bind(gate["address"])
    if gate["logs_in"] and not config.mechanism:
        raise ConfigError("there is no user to log in as; client.properties needs security.protocol, user and password")
    if rights and access.open and not shared:
        raise ConfigError(f"whoever reaches the ports would have the rights of {rights}: give a token, or share them")
    if shared and not rights:
        raise ConfigError("there are no rights to share: clients log in by themselves")
    if config.mechanism and not (access.open or gate["logs_in"]):
        raise ConfigError("clients that send the token cannot log in at the cluster by themselves; log in for them")


def _faults(kind: type[Any]) -> bool:
    return any(each in _FAULTS for each in kind.__mro__)
