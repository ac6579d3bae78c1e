"""What is done to a cluster is planned, permitted, written down, and survives being killed at each of its steps."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.guarded.deeds import deed_of
from broker_core.guarded.redrive import HEADER, RedriveRun
from broker_core.observation.deed_journal import DeedJournal
from broker_core.observation.guard import Guard, Permit
from broker_core.observation.kafka import calls, redriving
from broker_core.observation.kafka.calls import Calls
from broker_core.observation.kafka.cluster import Cluster
from broker_core.observation.kafka.config import connection_config
from broker_core.observation.kafka.connection import ALLOWED
from broker_core.observation.kafka.peer import KafkaPeer
from broker_core.operations import guarded
from broker_core.operations.groups import PartitionPlace
from broker_core.testing import EmbeddedBroker
from tests.broker_core.observation.kafka.tap import WRITING, ask_everything, tap

LETTERS = 12
EVERYTHING = ("redrive", "offsets")


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as made:
        made.admin.create_topic("orders", partitions=2)
        made.admin.create_topic("orders-dlt", partitions=2)
        producer = Producer({"bootstrap.servers": made.bootstrap_servers})
        for number in range(LETTERS):
            partition = number % 2
            headers = [
                ("kafka_dlt-original-topic", b"orders"),
                ("kafka_dlt-original-partition", partition.to_bytes(4, "big")),
                ("kafka_dlt-original-offset", number.to_bytes(8, "big")),
            ]
            place = {"partition": partition, "timestamp": 1_000_000 + number}
            producer.produce("orders-dlt", f"v{number}", f"k{number}", headers=headers, **place)
        assert producer.flush(30) == 0
        yield made


@pytest.fixture
def peer(broker: EmbeddedBroker, tmp_path: Path) -> Iterator[Callable[..., KafkaPeer]]:
    made: list[KafkaPeer] = []

    def opened(*allow: str) -> KafkaPeer:
        journal = DeedJournal(tmp_path / "deeds.jsonl")
        made.append(KafkaPeer(connection_config(broker.bootstrap_servers), allow=allow, journal=journal))
        made[-1].open()
        return made[-1]

    yield opened
    for each in made:
        each.close()


def redriven(peer: KafkaPeer, **asked: Any) -> RedriveRun:
    """Planned and carried out."""
    plan = peer.ask(guarded.PlanTopicRedrive(topic="orders-dlt", **{"rate_per_s": 10_000.0, **asked}))
    state = peer.ask(guarded.RedriveTopic(topic="orders-dlt", plan=plan))
    while state.running:
        time.sleep(0.01)
        state = peer.ask(guarded.TopicRedriveProgress(topic="orders-dlt"))
    return state


def orders(broker: EmbeddedBroker, topic: str = "orders") -> list[Any]:
    """All that consumers of it get."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": "-", "enable.partition.eof": True}
    consumer = Consumer({**settings, "auto.offset.reset": "earliest", "isolation.level": "read_committed"})
    found: list[Any] = []
    ended: set[Any] = set()
    with contextlib.closing(consumer):
        consumer.assign([TopicPartition(topic, number, 0) for number in (0, 1)])
        while len(ended) < 2:
            message = consumer.poll(30)
            assert message is not None
            if message.error():
                ended.add(message.partition())
            else:
                found.append(message)
    return found


@pytest.fixture
def tapped(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    return tap(monkeypatch)


def commits(broker: EmbeddedBroker, group: str, offsets: dict[int, int], topic: str = "orders-dlt") -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    places = [TopicPartition(topic, number, offset) for number, offset in offsets.items()]
    (done,) = admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, places)]).values()
    done.result(30)


def committed(broker: EmbeddedBroker, group: str, topic: str = "orders-dlt") -> dict[int, int]:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    (done,) = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
    return {at.partition: at.offset for at in done.result(30).topic_partitions if at.topic == topic}


