"""What is undone is as it was, as far as time has not gone on."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator

import msgspec
import pytest
from msgspec.structs import replace

import resources
from broker_core.errors import BrokerError
from broker_core.flow.config import FlowConfig
from broker_core.messages import Message
from broker_core.operations.groups import GroupChanges, PartitionPlace
from broker_core.operations.topics import LogSettings
from broker_core.simulation import Simulation, load_scenario
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.clients import DuplicateClient, RemoveClient, SetProducerRate
from broker_core.simulation.actions.dead_letters import EditDeadLetter, PurgeDeadLetters, Redrive
from broker_core.simulation.actions.faults import FailMatching
from broker_core.simulation.actions.groups import (
    ConfigureGroup,
    MoveConsumer,
    ResetOffsets,
    SetAssignor,
    SubscribeGroup,
)
from broker_core.simulation.actions.queues import DeleteQueue, PurgeQueue
from broker_core.simulation.actions.topics import AddPartitions, ConfigureTopic, DeleteTopic, Produce, RestoreDeleted
from broker_core.simulation.handlers import Performed
from broker_core.snapshots import GroupView, QueueView, TopicView, Totals
from tests.broker_core.simulation.busy_session import scenario

pytestmark = pytest.mark.slow

BEGIN_S = 8


class Session:
    """The busy session at `BEGIN_S`."""

    def __init__(self) -> None:
        self.simulation = Simulation(scenario())
        self.simulation.run(BEGIN_S)

    def close(self) -> None:
        """What was asked for last has not begun yet."""
        self.simulation.close()

    def do(self, action: UserAction) -> Performed:
        return self.simulation.perform(action)

    def undo(self, performed: Performed) -> Performed:
        assert performed.inverse is not None, performed.final
        return self.simulation.perform(performed.inverse)

    def run(self, seconds: float) -> None:
        self.simulation.run(self.simulation.loop.now_ns / 1e9 + seconds)

    def topic(self, name: str) -> TopicView | None:
        return next((each for each in self.simulation.snapshot().topics if each.name == name), None)

    def queue(self, name: str) -> QueueView:
        return next(each for each in self.simulation.snapshot(max_dead_letters=10**6).queues if each.name == name)

    def group(self, name: str) -> GroupView:
        return next(each for each in self.simulation.snapshot().groups if each.name == name)

    def committed(self, group: str) -> list[tuple[str, int, int | None]]:
        return [(each.topic, each.partition, each.committed) for each in self.group(group).offsets]


@pytest.fixture
def session() -> Iterator[Session]:
    made = Session()
    yield made
    made.close()


def test_a_session_that_is_over_leaves_no_task_that_has_not_begun() -> None:
    ended = Session()
    ended.do(DuplicateClient("office"))
    ended.close()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        del ended
        gc.collect()
    assert [str(each.message) for each in told if "never awaited" in str(each.message)] == []


def counted(session: Session) -> Totals:
    """The broker's own counters, but for the rebalances that a deletion makes."""
    return msgspec.structs.replace(session.simulation.totals(), rebalances=0)


def test_a_deleted_topic_comes_back_with_its_messages_and_what_groups_had_committed(session: Session) -> None:
    session.do(RemoveClient("audit"))
    session.simulation.perform(DeleteQueue(queue="audit"))
    before, committed = session.topic("orders"), session.committed("readers")
    totals = counted(session)
    done = session.do(DeleteTopic(topic="orders"))
    assert session.topic("orders") is None
    assert counted(session) == totals, "what was counted stays counted"
    session.undo(done)
    assert session.topic("orders") == before
    assert session.committed("readers") == committed
    assert counted(session) == totals
    session.run(10)
    after = session.topic("orders")
    assert after is not None
    assert before is not None
    assert after.published > before.published, "its producer goes on"
    assert session.group("readers").state == "Stable"
    assert sum(member.partitions != () for member in session.group("readers").members) >= 3


def test_its_producer_waits_for_a_deleted_topic_and_the_session_goes_on(session: Session) -> None:
    done = session.do(DeleteTopic(topic="bills"))
    session.run(15)
    assert session.simulation.actors["office"].state == "waiting"
    assert session.simulation.actors["reader-1"].processed > 0
    session.undo(done)
    session.run(5)
    assert session.simulation.actors["office"].state in {"running", "blocked"}


