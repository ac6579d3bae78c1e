"""A Kafka cluster, seen from between: what passes, and every few seconds a look at the rest."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar, cast

from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError, ConfigError
from broker_core.events import Event
from broker_core.listeners.access.access import Access
from broker_core.listeners.between.asked_requests import TopicNames
from broker_core.listeners.between.ports import ListeningPorts, Ports
from broker_core.listeners.between.seen_logs import WAIT_NS
from broker_core.listeners.between.traffic_reader import TrafficReader
from broker_core.listeners.connections import Connections
from broker_core.listeners.listener import TlsConfig
from broker_core.messages import TopicPartition
from broker_core.observation.deed_journal import DeedJournal
from broker_core.observation.kafka.config import ConnectionConfig
from broker_core.observation.kafka.pace import MOST_SHARE
from broker_core.observation.kafka.peer import KafkaPeer
from broker_core.observation.kafka.sweep import Sweep
from broker_core.observation.peer import Look, PeerFacts
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

    `node_order(cluster id)` has the nodes of earlier runs in the order of their ports, and `keep(cluster id, nodes)`
    keeps them. `told(sentence)` is called, in any thread, for what a user should know.

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
        node_order: Callable[[str], Iterable[int]] = lambda _cluster: (),
        keep: Callable[[str, list[int]], object] = lambda _cluster, _nodes: None,
        told: Callable[[str], object] = lambda _sentence: None,
        journal: DeedJournal | None = None,
    ) -> None:
        super().__init__(config, every_s=every_s, journal=journal)
        self._config = config
        self._rights = config.user if logs_in else "" if config.mechanism else config.cert_file
        self._listening = ListeningPorts(
            address=address,
            port=port,
            tls=None if tls is None else tls.context(),
            access=Access.of_token(token) if token else Access(),
            logs_in=logs_in,
        )
        _check(config, self._rights, self._listening, shared=shared)
        self._node_order, self._keep, self._told = node_order, keep, told
        self._ports: Ports | None = None
        self._sweeper = ThreadPoolExecutor(1, thread_name_prefix="between-sweep")
        self._sweep: Future[tuple[Sweep, int]] | None = None
        self._ends_at_sweep: dict[TopicPartition, int] = {}
        self._sweeps_begun = self._sweeps_taken = self._sweeps_settled = 0
        self._last_sweep: tuple[Sweep, int] | None = None
        self._reported_s = 0.0
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
        names = TopicNames()
        self._traffic = TrafficReader(self._diff, self._arrivals, names)
        for name, topic in self._diff.topics.items():
            names.know(name, topic.topic_id)
        ports = self._ports = Ports(
            self._config,
            self._traffic,
            self._traffic.put,
            names,
            self._listening,
            node_order=self._node_order(self._cluster.name),
            now_ns=self._now_ns,
            told=self._told,
        )
        sys.setswitchinterval(min(sys.getswitchinterval(), _SWITCH_S))
        try:
            ports.open(self._cluster.nodes)
        except BrokerError:
            self.close()
            raise
        self._remember()
        return first

    def look(self) -> Look | None:
        if self._traffic.is_settled:
            self._sweeps_settled = self._sweeps_taken
        self._traffic.something_waits.wait(_OFTEN_S)
        self._traffic.much_waits.wait(_OFTEN_S)  # frames come in crowds
        if self._closing.is_set():
            return None
        now_ns = self._now_ns()
        events, gap = self._traffic.look(now_ns)
        gap = gap or self._advance_sweep(now_ns)
        events += self._traffic.look(now_ns)[0]
        return self._report(events, gap, now_ns)

    def _report(self, events: list[Event], gap: str, now_ns: int) -> Look | None:
        events += self.take_deeds(now_ns)
        if not events and not gap and time.monotonic() - self._reported_s < _QUIET_S:
            return None
        for event in events:
            self._fold.add(event)
        back, self._traffic.groups.back = self._traffic.groups.back, []
        for group, member_id in back:
            self._fold.heard(group, member_id)
        self._reported_s = time.monotonic()
        self._shown = self._fold.snapshot(now_ns)
        return Look(events, self._shown, gap, self.clients.views())

    def _advance_sweep(self, now_ns: int) -> str:
        """Begin a sweep where one is due, and take the one that has ended; why something was missed."""
        if self._sweep is None:
            if self._traffic.closing:  # the last sweep is `rest`'s; an error of one from here would lose what was read
                return ""
            wanted = self._traffic.wants_sweep and not self._diff.has_unlisted_groups
            soon = wanted and self._look_s < _SOON_S * MOST_SHARE
            if time.monotonic() >= self._pace.due_s - (self._every_s - _SOON_S if soon else 0):
                self._traffic.wants_sweep = False
                self._ends_at_sweep = dict(self._diff.ends)
                self._sweeps_begun += 1
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
        self._traffic.take_sweep(sweep, since_ns, now_ns, self._ends_at_sweep)
        self._end_look(sweep, began_s)
        self._remember()
        self._sweeps_taken = self._sweeps_begun
        return ""

    def _sweep_now(self, since_ns: int) -> tuple[Sweep, int]:
        return self._take_sweep(), since_ns

    def _remember(self) -> None:
        if self.ports.node_order != self._kept:
            self._kept = list(self.ports.node_order)
            self._keep(self._cluster.name, self._kept)

    # -- in any thread

    def catch_up(self) -> None:
        """Wait until all is told that the cluster holds by now; while none of its nodes answers, not for long.

        Once it is closed, all is told.
        """
        wanted, until_s = self._sweeps_begun + 1, time.monotonic() + _CATCH_UP_S
        while self._sweeps_settled < wanted and time.monotonic() < until_s and not self._closing.is_set():
            if self._sweeps_taken < wanted:
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
    def facts(self) -> PeerFacts:
        away_s = 0.0 if self._away_since_s is None else time.monotonic() - self._away_since_s
        return super().facts._replace(listens=self.bootstrap_servers, rights=self._rights, away_s=away_s)

    @property
    def bootstrap_servers(self) -> str:
        return f"{self.ports.address}:{self.ports.port}"

    @property
    def not_seen(self) -> int:
        """Requests and answers that passed unread."""
        return self._traffic.dropped

    @property
    def published_before(self) -> int:
        """Messages that clients have sent again, and that the cluster had taken before this began."""
        return self._traffic.published_before

    @property
    def not_answered(self) -> dict[str, list[list[Any]]]:
        """What the cluster may have done for requests without a response when the ports closed: message counts by topic
        and partition, and committed offsets by group, topic and partition.
        """
        traffic = self._traffic
        return {
            "published": [[*place, count] for place, count in sorted(traffic.not_published.items())],
            "acknowledged": [[group, *place, to] for (group, place), to in sorted(traffic.not_committed.items())],
        }

    @property
    def added_ms(self) -> Sequence[float]:
        """Milliseconds by which a request and its response were delayed: median and 99th percentile; [] for none."""
        found = sorted(self.ports.added_ns.copy())
        return [round(found[int(len(found) * part)] / (NS_PER_S / 1_000), 3) for part in (0.5, 0.99)] if found else []

    def rest(self) -> Look | None:
        now_ns = self._now_ns()
        events, gap = self._traffic.look(now_ns)
        if self._last_sweep is not None:
            self._traffic.take_sweep(*self._last_sweep, now_ns, dict(self._diff.ends))
        events += self._traffic.look(now_ns + WAIT_NS)[0]
        if asked := +self._traffic.not_answered:
            gap = gap or _NOT_ANSWERED.format(", ".join(f"{count} {api}" for api, count in sorted(asked.items())))
        return self._report(events, gap, now_ns)

    def close(self) -> None:
        """The cluster is looked at once more, for what it has taken and not answered."""
        if self._ports is not None and not self._closing.is_set():
            self._traffic.closing = True
            self._ports.close()
            with contextlib.suppress(BrokerError, TimeoutError, RuntimeError):
                self._last_sweep = self._sweeper.submit(self._sweep_now, self._now_ns()).result(_LAST_S)
        self._sweeper.shutdown(wait=False)
        super().close()


def _check(config: ConnectionConfig, rights: str, listening: ListeningPorts, *, shared: bool) -> None:
    access = listening.access
    access.check_bind(listening.address)
    if listening.logs_in and not config.mechanism:
        raise ConfigError("there is no user to log in as; client.properties needs security.protocol, user and password")
    if rights and access.open and not shared:
        raise ConfigError(f"whoever reaches the ports would have the rights of {rights}: give a token, or share them")
    if shared and not rights:
        raise ConfigError("there are no rights to share: clients log in by themselves")
    if config.mechanism and not (access.open or listening.logs_in):
        raise ConfigError("clients that send the token cannot log in at the cluster by themselves; log in for them")


def _faults(kind: type[Any]) -> bool:
    return any(each in _FAULTS for each in kind.__mro__)
