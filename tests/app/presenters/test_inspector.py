"""The inspector of anything that is clicked: links lead on, back and forward lead back, data stays plain."""

from typing import Any

import msgspec
from PySide6.QtCore import Qt

from app.presenters.active_faults import program_state
from app.presenters.canvas import CanvasModel
from app.presenters.charts import ChartsPresenter
from app.presenters.in_flight import InFlightModel
from app.presenters.inspector import inspector_facts
from app.presenters.lookups import EventLookup
from app.presenters.owners import Owners
from app.sessions.history.past import Past
from app.sessions.history.series import SessionSeries
from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.recording.fold import Fold
from broker_core.simulation.actions.topics import Produce
from broker_core.simulation.scenario import parse_scenario
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import FaultView, Snapshot
from tests.widgets.reading import link, links
from widgets.formats import Times
from widgets.panels.messages import MessagesPanel
from widgets.panels.schemas import SchemasPanel
from widgets.theme import state_style


def test_links_lead_from_thing_to_thing_and_back_again(hand):
    window = hand.workbench.window
    inspector = window.parts.inspector
    back, forward = inspector.tools.values()
    hand.workbench.views.select("group:indexers")
    hand.show()
    hand.qtbot.mouseClick(link(inspector, "consumer:indexer-1"), Qt.MouseButton.LeftButton)
    hand.show()
    assert (inspector.facts.kind, inspector.facts.name) == ("Consumer", "indexer-1")
    owned = next(target for target in links(inspector).values() if target.startswith("lane:"))
    hand.qtbot.mouseClick(link(inspector, owned), Qt.MouseButton.LeftButton)
    hand.show()
    assert f"lane:{inspector.facts.name}" == owned
    assert not forward.isEnabled()
    hand.qtbot.mouseClick(back, Qt.MouseButton.LeftButton)
    hand.qtbot.mouseClick(back, Qt.MouseButton.LeftButton)
    hand.show()
    assert inspector.facts.name == "indexers"
    assert not back.isEnabled()
    hand.qtbot.mouseClick(forward, Qt.MouseButton.LeftButton)
    hand.show()
    assert inspector.facts.name == "indexer-1"


def test_a_link_to_a_moment_goes_there(hand):
    hand.workbench.views.select("group:indexers")
    hand.show()
    inspector = hand.workbench.window.parts.inspector
    target = next(target for target in links(inspector).values() if target.startswith("at:"))
    hand.qtbot.mouseClick(link(inspector, target), Qt.MouseButton.LeftButton)
    travel = hand.workbench.controller.travel
    hand.qtbot.waitUntil(lambda: travel.looking_back)
    assert travel.target_ns == int(target.removeprefix("at:"))


def test_a_partition_leads_to_its_messages(hand):
    hand.workbench.views.select("lane:commits/1")
    hand.show()
    inspector = hand.workbench.window.parts.inspector
    hand.qtbot.mouseClick(link(inspector, "browse:commits/1"), Qt.MouseButton.LeftButton)
    panel = hand.workbench.window.tab(MessagesPanel)
    hand.wait_until(lambda: panel.where() == ("commits", (1,)))


def test_every_kind_of_row_is_inspected_by_a_click(hand):
    hand.pass_time(20)
    window = hand.workbench.window
    kinds = {
        "assignments": "Partition",
        "offsets": "Partition",
        "in_flight": "Message",
        "dead_letters": "Message",
        "events": "Event",
    }
    for tab, kind in kinds.items():
        window.show_tab(tab)
        panel = window.panel(tab)
        hand.wait_until(lambda panel=panel: panel.model.rowCount() > 0)
        hand.workbench.views.select("topic:commits")
        panel.table.scrollToTop()
        at = panel.table.visualRect(panel.model.index(1, 1)).center()
        hand.qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=at)
        hand.wait_until(lambda kind=kind: window.parts.inspector.facts.kind == kind)
        assert hand.canvas._selected_id != "topic:commits", "the canvas frames what is inspected, or nothing"


def test_showing_a_tab_inspects_nothing(hand):
    hand.workbench.views.select("topic:commits")
    for tab in ("offsets", "in_flight", "events", "messages"):
        hand.workbench.registry.trigger(f"show_{tab}")
        hand.workbench.window.panel(tab).table.setFocus()
        hand.show()
        assert hand.workbench.views.selected == "topic:commits"


