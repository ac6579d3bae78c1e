"""More dead letters and leases than a snapshot holds: all of them are listed, found, and acted on."""

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from app.presenters.in_flight import InFlightPanel
from app.sessions.browsing import beyond_snapshot, reader
from app.sessions.browsing.beyond_snapshot import PREVIEW_BYTES, DeadLetterSync
from app.sessions.browsing.reader import Reader
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.messages import Message
from broker_core.operations.browse import BrowseMessages, DeadLetterPage, ReadDeadLetters
from broker_core.snapshots import AttemptView
from widgets.panels.dead_letters import DeadLettersPanel

MANY = 3_000
stand_in: Any = SimpleNamespace


def bury(simulation, count=MANY, size=20):
    """Messages of builds that died, straight into the bin."""
    broker, now_ns = simulation.broker, simulation.loop.now_ns
    letters = broker.queues.dead_letters("builds")
    broker.publishing.publish(now_ns, "builds", Message(b"x" * size, b"key"), client="test")
    log = broker.logs.partition("builds", 0)
    stored = log.message(log.end_offset - 1)
    for number in range(count):
        cause = "odd" if number % 2 else "even"
        letters.add(now_ns, stored, "builds", cause, (AttemptView("builder-1", 0, now_ns, "nacked"),))


@pytest.fixture
def panel(hand):
    hand.simulated.look(bury).result()
    hand.workbench.window.show_tab("dead_letters")
    made = hand.workbench.window.tab(DeadLettersPanel)
    hand.wait_until(lambda: made.model.rowCount() >= MANY)
    return made


