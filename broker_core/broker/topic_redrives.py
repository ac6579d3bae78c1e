"""Redrives of the dead letters that programs have put into topics of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice

import msgspec

from broker_core.broker.group_offsets import Committer, GroupOffsets
from broker_core.broker.logs import Logs
from broker_core.broker.publishing import Publishing
from broker_core.broker.schemas import Schemas
from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.events import EventStream
from broker_core.guarded import redrive
from broker_core.guarded.deeds import Deed, outcome_of
from broker_core.messages import Message, OffsetAndMetadata, StoredMessage, TopicPartition
from broker_core.runs import Runs
from broker_core.timers import Timer, Timers

_READ_MESSAGES, _READ_BYTES = 500, 1 << 20
_STEPS_PER_S = 4  # of a redrive at a rate


class _Running:
    def __init__(self, plan: redrive.RedrivePlan, copies: Iterator[redrive.RedriveCopy], client: str) -> None:
        self.plan, self.copies, self.client = plan, copies, client
        self.run = redrive.RedriveRun(plan=plan, running=True)
        self.moved = Counter[TopicPartition]()
        self.timer: Timer | None = None


class TopicRedrives(msgspec.Struct, eq=False):
    """One run a topic. A letter that a target's schema refuses stays, and is named."""

    _logs: Logs
    _publishing: Publishing
    _offsets: GroupOffsets
    _schemas: Schemas
    _timers: Timers
    _events: EventStream
    _last: dict[str, _Running] = {}

    def __post_init__(self) -> None:
        self._logs.on_removed(lambda topic: self._last.pop(topic.name, None))

    def plan(
        self,
        now_ns: int,
        choice: redrive.Choice,
        test: redrive.LetterTest | None,
        rate_per_s: float,
        spans: Mapping[int, tuple[int, int]] | None = None,
    ) -> redrive.RedrivePlan:
        """Raises UNKNOWN_TOPIC_OR_PARTITION, INVALID_REQUEST."""
        logs = self._logs.topic(choice.topic).log.partitions
        if spans is None:
            spans = {log.partition: (log.start_offset, log.last_stable_offset) for log in logs}
        groups = self._offsets.groups.views(now_ns)
        return redrive.previewed(
            self._judge(choice, test),
            spans,
            partial(self._letters, choice.topic),
            lambda name, counts: redrive.LettersTo(
                name, counts, self._logs.partition_count(name), self._schema(name), redrive.readers_of(groups, name)
            ),
            cluster="",
            rate_per_s=rate_per_s,
            transactional=False,
        )

    def start(
        self, now_ns: int, plan: redrive.RedrivePlan, test: redrive.LetterTest | None, client: str
    ) -> redrive.RedriveRun:
        """Raises STALE_PLAN with what has changed, INVALID_REQUEST for its rate or while another of the topic runs."""
        topic = plan.choice.topic
        last = self._last.get(topic)
        if last is not None and last.run.running:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"a redrive of {topic} is in progress; stop it first")
        spans = {part.partition: (part.start, part.end) for part in plan.parts}
        redrive.must_hold(redrive.redrive_changes(plan, self.plan(now_ns, plan.choice, test, plan.rate_per_s, spans)))
        judge = self._judge(plan.choice, test)
        copies = (
            found
            for part in plan.parts
            for letter in self._letters(topic, part.partition, part.start, part.end)
            if isinstance(found := judge.judge(letter), redrive.RedriveCopy)
        )
        running = self._last[topic] = _Running(plan, copies, client)
        self._tell(now_ns, running)
        self._step(now_ns, running)
        return running.run

    def last(self, topic: str) -> redrive.RedriveRun:
        """Raises UNKNOWN_DEAD_LETTER."""
        return self._of(topic).run

    def stop(self, now_ns: int, topic: str) -> redrive.RedriveRun:
        running = self._of(topic)
        if running.run.running:
            if running.timer is not None:
                running.timer.cancel()
            self._end(now_ns, running, stopped=True)
        return running.run

    def _of(self, topic: str) -> _Running:
        about = f"no redrive of {topic} was begun"
        return must(self._last.get(topic), ErrorCode.UNKNOWN_DEAD_LETTER, about)

    def _step(self, now_ns: int, running: _Running) -> None:
        rate = running.plan.rate_per_s
        most, taken = max(1, int(rate / _STEPS_PER_S)), 0
        done = self._done(running.plan.choice.topic)
        refused = list(running.run.refused)
        try:
            for copy in islice(running.copies, most):
                taken += 1
                source, message = copy.message.partition, copy.message
                try:
                    self._publishing.append_copy(now_ns, copy.topic, copy.partition, message, running.client)
                except BrokerError as refusal:
                    refused.append(f"{message.topic}/{source}@{copy.source}: {refusal}")
                else:
                    done.setdefault(source, Runs()).put(copy.source, copy.source + 1, True)
                    running.moved[copy.topic, copy.partition] += 1
        except BrokerError as error:  # a letter that cannot be read
            running.run = msgspec.structs.replace(running.run, error=str(error))
        self._commit(now_ns, running, done)
        total, moved = running.moved.total(), redrive.counts_by_topic(running.moved)
        running.run = msgspec.structs.replace(running.run, done=total, moved=moved, refused=tuple(refused))
        if running.run.done + len(refused) >= running.plan.letters or taken < most:
            self._end(now_ns, running, stopped=False)
            return
        pause_ns = int(NS_PER_S * most / rate)
        running.timer = self._timers.at(now_ns + pause_ns, lambda at_ns: self._step(at_ns, running))

    def _end(self, now_ns: int, running: _Running, *, stopped: bool) -> None:
        running.run = msgspec.structs.replace(running.run, running=False, stopped=stopped)
        self._tell(now_ns, running)

    def _tell(self, now_ns: int, running: _Running) -> None:
        run = running.run
        deed = Deed(
            at_ms=self._logs.epoch_ms + now_ns // NS_PER_MS,
            who=running.client,
            plan=running.plan,
            outcome="begun" if run.running else outcome_of(run),
            run=None if run.running else run,
        )
        where = {"topic": running.plan.choice.topic, "client": running.client}
        self._events.emit_action(now_ns, cause=deed.sentence, detail=deed.detail(), **where)

    def _commit(self, now_ns: int, running: _Running, done: Mapping[int, Runs[bool]]) -> None:
        topic = running.plan.choice.topic
        kept = {n: redrive.RedriveProgress(runs) for n, runs in done.items()}
        values = {(topic, n): OffsetAndMetadata(found.offset, found.encoded()) for n, found in kept.items()}
        if values:
            group = redrive.progress_group(topic)
            self._offsets.commit(now_ns, group, Committer.checked(running.client), values, backwards=True)

    # -- what is there

    def _done(self, topic: str) -> dict[int, Runs[bool]]:
        committed = self._offsets.state(redrive.progress_group(topic))
        return {number: found.done for number, found in redrive.progress_of(topic, committed).items()}

    def _judge(self, choice: redrive.Choice, test: redrive.LetterTest | None) -> redrive.LetterJudge:
        logs = self._logs
        done, partitions_of = self._done(choice.topic), logs.partitions_there
        return redrive.LetterJudge(
            choice, done, test, partitions_of, lambda topic, key, _count: logs.partition_for(topic, Message(None, key))
        )

    def _letters(self, topic: str, partition: int, start: int, end: int) -> Iterator[StoredMessage]:
        log = self._logs.partition(topic, partition)
        at = max(start, log.start_offset)
        while at < end:
            found = log.read(at, max_messages=_READ_MESSAGES, max_bytes=_READ_BYTES)
            for letter in found:
                if letter.offset < end:
                    yield letter
            if not found:
                return
            at = found[-1].offset + 1

    def _schema(self, name: str) -> str:
        rule = self._schemas.rule(name)
        versions = self._schemas.registry.versions(rule.subject) if rule is not None else ()
        return "" if rule is None or not versions else f"{rule.subject} version {versions[-1]}"
