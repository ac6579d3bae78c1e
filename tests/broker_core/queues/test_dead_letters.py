"""Messages that were given up, and how they come back."""

from __future__ import annotations

import pytest

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.limits import UNDO_WINDOW_MS
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letter_filter import DeadLetterFilter
from broker_core.queues.dead_letter_record import REDRIVES_HEADER
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.paced_redrive import PacedRedrive
from broker_core.snapshots import AttemptView
from tests.broker_core.queues.bench import Bench, texts


def kill(bench: Bench, *values: str, cause: str = "broken", holder: str = "a", **fields) -> None:
    """Publish the values and let each die at once."""
    bench.publish(*values, **fields)
    for lease in bench.take(holder, len(values)):
        bench.nack(lease, cause, requeue=False)


@pytest.mark.parametrize("max_attempts", [1, 2, 5])
@pytest.mark.parametrize("ending", ["nack", "expiry"])
def test_a_poison_message_is_dead_lettered_at_exactly_its_last_attempt(max_attempts, ending):
    bench = Bench(max_attempts=max_attempts)
    bench.publish("poison")
    for attempt in range(1, max_attempts + 1):
        assert bench.dead_letters.count() == 0
        [lease] = bench.take()
        assert lease.attempt == attempt
        if ending == "nack":
            bench.nack(lease)
        else:
            bench.until(bench.now_ms + 100)
    assert bench.dead_letters.count() == 1
    bench.until(100_000)
    assert bench.values() == []
    assert bench.queue.counts.dead_lettered == 1
    [event] = bench.of(EventKind.DEAD_LETTERED)
    assert event.attempt == max_attempts
    assert event.cause == ("failed" if ending == "nack" else "lease expired")


def test_nacks_expiries_and_restarts_count_together():
    bench = Bench(max_attempts=3)
    bench.publish("poison")
    bench.nack(bench.take()[0])
    bench.take()
    bench.until(100)
    bench.restart()
    [lease] = bench.take()
    assert lease.attempt == 3
    bench.nack(lease)
    assert bench.dead_letters.count() == 1


def test_a_dead_letter_keeps_the_original_and_tells_of_every_attempt():
    bench = Bench(max_attempts=2)
    bench.now_ms = 5
    bench.publish("poison", key=b"k", headers=(("trace", b"\x00\xff"),), ttl_ms=9_000)
    bench.now_ms = 10
    bench.nack(bench.take("worker-1")[0], "first")
    bench.now_ms = 30
    bench.take("worker-2")
    bench.until(130)
    letter = bench.dead_letters.get(0)
    assert (letter.key, letter.value, letter.headers) == (b"k", b"poison", (("trace", b"\x00\xff"),))
    assert (letter.origin_topic, letter.origin_partition, letter.origin_offset) == ("jobs", 0, 0)
    assert (letter.queue, letter.cause, letter.redrives) == ("jobs", "lease expired", 0)
    assert (letter.published_ns, letter.dead_ns) == (5 * NS_PER_MS, 130 * NS_PER_MS)
    assert letter.attempts == (
        AttemptView("worker-1", 10 * NS_PER_MS, 10 * NS_PER_MS, "first"),
        AttemptView("worker-2", 30 * NS_PER_MS, 130 * NS_PER_MS, "lease expired"),
    )
    [event] = bench.of(EventKind.DEAD_LETTERED)
    assert (event.topic, event.partition, event.offset) == ("jobs", 0, 0)
    assert (event.to_topic, event.to_partition, event.to_offset) == ("jobs.dlq", 0, 0)
    assert (event.client, event.group, event.published_ns) == ("worker-2", "jobs", 5 * NS_PER_MS)


def test_a_redrive_appends_to_the_origin_and_removes_after_and_is_counted():
    bench = Bench()
    kill(bench, "one", "two", headers=(("h", b"1"),))
    result = bench.redrive(1)
    assert [(place.offset, place.to_topic, place.to_offset) for place in result.redriven] == [(1, "jobs", 2)]
    assert bench.dead_letters.count() == 1
    [lease] = bench.take()
    assert texts([lease]) == ["two"]
    assert lease.attempt == 1
    assert lease.message.headers == (("h", b"1"), (REDRIVES_HEADER, b"1"))
    bench.nack(lease, "again", requeue=False)
    letter = bench.dead_letters.get(2)
    assert (letter.redrives, letter.headers, letter.origin_offset) == (1, (("h", b"1"),), 2)
    bench.redrive(2)
    [lease] = bench.take()
    bench.nack(lease, "again", requeue=False)
    assert bench.dead_letters.get(3).redrives == 2
    assert [(event.offset, event.to_offset) for event in bench.of(EventKind.REDRIVEN)] == [(1, 2), (2, 3)]
    assert bench.dead_letters.redriven("jobs") == bench.queue.view(0).redriven == 2


