"""Steps of random sequences: what is asked of a broker, and what of its answer is compared."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from typing import Any

from aiokafka.record.default_records import DefaultRecordBatchBuilder

from tests.broker_core.listeners.kafka.raw import KEYS, Raw
from tests.reference.conversations import plain, with_placeholders

PATIENCE_S = 20
# What depends on when a broker gets to something, or counts what it has done before.
BY_CHANCE = {
    "member_epoch", "group_epoch", "assignment_epoch", "generation_id", "heartbeat_interval", "producer_epoch",
    "previous_member_epoch", "topic_id", "leader_epoch", "replica_nodes", "isr_nodes", "base_timestamp",
    "log_append_time", "timestamp", "throttle_time", "error_message", "committed_leader_epoch",
}  # fmt: skip
TOPICS, PARTITIONS = 2, 2
GROUPS = {"consumer": "cg", "share": "sg", "manual": "mg"}


def batch(values: list[str], producer: tuple[int, int, int] = (-1, -1, -1), transactional: bool = False) -> bytes:
    """Records as a client sends them; `producer` is its id, epoch and first sequence number."""
    builder = DefaultRecordBatchBuilder(
        magic=2, compression_type=0, is_transactional=transactional, producer_id=producer[0],
        producer_epoch=producer[1], base_sequence=producer[2], batch_size=1_000_000,
    )  # fmt: skip
    for offset, value in enumerate(values):
        builder.append(offset, int(time.time() * 1_000), b"k", value.encode(), [])
    return bytes(builder.build())


class World:
    """A broker as one sequence sees it: its names, and what has been answered so far."""

    def __init__(self, connection: Raw, name: str) -> None:
        self._connection, self._name = connection, name
        self._epochs: dict[tuple[str, str], int] = {}  # of members, by group and member
        self._wanted: dict[tuple[str, int], list[int]] = {}  # topics of each member that has joined
        self._owned: dict[tuple[str, str], list[Any]] = {}  # what each member was assigned last
        self._there: set[int] = set()  # topics
        self._producers: dict[str, tuple[int, int]] = {}
        self._sequences: dict[tuple[str, str, int], int] = {}

    def told(self, step: list[Any]) -> str:
        """The answer to a step, as text without what is made by chance."""
        kind, *arguments = step
        return json.dumps(self._bare(STEPS[kind](self, *arguments))).replace(self._name, "")

    def _bare(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._bare(each) for key, each in value.items() if key not in BY_CHANCE}
        if isinstance(value, list):
            return [self._bare(each) for each in value]
        return value

    def ask(self, api: str, version: int, body: dict[str, Any]) -> Any:
        """An answer, as what JSON has."""
        return with_placeholders(plain(self._connection.asked(KEYS[api], version, body)), {})

    def topic(self, number: int) -> str:
        return f"{self._name}t{number}"

    def group(self, kind: str) -> str:
        return f"{self._name}{GROUPS[kind]}"

    def settled(self, number: int, there: bool) -> None:
        """A moment after a topic is made or deleted, each part of a node knows it: a busy one takes its time."""
        until_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < until_s:
            body = {"topics": [{"name": self.topic(number)}], "allow_auto_topic_creation": False}
            (found,) = self.ask("Metadata", 9, body)["topics"]
            if (found["error_code"] == "none") == there:
                known = [self._is_known(number, each) for each in range(len(found["partitions"]) or 1)]
                if all(known) if there else not any(known):
                    return
            time.sleep(0.02)

    def _is_known(self, number: int, partition: int) -> bool:
        """Whether it can be read, and groups know it."""
        answers = (
            self.offsets(number, partition, -1)["topics"],
            self.set_share_offset(number, partition, 0, f"{self._name}waits{number}")["responses"],
        )
        return all(topic["partitions"][0]["error_code"] == "none" for (topic,) in answers)

    # Topics and records

    def create(self, topic: int, partitions: int) -> Any:
        body = {
            "topics": [
                {
                    "name": self.topic(topic),
                    "num_partitions": partitions,
                    "replication_factor": 1,
                    "assignments": [],
                    "configs": [],
                }
            ],
            "timeout": 10_000,
            "validate_only": False,
        }
        answer = self.ask("CreateTopics", 4, body)
        if answer["topics"][0]["error_code"] == "none":
            self.settled(topic, True)
            self._there.add(topic)
            self._members_go_on()
        return answer

    def delete(self, topic: int) -> Any:
        answer = self.ask("DeleteTopics", 4, {"topic_names": [self.topic(topic)], "timeout": 10_000})
        if answer["responses"][0]["error_code"] == "none":
            self.settled(topic, False)
            self._there.discard(topic)
            self._members_go_on()
        return answer

    def _members_go_on(self) -> None:
        """Members send heartbeats, as clients do, until they have what they subscribe to of the topics that are there.

        Kafka computes an assignment with the heartbeats of members, and prepares partitions for share groups first.
        """
        for kind, number in [*self._wanted] * 2:  # what is revoked is given up with the second
            member = self._member(kind, number)
            self._beat(kind, number, self._epochs.get((kind, member), 7), None, self._owned.get((kind, member)))
        until_s = time.monotonic() + PATIENCE_S
        while not self._share_members_have_all() and time.monotonic() < until_s:
            time.sleep(0.02)
            for kind, number in self._wanted:
                if kind == "share":
                    self.beat(kind, number)

    def _share_members_have_all(self) -> bool:
        wanted = {self._member(*each): topics for each, topics in self._wanted.items() if each[0] == "share"}
        if not wanted:
            return True
        body = {"group_ids": [self.group("share")], "include_authorized_operations": False}
        (found,) = self._connection.asked(KEYS["ShareGroupDescribe"], 1, body).groups
        return all(
            {topic.topic_name for topic in each.assignment.topic_partitions}
            == {self.topic(topic) for topic in wanted.get(each.member_id, ()) if topic in self._there}
            for each in found.members
        )

    def _produced(self, topic: int, partition: int, data: bytes, transactional: str | None, version: int) -> Any:
        body = {
            "transactional_id": transactional,
            "acks": -1,
            "timeout": 10_000,
            "topic_data": [{"name": self.topic(topic), "partition_data": [{"index": partition, "records": data}]}],
        }
        return self.ask("Produce", version, body)

    def produce(self, topic: int, partition: int, count: int) -> Any:
        return self._produced(topic, partition, batch([f"v{n}" for n in range(count)]), None, 9)

    def fetch(self, topic: int, partition: int, offset: int, committed: bool) -> Any:
        wanted = {
            "partition": partition,
            "fetch_offset": offset,
            "partition_max_bytes": 1_000_000,
            "current_leader_epoch": -1,
            "last_fetched_epoch": -1,
            "log_start_offset": -1,
        }
        body = {
            "replica_id": -1, "max_wait": 0, "min_bytes": 0, "max_bytes": 1_000_000, "isolation_level": int(committed),
            "session_id": 0, "session_epoch": -1, "topics": [{"topic": self.topic(topic), "partitions": [wanted]}],
            "forgotten_topics_data": [], "rack_id": "",
        }  # fmt: skip
        return self.ask("Fetch", 12, body)

    def offsets(self, topic: int, partition: int, time_ms: int) -> Any:
        wanted = {"partition_index": partition, "timestamp": time_ms, "current_leader_epoch": -1}
        body = {"replica_id": -1, "isolation_level": 0, "topics": [{"name": self.topic(topic), "partitions": [wanted]}]}
        return self.ask("ListOffsets", 7, body)

    def _end(self, topic: int, partition: int, which: int) -> int:
        """The offset of the start (-2) or the end (-1) of a partition; 0 if there is none."""
        (found,) = self.offsets(topic, partition, which)["topics"][0]["partitions"]
        return max(0, int(found["offset"]))

    def delete_records(self, topic: int, partition: int, offset: int) -> Any:
        wanted = {"partition_index": partition, "offset": offset}
        body = {"topics": [{"name": self.topic(topic), "partitions": [wanted]}], "timeout": 10_000}
        return self.ask("DeleteRecords", 2, body)

    # Groups

    def commit(self, kind: str, topic: int, partition: int, offset: int, as_member: bool) -> Any:
        member = self._member(kind, 0) if as_member else ""
        wanted = {
            "partition_index": partition,
            "committed_offset": offset,
            "committed_leader_epoch": -1,
            "committed_metadata": "",
        }
        body = {
            "group_id": self.group(kind), "generation_id_or_member_epoch": self._epochs.get((kind, member), -1),
            "member_id": member, "group_instance_id": None,
            "topics": [{"name": self.topic(topic), "partitions": [wanted]}],
        }  # fmt: skip
        return self.ask("OffsetCommit", 8 if kind == "manual" else 9, body)

    def committed(self, kind: str) -> Any:
        body = {"groups": [{"group_id": self.group(kind), "topics": None}], "require_stable": False}
        return self._known(self.ask("OffsetFetch", 8, body), "committed_offset")

    def _known(self, found: Any, field: str) -> Any:
        """Without partitions whose offset is -1.

        Kafka lists those of share groups that a member has asked for, ours all; Kafka keeps a commit of -1, ours not.
        """
        for group in found["groups"]:
            for topic in group["topics"]:
                topic["partitions"] = [each for each in topic["partitions"] if each[field] != -1]
            group["topics"] = [topic for topic in group["topics"] if topic["partitions"]]
        return found

    def delete_offsets(self, kind: str, topic: int, partition: int) -> Any:
        wanted = {"name": self.topic(topic), "partitions": [{"partition_index": partition}]}
        return self.ask("OffsetDelete", 0, {"group_id": self.group(kind), "topics": [wanted]})

    def delete_group(self, kind: str) -> Any:
        return self.ask("DeleteGroups", 2, {"groups_names": [self.group(kind)]})

    def state(self, kind: str) -> Any:
        body: dict[str, Any] = {"states_filter": [], "types_filter": []}
        found = [g for g in self.ask("ListGroups", 5, body)["groups"] if g["group_id"] == self.group(kind)]
        return [{key: each[key] for key in ("group_type", "group_state", "protocol_type")} for each in found]

    def describe(self, kind: str) -> Any:
        api, version = {"share": ("ShareGroupDescribe", 1), "consumer": ("ConsumerGroupDescribe", 0)}.get(
            kind, ("DescribeGroups", 5)
        )
        name = "groups" if kind == "manual" else "group_ids"
        body = {name: [self.group(kind)], "include_authorized_operations": False}
        (described,) = plain(self._connection.asked(KEYS[api], version, body))["groups"]
        described["members"].sort(key=lambda each: str(each["member_id"]))
        found = with_placeholders(described, {})
        for each in found["members"]:
            each.pop("client_id", None), each.pop("client_host", None)
        return found

    def _member(self, kind: str, number: int) -> str:
        return f"{self._name}{kind}-{number}"

    def _beat(
        self, kind: str, number: int, epoch: int, topics: list[int] | None, owned: list[Any] | None = None
    ) -> Any:
        member = self._member(kind, number)
        names = None if topics is None else [self.topic(each) for each in topics]
        body: dict[str, Any] = {
            "group_id": self.group(kind),
            "member_id": member,
            "member_epoch": epoch,
            "rack_id": None,
            "subscribed_topic_names": names,
        }
        if kind == "consumer":
            body |= {
                "instance_id": None, "rebalance_timeout": 5_000 if epoch == 0 else -1, "server_assignor": None,
                "topic_partitions": [] if epoch == 0 else owned,
            }  # fmt: skip
        api = "ConsumerGroupHeartbeat" if kind == "consumer" else "ShareGroupHeartbeat"
        answer = self._connection.asked(KEYS[api], 0 if kind == "consumer" else 1, body)
        if answer.error_code.name == "none":
            self._epochs[kind, member] = answer.member_epoch  # the number, where `ask` has a placeholder
            if answer.assignment is not None:
                rows = answer.assignment.topic_partitions
                self._owned[kind, member] = [
                    {"topic_id": each.topic_id, "partitions": list(each.partitions)} for each in rows
                ]
        return with_placeholders(plain(answer), {})

    def join(self, kind: str, number: int, topics: list[int]) -> Any:
        """The first heartbeat of a member; what it gets is compared when it is settled, see `beat`."""
        answer = self._beat(kind, number, 0, topics)
        answer.pop("assignment", None)
        if answer["error_code"] == "none":
            self._wanted[kind, number] = topics
            self._members_go_on()
        return answer

    def leave(self, kind: str, number: int) -> Any:
        answer = self._beat(kind, number, -1, None)
        self._epochs.pop((kind, self._member(kind, number)), None)
        self._wanted.pop((kind, number), None)
        self._owned.pop((kind, self._member(kind, number)), None)
        self._members_go_on()
        answer.pop("assignment", None)
        return answer

    def beat(self, kind: str, number: int) -> Any:
        epoch = self._epochs.get((kind, self._member(kind, number)), 7)
        answer = self._beat(kind, number, epoch, None)
        answer.pop("assignment", None)
        return answer

    def share_offsets(self) -> Any:
        body = {"groups": [{"group_id": self.group("share"), "topics": None}]}
        return self._known(self.ask("DescribeShareGroupOffsets", 0, body), "start_offset")

    def set_share_offset(self, topic: int, partition: int, offset: int, group: str = "") -> Any:
        """Within the log: ours goes to its start or its end where Kafka keeps what is outside."""
        offset = min(max(offset, self._end(topic, partition, -2)), self._end(topic, partition, -1))
        wanted = {
            "topic_name": self.topic(topic),
            "partitions": [{"partition_index": partition, "start_offset": offset}],
        }
        return self.ask("AlterShareGroupOffsets", 0, {"group_id": group or self.group("share"), "topics": [wanted]})

    def delete_share_offsets(self, topic: int) -> Any:
        body: dict[str, Any] = {"group_id": self.group("share"), "topics": [{"topic_name": self.topic(topic)}]}
        return self.ask("DeleteShareGroupOffsets", 0, body)

    # Producers and transactions

    def init_producer(self, producer: str) -> Any:
        body = {
            "transactional_id": self._name + producer,
            "transaction_timeout": 60_000,
            "producer_id": -1,
            "producer_epoch": -1,
        }
        until_s = time.monotonic() + PATIENCE_S
        while (answer := self.ask_raw("InitProducerId", 4, body))["error_code"] == "concurrent_transactions":
            assert time.monotonic() < until_s
            time.sleep(0.05)
        if answer["error_code"] == "none":
            self._producers[producer] = answer["producer"], answer["producer_epoch"]
            self._sequences = {key: value for key, value in self._sequences.items() if key[0] != producer}
        return {"error_code": answer["error_code"]}

    def ask_raw(self, api: str, version: int, body: dict[str, Any]) -> dict[str, Any]:
        """With the id of a producer as it is."""
        answer = self._connection.asked(KEYS[api], version, body)
        return {
            "error_code": answer.error_code.name,
            "producer": answer.producer_id,
            "producer_epoch": answer.producer_epoch,
        }

    def send(self, producer: str, topic: int, partition: int) -> Any:
        """One record in a transaction, announced as before Kafka 4."""
        made, epoch = self._producers.get(producer, (999_999, 0))
        body = {
            "v3_and_below_transactional_id": self._name + producer, "v3_and_below_producer_id": made,
            "v3_and_below_producer_epoch": epoch,
            "v3_and_below_topics": [{"name": self.topic(topic), "partitions": [partition]}],
        }  # fmt: skip
        until_s = time.monotonic() + PATIENCE_S
        while "concurrent_transactions" in json.dumps(added := self.ask("AddPartitionsToTxn", 3, body)):
            assert time.monotonic() < until_s
            time.sleep(0.05)
        sequence = self._sequences.get((producer, self.topic(topic), partition), 0)
        answer = self._produced(
            topic, partition, batch(["tx"], (made, epoch, sequence), True), self._name + producer, 9
        )
        if "none" in json.dumps(answer):
            self._sequences[producer, self.topic(topic), partition] = sequence + 1
        return [added, answer]

    def end(self, producer: str, commits: bool) -> Any:
        made, epoch = self._producers.get(producer, (999_999, 0))
        body = {
            "transactional_id": self._name + producer,
            "producer_id": made,
            "producer_epoch": epoch,
            "committed": commits,
        }
        until_s = time.monotonic() + PATIENCE_S
        while (answer := self.ask("EndTxn", 3, body))["error_code"] == "concurrent_transactions":
            assert time.monotonic() < until_s
            time.sleep(0.05)
        time.sleep(0.05)  # Kafka writes its markers after the answer
        return answer


STEPS: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        World.create, World.delete, World.produce, World.fetch, World.offsets, World.delete_records, World.commit,
        World.committed, World.delete_offsets, World.delete_group, World.state, World.describe, World.join, World.leave,
        World.beat, World.share_offsets, World.set_share_offset, World.delete_share_offsets, World.init_producer,
        World.send, World.end,
    )
}  # fmt: skip


def some_steps(chance: random.Random) -> list[list[Any]]:
    """A sequence: topics first, mostly, then anything."""
    steps: list[list[Any]] = [
        ["create", topic, chance.randint(1, PARTITIONS)] for topic in range(TOPICS) if chance.random() < 0.9
    ]
    topic, partition = (lambda: chance.randrange(TOPICS)), (lambda: chance.randrange(PARTITIONS))
    group = lambda *kinds: chance.choice(kinds or tuple(GROUPS))  # noqa: E731
    offset, producer = (lambda: chance.choice([-1, 0, 1, 2, 3, 5, 99])), (lambda: chance.choice(["p", "q"]))
    kinds: list[tuple[int, Callable[[], list[Any]]]] = [
        (1, lambda: ["create", topic(), chance.randint(0, PARTITIONS)]),
        (1, lambda: ["delete", topic()]),
        (6, lambda: ["produce", topic(), partition(), chance.randint(1, 3)]),
        (3, lambda: ["fetch", topic(), partition(), offset(), chance.random() < 0.5]),
        (2, lambda: ["offsets", topic(), partition(), chance.choice([-1, -2, -3, -4, -5, 0, 4_000_000_000_000])]),
        (2, lambda: ["delete_records", topic(), partition(), offset()]),
        (4, lambda: ["commit", group("consumer", "manual"), topic(), partition(), offset(), chance.random() < 0.5]),
        (3, lambda: ["committed", group()]),
        (2, lambda: ["delete_offsets", group(), topic(), partition()]),
        (2, lambda: ["delete_group", group()]),
        (3, lambda: ["state", group()]),
        (3, lambda: ["describe", group()]),
        (4, lambda: ["join", group("consumer", "share"), chance.randrange(2), [topic()]]),
        (3, lambda: ["leave", group("consumer", "share"), chance.randrange(2)]),
        (2, lambda: ["beat", group("consumer", "share"), chance.randrange(2)]),
        (2, lambda: ["share_offsets"]),
        (2, lambda: ["set_share_offset", topic(), partition(), offset()]),
        (1, lambda: ["delete_share_offsets", topic()]),
        (2, lambda: ["init_producer", producer()]),
        (4, lambda: ["send", producer(), topic(), partition()]),
        (3, lambda: ["end", producer(), chance.random() < 0.6]),
    ]
    weights = [weight for weight, _ in kinds]
    for _ in range(chance.randint(4, 16)):
        steps.append(chance.choices(kinds, weights)[0][1]())
    return steps