@pytest.mark.parametrize("transactional", [True, False])
def test_a_redrive_copies_what_the_letters_are(broker: EmbeddedBroker, peer: Any, transactional: bool):
    run = redriven(peer("redrive"), transactional=transactional)
    assert (run.done, run.error, run.moved) == (LETTERS, "", {"orders": {0: 6, 1: 6}})
    found = orders(broker)
    assert [one.value() for one in found if one.partition() == 1] == [b"v%d" % n for n in range(1, LETTERS, 2)]
    for one in found:
        number = int(one.value()[1:])
        assert (one.key(), one.timestamp()[1], one.partition()) == (b"k%d" % number, 1_000_000 + number, number % 2)
        headers = dict(one.headers())
        assert headers["kafka_dlt-original-offset"] == number.to_bytes(8, "big")
        assert headers[HEADER] == b"1 orders-dlt/%d@%d" % (number % 2, number // 2)
    # The letters stay, and the next run knows that they were redriven.
    again = redriven(peer("redrive"), transactional=transactional)
    assert (again.done, again.plan.stays) == (0, {"redriven": LETTERS})
    assert len(orders(broker, "orders-dlt")) == LETTERS and len(orders(broker)) == LETTERS


def test_a_filter_and_places_take_some_and_leave_the_others_for_later(broker: EmbeddedBroker, peer: Any):
    opened = peer("redrive")
    assert redriven(opened, where='key = "k3" or key = "k8"').done == 2
    assert redriven(opened, places=(guarded.LetterPlace(partition=0, offset=0),)).done == 1
    rest = redriven(opened)
    assert (rest.done, rest.plan.stays) == (LETTERS - 3, {"redriven": 3})
    assert Counter(one.value() for one in orders(broker)) == Counter(b"v%d" % n for n in range(LETTERS))


@pytest.mark.promise("47")
def test_nothing_that_writes_is_sent_while_it_is_locked(broker: EmbeddedBroker, peer: Any, tapped: list[int]):
    locked = peer()
    plan = locked.ask(guarded.PlanTopicRedrive(topic="orders-dlt"))
    assert plan.letters == LETTERS
    commits(broker, "shop", {0: 1})
    asked = guarded.PlanOffsets(group="shop", form="latest", partitions=[PartitionPlace(topic="orders-dlt")])
    offsets = locked.ask(asked)
    assert [each.messages for each in offsets.changes] == [5, None]
    for request in (
        guarded.RedriveTopic(topic="orders-dlt", plan=plan),
        guarded.SetOffsets(group="shop", plan=offsets),
    ):
        with pytest.raises(BrokerError) as failed:
            locked.ask(request)
        assert failed.value.code is ErrorCode.READ_ONLY and "locked" in failed.value.about
    assert tapped and not WRITING & set(tapped)
    assert not WRITING & {api.key for api in ALLOWED.values()}
    # The tap sees them once it is open.
    redriven(peer("redrive"))
    assert WRITING & set(tapped)


@pytest.mark.promise("47")
def test_no_request_of_the_catalogue_writes_to_a_locked_cluster(peer: Any, tapped: list[int]):
    assert ask_everything(peer().ask)[False] > 60
    assert tapped and not WRITING & set(tapped)


@pytest.mark.promise("47")
def test_the_guard_lets_pass_what_the_plan_names_and_nothing_else():
    guard = Guard(["redrive"])
    body = {"transactional_id": None, "topic_data": [{"name": "orders", "partition_data": [{"index": 1}]}]}
    group = {"group_id": "brokerscope-redrive-dlt"}
    commit = {**group, "topics": [{"name": "dlt", "partitions": [{"partition_index": 0}]}]}
    permit = Permit("redrive", group["group_id"], frozenset({("dlt", 0)}), frozenset({("orders", 1)}))

    def refused(api: str, body: Any) -> str:
        with pytest.raises(BrokerError) as failed:
            guard.check(api, body)
        return failed.value.about

    assert "no plan" in refused("Produce", body)
    with guard.permitting(permit):
        assert guard.check("Produce", body).key == 0
        assert guard.check("OffsetCommit", commit).key == 8
        other = [{"name": "orders", "partition_data": [{"index": 0}]}]
        for api, wrong in (
            ("Produce", {**body, "topic_data": other}),
            ("Produce", {**body, "transactional_id": "shop"}),
            ("OffsetCommit", {**commit, "group_id": "shop"}),
            ("OffsetCommit", {**commit, "topics": [{"name": "orders", "partitions": [{"partition_index": 1}]}]}),
            ("AddPartitionsToTxn", {"v3_and_below_topics": [{"name": "dlt", "partitions": [0]}]}),
        ):
            assert "not in the plan" in refused(api, wrong)
        assert "not a part of redrive" in refused("OffsetDelete", commit)
        assert "not a part" in refused("CreateTopics", {})
        guard.lock()
        assert "locked" in refused("Produce", body)
        # It locks itself again.
        guard.unlock(["redrive"], 0.0)
        assert "locked" in refused("Produce", body)
    guard.unlock(["offsets"], 60.0)
    with pytest.raises(BrokerError), guard.permitting(permit):
        pass


def test_a_plan_whose_verb_was_locked_does_not_stop_another_one():
    guard = Guard(EVERYTHING)
    commit = {"group_id": "shop", "topics": [{"name": "dlt", "partitions": [{"partition_index": 0}]}]}
    with guard.permitting(Permit("redrive", "shop", frozenset({("dlt", 0)}))):
        guard.unlock(["offsets"], 60.0)
        with guard.permitting(Permit("offsets", "shop", frozenset({("dlt", 0)}))):
            assert guard.check("OffsetCommit", commit).key == 8
        with pytest.raises(BrokerError, match="locked for redrive"):
            guard.check("OffsetCommit", commit)


def test_a_plan_outlasts_a_broker_that_is_slow_once_and_a_quota(peer: Any, monkeypatch: pytest.MonkeyPatch):
    """A broker that throttles answers a fetch with no partition at all."""
    ask, left = Cluster.ask, ["slow", "throttled"]

    def asked(self: Cluster, calls: Any) -> Iterator[Any]:
        for call, answer in ask(self, calls):
            if call.api == "Fetch" and left:
                slow = left.pop() == "slow"
                nothing = SimpleNamespace(error_code=0, responses=(), throttle_time=1)
                yield call, BrokerError(ErrorCode.REQUEST_TIMED_OUT, "slow") if slow else nothing
            else:
                yield call, answer

    monkeypatch.setattr(Cluster, "ask", asked)
    assert peer().ask(guarded.PlanTopicRedrive(topic="orders-dlt")).letters == LETTERS
    assert not left


def test_a_cluster_that_is_away_is_not_waited_for_as_for_an_election(
    broker: EmbeddedBroker, peer: Any, monkeypatch: pytest.MonkeyPatch
):
    opened = peer()
    monkeypatch.setattr(calls, "_AWAY_S", 0.0)
    monkeypatch.setattr(calls, "_PATIENCE_S", 1e9)
    broker.close()
    with pytest.raises(BrokerError, match="nothing listens"):
        opened.ask(guarded.PlanTopicRedrive(topic="orders-dlt"))


def test_whatever_fails_in_a_run_ends_it(peer: Any, monkeypatch: pytest.MonkeyPatch):
    def broken(*_arguments: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(redriving.Redriving, "_begin", broken)
    run = redriven(peer("redrive"))
    assert (run.running, run.done, run.error) == (False, 0, "RuntimeError('broken')")


def test_a_stale_plan_is_refused_with_what_has_changed(broker: EmbeddedBroker, peer: Any):
    opened = peer("redrive")
    plan = opened.ask(guarded.PlanTopicRedrive(topic="orders-dlt"))
    assert redriven(opened, where='key = "k3"').done == 1
    with pytest.raises(BrokerError) as failed:
        opened.ask(guarded.RedriveTopic(topic="orders-dlt", plan=plan))
    assert failed.value.code is ErrorCode.STALE_PLAN
    assert "11 letters of orders-dlt would go back now, not 12" in failed.value.about
    assert [deed.outcome for deed in opened.guarded._journal.read()] == ["begun", "done", "refused"]


def test_what_was_done_is_an_event_with_its_plan_and_result(peer: Any):
    opened = peer("redrive")
    redriven(opened)
    events: list[Any] = []
    while len(events) < 2:
        look = opened.look()
        events += [] if look is None else [one for one in look.events if one.kind is EventKind.USER_ACTION]
    begun, done = (deed_of(event.detail) for event in events)
    assert begun is not None and done is not None and done.run is not None
    assert (begun.outcome, done.outcome, done.run.done) == ("begun", "done", LETTERS)
    assert begun.plan == done.plan == done.run.plan
    assert "redrive 12 dead letters of orders-dlt to orders" in events[0].cause


class Killed(BaseException):
    """Nothing of it is caught: as after kill -9, what was sent was sent, and nothing else is."""


STEPS = (
    "Produce",
    "InitProducerId",
    "AddPartitionsToTxn",
    "AddOffsetsToTxn",
    "TxnOffsetCommit",
    "EndTxn",
    "OffsetCommit",
)


@pytest.mark.promise("48")
@pytest.mark.parametrize("transactional", [True, False])
def test_killed_at_each_step_nothing_is_missing_and_duplicates_are_named(
    broker: EmbeddedBroker, peer: Any, monkeypatch: pytest.MonkeyPatch, transactional: bool
):
    """One run killed before or after each of its requests in turn, each gone on with by the next."""
    one = Calls.one
    left, after = [0], [False]

    def killing(self: Calls, node: int, api: str, body: Any) -> Any:
        if api not in STEPS:
            return one(self, node, api, body)
        left[0] -= 1
        if left[0] == 0 and not after[0]:
            raise Killed
        answer = one(self, node, api, body)
        if left[0] == 0:
            raise Killed
        return answer

    monkeypatch.setattr(Calls, "one", killing)
    monkeypatch.setattr(redriving, "_MOST_BATCH", 2)
    monkeypatch.setattr("threading.excepthook", lambda _arguments: None)
    named: list[str] = []
    kills = 0
    for step in range(1, 40):
        for late in (False, True):
            left[0], after[0] = step, late
            opened = peer("redrive")
            plan = opened.ask(
                guarded.PlanTopicRedrive(topic="orders-dlt", rate_per_s=10_000.0, transactional=transactional)
            )
            if not plan.letters:
                break
            opened.ask(guarded.RedriveTopic(topic="orders-dlt", plan=plan))
            opened.guarded._threads[-1].join(30)
            run = opened.ask(guarded.TopicRedriveProgress(topic="orders-dlt"))
            kills += run.running
            named += run.duplicates
    assert kills >= 6
    left[0] = 0
    named += redriven(peer("redrive"), transactional=transactional).duplicates
    found = Counter(message.value() for message in orders(broker))
    assert set(found) == {b"v%d" % number for number in range(LETTERS)}
    twice = [message for message in found if found[message] > 1]
    assert len(twice) == len(named) == 0


def test_the_open_transaction_of_a_killed_run_keeps_nobody_waiting(
    broker: EmbeddedBroker, peer: Any, monkeypatch: pytest.MonkeyPatch
):
    """The next run ends it; until then what it would commit counts as not redriven."""
    assert redriven(peer("redrive"), where='key = "k0" or key = "k1"').done == 2
    one = Calls.one

    def killing(self: Calls, node: int, api: str, body: Any) -> Any:
        if api == "EndTxn":
            raise Killed
        return one(self, node, api, body)

    monkeypatch.setattr("threading.excepthook", lambda _arguments: None)
    with monkeypatch.context() as patch:
        patch.setattr(Calls, "one", killing)
        killed = peer("redrive")
        plan = killed.ask(guarded.PlanTopicRedrive(topic="orders-dlt"))
        killed.ask(guarded.RedriveTopic(topic="orders-dlt", plan=plan))
        killed.guarded._threads[-1].join(30)
    monkeypatch.setattr(calls, "_PATIENCE_S", 0.0)
    again = redriven(peer("redrive"))
    assert (again.plan.letters, again.done, again.error) == (LETTERS - 2, LETTERS - 2, "")
    assert Counter(message.value() for message in orders(broker)) == {b"v%d" % n: 1 for n in range(LETTERS)}


@pytest.mark.parametrize(("transactional", "lost"), [(True, "EndTxn"), (False, "OffsetCommit")])
def test_a_batch_whose_answer_was_lost_is_counted_once(
    broker: EmbeddedBroker, peer: Any, monkeypatch: pytest.MonkeyPatch, transactional: bool, lost: str
):
    """It arrived, nobody was told, and the run goes on by itself."""
    one, answered = Calls.one, iter([True, False] if not transactional else [False])  # a batch commits twice

    def losing(self: Calls, node: int, api: str, body: Any) -> Any:
        answer = one(self, node, api, body)
        if api == lost and not next(answered, True):
            raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, "lost")
        return answer

    monkeypatch.setattr(Calls, "one", losing)
    run = redriven(peer("redrive"), transactional=transactional)
    assert (run.done, run.moved, run.duplicates, run.error) == (LETTERS, {"orders": {0: 6, 1: 6}}, (), "")
    assert len(orders(broker)) == LETTERS


def losing(monkeypatch: pytest.MonkeyPatch, lost: dict[tuple[str, int], bool]) -> None:
    """Of these requests (API and number of its kind) the answer is lost; if False, so is the request."""
    one, asked = Calls.one, Counter[str]()

    def some(self: Calls, node: int, api: str, body: Any) -> Any:
        asked[api] += 1
        arrives = lost.get((api, asked[api]))
        answer = None if arrives is False else one(self, node, api, body)
        if arrives is not None:
            raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, "lost")
        return answer

    monkeypatch.setattr(Calls, "one", some)


