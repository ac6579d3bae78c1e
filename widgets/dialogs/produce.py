from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QFormLayout, QSpinBox, QWidget

from widgets.boxes import hbox, vbox
from widgets.dialogs.dialog import MARGINS, Dialog
from widgets.dialogs.form import Values
from widgets.dialogs.message_form import MessageForm
from widgets.facts import named, plain_label, set_property, set_why_not
from widgets.i18n import tr

COUNT_MAX = 1_000_000
AT_ONCE_MAX = 10_000


class ProduceDialog(Dialog):
    """`produceRequested(values)` on Send; it stays open, so that another can follow."""

    produceRequested = Signal(object)

    def __init__(
        self, targets: Sequence[tuple[str, int, bool]], chosen: str = "", parent: QWidget | None = None
    ) -> None:
        """`targets` holds (name, partitions, is a queue: its partitions are priorities)."""
        super().__init__(tr("Produce"), parent)
        self._targets = {name: (count, queue) for name, count, queue in targets}
        self.to = named(QComboBox(self), tr("Topic or queue"))
        for name in self._targets:
            self.to.addItem(name)
        self.to.setCurrentIndex(max(0, self.to.findText(chosen)))
        self.partition = named(QComboBox(self), tr("Partition or priority"))
        self.form = MessageForm(self)
        self.count = named(QSpinBox(self), tr("How many"))
        self.count.setRange(1, COUNT_MAX)
        self.count.setGroupSeparatorShown(True)
        self.rate = named(QDoubleSpinBox(self, decimals=1, suffix=tr(" messages/s")), tr("Rate"))
        self.rate.setRange(0, 100_000)
        self.rate.setSpecialValueText(tr("all at once"))
        self.ttl = named(QSpinBox(self, suffix=tr(" ms")), tr("Time to live"))
        self.ttl.setRange(0, 86_400_000)
        self.ttl.setSpecialValueText(tr("never expires"))
        self.problem = plain_label("", "problem", self, wrap=True)
        self._compose()
        self.to.currentIndexChanged.connect(lambda _place: self._on_target())
        for signal in (self.count.valueChanged, self.rate.valueChanged, self.partition.currentIndexChanged):
            signal.connect(lambda _value: self._judge())
        self.form.changed.connect(self._judge)
        self._on_target()
        self.resize(620, 470)

    def _compose(self) -> None:
        self.make_buttons(tr("Send"), tr("Close"))
        where = hbox((self.to, 2), (self.partition, 1))
        many = QFormLayout()
        for words, field in ((tr("How many"), self.count), (tr("Rate"), self.rate), (tr("Expires after"), self.ttl)):
            many.addRow(plain_label(words, "muted", self), field)
        told = tr("In a stream, $number in the value is the number of each message, from 0.")
        hint = plain_label(told, "muted", self, wrap=True)
        vbox(where, (self.form, 1), many, hint, self.problem, self.buttons, on=self, margins=MARGINS, spacing=10)

    def _on_target(self) -> None:
        count, queue = self._targets.get(self.to.currentText(), (0, False))
        self.partition.clear()
        if not queue:
            self.partition.addItem(tr("Partition by key"), None)
        for number in range(count):
            words = tr("Priority {number}", number=number) if queue else tr("Partition {number}", number=number)
            self.partition.addItem(words, number)
        self._judge()

    def produced(self) -> Values:
        """The messages to send, by the names of the action `Produce`. Without a rate they are sent at once."""
        _count, queue = self._targets.get(self.to.currentText(), (0, False))
        number = self.partition.currentData()
        return {
            "to": self.to.currentText(),
            **self.form.message()._asdict(),
            "partition": None if queue else number,
            "priority": int(number or 0) if queue else 0,
            "ttl_ms": self.ttl.value() or None,
            "count": self.count.value(),
            "rate_per_s": self.rate.value() or None,
        }

    def _why_not(self) -> str:
        if not self._targets:
            return tr("There is no topic or queue to send to.")
        if wrong := self.form.problem():
            return wrong
        if (
            self.rate.value()
            and self.partition.currentData() is not None
            and not self._targets[self.to.currentText()][1]
        ):
            return tr("A partition can be chosen only for messages that are sent at once.")
        if not self.rate.value() and self.count.value() > AT_ONCE_MAX:
            return tr("At most {most} can be sent at once; set a rate for more.", most=f"{AT_ONCE_MAX:,}")
        return ""

    def _judge(self) -> None:
        wrong = self._why_not()
        self.show_message(wrong, wrong=True)
        set_why_not(self.accept_button, wrong)

    def show_message(self, sentence: str, *, wrong: bool = False) -> None:
        """The result of the last Send, or, if it is `wrong`, why it failed."""
        self.problem.setText(sentence)
        set_property(self.problem, "role", "problem" if wrong else "muted")

    def _accept(self) -> None:
        if not self._why_not():
            self.produceRequested.emit(self.produced())