def test_a_deletion_that_is_too_long_ago_says_so(session: Session) -> None:
    for client in [*session.simulation.actors]:
        session.do(RemoveClient(client))
    session.do(DeleteTopic(topic="bills"))
    session.run(301)
    with pytest.raises(BrokerError, match="bills was deleted too long ago"):
        session.do(RestoreDeleted("bills"))


def test_a_topic_of_the_same_name_takes_the_place_of_a_deleted_one(session: Session) -> None:
    from broker_core.simulation.actions.topics import CreateTopic

    deleted = session.do(DeleteTopic(topic="bills"))
    session.do(CreateTopic(name="bills", partitions=5))
    assert session.topic("bills") is not None
    with pytest.raises(BrokerError, match="too long ago, or not at all"):
        session.undo(deleted)
    session.run(5)


def test_a_deleted_queue_comes_back_with_its_messages_leases_and_dead_letters(session: Session) -> None:
    before = session.queue("jobs")
    assert before.in_flight
    assert before.dead
    done = session.do(DeleteQueue(queue="jobs"))
    session.undo(done)
    back = session.queue("jobs")
    assert (back.ready, back.delayed, back.in_flight, back.dead) == (
        before.ready,
        before.delayed,
        before.in_flight,
        before.dead,
    )
    assert back.leases == before.leases
    session.run(10)
    assert session.queue("jobs").acknowledged > before.acknowledged


def test_leases_that_ended_while_the_queue_was_deleted_end_when_it_comes_back(session: Session) -> None:
    done = session.do(DeleteQueue(queue="jobs"))
    session.run(5)
    assert session.simulation.actors["worker-1"].state == "waiting"
    session.undo(done)
    session.run(5)
    assert all(lease.acquired_ns > (BEGIN_S + 4) * 1e9 for lease in session.queue("jobs").leases)


def test_two_purges_are_undone_one_after_the_other(session: Session) -> None:
    session.simulation.perform(RemoveClient("mailer-1"))
    session.run(3)
    first = session.queue("mails").ready
    purged = [session.do(PurgeQueue(queue="mails"))]
    session.run(2)
    second = session.queue("mails").ready
    assert first
    assert second
    purged.append(session.do(PurgeQueue(queue="mails")))
    assert session.queue("mails").ready == 0
    assert session.undo(purged[1]).sentence == f"brought {second} messages of mails back"
    session.undo(purged[0])
    assert session.queue("mails").ready == first + second
    with pytest.raises(BrokerError, match="too long ago, or there was none"):
        session.undo(purged[0])


def test_dead_letters_are_purged_and_come_back_and_redriven_ones_are_taken_back(session: Session) -> None:
    for worker in ("worker-1", "worker-2"):
        session.do(RemoveClient(worker))
    before = session.queue("jobs").dead
    offsets = [letter.offset for letter in session.queue("jobs").dead_letters[:3]]
    redriven = session.do(Redrive(queue="jobs", offsets=offsets))
    assert session.queue("jobs").dead == before - 3
    assert session.undo(redriven).sentence == "took 3 dead letters of jobs back"
    purged = session.do(PurgeDeadLetters(queue="jobs"))
    assert purged.sentence == f"purged {before} dead letters of jobs"
    assert session.queue("jobs").dead == 0
    session.undo(purged)
    assert session.queue("jobs").dead == before


def test_an_edited_dead_letter_is_redriven_as_edited(session: Session) -> None:
    letter = session.queue("jobs").dead_letters[0]
    edit = session.do(EditDeadLetter("jobs", letter.offset, "first"))
    again = session.do(EditDeadLetter("jobs", letter.offset, "second", "mended"))
    session.undo(again)
    session.undo(edit)
    session.do(EditDeadLetter("jobs", letter.offset, "second", "mended"))
    log = session.simulation.broker.logs.partition("jobs", 0)
    session.do(Redrive(queue="jobs", offsets=[letter.offset]))
    appended = log.message(log.end_offset - 1)
    assert (appended.value, appended.key) == (b"second", b"mended")