def test_letters_that_are_found_again_and_again_are_counted_once(
    broker: EmbeddedBroker, peer: Any, monkeypatch: pytest.MonkeyPatch
):
    """A batch has arrived, but the commits that say so are lost."""
    losing(monkeypatch, {("Produce", 1): True, ("OffsetCommit", 2): False, ("OffsetCommit", 3): False})
    run = redriven(peer("redrive"), transactional=False)
    assert (run.done, run.moved, run.duplicates, run.error) == (LETTERS, {"orders": {0: 6, 1: 6}}, (), "")
    assert len(orders(broker)) == LETTERS


def test_a_duplicate_is_named_once(broker: EmbeddedBroker, peer: Any, monkeypatch: pytest.MonkeyPatch):
    """Each partition's batch arrives late, after it was looked for; then naming its duplicates fails half way."""
    looks = iter(["late", "late", "there", "lost"])
    copies = redriving.Redriving._copies

    def looked(self: redriving.Redriving, number: int, target: str) -> Counter[int]:
        match next(looks, ""):
            case "late":
                return Counter()
            case "lost":
                raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, "lost")
        return copies(self, number, target)

    monkeypatch.setattr(redriving.Redriving, "_copies", looked)
    losing(monkeypatch, {("Produce", 1): True, ("Produce", 3): True})
    run = redriven(peer("redrive"), transactional=False)
    assert (run.done, run.error) == (LETTERS, "")
    assert sorted(run.duplicates) == sorted(f"orders-dlt/{n % 2}@{n // 2}" for n in range(LETTERS))
    assert Counter(message.value() for message in orders(broker)) == {b"v%d" % n: 2 for n in range(LETTERS)}


