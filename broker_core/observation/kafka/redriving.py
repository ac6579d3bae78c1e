"""Redrives the dead letters of a topic of a cluster, in the order of its partitions.

With transactions copies and progress are one; without, a commit before each batch says what is under way, so that a
later run can look whether it arrived.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, Final

from broker_core.errors import BrokerError, ErrorCode
from broker_core.guarded import redrive
from broker_core.log.batch import ProducerStamp, encode_copies
from broker_core.log.partitioners import murmur2_partition
from broker_core.messages import OffsetAndMetadata, StoredMessage, TopicPartition, grouped
from broker_core.observation.guard import Guard, Permit
from broker_core.observation.kafka.calls import GROUP, TRANSACTION, Calls, by_topic, check, check_rows, commit_rows
from broker_core.observation.kafka.logs import ClusterLogs
from broker_core.runs import Runs

_READ_BYTES: Final = 1 << 20
_BATCH_BYTES: Final = 500_000
_MOST_BATCH: Final = 500
_BATCHES_PER_S: Final = 4
_PATIENCE_S: Final = 90.0  # with failures alone: a node that dies is missed for 9 s
_PAUSE_S: Final = 0.3
_TRANSACTION_MS: Final = 60_000
GroupsOf = Callable[[str], tuple[str, ...]]


class TopicLetters:
    """The letters of one dead-letter topic, and what is known about them."""

    def __init__(
        self, calls: Calls, logs: ClusterLogs, choice: redrive.Choice, test: redrive.LetterTest | None
    ) -> None:
        self.calls, self.choice = calls, choice
        self._logs = logs
        self.progress: dict[int, redrive.RedriveProgress] = {}
        self.done: dict[int, Runs[bool]] = {}
        self.judge = redrive.LetterJudge(
            choice,
            self.done,
            test,
            lambda name: calls.partitions.get(name, 0),
            lambda _topic, key, count: murmur2_partition(key, count),
        )

    def read_progress(self, *, stable: bool = True) -> None:
        """Read which letters were redriven; unless `stable`, without those of an open transaction."""
        topic = self.choice.topic
        committed = self.calls.committed(redrive.progress_group(topic), stable=stable)
        self.progress = redrive.progress_of(topic, committed)
        self.done.clear()  # filled in place, for the judge holds it
        self.done |= {number: found.done for number, found in self.progress.items()}

    def spans(self) -> dict[int, tuple[int, int]]:
        logs = self._logs.partitions(self.choice.topic, None, 0, committed=True)
        return {number: (log.start_offset, log.end_offset) for number, log in logs.items()}

    def end_of(self, place: TopicPartition) -> int:
        topic, partition = place
        return self._logs.partitions(topic, (partition,), 0)[partition].end_offset

    def read(self, topic: str, partition: int, start: int, end: int | None = None) -> Iterator[list[StoredMessage]]:
        log = self._logs.partitions(topic, (partition,), 0, committed=True)[partition]
        at, stop = max(start, log.start_offset), log.end_offset if end is None else end
        while at < stop:
            found, at = log.read_committed(at, stop, _READ_BYTES)
            yield found

    def plan(
        self,
        *,
        rate_per_s: float,
        transactional: bool,
        groups_of: GroupsOf,
        spans: Mapping[int, tuple[int, int]] | None = None,
    ) -> redrive.RedrivePlan:
        """Reads all letters, and keeps none. Raises as a connection does."""
        return self.calls.patiently(lambda: self._plan(rate_per_s, transactional, groups_of, spans))

    def _plan(
        self, rate_per_s: float, transactional: bool, groups_of: GroupsOf, spans: Mapping[int, tuple[int, int]] | None
    ) -> redrive.RedrivePlan:
        if self.choice.topic not in self.calls.partitions:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, self.choice.topic)
        self.read_progress(stable=False)  # a killed run's transaction is open for up to a minute; the next run ends it
        there = self.spans()
        spans = there if spans is None else {n: (max(at, there[n][0]), end) for n, (at, end) in spans.items()}
        return redrive.previewed(
            self.judge,
            spans,
            lambda *span: chain.from_iterable(self.read(self.choice.topic, *span)),
            lambda name, counts: redrive.LettersTo(name, counts, self.calls.partitions[name], groups=groups_of(name)),
            cluster=self.calls.cluster.name,
            rate_per_s=rate_per_s,
            transactional=transactional,
        )


class Redriving:
    """One run of a plan; `run` in a thread of its own. `state` says how far it is, `stop` ends it after a batch."""

    def __init__(self, letters: TopicLetters, plan: redrive.RedrivePlan, guard: Guard, groups_of: GroupsOf) -> None:
        self._letters, self._calls, self._plan, self._guard = letters, letters.calls, plan, guard
        self._groups_of = groups_of
        self._group = redrive.progress_group(plan.choice.topic)
        self._stopping = threading.Event()
        self._producer, self._sequences = ProducerStamp(-1, -1, 0), Counter[TopicPartition]()
        self._ends: dict[TopicPartition, int] = {}
        self._moved = Counter[TopicPartition]()
        self._found: set[tuple[int, int]] = set()  # letters of which a copy was found: partition and offset
        self._uncertain = defaultdict[tuple[int, str], set[int]](set)  # sent again; by partition, and where copies are
        self._duplicates: dict[str, None] = {}
        self._batch: list[redrive.RedriveCopy] = []  # under way
        self._since_s = self._failing_s = 0.0
        self.running, self._error = True, ""

    @property
    def state(self) -> redrive.RedriveRun:
        return redrive.RedriveRun(
            plan=self._plan,
            running=self.running,
            done=self._moved.total(),
            moved=redrive.counts_by_topic(self._moved),
            duplicates=tuple(self._duplicates),
            stopped=self._stopping.is_set() and self._moved.total() < self._plan.letters,
            error=self._error,
        )

    def stop(self) -> None:
        self._stopping.set()

    def check(self) -> None:
        """Raises STALE_PLAN if the plan no longer holds, READ_ONLY if the cluster is locked."""
        self._guard.must_be_open("redrive")
        plan = self._plan
        now = self._letters.plan(
            rate_per_s=plan.rate_per_s,
            transactional=plan.transactional,
            groups_of=self._groups_of,
            spans={part.partition: (part.start, part.end) for part in plan.parts},
        )
        redrive.must_hold(redrive.redrive_changes(plan, now))

    def run(self) -> redrive.RedriveRun:
        """Raises nothing: the error is in what comes back."""
        topic, plan = self._plan.choice.topic, self._plan
        permit = Permit(
            "redrive",
            self._group,
            frozenset((topic, part.partition) for part in plan.parts),
            frozenset((target.topic, number) for target in plan.targets for number in target.letters),
        )
        self._since_s = time.monotonic()
        try:
            with self._guard.permitting(permit):
                while not self._attempt():
                    pass
        except Exception as error:  # whatever it is, nobody waits for ever
            self._error = str(error) if isinstance(error, BrokerError) else repr(error)
        self.running = False
        return self.state

    def _attempt(self) -> bool:
        """False if it must be begun again."""
        try:
            self._begin()
            for part in self._plan.parts:
                if part.letters and not self._stopping.is_set():
                    self._redrive_partition(part)
            self._name_duplicates()
        except BrokerError as error:
            self._failing_s = self._failing_s or time.monotonic()
            if not error.retriable or time.monotonic() - self._failing_s > _PATIENCE_S:
                raise
            return self._stopping.wait(_PAUSE_S)
        return True

    def _begin(self) -> None:
        """An open transaction of a killed run is ended first; what it left uncertain is looked for."""
        self._calls.refresh()
        name = self._group if self._plan.transactional else None
        body: dict[str, Any] = {"transactional_id": name, "transaction_timeout": _TRANSACTION_MS}
        body |= {"producer_id": -1, "producer_epoch": -1}
        if name is None:
            found = self._calls.one(next(iter(self._calls.cluster.nodes)), "InitProducerId", body)
        else:
            found = self._calls.coordinated(TRANSACTION, name, "InitProducerId", body)
        check(found.error_code, "InitProducerId", self._group)
        self._producer = ProducerStamp(found.producer_id, found.producer_epoch, 0, name is not None)
        self._sequences.clear()
        self._letters.read_progress()
        self._count_batch()
        for number, progress in self._letters.progress.items():
            if progress.target:
                self._look_for_sent(number, progress)

    def _look_for_sent(self, number: int, progress: redrive.RedriveProgress) -> None:
        """What a killed run was sending: what has arrived is done; the rest is sent again, and may arrive twice."""
        there = self._copies(number, progress.target)
        topic, partition, _ = _place(progress.target)
        sending = [offset for first, end, _ in progress.sending for offset in range(first, end)]
        for offset in sending:
            if there[offset]:
                progress.done.put(offset, offset + 1, True)
                if (number, offset) not in self._found:
                    self._moved[topic, partition] += 1
                self._found.add((number, offset))
        self._uncertain[number, progress.target].update(offset for offset in sending if not there[offset])
        self._commit(number, redrive.RedriveProgress(progress.done))

    def _copies(self, number: int, target: str) -> Counter[int]:
        """How many copies of each letter of a partition are at `target`, TOPIC/PARTITION@OFFSET, and behind it."""
        prefix = f"{self._plan.choice.topic}/{number}@"
        found: Counter[int] = Counter()
        for messages in self._letters.read(*_place(target)):
            sources = (redrive.source_of(each) for each in messages)
            found.update(int(each.removeprefix(prefix)) for each in sources if each.startswith(prefix))
        return found

    def _name_duplicates(self) -> None:
        for (number, target), left in self._uncertain.items():
            counts = self._copies(number, target) if left else {}
            twice = (offset for offset in sorted(left) if counts[offset] > 1)
            self._duplicates |= {f"{self._plan.choice.topic}/{number}@{offset}": None for offset in twice}

    def _redrive_partition(self, part: redrive.Part) -> None:
        most = max(1, min(_MOST_BATCH, int(self._plan.rate_per_s / _BATCHES_PER_S)))
        batch: list[redrive.RedriveCopy] = []
        size = 0
        send = partial(self._send, part.partition)
        for letters in self._letters.read(self._plan.choice.topic, part.partition, part.start, part.end):
            for letter in letters:
                copy = self._letters.judge.judge(letter)
                if not isinstance(copy, redrive.RedriveCopy):
                    continue
                elsewhere = batch and (copy.topic, copy.partition) != (batch[0].topic, batch[0].partition)
                if len(batch) >= most or size >= _BATCH_BYTES or (elsewhere and not self._plan.transactional):
                    if not send(batch):
                        return
                    batch, size = [], 0
                batch.append(copy)
                size += copy.message.size_bytes
        if batch:
            send(batch)

    def _send(self, number: int, batch: list[redrive.RedriveCopy]) -> bool:
        """False if it is to stop: the batch was not sent then."""
        due_s = self._since_s + self._moved.total() / self._plan.rate_per_s
        if self._stopping.wait(max(0.0, due_s - time.monotonic())):
            return False
        by_target = grouped(((copy.topic, copy.partition), copy.message) for copy in batch)
        offsets = redrive.run_of(copy.source for copy in batch)
        self._batch, before = batch, self._letters.done.get(number, Runs())
        done = before.copy()
        for first, end, _ in offsets:
            done.put(first, end, True)
        if self._plan.transactional:
            self._in_transaction(number, by_target, redrive.RedriveProgress(done))
        else:
            ((place, _messages),) = by_target.items()
            at = self._ends.get(place) or self._letters.end_of(place)
            self._commit(number, redrive.RedriveProgress(before, offsets, f"{place[0]}/{place[1]}@{at}"))
            self._produce(by_target)
            self._commit(number, redrive.RedriveProgress(done))
        self._letters.done[number] = done
        self._count_batch()
        return True

    def _count_batch(self) -> None:
        """Count the batch under way if it was redriven, as it may be where an answer was lost."""
        batch, self._batch = self._batch, []
        done = self._letters.done.get(batch[0].message.partition) if batch else None
        if done is not None and done.around(batch[0].source, batch[0].source + 1):
            self._failing_s = 0.0
            self._moved.update((copy.topic, copy.partition) for copy in batch)

    # -- requests

    def _in_transaction(
        self, number: int, by_target: Mapping[TopicPartition, list[StoredMessage]], progress: redrive.RedriveProgress
    ) -> None:
        ask, stamp = partial(self._calls.coordinated, TRANSACTION, self._group), self._producer
        who = {"transactional_id": self._group, "producer_id": stamp.producer_id, "producer_epoch": stamp.epoch}
        old = {f"v3_and_below_{name}": value for name, value in who.items()}
        rows = by_topic(by_target, lambda place: place[1])
        try:
            answer = ask("AddPartitionsToTxn", {**old, "v3_and_below_topics": rows})
            for topic in answer.results_by_topic_v3_and_below:
                for each in topic.results_by_partition:
                    check(each.partition_error_code, "AddPartitionsToTxn", topic.name)
            self._produce(by_target)
            check(ask("AddOffsetsToTxn", {**who, "group_id": self._group}).error_code, "AddOffsetsToTxn", self._group)
            body = {**who, "group_id": self._group, "generation_id": -1, "member_id": "", "group_instance_id": None}
            body["topics"] = self._committing(number, progress)
            found = self._calls.coordinated(GROUP, self._group, "TxnOffsetCommit", body)
            check_rows(found, "TxnOffsetCommit", self._group)
            check(ask("EndTxn", {**who, "committed": True}).error_code, "EndTxn", self._group)
        except Exception:
            with suppress(Exception):  # if it cannot be ended now, the next attempt or its timeout ends it
                ask("EndTxn", {**who, "committed": False})
            raise

    def _committing(self, number: int, progress: redrive.RedriveProgress) -> list[dict[str, Any]]:
        return commit_rows({(self._plan.choice.topic, number): OffsetAndMetadata(progress.offset, progress.encoded())})

    def _commit(self, number: int, progress: redrive.RedriveProgress) -> None:
        body = {"group_id": self._group, "generation_id_or_member_epoch": -1, "member_id": ""}
        body |= {"group_instance_id": None, "topics": self._committing(number, progress)}
        check_rows(self._calls.coordinated(GROUP, self._group, "OffsetCommit", body), "OffsetCommit", self._group)

    def _produce(self, by_target: Mapping[TopicPartition, list[StoredMessage]]) -> None:
        by_leader = grouped((self._calls.leaders.get(place, -1), place) for place in by_target)
        for leader, places in by_leader.items():
            body = {
                "transactional_id": self._group if self._plan.transactional else None,
                "acks": -1,
                "timeout": 30_000,
                "topic_data": by_topic(places, lambda place: self._data(place, by_target[place]), "partition_data"),
            }
            for topic in self._calls.one(leader, "Produce", body).responses:
                for each in topic.partition_responses:
                    check(each.error_code, "Produce", f"{topic.name}/{each.index}")
                    place = (topic.name, each.index)
                    self._sequences[place] += len(by_target[place])
                    self._ends[place] = each.base_offset + len(by_target[place])

    def _data(self, place: TopicPartition, messages: list[StoredMessage]) -> dict[str, Any]:
        stamp = self._producer._replace(sequence=self._sequences[place])
        return {"index": place[1], "records": bytes(encode_copies(messages, stamp))}


def _place(target: str) -> tuple[str, int, int]:
    """Topic, partition and offset of TOPIC/PARTITION@OFFSET."""
    place, _, offset = target.rpartition("@")
    topic, _, partition = place.rpartition("/")
    return topic, int(partition), int(offset)
