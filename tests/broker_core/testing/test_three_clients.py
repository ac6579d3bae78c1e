"""Right and wrong programs with confluent-kafka, aiokafka and kafka-python: the same verdict for each of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from broker_core.events import Event, EventKind
from broker_core.testing.embedded_broker import EmbeddedBroker
from tests.broker_core.testing.clients import READERS, Reader, produce

WHOLE = ("nothing_lost", "nothing_twice", "everything_done", "commits_are_sound", "in_order", "at_least_once")
OF_EACH = pytest.mark.parametrize("library", READERS)


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        broker.create_topic("t")
        broker.publish("t", *range(6), key="k")
        yield broker


def holding(broker: EmbeddedBroker) -> list[str]:
    return [name for name, verdict in broker.audit().verdicts.items() if verdict.holds]


# -- right programs


def reads_in_a_group(broker: EmbeddedBroker, new: type[Reader]) -> None:
    with new(broker) as reader:
        for offset in range(6):
            assert reader.take(1) == [offset]
            reader.commit()


def reads_in_batches(broker: EmbeddedBroker, new: type[Reader]) -> None:
    with new(broker) as reader:
        for _ in range(2):
            reader.take(3)
            reader.commit()


def reads_by_hand(broker: EmbeddedBroker, new: type[Reader]) -> None:
    with new(broker, by_hand=True) as reader:
        assert reader.take(6) == [*range(6)]
        reader.commit()


def is_a_cache(broker: EmbeddedBroker, new: type[Reader]) -> None:
    for _ in range(2):
        with new(broker, "cache", by_hand=True) as reader:
            assert reader.take(6) == [*range(6)]


def pauses_around_slow_work(broker: EmbeddedBroker, new: type[Reader]) -> None:
    with new(broker) as reader:
        found = []
        for _ in range(6):
            found += reader.take(1)
            reader.pause(True)
            reader.commit()
            reader.pause(False)
        assert found == [*range(6)]


def tries_again_what_has_failed(broker: EmbeddedBroker, new: type[Reader]) -> None:
    with new(broker) as reader:
        reader.take(3)
        reader.commit()
        assert reader.take(1) == [3]
        reader.seek(3)
        assert reader.take(3) == [3, 4, 5]
        reader.commit()


def are_two_groups(broker: EmbeddedBroker, new: type[Reader]) -> None:
    with new(broker, "billing") as billing, new(broker, "audit") as audit:
        for reader in (billing, audit):
            reader.take(6)
            reader.commit()


RIGHT = (
    reads_in_a_group,
    reads_in_batches,
    reads_by_hand,
    is_a_cache,
    pauses_around_slow_work,
    tries_again_what_has_failed,
    are_two_groups,
)


@pytest.mark.promise("41")
@OF_EACH
@pytest.mark.parametrize("program", RIGHT)
def test_a_right_program_is_accused_of_nothing(broker: EmbeddedBroker, program, library: str):
    program(broker, READERS[library])
    assert holding(broker) == [*WHOLE]


@OF_EACH
def test_another_process_goes_on_where_one_has_ended(broker: EmbeddedBroker, library: str):
    for _ in range(2):
        with READERS[library](broker) as reader:
            reader.take(3)
            reader.commit()
    # Its client may have fetched all six: the broker cannot know that the program had three.
    assert {*WHOLE} - {*holding(broker)} <= {"nothing_twice"}


@OF_EACH
def test_a_member_goes_on_after_a_restart_of_the_broker(library: str):
    with EmbeddedBroker(durability="file") as broker:
        broker.create_topic("t")
        broker.publish("t", *range(6))
        with READERS[library](broker) as reader:
            assert reader.take(3) == [0, 1, 2]
            broker.restart()
            joined_before = len(joins(broker))
            assert reader.take(3) == [3, 4, 5]
            reader.commit()
            assert len(joins(broker)) == joined_before
        assert broker.audit().everything_done()


def joins(broker: EmbeddedBroker) -> list[Event]:
    return [event for event in broker.events.events if event.kind is EventKind.MEMBER_JOINED]


# -- wrong ones


def commits_before_it_reads(broker: EmbeddedBroker, new: type[Reader]) -> None:
    broker.create_topic("tt")
    broker.publish("tt", 0)
    with new(broker, topic="tt", by_hand=True) as reader:
        reader.take(1)
        reader.topic = "t"
        reader.commit(6)


def never_commits(broker: EmbeddedBroker, new: type[Reader]) -> None:
    with new(broker) as reader:
        reader.take(6)


def commits_in_the_second_process_only(broker: EmbeddedBroker, new: type[Reader]) -> None:
    never_commits(broker, new)
    reads_in_batches(broker, new)


def goes_back_to_what_it_has_committed(broker: EmbeddedBroker, new: type[Reader]) -> None:
    with new(broker) as reader:
        reader.take(6)
        reader.commit()
        reader.seek(2)
        assert reader.take(4) == [2, 3, 4, 5]


def leaves_out_the_end(broker: EmbeddedBroker, new: type[Reader]) -> None:
    with new(broker) as reader:
        reader.take(4)
        reader.commit()


def reads_another_topic(broker: EmbeddedBroker, new: type[Reader]) -> None:
    broker.create_topic("tt")
    broker.publish("tt", 0)
    with new(broker, topic="tt") as reader:
        reader.take(1)
        reader.commit()


WRONG = {
    commits_before_it_reads: ("nothing_lost", "it committed beyond it, and was never given it, with 5 more"),
    never_commits: ("everything_done", "the first of 6 messages that group g has not acknowledged (6 waiting)"),
    commits_in_the_second_process_only: ("nothing_twice", "left without acknowledging it; "),
    goes_back_to_what_it_has_committed: ("nothing_twice", "acknowledged it; "),
    leaves_out_the_end: ("everything_done", "the first of 2 messages that group g has not acknowledged (2 waiting)"),
    reads_another_topic: ("everything_done", "topic t has 6 messages, and nobody reads it"),
}


@pytest.mark.promise("41")
@OF_EACH
@pytest.mark.parametrize("program", WRONG)
def test_a_wrong_program_is_caught_for_its_own_reason(broker: EmbeddedBroker, program, library: str):
    if program is commits_before_it_reads and library == "aiokafka":
        pytest.skip("aiokafka commits only what is assigned")
    program(broker, READERS[library])
    name, why = WRONG[program]
    verdict = getattr(broker.audit(), name)()
    assert not verdict
    assert why in str(verdict.findings[0].what)


@OF_EACH
@pytest.mark.parametrize(("idempotent", "stored"), [(True, 1), (False, 2)])
def test_a_lost_reply_doubles_what_is_not_idempotent(library: str, idempotent: bool, stored: int):
    with EmbeddedBroker() as broker:
        broker.create_topic("t")
        with broker.faults.lose_reply("Produce", times=1, must_fire=True):
            produce(library, broker.bootstrap_servers, idempotent=idempotent)
        assert len(broker.messages("t")) == stored
