"""ACLs, quotas and users in the window: changed by forms, undone, and seen in the past and in a recording."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.presenters.access import AccessPanel, AccessPresenter
from broker_core.access import Acl, ClientQuota
from broker_core.clock import NS_PER_S
from broker_core.operations.access import SetUser
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.access import CreateAcls, SetQuota
from tests.app.conftest import Hand
from tests.app.dialogs import accept, fill, run, said
from widgets.panels.connections import ConnectionsPanel

ACL = Acl("shop", "read", "topic", "commits")
QUOTA = ClientQuota("producer_byte_rate", 5_000.0, None, "shop")


def shown(hand: Hand) -> list[tuple[str, ...]]:
    """The rows of the panel, without the limits of quotas."""
    hand.workbench.window.show_tab("access")
    for _ in range(8):
        QApplication.processEvents()
        hand.workbench.draw()
    model = hand.workbench.views.presenter(AccessPresenter).model
    return [tuple(str(model.index(row, column).data()) for column in range(4)) for row in range(model.rowCount())]


def test_an_acl_is_created_by_a_form_and_removed_from_its_row(hand: Hand):
    assert shown(hand) == []
    assert "Select a row" in hand.workbench.registry.reason("remove_access")
    dialog = run(hand, "create_acl")
    assert "Where no token is needed, everyone may do everything that no ACL denies" in dialog.about.text()
    assert "name" in dialog.values()
    fill(hand, dialog, principal="shop", operation="all", name="mail-")
    dialog.widgets["prefixed"].setChecked(True)  # type: ignore[attr-defined]
    accept(hand, dialog)
    assert shown(hand) == [("ACL", "shop", "may do anything", "topic: all that begin with mail-")]
    assert said(hand) == "Created the ACL: shop may read, write and administer topics whose names begin with mail-."
    panel = hand.workbench.window.tab(AccessPanel)
    panel.table.selectRow(0)
    assert panel.buttons["remove_access"].isEnabled()
    dialog = run(hand, "remove_access")
    assert "shop, may do anything, topic: all that begin with mail-" in dialog.about.text()
    accept(hand, dialog)
    assert shown(hand) == []
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert len(shown(hand)) == 1


def test_the_broker_as_a_whole_has_no_name_to_fill_in(hand: Hand):
    dialog = run(hand, "create_acl")
    fill(hand, dialog, principal="*", operation="all", kind="topic")
    dialog.widgets["deny"].setChecked(True)  # type: ignore[attr-defined]
    assert not dialog.accept_button.isEnabled()
    assert "needs a name" in dialog.problem.text()
    fill(hand, dialog, kind="broker")
    accept(hand, dialog)
    assert shown(hand) == [("ACL", "everyone", "may do nothing", "the broker as a whole")]


@pytest.mark.parametrize(
    ("user", "client_id", "who"),
    [
        ("ann", "", "user ann"),
        ("", "shop", "client id shop"),
        ("*", "", "every other user"),
        ("ann", "*", "user ann, every other client id"),
    ],
)
def test_a_quota_is_set_for_whom_the_form_says(hand: Hand, user: str, client_id: str, who: str):
    dialog = run(hand, "set_quota")
    assert not dialog.accept_button.isEnabled()
    fill(hand, dialog, user=user, client_id=client_id, key="consumer_byte_rate", bytes_per_s=2_000)
    accept(hand, dialog)
    assert shown(hand) == [("Quota", who, "may fetch", "")]
    (quota,) = hand.workbench.controller.snapshot.quotas
    assert quota.bytes_per_s == 2_000
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert shown(hand) == []


def test_an_own_change_is_shown_at_once_though_a_row_is_selected(hand: Hand):
    controller = hand.workbench.controller

    def do(action: UserAction) -> None:
        with hand.qtbot.waitSignal(controller.acted, timeout=20_000):
            controller.perform(action)
        hand.show()

    do(CreateAcls(acls=(ACL,)))
    assert len(shown(hand)) == 1
    panel = hand.workbench.window.tab(AccessPanel)
    panel.table.selectRow(0)
    shown(hand)
    do(SetQuota(quota=QUOTA))
    assert len(shown(hand)) == 2
    assert panel.model.index(1, 4).data() == "5,000 B", "as it was set"
    do(CreateAcls(acls=(Acl("*", "read", "topic", "mail"),)))
    assert len(shown(hand)) == 3
    user = SetUser(user="ann", password="secret").salted(b"salt")
    hand.simulated.look(lambda simulation: simulation.broker.handle(simulation.loop.now_ns, user)).result(20)
    hand.show()
    assert len(shown(hand)) == 3, "what others do waits"
    assert panel.waiting.isVisible()


def changed(hand: Hand) -> None:
    """An ACL after five seconds, a quota and a user after ten."""
    hand.pass_time(5)
    hand.workbench.controller.perform(CreateAcls(acls=(ACL,)))
    hand.pass_time(5)
    hand.workbench.controller.perform(SetQuota(quota=QUOTA))
    user = SetUser(user="ann", password="secret").salted(b"salt")
    hand.simulated.look(lambda simulation: simulation.broker.handle(simulation.loop.now_ns, user)).result(20)
    hand.pass_time(5)


_ACL, _QUOTA, _USER = "topic: commits", "client id shop", "authenticates by SCRAM-SHA-256"


def at_second(hand: Hand, second: int) -> set[str]:
    """What is shown once the window has travelled there."""

    def look() -> None:
        QApplication.processEvents()
        hand.workbench.draw()
        assert hand.workbench.controller.snapshot.time_ns == second * NS_PER_S

    hand.qtbot.waitUntil(look, timeout=20_000)
    return told(hand)


def told(hand: Hand) -> set[str]:
    return {text for row in shown(hand) for text in row} & {_ACL, _QUOTA, _USER}


def test_the_past_shows_what_held_then_and_changes_nothing(open_workbench: Callable[..., Hand]):
    hand = open_workbench(record=True)
    changed(hand)
    controller = hand.workbench.controller
    assert told(hand) == {_ACL, _QUOTA, _USER}
    folder = controller.source.folder
    for second, expected in ((3, set[str]()), (7, {_ACL}), (12, {_ACL, _QUOTA, _USER})):
        controller.travel.to(second * NS_PER_S)
        assert at_second(hand, second) == expected, second
    assert "This is the past" in hand.workbench.registry.reason("create_acl")
    assert not hand.workbench.window.tab(AccessPanel).buttons["set_quota"].isEnabled()
    assert folder is not None
    controller.stop()
    controller.open_session(folder, 7 * NS_PER_S)
    assert at_second(hand, 7) == {_ACL}
    assert all(b"secret" not in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_the_tab_is_the_first_to_go_and_the_panel_is_one_click_from_the_connections(hand: Hand):
    window = hand.workbench.window
    window.resize(1500, 800)
    hand.show()
    assert window.tabs.tab("access").isVisible()
    window.resize(1280, 800)
    hand.show()
    assert not window.tabs.tab("access").isVisible()
    assert not window.tabs.more.isVisible(), "all others have room"
    window.show_tab("connections")
    hand.show()
    hand.qtbot.mouseClick(window.tab(ConnectionsPanel).buttons["show_access"], Qt.MouseButton.LeftButton)
    assert window.shown_tab() == "access"
    window.resize(1000, 800)
    hand.show()
    assert window.tabs.more.text() == "Access"
