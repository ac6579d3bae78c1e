"""Messages that were given up, and how they come back."""

from __future__ import annotations

import pytest

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.limits import UNDO_WINDOW_MS
from broker_core.messages import Message
from broker_core.operations.dead_letters import Conditions
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letter_record import REDRIVES_HEADER
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.paced_redrive import PacedRedrive
from broker_core.snapshots import AttemptView
from tests.broker_core.queues.queue_setup import QueueSetup, texts


def kill(setup: QueueSetup, *values: str, cause: str = "broken", holder: str = "a", **fields) -> None:
    """Publish the values and let each die at once."""
    setup.publish(*values, **fields)
    for lease in setup.take(holder, len(values)):
        setup.nack(lease, cause, requeue=False)


@pytest.mark.promise("13")
@pytest.mark.parametrize("max_attempts", [1, 2, 5])
@pytest.mark.parametrize("ending", ["nack", "expiry"])
def test_a_poison_message_is_dead_lettered_at_exactly_its_last_attempt(max_attempts, ending):
    setup = QueueSetup(max_attempts=max_attempts)
    setup.publish("poison")
    for attempt in range(1, max_attempts + 1):
        assert setup.dead_letters.count() == 0
        [lease] = setup.take()
        assert lease.attempt == attempt
        if ending == "nack":
            setup.nack(lease)
        else:
            setup.until(setup.now_ms + 100)
    assert setup.dead_letters.count() == 1
    setup.until(100_000)
    assert setup.values() == []
    assert setup.queue.counts.dead_lettered == 1
    [event] = setup.of(EventKind.DEAD_LETTERED)
    assert event.attempt == max_attempts
    assert event.cause == ("failed" if ending == "nack" else "lease expired")


@pytest.mark.promise("A11")
def test_nacks_expiries_and_restarts_count_together():
    setup = QueueSetup(max_attempts=3)
    setup.publish("poison")
    setup.nack(setup.take()[0])
    setup.take()
    setup.until(100)
    setup.restart()
    [lease] = setup.take()
    assert lease.attempt == 3
    setup.nack(lease)
    assert setup.dead_letters.count() == 1


@pytest.mark.promise("A13")
def test_a_dead_letter_keeps_the_original_and_tells_of_every_attempt():
    setup = QueueSetup(max_attempts=2)
    setup.now_ms = 5
    setup.publish("poison", key=b"k", headers=(("trace", b"\x00\xff"),), ttl_ms=9_000)
    setup.now_ms = 10
    setup.nack(setup.take("worker-1")[0], "first")
    setup.now_ms = 30
    setup.take("worker-2")
    setup.until(130)
    letter = setup.dead_letters.get(0)
    assert (letter.key, letter.value, letter.headers) == (b"k", b"poison", (("trace", b"\x00\xff"),))
    assert (letter.origin_topic, letter.origin_partition, letter.origin_offset) == ("jobs", 0, 0)
    assert (letter.queue, letter.cause, letter.redrives) == ("jobs", "lease expired", 0)
    assert (letter.published_ns, letter.dead_ns) == (5 * NS_PER_MS, 130 * NS_PER_MS)
    assert letter.attempts == (
        AttemptView("worker-1", 10 * NS_PER_MS, 10 * NS_PER_MS, "first"),
        AttemptView("worker-2", 30 * NS_PER_MS, 130 * NS_PER_MS, "lease expired"),
    )
    [event] = setup.of(EventKind.DEAD_LETTERED)
    assert (event.topic, event.partition, event.offset) == ("jobs", 0, 0)
    assert (event.to_topic, event.to_partition, event.to_offset) == ("jobs.dlq", 0, 0)
    assert (event.client, event.group, event.published_ns) == ("worker-2", "jobs", 5 * NS_PER_MS)


@pytest.mark.promise("13")
def test_a_redrive_appends_to_the_origin_and_removes_after_and_is_counted():
    setup = QueueSetup()
    kill(setup, "one", "two", headers=(("h", b"1"),))
    result = setup.redrive(1)
    assert [(place.offset, place.to_topic, place.to_offset) for place in result.redriven] == [(1, "jobs", 2)]
    assert setup.dead_letters.count() == 1
    [lease] = setup.take()
    assert texts([lease]) == ["two"]
    assert lease.attempt == 1
    assert lease.message.headers == (("h", b"1"), (REDRIVES_HEADER, b"1"))
    setup.nack(lease, "again", requeue=False)
    letter = setup.dead_letters.get(2)
    assert (letter.redrives, letter.headers, letter.origin_offset) == (1, (("h", b"1"),), 2)
    setup.redrive(2)
    [lease] = setup.take()
    setup.nack(lease, "again", requeue=False)
    assert setup.dead_letters.get(3).redrives == 2
    assert [(event.offset, event.to_offset) for event in setup.of(EventKind.REDRIVEN)] == [(1, 2), (2, 3)]
    assert setup.dead_letters.redriven("jobs") == setup.queue.view().redriven == 2


