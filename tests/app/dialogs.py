"""A hand on the dialogs that act on the broker: opened, filled in and accepted by keys and clicks."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QDoubleSpinBox, QLineEdit, QSpinBox

from broker_core.snapshots import ActorView
from tests.app.conftest import Hand
from widgets.dialogs.form import FormDialog

D = TypeVar("D", bound=QDialog)


def opened(hand: Hand, kind: type[D]) -> D:
    found = [dialog for dialog in hand.workbench.window.findChildren(kind) if dialog.isVisible()]
    assert found, f"no {kind.__name__} is open"
    return found[-1]


def run(hand: Hand, command: str, selected: str = "") -> FormDialog:
    """Select something on the canvas, run a command, and give its dialog."""
    hand.workbench.views.select(selected)
    assert hand.workbench.registry.trigger(command), hand.workbench.registry.reason(command)
    hand.show()
    return opened(hand, FormDialog)


def fill(hand: Hand, dialog: FormDialog, **values: object) -> None:
    """Type into fields, as a person does."""
    for name, value in values.items():
        widget = dialog.widgets[name]
        if isinstance(widget, QLineEdit):
            widget.clear()
            hand.qtbot.keyClicks(widget, str(value))
        elif isinstance(widget, QComboBox) and widget.isEditable():
            widget.setEditText(str(value))
        elif isinstance(widget, QCheckBox):
            widget.setChecked(bool(value))
        elif isinstance(widget, QComboBox):
            place = widget.findData(value)
            assert place >= 0, f"{value} is no choice of {name}"
            widget.setCurrentIndex(place)
        elif isinstance(widget, QSpinBox | QDoubleSpinBox):
            widget.setValue(value)  # type: ignore[arg-type]


def accept(hand: Hand, dialog: FormDialog) -> None:
    assert dialog.accept_button.isEnabled(), dialog.problem.text()
    hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    hand.show()


def said(hand: Hand) -> str:
    return hand.workbench.window.status.last_action.whole


def actor(hand: Hand, name: str) -> ActorView | None:
    return next((each for each in hand.workbench.controller.snapshot.actors if each.name == name), None)


def choose(dialog: FormDialog, field: str, value: object) -> None:
    box = dialog.widgets[field]
    assert isinstance(box, QComboBox)
    box.setCurrentIndex(box.findData(value))


def tick(dialog: FormDialog, field: str, ticked: bool) -> None:
    box = dialog.widgets[field]
    assert isinstance(box, QCheckBox)
    box.setChecked(ticked)