def test_an_undone_redrive_brings_a_dead_letter_back_as_it_was_edited(session: Session) -> None:
    letter = session.queue("jobs").dead_letters[0]
    log = session.simulation.broker.logs.partition("jobs", 0)
    edit = session.do(EditDeadLetter("jobs", letter.offset, "mended"))
    redriven = session.do(Redrive(queue="jobs", offsets=[letter.offset]))
    with pytest.raises(BrokerError, match="dead letter"):
        session.undo(edit)
    session.undo(redriven)
    redriven = session.do(Redrive(queue="jobs", offsets=[letter.offset]))
    assert log.message(log.end_offset - 1).value == b"mended"
    session.undo(redriven)
    session.undo(edit)
    session.do(Redrive(queue="jobs", offsets=[letter.offset]))
    assert log.message(log.end_offset - 1).value == letter.value


def test_what_an_edit_does_not_name_is_redriven_as_it_died() -> None:
    given = Message(b"v", b"k", (("h", b"w"),), ttl_ms=9, priority=2)
    assert EditDeadLetter("jobs", 0, "new").edit().applied_to(given) == replace(given, value=b"new")
    assert EditDeadLetter("jobs", 0, "v", None, ()).edit().applied_to(given) == replace(given, key=None, headers=())


def test_a_reset_stops_the_members_and_its_undo_brings_the_offsets_back(session: Session) -> None:
    reset = ResetOffsets(group="billers", form="earliest")
    with pytest.raises(BrokerError, match="billers has 2 members; stop them first"):
        session.do(reset)
    session.run(5)
    before = session.committed("billers")
    done = session.do(ResetOffsets(group="billers", form="earliest", restart_members=True))
    assert {offset for _, _, offset in session.committed("billers")} == {0}
    session.run(2)
    session.undo(done)
    after = session.committed("billers")
    assert all((now or 0) >= (then or 0) for (*_, now), (*_, then) in zip(after, before, strict=True))
    session.run(5)
    assert len(session.group("billers").members) == 2


def test_a_change_of_assignor_is_one_rebalance_with_everybody(session: Session) -> None:
    session.run(1)
    before = session.group("billers").generation
    done = session.do(SetAssignor("billers", "range"))
    session.run(5)
    group = session.group("billers")
    assert (group.assignor, group.state, len(group.members)) == ("range", "Stable", 2)
    assert group.generation <= before + 2
    session.undo(done)
    session.run(5)
    assert session.group("billers").assignor == "cooperative-sticky"


def test_a_group_reads_another_topic_and_no_more(session: Session) -> None:
    done = session.do(SubscribeGroup("readers", "bills"))
    session.run(5)
    assert session.group("readers").topics == ("bills", "orders")
    session.undo(done)
    session.run(5)
    assert session.group("readers").topics == ("orders",)


def test_a_topic_that_a_group_reads_no_longer_does_not_wait_for_it() -> None:
    found, _ = load_scenario(resources.path("scenarios", "first-session.yaml"))
    simulation = Simulation(found, find_file=lambda sample: resources.path("sample_data", sample))
    simulation.run(20)
    done = simulation.perform(SubscribeGroup("indexers", "mails"))
    simulation.run(32)
    committed = [at for group in simulation.snapshot().groups if group.name == "indexers" for at in group.offsets]
    assert any(at.topic == "mails" and at.committed is not None for at in committed), "its offsets stay"
    assert done.inverse is not None
    simulation.perform(done.inverse)
    blocked_s = 0
    for second in range(33, 93):
        simulation.run(second)
        gate = next(topic.gate for topic in simulation.snapshot().topics if topic.name == "mails")
        assert gate is not None
        if second > 40:
            assert gate.slowest != "indexers"
            assert gate.depth <= 40
            blocked_s += bool(gate.blocked)
    assert blocked_s < 50, "mailers make room"
    simulation.close()


