"""What passes, read: requests and their answers become the events of the program's one vocabulary.

Frames come from the path of the bytes over a queue with a bound, and are read in the observer's thread. If that falls
behind, they are dropped here alone, and counted. Who reads is found out by `Readers`, what is given again by
`DeliveryRecord`, and what happens in a group by `ClusterDiff`, as for a broker of our own and for a cluster that is
looked at.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from broker_core.broker.delivery_record import DeliveryRecord
from broker_core.broker.partition_owners import Reader
from broker_core.errors import BrokerError
from broker_core.events import (
    BEYOND_END,
    BEYOND_GIVEN,
    COMMITTED_BACKWARDS,
    FIRST_COMMIT,
    SET_BY_TOOL,
    Event,
    EventKind,
    EventStream,
    reader_by_hand,
)
from broker_core.listeners.between import rewriting
from broker_core.listeners.between.asked_requests import TopicNames
from broker_core.listeners.between.rewriting import (
    FETCH,
    FIND_COORDINATOR,
    METADATA,
    PRODUCE,
    SHARE_ACKNOWLEDGE,
    SHARE_FETCH,
)
from broker_core.listeners.between.seen import API_NAMES, Seen
from broker_core.listeners.between.seen_groups import SeenGroups
from broker_core.listeners.between.seen_logs import Arrived, Batch, SeenLog, aborted_spans, batches_in
from broker_core.listeners.between.seen_shares import SeenShares
from broker_core.listeners.between.seen_transactions import SeenTransactions
from broker_core.listeners.connections import Connection
from broker_core.listeners.kafka.call import READ_COMMITTED
from broker_core.listeners.kafka.codec import header_of, request_of
from broker_core.listeners.kafka.readers import Fetched, Readers
from broker_core.messages import TopicPartition
from broker_core.observation.kafka.arrivals import Arrivals
from broker_core.observation.kafka.cluster_diff import ClusterDiff
from broker_core.observation.kafka.seen import TopicSeen
from broker_core.observation.kafka.sweep import Sweep

_MOST_BYTES, _MUCH_BYTES = 64 * 1_048_576, 16 * 1_048_576  # of frames that wait to be read
_MOST_FRAMES: Final = 50_000
_MOST_UNANSWERED: Final = 50_000
_MOST_ELEMENTS: Final = 5_000_000
_GONE: Final = -1
_NO_END: Final = 1 << 62  # of a log whose end nobody has told
OFFSET_COMMIT: Final = 8
_JOIN_GROUP, _HEARTBEAT, _LEAVE_GROUP, _SYNC_GROUP, _CONSUMER_GROUP_HEARTBEAT = 11, 12, 13, 14, 68
_INIT_PRODUCER_ID, _END_TXN, _TXN_OFFSET_COMMIT = 22, 26, 28
#: Requests that change something in the cluster.
_CHANGING: Final = frozenset({PRODUCE, OFFSET_COMMIT, _END_TXN, _TXN_OFFSET_COMMIT, SHARE_ACKNOWLEDGE})
#: The reader sleeps so long after each frame, about so often at most in one `look`: the path of the bytes goes first.
_YIELD_S, _FEW = 0.000_05, 1_000


class TrafficReader:
    """Makes events of the requests and answers that the path of the bytes puts here.

    `wants`, `put`, `gone` and `fetched_by` are for the thread of that path, everything else for the observer's.
    """

    def __init__(self, diff: ClusterDiff, arrivals: Arrivals, names: TopicNames) -> None:
        self._diff, self._arrivals, self._names = diff, arrivals, names
        self._lock = threading.Lock()
        self._waiting: deque[Seen | Event] = deque()
        self._waiting_bytes = self._newly_dropped = 0
        self.dropped = 0  # frames in all that nobody had time to read
        self.published_before = 0  # messages that clients were told of as published, and that this found there
        self.something_waits, self.much_waits = threading.Event(), threading.Event()  # to be read
        self._out: list[Event] = []
        self._events = EventStream()
        self._events.attach(self._out.append)
        self._now_ns = self._swept_ns = 0
        self.groups = SeenGroups(diff, self._events, names.of)
        self._shares = SeenShares(diff, self._events, self._parts)
        self.transactions = SeenTransactions(self._events, self._log)
        self._logs: dict[TopicPartition, SeenLog] = {}
        self.delivery_record = DeliveryRecord(self._events, lambda *place: self._log(place), lambda: self.groups)
        self._readers = Readers()
        self._in_flight: OrderedDict[tuple[int, int], tuple[int, Any]] = OrderedDict()  # by connection, correlation id
        # Client and number of messages, by CRC, until they are answered or fetched.
        self._produced: OrderedDict[tuple[TopicPartition, int], tuple[str, int]] = OrderedDict()
        self._offsets: dict[int, dict[TopicPartition, int]] = {}  # that each connection fetches from
        self._publishing: dict[int, str] = {}  # clients, by connection
        self.wants_sweep = False  # a look at the cluster would tell what is waited for
        self.closing = False  # the ports do, so that no client has ended what ends now
        self.not_answered = Counter[str]()  # requests that change something, when it closed
        self._unanswered: dict[tuple[str, TopicPartition], int] = {}  # commits that are not answered
        self._beyond_end: list[tuple[Reader, TopicPartition, int]] = []  # beyond an end that others may have moved
        self._not_known: set[tuple[int, int]] = set()  # APIs with versions that this program does not know
        self._committed_ns: dict[tuple[str, TopicPartition], int] = {}  # when, by group

    # -- for the path of the bytes

    @staticmethod
    def wants(api_key: int) -> bool:
        """Whether requests and answers of this API are read."""
        return api_key in _ANSWERED

    def put(self, seen: Seen | Event) -> None:
        size_bytes = len(seen.frame) if isinstance(seen, Seen) else 0
        with self._lock:
            if size_bytes and (self._waiting_bytes > _MOST_BYTES or len(self._waiting) > _MOST_FRAMES):
                self._newly_dropped += 1
                return
            self._waiting.append(seen)
            self._waiting_bytes += size_bytes
            if self._waiting_bytes > _MUCH_BYTES and not self.much_waits.is_set():
                self.much_waits.set()
        if not self.something_waits.is_set():
            self.something_waits.set()

    def gone(self, connection: Connection) -> None:
        """The connection has ended; all of it was put here before."""
        self.put(Seen(connection, "", _GONE, 0, 0, 0, b"", False))

    def fetched_by(self, connection: Connection) -> Iterable[TopicPartition]:
        return tuple(self._offsets.get(connection.id, ()))

    # -- for the observer

    def look(self, now_ns: int) -> tuple[list[Event], str]:
        """The events until now, and what is missing before them, in a sentence; "" if nothing is."""
        with self._lock:
            taken, self._waiting = self._waiting, deque()
            self._waiting_bytes, missed, self._newly_dropped = 0, self._newly_dropped, 0
            self.much_waits.clear()
        self.something_waits.clear()
        self.dropped += missed
        every = 1 + len(taken) // _FEW
        for number, each in enumerate(taken):
            if not number % every:
                time.sleep(_YIELD_S)
            if isinstance(each, Event):
                self._now_ns = max(self._now_ns, each.time_ns)
                self._events.pass_on(each)
            else:
                self._read(each)
        self._settle(now_ns)
        gap = f"{missed:,} requests and answers passed that nobody had time to read" if missed else ""
        return self._take_events(), gap

    @property
    def is_settled(self) -> bool:
        """Whether no message in a log still waits for more to be learnt about it."""
        return not any(log.waits for log in list(self._logs.values()))

    @property
    def not_published(self) -> Counter[TopicPartition]:
        """Messages that were sent, by somebody who was not told of them, and were not seen since."""
        found = Counter[TopicPartition]()
        for (place, _crc), (_client, messages) in self._produced.items():
            found[place] += messages
        return +found

    @property
    def not_committed(self) -> dict[tuple[str, TopicPartition], int]:
        """By group and partition, the offset of commits without a response that the cluster may have carried out."""
        known = self._diff.committed
        return {key: to for key, to in self._unanswered.items() if known.get(key[0], {}).get(key[1], -1) < to}

    def take_sweep(self, sweep: Sweep, since_ns: int, now_ns: int, ends_then: dict[TopicPartition, int]) -> None:
        """A look at the cluster that began at `since_ns`, when its partitions ended at `ends_then`.

        Of what has passed it tells nothing again; what it alone tells comes by `ClusterDiff`.
        """
        self._now_ns = max(self._now_ns, now_ns)
        for name, topic in sweep.topics.items():
            self._names.know(name, topic.topic_id)
        ends = self._diff.ends
        for place, end in list(sweep.ends.items()):
            if place in ends and end >= ends_then.get(place, 0):
                if end > ends[place]:
                    self._log(place).ends(end, self._now_ns, self._swept_ns)
                sweep.ends[place] = ends[place]
            else:  # a topic that is new, or that was made anew
                self._logs.pop(place, None)
        beyond_end, self._beyond_end = self._beyond_end, []
        for reader, place, offset in beyond_end:
            if (beyond := offset - sweep.ends.get(place, offset)) > 0:
                self.delivery_record.say_beyond(self._now_ns, reader, place, offset, beyond, BEYOND_END)
        for name, group in list(sweep.groups.items()):
            sweep.groups[name] = self.groups.corrected(name, group, since_ns)
        for name in self.groups.told_since(since_ns):  # it may have begun after the cluster had listed its groups
            sweep.listed.setdefault(name, "")
        for name, found in sweep.committed.items():
            known = self._diff.committed.get(name, {})
            for place in found.keys() & known.keys():
                if self._committed_ns.get((name, place), -1) >= since_ns:
                    found[place] = known[place]
        self._out += self._diff.events(sweep, self._now_ns)
        self._swept_ns = now_ns

    def _take_events(self) -> list[Event]:
        """The new events in the order of time; one that was found out late gets the time of the event before it."""
        found, last_ns = [], 0
        for event in self._out:
            last_ns = max(last_ns, event.time_ns)
            found.append(event if event.time_ns == last_ns else msgspec.structs.replace(event, time_ns=last_ns))
        self._out.clear()
        return found

    # -- frames

    def _read(self, seen: Seen) -> None:
        self._now_ns = self.groups.now_ns = max(self._now_ns, seen.time_ns)
        number = seen.connection.id
        if seen.api_key == _GONE:
            self._readers.closed(self._now_ns, self, number)
            self._lost(seen.connection)
            self._offsets.pop(number, None)
            for flight in [each for each in self._in_flight if each[0] == number]:
                asked_key, _asked = self._in_flight.pop(flight)
                self.not_answered[API_NAMES[asked_key]] += self.closing and asked_key in _CHANGING
            return
        key, version = seen.api_key, seen.version
        if rewriting.newest(key) < version:
            if (key, version) not in self._not_known:
                self._not_known.add((key, version))
                cause = f"{API_NAMES[key]} v{version} of {seen.client} is newer than this program; it is not read"
                self._events.emit(self._now_ns, EventKind.GAP, cause=cause)
            return
        try:
            if not seen.is_answer:
                frame = memoryview(seen.frame)[4:]
                _client, asked = request_of(header_of(frame), frame, _MOST_ELEMENTS)
                if key != PRODUCE or asked.acks:
                    self._in_flight[number, seen.correlation_id] = key, asked
                if len(self._in_flight) > _MOST_UNANSWERED:
                    self._in_flight.popitem(last=False)
                if key in _ASKED:
                    _ASKED[key](self, seen, asked)
                return
            _key, asked = self._in_flight.pop((number, seen.correlation_id), (key, None))
            if asked is not None:
                answer = rewriting.decoded(key, version, seen.frame) if seen.answer is None else seen.answer
                _ANSWERED[key](self, seen, asked, answer)
        except BrokerError as error:  # what cannot be read passes all the same
            seen.connection.failed(str(error))

    def _lost(self, connection: Connection) -> None:
        """Report, as the embedded broker does, that a client's connection has ended; not when this program closes."""
        if self.closing:
            return
        self.groups.lost(connection.id)
        published = self._publishing.pop(connection.id, None)
        if published is not None and published not in self._publishing.values():
            self._events.emit(self._now_ns, EventKind.CONNECTION_ENDED, client=published)

    def _log(self, place: TopicPartition, first: int = _NO_END) -> SeenLog:
        """The log of a partition, whose new messages begin at its known end offset, or at `first` if none is known."""
        found = self._logs.get(place)
        if found is None:
            found = SeenLog(place, self._diff.ends.get(place, first), self._arrivals.of)
            if found.end_offset != _NO_END:
                self._logs[place] = found
        return found

    def _parts(
        self, topics: Any, field: str = "partitions", number: str = "partition_index"
    ) -> Iterator[tuple[TopicPartition, Any]]:
        """The rows of partitions, of topics that are shown."""
        for topic in topics:
            if (name := self._names.of(topic)) in self._diff.topics:
                yield from (((name, getattr(part, number)), part) for part in getattr(topic, field))

    def _settle(self, now_ns: int) -> None:
        self._now_ns = max(self._now_ns, now_ns)
        flying = {
            place for key, asked in self._in_flight.values() if key == PRODUCE for place, _ in self._produced_by(asked)
        }
        for place, log in self._logs.items():
            if place not in flying:
                self._tell(place, log, log.settled(self._now_ns))
        self.transactions.settle(self._now_ns)

    # -- topics and messages

    def metadata_answered(self, _seen: Seen, _asked: Any, answer: Any) -> None:
        for topic in answer.topics:
            if topic.error_code or not topic.name or getattr(topic, "is_internal", False):
                continue
            topic_id = getattr(topic, "topic_id", None)
            is_new = topic_id is not None and topic_id not in self._names.by_id
            self._names.know(topic.name, topic_id)
            if topic.name not in self._diff.topics:
                seen = TopicSeen(len(topic.partitions), topic_id or None)
                self._out += self._diff.topic_events(topic.name, seen, self._now_ns)
            if is_new:
                self.groups.name()

    def produce_asked(self, seen: Seen, asked: Any) -> None:
        for place, batches in self._produced_by(asked):
            for batch in batches:
                self._produced[place, batch.crc] = seen.client, batch.messages * bool(asked.acks)
                seen.connection.messages_in += batch.messages
                self._publishing[seen.connection.id] = seen.client
                if batch.is_transactional:
                    self.transactions.begins(self._now_ns, batch.producer_id, seen.client)
        while len(self._produced) > _MOST_UNANSWERED:
            self._produced.popitem(last=False)

    def _produced_by(self, asked: Any) -> Iterator[tuple[TopicPartition, list[Batch]]]:
        for place, part in self._parts(asked.topic_data, "partition_data", "index"):
            yield place, list(batches_in(part.records))

    def produce_answered(self, seen: Seen, asked: Any, answer: Any) -> None:
        starts = {
            place: part.base_offset
            for place, part in self._parts(answer.responses, "partition_responses", "index")
            if not part.error_code and part.base_offset >= 0
        }
        for place, batches in self._produced_by(asked):
            at = starts.get(place)
            for batch in batches:
                self._produced.pop((place, batch.crc), None)
                if at is not None:
                    producer = batch.producer_id if batch.is_transactional else -1
                    found = Arrived(at, batch.messages, batch.size_bytes, seen.client, producer)
                    if batch.is_transactional:
                        self.transactions.writes(producer, place)
                    log = self._log(place, at)
                    self.published_before += batch.messages * (at < log.first_offset)
                    self._tell(place, log, log.arrived(found, self._now_ns))
                    at += batch.messages

    def _tell(self, place: TopicPartition, log: SeenLog, found: list[Arrived]) -> None:
        for each in found:
            end = each.start + each.messages
            self._diff.ends[place] = end
            self._arrivals.note_end(place, end, self._now_ns)
            if each.is_marker:
                self.transactions.marked(self._now_ns, place, each)
                continue
            log.keep(each, self._now_ns)
            self._events.emit(
                self._now_ns,
                EventKind.PUBLISHED,
                topic=place[0],
                partition=place[1],
                offset=each.start,
                count=each.messages,
                size_bytes=each.size_bytes,
                client=each.client,
                published_ns=each.since_ns,
            )

    def fetch_asked(self, seen: Seen, asked: Any) -> None:
        number = seen.connection.id
        self._readers.asks(number, seen.client, seen.connection.node)
        offsets = self._offsets.setdefault(number, {})
        if asked.session_epoch <= 0:  # a full fetch, not what has changed in its session (KIP-227)
            offsets.clear()
        for topic in asked.forgotten_topics_data:
            for partition in topic.partitions:
                offsets.pop((self._names.of(topic) or "", partition), None)
        for place, part in self._parts(asked.topics, number="partition"):
            offsets[place] = part.fetch_offset
            self._readers.waits(self._now_ns, self, number, seen.client, place, part.fetch_offset)

    def fetch_answered(self, seen: Seen, asked: Any, answer: Any) -> None:
        offsets, committed = self._offsets.get(seen.connection.id, {}), asked.isolation_level == READ_COMMITTED
        for place, part in self._parts(answer.responses):
            if not (batches := list(batches_in(part.records))):
                continue
            # Its session may be older than this connection.
            start, end = offsets.get(place, batches[0].start), batches[-1].end
            log = self._given(place, batches)
            log.aborted(aborted_spans(batches, part.aborted_transactions or ()))
            if end > start:
                seen.connection.messages_out += log.messages_between(start, end)
                fetched = Fetched(place, start, end, committed)
                self._readers.fetched(self._now_ns, self, seen.connection.id, seen.client, fetched)

    def _given(self, place: TopicPartition, batches: list[Batch]) -> SeenLog:
        """Where the end was not known, what is in front of the first that came through here is older than this."""
        log = self._logs.get(place)
        if log is None:
            ours = (each.start for each in batches if (place, each.crc) in self._produced)
            log = self._log(place, next(ours, batches[-1].end))
        if batches[-1].end <= log.end_offset and not self._produced:  # all of it was told
            return log
        for batch in batches:
            client, _messages = self._produced.pop((place, batch.crc), ("", 0))
            producer = batch.producer_id if batch.is_transactional or batch.is_control else -1
            found = Arrived(
                batch.start, batch.messages, batch.size_bytes, client, producer, batch.is_control, None, batch.is_commit
            )
            self._tell(place, log, log.fetched(found))
        return log

    def share_answered(self, seen: Seen, asked: Any, answer: Any) -> None:
        self._shares.settles(seen, asked, answer)
        seen.connection.group = asked.group_id or ""
        given = seen.api_key == SHARE_FETCH and not answer.error_code
        for place, part in self._parts(answer.responses if given else ()):
            if batches := list(batches_in(part.records)):
                self._given(place, batches)
            self._shares.acquires(seen, asked, place, part)

    # -- transactions

    def end_txn_answered(self, seen: Seen, asked: Any, answer: Any) -> None:
        commits, has_markers = self.transactions.end_txn_answered(self._now_ns, seen, asked, answer)
        self.wants_sweep |= has_markers  # a look at the cluster tells where they are
        for commit, request in commits:
            self._take_commits(commit, request, set())

    # -- groups

    def find_coordinator_answered(self, seen: Seen, asked: Any, _answer: Any) -> None:
        if getattr(asked, "key_type", 0) == 0:
            for group in asked.coordinator_keys or (getattr(asked, "key", ""),):
                self._readers.asks_for(seen.connection.id, seen.client, group)
                seen.connection.group = group or seen.connection.group

    def offset_commit_asked(self, _seen: Seen, asked: Any) -> None:
        for place, part in self._parts(asked.topics):
            self._unanswered[asked.group_id, place] = part.committed_offset

    def offset_commit_answered(self, seen: Seen, asked: Any, answer: Any) -> None:
        seen.connection.group = asked.group_id
        for place, part in self._parts(asked.topics):
            if self._unanswered.get((asked.group_id, place)) == part.committed_offset:
                del self._unanswered[asked.group_id, place]
        self._take_commits(seen, asked, {place for place, part in self._parts(answer.topics) if part.error_code})

    def _take_commits(self, seen: Seen, asked: Any, refused: set[TopicPartition]) -> None:
        group = asked.group_id
        known = self._diff.committed.setdefault(group, {})
        members = self._diff.groups[group].members if group in self._diff.groups else ()
        clients = {each.member_id: each.client for each in members}
        for place, part in self._parts(asked.topics):
            new = part.committed_offset
            if place in refused or new < 0:
                continue
            client = clients.get(asked.member_id, seen.client)
            reader = asked.member_id or self._readers.committing(self._now_ns, self, client, group, place, new)
            # What it began with here is older than what it has committed, if that may be known to others.
            old = self.groups.next_offset(group, *place) if self._diff.all_told else known.get(place)
            known[place] = new
            self._committed_ns[group, place] = self._now_ns
            sets = reader == reader_by_hand(client) and not self._readers.reads(client)
            if old is None or new < old or (sets and new > old):
                cause = FIRST_COMMIT if old is None else SET_BY_TOOL if sets else COMMITTED_BACKWARDS
                detail = {"changes": [[*place, old, new]]}
                self._events.emit(
                    self._now_ns, EventKind.OFFSETS_RESET, group=group, count=1, cause=cause, detail=detail
                )
            elif new > old:
                who = Reader(group, client, reader)
                if asked.member_id and new > self._log(place).end_offset:
                    self._beyond_end.append((who, place, new))
                    self.wants_sweep = True
                # All that a member fetches goes through here.
                given = asked.member_id and not self.dropped and self.delivery_record.has_given((group, *place))
                judged = (BEYOND_GIVEN,) if given else ()
                self.delivery_record.committed(self._now_ns, who, place, old, new, judged=judged)

    def leave_group_answered(self, seen: Seen, asked: Any, answer: Any) -> None:
        for member_id in self.groups.leave_group_answered(seen, asked, answer):
            self._readers.left(member_id)

    def consumer_group_heartbeat_answered(self, seen: Seen, asked: Any, answer: Any) -> None:
        seen.connection.group = asked.group_id
        if member_id := self.groups.consumer_group_heartbeat_answered(seen, asked, answer):
            self._readers.left(member_id)


