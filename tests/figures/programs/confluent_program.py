"""A consumer of confluent-kafka, in a group (classic or KIP-848), by hand, or of a share group."""

from __future__ import annotations

import json
import select
import sys
import time
from collections.abc import Sequence
from typing import Any

from confluent_kafka import AcknowledgeType as Kind
from confluent_kafka import Consumer, KafkaException, Message, Producer, ShareConsumer, TopicPartition

from tests.figures.programs.program import Log, obey

PATIENCE_S = 20.0


class Program:
    """`told` has `servers`, `log`, `client`, `topics` or `by_hand`, and the consumer's `settings`."""

    def __init__(self, told: dict[str, Any], log: Log) -> None:
        self._told, self._log = told, log
        self._consumer = Consumer(
            {
                **{"bootstrap.servers": told["servers"], "client.id": told["client"], "fetch.wait.max.ms": 20},
                **{"auto.offset.reset": "earliest", "enable.auto.commit": False},
                **told["settings"],
            }
        )
        if by_hand := told.get("by_hand"):
            self._consumer.assign([TopicPartition(*place) for place in by_hand])
        else:
            self._consumer.subscribe(told["topics"], on_assign=self._assigned, on_revoke=self._revoked)
        self._paused = False
        self._producer: Producer | None = None

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        for each in partitions:
            self._log.write("got", each.topic, each.partition, -1)
        if self._told.get("at_the_end"):
            for each in partitions:
                each.offset = consumer.get_watermark_offsets(each, timeout=PATIENCE_S)[1]
            consumer.assign(partitions)
        if self._paused:
            self._consumer.pause(partitions)

    def _revoked(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if self._told.get("commits_when_revoked"):
            self.commit()
        for each in partitions:
            self._log.write("gave", each.topic, each.partition, -1)

    def _reached(self, message: Message) -> None:
        assert message.error() is None, message.error()
        self._log.write("polled", message.topic() or "", message.partition() or 0, message.offset() or 0)

    # -- what it is told

    def take(self, count: int, within_s: float = PATIENCE_S) -> None:
        until = time.monotonic() + within_s
        while count and (left := until - time.monotonic()) > 0:
            message = self._consumer.poll(min(left, 0.1))
            if message is not None:
                self._reached(message)
                count -= 1

    def take_until(self, count: int, work_s: float, commit_every: int) -> None:
        """Read on, as a program does that nobody leads, until `count` messages came or nothing comes for 12 s."""
        last, done = time.monotonic(), 0
        while done < count and time.monotonic() - last < 12:
            message = self._consumer.poll(0.1)
            if message is not None:
                self._reached(message)
                time.sleep(work_s)
                done, last = done + 1, time.monotonic()
                if done % commit_every == 0:
                    self.commit()

    def join(self) -> None:
        """Be there, with partitions."""
        until = time.monotonic() + PATIENCE_S
        while not self._consumer.assignment() and time.monotonic() < until:
            assert self._consumer.poll(0.05) is None

    def wait(self) -> None:
        """For messages that do not come."""
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            assert self._consumer.poll(0.05) is None

    def serve(self) -> None:
        """Be there, and read nothing, until more is told: what rebalances need."""
        self._paused = True
        self._consumer.pause(self._consumer.assignment())
        while not select.select([sys.stdin], [], [], 0)[0]:
            message = self._consumer.poll(0.02)
            if message is not None:
                self._reached(message)
        self._paused = False
        self._consumer.resume(self._consumer.assignment())

    def nothing(self) -> None:
        """End what goes on until more is told."""

    def commit(self, offsets: Sequence[tuple[str, int, int]] | None = None) -> None:
        asked = None if offsets is None else [TopicPartition(*each) for each in offsets]
        try:
            done = self._consumer.commit(offsets=asked, asynchronous=False)
        except KafkaException:
            return  # it has nothing, or no right to
        for each in done or ():
            if each.error is None and each.offset >= 0:
                self._log.write("committed", each.topic, each.partition, each.offset)

    def seek(self, topic: str, partition: int, offset: int) -> None:
        self._log.write("sought", topic, partition, offset)
        self._consumer.seek(TopicPartition(topic, partition, offset))

    def transact(self, value: str, to: str) -> None:
        """Commit what was read in a transaction that publishes `value`."""
        if self._producer is None:
            name = self._told["client"]
            servers = {"bootstrap.servers": self._told["servers"]}
            self._producer = Producer({**servers, "transactional.id": name, "client.id": f"{name}-writes"})
            self._producer.init_transactions(PATIENCE_S)
        self._producer.begin_transaction()
        self._producer.produce(to, value)
        positions = [each for each in self._consumer.position(self._consumer.assignment()) if each.offset >= 0]
        self._producer.send_offsets_to_transaction(positions, self._consumer.consumer_group_metadata(), PATIENCE_S)
        self._producer.commit_transaction(PATIENCE_S)
        for each in positions:
            self._log.write("committed", each.topic, each.partition, each.offset)

    def close(self) -> None:
        self._consumer.close()


class ShareProgram:
    """A member of a share group; `take` acknowledges nothing, `accept`, `release` and `reject` do, all it has."""

    def __init__(self, told: dict[str, Any], log: Log) -> None:
        self._log = log
        self._consumer = ShareConsumer(
            {
                **{"bootstrap.servers": told["servers"], "client.id": told["client"], "fetch.wait.max.ms": 20},
                **{"share.acknowledgement.mode": "explicit"},
                **told["settings"],
            }
        )
        self._consumer.subscribe(told["topics"])
        self._held: list[Message] = []

    def take(self, count: int, within_s: float = PATIENCE_S) -> None:
        """At least `count`: a share group gives whole batches."""
        until = time.monotonic() + within_s
        found = 0
        while found < count and time.monotonic() < until:
            for message in self._consumer.poll(0.1) or ():
                assert message.error() is None, message.error()
                self._log.write("polled", message.topic(), message.partition(), message.offset())
                self._held.append(message)
                found += 1

    def join(self) -> None:
        """Be there: time enough for a heartbeat and a fetch."""
        until = time.monotonic() + 1
        while time.monotonic() < until:
            assert not self._consumer.poll(0.1)

    def settle(self, kind: str) -> None:
        for message in self._held:
            self._consumer.acknowledge(message, getattr(Kind, kind))
        self._consumer.commit_sync(PATIENCE_S)
        for message in self._held:
            did = {"ACCEPT": "committed"}.get(kind, kind.lower())
            self._log.write(did, message.topic(), message.partition(), message.offset())
        self._held = []

    def close(self) -> None:
        self._consumer.close()


if __name__ == "__main__":
    told = json.loads(sys.argv[1])
    log = Log(told["log"], told["client"])
    obey((ShareProgram if told.get("shares") else Program)(told, log), log)
