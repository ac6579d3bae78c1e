"""Workers of a queue in virtual time: crashes, leases, dead letters."""

from __future__ import annotations

import pytest

from broker_core import QueueConfig
from broker_core.testing import Disturbance, Schedule, VirtualBroker, VirtualWorker, given_schedule
from broker_core.testing.schedule import Kind

JOBS = 12


def run_workers(broker: VirtualBroker, *, acks_first: bool) -> set[int]:
    done: set[int] = set()

    def work(worker: VirtualWorker) -> None:
        while True:
            job = worker.take(1.0)
            if job is None:
                continue
            if acks_first:
                job.ack()
            with job:
                worker.sleep(0.2)
                done.add(int(job.message.value or b""))

    broker.create_queue("jobs", QueueConfig(lease_ms=5_000))
    broker.publish("jobs", *map(str, range(JOBS)))
    broker.add_workers(work, "jobs", count=2)
    broker.run()
    assert broker.uncommitted() == ""
    return done


@given_schedule(schedules=40)
def test_a_right_worker_does_every_job(broker: VirtualBroker) -> None:
    assert run_workers(broker, acks_first=False) == {*range(JOBS)}


def test_one_that_acknowledges_before_it_has_worked_is_found() -> None:
    @given_schedule(schedules=40)
    def run(broker: VirtualBroker) -> None:
        assert run_workers(broker, acks_first=True) == {*range(JOBS)}

    with pytest.raises(AssertionError) as found:
        run()
    assert "kind='crash'" in str(found.value.__notes__)
    assert "1 disturbance" in str(found.value.__notes__)


@pytest.mark.parametrize(("kind", "again_after_s"), [("crash", (4.9, 5.1)), ("leave", (1.0, 1.1))])
def test_a_crash_keeps_the_lease_and_leaving_gives_it_back(kind: Kind, again_after_s: tuple[float, float]) -> None:
    took: list[tuple[int, float]] = []

    def work(worker: VirtualWorker) -> None:
        while (job := worker.take(60.0)) is not None:
            took.append((job.attempt, broker.now_s))
            job.ack()

    # Its first call connects, the second takes, the third waits for the first acknowledgement.
    schedule = Schedule(0, (Disturbance("jobs-1", 3, "before", kind, 1.0),))
    with VirtualBroker(schedule) as broker:
        broker.create_queue("jobs", QueueConfig(lease_ms=5_000))
        broker.publish("jobs", "a job")
        broker.add_workers(work, "jobs")
        broker.run()
    (_, first_s), (attempt, second_s) = took
    assert attempt == (2 if kind == "crash" else 1)
    least_s, most_s = again_after_s
    assert least_s <= second_s - first_s <= most_s


def test_what_always_fails_is_a_dead_letter() -> None:
    def fail(worker: VirtualWorker) -> None:
        while True:
            job = worker.take(1.0)
            if job is not None:
                job.nack("disk full")

    with VirtualBroker() as broker:
        broker.create_queue("jobs", QueueConfig(max_attempts=3))
        broker.publish("jobs", "a job")
        broker.add_workers(fail, "jobs")
        broker.run()
        (letter,) = broker.dead_letters("jobs")
    assert [attempt.outcome for attempt in letter.attempts] == ["disk full"] * 3


def test_what_is_held_at_the_end_is_said() -> None:
    def hold(worker: VirtualWorker) -> None:
        worker.take(1.0)
        worker.sleep(1_000)

    with VirtualBroker() as broker:
        broker.create_queue("jobs", QueueConfig(lease_ms=600_000))
        broker.publish("jobs", "a job", "another")
        broker.add_workers(hold, "jobs")
        assert broker.run(until_s=10) == 10
        assert broker.uncommitted() == "2 messages of jobs not finished"
