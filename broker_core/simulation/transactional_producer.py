from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from broker_core.broker.publishing import Published
from broker_core.errors import BrokerError, ErrorCode, Suppress
from broker_core.log.batch import ProducerStamp
from broker_core.messages import Message
from broker_core.replies import Reply
from broker_core.simulation.producer import STORAGE_RETRY_S, ProducerActor
from broker_core.simulation.specs import ProducerSpec, Transactional
from broker_core.transactions.transaction import Identity

T = TypeVar("T")

# Its transaction is no longer open: it timed out, or another producer has the transactional id.
_OVER = frozenset(
    {
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.PRODUCER_FENCED,
    }
)
_ASKED_AGAIN = frozenset({ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.STORAGE_ERROR})


class TransactionalProducerActor(ProducerActor):
    """Puts so many messages into a transaction, and ends it: most are committed, some aborted.

    Its name is its transactional id. When it comes back after a crash, what it had left open is aborted.
    """

    def __init__(self, spec: ProducerSpec, transactional: Transactional) -> None:
        super().__init__(spec)
        self._transactional = transactional
        self._identity: Identity | None = None
        self._sequences: Counter[int] = Counter()  # by partition, the next one
        self._in_transaction = 0
        self._ended = 0

    async def run(self) -> None:
        await super().run()
        if self._in_transaction:
            await self._end()

    def crash(self) -> None:
        super().crash()
        self._forget()

    def forget_deleted(self) -> None:
        self._forget()

    def retire(self) -> None:
        identity = self._identity
        super().retire()
        if identity is not None and self._in_transaction:
            # One that has timed out has nothing left to abort.
            with contextlib.suppress(BrokerError):
                self.broker.transactions.end(self.loop.now_ns, self.name, identity, commits=False)
        self._forget()

    def _forget(self) -> None:
        self._identity = None
        self._in_transaction = 0

    async def _offer(self, partition: int | None, messages: Sequence[Message]) -> bool:
        if partition is None:
            (partition,) = self.broker.logs.by_partition(self.spec.to, messages)
        while True:
            with Suppress(*_OVER):
                await self._join(partition)
                accepted = await super()._offer(partition, messages)
                break
            self._forget()
        if self._in_transaction >= self._transactional.messages:
            await self._end()
        return accepted

    async def _join(self, partition: int) -> None:
        coordinator, name, place = self.broker.transactions, self.name, (self.spec.to, partition)
        if self._identity is None:
            timeout_ms = self._transactional.timeout_ms
            self._identity = await self._asked(
                lambda now_ns: coordinator.begin_session(now_ns, name, timeout_ms, client=name)
            )
            self._sequences.clear()
        identity = self._identity
        await self._asked(lambda now_ns: coordinator.add_partitions(now_ns, name, identity, (place,)))

    async def _asked(self, ask: Callable[[int], Reply[T]]) -> T:
        """The broker's answer to `ask(now_ns)`, which is asked again while another transaction or the disk is busy."""
        while True:
            with Suppress(*_ASKED_AGAIN):
                return await ask(self.loop.now_ns)
            self.enter("waiting")
            await self.sleep(STORAGE_RETRY_S)

    def _publish(self, partition: int | None, messages: Sequence[Message]) -> Reply[Published | None]:
        assert self._identity is not None
        assert partition is not None
        stamp = ProducerStamp(*self._identity, self._sequences[partition], transactional=True)
        return self.broker.publishing.publish_batch(
            self.loop.now_ns,
            self.spec.to,
            partition,
            messages,
            client=self.name,
            producer=stamp,
            on_appended=self._appended,
        )

    def _appended(self, published: Published) -> None:
        self._sequences[published.partition] += published.count
        self._in_transaction += published.count

    async def _end(self) -> None:
        """Commit or abort. One that has timed out was aborted."""
        every = self._transactional.abort_every
        self._ended += 1
        commits = not every or self._ended % every != 0
        identity = self._identity
        if identity is None:
            return
        with Suppress(*_OVER):
            await self._asked(lambda at_ns: self.broker.transactions.end(at_ns, self.name, identity, commits=commits))
            self._in_transaction = 0
            return
        self._forget()


def producer_of(spec: ProducerSpec) -> ProducerActor:
    return ProducerActor(spec) if spec.transactional is None else TransactionalProducerActor(spec, spec.transactional)