def test_a_removed_producer_comes_back_without_a_burst(session: Session) -> None:
    done = session.do(RemoveClient("shop"))
    sent = session.simulation.actors.get("shop")
    assert sent is None
    topic = session.topic("orders")
    assert topic is not None
    session.run(10)
    assert session.topic("orders") == topic
    session.undo(done)
    session.run(1)
    after = session.topic("orders")
    assert after is not None
    assert 15 <= after.published - topic.published <= 25


def test_a_rate_is_set_and_set_back(session: Session) -> None:
    def sent(seconds: float) -> int:
        before = session.topic("orders")
        session.run(seconds)
        after = session.topic("orders")
        assert before is not None
        assert after is not None
        return after.published - before.published

    done = session.do(SetProducerRate("shop", 100))
    assert 195 <= sent(2) <= 205
    session.undo(done)
    assert 35 <= sent(2) <= 45


def test_a_duplicate_works_beside_the_first_and_its_removal_gives_its_leases_back(session: Session) -> None:
    done = session.do(DuplicateClient("worker-1"))
    assert done.sentence == "duplicated worker-1 as worker-3"
    session.run(5)
    assert session.simulation.actors["worker-3"].processed
    session.undo(done)
    assert "worker-3" not in session.simulation.actors
    assert not [lease for lease in session.queue("jobs").leases if lease.holder == "worker-3"]


def test_moves_settings_and_limits_go_back(session: Session) -> None:
    flow = session.simulation.broker.backpressure.config("bills")
    config = session.simulation.broker.topics.config("orders")
    groups = session.simulation.broker.groups.configs
    for action in (
        MoveConsumer("reader-1", "billers"),
        ConfigureTopic(topic="bills", flow=FlowConfig(max_messages=3, policy="reject")),
        ConfigureTopic(topic="orders", log=LogSettings(retention_ms=1_000, segment_bytes=4_096)),
        ConfigureGroup(group="readers", settings=GroupChanges(delivery_count_limit=9, renew_enabled=False)),
    ):
        session.undo(session.do(action))
    assert session.simulation.actors["reader-1"].target == "readers"
    assert session.simulation.broker.backpressure.config("bills") == flow
    assert session.simulation.broker.topics.config("orders") == config
    assert groups.of("readers") == groups.default
    session.do(ConfigureGroup(group="readers", settings=GroupChanges(delivery_count_limit=9)))
    assert (groups.of("readers").delivery_count_limit, groups.of("readers").renew_enabled) == (9, True)
    with pytest.raises(BrokerError, match="readers is already configured this way"):
        session.do(ConfigureGroup(group="readers", settings=GroupChanges(delivery_count_limit=9)))


def test_what_cannot_be_undone_says_why(session: Session) -> None:
    for action, why in (
        (AddPartitions(topic="bills", total=5), "number of partitions cannot be reduced"),
        (Produce("orders", "hello"), "cannot be taken back"),
    ):
        performed = session.do(action)
        assert performed.inverse is None
        assert why in performed.final


def test_every_tenth_message_of_a_key_fails_by_rule_and_no_other(session: Session) -> None:
    session.do(RemoveClient("writer"))
    done = session.do(FailMatching("mails", every=2, key="a", cause="by rule"))
    assert done.sentence == "set a rule: every 2nd message of key a fails at mails"
    session.do(RemoveClient("sender"))
    session.run(5)
    before = session.queue("mails")
    for key in "abaabbaa":
        session.do(Produce("mails", "x", key))
    session.run(1.5)
    assert session.queue("mails").acknowledged - before.acknowledged >= 5
    failed = session.simulation.actors["mailer-1"].failed
    assert failed >= 2
    assert [fault.what for fault in session.simulation.snapshot().faults] == [
        "every 2nd message of key a fails at mails"
    ]
    session.undo(done)
    assert session.simulation.snapshot().faults == ()


def test_a_reset_names_a_topic_once_and_all_of_it_where_that_is_meant():
    whole, one = PartitionPlace(topic="orders"), PartitionPlace(topic="orders", partition=1)
    for partitions, where in (([whole, one], "orders"), ([one, whole], "orders"), ([one, one], "orders/1")):
        said = ResetOffsets(group="g", form="earliest", partitions=partitions).sentence
        assert said.startswith(f"reset g in {where} to")
