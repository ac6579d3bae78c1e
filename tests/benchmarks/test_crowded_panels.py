"""Panels with more than anybody reads: how long they take, and the longest moment in which the window stood still.

Printed, never asserted: machines are noisy.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.environment.paths import find_scenario
from app.presenters.in_flight import InFlightPanel
from app.shell.workbench import Workbench
from broker_core.messages import Message
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import AttemptView
from widgets.panels.dead_letters import DeadLettersPanel
from widgets.panels.messages import MessagesPanel

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

LETTERS = LEASES = 100_000
MESSAGES = 1_000_000


class Watch:
    """Runs frames until something is done, and notes the longest gap between two turns of the event loop."""

    def __init__(self, workbench: Workbench) -> None:
        self.workbench = workbench
        self._last_s = 0.0
        self.worst_s = 0.0
        self._timer = QTimer()
        self._timer.setInterval(2)
        self._timer.timeout.connect(self._tick)

    def _tick(self) -> None:
        now_s = time.perf_counter()
        self.worst_s = max(self.worst_s, now_s - self._last_s)
        self._last_s = now_s

    def until(self, what: str, act: Callable[[], object], done: Callable[[], bool], limit_s: float = 120.0) -> None:
        """Do `act`, then wait for `done`; print how long it took."""
        started_s = self._last_s = time.perf_counter()
        self.worst_s = 0.0
        self._timer.start()
        QTimer.singleShot(0, act)
        acted = False
        while not (acted and done()) and time.perf_counter() - started_s < limit_s:
            QApplication.processEvents()
            acted = True
            time.sleep(0.001)
        self._tick()
        self._timer.stop()
        took_s = time.perf_counter() - started_s
        print(f"  {what:<58} {took_s:7.2f} s   longest stall {self.worst_s * 1000:6.0f} ms")


@pytest.fixture
def bench(qapp, tmp_path: Path):
    """A window on first-session at 00:02, with frames that run."""
    workbench = Workbench(qapp, theme="light", record=False, sessions=tmp_path)
    workbench.controller.open(find_scenario("first-session"))
    workbench.window.resize(1600, 1000)
    workbench.window.show()
    workbench.controller.time.run_until(2_000_000_000)
    workbench.frames.start()
    print(f"\nload {os.getloadavg()[0]:.1f}")
    yield workbench, Watch(workbench)
    workbench.frames.stop()
    workbench.window.close()
    workbench.deleteLater()


def bury(simulation: Simulation, count: int) -> None:
    broker, now_ns = simulation.broker, simulation.loop.now_ns
    letters = broker.queues.dead_letters("builds")
    broker.publishing.publish(now_ns, "builds", Message(b'{"number": 7}', b"key"), client="test")
    log = broker.logs.partition("builds", 0)
    stored = log.message(log.end_offset - 1)
    for number in range(count):
        letters.add(now_ns, stored, "builds", f"cause {number % 7}", (AttemptView("b-1", 0, now_ns, "nacked"),) * 3)


def test_a_hundred_thousand_dead_letters(bench) -> None:
    workbench, watch = bench
    workbench.controller.simulated.look(lambda simulation: bury(simulation, LETTERS)).result()
    panel = workbench.window.tab(DeadLettersPanel)
    watch.until(
        "open, first rows", lambda: workbench.window.show_tab("dead_letters"), lambda: panel.model.rowCount() > 0
    )
    watch.until("all 100,000 listed", lambda: None, lambda: panel.model.rowCount() >= LETTERS)
    watch.until("filter", lambda: panel.set_filter_text("cause = 'cause 3'"), lambda: panel.model.rowCount() < LETTERS)
    watch.until("clear the filter", panel.clear_filter, lambda: panel.model.rowCount() >= LETTERS)
    watch.until("select all", panel.table.selectAll, lambda: panel.selected_count() >= LETTERS)
    watch.until("scroll to the end", panel.table.scrollToBottom, lambda: True)
    watch.until(
        "redrive all", lambda: workbench.registry.trigger("redrive_selected"), lambda: panel.model.rowCount() < 100
    )


def test_a_hundred_thousand_leases(bench) -> None:
    workbench, watch = bench

    def take(simulation: Simulation) -> None:
        broker, now_ns = simulation.broker, simulation.loop.now_ns
        for first in range(0, LEASES, 1_000):
            broker.publishing.publish_batch(
                now_ns, "builds", 0, [Message(b"x", b"key-%d" % (first + n)) for n in range(1_000)], client="t"
            )
        broker.queues.queue("builds").take(now_ns, "greedy", max_messages=LEASES)

    workbench.controller.simulated.look(take).result()
    panel = workbench.window.tab(InFlightPanel)
    watch.until("open, first rows", lambda: workbench.window.show_tab("in_flight"), lambda: panel.model.rowCount() > 0)
    watch.until("all 100,000 listed", lambda: None, lambda: panel.model.rowCount() >= LEASES)
    watch.until("filter", lambda: panel.set_filter_text("key contains 999"), lambda: panel.model.rowCount() < LEASES)
    watch.until("clear the filter", panel.clear_filter, lambda: panel.model.rowCount() >= LEASES)
    watch.until("two seconds of standing by", lambda: QTimer.singleShot(2_000, lambda: None), lambda: False, 2.0)


def test_a_million_messages(bench) -> None:
    workbench, watch = bench

    def publish(simulation: Simulation) -> None:
        for first in range(0, MESSAGES, 1_000):
            batch = [Message(b'{"number": %d}' % (first + n), b"key-%d" % (n % 97)) for n in range(1_000)]
            simulation.broker.publishing.publish_batch(first, "commits", (first // 1_000) % 6, batch, client="test")

    workbench.controller.simulated.look(publish).result()
    panel = workbench.window.tab(MessagesPanel)
    workbench.window.show_tab("messages")
    watch.until("open, all partitions, the newest", lambda: None, lambda: panel.model.rowCount() > 100)
    watch.until("one partition", lambda: panel.browse("commits", 0), lambda: panel.model.rowCount() > 100_000)
    last = panel.model.index(panel.model.rowCount() - 1, 2)
    watch.until("its last row", panel.table.scrollToBottom, lambda: last.data() not in (None, "…"))
    middle = panel.model.index(panel.model.rowCount() // 2, 2)
    watch.until("its middle", lambda: panel.scroll_to(middle.row()), lambda: middle.data() != "…")
    panel.browse("commits", None)
    watch.until(
        "a filter through all 1,000,000",
        lambda: panel.set_filter_text("value contains 777777"),
        lambda: "all of them" in panel.note.text(),
        300.0,
    )
    print(f"  {panel.note.text()}")
