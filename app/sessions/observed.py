from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from app.environment.paths import new_session_folder
from app.sessions.collectors.collectors import Collectors
from app.sessions.source import BROKER, Guardable, Source, Standing, closed
from broker_core.clock import ns_from_s
from broker_core.engine.engine_host import EngineHost
from broker_core.engine.runner import Engine, EngineStatus, Mode
from broker_core.errors import BrokerError, ConfigError
from broker_core.listeners.connections import Connections
from broker_core.observation.kafka.config import addresses, is_cluster
from broker_core.observation.observed_session import ObservedSession
from broker_core.observation.peer import KNOWABLE, Peer, PeerFacts
from broker_core.observation.peers import peer_at
from broker_core.operations.request import Request
from broker_core.recording.live_session import LiveSession
from broker_core.recording.playback import Playback
from broker_core.simulation.actions import UserAction
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.handlers import Performed
from broker_core.simulation.scenario import Scenario
from broker_core.snapshots import ConnectionView, Snapshot
from widgets.formats import duration, sentence
from widgets.i18n import mark, tr

T = TypeVar("T")

_AWAY_S = 3.0  # after which what is shown counts as old, at least
_LOOKS_MISSED = 3
OWN_SPEED = 1.0  # of a cluster of our own
OWN_TIME = mark("A broker elsewhere runs on its own time: look back on the timeline, or freeze the view (Space).")


class OwnCluster:
    """The cluster of a lesson: its scenario, simulated beside the window, with a Kafka listener at `address`
    (HOST:PORT). Runs until it is closed.
    """

    def __init__(self, scenario: Scenario, text: str, path: Path, seed: int | None) -> None:
        """Raises BrokerError."""
        from broker_core.listeners.kafka.listener import KafkaListener  # takes a while to load

        self._session = LiveSession(scenario, text, folder=None, find_file=DataFiles(path), seed=seed)
        self._engine = Engine(self._session.simulation, shared=False)
        self._host = EngineHost(self._engine, self._session.simulation)
        self._engine.run(OWN_SPEED)
        self._listener = KafkaListener(self._host, address="127.0.0.1", port=0).start()
        self.address = self._listener.bootstrap_servers

    def close(self) -> None:
        self._listener.close()
        self._host.close()
        self._engine.close()
        self._session.close(finished=False)


def why_no_address(address: str) -> str:
    from broker_core.clients.http_broker import checked_url  # urllib3 takes long to load

    try:
        (addresses if is_cluster(address) else checked_url)(address)
    except ConfigError as error:
        return str(error)
    return ""


def attached(
    peer: Peer,
    *,
    record: bool = True,
    folder: Path | None = None,
    sessions: Path | None = None,
    hides_hosts: bool = False,
) -> ObservedSource:
    """`peer`, observed, and recorded in `folder`, else in a new one below `sessions`. Raises `BrokerError`."""
    if folder is None and record:
        where = "" if hides_hosts else f"-{peer.address.rpartition('//')[2]}"
        folder = new_session_folder(f"attached{where}", sessions)
    return ObservedSource(peer, folder, hides_hosts=hides_hosts)


def attached_to_own(
    scenario: Scenario, text: str, path: Path, *, seed: int | None, record: bool, sessions: Path | None
) -> ObservedSource:
    """A cluster of our own that runs `scenario`, observed; it ends with the session. Raises `BrokerError`."""
    cluster = OwnCluster(scenario, text, path, seed)
    folder = new_session_folder(path.stem, sessions) if record else None
    shown = Scenario(
        **{name: getattr(scenario, name) for name in ("title", "about", "watch", "try_", "lesson")},
        until_s=float(1 << 32),
    )
    try:
        source = ObservedSource(peer_at(cluster.address), folder, shown)
    except BrokerError:
        cluster.close()
        raise
    source.closing = cluster.close
    return source


@runtime_checkable
class Passing(Protocol):
    """A peer that passes clients on."""

    @property
    def clients(self) -> Connections: ...


