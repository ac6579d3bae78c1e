"""The law of transactions, whatever producers do and whenever the process dies: all of one is seen, or nothing."""

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from broker_core.errors import BrokerError
from broker_core.transactions.transaction import Identity, PendingOffset
from tests.long_form import examples

from .coordinator_setup import CoordinatorSetup

IDS = ("payments", "refunds")


@dataclass
class Producer:
    """What one instance has published since its transaction began; an `old` one has been replaced."""

    transactional_id: str
    identity: Identity
    values: list[tuple[int, str]] = field(default_factory=list)
    offset: int | None = None


class Transactions(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.producers: list[Producer] = []
        self.all: dict[int, list[str]] = {0: [], 1: []}  # as stored, by partition
        self.whole: list[set[tuple[int, str]]] = []  # what was published by each transaction that was committed
        self.never: set[str] = set()
        self.committed_offset: int | None = None
        self.stable = [0, 0]
        self.number = 0

    @initialize(durability=st.sampled_from(["file", "fsync"]))
    def begin(self, durability):
        self.setup = CoordinatorSetup(durability)
        for transactional_id in IDS:
            self.init(transactional_id, 60_000)

    @rule(transactional_id=st.sampled_from(IDS), timeout_ms=st.sampled_from([100, 60_000]))
    def init(self, transactional_id, timeout_ms):
        for each in self.producers:
            if each.transactional_id == transactional_id:
                self.lose(each)
        self.producers.append(Producer(transactional_id, self.setup.init(transactional_id, timeout_ms)))
        del self.producers[:-3]  # one that was replaced stays, and goes on as if it were not

    @rule(which=st.integers(0, 2), partition=st.sampled_from([0, 1]), count=st.integers(1, 2))
    def send(self, which, partition, count):
        producer = self.producers[which % len(self.producers)]
        values = [f"{self.number + n}" for n in range(count)]
        try:
            self.setup.send(producer.identity, partition, *values, transactional_id=producer.transactional_id)
        except BrokerError:
            return
        self.number += count
        self.all[partition] += values
        producer.values += [(partition, value) for value in values]

    @rule(which=st.integers(0, 2), offset=st.integers(0, 5))
    def put_offset(self, which, offset):
        producer = self.producers[which % len(self.producers)]
        end = self.setup.broker.logs.partition("orders", 0).end_offset
        transactions, now_ns = self.setup.transactions, self.setup.now_ns
        pending = PendingOffset("billing", "orders", 0, min(offset, end))
        try:
            transactions.add_group(now_ns, producer.transactional_id, producer.identity, "billing")
            transactions.put_offsets(now_ns, producer.transactional_id, producer.identity, [pending])
        except BrokerError:
            return
        self.setup.sync()
        producer.offset = pending.offset

    @rule(which=st.integers(0, 2), commits=st.booleans(), bumps_epoch=st.booleans(), dies=st.booleans())
    def end(self, which, commits, bumps_epoch, dies):
        producer = self.producers[which % len(self.producers)]
        setup = self.setup
        try:
            ended = setup.transactions.end(
                setup.now_ns, producer.transactional_id, producer.identity, commits=commits, bumps_epoch=bumps_epoch
            )
        except BrokerError:
            return
        if dies:
            setup.kill()  # what is decided, and in the log of states, is done by the next process
        else:
            producer.identity = setup.done(ended)
        if commits and producer.values:
            self.whole.append(set(producer.values))
            producer.values.clear()
        if commits and producer.offset is not None:
            self.committed_offset = producer.offset
        self.lose(producer)
        if dies and bumps_epoch:  # as its client would, for it has not heard of its new epoch
            known = setup.transactions.begin_session(
                setup.now_ns, producer.transactional_id, 60_000, client="shop", previous=producer.identity
            )
            producer.identity = setup.done(known)

    @rule(ms=st.sampled_from([1, 60, 200]))
    def pass_time(self, ms):
        self.setup.run(ms)
        self.note_lost()

    @rule()
    def kill(self):
        self.setup.kill()
        self.note_lost()

    def note_lost(self):
        """Those whose time is over have lost what they had."""
        opened = {each.producer_id: each.epoch for each in self.setup.transactions.views()}
        for producer in self.producers:
            if opened.get(producer.identity.producer_id) != producer.identity.epoch:
                self.lose(producer)

    def lose(self, producer):
        self.never.update(value for _, value in producer.values)
        producer.values.clear()
        producer.offset = None

    @invariant()
    def all_or_nothing(self):
        if not hasattr(self, "setup"):
            return
        self.setup.sync()
        seen = {(partition, value) for partition in (0, 1) for value in self.setup.committed(partition)}
        for partition in (0, 1):
            log = self.setup.broker.logs.partition("orders", partition)
            assert log.last_stable_offset >= self.stable[partition]
            self.stable[partition] = log.last_stable_offset
            assert log.messages_count == len(self.all[partition])
            found = [(one.value or b"").decode() for one in log.read(0, max_messages=10_000)]
            assert found == self.all[partition]
        assert not {value for _, value in seen} & self.never
        assert seen <= set().union(*self.whole)
        if not self.setup.transactions.views():
            assert seen == set().union(*self.whole)  # nothing holds it back
        offset = self.setup.offsets.fetch("billing", "orders", 0)
        assert (None if offset is None else offset.offset) == self.committed_offset


TestTransactions = pytest.mark.promise("36")(Transactions.TestCase)
TestTransactions.settings = settings(max_examples=examples(100), stateful_step_count=40, deadline=None)