def test_what_is_gone_is_reported_and_the_rest_goes_on():
    setup = QueueSetup()
    kill(setup, "one", "two")
    setup.redrive(0)
    result = setup.redrive(0, 99, 1, 1)
    assert [place.offset for place in result.redriven] == [1]
    assert [(refusal.offset, refusal.error) for refusal in result.refused] == [
        (0, "UNKNOWN_DEAD_LETTER"),
        (99, "UNKNOWN_DEAD_LETTER"),
    ]
    assert setup.values() == ["one", "two"]


@pytest.mark.promise("A13")
def test_an_interrupted_redrive_loses_nothing():
    setup = QueueSetup()
    kill(setup, "one", "two", "three")
    calls = []

    def append(message: Message) -> tuple[str, int, int]:
        calls.append(message.value)
        if message.value == b"two":
            raise BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")
        return "jobs", 0, setup.log.partitions[0].append_batch(0, [message]).base_offset

    result = setup.dead_letters.redrive(0, [0, 1, 2], append=append)
    assert calls == [b"one", b"two", b"three"]
    assert [refusal.offset for refusal in result.refused] == [1]
    assert [letter.value for letter in setup.dead_letters.list()] == [b"two"]


def test_a_redrive_that_dies_between_append_and_removal_leaves_the_dead_letter():
    setup = QueueSetup()
    kill(setup, "one")

    def append(message: Message) -> tuple[str, int, int]:
        setup.log.partitions[0].append_batch(0, [message])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        setup.dead_letters.redrive(0, [0], append=append)
    assert setup.dead_letters.count() == 1


@pytest.mark.promise("A13")
def test_an_edited_dead_letter_goes_back_as_edited_and_is_counted():
    setup = QueueSetup()
    kill(setup, "qty=x", key=b"k")
    edits = {0: Message(b"qty=1", key=b"k2", headers=(("fixed", b"yes"),))}
    [shown] = setup.dead_letters.preview([0], edits).redrivable
    assert setup.dead_letters.count() == 1
    setup.redrive(0, edits=edits)
    [lease] = setup.take()
    assert (lease.message.key, lease.message.value) == (b"k2", b"qty=1")
    assert lease.message.headers == shown.message.headers == (("fixed", b"yes"), (REDRIVES_HEADER, b"1"))


@pytest.mark.promise("A13")
def test_a_dry_run_says_what_would_happen_and_does_nothing():
    setup = QueueSetup()
    kill(setup, "one", "two")
    events = len(setup.events)
    preview = setup.dead_letters.preview([1, 7])
    assert [(it.offset, it.origin_topic, it.message.value) for it in preview.redrivable] == [(1, "jobs", b"two")]
    assert [refusal.offset for refusal in preview.refused] == [7]
    assert (setup.dead_letters.count(), len(setup.events), setup.queue.ready) == (2, events, 0)


@pytest.mark.promise("A13")
def test_dead_letters_are_grouped_by_cause_and_filtered():
    setup = QueueSetup()
    kill(setup, "card 1", "card 2", cause="declined")
    setup.now_ms = 50
    kill(setup, "address 1", cause="unknown street", key=b"card")
    setup.redrive(0)
    setup.nack(setup.take()[0], "declined", requeue=False)
    letters = setup.dead_letters

    def found(queue="jobs", **conditions) -> list[bytes | None]:
        return [letter.value for letter in letters.list(Conditions(queue=queue, **conditions).accepts)]

    assert list(letters.by_cause().items()) == [("declined", 2), ("unknown street", 1)]
    assert letters.by_cause("other") == {}
    assert found(cause="declined") == [b"card 2", b"card 1"]
    assert found(text="card") == [b"card 2", b"address 1", b"card 1"]
    assert found(min_redrives=1) == [b"card 1"]
    assert found(max_redrives=0) == [b"card 2", b"address 1"]
    assert found(cause="declined", text="card 1") == [b"card 1"]
    assert found(queue="other") == []
    assert [letter.offset for letter in letters.list(offset=2, limit=1)] == [2]
    assert [letter.offset for letter in letters.newest("jobs", 2)] == [2, 3]