def test_nasty_payloads_are_shown_plain_in_text_tree_and_hex(hand):
    nasty = (
        '{"html": "<b>x</b><script>alert(1)</script>", "rtl": "\u202eabc", '
        '"nul": "a\\u0000b", "emoji": "\U0001f468\u200d\U0001f469"}'
    )
    hand.workbench.controller.perform(Produce("commits", nasty, key="<i>k</i>", headers=(("<h>", "<v>"),), partition=0))
    hand.show()
    end = (
        next(one for one in hand.workbench.controller.snapshot.topics if one.name == "commits").partitions[0].end_offset
    )
    hand.workbench.views.select(f"message:commits/0/{end - 1}")
    inspector = hand.workbench.window.parts.inspector
    hand.wait_until(lambda: inspector.facts.has_payload)
    payload = inspector.payload
    text = payload.text.toPlainText()
    assert "<script>alert(1)</script>" in text
    assert "\\u202eabc" in text
    assert "\u202e" not in text
    assert "\U0001f468\u200d\U0001f469" in text
    payload.show_view(1)
    root = payload.tree.topLevelItem(0)
    values = {root.child(at).text(0): root.child(at).text(1) for at in range(root.childCount())}
    assert values["html"] == "<b>x</b><script>alert(1)</script>"
    assert values["nul"] == "a\\x00b"
    payload.show_view(2)
    assert payload.hex.toPlainText().startswith("00000000  7b 22 68 74 6d 6c 22 3a")
    headers = dict(dict(inspector.facts.sections)["Headers"])
    assert headers == {"<h>": "<v>"}


def test_a_version_of_a_schema_is_inspected(open_workbench):
    hand = open_workbench("schema-evolution")
    hand.pass_time(50)
    window = hand.workbench.window
    window.show_tab("schemas")
    hand.show()
    window.tab(SchemasPanel).select(0)
    hand.show()
    facts = window.parts.inspector.facts
    assert (facts.kind, facts.name) == ("Schema", "order")
    assert b"currency" in (facts.payload or b"")
    assert link(window.parts.inspector, "topic:orders") is not None
    hand.qtbot.mouseClick(link(window.parts.inspector, "schema:order/1"), Qt.MouseButton.LeftButton)
    hand.show()
    assert {fact[0]: fact[1] for fact in window.parts.inspector.facts.sections[0][1]}["Version"] == "1 of 2"


def test_a_producer_whose_messages_are_refused_says_so_and_how_many(open_workbench):
    hand = open_workbench("schema-evolution")
    hand.pass_time(31)
    card = next(card for card in hand.canvas.view.producers if card.name == "shop-b")
    refused = next(actor.rejected for actor in hand.workbench.controller.snapshot.actors if actor.name == "shop-b")
    assert refused > 0
    assert (card.state, card.turned_away) == ("rejected", f"{refused} rejected")
    assert state_style(card.state).token == "failure"
    item = hand.canvas._stage.boxes["producer:shop-b"]
    assert f"{refused} rejected" in item.sentence()
    assert item._seen[2] == str(refused), "it has room on the card"
    facts = inspector_facts(hand.workbench.controller.snapshot, "producer:shop-b", hand.workbench.views.sources.series)
    assert facts is not None
    assert facts.state == "rejected"
    assert ("Rejected", f"{refused} messages") in facts.sections[0][1]
    hand.workbench.window.show_tab("charts")
    hand.show()
    assert {row.name: row.state for row in hand.workbench.views.presenter(ChartsPresenter).model.rows}[
        "shop-b"
    ] == "rejected"
    hand.pass_time(19)
    card = next(card for card in hand.canvas.view.producers if card.name == "shop-b")
    assert card.state != "rejected", "version 2 takes what it sends"


