from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QFormLayout, QLineEdit, QWidget

from widgets.boxes import vbox
from widgets.dialogs.dialog import Dialog
from widgets.facts import plain_label
from widgets.i18n import tr


class AttachDialog(Dialog):
    """`chosen(address, token, ca_file, config, hides_hosts)` when Attach is pressed; it stays until `accept`; `fail`
    says why.
    """

    chosen = Signal(str, str, str, str, bool)

    def __init__(
        self, addresses: Sequence[str], why_not: Callable[[str], str], *, parent: QWidget | None = None
    ) -> None:
        """`addresses` are those of before, the newest first; `why_not(address)` says what is wrong with one."""
        super().__init__(tr("Attach"), parent, once=True)
        self.setMinimumWidth(520)
        self._why_not = why_not
        about = tr(
            "Shows a broker that runs elsewhere, live and recorded. One that brokerscope serve runs can be acted "
            "on; a Kafka cluster is only read. It goes on when the window is closed."
        )
        self.address = QComboBox(self)
        self.address.setEditable(True)
        self.address.addItems(list(addresses))
        if line := self.address.lineEdit():
            line.setPlaceholderText(tr("http://host:8080, or host:9092 of a Kafka cluster"))
        self.token, self.ca_file, self.config = QLineEdit(self), QLineEdit(self), QLineEdit(self)
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setPlaceholderText(tr("if it wants one; it is not kept"))
        self.ca_file.setPlaceholderText(tr("PEM file, for https; the system's if empty"))
        self.config.setPlaceholderText(tr("how to connect to a cluster, with user and password; none if empty"))
        self.hides_hosts = QCheckBox(tr("Record no addresses of hosts"), self)
        self.problem = plain_label("", "error", self, fill=True)
        rows = QFormLayout()
        for title, field in (
            (tr("Address"), self.address),
            (tr("Token"), self.token),
            (tr("Certificates to trust"), self.ca_file),
            ("client.properties", self.config),
        ):
            field.setAccessibleName(title)
            rows.addRow(title, field)
        rows.addRow("", self.hides_hosts)
        self.make_buttons(tr("Attach"))
        vbox(plain_label(about, "muted", self, fill=True), rows, self.problem, self.buttons, on=self)
        self.address.editTextChanged.connect(lambda _text: self._judge())
        self._judge()

    def _judge(self) -> None:
        text = self.address.currentText().strip()
        why = self._why_not(text)
        # An empty line is not wrong yet.
        self._say(why if text else "")
        self.accept_button.setEnabled(not why)

    def _accept(self) -> None:
        self.accept_button.setEnabled(False)
        self._say(tr("Connecting..."))
        files = (field.text().strip() for field in (self.ca_file, self.config))
        address, token = self.address.currentText().strip(), self.token.text()
        self.chosen.emit(address, token, *files, self.hides_hosts.isChecked())

    def fail(self, sentence: str) -> None:
        self.accept_button.setEnabled(True)
        self._say(sentence)

    def _say(self, sentence: str) -> None:
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))