def test_what_is_gone_is_reported_and_the_rest_goes_on():
    bench = Bench()
    kill(bench, "one", "two")
    bench.redrive(0)
    result = bench.redrive(0, 99, 1, 1)
    assert [place.offset for place in result.redriven] == [1]
    assert [(refusal.offset, refusal.error.code) for refusal in result.refused] == [
        (0, ErrorCode.UNKNOWN_DEAD_LETTER),
        (99, ErrorCode.UNKNOWN_DEAD_LETTER),
    ]
    assert bench.values() == ["one", "two"]


def test_an_interrupted_redrive_loses_nothing():
    bench = Bench()
    kill(bench, "one", "two", "three")
    calls = []

    def append(message: Message) -> tuple[str, int, int]:
        calls.append(message.value)
        if message.value == b"two":
            raise BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")
        return "jobs", 0, bench.log.partitions[0].append_batch(0, [message]).base_offset

    result = bench.dead_letters.redrive(0, [0, 1, 2], append=append)
    assert calls == [b"one", b"two", b"three"]
    assert [refusal.offset for refusal in result.refused] == [1]
    assert [letter.value for letter in bench.dead_letters.list()] == [b"two"]


def test_a_redrive_that_dies_between_append_and_removal_leaves_the_dead_letter():
    bench = Bench()
    kill(bench, "one")

    def append(message: Message) -> tuple[str, int, int]:
        bench.log.partitions[0].append_batch(0, [message])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.dead_letters.redrive(0, [0], append=append)
    assert bench.dead_letters.count() == 1


def test_an_edited_dead_letter_goes_back_as_edited_and_is_counted():
    bench = Bench()
    kill(bench, "qty=x", key=b"k")
    edits = {0: Message(b"qty=1", key=b"k2", headers=(("fixed", b"yes"),))}
    [shown] = bench.dead_letters.preview([0], edits).redrivable
    assert bench.dead_letters.count() == 1
    bench.redrive(0, edits=edits)
    [lease] = bench.take()
    assert (lease.message.key, lease.message.value) == (b"k2", b"qty=1")
    assert lease.message.headers == shown.message.headers == (("fixed", b"yes"), (REDRIVES_HEADER, b"1"))


def test_a_dry_run_says_what_would_happen_and_does_nothing():
    bench = Bench()
    kill(bench, "one", "two")
    events = len(bench.events)
    preview = bench.dead_letters.preview([1, 7])
    assert [(it.offset, it.origin_topic, it.message.value) for it in preview.redrivable] == [(1, "jobs", b"two")]
    assert [refusal.offset for refusal in preview.refused] == [7]
    assert (bench.dead_letters.count(), len(bench.events), bench.queue.ready) == (2, events, 0)


def test_dead_letters_are_grouped_by_cause_and_filtered():
    bench = Bench()
    kill(bench, "card 1", "card 2", cause="declined")
    bench.now_ms = 50
    kill(bench, "address 1", cause="unknown street", key=b"card")
    bench.redrive(0)
    bench.nack(bench.take()[0], "declined", requeue=False)
    letters = bench.dead_letters

    def found(**conditions) -> list[bytes | None]:
        return [letter.value for letter in letters.list(DeadLetterFilter(**conditions))]

    assert list(letters.by_cause().items()) == [("declined", 2), ("unknown street", 1)]
    assert letters.by_cause("other") == {}
    assert found(cause="declined") == [b"card 2", b"card 1"]
    assert found(text="card") == [b"card 2", b"address 1", b"card 1"]
    assert found(min_redrives=1) == [b"card 1"]
    assert found(until_ns=0) == [b"card 2"]
    assert found(since_ns=1, queue="jobs") == [b"address 1", b"card 1"]
    assert found(queue="other") == []
    assert [letter.offset for letter in letters.list(offset=2, limit=1)] == [2]
    assert [letter.offset for letter in letters.newest("jobs", 2)] == [2, 3]


