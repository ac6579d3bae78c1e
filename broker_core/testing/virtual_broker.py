"""A broker in virtual time, for tests of consumers that are functions: a minute of it takes some milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from broker_core.clients.membership import ConsumerConfig
from broker_core.clock import NS_PER_S, ns_from_s, s_from_ns
from broker_core.events import MESSAGE_KINDS, Event
from broker_core.messages import Headers, Message, StoredMessage
from broker_core.operations.queues import CreateQueue
from broker_core.operations.topics import CreateTopic
from broker_core.plurals import counted
from broker_core.queues.config import QueueConfig
from broker_core.recording.checker import Checker
from broker_core.recording.violation import life_of
from broker_core.simulation.actions.faults import Crash, DropHeartbeats, Pause
from broker_core.simulation.actions.groups import MoveConsumer
from broker_core.simulation.actor import as_bytes
from broker_core.simulation.scenario import Scenario
from broker_core.simulation.simulation import Simulation
from broker_core.simulation.specs import GroupSpec
from broker_core.snapshots import DeadLetterView, Snapshot
from broker_core.testing.history import stored_in
from broker_core.testing.schedule import KINDS, Disturbance, Kind, Schedule, checked_kinds
from broker_core.testing.virtual_consumer import FunctionActor, OnCommit, VirtualConsumer
from broker_core.testing.virtual_session import VirtualRun
from broker_core.testing.virtual_worker import FunctionWorker, VirtualWorker

PRODUCER = "test"
DONE_BEFORE = 2  # events of messages before a disturbance, which a timeline tells
DEFAULT_CONFIG = ConsumerConfig(session_timeout_ms=6_000, heartbeat_interval_ms=1_000, commit_on_revoke=False)


class VirtualBroker(VirtualRun):
    """A broker, its consumers, and what goes wrong by a `Schedule`. Use it in one thread, as a context manager.

    The checker of recordings judges every run: an error of the broker itself raises `recording.violation.Violation`.
    """

    def __init__(self, schedule: Schedule | None = None, *, kinds: Sequence[Kind] = KINDS) -> None:
        """`kinds` are those that are drawn if the schedule has no disturbances of its own. Raises ValueError."""
        self.schedule = schedule or Schedule(0, ())
        self.disturbed: list[Disturbance] = []
        self._disturbed_at: list[tuple[int, str]] = []  # the number of the next event, and the client
        self._kinds = checked_kinds(kinds)
        scenario = Scenario(title="Virtual broker", about="", until_s=1, durability="memory", rebalance_delay_ms=100)
        self._own_offsets: set[str] = set()
        self._max_attempts: dict[str, int] = {}
        checker = Checker(own_offsets=self._own_offsets, max_attempts=self._max_attempts)
        super().__init__(Simulation(scenario, seed=self.schedule.seed), checker)
        self._broker = self._simulation.broker
        self._last_publish_ns = 0
        self._away = 0

    # -- arrange

    def create_topic(self, name: str, partitions: int = 1) -> None:
        """Raises BrokerError: TOPIC_ALREADY_EXISTS, INVALID_TOPIC, INVALID_PARTITIONS."""
        self._broker.handle(self._simulation.loop.now_ns, CreateTopic(name=name, partitions=partitions))

    def create_queue(self, name: str, config: QueueConfig | None = None) -> None:
        """Raises BrokerError: TOPIC_ALREADY_EXISTS, INVALID_TOPIC."""
        config = config or QueueConfig()
        self._broker.handle(self._simulation.loop.now_ns, CreateQueue(name=name, settings=config))
        if config.max_attempts:
            self._max_attempts[name] = config.max_attempts

    def publish(
        self,
        topic: str,
        *values: str | bytes,
        key: str | bytes | None = None,
        headers: Headers = (),
        at_s: float | None = None,
    ) -> None:
        """Append `values` to a topic or queue, now or at `at_s` of virtual time.

        Raises BrokerError if it is done now.
        """
        messages = [Message(as_bytes(value), None if key is None else as_bytes(key), headers) for value in values]

        def append(now_ns: int) -> None:
            for message in messages:
                self._broker.publishing.publish(now_ns, topic, message, client=PRODUCER).result()

        if at_s is None:
            append(self._simulation.loop.now_ns)
        else:
            self._last_publish_ns = max(self._last_publish_ns, ns_from_s(at_s))
            self._simulation.loop.timers.at(ns_from_s(at_s), append)

    def add_consumers(
        self,
        function: Callable[[VirtualConsumer], object],
        group: str,
        *,
        count: int = 1,
        config: ConsumerConfig = DEFAULT_CONFIG,
        on_commit: OnCommit | None = None,
        stores_offsets: bool = True,
    ) -> None:
        """`count` members GROUP-1, GROUP-2, ... that run `function(consumer)`, each as a process of its own would.

        The function subscribes, polls and commits with the methods of confluent-kafka (see `VirtualConsumer`). One that
        raises an error of the broker is started again after a second; any other error ends the run, which raises it.
        `on_commit(error or None, partitions)` and `stores_offsets` are confluent-kafka's `on_commit` and
        `enable.auto.offset.store`.
        """
        context = self._simulation.context
        spec = context.groups.setdefault(group, GroupSpec(name=group, topics=()))
        first = 1 + sum(actor.target == group for actor in context.actors.values())
        for name in (f"{group}-{number}" for number in range(first, first + count)):
            actor = FunctionActor(
                name,
                function,
                config,
                context.effects_of,
                disturbances=self.schedule.of(name, self._kinds),
                disturb=self._disturb,
                on_commit=on_commit,
                chooses_offsets=self._own_offsets.add,
                stores_offsets=stores_offsets,
            )
            context.add(actor).join(spec)

    def add_workers(self, function: Callable[[VirtualWorker], object], queue: str, *, count: int = 1) -> None:
        """`count` workers QUEUE-1, QUEUE-2, ... that run `function(worker)`, each as a process of its own would.

        `worker` is a `QueueConsumer` of `queue`. What a worker held that has crashed comes again once its lease is
        over; one that leaves gives it back. Errors are as with `add_consumers`. Raises UNKNOWN_QUEUE.
        """
        self._broker.queues.queue(queue)
        context = self._simulation.context
        first = 1 + sum(isinstance(actor, FunctionWorker) and actor.queue == queue for actor in context.actors.values())
        kinds = [kind for kind in self._kinds if kind != "drop_heartbeats"]  # a worker sends none
        for name in (f"{queue}-{number}" for number in range(first, first + count)):
            context.add(FunctionWorker(name, function, queue, self.schedule.of(name, kinds), self._disturb)).start()

    # -- act

    def run(self, until_s: float = 300.0) -> float:
        """Let virtual time pass until groups and workers have finished and no disturbance lasts, or `until_s`.

        They have when every message is committed, acknowledged or dead-lettered. Returns the virtual time in seconds.
        Raises what a consumer's function raises.
        """
        loop = self._simulation.loop
        end_ns = ns_from_s(until_s)
        while loop.now_ns < end_ns:
            loop.run_until(min(end_ns, loop.now_ns + NS_PER_S))
            if self._settled():
                break
        return s_from_ns(loop.now_ns)

    # -- assert

    def messages(self, topic: str) -> list[StoredMessage]:
        """All messages of `topic`, by partition and offset. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return [message for log in self._broker.logs.topic(topic).log.partitions for message in stored_in(log)]

    def dead_letters(self, queue: str) -> tuple[DeadLetterView, ...]:
        """The dead letters of `queue`, the oldest first. Raises UNKNOWN_QUEUE."""
        return self._broker.queues.dead_letters(queue).list(None, 0, None)

    def unread(self, group: str) -> int:
        """Messages of the topics of `group` that it has not committed; all that there are if it reads none yet."""
        return _unread(self._simulation.snapshot(), group)

    def uncommitted(self) -> str:
        """Describes what groups have not committed and workers not finished; "" if nothing. A program may still hold
        it."""
        snapshot = self._simulation.snapshot()
        unfinished = self._unfinished(snapshot)
        counts = {group: _unread(snapshot, group) for group in self._simulation.context.groups}
        told = [f"{group} has not committed {counted(count, 'message')}" for group, count in counts.items() if count]
        told += [f"{counted(count, 'message')} of {queue} not finished" for queue, count in unfinished.items() if count]
        return ", ".join(told)

    # -- inside

    def _settled(self) -> bool:
        """Whether everything is committed, nothing lasts, and every function waits for a message or has ended."""
        if self._simulation.loop.now_ns < self._last_publish_ns or self._away:
            return False
        snapshot = self._simulation.snapshot()
        members = {(group.name, member.client) for group in snapshot.groups for member in group.members}
        actors = self._simulation.context.actors.values()
        return (
            not snapshot.faults
            and all(actor.state in {"waiting", "stopped"} for actor in snapshot.actors)
            and all(
                (actor.target, actor.name) in members
                for actor in actors
                if isinstance(actor, FunctionActor) and actor.subscribes
            )
            and not any(_unread(snapshot, group) for group in self._simulation.context.groups)
            and not any(self._unfinished(snapshot).values())
        )

    def _unfinished(self, snapshot: Snapshot) -> dict[str, int]:
        """Messages that workers have not finished, by queue."""
        queues = {actor.queue for actor in self._simulation.actors.values() if isinstance(actor, FunctionWorker)}
        return {
            each.name: each.ready + each.delayed + each.in_flight for each in snapshot.queues if each.name in queues
        }

    def _disturb(self, disturbance: Disturbance) -> None:
        self.disturbed.append(disturbance)
        self._disturbed_at.append((self._simulation.events.count, disturbance.client))
        client, for_s, perform = disturbance.client, disturbance.for_s, self._simulation.perform
        match disturbance.kind:
            case "crash":
                perform(Crash(client, for_s))
            case "pause":
                perform(Pause(client, for_s))
            case "drop_heartbeats":
                perform(DropHeartbeats(client, for_s))
            case "leave" if isinstance(worker := self._simulation.actors[client], FunctionWorker):
                worker.retire()
                self._later(for_s, lambda: worker.come_back({}))
            case "leave":
                back = MoveConsumer(client, self._simulation.actors[client].target)
                perform(MoveConsumer(client, ""))
                self._later(for_s, lambda: perform(back))

    def _decisive(self, events: Sequence[Event]) -> Iterator[Event]:
        for at, client in self._disturbed_at:
            done = [event for event in events if event.seq < at and event.client == client]
            for event in [event for event in done if event.kind in MESSAGE_KINDS][-DONE_BEFORE:]:
                yield from life_of(events, event.topic, event.partition or 0, event.offset or 0)

    def _later(self, for_s: float, come_back: Callable[[], object]) -> None:
        def back(_at_ns: int) -> None:
            self._away -= 1
            come_back()

        self._away += 1
        loop = self._simulation.loop
        loop.timers.at(loop.now_ns + ns_from_s(for_s), back)


def _unread(snapshot: Snapshot, group: str) -> int:
    view = next((each for each in snapshot.groups if each.name == group), None)
    if view is None or not view.offsets:
        return sum(topic.published for topic in snapshot.topics)
    return sum(at.end_offset - (at.committed or 0) for at in view.offsets)
