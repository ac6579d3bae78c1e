"""The panel Events as it follows what happens."""

from __future__ import annotations

from app.presenters.events_presenter import EventsPresenter
from tests.app.conftest import Hand


def test_new_events_are_there_when_their_rows_are(hand: Hand) -> None:
    workbench = hand.workbench
    workbench.window.show_tab("events")
    hand.show()
    presenter = workbench.views.presenter(EventsPresenter)
    controller = workbench.controller
    before = presenter.model.rowCount()
    controller.time.run_until(controller.snapshot.time_ns + 3_000_000_000)
    presenter.show(controller.source.latest)
    last = presenter.model.rowCount() - 1
    assert last > before + 20 and presenter.panel.follows()
    shown = [presenter.model.index(last - row, 2).data() for row in range(20)]
    assert "…" not in shown, "before anything is painted"


def test_where_has_the_room_for_a_run_of_messages(hand: Hand) -> None:
    """A cluster that is observed tells of runs only."""
    hand.workbench.window.show_tab("events")
    hand.show()
    table = hand.workbench.views.presenter(EventsPresenter).panel.table
    assert table.columnWidth(3) >= table.fontMetrics().horizontalAdvance("orders/0 at 11,129 to 11,137") + 16