def test_a_purge_of_dead_letters_can_be_undone_for_a_while():
    bench = Bench()
    kill(bench, "one", "two", "three")
    result = bench.dead_letters.purge(0, [1, 5])
    assert (result.purged, [refusal.offset for refusal in result.refused]) == (1, [5])
    assert bench.dead_letters.undo_purge(UNDO_WINDOW_MS * NS_PER_MS) == 1
    assert [letter.offset for letter in bench.dead_letters.list()] == [0, 1, 2]
    assert bench.dead_letters.undo_purge(0) == 0
    assert bench.dead_letters.purge(0).purged == 3
    assert bench.dead_letters.by_cause() == {}
    assert bench.dead_letters.undo_purge(UNDO_WINDOW_MS * NS_PER_MS + 1) == 0
    assert (bench.dead_letters.count(), bench.dead_letters.purged, bench.dead_letters.restored) == (0, 4, 1)


def test_a_redrive_can_be_undone_for_what_nobody_has_taken():
    bench = Bench()
    kill(bench, "one", "two", "three")
    bench.redrive(0, 1, 2)
    assert bench.values(most=1) == ["one"]

    def withdraw(topic: str, partition: int, offset: int) -> bool:
        return topic == "jobs" and bench.queue.withdraw(bench.now_ns, partition, offset)

    undone = bench.dead_letters.undo_redrive(0, withdraw=withdraw)
    assert [place.offset for place in undone] == [1, 2]
    assert [letter.value for letter in bench.dead_letters.list()] == [b"two", b"three"]
    assert bench.values() == []
    assert bench.dead_letters.undo_redrive(0, withdraw=withdraw) == ()
    assert bench.dead_letters.redriven() == 3


def test_a_redrive_cannot_be_undone_later():
    bench = Bench()
    kill(bench, "one")
    bench.redrive(0)
    late_ns = UNDO_WINDOW_MS * NS_PER_MS + 1
    assert bench.dead_letters.undo_redrive(late_ns, withdraw=lambda *_: True) == ()
    assert bench.queue.ready == 1


def test_a_paced_redrive_keeps_its_rate_and_can_be_cancelled():
    bench = Bench()
    kill(bench, *"abcdefgh")
    times: list[int] = []
    bench.stream.attach(lambda event: times.append(event.time_ns) if event.kind is EventKind.REDRIVEN else None)

    def redrive(now_ns: int, offset: int):
        bench.now_ms = now_ns // NS_PER_MS
        return bench.redrive(offset)

    job = PacedRedrive(bench.timers, [0, 1, 99, 2, 3, 4, 5], 4, redrive)
    job.start(0)
    bench.until(1_000)
    assert (job.done, job.total, job.reply.done) == (5, 7, False)
    assert times == [0, 250 * NS_PER_MS, 750 * NS_PER_MS, 1_000 * NS_PER_MS]
    job.cancel()
    bench.until(5_000)
    result = job.reply.result()
    assert ([place.offset for place in result.redriven], [it.offset for it in result.refused]) == ([0, 1, 2, 3], [99])
    assert bench.dead_letters.count() == 4
    rest = PacedRedrive(bench.timers, [4, 5, 6, 7], 3, redrive)
    rest.start(bench.now_ns)
    bench.until(6_000)
    assert len(rest.reply.result().redriven) == 4
    with pytest.raises(BrokerError):
        PacedRedrive(bench.timers, [1], 0, redrive)


def test_a_bin_is_rebuilt_from_its_log():
    bench = Bench()
    bench.now_ms = 3
    kill(bench, "one", "two", "three", key=b"k", headers=(("h", b"v"),))
    before = bench.dead_letters.list()
    reopened = DeadLetters(bench.bin_log, bench.stream)
    assert reopened.list() == before
    assert reopened.by_cause() == {"broken": 3}


def test_what_was_redriven_or_purged_stays_gone_after_a_restart_and_later_letters_are_found():
    bench = Bench()
    kill(bench, "one", "two", "three", "four")
    bench.redrive(1)
    bench.dead_letters.purge(0, [3])
    state = bench.dead_letters.state()
    bench.nack(bench.take()[0], "late", requeue=False)
    reopened = DeadLetters(bench.bin_log, bench.stream)
    reopened.restore(state)
    assert [letter.value for letter in reopened.list()] == [b"one", b"three", b"two"]
    assert reopened.by_cause() == {"broken": 2, "late": 1}
    assert (reopened.redriven("jobs"), reopened.purged) == (1, 1)