def test_what_no_keyframe_has_told_is_not_known(qapp):
    happened: list[tuple[EventKind, dict[str, Any]]] = [
        (EventKind.TOPIC_CREATED, {"topic": "orders"}),
        (EventKind.QUEUE_CREATED, {"topic": "jobs"}),
        (EventKind.CLIENT_STARTED, {"client": "shop", "topic": "orders", "detail": {"role": "producer"}}),
        (EventKind.CLIENT_STARTED, {"client": "w", "topic": "jobs", "detail": {"role": "worker"}}),
        (EventKind.PUBLISHED, {"topic": "jobs", "partition": 0, "offset": 0}),
        (EventKind.DELIVERED, {"group": "jobs", "partition": 0, "offset": 0, "client": "w", "attempt": 2}),
        (EventKind.LEASE_EXTENDED, {"group": "jobs", "partition": 0, "offset": 0, "client": "w"}),
        (EventKind.PRODUCER_BLOCKED, {"topic": "orders", "client": "shop"}),
    ]
    fold = Fold(Snapshot(0, 0))
    for seq, (kind, fields) in enumerate(happened):
        fold.add(Event(seq, seq + 1, kind, count=1, **fields))
    snapshot = fold.snapshot(9)
    told = {
        name: dict(fact[:2] for _title, facts in section.sections for fact in facts)
        for name in ("queue:jobs", "worker:w", "producer:shop")
        if (section := inspector_facts(snapshot, name, SessionSeries()))
    }
    assert (told["queue:jobs"]["Lease"], told["queue:jobs"]["Attempts"]) == ("not known", "not known")
    assert told["worker:w"]["jobs 0"] == "attempt 2, n/a left"
    model = InFlightModel(Owners(), Times())
    model.set_snapshot(snapshot)
    cells = (str(model.index(0, at).data()) for at in range(model.columnCount()))
    row = dict(zip((column.title for column in model.columns), cells, strict=True))
    assert (row["Attempt"], row["Time left (s)"]) == ("2", "n/a")
    producer = inspector_facts(snapshot, "producer:shop", SessionSeries())
    assert producer is not None and producer.state == "blocked"


def test_a_program_runs_while_its_messages_come_and_not_where_its_requests_are_broken():
    faults = [FaultView("shop", "fault 1", "Produce requests fail", 0, None)]
    states = [program_state(faults, client, per_s) for client, per_s in (("shop", 0), ("shop", 3), ("other", 0))]
    assert states[1:] == ["running", "waiting"] and states[0] not in {"running", "waiting"}


def test_things_of_one_name_are_told_apart(qapp):
    scenario = """
title: T
about: t
until_s: 60
topics: [{name: orders}]
queues: [{name: shop}]
groups: [{name: orders, topics: [orders]}]
consumers: [{name: orders, group: orders}]
producers: [{name: shop, to: orders, arrivals: {kind: rate, per_s: 1}}]
"""
    simulation = Simulation(parse_scenario(scenario))
    simulation.start()
    simulation.loop.run_until(NS_PER_S)
    faults = (FaultView("orders", "crash", "crashed", 0, None), FaultView("shop", "pause", "paused", 0, None))
    snapshot = msgspec.structs.replace(simulation.snapshot(), faults=faults)
    consumer = next(actor.name for actor in snapshot.actors if actor.target == "orders" and actor.role == "consumer")
    facts = inspector_facts(snapshot, f"consumer:{consumer}", SessionSeries())
    assert facts is not None and ("Group", "orders", "group:orders") in facts.sections[0][1]
    titles = {
        place: [title for title, _rows in found.sections]
        for place in ("topic:orders", "group:orders", "queue:shop", "producer:shop")
        if (found := inspector_facts(snapshot, place, SessionSeries()))
    }
    assert [place for place, found in titles.items() if "Active fault" in found] == ["producer:shop"]
    assert [(queue.name, queue.gate) for queue in CanvasModel(Owners(), SessionSeries()).view(snapshot).queues] == [
        ("shop", "")
    ]


def test_an_event_that_is_no_longer_in_memory_is_not_searched_for_without_end(hand, monkeypatch):
    sources = hand.workbench.views.sources
    lookup, snapshot = EventLookup(sources), hand.workbench.controller.snapshot
    seq = sources.history.ring.end_seq + 1
    with hand.qtbot.waitSignal(lookup.changed):
        found = lookup.facts(snapshot, str(seq))
    assert found is not None and found.note == "Searching..."
    found = lookup.facts(snapshot, str(seq))
    assert found is not None and found.note == "This session has no such event."
    monkeypatch.setattr(Past, "whole", False)
    with hand.qtbot.waitSignal(lookup.changed):
        lookup.facts(snapshot, str(seq + 1))
    found = lookup.facts(snapshot, str(seq + 1))
    assert found is not None
    assert found.note == "This session is not recorded, and its first events are no longer in memory."


def test_what_is_not_listed_is_counted(qapp):
    simulation = Simulation(
        parse_scenario("{title: T, about: t, until_s: 60, topics: [{name: orders, partitions: 60}]}")
    )
    simulation.start()
    facts = inspector_facts(simulation.snapshot(), "topic:orders", SessionSeries())
    assert facts is not None
    assert facts.sections[-1][1][49:] == (("49", "0 to 0", "lane:orders/49"), ("", "and 10 more"))