@pytest.mark.promise("A13")
def test_a_purge_of_dead_letters_can_be_undone_for_a_while():
    setup = QueueSetup()
    kill(setup, "one", "two", "three")
    result = setup.dead_letters.purge(0, [1, 5])
    assert (result.purged, [refusal.offset for refusal in result.refused]) == (1, [5])
    assert setup.dead_letters.undo_purge(UNDO_WINDOW_MS * NS_PER_MS) == 1
    assert [letter.offset for letter in setup.dead_letters.list()] == [0, 1, 2]
    assert setup.dead_letters.undo_purge(0) == 0
    assert setup.dead_letters.purge(0).purged == 3
    assert setup.dead_letters.by_cause() == {}
    assert setup.dead_letters.undo_purge(UNDO_WINDOW_MS * NS_PER_MS + 1) == 0
    assert (setup.dead_letters.count(), setup.dead_letters.purged, setup.dead_letters.restored) == (0, 4, 1)


def test_a_redrive_can_be_undone_for_what_nobody_has_taken():
    setup = QueueSetup()
    kill(setup, "one", "two", "three")
    setup.redrive(0, 1, 2)
    assert setup.values(most=1) == ["one"]

    def withdraw(topic: str, partition: int, offset: int) -> bool:
        return topic == "jobs" and setup.queue.withdraw(setup.now_ns, partition, offset)

    undone = setup.dead_letters.undo_redrive(0, withdraw=withdraw)
    assert [place.offset for place in undone] == [1, 2]
    assert [letter.value for letter in setup.dead_letters.list()] == [b"two", b"three"]
    assert setup.values() == []
    assert setup.dead_letters.undo_redrive(0, withdraw=withdraw) == ()
    assert setup.dead_letters.redriven() == 3


def test_a_redrive_cannot_be_undone_later():
    setup = QueueSetup()
    kill(setup, "one")
    setup.redrive(0)
    late_ns = UNDO_WINDOW_MS * NS_PER_MS + 1
    assert setup.dead_letters.undo_redrive(late_ns, withdraw=lambda *_: True) == ()
    assert setup.queue.ready == 1


@pytest.mark.promise("A13")
def test_a_paced_redrive_keeps_its_rate_and_can_be_cancelled():
    setup = QueueSetup()
    kill(setup, *"abcdefgh")
    times: list[int] = []
    setup.stream.attach(lambda event: times.append(event.time_ns) if event.kind is EventKind.REDRIVEN else None)

    def redrive(now_ns: int, offset: int):
        setup.now_ms = now_ns // NS_PER_MS
        return setup.redrive(offset)

    job = PacedRedrive(setup.timers, [0, 1, 99, 2, 3, 4, 5], 4, redrive)
    job.start(0)
    setup.until(1_000)
    assert (job.handled_count, job.letter_count, job.reply.done) == (5, 7, False)
    assert times == [0, 250 * NS_PER_MS, 750 * NS_PER_MS, 1_000 * NS_PER_MS]
    job.end()
    setup.until(5_000)
    result = job.reply.result()
    assert ([place.offset for place in result.redriven], [it.offset for it in result.refused]) == ([0, 1, 2, 3], [99])
    assert setup.dead_letters.count() == 4
    rest = PacedRedrive(setup.timers, [4, 5, 6, 7], 3, redrive)
    rest.start(setup.now_ns)
    setup.until(6_000)
    assert len(rest.reply.result().redriven) == 4
    with pytest.raises(BrokerError):
        PacedRedrive(setup.timers, [1], 0, redrive)


def test_a_bin_is_rebuilt_from_its_log():
    setup = QueueSetup()
    setup.now_ms = 3
    kill(setup, "one", "two", "three", key=b"k", headers=(("h", b"v"),))
    before = setup.dead_letters.list()
    reopened = DeadLetters(setup.dead_letter_log, setup.stream)
    assert reopened.list() == before
    assert reopened.by_cause() == {"broken": 3}


def test_what_was_redriven_or_purged_stays_gone_after_a_restart_and_later_letters_are_found():
    setup = QueueSetup()
    kill(setup, "one", "two", "three", "four")
    setup.redrive(1)
    setup.dead_letters.purge(0, [3])
    state = setup.dead_letters.state()
    setup.nack(setup.take()[0], "late", requeue=False)
    reopened = DeadLetters(setup.dead_letter_log, setup.stream)
    reopened.restore(state)
    assert [letter.value for letter in reopened.list()] == [b"one", b"three", b"two"]
    assert reopened.by_cause() == {"broken": 2, "late": 1}
    assert (reopened.redriven("jobs"), reopened.purged) == (1, 1)