def test_a_full_bin_is_listed_whole_filtered_and_redriven(panel, hand):
    total = panel.model.rowCount()
    panel.set_filter_text("cause = odd")
    assert panel.model.rowCount() == MANY // 2
    panel.table.selectAll()
    assert panel.selected_count() == MANY // 2
    hand.workbench.registry.trigger("redrive_selected")
    panel.clear_filter()
    hand.wait_until(lambda: panel.model.rowCount() == total - MANY // 2)
    panel.set_filter_text("cause = odd")
    assert panel.model.rowCount() == 0


def test_a_large_redrive_is_a_job_that_can_be_cancelled(panel, hand):
    jobs = hand.workbench.jobs
    total = panel.model.rowCount()
    hand.workbench.registry.trigger("redrive_all")
    (job,) = jobs.facts()
    assert job.title == f"Redrive of dead letters: {total:,}"
    jobs.find(job.id).cancel()
    hand.qtbot.waitUntil(lambda: jobs.facts()[0].state == "Cancelled", timeout=10_000)
    hand.show()
    left = sum(queue.dead for queue in hand.workbench.controller.snapshot.queues)
    assert 0 < left < total
    hand.workbench.registry.trigger("redrive_all")
    hand.wait_until(lambda: panel.model.rowCount() < 100)
    # Where few were left, they are redriven at once, without a job.
    hand.wait_until(lambda: {each.state for each in jobs.facts()} <= {"Cancelled", "Done"})


def test_a_large_letter_of_a_full_bin_is_read_whole_and_has_its_true_size(panel, hand):
    hand.simulated.look(lambda simulation: bury(simulation, 1, 5_000)).result()
    hand.simulated.look(lambda simulation: bury(simulation, 1_200)).result()
    hand.wait_until(lambda: panel.model.rowCount() >= MANY + 1_201)
    panel.set_filter_text("size = 5000")
    assert panel.model.rowCount() == 1
    assert PREVIEW_BYTES < 5_000
    panel.select(0)
    hand.wait_until(lambda: panel.details.payload.data == b"x" * 5_000)


def write(simulation):
    """A dead letter as a program writes it, into a topic of its own."""
    broker, now_ns = simulation.broker, simulation.loop.now_ns
    broker.topics.create(now_ns, "orders.DLT", 1)
    broker.publishing.publish(now_ns, "orders.DLT", Message(b"x"), client="test")


@pytest.mark.parametrize(
    ("die", "request_type", "words", "rows"),
    [(bury, ReadDeadLetters, "queue = builds", MANY), (write, BrowseMessages, "queue = orders.DLT/0", 1)],
)
def test_what_could_not_be_read_is_asked_for_again(hand, monkeypatch, die, request_type, words, rows):
    source = hand.workbench.controller.source
    ask, failed = source.ask, Future[object]()
    failed.set_exception(BrokerError(ErrorCode.STORAGE_ERROR, "a read failed once"))
    answers = [failed]
    monkeypatch.setattr(Reader, "every_s", 0.0)
    monkeypatch.setattr(reader, "RETRY_S", 0.0)
    monkeypatch.setattr(
        source, "ask", lambda asked: answers.pop() if answers and isinstance(asked, request_type) else ask(asked)
    )
    hand.simulated.look(die).result()
    hand.workbench.window.show_tab("dead_letters")
    panel = hand.workbench.window.tab(DeadLettersPanel)
    panel.set_filter_text(words)
    hand.wait_until(lambda: panel.model.rowCount() >= rows)
    assert not answers


def test_a_page_that_fails_is_asked_for_again_later_and_no_page_twice(qapp, monkeypatch):
    now_s, asked = [100.0], []
    for module in (reader, beyond_snapshot):
        monkeypatch.setattr(module, "time", stand_in(perf_counter=lambda: now_s[0]))
    sync = DeadLetterSync(stand_in())
    monkeypatch.setattr(sync._answers, "ask", lambda *question: asked.append(question))
    queue = stand_in(name="q", dead_letters=(), dead=800, dead_lettered=800, redriven=0)

    def questions():
        sync.update(stand_in(queues=[queue]))
        found, asked[:] = asked[:], []
        return found

    def answer(question):
        request, answered, _failed = question
        letters = tuple(stand_in(offset=offset) for offset in request.offsets)
        answered(DeadLetterPage(letters=letters, sizes=dict.fromkeys(request.offsets, 9), looked=len(letters)))

    ((_request, listed, _failed),) = questions()
    listed([*range(800)])
    newest, oldest = questions()
    oldest[2]("a read failed")
    now_s[0] += 2 * reader.RETRY_S
    assert questions() == [], "a page is under way"
    answer(newest)
    assert sync.problem == "a read failed" and len(sync.rows(queue)) == 400
    now_s[0] += reader.RETRY_S
    assert questions() == [], "it waits longer after a failure"
    now_s[0] += 2.0
    ((_request, listed, _failed),) = questions()
    listed([*range(800)])
    (again,) = questions()
    assert again[0].offsets == oldest[0].offsets
    answer(again)
    assert sync.problem == "" and len(sync.rows(queue)) == 800
    assert sync.size_of(stand_in(queue="q", offset=3, value=b"")) == 9


def test_a_busy_queue_lists_every_lease(hand):
    def take(simulation):
        broker, now_ns = simulation.broker, simulation.loop.now_ns
        for number in range(MANY):
            broker.publishing.publish(now_ns, "builds", Message(b"x", f"key-{number}".encode()), client="test")
        broker.queues.queue("builds").take(now_ns, "greedy", max_messages=MANY)

    hand.simulated.look(take).result()
    hand.workbench.window.show_tab("in_flight")
    panel = hand.workbench.window.tab(InFlightPanel)
    hand.wait_until(lambda: panel.model.rowCount() >= MANY)
    panel.set_filter_text("holder = greedy and key = key-2900")
    assert panel.model.rowCount() == 1
    panel.select(0)
    assert hand.workbench.registry.trigger("ack_lease")
    events = hand.workbench.controller.collectors.events
    hand.wait_until(
        lambda: any(one.kind is EventKind.ACKNOWLEDGED and one.client == "greedy" for one in events.since(0))
    )
    hand.wait_until(lambda: panel.model.rowCount() == 0)