class ObservedSource(Source):
    """Observes `peer`, from now on. Requests wait for their answers in a thread of their own."""

    has_present = True
    outside_clients = True
    goes_on = mark("What happens at the broker appears here as soon as it is seen.")

    def __init__(
        self, peer: Peer, folder: Path | None, scenario: Scenario | None = None, *, hides_hosts: bool = False
    ) -> None:
        """`scenario` has the words and the lesson for what is observed; `hides_hosts` as of an observed session.

        Raises `BrokerError` if the peer cannot be reached, or `folder` cannot be used.
        """
        self.folder = folder
        if scenario is None:
            self.described = BROKER
            about = tr("A broker that runs elsewhere, seen from here.")
            scenario = Scenario(title=peer.address, about=about, until_s=float(1 << 32))
        self.scenario: Scenario = scenario
        self.collectors = Collectors(scenario, deliveries=peer.knows("deliveries"))
        #: Called after the end.
        self.closing: Callable[[], object] = lambda: None
        self.session = ObservedSession(
            peer,
            folder=folder,
            hides_hosts=hides_hosts,
            sinks=self.collectors.all(),
            on_keyframe=self.collectors.keyframe,
        )
        self.recorder = self.session.recorder
        self.passing = peer.clients if isinstance(peer, Passing) else None
        guarded = getattr(peer, "guarded", None)
        self.guarded = guarded if isinstance(guarded, Guardable) else None
        listens, rights = peer.facts.listens, peer.facts.rights
        self.clients_come = tr("Programs connect to the broker where it runs.")
        if listens:
            self.clients_come = tr(
                "Clients with bootstrap.servers={listens} are passed on to {where}, and what they do is seen.",
                listens=listens,
                where=peer.address,
            )
        if rights:
            self.rights = tr(
                "Whoever connects to {listens} has the rights of {rights} at the cluster.",
                listens=listens,
                rights=rights,
            )
        self.started_at = datetime.fromtimestamp(peer.epoch_ms / 1_000, UTC)
        self._worker = ThreadPoolExecutor(2, thread_name_prefix="attached")
        self._ended = False

    @property
    def status(self) -> EngineStatus:
        mode = Mode.FINISHED if self._ended else Mode.FAILED if self.session.error else Mode.RUNNING
        return EngineStatus(mode, 1.0, self.end_ns, 0.0, self.session.error)

    @property
    def standing(self) -> Standing | None:
        session = self.session
        where, facts, age_s = session.peer.address, session.peer.facts, session.age_s
        brief = tr("{where} every {period}", where=where, period=duration(ns_from_s(facts.period_s)))
        if facts.listens and not self._ended and not session.error:
            return self._between(facts, where)
        if self._ended:
            return Standing("warning", tr("STOPPED"), tr("It is no longer observed. The broker itself goes on."), brief)
        if session.error:
            return None
        if age_s > max(_AWAY_S, _LOOKS_MISSED * facts.period_s):
            word = tr("ATTACHED, not seen for {time}", time=duration(ns_from_s(int(age_s))))
            return Standing("warning", word, session.problem or where, brief, stale=True)
        tip = tr(
            "{name} at {where}, polled every {period}; a poll takes {time}.",
            name=facts.name,
            where=where,
            period=duration(ns_from_s(facts.period_s)),
            time=duration(ns_from_s(facts.look_s)),
        )
        return Standing("attached", tr("ATTACHED {where}", where=where.rpartition("/")[2]), tip, brief)

    def _between(self, facts: PeerFacts, where: str) -> Standing:
        faults = self.latest.faults
        tip = self.clients_come
        brief = tr("{listens} leads to {where}", listens=facts.listens, where=where)
        if facts.away_s > _AWAY_S:
            word = tr("BETWEEN, cluster not seen for {time}", time=duration(ns_from_s(int(facts.away_s))))
            return Standing("warning", word, tip, brief, stale=True)
        tip = " ".join(filter(None, (tip, self.rights)))
        if faults:
            return Standing("failure", tr("BETWEEN, DISTURBED"), tip, brief)
        return Standing("attached", tr("BETWEEN {listens}", listens=facts.listens), tip, brief)

    @property
    def connections(self) -> Sequence[ConnectionView]:
        return () if self._ended else self.session.connections

    @property
    def latest(self) -> Snapshot:
        return self.session.latest

    @property
    def end_ns(self) -> int:
        return self.session.latest.time_ns

    def open_playback(self) -> Playback:
        return self.session.playback()

    def ask(self, request: Request[T]) -> Future[T]:
        return self._later(lambda: self.session.peer.ask(request))

    def perform(self, action: UserAction) -> Future[Performed]:
        return self._later(lambda: self.session.perform(action))

    def _later(self, call: Callable[[], T]) -> Future[T]:
        try:
            return self._worker.submit(call)
        except RuntimeError:  # it is closed
            return closed()

    def why_not(self, what: type[Any]) -> str:
        return tr(OWN_TIME) if what is Engine else tr(sentence(self.session.why_not(what)))

    def why_no_branch(self) -> str:
        return tr("This session observes a broker elsewhere: it can be replayed, but not rerun.")

    def knows(self, word: str) -> bool:
        return word in KNOWABLE and self.session.peer.knows(word)

    def close(self, *, finished: bool = False) -> None:
        if not self._ended:
            self._ended, self.passing, self.guarded = True, None, None
            self._worker.shutdown(wait=False)  # what is asked for still gets its answer
            try:
                self.session.close()
            finally:
                self.closing()
