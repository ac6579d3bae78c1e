"""The worker, with delays that no test waits for."""

import pytest
from thumbnails import QUEUE, Worker


class Disk:
    """Where thumbnails go. It is full for the first `full` of them."""

    def __init__(self, full):
        self.full = full
        self.made = []

    def make(self, picture):
        if self.full:
            self.full -= 1
            raise OSError("No space left on device")
        self.made.append(picture)


@pytest.fixture
def jobs(broker):
    broker.create_queue("thumbnails", QUEUE)
    broker.clock.stop()
    broker.publish("thumbnails", {"picture": "cat.png"})
    return broker


def test_a_picture_is_made_when_the_disk_has_room_again(jobs):
    disk = Disk(full=2)
    worker = Worker(jobs.host, disk.make)
    assert worker.work()
    jobs.clock.advance(0.999)
    assert not worker.work()
    jobs.clock.advance(0.001)
    assert worker.work()
    jobs.clock.advance(2)
    assert worker.work()
    assert disk.made == ["cat.png"]


def test_the_third_failure_makes_a_dead_letter(jobs):
    disk = Disk(full=3)
    worker = Worker(jobs.host, disk.make)
    for delay_s in (1, 2, 4):
        assert worker.work()
        jobs.clock.advance(delay_s)
    assert not worker.work()
    (letter,) = jobs.admin.dead_letters("thumbnails")
    assert [attempt.outcome for attempt in letter.attempts] == ["OSError: No space left on device"] * 3


def test_the_job_of_a_worker_that_hangs_goes_to_another(jobs):
    hanging = Worker(jobs.host, print)
    assert hanging.jobs.take() is not None
    jobs.clock.advance(QUEUE.lease_ms / 1_000 + 1)
    disk = Disk(full=0)
    assert Worker(jobs.host, disk.make).work()
    assert disk.made == ["cat.png"]
