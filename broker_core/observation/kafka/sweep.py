"""One look at a whole cluster: topics, groups, committed offsets, then ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Final, TypeVar

import msgspec
from kio.schema.errors import ErrorCode as KafkaError

from broker_core.errors import BrokerError, ErrorCode
from broker_core.kafka_messages.writing import Body
from broker_core.messages import TopicPartition
from broker_core.observation.kafka.calls import DENIED
from broker_core.observation.kafka.cluster import QUORUM, SHARES, BrokerLine, Call, Cluster, Task
from broker_core.observation.kafka.connection import Question
from broker_core.observation.kafka.seen import (
    CONSUMER,
    OK,
    GroupSeen,
    NodeSeen,
    PlaceSeen,
    TopicSeen,
    classic,
    consumer,
    offset_rows,
    offsets_of,
    once,
    share,
    streams,
)
from broker_core.snapshots import CLASSIC, SHARE, STREAMS, ShareGroupView, ShareOffsetView

T = TypeVar("T")
LATEST, EARLIEST = -1, -2
_SELDOM_S: Final = 30.0  # earliest offsets, settings and disks
_ASK_AGAIN_S: Final = 60.0  # what was denied
_MOST_PARTITIONS, _MOST_GROUPS = 1_000, 500  # in one request
_FIRST_S: Final = 9.0  # for the first answer
_GONE_MEANWHILE: Final = frozenset(  # a topic or a group that was there a moment ago
    {KafkaError.unknown_topic_or_partition, KafkaError.unknown_topic_id, KafkaError.group_id_not_found}
)
_NEEDS: Final = {"DescribeConfigs": "DESCRIBE_CONFIGS"}  # else DESCRIBE
_SHARE_OFFSETS: Final = "DescribeShareGroupOffsets"
_SETTINGS: Final = ("cleanup.policy", "min.insync.replicas")


class _Parts(msgspec.Struct):
    """What brokers tell of their groups and of the offsets of their partitions."""

    listed: dict[str, str] = msgspec.field(default_factory=dict)  # group: kind
    groups: dict[str, GroupSeen] = msgspec.field(default_factory=dict)
    share_groups: dict[str, ShareGroupView] = msgspec.field(default_factory=dict)
    committed: dict[str, dict[TopicPartition, int]] = msgspec.field(default_factory=dict)
    ends: dict[TopicPartition, int] = msgspec.field(default_factory=dict)
    starts: dict[TopicPartition, int] = msgspec.field(default_factory=dict)
    compacted: dict[str, bool] = msgspec.field(default_factory=dict)
    min_in_sync: dict[str, int] = msgspec.field(default_factory=dict)
    failures: dict[str, str] = msgspec.field(default_factory=dict)


class _Told(_Parts):
    """What one broker has answered."""

    all_groups: bool = False
    disk: tuple[int, int] | None = None
    share_rows: dict[str, tuple[ShareOffsetView, ...]] = msgspec.field(default_factory=dict)


class Sweep(_Parts):
    """The result of one poll; parts that could not be requested are missing, and `failures` says why, by request.

    `all_groups` is False unless each broker is one of the `listers`, which have told now what groups they have; nobody
    expects to be told of the `late`. `compacted` and `min_in_sync` have the topics that were asked for. `refused` says
    why a broker cannot be connected. `heard` are the nodes that have told all that they know since the last poll,
    `silent` those that have been asked and have not answered yet. `controller` is None if nobody knows.
    """

    topics: dict[str, TopicSeen] = msgspec.field(default_factory=dict)
    all_groups: bool = True
    nodes: dict[int, NodeSeen] = msgspec.field(default_factory=dict)
    places: dict[TopicPartition, PlaceSeen] = msgspec.field(default_factory=dict)
    controller: int | None = None
    refused: dict[int, str] = msgspec.field(default_factory=dict)
    heard: set[int] = msgspec.field(default_factory=set)
    silent: set[int] = msgspec.field(default_factory=set)
    late: set[str] = msgspec.field(default_factory=set)
    listers: set[int] = msgspec.field(default_factory=set)


class _Node(msgspec.Struct):
    """How far the requests to one broker are: first those about its groups, then those about end offsets."""

    task: Task | None = None
    offsets_next: bool = False
    has_answered: bool = False
    disk: tuple[int, int] | None = None


class SweepReader:
    """Looks at the topics and groups whose names match one of the patterns; without any, at all but internal topics.

    What a broker does not tell within `patience_s` it tells in a later sweep: nobody else waits for it.
    """

    def __init__(
        self, cluster: Cluster, topics: Sequence[str] = (), groups: Sequence[str] = (), patience_s: float = 0.0
    ) -> None:
        self._cluster = cluster
        self._topics, self._groups = tuple(topics), tuple(groups)
        self._patience_s = patience_s
        self._denied_until: dict[tuple[str, str], float] = {}
        self._denials: dict[tuple[str, str], str] = {}
        self._seldom_at: dict[int, float] = {}
        self._configured: set[str] = set()
        self._configured_at = 0.0
        self._leaders: dict[TopicPartition, int] = {}
        self._led: dict[int, list[TopicPartition]] = {}  # by leader
        self._seen: tuple[dict[str, TopicSeen], dict[TopicPartition, PlaceSeen]] = {}, {}
        self._told: tuple[tuple[Any, ...], frozenset[int]] = (), frozenset()  # of what that was made
        self._calls: dict[tuple[int, str, int], tuple[list[Any] | None, list[Call]]] = {}
        self._nodes: dict[int, _Node] = {}
        self._coordinators: dict[str, int] = {}
        self._shares: dict[int, Task] = {}  # what nodes are asked of the offsets of share groups
        self._shares_due_s: dict[int, float] = {}
        self._share_rows: dict[str, tuple[ShareOffsetView, ...]] = {}
        self._quorum: Task | None = None
        self._controller: int | None = None
        self._has_quorum = True

    def sweep(self, patience_s: float | None = None) -> Sweep:
        """Committed offsets are asked before ends, so that no lag is negative. Raises `BrokerError` where no broker
        answers.
        """
        patience_s = self._patience_s if patience_s is None else patience_s
        found = Sweep()
        self._metadata(found, patience_s)
        self._ask_for_controller(found)
        self._take(found)
        for node in [node for node in self._nodes if node not in found.nodes]:
            if self._nodes[node].task is not None:
                found.silent.add(node)
            del self._nodes[node]
        for offsets_next in (False, True):
            begun = [node for node in found.nodes if self._begin(node, found, offsets_next)]
            asked = self._ask_for_share_offsets(found) if offsets_next else []
            tasks = [task for node in begun if (task := self._nodes[node].task) is not None]
            if self._controller is None and self._quorum is not None:
                tasks.append(self._quorum)
            self._cluster.wait(tasks, time.monotonic() + patience_s)
            self._take(found)
            self._take_share_offsets(found, asked, patience_s)
        for node in found.nodes:
            found.nodes[node] = found.nodes[node]._replace(disk=self._nodes[node].disk)
            line = self._cluster.line(self._cluster.nodes[node])
            if line.refused:
                found.refused[node] = line.refused
            elif self._nodes[node].task is not None:
                found.silent.add(node)
        found.late = {name for name, node in self._coordinators.items() if node in found.silent}
        self._ask_for_controller(found)
        found.controller = self._controller
        self._share_lags(found)
        for (api, name), sentence in self._denials.items():
            if time.monotonic() < self._denied_until[api, name]:
                found.failures.setdefault(f"{api} {name}", sentence)
        return found

    def _begin(self, node: int, found: Sweep, offsets_next: bool) -> bool:
        state = self._nodes.setdefault(node, _Node())
        line = self._cluster.line(self._cluster.nodes[node])
        if state.task is not None or state.offsets_next is not offsets_next or line.is_busy:
            return False
        if offsets_next:
            seldom = time.monotonic() >= self._seldom_at.get(node, 0.0)
            if seldom:
                self._seldom_at[node] = time.monotonic() + _SELDOM_S
            places = self._led.get(node, [])
            names = self._to_configure(node, found)
            state.task = line.begin(lambda line: self._told_of_offsets(line, node, places, names, seldom))
        else:
            state.task = line.begin(lambda line: self._told_of_groups(line, node))
        return True

    def _take(self, found: Sweep) -> None:
        """Collect the results of the requests to brokers that have finished."""
        for node, state in self._nodes.items():
            task = state.task
            if task is None or not task.is_done:
                continue
            state.task = None
            told = task.result
            if isinstance(told, BrokerError):
                told = _Told(failures={f"asking of broker {node}": str(told)})
            answered = not any(what.endswith(f" of broker {node}") for what in told.failures)
            if state.offsets_next:
                if answered and state.has_answered:
                    found.heard.add(node)
                state.disk = told.disk or state.disk
            else:
                state.has_answered = answered
                if told.all_groups:
                    found.listers.add(node)
                    self._coordinators = {name: at for name, at in self._coordinators.items() if at != node}
                self._coordinators |= dict.fromkeys(told.listed, node)
            state.offsets_next = not state.offsets_next
            for part in _Parts.__struct_fields__:
                getattr(found, part).update(getattr(told, part))
        found.all_groups = found.nodes.keys() <= found.listers
        for name, offsets in found.committed.items():
            if not {topic for topic, _ in offsets} <= found.topics.keys():
                found.committed[name] = {place: at for place, at in offsets.items() if place[0] in found.topics}

    def _told_of_groups(self, line: BrokerLine, node: int) -> _Told:
        told = _Told()
        self._list_groups(line, node, told)
        self._describe(line, node, told)
        self._committed(line, node, told)
        return told

    def _told_of_offsets(
        self, line: BrokerLine, node: int, places: list[TopicPartition], names: list[str], seldom: bool
    ) -> _Told:
        told = _Told()
        for when, into in ((LATEST, told.ends), (EARLIEST, told.starts)) if seldom else ((LATEST, told.ends),):
            calls = self._again(node, "ListOffsets", when, self._allowed(places), partial(_offset_bodies, when))
            into.update((place, offset) for place, (offset, _) in self._offsets_in(line.ask_all(calls), told.failures))
        self._settings(line, node, names, told)
        if seldom:
            self._disks(line, node, told)
        return told

    def offsets(
        self, wanted: Iterable[tuple[TopicPartition, int]], failures: dict[str, str] | None = None
    ) -> dict[TopicPartition, tuple[int, int]]:
        """ListOffsets of (partition, Unix time in ms, or LATEST, EARLIEST...): (offset, time of that record)."""
        by_leader: dict[int, list[tuple[TopicPartition, int]]] = {}
        for place, at in wanted:
            if (leader := self._leaders.get(place)) is not None and not self.is_denied("ListOffsets", place[0]):
                by_leader.setdefault(leader, []).append((place, at))
        calls = [
            Call(leader, "ListOffsets", offsets_body(part))
            for leader, places in by_leader.items()
            for part in _parts(places, _MOST_PARTITIONS)
        ]
        return dict(self._offsets_in(self._cluster.ask(calls), {} if failures is None else failures))

    # -- the parts of a sweep

    def _again(
        self, node: int, api: str, what: int, about: list[T], bodies: Callable[[list[T]], list[Body]]
    ) -> list[Call]:
        """The calls of the last sweep if they were about the same things, otherwise new ones."""
        before, calls = self._calls.get((node, api, what), (None, []))
        if before != about:
            calls = [Call(node, api, Question(body)) for body in bodies(about)]
            self._calls[node, api, what] = about, calls
        return calls

    def _allowed(self, places: list[TopicPartition]) -> list[TopicPartition]:
        if not self._denials:
            return places
        return [place for place in places if not self.is_denied("ListOffsets", place[0])]

    def _offsets_in(
        self, answers: Iterable[tuple[Call, Any]], failures: dict[str, str]
    ) -> Iterator[tuple[TopicPartition, tuple[int, int]]]:
        for _call, answer in _answered(answers, failures):
            for topic in answer.topics:
                rows, errors = once(topic, offset_rows)
                yield from rows
                for code in errors:
                    self._fine(code, "ListOffsets", topic.name, failures)

    def _metadata(self, found: Sweep, patience_s: float) -> None:
        answer = self._cluster.metadata(patience_s=max(_FIRST_S if not self._nodes else 0.0, 2 * patience_s))
        for node in answer.brokers:
            address = f"[{node.host}]:{node.port}" if ":" in node.host else f"{node.host}:{node.port}"
            found.nodes[node.node_id] = NodeSeen(address, getattr(node, "rack", None) or "")
        if self._controller is None and answer.controller_id >= 0 and not self._has_quorum:
            self._controller = answer.controller_id
        told = answer.topics, frozenset(self._cluster.nodes)
        topics, places = self._seen
        if told[0] is self._told[0] and told[1] == self._told[1]:
            found.topics, found.places = topics, places
            return
        self._leaders.clear()
        self._led.clear()
        for topic in answer.topics:
            wanted = _matches(topic.name, self._topics) if self._topics else not getattr(topic, "is_internal", False)
            if not wanted or not self._fine(topic.error_code, "Metadata", topic.name, found.failures):
                continue
            topic_id = getattr(topic, "topic_id", None)
            topic_id = topic_id if topic_id and topic_id.int else None
            found.topics[topic.name] = TopicSeen(len(topic.partitions), topic_id)
            for part in topic.partitions:
                place = (topic.name, part.partition_index)
                seen = PlaceSeen(
                    part.leader_id, getattr(part, "leader_epoch", -1), tuple(part.replica_nodes), tuple(part.isr_nodes)
                )
                old = places.get(place, seen)
                if old.epoch > seen.epoch and topics[topic.name].topic_id == topic_id:
                    seen = old  # this broker does not know the newest yet
                found.places[place] = seen
                if seen.leader in self._cluster.nodes:
                    self._leaders[place] = seen.leader
                    self._led.setdefault(seen.leader, []).append(place)
        self._seen = found.topics, found.places
        self._told = ((), frozenset()) if found.failures else told  # it fails again

    def _ask_for_controller(self, found: Sweep) -> None:
        """Brokers pass it on to the controller, and answer once there is one: nothing else waits for that."""
        api = "DescribeQuorum"
        if self._quorum is not None and self._quorum.is_done:
            answer, self._quorum = self._quorum.result, None
            if isinstance(answer, BrokerError):
                self._has_quorum = answer.code is not ErrorCode.UNSUPPORTED_VERSION
            elif self._fine(answer.error_code, api, "cluster", found.failures):
                for part in (part for topic in answer.topics for part in topic.partitions):
                    if not part.error_code and part.leader_id >= 0:
                        self._controller = part.leader_id
        if self._quorum is None and self._has_quorum and not self.is_denied(api, "cluster"):
            body = {"topics": [{"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}]}
            self._quorum = self._cluster.from_source(QUORUM, lambda line: line.ask(api, body))

    def _list_groups(self, line: BrokerLine, node: int, told: _Told) -> None:
        """A broker lists the groups that it coordinates."""
        calls = self._again(node, "ListGroups", 0, [], lambda _: [{"states_filter": (), "types_filter": ()}])
        for _call, answer in _answered(line.ask_all(calls), told.failures):
            if not self._fine(answer.error_code, "ListGroups", self._cluster.name, told.failures):
                continue
            told.all_groups = True
            for each in answer.groups:
                kind = getattr(each, "group_type", "").lower() or (SHARE if each.protocol_type == SHARE else CLASSIC)
                if each.protocol_type in {"", CONSUMER, SHARE, STREAMS} and _matches(
                    each.group_id, self._groups or ("*",)
                ):
                    told.listed[each.group_id] = kind

    def _describe(self, line: BrokerLine, node: int, told: _Told) -> None:
        for api, kind, field, take in (
            ("DescribeGroups", CLASSIC, "groups", classic),
            ("ConsumerGroupDescribe", CONSUMER, "group_ids", consumer),
            ("StreamsGroupDescribe", STREAMS, "group_ids", streams),
            ("ShareGroupDescribe", SHARE, "group_ids", share),
        ):
            names = [name for name in told.listed if told.listed[name] == kind and not self.is_denied(api, name)]
            calls = self._again(node, api, 0, names, partial(_descriptions, field))
            for _call, answer in _answered(line.ask_all(calls), told.failures):
                for each in answer.groups:
                    if self._fine(each.error_code, api, each.group_id, told.failures):
                        seen = once(each, take)
                        if isinstance(seen, ShareGroupView):
                            told.share_groups[each.group_id] = seen
                        elif seen is not None:
                            told.groups[each.group_id] = seen

    def _committed(self, line: BrokerLine, node: int, told: _Told) -> None:
        api = "OffsetFetch"
        names = [name for name, kind in told.listed.items() if kind != SHARE and not self.is_denied(api, name)]
        if names and line.has(api, 8):
            calls = self._again(node, api, 0, names, _of_groups)
        else:
            calls = [Call(node, api, {"group_id": name, "topics": None}) for name in names]
        for call, answer in _answered(line.ask_all(calls), told.failures):
            for group in getattr(answer, "groups", None) or (answer,):
                name = getattr(group, "group_id", None) or call.body["group_id"]
                if not self._fine(getattr(group, "error_code", OK), api, name, told.failures):
                    continue
                told.committed[name], errors = once(group, offsets_of)
                for code, topic_name in errors:
                    self._fine(code, api, topic_name, told.failures)

    def _ask_for_share_offsets(self, found: Sweep) -> list[Task]:
        """The tasks that have begun. A broker of Kafka reads these offsets from a log, and may take seconds."""
        begun = []
        for node in found.nodes:
            names = [name for name in found.share_groups if self._coordinators.get(name) == node]
            names = [name for name in names if not self.is_denied(_SHARE_OFFSETS, name)]
            if not names or node in self._shares or time.monotonic() < self._shares_due_s.get(node, 0.0):
                continue
            line = self._cluster.line(self._cluster.nodes[node], SHARES)
            if not line.is_busy:
                self._shares[node] = line.begin(partial(self._share_offsets, node=node, names=names))
                begun.append(self._shares[node])
        return begun

    def _take_share_offsets(self, found: Sweep, begun: list[Task], patience_s: float) -> None:
        self._cluster.wait(begun, time.monotonic() + patience_s / 4)
        for node, task in [*self._shares.items()]:
            if not task.is_done:
                continue
            del self._shares[node]
            took_s = time.monotonic() - task.began_s
            if took_s > patience_s:  # let it do something else for as long
                self._shares_due_s[node] = time.monotonic() + took_s
            if isinstance(task.result, BrokerError):
                found.failures[f"asking of broker {node}"] = str(task.result)
            else:
                self._share_rows.update(task.result.share_rows)
                found.failures.update(task.result.failures)
        if found.all_groups:
            self._share_rows = {name: rows for name, rows in self._share_rows.items() if name in self._coordinators}

    def _share_offsets(self, line: BrokerLine, node: int, names: list[str]) -> _Told:
        told = _Told()
        calls = self._again(node, _SHARE_OFFSETS, 0, names, _of_groups)
        for _call, answer in _answered(line.ask_all(calls), told.failures):
            for group in answer.groups:
                if self._fine(group.error_code, _SHARE_OFFSETS, group.group_id, told.failures):
                    told.share_rows[group.group_id] = tuple(
                        ShareOffsetView(
                            topic.topic_name, at.partition_index, at.start_offset, -1, 0, getattr(at, "lag", -1)
                        )
                        for topic in group.topics
                        for at in topic.partitions
                        if at.start_offset >= 0 and not at.error_code
                    )
        return told

    def _share_lags(self, found: Sweep) -> None:
        """The ends, and, where an older broker does not tell the lag, what is not finished at most."""
        for name, view in found.share_groups.items():
            rows = []
            for at in self._share_rows.get(name, ()):
                end = found.ends.get((at.topic, at.partition))
                if end is not None:
                    lag = at.lag if at.lag >= 0 else max(0, end - at.start_offset)
                    rows.append(msgspec.structs.replace(at, end_offset=end, lag=lag))
            found.share_groups[name] = msgspec.structs.replace(view, offsets=tuple(rows))

    def _to_configure(self, node: int, found: Sweep) -> list[str]:
        """A part of the topics whose settings are not known; all are asked for again now and then."""
        if time.monotonic() >= self._configured_at:
            self._configured_at = time.monotonic() + _SELDOM_S
            self._configured.clear()
        names = [name for name in found.topics if name not in self._configured]
        names = names[:: len(found.nodes)] if node != [*found.nodes][-1] else names
        self._configured.update(names)
        return [name for name in names if not self.is_denied("DescribeConfigs", name)]

    def _settings(self, line: BrokerLine, node: int, names: list[str], told: _Told) -> None:
        api = "DescribeConfigs"
        calls = []
        for part in _parts(names, _MOST_PARTITIONS):
            wanted = [{"resource_type": 2, "resource_name": name, "configuration_keys": _SETTINGS} for name in part]
            calls.append(Call(node, api, {"resources": wanted}))
        for _call, answer in _answered(line.ask_all(calls), told.failures):
            for each in answer.results:
                if self._fine(each.error_code, api, each.resource_name, told.failures):
                    found = {one.name: one.value or "" for one in each.configs}
                    told.compacted[each.resource_name] = "compact" in found.get("cleanup.policy", "")
                    least = found.get("min.insync.replicas", "")
                    told.min_in_sync[each.resource_name] = int(least) if least.isdecimal() else 0

    def _disks(self, line: BrokerLine, node: int, told: _Told) -> None:
        """Free and all bytes of a broker's disks, where it may be asked and tells them."""
        api = "DescribeLogDirs"
        if self.is_denied(api, "cluster") or not line.has(api, 4):
            return
        for _call, answer in line.ask_all([Call(node, api, {"topics": ()})]):
            # Who may not ask goes without: nothing else depends on it.
            if not isinstance(answer, BrokerError) and not getattr(answer, "error_code", OK):
                there = [each for each in answer.results if not each.error_code and each.total_bytes > 0]
                if there:
                    told.disk = sum(each.usable_bytes for each in there), sum(each.total_bytes for each in there)

    # -- what can fail

    def is_denied(self, api: str, name: str) -> bool:
        return time.monotonic() < self._denied_until.get((api, name), 0.0)

    def _fine(self, code: int, api: str, name: str, failures: dict[str, str]) -> bool:
        """Whether there is no error; one is noted, and what was denied is not asked again for a minute."""
        if code in _GONE_MEANWHILE or code == OK:
            return code == OK
        what = DENIED.get(code)
        if what is not None:
            thing = what if name == what else f"{what} {name}"
            sentence = f"{api} of the {thing} is denied; the {_NEEDS.get(api, 'DESCRIBE')} permission is missing."
            self._denied_until[api, name] = time.monotonic() + _ASK_AGAIN_S
            self._denials[api, name] = sentence
        else:
            sentence = f"{api} of {name} failed with Kafka's error {code}."
        failures[f"{api} {name}"] = sentence
        return False