_ASKED: Final[dict[int, Callable[[TrafficReader, Seen, Any], object]]] = {
    PRODUCE: TrafficReader.produce_asked,
    FETCH: TrafficReader.fetch_asked,
    OFFSET_COMMIT: TrafficReader.offset_commit_asked,
    _JOIN_GROUP: lambda traffic, seen, asked: traffic.groups.join_group_asked(seen, asked),
    _SYNC_GROUP: lambda traffic, seen, asked: traffic.groups.sync_group_asked(seen, asked),
}
_ANSWERED: Final[dict[int, Callable[[TrafficReader, Seen, Any, Any], object]]] = {
    PRODUCE: TrafficReader.produce_answered,
    FETCH: TrafficReader.fetch_answered,
    METADATA: TrafficReader.metadata_answered,
    OFFSET_COMMIT: TrafficReader.offset_commit_answered,
    FIND_COORDINATOR: TrafficReader.find_coordinator_answered,
    _JOIN_GROUP: lambda traffic, *seen: traffic.groups.join_group_answered(*seen),
    _HEARTBEAT: lambda traffic, *seen: traffic.groups.heartbeat_answered(*seen),
    _LEAVE_GROUP: TrafficReader.leave_group_answered,
    _SYNC_GROUP: lambda traffic, *seen: traffic.groups.sync_group_answered(*seen),
    _INIT_PRODUCER_ID: lambda traffic, *seen: traffic.transactions.init_producer_id_answered(*seen),
    _END_TXN: TrafficReader.end_txn_answered,
    _TXN_OFFSET_COMMIT: lambda traffic, *seen: traffic.transactions.txn_offset_commit_answered(*seen),
    _CONSUMER_GROUP_HEARTBEAT: TrafficReader.consumer_group_heartbeat_answered,
    SHARE_FETCH: TrafficReader.share_answered,
    SHARE_ACKNOWLEDGE: TrafficReader.share_answered,
}