@pytest.mark.parametrize("final", [True, False])
def test_a_redrive_that_fails_or_is_stopped_leaves_no_transaction_open(
    broker: EmbeddedBroker, peer: Any, monkeypatch: pytest.MonkeyPatch, final: bool
):
    produce = redriving.Redriving._produce

    def failing(self: redriving.Redriving, *arguments: Any) -> None:
        produce(self, *arguments)
        self.stop()
        raise BrokerError(ErrorCode.UNAUTHORIZED if final else ErrorCode.REQUEST_TIMED_OUT, "no")

    monkeypatch.setattr(redriving.Redriving, "_produce", failing)
    assert redriven(peer("redrive"), transactional=True).done == 0
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for partition in (0, 1):
        producer.produce("orders", b"new", partition=partition)
    assert producer.flush(30) == 0
    assert [message.value() for message in orders(broker)] == [b"new", b"new"]


def test_a_first_failure_after_long_reading_is_not_final(
    broker: EmbeddedBroker, peer: Any, monkeypatch: pytest.MonkeyPatch
):
    """Time in which nothing has failed takes none of the patience with failures."""
    now_s, read = [1.0], redriving.TopicLetters.read

    def slow(*arguments: Any) -> Iterator[Any]:
        now_s[0] += 1_000.0
        return read(*arguments)

    losing(monkeypatch, {("Produce", 1): True})
    monkeypatch.setattr(redriving, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    monkeypatch.setattr(redriving.TopicLetters, "read", slow)
    run = redriven(peer("redrive"))
    assert (run.done, run.error) == (LETTERS, "")


def test_a_plan_outlasts_a_first_failure_after_long_reading(peer: Any, monkeypatch: pytest.MonkeyPatch):
    now_s, read, left = [1.0], redriving.TopicLetters.read, [1]

    def slow(*arguments: Any) -> Iterator[Any]:
        now_s[0] += 1_000.0
        if left and left.pop():
            raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, "lost")
        return read(*arguments)

    opened = peer()
    monkeypatch.setattr(calls, "time", SimpleNamespace(monotonic=lambda: now_s[0], sleep=lambda _s: None))
    monkeypatch.setattr(redriving.TopicLetters, "read", slow)
    assert opened.ask(guarded.PlanTopicRedrive(topic="orders-dlt")).letters == LETTERS


