"""The brokers of a cluster: which there are, and requests to several of them at once."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from broker_core.errors import BrokerError, ErrorCode
from broker_core.kafka_messages.writing import Body
from broker_core.messages import grouped
from broker_core.observation.guard import Guard
from broker_core.observation.kafka.config import ConnectionConfig
from broker_core.observation.kafka.connection import BrokerConnection, Question

Address = tuple[str, int]
Job = Callable[["BrokerLine"], Any]
# An answer that is long in coming delays only what is like it.
DATA, METADATA, QUORUM, SHARES = "data", "metadata", "quorum", "shares"
_FIRST_S: Final = 9.0  # for the first answer of any broker
_HEDGE_S: Final = 1.0  # after which another broker is asked the same
_BEHIND_S: Final = 15.0  # a broker that comes back may know only what was so when it went


class Call(NamedTuple):
    """A request to broker `node`."""

    node: int
    api: str
    body: Body


@dataclass(slots=True, eq=False)
class Task:
    """A job that a line does, or has done: then `result` is what it returned, or the `BrokerError` it raised."""

    job: Job
    began_s: float = field(default_factory=time.monotonic)
    is_done: bool = False
    result: Any = None


class BrokerLine:
    """A connection to one broker, made when it is needed, and a thread that does one job after another with it.

    `refused` says why it could not be connected the last time, "" if it could, and `refused_s` when that was last so.
    `asking` is the API that is asked now.
    """

    def __init__(self, cluster: Cluster, place: Address, timeout_s: float) -> None:
        self.place = place
        self.refused, self.refused_s = "", -_BEHIND_S
        self.asking = ""
        self.task: Task | None = None
        self.connection: BrokerConnection | None = None
        self._cluster = cluster
        self._timeout_s = timeout_s
        self._lost: BrokerError | None = None  # in this job: it is not tried again
        self._jobs: deque[Task | None] = deque()
        self._wake = threading.Semaphore(0)
        threading.Thread(target=self._run, name=f"observer {place[0]}:{place[1]}", daemon=True).start()

    def begin(self, job: Job) -> Task:
        """Run `job` in the line's thread; no other job may be running."""
        self.task = task = Task(job)
        self._jobs.append(task)
        self._wake.release()
        return task

    @property
    def is_busy(self) -> bool:
        return self.task is not None and not self.task.is_done

    def end(self) -> None:
        """Close the line, from any thread; requests to it fail from then on."""
        self._jobs.append(None)
        self._wake.release()
        self.drop()

    def drop(self) -> None:
        gone, self.connection = self.connection, None
        if gone is not None:
            gone.close()
            self._cluster.add_cost(gone)

    def _run(self) -> None:
        while True:
            self._wake.acquire()
            task = self._jobs.popleft()
            if task is None:
                return
            began_s = time.thread_time()
            self._lost = None
            try:
                task.result = task.job(self)
            except BrokerError as error:
                task.result = error
            except Exception as error:  # nobody would wait for it any more
                task.result = BrokerError(ErrorCode.INTERNAL_ERROR, f"{self.place[0]}:{self.place[1]}: {error!r}")
            self._cluster.job_done(task, time.thread_time() - began_s)

    # -- in its thread

    def ask(self, api: str, body: Body) -> Any:
        """Raises as a connection does. One that was cut meanwhile is made anew."""
        self.asking = api
        for again in (True, False):
            is_new = self.connection is None
            connection = self._connected()
            pause_s = connection.not_before_s - time.monotonic()
            if pause_s > 0:
                self._cluster.pause(pause_s)
            try:
                return connection.ask(api, body)
            except BrokerError as error:
                if error.code is ErrorCode.UNSUPPORTED_VERSION:
                    raise
                self.drop()
                if error.code is not ErrorCode.CONNECTION_LOST:
                    self._lost = error
                if is_new or self._lost is not None or not again:
                    raise
        raise AssertionError

    def ask_all(self, calls: Iterable[Call]) -> Iterator[tuple[Call, Any]]:
        """Each call with its answer, or the `BrokerError` of it."""
        for call in calls:
            try:
                yield call, self.ask(call.api, call.body)
            except BrokerError as error:
                yield call, error

    def has(self, api: str, version: int = 0) -> bool:
        try:
            newest = self._connected().version(api)
        except BrokerError:
            return False
        return newest is not None and newest >= version

    def _connected(self) -> BrokerConnection:
        if self._lost is not None:
            raise self._lost
        if self.connection is None:
            try:
                made = self._cluster.connect(self.place, self._timeout_s)
            except BrokerError as error:
                self._lost, self.refused_s = error, time.monotonic()
                if error.code is ErrorCode.CONNECTION_LOST:
                    self.refused = error.about
                elif error.code is ErrorCode.REQUEST_TIMED_OUT:
                    self.refused = f"{self.place[0]}:{self.place[1]} does not answer"
                raise
            self.refused, self.connection = "", made
        return self.connection


