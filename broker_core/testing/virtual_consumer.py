"""A consumer in virtual time: its methods are those of confluent-kafka, and its actor lives in a simulation.

The function under test has a thread; the actor runs in the loop's. Two paths lead from the one to the other:

- A call: `VirtualConsumer._call` → `BlockingThread.ask`, in which the function's thread waits → `FunctionActor.call`
  in the loop, which takes virtual time there and back.
- A listener of rebalances: `FunctionActor._tell` in the loop → `BlockingThread.call_back` → `VirtualConsumer.told` in
  the function's thread, while that waits in a call. If the actor leaves, no call waits any more: then the loop's
  thread runs the listener itself, and what that calls is done at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

from broker_core.clients.consumer import Consumer
from broker_core.clients.effects import SqliteEffects
from broker_core.clients.membership import ConsumerConfig
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import StoredMessage
from broker_core.messages import TopicPartition as Place
from broker_core.replies import Reply
from broker_core.simulation.consumer import ConsumerActor
from broker_core.simulation.specs import ConsumerSpec, GroupSpec
from broker_core.testing.blocking_thread import BlockingThread
from broker_core.testing.confluent_errors import as_raised, local_error
from broker_core.testing.disturbed_actor import DisturbedActor
from broker_core.testing.schedule import Disturbance
from broker_core.testing.virtual_message import OFFSET_INVALID, TopicPartition, VirtualMessage

T = TypeVar("T")

RESTART_S = 1.0  # of a function that a broker's error has ended, as by a supervisor
WAIT_MS = 1_000.0  # a part of a poll without an end
_BOUNDS = {-2: 0, -1: 1}  # OFFSET_BEGINNING, OFFSET_END


Listener = Callable[["VirtualConsumer", list[TopicPartition]], object]
OnCommit = Callable[[BrokerError | None, list[TopicPartition]], object]


class VirtualConsumer:
    """The consumer passed to the function of a `FunctionActor`. Every call takes virtual time; one in which the actor
    crashes does not return.

    Its calls, callbacks and errors are those of confluent-kafka 2 with `enable.auto.commit` off, and a test holds it to
    them. An error is raised as `BrokerError`, which is a `KafkaException`, too, if confluent-kafka is imported.
    """

    def __init__(self, actor: FunctionActor, client: Consumer) -> None:
        self.thread: BlockingThread
        self._actor = actor
        self._client = client
        self._unsubscribes = False
        self._in_listener = self._listener_failed = False
        self._coming: frozenset[Place] = frozenset()  # partitions of which on_assign is being told
        self._positions: dict[Place, int] = {}
        self._stored: dict[Place, int] = {}
        self._committed: dict[Place, int] = {}

    # -- subscriptions

    def subscribe(
        self,
        topics: Sequence[str],
        on_assign: Listener | None = None,
        on_revoke: Listener | None = None,
        on_lost: Listener | None = None,
    ) -> None:
        """Read `topics` from the next poll on, in which the listeners are called; a commit in `on_revoke` counts."""
        for what, listener in (("assign", on_assign), ("revoke", on_revoke), ("lost", on_lost or on_revoke)):
            if listener is not None:
                self._actor.listeners[what] = partial(listener, self)
            else:
                self._actor.listeners.pop(what, None)
        self._unsubscribes = False
        self._client.subscribe(topics)

    def unsubscribe(self) -> None:
        """Leave the group with the next poll, which calls `on_revoke`."""
        self._unsubscribes = True

    def assign(self, partitions: Sequence[Any]) -> None:
        """Read exactly these; from the committed offset, unless a partition has an offset.

        In `on_assign`: read the assigned partitions from these offsets.
        """
        self._coming = frozenset()
        self._actor.chooses_offsets(self._client.group)
        if not self._in_listener:
            self._forget(tuple(self._client.assignment))
            self._client.assign([_place(each) for each in partitions])
            self._begin(self._client.assignment)
        for each in partitions:
            offset = getattr(each, "offset", OFFSET_INVALID)
            if offset in _BOUNDS:
                offset = self._bounds(_place(each))[_BOUNDS[offset]]
            if offset >= 0:
                self._client.seek(*_place(each), offset)

    def incremental_assign(self, partitions: Sequence[Any]) -> None:
        """`assign` in the `on_assign` of a cooperative consumer."""
        self.assign(partitions)

    def unassign(self) -> None:
        """Read nothing. In `on_revoke` it has no effect: the partitions go when that ends."""
        if not self._in_listener:
            self.assign(())

    def incremental_unassign(self, partitions: Sequence[Any]) -> None:
        """For `on_revoke`, in which it has no effect: the partitions go when that ends."""

    def assignment(self) -> list[TopicPartition]:
        """The partitions that it owns; in `on_assign`, without the new ones."""
        owned = (*self._client.assignment, *self._client.lost)
        return _places([place for place in owned if place not in self._coming])

    # -- reading

    def poll(self, timeout: float | None = None) -> VirtualMessage | None:
        """The next message; None after `timeout` seconds. Without one it waits for as long as it takes."""
        messages = self.consume(1, -1 if timeout is None else timeout)
        return messages[0] if messages else None

    def consume(self, num_messages: int = 1, timeout: float = -1) -> list[VirtualMessage]:
        """Up to `num_messages`; [] after `timeout` seconds, which below 0 never ends."""

        async def poll() -> list[StoredMessage]:
            self._actor.enter("waiting")
            await self._actor.tell_commits()
            if self._unsubscribes:
                self._unsubscribes = False
                await self._client.unsubscribe()
            messages: list[StoredMessage] = []
            while not messages:
                timeout_ms = WAIT_MS if timeout < 0 else timeout * 1_000
                if self._client.reads:
                    messages = await self._client.poll(timeout_ms, num_messages, hand_out=False)
                else:
                    await self._actor.sleep(timeout_ms / 1_000)
                if self._listener_failed:
                    self._listener_failed = False
                    self._client.take_back({_place(each): each.offset for each in reversed(messages)})
                    return []
                if timeout >= 0:
                    break
            self._actor.enter("running")
            return self._client.hand(messages)

        found = self._call(poll)
        for message in found:
            self._positions[message.topic, message.partition] = message.offset + 1
            if self._actor.stores_offsets:
                self._stored[message.topic, message.partition] = message.offset + 1
        return [VirtualMessage(message) for message in found]

    def seek(self, partition: Any) -> None:
        """Read on from `partition.offset`. Raises _STATE for a partition that it does not own."""
        place = _place(partition)
        if place in self._coming or place not in self._client.assignment:
            raise local_error("_STATE", f"{place[0]}/{place[1]} is not assigned; seek once it is")
        self._actor.chooses_offsets(self._client.group)
        self._positions.pop(place, None)
        self._client.seek(*place, partition.offset)

    def pause(self, partitions: Sequence[Any]) -> None:
        """Read none of these until `resume`; they stay assigned. In `on_assign` it has no effect before `assign`."""
        self._client.paused.update(place for place in map(_place, partitions) if place not in self._coming)

    def resume(self, partitions: Sequence[Any]) -> None:
        """Undo `pause`."""
        self._client.paused.difference_update(map(_place, partitions))

    def position(self, partitions: Sequence[Any]) -> list[TopicPartition]:
        """Behind the last message that was got of each; OFFSET_INVALID if none was since the assignment or seek."""
        return [TopicPartition(*place, self._positions.get(place, OFFSET_INVALID)) for place in map(_place, partitions)]

    def get_watermark_offsets(
        self, partition: Any, timeout: float | None = None, cached: bool = False
    ) -> tuple[int, int]:
        """The first offset that is there, and the one of the next message."""

        async def bounds() -> tuple[int, int]:
            return self._bounds(_place(partition))

        return self._call(bounds)

    def _bounds(self, place: Place) -> tuple[int, int]:
        logs = self._actor.broker.logs
        return logs.start_offset(*place), logs.end_offset(*place)

    # -- committing

    def commit(
        self, message: VirtualMessage | None = None, offsets: Sequence[Any] | None = None, asynchronous: bool = True
    ) -> list[TopicPartition] | None:
        """Commit behind `message`, or `offsets` (with topic, partition and offset), or all that was got since the last.

        With `asynchronous` it does not wait; the `on_commit` of `add_consumers` hears of it with a later poll. Raises
        _NO_OFFSET if there is nothing to commit, and _ASSIGNMENT_LOST once the group has gone on without it.
        """
        if message is not None:
            offsets = [TopicPartition(message.topic(), message.partition(), message.offset() + 1)]
        if offsets is None:
            got = self._stored.items()
            chosen = {place: offset for place, offset in got if offset > self._committed.get(place, OFFSET_INVALID)}
        else:
            chosen = {_place(each): each.offset for each in offsets if each.offset >= 0}
        if any(not self._committed.get(at, 0) <= offset <= self._positions.get(at, 0) for at, offset in chosen.items()):
            self._actor.chooses_offsets(self._client.group)
        told = [*chosen] if offsets is not None else list(dict.fromkeys((*self._client.assignment, *chosen)))
        told_offsets = [
            TopicPartition(topic, number, chosen.get((topic, number), OFFSET_INVALID)) for topic, number in told
        ]

        lost = bool(self._client.lost)
        if lost:
            told_offsets = []

        def commit() -> None:
            if lost:
                code = ErrorCode.ILLEGAL_GENERATION if self._client.cut_off is None else self._client.cut_off.code
                raise local_error("_ASSIGNMENT_LOST", "the group has continued without this member", code)
            if not chosen:
                raise local_error("_NO_OFFSET", "nothing was read since the last commit")
            self._client.commit_offsets(chosen, backwards=True)
            self._committed.update(chosen)

        async def arrive() -> list[TopicPartition]:
            commit()
            return told_offsets

        if not asynchronous:
            return self._call(arrive)
        self._actor.later(commit, told_offsets)
        return None

    def store_offsets(self, message: VirtualMessage | None = None, offsets: Sequence[Any] | None = None) -> None:
        """Have the next `commit` include these. Raises _INVALID_ARG unless `stores_offsets` is off."""
        if self._actor.stores_offsets:
            raise local_error("_INVALID_ARG", "add_consumers(..., stores_offsets=False) leaves it to the function")
        if message is not None:
            offsets = [TopicPartition(message.topic(), message.partition(), message.offset() + 1)]
        for each in offsets or ():
            if _place(each) not in self._client.assignment:
                raise local_error("_STATE", f"{each.topic}/{each.partition} is not assigned")
            self._stored[_place(each)] = each.offset

    def committed(self, partitions: Sequence[Any], timeout: float | None = None) -> list[TopicPartition]:
        """The group's committed offset of each; OFFSET_INVALID if there is none."""

        async def found() -> list[TopicPartition]:
            groups, group = self._actor.broker.groups, self._client.group
            offsets = [(place, groups.committed(group, *place)) for place in map(_place, partitions)]
            return [TopicPartition(*place, OFFSET_INVALID if at is None else at) for place, at in offsets]

        return self._call(found)

    # -- time and the end

    def sleep(self, seconds: float) -> None:
        """Let `seconds` of virtual time pass, as work on a message takes them; no call of the broker."""
        self.thread.ask(lambda: self._actor.pass_time(seconds))

    def close(self) -> None:
        """Leave the group, after `on_revoke`."""

        async def leave() -> None:
            await self._client.unsubscribe()
            self._client.close()
            await self._actor.tell_commits(last=True)

        if not self._client.closed:
            self._call(leave)

    def _call(self, request: Callable[[], Coroutine[Reply[Any], None, T]]) -> T:
        return self.thread.ask(lambda: self._actor.call(request))

    # -- what its actor tells

    def told(self, what: str, places: Sequence[Place], listener: Callable[[list[TopicPartition]], object]) -> None:
        """Call a listener of rebalances."""
        if what == "assign":
            self._begin(places)
            self._coming = frozenset(places)
        self._in_listener = True
        try:
            listener(_places(places))
        except Exception:
            self._listener_failed = True
            raise
        finally:
            self._in_listener, self._coming = False, frozenset()
            if what != "assign":
                self._forget(places)

    def _begin(self, places: Iterable[Place]) -> None:
        self._forget(places)
        groups = self._actor.broker.groups
        known = {place: groups.committed(self._client.group, *place) for place in places}
        self._committed.update((place, offset) for place, offset in known.items() if offset is not None)

    def _forget(self, places: Iterable[Place]) -> None:
        for place in places:
            for known in (self._positions, self._stored, self._committed):
                known.pop(place, None)


