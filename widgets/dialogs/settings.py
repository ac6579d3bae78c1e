from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from widgets.dialogs.form import Field, FormDialog, Values
from widgets.facts import LinkButton
from widgets.i18n import tr


class SettingsDialog(FormDialog):
    """`changed(name, value)` as soon as a field has another value; `placeWanted(path)` to open a folder."""

    changed = Signal(str, object)
    placeWanted = Signal(str)

    def __init__(
        self,
        fields: Sequence[Field],
        tell: Callable[[Values], str],
        places: Sequence[tuple[str, str]],
        parent: QWidget | None = None,
    ) -> None:
        """`tell(values)` is as for a form; `places` are (what, path)."""
        self._known: Values = {}
        super().__init__(tr("Settings"), "", fields, "", tell=tell, parent=parent)
        self.setModal(False)
        for what, path in places:
            self.rows.addRow(what, place := LinkButton(self))
            place.set_link(path, path)
            place.followed.connect(self.placeWanted)
        self._known = self.values()

    def make_buttons(self, accept: str, reject: str = "") -> None:
        super().make_buttons(accept, reject or tr("Close"))
        self.buttons.removeButton(self.accept_button)
        self.cancel_button.setDefault(True)

    def _judge(self) -> None:
        super()._judge()
        for name, value in self.values().items() if self._known else ():
            if self._known[name] != value:
                self._known[name] = value
                self.changed.emit(name, value)