def _answered(answers: Iterable[tuple[Call, Any]], failures: dict[str, str]) -> Iterator[tuple[Call, Any]]:
    for call, answer in answers:
        if not isinstance(answer, BrokerError):
            yield call, answer
        elif answer.code is not ErrorCode.UNSUPPORTED_VERSION:
            failures[f"{call.api} of broker {call.node}"] = f"{call.api} failed: {answer}"


def _parts(items: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    return (items[at : at + most] for at in range(0, len(items), most))


def _of_groups(names: list[str]) -> list[Body]:
    return [{"groups": [{"group_id": name, "topics": None} for name in part]} for part in _parts(names, _MOST_GROUPS)]


def _descriptions(field: str, names: list[str]) -> list[Body]:
    return [{field: part, "include_authorized_operations": False} for part in _parts(names, _MOST_GROUPS)]


def _offset_bodies(when: int, places: list[TopicPartition]) -> list[Body]:
    return [offsets_body((place, when) for place in part) for part in _parts(places, _MOST_PARTITIONS)]


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def offsets_body(places: Iterable[tuple[TopicPartition, int]], isolation_level: int = 0) -> Body:
    """The body of a ListOffsets request for (partition, Unix time in ms, or LATEST, EARLIEST...)."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for (topic, partition), when in places:
        rows.setdefault(topic, []).append({"partition_index": partition, "current_leader_epoch": -1, "timestamp": when})
    topics = [{"name": topic, "partitions": parts} for topic, parts in rows.items()]
    return {"replica_id": -1, "isolation_level": isolation_level, "topics": topics}
