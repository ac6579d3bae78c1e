"""Faults and rules given and ended from the window."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from app.environment.language import install_language
from app.presenters.inspector import inspector_facts
from app.sessions.core_sentences import cause_text
from broker_core.simulation.actions.faults import FailMatching
from tests.app.conftest import Hand
from tests.app.dialogs import accept, fill, run, said


@pytest.mark.parametrize(
    ("command", "selected", "values", "state"),
    [
        ("crash", "consumer:indexer-1", {"for_s": 5}, "Crashed"),
        ("pause_client", "producer:forge", {"for_s": 5}, "Paused"),
        ("slow_client", "worker:builder-1", {"factor": 4, "for_s": 5}, "Slowed down"),
        ("drop_heartbeats", "consumer:indexer-2", {"for_s": 5}, "No heartbeats"),
        ("fill_disk", "", {"for_s": 5}, "Disk full"),
        ("fail_matching", "queue:builds", {"every": 3, "for_s": 5}, "Failing"),
        ("break_requests", "", {"effect": "delay", "delay_ms": 200, "for_s": 5}, "Fault"),
    ],
)
def test_a_fault_lasts_is_seen_and_ends(
    hand: Hand, command: str, selected: str, values: dict[str, object], state: str
) -> None:
    dialog = run(hand, command, selected)
    fill(hand, dialog, **values)
    accept(hand, dialog)
    (fault,) = hand.workbench.controller.snapshot.faults
    assert fault.until_ns == fault.since_ns + 5_000_000_000
    assert (hand.workbench.registry.reason("fill_disk") == "The disk is already full.") == (command == "fill_disk")
    sections = hand.workbench.views.navigator_model.update(hand.workbench.controller.snapshot)
    rows = next(section for section in sections if section.key == "faults").rows
    assert (state, "5.0 s left") in [(row.state, row.figure) for row in rows]
    hand.pass_time(6)
    assert not hand.workbench.controller.snapshot.faults


def test_what_lasts_until_it_is_ended_is_ended_by_its_dialog(hand: Hand) -> None:
    assert hand.workbench.registry.reason("end_faults") == "No fault is active."
    dialog = run(hand, "fail_matching", "queue:builds")
    fill(hand, dialog, every=2, key="x")
    assert dialog.note.text() == "Every 2nd message of key x fails at builds."
    accept(hand, dialog)
    dialog = run(hand, "slow_client", "consumer:mailer-1")
    accept(hand, dialog)
    card = next(c for g in hand.canvas.view.groups for c in g.members if c.name == "mailer-1")
    assert card.note == "slow, 20 s"
    dialog = run(hand, "end_faults", "consumer:mailer-1")
    accept(hand, dialog)
    assert said(hand) == "Ended the faults of mailer-1."
    dialog = run(hand, "end_faults")
    accept(hand, dialog)
    assert said(hand) == "Ended the rule rule-1."


def test_a_rule_without_a_cause_records_the_usual_one_in_english_whatever_the_window_speaks(
    hand: Hand, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[object] = []
    monkeypatch.setattr(hand.workbench.controller, "perform", done.append)
    install_language(qapp, "de")
    try:
        dialog = run(hand, "fail_matching", "queue:builds")
        fill(hand, dialog, every=2)
        accept(hand, dialog)
        assert cause_text("failed by a rule") == "per Regel gescheitert"
    finally:
        install_language(qapp, "en")
    assert done == [FailMatching("builds", every=2)]


def test_a_crashed_client_is_restarted(hand: Hand) -> None:
    dialog = run(hand, "crash", "worker:builder-1")
    fill(hand, dialog, for_s=0)
    accept(hand, dialog)
    hand.workbench.views.select("worker:builder-1")
    assert hand.workbench.registry.reason("crash") == "builder-1 has crashed; restart it first."
    assert hand.workbench.registry.trigger("restart_client")
    hand.show()
    assert said(hand) == "Restarted builder-1."


def test_a_rule_is_seen_on_its_queue_and_in_the_inspector(hand: Hand) -> None:
    dialog = run(hand, "fail_matching", "queue:builds")
    fill(hand, dialog, every=4)
    accept(hand, dialog)
    box = next(queue for queue in hand.canvas.view.queues if queue.name == "builds")
    assert box.gate == "Failing"
    hand.workbench.views.select("queue:builds")
    facts = inspector_facts(hand.workbench.controller.snapshot, "queue:builds", hand.workbench.views.sources.series)
    assert facts is not None
    title, rows = facts.sections[0]
    assert title == "Active fault"
    assert rows[0][1].startswith("every 4th message fails at builds")


@pytest.mark.parametrize("selected", ["group:indexers", "topic:commits"])
def test_the_dialog_of_broken_requests_is_filled_with_what_it_was_opened_on(hand: Hand, selected: str) -> None:
    dialog = run(hand, "break_requests", selected)
    kind, _, name = selected.partition(":")
    assert {each: dialog.values()[each] for each in ("group", "topic")} == {"group": "", "topic": "", kind: name}


def test_broken_requests_are_told_in_words_undone_and_ended(hand: Hand) -> None:
    dialog = run(hand, "break_requests", "topic:commits")
    fill(hand, dialog, effect="error", error="NOT_ENOUGH_REPLICAS", api="Produce", topic="commits", times=3)
    assert dialog.note.text() == "NOT_ENOUGH_REPLICAS: Produce to commits, 3 times."
    accept(hand, dialog)
    assert said(hand) == "Broke requests: NOT_ENOUGH_REPLICAS: Produce to commits, 3 times."
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert not hand.workbench.controller.snapshot.faults
    hand.workbench.registry.trigger("redo")
    hand.show()
    (fault,) = hand.workbench.controller.snapshot.faults
    assert fault.what == "NOT_ENOUGH_REPLICAS: Produce to commits, 3 times"
    dialog = run(hand, "end_faults")
    accept(hand, dialog)
    assert said(hand) == "Ended the fault fault-1."
    assert not hand.workbench.controller.snapshot.faults
