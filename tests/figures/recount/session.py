"""A whole session, one event after the other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from tests.figures.recount.account import Account
from tests.figures.recount.flows import GRID_NS, Flow, Flows
from tests.figures.recount.gaps import Gap, gaps_of
from tests.figures.recount.groups import Group, Rebalance
from tests.figures.recount.queues import Queue
from tests.figures.recount.redrives import Redrives
from tests.figures.recount.schemas import Schemas
from tests.figures.recount.topics import Gate, Topic

Row = dict[str, Any]
_OF_GROUPS = frozenset(
    {"delivered", "member_joined", "member_left", "partitions_assigned", "partitions_revoked", "rebalance_started"}
)


class Recount(Flows):
    """The state after the events that were added. `scenario` is its YAML as plain values: settings are in no event."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        super().__init__()
        self.scenario = scenario
        self.account = Account(scenario)
        self.events = 0
        self.topics: dict[str, Topic] = {}  # every log, those of queues and bins too
        self.listed: list[str] = []  # the topics that are neither
        self.groups: dict[str, Group] = {}
        self._by_hand: dict[str, Group] = {}  # that have committed nothing so far
        self.queues: dict[str, Queue] = {}
        self.gates: dict[str, Gate] = defaultdict(Gate)
        self.rebalances: list[Rebalance] = []
        self.totals: dict[str, int] = defaultdict(int)
        self.ever: set[str] = {"", "user"}  # clients that are none of another program
        self.clients: dict[str, str] = {}  # by name: producer, consumer or worker
        self.places: dict[str, str] = {}  # the group of a consumer, "" on the bench
        self.faults: dict[tuple[str, str], Row] = {}
        self.outcomes: dict[str, str] = {}  # what became of what a producer sent last, where it was not stored
        self.levels: list[dict[Flow, float]] = []  # as they stood right before each line of the grid
        self.latencies: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by second: (ns, how many)
        self.flows_set: dict[str, Any] = {}  # limits that were set meanwhile, by topic or queue
        self.told: dict[str, list[Row]] = defaultdict(list)  # faults, and what was told of each group
        self.moments: list[Row] = []  # what the timeline marks
        self.kinds: Counter[str] = Counter()  # events
        self.planned = 0  # actions of the scenario's schedule
        self.read: dict[tuple[str, str, int], set[int]] = defaultdict(set)  # what a group was handed of a partition
        self.passed: dict[tuple[str, str, int], set[int]] = defaultdict(set)  # what its resets have jumped over
        self.aborted: dict[tuple[str, str, int], set[int]] = defaultdict(set)  # what it dropped as aborted
        self.transactions: dict[int, Row] = {}  # how each that is open began, by producer id
        self.begins: dict[tuple[str, int], dict[int, int]] = defaultdict(
            dict
        )  # the first offset of each in a partition
        self.redrives = Redrives()
        self.schemas = Schemas(scenario)
        self._gaps: dict[str, tuple[int, list[Gap]]] = {}
        self._handlers: dict[str, Callable[[Row], object]] = {
            "published": self._published,
            "delivered": self._delivered,
            "passed_over": self._passed_over,
            "acknowledged": self._acknowledged,
            "nacked": self._given_back,
            "released": self._given_back,
            "lease_expired": self._given_back,
            "lease_extended": lambda row: self.queues[row["group"]].extended(row),
            "dead_lettered": self._dead_lettered,
            "redriven": self._redriven,
            "purged": self._purged,
            "rejected": self._rejected,
            "dropped": self._dropped,
            "evicted": self._evicted,
            "expired": self._finished,
            "damage": self._finished,
            "topic_created": self._topic_created,
            "partitions_added": self._topic_created,
            "topic_deleted": self._topic_deleted,
            "records_deleted": self._records_deleted,
            "queue_created": self._queue_created,
            "client_started": self._client_started,
            "client_stopped": lambda row: self.clients.pop(row["client"], None),
            "member_joined": lambda row: self._group(row).joined(row),
            "member_left": lambda row: self._group(row).left(row),
            "group_state": self._group_state,
            "partitions_revoked": lambda row: self._group(row).revoked(row),
            "partitions_assigned": lambda row: self._group(row).assigned(row),
            "reading_began": self._reading_began,
            "offsets_reset": self._offsets_reset,
            "rebalance_started": self._rebalance_started,
            "rebalance_completed": self._rebalance_completed,
            "transaction_started": lambda row: self.transactions.update({row["detail"]["producer_id"]: row}),
            "transaction_ended": self._transaction_ended,
            "producer_blocked": self._blocked,
            "producer_unblocked": self._unblocked,
            "fault": self._fault,
            "user_action": self._user_action,
        }
        for consumer in scenario.get("consumers", ()):
            for number in range(consumer.get("first", 1), consumer.get("first", 1) + consumer.get("count", 1)):
                self.places[f"{consumer['name']}-{number}"] = consumer.get("group", "")

    def add(self, row: Row) -> None:
        """One more event, the next."""
        assert row["seq"] == self.events
        self.settle(row["time_ns"])
        self.events += 1
        self.kinds[row["kind"]] += 1
        self.planned += row["kind"] == "user_action" and (row["detail"] or {}).get("by") == "scenario"
        self.redrives.add(row)
        self.schemas.add(row)
        self.account.add(row)
        handler = self._handlers.get(row["kind"])
        if handler is not None:
            handler(row)
        if row["kind"] == "fault":
            for rows in self.told.values():
                rows.append(row)
        elif row["kind"] in _OF_GROUPS and row["group"] not in self.queues:
            self.told[row["group"]].append(row)
        if row["kind"] in {"dead_lettered", "redriven", "user_action", "fault"}:
            self.moments.append(row)

    # -- what is asked

    def settle(self, now_ns: int) -> None:
        """Take down the levels of the lines of the grid up to now: nothing comes before them any more."""
        while len(self.levels) <= now_ns // GRID_NS:
            self.levels.append(self._levels(len(self.levels) * GRID_NS))

    def _levels(self, line_ns: int) -> dict[Flow, float]:
        found: dict[Flow, float] = {}
        for group in self.groups.values():
            lags = {place: self.lag(group.name, *place) for place in self.read_by(group.name)}
            for (topic, partition), lag in lags.items():
                if lag is not None:
                    found["lag", f"{group.name} {topic} {partition}"] = lag
            total = self.group_lag(group.name)
            if total is not None and not self.lag_unknown(group.name):
                found["lag", group.name] = total
        for queue in self.queues.values():
            found["depth", queue.name] = queue.waiting()
            found["dead", queue.name] = len(queue.letters)
        found["blocked", ""] = sum(gate.blocked_ns(line_ns) for gate in self.gates.values())
        return found

    def read_by(self, name: str) -> list[tuple[str, int]]:
        """The partitions of what a group reads or has committed."""
        group = self.groups[name]
        topics = sorted({*group.topics(), *(topic for topic, _ in group.committed)} & set(self.listed))
        return [(topic, number) for topic in topics for number in range(len(self.topics[topic].partitions))]

    def group_lag(self, name: str, places: list[tuple[str, int]] | None = None) -> int | None:
        """The sum over the places, else all that it reads, of what is known; None where nothing is."""
        places = self.read_by(name) if places is None else places
        known = [place for place in places if self.lag(name, *place) is not None]
        return sum(self.lag(name, *place) or 0 for place in known) if known else None

    def at_most(self, name: str, places: list[tuple[str, int]] | None = None) -> bool:
        """Whether messages that compaction has removed may count in that sum."""
        places = self.read_by(name) if places is None else places
        return any(self.lag(name, *place) and self.topics[place[0]].compacted for place in places)

    def lag_unknown(self, name: str) -> int:
        """In how many partitions that its members read it is not known from where on."""
        topics = self.groups[name].topics()
        return sum(place[0] in topics and self.lag(name, *place) is None for place in self.read_by(name))

    def gaps(self, group: str, started_ns: int) -> list[Gap]:
        """For how long nobody read each partition that was revoked in the rebalance of `group` that began then."""
        starts = [card for card in self.rebalances if card.group == group]
        return [
            gap
            for gap in self.all_gaps(group)
            if [card.started_ns for card in starts if card.number < gap.number][-1:] == [started_ns]
            and not gap.came_back
        ]

    def all_gaps(self, group: str) -> list[Gap]:
        """Those of all rebalances of `group`."""
        known = self._gaps.get(group)
        if known is None or known[0] != self.events:
            known = self._gaps[group] = (self.events, gaps_of(self.told[group], group))
        return known[1]

    def end(self, topic: str, partition: int) -> int:
        """The offset that the next message gets."""
        return self.topics[topic].at(partition).end

    def lag(self, group: str, topic: str, partition: int) -> int | None:
        """Messages to the end from the committed offset, or from where it began; None where neither is known."""
        begin, log = self.goes_on(group, topic, partition), self.topics[topic].at(partition)
        if begin is None:
            return None if log.end else 0
        return log.count(max(begin, log.start), log.end)

    def goes_on(self, group: str, topic: str, partition: int) -> int | None:
        """The committed offset, or else where the group began."""
        place, known = (topic, partition), self.groups[group]
        return known.committed.get(place, known.began.get(place))

    def lag_ns(self, group: str, topic: str, partition: int, now_ns: int) -> int | None:
        """The age of the first message that is not committed."""
        begin, log = self.goes_on(group, topic, partition), self.topics[topic].at(partition)
        if begin is None:
            return None if log.end else 0
        oldest = log.message_at(max(begin, log.start))
        if oldest >= log.end:
            return 0
        published_ns = log.published_ns[oldest]
        return None if published_ns is None else now_ns - published_ns

    # -- messages

    def _published(self, row: Row) -> None:
        self.totals["published"] += row["count"]
        self._flow("published", "", row)
        self._flow("published", row["topic"], row)
        self._flow("bytes", row["topic"], row, row["size_bytes"])
        self._flow("published by", row["client"], row)
        self._flow("published by to", f"{row['client']}\n{row['topic']}", row)
        self.outcomes.pop(row["client"], None)
        topic = self.topics[row["topic"]]
        topic.published += row["count"]
        topic.published_bytes += row["size_bytes"]
        partition = topic.at(row["partition"])
        partition.append(row["offset"], row["count"], row["time_ns"])
        for producer_id, began in self.transactions.items():
            if began["client"] == row["client"]:
                self.begins[row["topic"], row["partition"]].setdefault(producer_id, row["offset"])
        if row["count"] == 1:
            partition.keys[row["key"]] += 1
        else:
            partition.unnamed += row["count"]
        for queue in self.queues.values():
            if queue.topic == row["topic"]:
                queue.published(row)

    def _delivered(self, row: Row) -> None:
        self.totals["delivered"] += row["count"]
        self._flow("delivered", row["group"], row)
        self._flow("delivered in", f"{row['group']} {row['topic']}", row)
        self._flow("delivered to", row["client"], row)
        if row["attempt"] == 1 and row["published_ns"] is not None:
            latency_ns = row["time_ns"] - row["published_ns"]
            self.latencies[row["time_ns"] // 1_000_000_000].append((latency_ns, row["count"]))
        if row["attempt"] is None:
            self.totals["fetched_again"] += row["count"]
        elif row["attempt"] > 1:
            self.totals["redelivered"] += row["count"]
        if row["group"] in self.queues:
            self.queues[row["group"]].handed_out(row)
        elif group := self.groups.get(row["group"]) or self._by_hand.get(row["group"]):
            group.delivered(row)
            offsets = range(row["offset"], row["offset"] + row["count"])
            self.read[row["group"], row["topic"], row["partition"]].update(offsets)

    def _passed_over(self, row: Row) -> None:
        if row["cause"] == "acknowledged":
            self._group(row).acknowledged(row)
        elif group := self.groups.get(row["group"]) or self._by_hand.get(row["group"]):
            group.delivered(row)
            offsets = range(row["offset"], row["offset"] + row["count"])
            self.aborted[row["group"], row["topic"], row["partition"]].update(offsets)

    def _acknowledged(self, row: Row) -> None:
        self.totals["acknowledged"] += row["count"]
        self._flow("acknowledged", row["group"], row)
        self._flow("acknowledged by", row["client"], row)
        if row["group"] in self.queues:
            self.queues[row["group"]].acked(row)
        else:
            self._group(row).acknowledged(row)

    def _given_back(self, row: Row) -> None:
        self._flow(row["kind"], row["client"], row)
        self.queues[row["group"]].given_back(row)

    def _dead_lettered(self, row: Row) -> None:
        self.totals["dead_lettered"] += row["count"]
        self._flow("dead_lettered", row["group"], row)
        self.topics.setdefault(row["to_topic"], Topic(row["to_topic"]))
        bin_log = self.topics[row["to_topic"]].at(row["to_partition"] or 0)
        bin_log.append(row["to_offset"], 1, row["time_ns"])
        if row["group"] in self.queues:
            self.queues[row["group"]].died(row)
        elif not row["group"]:
            # A schema has sent it there.
            self._flow("dead-lettered of", row["client"], row)
            self.outcomes[row["client"]] = "dead-lettered"

    def _redriven(self, row: Row) -> None:
        self.totals["redriven"] += row["count"]
        queue = self.queues.get(row["group"])
        if queue is not None:
            queue.redrove(row)
            if not queue.is_subscription:
                self.topics[row["to_topic"]].at(row["to_partition"]).append(row["to_offset"], 1, row["time_ns"])

    def _purged(self, row: Row) -> None:
        queue = self.queues.get(row["group"])
        if queue is not None and row["topic"] == queue.topic:
            self.totals["purged"] += row["count"]
            queue.taken_out(row)
        elif queue is not None:
            queue.letter_gone(row)

    def _rejected(self, row: Row) -> None:
        self.totals["rejected"] += row["count"]
        self._flow("rejected", row["client"], row)
        self.outcomes[row["client"]] = "rejected"
        if row["cause"].startswith("schema "):
            self.gates[row["topic"]].schema_refused += row["count"]
        else:
            self.gates[row["topic"]].rejected += row["count"]

    def _dropped(self, row: Row) -> None:
        self.totals["dropped"] += row["count"]
        self._flow("dropped", row["client"], row)
        self.outcomes[row["client"]] = "dropped"
        self.gates[row["topic"]].dropped += row["count"]

    def _evicted(self, row: Row) -> None:
        self.totals["evicted"] += row["count"]
        self.gates[row["group"]].evicted += row["count"]
        self.queues[row["group"]].taken_out(row)

    def _finished(self, row: Row) -> None:
        if row["group"] in self.queues and row["offset"] is not None:
            self.totals["expired"] += row["count"] if row["kind"] == "expired" else 0
            self.queues[row["group"]].taken_out(row)

    # -- what there is

    def _topic_created(self, row: Row) -> None:
        if row["topic"] not in self.topics:
            compacted = row["detail"].get("cleanup") == "compact"
            self.topics[row["topic"]] = Topic(row["topic"], compacted=compacted)
            self.listed.append(row["topic"])
        self.topics[row["topic"]].at(row["count"] - 1)

    def _topic_deleted(self, row: Row) -> None:
        name = row["group"] or row["topic"]
        if self.queues.pop(name, None) is None:
            del self.topics[name]
            self.listed.remove(name)

    def _records_deleted(self, row: Row) -> None:
        self.topics[row["topic"]].at(row["partition"]).start = row["offset"] + row["count"]

    def _queue_created(self, row: Row) -> None:
        name = row["group"] or row["topic"]
        self.queues[name] = Queue(name, row["topic"], self._settings(name))
        if not row["group"]:
            self.topics[name] = Topic(name)
            self.topics[name].at(row["count"] - 1)

    def _settings(self, name: str) -> dict[str, Any]:
        for queue in self.scenario.get("queues", ()):
            if queue["name"] == name:
                return dict(queue.get("config", {}))
        for subscriber in self.scenario.get("subscribers", ()):
            if name in {subscriber["name"], *(f"{subscriber['name']}.{topic}" for topic in subscriber["topics"])}:
                return dict(subscriber.get("config", {}))
        for share_group in self.scenario.get("share_groups", ()):
            if name in {f"{share_group['name']}.{topic}" for topic in share_group["topics"]}:
                limits = ("lease_ms", "record_lock_duration_ms"), ("max_attempts", "delivery_count_limit")
                return {ours: share_group[kafkas] for ours, kafkas in limits if kafkas in share_group}
        return {}

    def _client_started(self, row: Row) -> None:
        self.clients[row["client"]] = row["detail"]["role"]
        self.ever.add(row["client"])
        self.outcomes.pop(row["client"], None)
        self.begin_anew(row["client"])

    # -- groups

    def _group(self, row: Row) -> Group:
        if row["group"] not in self.groups:  # who reads by hand makes it by the first commit
            group = self.groups[row["group"]] = self._by_hand.pop(row["group"], Group(row["group"], 0))
            group.since_ns = row["time_ns"]
        group = self.groups[row["group"]]
        if row["generation"] is not None:
            group.generation = row["generation"]
        return group

    def _group_state(self, row: Row) -> None:
        group = self._group(row)
        group.state, group.since_ns = row["cause"], row["time_ns"]
        group.assignor = row["detail"]["assignor"]
        leader = row["detail"]["leader"]
        # Who leaves is gone before the state that its leaving brings.
        group.leader = leader if any(member.client == leader for member in group.members.values()) else ""
        if group.state in {"Completing rebalance", "Reconciling", "Empty"}:
            group.reads = set(group.topics())
        if group.state == "Dead":
            del self.groups[row["group"]]

    def _rebalance_started(self, row: Row) -> None:
        self.totals["rebalances"] += 1
        before = {(topic, partition): client for topic, partition, client in row["detail"]["before"]}
        generation = self._group(row).generation
        self._begin(("rebalance", row["group"]), row["time_ns"], "rebalances")
        self.rebalances.append(Rebalance(row["group"], row["cause"], row["seq"], row["time_ns"], generation, before))

    def _rebalance_completed(self, row: Row) -> None:
        self._group(row)
        running = [card for card in self.rebalances if card.group == row["group"] and card.ended_ns is None]
        (card,) = running
        self._end(("rebalance", row["group"]), row["time_ns"])
        card.cause, card.ended_ns, card.generation_after = row["cause"], row["time_ns"], row["generation"]
        card.after = {(topic, partition): client for topic, partition, client in row["detail"]["after"]}

    def _reading_began(self, row: Row) -> None:
        name, place = row["group"], (row["topic"], row["partition"])
        group = self.groups.get(name) or self._by_hand.setdefault(name, Group(name, 0))
        group.began[place] = group.position[place] = row["offset"]

    def _offsets_reset(self, row: Row) -> None:
        for topic, partition, _old, new in row["detail"]["changes"]:
            place = (row["group"], topic, partition)
            if given := self.read[place] | self.aborted[place]:
                self.passed[place].update(range(max(given | self.passed[place]) + 1, new))
                self.passed[place].update(range(new, min(given)))
        self._group(row).reset(row)

    # -- clients

    def _transaction_ended(self, row: Row) -> None:
        self.transactions.pop(row["detail"]["producer_id"], None)
        for topic, partition, offset in row["detail"]["markers"]:
            self.begins[topic, partition].pop(row["detail"]["producer_id"], None)
            self.topics[topic].at(partition).mark(offset)

    def in_hand(self, group: Group, place: tuple[str, int]) -> tuple[int, int]:
        """How many messages the owner of the partition was handed and has not committed, and from which offset on."""
        if not group.owner(place) or place not in group.handed_from:
            return 0, 0
        first = max(group.handed_from[place], group.committed.get(place, 0))
        return self.topics[place[0]].at(place[1]).count(first, group.handed_to[place]), first

    def _blocked(self, row: Row) -> None:
        self.gates[row["topic"]].blocked[row["client"]] = row["time_ns"]
        self._begin((row["topic"], row["client"]), row["time_ns"], "backpressure")

    def _unblocked(self, row: Row) -> None:
        gate = self.gates[row["topic"]]
        gate.ended_ns += row["time_ns"] - gate.blocked.pop(row["client"])
        self._end((row["topic"], row["client"]), row["time_ns"])

    def _fault(self, row: Row) -> None:
        detail = row["detail"]
        self.faults.pop((row["client"], detail.get("fault", detail.get("ended", ""))), None)
        if "fault" in detail:
            self.faults[row["client"], detail["fault"]] = row

    def _user_action(self, row: Row) -> None:
        detail = row["detail"]
        if detail.get("action") == "move_consumer":
            self.places[detail["consumer"]] = detail["group"]
        elif detail.get("flow"):
            self.flows_set[row["topic"]] = detail["flow"]
        elif detail.get("action") == "create_group":
            self.groups.setdefault(detail["group"], Group(detail["group"], row["time_ns"]))
        for queue in self.queues.values():
            if row["topic"] and (row["group"] == queue.name or row["topic"] == queue.bin):
                queue.undone(row)