class Cluster:
    """Lines to its brokers, made when they are needed. One thread asks.

    `wait_for_end(seconds)` is True as soon as the observation ends in that time. `cpu_s` is what asking has cost.
    """

    def __init__(
        self, config: ConnectionConfig, wait_for_end: Callable[[float], bool], guard: Guard | None = None
    ) -> None:
        self._wait_for_end = wait_for_end
        self._config = config
        self._guard = guard
        self._lines: dict[tuple[Address, str], BrokerLine] = {}
        self._closed = False
        self._past_cost = (0, 0)  # of connections that are closed
        self._source: Address | None = None
        self._all_topics = Question({"topics": None, "allow_auto_topic_creation": False})
        self._task_done = threading.Condition()
        self.cpu_s = 0.0
        self.nodes: dict[int, Address] = {}
        self.name = ""

    @property
    def cost(self) -> tuple[int, int]:
        """Requests, and bytes of their answers, so far."""
        there = [line.connection for line in [*self._lines.values()]]
        rows = [(each.requests, each.bytes) for each in there if each is not None]
        requests, received = map(sum, zip(self._past_cost, *rows, strict=True))
        return requests, received

    @property
    def hosts(self) -> list[str]:
        return sorted({host for host, _port in (*self._config.bootstrap, *self.nodes.values())})

    def metadata(self, topics: Iterable[str] | None = None, patience_s: float = _FIRST_S) -> Any:
        """The cluster, with all topics or these, as one of its brokers sees it: the same as long as it answers.

        Raises as a connection does.
        """
        body: Body = self._all_topics
        if topics is not None:
            body = {"topics": [{"name": name} for name in topics], "allow_auto_topic_creation": False}
        until_s = time.monotonic() + patience_s
        tasks: dict[Address, Task] = {}
        places = [*dict.fromkeys((*self.nodes.values(), *self._config.bootstrap))]
        places.sort(key=lambda place: (place != self._source, self._is_behind(place)))

        def is_answered() -> bool:
            return any(map(_has_answered, tasks.values()))

        for place in places:
            line = self.line(place, METADATA)
            under_way = line.task if line.is_busy else None
            tasks[place] = task = under_way or line.begin(lambda line: line.ask("Metadata", body))
            self.wait([task], min(until_s, time.monotonic() + _HEDGE_S), is_answered)
            if is_answered():
                break
        self.wait(tasks.values(), until_s, is_answered)
        for place, task in tasks.items():
            if _has_answered(task):
                self._source, found = place, task.result
                self.nodes = {each.node_id: (each.host, each.port) for each in found.brokers}
                self.name = getattr(found, "cluster_id", None) or self.name
                return found
        errors = (task.result for task in tasks.values() if task.is_done)
        raise next(errors, None) or self._no_answer(places[0], METADATA)

    def _is_behind(self, place: Address) -> bool:
        line = self._lines.get((place, DATA))
        return line is not None and time.monotonic() - line.refused_s < _BEHIND_S

    def is_known_to_have(self, node: int, api: str, version: int) -> bool:
        """Whether a broker that is connected has an API from `version` on."""
        connection = self.line(self.nodes[node]).connection if node in self.nodes else None
        newest = None if connection is None else connection.version(api)
        return newest is not None and newest >= version

    def from_source(self, lane: str, job: Job) -> Task | None:
        """A job for the broker that told the metadata; None while one like it is not done."""
        assert self._source is not None
        line = self.line(self._source, lane)
        return None if line.is_busy else line.begin(job)

    def line(self, place: Address, lane: str = DATA) -> BrokerLine:
        found = self._lines.get((place, lane))
        if found is None:
            found = self._lines[place, lane] = BrokerLine(self, place, self._config.timeout_s)
        return found

    def wait(self, tasks: Iterable[Task], until_s: float, enough: Callable[[], bool] = lambda: False) -> None:
        """Until all are done, or it is `enough`."""
        with self._task_done:
            while not all(task.is_done for task in tasks) and not enough():
                if not self._task_done.wait(max(0.0, until_s - time.monotonic())):
                    return

    def ask(self, calls: Iterable[Call]) -> Iterator[tuple[Call, Any]]:
        """Each call with its response, or the `BrokerError` of it. Brokers work side by side, each on one at a time."""
        queues = grouped((call.node, call) for call in calls)
        begun: dict[int, Task | BrokerError] = {}
        for node, queue in queues.items():
            place = self.nodes.get(node)
            if place is None:
                about = f"the cluster no longer has a broker {node}"
                begun[node] = BrokerError(ErrorCode.CONNECTION_LOST, about)
            elif (line := self.line(place)).is_busy:
                begun[node] = self._no_answer(place, DATA)
            else:
                begun[node] = line.begin(lambda line, queue=queue: [*line.ask_all(queue)])  # type: ignore[misc]
        tasks = [task for task in begun.values() if isinstance(task, Task)]
        self.wait(tasks, time.monotonic() + self._config.timeout_s)
        for node, queue in queues.items():
            task = begun[node]
            if isinstance(task, Task) and task.is_done and not isinstance(task.result, BrokerError):
                yield from task.result
            else:
                error = task if isinstance(task, BrokerError) else self._no_answer(self.nodes[node], DATA)
                yield from ((call, error) for call in queue)

    def _no_answer(self, place: Address, lane: str) -> BrokerError:
        line = self.line(place, lane)
        for_s = 0.0 if line.task is None else time.monotonic() - line.task.began_s
        about = f"{place[0]}:{place[1]} has not answered {line.asking or 'anything'} for {for_s:.1f} s"
        return BrokerError(ErrorCode.REQUEST_TIMED_OUT, about)

    def pause(self, pause_s: float) -> None:
        """Wait where a broker throttles. Raises CLOSED if the observation ends meanwhile."""
        if self._wait_for_end(pause_s):
            raise _observation_ended()

    def close(self) -> None:
        """Close all connections to the cluster, from any thread; requests fail from then on."""
        self._closed = True
        for line in [*self._lines.values()]:
            line.end()

    # -- for its lines, in their threads

    def connect(self, place: Address, timeout_s: float) -> BrokerConnection:
        if self._closed:
            raise _observation_ended()
        return BrokerConnection(self._config._replace(timeout_s=timeout_s), *place, self._guard)

    def add_cost(self, gone: BrokerConnection) -> None:
        requests, received = self._past_cost
        self._past_cost = (requests + gone.requests, received + gone.bytes)

    def job_done(self, task: Task, cpu_s: float) -> None:
        with self._task_done:
            task.is_done = True
            self.cpu_s += cpu_s
            self._task_done.notify_all()


def _observation_ended() -> BrokerError:
    return BrokerError(ErrorCode.CLOSED, "the observation has ended")


def _has_answered(task: Task) -> bool:
    return task.is_done and not isinstance(task.result, BrokerError)