def reset(opened: KafkaPeer, form: Any, **more: Any) -> Any:
    plan = opened.ask(guarded.PlanOffsets(group="shop", form=form, **more))
    return opened.ask(guarded.SetOffsets(group="shop", plan=plan))


@pytest.mark.promise("48")
def test_offsets_are_planned_set_and_put_back_exactly(broker: EmbeddedBroker, peer: Any):
    commits(broker, "shop", {0: 4})
    opened = peer("offsets")
    places = [PartitionPlace(topic="orders-dlt")]
    plan = opened.ask(guarded.PlanOffsets(group="shop", form="offset", offset=1, partitions=places))
    first, second = plan.changes
    # Messages of one partition are 2 ms apart.
    assert (first.messages, first.traffic_s, plan.read_again, plan.skipped) == (-3, 0.006, 3, 0)
    assert second.old is None and second.messages is None
    assert opened.ask(guarded.SetOffsets(group="shop", plan=plan)) == plan
    assert committed(broker, "shop") == {0: 1, 1: 1}
    # By another process: what was before is in the journal, and nothing was committed in partition 1.
    again = peer("offsets")
    reset(again, "undo")
    assert committed(broker, "shop") == {0: 4}
    reset(again, "undo")
    assert committed(broker, "shop") == {0: 1, 1: 1}