def _place(of: Any) -> Place:
    return of.topic, of.partition


def _places(partitions: Iterable[Place]) -> list[TopicPartition]:
    return [TopicPartition(topic, partition) for topic, partition in partitions]


class FunctionActor(DisturbedActor, ConsumerActor):
    """A consumer whose work is `function(consumer)`; it begins anew after a crash. `disturb(disturbance)` does one."""

    def __init__(
        self,
        name: str,
        function: Callable[[VirtualConsumer], object],
        config: ConsumerConfig,
        effects_of: Callable[[str], SqliteEffects],
        *,
        disturbances: Sequence[Disturbance],
        disturb: Callable[[Disturbance], object],
        on_commit: OnCommit | None,
        chooses_offsets: Callable[[str], object],
        stores_offsets: bool,
    ) -> None:
        super().__init__(name, ConsumerSpec(name=name), effects_of, disturbances=disturbances, disturb=disturb)
        self.stores_offsets = stores_offsets
        self._on_commit = on_commit
        self.chooses_offsets = chooses_offsets  # told of the group of a function that seeks
        self._commits: list[tuple[BrokerError | None, list[TopicPartition]]] = []  # of which it is to be told
        self._consumer: VirtualConsumer | None = None
        self._leaves = False  # no call waits for the function's thread any more
        self.listeners: dict[str, Callable[[list[TopicPartition]], object]] = {}
        self._function = function
        self._config = config

    def _connect(self, group: GroupSpec) -> None:
        self.listeners.clear()
        self._client = Consumer(
            self.broker,
            self.loop,
            self.name,
            group.name,
            group.topics,
            self._config,
            on_assigned=partial(self._tell, "assign"),
            on_revoked=partial(self._tell, "revoke"),
            on_lost=partial(self._tell, "lost"),
        )
        self._client.member.muted = self._muted

    @property
    def subscribes(self) -> bool:
        """Whether it is, or is about to be, a member of its group."""
        return self._client is not None and not self._client.closed and bool(self._client.topics)

    def leave(self) -> None:
        self._leaves = True
        super().leave()

    def _tell(self, what: str, partitions: Sequence[Place]) -> Awaitable[None] | None:
        """Call a listener, in the thread that the head of this file says."""
        consumer = self._consumer
        if consumer is None:
            return None
        call = partial(consumer.told, what, partitions, self.listeners.get(what, _ignore))

        async def call_in_thread() -> None:
            await consumer.thread.call_back(call)
            # What the listener has sent arrives before the member's next request.
            await self.loop.wait_ns(self._arrives_ns - self.loop.now_ns)

        if not self._leaves:
            return call_in_thread()
        with consumer.thread.at_once():
            call()
        return None

    async def tell_commits(self, *, last: bool = False) -> None:
        """Call `on_commit` for what has come since the last poll, or for all that there will be."""
        if last:
            await self._latency()  # the commits that are on their way arrive before
        told, self._commits = self._commits, []
        if self._on_commit is not None and self._consumer is not None:
            for error, partitions in told:
                await self._consumer.thread.call_back(partial(self._on_commit, error, partitions))

    async def run(self) -> None:
        while (client := self._client) is not None:
            consumer = self._consumer = VirtualConsumer(self, client)
            consumer.thread = BlockingThread(partial(self._function, consumer), self.name)
            self._leaves = False
            self.enter("running")
            try:
                await consumer.thread.run()
            except BrokerError:
                self.failed += 1
                client.abandon()
                await self.sleep(RESTART_S)
                if self._group is not None:
                    self._connect(self._group)
            else:
                client.abandon()
                return

    async def call(self, request: Callable[[], Coroutine[Reply[Any], None, T]]) -> T:
        return await (request() if self._leaves else super().call(request))

    def later(self, request: Callable[[], object], about: list[TopicPartition]) -> None:
        """A commit without a waiting caller; it is lost if the client crashes before it arrives."""

        def arrive() -> None:
            failed: BrokerError | None = None
            try:
                request()
            except BrokerError as error:
                self.failed += 1
                failed = as_raised(error)
            self._commits.append((failed, about))

        if self._leaves:
            arrive()
            return
        client = self._client
        self.loop.timers.at(self._arrival_ns(), lambda _at: arrive() if self._client is client else None)


def _ignore(_partitions: list[TopicPartition]) -> None:
    """The default listener."""
