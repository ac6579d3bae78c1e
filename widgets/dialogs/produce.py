from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QWidget

from widgets.controls import set_property
from widgets.dialogs.field_widgets import Field
from widgets.dialogs.form import FormDialog, Values
from widgets.dialogs.message_form import MessageForm
from widgets.i18n import tr

AT_ONCE_MAX = 10_000


class ProduceTarget(NamedTuple):
    """A topic or queue to send to; the partitions of a queue are priorities."""

    name: str
    partitions: int
    is_queue: bool


class ProduceDialog(FormDialog):
    """`chosen(values)` on Send, by the names of the action `Produce`; it stays open, so that another can follow."""

    def __init__(
        self,
        title: str,
        about: str,
        fields: Sequence[Field],
        button: str,
        targets: Sequence[ProduceTarget],
        parent: QWidget | None = None,
    ) -> None:
        """`fields` offer the names of `targets`."""
        # FormDialog calls `_compose` and `values`, which need these.
        self.form = MessageForm()
        self._targets = {target.name: target for target in targets}
        super().__init__(title, about, fields, button, why_not=self._why_not_sent, parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        self.setModal(False)
        self.cancel_button.setText(tr("Close"))
        self.form.changed.connect(self._judge)
        self._combo("to").currentIndexChanged.connect(lambda _place: self._on_target())
        self._on_target()
        self.resize(620, 470)

    def _compose(self) -> None:
        super()._compose()
        self.column.insertWidget(1, self.form, 1)

    def _combo(self, name: str) -> QComboBox:
        combo = self.widgets[name]
        assert isinstance(combo, QComboBox)
        return combo

    def _target(self) -> ProduceTarget:
        return self._targets.get(self._combo("to").currentText(), ProduceTarget("", 0, is_queue=False))

    def _on_target(self) -> None:
        _name, partitions, is_queue = self._target()
        places = self._combo("partition")
        places.clear()
        if not is_queue:
            places.addItem(tr("Partition by key"), None)
        for number in range(partitions):
            words = tr("Priority {number}", number=number) if is_queue else tr("Partition {number}", number=number)
            places.addItem(words, number)

    def values(self) -> Values:
        """Without a rate they are sent at once."""
        found, is_queue = super().values(), self._target().is_queue
        number = found["partition"]
        places = {"partition": None if is_queue else number, "priority": int(number or 0) if is_queue else 0}
        return {**found, **places, **self.form.message()._asdict()}

    def _why_not_sent(self, values: Values) -> str:
        if not self._targets:
            return tr("There is no topic or queue to send to.")
        if wrong := self.form.problem():
            return wrong
        if values["rate_per_s"] and values["partition"] is not None:
            return tr("A partition can be chosen only for messages that are sent at once.")
        if not values["rate_per_s"] and values["count"] > AT_ONCE_MAX:
            return tr("At most {most} can be sent at once; set a rate for more.", most=f"{AT_ONCE_MAX:,}")
        return ""

    def _judge(self) -> None:
        set_property(self.problem, "role", "problem")
        super()._judge()

    def show_message(self, sentence: str, *, wrong: bool = False) -> None:
        """The result of the last Send, or, if it is `wrong`, why it failed."""
        self.problem.setText(sentence)
        set_property(self.problem, "role", "problem" if wrong else "muted")

    def _accept(self) -> None:
        if self.accept_button.isEnabled():
            self.chosen.emit(self.values())
