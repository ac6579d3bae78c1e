"""A queue against the plainest possible model: a dictionary, searched from end to end.

The laws: one holder per lease; every message is one of ready, delayed, held, acknowledged, dead, purged or evicted;
messages come out in the model's order; attempts and expiries are the model's.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from broker_core.errors import BrokerError, ErrorCode
from broker_core.queues.config import RetryPolicy
from broker_core.queues.lease import Lease
from broker_core.replies import Reply
from tests.broker_core.queues.queue_setup import QueueSetup
from tests.long_form import examples

LEASE_MS = 100
RETRY_MS = 30
MAX_ATTEMPTS = 3

HOLDERS = st.sampled_from("abc")
Place = tuple[int, int]  # level, offset


@dataclass
class Item:
    published_ms: int
    state: str = "ready"
    attempts: int = 0
    holder: str = ""
    due: tuple[int, int] = (0, 0)


@dataclass
class Waiter:
    reply: Reply[list[Lease]]
    holder: str
    most: int
    due: tuple[int, int]
    expected: list[tuple[Place, int]] | None = None


@dataclass
class Model:
    ageing_ms: int | None
    items: dict[Place, Item] = field(default_factory=dict)
    waiters: list[Waiter] = field(default_factory=list)
    purges: list[list[Place]] = field(default_factory=list)
    turns: int = 0

    def turn(self) -> int:
        self.turns += 1
        return self.turns

    def ready(self) -> list[Place]:
        return sorted(place for place, item in self.items.items() if item.state == "ready")

    def next(self, now_ms: int) -> Place | None:
        ready = self.ready()
        ageing_ms = self.ageing_ms
        if ageing_ms is None or not ready:
            return ready[0] if ready else None
        heads = {}
        for level, offset in reversed(ready):
            heads[level] = offset

        def urgency(level: int) -> tuple[int, int, int]:
            published_ms = self.items[level, heads[level]].published_ms
            return max(level - (now_ms - published_ms) // ageing_ms, 0), published_ms, level

        level = min(heads, key=urgency)
        return level, heads[level]

    def hand_out(self, now_ms: int, holder: str, most: int) -> list[tuple[Place, int]]:
        out: list[tuple[Place, int]] = []
        turn = 0
        while len(out) < most and (place := self.next(now_ms)) is not None:
            turn = turn or self.turn()
            item = self.items[place]
            item.state, item.holder, item.due = "held", holder, (now_ms + LEASE_MS, turn)
            item.attempts += 1
            out.append((place, item.attempts))
        return out

    def serve(self, now_ms: int) -> None:
        while self.waiters and self.ready():
            waiter = self.waiters.pop(0)
            waiter.expected = self.hand_out(now_ms, waiter.holder, waiter.most)

    def advance(self, until_ms: int) -> None:
        while True:
            dues = [item.due for item in self.items.values() if item.state in ("held", "delayed")]
            dues += [waiter.due for waiter in self.waiters]
            due = min(dues, default=None)
            if due is None or due[0] > until_ms:
                return
            for waiter in [waiter for waiter in self.waiters if waiter.due == due]:
                self.waiters.remove(waiter)
                waiter.expected = []
            for item in self.items.values():
                if item.state in ("held", "delayed") and item.due == due:
                    last = item.state == "held" and item.attempts >= MAX_ATTEMPTS
                    item.state = "dead" if last else "ready"
            self.serve(due[0])

    def counts(self) -> Counter[str]:
        return Counter(item.state for item in self.items.values())


class QueueMachine(RuleBasedStateMachine):
    @initialize(ageing=st.sampled_from([None, 50, 400]), retry=st.booleans())
    def begin(self, ageing: int | None, retry: bool) -> None:
        policy = RetryPolicy("fixed", RETRY_MS) if retry else RetryPolicy()
        self.retry = retry
        self.setup = QueueSetup(
            lease_ms=LEASE_MS, max_attempts=MAX_ATTEMPTS, retry=policy, priorities=3, ageing_ms=ageing
        )
        self.model = Model(ageing)
        self.leases: list[Lease] = []
        self.waiters: list[Waiter] = []

    @rule(level=st.integers(0, 2), count=st.integers(1, 4))
    def publish(self, level: int, count: int) -> None:
        base = self.setup.publish(*["x"] * count, level=level)
        for offset in range(base, base + count):
            self.model.items[level, offset] = Item(self.setup.now_ms)
        self.model.serve(self.setup.now_ms)

    @rule(holder=HOLDERS, most=st.integers(1, 6))
    def take(self, holder: str, most: int) -> None:
        leases = self.setup.take(holder, most)
        expected = [] if self.model.waiters else self.model.hand_out(self.setup.now_ms, holder, most)
        assert places(leases) == expected
        self.leases += leases

    @rule(holder=HOLDERS, most=st.integers(1, 6), for_ms=st.integers(1, 200))
    def wait(self, holder: str, most: int, for_ms: int) -> None:
        reply = self.setup.wait(holder, most, for_ms)
        waiter = Waiter(reply, holder, most, (self.setup.now_ms + for_ms, 0))
        waiter.expected = self.model.hand_out(self.setup.now_ms, holder, most) or None
        if waiter.expected is None:
            waiter.due = (waiter.due[0], self.model.turn())
            self.model.waiters.append(waiter)
        self.waiters.append(waiter)

    def lease(self, data: Any) -> tuple[Lease, Item, bool]:
        """Any lease there ever was, and whether it still holds."""
        lease = data.draw(st.sampled_from(self.leases[-12:]))
        item = self.model.items[lease.partition, lease.offset]
        live = (item.state, item.holder, item.attempts) == ("held", lease.holder, lease.attempt)
        return lease, item, live

    def expect(self, live: bool, call: Any, lease: Lease, *rest: Any, **options: Any) -> None:
        if live:
            call(self.setup.now_ns, lease, *rest, **options)
            return
        with pytest.raises(BrokerError) as caught:
            call(self.setup.now_ns, lease, *rest, **options)
        assert caught.value.code is ErrorCode.INVALID_LEASE

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def ack(self, data: Any) -> None:
        lease, item, live = self.lease(data)
        self.expect(live, self.setup.queue.ack, lease)
        if live:
            item.state = "acknowledged"

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), requeue=st.booleans())
    def nack(self, data: Any, requeue: bool) -> None:
        lease, item, live = self.lease(data)
        self.expect(live, self.setup.queue.nack, lease, "no", requeue=requeue)
        if not live:
            return
        if not requeue or item.attempts >= MAX_ATTEMPTS:
            item.state = "dead"
        elif self.retry:
            item.state, item.due = "delayed", (self.setup.now_ms + RETRY_MS, self.model.turn())
        else:
            item.state = "ready"
        self.model.serve(self.setup.now_ms)

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def release(self, data: Any) -> None:
        lease, item, live = self.lease(data)
        self.expect(live, self.setup.queue.release, lease)
        if live:
            item.state = "ready"
            item.attempts -= 1
            self.model.serve(self.setup.now_ms)

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), lease_ms=st.integers(1, 300))
    def extend(self, data: Any, lease_ms: int) -> None:
        lease, item, live = self.lease(data)
        self.expect(live, self.setup.queue.extend, lease, lease_ms)
        if live:
            item.due = (self.setup.now_ms + lease_ms, self.model.turn())

    @rule(holder=HOLDERS)
    def close_client(self, holder: str) -> None:
        self.setup.queue.release_holder(self.setup.now_ns, holder, "closed")
        for waiter in [waiter for waiter in self.model.waiters if waiter.holder == holder]:
            self.model.waiters.remove(waiter)
            waiter.expected = []
        for item in self.model.items.values():
            if item.state == "held" and item.holder == holder:
                item.state = "ready"
                item.attempts -= 1
        self.model.serve(self.setup.now_ms)

    @rule(by_ms=st.one_of(st.integers(0, 120), st.just(1_000)))
    def advance(self, by_ms: int) -> None:
        self.model.advance(self.setup.now_ms + by_ms)
        self.setup.until(self.setup.now_ms + by_ms)

    @rule()
    def purge(self) -> None:
        purged = [place for place, item in self.model.items.items() if item.state in ("ready", "delayed")]
        assert self.setup.queue.purge(self.setup.now_ns) == len(purged)
        for place in purged:
            self.model.items[place].state = "purged"
        if purged:
            self.model.purges.append(purged)

    @rule()
    def undo_purge(self) -> None:
        purged = self.model.purges.pop() if self.model.purges else []
        assert self.setup.queue.undo_purge(self.setup.now_ns) == len(purged)
        for place in purged:
            self.model.items[place].state = "ready"
        self.model.serve(self.setup.now_ms)

    @rule(count=st.integers(1, 3), than=st.sampled_from([None, 0, 1, 2]))
    def evict(self, count: int, than: int | None) -> None:
        ready = [place for place in self.model.ready() if than is None or place[0] > than]
        assert self.setup.queue.evict(self.setup.now_ns, count, 0, than) == (len(ready) >= count)
        for _ in range(count if len(ready) >= count else 0):
            heads = dict(reversed(ready))
            if than is not None:
                level, newest = max(ready)
                heads[level] = newest
            else:
                level = min(heads, key=lambda level: (self.model.items[level, heads[level]].published_ms, -level))
            self.model.items[level, heads[level]].state = "evicted"
            ready.remove((level, heads[level]))

    @rule(data=st.data())
    def withdraw(self, data: Any) -> None:
        if self.model.items:
            place = data.draw(st.sampled_from(sorted(self.model.items)))
            item = self.model.items[place]
            waits = item.state in ("ready", "delayed")
            assert self.setup.queue.withdraw(self.setup.now_ns, *place) == waits
            if waits:
                item.state = "purged"

    @rule(data=st.data())
    def redrive(self, data: Any) -> None:
        letters = self.setup.dead_letters.list()
        if letters:
            letter = data.draw(st.sampled_from(letters))
            origin = self.model.items[letter.origin_partition, letter.origin_offset]
            assert origin.state == "dead"
            origin.state = "redriven"
            [place] = self.setup.redrive(letter.offset).redriven
            self.model.items[place.to_partition, place.to_offset] = Item(self.setup.now_ms)
            self.model.serve(self.setup.now_ms)

    @rule(after_ms=st.sampled_from([0, 50, 10_000]))
    def restart(self, after_ms: int) -> None:
        self.setup.restart(after_ms)
        for waiter in self.model.waiters:
            self.waiters.remove(waiter)
        self.model.waiters = []
        self.model.purges = []
        for item in self.model.items.values():
            item.due = (item.due[0] + after_ms, item.due[1])

    @invariant()
    def everything_is_where_the_model_has_it(self) -> None:
        if not hasattr(self, "setup"):
            return
        queue, counts = self.setup.queue, self.model.counts()
        assert (queue.ready, queue.delayed, queue.in_flight) == (counts["ready"], counts["delayed"], counts["held"])
        assert queue.size_bytes == counts["ready"] + counts["delayed"] + counts["held"]
        assert self.setup.dead_letters.count() == counts["dead"]
        assert queue.waiting_takers == len(self.model.waiters)
        assert queue.counts.acknowledged == counts["acknowledged"]
        assert queue.counts.evicted == counts["evicted"]
        assert queue.counts.purged - queue.counts.restored == counts["purged"]
        published = sum(partition.end_offset for partition in self.setup.log.partitions)
        assert published == len(self.model.items) == sum(counts.values())
        for waiter in [waiter for waiter in self.waiters if waiter.expected is not None]:
            leases = waiter.reply.result()
            assert places(leases) == waiter.expected
            self.leases += leases
            self.waiters.remove(waiter)
        assert not any(waiter.reply.done for waiter in self.waiters)
        held = [(view.partition, view.offset) for view in queue.view(10_000).leases]
        assert held == sorted(place for place, item in self.model.items.items() if item.state == "held")
        for level, table in enumerate(queue.levels.tables):
            opens = [
                offset
                for (of_level, offset), item in self.model.items.items()
                if of_level == level and item.state in ("ready", "delayed", "held")
            ]
            assert table.first_open_offset <= min(opens, default=self.setup.log.partitions[level].end_offset)


def places(leases: list[Lease]) -> list[tuple[Place, int]]:
    return [((lease.partition, lease.offset), lease.attempt) for lease in leases]


QueueMachine.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=60, deadline=None)
TestQueueAgainstModel = pytest.mark.promise("11")(QueueMachine.TestCase)


class LongQueueMachine(QueueMachine):
    pass


LongQueueMachine.TestCase.settings = settings(max_examples=1_000, stateful_step_count=150, deadline=None)
TestQueueAgainstModelForLong = pytest.mark.soak(LongQueueMachine.TestCase)
