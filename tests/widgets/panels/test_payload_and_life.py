"""The payload view and the path of a life alone, with made-up data."""

import json

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from tests.widgets.reading import link, links
from widgets.bytes_text import HEX_BYTES, TEXT_BYTES
from widgets.controls import LinkButton
from widgets.panels.inspector import InspectorFacts, InspectorPanel
from widgets.panels.life_path import STEPS_SHOWN, LifePath, LifeStep
from widgets.panels.payload import TREE_ITEMS, PayloadView


def view_of(qtbot, data):
    view = PayloadView()
    qtbot.addWidget(view)
    view.resize(400, 300)
    view.show()
    view.set_data(data)
    return view


def step(number, **more):
    return LifeStep(number, f"00:{number:02d}.000", "hint", "Delivered", f"detail {number}", **more)


def test_no_value_and_an_empty_one_are_told_apart(qtbot, qapp):
    assert "tombstone" in view_of(qtbot, None).note.text()
    assert "empty" in view_of(qtbot, b"").note.text()


def test_what_is_cut_says_how_much_is_shown_and_the_copy_is_whole(qtbot, qapp):
    data = b"a" * (TEXT_BYTES + 5)
    view = view_of(qtbot, data)
    assert view.note.text() == f"The first {TEXT_BYTES:,} of {len(data):,} bytes are shown."
    view.show_view(2)
    assert f"{HEX_BYTES:,} of" in view.note.text()
    view.copy.click()
    assert len(QApplication.clipboard().text()) == len(data)


def test_a_tree_is_offered_for_json_only_and_says_where_it_ends(qtbot, qapp):
    view = view_of(qtbot, b"plain")
    assert not view.buttons[1].isEnabled()
    view.set_data(json.dumps(list(range(TREE_ITEMS + 100))).encode())
    view.show_view(1)
    assert f"first {TREE_ITEMS:,}" in view.note.text()
    view.set_data(b"plain again")
    assert view.stack.currentIndex() == 0
    view.set_data(b"[" * 900 + b"]" * 900)
    view.show_view(1)
    assert "nested more than" in view.note.text()


def test_a_path_leads_to_moments_and_to_clients(qtbot, qapp):
    path = LifePath()
    qtbot.addWidget(path)
    path.resize(320, 400)
    path.show()
    path.set_steps((step(1, links=(("builder-1", "worker:builder-1"),)), step(2, later=True, heading="<b>now</b>")))
    moments: list[int] = []
    targets: list[str] = []
    path.momentChosen.connect(moments.append)
    path.linkFollowed.connect(targets.append)
    for button in path.findChildren(LinkButton):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert moments == [1, 2]
    assert targets == ["worker:builder-1"]
    assert not path.grab().isNull()


def test_a_long_life_is_shown_from_both_ends(qtbot, qapp):
    path = LifePath()
    qtbot.addWidget(path)
    path.set_steps(tuple(step(number % 60) for number in range(STEPS_SHOWN * 3)))
    assert len(path.findChildren(LinkButton)) == STEPS_SHOWN


def test_an_inspector_shows_facts_that_it_was_given(qtbot, qapp):
    panel = InspectorPanel()
    qtbot.addWidget(panel)
    panel.resize(300, 500)
    panel.show()
    assert "Nothing is selected" in panel.empty_state.text()
    facts = InspectorFacts(
        "Message",
        "<i>t</i>/0 at 1",
        "Dead-lettered",
        (("", (("Key", "<b>k</b>"), ("Owner", "a & b", "consumer:a"))),),
        "A note.",
    )
    panel.set_facts(facts)
    followed: list[str] = []
    panel.followed.connect(followed.append)
    qtbot.mouseClick(link(panel, "consumer:a"), Qt.MouseButton.LeftButton)
    assert followed == ["consumer:a"]
    assert links(panel) == {"a & b": "consumer:a"}
    assert not panel.payload.isVisible()
    panel.set_facts(None)
    assert panel.facts is None


def test_the_life_of_a_message_is_seen_without_scrolling(qtbot, qapp):
    panel = InspectorPanel()
    qtbot.addWidget(panel)
    panel.resize(300, 260)
    panel.show()
    facts = InspectorFacts(
        "Message",
        "builds/0 at 22",
        "Dead-lettered",
        (("Message", tuple((f"Fact {number}", "x") for number in range(20))),),
        steps=(step(1), step(2, later=True)),
    )
    panel.set_facts(facts)
    qtbot.waitUntil(lambda: panel.life.visibleRegion().boundingRect().height() > 40)