def test_foreign_and_forged_messages_in_a_bin_do_no_harm():
    setup = QueueSetup()
    bin_partition = setup.dead_letter_log.partitions[0]
    bin_partition.append_batch(0, [Message(b"I am no dead letter")])
    bin_partition.append_batch(0, [Message(b"nor I", headers=(("brokerscope.dead.queue", b"\xff"),))])
    setup.dead_letters = DeadLetters(setup.dead_letter_log, setup.stream)
    setup.queue = setup.new_queue()
    assert setup.dead_letters.count() == 0
    kill(setup, "forged", headers=((REDRIVES_HEADER, b"9" * 400), ("brokerscope.dead.cause", b"lies")))
    letter = setup.dead_letters.get(2)
    assert (letter.redrives, letter.cause, letter.headers) == (0, "broken", ())


def test_a_damaged_dead_letter_is_passed_over_in_lists_and_named_when_asked_for():
    setup = QueueSetup()
    kill(setup, "one", "two")
    setup.dead_letter_log.partitions[0].damaged.add(0)
    assert [letter.offset for letter in setup.dead_letters.list()] == [1]
    with pytest.raises(BrokerError) as caught:
        setup.dead_letters.get(0)
    assert caught.value.code is ErrorCode.DAMAGED


def test_a_dead_letter_that_was_shown_before_is_not_shown_when_it_is_gone(monkeypatch):
    monkeypatch.setattr("broker_core.queues.dead_letters._VIEWS_KEPT", 256)
    setup = QueueSetup()
    kill(setup, *(str(n) for n in range(300)))
    shown = setup.dead_letters.newest("jobs", 300)
    assert setup.dead_letters.newest("jobs", 300) == shown
    setup.redrive(299)
    with pytest.raises(BrokerError):
        setup.dead_letters.get(299)
    assert len(setup.dead_letters._views) <= 256


def test_dead_letters_that_retention_deleted_are_gone():
    setup = QueueSetup()
    kill(setup, "one", "two", "three")
    setup.dead_letters.purge(0, [0])
    setup.dead_letter_log.partitions[0].start_offset = 2
    assert [letter.offset for letter in setup.dead_letters.list()] == [2]
    assert setup.dead_letters.undo_purge(0) == 0
    assert setup.redrive(1).refused[0].error == "UNKNOWN_DEAD_LETTER"


@pytest.mark.parametrize("requeue", [True, False])
def test_a_bin_that_refuses_loses_nothing_and_gets_the_message_later(requeue):
    setup = QueueSetup(max_attempts=1)
    setup.publish("poison")
    setup.dead_letter_log.partitions[0].refuse = True
    [lease] = setup.take()
    setup.nack(lease, "broken", requeue=requeue)
    assert (setup.queue.delayed, setup.dead_letters.count(), setup.values()) == (1, 0, [])
    setup.until(2_500)
    assert (setup.queue.delayed, setup.queue.counts.dead_lettered) == (1, 0)
    setup.dead_letter_log.partitions[0].refuse = False
    setup.until(3_000)
    assert (setup.queue.delayed, setup.queue.counts.dead_lettered) == (0, 1)
    assert len(setup.dead_letters.get(0).attempts) == 1


def test_a_message_that_is_doomed_is_not_handed_out_again_even_with_attempts_left():
    setup = QueueSetup(max_attempts=5)
    setup.publish("poison")
    setup.dead_letter_log.partitions[0].refuse = True
    setup.nack(setup.take()[0], "broken", requeue=False)
    setup.restart()
    setup.dead_letter_log.partitions[0].refuse = False
    setup.until(5_000)
    assert (setup.values(), setup.dead_letters.count()) == ([], 1)


def test_two_queues_can_share_a_bin():
    setup = QueueSetup()
    other = QueueSetup(queue="mails")
    other.dead_letters = setup.dead_letters
    other.queue = other.new_queue()
    kill(setup, "one")
    kill(other, "two", "three")
    assert [setup.dead_letters.count(queue) for queue in ("jobs", "mails", "")] == [1, 2, 3]
    assert (setup.queue.view().dead, other.queue.view().dead) == (1, 2)
    assert [letter.value for letter in other.queue.view().dead_letters] == [b"two", b"three"]


def test_the_bin_has_kafkas_name_for_its_setting():
    assert QueueConfig().dead_letter_topic_of("jobs") == "jobs.dlq"
    assert QueueConfig(dead_letter_topic="graves").dead_letter_topic_of("jobs") == "graves"