def test_the_undo_of_a_reset_is_planned_while_the_coordinator_moves(
    broker: EmbeddedBroker, peer: Any, monkeypatch: pytest.MonkeyPatch
):
    commits(broker, "shop", {0: 4})
    opened = peer("offsets")
    reset(opened, "earliest")
    coordinated, left = Calls.coordinated, [1]

    def moving(self: Calls, *asked: Any) -> Any:
        if left and left.pop():
            raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, "the coordinator moves")
        return coordinated(self, *asked)

    monkeypatch.setattr(Calls, "coordinated", moving)
    (change,) = opened.ask(guarded.PlanOffsets(group="shop", form="undo")).changes
    assert change.new is not None and change.new.offset == 4 and not left


def test_time_is_known_up_to_the_marker_at_the_end(broker: EmbeddedBroker, peer: Any):
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "shop"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("orders", b"paid", partition=0, timestamp=1_000_000)
    producer.commit_transaction(30)
    commits(broker, "shop", {0: 1}, "orders")  # the marker is at 1
    (change,) = peer().ask(guarded.PlanOffsets(group="shop", form="earliest")).changes
    assert change.messages == -1 and change.traffic_s is not None and change.traffic_s > 1e9


def test_what_was_committed_since_is_not_undone(broker: EmbeddedBroker, peer: Any):
    commits(broker, "shop", {0: 4})
    opened = peer("offsets")
    reset(opened, "earliest")
    commits(broker, "shop", {0: 2})
    with pytest.raises(BrokerError) as failed:
        reset(opened, "undo")
    assert failed.value.code is ErrorCode.STALE_PLAN
    assert "shop is at 2 in orders-dlt/0, it was at 0" in failed.value.about
    assert committed(broker, "shop") == {0: 2}
    with pytest.raises(BrokerError, match="no reset of other"):
        opened.ask(guarded.PlanOffsets(group="other", form="undo"))
    with pytest.raises(BrokerError) as failed:
        opened.ask(guarded.PlanOffsets(group="nobody", form="latest"))
    assert failed.value.code is ErrorCode.GROUP_ID_NOT_FOUND


def test_the_members_of_a_group_that_is_not_empty_are_named(broker: EmbeddedBroker, peer: Any):
    settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": "shop", "client.id": "till"}
    consumer = Consumer({**settings, "auto.offset.reset": "earliest"})
    with contextlib.closing(consumer):
        consumer.subscribe(["orders-dlt"])
        assert consumer.poll(30) is not None
        consumer.commit(asynchronous=False)
        opened = peer("offsets")
        plan = opened.ask(guarded.PlanOffsets(group="shop", form="latest"))
        assert plan.members == ("till",)
        with pytest.raises(BrokerError, match="shop has 1 member: till; stop them first"):
            opened.ask(guarded.SetOffsets(group="shop", plan=plan))
    reset(opened, "latest")
    consumer = Consumer(settings)
    with contextlib.closing(consumer):
        consumer.subscribe(["orders-dlt"])
        assert consumer.poll(30) is None or consumer.assignment()
        assert opened.ask(guarded.PlanOffsets(group="shop", form="undo")).members == ("till",)