def test_foreign_and_forged_messages_in_a_bin_do_no_harm():
    bench = Bench()
    bin_partition = bench.bin_log.partitions[0]
    bin_partition.append_batch(0, [Message(b"I am no dead letter")])
    bin_partition.append_batch(0, [Message(b"nor I", headers=(("brokerscope.dead.queue", b"\xff"),))])
    bench.dead_letters = DeadLetters(bench.bin_log, bench.stream)
    bench.queue = bench.new_queue()
    assert bench.dead_letters.count() == 0
    kill(bench, "forged", headers=((REDRIVES_HEADER, b"9" * 400), ("brokerscope.dead.cause", b"lies")))
    letter = bench.dead_letters.get(2)
    assert (letter.redrives, letter.cause, letter.headers) == (0, "broken", ())


def test_a_damaged_dead_letter_is_passed_over_in_lists_and_named_when_asked_for():
    bench = Bench()
    kill(bench, "one", "two")
    bench.bin_log.partitions[0].damaged.add(0)
    assert [letter.offset for letter in bench.dead_letters.list()] == [1]
    with pytest.raises(BrokerError) as caught:
        bench.dead_letters.get(0)
    assert caught.value.code is ErrorCode.DAMAGED


def test_a_dead_letter_that_was_shown_before_is_not_shown_when_it_is_gone(monkeypatch):
    monkeypatch.setattr("broker_core.queues.dead_letters._VIEWS_KEPT", 256)
    bench = Bench()
    kill(bench, *(str(n) for n in range(300)))
    shown = bench.dead_letters.newest("jobs", 300)
    assert bench.dead_letters.newest("jobs", 300) == shown
    bench.redrive(299)
    with pytest.raises(BrokerError):
        bench.dead_letters.get(299)
    assert len(bench.dead_letters._views) <= 256


def test_dead_letters_that_retention_deleted_are_gone():
    bench = Bench()
    kill(bench, "one", "two", "three")
    bench.dead_letters.purge(0, [0])
    bench.bin_log.partitions[0].start_offset = 2
    assert [letter.offset for letter in bench.dead_letters.list()] == [2]
    assert bench.dead_letters.undo_purge(0) == 0
    assert bench.redrive(1).refused[0].error.code is ErrorCode.UNKNOWN_DEAD_LETTER


@pytest.mark.parametrize("requeue", [True, False])
def test_a_bin_that_refuses_loses_nothing_and_gets_the_message_later(requeue):
    bench = Bench(max_attempts=1)
    bench.publish("poison")
    bench.bin_log.partitions[0].refuse = True
    [lease] = bench.take()
    bench.nack(lease, "broken", requeue=requeue)
    assert (bench.queue.delayed, bench.dead_letters.count(), bench.values()) == (1, 0, [])
    bench.until(2_500)
    assert (bench.queue.delayed, bench.queue.counts.dead_lettered) == (1, 0)
    bench.bin_log.partitions[0].refuse = False
    bench.until(3_000)
    assert (bench.queue.delayed, bench.queue.counts.dead_lettered) == (0, 1)
    assert len(bench.dead_letters.get(0).attempts) == 1


def test_a_message_that_is_doomed_is_not_handed_out_again_even_with_attempts_left():
    bench = Bench(max_attempts=5)
    bench.publish("poison")
    bench.bin_log.partitions[0].refuse = True
    bench.nack(bench.take()[0], "broken", requeue=False)
    bench.restart()
    bench.bin_log.partitions[0].refuse = False
    bench.until(5_000)
    assert (bench.values(), bench.dead_letters.count()) == ([], 1)


def test_two_queues_can_share_a_bin():
    bench = Bench()
    other = Bench(queue="mails")
    other.dead_letters = bench.dead_letters
    other.queue = other.new_queue()
    kill(bench, "one")
    kill(other, "two", "three")
    assert [bench.dead_letters.count(queue) for queue in ("jobs", "mails", "")] == [1, 2, 3]
    assert (bench.queue.view(0).dead, other.queue.view(0).dead) == (1, 2)
    assert [letter.value for letter in other.queue.view(0).dead_letters] == [b"two", b"three"]


def test_the_bin_has_kafkas_name_for_its_setting():
    assert QueueConfig().dead_letter_topic_of("jobs") == "jobs.dlq"
    assert QueueConfig(dead_letter_topic="graves").dead_letter_topic_of("jobs") == "graves"
