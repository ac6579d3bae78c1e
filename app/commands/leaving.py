from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from broker_core.snapshots import ConnectionView
from widgets.i18n import tr

NAMED_MOST = 4


class Leaving:
    """Asks before the shown session ends, if programs are connected to it. `connected` returns their connections; a
    remote broker continues without the window, so it has none.
    """

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self.connected: Callable[[], Iterable[ConnectionView]] = tuple

    def then(self, do: Callable[[], object], otherwise: Callable[[], object] = lambda: None) -> None:
        """Do it: at once if nobody is connected, else when the user has agreed; `otherwise` when not."""
        if question := self.question():
            ask(self._window, question, tr("Keep the session"), tr("End it"), do).rejected.connect(otherwise)
        else:
            do()

    def question(self) -> str:
        """Which programs would lose their broker; "" if none would."""
        names = list(dict.fromkeys(view.client or view.peer for view in self.connected() if view.ended_ns is None))
        if not names:
            return ""
        named, more = ", ".join(names[:NAMED_MOST]), len(names) - NAMED_MOST
        return (
            tr("{names} and {count} more are connected to the broker of this session. End it?", names=named, count=more)
            if more > 0
            else tr("Connected to the broker of this session: {names}. End it?", names=named)
        )


def ask(window: QWidget, text: str, stay: str, leave: str, then: Callable[[], object]) -> QMessageBox:
    """Ask in plain `text`; `then()` is called for the button `leave`, Escape and Enter are `stay`."""
    box = QMessageBox(QMessageBox.Icon.Question, "Brokerscope", "", QMessageBox.StandardButton.NoButton, window)
    box.setObjectName("leave_question")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(text)
    stay_button = box.addButton(stay, QMessageBox.ButtonRole.RejectRole)
    box.addButton(leave, QMessageBox.ButtonRole.AcceptRole)
    box.setDefaultButton(stay_button)
    box.setEscapeButton(stay_button)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.accepted.connect(then)
    box.open()
    return box
