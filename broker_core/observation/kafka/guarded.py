"""Writes to an observed cluster: each is planned, recorded, and only then carried out; see `Guard`."""

from __future__ import annotations

import getpass
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from broker_core.broker.browsing import asked_test
from broker_core.closable import Closable
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.guarded.deeds import Deed, Outcome, Plan, outcome_of
from broker_core.guarded.offsets import OffsetsPlan
from broker_core.guarded.redrive import Choice, RedrivePlan, RedriveRun
from broker_core.observation.deed_journal import DeedJournal
from broker_core.observation.guard import Guard
from broker_core.observation.kafka.calls import Calls
from broker_core.observation.kafka.cluster import Cluster
from broker_core.observation.kafka.config import ConnectionConfig
from broker_core.observation.kafka.logs import ClusterLogs
from broker_core.observation.kafka.redriving import GroupsOf, Redriving, TopicLetters
from broker_core.observation.kafka.resetting import Resetting
from broker_core.operations import guarded


class Guarded:
    """Answers the requests of `operations.guarded` for a cluster, each with connections of its own.

    `journal` keeps what is done, first; without one nothing is. `told` gets each deed, in any thread.
    """

    def __init__(
        self,
        config: ConnectionConfig,
        guard: Guard,
        journal: DeedJournal | None,
        groups_of: GroupsOf,
        told: Callable[[Deed], object],
        wait: Callable[[float], bool],
        name: Callable[[], str],
    ) -> None:
        self._config, self.guard, self._journal = config, guard, journal
        self._groups_of, self._told, self._wait, self._name = groups_of, told, wait, name
        self._runs: dict[str, Redriving] = {}
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._name() or "the cluster"

    @property
    def principal(self) -> str:
        """The user as whom the cluster authenticates this program, in words."""
        return self._config.user or "nobody (no SASL)"

    @property
    def who(self) -> str:
        return f"{getpass.getuser()} as {self.principal}"

    def answer(self, request: Any) -> Any:
        return ANSWERED[type(request)](self, request)

    def plan_redrive(self, request: guarded.PlanTopicRedrive) -> RedrivePlan:
        with self._session() as session:
            return session.letters(request.choice).plan(
                rate_per_s=request.rate_per_s, transactional=request.transactional, groups_of=self._groups_of
            )

    def redrive(self, request: guarded.RedriveTopic) -> RedriveRun:
        """Begins it, in a thread of its own."""
        topic, plan = request.topic, request.plan
        guarded.check_plan_is_for(topic, plan.choice.topic)
        with self._lock:
            if topic in self._runs and self._runs[topic].running:
                raise BrokerError(ErrorCode.INVALID_REQUEST, f"a redrive of {topic} is in progress; stop it first")
            session = self._session()
            try:
                run = Redriving(session.letters(plan.choice), plan, self.guard, self._groups_of)
                self._begin(plan, run.check)
            except BaseException:
                session.close()
                raise
            thread = threading.Thread(target=self._run, args=(session, plan, run), name=f"redrive {topic}", daemon=True)
            thread.start()
            self._runs[topic] = run  # last: nobody waits for one that a Ctrl+C has kept from beginning
            self._threads.append(thread)
        return run.state

    def _run(self, session: _Session, plan: RedrivePlan, run: Redriving) -> None:
        with session:
            found = run.run()
        self._write(plan, outcome_of(found), found, found.error)

    def progress(self, request: guarded.TopicRedriveProgress | guarded.StopTopicRedrive) -> RedriveRun:
        about = f"no redrive of {request.topic} was begun from here"
        run = must(self._runs.get(request.topic), ErrorCode.UNKNOWN_DEAD_LETTER, about)
        if isinstance(request, guarded.StopTopicRedrive):
            run.stop()
        return run.state

    def plan_offsets(self, request: guarded.PlanOffsets) -> OffsetsPlan:
        with self._session() as session:
            if request.form != "undo":
                now_ms = time.time_ns() // 1_000_000
                return session.resetting.plan(request.group, request.target(), request.partitions, now_ms)
            members = session.calls.patiently(lambda: session.resetting.members(request.group))
            cluster = session.calls.cluster.name
            plan = None if self._journal is None else self._journal.last_reset(cluster, request.group)
            about = f"no reset of {request.group} was done from here that could be undone"
            return must(plan, ErrorCode.INVALID_REQUEST, about).undo(members or ())

    def set_offsets(self, request: guarded.SetOffsets) -> OffsetsPlan:
        plan = request.plan
        guarded.check_plan_is_for(request.group, plan.group)
        with self._session() as session, self._lock:
            self._begin(plan, lambda: session.resetting.check(plan))
            try:
                session.resetting.apply(plan)
            except BrokerError as error:
                self._write(plan, "failed", None, str(error))
                raise
        self._write(plan, "done")
        return plan

    def close(self) -> None:
        """Stop redrives after their current batch, so that they can be resumed later."""
        for run in self._runs.values():
            run.stop()
        for thread in self._threads:
            thread.join(10)

    def _session(self) -> _Session:
        return _Session(Cluster(self._config, self._wait, self.guard), self.guard)

    def _begin(self, plan: Plan, check: Callable[[], object]) -> None:
        """Write the plan down as begun if it passes `check`, as refused if the cluster is not as planned any more."""
        if self._journal is None:
            raise BrokerError(ErrorCode.READ_ONLY, "there is no journal to write it down first")
        try:
            check()
        except BrokerError as error:
            if error.code is ErrorCode.STALE_PLAN:
                self._write(plan, "refused", None, str(error))
            raise
        self._write(plan, "begun")

    def _write(self, plan: Plan, outcome: Outcome, run: RedriveRun | None = None, error: str = "") -> None:
        deed = Deed(at_ms=time.time_ns() // 1_000_000, who=self.who, plan=plan, outcome=outcome, run=run, error=error)
        if self._journal is not None:
            self._journal.add(deed)
        self._told(deed)


class _Session(Closable):
    """The connections of one request or run."""

    def __init__(self, cluster: Cluster, guard: Guard) -> None:
        self.calls, self._logs = Calls(cluster), ClusterLogs(cluster)
        self.resetting = Resetting(self.calls, self._logs, guard)

    def letters(self, choice: Choice) -> TopicLetters:
        return TopicLetters(self.calls, self._logs, choice, asked_test(choice.where))

    def close(self) -> None:
        self._logs.close()


ANSWERED: Final[dict[type[Any], Callable[[Guarded, Any], Any]]] = {
    guarded.PlanTopicRedrive: Guarded.plan_redrive,
    guarded.RedriveTopic: Guarded.redrive,
    guarded.TopicRedriveProgress: Guarded.progress,
    guarded.StopTopicRedrive: Guarded.progress,
    guarded.PlanOffsets: Guarded.plan_offsets,
    guarded.SetOffsets: Guarded.set_offsets,
}
#: What each unlocks, of those that write.
VERBS: Final = {guarded.RedriveTopic: "redrive", guarded.SetOffsets: "offsets"}
